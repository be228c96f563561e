//! Tables printed at the end of a run.

use crate::out::say;
use esker::measure::energy::EnergyBalance;
use esker::simulation::Simulation;
use esker_io::record::by_name;
use esker_io::record::collisions::names;

/// Prints the time of each phase.
pub fn phases(phases: &[(String, f64)], total: f64) {
    say!("  {:<18} {:>10} {:>7}", "phase", "seconds", "share");
    let known: f64 = phases.iter().map(|p| p.1).sum();
    let rest = (total - known).max(0.0);
    for (name, seconds) in phases.iter().filter(|p| p.1 > 0.0) {
        let seconds = if name == "output and rest" { seconds + rest } else { *seconds };
        say!("  {name:<18} {seconds:>10.3} {:>6.1}%", 100.0 * seconds / total.max(1e-9));
    }
}

/// Prints hard collisions by stage and kind of pair, and what was done against collisions without end.
pub fn collisions(simulation: &Simulation) {
    let meetings = &simulation.state.meetings;
    say!("  {:<32} {:>12} {:>12} {:>12} {:>12}", "collisions", "number", "per second", "mean m/s", "lost W");
    for tally in &meetings.tallies {
        let stage = &simulation.stages()[tally.stage];
        let time = (tally.to - tally.from).max(f64::MIN_POSITIVE);
        for (pair, class) in tally.classes().filter(|(_, class)| class.count > 0) {
            let [a, b] = names(&stage.model, tally, pair);
            let n = class.count as f64;
            say!(
                "  {:<32} {:>12} {:>12.4e} {:>12.4e} {:>12.4e}",
                format!("{}: {a} with {b}", stage.name),
                class.count,
                n / time,
                class.speed / n,
                class.lost / time
            );
        }
    }
    for (what, count) in meetings.cures.list().iter().filter(|cure| cure.1 > 0) {
        say!("  {what:<45} {count:>12}");
    }
}

/// Prints the energy account.
pub fn energy(b: &EnergyBalance) {
    let line = |name: &str, value: f64| say!("  {name:<32} {value:>14.6e} J");
    line("kinetic, translation", b.translation);
    line("kinetic, rotation", b.rotation);
    for (name, value) in by_name(&b.potential) {
        line(&format!("potential, {name}"), value);
    }
    line("elastic, normal", b.elastic_normal);
    line("elastic, tangential", b.elastic_tangential);
    line("dissipated by damping", b.dissipated.damping);
    line("dissipated by friction", b.dissipated.friction);
    line("dissipated by rolling", b.dissipated.rolling);
    for (name, value) in by_name(&b.wall_work).iter().filter(|w| w.1 != 0.0) {
        line(&format!("work of wall {name}"), *value);
    }
    for (name, value) in
        [("work of fields", b.field_work), ("entered", b.entered), ("left", b.left), ("switched by stages", b.switched)]
    {
        if value != 0.0 {
            line(name, value);
        }
    }
    let lost = b.lost();
    let share =
        if lost > 0.0 { format!(", {:.1e} of the dissipated", (b.residual() / lost).abs()) } else { String::new() };
    say!("  {:<32} {:>14.6e} J{share}", "residual", b.residual());
}

/// Prints lines of cells under a header, each column as wide as its widest cell, to the right.
pub fn aligned(header: &[String], lines: &[Vec<String>]) {
    let length = |cell: &String| cell.chars().count();
    let width = |k: usize| lines.iter().chain([&header.to_vec()]).map(|line| length(&line[k])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    for line in [header].into_iter().chain(lines.iter().map(Vec::as_slice)) {
        let cells: Vec<String> = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}")).collect();
        say!("{}", cells.join("  "));
    }
}
