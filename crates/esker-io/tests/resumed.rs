//! A state that went through a checkpoint goes on with the same bits, whatever the integrator keeps in it.

use esker::integrate::Integrator;
use esker::simulation::Simulation;
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
