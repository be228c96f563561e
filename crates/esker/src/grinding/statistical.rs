//! Numbers of grains in the size classes, as they are drawn.
//!
//! In each impact every grain of class i splits with probability $p_i$, on its own: $N_i^c \sim \mathrm{Binomial}(N_i, p_i)$ of them leave, and
//! twice as many arrive in class i + 1, all classes drawn from the state before the impact (Gavrilov 1999, 3.23).
//! [`Baskets::impact`] does just that. A day of milling has 1e10 impacts; [`Baskets::grind`] draws batches of them, from the same distribution.
//!
//! # Why batches are exact
//!
//! Grains and their halves never know of each other, so each grain may be followed through a batch of n impacts by itself, and
//! those of a class are alike. By how often a grain and its pieces split within the batch, write $q = 1 - p$, and ′ and ″ for
//! the next class and the one after it:
//!
//! | splits | what is left | probability |
//! |---|---|---|
//! | 0 | the grain | $P_0 = q^n$ |
//! | 1 | two halves | $P_1 = p\sum_t q^{t-1}(q'^2)^{n-t} = p\,h_{n-1}(q, q'^2)$ |
//! | 2 | one half, two quarters | $P_2 = 2pp'q'\,h_{n-2}(q, q'^2, q'q''^2)$ |
//! | 3 or more | anything | the rest |
//!
//! with the complete homogeneous polynomials $h_j$: sums over the impacts in which the splits can happen. Grains of the last kind are
//! rare, as $(np)^3$, and are followed one by one. They are found by thinning: their first three splits are
//!
//! - the grain at impact $t_1$, both halves at $t_2$: probability $p\,q^{t_1-1}\,p'^2(q'^2)^{t_2-t_1-1}$, or
//! - the grain at $t_1$, one half at $t_2$, at least one of the half and the two quarters at $t_3$: probability
//!   $p\,q^{t_1-1}\;2p'q'(q'^2)^{t_2-t_1-1}\;u(1-u)^{t_3-t_2-1}$, $u = 1 - q'q''^2$.
//!
//! Without their powers these are constants, so that candidates are Binomial(N, their sum over all times) many, with times
//! that are uniform among pairs or triples of different impacts; each is kept with its powers as probability. What is kept is exactly
//! distributed as the grains with three splits or more, number and times, and their pieces go on with geometric waiting times. The other
//! grains have 0, 1 or 2 splits in the ratio $P_0:P_1:P_2$: two more binomial numbers.
//!
//! The size of a batch, a power of two, is chosen from the state before it, so that few grains need to be followed; classes with few
//! grains are followed grain by grain, however many times they split. The number of batches grows as the cube root of the
//! number of grains: a day of the mill of G-10, 8.64e9 impacts, takes 6 ms from one grain of 1 mm, 0.1 s from a thousand and
//! 0.8 s from a million, which become 1e15. Checked against the distribution of single impacts, exactly for few grains and by moments for
//! more, and against the closed form of the mean.

use super::binomial::binomial;
use super::{Chain, GrindingError};
use crate::rng::Stream;

/// Grains followed one by one in a batch, about: as much work as the rest of it.
const FOLLOWED: f64 = 16.0;

/// Largest number of impacts in a batch times a rate for which its probabilities are summed.
const SHORT: f64 = 0.5;

/// Numbers of grains in the size classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Baskets {
    counts: Vec<u128>,
}

impl Baskets {
    /// So many grains of class 0, which can be halved `last` times.
    pub fn new(grains: u128, last: usize) -> Result<Self, GrindingError> {
        if last >= 126 || grains >> (126 - last) != 0 {
            return Err(GrindingError::TooManyGrains { grains, splits: last });
        }
        let mut counts = vec![0; last + 1];
        counts[0] = grains;
        Ok(Self { counts })
    }

    /// Number of grains in each class.
    pub fn counts(&self) -> &[u128] {
        &self.counts
    }

    /// Whether all grains are in the last class.
    pub fn all_ground(&self) -> bool {
        self.counts.split_last().is_none_or(|(_, others)| others.iter().all(|&n| n == 0))
    }

    /// One impact: the rule as it is written.
    pub fn impact(&mut self, chain: &Chain, stream: &mut Stream) {
        let last = self.counts.len() - 1;
        let split: Vec<u128> = (0..last).map(|i| binomial(self.counts[i], chain.probability(i), stream)).collect();
        for (i, n) in split.into_iter().enumerate() {
            self.counts[i] -= n;
            self.counts[i + 1] += 2 * n;
        }
    }

    /// So many impacts, in batches.
    pub fn grind(&mut self, batches: &mut Batches, impacts: u64, stream: &mut Stream) {
        let mut left = impacts;
        while left > 0 && !self.all_ground() {
            let size = batches.choose(&self.counts).min(left.ilog2());
            self.batch(batches.of(size), stream);
            left -= 1 << size;
        }
    }

    fn batch(&mut self, batch: &Batch, stream: &mut Stream) {
        let last = self.counts.len() - 1;
        let mut after = vec![0; last + 1];
        after[last] = self.counts[last];
        for i in (0..last).filter(|&i| self.counts[i] > 0) {
            match &batch.classes[i] {
                Fate::Summed(sums) => batch.draw(i, sums, self.counts[i], &mut after, stream),
                Fate::Followed { .. } => {
                    (0..self.counts[i]).for_each(|_| batch.follow(i, batch.impacts, &mut after, stream))
                }
            }
        }
        self.counts = after;
    }
}

/// What a chain does in batches of 1, 2, 4, … impacts; kept from one call of [`Baskets::grind`] to the next.
#[derive(Clone, Debug)]
pub struct Batches {
    chain: Chain,
    /// Batch of $2^j$ impacts at j, made when it is first wanted.
    made: Vec<Option<Batch>>,
    /// Exponent of the last batch.
    size: u32,
}

impl Batches {
    /// For a chain.
    pub fn new(chain: &Chain) -> Self {
        Self { chain: chain.clone(), made: vec![None; 64], size: 0 }
    }

    fn of(&mut self, size: u32) -> &Batch {
        self.made[size as usize].get_or_insert_with(|| Batch::new(&self.chain, 1 << size))
    }

    /// Exponent of the largest batch in which few grains are expected to be followed.
    fn choose(&mut self, counts: &[u128]) -> u32 {
        while self.size > 0 && self.of(self.size).followed(counts) > FOLLOWED {
            self.size -= 1;
        }
        while self.size < 62 && self.of(self.size + 1).followed(counts) <= FOLLOWED {
            self.size += 1;
        }
        self.size
    }
}

/// What becomes of grains in so many impacts.
#[derive(Clone, Debug)]
struct Batch {
    chain: Chain,
    impacts: u64,
    classes: Vec<Fate>,
}

/// How the grains of a class go through a batch.
#[derive(Clone, Debug)]
enum Fate {
    /// All at once, but for a few.
    Summed(Sums),
    /// One by one; each takes about this many splits.
    Followed { splits: f64 },
}

impl Batch {
    fn new(chain: &Chain, impacts: u64) -> Self {
        let n = impacts as f64;
        // Expected splits of a grain and its pieces, from above.
        let mut splits = 0.0;
        let mut classes: Vec<Fate> = (0..chain.last())
            .rev()
            .map(|i| {
                splits = (n * chain.probability(i)).min(1.0) * (1.0 + 2.0 * splits);
                let short = impacts <= 2 || n * largest(rates(chain, i)) <= SHORT;
                if short { Fate::Summed(Sums::new(chain, i, impacts)) } else { Fate::Followed { splits } }
            })
            .collect();
        classes.reverse();
        Self { chain: chain.clone(), impacts, classes }
    }

    /// Grains and pieces that are to be followed one by one, about.
    fn followed(&self, counts: &[u128]) -> f64 {
        let of = |(fate, &n): (&Fate, &u128)| match fate {
            Fate::Summed(sums) => n as f64 * (sums.both + sums.one),
            Fate::Followed { splits } => n as f64 * (1.0 + splits),
        };
        self.classes.iter().zip(counts).map(of).sum()
    }

    /// So many grains of a class at once.
    fn draw(&self, class: usize, sums: &Sums, grains: u128, after: &mut [u128], stream: &mut Stream) {
        let candidates = binomial(grains, sums.both + sums.one, stream);
        let often = (0..candidates).filter(|_| self.follow_candidate(class, sums, after, stream)).count() as u128;
        let split = binomial(grains - often, sums.split, stream);
        let twice = binomial(split, sums.twice, stream);
        after[class] += grains - often - split;
        after[class + 1] += 2 * (split - twice) + twice;
        if twice > 0 {
            after[class + 2] += 2 * twice;
        }
    }

    /// Follows a candidate for three splits or more, and tells whether it is one.
    fn follow_candidate(&self, class: usize, sums: &Sums, after: &mut [u128], stream: &mut Stream) -> bool {
        let [p, next, second] = [0, 1, 2].map(|j| self.chain.probability(class + j));
        let [log_q, log_next, log_second] = [p, next, second].map(|p| (-p).ln_1p());
        if stream.uniform() * (sums.both + sums.one) <= sums.both {
            let [t1, t2] = instants(self.impacts, stream);
            let kept = (t1 - 1) as f64 * log_q + (t2 - t1 - 1) as f64 * 2.0 * log_next;
            if stream.uniform() > kept.exp() {
                return false;
            }
            (0..4).for_each(|_| self.follow(class + 2, self.impacts - t2, after, stream));
            return true;
        }
        let [t1, t2, t3] = instants(self.impacts, stream);
        let kept = (t1 - 1) as f64 * log_q
            + (t2 - t1 - 1) as f64 * 2.0 * log_next
            + (t3 - t2 - 1) as f64 * (log_next + 2.0 * log_second);
        if stream.uniform() > kept.exp() {
            return false;
        }
        // At least one of half and quarters splits at t3: each in turn, given that none before it did.
        let quarters = second * (2.0 - second);
        let half = stream.uniform() <= next / (next + (1.0 - next) * quarters);
        let first = stream.uniform() <= if half { second } else { second / quarters };
        let other = stream.uniform() <= if half || first { second } else { 1.0 };
        for (class, splits) in [(class + 1, half), (class + 2, first), (class + 2, other)] {
            let pieces = if splits { 2 } else { 1 };
            (0..pieces).for_each(|_| self.follow(class + pieces - 1, self.impacts - t3, after, stream));
        }
        true
    }

    /// Follows a grain through so many impacts.
    fn follow(&self, class: usize, impacts: u64, after: &mut [u128], stream: &mut Stream) {
        let mut waiting = vec![(class, impacts)];
        while let Some((class, impacts)) = waiting.pop() {
            match first_split(self.chain.probability(class), impacts, stream) {
                None => after[class] += 1,
                Some(t) => waiting.extend([(class + 1, impacts - t); 2]),
            }
        }
    }
}

/// In which of so many impacts, counted from 1, a grain splits, if it does: geometric, by inversion.
fn first_split(p: f64, impacts: u64, stream: &mut Stream) -> Option<u64> {
    if p == 0.0 || impacts == 0 {
        return None;
    }
    let before = stream.uniform().ln() / (-p).ln_1p();
    (before < impacts as f64).then(|| before as u64 + 1)
}

/// Different impacts of so many, counted from 1, in order; every choice is equally probable.
fn instants<const N: usize>(impacts: u64, stream: &mut Stream) -> [u64; N] {
    loop {
        let mut t = [(); N].map(|()| stream.below(impacts) + 1);
        t.sort_unstable();
        if t.windows(2).all(|two| two[0] < two[1]) {
            return t;
        }
    }
}

/// Probabilities of a grain in a batch.
#[derive(Clone, Debug)]
struct Sums {
    /// That a grain with at most two splits has any: $(P_1+P_2)/(P_0+P_1+P_2)$.
    split: f64,
    /// That a grain with one or two splits has two: $P_2/(P_1+P_2)$.
    twice: f64,
    /// Of candidates whose halves split together: $\binom n2pp'^2$.
    both: f64,
    /// Of candidates one of whose halves splits first: $\binom n3\,2pp'q'u$.
    one: f64,
}

/// Probabilities that in an impact a grain of a class, its two halves, a half and two quarters do not stay as they are; zeros if the
/// grain never splits.
fn rates(chain: &Chain, class: usize) -> [f64; 3] {
    let [p, next, second] = [0, 1, 2].map(|j| chain.probability(class + j));
    if p == 0.0 {
        return [0.0; 3];
    }
    [p, next * (2.0 - next), next + (1.0 - next) * second * (2.0 - second)]
}

fn largest(rates: [f64; 3]) -> f64 {
    rates.into_iter().fold(0.0, f64::max)
}

impl Sums {
    /// Of a class.
    fn new(chain: &Chain, class: usize, impacts: u64) -> Self {
        let [p, next] = [0, 1].map(|j| chain.probability(class + j));
        if p == 0.0 {
            return Self { split: 0.0, twice: 0.0, both: 0.0, one: 0.0 };
        }
        let u = rates(chain, class);
        let n = impacts as f64;
        let none = (n * (-p).ln_1p()).exp();
        let once = p * complete(impacts, [u[0], u[1]]);
        let twice = 2.0 * p * next * (1.0 - next) * complete(impacts, u);
        let pairs = n * (n - 1.0) / 2.0;
        let triples = pairs * (n - 2.0) / 3.0;
        Self {
            split: (once + twice) / (none + once + twice),
            twice: twice / (once + twice),
            both: pairs * p * next * next,
            one: triples * 2.0 * p * next * (1.0 - next) * u[2],
        }
    }
}

/// $h_{n-m}(1-u_0, \ldots, 1-u_m) = \sum_j(-1)^j\binom n{j+m}h_j(u_0, \ldots, u_m)$: the divided difference of $x^n$ near 1, without
/// differences of what is nearly equal. For n u up to a half, or small n.
fn complete<const N: usize>(n: u64, u: [f64; N]) -> f64 {
    let order = N as u64 - 1;
    let mut choices: f64 = (0..order).map(|j| (n as f64 - j as f64) / (j + 1) as f64).product();
    let mut h = [1.0; N];
    let (mut sum, mut sign) = (0.0, 1.0);
    for j in order.. {
        let term = choices * h[N - 1];
        sum += sign * term;
        if term <= 1e-20 * sum || choices <= 0.0 {
            break;
        }
        // h_{j+1}(u_0 … u_m) = h_{j+1}(u_0 … u_{m−1}) + u_m h_j(u_0 … u_m)
        h[0] *= u[0];
        for m in 1..N {
            h[m] = h[m - 1] + u[m] * h[m];
        }
        choices *= (n as f64 - j as f64) / (j + 1) as f64;
        sign = -sign;
    }
    sum
}

#[cfg(test)]
mod tests;
