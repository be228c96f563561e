//! Stress in a silo after Janssen: friction on the walls takes over the weight, so that pressure grows towards a limit.
//!
//! A slice of the fill between vertical walls is in balance if the weight \\(w\\) per volume is carried by the change of the vertical stress
//! and by walls on which friction is mobilised, \\(\tau=\mu p_w\\), with \\(p_w=k\sigma_v\\) everywhere:
//!
//! $$p_w(z)=\frac{wL}{\mu}\left(1-e^{-\mu kz/L}\right),\qquad \sigma_v=p_w/k$$
//!
//! with \\(L\\) the area of the cross-section over its perimeter: half the width of a planar silo, half the radius of a round one. Janssen,
//! Zeitschrift des Vereines deutscher Ingenieure 39 (1895) 1045; planar as Gavrilov (1999) compares it with his figure 4.11.

/// A silo as Janssen sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Janssen {
    /// Weight of the fill per volume, \\(\rho_b g\\) \[N/m³\].
    pub weight: f64,
    /// Friction on the walls, \\(\mu\\) \[-\].
    pub friction: f64,
    /// Area of the cross-section over its perimeter, \\(L\\) \[m\].
    pub length: f64,
    /// Pressure on the walls over vertical stress, \\(k\\) \[-\].
    pub ratio: f64,
}

/// Pressure on a wall between two depths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strip {
    /// Depths of its upper and lower end below the surface \[m\].
    pub depths: [f64; 2],
    /// Mean pressure \[Pa\].
    pub pressure: f64,
}

/// The ratio that fits some strips best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Pressure on the walls over vertical stress \[-\].
    pub ratio: f64,
    /// Share of the scatter of the pressures that the curve explains: 1 for all of it \[-\].
    pub r_squared: f64,
}

/// Ratios among which one is looked for: those of bulk solids lie between 0.2 and 1.2.
const RATIOS: [f64; 2] = [1e-3, 1e2];
/// Steps of a first look at them.
const LOOKS: usize = 200;

impl Janssen {
    /// Pressure on the walls at a depth below the surface \[Pa\].
    pub fn wall_pressure(&self, depth: f64) -> f64 {
        -self.limit() * (-self.rate() * depth).exp_m1()
    }

    /// Vertical stress at a depth \[Pa\].
    pub fn vertical_stress(&self, depth: f64) -> f64 {
        self.wall_pressure(depth) / self.ratio
    }

    /// Pressure on the walls far below the surface \[Pa\].
    pub fn limit(&self) -> f64 {
        self.weight * self.length / self.friction
    }

    /// Mean pressure on the walls between two depths \[Pa\].
    pub fn mean_pressure(&self, [from, to]: [f64; 2]) -> f64 {
        let x = self.rate() * (to - from);
        // The mean of exp(-x) over an interval that is too short for its difference.
        let mean = if x < 1e-5 { 1.0 - 0.5 * x } else { -(-x).exp_m1() / x };
        self.limit() * (1.0 - (-self.rate() * from).exp() * mean)
    }

    /// Of the depth, in the exponent \[1/m\].
    fn rate(&self) -> f64 {
        self.friction * self.ratio / self.length
    }

    /// The ratio for which the curve is nearest to the strips, by least squares, everything else being known. `None` with fewer than two
    /// strips, or where all have the same pressure.
    pub fn fit(&self, strips: &[Strip]) -> Option<Fit> {
        let n = strips.len() as f64;
        let mean = strips.iter().map(|s| s.pressure).sum::<f64>() / n;
        let scatter: f64 = strips.iter().map(|s| (s.pressure - mean).powi(2)).sum();
        let known = self.weight > 0.0 && self.friction > 0.0 && self.length > 0.0;
        if strips.len() < 2 || !known || !scatter.is_normal() {
            return None;
        }
        let left = |logarithm: f64| -> f64 {
            let silo = Janssen { ratio: logarithm.exp(), ..*self };
            strips.iter().map(|s| (s.pressure - silo.mean_pressure(s.depths)).powi(2)).sum()
        };
        let [low, high] = RATIOS.map(f64::ln);
        let step = (high - low) / LOOKS as f64;
        let at = |k: usize| low + step * k as f64;
        let best = (0..=LOOKS).min_by(|&a, &b| left(at(a)).total_cmp(&left(at(b)))).expect("there are some");
        let ratio = least([at(best.saturating_sub(1)), at((best + 1).min(LOOKS))], left);
        Some(Fit { ratio: ratio.exp(), r_squared: 1.0 - left(ratio) / scatter })
    }
}

/// Where a function is least, by golden section.
fn least([mut a, mut b]: [f64; 2], function: impl Fn(f64) -> f64) -> f64 {
    let golden = 0.5 * (5f64.sqrt() - 1.0);
    // Near its least value a function is even: nothing is gained beyond the root of the last digit.
    while b - a > 1e-9 {
        let (c, d) = (b - golden * (b - a), a + golden * (b - a));
        if function(c) < function(d) { b = d } else { a = c }
    }
    0.5 * (a + b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The silo of Gavrilov, section 4.7.
    const SILO: Janssen = Janssen { weight: 0.84 * 1190.0 * 9.8, friction: 0.33, length: 0.15, ratio: 0.5 };

    #[test]
    fn near_the_surface_it_is_a_liquid_and_far_below_a_constant() {
        let z = 1e-6;
        assert!((SILO.wall_pressure(z) / (SILO.ratio * SILO.weight * z) - 1.0).abs() < 1e-5);
        assert!((SILO.vertical_stress(z) / (SILO.weight * z) - 1.0).abs() < 1e-5);
        // w W/(2 mu), between the 4.2 and 4.7 kPa of the digest for 0.80 to 0.88 of the density.
        assert!((SILO.limit() - SILO.weight * 0.3 / 0.66).abs() < 1e-9 && (4.2e3..4.7e3).contains(&SILO.limit()));
        assert!((SILO.wall_pressure(100.0) / SILO.limit() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_slice_is_in_balance() {
        let (z, h) = (0.4, 1e-4);
        let change = (SILO.vertical_stress(z + h) - SILO.vertical_stress(z - h)) / (2.0 * h);
        let carried = change + SILO.friction * SILO.wall_pressure(z) / SILO.length;
        assert!((carried / SILO.weight - 1.0).abs() < 1e-8, "{carried}");
    }

    #[test]
    fn the_mean_over_a_strip_is_that_of_its_points() {
        for to in [0.3 + 1e-9, 0.301, 0.9] {
            let n = 10_000;
            let point = |k: usize| SILO.wall_pressure(0.3 + (to - 0.3) * (k as f64 + 0.5) / n as f64);
            let mean = (0..n).map(point).sum::<f64>() / n as f64;
            assert!((SILO.mean_pressure([0.3, to]) / mean - 1.0).abs() < 1e-9, "{to}");
        }
    }

    #[test]
    fn too_little_to_fit_is_told() {
        let strip = |pressure: f64| Strip { depths: [0.1, 0.2], pressure };
        assert_eq!(SILO.fit(&[strip(1.0)]), None);
        assert_eq!(SILO.fit(&[strip(1.0), strip(1.0)]), None);
        assert_eq!(Janssen { friction: 0.0, ..SILO }.fit(&[strip(1.0), strip(2.0)]), None);
    }

    proptest! {
        #[test]
        fn exact_pressures_give_back_the_ratio(ratio in 0.05..3.0f64, friction in 0.1..0.8f64, length in 0.01..1.0f64) {
            let silo = Janssen { weight: 1e4, friction, length, ratio };
            let strips: Vec<Strip> = (0..8)
                .map(|k| [0.5 * length * f64::from(k), 0.5 * length * f64::from(k + 1)])
                .map(|depths| Strip { depths, pressure: silo.mean_pressure(depths) })
                .collect();
            let fit = Janssen { ratio: 1.0, ..silo }.fit(&strips).unwrap();
            prop_assert!((fit.ratio / ratio - 1.0).abs() < 1e-6, "{fit:?}");
            prop_assert!(fit.r_squared > 1.0 - 1e-12);
        }
    }
}
