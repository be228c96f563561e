//! Looking for the least value: a Latin hypercube first, then the simplex of Nelder and Mead around its best point.
//!
//! Coordinates run from 0 to 1 along each range. A point beyond an end is mirrored back, so that a minimum at an end is
//! found like any other; holding it at the end instead would flatten the simplex against it.
//!
//! The simplex is that of `argmin`, which is maintained, widely used, and needs no linear algebra here (features off).
//! Its Nelder–Mead was taken rather than its particle swarm or a CMA-ES (crate `cmaes`, on `nalgebra`): a run is worth
//! minutes or hours, there are one to four parameters and tens of runs, and a swarm spends these on its first rounds. What
//! the simplex lacks, a look at the whole range, the hypercube gives. One run follows another then: it gets the
//! threads that others would have had, and results do not depend on threads.
//!
//! A search has no memory: [`Search::next`] goes through all of it again with the values that are known, and tells
//! the points it lacks. So a search that was killed goes on as if it had not been.

use super::latin;
use argmin::core::{CostFunction, Error, IterState, Problem, Solver, State};
use argmin::solver::neldermead::NelderMead;
use std::cell::RefCell;

/// Share of all evaluations that the hypercube takes.
const FIRST_LOOK: f64 = 1.0 / 3.0;
/// Largest distance from the best point, of the range, at which the simplex has settled.
const SETTLED: f64 = 1e-4;
/// Iterations of the simplex at most, for each evaluation; reached only where all points asked for are known, as with
/// whole numbers.
const MOST_ITERATIONS: usize = 100;

/// A search.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// Number of parameters.
    pub dimensions: usize,
    /// Points to be evaluated at most.
    pub evaluations: usize,
    /// Seed of the first look.
    pub seed: u64,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// These points are to be evaluated, each from 0 to 1 along each axis.
    Points(Vec<Vec<f64>>),
    /// The simplex has become so small that it moves no more.
    Settled,
}

/// Values that are known, and what was asked for.
struct Known<'a> {
    value: &'a dyn Fn(&[f64]) -> Option<f64>,
    asked: RefCell<Vec<Vec<f64>>>,
}

/// Folds a coordinate into 0 to 1, mirrored at both ends.
fn mirrored(x: f64) -> f64 {
    let x = x.rem_euclid(2.0);
    if x > 1.0 { 2.0 - x } else { x }
}

fn within(point: &[f64]) -> Vec<f64> {
    point.iter().map(|x| mirrored(*x)).collect()
}

impl CostFunction for Known<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, point: &Vec<f64>) -> Result<f64, Error> {
        let point = within(point);
        let value = (self.value)(&point);
        self.asked.borrow_mut().push(point);
        value.map(worst_if_none).ok_or_else(|| Error::msg("not known yet"))
    }
}

/// A run that gave no number is as bad as can be.
fn worst_if_none(value: f64) -> f64 {
    if value.is_nan() { f64::INFINITY } else { value }
}

impl Search {
    /// Points of the first look.
    fn first_look(&self) -> Vec<Vec<f64>> {
        let n = ((FIRST_LOOK * self.evaluations as f64) as usize).max(2 * self.dimensions + 1).min(self.evaluations);
        latin::hypercube(n, self.dimensions, self.seed)
    }

    /// The points that are lacking. `value` tells what is to be least, `None` where it is not known yet and NaN where a
    /// run gave none.
    pub fn next(&self, value: &dyn Fn(&[f64]) -> Option<f64>) -> Next {
        let look = self.first_look();
        let missing = |points: &[Vec<f64>]| -> Vec<Vec<f64>> {
            points.iter().map(|p| within(p)).filter(|p| value(p).is_none()).collect()
        };
        let lacking = missing(&look);
        if !lacking.is_empty() {
            return Next::Points(lacking);
        }
        let cost = |point: &Vec<f64>| value(point).map_or(f64::INFINITY, worst_if_none);
        let Some(best) = look.iter().min_by(|a, b| cost(a).total_cmp(&cost(b))) else { return Next::Settled };
        let simplex = self.simplex(best, look.len());
        let lacking = missing(&simplex);
        if !lacking.is_empty() {
            return Next::Points(lacking);
        }
        self.descend(simplex, value)
    }

    /// The best point and one beside it along each axis, as far away as points of the first look are from each other.
    fn simplex(&self, best: &[f64], looked: usize) -> Vec<Vec<f64>> {
        let edge = 0.5 * (looked as f64).powf(-1.0 / self.dimensions as f64);
        let mut simplex = vec![best.to_vec()];
        for axis in 0..self.dimensions {
            let mut point = best.to_vec();
            point[axis] += if best[axis] < 0.5 { edge } else { -edge };
            simplex.push(point);
        }
        simplex
    }

    /// Lets the simplex go until it asks for a point that is not known, or has settled.
    fn descend(&self, simplex: Vec<Vec<f64>>, value: &dyn Fn(&[f64]) -> Option<f64>) -> Next {
        let mut problem = Problem::new(Known { value, asked: RefCell::default() });
        let mut solver: NelderMead<Vec<f64>, f64> = NelderMead::new(simplex);
        // All values of the first simplex are known, so this cannot fail.
        let Ok((mut state, _)) = solver.init(&mut problem, IterState::new()) else { return Next::Settled };
        for _ in 0..MOST_ITERATIONS * self.evaluations {
            let step = solver.next_iter(&mut problem, state);
            let Some(known) = &problem.problem else { return Next::Settled };
            let asked = known.asked.borrow();
            match step {
                // The only error there is: a value was not known.
                Err(_) => return Next::Points(asked.last().cloned().into_iter().collect()),
                Ok((next, _)) => state = next,
            }
            if let Some(best) = state.get_param()
                && self.is_settled(&within(best), &asked)
            {
                return Next::Settled;
            }
        }
        Next::Settled
    }

    /// Whether the simplex has asked around the best point alone for a while: all its corners, twice.
    fn is_settled(&self, best: &[f64], asked: &[Vec<f64>]) -> bool {
        let while_ = 2 * (self.dimensions + 1);
        let far = |point: &Vec<f64>| point.iter().zip(best).any(|(x, b)| (x - b).abs() > SETTLED);
        asked.len() >= while_ && !asked[asked.len() - while_..].iter().any(far)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches a function; tells the best point and the number of evaluations.
    fn search(evaluations: usize, dimensions: usize, f: impl Fn(&[f64]) -> f64) -> (Vec<f64>, usize) {
        let search = Search { dimensions, evaluations, seed: 5 };
        let mut known: Vec<(Vec<f64>, f64)> = Vec::new();
        loop {
            let value = |p: &[f64]| known.iter().find(|k| k.0 == p).map(|k| k.1);
            match search.next(&value) {
                Next::Points(points) if known.len() + points.len() <= evaluations => {
                    for point in points {
                        assert!(point.iter().all(|x| (0.0..=1.0).contains(x)), "{point:?}");
                        let value = f(&point);
                        known.push((point, value));
                    }
                }
                _ => break,
            }
        }
        let cost = |v: f64| if v.is_nan() { f64::INFINITY } else { v };
        let best = known.iter().min_by(|a, b| cost(a.1).total_cmp(&cost(b.1))).unwrap();
        (best.0.clone(), known.len())
    }

    #[test]
    fn the_minimum_of_a_parabola_is_found_and_the_search_settles() {
        let (best, used) = search(60, 1, |p| (p[0] - 0.3).powi(2));
        assert!((best[0] - 0.3).abs() < 1e-3 && used < 60, "{best:?} after {used}");
        let (best, _) = search(100, 2, |p| (p[0] - 0.3).powi(2) + 10.0 * (p[1] - 0.9 + 0.2 * p[0]).powi(2));
        assert!((best[0] - 0.3).abs() < 3e-3 && (best[1] - 0.84).abs() < 3e-3, "{best:?}");
    }

    #[test]
    fn a_minimum_at_an_end_is_found() {
        let (best, _) = search(50, 1, |p| p[0]);
        assert!(best[0] < 1e-3, "{best:?}");
        let (best, _) = search(80, 2, |p| -p[0] - p[1]);
        assert!(best[0] > 0.999 && best[1] > 0.999, "{best:?}");
    }

    #[test]
    fn the_lower_of_two_valleys_is_found_by_the_first_look() {
        let f = |p: &[f64]| ((p[0] - 0.2) / 0.1).powi(2).min(((p[0] - 0.8) / 0.1).powi(2) - 1.0);
        let (best, _) = search(40, 1, f);
        assert!((best[0] - 0.8).abs() < 1e-3, "{best:?}");
    }

    #[test]
    fn runs_that_gave_no_number_are_avoided() {
        let (best, _) = search(60, 2, |p| if p[0] > 0.5 { f64::NAN } else { (p[0] - 0.4).powi(2) + p[1] });
        assert!((best[0] - 0.4).abs() < 0.02 && best[1] < 0.02, "{best:?}");
        assert_eq!(search(20, 1, |_| f64::NAN).1, 20);
    }

    #[test]
    fn steps_of_a_whole_number_end_the_search() {
        let (best, used) = search(60, 1, |p| ((20.0 * p[0]).round() - 7.0).abs());
        assert!((20.0 * best[0]).round() == 7.0 && used <= 60, "{best:?} after {used}");
    }

    #[test]
    fn beyond_an_end_is_mirrored() {
        assert_eq!([-0.25, 0.25, 1.25, 2.25, 1.0, 0.0].map(mirrored), [0.25, 0.25, 0.75, 0.25, 1.0, 0.0]);
    }
}
