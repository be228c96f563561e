//! Elastic, perfectly plastic spheres of Thornton.

use super::{History, NormalLaw, PowerLaw, Touch};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Hertz up to a limiting pressure, linear beyond it, Hertz with a flatter surface on unloading (Thornton 1997; Thornton &
/// Ning 1998 without their adhesion, which [`ThorntonNing`](super::ThorntonNing) has).
///
/// $$F = \tfrac43E^*\sqrt{R^*}\,\delta^{3/2}\ (\delta\le\delta_y),\qquad F = F_y + \pi p_y R^*(\delta-\delta_y),\qquad
/// F = \tfrac43E^*\sqrt{R_p}\,(\delta-\delta_p)^{3/2}\ \text{(unloading)}$$
///
/// with $\delta_y = R^*(\pi p_y/2E^*)^2$ and, where the contact has yielded,
/// $R_p = \frac{4E^*}{3F_{max}}\bigl(\frac{2F_{max}+F_y}{2\pi p_y}\bigr)^{3/2}$. It needs no dashpot; above the speed of
/// yield the restitution falls with the speed, in the end to the power −¼.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Thornton {
    /// Effective modulus $E^*$ \[Pa\].
    pub effective_modulus: f64,
    /// Limiting contact pressure $p_y$ \[Pa\].
    pub yield_pressure: f64,
}

/// The curve of unloading: 4/3 E* √R_p and δ_p.
struct Unloading {
    coefficient: f64,
    residual: f64,
}

impl Thornton {
    /// Overlap at which a contact yields \[m\].
    pub fn yield_overlap(&self, effective_radius: f64) -> f64 {
        effective_radius * (0.5 * PI * self.yield_pressure / self.effective_modulus).powi(2)
    }

    fn hertz(&self, radius: f64, overlap: f64) -> f64 {
        4.0 / 3.0 * self.effective_modulus * (radius * overlap).sqrt() * overlap
    }

    /// Force when loaded for the first time \[N\].
    fn loading(&self, radius: f64, overlap: f64) -> f64 {
        let at_yield = self.yield_overlap(radius);
        if overlap <= at_yield {
            self.hertz(radius, overlap)
        } else {
            self.hertz(radius, at_yield) + PI * self.yield_pressure * radius * (overlap - at_yield)
        }
    }

    fn unloading(&self, radius: f64, peak: f64) -> Unloading {
        let at_yield = self.yield_overlap(radius);
        let hertz = 4.0 / 3.0 * self.effective_modulus * radius.sqrt();
        if peak <= at_yield {
            return Unloading { coefficient: hertz, residual: 0.0 };
        }
        // The contact has the same area when unloading begins: that gives R_p.
        let (most, limit) = (self.loading(radius, peak), self.hertz(radius, at_yield));
        let area = (2.0 * most + limit) / (2.0 * PI * self.yield_pressure);
        let flatter = 4.0 / 3.0 * self.effective_modulus * area.powf(1.5) / most;
        let coefficient = 4.0 / 3.0 * self.effective_modulus * flatter.sqrt();
        Unloading { coefficient, residual: peak - (most / coefficient).powf(2.0 / 3.0) }
    }
}

impl NormalLaw for Thornton {
    fn force(&self, touch: &Touch, history: &History) -> f64 {
        if touch.overlap >= history.peak {
            return self.loading(touch.effective_radius, touch.overlap);
        }
        let back = self.unloading(touch.effective_radius, history.peak);
        back.coefficient * (touch.overlap - back.residual).max(0.0).powf(1.5)
    }
    fn stiffness(&self, touch: &Touch, history: &History) -> f64 {
        let back = self.unloading(touch.effective_radius, history.peak.max(touch.overlap));
        1.5 * back.coefficient * (touch.overlap - back.residual).max(0.0).sqrt()
    }
    fn energy(&self, touch: &Touch, history: &History) -> f64 {
        let back = self.unloading(touch.effective_radius, history.peak.max(touch.overlap));
        0.4 * back.coefficient * (touch.overlap - back.residual).max(0.0).powf(2.5)
    }
    fn advance(&self, touch: &Touch, history: &mut History) {
        history.peak = history.peak.max(touch.overlap);
    }
    fn is_lossy(&self) -> bool {
        true
    }
    fn power_law(&self, effective_radius: f64) -> PowerLaw {
        PowerLaw { coefficient: 4.0 / 3.0 * self.effective_modulus * effective_radius.sqrt(), exponent: 1.5 }
    }
}
