//! The working list: candidates and memory, cut into one segment per worker.
//!
//! A worker owns a contiguous range of grains and evaluates every pair that touches it; a pair cut by a border stands in
//! two segments, each with its own copy of the memory, which evolve identically because a pair is always evaluated in
//! the same orientation. Every grain thus sums its contacts in ascending order of partners whatever the cut, and the
//! results do not depend on the number of workers. Ranges are multiples of [`BLOCK`] grains, the unit in which energy is
//! summed.

use super::{Contacts, PairContact, WallContact};
use crate::lanes::{self, Spring};
use crate::law::{Couple, Memory};
use crate::neighbor::Candidates;
use crate::state::held;
use std::ops::Range;

/// Grains per block of an ordered sum.
pub const BLOCK: usize = 64;

/// What one worker owns.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    /// Grains of this worker.
    pub grains: Range<usize>,
    /// Candidate pairs.
    pub pairs: Pairs,
    /// Walls within reach: (grain, wall), sorted.
    pub near_walls: Vec<(u32, u16)>,
    /// Touching walls, sorted by (grain, wall, feature).
    pub walls: Vec<WallContact>,
    /// The walls touched a step ago: swapped with `walls` each step.
    pub walls_before: Vec<WallContact>,
    /// Energy booked by the last sweep, one entry per block of grains.
    pub sums: Vec<super::sweep::BlockSum>,
    /// Wall loads of the last sweep, `walls` entries per block of grains.
    pub wall_sums: Vec<super::walls::WallSum>,
    /// Pairs that opened in the last sweep.
    pub opened: Vec<u32>,
    /// Room for the narrow phase.
    pub touches: Vec<crate::boundary::WallTouch>,
}

/// Candidate pairs (i, j) sorted, j at or beyond the number of grains being an image, and what they remember.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// First grain of each as an [`offset`](lanes::offset), filled up to whole groups of eight with zeros.
    pub i: Vec<u32>,
    /// Second grain of each, likewise.
    pub j: Vec<u32>,
    /// Whether the pairs of each group of eight touched at the last step, first pair in the lowest bit.
    pub touching: Vec<u8>,
    /// Tangential spring and dashpots of each.
    pub springs: Vec<Spring>,
    /// Rolling and twisting of each; empty when no law has them.
    pub couples: Vec<Couple>,
}

impl Pairs {
    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.springs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.springs.is_empty()
    }

    /// Grains of pair `k`.
    pub fn grains(&self, k: usize) -> (usize, usize) {
        (lanes::index(self.i[k]), lanes::index(self.j[k]))
    }

    /// Whether pair `k` touched at the last step.
    pub fn touches(&self, k: usize) -> bool {
        self.touching[k / 8] >> (k % 8) & 1 == 1
    }

    /// Sets whether pair `k` touches.
    pub fn set_touches(&mut self, k: usize, touches: bool) {
        let bit = 1 << (k % 8);
        if touches {
            self.touching[k / 8] |= bit;
        } else {
            self.touching[k / 8] &= !bit;
        }
    }

    /// Memory of pair `k`.
    pub fn memory(&self, k: usize) -> Memory {
        Memory::from_parts(&self.springs[k], self.couples.get(k), self.touches(k))
    }

    /// Sets the memory of pair `k`.
    pub fn set_memory(&mut self, k: usize, memory: &Memory) {
        self.springs[k] = memory.spring_part();
        if let Some(couple) = self.couples.get_mut(k) {
            *couple = memory.couple_part();
        }
        self.set_touches(k, memory.touching);
    }

    /// Memory held \[byte\].
    pub fn memory_held(&self) -> usize {
        held(&self.i) + held(&self.j) + held(&self.touching) + held(&self.springs) + held(&self.couples)
    }

    /// Makes room for `capacity` pairs.
    fn with_capacity(capacity: usize, with_couples: bool) -> Self {
        Self {
            i: Vec::with_capacity(capacity + 8),
            j: Vec::with_capacity(capacity + 8),
            touching: Vec::with_capacity(capacity / 8 + 1),
            springs: Vec::with_capacity(capacity),
            couples: Vec::with_capacity(if with_couples { capacity } else { 0 }),
        }
    }

    /// Appends a pair; groups are left open.
    #[inline]
    fn push(&mut self, i: u32, j: u32, memory: Option<&Memory>, with_couples: bool) {
        let k = self.springs.len();
        if k % 8 == 0 {
            self.touching.push(0);
        }
        self.i.push(lanes::offset(i));
        self.j.push(lanes::offset(j));
        self.springs.push(memory.map_or_else(Spring::default, Memory::spring_part));
        if with_couples {
            self.couples.push(memory.map_or_else(Couple::default, Memory::couple_part));
        }
        if memory.is_some_and(|m| m.touching) {
            self.set_touches(k, true);
        }
    }

    /// Fills the last group up.
    fn close(&mut self) {
        let whole = self.len().next_multiple_of(8);
        self.i.resize(whole, 0);
        self.j.resize(whole, 0);
    }
}

/// Ranges of whole blocks, as even as can be.
fn ranges(grains: usize, workers: usize) -> Vec<Range<usize>> {
    let blocks = grains.div_ceil(BLOCK);
    let workers = workers.clamp(1, blocks.max(1));
    (0..workers)
        .map(|w| {
            let from = blocks * w / workers * BLOCK;
            let to = (blocks * (w + 1) / workers * BLOCK).min(grains);
            from.min(grains)..to
        })
        .collect()
}

/// Builds the segments for `workers` workers from candidates and the stored contacts.
pub fn build(
    grains: usize,
    workers: usize,
    candidates: &Candidates,
    contacts: &Contacts,
    near_walls: &[(u32, u16)],
    wall_count: usize,
    with_couples: bool,
) -> Vec<Segment> {
    let ranges = ranges(grains, workers);
    let mut segments: Vec<Segment> = ranges
        .into_iter()
        .map(|grains| {
            let blocks = grains.len().div_ceil(BLOCK);
            Segment {
                sums: vec![Default::default(); blocks],
                wall_sums: vec![Default::default(); blocks * wall_count],
                near_walls: slice_of(near_walls, &grains, |w| w.0).to_vec(),
                walls: slice_of(&contacts.walls, &grains, |w| w.grain).to_vec(),
                grains,
                ..Default::default()
            }
        })
        .collect();

    // Every candidate goes to the owner of i and, if another, to the owner of j. Rows come in ascending order, so each
    // segment's list is sorted by (i, j); so are the stored contacts, without images first.
    let owner_of = |g: usize, segments: &[Segment]| segments.partition_point(|s| s.grains.end <= g);
    for segment in &mut segments {
        let [from, to] = [segment.grains.start, segment.grains.end].map(|g| candidates.start[g] as usize);
        segment.pairs = Pairs::with_capacity(to - from, with_couples);
    }
    let mut rest = contacts.pairs.as_slice();
    let mut owner = 0;
    for i in 0..grains {
        while segments[owner].grains.end <= i {
            owner += 1;
        }
        let skipped = rest.partition_point(|c| (c.i as usize) < i);
        let count = rest[skipped..].partition_point(|c| c.i as usize == i);
        let stored = &rest[skipped..skipped + count];
        rest = &rest[skipped + count..];
        for &j in candidates.row(i) {
            let (partner, shift) = match (j as usize).checked_sub(grains) {
                None => (j, [0; 3]),
                Some(image) => (candidates.images[image].owner, candidates.images[image].shift),
            };
            let memory = stored.iter().find(|c| c.j == partner && c.shift == shift).map(|c| &c.memory);
            segments[owner].pairs.push(i as u32, j, memory, with_couples);
            let j = j as usize;
            if j < grains && !segments[owner].grains.contains(&j) {
                let other = owner_of(j, &segments);
                segments[other].pairs.push(i as u32, j as u32, memory, with_couples);
            }
        }
    }
    segments.iter_mut().for_each(|segment| segment.pairs.close());
    segments
}

/// The part of a list sorted by grain that belongs to a range.
fn slice_of<'a, T>(list: &'a [T], grains: &Range<usize>, grain: impl Fn(&T) -> u32) -> &'a [T] {
    let from = list.partition_point(|w| (grain(w) as usize) < grains.start);
    let to = list.partition_point(|w| (grain(w) as usize) < grains.end);
    &list[from..to]
}

/// Collects the touching contacts of all segments.
pub fn collect(segments: &[Segment], grains: usize, candidates: &Candidates, contacts: &mut Contacts) {
    contacts.pairs.clear();
    contacts.walls.clear();
    for segment in segments {
        let pairs = &segment.pairs;
        for k in (0..pairs.len()).filter(|&k| pairs.touches(k)) {
            let (i, j) = pairs.grains(k);
            if segment.grains.contains(&i) {
                let (j, shift) = match j.checked_sub(grains) {
                    None => (j as u32, [0; 3]),
                    Some(image) => (candidates.images[image].owner, candidates.images[image].shift),
                };
                contacts.pairs.push(PairContact { i: i as u32, j, shift, memory: pairs.memory(k) });
            }
        }
        contacts.walls.extend_from_slice(&segment.walls);
    }
    contacts.pairs.sort_by_key(|c| (c.i, c.j, c.shift));
}
