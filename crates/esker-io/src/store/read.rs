//! Reads frames from a store, in any order, also while it grows.

use super::column::{self, Coded, Column};
use super::{FrameTables, Head, MAGIC, PREFIX, Part, RunHead, StoreError, TableHead, VERSION};
use crate::atomic::{Attempt, FileError};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Longest head of a block: columns and walls are few \[B\].
const LONGEST_HEAD: u32 = 1 << 26;

/// Where a frame is, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameInfo {
    /// Time \[s\].
    pub time: f64,
    /// Step.
    pub step: u64,
    /// Beginning of its block.
    pub at: u64,
    /// Length of its block \[B\].
    pub length: u64,
    /// Beginning of the block of its grains.
    pub grains: u64,
    /// Beginning of the block of its walls.
    pub walls: u64,
}

impl FrameInfo {
    /// End of its block.
    pub(super) fn end(&self) -> u64 {
        self.at + self.length
    }
}

/// Rows of numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Number of rows.
    pub rows: usize,
    /// Columns.
    pub columns: Vec<Column>,
}

impl Table {
    /// A column by its name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|c| c.name == name)
    }
}

/// The shape of a wall in its own frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WallMesh {
    /// Corners \[m\].
    pub vertices: Vec<[f64; 3]>,
    /// Triangles.
    pub triangles: Vec<[u32; 3]>,
}

/// A frame.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameData {
    /// Time \[s\].
    pub time: f64,
    /// Step.
    pub step: u64,
    /// Fields of the grains: those that last, `position`, those of the frame.
    pub grains: Table,
    /// Contacts of two grains: rows of both as `first` and `second`, fields.
    pub pairs: Table,
    /// Contacts with walls and across periodic faces: `first`, `wall`, `branch`, fields.
    pub ends: Table,
    /// The walls: shape, place and load.
    pub walls: Vec<(Part, WallMesh)>,
}

/// A store that is read.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    file: File,
    head: RunHead,
    first_block_end: u64,
    frames: Vec<FrameInfo>,
    /// Where the next block would begin.
    end: u64,
    /// What is wrong with what stands there.
    fault: Option<String>,
}

/// The outside of a block.
struct Outside {
    head: u32,
    body: u64,
    sum: u32,
}

impl Outside {
    fn length(&self) -> u64 {
        PREFIX + u64::from(self.head) + self.body
    }
}

impl Reader {
    /// Opens a store and lists its frames.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let file = File::open(path).map_err(FileError::at(path, Attempt::Read))?;
        let mut reader = Self {
            path: path.to_owned(),
            file,
            head: RunHead::default(),
            first_block_end: 0,
            frames: Vec::new(),
            end: 0,
            fault: None,
        };
        let foreign = || StoreError::Foreign { path: path.to_owned() };
        let Some((outside, head)) = reader.head_at(0).map_err(|e| match e {
            StoreError::Damaged { .. } => foreign(),
            other => other,
        })?
        else {
            let begins =
                reader.bytes(0, reader.length()?.min(4) as usize).map_err(FileError::at(path, Attempt::Read))?;
            let path = path.to_owned();
            return Err(if MAGIC.starts_with(&begins) { StoreError::NotBegun { path } } else { foreign() });
        };
        let Head::Run(head) = head else { return Err(foreign()) };
        if head.version != VERSION {
            return Err(StoreError::Version { path: path.to_owned(), found: head.version });
        }
        reader.head = head;
        reader.end = outside.length();
        reader.first_block_end = reader.end;
        reader.look_again()?;
        Ok(reader)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the run says of itself.
    pub fn head(&self) -> &RunHead {
        &self.head
    }

    /// Frames there are.
    pub fn frames(&self) -> &[FrameInfo] {
        &self.frames
    }

    /// Length of what is whole \[B\].
    pub fn end(&self) -> u64 {
        self.end
    }

    pub(super) fn first_block_end(&self) -> u64 {
        self.first_block_end
    }

    /// What is wrong with the file, if anything that was looked at is. A torn end is nothing wrong.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// Lists frames that have come since; a run that went on from a checkpoint may have dropped some. What is damaged ends the
    /// list, see [`fault`](Self::fault).
    pub fn look_again(&mut self) -> Result<(), StoreError> {
        if self.length()? < self.end {
            self.frames.clear();
            self.end = self.first_block_end;
            self.fault = None;
        }
        if self.fault.is_some() {
            return Ok(());
        }
        while let Some(outside) = self.outside_at(self.end).or_else(|e| self.note(e))? {
            let (at, length) = (self.end, outside.length());
            // A head that is not understood costs its block, not those behind it.
            let head = self.head_at(at).or_else(|e| self.note(e))?;
            if let Some((_, Head::Frame { time, step, grains, walls, .. })) = head {
                self.frames.push(FrameInfo { time, step, at, length, grains, walls });
            }
            self.end = at + length;
        }
        Ok(())
    }

    /// Keeps damage as the fault of the file.
    fn note<T>(&mut self, error: StoreError) -> Result<Option<T>, StoreError> {
        match error {
            StoreError::Damaged { what, at, .. } => {
                self.fault.get_or_insert_with(|| format!("block at byte {at}: {what}"));
                Ok(None)
            }
            other => Err(other),
        }
    }

    /// A frame.
    pub fn frame(&self, number: usize) -> Result<FrameData, StoreError> {
        let frames = self.frames.len();
        let info = self.frames.get(number).ok_or(StoreError::NoFrame { path: self.path.clone(), number, frames })?;
        let (head, body) = self.block(info.at)?;
        let Head::Frame { time, step, parts, tables, .. } = head else {
            return Err(self.damaged(info.at, "a frame was expected"));
        };
        let (lasting, lasting_body) = self.block(info.grains)?;
        let Head::Grains { table, .. } = lasting else {
            return Err(self.damaged(info.grains, "grains were expected"));
        };
        let FrameTables { grains, pairs, ends } = tables;
        if table.rows != grains.rows {
            return Err(self.damaged(info.at, "its grains are not those of the block it names"));
        }
        let mut all = self.table(info.grains, &table, &lasting_body)?;
        all.columns.extend(self.table(info.at, &grains, &body)?.columns);
        let optional = |table: Option<TableHead>| match table {
            Some(table) => self.table(info.at, &table, &body),
            None => Ok(Table::default()),
        };
        let mut pairs = optional(pairs)?;
        let ends = optional(ends)?;
        self.name_seconds(info.at, &mut pairs)?;
        for table in [&pairs, &ends] {
            for name in ["first", "second"] {
                let rows = table.column(name).map_or(&[][..], |c| &c.values);
                if rows.iter().any(|&row| row >= all.rows as f64) {
                    return Err(self.damaged(info.at, "a contact names a grain that is not there"));
                }
            }
        }
        let walls = self.walls(info.walls, parts)?;
        Ok(FrameData { time, step, grains: all, pairs, ends, walls })
    }

    /// Length of the block that begins at a place \[B\].
    pub fn block_length(&self, at: u64) -> Result<u64, StoreError> {
        let outside = self.outside_at(at)?.ok_or_else(|| self.damaged(at, "the block is not all there"))?;
        Ok(outside.length())
    }

    /// A block as it stands in the file.
    pub fn raw_block(&self, at: u64) -> Result<Vec<u8>, StoreError> {
        let length = self.block_length(at)?;
        Ok(self.bytes(at, length as usize).map_err(FileError::at(&self.path, Attempt::Read))?)
    }

    /// Turns distances to second grains into their rows.
    fn name_seconds(&self, at: u64, pairs: &mut Table) -> Result<(), StoreError> {
        let Some(k) = pairs.columns.iter().position(|c| c.name == "beyond") else { return Ok(()) };
        let missing = || self.damaged(at, "contacts without a first grain");
        let first = pairs.column("first").ok_or_else(missing)?.values.clone();
        let second = &mut pairs.columns[k];
        second.name = "second".to_owned();
        second.values.iter_mut().zip(first).for_each(|(second, first)| *second += first);
        Ok(())
    }

    /// Shapes of the walls of a frame.
    fn walls(&self, at: u64, parts: Vec<Part>) -> Result<Vec<(Part, WallMesh)>, StoreError> {
        let (head, body) = self.block(at)?;
        let Head::Walls { vertices, triangles, .. } = head else {
            return Err(self.damaged(at, "walls were expected"));
        };
        let (vertices, triangles) = (self.table(at, &vertices, &body)?, self.table(at, &triangles, &body)?);
        let mut meshes = vec![WallMesh::default(); parts.len()];
        let (Some(of), Some(place)) = (vertices.column("part"), vertices.column("place")) else {
            return Err(self.damaged(at, "walls without corners"));
        };
        let (Some(of_triangle), Some(corners)) = (triangles.column("part"), triangles.column("corners")) else {
            return Err(self.damaged(at, "walls without triangles"));
        };
        let beyond = || self.damaged(at, "a wall or a corner that is not there");
        for row in 0..vertices.rows {
            meshes.get_mut(of.values[row] as usize).ok_or_else(beyond)?.vertices.push(place.vector(row));
        }
        for row in 0..triangles.rows {
            let mesh = meshes.get_mut(of_triangle.values[row] as usize).ok_or_else(beyond)?;
            let triangle = corners.vector(row).map(|c| c as u32);
            if triangle.iter().any(|&c| c as usize >= mesh.vertices.len()) {
                return Err(beyond());
            }
            mesh.triangles.push(triangle);
        }
        Ok(parts.into_iter().zip(meshes).collect())
    }

    /// Blocks of grains and walls that a frame goes with: where they begin, and their marks.
    pub(super) fn marks(&self, frame: &FrameInfo) -> Result<[(u64, u32); 2], StoreError> {
        let mark = |at: u64| match self.head_at(at)? {
            Some((_, Head::Grains { mark, .. } | Head::Walls { mark, .. })) => Ok((at, mark)),
            _ => Err(self.damaged(at, "grains or walls were expected")),
        };
        Ok([mark(frame.grains)?, mark(frame.walls)?])
    }

    /// The columns of a table.
    fn table(&self, at: u64, head: &TableHead, body: &[u8]) -> Result<Table, StoreError> {
        let column = |coded: &Coded| {
            let range = usize::try_from(coded.at).ok().zip(usize::try_from(coded.length).ok());
            let bytes = range.and_then(|(from, length)| body.get(from..)?.get(..length));
            let bytes = bytes.ok_or_else(|| self.damaged(at, "a column lies outside of its block"))?;
            let values = column::decode(coded, head.rows, bytes).map_err(|what| self.damaged(at, what))?;
            let Coded { name, unit, components, .. } = coded.clone();
            Ok(Column { name, unit, components, values })
        };
        Ok(Table { rows: head.rows, columns: head.columns.iter().map(column).collect::<Result<_, StoreError>>()? })
    }

    fn damaged(&self, at: u64, what: impl Into<String>) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), at, what: what.into() }
    }

    /// Length of the file \[B\].
    fn length(&self) -> Result<u64, StoreError> {
        Ok(self.file.metadata().map_err(FileError::at(&self.path, Attempt::Read))?.len())
    }

    /// Bytes of the file.
    fn bytes(&self, at: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        let mut file = &self.file;
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Outside of the block that begins at a place; `None` when it is not all there.
    fn outside_at(&self, at: u64) -> Result<Option<Outside>, StoreError> {
        let at_file = |e| StoreError::from(FileError::new(&self.path, Attempt::Read, e));
        let length = self.length()?;
        if length.saturating_sub(at) < PREFIX {
            return Ok(None);
        }
        let bytes = self.bytes(at, PREFIX as usize).map_err(at_file)?;
        let (magic, rest) = bytes.split_at(4);
        if magic != MAGIC {
            return Err(self.damaged(at, "no block begins here"));
        }
        let number = |from: usize, n: usize| {
            rest[from..from + n].iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte))
        };
        let outside = Outside { head: number(0, 4) as u32, body: number(4, 8), sum: number(12, 4) as u32 };
        if outside.head > LONGEST_HEAD {
            return Err(self.damaged(at, "a head of impossible length"));
        }
        let whole = outside.body.checked_add(at + PREFIX + u64::from(outside.head)).is_some_and(|end| end <= length);
        Ok(whole.then_some(outside))
    }

    /// The head of the block that begins at a place; `None` when the block is not all there.
    fn head_at(&self, at: u64) -> Result<Option<(Outside, Head)>, StoreError> {
        let Some(outside) = self.outside_at(at)? else { return Ok(None) };
        let bytes = self.bytes(at + PREFIX, outside.head as usize).map_err(FileError::at(&self.path, Attempt::Read))?;
        let head = serde_json::from_slice(&bytes)
            .map_err(|e| self.damaged(at, format!("its head is not understood ({e})")))?;
        Ok(Some((outside, head)))
    }

    /// A block, its checksum compared.
    fn block(&self, at: u64) -> Result<(Head, Vec<u8>), StoreError> {
        let Some((outside, head)) = self.head_at(at)? else {
            return Err(self.damaged(at, "the block is not all there"));
        };
        let length = u64::from(outside.head) + outside.body;
        let mut bytes = self.bytes(at + PREFIX, length as usize).map_err(FileError::at(&self.path, Attempt::Read))?;
        if crc32fast::hash(&bytes) != outside.sum {
            return Err(self.damaged(at, "the checksum does not fit"));
        }
        Ok((head, bytes.split_off(outside.head as usize)))
    }
}
