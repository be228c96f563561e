//! Hertz contact of elastic spheres.

use super::{History, NormalLaw, PowerLaw, Touch};
use serde::{Deserialize, Serialize};

/// Elastic normal force between two curved bodies (Hertz).
///
/// $$F_n = \tfrac43\,E^*\sqrt{R^*}\,\delta^{3/2}$$
///
/// Johnson, *Contact Mechanics* (1985), eq. (4.23) solved for the load; Džiugys & Peters 1998, eq. (40). Holds for
/// $\delta \ll R^*$, no adhesion. On a wall with two different curvatures $R^*$ is $R_eF_2^{-3}$, see
/// [`elliptic_factor`](super::elliptic_factor).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hertz {
    /// Effective modulus $E^*$ \[Pa\].
    pub effective_modulus: f64,
}

impl NormalLaw for Hertz {
    #[inline]
    fn force(&self, touch: &Touch, _: &History) -> f64 {
        4.0 / 3.0 * self.effective_modulus * (touch.hertz_radius() * touch.overlap).sqrt() * touch.overlap
    }
    #[inline]
    fn stiffness(&self, touch: &Touch, _: &History) -> f64 {
        2.0 * self.effective_modulus * (touch.hertz_radius() * touch.overlap).sqrt()
    }
    fn energy(&self, touch: &Touch, history: &History) -> f64 {
        0.4 * self.force(touch, history) * touch.overlap
    }
    fn power_law(&self, effective_radius: f64) -> PowerLaw {
        PowerLaw { coefficient: 4.0 / 3.0 * self.effective_modulus * effective_radius.sqrt(), exponent: 1.5 }
    }
}
