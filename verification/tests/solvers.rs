//! The event-driven solver beside the explicit one on the same scene, by changing one key; and a run of 1e8 events.

use esker::law::collision::Collision;
use esker::model::{Model, PairTable};
use esker::rng::{Purpose, Stream};
use esker::simulation::Simulation;
use esker::solver::Solver;
use esker::solver::event::Event;
use esker::state::State;
use esker_io::{build, scene};
use std::path::Path;

fn simulation(text: &str) -> Simulation {
    let raw = scene::read(text, "solvers.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    let scene = build::build(&raw, Path::new(".")).unwrap_or_else(|e| panic!("{e}"));
    Simulation::new(scene.stages, scene.state, 1)
}

/// Mean of numbers, and its standard error.
fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (square / n).sqrt())
}

/// Asks that two means agree within three standard errors, which are at most a share of them, and tells them.
fn agree(what: &str, explicit: &[f64], event: &[f64], largest_error: f64) {
    let ((a, ea), (b, eb)) = (mean(explicit), mean(event));
    let error = ea.hypot(eb);
    println!(
        "{what}: explicit {a:.5} ± {ea:.5}, event {b:.5} ± {eb:.5}: apart by {:.2} standard errors",
        (a - b).abs() / error
    );
    assert!(error < largest_error * b.abs(), "{what}: standard error {error} of {b}");
    assert!((a - b).abs() < 3.0 * error, "{what}: {a} and {b}, standard error {error}");
}

/// Kinetic energy \[J\].
fn kinetic(state: &State) -> f64 {
    let p = &state.particles;
    (0..p.owned()).map(|i| p.kinetic_energy(i).0 + p.kinetic_energy(i).1).sum()
}

/// A gas in a box that keeps its energy: pressure times volume over 2/3 of the energy, in parts of a run.
fn gas(kind: &str) -> Vec<f64> {
    let side = 0.04;
    // Contacts last 4e-5 s, balls fly 5e-3 s: m = 8.4e-5 kg, k = m/2 (π/t)². (At 1e-4 s the gas is softer by 2 %, which shows.)
    let (step, stiffness) = (1.6e-6, 2.56e5);
    // Six walls, each with its own force.
    let walls: String = (0..6)
        .map(|k| {
            let (point, normal) = if k < 3 { (0.0, 1) } else { (side, -1) };
            let along = |axis: i32, value: f64| if k % 3 == axis { value } else { 0.0 };
            let vector = |v: f64| format!("[{}, {}, {}]", along(0, v), along(1, v), along(2, v));
            let plane = format!("point = {}, normal = {}", vector(point), vector(f64::from(normal)));
            format!("[[wall]]\nname = \"face {k}\"\nmaterial = \"wall\"\nplane = {{ {plane} }}\n")
        })
        .collect();
    let mut run = simulation(&format!(
        "title = \"gas\"\nseed = 3\n[solver]\nkind = \"{kind}\"\nstep = {step:e}\n[material.ball]\ndensity = 2500\n[material.wall]\n\
         [contact.default]\nnormal = {{ law = \"hooke\", stiffness = {stiffness:e} }}\ncollision = {{ restitution = 1 }}\n\
         {walls}\
         [[grains]]\nname = \"balls\"\nmaterial = \"ball\"\nradius = \"2 mm\"\nvelocity = {{ speed = 1 }}\n\
         fill = {{ method = \"random\", count = 150, region = {{ box = {{ min = [0, 0, 0], max = [{side}, {side}, {side}] }} }} }}\n\
         [[stage]]\nname = \"run\"\nduration = 10\n[output]\nseries = \"10 ms\"\n"
    ));
    let energy = kinetic(&run.state);
    // To the middle of a window.
    run.advance((0.105 / step) as u64).unwrap();
    let pressures = (0..20).map(|_| {
        let (mut push, mut looks) = (0.0, 0.0);
        // Both tell the force on a wall: explicit at every step, event over windows of 10 ms.
        let every = if kind == "event" { 6250 } else { 1 };
        for _ in 0..31_250 / every {
            run.go_on(every).unwrap();
            push += run.state.walls.iter().map(|w| w.force.abs().max_element()).sum::<f64>();
            looks += 1.0;
        }
        // Volume and area that the centres reach.
        let reach: f64 = side - 4e-3;
        let pressure = push / looks / (6.0 * reach * reach);
        pressure * reach.powi(3) / (2.0 / 3.0 * energy)
    });
    pressures.collect()
}

#[test]
fn explicit_and_event_give_the_same_pressure_of_a_gas() {
    agree("pV over 2/3 of the energy", &gas("explicit"), &gas("event"), 0.02);
}

/// Power that the balls of a small mill dissipate, and that its can gives, in parts of a run.
fn mill(kind: &str) -> [Vec<f64>; 2] {
    let step = 4e-7;
    // Contacts of two balls last 1e-5 s: m = 1.08e-3 kg, k = m/2 (π/t)².
    let normal = |e: f64| {
        format!(
            "normal = {{ law = \"hooke\", stiffness = 5.3e7, restitution = {e} }}\ncollision = {{ restitution = {e} }}"
        )
    };
    let mut run = simulation(&format!(
        "title = \"mill\"\ngravity = [0, 0, -9.81]\nseed = 5\n[solver]\nkind = \"{kind}\"\nstep = {step:e}\n[material.ball]\ndensity = 7850\n[material.can]\n\
         [contact.ball-ball]\n{}\n[contact.ball-can]\n{}\n\
         [[wall]]\nname = \"can\"\nmaterial = \"can\"\ncylinder = {{ from = [0, 0, 0], to = [0, 0, 0.06], radius = 0.02, caps = true }}\n\
         motion = {{ oscillate = {{ direction = [0, 0, 1], amplitude = 0.0109, frequency = 50, form = \"parabolic\" }} }}\n\
         [[grains]]\nname = \"balls\"\nmaterial = \"ball\"\nradius = \"3.2 mm\"\n\
         fill = {{ method = \"random\", count = 30, region = {{ cylinder = {{ from = [0, 0, 0], to = [0, 0, 0.06], radius = 0.02 }} }} }}\n\
         [[stage]]\nname = \"run\"\nduration = 10\n[output]\nseries = \"10 ms\"\n",
        normal(0.9),
        normal(0.9)
    ));
    run.advance((0.1 / step) as u64).unwrap();
    let mut powers = [Vec::new(), Vec::new()];
    // Parts of two cycles.
    for _ in 0..20 {
        let work = |state: &State| state.walls.iter().map(|w| w.work).sum::<f64>();
        let (lost, given) = (run.state.ledger.dissipated.total(), work(&run.state));
        run.go_on((0.04 / step) as u64).unwrap();
        powers[0].push((run.state.ledger.dissipated.total() - lost) / 0.04);
        powers[1].push((work(&run.state) - given) / 0.04);
    }
    powers
}

#[test]
fn explicit_and_event_dissipate_the_same_power_in_a_mill() {
    let (explicit, event) = (mill("explicit"), mill("event"));
    agree("dissipated [W]", &explicit[0], &event[0], 0.05);
    agree("given by the can [W]", &explicit[1], &event[1], 0.05);
}

/// A thousand elastic balls in a periodic cube, solid fraction 0.3.
fn dense() -> (Model, State) {
    let spacing = (4.0 / 3.0 * std::f64::consts::PI / 0.3_f64).cbrt() * 1e-3;
    let length = 10.0 * spacing;
    let run = simulation(&format!(
        "title = \"dense\"\n[domain]\nmin = [0, 0, 0]\nmax = [{length:e}, {length:e}, {length:e}]\nperiodic = [\"x\", \"y\", \"z\"]\n\
         [solver]\nkind = \"event\"\nstep = 1e-5\ncollapse = {{ by = \"refuse\" }}\n[material.ball]\ndensity = 1000\n\
         [contact.default]\ncollision = {{ restitution = 1 }}\n\
         [[grains]]\nname = \"balls\"\nmaterial = \"ball\"\nradius = 1e-3\nfill = {{ method = \"lattice\", count = 1000, spacing = {:e} }}\n\
         [[stage]]\nname = \"run\"\nduration = 1e6\n",
        spacing * (1.0 - 1e-12)
    ));
    let mut model = run.model().clone();
    model.collisions = PairTable::new(1, |_, _| Collision::smooth(1.0));
    let mut state = run.state.clone();
    let mut random = Stream::new(8, Purpose::Velocity, 0);
    state.particles.motion.iter_mut().for_each(|m| m.velocity = random.direction(false));
    (model, state)
}

#[test]
#[ignore = "minutes, in release"]
fn a_hundred_million_events_drift_nowhere_and_take_no_memory() {
    let (model, mut state) = dense();
    let energy = kinetic(&state);
    let mut solver = Event::new();
    let [mut early, mut late] = [0; 2];
    let begin = std::time::Instant::now();
    let mut next = 0;
    while state.meetings.events < 100_000_000 {
        let clock = state.time;
        solver.advance(&model, &mut state, 1000).unwrap();
        assert!(state.time > clock, "the clock stands at {clock}");
        let memory = solver.memory() + state.memory();
        let most = if state.meetings.events < 5_000_000 { &mut early } else { &mut late };
        *most = memory.max(*most);
        if state.meetings.events >= next {
            next += 10_000_000;
            println!(
                "{:>9} events, {:>9} collisions, t = {:.3} s: energy off by {:.1e}, memory {memory}, {:.0} s",
                state.meetings.events,
                state.meetings.tallies.iter().map(|t| t.count()).sum::<u64>(),
                state.time,
                kinetic(&state) / energy - 1.0,
                begin.elapsed().as_secs_f64()
            );
        }
    }
    let drift = (kinetic(&state) / energy - 1.0).abs();
    println!(
        "energy off by {drift:.1e}; memory at most {early} before 5e6 events, {late} afterwards; overlap {:e}",
        state.meetings.overlap
    );
    assert!(drift < 1e-10, "{drift:e}");
    assert!(late as f64 <= 1.05 * early as f64, "{early} and {late} bytes");
}
