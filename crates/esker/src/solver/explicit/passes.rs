//! Passes of the integration over blocks of grains, which any worker may do.

use super::GRAINS_PER_WORKER;
use super::margins::Spending;
use crate::contact::column::Column;
use crate::contact::list::BLOCK;
use crate::contact::sums::Units;
use crate::integrate::isotropic::{Columns, Found, Isotropic, Lost, Pass, turns_after};
use crate::math::Quat;
use crate::particles::{Load, Motion, Particles, Place, is_finite};
use rayon::prelude::*;
use std::marker::PhantomData;
use std::ops::Range;
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// What is known of each block of grains.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    /// What the last pass found of its velocities.
    pub found: Vec<Found>,
    /// What the contacts of each unit have lost in a step, as far as the grains tell; and room for the step after it.
    pub lost: [Vec<Lost>; 2],
}

impl Blocks {
    /// Nothing, for so many grains.
    pub fn of(grains: usize) -> Self {
        let units = grains.div_ceil(Units::of(grains).grains());
        let lost = vec![Lost::default(); units];
        Self { found: vec![Found::NOTHING; grains.div_ceil(BLOCK)], lost: [lost.clone(), lost] }
    }
}

/// Columns of all grains for workers that write to different blocks of them.
#[derive(Clone, Copy)]
pub struct AllColumns<'a> {
    pub place: *mut Place,
    pub motion: *mut Motion,
    load: *mut Load,
    /// Null where nobody wants it.
    now: *mut Motion,
    orientation: *mut Quat,
    /// For passes that begin a step: whether it is time to turn the orientations, and the margins it uses up.
    turns: bool,
    spending: Option<Spending<'a>>,
    found: *mut Found,
    units: Units,
    lost: [*mut Lost; 2],
    pub mass: &'a [f64],
    kind: &'a [u16],
    id: &'a [u64],
    marker: PhantomData<&'a mut Place>,
}

// SAFETY: who writes makes sure that nobody else uses the same entries, see `pass`.
unsafe impl Send for AllColumns<'_> {}
// SAFETY: likewise.
unsafe impl Sync for AllColumns<'_> {}

impl<'a> AllColumns<'a> {
    /// Of these grains; velocities at the time of the force go to `now` unless it is empty.
    pub fn of(particles: &'a mut Particles, now: &'a mut [Motion], blocks: &'a mut Blocks) -> Self {
        let n = particles.owned();
        assert!(particles.place.len() >= n && particles.motion.len() >= n && particles.load.len() == n);
        assert!(particles.orientation.len() >= n);
        assert!(now.is_empty() || now.len() >= n);
        let units = Units::of(n);
        assert!(blocks.found.len() == n.div_ceil(BLOCK));
        assert!(blocks.lost.iter().all(|lost| lost.len() == n.div_ceil(units.grains())));
        Self {
            place: particles.place.as_mut_ptr(),
            motion: particles.motion.as_mut_ptr(),
            load: particles.load.as_mut_ptr(),
            now: if now.is_empty() { std::ptr::null_mut() } else { now.as_mut_ptr() },
            orientation: particles.orientation.as_mut_ptr(),
            turns: false,
            spending: None,
            found: blocks.found.as_mut_ptr(),
            units,
            lost: blocks.lost.each_mut().map(|lost| lost.as_mut_ptr()),
            mass: &particles.mass,
            kind: &particles.kind,
            id: &particles.id,
            marker: PhantomData,
        }
    }

    /// The same for passes that begin the step after `steps` others, which uses up margins.
    pub fn beginning_after(mut self, steps: u64, spending: Spending<'a>) -> Self {
        self.turns = turns_after(steps);
        self.spending = Some(spending);
        self
    }

    /// The same for passes of odd steps, which tell what was lost in the room for the step after.
    pub fn of_odd_step(mut self) -> Self {
        self.lost.swap(0, 1);
        self
    }

    /// What the passes have told of losses, unit by unit.
    ///
    /// # Safety
    /// Nobody passes meanwhile who tells it in the same place.
    pub unsafe fn lost(&self) -> &[Lost] {
        // SAFETY: they are there, and the caller's.
        unsafe { from_raw_parts(self.lost[0], self.mass.len().div_ceil(self.units.grains())) }
    }

    /// Whether a margin was used up in the step that passes begin or one before it, once all blocks have made them.
    pub fn have_used_up(&self) -> bool {
        self.spending.as_ref().is_some_and(Spending::is_used_up)
    }

    /// Identity of the first grain of a block that has used up its margin in the step that passes begin without having told so before, where it
    /// should have, once all blocks have made it.
    pub fn first_sudden(&self) -> Option<u64> {
        self.spending.as_ref().and_then(Spending::first_sudden).map(|block| self.id[block * BLOCK])
    }

    /// Identity of the first of some grains that has no finite place or velocity; if it is their masses or radii, of the first of all.
    ///
    /// # Safety
    /// Nobody changes the places and velocities of these grains meanwhile.
    pub unsafe fn first_not_finite(&self, grains: &Range<usize>) -> u64 {
        assert!(grains.start <= grains.end && grains.end <= self.mass.len());
        // SAFETY: they are there, as their masses are, and the caller's.
        let is_finite = |i: &usize| unsafe { is_finite(&*self.place.add(*i), &*self.motion.add(*i)) };
        self.id[grains.clone().find(|i| !is_finite(i)).unwrap_or(grains.start)]
    }

    /// Grains of a block.
    pub fn grains_of(&self, block: usize) -> Range<usize> {
        block * BLOCK..self.mass.len().min((block + 1) * BLOCK)
    }

    /// Loads of some grains.
    ///
    /// # Safety
    /// Nobody else reads or writes them meanwhile.
    #[allow(clippy::mut_from_ref)] // of memory that is shared in parts
    pub unsafe fn loads(&self, grains: &Range<usize>) -> &mut [Load] {
        assert!(grains.start <= grains.end && grains.end <= self.mass.len());
        // SAFETY: they are there, as their masses are, and the caller's.
        unsafe { from_raw_parts_mut(self.load.add(grains.start), grains.len()) }
    }

    /// What passes have found of the velocities in each block.
    pub fn found(&self) -> Column<'a, Found> {
        // SAFETY: entries are changed by passes only, over blocks nobody looks at any more.
        unsafe { Column::new(self.found, self.mass.len().div_ceil(BLOCK)) }
    }

    /// One pass over the grains of a block, which have these loads, after those before it in its unit. Notes and returns what it finds. Loads
    /// that it leaves are of gravity on these grains, or on others that come with their masses.
    ///
    /// # Safety
    /// Nobody else reads or writes the columns of these grains, or of this block, meanwhile, nor passes others of its unit.
    pub unsafe fn pass(
        &self,
        scheme: &Isotropic,
        pass: Pass,
        block: usize,
        load: &mut [Load],
        coming: Option<&[f64; BLOCK]>,
    ) -> Found {
        let range = self.grains_of(block);
        let (first, n) = (range.start, range.len());
        let (mass, kind) = (&self.mass[range.clone()], &self.kind[range]);
        let mass = coming.map_or(mass, |coming| &coming[..n]);
        // SAFETY: the range is there, as those of masses and kinds, and ours.
        let mut columns = unsafe {
            Columns {
                place: from_raw_parts_mut(self.place.add(first), n),
                motion: from_raw_parts_mut(self.motion.add(first), n),
                now: (!self.now.is_null()).then(|| from_raw_parts_mut(self.now.add(first), n)),
                orientation: self.turns.then(|| from_raw_parts_mut(self.orientation.add(first), n)),
                load,
                mass,
                kind,
            }
        };
        let (found, lost) = scheme.pass(pass, &mut columns);
        // SAFETY: the block is there, since its grains are, and ours.
        unsafe {
            *self.found.add(block) = found;
            let of_unit = &mut *self.lost[0].add(self.units.of_grain(first));
            let before = if first.is_multiple_of(self.units.grains()) { Lost::default() } else { *of_unit };
            *of_unit = [before[0] + lost[0], before[1] + lost[1]];
            if let Some(spending) = &self.spending {
                spending.block(block, found.deviation(spending.drift()), columns.place);
            }
        }
        found
    }
}

/// One pass of the fast integration over all grains.
pub fn isotropic_pass(scheme: &Isotropic, pass: Pass, columns: AllColumns) -> Found {
    let (grains, of_unit) = (columns.mass.len(), columns.units.grains());
    let units = (0..grains.div_ceil(of_unit)).into_par_iter().with_min_len(GRAINS_PER_WORKER.div_ceil(of_unit));
    let unit = |unit: usize| {
        let blocks = unit * of_unit / BLOCK..grains.min((unit + 1) * of_unit).div_ceil(BLOCK);
        // SAFETY: units have different grains, and nobody else is at work.
        let block =
            |block| unsafe { columns.pass(scheme, pass, block, columns.loads(&columns.grains_of(block)), None) };
        blocks.map(block).fold(Found::NOTHING, |a, b| a.merged(&b))
    };
    units.map(unit).reduce(|| Found::NOTHING, |a, b| a.merged(&b))
}
