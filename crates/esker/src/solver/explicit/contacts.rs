//! Forces of all contacts: walls, then pairs, each worker for the grains of one segment after another.

use super::passes::AllColumns;
use super::relay::{Closed, Made, Relay};
use super::wave::Wave;
use super::working_list::WorkingList;
use crate::contact::batch::{Batch, By, Known, WallBatch};
use crate::contact::column::Column;
use crate::contact::hand_over::{Cuts, HandOver, book_opened};
use crate::contact::list::{Cut, Segment};
use crate::contact::near_pairs::Room;
use crate::contact::sweep::{self, Grains, Now};
use crate::contact::walls::{self, WallFrames};
use crate::contact::window::{LoadsAt, Window};
use crate::integrate::isotropic::{Found, Isotropic};
use crate::integrate::{Integrator, Speeds};
use crate::lanes::offset;
use crate::math::Vec3;
use crate::model::Model;
use crate::particles::Load;
use crate::solver::StepError;
use crate::state::State;
use rayon::prelude::*;
use std::mem::take;
use std::ptr::null_mut;

/// What comes after the forces of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Perhaps something that needs the end of the step.
    Stop,
    /// The beginning of the next step.
    NextStep,
}

/// Where the loads of a segment's grains are without a window.
fn loads_at(column: &mut [Load], segment: &mut Segment) -> LoadsAt {
    let first = offset(segment.grains.start as u32);
    LoadsAt { column: column.as_mut_ptr(), marks: segment.marks.as_mut_ptr(), ring: null_mut(), size: 0, first }
}

/// Evaluates walls, then pairs, over steps of length `dt`, one for each of `frames`, where the walls are then. Where nothing happens
/// between a step and the next one, grains begin the next as soon as they are done, while they are at hand; then there may be
/// several steps; all but the last of those that are made are booked by `book`.
pub fn contacts(
    model: &Model,
    state: &mut State,
    list: &mut WorkingList,
    frames: &[WallFrames],
    dt: f64,
    then: Then,
    book: &mut BookOf,
) -> Result<Begun, StepError> {
    let first = state.step + 1;
    let mut particles = take(&mut state.particles);
    let p = &mut particles;
    let (owned, all) = (p.owned(), p.place.len());
    let gravity = model.gravity_alone().unwrap_or(Vec3::ZERO);
    if list.scheme.is_none() || dt == 0.0 {
        // The fast integration has left the loads of gravity.
        let loads = p.load.par_iter_mut().with_min_len(4096).zip(&p.mass);
        loads.for_each(|(load, mass)| *load = Load::of_gravity(*mass, gravity));
    }
    let columns = AllColumns::of(p, &mut [], &mut list.blocks);
    // SAFETY: entries are changed by `Wave` only, and only those nobody looks at any more.
    let (place, motion) = unsafe { (Column::new(columns.place, all), Column::new(columns.motion, all)) };
    let grains = Grains {
        owned,
        place,
        motion,
        mean: if list.scheme.is_some() || dt == 0.0 { motion } else { list.scratch.mean.as_slice().into() },
        now: match model.integrator {
            Integrator::VelocityVerlet if dt > 0.0 => Now::Extrapolated,
            _ => Now::Known,
        },
        kind: &list.kind,
        dt,
    };
    let known = Known { relative_speed: list.relative_speed, found: columns.found() };
    let scheme = list.scheme.as_ref().filter(|_| then == Then::NextStep);
    debug_assert!(scheme.is_some() || frames.len() == 1, "somebody has to begin the next step");
    let mut spending =
        if scheme.is_some() { list.margins.over_steps(frames.len(), model.dt) } else { Vec::new() }.into_iter();
    let sweeps = (0..).zip(frames).map(|(step, frames)| {
        let columns = if step % 2 == 0 { columns } else { columns.of_odd_step() };
        let columns = match spending.next() {
            Some(spending) => columns.beginning_after(first + step, spending),
            None => columns,
        };
        let (batch, wall_batch) = (list.batch.as_ref(), list.wall_batch.as_ref());
        Sweeps { by: By { model, grains, known }, frames, batch, wall_batch, columns, scheme, gravity }
    });
    let sweeps: Vec<Sweeps> = sweeps.collect();
    let mut book = |closed: Closed| book(state, closed);
    let made = Relay::new(&sweeps, &mut list.segments, &mut book).run(&mut list.rooms, &list.crew);
    let began = scheme.is_some();
    drop(sweeps);
    state.particles = particles;
    // After a fault the grains have gone on without the state: nobody goes on from here.
    state.loads_are_current &= made.is_ok();
    let Made { steps, found, sudden } = made?;
    if steps % 2 == 0 {
        list.blocks.lost.swap(0, 1);
    }
    if began {
        list.margins.go_on(steps, model.dt);
    }
    Ok(Begun { steps, speeds: began.then(|| found.speeds()), sudden })
}

/// What was done.
pub struct Begun {
    /// How many steps have their forces.
    pub steps: usize,
    /// The speeds with which the step after these was begun, if it was.
    pub speeds: Option<Speeds>,
    /// As of [`Closed`].
    pub sudden: Option<u64>,
}

/// Books a step in the state, which has no particles meanwhile.
pub type BookOf<'a> = dyn FnMut(&mut State, Closed) -> Result<(), StepError> + Send + 'a;

/// What the contacts of segments are evaluated by. Segments have different grains: their loads are nobody else's.
pub struct Sweeps<'a> {
    by: By<'a>,
    frames: &'a WallFrames,
    batch: Option<&'a Batch>,
    wall_batch: Option<&'a WallBatch>,
    /// The columns.
    pub columns: AllColumns<'a>,
    /// To begin the next step by.
    scheme: Option<&'a Isotropic>,
    gravity: Vec3,
}

impl Sweeps<'_> {
    /// Walls, and pairs with images and across borders. Gives away what was found of the pairs across the border.
    pub fn across(&self, segment: &mut Segment, room: &mut Room) -> Cut {
        let By { model, grains, .. } = self.by;
        segment.told.clear(model.walls.len());
        // SAFETY: nobody else's.
        let loads = unsafe { self.columns.loads(&segment.grains) };
        match self.wall_batch {
            Some(batch) => batch.sweep(model, self.frames, grains, segment, loads),
            None => walls::sweep(model, self.frames, grains, segment, loads),
        }
        match self.batch {
            Some(batch) => {
                let at = loads_at(loads, segment);
                // SAFETY: nobody else's.
                unsafe { batch.sweep_across(self.by, segment, at, room) }
                segment.take_cut()
            }
            None => Cut::default(),
        }
    }

    /// The other pairs. Tells what was found when grains began the next step: nobody else looks at them any more, since all
    /// who have pairs with them have given their cuts.
    pub fn within(&self, segment: &mut Segment, room: &mut Room, cuts: &Cuts) -> Found {
        // SAFETY: nobody else's.
        let loads = unsafe { self.columns.loads(&segment.grains) };
        let Some(batch) = self.batch else {
            sweep::sweep(self.by.model, self.by.grains, segment, loads);
            return Found::NOTHING;
        };
        let mut ring = take(&mut room.loads);
        let mut at = loads_at(loads, segment);
        let window = segment.window.filter(|_| self.scheme.is_some()).map(|size| {
            ring.resize(ring.len().max(size), Load::default());
            (at.ring, at.size) = (ring.as_mut_ptr(), size);
            // SAFETY: nobody else's.
            unsafe { Window::new(at, segment.grains.clone(), self.columns.mass, self.gravity) }
        });
        let mut wave = Wave::new(self.scheme, self.columns, HandOver::to(segment, cuts), window, &segment.grains);
        // SAFETY: nobody else's, also those of the wave, which comes after the sweep.
        unsafe { batch.sweep_within(self.by, segment, at, room, &mut |g| wave.reach(g)) }
        let found = wave.found();
        room.loads = ring;
        book_opened(segment, cuts);
        found
    }
}
