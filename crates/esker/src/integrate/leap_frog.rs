//! Leap-frog in drift–kick–drift form (Džiugys & Peters 1998, eq. (138), with positions instead of velocities at the
//! half step, so that a run starts and stops with both at the same time):
//!
//! $$x^{1/2} = x + \tfrac12 v\,\Delta t,\qquad v^+ = v + a^{1/2}\,\Delta t,\qquad
//! x^+ = x^{1/2} + \tfrac12 v^+\,\Delta t.$$
//!
//! Forces are taken at t + dt/2; contact velocities are extrapolated there with the last acceleration, with the velocity of
//! the last half step damping would be of first order. From one force to the next grains move by $v\,\Delta t$; before the
//! first force by half of it, and springs that slip at the start of a run are off by as much. Losses are booked up to the
//! time of the force: the account of a state is off by those of half a step.

use super::rule::{End, Known, Rule, Way};
use crate::math::Vec3;

/// The scheme.
pub struct LeapFrog;

impl Rule for LeapFrog {
    const HAS_END: bool = true;
    const HALF_WAY: bool = true;
    const MOVES_AT_END: bool = true;

    /// First half drift.
    #[inline]
    fn begin(Known { v, a, .. }: Known, dt: f64) -> Way {
        Way { path: 0.5 * v, mean: v, v: v + a * (0.5 * dt) }
    }

    /// Kick and second half drift.
    #[inline]
    fn finish(way: Way, _: Vec3, a: Vec3, dt: f64) -> End {
        let v = way.mean + a * dt;
        End { v, path: 0.5 * v }
    }
}
