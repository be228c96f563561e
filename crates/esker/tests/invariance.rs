//! Frames and order do not matter: rotation, boost, periodic origin, insertion order (V15, V43, D-22).

use crate::common;

use common::*;
use esker::boundary::{Motion, MotionPart};
use esker::contact::{Frame, Levers, Velocity, contact_velocity, mean_contact_velocity};
use esker::law::cohesion::{AnyCohesion, Capillary, Dmt};
use esker::law::damping::{AnyDamping, FromRestitution, LankaraniNikravesh, OverlapRate, Viscoelastic};
use esker::law::normal::{
    AnyNormal, Hooke, Jkr, Langston, Luding, Overlap, Power, Region, Sadd, Scale, Thornton, ThorntonNing, TwelveSix,
    WaltonBraun,
};
use esker::law::rolling::{AnyRolling, ElasticPlastic, Viscous};
use esker::law::tangential::{AnyTangential, Mindlin, PartialSlip, Rule, Spring, Stiffness, TangentialDamping};
use esker::law::twisting::{AnyTwisting, Marshall, TwistSpring};
use esker::law::{Law, Memory, Touch};
use esker::math::{Quat, Vec3};
use esker::model::{Model, Wall};
use esker::neighbor::PeriodicCell;
use esker::rng::{Purpose, Stream};
use esker::state::State;
use proptest::prelude::*;

const R: f64 = 0.01;

/// Every slot filled.
fn full_law() -> Law {
    let mut law = hertz(1e6);
    law.damping = AnyDamping::FromRestitution(FromRestitution::new(0.6, &law.normal, law.end));
    let damping = TangentialDamping::Ratio(0.5);
    law.tangential = AnyTangential::Mindlin(Mindlin { ratio: 0.8, damping, friction: 0.4 });
    law.rolling = AnyRolling::Spring(ElasticPlastic { friction: 0.1, stiffness: None, damping_ratio: 0.3 });
    law.twisting = AnyTwisting::Spring(TwistSpring { friction: 0.1, stiffness: None, damping_ratio: 0.3 });
    law
}

/// The same with every normal law, some of them with another dashpot or attraction.
fn laws() -> Vec<Law> {
    let full = full_law();
    let undamped = Law { damping: AnyDamping::None, ..full };
    let bridge = AnyCohesion::Capillary(Capillary { tension: 0.07, angle: 0.3, volume: 1e-10 });
    let latch = WaltonBraun { loading: 1e4, unloading: 2e4, growth: 0.0 };
    let slow = LankaraniNikravesh::nominal(0.6, 0.1);
    let of_volume = OverlapRate { of: Region::Volume, coefficient: 1e5 };
    let normal = |normal: AnyNormal| Law { normal, ..undamped };
    let partial = |rule: Rule| {
        let (stiffness, damping) = (Stiffness::Ratio(0.8), TangentialDamping::Ratio(0.5));
        AnyTangential::PartialSlip(PartialSlip { rule, stiffness, exponent: 1.0 / 3.0, damping, friction: 0.4 })
    };
    let softening = AnyTangential::Langston(esker::law::tangential::Langston { compliance: 1e-4, friction: 0.4 });
    vec![
        full,
        Law { tangential: partial(Rule::WaltonBraun), rolling: AnyRolling::Viscous(Viscous { friction: 0.1 }), ..full },
        Law { tangential: partial(Rule::Mindlin), ..full },
        Law {
            tangential: softening,
            twisting: AnyTwisting::Marshall(Marshall { stiffness_ratio: 0.8, friction: 0.4, damping_ratio: 0.3 }),
            ..full
        },
        Law { damping: AnyDamping::Viscoelastic(Viscoelastic { time: 1e-5 }), cohesion: bridge, ..undamped },
        Law { cohesion: AnyCohesion::Dmt(Dmt { work: 0.5 }), ..full },
        Law { damping: AnyDamping::LankaraniNikravesh(slow), ..normal(AnyNormal::Hooke(Hooke { stiffness: 1e4 })) },
        normal(AnyNormal::Power(Power { scale: Scale::Modulus(1e6), exponent: 1.3 })),
        Law {
            damping: AnyDamping::OverlapRate(of_volume),
            ..normal(AnyNormal::Overlap(Overlap { of: Region::Volume, coefficient: 1e9 }))
        },
        normal(AnyNormal::WaltonBraun(latch)),
        normal(AnyNormal::Sadd(Sadd::with_restitution(1e6, 1.5, 0.7))),
        normal(AnyNormal::Luding(Luding { loading: 1e4, unloading: 2e4, adhesion: 5e3 })),
        normal(AnyNormal::Thornton(Thornton { effective_modulus: 1e6, yield_pressure: 1e5 })),
        normal(AnyNormal::Jkr(Jkr { effective_modulus: 1e6, work: 0.5 })),
        normal(AnyNormal::ThorntonNing(ThorntonNing { effective_modulus: 1e6, yield_pressure: 1e5, work: 0.5 })),
        normal(AnyNormal::TwelveSix(TwelveSix { energy: 1e-3 })),
        normal(AnyNormal::Langston(Langston { force: 0.1, exponent: 36.0, cutoff: 1.2 })),
    ]
}

/// Two dozen grains of mixed sizes in a heap of overlapping neighbours, moving and spinning at random.
fn cluster() -> Vec<(Vec3, f64, Vec3, Vec3)> {
    let mut random = Stream::new(3, Purpose::Fill, 0);
    (0..24)
        .map(|n| {
            let cell = Vec3::new((n % 3) as f64, (n / 3 % 3) as f64, (n / 9) as f64);
            let x = 1.8 * R * cell + 0.1 * R * random.in_ball(false);
            (x, R * random.between(0.8, 1.05), 0.2 * random.in_ball(false), 20.0 * random.in_ball(false))
        })
        .collect()
}

fn populate(model: &Model, grains: &[(Vec3, f64, Vec3, Vec3)]) -> State {
    let mut state = State::new(model);
    for &(x, r, v, w) in grains {
        add(model, &mut state, 0, x, r, v, w);
    }
    state
}

/// (position, velocity, spin, force, torque) of every grain in the order of identities.
fn outcome(state: &State) -> Vec<[Vec3; 5]> {
    (0..state.particles.owned() as u64)
        .map(|id| {
            let i = index(state, id);
            let p = &state.particles;
            [p.position(i), p.velocity(i), p.angular_velocity(i), p.load[i].force, p.load[i].torque]
        })
        .collect()
}

/// Largest deviation of each quantity, over the largest value of that quantity.
fn deviations(a: &[[Vec3; 5]], b: &[[Vec3; 5]]) -> [f64; 5] {
    std::array::from_fn(|k| {
        let largest = a.iter().map(|g| g[k].length()).fold(0.0, f64::max);
        a.iter().zip(b).map(|(x, y)| x[k].distance(y[k])).fold(0.0, f64::max) / largest
    })
}

#[track_caller]
fn same(what: &str, a: &[[Vec3; 5]], b: &[[Vec3; 5]], limit: f64) {
    let off = deviations(a, b);
    println!(
        "{what}: x {:.1e}, v {:.1e}, w {:.1e}, force {:.1e}, torque {:.1e}",
        off[0], off[1], off[2], off[3], off[4]
    );
    assert!(off.iter().all(|d| *d < limit), "{what}: {off:?}");
}

#[test]
fn a_turned_and_moving_scene_has_the_same_forces() {
    // V15: 1e-12, with walls that move along.
    let turn = Quat::from_axis_angle(Vec3::new(0.3, -0.5, 0.8).normalize(), 1.234);
    let boost = Vec3::new(0.3, -0.2, 0.15);
    let scene = |law: Law, turn: Quat, boost: Vec3, steps: u64| {
        let mut model = model(law, 2500.0, 2e-5);
        let motion = Motion { parts: vec![MotionPart::Translate { velocity: boost }] };
        for (point, normal) in [(Vec3::Z * -0.9 * R, Vec3::Z), (Vec3::X * -0.9 * R, Vec3::X)] {
            model.walls.push(Wall { motion: motion.clone(), ..plane(turn * point, turn * normal) });
        }
        model.fields.push(gravity(turn * Vec3::new(0.0, 0.0, -9.81)));
        let grains: Vec<_> =
            cluster().into_iter().map(|(x, r, v, w)| (turn * x, r, turn * v + boost, turn * w)).collect();
        let mut state = populate(&model, &grains);
        run(&model, &mut state, steps);
        let t = state.time;
        outcome(&state)
            .into_iter()
            .map(|[x, v, w, f, m]| {
                let back = turn.conjugate();
                [back * (x - boost * t), back * (v - boost), back * w, back * f, back * m]
            })
            .collect::<Vec<_>>()
    };
    for law in laws() {
        for steps in [0, 1, 30] {
            let plain = scene(law, Quat::IDENTITY, Vec3::ZERO, steps);
            let what = format!("{:?} {:?}, {steps} steps", law.normal, law.tangential);
            same(&format!("{what}, turned"), &plain, &scene(law, turn, Vec3::ZERO, steps), 1e-12);
            same(&format!("{what}, turned and boosted"), &plain, &scene(law, turn, boost, steps), 1e-12);
        }
    }
}

#[test]
fn a_rigidly_spinning_pair_carries_its_springs_along_without_work() {
    // V15: a contact with loaded tangential, rolling and twisting springs makes a full turn about any axis.
    let law = {
        let mut law = full_law();
        law.damping = AnyDamping::None;
        law
    };
    for axis in [Vec3::X, Vec3::Z, Vec3::new(0.6, 0.3, -0.7).normalize()] {
        // Chords are shorter than arcs: the slip made of them is off by d θ³/6 per step of angle θ, of second order.
        let (n, r, overlap) = (700_000, 0.01, 1e-4);
        let dt = 1e-5;
        let spin = axis * (std::f64::consts::TAU / (f64::from(n) * dt));
        let turned = |step: i32| Quat::from_axis_angle(axis, std::f64::consts::TAU * f64::from(step) / f64::from(n));
        let mut touch = Touch {
            overlap,
            normal: Vec3::X,
            middle: Vec3::X,
            effective_radius: 0.5 * r,
            elongation: 0.0,
            curvature: [1.0 / r; 2],
            effective_mass: 1.0,
            now: Default::default(),
            mean: Default::default(),
            dt: 0.0,
        };
        let mut memory = Memory::default();
        law.respond(&touch, &mut memory);
        memory.spring = Vec3::new(0.0, 3e-6, -2e-6);
        memory.rolling = Vec3::new(0.0, 1e-5, 2e-5);
        memory.twisting = 1e-5;
        let first = law.respond(&touch, &mut memory);
        let (spring, rolling) = (memory.spring, memory.rolling);
        let stored = law.stored(&touch, &memory);
        let mut lost = 0.0;
        for step in 1..=n {
            let (before, now) = (turned(step - 1) * Vec3::X, turned(step) * Vec3::X);
            // Centres at -d/2 and d/2 along the normal; displacements are chords.
            let d = 2.0 * r - overlap;
            let levers = Levers::of_pair(r, r, d);
            let body = |side: f64, linear: Vec3| Velocity { linear: side * 0.5 * d * linear, angular: spin };
            let chord = (now - before) / dt;
            touch.normal = now;
            touch.dt = dt;
            let middle = now - chord * (0.5 * dt);
            touch.middle = middle / middle.dot(now);
            let frame = Frame::Between(d);
            let half_way = contact_velocity(touch.middle, levers, body(-1.0, chord), body(1.0, chord), frame);
            touch.mean = mean_contact_velocity(now, half_way, dt);
            let velocity = spin.cross(now);
            touch.now = contact_velocity(now, levers, body(-1.0, velocity), body(1.0, velocity), frame);
            let response = law.respond(&touch, &mut memory);
            lost += response.dissipated.damping + response.dissipated.friction + response.dissipated.rolling;
        }
        let last = law.respond(&Touch { dt: 0.0, ..touch }, &mut memory);
        let off = (memory.spring - spring).length() / spring.length();
        let held = law.stored(&touch, &memory);
        let change = (held.tangential - stored.tangential) / stored.tangential;
        println!("about {axis}: spring off by {off:.1e}, energy {change:.1e}, lost {:.1e}", lost / stored.tangential);
        assert!(off < 1e-6, "the spring comes back: {off:.1e}");
        assert!((memory.rolling - rolling).length() < 1e-6 * rolling.length());
        assert!(change.abs() < 1e-6 && (lost / stored.tangential).abs() < 1e-6, "no work");
        assert!((last.force - first.force).length() < 1e-6 * first.force.length());
    }
}

#[test]
fn a_grain_on_a_turntable_is_carried_round_by_a_spring_that_turns() {
    // Static friction is m w² r towards the axis all the way round.
    let (rate, distance) = (4.0, 0.1);
    let mut law = hooke(1e6);
    law.damping = AnyDamping::FromRestitution(FromRestitution::new(0.3, &law.normal, law.end));
    let damping = TangentialDamping::Ratio(1.0);
    law.tangential = AnyTangential::Spring(Spring { stiffness: Stiffness::Ratio(0.8), damping, friction: 0.5 });
    let mut model = model(law, 2500.0, 1e-5);
    model.kinds[0].inertia_factor = Vec3::splat(1e15);
    let motion = Motion { parts: vec![MotionPart::Rotate { through: Vec3::ZERO, axis: Vec3::Z, rate }] };
    model.walls.push(Wall { motion, ..plane(Vec3::ZERO, Vec3::Z) });
    model.fields.push(gravity(Vec3::NEG_Z * 9.81));
    let m = model.kinds[0].mass(R);
    let mut state = State::new(&model);
    let x = Vec3::new(distance, 0.0, R - m * 9.81 / 1e6);
    add(&model, &mut state, 0, x, R, Vec3::Y * (rate * distance), Vec3::Z * rate);
    run(&model, &mut state, (std::f64::consts::TAU / rate / model.dt).round() as u64);
    let p = &state.particles;
    let expected = Quat::from_rotation_z(rate * state.time) * x;
    let off = p.position(0).truncate().distance(expected.truncate()) / distance;
    println!("after a turn off by {off:.1e} of the radius");
    assert!(off < 1e-4, "{off:.1e}");
    let centripetal = -m * rate * rate * p.position(0).truncate();
    assert!(p.load[0].force.truncate().distance(centripetal) < 1e-4 * centripetal.length(), "{}", p.load[0].force);
    assert!(state.walls[0].work.abs() < 1e-6 * m * (rate * distance).powi(2), "{:.1e}", state.walls[0].work);
}

#[test]
fn a_free_cluster_keeps_momentum_and_angular_momentum() {
    let model = model(full_law(), 2500.0, 2e-5);
    let mut state = populate(&model, &cluster());
    let totals = |s: &State| {
        let p = &s.particles;
        let (mut momentum, mut angular, mut scale) = (Vec3::ZERO, Vec3::ZERO, [0.0, 0.0]);
        for i in 0..p.owned() {
            let (l, s) = (p.mass[i] * p.velocity(i), p.inertia[i] * p.angular_velocity(i));
            momentum += l;
            angular += p.position(i).cross(l) + s;
            scale[0] += l.length();
            scale[1] += p.position(i).cross(l).length() + s.length();
        }
        (momentum, angular, scale)
    };
    let before = totals(&state);
    let mut contacts = 0;
    for _ in 0..40 {
        run(&model, &mut state, 25);
        contacts += state.contacts.pairs.len();
        let force: Vec3 = state.particles.load.iter().map(|l| l.force).sum();
        let largest = state.particles.load.iter().map(|l| l.force.length()).fold(0.0, f64::max);
        assert!(force.length() <= 1e-12 * largest.max(1e-9), "Newton's third law: {force}");
        let now = totals(&state);
        assert!((now.0 - before.0).length() < 1e-12 * before.2[0], "momentum: {}", now.0 - before.0);
        assert!((now.1 - before.1).length() < 1e-12 * before.2[1], "angular momentum: {}", now.1 - before.1);
    }
    assert!(contacts > 100, "{contacts} contacts");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_insertion_does_not_matter(order in Just((0..24usize).collect::<Vec<_>>()).prop_shuffle()) {
        let mut model = model(full_law(), 2500.0, 2e-5);
        model.walls.push(plane(Vec3::Z * -0.9 * R, Vec3::Z));
        model.fields.push(gravity(Vec3::NEG_Z * 9.81));
        let grains = cluster();
        let mut plain = populate(&model, &grains);
        run(&model, &mut plain, 40);
        let shuffled: Vec<_> = order.iter().map(|&i| grains[i]).collect();
        let mut state = populate(&model, &shuffled);
        run(&model, &mut state, 40);
        let plain = outcome(&plain);
        let back = outcome(&state);
        let expected: Vec<_> = order.iter().map(|&i| plain[i]).collect();
        prop_assert!(deviations(&expected, &back).iter().all(|d| *d < 1e-12), "{:?}", deviations(&expected, &back));
    }

    #[test]
    fn the_origin_of_a_periodic_cell_does_not_matter(shift in prop::array::uniform3(-0.2..0.2f64)) {
        // V43, D-22: the cluster fills its cell and touches itself through all faces.
        let shift = Vec3::from_array(shift);
        let scene = |shift: Vec3, move_grains: bool| {
            let mut model = model(full_law(), 2500.0, 2e-5);
            model.cell = PeriodicCell { origin: Vec3::splat(-R) + shift, length: [Some(5.4 * R); 3] };
            let offset = if move_grains { shift } else { Vec3::ZERO };
            let grains: Vec<_> = cluster().into_iter().map(|(x, r, v, w)| (x + offset, r, v, w)).collect();
            let mut state = populate(&model, &grains);
            run(&model, &mut state, 40);
            let result = outcome(&state);
            // Positions modulo the period, relative to the first grain.
            let first = result[0][0];
            result.into_iter().map(|mut g| {
                g[0] = (g[0] - first).map(|x| x - (x / (5.4 * R)).round() * 5.4 * R);
                g
            }).collect::<Vec<_>>()
        };
        let plain = scene(Vec3::ZERO, false);
        for moved in [scene(shift, false), scene(shift, true)] {
            prop_assert!(deviations(&plain, &moved).iter().all(|d| *d < 1e-12), "{:?}", deviations(&plain, &moved));
        }
    }
}

#[test]
fn a_cluster_cut_by_periodic_faces_moves_like_a_free_one() {
    let scene = |cell: PeriodicCell, velocity: Vec3| {
        let mut model = model(full_law(), 2500.0, 2e-5);
        model.cell = cell;
        let grains: Vec<_> = cluster().into_iter().map(|(x, r, v, w)| (x, r, v + velocity, w)).collect();
        let mut state = populate(&model, &grains);
        run(&model, &mut state, 60);
        outcome(&state)
    };
    let length = 40.0 * R;
    let drift = Vec3::new(1.0, -0.5, 0.3);
    let free = scene(PeriodicCell::OPEN, drift);
    // The faces cut through the cluster, which drifts across them.
    let cell = PeriodicCell { origin: Vec3::splat(1.7 * R), length: [Some(length); 3] };
    let mut cut = scene(cell, drift);
    for (g, f) in cut.iter_mut().zip(&free) {
        g[0] -= ((g[0] - f[0]) / length).round() * length;
    }
    same("periodic", &free, &cut, 1e-12);
}
