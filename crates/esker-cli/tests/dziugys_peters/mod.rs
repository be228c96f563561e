//! The runs of Džiugys & Peters (1998), FZKA 6156: packed bed (D-01), gate (D-02), rotary kiln (D-03), from the scenes
//! in `examples/`. The report has pictures only, so the study measures what they show over many seeds; its results are
//! in `verification/D-01_D-03.md`. D-04, the single contacts, is in `crates/esker/tests/impact.rs`.
//!
//! The short tests run always. The study is ignored: it takes some 20 minutes on two cores.
//!
//! ```text
//! cargo test --release -p esker-cli --test all dziugys_peters -- --ignored --nocapture --test-threads 1
//! ```

mod bed;
mod kiln;
mod table;

use esker::measure::energy;
use esker::simulation::Simulation;
use std::path::Path;
use table::Table;

/// The report's law, T-10: a shear dashpot; friction 100 is no limit in effect.
pub const DASHPOT: &str = r#"contact.default.tangential={law="dashpot", rate=20, friction=100}"#;
/// T-12: a spring beside the dashpot, and a real friction.
pub const SPRING: &str = r#"contact.default.tangential={law="spring", stiffness-ratio="2/7", rate=20, friction=0.5}"#;
const GEAR: &str = "solver.integrator=gear";
const VERLET: &str = "solver.integrator=velocity-verlet";
const HALF_STEP: &str = "solver.steps-per-contact=200";

/// A scene of `examples/`, ready to run on one thread.
pub fn load(name: &str, overrides: &[&str]) -> Simulation {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let overrides: Vec<String> = overrides.iter().map(|o| o.to_string()).collect();
    let (_, scene) = esker_io::build::load(&path, &overrides).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = Simulation::new(scene.stages, scene.state, 1);
    simulation.prepare().expect("the scene starts");
    simulation
}

/// Index of a wall.
pub fn wall(simulation: &Simulation, name: &str) -> usize {
    simulation.model().walls.iter().position(|w| w.name == name).expect("the wall exists")
}

/// Residual of the energy account over what was dissipated \[-\].
pub fn relative_residual(simulation: &Simulation) -> f64 {
    let balance = energy::balance(&simulation.stages().last().expect("there are stages").model, &simulation.state);
    (balance.residual() / balance.lost()).abs()
}

/// Runs seeds on two threads and prints the table.
fn study(title: &str, seeds: std::ops::RangeInclusive<u64>, run: impl Fn(u64) -> Table + Sync) -> Vec<Table> {
    let next = std::sync::atomic::AtomicU64::new(*seeds.start());
    let done = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    if !seeds.contains(&seed) {
                        break;
                    }
                    let table = run(seed);
                    done.lock().expect("no run panicked").push((seed, table));
                }
            });
        }
    });
    let mut tables = done.into_inner().expect("no run panicked");
    tables.sort_by_key(|t| t.0);
    let tables: Vec<Table> = tables.into_iter().map(|t| t.1).collect();
    println!("\n### {title}, seeds {} to {}\n\n{}", seeds.start(), seeds.end(), table::summary(&tables));
    tables
}

fn seed(n: u64) -> String {
    format!("seed={n}")
}

#[test]
#[ignore = "study, minutes"]
fn study_of_bed_and_gate_with_the_dashpot() {
    study("Bed and gate, T-10 literal, Gear", 1..=10, |n| bed::run(&[&seed(n), DASHPOT, GEAR]));
}

#[test]
#[ignore = "study, minutes"]
fn study_of_bed_and_gate_with_the_spring() {
    study("Bed and gate, T-12, Gear", 1..=4, |n| bed::run(&[&seed(n), SPRING, GEAR]));
}

#[test]
#[ignore = "study, minutes"]
fn study_of_bed_and_gate_with_another_integrator_and_half_the_step() {
    study("Bed and gate, T-10 literal, velocity Verlet", 1..=2, |n| bed::run(&[&seed(n), DASHPOT, VERLET]));
    study("Bed and gate, T-10 literal, Gear, half the step", 1..=2, |n| {
        bed::run(&[&seed(n), DASHPOT, GEAR, HALF_STEP])
    });
    study("Bed and gate, T-12, velocity Verlet", 1..=2, |n| bed::run(&[&seed(n), SPRING, VERLET]));
}

#[test]
#[ignore = "study, minutes"]
fn study_of_the_kiln_with_the_dashpot() {
    study("Kiln, T-10 literal, velocity Verlet", 1..=10, |n| kiln::run(3.0, &[&seed(n), DASHPOT]));
}

#[test]
#[ignore = "study, minutes"]
fn study_of_the_kiln_with_the_spring() {
    study("Kiln, T-12, velocity Verlet", 1..=10, |n| kiln::run(3.0, &[&seed(n), SPRING]));
}

#[test]
#[ignore = "study, minutes"]
fn study_of_the_kiln_with_another_integrator_and_half_the_step() {
    study("Kiln, T-10 literal, Gear", 1..=2, |n| kiln::run(3.0, &[&seed(n), DASHPOT, GEAR]));
    study("Kiln, T-12, Gear", 1..=2, |n| kiln::run(3.0, &[&seed(n), SPRING, GEAR]));
    study("Kiln, T-12, velocity Verlet, half the step", 1..=2, |n| kiln::run(3.0, &[&seed(n), SPRING, HALF_STEP]));
}
