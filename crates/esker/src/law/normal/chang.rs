//! Cylinders of Chang, Misra & Xue.

use super::{History, NormalLaw, PowerLaw, Touch};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Line contact of two cylinders (Chang, Misra & Xue 1989; Džiugys & Peters 1998, eqs (48) and (49)), for discs of a depth ℓ.
///
/// $$F = \frac{\pi G'\ell}{4R^*(1-\nu)}\,a^2,\qquad a^2\bigl(2\ln(4R^*/a) - 1\bigr) = 8\,s\,R^*\delta$$
///
/// which is (48) with (49) solved for the half-width $a$ instead of by trial. As printed $s = 1$, which counts the
/// displacement of one body; for the approach of two equal cylinders Johnson (1985) has half the stiffness, $s = \tfrac12$.
/// It holds for thin contacts; beyond $a = 4R^*/e$ it goes on with the stiffness there.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chang {
    /// Effective shear modulus over one minus Poisson's ratio, $G'/(1-\nu)$ \[Pa\].
    pub modulus: f64,
    /// Depth of the discs ℓ \[m\].
    pub depth: f64,
    /// Which displacement is meant.
    pub displacement: Displacement,
}

/// Whose displacement the overlap is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Displacement {
    /// That of one body, as printed.
    OfOne,
    /// The approach of both.
    OfBoth,
}

/// Largest half-width in effective radii: there the overlap no longer grows with it.
const WIDEST: f64 = 4.0 / std::f64::consts::E;

impl Chang {
    fn share(&self) -> f64 {
        match self.displacement {
            Displacement::OfOne => 1.0,
            Displacement::OfBoth => 0.5,
        }
    }

    /// Half-width of the contact in effective radii.
    fn half_width(&self, touch: &Touch) -> f64 {
        // u²(2 ln(4/u) − 1) = 8 s δ/R for u = a/R: convex downwards and growing, so Newton's steps come up from below.
        let wanted = 8.0 * self.share() * touch.overlap / touch.effective_radius;
        let mut u = (wanted / 12.0).sqrt().min(0.5 * WIDEST).min(wanted);
        for _ in 0..100 {
            let log = (4.0 / u).ln();
            let next = u + (wanted - u * u * (2.0 * log - 1.0)) / (4.0 * u * (log - 1.0));
            let next = next.clamp(0.5 * u, 0.5 * (u + WIDEST));
            if (next - u).abs() <= 1e-15 * u {
                break;
            }
            u = next;
        }
        u
    }
}

impl NormalLaw for Chang {
    fn force(&self, touch: &Touch, _: &History) -> f64 {
        let u = self.half_width(touch);
        0.25 * PI * self.modulus * self.depth * touch.effective_radius * u * u
    }
    fn stiffness(&self, touch: &Touch, _: &History) -> f64 {
        // dF/dδ = (dF/da)/(dδ/da).
        let u = self.half_width(touch);
        PI * self.modulus * self.depth * self.share() / ((4.0 / u).ln() - 1.0)
    }
    fn energy(&self, touch: &Touch, _: &History) -> f64 {
        // ∫F dδ, by parts in a.
        let u = self.half_width(touch);
        let r2 = touch.effective_radius * touch.effective_radius;
        PI * self.modulus * self.depth * r2 * u.powi(4) * (4.0 * (4.0 / u).ln() - 3.0) / (128.0 * self.share())
    }
    fn power_law(&self, effective_radius: f64) -> PowerLaw {
        // Nearly linear: the stiffness at an overlap of a hundredth of the radius.
        let touch = Touch { overlap: 0.01 * effective_radius, effective_radius, ..Touch::default() };
        PowerLaw { coefficient: self.stiffness(&touch, &History::default()), exponent: 1.0 }
    }
}
