//! Energy of the tangential slider: what sliding loses, and that no path gives back more than it was given.

use crate::common;

use common::*;
use esker::law::damping::{AnyDamping, FromRestitution};
use esker::law::tangential::{AnyTangential, Spring, Stiffness, TangentialDamping, spring_and_slider};
use esker::law::{ContactVelocity, Dissipation, Memory, Touch};
use esker::math::Vec3;
use esker::measure::energy;
use esker::state::State;
use proptest::prelude::*;

/// A contact driven along a path of tangential displacement under a given stiffness and load.
struct Driven {
    memory: Memory,
    dissipated: Dissipation,
    /// Work done on the contact by whoever moves it.
    work: f64,
    force: Vec3,
}

impl Driven {
    fn new() -> Self {
        let memory = Memory { touching: true, ..Memory::default() };
        Self { memory, dissipated: Dissipation::default(), work: 0.0, force: Vec3::ZERO }
    }

    /// Moves by `stride` in `dt`, ending with velocity `now`.
    fn go(&mut self, stride: Vec3, now: Vec3, dt: f64, k: f64, c: f64, limit: f64) {
        let velocity = |slip| ContactVelocity { slip, ..Default::default() };
        let touch = Touch {
            overlap: 1.0,
            normal: Vec3::Z,
            middle: Vec3::Z,
            effective_radius: 1.0,
            elongation: 0.0,
            curvature: [0.5; 2],
            effective_mass: 1.0,
            now: velocity(now),
            mean: velocity(stride / dt),
            dt,
        };
        let before = self.force;
        self.force = spring_and_slider(k, c, 1.0, &touch, limit, &mut self.memory, &mut self.dissipated);
        self.work -= 0.5 * (before + self.force).dot(stride);
    }

    fn stored(&self) -> f64 {
        0.5 * self.memory.stiffness * self.memory.spring.length_squared()
    }

    fn lost(&self) -> f64 {
        self.dissipated.damping + self.dissipated.friction
    }
}

#[test]
fn a_closed_cycle_of_load_and_shear_gains_no_energy() {
    // Mindlin's stiffness grows with the load. Shear at one load and back at another, either way round.
    for (first, second) in [(1.0, 4.0), (4.0, 1.0), (1.0, 1.0)] {
        let mut contact = Driven::new();
        let n = 1000;
        let s = 0.1 / n as f64;
        for _ in 0..n {
            contact.go(Vec3::X * s, Vec3::ZERO, 1.0, first, 0.0, 1e9);
        }
        for i in 0..n {
            let k = first + (second - first) * (i + 1) as f64 / n as f64;
            contact.go(Vec3::ZERO, Vec3::ZERO, 1.0, k, 0.0, 1e9);
        }
        for _ in 0..n {
            contact.go(Vec3::X * -s, Vec3::ZERO, 1.0, second, 0.0, 1e9);
        }
        for i in 0..n {
            let k = second + (first - second) * (i + 1) as f64 / n as f64;
            contact.go(Vec3::ZERO, Vec3::ZERO, 1.0, k, 0.0, 1e9);
        }
        println!(
            "{first} -> {second}: work {:.3e}, lost {:.3e}, held {:.3e}",
            contact.work,
            contact.lost(),
            contact.stored()
        );
        assert!(contact.work >= -1e-15, "gained {}", -contact.work);
        close(contact.work + 1.0, contact.lost() + contact.stored() + 1.0, 1e-12, "account");
        if first == second {
            assert!(contact.work.abs() < 1e-15 && contact.lost().abs() < 1e-15);
        } else {
            assert!(contact.lost() > 1e-4);
        }
    }
}

#[test]
fn sliding_loses_the_coulomb_force_times_the_slip() {
    let (k, limit) = (100.0, 2.0);
    let mut contact = Driven::new();
    for _ in 0..10_000 {
        contact.go(Vec3::Y * 1e-4, Vec3::Y, 1e-4, k, 0.0, limit);
    }
    let elastic = limit / k;
    close(contact.lost(), limit * (1.0 - elastic), 1e-5, "friction work");
    close(contact.stored(), 0.5 * limit * elastic, 1e-12, "held");
    close(contact.work, contact.lost() + contact.stored(), 1e-12, "account");
}

#[test]
fn a_dashpot_beside_the_spring_does_not_fill_it() {
    // A jerk so fast that the dashpot alone reaches the Coulomb limit, over a way much shorter than the spring's.
    let (k, c, limit, dt) = (100.0, 10.0, 1.0, 1e-6);
    let mut contact = Driven::new();
    for _ in 0..10 {
        contact.go(Vec3::X * dt, Vec3::X, dt, k, c, limit);
    }
    println!("work {:.3e}, held {:.3e}, lost {:.3e}", contact.work, contact.stored(), contact.lost());
    assert!(contact.stored() <= contact.work, "{:.3e} J held after {:.3e} J of work", contact.stored(), contact.work);
    assert!(contact.lost() >= 0.0);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_path_gives_back_more_than_it_was_given(
        amplitude in prop::array::uniform3(-1.0..1.0f64),
        phase in prop::array::uniform3(0.0..6.3f64),
        limit in 0.05..3.0f64,
        c in 0.0..3.0f64,
        load_swing in 0.0..0.9f64,
    ) {
        let path = |t: f64| {
            let wave = |i: usize, k: f64| amplitude[i] * (k * t + phase[i]).sin();
            Vec3::new(wave(0, 1.0) + wave(1, 3.0), wave(2, 2.0) - wave(1, 1.0), 0.0)
        };
        let (dt, h) = (2e-3, 1e-6);
        let mut contact = Driven::new();
        let mut most_negative = 0.0f64;
        for step in 0..8000 {
            let (t, end) = (step as f64 * dt, (step + 1) as f64 * dt);
            let load = limit * (1.0 + load_swing * (1.7 * end).sin());
            let now = (path(end + h) - path(end - h)) / (2.0 * h);
            contact.go(path(end) - path(t), now, dt, 2.0 * load.sqrt(), c, load);
            most_negative = most_negative.min(contact.lost()).min(contact.work);
        }
        prop_assert!((contact.work - contact.lost() - contact.stored()).abs() < 1e-5 * (1.0 + contact.work));
        prop_assert!(most_negative > -2e-3 * contact.work, "{most_negative:.3e} of {:.3e}", contact.work);
    }
}

#[test]
fn a_sliding_block_turns_its_kinetic_energy_into_heat() {
    // Engine and ledger together: stops after v0²/(2 mu g), all of it booked as friction.
    let (r, k, mu, g, v0) = (0.05, 1e6, 0.3, 9.81, 0.5);
    let mut law = hooke(k);
    law.damping = AnyDamping::FromRestitution(FromRestitution::new(0.3, &law.normal, law.end));
    law.tangential = AnyTangential::Spring(Spring {
        stiffness: Stiffness::Ratio(0.8),
        damping: TangentialDamping::Ratio(1.0),
        friction: mu,
    });
    let mut model = model(law, 2000.0, 2e-5);
    model.kinds[0].inertia_factor = Vec3::splat(1e15);
    model.walls.push(plane(Vec3::ZERO, Vec3::Z));
    model.fields.push(gravity(Vec3::NEG_Z * g));
    let m = model.kinds[0].mass(r);
    let mut state = State::new(&model);
    add(&model, &mut state, 0, Vec3::Z * (r - m * g / k), r, Vec3::X * v0, Vec3::ZERO);
    run(&model, &mut state, (1.5 * v0 / (mu * g) / model.dt) as u64);
    let b = energy::balance(&model, &state);
    close(state.particles.position(0).x, v0 * v0 / (2.0 * mu * g), 1e-3, "stopping distance");
    close(b.dissipated.friction, 0.5 * m * v0 * v0, 1e-3, "friction heat");
    println!("residual {:.2e}", b.residual() / (0.5 * m * v0 * v0));
    assert!(b.residual().abs() < 1e-6 * 0.5 * m * v0 * v0, "residual {:.2e}", b.residual());
}

#[test]
fn an_overstretched_spring_without_a_dashpot_lets_go_in_no_time() {
    // As when a stage switches the load away: the slider cannot wait for a step.
    let touch = Touch {
        overlap: 1.0,
        normal: Vec3::Z,
        middle: Vec3::Z,
        effective_radius: 1.0,
        elongation: 0.0,
        curvature: [0.5; 2],
        effective_mass: 1.0,
        now: ContactVelocity::default(),
        mean: ContactVelocity::default(),
        dt: 0.0,
    };
    let mut memory = Memory { touching: true, spring: Vec3::X * 0.3, stiffness: 100.0, ..Memory::default() };
    let mut dissipated = Dissipation::default();
    let force = spring_and_slider(100.0, 0.0, 0.5, &touch, 20.0, &mut memory, &mut dissipated);
    assert!((force - Vec3::X * -10.0).length() < 1e-12, "{force}");
    assert!((memory.spring - Vec3::X * 0.1).length() < 1e-14, "{}", memory.spring);
    // ½·100·(0.3² − 0.1²) = 4 J.
    assert!((dissipated.friction - 4.0).abs() < 1e-12, "{}", dissipated.friction);
}
