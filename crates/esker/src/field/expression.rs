//! A force given as three expressions.

use super::Field;
use crate::expression::Program;
use crate::math::Vec3;
use crate::neighbor::PeriodicCell;
use crate::particles::Particles;

/// Names an expression may use, all in SI units: position, velocity, time, radius, mass.
pub const SLOTS: [&str; 9] = ["x", "y", "z", "vx", "vy", "vz", "t", "r", "m"];

/// Force with components given as expressions in [`SLOTS`]. The position is the one inside the periodic cell, so the force
/// does not depend on how often a grain has gone round; where it is not the same on both sides of a face it jumps there.
/// Its work is booked step by step.
#[derive(Clone, Debug)]
pub struct ExpressionField {
    /// Components of the force \[N\].
    pub force: [Program; 3],
    /// Periodic faces.
    pub cell: PeriodicCell,
}

impl Field for ExpressionField {
    fn name(&self) -> &'static str {
        "expression"
    }
    fn force(&self, grains: &Particles, i: usize, t: f64) -> Vec3 {
        let (x, v) = (self.cell.wrapped(grains.position(i)), grains.velocity(i));
        let slots = [x.x, x.y, x.z, v.x, v.y, v.z, t, grains.radius(i), grains.mass[i]];
        Vec3::from_array(std::array::from_fn(|k| self.force[k].eval(&slots)))
    }
    fn has_potential(&self) -> bool {
        false
    }
    fn potential(&self, _: &Particles, _: usize) -> f64 {
        0.0
    }
}
