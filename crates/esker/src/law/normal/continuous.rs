//! Forces between centres that begin before bodies touch.

use super::{History, NormalLaw, PowerLaw, Touch};
use serde::{Deserialize, Serialize};

/// Distance of the centres of bodies that just touch \[m\]; of a grain from a wall, flat or hollow.
fn contact_distance([a, b]: [f64; 2]) -> f64 {
    1.0 / a + if b > 0.0 { 1.0 / b } else { 0.0 }
}

/// Repulsive part of the 12-6 potential (Džiugys & Peters 1998, eqs (54)–(56)).
///
/// $$V = \varepsilon\bigl[(d/x)^{12} - (d/x)^6 + \tfrac14\bigr],\quad x < 2^{1/6}d$$
///
/// $x$ is the distance of the centres, $d$ that at which the bodies touch. Force and energy vanish at the end of the range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TwelveSix {
    /// Energy scale $\varepsilon$ \[J\].
    pub energy: f64,
}

impl TwelveSix {
    /// (d/x)⁶ and x \[m\].
    fn at(touch: &Touch) -> (f64, f64) {
        let d = contact_distance(touch.curvature);
        let x = d - touch.overlap;
        ((d / x).powi(6), x)
    }
}

impl NormalLaw for TwelveSix {
    fn force(&self, touch: &Touch, _: &History) -> f64 {
        let (six, x) = Self::at(touch);
        6.0 * self.energy / x * (2.0 * six * six - six)
    }
    fn stiffness(&self, touch: &Touch, _: &History) -> f64 {
        let (six, x) = Self::at(touch);
        6.0 * self.energy / (x * x) * (26.0 * six * six - 7.0 * six)
    }
    fn energy(&self, touch: &Touch, _: &History) -> f64 {
        let (six, _) = Self::at(touch);
        self.energy * (six * six - six + 0.25)
    }
    fn range(&self, curvature: [f64; 2], _: bool) -> f64 {
        (2f64.powf(1.0 / 6.0) - 1.0) * contact_distance(curvature)
    }
    fn power_law(&self, effective_radius: f64) -> PowerLaw {
        // Its stiffness where equal bodies just touch.
        PowerLaw { coefficient: 114.0 * self.energy / (4.0 * effective_radius).powi(2), exponent: 1.0 }
    }
}

/// Repulsion by a power of the distance (Langston, Tüzün & Heyes 1994; Džiugys & Peters 1998, eqs (57) and (58)).
///
/// $$F = F_d\,(d/x)^{a+1},\quad x < r_c$$
///
/// Langston et al. take the weight of a grain for the force $F_d$ of bodies that just touch, $a = 36$ or 144 and
/// $r_c = 1.2d$ or $1.8d$. The force is cut off at $r_c$, where it jumps by $F_d(d/r_c)^{a+1}$; the energy is counted from
/// there, so that the jump costs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Langston {
    /// Force of bodies that just touch $F_d$ \[N\].
    pub force: f64,
    /// Exponent $a$ \[-\].
    pub exponent: f64,
    /// Cut-off $r_c/d$ \[-\], above 1.
    pub cutoff: f64,
}

impl NormalLaw for Langston {
    fn force(&self, touch: &Touch, _: &History) -> f64 {
        let d = contact_distance(touch.curvature);
        self.force * (d / (d - touch.overlap)).powf(self.exponent + 1.0)
    }
    fn stiffness(&self, touch: &Touch, history: &History) -> f64 {
        let d = contact_distance(touch.curvature);
        (self.exponent + 1.0) * self.force(touch, history) / (d - touch.overlap)
    }
    fn energy(&self, touch: &Touch, _: &History) -> f64 {
        let d = contact_distance(touch.curvature);
        let power = |x: f64| (d / x).powf(self.exponent);
        self.force * d / self.exponent * (power(d - touch.overlap) - power(self.cutoff * d))
    }
    fn range(&self, curvature: [f64; 2], _: bool) -> f64 {
        (self.cutoff - 1.0) * contact_distance(curvature)
    }
    fn power_law(&self, effective_radius: f64) -> PowerLaw {
        PowerLaw { coefficient: (self.exponent + 1.0) * self.force / (4.0 * effective_radius), exponent: 1.0 }
    }
}
