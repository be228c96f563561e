//! `event`: hard collisions in time order.
//!
//! Between meetings grains fly on closed forms, each with a clock of its own: an event moves the one or two grains it is
//! about and nobody else. What a grain expects stands in its agenda, the earliest of all in a
//! calendar; a grid of cells tells who may meet, and flights through it are events too, so that an event costs
//! the same among a thousand grains and among a million. (Gavrilov 1999, chapter 3; Lubachevsky, J. Comput. Phys. 94 (1991) 255;
//! Bannerman, Sargant & Lue, J. Comput. Chem. 32 (2011) 3329.)
//!
//! The flights are the state. When two of them meet is a function of the two flights alone, a grain and a wall of the flight and the
//! wall's motion; events of the same time are ordered by a number made of the seed and who meets. So agendas, calendar and cells may be dropped and made anew at
//! any moment without changing a bit of what follows.

mod agenda;
mod calendar;
mod cells;
mod course;
mod fall;
mod fly;
mod form;
mod meet;
mod meeting;
mod predict;
mod scratch;
mod walls;

use super::{Phase, PhaseHook, Solver, StepError};
use crate::measure::energy;
use crate::measure::tally::Tally;
use crate::model::{Collapse, EventSettings, Method, Model};
use crate::solver::between;
use crate::state::{State, Window};
use agenda::With;
use scratch::Scratch;

/// Steps between two looks at what happens at whole steps: flows through planes, removals and feeds.
pub const LOOK_EVERY: u64 = 64;

/// Collisions of a grain after which the clock of the flights is set back, so that times have as many digits behind the point as
/// ever, and grains are sorted in space.
const SET_CLOCK_EVERY: u64 = 16;

/// Events at one moment, beside those for each grain, at which the clock is taken to stand still.
const FROZEN: u64 = 10_000;

/// The solver and its scratch memory.
#[derive(Default)]
pub struct Event {
    scratch: Option<Scratch>,
    standstill: Standstill,
    hook: Option<PhaseHook>,
    builds: u64,
}

impl Event {
    /// A solver.
    pub fn new() -> Self {
        Self::default()
    }

    /// Handles events up to the time `to` of the run.
    fn fly_until(&mut self, model: &Model, state: &mut State, to: f64) -> Result<Fate, StepError> {
        let settings = settings(model);
        loop {
            if self.scratch.is_none() {
                self.scratch = Some(Scratch::build(model, state)?);
                self.builds += 1;
            }
            let scratch = self.scratch.as_mut().expect("just built");
            match scratch.run(model, state, &settings, &mut self.standstill, to - state.meetings.clock)? {
                Fate::Arrived => return Ok(Fate::Arrived),
                Fate::Collapsed => return Ok(Fate::Collapsed),
                // Too much has changed since the scratch was made, or digits are to be won.
                Fate::Worn => {
                    let now = scratch.now;
                    self.scratch = None;
                    set_clock(model, state, now);
                }
            }
        }
    }

    /// What happens at whole steps: flows, removals, feeds. The state is that of the present time.
    fn look(&mut self, model: &Model, state: &mut State, sides: &mut Vec<i32>) -> Result<(), StepError> {
        let remove = !model.removals.is_empty() && between::anything_to_remove(model, state);
        let feed = between::feed_due(model, state);
        if remove || feed {
            self.scratch = None;
            state.particles.forget_flights();
            if remove {
                between::remove(model, state);
            }
            if feed {
                between::feed(model, state)?;
            }
            *sides = between::sides(model, &state.particles);
            fly::begin(model, state)?;
        }
        Ok(())
    }

    /// Begins flights where a state has none: at the start, and after somebody else has moved the grains.
    fn prime(&mut self, model: &Model, state: &mut State) -> Result<(), StepError> {
        self.scratch = None;
        between::tidy(model, state);
        let held = energy::mechanical(model, state);
        // Contacts of a soft solver before: what they hold is no longer there.
        state.contacts = Default::default();
        let now = energy::mechanical(model, state);
        if state.step == 0 {
            state.ledger.initial = now;
        } else {
            state.ledger.switched += now - held;
        }
        for wall in &mut state.walls {
            (wall.force, wall.torque) = Default::default();
        }
        state.meetings.tallies.push(Tally::new(model, state.stage, state.time));
        state.meetings.window = Window { number: (state.time / settings(model).window) as u64, ..Default::default() };
        // What an earlier stage saw says nothing of this one.
        state.meetings.watch = Default::default();
        fly::begin(model, state)?;
        state.loads_are_current = true;
        Ok(())
    }
}

/// Watches whether the clock of the run moves on. (That of the flights may be near zero, where it can go on in ever smaller steps.)
#[derive(Default)]
struct Standstill {
    since: f64,
    events: u64,
}

impl Standstill {
    /// Counts an event at a time of the run, and tells whether too many have come in no time.
    #[inline]
    fn lasts(&mut self, time: f64, grains: u64) -> bool {
        if time - self.since > 4.0 * f64::EPSILON * time.abs() {
            *self = Self { since: time, events: 0 };
        }
        self.events += 1;
        self.events > FROZEN + 64 * grains
    }
}

/// How a stretch of events ended.
enum Fate {
    /// At the time that was asked for.
    Arrived,
    /// The scratch memory is to be made anew.
    Worn,
    /// Grains lie on each other: soft contact is to go on.
    Collapsed,
}

fn settings(model: &Model) -> EventSettings {
    match model.method {
        Method::Event(settings) => settings,
        _ => EventSettings { collapse: Collapse::Refuse, window: f64::INFINITY },
    }
}

/// Sets the clock of the flights to zero at the local time `now`, and sorts the grains.
fn set_clock(model: &Model, state: &mut State, now: f64) {
    // Who is on which side of a counting plane is known by order.
    if model.gates.is_empty() {
        fly::sort(model, state, now);
    }
    state.meetings.clock += now;
    state.meetings.since_set = 0;
    let p = &mut state.particles;
    p.flight.iter_mut().for_each(|flight| flight.since -= now);
    p.met.iter_mut().for_each(|met| *met -= now);
    p.arc.iter_mut().for_each(|arc| arc.until -= now);
}

/// Whether something may happen at whole steps.
fn has_looks(model: &Model) -> bool {
    !model.removals.is_empty() || !model.gates.is_empty() || !model.feeds.is_empty()
}

impl Solver for Event {
    fn go_on(&mut self, model: &Model, state: &mut State, steps: u64) -> Result<(), StepError> {
        super::tick(&self.hook, Phase::Contacts);
        if !state.loads_are_current || state.particles.flight.len() != state.particles.owned() {
            self.prime(model, state)?;
        }
        let mut left = steps;
        let looks = has_looks(model);
        let mut sides = between::sides(model, &state.particles);
        while left > 0 {
            let n = if looks { (LOOK_EVERY - state.step % LOOK_EVERY).min(left) } else { left };
            let to = state.time_after(n, model.dt);
            let fate = self.fly_until(model, state, to)?;
            let made = match fate {
                Fate::Collapsed => {
                    // To the end of the step under way: what meets on it overlaps, which soft contact takes.
                    let at = self.scratch.as_ref().map_or(state.time, |s| s.now + state.meetings.clock);
                    let ahead = ((at - state.epoch) / model.dt).ceil() as u64;
                    (ahead + state.epoch_step).saturating_sub(state.step).clamp(1, n)
                }
                _ => n,
            };
            state.time = state.time_after(made, model.dt);
            state.step += made;
            left -= made;
            fly::settle(model, state)?;
            between::count_flows(model, state, &mut sides);
            if matches!(fate, Fate::Collapsed) {
                self.scratch = None;
                state.particles.forget_flights();
                (state.meetings.handed_over, state.loads_are_current) = (true, false);
                state.meetings.cures.handed_over += 1;
                break;
            }
            if looks && state.step.is_multiple_of(LOOK_EVERY) {
                self.look(model, state, &mut sides)?;
            }
        }
        super::tick(&self.hook, Phase::Outside);
        Ok(())
    }

    fn complete(&mut self, _: &mut State) {}

    fn memory(&self) -> usize {
        self.scratch.as_ref().map_or(0, Scratch::memory)
    }

    fn rebuilds(&self) -> u64 {
        self.builds
    }

    fn on_phase(&mut self, hook: PhaseHook) {
        self.hook = Some(hook);
    }
}

/// A number for the order of events at one moment, made of the seed and who meets.
fn tie(seed: u64, a: u64, with: With, id: impl Fn(u32) -> u64) -> u32 {
    let b = match with {
        With::Grain { index, .. } => id(index),
        With::Wall { index } => (1 << 63) | u64::from(index),
        // What only looks ahead comes first.
        With::Face { .. } | With::End => return 0,
    };
    let mut z = seed ^ a.min(b).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ a.max(b).wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 32) as u32 | 1
}
