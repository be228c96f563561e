//! Attraction of Derjaguin, Muller & Toporov.

use super::{CohesionLaw, Touch};
use serde::{Deserialize, Serialize};

/// Attraction outside the contact area, which leaves the Hertz contact as it is (Derjaguin, Muller & Toporov 1975; `spec`
/// 001, C-02).
///
/// $$F = -2\pi W R^*$$
///
/// while bodies touch: that is also the force that pulls them apart. For small, hard grains; large, soft ones follow
/// [`Jkr`](crate::law::normal::Jkr).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dmt {
    /// Work of adhesion $W$ \[J/m²\].
    pub work: f64,
}

impl CohesionLaw for Dmt {
    fn force(&self, touch: &Touch) -> f64 {
        // A normal law may reach farther than the contact.
        if touch.overlap > 0.0 { -std::f64::consts::TAU * self.work * touch.effective_radius } else { 0.0 }
    }
    fn energy(&self, touch: &Touch) -> f64 {
        self.force(touch) * touch.overlap
    }
}
