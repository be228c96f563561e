//! Power laws of the overlap between and beyond Hooke and Hertz.

use super::{History, NormalLaw, PowerLaw, Touch};
use serde::{Deserialize, Serialize};

/// Unified power law (Džiugys & Peters 1998, eqs (44) and (45)).
///
/// $$F = K\,\delta^\alpha,\qquad K = \tfrac43 E^* R^{*\,2-\alpha}\ \text{or constant}$$
///
/// $\alpha = 3/2$ is Hertz, $\alpha = 1$ a linear spring of stiffness $\tfrac43 E^* R^*$; a constant coefficient
/// with $\alpha = 1.4$ is that of Sadd, Tai & Shukla (1993) for discs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Power {
    /// Coefficient.
    pub scale: Scale,
    /// Exponent $\alpha$ \[-\].
    pub exponent: f64,
}

/// How the coefficient of a power law is given.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// By the effective modulus $E^*$ \[Pa\]; it then depends on the radii.
    Modulus(f64),
    /// Value \[N/m^α\].
    Coefficient(f64),
}

impl Power {
    fn coefficient(&self, effective_radius: f64) -> f64 {
        match self.scale {
            Scale::Modulus(e) => 4.0 / 3.0 * e * effective_radius.powf(2.0 - self.exponent),
            Scale::Coefficient(k) => k,
        }
    }
}

impl NormalLaw for Power {
    fn force(&self, touch: &Touch, _: &History) -> f64 {
        self.coefficient(touch.hertz_radius()) * touch.overlap.powf(self.exponent)
    }
    fn stiffness(&self, touch: &Touch, _: &History) -> f64 {
        self.coefficient(touch.hertz_radius()) * self.exponent * touch.overlap.powf(self.exponent - 1.0)
    }
    fn energy(&self, touch: &Touch, history: &History) -> f64 {
        self.force(touch, history) * touch.overlap / (self.exponent + 1.0)
    }
    fn power_law(&self, effective_radius: f64) -> PowerLaw {
        PowerLaw { coefficient: self.coefficient(effective_radius), exponent: self.exponent }
    }
}
