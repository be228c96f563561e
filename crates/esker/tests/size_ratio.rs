//! A fine sphere comes to rest on large ones (V24; Vyas et al. 2025): contact velocities must belong to the time of the
//! contact normal.
//!
//! Hooke k_n = 1e4 N/m, k_t = 8235 N/m, e = 0.5, mu = 0.5, dt = 1 µs, a fine sphere of r = 0.25 mm and 2500 kg/m³
//! thrown at 1 cm/s into the pit between fixed spheres of r, 3 r, 10 r, 30 r and 100 r. The start is the kinetic energy
//! of the throw.

use crate::common;

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

/// What is left after each tenth of 0.3 s, over the kinetic energy of the throw.
struct Left {
    /// Kinetic energy.
    kinetic: Vec<f64>,
    /// The same without the spin about the vertical.
    without_spin: Vec<f64>,
    /// Largest kinetic energy of each tenth.
    largest: Vec<f64>,
}

fn settle(fixed: usize, ratio: f64, law: Law, throw: Vec3) -> Left {
    let mut model = model(law, 2500.0, 1e-6);
    model.skin = 0.2 * FINE;
    model.fields.push(gravity(Vec3::NEG_Z * 9.81));
    let large = ratio * FINE;
    let mut state = State::new(&model);
    // Two large spheres touch each other; the fine one rests on the ring where it touches both, and stays in the plane
    // of symmetry. Three stand so that it touches them at a slope of 37 degrees: if they only touched, it would fall
    // through at ratios above 6.5; fixed grains may overlap.
    let ring = if fixed == 2 { large } else { 0.6 * (large + FINE) };
    for i in 0..fixed {
        let (sin, cos) = match fixed {
            2 => (0.0, 1.0 - 2.0 * i as f64),
            _ => (std::f64::consts::TAU * i as f64 / fixed as f64).sin_cos(),
        };
        add(&model, &mut state, 1, ring * Vec3::new(cos, sin, 0.0), large, Vec3::ZERO, Vec3::ZERO);
    }
    let height = ((large + FINE).powi(2) - ring * ring).sqrt();
    let fine = add(&model, &mut state, 0, Vec3::Z * (height + 0.01 * FINE), FINE, throw, Vec3::ZERO);
    let (id, inertia) = (state.particles.id[fine], state.particles.inertia[fine].z);
    let start = 0.5 * state.particles.mass[fine] * throw.length_squared();
    let mut left = Left { kinetic: vec![], without_spin: vec![], largest: vec![] };
    for _ in 0..10 {
        let mut largest = 0.0f64;
        for part in 0..30 {
            run(&model, &mut state, 1000 + part);
            let (translation, rotation) = state.particles.kinetic_energy(index(&state, id));
            largest = largest.max((translation + rotation) / start);
        }
        let i = index(&state, id);
        let (translation, rotation) = state.particles.kinetic_energy(i);
        let spin = 0.5 * inertia * state.particles.angular_velocity(i).z.powi(2);
        left.kinetic.push((translation + rotation) / start);
        left.without_spin.push((translation + rotation - spin) / start);
        left.largest.push(largest);
    }
    left
}

fn show(values: &[f64]) -> String {
    values.iter().map(|v| format!("{v:.1e} ")).collect()
}

#[test]
fn a_fine_sphere_comes_to_rest_on_two_large_ones() {
    for ratio in [1.0, 3.0, 10.0, 30.0, 100.0] {
        let left = settle(2, ratio, law(TangentialDamping::None), Vec3::new(0.002, 0.0, -0.01));
        println!("two, ratio {ratio}: {}", show(&left.kinetic));
        assert!(left.kinetic[9] < 1e-12, "ratio {ratio}: {}", show(&left.kinetic));
    }
}

#[test]
fn a_fine_sphere_comes_to_rest_between_three_large_ones_but_for_the_spin_nothing_damps() {
    // Turning about the vertical moves no contact in its normal and pushes the sphere nowhere: without a tangential
    // dashpot and below the Coulomb limit it rings for ever. It must not grow; all else must come to rest.
    for ratio in [1.0, 3.0, 10.0, 30.0, 100.0] {
        let left = settle(3, ratio, law(TangentialDamping::None), Vec3::new(0.002, 0.001, -0.01));
        println!("three, ratio {ratio}: {} | {}", show(&left.without_spin), show(&left.largest));
        assert!(left.without_spin[9] < 1e-12, "ratio {ratio}: {}", show(&left.without_spin));
        // At the Coulomb limit the three springs would hold 3 (mu N)²/(2 k_t) = 2.5e-6 of the start, N = m g/(3·0.8).
        assert!(left.largest[9] < 2.5e-6, "ratio {ratio}: {}", show(&left.largest));
        close(left.largest[9], left.largest[2], 0.05, "energy of the spin that rings");
    }
}

#[test]
fn a_fine_sphere_with_a_tangential_dashpot_comes_to_rest() {
    for fixed in [2, 3] {
        for ratio in [1.0, 3.0, 10.0, 30.0, 100.0] {
            let throw = Vec3::new(0.002, if fixed == 2 { 0.0 } else { 0.001 }, -0.01);
            let left = settle(fixed, ratio, law(TangentialDamping::Ratio(0.2)), throw);
            println!("{fixed}, ratio {ratio}, dashpot: {}", show(&left.kinetic));
            assert!(left.kinetic[9] < 1e-12, "{fixed} fixed, ratio {ratio}: {}", show(&left.kinetic));
        }
    }
}
