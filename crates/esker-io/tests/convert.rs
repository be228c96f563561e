//! Converted runs: closed content here, and what other programs read from them in `convert.py`.
//!
//! The latter needs a Python with `vtk` and `h5py`: `ESKER_PYTHON=…/bin/python cargo test -p esker-io --test convert`. `MDAnalysis` and
//! `ovito` are asked too where they are installed. Without that variable the tests say that they were skipped.

use esker::simulation::Simulation;
use esker_io::convert::{self, ConvertError, Existing, Format, Run, Selection};
use esker_io::frame::{Scene, described_grain_fields};
use esker_io::pvd::{Collection, Entry};
use esker_io::store::{RunHead, VERSION, Writer};
use esker_io::vtk::{Array, PolyData};
use esker_io::{build, scene, table};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Periodic along x, where the cell does not begin at 0.
const SCENE: &str = r#"
title = "Bed, \"periodic\""
gravity = [0, 0, -9.81]
[domain]
min = [-0.02, 0, 0]
max = [0.03, 1, 1]
periodic = ["x"]
[material.glass]
density = 2500
youngs-modulus = "10 MPa"
poisson-ratio = 0.25
friction = 0.4
restitution = 0.5
[material."lead shot"]
density = 11000
youngs-modulus = "10 MPa"
poisson-ratio = 0.25
friction = 0.4
restitution = 0.5
[[wall]]
name = "floor"
material = "glass"
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
[[grains]]
name = "bed"
material = "glass"
radius = { uniform = [0.002, 0.004] }
fill = { method = "random", count = 60, region = { box = { min = [-0.02, 0, 0], max = [0.03, 0.03, 0.04] } } }
[[grains]]
name = "shot"
material = "lead shot"
radius = 0.002
fill = { method = "random", count = 20, region = { box = { min = [-0.02, 0, 0.04], max = [0.03, 0.03, 0.06] } } }
[[remove]]
below = { z = -1 }
[[remove]]
above = { z = 0.045 }
[[stage]]
name = "fall"
duration = 1
"#;

/// A folder with frames; `scene.toml` comes from the caller.
struct Folder {
    dir: tempfile::TempDir,
    list: Collection,
}

impl Folder {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("bed-1")).unwrap();
        let list = Collection::new(dir.path().join("bed-1/grains.pvd"));
        Folder { dir, list }
    }

    fn run(&self) -> PathBuf {
        self.dir.path().join("bed-1")
    }

    fn add(&mut self, time: f64, frame: PolyData) {
        let file = format!("grains-{:06}.vtp", self.list.entries().len());
        frame.time(time).write(&self.run().join(&file)).unwrap();
        self.list.push(Entry { time, part: 0, file }).unwrap();
    }

    fn convert(&self, format: Format) -> Result<PathBuf, ConvertError> {
        let run = Run::open(&self.run())?;
        let output = self.dir.path().join(format.output_name(&run.name));
        convert::convert(&run, format, &output, Existing::Keep).map(|written| written.path)
    }

    fn text(&self, format: Format) -> String {
        fs::read_to_string(self.convert(format).unwrap()).unwrap()
    }
}

/// Three frames of made-up grains: out of order, coming and going, one frame empty; a field that no program knows.
fn made_up() -> Folder {
    let mut folder = Folder::new();
    let scene = SCENE.replace("[[remove]]\nbelow = { z = -1 }\n", "");
    fs::write(folder.run().join("scene.toml"), scene).unwrap();
    let grains = |ids: &'static [u64], shift: f64| {
        let at = move |i: u64| [0.1 + i as f64, shift, -0.0];
        PolyData::points(ids.iter().map(move |&i| at(i)))
            .point_data("id", ids)
            .point_data("radius", ids.iter().map(|_| 0.5))
            .point_data("material", ids.iter().map(|&i| (i % 2) as i32))
            .point_array(
                Array::new("odd tensor", ids.iter().map(|&i| [5e-324, 1e300, 0.1, -0.25, 1.0 / 3.0, i as f64]))
                    .component_names(&["XX", "YY", "ZZ", "XY", "YZ", "XZ"]),
            )
            .point_data("pair", ids.iter().map(|&i| [i as i32, i32::MIN]))
            .point_data("small", ids.iter().map(|_| 0.1f32))
            .vertices()
    };
    folder.add(0.0, grains(&[3, 1], 0.0));
    folder.add(0.1, grains(&[], 0.0));
    folder.add(0.3, grains(&[1, 4, 2], 0.25));
    folder
}

/// Frames of a simulation, as a run leaves them.
fn simulated() -> (Folder, Simulation) {
    let mut folder = Folder::new();
    fs::write(folder.run().join("scene.toml"), SCENE).unwrap();
    let raw = scene::read(SCENE, "scene.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    let scene = build::build(&raw, Path::new("")).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = Simulation::new(scene.stages, scene.state, 1);
    simulation.prepare().unwrap();
    let materials = vec!["glass".to_owned(), "lead shot".to_owned()];
    let head = RunHead { version: VERSION, title: "Bed".into(), materials, ..Default::default() };
    let mut store = Writer::create(&folder.run().join("frames.esk"), head).unwrap();
    for _ in 0..4 {
        let shown = Scene::of(&simulation);
        let fields = shown.grain_fields();
        let points = PolyData::points((0..shown.grains()).map(|i| shown.place(i))).vertices();
        folder.add(
            simulation.state.time,
            fields.iter().fold(points, |data, field| data.point_array(Array::of(field, shown.grains()))),
        );
        store.frame(&shown).unwrap();
        drop(fields);
        simulation.advance(700).unwrap();
    }
    (folder, simulation)
}

#[test]
fn a_lammps_dump_names_columns_as_lammps_does() {
    let text = made_up().text(Format::LammpsDump);
    let expected = "ITEM: UNITS\nsi\nITEM: TIME\n0.0\nITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n2\n\
        ITEM: BOX BOUNDS pp ff ff\n-0.02 0.03\n-0.5 0.75\n-0.5 0.5\n\
        ITEM: ATOMS id type x y z radius odd_tensor_xx odd_tensor_yy odd_tensor_zz odd_tensor_xy odd_tensor_yz odd_tensor_xz \
        pair_0 pair_1 small\n\
        1 2 1.1 0.0 -0.0 0.5 5e-324 1e300 0.1 -0.25 0.3333333333333333 1.0 1 -2147483648 0.1\n\
        3 2 3.1 0.0 -0.0 0.5 5e-324 1e300 0.1 -0.25 0.3333333333333333 3.0 3 -2147483648 0.1\n\
        ITEM: TIME\n0.1\nITEM: TIMESTEP\n1\nITEM: NUMBER OF ATOMS\n0\n";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn extended_xyz_tells_lattice_properties_and_time() {
    let text = made_up().text(Format::Xyz);
    let expected = "2\nLattice=\"0.05 0 0 0 1.25 0 0 0 1.0\" Origin=\"-0.02 -0.5 -0.5\" pbc=\"T F F\" \
        Properties=species:S:1:pos:R:3:id:I:1:radius:R:1:odd_tensor_xx:R:1:odd_tensor_yy:R:1:odd_tensor_zz:R:1:\
        odd_tensor_xy:R:1:odd_tensor_yz:R:1:odd_tensor_xz:R:1:pair:I:2:small:R:1 Time=0.0 Timestep=0\n\
        lead_shot 1.1 0.0 -0.0 1 0.5 5e-324 1e300 0.1 -0.25 0.3333333333333333 1.0 1 -2147483648 0.1\n";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.contains("\n0\nLattice=") && text.contains("Time=0.3 Timestep=2\n"));
}

#[test]
fn tables_hold_all_fields_and_a_list_of_times() {
    let folder = made_up().convert_csv();
    let first = fs::read_to_string(folder.path.join("grains-000000.csv")).unwrap();
    let expected = "x [m],y [m],z [m],radius [m],material,id,odd tensor xx,odd tensor yy,odd tensor zz,odd tensor xy,\
        odd tensor yz,odd tensor xz,pair 0,pair 1,small\n\
        1.1,0.0,-0.0,0.5,lead shot,1,5e-324,1e300,0.1,-0.25,0.3333333333333333,1.0,1,-2147483648,0.1\n";
    assert!(first.starts_with(expected), "{first}");
    let list = fs::read_to_string(folder.path.join("frames.csv")).unwrap();
    assert_eq!(list, "file,step,time [s]\ngrains-000000.csv,0,0.0\ngrains-000001.csv,1,0.1\ngrains-000002.csv,2,0.3\n");
}

/// A converted folder that lives as long as its source.
struct Tables {
    path: PathBuf,
    _source: Folder,
}

impl Folder {
    fn convert_csv(self) -> Tables {
        Tables { path: self.convert(Format::Csv).unwrap(), _source: self }
    }
}

#[test]
fn a_scene_begins_with_the_grains_of_a_converted_frame_to_the_last_bit() {
    let (folder, _) = simulated();
    let tables = folder.convert_csv();
    let grains = table::read(&tables.path.join("grains-000003.csv")).unwrap();
    // The last frame was written 700 steps before; the same state comes again.
    let raw = scene::read(SCENE, "scene.toml", &[]).unwrap();
    let again = build::build(&raw, Path::new("")).unwrap();
    let mut simulation = Simulation::new(again.stages, again.state, 1);
    simulation.prepare().unwrap();
    for _ in 0..3 {
        simulation.advance(700).unwrap();
    }
    let shown = Scene::of(&simulation);
    let p = &simulation.state.particles;
    let mut order: Vec<usize> = (0..p.owned()).collect();
    order.sort_by_key(|&i| p.id[i]);
    assert!(!order.is_empty() && order.len() < 80, "some were removed: {}", order.len());
    assert_eq!(grains.id.as_ref().unwrap(), &order.iter().map(|&i| p.id[i]).collect::<Vec<_>>());
    for (row, &i) in order.iter().enumerate() {
        assert_eq!(grains.position[row].map(f64::to_bits), shown.place(i).to_array().map(f64::to_bits));
        assert_eq!(grains.radius[row].to_bits(), p.radius(i).to_bits());
        let velocity = grains.velocity.as_ref().unwrap()[row];
        assert_eq!(velocity.map(f64::to_bits), p.velocity(i).to_array().map(f64::to_bits));
        let spin = grains.angular_velocity.as_ref().unwrap()[row];
        assert_eq!(spin.map(f64::to_bits), p.angular_velocity(i).to_array().map(f64::to_bits));
        let name = &simulation.model().materials[simulation.model().material_of(p.kind[i]) as usize].name;
        assert_eq!(&grains.material.as_ref().unwrap()[row], name);
    }
    // And a scene takes the table, with all its columns; it wants one material in each.
    let whole = fs::read_to_string(tables.path.join("grains-000003.csv")).unwrap();
    let glass: Vec<&str> = whole.lines().filter(|line| line.contains(",glass,") || line.starts_with('x')).collect();
    fs::write(tables.path.join("glass.csv"), glass.join("\n")).unwrap();
    let (first, last) = (SCENE.find("[[grains]]").unwrap(), SCENE.find("[[remove]]").unwrap());
    let fill = "[[grains]]\nname = \"bed\"\nmaterial = \"glass\"\nfill = { method = \"file\", file = \"glass.csv\" }\n";
    let text = [&SCENE[..first], fill, &SCENE[last..]].concat();
    let raw = scene::read(&text, "again.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    let scene = build::build(&raw, &tables.path).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(scene.state.particles.owned(), glass.len() - 1);
}

#[test]
fn results_are_passed_over_only_behind_an_id() {
    for field in described_grain_fields() {
        let component = field.components.first().map(|c| format!(" {c}")).unwrap_or_default();
        let name = format!("{}{component}", field.name);
        let read = |header: &str| table::read_bytes(format!("{header}\n").as_bytes());
        if !["id", "radius", "material", "velocity", "spin"].contains(&field.name) {
            assert!(read(&format!("x,y,radius,id,{name} [whatever]")).is_ok(), "{name}");
            assert!(read(&format!("x,y,radius,{name}")).is_err(), "{name}");
        }
    }
    assert!(table::read_bytes(b"x,y,radius,id,velocity x\n").is_err());
    assert!(table::read_bytes(b"x,y,radius,id,mas\n").is_err());
}

#[test]
fn steps_and_names_come_from_the_store() {
    let (folder, _) = simulated();
    let mut run = Run::open(&folder.run()).unwrap();
    assert_eq!(run.notes, Vec::<String>::new());
    assert_eq!(run.frames.iter().map(|f| f.step).collect::<Vec<_>>(), [0, 700, 1400, 2100]);
    assert_eq!((run.materials.len(), run.title.as_str(), run.cell.length), (2, "Bed", [Some(0.05), None, None]));
    for (text, numbers) in [("1..3", vec![1, 2]), ("last", vec![3]), ("2", vec![2]), ("..2", vec![0, 1])] {
        let mut some = run.clone();
        some.select(&text.parse().unwrap()).unwrap();
        assert_eq!(some.frames.iter().map(|f| f.number).collect::<Vec<_>>(), numbers, "{text}");
    }
    let error = run.clone().select(&"9..".parse().unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "no frame is selected: the run has frames 0 to 3");
    run.select(&Selection { from: Some(1), every: 2, ..Selection::ALL }).unwrap();
    assert_eq!(run.frames.iter().map(|f| f.number).collect::<Vec<_>>(), [1, 3]);
    for wrong in ["", "..x", "a", "1-3", "-1"] {
        assert!(wrong.parse::<Selection>().is_err(), "{wrong}");
    }
}

#[test]
fn hdf_files_read_back_through_the_library_that_wrote_them() {
    let folder = made_up();
    let file = hdf5_pure::File::open(folder.convert(Format::Vtkhdf).unwrap()).unwrap();
    assert_eq!(file.dataset("VTKHDF/NumberOfPoints").unwrap().read_i64().unwrap(), [2, 0, 3]);
    assert_eq!(file.dataset("VTKHDF/Steps/PointOffsets").unwrap().read_i64().unwrap(), [0, 2, 2]);
    assert_eq!(file.dataset("VTKHDF/PointData/id").unwrap().read_u64().unwrap(), [1, 3, 1, 2, 4]);
    assert_eq!(file.dataset("VTKHDF/PointData/odd tensor").unwrap().shape().unwrap(), [5, 6]);
    let file = hdf5_pure::File::open(folder.convert(Format::H5md).unwrap()).unwrap();
    let ids = file.dataset("particles/grains/id/value").unwrap();
    assert_eq!(ids.shape().unwrap(), [3, 3]);
    assert_eq!(ids.read_i64().unwrap(), [1, 3, -1, -1, -1, -1, 1, 2, 4]);
    assert_eq!(ids.fill_value::<i64>().unwrap(), Some(-1));
    let x = file.dataset("particles/grains/position/value").unwrap();
    assert_eq!((x.shape().unwrap(), x.read_f64().unwrap()[2].to_bits()), (vec![3, 3, 3], (-0.0f64).to_bits()));
    assert!(x.read_f64().unwrap()[6].is_nan());
}

#[test]
fn what_cannot_be_converted_is_told_and_leaves_nothing() {
    let folder = made_up();
    let outside = folder.dir.path().to_owned();
    let text = |result: Result<PathBuf, ConvertError>| result.unwrap_err().to_string();
    assert!(Run::open(&outside).unwrap_err().to_string().contains("holds no run"));
    assert!(Run::open(&outside.join("none")).unwrap_err().to_string().contains("holds no run"));
    let bare = outside.join("bare");
    fs::create_dir(&bare).unwrap();
    fs::write(bare.join("scene.toml"), SCENE).unwrap();
    assert!(Run::open(&bare).unwrap_err().to_string().contains("has no frames"));

    let there = outside.join("bed-1.xyz");
    fs::write(&there, "mine").unwrap();
    assert!(text(folder.convert(Format::Xyz)).contains("is there already"));
    assert_eq!(fs::read_to_string(&there).unwrap(), "mine");
    let run = Run::open(&folder.run()).unwrap();
    convert::convert(&run, Format::Xyz, &there, Existing::Replace).unwrap();
    assert!(fs::read_to_string(&there).unwrap().starts_with("2\n"));

    let last = folder.run().join("grains-000002.vtp");
    let whole = fs::read(&last).unwrap();
    fs::write(&last, &whole[..whole.len() - 100]).unwrap();
    for format in [Format::Vtkhdf, Format::H5md, Format::LammpsDump] {
        let error = text(folder.convert(format));
        assert!(error.contains("grains-000002.vtp") && error.contains("ends too early"), "{error}");
    }
    fs::remove_file(&last).unwrap();
    assert!(text(folder.convert(Format::Vtkhdf)).contains("grains-000002.vtp"));
    PolyData::points([[0.0; 3]]).point_data("id", [1u64]).write(&last).unwrap();
    assert!(text(folder.convert(Format::Vtkhdf)).contains("`radius` is missing"));
    let names: Vec<_> = fs::read_dir(&outside).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
}

/// What Python says of all formats of a run; nothing if there is no Python to ask.
fn ask_python(folder: &Folder) {
    let Some(python) = std::env::var_os("ESKER_PYTHON") else {
        println!("skipped: ESKER_PYTHON is not set, so other programs were not asked");
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/convert.py");
    let mut command = Command::new(&python);
    command.arg(script).arg(folder.run());
    for format in Format::ALL {
        command.arg(folder.convert(format).unwrap());
    }
    let output = command.output().expect("ESKER_PYTHON can be started");
    let (told, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{told}{errors}");
    println!("{told}");
}

#[test]
fn other_programs_read_a_simulated_run_bit_for_bit() {
    ask_python(&simulated().0);
}

#[test]
fn other_programs_read_grains_that_come_and_go() {
    ask_python(&made_up());
}
