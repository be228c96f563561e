//! The quasi-static solver: closed forms, what holds after every step, bits, and the way to and from `explicit`.

use crate::common::*;
use esker::boundary::Surface;
use esker::boundary::revolved::Revolved;
use esker::contact::visit::{self, Other};
use esker::fill::feed::{Arrivals, Feed, Rate};
use esker::fill::{By, SizeLaw};
use esker::law::Law;
use esker::law::collision::Collision;
use esker::law::damping::{AnyDamping, PerMass};
use esker::law::tangential::{AnyTangential, Spring, Stiffness, TangentialDamping};
use esker::math::{Aabb, Vec3};
use esker::measure::energy;
use esker::model::{Material, Method, Model, Nodes, PairTable, StaticBy, StaticSettings};
use esker::region::Region;
use esker::shape::Shape;
use esker::solver::quasistatic::Quasistatic;
use esker::solver::{Solver, StepError};
use esker::state::State;

const ALL: [StaticBy; 3] = [StaticBy::Inverse, StaticBy::Factors, StaticBy::Gradients];

fn rubbing(stiffness: f64, friction: f64) -> Law {
    let stiffness_t = Stiffness::Given(0.1 * stiffness);
    let spring = Spring { stiffness: stiffness_t, damping: TangentialDamping::None, friction };
    Law { tangential: AnyTangential::Spring(spring), ..hooke(stiffness) }
}

fn at_rest(model: &mut Model, nodes: Nodes, by: StaticBy) {
    model.method = Method::Quasistatic(StaticSettings { nodes, by, tolerance: 1e-10 });
}

/// Discs of the silo of Gavrilov (1999), G-14, and its walls: floor, left, right.
fn silo(by: StaticBy) -> Model {
    let mut model = planar(1190.0);
    model.materials.push(Material { name: "wall".into(), density: None, youngs_modulus: None, poisson_ratio: None });
    model.laws = PairTable::new(2, |a, b| if a + b == 0 { rubbing(1e6, 0.43) } else { rubbing(1.5e6, 0.33) });
    model.collisions = PairTable::new(2, |_, _| Collision::smooth(1.0));
    let half = 0.15;
    for (point, normal) in [(Vec3::ZERO, Vec3::Y), (-half * Vec3::X, Vec3::X), (half * Vec3::X, -Vec3::X)] {
        model.walls.push(esker::model::Wall { material: 1, ..plane(point, normal) });
    }
    model.fields = vec![gravity(-9.8 * Vec3::Y)];
    at_rest(&mut model, Nodes::Translating, by);
    let region = Region::Box(Aabb { min: Vec3::new(-half, 1.1, -1.0), max: Vec3::new(half, 1.2, 1.0) });
    let size = SizeLaw::Normal { mean: 0.01, sd: 5e-4, min: 0.008, max: 0.012, by: By::Number };
    model.feeds = vec![(Feed { region, size, ..rain() }.prepare(true).unwrap(), true)];
    model
}

/// One grain after another, a second apart.
fn rain() -> Feed {
    Feed {
        region: Region::Box(Aabb { min: Vec3::ZERO, max: Vec3::ONE }),
        size: SizeLaw::Single { radius: 0.01 },
        rate: Rate::Number(1.0),
        arrivals: Arrivals::Steady,
        start: 1.0,
        stop: None,
        max_count: None,
        tries: 50,
        delay: None,
        patience: 10,
        velocity: Vec3::ZERO,
        spin: Vec3::ZERO,
        kind: 0,
    }
}

/// Spheres let down into a round silo, wall and floor alike.
fn round_silo(by: StaticBy) -> Model {
    let mut model = model(rubbing(5e4, 0.4), 2500.0, 1.0);
    let shell = Revolved::cylinder(Vec3::ZERO, 0.6 * Vec3::Z, 0.02).unwrap();
    model.walls = vec![plane(Vec3::ZERO, Vec3::Z), wall(Surface::Revolved(shell))];
    model.fields = vec![gravity(-9.81 * Vec3::Z)];
    at_rest(&mut model, Nodes::Translating, by);
    let region = Region::Cylinder { from: 0.5 * Vec3::Z, to: 0.59 * Vec3::Z, radius: 0.016 };
    let size = SizeLaw::Uniform { min: 0.0027, max: 0.0033, by: By::Number };
    model.feeds = vec![(Feed { region, size, ..rain() }.prepare(false).unwrap(), true)];
    model
}

/// Discs of a density, no walls, no gravity; equilibria a second apart.
fn planar(density: f64) -> Model {
    let mut model = model(hooke(1e6), density, 1.0);
    model.planar = true;
    let disc = Shape::Disc { depth: 1.0 };
    for kind in &mut model.kinds {
        (kind.shape, kind.inertia_factor) = (disc, disc.inertia_factor());
    }
    model
}

/// Largest force and couple over a radius that is left on a grain when contacts and weight are added up \[N\].
fn unbalanced(model: &Model, state: &State, couples: bool) -> f64 {
    let p = &state.particles;
    let g = model.uniform_acceleration();
    let mut rest: Vec<[Vec3; 2]> = (0..p.owned()).map(|i| [p.mass[i] * g, Vec3::ZERO]).collect();
    visit::for_each(model, state, |c| {
        rest[c.i][0] += c.force;
        rest[c.i][1] += (c.point - c.from).cross(c.force);
        if let Other::Grain(j) = c.other {
            rest[j][0] -= c.force;
            rest[j][1] -= (c.point - c.to).cross(c.force);
        }
    });
    let of = |i: usize| rest[i][0].length().max(if couples { rest[i][1].length() / p.radius(i) } else { 0.0 });
    (0..p.owned()).filter(|&i| !p.is_fixed(i)).map(of).fold(0.0, f64::max)
}

/// Everything that holds at rest (G-20): balance, contacts that push, Coulomb's limit, nothing that overlaps without a contact.
fn assert_at_rest(model: &Model, state: &State, friction: [f64; 2], couples: bool) {
    let weight =
        state.particles.mass.iter().fold(0.0, |m: f64, mass| m.max(*mass)) * model.uniform_acceleration().length();
    let off = unbalanced(model, state, couples);
    assert!(off < 1e-8 * weight, "step {}: {off:.1e} N of {weight:.1e} N", state.step);
    let mut linked = 0;
    visit::for_each(model, state, |c| {
        let mu = friction[usize::from(matches!(c.other, Other::Wall(_)))];
        let normal = (c.to - c.from).normalize();
        let across = c.force.reject_from_normalized(normal).length();
        assert!(c.normal_force > 0.0 && across <= mu * c.normal_force + 1e-8 * weight, "{c:?}");
        linked += usize::from(matches!(c.other, Other::Grain(_)));
    });
    let p = &state.particles;
    let pairs = (0..p.owned()).flat_map(|i| (0..i).map(move |j| (i, j)));
    let overlap = |(i, j): &(usize, usize)| p.radius(*i) + p.radius(*j) - p.position(*i).distance(p.position(*j));
    let touching = pairs.filter(|pair| overlap(pair) > 1e-8 * weight / 1e6).count();
    assert!(touching <= linked, "{touching} pairs overlap, {linked} contacts");
}

#[test]
fn every_contact_of_a_stack_carries_the_weight_above() {
    for law in [rubbing(1e6, 0.5), Law { tangential: rubbing(1e6, 0.5).tangential, ..hertz(1e8) }] {
        for by in ALL {
            for nodes in [Nodes::Turning, Nodes::Translating] {
                let mut model = model(law, 2500.0, 1.0);
                model.walls = vec![plane(Vec3::ZERO, Vec3::Z)];
                model.fields = vec![gravity(-10.0 * Vec3::Z)];
                at_rest(&mut model, nodes, by);
                let mut state = State::new(&model);
                for k in 0..10 {
                    let height = 0.01 + 0.02 * f64::from(k);
                    add(&model, &mut state, 0, Vec3::Z * height, 0.01, Vec3::ZERO, Vec3::ZERO);
                }
                Quasistatic::new().advance(&model, &mut state, 1).unwrap();
                let weight = 10.0 * state.particles.mass[0];
                let mut counted = 0;
                visit::for_each(&model, &state, |c| {
                    let above = match c.other {
                        Other::Wall(_) => 10,
                        Other::Grain(j) => 10 - c.i.max(j),
                    };
                    close(c.normal_force, above as f64 * weight, 1e-8, "load");
                    counted += 1;
                });
                assert_eq!(counted, 10);
            }
        }
    }
}

#[test]
fn a_disc_in_a_groove_leans_on_both_sides_alike() {
    for by in ALL {
        let mut model = planar(1000.0);
        let h = 0.5f64.sqrt();
        model.walls = vec![plane(Vec3::ZERO, Vec3::new(h, h, 0.0)), plane(Vec3::ZERO, Vec3::new(-h, h, 0.0))];
        model.fields = vec![gravity(-10.0 * Vec3::Y)];
        at_rest(&mut model, Nodes::Translating, by);
        let mut state = State::new(&model);
        add(&model, &mut state, 0, Vec3::Y * 0.01 / h, 0.01, Vec3::ZERO, Vec3::ZERO);
        Quasistatic::new().advance(&model, &mut state, 1).unwrap();
        let weight = 10.0 * state.particles.mass[0];
        visit::for_each(&model, &state, |c| close(c.normal_force, weight * h, 1e-9, "load"));
        assert_eq!(state.contacts.walls.len(), 2);
    }
}

#[test]
fn all_of_a_silo_is_at_rest_after_every_disc_and_all_ways_to_solve_agree() {
    let runs: Vec<State> = ALL
        .into_iter()
        .map(|by| {
            let model = silo(by);
            let (mut state, mut solver) = (State::new(&model), Quasistatic::new());
            for _ in 0..90 {
                solver.advance(&model, &mut state, 1).unwrap();
                assert_at_rest(&model, &state, [0.43, 0.33], false);
            }
            let weight: f64 = 9.8 * state.particles.mass.iter().sum::<f64>();
            let carried: f64 = -state.walls.iter().map(|wall| wall.force.y).sum::<f64>();
            close(carried, weight, 1e-9, "what the walls carry");
            let account = energy::balance(&model, &state);
            assert!(account.residual().abs() < 1e-9 * account.turnover());
            assert!(account.dissipated.friction > 0.0);
            // Where no contact comes or goes statics tells the whole way, and nothing is won on it.
            let quiet = state.statics.avalanches.iter().filter(|a| a.connected + a.disconnected + a.fallen == 0);
            assert!(quiet.clone().count() > 60 && quiet.clone().all(|a| a.released > -1e-12));
            state
        })
        .collect();
    for other in &runs[1..] {
        for (a, b) in runs[0].walls.iter().zip(&other.walls) {
            assert!((a.force - b.force).length() < 1e-8 * 9.8 * runs[0].particles.mass.iter().sum::<f64>());
        }
        for (a, b) in runs[0].particles.place.iter().zip(&other.particles.place) {
            assert!((a.position - b.position).length() < 1e-10);
        }
    }
}

#[test]
fn silos_come_to_rest_whatever_is_let_down() {
    for seed in 2..12 {
        let mut model = silo(StaticBy::Automatic);
        model.seed = seed;
        let (mut state, mut solver) = (State::new(&model), Quasistatic::new());
        solver.advance(&model, &mut state, 70).unwrap_or_else(|told| panic!("seed {seed}: {told}"));
        assert_eq!(state.particles.owned(), 70);
        assert_at_rest(&model, &state, [0.43, 0.33], false);
    }
}

#[test]
fn spheres_in_a_round_silo_are_at_rest_after_each_and_all_ways_to_solve_agree() {
    let run = |by: StaticBy, seed: u64| {
        let mut model = round_silo(by);
        model.seed = seed;
        let (mut state, mut solver) = (State::new(&model), Quasistatic::new());
        for _ in 0..60 {
            solver.advance(&model, &mut state, 1).unwrap_or_else(|told| panic!("seed {seed}: {told}"));
            assert_at_rest(&model, &state, [0.4; 2], false);
        }
        let weight: f64 = 9.81 * state.particles.mass.iter().sum::<f64>();
        let carried: f64 = -state.walls.iter().map(|wall| wall.force.z).sum::<f64>();
        close(carried, weight, 1e-9, "what the walls carry");
        assert!(-state.walls[1].force.z > 0.02 * weight, "some of it the shell");
        state
    };
    let runs = ALL.map(|by| run(by, 1));
    for other in &runs[1..] {
        for (a, b) in runs[0].particles.place.iter().zip(&other.particles.place) {
            assert!((a.position - b.position).length() < 2e-16);
        }
    }
    run(StaticBy::Automatic, 2);
}

#[test]
fn a_fill_begun_anew_at_any_step_is_the_unbroken_one() {
    for by in ALL {
        let model = silo(by);
        let (mut unbroken, mut solver) = (State::new(&model), Quasistatic::new());
        solver.advance(&model, &mut unbroken, 50).unwrap();
        let mut broken = State::new(&model);
        for steps in [1, 17, 3, 20, 9] {
            Quasistatic::new().advance(&model, &mut broken, steps).unwrap();
        }
        assert!(unbroken == broken, "{by:?}");
    }
}

#[test]
fn a_fill_has_the_same_bits_for_any_number_of_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let model = silo(StaticBy::Gradients);
            let mut state = State::new(&model);
            Quasistatic::new().advance(&model, &mut state, 40).unwrap();
            state
        })
    };
    let one = run(1);
    assert!([2, 3, 8].into_iter().all(|threads| run(threads) == one));
}

#[test]
fn what_cannot_rest_is_told_and_not_waited_for() {
    // G-23: discs on a slope that is too steep slide for ever.
    let mut model = planar(1000.0);
    let tilt = 40f64.to_radians();
    let (normal, down) = (Vec3::new(tilt.sin(), tilt.cos(), 0.0), Vec3::new(tilt.cos(), -tilt.sin(), 0.0));
    model.laws = PairTable::new(1, |_, _| rubbing(1e6, 0.3));
    model.walls = vec![plane(Vec3::ZERO, normal)];
    model.fields = vec![gravity(-10.0 * Vec3::Y)];
    at_rest(&mut model, Nodes::Translating, StaticBy::Inverse);
    let mut state = State::new(&model);
    for k in 0..3 {
        add(&model, &mut state, 0, 0.01 * normal + 0.02 * f64::from(k) * down, 0.01, Vec3::ZERO, Vec3::ZERO);
    }
    let told = Quasistatic::new().advance(&model, &mut state, 1).unwrap_err();
    assert!(matches!(told, StepError::NotStatic { .. }), "{told}");
}

/// Grains thrown into a box and left to settle: the model for `explicit` and the state.
fn settled(is_planar: bool) -> (Model, State) {
    let k = 1e5;
    let mut law = rubbing(k, 0.5);
    law.damping = AnyDamping::PerMass(PerMass { rate: 800.0 });
    let spring =
        Spring { stiffness: Stiffness::Given(0.5 * k), damping: TangentialDamping::PerMass(800.0), friction: 0.5 };
    law.tangential = AnyTangential::Spring(spring);
    let mut model = if is_planar { planar(100.0) } else { model(hooke(1.0), 2500.0, 1.0) };
    model.laws = PairTable::new(1, |_, _| law);
    let up = if is_planar { Vec3::Y } else { Vec3::Z };
    model.dt = if is_planar { 5e-5 } else { 1e-5 };
    model.fields = vec![gravity(-9.8 * up)];
    let half = if is_planar { 0.06 } else { 0.035 };
    model.walls = vec![plane(Vec3::ZERO, up)];
    for across in [Vec3::X, if is_planar { Vec3::ZERO } else { Vec3::Y }].into_iter().filter(|a| *a != Vec3::ZERO) {
        model.walls.extend([plane(-half * across, across), plane(half * across, -across)]);
    }
    let mut state = State::new(&model);
    for n in 0..40 {
        let (i, j) = (n % 4, n / 4);
        let wobble = 0.001 * f64::from((n * 7) % 5);
        let place = if is_planar {
            Vec3::new(-0.042 + 0.028 * f64::from(i) + wobble, 0.013 + 0.024 * f64::from(j), 0.0)
        } else {
            let (a, b) = (f64::from(i % 2), f64::from(i / 2));
            Vec3::new(-0.017 + 0.03 * a + wobble, -0.016 + 0.03 * b - wobble, 0.013 + 0.025 * f64::from(j))
        };
        add(&model, &mut state, 0, place, 0.01 + 0.0002 * f64::from(n % 6), Vec3::ZERO, Vec3::ZERO);
    }
    run(&model, &mut state, if is_planar { 80_000 } else { 150_000 });
    (model, state)
}

#[test]
fn a_settled_bed_is_at_rest_with_its_forces_and_goes_on_without_a_jolt() {
    for is_planar in [true, false] {
        let (soft, mut state) = settled(is_planar);
        let forces = |model: &Model, state: &State| {
            let mut forces = std::collections::BTreeMap::new();
            visit::for_each(model, state, |c| {
                let other = match c.other {
                    Other::Grain(j) => state.particles.id[j] as i64,
                    Other::Wall(w) => -1 - w as i64,
                };
                forces.insert((state.particles.id[c.i], other), c.force);
            });
            forces
        };
        let before = forces(&soft, &state);
        let mut model = soft.clone();
        at_rest(&mut model, Nodes::Turning, StaticBy::Automatic);
        (state.loads_are_current, model.dt) = (false, 1.0);
        Quasistatic::new().advance(&model, &mut state, 1).unwrap();
        assert_at_rest(&model, &state, [0.5; 2], true);
        let after = forces(&model, &state);
        let mean = before.values().map(|f| f.length()).sum::<f64>() / before.len() as f64;
        let same = before.keys().filter(|key| after.contains_key(key)).count();
        let off = before.iter().filter_map(|(key, f)| after.get(key).map(|g| (*f - *g).length()));
        let off = off.fold(0.0, f64::max) / mean;
        println!("planar {is_planar}: {same} of {} contacts, forces off by {off:.1e} of their mean", before.len());
        // The bed in space had not quite come to rest.
        assert!(same == before.len() && off < if is_planar { 1e-11 } else { 0.02 });

        // Soft contacts go on from there.
        state.loads_are_current = false;
        state.particles.forget_steps();
        let elastic = energy::elastic(&soft, &state).total();
        let mut moving = 0.0f64;
        for _ in 0..200 {
            run(&soft, &mut state, 10);
            moving = moving.max(energy::balance(&soft, &state).kinetic());
        }
        println!("kinetic energy {:.1e} of the elastic", moving / elastic);
        assert!(moving < 1e-20 * elastic);
    }
}
