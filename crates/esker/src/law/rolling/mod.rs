//! Rolling resistance. A new law is a file here and a line in [`AnyRolling`]. Classes after Ai et al. (2011).

mod constant;
mod spring;
mod viscous;

pub use constant::ConstantTorque;
pub use spring::ElasticPlastic;
pub(crate) use spring::default_stiffness;
pub use viscous::Viscous;

use super::{Memory, Touch};
use crate::math::Vec3;
use serde::{Deserialize, Serialize};

/// Couple against rolling.
pub trait RollingLaw: Copy + Sync {
    /// Couple on body i in the tangent plane \[N m\].
    fn couple(&self, touch: &Touch, load: f64, normal_stiffness: f64, memory: &mut Memory) -> Vec3;
}

/// No rolling resistance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NoRolling;

impl RollingLaw for NoRolling {
    fn couple(&self, _: &Touch, _: f64, _: f64, _: &mut Memory) -> Vec3 {
        Vec3::ZERO
    }
}

/// The free choice of a scene.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case")]
pub enum AnyRolling {
    /// No resistance.
    None(NoRolling),
    /// Constant torque against the rolling direction.
    Constant(ConstantTorque),
    /// Torque in proportion to the speed.
    Viscous(Viscous),
    /// Elastic–plastic spring.
    Spring(ElasticPlastic),
}

impl RollingLaw for AnyRolling {
    fn couple(&self, touch: &Touch, load: f64, normal_stiffness: f64, memory: &mut Memory) -> Vec3 {
        match self {
            AnyRolling::None(law) => law.couple(touch, load, normal_stiffness, memory),
            AnyRolling::Constant(law) => law.couple(touch, load, normal_stiffness, memory),
            AnyRolling::Viscous(law) => law.couple(touch, load, normal_stiffness, memory),
            AnyRolling::Spring(law) => law.couple(touch, load, normal_stiffness, memory),
        }
    }
}
