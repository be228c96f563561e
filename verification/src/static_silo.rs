//! The quasi-static solver: the silo of Gavrilov (1999), section 4.7, at rest after every disc, and three small scenes of section 4.5.

use crate::bench::{after, changed, simulation};
use crate::{Case, Effort, Evidence, Findings, Table};
use esker::contact::visit::{self, Other};
use esker::field::Gravity;
use esker::math::Vec3;
use esker::model::Model;
use esker::particles::Place;
use esker::solver::quasistatic::{Avalanche, Quasistatic};
use esker::solver::{Solver, StepError};
use esker::state::State;
use esker::structure::cholesky::Cholesky;
use esker::structure::{Action, Frame, Freedom, GROUND, Link, Structure, free};
use esker_io::chart::{Axis, Chart, Curve};
use esker_io::{build, scene};
use std::collections::BTreeSet;
use std::f64::consts::PI;
use std::path::Path;
use std::sync::Arc;

pub const CASES: &[Case] = &[
    Case {
        id: "G-14",
        source: "Gavrilov 1999, Fig. 4.5",
        title: "a planar silo filled with 500 discs, one after another: all at rest, and how high they stand",
        evidence: Evidence::ClosedForm,
        effort: Effort::Long,
        run: base,
    },
    Case {
        id: "G-17",
        source: "Gavrilov 1999, Fig. 4.9",
        title: "a disc between two others, almost beside it: slides while the load grows",
        evidence: Evidence::Trend,
        effort: Effort::Quick,
        run: wedge,
    },
    Case {
        id: "G-20",
        source: "Gavrilov 1999, section 4.7.3",
        title: "what holds in a silo after every one of 500 discs, by inverse, factors and gradients",
        evidence: Evidence::Property,
        effort: Effort::Long,
        run: invariants,
    },
    Case {
        id: "G-22",
        source: "Gavrilov 1999, Fig. 4.3",
        title: "two contacts of a disc pull, the upper one goes: it rests on what is below",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: hanging,
    },
    Case {
        id: "G-23",
        source: "Gavrilov 1999, Fig. 4.4",
        title: "discs on a slope too steep for them: told, not waited for, and `explicit` takes over",
        evidence: Evidence::Property,
        effort: Effort::Quick,
        run: endless,
    },
];

/// The scene.
const SILO: &str = include_str!("../../examples/silo-static.toml");

/// Width of the silo \[m\], weight of a square metre of discs \[N/m²\], friction among discs and on walls.
pub(crate) const WIDTH: f64 = 0.3;
pub(crate) const WEIGHT: f64 = 1190.0 * 9.8;
pub(crate) const FRICTION: [f64; 2] = [0.43, 0.33];

/// Discs of a whole fill.
pub(crate) const DISCS: usize = 500;

/// The empty silo; some keys of its scene are others.
pub(crate) fn silo(seed: u64, overrides: &[&str]) -> (Model, State) {
    let mut keys = vec![format!("seed={seed}"), format!("let.count={DISCS}")];
    keys.extend(overrides.iter().map(|key| (*key).into()));
    let raw = scene::read(SILO, "silo-static.toml", &keys).expect("a scene of our own");
    let mut scene = build::build(&raw, Path::new(".")).expect("a scene of our own");
    (scene.stages.remove(0).model, scene.state)
}

/// What is wrong with a state at rest: should be nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unrest {
    /// Largest force left on a disc \[N\].
    balance: f64,
    /// Largest pull of a contact \[N\].
    pull: f64,
    /// Largest tangential force beyond Coulomb's limit \[N\].
    beyond: f64,
    /// Largest force of an overlap without a contact \[N\].
    unlinked: f64,
}

impl Unrest {
    fn or(self, other: Unrest) -> Self {
        Self {
            balance: self.balance.max(other.balance),
            pull: self.pull.max(other.pull),
            beyond: self.beyond.max(other.beyond),
            unlinked: self.unlinked.max(other.unlinked),
        }
    }

    /// Of discs that do not turn.
    pub fn of(model: &Model, state: &State) -> Self {
        let p = &state.particles;
        let g = model.uniform_acceleration();
        let mut forces: Vec<Vec3> = p.mass.iter().map(|m| *m * g).collect();
        let mut unrest = Self::default();
        let mut linked = BTreeSet::new();
        visit::for_each(model, state, |c| {
            c.ends().for_each(|end| forces[end.grain] += end.force);
            let mu = FRICTION[usize::from(matches!(c.other, Other::Wall(_)))];
            unrest.pull = unrest.pull.max(-c.normal_force);
            unrest.beyond = unrest.beyond.max(c.tangential_force() - mu * c.normal_force);
            if let Other::Grain(j) = c.other {
                linked.insert((c.i.min(j), c.i.max(j)));
            }
        });
        let free = (0..p.owned()).filter(|&i| !p.is_fixed(i));
        unrest.balance = free.map(|i| forces[i].length()).fold(0.0, f64::max);
        for j in 0..p.owned() {
            for i in (0..j).filter(|&i| !linked.contains(&(i, j))) {
                let overlap = p.radius(i) + p.radius(j) - p.position(i).distance(p.position(j));
                unrest.unlinked = unrest.unlinked.max(1e6 * overlap);
            }
        }
        unrest
    }
}

/// Height of the surface as seen from above, along the width \[m\].
pub(crate) fn surface(state: &State) -> Vec<[f64; 2]> {
    let p = &state.particles;
    let top = |x: f64, i: usize| {
        let (c, r) = (p.position(i), p.radius(i));
        let under = r * r - (x - c.x).powi(2);
        if under > 0.0 { c.y + under.sqrt() } else { 0.0 }
    };
    let height = |x: f64| (0..p.owned()).map(|i| top(x, i)).fold(0.0, f64::max);
    (0..600).map(|k| WIDTH * ((f64::from(k) + 0.5) / 600.0 - 0.5)).map(|x| [x, height(x)]).collect()
}

/// Mean height of the surface \[m\].
pub(crate) fn level(state: &State) -> f64 {
    crate::bulk::mean(&surface(state).iter().map(|s| s[1]).collect::<Vec<_>>())
}

/// Share of the area that discs take, between two heights.
fn packing(state: &State, low: f64, high: f64) -> f64 {
    // Area of a disc below a height.
    let below = |c: f64, r: f64, y: f64| {
        let d = ((y - c) / r).clamp(-1.0, 1.0);
        r * r * (PI - d.acos() + d * (1.0 - d * d).sqrt())
    };
    let p = &state.particles;
    let area: f64 =
        p.place.iter().map(|d| below(d.position.y, d.radius, high) - below(d.position.y, d.radius, low)).sum();
    area / (WIDTH * (high - low))
}

/// Weight of all discs \[N\].
pub(crate) fn weight(state: &State) -> f64 {
    9.8 * state.particles.mass.iter().sum::<f64>()
}

fn base() -> Findings {
    let mut found = Findings::default();
    let (model, mut state) = silo(1, &[]);
    let mut solver = Quasistatic::new();
    let (mut worst, mut refused) = (Unrest::default(), 0);
    let mut shares = Vec::new();
    while state.particles.owned() < DISCS && refused == 0 {
        refused += u32::from(solver.advance(&model, &mut state, 1).is_err());
        worst = worst.or(Unrest::of(&model, &state));
        let sides = -(state.walls[1].force.y + state.walls[2].force.y) / weight(&state);
        shares.push([state.particles.owned() as f64, sides]);
    }
    found.absolute("discs", state.particles.owned() as f64, DISCS as f64, 0.0);
    found.absolute("steps that did not end at rest", f64::from(refused), 0.0, 0.0);
    found.at_most(
        "force left on a disc, largest of all steps, over the weight of all",
        worst.balance / weight(&state),
        1e-9,
    );
    let (level, inside) = (level(&state), packing(&state, 0.05, 0.5));
    found.absolute("height of the surface, mean over the width [m]", level, 0.63, 0.03);
    let area: f64 = state.particles.place.iter().map(|d| PI * d.radius * d.radius).sum();
    let rows = vec![
        vec!["share of the area between 0.05 m and 0.5 m".into(), format!("{inside:.4}")],
        vec!["height of as many discs, packed like that [m]".into(), format!("{:.4}", area / WIDTH / inside)],
        vec!["weight [N]".into(), format!("{:.1}", weight(&state))],
        vec!["contacts of a disc".into(), format!("{:.3}", coordination(&state))],
        vec!["share of the weight that the side walls carry".into(), format!("{:.3}", shares[shares.len() - 1][1])],
    ];
    found.tables.push(Table { title: "the full silo".into(), header: vec!["".into(), "".into()], rows });
    found.charts.push(crate::bulk::chart(
        "Share of the weight that the side walls carry",
        "discs",
        "share",
        vec![(String::new(), shares)],
    ));
    found.reading = "0.60 to 0.66 m follow from the area of the discs and 0.80 to 0.88 of it filled; the height is that of the surface seen \
                     from above, not of the highest disc";
    found
}

/// Contacts of a disc on average, those with walls once.
fn coordination(state: &State) -> f64 {
    (2 * state.contacts.pairs.len() + state.contacts.walls.len()) as f64 / state.particles.owned() as f64
}

/// A fill that is looked at after every disc.
struct Watched {
    state: State,
    /// The worst of all steps, forces over the mean weight of a disc.
    worst: Unrest,
    drift: f64,
    load: f64,
    refused: Option<StepError>,
    /// Places after every disc.
    places: Vec<Vec<Place>>,
}

fn watched(by: &str) -> Watched {
    let (model, mut state) = silo(1, &[&format!("solver.by={by}")]);
    let mut solver = Quasistatic::new();
    let (mut worst, mut drift, mut load, mut refused) = (Unrest::default(), 0.0f64, 0.0f64, None);
    let mut places = Vec::new();
    while state.particles.owned() < DISCS && refused.is_none() {
        refused = solver.advance(&model, &mut state, 1).err();
        worst = worst.or(Unrest::of(&model, &state));
        drift = drift.max(solver.drift(state.step).unwrap_or(0.0));
        let carried: f64 = -state.walls.iter().map(|wall| wall.force.y).sum::<f64>();
        if state.particles.owned() > 0 {
            load = load.max((carried / weight(&state) - 1.0).abs());
        }
        places.push(state.particles.place.clone());
    }
    Watched { state, worst, drift, load, refused, places }
}

fn invariants() -> Findings {
    let mut found = Findings::default();
    let ways = ["inverse", "factors", "gradients"];
    let runs = crate::fills::in_parallel(ways.len(), |k| watched(ways[k]));
    let mut rows = Vec::new();
    for (by, run) in ways.iter().zip(&runs) {
        let all = weight(&run.state);
        let Unrest { balance, pull, beyond, unlinked } = run.worst;
        found.absolute(format!("{by}: discs"), run.state.particles.owned() as f64, DISCS as f64, 0.0);
        found.absolute(format!("{by}: steps refused"), f64::from(u8::from(run.refused.is_some())), 0.0, 0.0);
        found.at_most(format!("{by}: force left on a disc, over the weight of all"), balance / all, 1e-9);
        found.at_most(format!("{by}: pull of a contact, over that"), pull / all, 0.0);
        found.at_most(format!("{by}: friction beyond its limit, over that"), beyond / all, 1e-9);
        found.at_most(format!("{by}: force of an overlap without a contact, over that"), unlinked / all, 1e-9);
        found.at_most(format!("{by}: load of the walls off from the weight, over it"), run.load, 1e-9);
        if *by != "gradients" {
            found.at_most(format!("{by}: |K Z x - x| / |x|"), run.drift, 1e-8);
        }
        let of_one = [balance, beyond, unlinked].map(|force| format!("{:.1e}", force / (all / DISCS as f64)));
        rows.push([vec![(*by).into()], of_one.to_vec(), vec![format!("{:.1e}", run.drift)]].concat());
    }
    found.tables.push(Table {
        title: "the worst of all steps, forces over the weight of one disc".into(),
        header: ["", "left on a disc", "friction beyond", "overlap without contact", "|K Z x - x| / |x|"]
            .map(Into::into)
            .to_vec(),
        rows,
    });
    let mut curves = Vec::new();
    for (by, run) in ways.iter().zip(&runs).skip(1) {
        let all = weight(&runs[0].state);
        let loads = runs[0].state.walls.iter().zip(&run.state.walls);
        let off = loads.map(|(a, b)| (a.force - b.force).length()).fold(0.0, f64::max) / all;
        found.at_most(format!("{by} and inverse: forces on walls apart, over the weight"), off, 1e-8);
        let apart = |(a, b): (&Vec<Place>, &Vec<Place>)| {
            a.iter().zip(b).map(|(a, b)| a.position.distance(b.position) / 0.01).fold(0.0, f64::max)
        };
        let points: Vec<[f64; 2]> = runs[0]
            .places
            .iter()
            .zip(&run.places)
            .map(|(a, b)| [a.len() as f64, apart((a, b))])
            .filter(|point| point[1] > 0.0)
            .collect();
        let last = points.last().map_or(0.0, |p| p[1]);
        found.at_most(format!("{by} and inverse: places apart, in radii"), last, 1e-8);
        curves.push(Curve { name: (*by).into(), points });
    }
    found.charts.push(Chart {
        title: "Places apart from those by the inverse".into(),
        axes: ["discs".into(), Axis::logarithmic("largest distance [r]")],
        curves,
    });
    found.reading = "the worst of 500 rests each. Forces are as exact as places, of which the last digit is 1e-10 N in a stiff contact. Gradients \
                     have no matrix that could drift: each of their solutions ends at 1e-10";
    found
}

/// Brings a state to rest; returns what that took.
fn rest(model: &Model, state: &mut State) -> Result<Avalanche, StepError> {
    state.loads_are_current = false;
    let rests = state.statics.avalanches.len();
    Quasistatic::new().advance(model, state, 1)?;
    let mut sum = Avalanche::default();
    for a in &state.statics.avalanches[rests..] {
        (sum.slides, sum.disconnected, sum.connected) =
            (sum.slides + a.slides, sum.disconnected + a.disconnected, sum.connected + a.connected);
        (sum.fallen, sum.heat) = (sum.fallen + a.fallen, sum.heat + a.heat);
    }
    Ok(sum)
}

/// Discs of 1 cm that do not turn and touch as in the silo.
fn scene_of(more: &str) -> (Model, State) {
    let run = simulation(
        &format!(
            "planar = true\ngravity = [0, -9.8]\n[solver]\nkind = \"quasistatic\"\nstep = 1\nnodes = \"translating\"\n\
             [material.disc]\ndensity = 1190\n[material.held]\ndensity = 1190\n[material.light]\ndensity = 119\n[material.wall]\n\
             [contact.default]\nnormal = {{ law = \"hooke\", stiffness = 1e6 }}\n\
             tangential = {{ law = \"spring\", stiffness = 1e5, friction = 0.43 }}\n\
             [contact.disc-wall]\nnormal = {{ law = \"hooke\", stiffness = 1.5e6 }}\n\
             tangential = {{ law = \"spring\", stiffness = 1.5e5, friction = 0.33 }}\n{more}"
        ),
        1,
    );
    (run.model().clone(), run.state)
}

fn discs(name: &str, fixed: bool, places: &[[f64; 2]]) -> String {
    let list: Vec<String> = places.iter().map(|p| format!("[{:e}, {:e}]", p[0], p[1])).collect();
    format!(
        "[[grains]]\nname = \"{name}\"\nmaterial = \"{name}\"\nradius = 0.01\nfixed = {fixed}\n\
         fill = {{ method = \"at\", positions = [{}] }}\n",
        list.join(", ")
    )
}

fn wedge() -> Findings {
    let mut found = Findings::default();
    let mut curves = Vec::new();
    // As springs the contacts of a disc that sinks have K_τ cos α and K_η sin α: those less steep than this slide.
    let limit = (0.1 / FRICTION[0]).atan().to_degrees();
    for degrees in [5.0f64, 10.0, 15.0, 60.0] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let (x, y) = (0.02 * cos, 0.02 * sin);
        let (mut model, mut state) =
            scene_of(&format!("{}{}", discs("held", true, &[[-x, 0.0], [x, 0.0]]), discs("disc", false, &[[0.0, y]])));
        let (mut points, mut slides, mut left, mut off) = (Vec::new(), 0, 0.0f64, 0.0f64);
        for load in [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0] {
            model.fields = vec![Arc::new(Gravity { acceleration: -9.8 * load * Vec3::Y })];
            match rest(&model, &mut state) {
                Ok(avalanche) => slides += avalanche.slides,
                Err(StepError::NotStatic { .. }) => break,
                Err(other) => panic!("{other}"),
            }
            points.push([load, slides as f64]);
            let weight = load * 9.8 * state.particles.mass[2];
            let unrest = Unrest::of(&model, &state);
            left = left.max(unrest.balance.max(unrest.beyond) / weight);
            visit::for_each(&model, &state, |c| {
                // Where the contacts now point: a disc that sinks comes to lie lower between the others.
                let n = c.normal().abs();
                let slip = if degrees < limit { FRICTION[0] } else { c.tangential_force() / c.normal_force };
                off = off.max((c.normal_force / weight * 2.0 * (n.y + slip * n.x) - 1.0).abs());
            });
        }
        let carried = points[points.len() - 1][0];
        found.at_least(format!("{degrees}°: largest load under which it rests, in weights"), carried, 5.0);
        found.at_most(format!("{degrees}°: what is left, over the load"), left, 1e-8);
        found.at_most(format!("{degrees}°: push of a contact off from P/2/(sin α + μ cos α), over it"), off, 1e-8);
        if degrees < limit {
            let more = points.windows(2).map(|p| p[1][1] - p[0][1]).fold(points[0][1], f64::min);
            found.at_least(format!("{degrees}°: slides of a load more, least of all"), more, 1.0);
        } else {
            found.absolute(format!("{degrees}°: slides of all loads"), slides as f64, 0.0, 0.0);
        }
        curves.push(Curve { name: format!("{degrees}° above level"), points });
    }
    found.charts.push(Chart {
        title: "Slides while the load grows".into(),
        axes: [Axis::logarithmic("load, in weights of the disc"), "slides so far".into()],
        curves,
    });
    found.reading = "the two discs that carry it do not move and stand so far apart that contacts rise by 5° to 60°; where \
                     tan α < K_τ/(μ K_η), 13.1°, every load more makes them slide, and above nothing does. The lower ones are pressed \
                     through between the others in the end, under 20 and 100 weights, which is told as not static";
    found
}

/// A frame of the contacts of a state, and the number of the link of each contact.
fn frame_of(model: &Model, state: &State) -> Frame {
    let p = &state.particles;
    let node = |i: usize| if p.is_fixed(i) { GROUND } else { i as u32 };
    let mut links = Vec::new();
    visit::for_each(model, state, |c| {
        let (other, stiffness) = match c.other {
            Other::Grain(j) => (node(j), [1e6, 1e5]),
            Other::Wall(_) => (GROUND, [1.5e6, 1.5e5]),
        };
        links.push(Some(Link { ends: [node(c.i), other], normal: c.normal(), levers: [0.0; 2], stiffness }));
    });
    Frame { freedom: Freedom::Planar, nodes: p.owned(), links }
}

fn hanging() -> Findings {
    let mut found = Findings::default();
    let r = 0.01;
    // B on the floor and against L, A on B under U, which presses a little; C will come to lie between B and R.
    let c = Vec3::new(2.0 * r * 29f64.to_radians().cos(), r + 2.0 * r * 29f64.to_radians().sin(), 0.0);
    let (low, high) = (3.0 * r - 3.55e-6, 5.0 * r - 3.85e-6);
    let (a, b) = (0, 1);
    let floor = "[[wall]]\nname = \"floor\"\nmaterial = \"wall\"\nplane = { point = [0, 0], normal = [0, 1] }\n";
    let (model, mut state) = scene_of(&format!(
        "{floor}{}{}{}",
        discs("light", false, &[[0.0, low]]),
        discs("disc", false, &[[0.0, r - 2.88e-6]]),
        discs("held", true, &[[0.0, high], [-2.0 * r, r], [2.0 * c.x, r]])
    ));
    rest(&model, &mut state).expect("a column rests");
    let own = 9.8 * state.particles.mass[a];
    let pushes = |state: &State| {
        let mut pushes = [0.0; 2];
        visit::for_each(&model, state, |c| {
            if let Other::Grain(j) = c.other {
                let (i, j) = (c.i.min(j), c.i.max(j));
                if i == a {
                    pushes[usize::from(j == b)] = c.normal_force;
                }
            }
        });
        pushes
    };
    let before = pushes(&state);
    found.at_least("before C: push of the upper contact of A, over its weight", before[0] / own, 0.1);
    found.relative(
        "before C: that of the lower one less the upper, over the weight",
        (before[1] - before[0]) / own,
        1.0,
        1e-8,
    );
    // What elastic links that can pull would do under C, which weighs as much as twelve.
    let mut heavy = model.kinds[1].grain(1, Place { position: c, radius: r }, Vec3::ZERO, Vec3::ZERO);
    heavy.mass *= 12.0;
    let weight = 9.8 * heavy.mass;
    let new = state.add(heavy) as usize;
    let mut frame = frame_of(&model, &state);
    let [on_b, on_r] = [Vec3::Y * r, Vec3::new(2.0 * c.x, r, 0.0)].map(|place| (place - c).normalize());
    for (ends, normal) in [([new as u32, b as u32], on_b), ([new as u32, GROUND], on_r), ([b as u32, GROUND], -Vec3::X)]
    {
        frame.links.push(Some(Link { ends, normal, levers: [0.0; 2], stiffness: [1e6, 1e5] }));
    }
    // Discs that do not move are nodes that nothing loads.
    frame.links.extend(
        (0..=new)
            .filter(|&i| state.particles.is_fixed(i))
            .map(|i| Some(Link { ends: [i as u32, GROUND], normal: Vec3::X, levers: [0.0; 2], stiffness: [1.0; 2] })),
    );
    let mut load = vec![0.0; frame.size()];
    frame.freedom.load(&mut load, new as u32, &Action { force: -weight * Vec3::Y, couple: Vec3::ZERO });
    let mut u = vec![0.0; load.len()];
    let mut linear = Structure::of(frame, Cholesky::new()).expect("all are held");
    linear.solve(&load, &mut u, 1e-12);
    let more = free::forces(&linear.frame, &u);
    let mut trial = [f64::NAN; 2];
    for (link, force) in linear.frame.links.iter().flatten().zip(&more) {
        let along = force.dot(link.normal);
        match link.ends {
            [0, 1] | [1, 0] => trial[1] = before[1] + along,
            [0, GROUND] | [GROUND, 0] => trial[0] = before[0] + along,
            _ => {}
        }
    }
    found.at_most("under C, if contacts could pull: push of the upper one, over the weight of A", trial[0] / own, -1.0);
    found.at_most("under C, if contacts could pull: push of the lower one, over the weight of A", trial[1] / own, -1.0);
    found.at_most(
        "the upper one pulls more: difference of both, over the weight of A",
        (trial[0] - trial[1]) / own,
        -0.9,
    );

    let took = rest(&model, &mut state).expect("all are held");
    let mut carried = Vec3::ZERO;
    visit::for_each(&model, &state, |c| {
        let of_a = c.ends().filter(|end| end.grain == a);
        carried += of_a.filter(|_| c.other == Other::Grain(b) || c.i == b).map(|end| end.force).sum::<Vec3>();
    });
    found.absolute("contacts taken out", took.disconnected as f64, 1.0, 0.0);
    found.absolute("push of the upper contact of A", pushes(&state)[0], 0.0, 0.0);
    found.relative("B carries A: force upwards, over the weight of A", carried.y / own, 1.0, 1e-8);
    let unrest = Unrest::of(&model, &state);
    found.at_most("force left on a disc, over the weight of C", unrest.balance / weight, 1e-9);
    found.at_most("pull of a contact [N]", unrest.pull, 0.0);
    found.reading = "A stands on B under a disc U that does not move and presses it. C comes to lie on B, which gives way: as \
                     springs both contacts of A would pull, the upper one by the weight of A more. C weighs as much as twelve discs, A \
                     a tenth of one";
    found
}

/// Three discs on a slope of 40°, a stop 2 m below them.
fn slope(solver: &str) -> String {
    let (along, up) = (Vec3::new(40f64.to_radians().cos(), -40f64.to_radians().sin(), 0.0), 40f64.to_radians());
    let normal = Vec3::new(up.sin(), up.cos(), 0.0);
    let place = |k: f64| (0.01 * normal - 0.02 * k * along).truncate();
    let places: Vec<String> = (0..3).map(|k| place(f64::from(k))).map(|p| format!("[{:e}, {:e}]", p.x, p.y)).collect();
    let plane = |name: &str, point: Vec3, normal: Vec3| {
        format!(
            "[[wall]]\nname = \"{name}\"\nmaterial = \"disc\"\nplane = {{ point = [{:e}, {:e}], normal = [{:e}, {:e}] }}\n",
            point.x, point.y, normal.x, normal.y
        )
    };
    format!(
        "planar = true\ngravity = [0, -9.8]\n[solver]\n{solver}\n[material.disc]\ndensity = 1190\n\
         [contact.default]\nnormal = {{ law = \"hooke\", stiffness = 1e6, restitution = 0.3 }}\n\
         tangential = {{ law = \"spring\", stiffness = 5e5, friction = 0.3 }}\n{}{}\
         [[grains]]\nname = \"discs\"\nmaterial = \"disc\"\nradius = 0.01\nfill = {{ method = \"at\", positions = [{}] }}\n",
        plane("slope", Vec3::ZERO, normal),
        plane("stop", 2.01 * along, -along),
        places.join(", ")
    )
}

fn endless() -> Findings {
    let mut found = Findings::default();
    let at_rest = "kind = \"quasistatic\"\nstep = 1\nnodes = \"translating\"";
    let run = simulation(&slope(at_rest), 1);
    let (model, mut state) = (run.model().clone(), run.state);
    let start = state.particles.place.clone();
    let told = rest(&model, &mut state).err();
    let named = match &told {
        Some(StepError::NotStatic { grains, .. }) => grains.len(),
        _ => 0,
    };
    found.absolute(
        "told that they do not rest",
        f64::from(u8::from(matches!(told, Some(StepError::NotStatic { .. })))),
        1.0,
        0.0,
    );
    let looked: u64 = state.statics.avalanches.iter().map(|a| a.rounds).sum();
    found.at_least("discs named", named as f64, 1.0);
    found.at_most("rounds of slides until then", looked as f64, 1e5);
    // The same state, with inertia.
    let mut moving = changed(&slope("step = 2e-5"), 1, |_, fresh| {
        let mut failed = state.clone();
        failed.loads_are_current = false;
        *fresh = failed;
    });
    after(&mut moving, 4.0);
    let (model, mut state) = (model, moving.state.clone());
    let p = &state.particles;
    let kinetic: f64 = (0..3).map(|i| p.kinetic_energy(i).0 + p.kinetic_energy(i).1).sum();
    let potential = 9.8 * p.mass[0] * 2.0;
    found.at_most("`explicit` goes on: energy of motion after 4 s, over m g 2 m", kinetic / potential, 1e-12);
    let way = start.iter().zip(&p.place).map(|(a, b)| a.position.distance(b.position)).fold(f64::INFINITY, f64::min);
    found.at_least("way of the disc that went least [m]", way, 1.9);
    let again = rest(&model, &mut state);
    found.absolute("at rest there, says the solver", f64::from(u8::from(again.is_ok())), 1.0, 0.0);
    found.reading = "friction 0.3 on a slope of 40°";
    found
}
