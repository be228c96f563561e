//! Writer of VTK XML image data (`.vti`): values of equal cells of a box.
//!
//! The arrays are those of [`vtk`]. Read by VTK itself in `tests/vtk_read_back.rs`.

use crate::atomic;
use crate::vtk::{self, Array, Blocks, Tuple, VtkError};
use esker::measure::cells::Cells;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

/// A box of cells about to be written.
pub struct ImageData<'a> {
    cells: Cells,
    field_data: Vec<Array<'a>>,
    cell_data: Vec<Array<'a>>,
}

impl<'a> ImageData<'a> {
    /// Cells without values yet.
    pub fn of(cells: &Cells) -> Self {
        Self { cells: *cells, field_data: Vec::new(), cell_data: Vec::new() }
    }

    /// The time of the state \[s\], as ParaView reads it.
    pub fn time(mut self, seconds: f64) -> Self {
        self.field_data.push(Array::new("TimeValue", [seconds]));
        self
    }

    /// One value per cell, along x first, then y, then z; see [`Array::new`].
    pub fn cell_data<I>(self, name: impl Into<String>, values: I) -> Self
    where
        I: IntoIterator<Item: Tuple, IntoIter: ExactSizeIterator + 'a>,
    {
        self.cell_array(Array::new(name, values))
    }

    /// One value per cell, as an array with component names.
    pub fn cell_array(mut self, array: Array<'a>) -> Self {
        self.cell_data.push(array);
        self
    }

    /// Writes the file as a whole or not at all.
    pub fn write(self, path: &Path) -> Result<(), VtkError> {
        vtk::check(&self.cell_data, Some(self.cells.number()), "cell")?;
        Ok(atomic::write_unsynced(path, |out| self.stream(out))?)
    }

    fn stream(self, out: &mut dyn Write) -> io::Result<()> {
        let [nx, ny, nz] = self.cells.counts();
        let (origin, spacing) = (self.cells.bounds().min, self.cells.size());
        let mut head = String::from("<?xml version=\"1.0\"?>\n");
        head += "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n";
        let _ = writeln!(
            head,
            r#"  <ImageData WholeExtent="0 {nx} 0 {ny} 0 {nz}" Origin="{} {} {}" Spacing="{} {} {}">"#,
            origin.x, origin.y, origin.z, spacing.x, spacing.y, spacing.z
        );
        let mut blocks = Blocks::default();
        blocks.section(&mut head, "    ", "FieldData", true, self.field_data);
        let _ = writeln!(head, r#"    <Piece Extent="0 {nx} 0 {ny} 0 {nz}">"#);
        blocks.section(&mut head, "      ", "CellData", false, self.cell_data);
        head += "    </Piece>\n  </ImageData>\n";
        blocks.write(&head, out)
    }
}
