//! Tables of hard collisions: who met whom how often, how fast and at what cost.
//!
//! `collisions.csv` has a row for each stage and kind of pair; `spectra.csv` the same divided by the speed of approach and by the
//! energy of impact, m\\* v²/2 with the speed of approach, in eight bins for each doubling.

use crate::atomic::{self, FileError};
use crate::run_folder::RunFolder;
use esker::measure::tally::{Class, Pair, Spectrum, Tally};
use esker::model::{Method, Model};
use esker::simulation::{Simulation, Stage};
use esker::state::State;
use std::fmt::Write;

/// Collisions of each stage and kind of pair.
pub const COLLISIONS_FILE: &str = "collisions.csv";
/// The same over speed and energy.
pub const SPECTRA_FILE: &str = "spectra.csv";

/// First line of the collisions.
pub const COLLISIONS_HEADER: &str =
    "stage,first,second,with,time [s],collisions,rate [1/s],lost [J],mean impact speed [m/s],work of wall [J]";
/// First line of the spectra.
pub const SPECTRA_HEADER: &str = "stage,first,second,with,quantity,from,to,collisions,lost [J]";
/// What the spectra are over: a quantity as they name it.
pub const IMPACT_SPEED: &str = "impact speed [m/s]";
/// See [`IMPACT_SPEED`].
pub const IMPACT_ENERGY: &str = "impact energy [J]";

/// Whether a run has stages of hard collisions.
pub(super) fn are_counted(stages: &[Stage]) -> bool {
    stages.iter().any(|stage| matches!(stage.model.method, Method::Event(_)))
}

/// Names of who met: grains, and grains or a wall.
pub fn names<'a>(model: &'a Model, tally: &'a Tally, pair: Pair) -> [&'a str; 2] {
    let kind = |k: u16| model.kinds[usize::from(k)].name.as_str();
    match pair {
        Pair::Kinds(a, b) => [kind(a), kind(b)],
        Pair::Wall(a, wall) => [kind(a), tally.walls()[usize::from(wall)].as_str()],
    }
}

/// Columns of the series: speeds of the grains, all collisions, those of each kind of pair, and those at which something was done
/// against collisions without end.
pub(super) fn columns(model: &Model) -> Vec<String> {
    let tally = Tally::new(model, 0, 0.0);
    let of = |(pair, _): (Pair, &Class)| {
        let [a, b] = names(model, &tally, pair);
        format!("collisions of {a} with {b}")
    };
    let mut columns: Vec<String> = ["mean speed [m/s]", "rms speed [m/s]", "collisions"].map(String::from).to_vec();
    columns.extend(tally.classes().map(of));
    columns.push("collisions cured".into());
    columns
}

/// The values of these columns.
pub(super) fn values(model: &Model, state: &State) -> Vec<f64> {
    let p = &state.particles;
    let moving: Vec<f64> = (0..p.owned()).filter(|&i| !p.is_fixed(i)).map(|i| p.velocity(i).length()).collect();
    let n = moving.len().max(1) as f64;
    let (sum, squares) = moving.iter().fold((0.0, 0.0), |(sum, squares), v| (sum + v, squares + v * v));
    let mut counts = vec![0u64; Tally::new(model, 0, 0.0).classes().count()];
    for tally in &state.meetings.tallies {
        counts.iter_mut().zip(tally.classes()).for_each(|(sum, (_, class))| *sum += class.count);
    }
    let all: u64 = counts.iter().sum();
    let cured: u64 = state.meetings.cures.list().iter().map(|cure| cure.1).sum();
    let mut values = vec![sum / n, (squares / n).sqrt(), all as f64];
    values.extend(counts.iter().map(|&n| n as f64));
    values.push(cured as f64);
    values
}

/// Writes both tables as they are now.
pub(super) fn write(folder: &RunFolder, simulation: &Simulation) -> Result<(), FileError> {
    let (collisions, spectra) = tables(simulation);
    for (name, text) in [(COLLISIONS_FILE, collisions), (SPECTRA_FILE, spectra)] {
        atomic::write(&folder.file(name), |w| w.write_all(text.as_bytes()))?;
    }
    Ok(())
}

/// A name as a cell of a table.
pub(crate) fn cell(name: &str) -> String {
    if name.contains([',', '"', '\n']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.to_string() }
}

fn tables(simulation: &Simulation) -> (String, String) {
    let (mut collisions, mut spectra) = (format!("{COLLISIONS_HEADER}\n"), format!("{SPECTRA_HEADER}\n"));
    for tally in &simulation.state.meetings.tallies {
        let stage = &simulation.stages()[tally.stage];
        let time = tally.to - tally.from;
        for (pair, class) in tally.classes() {
            let [a, b] = names(&stage.model, tally, pair).map(cell);
            let with = if matches!(pair, Pair::Wall(..)) { "wall" } else { "grains" };
            let head = format!("{},{a},{b},{with}", cell(&stage.name));
            let Class { count, lost, speed, work, .. } = class;
            let n = *count as f64;
            let (rate, mean) = (if time > 0.0 { n / time } else { 0.0 }, if n > 0.0 { speed / n } else { 0.0 });
            let _ = writeln!(collisions, "{head},{time},{count},{rate},{lost},{mean},{work}");
            for (quantity, spectrum) in [(IMPACT_SPEED, &class.by_speed), (IMPACT_ENERGY, &class.by_energy)] {
                rows(&mut spectra, &head, quantity, spectrum);
            }
        }
    }
    (collisions, spectra)
}

fn rows(text: &mut String, head: &str, quantity: &str, spectrum: &Spectrum) {
    for ([from, to], bin) in spectrum.bins().filter(|(_, bin)| bin.count > 0) {
        let _ = writeln!(text, "{head},{quantity},{from},{to},{},{}", bin.count, bin.lost);
    }
}
