//! Velocity Verlet for bodies with three equal moments of inertia: spheres, and discs that turn about z only.
//!
//! The scheme is that of `velocity_verlet`. Here the end of a step and the beginning of the next one are one pass over
//! whole records where nothing happens between the two: the velocity at the end of a step is then a number that nobody
//! reads. The bits are the same either way. While a step goes on the column of velocities holds those half way through
//! it, which are its mean velocities.

use super::rotation::turn_exactly;
use super::{CHUNK, Integrator, Speeds};
use crate::lanes::{Record, Width};
use crate::math::{Quat, Vec3};
use crate::model::Model;
use crate::particles::{Load, Motion, Particles, Place, is_isotropic};
use crate::state::State;
use rayon::prelude::*;

/// Steps between two turns of the orientations. The orientation of a sphere is a picture, it moves nothing: it is turned
/// by the spin in the middle of every eight steps.
pub const TURN_EVERY: u64 = 8;

/// Whether the orientations are turned at the beginning of the step that comes after `steps` steps.
pub fn turns_after(steps: u64) -> bool {
    steps % TURN_EVERY == TURN_EVERY / 2
}

/// Turns the orientations of all bodies with equal moments of inertia by what they turn in [`TURN_EVERY`] steps.
pub fn turn_all(particles: &mut Particles, dt: f64) {
    let (bodies, inertia) = (&particles.motion, &particles.inertia);
    particles.orientation.par_chunks_mut(CHUNK).enumerate().for_each(|(c, chunk)| {
        for (k, q) in chunk.iter_mut().enumerate() {
            let (body, inertia) = (&bodies[c * CHUNK + k], inertia[c * CHUNK + k]);
            if is_isotropic(inertia) {
                turn_picture(q, body, dt);
            }
        }
    });
}

/// Turns the orientation of one body by what it turns in [`TURN_EVERY`] steps.
#[inline(always)]
fn turn_picture(q: &mut Quat, body: &Motion, dt: f64) {
    if body.angular_velocity != Vec3::ZERO && body.inverse_mass != 0.0 {
        *q = turn_exactly(*q, body.angular_velocity * (dt * TURN_EVERY as f64));
    }
}

/// Orientation of a grain at the present time: up to [`TURN_EVERY`] steps are still to be turned or turned ahead.
pub fn orientation(model: &Model, state: &State, i: usize) -> Quat {
    let (p, q) = (&state.particles, state.particles.orientation[i]);
    if model.integrator != Integrator::VelocityVerlet || !is_isotropic(p.inertia[i]) || p.is_fixed(i) {
        return q;
    }
    let steps = (state.step % TURN_EVERY) as f64;
    let missing = if steps <= (TURN_EVERY / 2) as f64 { steps } else { steps - TURN_EVERY as f64 };
    turn_exactly(q, p.angular_velocity(i) * (missing * model.dt))
}

/// What to do with the grains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// First kick and drift.
    Begin,
    /// Second kick.
    Finish,
    /// Second kick of a step, first kick and drift of the next.
    FinishAndBegin,
}

/// Records of some grains.
pub struct Columns<'a> {
    /// Centres.
    pub place: &'a mut [Place],
    /// Velocities: of the end of a step, or half way through it.
    pub motion: &'a mut [Motion],
    /// Velocities at the time of the force, where somebody wants them.
    pub now: Option<&'a mut [Motion]>,
    /// Orientations, when it is time to turn them.
    pub orientation: Option<&'a mut [Quat]>,
    /// Loads: after the first kick, those of gravity alone.
    pub load: &'a mut [Load],
    /// Masses of the grains that the loads left behind are for: these, or others that take their places.
    pub mass: &'a [f64],
    /// Kinds.
    pub kind: &'a [u16],
}

/// Energy lost by dashpots and by sliding, summed over grains in their order \[J\].
pub type Lost = [f64; 2];

/// What a pass found of the velocities.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// Least and largest of each component of the velocities.
    least: Record,
    largest: Record,
    /// Zeros, or NaN where a component is not finite.
    odd: Record,
}

impl Found {
    /// Nothing.
    pub const NOTHING: Self = Self { least: [f64::INFINITY; 8], largest: [f64::NEG_INFINITY; 8], odd: [0.0; 8] };

    /// What a pass would find of these velocities.
    pub fn of(motions: &[Motion]) -> Self {
        motions.iter().fold(Self::NOTHING, |mut all, motion| {
            for (c, v) in motion.as_record().into_iter().enumerate() {
                all.least[c] = all.least[c].min(v);
                all.largest[c] = all.largest[c].max(v);
                all.odd[c] += v * 0.0;
            }
            all
        })
    }

    /// Bound of the speeds relative to a velocity; NaN if a grain has no finite state.
    pub fn deviation(&self, from: Vec3) -> f64 {
        let off = |c: usize| (self.largest[c] - from[c]).max(from[c] - self.least[c]).max(0.0);
        let odd: f64 = self.odd.iter().sum();
        Vec3::new(off(0), off(1), off(2)).length() + odd
    }

    /// Bounds of the speeds; NaN if a grain has no finite state.
    pub fn speeds(&self) -> Speeds {
        let odd: f64 = self.odd.iter().sum();
        let length = |f: &dyn Fn(usize) -> f64| (0..3).map(|c| f(c).powi(2)).sum::<f64>().sqrt();
        Speeds {
            absolute: length(&|c| self.largest[c].max(-self.least[c]).max(0.0)) + odd,
            relative: length(&|c| (self.largest[c] - self.least[c]).max(0.0)) + odd,
        }
    }

    /// The larger speeds of both.
    pub fn merged(self, other: &Self) -> Self {
        Self {
            least: std::array::from_fn(|k| self.least[k].min(other.least[k])),
            largest: std::array::from_fn(|k| self.largest[k].max(other.largest[k])),
            odd: std::array::from_fn(|k| self.odd[k] + other.odd[k]),
        }
    }
}

/// The scheme for one model.
#[derive(Clone, Debug)]
pub struct Isotropic {
    dt: f64,
    /// Acceleration by fields that need nothing but the mass \[m/s²\].
    gravity: Vec3,
    /// m r² over the moment of inertia of each kind \[-\].
    inverse_inertia: Vec<f64>,
    /// Ones, and zeros for what a planar scene locks.
    free: Record,
    width: Width,
}

impl Isotropic {
    /// The scheme, if it is that of the model and all grains have the equal moments of inertia of their kind.
    pub fn of(model: &Model, particles: &Particles, width: Width) -> Option<Self> {
        if model.integrator != Integrator::VelocityVerlet {
            return None;
        }
        let of_kind = |factor: Vec3| is_isotropic(factor).then_some(1.0 / factor.z);
        let inverse_inertia =
            model.kinds.iter().map(|kind| of_kind(kind.inertia_factor)).collect::<Option<Vec<f64>>>()?;
        let as_its_kind = |i: usize| {
            let body = &particles.motion[i];
            let inertia = particles.inertia[i];
            let one = inertia.z
                * body.inverse_mass
                * body.inverse_radius.powi(2)
                * inverse_inertia[particles.kind[i] as usize];
            is_isotropic(inertia) && (one - 1.0).abs() < 1e-12
        };
        let at_rest = |i: usize| particles.velocity(i) == Vec3::ZERO && particles.angular_velocity(i) == Vec3::ZERO;
        if !(0..particles.owned()).all(|i| if particles.is_fixed(i) { at_rest(i) } else { as_its_kind(i) }) {
            return None;
        }
        let free = if model.planar { [1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0] } else { [1.0; 8] };
        Some(Self { dt: model.dt, gravity: model.gravity_alone().unwrap_or(Vec3::ZERO), inverse_inertia, free, width })
    }

    /// One pass over some grains.
    pub fn pass(&self, pass: Pass, columns: &mut Columns) -> (Found, Lost) {
        match pass {
            Pass::Begin => self.run::<false, true>(columns),
            Pass::Finish => self.run::<true, false>(columns),
            Pass::FinishAndBegin => self.run::<true, true>(columns),
        }
    }

    fn run<const FINISH: bool, const BEGIN: bool>(&self, columns: &mut Columns) -> (Found, Lost) {
        match self.width {
            // SAFETY: the width was found on this processor.
            #[cfg(target_arch = "x86_64")]
            Width::Eight => unsafe { self.run_eight::<FINISH, BEGIN>(columns) },
            #[cfg(target_arch = "x86_64")]
            Width::Four => unsafe { self.run_four::<FINISH, BEGIN>(columns) },
            _ => self.all::<FINISH, BEGIN>(columns),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2")]
    unsafe fn run_eight<const FINISH: bool, const BEGIN: bool>(&self, columns: &mut Columns) -> (Found, Lost) {
        self.all::<FINISH, BEGIN>(columns)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn run_four<const FINISH: bool, const BEGIN: bool>(&self, columns: &mut Columns) -> (Found, Lost) {
        self.all::<FINISH, BEGIN>(columns)
    }

    #[inline(always)]
    fn all<const FINISH: bool, const BEGIN: bool>(&self, columns: &mut Columns) -> (Found, Lost) {
        let Columns { place, motion, now, orientation, load, mass, kind } = columns;
        let (place, motion, loads) = (&mut **place, &mut **motion, &mut **load);
        let n = place.len();
        assert!(motion.len() == n && loads.len() == n && mass.len() == n && kind.len() == n);
        let (h, dt) = (0.5 * self.dt, self.dt);
        let Found { mut least, mut largest, mut odd } = Found::NOTHING;
        let mut sums: Record = [0.0; 8];
        let (g, moves) = (self.gravity, [dt, dt, dt, 0.0]);
        for k in 0..n {
            let load: Record = loads[k].as_record();
            if BEGIN {
                loads[k] = Load::of_gravity(mass[k], g);
            }
            if FINISH {
                for c in 0..8 {
                    sums[c] += load[c];
                }
            }
            let body = motion[k];
            let push = h * body.inverse_mass;
            let turn = push * (body.inverse_radius * body.inverse_radius) * self.inverse_inertia[kind[k] as usize];
            let factor = [push, push, push, 0.0, turn, turn, turn, 0.0];
            let mut v = body.as_record();
            let mut kick: Record = [0.0; 8];
            for c in 0..8 {
                kick[c] = load[c] * factor[c] * self.free[c];
                if FINISH {
                    v[c] += kick[c];
                }
                if BEGIN {
                    v[c] = v[c] * self.free[c] + kick[c];
                    least[c] = if v[c] < least[c] { v[c] } else { least[c] };
                    largest[c] = if v[c] > largest[c] { v[c] } else { largest[c] };
                }
                odd[c] += v[c] * 0.0;
            }
            motion[k] = Motion::from_record(v);
            if BEGIN {
                // Whole records, the radius by nothing: pieces take longer to write.
                let x = place[k].as_quad();
                place[k] = Place::from_quad(std::array::from_fn(|c| x[c] + v[c] * moves[c]));
                if let Some(now) = now {
                    now[k] = Motion::from_record(std::array::from_fn(|c| v[c] + kick[c]));
                }
            }
        }
        if let Some(orientation) = orientation {
            for (q, body) in orientation.iter_mut().zip(motion.iter()) {
                turn_picture(q, body, dt);
            }
        }
        (Found { least, largest, odd }, [sums[3], sums[7]])
    }
}
