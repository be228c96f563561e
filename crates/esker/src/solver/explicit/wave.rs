//! Grains begin the next step while the sweep over pairs still goes on further up.

use super::passes::{AllColumns, grains_of};
use crate::contact::list::Segment;
use crate::integrate::isotropic::{Found, Isotropic, Pass};
use std::ops::Range;

/// Begins the next step block by block behind a sweep over pairs.
pub struct Wave<'a> {
    scheme: Option<&'a Isotropic>,
    columns: AllColumns<'a>,
    grains: Range<usize>,
    shared: Vec<bool>,
    /// The next block.
    block: usize,
    found: Found,
}

impl<'a> Wave<'a> {
    /// Behind the sweep of a segment, if there is a scheme to go on with.
    pub fn new(scheme: Option<&'a Isotropic>, columns: AllColumns<'a>, segment: &mut Segment) -> Self {
        let shared = std::mem::take(&mut segment.shared);
        Self { scheme, columns, grains: segment.grains.clone(), shared, block: 0, found: Found::NOTHING }
    }

    /// The grains before `grain` are done. What the passes find in each block goes to `found`.
    pub fn reach(&mut self, grain: usize, found: &mut [Found]) {
        let Some(scheme) = self.scheme else { return };
        while self.block < self.shared.len() && grains_of(&self.grains, self.block).end <= grain {
            if !self.shared[self.block] {
                let range = grains_of(&self.grains, self.block);
                // SAFETY: neither this sweep nor another worker looks at these grains any more.
                found[self.block] = unsafe { self.columns.pass(scheme, Pass::FinishAndBegin, range) };
                self.found = self.found.merged(&found[self.block]);
            }
            self.block += 1;
        }
    }

    /// Gives back what it borrowed, and tells what the passes found.
    pub fn end(self, segment: &mut Segment) -> Found {
        segment.shared = self.shared;
        self.found
    }
}
