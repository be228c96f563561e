//! Neighbour search on a hierarchy of cell grids, one per octave of radius.
//!
//! A level holds the radii within a factor two; its cells are one largest diameter of the level plus skin wide, so that a
//! grain and any other of its own or a finer level that reaches it lie in the same or in adjacent cells. Each grain looks
//! into its own level, half the stencil, and into all coarser ones, the whole stencil: every pair is met once, and a size
//! ratio of 100 costs seven levels, not a million grains in one cell. Equal grains make one level, the plain uniform grid.
//!
//! Cells are numbered a + A b + B c modulo a power of two near the number of grains, and grains are sorted by that number.
//! The last coordinate c runs along the longest edge of the box around the grains: a layer of cells is then as small as can
//! be, and a sweep in this order comes to the neighbours in the next layer while the grains are still in the cache. Three
//! cells along a are one run of memory. Where the box around the grains is small the numbering is the usual one
//! of a box; where it is large (a gas, a splinter a million metres away) far cells share a number. That costs a few
//! distance checks and no memory, and loses no pair: checks are exact. The strides are chosen such that no two cells of one
//! stencil share a number, so no pair is met twice either.
//!
//! O(n levels) in time, O(n) in memory. Checked against [`naive`](super::naive) in `tests/neighbor.rs`.

use super::periodic::Wrapped;
use super::rows::{Blocks, Found, assemble, number_images};
use super::{Candidates, Image, PeriodicCell, SearchError, near};
use crate::math::{Aabb, Vec3};
use crate::particles::Place;
use rayon::prelude::*;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Most levels; the finest one takes all smaller grains.
const MAX_LEVELS: usize = 16;

/// Cells are wider than the largest reach by this factor, so that rounding cannot put a pair two cells apart: at
/// [`FARTHEST_CELL`] cells from the origin a coordinate is rounded by 2⁻¹⁴ cells.
const WIDENING: f64 = 1.0 + 1.0 / 1024.0;

/// Coordinates end here; what lies farther shares the last cell.
const FARTHEST_CELL: f64 = (1_i64 << 38) as f64;

/// Largest number of cells of one grid.
const MAX_CELLS: usize = 1 << 31;

/// Entries copied at once into [`Surroundings`], and idle ones behind each grid, so that the last copy finds its length.
const PADDING: usize = 8;

/// How positions turn into cell coordinates along one axis.
#[derive(Clone, Copy)]
struct Axis {
    /// Cells per metre \[1/m\]; 0 where all grains share one layer of cells.
    density: f64,
    /// Lowest and highest coordinate.
    bounds: (f64, f64),
    /// Number of cells in a period; `None` where open.
    period: Option<i64>,
}

impl Axis {
    /// Cells at least `edge` wide.
    fn new(edge: f64, length: Option<f64>) -> Axis {
        match length {
            None => Axis { density: 1.0 / edge, bounds: (-FARTHEST_CELL, FARTHEST_CELL), period: None },
            Some(length) => {
                // `max` first: it turns the NaN of a senseless edge into one cell.
                let cells = (length / edge).max(1.0).floor().min(FARTHEST_CELL);
                Axis { density: cells / length, bounds: (0.0, cells - 1.0), period: Some(cells as i64) }
            }
        }
    }

    /// Cell coordinate of a position.
    #[inline]
    fn coordinate(&self, x: f64) -> i64 {
        let t = (x * self.density).max(self.bounds.0).min(self.bounds.1);
        let truncated = t as i64;
        truncated - i64::from(t < truncated as f64)
    }

    /// The cell a step from another leads to, and the copy of the periodic cell it lies in.
    #[inline]
    fn wrap(&self, raw: i64) -> (i64, i32) {
        match self.period {
            Some(cells) if raw < 0 => (raw + cells, -1),
            Some(cells) if raw >= cells => (raw - cells, 1),
            _ => (raw, 0),
        }
    }

    /// Whether all grains share one layer, so that the layers beside it need no look.
    fn is_flat(&self) -> bool {
        self.density == 0.0
    }

    /// Cells to number along the axis for grains with coordinates in `low..=high`. Two cells of a stencil are at most two
    /// apart, or one less than there are in the period (then their copies differ): more than that keeps them distinct.
    fn extent(&self, low: i64, high: i64) -> u64 {
        (high - low + 1).max(3).min(self.period.unwrap_or(i64::MAX)) as u64
    }

    /// Coordinates of a cell and those beside it.
    fn around(&self, c: i64) -> RangeInclusive<i64> {
        if self.is_flat() { c..=c } else { c - 1..=c + 1 }
    }
}

/// Entries `begin..end` of a grid, seen in a copy of the periodic cell.
struct Run {
    begin: u32,
    end: u32,
    copy: [i32; 3],
}

/// Grains of one level, sorted by cell.
struct CellGrid {
    /// Which of x, y, z the three cell coordinates run along: the longest edge of the box last, the others in this order.
    along: [usize; 3],
    axes: [Axis; 3],
    /// Cell number = (coordinates · stride − first) mod number of cells.
    stride: [u64; 3],
    first: u64,
    mask: u64,
    /// Whether far cells may share a number.
    folded: bool,
    /// Cell `c` holds entries `start[c]..start[c + 1]`.
    start: Vec<u32>,
    /// Entries: grain and its wrapped place, then [`PADDING`] of grain 0 that belong to no cell.
    grain: Vec<u32>,
    place: Vec<Place>,
}

impl CellGrid {
    /// Sorts `members`, at least one, indices into `places`, into cells at least `edge` wide.
    fn new(members: &[u32], places: &[Place], cell: &PeriodicCell, edge: f64) -> CellGrid {
        // The box of cells around all grains; cells are numbered along it if it is not much larger than their number.
        let all = members.par_iter().with_min_len(4096);
        let bounds = all
            .fold(|| Aabb::EMPTY, |b, &i| b.including(places[i as usize].position))
            .reduce(|| Aabb::EMPTY, Aabb::union);
        let size = bounds.max - bounds.min;
        let longest = (0..3).max_by(|&a, &b| size[a].total_cmp(&size[b])).unwrap_or(2);
        let mut along = [0, 1, 2];
        along[longest..].rotate_left(1);
        let mut axes = along.map(|axis| Axis::new(edge, cell.length[axis]));
        let mut low = [0; 3];
        let mut extent = [1_u64; 3];
        for axis in 0..3 {
            let [a, b] = [bounds.min, bounds.max].map(|end| axes[axis].coordinate(end[along[axis]]));
            if axes[axis].period.is_none() && a == b {
                axes[axis].density = 0.0;
            } else {
                low[axis] = a;
                extent[axis] = axes[axis].extent(a, b);
            }
        }
        let budget = (2 * members.len()).clamp(64, MAX_CELLS) as u128;
        let folded = volume(extent) > budget;
        if folded {
            (low, extent) = bulk(members, places, along, &axes);
            fold(&mut extent, budget);
        }
        let stride = [1, extent[0], extent[0] * extent[1]];
        let cells = (volume(extent) as usize).next_power_of_two();
        let mut grid = CellGrid {
            along,
            axes,
            stride,
            first: 0,
            mask: cells as u64 - 1,
            folded,
            start: Vec::new(),
            grain: Vec::new(),
            place: Vec::new(),
        };
        grid.first = grid.linear(low);
        grid.sort(members, places, cells);
        grid
    }

    /// Sorts members by cell, and by index within a cell.
    fn sort(&mut self, members: &[u32], places: &[Place], cells: usize) {
        let blocks = Blocks::new(cells);
        let numbered = |some: &[u32]| {
            let mut found = Found::new(blocks);
            for &i in some {
                let c = self.number(self.coordinates(places[i as usize].position)) as u32;
                found.pairs[blocks.of(c)].push((c, i));
            }
            found
        };
        let found: Vec<Found> = members.par_chunks(entries_per_task(members.len())).map(numbered).collect();
        (self.start, self.grain) = assemble(&found, cells, blocks);
        self.grain.extend([0; PADDING]);
        let entries = self.grain.par_iter().with_min_len(4096);
        self.place = entries.map(|&i| places[i as usize]).collect();
    }

    /// Cell coordinates of a wrapped position.
    #[inline]
    fn coordinates(&self, x: Vec3) -> [i64; 3] {
        std::array::from_fn(|axis| self.axes[axis].coordinate(x[self.along[axis]]))
    }

    /// Number of a cell.
    #[inline]
    fn number(&self, c: [i64; 3]) -> usize {
        (self.linear(c).wrapping_sub(self.first) & self.mask) as usize
    }

    #[inline]
    fn linear(&self, c: [i64; 3]) -> u64 {
        let rows = (c[1] as u64).wrapping_mul(self.stride[1]).wrapping_add((c[2] as u64).wrapping_mul(self.stride[2]));
        rows.wrapping_add(c[0] as u64)
    }

    /// Entries of `count` cells in a row from cell `c`, all in the given copy, which is told along the coordinates.
    fn push_cells(&self, c: [i64; 3], count: usize, copy: [i32; 3], runs: &mut Vec<Run>) {
        let mut in_space = [0; 3];
        for axis in 0..3 {
            in_space[self.along[axis]] = copy[axis];
        }
        let cells = self.start.len() - 1;
        let number = self.number(c);
        let end = (number + count).min(cells);
        self.push_run(number, end, in_space, runs);
        self.push_run(0, number + count - end, in_space, runs); // past the last number, from 0 again
    }

    /// Number of grains.
    fn len(&self) -> usize {
        self.grain.len() - PADDING
    }

    fn push_run(&self, from: usize, to: usize, copy: [i32; 3], runs: &mut Vec<Run>) {
        let (begin, end) = (self.start[from], self.start[to]);
        if begin < end {
            runs.push(Run { begin, end, copy });
        }
    }

    /// Entries of the cells `a` in the row (b, c), coordinates not yet wrapped.
    fn push_row(&self, a: RangeInclusive<i64>, b: i64, c: i64, runs: &mut Vec<Run>) {
        let ((b, copy_b), (c, copy_c)) = (self.axes[1].wrap(b), self.axes[2].wrap(c));
        let (from, to) = (*a.start(), *a.end());
        if self.axes[0].period.is_none_or(|cells| from >= 0 && to < cells) {
            self.push_cells([from, b, c], (to - from + 1) as usize, [0, copy_b, copy_c], runs);
        } else {
            for raw in a {
                let (a, copy_a) = self.axes[0].wrap(raw);
                self.push_cells([a, b, c], 1, [copy_a, copy_b, copy_c], runs);
            }
        }
    }

    /// All 27 cells around one.
    fn around(&self, cell: [i64; 3], runs: &mut Vec<Run>) {
        runs.clear();
        for c in self.axes[2].around(cell[2]) {
            for b in self.axes[1].around(cell[1]) {
                self.push_row(self.axes[0].around(cell[0]), b, c, runs);
            }
        }
    }

    /// Half of the 26 cells beside one: of two opposite ones the later in (c, b, a).
    fn ahead(&self, cell: [i64; 3], runs: &mut Vec<Run>) {
        runs.clear();
        let a = self.axes[0].around(cell[0]);
        if !self.axes[0].is_flat() {
            self.push_row(cell[0] + 1..=cell[0] + 1, cell[1], cell[2], runs);
        }
        if !self.axes[1].is_flat() {
            self.push_row(a.clone(), cell[1] + 1, cell[2], runs);
        }
        if !self.axes[2].is_flat() {
            for b in self.axes[1].around(cell[1]) {
                self.push_row(a.clone(), b, cell[2] + 1, runs);
            }
        }
    }
}

fn volume(extent: [u64; 3]) -> u128 {
    extent.iter().map(|&e| u128::from(e)).product()
}

/// Lowest cell and extent of the bulk of the grains, strays left out, judged from a sample.
fn bulk(members: &[u32], places: &[Place], along: [usize; 3], axes: &[Axis; 3]) -> ([i64; 3], [u64; 3]) {
    let mut low = [0; 3];
    let mut extent = [1; 3];
    for axis in 0..3 {
        if axes[axis].is_flat() {
            continue;
        }
        let mut sample: Vec<i64> = (members.iter().step_by(members.len().div_ceil(512)))
            .map(|&i| axes[axis].coordinate(places[i as usize].position[along[axis]]))
            .collect();
        sample.sort_unstable();
        let tail = sample.len() / 32;
        let (a, b) = (sample[tail], sample[sample.len() - 1 - tail]);
        let margin = (b - a) / 8 + 1;
        low[axis] = a - margin;
        extent[axis] = axes[axis].extent(a - margin, b + margin);
    }
    (low, extent)
}

/// Shortens a box of cells to the budget, longest edge first. Odd edges make odd strides, which share no factor with the
/// power of two behind the cell numbers, so that rows spread over all of them.
fn fold(extent: &mut [u64; 3], budget: u128) {
    let longest = |e: &[u64; 3]| (0..3).max_by_key(|&axis| e[axis]).unwrap_or(0);
    *extent = extent.map(|e| e | 1);
    while volume(*extent) > budget && extent[longest(extent)] > 3 {
        let e = &mut extent[longest(extent)];
        *e = (*e / 2).max(3) | 1;
    }
}

/// Candidates by cell grids.
pub(super) fn search(
    wrapped: &Wrapped,
    cell: &PeriodicCell,
    skin: f64,
    limit: usize,
) -> Result<Candidates, SearchError> {
    let owned = wrapped.places.len();
    let levels: Vec<CellGrid> = levels(&wrapped.places, skin)
        .into_par_iter()
        .map(|(members, r_max)| CellGrid::new(&members, &wrapped.places, cell, (2.0 * r_max + skin) * WIDENING))
        .collect();

    let entries_per_task = entries_per_task(owned);
    let blocks = Blocks::new(owned);
    let tasks: Vec<(usize, usize)> = (0..levels.len())
        .flat_map(|l| (0..levels[l].len()).step_by(entries_per_task).map(move |first| (l, first)))
        .collect();
    let total = AtomicUsize::new(0);
    let mut found: Vec<Found> = tasks
        .par_iter()
        .map(|&(level, first)| {
            let mut sweep = Sweep { wrapped, cell, skin, limit, blocks, found: Found::new(blocks), hits: Vec::new() };
            // Once too much has been found the answer is an error whatever follows.
            if total.load(Ordering::Relaxed) <= limit {
                let last = (first + entries_per_task).min(levels[level].len());
                sweep.within(&levels[level], first, last);
                for coarser in &levels[..level] {
                    sweep.between(&levels[level], first, last, coarser);
                }
                total.fetch_add(sweep.found.count, Ordering::Relaxed);
            }
            sweep.found
        })
        .collect();
    if total.into_inner() > limit {
        return Err(SearchError::TooManyPairs { limit });
    }

    let (images, rows) = number_images(&mut found, owned, blocks);
    if owned + images.len() > limit {
        return Err(SearchError::TooManyPairs { limit });
    }
    found.push(rows);
    let (start, partner) = assemble(&found, owned, blocks);
    Ok(Candidates { start, partner, images })
}

/// Slices of the entries of a level that make a task. Their size, and that of the blocks of rows, depends on the number of
/// grains alone.
fn entries_per_task(entries: usize) -> usize {
    2048.max(entries / 256)
}

/// Grains by octave of radius, coarse first, each with its largest radius; empty levels left out.
fn levels(places: &[Place], skin: f64) -> Vec<(Vec<u32>, f64)> {
    let all = || places.par_iter().with_min_len(4096);
    let r_max = all().map(|p| p.radius).reduce(|| 0.0, f64::max);
    // Lower ends of the octaves. Once diameters are small beside the skin, finer cells gain nothing.
    let mut floors = Vec::new();
    let mut floor = r_max / 2.0;
    while floors.len() < MAX_LEVELS - 1 && 2.0 * floor > skin {
        floors.push(floor);
        floor /= 2.0;
    }
    let level = |place: &Place| floors.iter().position(|&floor| place.radius > floor).unwrap_or(floors.len());
    let mut levels = Vec::new();
    let mut left = places.len();
    for l in 0..=floors.len() {
        let here = || all().enumerate().filter(|(_, place)| level(place) == l);
        let members: Vec<u32> = here().map(|(i, _)| i as u32).collect();
        if !members.is_empty() {
            left -= members.len();
            levels.push((members, here().map(|(_, place)| place.radius).reduce(|| 0.0, f64::max)));
        }
        if left == 0 {
            break;
        }
    }
    levels
}

/// Entries gathered from a stencil, side by side. The few of each run make one long loop, which ends once per grain: the
/// processor guesses the end of a loop wrong, and half a dozen such guesses cost as much as all the checks.
#[derive(Default)]
struct Surroundings {
    count: usize,
    grain: Vec<u32>,
    place: Vec<Place>,
}

impl Surroundings {
    /// Adds a run of entries, copied in pieces of fixed length for the same reason.
    fn push(&mut self, grid: &CellGrid, begin: u32, end: u32) {
        let (mut begin, end) = (begin as usize, end as usize);
        let room = self.count + end - begin + PADDING;
        if self.grain.len() < room {
            self.grain.resize(2 * room, 0);
            self.place.resize(2 * room, Place { position: Vec3::ZERO, radius: 0.0 });
        }
        let mut to = self.count;
        self.count += end - begin;
        while begin < end {
            self.grain[to..to + PADDING].copy_from_slice(&grid.grain[begin..begin + PADDING]);
            for half in [0, PADDING / 2] {
                let (to, begin) = (to + half, begin + half);
                self.place[to..to + PADDING / 2].copy_from_slice(&grid.place[begin..begin + PADDING / 2]);
            }
            to += PADDING;
            begin += PADDING;
        }
    }

    /// Takes over the runs that need no shift; the others stay.
    fn take(&mut self, grid: &CellGrid, runs: &mut Vec<Run>) {
        runs.retain(|run| {
            let shifted = run.copy != [0; 3];
            if !shifted {
                self.push(grid, run.begin, run.end);
            }
            shifted
        });
    }
}

/// One task's search.
struct Sweep<'a> {
    wrapped: &'a Wrapped<'a>,
    cell: &'a PeriodicCell,
    skin: f64,
    limit: usize,
    blocks: Blocks,
    found: Found,
    /// Scratch: which of the others are near the present grain.
    hits: Vec<u32>,
}

impl Sweep<'_> {
    /// Pairs of entries `first..last` of a level: with later entries of their own cell and those of cells ahead.
    fn within(&mut self, grid: &CellGrid, first: usize, last: usize) {
        let mut runs = Vec::new();
        let mut others = Surroundings::default();
        let mut here = None;
        let mut opened = first;
        let mut end_of_cell = 0;
        for e in first..last {
            let place = &grid.place[e];
            // Entries that share a number share the cell, unless the grid is folded.
            if e >= end_of_cell || grid.folded {
                let c = grid.coordinates(place.position);
                if here != Some(c) {
                    here = Some(c);
                    opened = e;
                    end_of_cell = grid.start[grid.number(c) + 1] as usize;
                    others.count = 0;
                    others.push(grid, e as u32, end_of_cell as u32);
                    grid.ahead(c, &mut runs);
                    others.take(grid, &mut runs);
                }
            }
            let later = e - opened + 1..others.count;
            self.check(grid.grain[e], place, &others.grain[later.clone()], &others.place[later], [0; 3]);
            self.check_copies(grid.grain[e], place, grid, &runs);
            if self.found.count > self.limit {
                return;
            }
        }
    }

    /// Pairs of entries `first..last` of a level with a coarser one.
    fn between(&mut self, fine: &CellGrid, first: usize, last: usize, coarse: &CellGrid) {
        let mut runs = Vec::new();
        let mut others = Surroundings::default();
        let mut here = None;
        for e in first..last {
            let place = &fine.place[e];
            let c = coarse.coordinates(place.position);
            if here != Some(c) {
                here = Some(c);
                others.count = 0;
                coarse.around(c, &mut runs);
                others.take(coarse, &mut runs);
            }
            let all = ..others.count;
            self.check(fine.grain[e], place, &others.grain[all], &others.place[all], [0; 3]);
            self.check_copies(fine.grain[e], place, coarse, &runs);
            if self.found.count > self.limit {
                return;
            }
        }
    }

    /// Grain `i` against runs seen in other copies of the periodic cell.
    fn check_copies(&mut self, i: u32, place: &Place, grid: &CellGrid, runs: &[Run]) {
        for run in runs {
            let entries = run.begin as usize..run.end as usize;
            self.check(i, place, &grid.grain[entries.clone()], &grid.place[entries], run.copy);
        }
    }

    /// Grain `i` against others, all seen in one copy of the periodic cell.
    #[inline]
    fn check(&mut self, i: u32, place: &Place, grains: &[u32], places: &[Place], copy: [i32; 3]) {
        if self.hits.len() < places.len() {
            self.hits.resize(places.len(), 0);
        }
        let hits = if copy == [0; 3] {
            find_near(place, places, Vec3::ZERO, self.skin, &mut self.hits)
        } else {
            find_near(place, places, self.cell.shift_vector(copy), self.skin, &mut self.hits)
        };
        for h in 0..hits {
            let j = grains[self.hits[h] as usize];
            match self.wrapped.shift(i, j, copy) {
                [0, 0, 0] => {
                    let (row, partner) = (i.min(j), i.max(j));
                    self.found.pairs[self.blocks.of(row)].push((row, partner));
                    self.found.count += 1;
                }
                shift => {
                    self.found.across.push((Image { owner: j, shift }, i));
                    self.found.across.push((Image { owner: i, shift: shift.map(|s| -s) }, j));
                    self.found.count += 2;
                }
            }
        }
    }
}

/// Writes which of the others are near `place` to the head of `hits`, and tells how many.
#[inline(always)]
fn find_near(place: &Place, others: &[Place], shift: Vec3, skin: f64, hits: &mut [u32]) -> usize {
    // Every one is written and kept only if near: a branch here would be guessed wrong once per hit.
    let mut count = 0;
    for (k, other) in others.iter().enumerate() {
        hits[count] = k as u32;
        count += usize::from(near(place, other, shift, skin));
    }
    count
}

/// The grains sorted by cell, slowest along the longest edge of the box around them, the others as in x, y, z, and by index
/// within a cell.
pub(super) fn by_cell(places: &[Place], cell: &PeriodicCell, edge: f64) -> Vec<u32> {
    let count = u32::try_from(places.len()).expect("grains are counted in 32 bits");
    let mut order = CellGrid::new(&(0..count).collect::<Vec<_>>(), places, cell, edge).grain;
    order.truncate(places.len());
    order
}
