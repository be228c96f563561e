//! Dashpots by powers of overlap and speed, and by the growth of the overlap as a region.

use super::{DampingLaw, History, Touch};
use crate::law::normal::Region;
use serde::{Deserialize, Serialize};

/// Powers of overlap and speed (Taguchi 1992; Džiugys & Peters 1998, eq. (67)).
///
/// $$F_d = 2\eta\,m^*\,\delta^\beta\,|\dot\delta|^\lambda\,\mathrm{sign}\,\dot\delta$$
///
/// With a spring of exponent $\alpha$ the damping of an impact grows with the speed to the power
/// $2(\beta+1)/(\alpha+1) + \lambda - 2$: below zero the restitution rises with the speed, against experience.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PowerDashpot {
    /// $\eta$ \[m^(1−β−λ) s^(λ−2)\].
    pub rate: f64,
    /// $\beta$ \[-\].
    pub overlap_exponent: f64,
    /// $\lambda$ \[-\].
    pub speed_exponent: f64,
}

impl DampingLaw for PowerDashpot {
    fn coefficient(&self, touch: &Touch, _: f64, _: f64, _: &History) -> f64 {
        let speed = touch.now.approach.abs();
        // A body that does not move feels no dashpot, whatever the power.
        let of_speed = if speed > 0.0 { speed.powf(self.speed_exponent - 1.0) } else { 0.0 };
        2.0 * self.rate * touch.effective_mass * touch.overlap.max(0.0).powf(self.overlap_exponent) * of_speed
    }
}

/// Rate of growth of the overlap as a region (Džiugys & Peters 1998, eqs (65) and (66)).
///
/// $$F_d = \gamma\,\dot A\ \text{(discs)},\qquad F_d = \gamma\,\dot V\ \text{(spheres)}$$
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverlapRate {
    /// What is measured.
    pub of: Region,
    /// $\gamma$ \[N s/m² or N s/m³\].
    pub coefficient: f64,
}

impl DampingLaw for OverlapRate {
    fn coefficient(&self, touch: &Touch, _: f64, _: f64, _: &History) -> f64 {
        self.coefficient * self.of.rate(touch)
    }
}
