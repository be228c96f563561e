//! Buoyancy in a fluid at rest.

use super::Field;
use crate::math::Vec3;
use crate::particles::Particles;
use crate::shape::Shape;

/// Weight of the displaced fluid: F = −V ρ_f g (Džiugys & Peters 1998, eq. (24)).
#[derive(Clone, Debug, PartialEq)]
pub struct Buoyancy {
    /// Density of the fluid \[kg/m³\].
    pub fluid_density: f64,
    /// Gravity \[m/s²\].
    pub gravity: Vec3,
    /// Shape of each kind of grain.
    pub shapes: Vec<Shape>,
}

impl Buoyancy {
    fn lift(&self, grains: &Particles, i: usize) -> Vec3 {
        let volume = self.shapes[grains.kind[i] as usize].volume(grains.radius(i));
        -volume * self.fluid_density * self.gravity
    }
}

impl Field for Buoyancy {
    fn is_constant(&self) -> bool {
        true
    }
    fn name(&self) -> &'static str {
        "buoyancy"
    }
    fn force(&self, grains: &Particles, i: usize, _: f64) -> Vec3 {
        self.lift(grains, i)
    }
    fn has_potential(&self) -> bool {
        true
    }
    fn potential(&self, grains: &Particles, i: usize) -> f64 {
        if grains.is_fixed(i) { 0.0 } else { -self.lift(grains, i).dot(grains.position(i)) }
    }
}
