//! Contact laws: pure functions of one contact, in six slots.
//!
//! A law sees a [`Touch`] (geometry and velocities of one contact) and the contact's [`Memory`], never the particle
//! arrays. Slots: normal, damping, cohesion, tangential, rolling, twisting. Each slot is a trait with one file per law and
//! an `Any…` enum, the free choice of a scene. Here each formula is written to be read; the common ones are arranged for
//! several contacts at once in [`crate::contact::batch`].
//!
//! Signs: the normal runs from body i to body j, overlap is positive in contact, the approach speed is positive while
//! the overlap grows, and forces and couples returned act on body i (body j gets the opposite force).
//!
//! **Energy.** Work of a force over a step is booked with the mean of the forces at both ends of the step times the
//! displacement over the step. In velocity Verlet this is, up to a term that telescopes, exactly the work the
//! integrator does, so the ledger measures the scheme and not its own quadrature. [`Memory`] keeps what that needs
//! of the previous step. Of a normal force that depends on its [`History`], what is not held is lost: its work less what
//! it could give back.
//!
//! **Range.** Some forces act before bodies touch, or until a neck or a bridge between them breaks. [`Law::range`] tells
//! how far apart they may be; overlaps are then negative. Friction and dashpots act as far as the normal law does, not where
//! a bridge alone pulls.
//!
//! Hard bodies, which exchange an impulse in an instant, have a law of their own: [`collision`].

pub mod cohesion;
pub mod collision;
pub mod damping;
pub mod normal;
pub mod restitution;
pub mod rolling;
pub mod tangential;
pub mod twisting;

use crate::contact::from_middle_to_end;
use crate::math::Vec3;
use cohesion::{AnyCohesion, CohesionLaw};
use damping::{AnyDamping, DampingLaw};
use normal::{AnyNormal, NormalLaw};
use rolling::{AnyRolling, NoRolling, RollingLaw};
use serde::{Deserialize, Serialize};
use tangential::{AnyTangential, NoTangential, TangentialLaw};
use twisting::{AnyTwisting, NoTwisting, TwistingLaw};

/// One contact as a law sees it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Touch {
    /// Overlap δ \[m\], positive where the bodies touch.
    pub overlap: f64,
    /// Unit normal from body i to body j.
    pub normal: Vec3,
    /// The normal in the middle of the step that led here, with a component of one along `normal`: mean velocities belong
    /// to it, and it carries the memory from the old tangent plane to the new one.
    pub middle: Vec3,
    /// Effective radius R\* \[m\]: 1/R\* = 1/Ri + 1/Rj.
    pub effective_radius: f64,
    /// What an elongated area of contact adds to R\* in [`Touch::hertz_radius`], over R\*: 0 between spheres and on planes, see
    /// [`elliptic_factor`](normal::elliptic_factor).
    pub elongation: f64,
    /// Curvatures of both bodies, 1/Ri and 1/Rj, in the mean of both directions \[1/m\]: 0 of a plane, negative of a hollow.
    pub curvature: [f64; 2],
    /// Effective mass m\* \[kg\]: 1/m\* = 1/mi + 1/mj.
    pub effective_mass: f64,
    /// Velocities at the time of the force.
    pub now: ContactVelocity,
    /// Mean velocities over the step that led here; the slip lies in the tangent plane of the end.
    pub mean: ContactVelocity,
    /// Length of that step \[s\].
    pub dt: f64,
}

/// Relative velocity of the two surfaces at a contact, body i minus body j.
#[derive(Clone, Copy, Debug, Default)]
pub struct ContactVelocity {
    /// Rate of overlap \[m/s\]: positive while approaching.
    pub approach: f64,
    /// Tangential velocity of surface i relative to surface j \[m/s\].
    pub slip: Vec3,
    /// Relative angular velocity ωi − ωj \[rad/s\].
    pub turning: Vec3,
    /// Spin of the contact frame about the normal: mean of ωi·n and ωj·n, weighted with the levers \[rad/s\].
    pub frame_spin: f64,
}

impl Touch {
    /// Radius of Hertz's force \[m\]: R\*, or what an elliptic area of contact makes of it.
    #[inline]
    pub fn hertz_radius(&self) -> f64 {
        self.effective_radius * (1.0 + self.elongation)
    }
}

impl ContactVelocity {
    /// What the next step has to know of the velocities half way through this one.
    pub fn rates(&self) -> LastRates {
        LastRates { approach: self.approach, slip: self.slip, turning: self.turning }
    }

    /// Velocities half a step later, where the normal is `normal`, from how they changed since the last step. Slip is
    /// extrapolated as a vector in space, which turns with the contact, and then lies in the tangent plane but for
    /// terms of second order.
    pub fn half_a_step_later(&self, last: Option<&LastRates>, normal: Vec3) -> Self {
        let last = last.copied().unwrap_or(self.rates());
        let slip = self.slip + 0.5 * (self.slip - last.slip);
        Self {
            approach: self.approach + 0.5 * (self.approach - last.approach),
            slip: slip - normal * slip.dot(normal),
            turning: self.turning + 0.5 * (self.turning - last.turning),
            frame_spin: self.frame_spin,
        }
    }

    /// Part of the relative angular velocity in the tangent plane: rolling \[rad/s\].
    pub fn rolling(&self, normal: Vec3) -> Vec3 {
        self.turning - normal * self.turning.dot(normal)
    }
}

/// What a contact remembers from step to step. Turns with the contact frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Of the normal force.
    pub history: History,
    /// Elastic tangential displacement ξ \[m\]; the spring force on i is −k ξ.
    pub spring: Vec3,
    /// Tangential stiffness at the last step \[N/m\].
    pub stiffness: f64,
    /// Tangential force at its last reversal, along the slip it resisted, and normal force at the last step, of laws that go
    /// by them \[N\]. Of Mindlin & Deresiewicz three numbers that do not turn with the frame tell what has slipped.
    pub reversal: Vec3,
    /// See `reversal`.
    pub load: f64,
    /// Elastic rolling angle \[rad\].
    pub rolling: Vec3,
    /// Elastic twist about the normal \[rad\].
    pub twisting: f64,
    /// Rolling and twisting stiffness at the last step \[N m/rad\].
    pub couple_stiffness: [f64; 2],
    /// Forces at the end of the last step that are not functions of the fields above: only the ledger reads them,
    /// so single precision is enough.
    pub last: LastForces,
    /// Mean velocities over the last step.
    pub rates: LastRates,
    /// Whether there was a force between the bodies at the last step.
    pub touching: bool,
}

/// What a normal force remembers. Laws that depend on the overlap alone leave it as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// Overlap at the last step \[m\].
    pub overlap: f64,
    /// Overlap up to which the contact has yielded \[m\].
    pub peak: f64,
    /// Overlap at which it was last loaded again \[m\].
    pub turn: f64,
    /// Speed at which the bodies met \[m/s\].
    pub impact: f64,
    /// Force at the last step \[N\] and energy it could give back \[J\], of laws that lose some.
    pub force: f64,
    /// See `force`.
    pub energy: f64,
}

/// Mean velocities over the last step, see [`ContactVelocity`]: from how they change the velocities at the time of the
/// force are extrapolated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LastRates {
    /// Rate of overlap \[m/s\].
    pub approach: f64,
    /// Tangential velocity half way through the step \[m/s\].
    pub slip: Vec3,
    /// Relative angular velocity \[rad/s\].
    pub turning: Vec3,
}

/// Ledger's record of the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LastForces {
    /// Normal force less its elastic part \[N\].
    pub normal_dashpot: f32,
    /// Viscous part of the tangential force on i \[N\].
    pub tangential_dashpot: [f32; 3],
    /// Couple on i \[N m\].
    pub couple: [f32; 3],
}

/// Energy turned into heat in one step, by cause \[J\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Dissipation {
    /// Normal and tangential dashpots, contacts that yield, necks and bridges that form and break.
    pub damping: f64,
    /// Sliding.
    pub friction: f64,
    /// Rolling and twisting resistance.
    pub rolling: f64,
}

impl Dissipation {
    /// All of it \[J\].
    pub fn total(&self) -> f64 {
        self.damping + self.friction + self.rolling
    }
}

impl std::ops::AddAssign for Dissipation {
    fn add_assign(&mut self, o: Self) {
        self.damping += o.damping;
        self.friction += o.friction;
        self.rolling += o.rolling;
    }
}

impl std::ops::Mul<f64> for Dissipation {
    type Output = Self;
    fn mul(self, f: f64) -> Self {
        Self { damping: self.damping * f, friction: self.friction * f, rolling: self.rolling * f }
    }
}

/// Energy held by a contact \[J\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stored {
    /// Of the normal force.
    pub normal: f64,
    /// Of the tangential, rolling and twisting springs.
    pub tangential: f64,
}

impl Stored {
    /// All of it \[J\].
    pub fn total(&self) -> f64 {
        self.normal + self.tangential
    }
}

/// What a law answers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Response {
    /// Force on body i at the contact point \[N\].
    pub force: Vec3,
    /// Normal part of that force, positive when it pushes the bodies apart \[N\].
    pub normal_force: f64,
    /// Couple on body i (body j gets the opposite) \[N m\].
    pub couple: Vec3,
    /// Energy lost over the step.
    pub dissipated: Dissipation,
}

/// When a contact with a dashpot ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContactEnd {
    /// The dashpot never pulls: where it would, the normal force is zero (Schwager & Pöschel 2007), or what an adhesive law
    /// pulls with by itself. The default: dry grains do not stick.
    #[default]
    NoTension,
    /// The law holds until the overlap is zero, with tension at the end of contact (the usual closed forms).
    Geometric,
}

/// A contact law, one choice per slot.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Law {
    /// Normal force.
    pub normal: AnyNormal,
    /// Normal dashpot.
    pub damping: AnyDamping,
    /// Attraction besides the normal law.
    pub cohesion: AnyCohesion,
    /// Tangential force.
    pub tangential: AnyTangential,
    /// Rolling resistance.
    pub rolling: AnyRolling,
    /// Twisting resistance.
    pub twisting: AnyTwisting,
    /// When the contact ends.
    pub end: ContactEnd,
}

impl Touch {
    /// Rolling angle of the step, in the tangent plane of its end \[rad\].
    fn rolled(&self) -> Vec3 {
        let angle = self.mean.rolling(self.middle) * self.dt;
        from_middle_to_end(angle, self.normal, self.mean.frame_spin * self.dt)
    }

    /// Angle of twisting of the step \[rad\].
    fn twisted(&self) -> f64 {
        self.mean.turning.dot(self.middle) * self.dt
    }
}

/// Turns a tangent vector with the contact frame over one step: with the normal into the new tangent plane, then about
/// the normal with the spin of the frame, at unchanged length (`spec` 001 §3.3).
///
/// The smallest rotation that takes the old normal to the new one moves a tangent vector along the bisector of the two,
/// which is the normal in the middle of the step. Projection along the new normal instead, as is usual, shortens one
/// component only and is of first order. Sine and cosine of the angle of spin are right to fifth order, and so is the
/// length.
#[inline]
pub fn turn_with_frame(v: Vec3, touch: &Touch) -> Vec3 {
    let (n, middle) = (touch.normal, touch.middle);
    let lifted = v - middle * (v.dot(n) / middle.dot(n));
    let angle = touch.mean.frame_spin * touch.dt;
    let angle2 = angle * angle;
    let sine = angle * (1.0 - angle2 / 6.0);
    let cosine = 1.0 - angle2 * (0.5 - angle2 / 24.0);
    lifted * cosine + n.cross(lifted) * sine
}

/// The normal force of two bodies that touch.
#[derive(Clone, Copy, Debug)]
pub struct Pressed {
    /// Of the normal law \[N\].
    pub elastic: f64,
    /// Its tangent stiffness \[N/m\].
    pub stiffness: f64,
    /// Coefficient of the dashpot \[N s/m\].
    pub damping: f64,
    /// Both together, by the rule for the end of contact \[N\].
    pub pushing: f64,
    /// What else pulls, as a negative force \[N\].
    pub cohesion: f64,
}

impl Law {
    /// A normal law and nothing else.
    pub fn elastic(normal: AnyNormal) -> Self {
        Self {
            normal,
            damping: AnyDamping::None,
            cohesion: AnyCohesion::None,
            tangential: AnyTangential::None(NoTangential),
            rolling: AnyRolling::None(NoRolling),
            twisting: AnyTwisting::None(NoTwisting),
            end: ContactEnd::default(),
        }
    }

    /// No force at all: of bodies that meet in hard [collisions](collision) only.
    pub fn none() -> Self {
        Self::elastic(AnyNormal::Hooke(normal::Hooke { stiffness: 0.0 }))
    }

    /// How far apart two bodies of these curvatures may be for a force between them \[m\]; `touched` tells whether there was
    /// one a step ago.
    pub fn range(&self, curvature: [f64; 2], touched: bool) -> f64 {
        self.normal.range(curvature, touched).max(self.cohesion.range(curvature, touched))
    }

    /// Whether the normal law acts in a contact, not only what reaches farther.
    fn is_solid(&self, touch: &Touch, memory: &Memory) -> bool {
        let range = self.normal.range(touch.curvature, memory.touching);
        touch.overlap > -range || self.cohesion.range(touch.curvature, memory.touching) <= range
    }

    /// Whether the normal force loses energy by itself.
    fn is_lossy(&self) -> bool {
        self.normal.is_lossy() || self.cohesion.is_lossy()
    }

    /// The normal force: spring, dashpot, the rule for the end of contact, attraction.
    #[inline]
    pub fn press(&self, touch: &Touch, history: &History) -> Pressed {
        let elastic = self.normal.force(touch, history);
        let stiffness = self.normal.stiffness(touch, history);
        let damping = self.damping.coefficient(touch, elastic, stiffness, history);
        let free = elastic + damping * touch.now.approach;
        let pushing = match self.end {
            // Only a law that adheres may pull; a hair of negative overlap is rounding.
            ContactEnd::NoTension => free.max(if self.normal.is_lossy() { elastic.min(0.0) } else { 0.0 }),
            ContactEnd::Geometric => free,
        };
        Pressed { elastic, stiffness, damping, pushing, cohesion: self.cohesion.force(touch) }
    }

    /// Force and couple on body i, and the energy lost in the step that led here. Advances the memory.
    #[inline]
    pub fn respond(&self, touch: &Touch, memory: &mut Memory) -> Response {
        if !self.is_solid(touch, memory) {
            return self.pull(touch, memory);
        }
        let mut dissipated = Dissipation::default();
        if !memory.touching {
            memory.history.impact = touch.now.approach.max(0.0);
        }
        self.normal.advance(touch, &mut memory.history);
        let pressed = self.press(touch, &memory.history);
        let normal_force = pressed.pushing + pressed.cohesion;
        let dashpot = pressed.pushing - pressed.elastic;
        dissipated.damping += 0.5 * (memory.last.normal_dashpot as f64 + dashpot) * touch.mean.approach * touch.dt;
        memory.last.normal_dashpot = dashpot as f32;
        if self.is_lossy() {
            let energy = self.normal.energy(touch, &memory.history) + self.cohesion.energy(touch);
            dissipated.damping += lost_by_itself(pressed.elastic + pressed.cohesion, energy, touch, memory);
        }

        // Coulomb limits take what presses the bodies together, attraction included: tension makes no friction.
        let load = (pressed.pushing + self.normal.extra_load(touch, &memory.history)).max(0.0);
        let Pressed { stiffness, damping, .. } = pressed;
        let tangential_force = self.tangential.respond(touch, load, stiffness, damping, memory, &mut dissipated);

        let before = couple_energy(memory);
        let couple = self.rolling.couple(touch, load, stiffness, memory)
            + touch.normal * self.twisting.couple(touch, load, stiffness, memory);
        let after = couple_energy(memory);
        let mean = 0.5 * (Vec3::from_array(memory.last.couple.map(f64::from)) + couple);
        dissipated.rolling -= mean.dot(touch.mean.turning) * touch.dt + (after - before);
        memory.last.couple = couple.to_array().map(|c| c as f32);
        memory.touching = true;
        Response { force: tangential_force - touch.normal * normal_force, normal_force, couple, dissipated }
    }

    /// The same where bodies do not touch, but something pulls.
    fn pull(&self, touch: &Touch, memory: &mut Memory) -> Response {
        let mut dissipated = open(&touch.mean, touch.dt, memory);
        let normal_force = self.cohesion.force(touch);
        if self.is_lossy() {
            dissipated.damping += lost_by_itself(normal_force, self.cohesion.energy(touch), touch, memory);
        }
        memory.touching = true;
        Response { force: touch.normal * -normal_force, normal_force, couple: Vec3::ZERO, dissipated }
    }

    /// Books the last half step of a contact that has just ended, forgets it, and returns what was lost. `mean` holds
    /// the mean velocities of the step in which it ended.
    pub fn release(&self, mean: &ContactVelocity, dt: f64, memory: &mut Memory) -> Dissipation {
        let mut lost = open(mean, dt, memory);
        if self.is_lossy() {
            lost.damping += 0.5 * dt * memory.history.force * mean.approach + memory.history.energy;
        }
        *memory = Memory::default();
        lost
    }

    /// The normal force as it is \[N\]; changes nothing.
    pub fn normal_force(&self, touch: &Touch, memory: &Memory) -> f64 {
        if !self.is_solid(touch, memory) {
            return self.cohesion.force(touch);
        }
        let pressed = self.press(touch, &memory.history);
        pressed.pushing + pressed.cohesion
    }

    /// Elastic energy of the contact as it is \[J\].
    pub fn stored(&self, touch: &Touch, memory: &Memory) -> Stored {
        let of_spring = if self.is_solid(touch, memory) { self.normal.energy(touch, &memory.history) } else { 0.0 };
        let normal = of_spring + self.cohesion.energy(touch);
        Stored { normal, tangential: tangential_energy(memory) + couple_energy(memory) }
    }
}

/// What a normal force loses in a step by itself, as it depends on its history: its work less the change of what it could give
/// back \[J\].
fn lost_by_itself(force: f64, energy: f64, touch: &Touch, memory: &mut Memory) -> f64 {
    let history = &mut memory.history;
    let lost = 0.5 * (history.force + force) * touch.mean.approach * touch.dt - (energy - history.energy);
    (history.force, history.energy) = (force, energy);
    lost
}

/// Books the last half step of bodies that have just lost touch. What is left of their memory is what a bridge between them goes
/// on with: how they have yielded is forgotten, as when they part.
fn open(mean: &ContactVelocity, dt: f64, memory: &mut Memory) -> Dissipation {
    let spring_force = -memory.stiffness * memory.spring;
    let dashpot = Vec3::from_array(memory.last.tangential_dashpot.map(f64::from));
    let couple = Vec3::from_array(memory.last.couple.map(f64::from));
    let lost = Dissipation {
        damping: 0.5 * dt * (memory.last.normal_dashpot as f64 * mean.approach - dashpot.dot(mean.slip)),
        friction: tangential_energy(memory) - 0.5 * dt * spring_force.dot(mean.slip),
        rolling: couple_energy(memory) - 0.5 * dt * couple.dot(mean.turning),
    };
    let History { impact, force, energy, .. } = memory.history;
    *memory = Memory { history: History { impact, force, energy, ..Default::default() }, ..Default::default() };
    lost
}

/// ½ k ξ² of the tangential spring \[J\].
fn tangential_energy(memory: &Memory) -> f64 {
    0.5 * memory.stiffness * memory.spring.length_squared()
}

/// ½ k θ² of the rolling and twisting springs \[J\].
fn couple_energy(memory: &Memory) -> f64 {
    0.5 * (memory.couple_stiffness[0] * memory.rolling.length_squared()
        + memory.couple_stiffness[1] * memory.twisting * memory.twisting)
}
