//! Batches against the rule of the single impact.

use super::super::{Bodies, Impacts, Mill, SizeClasses, WallImpacts, analytical};
use super::*;
use crate::rng::Purpose;
use std::collections::BTreeMap;

fn stream(key: u64) -> Stream {
    Stream::new(21, Purpose::Grinding, key)
}

/// The mill of G-10.
fn mill() -> Chain {
    let impacts = vec![Impacts { bodies: Bodies::Balls([3.2e-3; 2]), rate: 1e5 }];
    let mill = Mill { impacts, wall: WallImpacts::Plane, free_volume: 303_919e-9 };
    mill.chain(&SizeClasses::new(1e-3, 1e-6).unwrap()).unwrap()
}

/// Probabilities of all states after some impacts, by the rule: every grain splits or not.
fn exact(chain: &Chain, grains: u128, impacts: u64) -> BTreeMap<Vec<u128>, f64> {
    let choose = |n: u128, x: u128| (0..x).map(|j| (n - j) as f64 / (j + 1) as f64).product::<f64>();
    let mut states = BTreeMap::from([(Baskets::new(grains, chain.last()).unwrap().counts, 1.0)]);
    for _ in 0..impacts {
        let mut next = BTreeMap::new();
        for (state, probability) in states {
            // All ways to split, class by class.
            let mut ways = vec![(state.clone(), probability)];
            for i in 0..chain.last() {
                let (p, n) = (chain.probability(i), state[i]);
                let split = |(way, w): &(Vec<u128>, f64), x: u128| {
                    let mut way = way.clone();
                    way[i] -= x;
                    way[i + 1] += 2 * x;
                    (way, w * choose(n, x) * p.powi(x as i32) * (1.0 - p).powi((n - x) as i32))
                };
                ways = ways.iter().flat_map(|way| (0..=n).map(move |x| split(way, x))).collect();
            }
            ways.into_iter().for_each(|(way, w)| *next.entry(way).or_insert(0.0) += w);
        }
        states = next;
    }
    states
}

/// (χ² − ν)/√2ν of states that were drawn, rare ones put together.
fn excess(exact: &BTreeMap<Vec<u128>, f64>, drawn: &BTreeMap<Vec<u128>, f64>, total: f64) -> f64 {
    assert!(drawn.keys().all(|state| exact.contains_key(state)), "an impossible state was drawn");
    let (mut chi2, mut cells, mut rare) = (0.0, 0.0, [0.0, 0.0]);
    let mut cell = |expected: f64, found: f64| {
        chi2 += (found - expected) * (found - expected) / expected;
        cells += 1.0;
    };
    for (state, probability) in exact {
        let (expected, found) = (probability * total, drawn.get(state).copied().unwrap_or(0.0));
        if expected >= 20.0 { cell(expected, found) } else { rare = [rare[0] + expected, rare[1] + found] }
    }
    if rare[0] >= 5.0 {
        cell(rare[0], rare[1]);
    }
    let freedom: f64 = cells - 1.0;
    (chi2 - freedom) / (2.0 * freedom).sqrt()
}

#[test]
fn a_batch_has_the_distribution_of_its_single_impacts() {
    let total = 400_000;
    for (key, (probabilities, grains, size)) in [
        (vec![0.03, 0.02, 0.015], 2, 3),
        (vec![0.05, 0.02, 0.012, 0.0], 1, 3),
        (vec![0.012, 0.01, 0.008], 3, 4),
        (vec![0.03, 0.05], 3, 2),
        (vec![0.3, 0.4, 0.2, 0.6], 1, 1),
        (vec![0.3, 0.4], 3, 0),
        (vec![0.12], 4, 2),
        (vec![0.05, 0.05, 0.03, 0.05], 1, 2),
    ]
    .into_iter()
    .enumerate()
    {
        let chain = Chain::new(probabilities).unwrap();
        let batch = Batch::new(&chain, 1 << size);
        assert!(batch.classes.iter().take(2).all(|fate| matches!(fate, Fate::Summed(_))));
        let mut stream = stream(key as u64);
        let mut drawn = BTreeMap::new();
        for _ in 0..total {
            let mut baskets = Baskets::new(grains, chain.last()).unwrap();
            baskets.batch(&batch, &mut stream);
            *drawn.entry(baskets.counts).or_insert(0.0) += 1.0;
        }
        let excess = excess(&exact(&chain, grains, 1 << size), &drawn, f64::from(total));
        assert!(excess.abs() < 4.0, "{chain:?}, {grains} grains, {} impacts: {excess}", 1 << size);
    }
}

/// Large probabilities, for which batches are not made otherwise: every path of the rare grains is taken often.
#[test]
fn grains_that_split_often_have_the_distribution_of_single_impacts() {
    let total = 400_000;
    for (key, (probabilities, grains)) in
        [(vec![0.3, 0.2, 0.4], 1), (vec![0.3, 0.3, 0.1, 0.5], 1), (vec![0.2, 0.3], 2)].into_iter().enumerate()
    {
        let chain = Chain::new(probabilities).unwrap();
        let classes = (0..chain.last()).map(|i| Fate::Summed(Sums::new(&chain, i, 4))).collect();
        let batch = Batch { chain: chain.clone(), impacts: 4, classes };
        let mut stream = stream(60 + key as u64);
        let mut drawn = BTreeMap::new();
        for _ in 0..total {
            let mut baskets = Baskets::new(grains, chain.last()).unwrap();
            baskets.batch(&batch, &mut stream);
            *drawn.entry(baskets.counts).or_insert(0.0) += 1.0;
        }
        let excess = excess(&exact(&chain, grains, 4), &drawn, f64::from(total));
        assert!(excess.abs() < 4.0, "{chain:?}: {excess}");
    }
}

#[test]
fn grains_followed_one_by_one_have_the_distribution_of_single_impacts() {
    let total = 400_000;
    let chain = Chain::new(vec![0.4, 0.3, 0.2]).unwrap();
    let batch = Batch::new(&chain, 4);
    assert!(batch.classes.iter().all(|fate| matches!(fate, Fate::Followed { .. })));
    let mut stream = stream(50);
    let mut drawn = BTreeMap::new();
    for _ in 0..total {
        let mut baskets = Baskets::new(2, 3).unwrap();
        baskets.batch(&batch, &mut stream);
        *drawn.entry(baskets.counts).or_insert(0.0) += 1.0;
    }
    let excess = excess(&exact(&chain, 2, 4), &drawn, f64::from(total));
    assert!(excess.abs() < 4.0, "{excess}");
}

#[test]
fn probabilities_of_a_batch_are_sums_over_the_impacts_of_the_splits() {
    for (p, next, second, n) in [(0.01, 0.02, 0.005, 9), (0.01, 0.01, 0.01, 12), (0.3, 0.4, 0.5, 2), (0.2, 0.1, 0.0, 1)]
    {
        let (q, q1, q2): (f64, f64, f64) = (1.0 - p, 1.0 - next, 1.0 - second);
        let (mut once, mut twice, mut more) = (0.0, 0.0, 0.0);
        for t1 in 1..=n {
            let first = p * q.powi(t1 - 1);
            once += first * q1.powi(2 * (n - t1));
            for t2 in t1 + 1..=n {
                let quiet = first * q1.powi(2 * (t2 - t1 - 1));
                more += quiet * next * next;
                twice += quiet * 2.0 * next * q1 * (q1 * q2 * q2).powi(n - t2);
                for t3 in t2 + 1..=n {
                    more += quiet * 2.0 * next * q1 * (q1 * q2 * q2).powi(t3 - t2 - 1) * (1.0 - q1 * q2 * q2);
                }
            }
        }
        let none = q.powi(n);
        assert!((none + once + twice + more - 1.0).abs() < 1e-14, "what can happen adds up to one");
        let sums = Sums::new(&Chain::new(vec![p, next, second]).unwrap(), 0, n as u64);
        let any = (once + twice) / (none + once + twice);
        assert!((sums.split / any - 1.0).abs() < 1e-13, "{} for {any}", sums.split);
        assert!((sums.twice * (once + twice) - twice).abs() <= 1e-13 * twice, "{} for {twice}", sums.twice);
        assert!(sums.both + sums.one >= more && sums.both + sums.one <= 1.0, "candidates are more than are kept");
    }
}

#[test]
fn divided_differences_near_one_keep_their_digits() {
    for (n, u) in [(1u64 << 40, [1e-13, 3e-13]), (1 << 40, [2e-13, 2e-13]), (1 << 20, [1e-7, 4e-7])] {
        // h_{n−1}(x, y) = (xⁿ − yⁿ)/(x − y), and n xⁿ⁻¹ for x = y.
        let power = |u: f64, n: u64| (n as f64 * (-u).ln_1p()).exp();
        let direct = if u[0] == u[1] {
            n as f64 * power(u[0], n - 1)
        } else {
            (power(u[0], n) - power(u[1], n)) / (u[1] - u[0])
        };
        let found = complete(n, u);
        assert!((found / direct - 1.0).abs() < 1e-12, "{found:e} for {direct:e}");
    }
}

/// Mean, its standard error, and variance.
fn moments(values: &[f64]) -> (f64, f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt(), variance)
}

#[test]
fn grinding_in_batches_is_grinding_impact_by_impact() {
    let chain = Chain::new((0..6).map(|i| 0.02 * (-2.0 * f64::from(i) / 3.0).exp2()).collect()).unwrap();
    let (runs, grains, impacts) = (3000, 40, 200);
    let mut batches = Batches::new(&chain);
    let mut by_batch: Vec<Vec<f64>> = vec![vec![]; 7];
    let mut by_impact = by_batch.clone();
    for run in 0..runs {
        let (mut fast, mut slow) = (Baskets::new(grains, 6).unwrap(), Baskets::new(grains, 6).unwrap());
        fast.grind(&mut batches, impacts, &mut stream(1000 + run));
        let mut other = stream(100_000 + run);
        (0..impacts).for_each(|_| slow.impact(&chain, &mut other));
        for i in 0..7 {
            by_batch[i].push(fast.counts[i] as f64);
            by_impact[i].push(slow.counts[i] as f64);
        }
    }
    for i in 0..7 {
        let (fast, fast_error, fast_variance) = moments(&by_batch[i]);
        let (slow, slow_error, slow_variance) = moments(&by_impact[i]);
        let error = fast_error.hypot(slow_error);
        assert!((fast - slow).abs() <= 4.0 * error, "class {i}: {fast} and {slow} ± {error}");
        // The standard error of a variance is near √2/n of it; counts of few grains have longer tails.
        if slow > 5.0 {
            assert!(
                (fast_variance / slow_variance - 1.0).abs() < 8.0 * (2.0 / runs as f64).sqrt(),
                "class {i}: variance"
            );
        }
    }
}

#[test]
fn volume_is_conserved_to_the_last_grain() {
    let chain = mill();
    let mut batches = Batches::new(&chain);
    let mut baskets = Baskets::new(123_456, 30).unwrap();
    let mut stream = stream(7);
    for impacts in [1, 2, 1000, 77_777, 1_000_000_007] {
        baskets.grind(&mut batches, impacts, &mut stream);
        let volume: u128 = baskets.counts.iter().enumerate().map(|(i, n)| n << (30 - i)).sum();
        assert_eq!(volume, 123_456 << 30);
    }
    baskets.grind(&mut batches, 1_000_000_000_000, &mut stream);
    assert!(baskets.all_ground());
    assert_eq!(baskets.counts[30], 123_456 << 30);
}

#[test]
fn the_mean_of_many_runs_is_the_closed_form() {
    let chain = mill();
    let impacts = 8_640_000_000;
    let expected = analytical::masses(&chain, impacts as f64);
    let runs = 100;
    let mut batches = Batches::new(&chain);
    let mut shares: Vec<Vec<f64>> = vec![vec![]; 31];
    for run in 0..runs {
        let mut baskets = Baskets::new(1, 30).unwrap();
        baskets.grind(&mut batches, impacts, &mut stream(500 + run));
        (0..31).for_each(|i| shares[i].push(baskets.counts[i] as f64 * 2f64.powi(-(i as i32))));
    }
    for i in (0..31).filter(|&i| expected[i] > 1e-3) {
        let (mean, error, _) = moments(&shares[i]);
        assert!((mean - expected[i]).abs() < 4.0 * error, "class {i}: {mean} ± {error} for {}", expected[i]);
    }
}

#[test]
fn too_many_grains_are_refused() {
    assert!(Baskets::new(1 << 60, 60).is_ok());
    assert!(matches!(Baskets::new(1 << 60, 70), Err(GrindingError::TooManyGrains { .. })));
    assert!(Baskets::new(1, 200).is_err());
}
