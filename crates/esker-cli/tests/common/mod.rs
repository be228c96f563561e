//! Runs the program and looks at what it leaves behind.

use esker_io::checkpoint;
use esker_io::pvd::Collection;
use esker_io::run_folder::Frame;
use esker_io::store::Reader;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The program with arguments.
pub fn esker<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_esker"));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// What a finished program said.
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Said {
    fn from(o: Output) -> Said {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the program writes UTF-8");
        Said { code: o.status.code(), out: text(o.stdout), err: text(o.stderr) }
    }
}

/// Runs the program to its end.
#[track_caller]
pub fn run<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Said {
    let said: Said = esker(arguments).output().expect("the program can be started").into();
    assert!(!said.err.contains("panicked"), "{}", said.err);
    said
}

/// Runs the program to a good end.
#[track_caller]
pub fn run_well<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Said {
    let said = run(arguments);
    assert_eq!(said.code, Some(0), "{}\n{}", said.out, said.err);
    said
}

/// An example of the repository.
pub fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// The hopper with fewer grains and shorter stages, but all that a hopper does.
pub fn small_hopper() -> Vec<String> {
    let mut arguments = vec!["run".to_string(), example("hopper.toml").display().to_string()];
    for change in [
        "grains.bed.fill.count=150",
        "stage.settle.duration=60 ms",
        "stage.discharge.duration=200 ms",
        "output.checkpoint=10 ms",
        "output.frames=10 ms",
        "output.series=1 ms",
    ] {
        arguments.extend(["--set".to_string(), change.to_string()]);
    }
    arguments
}

/// A tumbler of 3300 spheres of many sizes with everything that moves: enough grains for three workers.
pub const TUMBLER: &str = r#"
title = "Tumbler"
gravity = [0, 0, -9.81]
seed = 3

[domain]
min = [0, 0, 0]
max = [0.5, 0.2, 0.3]
periodic = ["x"]

[material.glass]
density = 2500
youngs-modulus = 1e6
poisson-ratio = 0.25
friction = 0.4
restitution = 0.7

[contact.default]
rolling = { law = "spring", friction = 0.02 }

[[wall]]
name = "sides"
material = "glass"
plane = { point = [0, 0, 0], normal = [0, 1, 0] }
[[wall]]
name = "back"
material = "glass"
plane = { point = [0, 0.2, 0], normal = [0, -1, 0] }
[[wall]]
name = "floor"
material = "glass"
plane = { point = [0, 0, 0.005], normal = [0, 0, 1] }
motion = { oscillate = { direction = [0, 0, 1], amplitude = "1 mm", frequency = "50 Hz" } }
[[wall]]
name = "paddle"
material = "glass"
mesh = { file = "parts/paddle.stl" }
motion = { rotate = { through = [0.25, 0.1, 0.05], axis = [0, 1, 0], rate = "300 rpm" } }

[[grains]]
name = "bed"
material = "glass"
radius = { uniform = ["2 mm", "5 mm"] }
velocity = { speed = ["0.1 m/s", "1 m/s"] }
fill = { method = "random", count = 3300, region = { box = { min = [0, 0, 0.01], max = [0.5, 0.2, 0.2] } } }

[[feed]]
name = "inlet"
material = "glass"
radius = "3 mm"
rate = 20000
arrival = "poisson"
velocity = [0, 0, -2]
region = { box = { min = [0, 0, 0.22], max = [0.5, 0.2, 0.3] } }

[[remove]]
inside = { box = { min = [-1, 0, 0], max = [2, 0.1, 0.02] } }

[[field]]
drag = { viscosity = "1 mPa s" }

[solver]
step = "20 us"

[[stage]]
name = "turn"
duration = "4 ms"
[[stage]]
name = "on"
duration = "4 ms"
feeds = []

[output]
frames = "2 ms"
series = "0.1 ms"
checkpoint = "1 ms"
probe = [{ name = "load", force-on = "paddle" }, { name = "through", flow-through = { z = 0.1 } }, { name = "stress", stress-in = { box = { min = [0, 0, 0], max = [0.5, 0.2, 0.1] } } }]
"#;

/// Writes the tumbler and its mesh into a folder.
pub fn write_tumbler(folder: &Path) -> PathBuf {
    fs::create_dir_all(folder.join("parts")).unwrap();
    let corner = [[0.2, 0.05, 0.045], [0.3, 0.05, 0.045], [0.3, 0.15, 0.055], [0.2, 0.15, 0.055]];
    let mut stl = String::from("solid paddle\n");
    for triangle in [[0, 1, 2], [0, 2, 3]] {
        stl += "facet normal 0 0 0\nouter loop\n";
        for [x, y, z] in triangle.map(|k: usize| corner[k]) {
            stl += &format!("vertex {x} {y} {z}\n");
        }
        stl += "endloop\nendfacet\n";
    }
    fs::write(folder.join("parts/paddle.stl"), stl + "endsolid paddle\n").unwrap();
    let scene = folder.join("tumbler.toml");
    fs::write(&scene, TUMBLER).unwrap();
    scene
}

/// All files of a run folder by name, without the lock.
pub fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_file() && name != ".esker.lock" {
            found.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    found
}

/// Two runs have left the same: every file byte for byte, of `run.json` all that is no timing and no path.
#[track_caller]
pub fn assert_same_results(a: &Path, b: &Path) {
    let (a, b) = (files(a), files(b));
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&a), names(&b));
    for (name, bytes) in &a {
        if name == "run.json" {
            let (a, b) = (without_timings(bytes), without_timings(&b[name]));
            for (key, value) in a.as_object().unwrap() {
                assert_eq!(*value, b[key], "{key} of {name}");
            }
        } else if *bytes != b[name] {
            let at = bytes.iter().zip(&b[name]).position(|(x, y)| x != y);
            panic!("{name} differs: {} and {} bytes, first at {at:?}", bytes.len(), b[name].len());
        }
    }
}

fn without_timings(bytes: &[u8]) -> serde_json::Value {
    let mut info: serde_json::Value = serde_json::from_slice(bytes).expect("run.json is JSON");
    // When a warning about overlaps comes depends on the clock.
    for key in ["seconds", "phases", "particle_steps", "threads", "warnings"] {
        assert!(info.as_object_mut().expect("an object").remove(key).is_some(), "{key}");
    }
    info
}

/// Nothing in a run folder is corrupt, whatever moment its process died at. Half-written temporary files may be there; a
/// series may end in a torn line.
#[track_caller]
pub fn assert_sound(folder: &Path) {
    for (name, bytes) in files(folder) {
        let path = folder.join(&name);
        if name.starts_with('.') {
            assert!(name.contains(".tmp-"), "{name}");
        } else if name.ends_with(".vtp") {
            assert_whole_vtp(&name, &bytes);
        } else if name.ends_with(".pvd") {
            let collection = Collection::open(&path).unwrap_or_else(|e| panic!("{e}"));
            for entry in collection.entries() {
                assert!(folder.join(&entry.file).is_file(), "{name} names {}, which is not there", entry.file);
            }
        } else if name.ends_with(".ckpt") {
            checkpoint::verify(&path).unwrap_or_else(|e| panic!("{e}"));
            checkpoint::load::<esker::state::State>(&path).unwrap_or_else(|e| panic!("{e}"));
        } else if name == "series.csv" {
            assert_whole_rows(&bytes);
        } else if name == "frames.esk" {
            assert_whole_frames(&path);
        } else if name == "run.json" {
            without_timings(&bytes);
        } else {
            assert!(name.ends_with(".toml") || name.ends_with(".stl"), "{name} is unknown");
            assert!(!bytes.is_empty());
        }
    }
}

/// Every frame but a torn last one can be read.
fn assert_whole_frames(path: &Path) {
    if fs::metadata(path).unwrap().len() == 0 {
        return; // not even begun
    }
    let store = Reader::open(path).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(store.fault(), None);
    for number in 0..store.frames().len() {
        store.frame(number).unwrap_or_else(|e| panic!("{e}"));
    }
}

/// Every line but a torn last one has as many numbers as the header has names.
fn assert_whole_rows(bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).expect("text");
    let Some((whole, _torn)) = text.rsplit_once('\n') else { return };
    let mut lines = whole.lines();
    let width = lines.next().expect("a header").split(',').count();
    for line in lines {
        let numbers =
            line.split(',').map(|cell| cell.parse::<f64>().unwrap_or_else(|_| panic!("`{cell}` in `{line}`")));
        assert_eq!(numbers.count(), width, "{line}");
    }
}

/// The blocks that the head of a file announces follow each other without gap up to the last tag.
pub fn assert_whole_vtp(name: &str, bytes: &[u8]) {
    const MARK: &[u8] = b"<AppendedData encoding=\"raw\">";
    assert!(bytes.starts_with(b"<?xml"), "{name}");
    let at = bytes.windows(MARK.len()).position(|w| w == MARK).unwrap_or_else(|| panic!("{name}: no data"));
    let head = std::str::from_utf8(&bytes[..at]).expect("the head is text");
    let data = at + bytes[at..].iter().position(|&b| b == b'_').expect("an underscore begins the data") + 1;
    let mut next = 0;
    for part in head.split("offset=\"").skip(1) {
        let offset: usize = part.split('"').next().and_then(|n| n.parse().ok()).expect("a number");
        assert_eq!(offset, next, "{name}");
        let length: [u8; 8] = bytes[data + offset..data + offset + 8].try_into().unwrap();
        next = offset + 8 + u64::from_le_bytes(length) as usize;
    }
    let tail = std::str::from_utf8(&bytes[data + next..]).unwrap_or_else(|_| panic!("{name}: no end"));
    let tags: Vec<&str> = tail.split_whitespace().collect();
    assert_eq!(tags, ["</AppendedData>", "</VTKFile>"], "{name}");
}

/// How many frames of a kind a folder has.
pub fn frames(folder: &Path, kind: Frame) -> usize {
    let begin = format!("{}-", kind.stem());
    files(folder).keys().filter(|name| name.starts_with(&begin) && name.ends_with(".vtp")).count()
}
