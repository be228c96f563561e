//! Fifty fills of the silo of G-14, each with its own discs: forces, slides and pressures on average, and how they scatter.

use crate::bulk::{chart, drawn, least, mean, r_squared};
use crate::static_silo::{DISCS, FRICTION, WEIGHT, WIDTH, level, silo, surface, weight};
use crate::{Case, Effort, Evidence, Findings, Table};
use esker::contact::visit::{self, Other};
use esker::math::Vec3;
use esker::model::Model;
use esker::solver::quasistatic::{Key, Quasistatic, Slid};
use esker::solver::{Solver, StepError};
use esker::state::State;
use esker_io::chart::{Axis, Chart, Curve};
use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

pub const CASES: &[Case] = &[
    Case {
        id: "G-15",
        source: "Gavrilov 1999, Fig. 4.7",
        title: "strong forces in the silo: two directions, and neither is that of the surface",
        evidence: Evidence::Trend,
        effort: Effort::Long,
        run: arches,
    },
    Case {
        id: "G-16",
        source: "Gavrilov 1999, Figs 4.8 and 4.10a",
        title: "friction while the last hundred discs come: contacts with the side walls and those inside",
        evidence: Evidence::Trend,
        effort: Effort::Long,
        run: late_slides,
    },
    Case {
        id: "G-18",
        source: "Gavrilov 1999, Fig. 4.10b",
        title: "friction of the whole fill: alike over the height inside, and more on the side walls",
        evidence: Evidence::Trend,
        effort: Effort::Long,
        run: all_slides,
    },
    Case {
        id: "G-19",
        source: "Gavrilov 1999, Fig. 4.11",
        title: "pressure on the side walls over the depth, by Janssen",
        evidence: Evidence::ClosedForm,
        effort: Effort::Long,
        run: janssen,
    },
    Case {
        id: "G-21",
        source: "Gavrilov 1999, sections 4.5 and 4.7",
        title: "fills differ: pressure at the foot of the walls, and sizes of avalanches",
        evidence: Evidence::Trend,
        effort: Effort::Long,
        run: scatter,
    },
];

/// Fills of the statistics.
const FILLS: usize = 50;

/// Discs after which slides are counted anew.
const LATE: usize = 400;

/// Does pieces of work on all cores, each on a worker of its own, and returns what came of them in order.
pub(crate) fn in_parallel<T: Send>(pieces: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut done: Vec<(usize, T)> = std::thread::scope(|scope| {
        let one = || {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a worker");
            let mut done = Vec::new();
            loop {
                let k = next.fetch_add(1, Ordering::Relaxed);
                if k >= pieces {
                    return done;
                }
                done.push((k, pool.install(|| work(k))));
            }
        };
        let workers: Vec<_> = (0..cores.min(pieces)).map(|_| scope.spawn(one)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("work that ends")).collect()
    });
    done.sort_by_key(|(k, _)| *k);
    done.into_iter().map(|(_, result)| result).collect()
}

/// A fill.
struct Fill {
    model: Model,
    state: State,
    /// What had slid when there were [`LATE`] discs.
    earlier: BTreeMap<Key, Slid>,
    /// Discs under which the others did not come to rest: each was taken away again.
    taken_back: usize,
}

/// Most discs that are taken away again in a fill.
const PATIENCE: usize = 200;

fn fill(seed: u64) -> Fill {
    // The feed has more, for those that are taken away again.
    let (model, mut state) = silo(seed, &[&format!("let.count={}", DISCS + PATIENCE)]);
    let mut solver = Quasistatic::new();
    let (mut earlier, mut taken_back) = (BTreeMap::new(), 0);
    while state.particles.owned() < DISCS {
        let before = state.clone();
        match solver.go_on(&model, &mut state, 1) {
            Ok(()) => {}
            Err(StepError::NotStatic { .. }) if taken_back < PATIENCE => {
                // As it was, but for the disc that the feed has drawn: the next one is another.
                state = State { feeds: state.feeds, ..before };
                solver = Quasistatic::new();
                taken_back += 1;
            }
            Err(other) => panic!("{other}"),
        }
        if state.particles.owned() == LATE {
            earlier = state.statics.slid.clone();
        }
    }
    Fill { model, state, earlier, taken_back }
}

/// All fills through an orifice as wide as the silo.
fn fills() -> &'static [Fill] {
    static DONE: OnceLock<Vec<Fill>> = OnceLock::new();
    DONE.get_or_init(|| in_parallel(FILLS, |k| fill(1 + k as u64)))
}

/// Whether a contact is one with a side wall, and where it is: in the middle of its discs.
fn at(state: &State, key: &Key) -> (bool, Vec3) {
    let p = &state.particles;
    // Discs never leave: their identity is their number.
    match *key {
        Key::Pair(a, b) => (false, 0.5 * (p.position(a as usize) + p.position(b as usize))),
        Key::Wall(a, wall, _) => (wall > 0, p.position(a as usize)),
    }
}

/// Work of friction and number of contacts that are there.
#[derive(Clone, Copy, Default)]
struct Share {
    heat: f64,
    literal: f64,
    times: f64,
    links: f64,
}

/// Sums over contacts inside and on the side walls, in bands of the height.
fn shares(fill: &Fill, since: &BTreeMap<Key, Slid>, band: f64, bands: usize) -> [Vec<Share>; 2] {
    let mut sums = [vec![Share::default(); bands], vec![Share::default(); bands]];
    let state = &fill.state;
    let place = |y: f64| ((y / band) as usize).min(bands - 1);
    for (key, slid) in &state.statics.slid {
        if matches!(key, Key::Wall(_, 0, _)) {
            continue;
        }
        let before = since.get(key).copied().unwrap_or_default();
        let (wall, centre) = at(state, key);
        let sum = &mut sums[usize::from(wall)][place(centre.y)];
        sum.heat += slid.heat - before.heat;
        sum.literal += slid.literal - before.literal;
        sum.times += (slid.times - before.times) as f64;
    }
    visit::for_each(&fill.model, state, |c| match c.other {
        Other::Grain(_) => sums[0][place(0.5 * (c.from.y + c.to.y))].links += 1.0,
        Other::Wall(0) => {}
        Other::Wall(_) => sums[1][place(c.from.y)].links += 1.0,
    });
    sums
}

fn total(shares: &[Share]) -> Share {
    shares.iter().fold(Share::default(), |a, b| Share {
        heat: a.heat + b.heat,
        literal: a.literal + b.literal,
        times: a.times + b.times,
        links: a.links + b.links,
    })
}

/// Sums over all fills.
fn over_all<'a>(
    fills: &'a [Fill],
    since: impl Fn(&'a Fill) -> &'a BTreeMap<Key, Slid>,
    band: f64,
    bands: usize,
) -> [Vec<Share>; 2] {
    let mut sums = [vec![Share::default(); bands], vec![Share::default(); bands]];
    for fill in fills {
        for (sum, of_it) in sums.iter_mut().zip(shares(fill, since(fill), band, bands)) {
            sum.iter_mut().zip(of_it).for_each(|(sum, share)| *sum = total(&[*sum, share]));
        }
    }
    sums
}

fn compare_walls(found: &mut Findings, inside: Share, walls: Share, fills: usize) {
    let ratio = |of: fn(&Share) -> f64| of(&walls) / walls.links / (of(&inside) / inside.links);
    found.at_least("work of friction of a contact with a side wall over that of one inside", ratio(|s| s.heat), 2.0);
    let row = |name: &str, s: Share| {
        let per = |x: f64| format!("{:.4}", x / s.links);
        let of_fill = |x: f64| format!("{:.2}", x / fills as f64);
        vec![
            name.into(),
            of_fill(s.links),
            per(1e3 * s.heat),
            per(1e3 * s.literal),
            per(s.times),
            of_fill(1e3 * s.heat),
        ]
    };
    found.tables.push(Table {
        title: "mean of all fills".into(),
        header: ["", "contacts", "heat of one [mJ]", "by eq. (4.36) [mJ]", "slides of one", "heat of all [mJ]"]
            .map(Into::into)
            .to_vec(),
        rows: vec![row("inside", inside), row("side walls", walls)],
    });
}

/// Tells how many discs were taken away again.
fn tell_taken_back(found: &mut Findings, fills: &[Fill]) {
    let all: usize = fills.iter().map(|fill| fill.taken_back).sum();
    let most = fills.iter().map(|fill| fill.taken_back).max().unwrap_or(0);
    let without = fills.iter().filter(|fill| fill.taken_back == 0).count();
    found.tables.push(Table {
        title: format!("discs under which the others did not come to rest, taken away again, in {} fills", fills.len()),
        header: ["all", "most of a fill", "fills without"].map(Into::into).to_vec(),
        rows: vec![vec![all.to_string(), most.to_string(), without.to_string()]],
    });
}

fn late_slides() -> Findings {
    let mut found = Findings::default();
    let fills = fills();
    let [inside, walls] = over_all(fills, |fill| &fill.earlier, 1.0, 1).map(|shares| total(&shares));
    compare_walls(&mut found, inside, walls, fills.len());
    found.reading = "discs 401 to 500 of fifty fills; work of contacts that are gone since is counted, contacts are those that are there \
                     at the end. By eq. (4.36) work is that of the force before a slide, which is more than friction does";
    found
}

fn all_slides() -> Findings {
    let mut found = Findings::default();
    let fills = fills();
    let nothing = BTreeMap::new();
    let [inside, walls] = over_all(fills, |_| &nothing, 0.1, 7);
    // Bands that are full in all fills.
    let lowest = fills.iter().map(|fill| level(&fill.state)).fold(f64::INFINITY, f64::min);
    let full = (lowest / 0.1) as usize;
    // The floor is a wall as well: discs slide on it while they are few, and it is no part of the inside.
    let each: Vec<f64> = inside[1..full].iter().map(|s| s.heat / s.links).collect();
    let scatter = deviation(&each) / mean(&each);
    found.at_most(
        "inside, from 0.1 m up: deviation over mean of the work of a contact, in bands of 0.1 m",
        scatter,
        0.5,
    );
    compare_walls(&mut found, total(&inside), total(&walls), fills.len());
    let curve = |shares: &[Share]| -> Vec<[f64; 2]> {
        shares[..full].iter().enumerate().map(|(k, s)| [0.1 * k as f64 + 0.05, 1e3 * s.heat / s.links]).collect()
    };
    found.charts.push(chart(
        "Work of friction of a contact in the whole fill",
        "height [m]",
        "work [mJ]",
        vec![("inside".into(), curve(&inside)), ("side walls".into(), curve(&walls))],
    ));
    found.reading = "fifty fills of 500 discs, bands of 0.1 m that are full in all of them. In the lowest one, where discs slid on the \
                     floor before others held them, a contact has several times the work of those above";
    found
}

/// Standard deviation.
fn deviation(values: &[f64]) -> f64 {
    let m = mean(values);
    (values.iter().map(|v| (v - m).powi(2)).sum::<f64>() / (values.len() - 1) as f64).sqrt()
}

/// Pressure on each side wall in strips of 0.1 m from the floor up \[N/m\].
fn pressures(fill: &Fill) -> [Vec<f64>; 2] {
    let mut strips = [vec![0.0; 8], vec![0.0; 8]];
    visit::for_each(&fill.model, &fill.state, |c| {
        if let Other::Wall(w @ 1..=2) = c.other {
            strips[w - 1][((c.point.y / 0.1) as usize).min(7)] += c.normal_force / 0.1;
        }
    });
    strips
}

fn janssen() -> Findings {
    let mut found = Findings::default();
    let fills = fills();
    let height = mean(&fills.iter().map(|fill| level(&fill.state)).collect::<Vec<_>>());
    let density =
        mean(&fills.iter().map(|fill| weight(&fill.state) / (WIDTH * level(&fill.state))).collect::<Vec<_>>());
    let all: Vec<[Vec<f64>; 2]> = fills.iter().map(pressures).collect();
    let full = (height / 0.1).ceil() as usize;
    let points: Vec<[f64; 2]> = (0..full)
        .map(|k| {
            // The strip of the surface is measured as far as it is filled.
            let high = height.min(0.1 * (k + 1) as f64);
            let share = (high - 0.1 * k as f64) / 0.1;
            let p = mean(&all.iter().flat_map(|sides| [sides[0][k], sides[1][k]]).collect::<Vec<_>>()) / share;
            [height - 0.5 * (high + 0.1 * k as f64), p]
        })
        .collect();
    let mu = FRICTION[1];
    let curve = |k: f64, z: f64| density * WIDTH / (2.0 * mu) * (1.0 - (-2.0 * mu * k * z / WIDTH).exp());
    let k = least(0.01, 5.0, |k| points.iter().map(|p| (p[1] - curve(k, p[0])).powi(2)).sum());
    found.at_least("R² of Janssen's curve, k fitted", r_squared(&points, |z| curve(k, z)), 0.9);
    found.at_least("k", k, 0.2);
    found.at_most("k", k, 1.2);
    let off = |fill: &Fill| {
        let carried: f64 = -fill.state.walls.iter().map(|wall| wall.force.y).sum::<f64>();
        (carried / weight(&fill.state) - 1.0).abs()
    };
    found.at_most(
        "load of floor and walls off from the weight, over it",
        fills.iter().map(off).fold(0.0, f64::max),
        1e-6,
    );
    let side = |fill: &Fill| -(fill.state.walls[1].force.y + fill.state.walls[2].force.y);
    let normal = |fill: &Fill| fill.state.walls[2].force.x - fill.state.walls[1].force.x;
    let mobilised = mean(&fills.iter().map(|f| side(f) / normal(f) / mu).collect::<Vec<_>>());
    let rows = vec![
        vec!["weight [N]".into(), format!("{:.1}", mean(&fills.iter().map(|f| weight(&f.state)).collect::<Vec<_>>()))],
        vec![
            "of it on the side walls".into(),
            format!("{:.3}", mean(&fills.iter().map(|f| side(f) / weight(&f.state)).collect::<Vec<_>>())),
        ],
        vec!["their friction over its limit".into(), format!("{mobilised:.3}")],
        vec!["height of the surface [m]".into(), format!("{height:.4}")],
        vec!["weight of a square metre [N/m²]".into(), format!("{density:.0} of {WEIGHT:.0} without gaps")],
        vec!["plateau ρ g W/(2 μ) [N/m]".into(), format!("{:.0}", density * WIDTH / (2.0 * mu))],
    ];
    found.tables.push(Table {
        title: format!("mean of {} fills", fills.len()),
        header: vec!["".into(), "".into()],
        rows,
    });
    found.charts.push(chart(
        "Pressure on the side walls",
        "depth [m]",
        "pressure [N/m]",
        vec![
            ("measured".into(), points),
            (format!("Janssen, k = {k:.2}"), drawn(0.0, height, |z| curve(k, z))),
            ("liquid".into(), drawn(0.0, height, |z| density * z)),
        ],
    ));
    found
}

/// Numbers of values in classes a third of a decade wide, over their widths: (middle, density).
fn histogram(values: &[f64]) -> Vec<[f64; 2]> {
    let step = 10f64.powf(1.0 / 3.0);
    let mut classes: BTreeMap<i32, f64> = BTreeMap::new();
    for v in values.iter().filter(|v| **v > 0.0) {
        *classes.entry((v.ln() / step.ln()).floor() as i32).or_default() += 1.0;
    }
    let n = values.len() as f64;
    let of = |(k, count): (i32, f64)| {
        let low = step.powi(k);
        [low * step.sqrt(), count / n / (low * (step - 1.0))]
    };
    classes.into_iter().map(of).collect()
}

/// Decades between the first and the last class of a histogram.
fn decades(histogram: &[[f64; 2]]) -> f64 {
    let ends = histogram.first().zip(histogram.last());
    ends.map_or(0.0, |(a, b)| (b[0] / a[0]).log10() + 1.0 / 3.0)
}

fn scatter() -> Findings {
    let mut found = Findings::default();
    let fills = fills();
    found.at_least("fills", fills.len() as f64, 50.0);
    tell_taken_back(&mut found, fills);
    let foot: Vec<f64> = fills.iter().flat_map(|fill| pressures(fill).map(|side| side[0])).collect();
    found.at_least("pressure in the lowest 0.1 m of a wall: deviation over mean", deviation(&foot) / mean(&foot), 0.1);
    let late = |fill: &'static Fill| fill.state.statics.avalanches.iter().filter(|a| a.grains > 100);
    let slides = histogram(&fills.iter().flat_map(late).map(|a| a.slides as f64).collect::<Vec<_>>());
    let heat = histogram(&fills.iter().flat_map(late).map(|a| 1e3 * a.heat).collect::<Vec<_>>());
    found.at_least("slides of a disc: decades", decades(&slides), 1.5);
    found.at_least("work of friction of a disc: decades", decades(&heat), 1.5);
    for (title, unit, points) in
        [("Slides when a disc comes", "slides", slides), ("Work of friction when a disc comes", "work [mJ]", heat)]
    {
        let axes = [
            Axis::logarithmic(unit),
            Axis::logarithmic(format!("share of all, per {}", if unit == "slides" { "slide" } else { "mJ" })),
        ];
        found.charts.push(Chart { title: title.into(), axes, curves: vec![Curve { name: String::new(), points }] });
    }
    found
}

fn arches() -> Findings {
    let mut found = Findings::default();
    let heaps = fills();
    // Slope of both halves of the surface.
    let slopes: Vec<f64> = heaps
        .iter()
        .map(|heap| {
            let points: Vec<[f64; 2]> = surface(&heap.state).into_iter().map(|s| [s[0].abs(), s[1]]).collect();
            -crate::bulk::line(&points).slope.atan().to_degrees()
        })
        .collect();
    // Directions of the contacts that push more than the mean does, weak ones beside them: classes of 10°.
    let (mut strong, mut weak) = ([0.0; 18], [0.0; 18]);
    for heap in heaps {
        let mut contacts = Vec::new();
        visit::for_each(&heap.model, &heap.state, |c| {
            if let Other::Grain(_) = c.other {
                let n = c.normal();
                contacts.push((n.y.atan2(n.x).to_degrees().rem_euclid(180.0), c.normal_force));
            }
        });
        let mean = contacts.iter().map(|c| c.1).sum::<f64>() / contacts.len() as f64;
        for (angle, push) in contacts {
            let class = ((angle / 10.0) as usize).min(17);
            if push > mean { strong[class] += 1.0 } else { weak[class] += 1.0 }
        }
    }
    let all: f64 = strong.iter().sum();
    let peak = |from: usize, to: usize| (from..to).max_by(|&a, &b| strong[a].total_cmp(&strong[b])).expect("classes");
    let [right, left] = [peak(0, 9), peak(9, 18)];
    let middle = |class: usize| 10.0 * class as f64 + 5.0;
    let lobe = 0.5 * (strong[right] + strong[left]);
    found.at_least("strong contacts of both main directions over those of a mean one", lobe / (all / 18.0), 1.5);
    found.at_most(
        "vertical ones (80° to 100°) over those of a main direction",
        0.5 * (strong[8] + strong[9]) / lobe,
        0.8,
    );
    found.at_most("level ones (within 10°) over those of a main direction", 0.5 * (strong[0] + strong[17]) / lobe, 0.8);
    found.absolute("main directions: both angles together [°]", middle(right) + middle(left), 180.0, 10.0);
    let sides = [strong[..9].iter().sum::<f64>(), strong[9..].iter().sum::<f64>()];
    found.absolute("share of those that lean right", sides[0] / all, 0.5, 0.05);
    let steep = 0.5 * (middle(right) + 180.0 - middle(left));
    found.at_least(
        format!("main direction ({steep:.0}°) less slope of the surface ({:.1}°)", mean(&slopes)),
        steep - mean(&slopes).abs(),
        10.0,
    );
    let share = |classes: &[f64; 18]| -> Vec<[f64; 2]> {
        let all: f64 = classes.iter().sum();
        (0..18).map(|k| [middle(k), classes[k] / all]).collect()
    };
    found.charts.push(chart(
        "Directions of contacts",
        "angle of the normal above level [°]",
        "share in classes of 10°",
        vec![("pushed more than the mean".into(), share(&strong)), ("pushed less".into(), share(&weak))],
    ));
    found.reading = "fifty fills of 500 discs through an orifice as wide as the silo. Through one of 4 cm the surface has 55°, as steep as \
                     the main direction: discs that are let down without friction heap up like that, whatever carries them";
    found
}
