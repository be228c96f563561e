//! `esker bench`: speed on standard set-ups, in particle-steps per second.

use crate::out::say;
use crate::progress::PhaseTimer;
use crate::{Failure, tables};
use esker::simulation::Simulation;
use esker::solver::StepError;
use esker_io::{build, scene};
use std::path::Path;
use std::time::Instant;

/// Arguments of `esker bench`.
#[derive(clap::Args)]
pub struct Args {
    /// Set-up; all if none is given
    #[arg(value_enum)]
    which: Vec<Which>,
    /// Worker threads (default: 1)
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Steps measured in each of the rounds
    #[arg(long, default_value_t = 500)]
    steps: u64,
    /// Rounds; best and median are told
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Share of the standard number of grains, for a quick try
    #[arg(long, default_value_t = 1.0)]
    scale: f64,
    /// Steps before the measurement begins (default: what the set-up needs)
    #[arg(long)]
    warm_up: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A standard set-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Which {
    /// 32 000 grains on a bumpy chute of 26°, Hooke with history (LAMMPS's bench/in.chute)
    Chute,
    /// 100 000 spheres settled in a box, Hertz–Mindlin
    Bed,
}

struct SetUp {
    name: &'static str,
    about: &'static str,
    text: &'static str,
    warm_up: u64,
}

impl Which {
    fn set_up(self) -> SetUp {
        match self {
            Which::Chute => SetUp {
                name: "chute",
                about: "32 000 grains flowing over a bumpy base at 26°, Hooke with history",
                text: include_str!("../benches/chute.toml"),
                warm_up: 20_000,
            },
            Which::Bed => SetUp {
                name: "bed",
                about: "100 000 spheres at rest in a box, Hertz–Mindlin with history",
                text: include_str!("../benches/bed.toml"),
                warm_up: 3000,
            },
        }
    }
}

/// Measures.
pub fn main(args: Args) -> Result<(), Failure> {
    crate::use_threads(Some(args.threads))?;
    let which = if args.which.is_empty() { vec![Which::Chute, Which::Bed] } else { args.which.clone() };
    let mut results = Vec::new();
    for w in which {
        results.push(measure(&w.set_up(), &args)?);
    }
    if args.json {
        crate::out::result((serde_json::to_string_pretty(&results)? + "\n").as_bytes())?;
    }
    Ok(())
}

fn measure(set_up: &SetUp, args: &Args) -> Result<serde_json::Value, Failure> {
    let scale = format!("let.scale={}", args.scale);
    let raw = scene::read(set_up.text, set_up.name, &[scale])?;
    let scene = build::build(&raw, Path::new(""))?;
    let mut simulation = Simulation::new(scene.stages, scene.state, args.threads);
    let grains = simulation.state.particles.owned();
    if !args.json {
        say!("{}: {} ({grains} grains, {} thread(s))", set_up.name, set_up.about, args.threads);
    }
    advance(&mut simulation, args.warm_up.unwrap_or(set_up.warm_up))?;

    let timer = PhaseTimer::listen(&mut simulation);
    let mut speeds = Vec::new();
    let start = Instant::now();
    for _ in 0..args.rounds.max(1) {
        let round = Instant::now();
        advance(&mut simulation, args.steps)?;
        speeds.push(grains as f64 * args.steps as f64 / round.elapsed().as_secs_f64());
    }
    let total = start.elapsed().as_secs_f64();
    speeds.sort_by(f64::total_cmp);
    let (best, median) = (speeds[speeds.len() - 1], speeds[speeds.len() / 2]);
    let (contacts, coordination) = esker::measure::probe::coordination(simulation.model(), &simulation.state);
    let phases = timer.seconds();
    if !args.json {
        say!(
            "  {:.2} / {:.2} M particle-steps/s (best / median of {} rounds of {} steps)",
            best * 1e-6,
            median * 1e-6,
            speeds.len(),
            args.steps
        );
        say!("  {:.3} contacts per grain, coordination {coordination:.3}", contacts / grains as f64);
        tables::phases(&phases, total);
    }
    Ok(serde_json::json!({
        "set-up": set_up.name,
        "grains": grains,
        "threads": args.threads,
        "steps": args.steps,
        "best": best,
        "median": median,
        "contacts-per-grain": contacts / grains as f64,
        "coordination": coordination,
        "phases": phases,
    }))
}

fn advance(simulation: &mut Simulation, steps: u64) -> Result<(), StepError> {
    let mut left = steps;
    while left > 0 && !simulation.is_finished() {
        left -= simulation.advance(left)?.max(1).min(left);
    }
    Ok(())
}
