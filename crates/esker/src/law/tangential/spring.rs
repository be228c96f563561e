//! Spring of constant stiffness with a Coulomb slider (Cundall & Strack 1979; Džiugys & Peters 1998, T-07, T-12).

use super::{Dissipation, Memory, TangentialDamping, TangentialLaw, Touch, spring_and_slider};
use crate::math::Vec3;
use serde::{Deserialize, Serialize};

/// How the stiffness of a tangential spring is given.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stiffness {
    /// Value \[N/m\].
    Given(f64),
    /// Fraction of the normal tangent stiffness \[-\].
    Ratio(f64),
}

/// Vector spring with Coulomb limit, see [`spring_and_slider`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spring {
    /// Stiffness.
    pub stiffness: Stiffness,
    /// Dashpot beside the spring.
    pub damping: TangentialDamping,
    /// Coulomb coefficient \[-\].
    pub friction: f64,
}

impl Stiffness {
    /// Value beside a normal tangent stiffness \[N/m\].
    #[inline]
    pub fn beside(&self, normal_stiffness: f64) -> f64 {
        match self {
            Stiffness::Given(k) => *k,
            Stiffness::Ratio(ratio) => ratio * normal_stiffness,
        }
    }
}

impl TangentialLaw for Spring {
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
        let k = self.stiffness.beside(normal_stiffness);
        let c = self.damping.coefficient(touch.effective_mass, normal_damping);
        spring_and_slider(k, c, self.friction, touch, load, memory, dissipated)
    }
    fn friction(&self) -> f64 {
        self.friction
    }
    fn stiffness_ratio(&self, normal_stiffness: f64) -> f64 {
        self.stiffness.beside(normal_stiffness) / normal_stiffness
    }
    fn dashpot(&self, effective_mass: f64, normal_damping: f64) -> f64 {
        self.damping.coefficient(effective_mass, normal_damping)
    }
}
