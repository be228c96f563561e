//! Random numbers from a counter: a draw depends only on (seed, purpose, key), never on what was drawn elsewhere.
//!
//! [`Stream`] is ChaCha with 8 rounds; seed and purpose make its cipher key, `key` its stream number. A stream is cheap to
//! open (its first number costs four blocks of the cipher): open one per grain instead of passing a generator around.
//! Two streams that differ in any of the three are independent. [`key`] packs a group and a counter into one key.

use crate::math::Vec3;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Infallible, Rng, SeedableRng, TryRng};
use rand_distr::{Distribution, UnitBall, UnitCircle, UnitDisc, UnitSphere};

/// What a stream of random numbers is drawn for. The numbers are part of a run's meaning: never renumber.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u64)]
pub enum Purpose {
    /// Places of grains of a fill.
    Fill = 1,
    /// Radii.
    Size = 2,
    /// Initial velocities and spins.
    Velocity = 3,
    /// Places of grains of a feed.
    Feed = 4,
    /// Waiting times of a feed.
    Arrival = 5,
    /// Choice and order of lattice cells.
    Shuffle = 6,
    /// Orientations of grains that are not spheres.
    Orientation = 7,
    /// Noise during a run, such as thermal kicks or driving.
    Noise = 8,
    /// Points of a parameter study.
    Study = 9,
    /// Grains that split in a mill.
    Grinding = 10,
}

/// The key of number `index` of group `group`: 16 bits for the group, 48 for the index.
pub const fn key(group: u16, index: u64) -> u64 {
    ((group as u64) << 48) | (index & ((1 << 48) - 1))
}

/// A stream of random numbers that belongs to one (seed, purpose, key). Implements the `rand` traits.
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// Opens the stream.
    pub fn new(seed: u64, purpose: Purpose, key: u64) -> Stream {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        bytes[8..16].copy_from_slice(&(purpose as u64).to_le_bytes());
        let mut rng = ChaCha8Rng::from_seed(bytes);
        rng.set_stream(key);
        Stream(rng)
    }

    /// Uniform in (0, 1], in steps of 2⁻⁵³.
    pub fn uniform(&mut self) -> f64 {
        ((self.next_u64() >> 11) + 1) as f64 * (0.5f64).powi(53)
    }

    /// Uniform in (min, max].
    pub fn between(&mut self, min: f64, max: f64) -> f64 {
        min + (max - min) * self.uniform()
    }

    /// Uniform among 0, 1, …, n − 1; 0 when `n` is 0. Exact: the uneven rest of 2⁶⁴ / n is drawn again.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 {
            return 0;
        }
        let rest = n.wrapping_neg() % n;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(n);
            if product as u64 >= rest {
                return (product >> 64) as u64;
            }
        }
    }

    /// Uniform direction: on the unit circle of the x-y plane when `planar`, else on the unit sphere.
    pub fn direction(&mut self, planar: bool) -> Vec3 {
        if planar {
            let [x, y]: [f64; 2] = UnitCircle.sample(self);
            Vec3::new(x, y, 0.0)
        } else {
            Vec3::from_array(UnitSphere.sample(self))
        }
    }

    /// Uniform in the unit ball, or in the unit disc of the x-y plane when `planar`.
    pub fn in_ball(&mut self, planar: bool) -> Vec3 {
        if planar {
            let [x, y]: [f64; 2] = UnitDisc.sample(self);
            Vec3::new(x, y, 0.0)
        } else {
            Vec3::from_array(UnitBall.sample(self))
        }
    }

    /// Waiting time \[s\] of a Poisson process of `rate` \[1/s\]: $-\ln\xi/\lambda$ with $\xi\in(0,1]$ (Gavrilov 1999, 5.26).
    pub fn waiting_time(&mut self, rate: f64) -> f64 {
        -self.uniform().ln() / rate
    }
}

impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_depends_only_on_seed_purpose_and_key() {
        let draw = |seed, purpose, key| Stream::new(seed, purpose, key).next_u64();
        let mut busy = Stream::new(7, Purpose::Fill, 3);
        for _ in 0..1000 {
            busy.next_u64();
        }
        assert_eq!(draw(7, Purpose::Fill, 4), draw(7, Purpose::Fill, 4));
        let all = [
            draw(7, Purpose::Fill, 4),
            draw(8, Purpose::Fill, 4),
            draw(7, Purpose::Size, 4),
            draw(7, Purpose::Fill, 5),
            draw(7, Purpose::Fill, key(1, 4)),
        ];
        for i in 0..all.len() {
            for j in 0..i {
                assert_ne!(all[i], all[j]);
            }
        }
    }

    #[test]
    fn first_draws_of_successive_keys_are_uniform_and_uncorrelated() {
        let n = 40_000;
        let x: Vec<f64> = (0..n).map(|k| Stream::new(1, Purpose::Size, k).uniform() - 0.5).collect();
        let mean = x.iter().sum::<f64>() / n as f64;
        let variance = x.iter().map(|v| v * v).sum::<f64>() / n as f64;
        let lag = x.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / n as f64;
        // Four standard deviations each: sqrt(1/12n), sqrt(1/180n), 1/(12 sqrt n).
        assert!(mean.abs() < 4.0 * (1.0 / 12.0 / n as f64).sqrt());
        assert!((variance - 1.0 / 12.0).abs() < 4.0 * (1.0 / 180.0 / n as f64).sqrt());
        assert!(lag.abs() < 4.0 / 12.0 / (n as f64).sqrt());
    }

    #[test]
    fn uniform_never_gives_zero_and_can_give_one() {
        assert!(((u64::MAX >> 11) + 1) as f64 * (0.5f64).powi(53) == 1.0);
        let mut s = Stream::new(2, Purpose::Noise, 0);
        assert!((0..100_000).map(|_| s.uniform()).all(|u| u > 0.0 && u <= 1.0));
    }

    #[test]
    fn directions_are_unit_vectors_with_the_moments_of_circle_and_sphere() {
        let n = 20_000;
        for planar in [true, false] {
            let mut s = Stream::new(3, Purpose::Velocity, 0);
            let (mut sum, mut squares) = (Vec3::ZERO, Vec3::ZERO);
            for _ in 0..n {
                let d = s.direction(planar);
                assert!((d.length() - 1.0).abs() < 1e-12);
                assert!(!planar || d.z == 0.0);
                sum += d;
                squares += d * d;
            }
            let share = if planar { 0.5 } else { 1.0 / 3.0 };
            assert!(sum.length() / (n as f64) < 0.03);
            assert!((squares.x / n as f64 - share).abs() < 0.015 && (squares.y / n as f64 - share).abs() < 0.015);
        }
    }

    #[test]
    fn integers_below_six_are_fair() {
        let mut s = Stream::new(4, Purpose::Shuffle, 0);
        let mut count = [0.0f64; 6];
        for _ in 0..60_000 {
            count[s.below(6) as usize] += 1.0;
        }
        let chi2: f64 = count.iter().map(|c| (c - 1e4).powi(2) / 1e4).sum();
        assert!(chi2 < 20.5, "chi² with 5 degrees of freedom: {chi2}"); // 99.9 %
        assert_eq!(s.below(0), 0);
    }
}
