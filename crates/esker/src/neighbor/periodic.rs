//! Periodic directions, and the images through which grains meet across them.
//!
//! Grains may be given any number of periods outside the cell. Inside the search each has a copy wrapped into the cell
//! and its *winding*, the number of periods taken off; image shifts are given back in terms of the grain as it came.

use super::SearchError;
use crate::math::Vec3;
use crate::particles::Place;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Names of the axes in messages.
pub(super) const AXIS_NAMES: [char; 3] = ['x', 'y', 'z'];

/// Largest winding: the difference of two, plus one, still is an `i32`.
const MAX_WINDING: f64 = (1 << 29) as f64;

/// Periodic directions of the domain; `None` = open.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeriodicCell {
    /// Lowest corner \[m\]; read on periodic axes only.
    pub origin: Vec3,
    /// Period along each axis \[m\], `None` where the domain is open.
    pub length: [Option<f64>; 3],
}

/// A periodic copy of an owned grain: the owner's position + shift ∘ length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Image {
    /// Index of the grain it copies.
    pub owner: u32,
    /// Periods added along each axis.
    pub shift: [i32; 3],
}

impl PeriodicCell {
    /// No periodic direction at all.
    pub const OPEN: PeriodicCell = PeriodicCell { origin: Vec3::ZERO, length: [None; 3] };

    /// Whether any direction is periodic.
    pub fn is_periodic(&self) -> bool {
        self.length.iter().any(Option::is_some)
    }

    /// The displacement `shift ∘ length` \[m\]; zero on open axes.
    pub fn shift_vector(&self, shift: [i32; 3]) -> Vec3 {
        Vec3::from_array(std::array::from_fn(|axis| match self.length[axis] {
            Some(length) => f64::from(shift[axis]) * length,
            None => 0.0,
        }))
    }

    /// The copy of a point that lies inside the cell \[m\]. Grains are wrapped now and then only: who asks where a grain
    /// is seen, not where its contacts are, asks for this.
    pub fn wrapped(&self, x: Vec3) -> Vec3 {
        if self.is_periodic() { x - self.shift_vector(self.winding(x)) } else { x }
    }

    /// The shortest copy of the separation of two points \[m\]: between one and the nearest copy of the other.
    pub fn nearest(&self, separation: Vec3) -> Vec3 {
        let mut out = separation;
        for axis in 0..3 {
            if let Some(length) = self.length[axis] {
                out[axis] -= length * (out[axis] / length).round();
            }
        }
        out
    }

    /// In which copy of the cell a point lies: floor((x − origin) / length) per periodic axis, 0 on open ones. A point
    /// nearer to a face than rounding can tell counts as on it.
    ///
    /// Beyond 2²⁹ periods, where [`search`](super::search) refuses a grain, the value saturates.
    pub fn winding(&self, x: Vec3) -> [i32; 3] {
        self.wrap(x).1
    }

    /// The copy of a point inside the cell, 0 ≤ w ≤ length measured from `origin` on periodic axes, and its winding.
    /// Open coordinates stay as they are.
    pub(super) fn wrap(&self, x: Vec3) -> (Vec3, [i32; 3]) {
        let mut inside = x;
        let mut winding = [0; 3];
        for axis in 0..3 {
            let Some(length) = self.length[axis] else { continue };
            let offset = x[axis] - self.origin[axis];
            let mut periods = (offset / length).floor();
            let mut w = offset - periods * length;
            // The quotient is rounded: a point at a face may come out on the wrong side of it.
            if w < 0.0 {
                periods -= 1.0;
                w += length;
            } else if w >= length {
                periods += 1.0;
                w -= length;
            }
            inside[axis] = w;
            winding[axis] = periods.clamp(-2.0 * MAX_WINDING, 2.0 * MAX_WINDING) as i32;
        }
        (inside, winding)
    }

    /// Every periodic length must hold the largest interaction distance, else one neighbouring copy of the cell on each
    /// side would not be enough.
    pub(super) fn check(&self, needed: f64) -> Result<(), SearchError> {
        for axis in 0..3 {
            let Some(length) = self.length[axis] else { continue };
            let (name, origin) = (AXIS_NAMES[axis], self.origin[axis]);
            if !origin.is_finite() || !length.is_finite() {
                return Err(SearchError::CellNotFinite { axis: name, origin, length });
            }
            if !(length > 0.0 && length >= needed) {
                return Err(SearchError::PeriodTooShort { axis: name, length, needed });
            }
        }
        Ok(())
    }
}

/// All grains inside the cell.
pub(super) struct Wrapped<'a> {
    /// Wrapped copies, in the order of the grains; the grains themselves when no direction is periodic.
    pub places: Cow<'a, [Place]>,
    /// Periods taken off each grain; empty when no direction is periodic.
    pub winding: Vec<[i32; 3]>,
}

impl<'a> Wrapped<'a> {
    /// Wraps every grain.
    pub fn new(places: &'a [Place], cell: &PeriodicCell) -> Result<Wrapped<'a>, SearchError> {
        if !cell.is_periodic() {
            return Ok(Wrapped { places: Cow::Borrowed(places), winding: Vec::new() });
        }
        let wrap = |place: &Place| {
            let (position, winding) = cell.wrap(place.position);
            (Place { position, radius: place.radius }, winding)
        };
        let (inside, winding): (Vec<_>, Vec<[i32; 3]>) = places.par_iter().with_min_len(4096).map(wrap).unzip();
        let too_far = |winding: &[i32; 3]| (0..3).find(|&axis| f64::from(winding[axis]).abs() > MAX_WINDING);
        if let Some(index) = winding.par_iter().with_min_len(4096).position_first(|w| too_far(w).is_some()) {
            let axis = too_far(&winding[index]).expect("it has been found");
            let (position, length) = (places[index].position[axis], cell.length[axis].unwrap_or(f64::INFINITY));
            return Err(SearchError::TooManyPeriods { index, axis: AXIS_NAMES[axis], position, length });
        }
        Ok(Wrapped { places: Cow::Owned(inside), winding })
    }

    /// Turns `copy`, the copy of the cell in which the wrapped grain j is near the wrapped grain i, into the shift that
    /// brings j as given near i as given.
    pub fn shift(&self, i: u32, j: u32, copy: [i32; 3]) -> [i32; 3] {
        if self.winding.is_empty() {
            return copy;
        }
        let (n_i, n_j) = (self.winding[i as usize], self.winding[j as usize]);
        std::array::from_fn(|axis| copy[axis] + n_i[axis] - n_j[axis])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_and_its_wrapped_copy_differ_by_the_winding() {
        let cell = PeriodicCell { origin: Vec3::new(-1.0, 2.0, 0.5), length: [Some(0.3), None, Some(7.0)] };
        for x in [Vec3::ZERO, Vec3::new(-1.0, 5.0, 0.5), Vec3::new(1e3, -2.0, -1e3), Vec3::new(-0.7, 0.0, 7.5)] {
            let (w, n) = cell.wrap(x);
            assert!((0.0..=0.3).contains(&w.x) && (0.0..=7.0).contains(&w.z), "{x}: {w}");
            assert_eq!((w.y, n[1]), (x.y, 0));
            let back = w + Vec3::new(cell.origin.x, 0.0, cell.origin.z) + cell.shift_vector(n);
            assert!((back - x).length() < 1e-12, "{x}: {back}");
        }
        assert_eq!(cell.winding(Vec3::new(-1.1, 0.0, 7.6)), [-1, 0, 1]);
    }

    #[test]
    fn a_point_a_rounding_error_below_a_face_stays_inside_the_cell() {
        let cell = PeriodicCell { origin: Vec3::ZERO, length: [Some(1.0); 3] };
        let (w, n) = cell.wrap(Vec3::new(-1e-300, 1.0, 1.0_f64.next_down()));
        assert_eq!((w, n), (Vec3::new(0.0, 0.0, 1.0_f64.next_down()), [0, 1, 0]));
        for k in 0..10_000 {
            let cell = PeriodicCell { origin: Vec3::ZERO, length: [Some(0.1 + 1e-3 * f64::from(k)); 3] };
            let face = cell.shift_vector([k, -k, 1 << 28]);
            for x in [face, face * (1.0 + f64::EPSILON), face * (1.0 - f64::EPSILON)] {
                let w = cell.wrap(x).0;
                assert!(w.cmpge(Vec3::ZERO).all() && w.cmple(cell.shift_vector([1; 3])).all(), "{x}: {w}");
            }
        }
    }
}
