//! Bodies that turn freely: grains with three moments of inertia.

use crate::bench::{changed, go, vector};
use crate::{Case, Effort, Evidence, Findings};
use esker::integrate::{Integrator, Rotation, rotation};
use esker::math::{Quat, Vec3};
use esker::simulation::Simulation;
use esker::state::State;
use esker_io::chart::{Chart, Curve};
use std::f64::consts::PI;

pub const CASES: &[Case] = &[
    Case {
        id: "V11",
        source: "Euler's equations, elliptic functions; Dzhanibekov",
        title: "spin about the middle axis: period of the flips, momentum and energy kept",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: dzhanibekov,
    },
    Case {
        id: "V12",
        source: "Euler's equations",
        title: "symmetric top: precession in the body and in space",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: symmetric_top,
    },
    Case {
        id: "D-21",
        source: "Džiugys & Peters 1998, §IV.3.4",
        title: "free rotation with every integrator: momentum, energy, flips, length of the quaternion, the pole",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: every_integrator,
    },
];

/// A body of 1 kg and 1 m with these moments of inertia \[kg m²\].
fn top(integrator: Integrator, step: f64, inertia: Vec3, spin: Vec3) -> Simulation {
    turned_by(Rotation::Quaternions, integrator, step, inertia, spin)
}

/// The same, turned in another way.
fn turned_by(way: Rotation, integrator: Integrator, step: f64, inertia: Vec3, spin: Vec3) -> Simulation {
    changed(
        &format!(
            "[material.m]\ndensity = {:e}\n[contact.default]\nnormal = {{ law = \"hooke\", stiffness = 1 }}\n\
             [[grains]]\nname = \"top\"\nmaterial = \"m\"\nradius = 1\ninertia-factor = {}\nspin = {}\n\
             fill = {{ method = \"at\", positions = [[0, 0, 0]] }}\n[solver]\nstep = {step:e}\nintegrator = \"{}\"\n",
            0.75 / PI,
            vector(inertia),
            vector(spin),
            integrator.name()
        ),
        1,
        |model, _| model.rotation = way,
    )
}

fn body_spin(state: &State) -> Vec3 {
    state.particles.orientation[0].conjugate() * state.particles.angular_velocity(0)
}

fn momentum(state: &State) -> Vec3 {
    let p = &state.particles;
    rotation::apply_tensor(p.orientation[0], p.inertia[0], p.angular_velocity(0))
}

/// Complete elliptic integral K of the parameter m = k², by the arithmetic-geometric mean.
fn elliptic(m: f64) -> f64 {
    let (mut a, mut b) = (1.0, (1.0 - m).sqrt());
    for _ in 0..60 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    0.5 * PI / a
}

/// Period of the spin about the middle axis, I₁ < I₂ < I₃ (Landau & Lifshitz, Mechanics, §37).
fn period(i: Vec3, w: Vec3) -> f64 {
    let (twice, squared) = (w.dot(i * w), (i * w).length_squared());
    let (low, high) = (squared - twice * i.x, twice * i.z - squared);
    let (a, b) = ((i.z - i.y) * low, (i.y - i.x) * high);
    let (rate, m) = if squared > twice * i.y { (a, b / a) } else { (b, a / b) };
    4.0 * elliptic(m) / (rate / (i.x * i.y * i.z)).sqrt()
}

/// Time between two rises of the spin about the middle axis through zero; the course of that spin.
fn flips(run: &mut Simulation, until: f64) -> (f64, Vec<[f64; 2]>) {
    let dt = run.model().dt;
    let (mut rises, mut course) = (Vec::new(), Vec::new());
    let mut before = body_spin(&run.state).y;
    while run.state.time < until && rises.len() < 2 {
        go(run, 1);
        let now = body_spin(&run.state).y;
        if before < 0.0 && now >= 0.0 {
            rises.push(run.state.time - dt * now / (now - before));
        }
        course.push([run.state.time, now]);
        before = now;
    }
    (if rises.len() == 2 { rises[1] - rises[0] } else { f64::NAN }, course)
}

/// Largest deviation of momentum (vector and length), energy and length of the quaternion from the beginning, each over what it
/// was, over 100 times so many steps.
fn drift(run: &mut Simulation, steps: u64) -> [f64; 4] {
    let energy = |state: &State| state.particles.kinetic_energy(0).1;
    let (l, e) = (momentum(&run.state), energy(&run.state));
    let mut most = [0.0_f64; 4];
    for _ in 0..100 {
        run.advance(steps).expect("the run goes on");
        let state = &run.state;
        let now = momentum(state);
        let off = [
            now.distance(l) / l.length(),
            (now.length() / l.length() - 1.0).abs(),
            (energy(state) / e - 1.0).abs(),
            (state.particles.orientation[0].length() - 1.0).abs(),
        ];
        most = std::array::from_fn(|k| most[k].max(off[k]));
    }
    most
}

fn dzhanibekov() -> Findings {
    let mut found = Findings::default();
    let inertia = Vec3::new(1.0, 2.0, 3.0);
    let mut curves = Vec::new();
    for spin in [Vec3::new(0.01, 1.0, 0.0), Vec3::new(0.0, 1.0, 0.01)] {
        let mut run = top(Integrator::VelocityVerlet, 1e-3, inertia, spin);
        let (got, course) = flips(&mut run, 90.0);
        let name = format!("({}, {}, {})", spin.x, spin.y, spin.z);
        found.relative(format!("spin {name}: period [s]"), got, period(inertia, spin), 1e-6);
        let [_, l, e, _] = drift(&mut top(Integrator::VelocityVerlet, 1e-3, inertia, spin), 1000);
        found.at_most(format!("spin {name}: momentum off in 1e5 steps"), l, 1e-9);
        found.at_most(format!("spin {name}: energy off in 1e5 steps"), e, 1e-7);
        curves.push(Curve { name, points: course.into_iter().step_by(50).collect() });
    }
    found.charts.push(Chart {
        title: "Spin about the middle axis".into(),
        axes: ["time [s]".into(), "spin about it [rad/s]".into()],
        curves,
    });
    found
}

fn symmetric_top() -> Findings {
    let mut found = Findings::default();
    for i3 in [0.5, 1.7] {
        let (inertia, spin) = (Vec3::new(1.0, 1.0, i3), Vec3::new(0.4, 0.0, 1.2));
        let mut run = top(Integrator::VelocityVerlet, 1e-3, inertia, spin);
        let axis = momentum(&run.state).normalize();
        let (in_body, in_space) = ((i3 - 1.0) * spin.z, momentum(&run.state).length());
        let angle = |a: Vec3, b: Vec3, about: Vec3| {
            let [a, b] = [a, b].map(|v| v - about * v.dot(about));
            a.cross(b).dot(about).atan2(a.dot(b))
        };
        let (mut body, mut space) = (0.0, 0.0);
        let (mut last_spin, mut last_axis) = (body_spin(&run.state), Vec3::Z);
        for _ in 0..50 {
            go(&mut run, 200);
            let now = (body_spin(&run.state), run.state.particles.orientation[0] * Vec3::Z);
            body += angle(last_spin, now.0, Vec3::Z);
            space += angle(last_axis, now.1, axis);
            (last_spin, last_axis) = now;
        }
        found.relative(format!("I3/I1 = {i3}: precession in the body [rad/s]"), body / run.state.time, in_body, 1e-6);
        found.relative(format!("I3/I1 = {i3}: precession in space [rad/s]"), space / run.state.time, in_space, 1e-6);
    }
    found
}

fn every_integrator() -> Findings {
    let mut found = Findings::default();
    let (inertia, spin) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(0.01, 1.0, 0.0));
    let closed = period(inertia, spin);
    let angles = Integrator::ALL.into_iter().filter(|i| !i.scheme().has_own_rotation());
    let all = Integrator::ALL.map(|i| (i, Rotation::Quaternions)).into_iter();
    for (integrator, way) in all.chain(angles.map(|i| (i, Rotation::EulerAngles))) {
        let top = |integrator, step, inertia, spin| turned_by(way, integrator, step, inertia, spin);
        let name = match way {
            Rotation::Quaternions => integrator.name().to_string(),
            Rotation::EulerAngles => format!("{}, Euler angles", integrator.name()),
        };
        let [vector, length, energy, norm] = drift(&mut top(integrator, 1e-3, inertia, spin), 1000);
        found.at_most(format!("{name}: momentum off in 1e5 steps, direction and all"), vector, 1e-9);
        found.at_most(format!("{name}: length of the momentum off in 1e5 steps"), length, 1e-9);
        found.at_most(format!("{name}: energy off in 1e5 steps"), energy, 1e-7);
        found.at_most(format!("{name}: length of the quaternion off"), norm, 1e-14);
        let (got, _) = flips(&mut top(integrator, 1e-3, inertia, spin), 90.0);
        found.relative(format!("{name}: period of the flips [s]"), got, closed, 1e-6);

        // Through the pole: the third axis of the body turns over the vertical, where Euler angles have no rate. Turning about a
        // principal axis is known at all times.
        let mut run = top(integrator, 1e-3, inertia, Vec3::X * PI);
        let mut off = 0.0_f64;
        for _ in 0..40 {
            run.advance(50).expect("the run goes on");
            let exact = Quat::from_rotation_x(PI * run.state.time);
            off = off.max((run.state.particles.orientation[0] * Vec3::Z).distance(exact * Vec3::Z));
        }
        found.at_most(format!("{name}: axis off on two ways over the pole [rad]"), off, 1e-8);
    }
    found.reading = "bodies are turned by quaternions in exact turns about their axes (Dullweber et al. 1997), in their own way \
                     by the schemes of Gear, Hermite and Runge-Kutta, or by Euler angles in one of two sets of axes";
    found
}
