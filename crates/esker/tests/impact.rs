//! Head-on impacts against closed forms: peak force, contact time, overlap, restitution.

use crate::common;

use common::*;
use esker::law::ContactEnd;
use esker::law::Law;
use esker::law::damping::{AnyDamping, FromRestitution, PerMass};
use esker::law::normal::{AnyNormal, ScaledHooke};
use esker::law::restitution::{contact_time, peak_overlap, restitution};
use esker::math::Vec3;
use esker::measure::energy;
use esker::model::Model;
use esker::solver::Solver;
use esker::solver::explicit::Explicit;
use esker::state::State;

struct Impact {
    peak_force: f64,
    peak_overlap: f64,
    contact_time: f64,
    restitution: f64,
    residual: f64,
}

/// Lets two equal spheres meet at relative speed `2 v`; `phase` in [0, 1) shifts the first contact inside a step.
fn two_spheres(model: &Model, radius: f64, v: f64, phase: f64) -> Impact {
    let mut state = State::new(model);
    let gap = 0.5 * radius.min(20.0 * v * model.dt) + phase * 2.0 * v * model.dt;
    add(model, &mut state, 0, Vec3::X * (-radius - 0.5 * gap), radius, Vec3::X * v, Vec3::ZERO);
    add(model, &mut state, 0, Vec3::X * (radius + 0.5 * gap), radius, Vec3::X * -v, Vec3::ZERO);
    follow(model, state, v)
}

/// Runs until the bodies have parted. Beginning and end are interpolated inside their steps.
fn follow(model: &Model, mut state: State, v: f64) -> Impact {
    let law = *model.laws.law(0, 0);
    let mut solver = Explicit::new(1);
    let (mut peak_force, mut peak_overlap) = (0.0f64, 0.0f64);
    let (mut first, mut last) = (None, None);
    let overlap = |state: &State| -> f64 {
        match state.particles.owned() {
            1 => state.particles.radius(0) - state.particles.position(0).z,
            _ => {
                let d = state.particles.position(1) - state.particles.position(0);
                state.particles.radius(0) + state.particles.radius(1) - d.length()
            }
        }
    };
    let _ = law;
    solver.advance(model, &mut state, 0).unwrap();
    let mut before = overlap(&state);
    let mut quiet = 0;
    for _ in 0..1_000_000 {
        solver.advance(model, &mut state, 1).unwrap();
        let now = overlap(&state);
        if before <= 0.0 && now > 0.0 {
            first = Some(state.time - model.dt * now / (now - before));
        }
        if before > 0.0 && now <= 0.0 {
            last = Some(state.time - model.dt * now / (now - before));
        }
        before = now;
        peak_overlap = peak_overlap.max(now);
        peak_force = peak_force.max(state.particles.load[0].force.length());
        if last.is_some() {
            quiet += 1;
            if quiet > 3 {
                break;
            }
        }
    }
    let out = match state.particles.owned() {
        1 => state.particles.velocity(0).z,
        _ => 0.5 * (state.particles.velocity(1) - state.particles.velocity(0)).x.abs(),
    };
    let balance = energy::balance(model, &state);
    Impact {
        peak_force,
        peak_overlap,
        contact_time: last.unwrap() - first.unwrap(),
        restitution: out / v,
        residual: balance.residual() / balance.initial,
    }
}

fn damped(mut law: Law, e: f64, end: ContactEnd) -> Law {
    law.damping = AnyDamping::FromRestitution(FromRestitution::new(e, &law.normal, end));
    law.end = end;
    law
}

#[test]
fn hertz_head_on_impact_has_the_closed_form_peak_force_overlap_and_duration() {
    // Chung & Ooi 2011, test 1: glass and limestone, R 10 mm, 10 m/s each.
    for (e, nu, rho, force, delta, t_c) in
        [(4.8e10, 0.20, 2800.0, 10697.0, 274.11e-6, 40.340e-6), (2.0e10, 0.25, 2500.0, 7108.2, 368.30e-6, 54.201e-6)]
    {
        let model = model(hertz(e / (2.0 * (1.0 - nu * nu))), rho, t_c / 1000.0);
        let impact = two_spheres(&model, 0.01, 10.0, 0.37);
        close(impact.peak_force, force, 1e-4, "peak force");
        close(impact.peak_overlap, delta, 1e-4, "peak overlap");
        close(impact.contact_time, t_c, 1e-4, "contact time");
        close(impact.restitution, 1.0, 1e-6, "restitution");
    }
}

#[test]
fn hertz_impact_on_a_rigid_plane_has_the_closed_form_peak_force_overlap_and_duration() {
    // Chung & Ooi 2011, test 2: aluminium and magnesium alloy, R 0.1 m, 0.2 m/s.
    for (e, nu, rho, force, delta, t_c) in
        [(7e10, 0.30, 2699.0, 11370.0, 49.717e-6, 731.66e-6), (4e10, 0.35, 1800.0, 7232.7, 52.123e-6, 767.07e-6)]
    {
        let mut model = model(hertz(e / (1.0 - nu * nu)), rho, t_c / 1000.0);
        model.walls.push(plane(Vec3::ZERO, Vec3::Z));
        let mut state = State::new(&model);
        add(&model, &mut state, 0, Vec3::Z * (0.1 + 3.3 * 0.2 * model.dt), 0.1, Vec3::Z * -0.2, Vec3::ZERO);
        let impact = follow(&model, state, 0.2);
        close(impact.peak_force, force, 1e-4, "peak force");
        close(impact.peak_overlap, delta, 1e-4, "peak overlap");
        close(impact.contact_time, t_c, 1e-4, "contact time");
    }
}

#[test]
fn hooke_head_on_impact_has_the_closed_form_peak_force_overlap_and_duration() {
    let (k, rho, r, v) = (7500.0, 1000.0, 0.03, 0.5);
    let m = 0.5 * 4.0 / 3.0 * std::f64::consts::PI * r * r * r * rho;
    let t_c = contact_time(k, 1.0, m, 2.0 * v);
    let delta = peak_overlap(k, 1.0, m, 2.0 * v);
    let impact = two_spheres(&model(hooke(k), rho, t_c / 1000.0), r, v, 0.61);
    close(impact.peak_force, k * delta, 1e-4, "peak force");
    close(impact.peak_overlap, delta, 1e-4, "peak overlap");
    close(impact.contact_time, t_c, 1e-4, "contact time");
    close(impact.restitution, 1.0, 1e-6, "restitution");
}

#[test]
fn restitution_is_what_was_asked_for_with_either_end_of_contact() {
    // At 1/1000 of the contact time; a dashpot makes the force jump, so each collision is of first order and the phase
    // of the first contact matters (spec 001 section 10.4): mean over eight phases.
    for end in [ContactEnd::NoTension, ContactEnd::Geometric] {
        for e in [0.1, 0.3, 0.5, 0.7, 0.9, 0.98] {
            for (name, law, t_c) in [
                ("hooke", hooke(7500.0), contact_time(7500.0, 1.0, 0.05655, 1.0)),
                ("hertz", hertz(1e7), contact_time(4.0 / 3.0 * 1e7 * 0.015f64.sqrt(), 1.5, 0.05655, 1.0)),
            ] {
                let model = model(damped(law, e, end), 1000.0, t_c / 1000.0);
                let mut mean = 0.0;
                for phase in 0..8 {
                    let impact = two_spheres(&model, 0.03, 0.5, (phase as f64 + 0.13) / 8.0);
                    mean += impact.restitution / 8.0;
                    assert!(impact.residual.abs() < 3e-6, "{name} {end:?} e = {e}: residual {}", impact.residual);
                }
                assert!((mean - e).abs() < 1e-4, "{name}, {end:?}: {mean} instead of {e}");
            }
        }
    }
}

#[test]
fn reference_pairs_of_dziugys_and_peters_have_their_contact_time_and_restitution() {
    // D-04: k_n = 5e5 Pa, gamma_n = 100 1/s, density 1000, at 100 steps per contact within 2 %.
    for (r, t_c, e) in [(0.03, 8.709e-3, 0.6470), (0.04, 11.700e-3, 0.5571), (0.05, 14.769e-3, 0.4778)] {
        let mut law = law(AnyNormal::ScaledHooke(ScaledHooke { modulus: 5e5 }));
        law.damping = AnyDamping::PerMass(PerMass { rate: 100.0 });
        law.end = ContactEnd::Geometric;
        let impact = two_spheres(&model(law, 1000.0, t_c / 100.0), r, 0.5, 0.5);
        close(impact.contact_time, t_c, 0.02, "contact time");
        close(impact.restitution, e, 0.02, "restitution");
        law.end = ContactEnd::NoTension;
        let omega = (5e5 * r / 2.0 / (2.0 / 3.0 * std::f64::consts::PI * r.powi(3) * 1000.0)).sqrt();
        let impact = two_spheres(&model(law, 1000.0, t_c / 1000.0), r, 0.5, 0.5);
        close(impact.restitution, restitution(50.0 / omega, ContactEnd::NoTension), 2e-3, "clamped restitution");
    }
}

#[test]
fn a_collision_books_its_energy_to_second_order() {
    let model_at = |dt| model(damped(hertz(1e7), 0.5, ContactEnd::NoTension), 1000.0, dt);
    let t_c = contact_time(4.0 / 3.0 * 1e7 * 0.015f64.sqrt(), 1.5, 0.05655, 1.0);
    let worst = |n: f64| {
        (0..16).map(|p| two_spheres(&model_at(t_c / n), 0.03, 0.5, p as f64 / 16.0).residual.abs()).fold(0.0, f64::max)
    };
    let (coarse, fine) = (worst(50.0), worst(200.0));
    let order = (coarse / fine).log(4.0);
    assert!(order > 1.8, "order {order}: {coarse:.2e} {fine:.2e}");
    assert!(coarse < 1e-3, "{coarse:.2e}");
}
