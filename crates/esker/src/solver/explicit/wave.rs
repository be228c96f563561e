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
    lost: Vec<[f64; 2]>,
    /// The next block.
    block: usize,
    found: Found,
}

impl<'a> Wave<'a> {
    /// Behind the sweep of a segment, if there is a scheme to go on with.
    pub fn new(scheme: Option<&'a Isotropic>, columns: AllColumns<'a>, segment: &mut Segment) -> Self {
        let (shared, lost) = (std::mem::take(&mut segment.shared), std::mem::take(&mut segment.lost));
        Self { scheme, columns, grains: segment.grains.clone(), shared, lost, block: 0, found: Found::NOTHING }
    }

    /// The grains before `grain` are done.
    pub fn reach(&mut self, grain: usize) {
        let Some(scheme) = self.scheme else { return };
        while self.block < self.shared.len() && grains_of(&self.grains, self.block).end <= grain {
            if !self.shared[self.block] {
                let range = grains_of(&self.grains, self.block);
                // SAFETY: neither this sweep nor another worker looks at these grains any more.
                let here = unsafe { self.columns.pass(scheme, Pass::FinishAndBegin, range) };
                self.lost[self.block] = here.lost;
                self.found = self.found.merged(&here);
            }
            self.block += 1;
        }
    }

    /// Gives back what it borrowed, and tells what the passes found.
    pub fn end(self, segment: &mut Segment) -> Found {
        (segment.shared, segment.lost) = (self.shared, self.lost);
        self.found
    }
}
