//! A grid of cells that grains enter and leave in time order: who may meet whom, at a cost that does not grow with the number of grains.
//!
//! Cells are at least as wide as the largest grain, so that grains that meet are in the same cell or in neighbours. In a
//! direction that is not periodic the outermost cells have no end: a grain may fly as far as it likes.
//!
//! Each cell has room for the same few grains, in one table: the grains around a place are copied from it without a look at how many
//! there are in each. Where a cell is full the table is made anew with twice the room.

use super::course::Throw;
use super::fall::first_root;
use crate::math::{Aabb, Vec3};
use crate::neighbor::PeriodicCell;

/// Most cells over grains.
const CELLS_PER_GRAIN: usize = 4;

/// Width of a cell over the room of a grain, at least.
const NARROW: f64 = 0.8;

/// Places of a block.
const ROOM: usize = 4;

pub(super) struct Cells {
    origin: Vec3,
    width: Vec3,
    counts: [u32; 3],
    /// Along each axis, for each coordinate, what lies below, there and above.
    beside: [Vec<[Beside; 3]>; 3],
    period: [Option<f64>; 3],
    /// Grains of the cells, `blocks` blocks of places for each, and how many of them are taken.
    table: Vec<[u32; ROOM]>,
    taken: Vec<u32>,
    blocks: usize,
    /// Where each grain is.
    posts: Vec<Post>,
}

/// A coordinate beside another: which, and the shift of what is there.
#[derive(Clone, Copy, Debug)]
struct Beside {
    at: Option<u32>,
    shift: f64,
}

/// Where a grain is: its cell and its place there.
#[derive(Clone, Copy, Debug, Default)]
struct Post {
    cell: u32,
    place: u32,
    along: [u16; 3],
}

/// Grains around a cell.
#[derive(Default)]
pub(super) struct Around {
    grains: Vec<u32>,
    /// Where ranges of `grains` with a shift end, and the shift.
    shifted: Vec<(u32, Vec3)>,
}

impl Around {
    /// Runs of grains to be shifted by the same vector: a list that begins with them, their number and the shift.
    #[inline]
    pub fn runs(&self) -> impl Iterator<Item = (&[u32], usize, Vec3)> {
        let mut start = 0;
        self.shifted.iter().map(move |&(end, shift)| {
            let first = std::mem::replace(&mut start, end as usize);
            (&self.grains[first..], end as usize - first, shift)
        })
    }
}

impl Cells {
    /// A grid for `grains` grains of diameters up to `widest` in a box. Where there is no grain, any will do.
    pub fn new(bounds: Aabb, grains: usize, widest: f64, periodic: &PeriodicCell, planar: bool) -> Self {
        let nowhere = Aabb { min: Vec3::ZERO, max: Vec3::ZERO };
        let (bounds, widest) = if grains == 0 { (nowhere, 1.0) } else { (bounds, widest) };
        let mut origin = bounds.min;
        let mut size = bounds.size().max(Vec3::splat(widest));
        for k in 0..3 {
            if let Some(length) = periodic.length[k] {
                (origin[k], size[k]) = (periodic.origin[k], length);
            }
        }
        // As narrow as the widest grain allows, but not much narrower than a grain has room: more would be crossed than looked at.
        let axes: &[usize] = if planar { &[0, 1] } else { &[0, 1, 2] };
        let mut counts = [1u32; 3];
        let volume: f64 = axes.iter().map(|&k| size[k]).product();
        let room = (volume / grains.max(1) as f64).powf(1.0 / axes.len() as f64);
        let mut width = (NARROW * room).max(widest * (1.0 + 1e-9));
        loop {
            for &k in axes {
                // Of a size beyond numbers there is one cell.
                counts[k] = ((size[k] / width).floor().clamp(1.0, 6e4) as u32).max(1);
            }
            let all: usize = counts.iter().map(|&n| n as usize).product();
            if all <= CELLS_PER_GRAIN * grains.max(16) {
                break;
            }
            width *= 1.26;
        }
        let n = Vec3::new(f64::from(counts[0]), f64::from(counts[1]), f64::from(counts[2]));
        let cells: usize = counts.iter().map(|&n| n as usize).product();
        let period = periodic.length;
        let beside = std::array::from_fn(|k| {
            let step = |to: i64| {
                let count = i64::from(counts[k]);
                match period[k] {
                    _ if (0..count).contains(&to) => Beside { at: Some(to as u32), shift: 0.0 },
                    Some(length) => {
                        Beside { at: Some(to.rem_euclid(count) as u32), shift: length * to.div_euclid(count) as f64 }
                    }
                    None => Beside { at: None, shift: 0.0 },
                }
            };
            (0..i64::from(counts[k])).map(|c| [step(c - 1), step(c), step(c + 1)]).collect()
        });
        Self {
            origin,
            width: size / n,
            counts,
            beside,
            period,
            table: vec![[0; ROOM]; cells],
            taken: vec![0; cells],
            blocks: 1,
            posts: vec![Post::default(); grains],
        }
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.taken.len()
    }

    /// Memory held \[byte\].
    pub fn memory(&self) -> usize {
        (self.table.capacity() * ROOM + self.taken.capacity()) * 4 + self.posts.capacity() * size_of::<Post>()
    }

    /// Puts a grain into the cell of a place.
    pub fn put_at(&mut self, grain: u32, x: Vec3) {
        let w = (x - self.origin) / self.width;
        self.put(grain, std::array::from_fn(|k| (w[k].floor().max(0.0) as u32).min(self.counts[k] - 1)));
    }

    fn index(&self, c: [u32; 3]) -> u32 {
        (c[2] * self.counts[1] + c[1]) * self.counts[0] + c[0]
    }

    /// Visits the cells that a box reaches, with their own boxes.
    pub fn visit(&self, reach: Aabb, mut visit: impl FnMut(u32, Aabb)) {
        let along = |x: Vec3, k: usize| {
            let w = ((x[k] - self.origin[k]) / self.width[k]).floor().max(0.0);
            (w as u32).min(self.counts[k] - 1)
        };
        let range = |k: usize| along(reach.min, k)..=along(reach.max, k);
        for z in range(2) {
            for y in range(1) {
                for x in range(0) {
                    visit(self.index([x, y, z]), self.bounds_along([x, y, z]));
                }
            }
        }
    }

    /// The cell of a grain.
    #[inline]
    pub fn of(&self, grain: u32) -> u32 {
        self.posts[grain as usize].cell
    }

    /// The box of a cell; outermost ones are endless where nothing is periodic.
    fn bounds_along(&self, c: [u32; 3]) -> Aabb {
        let (mut min, mut max) = (Vec3::ZERO, Vec3::ZERO);
        for k in 0..3 {
            let open = self.period[k].is_none();
            let at = |n: u32| self.origin[k] + f64::from(n) * self.width[k];
            min[k] = if open && c[k] == 0 { f64::NEG_INFINITY } else { at(c[k]) };
            max[k] = if open && c[k] + 1 == self.counts[k] { f64::INFINITY } else { at(c[k] + 1) };
        }
        Aabb { min, max }
    }

    /// Place number `place` of a cell.
    fn place(&mut self, cell: u32, place: u32) -> &mut u32 {
        let (block, k) = (place as usize / ROOM, place as usize % ROOM);
        &mut self.table[cell as usize * self.blocks + block][k]
    }

    fn put(&mut self, grain: u32, along: [u32; 3]) {
        let cell = self.index(along);
        let place = self.taken[cell as usize];
        if place as usize == self.blocks * ROOM {
            self.widen();
        }
        *self.place(cell, place) = grain;
        self.taken[cell as usize] += 1;
        self.posts[grain as usize] = Post { cell, place, along: along.map(|c| c as u16) };
    }

    /// Twice the room in each cell.
    #[cold]
    fn widen(&mut self) {
        let mut table = vec![[0; ROOM]; 2 * self.table.len()];
        for (wide, narrow) in table.chunks_mut(2 * self.blocks).zip(self.table.chunks(self.blocks)) {
            wide[..self.blocks].copy_from_slice(narrow);
        }
        (self.table, self.blocks) = (table, 2 * self.blocks);
    }

    /// Takes a grain out of its cell.
    fn take(&mut self, grain: u32) {
        let Post { cell, place, .. } = self.posts[grain as usize];
        self.taken[cell as usize] -= 1;
        let last = *self.place(cell, self.taken[cell as usize]);
        *self.place(cell, place) = last;
        self.posts[last as usize].place = place;
    }

    /// Collects the grains in the cells around that of a grain, itself included; in one direction only those beyond a face, if one is given.
    #[inline]
    pub fn around(&self, grain: u32, beyond: Option<(u8, bool)>, out: &mut Around) {
        // Room for all there may be and eight more: what is copied too much is overwritten, and is a grain in any case.
        out.grains.resize(27 * self.blocks * ROOM + 8, 0);
        out.shifted.clear();
        let Post { cell, along, .. } = self.posts[grain as usize];
        let inside = (0..3).all(|k| along[k] > 0 && u32::from(along[k]) + 1 < self.counts[k]);
        if inside && beyond.is_none() && self.blocks == 1 {
            self.around_inside(cell as usize, out);
        } else {
            self.around_anywhere(along, beyond, out);
        }
    }

    /// The usual case: nine rows of three cells, no shifts, one block for each cell.
    #[inline]
    fn around_inside(&self, cell: usize, out: &mut Around) {
        let (row, layer) = (self.counts[0] as usize, (self.counts[0] * self.counts[1]) as usize);
        let mut end = 0;
        for z in [cell - layer, cell, cell + layer] {
            for first in [z - row - 1, z - 1, z + row - 1] {
                let (blocks, taken) = (&self.table[first..first + 3], &self.taken[first..first + 3]);
                for (block, taken) in blocks.iter().zip(taken) {
                    out.grains[end..end + ROOM].copy_from_slice(block);
                    end += *taken as usize;
                }
            }
        }
        out.shifted.push((end as u32, Vec3::ZERO));
    }

    fn around_anywhere(&self, along: [u16; 3], beyond: Option<(u8, bool)>, out: &mut Around) {
        let mut ranges = [0..3, 0..3, 0..3];
        if let Some((axis, up)) = beyond {
            ranges[axis as usize] = if up { 2..3 } else { 0..1 };
        }
        let [rx, ry, rz] = ranges;
        let (mut end, mut last) = (0, Vec3::ZERO);
        for z in &self.beside[2][along[2] as usize][rz] {
            let Some(at_z) = z.at else { continue };
            for y in &self.beside[1][along[1] as usize][ry.clone()] {
                let Some(at_y) = y.at else { continue };
                let row = (at_z * self.counts[1] + at_y) * self.counts[0];
                for x in &self.beside[0][along[0] as usize][rx.clone()] {
                    let Some(at_x) = x.at else { continue };
                    let cell = (row + at_x) as usize;
                    let taken = self.taken[cell] as usize;
                    if taken == 0 {
                        continue;
                    }
                    let shift = Vec3::new(x.shift, y.shift, z.shift);
                    if shift != last {
                        out.shifted.push((end as u32, last));
                        last = shift;
                    }
                    let blocks = &self.table[cell * self.blocks..][..taken.div_ceil(ROOM)];
                    for (k, block) in blocks.iter().enumerate() {
                        out.grains[end + k * ROOM..][..ROOM].copy_from_slice(block);
                    }
                    end += taken;
                }
            }
        }
        out.shifted.push((end as u32, last));
    }

    /// When and through which face a flight leaves the cell a grain is in now, if it does.
    #[inline]
    pub fn exit(&self, grain: u32, throw: &Throw, now: f64) -> Option<(f64, u8, bool)> {
        let Aabb { min, max } = self.bounds_along(self.posts[grain as usize].along.map(u32::from));
        let (x, v) = throw.at(now);
        let mut first = (f64::INFINITY, 0, false);
        for k in 0..3 {
            let (x, v, a) = (x[k], v[k], throw.acceleration[k]);
            if a == 0.0 {
                // The face ahead; rounding may have put it just outside.
                let (gap, up) = if v > 0.0 { (max[k] - x, true) } else { (x - min[k], false) };
                let t = gap.max(0.0) / v.abs();
                if t < first.0 {
                    first = (t, k as u8, up);
                }
                continue;
            }
            for (gap, rate, bend, up) in [(max[k] - x, -v, -a, true), (x - min[k], v, a, false)] {
                if gap == f64::INFINITY {
                    continue;
                }
                let t = if gap <= 0.0 && rate < 0.0 { 0.0 } else { first_root(gap.max(0.0), rate, bend) };
                if t < first.0 {
                    first = (t, k as u8, up);
                }
            }
        }
        (first.0 < f64::INFINITY).then_some((now + first.0, first.1, first.2))
    }

    /// Moves a grain through a face of its cell and returns the shift that brings it back into a periodic domain.
    pub fn cross(&mut self, grain: u32, axis: u8, up: bool) -> Vec3 {
        let axis = axis as usize;
        let mut c = self.posts[grain as usize].along.map(u32::from);
        let Beside { at, shift } = self.beside[axis][c[axis] as usize][if up { 2 } else { 0 }];
        c[axis] = at.expect("an open grid has no outermost face");
        self.take(grain);
        self.put(grain, c);
        let mut back = Vec3::ZERO;
        back[axis] = -shift;
        back
    }
}
