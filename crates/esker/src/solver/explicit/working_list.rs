//! The working list: what a solver builds from model and state, keeps while it lasts, and may drop at any time.

use crate::contact::batch::{Batch, WallBatch};
use crate::contact::flats::Flat;
use crate::contact::list::{Pairs, Segment};
use crate::contact::near_walls::Finder;
use crate::contact::spots::Spots;
use crate::contact::visit;
use crate::integrate;
use crate::integrate::isotropic::Isotropic;
use crate::lanes;
use crate::math::Vec3;
use crate::model::Model;
use crate::neighbor::{self, Candidates, Method, SearchError};
use crate::particles::{Motion, Particles, Place};
use crate::state::{State, held};
use rayon::prelude::*;

/// Everything that is built from model and state and may be dropped at any time.
pub struct WorkingList {
    /// The fast contact loop, if it can do the laws of the model.
    pub batch: Option<Batch>,
    /// The same for walls.
    pub wall_batch: Option<WallBatch>,
    /// The fast integration, if it can do the bodies and the scheme of the model.
    pub scheme: Option<Isotropic>,
    pub candidates: Candidates,
    pub segments: Vec<Segment>,
    /// Of the general integration; empty with the fast one.
    pub scratch: integrate::Scratch,
    /// Velocities at the time of the force for fields that depend on them, if the fast integration goes on; else empty.
    pub now: Vec<Motion>,
    /// Kind of each grain, images included.
    pub kind: Vec<u16>,
    /// Positions when the list was built.
    pub reference: Vec<Vec3>,
    /// Bounds since then: how far two grains moved relative to each other, and a grain, and a wall \[m\].
    pub parted: f64,
    pub travelled: f64,
    /// Margin of the list \[m\], and steps since it was built.
    pub skin: f64,
    pub age: u64,
    /// Bound of the relative speed of any two grains in this step \[m/s\].
    pub relative_speed: f64,
    pub wall_speed: f64,
    pub wall_travelled: f64,
    /// Non-conservative field forces of this step, for the ledger.
    pub field_force: Vec<Vec3>,
    /// Side of each counting plane each grain is on.
    pub sides: Vec<i32>,
}

impl WorkingList {
    /// Whether two grains, or a grain and a wall, may have come within reach unseen.
    pub fn is_used_up(&self, has_walls: bool) -> bool {
        self.parted > self.skin || has_walls && self.travelled + self.wall_travelled > self.skin
    }

    /// Memory held \[byte\].
    pub fn memory(&self) -> usize {
        let of_segment = |s: &Segment| {
            let walls = s.near_walls.memory_held() + held(&s.walls) + held(&s.walls_before) + held(&s.touches);
            let pairs: usize = s.parts.iter().map(Pairs::memory_held).sum();
            let spots: usize = s.spots.iter().map(Spots::memory_held).sum();
            let flats: usize = s.flats.iter().map(Flat::memory_held).sum();
            pairs + walls + flats + spots + held(&s.sums) + s.wall_sums.memory_held()
        };
        let segments: usize = self.segments.iter().map(of_segment).sum();
        let c = &self.candidates;
        let candidates = held(&c.start) + held(&c.partner) + held(&c.images);
        let grains = held(&self.kind) + held(&self.reference) + held(&self.field_force) + held(&self.sides);
        segments + candidates + grains + self.scratch.memory() + held(&self.now)
    }
}

/// Candidate pairs of which at least one grain can move.
pub fn search(model: &Model, particles: &Particles, skin: f64) -> Result<Candidates, SearchError> {
    let mut candidates = neighbor::search(&particles.place, &model.cell, skin, Method::Grid)?;
    super::events::drop_fixed_pairs(particles, &mut candidates);
    Ok(candidates)
}

/// Puts the periodic copies behind the real grains; the mean velocities have a column of their own or none.
pub fn refresh_images(model: &Model, state: &mut State, candidates: &Candidates, mean: &mut Vec<Motion>) {
    if candidates.images.is_empty() {
        return;
    }
    let p = &mut state.particles;
    let (n, images) = (p.owned(), &candidates.images);
    let all = n + images.len();
    p.place.resize(all, p.place[0]);
    p.motion.resize(all, p.motion[0]);
    let (place, place_images) = p.place.split_at_mut(n);
    let (motion, motion_images) = p.motion.split_at_mut(n);
    let copies = place_images.par_iter_mut().zip(motion_images).zip(images).with_min_len(4096);
    copies.for_each(|((to, motion_to), image)| {
        let Place { position, radius } = place[image.owner as usize];
        *to = Place { position: position + model.cell.shift_vector(image.shift), radius };
        *motion_to = motion[image.owner as usize];
    });
    if !mean.is_empty() {
        mean.truncate(n);
        images.iter().for_each(|image| mean.push(mean[image.owner as usize]));
    }
}

/// Steps that a list should last: with fewer the search costs more than looking at more candidates would.
const LASTING: u64 = 60;

/// The margin for the next list, given how long the last one lasted: longer when it was used up quickly, shorter again
/// when it lasts long, between the margin of the model and half the smallest radius more.
pub fn next_skin(model: &Model, particles: &Particles, list: &WorkingList) -> f64 {
    // A list near its limit must not be made longer.
    let may_grow = list.candidates.partner.len() < lanes::MOST / 4;
    let wanted = match list.age {
        age if age < LASTING && may_grow => 1.4 * list.skin,
        age if age > 8 * LASTING => list.skin / 1.4,
        _ => list.skin,
    };
    let radii = || particles.place.iter().map(|place| place.radius);
    let largest = radii().fold(0.0, f64::max);
    let smallest_period = model.cell.length.iter().flatten().fold(f64::INFINITY, |a, &b| a.min(b));
    // A hair less than what the search allows.
    let room = (0.999 * smallest_period - 2.0 * largest).max(model.skin);
    let smallest = radii().fold(largest, f64::min);
    wanted.min(room).clamp(model.skin, model.skin + 0.5 * smallest)
}

/// Looks for walls near grains where they stand at time `t`.
pub fn wall_finder<'a>(model: &'a Model, state: &'a State, t: f64, skin: f64) -> Finder<'a> {
    let speed = |w: usize| super::events::approach_speed(&model.walls[w], &state.walls[w].base);
    Finder::new(model, state, visit::frames(model, state, t, 0.0), skin, speed)
}
