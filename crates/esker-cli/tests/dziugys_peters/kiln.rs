//! Rotary kiln: D-03.

use super::table::Table;
use super::{DASHPOT, SPRING, load, relative_residual};
use esker::measure::contacts::{self, Spread};
use esker::measure::energy::{self, EnergyBalance};
use esker::measure::surface::{Bins, SurfaceLine};
use esker::simulation::Simulation;
use std::collections::BTreeSet;
use std::f64::consts::TAU;

/// Radius of the drum \[m\] and its speed \[rad/s\], as in the scene.
const DRUM: f64 = 1.5;
const SPEED: f64 = 1.0;

/// The study of one seed: so many revolutions, measured from the end of the first to the last.
pub fn run(turns: f64, overrides: &[&str]) -> Table {
    let turns_text = format!("let.turns=\"{turns}\"");
    let overrides: Vec<&str> = overrides.iter().copied().chain([turns_text.as_str()]).collect();
    let mut simulation = load("kiln.toml", &overrides);
    let mut table = Table::default();
    while simulation.state.stage == 0 {
        simulation.advance(100).expect("the bed settles");
    }
    let p = &simulation.state.particles;
    let at_rest = energy::balance(simulation.model(), &simulation.state).kinetic();
    table.put("kinetic energy at 2 s [J]", at_rest);
    let left: BTreeSet<u64> = (0..p.owned()).filter(|&i| p.position(i).x < 0.0).map(|i| p.id[i]).collect();

    let begin = simulation.state.time;
    let bins = Bins::planar(-DRUM..DRUM, 15);
    let mut lines = Vec::new();
    let mut first: Option<EnergyBalance> = None;
    let mut last = EnergyBalance::default();
    let mut turned = 0.0;
    let mut separations = Vec::new();
    while !simulation.is_finished() {
        // Ten samples to the tenth of a second.
        simulation.advance(116).expect("the drum turns");
        if simulation.is_finished() {
            break;
        }
        let (model, state) = (simulation.model(), &simulation.state);
        turned = (state.time - begin) * SPEED / TAU;
        if turned.floor() as usize >= separations.len() {
            separations.push(contacts::segregation(model, state, |id| left.contains(&id)).unwrap_or(f64::NAN));
        }
        if turned < 1.0 {
            continue;
        }
        last = energy::balance(model, state);
        first.get_or_insert_with(|| last.clone());
        let grains = contacts::of_grains(model, state);
        lines.extend(SurfaceLine::through(&bins.surface(&state.particles, |i| grains[i].count > 0)));
    }
    let state = &simulation.state;
    let model = &simulation.stages().last().expect("there are stages").model;
    separations.push(contacts::segregation(model, state, |id| left.contains(&id)).unwrap_or(f64::NAN));

    let first = first.expect("more than one revolution");
    let slope = Spread::of(lines.iter().map(|l| l.inclination().to_degrees())).expect("samples");
    table.put("D-03 b: slope, mean over time [deg]", slope.mean);
    table.put("D-03 b: slope, deviation over time [deg]", slope.deviation);
    let rough = Spread::of(lines.iter().map(|l| l.roughness)).expect("samples");
    table.put("D-03 c: roughness, mean over time [m]", rough.mean);
    let mut sorted: Vec<f64> = lines.iter().map(|l| l.roughness).collect();
    sorted.sort_by(f64::total_cmp);
    table.put("D-03 c: roughness, least [m]", sorted[0]);
    table.put("D-03 c: roughness, 5 % quantile [m]", sorted[sorted.len() / 20]);
    table.put("D-03 c: roughness, 95 % quantile [m]", sorted[sorted.len() - 1 - sorted.len() / 20]);
    table.put("D-03 c: roughness, greatest [m]", rough.max);
    for (k, separation) in separations.iter().enumerate() {
        table.put(&format!("D-03 d: segregation after {k} revolutions"), *separation);
    }
    let work = |b: &EnergyBalance| b.wall_work.iter().map(|w| w.1).sum::<f64>();
    let time = (turned - 1.0) * TAU / SPEED;
    table.put("wall power [W]", (work(&last) - work(&first)) / time);
    table.put("D-03 e: wall power / dissipation", (work(&last) - work(&first)) / (last.lost() - first.lost()));
    table.put("ledger residual / dissipated", relative_residual(&simulation));
    table
}

/// Slope of the surface now \[deg\].
fn slope(simulation: &Simulation) -> f64 {
    let surface = Bins::planar(-DRUM..DRUM, 15).surface(&simulation.state.particles, |_| true);
    SurfaceLine::through(&surface).expect("the bed has a surface").inclination().to_degrees()
}

#[test]
fn the_bed_of_a_kiln_climbs_with_the_drum_and_higher_with_a_tangential_spring() {
    // Mean slope over the last half second of 3 s of turning; the study averages over three revolutions.
    let climbed = |law: &str| {
        let mut simulation = load("kiln.toml", &[law, "stage.turn.duration=3"]);
        let (mut sum, mut samples) = (0.0, 0.0);
        while !simulation.is_finished() {
            simulation.advance(500).expect("the drum turns");
            if simulation.state.time > 4.5 {
                (sum, samples) = (sum + slope(&simulation), samples + 1.0);
            }
        }
        assert!(relative_residual(&simulation) < 1e-3);
        sum / samples
    };
    let (dashpot, spring) = (climbed(DASHPOT), climbed(SPRING));
    assert!((8.0..20.0).contains(&dashpot), "T-10: {dashpot} degrees");
    assert!((17.0..38.0).contains(&spring), "T-12: {spring} degrees");
    assert!(spring > dashpot + 5.0, "{dashpot} and {spring} degrees");
}
