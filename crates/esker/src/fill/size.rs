//! Laws of grain size, weighted by number or by mass.
//!
//! A fill or a feed draws grains one by one, so it needs the law by number. A law given by mass (a sieve curve) has the
//! number density $n(r) \propto m(r)/r^d$, d = 3 for spheres and 2 for discs. The change is exact for every law: in closed
//! form for uniform, log-normal and sieve laws, by rejection under an exact ceiling for the normal law. A window
//! [min, max] cuts a law off (what falls outside is drawn again, never moved to the edge).
//! Checked by the Kolmogorov–Smirnov distance between drawn and stated cumulative curves.

use crate::rng::Stream;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use thiserror::Error;

/// What a fraction of a size law is a fraction of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// Fractions of the number of grains.
    #[default]
    Number,
    /// Fractions of the mass, as from sieving.
    Mass,
}

/// A law of grain radii. All lengths are radii \[m\].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SizeLaw {
    /// All grains alike.
    Single {
        /// The radius \[m\].
        radius: f64,
    },
    /// Constant density between two radii.
    Uniform {
        /// Smallest radius \[m\].
        min: f64,
        /// Largest radius \[m\].
        max: f64,
        /// Weight.
        #[serde(default)]
        by: By,
    },
    /// Gaussian density, cut off outside a window.
    Normal {
        /// Mean before cutting off \[m\].
        mean: f64,
        /// Standard deviation before cutting off \[m\].
        sd: f64,
        /// Smallest radius \[m\].
        min: f64,
        /// Largest radius \[m\].
        max: f64,
        /// Weight.
        #[serde(default)]
        by: By,
    },
    /// The logarithm of the radius is Gaussian; cut off outside a window.
    LogNormal {
        /// Median before cutting off \[m\].
        median: f64,
        /// Standard deviation of ln r, before cutting off.
        sigma: f64,
        /// Smallest radius \[m\].
        min: f64,
        /// Largest radius \[m\].
        max: f64,
        /// Weight.
        #[serde(default)]
        by: By,
    },
    /// A grading curve: straight between the edges.
    Sieve {
        /// Ascending radii \[m\], one more than there are fractions.
        edges: Vec<f64>,
        /// Fraction between one edge and the next; scaled to sum to 1.
        fractions: Vec<f64>,
        /// Weight.
        #[serde(default)]
        by: By,
    },
}

/// What is wrong with a size law.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SizeError {
    /// A length is not positive.
    #[error("{what} = {value} is not a positive length; give a radius above zero")]
    NotPositive {
        /// Which value.
        what: &'static str,
        /// The value given.
        value: f64,
    },
    /// The window is empty.
    #[error("the smallest radius {min} m is not below the largest {max} m; swap them, or use a single size")]
    Inverted {
        /// Smallest radius \[m\].
        min: f64,
        /// Largest radius \[m\].
        max: f64,
    },
    /// Hardly anything of the law lies in the window.
    #[error(
        "only {probability:.1e} of the law lies between {min} m and {max} m (at least 1e-6 is needed); widen the window or move the mean into it"
    )]
    EmptyWindow {
        /// Part of the law inside the window.
        probability: f64,
        /// Smallest radius \[m\].
        min: f64,
        /// Largest radius \[m\].
        max: f64,
    },
    /// The number of edges does not go with the number of fractions.
    #[error(
        "{edges} sieve edges do not go with {fractions} fractions; give one edge more than fractions, and at least one fraction"
    )]
    SieveLength {
        /// Number of edges.
        edges: usize,
        /// Number of fractions.
        fractions: usize,
    },
    /// A fraction is negative or all are zero.
    #[error("sieve fraction {index} is {value}; fractions must be finite, not negative, and not all zero")]
    SieveFraction {
        /// Index of the fraction.
        index: usize,
        /// Its value.
        value: f64,
    },
}

/// Least part of a normal or log-normal law that must lie in its window.
const LEAST_WINDOW: f64 = 1e-6;

impl SizeLaw {
    /// Normal by number, cut off at three standard deviations (and at a hundredth of the mean).
    pub fn normal(mean: f64, sd: f64) -> SizeLaw {
        SizeLaw::Normal { mean, sd, min: (mean - 3.0 * sd).max(0.01 * mean), max: mean + 3.0 * sd, by: By::Number }
    }

    /// Log-normal of given mean and standard deviation of the radius \[m\] (before cutting off at `min` and `max`):
    /// $\sigma^2=\ln(1+s^2/m^2)$, median $m\,e^{-\sigma^2/2}$.
    pub fn log_normal_of_mean(mean: f64, sd: f64, min: f64, max: f64, by: By) -> SizeLaw {
        let sigma2 = (sd / mean).powi(2).ln_1p();
        SizeLaw::LogNormal { median: mean * (-0.5 * sigma2).exp(), sigma: sigma2.sqrt(), min, max, by }
    }

    /// Checks the law and makes it ready for drawing: discs when `planar`, else spheres.
    pub fn prepare(&self, planar: bool) -> Result<Sizes, SizeError> {
        let d = if planar { 2 } else { 3 };
        let power = |by: &By| if *by == By::Mass { d } else { 0 };
        let (min, max, kind) = match self {
            SizeLaw::Single { radius } => {
                positive("radius", *radius)?;
                (*radius, *radius, Kind::Pieces(vec![Piece { a: *radius, b: *radius, power: 0, upto: 1.0 }]))
            }
            SizeLaw::Uniform { min, max, by } => {
                window(*min, *max)?;
                (*min, *max, Kind::Pieces(vec![Piece { a: *min, b: *max, power: power(by), upto: 1.0 }]))
            }
            SizeLaw::Sieve { edges, fractions, by } => (
                edges.first().copied().unwrap_or(0.0),
                edges.last().copied().unwrap_or(0.0),
                sieve(edges, fractions, power(by))?,
            ),
            SizeLaw::Normal { mean, sd, min, max, by } => {
                positive("mean", *mean)?;
                positive("sd", *sd)?;
                window(*min, *max)?;
                holds_enough(&Bell::new(*mean, *sd, 0, *min, *max), *min, *max)?;
                (*min, *max, Kind::Bell(Bell::new(*mean, *sd, power(by), *min, *max)))
            }
            SizeLaw::LogNormal { median, sigma, min, max, by } => {
                positive("median", *median)?;
                positive("sigma", *sigma)?;
                window(*min, *max)?;
                let (low, high) = (min.ln(), max.ln());
                holds_enough(&Bell::new(median.ln(), *sigma, 0, low, high), *min, *max)?;
                // exp(-(x-m)²/2σ²) e^{-dx} is again a bell, its middle moved to m - dσ².
                let middle = median.ln() - f64::from(power(by)) * sigma * sigma;
                (*min, *max, Kind::LogBell(Bell::new(middle, *sigma, 0, low, high)))
            }
        };
        let mut sizes = Sizes { r_min: min, r_max: max, planar, kind, mean_measure: 0.0 };
        sizes.mean_measure = sizes.mean_of_power(d) * grain_measure(1.0, planar);
        Ok(sizes)
    }
}

/// Volume \[m³\] of a sphere of radius r \[m\], or area \[m²\] of a disc when `planar`.
pub fn grain_measure(radius: f64, planar: bool) -> f64 {
    if planar { PI * radius * radius } else { 4.0 / 3.0 * PI * radius.powi(3) }
}

fn positive(what: &'static str, value: f64) -> Result<(), SizeError> {
    if value.is_finite() && value > 0.0 { Ok(()) } else { Err(SizeError::NotPositive { what, value }) }
}

fn window(min: f64, max: f64) -> Result<(), SizeError> {
    positive("min", min)?;
    positive("max", max)?;
    if min < max { Ok(()) } else { Err(SizeError::Inverted { min, max }) }
}

fn holds_enough(stated: &Bell, min: f64, max: f64) -> Result<(), SizeError> {
    let probability = stated.integral(|_| 1.0) * stated.top.exp() / (stated.sd * (2.0 * PI).sqrt());
    if probability >= LEAST_WINDOW { Ok(()) } else { Err(SizeError::EmptyWindow { probability, min, max }) }
}

fn sieve(edges: &[f64], fractions: &[f64], power: i32) -> Result<Kind, SizeError> {
    if fractions.is_empty() || edges.len() != fractions.len() + 1 {
        return Err(SizeError::SieveLength { edges: edges.len(), fractions: fractions.len() });
    }
    for pair in edges.windows(2) {
        window(pair[0], pair[1])?;
    }
    let mut pieces = Vec::with_capacity(fractions.len());
    let mut total = 0.0;
    for (index, &value) in fractions.iter().enumerate() {
        if !(value.is_finite() && value >= 0.0) {
            return Err(SizeError::SieveFraction { index, value });
        }
        let (a, b) = (edges[index], edges[index + 1]);
        // Number in this piece: its fraction times the mean of r^-power over it.
        total += value * integral_of_power(a, b, -power) / (b - a);
        pieces.push(Piece { a, b, power, upto: total });
    }
    if !(total > 0.0 && total.is_finite()) {
        return Err(SizeError::SieveFraction { index: 0, value: fractions[0] });
    }
    pieces.iter_mut().for_each(|p| p.upto /= total);
    Ok(Kind::Pieces(pieces))
}

/// $\int_a^b r^k dr$.
fn integral_of_power(a: f64, b: f64, k: i32) -> f64 {
    if k == -1 { (b / a).ln() } else { (b.powi(k + 1) - a.powi(k + 1)) / f64::from(k + 1) }
}

/// A checked size law, ready for drawing by number.
#[derive(Clone, Debug)]
pub struct Sizes {
    r_min: f64,
    r_max: f64,
    planar: bool,
    mean_measure: f64,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Pieces(Vec<Piece>),
    Bell(Bell),
    LogBell(Bell),
}

impl Sizes {
    /// No grain is smaller \[m\].
    pub fn r_min(&self) -> f64 {
        self.r_min
    }

    /// No grain is larger \[m\].
    pub fn r_max(&self) -> f64 {
        self.r_max
    }

    /// Whether the grains are discs.
    pub fn planar(&self) -> bool {
        self.planar
    }

    /// Mean volume of a grain \[m³\], or mean area \[m²\] of a disc.
    pub fn mean_measure(&self) -> f64 {
        self.mean_measure
    }

    /// Draws a radius \[m\].
    pub fn sample(&self, stream: &mut Stream) -> f64 {
        let r = match &self.kind {
            Kind::Pieces(pieces) if pieces.len() == 1 => pieces[0].sample(stream),
            Kind::Pieces(pieces) => {
                let u = stream.uniform();
                let i = pieces.partition_point(|p| p.upto < u).min(pieces.len() - 1);
                pieces[i].sample(stream)
            }
            Kind::Bell(bell) => bell.sample(stream),
            Kind::LogBell(bell) => bell.sample(stream).exp(),
        };
        // Rounding in the formulae may step over an end by one unit in the last place.
        r.clamp(self.r_min, self.r_max)
    }

    /// Mean of r^k over the number law.
    fn mean_of_power(&self, k: i32) -> f64 {
        match &self.kind {
            Kind::Pieces(pieces) => {
                let mut below = 0.0;
                let mut sum = 0.0;
                for p in pieces {
                    let mean = if p.a == p.b {
                        p.a.powi(k)
                    } else {
                        integral_of_power(p.a, p.b, k - p.power) / integral_of_power(p.a, p.b, -p.power)
                    };
                    sum += (p.upto - below) * mean;
                    below = p.upto;
                }
                sum
            }
            Kind::Bell(bell) => bell.integral(|x| x.powi(k)) / bell.integral(|_| 1.0),
            Kind::LogBell(bell) => bell.integral(|x| (f64::from(k) * x).exp()) / bell.integral(|_| 1.0),
        }
    }
}

/// Number density ∝ r^-power on [a, b].
#[derive(Clone, Debug)]
struct Piece {
    a: f64,
    b: f64,
    power: i32,
    /// Number fraction of this and all earlier pieces.
    upto: f64,
}

impl Piece {
    fn sample(&self, stream: &mut Stream) -> f64 {
        if self.a == self.b {
            return self.a;
        }
        let u = stream.uniform();
        if self.power == 0 {
            return self.a + (self.b - self.a) * u;
        }
        // The cumulative number is linear in r^(1-power); scaled by a, so that r³ of microns does not underflow.
        let k = 1 - self.power;
        let end = (self.b / self.a).powi(k);
        self.a * (1.0 + (end - 1.0) * u).powf(1.0 / f64::from(k))
    }
}

/// The density $e^{-(x-m)^2/2s^2}\,x^{-p}$ on a window, drawn by rejection under a ceiling that is constant in each of a few
/// hundred cells: fine around the middle, geometric in the tails. The ceiling is the exact maximum in each cell.
#[derive(Clone, Debug)]
struct Bell {
    mean: f64,
    sd: f64,
    power: i32,
    edges: Vec<f64>,
    /// Logarithm of the ceiling of each cell, relative to `top`.
    ln_ceiling: Vec<f64>,
    /// Area under the ceiling of this and all earlier cells.
    upto: Vec<f64>,
    /// Logarithm of the largest ceiling.
    top: f64,
}

/// Cells of each of the two sets of edges.
const CELLS: usize = 128;

impl Bell {
    fn new(mean: f64, sd: f64, power: i32, min: f64, max: f64) -> Bell {
        let inside = |x: &f64| *x > min && *x < max;
        let (u, v) = (((min - mean) / sd).asinh(), ((max - mean) / sd).asinh());
        let step = |k: usize| k as f64 / CELLS as f64;
        let mut edges: Vec<f64> =
            (1..CELLS).map(|k| mean + sd * (u + (v - u) * step(k)).sinh()).filter(inside).collect();
        if power > 0 {
            edges.extend((1..CELLS).map(|k| min * (max / min).powf(step(k))).filter(inside));
        }
        edges.extend([min, max]);
        edges.sort_by(f64::total_cmp);
        edges.dedup();

        let mut bell = Bell { mean, sd, power, edges, ln_ceiling: Vec::new(), upto: Vec::new(), top: 0.0 };
        // d ln f / dx = -(x-m)/s² - p/x vanishes at two places; the upper one is the maximum.
        let p = f64::from(power);
        let peak = if power == 0 { mean } else { 0.5 * (mean + (mean * mean - 4.0 * p * sd * sd).sqrt()) };
        let ceiling: Vec<f64> = (bell.edges.windows(2))
            .map(|e| {
                let ends = bell.ln_density(e[0]).max(bell.ln_density(e[1]));
                if peak > e[0] && peak < e[1] { ends.max(bell.ln_density(peak)) } else { ends }
            })
            .collect();
        bell.top = ceiling.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut area = 0.0;
        for (e, c) in bell.edges.windows(2).zip(&ceiling) {
            area += (c - bell.top).exp() * (e[1] - e[0]);
            bell.upto.push(area);
        }
        bell.ln_ceiling = ceiling.iter().map(|c| c - bell.top).collect();
        bell
    }

    fn ln_density(&self, x: f64) -> f64 {
        let z = (x - self.mean) / self.sd;
        let weight = if self.power == 0 { 0.0 } else { f64::from(self.power) * x.ln() };
        -0.5 * z * z - weight
    }

    fn sample(&self, stream: &mut Stream) -> f64 {
        let last = self.upto.len() - 1;
        loop {
            let area = stream.uniform() * self.upto[last];
            let i = self.upto.partition_point(|&a| a < area).min(last);
            let x = stream.between(self.edges[i], self.edges[i + 1]);
            if stream.uniform().ln() <= self.ln_density(x) - self.top - self.ln_ceiling[i] {
                return x;
            }
        }
    }

    /// Integral over the window of g times the density divided by e^top: five-point Gauss–Legendre in each cell.
    fn integral(&self, g: impl Fn(f64) -> f64) -> f64 {
        const NODES: [(f64, f64); 5] = [
            (0.0, 128.0 / 225.0),
            (-0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
            (0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
            (-0.906_179_845_938_664, 0.236_926_885_056_189_08),
            (0.906_179_845_938_664, 0.236_926_885_056_189_08),
        ];
        let mut sum = 0.0;
        for e in self.edges.windows(2) {
            let (middle, half) = (0.5 * (e[0] + e[1]), 0.5 * (e[1] - e[0]));
            for (node, weight) in NODES {
                let x = middle + half * node;
                sum += weight * half * g(x) * (self.ln_density(x) - self.top).exp();
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    /// Density of a law as stated, up to a factor.
    fn stated_density(law: &SizeLaw, r: f64) -> f64 {
        match law {
            SizeLaw::Single { .. } => unreachable!(),
            SizeLaw::Uniform { .. } => 1.0,
            SizeLaw::Normal { mean, sd, .. } => (-0.5 * ((r - mean) / sd).powi(2)).exp(),
            SizeLaw::LogNormal { median, sigma, .. } => (-0.5 * ((r / median).ln() / sigma).powi(2)).exp() / r,
            SizeLaw::Sieve { edges, fractions, .. } => {
                let i = edges.partition_point(|e| *e <= r).clamp(1, fractions.len()) - 1;
                fractions[i] / (edges[i + 1] - edges[i])
            }
        }
    }

    /// Cumulative curve by the trapezoidal rule on many points: the slow twin.
    struct Curve(Vec<(f64, f64)>);

    impl Curve {
        fn new(min: f64, max: f64, density: impl Fn(f64) -> f64) -> Curve {
            let n = 200_000;
            let h = (max - min) / f64::from(n);
            let mut sum = 0.0;
            let mut points = vec![(min, 0.0)];
            for k in 0..n {
                let r = min + (f64::from(k) + 0.5) * h;
                sum += density(r) * h;
                points.push((r + 0.5 * h, sum));
            }
            points.iter_mut().for_each(|p| p.1 /= sum);
            Curve(points)
        }

        fn at(&self, r: f64) -> f64 {
            let i = self.0.partition_point(|p| p.0 < r).min(self.0.len() - 1);
            self.0[i].1
        }
    }

    fn laws(by: By) -> Vec<SizeLaw> {
        vec![
            SizeLaw::Uniform { min: 0.3e-3, max: 2e-3, by },
            SizeLaw::Normal { mean: 1e-3, sd: 0.3e-3, min: 0.2e-3, max: 2e-3, by },
            SizeLaw::Normal { mean: 1e-3, sd: 1e-3, min: 0.05e-3, max: 1.5e-3, by },
            SizeLaw::LogNormal { median: 1e-3, sigma: 0.4, min: 0.3e-3, max: 4e-3, by },
            SizeLaw::Sieve { edges: vec![0.5e-3, 1e-3, 2e-3, 4e-3], fractions: vec![20.0, 0.0, 30.0], by },
        ]
    }

    #[test]
    fn drawn_radii_follow_the_number_curve_and_their_mass_follows_the_stated_curve() {
        let n = 20_000u64;
        for (by, planar) in [(By::Number, false), (By::Mass, false), (By::Mass, true)] {
            let d = if planar { 2 } else { 3 };
            for law in laws(by) {
                let sizes = law.prepare(planar).unwrap();
                let number = |r: f64| match by {
                    By::Number => stated_density(&law, r),
                    By::Mass => stated_density(&law, r) / r.powi(d),
                };
                let curve = Curve::new(sizes.r_min(), sizes.r_max(), number);
                let mut r: Vec<f64> = (0..n).map(|k| sizes.sample(&mut Stream::new(11, Purpose::Size, k))).collect();
                r.sort_by(f64::total_cmp);
                let mut ks = 0.0f64;
                for (i, &x) in r.iter().enumerate() {
                    let f = curve.at(x);
                    ks = ks.max((f - i as f64 / n as f64).abs()).max((f - (i + 1) as f64 / n as f64).abs());
                }
                // Kolmogorov's bound at a probability of error of 1e-4: 2.23 / sqrt(n).
                assert!(ks < 2.23 / (n as f64).sqrt(), "{law:?}, planar {planar}: distance {ks}");

                if by == By::Mass {
                    let stated = Curve::new(sizes.r_min(), sizes.r_max(), |r| stated_density(&law, r));
                    let total: f64 = r.iter().map(|r| r.powi(d)).sum();
                    let mut mass = 0.0;
                    for x in &r {
                        mass += x.powi(d) / total;
                        assert!((stated.at(*x) - mass).abs() < 0.05, "{law:?}: mass curve at {x}");
                    }
                }
            }
        }
    }

    #[test]
    fn mean_volume_agrees_with_the_integral_of_the_number_law() {
        for (by, planar) in [(By::Number, false), (By::Number, true), (By::Mass, false), (By::Mass, true)] {
            let d = if planar { 2 } else { 3 };
            for law in laws(by) {
                let sizes = law.prepare(planar).unwrap();
                let number = |r: f64| stated_density(&law, r) / if by == By::Mass { r.powi(d) } else { 1.0 };
                let (n, h) = (100_000, (sizes.r_max() - sizes.r_min()) / 1e5);
                let (mut above, mut below) = (0.0, 0.0);
                for k in 0..n {
                    let r = sizes.r_min() + (f64::from(k) + 0.5) * h;
                    above += number(r) * grain_measure(r, planar);
                    below += number(r);
                }
                assert!((sizes.mean_measure() / (above / below) - 1.0).abs() < 1e-5, "{law:?}");
            }
        }
        let single = SizeLaw::Single { radius: 0.5 }.prepare(false).unwrap();
        assert!((single.mean_measure() - PI / 6.0).abs() < 1e-12);
    }

    #[test]
    fn a_cut_off_law_does_not_pile_up_at_its_edges() {
        let law = SizeLaw::Normal { mean: 1.0, sd: 0.5, min: 0.9, max: 1.1, by: By::Number };
        let sizes = law.prepare(false).unwrap();
        let mut s = Stream::new(1, Purpose::Size, 0);
        let r: Vec<f64> = (0..10_000).map(|_| sizes.sample(&mut s)).collect();
        assert!(r.iter().filter(|r| **r < 0.901 || **r > 1.099).count() < 200);
    }

    #[test]
    fn log_normal_of_given_mean_has_that_mean_and_spread() {
        let law = SizeLaw::log_normal_of_mean(2.0, 0.5, 1e-3, 1e3, By::Number);
        let sizes = law.prepare(false).unwrap();
        assert!((sizes.mean_of_power(1) - 2.0).abs() < 1e-9);
        assert!((sizes.mean_of_power(2) - 4.25).abs() < 1e-9);
    }

    #[test]
    fn bad_laws_are_refused_with_the_value() {
        let refused = |law: SizeLaw| law.prepare(false).unwrap_err();
        let normal = |mean, sd, min, max| SizeLaw::Normal { mean, sd, min, max, by: By::Number };
        assert_eq!(refused(SizeLaw::Single { radius: -1.0 }), SizeError::NotPositive { what: "radius", value: -1.0 });
        assert!(matches!(refused(SizeLaw::Single { radius: f64::NAN }), SizeError::NotPositive { .. }));
        assert!(matches!(refused(normal(1.0, 0.1, 1.2, 0.8)), SizeError::Inverted { .. }));
        assert!(matches!(refused(normal(1.0, 0.1, 1.6, 2.0)), SizeError::EmptyWindow { .. }));
        assert!(normal(1.0, 0.1, 1.45, 2.0).prepare(false).is_ok());
        let sieve = |edges: &[f64], fractions: &[f64]| SizeLaw::Sieve {
            edges: edges.to_vec(),
            fractions: fractions.to_vec(),
            by: By::Mass,
        };
        assert!(matches!(refused(sieve(&[1.0, 2.0], &[1.0, 1.0])), SizeError::SieveLength { .. }));
        assert!(matches!(refused(sieve(&[2.0, 1.0], &[1.0])), SizeError::Inverted { .. }));
        assert!(matches!(refused(sieve(&[1.0, 2.0], &[-1.0])), SizeError::SieveFraction { .. }));
        assert!(matches!(refused(sieve(&[1.0, 2.0], &[0.0])), SizeError::SieveFraction { .. }));
    }
}
