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
/// It holds for thin contacts. Towards $a = 4R^*/e$ the stiffness grows without bound: beyond $a = R^*$, an overlap of
/// $0.22R^*$ as printed, it goes on as a linear spring with the stiffness there.
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

/// Half-width in effective radii up to which the law is taken as it is.
const WIDEST: f64 = 1.0;

impl Chang {
    fn share(&self) -> f64 {
        match self.displacement {
            Displacement::OfOne => 1.0,
            Displacement::OfBoth => 0.5,
        }
    }

    /// Overlap in effective radii of a contact of half-width `u`, in these too.
    fn overlap(&self, u: f64) -> f64 {
        u * u * (2.0 * (4.0 / u).ln() - 1.0) / (8.0 * self.share())
    }

    /// Half-width of the contact in effective radii, [`WIDEST`] at most.
    fn half_width(&self, touch: &Touch) -> f64 {
        // Growing in u and bent upwards: Newton's steps from above come down to the root.
        let wanted = touch.overlap / touch.effective_radius;
        if wanted >= self.overlap(WIDEST) {
            return WIDEST;
        }
        let mut u = WIDEST;
        for _ in 0..100 {
            let slope = u * ((4.0 / u).ln() - 1.0) / (2.0 * self.share());
            let next = (u - (self.overlap(u) - wanted) / slope).max(0.1 * u);
            if (next - u).abs() <= 1e-15 * u {
                break;
            }
            u = next;
        }
        u
    }

    /// How far the overlap lies beyond that of the widest contact \[m\].
    fn beyond(&self, touch: &Touch) -> f64 {
        (touch.overlap - touch.effective_radius * self.overlap(WIDEST)).max(0.0)
    }

    fn force_at(&self, u: f64, radius: f64) -> f64 {
        0.25 * PI * self.modulus * self.depth * radius * u * u
    }
}

impl NormalLaw for Chang {
    fn force(&self, touch: &Touch, history: &History) -> f64 {
        let force = self.force_at(self.half_width(touch), touch.effective_radius);
        force + self.stiffness(touch, history) * self.beyond(touch)
    }
    fn stiffness(&self, touch: &Touch, _: &History) -> f64 {
        // dF/dδ = (dF/da)/(dδ/da).
        let u = self.half_width(touch);
        PI * self.modulus * self.depth * self.share() / ((4.0 / u).ln() - 1.0)
    }
    fn energy(&self, touch: &Touch, history: &History) -> f64 {
        // ∫F dδ, by parts in a.
        let (u, r) = (self.half_width(touch), touch.effective_radius);
        let log = 4.0 * (4.0 / u).ln() - 3.0;
        let thin = PI * self.modulus * self.depth * r * r * u.powi(4) * log / (128.0 * self.share());
        let beyond = self.beyond(touch);
        thin + beyond * (self.force_at(u, r) + 0.5 * self.stiffness(touch, history) * beyond)
    }
    fn power_law(&self, effective_radius: f64) -> PowerLaw {
        // Nearly linear: the stiffness at an overlap of a hundredth of the radius.
        let touch = Touch { overlap: 0.01 * effective_radius, effective_radius, ..Touch::default() };
        PowerLaw { coefficient: self.stiffness(&touch, &History::default()), exponent: 1.0 }
    }
}
