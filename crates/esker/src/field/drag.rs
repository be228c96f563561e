//! Viscous drag.

use super::Field;
use crate::math::Vec3;
use crate::particles::Particles;
use std::f64::consts::PI;

/// How strong the drag is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DragCoefficient {
    /// The same for every grain \[kg/s\].
    Constant(f64),
    /// Stokes drag 6π η r in a fluid of viscosity η \[Pa s\].
    Stokes(f64),
    /// Proportional to the mass: F = −γ m (v − u), γ in \[1/s\].
    PerMass(f64),
}

/// Drag proportional to the velocity relative to a uniform flow: F = −k (v − u).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drag {
    /// Strength.
    pub coefficient: DragCoefficient,
    /// Velocity u of the fluid \[m/s\].
    pub flow: Vec3,
}

impl Field for Drag {
    fn name(&self) -> &'static str {
        "drag"
    }
    fn force(&self, grains: &Particles, i: usize, _: f64) -> Vec3 {
        let k = match self.coefficient {
            DragCoefficient::Constant(k) => k,
            DragCoefficient::Stokes(viscosity) => 6.0 * PI * viscosity * grains.radius(i),
            DragCoefficient::PerMass(rate) => rate * grains.mass[i],
        };
        -k * (grains.velocity(i) - self.flow)
    }
    fn has_potential(&self) -> bool {
        false
    }
    fn potential(&self, _: &Particles, _: usize) -> f64 {
        0.0
    }
}
