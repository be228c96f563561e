//! Normal dashpots: F = c dδ/dt. A new one is a file here and a line in [`AnyDamping`].

mod dashpot;
mod general;
mod hunt_crossley;
mod viscoelastic;

pub use dashpot::{Coefficient, FromRestitution, PerMass};
pub use general::{OverlapRate, PowerDashpot};
pub use hunt_crossley::{HuntCrossley, LankaraniNikravesh};
pub use viscoelastic::{KuwabaraKono, Viscoelastic};

use super::{History, Touch};
use serde::{Deserialize, Serialize};

/// Dashpot coefficient of a contact.
pub trait DampingLaw: Copy + Sync {
    /// Coefficient c \[N s/m\], given force \[N\] and tangent stiffness \[N/m\] of the normal law.
    fn coefficient(&self, touch: &Touch, elastic: f64, stiffness: f64, history: &History) -> f64;
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
    /// Viscous material, by its viscosities.
    KuwabaraKono(KuwabaraKono),
    /// Viscous material, by its relaxation time.
    Viscoelastic(Viscoelastic),
    /// Proportional to the elastic force.
    HuntCrossley(HuntCrossley),
    /// The same for a restitution.
    LankaraniNikravesh(LankaraniNikravesh),
    /// Powers of overlap and speed.
    Power(PowerDashpot),
    /// Rate of growth of the overlap as a region.
    OverlapRate(OverlapRate),
}

impl DampingLaw for AnyDamping {
    fn coefficient(&self, touch: &Touch, elastic: f64, stiffness: f64, history: &History) -> f64 {
        match self {
            AnyDamping::None => 0.0,
            AnyDamping::Coefficient(law) => law.coefficient(touch, elastic, stiffness, history),
            AnyDamping::PerMass(law) => law.coefficient(touch, elastic, stiffness, history),
            AnyDamping::FromRestitution(law) => law.coefficient(touch, elastic, stiffness, history),
            AnyDamping::KuwabaraKono(law) => law.coefficient(touch, elastic, stiffness, history),
            AnyDamping::Viscoelastic(law) => law.coefficient(touch, elastic, stiffness, history),
            AnyDamping::HuntCrossley(law) => law.coefficient(touch, elastic, stiffness, history),
            AnyDamping::LankaraniNikravesh(law) => law.coefficient(touch, elastic, stiffness, history),
            AnyDamping::Power(law) => law.coefficient(touch, elastic, stiffness, history),
            AnyDamping::OverlapRate(law) => law.coefficient(touch, elastic, stiffness, history),
        }
    }
}
