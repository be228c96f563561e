//! A block thrown up an inclined plane: what the friction of the contact law does when the block stops (Muth, Eberhard &
//! Luding), and the path of a friction force in the tangent plane.
//!
//! A sphere that cannot turn stands in for the block; the stiffnesses of its one contact are those of the eight corners.

use crate::bench::{FLOOR, go, simulation};
use crate::{Case, Effort, Evidence, Findings};
use esker::law::tangential::{AnyTangential, Spring, Stiffness, TangentialDamping, TangentialLaw};
use esker::law::{Dissipation, Memory, Touch};
use esker::math::Vec3;
use esker_io::chart::{Chart, Curve};

const SOURCE: &str = "Muth, Eberhard & Luding, block on an inclined plane";
const TITLES: [&str; 3] = [
    "friction 0.5 at 30 degrees: thrown up, stops, slides down again",
    "friction 0.58 at 30 degrees: thrown up, stops, slides back a little, stays",
    "friction 0.6 at 30 degrees: thrown up, stops, slides back a little, stays",
];

const fn thrown_up(id: &'static str, title: &'static str, run: fn() -> Findings) -> Case {
    Case { id, source: SOURCE, title, evidence: Evidence::ClosedForm, effort: Effort::Quick, run }
}

pub const CASES: &[Case] = &[
    thrown_up("M-01", TITLES[0], || block(0.5)),
    thrown_up("M-02", TITLES[1], || block(0.58)),
    thrown_up("M-03", TITLES[2], || block(0.6)),
    Case {
        id: "M-04",
        source: "Muth, Eberhard & Luding, fig. 3",
        title: "path of the friction force in the tangent plane: stick, stick, slide, turn back",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: path,
    },
];

const G: f64 = 9.81;
const SPEED: f64 = 5.0;
const MASS: f64 = 2.7;
const STEP: f64 = 5e-6;

/// Velocity up the plane over time.
fn velocities(stiffness: f64, tangential: &str, until: f64) -> Vec<f64> {
    let (sin, cos) = 30f64.to_radians().sin_cos();
    let radius = (0.75e-3 / std::f64::consts::PI).cbrt();
    let mut run = simulation(
        &format!(
            "gravity = [{:e}, 0, {:e}]\n[material.block]\ndensity = 2700\n[material.floor]\n\
             [contact.default]\nnormal = {{ law = \"hooke\", stiffness = {stiffness:e}, restitution = 0.9 }}\n\
             tangential = {{ {tangential} }}\n{FLOOR}\
             [[grains]]\nname = \"block\"\nmaterial = \"block\"\nradius = {radius:e}\ninertia-factor = 1e15\n\
             velocity = [-{SPEED}, 0, 0]\nfill = {{ method = \"at\", positions = [[0, 0, {:e}]] }}\n\
             [solver]\nstep = {STEP:e}\n",
            G * sin,
            -G * cos,
            radius - MASS * G * cos / stiffness
        ),
        1,
    );
    let velocity = |_| {
        go(&mut run, 1);
        -run.state.particles.velocity(0).x
    };
    (0..(until / STEP).round() as u64).map(velocity).collect()
}

/// Time at the end of step `k` \[s\].
fn time(k: usize) -> f64 {
    (k + 1) as f64 * STEP
}

fn block(mu: f64) -> Findings {
    let mut found = Findings::default();
    let (sin, cos) = 30f64.to_radians().sin_cos();
    let stopping = G * (sin + mu * cos);
    let closed = SPEED / stopping;
    let mut curves = Vec::new();
    for (name, stiffness, until) in [("1e6 N/m per corner", 8e6, 1.5), ("1e7 N/m per corner", 8e7, 0.8)] {
        let spring = format!("law = \"spring\", stiffness = {stiffness:e}, damping-ratio = 0, friction = {mu}");
        let v = velocities(stiffness, &spring, until);
        let stop = v.iter().position(|v| *v <= 0.0).unwrap_or(v.len() - 1).max(1);
        let stopped = time(stop) - STEP * v[stop] / (v[stop] - v[stop - 1]);
        found.absolute(format!("{name}: time of the stop [s]"), stopped, closed, 5e-6);
        let way: f64 = v[..stop].iter().sum::<f64>() * STEP + 0.5 * SPEED * STEP;
        found.relative(format!("{name}: way up [m]"), way, 0.5 * SPEED * closed, 2e-5);
        let bent = v[..stop].iter().enumerate().map(|(k, v)| (v - SPEED + stopping * time(k)).abs());
        found.at_most(format!("{name}: velocity off the straight line [m/s]"), bent.fold(0.0, f64::max), 5e-5);

        // The spring is still stretched against the way up: with gravity it throws the block back.
        let root = (MASS / stiffness).sqrt();
        let dip = -2.0 * G * root * (mu * sin * cos).sqrt();
        let sticks = root * (-(mu * cos - sin) / (mu * cos + sin)).acos();
        let hold = G * (mu * cos - sin);
        let last = v[v.len() - 1];
        if mu < sin / cos {
            let fifth = (v[v.len() - 1] - v[v.len() - 40_001]) / (40_000.0 * STEP);
            found.relative(format!("{name}: acceleration down again [m/s²]"), fifth, hold, 1e-8);
            let at_end = dip + hold * (until - closed - sticks);
            found.relative(format!("{name}: velocity after {until} s [m/s]"), last, at_end, 1e-5);
        } else {
            let lowest = v[stop..].iter().copied().fold(0.0, f64::min);
            found.relative(format!("{name}: lowest velocity [m/s]"), lowest, dip, 1e-3);
            let rests = v.iter().skip(stop + 1).position(|v| *v >= 0.0).map_or(f64::NAN, |k| time(stop + 1 + k));
            found.relative(format!("{name}: time of rest [s]"), rests, closed + sticks - dip / hold, 5e-5);
            let late = v[v.len() - 2000..].iter().fold(0.0_f64, |most, v| most.max(v.abs()));
            found.relative(format!("{name}: velocity of what rings on [m/s]"), late, hold * root, 1e-3);
        }
        let points = v.iter().enumerate().skip(stop - 2000).step_by(40).map(|(k, v)| [time(k), *v]);
        curves.push(Curve { name: name.into(), points: points.take(2000).collect() });
    }
    if mu > sin / cos {
        // Friction without memory holds nothing: weight over dashpot.
        let v = velocities(8e6, &format!("law = \"dashpot\", damping = 1e4, friction = {mu}"), 0.7);
        found.relative("friction by a dashpot: creep [m/s]", v[v.len() - 1], -MASS * G * sin / 1e4, 1e-9);
    }
    found.charts.push(Chart {
        title: format!("Block thrown up a plane, friction {mu}"),
        axes: ["time [s]".into(), "velocity up the plane [m/s]".into()],
        curves,
    });
    found.reading = "a sphere that cannot turn stands in for the block, so that pitching and the search for corners are not part \
                     of it; the spring has no dashpot, as in the paper";
    found
}

fn path() -> Findings {
    let mut found = Findings::default();
    let law = AnyTangential::Spring(Spring {
        stiffness: Stiffness::Given(1e4),
        damping: TangentialDamping::None,
        friction: 0.5,
    });
    let mut memory = Memory { touching: true, ..Default::default() };
    let mut last = Vec3::ZERO;
    for (what, to, expected) in [
        ("stick", [4e-4, 0.0], [-4.0, 0.0]),
        ("stick", [6e-4, 5e-4], [-6.0, -5.0]),
        ("slide", [12e-4, 9e-4], [-8.0, -6.0]),
        ("turn back, stick", [10e-4, 9e-4], [-6.0, -6.0]),
    ] {
        let to = Vec3::new(to[0], to[1], 0.0);
        let mut touch = Touch { normal: Vec3::Z, middle: Vec3::Z, dt: 1e-3, effective_mass: 1.0, ..Default::default() };
        touch.mean.slip = (to - last) / touch.dt;
        last = to;
        // Under 20 N: ten newtons at most.
        let force = law.respond(&touch, 20.0, 1e4, 0.0, &mut memory, &mut Dissipation::default());
        for (axis, got, expected) in [("x", force.x, expected[0]), ("y", force.y, expected[1])] {
            found.absolute(format!("{what}: force along {axis} [N]"), got, expected, 1e-14);
        }
        for (axis, got, expected) in [("x", memory.spring.x, expected[0]), ("y", memory.spring.y, expected[1])] {
            found.absolute(format!("{what}: stretch along {axis} [m]"), got, -1e-4 * expected, 1e-18);
        }
    }
    found.reading = "the spring of the program returns radially to the limit; the other variant of the paper, a spring that goes on \
                     stretching while it slides, is not part of it";
    found
}
