//! Which grains may touch soon: candidate pairs for a Verlet list.
//!
//! [`search`] lists the pairs of spheres with a gap below a skin, in open or periodic space. The list stays complete until
//! some grain has moved by half the skin. Two methods give equal lists: [`Method::Naive`], O(n²) and obvious, and
//! [`Method::Grid`], O(n) for any mixture of sizes. [`spatial_order`] sorts grains so that neighbours lie close in memory.
//! The methods are compared in `tests/neighbor.rs`.
//!
//! The search knows no law and no shape: for other shapes give bounding spheres.

mod cell_grid;
mod naive;
mod order;
mod periodic;
mod rows;

pub use order::spatial_order;
pub use periodic::{Image, PeriodicCell};

use crate::lanes;
use crate::math::Vec3;
use crate::particles::Place;
use periodic::Wrapped;
use rayon::prelude::*;

/// Candidates: row `i` lists, ascending, its partners: owned j > i, then images (index owned + k).
///
/// A pair that meets across a periodic face stands twice: as (i, image of j) and as (j, image of i) with the opposite
/// shift.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidates {
    /// Row `i` is `partner[start[i]..start[i + 1]]`; one entry more than there are grains.
    pub start: Vec<u32>,
    /// Partners of all rows, one row after another.
    pub partner: Vec<u32>,
    /// The images some row needs, and no others, ascending.
    pub images: Vec<Image>,
}

impl Candidates {
    /// Number of owned grains, and so of rows.
    pub fn owned(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// Kinds of the grains and of their images behind them.
    pub fn kinds(&self, kind: &[u16]) -> Vec<u16> {
        let of_images = self.images.iter().map(|image| kind[image.owner as usize]);
        kind.iter().copied().chain(of_images).collect()
    }

    /// The real grain behind partner `j` and by how many periods it is shifted.
    pub fn identity(&self, j: u32) -> (u32, [i32; 3]) {
        match (j as usize).checked_sub(self.owned()) {
            None => (j, [0; 3]),
            Some(image) => (self.images[image].owner, self.images[image].shift),
        }
    }

    /// Drops the rows once somebody else has them; grains and images are still known. Returns how many pairs there were.
    pub fn forget_rows(&mut self) -> usize {
        std::mem::take(&mut self.partner).len()
    }

    /// The last partner, images left out, of each so many rows; 0 if there is none.
    pub fn reaches(&self, rows: usize) -> Vec<u32> {
        let n = self.owned();
        let last = |i: usize| self.row(i).iter().rev().copied().find(|&j| (j as usize) < n).unwrap_or(0);
        let of_rows = |k: usize| (k * rows..n.min((k + 1) * rows)).map(last).max().unwrap_or(0);
        (0..n.div_ceil(rows)).into_par_iter().with_min_len(64).map(of_rows).collect()
    }

    /// Partners of grain `i`, ascending.
    pub fn row(&self, i: usize) -> &[u32] {
        &self.partner[self.start[i] as usize..self.start[i + 1] as usize]
    }
}

/// How to search. The result is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// All pairs: O(n²), the reference.
    Naive,
    /// Cell grids, one per octave of radius: O(n).
    Grid,
}

/// Why no candidates can be given.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SearchError {
    /// A grain would meet more than the nearest copies of another.
    #[error(
        "the periodic length along {axis} is {length} m, but the largest grains reach {needed} m \
         (largest diameter plus skin): lengthen the cell or shorten the skin"
    )]
    PeriodTooShort {
        /// `x`, `y` or `z`.
        axis: char,
        /// Length given \[m\].
        length: f64,
        /// Least length allowed \[m\].
        needed: f64,
    },
    /// The periodic cell itself is no box.
    #[error("the periodic cell has origin {origin} m and length {length} m along {axis}: both must be finite")]
    CellNotFinite {
        /// `x`, `y` or `z`.
        axis: char,
        /// Lower face given \[m\].
        origin: f64,
        /// Length given \[m\].
        length: f64,
    },
    /// A centre is infinite or not a number.
    #[error("grain {index} has no finite position: {position} m")]
    PositionNotFinite {
        /// Index of the grain.
        index: usize,
        /// Position given \[m\].
        position: Vec3,
    },
    /// A radius is negative, infinite or not a number.
    #[error("grain {index} has radius {radius} m: a radius must be finite and not negative")]
    BadRadius {
        /// Index of the grain.
        index: usize,
        /// Radius given \[m\].
        radius: f64,
    },
    /// The skin is negative, infinite or not a number.
    #[error("the skin is {skin} m: it must be finite and not negative")]
    BadSkin {
        /// Skin given \[m\].
        skin: f64,
    },
    /// A grain has left the periodic cell so far behind that its copies can no longer be counted.
    #[error(
        "grain {index} is at {axis} = {position} m, more than 2^29 periods of {length} m from the cell: wrap it first"
    )]
    TooManyPeriods {
        /// Index of the grain.
        index: usize,
        /// `x`, `y` or `z`.
        axis: char,
        /// Coordinate given \[m\].
        position: f64,
        /// Period along the axis \[m\].
        length: f64,
    },
    /// The list, or the grains with their images, outgrow 32-bit indices.
    #[error(
        "more than {limit} grains, images or candidate pairs: shorten the skin, or check whether grains lie inside each other"
    )]
    TooManyPairs {
        /// Largest number allowed.
        limit: usize,
    },
}

/// Finds every pair of grains with |x_i − x_j| < r_i + r_j + skin (all lengths in \[m\]).
///
/// All `places` are owned and may lie any number of periods outside `cell`. For a pair across a periodic face,
/// `image.shift` is the vector s such that x_j + s ∘ length, with x_j as given, is the copy near x_i as given; a pair that
/// needs no shift is an ordinary pair, listed once at the lower index. The result depends on the arguments alone, not on
/// the number of threads.
///
/// # Errors
///
/// See [`SearchError`]. Since each periodic length must be at least 2 r_max + skin, no grain meets its own image, though
/// it may meet several copies of another grain.
pub fn search(places: &[Place], cell: &PeriodicCell, skin: f64, method: Method) -> Result<Candidates, SearchError> {
    search_up_to(lanes::MOST, places, cell, skin, method)
}

/// [`search`] with at most `limit` entries, and as many grains and images.
fn search_up_to(
    limit: usize,
    places: &[Place],
    cell: &PeriodicCell,
    skin: f64,
    method: Method,
) -> Result<Candidates, SearchError> {
    if !(skin.is_finite() && skin >= 0.0) {
        return Err(SearchError::BadSkin { skin });
    }
    if places.len() > limit {
        return Err(SearchError::TooManyPairs { limit });
    }
    let has_place = |place: &Place| place.position.is_finite();
    let has_size = |place: &Place| place.radius.is_finite() && place.radius >= 0.0;
    let all = || places.par_iter().with_min_len(4096);
    if let Some(index) = all().position_first(|place| !(has_place(place) && has_size(place))) {
        let Place { position, radius } = places[index];
        return Err(if has_place(&places[index]) {
            SearchError::BadRadius { index, radius }
        } else {
            SearchError::PositionNotFinite { index, position }
        });
    }
    let r_max = all().map(|place| place.radius).reduce(|| 0.0, f64::max);
    cell.check(2.0 * r_max + skin)?;
    let wrapped = Wrapped::new(places, cell)?;
    match method {
        Method::Naive => naive::search(&wrapped, cell, skin, limit),
        Method::Grid => cell_grid::search(&wrapped, cell, skin, limit),
    }
}

/// Whether `a` and the copy of `b` displaced by `shift` are candidates. Exchanging the grains and turning the shift round
/// gives the same answer to the last bit.
#[inline(always)]
fn near(a: &Place, b: &Place, shift: Vec3, skin: f64) -> bool {
    let d = (a.position - b.position) - shift;
    let reach = a.radius + b.radius + skin;
    d.x * d.x + d.y * d.y + d.z * d.z < reach * reach
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_longer_than_its_index_type_is_an_error_for_both_methods() {
        let places = vec![Place { position: Vec3::ZERO, radius: 1.0 }; 10];
        for method in [Method::Naive, Method::Grid] {
            let all = search_up_to(45, &places, &PeriodicCell::OPEN, 0.0, method);
            assert_eq!(all.map(|c| c.partner.len()), Ok(45));
            let cut = search_up_to(44, &places, &PeriodicCell::OPEN, 0.0, method);
            assert_eq!(cut, Err(SearchError::TooManyPairs { limit: 44 }));
        }
    }
}
