//! ParaView collections (`.pvd`): which file shows which time.
//!
//! The list is short and is rewritten as a whole, atomically, after each frame: ParaView may open it while the run goes
//! on. A list read back can be cut at a time, for a run that is continued from a checkpoint.

use crate::atomic::{self, FileError};
use crate::xml;
use crate::xml::escape;
use std::io;
use std::path::PathBuf;

/// One file of a collection.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Time it shows \[s\].
    pub time: f64,
    /// Number of the part, for several files at one time.
    pub part: u32,
    /// The file, relative to the folder of the collection.
    pub file: String,
}

/// Why a collection could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum PvdError {
    /// The operating system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not a collection as this program writes it.
    #[error("`{}`, line {line}: {reason}\n  remove the file to start a new collection", path.display())]
    Content {
        /// The collection.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// A frame was given a time that is no number.
    #[error("the frame `{file}` has the time {time}, which is not a finite number")]
    Time {
        /// File of the frame.
        file: String,
        /// The time \[s\].
        time: f64,
    },
}

/// A collection and where it is kept.
#[derive(Clone, Debug)]
pub struct Collection {
    path: PathBuf,
    entries: Vec<Entry>,
}

impl Collection {
    /// A new, empty collection. Nothing is written before the first [`push`](Self::push).
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Collection { path: path.into(), entries: Vec::new() }
    }

    /// Reads a collection back; a missing file is an empty collection.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, PvdError> {
        let path = path.into();
        let bytes = match atomic::read(&path) {
            Err(e) if e.reason.kind() == io::ErrorKind::NotFound => return Ok(Collection::new(path)),
            other => other?,
        };
        match parse(&bytes) {
            Ok(entries) => Ok(Collection { path, entries }),
            Err((line, reason)) => Err(PvdError::Content { path, line, reason }),
        }
    }

    /// The files, in the order they were added.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Adds a file and writes the collection.
    pub fn push(&mut self, entry: Entry) -> Result<(), PvdError> {
        if !entry.time.is_finite() {
            return Err(PvdError::Time { file: entry.file, time: entry.time });
        }
        self.entries.push(entry);
        self.save()
    }

    /// Forgets the files that show a time after `time` \[s\], writes the collection and returns how many were forgotten.
    pub fn drop_after(&mut self, time: f64) -> Result<usize, PvdError> {
        let before = self.entries.len();
        self.entries.retain(|e| e.time <= time);
        if before > self.entries.len() {
            self.save()?;
        }
        Ok(before - self.entries.len())
    }

    /// Writes the collection as a whole or not at all.
    pub fn save(&self) -> Result<(), PvdError> {
        Ok(atomic::write_unsynced(&self.path, |out| {
            writeln!(out, "<?xml version=\"1.0\"?>")?;
            writeln!(out, "<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">")?;
            writeln!(out, "  <Collection>")?;
            for Entry { time, part, file } in &self.entries {
                let file = escape(file);
                writeln!(out, "    <DataSet timestep=\"{time:?}\" group=\"\" part=\"{part}\" file=\"{file}\"/>")?;
            }
            writeln!(out, "  </Collection>")?;
            writeln!(out, "</VTKFile>")
        })?)
    }
}

/// The entries of a collection; on error the line and the reason.
fn parse(bytes: &[u8]) -> Result<Vec<Entry>, (usize, String)> {
    let line_of = |at: usize| 1 + bytes[..at].iter().filter(|&&b| b == b'\n').count();
    let text = std::str::from_utf8(bytes).map_err(|e| (line_of(e.valid_up_to()), "not UTF-8 text".to_owned()))?;
    if !text.contains("<Collection") {
        return Err((1, "no ParaView collection: the tag <Collection> is missing".to_owned()));
    }
    let mut entries = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("<DataSet") {
        let tag = &rest[start + "<DataSet".len()..];
        let line = line_of(text.len() - tag.len());
        let end = tag.find('>').ok_or((line, "the tag <DataSet> is not closed".to_owned()))?;
        let entry = parse_entry(tag[..end].trim_end_matches('/')).map_err(|reason| (line, reason))?;
        entries.push(entry);
        rest = &tag[end..];
    }
    if !rest.contains("</Collection>") && !rest.contains("<Collection/>") {
        return Err((line_of(bytes.len()), "the file ends before </Collection>".to_owned()));
    }
    Ok(entries)
}

/// One entry from the attributes of its tag. A `>` inside a value is always escaped by the writer.
fn parse_entry(attributes: &str) -> Result<Entry, String> {
    let (mut time, mut part, mut file) = (None, 0, None);
    for (name, value) in xml::attributes(attributes)? {
        match name {
            "timestep" => {
                let t: f64 = value.trim().parse().map_err(|_| format!("timestep=\"{value}\" is not a number"))?;
                if !t.is_finite() {
                    return Err(format!("timestep=\"{value}\" is not a finite number"));
                }
                time = Some(t);
            }
            "part" => part = value.trim().parse().map_err(|_| format!("part=\"{value}\" is not a whole number"))?,
            "file" => file = Some(value),
            _ => {}
        }
    }
    match (time, file) {
        (Some(time), Some(file)) => Ok(Entry { time, part, file }),
        (None, _) => Err("a <DataSet> has no `timestep`".to_owned()),
        (_, None) => Err("a <DataSet> has no `file`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(time: f64, part: u32, file: &str) -> Entry {
        Entry { time, part, file: file.to_owned() }
    }

    #[test]
    fn a_collection_reads_back_and_is_cut_at_the_time_of_the_checkpoint() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("grains.pvd");
        let mut pvd = Collection::open(&path).unwrap();
        for i in 0..5 {
            pvd.push(entry(0.1 * f64::from(i), 0, &format!("grains-{i:06}.vtp"))).unwrap();
        }
        let mut again = Collection::open(&path).unwrap();
        assert_eq!(again.entries(), pvd.entries());
        assert_eq!(again.drop_after(0.2).unwrap(), 2);
        assert_eq!(Collection::open(&path).unwrap().entries(), &pvd.entries()[..3]);
    }

    #[test]
    fn damaged_collections_name_the_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.pvd");
        let good = "<VTKFile type=\"Collection\">\n<Collection>\n<DataSet timestep=\"1\" file=\"a&amp;b\"/>\n</Collection>\n</VTKFile>\n";
        std::fs::write(&path, good).unwrap();
        assert_eq!(Collection::open(&path).unwrap().entries(), [entry(1.0, 0, "a&b")]);
        for (from, to, line, part) in [
            ("\"1\"", "\"one\"", 3, "not a number"),
            ("timestep=\"1\"", "", 3, "no `timestep`"),
            ("&amp;", "&nbsp;", 3, "unknown entity"),
            ("/>", "", 3, "expected name="),
            ("</Collection>", "", 6, "ends before"),
            ("<Collection>", "", 1, "missing"),
        ] {
            std::fs::write(&path, good.replace(from, to)).unwrap();
            match Collection::open(&path) {
                Err(PvdError::Content { line: l, reason, .. }) => {
                    assert!(l == line && reason.contains(part), "{from}: line {l}, {reason}")
                }
                other => panic!("{from}: {other:?}"),
            }
        }
        assert!(matches!(Collection::new(&path).push(entry(f64::NAN, 0, "a")), Err(PvdError::Time { .. })));
    }

    proptest! {
        #[test]
        fn any_entry_survives_the_file(time in -1e300..1e300, part: u32, file in "[^\\x00-\\x1f\\x7f-\\u{9f}]{0,40}") {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("a.pvd");
            Collection::new(&path).push(entry(time, part, &file)).unwrap();
            let read = Collection::open(&path).unwrap();
            prop_assert_eq!(read.entries(), &[entry(time, part, &file)]);
        }

        #[test]
        fn reading_any_bytes_does_not_panic(bytes: Vec<u8>, tail in "(<Collection>|<DataSet |file=|timestep=|[\"'=&;/>a1])*") {
            let _ = parse(&bytes);
            let _ = parse(tail.as_bytes());
        }
    }
}
