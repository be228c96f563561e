//! VTKHDF: all frames as one file of temporal poly data, one vertex per grain. ParaView 5.12 and later open it.
//!
//! Follows the VTKHDF specification, version 2.3: frames lie one behind the other in every dataset, and the group `Steps` tells where
//! each begins. Put together in memory before it is written.
//! <https://docs.vtk.org/en/latest/vtk_file_formats/vtkhdf_file_format/vtkhdf_specifications.html>

use super::{ConvertError, Run, Written, hdf, link_name};
use crate::vtp::{Column, Kind};
use hdf5_pure::{AttrValue, FileBuilder, GroupBuilder};
use std::path::Path;

/// Kinds of cells that poly data always has; grains are vertices.
const TOPOLOGIES: [&str; 4] = ["Vertices", "Lines", "Polygons", "Strips"];

/// All frames, one behind the other.
#[derive(Default)]
struct Flat {
    columns: Vec<Column>,
    /// Grains of each frame.
    grains: Vec<usize>,
    /// Grains before each frame.
    before: Vec<usize>,
    times: Vec<f64>,
}

pub(super) fn write(run: &Run, path: &Path, tally: &mut Written) -> Result<(), ConvertError> {
    let mut flat = Flat::default();
    for entry in &run.frames {
        let frame = run.read(entry)?;
        tally.count(&frame);
        flat.before.push(flat.before.last().zip(flat.grains.last()).map_or(0, |(before, grains)| before + grains));
        flat.grains.push(frame.grains());
        flat.times.push(frame.time);
        if flat.columns.is_empty() {
            flat.columns = frame.columns;
            continue;
        }
        hdf::check_fields(&flat.columns, &frame)?;
        for column in &mut flat.columns {
            let more = frame.column(&column.name).expect("checked above");
            column.bytes.extend_from_slice(&more.bytes);
        }
    }
    let mut file = FileBuilder::new();
    let root = flat.into_group(file.create_group("VTKHDF"));
    file.add_group(root.finish());
    hdf::finish(file, path)
}

impl Flat {
    fn into_group(mut self, mut root: GroupBuilder) -> GroupBuilder {
        root.set_attr("Version", AttrValue::I64Array(vec![2, 3]));
        root.set_attr("Type", AttrValue::AsciiString("PolyData".to_owned()));
        let frames = self.grains.len();
        hdf::integers(&mut root, "NumberOfPoints", &self.grains, &[frames]);
        let points = self.columns.remove(0);
        let rows = points.rows();
        hdf::dataset(&mut root, "Points", Kind::F64, points.bytes, &[rows, 3]);
        for (k, name) in TOPOLOGIES.into_iter().enumerate() {
            let cells = self.cells(root.create_group(name), if k == 0 { &self.grains } else { &[] });
            root.add_group(cells.finish());
        }
        let steps = self.steps(root.create_group("Steps"));
        let mut data = root.create_group("PointData");
        for column in self.columns {
            let shape = [rows, column.width];
            let shape = if column.width == 1 { &shape[..1] } else { &shape };
            hdf::dataset(&mut data, &link_name(&column.name), column.kind, column.bytes, shape);
        }
        root.add_group(data.finish());
        root.add_group(steps.finish());
        root
    }

    /// Cells with one corner each, so many in each frame; none for an empty list.
    fn cells(&self, mut cells: GroupBuilder, count: &[usize]) -> GroupBuilder {
        let frames = self.grains.len();
        let of = |frame: usize| count.get(frame).copied().unwrap_or(0);
        let numbers: Vec<usize> = (0..frames).map(of).collect();
        hdf::integers(&mut cells, "NumberOfCells", &numbers, &[frames]);
        hdf::integers(&mut cells, "NumberOfConnectivityIds", &numbers, &[frames]);
        let offsets: Vec<usize> = (0..frames).flat_map(|f| 0..=of(f)).collect();
        hdf::integers(&mut cells, "Offsets", &offsets, &[offsets.len()]);
        let corners: Vec<usize> = (0..frames).flat_map(|f| 0..of(f)).collect();
        hdf::integers(&mut cells, "Connectivity", &corners, &[corners.len()]);
        cells
    }

    /// Where each frame begins.
    fn steps(&self, mut steps: GroupBuilder) -> GroupBuilder {
        let frames = self.grains.len();
        steps.set_attr("NSteps", AttrValue::I64(frames as i64));
        steps.create_dataset("Values").with_f64_data(&self.times);
        let numbers: Vec<usize> = (0..frames).collect();
        hdf::integers(&mut steps, "PartOffsets", &numbers, &[frames]);
        hdf::integers(&mut steps, "NumberOfParts", &vec![1; frames], &[frames]);
        hdf::integers(&mut steps, "PointOffsets", &self.before, &[frames]);
        // One column per kind of cells; there are vertices only.
        let offsets: Vec<usize> = self.before.iter().flat_map(|&before| [before, 0, 0, 0]).collect();
        hdf::integers(&mut steps, "CellOffsets", &offsets, &[frames, TOPOLOGIES.len()]);
        hdf::integers(&mut steps, "ConnectivityIdOffsets", &offsets, &[frames, TOPOLOGIES.len()]);
        let mut data = steps.create_group("PointDataOffsets");
        for column in &self.columns {
            hdf::integers(&mut data, &link_name(&column.name), &self.before, &[frames]);
        }
        steps.add_group(data.finish());
        steps
    }
}
