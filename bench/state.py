"""Grains by columns: read from Esker's frames and from dumps, written as tables and data files, and measured.

The same functions measure the states of all programs, so that a difference is one of physics and not of definitions.
"""

import array
import math
import re
import struct
from dataclasses import dataclass, field


@dataclass
class State:
    """Index i is the same grain in every column; SI units."""

    position: list
    radius: list
    velocity: list
    spin: list
    force: list = field(default_factory=list)
    fixed: list = field(default_factory=list)

    def __len__(self):
        return len(self.radius)


def triples(numbers):
    """A flat array as (x, y, z)."""
    return list(zip(numbers[0::3], numbers[1::3], numbers[2::3]))


def read_frame(path, fixed_kinds=()):
    """A frame of Esker (VTK poly data with raw appended arrays); grains of the kinds named are fixed."""
    data = path.read_bytes()
    mark = data.index(b'<AppendedData encoding="raw">')
    start = data.index(b"_", mark) + 1
    head = data[:mark].decode()
    columns = {}
    for tag in re.findall(r"<DataArray ([^>]*)/?>", head):
        attributes = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        code = {"Float64": "d", "UInt64": "Q", "Int64": "q", "Int32": "i"}[attributes["type"]]
        at = start + int(attributes["offset"])
        (length,) = struct.unpack_from("<Q", data, at)
        numbers = array.array(code)
        numbers.frombytes(data[at + 8 : at + 8 + length])
        columns.setdefault(attributes["Name"], numbers)
    # The points come without or with a name of their own, always with three components.
    points = re.search(r'<Points>\s*<DataArray [^>]*?Name="([^"]*)"', head).group(1)
    return State(
        position=triples(columns[points]),
        radius=list(columns["radius"]),
        velocity=triples(columns["velocity"]),
        spin=triples(columns["spin"]),
        force=triples(columns["force"]),
        fixed=[kind in fixed_kinds for kind in columns["kind"]],
    )


def read_dump(path, fixed_type=None):
    """A dump of LAMMPS or LIGGGHTS: id type radius x y z vx vy vz omegax omegay omegaz fx fy fz."""
    lines = path.read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("ITEM: ATOMS")) + 1
    rows = sorted((line.split() for line in lines[start:]), key=lambda row: int(row[0]))
    numbers = [[float(x) for x in row[2:]] for row in rows]
    return State(
        position=[tuple(n[1:4]) for n in numbers],
        radius=[n[0] for n in numbers],
        velocity=[tuple(n[4:7]) for n in numbers],
        spin=[tuple(n[7:10]) for n in numbers],
        force=[tuple(n[10:13]) for n in numbers],
        fixed=[int(row[1]) == fixed_type for row in rows],
    )


def write_table(path, state, fixed):
    """A table of grains for Esker: those that are fixed, or those that are not."""
    with path.open("w") as out:
        out.write("x,y,z,radius" + ("" if fixed else ",vx,vy,vz,wx,wy,wz") + "\n")
        for i in range(len(state)):
            if state.fixed[i] == fixed:
                moving = () if fixed else state.velocity[i] + state.spin[i]
                out.write(",".join(map(repr, state.position[i] + (state.radius[i],) + moving)) + "\n")


def write_data(path, state, density, box):
    """A data file for LAMMPS and LIGGGHTS (both know atoms as id type diameter density x y z). Fixed grains are of type 1."""
    types = 2 if any(state.fixed) else 1
    kind = [1 if fixed or types == 1 else 2 for fixed in state.fixed]
    with path.open("w") as out:
        out.write(f"grains made by Esker\n\n{len(state)} atoms\n{types} atom types\n\n")
        for axis, (low, high) in zip("xyz", box):
            out.write(f"{low!r} {high!r} {axis}lo {axis}hi\n")
        out.write("\nAtoms\n\n")
        for i in range(len(state)):
            x, y, z = state.position[i]
            out.write(f"{i + 1} {kind[i]} {2 * state.radius[i]!r} {density!r} {x!r} {y!r} {z!r}\n")
        out.write("\nVelocities\n\n")
        for i in range(len(state)):
            out.write(" ".join([str(i + 1), *map(repr, state.velocity[i] + state.spin[i])]) + "\n")


def overlaps(state, periods):
    """Overlaps of all touching pairs with at least one grain that moves. `periods` holds the period of each axis or None."""
    reach = 2 * max(state.radius)
    low = [min(p[a] for p in state.position) for a in range(3)]
    counts = [period and max(int(period / reach), 1) for period in periods]
    if any(count and count < 3 for count in counts):
        raise SystemExit("error: the periodic box is narrower than three cells; take more grains")
    size = [period / count if count else reach for period, count in zip(periods, counts)]

    def cell_of(p):
        cell = [math.floor((p[a] - low[a]) / size[a]) for a in range(3)]
        return tuple(c % n if n else c for c, n in zip(cell, counts))

    cells = {}
    for i, p in enumerate(state.position):
        cells.setdefault(cell_of(p), []).append(i)
    # Half of the neighbours, so that every pair is met once.
    half = [(dx, dy, dz) for dx in (-1, 0, 1) for dy in (-1, 0, 1) for dz in (-1, 0, 1) if (dz, dy, dx) > (0, 0, 0)]
    found = []

    def look(i, j):
        if state.fixed[i] and state.fixed[j]:
            return
        square = 0.0
        for x, y, period in zip(state.position[i], state.position[j], periods):
            d = x - y
            if period:
                d -= period * round(d / period)
            square += d * d
        touch = state.radius[i] + state.radius[j]
        if square < touch * touch:
            found.append(touch - math.sqrt(square))

    for cell, own in cells.items():
        for k, i in enumerate(own):
            for j in own[:k]:
                look(i, j)
        for step in half:
            other = tuple((c + d) % n if n else c + d for c, d, n in zip(cell, step, counts))
            for j in cells.get(other, ()):
                for i in own:
                    look(i, j)
    return found


def measure(state, density, gravity, periods):
    """Kinetic energy and that of rotation [J], touching pairs per grain, and the force of walls and of fixed grains on the
    others [N].

    Contact forces between moving grains cancel in the sum, so what is left besides weight comes from walls. Rotation is
    told by itself because only friction drives it, and in a flow it vanishes in the whole.
    """
    kinetic, rotation = 0.0, 0.0
    force = [0.0, 0.0, 0.0]
    for i in range(len(state)):
        if state.fixed[i]:
            continue
        mass = density * 4 / 3 * math.pi * state.radius[i] ** 3
        inertia = 0.4 * mass * state.radius[i] ** 2
        kinetic += 0.5 * mass * sum(v * v for v in state.velocity[i])
        rotation += 0.5 * inertia * sum(w * w for w in state.spin[i])
        for a in range(3):
            force[a] += state.force[i][a] - mass * gravity[a]
    pairs = len(overlaps(state, periods))
    return {
        "kinetic energy": kinetic + rotation,
        "rotation": rotation,
        "contacts per grain": pairs / len(state),
        "wall force": math.hypot(*force),
    }
