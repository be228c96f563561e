//! Where grains touch walls other than planes, with memories in octets: what the fast loop over walls ([`batch`](super::batch)) walks over.

use super::WallContact;
use super::octets::{Needs, Octets};
use crate::law::Memory;
use crate::math::Vec3;
use crate::state::held;

/// Where a grain touches a wall.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    /// Index of the grain.
    pub grain: u32,
    /// Index of the wall.
    pub wall: u16,
    /// Face, edge or vertex of the wall.
    pub feature: u32,
    /// Point of the wall that is touched, wall frame \[m\].
    pub point: Vec3,
    /// Normal into the wall, wall frame.
    pub normal: Vec3,
}

/// All of some grains, sorted by (grain, wall, feature). Spot `s` has its memory in lane `s % 8` of octet `s / 8`.
#[derive(Clone, Debug, Default)]
pub struct Spots {
    /// The spots.
    pub spots: Vec<Spot>,
    /// Their memories.
    pub octets: Octets,
    needs: Needs,
}

impl Spots {
    /// Those of stored contacts.
    pub fn of<'a>(contacts: impl Iterator<Item = &'a WallContact>, needs: Needs) -> Self {
        let mut all = Self { needs, ..Default::default() };
        for c in contacts.filter(|c| c.memory.touching) {
            let s =
                all.push(Spot { grain: c.grain, wall: c.wall, feature: c.feature, point: c.point, normal: c.normal });
            all.octets.recall(s / 8, s % 8, &c.memory);
        }
        all
    }

    /// As contacts to be stored.
    pub fn contacts(&self) -> impl Iterator<Item = WallContact> + '_ {
        self.spots.iter().enumerate().map(|(s, spot)| {
            let &Spot { grain, wall, feature, point, normal } = spot;
            WallContact { grain, wall, feature, point, normal, memory: self.memory(s) }
        })
    }

    /// What spot `s` remembers.
    pub fn memory(&self, s: usize) -> Memory {
        self.octets.memory(s / 8, s % 8)
    }

    /// Whether the memory of spot `s` has not been taken over.
    pub fn is_touching(&self, s: usize) -> bool {
        self.octets.tags[s / 8].touching >> (s % 8) & 1 == 1
    }

    /// Appends a spot without a memory and returns its number.
    #[inline]
    pub fn push(&mut self, spot: Spot) -> usize {
        let s = self.spots.len();
        if s.is_multiple_of(8) {
            self.octets.resize(s / 8 + 1, self.needs);
            self.octets.tags[s / 8] = Default::default();
        }
        self.spots.push(spot);
        s
    }

    /// Takes the memory of spot `from` of others over to spot `s`.
    #[inline]
    pub fn take_over(&mut self, s: usize, others: &mut Self, from: usize) {
        self.octets.take_over(s / 8, s % 8, &others.octets, from / 8, from % 8);
        others.octets.tags[from / 8].touching &= !(1 << (from % 8));
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.spots.clear();
        self.octets.resize(0, self.needs);
    }

    /// Memory held \[byte\].
    pub fn memory_held(&self) -> usize {
        held(&self.spots) + self.octets.memory_held()
    }
}
