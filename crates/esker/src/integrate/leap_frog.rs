//! Leap-frog in drift–kick–drift form (Džiugys & Peters 1998, eq. (138), with positions instead of velocities at the
//! half step, so that a run starts and stops with both at the same time). Forces are taken at t + dt/2; contact
//! velocities are extrapolated there with the last acceleration.

use super::{Body, rotation};

/// First half drift.
#[inline]
pub fn begin(b: Body, dt: f64) {
    let h = 0.5 * dt;
    b.mean.velocity = b.motion.velocity;
    b.place.position += b.motion.velocity * h;
    b.motion.velocity += b.acceleration() * h;

    if b.is_isotropic() {
        b.mean.angular_velocity = b.motion.angular_velocity;
        *b.orientation = rotation::turn(*b.orientation, b.motion.angular_velocity * h);
        b.motion.angular_velocity += b.load.torque * (h / b.inertia.x);
    } else {
        let momentum = b.angular_momentum();
        *b.orientation = rotation::free_rotation(*b.orientation, b.inertia, momentum, h);
        b.mean.angular_velocity = b.spin_of(momentum);
        b.motion.angular_velocity = b.spin_of(momentum + b.load.torque * h);
        *b.momentum = momentum;
    }
}

/// Kick and second half drift.
#[inline]
pub fn finish(b: Body, dt: f64) {
    let h = 0.5 * dt;
    b.motion.velocity = b.mean.velocity + b.acceleration() * dt;
    b.place.position += b.motion.velocity * h;
    if b.is_isotropic() {
        b.motion.angular_velocity = b.mean.angular_velocity + b.load.torque * (dt / b.inertia.x);
        *b.orientation = rotation::turn(*b.orientation, b.motion.angular_velocity * h);
    } else {
        let momentum = *b.momentum + b.load.torque * dt;
        *b.orientation = rotation::free_rotation(*b.orientation, b.inertia, momentum, h);
        b.motion.angular_velocity = b.spin_of(momentum);
    }
}
