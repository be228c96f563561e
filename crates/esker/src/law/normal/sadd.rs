//! Non-linear hysteresis of Sadd, Tai & Shukla.

use super::{History, NormalLaw, PowerLaw, Touch};
use serde::{Deserialize, Serialize};

/// Power laws of different exponents for loading and unloading (Sadd, Tai & Shukla 1993; Džiugys & Peters 1998, eq. (53)).
///
/// $$F_L = K\delta^p,\qquad F_U = K\delta_m^p\,(\delta/\delta_m)^{p+q},\qquad F_R = \beta F_L + (1-\beta)F_U$$
///
/// for loading beyond the largest overlap $\delta_m$, unloading, and reloading from $\delta_r$ with
/// $\beta = (\delta - \delta_r)/(\delta_m - \delta_r)$. The report leaves $q$ and $\beta$ open; as here the curves meet
/// at $\delta_m$ and $\delta_r$, and a cycle gives back $e^2 = (p+1)/(p+q+1)$. A contact that is unloaded before it
/// has come back to $\delta_m$ falls to $F_U$ at once: a jump, which loses energy and never gains any. It needs no dashpot.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sadd {
    /// $K$ \[N/m^p\].
    pub coefficient: f64,
    /// $p$ \[-\].
    pub exponent: f64,
    /// $q$ \[-\].
    pub excess: f64,
}

impl Sadd {
    /// With the excess of the exponent that gives a restitution.
    pub fn with_restitution(coefficient: f64, exponent: f64, restitution: f64) -> Self {
        Self { coefficient, exponent, excess: (exponent + 1.0) * (restitution.powi(-2) - 1.0) }
    }

    fn loading(&self, overlap: f64) -> f64 {
        self.coefficient * overlap.powf(self.exponent)
    }

    fn unloading(&self, overlap: f64, history: &History) -> f64 {
        self.loading(history.peak) * (overlap / history.peak).powf(self.exponent + self.excess)
    }

    /// Share β of the loading curve; 0 while unloading.
    fn share(&self, overlap: f64, history: &History) -> f64 {
        if history.turn > 0.0 { (overlap - history.turn) / (history.peak - history.turn) } else { 0.0 }
    }
}

impl NormalLaw for Sadd {
    fn force(&self, touch: &Touch, history: &History) -> f64 {
        if touch.overlap >= history.peak {
            return self.loading(touch.overlap);
        }
        let share = self.share(touch.overlap, history);
        share * self.loading(touch.overlap) + (1.0 - share) * self.unloading(touch.overlap, history)
    }
    fn stiffness(&self, touch: &Touch, history: &History) -> f64 {
        if touch.overlap >= history.peak {
            self.exponent * self.loading(touch.overlap) / touch.overlap
        } else {
            (self.exponent + self.excess) * self.unloading(touch.overlap, history) / touch.overlap
        }
    }
    fn energy(&self, touch: &Touch, history: &History) -> f64 {
        let back = if history.peak > 0.0 { self.unloading(touch.overlap, history) } else { 0.0 };
        back * touch.overlap / (self.exponent + self.excess + 1.0)
    }
    fn advance(&self, touch: &Touch, history: &mut History) {
        if touch.overlap >= history.peak {
            (history.peak, history.turn) = (touch.overlap, 0.0);
        } else if touch.overlap < history.overlap {
            history.turn = 0.0;
        } else if touch.overlap > history.overlap && history.turn == 0.0 {
            history.turn = history.overlap;
        }
        history.overlap = touch.overlap;
    }
    fn is_lossy(&self) -> bool {
        true
    }
    fn power_law(&self, _: f64) -> PowerLaw {
        PowerLaw { coefficient: self.coefficient, exponent: self.exponent }
    }
}
