//! The frames of a run in the formats of other programs.
//!
//! Numbers come from the VTK frames of a run folder, which hold full double precision; where the periodic cell is, what the materials
//! are called and at which steps frames were taken is told by the scene as used and by `frames.esk` beside them. Every field of a
//! frame goes through by name and width: one that is added to [`frame`](crate::frame) appears in all formats. Grains are
//! sorted by id.
//!
//! | format | file | memory |
//! |---|---|---|
//! | [`vtkhdf`] | one, all frames | all frames: the file is put together before it is written |
//! | [`h5md`] | one, all frames | all frames |
//! | [`lammps`] | one, all frames | one frame |
//! | [`csv`] | a folder, one file per frame | one frame |
//! | [`xyz`] | one, all frames | one frame |
//!
//! What other programs read from the files is compared with the frames, bit for bit, in `tests/convert.rs`.

pub mod csv;
pub mod h5md;
mod hdf;
pub mod lammps;
mod run;
pub mod vtkhdf;
pub mod xyz;

pub use run::{Bounds, Frame, FrameEntry, Run, Selection};

use crate::atomic::{self, FileError};
use crate::pvd::PvdError;
use crate::vtp::VtpError;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A format to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// VTKHDF, temporal poly data.
    Vtkhdf,
    /// H5MD 1.1.
    H5md,
    /// LAMMPS dump, text.
    LammpsDump,
    /// Tables of text.
    Csv,
    /// Extended XYZ.
    Xyz,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 5] = [Format::Vtkhdf, Format::H5md, Format::LammpsDump, Format::Csv, Format::Xyz];

    /// What a run is called in this format: `hopper-1.vtkhdf`, or a folder `hopper-1-csv`.
    pub fn output_name(self, run: &str) -> String {
        match self {
            Format::Vtkhdf => format!("{run}.vtkhdf"),
            Format::H5md => format!("{run}.h5md"),
            Format::LammpsDump => format!("{run}.dump"),
            Format::Csv => format!("{run}-csv"),
            Format::Xyz => format!("{run}.xyz"),
        }
    }
}

/// What to do with files that are there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Refuse to write.
    Keep,
    /// Write over them.
    Replace,
}

/// Why a run could not be converted.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// The operating system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// The list of frames is damaged.
    #[error(transparent)]
    List(#[from] PvdError),
    /// A frame cannot be read.
    #[error(transparent)]
    Frame(#[from] VtpError),
    /// Not a run folder.
    #[error("`{}` holds no run\n  name the folder of a run, for example `runs/hopper-1`", path.display())]
    NoRun {
        /// The folder.
        path: PathBuf,
    },
    /// A run without frames.
    #[error("the run in `{}` has no frames\n  say how often frames are written, for example `frames = \"20 ms\"` in [output] of the scene, and run it again", path.display())]
    NoFrames {
        /// The folder.
        path: PathBuf,
    },
    /// Nothing selected.
    #[error("no frame is selected: the run has frames 0 to {last}")]
    NothingSelected {
        /// Number of the last frame.
        last: usize,
    },
    /// The output is there already.
    #[error("`{}` is there already\n  nothing is overwritten: name another with `-o`, or give `--force`", path.display())]
    Exists {
        /// The file or folder.
        path: PathBuf,
    },
    /// Frames differ in their fields, and the format has one list for all.
    #[error(
        "frame {frame} does not have the same fields as the frames before it: `{field}` {how}\n  convert the frames before and after it apart, with `--frames`"
    )]
    Fields {
        /// Number of the frame.
        frame: usize,
        /// The field.
        field: String,
        /// How it differs.
        how: &'static str,
    },
    /// A frame without a field that the format needs.
    #[error("frame {frame} has no `{field}`, which this format needs\n  convert it to vtkhdf instead")]
    Missing {
        /// Number of the frame.
        frame: usize,
        /// The field.
        field: &'static str,
    },
    /// The HDF5 library refused.
    #[error("`{}` cannot be put together: {reason}\n  convert fewer frames with `--frames`, or choose another format", path.display())]
    Hdf {
        /// The file.
        path: PathBuf,
        /// What it says.
        reason: String,
    },
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The file or folder.
    pub path: PathBuf,
    /// Frames.
    pub frames: usize,
    /// Most grains in a frame.
    pub most_grains: usize,
    /// Fields of a grain, its place included; of the last frame.
    pub fields: usize,
    /// Bytes of all files.
    pub bytes: u64,
}

/// Writes the selected frames of a run to a file, or to a folder for [`Format::Csv`].
pub fn convert(run: &Run, format: Format, output: &Path, existing: Existing) -> Result<Written, ConvertError> {
    if existing == Existing::Keep && is_taken(output, format) {
        return Err(ConvertError::Exists { path: output.to_owned() });
    }
    let mut tally = Written { path: output.to_owned(), frames: 0, most_grains: 0, fields: 0, bytes: 0 };
    match format {
        Format::Vtkhdf => vtkhdf::write(run, output, &mut tally)?,
        Format::H5md => h5md::write(run, output, &mut tally)?,
        Format::LammpsDump => lammps::write(run, output, &mut tally)?,
        Format::Csv => csv::write(run, output, &mut tally)?,
        Format::Xyz => xyz::write(run, output, &mut tally)?,
    }
    if format != Format::Csv {
        tally.bytes = std::fs::metadata(output).map_or(0, |m| m.len());
    }
    Ok(tally)
}

/// Whether something is in the way. An empty folder is not, for a table in each file.
fn is_taken(output: &Path, format: Format) -> bool {
    let empty = || std::fs::read_dir(output).is_ok_and(|mut entries| entries.next().is_none());
    output.symlink_metadata().is_ok() && !(format == Format::Csv && empty())
}

impl Written {
    fn count(&mut self, frame: &Frame) {
        self.frames += 1;
        self.most_grains = self.most_grains.max(frame.grains());
        self.fields = frame.columns.len();
    }
}

/// Trouble while a file is written: of the file itself, or of what goes into it.
enum Trouble {
    Io(io::Error),
    Content(ConvertError),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Trouble::Io(error)
    }
}

impl From<ConvertError> for Trouble {
    fn from(error: ConvertError) -> Self {
        Trouble::Content(error)
    }
}

/// Writes a file as a whole or not at all from content that may itself fail.
fn write_file(path: &Path, content: impl FnOnce(&mut dyn Write) -> Result<(), Trouble>) -> Result<(), ConvertError> {
    let mut trouble = None;
    let done = atomic::write(path, |out| match content(out) {
        Ok(()) => Ok(()),
        Err(Trouble::Io(error)) => Err(error),
        Err(Trouble::Content(error)) => {
            trouble = Some(error);
            Err(io::ErrorKind::Other.into())
        }
    });
    match trouble {
        Some(error) => Err(error),
        None => Ok(done?),
    }
}

/// A name without what separates words and fields in formats of text.
fn one_word(name: &str) -> String {
    let unfit = |c: char| c.is_whitespace() || c.is_control() || matches!(c, ':' | '"' | '\'' | '=' | ',' | '/');
    let word: String = name.chars().map(|c| if unfit(c) { '_' } else { c }).collect();
    if word.is_empty() { "_".to_owned() } else { word }
}

/// A name of a thing in an HDF5 group, where `/` and `.` mean something.
fn link_name(name: &str) -> String {
    let name = name.replace('/', "|");
    if name.is_empty() || name == "." { "_".to_owned() } else { name }
}
