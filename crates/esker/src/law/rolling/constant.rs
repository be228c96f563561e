//! Constant rolling torque (Zhou et al. 1999; type A of Ai et al. 2011).

use super::{Memory, RollingLaw, Touch};
use crate::math::Vec3;
use serde::{Deserialize, Serialize};

/// Torque of constant size against the rolling direction.
///
/// $$\mathbf M_r = -\mu_r R^* F_n\,\boldsymbol\omega_r/|\boldsymbol\omega_r|$$
///
/// It has no state of rest: near zero speed the torque is limited to what would stop the relative rolling of two free
/// bodies of radius $R^*$ and mass $m^*$ within one step, so that it brakes but never drives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConstantTorque {
    /// Rolling friction coefficient $\mu_r$ \[-\].
    pub friction: f64,
}

impl RollingLaw for ConstantTorque {
    fn couple(&self, touch: &Touch, load: f64, _: f64, _: &mut Memory) -> Vec3 {
        let rolling = touch.now.rolling(touch.normal);
        let speed = rolling.length();
        if speed == 0.0 {
            return Vec3::ZERO;
        }
        let r = touch.effective_radius;
        let stopping = 0.4 * touch.effective_mass * r * r * speed / touch.dt;
        let torque = (self.friction * r * load).min(stopping);
        rolling * (-torque / speed)
    }
}
