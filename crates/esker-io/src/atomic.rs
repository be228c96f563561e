//! Whole files or none: a file is written under a temporary name beside its place and then renamed.
//!
//! A reader, or a run that is continued after a crash, sees the old file or the new one and never a part of either.
//! [`write()`] also outlives a power cut, for two `fsync`: checkpoints, the scene as used and `run.json` are written so.
//! [`write_unsynced`] leaves the time of writing to the operating system: a killed process does no harm, a power cut may
//! cost the files of the last seconds. Frames and their collections are written so, for syncing them took three
//! quarters of the time of a small run, and nothing that a run continues from depends on them.
//! For data that grows line by line use [`series`](crate::series).
//! Checked below and, against a really full disk, in `tests/full_disk.rs`.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// What was being done when the operating system refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// Creating a file or a folder.
    Create,
    /// Writing content.
    Write,
    /// Putting the finished file in its place.
    Rename,
    /// Reading content.
    Read,
    /// Listing a folder.
    List,
    /// Removing a file.
    Remove,
    /// Taking the lock that keeps a second process out.
    Lock,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Attempt::Create => "create",
            Attempt::Write => "write",
            Attempt::Rename => "put in place",
            Attempt::Read => "read",
            Attempt::List => "list",
            Attempt::Remove => "remove",
            Attempt::Lock => "lock",
        })
    }
}

/// The operating system refused something: which file, what was attempted, why, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("cannot {attempt} `{}`: {reason}\n  {}", path.display(), self.advice())]
pub struct FileError {
    /// The file or folder, under its final name.
    pub path: PathBuf,
    /// What was being done.
    pub attempt: Attempt,
    /// The reason given by the operating system. Part of the message, so not also a `source`.
    pub reason: io::Error,
}

impl FileError {
    /// An error about `path`.
    pub fn new(path: &Path, attempt: Attempt, reason: io::Error) -> Self {
        FileError { path: path.to_owned(), attempt, reason }
    }

    /// For `map_err`: wraps the reason.
    pub(crate) fn at(path: &Path, attempt: Attempt) -> impl FnOnce(io::Error) -> Self + '_ {
        move |reason| FileError::new(path, attempt, reason)
    }

    /// What the user can do about it.
    pub fn advice(&self) -> &'static str {
        match self.reason.kind() {
            io::ErrorKind::StorageFull => "the disk is full: free some space or choose another folder",
            io::ErrorKind::QuotaExceeded => {
                "your quota on this disk is used up: free some space or choose another folder"
            }
            io::ErrorKind::FileTooLarge => {
                "the file would exceed the size allowed here: raise the limit (ulimit -f) or write less"
            }
            io::ErrorKind::PermissionDenied => "check the owner and the permissions of the file and its folder",
            io::ErrorKind::ReadOnlyFilesystem => "this disk is mounted read-only: choose another folder",
            io::ErrorKind::NotFound => "check the spelling of the path; its folder must exist",
            io::ErrorKind::AlreadyExists => "nothing is overwritten: choose another name or move the old one away",
            io::ErrorKind::NotADirectory => "a part of the path is a file, not a folder",
            io::ErrorKind::IsADirectory | io::ErrorKind::DirectoryNotEmpty => {
                "a folder stands where a file is wanted: name a file"
            }
            io::ErrorKind::InvalidFilename => "the name is too long or has characters this disk does not take",
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => "the content is not fit for this file",
            _ => "check the disk and the path, then try again",
        }
    }
}

/// Tells temporary files of one process apart.
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// Removes the temporary file unless it has been renamed, also when the writer panics.
struct Temporary {
    path: PathBuf,
    keep: bool,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.keep {
            // Nothing better can be done with a second error while the first one is on its way to the user.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Writes the file `path` as a whole: after `Ok` the new content is on disk, after an error the old file is as it was
/// and nothing else is left behind. (One exception: if only the last `fsync`, that of the folder, fails, the new
/// file is in place but might not outlive a power cut.)
///
/// `content` writes through a buffer. A symbolic link at `path` is replaced, not followed.
pub fn write(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), FileError> {
    let folder = replace(path, content, |file| file.sync_all())?;
    sync_folder(folder).map_err(FileError::at(path, Attempt::Rename))
}

/// Like [`write()`], but the new content reaches the disk when the operating system sees fit.
pub fn write_unsynced(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), FileError> {
    replace(path, content, |_| Ok(())).map(|_| ())
}

/// Writes a temporary file, hands it to `sync`, renames it, and returns the folder.
fn replace(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    sync: impl FnOnce(&File) -> io::Result<()>,
) -> Result<&Path, FileError> {
    let (Some(name), Some(parent)) = (path.file_name(), path.parent()) else {
        return Err(FileError::new(path, Attempt::Create, io::ErrorKind::IsADirectory.into()));
    };
    let folder = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let (mut temporary, file) = create_temporary(folder, name, path)?;

    let mut buffered = BufWriter::with_capacity(1 << 18, file);
    content(&mut buffered).map_err(FileError::at(path, Attempt::Write))?;
    let file = buffered.into_inner().map_err(|e| FileError::new(path, Attempt::Write, e.into_error()))?;
    sync(&file).map_err(FileError::at(path, Attempt::Write))?;
    drop(file);

    fs::rename(&temporary.path, path).map_err(FileError::at(path, Attempt::Rename))?;
    temporary.keep = true;
    Ok(folder)
}

/// Creates `.NAME.tmp-PID-N` in the folder, passing over names left by a dead process with the same id.
fn create_temporary(folder: &Path, name: &std::ffi::OsStr, path: &Path) -> Result<(Temporary, File), FileError> {
    loop {
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".tmp-{}-{}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed)));
        let place = folder.join(hidden);
        match OpenOptions::new().write(true).create_new(true).open(&place) {
            Ok(file) => return Ok((Temporary { path: place, keep: false }, file)),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(e) => return Err(FileError::new(path, Attempt::Create, e)),
        }
    }
}

/// Makes a rename in the folder outlive a power cut. File systems that cannot do it for folders are left at that.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        match File::open(folder)?.sync_all() {
            Err(e) if matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
            other => other,
        }
    } else {
        Ok(())
    }
}

/// Removes the temporary files that killed processes have left in a folder and returns their paths.
///
/// Only for a folder that nobody else is writing to; [`RunFolder`](crate::run_folder::RunFolder) calls it
/// when it holds the lock.
pub fn clean(folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    let mut removed = Vec::new();
    for entry in fs::read_dir(folder).map_err(FileError::at(folder, Attempt::List))? {
        let entry = entry.map_err(FileError::at(folder, Attempt::List))?;
        if entry.file_name().to_str().is_some_and(is_temporary) {
            let path = entry.path();
            fs::remove_file(&path).map_err(FileError::at(&path, Attempt::Remove))?;
            removed.push(path);
        }
    }
    removed.sort();
    Ok(removed)
}

/// Whether a file name has the form `.NAME.tmp-PID-N`.
fn is_temporary(name: &str) -> bool {
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    name.starts_with('.')
        && name
            .rsplit_once(".tmp-")
            .and_then(|(_, numbers)| numbers.split_once('-'))
            .is_some_and(|(pid, n)| digits(pid) && digits(n))
}

/// Reads a whole file. Devices and pipes are refused, for they may never end.
pub fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    let kind = fs::metadata(path).map_err(FileError::at(path, Attempt::Read))?;
    if kind.is_dir() {
        return Err(FileError::new(path, Attempt::Read, io::ErrorKind::IsADirectory.into()));
    }
    if !kind.is_file() {
        let reason = io::Error::new(io::ErrorKind::InvalidInput, "it is a device or a pipe, not a file");
        return Err(FileError::new(path, Attempt::Read, reason));
    }
    fs::read(path).map_err(FileError::at(path, Attempt::Read))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_written_file_replaces_the_old_one_and_leaves_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        for text in ["first", "second, longer", "3"] {
            write(&path, |w| w.write_all(text.as_bytes())).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(names(dir.path()), ["a.txt"]);
    }

    #[test]
    fn when_the_writer_fails_the_old_file_stays_and_the_temporary_goes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        write(&path, |w| w.write_all(b"old")).unwrap();
        let error = write(&path, |w| {
            w.write_all(&[7; 1 << 20])?;
            Err(io::ErrorKind::StorageFull.into())
        })
        .unwrap_err();
        assert_eq!((error.attempt, error.reason.kind()), (Attempt::Write, io::ErrorKind::StorageFull));
        let text = error.to_string();
        assert!(text.contains("cannot write") && text.contains("a.txt") && text.contains("free some space"), "{text}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(dir.path()), ["a.txt"]);
    }

    #[test]
    fn when_the_writer_panics_the_old_file_stays_and_the_temporary_goes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        write(&path, |w| w.write_all(b"old")).unwrap();
        let caught = std::panic::catch_unwind(|| write(&path, |_| panic!("a bug in the writer")));
        assert!(caught.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(dir.path()), ["a.txt"]);
    }

    #[test]
    fn a_folder_in_the_place_of_the_file_is_an_error_and_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        fs::create_dir(&path).unwrap();
        assert_eq!(write(&path, |_| Ok(())).unwrap_err().attempt, Attempt::Rename);
        assert_eq!(names(dir.path()), ["a.txt"]);
        assert_eq!(write(Path::new("/"), |_| Ok(())).unwrap_err().attempt, Attempt::Create);
        let missing = write(&dir.path().join("no/such/a.txt"), |_| Ok(())).unwrap_err();
        assert_eq!((missing.attempt, missing.reason.kind()), (Attempt::Create, io::ErrorKind::NotFound));
    }

    #[test]
    fn cleaning_removes_temporaries_of_dead_processes_and_only_those() {
        let dir = tempfile::tempdir().unwrap();
        let others = [".a.tmp-x-1", ".hidden", "a.tmp-1-1", "a.vtp", ".a.tmp-1", ".a.tmp-1-", ".a.tmp-1-2-3"];
        for name in [".a.vtp.tmp-123-0", ".b.tmp-9-77"].iter().chain(&others) {
            fs::write(dir.path().join(name), "").unwrap();
        }
        assert_eq!(clean(dir.path()).unwrap().len(), 2);
        let mut expected = others.to_vec();
        expected.sort();
        assert_eq!(names(dir.path()), expected);
    }

    #[test]
    fn reading_a_folder_or_a_device_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(dir.path()).unwrap_err().reason.kind(), io::ErrorKind::IsADirectory);
        if cfg!(unix) {
            assert_eq!(read(Path::new("/dev/zero")).unwrap_err().reason.kind(), io::ErrorKind::InvalidInput);
        }
    }
}
