//! Tangential laws. A new one is a file here and a line in [`AnyTangential`].

mod dashpot;
mod diagram;
mod langston;
mod literal;
mod mindlin;
mod none;
mod partial_slip;
mod spring;

pub use dashpot::Dashpot;
pub use langston::Langston;
pub use literal::Literal;
pub use mindlin::Mindlin;
pub use none::NoTangential;
pub use partial_slip::{PartialSlip, Rule};
pub use spring::{Spring, Stiffness};

use super::{Dissipation, Memory, Touch, tangential_energy, turn_with_frame};
use crate::math::Vec3;
use serde::{Deserialize, Serialize};

/// Tangential force of a contact.
pub trait TangentialLaw: Copy + Sync {
    /// Force on body i in the tangent plane \[N\]. `load` is the pushing normal force \[N\], `normal_stiffness` and
    /// `normal_damping` the tangent stiffness \[N/m\] and dashpot \[N s/m\] of the normal direction. Advances the
    /// memory and books what is lost.
    fn respond(
        &self,
        touch: &Touch,
        load: f64,
        normal_stiffness: f64,
        normal_damping: f64,
        memory: &mut Memory,
        dissipated: &mut Dissipation,
    ) -> Vec3;
    /// Coulomb coefficient \[-\].
    fn friction(&self) -> f64;
    /// Largest tangential stiffness over the normal one \[-\], and the dashpot \[N s/m\] beside a normal one: for the
    /// advice on the time step.
    fn stiffness_ratio(&self, normal_stiffness: f64) -> f64;
    /// Dashpot coefficient \[N s/m\].
    fn dashpot(&self, effective_mass: f64, normal_damping: f64) -> f64;
}

/// How a tangential dashpot is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TangentialDamping {
    /// No dashpot.
    #[default]
    None,
    /// Coefficient \[N s/m\].
    Coefficient(f64),
    /// Coefficient over the effective mass \[1/s\].
    PerMass(f64),
    /// Coefficient over that of the normal dashpot \[-\].
    Ratio(f64),
}

impl TangentialDamping {
    /// Coefficient \[N s/m\].
    #[inline]
    pub fn coefficient(&self, effective_mass: f64, normal_damping: f64) -> f64 {
        match self {
            TangentialDamping::None => 0.0,
            TangentialDamping::Coefficient(c) => *c,
            TangentialDamping::PerMass(rate) => rate * effective_mass,
            TangentialDamping::Ratio(ratio) => ratio * normal_damping,
        }
    }
}

/// The free choice of a scene.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case")]
pub enum AnyTangential {
    /// Smooth bodies.
    None(NoTangential),
    /// Spring of given stiffness with a slider.
    Spring(Spring),
    /// Spring of Mindlin's no-slip stiffness with a slider.
    Mindlin(Mindlin),
    /// Dashpot with a slider, no spring.
    Dashpot(Dashpot),
    /// Stiffness that falls as slip spreads.
    PartialSlip(PartialSlip),
    /// Softening function of the displacement.
    Langston(Langston),
    /// Spring along the present slip.
    Literal(Literal),
}

macro_rules! each {
    ($self:ident, $law:ident => $body:expr) => {
        match $self {
            AnyTangential::None($law) => $body,
            AnyTangential::Spring($law) => $body,
            AnyTangential::Mindlin($law) => $body,
            AnyTangential::Dashpot($law) => $body,
            AnyTangential::PartialSlip($law) => $body,
            AnyTangential::Langston($law) => $body,
            AnyTangential::Literal($law) => $body,
        }
    };
}

impl TangentialLaw for AnyTangential {
    fn respond(
        &self,
        touch: &Touch,
        load: f64,
        normal_stiffness: f64,
        normal_damping: f64,
        memory: &mut Memory,
        dissipated: &mut Dissipation,
    ) -> Vec3 {
        each!(self, law => law.respond(touch, load, normal_stiffness, normal_damping, memory, dissipated))
    }
    fn friction(&self) -> f64 {
        each!(self, law => law.friction())
    }
    fn stiffness_ratio(&self, normal_stiffness: f64) -> f64 {
        each!(self, law => law.stiffness_ratio(normal_stiffness))
    }
    fn dashpot(&self, effective_mass: f64, normal_damping: f64) -> f64 {
        each!(self, law => law.dashpot(effective_mass, normal_damping))
    }
}

/// Spring and dashpot in parallel, in series with a slider: the vector form of Cundall & Strack (1979).
///
/// $$\mathbf F_t = -k_t\,\boldsymbol\xi - c_t\,\mathbf v_t,\qquad |\mathbf F_t| \le \mu F_n$$
///
/// The displacement ξ turns with the contact frame and grows by the mean slip of the step. Beyond the limit the force
/// returns radially to it and the slider gives way: spring and dashpot together go on with the velocity **u** for which
/// they carry the limit, $-k_t(\boldsymbol\xi + \mathbf u\,\Delta t) - c_t\mathbf u = \mathbf F_t$, so that the spring
/// comes to hold it alone (Gavrilov 1999, eq. (5.9)) within a time $c_t/k_t$, at once without a dashpot. Filling the
/// spring at once with a dashpot beside it would make energy: up to ½(μF_n)²/k_t at every jerk. A steadily sliding
/// contact has no dashpot, and sticks at once when the motion reverses.
///
/// When the stiffness changes with the load, a stiffer spring keeps its force and a softer one its displacement, so
/// that no cycle of loading gains energy (Thornton et al. 2013; LAMMPS calls it rescaling).
#[inline]
pub fn spring_and_slider(
    k: f64,
    c: f64,
    friction: f64,
    touch: &Touch,
    load: f64,
    memory: &mut Memory,
    dissipated: &mut Dissipation,
) -> Vec3 {
    let stride = touch.mean.slip * touch.dt;

    // The last step, turned into the new frame.
    let spring_before = turn_with_frame(memory.spring, touch);
    let dashpot_before = turn_with_frame(Vec3::from_array(memory.last.tangential_dashpot.map(f64::from)), touch);
    let force_before = dashpot_before - memory.stiffness * spring_before;
    let energy_before = tangential_energy(memory);

    // Trial: stick. A new contact has an empty spring.
    let (kept, dt) = match memory.touching {
        true if k > memory.stiffness => (spring_before * (memory.stiffness / k), touch.dt),
        true => (spring_before, touch.dt),
        false => (Vec3::ZERO, 0.0),
    };
    let mut stretch = touch.mean.slip * dt;
    let mut dashpot = -c * touch.now.slip;
    let mut force = dashpot - k * (kept + stretch);

    // Slide: radial return to the Coulomb limit; spring and dashpot move as far as they carry it.
    let limit = friction * load;
    let trial2 = force.length_squared();
    if trial2 > limit * limit {
        force *= limit / trial2.sqrt();
        let give = k * dt + c;
        if give > 0.0 {
            let u = (force + k * kept) / -give;
            stretch = u * dt;
            dashpot = -c * u;
        } else {
            // No time passes (the loads of an instant are wanted) and no dashpot holds: the slider lets go at once.
            stretch = force / -k - kept;
        }
    }
    let spring = kept + stretch;

    memory.spring = spring;
    memory.stiffness = k;
    memory.last.tangential_dashpot = dashpot.to_array().map(|f| f as f32);

    // Work done by the contact on the bodies, less what the spring gave or took, is lost.
    let work = 0.5 * (force_before + force).dot(stride);
    let damped = -0.5 * (dashpot_before + dashpot).dot(stretch);
    dissipated.damping += damped;
    dissipated.friction -= work + (tangential_energy(memory) - energy_before) + damped;
    force
}
