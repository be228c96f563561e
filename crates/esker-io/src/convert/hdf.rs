//! What both HDF5 formats share: columns grown frame by frame, and datasets made of them without a second copy.

use super::{ConvertError, Frame, write_file};
use crate::vtp::{Column, Kind};
use hdf5_pure::{DatasetBuilder, Datatype, FileBuilder, GroupBuilder};
use std::path::Path;

/// The HDF5 type of a number.
pub(super) fn datatype(kind: Kind) -> Datatype {
    match kind {
        Kind::F64 => hdf5_pure::make_f64_type(),
        Kind::F32 => hdf5_pure::make_f32_type(),
        Kind::I32 => hdf5_pure::make_i32_type(),
        Kind::I64 => hdf5_pure::make_i64_type(),
        Kind::U32 => hdf5_pure::make_u32_type(),
        Kind::U64 => hdf5_pure::make_u64_type(),
        Kind::U8 => hdf5_pure::make_u8_type(),
    }
}

/// Puts a dataset of this shape into a group.
pub(super) fn dataset<'g>(
    group: &'g mut GroupBuilder,
    name: &str,
    kind: Kind,
    bytes: Vec<u8>,
    shape: &[usize],
) -> &'g mut DatasetBuilder {
    let shape: Vec<u64> = shape.iter().map(|&n| n as u64).collect();
    let count = (bytes.len() / kind.size()) as u64;
    let dataset = group.create_dataset(name);
    if count == 0 {
        dataset.with_dtype(datatype(kind)).with_shape(&shape)
    } else {
        dataset.with_raw_data(datatype(kind), bytes, count).with_shape(&shape)
    }
}

/// Whole numbers as a dataset.
pub(super) fn integers(group: &mut GroupBuilder, name: &str, values: &[usize], shape: &[usize]) {
    let bytes = values.iter().flat_map(|&v| (v as i64).to_le_bytes()).collect();
    dataset(group, name, Kind::I64, bytes, shape);
}

/// Fails unless a frame has the fields of the first one, in name, type and width.
pub(super) fn check_fields(first: &[Column], frame: &Frame) -> Result<(), ConvertError> {
    let differs =
        |field: &Column, how| Err(ConvertError::Fields { frame: frame.number, field: field.name.clone(), how });
    for known in first {
        match frame.column(&known.name) {
            None => return differs(known, "is missing"),
            Some(found) if found.kind != known.kind => return differs(known, "has another type"),
            Some(found) if found.width != known.width => return differs(known, "has another width"),
            Some(_) => {}
        }
    }
    match frame.columns.iter().find(|c| first.iter().all(|known| known.name != c.name)) {
        Some(new) => differs(new, "is new"),
        None => Ok(()),
    }
}

/// Writes the file as a whole or not at all.
pub(super) fn finish(file: FileBuilder, path: &Path) -> Result<(), ConvertError> {
    write_file(path, |out| {
        file.finish_to(out).map_err(|error| match error {
            hdf5_pure::Error::Io(error) => super::Trouble::Io(error),
            other => ConvertError::Hdf { path: path.to_owned(), reason: other.to_string() }.into(),
        })
    })
}
