//! A silo as an elastic structure without slides: what the recursive inverse and conjugate gradients cost, and the bits of the inverse
//! for any number of workers.

use crate::bench::simulation;
use crate::bulk::exponent;
use crate::{Case, Effort, Evidence, Findings, Table};
use esker::math::Vec3;
use esker::particles::Place;
use esker::structure::gradients::{Gradients, Preconditioner};
use esker::structure::rima::Rima;
use esker::structure::{Backend, Frame, Freedom, GROUND, Link, Structure};
use esker_io::chart::{Axis, Chart, Curve};
use std::f64::consts::PI;
use std::hint::black_box;
use std::sync::OnceLock;
use std::time::Instant;

pub const CASES: &[Case] = &[
    Case {
        id: "G-24",
        source: "Gavrilov 1999, Fig. 4.18",
        title: "the inverse of a silo of 1000 discs by 1 to 16 workers, links one by one and many at once",
        evidence: Evidence::Property,
        effort: Effort::Timed,
        run: workers,
    },
    Case {
        id: "G-29",
        source: "Gavrilov 1999, Fig. 5.34",
        title: "forces in a silo: time by the inverse and by gradients over the number of discs",
        evidence: Evidence::Trend,
        effort: Effort::Timed,
        run: solutions,
    },
    Case {
        id: "G-30",
        source: "Gavrilov 1999, Fig. 5.35",
        title: "time to bring a link into the inverse over the number of discs",
        evidence: Evidence::Trend,
        effort: Effort::Timed,
        run: upkeep,
    },
    Case {
        id: "G-31",
        source: "Gavrilov 1999, Fig. 5.36",
        title: "iterations of gradients when a disc is laid on a silo, over the number of discs",
        evidence: Evidence::Trend,
        effort: Effort::Quick,
        run: iterations,
    },
];

/// Half the width of the silo of G-14 \[m\].
const HALF: f64 = 0.15;

/// Most discs that are looked at.
const MOST: usize = 4000;

/// Weight of a disc \[N\], and its links to earlier ones and to the walls.
type Disc = (f64, Vec<Link>);

/// Discs let down into a silo as wide as that of G-14 one after another: as many of the first ones as wanted are a silo, too.
fn discs() -> &'static [Disc] {
    static DISCS: OnceLock<Vec<Disc>> = OnceLock::new();
    DISCS.get_or_init(|| {
        let wall = |point: &str, normal: &str| {
            format!("[[wall]]\nname = \"{normal}\"\nmaterial = \"m\"\nplane = {{ point = {point}, normal = {normal} }}\n")
        };
        let run = simulation(
            &format!(
                "planar = true\ngravity = [0, -9.8]\nseed = 1\n[solver]\nstep = 1e-5\n[material.m]\ndensity = 1190\n\
                 [contact.default]\nnormal = {{ law = \"hooke\", stiffness = 1e6 }}\n{}{}{}\
                 [[grains]]\nname = \"discs\"\nmaterial = \"m\"\n\
                 radius = {{ normal = \"10 mm\", spread = \"5 %\", min = \"8 mm\", max = \"12 mm\" }}\n\
                 fill = {{ method = \"drop-and-roll\", count = {MOST}, region = {{ box = {{ min = [-{HALF}, 0], max = [{HALF}, 8] }} }} }}\n",
                wall("[0, 0]", "[0, 1]"),
                wall(&format!("[-{HALF}, 0]"), "[1, 0]"),
                wall(&format!("[{HALF}, 0]"), "[-1, 0]"),
            ),
            1,
        );
        let places = &run.state.particles.place;
        let weight = |disc: usize| 9.8 * 1190.0 * PI * places[disc].radius * places[disc].radius;
        (0..MOST).map(|disc| (weight(disc), links_of(places, disc))).collect()
    })
}

/// Links of a disc to earlier ones and to the walls, as stiff as those of G-14.
fn links_of(discs: &[Place], disc: usize) -> Vec<Link> {
    let Place { position, radius } = discs[disc];
    let mut links = Vec::new();
    for (other, place) in discs[..disc].iter().enumerate() {
        let apart = place.position - position;
        if apart.length() - radius - place.radius < 1e-6 * radius {
            let (ends, levers) = ([disc as u32, other as u32], [radius, place.radius]);
            links.push(Link { ends, normal: apart.normalize(), levers, stiffness: [1e6, 1e5] });
        }
    }
    let gaps = [(position.y, -Vec3::Y), (HALF - position.x, Vec3::X), (HALF + position.x, -Vec3::X)];
    for (_, normal) in gaps.into_iter().filter(|(gap, _)| gap - radius < 1e-6 * radius) {
        links.push(Link { ends: [disc as u32, GROUND], normal, levers: [radius, 0.0], stiffness: [1.5e6, 1.5e5] });
    }
    links
}

/// The first so many discs as a structure of nodes that do not turn, and their weights.
fn silo(discs: &[Disc], n: usize) -> (Frame, Vec<f64>) {
    let links = discs[..n].iter().flat_map(|disc| disc.1.iter().copied().map(Some)).collect();
    let loads = discs[..n].iter().flat_map(|disc| [0.0, -disc.0]).collect();
    (Frame { freedom: Freedom::Planar, nodes: n, links }, loads)
}

/// Solves from a solution that is nearly right, until what is left is less than a part of the load; returns the iterations.
pub(crate) fn warm(gradients: &mut Gradients, frame: &Frame, load: &[f64], u: &mut [f64], tolerance: f64) -> usize {
    let size = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let rest: Vec<f64> = load.iter().zip(frame.times(u)).map(|(f, held)| f - held).collect();
    gradients.tolerance = tolerance * size(load) / size(&rest);
    gradients.reset(frame).expect("gradients take any frame");
    gradients.respond(frame, &rest, u).iterations
}

/// Iterations for one disc more, beginning with the solution before, on average over some discs that make a silo of `n`.
pub(crate) fn iterations_per_disc(n: usize, over: usize, tolerance: f64) -> f64 {
    let discs = discs();
    let mut gradients = Gradients::new(Preconditioner::Diagonal, tolerance);
    let (frame, load) = silo(discs, n - over);
    let mut u = vec![0.0; load.len()];
    warm(&mut gradients, &frame, &load, &mut u, tolerance);
    let mut sum = 0;
    for k in n - over + 1..=n {
        let (frame, load) = silo(discs, k);
        u.resize(load.len(), 0.0);
        sum += warm(&mut gradients, &frame, &load, &mut u, tolerance);
    }
    sum as f64 / over as f64
}

fn iterations() -> Findings {
    let mut found = Findings::default();
    let mut curves = Vec::new();
    for (tolerance, name) in [(1e-6, "1e-6"), (1e-9, "1e-9")] {
        let points: Vec<[f64; 2]> =
            [60, 120, 250, 500, 700, 1000].map(|n| [n as f64, iterations_per_disc(n, 20, tolerance)]).to_vec();
        let at = |n: f64| points.iter().find(|p| p[0] == n).map_or(f64::NAN, |p| p[1]);
        found.at_most(
            format!("iterations for 1000 ({:.0}) over those for 500, to {name} of the load", at(1000.0)),
            at(1000.0) / at(500.0),
            1.3,
        );
        curves.push(Curve { name: format!("to {name} of the load"), points });
    }
    let axes = ["discs".into(), "iterations for one disc more".into()];
    found.charts.push(Chart { title: "Iterations of gradients".into(), axes, curves });
    found.reading = "Jacobi's preconditioner, begun with the solution before the disc came; mean of 20 discs. Discs are laid by \
                     drop-and-roll, nodes do not turn, nothing slides";
    found
}

/// Shortest time of some tries \[s\]. Between them `restore` puts things right, and caches are filled with something else: what
/// fits into which of them differs with the size, and on a shared machine with the hour.
fn shortest<T>(tries: usize, of: &mut T, mut work: impl FnMut(&mut T), mut restore: impl FnMut(&mut T)) -> f64 {
    static OTHER: OnceLock<Vec<u64>> = OnceLock::new();
    let other = OTHER.get_or_init(|| (0..CACHES as u64 / 8).collect());
    let mut best = f64::INFINITY;
    for _ in 0..tries {
        black_box(other.iter().fold(0, |sum, x| sum ^ x));
        let begin = Instant::now();
        work(of);
        best = best.min(begin.elapsed().as_secs_f64());
        restore(of);
    }
    best
}

/// Memory that fills the caches of most machines \[B\].
const CACHES: usize = 256 << 20;

/// Time of a solution by gradients from one that is nearly right \[s\], by the times of two iterations and of twelve; and the solution.
fn time_of_gradients(
    gradients: &mut Gradients,
    frame: &Frame,
    load: &[f64],
    start: &[f64],
    tolerance: f64,
) -> (f64, Vec<f64>) {
    let mut u = start.to_vec();
    let iterations = warm(gradients, frame, load, &mut u, tolerance) as f64;
    let mut v = start.to_vec();
    let most = gradients.most;
    let [two, twelve] = [2, 12].map(|most| {
        gradients.most = most;
        let work = |v: &mut Vec<f64>| _ = warm(gradients, frame, black_box(load), v, tolerance);
        shortest(40, &mut v, work, |v| v.copy_from_slice(start))
    });
    gradients.most = most;
    (two + (iterations - 2.0) * (twelve - two) / 10.0, u)
}

/// Runs on one worker alone.
fn alone<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    pool(1).install(work)
}

fn pool(workers: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(workers).build().expect("workers")
}

const SIZES: [usize; 7] = [60, 125, 250, 350, 500, 700, 1000];

fn solutions() -> Findings {
    let mut found = Findings::default();
    let tolerance = 1e-11;
    let (mut inverse, mut iterative, mut apart) = (Vec::new(), Vec::new(), 0.0f64);
    for n in SIZES.into_iter().chain([1400, 2000, 2800, MOST]) {
        let (before, load) = silo(discs(), n - 1);
        let mut gradients = Gradients::new(Preconditioner::Diagonal, tolerance);
        let mut start = vec![0.0; load.len()];
        warm(&mut gradients, &before, &load, &mut start, tolerance);
        let (frame, load) = silo(discs(), n);
        start.resize(load.len(), 0.0);
        let (times, off) = alone(|| {
            let mut rima = Rima::new();
            rima.reset(&frame).expect("discs that rest are held");
            let mut u = vec![0.0; load.len()];
            let by_inverse = shortest(40, &mut u, |u| _ = rima.respond(&frame, black_box(&load), u), |_| {});
            u.fill(0.0);
            rima.respond(&frame, &load, &mut u);
            let (by_gradients, v) = time_of_gradients(&mut gradients, &frame, &load, &start, tolerance);
            let largest = u.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            let off = u.iter().zip(&v).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs())) / largest;
            ([by_inverse, by_gradients], off)
        });
        inverse.push([n as f64, 1e6 * times[0] / n as f64]);
        iterative.push([n as f64, 1e6 * times[1] / n as f64]);
        apart = apart.max(off);
    }
    let total = |points: &[[f64; 2]]| -> Vec<[f64; 2]> {
        points.iter().filter(|p| p[0] >= 1000.0).map(|p| [p[0], p[0] * p[1]]).collect()
    };
    found.absolute(
        "exponent of the time by the inverse, 1000 to 4000 discs",
        exponent(&total(&inverse)).slope,
        2.0,
        0.2,
    );
    found.at_most("both apart, over the largest displacement", apart, 1e-8);
    let pairs = inverse.iter().zip(&iterative).filter(|(i, _)| i[0] >= 1000.0);
    let ratio = exponent(&pairs.map(|(i, g)| [i[0], i[1] / g[1]]).collect::<Vec<_>>());
    let cross = (-ratio.offset / ratio.slope).exp();
    found.at_least("discs from which gradients are faster", cross, 1e2);
    let slope = exponent(&total(&iterative)).slope;
    found.tables.push(Table {
        title: format!(
            "time of a solution per disc [µs], one worker; by gradients it grows in all as n to the {slope:.2}"
        ),
        header: ["discs", "inverse", "gradients"].map(Into::into).to_vec(),
        rows: inverse
            .iter()
            .zip(&iterative)
            .map(|(i, g)| vec![format!("{}", i[0]), format!("{:.2}", i[1]), format!("{:.2}", g[1])])
            .collect(),
    });
    found.charts.push(Chart {
        title: "Time of a solution".into(),
        axes: [Axis::logarithmic("discs"), Axis::logarithmic("time per disc [µs]")],
        curves: vec![
            Curve { name: "inverse".into(), points: inverse },
            Curve { name: "gradients".into(), points: iterative },
        ],
    });
    found.reading = "shortest of 40 tries on one worker, nothing in the caches. Gradients begin with the solution of one disc less and end at 1e-11 of the \
                     load, where \
                     they win is read off a power law through both from 1000 discs on, and depends on that and on the machine (about 500 in \
                     the thesis). Below 1000 discs it counts that each row has to be begun";
    found
}

fn upkeep() -> Findings {
    let mut found = Findings::default();
    let (mut inverse, mut iterative) = (Vec::new(), Vec::new());
    for n in SIZES {
        let (frame, _) = silo(discs(), n);
        let link =
            Link { ends: [n as u32 / 3, n as u32 / 2], normal: Vec3::X, levers: [0.01; 2], stiffness: [1e6, 1e5] };
        let time = |backend: Box<dyn Backend>| {
            alone(|| {
                let mut structure = Structure::of(frame.clone(), backend).expect("discs that rest are held");
                let mut number = Vec::new();
                let mut both = (&mut structure, &mut number);
                shortest(
                    60,
                    &mut both,
                    |(s, number)| **number = s.connect(&[link]).expect("nothing is loose"),
                    |(s, number)| s.disconnect(number).expect("the others hold"),
                )
            })
        };
        inverse.push([n as f64, 1e6 * time(Box::new(Rima::new()))]);
        iterative.push(1e6 * time(Box::new(Gradients::new(Preconditioner::Diagonal, 1e-9))));
    }
    let large: Vec<[f64; 2]> = inverse.iter().copied().filter(|p| p[0] >= 250.0).collect();
    let fit = exponent(&large);
    let squares: Vec<[f64; 2]> = large.iter().map(|[n, t]| [n * n, *t]).collect();
    let title = format!("R² of a + b n², 250 to 1000 discs (a free power of n: {:.2})", fit.slope);
    found.at_least(title, crate::bulk::line(&squares).r2, 0.98);
    let share = iterative[SIZES.len() - 1] / inverse[SIZES.len() - 1][1];
    found.at_most("gradients: time over that of the inverse, 1000 discs", share, 1e-2);
    let law = crate::bulk::drawn(250.0, 1000.0, |n| (fit.offset + fit.slope * n.ln()).exp());
    found.charts.push(Chart {
        title: "Time to bring in a link".into(),
        axes: [Axis::logarithmic("discs"), Axis::logarithmic("time [µs]")],
        curves: vec![
            Curve { name: "inverse".into(), points: inverse },
            Curve { name: format!("n to the {:.2}", fit.slope), points: law },
        ],
    });
    found.reading = "a link between two discs that are there (case 3), shortest of 60 tries on one worker, nothing in the caches: every \
                     number of the inverse is changed once. Gradients take note of \
                     the link and no more; their list is made with the next solution";
    found
}

fn workers() -> Findings {
    let mut found = Findings::default();
    let n = 1000;
    let discs = discs();
    let (frame, _) = silo(discs, n);
    let more: Vec<Link> = (0..32u32)
        .map(|k| Link { ends: [29 * k, 29 * k + 40], normal: Vec3::X, levers: [0.01; 2], stiffness: [1e6, 1e5] })
        .collect();
    let build = |workers: usize| {
        pool(workers).install(|| {
            let mut structure = Structure::new(Freedom::Planar, Rima::new());
            let begin = Instant::now();
            for disc in &discs[..n] {
                structure.attach(&disc.1).expect("discs that rest are held");
            }
            let grown = begin.elapsed().as_secs_f64();
            let begin = Instant::now();
            more.iter().for_each(|link| drop(structure.connect(&[*link]).expect("nothing is loose")));
            let singly = begin.elapsed().as_secs_f64() / more.len() as f64;
            let mut batched = Structure::of(frame.clone(), Rima::new()).expect("discs that rest are held");
            let begin = Instant::now();
            batched.connect(&more).expect("nothing is loose");
            let together = begin.elapsed().as_secs_f64() / more.len() as f64;
            ([grown, singly, together], structure, batched)
        })
    };
    let (one, first, batched) = build(1);
    found.at_least("links", first.frame.present().count() as f64, 2000.0);
    let size = first.frame.size();
    let (mut apart, mut largest) = (0.0f64, 0.0f64);
    for r in 0..size {
        for c in 0..=r {
            let (a, b) = (first.backend.entry(r, c), batched.backend.entry(r, c));
            (apart, largest) = (apart.max((a - b).abs()), largest.max(a.abs()));
        }
    }
    found.at_most("one by one and 32 at once apart, over the largest entry", apart / largest, 1e-12);
    let mut rows = Vec::new();
    let mut curves: [Vec<[f64; 2]>; 3] = Default::default();
    for workers in [1, 2, 4, 8, 16] {
        let (times, structure, together) = build(workers);
        let same = structure.backend == first.backend && together.backend == batched.backend;
        found.absolute(format!("{workers} workers: inverses with other bits"), f64::from(u8::from(!same)), 0.0, 0.0);
        let mut row = vec![workers.to_string()];
        for ((time, one), curve) in times.iter().zip(one).zip(&mut curves) {
            row.push(format!("{:.3}", 1e3 * time));
            curve.push([workers as f64, one / time]);
        }
        rows.push(row);
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let header = ["workers", "1000 discs, 2000 links", "a link more", "of 32 at once, each"].map(Into::into).to_vec();
    found.tables.push(Table { title: format!("times [ms] on a machine of {cores} cores"), header, rows });
    let names = ["disc by disc", "links one by one", "32 links at once"];
    let curves = names.into_iter().zip(curves).map(|(name, points)| Curve { name: name.into(), points }).collect();
    let axes = ["workers".into(), "speed over one worker".into()];
    found.charts.push(Chart { title: "Workers on an inverse".into(), axes, curves });
    found.reading = "rows of the inverse are shared out and all workers see the memory, so that nothing is sent: the messages that held \
                     back the cluster of the thesis beyond 12 do not exist. 32 links at once read and write the inverse once, which pays where it does not fit the caches";
    found
}
