//! Velocity Verlet: kick, drift, forces, kick (Džiugys & Peters 1998, eq. (137)),
//!
//! $$x^+ = x + v\,\Delta t + \tfrac12 a\,\Delta t^2,\qquad v^+ = v + \tfrac12(a + a^+)\,\Delta t.$$
//!
//! Contacts extrapolate their velocities to the time of the force from those of this step and the last, fields take
//! $v + a\,\Delta t$: both keep damping of second order. Bodies with three equal moments of inertia are turned now and then
//! only, see [`isotropic`](super::isotropic), which does spheres alone faster.

use super::rule::{End, Known, Rule, Way};
use crate::math::Vec3;

/// The scheme.
pub struct VelocityVerlet;

impl Rule for VelocityVerlet {
    const TAKES_IMPULSES: bool = true;
    const HAS_END: bool = true;
    const TURNS_SPHERES: bool = false;

    /// First kick and drift.
    #[inline]
    fn begin(Known { v, a, .. }: Known, dt: f64) -> Way {
        let kick = a * (0.5 * dt);
        let half = v + kick;
        Way { path: half, mean: half, v: half + kick }
    }

    /// Second kick.
    #[inline]
    fn finish(way: Way, _: Vec3, a: Vec3, dt: f64) -> End {
        End { v: way.mean + a * (0.5 * dt), path: Vec3::ZERO }
    }
}
