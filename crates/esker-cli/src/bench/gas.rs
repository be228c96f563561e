//! `esker bench gas`: elastic hard spheres at two solid fractions, from a thousand to a million, in collisions per second.

use super::{Args, advance};
use crate::Failure;
use crate::out::say;
use esker::simulation::Simulation;
use esker_io::build::{self, Scene};
use esker_io::scene;
use std::f64::consts::PI;
use std::path::Path;
use std::time::Instant;

const FRACTIONS: [f64; 2] = [0.1, 0.4];
const NUMBERS: [u64; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// Radius of the spheres of the scene \[m\].
const RADIUS: f64 = 1e-3;
/// Collisions of a grain before the measurement begins: the lattice has melted, speeds are Maxwell's.
const WARM_UP: u64 = 8;
/// Collisions of a round.
const ROUND: u64 = 1_000_000;

/// Measures with one thread: an event waits for the last.
pub(super) fn measure(args: &Args) -> Result<Vec<serde_json::Value>, Failure> {
    if args.threads != [1] {
        return Err("`gas` is computed in time order, by one thread: leave out --threads".into());
    }
    if !args.json {
        say!("gas: elastic hard spheres, best / median of {} rounds of {ROUND} collisions", args.rounds);
        say!("  {:>8} {:>9} {:>21} {:>12} {:>12}", "fraction", "grains", "M collisions/s", "M events/s", "bytes/grain");
    }
    let mut results = Vec::new();
    for fraction in FRACTIONS {
        for &n in args.n_or(&NUMBERS) {
            results.push(one(fraction, n, args)?);
        }
    }
    Ok(results)
}

fn one(fraction: f64, n: u64, args: &Args) -> Result<serde_json::Value, Failure> {
    let side = 2.0 * RADIUS * (n as f64 * PI / 6.0 / fraction).cbrt();
    let spacing = side / (n as f64).cbrt().ceil() * (1.0 - 1e-9);
    let overrides = [format!("let.n={n}"), format!("let.side={side}"), format!("let.spacing={spacing}")];
    let raw = scene::read(include_str!("../../benches/hard-gas.toml"), "gas", &overrides)?;
    let Scene { stages, state, .. } = build::build(&raw, Path::new(""))?;
    let mut simulation = Simulation::new(stages, state, 1);
    simulation.prepare()?;
    let mut pace = Pace { steps: 1 };
    pace.collide(&mut simulation, args.warm_up.unwrap_or(WARM_UP * n / 2))?;
    let round = if args.steps == super::STEPS { ROUND } else { args.steps };
    let (mut collisions, mut events) = (Vec::new(), Vec::new());
    for _ in 0..args.rounds {
        let before = (met(&simulation), simulation.state.meetings.events);
        let start = Instant::now();
        pace.collide(&mut simulation, round)?;
        let seconds = start.elapsed().as_secs_f64();
        collisions.push((met(&simulation) - before.0) as f64 / seconds);
        events.push((simulation.state.meetings.events - before.1) as f64 / seconds);
    }
    collisions.sort_by(f64::total_cmp);
    events.sort_by(f64::total_cmp);
    let (best, median) = (collisions[collisions.len() - 1], collisions[collisions.len() / 2]);
    let events = events[events.len() / 2];
    let memory = simulation.memory() as f64 / n as f64;
    if !args.json {
        say!(
            "  {fraction:>8} {n:>9} {:>10.3} / {:>8.3} {:>12.3} {memory:>12.0}",
            1e-6 * best,
            1e-6 * median,
            1e-6 * events
        );
    }
    Ok(serde_json::json!({
        "name": "gas",
        "fraction": fraction,
        "n": n,
        "threads": 1,
        "rounds": args.rounds,
        "collisions_per_second": median,
        "best": best,
        "events_per_second": events,
        "bytes_per_grain": memory,
    }))
}

fn met(simulation: &Simulation) -> u64 {
    simulation.state.meetings.tallies.iter().map(|tally| tally.count()).sum()
}

/// How many steps are made between two looks at the number of collisions.
struct Pace {
    steps: u64,
}

impl Pace {
    /// Goes on until so many collisions more have happened, or a few more.
    fn collide(&mut self, simulation: &mut Simulation, collisions: u64) -> Result<(), Failure> {
        let goal = met(simulation) + collisions;
        loop {
            let before = met(simulation);
            if before >= goal {
                return Ok(());
            }
            advance(simulation, self.steps)?;
            // About a tenth of the way at a time: looks cost as much as each grain has memory.
            let made = (met(simulation) - before).max(1);
            let wanted = (goal.saturating_sub(before) / 4).max(collisions / 10).max(1);
            self.steps = (self.steps * wanted / made).clamp(1, 4 * self.steps);
        }
    }
}
