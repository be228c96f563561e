//! Packed bed and gate: D-01 and D-02.

use super::table::Table;
use super::{load, relative_residual, wall};
use esker::math::Vec3;
use esker::measure::contacts::{self, GrainContacts, Spread};
use esker::measure::energy;
use esker::measure::probe::coordination;
use esker::measure::surface::{Bins, SurfaceLine};
use esker::simulation::Simulation;
use std::f64::consts::PI;

/// Width of the bed, of the chamber, and gravity, as in the scene \[m\], \[m/s²\].
const WIDTH: f64 = 2.0;
const CHAMBER: f64 = 4.0;
const GRAVITY: f64 = 10.0;

/// The whole study of one seed: 8 s of settling, 6 s of discharge.
pub fn run(overrides: &[&str]) -> Table {
    let overrides: Vec<&str> = overrides.iter().copied().chain(["stage.discharge.duration=6"]).collect();
    let mut simulation = load("packed-bed.toml", &overrides);
    let mut table = Table::default();
    settle(&mut simulation, &mut table);
    discharge(&mut simulation, &mut table);
    table.put("ledger residual / dissipated", relative_residual(&simulation));
    table
}

/// D-01, until the stage is over.
pub fn settle(simulation: &mut Simulation, table: &mut Table) {
    let start = energy::balance(simulation.model(), &simulation.state);
    let mut watched = vec![(0.5, f64::NAN), (2.5, f64::NAN), (4.0, f64::NAN)];
    let mut deepest = 0.0f64;
    while simulation.state.stage == 0 {
        simulation.advance(20).expect("the bed settles");
        deepest = deepest.max(simulation.largest_overlap());
        let kinetic = kinetic(simulation);
        for (time, value) in watched.iter_mut().filter(|w| w.1.is_nan()) {
            if simulation.state.time >= *time {
                *value = kinetic;
            }
        }
    }
    let (model, state) = (simulation.model(), &simulation.state);
    let p = &state.particles;
    let end = energy::balance(model, state);
    let mass: f64 = p.mass.iter().sum();
    let area: f64 = (0..p.owned()).map(|i| PI * p.radius(i).powi(2)).sum();

    let aside = (0..p.owned()).map(|i| p.position(i).z.abs() + p.velocity(i).z.abs()).fold(0.0, f64::max);
    table.put("D-01 a: motion out of the plane", aside);
    let fallen = potential(&start) - potential(&end);
    table.put("D-01 b: kinetic / released potential energy", end.kinetic() / fallen);
    for (time, value) in watched {
        table.put(&format!("kinetic energy at {time} s [J]"), value);
    }
    table.put("kinetic energy at the end [J]", end.kinetic());
    let on_walls: f64 = state.walls.iter().map(|w| -w.force.y).sum();
    table.put("D-01 c: vertical load of all walls / weight", on_walls / (mass * GRAVITY));
    let on_floor = -state.walls[wall(simulation, "floor")].force.y;
    table.put("D-01 c: of the floor / weight", on_floor / (mass * GRAVITY));
    let surface = Bins::planar(0.0..WIDTH, 20).surface(p, |_| true);
    let line = SurfaceLine::through(&surface).expect("the bed has a surface");
    table.put("area of the grains [m²]", area);
    table.put("D-01 d: mean surface height [m]", line.mean);
    table.put("nominal area fraction", area / (WIDTH * line.mean));

    let grains = contacts::of_grains(model, state);
    let loads = Spread::of(grains.iter().map(|g| g.load)).expect("there are grains");
    table.put("D-01 e: mean load of a grain [N]", loads.mean);
    table.put("D-01 e: variation of the load", loads.variation());
    table.put("D-01 e: largest / mean load", loads.max / loads.mean);
    let layers = (0..)
        .map(|k| 0.2 * f64::from(k))
        .take_while(|y| *y < line.mean)
        .map(|y| {
            let of_layer = (0..p.owned()).filter(|&i| (y..y + 0.2).contains(&p.position(i).y));
            Spread::of(of_layer.map(|i| grains[i].load)).map_or(f64::NAN, |s| s.variation())
        })
        .fold((f64::INFINITY, 0.0f64), |(low, high), cv| (low.min(cv), high.max(cv)));
    table.put("D-01 e: least variation in a layer of 0.2 m", layers.0);
    table.put("D-01 e: greatest variation in a layer of 0.2 m", layers.1);
    table.put("D-01 f: contacts", coordination(model, state).0);
    table.put("deepest overlap / radius, ever", deepest);
    table.put("deepest overlap / radius, at the end", simulation.largest_overlap());
}

/// D-02, from the opening of the gate to the end.
pub fn discharge(simulation: &mut Simulation, table: &mut Table) {
    let opened = simulation.state.time;
    let gate = wall(simulation, "gate");
    let mut arrival = f64::NAN;
    let (mut front, mut retreat) = (0.0f64, 0.0f64);
    let (mut backward, mut packed) = (0usize, 0.0f64);
    let (mut loose, mut loose_samples) = (0.0, 0.0);
    let (mut least, mut greatest) = (f64::INFINITY, 0.0f64);
    while !simulation.is_finished() {
        let t = simulation.state.time - opened;
        simulation.advance(if t < 1.2 { 20 } else { 1000 }).expect("the bed flows");
        let t = simulation.state.time - opened;
        if t > 1.2 || simulation.is_finished() {
            continue;
        }
        let (model, state) = (simulation.model(), &simulation.state);
        let p = &state.particles;
        let reach = (0..p.owned()).map(|i| p.position(i).x + p.radius(i)).fold(0.0, f64::max);
        if arrival.is_nan() {
            retreat = retreat.max(front - reach);
            front = front.max(reach);
            if state.walls[gate].force.x == 0.0 {
                continue;
            }
            arrival = t;
        }
        // After the front has hit the far wall.
        let grains = contacts::of_grains(model, state);
        let flying = (0..p.owned()).filter(|&i| grains[i].count == 0 && p.velocity(i).x < 0.0).count();
        if t < arrival + 0.45 {
            backward = backward.max(flying);
            let variation = Spread::of(grains.iter().map(|g| g.load)).map_or(0.0, |s| s.variation());
            (least, greatest) = (least.min(variation), greatest.max(variation));
        }
        let fraction = far_fraction(simulation, &grains);
        if t < arrival + 0.2 {
            packed = packed.max(fraction);
        }
        if (0.8..1.1).contains(&t) {
            (loose, loose_samples) = (loose + fraction, loose_samples + 1.0);
        }
    }
    table.put("D-02 a: arrival of the front [s]", arrival);
    table.put("D-02 a: greatest retreat of the front before [m]", retreat);
    table.put("D-02 b: most free grains moving back", backward as f64);
    table.put("D-02 c: area fraction at the far wall, peak", packed);
    table.put("D-02 c: the same, mean of 0.80 to 1.10 s", loose / loose_samples);
    table.put("D-02 d: least variation of the load", least);
    table.put("D-02 d: greatest variation of the load", greatest);

    let p = &simulation.state.particles;
    let surface = Bins::planar(0.0..CHAMBER, 20).surface(p, |_| true);
    let line = SurfaceLine::through(&surface).expect("the bed has a surface");
    table.put("D-02 e: final mean surface height [m]", line.mean);
    table.put("final inclination, positive towards the far wall [deg]", line.inclination().to_degrees());
    let mass: f64 = p.mass.iter().sum();
    let centre: Vec3 = (0..p.owned()).map(|i| p.mass[i] * p.position(i)).sum::<Vec3>() / mass;
    table.put("final centre of mass, horizontal [m]", centre.x);
    table.put("final kinetic energy [J]", kinetic(simulation));
}

/// Area of the grains below the surface over the area below it, in the last half metre before the far wall.
fn far_fraction(simulation: &Simulation, grains: &[GrainContacts]) -> f64 {
    let p = &simulation.state.particles;
    let bins = Bins::planar(CHAMBER - 0.5..CHAMBER, 5);
    let surface = bins.surface(p, |i| grains[i].count > 0);
    let height_over = |i: usize| {
        let k = bins.of(p.position(i))?;
        let middle = bins.range.start + (k as f64 + 0.5) * bins.width();
        surface.iter().find(|s| (s.at - middle).abs() < 0.1 * bins.width()).map(|s| s.height)
    };
    let below = |i: &usize| height_over(*i).is_some_and(|h| p.position(*i).y < h);
    let area: f64 = (0..p.owned()).filter(below).map(|i| PI * p.radius(i).powi(2)).sum();
    area / surface.iter().map(|s| s.height * bins.width()).sum::<f64>()
}

fn potential(balance: &energy::EnergyBalance) -> f64 {
    balance.potential.iter().map(|p| p.1).sum()
}

fn kinetic(simulation: &Simulation) -> f64 {
    let p = &simulation.state.particles;
    (0..p.owned()).map(|i| p.kinetic_energy(i)).map(|(translation, rotation)| translation + rotation).sum()
}

#[test]
fn a_bed_settles_on_its_floor_and_its_front_reaches_the_far_wall_as_in_the_study() {
    // One seed, a shorter settling than in the study: bands of verification/D-01_D-03.md, widened for that.
    let mut simulation = load("packed-bed.toml", &["stage.settle.duration=2.5", "stage.discharge.duration=1.15"]);
    let mut table = Table::default();
    settle(&mut simulation, &mut table);
    discharge(&mut simulation, &mut table);
    let within = |name: &str, low: f64, high: f64| {
        let value = table.get(name);
        assert!((low..=high).contains(&value), "{name}: {value} is not within {low} … {high}");
    };
    within("D-01 a: motion out of the plane", 0.0, 0.0);
    within("D-01 c: vertical load of all walls / weight", 0.9, 1.1);
    within("D-01 d: mean surface height [m]", 1.3, 1.6);
    within("D-01 e: variation of the load", 0.5, 1.0);
    within("D-01 e: largest / mean load", 2.5, 6.0);
    within("D-02 a: arrival of the front [s]", 0.6, 0.72);
    within("D-02 a: greatest retreat of the front before [m]", 0.0, 1e-9);
    within("D-02 b: most free grains moving back", 1.0, 30.0);
    within("D-02 d: least variation of the load", 0.5, 1.5);
    assert!(relative_residual(&simulation) < 1e-3, "{}", relative_residual(&simulation));
}
