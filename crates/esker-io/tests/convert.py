"""Reads a run in all formats with the programs they are meant for, and compares every number with the VTK frames.

convert.py RUN VTKHDF H5MD DUMP CSV-FOLDER XYZ

The frames are read by VTK's own XML reader. All numbers must be the same to the last bit, except where a program keeps less: MDAnalysis
holds everything in single precision, OVITO radii and orientations, and it misses the last bit of one double in fifteen. Needs vtk and h5py (with numpy). MDAnalysis and ovito are
asked if they are there; parsers of this file read the text formats in any case.
"""

import csv
import os
import re
import shlex
import sys
import xml.etree.ElementTree as tree

import h5py
import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOHDF import vtkHDFReader
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

PERIOD = (-0.02, 0.03)  # along x, in the scenes of the test


def same(found, expected, what):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, f"{what}: shape {found.shape} for {expected.shape}"
    assert found.dtype == expected.dtype, f"{what}: {found.dtype} for {expected.dtype}"
    assert found.tobytes() == expected.tobytes(), f"{what}: {found} for {expected}"


def near(found, expected, what):
    """Floats may be off by the last bit: OVITO's own parser of numbers does not always round to the nearest."""
    found, expected = np.asarray(found), np.asarray(expected).astype(found.dtype)
    if found.dtype.kind != "f":
        return same(found, expected, what)
    assert found.shape == expected.shape, f"{what}: shape {found.shape} for {expected.shape}"
    assert np.all(np.abs(found - expected) <= np.spacing(np.abs(expected))), f"{what}: {found} for {expected}"


def watched(reader):
    faults = []
    for event in ("ErrorEvent", "WarningEvent"):
        reader.AddObserver(event, lambda *_: faults.append(event))
    return reader, faults


def point_arrays(data):
    points = vtk_to_numpy(data.GetPoints().GetData()) if data.GetNumberOfPoints() else np.zeros((0, 3))
    arrays = {"position": points}
    for i in range(data.GetPointData().GetNumberOfArrays()):
        array = data.GetPointData().GetArray(i)
        arrays[array.GetName()] = vtk_to_numpy(array)
    return arrays


def read_frames(run):
    """The frames as VTK reads them: time, arrays sorted by id, names of components."""
    frames = []
    for entry in tree.parse(os.path.join(run, "grains.pvd")).getroot().iter("DataSet"):
        reader, faults = watched(vtkXMLPolyDataReader())
        reader.SetFileName(os.path.join(run, entry.get("file")))
        reader.Update()
        assert not faults, faults
        data = reader.GetOutput()
        arrays = point_arrays(data)
        order = np.argsort(arrays["id"])
        names = {}
        for i in range(data.GetPointData().GetNumberOfArrays()):
            array = data.GetPointData().GetArray(i)
            width = array.GetNumberOfComponents()
            given = [array.GetComponentName(k) for k in range(width)]
            given = given if all(given) else (["x", "y", "z"] if width == 3 else [str(k) for k in range(width)])
            names[array.GetName()] = [n.lower() for n in given] if width > 1 else [""]
        frames.append((float(entry.get("timestep")), {k: v[order] for k, v in arrays.items()}, names))
    return frames


def check_vtkhdf(path, frames):
    reader, faults = watched(vtkHDFReader())
    reader.SetFileName(path)
    reader.UpdateInformation()
    assert reader.GetNumberOfSteps() == len(frames)
    # There and back again: a reader that remembers must not mix frames up.
    for k in [*range(len(frames)), *reversed(range(len(frames)))]:
        time, arrays, _ = frames[k]
        reader.SetStep(k)
        reader.Update()
        data = reader.GetOutputDataObject(0)
        assert data.IsA("vtkPolyData") and reader.GetTimeValue() == time
        assert data.GetNumberOfVerts() == data.GetNumberOfCells() == len(arrays["id"])
        found = point_arrays(data)
        # VTK 9.3 gives an empty frame no arrays.
        assert set(found) == set(arrays) or len(arrays["id"]) == 0, set(found) ^ set(arrays)
        for name, expected in arrays.items() if len(arrays["id"]) else ():
            same(found[name], expected, f"vtkhdf, frame {k}, {name}")
    assert not faults, faults
    with h5py.File(path) as file:
        root = file["VTKHDF"]
        assert root.attrs["Type"] == b"PolyData" and list(root.attrs["Version"]) == [2, 3]
        assert list(root["Steps/Values"][:]) == [time for time, _, _ in frames]
        for name in ["position", *frames[0][2]]:
            dataset = root["Points"] if name == "position" else root["PointData"][name]
            joined = np.concatenate([arrays[name] for _, arrays, _ in frames])
            same(dataset[:], joined, f"vtkhdf by h5py, {name}")


def check_h5md(path, frames, steps):
    with h5py.File(path) as file:
        assert list(file["h5md"].attrs["version"]) == [1, 1]
        for text in ["author", "creator"]:
            assert file["h5md"][text].attrs["name"]
        assert file["h5md/creator"].attrs["version"]
        grains = file["particles/grains"]
        box = grains["box"]
        assert box.attrs["dimension"] == 3 and list(box.attrs["boundary"]) == [b"periodic", b"none", b"none"]
        edges = box["edges/value"][:]
        assert edges.shape == (len(frames), 3) and np.all(edges[:, 0] == PERIOD[1] - PERIOD[0])
        ids = grains["id/value"][:]
        assert grains["id/value"].fillvalue == -1 and ids.dtype == np.int64
        assert ids.shape == (len(frames), max(len(a["id"]) for _, a, _ in frames))
        elements = {"species" if name == "material" else name for name in frames[0][1]} | {"box"}
        assert set(grains) == elements, set(grains) ^ elements
        seen = {}
        for k, (time, arrays, _) in enumerate(frames):
            there = np.flatnonzero(ids[k] != -1)
            order = there[np.argsort(ids[k][there])]
            for place, grain in zip(there, ids[k][there]):
                last, was = seen.get(grain, (k, place))
                assert last < k - 1 or was == place, "a grain keeps its place"
                seen[grain] = (k, place)
            for name, expected in arrays.items():
                element = grains["species" if name == "material" else name]
                assert element["step"][k] == steps[k] and element["time"][k] == time
                value = element["value"]
                assert value.shape[:2] == ids.shape
                expected = expected.astype(np.int64) if name == "id" else expected
                same(value[k][order], expected, f"h5md, frame {k}, {name}")
                gone = np.setdiff1d(np.arange(ids.shape[1]), there)
                absent = value[k][gone]
                assert np.all(np.isnan(absent) if absent.dtype.kind == "f" else absent == -1), name


def check_mdanalysis(path, frames):
    try:
        import MDAnalysis
    except ImportError:
        return "MDAnalysis is not installed"
    with h5py.File(path) as file:
        ids = file["particles/grains/id/value"][:]
    universe = MDAnalysis.Universe.empty(ids.shape[1], trajectory=True, velocities="velocity" in frames[0][1])
    universe.load_new(path, format="H5MD", convert_units=False)
    assert len(universe.trajectory) == len(frames)
    for k, (time, arrays, _) in enumerate(frames):
        now = universe.trajectory[k]
        assert now.time == time and np.float32(now.dimensions[0]) == np.float32(PERIOD[1] - PERIOD[0])
        there = np.flatnonzero(ids[k] != -1)
        order = there[np.argsort(ids[k][there])]
        same(now.positions[order], arrays["position"].astype(np.float32), "MDAnalysis, position")
        for name, found in [("velocity", "velocities"), ("force", "forces")]:
            if name in arrays:
                same(getattr(now, found)[order], arrays[name].astype(np.float32), f"MDAnalysis, {name}")
    return f"MDAnalysis {MDAnalysis.__version__}"


LAMMPS = {
    "position": ["x", "y", "z"],
    "velocity": ["vx", "vy", "vz"],
    "spin": ["omegax", "omegay", "omegaz"],
    "force": ["fx", "fy", "fz"],
    "torque": ["tqx", "tqy", "tqz"],
    "orientation": ["quati", "quatj", "quatk", "quatw"],
    "material": ["type"],
}


def joined(name, component, by):
    return (name + by + component if component else name).replace(" ", by)


def compare_table(found, arrays, columns, what):
    """Columns of text, each a list of cells, with the arrays; nothing may be left."""
    left = dict(found)
    for name, expected in arrays.items():
        cells = [left.pop(column) for column in columns(name)]
        numbers = np.array(cells, dtype=str).T.reshape(expected.shape)
        same(numbers.astype(expected.dtype), expected, f"{what}, {name}")
    assert not left, f"{what}: {sorted(left)} left"


def check_dump(path, frames, steps):
    lines = iter(open(path).read().splitlines())
    expect = lambda text: (lambda line: None if line == text else sys.exit(f"dump: `{line}` for `{text}`"))(next(lines))
    expect("ITEM: UNITS"), expect("si")
    for (time, arrays, names), step in zip(frames, steps):
        expect("ITEM: TIME")
        assert float(next(lines)) == time
        expect("ITEM: TIMESTEP"), expect(str(step)), expect("ITEM: NUMBER OF ATOMS")
        count = int(next(lines))
        assert count == len(arrays["id"])
        expect("ITEM: BOX BOUNDS pp ff ff")
        bounds = [[float(v) for v in next(lines).split()] for _ in range(3)]
        assert tuple(bounds[0]) == PERIOD
        for k in (1, 2):
            if count:
                assert bounds[k][0] <= arrays["position"][:, k].min() and bounds[k][1] >= arrays["position"][:, k].max()
        head = next(lines).split()
        assert head[:2] == ["ITEM:", "ATOMS"]
        rows = [next(lines).split() for _ in range(count)]
        assert all(len(row) == len(head) - 2 for row in rows)
        found = {name: [row[k] for row in rows] for k, name in enumerate(head[2:])}
        found["type"] = [str(int(v) - 1) for v in found["type"]]
        columns = lambda name: LAMMPS.get(name) or [joined(name, c, "_") for c in names[name]]
        compare_table(found, arrays, columns, f"dump at {time}")
    assert next(lines, None) is None


def check_xyz(path, frames, steps, materials):
    lines = iter(open(path).read().splitlines())
    renamed = {"position": "pos", "velocity": "velo", "force": "forces", "spin": "omega", "material": "species"}
    for (time, arrays, names), step in zip(frames, steps):
        assert int(next(lines)) == len(arrays["id"])
        about = dict(pair.split("=", 1) for pair in shlex.split(next(lines)))
        assert float(about["Time"]) == time and int(about["Timestep"]) == step and about["pbc"] == "T F F"
        lattice, origin = [[float(v) for v in about[k].split()] for k in ("Lattice", "Origin")]
        assert lattice[0] == PERIOD[1] - PERIOD[0] and origin[0] == PERIOD[0]
        assert [lattice[k] for k in (1, 2, 3, 5, 6, 7)] == [0] * 6
        fields = about["Properties"].split(":")
        fields = [(n, t, int(w)) for n, t, w in zip(fields[::3], fields[1::3], fields[2::3])]
        assert [f[:2] for f in fields[:2]] == [("species", "S"), ("pos", "R")]
        rows = [next(lines).split() for _ in range(len(arrays["id"]))]
        found, at = {}, 0
        for name, _, width in fields:
            for k in range(width):
                found[(name, k) if width > 1 else name] = [row[at + k] for row in rows]
            at += width
        assert all(len(row) == at for row in rows)
        found["species"] = [str(materials.index(v)) for v in found["species"]]

        def columns(name):
            width = 3 if name == "position" else len(names[name])
            new = renamed.get(name, name.replace(" ", "_"))
            if width > 4:
                return [joined(name, c, "_") for c in names[name]]
            return [(new, k) for k in range(width)] if width > 1 else [new]

        compare_table(found, arrays, columns, f"xyz at {time}")
    assert next(lines, None) is None


def check_csv(folder, frames, steps, materials):
    own = {
        "position": ["x", "y", "z"],
        "velocity": ["vx", "vy", "vz"],
        "spin": ["wx", "wy", "wz"],
    }
    with open(os.path.join(folder, "frames.csv"), newline="") as file:
        listed = list(csv.DictReader(file))
    assert [(int(r["step"]), float(r["time [s]"])) for r in listed] == [(s, f[0]) for s, f in zip(steps, frames)]
    for row, (time, arrays, names) in zip(listed, frames):
        with open(os.path.join(folder, row["file"]), newline="") as file:
            table = list(csv.reader(file))
        head = [re.sub(r" \[.*\]$", "", name) for name in table[0]]
        found = {name: [r[k] for r in table[1:]] for k, name in enumerate(head)}
        found["material"] = [str(materials.index(v.replace(" ", "_"))) for v in found["material"]]
        columns = lambda name: own.get(name) or [f"{name} {c}".strip() for c in names[name]]
        compare_table(found, arrays, columns, f"csv at {time}")


def check_ovito(dump, xyz, frames, steps, materials):
    try:
        import ovito
        from ovito.io import import_file
    except ImportError as error:
        return f"ovito cannot be asked ({error})"
    standard = {
        "Particle Identifier": "id",
        "Position": "position",
        "Radius": "radius",
        "Mass": "mass",
        "Velocity": "velocity",
        "Angular Velocity": "spin",
        "Force": "force",
        "Torque": "torque",
        "Orientation": "orientation",
    }
    for path in (dump, xyz):
        pipeline = import_file(path)
        assert pipeline.source.num_frames == len(frames)
        for k, (time, arrays, names) in enumerate(frames):
            data = pipeline.compute(k)
            assert data.attributes["Time"] == time and data.attributes["Timestep"] == steps[k]
            cell = data.cell
            assert tuple(cell.pbc) == (True, False, False)
            same(np.array([cell[0, 0], cell[0, 3]]), np.array([PERIOD[1] - PERIOD[0], PERIOD[0]]), "OVITO, cell")
            if len(arrays["id"]) == 0:
                assert data.particles.count == 0
                continue
            order = np.argsort(data.particles["Particle Identifier"][:])
            read = lambda name: np.asarray(data.particles[name][:])[order]
            for name, field in standard.items():
                if field in arrays:
                    near(read(name), arrays[field], f"OVITO, {path}, {name}")
                else:
                    assert name not in data.particles, name
            types = read("Particle Type")
            if path == dump:
                same(types, arrays["material"] + 1, "OVITO, type")
            else:
                called = [data.particles.particle_types.type_by_id(t).name for t in types]
                assert [materials.index(n) for n in called] == list(arrays["material"])
            for field in set(arrays) - set(standard.values()) - {"material", "pair"}:
                for j, component in enumerate(names[field]):
                    name = {"coordination": "Coordination"}.get(field) if path == dump else None
                    found = read(name or joined(field, component, "_"))
                    expected = arrays[field] if arrays[field].ndim == 1 else arrays[field][:, j]
                    # Columns that OVITO has no name for are doubles, in a dump.
                    if arrays[field].dtype == np.float32:
                        expected = np.array([float(str(v)) for v in expected])
                    near(found, expected, f"OVITO, {path}, {field}")
    return f"OVITO {ovito.version_string}"


if __name__ == "__main__":
    run, vtkhdf, h5md, dump, tables, xyz = sys.argv[1:]
    frames = read_frames(run)
    with open(os.path.join(tables, "frames.csv"), newline="") as file:
        steps = [int(row["step"]) for row in csv.DictReader(file)]
    materials = ["glass", "lead_shot"]
    check_vtkhdf(vtkhdf, frames)
    check_h5md(h5md, frames, steps)
    check_dump(dump, frames, steps)
    check_xyz(xyz, frames, steps, materials)
    check_csv(tables, frames, steps, materials)
    asked = [check_mdanalysis(h5md, frames), check_ovito(dump, xyz, frames, steps, materials)]
    print("read by VTK and h5py, text by convert.py;", "; ".join(asked))
