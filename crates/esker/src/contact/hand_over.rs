//! Loads of pairs across borders: the segment of the second grains evaluates them, first of all, and the segment of the first
//! grains adds them when all else that acts on these is known.

use super::list::{Cut, Opened, Segment};
use super::near_pairs::Block;
use crate::lanes::{index, offset};
use crate::particles::Load;
use std::ops::Range;

/// Loads for the grains of a segment from the segments above it.
pub struct HandOver<'a> {
    /// Of each of them, ascending.
    sources: Vec<Source<'a>>,
}

/// What one segment hands over to another.
struct Source<'a> {
    blocks: &'a [Block],
    /// The next octet of the first of these.
    octet: usize,
}

impl<'a> HandOver<'a> {
    /// To a segment from what all have evaluated across their borders.
    pub fn to(segment: &Segment, cuts: &'a [Cut]) -> Self {
        let start = offset(segment.grains.start as u32);
        let source = |&above: &u32| {
            let blocks = cuts[above as usize].blocks();
            let last_of = |block: &Block| block.octets.pairs.last().map_or(0, |octet| octet.i[7]);
            // Near pairs keep the order of the candidates, so blocks without any lie between others.
            let passed = blocks.iter().rposition(|block| !block.octets.pairs.is_empty() && last_of(block) < start);
            let blocks = &blocks[passed.map_or(0, |passed| passed + 1)..];
            let octet =
                blocks.first().map_or(0, |block| block.octets.pairs.partition_point(|octet| octet.i[7] < start));
            Source { blocks, octet }
        };
        Self { sources: segment.sources.iter().map(source).collect() }
    }

    /// Adds what acts on some grains, which come after those asked for before, to their loads. Grain by grain in ascending order of
    /// the second grains.
    pub fn add(&mut self, grains: &Range<usize>, loads: &mut [Load]) {
        let range = offset(grains.start as u32)..offset(grains.end as u32);
        for source in &mut self.sources {
            source.add(&range, loads);
        }
    }
}

impl Source<'_> {
    /// The same from one segment; grains as offsets.
    fn add(&mut self, grains: &Range<u32>, loads: &mut [Load]) {
        while let Some(Block { octets, handed, .. }) = self.blocks.first() {
            while let Some(octet) = octets.pairs.get(self.octet) {
                if octet.i[0] >= grains.end {
                    return;
                }
                let touching = octets.tags[self.octet].touching;
                for l in (0..8).filter(|l| touching >> l & 1 == 1 && grains.contains(&octet.i[*l])) {
                    loads[index(octet.i[l] - grains.start)].add(&handed[self.octet][l]);
                }
                if octet.i[7] >= grains.end {
                    return; // the rest of it is for grains to come
                }
                self.octet += 1;
            }
            (self.blocks, self.octet) = (&self.blocks[1..], 0);
        }
    }
}

/// Books what pairs have lost that have opened, in the order of the pairs, wherever the border of the segment lies: its own,
/// and those that others have found.
pub fn book_opened(segment: &mut Segment, cuts: &[Cut]) {
    let Range { start, end } = segment.grains;
    let from_others = segment.sources.iter().flat_map(|&above| &cuts[above as usize].opened);
    let mut opened: Vec<&Opened> = segment.opened.iter().chain(from_others).collect();
    opened.retain(|opened| (start..end).contains(&opened.i));
    opened.sort_unstable_by_key(|opened| (opened.i, opened.j));
    for Opened { i, lost, .. } in opened {
        *segment.losses.of(i - start) += *lost;
    }
}
