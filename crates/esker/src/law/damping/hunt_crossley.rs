//! Damping proportional to the elastic force.

use super::{DampingLaw, History, Touch};
use serde::{Deserialize, Serialize};

/// Damping proportional to the elastic force, by a constant (Hunt & Crossley 1975).
///
/// $$F = F_{el}\,(1 + \chi\,\dot\delta)$$
///
/// The restitution falls with the speed: for $c = \chi v$ it solves $c(1+e) = \ln\frac{1+c}{1-ce}$, whatever the elastic
/// law. No force at the onset and none that pulls at the end of a free impact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HuntCrossley {
    /// $\chi$ \[s/m\].
    pub factor: f64,
}

impl DampingLaw for HuntCrossley {
    fn coefficient(&self, _: &Touch, elastic: f64, _: f64, _: &History) -> f64 {
        self.factor * elastic
    }
}

/// The same with a restitution that does not depend on the speed (Lankarani & Nikravesh 1990; Muth, Eberhard & Luding,
/// eq. (3)).
///
/// $$F = F_{el}\,\Bigl(1 + c\,\frac{\dot\delta}{\dot\delta_0}\Bigr)$$
///
/// $\dot\delta_0$ is the speed at which the bodies met, but not less than a given one: bodies placed in contact met with
/// none. The usual $c = \tfrac34(1-e^2)$ gives the restitution $e$ only near 1 (0.725 for 0.5);
/// [`LankaraniNikravesh::exact`] solves for the $c$ that does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LankaraniNikravesh {
    /// $c$ \[-\].
    pub factor: f64,
    /// Least speed of impact \[m/s\].
    pub slowest: f64,
}

impl LankaraniNikravesh {
    /// As published, for a nominal restitution.
    pub fn nominal(restitution: f64, slowest: f64) -> Self {
        Self { factor: 0.75 * (1.0 - restitution * restitution), slowest }
    }

    /// For this restitution, above 0.
    pub fn exact(restitution: f64, slowest: f64) -> Self {
        Self { factor: factor_of(restitution), slowest }
    }
}

/// The c for which c(1 + e) = ln((1 + c)/(1 − c e)).
fn factor_of(e: f64) -> f64 {
    // The right side grows faster: it has no bound where c e = 1. Bisect to the last bit.
    let excess = |c: f64| ((1.0 + c) / (1.0 - c * e)).ln() - c * (1.0 + e);
    let (mut low, mut high) = (0.0, 1.0 / e);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle == low || middle == high {
            break;
        }
        // Near 0 the excess is −c²(1 − e²)/2.
        if excess(middle) < 0.0 { low = middle } else { high = middle }
    }
    if e >= 1.0 { 0.0 } else { 0.5 * (low + high) }
}

impl DampingLaw for LankaraniNikravesh {
    fn coefficient(&self, _: &Touch, elastic: f64, _: f64, history: &History) -> f64 {
        self.factor * elastic / history.impact.max(self.slowest)
    }
}
