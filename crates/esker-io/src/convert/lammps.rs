//! LAMMPS dump: all frames in one file of text, as `dump custom` writes it; OVITO and others read it.
//!
//! Columns have the names of LAMMPS where it has one (`id type x y z vx vy vz radius mass fx fy fz tqx tqy tqz omegax omegay omegaz
//! quati quatj quatk quatw`); `type` is the material, from 1. Other fields keep their name, in one word, with `_x` for components.
//! The box is periodic (`pp`) or holds the grains of all frames (`ff`).

use super::{ConvertError, Frame, Run, Trouble, Written, one_word, write_file};
use crate::vtp::{Column, Kind};
use std::io::{self, Write};
use std::path::Path;

/// Fields that LAMMPS has names for, and in this order first.
const NAMES: [(&str, &[&str]); 10] = [
    ("id", &["id"]),
    ("material", &["type"]),
    ("position", &["x", "y", "z"]),
    ("velocity", &["vx", "vy", "vz"]),
    ("radius", &["radius"]),
    ("mass", &["mass"]),
    ("force", &["fx", "fy", "fz"]),
    ("torque", &["tqx", "tqy", "tqz"]),
    ("spin", &["omegax", "omegay", "omegaz"]),
    ("orientation", &["quati", "quatj", "quatk", "quatw"]),
];

/// The entry of [`NAMES`] of a field, and which one it is.
fn known(column: &Column) -> Option<(usize, &'static [&'static str])> {
    let found = NAMES.iter().position(|n| n.0 == column.name && n.1.len() == column.width)?;
    Some((found, NAMES[found].1))
}

/// Names of the columns of a field.
fn names(column: &Column) -> Vec<String> {
    let own = |k| match column.component(k) {
        component if component.is_empty() => one_word(&column.name),
        component => format!("{}_{}", one_word(&column.name), one_word(&component)),
    };
    match known(column) {
        Some((_, names)) => names.iter().map(|n| n.to_string()).collect(),
        None => (0..column.width).map(own).collect(),
    }
}

pub(super) fn write(run: &Run, path: &Path, tally: &mut Written) -> Result<(), ConvertError> {
    let bounds = run.bounds()?;
    write_file(path, |out| {
        writeln!(out, "ITEM: UNITS\nsi")?;
        for entry in &run.frames {
            let frame = run.read(entry)?;
            tally.count(&frame);
            writeln!(out, "ITEM: TIME\n{:?}\nITEM: TIMESTEP\n{}", frame.time, frame.step)?;
            writeln!(out, "ITEM: NUMBER OF ATOMS\n{}", frame.grains())?;
            let faces = run.cell.length.map(|length| if length.is_some() { "pp" } else { "ff" });
            writeln!(out, "ITEM: BOX BOUNDS {}", faces.join(" "))?;
            for k in 0..3 {
                writeln!(out, "{:?} {:?}", bounds.low[k], bounds.high[k])?;
            }
            print(&frame, out)?;
        }
        Ok::<(), Trouble>(())
    })
}

/// The table of a frame.
fn print(frame: &Frame, out: &mut dyn Write) -> io::Result<()> {
    let mut columns: Vec<&Column> = frame.columns.iter().collect();
    columns.sort_by_key(|c| known(c).map_or(NAMES.len(), |k| k.0));
    let names: Vec<String> = columns.iter().flat_map(|c| names(c)).collect();
    writeln!(out, "ITEM: ATOMS {}", names.join(" "))?;
    for grain in 0..frame.grains() {
        for (k, column) in columns.iter().enumerate() {
            for (j, number) in column.numbers(grain).enumerate() {
                if k + j > 0 {
                    out.write_all(b" ")?;
                }
                if column.name == "material" && column.kind == Kind::I32 {
                    write!(out, "{}", column.kind.number(number) + 1.0)?;
                } else {
                    column.kind.print(number, out)?;
                }
            }
        }
        writeln!(out)?;
    }
    Ok(())
}
