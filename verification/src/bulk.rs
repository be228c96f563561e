//! What the cases of many grains share: sampling on the way, profiles, fits and charts.

use esker::math::{Aabb, Vec3};
use esker::measure::region::{self, RegionMeasure};
use esker::model::Model;
use esker::region::Region;
use esker::simulation::Simulation;
use esker::state::State;
use esker_io::build;
use esker_io::chart::{Chart, Curve};
use esker_io::scene;
use std::path::Path;

/// A whole scene with its own stages, some of its keys replaced.
pub(crate) fn scene(text: &str, overrides: &[String]) -> Simulation {
    let raw = scene::read(text, "verification.toml", overrides).expect("a scene of our own");
    let scene = build::build(&raw, Path::new(".")).expect("a scene of our own");
    let mut simulation = Simulation::new(scene.stages, scene.state, 1);
    simulation.prepare().expect("the scene starts");
    simulation
}

/// Runs to a time of the run, and calls `look` at equal intervals \[s\] on the way. The state is whole in each.
pub(crate) fn sample(simulation: &mut Simulation, until: f64, every: f64, mut look: impl FnMut(&Model, &State)) {
    let stride = ((every / simulation.model().dt).round() as u64).max(1);
    while simulation.state.time < until - 0.5 * simulation.model().dt && !simulation.is_finished() {
        let left = simulation.steps_until(until);
        simulation.advance(stride.min(left)).expect("the run goes on");
        look(simulation.model(), &simulation.state);
    }
}

/// Runs to a time of the run.
pub(crate) fn run_to(simulation: &mut Simulation, until: f64) {
    sample(simulation, until, f64::INFINITY, |_, _| {});
}

/// Index of a wall.
pub(crate) fn wall(model: &Model, name: &str) -> usize {
    model.walls.iter().position(|w| w.name == name).expect("a wall of our own")
}

/// What a box holds.
pub(crate) fn in_box(model: &Model, state: &State, min: [f64; 3], max: [f64; 3]) -> RegionMeasure {
    let region = Region::Box(Aabb { min: Vec3::from(min), max: Vec3::from(max) });
    region::measure(model, state, &region).expect("a region of our own")
}

/// Mean of some values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Least and greatest of some values.
pub(crate) fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)))
}

/// The straight line nearest to some points, along y.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    /// Rise over run.
    pub slope: f64,
    /// Height at zero.
    pub offset: f64,
    /// Share of the variance that the line explains.
    pub r2: f64,
}

/// Least squares through points (x, y).
pub(crate) fn line(points: &[[f64; 2]]) -> Line {
    let n = points.len() as f64;
    let (mx, my) = (points.iter().map(|p| p[0]).sum::<f64>() / n, points.iter().map(|p| p[1]).sum::<f64>() / n);
    let xx: f64 = points.iter().map(|p| (p[0] - mx).powi(2)).sum();
    let xy: f64 = points.iter().map(|p| (p[0] - mx) * (p[1] - my)).sum();
    let slope = xy / xx;
    let offset = my - slope * mx;
    Line { slope, offset, r2: r_squared(points, |x| offset + slope * x) }
}

/// Slope of a power law through points (x, y).
pub(crate) fn exponent(points: &[[f64; 2]]) -> Line {
    let logs: Vec<[f64; 2]> = points.iter().map(|p| [p[0].ln(), p[1].ln()]).collect();
    line(&logs)
}

/// Share of the variance of points (x, y) that a curve explains.
pub(crate) fn r_squared(points: &[[f64; 2]], curve: impl Fn(f64) -> f64) -> f64 {
    let mean = points.iter().map(|p| p[1]).sum::<f64>() / points.len() as f64;
    let total: f64 = points.iter().map(|p| (p[1] - mean).powi(2)).sum();
    let left: f64 = points.iter().map(|p| (p[1] - curve(p[0])).powi(2)).sum();
    1.0 - left / total
}

/// Where a function of one variable is least, between two values, to a part in a million of their distance.
pub(crate) fn least(low: f64, high: f64, cost: impl Fn(f64) -> f64) -> f64 {
    let golden = 0.5 * (5f64.sqrt() - 1.0);
    let (mut a, mut b) = (low, high);
    while b - a > 1e-6 * (high - low) {
        let (c, d) = (b - golden * (b - a), a + golden * (b - a));
        if cost(c) < cost(d) { b = d } else { a = c }
    }
    0.5 * (a + b)
}

/// A chart of named curves.
pub(crate) fn chart(title: &str, x: &str, y: &str, curves: Vec<(String, Vec<[f64; 2]>)>) -> Chart {
    let curves = curves.into_iter().map(|(name, points)| Curve { name, points }).collect();
    Chart { title: title.into(), axes: [x.into(), y.into()], curves }
}

/// Points of a curve between two ends.
pub(crate) fn drawn(low: f64, high: f64, curve: impl Fn(f64) -> f64) -> Vec<[f64; 2]> {
    (0..=60).map(|k| low + (high - low) * f64::from(k) / 60.0).map(|x| [x, curve(x)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_and_a_power_are_found_exactly() {
        let points: Vec<[f64; 2]> = (1..9).map(|k| [f64::from(k), 3.0 - 2.0 * f64::from(k)]).collect();
        let found = line(&points);
        assert!((found.slope + 2.0).abs() < 1e-12 && (found.offset - 3.0).abs() < 1e-12);
        assert!((found.r2 - 1.0).abs() < 1e-12);
        let powers: Vec<[f64; 2]> = (1..9).map(|k| [f64::from(k), 5.0 * f64::from(k).powf(1.5)]).collect();
        assert!((exponent(&powers).slope - 1.5).abs() < 1e-12);
        assert!(r_squared(&powers, |_| 1.0) < 0.0);
    }

    #[test]
    fn the_least_of_a_parabola_is_found() {
        assert!((least(-3.0, 9.0, |x| (x - 2.0).powi(2)) - 2.0).abs() < 1e-5);
    }
}
