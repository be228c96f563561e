//! One sphere on a plane that slides, rolls or spins, against closed forms. Gravity is tilted instead of the plane.

use crate::bench::{FLOOR, after, ball_mass, go, simulation, vector};
use crate::{Case, Effort, Evidence, Findings};
use esker::math::Vec3;
use esker::simulation::Simulation;
use esker_io::chart::{Chart, Curve};
use std::f64::consts::{PI, TAU};

pub const CASES: &[Case] = &[
    Case {
        id: "V2",
        source: "rigid-body mechanics, Coulomb's friction",
        title: "block on an incline: slides with the acceleration of Coulomb or sticks without creep",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: block,
    },
    Case {
        id: "V4",
        source: "rigid-body mechanics; classes of Ai et al. 2011",
        title: "rolling resistance: constant torque, viscous, elastic-plastic",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: rolling,
    },
    Case {
        id: "V5",
        source: "rigid-body mechanics; Marshall 2009",
        title: "twisting resistance: slowing down of a spinning sphere",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: spinning,
    },
    Case {
        id: "D-28",
        source: "Džiugys & Peters 1998: static friction needs dissipation",
        title: "tangential spring below the limit of friction: rings for ever, or decays with its dashpot",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: ringing,
    },
    Case {
        id: "D-29",
        source: "Džiugys & Peters 1998: definition of the contact point",
        title: "lever of friction: to the middle of the overlap",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: lever,
    },
];

const G: f64 = 9.81;
const R: f64 = 0.1;
const K: f64 = 1e8;
const DENSITY: f64 = 2500.0;
/// A grain with this key does not turn: a block.
const BLOCK: &str = "inertia-factor = 1e15\n";

fn mass() -> f64 {
    ball_mass(R, DENSITY)
}

/// Spring and dashpot against slip beside a stiff linear contact, friction `mu`.
fn rough(mu: f64) -> String {
    format!("tangential = {{ law = \"spring\", damping-ratio = 0.5, friction = {mu} }}\n")
}

/// A sphere at rest across a slope that falls towards +x, with a velocity and a spin. A contact takes 50 steps.
fn sphere(theta: f64, laws: &str, body: &str, velocity: Vec3, spin: Vec3) -> Simulation {
    simulation(
        &format!(
            "gravity = [{:e}, 0, {:e}]\n[material.ball]\ndensity = {DENSITY}\n[material.floor]\n\
             [contact.default]\nnormal = {{ law = \"hooke\", stiffness = {K:e}, restitution = 0.3 }}\n{laws}{FLOOR}\
             [[grains]]\nname = \"ball\"\nmaterial = \"ball\"\nradius = {R}\nvelocity = {}\nspin = {}\n{body}\
             fill = {{ method = \"at\", positions = [[0, 0, {:e}]] }}\n[solver]\nstep = {:e}\n",
            G * theta.sin(),
            -G * theta.cos(),
            vector(velocity),
            vector(spin),
            R - mass() * G * theta.cos() / K,
            PI * (mass() / K).sqrt() / 50.0,
        ),
        1,
    )
}

/// Mean acceleration along x over `time` after `wait`.
fn acceleration(run: &mut Simulation, wait: f64, time: f64) -> f64 {
    after(run, wait);
    let (t, v) = (run.state.time, run.state.particles.velocity(0).x);
    after(run, time);
    (run.state.particles.velocity(0).x - v) / (run.state.time - t)
}

fn block() -> Findings {
    let mut found = Findings::default();
    for (degrees, mu) in [(30.0_f64, 0.3), (45.0, 0.9), (20.0, 0.1)] {
        let theta = degrees.to_radians();
        let mut run = sphere(theta, &rough(mu), BLOCK, Vec3::X * 0.1, Vec3::ZERO);
        let a = acceleration(&mut run, 0.05, 0.2);
        let closed = G * (theta.sin() - mu * theta.cos());
        found.relative(format!("{degrees} deg, friction {mu}: slides with [m/s²]"), a, closed, 1e-10);
    }
    for (degrees, mu) in [(30.0_f64, 0.58), (45.0, 1.01), (10.0, 0.5)] {
        let theta = degrees.to_radians();
        let mut run = sphere(theta, &rough(mu), BLOCK, Vec3::ZERO, Vec3::ZERO);
        let before = after(&mut run, 0.1).particles.position(0).x;
        let state = after(&mut run, 0.2);
        let name = format!("{degrees} deg, friction {mu}: sticks");
        let creep = (state.particles.position(0).x - before).abs() / 0.2;
        found.at_most(format!("{name}, creep [m/s]"), creep.max(state.particles.velocity(0).length()), 1e-12);
        found.relative(format!("{name}, friction [N]"), state.walls[0].force.x, mass() * G * theta.sin(), 1e-6);
    }
    found.reading = "a sphere that cannot turn stands in for the block";
    found
}

fn rolling() -> Findings {
    let mut found = Findings::default();
    let v0 = 0.3;
    let rolls = |laws: &str| sphere(0.0, laws, "", Vec3::X * v0, Vec3::Y * (v0 / R));
    for mu_r in [0.05, 0.2] {
        let laws = format!("{}rolling = {{ law = \"constant\", friction = {mu_r} }}\n", rough(0.8));
        let mut run = rolls(&laws);
        let stop = v0 / (5.0 / 7.0 * mu_r * G);
        let a = acceleration(&mut run, 0.05 * stop, 0.8 * stop);
        let name = format!("constant torque, {mu_r}");
        found.relative(format!("{name}: deceleration [m/s²]"), -a, 5.0 / 7.0 * mu_r * G, 1e-5);
        let state = after(&mut run, 0.3 * stop);
        found.relative(
            format!("{name}: way to rest [m]"),
            state.particles.position(0).x,
            0.7 * v0 * v0 / (mu_r * G),
            5e-5,
        );
        found.at_most(format!("{name}: speed afterwards [m/s]"), state.particles.velocity(0).x.abs(), 1e-6 * v0);
    }
    for eta in [0.1, 1.0] {
        let mut run = rolls(&format!("{}rolling = {{ law = \"viscous\", viscosity = {eta} }}\n", rough(0.8)));
        let (t, v) = (after(&mut run, 0.05).time, run.state.particles.velocity(0).x);
        let state = after(&mut run, 0.5);
        let rate = (v / state.particles.velocity(0).x).ln() / (state.time - t);
        found.relative(format!("viscous, {eta} s/m: rate of decay [1/s]"), rate, 5.0 / 7.0 * eta * G, 1e-4);
    }
    for mu_r in [0.1_f64, 0.4] {
        let laws = format!("{}rolling = {{ law = \"spring\", friction = {mu_r}, damping-ratio = 0.5 }}\n", rough(0.9));
        let released = |slope: f64| sphere(slope.atan(), &laws, "", Vec3::ZERO, Vec3::ZERO);
        let closed = |slope: f64| 5.0 / 7.0 * G * (slope.atan().sin() - mu_r * slope.atan().cos());
        let name = format!("elastic-plastic, {mu_r}");
        let mut run = released((1.0 - 1e-3) * mu_r);
        let v = after(&mut run, 2.0).particles.velocity(0).length();
        found.at_most(format!("{name}: speed on a slope of 0.999 of it [m/s]"), v, 1e-9);
        let mut run = released(1.5 * mu_r);
        let a = acceleration(&mut run, 0.1, 0.3);
        found.relative(format!("{name}: acceleration on 1.5 times it [m/s²]"), a, closed(1.5 * mu_r), 1e-4);
        let mut run = released((1.0 + 1e-3) * mu_r);
        let a = acceleration(&mut run, 1.0, 0.6);
        found.relative(format!("{name}: acceleration on 1.001 of it [m/s²]"), a, closed((1.0 + 1e-3) * mu_r), 0.02);
    }
    found
}

fn spinning() -> Findings {
    let mut found = Findings::default();
    let overlap = mass() * G / K;
    for (name, law, lever, seconds) in [
        ("spring, 0.01", "law = \"spring\", friction = 0.01", 0.01 * R, 0.5),
        ("spring, 0.1", "law = \"spring\", friction = 0.1", 0.1 * R, 0.5),
        // Two thirds of the radius of the contact area; so soft a spring takes its time.
        ("Marshall, friction 0.5", "law = \"marshall\"", 0.5 * 2.0 / 3.0 * (R * overlap).sqrt(), 2.0),
    ] {
        let slowing = lever * mass() * G / (0.4 * mass() * R * R);
        let w0 = seconds * slowing;
        let laws = format!("{}twisting = {{ {law}, damping-ratio = 0.5 }}\n", rough(0.5));
        let mut run = sphere(0.0, &laws, "", Vec3::ZERO, Vec3::Z * w0);
        let (t, w) = (after(&mut run, 0.2 * seconds).time, run.state.particles.angular_velocity(0).z);
        let state = after(&mut run, 0.5 * seconds);
        let got = (w - state.particles.angular_velocity(0).z) / (state.time - t);
        found.relative(format!("{name}: angular deceleration [rad/s²]"), got, slowing, 1e-9);
        let left = after(&mut run, 4.0 * seconds).particles.angular_velocity(0).length();
        found.at_most(format!("{name}: spin afterwards [rad/s]"), left, 1e-6 * w0);
    }
    found
}

/// Stretch of the tangential spring over so many of its cycles, in units of v/ω.
fn stretches(run: &mut Simulation, cycles: f64, omega: f64, v: f64) -> Vec<[f64; 2]> {
    let n = (cycles * TAU / omega / run.model().dt) as u64;
    let stretch = |_| {
        go(run, 1);
        run.complete();
        [run.state.time, run.state.contacts.walls[0].memory.spring.x * omega / v]
    };
    (0..n).map(stretch).collect()
}

/// Times and heights of the maxima above zero, by parabolas.
fn peaks(course: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let top = |w: &[[f64; 2]]| {
        let [a, b, c] = [w[0][1], w[1][1], w[2][1]];
        let h = 0.5 * (a - c) / (a - 2.0 * b + c);
        (b > a && b >= c && b > 0.0).then(|| [w[1][0] + h * (w[2][0] - w[1][0]), b - 0.25 * (a - c) * h])
    };
    course.windows(3).filter_map(top).collect()
}

fn ringing() -> Findings {
    let mut found = Findings::default();
    let k_t = 2.0 / 7.0 * K;
    let mut curves = Vec::new();
    for (name, c, body) in [("held", 1.0, BLOCK), ("free to turn", 3.5, "")] {
        for gamma in [0.0, 60.0] {
            let law =
                format!("tangential = {{ law = \"spring\", stiffness = {k_t:e}, rate = {gamma}, friction = 0.5 }}\n");
            let omega = (c * k_t / mass()).sqrt();
            // A tenth of the speed at which the spring would reach the limit.
            let v = 0.1 * 0.5 * mass() * G / k_t * omega;
            let mut run = sphere(0.0, &law, body, Vec3::X * v, Vec3::ZERO);
            let course = stretches(&mut run, 101.5, omega, v);
            let tops = peaks(&course);
            let many = if gamma == 0.0 { 100 } else { 20 };
            let name = format!("{name}, {}", if gamma == 0.0 { "spring" } else { "spring and dashpot" });
            let [first, last] = [tops.first(), tops.get(many)].map(|top| top.copied().unwrap_or([f64::NAN; 2]));
            let damped = (omega * omega - (0.5 * c * gamma).powi(2)).sqrt();
            let period = (last[0] - first[0]) / many as f64;
            found.relative(format!("{name}: period [s]"), period, TAU / damped, 1e-3);
            if gamma == 0.0 {
                let low = tops.iter().map(|top| top[1]).fold(f64::INFINITY, f64::min);
                let high = tops.iter().map(|top| top[1]).fold(0.0, f64::max);
                found.relative(format!("{name}: lowest amplitude of 100 cycles"), low, 1.0, 2e-3);
                found.relative(format!("{name}: highest amplitude of 100 cycles"), high, 1.0, 2e-3);
            } else {
                let rate = (first[1] / last[1]).ln() / (last[0] - first[0]);
                found.relative(format!("{name}: rate of decay [1/s]"), rate, 0.5 * c * gamma, 5e-3);
            }
            if c > 1.0 {
                let points = course.iter().take(1500).map(|[t, x]| [1e3 * t, *x]).collect();
                curves.push(Curve { name, points });
            }
        }
    }
    found.charts.push(Chart {
        title: "Tangential spring below the limit of friction, sphere on a plane".into(),
        axes: ["time [ms]".into(), "stretch over that of the undamped spring".into()],
        curves,
    });
    found
}

fn lever() -> Findings {
    let mut found = Findings::default();
    let h = 0.01;
    let law = "[contact.default]\nnormal = { law = \"hooke\", stiffness = 1e8 }\n\
               tangential = { law = \"spring\", friction = 0.5 }\n[solver]\nstep = 1e-6\n[material.m]\ndensity = 2500\n";
    let grain = |name: &str, r: f64, z: f64, v: f64| {
        format!(
            "[[grains]]\nname = \"{name}\"\nmaterial = \"m\"\nradius = {r}\nvelocity = [{v}, 0, 0]\n\
             fill = {{ method = \"at\", positions = [[0, 0, {z:e}]] }}\n"
        )
    };
    let floor = FLOOR.replace("material = \"floor\"", "material = \"m\"");
    let mut run = simulation(&format!("{law}{floor}{}", grain("ball", R, R - h, 1.0)), 1);
    run.advance(1).expect("the run goes on");
    let p = &run.state.particles;
    let overlap = R - p.position(0).z;
    found.relative(
        "on a plane: torque over force [m]",
        -p.load[0].torque.y / p.load[0].force.x,
        R - 0.5 * overlap,
        1e-12,
    );
    let two = grain("large", R, 0.0, 0.0) + &grain("small", 0.5 * R, 1.5 * R - h, 1.0);
    let mut run = simulation(&format!("{law}{two}"), 1);
    run.advance(1).expect("the run goes on");
    let p = &run.state.particles;
    let (a, b) = (crate::bench::index(&run.state, 0), crate::bench::index(&run.state, 1));
    let overlap = 1.5 * R - p.position(a).distance(p.position(b));
    let expected = (R - 0.5 * overlap) / (0.5 * R - 0.5 * overlap);
    found.relative("between spheres: ratio of the torques", p.load[a].torque.y / p.load[b].torque.y, expected, 1e-12);
    found
}
