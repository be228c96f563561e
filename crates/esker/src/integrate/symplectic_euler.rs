//! Symplectic Euler: kick, drift. First order; one velocity serves all purposes.

use super::{Body, rotation};

/// Kick and drift; nothing is left for the end of the step.
#[inline]
pub fn begin(b: Body, dt: f64) {
    b.motion.velocity += b.acceleration() * dt;
    b.place.position += b.motion.velocity * dt;
    b.mean.velocity = b.motion.velocity;
    if b.is_isotropic() {
        b.motion.angular_velocity += b.load.torque * (dt / b.inertia.x);
        *b.orientation = rotation::turn(*b.orientation, b.motion.angular_velocity * dt);
    } else {
        let momentum = b.angular_momentum() + b.load.torque * dt;
        *b.orientation = rotation::free_rotation(*b.orientation, b.inertia, momentum, dt);
        b.motion.angular_velocity = b.spin_of(momentum);
    }
    b.mean.angular_velocity = b.motion.angular_velocity;
}
