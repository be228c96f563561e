//! Few balls that meet in time order: what is conserved, what is found, and that the clock goes on.

use crate::bench::{ball_mass, changed, go, grain, index, simulation};
use crate::hard::{Account, bustle, kinetic, momentum};
use crate::{Case, Effort, Evidence, Findings, Table};
use esker::boundary::{Motion, MotionPart, Waveform};
use esker::math::Vec3;
use esker::rng::{Purpose, Stream};
use esker::simulation::Simulation;
use esker_io::chart::{Chart, Curve};

pub const CASES: &[Case] = &[
    Case {
        id: "G-01",
        source: "Gavrilov 1999, Fig. 3.2",
        title: "billiard: 16 balls on a table, 100 000 elastic collisions; slowing by drag between collisions",
        evidence: Evidence::Property,
        effort: Effort::Quick,
        run: billiard,
    },
    Case {
        id: "G-02",
        source: "Gavrilov 1999, Fig. 3.6",
        title: "a ball pushed out of the way of two others: they meet",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: out_of_the_way,
    },
    Case {
        id: "G-03",
        source: "Gavrilov 1999, Fig. 3.7",
        title: "a slow ball on a floor, its flight in steps that lead back into it: the clock goes on",
        evidence: Evidence::Property,
        effort: Effort::Quick,
        run: slow_ball,
    },
    Case {
        id: "GD-01",
        source: "Gavrilov 1999, eq. (3.19)",
        title: "a wall shaken along parabolas: place and speed over a cycle",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: parabolas,
    },
    Case {
        id: "GD-02",
        source: "Gavrilov 1999, eqs (3.17), (3.18) for any restitution",
        title: "ball hit by a moving wall: energy gained is the work of the wall less what is lost",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: moving_wall,
    },
];

/// Radius of a ball, and sides of the table \[m\].
const R: f64 = 0.03;
const TABLE: [f64; 2] = [2.0, 1.0];

/// Sixteen balls in rows on a table, with speeds up to 1 m/s, looked at every `step`.
fn table(step: f64, field: &str) -> Simulation {
    let places: Vec<String> =
        (0..16).map(|k| format!("[{}, {}]", 0.2 + 0.4 * f64::from(k / 4), 0.15 + 0.22 * f64::from(k % 4))).collect();
    let tables = format!(
        "planar = true\n[solver]\nkind = \"event\"\nstep = {step:e}\ncollapse = {{ by = \"refuse\" }}\n[material.ball]\ndensity = 1700\n[material.cushion]\n\
         [contact.default]\ncollision = {{ restitution = 1 }}\n{field}\
         [[wall]]\nname = \"cushion\"\nmaterial = \"cushion\"\nbox = {{ min = [0, 0], max = [{}, {}] }}\n\
         [[grains]]\nname = \"ball\"\nmaterial = \"ball\"\nshape = \"sphere\"\nradius = {R}\nvelocity = {{ speed = [0.2, 1.0] }}\n\
         fill = {{ method = \"at\", positions = [{}] }}\n",
        TABLE[0],
        TABLE[1],
        places.join(", ")
    );
    simulation(&tables, 1)
}

fn billiard() -> Findings {
    let mut found = Findings::default();
    // About ten looks between two collisions.
    let mut run = table(2e-3, "");
    let (energy, mut off, mut deepest) = (kinetic(&run.state), 0.0_f64, 0.0_f64);
    let (mut before, mut held) = (Account::default(), momentum(&run.state));
    let (mut pairs_alone, mut pushed) = (0.0, 0.0_f64);
    while before.count() < 1e5 {
        go(&mut run, 1);
        let state = &run.state;
        let (now, p) = (Account::of(state), momentum(state));
        if now.walls.count == before.walls.count {
            pairs_alone += now.pairs.count - before.pairs.count;
            pushed = pushed.max((p - held).length() / bustle(state));
        }
        (before, held) = (now, p);
        off = off.max((kinetic(state) / energy - 1.0).abs());
        deepest = deepest.max(depth(&run));
    }
    found.at_least("collisions", before.count(), 1e5);
    found.at_most("energy off, largest of all looks, over it", off, 1e-12);
    found.at_least("collisions of pairs without a cushion between two looks", pairs_alone, 1e4);
    found.at_most("momentum that these change, largest, over Σ m|v|", pushed, 1e-12);
    found.at_most("deepest overlap at a meeting, over the radius", run.state.meetings.overlap, 1e-12);
    found.at_most("deepest overlap at a look, cushions too, over the radius", deepest, 1e-12);
    drag(&mut found);
    found
}

/// Deepest overlap of balls with each other and with the cushions, over the radius.
fn depth(run: &Simulation) -> f64 {
    let p = &run.state.particles;
    let mut deepest = f64::NEG_INFINITY;
    for i in 0..p.owned() {
        let x = p.position(i);
        let wall = x.x.min(TABLE[0] - x.x).min(x.y).min(TABLE[1] - x.y);
        let others = (0..i).map(|j| 2.0 * R - x.distance(p.position(j))).fold(R - wall, f64::max);
        deepest = deepest.max(others / R);
    }
    deepest
}

/// Slowing between collisions, v = v₀ exp(−kt/m): for stretches in which no ball of the table meets anything.
fn drag(found: &mut Findings) {
    let mass = ball_mass(R, 1700.0);
    // Balls slow down to a half in 14 s; a step of the flight is a thousandth of m/k.
    let rate = 0.05;
    let field = format!("[[field]]\ndrag = {{ coefficient = {:e} }}\n", rate * mass);
    let mut run = table(1e-3 / rate, &field);
    let snapshot = |run: &Simulation| {
        let p = &run.state.particles;
        let of = |id: u64| {
            let i = index(&run.state, id);
            (p.position(i), p.velocity(i))
        };
        (run.state.time, (0..16).map(of).collect::<Vec<_>>())
    };
    let (mut start, mut count) = (snapshot(&run), 0.0);
    let (mut slowing, mut place, mut stretches) = (0.0_f64, 0.0_f64, 0.0);
    let mut curve = vec![[0.0, kinetic(&run.state)]];
    while run.state.time < 40.0 {
        go(&mut run, 1);
        let now = Account::of(&run.state).count();
        if now == count {
            let (time, balls) = snapshot(&run);
            let t = time - start.0;
            let left = (-rate * t).exp();
            for ((x, v), (x0, v0)) in balls.iter().zip(&start.1) {
                slowing = slowing.max((*v - left * *v0).length() / v0.length());
                place = place.max((*x - *x0 - (1.0 - left) / rate * *v0).length() / R);
            }
            stretches += 1.0;
        } else {
            (start, count) = (snapshot(&run), now);
        }
        curve.push([run.state.time, kinetic(&run.state)]);
    }
    found.at_least("drag: looks in stretches without collision", stretches, 100.0);
    found.at_least("drag: collisions", count, 100.0);
    found.at_most("drag: velocity of a ball off from exp(−kt/m), largest, over it", slowing, 1e-6);
    found.at_most("drag: place of a ball off, largest, over the radius", place, 1e-4);
    let first = curve[0][1];
    let closed = curve.iter().map(|c| [c[0], first * (-2.0 * rate * c[0]).exp()]).collect();
    found.charts.push(Chart {
        title: "Energy of 16 balls with drag".into(),
        axes: ["time [s]".into(), "energy [J]".into()],
        curves: vec![Curve { name: "run".into(), points: curve }, Curve { name: "closed form".into(), points: closed }],
    });
    found.reading = "Collisions on the table are elastic, so that drag alone takes energy and the whole must fall as exp(−2kt/m). With drag \
                     flights go in steps, and the velocity within one is interpolated: off by (kh/m)²/8 = 1.3e-7 at most; the place lies \
                     on the line between both ends, off by at most 1e-4 of the radius by the choice of the step.";
}

/// A ball of the twin of G-02: place, velocity, and the meeting it expects: when, with whom.
#[derive(Clone)]
struct Expecting {
    x: Vec3,
    v: Vec3,
    next: Option<(f64, usize)>,
}

/// Centres of A, B, C, D and their velocities, for balls of radius 1: A and C come from both sides to B at rest, D from below.
const PLACES: [Vec3; 4] =
    [Vec3::new(-10.0, 0.0, 0.0), Vec3::ZERO, Vec3::new(11.0, 0.0, 0.0), Vec3::new(0.0, -6.0, 0.0)];
const VELOCITIES: [Vec3; 4] =
    [Vec3::new(1.0, 0.0, 0.0), Vec3::ZERO, Vec3::new(-1.0, 0.0, 0.0), Vec3::new(0.0, 2.0, 0.0)];

/// When two balls meet, from now on.
fn meeting(a: &Expecting, b: &Expecting) -> Option<f64> {
    let (x, v) = (b.x - a.x, b.v - a.v);
    let (along, c) = (x.dot(v), x.length_squared() - 4.0);
    let d = along * along - v.length_squared() * c;
    (along < 0.0 && d > 0.0).then(|| c / (d.sqrt() - along))
}

/// Meetings up to a time by a scheduler that keeps one meeting of each ball. Balls whose partner has gone are looked at again, or not.
fn earliest_only(until: f64, after_a_partner_has_gone: AfterLoss) -> Vec<[usize; 2]> {
    let mut balls: Vec<Expecting> =
        PLACES.iter().zip(&VELOCITIES).map(|(&x, &v)| Expecting { x, v, next: None }).collect();
    let mut now = 0.0;
    let predict = |balls: &mut Vec<Expecting>, i: usize, now: f64| {
        let times =
            (0..balls.len()).filter(|&j| j != i).filter_map(|j| Some((now + meeting(&balls[i], &balls[j])?, j)));
        balls[i].next = times.min_by(|a, b| a.0.total_cmp(&b.0));
    };
    (0..balls.len()).for_each(|i| predict(&mut balls, i, now));
    let mut met = Vec::new();
    loop {
        let first =
            (0..balls.len()).filter_map(|i| balls[i].next.map(|(t, j)| (t, i, j))).min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((t, i, j)) = first.filter(|f| f.0 < until) else { return met };
        for ball in &mut balls {
            ball.x += (t - now) * ball.v;
        }
        now = t;
        let normal = (balls[j].x - balls[i].x).normalize();
        let exchange = (balls[j].v - balls[i].v).dot(normal) * normal;
        balls[i].v += exchange;
        balls[j].v -= exchange;
        met.push([i.min(j), i.max(j)]);
        for k in 0..balls.len() {
            let lost = balls[k].next.is_some_and(|(_, with)| [i, j].contains(&with));
            if [i, j].contains(&k) || lost {
                balls[k].next = None;
            }
            if [i, j].contains(&k) || lost && after_a_partner_has_gone == AfterLoss::LookAgain {
                predict(&mut balls, k, now);
            }
        }
    }
}

/// What a scheduler does for a ball whose partner meets another.
#[derive(PartialEq)]
enum AfterLoss {
    Nothing,
    LookAgain,
}

fn out_of_the_way() -> Findings {
    let mut found = Findings::default();
    let balls: String =
        (0..4).map(|k| grain(["a", "b", "c", "d"][k], 1.0, PLACES[k], VELOCITIES[k], Vec3::ZERO)).collect();
    let mut run = simulation(
        &format!(
            "[solver]\nkind = \"event\"\nstep = 0.01\n[material.a]\ndensity = 1\n[material.b]\ndensity = 1\n[material.c]\ndensity = 1\n\
             [material.d]\ndensity = 1\n[contact.default]\ncollision = {{ restitution = 1 }}\n{balls}"
        ),
        1,
    );
    go(&mut run, 1500);
    let tally = &run.state.meetings.tallies[0];
    let met = |a: u16, b: u16| {
        let class = tally.classes().find(|c| c.0 == esker::measure::tally::Pair::Kinds(a, b));
        class.map_or(0.0, |c| c.1.count as f64)
    };
    found.absolute("D meets B", met(1, 3), 1.0, 0.0);
    found.absolute("A meets B", met(0, 1), 0.0, 0.0);
    found.absolute("B meets C", met(1, 2), 0.0, 0.0);
    found.absolute("A meets C", met(0, 2), 1.0, 0.0);
    let v = |id: u64| run.state.particles.velocity(index(&run.state, id));
    // 21 apart less two radii, each at 1: they meet at t = 9.5 and turn round.
    let x = |id: u64| run.state.particles.position(index(&run.state, id));
    found.absolute("velocity of A afterwards", v(0).x, -1.0, 1e-12);
    found.absolute("place of A at t = 15", x(0).x, -10.0 + 9.5 - 5.5, 1e-12);
    found.absolute("place of C at t = 15", x(2).x, 11.0 - 9.5 + 5.5, 1e-12);
    let has = |met: Vec<[usize; 2]>| f64::from(u8::from(met.contains(&[0, 2])));
    found.absolute(
        "twin that keeps only the earliest meeting of each: A meets C",
        has(earliest_only(15.0, AfterLoss::Nothing)),
        0.0,
        0.0,
    );
    found.absolute(
        "the same, looking again when a partner has gone: A meets C",
        has(earliest_only(15.0, AfterLoss::LookAgain)),
        1.0,
        0.0,
    );
    found.reading = "A expects B at t = 8 and C expects it at 9, both before each other at 9.5; D pushes it away at t = 2. A scheduler that keeps one meeting of each ball and forgets \
                     those whose partner has gone never finds A and C: the negative control.";
    found
}

fn slow_ball() -> Findings {
    let mut found = Findings::default();
    let (g, radius, end): (f64, f64, f64) = (9.81, 0.01, 1.0);
    let mut table = Table {
        title: "one second on the floor".into(),
        header: ["restitution", "speed [m/s]", "½gh over it", "bounces", "on parabolas", "halved", "energy left"]
            .map(String::from)
            .into(),
        rows: Vec::new(),
    };
    // Restitution, speed, cut-off; the last is fast enough for its steps and stands beside.
    for (restitution, speed, slow) in [(1.0, 1e-3, 0.05), (1.0, 4e-3, 0.05), (0.5, 4e-3, 2e-3), (1.0, 0.1, 0.05)] {
        // Steps are as long as the solver takes them: the line then lies 1e-4 of the radius from the curve.
        let h = (8e-4 * radius / g).sqrt();
        let scene = |fields: &str| {
            format!(
                "{fields}[solver]\nkind = \"event\"\nstep = 1e-3\ncollapse = {{ by = \"cut-off\", speed = {slow} }}\n\
                 [material.ball]\ndensity = 1000\n[material.floor]\n[contact.default]\ncollision = {{ restitution = {restitution} }}\n{}{}",
                crate::bench::FLOOR,
                grain("ball", radius, Vec3::Z * radius, Vec3::Z * speed, Vec3::ZERO)
            )
        };
        let field = format!("[[field]]\nexpression = {{ force = [\"0\", \"0\", \"-{g}*m\"] }}\n");
        let mut run = simulation(&(scene("") + &field), 1);
        let mut below = 0.0_f64;
        while run.state.time < end - 1e-9 {
            go(&mut run, 1);
            below = below.max(1.0 - run.state.particles.position(0).z / radius);
        }
        let left = |run: &Simulation| {
            let p = &run.state.particles;
            (0.5 * p.velocity(0).length_squared() + g * (p.position(0).z - radius)) / (0.5 * speed * speed)
        };
        let halved = run.state.meetings.cures.halved as f64;
        let name = format!("restitution {restitution}, {speed} m/s");
        found.absolute(format!("{name}: time reached [s]"), run.state.time, end, 1e-9);
        if speed < 0.1 {
            found.at_least(format!("{name}: ½gh over the speed"), 0.5 * g * h / speed, 1.0);
            found.at_least(format!("{name}: steps of a flight halved"), halved, 1.0);
        }
        found.at_most(format!("{name}: deepest below the floor, over the radius"), below, 1e-4);
        let mut closed = simulation(&scene(&format!("gravity = [0, 0, -{g}]\n")), 1);
        go(&mut closed, 1000);
        let count = |run: &Simulation| Account::of(&run.state).count();
        table.rows.push(vec![
            restitution.to_string(),
            format!("{speed}"),
            format!("{:.2}", 0.5 * g * h / speed),
            format!("{}", count(&run)),
            format!("{}", count(&closed)),
            format!("{halved}"),
            format!("{:.3}", left(&run)),
        ]);
    }
    found.tables.push(table);
    found.reading = "Gravity is given as a formula, so that the flight goes in steps. A step is a straight line: that of a slow ball that has just \
                     left the floor leads back into it at once, and would for ever. The step is halved until the line leads upwards. \
                     The price: on a straight line a ball \
                     meets the floor a little early, so that its energy is not kept exactly, as the last column tells; the bounces of the same ball on parabolas \
                     stand beside.";
    found
}

fn parabolas() -> Findings {
    let mut found = Findings::default();
    let (a, f) = (10.9e-3, 52.6);
    let form = Waveform::Parabolic;
    let motion =
        Motion { parts: vec![MotionPart::Oscillate { amplitude: a * Vec3::Z, frequency: f, phase: 0.0, form }] };
    let (z, v) = (|t: f64| motion.pose(t).position.z, |t: f64| motion.twist(t).velocity.z);
    let period = 1.0 / f;
    found.absolute("z(T/4) over A", z(0.25 * period) / a, 1.0, 1e-12);
    found.absolute("z(T/2) over A", z(0.5 * period) / a, 0.0, 1e-12);
    found.absolute("z(3T/4) over A", z(0.75 * period) / a, -1.0, 1e-12);
    found.absolute("z(T) over A", z(period) / a, 0.0, 1e-12);
    let n = 10_000;
    let at = |k: i32| period * f64::from(k) / f64::from(n);
    let peak = (0..=n).map(|k| v(at(k)).abs()).fold(0.0, f64::max);
    found.relative("largest speed [m/s]", peak, 8.0 * a * f, 1e-12);
    // Between two of the times a speed without jumps changes by 32 A f² T/n, at the joints as elsewhere.
    let jump = (1..=2 * n).map(|k| (v(at(k)) - v(at(k - 1))).abs()).fold(0.0, f64::max);
    found.relative("largest change of speed in T/10000 [m/s]", jump, 32.0 * a * f * f * period / f64::from(n), 1e-8);
    // The closed form (3.19) with local time in the second half.
    let closed = |t: f64| {
        let (s, sign) = if t < 0.5 * period { (t, 1.0) } else { (t - 0.5 * period, -1.0) };
        sign * (8.0 * a * f * s - 16.0 * a * f * f * s * s)
    };
    let off = (0..n).map(|k| (z(at(k)) - closed(at(k))).abs()).fold(0.0, f64::max) / a;
    found.at_most("place off from eq. (3.19), largest over a cycle, over A", off, 1e-12);
    found
}

fn moving_wall() -> Findings {
    let mut found = Findings::default();
    let mut random = Stream::new(2, Purpose::Noise, 0);
    let radius = 3.2e-3;
    let mass = ball_mass(radius, 7850.0);
    let [mut gain, mut work, mut lost, mut speed] = [0.0_f64; 4];
    let cases = 200;
    for k in 0..cases {
        let restitution = if k < 20 { 0.05 * f64::from(k) } else { random.uniform() };
        // Wall and ball both up or down, the ball above and slower.
        let u = random.between(-5.0, 5.0);
        let v = u - random.between(0.1, 10.0);
        let mut run = changed(
            &format!(
                "[solver]\nkind = \"event\"\nstep = 1e-3\ncollapse = {{ by = \"refuse\" }}\n[material.ball]\ndensity = 7850\n[material.floor]\n\
                 [contact.default]\ncollision = {{ restitution = {restitution} }}\n\
                 [[wall]]\nname = \"floor\"\nmaterial = \"floor\"\nplane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n\
                 motion = {{ translate = [0, 0, {u:e}] }}\n{}",
                grain("ball", radius, Vec3::Z * (radius + 1e-3), Vec3::new(0.3, 0.0, v), Vec3::ZERO)
            ),
            1,
            |_, _| {},
        );
        let before = kinetic(&run.state);
        go(&mut run, 1000);
        let state = &run.state;
        let c = (1.0 + restitution) * mass * u * (u - v);
        let e = 0.5 * mass * (1.0 - restitution * restitution) * (u - v) * (u - v);
        let scale = 0.5 * mass * (u - v).powi(2) + before;
        assert_eq!(Account::of(state).count(), 1.0, "one meeting");
        gain = gain.max((kinetic(state) - before - (c - e)).abs() / scale);
        work = work.max((state.walls[0].work - c).abs() / scale);
        lost = lost.max((state.ledger.dissipated.total() - e).abs() / scale);
        speed = speed.max((state.particles.velocity(0).z - (u + restitution * (u - v))).abs() / (u - v));
    }
    found.at_most(format!("velocity off, largest of {cases} collisions, over that of approach"), speed, 1e-12);
    found.at_most("work of the wall off from (1+ε) m u (u−v), over the energy", work, 1e-12);
    found.at_most("loss off from ½ m (1−ε²)(u−v)², over the energy", lost, 1e-12);
    found.at_most("gain of energy off from work less loss, over the energy", gain, 1e-12);
    found
}
