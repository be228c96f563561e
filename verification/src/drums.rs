//! Rotating drums.

use crate::bench::simulation;
use crate::bulk;
use crate::{Case, Effort, Evidence, Findings};
use esker::boundary::{Mesh, Surface};
use esker::math::Vec3;
use esker::measure::surface::{Bins, SurfaceLine};
use esker::simulation::Simulation;
use std::f64::consts::TAU;
use std::sync::Arc;

pub const CASES: &[Case] = &[
    Case {
        id: "DOSTA-2",
        source: "Dosta et al., Comput. Phys. Commun. 296, 109066 (2024), case 2",
        title: "drum with two kinds of grains, a slice 8 mm long of the 60 mm, 1.5 s of turning: triangulated wall against the exact one",
        evidence: Evidence::Property,
        effort: Effort::Long,
        run: two_kinds,
    },
    Case {
        id: "V35",
        source: "regimes of rotating drums by the Froude number (Henein et al. 1983; Mellmann 2001)",
        title: "discs in a drum: angle while rolling whatever the filling, steeper when cascading, carried round when centrifuging",
        evidence: Evidence::Trend,
        effort: Effort::Long,
        run: regimes,
    },
];

/// Settling before the drum turns \[s\].
const SETTLE: f64 = 0.25;

/// A slice of the drum of the benchmark, periodic along its axis, moduli a thousandth.
fn slice(triangulated: bool) -> Simulation {
    let law = |pair: &str, e: f64, mu: f64| {
        format!(
            "[contact.{pair}]\nnormal = {{ law = \"hertz\", restitution = {e} }}\ntangential = {{ law = \"mindlin\", friction = {mu} }}\n"
        )
    };
    let laws = [
        law("m1-m1", 0.5, 0.3),
        law("m1-m2", 0.45, 0.2),
        law("m2-m2", 0.4, 0.4),
        law("m1-steel", 0.4, 0.2),
        law("m2-steel", 0.4, 0.2),
    ]
    .concat();
    let built = simulation(
        &format!(
            "gravity = [0, 0, -9.81]\nseed = 1\n[domain]\nmin = [-0.12, 0, -0.12]\nmax = [0.12, 0.008, 0.12]\nperiodic = [\"y\"]\n\
             [material.m1]\ndensity = 2500\nyoungs-modulus = 1e6\npoisson-ratio = 0.2\n\
             [material.m2]\ndensity = 2000\nyoungs-modulus = 0.5e6\npoisson-ratio = 0.2\n\
             [material.steel]\nyoungs-modulus = 210e6\npoisson-ratio = 0.2\n{laws}\
             [[wall]]\nname = \"drum\"\nmaterial = \"steel\"\ncylinder = {{ from = [0, -0.02, 0], to = [0, 0.03, 0], radius = 0.1 }}\n\
             motion = {{ schedule = [{{ duration = {SETTLE} }}, {{ duration = 1000, rate = -2, axis = [0, 1, 0] }}] }}\n\
             [[grains]]\nname = \"large\"\nmaterial = \"m2\"\nradius = 0.002\n\
             fill = {{ method = \"lattice\", count = 1067, region = {{ box = {{ min = [-0.07, 0, -0.07], max = [0.07, 0.008, 0] }} }} }}\n\
             [[grains]]\nname = \"small\"\nmaterial = \"m1\"\nradius = 0.001\n\
             fill = {{ method = \"lattice\", count = 4000, jitter = 0.5, region = {{ box = {{ min = [-0.085, 0, 0], max = [0.085, 0.008, 0.05] }} }} }}\n\
             [solver]\nsteps-per-contact = 30\n"
        ),
        1,
    );
    if !triangulated {
        return built;
    }
    let mut stages = built.stages().to_vec();
    for stage in &mut stages {
        stage.model.walls[0].surface = Arc::new(Surface::Mesh(mantle(0.1, -0.02, 0.03)));
    }
    Simulation::new(stages, built.state, 1)
}

/// A mantle of 180 flat strips, two triangles each, as far from the axis on average as the circle.
fn mantle(radius: f64, from: f64, to: f64) -> Mesh {
    let strips = 180u32;
    let half = 0.5 * TAU / f64::from(strips);
    // The area of the polygon is that of the circle.
    let radius = radius * (2.0 * half / (2.0 * half).sin()).sqrt();
    let corner = |k: u32, y: f64| {
        let (sin, cos) = (f64::from(k) * 2.0 * half).sin_cos();
        Vec3::new(radius * cos, y, radius * sin)
    };
    let vertices = (0..strips).flat_map(|k| [corner(k, from), corner(k, to)]).collect();
    let triangles = (0..strips)
        .flat_map(|k| {
            let (a, b) = (2 * k, 2 * ((k + 1) % strips));
            [[a, b, a + 1], [b, b + 1, a + 1]]
        })
        .collect();
    Mesh::new(vertices, triangles, 0.002).expect("a mesh of our own")
}

/// Shares of the small and of the large grains in the zones x > 0, z > 0 and x < 0, z < 0, against time.
fn shares(mut drum: Simulation) -> (Vec<[f64; 5]>, f64) {
    let mut shares = Vec::new();
    bulk::run_to(&mut drum, SETTLE);
    bulk::sample(&mut drum, SETTLE + 1.5, 0.05, |_, state| {
        let p = &state.particles;
        let mut counts = [0.0; 6];
        for i in 0..p.owned() {
            let (x, kind) = (p.position(i), usize::from(p.radius(i) > 0.0015));
            counts[kind] += 1.0;
            counts[2 + kind] += f64::from(u8::from(x.x > 0.0 && x.z > 0.0));
            counts[4 + kind] += f64::from(u8::from(x.x < 0.0 && x.z < 0.0));
        }
        let of = |k: usize| counts[2 + k] / counts[k % 2];
        shares.push([state.time - SETTLE, of(0), of(1), of(2), of(3)]);
    });
    let p = &drum.state.particles;
    let out = (0..p.owned()).filter(|&i| p.position(i).x.hypot(p.position(i).z) > 0.1).count();
    (shares, out as f64)
}

fn two_kinds() -> Findings {
    let mut found = Findings::default();
    let (exact, _) = shares(slice(false));
    let (meshed, lost) = shares(slice(true));
    found.absolute("grains outside the triangulated drum", lost, 0.0, 0.0);
    let mut curves = Vec::new();
    for (k, name) in
        ["small, upper right", "large, upper right", "small, lower left", "large, lower left"].into_iter().enumerate()
    {
        let off: Vec<f64> = exact.iter().zip(&meshed).map(|(a, b)| (a[k + 1] - b[k + 1]).abs()).collect();
        found.at_most(
            format!("{name}: share of its kind, mesh against exact, mean difference"),
            bulk::mean(&off),
            0.03,
        );
        curves.push((format!("{name}, mesh"), meshed.iter().map(|s| [s[0], s[k + 1]]).collect()));
    }
    let small: Vec<f64> = meshed.iter().map(|s| s[3]).collect();
    let (low, high) = bulk::range(&small);
    found.at_least("small, lower left: greatest less least share, the bed circulates", high - low, 0.1);
    found.charts.push(bulk::chart("Shares of each kind in two quadrants", "time of turning [s]", "share", curves));
    found.reading = "moduli a thousandth, no end walls, a bed of lattice origin: the published curves, which start from given places, \
                     are not met point by point and none is compared here; what is compared is the wall";
    found
}

/// What a drum of discs shows at a Froude number.
struct Drum {
    /// Slope of the surface \[deg\].
    slope: f64,
    /// Angular momentum about the axis over that of a rigid turn.
    rigid: f64,
    profile: Vec<[f64; 2]>,
}

/// A ring of teeth 0.4 diameters deep, three diameters from one to the next: on a smooth wall the discs roll, and the bed slips.
fn teeth(radius: f64) -> String {
    let n = 2 * (0.5 * TAU * radius / 1.5).round() as usize;
    let corner = |k: usize| {
        let (sin, cos) = (TAU * k as f64 / n as f64).sin_cos();
        let r = if k.is_multiple_of(2) { radius + 0.4 } else { radius };
        format!("[{}, {}]", r * cos, r * sin)
    };
    (0..=n).map(|k| corner(k % n)).collect::<Vec<_>>().join(", ")
}

/// Discs of 0.9 to 1.1 diameters fill some of a drum; gravity one. All is taken over the last two fifths of the turns.
fn drum(radius: f64, fill: f64, froude: f64, turns: f64) -> Drum {
    let rate = (froude / radius).sqrt();
    let count = (fill * radius * radius * 4.0 * 0.82) as usize;
    let mut simulation = simulation(
        &format!(
            "planar = true\ngravity = [0, -1]\nseed = 3\n[material.m]\ndensity = \"1.2732 kg/m^2\"\n\
             [contact.default]\nnormal = {{ law = \"hooke\", stiffness = 5e3, restitution = 0.5 }}\n\
             tangential = {{ law = \"spring\", friction = 0.7 }}\n\
             [[wall]]\nname = \"drum\"\nmaterial = \"m\"\npolyline = [{}]\n\
             motion = {{ schedule = [{{ duration = 10 }}, {{ duration = 1e6, rate = {rate} }}] }}\n\
             [[grains]]\nname = \"bed\"\nmaterial = \"m\"\nradius = {{ uniform = [0.45, 0.55] }}\n\
             fill = {{ method = \"lattice\", count = {count}, region = {{ sphere = {{ centre = [0, 0], radius = {radius} }} }} }}\n\
             [solver]\nsteps-per-contact = 30\n",
            teeth(radius)
        ),
        1,
    );
    let period = TAU / rate;
    bulk::run_to(&mut simulation, 10.0 + 0.6 * turns * period);
    let bins = Bins::planar(-radius..radius, (radius * 1.4) as usize);
    let (mut slopes, mut rigid, mut profile) = (Vec::new(), Vec::new(), Vec::new());
    bulk::sample(&mut simulation, 10.0 + turns * period, 0.004 * period, |model, state| {
        let p = &state.particles;
        let grains = esker::measure::contacts::of_grains(model, state);
        let surface = bins.surface(p, |i| grains[i].count > 1);
        // The middle of the surface, away from the wall.
        let middle: Vec<_> = surface.iter().copied().filter(|s| s.at.abs() < 0.6 * radius).collect();
        if let Some(line) = SurfaceLine::through(&middle) {
            slopes.push(line.inclination().to_degrees());
        }
        profile = surface.iter().map(|s| [s.at / radius, s.height / radius]).collect();
        let moment = |i: usize| p.mass[i] * p.position(i).cross(p.velocity(i)).z;
        let inertia = |i: usize| p.mass[i] * p.position(i).length_squared();
        let sum = |f: &dyn Fn(usize) -> f64| (0..p.owned()).map(f).sum::<f64>();
        rigid.push(sum(&moment) / (rate * sum(&inertia)));
    });
    Drum { slope: bulk::mean(&slopes), rigid: bulk::mean(&rigid), profile }
}

fn regimes() -> Findings {
    let mut found = Findings::default();
    let (small, large) = (drum(20.0, 0.25, 4e-3, 4.0), drum(20.0, 0.4, 4e-3, 4.0));
    found.absolute(
        "rolling, Fr 0.004: slope with 1.6 times as many discs less slope [deg]",
        large.slope - small.slope,
        0.0,
        1.0,
    );
    let cascading = drum(20.0, 0.4, 0.1, 5.0);
    found.at_least("cascading, Fr 0.1: slope over that while rolling", cascading.slope / large.slope, 1.1);
    let carried = drum(12.0, 0.4, 3.0, 12.0);
    found.absolute("centrifuging, Fr 3: angular momentum over that of a rigid turn", carried.rigid, 1.0, 0.01);
    found.at_most("cascading, Fr 0.1: angular momentum over that of a rigid turn", cascading.rigid, 0.9);
    found.charts.push(bulk::chart(
        "Surface of the bed at the end",
        "x over radius",
        "height over radius",
        vec![
            ("rolling".into(), small.profile),
            ("rolling, 1.6 times as many".into(), large.profile),
            ("cascading".into(), cascading.profile),
            ("centrifuging".into(), carried.profile),
        ],
    ));
    found.reading = "planar, friction 0.7, a toothed wall, 330 and 520 discs in a drum 40 diameters wide; angles of discs are not those of spheres, so \
                     none is compared with a measured one. More of the same discs in the same drum leave the slope as it is. Smaller \
                     discs do not: at the same Froude number it was 29.0, 26.0, 23.8 and 21.9 deg in drums 24, 34, 48 and 68 diameters \
                     wide, about 17.5 deg and 140 deg times the diameter over the radius, since the layer that flows is only a few discs thick";
    found
}
