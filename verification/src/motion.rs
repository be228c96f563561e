//! Grains on walls, in stacks and in flight, through scenes and the whole solver.

use crate::{Case, Effort, Evidence, Findings};
use esker::simulation::Simulation;
use esker::state::State;
use esker_io::build;
use esker_io::scene;
use std::path::Path;

pub const CASES: &[Case] = &[
    Case {
        id: "V1",
        source: "ballistic arc",
        title: "free flight: place after a second, exact for a constant acceleration",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: free_flight,
    },
    Case {
        id: "V3",
        source: "rigid-body mechanics",
        title: "sphere on an incline: rolls or slips",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: incline,
    },
    Case {
        id: "V6",
        source: "statics",
        title: "stack of ten spheres at rest: overlaps of Hertz under what lies above",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: stack,
    },
    Case {
        id: "DEM02",
        source: "MFIX-DEM verification, bouncing heights",
        title: "heights of a bouncing ball by its restitution, stiffer and stiffer",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: bounces,
    },
    Case {
        id: "DEM04",
        source: "MFIX-DEM verification, a ball with slip",
        title: "sliding becomes rolling: end of slip, speed and spin afterwards",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: slide_and_roll,
    },
    Case {
        id: "V42",
        source: "the program itself",
        title: "the same bits with one and four threads, and in two pieces",
        evidence: Evidence::Property,
        effort: Effort::Quick,
        run: same_bits,
    },
];

/// A scene of these tables with one stage without end.
pub(crate) fn simulation(tables: &str, threads: usize) -> Simulation {
    let text = format!("title = \"verification\"\n{tables}\n[[stage]]\nname = \"run\"\nduration = 1e6\n");
    // These scenes are part of the program: one that is not understood is a fault of it.
    let raw = scene::read(&text, "verification.toml", &[]).expect("a scene of our own");
    let scene = build::build(&raw, Path::new(".")).expect("a scene of our own");
    Simulation::new(scene.stages, scene.state, threads)
}

/// Runs for a time; returns the state.
pub(crate) fn after(simulation: &mut Simulation, time: f64) -> &State {
    let steps = (time / simulation.model().dt).round() as u64;
    simulation.advance(steps).expect("the run goes on");
    &simulation.state
}

fn free_flight() -> Findings {
    let mut found = Findings::default();
    let mut simulation = simulation(
        "gravity = [0, 0, -9.81]\n[material.m]\ndensity = 2000\nyoungs-modulus = 1e7\npoisson-ratio = 0.3\n\
         [[grains]]\nname = \"ball\"\nmaterial = \"m\"\nradius = 0.01\nvelocity = [3, 0, 5]\n\
         fill = { method = \"at\", positions = [[0, 0, 0]] }\n[solver]\nstep = \"1 ms\"\n",
        1,
    );
    let state = after(&mut simulation, 1.0);
    let x = state.particles.position(0);
    found.relative("x after 1 s [m]", x.x, 3.0, 1e-12);
    found.relative("z after 1 s [m]", x.z, 5.0 - 0.5 * 9.81, 1e-10);
    found
}

fn incline() -> Findings {
    let mut found = Findings::default();
    for (angle, friction) in [(15.0_f64, 0.5), (60.0, 0.3)] {
        let (sin, cos) = angle.to_radians().sin_cos();
        let (g, r) = (9.8, 0.01);
        let mut simulation = simulation(
            &format!(
                "gravity = [{}, 0, {}]\n[material.m]\ndensity = 2000\n\
                 [contact.default]\nnormal = {{ law = \"hooke\", stiffness = \"1e5 N/m\", restitution = 0.3 }}\n\
                 tangential = {{ law = \"spring\", friction = {friction} }}\n\
                 [[wall]]\nname = \"slope\"\nmaterial = \"m\"\nplane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n\
                 [[grains]]\nname = \"ball\"\nmaterial = \"m\"\nradius = {r}\n\
                 fill = {{ method = \"at\", positions = [[0, 0, {}]] }}\n[solver]\nstep = \"10 us\"\n",
                g * sin,
                -g * cos,
                // At rest: the weight across the slope over the stiffness.
                r - 2000.0 * 4.0 / 3.0 * std::f64::consts::PI * f64::powi(r, 3) * g * cos / 1e5
            ),
            1,
        );
        let state = after(&mut simulation, 0.5);
        let (v, w) = (state.particles.velocity(0).x, state.particles.angular_velocity(0).y);
        let rolls = friction > 2.0 / 7.0 * (sin / cos);
        let speed = if rolls { 5.0 / 7.0 * g * sin * 0.5 } else { g * (sin - friction * cos) * 0.5 };
        let spin = if rolls { speed / r } else { 2.5 * friction * g * cos / r * 0.5 };
        let name = if rolls { "rolls" } else { "slips" };
        found.relative(format!("{angle} deg, friction {friction}, {name}: speed after 0.5 s [m/s]"), v, speed, 1e-4);
        found.relative(format!("{angle} deg, friction {friction}, {name}: spin after 0.5 s [rad/s]"), w, spin, 1e-4);
    }
    found.reading = "the tangential spring winds up first: what is lost by then falls with the stiffness";
    found
}

fn stack() -> Findings {
    let mut found = Findings::default();
    let places: Vec<String> = (0..10).map(|k| format!("[0, 0, {}]", 0.01 + 0.02 * f64::from(k))).collect();
    let mut simulation = simulation(
        &format!(
            "gravity = [0, 0, -9.81]\n[material.m]\ndensity = 2500\nyoungs-modulus = \"10 MPa\"\npoisson-ratio = 0.3\n\
             restitution = 0.1\n[[wall]]\nname = \"floor\"\nmaterial = \"m\"\n\
             plane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n\
             [[grains]]\nname = \"stack\"\nmaterial = \"m\"\nradius = 0.01\n\
             fill = {{ method = \"at\", positions = [{}] }}\n[solver]\nstep = \"20 us\"\n",
            places.join(", ")
        ),
        1,
    );
    let state = after(&mut simulation, 3.0);
    let p = &state.particles;
    let weight = p.mass[0] * 9.81;
    let e_star = 10e6 / (2.0 * (1.0 - 0.09));
    let mut order: Vec<usize> = (0..10).collect();
    order.sort_by(|&a, &b| p.position(a).z.total_cmp(&p.position(b).z));
    for (k, radius, gap) in [(0, 0.01, 0.01), (1, 0.005, 0.02), (9, 0.005, 0.02)] {
        let below = if k == 0 { 0.0 } else { p.position(order[k - 1]).z };
        let overlap = gap - (p.position(order[k]).z - below);
        let load = f64::from(10 - k as u8) * weight;
        let closed = (load / (4.0 / 3.0 * e_star * f64::sqrt(radius))).powf(2.0 / 3.0);
        found.relative(format!("overlap under {} of 10 spheres [m]", 10 - k), overlap, closed, 1e-10);
    }
    found
}

fn bounces() -> Findings {
    let mut found = Findings::default();
    let (h0, r, e) = (0.5, 0.1, 0.8_f64);
    for (stiffness, gate) in [(5e5, 0.03), (5e6, 0.01)] {
        let mut simulation = simulation(
            &format!(
                "gravity = [0, 0, -9.81]\n[material.m]\ndensity = 2600\n\
                 [contact.default]\nnormal = {{ law = \"hooke\", stiffness = {stiffness}, restitution = {e} }}\n\
                 end = \"geometric\"\n\
                 [[wall]]\nname = \"floor\"\nmaterial = \"m\"\nplane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n\
                 [[grains]]\nname = \"ball\"\nmaterial = \"m\"\nradius = {r}\n\
                 fill = {{ method = \"at\", positions = [[0, 0, {h0}]] }}\n[solver]\nstep = \"10 us\"\n"
            ),
            1,
        );
        let (mut highest, mut rising, mut heights) = (0.0_f64, false, Vec::new());
        while heights.len() < 3 && simulation.state.time < 5.0 {
            simulation.advance(10).expect("the run goes on");
            let (z, v) = (simulation.state.particles.position(0).z, simulation.state.particles.velocity(0).z);
            if rising && v < 0.0 {
                heights.push(highest);
                highest = 0.0;
            }
            rising = v > 0.0;
            highest = if rising { highest.max(z) } else { 0.0 };
        }
        for (k, &height) in heights.iter().enumerate() {
            let closed = r + (h0 - r) * e.powi(2 * (k as i32 + 1));
            found.relative(
                format!("stiffness {stiffness:e} N/m: height of bounce {} [m]", k + 1),
                height,
                closed,
                gate,
            );
        }
    }
    found.reading =
        "a softer ball spends longer in contact, where gravity goes on: the heights converge with the stiffness";
    found
}

fn slide_and_roll() -> Findings {
    let mut found = Findings::default();
    let (r, u0, g) = (5e-4, 0.1, 9.81);
    for (mu, time) in [(0.2, 14.562e-3), (0.5, 5.825e-3), (1.0, 2.912e-3)] {
        let mass = 2600.0 * 4.0 / 3.0 * std::f64::consts::PI * f64::powi(r, 3);
        let k = 1e3;
        let mut simulation = simulation(
            &format!(
                "gravity = [0, 0, -{g}]\n[material.m]\ndensity = 2600\n\
                 [contact.default]\nnormal = {{ law = \"hooke\", stiffness = {k}, restitution = 0.5 }}\n\
                 tangential = {{ law = \"spring\", friction = {mu} }}\n\
                 [[wall]]\nname = \"floor\"\nmaterial = \"m\"\nplane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n\
                 [[grains]]\nname = \"ball\"\nmaterial = \"m\"\nradius = {r}\nvelocity = [{u0}, 0, 0]\n\
                 fill = {{ method = \"at\", positions = [[0, 0, {}]] }}\n[solver]\nstep = \"1 us\"\n",
                r - mass * g / k
            ),
            1,
        );
        let mut ended = f64::NAN;
        while simulation.state.time < 2.0 * time {
            simulation.advance(1).expect("the run goes on");
            let p = &simulation.state.particles;
            if ended.is_nan() && p.velocity(0).x <= p.angular_velocity(0).y * r {
                ended = simulation.state.time;
            }
        }
        let p = &simulation.state.particles;
        found.relative(format!("friction {mu}: end of slip [s]"), ended, time, 2e-3);
        found.relative(format!("friction {mu}: speed of rolling [m/s]"), p.velocity(0).x, 5.0 / 7.0 * u0, 2e-3);
        found.relative(format!("friction {mu}: spin [rad/s]"), p.angular_velocity(0).y, 5.0 / 7.0 * u0 / r, 2e-3);
    }
    found
}

fn same_bits() -> Findings {
    let mut found = Findings::default();
    let heap = |threads: usize| {
        simulation(
            "gravity = [0, 0, -9.81]\nseed = 3\n[material.m]\ndensity = 2500\nyoungs-modulus = \"10 MPa\"\n\
             poisson-ratio = 0.3\nrestitution = 0.6\nfriction = 0.4\n\
             [[wall]]\nname = \"floor\"\nmaterial = \"m\"\nplane = { point = [0, 0, 0], normal = [0, 0, 1] }\n\
             [[grains]]\nname = \"heap\"\nmaterial = \"m\"\nradius = { uniform = [0.004, 0.006] }\n\
             fill = { method = \"random\", count = 4500, region = { box = { min = [0, 0, 0], max = [0.25, 0.25, 0.2] } } }\n",
            threads,
        )
    };
    let mut one = heap(1);
    one.advance(600).expect("the run goes on");
    let mut four = heap(4);
    four.advance(600).expect("the run goes on");
    let mut pieces = heap(2);
    pieces.advance(250).expect("the run goes on");
    pieces.advance(350).expect("the run goes on");
    let differ = |other: &Simulation| {
        let (a, b) = (&one.state.particles, &other.state.particles);
        (0..a.owned()).filter(|&i| a.place[i] != b.place[i] || a.velocity(i) != b.velocity(i)).count() as f64
    };
    found.absolute("grains that differ with four threads", differ(&four), 0.0, 0.0);
    found.absolute("grains that differ in two pieces", differ(&pieces), 0.0, 0.0);
    found
}
