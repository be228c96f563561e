//! `esker convert`: the frames of a run in the formats of other programs.

use crate::Failure;
use crate::out::{say, tell};
use clap::ValueEnum;
use esker_io::convert::{self, Existing, Format, Run, Selection};
use std::num::NonZeroUsize;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Args {
    /// Folder of the run
    run: PathBuf,
    /// Format to write
    #[arg(long)]
    to: To,
    /// File to write, or folder for csv (default: named after the run, in the current folder)
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// Frames to take, from 0: `12`, `10..20` (10 to 19), `10..`, `..20` or `last`
    #[arg(long)]
    frames: Option<Selection>,
    /// Take every K-th of them
    #[arg(long, value_name = "K")]
    every: Option<NonZeroUsize>,
    /// Write over what is there
    #[arg(long)]
    force: bool,
}

/// A format, by its word.
#[derive(Clone, Copy, ValueEnum)]
enum To {
    /// VTK's HDF5 format: one file for ParaView 5.12 and later
    Vtkhdf,
    /// Trajectory for molecular dynamics (HDF5)
    H5md,
    /// Text, as LAMMPS dumps it: for OVITO
    LammpsDump,
    /// A folder with a table per frame; scenes and spreadsheets read it
    Csv,
    /// Extended XYZ, text: for OVITO
    Xyz,
}

impl From<To> for Format {
    fn from(to: To) -> Format {
        match to {
            To::Vtkhdf => Format::Vtkhdf,
            To::H5md => Format::H5md,
            To::LammpsDump => Format::LammpsDump,
            To::Csv => Format::Csv,
            To::Xyz => Format::Xyz,
        }
    }
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let mut run = Run::open(&args.run)?;
    let all = args.frames.unwrap_or(Selection::ALL);
    run.select(&Selection { every: args.every.map_or(1, NonZeroUsize::get), ..all })?;
    for note in &run.notes {
        tell!("note: {note}");
    }
    let format = Format::from(args.to);
    let output = args.output.clone().unwrap_or_else(|| format.output_name(&run.name).into());
    let existing = if args.force { Existing::Replace } else { Existing::Keep };
    let written = convert::convert(&run, format, &output, existing)?;
    say!(
        "{}: {} frame{}, up to {} grains with {} fields, {}",
        written.path.display(),
        written.frames,
        if written.frames == 1 { "" } else { "s" },
        written.most_grains,
        written.fields,
        size(written.bytes)
    );
    Ok(())
}

/// Bytes for people.
fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} B"),
        10_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}
