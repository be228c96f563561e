//! Constant rolling torque (Zhou et al. 1999; type A of Ai et al. 2011).

use super::{Memory, RollingLaw, Touch};
use crate::math::Vec3;
use serde::{Deserialize, Serialize};

/// Torque of constant size against the rolling direction.
///
/// $$\mathbf M_r = -\mu_r R^* F_n\,\boldsymbol\omega_r/|\boldsymbol\omega_r|$$
///
/// It has no state of rest: near zero speed the torque is limited to what would stop a free body of radius $R^*$ and
/// mass $m^*$ within four steps, so that it brakes but never drives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConstantTorque {
    /// Rolling friction coefficient $\mu_r$ \[-\].
    pub friction: f64,
}

/// Steps in which the torque may stop a free body. Explicit schemes see the spin a step late: at one step the torque
/// would alternate for ever (velocity Verlet then has the eigenvalue −1), and several walls may brake at once.
const STOPPING_STEPS: f64 = 4.0;

/// Torque that would stop a free body so soon, over its speed of rolling and R*² \[kg/s\].
pub(super) fn stopping_rate(touch: &Touch) -> f64 {
    0.4 * touch.effective_mass / (STOPPING_STEPS * touch.dt)
}

impl RollingLaw for ConstantTorque {
    fn couple(&self, touch: &Touch, load: f64, _: f64, _: &mut Memory) -> Vec3 {
        let rolling = touch.now.rolling(touch.normal);
        let speed = rolling.length();
        if speed == 0.0 {
            return Vec3::ZERO;
        }
        let r = touch.effective_radius;
        let stopping = stopping_rate(touch) * r * r * speed;
        let torque = (self.friction * r * load).min(stopping);
        rolling * (-torque / speed)
    }
}
