//! Latin hypercubes: n points, and along every axis one of them in each n-th of the range.
//!
//! McKay, Beckman & Conover, *Technometrics* 21 (1979) 239: along each axis the strata are shuffled, and a point lies
//! anywhere in its own.

use esker::rng::{Purpose, Stream};

/// `n` points in the unit cube of so many dimensions, the same for the same seed.
pub fn hypercube(n: usize, dimensions: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut points = vec![Vec::with_capacity(dimensions); n];
    for axis in 0..dimensions {
        let mut stream = Stream::new(seed, Purpose::Study, axis as u64);
        let mut strata: Vec<usize> = (0..n).collect();
        for k in (1..n).rev() {
            strata.swap(k, stream.below(k as u64 + 1) as usize);
        }
        for (point, stratum) in points.iter_mut().zip(strata) {
            // `uniform` is above 0 and may be 1: the lower end belongs to the stratum, the upper to the next.
            point.push((stratum as f64 + (1.0 - stream.uniform())) / n as f64);
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stratum_of_every_axis_has_one_point() {
        for (n, dimensions) in [(1, 1), (7, 2), (100, 5)] {
            let points = hypercube(n, dimensions, 42);
            for axis in 0..dimensions {
                let mut hit: Vec<usize> = points.iter().map(|p| (p[axis] * n as f64) as usize).collect();
                hit.sort_unstable();
                assert_eq!(hit, (0..n).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn axes_are_shuffled_apart_and_the_seed_alone_decides() {
        let points = hypercube(50, 2, 1);
        assert_eq!(points, hypercube(50, 2, 1));
        assert_ne!(points, hypercube(50, 2, 2));
        // Correlation of two independent orders of 50: standard deviation 1/7.
        let mean = |axis: usize| points.iter().map(|p| p[axis]).sum::<f64>() / 50.0;
        let (a, b) = (mean(0), mean(1));
        let product = points.iter().map(|p| (p[0] - a) * (p[1] - b)).sum::<f64>() / 50.0 * 12.0;
        assert!(product.abs() < 4.0 / 7.0, "{product}");
    }
}
