//! Time integration of grains, one file per scheme.
//!
//! A [`Scheme`] says what happens to one grain before and after the forces. Most are a [`rule`] for a velocity and its rate,
//! written once and applied to the motion of the centre and to the rotation.
//!
//! A step is [`begin`], forces, [`finish`]; some schemes try forces out on the way ([`Scheme::trials`], [`pass`]). `begin` moves the grains to where forces are wanted and leaves two
//! velocities: in `motion` the best estimate **at the time of the force**, which dashpots and sliders read, and in
//! `mean` the mean over the step, i.e. the displacement since the last force divided by dt, with which springs grow and
//! work is booked. With velocity Verlet contacts extrapolate the first from the second, see
//! [`half_a_step_later`](crate::law::ContactVelocity::half_a_step_later). Ordinary velocity Verlet hands the half-step
//! velocity to both; at size ratios above three the mismatch between velocity and contact normal then gives wrong friction
//! (Vyas et al. 2025).
//!
//! | scheme | order | forces at | notes |
//! |---|---|---|---|
//! | [`velocity_verlet`] | 2 | t + dt | the default; symplectic without damping |
//! | [`leap_frog`] | 2 | t + dt/2 | drift–kick–drift form |
//! | [`symplectic_euler`] | 1 | t + dt | |
//! | [`explicit_euler`] | 1 | t + dt | gains energy in contacts |
//! | [`taylor`] | 1 | t + dt | gains half as much |
//! | [`adams_bashforth`] | 2 | t + dt | keeps velocities and loads of one step ago |
//! | [`beeman`] | 2 | t + dt | keeps loads of one step ago |
//! | [`newmark`] | 2, with damping 1 | t + dt | corrects places after the force |
//! | [`hermite`] | 4, with damping 3 | t + dt/2, t + dt | corrects places after the force |
//! | [`runge_kutta`] | 4 | twice t + dt/2, twice t + dt | |
//! | [`gear`] | 3, 4, 5 | t + dt | predictor–corrector of Džiugys & Peters (1998); corrects places after the force |
//!
//! These are the orders on a smooth force, held by `tests/orders.rs`. `tests/schemes.rs` holds what each does to a collision
//! and to the account of energy.

pub mod adams_bashforth;
pub mod ahead;
pub mod beeman;
mod body;
pub mod euler_angles;
pub mod explicit_euler;
pub mod gear;
pub mod hermite;
pub mod isotropic;
pub mod leap_frog;
pub mod newmark;
pub mod rotation;
pub mod rule;
pub mod runge_kutta;
pub mod symplectic_euler;
pub mod taylor;
pub mod velocity_verlet;

pub use body::{Bodies, Body, CHUNK};

use crate::math::{Quat, Vec3};
use crate::model::Model;
use crate::particles::{Motion, Particles};
use crate::state::held;
use serde::{Deserialize, Serialize};

/// Time integration scheme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Integrator {
    /// Velocity Verlet with contact velocities extrapolated to the time of the force.
    #[default]
    VelocityVerlet,
    /// Leap-frog in drift–kick–drift form.
    LeapFrog,
    /// Symplectic Euler.
    SymplecticEuler,
    /// Gear predictor–corrector of fifth order.
    Gear,
    /// Gear predictor–corrector of third order.
    #[serde(rename = "gear-3")]
    Gear3,
    /// Gear predictor–corrector of fourth order.
    #[serde(rename = "gear-4")]
    Gear4,
    /// Explicit Euler.
    ExplicitEuler,
    /// Taylor series to second order in position.
    Taylor,
    /// Adams–Bashforth of second order.
    AdamsBashforth,
    /// Beeman.
    Beeman,
    /// Newmark predictor–corrector in one pass.
    Newmark,
    /// Hermite of fourth order.
    Hermite,
    /// Runge–Kutta of fourth order.
    RungeKutta,
}

impl Integrator {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::VelocityVerlet,
        Self::LeapFrog,
        Self::SymplecticEuler,
        Self::Gear,
        Self::Gear3,
        Self::Gear4,
        Self::ExplicitEuler,
        Self::Taylor,
        Self::AdamsBashforth,
        Self::Beeman,
        Self::Newmark,
        Self::Hermite,
        Self::RungeKutta,
    ];

    /// Its name, as a scene writes it, and the scheme.
    fn entry(self) -> (&'static str, &'static dyn Scheme) {
        match self {
            Integrator::VelocityVerlet => ("velocity-verlet", &velocity_verlet::VelocityVerlet),
            Integrator::LeapFrog => ("leap-frog", &leap_frog::LeapFrog),
            Integrator::SymplecticEuler => ("symplectic-euler", &symplectic_euler::SymplecticEuler),
            Integrator::Gear => ("gear", &gear::Gear::<6>),
            Integrator::Gear3 => ("gear-3", &gear::Gear::<4>),
            Integrator::Gear4 => ("gear-4", &gear::Gear::<5>),
            Integrator::ExplicitEuler => ("explicit-euler", &explicit_euler::ExplicitEuler),
            Integrator::Taylor => ("taylor", &taylor::Taylor),
            Integrator::AdamsBashforth => ("adams-bashforth", &adams_bashforth::AdamsBashforth),
            Integrator::Beeman => ("beeman", &beeman::Beeman),
            Integrator::Newmark => ("newmark", &newmark::Newmark),
            Integrator::Hermite => ("hermite", &hermite::Hermite),
            Integrator::RungeKutta => ("runge-kutta", &runge_kutta::RungeKutta),
        }
    }

    /// Its name, as a scene writes it.
    pub fn name(self) -> &'static str {
        self.entry().0
    }

    /// What it does.
    pub fn scheme(self) -> &'static dyn Scheme {
        self.entry().1
    }

    /// Time at which the forces of the step from `begin` to `end` are evaluated \[s\].
    pub fn force_time(self, begin: f64, end: f64) -> f64 {
        if self.scheme().half_way() { 0.5 * (begin + end) } else { end }
    }
}

/// How bodies with different moments of inertia are turned, by schemes that do not turn them in their own way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rotation {
    /// Quaternions, by [exact rotations](rotation::free_rotation) about the principal axes.
    #[default]
    Quaternions,
    /// [Euler angles](euler_angles), in one of two sets of axes.
    EulerAngles,
}

impl Rotation {
    /// Orientation of a body with a conserved angular momentum after dt.
    #[inline]
    fn turned(self, orientation: Quat, inertia: Vec3, momentum: Vec3, dt: f64) -> Quat {
        match self {
            Self::Quaternions => rotation::free_rotation(orientation, inertia, momentum, dt),
            Self::EulerAngles => euler_angles::free_rotation(orientation, inertia, momentum, dt),
        }
    }
}

/// What a scheme keeps of a grain from step to step besides its place, velocities and load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// Nothing.
    Nothing,
    /// [`Particles::last`].
    Last,
    /// [`Particles::derivatives`].
    Derivatives,
}

/// What happens to one grain in a step.
pub trait Scheme: Sync {
    /// What it keeps from step to step.
    fn keeps(&self) -> Keeps;

    /// Whether places are corrected after the forces, by what no velocity tells.
    fn corrects_places(&self) -> bool;

    /// Whether forces are wanted in the middle of the step and not at its end.
    fn half_way(&self) -> bool {
        false
    }

    /// Whether it takes a force as kicks of its own time and no other, so that a field may act as
    /// [impulses](crate::field::Field::every).
    fn takes_impulses(&self) -> bool {
        false
    }

    /// Whether it turns bodies in its own way, whatever [`Rotation`] is asked for.
    fn has_own_rotation(&self) -> bool {
        true
    }

    /// Whether something is left to do after the forces.
    fn has_end(&self) -> bool {
        true
    }

    /// Times at which forces are tried out on the way, from the beginning of the step over dt: before those of the step,
    /// and without effect on what contacts remember.
    fn trials(&self) -> &'static [f64] {
        &[]
    }

    /// Moves the grain to where forces are wanted, those of the first trial if there are any.
    fn begin(&self, b: Body, dt: f64);

    /// After the forces of a trial: moves the grain to the next one or, after the last, to where those of the step are
    /// wanted.
    fn pass(&self, _b: Body, _trial: usize, _dt: f64) {}

    /// Ends the step with the new load.
    fn finish(&self, b: Body, dt: f64);

    /// [`begin`](Scheme::begin) for some grains, compiled for the scheme. Returns the square of the largest speed
    /// \[m²/s²\], NaN if a grain has no finite state.
    fn begin_all(&self, bodies: Bodies, planar: bool, dt: f64) -> f64 {
        bodies.for_each(planar, |b| self.begin(b, dt))
    }

    /// The same for [`pass`](Scheme::pass).
    fn pass_all(&self, bodies: Bodies, trial: usize, planar: bool, dt: f64) -> f64 {
        bodies.for_each(planar, |b| self.pass(b, trial, dt))
    }

    /// The same for [`finish`](Scheme::finish).
    fn finish_all(&self, bodies: Bodies, planar: bool, dt: f64) -> f64 {
        bodies.for_each(planar, |b| self.finish(b, dt))
    }
}

/// Bounds of how fast grains move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speeds {
    /// Of any grain \[m/s\].
    pub absolute: f64,
    /// Of any two grains relative to each other \[m/s\].
    pub relative: f64,
}

impl From<f64> for Speeds {
    /// When nothing but the largest speed is known.
    fn from(absolute: f64) -> Self {
        Self { absolute, relative: 2.0 * absolute }
    }
}

/// Working memory of the integration: disposable between steps.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// Mean velocity over the step; images follow the real grains.
    pub mean: Vec<Motion>,
    momentum: Vec<Vec3>,
    start: Vec<ahead::Start>,
}

impl Scratch {
    /// Memory held \[byte\].
    pub fn memory(&self) -> usize {
        held(&self.mean) + held(&self.momentum) + held(&self.start)
    }

    /// Fits the columns to `n` grains.
    pub fn fit(&mut self, n: usize) {
        self.mean.resize(n, Motion::AT_REST);
        self.momentum.resize(n, Vec3::ZERO);
    }

    /// Makes room for schemes that try forces out.
    fn fit_start(&mut self, n: usize) {
        self.start.resize(n, ahead::Start::default());
    }
}

/// Starts what the scheme keeps for grains it keeps nothing of yet, with their present loads, and forgets what another scheme
/// has left.
pub fn start(integrator: Integrator, particles: &mut Particles, dt: f64) {
    let keeps = integrator.scheme().keeps();
    match keeps {
        Keeps::Nothing => {}
        Keeps::Last => rule::start(particles, dt),
        Keeps::Derivatives => gear::start(particles, dt),
    }
    if keeps != Keeps::Last {
        particles.last = Vec::new();
    }
    if keeps != Keeps::Derivatives {
        particles.derivatives = Vec::new();
    }
}

/// Moves the grains to where forces are wanted. Returns the largest speed \[m/s\], NaN if a grain has no finite state.
pub fn begin(model: &Model, particles: &mut Particles, scratch: &mut Scratch) -> f64 {
    let scheme = model.integrator.scheme();
    if !scheme.trials().is_empty() {
        scratch.fit_start(particles.owned());
    }
    let bodies = Bodies::of(particles, scratch, model.rotation);
    bodies.in_chunks(|bodies| scheme.begin_all(bodies, model.planar, model.dt)).sqrt()
}

/// Goes on after the forces of a trial. Returns the largest speed \[m/s\], NaN if a grain has no finite state.
pub fn pass(model: &Model, particles: &mut Particles, scratch: &mut Scratch, trial: usize) -> f64 {
    let scheme = model.integrator.scheme();
    let bodies = Bodies::of(particles, scratch, model.rotation);
    bodies.in_chunks(|bodies| scheme.pass_all(bodies, trial, model.planar, model.dt)).sqrt()
}

/// Ends the step with the new loads. Returns the largest speed \[m/s\], NaN if a grain has no finite state.
pub fn finish(model: &Model, particles: &mut Particles, scratch: &mut Scratch) -> f64 {
    let scheme = model.integrator.scheme();
    if !scheme.has_end() {
        return 0.0;
    }
    let bodies = Bodies::of(particles, scratch, model.rotation);
    bodies.in_chunks(|bodies| scheme.finish_all(bodies, model.planar, model.dt)).sqrt()
}
