//! Grains begin the next step while sweeps over pairs still go on elsewhere.

use super::passes::AllColumns;
use crate::contact::hand_over::HandOver;
use crate::contact::list::BLOCK;
use crate::contact::window::Window;
use crate::integrate::isotropic::{Found, Isotropic, Pass};
use std::ops::Range;

/// Follows the sweep over the pairs within a segment, block by block: adds what others hand over, which comes last for every
/// grain, and begins the next step while the grains are at hand.
pub struct Wave<'a> {
    scheme: Option<&'a Isotropic>,
    columns: AllColumns<'a>,
    from_others: HandOver<'a>,
    /// Where the loads are, if not in the column.
    window: Option<Window<'a>>,
    /// Blocks of the segment that it has not passed.
    left: Range<usize>,
    found: Found,
}

impl<'a> Wave<'a> {
    /// Behind the sweep of a segment with these grains; the next step begins if there is a scheme to go on with.
    pub fn new(
        scheme: Option<&'a Isotropic>,
        columns: AllColumns<'a>,
        from_others: HandOver<'a>,
        window: Option<Window<'a>>,
        grains: &Range<usize>,
    ) -> Self {
        let left = grains.start / BLOCK..grains.end.div_ceil(BLOCK);
        Self { scheme, columns, from_others, window, left, found: Found::NOTHING }
    }

    /// The sweep is done with the grains before `grain`. Tells it the limit of the window.
    pub fn reach(&mut self, grain: usize) -> u32 {
        while let Some(block) = self.left.clone().next().filter(|&block| self.columns.grains_of(block).end <= grain) {
            self.left.next();
            let grains = self.columns.grains_of(block);
            // SAFETY: no sweep looks at these grains any more, nor at what was found of them: who has candidates with them elsewhere
            // hands over, and has been waited for.
            unsafe {
                let (loads, coming) = match &mut self.window {
                    Some(window) => {
                        let coming = window.coming(&grains);
                        (window.of(&grains), Some(coming))
                    }
                    None => (self.columns.loads(&grains), None),
                };
                self.from_others.add(&grains, loads);
                if let Some(scheme) = self.scheme {
                    let found = self.columns.pass(scheme, Pass::FinishAndBegin, block, loads, coming.as_ref());
                    self.found = self.found.merged(&found);
                }
                self.window.iter_mut().for_each(|window| window.pass());
            }
        }
        self.window.as_ref().map_or(u32::MAX, Window::limit)
    }

    /// What the passes found.
    pub fn found(&self) -> Found {
        self.found
    }
}
