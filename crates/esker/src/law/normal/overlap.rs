//! Forces that follow from the shape of the overlap: area of discs, volume of spheres.

use super::{History, NormalLaw, PowerLaw, Touch};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Force proportional to the overlap as a region (Hopkins 1992; Džiugys & Peters 1998, eqs (46) and (47)).
///
/// $$F = k\,A\ \text{(discs)},\qquad F = k\,V\ \text{(spheres)}$$
///
/// with the lens of two discs or spheres, or the segment cut off by a wall, which is taken as plane with the effective radius.
/// For small overlaps $A \to \tfrac43\sqrt{2R^*}\,\delta^{3/2}$ and $V \to \pi R^*\delta^2$: softer than Hertz at the
/// onset. The authors of the report propose the volume and have not checked it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overlap {
    /// What is measured.
    pub of: Region,
    /// $k$ \[N/m² or N/m³\].
    pub coefficient: f64,
}

/// The measure of an overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Region {
    /// Area, of discs.
    Area,
    /// Volume, of spheres.
    Volume,
}

impl Region {
    /// Area \[m²\] or volume \[m³\] of the overlap.
    pub fn measure(self, touch: &Touch) -> f64 {
        segments(touch).into_iter().map(|(radius, height)| self.of_segment(radius, height)).sum()
    }

    /// Its rate of growth with the overlap: length of the chord \[m\] or area of the circle \[m²\] in which the surfaces meet.
    pub fn rate(self, touch: &Touch) -> f64 {
        let [(radius, height), _] = segments(touch);
        let half_chord2 = (height * (2.0 * radius - height)).max(0.0);
        match self {
            Region::Area => 2.0 * half_chord2.sqrt(),
            Region::Volume => PI * half_chord2,
        }
    }

    /// Of the segment of a disc, or the cap of a ball, of some height.
    fn of_segment(self, r: f64, height: f64) -> f64 {
        match self {
            // Half of r² (φ − sin φ), φ being the angle of the chord seen from the centre.
            Region::Area => 0.5 * r * r * less_its_sine(4.0 * (0.5 * height / r).clamp(0.0, 1.0).sqrt().asin()),
            Region::Volume => PI * height * height * (3.0 * r - height) / 3.0,
        }
    }
}

/// φ − sin φ, with its series where both nearly cancel.
fn less_its_sine(phi: f64) -> f64 {
    if phi > 0.5 {
        return phi - phi.sin();
    }
    let p2 = phi * phi;
    let series = 1.0 - p2 / 20.0 * (1.0 - p2 / 42.0 * (1.0 - p2 / 72.0 * (1.0 - p2 / 110.0 * (1.0 - p2 / 156.0))));
    phi * p2 / 6.0 * series
}

/// The two segments an overlap consists of, by radius and height \[m\]; the second one of a wall has no height.
fn segments(touch: &Touch) -> [(f64, f64); 2] {
    let ([a, b], h) = (touch.curvature, touch.overlap);
    if b <= 0.0 {
        return [(touch.effective_radius, h), (touch.effective_radius, 0.0)];
    }
    let (r_a, r_b) = (1.0 / a, 1.0 / b);
    let d = r_a + r_b - h;
    // The chord cuts the line between the centres (d² + Ra² − Rb²)/2d from the first.
    let height = |own: f64, other: f64| own - (d * d + own * own - other * other) / (2.0 * d);
    [(r_a, height(r_a, r_b)), (r_b, height(r_b, r_a))]
}

/// Points and weights of Gauss's quadrature on (0, 1), exact to degree 15.
const GAUSS: [(f64, f64); 8] = [
    (0.019_855_071_751_231_88, 0.050_614_268_145_188_13),
    (0.101_666_761_293_186_63, 0.111_190_517_226_687_24),
    (0.237_233_795_041_835_5, 0.156_853_322_938_943_64),
    (0.408_282_678_752_175_1, 0.181_341_891_689_181),
    (0.591_717_321_247_825, 0.181_341_891_689_181),
    (0.762_766_204_958_164_5, 0.156_853_322_938_943_64),
    (0.898_333_238_706_813_4, 0.111_190_517_226_687_24),
    (0.980_144_928_248_768_1, 0.050_614_268_145_188_13),
];

impl NormalLaw for Overlap {
    fn force(&self, touch: &Touch, _: &History) -> f64 {
        self.coefficient * self.of.measure(touch)
    }
    fn stiffness(&self, touch: &Touch, _: &History) -> f64 {
        self.coefficient * self.of.rate(touch)
    }
    fn energy(&self, touch: &Touch, _: &History) -> f64 {
        // ∫F dδ with δ = t² δ_now: smooth in t, where the area is not in δ.
        let h = touch.overlap;
        let at = |t: f64| self.of.measure(&Touch { overlap: t * t * h, ..*touch }) * 2.0 * t * h;
        self.coefficient * GAUSS.iter().map(|&(t, weight)| weight * at(t)).sum::<f64>()
    }
    fn power_law(&self, r: f64) -> PowerLaw {
        match self.of {
            Region::Area => PowerLaw { coefficient: self.coefficient * 4.0 / 3.0 * (2.0 * r).sqrt(), exponent: 1.5 },
            Region::Volume => PowerLaw { coefficient: self.coefficient * PI * r, exponent: 2.0 },
        }
    }
}
