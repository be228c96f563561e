//! Friction of Langston, Tüzün & Heyes: a softening function of the displacement.

use super::{Dissipation, Memory, TangentialLaw, Touch, tangential_energy, turn_with_frame};
use crate::math::Vec3;
use serde::{Deserialize, Serialize};

/// Mindlin's curve as a function of the displacement (Langston et al. 1995; Džiugys & Peters 1998, eqs (96), (97)).
///
/// $$F_t = \mu F_n\bigl[1 - (1 - |\boldsymbol\xi|/\xi_{max})^{3/2}\bigr],\qquad \xi_{max} = C_t\,\mu F_n$$
///
/// The displacement is limited to $\xi_{max}$, where the contact slides. Loading and unloading follow the same curve: at a
/// constant load only sliding loses energy. $C_t = 3/(16G^*a)$ is Mindlin's contact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Langston {
    /// Tangential compliance $C_t$ \[m/N\].
    pub compliance: f64,
    /// Coulomb coefficient $\mu$ \[-\].
    pub friction: f64,
}

impl TangentialLaw for Langston {
    fn respond(
        &self,
        touch: &Touch,
        load: f64,
        _: f64,
        _: f64,
        memory: &mut Memory,
        dissipated: &mut Dissipation,
    ) -> Vec3 {
        let stride = touch.mean.slip * touch.dt;
        let energy_before = tangential_energy(memory);
        let spring = turn_with_frame(memory.spring, touch);
        let force_before = spring * -memory.stiffness;
        let limit = self.friction * load;
        let most = self.compliance * limit;
        let displacement = if memory.touching { spring + stride } else { Vec3::ZERO }.clamp_length_max(most);
        let length = displacement.length();
        // The secant stiffness, which has a limit without displacement.
        let secant = match length / most {
            x if x > 1e-8 => limit * (1.0 - (1.0 - x).max(0.0).powf(1.5)) / length,
            _ if most > 0.0 => 1.5 / self.compliance,
            _ => 0.0,
        };
        let force = displacement * -secant;
        (memory.spring, memory.stiffness) = (displacement, secant);
        let work = 0.5 * (force_before + force).dot(stride);
        dissipated.friction -= work + (tangential_energy(memory) - energy_before);
        force
    }
    fn friction(&self) -> f64 {
        self.friction
    }
    fn stiffness_ratio(&self, normal_stiffness: f64) -> f64 {
        1.5 / (self.compliance * normal_stiffness)
    }
    fn dashpot(&self, _: f64, _: f64) -> f64 {
        0.0
    }
}
