//! Sliding, rolling and spinning on a plane against closed forms (V2–V5, DEM04, D-28, D-29).
//!
//! The plane lies flat and gravity is tilted instead. Grains start at the overlap that carries their weight.

use crate::common;

use common::*;
use esker::law::Law;
use esker::law::damping::{AnyDamping, FromRestitution};
use esker::law::rolling::{AnyRolling, ConstantTorque, ElasticPlastic};
use esker::law::tangential::{AnyTangential, Spring, Stiffness, TangentialDamping};
use esker::law::twisting::{AnyTwisting, TwistSpring};
use esker::math::Vec3;
use esker::measure::wall_profile::{Levels, StripLoad, Strips};
use esker::model::Model;
use esker::shape::Shape;
use esker::state::State;

const G: f64 = 9.81;
const R: f64 = 0.1;
const K: f64 = 1e8;
const DENSITY: f64 = 2500.0;

fn mass() -> f64 {
    4.0 / 3.0 * std::f64::consts::PI * R.powi(3) * DENSITY
}

/// Stiff Hooke contact with a tangential spring; dashpots in both directions take the elastic ringing out.
fn rough(mu: f64) -> Law {
    let mut law = hooke(K);
    law.damping = AnyDamping::FromRestitution(FromRestitution::new(0.3, &law.normal, law.end));
    law.tangential = AnyTangential::Spring(Spring {
        stiffness: Stiffness::Ratio(2.0 / 7.0),
        damping: TangentialDamping::Ratio(0.5),
        friction: mu,
    });
    law
}

/// A sphere on a plane of slope `theta`; the slope falls towards +x.
fn slope(law: Law, theta: f64) -> Model {
    let t_c = std::f64::consts::PI * (mass() / K).sqrt();
    let mut model = model(law, DENSITY, t_c / 50.0);
    model.walls.push(plane(Vec3::ZERO, Vec3::Z));
    model.fields.push(gravity(G * Vec3::new(theta.sin(), 0.0, -theta.cos())));
    model
}

/// One grain resting on the slope, with velocities.
fn grain_on(model: &Model, v: Vec3, w: Vec3) -> State {
    let g = -model.uniform_acceleration();
    let mut state = State::new(model);
    let m = model.kinds[0].mass(R);
    add(model, &mut state, 0, Vec3::Z * (R - m * g.z / K), R, v, w);
    state
}

fn steps(model: &Model, time: f64) -> u64 {
    (time / model.dt).round() as u64
}

/// Mean acceleration along x and angular acceleration about y over `time`, after `wait`.
fn accelerations(model: &Model, state: &mut State, wait: f64, time: f64) -> (f64, f64) {
    run(model, state, steps(model, wait));
    let before = (state.time, state.particles.velocity(0).x, state.particles.angular_velocity(0).y);
    run(model, state, steps(model, time));
    let span = state.time - before.0;
    let p = &state.particles;
    ((p.velocity(0).x - before.1) / span, (p.angular_velocity(0).y - before.2) / span)
}

#[test]
fn a_sphere_rolls_down_a_slope_with_five_sevenths_of_the_acceleration() {
    // V3; the first case is that of MercuryDPM: 15 degrees, mu 0.5, v = 1.81167 m/s after 1 s at g = 9.8.
    for (degrees, mu) in [(15.0f64, 0.5), (30.0, 0.17), (45.0, 0.29)] {
        let theta = degrees.to_radians();
        assert!(mu > 2.0 / 7.0 * theta.tan());
        let model = slope(rough(mu), theta);
        let mut state = grain_on(&model, Vec3::ZERO, Vec3::ZERO);
        run(&model, &mut state, steps(&model, 0.5));
        let v = state.particles.velocity(0).x;
        close(v / state.time, 5.0 / 7.0 * G * theta.sin(), 1e-4, "rolling acceleration");
        close(state.particles.angular_velocity(0).y * R, v, 1e-4, "rolling without slip");
    }
}

#[test]
fn a_sphere_slips_on_a_slope_too_steep_for_rolling() {
    for (degrees, mu) in [(45.0f64, 0.1), (30.0, 0.16), (60.0, 0.3)] {
        let theta = degrees.to_radians();
        assert!(mu < 2.0 / 7.0 * theta.tan());
        let model = slope(rough(mu), theta);
        let mut state = grain_on(&model, Vec3::ZERO, Vec3::ZERO);
        let (a, alpha) = accelerations(&model, &mut state, 0.05, 0.25);
        close(a, G * (theta.sin() - mu * theta.cos()), 1e-4, "slipping acceleration");
        close(alpha, 2.5 * mu * G * theta.cos() / R, 1e-4, "angular acceleration");
    }
}

#[test]
fn walls_carry_what_slipping_spheres_press_and_rub_strip_by_strip() {
    let (theta, mu, apart) = (30f64.to_radians(), 0.16, 3.0);
    let mut model = slope(rough(mu), theta);
    model.walls[0].name = "slope".into();
    let mut state = grain_on(&model, Vec3::ZERO, Vec3::ZERO);
    for times in [1.0, 2.0] {
        let above = state.particles.position(0) - times * apart * Vec3::X;
        add(&model, &mut state, 0, above, R, Vec3::ZERO, Vec3::ZERO);
    }
    run(&model, &mut state, steps(&model, 0.1));
    // Against gravity: the slope falls towards +x, so those at -x stand higher.
    let up = Vec3::new(-theta.sin(), 0.0, theta.cos());
    let levels = Levels::of(&state, up).unwrap();
    let rise = apart * theta.sin();
    close(levels.top - levels.bottom, 2.0 * rise + 2.0 * R, 1e-14, "height");
    close(levels.surface - levels.bottom, 2.0 * (rise + R), 1e-14, "surface, at twice the height of the middle");
    close(levels.mass, 3.0 * mass(), 1e-12, "mass");
    // The two lower ones have a strip each, the highest one has none.
    let strips = Strips { up, bottom: levels.bottom + R - 0.5 * rise, height: rise, count: 2 };
    for load in strips.loads(&model, &state, &["slope".into()]) {
        assert_eq!(load.contacts, 1);
        // The last digit of a place is worth 1.6e-11 of it.
        let normal = mass() * G * theta.cos();
        close(load.normal, normal, 1e-10, "normal force");
        close(load.shear, mu * normal * theta.sin(), 1e-10, "shear, downwards");
    }
    assert_eq!(strips.loads(&model, &state, &["floor".into()]), [StripLoad::default(); 2]);
}

#[test]
fn a_disc_rolls_and_slips_like_a_cylinder() {
    for (degrees, mu, rolls) in [(30.0f64, 0.2, true), (30.0, 0.15, false)] {
        let theta = degrees.to_radians();
        assert_eq!(mu > theta.tan() / 3.0, rolls);
        let mut model = slope(rough(mu), theta);
        model.planar = true;
        for kind in &mut model.kinds {
            kind.shape = Shape::Disc { depth: 4.0 / 3.0 * R };
            kind.inertia_factor = kind.shape.inertia_factor();
        }
        model.walls[0] = plane(Vec3::ZERO, Vec3::Y);
        model.fields[0] = gravity(G * Vec3::new(theta.sin(), -theta.cos(), 0.0));
        let mut state = State::new(&model);
        let m = model.kinds[0].mass(R);
        close(m, mass(), 1e-12, "mass of the disc");
        add(&model, &mut state, 0, Vec3::Y * (R - m * G * theta.cos() / K), R, Vec3::ZERO, Vec3::ZERO);
        run(&model, &mut state, steps(&model, 0.05));
        let before = (state.time, state.particles.velocity(0).x, state.particles.angular_velocity(0).z);
        run(&model, &mut state, steps(&model, 0.4));
        let span = state.time - before.0;
        let a = (state.particles.velocity(0).x - before.1) / span;
        let alpha = (state.particles.angular_velocity(0).z - before.2) / span;
        if rolls {
            close(a, 2.0 / 3.0 * G * theta.sin(), 1e-4, "rolling acceleration");
            close(-alpha * R, a, 1e-4, "rolling without slip");
        } else {
            close(a, G * (theta.sin() - mu * theta.cos()), 1e-4, "slipping acceleration");
            close(-alpha, 2.0 * mu * G * theta.cos() / R, 1e-4, "angular acceleration");
        }
        assert_eq!(state.particles.position(0).z, 0.0);
    }
}

/// A grain that does not turn: a block.
fn block(mut model: Model) -> Model {
    model.kinds[0].inertia_factor = Vec3::splat(1e15);
    model
}

#[test]
fn a_block_slides_with_the_acceleration_of_coulomb() {
    // V2.
    for (degrees, mu) in [(30.0f64, 0.3), (45.0, 0.9), (20.0, 0.1)] {
        let theta = degrees.to_radians();
        let model = block(slope(rough(mu), theta));
        let mut state = grain_on(&model, Vec3::X * 0.1, Vec3::ZERO);
        let (a, _) = accelerations(&model, &mut state, 0.05, 0.2);
        close(a, G * (theta.sin() - mu * theta.cos()), 1e-6, "sliding acceleration");
    }
}

#[test]
fn a_block_sticks_on_a_slope_below_the_angle_of_friction() {
    // V2: creep below 1e-9 m/s, friction balances the weight.
    for (degrees, mu) in [(30.0f64, 0.58), (45.0, 1.01), (10.0, 0.5)] {
        let theta = degrees.to_radians();
        let model = block(slope(rough(mu), theta));
        let mut state = grain_on(&model, Vec3::ZERO, Vec3::ZERO);
        run(&model, &mut state, steps(&model, 0.1));
        let x = state.particles.position(0).x;
        run(&model, &mut state, steps(&model, 0.2));
        let creep = (state.particles.position(0).x - x) / 0.2;
        assert!(creep.abs() < 1e-9, "mean creep {creep:.2e} m/s");
        assert!(state.particles.velocity(0).length() < 1e-9, "{:.2e} m/s", state.particles.velocity(0).length());
        close(-state.walls[0].force.x, -mass() * G * theta.sin(), 1e-6, "friction");
    }
}

#[test]
fn a_sliding_sphere_comes_to_roll_after_the_time_of_mfix_dem04() {
    let (r, u0, k) = (5e-4, 0.1, 1e4);
    for mu in [0.2, 0.5, 1.0] {
        let mut law = rough(mu);
        law.normal = hooke(k).normal;
        let mut model = model(law, 2600.0, 5e-7);
        model.walls.push(plane(Vec3::ZERO, Vec3::Z));
        model.fields.push(gravity(Vec3::NEG_Z * G));
        let mut state = State::new(&model);
        let m = model.kinds[0].mass(r);
        add(&model, &mut state, 0, Vec3::Z * (r - m * G / k), r, Vec3::X * u0, Vec3::ZERO);
        let t_s = 2.0 * u0 / (7.0 * mu * G);
        let slip = |s: &State| s.particles.velocity(0).x - r * s.particles.angular_velocity(0).y;

        // Sliding ends when the slip speed, falling linearly, reaches zero.
        run(&model, &mut state, (0.95 * t_s / model.dt) as u64);
        let mut before = slip(&state);
        let stopped = loop {
            run(&model, &mut state, 1);
            let now = slip(&state);
            if now <= 0.0 {
                break state.time + model.dt * now / (before - now);
            }
            before = now;
        };
        close(stopped, t_s, 1e-3, "time of sliding");
        run(&model, &mut state, (0.5 * t_s / model.dt) as u64);
        close(state.particles.velocity(0).x, 5.0 / 7.0 * u0, 1e-3, "speed of rolling");
        close(state.particles.angular_velocity(0).y * r, 5.0 / 7.0 * u0, 1e-3, "spin of rolling");
    }
}

#[test]
fn a_constant_rolling_torque_stops_a_sphere_at_the_closed_form_distance() {
    // V4.
    for mu_r in [0.05, 0.2] {
        let mut law = rough(0.8);
        law.rolling = AnyRolling::Constant(ConstantTorque { friction: mu_r });
        let model = slope(law, 0.0);
        let v0 = 0.3;
        let mut state = grain_on(&model, Vec3::X * v0, Vec3::Y * (v0 / R));
        let stop = v0 / (5.0 / 7.0 * mu_r * G);
        let (a, _) = accelerations(&model, &mut state, 0.05 * stop, 0.8 * stop);
        close(-a, 5.0 / 7.0 * mu_r * G, 1e-3, "deceleration");
        run(&model, &mut state, steps(&model, 0.3 * stop));
        close(state.particles.position(0).x, 0.7 * v0 * v0 / (mu_r * G), 1e-3, "stopping distance");
        assert!(state.particles.velocity(0).x.abs() < 1e-6 * v0, "it rests: {:.2e}", state.particles.velocity(0).x);
    }
}

#[test]
fn an_elastic_plastic_rolling_spring_holds_a_sphere_below_its_angle_and_lets_it_roll_above() {
    // V4: rests on the slope if and only if tan(theta) < mu_r, sharp to 1e-3.
    for mu_r in [0.1f64, 0.4] {
        let mut law = rough(0.9);
        law.rolling = AnyRolling::Spring(ElasticPlastic { friction: mu_r, stiffness: None, damping_ratio: 0.5 });

        let model = slope(law, (mu_r * (1.0 - 1e-3)).atan());
        let mut state = grain_on(&model, Vec3::ZERO, Vec3::ZERO);
        run(&model, &mut state, steps(&model, 2.0));
        let v = state.particles.velocity(0).length();
        assert!(v < 1e-9, "mu_r {mu_r}: it moves with {v:.2e} m/s below the angle");

        let theta = (mu_r * (1.0 + 1e-3)).atan();
        let model = slope(law, theta);
        let mut state = grain_on(&model, Vec3::ZERO, Vec3::ZERO);
        run(&model, &mut state, steps(&model, 0.6));
        let v = state.particles.velocity(0).x;
        assert!(
            v > 0.5 * 5.0 / 7.0 * G * (theta.sin() - mu_r * theta.cos()) * 0.6,
            "mu_r {mu_r}: {v:.2e} m/s above it"
        );

        let theta = (1.5 * mu_r).atan();
        let model = slope(law, theta);
        let mut state = grain_on(&model, Vec3::ZERO, Vec3::ZERO);
        let (a, _) = accelerations(&model, &mut state, 0.1, 0.3);
        close(a, 5.0 / 7.0 * G * (theta.sin() - mu_r * theta.cos()), 1e-3, "rolling acceleration");
    }
}

#[test]
fn a_spinning_sphere_is_slowed_by_the_limit_torque_of_twisting() {
    // V5: I dw/dt = -mu_t R N.
    for mu_t in [0.01, 0.1] {
        let mut law = rough(0.5);
        law.twisting = AnyTwisting::Spring(TwistSpring { friction: mu_t, stiffness: None, damping_ratio: 0.5 });
        let model = slope(law, 0.0);
        let alpha = 2.5 * mu_t * G / R;
        let w0 = alpha * 0.5;
        let mut state = grain_on(&model, Vec3::ZERO, Vec3::Z * w0);
        run(&model, &mut state, steps(&model, 0.1));
        let (t, w) = (state.time, state.particles.angular_velocity(0).z);
        run(&model, &mut state, steps(&model, 0.3));
        close((w - state.particles.angular_velocity(0).z) / (state.time - t), alpha, 1e-3, "angular deceleration");
        run(&model, &mut state, steps(&model, 1.0));
        assert!(state.particles.angular_velocity(0).length() < 1e-6 * w0, "it rests");
    }
}

/// Peaks of the tangential displacement of the wall contact, and the times between them, over `cycles` cycles.
fn ringing(model: &Model, state: &mut State, cycles: f64, omega: f64) -> (Vec<f64>, f64) {
    let n = (cycles * std::f64::consts::TAU / omega / model.dt) as u64;
    let mut peaks = Vec::new();
    let mut times = Vec::new();
    let (mut a, mut b) = (0.0f64, 0.0f64);
    let mut solver = esker::solver::explicit::Explicit::new(1);
    for _ in 0..n {
        esker::solver::Solver::advance(&mut solver, model, state, 1).unwrap();
        let c = state.contacts.walls[0].memory.spring.x;
        if b > a && b > c && b > 0.0 {
            // Parabola through three points.
            let h = 0.5 * (a - c) / (a - 2.0 * b + c);
            peaks.push(b - 0.25 * (a - c) * h);
            times.push(state.time + (h - 1.0) * model.dt);
        }
        (a, b) = (b, c);
    }
    let period = (times[times.len() - 1] - times[0]) / (times.len() - 1) as f64;
    (peaks, period)
}

#[test]
fn a_tangential_spring_rings_for_ever_and_its_dashpot_damps_it_at_the_closed_form_rate() {
    // D-28, with rotation frozen (c = 1) and free (c = 7/2).
    let k_t = 2.0 / 7.0 * K;
    for (c, frozen) in [(1.0, true), (3.5, false)] {
        for gamma in [0.0, 60.0] {
            let mut law = rough(0.5);
            let damping = if gamma == 0.0 { TangentialDamping::None } else { TangentialDamping::PerMass(gamma) };
            law.tangential = AnyTangential::Spring(Spring { stiffness: Stiffness::Given(k_t), damping, friction: 0.5 });
            let model = if frozen { block(slope(law, 0.0)) } else { slope(law, 0.0) };
            // A tenth of the speed at which the spring would reach the Coulomb limit.
            let omega = (c * k_t / mass()).sqrt();
            let v = 0.1 * 0.5 * mass() * G / k_t * omega;
            let mut state = grain_on(&model, Vec3::X * v, Vec3::ZERO);
            let (peaks, period) = ringing(&model, &mut state, 101.5, omega);
            assert!(peaks.len() >= 100, "{} cycles", peaks.len());
            let damped = (omega * omega - (0.5 * c * gamma).powi(2)).sqrt();
            close(period, std::f64::consts::TAU / damped, 1e-2, "period");
            if gamma == 0.0 {
                for peak in &peaks {
                    close(*peak, v / omega, 0.01, "amplitude");
                }
            } else {
                let rate = (peaks[0] / peaks[20]).ln() / (20.0 * period);
                close(rate, 0.5 * c * gamma, 0.02, "rate of decay");
            }
        }
    }
}

#[test]
fn friction_acts_at_the_middle_of_the_overlap() {
    // D-29: torque over force is R - h/2, on a plane and between grains.
    let (r, h) = (0.1, 0.01);
    let mut model = model(rough(0.5), DENSITY, 1e-6);
    model.walls.push(plane(Vec3::ZERO, Vec3::Z));
    let mut state = State::new(&model);
    add(&model, &mut state, 0, Vec3::Z * (r - h), r, Vec3::X, Vec3::ZERO);
    run(&model, &mut state, 1);
    let load = state.particles.load[0];
    let overlap = r - state.particles.position(0).z;
    close(load.torque.y / load.force.x, -(r - 0.5 * overlap), 1e-12, "lever on a plane");

    model.walls.clear();
    let mut state = State::new(&model);
    add(&model, &mut state, 0, Vec3::ZERO, r, Vec3::ZERO, Vec3::ZERO);
    add(&model, &mut state, 0, Vec3::Z * (1.5 * r - h), 0.5 * r, Vec3::X, Vec3::ZERO);
    run(&model, &mut state, 0);
    run(&model, &mut state, 1);
    let (a, b) = (index(&state, 0), index(&state, 1));
    let p = &state.particles;
    let overlap = 1.5 * r - p.position(a).distance(p.position(b));
    let ratio = p.load[a].torque.y / p.load[b].torque.y;
    close(ratio, (r - 0.5 * overlap) / (0.5 * r - 0.5 * overlap), 1e-12, "ratio of the levers");
}
