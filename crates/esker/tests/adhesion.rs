//! Forces that reach beyond the contact, and normal forces with a history, in the solver: pairs, walls, threads, pieces.

use crate::common;

use common::{add, close, gravity, plane, run};
use esker::boundary::{Mesh, Surface};
use esker::impact::Impact;
use esker::law::Law;
use esker::law::cohesion::{AnyCohesion, Capillary};
use esker::law::damping::{AnyDamping, Viscoelastic};
use esker::law::normal::{AnyNormal, Hertz, Jkr, Langston, Luding, Sadd, Thornton, TwelveSix, WaltonBraun};
use esker::law::tangential::{AnyTangential, Spring, Stiffness, TangentialDamping};
use esker::math::Vec3;
use esker::measure::energy;
use esker::model::Model;
use esker::solver::Solver;
use esker::solver::explicit::Explicit;
use esker::state::State;

const R: f64 = 1e-3;
const DENSITY: f64 = 2500.0;

fn mass() -> f64 {
    4.0 / 3.0 * std::f64::consts::PI * R * R * R * DENSITY
}

fn laws() -> Vec<Law> {
    let bridge = Capillary { tension: 0.07, angle: 0.3, volume: 1e-12 };
    let hertz = AnyNormal::Hertz(Hertz { effective_modulus: 1e7 });
    vec![
        Law::elastic(AnyNormal::Jkr(Jkr { effective_modulus: 1e7, work: 0.1 })),
        Law::elastic(AnyNormal::WaltonBraun(WaltonBraun { loading: 1e3, unloading: 3e3, growth: 0.0 })),
        Law::elastic(AnyNormal::Sadd(Sadd::with_restitution(1e6, 1.5, 0.8))),
        Law::elastic(AnyNormal::Luding(Luding { loading: 1e3, unloading: 3e3, adhesion: 5e2 })),
        Law::elastic(AnyNormal::Thornton(Thornton { effective_modulus: 1e8, yield_pressure: 1e6 })),
        Law::elastic(AnyNormal::TwelveSix(TwelveSix { energy: 1e-6 })),
        Law::elastic(AnyNormal::Langston(Langston { force: 1e-3, exponent: 36.0, cutoff: 1.2 })),
        Law {
            damping: AnyDamping::Viscoelastic(Viscoelastic { time: 1e-6 }),
            cohesion: AnyCohesion::Capillary(bridge),
            ..Law::elastic(hertz)
        },
    ]
}

#[test]
fn two_grains_meet_in_the_solver_as_in_the_calculator() {
    for law in laws() {
        let speed = 0.3;
        let impact = Impact {
            law,
            curvature: [1.0 / R; 2],
            effective_mass: 0.5 * mass(),
            turning: 3.5,
            approach: speed,
            slip: 0.0,
        };
        let dt = impact.undamped_time() / 300.0;
        let alone = impact.run(dt, 0.5);
        let mut model = common::model(law, DENSITY, dt);
        model.skin = 1e-6; // the range must be looked after by itself
        let mut state = State::new(&model);
        let gap = law.range(impact.curvature, false) + 0.5 * speed * dt;
        for side in [-1.0, 1.0] {
            let x = Vec3::X * side * (R + 0.5 * gap);
            add(&model, &mut state, 0, x, R, -Vec3::X * side * 0.5 * speed, Vec3::ZERO);
        }
        run(&model, &mut state, alone.course.len() as u64 + 10);
        let parted = state.particles.velocity(1).x - state.particles.velocity(0).x;
        close(parted / speed, alone.restitution.expect("they part"), 1e-12, &format!("{:?}", law.normal));
        let account = energy::balance(&model, &state);
        let begin = 0.25 * mass() * speed * speed;
        close(1.0 + account.dissipated.total() / begin, 1.0 + alone.dissipated / begin, 1e-12, "lost");
        assert!(account.residual().abs() < 2e-3 * begin, "{:e}", account.residual() / begin);
    }
}

#[test]
fn a_grain_hangs_from_a_ceiling_below_the_pull_off_force_and_falls_above_it() {
    let jkr = Jkr { effective_modulus: 1e7, work: 0.01 };
    let law =
        Law { damping: AnyDamping::Viscoelastic(Viscoelastic { time: 2e-5 }), ..Law::elastic(AnyNormal::Jkr(jkr)) };
    let ceiling = Mesh::new(
        vec![Vec3::new(-0.1, -0.1, 0.0), Vec3::new(0.1, -0.1, 0.0), Vec3::new(0.0, 0.2, 0.0)],
        vec![[0, 1, 2]],
        0.01,
    );
    for wall in [plane(Vec3::ZERO, -Vec3::Z), common::wall(Surface::Mesh(ceiling.expect("a triangle")))] {
        for (weight, stays) in [(0.95, true), (1.05, false)] {
            let mut model = common::model(law, DENSITY, 2e-6);
            model.walls = vec![wall.clone()];
            let mut state = State::new(&model);
            // It begins near its rest without weight; in the end it pulls with a neck, beyond the contact.
            add(&model, &mut state, 0, Vec3::Z * -(R - 2e-7), R, Vec3::ZERO, Vec3::ZERO);
            run(&model, &mut state, 4000);
            let g = weight * jkr.pull_off(R) / mass();
            for share in [0.3, 0.5, 0.7, 0.8, 0.88, 0.94, 0.98, 1.0] {
                model.fields = vec![gravity(Vec3::Z * -g * share)];
                state.loads_are_current = false;
                run(&model, &mut state, 8000);
            }
            let gap = -state.particles.position(0).z - R;
            println!("{weight} of the pull-off force: gap {gap:.2e} m");
            assert_eq!(gap < 1e-5, stays);
            if stays {
                assert!(gap > 0.0);
                close(state.particles.load[0].force.length() + 1e-4, 1e-4, 2e-3, "balance");
            }
        }
    }
}

/// A few hundred grains that fall into a corner and stick.
fn heap(law: Law) -> (Model, State) {
    let spring =
        Spring { stiffness: Stiffness::Ratio(2.0 / 7.0), damping: TangentialDamping::Ratio(1.0), friction: 0.4 };
    let law = Law { tangential: AnyTangential::Spring(spring), ..law };
    let mut model = common::model(law, DENSITY, 5e-6);
    model.walls = vec![plane(Vec3::ZERO, Vec3::Z), plane(Vec3::ZERO, Vec3::X)];
    model.fields = vec![gravity(Vec3::new(-3.0, 0.0, -9.81))];
    let mut state = State::new(&model);
    for n in 0..300 {
        let cell = Vec3::new((n % 6) as f64, (n / 6 % 5) as f64, (n / 30) as f64);
        let jitter = Vec3::new((n % 7) as f64, (n % 5) as f64, (n % 3) as f64) * 0.02;
        let x = (cell * 2.05 + jitter + Vec3::ONE) * R;
        add(&model, &mut state, 0, x, R * (1.0 - 0.01 * (n % 4) as f64), Vec3::new(0.0, 0.0, -0.2), Vec3::ZERO);
    }
    (model, state)
}

#[test]
fn sticky_and_yielding_heaps_have_the_same_bits_for_any_number_of_threads_and_pieces() {
    for law in laws() {
        let (model, begin) = heap(law);
        let whole = |workers: usize| {
            let mut state = begin.clone();
            Explicit::new(workers).grains_per_worker(64).advance(&model, &mut state, 1500).expect("goes on");
            state
        };
        let one = whole(1);
        assert!(one.contacts.pairs.len() > 20, "{:?} has {} contacts", law.normal, one.contacts.pairs.len());
        for workers in [2, 4] {
            assert!(whole(workers).contacts == one.contacts, "{:?} with {workers} workers", law.normal);
        }
        let mut pieces = begin.clone();
        for _ in 0..3 {
            Explicit::new(2).grains_per_worker(64).advance(&model, &mut pieces, 500).expect("goes on");
        }
        assert!(pieces.contacts == one.contacts && pieces.particles.place == one.particles.place, "{:?}", law.normal);
    }
}
