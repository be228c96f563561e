//! What schemes share that look at forces on their way through a step ([`runge_kutta`](super::runge_kutta),
//! [`hermite`](super::hermite)): where the grain set out, and how places, velocities, angular momenta and orientations go
//! from there.

use super::body::Body;
use super::rotation;
use crate::math::{Quat, Vec3};
use std::ops::{Add, Mul};

/// Rates of everything that moves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rates {
    /// Velocity \[m/s\].
    pub velocity: Vec3,
    /// Acceleration \[m/s²\].
    pub acceleration: Vec3,
    /// Angular velocity \[rad/s\].
    pub spin: Vec3,
    /// Torque \[N m\].
    pub torque: Vec3,
    /// dq/dt \[1/s\], as (x, y, z, w).
    pub orientation: [f64; 4],
}

impl Rates {
    /// Of a grain as it stands, under its load.
    pub fn of(b: &Body) -> Self {
        Self {
            velocity: b.motion.velocity,
            acceleration: b.acceleration(),
            spin: b.motion.angular_velocity,
            torque: b.load.torque,
            orientation: rotation::rate(*b.orientation, b.motion.angular_velocity),
        }
    }
}

impl Mul<f64> for Rates {
    type Output = Self;

    fn mul(self, f: f64) -> Self {
        Self {
            velocity: self.velocity * f,
            acceleration: self.acceleration * f,
            spin: self.spin * f,
            torque: self.torque * f,
            orientation: self.orientation.map(|x| x * f),
        }
    }
}

impl Add for Rates {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            velocity: self.velocity + other.velocity,
            acceleration: self.acceleration + other.acceleration,
            spin: self.spin + other.spin,
            torque: self.torque + other.torque,
            orientation: std::array::from_fn(|c| self.orientation[c] + other.orientation[c]),
        }
    }
}

/// A grain at the beginning of a step, and what the scheme has gathered since.
#[derive(Clone, Copy, Debug, Default)]
pub struct Start {
    /// Centre \[m\].
    pub position: Vec3,
    /// Velocity \[m/s\].
    pub velocity: Vec3,
    /// Angular momentum \[N m s\].
    pub momentum: Vec3,
    /// Orientation.
    pub orientation: Quat,
    /// Whatever the scheme adds up.
    pub sum: Rates,
}

impl Start {
    /// A grain as it stands.
    pub fn of(b: &Body) -> Self {
        Self {
            position: b.place.position,
            velocity: b.motion.velocity,
            momentum: b.angular_momentum(),
            orientation: *b.orientation,
            sum: Rates::of(b),
        }
    }

    /// Puts the grain where these rates take it in a time `h`.
    pub fn go(&self, b: &mut Body, rates: &Rates, h: f64) {
        b.place.position = self.position + rates.velocity * h;
        b.mean.velocity = rates.velocity;
        b.motion.velocity = self.velocity + rates.acceleration * h;
        let q = self.orientation.to_array();
        *b.orientation = Quat::from_array(std::array::from_fn(|c| q[c] + rates.orientation[c] * h)).normalize();
        b.mean.angular_velocity = rates.spin;
        b.motion.angular_velocity = b.spin_of(self.momentum + rates.torque * h);
    }
}
