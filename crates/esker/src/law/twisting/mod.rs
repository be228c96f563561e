//! Resistance to twisting about the normal. A new law is a file here and a line in [`AnyTwisting`].

mod marshall;
mod spring;

pub use marshall::Marshall;
pub use spring::TwistSpring;
use spring::angular_spring;

use super::{Memory, Touch};
use serde::{Deserialize, Serialize};

/// Couple about the contact normal.
pub trait TwistingLaw: Copy + Sync {
    /// Couple on body i about the normal \[N m\].
    fn couple(&self, touch: &Touch, load: f64, normal_stiffness: f64, memory: &mut Memory) -> f64;
}

/// No twisting resistance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NoTwisting;

impl TwistingLaw for NoTwisting {
    fn couple(&self, _: &Touch, _: f64, _: f64, _: &mut Memory) -> f64 {
        0.0
    }
}

/// The free choice of a scene.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case")]
pub enum AnyTwisting {
    /// No resistance.
    None(NoTwisting),
    /// Spring with a limit.
    Spring(TwistSpring),
    /// The same by stiffness and friction of the tangential law.
    Marshall(Marshall),
}

impl TwistingLaw for AnyTwisting {
    fn couple(&self, touch: &Touch, load: f64, normal_stiffness: f64, memory: &mut Memory) -> f64 {
        match self {
            AnyTwisting::None(law) => law.couple(touch, load, normal_stiffness, memory),
            AnyTwisting::Spring(law) => law.couple(touch, load, normal_stiffness, memory),
            AnyTwisting::Marshall(law) => law.couple(touch, load, normal_stiffness, memory),
        }
    }
}
