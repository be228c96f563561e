//! Tangential stiffness that falls as slip spreads over the contact area.

use super::{
    Dissipation, Memory, Stiffness, TangentialDamping, TangentialLaw, Touch, tangential_energy, turn_with_frame,
};
use crate::math::Vec3;
use serde::{Deserialize, Serialize};

/// Incremental stiffness between the force at the last reversal $T^*$ and the Coulomb limit.
///
/// $$\frac{\mathrm dT}{\mathrm d\xi} = k_0\,\theta^a$$
///
/// - [`Rule::WaltonBraun`] (1986; Džiugys & Peters 1998, eqs (85), (86); a misprint of (85) and (87) repaired):
///   $\theta = 1 - \frac{T-T^*}{\mu F_n-T^*}$ forwards, $1 - \frac{T^*-T}{\mu F_n+T^*}$ backwards, $a = \tfrac13$ after Mindlin.
///   $k_0 = 0.8K_1$ is Lan & Rosato's, $k_0 = 5\cdot10^5$ N/m with $a = 0.3$ Sadd's, $a = \tfrac12$ with
///   $k_0 = k_n/\Psi$ Chang's (eq. (88)).
/// - [`Rule::Mindlin`] (Mindlin & Deresiewicz 1953): $\theta = 1 - T/\mu F_n$ when loaded for the first time,
///   $1 - |T-T^*|/2\mu F_n$ after a reversal until the first curve is met again. With $a = \tfrac13$ and
///   $k_0 = 8G^*\sqrt{R^*\delta}$ the first loading is $T = \mu F_n[1-(1-\xi/\xi_{max})^{3/2}]$,
///   $\xi_{max} = 3\mu F_n/16G^*a$. The last reversal is remembered, not those before it.
///
/// Each step follows the curve exactly for a constant load. In space the part of a step along the force takes $\theta$,
/// that across it $k_0$. When the load changes $T^*$ changes in proportion, and the force stays unless the limit cuts it.
/// What is held is $T^2/2k_0$; the rest of the work is booked as friction, of which unloading gives a part back.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartialSlip {
    /// What the stiffness goes by.
    pub rule: Rule,
    /// Stiffness without slip $k_0$.
    pub stiffness: Stiffness,
    /// Exponent $a$ \[-\], below 1.
    pub exponent: f64,
    /// Dashpot beside it, below the limit.
    pub damping: TangentialDamping,
    /// Coulomb coefficient $\mu$ \[-\].
    pub friction: f64,
}

/// How far slip has spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Walton & Braun.
    WaltonBraun,
    /// Mindlin & Deresiewicz.
    Mindlin,
}

impl Rule {
    /// 1 − θ at force `t`, moving forwards (`sense` 1) or backwards (−1), and by how much force it grows from 0 to 1 \[N\].
    fn slipped(self, t: f64, reversal: f64, limit: f64, sense: f64) -> (f64, f64) {
        let since = sense * (t - reversal);
        match self {
            Rule::WaltonBraun => {
                let whole = limit - sense * reversal;
                (since / whole, whole)
            }
            // Once it moves away from zero beyond the last reversal it is on the first curve again.
            Rule::Mindlin if sense * t >= 0.0 && t.abs() / limit >= since / (2.0 * limit) => (t.abs() / limit, limit),
            Rule::Mindlin => (since / (2.0 * limit), 2.0 * limit),
        }
    }

    /// Force after a displacement in its direction, along the curve.
    fn follow(self, t: f64, reversal: f64, limit: f64, k: f64, exponent: f64, displacement: f64) -> f64 {
        let sense = displacement.signum();
        let (slipped, whole) = self.slipped(t, reversal, limit, sense);
        if whole <= 0.0 {
            return t;
        }
        // dθ/dξ = −(k/whole) θ^a integrates to a straight line in θ^(1 − a).
        let power = 1.0 - exponent;
        let theta = (1.0 - slipped).clamp(0.0, 1.0);
        let after = (theta.powf(power) - power * k * displacement.abs() / whole).max(0.0).powf(1.0 / power);
        t + sense * (theta - after) * whole
    }
}

impl TangentialLaw for PartialSlip {
    fn respond(
        &self,
        touch: &Touch,
        load: f64,
        normal_stiffness: f64,
        normal_damping: f64,
        memory: &mut Memory,
        dissipated: &mut Dissipation,
    ) -> Vec3 {
        let (k, limit) = (self.stiffness.beside(normal_stiffness), self.friction * load);
        let stride = touch.mean.slip * touch.dt;
        let energy_before = tangential_energy(memory);
        let dashpot_before = turn_with_frame(Vec3::from_array(memory.last.tangential_dashpot.map(f64::from)), touch);
        // T points along the slip it resists: the force on body i is −T.
        let held = turn_with_frame(memory.spring, touch) * memory.stiffness;
        let before = held.clamp_length_max(limit);
        let mut reversal = turn_with_frame(memory.reversal, touch);
        if memory.load > 0.0 {
            reversal *= load / memory.load;
        }

        let mut now = before;
        if memory.touching && k > 0.0 && limit > 0.0 {
            let axis = before.try_normalize().or(stride.try_normalize()).unwrap_or(Vec3::ZERO);
            let along = stride.dot(axis);
            // Moving back from where it came is a reversal.
            if along * (before - reversal).dot(axis) < 0.0 {
                reversal = before;
            }
            let back = reversal.dot(axis).clamp(-limit, limit);
            let t = self.rule.follow(before.dot(axis), back, limit, k, self.exponent, along);
            now = (axis * t + (stride - axis * along) * k).clamp_length_max(limit);
        }
        let mut dashpot = touch.now.slip * -self.damping.coefficient(touch.effective_mass, normal_damping);
        let force = (dashpot - now).clamp_length_max(limit);
        dashpot = force + now;

        memory.spring = if k > 0.0 { now / k } else { Vec3::ZERO };
        (memory.stiffness, memory.reversal, memory.load) = (k, reversal, load);
        memory.last.tangential_dashpot = dashpot.to_array().map(|f| f as f32);
        let work = 0.5 * (dashpot_before - held + force).dot(stride);
        let damped = -0.5 * (dashpot_before + dashpot).dot(stride);
        dissipated.damping += damped;
        dissipated.friction -= work + (tangential_energy(memory) - energy_before) + damped;
        force
    }
    fn friction(&self) -> f64 {
        self.friction
    }
    fn stiffness_ratio(&self, normal_stiffness: f64) -> f64 {
        self.stiffness.beside(normal_stiffness) / normal_stiffness
    }
    fn dashpot(&self, effective_mass: f64, normal_damping: f64) -> f64 {
        self.damping.coefficient(effective_mass, normal_damping)
    }
}
