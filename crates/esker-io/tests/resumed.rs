//! A state that went through a checkpoint goes on with the same bits, whatever the integrator and the laws keep in it.

use esker::contact::Contacts;
use esker::integrate::Integrator;
use esker::law::{History, Memory};
use esker::math::Vec3;
use esker::simulation::Simulation;
use esker::state::State;
use esker_io::checkpoint::{Meta, decode, encode};
use esker_io::{build, scene};
use std::path::Path;

const SCENE: &str = r#"
gravity = [0, 0, -9.81]

[domain]
min = [0, 0, 0]
max = [0.06, 0.06, 0.06]

[material.glass]
density = 2500
youngs-modulus = 1e7
poisson-ratio = 0.25
friction = 0.4
restitution = 0.7

[[wall]]
name = "floor"
material = "glass"
plane = { point = [0, 0, 0], normal = [0, 0, 1] }

[[grains]]
name = "bed"
material = "glass"
radius = "4 mm"
velocity = [0.1, 0, -0.5]
fill = { method = "random", count = 60 }

[[stage]]
name = "fall"
duration = 1
"#;

#[test]
fn a_run_goes_on_from_a_checkpoint_with_the_same_bits_with_every_integrator() {
    for integrator in Integrator::ALL {
        let set = format!("solver.integrator={}", integrator.name());
        let raw = scene::read(SCENE, "scene.toml", &[set]).unwrap_or_else(|e| panic!("{e}"));
        let scene = build::build(&raw, Path::new("")).unwrap_or_else(|e| panic!("{e}"));
        let mut run = Simulation::new(scene.stages.clone(), scene.state, 1);
        run.advance(300).unwrap();
        let bytes = encode(&run.state, &Meta::default()).unwrap();
        let (_, state) = decode(&bytes).unwrap();
        let mut continued = Simulation::new(scene.stages, state, 1);
        run.advance(300).unwrap();
        continued.advance(300).unwrap();
        assert!(!run.state.contacts.walls.is_empty(), "{integrator:?}: nothing touches the floor");
        assert!(run.state == continued.state, "{integrator:?}: the runs differ");
    }
}

#[test]
fn so_does_one_whose_grains_attract_each_other_every_seventh_step() {
    let text = format!("{SCENE}\n[[field]]\nattraction = {{ constant = 1e-3, every = 7 }}\n");
    let raw = scene::read(&text, "scene.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    let scene = build::build(&raw, Path::new("")).unwrap_or_else(|e| panic!("{e}"));
    let mut run = Simulation::new(scene.stages.clone(), scene.state, 1);
    // Not after a whole number of sevens, and at one.
    for steps in [300, 6] {
        run.advance(steps).unwrap();
        let (_, state) = decode(&encode(&run.state, &Meta::default()).unwrap()).unwrap();
        let mut continued = Simulation::new(scene.stages.clone(), state, 1);
        run.advance(100).unwrap();
        continued.advance(100).unwrap();
        assert!(run.state == continued.state, "after {steps} steps: the runs differ");
    }
}

const SIDES: &str = r#"
[[wall]]
name = "left"
material = "glass"
plane = { point = [0, 0, 0], normal = [1, 0, 0] }

[[wall]]
name = "right"
material = "glass"
plane = { point = [0.03, 0, 0], normal = [-1, 0, 0] }

[[wall]]
name = "tube"
material = "glass"
cylinder = { from = [0.015, 0.015, 0], to = [0.015, 0.015, 0.1], radius = 0.022 }
"#;

/// A heap in the making under a strong weight, whose grains have met at different speeds, rolled and slid, with laws between
/// them.
fn heap(contact: &str) -> build::Scene {
    let text = SCENE
        .replace("friction = 0.4\nrestitution = 0.7\n", &format!("\n[contact.default]\n{contact}"))
        .replace("max = [0.06, 0.06, 0.06]", "max = [0.03, 0.03, 0.05]")
        .replace("count = 60", "count = 40")
        .replace("-9.81]", "-100]")
        + SIDES;
    let raw = scene::read(&text, "heap.toml", &[]).unwrap_or_else(|e| panic!("{contact}: {e}"));
    build::build(&raw, Path::new("")).unwrap_or_else(|e| panic!("{contact}: {e}"))
}

/// All memories of a state.
fn memories(state: &mut State) -> impl Iterator<Item = &mut Memory> {
    let Contacts { pairs, walls, .. } = &mut state.contacts;
    pairs.iter_mut().map(|c| &mut c.memory).chain(walls.iter_mut().map(|c| &mut c.memory))
}

/// Runs a heap, breaks it off, and wants the run from the checkpoint to end with the same bits as the unbroken one; returns
/// the state in the middle. A run from a checkpoint that has lost what the law remembers has to end elsewhere.
fn resumed(contact: &str, forget: fn(&mut Memory)) -> State {
    let scene = heap(contact);
    let mut run = Simulation::new(scene.stages.clone(), scene.state, 1);
    let steps = (0.06 / run.model().dt) as u64;
    run.advance(steps).unwrap();
    let bytes = encode(&run.state, &Meta::default()).unwrap();
    let (_, middle): (_, State) = decode(&bytes).unwrap();
    let contacts = &middle.contacts;
    println!("{contact}{steps} steps, {} pairs, {} on walls", contacts.pairs.len(), contacts.walls.len());
    assert!(contacts.pairs.len() > 10 && contacts.walls.len() > 3, "{contact}: hardly anything touches");
    let mut forgetful = middle.clone();
    memories(&mut forgetful).for_each(forget);
    run.advance(200).unwrap();
    let end_of = |state: State| {
        let mut continued = Simulation::new(scene.stages.clone(), state, 1);
        continued.advance(200).unwrap();
        continued.state
    };
    assert!(run.state == end_of(middle.clone()), "{contact}: the runs differ");
    let elsewhere = end_of(forgetful);
    let places =
        |state: &State| -> Vec<_> { (0..state.particles.owned()).map(|i| state.particles.position(i)).collect() };
    assert!(places(&run.state) != places(&elsewhere), "{contact}: what it remembers does not matter");
    middle
}

#[test]
fn a_run_goes_on_from_a_checkpoint_with_the_same_bits_with_every_tangential_law_that_remembers() {
    let hertz = "normal = { law = \"hertz\", restitution = 0.7 }\n";
    let tangential = |keys: &str| format!("{hertz}tangential = {{ {keys}, friction = 0.4 }}\n");
    let spring: fn(&mut Memory) = |m| m.spring = Vec3::ZERO;
    // These also know of the force at the last turn, or of what has slipped, and of the load before.
    let turn: fn(&mut Memory) = |m| m.reversal = Vec3::ZERO;
    for (keys, forget) in [
        ("law = \"spring\"", spring),
        ("law = \"mindlin\"", spring),
        ("law = \"walton-braun\"", spring),
        ("law = \"walton-braun\"", turn),
        ("law = \"mindlin-deresiewicz\"", spring),
        ("law = \"mindlin-deresiewicz\"", turn),
        ("law = \"langston\", compliance = \"1e-5 m/N\"", spring),
        ("law = \"literal\"", spring),
    ] {
        resumed(&tangential(keys), forget);
    }
}

#[test]
fn a_run_goes_on_from_a_checkpoint_with_the_same_bits_with_every_normal_law_that_remembers() {
    for keys in [
        "law = \"walton-braun\", stiffness = \"1e4 N/m\", restitution = 0.7",
        "law = \"sadd\", coefficient = 1e6, exponent = 1.4, restitution = 0.7",
        "law = \"luding\", stiffness = \"1e4 N/m\", restitution = 0.7, adhesion-stiffness = \"1e3 N/m\"",
        "law = \"thornton\", yield-pressure = \"0.1 MPa\"",
        "law = \"thornton-ning\", yield-pressure = \"0.1 MPa\", work = \"0.1 J/m^2\"",
    ] {
        let contact = format!("normal = {{ {keys} }}\ntangential = {{ law = \"spring\", friction = 0.4 }}\n");
        resumed(&contact, |m| m.history = History::default());
    }
}

#[test]
fn a_run_goes_on_from_a_checkpoint_with_the_same_bits_where_necks_and_bridges_span_gaps() {
    for contact in [
        "normal = { law = \"jkr\", work = \"10 J/m^2\" }\n",
        "normal = { law = \"hertz\", restitution = 0.7 }\n\
         cohesion = { law = \"capillary\", tension = \"0.07 N/m\", volume = \"1e-11 m^3\" }\n",
    ] {
        let contact = format!("{contact}tangential = {{ law = \"mindlin\", friction = 0.4 }}\n");
        let middle = resumed(&contact, |m| m.touching = false);
        let radius = 4e-3;
        let apart = middle.contacts.pairs.iter().filter(|c| {
            let at = |i: u32| middle.particles.position(i as usize);
            c.memory.touching && at(c.i).distance(at(c.j)) > 2.0 * radius
        });
        assert!(apart.count() > 0, "{contact}: nothing is held over a gap");
    }
}
