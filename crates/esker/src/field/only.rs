//! A field that acts on some kinds of grain only.

use super::Field;
use crate::math::Vec3;
use crate::particles::Particles;
use std::sync::Arc;

/// A field restricted to some kinds of grain.
pub struct Only {
    /// The field.
    pub field: Arc<dyn Field>,
    /// Whether it acts on each kind.
    pub kinds: Vec<bool>,
}

impl Field for Only {
    fn is_constant(&self) -> bool {
        self.field.is_constant()
    }
    fn looks_at_others(&self) -> bool {
        self.field.looks_at_others()
    }
    fn every(&self) -> u64 {
        self.field.every()
    }
    fn name(&self) -> &'static str {
        self.field.name()
    }
    fn force(&self, grains: &Particles, i: usize, t: f64) -> Vec3 {
        if self.kinds[grains.kind[i] as usize] { self.field.force(grains, i, t) } else { Vec3::ZERO }
    }
    fn has_potential(&self) -> bool {
        self.field.has_potential()
    }
    fn potential(&self, grains: &Particles, i: usize) -> f64 {
        if self.kinds[grains.kind[i] as usize] { self.field.potential(grains, i) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::MutualAttraction;
    use crate::neighbor::PeriodicCell;

    #[test]
    fn it_is_looked_at_as_often_as_the_field() {
        let field = Arc::new(MutualAttraction { constant: 1.0, cell: PeriodicCell::OPEN, every: 5 });
        assert_eq!(Only { field, kinds: vec![true] }.every(), 5);
    }
}
