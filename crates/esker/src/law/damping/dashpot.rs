//! Linear dashpots (Džiugys & Peters 1998, eq. (60)) and the dashpot that gives a restitution.

use super::{DampingLaw, History, Touch};
use crate::law::restitution::{self, damping_ratio};
use crate::law::{ContactEnd, normal::NormalLaw};
use serde::{Deserialize, Serialize};

/// Constant coefficient.
///
/// $$F_d = c\,\dot\delta$$
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coefficient {
    /// Coefficient $c$ \[N s/m\].
    pub coefficient: f64,
}

impl DampingLaw for Coefficient {
    #[inline]
    fn coefficient(&self, _: &Touch, _: f64, _: f64, _: &History) -> f64 {
        self.coefficient
    }
}

/// Coefficient proportional to the effective mass (Džiugys & Peters 1998, eq. (148)).
///
/// $$F_d = \gamma\,m^*\,\dot\delta$$
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PerMass {
    /// Rate $\gamma$ \[1/s\].
    pub rate: f64,
}

impl DampingLaw for PerMass {
    #[inline]
    fn coefficient(&self, touch: &Touch, _: f64, _: f64, _: &History) -> f64 {
        self.rate * touch.effective_mass
    }
}

/// The dashpot for which two bodies part with a given fraction of their approach speed, whatever that speed.
///
/// $$F_d = 2\,\beta\,f_\alpha\sqrt{m^* S}\;\dot\delta,\qquad S = \mathrm dF_n/\mathrm d\delta$$
///
/// with $f_1 = 1$ (Hooke) and $f_{3/2} = \sqrt{5/6}$ (Hertz; Tsuji et al. 1992, Antypov & Elliott 2011). $\beta(e)$ is
/// exact for the chosen end of contact, see [`restitution`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FromRestitution {
    /// Product $2\beta f_\alpha$ \[-\].
    pub factor: f64,
}

impl FromRestitution {
    /// The dashpot that gives the restitution `e` in (0, 1] with this normal law and end of contact.
    pub fn new(e: f64, normal: &impl NormalLaw, end: ContactEnd) -> Self {
        Self { factor: 2.0 * damping_ratio(e, end) * restitution::exponent_factor(normal.power_law(1.0).exponent) }
    }

    /// The restitution it gives with this normal law and end of contact.
    pub fn restitution(&self, normal: &impl NormalLaw, end: ContactEnd) -> f64 {
        let factor = restitution::exponent_factor(normal.power_law(1.0).exponent);
        restitution::restitution(0.5 * self.factor / factor, end)
    }
}

impl DampingLaw for FromRestitution {
    #[inline]
    fn coefficient(&self, touch: &Touch, _: f64, stiffness: f64, _: &History) -> f64 {
        self.factor * (touch.effective_mass * stiffness).sqrt()
    }
}
