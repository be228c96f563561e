//! Which pairs to look at: those that may touch within the next steps, and the records they will need.

use crate::contact::octets::{BLOCK, Near, Tag};
use crate::lanes::{Lane, Quad, Vec3s, offset, prefetch};

/// Octets between asking for the records of grains and using them.
const AHEAD: usize = 24;

/// Asks for the records of grains shortly before they are used.
///
/// Pairs are sorted by their first grain and grains by place, so that a grain is met first as the second one of a pair,
/// and the largest index met so far grows steadily: whatever it passes will be needed.
pub(super) struct Frontier {
    /// Offset of the next grain to ask for.
    pub next: u32,
    /// Places, velocities.
    pub place: *const i8,
    pub motion: *const i8,
    /// Loads, as if they began with grain 0.
    pub loads: *const i8,
}

impl Frontier {
    /// Asks for what will be needed some time after the octets from `at` on.
    #[inline(always)]
    pub fn look_ahead(&mut self, tags: &[Tag], at: usize, count: usize) {
        let mut last = self.next;
        for tag in tags.iter().skip(at + AHEAD).take(count) {
            last = last.max(tag.farthest);
        }
        // A jump is no steady growth: the grains are not sorted.
        self.next = self.next.max(last.saturating_sub(offset(4096)));
        while self.next < last {
            let at = self.next as usize;
            prefetch(self.place.wrapping_add(at));
            prefetch(self.motion.wrapping_add(2 * at));
            prefetch(self.loads.wrapping_add(2 * at));
            self.next += offset(1);
        }
    }
}

/// Which of eight pairs have a gap below `gap` \[m\].
#[inline(always)]
unsafe fn nearer_than<L: Lane>(x: *const Quad, i: *const u32, j: *const u32, gap: f64) -> u8 {
    let mut bits = 0u8;
    for part in (0..8).step_by(L::N) {
        // SAFETY: the caller's.
        let [a, b, c, radii] = unsafe { L::places(x, i.add(part), j.add(part)) };
        let (d, reach) = (Vec3s::new(a, b, c), radii + L::splat(gap));
        bits |= L::bits(d.dot(d).less(reach * reach)) << part;
    }
    bits
}

/// Steps that the near pairs should last: about as many as make finding them cheap beside evaluating more pairs that do
/// not touch.
pub(super) const LASTING: f64 = 5.0;

/// Finds the pairs of a block of the list with a gap below `gap` \[m\]; `law` tells which law two grains have.
#[inline(always)]
pub(super) unsafe fn find<L: Lane>(
    [i, j]: [&[u32]; 2],
    count: usize,
    near: &mut Near,
    block: usize,
    x: *const Quad,
    gap: f64,
    images: u32,
    law: impl Fn(u32, u32) -> u8,
) {
    assert!([i.len(), j.len()] == [count.next_multiple_of(8); 2]);
    near.blocks[block].room = gap;
    let candidates = block * BLOCK..count.min((block + 1) * BLOCK);
    let picked = near.pick();
    picked.clear(candidates.len());
    for group in candidates.step_by(8) {
        // SAFETY: the list holds whole groups of offsets of grains and images; there is room for a whole group at the end.
        unsafe {
            let (i, j) = (i.as_ptr().add(group), j.as_ptr().add(group));
            let mut bits = nearer_than::<L>(x, i, j, gap);
            if group + 8 > count {
                bits &= (1 << (count - group)) - 1;
            }
            let numbers: [u32; 8] = std::array::from_fn(|l| (group + l) as u32);
            L::pick(bits, numbers.as_ptr(), picked.k.as_mut_ptr().add(picked.count));
            L::pick(bits, i, picked.i.as_mut_ptr().add(picked.count));
            L::pick(bits, j, picked.j.as_mut_ptr().add(picked.count));
            picked.count += bits.count_ones() as usize;
        }
    }
    near.refill(block, images, law);
}
