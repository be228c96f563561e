//! Binomial random numbers for any number of trials and any probability, down to 1e-300.
//!
//! By inversion where fewer than ten successes are expected, else by Hörmann's transformed rejection (BTRS, *J. Stat. Comput. Simul.*
//! 46, 101, 1993), with probabilities in Loader's saddle-point form (*Fast and accurate computation of binomial probabilities*, 2000).
//! O(1), some 50 ns. Checked by χ² against probabilities from another recurrence, and against `rand_distr` where that holds.
//!
//! `rand_distr::Binomial` is not used for two reasons. It inverts with $(1-p)^n$ from a rounded $1-p$, so that for $p = 1.6\cdot10^{-16}$ the power is
//! that of a probability a third smaller. And its acceptance takes differences of logarithms that grow with n, so that it decides by
//! rounding once n passes 1e15. A powder has that many grains.

use crate::rng::Stream;
use std::f64::consts::PI;

/// Mean below which inversion is used.
const FEW: f64 = 10.0;

/// Successes in `n` trials of probability `p`, from 0 to 1.
pub fn binomial(n: u128, p: f64, stream: &mut Stream) -> u128 {
    debug_assert!((0.0..=1.0).contains(&p), "{p}");
    if n == 0 || p == 0.0 {
        return 0;
    }
    // The difference is exact for p above one half.
    if p > 0.5 {
        return n - binomial(n, 1.0 - p, stream);
    }
    if n as f64 * p < FEW { by_inversion(n, p, stream) } else { by_rejection(n, p, stream) }
}

/// Walks along the distribution function.
fn by_inversion(n: u128, p: f64, stream: &mut Stream) -> u128 {
    let trials = n as f64;
    let odds = p / (1.0 - p);
    let none = (trials * (-p).ln_1p()).exp();
    // Two hundred successes where ten are expected do not happen; only rounding, where the number drawn is 1, gets there.
    let most = n.min(200);
    loop {
        let mut u = stream.uniform();
        let mut probability = none;
        for x in 0..=most {
            if u <= probability {
                return x;
            }
            u -= probability;
            probability *= (trials - x as f64) / (x + 1) as f64 * odds;
        }
    }
}

/// A distribution to draw from by rejection: p ≤ 1/2 and n p ≥ 10.
struct Bell {
    n: u128,
    p: f64,
    mean: f64,
    mode: u128,
    /// From the mode to the mean.
    offset: f64,
    /// Logarithm of the probability of the mode, without constants.
    peak: f64,
}

impl Bell {
    fn new(n: u128, p: f64) -> Self {
        let mean = n as f64 * p;
        let mode = (mean + p).floor() as u128;
        let mut bell = Self { n, p, mean, mode, offset: mean - mode as f64, peak: 0.0 };
        bell.peak = bell.log_probability(0);
        bell
    }

    /// Logarithm of the probability of so many successes more than the mode, but for a constant:
    /// $-\tfrac12\ln x(n-x) - \delta(x) - \delta(n-x) - npD(x/np) - nqD((n-x)/nq)$ (Loader 2000), $D(y) = y\ln y + 1 - y$, with the error δ of
    /// Stirling's formula. Only the distance from the mean is subtracted, so large n cost no digits.
    fn log_probability(&self, above: i128) -> f64 {
        let Self { n, p, mean, .. } = *self;
        let (x, rest) = (self.mode.wrapping_add_signed(above), n - self.mode.wrapping_add_signed(above));
        let others = n as f64 * (1.0 - p);
        let delta = above as f64 - self.offset;
        let unlikely = |x: u128, mean: f64, delta: f64| {
            // Stirling's formula has no zero; 0! = 1, and the constant is that of the others.
            if x == 0 {
                return mean - 0.5 * (2.0 * PI).ln();
            }
            mean * deviance(delta / mean) + stirling_error(x) + 0.5 * (x as f64).ln()
        };
        -unlikely(x, mean, delta) - unlikely(rest, others, -delta)
    }
}

fn by_rejection(n: u128, p: f64, stream: &mut Stream) -> u128 {
    let bell = Bell::new(n, p);
    let deviation = (bell.mean * (1.0 - p)).sqrt();
    // Constants of BTRS: a hat whose inverse distribution function is (2a/(1/2 − |u|) + b) u + c.
    let b = 1.15 + 2.53 * deviation;
    let a = -0.0873 + 0.0248 * b + 0.01 * p;
    let alpha = (2.83 + 5.1 / b) * deviation;
    let sure = 0.92 - 4.2 / b;
    loop {
        let v = stream.uniform();
        let u = stream.uniform() - 0.5;
        let edge = 0.5 - u.abs();
        // Counted from the mode, so that the last digits of large numbers are as random as the first. At the edge it is infinite.
        let above = ((2.0 * a / edge + b) * u + bell.offset + 0.5).floor() as i128;
        let Some(x) = bell.mode.checked_add_signed(above).filter(|&x| x <= n) else { continue };
        if edge >= 0.07 && v <= sure {
            return x;
        }
        let accepted = (v * alpha / (a / (edge * edge) + b)).ln();
        if accepted <= bell.log_probability(above) - bell.peak {
            return x;
        }
    }
}

/// $D(1+e) = (1+e)\ln(1+e) - e$.
fn deviance(e: f64) -> f64 {
    if e.abs() > 0.1 {
        return (1.0 + e) * e.ln_1p() - e;
    }
    // e²/2 − e³/6 + e⁴/12 − …
    (2..20).rev().fold(0.0, |sum, j| 1.0 / f64::from(j * (j - 1)) - e * sum) * e * e
}

/// $\ln x! - \ln\sqrt{2\pi x}(x/e)^x$, for x > 0.
fn stirling_error(x: u128) -> f64 {
    let y = x as f64;
    if x < 16 {
        let factorial: f64 = (1..=x).map(|i| i as f64).product();
        return factorial.ln() - 0.5 * (2.0 * PI * y).ln() - y * y.ln() + y;
    }
    let z = 1.0 / (y * y);
    (1.0 / 12.0 - z * (1.0 / 360.0 - z * (1.0 / 1260.0 - z * (1.0 / 1680.0 - z / 1188.0)))) / y
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;
    use rand_distr::Distribution;

    /// Probabilities of 0, 1, … by the ratio of neighbours from the mode outwards, normalised: shares nothing with the sampler.
    fn probabilities(n: f64, p: f64, from: u64, to: u64) -> Vec<f64> {
        let ratio = |x: f64| (n - x) / (x + 1.0) * p / (1.0 - p);
        let mode = ((n * p) as u64).clamp(from, to);
        let mut f = vec![0.0; (to - from + 1) as usize];
        f[(mode - from) as usize] = 1.0;
        for x in mode..to {
            f[(x + 1 - from) as usize] = f[(x - from) as usize] * ratio(x as f64);
        }
        for x in (from..mode).rev() {
            f[(x - from) as usize] = f[(x + 1 - from) as usize] / ratio(x as f64);
        }
        let sum: f64 = f.iter().sum();
        f.into_iter().map(|x| x / sum).collect()
    }

    /// (χ² − ν)/√2ν of draws, those that are rare put together.
    fn excess(n: f64, p: f64, draws: &[u128]) -> f64 {
        let deviation = (n * p * (1.0 - p)).sqrt();
        let from = (n * p - 12.0 * deviation - 40.0).max(0.0) as u64;
        let to = (n * p + 12.0 * deviation + 40.0).min(n) as u64;
        let f = probabilities(n, p, from, to);
        let mut counted = vec![0.0; f.len()];
        draws.iter().for_each(|&x| counted[(x as u64 - from) as usize] += 1.0);
        // Cells of at least 30 expected draws.
        let total = draws.len() as f64;
        let (mut chi2, mut cells, mut expected, mut found) = (0.0, 0.0, 0.0, 0.0);
        for (f, c) in f.iter().zip(&counted) {
            expected += f * total;
            found += c;
            if expected >= 30.0 {
                chi2 += (found - expected) * (found - expected) / expected;
                (cells, expected, found) = (cells + 1.0, 0.0, 0.0);
            }
        }
        let freedom: f64 = cells - 1.0;
        if freedom < 1.0 { 0.0 } else { (chi2 - freedom) / (2.0 * freedom).sqrt() }
    }

    #[test]
    fn draws_follow_the_binomial_distribution_in_every_regime() {
        let total = 200_000;
        for (key, (n, p)) in [
            (1u128, 0.3),
            (5, 0.5),
            (7, 0.9),
            (20, 0.5),
            (21, 0.49),
            (40, 0.75),
            (100, 0.05),
            (100, 0.1),
            (1000, 0.0101),
            (1000, 0.37),
            (100_000, 1e-4),
            (100_000, 1e-3),
            (1 << 40, 2e-12),
            (1 << 40, 1e-9),
            (1 << 60, 1e-18),
            (1 << 60, 1e-17),
            (1 << 60, 1.1e-16),
            (1 << 60, 1e-15),
            (1 << 100, 1e-29),
            (1 << 100, 1e-28),
        ]
        .into_iter()
        .enumerate()
        {
            let mut stream = Stream::new(11, Purpose::Grinding, key as u64);
            let draws: Vec<u128> = (0..total).map(|_| binomial(n, p, &mut stream)).collect();
            let excess = excess(n as f64, p, &draws);
            assert!(excess.abs() < 4.0, "n = {n}, p = {p:e}: {excess}");
        }
    }

    /// Where counts are too many to tell apart: mean and variance, and that all last digits are drawn.
    #[test]
    fn large_numbers_have_the_right_mean_variance_and_last_digits() {
        let total = 100_000;
        for (key, (n, p)) in [(1u128 << 60, 0.3), (1 << 60, 0.7), (1 << 60, 1e-7), (1 << 100, 0.01), (1 << 50, 0.5)]
            .into_iter()
            .enumerate()
        {
            let mut stream = Stream::new(12, Purpose::Grinding, key as u64);
            let mean = n as f64 * p;
            let deviation = (mean * (1.0 - p)).sqrt();
            let centre = mean as u128;
            let draws: Vec<u128> = (0..total).map(|_| binomial(n, p, &mut stream)).collect();
            let z: Vec<f64> = draws.iter().map(|&x| (x as i128 - centre as i128) as f64 / deviation).collect();
            let average = z.iter().sum::<f64>() / f64::from(total);
            let square = z.iter().map(|z| z * z).sum::<f64>() / f64::from(total);
            // Four standard errors: 1/√N and √(2/N).
            assert!(
                average.abs() < 4.0 / f64::from(total).sqrt(),
                "n = {n}, p = {p}: mean off by {average} deviations"
            );
            assert!((square - 1.0).abs() < 4.0 * (2.0 / f64::from(total)).sqrt(), "n = {n}, p = {p}: {square}");
            let odd = draws.iter().filter(|&x| x % 2 == 1).count() as f64;
            assert!((odd - 5e4).abs() < 4.0 * 5e4f64.sqrt(), "n = {n}, p = {p}: {odd} odd");
        }
    }

    #[test]
    fn the_binomial_of_rand_distr_is_the_same_where_it_holds_and_not_where_it_does_not() {
        let mut stream = Stream::new(13, Purpose::Grinding, 0);
        for (n, p) in [(50u64, 0.1), (1000, 0.3), (1 << 30, 1e-7)] {
            let theirs = rand_distr::Binomial::new(n, p).unwrap();
            let draws: Vec<u128> = (0..100_000).map(|_| u128::from(theirs.sample(&mut stream))).collect();
            assert!(excess(n as f64, p, &draws).abs() < 4.0, "n = {n}, p = {p}");
        }
        // 1 − p is rounded: the reason for a sampler of our own. When this fails, look whether theirs can be used.
        let (n, p) = (1u64 << 55, 1.6e-16);
        let theirs = rand_distr::Binomial::new(n, p).unwrap();
        let draws: Vec<u128> = (0..100_000).map(|_| u128::from(theirs.sample(&mut stream))).collect();
        assert!(excess(n as f64, p, &draws) > 1000.0);
    }

    #[test]
    fn logarithms_of_probabilities_are_those_of_the_recurrence() {
        for (n, p) in [(25u128, 0.45), (100, 0.1), (1000, 0.5), (1 << 20, 1e-4), (1 << 40, 1e-10)] {
            let bell = Bell::new(n, p);
            let deviation = (n as f64 * p * (1.0 - p)).sqrt();
            let reach = ((6.0 * deviation) as i128).min(bell.mode as i128).min((n - bell.mode) as i128);
            let mut log = 0.0;
            for above in 0..reach {
                let x = (bell.mode as i128 + above) as f64;
                log += ((n as f64 - x) / (x + 1.0) * p / (1.0 - p)).ln();
                let found = bell.log_probability(above + 1) - bell.peak;
                assert!((found - log).abs() < 1e-11, "n = {n}, p = {p}, {above}: {found} for {log}");
            }
            let mut log = 0.0;
            for below in 0..reach {
                let x = (bell.mode as i128 - below) as f64;
                log -= ((n as f64 - x + 1.0) / x * p / (1.0 - p)).ln();
                let found = bell.log_probability(-below - 1) - bell.peak;
                assert!((found - log).abs() < 1e-11, "n = {n}, p = {p}, -{below}: {found} for {log}");
            }
        }
    }
}
