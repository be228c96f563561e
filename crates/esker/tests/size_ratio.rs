//! A fine sphere comes to rest on large ones (V24; Vyas et al. 2025): contact velocities must belong to the time of the
//! contact normal.
//!
//! Hooke k_n = 1e4 N/m, k_t = 8235 N/m, e = 0.5, mu = 0.5, dt = 1 µs, a fine sphere of r = 0.25 mm and 2500 kg/m³
//! thrown at 5 cm/s into the pit between fixed spheres of r, 3 r, 10 r, 30 r and 100 r. The start is the kinetic energy
//! of the throw.

mod common;

use common::*;
use esker::law::Law;
use esker::law::damping::{AnyDamping, FromRestitution};
use esker::law::tangential::{AnyTangential, Spring, Stiffness, TangentialDamping};
use esker::math::Vec3;
use esker::state::State;

const FINE: f64 = 2.5e-4;

fn law(tangential_damping: TangentialDamping) -> Law {
    let mut law = hooke(1e4);
    law.damping = AnyDamping::FromRestitution(FromRestitution::new(0.5, &law.normal, law.end));
    law.tangential = AnyTangential::Spring(Spring {
        stiffness: Stiffness::Given(8235.0),
        damping: tangential_damping,
        friction: 0.5,
    });
    law
}

/// Kinetic energy over that of the throw after each tenth of 0.3 s.
fn settle(fixed: usize, ratio: f64, law: Law, throw: Vec3) -> Vec<f64> {
    let mut model = model(law, 2500.0, 1e-6);
    model.skin = 0.2 * FINE;
    model.fields.push(gravity(Vec3::NEG_Z * 9.81));
    let large = ratio * FINE;
    let mut state = State::new(&model);
    // Two large spheres touch each other. Three stand so that the fine one touches them at a slope of 37 degrees: if
    // they only touched, it would fall through at ratios above 6.5; fixed grains may overlap.
    let ring = if fixed == 2 { large } else { 0.6 * (large + FINE) };
    for i in 0..fixed {
        let (sin, cos) = (std::f64::consts::TAU * i as f64 / fixed as f64).sin_cos();
        add(&model, &mut state, 1, ring * Vec3::new(cos, sin, 0.0), large, Vec3::ZERO, Vec3::ZERO);
    }
    let height = ((large + FINE).powi(2) - ring * ring).sqrt();
    let fine = add(&model, &mut state, 0, Vec3::Z * (height + 0.01 * FINE), FINE, throw, Vec3::ZERO);
    let id = state.particles.id[fine];
    let start = 0.5 * state.particles.mass[fine] * throw.length_squared();
    (0..10)
        .map(|_| {
            run(&model, &mut state, 30_000);
            let (translation, rotation) = state.particles.kinetic_energy(index(&state, id));
            (translation + rotation) / start
        })
        .collect()
}

fn show(values: &[f64]) -> String {
    values.iter().map(|v| format!("{v:.1e} ")).collect()
}

#[test]
fn a_fine_sphere_comes_to_rest_on_two_large_ones() {
    for ratio in [1.0, 3.0, 10.0, 30.0, 100.0] {
        let left = settle(2, ratio, law(TangentialDamping::None), Vec3::new(0.01, 0.0, -0.05));
        println!("two, ratio {ratio}: {}", show(&left));
        assert!(left[9] < 1e-12, "ratio {ratio}: {}", show(&left));
    }
}

#[test]
fn a_fine_sphere_comes_to_rest_between_three_large_ones() {
    for ratio in [1.0, 3.0, 10.0, 30.0, 100.0] {
        let left = settle(3, ratio, law(TangentialDamping::None), Vec3::new(0.01, 0.005, -0.05));
        println!("three, ratio {ratio}: {}", show(&left));
        assert!(left[9] < 1e-12, "ratio {ratio}: {}", show(&left));
    }
}

#[test]
fn a_fine_sphere_with_a_tangential_dashpot_comes_to_rest() {
    for fixed in [2, 3] {
        for ratio in [1.0, 3.0, 10.0, 30.0, 100.0] {
            let throw = Vec3::new(0.01, if fixed == 2 { 0.0 } else { 0.005 }, -0.05);
            let left = settle(fixed, ratio, law(TangentialDamping::Ratio(1.0)), throw);
            println!("{fixed}, ratio {ratio}, dashpot: {}", show(&left));
            assert!(left[9] < 1e-12, "{fixed} fixed, ratio {ratio}: {}", show(&left));
        }
    }
}
