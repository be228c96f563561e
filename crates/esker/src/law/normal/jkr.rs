//! Adhesive elastic spheres of Johnson, Kendall & Roberts.

use super::{History, NormalLaw, PowerLaw, Touch};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Elastic spheres that adhere over the contact area (Johnson, Kendall & Roberts 1971; `spec` 001, C-01).
///
/// $$F = \frac{4E^*a^3}{3R^*} - \sqrt{8\pi W E^* a^3},\qquad \delta = \frac{a^2}{R^*} - \sqrt{\frac{2\pi W a}{E^*}}$$
///
/// Bodies snap together at $\delta = 0$ and part at $\delta_c = -\tfrac34\,c\,(R^*c/4)^{1/3}$, $c = \sqrt{2\pi W/E^*}$,
/// where the neck breaks; the largest pull on the way is $\tfrac32\pi W R^*$. What the two jumps set free is lost. For large,
/// soft grains; small, hard ones follow [`Dmt`](crate::law::cohesion::Dmt). Friction feels twice the pull-off force
/// besides (Thornton 1991).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Jkr {
    /// Effective modulus $E^*$ \[Pa\].
    pub effective_modulus: f64,
    /// Work of adhesion $W$ \[J/m²\].
    pub work: f64,
}

impl Jkr {
    /// c of the module's formula \[√m\].
    fn neck(&self) -> f64 {
        (2.0 * PI * self.work / self.effective_modulus).sqrt()
    }

    /// Radius of the contact area \[m\].
    pub fn contact_radius(&self, touch: &Touch) -> f64 {
        let (r, c, overlap) = (touch.effective_radius, self.neck(), touch.overlap);
        // x⁴/R − c x − δ = 0 for x = √a: convex, so that Newton's steps come down to the larger root from above.
        let mut x = (r * overlap.max(0.0)).sqrt().sqrt() + (r * c).cbrt();
        for _ in 0..60 {
            let (value, slope) = (x.powi(4) / r - c * x - overlap, 4.0 * x.powi(3) / r - c);
            let next = x - value / slope;
            if !(slope > 0.0 && next < x) {
                break;
            }
            x = next;
        }
        x * x
    }

    /// Largest pull \[N\].
    pub fn pull_off(&self, effective_radius: f64) -> f64 {
        1.5 * PI * self.work * effective_radius
    }
}

impl NormalLaw for Jkr {
    fn force(&self, touch: &Touch, _: &History) -> f64 {
        let a = self.contact_radius(touch);
        let hertz = 4.0 / 3.0 * self.effective_modulus * a.powi(3) / touch.effective_radius;
        hertz - (8.0 * PI * self.work * self.effective_modulus * a.powi(3)).sqrt()
    }
    fn stiffness(&self, touch: &Touch, _: &History) -> f64 {
        // Of a flat punch of this radius: dF/dδ itself has no bound where the neck breaks.
        2.0 * self.effective_modulus * self.contact_radius(touch)
    }
    fn energy(&self, touch: &Touch, _: &History) -> f64 {
        // ∫F dδ from a = 0, with δ(a): of the bodies less that of the surfaces that have met.
        let (a, e, r) = (self.contact_radius(touch), self.effective_modulus, touch.effective_radius);
        let of_bodies = 8.0 / 15.0 * e * a.powi(5) / (r * r) - 4.0 / 3.0 * self.neck() * e / r * a.powf(3.5);
        of_bodies + PI * self.work * a * a
    }
    fn is_lossy(&self) -> bool {
        true
    }
    fn range(&self, curvature: [f64; 2], touched: bool) -> f64 {
        let c = self.neck();
        if touched { 0.75 * c * (0.25 * c / (curvature[0] + curvature[1])).cbrt() } else { 0.0 }
    }
    fn extra_load(&self, touch: &Touch, _: &History) -> f64 {
        2.0 * self.pull_off(touch.effective_radius)
    }
    fn power_law(&self, effective_radius: f64) -> PowerLaw {
        PowerLaw { coefficient: 4.0 / 3.0 * self.effective_modulus * effective_radius.sqrt(), exponent: 1.5 }
    }
}
