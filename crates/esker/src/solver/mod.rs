//! Solvers. Each advances the same state of the same model.

pub mod between;
pub mod event;
pub mod explicit;
pub mod quasistatic;

use crate::model::Model;
use crate::state::State;
use std::sync::Arc;
use thiserror::Error;

/// A way to advance a state.
pub trait Solver: Send {
    /// Advances by `steps` steps. The solver keeps the contacts: those of the state are empty until [`Self::complete`].
    fn go_on(&mut self, model: &Model, state: &mut State, steps: u64) -> Result<(), StepError>;

    /// Writes the contacts to the state, which is then whole: scratch memory may be dropped afterwards without changing a
    /// bit of what follows.
    fn complete(&mut self, state: &mut State);

    /// Advances by `steps` steps and leaves the state whole, even after an error.
    fn advance(&mut self, model: &Model, state: &mut State, steps: u64) -> Result<(), StepError> {
        let result = self.go_on(model, state, steps);
        self.complete(state);
        result
    }

    /// Scratch memory held besides the state \[byte\].
    fn memory(&self) -> usize;

    /// How often the neighbour list has been built.
    fn rebuilds(&self) -> u64;

    /// Is called at the start of every phase, for timing; the engine itself has no clock.
    fn on_phase(&mut self, hook: PhaseHook);
}

/// Is told which phase of a step begins. Must not ask the rayon pool for anything: its threads may be kept for the step.
pub type PhaseHook = Arc<dyn Fn(Phase) + Send + Sync>;

fn tick(hook: &Option<PhaseHook>, phase: Phase) {
    if let Some(hook) = hook {
        hook(phase);
    }
}

/// Parts of a step, for the table of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Moving grains and walls.
    Integrate,
    /// Keeping the list of candidates, images, order.
    Neighbours,
    /// Evaluating contacts.
    Contacts,
    /// Evaluating fields.
    Fields,
    /// Ledger, flows, feeds and removals.
    Book,
    /// Between steps.
    Outside,
}

impl Phase {
    /// All phases, in order.
    pub const ALL: [Phase; 6] =
        [Phase::Integrate, Phase::Neighbours, Phase::Contacts, Phase::Fields, Phase::Book, Phase::Outside];

    /// Name for tables.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Integrate => "integrate",
            Phase::Neighbours => "neighbours",
            Phase::Contacts => "contacts",
            Phase::Fields => "fields",
            Phase::Book => "book-keeping",
            Phase::Outside => "output and rest",
        }
    }
}

/// Why a run cannot go on.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum StepError {
    /// A grain lost its finite state.
    #[error(
        "grain {id} has no finite position or velocity after step {step} (t = {time} s); the step or the stiffness is \
         too large: `esker check` tells what fits"
    )]
    NotFinite {
        /// Identity of the grain.
        id: u64,
        /// Step.
        step: u64,
        /// Time \[s\].
        time: f64,
    },
    /// A grain became much faster within one step.
    #[error(
        "grain {id}, or one stored beside it, was thrown away within one step (step {step}, t = {time} s), too suddenly for its neighbours to be known; the step or \
         the stiffness is too large, or grains overlap far too much: `esker check` tells what fits"
    )]
    Sudden {
        /// Identity of the grain.
        id: u64,
        /// Step.
        step: u64,
        /// Time \[s\].
        time: f64,
    },
    /// Hard collisions follow each other without end.
    #[error(
        "collisions follow each other without end at t = {time} s, grain {id} among them: grains have come to lie on each other or on a wall, which hard collisions cannot do; choose what is done \
         with `collapse` in [solver], or take the solver \"explicit\""
    )]
    Frozen {
        /// Identity of a grain.
        id: u64,
        /// Time \[s\].
        time: f64,
    },
    /// The hard collisions of a scene cannot be done.
    #[error("{0}")]
    Hard(String),
    /// Grains do not come to rest.
    #[error(
        "{} not come to rest at step {step} (t = {time} s): what holds them gives way, and where they move to is not a question of statics; let a stage with the solver \"explicit\" follow, or hold them better",
        named(.grains)
    )]
    NotStatic {
        /// Identities of grains that move, as far as they are known.
        grains: Vec<u64>,
        /// Step.
        step: u64,
        /// Time \[s\].
        time: f64,
    },
    /// The neighbour search failed.
    #[error("{0}")]
    Search(#[from] crate::neighbor::SearchError),
    /// A feed found no room for a long time.
    #[error(
        "feed {feed} is jammed at t = {time} s: no room for a grain in {failures} attempts; enlarge its region, lower \
         its rate or raise `patience`"
    )]
    Jam {
        /// Index of the feed.
        feed: usize,
        /// Time \[s\].
        time: f64,
        /// Failed attempts.
        failures: u32,
    },
}

/// Some grains in words.
fn named(grains: &[u64]) -> String {
    let first = |n: usize| grains.iter().take(n).map(u64::to_string).collect::<Vec<_>>().join(", ");
    match grains.len() {
        0 => "the grains do".into(),
        1 => format!("grain {} does", grains[0]),
        n if n <= 5 => format!("grains {} do", first(n)),
        n => format!("grains {} and {} more do", first(5), n - 5),
    }
}
