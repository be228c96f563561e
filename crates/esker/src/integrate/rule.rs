//! Schemes that are one rule for any velocity $v$ with a rate $a$.
//!
//! The rule is applied twice: to velocity and acceleration, which move the centre, and to angular momentum and torque, which
//! turn the body. A sphere or disc is turned by the angular velocity; a body with different moments of inertia by the free
//! rotation that belongs to the angular momentum, second order by itself.

use super::body::Body;
use super::{Keeps, Scheme, rotation};
use crate::math::Vec3;
use crate::particles::{Last, Particles, is_isotropic};

/// What is known at the beginning of a step.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Velocity.
    pub v: Vec3,
    /// Its rate, by the last force.
    pub a: Vec3,
    /// Velocity one step ago, if the rule keeps it.
    pub v_last: Vec3,
    /// Its rate one step ago, if the rule keeps it.
    pub a_last: Vec3,
}

/// The way to where the force is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// Displacement from the beginning of the step over dt.
    pub path: Vec3,
    /// Displacement since the last force over dt: the same, unless the last step moved the grain after its force.
    pub mean: Vec3,
    /// Velocity at the time of the force.
    pub v: Vec3,
}

/// The end of a step.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// Velocity.
    pub v: Vec3,
    /// Displacement after the force over dt; of no effect unless the rule says that it moves at the end.
    pub path: Vec3,
}

/// A scheme as a rule for a velocity.
pub trait Rule: Sync {
    /// Whether it needs what was one step ago.
    const KEEPS_LAST: bool = false;
    /// Whether something is left to do after the force.
    const HAS_END: bool = false;
    /// Whether grains move after the force.
    const MOVES_AT_END: bool = false;
    /// Whether forces are wanted in the middle of the step and not at its end.
    const HALF_WAY: bool = false;
    /// Whether a force acts as kicks of its own time and no other.
    const TAKES_IMPULSES: bool = false;
    /// Whether it turns spheres, which are a picture only, in each step.
    const TURNS_SPHERES: bool = true;

    /// Before the force.
    fn begin(known: Known, dt: f64) -> Way;

    /// With the new rate `a`; `a_last` is that at the beginning of the step, if the rule keeps it.
    fn finish(way: Way, _a_last: Vec3, _a: Vec3, _dt: f64) -> End {
        End { v: way.v, path: Vec3::ZERO }
    }
}

/// Angular momentum of a body \[N m s\]. That of a sphere does not ask for its orientation.
fn momentum(b: &Body, spin: Vec3) -> Vec3 {
    if b.is_isotropic() { b.inertia.x * spin } else { rotation::apply_tensor(*b.orientation, b.inertia, spin) }
}

/// Turns a body by a mean angular momentum over dt.
fn turn<R: Rule>(b: &mut Body, momentum: Vec3, dt: f64) {
    if !b.is_isotropic() {
        *b.orientation = b.rotation.turned(*b.orientation, b.inertia, momentum, dt);
    } else if R::TURNS_SPHERES {
        *b.orientation = rotation::turn(*b.orientation, momentum * (dt / b.inertia.x));
    }
}

impl<R: Rule> Scheme for R {
    fn keeps(&self) -> Keeps {
        if R::KEEPS_LAST { Keeps::Last } else { Keeps::Nothing }
    }

    /// Half way, grains move by the mean velocity from one force to the next, whatever the end of the step does.
    fn corrects_places(&self) -> bool {
        R::MOVES_AT_END && !R::HALF_WAY
    }

    fn has_end(&self) -> bool {
        R::HAS_END
    }

    fn has_own_rotation(&self) -> bool {
        false
    }

    fn takes_impulses(&self) -> bool {
        R::TAKES_IMPULSES
    }

    fn half_way(&self) -> bool {
        R::HALF_WAY
    }

    #[inline]
    fn begin(&self, mut b: Body, dt: f64) {
        let last = *b.last;
        let (v, a) = (b.motion.velocity, b.acceleration());
        let (l, t) = (momentum(&b, b.motion.angular_velocity), b.load.torque);
        if R::KEEPS_LAST {
            *b.last = Last { velocity: v, acceleration: a, momentum: l, torque: t };
        }

        let way = R::begin(Known { v, a, v_last: last.velocity, a_last: last.acceleration }, dt);
        b.place.position += way.path * dt;
        b.mean.velocity = way.mean;
        b.motion.velocity = way.v;

        let way = R::begin(Known { v: l, a: t, v_last: last.momentum, a_last: last.torque }, dt);
        if b.is_isotropic() {
            turn::<R>(&mut b, way.path, dt);
            let inverse = 1.0 / b.inertia.x;
            b.mean.angular_velocity = way.mean * inverse;
            b.motion.angular_velocity = way.v * inverse;
        } else {
            let before = b.spin_of(way.mean);
            turn::<R>(&mut b, way.path, dt);
            // The middle between two forces is the beginning of the step if they are half way.
            b.mean.angular_velocity = if R::HALF_WAY { before } else { 0.5 * (before + b.spin_of(way.mean)) };
            b.motion.angular_velocity = b.spin_of(way.v);
            *b.momentum = way.mean;
        }
    }

    #[inline]
    fn finish(&self, mut b: Body, dt: f64) {
        let way = |mean: Vec3, v: Vec3| Way { path: mean, mean, v };
        let end = R::finish(way(b.mean.velocity, b.motion.velocity), b.last.acceleration, b.acceleration(), dt);
        b.motion.velocity = end.v;
        if R::MOVES_AT_END {
            b.place.position += end.path * dt;
        }

        let mean = if b.is_isotropic() { b.inertia.x * b.mean.angular_velocity } else { *b.momentum };
        let now = momentum(&b, b.motion.angular_velocity);
        let end = R::finish(way(mean, now), b.last.torque, b.load.torque, dt);
        if R::MOVES_AT_END {
            turn::<R>(&mut b, end.path, dt);
        }
        b.motion.angular_velocity = if b.is_isotropic() { end.v / b.inertia.x } else { b.spin_of(end.v) };
    }
}

/// Starts the memory of grains that have none: as if the present force had acted for a step.
pub fn start(particles: &mut Particles, dt: f64) {
    for i in particles.last.len()..particles.owned() {
        let (motion, load, inertia) = (&particles.motion[i], &particles.load[i], particles.inertia[i]);
        let acceleration = load.force * motion.inverse_mass;
        let momentum = if is_isotropic(inertia) {
            inertia.x * motion.angular_velocity
        } else {
            rotation::apply_tensor(particles.orientation[i], inertia, motion.angular_velocity)
        };
        particles.last.push(Last {
            velocity: motion.velocity - acceleration * dt,
            acceleration,
            momentum: momentum - load.torque * dt,
            torque: load.torque,
        });
    }
}
