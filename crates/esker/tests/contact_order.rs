//! Lasting frictional contacts are of second order in the step: a tumbling pair and grains in moving containers.
//!
//! There is no closed form; the difference of runs at dt and dt/2 must be four times that of dt/2 and dt/4.

use crate::common;

use common::*;
use esker::boundary::{Motion, MotionPart, Revolved, Surface, Waveform};
use esker::field::Central;
use esker::integrate::Integrator;
use esker::law::Law;
use esker::law::damping::{AnyDamping, FromRestitution};
use esker::law::rolling::{AnyRolling, ElasticPlastic};
use esker::law::tangential::{AnyTangential, Spring, Stiffness, TangentialDamping};
use esker::law::twisting::{AnyTwisting, TwistSpring};
use esker::math::Vec3;
use esker::measure::energy;
use esker::model::Wall;
use esker::state::State;
use std::sync::Arc;

const R: f64 = 0.01;
const K: f64 = 1e4;

/// Sticking contact: every slot filled, limits far away.
fn sticky() -> Law {
    let mut law = hooke(K);
    law.damping = AnyDamping::FromRestitution(FromRestitution::new(0.7, &law.normal, law.end));
    law.tangential = AnyTangential::Spring(Spring {
        stiffness: Stiffness::Ratio(0.7),
        damping: TangentialDamping::Ratio(0.5),
        friction: 100.0,
    });
    law.rolling = AnyRolling::Spring(ElasticPlastic { friction: 100.0, stiffness: Some(0.02), damping_ratio: 0.1 });
    law.twisting = AnyTwisting::Spring(TwistSpring { friction: 100.0, stiffness: Some(0.02), damping_ratio: 0.1 });
    law
}

/// What a run ends with, and the residual of its energy account over the kinetic energy at the start.
type Outcome = (Vec<Vec3>, f64);

fn outcome(model: &esker::model::Model, mut state: State, steps: u64, scale: f64) -> Outcome {
    run(model, &mut state, steps);
    let p = &state.particles;
    let mut all = Vec::new();
    for id in 0..p.owned() as u64 {
        let i = index(&state, id);
        all.extend([p.position(i) / R, p.velocity(i), p.angular_velocity(i) * R]);
    }
    (all, energy::balance(model, &state).residual() / scale)
}

#[track_caller]
fn is_of_second_order(what: &str, scene: impl Fn(f64) -> Outcome) {
    is_of_order(2.0, what, scene);
}

#[track_caller]
fn is_of_order(expected: f64, what: &str, scene: impl Fn(f64) -> Outcome) {
    let [a, b, c] = [1.0, 2.0, 4.0].map(scene);
    let off = |x: &Outcome, y: &Outcome| x.0.iter().zip(&y.0).map(|(x, y)| x.distance(*y)).fold(0.0, f64::max);
    let (coarse, fine) = (off(&a, &b), off(&b, &c));
    let order = (coarse / fine).log2();
    println!("{what}: {coarse:.2e} {fine:.2e}, order {order:.2}; residuals {:.1e} {:.1e} {:.1e}", a.1, b.1, c.1);
    assert!((order - expected).abs() < 0.2, "{what}: order {order}");
    let closing = (a.1 / c.1).abs().log(4.0);
    // What explicit Euler gains is of first order.
    let limit = if expected < 2.0 { 2e-2 } else { 1e-3 };
    assert!(c.1.abs() < limit && closing > expected - 0.3, "{what}: residuals {:.1e} {:.1e}", a.1, c.1);
}

/// Springs grow with the mean velocity over a step, which is of second order at most.
fn order_in_contact(integrator: Integrator) -> f64 {
    match integrator {
        Integrator::ExplicitEuler | Integrator::SymplecticEuler | Integrator::Taylor | Integrator::Newmark => 1.0,
        // This contact slips from the start, and the first force comes after half a step: its springs grow by a whole one.
        Integrator::LeapFrog => 1.0,
        _ => 2.0,
    }
}

/// Two sticking grains that tumble about each other, with moments of inertia in proportion to `moments`.
fn tumbling_pair(integrator: Integrator, moments: Vec3, n: f64) -> Outcome {
    let mut model = model(sticky(), 2500.0, 1e-5 / n);
    model.integrator = integrator;
    model.fields.push(Arc::new(Central { centre: Vec3::ZERO, strength: 2e4, exponent: 1.0, cell: model.cell }));
    let mut state = State::new(&model);
    let spin = Vec3::new(12.0, 9.0, -15.0);
    for side in [-1.0, 1.0] {
        let x = Vec3::X * (side * 0.99 * R);
        let shear = Vec3::new(0.0, 0.01 * side, 0.005);
        let i = add(&model, &mut state, 0, x, R, spin.cross(x) + shear, spin + side * Vec3::new(1.0, 2.0, 0.5));
        state.particles.inertia[i] *= moments;
    }
    outcome(&model, state, (0.05 * n / 1e-5).round() as u64, 0.02 * 0.02 * 0.01)
}

#[test]
fn a_tumbling_sticking_pair_is_of_second_order_or_of_that_of_the_integrator() {
    for integrator in Integrator::ALL {
        is_of_order(order_in_contact(integrator), integrator.name(), |n| tumbling_pair(integrator, Vec3::ONE, n));
    }
}

#[test]
fn so_is_a_pair_with_three_moments_of_inertia() {
    let moments = Vec3::new(0.8, 1.0, 1.3);
    for integrator in Integrator::ALL {
        is_of_order(order_in_contact(integrator), integrator.name(), |n| tumbling_pair(integrator, moments, n));
    }
}

#[test]
fn a_grain_that_sticks_to_a_turning_and_shaking_drum_is_of_second_order() {
    is_of_second_order("drum", |n| {
        let mut model = model(sticky(), 2500.0, 1e-5 / n);
        let shell = Revolved::cylinder(Vec3::Y * -0.1, Vec3::Y * 0.1, 0.05).unwrap();
        let motion = Motion {
            parts: vec![
                MotionPart::Rotate { through: Vec3::ZERO, axis: Vec3::Y, rate: 10.0 },
                MotionPart::Oscillate {
                    amplitude: Vec3::new(1e-4, 3e-4, 0.0),
                    frequency: 30.0,
                    phase: std::f64::consts::FRAC_PI_2,
                    form: Waveform::Sine,
                },
            ],
        };
        model.walls.push(Wall { motion, ..wall(Surface::Revolved(shell)) });
        model.fields.push(gravity(Vec3::NEG_Z * 9.81));
        let mut state = State::new(&model);
        add(&model, &mut state, 0, Vec3::Z * -0.040015, R, Vec3::X * -0.4, Vec3::new(0.0, 10.0, 3.0));
        outcome(&model, state, (0.05 * n / 1e-5).round() as u64, 0.01 * 0.4 * 0.4)
    });
}

#[test]
fn a_grain_that_sticks_to_a_swinging_plane_is_of_second_order() {
    is_of_second_order("plane", |n| {
        let mut model = model(sticky(), 2500.0, 1e-5 / n);
        let motion = Motion {
            parts: vec![MotionPart::Swing {
                through: Vec3::X * 0.05,
                axis: Vec3::new(0.2, 1.0, 0.5),
                amplitude: 0.2,
                frequency: 3.0,
                phase: std::f64::consts::FRAC_PI_2,
            }],
        };
        model.walls.push(Wall { motion, ..plane(Vec3::ZERO, Vec3::Z) });
        model.fields.push(gravity(Vec3::NEG_Z * 9.81));
        let mut state = State::new(&model);
        add(&model, &mut state, 0, Vec3::Z * (R - 1.2e-5), R, Vec3::new(0.0, 0.05, 0.0), Vec3::ZERO);
        outcome(&model, state, (0.05 * n / 1e-5).round() as u64, 0.01 * 0.1 * 0.1)
    });
}
