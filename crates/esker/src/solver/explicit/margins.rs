//! How far grains may move before the list of candidates has to be searched anew.
//!
//! A list holds the pairs whose gap is below the sum of both margins, and so stays complete as long as no grain has moved by
//! more than its margin in some frame, the same for all. Here that frame moves with the mean velocity of all grains, and
//! the margin is one for each block of grains, by how fast these are: a few that fly about shorten nobody's list.
//!
//! Where segments may be [a step ahead](Pace::Ahead) of others, a list must hold for a step that some grains have not begun. So
//! margins are told to be used up a step earlier: when the next one might use them up, with grains twice as fast as now and
//! faster still by twice what any two move relative to each other when the list is made, and a little. Contacts that take some steps to push grains apart speed none
//! up so much within one. Where it happens all the same, just when a margin is nearly used up, the run is told to be unstable.

use crate::contact::list::BLOCK;
use crate::contact::shares::Pace;
use crate::integrate::isotropic::{Found, Isotropic};
use crate::lanes;
use crate::math::Vec3;
use crate::model::Model;
use crate::particles::{Motion, Particles, Place};
use rayon::prelude::*;
use std::iter::successors;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// What making a list costs for each grain and for each candidate, as many times as much as one candidate more costs in a
/// step. Measured: 450 and 95 ns, and 1 to 5 ns; half of these numbers or three tenths more made no difference that could be seen.
const FOR_GRAIN: f64 = 220.0;
const FOR_CANDIDATE: f64 = 50.0;

/// Least and most steps a list is made for.
const LEAST_LASTING: f64 = 1.0;
const MOST_LASTING: f64 = 1600.0;

/// Segments may be ahead with lists that last this many steps or more: for others a step is too large a part of the margins.
const LASTING_AHEAD: f64 = 20.0;

/// What a grain at rest may come to move in a step while all others rest, in radii of the smallest. A contact with an overlap of δ makes it move (ω dt)² δ, where a
/// contact takes π/(ω dt) steps: a tenth of the overlap in ten steps.
const SUDDEN: f64 = 0.01;

/// Most of the margins, by the smallest, that may be for sudden moves. Else no segment is ahead.
const MOST_SUDDEN: f64 = 0.2;

/// Lists are tried that last longer by this factor.
const LONGER: f64 = 1.25;

/// How near each other grains are: candidates for a grain in a list without margins.
#[derive(Clone, Copy, Debug)]
pub struct Crowding(f64);

impl Default for Crowding {
    /// Of a dense packing, of which a fraction 0.6 is solid: half the centres within a diameter of another.
    fn default() -> Self {
        Self(4.0 * 0.6)
    }
}

/// Walls that come nearer.
#[derive(Clone, Copy, Debug)]
pub struct Approach {
    /// Largest speed at which they do \[m/s\].
    pub speed: f64,
    /// For how long they have done so when the list is made \[s\].
    pub ahead: f64,
}

/// The margins of a list, and how much of them is used up.
#[derive(Debug)]
pub struct Margins {
    /// Of each block of grains.
    blocks: Vec<Margin>,
    /// How many times as many candidates they let grains have as if there were none.
    widening: f64,
    /// Velocity of the frame \[m/s\].
    drift: Vec3,
    /// Where the frame has moved \[m\].
    drifted: Vec3,
    /// Where the grains were.
    reference: Vec<Vec3>,
    /// How far apart bodies may be for a force between them \[m\].
    range: f64,
    /// Margin of walls besides those of the grains \[m\].
    walls: f64,
    /// Speed of the walls, and how far they and the frame have moved \[m/s, m\].
    wall_speed: f64,
    walls_moved: f64,
    /// In which of the steps that were begun together the margin of some block was used up first; in none if that is the
    /// largest number.
    used_up: AtomicUsize,
    /// The same where grains have moved by more than the margin: the step, and in the lower half the block.
    exceeded: AtomicU64,
    /// What grains may move farther in a step than by twice what they do now, if segments may be ahead \[m\].
    sudden: Option<f64>,
}

/// Of the grains of a block \[m\].
#[derive(Clone, Copy, Debug)]
struct Margin {
    whole: f64,
    used: f64,
}

impl Margin {
    /// Whether it is used up when grains move by so much more. A little early, so that rounding hides no pair.
    fn is_used_up_by(&self, more: f64) -> bool {
        self.used + more > 0.999_999 * self.whole
    }
}

impl Margins {
    /// For grains as they move now and walls that approach them. Without a scheme that tells the velocities of blocks all have
    /// the same margin.
    pub fn new(
        model: &Model,
        particles: &Particles,
        scheme: Option<&Isotropic>,
        pace: Pace,
        crowding: Crowding,
        approach: Approach,
    ) -> Self {
        let n = particles.owned();
        let (places, motions) = (&particles.place[..n], &particles.motion[..n]);
        let sum = |block: &[Motion]| block.iter().map(|motion| motion.velocity).sum::<Vec3>();
        let sums: Vec<Vec3> = motions.par_chunks(4096).map(sum).collect();
        let mean = sums.into_iter().sum::<Vec3>() / n.max(1) as f64;
        let drift = if scheme.is_some() && mean.is_finite() { mean } else { Vec3::ZERO };
        let found: Vec<Found> = motions.par_chunks(BLOCK).map(Found::of).collect();
        let mut speeds: Vec<f64> = found.iter().map(|found| found.deviation(drift)).collect();
        if scheme.is_none() {
            let all = speeds.iter().copied().fold(0.0, f64::max);
            speeds.fill(all);
        }
        let Radii { smallest, mean: radius, largest } = Radii::of(places);
        let smallest_period = model.cell.length.iter().flatten().fold(f64::INFINITY, |a, &b| a.min(b));
        let least = 0.5 * model.skin;
        let range = model.laws.range(largest);
        // The search allows no more than a period, less a hair.
        let room = 0.5 * (0.999 * smallest_period - 2.0 * largest - range);
        let most = (least + smallest).min(room).max(least);
        let wall_speed = if model.walls.is_empty() { 0.0 } else { approach.speed + drift.length() };
        let relative = found.iter().fold(Found::NOTHING, |all, found| all.merged(found)).speeds().relative;
        let more = if pace == Pace::Ahead { SUDDEN * smallest } else { 0.0 };
        let choice = Choice { speeds: &speeds, dt: model.dt, least, most, more, radius };
        let most_to_walls = model.skin + largest;
        let lasting = choice.lasting(crowding, n, most_to_walls / (model.dt * wall_speed));
        let faster = 2.0 * relative + approach.speed + drift.length();
        let sudden = model.dt * faster + more;
        let is_little = sudden <= MOST_SUDDEN * (least + more) && lasting >= LASTING_AHEAD;
        let to_walls = (lasting * model.dt * wall_speed).max(least).min(most_to_walls);
        Self {
            blocks: speeds.iter().map(|&speed| Margin { whole: choice.whole(lasting, speed), used: 0.0 }).collect(),
            widening: choice.widening(lasting),
            drift,
            drifted: Vec3::ZERO,
            reference: places.par_iter().with_min_len(4096).map(|place| place.position).collect(),
            range,
            walls: if model.walls.is_empty() { f64::INFINITY } else { to_walls },
            wall_speed,
            walls_moved: approach.speed * approach.ahead,
            used_up: AtomicUsize::new(usize::MAX),
            exceeded: AtomicU64::new(u64::MAX),
            sudden: (pace == Pace::Ahead && is_little).then_some(sudden),
        }
    }

    /// What a list with so many pairs tells of how near each other its grains are.
    pub fn crowding(&self, pairs: usize) -> Crowding {
        match self.reference.len() {
            0 => Crowding::default(),
            n => Crowding(pairs as f64 / (n as f64 * self.widening)),
        }
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
        self.go_on(1, dt);
        let blocks = self.blocks.as_mut_ptr();
        self.spending(blocks, 0, 0, dt)
    }

    /// Begins so many steps of length `dt` one after another, over each of which each block has to use up its own. Those that are
    /// made count when the margins [have gone on](Self::go_on).
    pub fn over_steps(&mut self, steps: usize, dt: f64) -> Vec<Spending<'_>> {
        let blocks = self.blocks.as_mut_ptr();
        (0..steps).map(|step| self.spending(blocks, step, step + 1, dt)).collect()
    }

    /// Over step number `step`, which ends `ahead` steps from now.
    fn spending(&self, blocks: *mut Margin, step: usize, ahead: usize, dt: f64) -> Spending<'_> {
        Spending {
            step,
            blocks,
            drift: self.drift,
            drifted: self.drifted + self.drift * (dt * ahead as f64),
            count: self.blocks.len(),
            reference: &self.reference,
            used_up: &self.used_up,
            exceeded: &self.exceeded,
            sudden: self.sudden,
            dt,
        }
    }

    /// Goes on by so many steps: frame and walls.
    pub fn go_on(&mut self, steps: usize, dt: f64) {
        self.drifted += self.drift * (dt * steps as f64);
        self.walls_moved += self.wall_speed * (dt * steps as f64);
    }

    /// How many steps may be begun one after another before somebody has to look whether margins are used up. In more than one
    /// segments may be ahead of others.
    pub fn steps_in_one_go(&self, dt: f64) -> u64 {
        // Walls have a margin of their own, which goes by time.
        let to_walls = ((self.walls - self.walls_moved) / (self.wall_speed * dt)) as u64;
        if self.sudden.is_some() { to_walls.max(1) } else { 1 }
    }

    /// Whether two grains, or a grain and a wall, may have come within reach unseen.
    pub fn are_used_up(&self) -> bool {
        self.used_up.load(Ordering::Relaxed) < usize::MAX || self.walls_moved > self.walls
    }

    /// Memory held \[byte\].
    pub fn memory_held(&self) -> usize {
        crate::state::held(&self.blocks) + crate::state::held(&self.reference)
    }
}

/// What a list with so many candidates for a grain costs for a grain and step if it lasts so long, in candidates.
fn cost(steps: f64, candidates: f64) -> f64 {
    (FOR_GRAIN + FOR_CANDIDATE * candidates) / steps + candidates
}

/// What margins may be chosen for.
struct Choice<'a> {
    /// Of the blocks \[m/s\].
    speeds: &'a [f64],
    dt: f64,
    /// Bounds of the margins \[m\].
    least: f64,
    most: f64,
    /// What margins have besides \[m\].
    more: f64,
    /// Mean radius \[m\].
    radius: f64,
}

impl Choice<'_> {
    /// Margin of a block that is to last so many steps \[m\].
    fn whole(&self, steps: f64, speed: f64) -> f64 {
        // In this order: a speed that is no number gets the least.
        (steps * self.dt * speed).max(self.least).min(self.most) + self.more
    }

    /// How many times as many candidates such margins let grains have as none: as if all had the mean margin and radius.
    fn widening(&self, steps: f64) -> f64 {
        let mean = self.speeds.iter().map(|&speed| self.whole(steps, speed)).sum::<f64>() / self.speeds.len() as f64;
        (1.0 + mean / self.radius).powi(3)
    }

    /// Steps that a list of `grains` should last, `most` at most, so that making lists and looking at candidates cost least.
    fn lasting(&self, crowding: Crowding, grains: usize, most: f64) -> f64 {
        // The fastest grains end a list: with the least margins it lasts so long, and with the largest so long.
        let fastest = self.dt * self.speeds.iter().copied().fold(0.0, f64::max);
        let longest = (self.most / fastest).min(most).min(MOST_LASTING);
        let shortest = (self.least / fastest).max(LEAST_LASTING).min(longest);
        let longer = |steps: &f64| Some((LONGER * steps).min(longest)).filter(|longer| longer > steps);
        let mut best = (shortest, f64::INFINITY);
        for steps in successors(Some(shortest), longer) {
            let candidates = crowding.0 * self.widening(steps);
            let cost = cost(steps, candidates);
            // A list near its limit must not be made longer.
            let fits = candidates * (grains as f64) < lanes::MOST as f64 / 4.0;
            if !fits || cost >= best.1 {
                break;
            }
            best = (steps, cost);
        }
        best.0
    }
}

/// What is asked of the radii of all grains \[m\].
struct Radii {
    smallest: f64,
    mean: f64,
    largest: f64,
}

impl Radii {
    fn of(places: &[Place]) -> Self {
        let of_some = |places: &[Place]| {
            let radii = || places.iter().map(|place| place.radius);
            [radii().fold(f64::INFINITY, f64::min), radii().sum(), radii().fold(0.0, f64::max)]
        };
        // Added up in fixed order, for the same list with any number of threads.
        let parts: Vec<[f64; 3]> = places.par_chunks(4096).map(of_some).collect();
        let all =
            parts.into_iter().fold([f64::INFINITY, 0.0, 0.0], |a, b| [a[0].min(b[0]), a[1] + b[1], a[2].max(b[2])]);
        Self { smallest: all[0], mean: all[1] / places.len() as f64, largest: all[2] }
    }
}

/// Margins while a step uses them up, for workers that each do other blocks; every block has to be done once.
#[derive(Clone, Copy)]
#[must_use]
pub struct Spending<'a> {
    /// Its number among those begun together.
    step: usize,
    blocks: *mut Margin,
    count: usize,
    drift: Vec3,
    drifted: Vec3,
    reference: &'a [Vec3],
    used_up: &'a AtomicUsize,
    exceeded: &'a AtomicU64,
    sudden: Option<f64>,
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

    /// Whether a margin was used up in this step or one before it, once all blocks have made these.
    pub fn is_used_up(&self) -> bool {
        self.used_up.load(Ordering::Relaxed) <= self.step
    }

    /// The first block whose margin was used up in this step, while none was told to be in the step before, though it should have been, once all
    /// blocks have made it.
    pub fn first_sudden(&self) -> Option<usize> {
        let (told, first) = (self.used_up.load(Ordering::Relaxed), self.exceeded.load(Ordering::Relaxed));
        let is_sudden = self.sudden.is_some() && told == self.step && first >> 32 == self.step as u64;
        is_sudden.then_some(first as u32 as usize)
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
        let more = self.sudden.map_or(0.0, |sudden| sudden + 2.0 * self.dt * speed);
        margin.used += self.dt * speed;
        if margin.is_used_up_by(more) {
            // The bounds have been used up: look at the real displacements.
            let moved = reference.map(|(before, place)| (place.position - *before - self.drifted).length());
            margin.used = moved.fold(0.0, f64::max);
        }
        if margin.is_used_up_by(more) {
            self.used_up.fetch_min(self.step, Ordering::Relaxed);
        }
        if margin.is_used_up_by(0.0) {
            self.exceeded.fetch_min((self.step as u64) << 32 | block as u64, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Margins of 1 m around so many grains along z, in a frame with a velocity, and to walls with a speed.
    fn with_margins(grains: usize, drift: Vec3, wall_speed: f64) -> Margins {
        Margins {
            blocks: vec![Margin { whole: 1.0, used: 0.0 }; grains.div_ceil(BLOCK)],
            widening: 1.0,
            drift,
            drifted: Vec3::ZERO,
            reference: (0..grains).map(|i| i as f64 * Vec3::Z).collect(),
            range: 0.0,
            walls: 1.0,
            wall_speed,
            walls_moved: 0.0,
            used_up: AtomicUsize::new(usize::MAX),
            exceeded: AtomicU64::new(u64::MAX),
            sudden: None,
        }
    }

    #[test]
    fn margins_are_used_up_by_what_grains_have_moved_in_the_frame_not_by_bounds_of_it() {
        let (grains, last) = (BLOCK + 36, BLOCK + 35);
        let mut margins = with_margins(grains, Vec3::X, 0.0);
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
        let mut margins = with_margins(1, Vec3::ZERO, 0.0);
        let places = [Place { position: 7.0 * Vec3::X, radius: 1.0 }];
        for (step, used_up) in [(1, false), (2, false), (3, true)] {
            margins.spend(&places, 0.4, 1.0);
            assert_eq!(margins.are_used_up(), used_up, "step {step}");
        }
    }

    /// What is told of margins of 1 m, with 0.1 m for sudden moves, of two blocks whose grains move by so much in each step: whether they are used up, and which suddenly.
    fn told_where_some_are_ahead(steps: &[[f64; 2]]) -> Vec<(bool, Option<usize>)> {
        let mut margins = Margins { sudden: Some(0.1), ..with_margins(2 * BLOCK, Vec3::ZERO, 0.0) };
        let mut places: Vec<Place> =
            (0..2 * BLOCK).map(|i| Place { position: i as f64 * Vec3::Z, radius: 1.0 }).collect();
        let spending = margins.over_steps(steps.len(), 1.0);
        let tell = |(spending, moves): (&Spending, &[f64; 2])| {
            for (block, move_by) in moves.iter().enumerate() {
                let grains = &mut places[block * BLOCK..(block + 1) * BLOCK];
                grains.iter_mut().for_each(|place| place.position.x += move_by);
                // SAFETY: nobody else is at work.
                unsafe { spending.block(block, *move_by, grains) };
            }
            (spending.is_used_up(), spending.first_sudden())
        };
        spending.iter().zip(steps).map(tell).collect()
    }

    #[test]
    fn where_segments_may_be_ahead_margins_are_told_to_be_used_up_a_step_before_they_are() {
        // After 0.5 m the first might move by another 0.5 m, and 0.1 m more.
        let told = told_where_some_are_ahead(&[[0.25, 0.1], [0.25, 0.1], [0.25, 0.1], [0.5, 0.1]]);
        assert_eq!(told, [(false, None), (true, None), (true, None), (true, None)]);
    }

    #[test]
    fn grains_that_become_more_than_twice_as_fast_and_faster_still_are_sudden_if_that_uses_up_their_margin() {
        assert_eq!(told_where_some_are_ahead(&[[0.1, 0.2], [0.1, 0.9]]), [(false, None), (true, Some(1))]);
        // Less than that, or after it was told.
        assert_eq!(told_where_some_are_ahead(&[[0.1, 0.2], [0.1, 0.75]]), [(false, None), (true, None)]);
        let late = told_where_some_are_ahead(&[[0.25, 0.1], [0.25, 0.1], [0.1, 0.9]]);
        assert_eq!(late, [(false, None), (true, None), (true, None)]);
    }

    #[test]
    fn walls_use_up_their_margin_by_their_speed() {
        let mut margins = with_margins(0, Vec3::ZERO, 0.4);
        margins.spend(&[], 0.0, 2.0);
        assert!(!margins.are_used_up(), "0.8 of 1");
        margins.spend(&[], 0.0, 2.0);
        assert!(margins.are_used_up(), "1.6 of 1");
    }

    /// For blocks with these speeds, in radii a step.
    fn choice(speeds: &[f64]) -> Choice<'_> {
        Choice { speeds, dt: 1.0, least: 0.1, most: 1.1, more: 0.0, radius: 1.0 }
    }

    #[test]
    fn no_list_that_lasts_longer_or_shorter_is_cheaper_by_more_than_a_fiftieth() {
        for (speed, crowding) in
            [(1e-5, 2.4), (3e-4, 2.4), (1e-3, 2.4), (3e-3, 2.4), (1e-2, 2.4), (1e-3, 0.1), (1e-2, 0.01)]
        {
            let slow_and_fast = [speed, 0.1 * speed, 0.01 * speed, 0.0];
            for speeds in [&slow_and_fast[..1], &slow_and_fast] {
                let choice = choice(speeds);
                let cost = |steps: f64| cost(steps, crowding * choice.widening(steps));
                let chosen = choice.lasting(Crowding(crowding), 1000, f64::INFINITY);
                let longest = (choice.most / speed).min(MOST_LASTING);
                let shortest = (choice.least / speed).min(longest);
                let least = (0..=1000).map(|k| shortest * (longest / shortest).powf(f64::from(k) / 1000.0)).map(cost);
                let least = least.fold(f64::INFINITY, f64::min);
                assert!(cost(chosen) < 1.02 * least, "{speed} {crowding}: {chosen} steps, {} to {least}", cost(chosen));
            }
        }
    }

    #[test]
    fn where_grains_are_far_apart_or_few_of_them_fast_lists_last_longer_and_where_there_are_too_many_not() {
        let lasting = |speeds: &[f64], crowding, n| choice(speeds).lasting(Crowding(crowding), n, f64::INFINITY);
        let all_fast = lasting(&[2e-3; 4], 2.4, 1000);
        assert!((50.0..150.0).contains(&all_fast), "{all_fast}");
        assert!(lasting(&[2e-3; 4], 0.05, 1000) > 2.0 * all_fast);
        assert!(lasting(&[2e-3, 0.0, 0.0, 0.0, 0.0, 0.0], 2.4, 1000) > 1.5 * all_fast);
        assert_eq!(lasting(&[2e-3; 4], 2.4, lanes::MOST), 50.0, "the least margins");
        assert_eq!(lasting(&[0.0; 4], 2.4, 1000), MOST_LASTING);
        let no_skin = Choice { least: 0.0, ..choice(&[2e-3; 4]) };
        assert!(no_skin.lasting(Crowding(2.4), 1000, f64::INFINITY) > 0.5 * all_fast);
        assert_eq!(choice(&[2e-3; 4]).lasting(Crowding(0.05), 1000, 60.0), 60.0, "walls are faster");
        assert_eq!(lasting(&[], 2.4, 0), MOST_LASTING, "no grains at all");
    }

    #[test]
    fn a_list_tells_the_next_how_crowded_it_was() {
        let margins = Margins { widening: 1.5, ..with_margins(1000, Vec3::ZERO, 0.0) };
        assert!((margins.crowding(3600).0 - 2.4).abs() < 1e-12);
        assert_eq!(with_margins(0, Vec3::ZERO, 0.0).crowding(0).0, 2.4, "nothing known");
    }
}
