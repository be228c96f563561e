//! One grain as an integrator sees it, and the walk over all of them.

use super::ahead::Start;
use super::{Rotation, Scratch, rotation};
use crate::math::{Quat, Vec3};
use crate::particles::{Derivatives, Last, Load, Motion, Particles, Place, is_isotropic};
use rayon::prelude::*;

/// Grains that a worker takes at once.
pub const CHUNK: usize = 1024;

/// Up to this number of grains one worker does all of them.
const FEW: usize = 4 * CHUNK;

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
    /// Higher derivatives, lasting if the scheme keeps them.
    pub derivatives: &'a mut Derivatives,
    /// What was at the beginning of the last step, lasting if the scheme keeps it.
    pub last: &'a mut Last,
    /// Where the step began and what was gathered since, for schemes that try forces out.
    pub start: &'a mut Start,
    /// How it is turned.
    pub rotation: Rotation,
}

impl Body<'_> {
    /// Acceleration \[m/s²\].
    pub fn acceleration(&self) -> Vec3 {
        self.load.force * self.motion.inverse_mass
    }

    /// Whether the orientation does not matter to the dynamics.
    pub fn is_isotropic(&self) -> bool {
        is_isotropic(self.inertia)
    }

    /// Angular momentum \[N m s\].
    pub fn angular_momentum(&self) -> Vec3 {
        rotation::apply_tensor(*self.orientation, self.inertia, self.motion.angular_velocity)
    }

    /// Angular velocity that belongs to an angular momentum in the present orientation \[rad/s\].
    pub fn spin_of(&self, momentum: Vec3) -> Vec3 {
        rotation::spin(*self.orientation, self.inertia, momentum)
    }
}

/// The columns of some grains. Those that a scheme does not keep are empty.
pub struct Bodies<'a> {
    place: &'a mut [Place],
    motion: &'a mut [Motion],
    load: &'a [Load],
    inertia: &'a [Vec3],
    orientation: &'a mut [Quat],
    mean: &'a mut [Motion],
    momentum: &'a mut [Vec3],
    derivatives: &'a mut [Derivatives],
    last: &'a mut [Last],
    start: &'a mut [Start],
    rotation: Rotation,
}

/// Cuts up to `n` entries off the front.
fn front<'a, T>(column: &mut &'a mut [T], n: usize) -> &'a mut [T] {
    let n = n.min(column.len());
    column.split_off_mut(..n).unwrap_or_default()
}

/// The same for a column that is only read.
fn front_read<'a, T>(column: &mut &'a [T], n: usize) -> &'a [T] {
    let n = n.min(column.len());
    column.split_off(..n).unwrap_or_default()
}

impl<'a> Bodies<'a> {
    /// All real grains.
    pub fn of(particles: &'a mut Particles, scratch: &'a mut Scratch, rotation: Rotation) -> Self {
        let n = particles.owned();
        scratch.fit(n);
        Self {
            place: &mut particles.place[..n],
            motion: &mut particles.motion[..n],
            load: &particles.load,
            inertia: &particles.inertia,
            orientation: &mut particles.orientation,
            mean: &mut scratch.mean,
            momentum: &mut scratch.momentum,
            derivatives: &mut particles.derivatives,
            last: &mut particles.last,
            start: &mut scratch.start,
            rotation,
        }
    }

    fn take_front(&mut self, n: usize) -> Self {
        Self {
            place: front(&mut self.place, n),
            motion: front(&mut self.motion, n),
            load: front_read(&mut self.load, n),
            inertia: front_read(&mut self.inertia, n),
            orientation: front(&mut self.orientation, n),
            mean: front(&mut self.mean, n),
            momentum: front(&mut self.momentum, n),
            derivatives: front(&mut self.derivatives, n),
            last: front(&mut self.last, n),
            start: front(&mut self.start, n),
            rotation: self.rotation,
        }
    }

    /// Does something with all of them, in chunks. It returns the square of the largest speed in its chunk, NaN if a grain
    /// has no finite state; so does this.
    pub fn in_chunks(mut self, f: impl Fn(Bodies) -> f64 + Sync + Send) -> f64 {
        let larger = |a: f64, b: f64| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) };
        let n = self.place.len();
        if n <= FEW {
            return f(self);
        }
        let chunks: Vec<Bodies> = (0..n.div_ceil(CHUNK)).map(|_| self.take_front(CHUNK)).collect();
        chunks.into_par_iter().map(f).reduce(|| 0.0, larger)
    }

    /// Does something with each that is not fixed, and locks what a planar scene locks. Returns the square of the largest
    /// speed \[m²/s²\], NaN if a grain has no finite state.
    #[inline(always)]
    pub fn for_each(self, planar: bool, f: impl Fn(Body)) -> f64 {
        let Self { place, motion, load, inertia, orientation, mean, momentum, derivatives, last, start, rotation } =
            self;
        // For schemes that keep nothing.
        let (mut no_derivatives, mut no_last, mut no_start) =
            (Derivatives::default(), Last::default(), Start::default());
        let mut fastest = 0.0f64;
        let mut finite = true;
        for k in 0..place.len() {
            if motion[k].inverse_mass == 0.0 {
                mean[k] = Motion::AT_REST;
                continue;
            }
            let z = place[k].position.z;
            f(Body {
                place: &mut place[k],
                motion: &mut motion[k],
                load: &load[k],
                inertia: inertia[k],
                orientation: &mut orientation[k],
                mean: &mut mean[k],
                momentum: &mut momentum[k],
                derivatives: derivatives.get_mut(k).unwrap_or(&mut no_derivatives),
                last: last.get_mut(k).unwrap_or(&mut no_last),
                start: start.get_mut(k).unwrap_or(&mut no_start),
                rotation,
            });
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
    }
}
