//! Forces of all contacts: walls, then pairs, each worker for the grains of one segment after another.

use super::crew::Crew;
use super::passes::AllColumns;
use super::wave::Wave;
use super::working_list::WorkingList;
use crate::contact::batch::{Batch, By, Known, WallBatch};
use crate::contact::column::Column;
use crate::contact::hand_over::{Cuts, HandOver, book_opened};
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
    let mut columns = AllColumns::of(p, &mut [], &mut list.blocks);
    if then == Then::NextStep {
        debug_assert!(list.scheme.is_some() && list.batch.is_some(), "somebody has to begin it");
        columns = columns.beginning_after(state.step + 1, list.margins.over_step(model.dt));
    }
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
    let found = sweeps.all(&mut list.segments, &mut list.rooms, &list.crew);
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
    /// All contacts, by a crew whose threads have a room each. Each takes the next segment when it is free, the last of all first:
    /// then somebody is already at work on the cuts that it needs, which come from segments above it. None of them calls the
    /// pool while others wait for its segment, see [`Cuts::get`].
    fn all(&self, segments: &mut [Segment], rooms: &mut [Room], crew: &Crew) -> Found {
        let cuts = Cuts::of(segments.len());
        let left = Mutex::new(segments.iter_mut().enumerate().rev());
        let next = || left.lock().expect("nobody panics while taking one").next();
        let rooms: Vec<Mutex<&mut Room>> = rooms.iter_mut().map(Mutex::new).collect();
        let found_by_all = Mutex::new(Found::NOTHING);
        crew.all(&|worker| {
            let room = &mut *rooms[worker].try_lock().expect("nobody else has this one");
            let mut found = Found::NOTHING;
            while let Some((k, segment)) = next() {
                {
                    let mut giving = cuts.giving(k);
                    giving.cut = self.across(segment, room);
                }
                found = found.merged(&self.within(segment, room, &cuts));
            }
            let mut all = found_by_all.lock().expect("nobody panics while merging");
            *all = all.merged(&found);
        });
        for (segment, cut) in segments.iter_mut().zip(cuts.into_each()) {
            segment.give_back(cut);
        }
        found_by_all.into_inner().expect("nobody panics while merging")
    }

    /// Walls, and pairs with images and across borders. Gives away what was found of the pairs across the border.
    fn across(&self, segment: &mut Segment, room: &mut Room) -> Cut {
        let By { model, grains, .. } = self.by;
        segment.losses.clear();
        segment.wall_sums.clear(model.walls.len());
        // SAFETY: nobody else's.
        let loads = unsafe { self.columns.loads(&segment.grains) };
        match self.wall_batch {
            Some(batch) => batch.sweep(model, self.frames, grains, segment, loads),
            None => walls::sweep(model, self.frames, grains, segment, loads),
        }
        match self.batch {
            Some(batch) => {
                // SAFETY: nobody else's.
                unsafe { batch.sweep_across(self.by, segment, loads.as_mut_ptr(), room) }
                segment.take_cut()
            }
            None => Cut::default(),
        }
    }

    /// The other pairs. Tells what was found when grains began the next step: nobody else looks at them any more, since all
    /// who have pairs with them have given their cuts.
    fn within(&self, segment: &mut Segment, room: &mut Room, cuts: &Cuts) -> Found {
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
