//! Adams–Bashforth of second order (Džiugys & Peters 1998, eq. (139)),
//!
//! $$x^+ = x + \tfrac12(3v - v^-)\,\Delta t,\qquad v^+ = v + \tfrac12(3a - a^-)\,\Delta t,$$
//!
//! where $v^-$ and $a^-$ are those of one step ago; the first step takes $v^- = v - a\,\Delta t$ and $a^- = a$. The force is
//! that at $x^+$ and $v^+$, so damping is of second order as well. Undamped motion gains a little energy, of third order.

use super::rule::{Known, Rule, Way};

/// The scheme.
pub struct AdamsBashforth;

impl Rule for AdamsBashforth {
    const KEEPS_LAST: bool = true;

    #[inline]
    fn begin(Known { v, a, v_last, a_last }: Known, dt: f64) -> Way {
        let mean = 0.5 * (3.0 * v - v_last);
        Way { path: mean, mean, v: v + (3.0 * a - a_last) * (0.5 * dt) }
    }
}
