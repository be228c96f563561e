//! Plastic, adhesive springs of Luding.

use super::{History, NormalLaw, PowerLaw, Touch};
use serde::{Deserialize, Serialize};

/// Piecewise linear loading, unloading and adhesion (Luding 2008, *Granular Matter* 10, eq. (3), with a constant $k_2$).
///
/// $$F = \begin{cases}k_1\delta & k_2(\delta-\delta_0) \ge k_1\delta\\ k_2(\delta-\delta_0)\\
/// -k_c\delta & -k_c\delta \ge k_2(\delta-\delta_0)\end{cases}$$
///
/// with $\delta_0 = (1 - k_1/k_2)\,\delta_{max}$. On the adhesive branch $\delta_{max}$ falls, so that loading anew climbs
/// with $k_2$ from wherever it begins. Without adhesion the restitution is $\sqrt{k_1/k_2}$. It needs no dashpot.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Luding {
    /// Stiffness of loading $k_1$ \[N/m\].
    pub loading: f64,
    /// Stiffness of unloading $k_2$, above $k_1$ \[N/m\].
    pub unloading: f64,
    /// Slope of the adhesive branch $k_c$ \[N/m\].
    pub adhesion: f64,
}

impl Luding {
    /// δ₀ over δ_max.
    fn plastic(&self) -> f64 {
        1.0 - self.loading / self.unloading
    }
}

impl NormalLaw for Luding {
    fn force(&self, touch: &Touch, history: &History) -> f64 {
        let between = self.unloading * (touch.overlap - self.plastic() * history.peak);
        between.min(self.loading * touch.overlap).max(-self.adhesion * touch.overlap)
    }
    fn stiffness(&self, touch: &Touch, history: &History) -> f64 {
        if touch.overlap >= history.peak { self.loading } else { self.unloading }
    }
    fn energy(&self, touch: &Touch, history: &History) -> f64 {
        self.force(touch, history).powi(2) / (2.0 * self.unloading)
    }
    fn advance(&self, touch: &Touch, history: &mut History) {
        // The largest overlap for which the force lies on the adhesive branch.
        let adhesive = touch.overlap * (1.0 + self.adhesion / self.unloading) / self.plastic();
        history.peak = history.peak.max(touch.overlap).min(adhesive.max(touch.overlap));
    }
    fn is_lossy(&self) -> bool {
        true
    }
    fn power_law(&self, _: f64) -> PowerLaw {
        PowerLaw { coefficient: self.loading, exponent: 1.0 }
    }
}
