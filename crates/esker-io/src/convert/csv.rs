//! Tables of text, one file per frame, that [`table`](crate::table) and spreadsheets read.
//!
//! First what a scene reads back with `fill = { method = "file" }`: `x [m]`, `radius [m]`, `vx [m/s]`, `wx [rad/s]`, `material`, `id`;
//! then all other fields, which it passes over. `frames.csv` lists files, steps and times.

use super::{ConvertError, Frame, Run, Written, write_file};
use crate::atomic::{Attempt, FileError};
use crate::frame::{Described, described_grain_fields};
use crate::series::quoted;
use crate::vtp::Column;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Fields that a table of grains has, in its order, with the names of their columns.
const TABLE: [(&str, &[&str]); 6] = [
    ("position", &["x [m]", "y [m]", "z [m]"]),
    ("radius", &["radius [m]"]),
    ("velocity", &["vx [m/s]", "vy [m/s]", "vz [m/s]"]),
    ("spin", &["wx [rad/s]", "wy [rad/s]", "wz [rad/s]"]),
    ("material", &["material"]),
    ("id", &["id"]),
];

/// The list of the files.
pub const LIST: &str = "frames.csv";

pub(super) fn write(run: &Run, folder: &Path, tally: &mut Written) -> Result<(), ConvertError> {
    fs::create_dir_all(folder).map_err(FileError::at(folder, Attempt::Create))?;
    clear(folder)?;
    let described = described_grain_fields();
    for entry in &run.frames {
        let frame = run.read(entry)?;
        tally.count(&frame);
        let path = folder.join(file_name(entry.number));
        write_file(&path, |out| Ok(print(run, &frame, &described, out)?))?;
        tally.bytes += fs::metadata(&path).map_or(0, |m| m.len());
    }
    write_file(&folder.join(LIST), |out| {
        writeln!(out, "file,step,time [s]")?;
        for entry in &run.frames {
            writeln!(out, "{},{},{:?}", file_name(entry.number), entry.step, entry.time)?;
        }
        Ok(())
    })
}

/// `grains-000012.csv`
fn file_name(number: usize) -> String {
    format!("grains-{number:06}.csv")
}

/// Removes the tables of an earlier conversion, which could be taken for frames of this one.
fn clear(folder: &Path) -> Result<(), FileError> {
    for entry in fs::read_dir(folder).map_err(FileError::at(folder, Attempt::List))? {
        let entry = entry.map_err(FileError::at(folder, Attempt::List))?;
        let name = entry.file_name();
        let digits = name.to_str().and_then(|n| n.strip_prefix("grains-")?.strip_suffix(".csv"));
        if digits.is_some_and(|d| d.len() >= 6 && d.bytes().all(|b| b.is_ascii_digit())) {
            let path = entry.path();
            fs::remove_file(&path).map_err(FileError::at(&path, Attempt::Remove))?;
        }
    }
    Ok(())
}

/// Names of the columns of a field.
fn names(column: &Column, described: &[Described]) -> Vec<String> {
    if let Some(known) = TABLE.iter().find(|t| t.0 == column.name && t.1.len() == column.width) {
        return known.1.iter().map(|n| n.to_string()).collect();
    }
    let unit = described.iter().find(|d| d.name == column.name).map_or("", |d| d.unit);
    let unit = if unit.is_empty() { String::new() } else { format!(" [{unit}]") };
    let name = |k| format!("{} {}", column.name, column.component(k)).trim().to_owned() + &unit;
    (0..column.width).map(|k| quoted(&name(k)).into_owned()).collect()
}

/// The lines of a file.
fn print(run: &Run, frame: &Frame, described: &[Described], out: &mut dyn Write) -> io::Result<()> {
    let mut columns: Vec<&Column> = frame.columns.iter().collect();
    columns.sort_by_key(|c| TABLE.iter().position(|t| t.0 == c.name).unwrap_or(TABLE.len()));
    let names: Vec<String> = columns.iter().flat_map(|c| names(c, described)).collect();
    writeln!(out, "{}", names.join(","))?;
    for grain in 0..frame.grains() {
        for (k, column) in columns.iter().enumerate() {
            for (j, number) in column.numbers(grain).enumerate() {
                if k + j > 0 {
                    out.write_all(b",")?;
                }
                if column.name == "material" {
                    write!(out, "{}", quoted(&run.material_name(column.kind.number(number))))?;
                } else {
                    column.kind.print(number, out)?;
                }
            }
        }
        writeln!(out)?;
    }
    Ok(())
}
