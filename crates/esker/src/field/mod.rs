//! Force fields: forces on a grain that come from no contact. One trait, one file each.

mod attraction;
mod buoyancy;
mod central;
mod drag;
mod expression;
mod only;
mod uniform;

pub use attraction::MutualAttraction;
pub use buoyancy::Buoyancy;
pub use central::Central;
pub use drag::{Drag, DragCoefficient};
pub use expression::{ExpressionField, SLOTS};
pub use only::Only;
pub use uniform::{Gravity, UniformForce};

use crate::math::Vec3;
use crate::particles::Particles;

/// A force on every grain.
pub trait Field: Send + Sync {
    /// Name for the ledger.
    fn name(&self) -> &'static str;

    /// Force on grain `i` at time `t` \[N\].
    fn force(&self, grains: &Particles, i: usize, t: f64) -> Vec3;

    /// Whether the force comes from a potential; if not, the ledger adds up its work step by step.
    fn has_potential(&self) -> bool;

    /// Potential energy of grain `i` \[J\], the sum over all grains being the energy of the field; 0 without a potential.
    fn potential(&self, grains: &Particles, i: usize) -> f64;

    /// Steps between two looks at it. It acts as an impulse over as many: multiple time steps (r-RESPA; Tuckerman, Berne &
    /// Martyna, J. Chem. Phys. 97 (1992) 1990), for a field that costs more than it changes.
    fn every(&self) -> u64 {
        1
    }

    /// Whether the force on a grain is the same wherever it is, however it moves and at all times.
    fn is_constant(&self) -> bool {
        self.uniform_acceleration().is_some()
    }

    /// Whether the force on a grain depends on where others are.
    fn looks_at_others(&self) -> bool {
        false
    }

    /// The acceleration, if it is the same for every grain and at all times \[m/s²\].
    fn uniform_acceleration(&self) -> Option<Vec3> {
        None
    }
}
