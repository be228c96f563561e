//! Attraction over the contact area without a neck, scaled with the size.

use super::{CohesionLaw, Touch};
use serde::{Deserialize, Serialize};

/// The attractive part of JKR taken with the area of Hertz (Kohring 1994; Džiugys & Peters 1998, eq. (59) repaired).
///
/// $$F = -\sqrt{8\pi W E^*}\,(R^*\delta)^{3/4}$$
///
/// The print has another power of $R^*$, which does not give a force, and 4/3 under the root; as here the sum with
/// Hertz has its minimum at the pull-off force of JKR, $-\tfrac32\pi W R^*$. It ends with the overlap.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kohring {
    /// Work of adhesion $W$ \[J/m²\].
    pub work: f64,
    /// Effective modulus $E^*$ \[Pa\].
    pub effective_modulus: f64,
}

impl CohesionLaw for Kohring {
    fn force(&self, touch: &Touch) -> f64 {
        // A normal law may reach farther than the contact.
        let area = (touch.effective_radius * touch.overlap.max(0.0)).powf(0.75);
        -(8.0 * std::f64::consts::PI * self.work * self.effective_modulus).sqrt() * area
    }
    fn energy(&self, touch: &Touch) -> f64 {
        4.0 / 7.0 * self.force(touch) * touch.overlap
    }
}
