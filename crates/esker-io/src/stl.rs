//! Reader of STL surfaces, text and binary.
//!
//! Written here rather than taken from `stl_io`, which is sound on hostile input but reads text as `f32`, takes a binary
//! file whose comment begins with "solid" for text, and does not say where a file is wrong. The tests use it as a twin.
//! Equal corners (bit for bit, after `-0.0` became `0.0`) share one vertex; facet normals, often wrong in the wild, are
//! not used: the order of the corners counts. Memory and time are bounded by the size of the file.

use crate::atomic::{self, FileError};
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// A surface of triangles. Several solids of one text file are joined.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Corners, in the unit of the file.
    pub vertices: Vec<[f64; 3]>,
    /// Three vertices each, counter-clockwise seen from outside. Triangles without area are passed on as they are.
    pub triangles: Vec<[u32; 3]>,
}

/// Where in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Line of a text file, counted from 1.
    Line(usize),
    /// Byte of a binary file, counted from 0.
    Byte(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(n) => write!(f, "line {n}"),
            Place::Byte(n) => write!(f, "byte {n}"),
        }
    }
}

/// What is wrong with the content, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// What.
    pub reason: Reason,
}

/// What is wrong with the content.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// Neither kind of STL.
    #[error("this is no STL file: it does not begin with `solid`, and is too short for a binary one ({0} bytes)")]
    Foreign(usize),
    /// The count in a binary file and its length do not agree.
    #[error("the file announces {triangles} triangles, which take {expected} bytes, but it has {found} bytes")]
    Length {
        /// Announced count.
        triangles: u32,
        /// Bytes it would take.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// Another word was expected in a text file.
    #[error("expected {expected}, found `{found}`")]
    Expected {
        /// What should stand here.
        expected: &'static str,
        /// What stands here.
        found: String,
    },
    /// A text file ends in the middle.
    #[error("the file ends where {expected} is expected: it is cut short")]
    End {
        /// What should follow.
        expected: &'static str,
    },
    /// A coordinate is infinite or not a number.
    #[error("the coordinate `{0}` is not a finite number")]
    NotFinite(String),
    /// More corners than 32-bit indices can count.
    #[error("the surface has more than 4294967295 corners: split the file")]
    TooLarge,
}

/// Why a surface could not be read.
#[derive(Debug, thiserror::Error)]
pub enum StlError {
    /// The operating system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// The content is wrong.
    #[error("`{}`, {problem}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: Problem,
    },
}

/// Reads a surface from a file.
pub fn read(path: &Path) -> Result<Surface, StlError> {
    read_bytes(&atomic::read(path)?).map_err(|problem| StlError::Content { path: path.to_owned(), problem })
}

/// Reads a surface from the bytes of a file. Never panics, whatever they are.
///
/// The length decides first, since binary comments may begin with `solid` too. A file that begins so, does not have the
/// length of a binary one and has no zero byte near its head is text.
pub fn read_bytes(bytes: &[u8]) -> Result<Surface, Problem> {
    let announced = announced_triangles(bytes);
    if announced.is_some_and(|n| binary_length(n) == bytes.len() as u64) {
        return read_binary(bytes);
    }
    let begins_solid = bytes.trim_ascii_start().get(..5).is_some_and(|w| w.eq_ignore_ascii_case(b"solid"));
    if begins_solid && !bytes[..bytes.len().min(1024)].contains(&0) {
        return Text { bytes, at: 0, line: 1 }.read();
    }
    let (place, reason) = match announced {
        Some(triangles) => {
            let (expected, found) = (binary_length(triangles), bytes.len() as u64);
            (Place::Byte(COUNT_AT), Reason::Length { triangles, expected, found })
        }
        None => (Place::Byte(0), Reason::Foreign(bytes.len())),
    };
    Err(Problem { place, reason })
}

/// A binary file has a comment of 80 bytes, the count, and 50 bytes for each triangle.
const COUNT_AT: usize = 80;
const TRIANGLES_AT: usize = 84;
const TRIANGLE_BYTES: usize = 50;

fn announced_triangles(bytes: &[u8]) -> Option<u32> {
    let count = bytes.get(COUNT_AT..TRIANGLES_AT)?;
    Some(u32::from_le_bytes([count[0], count[1], count[2], count[3]]))
}

fn binary_length(triangles: u32) -> u64 {
    TRIANGLES_AT as u64 + TRIANGLE_BYTES as u64 * u64::from(triangles)
}

/// Reads a binary file whose length agrees with its count.
fn read_binary(bytes: &[u8]) -> Result<Surface, Problem> {
    let mut builder = Builder::default();
    for (t, record) in bytes[TRIANGLES_AT..].chunks_exact(TRIANGLE_BYTES).enumerate() {
        let byte = |offset: usize| Place::Byte(TRIANGLES_AT + t * TRIANGLE_BYTES + offset);
        let mut corners = [[0.0; 3]; 3];
        for (k, corner) in corners.as_flattened_mut().iter_mut().enumerate() {
            let offset = 12 + 4 * k; // after the normal
            let value = f32::from_le_bytes(std::array::from_fn(|i| record[offset + i]));
            if !value.is_finite() {
                return Err(Problem { place: byte(offset), reason: Reason::NotFinite(value.to_string()) });
            }
            *corner = f64::from(value);
        }
        builder.push(corners, byte(0))?;
    }
    Ok(builder.surface)
}

/// Collects triangles and joins equal corners.
#[derive(Default)]
struct Builder {
    surface: Surface,
    known: HashMap<[u64; 3], u32>,
}

impl Builder {
    fn push(&mut self, corners: [[f64; 3]; 3], place: Place) -> Result<(), Problem> {
        let mut triangle = [0; 3];
        for (index, corner) in triangle.iter_mut().zip(corners) {
            let corner = corner.map(|x| x + 0.0); // -0.0 becomes 0.0
            let next = self.surface.vertices.len();
            let next = u32::try_from(next).map_err(|_| Problem { place, reason: Reason::TooLarge })?;
            *index = *self.known.entry(corner.map(f64::to_bits)).or_insert(next);
            if *index == next {
                self.surface.vertices.push(corner);
            }
        }
        self.surface.triangles.push(triangle);
        Ok(())
    }
}

/// A text file, read word by word. Keywords in any case and any line breaks are taken.
struct Text<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Text<'a> {
    fn read(mut self) -> Result<Surface, Problem> {
        let mut builder = Builder::default();
        self.keyword("`solid`")?;
        loop {
            self.skip_line(); // the name
            loop {
                let word = self.word("`facet` or `endsolid`")?;
                if word.eq_ignore_ascii_case(b"endsolid") {
                    break;
                }
                if !word.eq_ignore_ascii_case(b"facet") {
                    return Err(self.unexpected("`facet` or `endsolid`", word));
                }
                let corners = self.facet()?;
                builder.push(corners, Place::Line(self.line))?;
            }
            self.skip_line(); // the name again
            self.skip_space();
            if self.at == self.bytes.len() {
                return Ok(builder.surface);
            }
            self.keyword("`solid`")?;
        }
    }

    /// What follows `facet`.
    fn facet(&mut self) -> Result<[[f64; 3]; 3], Problem> {
        self.keyword("`normal`")?;
        for _ in 0..3 {
            self.word("a component of the normal")?; // some writers put `nan` here
        }
        self.keyword("`outer`")?;
        self.keyword("`loop`")?;
        let mut corners = [[0.0; 3]; 3];
        for corner in &mut corners {
            self.keyword("`vertex`")?;
            for coordinate in corner {
                *coordinate = self.number()?;
            }
        }
        self.keyword("`endloop`")?;
        self.keyword("`endfacet`")?;
        Ok(corners)
    }

    fn number(&mut self) -> Result<f64, Problem> {
        let word = self.word("a coordinate")?;
        let value = std::str::from_utf8(word).ok().and_then(|w| w.parse::<f64>().ok());
        match value {
            Some(x) if x.is_finite() => Ok(x),
            Some(_) => Err(Problem { place: Place::Line(self.line), reason: Reason::NotFinite(shown(word)) }),
            None => Err(self.unexpected("a coordinate", word)),
        }
    }

    /// Takes the next word, which must be the one in back quotes.
    fn keyword(&mut self, expected: &'static str) -> Result<(), Problem> {
        let word = self.word(expected)?;
        if word.eq_ignore_ascii_case(expected.trim_matches('`').as_bytes()) {
            Ok(())
        } else {
            Err(self.unexpected(expected, word))
        }
    }

    fn word(&mut self, expected: &'static str) -> Result<&'a [u8], Problem> {
        self.skip_space();
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|b| b.is_ascii_whitespace()).unwrap_or(rest.len());
        if length == 0 {
            return Err(Problem { place: Place::Line(self.line), reason: Reason::End { expected } });
        }
        self.at += length;
        Ok(&rest[..length])
    }

    fn skip_space(&mut self) {
        while let Some(b) = self.bytes.get(self.at).filter(|b| b.is_ascii_whitespace()) {
            self.line += usize::from(*b == b'\n');
            self.at += 1;
        }
    }

    /// Skips to the end of the line, which stays.
    fn skip_line(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
    }

    fn unexpected(&self, expected: &'static str, found: &[u8]) -> Problem {
        Problem { place: Place::Line(self.line), reason: Reason::Expected { expected, found: shown(found) } }
    }
}

/// A word of the file, fit for a message.
fn shown(word: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(&word[..word.len().min(60)]).into_owned();
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ONE: &str = "solid a b\n facet normal 0 0 1\n  outer loop\n   vertex 0 0 0\n   vertex 1 0 0\n   vertex 0 0.1 0\n  endloop\n endfacet\nendsolid a b\n";

    fn binary(triangles: &[[[f32; 3]; 3]], comment: &[u8]) -> Vec<u8> {
        let mut bytes = vec![b' '; COUNT_AT];
        bytes[..comment.len()].copy_from_slice(comment);
        bytes.extend((triangles.len() as u32).to_le_bytes());
        for t in triangles {
            bytes.extend([0.0f32, 0.0, 1.0].map(f32::to_le_bytes).concat());
            bytes.extend(t.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
            bytes.extend([0, 0]);
        }
        bytes
    }

    #[test]
    fn a_text_surface_keeps_double_precision_and_joins_corners() {
        let one = read_bytes(ONE.as_bytes()).unwrap();
        assert_eq!(one.vertices, [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.1, 0.0]]);
        assert_eq!(one.triangles, [[0, 1, 2]]);
        let two = format!("{ONE}\n{}", ONE.replace("0.1", "-0").replace("solid a b", "SOLID").replace('\n', "\r\n"));
        let two = read_bytes(two.as_bytes()).unwrap();
        assert_eq!((two.vertices.len(), &two.triangles[..]), (3, &[[0, 1, 2], [0, 1, 0]][..]));
    }

    #[test]
    fn a_binary_surface_is_known_by_its_length_even_if_it_begins_with_solid() {
        let t =
            [[[0.0, 0.0, 0.0], [1.0, 0.0, -0.0], [0.0, 0.5, 0.0]], [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.5, 0.0]]];
        for comment in [&b"solid made by a CAD program"[..], b"other", b"\0"] {
            let surface = read_bytes(&binary(&t, comment)).unwrap();
            assert_eq!(surface.triangles, [[0, 1, 2], [1, 3, 2]]);
        }
        assert_eq!(read_bytes(&binary(&[], b"solid")).unwrap(), Surface::default());
        assert_eq!(read_bytes(b"solid\nendsolid").unwrap(), Surface::default());
    }

    #[test]
    fn faults_are_named_with_their_place() {
        let fault = |bytes: &[u8]| read_bytes(bytes).unwrap_err().to_string();
        let bent = |from, to| fault(ONE.replacen(from, to, 1).as_bytes());
        assert_eq!(bent("vertex 1", "vertex 1,5"), "line 5: expected a coordinate, found `1,5`");
        assert_eq!(bent("vertex 1 ", "vertex inf "), "line 5: the coordinate `inf` is not a finite number");
        assert_eq!(bent("vertex 1 0 0\n", ""), "line 6: expected `vertex`, found `endloop`");
        assert_eq!(
            bent("endsolid a b\n", ""),
            "line 9: the file ends where `facet` or `endsolid` is expected: it is cut short"
        );
        assert_eq!(bent("endfacet", "end\u{7}facet"), "line 8: expected `endfacet`, found `end\u{fffd}facet`");
        assert_eq!(
            fault(b"PK\x03"),
            "byte 0: this is no STL file: it does not begin with `solid`, and is too short for a binary one (3 bytes)"
        );

        let mut bytes = binary(&[[[0.0; 3]; 3]; 2], b"solid\0");
        bytes[TRIANGLES_AT + TRIANGLE_BYTES + 12..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
        assert_eq!(fault(&bytes), "byte 146: the coordinate `NaN` is not a finite number");
        bytes.pop();
        assert_eq!(
            fault(&bytes),
            "byte 80: the file announces 2 triangles, which take 184 bytes, but it has 183 bytes"
        );
        bytes[COUNT_AT..TRIANGLES_AT].copy_from_slice(&[0xff; 4]);
        assert!(fault(&bytes).contains("announces 4294967295 triangles"));

        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("funnel.stl");
        std::fs::write(&path, "solid\nfaces").unwrap();
        let text = read(&path).unwrap_err().to_string();
        assert!(text.ends_with("funnel.stl`, line 2: expected `facet` or `endsolid`, found `faces`"), "{text}");
    }

    proptest! {
        #[test]
        fn text_and_binary_agree_with_stl_io(corners in prop::collection::vec(prop::array::uniform3(prop::array::uniform3(-3i8..3)), 0..30)) {
            let triangles: Vec<[[f32; 3]; 3]> = corners.iter().map(|t| t.map(|c| c.map(|x| f32::from(x) * 0.1))).collect();
            let mut text = String::from("solid x\n");
            for t in &triangles {
                text += "facet normal 0 0 0\nouter loop\n";
                for [x, y, z] in t {
                    text += &format!("vertex {x:?} {y:?} {z:?}\n");
                }
                text += "endloop\nendfacet\n";
            }
            text += "endsolid x\n";
            let twin = |bytes: &[u8]| stl_io::read_stl(&mut std::io::Cursor::new(bytes)).unwrap();
            for bytes in [text.into_bytes(), binary(&triangles, b"x")] {
                let (ours, theirs) = (read_bytes(&bytes).unwrap(), twin(&bytes));
                prop_assert_eq!(ours.triangles.len(), theirs.faces.len());
                for (t, f) in ours.triangles.iter().zip(&theirs.faces) {
                    for k in 0..3 {
                        let ours = ours.vertices[t[k] as usize].map(|x| x as f32);
                        prop_assert_eq!(ours, theirs.vertices[f.vertices[k]].0);
                    }
                }
            }
        }

        #[test]
        fn reading_any_bytes_does_not_panic(bytes: Vec<u8>, words in "(solid|facet|normal|outer|loop|vertex|endloop|endfacet|endsolid|1|-2.5e3|nan|\n| )*") {
            let _ = read_bytes(&bytes);
            let _ = read_bytes(words.as_bytes());
            let _ = read_bytes(&[ONE.as_bytes(), &bytes].concat());
            let mut cut = ONE.as_bytes().to_vec();
            cut.truncate(bytes.len());
            let _ = read_bytes(&cut);
        }
    }
}
