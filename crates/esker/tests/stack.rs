//! Stacks at rest (V6): every contact carries the weight above it.

use crate::common;

use common::*;
use esker::contact::visit::{self, Other};
use esker::law::Law;
use esker::law::damping::{AnyDamping, FromRestitution};
use esker::math::Vec3;
use esker::state::State;

const R: f64 = 0.01;
const G: f64 = 9.81;
const DENSITY: f64 = 2500.0;

/// Lets `n` spheres settle on a plane from touching; `overlap(F)` is the closed form of the law.
fn stack(n: usize, mut law: Law, dt: f64, steps: u64, overlap: impl Fn(f64, bool) -> f64) {
    law.damping = AnyDamping::FromRestitution(FromRestitution::new(0.05, &law.normal, law.end));
    let mut model = model(law, DENSITY, dt);
    model.walls.push(plane(Vec3::ZERO, Vec3::Z));
    model.fields.push(gravity(Vec3::NEG_Z * G));
    let mut state = State::new(&model);
    for i in 0..n {
        add(&model, &mut state, 0, Vec3::Z * (R + 2.0 * R * i as f64), R, Vec3::ZERO, Vec3::ZERO);
    }
    run(&model, &mut state, steps);

    let weight = model.kinds[0].mass(R) * G;
    let height = |i: usize| (state.particles.position(i).z / (2.0 * R)).floor() as usize;
    let mut seen = 0;
    visit::for_each(&model, &state, |c| {
        let (carried, on_plane) = match c.other {
            Other::Wall(_) => (n as f64 * weight, true),
            Other::Grain(j) => ((n - height(c.i).max(height(j))) as f64 * weight, false),
        };
        close(c.normal_force, carried, 1e-4, "contact force");
        close(c.overlap, overlap(carried, on_plane), 1e-4, "overlap");
        seen += 1;
    });
    assert_eq!(seen, n);
    close(-state.walls[0].force.z, n as f64 * weight, 1e-4, "wall reaction");
    for i in 0..n {
        assert!(state.particles.position(i).truncate().length() < 1e-15);
    }
}

#[test]
fn every_contact_of_a_hooke_stack_carries_the_weight_above() {
    let k = 1e4;
    for n in [5, 10] {
        stack(n, hooke(k), 2e-5, 60_000, |force, _| force / k);
    }
}

#[test]
fn every_contact_of_a_hertz_stack_carries_the_weight_above() {
    let e = 1e7;
    for n in [5, 10] {
        stack(n, hertz(e), 2e-5, 80_000, |force, on_plane| {
            let r = if on_plane { R } else { 0.5 * R };
            (force / (4.0 / 3.0 * e * r.sqrt())).powf(2.0 / 3.0)
        });
    }
}
