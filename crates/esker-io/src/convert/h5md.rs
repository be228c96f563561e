//! H5MD 1.1: trajectories for programs of molecular dynamics, `/particles/grains` with one element per field.
//!
//! The number of grains may change; H5MD then wants places for the most there are at a time, and a fill value in `id` where a
//! place is empty: -1 here, with NaN, -1 or 0 in the other fields. A grain keeps its place as long as it is there: `value[:, k]` is
//! its trajectory. At first grains are sorted by id; a grain that comes later takes the first empty place.
//!
//! `material` is called `species`, as the standard wants. Units stand at the elements, and `h5md/modules/units` says SI. Only lengths
//! have none written: MDAnalysis refuses files in metres, but reads them without a unit (`convert_units=False`).
//! <https://www.nongnu.org/h5md/releases/h5md-1.1.0.html>

use super::{ConvertError, Frame, Run, Written, hdf, link_name};
use crate::frame::described_grain_fields;
use crate::vtp::{Column, Kind};
use hdf5_pure::{AttrValue, FileBuilder, GroupBuilder};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// Steps and times of the frames, which stand with every element.
struct Clock {
    steps: Vec<usize>,
    times: Vec<f64>,
}

impl Clock {
    fn of(run: &Run) -> Self {
        let steps = run.frames.iter().map(|f| f.step as usize).collect();
        Self { steps, times: run.frames.iter().map(|f| f.time).collect() }
    }

    fn write(&self, element: &mut GroupBuilder) {
        hdf::integers(element, "step", &self.steps, &[self.steps.len()]);
        let time = element.create_dataset("time").with_f64_data(&self.times);
        time.set_attr("unit", AttrValue::VarLenAsciiString("s".to_owned()));
    }
}

/// Which grain has which place.
#[derive(Default)]
pub(super) struct Places {
    of: HashMap<u64, usize>,
    free: BTreeSet<usize>,
    /// Places ever used.
    pub(super) count: usize,
}

impl Places {
    /// Places of the grains of the next frame; those that are gone have left theirs.
    pub(super) fn next(&mut self, ids: &[u64]) -> Vec<usize> {
        let here: BTreeSet<u64> = ids.iter().copied().collect();
        let free = &mut self.free;
        self.of.retain(|id, place| here.contains(id) || !free.insert(*place));
        let mut place = |id: u64| {
            *self.of.entry(id).or_insert_with(|| {
                self.free.pop_first().unwrap_or_else(|| {
                    self.count += 1;
                    self.count - 1
                })
            })
        };
        ids.iter().map(|&id| place(id)).collect()
    }
}

pub(super) fn write(run: &Run, path: &Path, tally: &mut Written) -> Result<(), ConvertError> {
    // How many places there must be is known only after the last frame.
    let mut places = Places::default();
    let mut taken = Vec::with_capacity(run.frames.len());
    for entry in &run.frames {
        taken.push(places.next(&ids(&run.read(entry)?)?));
    }
    let mut elements: Vec<Column> = Vec::new();
    for (k, (entry, taken)) in run.frames.iter().zip(&taken).enumerate() {
        let frame = run.read(entry)?;
        tally.count(&frame);
        if elements.is_empty() {
            elements = frame.columns.iter().map(|c| empty(c, run.frames.len() * places.count)).collect();
        }
        hdf::check_fields(&elements, &frame)?;
        for element in &mut elements {
            scatter(element, frame.column(&element.name).expect("checked above"), taken, k * places.count);
        }
    }
    let mut file = FileBuilder::new();
    let about = about(file.create_group("h5md"), run);
    file.add_group(about.finish());
    let mut particles = file.create_group("particles");
    let grains = grains(particles.create_group("grains"), run, elements, places.count)?;
    particles.add_group(grains.finish());
    file.add_group(particles.finish());
    hdf::finish(file, path)
}

fn ids(frame: &Frame) -> Result<Vec<u64>, ConvertError> {
    frame.ids().ok_or(ConvertError::Missing { frame: frame.number, field: "id" })
}

/// A column like another with so many rows without a grain.
fn empty(like: &Column, rows: usize) -> Column {
    let absent = if like.name == "id" { Kind::I64.absent() } else { like.kind.absent() };
    Column { bytes: absent.repeat(rows * like.width), ..like.clone() }
}

/// Puts the grains of a frame in their places, behind `offset` rows.
fn scatter(element: &mut Column, column: &Column, places: &[usize], offset: usize) {
    let stride = element.stride();
    for (row, place) in places.iter().enumerate() {
        element.bytes[(offset + place) * stride..][..stride].copy_from_slice(column.row(row));
    }
}

/// Who wrote the file.
fn about(mut h5md: GroupBuilder, run: &Run) -> GroupBuilder {
    let text = |text: &str| AttrValue::String(text.to_owned());
    h5md.set_attr("version", AttrValue::I64Array(vec![1, 1]));
    let mut author = h5md.create_group("author");
    author.set_attr("name", text("unknown"));
    h5md.add_group(author.finish());
    let mut creator = h5md.create_group("creator");
    creator.set_attr("name", text("Esker"));
    creator.set_attr("version", text(env!("CARGO_PKG_VERSION")));
    creator.set_attr("title", text(&run.title));
    h5md.add_group(creator.finish());
    let mut modules = h5md.create_group("modules");
    let mut units = modules.create_group("units");
    units.set_attr("version", AttrValue::I64Array(vec![1, 0]));
    units.set_attr("system", AttrValue::VarLenAsciiString("SI".to_owned()));
    modules.add_group(units.finish());
    h5md.add_group(modules.finish());
    h5md
}

/// One element per field, and the box.
fn grains(
    mut group: GroupBuilder,
    run: &Run,
    elements: Vec<Column>,
    places: usize,
) -> Result<GroupBuilder, ConvertError> {
    let clock = Clock::of(run);
    let described = described_grain_fields();
    for column in elements {
        let name = if column.name == "material" { "species" } else { &column.name };
        let mut element = group.create_group(&link_name(name));
        clock.write(&mut element);
        let shape = [run.frames.len(), places, column.width];
        let shape = if column.width == 1 { &shape[..2] } else { &shape };
        let kind = if column.name == "id" { Kind::I64 } else { column.kind };
        let value = hdf::dataset(&mut element, "value", kind, column.bytes, shape);
        match kind {
            Kind::F64 => value.with_fill_value(f64::NAN),
            Kind::F32 => value.with_fill_value(f32::NAN),
            Kind::I32 => value.with_fill_value(-1i32),
            Kind::I64 => value.with_fill_value(-1i64),
            Kind::U32 | Kind::U64 | Kind::U8 => value,
        };
        let unit = described.iter().find(|d| d.name == column.name).map_or("", |d| d.unit);
        if !(unit.is_empty() || unit == "m") {
            value.set_attr("unit", AttrValue::VarLenAsciiString(h5md_unit(unit)));
        }
        if column.name == "material" && !run.materials.is_empty() {
            value.set_attr("names", AttrValue::StringArray(run.materials.clone()));
        }
        group.add_group(element.finish());
    }
    let cell = cell(group.create_group("box"), run, &clock)?;
    group.add_group(cell.finish());
    Ok(group)
}

/// A unit as H5MD writes it: factors with powers, `m s-1`.
fn h5md_unit(unit: &str) -> String {
    match unit.split_once('/') {
        Some((above, below)) => format!("{above} {below}-1"),
        None => unit.to_owned(),
    }
}

/// The box. Its edges are needed only if one is periodic; then they stand with every frame, for MDAnalysis wants them so.
fn cell(mut group: GroupBuilder, run: &Run, clock: &Clock) -> Result<GroupBuilder, ConvertError> {
    group.set_attr("dimension", AttrValue::I64(3));
    let boundary = run.cell.length.map(|length| if length.is_some() { "periodic" } else { "none" }.to_owned());
    group.set_attr("boundary", AttrValue::AsciiStringArray(boundary.to_vec()));
    if run.cell.is_periodic() {
        let bounds = run.bounds()?;
        group.set_attr("origin", AttrValue::F64Array(bounds.low.to_vec()));
        let edges: [f64; 3] = std::array::from_fn(|k| run.cell.length[k].unwrap_or(bounds.high[k] - bounds.low[k]));
        let mut element = group.create_group("edges");
        clock.write(&mut element);
        let frames = run.frames.len();
        let bytes = edges.map(f64::to_le_bytes).concat().repeat(frames);
        hdf::dataset(&mut element, "value", Kind::F64, bytes, &[frames, 3]);
        group.add_group(element.finish());
    }
    Ok(group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grain_keeps_its_place_and_an_empty_one_is_taken_again() {
        let mut places = Places::default();
        assert_eq!(places.next(&[10, 20, 30]), [0, 1, 2]);
        assert_eq!(places.next(&[10, 30]), [0, 2]);
        assert_eq!(places.next(&[10, 30, 40, 50]), [0, 2, 1, 3]);
        assert_eq!(places.next(&[]), [0usize; 0]);
        assert_eq!(places.next(&[7, 60]), [0, 1]);
        assert_eq!(places.count, 4);
    }

    #[test]
    fn units_are_written_with_powers() {
        assert_eq!(h5md_unit("m/s"), "m s-1");
        assert_eq!(h5md_unit("N m"), "N m");
    }
}
