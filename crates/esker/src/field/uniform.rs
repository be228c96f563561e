//! Gravity and a uniform force.

use super::Field;
use crate::math::Vec3;
use crate::particles::Particles;

/// Uniform acceleration: F = m g.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gravity {
    /// Acceleration g \[m/s²\].
    pub acceleration: Vec3,
}

impl Field for Gravity {
    fn name(&self) -> &'static str {
        "gravity"
    }
    fn force(&self, grains: &Particles, i: usize, _: f64) -> Vec3 {
        grains.mass[i] * self.acceleration
    }
    fn has_potential(&self) -> bool {
        true
    }
    fn potential(&self, grains: &Particles, i: usize) -> f64 {
        if grains.is_fixed(i) { 0.0 } else { -grains.mass[i] * self.acceleration.dot(grains.position(i)) }
    }
    fn uniform_acceleration(&self) -> Option<Vec3> {
        Some(self.acceleration)
    }
}

/// The same force on every grain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UniformForce {
    /// Force \[N\].
    pub force: Vec3,
}

impl Field for UniformForce {
    fn is_constant(&self) -> bool {
        true
    }
    fn name(&self) -> &'static str {
        "uniform force"
    }
    fn force(&self, _: &Particles, _: usize, _: f64) -> Vec3 {
        self.force
    }
    fn has_potential(&self) -> bool {
        true
    }
    fn potential(&self, grains: &Particles, i: usize) -> f64 {
        if grains.is_fixed(i) { 0.0 } else { -self.force.dot(grains.position(i)) }
    }
}
