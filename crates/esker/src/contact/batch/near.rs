//! Which pairs to look at: those that may touch within the next steps, and the records they will need.

use crate::contact::near_pairs::{BLOCK, Near, Room};
use crate::contact::octets::{Octet, Octets, Tag};
use crate::lanes::{Lane, Quad, Vec3s, offset, prefetch};

/// Octets between asking for the records of grains and using them.
const AHEAD: usize = 24;

/// The same where each pair is looked at.
const AHEAD_OF_EACH: usize = 8;

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

    /// The same for some octets whose second grains follow no order.
    #[inline(always)]
    pub fn look_at_each(&self, octets: &Octets, at: usize, count: usize, which: impl Fn(&Tag) -> bool) {
        let all = octets.pairs.iter().zip(&octets.tags).skip(at + AHEAD_OF_EACH).take(count);
        for (Octet { i, j }, _) in all.filter(|(_, tag)| which(tag)) {
            for &grain in i.iter().chain(j) {
                prefetch(self.place.wrapping_add(grain as usize));
                prefetch(self.motion.wrapping_add(2 * grain as usize));
            }
        }
    }
}

/// Gaps of some pairs, negative where they overlap \[m\].
#[inline(always)]
unsafe fn gaps<L: Lane>(x: *const Quad, i: *const u32, j: *const u32) -> L {
    // SAFETY: the caller's.
    let [a, b, c, radii] = unsafe { L::places(x, i, j) };
    let d = Vec3s::new(a, b, c);
    d.dot(d).sqrt() - radii
}

/// Steps that the near pairs should last: about as many as make looking for them cheap beside evaluating more pairs that
/// do not touch.
const LASTING: f64 = 5.0;

/// Steps that pairs found before have to last to be kept.
const WORTH_KEEPING: f64 = 2.5;

/// Near pairs found before are given up when there are more than this many times as many as needed.
const MOST_NEEDLESS: f64 = 1.1;

/// What rounding leaves of a gap for sure.
const ROUNDING: f64 = 0.999_999;

/// Looks for the near pairs of a block of the list, when grains come nearer by `moved` in a step \[m\]: those with a gap
/// below a few times that, and at least `least_gap`. If these are still among those found before, and no other pair comes
/// close, nothing changes. `law` tells which law two grains have.
#[inline(always)]
pub(super) unsafe fn find<L: Lane>(
    [i, j]: [&[u32]; 2],
    count: usize,
    (near, room): (&mut Near, &mut Room),
    block: usize,
    x: *const Quad,
    [moved, least_gap]: [f64; 2],
    images: u32,
    law: impl Fn(u32, u32) -> u8,
) {
    assert!([i.len(), j.len()] == [count.next_multiple_of(8); 2]);
    let gap = (LASTING * moved).max(least_gap);
    let candidates = block * BLOCK..count.min((block + 1) * BLOCK);
    let (picked, here) = near.pick(room, block, candidates.len());
    let mut nearest = L::splat(f64::INFINITY);
    for (group, inside) in candidates.step_by(8).zip(&here.inside) {
        let there = if group + 8 > count { (1 << (count - group)) - 1 } else { u8::MAX };
        let mut bits = 0u8;
        // SAFETY: the list holds whole groups of offsets of grains and images; there is room for a whole group at the end.
        unsafe {
            let (i, j) = (i.as_ptr().add(group), j.as_ptr().add(group));
            for part in (0..8).step_by(L::N) {
                let gaps = gaps::<L>(x, i.add(part), j.add(part));
                let outside = L::select(L::mask((inside | !there) >> part), nearest, gaps);
                nearest = outside.min(nearest);
                bits |= L::bits(gaps.less(L::splat(gap))) << part;
            }
            bits &= there;
            let numbers: [u32; 8] = std::array::from_fn(|l| (group + l) as u32);
            L::pick(bits, numbers.as_ptr(), picked.k.as_mut_ptr().add(picked.count));
            L::pick(bits, i, picked.i.as_mut_ptr().add(picked.count));
            L::pick(bits, j, picked.j.as_mut_ptr().add(picked.count));
        }
        picked.count += bits.count_ones() as usize;
        picked.inside.push(bits);
    }
    let mut of_lanes = [f64::INFINITY; 8];
    // SAFETY: there are not more lanes.
    unsafe { nearest.store(of_lanes.as_mut_ptr()) };
    let nearest = of_lanes.into_iter().fold(f64::INFINITY, f64::min);
    let needless = here.count as f64 > MOST_NEEDLESS * picked.count as f64;
    let known = here.room > f64::NEG_INFINITY;
    if known && !needless && nearest > WORTH_KEEPING * moved {
        here.room = ROUNDING * nearest;
    } else {
        near.refill(room, block, images, law);
        near.blocks[block].room = ROUNDING * gap;
    }
}
