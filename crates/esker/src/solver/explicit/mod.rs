//! `explicit`: soft contacts at fixed steps (DEM).
//!
//! One step: integrate, move walls, keep the neighbour list, evaluate contacts and fields, integrate, book. The list of
//! candidates, images and mean velocities are scratch. The list takes the contacts out of the state, so that they are in
//! memory once, and writes them back when the state is to be whole. Everything that could depend on when a list was built is decided by
//! the state alone: grains are sorted and wrapped every [`TIDY_EVERY`] steps, sums run over images first, then in ascending
//! order of partners.

mod book;
mod contacts;
mod crew;
mod events;
mod margins;
mod passes;
mod relay;
mod wave;
mod working_list;

use super::between;
use super::{Phase, PhaseHook, Solver, StepError, tick};
use crate::contact::batch::{Batch, WallBatch};
use crate::contact::list::{self, Loop, Segment};
use crate::contact::near_pairs::Room;
use crate::contact::shares::Pace;
use crate::contact::sums::Told;
use crate::contact::visit;
use crate::contact::walls::WallFrames;
use crate::integrate::isotropic::{self, Isotropic, Pass};
use crate::integrate::{self, Integrator, Speeds};
use crate::lanes::Width;
use crate::measure::energy;
use crate::model::Model;
use crate::state::State;
use contacts::{BookOf, Then, contacts};
use crew::Crew;
use margins::{Approach, Crowding, Margins};
use passes::{AllColumns, Blocks, isotropic_pass};
use relay::Closed;
use std::iter::repeat_with;
use std::sync::Arc;
use working_list::{WorkingList, search, wall_finder};

/// Steps between two sortings and wrappings of the grains.
pub const TIDY_EVERY: u64 = 8192;
/// Steps between two looks at the removal regions.
pub const REMOVE_EVERY: u64 = 16;
/// Most steps for which workers stay awake before others who use the pool get it, and so most that are made in one go.
const STRETCH: u64 = 100;
/// Below this number of grains per worker the step is cheaper on fewer workers.
pub const GRAINS_PER_WORKER: usize = 1000;

/// How the contacts of a model are evaluated on this processor, in words.
pub fn contact_loop(model: &Model) -> &'static str {
    match Batch::of(model, Width::best(), true).filter(|_| model.integrator == Integrator::VelocityVerlet) {
        Some(_) => Width::best().name(),
        None => "one after another (general loop)",
    }
}

/// The solver and its scratch memory.
pub struct Explicit {
    workers: usize,
    grains_per_worker: usize,
    width: Width,
    one_pair_at_a_time: bool,
    without_losses: bool,
    hook: Option<PhaseHook>,
    rebuilds: u64,
    list: Option<WorkingList>,
    /// The last step has its forces but its losses are not booked, and unless the next one has begun it has no end.
    unfinished: bool,
    /// The next step has begun, with these speeds.
    begun: Option<Speeds>,
    /// What the last list told.
    crowding: Crowding,
}

impl Explicit {
    /// A solver on `workers` threads of the present rayon pool. They stay awake for up to a hundred steps: simulations that share a
    /// pool may wait so long for each other.
    pub fn new(workers: usize) -> Self {
        let grains_per_worker = GRAINS_PER_WORKER;
        let workers = workers.max(1);
        Self {
            workers,
            grains_per_worker,
            width: Width::best(),
            one_pair_at_a_time: false,
            without_losses: false,
            hook: None,
            rebuilds: 0,
            list: None,
            unfinished: false,
            begun: None,
            crowding: Crowding::default(),
        }
    }

    /// Gives a worker at least this many grains; with fewer the step is done by fewer workers
    /// (default: [`GRAINS_PER_WORKER`]).
    pub fn grains_per_worker(mut self, least: usize) -> Self {
        self.grains_per_worker = least.max(1);
        self
    }

    /// Evaluates so many contacts at once, if this processor can (default: as many as it can).
    pub fn width(mut self, width: Width) -> Self {
        if Width::all().contains(&width) {
            self.width = width;
        }
        self
    }

    /// Takes the general contact loop whatever the laws are: the reference for the other.
    pub fn one_pair_at_a_time(mut self) -> Self {
        self.one_pair_at_a_time = true;
        self
    }

    /// Leaves out what contacts lose from the account of energy, which makes steps somewhat faster. For benchmarks
    /// beside programs that keep no account.
    pub fn without_losses(mut self) -> Self {
        self.without_losses = true;
        self
    }

    /// One step, or some of so many, see [`in_one_go`](Self::in_one_go); returns how many. `last` tells that the state must be whole
    /// afterwards; else its end may be left to the next step.
    fn steps(&mut self, model: &Model, state: &mut State, most: u64, last: bool) -> Result<u64, StepError> {
        let dt = model.dt;
        let force_time =
            |step: u64| model.integrator.force_time(state.time_after(step, dt), state.time_after(step + 1, dt));
        let force_times: Vec<f64> = (0..most).map(force_time).collect();
        let force_time = force_times[0];
        let jumping = events::jumping(model, state, state.time, force_time);
        if !jumping.is_empty() {
            self.end_step(model, state)?;
            self.store(state);
            events::jump(model, state, &jumping);
            self.build_at(model, state, force_time)?;
        }

        tick(&self.hook, Phase::Integrate);
        let mut speed = self.begin_step(model, state)?;
        for (trial, part) in model.integrator.scheme().trials().iter().enumerate() {
            speed = self.try_out(model, state, speed, trial, part * dt)?;
        }
        let frames: Vec<_> = force_times.iter().map(|t| visit::frames(model, state, *t, dt)).collect();

        tick(&self.hook, Phase::Neighbours);
        self.keep_list(model, state, speed)?;

        tick(&self.hook, Phase::Contacts);
        let then = self.then(model, state, 0, last);
        let book = &mut |state: &mut State, closed: Closed| {
            book::field_work(model, state, 0.0, dt); // gravity has a potential
            book::walls(state, closed.told.iter(), &frames[closed.step], dt);
            state.count_step(dt);
            book::losses(state, closed.told.iter(), closed.lost);
            match (closed.not_finite, closed.sudden) {
                (Some(id), _) => Err(StepError::NotFinite { id, step: state.step + 1, time: state.time + dt }),
                (None, Some(id)) => Err(sudden(id, state, dt, 1)),
                (None, None) => Ok(()),
            }
        };
        let made = self.contacts(model, state, &frames, dt, then, book)?;
        let force_time = force_times[made - 1];

        tick(&self.hook, Phase::Fields);
        let list = self.list.as_mut().expect("kept above");
        let with_now = !list.now.is_empty();
        if with_now {
            std::mem::swap(&mut state.particles.motion, &mut list.now);
        }
        let power = book::fields(model, state, state.step + 1, force_time);
        book::field_work(model, state, power, dt);
        if with_now {
            std::mem::swap(&mut state.particles.motion, &mut list.now);
        }

        tick(&self.hook, Phase::Book);
        book::walls(state, told(&list.segments), &frames[made - 1], dt);
        self.unfinished = true;
        state.count_step(dt);
        self.events(model, state, last)?;
        Ok(made as u64)
    }

    /// Ends the last step if that is still to be done, and moves the grains to where forces are wanted. Returns bounds
    /// of their speeds.
    fn begin_step(&mut self, model: &Model, state: &mut State) -> Result<Speeds, StepError> {
        let list = self.list.as_mut().expect("the list is built before the first step");
        let unfinished = std::mem::take(&mut self.unfinished);
        let speed = match (&list.scheme, self.begun.take()) {
            (_, Some(speed)) => speed,
            (Some(scheme), None) => {
                let pass = if unfinished { Pass::FinishAndBegin } else { Pass::Begin };
                let columns = AllColumns::of(&mut state.particles, &mut list.now, &mut list.blocks);
                let columns = columns.beginning_after(state.step, list.margins.over_step(model.dt));
                let speeds = isotropic_pass(scheme, pass, columns).speeds();
                if let Some(id) = columns.first_sudden() {
                    return Err(sudden(id, state, model.dt, 1));
                }
                speeds
            }
            (None, None) => {
                let p = &mut state.particles;
                let speed = integrate::begin(model, p, &mut list.scratch);
                if model.integrator == Integrator::VelocityVerlet && isotropic::turns_after(state.step) {
                    isotropic::turn_all(p, model.dt);
                }
                speed.into()
            }
        };
        if unfinished {
            book::losses(state, told(&list.segments), &list.blocks.lost[0]);
        }
        check_finite(speed.absolute, state, model.dt)?;
        Ok(speed)
    }

    /// Forces on the way, `after` the beginning of the step; contacts do not remember them. Goes on to the next trial or to the
    /// end of the way.
    fn try_out(
        &mut self,
        model: &Model,
        state: &mut State,
        speed: Speeds,
        trial: usize,
        after: f64,
    ) -> Result<Speeds, StepError> {
        self.keep_list(model, state, speed)?;
        let list = self.list.as_ref().expect("kept above");
        let memories: Vec<_> = list.segments.iter().map(Segment::memories).collect();
        let time = state.time + after;
        let frames = visit::frames(model, state, time, after);
        self.contacts(model, state, &[frames], after, Then::Stop, &mut |_, _| unreachable!("one step"))?;
        let list = self.list.as_mut().expect("kept above");
        book::fields(model, state, state.step + 1, time);
        for (segment, kept) in list.segments.iter_mut().zip(memories) {
            segment.restore(kept);
        }
        let p = &mut state.particles;
        p.drop_images();
        let speed = integrate::pass(model, p, &mut list.scratch, trial);
        check_finite(speed, state, model.dt)?;
        Ok(speed.into())
    }

    /// Ends the last step if that is still to be done.
    fn end_step(&mut self, model: &Model, state: &mut State) -> Result<(), StepError> {
        if !std::mem::take(&mut self.unfinished) {
            return Ok(());
        }
        tick(&self.hook, Phase::Integrate);
        let list = self.list.as_mut().expect("a step was begun with it");
        let speed = match &list.scheme {
            Some(scheme) => {
                let columns = AllColumns::of(&mut state.particles, &mut [], &mut list.blocks);
                isotropic_pass(scheme, Pass::Finish, columns).speeds()
            }
            None => integrate::finish(model, &mut state.particles, &mut list.scratch).into(),
        };
        check_finite(speed.absolute, state, 0.0)?;
        tick(&self.hook, Phase::Book);
        book::losses(state, told(&list.segments), &list.blocks.lost[0]);
        Ok(())
    }

    /// What happens between two steps: flows, removals, feeds, tidying. Only these need the end of the step.
    fn events(&mut self, model: &Model, state: &mut State, last: bool) -> Result<(), StepError> {
        if self.list.as_ref().is_none_or(|list| list.scheme.is_none()) {
            self.end_step(model, state)?; // it may move grains
        }
        let list = self.list.as_mut().expect("the list is built before the first step");
        between::count_flows(model, state, &mut list.sides);
        let remove = !model.removals.is_empty()
            && state.step.is_multiple_of(REMOVE_EVERY)
            && between::anything_to_remove(model, state);
        let feed = between::feed_due(model, state);
        let tidy = state.step.is_multiple_of(TIDY_EVERY);
        if last || remove || feed || tidy {
            self.end_step(model, state)?;
        }
        if remove || feed || tidy {
            self.store(state);
            self.list = None;
            if remove {
                between::remove(model, state);
            }
            if feed {
                between::feed(model, state)?;
            }
            if tidy {
                between::tidy(model, state);
            }
            self.build(model, state)?;
        }
        Ok(())
    }

    /// Forces of all contacts, in as many steps as there are frames or fewer. The next step may begin with them, see [`contacts`].
    fn contacts(
        &mut self,
        model: &Model,
        state: &mut State,
        frames: &[WallFrames],
        dt: f64,
        then: Then,
        book: &mut BookOf,
    ) -> Result<usize, StepError> {
        let list = self.list.as_mut().expect("the list is built before contacts are evaluated");
        let begun = contacts(model, state, list, frames, dt, then, book)?;
        self.begun = begun.speeds;
        begun.sudden.map_or(Ok(begun.steps), |id| Err(sudden(id, state, dt, 2)))
    }

    /// How many of the next steps, `left` of which are to be made, are made in one go, `most` at most: quiet steps, which ask nothing of the
    /// pool but what a crew does, while the list holds. None if the next one has not begun or is not quiet.
    fn in_one_go(&self, model: &Model, state: &State, left: u64, most: u64) -> u64 {
        let list = self.list.as_ref().filter(|list| self.begun.is_some() && !list.margins.are_used_up());
        let Some(list) = list else { return 0 };
        let is_quiet = |step: &u64| self.then(model, state, *step, step + 1 == left) == Then::NextStep;
        let most = most.min(left).min(list.margins.steps_in_one_go(model.dt));
        (0..most).take_while(is_quiet).count() as u64
    }

    /// Makes some quiet steps, the first of `left`. Returns how many are left then.
    fn quiet_steps(&mut self, model: &Model, state: &mut State, left: u64) -> Result<u64, StepError> {
        let crew = Arc::clone(&self.list.as_ref().expect("the list is built before the first step").crew);
        crew.stand(|| {
            let mut made = 0;
            loop {
                let steps = self.in_one_go(model, state, left - made, STRETCH - made);
                if steps == 0 {
                    break;
                }
                made += self.steps(model, state, steps, false)?;
            }
            Ok(left - made)
        })
    }

    /// Whether the next step can begin as soon as the forces of the one that comes after `ahead` others are known: nothing happens between the two and
    /// nobody looks at the state.
    fn then(&self, model: &Model, state: &State, ahead: u64, last: bool) -> Then {
        let list = self.list.as_ref().expect("the list is built before the first step");
        let fast = list.scheme.is_some() && list.batch.is_some() && steps_can_be_quiet(model);
        let next = state.step + ahead + 1;
        let due = !model.removals.is_empty() && next.is_multiple_of(REMOVE_EVERY) || next.is_multiple_of(TIDY_EVERY);
        let (begin, end) = (state.time_after(ahead + 1, model.dt), state.time_after(ahead + 2, model.dt));
        let jumps = || !events::jumping(model, state, begin, end).is_empty();
        if !fast || last || due || jumps() { Then::Stop } else { Then::NextStep }
    }

    /// Refreshes images and renews the list when something may have come within reach unseen.
    fn keep_list(&mut self, model: &Model, state: &mut State, speed: Speeds) -> Result<(), StepError> {
        let list = self.list.as_mut().expect("the list is built before the first step");
        list.relative_speed = speed.relative;
        if list.scheme.is_none() {
            // The fast integration spends on its way. Without it the frame rests.
            let bound = if model.integrator.scheme().corrects_places() { f64::INFINITY } else { speed.absolute };
            list.margins.spend(&state.particles.place, bound, model.dt);
        }
        if list.margins.are_used_up() {
            self.renew_list(model, state)?;
        }
        let list = self.list.as_mut().expect("kept");
        list.refresh_images(model, state);
        Ok(())
    }

    /// Searches anew for candidates while the grains are on their way: their velocities, and the side of each counting
    /// plane they were on before, belong to this step.
    fn renew_list(&mut self, model: &Model, state: &mut State) -> Result<(), StepError> {
        let list = self.list.as_mut().expect("kept");
        self.rebuilds += 1;
        state.particles.drop_images();
        let p = &state.particles;
        list.scratch.mean.truncate(p.owned());
        let near_walls = wall_finder(model, state, state.time);
        // The walls are looked at where they stood at the start of the step.
        let approach = Approach { speed: near_walls.speed, ahead: model.dt };
        let margins = Margins::new(model, p, list.scheme.as_ref(), list.pace, self.crowding, approach);
        let mut candidates = search(model, p, &margins)?;
        list::renew(
            &mut list.segments,
            &list.candidates,
            &candidates,
            &near_walls,
            &|grain| margins.to_walls(grain),
            loop_of(&list.batch),
            loop_of_walls(&list.wall_batch),
        );
        self.crowding = margins.crowding(candidates.forget_rows());
        list.candidates = candidates;
        list.kind = list.candidates.kinds(&p.kind);
        list.margins = margins;
        Ok(())
    }

    /// Writes all contacts into the state and drops the images.
    fn store(&mut self, state: &mut State) {
        state.particles.drop_images();
        if let Some(list) = &mut self.list {
            list.scratch.mean.truncate(state.particles.owned());
            list::collect(&list.segments, &list.candidates, &mut state.contacts);
        }
    }

    /// Builds the working list from model and state.
    fn build(&mut self, model: &Model, state: &mut State) -> Result<(), StepError> {
        self.build_at(model, state, state.time)
    }

    /// The same with the walls where they are at time `t`.
    fn build_at(&mut self, model: &Model, state: &mut State, t: f64) -> Result<(), StepError> {
        self.build_for(model, state, t, if self.one_pair_at_a_time { Loops::General } else { Loops::Fast })
    }

    /// The same for the fast loops where they can do the laws, or for the general ones.
    fn build_for(&mut self, model: &Model, state: &mut State, t: f64, loops: Loops) -> Result<(), StepError> {
        let p = &mut state.particles;
        p.drop_images();
        let n = p.owned();
        self.rebuilds += 1;
        integrate::start(model.integrator, p, model.dt);
        let scheme = Isotropic::of(model, &state.particles, self.width);
        let near_walls = wall_finder(model, state, t);
        let approach = Approach { speed: near_walls.speed, ahead: 0.0 };
        // The fast loops leave losses with the loads, where the fast integration finds them.
        let fast = loops == Loops::Fast && scheme.is_some();
        let (width, ledger) = (self.width, !self.without_losses);
        let batch = Batch::of(model, width, ledger).filter(|_| fast);
        let wall_batch = WallBatch::of(model, width, ledger).filter(|_| fast);
        // Images are made for one step of all.
        let ahead = batch.is_some() && steps_can_be_quiet(model) && !model.cell.is_periodic();
        let pace = if ahead { Pace::Ahead } else { Pace::Together };
        let margins = Margins::new(model, &state.particles, scheme.as_ref(), pace, self.crowding, approach);
        let mut candidates = search(model, &state.particles, &margins)?;
        let workers = self.workers.min(n.div_ceil(self.grains_per_worker)).max(1);
        let form = loop_of(&batch);
        let wall_form = loop_of_walls(&wall_batch);
        let segments = list::build(
            workers,
            &candidates,
            &state.contacts,
            &near_walls,
            &|grain| margins.to_walls(grain),
            form,
            wall_form,
            pace,
        );
        state.contacts.leave();
        let p = &state.particles;
        let kind = candidates.kinds(&p.kind);
        self.crowding = margins.crowding(candidates.forget_rows());
        let mut scratch = integrate::Scratch::default();
        let mut now = Vec::new();
        match scheme {
            None => scratch.fit(n),
            Some(_) if model.gravity_alone().is_some() => {}
            Some(_) => now.extend_from_slice(&p.motion),
        }
        self.list = Some(WorkingList {
            blocks: Blocks::of(n),
            batch,
            wall_batch,
            scheme,
            candidates,
            rooms: repeat_with(Room::default).take(workers).collect(),
            crew: Arc::new(Crew::of(workers - 1)),
            segments,
            pace,
            scratch,
            now,
            kind,
            margins,
            relative_speed: f64::INFINITY,
            sides: between::sides(model, p),
        });
        Ok(())
    }

    /// Loads at the present positions, at the start and when a stage has switched something: no time passes. The energy
    /// of contacts that are there all at once is that of the start, or came with the switch.
    fn prime(&mut self, model: &Model, state: &mut State) -> Result<(), StepError> {
        let entered = state.ledger.entered;
        between::tidy(model, state);
        let before = energy::mechanical(model, state);
        self.build_for(model, state, state.time, Loops::General)?;
        let list = self.list.as_mut().expect("just built");
        list.refresh_images(model, state);
        let frames = visit::frames(model, state, state.time, 0.0);
        let frames = [frames];
        self.contacts(model, state, &frames, 0.0, Then::Stop, &mut |_, _| unreachable!("one step"))?;
        let list = self.list.as_mut().expect("just built");
        let power = book::fields(model, state, state.step, state.time);
        book::field_work(model, state, power, 0.0);
        book::walls(state, told(&list.segments), &frames[0], 0.0);
        book::losses(state, told(&list.segments), &list.blocks.lost[0]);
        state.particles.forget_steps();
        integrate::start(model.integrator, &mut state.particles, model.dt);
        state.loads_are_current = true;
        self.store(state);
        let now = energy::mechanical(model, state);
        self.build(model, state)?;
        if state.step == 0 {
            (state.ledger.initial, state.ledger.entered) = (now, entered);
        } else {
            state.ledger.switched += now - before;
        }
        Ok(())
    }
}

impl Solver for Explicit {
    fn go_on(&mut self, model: &Model, state: &mut State, steps: u64) -> Result<(), StepError> {
        if !state.loads_are_current {
            if state.contacts.are_away() {
                self.store(state);
            }
            self.list = None;
            self.prime(model, state)?;
        } else if self.list.is_none() {
            self.build(model, state)?;
        } else {
            state.contacts.leave();
        }
        let mut left = steps;
        while left > 0 {
            if self.in_one_go(model, state, left, 1) > 0 {
                left = self.quiet_steps(model, state, left)?;
            } else {
                left -= self.steps(model, state, 1, left == 1)?;
            }
        }
        tick(&self.hook, Phase::Outside);
        state.particles.drop_images();
        Ok(())
    }

    fn complete(&mut self, state: &mut State) {
        self.store(state);
    }

    fn memory(&self) -> usize {
        self.list.as_ref().map_or(0, WorkingList::memory)
    }

    fn rebuilds(&self) -> u64 {
        self.rebuilds
    }

    fn on_phase(&mut self, hook: PhaseHook) {
        self.hook = Some(hook);
    }
}

/// Which loops over contacts a list is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loops {
    /// The fast ones, where they can do the laws.
    Fast,
    /// The general ones.
    General,
}

/// Whether there are steps of a model between which nothing happens that needs the end of one.
fn steps_can_be_quiet(model: &Model) -> bool {
    model.gravity_alone().is_some() && model.gates.is_empty() && model.feeds.is_empty()
}

/// What the contacts of segments did in the last sweep.
fn told(segments: &[Segment]) -> impl Iterator<Item = &Told> {
    segments.iter().map(|segment| &segment.told)
}

/// The loop that does the contacts.
fn loop_of(batch: &Option<Batch>) -> Loop {
    batch.as_ref().map_or(Loop::General, |batch| Loop::Fast(batch.needs()))
}

/// The same for walls.
fn loop_of_walls(batch: &Option<WallBatch>) -> Loop {
    batch.as_ref().map_or(Loop::General, |batch| Loop::Fast(batch.needs()))
}

/// A grain was much faster when it began the step that comes after so many. Grains have moved without the state: nobody goes on from here.
fn sudden(id: u64, state: &mut State, dt: f64, after: u64) -> StepError {
    state.loads_are_current = false;
    StepError::Sudden { id, step: state.step + after, time: state.time_after(after, dt) }
}

fn check_finite(speed: f64, state: &State, dt: f64) -> Result<(), StepError> {
    if speed.is_nan() {
        let i = state.first_not_finite().unwrap_or(0);
        return Err(StepError::NotFinite { id: state.particles.id[i], step: state.step + 1, time: state.time + dt });
    }
    Ok(())
}
