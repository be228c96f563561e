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

/// Grains whose records are asked for at once: the processor waits when it is asked for too much.
const AT_ONCE: usize = 16;

/// Begins the next step block by block for a worker: behind its sweeps over the pairs of segments, and where others look too
/// after the last of them is done.
pub struct Wave<'a> {
    scheme: Option<&'a Isotropic>,
    columns: AllColumns<'a>,
    readers: &'a Readers,
    /// Blocks of the present segment that it has not passed.
    own: Range<usize>,
    /// Blocks that nobody looks at any more, wherever they are, to be begun while there is other work to do until they have
    /// come: so many of the grains of the last one have been asked for.
    ready: Vec<usize>,
    asked: usize,
    found: Found,
}

impl<'a> Wave<'a> {
    /// If there is a scheme to go on with.
    pub fn new(scheme: Option<&'a Isotropic>, columns: AllColumns<'a>, readers: &'a Readers) -> Self {
        Self { scheme, columns, readers, own: 0..0, ready: Vec::new(), asked: 0, found: Found::NOTHING }
    }

    /// Comes to a segment with these grains.
    pub fn enter(&mut self, grains: &Range<usize>) {
        self.own = grains.start / BLOCK..grains.end.div_ceil(BLOCK);
    }

    /// The grains of the segment before `grain` are done, unless others look at them.
    pub fn reach(&mut self, grain: usize) {
        let Some(scheme) = self.scheme else { return };
        while !self.own.is_empty() && self.columns.grains_of(self.own.start).end <= grain {
            if self.readers.is_one(self.own.start) {
                self.begin(scheme, self.own.start);
            }
            self.own.start += 1;
        }
        self.go_on_with_ready(scheme);
    }

    /// The sweep over a segment is over.
    pub fn leave(&mut self, segment: &Segment) {
        if self.scheme.is_none() {
            return;
        }
        let own = segment.grains.start / BLOCK..segment.grains.end.div_ceil(BLOCK);
        let own = own.filter(|&block| !self.readers.is_one(block));
        let shared = own.chain(segment.others.iter().map(|&block| block as usize));
        self.ready.extend(shared.filter(|&block| self.readers.leave(block)));
        self.asked = 0;
    }

    /// There are no more segments. Tells what the passes found.
    pub fn end(mut self) -> Found {
        while let (Some(scheme), false) = (self.scheme, self.ready.is_empty()) {
            self.go_on_with_ready(scheme);
        }
        self.found
    }

    /// Asks for some more grains of a block that is ready, or begins it.
    fn go_on_with_ready(&mut self, scheme: &Isotropic) {
        let Some(&block) = self.ready.last() else { return };
        if self.asked < BLOCK {
            self.columns.ask_for(block, self.asked..self.asked + AT_ONCE);
            self.asked += AT_ONCE;
        } else {
            self.ready.pop();
            self.asked = 0;
            self.begin(scheme, block);
        }
    }

    fn begin(&mut self, scheme: &Isotropic, block: usize) {
        // SAFETY: no sweep looks at these grains any more, nor at what was found of them.
        let found = unsafe { self.columns.pass(scheme, Pass::FinishAndBegin, block) };
        self.found = self.found.merged(&found);
    }
}
