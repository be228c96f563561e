//! Taylor series to second order in position, to first in velocity (Džiugys & Peters 1998, eq. (136)),
//!
//! $$x^+ = x + v\,\Delta t + \tfrac12 a\,\Delta t^2,\qquad v^+ = v + a\,\Delta t.$$
//!
//! First order in spite of its name, since the velocity is; gains half of what [`explicit_euler`](super::explicit_euler)
//! gains in an undamped contact. It is velocity Verlet without the second kick.

use super::rule::{Known, Rule, Way};

/// The scheme.
pub struct Taylor;

impl Rule for Taylor {
    #[inline]
    fn begin(Known { v, a, .. }: Known, dt: f64) -> Way {
        let mean = v + a * (0.5 * dt);
        Way { path: mean, mean, v: v + a * dt }
    }
}
