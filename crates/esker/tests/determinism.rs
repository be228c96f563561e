//! The same bits for any number of workers, for a run in pieces, and for a solver that forgets its scratch memory.
//!
//! One scene holds everything that could disturb them: friction, rolling and twisting with history, wide sizes, walls
//! that turn, shake and jump, a mesh, a periodic axis, a Poisson feed, a removal, a counted plane, a field without a
//! potential, and a tidy-up in the middle.

use crate::common;

use common::{gravity, plane, wall};
use esker::boundary::{Mesh, Motion, MotionPart, Revolved, Surface, Waveform};
use esker::contact::window;
use esker::field::{Drag, DragCoefficient};
use esker::fill::feed::{Arrivals, Feed, Rate};
use esker::fill::random::RandomAddition;
use esker::fill::{Amount, By, Setting, SizeLaw};
use esker::integrate::Integrator;
use esker::lanes::{Width, offset};
use esker::law::Law;
use esker::law::damping::{AnyDamping, Coefficient};
use esker::law::rolling::{AnyRolling, ElasticPlastic};
use esker::law::tangential::{AnyTangential, Mindlin, TangentialDamping};
use esker::law::twisting::{AnyTwisting, TwistSpring};
use esker::math::{Aabb, Vec3};
use esker::model::{CountingPlane, Model, Removal, Wall};
use esker::neighbor::{Method, PeriodicCell, search};
use esker::region::Region;
use esker::rng::{Purpose, Stream};
use esker::simulation::{End, Simulation, Stage};
use esker::solver::between::Surroundings;
use esker::solver::explicit::{Explicit, TIDY_EVERY, contact_loop};
use esker::solver::{Solver, StepError};
use esker::state::State;
use std::sync::Arc;

/// So few grains per worker that small scenes are cut into eight.
const FEW: usize = 64;

/// Steps before the tidy-up at which a scene begins.
const BEFORE_TIDY: u64 = 400;

fn named(name: &str, surface: Surface, parts: Vec<MotionPart>) -> Wall {
    Wall { name: name.into(), motion: Motion { parts }, ..wall(surface) }
}

fn region(min: Vec3, max: Vec3) -> Region {
    Region::Box(Aabb { min, max })
}

/// Damping, and friction with history, which the fast loop does too.
fn rubbing() -> Law {
    Law {
        damping: AnyDamping::Coefficient(Coefficient { coefficient: 0.02 }),
        tangential: AnyTangential::Mindlin(Mindlin {
            ratio: 0.8,
            damping: TangentialDamping::Ratio(1.0),
            friction: 0.4,
        }),
        ..common::hertz(1e5)
    }
}

/// A tub of `length`, periodic along x, with a shaking floor, a turning paddle, a spinning post and a jumping lid.
fn tub(integrator: Integrator, length: f64) -> Model {
    let law = Law {
        rolling: AnyRolling::Spring(ElasticPlastic { friction: 0.05, stiffness: None, damping_ratio: 0.3 }),
        twisting: AnyTwisting::Spring(TwistSpring { friction: 0.02, stiffness: None, damping_ratio: 0.3 }),
        ..rubbing()
    };
    let mut model = common::model(law, 2500.0, 1e-5);
    let (reach, width) = (0.02, 0.1);
    model.integrator = integrator;
    model.seed = 11;
    model.cell = PeriodicCell { origin: Vec3::ZERO, length: [Some(length), None, None] };
    model.fields = vec![
        gravity(Vec3::new(0.3, 0.0, -9.8)),
        Arc::new(Drag { coefficient: DragCoefficient::Constant(1e-4), flow: Vec3::new(1.0, 0.0, 0.0) }),
    ];

    let floor = Mesh::new(
        vec![
            Vec3::new(-0.1, -0.1, 0.0),
            Vec3::new(length + 0.1, -0.1, 0.0),
            Vec3::new(length + 0.1, 0.2, 0.005),
            Vec3::new(-0.1, 0.2, 0.005),
            Vec3::new(0.5 * length, 0.05, -0.004),
        ],
        vec![[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]],
        reach,
    )
    .expect("a floor of four triangles");
    let paddle = Mesh::cuboid(Vec3::new(0.3 * length, 0.02, 0.04), Vec3::new(0.4 * length, 0.08, 0.05), reach)
        .expect("a box of twelve triangles");
    let post =
        Revolved::cylinder(Vec3::new(0.7 * length, 0.05, -0.1), Vec3::new(0.7 * length, 0.05, 0.3), 0.012).unwrap();
    let shake = MotionPart::Oscillate {
        amplitude: Vec3::new(0.0, 0.0, 2e-3),
        frequency: 60.0,
        phase: 0.4,
        form: Waveform::Sine,
    };
    let turn = |x: f64, axis: Vec3, rate: f64| MotionPart::Rotate { through: Vec3::new(x, 0.05, 0.045), axis, rate };
    model.walls = vec![
        plane(Vec3::ZERO, Vec3::Y),
        plane(Vec3::new(0.0, width, 0.0), -Vec3::Y),
        named("floor", Surface::Mesh(floor), vec![shake]),
        named("paddle", Surface::Mesh(paddle), vec![turn(0.35 * length, Vec3::Y, 25.0)]),
        named("post", Surface::Revolved(post), vec![turn(0.7 * length, Vec3::Z, -40.0)]),
        named(
            "lid",
            Surface::Plane(esker::boundary::Plane { point: Vec3::new(0.0, 0.0, 0.25), normal: -Vec3::Z }),
            vec![MotionPart::Jump { at: 0.003, by: Vec3::new(0.0, 0.0, -0.01) }],
        ),
    ];
    model.removals = vec![Removal::Inside(region(Vec3::new(-1.0, 0.0, -0.1), Vec3::new(2.0, 0.03, 0.035)))];
    model.gates = vec![CountingPlane { normal: Vec3::Z, offset: 0.1 }, CountingPlane { normal: Vec3::X, offset: 0.1 }];
    let feed = Feed {
        region: region(Vec3::new(0.0, 0.0, 0.2), Vec3::new(length, width, 0.235)),
        size: SizeLaw::Uniform { min: 0.002, max: 0.006, by: By::Number },
        rate: Rate::Number(8000.0),
        arrivals: Arrivals::Poisson,
        start: 0.0,
        stop: None,
        max_count: None,
        tries: 50,
        delay: None,
        patience: 1000,
        velocity: Vec3::new(0.0, 0.2, -2.0),
        spin: Vec3::new(0.0, 10.0, 0.0),
        kind: 0,
    };
    model.feeds = vec![(feed.prepare(false).expect("a sound feed"), true)];
    model
}

/// Grains of radii from 3 to 12 mm at random in the tub, thrown about, a little before a tidy-up.
fn thrown(model: &Model, length: f64, count: usize) -> State {
    let mut state = State::new(model);
    let sizes = SizeLaw::LogNormal { median: 0.005, sigma: 0.4, min: 0.003, max: 0.012, by: By::Number };
    let sizes = sizes.prepare(false).expect("a sound law");
    let surroundings = Surroundings::near(model, &state, Aabb { min: Vec3::NEG_INFINITY, max: Vec3::INFINITY });
    let setting = Setting { planar: false, seed: 5, group: 0, obstacles: &surroundings };
    let room = region(Vec3::new(0.0, 0.0, 0.012), Vec3::new(length, 0.1, 0.2));
    let fill = RandomAddition { region: room, amount: Amount::Count(count), tries: 10_000 };
    let filling = fill.fill(&sizes, &setting).expect("there is room");
    for (i, grain) in filling.grains.iter().enumerate() {
        let mut stream = Stream::new(3, Purpose::Velocity, i as u64);
        let speed = stream.between(0.0, 2.0);
        let velocity = stream.direction(false) * speed;
        let spin = stream.direction(false) * 50.0;
        common::add(model, &mut state, 0, grain.centre, grain.radius, velocity, spin);
    }
    state.step = TIDY_EVERY - BEFORE_TIDY;
    state.new_epoch();
    state
}

/// Equal to the last bit, which `==` on floats does not tell for zeros and is not for what is no number.
#[track_caller]
fn assert_same(a: &State, b: &State, what: &str) {
    assert_eq!(a.step, b.step, "{what}");
    assert_eq!(a.particles.id, b.particles.id, "{what}: grains or their order");
    let n = a.particles.owned();
    let differs = |i: &usize| {
        format!("{:?}", (a.particles.place[*i], a.particles.motion[*i], a.particles.load[*i]))
            != format!("{:?}", (b.particles.place[*i], b.particles.motion[*i], b.particles.load[*i]))
    };
    if let Some(i) = (0..n).find(differs) {
        panic!("{what}: grain {i} differs after step {}", a.step);
    }
    assert_eq!(a.flows, b.flows, "{what}");
    assert_eq!(a.ledger, b.ledger, "{what}");
    assert_eq!(a.walls, b.walls, "{what}");
    assert_eq!(a.contacts, b.contacts, "{what}");
    assert!(a == b && format!("{a:?}") == format!("{b:?}"), "{what}: the states differ after step {}", a.step);
}

fn advance(mut solver: Explicit, model: &Model, state: &mut State, steps: u64) {
    solver.advance(model, state, steps).expect("the run goes on");
}

/// Runs something on a pool of its own.
fn on_threads<T: Send>(threads: usize, f: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool").install(f)
}

/// So many steps from a state on end in the same one for one thread and for others, with more contacts than that.
#[track_caller]
fn assert_same_on_threads(model: &Model, start: &State, steps: u64, contacts: usize, others: [usize; 3]) {
    let run = |threads: usize| {
        on_threads(threads, || {
            let mut state = start.clone();
            advance(Explicit::new(threads), model, &mut state, steps);
            state
        })
    };
    let one = run(1);
    assert!(one.contacts.pairs.len() > contacts, "{} contacts", one.contacts.pairs.len());
    for threads in others {
        assert_same(&one, &run(threads), &format!("{threads} threads"));
    }
}

#[test]
fn forces_are_bitwise_equal_for_1_2_3_and_8_threads() {
    for integrator in Integrator::ALL {
        let model = tub(integrator, 0.3);
        let start = thrown(&model, 0.3, 700);
        let run = |threads: usize| {
            on_threads(threads, || {
                let mut state = start.clone();
                advance(Explicit::new(threads).grains_per_worker(FEW), &model, &mut state, 1200);
                state
            })
        };
        let one = run(1);
        let contacts = one.contacts.pairs.len() + one.contacts.walls.len();
        let crossed = one.contacts.pairs.iter().filter(|c| c.shift != [0; 3]).count();
        assert!(contacts > 100 && crossed > 3, "{contacts} contacts, {crossed} of them across the faces");
        assert!(one.removed.count > 0 && one.feeds[0].created > 20 && one.flows.iter().all(|f| f.count != 0));
        assert!(one.ledger.dissipated.friction > 0.0 && one.ledger.dissipated.rolling > 0.0);
        assert!(one.walls.iter().skip(2).take(3).all(|w| w.work != 0.0), "the moving walls were hit");
        for threads in [2, 3, 8] {
            assert_same(&one, &run(threads), &format!("{integrator:?} on {threads} threads"));
        }
    }
}

#[test]
fn five_thousand_grains_on_1_2_3_and_8_threads_give_the_same_bits() {
    let model = tub(Integrator::VelocityVerlet, 2.0);
    let start = thrown(&model, 2.0, 5000);
    assert_same_on_threads(&model, &start, 250, 300, [2, 3, 8]);
}

/// A cube of grains, so many along each edge, that meet and part and rub, on a plane, for the fast loop.
fn cube(side: usize) -> (Model, State) {
    let (radius, dt) = (0.005, 1e-5);
    let mut model = common::model(rubbing(), 2500.0, dt);
    model.fields = vec![gravity(Vec3::new(0.0, 0.0, -9.8))];
    model.walls = vec![plane(Vec3::ZERO, Vec3::Z)];
    assert_eq!(contact_loop(&model), Width::best().name());
    let mut start = State::new(&model);
    for k in 0..side * side * side {
        let cell = Vec3::new((k % side) as f64, (k / side % side) as f64, (k / (side * side)) as f64 + 0.5);
        let mut stream = Stream::new(5, Purpose::Velocity, k as u64);
        let (v, w) = (0.3 * stream.in_ball(false), 60.0 * stream.in_ball(false));
        common::add(&model, &mut start, 0, 1.999 * radius * cell, radius, v, w);
    }
    (model, start)
}

/// So many that workers have several segments each, and begin the next step while others are still at this one: of one size, and a step
/// ahead of others, or, with a periodic axis, large and small, and all together.
#[test]
fn thirty_thousand_grains_that_meet_and_part_give_the_same_bits_on_1_2_4_and_5_threads() {
    let (mut model, start) = cube(32);
    assert_same_on_threads(&model, &start, 60, 10_000, [2, 4, 5]);
    model.cell = PeriodicCell { origin: Vec3::ZERO, length: [Some(32.0 * 1.999 * 0.005), None, None] };
    assert_same_on_threads(&model, &start, 60, 10_000, [2, 4, 5]);
}

/// Eight workers for one segment, and lists that end within a stretch of steps: those who find nothing to do must not wait.
#[test]
fn more_workers_than_segments_make_the_same_steps() {
    let (model, start) = cube(4);
    let run = |threads: usize| {
        on_threads(threads, || {
            let (mut state, mut solver) = (start.clone(), Explicit::new(threads).grains_per_worker(1));
            solver.advance(&model, &mut state, 6000).expect("the run goes on");
            assert!(solver.rebuilds() > 10, "{} lists", solver.rebuilds());
            state
        })
    };
    assert_same(&run(1), &run(8), "8 threads");
}

#[test]
fn a_grain_that_is_thrown_away_within_one_step_ends_the_run_with_a_sentence() {
    let (mut model, start) = cube(4);
    model.fields = vec![gravity(Vec3::new(0.0, 0.0, -9.8e7))];
    let told = Explicit::new(1).advance(&model, &mut start.clone(), 10).expect_err("nobody falls so fast");
    assert!(told.to_string().starts_with("grain 0, or one stored beside it, was thrown away"), "{told}");
    assert_eq!(told, StepError::Sudden { id: 0, step: 1, time: model.dt });
}

/// The loads of steps that are made one by one are in a column, those of others in windows, beyond which some grains have partners: at the
/// sides of strips.
#[test]
fn steps_made_in_one_go_are_those_made_one_by_one() {
    let (model, start) = cube(36);
    let one_by_one = same_in_one_go(&model, &start);
    let places = &one_by_one.particles.place;
    let candidates = search(places, &model.cell, model.skin, Method::Grid).expect("they are near");
    let pairs = (0..places.len()).flat_map(|i| candidates.row(i).iter().map(move |j| (offset(i as u32), offset(*j))));
    let (i, j): (Vec<u32>, Vec<u32>) = pairs.unzip();
    let size = window::size(places.len(), [&i, &j]).expect("nearly all are within it");
    assert!(i.iter().zip(&j).filter(|(i, j)| *j - *i > offset(size as u32)).count() > 1000, "beyond {size}");
}

#[test]
fn steps_made_in_one_go_across_a_periodic_axis_are_those_made_one_by_one() {
    let (mut model, start) = cube(24);
    model.cell = PeriodicCell { origin: Vec3::ZERO, length: [Some(24.0 * 1.999 * 0.005), None, None] };
    same_in_one_go(&model, &start);
}

/// The state after some steps that were made one by one, as after those in pieces of any length on any number of threads.
#[track_caller]
fn same_in_one_go(model: &Model, start: &State) -> State {
    let run = |threads: usize, at_once: u64| {
        on_threads(threads, || {
            let (mut state, mut solver) = (start.clone(), Explicit::new(threads));
            for _ in 0..120 / at_once {
                solver.go_on(model, &mut state, at_once).expect("the run goes on");
            }
            solver.complete(&mut state);
            state
        })
    };
    let one_by_one = run(1, 1);
    assert!(one_by_one.contacts.pairs.len() > 4000 && one_by_one.ledger.dissipated.total() > 0.0);
    for (threads, at_once) in [(1, 120), (3, 120), (4, 40), (5, 2)] {
        assert_same(&one_by_one, &run(threads, at_once), &format!("{threads} threads, {at_once} steps in one go"));
    }
    one_by_one
}

/// Whose threads stay awake for a stretch of steps: all of the pool. If such a step gave the pool a part of anything, this would not end.
#[test]
fn more_workers_than_the_pool_has_threads_called_from_outside_give_the_same_bits() {
    let (model, start) = cube(21);
    let run = |workers: usize| {
        let (mut solver, mut state) = (Explicit::new(workers).grains_per_worker(FEW), start.clone());
        solver.advance(&model, &mut state, 600).expect("the run goes on");
        (state, solver.rebuilds())
    };
    let ((one, lists), (many, _)) = (run(1), run(2 * rayon::current_num_threads() + 1));
    assert!(lists > 3 && one.contacts.pairs.len() > 500, "{lists} lists, {} contacts", one.contacts.pairs.len());
    assert_same(&one, &many, "many workers");
}

#[test]
fn dropping_the_scratch_memory_between_any_two_steps_changes_nothing() {
    for integrator in Integrator::ALL {
        let model = tub(integrator, 0.3);
        let mut unbroken = thrown(&model, 0.3, 400);
        let mut dropped = unbroken.clone();
        let mut solver = Explicit::new(2).grains_per_worker(FEW);
        for _ in 0..10 {
            solver.advance(&model, &mut unbroken, 100).expect("the run goes on");
            for _ in 0..100 {
                advance(Explicit::new(2).grains_per_worker(FEW), &model, &mut dropped, 1);
            }
            assert_same(&unbroken, &dropped, &format!("{integrator:?}"));
        }
    }
}

/// Three stages: the tub, the tub with other motions and without a lid, and the tub without feed.
fn stages(integrator: Integrator) -> Vec<Stage> {
    let first = tub(integrator, 0.3);
    let mut second = first.clone();
    second.walls[3].motion.parts = vec![MotionPart::Translate { velocity: Vec3::new(0.1, 0.0, 0.0) }];
    second.walls[5].active = false;
    second.dt = 0.8e-5;
    let mut third = second.clone();
    third.feeds[0].1 = false;
    let end = |steps: f64, model: &Model| End { duration: Some(steps * model.dt), ..End::default() };
    let until_empty = End { count_at_most: Some(10), ..End::default() };
    vec![
        Stage { name: "one".into(), end: end(300.0, &first), model: first },
        Stage { name: "two".into(), end: end(700.5, &second), model: second },
        Stage { name: "three".into(), end: until_empty, model: third },
    ]
}

#[test]
fn run_continued_from_a_checkpoint_equals_the_unbroken_run() {
    const STEPS: u64 = 1400;
    for integrator in Integrator::ALL {
        let stages = stages(integrator);
        let start = thrown(&stages[0].model, 0.3, 400);
        let simulation =
            |state: State, workers: usize| Simulation::new(stages.clone(), state, workers).grains_per_worker(FEW);

        // The unbroken run, and every state on its way: a state is a checkpoint.
        let mut unbroken = simulation(start.clone(), 1);
        let mut states = vec![start];
        while (states.len() as u64) <= STEPS {
            assert_eq!(unbroken.advance(1).expect("the run goes on"), 1);
            states.push(unbroken.state.clone());
        }
        let last = &states[STEPS as usize];
        assert_eq!(last.stage, 2);

        // Where something happens, and just before and after; the tidy-up among them.
        let happens = |k: usize| {
            let (a, b) = (&states[k - 1], &states[k]);
            a.stage != b.stage || a.removed != b.removed || a.feeds != b.feeds || b.step.is_multiple_of(TIDY_EVERY)
        };
        // From these on to the end, with one, two and three workers in turn; from those beside them some steps.
        const BEYOND: usize = 150;
        let mut breaks: Vec<(usize, usize)> = vec![(0, STEPS as usize), (1, 1 + BEYOND)];
        for (kind, at) in [
            ("stage", (1..states.len()).find(|&k| states[k].stage != states[k - 1].stage)),
            ("removal", (1..states.len()).find(|&k| states[k].removed != states[k - 1].removed)),
            ("feed", (1..states.len()).find(|&k| states[k].feeds != states[k - 1].feeds)),
            ("tidy-up", (1..states.len()).find(|&k| states[k].step.is_multiple_of(TIDY_EVERY))),
            ("jump", (1..states.len()).find(|&k| states[k].time > 0.003)),
            ("late event", (1000..states.len()).find(|&k| happens(k))),
        ] {
            let k = at.unwrap_or_else(|| panic!("{integrator:?}: no {kind}"));
            breaks.extend([(k - 1, k + BEYOND), (k, STEPS as usize), (k + 1, k + BEYOND)]);
        }
        for (n, (k, until)) in breaks.into_iter().enumerate() {
            let mut continued = simulation(states[k].clone(), 1 + (n + n / 3) % 3);
            let then = &states[until.min(STEPS as usize)];
            while continued.state.step < then.step {
                continued.advance(then.step - continued.state.step).expect("the run goes on");
            }
            assert_same(then, &continued.state, &format!("{integrator:?} continued from step {k} to {until}"));
        }
    }
}

#[test]
fn a_feed_sees_the_periodic_copies_of_grains_that_have_left_the_cell() {
    let length = 0.05;
    let mut model = tub(Integrator::VelocityVerlet, length);
    (model.walls, model.removals, model.fields) = (vec![], vec![], vec![]);
    let mut state = State::new(&model);
    // A layer of fixed grains that fills the inlet, but lies some periods away.
    for (i, j) in (0..5).flat_map(|i| (0..10).map(move |j| (i, j))) {
        let x = Vec3::new(0.01 * f64::from(i) + 7.0 * length, 0.01 * f64::from(j) + 0.005, 0.2175);
        common::add(&model, &mut state, 1, x, 0.00499, Vec3::ZERO, Vec3::ZERO);
    }
    let surroundings = Surroundings::near(&model, &state, Aabb { min: Vec3::NEG_INFINITY, max: Vec3::INFINITY });
    let mut pushes = Vec::new();
    esker::fill::Obstacles::overlaps(&surroundings, Vec3::new(0.045, 0.015, 0.2175), 0.003, &mut pushes);
    assert_eq!(pushes.len(), 2, "one neighbour inside the cell, one through its face");

    advance(Explicit::new(1), &model, &mut state, 100);
    let found =
        esker::neighbor::search(&state.particles.place, &model.cell, 0.0, esker::neighbor::Method::Naive).unwrap();
    let born = |i: usize| state.particles.id[i] >= 50;
    for i in 0..state.particles.owned() {
        let owner =
            |j: u32| found.images.get((j as usize).wrapping_sub(state.particles.owned())).map_or(j, |m| m.owner);
        assert!(!found.row(i).iter().any(|&j| born(i) || born(owner(j) as usize)), "a new grain overlaps another");
    }
}
