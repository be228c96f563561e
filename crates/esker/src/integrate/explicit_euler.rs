//! Explicit Euler: drift with the old velocity (Džiugys & Peters 1998, eq. (135)),
//!
//! $$x^+ = x + v\,\Delta t,\qquad v^+ = v + a\,\Delta t.$$
//!
//! First order, and of use for comparison only: an undamped linear contact of $n$ steps gains $\pi^2/2n$ of its velocity,
//! 7 % at 70 steps. The force is that at $x^+$ and $v^+$, so the velocity at its time is known exactly.

use super::rule::{Known, Rule, Way};

/// The scheme.
pub struct ExplicitEuler;

impl Rule for ExplicitEuler {
    #[inline]
    fn begin(Known { v, a, .. }: Known, dt: f64) -> Way {
        Way { path: v, mean: v, v: v + a * dt }
    }
}
