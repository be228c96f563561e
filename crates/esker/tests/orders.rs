//! Orders of the integrators in lasting contacts and of free rotation. Those in a smooth field are the case D-16 of
//! `esker verify`, closed forms and invariants of rotation V11, V12 and D-21.

use crate::common;

use common::*;
use esker::integrate::{Integrator, isotropic};
use esker::law::ContactEnd;
use esker::law::damping::{AnyDamping, Coefficient};
use esker::law::tangential::{AnyTangential, Spring, Stiffness, TangentialDamping};
use esker::math::{Quat, Vec3};
use esker::model::Model;
use esker::state::State;
use std::f64::consts::{PI, TAU};

/// Order with a force that depends on velocity.
fn order_with_damping(integrator: Integrator) -> f64 {
    match integrator {
        Integrator::ExplicitEuler | Integrator::SymplecticEuler | Integrator::Taylor => 1.0,
        // The predicted velocity that dashpots read lacks half the change over the step.
        Integrator::Newmark => 1.0,
        Integrator::VelocityVerlet | Integrator::LeapFrog | Integrator::AdamsBashforth | Integrator::Beeman => 2.0,
        // The predicted velocity that dashpots read is of third order.
        Integrator::Gear3 | Integrator::Hermite => 3.0,
        Integrator::Gear4 | Integrator::RungeKutta => 4.0,
        Integrator::Gear => 5.0,
    }
}

/// Order with a force that depends on position alone. The schemes of Gear are left out: to them it is all the same, and
/// without damping they come near rounding.
fn orders_without_damping() -> impl Iterator<Item = (Integrator, f64)> {
    let order = |i: Integrator| match i {
        Integrator::Newmark => 2.0,
        Integrator::Hermite => 4.0,
        _ => order_with_damping(i),
    };
    Integrator::ALL.into_iter().filter(|&i| !is_gear(i)).map(move |i| (i, order(i)))
}

fn is_gear(integrator: Integrator) -> bool {
    matches!(integrator, Integrator::Gear3 | Integrator::Gear4 | Integrator::Gear)
}

/// x'' = -w² x - 2 b x'.
#[derive(Clone, Copy)]
struct Oscillator {
    w: f64,
    b: f64,
}

impl Oscillator {
    fn at(&self, x0: f64, v0: f64, t: f64) -> (f64, f64) {
        let d = (self.w * self.w - self.b * self.b).sqrt();
        let s = (v0 + self.b * x0) / d;
        let (sin, cos) = (d * t).sin_cos();
        let x = x0 * cos + s * sin;
        let decay = (-self.b * t).exp();
        (decay * x, decay * (-self.b * x + d * (s * cos - x0 * sin)))
    }

    /// Gives a Gear scheme its exact derivatives dt^k/k! d^k x/dt^k, k = 2…5, along `axis`.
    fn start_gear(&self, model: &Model, state: &mut State, x0: f64, v0: f64, axis: Vec3) {
        if !is_gear(model.integrator) {
            return;
        }
        let mut d = [x0, v0, 0.0, 0.0, 0.0, 0.0];
        let mut factor = model.dt;
        for k in 2..6 {
            d[k] = -self.w * self.w * d[k - 2] - 2.0 * self.b * d[k - 1];
            factor *= model.dt / k as f64;
            state.particles.derivatives[0].position[k - 2] = axis * (d[k] * factor);
        }
    }
}

/// Order from errors at successively halved steps: least squares over all.
fn order(errors: &[f64]) -> f64 {
    let n = errors.len() as f64;
    let mean = (n - 1.0) / 2.0;
    let (mut top, mut bottom) = (0.0, 0.0);
    for (i, e) in errors.iter().enumerate() {
        top -= (i as f64 - mean) * e.log2();
        bottom += (i as f64 - mean).powi(2);
    }
    top / bottom
}

#[track_caller]
fn has_order(integrator: Integrator, expected: f64, error: impl Fn(Integrator, f64) -> f64) {
    let errors: Vec<f64> = (0..4).map(|i| error(integrator, 1.0 / f64::from(1 << i))).collect();
    let found = order(&errors);
    println!("{integrator:?}: order {found:.3}, {errors:?}");
    assert!((found - expected).abs() < 0.1, "{integrator:?}: order {found}, {errors:?}");
}

#[test]
fn gear_started_without_higher_derivatives_is_of_second_order_at_least() {
    // The start of a run knows acceleration only; contacts make the force jump anyway.
    let o = Oscillator { w: 60.0, b: 4.0 };
    for gear in [Integrator::Gear3, Integrator::Gear4, Integrator::Gear] {
        let errors: Vec<f64> = (0..4).map(|i| bobbing_grain(gear, o, 1e-3 / f64::from(1 << i), false)).collect();
        println!("{gear:?}, plain start: order {:.3}, {errors:?}", order(&errors));
        assert!(order(&errors) > 1.9, "{gear:?}: {errors:?}");
    }
}

/// Error of a grain that bobs on a plane under its weight and never leaves it.
fn bobbing_grain(integrator: Integrator, o: Oscillator, dt: f64, exact_start: bool) -> f64 {
    let (r, rho, g) = (0.1, 1000.0, 9.81);
    let m = 4.0 / 3.0 * PI * f64::powi(r, 3) * rho;
    let mut law = hooke(m * o.w * o.w);
    law.damping = AnyDamping::Coefficient(Coefficient { coefficient: 2.0 * o.b * m });
    law.end = ContactEnd::Geometric;
    let mut model = model(law, rho, dt);
    model.integrator = integrator;
    model.walls.push(plane(Vec3::ZERO, Vec3::Z));
    model.fields.push(gravity(Vec3::NEG_Z * g));
    let rest = r - g / (o.w * o.w);
    let (x0, v0) = (5e-4, 0.02);
    let mut state = State::new(&model);
    add(&model, &mut state, 0, Vec3::Z * (rest + x0), r, Vec3::Z * v0, Vec3::ZERO);
    run(&model, &mut state, 0);
    if exact_start {
        o.start_gear(&model, &mut state, x0, v0, Vec3::Z);
    }
    run(&model, &mut state, (0.2 / model.dt).round() as u64);
    let (x, v) = o.at(x0, v0, state.time);
    let p = &state.particles;
    (p.position(0).z - rest - x).hypot((p.velocity(0).z - v) / o.w) / x0
}

#[test]
fn each_integrator_has_its_order_in_a_lasting_contact_with_a_dashpot() {
    let o = Oscillator { w: 60.0, b: 4.0 };
    for integrator in Integrator::ALL {
        has_order(integrator, order_with_damping(integrator), |i, h| bobbing_grain(i, o, 1e-3 * h, true));
    }
}

#[test]
fn each_integrator_has_its_order_in_a_lasting_contact_without_a_dashpot() {
    let o = Oscillator { w: 60.0, b: 0.0 };
    for (integrator, expected) in orders_without_damping() {
        has_order(integrator, expected, |i, h| bobbing_grain(i, o, 1e-3 * h, true));
    }
}

/// Error of the velocity of a grain at rest on a plane that begins to rock on its tangential spring and does not slip.
fn rocking_grain(integrator: Integrator, dt: f64) -> f64 {
    let (r, rho, g, k, kt) = (0.1, 1000.0, 9.81, 1e6, 2e4);
    let m = 4.0 / 3.0 * PI * f64::powi(r, 3) * rho;
    let mut law = hooke(k);
    law.tangential = AnyTangential::Spring(Spring {
        stiffness: Stiffness::Ratio(kt / k),
        damping: TangentialDamping::Ratio(0.0),
        friction: 1.0,
    });
    let mut model = model(law, rho, dt);
    model.integrator = integrator;
    model.walls.push(plane(Vec3::ZERO, Vec3::Z));
    let along = 0.5;
    model.fields.push(gravity(Vec3::new(along, 0.0, -g)));
    let mut state = State::new(&model);
    let h = m * g / k;
    add(&model, &mut state, 0, Vec3::Z * (r - h), r, Vec3::ZERO, Vec3::ZERO);
    run(&model, &mut state, (0.2 / model.dt).round() as u64);
    // The spring sees the inertia of the translation and of the rotation about the contact point.
    let lever = r - 0.5 * h;
    let (push, roll) = (1.0 / m, lever * lever / (0.4 * m * r * r));
    let w = (kt * (push + roll)).sqrt();
    let t = state.time;
    let exact = along * (t - push / (push + roll) * (t - (w * t).sin() / w));
    (state.particles.velocity(0).x / exact - 1.0).abs()
}

#[test]
fn each_integrator_has_its_order_on_a_tangential_spring() {
    for (integrator, expected) in orders_without_damping() {
        // Symplectic Euler has the velocities of the leap-frog, half a step off: from rest they are of second order.
        let expected = if integrator == Integrator::SymplecticEuler { 2.0 } else { expected };
        // Not so fine that high orders come near rounding.
        let dt = if expected > 2.0 { 1e-3 } else { 2.5e-4 };
        has_order(integrator, expected, |i, h| rocking_grain(i, dt * h));
    }
}

/// A body with principal moments (times 1 kg m²) that turns freely.
fn top(integrator: Integrator, dt: f64, inertia: Vec3, spin: Vec3) -> (Model, State) {
    let mut model = model(hooke(1.0), 1.0, dt);
    model.integrator = integrator;
    let mut state = State::new(&model);
    add(&model, &mut state, 0, Vec3::ZERO, 1.0, Vec3::ZERO, spin);
    state.particles.inertia[0] = inertia;
    (model, state)
}

fn body_spin(state: &State) -> Vec3 {
    state.particles.orientation[0].conjugate() * state.particles.angular_velocity(0)
}

/// Spin of a free body in body axes, by Euler's equations and a fine Runge–Kutta.
fn euler(inertia: Vec3, spin: Vec3, time: f64) -> Vec3 {
    let rate = |w: Vec3| -w.cross(inertia * w) / inertia;
    let n = 20_000;
    let h = time / f64::from(n);
    (0..n).fold(spin, |w, _| {
        let a = rate(w);
        let b = rate(w + 0.5 * h * a);
        let c = rate(w + 0.5 * h * b);
        let d = rate(w + h * c);
        w + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
    })
}

#[test]
fn free_rotation_is_of_second_order_or_of_fourth() {
    let (inertia, spin) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(0.3, 1.0, -0.6));
    let exact = euler(inertia, spin, 8.0);
    for integrator in Integrator::ALL {
        let errors: Vec<f64> = (0..4)
            .map(|i| {
                let (model, mut state) = top(integrator, 0.04 / f64::from(1 << i), inertia, spin);
                run(&model, &mut state, (8.0 / model.dt).round() as u64);
                body_spin(&state).distance(exact)
            })
            .collect();
        println!("{integrator:?}: order {:.3}, {errors:?}", order(&errors));
        let expected = if matches!(integrator, Integrator::Hermite | Integrator::RungeKutta) { 4.0 } else { 2.0 };
        assert!((order(&errors) - expected).abs() < 0.1, "{integrator:?}: {errors:?}");
    }
}

#[test]
fn a_spinning_sphere_keeps_count_of_its_turns() {
    for integrator in Integrator::ALL {
        let (model, mut state) = top(integrator, 1e-3, Vec3::ONE, Vec3::new(0.0, 0.0, TAU));
        run(&model, &mut state, 1250);
        let expected = Quat::from_rotation_z(TAU * 1.25);
        let off = (isotropic::orientation(&model, &state, 0) * Vec3::X).distance(expected * Vec3::X);
        println!("{integrator:?}: {off:.1e}");
        assert!(off < 1e-4, "{integrator:?}: {off:.1e}");
    }
}
