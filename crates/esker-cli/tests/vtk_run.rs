//! The frames of a real run, read by VTK itself, agree with the series.
//!
//! Needs a Python with the `vtk` package: `ESKER_PYTHON=…/bin/python cargo test -p esker-cli --test vtk_run`. Without that
//! variable the tests say that they were skipped; with it, any difference is a failure.

use crate::common;

use common::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// What Python says about a file.
fn read_back(path: &Path) -> Value {
    let python = std::env::var_os("ESKER_PYTHON").expect("looked at before");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../esker-io/tests/vtk_read_back.py");
    let output = Command::new(&python).arg(script).arg(path).output().expect("ESKER_PYTHON can be started");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{}: {errors}", path.display());
    serde_json::from_slice(&output.stdout).expect("JSON from the script")
}

/// An array of a file as numbers, with its number of components.
struct Array {
    values: Vec<f64>,
    components: usize,
}

impl Array {
    fn tuples(&self) -> usize {
        self.values.len() / self.components
    }

    fn tuple(&self, i: usize) -> &[f64] {
        &self.values[i * self.components..(i + 1) * self.components]
    }
}

/// The arrays of a file by name.
fn arrays(file: &Value, which: &str) -> BTreeMap<String, Array> {
    let mut all = BTreeMap::new();
    for array in file[which].as_array().expect("a list") {
        let double = array["type"] == "double";
        let number = |v: &Value| if double { f64::from_bits(v.as_u64().unwrap()) } else { v.as_f64().unwrap() };
        let values = array["values"].as_array().unwrap().iter().map(number).collect();
        let components = array["components"].as_u64().unwrap() as usize;
        all.insert(array["name"].as_str().unwrap().to_string(), Array { values, components });
    }
    all
}

/// The series by column.
fn series(folder: &Path) -> Vec<BTreeMap<String, f64>> {
    let text = std::fs::read_to_string(folder.join("series.csv")).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    lines
        .map(|line| names.iter().map(|n| n.to_string()).zip(line.split(',').map(|x| x.parse().unwrap())).collect())
        .collect()
}

#[track_caller]
fn close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1e-12), "{what}: {found} instead of {expected}");
}

#[test]
fn frames_of_a_run_agree_with_its_series() {
    if std::env::var_os("ESKER_PYTHON").is_none() {
        println!("skipped: ESKER_PYTHON is not set, so VTK was not asked");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let mut arguments = small_hopper();
    arguments.extend(["--quiet", "--until", "150 ms", "--out", &out.display().to_string()].map(String::from));
    for change in ["output.frames=25 ms", "output.series=25 ms"] {
        arguments.extend(["--set".to_string(), change.to_string()]);
    }
    run_well(arguments);
    let rows = series(&out);

    // Once the gate is open, the walls that are left belong to the hopper.
    let last = format!("walls-{:06}.vtp", rows.len() - 1);
    let hopper: Vec<i64> = loads(&read_back(&out.join(last))).into_keys().collect();
    assert_eq!(hopper.len(), 2);

    for kind in ["grains", "contacts", "walls"] {
        let entries = read_back(&out.join(format!("{kind}.pvd")));
        let entries = entries.as_array().unwrap();
        assert_eq!(entries.len(), rows.len(), "{kind}.pvd");
        for (entry, row) in entries.iter().zip(&rows) {
            let file = read_back(&out.join(entry[2].as_str().unwrap()));
            let time = arrays(&file, "field_data")["TimeValue"].values[0];
            assert_eq!(time, entry[0].as_str().unwrap().parse::<f64>().unwrap(), "time of {kind}.pvd");
            assert_eq!(time, row["time [s]"], "time of the series");
            match kind {
                "grains" => grains(&file, row),
                "contacts" => contacts(&file, row),
                _ => walls(&file, &hopper, row),
            }
        }
    }
    assert!(rows.last().unwrap()["contacts"] > 100.0, "the grains lie on each other");
    assert!(rows.last().unwrap()["removed"] > 0.0, "the gate is open");
}

fn grains(file: &Value, row: &BTreeMap<String, f64>) {
    let data = arrays(file, "point_data");
    let names: Vec<&str> = data.keys().map(String::as_str).collect();
    let expected = [
        "contact force",
        "coordination",
        "force",
        "id",
        "kind",
        "mass",
        "material",
        "orientation",
        "pressure",
        "radius",
        "spin",
        "stress",
        "torque",
        "velocity",
    ];
    assert_eq!(names, expected);
    let n = data["radius"].tuples();
    assert_eq!((n as f64, file["verts"].as_array().unwrap().len()), (row["grains"], n));
    close(data["mass"].values.iter().sum(), row["mass [kg]"], "mass");
    let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
    let (mut translation, mut rotation) = (0.0, 0.0);
    for i in 0..n {
        let (m, r) = (data["mass"].values[i], data["radius"].values[i]);
        translation += 0.5 * m * square(data["velocity"].tuple(i));
        rotation += 0.5 * (0.5 * m * r * r) * square(data["spin"].tuple(i));
        assert_eq!(r, 0.01);
        assert!((square(data["orientation"].tuple(i)) - 1.0).abs() < 1e-12);
    }
    close(translation, row["kinetic translation [J]"], "kinetic energy of translation");
    close(rotation, row["kinetic rotation [J]"], "kinetic energy of rotation");
}

fn contacts(file: &Value, row: &BTreeMap<String, f64>) {
    let data = arrays(file, "cell_data");
    let lines = file["lines"].as_array().unwrap().len();
    assert_eq!(lines as f64, row["contacts"]);
    let mut deepest: f64 = 0.0;
    for i in 0..lines {
        let square: f64 = data["force"].tuple(i).iter().map(|x| x * x).sum();
        let parts = data["normal force"].values[i].powi(2) + data["tangential force"].values[i].powi(2);
        close(parts, square, "normal and tangential force make the force");
        deepest = deepest.max(data["overlap"].values[i] / 0.01);
    }
    // The series tells the overlap at the time of the force, which is that of the frame with velocity Verlet.
    if row["step"] > 0.0 {
        close(deepest, row["largest overlap [r]"], "largest overlap");
    }
}

/// The load on each wall that is there.
fn loads(file: &Value) -> BTreeMap<i64, [f64; 3]> {
    let data = arrays(file, "cell_data");
    let polygons = file["polys"].as_array().unwrap().len();
    assert!(polygons > 0 && data["wall"].tuples() == polygons && data["force"].tuples() == polygons);
    let one = |i: usize| (data["wall"].values[i] as i64, data["force"].tuple(i).try_into().unwrap());
    (0..polygons).map(one).collect()
}

fn walls(file: &Value, hopper: &[i64], row: &BTreeMap<String, f64>) {
    let loads = loads(file);
    for (k, axis) in ["x", "y", "z"].iter().enumerate() {
        let load: f64 = hopper.iter().map(|w| loads[w][k]).sum();
        close(load, row[&format!("wall load {axis} [N]")], "load on the hopper");
    }
}
