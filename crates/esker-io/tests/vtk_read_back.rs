//! Files that the VTK library itself reads back.
//!
//! Needs a Python with the `vtk` package: `ESKER_PYTHON=…/bin/python cargo test -p esker-io --test vtk_read_back`.
//! Without that variable the tests say that they were skipped; with it, any difference is a failure.

use esker::measure::cells::Cells;
use esker::simulation::Simulation;
use esker_io::analysis::Analysis;
use esker_io::build::{self, Scene};
use esker_io::frame::components;
use esker_io::pvd::{Collection, Entry};
use esker_io::scene;
use esker_io::vtk::{Array, PolyData};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// What Python says about a file; `None` if there is no Python to ask.
fn read_back(path: &Path) -> Option<Value> {
    let Some(python) = std::env::var_os("ESKER_PYTHON") else {
        println!("skipped: ESKER_PYTHON is not set, so VTK was not asked");
        return None;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vtk_read_back.py");
    let output = Command::new(&python).arg(script).arg(path).output().expect("ESKER_PYTHON can be started");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert_eq!(errors, "", "VTK complained");
    Some(serde_json::from_slice(&output.stdout).expect("JSON from the script"))
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}

fn array(name: &str, kind: &str, components: usize, names: &[&str], values: impl Into<Value>) -> Value {
    json!({"name": name, "type": kind, "components": components, "component_names": names, "values": values.into()})
}

#[test]
fn vtk_reads_every_kind_of_array_and_cell_bit_for_bit() {
    let position = [[0.0, 0.1, -0.0], [1.0, 1e-300, 5e-324], [f64::MAX, 2.0, 3.0], [1.0, 1.0, 1.0], [0.5, 0.5, 0.25]];
    let radius = [0.1, 0.2, 0.3, f64::INFINITY, 1e-9];
    let spin = [[0.0, 0.6, 0.0, 0.8]; 5];
    let stress = [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0.1; 6], [0.2; 6], [0.3; 6], [0.4; 6]];
    let turn = [[0.7; 9]; 5];
    let small = [1.5f32, -0.1, 3e38, 0.0, 1e-40];
    let signed = [[-1i32, 2, i32::MIN]; 5];
    let id = [0u64, 1, 2, (1 << 53) - 1, 4];
    let flag = [0u8, 255, 1, 2, 3];
    let polygons = [vec![0, 1, 2, 3], vec![4, 3, 2]];
    let kind = [0i32, 1, 2, 3, 4, 10, 11, 20, 21];

    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("all.vtp");
    PolyData::points(position)
        .time(0.1)
        .field_array(Array::new("step", [120_034u64]))
        .point_data("radius", radius)
        .point_array(Array::new("orientation", spin).component_names(&["x", "y", "z", "w"]))
        .point_array(
            Array::new("stress <Pa> & \"more\"", stress).component_names(&["xx", "yy", "zz", "xy", "yz", "xz"]),
        )
        .point_data("turn", turn)
        .point_data("small", small)
        .point_data("signed", signed)
        .point_data("id", id)
        .point_data("flag", flag)
        .vertices()
        .segments([[0, 4], [1, 2]])
        .polygons(&polygons)
        .cell_data("kind", kind)
        .cell_data("force [N]", (0..9).map(|i| [f64::from(i), 0.1, -0.0]))
        .write(&path)
        .unwrap();

    let Some(found) = read_back(&path) else { return };
    let force: Vec<f64> = (0..9).flat_map(|i| [f64::from(i), 0.1, -0.0]).collect();
    let expected = json!({
        "points": bits(position.as_flattened()),
        "field_data": [
            array("TimeValue", "double", 1, &[], bits(&[0.1])),
            array("step", "unsigned long long", 1, &[], vec![120_034]),
        ],
        "point_data": [
            array("radius", "double", 1, &[], bits(&radius)),
            array("orientation", "double", 4, &["x", "y", "z", "w"], bits(spin.as_flattened())),
            array("stress <Pa> & \"more\"", "double", 6, &["xx", "yy", "zz", "xy", "yz", "xz"], bits(stress.as_flattened())),
            array("turn", "double", 9, &[], bits(turn.as_flattened())),
            array("small", "float", 1, &[], small.map(f32::to_bits).to_vec()),
            array("signed", "int", 3, &[], signed.as_flattened().to_vec()),
            array("id", "unsigned long long", 1, &[], id.to_vec()),
            array("flag", "unsigned char", 1, &[], flag.to_vec()),
        ],
        "cell_data": [
            array("kind", "int", 1, &[], kind.to_vec()),
            array("force [N]", "double", 3, &[], bits(&force)),
        ],
        "verts": [[0], [1], [2], [3], [4]],
        "lines": [[0, 4], [1, 2]],
        "polys": polygons,
    });
    for (key, expected) in expected.as_object().unwrap() {
        // VTK has two names for 64-bit integers, depending on the machine.
        let found = found[key].to_string().replace("unsigned long\"", "unsigned long long\"");
        assert_eq!(found, expected.to_string(), "{key}");
    }
}

#[test]
fn vtk_reads_data_sets_without_points_or_without_cells() {
    let dir = tempfile::tempdir().unwrap();
    let none: [[f64; 3]; 0] = [];
    let polygons: [Vec<usize>; 0] = [];
    let path = dir.path().join("empty.vtp");
    PolyData::points(none)
        .time(0.0)
        .point_data("radius", [0.0; 0])
        .point_data("velocity", none)
        .vertices()
        .segments([])
        .polygons(&polygons)
        .cell_data("kind", [0u8; 0])
        .write(&path)
        .unwrap();
    if let Some(found) = read_back(&path) {
        for key in ["points", "verts", "lines", "polys"] {
            assert_eq!(found[key], json!([]), "{key}");
        }
    }

    let path = dir.path().join("bare.vtp");
    PolyData::points([[1.0, 2.0, 3.0]]).write(&path).unwrap();
    if let Some(found) = read_back(&path) {
        assert_eq!(found["points"], json!(bits(&[1.0, 2.0, 3.0])));
        assert_eq!(found["verts"], json!([]));
    }
}

#[test]
fn a_large_frame_of_many_buffers_is_read_by_vtk() {
    let n = 3000;
    let position: Vec<[f64; 3]> = (0..n).map(|i| [i as f64, 0.5 * i as f64, -1.0]).collect();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("many.vtp");
    let triangles = (2..n).map(|i| [i - 2, i - 1, i]);
    let normal = (2..n).map(|i| i as f64);
    PolyData::points(&position).triangles(triangles).cell_data("n", normal).write(&path).unwrap();
    let Some(found) = read_back(&path) else { return };
    assert_eq!(found["points"], json!(bits(position.as_flattened())));
    assert_eq!(found["polys"], json!((2..n).map(|i| [i - 2, i - 1, i]).collect::<Vec<_>>()));
    assert_eq!(found["cell_data"][0]["values"], json!((2..n).map(|i| (i as f64).to_bits()).collect::<Vec<_>>()));
}

#[test]
fn a_collection_is_well_formed_xml() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("grains.pvd");
    let mut collection = Collection::new(&path);
    collection.push(Entry { time: 0.0, part: 0, file: "grains-000000.vtp".into() }).unwrap();
    collection.push(Entry { time: 1e-7, part: 2, file: "odd <name> & 'more' \"x\" é.vtp".into() }).unwrap();
    let Some(found) = read_back(&path) else { return };
    let expected = json!([["0.0", "0", "grains-000000.vtp"], ["1e-7", "2", "odd <name> & 'more' \"x\" é.vtp"]]);
    assert_eq!(found, expected);
}

#[test]
fn vtk_reads_the_cells_and_chains_of_an_analysis() {
    let scene = analysed();
    let model = &scene.stages[0].model;
    let mut simulation = Simulation::new(scene.stages.clone(), scene.state, 1);
    simulation.prepare().unwrap();
    let cells = Cells::around(model, &simulation.state, [1, 2, 1]).unwrap();
    let analysis = Analysis::of(model, &simulation.state, cells, 45.0);
    let dir = tempfile::tempdir().unwrap();
    analysis.write(dir.path()).unwrap();

    let Some(found) = read_back(&dir.path().join("cells.vti")) else { return };
    let bounds: Vec<f64> = serde_json::from_value(found["bounds"].clone()).unwrap();
    let (min, max) = (cells.bounds().min, cells.bounds().max);
    for (found, expected) in bounds.iter().zip([min.x, max.x, min.y, max.y, min.z, max.z]) {
        assert!((found - expected).abs() < 1e-12, "{bounds:?}");
    }
    assert_eq!(found["cells"], 2);
    let stress: Vec<f64> = analysis.stress.iter().flat_map(|s| components(&s.contact)).collect();
    let expected = array("stress", "double", 6, &["XX", "YY", "ZZ", "XY", "YZ", "XZ"], bits(&stress));
    assert!(found["cell_data"].as_array().unwrap().contains(&expected), "{found}");

    let found = read_back(&dir.path().join("chains.vtp")).unwrap();
    assert_eq!(found["lines"], json!([[0, 1, 2, 3]]));
    assert_eq!(found["point_data"][1]["values"], json!(bits(&[0.01; 4])));
}

/// Four discs pressed together in a row, and pairs that hardly touch.
fn analysed() -> Scene {
    let row = (0..4).map(|k| format!("[{}, 0]", 0.0199 * f64::from(k)));
    let pairs = (1..9).flat_map(|k| [0.0, 0.019_999].map(|x| format!("[{x}, {}]", 0.05 * f64::from(k))));
    let places: Vec<String> = row.chain(pairs).collect();
    let text = format!(
        "title = \"row\"\nplanar = true\ngravity = [0, 0]\n[material.m]\ndensity = 1000\n\
         [contact.default]\nnormal = {{ law = \"hooke\", stiffness = 1e5 }}\n\
         [[grains]]\nname = \"discs\"\nmaterial = \"m\"\nradius = 0.01\n\
         fill = {{ method = \"at\", positions = [{}] }}\n[[stage]]\nname = \"one\"\nduration = 1\n",
        places.join(", ")
    );
    let raw = scene::read(&text, "row.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    build::build(&raw, Path::new(".")).unwrap_or_else(|e| panic!("{e}"))
}
