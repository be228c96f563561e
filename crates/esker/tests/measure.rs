//! Measures against closed forms: stress, packing, coordination, wall loads, flows, and the energy of comings and goings.

use crate::common;

use common::*;
use esker::boundary::{Motion, MotionPart, Polyline, Surface};
use esker::fill::SizeLaw;
use esker::fill::feed::{Arrivals, Feed, Rate};
use esker::law::Law;
use esker::law::damping::{AnyDamping, FromRestitution};
use esker::law::tangential::{AnyTangential, Spring, Stiffness, TangentialDamping};
use esker::math::{Aabb, Vec3};
use esker::measure::probe::{self, Probe};
use esker::measure::{energy, region};
use esker::model::{CountingPlane, Model, Removal};
use esker::neighbor::PeriodicCell;
use esker::region::Region;
use esker::shape::Shape;
use esker::simulation::{End, Simulation, Stage};
use esker::state::State;
use std::f64::consts::PI;

/// Spheres of radius 0.5 on a simple cubic lattice of spacing `a` that fills a periodic box.
fn lattice(a: f64, n: usize, k: f64) -> (Model, State) {
    let mut model = model(hooke(k), 1.0, 1e-4);
    let l = n as f64 * a;
    model.cell = PeriodicCell { origin: Vec3::ZERO, length: [Some(l); 3] };
    model.skin = 0.05;
    let mut state = State::new(&model);
    for i in 0..n.pow(3) {
        let at = Vec3::new((i % n) as f64, (i / n % n) as f64, (i / n / n) as f64) * a;
        add(&model, &mut state, 0, at, 0.5, Vec3::ZERO, Vec3::ZERO);
    }
    run(&model, &mut state, 0);
    (model, state)
}

#[test]
fn a_compressed_cubic_lattice_has_its_closed_form_pressure_packing_and_coordination() {
    let (a, n, k) = (0.98, 4, 1000.0);
    let (model, state) = lattice(a, n, k);
    let m = region::measure(&model, &state, &Region::Box(Aabb { min: Vec3::ZERO, max: Vec3::splat(n as f64 * a) }))
        .unwrap();
    // One contact per direction and cell of volume a³: force k δ, branch a.
    let pressure = k * (1.0 - a) * a / a.powi(3);
    for k in 0..3 {
        close(m.stress.col(k)[k], pressure, 1e-12, "pressure");
        assert!(m.stress.col(k)[(k + 1) % 3].abs() < 1e-12 * pressure);
    }
    close(m.packing, PI / 6.0 / a.powi(3), 1e-12, "packing");
    close(m.coordination, 6.0, 1e-12, "coordination");
    assert_eq!(m.count, n.pow(3));
    assert_eq!(probe::coordination(&model, &state), (3.0 * n.pow(3) as f64, 6.0));
    close(energy::elastic(&model, &state).normal, 3.0 * n.pow(3) as f64 * 0.5 * k * (1.0 - a).powi(2), 1e-10, "energy");
}

#[test]
fn the_stress_of_a_planar_scene_is_a_force_over_the_depth_of_the_discs() {
    // A square lattice of discs, pressed together by the overlap a in both directions: one contact force k a on each area pitch × depth.
    let (r, overlap, k) = (0.01, 1e-4, 1e5);
    let pitch = 2.0 * r - overlap;
    for depth in [1.0, 0.05] {
        let mut model = model(hooke(k), 1000.0, 1e-6);
        model.planar = true;
        for kind in &mut model.kinds {
            kind.shape = Shape::Disc { depth };
        }
        let side = 4.0 * pitch;
        model.cell = PeriodicCell { origin: Vec3::ZERO, length: [Some(side), Some(side), None] };
        let mut state = State::new(&model);
        for (i, j) in (0..4).flat_map(|i| (0..4).map(move |j| (i, j))) {
            let x = Vec3::new(0.5 + f64::from(i), 0.5 + f64::from(j), 0.0) * pitch;
            add(&model, &mut state, 0, x, r, Vec3::ZERO, Vec3::ZERO);
        }
        run(&model, &mut state, 0);
        let whole = Region::Box(Aabb { min: Vec3::new(0.0, 0.0, -1.0), max: Vec3::new(side, side, 1.0) });
        let stress = region::measure(&model, &state, &whole).unwrap().stress;
        for axis in 0..2 {
            close(stress.col(axis)[axis], k * overlap / (pitch * depth), 1e-9, "stress");
        }
    }
}

#[test]
fn kinetic_stress_counts_velocities_relative_to_their_mean() {
    let model = model(hooke(1.0), 1.0, 1e-3);
    let mut state = State::new(&model);
    for (x, v) in [(0.0, 3.0), (5.0, 1.0)] {
        add(&model, &mut state, 0, Vec3::X * x, 0.5, Vec3::Y * v, Vec3::ZERO);
    }
    let m =
        region::measure(&model, &state, &Region::Box(Aabb { min: Vec3::splat(-1.0), max: Vec3::splat(6.0) })).unwrap();
    let mass = PI / 6.0;
    close(m.stress.y_axis.y, 2.0 * mass / 343.0, 1e-12, "kinetic stress");
    assert_eq!(m.stress.x_axis.x, 0.0);
}

fn sticky(k: f64) -> Law {
    let mut law = hooke(k);
    law.damping = AnyDamping::FromRestitution(FromRestitution::new(0.3, &law.normal, law.end));
    law.tangential = AnyTangential::Spring(Spring {
        stiffness: Stiffness::Ratio(0.5),
        damping: TangentialDamping::Ratio(1.0),
        friction: 0.5,
    });
    law
}

#[test]
fn a_wall_feels_the_weight_that_rests_on_it_and_its_torque() {
    let mut model = model(sticky(1e4), 1000.0, 1e-4);
    model.walls.push(plane(Vec3::ZERO, Vec3::Z));
    model.fields.push(gravity(Vec3::Z * -10.0));
    let mut state = State::new(&model);
    let (x, r) = (Vec3::new(0.3, -0.2, 0.05), 0.05);
    add(&model, &mut state, 0, x, r, Vec3::ZERO, Vec3::ZERO);
    run(&model, &mut state, 30_000);
    let weight = 4.0 / 3.0 * PI * r.powi(3) * 1000.0 * 10.0;
    let force = Probe::Force("wall".into()).values(&model, &state).unwrap();
    close(force[2], -weight, 1e-6, "force on the floor");
    // About the origin: x × F with F = −weight ẑ.
    let torque = Probe::Torque("wall".into(), Vec3::ZERO).values(&model, &state).unwrap();
    close(torque[0], 0.2 * weight, 1e-5, "torque about x");
    close(torque[1], 0.3 * weight, 1e-5, "torque about y");
    let about = Probe::Torque("wall".into(), Vec3::new(0.3, -0.2, 0.0)).values(&model, &state).unwrap();
    assert!(about[0].abs() + about[1].abs() < 1e-9 * weight, "no torque about the contact: {about:?}");
}

#[test]
fn crossings_are_counted_with_their_sign_and_mass() {
    let mut model = model(hooke(1.0), 1.0, 1e-3);
    model.gates.push(CountingPlane { normal: Vec3::X, offset: 0.0 });
    let mut state = State::new(&model);
    for (k, v) in [1.0, 1.0, -1.0, 0.0].into_iter().enumerate() {
        let x = Vec3::new(-0.5 * v, 3.0 * k as f64, 0.0);
        add(&model, &mut state, 0, x, 0.5, Vec3::X * v, Vec3::ZERO);
    }
    run(&model, &mut state, 400);
    assert_eq!(state.flows[0].count, 0);
    run(&model, &mut state, 200);
    assert_eq!(state.flows[0].count, 1);
    close(state.flows[0].mass, PI / 6.0, 1e-12, "net mass");
}

/// A feed above a floor and a removal beside it: the account must close while grains come and go.
#[test]
fn the_account_closes_while_grains_enter_and_leave() {
    let mut model = model(sticky(2e4), 1000.0, 2e-5);
    model.walls.push(plane(Vec3::ZERO, Vec3::new(0.5, 0.0, 1.0).normalize()));
    model.fields.push(gravity(Vec3::Z * -10.0));
    let region = Region::Box(Aabb { min: Vec3::new(-0.2, -0.1, 0.25), max: Vec3::new(0.2, 0.1, 0.45) });
    let feed = Feed {
        region,
        size: SizeLaw::Single { radius: 0.02 },
        rate: Rate::Number(100.0),
        arrivals: Arrivals::Poisson,
        start: 0.0,
        stop: None,
        max_count: Some(60),
        tries: 50,
        delay: None,
        patience: 1000,
        velocity: Vec3::Z * -0.5,
        spin: Vec3::ZERO,
        kind: 0,
    };
    model.feeds.push((feed.prepare(false).unwrap(), true));
    model.removals.push(Removal::Below { normal: Vec3::NEG_X, offset: -0.35 });
    let mut state = State::new(&model);
    run(&model, &mut state, 60_000);
    let b = energy::balance(&model, &state);
    assert_eq!(state.feeds[0].created, 60);
    assert!(state.removed.count > 10, "{:?}", state.removed);
    assert_eq!(state.removed.count + state.particles.owned() as i64, 60);
    assert!(b.lost() > 1e-2);
    assert!(b.residual().abs() < 1e-3 * b.lost(), "residual {:e} of {:e}", b.residual(), b.lost());
}

#[test]
fn a_stage_ends_at_its_condition_and_the_next_goes_on_with_walls_where_they_are() {
    let mut base = model(sticky(2e4), 1000.0, 1e-4);
    base.planar = true;
    base.fields.push(gravity(Vec3::Y * -10.0));
    let line = |a: Vec3, b: Vec3| wall(Surface::Polyline(Polyline::segment(a, b).unwrap()));
    base.walls.push(line(Vec3::new(-1.0, 0.0, 0.0), Vec3::new(1.0, 0.0, 0.0)));
    base.walls.push(line(Vec3::new(-1.0, -1.0, 0.0), Vec3::new(1.0, -1.0, 0.0)));
    base.walls[1].motion = Motion { parts: vec![MotionPart::Translate { velocity: Vec3::Y * -0.1 }] };
    let mut open = base.clone();
    open.walls[0].active = false;
    open.walls[1].motion = Motion::default();
    let mut state = State::new(&base);
    add(&base, &mut state, 0, Vec3::new(0.0, 0.08, 0.0), 0.05, Vec3::ZERO, Vec3::ZERO);
    let settle = End { kinetic_energy_below: Some(1e-9), duration: Some(10.0), ..Default::default() };
    let stages = vec![
        Stage { name: "settle".into(), model: base, end: settle },
        Stage { name: "fall".into(), model: open, end: End { duration: Some(1.0), ..Default::default() } },
    ];
    let mut simulation = Simulation::new(stages, state, 1);
    while simulation.state.stage == 0 {
        simulation.advance(1_000_000).unwrap();
    }
    let settled = simulation.state.time;
    assert!(settled > 0.1 && settled < 5.0, "{settled}");
    while !simulation.is_finished() {
        simulation.advance(1_000_000).unwrap();
    }
    close(simulation.state.time, settled + 1.0, 1e-12, "end of the run");
    // The lower floor stayed where it was when the first stage ended; the grain has fallen onto it.
    let floor = -1.0 - 0.1 * settled;
    let height = simulation.state.particles.position(0).y - floor;
    assert!((height - 0.05).abs() < 0.01, "{height}");
    let b = energy::balance(simulation.model(), &simulation.state);
    assert!(b.switched < 0.0, "the open floor took its elastic energy along: {}", b.switched);
    assert!(b.residual().abs() < 1e-3 * b.lost(), "residual {:e} of {:e}", b.residual(), b.lost());
}
