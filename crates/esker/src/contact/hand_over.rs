//! Loads of pairs across borders: the segment of the second grains evaluates them, before the pairs within, and the segment of
//! the first grains adds them when all else that acts on these is known.

use super::list::{Cut, Opened, Segment, Source};
use super::near_pairs::Block;
use crate::lanes::{index, offset};
use crate::particles::Load;
use std::hint::spin_loop;
use std::iter::repeat_with;
use std::mem::take;
use std::ops::Range;
use std::sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard};
use std::thread::yield_now;

/// What segments have found of the pairs across their borders in a step, as soon as each is done with them.
pub struct Cuts {
    each: Vec<OnceLock<RwLock<Cut>>>,
}

impl Cuts {
    /// None yet, of so many segments.
    pub fn of(segments: usize) -> Self {
        Self { each: repeat_with(OnceLock::new).take(segments).collect() }
    }

    /// That of a segment, when it is there. Somebody must be at work on it without calling the pool, which might bring
    /// them here to wait for themselves.
    pub fn get(&self, segment: usize) -> RwLockReadGuard<'_, Cut> {
        wait_for(|| self.each[segment].get()).read().unwrap_or_else(PoisonError::into_inner)
    }

    /// To be filled by who is at work on a segment.
    pub fn giving(&self, segment: usize) -> Giving<'_> {
        Giving { cut: Cut::default(), to: &self.each[segment] }
    }

    /// Takes back that of a segment, if it was given, when nobody looks at it any more.
    pub fn take(&self, segment: usize) -> Cut {
        let given = self.each[segment].get().map(|cut| cut.write().unwrap_or_else(PoisonError::into_inner));
        given.map(|mut cut| take(&mut *cut)).unwrap_or_default()
    }
}

/// Looks for something, up to 40 ns each, before others get the processor.
const LOOKS: usize = 1000;

/// Waits for something that is there soon, without falling asleep.
pub fn wait_for<T>(look: impl Fn() -> Option<T>) -> T {
    let mut looks = 0;
    loop {
        match look() {
            Some(found) => return found,
            None if looks < LOOKS => spin_loop(),
            None => yield_now(),
        }
        looks += 1;
    }
}

/// A cut that others get when this is dropped, also by a panic: nobody waits for ever.
pub struct Giving<'a> {
    /// What was found.
    pub cut: Cut,
    to: &'a OnceLock<RwLock<Cut>>,
}

impl Drop for Giving<'_> {
    fn drop(&mut self) {
        let first = self.to.set(RwLock::new(take(&mut self.cut)));
        debug_assert!(first.is_ok(), "a segment is done once");
    }
}

/// Loads for the grains of a segment from the segments above it.
pub struct HandOver<'a> {
    cuts: &'a Cuts,
    /// The first grain of the segment.
    start: u32,
    /// What each of those above hands over, ascending.
    givers: Vec<Giver<'a>>,
    /// The first of the grains to come that may get something, or that somebody may still look at; none if that is the largest
    /// number.
    next: u32,
}

/// What one segment hands over to another. Grains are told as offsets.
struct Giver<'a> {
    segment: usize,
    /// The first of the grains to come that may get something from it; none if that is the largest number.
    next: u32,
    /// What is left of its pairs, once they are there.
    left: Option<Left<'a>>,
}

/// Pairs from an octet of a block on.
struct Left<'a> {
    cut: RwLockReadGuard<'a, Cut>,
    block: usize,
    octet: usize,
}

impl<'a> HandOver<'a> {
    /// To a segment from what all have evaluated across their borders.
    pub fn to(segment: &Segment, cuts: &'a Cuts) -> Self {
        let giver = |source: &Source| {
            let next = offset(source.first);
            Giver { segment: source.segment as usize, next, left: None }
        };
        let givers: Vec<Giver> = segment.sources.iter().map(giver).collect();
        Self { cuts, start: offset(segment.grains.start as u32), next: next_of(&givers), givers }
    }

    /// Adds what acts on some grains, which come after those asked for before, to their loads. Grain by grain in ascending order of
    /// the second grains. Waits for who still looks at these grains.
    pub fn add(&mut self, grains: &Range<usize>, loads: &mut [Load]) {
        let range = offset(grains.start as u32)..offset(grains.end as u32);
        if range.end <= self.next {
            return;
        }
        for giver in &mut self.givers {
            if giver.next < range.end {
                giver.add(self.cuts, self.start, &range, loads);
            }
        }
        self.next = next_of(&self.givers);
    }
}

/// The first grain that any of them may have something for.
fn next_of(givers: &[Giver]) -> u32 {
    givers.iter().map(|giver| giver.next).min().unwrap_or(u32::MAX)
}

impl<'a> Giver<'a> {
    /// The same from one segment.
    fn add(&mut self, cuts: &'a Cuts, start: u32, grains: &Range<u32>, loads: &mut [Load]) {
        let begin = || Left::from(start, cuts.get(self.segment));
        let Left { cut, block, octet: at } = self.left.get_or_insert_with(begin);
        self.next = u32::MAX;
        while let Some(Block { octets, handed, .. }) = cut.blocks().get(*block) {
            debug_assert_eq!(octets.pairs.len(), handed.len());
            for ((octet, tag), handed) in octets.pairs.iter().zip(&octets.tags).zip(handed).skip(*at) {
                if octet.i[0] >= grains.end {
                    self.next = octet.i[0];
                    return;
                }
                let mut touching = tag.touching;
                while touching != 0 {
                    let l = touching.trailing_zeros() as usize;
                    if grains.contains(&octet.i[l]) {
                        loads[index(octet.i[l] - grains.start)].add(&handed[l]);
                    }
                    touching &= touching - 1;
                }
                if octet.i[7] >= grains.end {
                    self.next = grains.end; // the rest of it is for grains to come
                    return;
                }
                *at += 1;
            }
            (*block, *at) = (*block + 1, 0);
        }
    }
}

impl<'a> Left<'a> {
    /// From the first pair of grains on that are not before `start`. Near pairs keep the order of the candidates, and blocks
    /// without any lie between others.
    fn from(start: u32, cut: RwLockReadGuard<'a, Cut>) -> Self {
        let blocks = cut.blocks();
        let last_of = |block: &Block| block.octets.pairs.last().map_or(0, |octet| octet.i[7]);
        let passed = blocks.iter().rposition(|block| !block.octets.pairs.is_empty() && last_of(block) < start);
        let block = passed.map_or(0, |passed| passed + 1);
        let octet = blocks.get(block).map_or(0, |block| block.octets.pairs.partition_point(|octet| octet.i[7] < start));
        Self { cut, block, octet }
    }
}

/// Books what pairs have lost that have opened, in the order of the pairs, wherever the border of the segment lies: its own,
/// and those that others have found.
pub fn book_opened(segment: &mut Segment, cuts: &Cuts) {
    let Range { start, end } = segment.grains;
    let others: Vec<_> = segment.sources.iter().map(|source| cuts.get(source.segment as usize)).collect();
    let mut opened: Vec<&Opened> = segment.opened.iter().chain(others.iter().flat_map(|cut| &cut.opened)).collect();
    opened.retain(|opened| (start..end).contains(&opened.i));
    opened.sort_unstable_by_key(|opened| (opened.i, opened.j));
    for Opened { i, lost, .. } in opened {
        *segment.told.losses.of(i - start) += *lost;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::Dissipation;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::time::Duration;

    fn opened(i: usize) -> Opened {
        Opened { i, j: i + 1, lost: Dissipation::default() }
    }

    #[test]
    fn who_needs_a_cut_waits_until_it_is_given() {
        let cuts = Cuts::of(2);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                let mut giving = cuts.giving(1);
                std::thread::sleep(Duration::from_millis(20));
                giving.cut.opened.push(opened(7));
            });
            assert_eq!(cuts.get(1).opened[0].i, 7);
        });
        drop(cuts.giving(0));
        assert_eq!([0, 1].map(|segment| cuts.take(segment).opened.len()), [0, 1]);
        assert!(cuts.get(1).opened.is_empty(), "it was taken");
    }

    #[test]
    fn nobody_waits_for_a_worker_that_has_panicked() {
        let cuts = Cuts::of(1);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _giving = cuts.giving(0);
            panic!("on purpose");
        }));
        assert!(panicked.is_err() && cuts.get(0).opened.is_empty());
    }
}
