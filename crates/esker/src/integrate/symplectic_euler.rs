//! Symplectic Euler: kick, drift,
//!
//! $$v^+ = v + a\,\Delta t,\qquad x^+ = x + v^+\,\Delta t.$$
//!
//! First order; one velocity serves all purposes.

use super::rule::{Known, Rule, Way};

/// The scheme.
pub struct SymplecticEuler;

impl Rule for SymplecticEuler {
    const TAKES_IMPULSES: bool = true;
    #[inline]
    fn begin(Known { v, a, .. }: Known, dt: f64) -> Way {
        let v = v + a * dt;
        Way { path: v, mean: v, v }
    }
}
