"""The workloads: which state Esker makes, and what the decks need to know of it."""

import math
from dataclasses import dataclass, field

from state import overlaps

# The spheres of bed and drum.
GLASS = {"density": 2500.0, "youngs": 1e7, "poisson": 0.25, "friction": 0.5, "restitution": 0.5}


@dataclass(frozen=True)
class Workload:
    """One set-up of `esker bench` and a number of grains."""

    name: str
    deck: str  # also the set-up of `esker bench`
    n: int
    begin: float  # time at which the state is taken [s]
    dt: float
    skin: float
    warm_up: int
    steps: int
    density: float
    gravity: tuple
    # How far what `measure` tells may differ from Esker's, as shares of them.
    tolerance: dict
    fixed_kinds: tuple = ()
    # Pair styles of LAMMPS that can compute it.
    styles: tuple = ("history",)
    # Wider tolerances for a program with other walls, and why.
    apart: dict = field(default_factory=dict)

    @property
    def fixed_type(self):
        return 1 if self.fixed_kinds else None

    def box(self, state):
        """Bounds along each axis, far enough for grains that fly up."""
        if self.deck == "chute":
            long, wide = self.periods()[:2]
            return [(0.0, long), (0.0, wide), (-2.0, 2 * self.n / math.prod(self.chute_rows()) + 20)]
        if self.deck == "drum":
            radius = self.drum_radius()
            return [(-1.1 * radius, 1.1 * radius), (-0.1 * radius, 0.82 * radius), (-1.1 * radius, 1.1 * radius)]
        low = [min(p[a] for p in state.position) for a in range(3)]
        high = [max(p[a] for p in state.position) for a in range(3)]
        return [(low[a] - 0.05, high[a] + 0.05) for a in range(3)]

    def periods(self):
        """Period along each axis, or None."""
        if self.deck == "chute":
            return [*(1.03 * rows + 0.001 for rows in self.chute_rows()), None]
        return [None] * 3

    def chute_rows(self):
        """Grains of the base along x and y, as `[let]` of chute.toml has them."""
        side = max(math.sqrt(self.n / 32000), 0.3)
        return math.floor(40 * side), math.floor(20 * side)

    def drum_radius(self):
        """As `[let]` of drum.toml has it [m]."""
        return 0.25 * (self.n / 20000) ** (1 / 3)

    def values(self, state):
        """What stands for the $names in the decks."""
        values = {
            "dt": repr(self.dt),
            "skin": repr(self.skin),
            "warm_up": self.warm_up,
            "steps": self.steps,
            "total": self.warm_up + self.steps,
            "density": repr(self.density),
            "gravity": " ".join(map(repr, self.gravity)),
        }
        if self.deck == "chute":
            for axis, (low, high) in zip("xyz", self.box(state)):
                values |= {f"{axis}_lo": low, f"{axis}_hi": high}
            values["kt"] = repr(2 / 7 * 2000)
            return values
        values |= {key: repr(value) for key, value in GLASS.items()}
        values |= hertz(state)
        if self.deck == "bed":
            values["side"] = repr(0.5 * max(math.sqrt(self.n / 100000), 0.2))
        if self.deck == "drum":
            radius = self.drum_radius()
            spin = 20 / 60 * 2 * math.pi
            values |= {"radius": radius, "length": 0.72 * radius, "spin": spin, "period": 2 * math.pi / spin}
        return values


def hertz(state):
    """Hertz and Mindlin with the same coefficients in every program.

    Esker and LIGGGHTS share one dashpot, 2 beta sqrt(5/6) sqrt(m* S) with S the tangent stiffness, and the tangential one
    from the tangential stiffness. LAMMPS's `granular` has the same form (Tsuji) with its own fit of the coefficient to the
    restitution, so it is told the restitution that gives our coefficient. The dashpot of `gran/hertz/history` goes with the
    square root of the overlap instead of the fourth root: it agrees at the mean overlap of the state.
    """
    young, nu, e = GLASS["youngs"], GLASS["poisson"], GLASS["restitution"]
    shear = young / (2 * (1 + nu))
    e_eff = young / (2 * (1 - nu**2))
    g_eff = shear / (2 * (2 - nu))
    ratio = math.sqrt(4 * g_eff / e_eff)
    beta = -math.log(e) / math.hypot(math.log(e), math.pi)

    # c = 2 beta sqrt(5/6) sqrt(m* 2 E* a) = alpha sqrt(m* 4/3 E* a), with a the contact radius.
    alpha = 2 * beta * math.sqrt(5 / 6 * 2 * 3 / 4)
    told = tsuji_restitution(alpha)
    tangential = f"tangential mindlin {8 * g_eff!r} {ratio!r} {GLASS['friction']} damping tsuji"
    granular = f"hertz/material {young!r} {told!r} {nu!r} {tangential}"
    # Walls of LAMMPS of 2021 take E / (2 (1 - nu)) for E*: one sphere at rest on a floor shows it to nine digits.
    granular_2021 = f"hertz/material {young / (1 + nu)!r} {told!r} {nu!r} {tangential}"

    found = overlaps(state, [None] * 3)
    radius = sum(state.radius) / len(state)
    contact_radius = math.sqrt(0.5 * radius * sum(found) / len(found))
    mass = 0.5 * GLASS["density"] * 4 / 3 * math.pi * radius**3
    gamma = 2 * beta * math.sqrt(5 / 6 * 2 * e_eff / (mass * contact_radius))
    numbers = [4 / 3 * e_eff, 8 * g_eff, gamma, ratio * gamma, GLASS["friction"]]
    history = " ".join(map(repr, numbers)) + " 1"
    return {
        "tangential_damping": repr(ratio),
        "history": history,
        "granular": granular,
        "granular_2021": granular_2021,
    }


def tsuji_restitution(alpha):
    """The restitution that LAMMPS turns into the damping coefficient `alpha` (its documentation of `damping tsuji`)."""
    fit = (1.2728, -4.2783, 11.087, -22.348, 27.467, -18.022, 4.8218)
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        value = sum(c * middle**k for k, c in enumerate(fit))
        low, high = (middle, high) if value > alpha else (low, middle)
    return low


TILT = math.radians(26)
SLOPE = (math.sin(TILT), 0.0, -math.cos(TILT))
DOWN = (0.0, 0.0, -9.81)


def chute(name, n, steps):
    close = {"kinetic energy": 0.01, "rotation": 0.03, "contacts per grain": 0.02, "wall force": 0.03}
    return Workload(name, "chute", n, 2.7, 1e-4, 0.1, 100, steps, 6 / math.pi, SLOPE, close, fixed_kinds=(0,))


def bed(name, n, steps):
    close = {"kinetic energy": 0.05, "rotation": 0.05, "contacts per grain": 0.02, "wall force": 0.03}
    styles = ("history", "granular")
    return Workload(name, "bed", n, 0.06, 2e-5, 1e-3, 100, steps, 2500.0, DOWN, close, styles=styles)


def drum(name, n, steps):
    close = {"kinetic energy": 0.01, "rotation": 0.02, "contacts per grain": 0.01, "wall force": 0.015}
    # The cylinder of LAMMPS stands off the 96 sides by up to R (1 - cos(pi / 96)), a seventieth of a diameter.
    apart = {"kinetic energy": 0.04, "rotation": 0.04, "contacts per grain": 0.04, "wall force": 0.05}
    styles = ("history", "granular")
    return Workload(name, "drum", n, 0.25, 2e-5, 1e-3, 100, steps, 2500.0, DOWN, close, styles=styles, apart={"lammps": apart})


WORKLOADS = {
    w.name: w
    for w in (
        chute("chute-32k", 32000, 500),
        chute("chute-256k", 256000, 100),
        bed("bed-10k", 10000, 1000),
        bed("bed-100k", 100000, 200),
        drum("drum-20k", 20000, 500),
    )
}
