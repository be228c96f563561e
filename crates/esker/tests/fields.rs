//! Force fields against closed forms, and their account.

use crate::common;

use common::*;
use esker::expression::Program;
use esker::field::{Buoyancy, Central, Drag, DragCoefficient, ExpressionField, MutualAttraction, SLOTS, UniformForce};
use esker::integrate::Integrator;
use esker::math::Vec3;
use esker::measure::energy;
use esker::model::Model;
use esker::neighbor::PeriodicCell;
use esker::state::State;
use std::f64::consts::{PI, TAU};
use std::sync::Arc;

const R: f64 = 0.01;
const DENSITY: f64 = 2500.0;

fn empty(dt: f64) -> Model {
    model(hooke(1e4), DENSITY, dt)
}

fn one(model: &Model, x: Vec3, v: Vec3) -> State {
    let mut state = State::new(model);
    add(model, &mut state, 0, x, R, v, Vec3::ZERO);
    state
}

#[track_caller]
fn account_closes(model: &Model, state: &State, scale: f64, limit: f64) {
    let off = energy::balance(model, state).residual() / scale;
    println!("residual {off:.2e} of {limit:.0e}");
    assert!(off.abs() < limit, "residual {off:.2e} > {limit:.0e}");
}

#[test]
fn a_thrown_grain_follows_the_parabola_exactly() {
    // V1: Verlet is exact for a constant force.
    let g = Vec3::new(0.3, 0.0, -9.81);
    let mut model = empty(1e-3);
    model.fields.push(gravity(g));
    let (x, v) = (Vec3::new(0.0, 1.0, 5.0), Vec3::new(3.0, -1.0, 4.0));
    let mut state = one(&model, x, v);
    run(&model, &mut state, 1000);
    let t = state.time;
    assert!((state.particles.position(0) - (x + v * t + 0.5 * g * t * t)).length() < 1e-12);
    account_closes(&model, &state, 0.5 * state.particles.mass[0] * v.length_squared(), 1e-12);
}

#[test]
fn a_uniform_force_accelerates_by_force_over_mass() {
    let mut model = empty(1e-3);
    let force = Vec3::new(0.01, -0.02, 0.03);
    model.fields.push(Arc::new(UniformForce { force }));
    let mut state = one(&model, Vec3::ZERO, Vec3::ZERO);
    run(&model, &mut state, 100);
    let m = state.particles.mass[0];
    assert!((state.particles.velocity(0) - force / m * state.time).length() < 1e-13);
    account_closes(&model, &state, 0.5 * m * state.particles.velocity(0).length_squared(), 1e-12);
}

#[test]
fn a_neutrally_buoyant_sphere_stays_and_a_denser_one_sinks_with_reduced_gravity() {
    // D-30.
    for fluid in [2500.0, 1000.0, 4000.0] {
        let mut model = empty(1e-3);
        let g = Vec3::NEG_Z * 9.81;
        model.fields.push(gravity(g));
        let shapes = model.kinds.iter().map(|k| k.shape).collect();
        model.fields.push(Arc::new(Buoyancy { fluid_density: fluid, gravity: g, shapes }));
        let mut state = one(&model, Vec3::ZERO, Vec3::ZERO);
        run(&model, &mut state, 1000);
        let expected = -9.81 * (1.0 - fluid / DENSITY) * state.time;
        assert!((state.particles.velocity(0).z - expected).abs() < 1e-12, "{}", state.particles.velocity(0));
        account_closes(&model, &state, state.particles.mass[0], 1e-12);
    }
}

#[test]
fn drag_slows_exponentially_and_stokes_drag_gives_the_terminal_speed() {
    let mut model = empty(5e-4);
    model.fields.push(Arc::new(Drag { coefficient: DragCoefficient::PerMass(2.0), flow: Vec3::X }));
    let mut state = one(&model, Vec3::ZERO, Vec3::new(4.0, 1.0, 0.0));
    run(&model, &mut state, 1000);
    let v = state.particles.velocity(0) - Vec3::X;
    close(v.x, 3.0 * (-2.0 * state.time).exp(), 1e-6, "exponential decay");
    close(v.y, (-2.0 * state.time).exp(), 1e-6, "exponential decay");
    account_closes(&model, &state, state.particles.mass[0] * 17.0 / 2.0, 1e-6);

    let viscosity = 50.0;
    let mut model = empty(1e-4);
    model.fields.push(gravity(Vec3::NEG_Z * 9.81));
    model.fields.push(Arc::new(Drag { coefficient: DragCoefficient::Stokes(viscosity), flow: Vec3::ZERO }));
    let mut state = one(&model, Vec3::ZERO, Vec3::ZERO);
    run(&model, &mut state, 10_000);
    close(-state.particles.velocity(0).z, 2.0 / 9.0 * R * R * DENSITY * 9.81 / viscosity, 1e-10, "terminal speed");
    account_closes(&model, &state, state.particles.mass[0] * 9.81 * state.particles.position(0).z.abs(), 1e-4);

    let mut model = empty(1e-3);
    let k = 0.02;
    model.fields.push(Arc::new(Drag { coefficient: DragCoefficient::Constant(k), flow: Vec3::ZERO }));
    let mut state = one(&model, Vec3::ZERO, Vec3::X);
    run(&model, &mut state, 400);
    close(state.particles.velocity(0).x, (-k / state.particles.mass[0] * state.time).exp(), 1e-4, "constant drag");
}

#[test]
fn the_work_of_drag_is_booked_to_second_order() {
    let off = |dt: f64| {
        let mut model = empty(dt);
        model.fields.push(Arc::new(Drag { coefficient: DragCoefficient::PerMass(3.0), flow: Vec3::Y }));
        let mut state = one(&model, Vec3::ZERO, Vec3::new(2.0, 0.5, 0.0));
        run(&model, &mut state, (0.5 / dt).round() as u64);
        (energy::balance(&model, &state).residual() / state.particles.mass[0]).abs()
    };
    let order = (off(0.01) / off(0.0025)).log(4.0);
    println!("order {order:.3}, {:.2e} at 0.01 s", off(0.01));
    assert!((order - 2.0).abs() < 0.1, "order {order}");
}

#[test]
fn the_work_of_drag_on_many_grains_is_the_sum_of_that_on_each() {
    let mut model = empty(1e-3);
    model.fields.push(gravity(Vec3::NEG_Z * 9.81));
    model.fields.push(Arc::new(Drag { coefficient: DragCoefficient::PerMass(3.0), flow: Vec3::Y }));
    let (mut all, mut sum) = (State::new(&model), 0.0);
    for k in 0..2500 {
        let (x, v) = (Vec3::X * f64::from(k), Vec3::new(f64::from(k % 7), f64::from(k % 11), 1.0));
        add(&model, &mut all, 0, x, R, v, Vec3::ZERO);
        let mut alone = one(&model, x, v);
        run(&model, &mut alone, 3);
        sum += alone.ledger.field_work;
    }
    run(&model, &mut all, 3);
    close(all.ledger.field_work, sum, 5e-14, "work of drag");
}

#[test]
fn a_grain_about_a_heavy_centre_follows_kepler() {
    let (gm, a, e) = (4.0, 1.5f64, 0.4);
    let period = TAU * (a.powi(3) / gm).sqrt();
    let mut model = empty(period / 20_000.0);
    let centre = Vec3::new(0.5, -0.2, 0.1);
    model.fields.push(Arc::new(Central { centre, strength: gm, exponent: -2.0, cell: PeriodicCell::OPEN }));
    let v = (gm / a * (1.0 + e) / (1.0 - e)).sqrt();
    let x = centre + Vec3::X * (a * (1.0 - e));
    let mut state = one(&model, x, Vec3::new(0.0, 0.6 * v, 0.8 * v));
    run(&model, &mut state, 20_000);
    let off = state.particles.position(0).distance(x) / a;
    println!("closes its orbit within {off:.1e} a");
    assert!(off < 1e-5, "after one period it is {off:.1e} a away");
    account_closes(&model, &state, state.particles.mass[0] * gm / (2.0 * a), 1e-7);
    run(&model, &mut state, 10_000);
    close(state.particles.position(0).distance(centre), a * (1.0 + e), 1e-6, "farthest distance");
}

#[test]
fn two_grains_circle_each_other_under_their_own_attraction() {
    let (constant, d) = (0.5, 0.3);
    let mut model = empty(1e-4);
    model.fields.push(Arc::new(MutualAttraction { constant, cell: PeriodicCell::OPEN, every: 1 }));
    let mut state = State::new(&model);
    let (m1, m2) = (model.kinds[0].mass(R), model.kinds[0].mass(1.5 * R));
    let omega = (constant * (m1 + m2) / (d * d * d)).sqrt();
    let (r1, r2) = (d * m2 / (m1 + m2), d * m1 / (m1 + m2));
    model.dt = TAU / omega / 5000.0;
    add(&model, &mut state, 0, Vec3::X * r1, R, Vec3::Y * (omega * r1), Vec3::ZERO);
    add(&model, &mut state, 0, Vec3::X * -r2, 1.5 * R, Vec3::Y * (-omega * r2), Vec3::ZERO);
    run(&model, &mut state, 5000);
    let p = &state.particles;
    let (a, b) = (index(&state, 0), index(&state, 1));
    assert!(p.position(a).distance(Vec3::X * r1) < 1e-5 * d, "{}", p.position(a));
    assert!(p.position(b).distance(Vec3::X * -r2) < 1e-5 * d, "{}", p.position(b));
    close(p.position(a).distance(p.position(b)), d, 1e-6, "distance");
    account_closes(&model, &state, constant * m1 * m2 / d, 1e-9);
}

/// Two grains that attract each other, looked at every so many steps, bound to the middle by a spring besides: where the first
/// is after a while, and the residual of the account over the energy of the attraction.
fn bound_pair(integrator: Integrator, dt: f64, every: u64, spring: f64) -> (Vec3, f64) {
    let (constant, d) = (0.5, 0.3);
    let mut model = empty(dt);
    model.integrator = integrator;
    model.fields.push(Arc::new(MutualAttraction { constant, cell: PeriodicCell::OPEN, every }));
    if spring > 0.0 {
        model.fields.push(Arc::new(Central { centre: Vec3::ZERO, strength: spring, exponent: 1.0, cell: model.cell }));
    }
    let mut state = State::new(&model);
    let m = model.kinds[0].mass(R);
    // Somewhat more than on a circle.
    let v = 1.1 * (constant * m / (2.0 * d) + 0.25 * spring * d * d).sqrt();
    add(&model, &mut state, 0, Vec3::X * (0.5 * d), R, Vec3::Y * v, Vec3::ZERO);
    add(&model, &mut state, 0, Vec3::X * (-0.5 * d), R, Vec3::Y * -v, Vec3::ZERO);
    run(&model, &mut state, (0.512 / dt).round() as u64);
    let residual = energy::balance(&model, &state).residual() / (constant * m * m / d);
    (state.particles.position(index(&state, 0)), residual)
}

#[test]
fn a_field_looked_at_every_fourth_step_is_one_of_steps_four_times_as_long() {
    for integrator in [Integrator::VelocityVerlet, Integrator::SymplecticEuler] {
        let ((impulses, _), (steps, _)) = (bound_pair(integrator, 1e-3, 4, 0.0), bound_pair(integrator, 4e-3, 1, 0.0));
        let off = impulses.distance(steps);
        println!("{integrator:?}: off by {off:.1e} m");
        assert!(off < 1e-14, "{integrator:?}: off by {off:.1e} m");
    }
}

#[test]
fn impulses_beside_a_fast_field_are_of_second_order() {
    let (fine, _) = bound_pair(Integrator::VelocityVerlet, 1.25e-4, 1, 100.0);
    let [coarse, half] = [4e-3, 2e-3].map(|dt| bound_pair(Integrator::VelocityVerlet, dt, 4, 100.0));
    let order = (coarse.0.distance(fine) / half.0.distance(fine)).log2();
    println!("order {order:.2}; residuals {:.1e}, {:.1e}", coarse.1, half.1);
    assert!((order - 2.0).abs() < 0.1, "order {order}");
    let order = (coarse.1 / half.1).log2();
    assert!((order - 2.0).abs() < 0.1, "order {order} of the residual");
}

#[test]
fn an_expression_is_a_force_like_any_other() {
    // A damped oscillator with a driving term, all in expressions: x'' = -w² x - 2 b x' + f cos(t).
    let (w, b, f) = (3.0f64, 0.5, 0.7);
    let mut model = empty(1e-3);
    let compile = |text: &str| Program::compile(text, &SLOTS).unwrap();
    model.fields.push(Arc::new(ExpressionField {
        force: [compile("m*(-9*x - vx + 0.7*cos(t))"), compile("0"), compile("-m*9.81*(1 + r - r)")],
        cell: PeriodicCell::OPEN,
    }));
    let detuning = w * w - 1.0;
    let denominator = detuning * detuning + 4.0 * b * b;
    let (c, s) = (f * detuning / denominator, f * 2.0 * b / denominator);
    let mut state = one(&model, Vec3::X * c, Vec3::X * s);
    let steps = (2.0 * PI / model.dt) as u64;
    run(&model, &mut state, steps);
    let t = state.time;
    let x = state.particles.position(0);
    assert!((x.x - (c * t.cos() + s * t.sin())).abs() < 1e-6, "steady oscillation: {}", x.x);
    close(x.z, -0.5 * 9.81 * t * t, 1e-9, "fall");
    account_closes(&model, &state, state.particles.mass[0] * 9.81 * x.z.abs(), 1e-6);
}
