//! Mutual attraction of all grains. Every pair is summed, O(n²) per step: for some thousands of grains.

use super::Field;
use crate::math::Vec3;
use crate::neighbor::PeriodicCell;
use crate::particles::Particles;

/// Newton's gravity between grains: F = −G m_i m_j d/d³. Grains that touch attract as points at their centres. In a
/// periodic cell a grain feels the nearest copy of every other grain, not the whole lattice of copies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MutualAttraction {
    /// Constant G \[m³/(kg s²)\].
    pub constant: f64,
    /// Periodic faces.
    pub cell: PeriodicCell,
    /// Steps between two looks at it.
    pub every: u64,
}

impl Field for MutualAttraction {
    fn name(&self) -> &'static str {
        "attraction"
    }
    fn force(&self, grains: &Particles, i: usize, _: f64) -> Vec3 {
        let x = grains.position(i);
        let sum: Vec3 = (0..grains.owned())
            .filter(|&j| j != i)
            .map(|j| {
                let d = self.cell.nearest(grains.position(j) - x);
                let d2 = d.length_squared();
                d * (grains.mass[j] / (d2 * d2.sqrt()))
            })
            .sum();
        self.constant * grains.mass[i] * sum
    }
    fn looks_at_others(&self) -> bool {
        true
    }
    fn every(&self) -> u64 {
        self.every
    }
    fn has_potential(&self) -> bool {
        true
    }
    fn potential(&self, grains: &Particles, i: usize) -> f64 {
        let x = grains.position(i);
        let distance = |j: usize| self.cell.nearest(grains.position(j) - x).length();
        let sum: f64 = (0..grains.owned()).filter(|&j| j != i).map(|j| grains.mass[j] / distance(j)).sum();
        -0.5 * self.constant * grains.mass[i] * sum
    }
}
