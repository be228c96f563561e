//! Shear dashpot with a Coulomb limit, without a spring (Džiugys & Peters 1998, eq. (151), T-10).

use super::{Dissipation, Memory, TangentialDamping, TangentialLaw, Touch, turn_with_frame};
use crate::math::Vec3;
use serde::{Deserialize, Serialize};

/// Dashpot up to the Coulomb limit.
///
/// $$\mathbf F_t = -\mathbf t\,\min(c_t|\mathbf v_t|,\ \mu F_n)$$
///
/// It has no memory, so it creeps under any load and holds no slope: kept because it is the law of the reference runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dashpot {
    /// Dashpot.
    pub damping: TangentialDamping,
    /// Coulomb coefficient \[-\].
    pub friction: f64,
}

impl TangentialLaw for Dashpot {
    #[inline]
    fn respond(
        &self,
        touch: &Touch,
        load: f64,
        _: f64,
        normal_damping: f64,
        memory: &mut Memory,
        dissipated: &mut Dissipation,
    ) -> Vec3 {
        let before = turn_with_frame(Vec3::from_array(memory.last.tangential_dashpot.map(f64::from)), touch);
        let mut force = -self.damping.coefficient(touch.effective_mass, normal_damping) * touch.now.slip;
        let limit = self.friction * load;
        let slides = force.length_squared() > limit * limit;
        if slides {
            force *= limit / force.length();
        }
        memory.last.tangential_dashpot = force.to_array().map(|f| f as f32);
        let lost = -0.5 * (before + force).dot(touch.mean.slip) * touch.dt;
        if slides {
            dissipated.friction += lost;
        } else {
            dissipated.damping += lost;
        }
        force
    }
    fn friction(&self) -> f64 {
        self.friction
    }
    fn stiffness_ratio(&self, _: f64) -> f64 {
        0.0
    }
    fn dashpot(&self, effective_mass: f64, normal_damping: f64) -> f64 {
        self.damping.coefficient(effective_mass, normal_damping)
    }
}
