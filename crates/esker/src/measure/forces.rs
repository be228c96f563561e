//! How forces are distributed over the contacts between grains: sizes, mobilised friction, directions of the strong ones.
//!
//! Forces are taken over the mean of their cell, so that with cells as layers the load of the bed itself does not count as spread.

use super::cells::Cells;
use crate::contact::visit::{self, ContactForce, Other};
use crate::law::tangential::TangentialLaw;
use crate::math::Vec3;
use crate::model::Model;
use crate::state::State;

/// Width of the bins of normal forces, over their mean.
const FORCE_BIN: f64 = 0.1;
/// Bins of mobilised friction between 0 and 1.
const FRICTION_BINS: usize = 20;
/// Width of the bins of directions \[degree\].
const DIRECTION_BIN: f64 = 10.0;
/// A contact with this share of the largest tangential force slides.
const SLIDING: f64 = 0.99;

/// Whether a value is above a mean, and not by rounding: in a lattice all are equal.
pub(super) fn is_above(value: f64, mean: f64) -> bool {
    value > mean * (1.0 + 1e-9)
}

/// Numbers of contacts in equal bins from 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Width of a bin.
    pub width: f64,
    /// Contacts in each.
    pub counts: Vec<f64>,
}

impl Histogram {
    /// Empty bins.
    fn new(width: f64, bins: usize) -> Self {
        Self { width, counts: vec![0.0; bins] }
    }

    /// Counts a value that is not negative; those beyond the last bin count in it.
    fn add(&mut self, value: f64, share: f64) {
        let last = self.counts.len() - 1;
        self.counts[((value / self.width) as usize).min(last)] += share;
    }

    /// All contacts.
    pub fn total(&self) -> f64 {
        self.counts.iter().sum()
    }

    /// Edges of the bins and what fell into each.
    pub fn bins(&self) -> impl Iterator<Item = ([f64; 2], f64)> {
        let edge = |k: usize| k as f64 * self.width;
        self.counts.iter().enumerate().map(move |(k, &n)| ([edge(k), edge(k + 1)], n))
    }
}

/// Exponential tail of a distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tail {
    /// β of exp(−β f/⟨f⟩).
    pub exponent: f64,
    /// Its standard error.
    pub error: f64,
    /// Contacts it was found from.
    pub contacts: f64,
}

impl Tail {
    /// The most likely exponent of values above one, each with its share: one over the mean excess, with a relative standard error of
    /// one over the root of their number. `None` without any.
    pub fn of(values: impl Iterator<Item = (f64, f64)>) -> Option<Self> {
        let above = values.filter(|(x, _)| is_above(*x, 1.0));
        let (contacts, excess) = above.fold((0.0, 0.0), |(n, sum), (x, share)| (n + share, sum + share * (x - 1.0)));
        let exponent = contacts / excess;
        (excess > 0.0).then(|| Self { exponent, error: exponent / contacts.sqrt(), contacts })
    }
}

/// What the directions of contacts are measured from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Directions {
    /// Angle from the x axis, 0° to 180°, in a planar scene.
    FromX,
    /// Inclination from this unit vector against gravity, or from z without gravity: 0° to 90°.
    FromVertical(Vec3),
}

impl Directions {
    /// For a scene.
    pub fn of(model: &Model) -> Self {
        match model.planar {
            true => Directions::FromX,
            false => Directions::FromVertical((-model.uniform_acceleration()).normalize_or(Vec3::Z)),
        }
    }

    /// Direction of a line \[degree\].
    pub fn angle(&self, line: Vec3) -> f64 {
        match self {
            Directions::FromX => line.y.atan2(line.x).to_degrees().rem_euclid(180.0),
            Directions::FromVertical(up) => line.dot(*up).abs().clamp(0.0, 1.0).acos().to_degrees(),
        }
    }

    /// Largest angle \[degree\].
    fn largest(&self) -> f64 {
        match self {
            Directions::FromX => 180.0,
            Directions::FromVertical(_) => 90.0,
        }
    }

    /// Share of isotropic lines between two angles.
    pub fn isotropic(&self, [from, to]: [f64; 2]) -> f64 {
        match self {
            Directions::FromX => (to - from) / 180.0,
            Directions::FromVertical(_) => from.to_radians().cos() - to.to_radians().cos(),
        }
    }
}

/// Distributions over the contacts between grains that push.
#[derive(Clone, Debug, PartialEq)]
pub struct Forces {
    /// Mean normal force of each cell; zero where nothing pushes \[N\].
    pub means: Vec<f64>,
    /// Contacts between grains that do not push: bridges, necks, surfaces that part.
    pub not_pushing: f64,
    /// Normal force over the mean of its cell, in bins of a tenth.
    pub normal: Histogram,
    /// The largest of these.
    pub largest: f64,
    /// Exponential tail of those above the mean.
    pub tail: Option<Tail>,
    /// Tangential force over the largest that friction holds, f_t/(μ f_n), in 20 bins; what is above 1 is in the last. Contacts without
    /// friction do not count.
    pub mobilised: Histogram,
    /// Mean of f_t/(μ f_n); `None` without friction.
    pub mean_mobilised: Option<f64>,
    /// Share of contacts that slide: f_t above 0.99 μ f_n.
    pub sliding: f64,
    /// What directions are measured from.
    pub directions: Directions,
    /// Directions of the contacts with more than the mean of their cell, by 10°.
    pub strong: Histogram,
}

/// Calls `f` for every contact between grains in the box, with the cell of its point.
fn pairs(model: &Model, state: &State, cells: &Cells, mut f: impl FnMut(&ContactForce, usize, usize)) {
    visit::for_each(model, state, |c| {
        if let Other::Grain(j) = c.other
            && let Some(cell) = cells.holding(model, c.point)
        {
            f(&c, j, cell);
        }
    });
}

/// Mean normal force of the contacts between grains that push, in each cell \[N\].
pub fn means(model: &Model, state: &State, cells: &Cells) -> Vec<f64> {
    let mut sums = vec![[0.0; 2]; cells.number()];
    pairs(model, state, cells, |c, _, cell| {
        if c.normal_force > 0.0 {
            sums[cell] = [sums[cell][0] + c.share * c.normal_force, sums[cell][1] + c.share];
        }
    });
    sums.iter().map(|[sum, n]| if *n > 0.0 { sum / n } else { 0.0 }).collect()
}

/// Distributions over the contacts between grains.
pub fn distributions(model: &Model, state: &State, cells: &Cells) -> Forces {
    let p = &state.particles;
    let means = means(model, state, cells);
    let directions = Directions::of(model);
    let mut strong = Histogram::new(DIRECTION_BIN, (directions.largest() / DIRECTION_BIN) as usize);
    let mut mobilised = Histogram::new(1.0 / FRICTION_BINS as f64, FRICTION_BINS);
    let (mut not_pushing, mut used, mut sliding) = (0.0, 0.0, 0.0);
    let mut ratios = Vec::new();
    pairs(model, state, cells, |c, j, cell| {
        if c.normal_force <= 0.0 {
            not_pushing += c.share;
            return;
        }
        let ratio = c.normal_force / means[cell];
        ratios.push((ratio, c.share));
        if is_above(ratio, 1.0) {
            strong.add(directions.angle(c.normal()), c.share);
        }
        let law = model.laws.law(model.material_of(p.kind[c.i]), model.material_of(p.kind[j]));
        let friction = law.tangential.friction();
        if friction > 0.0 {
            let share_used = c.tangential_force() / (friction * c.normal_force);
            mobilised.add(share_used, c.share);
            used += c.share * share_used;
            sliding += if share_used > SLIDING { c.share } else { 0.0 };
        }
    });
    let largest = ratios.iter().fold(0.0f64, |largest, (ratio, _)| largest.max(*ratio));
    let mut normal = Histogram::new(FORCE_BIN, (largest / FORCE_BIN) as usize + 1);
    ratios.iter().for_each(|&(ratio, share)| normal.add(ratio, share));
    let rubbing = mobilised.total();
    Forces {
        means,
        not_pushing,
        normal,
        largest,
        tail: Tail::of(ratios.into_iter()),
        mobilised,
        mean_mobilised: (rubbing > 0.0).then(|| used / rubbing),
        sliding: if rubbing > 0.0 { sliding / rubbing } else { 0.0 },
        directions,
        strong,
    }
}

impl Forces {
    /// Density of strong contacts between two angles, over that of isotropic lines \[-\].
    pub fn strong_density(&self, edges: [f64; 2], contacts: f64) -> f64 {
        contacts / self.strong.total().max(1.0) / self.directions.isotropic(edges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    #[test]
    fn the_exponent_of_an_exponential_tail_is_found_within_its_error() {
        let (mut stream, beta, n) = (Stream::new(3, Purpose::Noise, 0), 1.7, 20_000);
        let values: Vec<(f64, f64)> = (0..n).map(|_| (-stream.uniform().ln() / beta, 1.0)).collect();
        let above = values.iter().filter(|(x, _)| *x > 1.0).count() as f64;
        let tail = Tail::of(values.into_iter()).unwrap();
        assert_eq!(tail.contacts, above);
        assert!((tail.error - tail.exponent / above.sqrt()).abs() < 1e-12 && tail.error < 0.04);
        assert!((tail.exponent - beta).abs() < 3.0 * tail.error, "{tail:?}");
        assert_eq!(Tail::of([(0.5, 1.0), (1.0, 1.0)].into_iter()), None);
        // Two halves of a pair across a periodic face count as one.
        let halves = Tail::of([(3.0, 0.5), (3.0, 0.5)].into_iter()).unwrap();
        assert_eq!((halves.exponent, halves.contacts), (0.5, 1.0));
    }

    #[test]
    fn isotropic_lines_fill_the_bins_of_directions_as_they_should() {
        for directions in [Directions::FromX, Directions::FromVertical(Vec3::Y)] {
            let planar = directions == Directions::FromX;
            let mut histogram = Histogram::new(DIRECTION_BIN, (directions.largest() / DIRECTION_BIN) as usize);
            let (mut stream, n) = (Stream::new(5, Purpose::Orientation, 1), 200_000);
            (0..n).for_each(|_| histogram.add(directions.angle(stream.direction(planar)), 1.0));
            let mut all = 0.0;
            for (edges, count) in histogram.bins() {
                let expected = f64::from(n) * directions.isotropic(edges);
                assert!((count - expected).abs() < 4.0 * expected.sqrt(), "{edges:?}: {count} for {expected}");
                all += directions.isotropic(edges);
            }
            assert!((all - 1.0).abs() < 1e-12 && histogram.total() == f64::from(n));
        }
        assert_eq!(Directions::FromX.angle(Vec3::new(-1.0, -1.0, 0.0)), 45.0);
        assert_eq!(Directions::FromVertical(Vec3::Z).angle(Vec3::NEG_Z), 0.0);
    }
}
