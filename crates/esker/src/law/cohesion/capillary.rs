//! A bridge of liquid between two bodies.

use super::{CohesionLaw, Touch};
use serde::{Deserialize, Serialize};

/// Capillary force of a bridge of given volume (Willett, Adams, Johnson & Seville 2000, the short closed form).
///
/// $$F = -\frac{2\pi R\gamma\cos\theta}{1 + 1.05\,\hat s + 2.5\,\hat s^2},\qquad \hat s = s\sqrt{R/V}$$
///
/// with the gap $s = \max(-\delta, 0)$ and the Derjaguin radius $R = 2R^*$, which is that of equal spheres. The bridge
/// forms when bodies touch and breaks at $s_c = (1 + \theta/2)\,V^{1/3}$ (Lian, Thornton & Adams 1993). What
/// forming and breaking set free is lost. Willett et al. find a few per cent of the exact force for $V < 10^{-3}R^3$ and
/// small contact angles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capillary {
    /// Surface tension $\gamma$ \[N/m\].
    pub tension: f64,
    /// Contact angle $\theta$ \[rad\].
    pub angle: f64,
    /// Volume of the bridge $V$ \[m³\].
    pub volume: f64,
}

impl Capillary {
    /// Gap at which the bridge breaks \[m\].
    pub fn rupture(&self) -> f64 {
        (1.0 + 0.5 * self.angle) * self.volume.cbrt()
    }

    /// Force without gap \[N\], and one over the length on which it falls \[1/m\].
    fn scales(&self, touch: &Touch) -> (f64, f64) {
        let radius = 2.0 * touch.effective_radius;
        (std::f64::consts::TAU * radius * self.tension * self.angle.cos(), (radius / self.volume).sqrt())
    }
}

impl CohesionLaw for Capillary {
    fn force(&self, touch: &Touch) -> f64 {
        let (force, per_length) = self.scales(touch);
        let s = (-touch.overlap).max(0.0) * per_length;
        -force / (1.0 + 1.05 * s + 2.5 * s * s)
    }
    fn energy(&self, touch: &Touch) -> f64 {
        // −∫F ds from the present gap to where the bridge breaks, closed since 4·2.5 > 1.05²; flat while bodies overlap.
        let (force, per_length) = self.scales(touch);
        let root = (10.0 - 1.05_f64 * 1.05).sqrt();
        let antiderivative = |s: f64| 2.0 / root * ((5.0 * s * per_length + 1.05) / root).atan() / per_length;
        let gap = (-touch.overlap).max(0.0);
        let of_gap = force * (antiderivative(self.rupture().max(gap)) - antiderivative(gap));
        -of_gap - force * touch.overlap.max(0.0)
    }
    fn range(&self, _: [f64; 2], touched: bool) -> f64 {
        if touched { self.rupture() } else { 0.0 }
    }
    fn is_lossy(&self) -> bool {
        true
    }
}
