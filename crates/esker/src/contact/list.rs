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
use rayon::prelude::*;
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
    /// Those that may touch within the next steps.
    pub active: Active,
}

/// Pairs of a list that are so near that they may touch within the next steps, in the order of the list.
#[derive(Clone, Debug)]
pub struct Active {
    /// Grains of each, as offsets; filled up to whole groups of eight, as the next two.
    pub i: Vec<u32>,
    /// Second grains.
    pub j: Vec<u32>,
    /// Place of each in the list.
    pub k: Vec<u32>,
    /// Tangential spring and dashpots of each, side by side, so that a sweep reads no others. While there are active
    /// pairs these count, not those of the list.
    pub springs: Vec<Spring>,
    /// Where the spring of each is \[byte\]: multiples of its size.
    pub slot: Vec<u32>,
    /// Whether they touched at the last step, eight to a byte: while there are active pairs these bits count, not those
    /// of the list.
    pub touching: Vec<u8>,
    /// Number of pairs.
    pub len: usize,
    /// How much nearer two grains may still come before another pair has to be active \[m\].
    pub room: f64,
}

impl Default for Active {
    /// Not yet found.
    fn default() -> Self {
        let (i, j, k, springs, slot, touching) = Default::default();
        Self { i, j, k, springs, slot, touching, len: 0, room: f64::NEG_INFINITY }
    }
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

    /// Brings what the active pairs found out to the list, which has no active ones then.
    pub fn settle(&mut self) {
        if self.active.room == f64::NEG_INFINITY {
            return;
        }
        self.touching.fill(0);
        let active = &mut self.active;
        for (a, &k) in active.k[..active.len].iter().enumerate() {
            let k = k as usize;
            self.springs[k] = active.springs[a];
            self.touching[k / 8] |= (active.touching[a / 8] >> (a % 8) & 1) << (k % 8);
        }
        active.touching.clear();
        (active.len, active.room) = (0, f64::NEG_INFINITY);
    }

    /// Memory held \[byte\].
    pub fn memory_held(&self) -> usize {
        let active = &self.active;
        let near = held(&active.i) + held(&active.j) + held(&active.k) + held(&active.slot) + held(&active.touching);
        let all = held(&self.i) + held(&self.j) + held(&self.touching) + held(&self.springs) + held(&self.couples);
        near + held(&active.springs) + all
    }

    /// Makes room for `capacity` pairs.
    fn with_capacity(capacity: usize, with_couples: bool) -> Self {
        Self {
            i: Vec::with_capacity(capacity + 8),
            j: Vec::with_capacity(capacity + 8),
            touching: Vec::with_capacity(capacity / 8 + 1),
            springs: Vec::with_capacity(capacity),
            couples: Vec::with_capacity(if with_couples { capacity } else { 0 }),
            active: Active::default(),
        }
    }

    /// Appends a pair that touches if it has a memory; groups are left open.
    #[inline]
    fn push(&mut self, i: u32, j: u32, memory: Option<(Spring, Couple)>, with_couples: bool) {
        let k = self.springs.len();
        if k.is_multiple_of(8) {
            self.touching.push(0);
        }
        self.i.push(lanes::offset(i));
        self.j.push(lanes::offset(j));
        let (spring, couple) = memory.unwrap_or_default();
        self.springs.push(spring);
        if with_couples {
            self.couples.push(couple);
        }
        self.touching[k / 8] |= u8::from(memory.is_some()) << (k % 8);
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
    let span = span(grains, candidates);
    let segment = |own: Range<usize>| {
        let blocks = own.len().div_ceil(BLOCK);
        let mut rest = contacts.pairs.as_slice();
        let recall = |i: u32, j: u32| {
            rest = &rest[rest.iter().position(|c| c.i >= i).unwrap_or(rest.len())..];
            let (partner, shift) = match (j as usize).checked_sub(grains) {
                None => (j, [0; 3]),
                Some(image) => (candidates.images[image].owner, candidates.images[image].shift),
            };
            let of_row = rest.iter().take_while(|c| c.i == i);
            let same = |c: &&PairContact| c.j == partner && c.shift == shift && c.memory.touching;
            of_row.clone().find(same).map(|c| (c.memory.spring_part(), c.memory.couple_part()))
        };
        Segment {
            pairs: assemble(&own, grains, candidates, span, with_couples, recall),
            sums: vec![Default::default(); blocks],
            wall_sums: vec![Default::default(); blocks * wall_count],
            near_walls: slice_of(near_walls, &own, |w| w.0).to_vec(),
            walls: slice_of(&contacts.walls, &own, |w| w.grain).to_vec(),
            grains: own,
            ..Default::default()
        }
    };
    ranges(grains, workers).into_par_iter().map(segment).collect()
}

/// Gives the segments new candidates of the same grains; contacts keep what they remember.
pub fn renew(
    segments: &mut [Segment],
    grains: usize,
    before: &Candidates,
    candidates: &Candidates,
    near_walls: &[(u32, u16)],
    with_couples: bool,
) {
    let span = span(grains, candidates);
    segments.par_iter_mut().for_each(|segment| {
        let mut old = std::mem::take(&mut segment.pairs);
        old.settle();
        let mut at = 0;
        let recall = |i: u32, j: u32| {
            while at < old.len() && old.i[at] < lanes::offset(i) {
                at += 1;
            }
            let image = |list: &Candidates, j: usize| j.checked_sub(grains).map(|k| list.images[k]);
            let wanted = image(candidates, j as usize);
            let of_row = (at..old.len()).take_while(|&k| old.i[k] == lanes::offset(i));
            let same = |&k: &usize| {
                old.touches(k)
                    && match wanted {
                        None => old.j[k] == lanes::offset(j),
                        Some(_) => image(before, lanes::index(old.j[k])) == wanted,
                    }
            };
            let found = of_row.clone().find(same);
            found.map(|k| (old.springs[k], old.couples.get(k).copied().unwrap_or_default()))
        };
        segment.pairs = assemble(&segment.grains, grains, candidates, span, with_couples, recall);
        segment.near_walls = slice_of(near_walls, &segment.grains, |w| w.0).to_vec();
    });
}

/// How far the index of a partner lies at most beyond that of the first grain, images left out.
fn span(grains: usize, candidates: &Candidates) -> usize {
    let of_row = |i: usize| {
        let last = candidates.row(i).iter().rev().map(|&j| j as usize).find(|&j| j < grains);
        last.map_or(0, |j| j - i)
    };
    (0..grains).into_par_iter().with_min_len(4096).map(of_row).max().unwrap_or(0)
}

/// Every candidate that a worker's grains take part in. Rows come in ascending order, so the list is sorted by (i, j);
/// `recall` is asked in that order.
fn assemble(
    own: &Range<usize>,
    grains: usize,
    candidates: &Candidates,
    span: usize,
    with_couples: bool,
    mut recall: impl FnMut(u32, u32) -> Option<(Spring, Couple)>,
) -> Pairs {
    let rows = own.start.saturating_sub(span)..own.end;
    let count = |rows: &Range<usize>| (candidates.start[rows.end] - candidates.start[rows.start]) as usize;
    let mut pairs = Pairs::with_capacity(count(own) + count(own) / 8, with_couples);
    for i in rows {
        let owned = own.contains(&i);
        for &j in candidates.row(i) {
            let partner = j as usize;
            if owned || (partner < grains && own.contains(&partner)) {
                pairs.push(i as u32, j, recall(i as u32, j), with_couples);
            }
        }
    }
    pairs.close();
    pairs
}

/// The part of a list sorted by grain that belongs to a range.
fn slice_of<'a, T>(list: &'a [T], grains: &Range<usize>, grain: impl Fn(&T) -> u32) -> &'a [T] {
    let from = list.partition_point(|w| (grain(w) as usize) < grains.start);
    let to = list.partition_point(|w| (grain(w) as usize) < grains.end);
    &list[from..to]
}

/// Collects the touching contacts of all segments.
pub fn collect(segments: &mut [Segment], grains: usize, candidates: &Candidates, contacts: &mut Contacts) {
    contacts.pairs.clear();
    contacts.walls.clear();
    for segment in segments {
        segment.pairs.settle();
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
