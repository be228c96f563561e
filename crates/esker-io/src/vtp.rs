//! Reader of the frames that [`vtk`](crate::vtk) writes: points and their arrays, to the last bit.
//!
//! Strict: it takes what this program writes and nothing else. The blocks must lie one behind the other without a gap, each as
//! long as the head says, so a file that was cut or put together wrongly is refused; there is no checksum, so a changed
//! number is not noticed. Nothing is allocated that the file does not hold. Any bytes give a result or an error, see the
//! tests below and `tests/convert.rs`.

use crate::atomic::{self, FileError};
use crate::xml;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Type of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Double precision.
    F64,
    /// Single precision.
    F32,
    /// Signed, 32 bits.
    I32,
    /// Signed, 64 bits.
    I64,
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 64 bits.
    U64,
    /// Unsigned, 8 bits.
    U8,
}

/// VTK's names of the types.
const KINDS: [(&str, Kind); 7] = [
    ("Float64", Kind::F64),
    ("Float32", Kind::F32),
    ("Int32", Kind::I32),
    ("Int64", Kind::I64),
    ("UInt32", Kind::U32),
    ("UInt64", Kind::U64),
    ("UInt8", Kind::U8),
];

/// The first bytes, or all there are, as an array for `from_le_bytes`.
fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    std::array::from_fn(|k| bytes.get(k).copied().unwrap_or(0))
}

impl Kind {
    /// Bytes of a number.
    pub fn size(self) -> usize {
        match self {
            Kind::U8 => 1,
            Kind::F32 | Kind::I32 | Kind::U32 => 4,
            Kind::F64 | Kind::I64 | Kind::U64 => 8,
        }
    }

    /// Whether it is a float.
    pub fn is_real(self) -> bool {
        matches!(self, Kind::F64 | Kind::F32)
    }

    /// A little-endian number as a float.
    pub fn number(self, bytes: &[u8]) -> f64 {
        match self {
            Kind::F64 => f64::from_le_bytes(first(bytes)),
            Kind::F32 => f32::from_le_bytes(first(bytes)).into(),
            Kind::I32 => i32::from_le_bytes(first(bytes)).into(),
            Kind::I64 => i64::from_le_bytes(first(bytes)) as f64,
            Kind::U32 => u32::from_le_bytes(first(bytes)).into(),
            Kind::U64 => u64::from_le_bytes(first(bytes)) as f64,
            Kind::U8 => first::<1>(bytes)[0].into(),
        }
    }

    /// Writes a little-endian number with the fewest digits that read back to the same bits.
    pub fn print(self, bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
        match self {
            Kind::F64 => write!(out, "{:?}", f64::from_le_bytes(first(bytes))),
            Kind::F32 => write!(out, "{:?}", f32::from_le_bytes(first(bytes))),
            Kind::I32 => write!(out, "{}", i32::from_le_bytes(first(bytes))),
            Kind::I64 => write!(out, "{}", i64::from_le_bytes(first(bytes))),
            Kind::U32 => write!(out, "{}", u32::from_le_bytes(first(bytes))),
            Kind::U64 => write!(out, "{}", u64::from_le_bytes(first(bytes))),
            Kind::U8 => write!(out, "{}", first::<1>(bytes)[0]),
        }
    }

    /// The bytes that stand where there is no grain: no number, -1, or 0 where there is nothing below.
    pub fn absent(self) -> Vec<u8> {
        match self {
            Kind::F64 => f64::NAN.to_le_bytes().to_vec(),
            Kind::F32 => f32::NAN.to_le_bytes().to_vec(),
            Kind::I32 | Kind::I64 => vec![0xff; self.size()],
            Kind::U32 | Kind::U64 | Kind::U8 => vec![0; self.size()],
        }
    }
}

/// A value of each point.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name.
    pub name: String,
    /// Type of its numbers.
    pub kind: Kind,
    /// Numbers of a point.
    pub width: usize,
    /// Names of the components, if the file names them.
    pub components: Vec<String>,
    /// The numbers, little endian, one point after another.
    pub bytes: Vec<u8>,
}

impl Column {
    /// Bytes of a point.
    pub fn stride(&self) -> usize {
        self.width * self.kind.size()
    }

    /// Points.
    pub fn rows(&self) -> usize {
        self.bytes.len() / self.stride()
    }

    /// The bytes of a point.
    pub fn row(&self, row: usize) -> &[u8] {
        &self.bytes[row * self.stride()..][..self.stride()]
    }

    /// The bytes of each number of a point.
    pub fn numbers(&self, row: usize) -> impl Iterator<Item = &[u8]> {
        self.row(row).chunks_exact(self.kind.size())
    }

    /// A number of a point.
    pub fn number(&self, row: usize, component: usize) -> f64 {
        self.kind.number(&self.row(row)[component * self.kind.size()..])
    }

    /// Name of a component in small letters; empty for a single number.
    pub fn component(&self, k: usize) -> String {
        match self.components.get(k) {
            Some(name) => name.to_lowercase(),
            None if self.width == 1 => String::new(),
            None if self.width == 3 => ["x", "y", "z"][k].to_owned(),
            None => k.to_string(),
        }
    }
}

/// Points and their values.
#[derive(Clone, Debug, PartialEq)]
pub struct PointSet {
    /// Time \[s\], if the file tells.
    pub time: Option<f64>,
    /// Where the points are, named `Points`.
    pub points: Column,
    /// Their arrays, in the order of the file.
    pub arrays: Vec<Column>,
}

/// What is wrong with a frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Of another program.
    #[error("is not a frame of this program: {0}\n  convert a run folder whose `grains-….vtp` were not changed")]
    Foreign(String),
    /// Its end is missing.
    #[error("ends too early: {0}\n  it was cut on its way here; copy it again, or run the scene again")]
    Truncated(String),
    /// It contradicts itself.
    #[error("is damaged: {0}\n  copy it again, or leave it out with `--frames`")]
    Damaged(String),
}

/// Why a frame could not be read.
#[derive(Debug, thiserror::Error)]
pub enum VtpError {
    /// The operating system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// The content is wrong.
    #[error("`{}` {fault}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        fault: Fault,
    },
}

/// Reads a frame.
pub fn read(path: &Path) -> Result<PointSet, VtpError> {
    let bytes = atomic::read(path)?;
    read_bytes(&bytes).map_err(|fault| VtpError::Content { path: path.to_owned(), fault })
}

const OPENING: &[u8] = b"<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\"";
const BODY: &[u8] = b"<AppendedData encoding=\"raw\">\n_";
const CLOSING: &[u8] = b"\n  </AppendedData>\n</VTKFile>\n";
/// Longest head: arrays are few \[B\].
const LONGEST_HEAD: usize = 1 << 20;
/// Most numbers in a value: more than any field has.
const WIDEST: usize = 1 << 10;

/// Reads a frame from the bytes of a file. Never panics, whatever they are.
pub fn read_bytes(bytes: &[u8]) -> Result<PointSet, Fault> {
    if bytes.len() < OPENING.len() && OPENING.starts_with(bytes) {
        return Err(Fault::Truncated(format!("there are {} bytes", bytes.len())));
    }
    if !bytes.starts_with(OPENING) {
        return Err(Fault::Foreign("it does not begin as VTK poly data".to_owned()));
    }
    let window = &bytes[..bytes.len().min(LONGEST_HEAD)];
    let Some(end) = window.windows(BODY.len()).position(|w| w == BODY) else {
        return Err(match bytes.len() {
            length if length >= LONGEST_HEAD => Fault::Foreign("it has no appended raw data".to_owned()),
            _ => Fault::Truncated("the head does not end".to_owned()),
        });
    };
    let head = std::str::from_utf8(&window[..end]).map_err(|_| Fault::Damaged("the head is not text".to_owned()))?;
    let head = Head::parse(head).map_err(Fault::Damaged)?;
    head.take(&bytes[end + BODY.len()..])
}

/// An array that the head announces.
struct Announced {
    section: String,
    column: Column,
    offset: u64,
    /// Rows it must have; `None` for the corners of cells.
    rows: Option<u64>,
}

/// What stands before the blocks.
struct Head {
    arrays: Vec<Announced>,
}

impl Head {
    fn parse(text: &str) -> Result<Self, String> {
        let mut arrays = Vec::new();
        let mut section = String::new();
        let mut piece: Option<Vec<(&str, String)>> = None;
        let mut rest = text;
        while let Some((_, after)) = rest.split_once('<') {
            let (tag, behind) = after.split_once('>').ok_or("a tag is not closed")?;
            rest = behind;
            let tag = tag.trim_end_matches('/');
            let (name, attributes) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
            match name {
                "VTKFile" => Self::check_file(&xml::attributes(attributes)?)?,
                "Piece" if piece.is_some() => return Err("it has two pieces".to_owned()),
                "Piece" => piece = Some(xml::attributes(attributes)?),
                "DataArray" => {
                    let attributes = xml::attributes(attributes)?;
                    arrays.push(announced(&section, &attributes, piece.as_deref())?);
                }
                "FieldData" | "PointData" | "CellData" | "Points" | "Verts" | "Lines" | "Polys" => {
                    name.clone_into(&mut section);
                }
                "?xml" | "PolyData" => {}
                closing if closing.starts_with('/') => {}
                other => return Err(format!("the tag <{}> does not belong there", shown(other))),
            }
        }
        Ok(Self { arrays })
    }

    fn check_file(attributes: &[(&str, String)]) -> Result<(), String> {
        for (name, wanted) in [("type", "PolyData"), ("byte_order", "LittleEndian"), ("header_type", "UInt64")] {
            let found = attribute(attributes, name).unwrap_or("nothing");
            if found != wanted {
                return Err(format!("{name} is `{}` where `{wanted}` was expected", shown(found)));
            }
        }
        match attribute(attributes, "compressor") {
            Some(_) => Err("its blocks are compressed".to_owned()),
            None => Ok(()),
        }
    }

    /// The blocks, one behind the other.
    fn take(self, body: &[u8]) -> Result<PointSet, Fault> {
        let (mut time, mut points, mut arrays) = (None, None, Vec::<Column>::new());
        let mut at = 0;
        for announced in self.arrays {
            let name = shown(&announced.column.name);
            if announced.offset != at as u64 {
                let offset = announced.offset;
                return Err(Fault::Damaged(format!("`{name}` begins at {offset}, the block before it ends at {at}")));
            }
            let block = block(&body[at..], &announced)?;
            at += 8 + block.len();
            let column = Column { bytes: block.to_vec(), ..announced.column };
            match announced.section.as_str() {
                "FieldData" if column.name == "TimeValue" && column.bytes.len() == 8 => {
                    time = Some(column.number(0, 0));
                }
                "Points" if points.is_some() => return Err(Fault::Damaged("it has points twice".to_owned())),
                "Points" if column.width != 3 || column.kind != Kind::F64 => {
                    return Err(Fault::Damaged("points are not three doubles".to_owned()));
                }
                "Points" => points = Some(column),
                "PointData" if arrays.iter().any(|a| a.name == column.name) => {
                    return Err(Fault::Damaged(format!("`{name}` stands twice")));
                }
                "PointData" => arrays.push(column),
                _ => {}
            }
        }
        match &body[at..] {
            tail if tail == CLOSING => {}
            tail if CLOSING.starts_with(tail) => return Err(Fault::Truncated("the last lines are missing".to_owned())),
            _ => return Err(Fault::Damaged("what follows the blocks is not the end of the file".to_owned())),
        }
        let points = points.ok_or_else(|| Fault::Damaged("it has no points".to_owned()))?;
        Ok(PointSet { time, points, arrays })
    }
}

/// The bytes of an array at the beginning of `rest`.
fn block<'a>(rest: &'a [u8], announced: &Announced) -> Result<&'a [u8], Fault> {
    let name = shown(&announced.column.name);
    let Some(length) = rest.get(..8).map(|b| u64::from_le_bytes(first(b))) else {
        return Err(Fault::Truncated(format!("`{name}` is missing")));
    };
    let stride = announced.column.stride() as u64;
    let fits = match announced.rows {
        Some(rows) => rows.checked_mul(stride) == Some(length),
        None => length.is_multiple_of(stride),
    };
    if !fits {
        return Err(Fault::Damaged(format!("`{name}` has {length} bytes, which is not what the head announces")));
    }
    let block = usize::try_from(length).ok().and_then(|length| rest[8..].get(..length));
    block.ok_or_else(|| {
        let there = rest.len() - 8;
        Fault::Truncated(format!("of the {length} bytes of `{name}` {there} are there"))
    })
}

/// One array of the head. How many rows it has is told by its own tag or by the piece.
fn announced(
    section: &str,
    attributes: &[(&str, String)],
    piece: Option<&[(&str, String)]>,
) -> Result<Announced, String> {
    let text = |name: &str| attribute(attributes, name);
    let number = |from: &[(&str, String)], name: &str| -> Result<u64, String> {
        let text = attribute(from, name).ok_or_else(|| format!("`{name}` is missing"))?;
        text.parse().map_err(|_| format!("{name}=\"{}\" is not a whole number", shown(text)))
    };
    let name = text("Name").ok_or("an array has no name")?.to_owned();
    let kind = text("type").and_then(|t| KINDS.iter().find(|k| k.0 == t));
    let kind = kind.ok_or_else(|| format!("`{}` has a type of numbers that is not known", shown(&name)))?.1;
    if text("format") != Some("appended") {
        return Err(format!("`{}` is not appended", shown(&name)));
    }
    let width = text("NumberOfComponents").map_or(Ok(1), |_| number(attributes, "NumberOfComponents"))?;
    let width = usize::try_from(width).ok().filter(|w| (1..=WIDEST).contains(w));
    let width = width.ok_or_else(|| format!("`{}` has too many components, or none", shown(&name)))?;
    let count = |name: &str| number(piece.ok_or("arrays stand before the piece")?, name);
    let rows = match section {
        "FieldData" => Some(number(attributes, "NumberOfTuples")?),
        "PointData" | "Points" => Some(count("NumberOfPoints")?),
        _ => None,
    };
    let components = (0..width).map_while(|k| text(&format!("ComponentName{k}"))).map(str::to_owned).collect();
    let offset = number(attributes, "offset")?;
    let column = Column { name, kind, width, components, bytes: Vec::new() };
    Ok(Announced { section: section.to_owned(), column, offset, rows })
}

fn attribute<'a>(attributes: &'a [(&str, String)], name: &str) -> Option<&'a str> {
    attributes.iter().find(|a| a.0 == name).map(|a| a.1.as_str())
}

/// A piece of the file, fit for a message.
fn shown(text: &str) -> String {
    text.chars().take(60).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vtk::{Array, PolyData};
    use proptest::prelude::*;

    fn file() -> Vec<u8> {
        PolyData::points([[0.1, -0.0, f64::MAX], [5e-324, f64::NAN, 3.0]])
            .time(0.25)
            .point_data("id", [7u64 << 40, u64::MAX])
            .point_data("F<n> & \"t\"", [[1i32, -2], [3, i32::MIN]])
            .point_array(Array::new("turn", [[0.0, 0.6, 0.0, 0.8]; 2]).component_names(&["x", "y", "z", "w"]))
            .point_data("small", [1.5f32, 1e-40])
            .point_data("flag", [0u8, 255])
            .vertices()
            .segments([[0, 1]])
            .cell_data("wall", [1i32, 2, 3])
            .to_bytes()
            .unwrap()
    }

    #[test]
    fn what_was_written_is_read_to_the_last_bit() {
        let read = read_bytes(&file()).unwrap();
        assert_eq!(read.time, Some(0.25));
        let place = [0.1, -0.0, f64::MAX, 5e-324, f64::NAN, 3.0];
        assert_eq!(read.points.bytes, place.map(f64::to_le_bytes).concat());
        let names: Vec<_> = read.arrays.iter().map(|a| (a.name.as_str(), a.kind, a.width)).collect();
        let expected = [
            ("id", Kind::U64, 1),
            ("F<n> & \"t\"", Kind::I32, 2),
            ("turn", Kind::F64, 4),
            ("small", Kind::F32, 1),
            ("flag", Kind::U8, 1),
        ];
        assert_eq!(names, expected);
        assert_eq!(read.arrays[0].bytes, [7u64 << 40, u64::MAX].map(u64::to_le_bytes).concat());
        assert_eq!(read.arrays[1].number(1, 1), f64::from(i32::MIN));
        assert_eq!(read.arrays[2].components, ["x", "y", "z", "w"]);
        assert_eq!((read.arrays[4].rows(), read.arrays[4].number(1, 0)), (2, 255.0));
    }

    #[test]
    fn a_frame_without_grains_is_read() {
        let bytes = PolyData::points([[0.0; 3]; 0]).point_data("id", [0u64; 0]).vertices().to_bytes().unwrap();
        let read = read_bytes(&bytes).unwrap();
        assert_eq!((read.time, read.points.rows(), read.arrays[0].rows()), (None, 0, 0));
    }

    #[test]
    fn numbers_are_printed_so_that_they_read_back() {
        let text = |kind: Kind, bytes: &[u8]| {
            let mut out = Vec::new();
            kind.print(bytes, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        for value in [0.1, -0.0, 1e-300, 123456789.123, f64::MAX, 5e-324] {
            let back: f64 = text(Kind::F64, &value.to_le_bytes()).parse().unwrap();
            assert_eq!(back.to_bits(), value.to_bits());
        }
        assert_eq!(text(Kind::U64, &u64::MAX.to_le_bytes()), u64::MAX.to_string());
        assert_eq!(text(Kind::I32, &(-5i32).to_le_bytes()), "-5");
    }

    #[test]
    fn every_cut_is_noticed_and_told_as_such() {
        let whole = file();
        for length in 0..whole.len() {
            let fault = read_bytes(&whole[..length]).unwrap_err();
            assert!(matches!(fault, Fault::Truncated(_)), "{length}: {fault}");
        }
        let more = [&whole[..], b" "].concat();
        assert!(matches!(read_bytes(&more), Err(Fault::Damaged(_))));
    }

    #[test]
    fn foreign_and_contradicting_files_are_told() {
        assert!(matches!(read_bytes(b"solid cube\nfacet normal and so on and so on"), Err(Fault::Foreign(_))));
        let text = |from: &str, to: &str| {
            let whole = file();
            let at = whole.windows(from.len()).position(|w| w == from.as_bytes()).expect(from);
            let changed = [&whole[..at], to.as_bytes(), &whole[at + from.len()..]].concat();
            read_bytes(&changed).unwrap_err().to_string()
        };
        assert!(text("LittleEndian", "BigEndian").contains("byte_order is `BigEndian`"));
        assert!(text("header_type=\"UInt64\"", "header_type=\"UInt32\"").contains("`UInt32`"));
        assert!(text("NumberOfPoints=\"2\"", "NumberOfPoints=\"3\"").contains("not what the head announces"));
        assert!(text("NumberOfPoints=\"2\"", "NumberOfPoints=\"99999999999999999999\"").contains("whole number"));
        assert!(text("Name=\"small\"", "Name=\"flag\"").contains("stands twice"));
        assert!(text("offset=\"16\"", "offset=\"17\"").contains("begins at 17"));
        assert!(text("type=\"UInt8\"", "type=\"String\"").contains("type of numbers"));
    }

    proptest! {
        #[test]
        fn flipped_bytes_never_panic(flips in prop::collection::vec((0usize..4000, 0u8..), 1..6), cut in 0usize..8000) {
            let mut bytes = file();
            for (at, value) in flips {
                let length = bytes.len();
                bytes[at % length] = value;
            }
            bytes.truncate(cut);
            let _ = read_bytes(&bytes);
        }

        #[test]
        fn a_head_of_any_pieces_never_panics(pieces in "(<DataArray |<Piece |<Points>|type=\"Float64\"|Name=\"a\"|offset=\"0\"|NumberOfPoints=\"2\"|/>|>|[\"'=&; a1])*") {
            let _ = Head::parse(&pieces);
            let whole = [b"<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\"", pieces.as_bytes(), BODY, CLOSING].concat();
            let _ = read_bytes(&whole);
        }
    }
}
