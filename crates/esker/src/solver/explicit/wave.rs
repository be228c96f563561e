//! Grains begin the next step while sweeps over pairs still go on elsewhere.

use super::passes::AllColumns;
use crate::contact::list::{BLOCK, Segment};
use crate::integrate::isotropic::{Found, Isotropic, Pass};
use crate::state::held;
use std::ops::Range;
use std::sync::atomic::{AtomicU16, Ordering};

/// How many segments look at each block of grains, and how many still do in the present sweep.
#[derive(Default)]
pub struct Readers {
    all: Vec<u16>,
    left: Vec<AtomicU16>,
}

impl Readers {
    /// Of so many blocks of grains: the segments that have them, and those that say so.
    pub fn of(blocks: usize, segments: &[Segment]) -> Self {
        let mut all = vec![1_u16; blocks];
        segments.iter().flat_map(|segment| &segment.others).for_each(|&block| all[block as usize] += 1);
        Self { left: all.iter().map(|&readers| AtomicU16::new(readers)).collect(), all }
    }

    /// Memory held \[byte\].
    pub fn memory_held(&self) -> usize {
        held(&self.all) + held(&self.left)
    }

    /// Whether nobody looks at a block but the segment that has it.
    fn is_one(&self, block: usize) -> bool {
        self.all[block] == 1
    }

    /// One of the segments will not look at a block any more in this sweep. Returns whether it was the last one; what the
    /// others have written is then there to be read.
    fn leave(&self, block: usize) -> bool {
        let last = self.left[block].fetch_sub(1, Ordering::AcqRel) == 1;
        if last {
            self.left[block].store(self.all[block], Ordering::Relaxed);
        }
        last
    }
}

/// Begins the next step block by block: behind the sweep of a segment over its pairs, and where others look too when the
/// last of them is done.
pub struct Wave<'a> {
    scheme: Option<&'a Isotropic>,
    columns: AllColumns<'a>,
    readers: &'a Readers,
    /// Blocks of the segment, and the next one to come.
    blocks: Range<usize>,
    next: usize,
    found: Found,
}

impl<'a> Wave<'a> {
    /// Behind the sweep of a segment with these grains, if there is a scheme to go on with.
    pub fn new(
        scheme: Option<&'a Isotropic>,
        columns: AllColumns<'a>,
        readers: &'a Readers,
        grains: &Range<usize>,
    ) -> Self {
        let blocks = grains.start / BLOCK..grains.end.div_ceil(BLOCK);
        Self { scheme, columns, readers, next: blocks.start, blocks, found: Found::NOTHING }
    }

    /// The grains before `grain` are done, unless others look at them.
    pub fn reach(&mut self, grain: usize) {
        let Some(scheme) = self.scheme else { return };
        while self.next < self.blocks.end && self.columns.grains_of(self.next).end <= grain {
            if self.readers.is_one(self.next) {
                self.begin(scheme, self.next);
            }
            self.next += 1;
        }
    }

    /// The sweep is over. Tells what the passes found.
    pub fn end(mut self, others: &[u32]) -> Found {
        let Some(scheme) = self.scheme else { return self.found };
        let own = self.blocks.clone().filter(|&block| !self.readers.is_one(block));
        let shared = own.chain(others.iter().map(|&block| block as usize));
        let last: Vec<usize> = shared.filter(|&block| self.readers.leave(block)).collect();
        for (k, &block) in last.iter().enumerate() {
            if let Some(&next) = last.get(k + 1) {
                self.columns.ask_for(next);
            }
            self.begin(scheme, block);
        }
        self.found
    }

    fn begin(&mut self, scheme: &Isotropic, block: usize) {
        // SAFETY: no sweep looks at these grains any more, nor at what was found of them.
        let found = unsafe { self.columns.pass(scheme, Pass::FinishAndBegin, block) };
        self.found = self.found.merged(&found);
    }
}
