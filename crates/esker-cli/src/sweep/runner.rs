//! Runs of a sweep, each a process of its own: `esker run` with the changes of its point.
//!
//! In one process all runs would share one pool of threads, one memory and one fate: a run that panics or is killed for
//! its memory would take the others along. As processes they are what a user would have started by hand, with the
//! same folders.
//!
//! A run ends with this process, however this one ends: it holds the writing end of a pipe to the run's standard input
//! and writes nothing. When the end is closed, on purpose or because this process is gone, the run writes a checkpoint and
//! stops (`--stop-with-input`). No signals are needed, so it is the same on all systems.

use crate::Failure;
use esker_io::atomic::{Attempt, FileError};
use esker_io::record::SCENE_FILE;
use esker_io::run_folder;
use esker_io::sweep::Sweep;
use esker_io::sweep::table::Ended;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Time between two looks at the flag that asks to stop.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long runs of a sweep that was killed may take to stop.
const PATIENCE: Duration = Duration::from_secs(60);
/// Exit status of a run that was interrupted.
const INTERRUPTED: i32 = 130;

/// One run to be made.
pub struct Job {
    /// Number of the run, from 0.
    pub number: usize,
    /// What is changed in the scene.
    pub overrides: Vec<String>,
}

/// How a run came out.
pub enum End {
    /// It ended and told how, good or bad.
    Ended(Ended),
    /// It failed and left nothing but a message.
    Failed(String),
    /// It was interrupted and can go on.
    Interrupted,
}

/// What happens while runs are made.
pub enum Event {
    /// A moment has passed.
    Tick,
    /// A run is over.
    Done(usize, End),
}

/// Makes runs.
pub struct Runner<'a> {
    /// The scene.
    pub scene: &'a Path,
    /// Folder of the sweep.
    pub folder: &'a Path,
    /// When a run is stopped.
    pub until: Option<&'a str>,
    /// Runs at a time.
    pub jobs: usize,
    /// Raised when somebody asks to stop.
    pub stop: &'a AtomicBool,
}

impl Runner<'_> {
    /// Makes some runs, several at a time, and tells each end; after the flag is raised begins no more and stops those under way.
    pub fn run(&self, jobs: &[Job], mut tell: impl FnMut(Event) -> Result<(), Failure>) -> Result<(), Failure> {
        self.wait_for_others(jobs);
        // Few runs get more threads each; their results do not depend on it.
        let threads = (self.jobs / jobs.len().clamp(1, self.jobs)).max(1);
        std::thread::scope(|scope| {
            let (done, arriving) = mpsc::channel();
            let mut waiting = jobs.iter();
            // Dropped on any way out of here, and with it the standard inputs that keep the runs going.
            let mut running: BTreeMap<usize, Option<ChildStdin>> = BTreeMap::new();
            loop {
                let stopping = self.stop.load(Ordering::Relaxed);
                if stopping {
                    running.values_mut().for_each(|input| *input = None);
                }
                while !stopping && running.len() < self.jobs {
                    let Some(job) = waiting.next() else { break };
                    let mut child = self.start(job, threads)?;
                    running.insert(job.number, child.stdin.take());
                    let done = done.clone();
                    // The receiver outlives the senders, or nobody cares any more.
                    scope.spawn(move || done.send((job.number, child.wait_with_output())).ok());
                }
                if running.is_empty() {
                    return Ok(());
                }
                match arriving.recv_timeout(LOOK_EVERY) {
                    Ok((number, output)) => {
                        running.remove(&number);
                        tell(Event::Done(number, self.end(number, &output?)))?;
                    }
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => tell(Event::Tick)?,
                }
            }
        })
    }

    fn place(&self, number: usize) -> PathBuf {
        self.folder.join(Sweep::folder(number))
    }

    /// Starts a run, or goes on with it where it has begun.
    fn start(&self, job: &Job, threads: usize) -> Result<Child, Failure> {
        let folder = self.place(job.number);
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("run");
        if folder.join(SCENE_FILE).exists() {
            command.arg(&folder).arg("--resume");
        } else {
            // A process that was killed before it wrote the scene leaves a folder that cannot be continued.
            if folder.exists() {
                std::fs::remove_dir_all(&folder).map_err(|e| FileError::new(&folder, Attempt::Remove, e))?;
            }
            command.arg(self.scene).arg("--out").arg(&folder);
            job.overrides.iter().for_each(|change| {
                command.arg("--set").arg(change);
            });
        }
        if let Some(until) = self.until {
            command.arg("--until").arg(until);
        }
        command.args(["--quiet", "--stop-with-input", "--threads", &threads.to_string()]);
        Ok(command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?)
    }

    fn end(&self, number: usize, output: &Output) -> End {
        if output.status.code() == Some(INTERRUPTED) {
            return End::Interrupted;
        }
        let said = String::from_utf8_lossy(&output.stderr);
        match Ended::read(&self.place(number)) {
            Some(ended) => End::Ended(ended),
            None if said.trim().is_empty() => End::Failed(format!("its process ended with {}", output.status)),
            None => End::Failed(said.into_owned()),
        }
    }

    /// Runs of a sweep that was killed stop by themselves, but need a moment for it. Who writes longer than that is told by
    /// the run that finds the folder locked.
    fn wait_for_others(&self, jobs: &[Job]) {
        let begin = Instant::now();
        for folder in jobs.iter().map(|job| self.place(job.number)) {
            while run_folder::writer(&folder).is_some() && begin.elapsed() < PATIENCE {
                std::thread::sleep(LOOK_EVERY);
            }
        }
    }
}
