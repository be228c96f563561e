//! The working list: what a solver builds from model and state, keeps while it lasts, and may drop at any time.

use super::crew::Crew;
use super::margins::Margins;
use super::passes::Blocks;
use crate::contact::batch::{Batch, WallBatch};
use crate::contact::flats::Flat;
use crate::contact::list::{Pairs, Segment};
use crate::contact::near_pairs::Room;
use crate::contact::near_walls::Finder;
use crate::contact::shares::Pace;
use crate::contact::spots::Spots;
use crate::contact::visit;
use crate::integrate;
use crate::integrate::isotropic::Isotropic;
use crate::model::Model;
use crate::neighbor::{self, Candidates, Method, SearchError};
use crate::particles::{Motion, Particles, Place};
use crate::state::{State, held};
use std::sync::{Arc, Mutex};

/// Periodic copies that a worker makes at once.
const IMAGES: usize = 4096;

/// Everything that is built from model and state and may be dropped at any time.
pub struct WorkingList {
    /// The fast contact loop, if it can do the laws of the model.
    pub batch: Option<Batch>,
    /// The same for walls.
    pub wall_batch: Option<WallBatch>,
    /// The fast integration, if it can do the bodies and the scheme of the model.
    pub scheme: Option<Isotropic>,
    /// Without rows, which the segments have.
    pub candidates: Candidates,
    pub segments: Vec<Segment>,
    /// How these go from one step to the next.
    pub pace: Pace,
    /// One for each worker.
    pub rooms: Vec<Room>,
    /// The workers.
    pub crew: Arc<Crew>,
    /// What is known of each block of grains.
    pub blocks: Blocks,
    /// Of the general integration; empty with the fast one.
    pub scratch: integrate::Scratch,
    /// Velocities at the time of the force for fields that depend on them, if the fast integration goes on; else empty.
    pub now: Vec<Motion>,
    /// Kind of each grain, images included.
    pub kind: Vec<u16>,
    /// How far grains and walls may move while the list lasts.
    pub margins: Margins,
    /// Bound of the relative speed of any two grains in this step \[m/s\].
    pub relative_speed: f64,
    /// Side of each counting plane each grain is on.
    pub sides: Vec<i32>,
}

impl WorkingList {
    /// Memory held \[byte\].
    pub fn memory(&self) -> usize {
        let of_segment = |s: &Segment| {
            let walls = s.near_walls.memory_held() + held(&s.walls) + held(&s.walls_before) + held(&s.touches);
            let pairs: usize = s.parts.iter().map(Pairs::memory_held).sum();
            let spots: usize = s.spots.iter().map(Spots::memory_held).sum();
            let flats: usize = s.flats.iter().map(Flat::memory_held).sum();
            let opened = held(&s.opened) + held(&s.opened_below) + held(&s.sources) + held(&s.marks);
            pairs + walls + flats + spots + opened + s.told.memory_held()
        };
        let segments: usize = self.segments.iter().map(of_segment).sum();
        let rooms: usize = self.rooms.iter().map(Room::memory_held).sum();
        let c = &self.candidates;
        let candidates = held(&c.start) + held(&c.partner) + held(&c.images);
        let blocks = held(&self.blocks.found) + self.blocks.lost.iter().map(held).sum::<usize>();
        let grains = held(&self.kind) + blocks + self.margins.memory_held() + held(&self.sides);
        segments + rooms + candidates + grains + self.scratch.memory() + held(&self.now)
    }

    /// Puts the periodic copies behind the real grains; the mean velocities have a column of their own or none.
    pub fn refresh_images(&mut self, model: &Model, state: &mut State) {
        let (images, mean) = (&self.candidates.images, &mut self.scratch.mean);
        if images.is_empty() {
            return;
        }
        let p = &mut state.particles;
        let n = p.owned();
        let all = n + images.len();
        p.place.resize(all, p.place[0]);
        p.motion.resize(all, p.motion[0]);
        let (place, place_images) = p.place.split_at_mut(n);
        let (motion, motion_images) = p.motion.split_at_mut(n);
        let copies = place_images.chunks_mut(IMAGES).zip(motion_images.chunks_mut(IMAGES)).zip(images.chunks(IMAGES));
        let left = Mutex::new(copies);
        let next = || left.lock().expect("nobody panics while taking some").next();
        let worker = |_| {
            while let Some(((to, motion_to), images)) = next() {
                for ((to, motion_to), image) in to.iter_mut().zip(motion_to).zip(images) {
                    let Place { position, radius } = place[image.owner as usize];
                    *to = Place { position: position + model.cell.shift_vector(image.shift), radius };
                    *motion_to = motion[image.owner as usize];
                }
            }
        };
        if images.len() > IMAGES {
            self.crew.all(&worker)
        } else {
            worker(0)
        }
        if !mean.is_empty() {
            mean.truncate(n);
            images.iter().for_each(|image| mean.push(mean[image.owner as usize]));
        }
    }
}

/// Candidate pairs of which at least one grain can move.
pub fn search(model: &Model, particles: &Particles, margins: &Margins) -> Result<Candidates, SearchError> {
    let mut candidates = neighbor::search(&margins.around(&particles.place), &model.cell, 0.0, Method::Grid)?;
    super::events::drop_fixed_pairs(particles, &mut candidates);
    Ok(candidates)
}

/// Looks for walls near grains where they stand at time `t`.
pub fn wall_finder<'a>(model: &'a Model, state: &'a State, t: f64) -> Finder<'a> {
    let speed = |w: usize| super::events::approach_speed(&model.walls[w], &state.walls[w].base);
    Finder::new(model, state, visit::frames(model, state, t, 0.0), speed)
}
