//! Writes what a run leaves in its folder: series, frames, checkpoints, the scene as used, `run.json`.
//!
//! What is due is told by the time of the state alone, so a continued run writes the same files as an unbroken one. A
//! checkpoint is written after the row and the frame of its step, so that nothing before it is missing.

pub mod avalanches;
pub mod collisions;
mod frames;
mod summary;

use avalanches::{AVALANCHES_FILE, Avalanches};
pub use summary::{Outcome, RunInfo, StageInfo};

use crate::atomic::{self, Attempt, FileError};
use crate::build::OutputPlan;
use crate::checkpoint::Meta;
use crate::frame::Scene;
use crate::pvd::{Collection, PvdError};
use crate::run_folder::{Frame, RunFolder, RunFolderError};
use crate::series::{Series, SeriesError};
use crate::store::{self, RunHead, STORE_FILE, StoreError};
use crate::vtk::VtkError;
use esker::measure::{energy, probe};
use esker::model::Model;
use esker::region::RegionError;
use esker::simulation::{Simulation, Stage};
use esker::state::State;
use std::path::PathBuf;

/// Name of the scene as used, inside a run folder.
pub const SCENE_FILE: &str = "scene.toml";
/// Name of the table of numbers.
pub const SERIES_FILE: &str = "series.csv";
/// Name of the machine-readable summary.
pub const SUMMARY_FILE: &str = "run.json";

/// Why something could not be written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The series.
    #[error(transparent)]
    Series(#[from] SeriesError),
    /// A frame.
    #[error(transparent)]
    Vtk(#[from] VtkError),
    /// The list of frames.
    #[error(transparent)]
    Pvd(#[from] PvdError),
    /// The store of frames.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The folder or a checkpoint.
    #[error(transparent)]
    Folder(#[from] RunFolderError),
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// A probe.
    #[error(transparent)]
    Region(#[from] RegionError),
}

/// Writes the files of one run.
pub struct Recorder {
    folder: RunFolder,
    plan: OutputPlan,
    title: String,
    series: Option<Series>,
    avalanches: Option<Avalanches>,
    collections: Vec<(Frame, Collection)>,
    store: Option<store::Writer>,
    /// Intervals begun when frame and row were last written.
    done: Done,
}

#[derive(Clone, Copy, Debug, Default)]
struct Done {
    frames: u64,
    series: u64,
    checkpoint: u64,
}

/// By how much of an interval a step may fall short and still count: rounding of the time.
const ROUNDING: f64 = 1e-9;

/// Number of whole intervals in a time; a step that falls short by rounding counts.
fn intervals(time: f64, interval: f64) -> u64 {
    (time / interval + ROUNDING).floor() as u64
}

impl Recorder {
    /// Starts the files of a new run and writes its first frame and row. The simulation has made no step, but its loads
    /// are known. With the scene in place the run can be continued, so what tells where it came from is written before.
    pub fn create(
        folder: RunFolder,
        plan: OutputPlan,
        title: &str,
        scene_text: &str,
        info: &RunInfo,
        simulation: &Simulation,
    ) -> Result<Self, RecordError> {
        write_summary(&folder, info)?;
        atomic::write(&folder.file(SCENE_FILE), |w| w.write_all(scene_text.as_bytes()))?;
        Self::begin(folder, plan, title, simulation)
    }

    /// Starts the files of a run anew that ended before its first checkpoint: what it wrote is dropped.
    pub fn restart(
        folder: RunFolder,
        plan: OutputPlan,
        title: &str,
        simulation: &Simulation,
    ) -> Result<Self, RecordError> {
        folder.discard_after(0, None)?;
        let collections = Frame::ALL.map(Frame::collection_name);
        for name in collections.iter().map(String::as_str).chain([SERIES_FILE, AVALANCHES_FILE, STORE_FILE]) {
            let path = folder.file(name);
            match std::fs::remove_file(&path) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(FileError::new(&path, Attempt::Remove, e).into());
                }
                _ => {}
            }
        }
        Self::begin(folder, plan, title, simulation)
    }

    fn begin(folder: RunFolder, plan: OutputPlan, title: &str, simulation: &Simulation) -> Result<Self, RecordError> {
        let columns = columns(simulation.stages(), &plan);
        let series = match plan.series {
            Some(_) => Some(Series::create(&folder.file(SERIES_FILE), &columns)?),
            None => None,
        };
        let avalanches = Avalanches::create(&folder, simulation)?;
        let collections =
            kinds(&plan).map(|kind| (kind, Collection::new(folder.file(&kind.collection_name())))).collect();
        let store = match plan.frames {
            Some(_) => Some(store::Writer::create(&folder.file(STORE_FILE), run_head(title, simulation.model()))?),
            None => None,
        };
        let title = title.to_string();
        let done = Done::default();
        let mut recorder = Self { folder, plan, title, series, avalanches, collections, store, done };
        recorder.tell_avalanches(simulation)?;
        recorder.frame(simulation)?;
        recorder.row(simulation)?;
        Ok(recorder)
    }

    /// Goes on with the files of a run: what lies after the state is dropped.
    pub fn resume(
        folder: RunFolder,
        plan: OutputPlan,
        title: &str,
        simulation: &Simulation,
    ) -> Result<Self, RecordError> {
        let state = &simulation.state;
        let columns = columns(simulation.stages(), &plan);
        let series = match plan.series {
            Some(_) => Some(Series::resume(&folder.file(SERIES_FILE), &columns, state.step)?.0),
            None => None,
        };
        let avalanches = Avalanches::resume(&folder, simulation)?;
        let mut collections = Vec::new();
        let mut last_frame = None;
        for kind in kinds(&plan) {
            let mut collection = Collection::open(folder.file(&kind.collection_name()))?;
            collection.drop_after(state.time)?;
            last_frame = (collection.entries().len() as u64).checked_sub(1);
            collections.push((kind, collection));
        }
        folder.discard_after(state.step, last_frame)?;
        let store = match plan.frames {
            Some(_) => Some(resumed_store(&folder, title, simulation)?),
            None => None,
        };
        let count = |interval: Option<f64>| interval.map_or(0, |i| intervals(state.time, i));
        let done = Done { frames: count(plan.frames), series: count(plan.series), checkpoint: count(plan.checkpoint) };
        Ok(Self { folder, plan, title: title.to_string(), series, avalanches, collections, store, done })
    }

    /// The folder.
    pub fn folder(&self) -> &RunFolder {
        &self.folder
    }

    /// Number of steps after which something is due for the first time, if the stage does not end before;
    /// `u64::MAX` for never, and a lower bound when it is far away.
    ///
    /// This is the very step at which [`record`](Self::record) finds it due, wherever the run was looked at in between. Of a
    /// stage that goes from rest to rest every step is told.
    pub fn steps_until_due(&self, simulation: &Simulation) -> u64 {
        if avalanches::is_static(simulation.stage()) {
            return 1;
        }
        let (state, dt) = (&simulation.state, simulation.model().dt);
        let until = |done: u64, interval: Option<f64>| {
            let Some(interval) = interval else { return u64::MAX };
            let estimate = simulation.steps_until((done + 1) as f64 * interval);
            if estimate > 1 << 30 {
                return estimate / 2; // far away: to be asked again on the way
            }
            // Begin some steps early, since rounding may make it due before its time.
            let early = 2 + (ROUNDING * interval / dt) as u64;
            let due = |n: &u64| intervals(state.time_after(*n, dt), interval) > done;
            (estimate.saturating_sub(early)..estimate + early).find(due).unwrap_or(estimate)
        };
        until(self.done.frames, self.plan.frames)
            .min(until(self.done.series, self.plan.series))
            .min(until(self.done.checkpoint, self.plan.checkpoint))
    }

    /// Whether something is due at the time of the state.
    pub fn is_due(&self, simulation: &Simulation) -> bool {
        let due = |done: u64, interval: Option<f64>| {
            interval.is_some_and(|interval| intervals(simulation.state.time, interval) > done)
        };
        due(self.done.series, self.plan.series)
            || due(self.done.frames, self.plan.frames)
            || due(self.done.checkpoint, self.plan.checkpoint)
    }

    /// Writes what is due at the time of the state, which must be whole if anything is.
    pub fn record(&mut self, simulation: &Simulation) -> Result<(), RecordError> {
        self.tell_avalanches(simulation)?;
        let time = simulation.state.time;
        if let Some(interval) = self.plan.series
            && intervals(time, interval) > self.done.series
        {
            self.done.series = intervals(time, interval);
            self.row(simulation)?;
        }
        if let Some(interval) = self.plan.frames
            && intervals(time, interval) > self.done.frames
        {
            self.done.frames = intervals(time, interval);
            self.frame(simulation)?;
        }
        if let Some(interval) = self.plan.checkpoint
            && intervals(time, interval) > self.done.checkpoint
        {
            self.done.checkpoint = intervals(time, interval);
            self.checkpoint(&simulation.state)?;
        }
        Ok(())
    }

    /// Writes a checkpoint of a whole state.
    pub fn checkpoint(&mut self, state: &State) -> Result<PathBuf, RecordError> {
        assert!(!state.contacts.are_away(), "a checkpoint holds a whole state");
        if let Some(series) = &mut self.series {
            series.sync()?;
        }
        if let Some(avalanches) = &mut self.avalanches {
            avalanches.sync()?;
        }
        if let Some(store) = &mut self.store {
            store.sync()?;
        }
        let meta = Meta { engine: engine_version(), scene: self.title.clone(), step: state.step, time: state.time };
        Ok(self.folder.save_checkpoint(state, &meta)?)
    }

    /// Writes `run.json`, and the tables of collisions of a run that has any.
    pub fn summary(&self, info: &RunInfo, simulation: &Simulation) -> Result<(), RecordError> {
        if collisions::are_counted(simulation.stages()) {
            collisions::write(&self.folder, simulation)?;
        }
        write_summary(&self.folder, info)
    }

    fn tell_avalanches(&mut self, simulation: &Simulation) -> Result<(), RecordError> {
        self.avalanches.as_mut().map_or(Ok(()), |avalanches| avalanches.tell(simulation))
    }

    fn row(&mut self, simulation: &Simulation) -> Result<(), RecordError> {
        let Some(series) = &mut self.series else { return Ok(()) };
        let values = values(simulation, &self.plan)?;
        series.row(simulation.state.step, &values)?;
        Ok(())
    }

    fn frame(&mut self, simulation: &Simulation) -> Result<(), RecordError> {
        if self.plan.frames.is_none() {
            return Ok(());
        }
        let scene = if self.plan.contacts { Scene::of(simulation) } else { Scene::of_grains(simulation) };
        for (kind, collection) in &mut self.collections {
            let number = collection.entries().len() as u64;
            frames::write(*kind, &self.folder.frame(*kind, number), &scene)?;
            collection.push(crate::pvd::Entry {
                time: simulation.state.time,
                part: 0,
                file: kind.file_name(number),
            })?;
        }
        if let Some(store) = &mut self.store {
            store.frame(&scene)?;
        }
        Ok(())
    }
}

/// The store to go on with. A run begun by a program that kept none gets one from here on.
fn resumed_store(folder: &RunFolder, title: &str, simulation: &Simulation) -> Result<store::Writer, StoreError> {
    let path = folder.file(STORE_FILE);
    match store::Writer::resume(&path, simulation.state.step) {
        Err(StoreError::File(e)) if e.reason.kind() == std::io::ErrorKind::NotFound => {
            store::Writer::create(&path, run_head(title, simulation.model()))
        }
        Err(StoreError::NotBegun { .. }) => {
            std::fs::remove_file(&path).map_err(|e| FileError::new(&path, Attempt::Remove, e))?;
            store::Writer::create(&path, run_head(title, simulation.model()))
        }
        resumed => resumed,
    }
}

/// What the store of frames tells of a run.
fn run_head(title: &str, model: &Model) -> RunHead {
    RunHead {
        version: store::VERSION,
        title: title.to_string(),
        planar: model.planar,
        gravity: model.uniform_acceleration().to_array(),
        materials: model.materials.iter().map(|m| m.name.clone()).collect(),
        kinds: model.kinds.iter().map(|k| k.name.clone()).collect(),
        walls: model.walls.iter().map(|w| w.name.clone()).collect(),
    }
}

fn write_summary(folder: &RunFolder, info: &RunInfo) -> Result<(), RecordError> {
    atomic::write(&folder.file(SUMMARY_FILE), |w| {
        serde_json::to_writer_pretty(&mut *w, info)?;
        w.write_all(b"\n")
    })?;
    Ok(())
}

/// Name and version of the engine, as written into checkpoints.
pub fn engine_version() -> String {
    format!("esker {}", env!("CARGO_PKG_VERSION"))
}

/// The kinds of frame a plan asks for.
fn kinds(plan: &OutputPlan) -> impl Iterator<Item = Frame> {
    let (any, contacts) = (plan.frames.is_some(), plan.contacts);
    Frame::ALL.into_iter().filter(move |kind| any && (contacts || *kind != Frame::Contacts))
}

/// Columns of the series after `step`.
pub fn columns(stages: &[Stage], plan: &OutputPlan) -> Vec<String> {
    let model = &stages[0].model;
    let mut columns: Vec<String> = [
        "time [s]",
        "grains",
        "mass [kg]",
        "removed",
        "removed mass [kg]",
        "contacts",
        "coordination",
        "largest overlap [r]",
        "kinetic translation [J]",
        "kinetic rotation [J]",
        "potential [J]",
        "elastic normal [J]",
        "elastic tangential [J]",
        "dissipated damping [J]",
        "dissipated friction [J]",
        "dissipated rolling [J]",
        "wall work [J]",
        "field work [J]",
        "entered [J]",
        "left [J]",
        "switched [J]",
        "residual [J]",
    ]
    .map(String::from)
    .to_vec();
    let mut walls: Vec<&str> = Vec::new();
    for wall in &model.walls {
        if !walls.contains(&wall.name.as_str()) {
            walls.push(&wall.name);
            columns.push(format!("work of {} [J]", wall.name));
        }
    }
    if collisions::are_counted(stages) {
        columns.extend(collisions::columns(model));
    }
    columns.extend(plan.probes.iter().flat_map(|p| p.probe.columns(&p.name)));
    columns
}

fn values(simulation: &Simulation, plan: &OutputPlan) -> Result<Vec<f64>, RecordError> {
    let (model, state) = (simulation.model(), &simulation.state);
    let b = energy::balance(model, state);
    let (contacts, coordination) = probe::coordination(model, state);
    let mut values = vec![
        state.time,
        state.particles.owned() as f64,
        state.particles.mass.iter().sum(),
        state.removed.count as f64,
        state.removed.mass,
        contacts,
        coordination,
        simulation.largest_overlap(),
        b.translation,
        b.rotation,
        b.potential.iter().map(|p| p.1).sum(),
        b.elastic_normal,
        b.elastic_tangential,
        b.dissipated.damping,
        b.dissipated.friction,
        b.dissipated.rolling,
        b.wall_work.iter().map(|w| w.1).sum(),
        b.field_work,
        b.entered,
        b.left,
        b.switched,
        b.residual(),
    ];
    for (_, work) in by_name(&b.wall_work) {
        values.push(work);
    }
    if collisions::are_counted(simulation.stages()) {
        values.extend(collisions::values(model, state));
    }
    for p in &plan.probes {
        values.extend(p.probe.values(model, state)?);
    }
    Ok(values)
}

/// Sums entries of the same name, in order of first appearance.
pub fn by_name(entries: &[(String, f64)]) -> Vec<(String, f64)> {
    let mut sums: Vec<(String, f64)> = Vec::new();
    for (name, value) in entries {
        match sums.iter_mut().find(|s| s.0 == *name) {
            Some(sum) => sum.1 += value,
            None => sums.push((name.clone(), *value)),
        }
    }
    sums
}
