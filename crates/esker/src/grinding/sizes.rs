//! Size classes, and what the powder is made of by number and by mass.

use super::{GrindingError, positive};

/// Radii of grains that are halved again and again: $r_i = r_0\,2^{-i/3}$, $i = 0 \ldots k$ (Gavrilov 1999, 3.22), with
/// $k = \lceil 3\log_2(r_0/r_\mathrm{min})\rceil$: the last class is the first that is no larger than the smallest radius.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeClasses {
    largest: f64,
    last: usize,
}

impl SizeClasses {
    /// Classes from the radius of the beginning to the one that splits no more \[m\].
    pub fn new(largest: f64, smallest: f64) -> Result<Self, GrindingError> {
        positive("the radius at the beginning", largest, "m")?;
        positive("the smallest radius", smallest, "m")?;
        if smallest >= largest {
            return Err(GrindingError::NothingToGrind { largest, smallest });
        }
        // A ratio that is a power of the cube root of two is meant, but may be rounded.
        let exact = 3.0 * (largest / smallest).log2();
        let last = if (exact - exact.round()).abs() < 1e-9 { exact.round() } else { exact.ceil() };
        Ok(Self { largest, last: (last as usize).max(1) })
    }

    /// Index of the last class, whose grains stay whole; there are so many and one classes.
    pub fn last(&self) -> usize {
        self.last
    }

    /// Radius of a class \[m\].
    pub fn radius(&self, class: usize) -> f64 {
        self.largest * (-(class as f64) / 3.0).exp2()
    }

    /// All radii, the largest first \[m\].
    pub fn radii(&self) -> Vec<f64> {
        (0..=self.last).map(|i| self.radius(i)).collect()
    }
}

/// Shares of the size classes, the largest grains first. Each adds up to one.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// Of the mass.
    pub mass: Vec<f64>,
    /// Of the number of grains.
    pub number: Vec<f64>,
}

impl Distribution {
    /// From masses of any unit: a grain of class i is $2^{-i}$ of one at the beginning.
    pub fn from_masses(masses: &[f64]) -> Self {
        // Counted in grains of the last class, so that no power overflows.
        let last = masses.len() as i32 - 1;
        let numbers = masses.iter().zip(0..).map(|(x, i)| x * 2f64.powi(i - last)).collect();
        Self { mass: shares(masses.to_vec()), number: shares(numbers) }
    }

    /// From numbers of grains.
    pub fn from_counts(counts: &[u128]) -> Self {
        let masses = counts.iter().zip(0..).map(|(&n, i)| n as f64 * 2f64.powi(-i)).collect();
        Self { mass: shares(masses), number: shares(counts.iter().map(|&n| n as f64).collect()) }
    }

    /// Share of the mass in grains of a class or smaller, for each class.
    pub fn cumulative_mass(&self) -> Vec<f64> {
        let mut sum = 0.0;
        let mut below: Vec<f64> = self
            .mass
            .iter()
            .rev()
            .map(|x| {
                sum += x;
                sum
            })
            .collect();
        below.reverse();
        below
    }

    /// Radius below which a share of the mass is \[m\]: x10, x50, x90 for 0.1, 0.5, 0.9. The mass of a class counts as spread
    /// evenly over the logarithm of the radius, half way to the classes beside it.
    pub fn quantile(&self, classes: &SizeClasses, share: f64) -> f64 {
        let mut below = 0.0;
        for i in (0..self.mass.len()).rev() {
            let x = self.mass[i];
            if below + x >= share && x > 0.0 {
                let within = ((share - below) / x).clamp(0.0, 1.0);
                return classes.radius(i) * ((within - 0.5) / 3.0).exp2();
            }
            below += x;
        }
        classes.radius(0) * (0.5f64 / 3.0).exp2()
    }
}

/// Values over their sum.
fn shares(values: Vec<f64>) -> Vec<f64> {
    let sum: f64 = values.iter().sum();
    values.into_iter().map(|x| x / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_millimetre_is_halved_thirty_times_to_a_micrometre() {
        let classes = SizeClasses::new(1e-3, 1e-6).unwrap();
        assert_eq!(classes.last(), 30);
        assert!((classes.radius(30) - 0.9765625e-6).abs() < 1e-18 && (classes.radius(3) - 0.5e-3).abs() < 1e-18);
        // Two halves have the volume of the whole.
        for i in 0..30 {
            let volume = |r: f64| r.powi(3);
            assert!((2.0 * volume(classes.radius(i + 1)) / volume(classes.radius(i)) - 1.0).abs() < 1e-14);
        }
    }

    #[test]
    fn a_ratio_on_the_grid_ends_on_it() {
        for k in 1..=90 {
            assert_eq!(SizeClasses::new(2e-3, 2e-3 * (-f64::from(k) / 3.0).exp2()).unwrap().last(), k as usize);
        }
        assert!(SizeClasses::new(1e-6, 1e-3).is_err() && SizeClasses::new(1e-3, 1e-3).is_err());
        assert!(SizeClasses::new(f64::NAN, 1e-3).is_err() && SizeClasses::new(1.0, 0.0).is_err());
    }

    #[test]
    fn number_and_mass_tell_of_the_same_grains() {
        // One whole, two halves, four quarters: a third of the mass each.
        let counts = Distribution::from_counts(&[1, 2, 4]);
        let masses = Distribution::from_masses(&[5.0, 5.0, 5.0]);
        for i in 0..3 {
            assert!((counts.mass[i] - 1.0 / 3.0).abs() < 1e-15 && (masses.mass[i] - 1.0 / 3.0).abs() < 1e-15);
            assert!((counts.number[i] - f64::from(1 << i) / 7.0).abs() < 1e-15);
            assert!((counts.number[i] - masses.number[i]).abs() < 1e-15);
        }
        let below = masses.cumulative_mass();
        assert!((below[0] - 1.0).abs() < 1e-15 && (below[2] - 1.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn quantiles_go_evenly_through_the_logarithm_of_the_radius() {
        let classes = SizeClasses::new(1e-3, 1e-3 * (-2f64 / 3.0).exp2()).unwrap();
        let powder = Distribution::from_masses(&[1.0, 1.0, 1.0]);
        assert!((powder.quantile(&classes, 0.5) - classes.radius(1)).abs() < 1e-15);
        // From half a class below the last to half a class above the first.
        for (share, exponent) in [(0.0, -2.5), (1.0 / 3.0, -1.5), (1.0, 0.5), (0.9, 0.2)] {
            let expected = 1e-3 * (exponent / 3.0f64).exp2();
            assert!((powder.quantile(&classes, share) / expected - 1.0).abs() < 1e-12, "{share}");
        }
    }
}
