//! `avalanches.csv`: what it took each time to come to rest, of runs with the solver `quasistatic`.
//!
//! A row for each equilibrium, appended after the step that found it and kept like those of the series: killed at any moment the
//! table has whole rows, and a continued run leaves the same ones as an unbroken one. Tested in `esker-cli/tests/resume.rs`.

use super::RecordError;
use crate::run_folder::RunFolder;
use crate::series::Series;
use esker::model::Method;
use esker::simulation::{Simulation, Stage};
use esker::solver::quasistatic::Avalanche;

/// Name of the table.
pub const AVALANCHES_FILE: &str = "avalanches.csv";

/// Its columns after `step`.
pub const COLUMNS: [&str; 12] = [
    "time [s]",
    "grains",
    "connected",
    "disconnected",
    "fallen",
    "slides",
    "rounds",
    "solutions",
    "friction work [J]",
    "friction work after Gavrilov [J]",
    "released [J]",
    "unbalanced [N]",
];

/// Whether a run has stages that go from rest to rest.
pub(crate) fn are_told(stages: &[Stage]) -> bool {
    stages.iter().any(is_static)
}

/// Whether a stage goes from rest to rest.
pub(super) fn is_static(stage: &Stage) -> bool {
    matches!(stage.model.method, Method::Quasistatic(_))
}

/// Step and time of a state.
fn seen(simulation: &Simulation) -> (u64, f64) {
    (simulation.state.step, simulation.state.time)
}

/// The table of a run.
pub(super) struct Avalanches {
    table: Series,
    /// Rows in it: so many of the avalanches of the state are told.
    told: usize,
    /// Step and time when it was last looked: a stage may come to rest before its first step.
    seen: (u64, f64),
}

impl Avalanches {
    /// Starts the table of a run that has any.
    pub(super) fn create(folder: &RunFolder, simulation: &Simulation) -> Result<Option<Self>, RecordError> {
        if !are_told(simulation.stages()) {
            return Ok(None);
        }
        let table = Series::create(&folder.file(AVALANCHES_FILE), &COLUMNS)?;
        Ok(Some(Self { table, told: 0, seen: seen(simulation) }))
    }

    /// Goes on with the table. What the state came to when it was made ready again may have no row yet.
    pub(super) fn resume(folder: &RunFolder, simulation: &Simulation) -> Result<Option<Self>, RecordError> {
        if !are_told(simulation.stages()) {
            return Ok(None);
        }
        let (table, found) = Series::resume(&folder.file(AVALANCHES_FILE), &COLUMNS, simulation.state.step)?;
        let mut avalanches = Self { table, told: found.kept, seen: seen(simulation) };
        avalanches.tell(simulation)?;
        Ok(Some(avalanches))
    }

    /// Appends what is new; to be called after every step.
    pub(super) fn tell(&mut self, simulation: &Simulation) -> Result<(), RecordError> {
        let state = &simulation.state;
        for avalanche in state.statics.avalanches.iter().skip(self.told) {
            let Avalanche { step, grains, connected, disconnected, fallen, slides, rounds, solutions, .. } = *avalanche;
            let counts = [grains, connected, disconnected, fallen, slides, rounds, solutions];
            let measures = [avalanche.heat, avalanche.literal, avalanche.released, avalanche.unbalanced];
            let mut row = vec![if step == self.seen.0 { self.seen.1 } else { state.time }];
            row.extend(counts.map(|n| n as f64));
            row.extend(measures);
            self.table.row(step, &row)?;
            self.told += 1;
        }
        self.seen = seen(simulation);
        Ok(())
    }

    /// Forces the rows to disk.
    pub(super) fn sync(&mut self) -> Result<(), RecordError> {
        Ok(self.table.sync()?)
    }
}
