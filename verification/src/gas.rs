//! Gases of hard balls: pressure, speeds, cooling, and that a run is the same again.

use crate::bench::{ball_mass, changed, go, index, vector};
use crate::hard::{Account, kinetic, mean, set_restitution, stir};
use crate::{Case, Effort, Evidence, Findings, Table};
use esker::math::Vec3;
use esker::model::Model;
use esker::rng::{Purpose, Stream};
use esker::simulation::Simulation;
use esker::solver::Solver;
use esker::solver::event::Event;
use esker::state::State;
use esker_io::chart::{Chart, Curve};
use std::f64::consts::PI;

pub const CASES: &[Case] = &[
    Case {
        id: "G-06",
        source: "Gavrilov 1999, section 3.6",
        title: "ideal gas: pressure times volume is 2/3 of the energy in cans of any shape",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: ideal,
    },
    Case {
        id: "G-07",
        source: "Gavrilov 1999, Fig. 3.13",
        title: "balls of one speed come to Maxwell's distribution",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: maxwell,
    },
    Case {
        id: "GD-13",
        source: "Gavrilov 1999, Assumption 3.1",
        title: "many collisions at one moment: same seed, same run; another order, the same means",
        evidence: Evidence::Property,
        effort: Effort::Quick,
        run: ties,
    },
    Case {
        id: "V26",
        source: "Haff 1983",
        title: "cooling of a gas that loses energy in collisions",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: haff,
    },
    Case {
        id: "V27",
        source: "Carnahan & Starling 1969; Lun et al. 1984",
        title: "pressure of the gas of hard balls, by what collisions carry over",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: pressure,
    },
];

const DENSITY: f64 = 2500.0;

/// Elastic balls in a can without gravity, all with a speed of 1 m/s in random directions.
fn can(balls: u32, ball: f64, radius: f64, height: f64) -> Simulation {
    let can = format!("from = [0, 0, 0], to = [0, 0, {height:e}], radius = {radius:e}");
    changed(
        &format!(
            "[solver]\nkind = \"event\"\nstep = 1e-2\ncollapse = {{ by = \"refuse\" }}\n[material.ball]\ndensity = {DENSITY}\n[material.can]\n\
             [contact.default]\ncollision = {{ restitution = 1 }}\n\
             [[wall]]\nname = \"can\"\nmaterial = \"can\"\ncylinder = {{ {can}, caps = true }}\n\
             [[grains]]\nname = \"balls\"\nmaterial = \"ball\"\nradius = {ball:e}\nvelocity = {{ speed = 1 }}\n\
             fill = {{ method = \"random\", count = {balls}, region = {{ cylinder = {{ {can} }} }} }}\n"
        ),
        1,
        |_, _| {},
    )
}

fn ideal() -> Findings {
    let mut found = Findings::default();
    let (balls, ball) = (300, 0.5e-3);
    let volume = PI * 31.5e-3_f64.powi(2) * 103e-3;
    let mut table = Table {
        title: "300 balls of 0.5 mm for 20 s".into(),
        header: ["radius [mm]", "height [mm]", "packing [%]", "hits of the can", "pressure [Pa]", "standard error"]
            .map(String::from)
            .into(),
        rows: Vec::new(),
    };
    for aspect in [0.2_f64, 0.6, 1.64, 5.0] {
        // Height over diameter, the volume as that of the mill.
        let radius = (volume / (2.0 * PI * aspect)).cbrt();
        let height = 2.0 * radius * aspect;
        let mut run = can(balls, ball, radius, height);
        let energy = kinetic(&run.state);
        let (r, h) = (radius - ball, height - 2.0 * ball);
        let (area, reach) = (2.0 * PI * r * (r + h), PI * r * r * h);
        let mass = ball_mass(ball, DENSITY);
        let (mut before, mut parts) = (Account::of(&run.state), Vec::new());
        for _ in 0..20 {
            go(&mut run, 100);
            let now = Account::of(&run.state);
            // Each hit gives 2 m v to the can.
            parts.push(2.0 * mass * (now.walls.speed - before.walls.speed) / (area * (now.time - before.time)));
            before = now;
        }
        let (pressure, error) = mean(&parts);
        found.relative(
            format!("height over diameter {aspect}: pV over 2/3 of the energy"),
            pressure * reach / (2.0 / 3.0 * energy),
            1.0,
            0.01,
        );
        table.rows.push(vec![
            format!("{:.1}", 1e3 * radius),
            format!("{:.1}", 1e3 * height),
            format!("{:.3}", 100.0 * f64::from(balls) * 4.0 / 3.0 * PI * ball.powi(3) / volume),
            format!("{}", before.walls.count),
            format!("{pressure:.5}"),
            format!("{:.2} %", 100.0 * error / pressure),
        ]);
    }
    found.tables.push(table);
    found.reading = "Volume and area are those that the centres reach. The packing is so small that the balls' own volume raises the pressure by 0.2 %, \
                     which is not taken off. In flatter and longer cans the directions exchange energy by rare collisions of two balls only, so that the \
                     standard error grows.";
    found
}

/// Maxwell's share of speeds below x times the root mean square, by Simpson's rule.
fn maxwell_below(x: f64) -> f64 {
    let density = |s: f64| 3.0 * (6.0 / PI).sqrt() * s * s * (-1.5 * s * s).exp();
    let n = 200;
    let h = x / f64::from(n);
    let weight = |k: i32| if k == 0 || k == n { 1.0 } else { f64::from(2 + 2 * (k % 2)) };
    (0..=n).map(|k| weight(k) * density(h * f64::from(k))).sum::<f64>() * h / 3.0
}

fn maxwell() -> Findings {
    let mut found = Findings::default();
    let n = 1000;
    let mut run = can(n, 0.5e-3, 31.5e-3, 103e-3);
    let mass = ball_mass(0.5e-3, DENSITY);
    let rms = (2.0 * kinetic(&run.state) / (f64::from(n) * mass)).sqrt();
    while 2.0 * Account::of(&run.state).pairs.count < 20.0 * f64::from(n) {
        go(&mut run, 10);
    }
    let per_ball = 2.0 * Account::of(&run.state).pairs.count / f64::from(n);
    found.at_least("collisions of a ball with others before the first look", per_ball, 20.0);
    // Looks so far apart that a ball has met eight others in between.
    let (mut speeds, looks) = (Vec::new(), 30);
    for _ in 0..looks {
        let next = Account::of(&run.state).pairs.count + 4.0 * f64::from(n);
        while Account::of(&run.state).pairs.count < next {
            go(&mut run, 5);
        }
        let p = &run.state.particles;
        speeds.extend((0..p.owned()).map(|i| p.velocity(i).length() / rms));
    }
    speeds.sort_by(f64::total_cmp);
    let total = speeds.len() as f64;
    let bins = 20;
    let mut counts = vec![0.0; bins];
    let mut distance = 0.0_f64;
    for (k, &x) in speeds.iter().enumerate() {
        let below = maxwell_below(x);
        counts[((below * bins as f64) as usize).min(bins - 1)] += 1.0;
        distance = distance.max((below - k as f64 / total).abs()).max((below - (k + 1) as f64 / total).abs());
    }
    let each = total / bins as f64;
    let chi: f64 = counts.iter().map(|c| (c - each).powi(2) / each).sum();
    // 1 % points: χ² of 19 degrees of freedom, Kolmogorov's distribution.
    found.at_most("χ² of 20 classes of equal probability", chi, 36.19);
    found.at_most("Kolmogorov–Smirnov: distance times √n", distance * total.sqrt(), 1.628);
    found.absolute("mean speed over the root mean square", speeds.iter().sum::<f64>() / total, 0.9213, 0.005);
    let width = 0.05;
    let in_bin = |k: usize| {
        let of = |x: f64| speeds.partition_point(|&s| s < x) as f64;
        (of(width * (k + 1) as f64) - of(width * k as f64)) / (total * width)
    };
    let density = |s: f64| 3.0 * (6.0 / PI).sqrt() * s * s * (-1.5 * s * s).exp();
    let middle = |k: usize| width * (k as f64 + 0.5);
    found.charts.push(Chart {
        title: "Speeds of balls that began with one speed".into(),
        axes: ["speed over the root mean square".into(), "probability density".into()],
        curves: vec![
            Curve { name: "run".into(), points: (0..56).map(|k| [middle(k), in_bin(k)]).collect() },
            Curve { name: "Maxwell".into(), points: (0..56).map(|k| [middle(k), density(middle(k))]).collect() },
        ],
    });
    found.reading = "The same can as in G-06 with 1000 balls instead of 300, so that they meet often; 30 looks, eight collisions of each ball apart. The \
                     energy is that of the beginning, nothing is fitted.";
    found
}

/// Times at which periodic gases may be looked at \[s\].
const STEP: f64 = 2e-5;

/// Elastic balls at rest in a periodic cube: model and state.
fn periodic(length: f64, radius: f64, fill: &str) -> (Model, State) {
    let run = changed(
        &format!(
            "[domain]\nmin = [0, 0, 0]\nmax = [{length:e}, {length:e}, {length:e}]\nperiodic = [\"x\", \"y\", \"z\"]\n\
             [solver]\nkind = \"event\"\nstep = {STEP:e}\ncollapse = {{ by = \"refuse\" }}\n[material.ball]\ndensity = {DENSITY}\n\
             [contact.default]\ncollision = {{ restitution = 1 }}\n\
             [[grains]]\nname = \"balls\"\nmaterial = \"ball\"\nradius = {radius:e}\nfill = {{ {fill} }}\n"
        ),
        1,
        |_, _| {},
    );
    (run.model().clone(), run.state.clone())
}

/// Side of the cube for so many balls at a solid fraction \[m\].
fn cube(balls: usize, radius: f64, fraction: f64) -> f64 {
    (balls as f64 * 4.0 / 3.0 * PI / fraction).cbrt() * radius
}

/// Temperature over the mass, a third of the mean square of the velocities \[m²/s²\].
fn temperature(state: &State) -> f64 {
    let p = &state.particles;
    (0..p.owned()).map(|i| p.velocity(i).length_squared()).sum::<f64>() / (3 * p.owned()) as f64
}

/// A periodic gas in equilibrium: a lattice that has met `collisions` times per ball, elastically, at a root mean square of 0.1 m/s.
fn equilibrium(side: usize, radius: f64, fraction: f64, collisions: f64) -> (Model, State) {
    let (balls, length) = (side.pow(3), cube(side.pow(3), radius, fraction));
    let spacing = length / side as f64 * (1.0 - 1e-12);
    let fill = format!("method = \"lattice\", count = {balls}, spacing = {spacing:e}");
    let (model, mut state) = periodic(length, radius, &fill);
    stir(&mut state, &mut Stream::new(26, Purpose::Velocity, side as u64), 0.1);
    let mut solver = Event::new();
    while 2.0 * Account::of(&state).count() < collisions * state.particles.owned() as f64 {
        solver.advance(&model, &mut state, 100).expect("the run goes on");
    }
    (model, state)
}

/// Radial distribution function at contact by Carnahan & Starling.
fn at_contact(fraction: f64) -> f64 {
    (1.0 - 0.5 * fraction) / (1.0 - fraction).powi(3)
}

fn haff() -> Findings {
    let mut found = Findings::default();
    let (fraction, d, e) = (0.05, 1e-3, 0.9);
    let (mut model, mut state) = equilibrium(16, 0.5 * d, fraction, 10.0);
    set_restitution(&mut model, &mut state, e);
    let first = temperature(&state);
    let n = fraction / (PI / 6.0 * d.powi(3));
    let rate = 4.0 * n * d * d * at_contact(fraction) * (PI * first).sqrt();
    let tau = 6.0 / ((1.0 - e * e) * rate);
    found.relative("collisions of a ball per second at the beginning, closed form [1/s]", rate, 44.451, 1e-4);
    found.relative("time of cooling, closed form [s]", tau, 0.71042, 1e-4);
    let begin = (state.time, Account::of(&state).count());
    let mut solver = Event::new();
    let (mut ours, mut theirs) = (vec![[0.0, 1.0]], vec![[0.0, 1.0]]);
    for k in 1..=40 {
        let until = begin.0 + 0.1 * tau * f64::from(k);
        let steps = ((until - state.time) / model.dt).round() as u64;
        solver.advance(&model, &mut state, steps).expect("the run goes on");
        let t = (state.time - begin.0) / tau;
        let (is, should) = (temperature(&state) / first, (1.0 + t).powi(-2));
        ours.push([t, is]);
        theirs.push([t, should]);
        if [5, 10, 20, 30, 40].contains(&k) {
            found.relative(format!("T/T₀ at t = {:.1} τ", 0.1 * f64::from(k)), is, should, 0.03);
        }
    }
    let met = 2.0 * (Account::of(&state).count() - begin.1) / state.particles.owned() as f64;
    found.relative("collisions of a ball in 4 τ", met, rate * tau * 5f64.ln(), 0.03);
    let axis = esker_io::chart::Axis::logarithmic;
    found.charts.push(Chart {
        title: "Cooling of 4096 balls, solid fraction 0.05, restitution 0.9".into(),
        axes: ["t/τ".into(), axis("T/T₀")],
        curves: vec![Curve { name: "run".into(), points: ours }, Curve { name: "Haff".into(), points: theirs }],
    });
    found.reading = "4096 balls in a periodic cube, first brought to equilibrium without loss; looked at up to 4 τ, about 50 collisions of each ball, before clusters \
                     form.";
    found
}

/// p/(nT) while each ball meets so many others: 1 and what collisions carry over, m* (1+e) v d each with m* = m/2. Temperature and what is
/// carried over are both summed over the time, for with loss the gas cools.
fn compressibility(solver: &mut Event, model: &Model, state: &mut State, restitution: f64, collisions: f64) -> f64 {
    let (start, balls) = (Account::of(state), state.particles.owned() as f64);
    let (mut heat, mut before) = (0.0, temperature(state));
    while 2.0 * (Account::of(state) - start).count() < collisions * balls {
        solver.advance(model, state, 10).expect("the run goes on");
        let now = temperature(state);
        heat += 0.5 * (before + now) * 10.0 * STEP;
        before = now;
    }
    let speeds = (Account::of(state) - start).pairs.speed;
    1.0 + 0.5 * (1.0 + restitution) * 2.0 * state.particles.radius(0) * speeds / (3.0 * balls * heat)
}

fn pressure() -> Findings {
    let mut found = Findings::default();
    let mut table = Table {
        title: "p/(nT) of 4096 balls, while each meets six others and the next six".into(),
        header: ["solid fraction", "restitution", "closed form", "first", "off [%]", "next", "off [%]"]
            .map(String::from)
            .into(),
        rows: Vec::new(),
    };
    for fraction in [0.05, 0.1, 0.2, 0.3, 0.4] {
        let elastic = equilibrium(16, 0.5e-3, fraction, 20.0);
        for e in [1.0, 0.95, 0.9, 0.8] {
            let (mut model, mut state) = elastic.clone();
            set_restitution(&mut model, &mut state, e);
            let mut solver = Event::new();
            let parts = [0, 1].map(|_| compressibility(&mut solver, &model, &mut state, e, 6.0));
            let closed = 1.0 + 2.0 * (1.0 + e) * fraction * at_contact(fraction);
            found.relative(format!("solid fraction {fraction}, restitution {e}: p/(nT)"), parts[0], closed, 0.02);
            let off = |z: f64| format!("{:+.2}", 100.0 * (z / closed - 1.0));
            table.rows.push(vec![
                fraction.to_string(),
                e.to_string(),
                format!("{closed:.4}"),
                format!("{:.4}", parts[0]),
                off(parts[0]),
                format!("{:.4}", parts[1]),
                off(parts[1]),
            ]);
        }
    }
    found.tables.push(table);
    found.reading = "A periodic cube, brought to equilibrium without loss; one stretch scatters by up to 0.8 %. The closed form takes the velocities of balls \
                     that meet as independent. With loss they are not for long: the first six collisions of a ball are compared, and in the next \
                     six, which stand beside, the pressure at restitution 0.8 is up to 4 % below.";
    found
}

/// Groups of balls along each side of the cube.
const GROUPS: usize = 3;

/// Groups of nine balls in a periodic cube: eight at the corners of a smaller cube come to the one in its middle, all at one moment.
/// The seed orders what meets at one moment or, with a shift, draws where the balls are instead.
fn converging(seed: u64, shift: f64) -> (Model, State) {
    let (groups, radius) = (GROUPS.pow(3), 0.5e-3);
    let length = cube(9 * groups, radius, 0.1);
    let period = length / GROUPS as f64;
    let mut random = Stream::new(seed, Purpose::Noise, 13);
    let (mut places, mut velocities) = (Vec::new(), Vec::new());
    for k in 0..groups {
        let cell = Vec3::new((k % GROUPS) as f64, (k / GROUPS % GROUPS) as f64, (k / GROUPS / GROUPS) as f64);
        let middle = (cell + 0.5) * period;
        let sign = |bit: usize, corner: usize| if corner >> bit & 1 == 0 { 1.0 } else { -1.0 };
        let corners = (0..8).map(|c| Vec3::new(sign(0, c), sign(1, c), sign(2, c)));
        for corner in corners.chain([Vec3::ZERO]) {
            places.push(vector(middle + 0.25 * period * corner + shift * random.in_ball(false)));
            velocities.push(-0.1 / 3f64.sqrt() * corner);
        }
    }
    let (mut model, mut state) =
        periodic(length, radius, &format!("method = \"at\", positions = [{}]", places.join(", ")));
    for (id, v) in velocities.iter().enumerate() {
        let i = index(&state, id as u64);
        state.particles.motion[i].velocity = *v;
    }
    model.seed = if shift > 0.0 { 1 } else { seed };
    (model, state)
}

/// Collisions per second of [`converging`] after a beginning, and the state at the end.
fn after_ties(seed: u64, shift: f64) -> (f64, State) {
    let (model, mut state) = converging(seed, shift);
    let mut solver = Event::new();
    solver.advance(&model, &mut state, 20_000).expect("the run goes on");
    let before = Account::of(&state);
    solver.advance(&model, &mut state, 100_000).expect("the run goes on");
    let all = Account::of(&state) - before;
    (all.count() / all.time, state)
}

fn ties() -> Findings {
    let mut found = Findings::default();
    let (model, mut state) = converging(1, 0.0);
    // From a quarter of √3 periods to a diameter, at 0.1 m/s.
    let period = cube(9 * GROUPS.pow(3), 0.5e-3, 0.1) / GROUPS as f64;
    let moment = (0.25 * 3f64.sqrt() * period - 1e-3) / 0.1;
    let mut solver = Event::new();
    solver.advance(&model, &mut state, (moment / STEP) as u64).expect("the run goes on");
    found.absolute("collisions before the first moment", Account::of(&state).count(), 0.0, 0.0);
    solver.advance(&model, &mut state, 1).expect("the run goes on");
    found.at_least("collisions in the step of it, 216 pairs touch", Account::of(&state).count(), 108.0);
    let runs: Vec<(f64, State)> = (1..=12).map(|seed| after_ties(seed, 0.0)).collect();
    let again = after_ties(1, 0.0);
    let same = |a: &State, b: &State| f64::from(u8::from(a == b));
    found.absolute("same seed: state and tallies the same to the last bit", same(&runs[0].1, &again.1), 1.0, 0.0);
    let mut other = runs[1].1.clone();
    other.meetings = runs[0].1.meetings.clone();
    found.absolute("another seed: grains at the same places", same(&runs[0].1, &other), 0.0, 0.0);
    let moved: Vec<f64> = (1..=12).map(|seed| after_ties(seed, 1e-9).0).collect();
    let rates: Vec<f64> = runs.iter().map(|r| r.0).collect();
    let ((ours, error), (theirs, other_error)) = (mean(&rates), mean(&moved));
    let off = (ours - theirs).abs() / error.hypot(other_error);
    found.at_most("mean rate of 12 seeds and of 12 shifted starts apart, in standard errors", off, 3.0);
    let half = |k: usize| mean(&rates[6 * k..6 * k + 6]);
    let ((a, ea), (b, eb)) = (half(0), half(1));
    found.at_most("mean rate of seeds 1–6 and 7–12 apart, in standard errors", (a - b).abs() / ea.hypot(eb), 3.0);
    found.tables.push(Table {
        title: "collisions per second".into(),
        header: ["", "mean", "standard error"].map(String::from).into(),
        rows: vec![
            vec!["12 seeds".into(), format!("{ours:.1}"), format!("{error:.1}")],
            vec!["12 starts shifted by 1 nm".into(), format!("{theirs:.1}"), format!("{other_error:.1}")],
        ],
    });
    found.reading = "In each of 27 groups eight balls come to a ninth at one moment. The order is drawn from the seed, as if the balls lay a little \
                     apart; groups whose balls really are shifted a little stand beside.";
    found
}
