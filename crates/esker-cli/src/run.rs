//! `esker run`.

use crate::changes::Changes;
use crate::out::{say, tell};
use crate::progress::{PhaseTimer, Progress, duration};
use crate::{Failure, quantity, tables};
use esker::expression::Dimension;
use esker::model::Method;
use esker::simulation::{Simulation, Stage};
use esker::solver::StepError;
use esker::solver::explicit::contact_loop;
use esker::state::State;
use esker_io::build::{self, Scene};
use esker_io::record::{self, Outcome, RecordError, Recorder, RunInfo, StageInfo};
use esker_io::run_folder::{self, RunFolder};
use esker_io::{checkpoint, scene};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Seconds between two checkpoints where the scene does not say.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(30);
/// Time between two looks at the overlaps, in times that a look takes, where nothing else asks for contacts.
const LOOK_EVERY: u32 = 20;
/// Seconds of computing between two looks at signals and the bar.
const SLICE: f64 = 0.1;

/// What a warning about deep overlaps says.
const TOO_SOFT: &str = "the contacts are too soft for this load";

/// Arguments of `esker run`.
#[derive(clap::Args)]
pub struct Args {
    /// Scene file; with --resume, a run folder
    scene: PathBuf,
    /// Folder to write (default: runs/SCENE-N)
    #[arg(long)]
    out: Option<PathBuf>,
    /// Worker threads (default: all cores); results do not depend on it
    #[arg(long)]
    threads: Option<usize>,
    /// Stop at this time, e.g. 0.5 or "20 ms"
    #[arg(long)]
    until: Option<String>,
    /// Go on with a run: SCENE is its folder; FILE is a checkpoint of it (default: the latest)
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "")]
    resume: Option<String>,
    #[command(flatten)]
    changes: Changes,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
    /// Stop when the standard input ends, as it does when the process that started this one is gone
    #[arg(long, hide = true)]
    stop_with_input: bool,
}

/// Runs a scene.
pub fn main(args: Args) -> Result<ExitCode, Failure> {
    let threads = crate::use_threads(args.threads)?;
    let until = |text: &String| quantity::positive("--until", text, Dimension::TIME);
    let until = args.until.as_ref().map(until).transpose()?;
    let stop = stop_flag()?;
    if args.stop_with_input {
        let flag = stop.clone();
        std::thread::spawn(move || {
            // That it cannot be read is an end as well.
            let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
            flag.store(true, Ordering::Relaxed);
        });
    }

    let prepared = match &args.resume {
        None => start(&args, threads)?,
        Some(file) => resume(&args, file, threads)?,
    };
    Runner { stop, until, quiet: args.quiet, ..Runner::new(prepared, threads, args.quiet) }.run()
}

/// A flag that is raised when somebody asks this process to stop.
pub(crate) fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed))?;
    Ok(stop)
}

/// Everything a run needs.
struct Prepared {
    simulation: Simulation,
    recorder: Recorder,
    info: RunInfo,
}

fn start(args: &Args, threads: usize) -> Result<Prepared, Failure> {
    let overrides = args.changes.of(&args.scene)?;
    let (raw, scene) = build::load(&args.scene, &overrides)?;
    let name = args.scene.file_stem().map_or("scene".into(), |s| s.to_string_lossy().into_owned());
    let mut info = info(&scene, &args.scene, &overrides, threads);
    let folder = match &args.out {
        Some(path) => RunFolder::create_at(path)?,
        None => RunFolder::create(Path::new("runs"), &name)?,
    };
    copy_inputs(&raw, args.scene.parent().unwrap_or(Path::new("")), folder.path())?;
    let text = build::filled_text(&raw, &scene);
    let mut simulation = Simulation::new(scene.stages, scene.state, threads);
    // Loads of the first instant, so that the first frame shows them.
    simulation.prepare()?;
    info.update(&simulation, Outcome::Running);
    let recorder = Recorder::create(folder, scene.output, &scene.title, &text, &info, &simulation)?;
    Ok(Prepared { simulation, recorder, info })
}

/// Copies the files a scene names into the run folder, so that the run can be continued anywhere.
fn copy_inputs(raw: &scene::RawScene, from: &Path, to: &Path) -> Result<(), Failure> {
    for file in raw.input_files() {
        let relative = Path::new(file);
        if relative.is_absolute() || relative.components().any(|c| c == std::path::Component::ParentDir) {
            return Err(format!(
                "the scene names `{file}`; put the file beside the scene or below it, so that the run folder can hold a copy"
            )
            .into());
        }
        let bytes = esker_io::atomic::read(&from.join(relative))?;
        let target = to.join(relative);
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent)?;
        }
        esker_io::atomic::write(&target, |w| w.write_all(&bytes))?;
    }
    Ok(())
}

fn resume(args: &Args, file: &str, threads: usize) -> Result<Prepared, Failure> {
    if !args.changes.set.is_empty() {
        return Err(
            "`--set` does not go with --resume: a continued run is the same run; start a new one instead".into()
        );
    }
    if args.changes.solver.is_some() {
        return Err(
            "`--solver` does not go with --resume: a continued run is the same run; start a new one instead".into()
        );
    }
    if args.out.is_some() {
        return Err("`--out` does not go with --resume: the run goes on in its own folder".into());
    }
    if args.scene.is_file() {
        return Err(not_a_run(&args.scene));
    }
    let folder = RunFolder::resume(&args.scene)?;
    let scene_file = folder.file(record::SCENE_FILE);
    if !scene_file.exists() {
        return Err(format!(
            "{} has no {}: the run ended before it began; start it anew with the scene itself",
            folder.path().display(),
            record::SCENE_FILE
        )
        .into());
    }
    let (_, scene) = build::load(&scene_file, &[])?;
    // A run that died before its first checkpoint begins anew.
    let path = if file.is_empty() { newest_checkpoint(folder.path())? } else { Some(PathBuf::from(file)) };
    let mut info = info(&scene, &scene_file, &[], threads);
    keep_origin(&mut info, &folder);
    let Some(path) = path else {
        let mut simulation = Simulation::new(scene.stages, scene.state, threads);
        simulation.prepare()?;
        let recorder = Recorder::restart(folder, scene.output, &scene.title, &simulation)?;
        return Ok(Prepared { simulation, recorder, info });
    };
    let mut state = read_state(&path, &scene.stages, folder.path())?;
    // A feed that had jammed gets another chance; whoever goes on has heard of it.
    for feed in state.feeds.iter_mut().filter(|feed| feed.jammed) {
        (feed.jammed, feed.failures) = (false, 0);
    }
    let mut simulation = Simulation::new(scene.stages, state, threads);
    simulation.prepare()?;
    let recorder = Recorder::resume(folder, scene.output, &scene.title, &simulation)?;
    Ok(Prepared { simulation, recorder, info })
}

/// The newest whole checkpoint of a run, if there is any; those passed over are told.
pub(crate) fn newest_checkpoint(folder: &Path) -> Result<Option<PathBuf>, Failure> {
    match run_folder::latest_checkpoint(folder) {
        Ok(latest) => {
            for skipped in &latest.skipped {
                tell!("note: {} was passed over: {}", skipped.path.display(), skipped.fault);
            }
            Ok(Some(latest.path))
        }
        Err(run_folder::RunFolderError::NoCheckpoint { .. }) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// The state of a checkpoint, which must be of this program and fit the stages of the run in a folder.
pub(crate) fn read_state(path: &Path, stages: &[Stage], folder: &Path) -> Result<State, Failure> {
    let (meta, state) = checkpoint::load::<State>(path)?;
    if meta.engine != record::engine_version() {
        return Err(format!(
            "{} was written by {}; this is {}: continue with the same version",
            path.display(),
            meta.engine,
            record::engine_version()
        )
        .into());
    }
    if let Err(misfit) = state.check(stages) {
        return Err(format!("{} does not belong to the run in {}: {misfit}", path.display(), folder.display()).into());
    }
    Ok(state)
}

/// A file was named where the folder of a run is wanted: tells which folder may be meant.
fn not_a_run(file: &Path) -> Failure {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let (advice, folder) = match file.parent() {
        Some(parent) if run_folder::is_run(parent).unwrap_or(false) => ("name its folder", parent.to_owned()),
        _ => (
            "to begin a run leave out --resume; to go on with one name its folder, for example",
            Path::new("runs").join(format!("{stem}-1")),
        ),
    };
    format!(
        "`{}` is a file; --resume goes on in the folder of a run\n  {advice}: `esker run {} --resume`",
        file.display(),
        folder.display()
    )
    .into()
}

/// Which scene was run with which changes, and what was warned of, as the first process wrote it. Where somebody has
/// removed `run.json` the copy of the scene is named.
fn keep_origin(info: &mut RunInfo, folder: &RunFolder) {
    let Ok(bytes) = std::fs::read(folder.file(record::SUMMARY_FILE)) else { return };
    let Ok(old) = serde_json::from_slice::<serde_json::Value>(&bytes) else { return };
    if let (Some(scene), Some(overrides)) = (old["scene"].as_str(), old["overrides"].as_array()) {
        info.scene = scene.to_string();
        info.overrides = overrides.iter().filter_map(|o| o.as_str().map(String::from)).collect();
    }
    for warning in old["warnings"].as_array().into_iter().flatten().filter_map(|w| w.as_str()) {
        if !info.warnings.iter().any(|known| known == warning) {
            info.warnings.push(warning.to_string());
        }
    }
}

/// What `run.json` says from the start.
fn info(scene: &Scene, path: &Path, overrides: &[String], threads: usize) -> RunInfo {
    let stages = scene.stages.iter().zip(&scene.advice).map(|(stage, advice)| StageInfo {
        name: stage.name.clone(),
        step: stage.model.dt,
        solver: match stage.model.method {
            Method::Explicit => "explicit",
            Method::Event(_) => "event",
            Method::Quasistatic(_) => "quasistatic",
        },
        integrator: stage.model.integrator,
        skin: stage.model.skin,
        advice: advice.clone(),
    });
    RunInfo {
        program: record::engine_version(),
        title: scene.title.clone(),
        scene: path.display().to_string(),
        overrides: overrides.to_vec(),
        seed: scene.stages[0].model.seed,
        threads,
        stages: stages.collect(),
        warnings: scene.warnings.clone(),
        outcome: Outcome::Running,
        steps: 0,
        time: 0.0,
        grains: 0,
        particle_steps: 0.0,
        seconds: 0.0,
        phases: vec![],
        energy: Default::default(),
        residual: 0.0,
        collisions: 0,
        cures: Default::default(),
    }
}

/// A run under way.
struct Runner {
    simulation: Simulation,
    recorder: Recorder,
    info: RunInfo,
    timer: Arc<PhaseTimer>,
    progress: Progress,
    stop: Arc<AtomicBool>,
    until: Option<f64>,
    quiet: bool,
    warned_overlap: bool,
}

impl Runner {
    fn new(prepared: Prepared, threads: usize, quiet: bool) -> Self {
        let Prepared { mut simulation, recorder, mut info } = prepared;
        info.threads = threads;
        let timer = PhaseTimer::listen(&mut simulation);
        let warned_overlap = info.warnings.iter().any(|w| w.contains(TOO_SOFT));
        Self {
            simulation,
            recorder,
            info,
            timer,
            progress: Progress::new(quiet),
            stop: Arc::default(),
            until: None,
            quiet,
            warned_overlap,
        }
    }

    fn run(mut self) -> Result<ExitCode, Failure> {
        let folder = self.recorder.folder().path().display().to_string();
        self.progress.say(&format!("{}: writing to {folder}", self.info.title));
        for warning in &self.info.warnings {
            self.progress.say(&format!("warning: {warning}"));
        }
        for note in self.recorder.folder().notes() {
            self.progress.say(&format!("note: {note}"));
        }
        self.info.update(&self.simulation, Outcome::Running);
        self.recorder.summary(&self.info, &self.simulation)?;

        let ended = self.steps();
        self.simulation.complete();
        self.progress.clear();
        match ended {
            Ok(outcome) => {
                self.recorder.checkpoint(&self.simulation.state)?;
                self.finish_summary(outcome.clone())?;
                if !self.quiet {
                    self.report(&outcome, &folder);
                }
                Ok(if outcome == Outcome::Interrupted { ExitCode::from(130) } else { ExitCode::SUCCESS })
            }
            Err(stop) => {
                let held = self.save_after(&stop);
                // What went wrong first is told; that the summary could not be written either adds nothing.
                let _ = self.finish_summary(Outcome::Failed { reason: stop.to_string() });
                let folder_has_one = run_folder::latest_checkpoint(Path::new(&folder)).is_ok();
                Err(match (held, folder_has_one) {
                    (true, _) => format!("{stop}\n  the state is kept in {folder}; `esker run {folder} --resume` goes on"),
                    (false, true) => format!(
                        "{stop}\n  the last good checkpoint is kept in {folder}; `esker run {folder} --resume` goes on from it"
                    ),
                    (false, false) => format!("{stop}\n  there is no checkpoint yet; what was written is in {folder}"),
                }
                .into())
            }
        }
    }

    /// Saves the state after a failure if it is one to go on from, and tells whether it did. After a step that failed
    /// midway the state is broken; after a row or frame that could not be written it is whole, but a run continued from
    /// it would lack that row or frame. The last checkpoint serves for both.
    fn save_after(&mut self, stop: &Stop) -> bool {
        matches!(stop, Stop::Step(StepError::Jam { .. }))
            && self.recorder.record(&self.simulation).is_ok()
            && self.recorder.checkpoint(&self.simulation.state).is_ok()
    }

    /// Steps until the end, an interruption or a failure.
    fn steps(&mut self) -> Result<Outcome, Stop> {
        let mut slice = 20u64;
        let mut last_checkpoint = Instant::now();
        let (mut last_look, mut look_took) = (Instant::now(), Duration::ZERO);
        while !self.simulation.is_finished() {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(Outcome::Interrupted);
            }
            let until = self.until.unwrap_or(f64::INFINITY);
            if self.simulation.steps_until(until.min(1e300)) == 0 {
                return Ok(Outcome::Stopped);
            }
            let due = self.recorder.steps_until_due(&self.simulation);
            let wanted = self.simulation.steps_until(until.min(1e300)).min(due).clamp(1, slice);
            let stage = self.simulation.state.stage;
            let grains = self.simulation.state.particles.owned();
            let start = Instant::now();
            // On a thread of the pool: from another one each call of the pool would wake a thread up, and wait asleep.
            let made = rayon::scope(|_| self.simulation.go_on(wanted))?;
            let seconds = start.elapsed().as_secs_f64();

            self.info.particle_steps += made as f64 * grains as f64;
            let speed = made as f64 * grains as f64 / seconds.max(1e-9);
            if made == wanted && wanted == slice {
                slice = ((slice as f64 * SLICE / seconds.max(1e-6)) as u64).clamp(1, 4 * slice);
            }
            let checkpoint = last_checkpoint.elapsed() > CHECKPOINT_EVERY;
            let look = self.recorder.is_due(&self.simulation) || self.simulation.state.stage != stage;
            if look || checkpoint || last_look.elapsed() > LOOK_EVERY * look_took {
                let begin = Instant::now();
                self.simulation.complete();
                self.warn_of_overlap();
                (last_look, look_took) = (Instant::now(), begin.elapsed());
            }
            self.recorder.record(&self.simulation)?;
            if self.simulation.state.stage != stage {
                let name = &self.simulation.stages()[stage].name;
                self.progress.say(&format!("stage \"{name}\" is over at t = {:.6} s", self.simulation.state.time));
            }
            if checkpoint {
                self.recorder.checkpoint(&self.simulation.state)?;
                self.finish_summary(Outcome::Running)?;
                last_checkpoint = Instant::now();
            }
            self.progress.show(&self.simulation, speed, self.until);
        }
        Ok(Outcome::Finished)
    }

    fn warn_of_overlap(&mut self) {
        let overlap = self.simulation.largest_overlap();
        if overlap > 2.0 * esker::advice::LARGE_OVERLAP && !self.warned_overlap {
            self.warned_overlap = true;
            let text = format!(
                "grains overlap by {:.0} % of their radius at t = {:.4} s: {TOO_SOFT}; raise the stiffness",
                100.0 * overlap,
                self.simulation.state.time
            );
            self.progress.say(&format!("warning: {text}"));
            self.info.warnings.push(text);
        }
    }

    fn finish_summary(&mut self, outcome: Outcome) -> Result<(), RecordError> {
        self.info.seconds = self.progress.seconds();
        self.info.phases = self.timer.seconds();
        self.info.update(&self.simulation, outcome);
        self.recorder.summary(&self.info, &self.simulation)
    }

    fn report(&self, outcome: &Outcome, folder: &str) {
        let state = &self.simulation.state;
        let how = match outcome {
            Outcome::Interrupted => "interrupted",
            Outcome::Stopped => "stopped",
            _ => "finished",
        };
        let steps = format!("{} steps, {} grains", state.step, state.particles.owned());
        let took = duration(self.info.seconds);
        if state.meetings.tallies.is_empty() {
            let speed = self.info.particle_steps / self.info.seconds.max(1e-9) * 1e-6;
            say!("{how} at t = {:.6} s after {steps}, in {took} ({speed:.2} M particle-steps/s)", state.time);
            say!("  contacts {}", contact_loop(self.simulation.model()));
        } else {
            say!("{how} at t = {:.6} s after {steps}, {} collisions, in {took}", state.time, self.info.collisions);
            tables::collisions(&self.simulation);
        }
        tables::phases(&self.info.phases, self.info.seconds);
        tables::energy(&self.info.energy);
        if self.info.energy.is_off() {
            say!(
                "warning: the energy account does not close: the step is too long for these contacts; \
                 `esker check` tells what fits"
            );
        }
        say!("  results are in {folder}");
        if matches!(outcome, Outcome::Interrupted | Outcome::Stopped) {
            say!("  `esker run {folder} --resume` goes on");
        }
    }
}

/// Why the steps ended early.
#[derive(Debug)]
enum Stop {
    Step(StepError),
    Record(RecordError),
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Stop::Step(e) => e.fmt(f),
            Stop::Record(e) => e.fmt(f),
        }
    }
}

impl From<StepError> for Stop {
    fn from(e: StepError) -> Self {
        Stop::Step(e)
    }
}

impl From<RecordError> for Stop {
    fn from(e: RecordError) -> Self {
        Stop::Record(e)
    }
}
