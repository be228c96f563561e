//! Grains as a table of text: one line per grain, the columns named in the first line.
//!
//! ```text
//! x [mm], y [mm], z [mm], radius [mm], material
//! 0.5, 1.0, 2.0, 0.4, glass
//! ```
//!
//! Commas or white space separate; a unit in brackets may follow a name, any that scenes know; without one numbers are SI. `x`, `y` and one of
//! `radius` (`r`) or `diameter` (`d`) must be there; `z`, the velocity `vx vy vz`, the angular velocity `wx wy wz`,
//! `material` and `id` may be. Behind `id` there may be columns of what a run has found, as `esker convert` writes them
//! (`mass`, `force x`, …); they are passed over. Of a vector that is named in part, as in planar tables, the rest is zero. Empty
//! lines and lines that begin with `#` are passed over. Export and import are exact inverses, see `tests/table.rs`.

use crate::atomic::{self, FileError};
use crate::scene::keys::{Measure, measures};
use crate::series::quoted;
use esker::expression::{Dimension, Expression, ExpressionError};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Grains by columns; index `i` is the same grain in every column. SI units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grains {
    /// Centre \[m\].
    pub position: Vec<[f64; 3]>,
    /// Radius \[m\].
    pub radius: Vec<f64>,
    /// Velocity \[m/s\], if the table has any of its columns.
    pub velocity: Option<Vec<[f64; 3]>>,
    /// Angular velocity \[rad/s\], if the table has any of its columns.
    pub angular_velocity: Option<Vec<[f64; 3]>>,
    /// Name of the material, if the table has the column.
    pub material: Option<Vec<String>>,
    /// Unique number, if the table has the column.
    pub id: Option<Vec<u64>>,
}

/// What is wrong in a table, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}{}: {reason}", column.map(|c| format!(", column {c}")).unwrap_or_default())]
pub struct Problem {
    /// Line, counted from 1.
    pub line: usize,
    /// Column of the table, counted from 1, if one is to blame.
    pub column: Option<usize>,
    /// What is wrong.
    pub reason: Reason,
}

/// What is wrong in a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// There is no line with names, or it has numbers.
    #[error("the first line must name the columns, for example `x, y, z, radius`{found}")]
    NoHeader {
        /// What stands there, as `, but it has …`, or nothing.
        found: String,
    },
    /// An unknown column.
    #[error("`{name}` is no known column; known columns: {KNOWN}{hint}")]
    UnknownColumn {
        /// The name in the file.
        name: String,
        /// ` (did you mean …?)`, or nothing.
        hint: String,
    },
    /// A unit that is not known, or not of this quantity.
    #[error("`{unit}` {fault}; {holds}")]
    WrongUnit {
        /// The unit in the file.
        unit: String,
        /// What is wrong with it.
        fault: String,
        /// The column and what it measures: `x` is a length.
        holds: String,
    },
    /// A unit where none belongs.
    #[error("`{name}` has no unit; leave the brackets away")]
    NeedlessUnit {
        /// The column.
        name: String,
    },
    /// The same quantity stands twice.
    #[error("`{name}` gives a quantity that an earlier column gives already")]
    TwiceNamed {
        /// The column.
        name: String,
    },
    /// A needed column is missing.
    #[error("the column {0} is missing")]
    Missing(&'static str),
    /// A line with too few or too many cells.
    #[error("{found} cells, but the first line names {expected} columns")]
    Width {
        /// Cells in the line.
        found: usize,
        /// Columns of the table.
        expected: usize,
    },
    /// A cell that cannot be what its column says.
    #[error("`{text}` is no {wanted} for `{name}`")]
    Cell {
        /// The column.
        name: &'static str,
        /// The text of the cell.
        text: String,
        /// What it should be.
        wanted: &'static str,
    },
    /// An id that two grains have.
    #[error("the id {id} stands already in line {first}")]
    TwiceUsed {
        /// The id.
        id: u64,
        /// Where it was first.
        first: usize,
    },
    /// Bytes that are no text.
    #[error("the file is not UTF-8 text")]
    NotText,
    /// A quotation mark without its partner.
    #[error("a quotation mark is not closed, or stands inside a cell")]
    Quotes,
}

/// Why a table could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The operating system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// The content is wrong.
    #[error("`{}`, {problem}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: Problem,
    },
    /// The columns to be written have different lengths.
    #[error("the column `{column}` has {found} entries for {expected} grains")]
    Length {
        /// The column.
        column: &'static str,
        /// Its entries.
        found: usize,
        /// Number of grains, from the positions.
        expected: usize,
    },
    /// A material that a line of text cannot hold.
    #[error("the material `{name}` cannot stand in a table: its name is empty or has line breaks")]
    Material {
        /// The name.
        name: String,
    },
}

const KNOWN: &str = "x, y, z, radius (r), diameter (d), vx, vy, vz, wx, wy, wz, material, id";

/// The quantity of a column; vectors with their component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantity {
    Position(usize),
    Radius,
    Diameter,
    Velocity(usize),
    AngularVelocity(usize),
    Material,
    Id,
    /// Something that grains do not begin with.
    Result,
}

/// Names by which columns are known, the one used in messages and exports first.
const NAMES: [(&str, Quantity); 15] = [
    ("x", Quantity::Position(0)),
    ("y", Quantity::Position(1)),
    ("z", Quantity::Position(2)),
    ("radius", Quantity::Radius),
    ("diameter", Quantity::Diameter),
    ("vx", Quantity::Velocity(0)),
    ("vy", Quantity::Velocity(1)),
    ("vz", Quantity::Velocity(2)),
    ("wx", Quantity::AngularVelocity(0)),
    ("wy", Quantity::AngularVelocity(1)),
    ("wz", Quantity::AngularVelocity(2)),
    ("material", Quantity::Material),
    ("id", Quantity::Id),
    ("r", Quantity::Radius),
    ("d", Quantity::Diameter),
];

/// A unit: SI is the number times `times` over `over`. Both are kept, for `x / 1000` is correctly rounded and `x * 0.001`
/// is not.
#[derive(Clone, Copy)]
struct Unit {
    times: f64,
    over: f64,
}

impl Unit {
    const SI: Unit = Unit { times: 1.0, over: 1.0 };

    /// A unit of the measure, as scenes write it behind a number; on error what is wrong with it.
    fn read(written: &str, measure: &Measure) -> Result<Unit, String> {
        // Scenes calculate; a header only names. (A minus is fine in `m s^-1`.)
        if written.contains(['+', '(', '$']) || written.replace("^-", "").contains('-') {
            return Err("is no unit".to_owned());
        }
        let told = |e: ExpressionError| match e.suggestion {
            Some(suggestion) => format!("is no known unit (did you mean `{suggestion}`?)"),
            None => "is no known unit".to_owned(),
        };
        let expression = Expression::parse(&format!("1 {written}")).map_err(told)?;
        let one = expression.evaluate(|_| None, &[]).map_err(told)?;
        let found = one.dimension.unwrap_or(Dimension::NONE);
        if !measure.dimensions.contains(&found) {
            return Err(format!("is the unit of {}", found.describe()));
        }
        if measure.wrong_turning(&expression).is_some() {
            return Err("counts cycles".to_owned());
        }
        let (times, over) = (one.value, (1.0 / one.value).round());
        Ok(if over > 1.0 && (over * times - 1.0).abs() < 1e-14 {
            Unit { times: 1.0, over }
        } else {
            Unit { times, over: 1.0 }
        })
    }
}

impl Quantity {
    fn name(self) -> &'static str {
        NAMES.iter().find(|n| n.1 == self).map_or("", |n| n.0)
    }

    /// What its numbers measure; `None` for a name and a number.
    fn measure(self) -> Option<Measure> {
        match self {
            Quantity::Position(_) | Quantity::Radius | Quantity::Diameter => Some(measures::LENGTH),
            Quantity::Velocity(_) => Some(measures::SPEED),
            Quantity::AngularVelocity(_) => Some(measures::ANGULAR),
            Quantity::Material | Quantity::Id | Quantity::Result => None,
        }
    }
}

/// Whether a column holds a field of frames, or one component of it, that grains do not begin with.
fn is_result(name: &str) -> bool {
    let fields = crate::frame::described_grain_fields();
    fields.iter().filter(|field| !["velocity", "spin"].contains(&field.name)).any(|field| {
        let component = name.strip_prefix(field.name).map(str::trim_start);
        component.is_some_and(|c| match field.components {
            [] => c.is_empty(),
            components => components.iter().any(|known| known.eq_ignore_ascii_case(c)),
        })
    })
}

/// A column of the file.
struct Column {
    quantity: Quantity,
    unit: Unit,
}

/// Reads grains from a file.
pub fn read(path: &Path) -> Result<Grains, TableError> {
    read_bytes(&atomic::read(path)?).map_err(|problem| TableError::Content { path: path.to_owned(), problem })
}

/// Reads grains from the bytes of a file. Never panics, whatever they are.
pub fn read_bytes(bytes: &[u8]) -> Result<Grains, Problem> {
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let line = 1 + bytes[..e.valid_up_to()].iter().filter(|&&b| b == b'\n').count();
        Problem { line, column: None, reason: Reason::NotText }
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));

    let Some((line, header)) = lines.next() else {
        return Err(Problem { line: 1, column: None, reason: Reason::NoHeader { found: String::new() } });
    };
    let separator = if header.contains(',') { Separator::Comma } else { Separator::Space };
    let columns = read_header(line, header, separator)?;

    let mut grains = Grains::new(&columns);
    let mut ids = HashMap::new();
    for (line, text) in lines {
        let cells = separator.split(text).ok_or(Problem { line, column: None, reason: Reason::Quotes })?;
        if cells.len() != columns.len() {
            let reason = Reason::Width { found: cells.len(), expected: columns.len() };
            return Err(Problem { line, column: None, reason });
        }
        let mut row = Row::default();
        for (i, (cell, column)) in cells.iter().zip(&columns).enumerate() {
            let problem = |reason| Problem { line, column: Some(i + 1), reason };
            row.set(column, cell)
                .map_err(|wanted| problem(Reason::Cell { name: column.quantity.name(), text: shown(cell), wanted }))?;
            if column.quantity == Quantity::Id
                && let Some(first) = ids.insert(row.id, line)
            {
                return Err(problem(Reason::TwiceUsed { id: row.id, first }));
            }
        }
        grains.push(row);
    }
    Ok(grains)
}

/// The columns that the first line names.
fn read_header(line: usize, text: &str, separator: Separator) -> Result<Vec<Column>, Problem> {
    let whole = |reason| Problem { line, column: None, reason };
    let cells = separator.split(text).ok_or_else(|| whole(Reason::Quotes))?;
    let cells = with_units(cells);
    if let Some(number) = cells.iter().find(|c| c.parse::<f64>().is_ok()) {
        let found = format!(", but it has the number `{}` (a line that begins with `#` does not count)", shown(number));
        return Err(whole(Reason::NoHeader { found }));
    }

    let mut columns: Vec<Column> = Vec::with_capacity(cells.len());
    for (i, cell) in cells.iter().enumerate() {
        let problem = |reason| Problem { line, column: Some(i + 1), reason };
        let (name, written_unit) = match cell.split_once('[') {
            Some((name, rest)) => (name.trim(), Some(rest.trim_end_matches(']').trim())),
            None => (cell.trim(), None),
        };
        let lower = name.to_lowercase();
        let Some(&(_, quantity)) = NAMES.iter().find(|n| n.0 == lower) else {
            if is_result(&lower) && columns.iter().any(|c| c.quantity == Quantity::Id) {
                columns.push(Column { quantity: Quantity::Result, unit: Unit::SI });
                continue;
            }
            let hint = nearest(&lower).map(|n| format!(" (did you mean `{n}`?)")).unwrap_or_default();
            return Err(problem(Reason::UnknownColumn { name: shown(name), hint }));
        };
        let unit = match (written_unit, quantity.measure()) {
            (None, _) => Unit::SI,
            (Some(written), Some(measure)) => Unit::read(written, &measure).map_err(|fault| {
                let holds = format!("`{}` is {}", shown(name), measure.describe());
                problem(Reason::WrongUnit { unit: shown(written), fault, holds })
            })?,
            (Some(_), None) => return Err(problem(Reason::NeedlessUnit { name: shown(name) })),
        };
        let size = |q| matches!(q, Quantity::Radius | Quantity::Diameter);
        if columns.iter().any(|c| c.quantity == quantity || (size(c.quantity) && size(quantity))) {
            return Err(problem(Reason::TwiceNamed { name: shown(name) }));
        }
        columns.push(Column { quantity, unit });
    }

    let has = |q| columns.iter().any(|c| c.quantity == q);
    for (present, what) in [
        (has(Quantity::Position(0)), "`x`"),
        (has(Quantity::Position(1)), "`y`"),
        (has(Quantity::Radius) || has(Quantity::Diameter), "`radius` or `diameter`"),
    ] {
        if !present {
            return Err(whole(Reason::Missing(what)));
        }
    }
    Ok(columns)
}

/// Joins units that white space has split from their names.
fn with_units(cells: Vec<Cow<'_, str>>) -> Vec<String> {
    let mut joined: Vec<String> = Vec::with_capacity(cells.len());
    for cell in cells {
        match joined.last_mut() {
            Some(last) if cell.starts_with('[') || (last.contains('[') && !last.contains(']')) => {
                last.push(' ');
                last.push_str(&cell);
            }
            _ => joined.push(cell.into_owned()),
        }
    }
    joined
}

/// The known name that an unknown one may have been meant for.
fn nearest(name: &str) -> Option<&'static str> {
    esker::expression::closest(name, NAMES.iter().map(|n| n.0))
}

/// A piece of the file, fit for a message.
fn shown(text: &str) -> String {
    text.chars().take(60).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[derive(Clone, Copy)]
enum Separator {
    Comma,
    Space,
}

impl Separator {
    /// The cells of a line without surrounding space; `None` if quotation marks do not pair up.
    fn split(self, line: &str) -> Option<Vec<Cow<'_, str>>> {
        match self {
            Separator::Space => Some(line.split_whitespace().map(Cow::Borrowed).collect()),
            Separator::Comma => split_commas(line),
        }
    }
}

/// Cells between commas; one in double quotes may hold commas, and quotation marks written twice.
fn split_commas(line: &str) -> Option<Vec<Cow<'_, str>>> {
    let mut cells = Vec::new();
    let mut rest = line;
    loop {
        let trimmed = rest.trim_start();
        let after = if let Some(mut inner) = trimmed.strip_prefix('"') {
            let mut cell = String::new();
            loop {
                let (piece, after) = inner.split_once('"')?;
                cell += piece;
                match after.strip_prefix('"') {
                    Some(more) => {
                        cell.push('"');
                        inner = more;
                    }
                    None => {
                        inner = after.trim_start();
                        break;
                    }
                }
            }
            cells.push(Cow::Owned(cell));
            inner
        } else {
            let end = trimmed.find(',').unwrap_or(trimmed.len());
            let cell = trimmed[..end].trim_end();
            if cell.contains('"') {
                return None;
            }
            cells.push(Cow::Borrowed(cell));
            &trimmed[end..]
        };
        if after.is_empty() {
            return Some(cells);
        }
        rest = after.strip_prefix(',')?;
    }
}

/// One grain.
#[derive(Default)]
struct Row {
    position: [f64; 3],
    radius: f64,
    velocity: [f64; 3],
    angular_velocity: [f64; 3],
    material: String,
    id: u64,
}

impl Row {
    /// Puts a cell in its place; on error says what the cell should be.
    fn set(&mut self, column: &Column, cell: &str) -> Result<(), &'static str> {
        let finite = || {
            let number = cell.parse::<f64>().ok().map(|x| x * column.unit.times / column.unit.over);
            number.filter(|x| x.is_finite()).ok_or("finite number")
        };
        let positive = || finite().ok().filter(|x| *x > 0.0).ok_or("positive number");
        match column.quantity {
            Quantity::Position(k) => self.position[k] = finite()?,
            Quantity::Radius => self.radius = positive()?,
            Quantity::Diameter => self.radius = 0.5 * positive()?,
            Quantity::Velocity(k) => self.velocity[k] = finite()?,
            Quantity::AngularVelocity(k) => self.angular_velocity[k] = finite()?,
            Quantity::Material if cell.is_empty() => return Err("name of a material"),
            Quantity::Material => cell.clone_into(&mut self.material),
            Quantity::Id => self.id = whole_number(cell).ok_or("whole number from 0 on")?,
            Quantity::Result => {}
        }
        Ok(())
    }
}

/// A whole number, also as array programs print them (`1.200e+01`), as far as an `f64` is exact.
fn whole_number(cell: &str) -> Option<u64> {
    let printed = || cell.parse::<f64>().ok().filter(|x| (0.0..=9e15).contains(x) && x.fract() == 0.0);
    cell.parse().ok().or_else(|| printed().map(|x| x as u64))
}

impl Grains {
    /// No grains yet, with the columns that the table has.
    fn new(columns: &[Column]) -> Self {
        let any = |wanted: fn(Quantity) -> bool| columns.iter().any(|c| wanted(c.quantity));
        Grains {
            velocity: any(|q| matches!(q, Quantity::Velocity(_))).then(Vec::new),
            angular_velocity: any(|q| matches!(q, Quantity::AngularVelocity(_))).then(Vec::new),
            material: any(|q| q == Quantity::Material).then(Vec::new),
            id: any(|q| q == Quantity::Id).then(Vec::new),
            ..Grains::default()
        }
    }

    fn push(&mut self, row: Row) {
        self.position.push(row.position);
        self.radius.push(row.radius);
        self.velocity.iter_mut().for_each(|v| v.push(row.velocity));
        self.angular_velocity.iter_mut().for_each(|v| v.push(row.angular_velocity));
        self.id.iter_mut().for_each(|v| v.push(row.id));
        if let Some(material) = &mut self.material {
            material.push(row.material);
        }
    }

    /// What can be wrong before anything is written.
    fn check(&self) -> Result<(), TableError> {
        let expected = self.position.len();
        for (column, found) in [
            ("radius", Some(self.radius.len())),
            ("velocity", self.velocity.as_ref().map(Vec::len)),
            ("angular velocity", self.angular_velocity.as_ref().map(Vec::len)),
            ("material", self.material.as_ref().map(Vec::len)),
            ("id", self.id.as_ref().map(Vec::len)),
        ] {
            if let Some(found) = found.filter(|&n| n != expected) {
                return Err(TableError::Length { column, found, expected });
            }
        }
        let unfit = |name: &&String| name.is_empty() || name.contains(char::is_control);
        match self.material.iter().flatten().find(unfit) {
            Some(name) => Err(TableError::Material { name: shown(name) }),
            None => Ok(()),
        }
    }

    /// Writes the table as a whole or not at all, in SI units, with digits that read back to the same numbers.
    pub fn write(&self, path: &Path) -> Result<(), TableError> {
        self.check()?;
        Ok(atomic::write(path, |out| self.print(out))?)
    }

    /// The lines of the file.
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "x [m],y [m],z [m],radius [m]")?;
        for (present, names) in [
            (self.velocity.is_some(), ",vx [m/s],vy [m/s],vz [m/s]"),
            (self.angular_velocity.is_some(), ",wx [rad/s],wy [rad/s],wz [rad/s]"),
            (self.material.is_some(), ",material"),
            (self.id.is_some(), ",id"),
        ] {
            if present {
                write!(out, "{names}")?;
            }
        }
        writeln!(out)?;
        for i in 0..self.position.len() {
            let [x, y, z] = self.position[i];
            write!(out, "{x:?},{y:?},{z:?},{:?}", self.radius[i])?;
            for [x, y, z] in [&self.velocity, &self.angular_velocity].into_iter().flatten().map(|v| v[i]) {
                write!(out, ",{x:?},{y:?},{z:?}")?;
            }
            if let Some(material) = &self.material {
                write!(out, ",{}", quoted(&material[i]))?;
            }
            if let Some(id) = &self.id {
                write!(out, ",{}", id[i])?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}
