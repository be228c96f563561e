//! The working list: candidates and memory, cut into one segment per worker.
//!
//! A worker owns a contiguous range of grains and evaluates every pair that touches it; a pair cut by a border stands in
//! two segments, each with its own copy of the memory, which evolve identically because a pair is always evaluated in
//! the same orientation. Every grain thus sums its contacts in ascending order of partners whatever the cut, and the
//! results do not depend on the number of workers. Ranges are multiples of [`BLOCK`] grains, the unit in which energy is
//! summed.

use super::{Contacts, PairContact, WallContact};
use crate::law::Memory;
use crate::neighbor::Candidates;
use std::ops::Range;

/// Grains per block of an ordered sum.
pub const BLOCK: usize = 64;

/// What one worker owns.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    /// Grains of this worker.
    pub grains: Range<usize>,
    /// Candidate pairs (i, j) sorted; j at or beyond the number of grains is an image.
    pub pairs: Vec<[u32; 2]>,
    /// Memory of each candidate.
    pub memory: Vec<Memory>,
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
    /// Room for the narrow phase.
    pub touches: Vec<crate::boundary::WallTouch>,
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
) -> Vec<Segment> {
    let rows = |i: usize| candidates.start[i] as usize..candidates.start[i + 1] as usize;
    let mut segments: Vec<Segment> = ranges(grains, workers)
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
    // segment's list is sorted by (i, j).
    let owner_of = |segments: &[Segment], g: usize| segments.partition_point(|s| s.grains.end <= g);
    let mut stored = contacts.pairs.iter().peekable();
    for i in 0..grains {
        let owner = owner_of(&segments, i);
        let first = {
            while stored.peek().is_some_and(|c| (c.i as usize) < i) {
                stored.next();
            }
            stored.clone()
        };
        for &j in &candidates.partner[rows(i)] {
            let j = j as usize;
            let memory = first
                .clone()
                .take_while(|c| c.i as usize == i)
                .find(|c| {
                    if j < grains {
                        c.j as usize == j && c.shift == [0; 3]
                    } else {
                        let image = &candidates.images[j - grains];
                        c.j == image.owner && c.shift == image.shift
                    }
                })
                .map(|c| c.memory)
                .unwrap_or_default();
            segments[owner].pairs.push([i as u32, j as u32]);
            segments[owner].memory.push(memory);
            if j < grains && !segments[owner].grains.contains(&j) {
                let other = owner_of(&segments, j);
                segments[other].pairs.push([i as u32, j as u32]);
                segments[other].memory.push(memory);
            }
        }
    }
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
        for (&[i, j], memory) in segment.pairs.iter().zip(&segment.memory) {
            if memory.touching && segment.grains.contains(&(i as usize)) {
                let (j, shift) = match (j as usize).checked_sub(grains) {
                    None => (j, [0; 3]),
                    Some(image) => (candidates.images[image].owner, candidates.images[image].shift),
                };
                contacts.pairs.push(PairContact { i, j, shift, memory: *memory });
            }
        }
        contacts.walls.extend_from_slice(&segment.walls);
    }
    contacts.pairs.sort_by_key(|c| (c.i, c.j, c.shift));
}
