//! The working list: candidates and memory, cut into segments, one or more per worker, see [`shares`](super::shares).
//!
//! A segment owns a contiguous range of grains and holds every pair that touches it. For the general loop a pair cut by a
//! border stands in two segments, each with its own copy of the memory, which evolve identically because a pair is always
//! evaluated in the same orientation; for the fast loop it stands in that of its second grain, which
//! [hands over](super::hand_over) what acts on the first. Every grain thus sums its contacts in ascending order of partners
//! whatever the cut, and the results do not depend on how the grains are cut up. Ranges are whole [units](super::sums) of grains, by
//! which energy is summed.

use super::flats::Flat;
use super::near_pairs::{Block, Near};
use super::near_walls::{Finder, NearWalls, Reach};
use super::octets::Needs;
use super::shares::{Pace, cut_up};
use super::spots::Spots;
use super::sums::{Told, Units};
use super::{Contacts, PairContact, WallContact, window};
use crate::lanes::{self, offset};
use crate::law::{Dissipation, Memory};
use crate::neighbor::Candidates;
use crate::state::held;
use rayon::prelude::*;
use std::iter::repeat_n;
use std::mem::take;
use std::ops::Range;

/// Grains per block: what is known of velocities is known of blocks, and blocks begin a step as a whole.
pub const BLOCK: usize = 64;

/// What one worker takes at a time.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    /// Its grains.
    pub grains: Range<usize>,
    /// Candidate pairs, one list for each of [`PARTS`]. Swept in this order every grain meets its images first, then its
    /// partners in ascending order, wherever the range ends.
    pub parts: [Pairs; 4],
    /// Who hands loads over to this one, ascending.
    pub sources: Vec<Source>,
    /// Pairs with first grains of this segment that opened in the last sweep of the fast loop.
    pub opened: Vec<Opened>,
    /// The same with first grains of others.
    pub opened_below: Vec<Opened>,
    /// Walls within reach, but for `flats`.
    pub near_walls: NearWalls,
    /// Planes within reach, for the fast loop.
    pub flats: Vec<Flat>,
    /// Touching walls for the general loop, sorted by (grain, wall, feature).
    pub walls: Vec<WallContact>,
    /// The walls touched a step ago: swapped with `walls` each step.
    pub walls_before: Vec<WallContact>,
    /// Touching walls for the fast loop, now and a step ago.
    pub spots: [Spots; 2],
    /// What the last sweep did.
    pub told: Told,
    /// Which of its grains may have more than gravity in the column of loads, see [`Window`](super::window::Window).
    pub marks: Vec<u64>,
    /// How many grains have their loads in such a window, if sweeps within have one.
    pub window: Option<usize>,
    /// Room for the narrow phase.
    pub touches: Vec<crate::boundary::WallTouch>,
}

/// A pair that has opened, and what it lost since the last step.
#[derive(Clone, Debug)]
pub struct Opened {
    /// First grain.
    pub i: usize,
    /// Second grain.
    pub j: usize,
    /// Energy lost.
    pub lost: Dissipation,
}

/// A segment that has pairs whose first grains are in a lower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Which one.
    pub segment: u32,
    /// The first of these grains, whether pairs are near or not: from here on grains stay where they are until it has looked at
    /// them.
    pub first: u32,
}

/// What a segment has found of the pairs across its border, taken out of it for others to look at.
#[derive(Debug, Default)]
pub struct Cut {
    /// The pairs, unless the general loop does them.
    below: Option<Pairs>,
    /// Pairs that have opened.
    pub opened: Vec<Opened>,
}

impl Cut {
    /// The near pairs.
    pub fn blocks(&self) -> &[Block] {
        match self.below.as_ref().map(|below| &below.memory) {
            Some(Memories::Near(near)) => &near.blocks,
            _ => &[],
        }
    }
}

/// Second grains of the pairs of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Images.
    Images,
    /// Grains of the worker; the first ones lie below its range.
    Below,
    /// Grains of the worker, as the first ones.
    Inside,
    /// Grains above the range.
    Above,
}

/// All parts in the order in which they are swept.
pub const PARTS: [Part; 4] = [Part::Images, Part::Below, Part::Inside, Part::Above];

impl Part {
    /// Whether a worker owns the first and the second grains.
    pub fn owned(self) -> [bool; 2] {
        match self {
            Part::Images | Part::Above => [true, false],
            Part::Below => [false, true],
            Part::Inside => [true, true],
        }
    }
}

/// Candidate pairs (i, j) sorted, j at or beyond the number of grains being an image, and what they remember.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// First grain of each as an [`offset`], the last one repeated to fill whole groups of eight: others may be on the move.
    pub i: Vec<u32>,
    /// Second grain of each, likewise.
    pub j: Vec<u32>,
    /// Number of pairs.
    len: usize,
    /// What those that touch remember.
    pub memory: Memories,
}

/// What the contacts of a segment remembered, for the general loop.
pub struct Kept {
    pairs: [Memories; 4],
    walls: Vec<WallContact>,
}

/// How pairs remember.
#[derive(Clone, Debug)]
pub enum Memories {
    /// Each candidate has a memory: the general loop.
    Each(Vec<Memory>),
    /// Those that are near do: the fast loop.
    Near(Box<Near>),
}

impl Default for Memories {
    fn default() -> Self {
        Self::Each(Vec::new())
    }
}

impl Memories {
    /// Of `pairs` pairs, some of which, ascending, touch and have a memory.
    fn new(form: Loop, pairs: usize, known: Vec<(u32, &Memory)>) -> Self {
        let mut known = known.into_iter();
        match form {
            Loop::General => {
                let mut all = vec![Memory::default(); pairs];
                known.for_each(|(k, memory)| all[k as usize] = *memory);
                Self::Each(all)
            }
            Loop::Fast(needs) => Self::Near(Box::new(Near::new(needs, &mut known))),
        }
    }
}

/// Which loop a list is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loop {
    /// [`sweep`](super::sweep).
    General,
    /// [`batch`](super::batch), whose laws need these memories.
    Fast(Needs),
}

impl Pairs {
    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Grains of pair `k`.
    pub fn grains(&self, k: usize) -> (usize, usize) {
        (lanes::index(self.i[k]), lanes::index(self.j[k]))
    }

    /// The pairs that touched at the last step, in their order: place in the list and memory.
    fn touching(&self) -> Box<dyn Iterator<Item = (usize, Memory)> + '_> {
        match &self.memory {
            Memories::Each(all) => Box::new(all.iter().copied().enumerate().filter(|(_, memory)| memory.touching)),
            Memories::Near(near) => Box::new(near.touching().map(|(k, slot)| (k as usize, near.memory(slot)))),
        }
    }

    /// Number of pairs that touched at the last step.
    pub fn count_touching(&self) -> usize {
        match &self.memory {
            Memories::Each(all) => all.iter().filter(|memory| memory.touching).count(),
            Memories::Near(near) => near.count(),
        }
    }

    /// Memory held \[byte\].
    pub fn memory_held(&self) -> usize {
        let memory = match &self.memory {
            Memories::Each(all) => held(all),
            Memories::Near(near) => near.memory_held(),
        };
        held(&self.i) + held(&self.j) + memory
    }
}

impl Segment {
    /// Pairs whose first grain is the worker's, which stand in no other segment likewise, but for those handed over.
    fn booked(&self) -> impl Iterator<Item = &Pairs> {
        self.parts.iter().zip(PARTS).filter(|(_, part)| part.owned()[0]).map(|(pairs, _)| pairs)
    }

    /// What its contacts remember, to be [`restored`](Self::restore) after forces were tried out.
    pub fn memories(&self) -> Kept {
        let of_pairs = |pairs: &Pairs| pairs.memory.clone();
        Kept { pairs: self.parts.each_ref().map(of_pairs), walls: self.walls.clone() }
    }

    /// Gives its contacts back what they remembered.
    pub fn restore(&mut self, kept: Kept) {
        for (pairs, memory) in self.parts.iter_mut().zip(kept.pairs) {
            pairs.memory = memory;
        }
        self.walls = kept.walls;
    }

    /// Gives away what it has found of the pairs across its border, until it is [given back](Self::give_back).
    pub fn take_cut(&mut self) -> Cut {
        Cut { below: Some(take(&mut self.parts[Part::Below as usize])), opened: take(&mut self.opened_below) }
    }

    /// Gets back what was taken.
    pub fn give_back(&mut self, Cut { below, opened }: Cut) {
        if let Some(below) = below {
            self.parts[Part::Below as usize] = below;
        }
        self.opened_below = opened;
    }
}

/// Finds out which segments have pairs whose first grains are in others.
fn find_sources(segments: &mut [Segment], form: Loop) {
    segments.iter_mut().for_each(|segment| segment.sources.clear());
    if form == Loop::General {
        return;
    }
    let ends: Vec<usize> = segments.iter().map(|segment| segment.grains.end).collect();
    let lower = |segment: &Segment| {
        let below = &segment.parts[Part::Below as usize];
        let mut left = &below.i[..below.len];
        let mut found = Vec::new();
        while let Some(&first) = left.first() {
            let lower = ends.partition_point(|&end| offset(end as u32) <= first);
            found.push((lower, lanes::index(first) as u32));
            left = &left[left.partition_point(|&i| i < offset(ends[lower] as u32))..];
        }
        found
    };
    let found: Vec<Vec<(usize, u32)>> = segments.par_iter().map(lower).collect();
    for (segment, found) in (0..).zip(found) {
        found.into_iter().for_each(|(lower, first)| segments[lower].sources.push(Source { segment, first }));
    }
}

/// Builds the segments for `workers` workers from candidates and the stored contacts.
pub fn build(
    workers: usize,
    candidates: &Candidates,
    contacts: &Contacts,
    near_walls: &Finder,
    reach: &Reach,
    form: Loop,
    wall_form: Loop,
    pace: Pace,
) -> Vec<Segment> {
    let reaches = candidates.reaches(BLOCK);
    let units = Units::of(candidates.owned());
    let segment = |own: Range<usize>| {
        let part = |part: Part| {
            let rows = rows_of(part, form, &own, &reaches);
            let start = rows.first().map_or(own.start, |rows| rows.start);
            let from = contacts.pairs.partition_point(|c| (c.i as usize) < start);
            let touching = contacts.pairs[from..].iter().filter(|c| c.memory.touching);
            let known = Recall::new(touching.map(|c| (c.i, (c.j, c.shift), &c.memory)));
            let (mut pairs, known) = assemble(part, &rows, &own, candidates, known);
            pairs.memory = Memories::new(form, pairs.len, known);
            pairs
        };
        let walls = slice_of(&contacts.walls, &own, |w| w.grain);
        let of_wall = |w: usize| walls.iter().filter(move |c| c.wall as usize == w && c.memory.touching);
        let flats = match wall_form {
            Loop::General => Vec::new(),
            Loop::Fast(needs) => {
                near_walls.flats(own.clone(), reach, needs, |w| of_wall(w).map(|c| (c.grain, c.memory)))
            }
        };
        let (walls, spots) = match wall_form {
            Loop::General => (walls.to_vec(), Default::default()),
            Loop::Fast(needs) => {
                let others = walls.iter().filter(|c| !near_walls.is_plane(c.wall as usize));
                (Vec::new(), [Spots::of(others, needs), Spots::of([].iter(), needs)])
            }
        };
        let parts = PARTS.map(part);
        Segment {
            walls,
            spots,
            window: window_of(&parts, &own, form),
            parts,
            told: Told::new(units, own.len()),
            marks: window::marks(own.len()),
            near_walls: near_walls.find(own.clone(), reach, wall_form),
            flats,
            grains: own.clone(),
            ..Default::default()
        }
    };
    let mut segments: Vec<_> = cut_up(candidates, workers, units, form, pace).into_par_iter().map(segment).collect();
    find_sources(&mut segments, form);
    segments
}

/// Gives the segments new candidates of the same grains; contacts keep what they remember.
pub fn renew(
    segments: &mut [Segment],
    before: &Candidates,
    candidates: &Candidates,
    near_walls: &Finder,
    reach: &Reach,
    form: Loop,
    wall_form: Loop,
) {
    let reaches = candidates.reaches(BLOCK);
    // The last ones are the largest.
    segments.iter_mut().rev().par_bridge().for_each(|segment| {
        let own = &segment.grains;
        for (part, pairs) in PARTS.into_iter().zip(&mut segment.parts) {
            let Pairs { i, j, memory, .. } = take(pairs);
            let name = |k: usize| (lanes::index(i[k]) as u32, before.identity(lanes::index(j[k]) as u32));
            let rows = rows_of(part, form, own, &reaches);
            *pairs = match memory {
                Memories::Each(all) => {
                    let touching = all.iter().enumerate().filter(|(_, memory)| memory.touching);
                    let known = Recall::new(touching.map(|(k, memory)| (name(k).0, name(k).1, memory)));
                    let (pairs, known) = assemble(part, &rows, own, candidates, known);
                    let memory = Memories::new(Loop::General, pairs.len, known);
                    Pairs { memory, ..pairs }
                }
                Memories::Near(near) => {
                    let touching = near.touching().map(|(k, slot)| (name(k as usize), slot));
                    let known = Recall::new(touching.map(|((i, partner), slot)| (i, partner, slot)));
                    let (pairs, slots) = assemble(part, &rows, own, candidates, known);
                    Pairs { memory: Memories::Near(Box::new(near.handed_on(slots))), ..pairs }
                }
            };
        }
        segment.window = window_of(&segment.parts, own, form);
        segment.near_walls = near_walls.find(own.clone(), reach, wall_form);
        if let Loop::Fast(needs) = wall_form {
            let known = |w: usize| {
                let flat = segment.flats.iter().find(|flat| flat.wall as usize == w);
                flat.into_iter().flat_map(Flat::touching)
            };
            segment.flats = near_walls.flats(own.clone(), reach, needs, known);
        }
    });
    find_sources(segments, form);
}

/// How many grains have their loads in a [`Window`](window::Window) in sweeps over the pairs within a segment, one of these parts, if any.
fn window_of(parts: &[Pairs; 4], own: &Range<usize>, form: Loop) -> Option<usize> {
    let inside = &parts[Part::Inside as usize];
    if form == Loop::General { None } else { window::size(own.len(), [&inside.i, &inside.j]) }
}

/// Second grain of a pair: the real one and by how many periods it is shifted.
type Partner = (u32, [i32; 3]);

/// What pairs remember, or where, sorted by first grain, to be asked in the order of the first grains.
struct Recall<M, I: Iterator<Item = (u32, Partner, M)>> {
    rest: std::iter::Peekable<I>,
    /// What the pairs of the first grain asked for last remember.
    of_row: Vec<(Partner, M)>,
}

impl<M: Copy, I: Iterator<Item = (u32, Partner, M)>> Recall<M, I> {
    fn new(all: I) -> Self {
        Self { rest: all.peekable(), of_row: Vec::new() }
    }

    /// Whether pairs of a first grain, above those asked for before, remember anything.
    fn has(&mut self, i: u32) -> bool {
        self.of_row.clear();
        while let Some((row, partner, memory)) = self.rest.next_if(|(row, ..)| *row <= i) {
            if row == i {
                self.of_row.push((partner, memory));
            }
        }
        !self.of_row.is_empty()
    }

    /// Memory of its pair with a partner.
    fn of(&self, partner: Partner) -> Option<M> {
        self.of_row.iter().find(|(known, _)| *known == partner).map(|(_, memory)| *memory)
    }
}

/// First grains of the pairs of a part, ascending, when the pairs of a block of first grains reach so far.
fn rows_of(part: Part, form: Loop, own: &Range<usize>, reaches: &[u32]) -> Vec<Range<usize>> {
    match (part, form) {
        (Part::Below, _) => {
            let blocks = (0..own.start.div_ceil(BLOCK)).filter(|&block| reaches[block] as usize >= own.start);
            blocks.map(|block| block * BLOCK..own.start.min((block + 1) * BLOCK)).collect()
        }
        // Others have them.
        (Part::Above, Loop::Fast(_)) => Vec::new(),
        _ => vec![own.clone()],
    }
}

/// The candidates of some rows that belong to a part of what a worker has to do, without memories, and what those that are
/// known remember. Rows come in ascending order, so the list is sorted by (i, j).
fn assemble<M: Copy, I: Iterator<Item = (u32, Partner, M)>>(
    part: Part,
    rows: &[Range<usize>],
    own: &Range<usize>,
    candidates: &Candidates,
    mut known: Recall<M, I>,
) -> (Pairs, Vec<(u32, M)>) {
    let grains = candidates.owned();
    let partners = |i: usize| {
        let row = candidates.row(i);
        let below = |end: usize| match row.last() {
            Some(&last) if last as usize >= end => row.partition_point(|&j| (j as usize) < end),
            _ => row.len(),
        };
        match part {
            Part::Images => &row[below(grains)..],
            Part::Below => &row[below(own.start)..below(own.end)],
            Part::Inside => &row[..below(own.end)],
            Part::Above => &row[below(own.end)..below(grains)],
        }
    };
    let rows = || rows.iter().flat_map(Range::clone);
    let len: usize = rows().map(|i| partners(i).len()).sum();
    let room = len.next_multiple_of(8);
    let (mut first, mut second) = (Vec::with_capacity(room), Vec::with_capacity(room));
    let mut remembered = Vec::new();
    for i in rows() {
        let partners = partners(i);
        if !partners.is_empty() && known.has(i as u32) {
            for (k, &j) in (second.len()..).zip(partners) {
                remembered.extend(known.of(candidates.identity(j)).map(|memory| (k as u32, memory)));
            }
        }
        first.extend(repeat_n(offset(i as u32), partners.len()));
        second.extend(partners.iter().map(|&j| offset(j)));
    }
    for column in [&mut first, &mut second] {
        column.resize(room, column.last().copied().unwrap_or(0));
    }
    (Pairs { i: first, j: second, len, memory: Memories::default() }, remembered)
}

/// The part of a list sorted by grain that belongs to a range.
fn slice_of<'a, T>(list: &'a [T], grains: &Range<usize>, grain: impl Fn(&T) -> u32) -> &'a [T] {
    let from = list.partition_point(|w| (grain(w) as usize) < grains.start);
    let to = list.partition_point(|w| (grain(w) as usize) < grains.end);
    &list[from..to]
}

/// Collects the touching contacts of all segments.
pub fn collect(segments: &[Segment], candidates: &Candidates, contacts: &mut Contacts) {
    let of_segment = |segment: &Segment| {
        let mut pairs = Vec::with_capacity(segment.booked().map(Pairs::count_touching).sum());
        let of_source = |source: &Source| &segments[source.segment as usize].parts[Part::Below as usize];
        let from_others = segment.sources.iter().map(of_source);
        for list in segment.booked().chain(from_others) {
            pairs.extend(list.touching().filter_map(|(k, memory)| {
                let (i, j) = list.grains(k);
                let (j, shift) = candidates.identity(j as u32);
                segment.grains.contains(&i).then_some(PairContact { i: i as u32, j, shift, memory })
            }));
        }
        // Few sorted runs: what a stable sort is quick at.
        pairs.sort_by_key(|c| (c.i, c.j, c.shift));
        pairs
    };
    *contacts = Contacts::default();
    match segments {
        [segment] => contacts.pairs = of_segment(segment),
        segments => {
            let all: Vec<_> = segments.par_iter().map(of_segment).collect();
            contacts.pairs.reserve_exact(all.iter().map(Vec::len).sum());
            all.iter().for_each(|pairs| contacts.pairs.extend_from_slice(pairs));
        }
    }
    for segment in segments {
        contacts.walls.extend_from_slice(&segment.walls);
        contacts.walls.extend(segment.flats.iter().flat_map(Flat::contacts));
        contacts.walls.extend(segment.spots[0].contacts());
    }
    contacts.walls.sort_by_key(|c| (c.grain, c.wall, c.feature));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_all_later_segments_with_candidates_and_the_first_grain_of_these() {
        let ends = [100, 160, 161, 400];
        let firsts: [&[usize]; 4] = [&[], &[3, 3, 99], &[99, 100, 159], &[0, 7, 150, 160, 160]];
        let starts = [0].into_iter().chain(ends);
        let segment = |((start, end), firsts): ((usize, usize), &[usize])| {
            let mut segment = Segment { grains: start..end, ..Default::default() };
            let i: Vec<u32> = firsts.iter().map(|&i| offset(i as u32)).collect();
            // The last one is repeated to fill whole groups of eight.
            let padding = repeat_n(i.last().copied().unwrap_or(0), i.len().next_multiple_of(8) - i.len());
            let below = &mut segment.parts[Part::Below as usize];
            (below.len, below.i) = (i.len(), i.iter().copied().chain(padding).collect());
            segment
        };
        let mut segments: Vec<Segment> = starts.zip(ends).zip(firsts).map(segment).collect();
        find_sources(&mut segments, Loop::Fast(Needs { slip: false, dashpot: false }));
        for lower in &segments {
            let first = |firsts: &[usize]| firsts.iter().copied().find(|i| lower.grains.contains(i));
            let source = |(segment, first): (usize, usize)| Source { segment: segment as u32, first: first as u32 };
            let all = firsts.iter().enumerate().filter_map(|(k, firsts)| first(firsts).map(|first| source((k, first))));
            assert_eq!(lower.sources, all.collect::<Vec<_>>());
        }
        assert_eq!(segments.iter().map(|segment| segment.sources.len()).sum::<usize>(), 6);
        find_sources(&mut segments, Loop::General);
        assert!(segments.iter().all(|segment| segment.sources.is_empty()));
    }
}
