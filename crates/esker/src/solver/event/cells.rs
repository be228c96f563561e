//! A grid of cells that grains enter and leave in time order: who may meet whom, at a cost that does not grow with the number of grains.
//!
//! Cells are at least as wide as the largest grain, so that grains that meet are in the same cell or in neighbours. In a
//! direction that is not periodic the outermost cells have no end: a grain may fly as far as it likes.

use super::course::Throw;
use super::fall::first_root;
use crate::math::{Aabb, Vec3};
use crate::neighbor::PeriodicCell;

pub(super) const NOBODY: u32 = u32::MAX;

/// Most cells over grains.
const CELLS_PER_GRAIN: usize = 4;

pub(super) struct Cells {
    origin: Vec3,
    width: Vec3,
    counts: [u32; 3],
    period: [Option<f64>; 3],
    /// First grain of each cell.
    first: Vec<u32>,
    /// The next grain of the same cell, the one before, and the cell, of each grain.
    chain: Vec<Link>,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    next: u32,
    last: u32,
    cell: u32,
}

/// A neighbour of a cell, and by what its grains are to be shifted to stand beside it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Neighbour {
    pub cell: u32,
    pub shift: Vec3,
}

impl Cells {
    /// A grid for `grains` grains of diameters up to `widest` in a box.
    pub fn new(bounds: Aabb, grains: usize, widest: f64, periodic: &PeriodicCell, planar: bool) -> Self {
        let mut origin = bounds.min;
        let mut size = bounds.size().max(Vec3::splat(widest));
        for k in 0..3 {
            if let Some(length) = periodic.length[k] {
                (origin[k], size[k]) = (periodic.origin[k], length);
            }
        }
        // About one grain in a cell, as long as a cell holds the widest.
        let axes: &[usize] = if planar { &[0, 1] } else { &[0, 1, 2] };
        let mut counts = [1u32; 3];
        let volume: f64 = axes.iter().map(|&k| size[k]).product();
        let mut width = (volume / grains.max(1) as f64).powf(1.0 / axes.len() as f64).max(widest * (1.0 + 1e-9));
        loop {
            for &k in axes {
                counts[k] = ((size[k] / width).floor().min(1e6) as u32).max(1);
            }
            let all: usize = counts.iter().map(|&n| n as usize).product();
            if all <= CELLS_PER_GRAIN * grains.max(16) {
                break;
            }
            width *= 1.26;
        }
        let n = Vec3::new(f64::from(counts[0]), f64::from(counts[1]), f64::from(counts[2]));
        let cells = counts.iter().map(|&n| n as usize).product();
        Self {
            origin,
            width: size / n,
            counts,
            period: periodic.length,
            first: vec![NOBODY; cells],
            chain: vec![Link { next: NOBODY, last: NOBODY, cell: 0 }; grains],
        }
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.first.len()
    }

    /// Memory held \[byte\].
    pub fn memory(&self) -> usize {
        self.first.capacity() * 4 + self.chain.capacity() * size_of::<Link>()
    }

    /// The cell of a place.
    pub fn locate(&self, x: Vec3) -> u32 {
        let w = (x - self.origin) / self.width;
        let along = |k: usize| (w[k].floor().max(0.0) as u32).min(self.counts[k] - 1);
        self.index([along(0), along(1), along(2)])
    }

    fn index(&self, c: [u32; 3]) -> u32 {
        (c[2] * self.counts[1] + c[1]) * self.counts[0] + c[0]
    }

    fn coordinates(&self, cell: u32) -> [u32; 3] {
        let [nx, ny, _] = self.counts;
        [cell % nx, cell / nx % ny, cell / nx / ny]
    }

    /// The cell of a grain.
    pub fn of(&self, grain: u32) -> u32 {
        self.chain[grain as usize].cell
    }

    /// The box of a cell; outermost ones are endless where nothing is periodic.
    pub fn bounds(&self, cell: u32) -> Aabb {
        let c = self.coordinates(cell);
        let (mut min, mut max) = (Vec3::ZERO, Vec3::ZERO);
        for k in 0..3 {
            let open = self.period[k].is_none();
            let at = |n: u32| self.origin[k] + f64::from(n) * self.width[k];
            min[k] = if open && c[k] == 0 { f64::NEG_INFINITY } else { at(c[k]) };
            max[k] = if open && c[k] + 1 == self.counts[k] { f64::INFINITY } else { at(c[k] + 1) };
        }
        Aabb { min, max }
    }

    /// Puts a grain into a cell.
    pub fn put(&mut self, grain: u32, cell: u32) {
        let next = std::mem::replace(&mut self.first[cell as usize], grain);
        if next != NOBODY {
            self.chain[next as usize].last = grain;
        }
        self.chain[grain as usize] = Link { next, last: NOBODY, cell };
    }

    /// Takes a grain out of its cell.
    fn take(&mut self, grain: u32) {
        let Link { next, last, cell } = self.chain[grain as usize];
        if next != NOBODY {
            self.chain[next as usize].last = last;
        }
        if last == NOBODY {
            self.first[cell as usize] = next;
        } else {
            self.chain[last as usize].next = next;
        }
    }

    /// Grains of a cell.
    #[inline]
    pub fn grains(&self, cell: u32) -> impl Iterator<Item = u32> + '_ {
        let mut at = self.first[cell as usize];
        std::iter::from_fn(move || {
            let here = at;
            (here != NOBODY).then(|| {
                at = self.chain[here as usize].next;
                here
            })
        })
    }

    /// The cells around a cell, itself included; in one direction only those beyond a face, if one is given.
    #[inline]
    pub fn around(&self, cell: u32, beyond: Option<(u8, bool)>, mut visit: impl FnMut(Neighbour)) {
        let c = self.coordinates(cell);
        let mut ranges = [-1i32..=1, -1..=1, -1..=1];
        if let Some((axis, up)) = beyond {
            let step = if up { 1 } else { -1 };
            ranges[axis as usize] = step..=step;
        }
        let [rx, ry, rz] = ranges;
        for dz in rz {
            let Some((z, shift_z)) = self.step(2, c[2], dz) else { continue };
            for dy in ry.clone() {
                let Some((y, shift_y)) = self.step(1, c[1], dy) else { continue };
                for dx in rx.clone() {
                    let Some((x, shift_x)) = self.step(0, c[0], dx) else { continue };
                    visit(Neighbour { cell: self.index([x, y, z]), shift: Vec3::new(shift_x, shift_y, shift_z) });
                }
            }
        }
    }

    /// The coordinate beside another, and the shift of what is there.
    #[inline]
    fn step(&self, axis: usize, at: u32, by: i32) -> Option<(u32, f64)> {
        let to = at as i32 + by;
        let count = self.counts[axis] as i32;
        if (0..count).contains(&to) {
            return Some((to as u32, 0.0));
        }
        let length = self.period[axis]?;
        Some((to.rem_euclid(count) as u32, length * f64::from(to.div_euclid(count))))
    }

    /// When and through which face a flight leaves the cell it is in now, if it does.
    #[inline]
    pub fn exit(&self, cell: u32, throw: &Throw, now: f64) -> Option<(f64, u8, bool)> {
        let Aabb { min, max } = self.bounds(cell);
        let (x, v) = throw.at(now);
        let mut first = (f64::INFINITY, 0, false);
        for k in 0..3 {
            let (x, v, a) = (x[k], v[k], throw.acceleration[k]);
            for (gap, rate, bend, up) in [(max[k] - x, -v, -a, true), (x - min[k], v, a, false)] {
                if gap == f64::INFINITY {
                    continue;
                }
                // Rounding may have put it just outside.
                let t = if gap <= 0.0 && rate < 0.0 { 0.0 } else { first_root(gap.max(0.0), rate, bend) };
                if t < first.0 {
                    first = (t, k as u8, up);
                }
            }
        }
        (first.0 < f64::INFINITY).then(|| (now + first.0, first.1, first.2))
    }

    /// Moves a grain through a face of its cell and returns the shift that brings it back into a periodic domain.
    pub fn cross(&mut self, grain: u32, axis: u8, up: bool) -> Vec3 {
        let axis = axis as usize;
        let mut c = self.coordinates(self.of(grain));
        let (to, shift) =
            self.step(axis, c[axis], if up { 1 } else { -1 }).expect("an open grid has no outermost face");
        c[axis] = to;
        let cell = self.index(c);
        self.take(grain);
        self.put(grain, cell);
        let mut back = Vec3::ZERO;
        back[axis] = -shift;
        back
    }
}
