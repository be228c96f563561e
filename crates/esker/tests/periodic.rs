//! A periodic face is no place: neither walls nor fields let a grain feel it.

use crate::common;

use common::*;
use esker::boundary::{Mesh, Surface};
use esker::expression::Program;
use esker::field::{Central, ExpressionField, MutualAttraction, SLOTS};
use esker::law::tangential::{AnyTangential, Spring, Stiffness, TangentialDamping};
use esker::math::Vec3;
use esker::measure::energy;
use esker::model::Model;
use esker::neighbor::PeriodicCell;
use esker::state::State;
use std::sync::Arc;

const R: f64 = 0.01;

fn periodic_along_x(length: f64) -> PeriodicCell {
    PeriodicCell { origin: Vec3::ZERO, length: [Some(length), None, None] }
}

/// A frictional floor under a grain that rolls along x, held by a tangential spring that slope loads.
fn floor() -> Model {
    let mut law = hooke(1e5);
    law.tangential = AnyTangential::Spring(Spring {
        stiffness: Stiffness::Ratio(2.0 / 7.0),
        damping: TangentialDamping::Ratio(0.5),
        friction: 0.5,
    });
    let mut model = model(law, 2500.0, 1e-5);
    model.walls.push(plane(Vec3::ZERO, Vec3::Z));
    model.fields.push(gravity(Vec3::new(1.5, 0.0, -9.81)));
    model
}

#[test]
fn a_grain_rolling_on_a_floor_across_a_periodic_face_is_not_kicked() {
    let open = floor();
    // An endless floor, and one that ends a little beyond the faces, as a mesh: the grain meets it inside the cell.
    let (near, far) = (-2.0 * R, 0.1 + 2.0 * R);
    let corners = [(near, near), (far, near), (far, far), (near, far)].map(|(x, y)| Vec3::new(x, y, 0.0));
    let mesh = Mesh::new(corners.to_vec(), vec![[0, 1, 2], [0, 2, 3]], R).unwrap();
    for surface in [None, Some(Surface::Mesh(mesh))] {
        let mut closed = floor();
        closed.cell = periodic_along_x(0.1);
        if let Some(surface) = surface {
            closed.walls = vec![wall(surface)];
        }
        rolls_alike(&open, &closed);
    }
}

#[track_caller]
fn rolls_alike(open: &Model, closed: &Model) {
    let m = open.kinds[0].mass(R);
    let start = |model: &Model| {
        let mut state = State::new(model);
        let x = Vec3::new(0.095, 0.0, R - 9.81 * m / 1e5);
        add(model, &mut state, 0, x, R, Vec3::X * 0.5, Vec3::Y * 50.0);
        state
    };
    let (mut a, mut b) = (start(open), start(closed));
    // Across the face at step 1000 or so, and some turns more; the wall contact is looked at all along.
    for _ in 0..600 {
        run(open, &mut a, 100);
        run(closed, &mut b, 100);
        assert_eq!((a.contacts.walls.len(), b.contacts.walls.len()), (1, 1), "t = {}", b.time);
        let (p, q) = (&a.particles, &b.particles);
        assert!((p.velocity(0) - q.velocity(0)).length() < 1e-9, "{} for {}", q.velocity(0), p.velocity(0));
        assert!((p.angular_velocity(0) - q.angular_velocity(0)).length() < 1e-7);
        let (f, g) = (p.load[0].force, q.load[0].force);
        assert!((f - g).length() < 1e-6 * m * 9.81, "the spring keeps its length: {g} for {f}");
    }
    let way = a.particles.position(0).x;
    assert!(way > 0.5, "several turns: {way} m");
    let seen = closed.cell.wrapped(b.particles.position(0)).x;
    assert!((seen - way.rem_euclid(0.1)).abs() < 1e-9);
}

/// Where the grain is after some turns when it sets out from the first copy of the cell and from the fifth.
fn from_two_copies(model: &Model, length: f64, v: Vec3, steps: u64) -> [Vec3; 2] {
    [0.0, 5.0].map(|copy| {
        let mut state = State::new(model);
        add(model, &mut state, 0, Vec3::new(0.03 + copy * length, 0.0, 0.0), R, v, Vec3::ZERO);
        run(model, &mut state, steps);
        model.cell.wrapped(state.particles.position(0))
    })
}

#[test]
fn a_central_field_is_that_of_the_nearest_copy_and_its_account_closes_across_faces() {
    let length = 0.1;
    let mut model = model(hooke(1e4), 1000.0, 1e-4);
    model.cell = periodic_along_x(length);
    // The centre is off the middle of the cell: seen from inside the cell alone, the potential would jump at the face.
    let (strength, centre) = (400.0, Vec3::X * 0.02);
    model.fields.push(Arc::new(Central { centre, strength, exponent: 1.0, cell: model.cell }));
    let [a, b] = from_two_copies(&model, length, Vec3::X * 0.3, 777);
    assert!((a - b).length() < 1e-9, "{a} and {b}");

    // Slow ones swing about their copy, fast ones go round; half of s (L/2)² is the hill between two copies.
    let hill = (strength * 0.25 * length * length).sqrt();
    for (speed, goes_round) in [(0.9 * hill, false), (1.2 * hill, true)] {
        let mut state = State::new(&model);
        add(&model, &mut state, 0, Vec3::X * (0.02 + length), R, Vec3::X * speed, Vec3::ZERO);
        let m = state.particles.mass[0];
        let (mut slowest, mut turned) = (f64::INFINITY, false);
        for _ in 0..400 {
            run(&model, &mut state, 10);
            let v = state.particles.velocity(0).x;
            (slowest, turned) = (slowest.min(v.abs()), turned || v < 0.0);
            let residual = energy::balance(&model, &state).residual();
            assert!(residual.abs() < 2e-3 * 0.5 * m * speed * speed, "residual {residual:e} J at t = {}", state.time);
        }
        assert_eq!(turned, !goes_round);
        if goes_round {
            close(slowest, (speed * speed - hill * hill).sqrt(), 0.02, "speed over the hill");
        }
    }
}

#[test]
fn an_expression_sees_the_place_inside_the_cell() {
    let length = 0.1;
    let mut model = model(hooke(1e4), 1000.0, 1e-4);
    model.cell = periodic_along_x(length);
    let compile = |text: &str| Program::compile(text, &SLOTS).unwrap();
    // A force across, in proportion to the place along the cell: the mean of x over a turn is half the length.
    let force = [compile("0"), compile("0"), compile("m*100*x")];
    model.fields.push(Arc::new(ExpressionField { force, cell: model.cell }));
    let [a, b] = from_two_copies(&model, length, Vec3::X * 0.3, 777);
    assert!((a - b).length() < 1e-9, "{a} and {b}");

    let mut state = State::new(&model);
    add(&model, &mut state, 0, Vec3::ZERO, R, Vec3::X, Vec3::ZERO);
    run(&model, &mut state, 10_000);
    close(state.particles.velocity(0).z, 100.0 * 0.5 * length, 2e-3, "ten turns");
    let b = energy::balance(&model, &state);
    assert!(b.residual().abs() < 1e-3 * b.field_work, "residual {:e} of {:e}", b.residual(), b.field_work);
}

#[test]
fn two_grains_attract_across_a_face_as_anywhere_else() {
    let (length, constant) = (1.0, 1e-3);
    let mut forces = Vec::new();
    for (x, y) in [(0.45, 0.55), (0.95, 1.05), (0.95, 0.05), (0.95, 3.05)] {
        let mut model = model(hooke(1e4), 1000.0, 1e-5);
        model.cell = periodic_along_x(length);
        model.fields.push(Arc::new(MutualAttraction { constant, cell: model.cell, every: 1 }));
        let mut state = State::new(&model);
        add(&model, &mut state, 0, Vec3::X * x, R, Vec3::ZERO, Vec3::ZERO);
        add(&model, &mut state, 0, Vec3::X * y, 2.0 * R, Vec3::ZERO, Vec3::ZERO);
        run(&model, &mut state, 0);
        let i = index(&state, 0);
        forces.push(state.particles.load[i].force.x);
        let expected = constant * state.particles.mass[0] * state.particles.mass[1] / 0.01;
        close(forces[forces.len() - 1], expected, 1e-9, "Newton");
        close(energy::balance(&model, &state).mechanical(), -0.1 * expected, 1e-9, "potential");
    }
}
