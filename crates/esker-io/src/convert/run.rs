//! What there is to convert: the frames of a run folder and what is known about them.

use super::ConvertError;
use crate::atomic;
use crate::pvd::Collection;
use crate::record::SCENE_FILE;
use crate::run_folder::{self, Frame as FrameFile};
use crate::scene;
use crate::store::{Reader, STORE_FILE};
use crate::vtp::{self, Column, Kind};
use esker::math::Vec3;
use esker::neighbor::PeriodicCell;
use std::path::{Path, PathBuf};

/// Which frames to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Number of the first, from 0; `None` for the last of the run alone.
    pub from: Option<usize>,
    /// Number of the first that is not taken any more.
    pub to: usize,
    /// Every so many of them.
    pub every: usize,
}

impl Selection {
    /// All frames.
    pub const ALL: Selection = Selection { from: Some(0), to: usize::MAX, every: 1 };
}

impl std::str::FromStr for Selection {
    type Err = String;

    /// `12`, `10..20` (10 to 19), `10..`, `..20` or `last`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` names no frames; say `12`, `10..20` (10 to 19), `10..`, `..20` or `last`");
        let number = |text: &str, default| match text.trim() {
            "" => Ok(default),
            digits => digits.parse::<usize>().map_err(|_| wrong()),
        };
        if text.trim() == "last" {
            return Ok(Selection { from: None, ..Selection::ALL });
        }
        match text.split_once("..") {
            Some((from, to)) => {
                Ok(Selection { from: Some(number(from, 0)?), to: number(to, usize::MAX)?, ..Selection::ALL })
            }
            None => {
                let one = text.trim().parse::<usize>().map_err(|_| wrong())?;
                Ok(Selection { from: Some(one), to: one.saturating_add(1), ..Selection::ALL })
            }
        }
    }
}

/// One frame of a run, not yet read.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameEntry {
    /// Number of the frame in the run, from 0.
    pub number: usize,
    /// Step it was taken at; the number of the frame if that is not known.
    pub step: u64,
    /// Time \[s\].
    pub time: f64,
    /// The file.
    pub path: PathBuf,
}

/// A run that can be converted.
#[derive(Clone, Debug)]
pub struct Run {
    /// Name of the folder.
    pub name: String,
    /// Title of the scene, empty if it is not known.
    pub title: String,
    /// Names of the materials, by number; empty if they are not known.
    pub materials: Vec<String>,
    /// Periodic directions.
    pub cell: PeriodicCell,
    /// Highest corner of the cell \[m\]: its origin and length may miss it by rounding.
    pub cell_end: Vec3,
    /// The selected frames.
    pub frames: Vec<FrameEntry>,
    /// What the user should hear.
    pub notes: Vec<String>,
}

impl Run {
    /// Lists the frames of a run folder. It may still be written to.
    pub fn open(folder: &Path) -> Result<Self, ConvertError> {
        let path = || folder.to_owned();
        if !folder.is_dir() {
            return Err(ConvertError::NoRun { path: path() });
        }
        let list = folder.join(FrameFile::Grains.collection_name());
        if !list.is_file() {
            let is_run = folder.join(SCENE_FILE).is_file() || run_folder::is_run(folder).unwrap_or(false);
            return Err(if is_run {
                ConvertError::NoFrames { path: path() }
            } else {
                ConvertError::NoRun { path: path() }
            });
        }
        let entries = Collection::open(&list)?;
        let frame = |(number, entry): (usize, &crate::pvd::Entry)| {
            let path = folder.join(&entry.file);
            FrameEntry { number, step: number as u64, time: entry.time, path }
        };
        let frames: Vec<FrameEntry> = entries.entries().iter().enumerate().map(frame).collect();
        if frames.is_empty() {
            return Err(ConvertError::NoFrames { path: path() });
        }
        let full = folder.canonicalize().unwrap_or_else(|_| path());
        let name = full.file_name().map_or_else(|| "run".to_owned(), |n| n.to_string_lossy().into_owned());
        let (materials, cell, notes) = (Vec::new(), PeriodicCell::OPEN, Vec::new());
        let mut run = Self { name, title: String::new(), materials, cell, cell_end: Vec3::ZERO, frames, notes };
        run.learn_from_scene(&folder.join(SCENE_FILE));
        run.learn_from_store(&folder.join(STORE_FILE));
        Ok(run)
    }

    /// Cell and names, from the scene as it was run.
    fn learn_from_scene(&mut self, path: &Path) {
        let text = atomic::read(path).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let Some(raw) = text.and_then(|text| scene::read(&text, SCENE_FILE, &[]).ok()) else {
            self.notes.push(format!("`{SCENE_FILE}` of the run cannot be read: no periodic cell is written"));
            return;
        };
        self.title = raw.title.as_ref().map(|t| t.value.clone()).unwrap_or_default();
        self.materials = raw.materials.iter().map(|m| m.name.value.clone()).collect();
        if let Some(domain) = &raw.domain {
            let size = domain.max.value - domain.min.value;
            self.cell.origin = domain.min.value;
            self.cell_end = domain.max.value;
            for axis in &domain.periodic {
                let k = axis.value as usize;
                self.cell.length[k] = Some(size[k]).filter(|l| *l > 0.0 && l.is_finite());
            }
        }
    }

    /// Names, and the steps of the frames, from the store beside them.
    fn learn_from_store(&mut self, path: &Path) {
        let Ok(store) = Reader::open(path) else {
            self.notes.push(format!("`{STORE_FILE}` of the run cannot be read: steps are the numbers of the frames"));
            return;
        };
        self.title.clone_from(&store.head().title);
        self.materials.clone_from(&store.head().materials);
        let step_at = |time: f64| {
            let near = |f: &&crate::store::FrameInfo| (f.time - time).abs() <= 1e-12 * time.abs();
            let after = store.frames().partition_point(|f| f.time < time - 1e-12 * time.abs());
            store.frames().get(after).filter(near).map(|f| f.step)
        };
        match self.frames.iter().map(|frame| step_at(frame.time)).collect::<Option<Vec<u64>>>() {
            Some(steps) => self.frames.iter_mut().zip(steps).for_each(|(frame, step)| frame.step = step),
            None => {
                let note = format!("`{STORE_FILE}` does not have all frames: steps are the numbers of the frames");
                self.notes.push(note);
            }
        }
    }

    /// Keeps some of the frames.
    pub fn select(&mut self, selection: &Selection) -> Result<(), ConvertError> {
        let last = self.frames.last().map_or(0, |f| f.number);
        let from = selection.from.unwrap_or(last);
        let every = selection.every.max(1);
        self.frames.retain(|f| (from..selection.to).contains(&f.number) && (f.number - from).is_multiple_of(every));
        if self.frames.is_empty() { Err(ConvertError::NothingSelected { last }) } else { Ok(()) }
    }

    /// Reads a frame.
    pub fn read(&self, entry: &FrameEntry) -> Result<Frame, ConvertError> {
        let set = vtp::read(&entry.path)?;
        let mut columns = vec![Column { name: "position".to_owned(), ..set.points }];
        // An array of that name would be taken for the place.
        columns.extend(set.arrays.into_iter().filter(|a| a.name != "position"));
        let mut frame = Frame { number: entry.number, step: entry.step, time: entry.time, columns };
        frame.sort();
        Ok(frame)
    }

    /// The box that holds all grains of the selected frames and fits the periodic cell.
    pub fn bounds(&self) -> Result<Bounds, ConvertError> {
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for entry in &self.frames {
            let frame = self.read(entry)?;
            let radius = frame.column("radius").filter(|r| r.width == 1);
            for i in 0..frame.grains() {
                let r = radius.map_or(0.0, |r| r.number(i, 0));
                let x = frame.place(i);
                // Not a number is passed over by min and max.
                low = low.min(x - r);
                high = high.max(x + r);
            }
        }
        let empty = !(low.is_finite() && high.is_finite());
        let mut bounds = Bounds { low: [0.0; 3], high: [1.0; 3] };
        for k in 0..3 {
            match self.cell.length[k] {
                Some(_) => (bounds.low[k], bounds.high[k]) = (self.cell.origin[k], self.cell_end[k]),
                None if empty => {}
                None => (bounds.low[k], bounds.high[k]) = (low[k], high[k]),
            }
        }
        Ok(bounds)
    }

    /// What a material is called: its name, or its number from 1.
    pub fn material_name(&self, number: f64) -> String {
        let name = usize::try_from(number as i64).ok().and_then(|k| self.materials.get(k));
        name.cloned().unwrap_or_else(|| format!("{}", number + 1.0))
    }
}

/// A box \[m\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Lowest corner.
    pub low: [f64; 3],
    /// Highest corner.
    pub high: [f64; 3],
}

/// A frame: grains sorted by id.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Number of the frame in the run, from 0.
    pub number: usize,
    /// Step it was taken at.
    pub step: u64,
    /// Time \[s\].
    pub time: f64,
    /// The fields, `position` first.
    pub columns: Vec<Column>,
}

impl Frame {
    /// Number of grains.
    pub fn grains(&self) -> usize {
        self.columns[0].rows()
    }

    /// A field by its name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|c| c.name == name)
    }

    /// Centre of a grain \[m\].
    pub fn place(&self, grain: usize) -> Vec3 {
        Vec3::from_array(std::array::from_fn(|k| self.columns[0].number(grain, k)))
    }

    /// The ids, if there are any.
    pub fn ids(&self) -> Option<Vec<u64>> {
        let id = self.column("id").filter(|c| c.kind == Kind::U64 && c.width == 1)?;
        Some(id.bytes.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().expect("8 bytes"))).collect())
    }

    fn sort(&mut self) {
        let Some(ids) = self.ids() else { return };
        if ids.is_sorted() {
            return;
        }
        let mut order: Vec<usize> = (0..ids.len()).collect();
        order.sort_by_key(|&i| ids[i]);
        for column in &mut self.columns {
            let mut sorted = Vec::with_capacity(column.bytes.len());
            order.iter().for_each(|&i| sorted.extend_from_slice(column.row(i)));
            column.bytes = sorted;
        }
    }
}
