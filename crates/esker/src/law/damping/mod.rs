//! Normal dashpots: F = c dδ/dt. A new one is a file here and a line in [`AnyDamping`].

mod dashpot;

pub use dashpot::{Coefficient, FromRestitution, PerMass};

use super::Touch;
use serde::{Deserialize, Serialize};

/// Dashpot coefficient of a contact.
pub trait DampingLaw: Copy + Sync {
    /// Coefficient c \[N s/m\], given the tangent stiffness of the normal spring \[N/m\].
    fn coefficient(&self, touch: &Touch, stiffness: f64) -> f64;
}

/// The free choice of a scene.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnyDamping {
    /// No dashpot.
    None,
    /// Given coefficient.
    Coefficient(Coefficient),
    /// Coefficient proportional to the effective mass.
    PerMass(PerMass),
    /// Coefficient that gives a restitution.
    FromRestitution(FromRestitution),
}

impl DampingLaw for AnyDamping {
    fn coefficient(&self, touch: &Touch, stiffness: f64) -> f64 {
        match self {
            AnyDamping::None => 0.0,
            AnyDamping::Coefficient(law) => law.coefficient(touch, stiffness),
            AnyDamping::PerMass(law) => law.coefficient(touch, stiffness),
            AnyDamping::FromRestitution(law) => law.coefficient(touch, stiffness),
        }
    }
}
