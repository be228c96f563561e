//! Contacts, eight side by side with what they remember: what the fast loops ([`batch`](super::batch)) walk over.

use crate::lanes::Record;
use crate::law::{LastForces, LastRates, Memory};
use crate::math::Vec3;
use crate::state::held;
use std::ops::{Deref, DerefMut};
use std::slice::from_mut;

/// Grains of eight pairs, as [`offset`](crate::lanes::offset)s. Lanes that hold no pair repeat one that does.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct Octet {
    /// First grains.
    pub i: [u32; 8],
    /// Second grains.
    pub j: [u32; 8],
}

/// What else there is to know of an octet.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(8))]
pub struct Tag {
    /// The largest of the second grains that are neither images nor [far off](super::near_pairs::FAR).
    pub farthest: u32,
    /// Whether some are far off.
    pub far: bool,
    /// Which lanes hold a pair, one bit each.
    pub live: u8,
    /// Which pairs touched at the last step. Memories count for these only.
    pub touching: u8,
}

impl Tag {
    /// Whether some pair may reach grains at an offset or beyond it, unless that is the largest number.
    #[inline(always)]
    pub fn reaches(&self, limit: u32) -> bool {
        self.farthest >= limit || self.far && limit < u32::MAX
    }
}

/// Which memories the laws need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Slip of the last step: for tangential dashpots.
    pub slip: bool,
    /// Dashpot forces of the last step: for the account of energy.
    pub dashpot: bool,
}

/// Where a pair has its memory: in which of several octets, and in which lane of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(u32);

impl Slot {
    /// Nowhere: the pair has none.
    pub(super) const NOWHERE: Slot = Slot(u32::MAX);
    /// Most lanes of one [`Octets`] that can be told.
    pub(super) const LANES: usize = 4096;

    /// Lane `lane` of octets number `octets`.
    pub(super) fn new(octets: usize, lane: usize) -> Self {
        debug_assert!(lane < Self::LANES);
        Self((octets * Self::LANES + lane) as u32)
    }

    /// In which octets.
    pub(super) fn octets(self) -> usize {
        self.0 as usize / Self::LANES
    }

    /// In which lane of them.
    pub(super) fn lane(self) -> usize {
        self.0 as usize % Self::LANES
    }
}

/// Numbers of an octet, which begin with a cache line: a register of eight of them is in one line, not across two.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct Lines<T>(T);

impl<T> Deref for Lines<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Lines<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// Octets and their memories, a column for each number, so that a sweep reads and writes nothing it does not need.
#[derive(Clone, Debug, Default)]
pub struct Octets {
    /// Grains.
    pub pairs: Vec<Octet>,
    /// Lanes.
    pub tags: Vec<Tag>,
    /// Place of each pair in the list of candidates.
    pub k: Vec<[u32; 8]>,
    /// Which law each has.
    pub law: Vec<[u8; 8]>,
    /// Elastic tangential displacements \[m\].
    pub spring: Vec<Lines<[Record; 3]>>,
    /// Tangential stiffness at the last step \[N/m\].
    pub stiffness: Vec<Lines<Record>>,
    /// Mean rate of approach over the last step \[m/s\].
    pub approach: Vec<Lines<Record>>,
    /// Mean slip over the last step \[m/s\]; empty if not needed.
    pub slip: Vec<Lines<[Record; 3]>>,
    /// Tangential dashpot force at the last step and, last, the normal one \[N\]; empty if not needed.
    pub dashpot: Vec<Lines<[[f32; 8]; 4]>>,
}

impl Octets {
    /// Appends empty octets, or cuts down to `len` of them. Room for a few more is kept, not for twice as many.
    pub(super) fn resize(&mut self, len: usize, needs: Needs) {
        let room = len + len / 16 + 1;
        fit(&mut self.pairs, room, len);
        fit(&mut self.tags, room, len);
        fit(&mut self.k, room, len);
        fit(&mut self.law, room, len);
        fit(&mut self.spring, room, len);
        fit(&mut self.stiffness, room, len);
        fit(&mut self.approach, room, len);
        fit(&mut self.slip, room, if needs.slip { len } else { 0 });
        fit(&mut self.dashpot, room, if needs.dashpot { len } else { 0 });
    }

    /// What the pair in lane `l` of octet `o` remembers. Slip and dashpot forces that are not kept are told as zero: laws that
    /// need them and follow laws that did not begin as with a new contact.
    pub fn memory(&self, o: usize, l: usize) -> Memory {
        let vector = |columns: &Lines<[Record; 3]>| Vec3::new(columns[0][l], columns[1][l], columns[2][l]);
        let [x, y, z, normal_dashpot] = self.dashpot.get(o).copied().unwrap_or_default().0.map(|column| column[l]);
        Memory {
            spring: vector(&self.spring[o]),
            stiffness: self.stiffness[o][l],
            last: LastForces { normal_dashpot, tangential_dashpot: [x, y, z], ..Default::default() },
            rates: LastRates {
                approach: self.approach[o][l],
                slip: self.slip.get(o).map_or(Vec3::ZERO, vector),
                ..Default::default()
            },
            touching: true,
            ..Default::default()
        }
    }

    /// Puts what a pair remembers into lane `l` of octet `o`.
    pub(super) fn recall(&mut self, o: usize, l: usize, memory: &Memory) {
        let slip = memory.rates.slip.to_array();
        let [x, y, z] = memory.last.tangential_dashpot;
        for (c, spring) in memory.spring.to_array().into_iter().enumerate() {
            self.spring[o][c][l] = spring;
            if let Some(column) = self.slip.get_mut(o) {
                column[c][l] = slip[c];
            }
        }
        if let Some(columns) = self.dashpot.get_mut(o) {
            for (column, force) in columns.iter_mut().zip([x, y, z, memory.last.normal_dashpot]) {
                column[l] = force;
            }
        }
        self.stiffness[o][l] = memory.stiffness;
        self.approach[o][l] = memory.rates.approach;
        self.tags[o].touching |= 1 << l;
    }

    /// Takes over into lane `l` of octet `o` what lane `m` of octet `p` of others remembers.
    #[inline(always)]
    pub(super) fn take_over(&mut self, o: usize, l: usize, others: &Self, p: usize, m: usize) {
        for c in 0..3 {
            self.spring[o][c][l] = others.spring[p][c][m];
        }
        self.stiffness[o][l] = others.stiffness[p][m];
        self.approach[o][l] = others.approach[p][m];
        if let (Some(to), Some(from)) = (self.slip.get_mut(o), others.slip.get(p)) {
            for c in 0..3 {
                to[c][l] = from[c][m];
            }
        }
        if let (Some(to), Some(from)) = (self.dashpot.get_mut(o), others.dashpot.get(p)) {
            for c in 0..4 {
                to[c][l] = from[c][m];
            }
        }
        self.tags[o].touching |= 1 << l;
    }

    /// Takes over into octet `o` what others remember, lane by lane in the given octets, if anywhere. Returns which of them
    /// touched.
    #[inline(always)]
    pub(super) fn take_over_all<'a>(&mut self, o: usize, from: [Slot; 8], octets: impl Fn(Slot) -> &'a Self) -> u8 {
        // Lanes without a memory may hold any number.
        let any = from.into_iter().min().unwrap_or(Slot::NOWHERE);
        if any == Slot::NOWHERE {
            return 0;
        }
        let mut touching = 0;
        let from: [(&Self, usize, usize); 8] = std::array::from_fn(|l| {
            let slot = if from[l] == Slot::NOWHERE { any } else { from[l] };
            let (there, p, m) = (octets(slot), slot.lane() / 8, slot.lane() % 8);
            touching |= (there.tags[p].touching >> m & 1 & u8::from(from[l] != Slot::NOWHERE)) << l;
            (there, p, m)
        });
        if touching == 0 {
            return 0;
        }
        gather(&mut *self.spring[o], |l, c| from[l].0.spring[from[l].1][c][from[l].2]);
        gather(from_mut(&mut *self.stiffness[o]), |l, _| from[l].0.stiffness[from[l].1][from[l].2]);
        gather(from_mut(&mut *self.approach[o]), |l, _| from[l].0.approach[from[l].1][from[l].2]);
        if let Some(to) = self.slip.get_mut(o) {
            gather(&mut **to, |l, c| from[l].0.slip[from[l].1][c][from[l].2]);
        }
        if let Some(to) = self.dashpot.get_mut(o) {
            gather(&mut **to, |l, c| from[l].0.dashpot[from[l].1][c][from[l].2]);
        }
        touching
    }

    pub(super) fn memory_held(&self) -> usize {
        let what = held(&self.pairs) + held(&self.tags) + held(&self.k) + held(&self.law);
        let hot = held(&self.spring) + held(&self.stiffness) + held(&self.approach);
        what + hot + held(&self.slip) + held(&self.dashpot)
    }
}

/// Appends empty entries, or cuts down to `len` of them; where there is no room yet, it is made for `room`.
fn fit<T: Clone + Default>(column: &mut Vec<T>, room: usize, len: usize) {
    if len > column.capacity() {
        column.reserve_exact(room - column.len());
    }
    column.resize(len, T::default());
}

/// Fills columns with what lane `l` finds for column `c`.
#[inline(always)]
fn gather<T>(to: &mut [[T; 8]], of: impl Fn(usize, usize) -> T) {
    for (c, column) in to.iter_mut().enumerate() {
        for (l, number) in column.iter_mut().enumerate() {
            *number = of(l, c);
        }
    }
}
