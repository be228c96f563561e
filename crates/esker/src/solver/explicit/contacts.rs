//! Forces of all contacts: walls, then pairs, each worker for the grains of one segment after another.

use super::passes::AllColumns;
use super::wave::Wave;
use super::working_list::WorkingList;
use crate::contact::batch::{Batch, By, Known, WallBatch};
use crate::contact::column::Column;
use crate::contact::hand_over::{HandOver, book_opened};
use crate::contact::list::{Cut, Segment};
use crate::contact::near_pairs::Room;
use crate::contact::sweep::{self, Grains, Now};
use crate::contact::walls::{self, WallFrames};
use crate::integrate::isotropic::{Found, Isotropic};
use crate::integrate::{Integrator, Speeds};
use crate::math::Vec3;
use crate::model::Model;
use crate::particles::Load;
use crate::state::State;
use rayon::prelude::*;
use std::sync::Mutex;

/// What comes after the forces of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Perhaps something that needs the end of the step.
    Stop,
    /// The beginning of the next step.
    NextStep,
}

/// Evaluates walls, then pairs, with the walls in `frames` and over a step of length `dt`. Where nothing happens between this
/// step and the next one, grains begin the next as soon as they are done, while they are at hand; then their speeds are returned.
pub fn contacts(
    model: &Model,
    state: &mut State,
    list: &mut WorkingList,
    frames: &WallFrames,
    dt: f64,
    then: Then,
) -> Option<Speeds> {
    let p = &mut state.particles;
    let (owned, all) = (p.owned(), p.place.len());
    let gravity = model.gravity_alone().unwrap_or(Vec3::ZERO);
    if list.scheme.is_none() || dt == 0.0 {
        // The fast integration has left the loads of gravity.
        let loads = p.load.par_iter_mut().with_min_len(4096).zip(&p.mass);
        loads.for_each(|(load, mass)| *load = Load { force: *mass * gravity, ..Load::default() });
    }
    let columns = AllColumns::of(p, &mut [], &mut list.blocks).beginning_after(state.step + 1);
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
    let sweeps = Sweeps {
        by: By { model, grains, known },
        frames,
        batch: list.batch.as_ref(),
        wall_batch: list.wall_batch.as_ref(),
        columns,
        scheme: list.scheme.as_ref().filter(|_| then == Then::NextStep),
    };
    let (segments, rooms) = (&mut list.segments, &mut list.rooms);
    take_turns(segments, rooms, |segment, room| sweeps.across(segment, room));
    let cuts: Vec<Cut> = match sweeps.batch {
        Some(_) => segments.iter_mut().map(Segment::take_cut).collect(),
        None => Vec::new(),
    };
    let found = take_turns(segments, rooms, |segment, room| sweeps.within(segment, room, &cuts));
    segments.iter_mut().zip(cuts).for_each(|(segment, cut)| segment.give_back(cut));
    sweeps.scheme.map(|_| found.speeds())
}

/// What the contacts of segments are evaluated by. Segments have different grains: their loads are nobody else's.
struct Sweeps<'a> {
    by: By<'a>,
    frames: &'a WallFrames,
    batch: Option<&'a Batch>,
    wall_batch: Option<&'a WallBatch>,
    columns: AllColumns<'a>,
    /// To begin the next step by.
    scheme: Option<&'a Isotropic>,
}

impl Sweeps<'_> {
    /// Walls, and pairs that other segments look at too.
    fn across(&self, segment: &mut Segment, room: &mut Room) -> Found {
        let By { model, grains, .. } = self.by;
        segment.losses.clear();
        segment.wall_sums.clear(model.walls.len());
        // SAFETY: nobody else's.
        let loads = unsafe { self.columns.loads(&segment.grains) };
        match self.wall_batch {
            Some(batch) => batch.sweep(model, self.frames, grains, segment, loads),
            None => walls::sweep(model, self.frames, grains, segment, loads),
        }
        if let Some(batch) = self.batch {
            // SAFETY: nobody else's.
            unsafe { batch.sweep_across(self.by, segment, loads.as_mut_ptr(), room) }
        }
        Found::NOTHING
    }

    /// The other pairs, when all segments have done those across borders. Tells what was found when grains began the next step.
    fn within(&self, segment: &mut Segment, room: &mut Room, cuts: &[Cut]) -> Found {
        // SAFETY: nobody else's.
        let loads = unsafe { self.columns.loads(&segment.grains) };
        let Some(batch) = self.batch else {
            sweep::sweep(self.by.model, self.by.grains, segment, loads);
            return Found::NOTHING;
        };
        let mut wave = Wave::new(self.scheme, self.columns, HandOver::to(segment, cuts), &segment.grains);
        // SAFETY: nobody else's, also those of the wave, which comes after the sweep.
        unsafe { batch.sweep_within(self.by, segment, loads.as_mut_ptr(), room, &mut |g| wave.reach(g)) }
        let found = wave.found();
        book_opened(segment, cuts);
        found
    }
}

/// Does the segments one after another in their order, each by whichever worker is free, in its room.
fn take_turns<W>(segments: &mut [Segment], rooms: &mut [Room], work: W) -> Found
where
    W: Fn(&mut Segment, &mut Room) -> Found + Sync,
{
    let segments = Mutex::new(segments.iter_mut());
    let next = || segments.lock().expect("nobody panics in there").next();
    let worker = |room: &mut Room| {
        let mut found = Found::NOTHING;
        while let Some(segment) = next() {
            found = found.merged(&work(segment, room));
        }
        found
    };
    match rooms {
        [room] => worker(room),
        rooms => rooms.par_iter_mut().with_max_len(1).map(worker).reduce(|| Found::NOTHING, |a, b| a.merged(&b)),
    }
}
