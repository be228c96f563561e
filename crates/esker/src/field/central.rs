//! Attraction to a fixed centre.

use super::Field;
use crate::math::Vec3;
use crate::neighbor::PeriodicCell;
use crate::particles::Particles;

/// Attraction to a centre with a power of the distance: F = −m s d^p d̂.
///
/// p = 1 is a spring to the centre, p = −2 the gravity of a heavy body (s = G M); s < 0 repels. In a periodic cell the
/// nearest copy of the centre attracts: halfway between two copies the force turns round and the potential is continuous.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Central {
    /// Centre \[m\].
    pub centre: Vec3,
    /// Strength s \[m^(1−p)/s²\].
    pub strength: f64,
    /// Exponent p \[-\].
    pub exponent: f64,
    /// Periodic faces.
    pub cell: PeriodicCell,
}

impl Central {
    /// From the nearest copy of the centre to grain `i` \[m\].
    fn separation(&self, grains: &Particles, i: usize) -> Vec3 {
        self.cell.nearest(grains.position(i) - self.centre)
    }
}

impl Field for Central {
    fn name(&self) -> &'static str {
        "central"
    }
    fn force(&self, grains: &Particles, i: usize, _: f64) -> Vec3 {
        let d = self.separation(grains, i);
        let distance = d.length();
        if distance == 0.0 {
            return Vec3::ZERO;
        }
        d * (-grains.mass[i] * self.strength * distance.powf(self.exponent - 1.0))
    }
    fn has_potential(&self) -> bool {
        true
    }
    fn potential(&self, grains: &Particles, i: usize) -> f64 {
        if grains.is_fixed(i) {
            return 0.0;
        }
        let distance = self.separation(grains, i).length();
        let p = self.exponent + 1.0;
        let integral = if p == 0.0 { distance.ln() } else { distance.powf(p) / p };
        grains.mass[i] * self.strength * integral
    }
}
