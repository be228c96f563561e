//! What is tried with arbitrary bytes: nothing may panic, and what is understood must hold together.
//!
//! Used by the targets of `cargo fuzz` and, without any special compiler, by `crates/esker-io/tests/fuzz.rs`.

use esker::fill::feed::Feed;
use esker::math::Vec3;
use esker::model::{Method, Model};
use esker::simulation::Simulation;
use esker::state::State;
use esker_io::scene::raw::RawAmount;
use esker_io::{build, checkpoint, scene, stl, table};
use std::path::Path;

/// More grains than this would only make it slow.
const FEW: u64 = 30;
/// Attempts to place a grain.
const TRIES: u64 = 30;

/// A scene: reads it, builds it, advances it a little; written out with its defaults it must be the same scene.
pub fn scene(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut raw = match scene::check(text, "fuzz.toml", &[]) {
        Ok(raw) => raw,
        Err(errors) => {
            assert!(!errors.is_empty());
            errors.iter().for_each(|error| assert!(error.to_string().starts_with("error: ")));
            return;
        }
    };
    let mut small = true;
    for grains in &mut raw.grains {
        if let Some(amount) = &mut grains.fill.amount
            && !matches!(amount.value, RawAmount::Count(n) if n <= FEW)
        {
            amount.value = RawAmount::Count(FEW);
            small = false;
        }
        if let Some(tries) = &mut grains.fill.tries {
            small &= tries.value <= TRIES;
            tries.value = tries.value.min(TRIES);
        } else {
            small = false;
        }
    }
    let built = match build::build(&raw, Path::new("no-such-folder")) {
        Ok(built) => built,
        Err(error) => {
            assert!(error.to_string().starts_with("error: "), "{error}");
            return;
        }
    };
    if built.state.particles.owned() as u64 > 10 * FEW {
        return; // a lattice in a large region
    }
    let filled = build::filled_text(&raw, &built);
    let before = format!("{:?}", built.state);
    let steps: Vec<f64> = built.stages.iter().map(|stage| stage.model.dt).collect();
    let mut simulation = Simulation::new(built.stages, built.state, 1);
    if !simulation.stages().iter().all(|stage| is_calm(&stage.model, &simulation.state)) {
        return; // a step of it may have any number of collisions
    }
    if simulation.prepare().and_then(|()| simulation.advance(3)).is_err() {
        return; // absurd numbers may break a run, but with an error
    }
    if small {
        let raw = scene::read(&filled, "fuzz.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{filled}"));
        let again = build::build(&raw, Path::new("no-such-folder")).unwrap_or_else(|e| panic!("{e}\n{filled}"));
        assert_eq!(before, format!("{:?}", again.state), "{filled}");
        assert_eq!(steps, again.stages.iter().map(|stage| stage.model.dt).collect::<Vec<_>>(), "{filled}");
    }
}

/// Whether a step has few events: of soft contacts always, of hard collisions where nothing moves far in a step.
fn is_calm(model: &Model, state: &State) -> bool {
    if model.method == Method::Explicit {
        return true;
    }
    let p = &state.particles;
    let fed = || model.feeds.iter().map(|(feeder, _)| feeder.feed());
    if p.owned() == 0 && fed().next().is_some() && !model.fields.is_empty() {
        return false; // nobody knows how the fields push what is fed
    }
    let speeds = p.motion.iter().map(|m| m.velocity.length()).chain(fed().map(|feed| feed.velocity.length()));
    let fastest = speeds.fold(0.0, f64::max);
    let least = |feed: &Feed| feed.size.prepare(model.planar).map_or(0.0, |sizes| sizes.r_min());
    let radii = p.place.iter().map(|place| place.radius).chain(fed().map(least));
    let smallest = radii.fold(f64::INFINITY, f64::min);
    let push = |i: usize| model.fields.iter().map(|f| f.force(p, i, 0.0)).sum::<Vec3>().length() / p.mass[i];
    let pull = (0..p.owned()).map(push).fold(0.0, f64::max);
    let walls = model.walls.iter().map(|wall| (wall.motion.speed_bound(1.0), wall.motion.limits().acceleration));
    let (speed, bend) = walls.fold((fastest, pull), |(v, a), (speed, bend)| (v.max(speed), a.max(bend)));
    model.dt <= 1e-3 && (speed + bend * model.dt) * model.dt <= 10.0 * smallest && bend <= 1e4
}

/// A surface from an STL file, made into a wall and touched.
pub fn stl(bytes: &[u8]) {
    let surface = match stl::read_bytes(bytes) {
        Ok(surface) => surface,
        Err(problem) => {
            assert!(!problem.to_string().is_empty());
            return;
        }
    };
    assert!(surface.triangles.iter().flatten().all(|&v| (v as usize) < surface.vertices.len()));
    if surface.triangles.len() > 200 {
        return;
    }
    let vertices: Vec<Vec3> = surface.vertices.iter().map(|&v| Vec3::from_array(v)).collect();
    if let Ok(mesh) = esker::boundary::Mesh::new(vertices.clone(), surface.triangles, 1e-3) {
        let mut touches = Vec::new();
        for &vertex in vertices.iter().take(8) {
            mesh.touches(vertex + Vec3::splat(5e-4), 1e-3, &mut touches);
        }
    }
}

/// A table of grains.
pub fn table(bytes: &[u8]) {
    match table::read_bytes(bytes) {
        Ok(grains) => assert_eq!(grains.position.len(), grains.radius.len()),
        Err(problem) => assert!(!problem.to_string().is_empty()),
    }
}

/// A checkpoint: as it is, and with head and checksum mended, so that the state inside is reached. A state that fits
/// the scene must not break the solver.
pub fn checkpoint(bytes: &[u8]) {
    if let Err(fault) = checkpoint::decode::<State>(bytes) {
        assert!(!fault.to_string().is_empty());
    }
    let Ok((_, state)) = checkpoint::decode::<State>(&mended(bytes)) else { return };
    let again = checkpoint::encode(&state, &checkpoint::Meta::default()).expect("what was read can be written");
    assert!(checkpoint::decode::<State>(&again).is_ok());
    let scene = small_scene();
    if state.particles.owned() < 100 && state.check(&scene.stages).is_ok() {
        let mut simulation = Simulation::new(scene.stages, state, 1);
        let _ = simulation.prepare().and_then(|()| simulation.advance(2));
    }
}

/// A scene with a little of everything a state can hold.
pub fn small_scene() -> build::Scene {
    let raw = scene::read(SMALL, "small.toml", &[]).expect("the scene is fine");
    build::build(&raw, Path::new("")).expect("the scene is fine")
}

/// The text of [`small_scene`].
pub const SMALL: &str = r#"
gravity = [0, 0, -9.81]
domain = { min = [0, 0, 0], max = [0.1, 0.1, 0.1], periodic = ["x"] }
material.a = { density = 1000, youngs-modulus = 1e6, poisson-ratio = 0.3, friction = 0.4, restitution = 0.7 }
wall = [{ name = "floor", material = "a", plane = { point = [0, 0, 0], normal = [0, 0, 1] } }]
grains = [{ name = "g", material = "a", radius = "5 mm", fill = { method = "at", positions = [[0.001, 0.05, 0.0049], [0.0108, 0.05, 0.0049], [0.0915, 0.05, 0.006], [0.05, 0.05, 0.02]] } }]
feed = [{ name = "f", material = "a", radius = "3 mm", rate = 100, region = { box = { min = [0, 0, 0.05], max = [0.1, 0.1, 0.1] } } }]
stage = [{ name = "s", duration = 1 }]
output.probe = { name = "p", flow-through = { z = 0.01 } }
"#;

/// The bytes with a head that agrees with them.
pub fn mended(bytes: &[u8]) -> Vec<u8> {
    const HEAD: usize = 28;
    let mut all = bytes.to_vec();
    if all.len() < HEAD {
        return all;
    }
    let meta = u32::from_le_bytes([all[12], all[13], all[14], all[15]]) as usize;
    let Some(payload) = (all.len() - HEAD).checked_sub(meta) else { return all };
    all[..8].copy_from_slice(b"\x89ESKER\r\n");
    all[8..12].copy_from_slice(&1u32.to_le_bytes());
    all[16..24].copy_from_slice(&(payload as u64).to_le_bytes());
    let mut crc = crc32fast::Hasher::new();
    crc.update(&all[8..24]);
    crc.update(&all[HEAD..]);
    all[24..HEAD].copy_from_slice(&crc.finalize().to_le_bytes());
    all
}
