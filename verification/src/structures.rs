//! Elastic structures while links come and go: the recursive inverse beside sparse factors, its wear and its bits; bodies that float.

use crate::{Case, Effort, Evidence, Findings, silo_frames};
use esker::math::{Mat3, Vec3};
use esker::rng::{Purpose, Stream};
use esker::structure::cholesky::Cholesky;
use esker::structure::free::{self, BodyMotion, Mass};
use esker::structure::gradients::{Gradients, Preconditioner};
use esker::structure::rima::Rima;
use esker::structure::{Action, Frame, Freedom, GROUND, Link, Structure};
use esker_io::chart::{Axis, Chart, Curve};

pub const CASES: &[Case] = &[
    Case {
        id: "GD-03",
        source: "Gavrilov 1999, eqs (4.19)–(4.28)",
        title: "the recursive inverse, link by link, beside the inverse by sparse factors",
        evidence: Evidence::Property,
        effort: Effort::Quick,
        run: recursive_inverse,
    },
    Case {
        id: "GD-04",
        source: "Gavrilov 1999, section 4.5.1",
        title: "ten thousand links come and go: wear of an inverse that is watched",
        evidence: Evidence::Property,
        effort: Effort::Quick,
        run: wear,
    },
    Case {
        id: "G-32",
        source: "Gavrilov 1999, Fig. 5.33",
        title: "a bridge that closes: reactions, and what the change costs gradients and inverse",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: bridge,
    },
    Case {
        id: "G-33",
        source: "Gavrilov 1999, Fig. 5.37",
        title: "a floating body held at any node with any stiffness, and the Euler part of its inertia",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: floating,
    },
    Case {
        id: "G-34",
        source: "Gavrilov 1999, Fig. 5.38",
        title: "how soft a floating body is at one of its points",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: softness,
    },
];

/// All kinds of nodes, and how many links hold a new one at least.
const KINDS: [(Freedom, u32, &str); 4] = [
    (Freedom::Planar, 1, "planar"),
    (Freedom::PlanarTurning, 2, "planar, turning"),
    (Freedom::Spatial, 1, "in space"),
    (Freedom::SpatialTurning, 3, "in space, turning"),
];

fn is_planar(freedom: Freedom) -> bool {
    matches!(freedom, Freedom::Planar | Freedom::PlanarTurning)
}

/// Numbers between −1 and 1.
fn numbers(key: u64) -> impl FnMut() -> f64 {
    let mut stream = Stream::new(11, Purpose::Noise, key);
    move || 2.0 * stream.uniform() - 1.0
}

/// A link in any direction with any stiffness.
fn any_link(freedom: Freedom, ends: [u32; 2], random: &mut impl FnMut() -> f64) -> Link {
    let z = if is_planar(freedom) { 0.0 } else { random() };
    Link {
        ends,
        normal: Vec3::new(random(), random(), z).normalize(),
        levers: [1.0 + 0.3 * random(), 1.0 + 0.3 * random()],
        stiffness: [2.0 + random(), 1.0 + 0.5 * random()],
    }
}

/// Nodes that hang on the ground or on any earlier ones, by so many links each.
fn grown(freedom: Freedom, nodes: u32, links: u32, random: &mut impl FnMut() -> f64) -> Structure<Rima> {
    let mut structure = Structure::new(freedom, Rima::new());
    for node in 0..nodes {
        let earlier = |random: &mut dyn FnMut() -> f64| match node {
            0 => GROUND,
            _ => ((random().abs() * f64::from(node)) as u32).min(node - 1),
        };
        let other = |l: u32, random: &mut dyn FnMut() -> f64| if node % 4 == l { GROUND } else { earlier(random) };
        let hold = (0..links).map(|l| [node, other(l, random)]).collect::<Vec<_>>();
        let hold: Vec<Link> = hold.into_iter().map(|ends| any_link(freedom, ends, random)).collect();
        structure.attach(&hold).expect("its links hold it");
    }
    structure
}

/// Largest entry of K Z − 1, and of Z − Z by factors over the largest of it.
fn off(structure: &Structure<Rima>) -> [f64; 2] {
    let (k, n) = (structure.frame.matrix(), structure.frame.size());
    let direct = Rima::of(&structure.frame, 0.0).expect("nothing is loose");
    let (mut one, mut z, mut largest) = (0.0f64, 0.0f64, 0.0f64);
    for r in 0..n {
        for c in 0..n {
            let sum: f64 = (0..n).map(|i| k[r * n + i] * structure.backend.entry(i, c)).sum();
            one = one.max((sum - f64::from(u8::from(r == c))).abs());
            z = z.max((structure.backend.entry(r, c) - direct.entry(r, c)).abs());
            largest = largest.max(direct.entry(r, c).abs());
        }
    }
    [one, z / largest]
}

fn recursive_inverse() -> Findings {
    let mut found = Findings::default();
    let mut twin = 0.0f64;
    for (freedom, links, name) in KINDS {
        let mut random = numbers(1);
        let mut structure = grown(freedom, 20, links, &mut random);
        let mut look = |structure: &Structure<Rima>, what: &str| {
            let [one, z] = off(structure);
            twin = twin.max(z);
            found.at_most(format!("{name}: K Z - 1 {what}"), one, 1e-12);
        };
        look(&structure, "of nodes on few links (cases 0, 1)");
        let first = structure.connect(&[any_link(freedom, [5, GROUND], &mut random)]).expect("nothing is loose");
        look(&structure, "with a link to the ground (2)");
        let between = [[3, 9], [11, 2], [17, 6]].map(|ends| any_link(freedom, ends, &mut random));
        let second = structure.connect(&between).expect("nothing is loose");
        look(&structure, "with links between nodes (3)");
        structure.disconnect(&first).expect("the others hold");
        structure.disconnect(&second[1..]).expect("the others hold");
        look(&structure, "after removals");
        let before = structure.backend.clone();
        let leaf: Vec<Link> = (0..links).map(|l| any_link(freedom, [20, 4 + l], &mut random)).collect();
        structure.attach(&leaf).expect("its links hold it");
        structure.drop_node(20).expect("nothing hangs on it");
        let n = structure.frame.size();
        let apart = |e: usize| (before.entry(e / n, e % n) - structure.backend.entry(e / n, e % n)).abs();
        let largest = (0..n * n).map(|e| before.entry(e / n, e % n).abs()).fold(0.0, f64::max);
        let exact = leaf.iter().map(|link| link.springs(freedom).count()).sum::<usize>() == freedom.size();
        let what = format!("{name}: change of Z by a leaf that came and went, over its largest entry");
        found.at_most(what, (0..n * n).map(apart).fold(0.0, f64::max) / largest, if exact { 0.0 } else { 1e-12 });
    }
    found.at_most("all: Z off from that by factors, over the largest entry", twin, 1e-12);
    found.reading = "stiffnesses of 0.5 to 3 N/m, 20 nodes. A leaf held by as many springs as it has degrees of freedom goes without a \
                     trace; one that is held by more (turning nodes in the plane: four springs for three) leaves rounding behind";
    found
}

fn wear() -> Findings {
    let mut found = Findings::default();
    let mut random = numbers(2);
    let mut structure = grown(Freedom::Planar, 12, 3, &mut random);
    let (mut worst, mut rebuilt, mut drifts) = (0.0f64, 0, Vec::new());
    for cycle in 0..10_000u64 {
        let mut pick = |n: f64| (random().abs() * n) as u32 % n as u32;
        let ends = [pick(12.0), pick(13.0)];
        let ends = [ends[0], if ends[1] == 12 || ends[1] == ends[0] { GROUND } else { ends[1] }];
        let mut link = any_link(Freedom::Planar, ends, &mut random);
        link.stiffness = link.stiffness.map(|k| 3e3 * k);
        let numbers = structure.connect(&[link]).expect("nothing is loose");
        structure.disconnect(&numbers).expect("the others hold");
        let drift = structure.drift(cycle);
        worst = worst.max(drift);
        if cycle < 400 {
            drifts.push([cycle as f64, drift]);
        }
        if drift > 1e-9 {
            structure.rebuild().expect("nothing is loose");
            rebuilt += 1;
        }
    }
    found.at_most("largest drift in 10 000 cycles", worst, 1e-8);
    found.at_least("times the inverse was made anew", f64::from(rebuilt), 1.0);
    found.at_most("K Z - 1 at the end", off(&structure)[0], 1e-8);
    found.charts.push(Chart {
        title: "Drift of an inverse made anew above 1e-9".into(),
        axes: ["links that came and went".into(), Axis::logarithmic("|K Z x - x| / |x|")],
        curves: vec![Curve { name: String::new(), points: drifts }],
    });
    found.reading = "the links that come and go are 3000 times as stiff as the others, as a contact pressed home among soft ones; each \
                     removal amplifies what rounding the inverse has";
    found
}

/// Discs in two rows, held at the left end alone: lower ones first.
fn open_bridge(length: u32) -> Frame {
    let beam = |a: u32, b: u32, normal: Vec3| Link { ends: [a, b], normal, levers: [0.0; 2], stiffness: [1e6, 1e5] };
    let mut links = Vec::new();
    for k in 0..length {
        for row in [0, length] {
            links.push(beam(row + k, if k == 0 { GROUND } else { row + k - 1 }, -Vec3::X));
        }
        links.push(beam(length + k, k, -Vec3::Y));
    }
    Frame { freedom: Freedom::Planar, nodes: 2 * length as usize, links: links.into_iter().map(Some).collect() }
}

/// What both ends of a bridge carry \[N\].
fn reactions(frame: &Frame, u: &[f64]) -> [f64; 2] {
    let forces = free::forces(frame, u);
    let at = |side: f64| -> f64 {
        let ground = |link: &Option<Link>| link.is_some_and(|l| l.ends[1] == GROUND && l.normal.x * side > 0.0);
        let held = frame.links.iter().zip(&forces).filter(|(link, _)| ground(link));
        -held.map(|(_, force)| force.y).sum::<f64>()
    };
    [at(-1.0), at(1.0)]
}

/// Iterations of gradients when a bridge of so many discs closes, beginning with the solution of the open one.
fn iterations_of_closing(discs: u32, tolerance: f64) -> f64 {
    let mut frame = open_bridge(discs / 2);
    let weights: Vec<f64> = [0.0, -1.0].repeat(frame.nodes);
    let mut gradients = Gradients::new(Preconditioner::Diagonal, tolerance);
    let mut u = vec![0.0; weights.len()];
    silo_frames::warm(&mut gradients, &frame, &weights, &mut u, tolerance);
    frame.links.extend(far_end(discs / 2).map(Some));
    silo_frames::warm(&mut gradients, &frame, &weights, &mut u, tolerance) as f64
}

/// Links that hold the right end of a bridge.
fn far_end(length: u32) -> [Link; 2] {
    [length - 1, 2 * length - 1].map(|node| Link {
        ends: [node, GROUND],
        normal: Vec3::X,
        levers: [0.0; 2],
        stiffness: [1e6, 1e5],
    })
}

fn bridge() -> Findings {
    let mut found = Findings::default();
    let frame = open_bridge(250);
    let weights: Vec<f64> = [0.0, -1.0].repeat(frame.nodes);
    let total = frame.nodes as f64;
    let mut rima = Structure::of(frame, Rima::new()).expect("one end is held");
    let mut u = vec![0.0; weights.len()];
    let open = rima.solve(&weights, &mut u, 1e-12).iterations;
    let [left, right] = reactions(&rima.frame, &u);
    found.relative("open: what the left end carries, over the weight", left / total, 1.0, 1e-9);
    found.absolute("open: what the right end carries, over the weight", right / total, 0.0, 0.0);
    rima.connect(&far_end(250)).expect("nothing is loose");
    u.fill(0.0);
    let closed = rima.solve(&weights, &mut u, 1e-12).iterations;
    let [left, right] = reactions(&rima.frame, &u);
    found.relative("closed: what the left end carries, over the weight", left / total, 0.5, 1e-9);
    found.relative("closed: what the right end carries, over the weight", right / total, 0.5, 1e-9);
    found.absolute("inverse: rounds of a solution, closed less open", closed as f64 - open as f64, 0.0, 0.0);
    let [few, many] = [500, 1000].map(|n| iterations_of_closing(n, 1e-9));
    let silo = silo_frames::iterations_per_disc(1000, 10, 1e-9);
    let what = format!(
        "gradients: iterations when 1000 discs close ({many}) over one disc more in a silo of 1000 ({silo:.0})"
    );
    found.at_least(what, many / silo, 2.0);
    found.at_least("gradients: iterations when 1000 discs close over 500", many / few, 1.3);
    found.reading = "two rows of discs that do not turn, tied by three links a pair, carry their weight by shear. Gradients begin with \
                     the solution before the change and end at 1e-9 of the load, in the silo of G-31 as well; there twice as many discs \
                     need 1.1 times as many iterations";
    found
}

/// Discs or balls that touch in a triangle and on it.
fn body(freedom: Freedom) -> (Vec<Mass>, Vec<Link>) {
    let places =
        [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [1.0, 1.7, 0.0], [3.0, 1.7, 0.0], [1.0, 0.6, 1.6]].map(Vec3::from_array);
    let nodes = if is_planar(freedom) { 4 } else { 5 };
    let inertia = if freedom.turns() { 0.4 } else { 0.0 };
    let mass = |(i, &place): (usize, &Vec3)| Mass { place, mass: 1.0 + 0.2 * i as f64, inertia };
    let masses = places[..nodes].iter().enumerate().map(mass).collect();
    let pairs = [[0u32, 1], [0, 2], [1, 2], [1, 3], [2, 3], [0, 4], [1, 4], [2, 4], [3, 4]];
    let link = |ends: [u32; 2]| {
        let d = places[ends[1] as usize] - places[ends[0] as usize];
        Link { ends, normal: d.normalize(), levers: [0.5 * d.length(); 2], stiffness: [100.0, 30.0] }
    };
    (masses, pairs.into_iter().filter(|p| p[1] < nodes as u32).map(link).collect())
}

/// Forces in the links of a body under loads, and in those that hold a node of it \[N\].
fn held(freedom: Freedom, links: &[Link], f: &[f64], node: u32, stiffness: f64) -> [Vec<Vec3>; 2] {
    let mut frame =
        Frame { freedom, nodes: f.len() / freedom.size(), links: links.iter().copied().map(Some).collect() };
    frame.links.extend(free::ground(freedom, node, stiffness, 1.0).into_iter().map(Some));
    let mut structure = Structure::of(frame, Cholesky::new()).expect("a node is held");
    let mut u = vec![0.0; f.len()];
    structure.solve(f, &mut u, 1e-14);
    let mut inner = free::forces(&structure.frame, &u);
    let ground = inner.split_off(links.len());
    [inner, ground]
}

fn longest(forces: impl IntoIterator<Item = Vec3>) -> f64 {
    forces.into_iter().map(|f| f.length()).fold(0.0, f64::max)
}

fn floating() -> Findings {
    let mut found = Findings::default();
    for (freedom, _, name) in KINDS {
        let (masses, links) = body(freedom);
        let mut f = vec![0.0; masses.len() * freedom.size()];
        let load = Vec3::new(1.0, 2.0, 0.0);
        freedom.load(&mut f, 3, &Action { force: load, couple: Vec3::Z * 0.3 });
        let spin = if is_planar(freedom) { Vec3::Z * 0.7 } else { Vec3::new(0.1, 0.4, 0.7) };
        let motion = free::motion(freedom, &masses, &f, spin);
        free::add_inertia(freedom, &masses, &motion, &mut f);
        let [first, mut ground] = held(freedom, &links, &f, 0, 100.0);
        let mut apart = 0.0f64;
        for (node, stiffness) in [(0, 1.0), (0, 1e8), (2, 100.0), (2, 1.0), (3, 1e4), (3, 1e8)] {
            let [other, held] = held(freedom, &links, &f, node, stiffness);
            ground.extend(held);
            apart = apart.max(longest(first.iter().zip(&other).map(|(a, b)| *a - *b)));
        }
        found.at_most(format!("{name}: what holds it carries, over the load"), longest(ground) / load.length(), 1e-10);
        let what = format!("{name}: forces differ with node and stiffness of it, over the load");
        found.at_most(what, apart / load.length(), 1e-10);
    }
    // Three discs in a row, pushed at the right one and back at the middle one: α = F/(2 m a), and half the force is handed through.
    let freedom = Freedom::Planar;
    let masses: Vec<Mass> =
        (0..3).map(|k| Mass { place: Vec3::X * (f64::from(k) - 1.0), mass: 2.0, inertia: 0.0 }).collect();
    let row = |k: u32| Link { ends: [k, k + 1], normal: Vec3::X, levers: [0.5; 2], stiffness: [100.0, 30.0] };
    let links = [row(0), row(1)];
    let mut f = vec![0.0; 6];
    freedom.load(&mut f, 2, &Action { force: Vec3::Y, couple: Vec3::ZERO });
    freedom.load(&mut f, 1, &Action { force: -Vec3::Y, couple: Vec3::ZERO });
    let motion = free::motion(freedom, &masses, &f, Vec3::ZERO);
    for (name, motion, expected) in [
        ("with the Euler part", motion, [0.5, 0.5]),
        ("without it, which is wrong", BodyMotion { spin_up: Vec3::ZERO, ..motion }, [0.0, 1.0]),
    ] {
        let mut f = f.clone();
        free::add_inertia(freedom, &masses, &motion, &mut f);
        let [inner, ground] = held(freedom, &links, &f, 0, 100.0);
        found.at_most(format!("row of three, {name}: what holds it carries"), longest(ground), 1e-10);
        for (link, expected) in inner.iter().zip(expected) {
            found.absolute(format!("row of three, {name}: shear in a link"), link.length(), expected, 1e-10);
        }
    }
    found.reading = "stiffness of what holds a node from 1e-2 to 1e6 of that of the links, three nodes, pulled at and spinning. The row \
                     spins up: what holds it says nothing of the Euler part, the forces inside do";
    found
}

/// Displacement of node `at` against the centre of mass by a unit force on node `by`, which accelerates the body.
fn answer(freedom: Freedom, masses: &[Mass], links: &[Link], by: u32, at: u32, axis: Vec3) -> Vec3 {
    let mut f = vec![0.0; masses.len() * freedom.size()];
    freedom.load(&mut f, by, &Action { force: axis, couple: Vec3::ZERO });
    let motion = free::motion(freedom, masses, &f, Vec3::ZERO);
    free::add_inertia(freedom, masses, &motion, &mut f);
    let mut frame = Frame { freedom, nodes: masses.len(), links: links.iter().copied().map(Some).collect() };
    frame.links.extend(free::ground(freedom, 0, 10.0, 1.0).into_iter().map(Some));
    let mut structure = Structure::of(frame, Rima::new()).expect("a node is held");
    let mut u = vec![0.0; f.len()];
    structure.solve(&f, &mut u, 1e-14);
    let shift = |n: usize| freedom.shift(&u, n as u32).by;
    let total: f64 = masses.iter().map(|m| m.mass).sum();
    let (mean, centre) =
        (masses.iter().enumerate().map(|(n, m)| m.mass * shift(n)).sum::<Vec3>() / total, free::centre(masses));
    // Rotation as a whole, by the moment of momentum.
    let (mut moment, mut inertia) = (0.0, 0.0);
    for (n, m) in masses.iter().enumerate() {
        let y = m.place - centre;
        moment += m.mass * y.cross(shift(n) - mean).z + m.inertia * freedom.shift(&u, n as u32).turn.z;
        inertia += m.mass * y.length_squared() + m.inertia;
    }
    shift(at as usize) - mean - (Vec3::Z * (moment / inertia)).cross(masses[at as usize].place - centre)
}

fn softness() -> Findings {
    let mut found = Findings::default();
    // Two masses a and b on a spring: a unit force on a stretches it by the part that b needs, (m_b/m)/k, of which a moves m_b/m.
    let compliance = |freedom: Freedom, masses: &[Mass], links: &[Link], node: u32| -> Mat3 {
        let mut frame = Frame { freedom, nodes: masses.len(), links: links.iter().copied().map(Some).collect() };
        frame.links.extend(free::ground(freedom, 1, 10.0, 1.0).into_iter().map(Some));
        let mut structure = Structure::of(frame, Rima::new()).expect("a node is held");
        free::compliance(freedom, masses, node, |f, u| {
            structure.solve(f, u, 1e-14);
        })
    };
    let mass = |place: Vec3, mass: f64| Mass { place, mass, inertia: 0.0 };
    let pair = [mass(Vec3::ZERO, 1.0), mass(Vec3::X, 3.0)];
    let link = Link { ends: [0, 1], normal: Vec3::X, levers: [0.5; 2], stiffness: [50.0, 20.0] };
    let own = [0, 1].map(|node| compliance(Freedom::Planar, &pair, &[link], node).x_axis.x);
    found.relative("pair, at the light one along the spring [m/N]", own[0], 0.75 * 0.75 / 50.0, 1e-12);
    found.relative("pair, at the heavy one along the spring [m/N]", own[1], 0.25 * 0.25 / 50.0, 1e-12);
    // Two such pairs touch: the parts in series.
    let series = 1.0 / (1.0 / (own[0] + 1.0 / 80.0 + own[1]));
    found.relative(
        "two pairs in touch, springs in series [N/m]",
        1.0 / series,
        1.0 / (0.01125 + 0.0125 + 0.00125),
        1e-12,
    );
    for (freedom, name) in [(Freedom::Planar, "planar"), (Freedom::PlanarTurning, "planar, turning")] {
        let (masses, links) = body(freedom);
        let (mut skew, mut least, mut mutual) = (0.0f64, f64::INFINITY, 0.0f64);
        for node in 0..4 {
            let c = compliance(freedom, &masses, &links, node);
            let (a, b, d) = (c.x_axis.x, 0.5 * (c.x_axis.y + c.y_axis.x), c.y_axis.y);
            skew = skew.max((c.x_axis.y - c.y_axis.x).abs() / (a + d));
            let root = (0.25 * (a - d).powi(2) + b * b).sqrt();
            least = least.min((0.5 * (a + d) - root) * 100.0);
            for other in 0..4 {
                for (p, q) in [(Vec3::X, Vec3::X), (Vec3::X, Vec3::Y), (Vec3::Y, Vec3::Y)] {
                    let there = answer(freedom, &masses, &links, node, other, p).dot(q);
                    let back = answer(freedom, &masses, &links, other, node, q).dot(p);
                    mutual = mutual.max((there - back).abs() * 100.0);
                }
            }
        }
        found.at_most(format!("{name}, four discs: skew part over the trace, largest of all nodes"), skew, 1e-12);
        found.at_least(format!("{name}, four discs: least eigenvalue, over that of one spring"), least, 1e-3);
        found.at_most(format!("{name}, four discs: answers there and back differ by, in springs"), mutual, 1e-12);
    }
    found
}
