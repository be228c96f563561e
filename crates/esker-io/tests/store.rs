//! The store of frames against the state it was written from.

use esker::contact::visit::Other;
use esker::math::{Quat, Vec3};
use esker::simulation::Simulation;
use esker_io::frame::Scene;
use esker_io::store::{FrameData, Reader, RunHead, StoreError, VERSION, Writer};
use esker_io::{build, scene};
use std::path::{Path, PathBuf};

/// A heap between two walls beside a turning drum, periodic along x.
const SCENE: &str = r#"
title = "store"
gravity = [0, 0, -9.81]
[domain]
min = [0, 0, 0]
max = [0.05, 1, 1]
periodic = ["x"]
[material.glass]
density = 2500
youngs-modulus = "10 MPa"
poisson-ratio = 0.25
friction = 0.4
restitution = 0.5
[[wall]]
name = "floor"
material = "glass"
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
[[wall]]
name = "front"
material = "glass"
plane = { point = [0, 0, 0], normal = [0, 1, 0] }
[[wall]]
name = "back"
material = "glass"
plane = { point = [0, 0.03, 0], normal = [0, -1, 0] }
[[wall]]
name = "drum"
material = "glass"
cylinder = { from = [-0.1, 0.3, 0.2], to = [0.1, 0.3, 0.2], radius = 0.05 }
[[grains]]
name = "bed"
material = "glass"
radius = { uniform = [0.002, 0.004] }
fill = { method = "random", count = 150, region = { box = { min = [0, 0, 0], max = [0.05, 0.03, 0.06] } } }
[[stage]]
name = "fall"
duration = 1
motion = { drum = { rotate = { axis = [1, 0, 0], rate = 3 } } }
"#;

fn simulation() -> Simulation {
    let raw = scene::read(SCENE, "store.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    let scene = build::build(&raw, Path::new("")).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = Simulation::new(scene.stages, scene.state, 1);
    simulation.prepare().unwrap();
    simulation
}

fn head() -> RunHead {
    RunHead {
        version: VERSION,
        title: "store".into(),
        walls: vec!["floor".into(), "drum".into()],
        ..Default::default()
    }
}

/// A store of some frames in a folder, and the simulation at the last of them.
fn stored(folder: &Path, frames: usize) -> (PathBuf, Simulation) {
    let path = folder.join("frames.esk");
    let mut simulation = simulation();
    let mut writer = Writer::create(&path, head()).unwrap();
    for _ in 0..frames {
        simulation.advance(2000).unwrap();
        writer.frame(&Scene::of(&simulation)).unwrap();
    }
    (path, simulation)
}

fn close(found: f64, expected: f64, scale: f64) {
    assert!((found - expected).abs() <= expected.abs() / 2000.0 + 1e-7 * scale, "{found} for {expected}");
}

#[test]
fn a_frame_holds_what_the_state_does_to_the_documented_precision() {
    let folder = tempfile::tempdir().unwrap();
    let (path, simulation) = stored(folder.path(), 9);
    let reader = Reader::open(&path).unwrap();
    assert_eq!((reader.head(), reader.frames().len()), (&head(), 9));
    let frame = reader.frame(8).unwrap();
    let scene = Scene::of(&simulation);
    let p = &simulation.state.particles;
    assert_eq!((frame.time, frame.step, frame.grains.rows), (simulation.state.time, simulation.state.step, p.owned()));

    let column = |name: &str| frame.grains.column(name).unwrap_or_else(|| panic!("no {name}"));
    let smallest = (0..p.owned()).map(|i| p.radius(i)).fold(f64::INFINITY, f64::min);
    let fastest = (0..p.owned()).map(|i| p.velocity(i).length()).fold(0.0, f64::max);
    for row in 0..frame.grains.rows {
        let id = column("id").values[row] as u64;
        assert!(row == 0 || column("id").values[row - 1] < column("id").values[row]);
        let i = p.id.iter().position(|&other| other == id).unwrap();
        close(column("radius").values[row], p.radius(i), 0.0);
        let off = Vec3::from(column("position").vector(row)) - scene.place(i);
        assert!(off.abs().max_element() <= smallest / 512.0 * 1.000_001, "{off}");
        for (found, expected) in column("velocity").vector(row).into_iter().zip(p.velocity(i).to_array()) {
            close(found, expected, fastest);
        }
        assert_eq!(column("material").values[row], 0.0);
    }
    contacts_are_those_of(&frame, &scene);

    assert_eq!(frame.walls.len(), 4);
    for (part, mesh) in &frame.walls {
        let pose = simulation.state.wall_pose(simulation.model(), part.wall, frame.time);
        assert_eq!(part.position, pose.position.to_array());
        assert_eq!(Quat::from_array(part.orientation), pose.orientation);
        assert!(!mesh.triangles.is_empty());
    }
}

/// Each contact once, with both its ends where they are and its force.
fn contacts_are_those_of(frame: &FrameData, scene: &Scene) {
    let ids = &frame.grains.column("id").unwrap().values;
    let places = frame.grains.column("position").unwrap();
    let smallest = frame.grains.column("radius").unwrap().values.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = scene.contacts().iter().map(|c| c.normal_force).fold(0.0, f64::max);
    let (mut pairs, mut walls, mut across) = (0, 0, 0);
    for c in scene.contacts() {
        let id = |i: usize| scene.state.particles.id[i] as f64;
        let [from, to] = scene.ends(c);
        let in_pairs = |j: usize| {
            let (a, b) = (id(c.i).min(id(j)), id(c.i).max(id(j)));
            let column = |name: &str| &frame.pairs.column(name).unwrap().values;
            let row = (0..frame.pairs.rows)
                .find(|&k| ids[column("first")[k] as usize] == a && ids[column("second")[k] as usize] == b)?;
            Some(column("normal force")[row])
        };
        let in_ends = |wall: f64| {
            let column = |name: &str| frame.ends.column(name).unwrap();
            let row = (0..frame.ends.rows).find(|&k| {
                let first = column("first").values[k] as usize;
                let end = Vec3::from(places.vector(first)) + Vec3::from(column("branch").vector(k));
                ids[first] == id(c.i) && column("wall").values[k] == wall && end.distance(to) < 0.02 * smallest
            })?;
            Some(column("normal force").values[row])
        };
        let force = match c.other {
            Other::Grain(j) if to.distance(scene.place(j)) < 1e-9 => {
                pairs += 1;
                in_pairs(j)
            }
            Other::Grain(_) => {
                across += 1;
                in_ends(-1.0)
            }
            Other::Wall(w) => {
                walls += 1;
                in_ends(w as f64)
            }
        };
        close(force.unwrap_or_else(|| panic!("no contact from {from} to {to}")), c.normal_force, largest);
    }
    assert_eq!(frame.pairs.rows + frame.ends.rows, scene.contacts().len());
    assert!(pairs > 50 && walls > 5 && across > 5, "{pairs} {walls} {across}");
}

#[test]
fn grains_and_walls_are_written_once_while_they_stay_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (path, mut simulation) = stored(folder.path(), 2);
    let reader = Reader::open(&path).unwrap();
    let [a, b] = [0, 1].map(|k| reader.frames()[k].clone());
    assert_eq!((a.grains, a.walls), (b.grains, b.walls), "the drum turns, but its shape stays");
    let mut writer = Writer::resume(&path, u64::MAX).unwrap();
    simulation.advance(1).unwrap();
    writer.frame(&Scene::of_grains(&simulation)).unwrap();
    let mut reader = reader;
    reader.look_again().unwrap();
    assert_eq!(reader.frames()[2].grains, a.grains, "also after the run was continued");
    assert_eq!(reader.frame(2).unwrap().pairs.rows, 0);
}

#[test]
fn a_continued_store_has_the_bytes_of_an_unbroken_one() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (whole, _) = stored(one.path(), 4);
    let (path, _) = stored(other.path(), 4);
    let step = Reader::open(&path).unwrap().frames()[1].step;
    let mut simulation = simulation();
    simulation.advance(4000).unwrap();
    assert_eq!(simulation.state.step, step);
    let mut writer = Writer::resume(&path, step + 7).unwrap();
    assert_eq!(Reader::open(&path).unwrap().frames().len(), 2);
    for _ in 0..2 {
        simulation.advance(2000).unwrap();
        writer.frame(&Scene::of(&simulation)).unwrap();
    }
    assert!(std::fs::read(&whole).unwrap() == std::fs::read(&path).unwrap());
}

#[test]
fn a_torn_end_is_passed_over_and_what_is_damaged_or_foreign_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = stored(folder.path(), 3);
    let bytes = std::fs::read(&path).unwrap();
    let last = Reader::open(&path).unwrap().frames()[2].clone();
    for length in [last.at + 3, last.at + 25, bytes.len() as u64 - 1] {
        std::fs::write(&path, &bytes[..length as usize]).unwrap();
        assert_eq!(Reader::open(&path).unwrap().frames().len(), 2, "cut at {length}");
    }
    // Any byte of a frame: an error or the same frame, never another one and no panic.
    let good = {
        std::fs::write(&path, &bytes).unwrap();
        Reader::open(&path).unwrap().frame(2).unwrap()
    };
    for at in (last.at..bytes.len() as u64).step_by(97).chain(last.at..last.at + 20) {
        let mut changed = bytes.clone();
        changed[at as usize] ^= 0x5a;
        std::fs::write(&path, &changed).unwrap();
        if let Ok(frame) = Reader::open(&path).and_then(|reader| reader.frame(2)) {
            assert!(frame == good, "byte {at}");
        }
    }
    // What is damaged behind some frames does not cost these; a run does not go on behind it.
    std::fs::write(&path, [&bytes[..], b"something that is no block"].concat()).unwrap();
    let reader = Reader::open(&path).unwrap();
    assert_eq!(reader.frames().len(), 3);
    assert!(reader.fault().unwrap().contains("no block begins here"));
    assert!(matches!(Writer::resume(&path, u64::MAX), Err(StoreError::Damaged { .. })));
    // A head that is not understood costs one frame.
    let second = reader.frames()[1].at as usize;
    let mut changed = bytes.clone();
    changed[second + 20] = b'?';
    std::fs::write(&path, &changed).unwrap();
    let reader = Reader::open(&path).unwrap();
    assert_eq!(reader.frames().len(), 2);
    assert!(reader.fault().unwrap().contains("its head is not understood"));
    for length in [0, 3, 25] {
        std::fs::write(&path, &bytes[..length]).unwrap();
        assert!(matches!(Reader::open(&path), Err(StoreError::NotBegun { .. })), "{length}");
    }
    for text in ["noise", "a text that is longer than the outside of a block"] {
        std::fs::write(&path, text).unwrap();
        assert!(matches!(Reader::open(&path), Err(StoreError::Foreign { .. })), "{text}");
    }
}
