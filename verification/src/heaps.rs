//! Heaps and shaken beds.

use crate::bench::simulation;
use crate::bulk;
use crate::{Case, Effort, Evidence, Findings};
use esker::math::Vec3;
use esker::measure::surface::{Bins, SurfaceLine};
use std::collections::BTreeMap;
use std::f64::consts::TAU;

pub const CASES: &[Case] = &[
    Case {
        id: "V36",
        source: "angle of repose by a lifted cylinder, as in the round robin of Saomoto et al., Soils Found. 63, 101272 (2023)",
        title: "heap of 700 spheres: angle from bed to bed, and how it grows with rolling friction",
        evidence: Evidence::Trend,
        effort: Effort::Long,
        run: repose,
    },
    Case {
        id: "V37",
        source: "Rosato et al., Phys. Rev. Lett. 58, 1038 (1987); Knight, Jaeger & Nagel, Phys. Rev. Lett. 70, 3728 (1993)",
        title: "large disc in a shaken bed: rises, sooner with amplitude; frictionless walls stop the circulation",
        evidence: Evidence::Trend,
        effort: Effort::Long,
        run: brazil_nut,
    },
];

/// Angle of the heap \[deg\], and its profile.
fn heap(friction: f64, rolling: f64, seed: u64) -> (f64, Vec<[f64; 2]>) {
    let rolling =
        if rolling > 0.0 { format!("rolling = {{ law = \"spring\", friction = {rolling} }}\n") } else { String::new() };
    let mut simulation = simulation(
        &format!(
            "gravity = [0, 0, -1]\nseed = {seed}\n[material.m]\ndensity = 1.909859317102744\n\
             [contact.default]\nnormal = {{ law = \"hooke\", stiffness = 1e4, restitution = 0.5 }}\n\
             tangential = {{ law = \"spring\", friction = {friction} }}\n{rolling}\
             [[wall]]\nname = \"floor\"\nmaterial = \"m\"\nplane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n\
             [[wall]]\nname = \"cylinder\"\nmaterial = \"m\"\ncylinder = {{ from = [0, 0, 0], to = [0, 0, 40], radius = 4.5 }}\n\
             motion = {{ schedule = [{{ duration = 6 }}, {{ duration = 1000, velocity = [0, 0, 0.3] }}] }}\n\
             [[grains]]\nname = \"heap\"\nmaterial = \"m\"\nradius = {{ uniform = [0.45, 0.55] }}\n\
             fill = {{ method = \"drop-and-roll\", count = 700, region = {{ cylinder = {{ from = [0, 0, 0], to = [0, 0, 30], radius = 4.5 }} }} }}\n\
             [solver]\nsteps-per-contact = 25\n"
        ),
        1,
    );
    bulk::run_to(&mut simulation, 50.0);
    let p = &simulation.state.particles;
    let mut slopes = Vec::new();
    let mut profile = BTreeMap::new();
    // The four flanks, in strips three diameters wide, between the top and where one layer is left.
    for (along, across) in [(Vec3::X, Vec3::Y), (-Vec3::X, Vec3::Y), (Vec3::Y, Vec3::X), (-Vec3::Y, Vec3::X)] {
        let bins = Bins { along, up: Vec3::Z, range: 1.0..16.6, count: 12 };
        let surface = bins.surface(p, |i| p.position(i).dot(across).abs() < 1.5);
        let flank: Vec<_> = surface.iter().copied().take_while(|s| s.height > 1.5).collect();
        slopes.push(SurfaceLine::through(&flank).map_or(0.0, |line| -line.inclination().to_degrees()));
        for s in surface {
            profile.entry((s.at * 100.0) as i64).or_insert_with(Vec::new).push(s.height);
        }
    }
    (bulk::mean(&slopes), profile.iter().map(|(at, h)| [*at as f64 / 100.0, bulk::mean(h)]).collect())
}

fn repose() -> Findings {
    let mut found = Findings::default();
    let (smooth, smooth_profile) = heap(0.0, 0.0, 1);
    let (little, little_profile) = heap(0.5, 0.1, 1);
    let (second, _) = heap(0.5, 0.1, 2);
    let (much, much_profile) = heap(0.5, 0.3, 1);
    found.at_most("no friction: angle [deg]", smooth, 2.0);
    found.at_least("rolling friction 0.1: angle [deg]", little, 5.0);
    found.absolute(
        "rolling friction 0.1: angle of a second bed less that of the first [deg]",
        second - little,
        0.0,
        1.5,
    );
    found.at_least("rolling friction 0.3 over 0.1: angle", much / little, 1.1);
    found.charts.push(bulk::chart(
        "Mean profile of the heap",
        "distance from the axis [d]",
        "height [d]",
        vec![
            ("no friction".into(), smooth_profile),
            (format!("rolling friction 0.1, {little:.1} deg"), little_profile),
            (format!("rolling friction 0.3, {much:.1} deg"), much_profile),
        ],
    ));
    found.reading = "friction 0.5 on a smooth floor, where spheres without rolling friction leave no heap. The angles of the round robin \
                     belong to its own grains and are not compared; its gate of 1.5 deg is asked of two beds of ours";
    found
}

/// What became of a large disc in a shaken bed.
struct Shaken {
    /// Time until it is above seven tenths of the bed \[cycles\].
    rise: f64,
    /// Height over that of the bed at the end.
    end: f64,
    /// Mean rise of small discs in the middle less that at the walls, per cycle.
    circulation: f64,
    way: Vec<[f64; 2]>,
}

const CYCLES: f64 = 80.0;
const BOX: f64 = 14.0;

fn shake(amplitude: f64, wall_friction: f64) -> Shaken {
    let rate = 2.0f64;
    let cycle = TAU / rate;
    let settle = 20.0;
    let mut simulation = simulation(
        &format!(
            "planar = true\ngravity = [0, -1]\nseed = 5\n[material.m]\ndensity = \"1.2732 kg/m^2\"\n[material.side]\n\
             [contact.default]\nnormal = {{ law = \"hooke\", stiffness = 5e3, restitution = 0.6 }}\ntangential = {{ law = \"spring\", friction = 0.5 }}\n\
             [contact.m-side]\nnormal = {{ law = \"hooke\", stiffness = 5e3, restitution = 0.6 }}\n\
             tangential = {{ law = \"spring\", friction = {wall_friction} }}\n\
             [[wall]]\nname = \"box\"\nmaterial = \"side\"\npolyline = [[0, 60], [0, 0], [{BOX}, 0], [{BOX}, 60]]\n\
             [[grains]]\nname = \"nut\"\nmaterial = \"m\"\nradius = 2\nfill = {{ method = \"at\", positions = [[{}, 2.1]] }}\n\
             [[grains]]\nname = \"bed\"\nmaterial = \"m\"\nradius = {{ uniform = [0.45, 0.55] }}\n\
             fill = {{ method = \"lattice\", count = 200, jitter = 0.5, region = {{ box = {{ min = [0, 4.5], max = [{BOX}, 40] }} }} }}\n\
             [solver]\nsteps-per-contact = 30\n\
             [[stage]]\nname = \"settle\"\nduration = {settle}\n\
             [[stage]]\nname = \"shake\"\nduration = {}\n\
             motion = {{ box = {{ oscillate = {{ direction = [0, 1], amplitude = {amplitude}, frequency = {} }} }} }}\n",
            0.5 * BOX,
            CYCLES * cycle,
            1.0 / cycle,
        ),
        1,
    );
    while simulation.state.stage == 0 {
        simulation.advance(10_000).expect("the bed settles");
    }
    let begin = simulation.state.time;
    let (mut rise, mut way, mut circulation) = (f64::INFINITY, Vec::new(), Vec::new());
    let mut before: BTreeMap<u64, Vec3> = BTreeMap::new();
    for k in 1..CYCLES as usize {
        bulk::run_to(&mut simulation, begin + k as f64 * cycle);
        let p = &simulation.state.particles;
        let nut = (0..p.owned()).find(|&i| p.radius(i) > 1.0).expect("the large disc stays");
        let mut heights: Vec<f64> = (0..p.owned()).filter(|&i| i != nut).map(|i| p.position(i).y).collect();
        heights.sort_by(f64::total_cmp);
        // The height below which nine tenths of the small discs lie stands for the surface.
        let place = p.position(nut).y / heights[heights.len() * 9 / 10];
        way.push([k as f64, place]);
        if place > 0.7 && rise.is_infinite() {
            rise = k as f64;
        }
        let mut sums = [[0.0; 2]; 2];
        for i in (0..p.owned()).filter(|&i| i != nut) {
            let x = p.position(i);
            if let Some(old) = before.insert(p.id[i], x) {
                let side = x.x.min(BOX - x.x);
                let zone = if side < 1.5 {
                    1
                } else if side > 4.0 {
                    0
                } else {
                    continue;
                };
                sums[zone] = [sums[zone][0] + x.y - old.y, sums[zone][1] + 1.0];
            }
        }
        if k > 1 {
            circulation.push(sums[0][0] / f64::max(sums[0][1], 1.0) - sums[1][0] / f64::max(sums[1][1], 1.0));
        }
    }
    let end = bulk::mean(&way[way.len() - 10..].iter().map(|w| w[1]).collect::<Vec<_>>());
    Shaken { rise, end, circulation: bulk::mean(&circulation), way }
}

fn brazil_nut() -> Findings {
    let mut found = Findings::default();
    let (weak, strong) = (shake(0.6, 0.5), shake(1.2, 0.5));
    let smooth = shake(1.2, 0.0);
    found.at_least(
        "amplitude 0.6 d: height of the large disc at the end over its height at the start",
        weak.end / weak.way[0][1],
        1.2,
    );
    found.at_least("amplitude 1.2 d: height of the large disc at the end over that of the bed", strong.end, 0.7);
    found.at_most("time to rise, amplitude 1.2 d over 0.6 d", strong.rise / weak.rise.min(CYCLES), 0.9);
    found.at_least("amplitude 1.2 d: circulation, up in the middle [d per cycle]", strong.circulation, 1e-3);
    found.at_most("circulation, frictionless over rough walls", smooth.circulation.abs() / strong.circulation, 0.5);
    found.charts.push(bulk::chart(
        "Height of the large disc",
        "cycles",
        "over the height of the bed",
        vec![
            ("amplitude 0.6 d".into(), weak.way),
            ("1.2 d".into(), strong.way),
            ("1.2 d, frictionless walls".into(), smooth.way),
        ],
    ));
    found.reading = "planar, 200 discs and one four times as large, accelerations 2.4 and 4.8 times gravity";
    found
}
