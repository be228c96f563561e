//! Elastic normal laws. A new one is a file here and a line in [`AnyNormal`].

mod hertz;
mod hooke;

pub use hertz::Hertz;
pub use hooke::{Hooke, ScaledHooke};

use super::Touch;
use serde::{Deserialize, Serialize};

/// Elastic normal force as a function of overlap.
pub trait NormalLaw: Copy + Sync {
    /// Pushing force \[N\].
    fn force(&self, touch: &Touch) -> f64;
    /// Tangent stiffness dF/dδ \[N/m\].
    fn stiffness(&self, touch: &Touch) -> f64;
    /// Stored energy ∫F dδ \[J\].
    fn energy(&self, touch: &Touch) -> f64;
    /// Exponent α of F ∝ δ^α: sets the closed forms of contact time and peak overlap.
    fn exponent(&self) -> f64;
    /// Secant stiffness at unit overlap, F = K δ^α \[N/m^α\].
    fn coefficient(&self, effective_radius: f64) -> f64;
}

/// The free choice of a scene: an enum that is itself a normal law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case")]
pub enum AnyNormal {
    /// Linear spring.
    Hooke(Hooke),
    /// Linear spring whose stiffness grows with the effective radius.
    ScaledHooke(ScaledHooke),
    /// Hertz contact of elastic spheres.
    Hertz(Hertz),
}

macro_rules! each {
    ($self:ident, $law:ident => $body:expr) => {
        match $self {
            AnyNormal::Hooke($law) => $body,
            AnyNormal::ScaledHooke($law) => $body,
            AnyNormal::Hertz($law) => $body,
        }
    };
}

impl NormalLaw for AnyNormal {
    fn force(&self, touch: &Touch) -> f64 {
        each!(self, law => law.force(touch))
    }
    fn stiffness(&self, touch: &Touch) -> f64 {
        each!(self, law => law.stiffness(touch))
    }
    fn energy(&self, touch: &Touch) -> f64 {
        each!(self, law => law.energy(touch))
    }
    fn exponent(&self) -> f64 {
        each!(self, law => law.exponent())
    }
    fn coefficient(&self, effective_radius: f64) -> f64 {
        each!(self, law => law.coefficient(effective_radius))
    }
}
