//! The energy account of whole scenes: it closes to less than 1e-4 of what is dissipated at the step of the scene, and
//! what is left falls with the square of the step. The scenes are those of `examples/`, with fewer grains and shorter.
//!
//! The full scenes, hopper to 0.4 s and kiln to 4 s, seed of the file, residual over dissipated energy:
//!
//! | scene | twice the step | its step | half | a quarter |
//! |---|---|---|---|---|
//! | hopper (10 µs) | 6.6e-5 | 5.6e-6 | 1.5e-6 | 3.8e-7 |
//! | kiln (100 steps per contact) | 1.3e-4 | 3.4e-5 | 7.7e-6 | |

use esker::measure::energy;
use esker::simulation::Simulation;
use std::path::Path;

/// Residual and dissipated energy at the end of a scene \[J\].
fn account(name: &str, overrides: &[&str]) -> (f64, f64) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let overrides: Vec<String> = overrides.iter().map(|o| o.to_string()).collect();
    let (_, scene) = esker_io::build::load(&path, &overrides).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = Simulation::new(scene.stages, scene.state, 1);
    while !simulation.is_finished() {
        simulation.advance(10_000).expect("the run goes on");
    }
    let balance = energy::balance(&simulation.stages().last().expect("there are stages").model, &simulation.state);
    (balance.residual().abs(), balance.lost())
}

/// Runs three seeds at the step of the scene, at twice the step and at half of it.
fn check(name: &str, shorter: &[&str], twice: &str, half: &str) {
    let sums = |extra: &[&str]| {
        (1..=3)
            .map(|seed| account(name, &[shorter, extra, &[format!("seed={seed}").as_str()]].concat()))
            .fold((0.0, 0.0), |sum, run| (sum.0 + run.0, sum.1 + run.1))
    };
    let (residual, lost) = sums(&[]);
    assert!(residual < 1e-4 * lost, "{name}: residual {:.2e} of the dissipated energy", residual / lost);
    // The paths of the grains part after some time, so the ratio of two neighbouring steps scatters.
    let (coarse, fine) = (sums(&[twice]).0, sums(&[half]).0);
    let order = (coarse / fine).log(4.0);
    assert!((1.7..2.4).contains(&order), "{name}: order {order:.2}, {coarse:.2e}, {residual:.2e}, {fine:.2e} J");
    println!("{name}: residual {:.2e} of the dissipated energy, order {order:.2}", residual / lost);
}

#[test]
fn the_energy_account_of_the_hopper_closes_to_second_order() {
    let shorter = ["grains.bed.fill.count=150", "stage.settle.duration=0.05", "stage.discharge.duration=0.25"];
    check("hopper.toml", &shorter, "solver.step=2e-5", "solver.step=5e-6");
}

#[test]
fn the_energy_account_of_the_kiln_closes_to_second_order() {
    let shorter = ["grains.bed.fill.count=150", "stage.settle.duration=0.6", "stage.turn.duration=1"];
    check("kiln.toml", &shorter, "solver.steps-per-contact=50", "solver.steps-per-contact=200");
}
