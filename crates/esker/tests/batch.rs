//! The contact loop that evaluates several pairs at once does what the general loop does, one pair after another.

use crate::common;

use common::*;
use esker::boundary::{Mesh, Motion, MotionPart, Revolved, Surface, Waveform};
use esker::integrate::Integrator;
use esker::lanes::Width;
use esker::law::damping::{AnyDamping, Coefficient, FromRestitution, PerMass};
use esker::law::normal::{AnyNormal, ScaledHooke};
use esker::law::tangential::{AnyTangential, Mindlin, Spring, Stiffness, TangentialDamping};
use esker::law::{ContactEnd, Law};
use esker::math::Vec3;
use esker::model::{Model, PairTable, Wall};
use esker::neighbor::PeriodicCell;
use esker::rng::{Purpose, Stream};
use esker::solver::Solver;
use esker::solver::explicit::Explicit;
use esker::state::State;

const R: f64 = 0.005;

/// Laws that differ in every slot the loop knows.
fn laws() -> Vec<(&'static str, Law, Law)> {
    let restitution = |law: Law, e: f64| Law {
        damping: AnyDamping::FromRestitution(FromRestitution::new(e, &law.normal, law.end)),
        ..law
    };
    let spring = |stiffness, damping, friction| AnyTangential::Spring(Spring { stiffness, damping, friction });
    let mindlin = |damping, friction| AnyTangential::Mindlin(Mindlin { ratio: 0.8, damping, friction });
    let linear = Law {
        damping: AnyDamping::PerMass(PerMass { rate: 500.0 }),
        tangential: spring(Stiffness::Ratio(2.0 / 7.0), TangentialDamping::None, 0.5),
        end: ContactEnd::Geometric,
        ..hooke(2000.0)
    };
    let stiff = Law {
        damping: AnyDamping::Coefficient(Coefficient { coefficient: 0.05 }),
        tangential: spring(Stiffness::Given(900.0), TangentialDamping::Coefficient(0.02), 0.2),
        ..hooke(4000.0)
    };
    let scaled = Law {
        tangential: spring(Stiffness::Ratio(0.4), TangentialDamping::PerMass(100.0), 0.3),
        ..law(AnyNormal::ScaledHooke(ScaledHooke { modulus: 8e5 }))
    };
    let hertz_a = Law { tangential: mindlin(TangentialDamping::Ratio(0.5), 0.4), ..hertz(5e6) };
    let hertz_b = Law { tangential: mindlin(TangentialDamping::None, 0.1), ..hertz(1e7) };
    vec![
        ("linear", linear, linear),
        ("two linear laws", linear, stiff),
        ("scaled, from restitution", restitution(scaled, 0.6), restitution(linear, 0.8)),
        ("Hertz", restitution(hertz_a, 0.5), restitution(hertz_a, 0.5)),
        ("two Hertz laws", restitution(hertz_a, 0.5), restitution(hertz_b, 0.9)),
    ]
}

/// 300 grains of two materials and mixed sizes, fast and spinning, in a periodic cell; some are fixed.
fn crowd(a: Law, b: Law) -> (Model, State) {
    let mut model = model(a, 2500.0, 2e-6);
    let side = 1.9 * R * 7.0;
    model.cell = PeriodicCell { origin: Vec3::ZERO, length: [Some(side), None, Some(side)] };
    model.skin = 0.3 * R;
    model.materials.push(model.materials[0].clone());
    model.kinds.push(model.kinds[0].clone());
    model.kinds[2].material = 1;
    model.laws = PairTable::new(2, |i, j| if i == j { a } else { b });
    model.fields.push(gravity(Vec3::new(1.0, -9.81, 0.5)));
    let mut state = State::new(&model);
    let mut random = Stream::new(3, Purpose::Fill, 0);
    for n in 0..300 {
        let x = 1.9 * R * Vec3::new((n % 7) as f64 + 0.5, (n / 49) as f64, (n / 7 % 7) as f64 + 0.5);
        let radius = R * random.between(0.8, 1.05);
        let kind = if n < 49 { 1 } else { (n % 2 * 2) as u16 };
        let (v, w) = (0.5 * random.in_ball(false), 100.0 * random.in_ball(false));
        let at_rest = if kind == 1 { 0.0 } else { 1.0 };
        add(&model, &mut state, kind, x, radius, at_rest * v, at_rest * w);
    }
    (model, state)
}

/// A part of the crowd between walls of all kinds, at rest and moving, of either material.
fn in_a_box(a: Law, b: Law) -> (Model, State) {
    let (mut model, _) = crowd(a, b);
    model.cell = PeriodicCell::OPEN;
    let side = 1.9 * R * 5.0;
    let of = |surface: Surface, material: u16, motion: Motion| Wall { material, motion, ..wall(surface) };
    let turn = |axis: Vec3, rate: f64| Motion {
        parts: vec![MotionPart::Rotate { through: 0.5 * side * Vec3::ONE, axis, rate }],
    };
    let box_of_triangles = Mesh::cuboid(Vec3::ZERO, Vec3::splat(side), 3.0 * R).expect("a box");
    let (from, to) = (-0.2 * side * Vec3::Y + 0.5 * side * Vec3::new(1.0, 0.0, 1.0), 1.4 * side * Vec3::Y);
    let cylinder = Revolved::cylinder(from, from + to, 0.62 * side).expect("a cylinder");
    model.walls = vec![
        of(Surface::Mesh(box_of_triangles), 0, turn(Vec3::Y, 3.0)),
        of(Surface::Revolved(cylinder), 1, turn(Vec3::Y, -5.0)),
        Wall { material: 1, ..plane(0.2 * R * Vec3::Y, Vec3::Y) },
    ];
    let mut state = State::new(&model);
    let mut random = Stream::new(5, Purpose::Fill, 0);
    for n in 0..125 {
        let x = 1.9 * R * Vec3::new((n % 5) as f64 + 0.5, (n / 25) as f64 + 0.5, (n / 5 % 5) as f64 + 0.5);
        let (v, w) = (0.5 * random.in_ball(false), 100.0 * random.in_ball(false));
        add(&model, &mut state, (n % 2 * 2) as u16, x, R * random.between(0.9, 1.1), v, w);
    }
    (model, state)
}

/// The part of the crowd in the middle of its periodic cell, thrown between planes: one slides through the periodic faces, one
/// comes down upon the grains and back, one turns.
fn between_planes(a: Law, b: Law) -> (Model, State) {
    let (mut model, all) = crowd(a, b);
    let side = 1.9 * R * 7.0;
    let moving = |point: Vec3, normal: Vec3, material: u16, part: MotionPart| Wall {
        material,
        motion: Motion { parts: vec![part] },
        ..plane(point, normal)
    };
    let down_and_back =
        MotionPart::Oscillate { amplitude: 0.5 * R * Vec3::Y, frequency: 300.0, phase: 1.0, form: Waveform::Sine };
    let turning = MotionPart::Rotate { through: side * Vec3::new(0.5, 0.1, 0.5), axis: Vec3::Z, rate: 20.0 };
    model.walls = vec![
        moving(0.95 * R * Vec3::Y, Vec3::Y, 0, MotionPart::Translate { velocity: Vec3::new(0.7, 0.0, -0.4) }),
        moving(1.9 * R * 5.5 * Vec3::Y, -Vec3::Y, 1, down_and_back),
        moving(1.2 * R * Vec3::Y, Vec3::new(0.02, 1.0, 0.03).normalize(), 1, turning),
    ];
    let mut state = State::new(&model);
    for i in 49..294 {
        let (x, v, w) = (all.particles.position(i), all.particles.velocity(i), all.particles.angular_velocity(i));
        add(&model, &mut state, all.particles.kind[i], x, all.particles.place[i].radius, v, w);
    }
    (model, state)
}

/// Pairs of grains some way apart that fly towards each other, all at the same speed.
fn head_on(a: Law, b: Law) -> (Model, State) {
    let (mut model, _) = crowd(a, b);
    model.cell = PeriodicCell::OPEN;
    model.fields.clear();
    let mut state = State::new(&model);
    for n in 0..64 {
        let y = 3.0 * R * f64::from(n) * Vec3::Y;
        let gap = 0.03 * R * f64::from(n);
        add(&model, &mut state, 0, y, R, 4.0 * Vec3::X, Vec3::ZERO);
        add(&model, &mut state, 0, y + (2.0 * R + gap) * Vec3::X, R, -4.0 * Vec3::X, Vec3::ZERO);
    }
    (model, state)
}

fn run(solver: Explicit, model: &Model, state: &State, steps: u64) -> State {
    let mut state = state.clone();
    let mut solver = solver.grains_per_worker(1);
    solver.advance(model, &mut state, steps).expect("the run goes on");
    state
}

/// Largest difference of positions over R, velocities and spins over their scale, losses over what was lost.
fn difference(a: &State, b: &State) -> [f64; 4] {
    let (p, q) = (&a.particles, &b.particles);
    let largest = |f: &dyn Fn(usize) -> f64| (0..p.owned()).map(f).fold(0.0, f64::max);
    assert_eq!(p.id, q.id);
    let (x, y) = (a.ledger.dissipated, b.ledger.dissipated);
    let lost = (x.damping - y.damping).abs() + (x.friction - y.friction).abs();
    [
        largest(&|i| p.position(i).distance(q.position(i)) / R),
        largest(&|i| p.velocity(i).distance(q.velocity(i))),
        largest(&|i| p.angular_velocity(i).distance(q.angular_velocity(i)) / 100.0),
        lost / (y.damping + y.friction),
    ]
}

#[test]
fn several_contacts_at_once_move_as_one_after_another() {
    for (name, a, b) in laws() {
        let (model, state) = crowd(a, b);
        same_motion(name, &model, &state, [150, 0]);
        let (model, state) = in_a_box(a, b);
        same_motion(&format!("{name}, in a box"), &model, &state, [100, 40]);
        let (model, state) = between_planes(a, b);
        same_motion(&format!("{name}, between planes"), &model, &state, [100, 40]);
    }
}

/// Runs with the general loop and with all widths, and with at least so many contacts of grains and of walls at the end.
fn same_motion(name: &str, model: &Model, state: &State, contacts: [usize; 2]) {
    let general = run(Explicit::new(1).one_pair_at_a_time(), model, state, 300);
    let found = [general.contacts.pairs.len(), general.contacts.walls.len()];
    assert!(found[0] >= contacts[0] && found[1] >= contacts[1], "{name}: {found:?} contacts");
    assert!(general.ledger.dissipated.friction > 0.0 && general.ledger.dissipated.damping > 0.0);
    for width in Width::all() {
        let batch = run(Explicit::new(1).width(width), model, state, 300);
        let off = difference(&batch, &general);
        println!("{name}, {}: {off:?}", width.name());
        // Rounding, which collisions make grow.
        assert!(off.iter().all(|off| *off < 3e-13), "{name}, {}: {off:?}", width.name());
        assert_eq!(batch.contacts.pairs.len(), general.contacts.pairs.len());
        assert_eq!(batch.contacts.walls.len(), general.contacts.walls.len());
        let scale = general.walls.iter().map(|wall| wall.work.abs()).fold(f64::MIN_POSITIVE, f64::max);
        for (wall, same) in batch.walls.iter().zip(&general.walls) {
            let off = (wall.work - same.work).abs() / scale;
            println!("{name}, {}: work of a wall off by {off:e}", width.name());
            assert!(off < 1e-13, "{name}: work of a wall off by {off:e}");
        }
    }
}

#[test]
fn the_vector_widths_give_the_same_bits_on_any_number_of_threads() {
    let scenes = |(name, a, b)| [(name, crowd(a, b)), (name, in_a_box(a, b)), (name, between_planes(a, b))];
    for (name, (model, state)) in laws().into_iter().flat_map(scenes) {
        for width in Width::all() {
            let one = run(Explicit::new(1).width(width), &model, &state, 200);
            for workers in [2, 3] {
                let other = run(Explicit::new(workers).width(width), &model, &state, 200);
                assert!(one == other, "{name}, {} on {workers} workers", width.name());
            }
        }
        let of = |width: Width| run(Explicit::new(1).width(width), &model, &state, 200);
        if Width::all().contains(&Width::Eight) {
            assert!(of(Width::Four) == of(Width::Eight), "{name}: four and eight at once differ");
        }
    }
}

/// So many grains on a floor between periodic faces that they are sorted in strips, with partners far off in memory, that each
/// worker has several segments, and that energies are summed by more than a block of grains.
#[test]
fn grains_in_strips_move_as_one_after_another_and_on_any_number_of_threads() {
    let (_, law, _) = laws().pop().expect("some laws");
    let mut model = model(law, 2500.0, 2e-6);
    model.skin = 0.3 * R;
    model.fields.push(gravity(Vec3::new(1.0, 0.5, -9.81)));
    model.walls = vec![plane(0.3 * R * Vec3::Z, Vec3::Z)];
    model.cell = PeriodicCell { origin: Vec3::ZERO, length: [None, Some(55.0 * 1.9 * R), None] };
    let mut state = State::new(&model);
    let mut random = Stream::new(3, Purpose::Fill, 0);
    for n in 0..56 * 55 * 44 {
        let x = 1.9 * R * Vec3::new((n % 56) as f64, (n / 56 % 55) as f64, (n / 56 / 55) as f64 + 0.6);
        let (v, w) = (0.5 * random.in_ball(false), 100.0 * random.in_ball(false));
        add(&model, &mut state, 0, x, R * random.between(0.8, 1.05), v, w);
    }
    let one = run(Explicit::new(1), &model, &state, 60);
    let pairs = one.contacts.pairs.iter();
    let (through, others): (Vec<_>, Vec<_>) = pairs.map(|c| (c.shift, c.j.abs_diff(c.i))).partition(|c| c.0 != [0; 3]);
    let far = others.iter().filter(|c| c.1 > 20_000).count();
    let found = [far, through.len(), one.contacts.walls.len()];
    assert!(found[0] > 500 && found[1] > 1000 && found[2] > 1000, "far off, through faces, on the floor: {found:?}");
    for workers in [2, 5] {
        assert!(one == run(Explicit::new(workers), &model, &state, 60), "other bits on {workers} workers");
    }
    let off = difference(&one, &run(Explicit::new(1).one_pair_at_a_time(), &model, &state, 60));
    assert!(off.iter().all(|off| *off < 3e-13), "{off:?}");
}

#[test]
fn springs_go_on_when_the_laws_change() {
    let laws = laws();
    for (from, to) in [(0, 1), (1, 0), (0, 2), (2, 0), (3, 4), (4, 3), (1, 3), (3, 1)] {
        let (name, before, after) = (format!("{} after {}", laws[to].0, laws[from].0), &laws[from], &laws[to]);
        for scene in [crowd, in_a_box, between_planes] {
            let (model, state) = scene(before.1, before.2);
            let state = run(Explicit::new(1).one_pair_at_a_time(), &model, &state, 150);
            let stretched = |s: &State| s.contacts.pairs.iter().map(|c| c.memory.spring.length()).fold(0.0, f64::max);
            assert!(stretched(&state) > 1e-4 * R, "{name}: no spring to go on with");
            let (model, _) = scene(after.1, after.2);
            same_motion(&name, &model, &State { loads_are_current: false, ..state }, [1, 0]);
        }
    }
}

#[test]
fn without_losses_the_motion_is_the_same() {
    let (_, a, b) = laws().remove(4);
    let (model, state) = crowd(a, b);
    let with = run(Explicit::new(1), &model, &state, 200);
    let without = run(Explicit::new(1).without_losses(), &model, &state, 200);
    assert!(with.ledger.dissipated.friction > 0.0 && without.ledger.dissipated.friction == 0.0);
    let (p, q) = (&with.particles, &without.particles);
    assert!(p.place == q.place && p.motion == q.motion, "the same bits");
}

#[test]
fn other_integrators_account_for_losses_too() {
    let (_, a, b) = laws().remove(3);
    for integrator in Integrator::ALL {
        let (mut model, state) = crowd(a, b);
        model.integrator = integrator;
        let lost = run(Explicit::new(1), &model, &state, 200).ledger.dissipated;
        assert!(lost.friction > 0.0 && lost.damping > 0.0, "{}: {lost:?}", integrator.name());
    }
}

#[test]
fn a_list_kept_is_as_good_as_one_searched_at_every_step() {
    let (_, a, b) = laws().remove(3);
    for (n, scene) in [crowd, in_a_box, between_planes, head_on].into_iter().enumerate() {
        let (mut model, mut state) = scene(a, b);
        model.skin = 0.02 * R;
        // Most drift along, some fly through the others.
        let p = &mut state.particles;
        for i in (0..p.owned()).filter(|&i| !p.is_fixed(i)).collect::<Vec<_>>() {
            p.motion[i].velocity += if n == 0 { 2.0 * Vec3::X } else { Vec3::ZERO };
            p.motion[i].velocity *= if n < 3 && i % 50 == 0 { 10.0 } else { 1.0 };
        }
        let mut searched = state.clone();
        let mut kept = Explicit::new(2).grains_per_worker(1);
        let mut searches = 0;
        for _ in 0..20 {
            // Contacts stay with the solver between the two.
            kept.go_on(&model, &mut state, 12).expect("the run goes on");
            assert!(state.contacts.are_away());
            kept.advance(&model, &mut state, 13).expect("the run goes on");
            for _ in 0..25 {
                searched = run(Explicit::new(2), &model, &searched, 1);
                searches += 1;
            }
            assert!(state == searched, "scene {n}: they differ at step {}", state.step);
        }
        assert!((3..searches / 4).contains(&kept.rebuilds()), "scene {n}: {} searches", kept.rebuilds());
        assert!(!state.contacts.pairs.is_empty());
    }
}
