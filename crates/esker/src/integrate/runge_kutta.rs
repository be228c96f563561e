//! Runge–Kutta of fourth order (named by Džiugys & Peters 1998, after Ovesen and Shida): with $y$ for places, velocities,
//! angular momenta and orientations and $f$ for their rates,
//!
//! $$k_1 = f(y),\quad k_2 = f(y + \tfrac12 k_1\Delta t),\quad k_3 = f(y + \tfrac12 k_2\Delta t),\quad
//! k_4 = f(y + k_3\Delta t),\qquad y^+ = y + \tfrac16(k_1 + 2k_2 + 2k_3 + k_4)\,\Delta t.$$
//!
//! The three forces on the way are tried out: contacts start from what they remember of the beginning of the step and go the
//! straight way to the trial, then forget it. The force at $y^+$, with which contacts go on, is $k_1$ of the next step: four
//! in all. Springs that grow along a turning normal are of second order, as with every scheme.

use super::ahead::{Rates, Start};
use super::body::Body;
use super::{Keeps, Scheme};

/// The scheme.
pub struct RungeKutta;

impl Scheme for RungeKutta {
    fn keeps(&self) -> Keeps {
        Keeps::Nothing
    }

    fn corrects_places(&self) -> bool {
        true
    }

    fn has_end(&self) -> bool {
        false
    }

    fn trials(&self) -> &'static [f64] {
        &[0.5, 0.5, 1.0]
    }

    fn begin(&self, mut b: Body, dt: f64) {
        let start = Start::of(&b);
        *b.start = start;
        start.go(&mut b, &start.sum, 0.5 * dt);
    }

    fn pass(&self, mut b: Body, trial: usize, dt: f64) {
        let rates = Rates::of(&b);
        b.start.sum = b.start.sum + rates * [2.0, 2.0, 1.0][trial];
        let start = *b.start;
        match trial {
            0 => start.go(&mut b, &rates, 0.5 * dt),
            1 => start.go(&mut b, &rates, dt),
            _ => start.go(&mut b, &(start.sum * (1.0 / 6.0)), dt),
        }
    }

    fn finish(&self, _: Body, _: f64) {}
}
