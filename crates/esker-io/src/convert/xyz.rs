//! Extended XYZ: all frames in one file of text; OVITO and others read it. (ASE does not: it wants chemical elements as species.)
//!
//! `species` is the name of the material; `pos`, `velo`, `forces`, `mass` and `omega` are names that others know, all other
//! fields have their own, in one word. A tensor stands as one property per component (`stress_xx`): programs differ in the order of
//! the components. `Lattice` and `Origin` stand there if an axis is periodic; open axes then reach as far as the grains of all frames.

use super::{ConvertError, Frame, Run, Trouble, Written, one_word, write_file};
use crate::vtp::Column;
use std::io::{self, Write};
use std::path::Path;

/// Fields that others know by another name. The first two come first.
const NAMES: [(&str, &str); 5] = [
    ("material", "species"),
    ("position", "pos"),
    ("velocity", "velo"),
    ("force", "forces"),
    ("spin", "omega"), // `spin` is a single number in OVITO
];
/// Widest value that stands as one property: a quaternion.
const WIDEST: usize = 4;

pub(super) fn write(run: &Run, path: &Path, tally: &mut Written) -> Result<(), ConvertError> {
    let lattice = lattice(run)?;
    write_file(path, |out| {
        for entry in &run.frames {
            let frame = run.read(entry)?;
            tally.count(&frame);
            let mut columns: Vec<&Column> = frame.columns.iter().collect();
            columns.sort_by_key(|c| NAMES[..2].iter().position(|n| n.0 == c.name).unwrap_or(2));
            writeln!(out, "{}", frame.grains())?;
            let properties = columns.iter().map(|c| property(c)).collect::<Vec<_>>().join(":");
            writeln!(out, "{lattice} Properties={properties} Time={:?} Timestep={}", frame.time, frame.step)?;
            print(run, &frame, &columns, out)?;
        }
        Ok::<(), Trouble>(())
    })
}

/// `name:R:3`, or `name_xx:R:1:name_yy:R:1:…`
fn property(column: &Column) -> String {
    let name = NAMES.iter().find(|n| n.0 == column.name).map_or_else(|| one_word(&column.name), |n| n.1.to_owned());
    let letter = match column.name.as_str() {
        "material" => 'S',
        _ if column.kind.is_real() => 'R',
        _ => 'I',
    };
    if column.width <= WIDEST {
        return format!("{name}:{letter}:{}", column.width);
    }
    let each = |k| format!("{name}_{}:{letter}:1", one_word(&column.component(k)));
    (0..column.width).map(each).collect::<Vec<_>>().join(":")
}

/// What is known of the cell.
fn lattice(run: &Run) -> Result<String, ConvertError> {
    let pbc = run.cell.length.map(|length| if length.is_some() { "T" } else { "F" }).join(" ");
    if !run.cell.is_periodic() {
        return Ok(format!("pbc=\"{pbc}\""));
    }
    let bounds = run.bounds()?;
    let [a, b, c]: [f64; 3] = std::array::from_fn(|k| run.cell.length[k].unwrap_or(bounds.high[k] - bounds.low[k]));
    let [x, y, z] = bounds.low;
    Ok(format!("Lattice=\"{a:?} 0 0 0 {b:?} 0 0 0 {c:?}\" Origin=\"{x:?} {y:?} {z:?}\" pbc=\"{pbc}\""))
}

/// The lines of the grains.
fn print(run: &Run, frame: &Frame, columns: &[&Column], out: &mut dyn Write) -> io::Result<()> {
    for grain in 0..frame.grains() {
        for (k, column) in columns.iter().enumerate() {
            for (j, number) in column.numbers(grain).enumerate() {
                if k + j > 0 {
                    out.write_all(b" ")?;
                }
                if column.name == "material" {
                    write!(out, "{}", one_word(&run.material_name(column.kind.number(number))))?;
                } else {
                    column.kind.print(number, out)?;
                }
            }
        }
        writeln!(out)?;
    }
    Ok(())
}
