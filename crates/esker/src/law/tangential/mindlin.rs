//! Mindlin's no-slip tangential stiffness with a Coulomb slider.

use super::{Dissipation, Memory, TangentialDamping, TangentialLaw, Touch, spring_and_slider};
use crate::math::Vec3;
use serde::{Deserialize, Serialize};

/// Spring of Mindlin's no-slip stiffness beside a Hertz normal law.
///
/// $$k_t = 8\,G^*\sqrt{R^*\delta}$$
///
/// Mindlin (1949); Johnson, *Contact Mechanics* (1985), eq. (7.43) solved for the stiffness, with
/// $1/G^* = (2-\nu_i)/G_i + (2-\nu_j)/G_j$. With $S_n = 2E^*\sqrt{R^*\delta}$ this is $k_t = (4G^*/E^*)\,S_n$, which is
/// how it is stored. Džiugys & Peters 1998, eq. (94), print 16/3 instead of 8, the secant at full slip. The slider is
/// [`spring_and_slider`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mindlin {
    /// Tangential over normal tangent stiffness, $4G^*/E^*$ \[-\].
    pub ratio: f64,
    /// Dashpot beside the spring.
    pub damping: TangentialDamping,
    /// Coulomb coefficient \[-\].
    pub friction: f64,
}

impl TangentialLaw for Mindlin {
    #[inline]
    fn respond(
        &self,
        touch: &Touch,
        load: f64,
        normal_stiffness: f64,
        normal_damping: f64,
        memory: &mut Memory,
        dissipated: &mut Dissipation,
    ) -> Vec3 {
        let c = self.damping.coefficient(touch.effective_mass, normal_damping);
        spring_and_slider(self.ratio * normal_stiffness, c, self.friction, touch, load, memory, dissipated)
    }
    fn friction(&self) -> f64 {
        self.friction
    }
    fn stiffness_ratio(&self, _: f64) -> f64 {
        self.ratio
    }
    fn dashpot(&self, effective_mass: f64, normal_damping: f64) -> f64 {
        self.damping.coefficient(effective_mass, normal_damping)
    }
}
