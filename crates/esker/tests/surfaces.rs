//! Walls made of other things: a plane as a huge sphere or a mesh, a cylinder as a mesh (V41, D-33).

use crate::common;

use common::*;
use esker::boundary::{Mesh, Plane, Revolved, Surface};
use esker::law::Law;
use esker::law::damping::{AnyDamping, FromRestitution};
use esker::law::rolling::{AnyRolling, ElasticPlastic, NoRolling};
use esker::law::tangential::{AnyTangential, Mindlin, Spring, Stiffness, TangentialDamping};
use esker::law::twisting::{AnyTwisting, NoTwisting, TwistSpring};
use esker::math::Vec3;
use esker::rng::{Purpose, Stream};
use esker::state::State;

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

/// Relative deviations of vectors, each below the limit.
#[track_caller]
fn same(what: &str, a: &[Vec3], b: &[Vec3], limit: f64) {
    let off: Vec<f64> = a.iter().zip(b).map(|(x, y)| x.distance(*y) / x.length()).collect();
    println!("{what}: off by {:.1e}", off.iter().fold(0.0f64, |m, d| m.max(*d)));
    assert!(off.iter().all(|d| *d < limit), "{what}: {off:?}");
}

/// Position, velocity, spin, force and torque of the only grain.
fn outcome(state: &State) -> [Vec3; 5] {
    let p = &state.particles;
    [p.position(0), p.velocity(0), p.angular_velocity(0), p.load[0].force, p.load[0].torque]
}

#[test]
fn a_plane_is_a_fixed_sphere_of_huge_radius() {
    // V41: 1e-6 at a ratio of 1e6, for a spinning oblique impact.
    let scene = |sphere: Option<f64>, change: &dyn Fn(&mut Law)| {
        let mut law = full_law();
        law.normal = hertz(1e7).normal;
        change(&mut law);
        let mut model = model(law, 2500.0, 2e-6);
        let mut state = State::new(&model);
        let id = state.next_id;
        add(&model, &mut state, 0, Vec3::Z * (R + 1e-6), R, Vec3::new(0.5, 0.2, -1.0), Vec3::new(10.0, -5.0, 30.0));
        if let Some(s) = sphere {
            let big = s * R;
            add(&model, &mut state, 1, Vec3::Z * -big, big, Vec3::ZERO, Vec3::ZERO);
        } else {
            model.walls.push(plane(Vec3::ZERO, Vec3::Z));
            state.walls.push(Default::default());
        }
        run(&model, &mut state, 60);
        let i = index(&state, id);
        let during = state.particles.load[i].force;
        run(&model, &mut state, 400);
        let p = &state.particles;
        let i = index(&state, id);
        assert!(p.velocity(i).z > 0.0);
        [during, p.velocity(i), p.angular_velocity(i)]
    };
    let friction_only = |law: &mut Law| {
        law.rolling = AnyRolling::None(NoRolling);
        law.twisting = AnyTwisting::None(NoTwisting);
    };
    same("plane and sphere", &scene(None, &friction_only), &scene(Some(1e6), &friction_only), 1e-6);
    // With every slot filled the deviation is R1/R2 itself: rolling and twisting torques grow with R*.
    let all = |_: &mut Law| {};
    for ratio in [1e4, 1e5, 1e6] {
        same("plane and sphere, all slots", &scene(None, &all), &scene(Some(ratio), &all), 1.2 / ratio);
    }
}

/// A flat mesh of 2 n² triangles over a square of the given half width, its diagonals at random.
fn flat_mesh(half: f64, n: u32) -> Mesh {
    let at = |i: u32, j: u32| {
        let (a, b) = (2.0 * f64::from(i) / f64::from(n) - 1.0, 2.0 * f64::from(j) / f64::from(n) - 1.0);
        Vec3::new(half * (a + 0.013), half * (b - 0.007), 0.0)
    };
    let mut random = Stream::new(5, Purpose::Fill, 0);
    let vertices = (0..=n).flat_map(|j| (0..=n).map(move |i| at(i, j))).collect();
    let mut triangles = Vec::new();
    for j in 0..n {
        for i in 0..n {
            let v = |di: u32, dj: u32| (j + dj) * (n + 1) + i + di;
            let (a, b, c, d) = (v(0, 0), v(1, 0), v(1, 1), v(0, 1));
            if random.uniform() < 0.5 {
                triangles.extend([[a, b, c], [a, c, d]]);
            } else {
                triangles.extend([[a, b, d], [b, c, d]]);
            }
        }
    }
    Mesh::new(vertices, triangles, 2.0 * R).unwrap()
}

#[test]
fn a_sphere_rolls_over_a_flat_mesh_as_over_a_plane() {
    // V41: 1e-9 while it rolls over some 40 triangles, corners and edges.
    let roll = |surface: Surface| {
        let mut model = model(full_law(), 2500.0, 1e-5);
        model.walls.push(wall(surface));
        model.fields.push(gravity(Vec3::new(2.5, 0.6, -9.81)));
        let mut state = State::new(&model);
        add(&model, &mut state, 0, Vec3::new(-0.08, -0.03, R - 1e-5), R, Vec3::new(0.5, 0.1, 0.0), Vec3::ZERO);
        run(&model, &mut state, 30_000);
        assert!(state.particles.position(0).x > 0.05, "it has rolled to {}", state.particles.position(0));
        outcome(&state)
    };
    let plane = roll(Surface::Plane(Plane::new(Vec3::ZERO, Vec3::Z).unwrap()));
    same("mesh and plane", &plane, &roll(Surface::Mesh(flat_mesh(0.12, 40))), 1e-9);
}

#[test]
fn a_sphere_in_a_cylinder_of_ever_more_facets_comes_to_move_as_in_a_smooth_one() {
    // The law must not depend on curvature here: facets are flat.
    let (radius, length) = (0.06, 0.2);
    let roll = |surface: Surface| {
        let mut law = hooke(1e4);
        law.damping = AnyDamping::FromRestitution(FromRestitution::new(0.3, &law.normal, law.end));
        let damping = TangentialDamping::Ratio(0.5);
        law.tangential = AnyTangential::Spring(Spring { stiffness: Stiffness::Ratio(0.8), damping, friction: 0.5 });
        let mut model = model(law, 2500.0, 2e-5);
        model.walls.push(wall(surface));
        model.fields.push(gravity(Vec3::NEG_Z * 9.81));
        let mut state = State::new(&model);
        let (sin, cos) = 0.5f64.sin_cos();
        let at = (radius - R) * Vec3::new(sin, 0.0, -cos);
        add(&model, &mut state, 0, at, R, Vec3::Y * 0.05, Vec3::ZERO);
        run(&model, &mut state, 10_000);
        state.particles.position(0)
    };
    let smooth = roll(Surface::Revolved(Revolved::cylinder(Vec3::Y * -length, Vec3::Y * length, radius).unwrap()));
    let faceted = |n: u32| {
        let at = |k: u32, y: f64| {
            let (sin, cos) = (std::f64::consts::TAU * (f64::from(k) + 0.3) / f64::from(n)).sin_cos();
            Vec3::new(radius * sin, y, radius * cos)
        };
        let vertices = (0..n).flat_map(|k| [at(k, -length), at(k, length)]).collect();
        let triangles = (0..n)
            .flat_map(|k| {
                let (a, b) = (2 * k, 2 * ((k + 1) % n));
                [[a, b, a + 1], [b, b + 1, a + 1]]
            })
            .collect();
        roll(Surface::Mesh(Mesh::new(vertices, triangles, 2.0 * R).unwrap())).distance(smooth) / radius
    };
    let off = [48, 96, 192, 384].map(faceted);
    println!("off by {off:.2?} of the radius: {:.1e} to {:.1e}", off[0], off[3]);
    assert!(off[3] < 2e-3 && off[3] < 0.2 * off[0], "{off:?}");
}
