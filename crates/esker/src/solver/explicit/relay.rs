//! Sweeps of several steps: segments go from one step to the next as soon as those have come so far whose grains they look at,
//! so that nobody waits for all others at the end of each step.
//!
//! A segment may be one step ahead of others, not two: a step is begun when the one before the last is closed. Whether a list
//! still holds is known when all grains have begun a step. By then some have made it, so all make it, which margins allow for, and
//! no other.
//!
//! Tasks, a segment in a step each, are taken in order, steps one after another and in each the last segment first. They wait
//! only for tasks that were taken before.

use super::contacts::Sweeps;
use super::crew::Crew;
use crate::contact::hand_over::{Cuts, Giving, wait_for};
use crate::contact::list::Segment;
use crate::contact::near_pairs::Room;
use crate::contact::sums::Told;
use crate::integrate::isotropic::{Found, Lost};
use crate::solver::StepError;
use std::iter::repeat_with;
use std::mem::swap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::panicking;

/// A step that all segments have made while some may have begun the next one.
pub struct Closed<'a> {
    /// Its number among those of the relay.
    pub step: usize,
    /// What the contacts of the segments did.
    pub told: &'a [Told],
    /// The losses that grains tell.
    pub lost: &'a [Lost],
    /// Identity of the first grain that began the next step without a finite state.
    pub not_finite: Option<u64>,
    /// Identity of a grain among those that began it much faster than this one, see [`Margins`](super::margins::Margins).
    pub sudden: Option<u64>,
}

/// Books a step that has another one behind it.
pub type Book<'a> = dyn FnMut(Closed) -> Result<(), StepError> + Send + 'a;

/// What was made.
pub struct Made {
    /// How many steps.
    pub steps: usize,
    /// The velocities with which the step after them was begun.
    pub found: Found,
    /// As of [`Closed`].
    pub sudden: Option<u64>,
}

/// Some steps of all segments.
pub struct Relay<'a> {
    steps: &'a [Sweeps<'a>],
    segments: Vec<Mutex<&'a mut Segment>>,
    /// The segments whose grains each looks at besides its own: below it.
    below: Vec<Vec<usize>>,
    /// Of each step.
    cuts: Vec<Cuts>,
    /// How many steps each segment has made.
    made: Vec<AtomicUsize>,
    /// How many segments have not made each step.
    missing: Vec<AtomicUsize>,
    /// The next task.
    next: AtomicUsize,
    /// How many steps have been closed.
    closed: AtomicUsize,
    /// Steps from this one on are not made, as far as is known.
    until: AtomicUsize,
    /// What segments tell of even steps and of odd ones.
    outcomes: [Mutex<Outcome>; 2],
    book: Mutex<Result<&'a mut Book<'a>, StepError>>,
    has_panicked: AtomicBool,
}

/// What segments tell of a step.
struct Outcome {
    told: Vec<Told>,
    found: Found,
    /// The first grain that has no finite state, and its segment.
    not_finite: Option<(usize, u64)>,
}

impl<'a> Relay<'a> {
    /// Over these steps. All but the last are booked, if there is a next one.
    pub fn new(steps: &'a [Sweeps<'a>], segments: &'a mut [Segment], book: &'a mut Book<'a>) -> Self {
        let count = segments.len();
        let mut below = vec![Vec::new(); count];
        for (lower, segment) in segments.iter().enumerate() {
            segment.sources.iter().for_each(|source| below[source.segment as usize].push(lower));
        }
        let counters = |n: usize, of: usize| repeat_with(move || AtomicUsize::new(of)).take(n).collect();
        let outcome = |_| {
            // Of the form that the next step but one needs, if there is any.
            let told = |segment: &Segment| if steps.len() > 1 { segment.told.clone() } else { Told::default() };
            let told = segments.iter().map(told).collect();
            Mutex::new(Outcome { told, found: Found::NOTHING, not_finite: None })
        };
        Self {
            steps,
            outcomes: [0, 1].map(outcome),
            segments: segments.iter_mut().map(Mutex::new).collect(),
            below,
            cuts: steps.iter().map(|_| Cuts::of(count)).collect(),
            made: counters(count, 0),
            missing: counters(steps.len(), count),
            next: AtomicUsize::new(0),
            closed: AtomicUsize::new(0),
            until: AtomicUsize::new(steps.len()),
            book: Mutex::new(Ok(book)),
            has_panicked: AtomicBool::new(false),
        }
    }

    /// Makes the steps, by a crew whose threads have a room each.
    pub fn run(self, rooms: &mut [Room], crew: &Crew) -> Result<Made, StepError> {
        let rooms: Vec<Mutex<&mut Room>> = rooms.iter_mut().map(Mutex::new).collect();
        crew.all(&|worker| {
            let room = &mut *rooms[worker].try_lock().expect("nobody else has this one");
            while self.task(room) {}
        });
        let steps = self.until.into_inner();
        let sudden = self.steps[steps - 1].columns.first_sudden();
        let mut last = lock(&self.outcomes[(steps + 1) % 2]);
        for (s, segment) in self.segments.iter().enumerate() {
            let segment = &mut **lock(segment);
            segment.give_back(self.cuts[steps - 1].take(s));
            swap(&mut segment.told, &mut last.told[s]);
        }
        self.book.into_inner().unwrap_or_else(PoisonError::into_inner)?;
        Ok(Made { steps, found: last.found, sudden })
    }

    /// The next task. Returns whether there was one.
    fn task(&self, room: &mut Room) -> bool {
        let (task, count) = (self.next.fetch_add(1, Ordering::Relaxed), self.segments.len());
        let (step, s) = (task / count, count - 1 - task % count);
        if step >= self.steps.len() {
            return false;
        }
        let _attempt = Attempt(self);
        // Given in any case: others may wait for it.
        let giving = self.cuts[step].giving(s);
        // The step before the last has told whether the list holds for this one. Steps that are not made are not closed.
        let is_made = || step < self.until.load(Ordering::Acquire);
        if !self.wait_until(|| !is_made() || self.closed.load(Ordering::Acquire) + 1 >= step) || !is_made() {
            return false;
        }
        let has_made = |s: usize| self.made[s].load(Ordering::Acquire) >= step;
        if !self.wait_until(|| has_made(s) && self.below[s].iter().all(|&lower| has_made(lower))) {
            return false;
        }
        {
            let mut segment = self.segments[s].try_lock().expect("nobody else is at work on it");
            let found = self.sweep(step, &mut segment, s, giving, room);
            let mut outcome = lock(&self.outcomes[step % 2]);
            swap(&mut segment.told, &mut outcome.told[s]);
            outcome.found = outcome.found.merged(&found);
            if found.speeds().absolute.is_nan() {
                // SAFETY: its grains have moved, and nobody else moves them.
                let first = unsafe { self.steps[step].columns.first_not_finite(&segment.grains) };
                outcome.not_finite = [(s, first)].into_iter().chain(outcome.not_finite).min();
            }
        }
        self.made[s].store(step + 1, Ordering::Release);
        if self.missing[step].fetch_sub(1, Ordering::AcqRel) == 1 {
            self.close(step);
        }
        true
    }

    /// The contacts of a segment in a step. Tells what was found when its grains began the next one.
    fn sweep(&self, step: usize, segment: &mut Segment, s: usize, mut giving: Giving, room: &mut Room) -> Found {
        if step > 0 {
            segment.give_back(self.cuts[step - 1].take(s));
        }
        let (sweeps, cuts) = (&self.steps[step], &self.cuts[step]);
        giving.cut = sweeps.across(segment, room);
        drop(giving);
        sweeps.within(segment, room, cuts)
    }

    /// All segments have made a step.
    fn close(&self, step: usize) {
        if !self.wait_until(|| self.closed.load(Ordering::Acquire) == step) {
            return;
        }
        let columns = &self.steps[step].columns;
        if columns.have_used_up() {
            self.until.fetch_min(step + 2, Ordering::AcqRel);
        }
        if step + 1 < self.until.load(Ordering::Acquire) {
            let mut outcome = lock(&self.outcomes[step % 2]);
            let mut book = lock(&self.book);
            // SAFETY: all have passed who tell it there, and nobody does in the step after the next before this is closed.
            let lost = unsafe { columns.lost() };
            let (not_finite, sudden) = (outcome.not_finite.map(|(_, id)| id), columns.first_sudden());
            let booked = book.as_mut().map(|book| book(Closed { step, told: &outcome.told, lost, not_finite, sudden }));
            if let Ok(Err(error)) = booked {
                *book = Err(error);
                self.until.fetch_min(step + 2, Ordering::AcqRel);
            }
            (outcome.found, outcome.not_finite) = (Found::NOTHING, None);
        }
        self.closed.store(step + 1, Ordering::Release);
    }

    /// Waits until something holds. Returns whether it does; else somebody has panicked.
    fn wait_until(&self, holds: impl Fn() -> bool) -> bool {
        wait_for(|| match holds() {
            true => Some(true),
            false => self.has_panicked.load(Ordering::Acquire).then_some(false),
        })
    }
}

/// Somebody tries to make a task. When this is dropped by a panic nobody waits for it.
struct Attempt<'a, 'b>(&'a Relay<'b>);

impl Drop for Attempt<'_, '_> {
    fn drop(&mut self) {
        if panicking() {
            self.0.has_panicked.store(true, Ordering::Release);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
