//! `run.json`: what was run, how long it took, how it ended.

use super::by_name;
use esker::advice::Advice;
use esker::measure::energy::{self, EnergyBalance};
use esker::simulation::Simulation;
use serde::{Deserialize, Serialize};

/// How a run ended, or that it has not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Outcome {
    /// It goes on.
    Running,
    /// All stages are over.
    Finished,
    /// It reached the time given on the command line.
    Stopped,
    /// Somebody asked it to stop.
    Interrupted,
    /// It could not go on.
    Failed {
        /// Why.
        reason: String,
    },
}

/// A stage as it is run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageInfo {
    /// Name.
    pub name: String,
    /// Step \[s\].
    pub step: f64,
    /// How it is computed, as a scene names it: `explicit` or `event`.
    pub solver: &'static str,
    /// Integration scheme, of soft contacts.
    pub integrator: esker::integrate::Integrator,
    /// Margin of the neighbour list \[m\].
    pub skin: f64,
    /// What the step was chosen from.
    pub advice: Advice,
}

/// The content of `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunInfo {
    /// Name and version of the program.
    pub program: String,
    /// Title of the scene.
    pub title: String,
    /// File of the scene as given.
    pub scene: String,
    /// Changes made on the command line.
    pub overrides: Vec<String>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Threads.
    pub threads: usize,
    /// Stages.
    pub stages: Vec<StageInfo>,
    /// Warnings given before the run.
    pub warnings: Vec<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// Steps done.
    pub steps: u64,
    /// Time reached \[s\].
    pub time: f64,
    /// Grains now.
    pub grains: usize,
    /// Particle-steps done by this process.
    pub particle_steps: f64,
    /// Wall-clock time of this process \[s\].
    pub seconds: f64,
    /// Time in each part of a step \[s\].
    pub phases: Vec<(String, f64)>,
    /// Energy account \[J\].
    pub energy: EnergyBalance,
    /// What it is off by \[J\].
    pub residual: f64,
    /// Hard collisions so far, and how often something was done against their going on without end.
    pub collisions: u64,
    /// See `collisions`.
    pub cures: esker::state::Cures,
}

impl RunInfo {
    /// Brings what changes up to date.
    pub fn update(&mut self, simulation: &Simulation, outcome: Outcome) {
        let state = &simulation.state;
        self.outcome = outcome;
        self.steps = state.step;
        self.time = state.time;
        self.grains = state.particles.owned();
        self.energy = energy::balance(simulation.model(), state);
        self.energy.wall_work = by_name(&self.energy.wall_work);
        self.residual = self.energy.residual();
        self.collisions = state.meetings.tallies.iter().map(|tally| tally.count()).sum();
        self.cures = state.meetings.cures;
    }
}
