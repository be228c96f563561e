//! A small bench for tests: one or two materials, a few grains, a few walls.

use esker::boundary::{Motion, Plane, Surface};
use esker::field::{Field, Gravity};
use esker::integrate::{Integrator, Rotation};
use esker::law::Law;
use esker::law::collision::Collision;
use esker::law::normal::{AnyNormal, Hertz, Hooke};
use esker::math::Vec3;
use esker::model::{Kind, Material, Model, PairTable, Wall};
use esker::neighbor::PeriodicCell;
use esker::particles::Place;
use esker::shape::Shape;
use esker::solver::Solver;
use esker::solver::explicit::Explicit;
use esker::state::State;
use std::sync::Arc;

pub fn law(normal: AnyNormal) -> Law {
    Law::elastic(normal)
}

pub fn hooke(stiffness: f64) -> Law {
    law(AnyNormal::Hooke(Hooke { stiffness }))
}

pub fn hertz(effective_modulus: f64) -> Law {
    law(AnyNormal::Hertz(Hertz { effective_modulus }))
}

/// One material, spheres of the given density, no walls, no gravity.
pub fn model(law: Law, density: f64, dt: f64) -> Model {
    let material = Material { name: "stone".into(), density: Some(density), youngs_modulus: None, poisson_ratio: None };
    let kind = Kind {
        name: "grain".into(),
        material: 0,
        shape: Shape::Sphere,
        density,
        inertia_factor: Shape::Sphere.inertia_factor(),
        fixed: false,
    };
    let fixed = Kind { name: "fixed".into(), fixed: true, ..kind.clone() };
    Model {
        planar: false,
        cell: PeriodicCell::OPEN,
        materials: vec![material],
        kinds: vec![kind, fixed],
        laws: PairTable::new(1, |_, _| law),
        collisions: PairTable::new(1, |_, _| Collision::smooth(1.0)),
        walls: vec![],
        fields: vec![],
        feeds: vec![],
        removals: vec![],
        gates: vec![],
        dt,
        method: Default::default(),
        integrator: Integrator::VelocityVerlet,
        rotation: Rotation::Quaternions,
        skin: 1e-3,
        seed: 1,
    }
}

pub fn gravity(g: Vec3) -> Arc<dyn Field> {
    Arc::new(Gravity { acceleration: g })
}

pub fn wall(surface: Surface) -> Wall {
    Wall { name: "wall".into(), material: 0, surface: Arc::new(surface), motion: Motion::default(), active: true }
}

pub fn plane(point: Vec3, normal: Vec3) -> Wall {
    wall(Surface::Plane(Plane { point, normal }))
}

pub fn add(model: &Model, state: &mut State, kind: u16, x: Vec3, r: f64, v: Vec3, w: Vec3) -> usize {
    let place = Place { position: x, radius: r };
    state.add(model.kinds[kind as usize].grain(kind, place, v, w));
    state.particles.owned() - 1
}

/// Index of the grain with an identity.
pub fn index(state: &State, id: u64) -> usize {
    state.particles.id.iter().position(|&i| i == id).expect("the grain exists")
}

pub fn run(model: &Model, state: &mut State, steps: u64) {
    Explicit::new(1).advance(model, state, steps).expect("the run goes on");
}

#[track_caller]
pub fn close(value: f64, expected: f64, relative: f64, what: &str) {
    let error = (value - expected).abs() / expected.abs().max(f64::MIN_POSITIVE);
    println!("{what}: {value:.9e} for {expected:.9e}, off by {error:.1e} of {relative:.0e}");
    assert!(error <= relative, "{what}: {value} instead of {expected}, off by {error:.2e} > {relative:.0e}");
}
