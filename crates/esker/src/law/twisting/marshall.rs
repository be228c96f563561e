//! Twisting resistance by the tangential law.

use super::{Memory, Touch, TwistingLaw, angular_spring};
use serde::{Deserialize, Serialize};

/// The couple with which a contact area of radius $a = \sqrt{R^*\delta}$ resists twisting, when each of its points resists
/// sliding (Marshall 2009).
///
/// $$k = \tfrac12 k_t a^2,\qquad |M| \le \tfrac23 a\,\mu F_n$$
///
/// with the tangential stiffness $k_t$ and friction $\mu$ of the contact; a dashpot below the limit as with
/// [`TwistSpring`](super::TwistSpring).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Marshall {
    /// Tangential over normal stiffness \[-\].
    pub stiffness_ratio: f64,
    /// Coulomb coefficient $\mu$ \[-\].
    pub friction: f64,
    /// Damping ratio \[-\].
    pub damping_ratio: f64,
}

impl TwistingLaw for Marshall {
    fn couple(&self, touch: &Touch, load: f64, normal_stiffness: f64, memory: &mut Memory) -> f64 {
        let area = touch.effective_radius * touch.overlap.max(0.0);
        let k = 0.5 * self.stiffness_ratio * normal_stiffness * area;
        angular_spring(k, 2.0 / 3.0 * area.sqrt() * self.friction * load, self.damping_ratio, touch, memory)
    }
}
