//! Stages one after another on the same state.

use crate::lanes::Width;
use crate::math::Pose;
use crate::measure::{energy, probe};
use crate::model::{Method, Model};
use crate::solver::event::Event;
use crate::solver::explicit::{Explicit, GRAINS_PER_WORKER};
use crate::solver::quasistatic::Quasistatic;
use crate::solver::{PhaseHook, Solver, StepError};
use crate::state::State;
use serde::{Deserialize, Serialize};

/// Steps between two looks at the conditions that end a stage. They are first looked at after ten times as many steps,
/// so that grains released from rest are not taken for settled ones.
pub const CHECK_EVERY: u64 = 100;

/// A part of a run with its own model.
#[derive(Clone)]
pub struct Stage {
    /// Name in the scene.
    pub name: String,
    /// What its steps do not change.
    pub model: Model,
    /// When it ends.
    pub end: End,
}

/// When a stage ends: at the first of these that holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// After this time \[s\].
    pub duration: Option<f64>,
    /// When the kinetic energy is below this \[J\].
    pub kinetic_energy_below: Option<f64>,
    /// When there are at most so many grains.
    pub count_at_most: Option<u64>,
    /// When there are at least so many grains.
    pub count_at_least: Option<u64>,
    /// At this time of the run \[s\].
    pub until_time: Option<f64>,
}

impl End {
    /// Whether the state has to be looked at on the way.
    fn depends_on_state(&self) -> bool {
        self.kinetic_energy_below.is_some() || self.count_at_most.is_some() || self.count_at_least.is_some()
    }

    fn holds(&self, state: &State) -> bool {
        let count = state.particles.owned() as u64;
        let kinetic = || -> f64 {
            (0..state.particles.owned())
                .map(|i| {
                    let (translation, rotation) = state.particles.kinetic_energy(i);
                    translation + rotation
                })
                .sum()
        };
        self.count_at_most.is_some_and(|n| count <= n)
            || self.count_at_least.is_some_and(|n| count >= n)
            || self.kinetic_energy_below.is_some_and(|e| kinetic() < e)
    }
}

/// A run: its stages, its state, and the solver at work.
pub struct Simulation {
    stages: Vec<Stage>,
    /// The state; whole, unless the last call was [`Self::go_on`].
    pub state: State,
    workers: usize,
    grains_per_worker: usize,
    without_losses: bool,
    width: Width,
    is_whole: bool,
    solver: Option<Box<dyn Solver>>,
    hook: Option<PhaseHook>,
}

impl Simulation {
    /// A run from a state, which belongs to the stage it names.
    pub fn new(stages: Vec<Stage>, state: State, workers: usize) -> Self {
        let grains_per_worker = GRAINS_PER_WORKER;
        let width = Width::best();
        Self {
            stages,
            state,
            workers,
            grains_per_worker,
            without_losses: false,
            width,
            is_whole: true,
            solver: None,
            hook: None,
        }
    }

    /// Keeps no account of what contacts lose; see [`Explicit::without_losses`].
    pub fn without_losses(mut self) -> Self {
        self.without_losses = true;
        self
    }

    /// Evaluates so many contacts at once; see [`Explicit::width`].
    pub fn width(mut self, width: Width) -> Self {
        self.width = width;
        self
    }

    /// Gives a worker at least this many grains; see [`Explicit::grains_per_worker`].
    pub fn grains_per_worker(mut self, least: usize) -> Self {
        self.grains_per_worker = least;
        self
    }

    /// Is called at the start of every phase of a step.
    pub fn on_phase(&mut self, hook: PhaseHook) {
        if let Some(solver) = &mut self.solver {
            solver.on_phase(hook.clone());
        }
        self.hook = Some(hook);
    }

    /// All stages.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// The present stage.
    pub fn stage(&self) -> &Stage {
        &self.stages[self.state.stage.min(self.stages.len() - 1)]
    }

    /// The present model.
    pub fn model(&self) -> &Model {
        &self.stage().model
    }

    /// Whether all stages are over.
    pub fn is_finished(&self) -> bool {
        self.state.stage >= self.stages.len()
    }

    /// Largest overlap over the smaller radius \[-\].
    pub fn largest_overlap(&self) -> f64 {
        probe::largest_overlap(self.model(), &self.state)
    }

    /// Memory held by grains, contacts and the solver's scratch \[byte\]; contacts count twice while both the state and the
    /// solver have them. What a rebuild of the neighbour list needs for a moment is not counted.
    pub fn memory(&self) -> usize {
        self.state.memory() + self.solver.as_ref().map_or(0, |solver| solver.memory())
    }

    /// How often the neighbour list has been built in the present stage.
    pub fn rebuilds(&self) -> u64 {
        self.solver.as_ref().map_or(0, |solver| solver.rebuilds())
    }

    /// Time at which the present stage ends at the latest \[s\].
    pub fn stage_deadline(&self) -> Option<f64> {
        let end = &self.stage().end;
        let by_duration = end.duration.map(|d| self.state.epoch + d);
        [by_duration, end.until_time].into_iter().flatten().reduce(f64::min)
    }

    /// Number of steps from now to the first step at or after time `t`.
    pub fn steps_until(&self, t: f64) -> u64 {
        let dt = self.model().dt;
        let steps = (t - self.state.epoch) / dt;
        // A time that is a whole number of steps but for rounding is that number.
        let tolerance = (4.0 * f64::EPSILON * steps).max(1e-9);
        let wanted = (steps - tolerance).ceil().max(0.0) as u64;
        wanted.saturating_sub(self.state.step - self.state.epoch_step)
    }

    /// Finds the loads of the present instant, without a step, if the state does not have them yet.
    pub fn prepare(&mut self) -> Result<(), StepError> {
        if self.is_finished() {
            return Ok(());
        }
        let prepared = self.advance_solver(0);
        self.complete();
        prepared
    }

    /// Advances by at most `steps` steps, stops early at the end of a stage, and then enters the next one. Returns the
    /// number of steps made. The state is whole afterwards.
    pub fn advance(&mut self, steps: u64) -> Result<u64, StepError> {
        let made = self.go_on(steps);
        self.complete();
        made
    }

    /// Writes the contacts to the state, which is then whole.
    pub fn complete(&mut self) {
        if let Some(solver) = self.solver.as_mut().filter(|_| !self.is_whole) {
            solver.complete(&mut self.state);
        }
        self.is_whole = true;
    }

    /// The same as [`Self::advance`] but for the contacts of the state, which stay with the solver until
    /// [`Self::complete`]: for those who look at other things on the way.
    pub fn go_on(&mut self, steps: u64) -> Result<u64, StepError> {
        let mut made = 0;
        while made < steps && !self.is_finished() {
            let in_stage = self.state.step - self.state.epoch_step;
            let checks = self.stage().end.depends_on_state();
            let to_check = if checks { CHECK_EVERY - in_stage % CHECK_EVERY } else { u64::MAX };
            let to_end = self.stage_deadline().map_or(u64::MAX, |t| self.steps_until(t));
            let n = to_check.min(to_end).min(steps - made);
            self.advance_solver(n)?;
            made += n;

            let in_stage = self.state.step - self.state.epoch_step;
            let end = &self.stage().end;
            let looked = in_stage.is_multiple_of(CHECK_EVERY) && in_stage >= 10 * CHECK_EVERY;
            if n == to_end || looked && end.holds(&self.state) {
                self.enter_next_stage();
                break;
            }
        }
        Ok(made)
    }

    fn advance_solver(&mut self, steps: u64) -> Result<(), StepError> {
        let stage = &self.stages[self.state.stage];
        let (workers, least) = (self.workers, self.grains_per_worker);
        let (hook, without_losses, width) = (&self.hook, self.without_losses, self.width);
        let hard = matches!(stage.model.method, Method::Event(_)) && !self.state.meetings.handed_over;
        let at_rest = matches!(stage.model.method, Method::Quasistatic(_));
        let solver = self.solver.get_or_insert_with(|| {
            let explicit = Explicit::new(workers).grains_per_worker(least).width(width);
            let mut solver: Box<dyn Solver> = match without_losses {
                _ if hard => Box::new(Event::new()),
                _ if at_rest => Box::new(Quasistatic::new()),
                true => Box::new(explicit.without_losses()),
                false => Box::new(explicit),
            };
            if let Some(hook) = hook.clone() {
                solver.on_phase(hook);
            }
            solver
        });
        self.is_whole = false;
        let before = self.state.step;
        solver.go_on(&stage.model, &mut self.state, steps)?;
        if hard && self.state.meetings.handed_over {
            // Grains lie on each other: the rest of the stage with soft contacts.
            self.solver = None;
            return self.advance_solver(steps - (self.state.step - before));
        }
        Ok(())
    }

    /// Ends the present stage: walls keep their place, what a switch changes in energy is booked.
    fn enter_next_stage(&mut self) {
        self.complete();
        self.solver = None;
        let old = &self.stages[self.state.stage].model;
        let state = &mut self.state;
        state.meetings.handed_over = false;
        state.statics.built = None;
        let held = energy::mechanical(old, state);
        let poses: Vec<Pose> = (0..old.walls.len()).map(|w| state.wall_pose(old, w, state.time)).collect();
        state.stage += 1;
        state.new_epoch();
        state.particles.forget_steps();
        let Some(stage) = self.stages.get(state.stage) else { return };
        let new = &stage.model;
        for (w, pose) in poses.into_iter().enumerate() {
            if new.walls[w].motion != old.walls[w].motion {
                (state.walls[w].base, state.walls[w].since) = (pose, state.time);
            }
        }
        for (((feed, is_active), (_, was_active)), s) in new.feeds.iter().zip(&old.feeds).zip(&mut state.feeds) {
            if *is_active && !was_active {
                feed.wake(s, state.time);
            }
        }
        state.contacts.walls.retain(|c| new.walls[c.wall as usize].active);
        state.ledger.switched += energy::mechanical(new, state) - held;
        // Walls that have appeared push from the first instant on.
        state.loads_are_current = false;
    }
}
