//! Loads of the grains that a sweep is at work on, in a little memory that stays in a cache.
//!
//! A sweep in the order of the grains comes to a grain first as the partner of one in the layer before, and is done with it when it
//! has passed it. Only so many loads are needed at a time, and nobody asks for them once the grains have begun the next step. A column of
//! all loads would be fetched and written back in every step: a sixth of the traffic with the memory.
//!
//! What comes before the sweep, from walls and pairs across the border, and what acts on partners that lie too far ahead goes to the column
//! all the same, and is [marked](Loads) there. It is where a grain begins when it comes in: sums keep their order, and their bits.

use super::list::BLOCK;
use crate::lanes::{index, offset, prefetch};
use crate::math::Vec3;
use crate::particles::Load;
use std::mem::take;
use std::ops::Range;
use std::ptr::swap;
use std::slice::from_raw_parts_mut;

/// How many grains may have their loads in a window: powers of two, and whole blocks.
const SIZES: [usize; 3] = [1024, 2048, 4096];

/// Most pairs that may have a partner out of reach: those take longer.
const MOST_BEYOND: f64 = 0.01;

/// Loads of the grains of a segment in the column, for who adds to few of them.
pub struct Loads<'a> {
    /// All of them.
    pub all: &'a mut [Load],
    /// Whether each has been asked for since it was that of gravity alone, a bit each.
    pub marks: &'a mut [u64],
}

impl Loads<'_> {
    /// To add to that of a grain, counted from the first one of the segment.
    #[inline(always)]
    pub fn of(&mut self, grain: usize) -> &mut Load {
        self.marks[grain / BLOCK] |= 1 << (grain % BLOCK);
        &mut self.all[grain]
    }
}

/// How many grains a window should have for so many, with these candidates (i, j) told by their offsets, if it pays: fewer grains
/// have their loads in a cache anyway, and few partners may be out of reach.
pub fn size(grains: usize, [i, j]: [&[u32]; 2]) -> Option<usize> {
    let mut beyond = [0_usize; SIZES.len()];
    for (i, j) in i.iter().zip(j) {
        for (beyond, size) in beyond.iter_mut().zip(SIZES) {
            // Blocks leave as a whole, and some grains are passed at once.
            *beyond += usize::from(j - i > offset((size - 2 * BLOCK) as u32));
        }
    }
    let mut sizes = SIZES.into_iter().zip(beyond);
    let fits = |&(size, beyond): &(usize, usize)| grains > size && beyond as f64 <= MOST_BEYOND * i.len() as f64;
    sizes.find(fits).map(|(size, _)| size)
}

/// Marks for so many grains.
pub fn marks(grains: usize) -> Vec<u64> {
    vec![0; grains.div_ceil(BLOCK)]
}

/// Where the loads of a segment's grains are while a sweep over pairs adds to them.
#[derive(Clone, Copy)]
pub struct LoadsAt {
    /// The column.
    pub column: *mut Load,
    /// The [marks](Loads::marks) of those in it.
    pub marks: *mut u64,
    /// Those of a window: the load of a grain is at its number modulo how many there are; null and none without one.
    pub ring: *mut Load,
    /// How many these are.
    pub size: usize,
    /// Offset of the first of the segment's grains.
    pub first: u32,
}

impl LoadsAt {
    /// Marks a grain, told by its offset: the column has its load.
    ///
    /// # Safety
    /// It is one of the segment's.
    #[inline(always)]
    pub unsafe fn mark(&self, grain: u32) {
        let grain = index(grain - self.first);
        // SAFETY: the caller's.
        unsafe { *self.marks.add(grain / BLOCK) |= 1 << (grain % BLOCK) }
    }

    /// Adds to the load of a grain, told by its offset, when a window has those before `limit` that are not done.
    ///
    /// # Safety
    /// It is one of the segment's that is not done.
    #[inline(always)]
    pub unsafe fn add(&self, grain: u32, limit: u32, load: &Load) {
        // SAFETY: the caller's.
        unsafe {
            if grain < limit {
                (*self.ring.add(index(grain) & (self.size - 1))).add(load);
            } else {
                self.mark(grain);
                (*self.column.add(index(grain - self.first))).add(load);
            }
        }
    }
}

/// Follows a sweep over the pairs within a segment, behind which grains begin the next step. Before it all loads of the column are those of
/// gravity, but for marked ones, and after it all.
pub struct Window<'a> {
    loads: LoadsAt,
    /// The segment's grains.
    own: Range<usize>,
    /// The first one that has not come in.
    next: usize,
    /// Masses of all grains.
    mass: &'a [f64],
}

impl<'a> Window<'a> {
    /// At the beginning of a segment.
    ///
    /// # Safety
    /// The loads are there as long as this, and nobody else's but the sweep's, which adds to those in the window there.
    pub unsafe fn new(loads: LoadsAt, own: Range<usize>, mass: &'a [f64], gravity: Vec3) -> Self {
        assert!(own.start.is_multiple_of(BLOCK) && own.start <= own.end && own.end <= mass.len());
        let mut window = Self { loads, next: own.start, own, mass };
        while window.next < window.own.end.min(window.own.start + loads.size) {
            let block = window.next..window.own.end.min(window.next + BLOCK);
            // SAFETY: there is room for these.
            unsafe {
                let masses = &mass[block.clone()];
                window.of(&block).iter_mut().zip(masses).for_each(|(load, m)| *load = Load::of_gravity(*m, gravity));
                window.come_in();
            }
        }
        window
    }

    /// Offset of the first grain that is not in it; the largest number if all that are left are.
    pub fn limit(&self) -> u32 {
        if self.next < self.own.end { offset(self.next as u32) } else { u32::MAX }
    }

    /// Loads of a block of grains that it has.
    ///
    /// # Safety
    /// Nobody adds to them meanwhile.
    pub unsafe fn of(&mut self, block: &Range<usize>) -> &mut [Load] {
        debug_assert!(block.start.is_multiple_of(BLOCK) && block.len() <= BLOCK && self.own.contains(&block.start));
        // SAFETY: whole blocks lie side by side.
        unsafe { from_raw_parts_mut(self.loads.ring.add(block.start & (self.loads.size - 1)), block.len()) }
    }

    /// Masses of the grains that come next to where those of a block are, the first one it has: as many as these, then zeros.
    pub fn coming(&self, block: &Range<usize>) -> [f64; BLOCK] {
        let mut masses = [0.0; BLOCK];
        let coming = self.next..self.own.end.min(self.next + block.len());
        masses[..coming.len()].copy_from_slice(&self.mass[coming]);
        masses
    }

    /// Gives up its first block for the next one, whose loads are there but for what the column has.
    ///
    /// # Safety
    /// Nobody adds to the loads of either.
    pub unsafe fn pass(&mut self) {
        if self.next < self.own.end {
            // SAFETY: the room of the one is that of the other.
            unsafe { self.come_in() }
        }
    }

    /// The next block, whose loads are those of gravity.
    unsafe fn come_in(&mut self) {
        let block = self.next..self.own.end.min(self.next + BLOCK);
        let first = block.start - self.own.start;
        self.next = block.end;
        // SAFETY: the block is one of the segment's.
        unsafe {
            let mut marks = take(&mut *self.loads.marks.add(first / BLOCK));
            let column = self.loads.column.add(first);
            let loads = self.of(&block);
            while marks != 0 {
                let k = marks.trailing_zeros() as usize;
                swap(&mut loads[k], column.add(k));
                marks &= marks - 1;
            }
            self.ask_ahead();
        }
    }

    /// Asks for what the next block will find in the column.
    unsafe fn ask_ahead(&self) {
        if self.next < self.own.end {
            let first = self.next - self.own.start;
            // SAFETY: the block is one of the segment's.
            let mut marks = unsafe { *self.loads.marks.add(first / BLOCK) };
            while marks != 0 {
                prefetch(self.loads.column.wrapping_add(first + marks.trailing_zeros() as usize));
                marks &= marks - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};
    use std::ptr::null_mut;

    const GRAVITY: Vec3 = Vec3::new(0.1, -0.2, -9.81);

    fn load(random: &mut Stream) -> Load {
        Load::from_record(std::array::from_fn(|_| random.between(-1.0, 1.0)))
    }

    /// Where the loads of grains from `first` on are.
    fn at(column: &mut [Load], marks: &mut [u64], ring: &mut [Load], first: usize) -> LoadsAt {
        let (column, marks, size) = (column.as_mut_ptr(), marks.as_mut_ptr(), ring.len());
        let ring = if size > 0 { ring.as_mut_ptr() } else { null_mut() };
        LoadsAt { column, marks, ring, size, first: offset(first as u32) }
    }

    /// Sums of the loads of pairs (i, j) and of some grains before, of grains `own`, block by block as each is done: in a window
    /// of so many grains, or in the column. And the column afterwards.
    fn sums(size: usize, own: &Range<usize>, pairs: &[(usize, usize)], mass: &[f64]) -> (Vec<Load>, Vec<Load>) {
        let mut random = Stream::new(3, Purpose::Fill, 0);
        let mut column: Vec<Load> = mass[own.clone()].iter().map(|m| Load::of_gravity(*m, GRAVITY)).collect();
        let (mut marks, mut ring) = (marks(own.len()), vec![load(&mut random); size]);
        let mut loads = Loads { all: &mut column, marks: &mut marks };
        for _ in 0..own.len() / 20 {
            let grain = random.below(own.len() as u64) as usize;
            loads.of(grain).add(&load(&mut random));
        }
        let at = at(&mut column, &mut marks, &mut ring, own.start);
        // SAFETY: all are there, and nobody else's.
        let mut window = (size > 0).then(|| unsafe { Window::new(at, own.clone(), mass, GRAVITY) });
        let (mut out, mut left) = (Vec::new(), own.clone());
        let mut pass = |until: usize| {
            while left.start < until {
                let block = left.start..left.end.min(left.start + BLOCK);
                left.start = block.end;
                // SAFETY: nobody adds to these any more.
                unsafe {
                    match &mut window {
                        Some(window) => {
                            let coming = window.coming(&block);
                            let loads = window.of(&block);
                            out.extend_from_slice(loads);
                            loads.iter_mut().zip(coming).for_each(|(load, m)| *load = Load::of_gravity(m, GRAVITY));
                            window.pass();
                        }
                        None => out.extend((block.start - own.start..block.end - own.start).map(|g| *at.column.add(g))),
                    }
                }
            }
            window.as_ref().map_or(if size > 0 { u32::MAX } else { 0 }, Window::limit)
        };
        for &(i, j) in pairs {
            let limit = pass(i / BLOCK * BLOCK);
            for grain in [i, j] {
                // SAFETY: it is one of them, and not done.
                unsafe { at.add(offset(grain as u32), limit, &load(&mut random)) };
            }
        }
        pass(own.end);
        (out, column)
    }

    #[test]
    fn loads_come_to_the_same_bits_in_windows_and_in_the_column() {
        let mut random = Stream::new(8, Purpose::Fill, 0);
        let mass: Vec<f64> = (0..10_000).map(|_| random.between(1.0, 2.0)).collect();
        for own in [0..5000, 640..9600, 6400..10_000, 128..1300] {
            let mut pairs: Vec<(usize, usize)> = Vec::new();
            for i in own.clone() {
                // Few partners lie far ahead.
                let reach = if random.below(50) == 0 { own.len() } else { 800 };
                let partner = |_| i + 1 + random.below(reach as u64) as usize;
                pairs.extend((0..3).map(partner).filter(|j| own.contains(j)).map(|j| (i, j)));
            }
            pairs.sort_unstable();
            let (in_column, _) = sums(0, &own, &pairs, &mass);
            assert_eq!(in_column.len(), own.len());
            for size in SIZES {
                let (in_window, column) = sums(size, &own, &pairs, &mass);
                assert!(in_window == in_column, "{own:?} in a window of {size}");
                let weights: Vec<Load> = mass[own.clone()].iter().map(|m| Load::of_gravity(*m, GRAVITY)).collect();
                assert!(column == weights, "{own:?}: the column is left as it was found");
            }
        }
    }

    #[test]
    fn windows_are_as_small_as_nearly_all_pairs_allow() {
        let of = |grains: u32, reach: u32, farther: u32| {
            let row = |i: u32| [(i, i + reach), (i, i + if i < farther { 6000 } else { 1 })];
            let (i, j): (Vec<u32>, Vec<u32>) = (0..grains).flat_map(row).map(|(i, j)| (offset(i), offset(j))).unzip();
            size(grains as usize, [&i, &j])
        };
        assert_eq!([of(8000, 800, 0), of(8000, 900, 0), of(8000, 3000, 0)], SIZES.map(Some));
        assert_eq!([of(8000, 4000, 0), of(1024, 10, 0), of(2000, 1500, 0)], [None; 3]);
        assert_eq!([of(8000, 800, 160), of(8000, 800, 161)], [Some(1024), None], "one in a hundred of 16 000 pairs");
    }
}
