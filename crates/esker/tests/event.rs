//! Hard collisions in time order: conservation, no overlap, twins, closed forms, and that the scratch memory does not matter.

mod common;

use common::{add, close, gravity, hooke, model, plane, wall};
use esker::boundary::{Mesh, Motion, MotionPart, Polyline, Revolved, Shell, Surface, Waveform};
use esker::law::collision::Collision;
use esker::math::Vec3;
use esker::measure::energy;
use esker::model::{Collapse, EventSettings, Method, Model, PairTable};
use esker::neighbor::PeriodicCell;
use esker::rng::{Purpose, Stream};
use esker::solver::Solver;
use esker::solver::event::Event;
use esker::state::State;

const RADIUS: f64 = 1e-3;

fn hard(collision: Collision, dt: f64) -> Model {
    let mut model = model(hooke(1.0), 1000.0, dt);
    model.collisions = PairTable::new(1, |_, _| collision);
    model.method = Method::Event(EventSettings { collapse: Collapse::Refuse, window: 1.0 });
    model
}

/// Grains on a lattice in a periodic cube, at a solid fraction, with velocities of unit spread and no total momentum.
fn gas(side: usize, fraction: f64, model: &mut Model) -> State {
    let spacing = (4.0 / 3.0 * std::f64::consts::PI / fraction).cbrt() * RADIUS;
    let length = spacing * side as f64;
    model.cell = PeriodicCell { origin: Vec3::ZERO, length: [Some(length); 3] };
    let mut state = State::new(model);
    let n = side * side * side;
    let mut random = Stream::new(5, Purpose::Velocity, 0);
    let mut draw = || {
        let mut normal = || (-2.0 * random.uniform().ln()).sqrt() * (std::f64::consts::TAU * random.uniform()).cos();
        Vec3::new(normal(), normal(), normal())
    };
    let velocities: Vec<Vec3> = (0..n).map(|_| draw()).collect();
    let mean = velocities.iter().sum::<Vec3>() / n as f64;
    for (k, v) in velocities.iter().enumerate() {
        let cell = Vec3::new((k % side) as f64, (k / side % side) as f64, (k / side / side) as f64);
        add(model, &mut state, 0, (cell + 0.5) * spacing, RADIUS, *v - mean, Vec3::ZERO);
    }
    state
}

fn momentum(state: &State) -> Vec3 {
    let p = &state.particles;
    (0..p.owned()).map(|i| p.mass[i] * p.velocity(i)).sum()
}

fn kinetic(state: &State) -> f64 {
    let p = &state.particles;
    (0..p.owned()).map(|i| p.kinetic_energy(i).0 + p.kinetic_energy(i).1).sum()
}

fn collisions(state: &State) -> u64 {
    state.meetings.tallies.iter().map(|tally| tally.count()).sum()
}

/// Deepest overlap of two grains over the radius, by looking at all pairs.
fn deepest(model: &Model, state: &State) -> f64 {
    let p = &state.particles;
    let mut worst = f64::NEG_INFINITY;
    for i in 0..p.owned() {
        for j in 0..i {
            let apart = model.cell.nearest(p.position(i) - p.position(j)).length();
            worst = worst.max((p.radius(i) + p.radius(j) - apart) / p.radius(i));
        }
    }
    worst
}

#[test]
fn a_million_elastic_collisions_conserve_energy_and_momentum_and_grains_never_overlap() {
    let mut model = hard(Collision::smooth(1.0), 1e-5);
    let mut state = gas(10, 0.3, &mut model);
    let energy = kinetic(&state);
    let scale: f64 = state.particles.mass.iter().zip(&state.particles.motion).map(|(m, v)| m * v.velocity.length()).sum();
    let mut solver = Event::new();
    let mut worst = f64::NEG_INFINITY;
    while collisions(&state) < 1_000_000 {
        solver.advance(&model, &mut state, 97).unwrap();
        worst = worst.max(deepest(&model, &state));
    }
    let (energy, momentum) = (kinetic(&state) / energy - 1.0, momentum(&state).length() / scale);
    println!("{} collisions: energy {energy:e}, momentum {momentum:e}, overlap {worst:e}", collisions(&state));
    assert!(energy.abs() < 1e-12 && momentum < 1e-12, "energy {energy:e}, momentum {momentum:e}");
    assert!(worst < 1e-12, "overlap {worst:e}");
}
