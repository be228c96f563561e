//! Writer of VTK XML poly data (`.vtp`): grains as points, contacts as lines, walls as polygons.
//!
//! Binary blocks are appended raw (little endian, 64-bit lengths), streamed from iterators, so a frame of a hundred
//! thousand grains is never held in memory a second time. Compared block by block with the input in this file and read
//! by VTK itself in `tests/vtk_read_back.rs`.
//!
//! ```
//! use esker_io::vtk::{Array, PolyData};
//! let (position, radius) = (vec![[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]], vec![1.0, 1.0]);
//! let spin = vec![[0.0, 0.0, 0.0, 1.0]; 2];
//! let bytes = PolyData::points(&position)
//!     .time(0.25)
//!     .point_data("radius", &radius)
//!     .point_array(Array::new("orientation", &spin).component_names(&["x", "y", "z", "w"]))
//!     .vertices() // one cell per grain, so that ParaView shows them without a filter
//!     .to_bytes()?;
//! assert!(bytes.starts_with(b"<?xml"));
//! # Ok::<(), esker_io::vtk::VtkError>(())
//! ```

use crate::atomic::{self, FileError};
use crate::frame::{Field, MOST_COMPONENTS, Number};
use crate::xml::escape;
use esker::math::Vec3;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

/// A number type that VTK knows.
pub trait Scalar: Copy {
    /// VTK's name of the type.
    const TYPE: &'static str;
    /// Bytes of one number.
    const BYTES: usize;
    /// Appends the number in little-endian order.
    fn append(self, bytes: &mut Vec<u8>);
}

/// The values of one point or cell: a number or a fixed count of them.
pub trait Tuple {
    /// The type of each number.
    type Scalar: Scalar;
    /// How many numbers.
    const COMPONENTS: usize;
    /// Appends the numbers in little-endian order.
    fn append(&self, bytes: &mut Vec<u8>);
}

macro_rules! scalars {
    ($($rust:ty => $vtk:literal),*) => {$(
        impl Scalar for $rust {
            const TYPE: &'static str = $vtk;
            const BYTES: usize = size_of::<$rust>();
            fn append(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
        }
        impl Tuple for $rust {
            type Scalar = $rust;
            const COMPONENTS: usize = 1;
            fn append(&self, bytes: &mut Vec<u8>) {
                Scalar::append(*self, bytes);
            }
        }
    )*};
}
scalars!(f64 => "Float64", f32 => "Float32", i32 => "Int32", i64 => "Int64", u32 => "UInt32", u64 => "UInt64", u8 => "UInt8");

impl<T: Scalar, const N: usize> Tuple for [T; N] {
    type Scalar = T;
    const COMPONENTS: usize = N;
    fn append(&self, bytes: &mut Vec<u8>) {
        for value in self {
            Scalar::append(*value, bytes);
        }
    }
}

impl Tuple for Vec3 {
    type Scalar = f64;
    const COMPONENTS: usize = 3;
    fn append(&self, bytes: &mut Vec<u8>) {
        self.to_array().append(bytes);
    }
}

impl<T: Tuple> Tuple for &T {
    type Scalar = T::Scalar;
    const COMPONENTS: usize = T::COMPONENTS;
    fn append(&self, bytes: &mut Vec<u8>) {
        (*self).append(bytes);
    }
}

/// Writes the content of one block, once.
type Stream<'a> = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + 'a>;

/// A named array: one tuple per point, cell or data set.
pub struct Array<'a> {
    name: String,
    scalar: &'static str,
    components: usize,
    component_names: Vec<String>,
    tuples: usize,
    bytes: u64,
    stream: Stream<'a>,
}

impl<'a> Array<'a> {
    /// An array of numbers, `[T; N]` or vectors, from a slice or any iterator that knows its length.
    /// The iterator runs when the file is written.
    pub fn new<I>(name: impl Into<String>, tuples: I) -> Self
    where
        I: IntoIterator<Item: Tuple, IntoIter: ExactSizeIterator + 'a>,
    {
        let tuples = tuples.into_iter();
        let count = tuples.len();
        let tuple_bytes = I::Item::COMPONENTS * <I::Item as Tuple>::Scalar::BYTES;
        Array {
            name: name.into(),
            scalar: <I::Item as Tuple>::Scalar::TYPE,
            components: I::Item::COMPONENTS,
            component_names: Vec::new(),
            tuples: count,
            bytes: count as u64 * tuple_bytes as u64,
            stream: Box::new(move |out| stream(tuples.map(Ok), count, out)),
        }
    }

    /// A field of a frame with so many rows.
    pub fn of(field: &'a Field<'a>, rows: usize) -> Self {
        let width = field.width();
        let (scalar, append): (_, fn(f64, &mut Vec<u8>)) = match field.number {
            Number::Real => (f64::TYPE, |value, bytes| Scalar::append(value, bytes)),
            Number::Whole => (i32::TYPE, |value, bytes| Scalar::append(value as i32, bytes)),
            Number::Identity => (u64::TYPE, |value, bytes| Scalar::append(value as u64, bytes)),
        };
        let size = if scalar == i32::TYPE { i32::BYTES } else { f64::BYTES };
        let write = move |out: &mut dyn Write| {
            let mut bytes = Vec::with_capacity(FULL + MOST_COMPONENTS * size);
            for row in 0..rows {
                field.value(row)[..width].iter().for_each(|&value| append(value, &mut bytes));
                if bytes.len() >= FULL || row + 1 == rows {
                    out.write_all(&bytes)?;
                    bytes.clear();
                }
            }
            Ok(())
        };
        let array = Array {
            name: field.name.to_owned(),
            scalar,
            components: width,
            component_names: Vec::new(),
            tuples: rows,
            bytes: (rows * width * size) as u64,
            stream: Box::new(write),
        };
        // VTK names the components of vectors itself.
        if width == 3 { array } else { array.component_names(field.components) }
    }

    /// Names for the components, shown by ParaView instead of X, Y, Z or 0, 1, 2.
    pub fn component_names(mut self, names: &[&str]) -> Self {
        self.component_names = names.iter().map(|n| n.to_string()).collect();
        self
    }

    /// An array of indices whose values are checked on the way out, since VTK would follow a wrong one blindly.
    fn indices(name: &str, count: usize, points: usize, indices: impl Iterator<Item = usize> + 'a) -> Self {
        let checked = indices.map(move |i| {
            if i < points {
                Ok(i as i64)
            } else {
                let text = format!("a cell refers to point {i}, but there are only {points} points");
                Err(io::Error::new(io::ErrorKind::InvalidInput, text))
            }
        });
        Array {
            name: name.to_owned(),
            scalar: i64::TYPE,
            components: 1,
            component_names: Vec::new(),
            tuples: count,
            bytes: count as u64 * 8,
            stream: Box::new(move |out| stream(checked, count, out)),
        }
    }

    /// The opening `DataArray` tag's attributes; `tuples` is only wanted in field data.
    fn attributes(&self, tuples: bool, offset: u64) -> String {
        let mut text = format!(r#"type="{}" Name="{}""#, self.scalar, escape(&self.name));
        if self.components != 1 {
            let _ = write!(text, r#" NumberOfComponents="{}""#, self.components);
        }
        if tuples {
            let _ = write!(text, r#" NumberOfTuples="{}""#, self.tuples);
        }
        for (i, name) in self.component_names.iter().enumerate() {
            let _ = write!(text, r#" ComponentName{i}="{}""#, escape(name));
        }
        let _ = write!(text, r#" format="appended" offset="{offset}""#);
        text
    }
}

/// Bytes that go out at once.
const FULL: usize = 1 << 16;

/// Sends exactly `count` tuples through a small buffer. The length is already in the file's head, hence the check.
fn stream<T: Tuple>(tuples: impl Iterator<Item = io::Result<T>>, count: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(FULL + T::COMPONENTS * T::Scalar::BYTES);
    let mut written = 0;
    for tuple in tuples {
        tuple?.append(&mut bytes);
        written += 1;
        if bytes.len() >= FULL {
            out.write_all(&bytes)?;
            bytes.clear();
        }
    }
    out.write_all(&bytes)?;
    if written == count {
        Ok(())
    } else {
        let text = format!("an array announced {count} values and delivered {written}");
        Err(io::Error::new(io::ErrorKind::InvalidInput, text))
    }
}

/// Cells of one kind.
struct Cells<'a> {
    count: usize,
    connectivity: Array<'a>,
    offsets: Array<'a>,
}

impl<'a> Cells<'a> {
    /// Cells with `N` corners each.
    fn uniform<const N: usize>(points: usize, cells: impl ExactSizeIterator<Item = [usize; N]> + 'a) -> Self {
        let count = cells.len();
        Cells {
            count,
            connectivity: Array::indices("connectivity", count * N, points, cells.flatten()),
            offsets: Array::new("offsets", (0..count).map(|i| ((i + 1) * N) as i64)),
        }
    }

    /// Cells with any number of corners.
    fn ragged<P: AsRef<[usize]>>(points: usize, cells: &'a [P]) -> Self {
        let corners = cells.iter().map(|c| c.as_ref().len()).sum();
        let indices = cells.iter().flat_map(|c| c.as_ref().iter().copied());
        let ends = cells.iter().scan(0i64, |end, c| {
            *end += c.as_ref().len() as i64;
            Some(*end)
        });
        let count = cells.len();
        Cells {
            count,
            connectivity: Array::indices("connectivity", corners, points, indices),
            offsets: Array {
                name: "offsets".to_owned(),
                scalar: i64::TYPE,
                components: 1,
                component_names: Vec::new(),
                tuples: count,
                bytes: count as u64 * 8,
                stream: Box::new(move |out| stream(ends.map(Ok), count, out)),
            },
        }
    }

    fn none() -> Self {
        Cells::uniform::<1>(0, std::iter::empty())
    }
}

/// Why a data set could not be written.
#[derive(Debug, thiserror::Error)]
pub enum VtkError {
    /// An array has too few or too many values.
    #[error(
        "the array `{array}` has {found} values, but the data set has {expected} {what}s\n  give one value for each of the {what}s"
    )]
    Length {
        /// Name of the array.
        array: String,
        /// Values it has.
        found: usize,
        /// Values it should have.
        expected: usize,
        /// `point` or `cell`.
        what: &'static str,
    },
    /// Two arrays of the same kind share a name, so a reader would lose one.
    #[error("two {what} arrays are called `{array}`\n  give each its own name")]
    TwiceNamed {
        /// The name.
        array: String,
        /// `point`, `cell` or `field`.
        what: &'static str,
    },
    /// A cell refers to a missing point, or an iterator misreported its length.
    #[error("the data set cannot be written: {0}")]
    Content(io::Error),
    /// The operating system refused, or content was found wrong while streaming.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A poly data set about to be written. Cells are numbered vertices first, then lines, then polygons; cell data follow
/// that order.
pub struct PolyData<'a> {
    points: Array<'a>,
    field_data: Vec<Array<'a>>,
    point_data: Vec<Array<'a>>,
    cell_data: Vec<Array<'a>>,
    verts: Cells<'a>,
    lines: Cells<'a>,
    polys: Cells<'a>,
}

impl<'a> PolyData<'a> {
    /// A data set of points \[m\], `[f64; 3]`, `[f32; 3]` or [`Vec3`].
    pub fn points<I>(points: I) -> Self
    where
        I: IntoIterator<Item: Tuple, IntoIter: ExactSizeIterator + 'a>,
    {
        const { assert!(<I::Item as Tuple>::COMPONENTS == 3, "points have three coordinates") }
        PolyData {
            points: Array::new("Points", points),
            field_data: Vec::new(),
            point_data: Vec::new(),
            cell_data: Vec::new(),
            verts: Cells::none(),
            lines: Cells::none(),
            polys: Cells::none(),
        }
    }

    /// The time of the frame \[s\], as ParaView reads it.
    pub fn time(self, seconds: f64) -> Self {
        self.field_array(Array::new("TimeValue", [seconds]))
    }

    /// An array that belongs to the data set as a whole.
    pub fn field_array(mut self, array: Array<'a>) -> Self {
        self.field_data.push(array);
        self
    }

    /// One value per point; see [`Array::new`].
    pub fn point_data<I>(self, name: impl Into<String>, values: I) -> Self
    where
        I: IntoIterator<Item: Tuple, IntoIter: ExactSizeIterator + 'a>,
    {
        self.point_array(Array::new(name, values))
    }

    /// One value per point, as an array with component names.
    pub fn point_array(mut self, array: Array<'a>) -> Self {
        self.point_data.push(array);
        self
    }

    /// One value per cell; see [`Array::new`].
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

    /// One vertex cell per point.
    pub fn vertices(mut self) -> Self {
        let n = self.points.tuples;
        self.verts = Cells::uniform(n, (0..n).map(|i| [i]));
        self
    }

    /// Straight lines between two points each, in place of any lines given before.
    pub fn segments(mut self, ends: impl IntoIterator<IntoIter: ExactSizeIterator<Item = [usize; 2]> + 'a>) -> Self {
        self.lines = Cells::uniform(self.points.tuples, ends.into_iter());
        self
    }

    /// Lines through any number of points, in place of any lines given before.
    pub fn polylines<P: AsRef<[usize]>>(mut self, lines: &'a [P]) -> Self {
        self.lines = Cells::ragged(self.points.tuples, lines);
        self
    }

    /// Triangles, in place of any polygons given before.
    pub fn triangles(
        mut self,
        corners: impl IntoIterator<IntoIter: ExactSizeIterator<Item = [usize; 3]> + 'a>,
    ) -> Self {
        self.polys = Cells::uniform(self.points.tuples, corners.into_iter());
        self
    }

    /// Polygons with any number of corners, in place of any polygons given before.
    pub fn polygons<P: AsRef<[usize]>>(mut self, polygons: &'a [P]) -> Self {
        self.polys = Cells::ragged(self.points.tuples, polygons);
        self
    }

    /// Writes the file as a whole or not at all.
    pub fn write(self, path: &Path) -> Result<(), VtkError> {
        self.check()?;
        Ok(atomic::write_unsynced(path, |out| self.stream(out))?)
    }

    /// The content of the file, in memory.
    pub fn to_bytes(self) -> Result<Vec<u8>, VtkError> {
        self.check()?;
        let mut bytes = Vec::new();
        self.stream(&mut bytes).map_err(VtkError::Content)?;
        Ok(bytes)
    }

    /// What can be known to be wrong before the first byte.
    fn check(&self) -> Result<(), VtkError> {
        let cells = self.verts.count + self.lines.count + self.polys.count;
        check(&self.field_data, None, "field")?;
        check(&self.point_data, Some(self.points.tuples), "point")?;
        check(&self.cell_data, Some(cells), "cell")
    }

    /// The XML head with the place of every block, then the blocks in the same order.
    fn stream(self, out: &mut dyn Write) -> io::Result<()> {
        let mut head = String::from("<?xml version=\"1.0\"?>\n");
        head += "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n";
        head += "  <PolyData>\n";
        let mut blocks = Blocks::default();
        if !self.field_data.is_empty() {
            blocks.section(&mut head, "    ", "FieldData", true, self.field_data);
        }
        let _ = writeln!(
            head,
            r#"    <Piece NumberOfPoints="{}" NumberOfVerts="{}" NumberOfLines="{}" NumberOfStrips="0" NumberOfPolys="{}">"#,
            self.points.tuples, self.verts.count, self.lines.count, self.polys.count
        );
        blocks.section(&mut head, "      ", "PointData", false, self.point_data);
        blocks.section(&mut head, "      ", "CellData", false, self.cell_data);
        blocks.section(&mut head, "      ", "Points", false, vec![self.points]);
        for (name, cells) in [("Verts", self.verts), ("Lines", self.lines), ("Polys", self.polys)] {
            blocks.section(&mut head, "      ", name, false, vec![cells.connectivity, cells.offsets]);
        }
        head += "    </Piece>\n  </PolyData>\n";
        blocks.write(&head, out)
    }
}

/// Each array has a value for each of the points or cells, and a name of its own.
pub(crate) fn check(arrays: &[Array], expected: Option<usize>, what: &'static str) -> Result<(), VtkError> {
    for (i, a) in arrays.iter().enumerate() {
        if let Some(expected) = expected.filter(|&n| n != a.tuples) {
            return Err(VtkError::Length { array: a.name.clone(), found: a.tuples, expected, what });
        }
        if arrays[..i].iter().any(|b| b.name == a.name) {
            return Err(VtkError::TwiceNamed { array: a.name.clone(), what });
        }
    }
    Ok(())
}

/// The binary blocks in the order of the file, and where the next one begins.
#[derive(Default)]
pub(crate) struct Blocks<'a> {
    list: Vec<(u64, Stream<'a>)>,
    next: u64,
}

impl<'a> Blocks<'a> {
    /// Describes the arrays of one XML section and queues their content.
    pub(crate) fn section(
        &mut self,
        head: &mut String,
        indent: &str,
        name: &str,
        tuples: bool,
        arrays: Vec<Array<'a>>,
    ) {
        let _ = writeln!(head, "{indent}<{name}>");
        for array in arrays {
            let _ = writeln!(head, "{indent}  <DataArray {}/>", array.attributes(tuples, self.next));
            self.next += 8 + array.bytes;
            self.list.push((array.bytes, array.stream));
        }
        let _ = writeln!(head, "{indent}</{name}>");
    }

    /// Writes the head, the blocks, and the end of the file.
    pub(crate) fn write(self, head: &str, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(head.as_bytes())?;
        out.write_all(b"  <AppendedData encoding=\"raw\">\n_")?;
        for (bytes, stream) in self.list {
            out.write_all(&bytes.to_le_bytes())?;
            stream(out)?;
        }
        out.write_all(b"\n  </AppendedData>\n</VTKFile>\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slow and obvious: the raw block that the array of this name points at.
    fn block(file: &[u8], name: &str) -> Vec<u8> {
        let mark = b"<AppendedData";
        let start = file.windows(mark.len()).position(|w| w == mark).expect("appended section");
        let head = std::str::from_utf8(&file[..start]).unwrap();
        let line = head.lines().find(|l| l.contains(&format!("Name=\"{name}\""))).expect("array");
        let offset = line.split("offset=\"").nth(1).unwrap().split('"').next().unwrap().parse::<usize>().unwrap();
        let data = start + file[start..].iter().position(|&b| b == b'_').unwrap() + 1 + offset;
        let length = u64::from_le_bytes(file[data..data + 8].try_into().unwrap()) as usize;
        file[data + 8..data + 8 + length].to_vec()
    }

    #[test]
    fn every_block_holds_the_bytes_of_its_array() {
        let n = 20_000; // several buffers long
        let position: Vec<[f64; 3]> = (0..n).map(|i| [i as f64, -0.5 * i as f64, 1e-300]).collect();
        let id: Vec<u64> = (0..n as u64).map(|i| i << 40).collect();
        let file = PolyData::points(&position)
            .point_data("id", &id)
            .point_data("flag", (0..n).map(|i| i as u8))
            .point_data("small", position.iter().map(|p| p.map(|x| x as f32)))
            .vertices()
            .segments([[0, 1], [7, n - 1]])
            .cell_data("kind", (0..n + 2).map(|i| -(i as i32)))
            .to_bytes()
            .unwrap();
        let flat = |f: &dyn Fn(usize) -> Vec<u8>, n| (0..n).flat_map(f).collect::<Vec<u8>>();
        assert_eq!(block(&file, "id"), flat(&|i| id[i].to_le_bytes().to_vec(), n));
        assert_eq!(block(&file, "flag"), flat(&|i| vec![i as u8], n));
        assert_eq!(block(&file, "Points"), flat(&|i| position[i].map(f64::to_le_bytes).concat(), n));
        assert_eq!(block(&file, "small"), flat(&|i| position[i].map(|x| (x as f32).to_le_bytes()).concat(), n));
        assert_eq!(block(&file, "kind"), flat(&|i| (-(i as i32)).to_le_bytes().to_vec(), n + 2));
        assert!(file.ends_with(b"\n  </AppendedData>\n</VTKFile>\n"));
    }

    #[test]
    fn polygons_of_different_size_have_running_offsets() {
        let position = [[0.0; 3]; 5];
        let polygons = [vec![0, 1, 2, 3], vec![2, 3, 4]];
        let file = PolyData::points(position).polygons(&polygons).to_bytes().unwrap();
        let text = String::from_utf8_lossy(&file);
        assert!(text.contains(r#"NumberOfPolys="2""#));
        let ends = [4i64, 7].map(i64::to_le_bytes).concat();
        assert!(file.windows(ends.len()).any(|w| w == ends));
    }

    #[test]
    fn an_array_of_wrong_length_is_refused_before_anything_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.vtp");
        let error = PolyData::points([[0.0; 3]; 4]).point_data("radius", [1.0; 3]).write(&path).unwrap_err();
        assert!(
            matches!(&error, VtkError::Length { array, found: 3, expected: 4, .. } if array == "radius"),
            "{error}"
        );
        let error = PolyData::points([[0.0; 3]; 4]).cell_data("kind", [1u8; 4]).to_bytes().unwrap_err();
        assert!(matches!(error, VtkError::Length { expected: 0, what: "cell", .. }));
        let twice = PolyData::points([[0.0; 3]; 1]).point_data("a", [1.0]).point_data("a", [2.0]).to_bytes();
        assert!(matches!(twice, Err(VtkError::TwiceNamed { what: "point", .. })));
        assert!(!path.exists());
    }

    #[test]
    fn a_cell_that_refers_to_a_missing_point_is_refused_and_no_file_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let error =
            PolyData::points([[0.0; 3]; 4]).segments([[0, 1], [2, 4]]).write(&dir.path().join("a.vtp")).unwrap_err();
        assert!(error.to_string().contains("refers to point 4, but there are only 4 points"), "{error}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn names_are_escaped() {
        assert_eq!(escape("a<b> & \"c\" 'd'\n"), "a&lt;b&gt; &amp; &quot;c&quot; &apos;d&apos;\u{fffd}");
        let file = PolyData::points([[0.0; 3]; 0]).point_data("F<n> & \"t\"", [0.0; 0]).to_bytes().unwrap();
        assert!(String::from_utf8_lossy(&file).contains("Name=\"F&lt;n&gt; &amp; &quot;t&quot;\""));
    }
}
