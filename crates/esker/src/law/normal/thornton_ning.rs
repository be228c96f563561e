//! Adhesive spheres that yield, of Thornton & Ning.

use super::{History, Jkr, NormalLaw, PowerLaw, Touch};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// JKR up to a limiting pressure, JKR with a flatter surface on unloading (Thornton & Ning 1998).
///
/// $$F = \frac{4E^*a^3}{3R^*} - \sqrt{8\pi WE^*a^3}\ (a\le a_y),\qquad F = F_y + \pi p_y(a^2-a_y^2) -
/// \tfrac13\sqrt{8\pi WE^*}\,(a^{3/2}-a_y^{3/2}),\qquad
/// F = \frac{4E^*a^3}{3R_p} - \sqrt{8\pi WE^*a^3}\ \text{(unloading)}$$
///
/// with $\delta = a^2/R^* - \sqrt{2\pi Wa/E^*}$ while loaded, and the contact yields where the pressure in its middle is
/// $p_y = 2E^*a_y/\pi R^* - \sqrt{2WE^*/\pi a_y}$. From the largest force $F_m$ at $a_m$ it is unloaded with the radius
/// $R_p = 4E^*a_m^3/3\bigl(F_m + \sqrt{8\pi WE^*a_m^3}\bigr)$, shifted by $\delta_p = a_m^2(1/R^* - 1/R_p)$: the largest
/// pull is then $\tfrac32\pi WR_p$. Bodies whose neck has broken above $\delta = 0$ stick again when they come back to $\delta_p$.
///
/// The last term of the second makes the slope go on at $a_y$; over the overlap it is the published
/// $\mathrm dF/\mathrm d\delta = (3\pi R^*p_y\sqrt{P_1} - 2E^*a\sqrt{P_c})/(3\sqrt{P_1} - \sqrt{P_c})$ with
/// $P_1 = 4E^*a^3/3R^*$ and $P_c = \tfrac32\pi WR^*$.
///
/// Without adhesion it is [`Thornton`](super::Thornton), without yield [`Jkr`]. It needs no dashpot. Friction feels twice
/// the pull-off force, that of the flattened spheres once they have yielded, and none while the neck is broken.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThorntonNing {
    /// Effective modulus $E^*$ \[Pa\].
    pub effective_modulus: f64,
    /// Limiting contact pressure $p_y$ \[Pa\].
    pub yield_pressure: f64,
    /// Work of adhesion $W$ \[J/m²\].
    pub work: f64,
}

/// The sphere that unloading sees: R_p and δ_p \[m\].
#[derive(Clone, Copy, Debug)]
pub struct Flattened {
    /// Its effective radius \[m\].
    pub radius: f64,
    /// Overlap at which it would just touch \[m\].
    pub shift: f64,
}

impl ThorntonNing {
    fn jkr(&self) -> Jkr {
        Jkr { effective_modulus: self.effective_modulus, work: self.work }
    }

    /// Radius of the contact area of a sphere \[m\].
    fn contact_radius(&self, effective_radius: f64, overlap: f64) -> f64 {
        self.jkr().contact_radius(&Touch { effective_radius, overlap, ..Touch::default() })
    }

    /// JKR's force over a contact area \[N\].
    fn elastic(&self, effective_radius: f64, a: f64) -> f64 {
        let hertz = 4.0 / 3.0 * self.effective_modulus * a.powi(3) / effective_radius;
        hertz - (8.0 * PI * self.work * self.effective_modulus * a.powi(3)).sqrt()
    }

    /// Radius of the contact area at which it yields \[m\].
    pub fn yield_radius(&self, effective_radius: f64) -> f64 {
        // A y³ − p y − s = 0 for y = √a: Newton's steps from above come down to the largest root.
        let (e, p) = (self.effective_modulus, self.yield_pressure);
        let (slope, pull) = (2.0 * e / (PI * effective_radius), (2.0 * self.work * e / PI).sqrt());
        let mut y = (p / slope).sqrt() + (pull / slope).cbrt();
        for _ in 0..60 {
            let next = y - (slope * y.powi(3) - p * y - pull) / (3.0 * slope * y * y - p);
            if next.is_nan() || next >= y {
                break;
            }
            y = next;
        }
        y * y
    }

    /// Force while loaded for the first time, over the area \[N\].
    fn loading(&self, radius: f64, a: f64) -> f64 {
        let at_yield = self.yield_radius(radius);
        if a <= at_yield {
            self.elastic(radius, a)
        } else {
            let edge = (8.0 * PI * self.work * self.effective_modulus).sqrt() / 3.0;
            self.elastic(radius, at_yield) + PI * self.yield_pressure * (a * a - at_yield * at_yield)
                - edge * (a.powf(1.5) - at_yield.powf(1.5))
        }
    }

    /// What unloading from the largest overlap sees.
    pub fn flattened(&self, radius: f64, peak: f64) -> Flattened {
        let a = self.contact_radius(radius, peak);
        if peak <= 0.0 || a <= self.yield_radius(radius) {
            return Flattened { radius, shift: 0.0 };
        }
        let pressing = self.loading(radius, a) + (8.0 * PI * self.work * self.effective_modulus * a.powi(3)).sqrt();
        let flatter = 4.0 / 3.0 * self.effective_modulus * a.powi(3) / pressing;
        Flattened { radius: flatter, shift: a * a * (1.0 / radius - 1.0 / flatter) }
    }

    /// Largest pull after the overlap has been up to `peak` \[N\].
    pub fn pull_off(&self, effective_radius: f64, peak: f64) -> f64 {
        1.5 * PI * self.work * self.flattened(effective_radius, peak).radius
    }

    /// Overlap at which the neck of such a sphere breaks \[m\].
    pub fn end(&self, of: &Flattened) -> f64 {
        of.shift - self.jkr().range([1.0 / of.radius, 0.0], true)
    }
}

impl NormalLaw for ThorntonNing {
    fn force(&self, touch: &Touch, history: &History) -> f64 {
        let radius = touch.effective_radius;
        if touch.overlap >= history.peak {
            return self.loading(radius, self.contact_radius(radius, touch.overlap));
        }
        if history.turn > 0.0 {
            return 0.0;
        }
        let back = self.flattened(radius, history.peak);
        self.elastic(back.radius, self.contact_radius(back.radius, touch.overlap - back.shift))
    }
    fn stiffness(&self, touch: &Touch, history: &History) -> f64 {
        if history.turn > 0.0 {
            return 0.0;
        }
        let back = self.flattened(touch.effective_radius, history.peak.max(touch.overlap));
        2.0 * self.effective_modulus * self.contact_radius(back.radius, touch.overlap - back.shift)
    }
    fn energy(&self, touch: &Touch, history: &History) -> f64 {
        if history.turn > 0.0 {
            return 0.0;
        }
        let back = self.flattened(touch.effective_radius, history.peak.max(touch.overlap));
        let seen = Touch { effective_radius: back.radius, overlap: touch.overlap - back.shift, ..*touch };
        self.jkr().energy(&seen, history)
    }
    fn advance(&self, touch: &Touch, history: &mut History) {
        history.peak = history.peak.max(touch.overlap);
        // `turn` holds the overlap at which a broken neck forms again.
        let back = self.flattened(touch.effective_radius, history.peak);
        if touch.overlap >= back.shift {
            history.turn = 0.0;
        } else if back.shift > 0.0 && touch.overlap < self.end(&back) {
            history.turn = back.shift;
        }
    }
    fn is_lossy(&self) -> bool {
        true
    }
    fn range(&self, curvature: [f64; 2], touched: bool) -> f64 {
        // A sphere that has yielded lets go before: δ_p grows faster than its neck.
        self.jkr().range(curvature, touched)
    }
    fn extra_load(&self, touch: &Touch, history: &History) -> f64 {
        if history.turn > 0.0 {
            return 0.0;
        }
        2.0 * self.pull_off(touch.effective_radius, history.peak)
    }
    fn power_law(&self, effective_radius: f64) -> PowerLaw {
        self.jkr().power_law(effective_radius)
    }
}
