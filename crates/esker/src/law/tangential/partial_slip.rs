//! Tangential stiffness that falls as slip spreads over the contact area.

use super::{
    Dissipation, Memory, Stiffness, TangentialDamping, TangentialLaw, Touch, diagram::Diagram, tangential_energy,
    turn_with_frame,
};
use crate::math::Vec3;
use serde::{Deserialize, Serialize};

/// Stiffness that falls from $k_0$ towards the Coulomb limit, by one of two rules.
///
/// $$\frac{\mathrm dT}{\mathrm d\xi} = k_0\,\theta^a$$
///
/// - [`Rule::WaltonBraun`] (1986; Džiugys & Peters 1998, eqs (85), (86); a misprint of (85) and (87) repaired):
///   $\theta = 1 - \frac{T-T^*}{\mu F_n-T^*}$ forwards, $1 - \frac{T^*-T}{\mu F_n+T^*}$ backwards, $a = \tfrac13$ after
///   Mindlin, $T^*$ being the force at the last reversal. $k_0 = 0.8K_1$ is Lan & Rosato's, $k_0 = 5\cdot10^5$ N/m with
///   $a = 0.3$ Sadd's, $a = \tfrac12$ with $k_0 = k_n/\Psi$ Chang's (eq. (88)). When the load changes $T^*$ changes in
///   proportion, and the force stays unless the limit cuts it.
/// - [`Rule::Mindlin`] (Mindlin & Deresiewicz 1953): the contact keeps which of its rings have slipped, see `Diagram`. At a
///   constant load $\theta = 1 - T/\mu F_n$ when loaded for the first time, $1 - |T-T^*|/2\mu F_n$ after a reversal until the
///   curve before it is met again. With $a = \tfrac13$ and $k_0 = 8G^*\sqrt{R^*\delta}$ the first loading is
///   $T = \mu F_n[1-(1-\xi/\xi_{max})^{3/2}]$, $\xi_{max} = 3\mu F_n/16G^*a$.
///
/// Each step follows the curve exactly for a constant load. In space the part of a step along the force takes $\theta$,
/// that across it $k_0$. What is held is $T^2/2k_0$; the rest of the work is booked as friction, of which unloading gives a
/// part back.
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

/// Force of Walton & Braun after a displacement in its direction, along the curve.
fn follow(t: f64, reversal: f64, limit: f64, k: f64, exponent: f64, displacement: f64) -> f64 {
    let sense = displacement.signum();
    let whole = limit - sense * reversal;
    if whole <= 0.0 {
        return t;
    }
    // dθ/dξ = −(k/whole) θ^a integrates to a straight line in θ^(1 − a).
    let power = 1.0 - exponent;
    let theta = (1.0 - sense * (t - reversal) / whole).clamp(0.0, 1.0);
    let after = (theta.powf(power) - power * k * displacement.abs() / whole).max(0.0).powf(1.0 / power);
    t + sense * (theta - after) * whole
}

impl PartialSlip {
    /// The force along the slip it resists, and what is kept with it, by [`Rule::WaltonBraun`].
    fn walton_braun(&self, held: Vec3, stride: Vec3, k: f64, load: f64, touch: &Touch, memory: &Memory) -> [Vec3; 2] {
        let limit = self.friction * load;
        let before = held.clamp_length_max(limit);
        let mut reversal = turn_with_frame(memory.reversal, touch);
        if memory.load > 0.0 {
            reversal *= load / memory.load;
        }
        if !(memory.touching && k > 0.0 && limit > 0.0) {
            return [before, reversal];
        }
        let axis = before.try_normalize().or(stride.try_normalize()).unwrap_or(Vec3::ZERO);
        let along = stride.dot(axis);
        // Moving back from where it came is a reversal.
        if along * (before - reversal).dot(axis) < 0.0 {
            reversal = before;
        }
        let back = reversal.dot(axis).clamp(-limit, limit);
        let t = follow(before.dot(axis), back, limit, k, self.exponent, along);
        [(axis * t + (stride - axis * along) * k).clamp_length_max(limit), reversal]
    }

    /// The same by [`Rule::Mindlin`].
    fn mindlin(&self, held: Vec3, stride: Vec3, k: f64, load: f64, memory: &Memory) -> [Vec3; 2] {
        let limit = self.friction * load;
        if !(memory.touching && k > 0.0 && limit > 0.0) {
            return [Vec3::ZERO; 2];
        }
        let axis = held.try_normalize().or(stride.try_normalize()).unwrap_or(Vec3::ZERO);
        let along = stride.dot(axis);
        let most = limit / ((1.0 - self.exponent) * k);
        let mut diagram = Diagram::read(memory.reversal, memory.load);
        // A load that was not there begins before the displacement.
        let before = if memory.load > 0.0 { memory.load } else { load };
        let t = diagram.follow(held.length() / self.friction, [before, load], along / most, self.exponent);
        let now = axis * (self.friction * t) + (stride - axis * along) * k;
        [now.clamp_length_max(limit), diagram.kept(load, t < 0.0)]
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
        let [now, reversal] = match self.rule {
            Rule::WaltonBraun => self.walton_braun(held, stride, k, load, touch, memory),
            Rule::Mindlin => self.mindlin(held, stride, k, load, memory),
        };
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
