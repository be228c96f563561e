//! The folder of one run: never overwritten, never written by two processes at once.
//!
//! A new run goes to `runs/SCENE-N` with the first free `N`, or to a folder named by the user. While a process writes a
//! run it holds a lock of the operating system on `.esker.lock`, so the lock of a killed process is gone with it; the
//! process number in the file only serves the messages.

use crate::atomic::{self, Attempt, FileError};
use crate::checkpoint::{self, CheckpointError, Fault, Meta};
use serde::Serialize;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

const LOCK: &str = ".esker.lock";
/// Checkpoints that are kept: the newest, and one more in case that one is damaged.
const KEPT_CHECKPOINTS: usize = 2;

/// Why a run folder could not be used.
#[derive(Debug, thiserror::Error)]
pub enum RunFolderError {
    /// The operating system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// The folder for a new run has something in it.
    #[error("`{}` is not empty (it has `{found}`)\n  nothing is overwritten: name a new folder, or continue the run that is there", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
        /// One of the things in it.
        found: String,
    },
    /// The folder to continue in holds no run.
    #[error("`{}` holds no run to continue\n  name the folder of a run, for example `runs/hopper-1`", path.display())]
    NoRun {
        /// The folder.
        path: PathBuf,
    },
    /// Another process is writing this run.
    #[error("`{}` is being written by {owner}\n  wait until it ends, or stop it", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
        /// The process, as far as known.
        owner: String,
    },
    /// There is no checkpoint to continue from.
    #[error("`{}` has no usable checkpoint{}", path.display(), list(skipped))]
    NoCheckpoint {
        /// The folder.
        path: PathBuf,
        /// The unusable ones.
        skipped: Vec<Skipped>,
    },
    /// A checkpoint could not be read or written.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

/// A checkpoint that was passed over, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The checkpoint.
    pub path: PathBuf,
    /// What is wrong with it.
    pub fault: Fault,
}

/// One line per checkpoint passed over.
fn list(skipped: &[Skipped]) -> String {
    let mut text = String::new();
    for Skipped { path, fault } in skipped {
        let _ = write!(text, "\n  `{}`: {fault}", path.display());
    }
    text
}

/// The newest usable checkpoint of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Latest {
    /// The checkpoint.
    pub path: PathBuf,
    /// What it says about itself.
    pub meta: Meta,
    /// Newer ones that were passed over; tell the user.
    pub skipped: Vec<Skipped>,
}

/// A kind of picture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// Grains as points.
    Grains,
    /// Contacts as lines.
    Contacts,
    /// Walls as polygons.
    Walls,
}

impl Frame {
    /// All kinds.
    pub const ALL: [Frame; 3] = [Frame::Grains, Frame::Contacts, Frame::Walls];

    /// The word that begins the file name.
    pub fn stem(self) -> &'static str {
        match self {
            Frame::Grains => "grains",
            Frame::Contacts => "contacts",
            Frame::Walls => "walls",
        }
    }

    /// The file name of a frame: `grains-000123.vtp`.
    pub fn file_name(self, number: u64) -> String {
        format!("{}-{number:06}.vtp", self.stem())
    }

    /// The file name of the collection of all frames: `grains.pvd`.
    pub fn collection_name(self) -> String {
        format!("{}.pvd", self.stem())
    }
}

/// A run folder that this process, and no other, may write to. Dropping it frees the lock.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    lock: File,
    notes: Vec<String>,
}

impl RunFolder {
    /// Creates `BASE/SCENE-N` with the first free number from 1. Two processes never get the same one.
    pub fn create(base: &Path, scene: &str) -> Result<Self, RunFolderError> {
        fs::create_dir_all(base).map_err(FileError::at(base, Attempt::Create))?;
        let name = safe_name(scene);
        for n in 1u64.. {
            let path = base.join(format!("{name}-{n}"));
            match fs::create_dir(&path) {
                Ok(()) => return RunFolder::lock(path),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(e) => return Err(FileError::new(&path, Attempt::Create, e).into()),
            }
        }
        unreachable!("a disk has fewer than 2^64 folders")
    }

    /// Creates the folder that the user named. It must not exist, or be empty.
    pub fn create_at(path: &Path) -> Result<Self, RunFolderError> {
        fs::create_dir_all(path).map_err(FileError::at(path, Attempt::Create))?;
        require_empty(path)?;
        let folder = RunFolder::lock(path.to_owned())?;
        require_empty(path)?; // someone may have been faster, and already be done
        Ok(folder)
    }

    /// Opens the folder of an earlier run for writing, and removes half-written files that a killed process left.
    pub fn resume(path: &Path) -> Result<Self, RunFolderError> {
        if !is_run(path)? {
            return Err(RunFolderError::NoRun { path: path.to_owned() });
        }
        let mut folder = RunFolder::lock(path.to_owned())?;
        for removed in atomic::clean(path)? {
            folder.notes.push(format!("removed the half-written file `{}`", removed.display()));
        }
        Ok(folder)
    }

    /// Takes the lock, or says who has it.
    fn lock(path: PathBuf) -> Result<Self, RunFolderError> {
        let place = path.join(LOCK);
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&place);
        let mut lock = open.map_err(FileError::at(&place, Attempt::Lock))?;
        let mut notes = Vec::new();
        let outcome = lock.try_lock();
        let mut owner = String::new();
        // Where locks bind all readers, the text cannot be had; it only serves the message.
        let _ = Read::by_ref(&mut lock).take(64).read_to_string(&mut owner);
        let owner = owner.trim().to_owned();
        match outcome {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let owner = if owner.is_empty() { "another process".to_owned() } else { owner };
                return Err(RunFolderError::InUse { path, owner });
            }
            Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => {
                notes.push("this disk has no locks: make sure that no other process writes the same run".to_owned());
            }
            Err(TryLockError::Error(e)) => return Err(FileError::new(&place, Attempt::Lock, e).into()),
        }
        if !owner.is_empty() {
            notes.push(format!("{owner} ended without closing this run"));
        }
        let mut sign = || {
            lock.set_len(0)?;
            io::Seek::rewind(&mut lock)?;
            lock.write_all(format!("process {}\n", std::process::id()).as_bytes())
        };
        sign().map_err(FileError::at(&place, Attempt::Lock))?;
        Ok(RunFolder { path, lock, notes })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the user should hear: a run that was not closed, files removed, a disk without locks.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// A file of the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The file of a frame, `grains-000123.vtp`.
    pub fn frame(&self, kind: Frame, number: u64) -> PathBuf {
        self.path.join(kind.file_name(number))
    }

    /// The file of the checkpoint of a step, `checkpoint-000000120034.ckpt`.
    pub fn checkpoint(&self, step: u64) -> PathBuf {
        self.path.join(format!("checkpoint-{step:012}.ckpt"))
    }

    /// Writes the checkpoint of `meta.step` and then removes all but the last two.
    pub fn save_checkpoint<T: Serialize + ?Sized>(&self, state: &T, meta: &Meta) -> Result<PathBuf, RunFolderError> {
        let path = self.checkpoint(meta.step);
        checkpoint::save(&path, state, meta)?;
        let all = checkpoints(&self.path)?;
        for (_, old) in &all[..all.len().saturating_sub(KEPT_CHECKPOINTS)] {
            if *old != path {
                remove(old)?;
            }
        }
        Ok(path)
    }

    /// The newest checkpoint that is whole. Damaged ones are passed over and named in the result.
    pub fn latest_checkpoint(&self) -> Result<Latest, RunFolderError> {
        latest_checkpoint(&self.path)
    }

    /// Removes what lies after the point a run is continued from: checkpoints after `step` and frames numbered above
    /// `frame` (all frames for `None`). Returns how many files went.
    pub fn discard_after(&self, step: u64, frame: Option<u64>) -> Result<usize, RunFolderError> {
        let mut late: Vec<PathBuf> = checkpoints(&self.path)?.into_iter().filter(|c| c.0 > step).map(|c| c.1).collect();
        for kind in Frame::ALL {
            let numbered = numbered(&self.path, kind.stem(), ".vtp")?.into_iter();
            late.extend(numbered.filter(|f| frame.is_none_or(|last| f.0 > last)).map(|f| f.1));
        }
        late.iter().try_for_each(|path| remove(path))?;
        Ok(late.len())
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        // An empty lock file means that the run was closed; the lock itself goes with the file handle. The file
        // stays, for removing it could pull it from under a process that is just taking it.
        let _ = self.lock.set_len(0);
    }
}

/// Whether a folder is that of a run.
pub fn is_run(folder: &Path) -> Result<bool, RunFolderError> {
    Ok(folder.join(LOCK).is_file() || !checkpoints(folder)?.is_empty())
}

/// The process that writes a run just now, without taking the lock. Where nobody can be asked whether a process is alive, one
/// that ended without closing its run counts as if it were.
pub fn writer(folder: &Path) -> Option<String> {
    let owner = fs::read_to_string(folder.join(LOCK)).ok()?.trim().to_owned();
    let number = owner.strip_prefix("process ")?;
    let asked = Path::new("/proc/self").exists();
    (!asked || Path::new("/proc").join(number).exists()).then_some(owner)
}

/// The newest checkpoint in a folder that is whole, without taking the lock.
///
/// A damaged, cut or foreign file is passed over and named in the result. A checkpoint of a newer program is not damage:
/// continuing from an older one would throw work away, so that is an error.
pub fn latest_checkpoint(folder: &Path) -> Result<Latest, RunFolderError> {
    let mut skipped = Vec::new();
    for (_, path) in checkpoints(folder)?.into_iter().rev() {
        match checkpoint::verify(&path) {
            Ok(meta) => return Ok(Latest { path, meta, skipped }),
            Err(CheckpointError::Fault { path, fault })
                if matches!(fault, Fault::Foreign | Fault::Truncated { .. } | Fault::Damaged(_)) =>
            {
                skipped.push(Skipped { path, fault });
            }
            Err(other) => return Err(other.into()),
        }
    }
    Err(RunFolderError::NoCheckpoint { path: folder.to_owned(), skipped })
}

/// The checkpoints in a folder, by rising step.
fn checkpoints(folder: &Path) -> Result<Vec<(u64, PathBuf)>, FileError> {
    numbered(folder, "checkpoint", ".ckpt")
}

/// The files `STEM-NUMBER.EXTENSION` in a folder, by rising number.
fn numbered(folder: &Path, stem: &str, extension: &str) -> Result<Vec<(u64, PathBuf)>, FileError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(FileError::at(folder, Attempt::List))? {
        let entry = entry.map_err(FileError::at(folder, Attempt::List))?;
        let name = entry.file_name();
        let digits = name.to_str().and_then(|n| n.strip_prefix(stem)?.strip_prefix('-')?.strip_suffix(extension));
        if let Some(digits) = digits
            && digits.bytes().all(|b| b.is_ascii_digit())
            && let Ok(number) = digits.parse()
        {
            found.push((number, entry.path()));
        }
    }
    found.sort();
    Ok(found)
}

fn remove(path: &Path) -> Result<(), FileError> {
    fs::remove_file(path).map_err(FileError::at(path, Attempt::Remove))
}

/// Fails if the folder has anything but a lock file.
fn require_empty(path: &Path) -> Result<(), RunFolderError> {
    for entry in fs::read_dir(path).map_err(FileError::at(path, Attempt::List))? {
        let name = entry.map_err(FileError::at(path, Attempt::List))?.file_name();
        if name != LOCK {
            let found = name.to_string_lossy().into_owned();
            return Err(RunFolderError::NotEmpty { path: path.to_owned(), found });
        }
    }
    Ok(())
}

/// A scene name as part of a folder name: letters, digits, `-`, `_` and inner dots stay, the rest becomes `-`.
fn safe_name(scene: &str) -> String {
    let plain: String =
        scene.chars().take(80).map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect();
    match plain.trim_matches(['-', '.']) {
        "" => "run".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn meta(step: u64) -> Meta {
        Meta { engine: "esker 0.1.0".into(), scene: "hopper".into(), step, time: step as f64 * 1e-5 }
    }

    #[test]
    fn runs_are_numbered_by_the_first_free_number() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().join("runs");
        let first = RunFolder::create(&base, "hopper").unwrap();
        let second = RunFolder::create(&base, "hopper").unwrap();
        assert_eq!((first.path(), second.path()), (&*base.join("hopper-1"), &*base.join("hopper-2")));
        drop(first);
        fs::remove_dir_all(base.join("hopper-1")).unwrap();
        assert_eq!(RunFolder::create(&base, "hopper").unwrap().path(), base.join("hopper-1"));
        assert_eq!(RunFolder::create(&base, "../a b/..").unwrap().path(), base.join("a-b-1"));
        assert_eq!(RunFolder::create(&base, "").unwrap().path(), base.join("run-1"));
    }

    #[test]
    fn eight_threads_that_create_runs_at_once_get_eight_folders() {
        let dir = tempfile::tempdir().unwrap();
        let paths: BTreeSet<PathBuf> = std::thread::scope(|scope| {
            let spawn = |_| scope.spawn(|| RunFolder::create(dir.path(), "race").unwrap().path().to_owned());
            let threads: Vec<_> = (0..8).map(spawn).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert_eq!(paths.len(), 8);
    }

    #[test]
    fn a_named_folder_must_be_new_or_empty() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/out");
        drop(RunFolder::create_at(&path).unwrap());
        drop(RunFolder::create_at(&path).unwrap()); // nothing was written yet
        fs::write(path.join("mine.txt"), "precious").unwrap();
        match RunFolder::create_at(&path) {
            Err(RunFolderError::NotEmpty { found, .. }) => assert_eq!(found, "mine.txt"),
            other => panic!("{other:?}"),
        }
        let foreign = tempfile::tempdir().unwrap();
        fs::write(foreign.path().join("a"), "").unwrap();
        assert!(RunFolder::create_at(foreign.path()).is_err());
        assert!(matches!(RunFolder::resume(foreign.path()), Err(RunFolderError::NoRun { .. })));
        assert_eq!(fs::read_dir(foreign.path()).unwrap().count(), 1, "a refused folder gets no lock file");
        assert!(RunFolder::create_at(&path.join("mine.txt")).is_err());
    }

    #[test]
    fn a_run_has_one_writer_and_the_lock_goes_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let first = RunFolder::create_at(dir.path()).unwrap();
        let me = format!("process {}", std::process::id());
        for attempt in [RunFolder::resume(dir.path()), RunFolder::create_at(dir.path())] {
            match attempt {
                Err(RunFolderError::InUse { owner, .. }) => assert_eq!(owner, me),
                other => panic!("{other:?}"),
            }
        }
        drop(first);
        assert!(RunFolder::resume(dir.path()).unwrap().notes().is_empty());
    }

    #[test]
    fn resuming_after_a_crash_says_so_and_removes_half_written_files() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(LOCK), "process 4711\n").unwrap();
        fs::write(dir.path().join(".grains-000007.vtp.tmp-4711-3"), "half").unwrap();
        let folder = RunFolder::resume(dir.path()).unwrap();
        assert!(folder.notes()[0].contains("process 4711 ended without closing"), "{:?}", folder.notes());
        assert!(folder.notes()[1].contains(".grains-000007.vtp.tmp-4711-3"));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_last_two_checkpoints_are_kept_and_damaged_ones_are_passed_over_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let folder = RunFolder::create_at(dir.path()).unwrap();
        assert!(matches!(folder.latest_checkpoint(), Err(RunFolderError::NoCheckpoint { .. })));
        for step in [900, 1000, 20_000] {
            folder.save_checkpoint(&vec![step as f64; 10], &meta(step)).unwrap();
        }
        let steps: Vec<u64> = checkpoints(dir.path()).unwrap().into_iter().map(|c| c.0).collect();
        assert_eq!(steps, [1000, 20_000]);
        assert_eq!(folder.latest_checkpoint().unwrap().meta, meta(20_000));

        let newest = folder.checkpoint(20_000);
        let bytes = fs::read(&newest).unwrap();
        fs::write(&newest, &bytes[..bytes.len() - 3]).unwrap();
        let latest = folder.latest_checkpoint().unwrap();
        assert_eq!(latest.meta, meta(1000));
        assert!(matches!(&latest.skipped[..], [Skipped { path, fault: Fault::Truncated { .. } }] if *path == newest));

        let mut newer = bytes.clone();
        newer[8] = 200;
        fs::write(&newest, newer).unwrap();
        assert!(matches!(folder.latest_checkpoint(), Err(RunFolderError::Checkpoint(_))), "newer is not damaged");

        fs::write(&newest, "").unwrap();
        fs::write(folder.checkpoint(1000), "noise").unwrap();
        let text = folder.latest_checkpoint().unwrap_err().to_string();
        assert!(text.contains("20000.ckpt`: it is cut short") && text.contains("1000.ckpt`: it is not"), "{text}");
    }

    #[test]
    fn discarding_removes_later_checkpoints_and_frames_only() {
        let dir = tempfile::tempdir().unwrap();
        let folder = RunFolder::create_at(dir.path()).unwrap();
        for step in [100, 200] {
            folder.save_checkpoint(&step, &meta(step)).unwrap();
        }
        for (kind, n) in [(Frame::Grains, 1), (Frame::Grains, 2), (Frame::Walls, 1_000_000), (Frame::Contacts, 0)] {
            fs::write(folder.frame(kind, n), "").unwrap();
        }
        fs::write(folder.file("grains-final.vtp"), "").unwrap();
        assert_eq!(folder.discard_after(100, Some(1)).unwrap(), 3);
        let kept = [folder.checkpoint(100), folder.frame(Frame::Grains, 1), folder.frame(Frame::Contacts, 0)];
        assert!(kept.iter().chain([&folder.file("grains-final.vtp")]).all(|p| p.exists()));
        assert_eq!(Frame::Grains.file_name(123), "grains-000123.vtp");
        assert_eq!(folder.discard_after(100, None).unwrap(), 2);
    }
}
