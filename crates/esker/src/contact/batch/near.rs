//! Which pairs to look at: those that may touch within the next steps, and the records they will need.

use crate::contact::near_pairs::{BLOCK, Block, Near, Room};
use crate::contact::octets::{Octet, Octets, Tag};
use crate::lanes::{Lane, Quad, Targets, Vec3s, offset, prefetch};

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
    /// Loads.
    pub loads: Targets,
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
            prefetch(self.loads.hint(self.next));
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

/// Near pairs found before are given up when, in a look at all candidates, there are more than this many times as many as
/// needed.
const MOST_NEEDLESS: f64 = 1.1;

/// What rounding leaves of a gap for sure.
const ROUNDING: f64 = 0.999_999;

/// How many times the gap of near pairs a pair may have to be looked at every few steps. All others are looked at when two
/// grains may have come nearer to each other by that larger gap.
const SOON: f64 = 4.0;

/// Looks at the pairs of a block that may have to be near soon, when grains come nearer by `moved` in a step \[m\]. Returns
/// whether nobody needs to look any farther: then the near pairs stay as they are for some steps more.
#[inline(always)]
pub(super) unsafe fn is_quiet<L: Lane>(block: &mut Block, x: *const Quad, moved: f64) -> bool {
    let mut least = L::splat(block.room_beyond);
    for Octet { i, j } in &block.soon {
        for lane in (0..8).step_by(L::N) {
            // SAFETY: they hold offsets of grains and images.
            least = unsafe { gaps::<L>(x, i.as_ptr().add(lane), j.as_ptr().add(lane)) }.min(least);
        }
    }
    block.room = ROUNDING * least_of(least);
    block.room > WORTH_KEEPING * moved
}

/// The least of the lanes.
#[inline(always)]
fn least_of<L: Lane>(all: L) -> f64 {
    let mut of_lanes = [f64::INFINITY; 8];
    // SAFETY: there are not more lanes.
    unsafe { all.store(of_lanes.as_mut_ptr()) };
    of_lanes.into_iter().fold(f64::INFINITY, f64::min)
}

/// Looks for the near pairs of a block of the list, when grains come nearer by `moved` in a step \[m\]: those with a gap
/// below a few times that, and at least `least_gap`. If these are still among those found before, and no other pair comes
/// close, they stay as they are; which may have to be near soon is told anew in any case. `law` tells which law two grains
/// have.
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
        let (mut bits, mut soon) = (0u8, 0u8);
        // SAFETY: the list holds whole groups of offsets of grains and images; there is room for a whole group at the end.
        unsafe {
            let (i, j) = (i.as_ptr().add(group), j.as_ptr().add(group));
            for part in (0..8).step_by(L::N) {
                let gaps = gaps::<L>(x, i.add(part), j.add(part));
                let outside = L::select(L::mask((inside | !there) >> part), nearest, gaps);
                nearest = outside.min(nearest);
                bits |= L::bits(gaps.less(L::splat(gap))) << part;
                soon |= L::bits(gaps.less(L::splat(SOON * gap))) << part;
            }
            bits &= there;
            soon &= there;
            let numbers: [u32; 8] = std::array::from_fn(|l| (group + l) as u32);
            for (bits, lot) in [(bits, &mut picked.near), (soon & !(bits & inside), &mut picked.soon)] {
                L::pick(bits, numbers.as_ptr(), lot.k.as_mut_ptr().add(lot.count));
                L::pick(bits, i, lot.i.as_mut_ptr().add(lot.count));
                L::pick(bits, j, lot.j.as_mut_ptr().add(lot.count));
                lot.count += bits.count_ones() as usize;
            }
        }
        picked.inside.push(bits);
    }
    let nearest = least_of(nearest);
    let needless = here.count as f64 > MOST_NEEDLESS * picked.near.count as f64;
    let known = here.room > f64::NEG_INFINITY;
    if known && !needless && nearest > WORTH_KEEPING * moved {
        here.room = ROUNDING * nearest;
    } else {
        near.refill(room, block, images, law);
        near.blocks[block].room = ROUNDING * gap;
    }
    near.set_soon(room, block);
    near.blocks[block].room_beyond = SOON * gap;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::octets::Needs;
    use crate::math::Vec3;
    use crate::particles::Place;
    use crate::rng::{Purpose, Stream};
    use std::collections::HashSet;

    const GRAINS: u32 = 150;
    /// What a grain moves in a step at most \[m\].
    const LONGEST: f64 = 2e-3;

    /// All pairs of some grains, in order, as offsets that fill whole groups, and how many there are.
    fn all_pairs() -> ([Vec<u32>; 2], usize) {
        let pairs = (0..GRAINS).flat_map(|i| (i + 1..GRAINS).map(move |j| (offset(i), offset(j))));
        let (mut i, mut j): (Vec<u32>, Vec<u32>) = pairs.unzip();
        let count = i.len();
        for column in [&mut i, &mut j] {
            column.resize(count.next_multiple_of(8), column[count - 1]);
        }
        ([i, j], count)
    }

    #[test]
    fn no_pair_comes_closer_than_its_block_knows_and_most_looks_are_at_few() {
        let mut random = Stream::new(7, Purpose::Fill, 0);
        let mut place: Vec<Place> = (0..GRAINS)
            .map(|_| Place { position: random.in_ball(false), radius: random.between(0.02, 0.05) })
            .collect();
        let mut velocity: Vec<Vec3> = place.iter().map(|_| random.in_ball(false)).collect();
        let ([i, j], count) = all_pairs();
        let (mut near, mut room) = (Near::new(Needs::default(), [].into_iter()), Room::default());
        near.begin([&i, &j], count, offset(GRAINS));
        assert!(near.blocks.len() > 2);
        let (mut quiet, mut looked, mut touched, mut few) = (0, 0, 0, 0);
        for step in 0..400 {
            // They stand still at times, and turn back.
            if step % 100 == 70 {
                velocity.iter_mut().for_each(|v| *v = -*v);
            }
            let share = f64::from(step % 40).min(20.0) / 20.0 * LONGEST;
            place.iter_mut().zip(&velocity).for_each(|(place, v)| place.position += share * *v);
            let x = place.as_ptr().cast::<Quad>();
            for b in 0..near.blocks.len() {
                let block = &mut near.blocks[b];
                block.come_nearer(2.0 * share);
                // SAFETY: all grains are there.
                unsafe {
                    if block.room < 0.0 {
                        if is_quiet::<f64>(block, x, 2.0 * share) {
                            quiet += 1;
                        } else {
                            let lengths = [2.0 * share, 1e-3];
                            find::<f64>(
                                [&i, &j],
                                count,
                                (&mut near, &mut room),
                                b,
                                x,
                                lengths,
                                offset(GRAINS),
                                |_, _| 0,
                            );
                            looked += 1;
                        }
                    }
                }
                let Block { inside, soon, room, room_beyond, .. } = &near.blocks[b];
                let is_near = |k: usize| inside[(k - b * BLOCK) / 8] >> (k % 8) & 1 == 1;
                let told: HashSet<(u32, u32)> =
                    soon.iter().flat_map(|octet| octet.i.iter().copied().zip(octet.j)).collect();
                few += usize::from(told.len() < BLOCK / 10);
                for k in b * BLOCK..count.min((b + 1) * BLOCK) {
                    // SAFETY: likewise.
                    let gap = unsafe { gaps::<f64>(x, &i[k], &j[k]) };
                    touched += usize::from(gap < 0.0);
                    let is_soon = told.contains(&(i[k], j[k]));
                    assert!(!is_near(k) || !is_soon, "pair {k} is near, not soon");
                    assert!(is_near(k) || gap >= room.max(0.0), "step {step}, pair {k}: {gap} below {room}");
                    assert!(is_near(k) || is_soon || gap >= ROUNDING * room_beyond, "step {step}, pair {k}: {gap}");
                }
            }
        }
        assert!(touched > 1000 && looked > 10 && quiet > looked, "{touched}, {looked}, {quiet}");
        assert!(few > 350 * near.blocks.len(), "{few}");
    }
}
