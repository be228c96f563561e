//! Velocity Verlet: kick, drift, forces, kick (Džiugys & Peters 1998, eq. (137)). Contacts extrapolate their velocities to
//! the time of the force from those of this step and the last, fields take v + a dt: both keep damping of second order.
//! Bodies with three equal moments of inertia are turned now and then only, see [`isotropic`](super::isotropic).

use super::{Body, rotation};

/// First kick and drift.
#[inline]
pub fn begin(b: Body, dt: f64) {
    let kick = b.acceleration() * (0.5 * dt);
    let half = b.motion.velocity + kick;
    b.place.position += half * dt;
    b.mean.velocity = half;
    b.motion.velocity = half + kick;

    if b.is_isotropic() {
        let kick = b.load.torque * (0.5 * dt / b.inertia.x);
        let half = b.motion.angular_velocity + kick;
        b.mean.angular_velocity = half;
        b.motion.angular_velocity = half + kick;
    } else {
        let kick = b.load.torque * (0.5 * dt);
        let half = b.angular_momentum() + kick;
        let spin_before = b.spin_of(half);
        *b.orientation = rotation::free_rotation(*b.orientation, b.inertia, half, dt);
        b.mean.angular_velocity = 0.5 * (spin_before + b.spin_of(half));
        b.motion.angular_velocity = b.spin_of(half + kick);
        *b.momentum = half;
    }
}

/// Second kick.
#[inline]
pub fn finish(b: Body, dt: f64) {
    b.motion.velocity = b.mean.velocity + b.acceleration() * (0.5 * dt);
    b.motion.angular_velocity = if b.is_isotropic() {
        b.mean.angular_velocity + b.load.torque * (0.5 * dt / b.inertia.x)
    } else {
        b.spin_of(*b.momentum + b.load.torque * (0.5 * dt))
    };
}
