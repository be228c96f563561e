//! Time integration of grains, one file per scheme.
//!
//! A step is [`begin`], forces, [`finish`]. `begin` moves the grains to where forces are wanted and leaves two
//! velocities: in `motion` the best estimate **at the time of the force**, which dashpots and sliders read, and in
//! `mean` the mean over the step, i.e. the displacement since the last force divided by dt, with which springs grow and
//! work is booked. With velocity Verlet contacts extrapolate the first from the second, see
//! [`half_a_step_later`](crate::law::ContactVelocity::half_a_step_later). Ordinary velocity Verlet hands the half-step
//! velocity to both; at size ratios above three the mismatch between velocity and contact normal then gives wrong friction (Vyas et al. 2025).
//!
//! | scheme | order | forces at | notes |
//! |---|---|---|---|
//! | velocity Verlet | 2 | t + dt | the default; symplectic without damping |
//! | leap-frog | 2 | t + dt/2 | drift–kick–drift form |
//! | symplectic Euler | 1 | t + dt | |
//! | Gear | 5 | t + dt | six-value predictor–corrector of Džiugys & Peters (1998) |

pub mod gear;
pub mod isotropic;
mod leap_frog;
pub mod rotation;
mod symplectic_euler;
mod velocity_verlet;

use crate::math::{Quat, Vec3};
use crate::particles::{Derivatives, Load, Motion, Particles, Place, is_isotropic};
use crate::state::held;
use rayon::prelude::*;
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
}

impl Integrator {
    /// Its name, as a scene writes it.
    pub fn name(self) -> &'static str {
        match self {
            Integrator::VelocityVerlet => "velocity-verlet",
            Integrator::LeapFrog => "leap-frog",
            Integrator::SymplecticEuler => "symplectic-euler",
            Integrator::Gear => "gear",
        }
    }

    /// Time at which the forces of the step from `begin` to `end` are evaluated \[s\].
    pub fn force_time(self, begin: f64, end: f64) -> f64 {
        match self {
            Integrator::LeapFrog => 0.5 * (begin + end),
            _ => end,
        }
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

/// One grain as an integrator sees it.
pub struct Body<'a> {
    /// Centre and radius.
    pub place: &'a mut Place,
    /// Velocities.
    pub motion: &'a mut Motion,
    /// Force and torque.
    pub load: &'a Load,
    /// Principal moments \[kg m²\].
    pub inertia: Vec3,
    /// Orientation.
    pub orientation: &'a mut Quat,
    /// Mean velocity over the step.
    pub mean: &'a mut Motion,
    /// Room for an angular momentum between `begin` and `finish` \[N m s\].
    pub momentum: &'a mut Vec3,
}

impl Body<'_> {
    /// Acceleration \[m/s²\].
    fn acceleration(&self) -> Vec3 {
        self.load.force * self.motion.inverse_mass
    }

    /// Whether the orientation does not matter to the dynamics.
    fn is_isotropic(&self) -> bool {
        is_isotropic(self.inertia)
    }

    /// Angular momentum \[N m s\].
    fn angular_momentum(&self) -> Vec3 {
        rotation::apply_tensor(*self.orientation, self.inertia, self.motion.angular_velocity)
    }

    /// Angular velocity that belongs to an angular momentum in the present orientation \[rad/s\].
    fn spin_of(&self, momentum: Vec3) -> Vec3 {
        rotation::apply_tensor(*self.orientation, self.inertia.recip(), momentum)
    }
}

/// Working memory of the integration: disposable between steps.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// Mean velocity over the step; images follow the real grains.
    pub mean: Vec<Motion>,
    momentum: Vec<Vec3>,
}

impl Scratch {
    /// Memory held \[byte\].
    pub fn memory(&self) -> usize {
        held(&self.mean) + held(&self.momentum)
    }

    /// Fits the columns to `n` grains.
    pub fn fit(&mut self, n: usize) {
        self.mean.resize(n, Motion::AT_REST);
        self.momentum.resize(n, Vec3::ZERO);
    }
}

const CHUNK: usize = 1024;

/// What `begin` found out: the largest speed \[m/s\], NaN if any grain has no finite state.
fn for_each_body(
    particles: &mut Particles,
    scratch: &mut Scratch,
    planar: bool,
    f: impl Fn(Body, Option<&mut Derivatives>) + Sync,
) -> f64 {
    let n = particles.owned();
    scratch.fit(n);
    let gear = !particles.derivatives.is_empty();
    let chunk = |first: usize,
                 place: &mut [Place],
                 motion: &mut [Motion],
                 load: &[Load],
                 orientation: &mut [Quat],
                 mean: &mut [Motion],
                 momentum: &mut [Vec3],
                 mut derivatives: Option<&mut [Derivatives]>| {
        let mut fastest = 0.0f64;
        let mut finite = true;
        for k in 0..place.len() {
            if motion[k].inverse_mass == 0.0 {
                mean[k] = Motion::AT_REST;
                continue;
            }
            let z = place[k].position.z;
            f(
                Body {
                    place: &mut place[k],
                    motion: &mut motion[k],
                    load: &load[k],
                    inertia: particles.inertia[first + k],
                    orientation: &mut orientation[k],
                    mean: &mut mean[k],
                    momentum: &mut momentum[k],
                },
                derivatives.as_mut().map(|d| &mut d[k]),
            );
            if planar {
                place[k].position.z = z;
                mean[k].velocity.z = 0.0;
                motion[k].velocity.z = 0.0;
                motion[k].angular_velocity.x = 0.0;
                motion[k].angular_velocity.y = 0.0;
            }
            let speed2 = motion[k].velocity.length_squared().max(mean[k].velocity.length_squared());
            finite &= (motion[k].velocity + motion[k].angular_velocity + place[k].position).is_finite();
            fastest = fastest.max(speed2);
        }
        if finite { fastest } else { f64::NAN }
    };
    let larger = |a: f64, b: f64| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) };
    let speed2 = if n <= 4 * CHUNK {
        let derivatives = gear.then_some(particles.derivatives.as_mut_slice());
        chunk(
            0,
            &mut particles.place[..n],
            &mut particles.motion[..n],
            &particles.load,
            &mut particles.orientation,
            &mut scratch.mean,
            &mut scratch.momentum,
            derivatives,
        )
    } else {
        let columns = (
            particles.place[..n].par_chunks_mut(CHUNK),
            particles.motion[..n].par_chunks_mut(CHUNK),
            particles.load.par_chunks(CHUNK),
            particles.orientation.par_chunks_mut(CHUNK),
            scratch.mean.par_chunks_mut(CHUNK),
            scratch.momentum.par_chunks_mut(CHUNK),
        );
        if gear {
            (
                columns.0,
                columns.1,
                columns.2,
                columns.3,
                columns.4,
                columns.5,
                particles.derivatives.par_chunks_mut(CHUNK),
            )
                .into_par_iter()
                .enumerate()
                .map(|(c, (p, m, l, o, v, s, d))| chunk(c * CHUNK, p, m, l, o, v, s, Some(d)))
                .reduce(|| 0.0, larger)
        } else {
            columns
                .into_par_iter()
                .enumerate()
                .map(|(c, (p, m, l, o, v, s))| chunk(c * CHUNK, p, m, l, o, v, s, None))
                .reduce(|| 0.0, larger)
        }
    };
    speed2.sqrt()
}

/// Moves the grains to where forces are wanted. Returns the largest speed \[m/s\], NaN if a grain has no finite state.
pub fn begin(integrator: Integrator, particles: &mut Particles, scratch: &mut Scratch, planar: bool, dt: f64) -> f64 {
    match integrator {
        Integrator::VelocityVerlet => for_each_body(particles, scratch, planar, |b, _| velocity_verlet::begin(b, dt)),
        Integrator::LeapFrog => for_each_body(particles, scratch, planar, |b, _| leap_frog::begin(b, dt)),
        Integrator::SymplecticEuler => for_each_body(particles, scratch, planar, |b, _| symplectic_euler::begin(b, dt)),
        Integrator::Gear => for_each_body(particles, scratch, planar, |b, d| {
            if let Some(d) = d {
                gear::begin(b, d, dt);
            }
        }),
    }
}

/// Ends the step with the new loads. Returns the largest speed \[m/s\], NaN if a grain has no finite state.
pub fn finish(integrator: Integrator, particles: &mut Particles, scratch: &mut Scratch, planar: bool, dt: f64) -> f64 {
    match integrator {
        Integrator::VelocityVerlet => for_each_body(particles, scratch, planar, |b, _| velocity_verlet::finish(b, dt)),
        Integrator::LeapFrog => for_each_body(particles, scratch, planar, |b, _| leap_frog::finish(b, dt)),
        Integrator::SymplecticEuler => 0.0,
        Integrator::Gear => for_each_body(particles, scratch, planar, |b, d| {
            if let Some(d) = d {
                gear::finish(b, d, dt);
            }
        }),
    }
}
