//! How grains are cut up among the workers.

use super::list::Loop;
use super::sums::Units;
use crate::neighbor::Candidates;
use std::ops::Range;

/// Fewer workers than this wait less for each other: they share less of the work in small segments, and none in the general
/// loop, which evaluates pairs across borders twice.
const MANY: usize = 4;

/// Least grains of a segment where workers have several, unless a unit has more. One may have half as many.
const LEAST: usize = 1024;

/// Most segments of a worker where they may be ahead of others, and least grains of each where a worker has several. With more too many
/// pairs are cut, with fewer too few can go ahead.
const AHEAD: usize = 3;
const LEAST_AHEAD: usize = 3 * LEAST;

/// How segments go from one step to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// All together: none begins a step before all have done with the last.
    Together,
    /// Each may be a step ahead of others, as far as it does not need them.
    Ahead,
}

/// Cuts up the grains, in whole units.
pub fn cut_up(candidates: &Candidates, workers: usize, units: Units, form: Loop, pace: Pace) -> Vec<Range<usize>> {
    ranges(candidates, units, &shares(candidates.owned(), workers, units, form, pace))
}

/// Grains of each segment, about. Workers take segments one after another from the last to the first. Where all wait for each other these are
/// large ones and then ever smaller ones, so that all are done at about the same time however fast each of them is just then.
fn shares(grains: usize, workers: usize, units: Units, form: Loop, pace: Pace) -> Vec<usize> {
    let (workers, least) = (workers.max(1), LEAST.max(units.grains()));
    if pace == Pace::Ahead && workers > 1 {
        let segments = workers * (grains / (workers * LEAST_AHEAD)).clamp(1, AHEAD);
        return vec![grains.div_ceil(segments); segments];
    }
    // Fifths of the work in the first segments, least grains of the others, and with fewer grains than how many times the
    // least for each worker too many pairs would be cut.
    let (first, smallest, few) =
        if workers < MANY { (4, least.max(grains / (16 * workers)), 12) } else { (3, least, 6) };
    let alone = workers == 1 || workers < MANY && form == Loop::General;
    if alone || grains < few * least * workers {
        return vec![grains.div_ceil(workers); workers];
    }
    let mut shares = vec![first * grains / (5 * workers); workers];
    let mut left = grains - shares.iter().sum::<usize>();
    while left > 0 {
        let share = (left / workers).max(smallest);
        let share = if left < share + smallest / 2 { left } else { share };
        shares.push(share);
        left -= share;
    }
    shares.reverse();
    shares
}

/// Ranges of whole units, at least one each, that make work in the proportions of the shares: a grain makes about as much
/// as a candidate pair.
fn ranges(candidates: &Candidates, units: Units, shares: &[usize]) -> Vec<Range<usize>> {
    let grains = candidates.owned();
    let count = grains.div_ceil(units.grains());
    let first = |unit: usize| (unit * units.grains()).min(grains);
    let work_before = |unit: usize| first(unit) + candidates.start.get(first(unit)).map_or(0, |&pairs| pairs as usize);
    let segments = shares.len().clamp(1, count.max(1));
    let shares = &shares[shares.len() - segments..];
    let all = shares.iter().sum::<usize>().max(1) as u128;
    let (mut ends, mut given) = (vec![0], 0);
    for (w, share) in (1..).zip(shares) {
        given += share;
        let work = work_before(count) as u128 * given as u128 / all;
        let (least, most) = (ends[w - 1] + 1, count - (segments - w));
        let even = (least..most).find(|&unit| work_before(unit) as u128 >= work).unwrap_or(most);
        ends.push(if count == 0 { 0 } else { even });
    }
    ends.windows(2).map(|ends| first(ends[0])..first(ends[1])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::octets::Needs;

    #[test]
    fn segments_are_one_for_each_worker_or_many_in_rising_sizes() {
        let fast = Loop::Fast(Needs { slip: false, dashpot: false });
        let of = |grains: usize, workers: usize| shares(grains, workers, Units::of(grains), fast, Pace::Together);
        assert_eq!(of(0, 0), [0]);
        assert_eq!(of(1_000_000, 1), [1_000_000]);
        assert_eq!(of(20_000, 2), [10_000; 2]);
        assert_eq!(of(8000, 4), [2000; 4]);
        assert_eq!(of(100_000, 2), [1875, 3125, 5000, 10_000, 40_000, 40_000]);
        assert_eq!(shares(100_000, 2, Units::of(100_000), Loop::General, Pace::Together), [50_000; 2]);
        for (grains, workers) in
            [(24_576, 2), (36_864, 3), (4_000_000, 3), (1_000_000, 16), (4_000_000, 16), (4_000_000, 64)]
        {
            let (many, least) = (of(grains, workers), LEAST.max(Units::of(grains).grains()));
            assert_eq!(many.iter().sum::<usize>(), grains);
            assert!(many.len() < workers * 6 && many.is_sorted_by(|a, b| a <= b || *a < least + least / 2));
            // No worker gets so much at first that others would wait for it, nor so little at the end that only borders are left.
            assert!(*many.last().unwrap() < grains / workers && many[0] >= least / 2);
        }
    }

    #[test]
    fn segments_that_may_be_ahead_are_of_one_size_and_few() {
        let fast = Loop::Fast(Needs { slip: false, dashpot: false });
        let of = |grains: usize, workers: usize| shares(grains, workers, Units::of(grains), fast, Pace::Ahead);
        assert_eq!(of(1_000_000, 1), [1_000_000]);
        assert_eq!(of(20_000, 4), [5000; 4]);
        assert_eq!(of(100_000, 16), [3125; 32]);
        assert_eq!(of(1_000_000, 16), [20_834; 48]);
    }

    #[test]
    fn ranges_are_whole_units_that_cover_all_grains() {
        for (grains, shares) in [(0, vec![0]), (10, vec![5, 5]), (1000, vec![1; 40]), (100_000, vec![3, 2, 1])] {
            let candidates = Candidates { start: vec![0; grains + 1], ..Default::default() };
            let units = Units::of(grains);
            let ranges = ranges(&candidates, units, &shares);
            assert!(ranges.len() <= shares.len());
            assert_eq!((ranges[0].start, ranges[ranges.len() - 1].end), (0, grains));
            for pair in ranges.windows(2) {
                assert!(pair[0].end == pair[1].start && pair[1].start.is_multiple_of(units.grains()));
                assert!(!pair[0].is_empty() && !pair[1].is_empty());
            }
        }
    }
}
