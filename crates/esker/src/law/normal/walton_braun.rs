//! Partially latching spring of Walton & Braun.

use super::{History, NormalLaw, PowerLaw, Touch};
use serde::{Deserialize, Serialize};

/// Linear loading, stiffer linear unloading (Walton & Braun 1986; Džiugys & Peters 1998, eqs (50)–(52)).
///
/// $$F = K_1\delta\ \text{(loading)},\qquad F = K_2(\delta - \delta_0)\ \text{(unloading, reloading)},\qquad K_2 = K_{20} + S\,F_{max}$$
///
/// with $\delta_0 = \delta_{max}(1 - K_1/K_2)$, and no force below it. A constant $K_2$ ($S = 0$) gives the restitution
/// $e = \sqrt{K_1/K_2}$ at any speed, $K_{20} = K_1$ with $S > 0$ gives $e = \sqrt{\omega/(\omega + S v)}$,
/// $\omega = \sqrt{K_1/m^*}$. (The print has the force itself for $F_{max}$.) It needs no dashpot.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WaltonBraun {
    /// Stiffness of loading $K_1$ \[N/m\].
    pub loading: f64,
    /// Stiffness of unloading from small forces $K_{20}$, not below $K_1$ \[N/m\].
    pub unloading: f64,
    /// Its growth with the largest force $S$ \[1/m\].
    pub growth: f64,
}

impl WaltonBraun {
    /// Stiffness of unloading \[N/m\].
    fn stiffer(&self, history: &History) -> f64 {
        self.unloading + self.growth * self.loading * history.peak
    }

    /// Overlap at which the force of unloading vanishes \[m\].
    fn residual(&self, history: &History) -> f64 {
        history.peak * (1.0 - self.loading / self.stiffer(history))
    }
}

impl NormalLaw for WaltonBraun {
    fn force(&self, touch: &Touch, history: &History) -> f64 {
        let unloading = self.stiffer(history) * (touch.overlap - self.residual(history));
        unloading.min(self.loading * touch.overlap).max(0.0)
    }
    fn stiffness(&self, touch: &Touch, history: &History) -> f64 {
        if touch.overlap >= history.peak { self.loading } else { self.stiffer(history) }
    }
    fn energy(&self, touch: &Touch, history: &History) -> f64 {
        self.force(touch, history).powi(2) / (2.0 * self.stiffer(history))
    }
    fn advance(&self, touch: &Touch, history: &mut History) {
        history.peak = history.peak.max(touch.overlap);
    }
    fn is_lossy(&self) -> bool {
        true
    }
    fn power_law(&self, _: f64) -> PowerLaw {
        PowerLaw { coefficient: self.loading, exponent: 1.0 }
    }
}
