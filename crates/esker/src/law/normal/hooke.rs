//! Linear springs (Džiugys & Peters 1998, eqs (34) and (35), (147)).

use super::{History, NormalLaw, PowerLaw, Touch};
use serde::{Deserialize, Serialize};

/// Linear spring, Cundall & Strack (1979).
///
/// $$F_n = k_n\,\delta$$
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hooke {
    /// Stiffness $k_n$ \[N/m\].
    pub stiffness: f64,
}

impl NormalLaw for Hooke {
    #[inline]
    fn force(&self, touch: &Touch, _: &History) -> f64 {
        self.stiffness * touch.overlap
    }
    #[inline]
    fn stiffness(&self, _: &Touch, _: &History) -> f64 {
        self.stiffness
    }
    fn energy(&self, touch: &Touch, _: &History) -> f64 {
        0.5 * self.stiffness * touch.overlap * touch.overlap
    }
    fn power_law(&self, _: f64) -> PowerLaw {
        PowerLaw { coefficient: self.stiffness, exponent: 1.0 }
    }
}

/// Linear spring scaled with the effective radius: equal spheres and a sphere on a plane have the same contact time.
///
/// $$F_n = k\,R^*\,\delta$$
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScaledHooke {
    /// Modulus $k$ \[Pa\].
    pub modulus: f64,
}

impl NormalLaw for ScaledHooke {
    #[inline]
    fn force(&self, touch: &Touch, history: &History) -> f64 {
        self.stiffness(touch, history) * touch.overlap
    }
    #[inline]
    fn stiffness(&self, touch: &Touch, _: &History) -> f64 {
        self.modulus * touch.effective_radius
    }
    fn energy(&self, touch: &Touch, history: &History) -> f64 {
        0.5 * self.stiffness(touch, history) * touch.overlap * touch.overlap
    }
    fn power_law(&self, effective_radius: f64) -> PowerLaw {
        PowerLaw { coefficient: self.modulus * effective_radius, exponent: 1.0 }
    }
}
