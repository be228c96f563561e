//! Grains near planes, with memories in octets that stay where they are from step to step: what the fast loop over planes
//! ([`batch`](super::batch)) walks over.
//!
//! A grain touches a plane in one place at most, so that its contact needs no name but the grain's. Other walls have
//! [`spots`](super::spots).

use super::WallContact;
use super::octets::{Needs, Octets};
use crate::boundary::Plane;
use crate::law::Memory;
use crate::state::held;

/// The grains of a worker near one plane. Number `k` has its memory in lane `k % 8` of octet `k / 8`.
#[derive(Clone, Debug)]
pub struct Flat {
    /// Index of the wall.
    pub wall: u16,
    /// The plane, wall frame.
    pub plane: Plane,
    /// Indices of the grains, ascending.
    pub grains: Vec<u32>,
    /// Their memories.
    pub octets: Octets,
}

impl Flat {
    /// Of the grains that are near and those that touched at the last step, which remember; both ascending.
    pub fn new(
        wall: u16,
        plane: Plane,
        near: impl Iterator<Item = u32>,
        touching: impl Iterator<Item = (u32, Memory)>,
        needs: Needs,
    ) -> Self {
        let mut flat = Self { wall, plane, grains: Vec::new(), octets: Octets::default() };
        let mut near = near.peekable();
        for (grain, memory) in touching {
            while let Some(other) = near.next_if(|&other| other < grain) {
                flat.grains.push(other);
            }
            near.next_if_eq(&grain);
            if flat.grains.last() == Some(&grain) {
                continue; // a contact of another surface that stood here before
            }
            let (o, l) = (flat.grains.len() / 8, flat.grains.len() % 8);
            flat.grains.push(grain);
            flat.octets.resize(o + 1, needs);
            flat.octets.recall(o, l, &memory);
        }
        flat.grains.extend(near);
        flat.octets.resize(flat.grains.len().div_ceil(8), needs);
        flat
    }

    /// Grains that touched at the last step and what they remember.
    pub fn touching(&self) -> impl Iterator<Item = (u32, Memory)> + '_ {
        let lanes = self.grains.iter().enumerate().map(|(k, &grain)| (grain, k / 8, k % 8));
        let touching = lanes.filter(|&(_, o, l)| self.octets.tags[o].touching >> l & 1 == 1);
        touching.map(|(grain, o, l)| (grain, self.octets.memory(o, l)))
    }

    /// As contacts to be stored.
    pub fn contacts(&self) -> impl Iterator<Item = WallContact> + '_ {
        let Self { wall, plane, .. } = *self;
        self.touching().map(move |(grain, memory)| WallContact {
            grain,
            wall,
            feature: Plane::FEATURE,
            point: plane.point,
            normal: -plane.normal,
            memory,
        })
    }

    /// The grains of octet `o`, the last one repeated where there are none, and how many.
    #[inline(always)]
    pub fn octet(&self, o: usize) -> ([usize; 8], usize) {
        let grains = &self.grains[8 * o..self.grains.len().min(8 * o + 8)];
        (std::array::from_fn(|l| grains[l.min(grains.len() - 1)] as usize), grains.len())
    }

    /// Memory held \[byte\].
    pub fn memory_held(&self) -> usize {
        held(&self.grains) + self.octets.memory_held()
    }
}
