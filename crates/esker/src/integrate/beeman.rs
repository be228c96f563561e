//! Beeman's scheme (named by Džiugys & Peters 1998; Beeman, J. Comput. Phys. 20 (1976) 130),
//!
//! $$x^+ = x + v\,\Delta t + \tfrac16(4a - a^-)\,\Delta t^2,\qquad v^+ = v + \tfrac16(2a^+ + 5a - a^-)\,\Delta t,$$
//!
//! where $a^-$ is that of one step ago; the first step takes $a^- = a$. Dashpots read the predicted velocity
//! $v + \tfrac12(3a - a^-)\,\Delta t$. Second order: without damping the positions are those of Verlet, and the velocities
//! have a smaller error, of the same order.

use super::rule::{End, Known, Rule, Way};
use crate::math::Vec3;

/// The scheme.
pub struct Beeman;

impl Rule for Beeman {
    const HAS_END: bool = true;
    const KEEPS_LAST: bool = true;

    #[inline]
    fn begin(Known { v, a, a_last, .. }: Known, dt: f64) -> Way {
        let mean = v + (4.0 * a - a_last) * (dt / 6.0);
        Way { path: mean, mean, v: v + (3.0 * a - a_last) * (0.5 * dt) }
    }

    /// The mean velocity already has four of the five parts of the old rate, and less the one before it.
    #[inline]
    fn finish(way: Way, a_last: Vec3, a: Vec3, dt: f64) -> End {
        End { v: way.mean + (2.0 * a + a_last) * (dt / 6.0), path: Vec3::ZERO }
    }
}
