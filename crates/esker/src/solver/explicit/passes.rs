//! Work cut up among the workers: each has its own part of the columns.

use crate::contact::list::{BLOCK, Segment};
use crate::integrate::isotropic::{Columns, Found, Isotropic, Pass, turns_after};
use crate::math::Quat;
use crate::particles::{Load, Motion, Particles, Place};
use rayon::prelude::*;
use std::marker::PhantomData;
use std::ops::Range;
use std::slice::from_raw_parts_mut;

/// Columns of all grains for workers that write to different blocks of them.
#[derive(Clone, Copy)]
pub struct AllColumns<'a> {
    pub place: *mut Place,
    pub motion: *mut Motion,
    pub load: *mut Load,
    /// Null where nobody wants it.
    now: *mut Motion,
    orientation: *mut Quat,
    /// Whether it is time to turn the orientations.
    turns: bool,
    mass: &'a [f64],
    kind: &'a [u16],
    marker: PhantomData<&'a mut Place>,
}

// SAFETY: who writes makes sure that nobody else uses the same entries, see `pass`.
unsafe impl Send for AllColumns<'_> {}
// SAFETY: likewise.
unsafe impl Sync for AllColumns<'_> {}

impl<'a> AllColumns<'a> {
    /// Of these grains; velocities at the time of the force go to `now` unless it is empty.
    pub fn of(particles: &'a mut Particles, now: &'a mut [Motion]) -> Self {
        let n = particles.owned();
        assert!(particles.place.len() >= n && particles.motion.len() >= n && particles.load.len() == n);
        assert!(particles.orientation.len() >= n);
        assert!(now.is_empty() || now.len() >= n);
        Self {
            place: particles.place.as_mut_ptr(),
            motion: particles.motion.as_mut_ptr(),
            load: particles.load.as_mut_ptr(),
            now: if now.is_empty() { std::ptr::null_mut() } else { now.as_mut_ptr() },
            orientation: particles.orientation.as_mut_ptr(),
            turns: false,
            mass: &particles.mass,
            kind: &particles.kind,
            marker: PhantomData,
        }
    }

    /// The same for passes that begin the step after `steps` others.
    pub fn beginning_after(mut self, steps: u64) -> Self {
        self.turns = turns_after(steps);
        self
    }

    /// One pass over the grains of a range.
    ///
    /// # Safety
    /// Nobody else reads or writes the columns of these grains meanwhile.
    pub unsafe fn pass(&self, scheme: &Isotropic, pass: Pass, range: Range<usize>) -> Found {
        let (first, n) = (range.start, range.len());
        let (mass, kind) = (&self.mass[range.clone()], &self.kind[range]);
        // SAFETY: the range is there, as those of masses and kinds, and ours.
        let columns = unsafe {
            Columns {
                place: from_raw_parts_mut(self.place.add(first), n),
                motion: from_raw_parts_mut(self.motion.add(first), n),
                now: (!self.now.is_null()).then(|| from_raw_parts_mut(self.now.add(first), n)),
                orientation: self.turns.then(|| from_raw_parts_mut(self.orientation.add(first), n)),
                load: from_raw_parts_mut(self.load.add(first), n),
                mass,
                kind,
            }
        };
        scheme.pass(pass, columns)
    }
}

/// Which blocks of grains a pass takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// All.
    All,
    /// Those that other workers look at.
    Shared,
}

/// Grains of a block of a segment.
pub fn grains_of(own: &Range<usize>, block: usize) -> Range<usize> {
    let first = own.start + block * BLOCK;
    first..own.end.min(first + BLOCK)
}

/// One pass of the fast integration, each worker over its own grains; segments keep what was found.
pub fn isotropic_pass(
    scheme: &Isotropic,
    pass: Pass,
    columns: AllColumns,
    segments: &mut [Segment],
    blocks: Blocks,
) -> Found {
    let work = |segment: &mut Segment| {
        let mut found = Found::NOTHING;
        for (block, here) in segment.found.iter_mut().enumerate() {
            if blocks == Blocks::All || segment.shared[block] {
                // SAFETY: segments have different grains, and nobody else is at work.
                *here = unsafe { columns.pass(scheme, pass, grains_of(&segment.grains, block)) };
                found = found.merged(here);
            }
        }
        found
    };
    match segments {
        [segment] => work(segment),
        segments => segments.par_iter_mut().map(work).reduce(|| Found::NOTHING, |a, b| a.merged(&b)),
    }
}
