//! `frames.esk`: all frames of a run in one file that viewer and pictures read from any place.
//!
//! The file is a row of blocks. A run appends; a reader follows the lengths from block to block and touches no data, so a
//! file of any size opens at once. A block that was cut off while it was written ends the file for a reader, and is
//! dropped when the run goes on.
//!
//! | bytes | content of a block |
//! |---|---|
//! | 4 | `ESKF` |
//! | 4 | length of the head |
//! | 8 | length of the body |
//! | 4 | CRC-32 of head and body |
//! | … | head: JSON, then body: columns, each compressed by itself (raw deflate) |
//!
//! Integers are little endian. The heads, by their `block`:
//!
//! - `run`, the first: `version`, `title`, `planar`, names of `materials`, `kinds` and `walls`.
//! - `grains`: the table of what never changes (`id`, `radius`, `material`, …), sorted by `id`. A new one whenever grains come
//!   or go.
//! - `walls`: tables `vertices` and `triangles`, each with a column `part`. A new one whenever a wall changes its shape.
//! - `frame`: `time`, `step`; `grains` and `walls`, where in the file the blocks begin that it goes with; `parts`, pose and
//!   load of each wall; tables `grains` (rows as in the block of grains, first column `position`), `pairs` (contacts of two
//!   grains: rows of both as `first` and `beyond`, the distance from the first to the second) and `ends` (contacts with walls and
//!   across periodic faces: `first`, `wall` or -1, `branch` from the centre to the other end).
//!
//! A table has `rows` and `columns`; a column `name`, `unit`, `components` and how it is coded: see [`mod@column`].

pub mod column;
mod read;
mod write;

pub use read::{FrameData, FrameInfo, Reader, Table, WallMesh};
pub use write::Writer;

use crate::atomic::FileError;
use column::Coded;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Name of the file in a run folder.
pub const STORE_FILE: &str = "frames.esk";
/// Layout of the file.
pub const VERSION: u32 = 1;

const MAGIC: [u8; 4] = *b"ESKF";
const PREFIX: u64 = 20;

/// Why frames could not be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The operating system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// Not a store of frames.
    #[error("`{}` holds no frames of Esker\n  name the folder of a run, for example `runs/hopper-1`", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Its first block is not all there.
    #[error("`{}` has not been begun yet\n  wait until the run has written its first frame, or start it again", path.display())]
    NotBegun {
        /// The file.
        path: PathBuf,
    },
    /// Written by a newer program.
    #[error("`{}` has layout {found}; this Esker reads layout {VERSION}\n  use the program that wrote it, or run the scene again", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its layout.
        found: u32,
    },
    /// What is there is not what was written.
    #[error("`{}` is damaged at byte {at}: {what}\n  frames before this place can still be seen; to continue the run, move the file away", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Beginning of the block.
        at: u64,
        /// What is wrong.
        what: String,
    },
    /// There is no such frame.
    #[error("`{}` has {} frames; there is no frame {number}", path.display(), frames)]
    NoFrame {
        /// The file.
        path: PathBuf,
        /// Number asked for, from 0.
        number: usize,
        /// How many there are.
        frames: usize,
    },
}

/// What the first block tells of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunHead {
    /// Layout of the file.
    pub version: u32,
    /// Title of the scene.
    pub title: String,
    /// Whether everything moves in the x–y plane.
    pub planar: bool,
    /// Gravity \[m/s²\]: what is down.
    pub gravity: [f64; 3],
    /// Names of the materials.
    pub materials: Vec<String>,
    /// Names of the kinds of grain.
    pub kinds: Vec<String>,
    /// Names of the walls.
    pub walls: Vec<String>,
}

/// A wall in a frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Number of the wall in the scene.
    pub wall: usize,
    /// Place of its frame \[m\].
    pub position: [f64; 3],
    /// Rotation of its frame, x, y, z, w.
    pub orientation: [f64; 4],
    /// Force of all grains on it \[N\].
    pub force: [f64; 3],
}

/// How the table of a block is laid out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct TableHead {
    rows: usize,
    columns: Vec<Coded>,
}

/// The head of a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "block", rename_all = "kebab-case")]
enum Head {
    Run(RunHead),
    Grains { mark: u32, table: TableHead },
    Walls { mark: u32, vertices: TableHead, triangles: TableHead },
    Frame { time: f64, step: u64, grains: u64, walls: u64, parts: Vec<Part>, tables: FrameTables },
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct FrameTables {
    grains: TableHead,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pairs: Option<TableHead>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ends: Option<TableHead>,
}
