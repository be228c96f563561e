//! Drop-and-roll: grains are let fall one by one and roll down the heap until they rest (Gavrilov 1999, section 4.4).
//!
//! Gavrilov rolls disc over disc from tangency to tangency. Here the same path is followed against any obstacle, in the
//! plane and in space: at each step the obstacles near the grain are replaced by their tangent planes, and the grain makes
//! the move closest to a short step straight down that crosses none of them, i.e. it follows steepest descent along
//! whatever it touches. Convex obstacles lie behind their tangent planes and are never entered; concave ones are
//! entered by at most step²/2R, and the next step leads out again. At rest the move vanishes; between as many supports as
//! there are dimensions the steps are Newton's and converge quadratically. A grain that rests on fewer supports is nudged,
//! and goes on when that leads down (the top of another grain), or stays (a level floor).
//!
//! Costs O(1) grid cells a step, some tens of steps a grain. Neither inertia nor friction: a heap gets the slopes of
//! steepest descent, not an angle of repose, and the bed is not yet in balance under its own weight.

use super::{Amount, FillError, FillReport, Filling, Grains, Obstacles, Placed, Push, Setting, Sizes};
use super::{check, draw_radii, is_clear, upwards};
use crate::math::{Mat3, Vec3};
use crate::region::{Region, RegionError};
use crate::rng::{Purpose, Stream, key};
use serde::{Deserialize, Serialize};

/// A drop-and-roll fill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DropAndRoll {
    /// Grains start wholly inside this region, at its upper surface, above a uniform random place of it.
    pub region: Region,
    /// How much.
    pub amount: Amount,
    /// Places tried for one grain before the region counts as filled to the top.
    #[serde(default = "default_tries")]
    pub tries: u32,
    /// A grain that falls deeper than this \[m\] is lost; a thousand times the diagonal of the region when not given.
    #[serde(default)]
    pub max_fall: Option<f64>,
}

fn default_tries() -> u32 {
    100
}

/// Step of a rolling grain, in radii.
const STEP: f64 = 0.25;
/// A grain at rest would move less than this in a step, in radii; and its overlaps are smaller.
const AT_REST: f64 = 1e-9;
/// How far a grain on too few supports is nudged, in radii, and how far down that must lead.
const NUDGE: f64 = 1e-2;
const NUDGE_GAIN: f64 = 1e-7;
/// Steps before a grain counts as not settling.
const MAX_STEPS: usize = 200_000;
/// Largest look-ahead among other grains, in radii.
const FAR: f64 = 2.0;
/// Largest lengthening of the downward pull on a gentle slope.
const MAX_PULL: f64 = 1024.0;

impl DropAndRoll {
    /// Lays the grains under `gravity` \[m/s²\], of which only the direction matters.
    pub fn fill(&self, sizes: &Sizes, gravity: Vec3, setting: &Setting) -> Result<Filling, FillError> {
        let planar = setting.planar;
        self.region.check(planar)?;
        let up = upwards(gravity, planar)?;
        let region = if planar { self.region.flattened()? } else { self.region.clone() };
        let diagonal = region.bounds().size().length();
        if !diagonal.is_finite() {
            return Err(RegionError::Unbounded.into());
        }
        let max_fall = self.max_fall.unwrap_or(1000.0 * diagonal);
        check("max_fall", max_fall, max_fall > 0.0, "give a depth above zero")?;

        let radii = draw_radii(sizes, self.amount, &region, setting)?;
        let asked = radii.len();
        let mut roller = Roller::new(setting.obstacles, sizes.r_max(), planar, -up, max_fall);
        let mut tries = 0;
        for (index, &radius) in radii.iter().enumerate() {
            let mut stream = Stream::new(setting.seed, Purpose::Fill, key(setting.group, index as u64));
            let inside = region.shrunk(radius, planar)?;
            let mut start = None;
            for _ in 0..self.tries {
                tries += 1;
                let place = highest(&inside, inside.sample(0.0, planar, &mut stream)?, up, diagonal, planar);
                if roller.is_free(place, radius) {
                    start = Some(place);
                    break;
                }
            }
            let Some(start) = start else {
                return Err(FillError::Full {
                    report: FillReport { asked, placed: index, tries },
                    tries_per_grain: self.tries,
                    advice: "the bed has reached the top of the region: raise the region, widen the container, or ask for less",
                });
            };
            let centre = roller.settle(start, radius).map_err(|failure| match failure {
                Failure::Lost { fallen } => FillError::FellThrough { index, start, fallen },
                Failure::Restless { centre } => FillError::NotSettled { index, radius, centre },
            })?;
            roller.grains.push(Placed { centre, radius });
        }
        let report = FillReport { asked, placed: asked, tries };
        Ok(Filling { grains: roller.grains.as_slice().to_vec(), report })
    }
}

/// The last point of a convex region straight above `from`.
fn highest(region: &Region, from: Vec3, up: Vec3, diagonal: f64, planar: bool) -> Vec3 {
    let (mut inside, mut outside) = (0.0, 2.0 * diagonal);
    // Halving to 1e-12 of the diagonal.
    for _ in 0..42 {
        let middle = 0.5 * (inside + outside);
        if region.contains(from + up * middle, planar) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    from + up * inside
}

/// An obstacle near the grain, as its tangent plane: a move s is allowed when normal·s ≥ -gap.
#[derive(Clone, Copy, Debug)]
struct Near {
    /// Away from the obstacle; its part in the plane in a planar scene.
    normal: Vec3,
    /// Distance from the grain's surface, negative when they overlap \[m\].
    gap: f64,
}

/// Lets one more grain down among others that are at rest; `None` when it falls for ever or finds no rest.
pub fn let_down(
    walls: &dyn Obstacles,
    others: impl Iterator<Item = Placed>,
    r_max: f64,
    start: Placed,
    down: Vec3,
    planar: bool,
    max_fall: f64,
) -> Option<Vec3> {
    let mut roller = Roller::new(walls, r_max, planar, down, max_fall);
    others.for_each(|grain| roller.grains.push(grain));
    roller.settle(start.centre, start.radius).ok()
}

enum Failure {
    Lost { fallen: f64 },
    Restless { centre: Vec3 },
}

/// A move and the obstacles that hold it.
#[derive(Clone, Copy, Debug)]
struct Move {
    step: Vec3,
    supports: [Vec3; 3],
    count: usize,
}

/// Lets single grains down over walls and grains that are at rest.
struct Roller<'a> {
    walls: &'a dyn Obstacles,
    grains: Grains,
    r_max: f64,
    planar: bool,
    down: Vec3,
    max_fall: f64,
    pushes: Vec<Push>,
    near: Vec<Near>,
}

impl<'a> Roller<'a> {
    fn new(walls: &'a dyn Obstacles, r_max: f64, planar: bool, down: Vec3, max_fall: f64) -> Roller<'a> {
        let grains = Grains::new(r_max, planar);
        Roller { walls, grains, r_max, planar, down, max_fall, pushes: Vec::new(), near: Vec::new() }
    }

    fn is_free(&mut self, centre: Vec3, radius: f64) -> bool {
        self.grains.is_free(centre, radius) && is_clear(self.walls, centre, radius, &mut self.pushes)
    }

    /// Lets a grain fall and roll from `start` until it rests.
    fn settle(&mut self, start: Vec3, r: f64) -> Result<Vec3, Failure> {
        let mut c = start;
        let (mut reach, mut pull, mut last) = (STEP * r, 1.0, Vec3::ZERO);
        for _ in 0..MAX_STEPS {
            let fallen = (c - start).dot(self.down);
            if fallen > self.max_fall {
                return Err(Failure::Lost { fallen });
            }

            // Far from everything: fall as far as is free.
            let nearest = self.look_around(c, r, &mut reach);
            if self.near.is_empty() || nearest > STEP * r {
                c += self.down * nearest;
                reach = 2.0 * nearest;
                continue;
            }
            reach = STEP * r;

            // Near something: the best small move. Gentle slopes are pulled along harder.
            let next = self.best_move(pull * STEP * r, r);
            let step = next.step.clamp_length_max(STEP * r);
            if step.length() > AT_REST * r {
                c += step;
                pull = if step.dot(last) < 0.0 {
                    1.0
                } else if step.length() < 0.5 * STEP * r {
                    2.0 * pull
                } else {
                    pull
                };
                pull = pull.min(MAX_PULL);
                last = step;
                continue;
            }

            // At rest, unless it is squeezed or balances.
            if nearest < -10.0 * AT_REST * r {
                return Err(Failure::Restless { centre: c });
            }
            match self.downhill_from(c, r, &next) {
                None => return Ok(c),
                Some(lower) => (c, pull, last) = (lower, 1.0, Vec3::ZERO),
            }
        }
        Err(Failure::Restless { centre: c })
    }

    /// Fills `near` with everything within `reach` of the grain's surface; returns the smallest gap, or `reach` when all is
    /// free. Shortens a reach far into the heap, where it would visit many cells.
    fn look_around(&mut self, c: Vec3, r: f64, reach: &mut f64) -> f64 {
        let heap = self.grains.centres();
        let away = (c - c.max(heap.min).min(heap.max)).length() - r - self.r_max;
        *reach = reach.min(away.max(FAR * r));
        self.pushes.clear();
        self.walls.overlaps(c, r + *reach, &mut self.pushes);
        self.grains.overlaps(c, r + *reach, &mut self.pushes);
        self.near.clear();
        let mut nearest = *reach;
        for push in &self.pushes {
            let mut normal = push.direction;
            if self.planar {
                normal.z = 0.0;
                // A wall parallel to the plane, such as a front pane, does not hinder motion in it.
                if normal.length_squared() < 1e-12 {
                    continue;
                }
            }
            let gap = *reach - push.depth;
            nearest = nearest.min(gap);
            self.near.push(Near { normal, gap });
        }
        nearest
    }

    /// The allowed move closest to `pull` straight down: the projection onto the polyhedron of allowed moves. It has at most
    /// as many active planes as dimensions; these are found by trying (a handful of planes are near).
    fn best_move(&self, pull: f64, r: f64) -> Move {
        let p = self.down * pull;
        let near = &self.near;
        let slack = 1e-11 * r;
        let allowed = |s: Vec3| near.iter().all(|n| n.normal.dot(s) >= -n.gap - slack);
        let held = |step, supports, count| Move { step, supports, count };
        if allowed(p) {
            return held(p, [Vec3::ZERO; 3], 0);
        }
        for a in near {
            let l = (-a.gap - a.normal.dot(p)) / a.normal.length_squared();
            let s = p + a.normal * l;
            if l >= 0.0 && allowed(s) {
                return held(s, [a.normal, Vec3::ZERO, Vec3::ZERO], 1);
            }
        }
        for (i, a) in near.iter().enumerate() {
            for b in &near[..i] {
                let (aa, bb, ab) = (a.normal.length_squared(), b.normal.length_squared(), a.normal.dot(b.normal));
                let det = aa * bb - ab * ab;
                if det < 1e-12 * aa * bb {
                    continue;
                }
                let (u, v) = (-a.gap - a.normal.dot(p), -b.gap - b.normal.dot(p));
                let (l, m) = ((bb * u - ab * v) / det, (aa * v - ab * u) / det);
                let s = p + a.normal * l + b.normal * m;
                if l >= 0.0 && m >= 0.0 && allowed(s) {
                    return held(s, [a.normal, b.normal, Vec3::ZERO], 2);
                }
            }
        }
        if !self.planar {
            for (i, a) in near.iter().enumerate() {
                for (j, b) in near[..i].iter().enumerate() {
                    for c in &near[..j] {
                        let normals = Mat3::from_cols(a.normal, b.normal, c.normal);
                        if normals.determinant().abs() < 1e-9 {
                            continue;
                        }
                        let inverse = normals.inverse();
                        let s = inverse.transpose() * Vec3::new(-a.gap, -b.gap, -c.gap);
                        let l = inverse * (s - p);
                        if l.min_element() >= 0.0 && allowed(s) {
                            return held(s, [a.normal, b.normal, c.normal], 3);
                        }
                    }
                }
            }
        }
        // Nothing is allowed: squeezed between walls. Push out of each in turn.
        let mut s = Vec3::ZERO;
        for _ in 0..10 {
            for n in near {
                s += n.normal * ((-n.gap - n.normal.dot(s)).max(0.0) / n.normal.length_squared());
            }
        }
        held(s, [Vec3::ZERO; 3], 0)
    }

    /// A lower place beside `c` when the grain only balances there (on the top of a grain, on a saddle between two).
    fn downhill_from(&mut self, c: Vec3, r: f64, at: &Move) -> Option<Vec3> {
        let dimensions = if self.planar { 2 } else { 3 };
        if at.count == dimensions {
            return None;
        }
        let sideways = if self.planar {
            [self.down.cross(Vec3::Z), Vec3::ZERO]
        } else if at.count == 2 {
            [at.supports[0].cross(at.supports[1]).normalize_or_zero(), Vec3::ZERO]
        } else {
            let (u, v) = self.down.any_orthonormal_pair();
            [u, v]
        };
        for side in [sideways[0], -sideways[0], sideways[1], -sideways[1]] {
            if side == Vec3::ZERO {
                continue;
            }
            let mut place = c;
            let mut first = side * (NUDGE * r);
            for _ in 0..8 {
                place += first;
                let mut reach = STEP * r;
                self.look_around(place, r, &mut reach);
                first = self.best_move(NUDGE * r, r).step.clamp_length_max(NUDGE * r);
            }
            if (place - c).dot(self.down) > NUDGE_GAIN * r {
                return Some(place);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
