//! The tangential spring as the report writes it, for comparison.

use super::{Dissipation, Memory, Stiffness, TangentialDamping, TangentialLaw, Touch, turn_with_frame};
use crate::math::Vec3;
use serde::{Deserialize, Serialize};

/// Spring along the present slip, whatever stretched it (Džiugys & Peters 1998, eqs (10), (11), (91), (92)).
///
/// $$\mathbf F_t = -\mathbf t\,\min(k|\boldsymbol\delta_t| + c|\mathbf v_t|,\ \mu F_n),\qquad \boldsymbol\delta_t = \int\mathbf v_t\,\mathrm dt$$
///
/// with $\mathbf t$ along the slip. The force turns round with the velocity: it gives nothing back and chatters at rest. Use
/// [`Spring`](super::Spring), which remembers a vector; this one shows what the difference does. All its work counts as
/// friction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Literal {
    /// Stiffness.
    pub stiffness: Stiffness,
    /// Dashpot beside the spring.
    pub damping: TangentialDamping,
    /// Coulomb coefficient \[-\].
    pub friction: f64,
}

impl TangentialLaw for Literal {
    fn respond(
        &self,
        touch: &Touch,
        load: f64,
        normal_stiffness: f64,
        normal_damping: f64,
        memory: &mut Memory,
        dissipated: &mut Dissipation,
    ) -> Vec3 {
        let stride = touch.mean.slip * touch.dt;
        let before = turn_with_frame(Vec3::from_array(memory.last.tangential_dashpot.map(f64::from)), touch);
        let kept = if memory.touching { turn_with_frame(memory.spring, touch) + stride } else { Vec3::ZERO };
        let (k, limit) = (self.stiffness.beside(normal_stiffness), self.friction * load);
        // It grows until the static limit is reached.
        let displacement = if k > 0.0 { kept.clamp_length_max(limit / k) } else { kept };
        let c = self.damping.coefficient(touch.effective_mass, normal_damping);
        let size = (k * displacement.length() + c * touch.now.slip.length()).min(limit);
        // Without slip along the displacement, eq. (11).
        let direction = touch.now.slip.try_normalize().or(displacement.try_normalize()).unwrap_or(Vec3::ZERO);
        let force = direction * -size;
        // No energy is held: the stiffness of the memory stays zero, the force is kept with the dashpots.
        memory.spring = displacement;
        memory.last.tangential_dashpot = force.to_array().map(|f| f as f32);
        dissipated.friction -= 0.5 * (before + force).dot(stride);
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
