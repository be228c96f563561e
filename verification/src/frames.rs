//! Where the axes lie, how fast the observer moves and where a periodic cell begins does not matter.

use crate::bench::{ball_mass, changed, go, index, vector};
use crate::{Case, Effort, Evidence, Findings};
use esker::contact::{Frame, Levers, Velocity, contact_velocity, mean_contact_velocity};
use esker::law::damping::AnyDamping;
use esker::law::{Law, Memory, Touch};
use esker::math::{Quat, Vec3};
use esker::rng::{Purpose, Stream};
use esker::simulation::Simulation;
use esker_io::chart::{Chart, Curve};
use std::f64::consts::{PI, TAU};

pub const CASES: &[Case] = &[
    Case {
        id: "V15",
        source: "invariance of mechanics",
        title: "a scene turned and seen from a moving frame; a touching pair that spins as a whole",
        evidence: Evidence::Property,
        effort: Effort::Quick,
        run: turned_and_moving,
    },
    Case {
        id: "V43",
        source: "invariance of mechanics",
        title: "origin of a periodic cell shifted, and faces that cut a heap",
        evidence: Evidence::Property,
        effort: Effort::Quick,
        run: periodic_origin,
    },
    Case {
        id: "D-22",
        source: "Džiugys & Peters 1998, eq. (17); vibrations of a ring of masses",
        title: "periodic faces: all grains shifted, and waves of lengths that fit into the cell",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: periodic_waves,
    },
];

const R: f64 = 0.01;

/// Laws with a force in every slot.
const CONTACTS: [(&str, &str); 3] = [
    (
        "Hertz, Mindlin, springs against rolling and twisting",
        "[contact.default]\nnormal = { law = \"hertz\", modulus = 1e6, restitution = 0.6 }\n\
         tangential = { law = \"mindlin\", stiffness-ratio = 0.8, damping-ratio = 0.5, friction = 0.4 }\n\
         rolling = { law = \"spring\", friction = 0.1 }\ntwisting = { law = \"spring\", friction = 0.1 }\n",
    ),
    (
        "JKR, partial slip, viscous rolling",
        "[contact.default]\nnormal = { law = \"jkr\", modulus = 1e6, work = 0.5, restitution = 0.6 }\n\
         tangential = { law = \"mindlin-deresiewicz\", stiffness-ratio = 0.8, friction = 0.4 }\n\
         rolling = { law = \"viscous\", viscosity = 0.1 }\n",
    ),
    (
        "latching spring, bridge, spring against slip",
        "[contact.default]\nnormal = { law = \"luding\", stiffness = 1e4, unloading-stiffness = 2e4, adhesion-stiffness = 5e3 }\n\
         tangential = { law = \"spring\", stiffness-ratio = 0.8, friction = 0.4 }\n\
         cohesion = { law = \"capillary\", tension = 0.07, angle = 0.3, volume = 1e-10 }\n",
    ),
];

/// Two dozen grains of one size in a heap of overlapping neighbours, moving and spinning at random.
fn cluster() -> Vec<[Vec3; 3]> {
    let mut random = Stream::new(3, Purpose::Fill, 0);
    let grain = |n: u32| {
        let cell = Vec3::new(f64::from(n % 3), f64::from(n / 3 % 3), f64::from(n / 9));
        let x = 1.8 * R * cell + 0.1 * R * random.in_ball(false);
        [x, 0.2 * random.in_ball(false), 20.0 * random.in_ball(false)]
    };
    (0..24).map(grain).collect()
}

/// A scene of grains given by place, velocity and spin.
fn scene(grains: &[[Vec3; 3]], radius: f64, tables: &str) -> Simulation {
    let places: Vec<String> = grains.iter().map(|g| vector(g[0])).collect();
    let tables = format!(
        "{tables}[material.m]\ndensity = 2500\n[[grains]]\nname = \"heap\"\nmaterial = \"m\"\nradius = {radius:e}\n\
         fill = {{ method = \"at\", positions = [{}] }}\n",
        places.join(", ")
    );
    changed(&tables, 1, |_, state| {
        for (k, [_, velocity, spin]) in grains.iter().enumerate() {
            let i = index(state, k as u64);
            let motion = &mut state.particles.motion[i];
            (motion.velocity, motion.angular_velocity) = (*velocity, *spin);
        }
    })
}

/// Place, velocity, spin, force and torque of every grain in the order in which they were laid.
fn outcome(run: &Simulation) -> Vec<[Vec3; 5]> {
    let p = &run.state.particles;
    let of = |id: u64| {
        let i = index(&run.state, id);
        [p.position(i), p.velocity(i), p.angular_velocity(i), p.load[i].force, p.load[i].torque]
    };
    (0..p.owned() as u64).map(of).collect()
}

/// Largest deviation of any quantity, over the largest value of that quantity; of torques, over the largest force times radius
/// where that is more.
fn deviation(a: &[[Vec3; 5]], b: &[[Vec3; 5]]) -> f64 {
    let of = |k: usize| {
        let most = |k: usize| a.iter().map(|g| g[k].length()).fold(f64::MIN_POSITIVE, f64::max);
        let largest = if k == 4 { most(4).max(R * most(3)) } else { most(k) };
        a.iter().zip(b).map(|(x, y)| x[k].distance(y[k])).fold(0.0, f64::max) / largest
    };
    (0..5).map(of).fold(0.0, f64::max)
}

fn turned_and_moving() -> Findings {
    let mut found = Findings::default();
    let turn = Quat::from_axis_angle(Vec3::new(0.3, -0.5, 0.8).normalize(), 1.234);
    let boost = Vec3::new(0.3, -0.2, 0.15);
    // Seen from the frame in which nothing is turned or moves along.
    let seen = |contact: &str, turn: Quat, boost: Vec3, steps: u64| {
        let wall = |name: &str, point: Vec3, normal: Vec3| {
            format!(
                "[[wall]]\nname = \"{name}\"\nmaterial = \"m\"\nplane = {{ point = {}, normal = {} }}\n\
                 motion = {{ translate = {} }}\n",
                vector(turn * point),
                vector(turn * normal),
                vector(boost)
            )
        };
        let tables = format!(
            "gravity = {}\n{}{}{contact}[solver]\nstep = \"20 us\"\n",
            vector(turn * (Vec3::NEG_Z * 9.81)),
            wall("floor", Vec3::Z * -0.9 * R, Vec3::Z),
            wall("side", Vec3::X * -0.9 * R, Vec3::X)
        );
        let grains: Vec<_> = cluster().into_iter().map(|[x, v, w]| [turn * x, turn * v + boost, turn * w]).collect();
        let mut run = scene(&grains, R, &tables);
        run.prepare().expect("the run goes on");
        run.advance(steps).expect("the run goes on");
        let (back, t) = (turn.conjugate(), run.state.time);
        let mut all = outcome(&run);
        all.iter_mut().for_each(|g| {
            (g[0], g[1]) = (g[0] - boost * t, g[1] - boost);
            *g = g.map(|x| back * x);
        });
        all
    };
    for (name, contact) in CONTACTS {
        for steps in [0, 30] {
            let plain = seen(contact, Quat::IDENTITY, Vec3::ZERO, steps);
            let off = deviation(&plain, &seen(contact, turn, Vec3::ZERO, steps));
            found.at_most(format!("{name}: turned, off after {steps} steps"), off, 1e-12);
            let off = deviation(&plain, &seen(contact, turn, boost, steps));
            found.at_most(format!("{name}: turned and moving, off after {steps} steps"), off, 1e-12);
        }
    }
    spinning_pair(&mut found);
    found
}

/// A pair with stretched springs against slip, rolling and twisting makes a full turn as a rigid body.
fn spinning_pair(found: &mut Findings) {
    let grains = [[Vec3::ZERO; 3], [Vec3::X; 3]];
    let law = *scene(&grains, R, CONTACTS[0].1).model().laws.law(0, 0);
    let law = Law { damping: AnyDamping::None, ..law };
    let (n, overlap, dt) = (700_000, 1e-4, 1e-5);
    for (name, axis) in
        [("along the normal", Vec3::X), ("across", Vec3::Z), ("askew", Vec3::new(0.6, 0.3, -0.7).normalize())]
    {
        let spin = axis * (TAU / (f64::from(n) * dt));
        let turned = |step: i32| Quat::from_axis_angle(axis, TAU * f64::from(step) / f64::from(n)) * Vec3::X;
        let mut touch = Touch {
            overlap,
            normal: Vec3::X,
            middle: Vec3::X,
            effective_radius: 0.5 * R,
            curvature: [1.0 / R; 2],
            effective_mass: 1.0,
            ..Default::default()
        };
        let mut memory = Memory::default();
        law.respond(&touch, &mut memory);
        memory.spring = Vec3::new(0.0, 3e-6, -2e-6);
        memory.rolling = Vec3::new(0.0, 1e-5, 2e-5);
        memory.twisting = 1e-5;
        let first = law.respond(&touch, &mut memory);
        let (before, stored) = (memory, law.stored(&touch, &memory));
        let mut lost = 0.0;
        for step in 1..=n {
            let (last, now) = (turned(step - 1), turned(step));
            // Centres at half the distance on either side; what they go in a step is a chord.
            let d = 2.0 * R - overlap;
            let body = |side: f64, linear: Vec3| Velocity { linear: side * 0.5 * d * linear, angular: spin };
            let seen = |normal: Vec3, linear: Vec3| {
                let levers = Levers::of_pair(R, R, d);
                contact_velocity(normal, levers, body(-1.0, linear), body(1.0, linear), Frame::Between(d))
            };
            let chord = (now - last) / dt;
            let middle = now - chord * (0.5 * dt);
            touch = Touch { normal: now, middle: middle / middle.dot(now), dt, ..touch };
            touch.mean = mean_contact_velocity(now, seen(touch.middle, chord), dt);
            touch.now = seen(now, spin.cross(now));
            lost += law.respond(&touch, &mut memory).dissipated.total();
        }
        let last = law.respond(&Touch { dt: 0.0, ..touch }, &mut memory);
        let held = law.stored(&touch, &memory).tangential;
        let stretch = (memory.spring - before.spring).length() / before.spring.length();
        let rolled = (memory.rolling - before.rolling).length() / before.rolling.length();
        found.at_most(format!("pair spinning, axis {name}: spring against slip off"), stretch, 1e-6);
        found.at_most(format!("pair spinning, axis {name}: spring against rolling off"), rolled, 1e-6);
        let force = (last.force - first.force).length() / first.force.length();
        found.at_most(format!("pair spinning, axis {name}: force off"), force, 1e-6);
        found.relative(format!("pair spinning, axis {name}: energy held [J]"), held, stored.tangential, 1e-6);
        found.at_most(format!("pair spinning, axis {name}: work over energy held"), lost.abs() / held, 1e-6);
    }
}

/// Periodic faces along all axes.
fn cell(origin: Vec3, length: f64) -> String {
    format!(
        "[domain]\nmin = {}\nmax = {}\nperiodic = [\"x\", \"y\", \"z\"]\n",
        vector(origin),
        vector(origin + Vec3::splat(length))
    )
}

/// Deviations of a heap that fills its cell when the cell, and then all grains with it, is shifted.
fn shifted(contact: &str, shift: Vec3, grains_too: bool) -> f64 {
    let length = 5.4 * R;
    let after_steps = |shift: Vec3, offset: Vec3| {
        let grains: Vec<_> = cluster().into_iter().map(|[x, v, w]| [x + offset, v, w]).collect();
        let tables = format!("{}{contact}[solver]\nstep = \"20 us\"\n", cell(Vec3::splat(-R) + shift, length));
        let mut run = scene(&grains, R, &tables);
        run.advance(40).expect("the run goes on");
        let mut all = outcome(&run);
        // Places modulo the cell, from the first grain.
        let first = all[0][0];
        all.iter_mut().for_each(|g| g[0] = (g[0] - first).map(|x| x - (x / length).round() * length));
        all
    };
    deviation(&after_steps(Vec3::ZERO, Vec3::ZERO), &after_steps(shift, if grains_too { shift } else { Vec3::ZERO }))
}

fn periodic_origin() -> Findings {
    let mut found = Findings::default();
    let mut random = Stream::new(43, Purpose::Fill, 0);
    for (name, contact) in CONTACTS {
        let off = (0..5).map(|_| shifted(contact, 5.0 * R * random.in_ball(false), false)).fold(0.0, f64::max);
        found.at_most(format!("{name}: cell shifted, off"), off, 1e-12);
    }
    // The faces cut through a heap that drifts across them, far from its own images.
    let (length, drift) = (40.0 * R, Vec3::new(1.0, -0.5, 0.3));
    for (name, contact) in CONTACTS {
        let heap = |domain: &str| {
            let grains: Vec<_> = cluster().into_iter().map(|[x, v, w]| [x, v + drift, w]).collect();
            let mut run = scene(&grains, R, &format!("{domain}{contact}[solver]\nstep = \"20 us\"\n"));
            run.advance(60).expect("the run goes on");
            outcome(&run)
        };
        let free = heap("");
        let mut cut = heap(&cell(Vec3::splat(1.7 * R), length));
        cut.iter_mut().zip(&free).for_each(|(g, f)| g[0] -= ((g[0] - f[0]) / length).round() * length);
        found.at_most(format!("{name}: cut by faces, off from a free heap"), deviation(&free, &cut), 1e-12);
    }
    found.reading = "the faces of the program do not shear, so the flip of Lees-Edwards faces is not part of it";
    found
}

fn periodic_waves() -> Findings {
    let mut found = Findings::default();
    let mut random = Stream::new(22, Purpose::Fill, 0);
    let off = (0..5).map(|_| shifted(CONTACTS[0].1, R * random.in_ball(false) * 20.0, true)).fold(0.0, f64::max);
    found.at_most("all grains shifted by random vectors: off", off, 1e-12);

    // A ring of springs and masses: the wave with n crests swings with 2 √(k/m) sin(π n/N) and keeps its shape.
    let (many, k, squeeze) = (16_u32, 1e5, 0.02 * R);
    let length = f64::from(many) * (2.0 * R - squeeze);
    let mass = ball_mass(R, 2500.0);
    let mut curves = Vec::new();
    for n in [1_u32, 2, 5, 8] {
        let omega = 2.0 * f64::sqrt(k / mass) * (PI * f64::from(n) / f64::from(many)).sin();
        let phase = |i: u32| TAU * f64::from(n * i) / f64::from(many);
        let amplitude = 0.1 * squeeze;
        let place = |i: u32| (2.0 * R - squeeze) * f64::from(i);
        let grains: Vec<_> =
            (0..many).map(|i| [Vec3::X * (place(i) + amplitude * phase(i).cos()), Vec3::ZERO, Vec3::ZERO]).collect();
        let tables = format!(
            "[domain]\nmin = [-0.01, -1, -1]\nmax = [{:e}, 1, 1]\nperiodic = [\"x\"]\n\
             [contact.default]\nnormal = {{ law = \"hooke\", stiffness = {k:e} }}\n[solver]\nstep = {:e}\n",
            length - 0.01,
            TAU / omega / 1000.0
        );
        let mut run = scene(&grains, R, &tables);
        // How much of the wave is there, and how much else.
        let mut course = Vec::new();
        let mut other = 0.0_f64;
        for _ in 0..3000 {
            go(&mut run, 1);
            let p = &run.state.particles;
            let moved: Vec<f64> = (0..many).map(|i| p.position(index(&run.state, u64::from(i))).x - place(i)).collect();
            let norm: f64 = (0..many).map(|i| phase(i).cos().powi(2)).sum();
            let share = (0..many).map(|i| moved[i as usize] * phase(i).cos()).sum::<f64>() / norm;
            let rest = |i: u32| (moved[i as usize] - share * phase(i).cos()).abs() / amplitude;
            other = other.max((0..many).map(rest).fold(0.0, f64::max));
            course.push([run.state.time * omega / TAU, share / amplitude]);
        }
        found.relative(format!("{n} crests: amplitude after three periods"), course[2999][1], 1.0, 1e-8);
        found.absolute(format!("{n} crests: after two and a quarter"), course[2249][1], 0.0, 5e-5);
        found.at_most(format!("{n} crests: anything else, over the amplitude"), other, 1e-8);
        curves.push(Curve { name: format!("{n} crests"), points: course.into_iter().step_by(10).collect() });
    }
    found.charts.push(Chart {
        title: "Standing waves in a ring of 16 grains".into(),
        axes: ["time over the period".into(), "amplitude over the first".into()],
        curves,
    });
    found
}
