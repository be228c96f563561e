//! What each integrator does to a collision (D-17), and to the account of energy in a lasting contact.

use crate::common;

use common::*;
use esker::integrate::Integrator;
use esker::law::damping::{AnyDamping, Coefficient, PerMass};
use esker::law::normal::{AnyNormal, ScaledHooke};
use esker::law::{ContactEnd, Law};
use esker::math::Vec3;
use esker::measure::energy;
use esker::state::State;
use std::f64::consts::PI;

/// Steps per contact.
const STEPS: u32 = 70;
/// The largest pair of Džiugys & Peters (1998), and the rate of its dashpot over twice the frequency.
const R: f64 = 0.05;
const MODULUS: f64 = 5e5;
const DENSITY: f64 = 1000.0;
const SPEED: f64 = 0.5;
const DAMPING: f64 = 0.229;

/// Mean square and largest of some numbers.
#[derive(Clone, Copy, Debug)]
struct Spread {
    rms: f64,
    max: f64,
    mean: f64,
}

/// Relative error of the restitution over 16 phases of the first contact and 16 fractional parts of its duration: with a
/// whole number of steps the errors of both ends cancel.
fn restitution_error(integrator: Integrator, damping: f64) -> Spread {
    let reduced = 2.0 / 3.0 * PI * R.powi(3) * DENSITY;
    let w = (MODULUS * 0.5 * R / reduced).sqrt();
    let damped = w * (1.0 - damping * damping).sqrt();
    let expected = (-PI * damping * w / damped).exp();
    let mut law: Law = law(AnyNormal::ScaledHooke(ScaledHooke { modulus: MODULUS }));
    law.damping = AnyDamping::PerMass(PerMass { rate: 2.0 * damping * w });
    law.end = ContactEnd::Geometric;
    let mut errors = Vec::new();
    for (part, phase) in (0..16).flat_map(|i| (0..16).map(move |k| (f64::from(i) / 16.0, f64::from(k) / 16.0))) {
        let mut model = model(law, DENSITY, PI / damped / (f64::from(STEPS) + part - 0.47));
        model.integrator = integrator;
        let mut state = State::new(&model);
        let x = R + (1.0 + phase) * SPEED * model.dt;
        add(&model, &mut state, 0, Vec3::X * -x, R, Vec3::X * SPEED, Vec3::ZERO);
        add(&model, &mut state, 0, Vec3::X * x, R, Vec3::X * -SPEED, Vec3::ZERO);
        run(&model, &mut state, u64::from(STEPS) * 5 / 4);
        assert!(state.contacts.pairs.is_empty(), "{integrator:?}: still in contact");
        errors.push((state.particles.velocity(1) - state.particles.velocity(0)).x / (2.0 * SPEED) / expected - 1.0);
    }
    let n = errors.len() as f64;
    Spread {
        rms: (errors.iter().map(|e| e * e).sum::<f64>() / n).sqrt(),
        max: errors.iter().fold(0.0, |max, e| e.abs().max(max)),
        mean: errors.iter().sum::<f64>() / n,
    }
}

#[test]
fn undamped_contacts_gain_energy_with_explicit_euler_and_taylor_alone() {
    let steps = f64::from(STEPS);
    for integrator in Integrator::ALL {
        let Spread { max, mean, .. } = restitution_error(integrator, 0.0);
        println!("{integrator:?}: mean {mean:.2e}, at most {max:.2e}");
        // A step multiplies the amplitude by the root of 1 + (w dt)², with Taylor by that of half of it.
        let (gain, largest) = match integrator {
            Integrator::ExplicitEuler => ((PI * PI / (2.0 * steps)).exp() - 1.0, 0.074),
            Integrator::Taylor => ((PI * PI / (4.0 * steps)).exp() - 1.0, 0.036),
            _ => (0.0, 0.0003),
        };
        assert!((mean - gain).abs() < 1e-4, "{integrator:?}: {mean:.2e} instead of {gain:.2e}");
        assert!(
            if gain > 0.0 { (max - largest).abs() < 5e-4 } else { max < largest + 5e-5 },
            "{integrator:?}: {max:.2e}"
        );
    }
}

#[test]
fn restitution_in_70_steps_is_off_by_what_the_table_of_steps_per_contact_says() {
    for integrator in Integrator::ALL {
        let Spread { rms, max, .. } = restitution_error(integrator, DAMPING);
        println!("{integrator:?}: rms {rms:.2e}, at most {max:.2e}");
        // A dashpot makes the force jump at both ends: no order helps.
        let expected = match integrator {
            Integrator::ExplicitEuler => (0.078, 0.099),
            Integrator::Taylor => (0.037, 0.057),
            // A force in the middle of the step halves the time in which the jump is not seen.
            Integrator::RungeKutta | Integrator::Hermite => (0.0047, 0.012),
            // Their dashpots read a velocity that is half a step old, as those of the leap-frog in the table.
            Integrator::SymplecticEuler | Integrator::Newmark => (0.0097, 0.024),
            _ => (0.0086, 0.020),
        };
        let near = |value: f64, expected: f64| (value / expected - 1.0).abs() < 0.2;
        assert!(near(rms, expected.0) && near(max, expected.1), "{integrator:?}: {rms:.2e} {max:.2e}");
    }
}

/// Residual of the account over the energy of the motion, rms over a while, of a grain that bobs on a plane.
fn residual(integrator: Integrator, dt: f64, b: f64) -> f64 {
    let (r, rho, g, w) = (0.1, 1000.0, 9.81, 60.0);
    let m = 4.0 / 3.0 * PI * f64::powi(r, 3) * rho;
    let mut law = hooke(m * w * w);
    law.damping = AnyDamping::Coefficient(Coefficient { coefficient: 2.0 * b * m });
    law.end = ContactEnd::Geometric;
    let mut model = model(law, rho, dt);
    model.integrator = integrator;
    model.walls.push(plane(Vec3::ZERO, Vec3::Z));
    model.fields.push(gravity(Vec3::NEG_Z * g));
    let mut state = State::new(&model);
    let v = 0.05;
    add(&model, &mut state, 0, Vec3::Z * (r - g / (w * w)), r, Vec3::Z * v, Vec3::ZERO);
    let samples = 20;
    let mut sum = 0.0;
    for _ in 0..samples {
        run(&model, &mut state, (0.01 / dt).round() as u64);
        sum += (energy::balance(&model, &state).residual() / (0.5 * m * v * v)).powi(2);
    }
    (sum / f64::from(samples)).sqrt()
}

#[test]
fn the_account_closes_to_second_order_or_to_that_of_the_integrator() {
    for (integrator, b) in Integrator::ALL.into_iter().flat_map(|i| [(i, 0.0), (i, 4.0)]) {
        let [coarse, middle, fine] = [1.0, 2.0, 4.0].map(|n| residual(integrator, 1e-3 / n, b));
        let order = (coarse / fine).log(4.0);
        println!("{integrator:?}, {b}: {coarse:.2e} {middle:.2e} {fine:.2e}, order {order:.2}");
        let expected = match integrator {
            Integrator::ExplicitEuler | Integrator::Taylor | Integrator::SymplecticEuler => 1.0,
            // Losses are booked up to the time of the force, half a step before that of the state.
            Integrator::LeapFrog if b > 0.0 => 1.0,
            // Nothing is lost and nothing is booked: the order of the energy itself.
            Integrator::Hermite if b == 0.0 => 4.0,
            Integrator::RungeKutta if b == 0.0 => 5.0,
            _ => 2.0,
        };
        assert!((order - expected).abs() < 0.2, "{integrator:?}: order {order}");
    }
}
