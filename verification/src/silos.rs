//! Silos: how fast they empty, and who carries the weight.

use crate::bench::simulation;
use crate::bulk;
use crate::{Case, Effort, Evidence, Findings};
use esker::math::Vec3;
use esker::measure::janssen::Janssen;
use esker::measure::region;
use esker::region::Region;
use std::f64::consts::PI;

pub const CASES: &[Case] = &[
    Case {
        id: "V33",
        source: "Beverloo, Leniger & van de Velde, Chem. Eng. Sci. 15, 260 (1961)",
        title: "discharge of 9000 spheres through five round openings of 5 to 10 diameters: exponent, constants, no effect of the head",
        evidence: Evidence::Experiment,
        effort: Effort::Long,
        run: beverloo,
    },
    Case {
        id: "V34",
        source: "Janssen (1895)",
        title: "vertical stress in a column 10 diameters wide and 45 deep whose floor sinks slowly",
        evidence: Evidence::ClosedForm,
        effort: Effort::Long,
        run: janssen,
    },
];

/// Lengths in diameters, masses in those of a grain, gravity one.
const GRAINS: &str =
    "gravity = [0, 0, -1]\n[material.m]\ndensity = 1.909859317102744\n[solver]\nsteps-per-contact = 30\n";

/// Table of a pair with a stiffness and a friction.
fn pair(name: &str, stiffness: f64, friction: f64) -> String {
    format!(
        "[contact.{name}]\nnormal = {{ law = \"hooke\", stiffness = {stiffness}, restitution = 0.5 }}\n\
         tangential = {{ law = \"spring\", friction = {friction} }}\n"
    )
}

/// Radius of the silo that is emptied.
const SILO: f64 = 12.0;
/// Diameter of its widest opening.
const WIDEST: f64 = 10.0;
/// Grains whose leaving gives the rate.
const FIRST: f64 = 2200.0;
/// Friction of grains neither smooth nor rough.
const FRICTION: f64 = 0.3;

/// The bed before it is opened: its places, and its mass per volume.
fn bed() -> (Vec<Vec3>, f64) {
    let mut simulation = simulation(
        &format!(
            "seed = 4\n{GRAINS}\n{}[[wall]]\nname = \"mantle\"\nmaterial = \"m\"\n\
             cylinder = {{ from = [0, 0, -1], to = [0, 0, 60], radius = {SILO} }}\n\
             [[wall]]\nname = \"floor\"\nmaterial = \"m\"\nplane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n\
             [[grains]]\nname = \"bed\"\nmaterial = \"m\"\nradius = 0.5\n\
             fill = {{ method = \"drop-and-roll\", count = 9000, region = {{ cylinder = {{ from = [0, 0, 0], to = [0, 0, 40], radius = {SILO} }} }} }}\n",
            pair("default", 1e4, FRICTION)
        ),
        1,
    );
    bulk::run_to(&mut simulation, 6.0);
    let core = Region::Cylinder { from: Vec3::new(0.0, 0.0, 2.0), to: Vec3::new(0.0, 0.0, 10.0), radius: SILO };
    let packing = region::measure(simulation.model(), &simulation.state, &core).expect("a region of our own").packing;
    let p = &simulation.state.particles;
    ((0..p.owned()).map(|i| p.position(i)).collect(), packing * 6.0 / PI)
}

/// Grains that have left against time, from a bed whose floor has an opening of this diameter.
fn discharge(bed: &[Vec3], opening: f64) -> Vec<[f64; 2]> {
    let places: Vec<String> = bed.iter().map(|x| format!("[{}, {}, {}]", x.x, x.y, x.z)).collect();
    let mut simulation = simulation(
        &format!(
            "{GRAINS}\n{}[[wall]]\nname = \"mantle\"\nmaterial = \"m\"\n\
             cylinder = {{ from = [0, 0, -1], to = [0, 0, 60], radius = {SILO} }}\n\
             [[wall]]\nname = \"floor\"\nmaterial = \"m\"\n\
             cone = {{ from = [0, 0, -1e-3], to = [0, 0, 0], from-radius = {}, to-radius = {SILO} }}\n\
             [[grains]]\nname = \"bed\"\nmaterial = \"m\"\nradius = 0.5\nfill = {{ method = \"at\", positions = [{}] }}\n\
             [[remove]]\nbelow = {{ z = -2 }}\n",
            pair("default", 1e4, FRICTION),
            0.5 * opening,
            places.join(", ")
        ),
        1,
    );
    let mut left = Vec::new();
    // Few are enough for the rate; through the widest opening the head falls by two fifths.
    let most = if opening == WIDEST { 0.4 * bed.len() as f64 } else { FIRST };
    while simulation.state.time < 45.0 && left.last().is_none_or(|l: &[f64; 2]| l[1] < most) {
        let next = simulation.state.time + 0.5;
        bulk::run_to(&mut simulation, next);
        left.push([simulation.state.time, simulation.state.removed.count as f64]);
    }
    left
}

fn beverloo() -> Findings {
    let mut found = Findings::default();
    let (bed, density) = bed();
    let mut rates = Vec::new();
    let mut curves = Vec::new();
    for opening in [5.0, 6.25, 7.5, 8.75, WIDEST] {
        let left = discharge(&bed, opening);
        // The first grains fall into nothing: the flow is taken once it is established.
        let steady: Vec<[f64; 2]> = left.iter().copied().filter(|l| l[0] >= 4.0).collect();
        // The same head for all: as long as the first quarter has not left.
        let high: Vec<[f64; 2]> = steady.iter().copied().filter(|l| l[1] <= FIRST).collect();
        rates.push([opening, bulk::line(&high).slope]);
        if opening == WIDEST {
            let (first, second) = steady.split_at(steady.len() / 2);
            let ratio = bulk::line(second).slope / bulk::line(first).slope;
            found.relative("flow of the second half of the time over that of the first", ratio, 1.0, 0.1);
        }
        curves.push((format!("opening {opening} d"), left));
    }
    let shifted: Vec<[f64; 2]> = rates.iter().map(|r| [r[0] - 1.4, r[1]]).collect();
    found.absolute("exponent of the flow against D - 1.4 d", bulk::exponent(&shifted).slope, 2.5, 0.1);
    let roots: Vec<[f64; 2]> = rates.iter().map(|r| [r[0], r[1].powf(0.4)]).collect();
    let fit = bulk::line(&roots);
    let constant = fit.slope.powf(2.5) / density;
    found.absolute("constant C, with the exponent 5/2", constant, 0.6, 0.05);
    found.absolute("constant k, with the exponent 5/2", -fit.offset / fit.slope, 1.4, 0.3);
    found.at_least("R² of the line through the flow to the power 2/5", fit.r2, 0.99);
    found.charts = vec![
        bulk::chart("Grains that have left", "time [sqrt(d/g)]", "grains", curves),
        bulk::chart(
            "Beverloo's law",
            "opening [d]",
            "grains per sqrt(d/g), to the power 2/5",
            vec![("measured".into(), roots), ("line".into(), bulk::drawn(1.0, WIDEST, |x| fit.offset + fit.slope * x))],
        ),
    ];
    found.reading = "one bed of 9000 spheres is opened five times; the silo is 2.4 times as wide as the widest opening and the bed 19 diameters \
                     deep. C belongs to the grains: with k = 1.4 it is 0.59, 0.55 and 0.52 for a friction of 0.2, 0.3 and 0.5 in this \
                     set-up, so that grains as rough as the last lie outside the published range. Rates are those of up to 2200 \
                     grains, 600 at the narrowest opening, and scatter by some per cent, which moves k and C of a fit together";
    found
}

/// Width of the column of Janssen.
const WIDTH: f64 = 10.0;

fn janssen() -> Findings {
    let mut found = Findings::default();
    let (settled, sink, friction, stiffness) = (15.0, 0.1, 0.2, 2e3);
    let mut simulation = simulation(
        &format!(
            "seed = 2\n{GRAINS}\n[material.side]\n{}{}[[wall]]\nname = \"mantle\"\nmaterial = \"side\"\n\
             cylinder = {{ from = [0, 0, -25], to = [0, 0, 90], radius = {} }}\n\
             [[wall]]\nname = \"floor\"\nmaterial = \"m\"\nplane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n\
             motion = {{ schedule = [{{ duration = {settled} }}, {{ duration = 1000, velocity = [0, 0, -{sink}] }}] }}\n\
             [[grains]]\nname = \"bed\"\nmaterial = \"m\"\nradius = {{ uniform = [0.45, 0.55] }}\n\
             fill = {{ method = \"drop-and-roll\", count = 3800, region = {{ cylinder = {{ from = [0, 0, 0], to = [0, 0, 80], radius = {} }} }} }}\n",
            pair("default", stiffness, 0.5),
            pair("m-side", stiffness, friction),
            0.5 * WIDTH,
            0.5 * WIDTH
        ),
        1,
    );
    bulk::run_to(&mut simulation, settled + 20.0);
    let area = 0.25 * PI * WIDTH * WIDTH;
    // Slabs 2.5 diameters thick, from one diameter above the floor.
    let mut slabs = vec![[0.0; 3]; 20];
    let (mut samples, mut load) = (0.0, 0.0);
    bulk::sample(&mut simulation, settled + 150.0, 0.5, |model, state| {
        let floor = -sink * (state.time - settled);
        for (k, slab) in slabs.iter_mut().enumerate() {
            let low = floor + 1.0 + 2.5 * k as f64;
            let (from, to) = (Vec3::new(0.0, 0.0, low), Vec3::new(0.0, 0.0, low + 2.5));
            let region = Region::Cylinder { from, to, radius: 0.5 * WIDTH };
            let held = region::measure(model, state, &region).expect("a region of our own");
            slab[0] += held.mass;
            slab[1] += held.stress.z_axis.z;
            slab[2] += 0.5 * (held.stress.x_axis.x + held.stress.y_axis.y);
        }
        let carried: f64 = ["floor", "mantle"].iter().map(|w| -state.walls[bulk::wall(model, w)].force.z).sum();
        load += carried / state.particles.mass.iter().sum::<f64>();
        samples += 1.0;
    });
    slabs.iter_mut().flatten().for_each(|value| *value /= samples);
    found.relative("load of floor and mantle over weight", load / samples, 1.0, 0.01);
    // The slabs that are full, the one with the surface and the one below left out.
    let full = slabs.iter().filter(|s| s[0] > 0.9 * slabs[2][0]).count() - 1;
    let density = slabs[1..full].iter().map(|s| s[0]).sum::<f64>() / (full as f64 - 1.0) / (2.5 * area);
    let depth = |k: usize| {
        let above: f64 = slabs[k + 1..].iter().map(|s| s[0]).sum::<f64>() + 0.5 * slabs[k][0];
        above / (density * area)
    };
    let points: Vec<[f64; 2]> = (0..full).map(|k| [depth(k), slabs[k][1]]).collect();
    // c = 4 mu K / D is the one constant that is fitted; gravity is 1.
    let silo = |c: f64| Janssen { weight: density, friction, length: 0.25 * WIDTH, ratio: 0.25 * c * WIDTH / friction };
    let curve = |c: f64, z: f64| silo(c).vertical_stress(z);
    let c = bulk::least(1e-3, 2.0, |c| points.iter().map(|p| (p[1] - curve(c, p[0])).powi(2)).sum());
    found.at_least("R² of Janssen's curve, one constant fitted", bulk::r_squared(&points, |z| curve(c, z)), 0.99);
    let deepest = points[0];
    found.at_most("stress near the floor over that of a liquid", deepest[1] / (density * deepest[0]), 0.5);
    let k_fit = c * WIDTH / (4.0 * friction);
    let k_seen = bulk::mean(&slabs[..full].iter().map(|s| s[2] / s[1]).collect::<Vec<_>>());
    found.relative("K of the fit over that of the stresses measured inside", k_fit / k_seen, 1.0, 0.2);
    found.charts.push(bulk::chart(
        "Vertical stress over the depth",
        "depth [d]",
        "stress [m g/d²]",
        vec![
            ("measured".into(), points),
            ("Janssen".into(), bulk::drawn(0.0, deepest[0], |z| curve(c, z))),
            ("liquid".into(), bulk::drawn(0.0, deepest[0], |z| density * z)),
        ],
    ));
    found.reading = "3800 spheres, friction 0.5 among them and 0.2 on the wall, so that they slide there as the closed form assumes: \
                     by what was seen, 96 to 100 per cent of the friction points upwards. K varies from place to place, from 0.6 to 0.85 and more near the \
                     surface, so the curve is the better met the further the packing travels while it is looked at, here 13 diameters";
    found
}
