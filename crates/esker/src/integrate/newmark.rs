//! Newmark predictor–corrector with $\alpha = \tfrac12$, $\beta = \tfrac14$, one pass (Džiugys & Peters 1998, eqs (124)–(126),
//! after Xu & Yu 1997):
//!
//! $$x^p = x + v\,\Delta t + \tfrac12(1-2\beta)\,a\,\Delta t^2,\qquad v^p = v + (1-\alpha)\,a\,\Delta t,$$
//! $$x^+ = x^p + \beta\,a^p\,\Delta t^2,\qquad v^+ = v^p + \alpha\,a^p\,\Delta t.$$
//!
//! The print has a further factor ½ in $v^p$ and does not converge. The force is that at $x^p$ and $v^p$. The latter lacks
//! half the change of velocity, so damping is of first order; without damping the scheme is of second order, and the
//! predicted positions are those of Verlet.

use super::rule::{End, Known, Rule, Way};
use crate::math::Vec3;

const ALPHA: f64 = 0.5;
const BETA: f64 = 0.25;

/// The scheme.
pub struct Newmark;

impl Rule for Newmark {
    const HAS_END: bool = true;
    const MOVES_AT_END: bool = true;

    /// Since the last force the grain was moved by the end of the last step too, with the same rate.
    #[inline]
    fn begin(Known { v, a, .. }: Known, dt: f64) -> Way {
        let path = v + a * ((0.5 - BETA) * dt);
        Way { path, mean: path + a * (BETA * dt), v: v + a * ((1.0 - ALPHA) * dt) }
    }

    #[inline]
    fn finish(way: Way, _: Vec3, a: Vec3, dt: f64) -> End {
        End { v: way.v + a * (ALPHA * dt), path: a * (BETA * dt) }
    }
}
