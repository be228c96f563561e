//! Viscous rolling torque (type B of Ai et al. 2011).

use super::{Memory, RollingLaw, Touch};
use crate::math::Vec3;
use serde::{Deserialize, Serialize};

/// Torque in proportion to load and speed of rolling.
///
/// $$\mathbf M_r = -\eta_r F_n R^{*2}\,\boldsymbol\omega_r$$
///
/// It slows a rolling grain down and holds none: no slope stands by it. Each step is limited as in
/// [`ConstantTorque`](super::ConstantTorque).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Viscous {
    /// Rolling friction over the speed of rolling $\eta_r$ \[s/m\].
    pub friction: f64,
}

impl RollingLaw for Viscous {
    fn couple(&self, touch: &Touch, load: f64, _: f64, _: &mut Memory) -> Vec3 {
        let r = touch.effective_radius;
        let rate = (self.friction * load).min(super::constant::stopping_rate(touch));
        touch.now.rolling(touch.normal) * (-rate * r * r)
    }
}
