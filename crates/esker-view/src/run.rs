//! The folder of a run, opened for looking.

use esker_io::atomic::{Attempt, FileError};
use esker_io::record::{SERIES_FILE, SUMMARY_FILE};
use esker_io::run_folder;
use esker_io::store::{Reader, STORE_FILE, StoreError};
use serde_json::{Map, Value, json};
use std::io;
use std::path::{Path, PathBuf};

/// Why a run cannot be looked at.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// There is no such folder.
    #[error("`{}` is not a folder\n  name the folder of a run, for example `runs/hopper-1`", path.display())]
    NoFolder {
        /// What was named.
        path: PathBuf,
    },
    /// The folder is none of a run.
    #[error("`{}` holds no run of Esker\n  name the folder of a run, for example `runs/hopper-1`", path.display())]
    NoRun {
        /// The folder.
        path: PathBuf,
    },
    /// The run has written no frames.
    #[error(
        "`{}` has no frames (`{STORE_FILE}` is missing)\n  say how often to write them, `[output]` `frames = \"0.1 s\"`, and run the scene again",
        path.display()
    )]
    NoFrames {
        /// The folder.
        path: PathBuf,
    },
    /// The frames cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A run and its frames.
#[derive(Debug)]
pub struct Run {
    folder: PathBuf,
    /// The frames.
    pub store: Reader,
}

impl Run {
    /// Opens the folder of a run.
    pub fn open(folder: &Path) -> Result<Self, RunError> {
        let path = folder.to_owned();
        if !folder.is_dir() {
            return Err(RunError::NoFolder { path });
        }
        let store = folder.join(STORE_FILE);
        if !store.is_file() {
            let is_run = run_folder::is_run(folder).unwrap_or(false);
            return Err(if is_run { RunError::NoFrames { path } } else { RunError::NoRun { path } });
        }
        Ok(Self { folder: path, store: Reader::open(&store)? })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The table of numbers, if there is one.
    pub fn series(&self) -> Result<Option<String>, RunError> {
        self.text(SERIES_FILE)
    }

    /// `run.json`, if it is there.
    pub fn summary(&self) -> Result<Option<String>, RunError> {
        self.text(SUMMARY_FILE)
    }

    fn text(&self, name: &str) -> Result<Option<String>, RunError> {
        let path = self.folder.join(name);
        match std::fs::read(&path) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(FileError::new(&path, Attempt::Read, e).into()),
        }
    }

    /// Whether a process still writes it.
    pub fn is_running(&self) -> bool {
        run_folder::writer(&self.folder).is_some()
    }

    /// What is wrong with its frames, if anything is: those that can be read are there all the same.
    pub fn fault(&self) -> Option<String> {
        self.store.fault().map(|fault| format!("`{}` is damaged, {fault}", self.store.path().display()))
    }

    /// Lists frames that have come since; a run that was started again has another file.
    fn look_again(&mut self) -> Result<(), RunError> {
        let length = std::fs::metadata(self.store.path()).map_or(0, |about| about.len());
        if length < self.store.end() {
            self.store = Reader::open(&self.folder.join(STORE_FILE))?;
        }
        Ok(self.store.look_again()?)
    }

    /// What a page has to know before it reads frames: where each is, and what the run says of itself. Frames that have come
    /// since are listed; what is wrong with the file is told as the `problem`.
    pub fn index(&mut self) -> Value {
        let running = self.is_running();
        let problem = self.look_again().err().map(|e| e.to_string());
        let problem = problem.or_else(|| self.fault());
        index(&self.store, problem, running)
    }
}

/// The index of a store.
fn index(store: &Reader, problem: Option<String>, running: bool) -> Value {
    let mut blocks = Map::new();
    let mut problem = problem;
    for frame in store.frames() {
        for at in [frame.grains, frame.walls] {
            if blocks.contains_key(&at.to_string()) {
                continue;
            }
            match store.block_length(at) {
                Ok(length) => {
                    blocks.insert(at.to_string(), length.into());
                }
                Err(e) => problem = problem.or_else(|| Some(e.to_string())),
            }
        }
    }
    let frame = |f: &esker_io::store::FrameInfo| json!({"time": f.time, "step": f.step, "at": f.at, "length": f.length, "grains": f.grains, "walls": f.walls});
    let frames: Vec<Value> = store.frames().iter().map(frame).collect();
    json!({"head": store.head(), "frames": frames, "blocks": blocks, "running": running, "problem": problem})
}
