//! How far grains may move before the list of candidates has to be searched anew.
//!
//! A list holds the pairs whose gap is below the sum of both margins, and so stays complete as long as no grain has moved by
//! more than its margin in some frame, the same for all. Here that frame moves with the mean velocity of all grains, and
//! the margin is one for each block of grains, by how fast these are: a few that fly about shorten nobody's list.

use crate::contact::list::BLOCK;
use crate::integrate::isotropic::{Found, Isotropic};
use crate::lanes;
use crate::math::Vec3;
use crate::model::Model;
use crate::particles::{Motion, Particles, Place};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Steps that a list should last at least: with fewer the search costs more than looking at more candidates would.
const LASTING: f64 = 100.0;

/// Most steps a list is made for.
const MOST_LASTING: f64 = 1600.0;

/// By how much margins may be longer on average for the sake of a list that lasts longer.
const LENGTHENING: f64 = 1.2;

/// The margins of a list, and how much of them is used up.
#[derive(Debug)]
pub struct Margins {
    /// Of each block of grains.
    blocks: Vec<Margin>,
    /// Steps they should last.
    lasting: f64,
    /// Velocity of the frame \[m/s\].
    drift: Vec3,
    /// Where the frame has moved \[m\].
    drifted: Vec3,
    /// Where the grains were.
    reference: Vec<Vec3>,
    /// Largest radius \[m\].
    largest: f64,
    /// How far apart bodies may be for a force between them \[m\].
    range: f64,
    /// Margin of walls besides those of the grains \[m\].
    walls: f64,
    /// Speed of the walls, and how far they and the frame have moved \[m/s, m\].
    wall_speed: f64,
    walls_moved: f64,
    /// Whether the margin of some block is used up.
    used_up: AtomicBool,
}

/// Of the grains of a block \[m\].
#[derive(Clone, Copy, Debug)]
struct Margin {
    whole: f64,
    used: f64,
}

impl Margin {
    /// A little early, so that rounding hides no pair.
    fn is_used_up(&self) -> bool {
        self.used > 0.999_999 * self.whole
    }
}

impl Margins {
    /// For grains as they move now, with `pairs_before` candidates in the last list. Without a scheme that tells the velocities
    /// of blocks all have the same margin.
    pub fn new(model: &Model, particles: &Particles, scheme: Option<&Isotropic>, pairs_before: usize) -> Self {
        let n = particles.owned();
        let (places, motions) = (&particles.place[..n], &particles.motion[..n]);
        let sum = |block: &[Motion]| block.iter().map(|motion| motion.velocity).sum::<Vec3>();
        let sums: Vec<Vec3> = motions.par_chunks(4096).map(sum).collect();
        let mean = sums.into_iter().sum::<Vec3>() / n.max(1) as f64;
        let drift = if scheme.is_some() && mean.is_finite() { mean } else { Vec3::ZERO };
        let mut speeds: Vec<f64> = motions.par_chunks(BLOCK).map(|block| Found::of(block).deviation(drift)).collect();
        if scheme.is_none() {
            let all = speeds.iter().copied().fold(0.0, f64::max);
            speeds.fill(all);
        }
        let radii = || places.par_iter().with_min_len(4096).map(|place| place.radius);
        let largest = radii().reduce(|| 0.0, f64::max);
        let smallest = radii().reduce(|| largest, f64::min);
        let smallest_period = model.cell.length.iter().flatten().fold(f64::INFINITY, |a, &b| a.min(b));
        let least = 0.5 * model.skin;
        // A list near its limit must not be made longer, and the search allows no more than a period, less a hair.
        let range = model.laws.range(largest);
        let room = 0.5 * (0.999 * smallest_period - 2.0 * largest - range);
        let most = if pairs_before < lanes::MOST / 4 { least + 0.25 * smallest } else { least };
        let most = most.min(room).max(least);
        // In this order: a speed that is no number gets the least.
        let whole = |steps: f64, speed: f64| (steps * model.dt * speed).max(least).min(most);
        // Where few grains move much a list may last longer without becoming much longer.
        let sum = |steps: f64| speeds.iter().map(|&speed| whole(steps, speed)).sum::<f64>();
        let mut lasting = LASTING;
        while lasting < MOST_LASTING && sum(2.0 * lasting) < LENGTHENING * sum(LASTING) {
            lasting *= 2.0;
        }
        Self {
            blocks: speeds.iter().map(|&speed| Margin { whole: whole(lasting, speed), used: 0.0 }).collect(),
            lasting,
            drift,
            drifted: Vec3::ZERO,
            reference: places.par_iter().with_min_len(4096).map(|place| place.position).collect(),
            largest,
            range,
            walls: f64::INFINITY,
            wall_speed: 0.0,
            walls_moved: 0.0,
            used_up: AtomicBool::new(false),
        }
    }

    /// Takes walls, if there are any, into account that come nearer at a speed of at most `speed` \[m/s\] and have come
    /// nearer for a time `ahead` already \[s\].
    pub fn with_walls(mut self, model: &Model, speed: f64, ahead: f64) -> Self {
        self.wall_speed = speed + self.drift.length();
        self.walls_moved = speed * ahead;
        let wanted = self.lasting * model.dt * self.wall_speed;
        if !model.walls.is_empty() {
            self.walls = wanted.max(0.5 * model.skin).min(model.skin + self.largest);
        }
        self
    }

    /// Margin of a grain \[m\].
    fn of(&self, grain: usize) -> f64 {
        self.blocks[grain / BLOCK].whole
    }

    /// How near a wall may be to a grain for their contact to be looked at \[m\].
    pub fn to_walls(&self, grain: usize) -> f64 {
        self.of(grain) + self.walls + self.range
    }

    /// The grains with their margins.
    pub fn around(&self, places: &[Place]) -> Vec<Place> {
        let grown =
            |(i, place): (usize, &Place)| Place { radius: place.radius + (self.of(i) + 0.5 * self.range), ..*place };
        places.par_iter().enumerate().with_min_len(4096).map(grown).collect()
    }

    /// Lets all grains, which move by at most `speed` in the frame \[m/s\] and stand at `places` then, use them up over a step of length `dt`.
    pub fn spend(&mut self, places: &[Place], speed: f64, dt: f64) {
        let spending = self.over_step(dt);
        let blocks = places[..spending.reference.len()].par_chunks(BLOCK).enumerate().with_min_len(256);
        // SAFETY: blocks have different margins, and nobody else is at work.
        blocks.for_each(|(block, places)| unsafe { spending.block(block, speed, places) });
    }

    /// Begins a step of length `dt`, over which each block has to use up its own.
    pub fn over_step(&mut self, dt: f64) -> Spending<'_> {
        self.drifted += self.drift * dt;
        self.walls_moved += self.wall_speed * dt;
        Spending {
            blocks: self.blocks.as_mut_ptr(),
            drift: self.drift,
            drifted: self.drifted,
            count: self.blocks.len(),
            reference: &self.reference,
            used_up: &self.used_up,
            dt,
        }
    }

    /// Whether two grains, or a grain and a wall, may have come within reach unseen.
    pub fn are_used_up(&self) -> bool {
        self.used_up.load(Ordering::Relaxed) || self.walls_moved > self.walls
    }

    /// Memory held \[byte\].
    pub fn memory_held(&self) -> usize {
        crate::state::held(&self.blocks) + crate::state::held(&self.reference)
    }
}

/// Margins while a step uses them up, for workers that each do other blocks; every block has to be done once.
#[derive(Clone, Copy)]
#[must_use]
pub struct Spending<'a> {
    blocks: *mut Margin,
    count: usize,
    drift: Vec3,
    drifted: Vec3,
    reference: &'a [Vec3],
    used_up: &'a AtomicBool,
    dt: f64,
}

// SAFETY: who asks makes sure that nobody else is at work on the same block, see `block`.
unsafe impl Send for Spending<'_> {}
// SAFETY: likewise.
unsafe impl Sync for Spending<'_> {}

impl Spending<'_> {
    /// Velocity of the frame in which grains move \[m/s\].
    pub fn drift(&self) -> Vec3 {
        self.drift
    }

    /// Lets the grains of a block, which move by at most `speed` in the frame \[m/s\] and stand at `places` then, use up theirs.
    ///
    /// # Safety
    /// Nobody else asks for this block meanwhile.
    pub unsafe fn block(&self, block: usize, speed: f64, places: &[Place]) {
        assert!(block < self.count);
        let reference = self.reference[block * BLOCK..].iter().zip(places);
        // SAFETY: it is there, and the caller's.
        let margin = unsafe { &mut *self.blocks.add(block) };
        margin.used += self.dt * speed;
        if margin.is_used_up() {
            // The bounds have been used up: look at the real displacements.
            let moved = reference.map(|(before, place)| (place.position - *before - self.drifted).length());
            margin.used = moved.fold(0.0, f64::max);
        }
        if margin.is_used_up() {
            self.used_up.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Margins of 1 m around so many grains along z, in a frame with a velocity, and to walls with a speed.
    fn margins(grains: usize, drift: Vec3, wall_speed: f64) -> Margins {
        Margins {
            blocks: vec![Margin { whole: 1.0, used: 0.0 }; grains.div_ceil(BLOCK)],
            lasting: LASTING,
            drift,
            drifted: Vec3::ZERO,
            reference: (0..grains).map(|i| i as f64 * Vec3::Z).collect(),
            largest: 1.0,
            range: 0.0,
            walls: 1.0,
            wall_speed,
            walls_moved: 0.0,
            used_up: AtomicBool::new(false),
        }
    }

    #[test]
    fn margins_are_used_up_by_what_grains_have_moved_in_the_frame_not_by_bounds_of_it() {
        let (grains, last) = (BLOCK + 36, BLOCK + 35);
        let mut margins = margins(grains, Vec3::X, 0.0);
        let place = |i: usize| Place { position: Vec3::X + i as f64 * Vec3::Z, radius: 1.0 };
        let mut places: Vec<Place> = (0..grains).map(place).collect();
        margins.spend(&places, 5.0, 1.0);
        assert!(!margins.are_used_up(), "all have moved with the frame");
        places.iter_mut().for_each(|place| place.position.x = 2.0);
        places[last].position.y = 0.999;
        margins.spend(&places, 5.0, 1.0);
        assert!(!margins.are_used_up(), "one has moved by less than its margin");
        places.iter_mut().for_each(|place| place.position.x = 3.0);
        places[last].position.y = 1.0;
        margins.spend(&places, 5.0, 1.0);
        assert!(margins.are_used_up(), "one has moved by its margin, in the last, short block");
    }

    #[test]
    fn nobody_looks_where_grains_are_before_the_bounds_are_used_up() {
        let mut margins = margins(1, Vec3::ZERO, 0.0);
        let places = [Place { position: 7.0 * Vec3::X, radius: 1.0 }];
        for (step, used_up) in [(1, false), (2, false), (3, true)] {
            margins.spend(&places, 0.4, 1.0);
            assert_eq!(margins.are_used_up(), used_up, "step {step}");
        }
    }

    #[test]
    fn walls_use_up_their_margin_by_their_speed() {
        let mut margins = margins(0, Vec3::ZERO, 0.4);
        margins.spend(&[], 0.0, 2.0);
        assert!(!margins.are_used_up(), "0.8 of 1");
        margins.spend(&[], 0.0, 2.0);
        assert!(margins.are_used_up(), "1.6 of 1");
    }
}
