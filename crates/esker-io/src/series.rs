//! `series.csv`: one line of numbers per sample, safe against being killed.
//!
//! Every row goes to the operating system in one piece as soon as it is given, so a killed process leaves whole rows
//! and at most one torn last line; [`Series::resume`] drops that line and all rows after the checkpoint. Numbers are
//! written with the fewest digits that read back to the same `f64`. Killing a writing process is tested in
//! `tests/killed.rs`.

use crate::atomic::{self, Attempt, FileError};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Why the series could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum SeriesError {
    /// The operating system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// A row has too few or too many numbers.
    #[error("a row for `{}` has {found} numbers, but there are {expected} columns besides `step`", path.display())]
    Width {
        /// The file.
        path: PathBuf,
        /// Numbers in the row.
        found: usize,
        /// Columns of the file, not counting `step`.
        expected: usize,
    },
    /// A row is older than the one before it.
    #[error("a row for `{}` has step {step}, but step {last} is already written", path.display())]
    Backwards {
        /// The file.
        path: PathBuf,
        /// Step of the row.
        step: u64,
        /// Step of the last row.
        last: u64,
    },
    /// A column name is empty, has a line break, or stands twice.
    #[error("`{name}` cannot name a column of `{}`: {reason}", path.display())]
    Column {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The existing file has other columns than the run that wants to continue it.
    #[error(
        "`{}` has other columns than this run\n  in the file: {found}\n  in this run: {expected}\n  continue with the scene that wrote it, or start a new run",
        path.display()
    )]
    Columns {
        /// The file.
        path: PathBuf,
        /// Header in the file.
        found: String,
        /// Header of this run.
        expected: String,
    },
    /// A row that should be kept cannot be read.
    #[error("`{}`, line {line}: `{text}` is not a row of {expected} numbers\n  mend or remove this line, or start a new run", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// Its beginning.
        text: String,
        /// Numbers that a row should have, `step` included.
        expected: usize,
    },
}

/// What [`Series::resume`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resumed {
    /// Rows kept.
    pub kept: usize,
    /// Rows dropped because they are later than the step to continue from.
    pub dropped: usize,
    /// Whether the file ended in a torn line, which is dropped too.
    pub torn: bool,
}

/// A table that grows row by row.
#[derive(Debug)]
pub struct Series {
    path: PathBuf,
    file: File,
    width: usize,
    last: Option<u64>,
    /// Length of the file up to the end of the last whole row \[B\].
    whole: u64,
    /// Whether a failed write may have left a torn row behind `whole`.
    torn: bool,
    row: String,
}

impl Series {
    /// Starts a new file; an existing one is never overwritten. The first column, `step`, is not in `columns`.
    /// Write units into the names: `kinetic [J]`.
    pub fn create<S: AsRef<str>>(path: &Path, columns: &[S]) -> Result<Self, SeriesError> {
        let header = header(path, columns)?;
        let file = OpenOptions::new().append(true).create_new(true).open(path);
        let file = file.map_err(FileError::at(path, Attempt::Create))?;
        let mut series = Series::new(path, file, columns.len(), None, 0);
        series.append(&header)?;
        Ok(series)
    }

    /// Continues a file after `keep_until_step`: drops a torn last line and all later rows, then appends.
    /// A missing file, or one torn within its header, starts anew.
    ///
    /// A program that wants no gap writes the row of a step before the checkpoint of that step.
    pub fn resume<S: AsRef<str>>(
        path: &Path,
        columns: &[S],
        keep_until_step: u64,
    ) -> Result<(Self, Resumed), SeriesError> {
        let header = header(path, columns)?;
        let bytes = match atomic::read(path) {
            Err(e) if e.reason.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            other => other?,
        };
        let (rows, mut resumed) = match bytes.iter().position(|&b| b == b'\n') {
            Some(end) if bytes[..=end] == *header.as_bytes() => {
                (&bytes[end + 1..], Resumed { kept: 0, dropped: 0, torn: false })
            }
            None if header.as_bytes().starts_with(&bytes) => {
                (&bytes[..0], Resumed { kept: 0, dropped: 0, torn: !bytes.is_empty() })
            }
            _ => {
                let found = bytes.split(|&b| b == b'\n').next().unwrap_or_default();
                let (found, expected) = (abridged(found), header.trim_end().to_owned());
                return Err(SeriesError::Columns { path: path.to_owned(), found, expected });
            }
        };

        // Steps never fall, so what follows the first late row is late too and may be as broken as it likes.
        let mut kept = 0;
        let mut last = None;
        for line in rows.split_inclusive(|&b| b == b'\n') {
            if line.last() != Some(&b'\n') {
                resumed.torn = true;
                continue;
            }
            if resumed.dropped > 0 {
                resumed.dropped += 1;
                continue;
            }
            match parse_row(&line[..line.len() - 1], columns.len()) {
                Some(step) if step <= keep_until_step => {
                    kept += line.len();
                    resumed.kept += 1;
                    last = Some(step);
                }
                Some(_) => resumed.dropped += 1,
                None => {
                    let (path, text) = (path.to_owned(), abridged(&line[..line.len() - 1]));
                    let (line, expected) = (resumed.kept + 2, columns.len() + 1);
                    return Err(SeriesError::Damaged { path, line, text, expected });
                }
            }
        }

        atomic::write(path, |out| {
            out.write_all(header.as_bytes())?;
            out.write_all(&rows[..kept])
        })?;
        let file = OpenOptions::new().append(true).open(path).map_err(FileError::at(path, Attempt::Write))?;
        let whole = (header.len() + kept) as u64;
        Ok((Series::new(path, file, columns.len(), last, whole), resumed))
    }

    fn new(path: &Path, file: File, width: usize, last: Option<u64>, whole: u64) -> Self {
        Series { path: path.to_owned(), file, width, last, whole, torn: false, row: String::new() }
    }

    /// Appends one row. Steps must not fall. After an error the file still ends with a whole row once the disk
    /// allows it, and the row may be given again.
    pub fn row(&mut self, step: u64, values: &[f64]) -> Result<(), SeriesError> {
        if values.len() != self.width {
            return Err(SeriesError::Width { path: self.path.clone(), found: values.len(), expected: self.width });
        }
        if let Some(last) = self.last.filter(|&last| step < last) {
            return Err(SeriesError::Backwards { path: self.path.clone(), step, last });
        }
        let mut row = std::mem::take(&mut self.row);
        row.clear();
        let _ = write!(row, "{step}");
        for value in values {
            let _ = write!(row, ",{value:?}");
        }
        row.push('\n');
        let outcome = self.append(&row);
        self.row = row;
        outcome?;
        self.last = Some(step);
        Ok(())
    }

    /// Hands the text to the operating system in one piece; a part that got through before an error is cut off.
    fn append(&mut self, text: &str) -> Result<(), FileError> {
        let failed = FileError::at(&self.path, Attempt::Write);
        if self.torn
            && let Err(e) = self.file.set_len(self.whole)
        {
            return Err(failed(e));
        }
        self.torn = false;
        match self.file.write_all(text.as_bytes()) {
            Ok(()) => {
                self.whole += text.len() as u64;
                Ok(())
            }
            Err(e) => {
                self.torn = self.file.set_len(self.whole).is_err();
                Err(failed(e))
            }
        }
    }

    /// Forces the rows to disk, so that they outlive a power cut; meant to go with each checkpoint.
    pub fn sync(&mut self) -> Result<(), SeriesError> {
        Ok(self.file.sync_data().map_err(FileError::at(&self.path, Attempt::Write))?)
    }
}

/// A series as it was written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers {
    /// Names of the columns, `step` first.
    pub columns: Vec<String>,
    /// One row after another.
    pub rows: Vec<Vec<f64>>,
}

impl Numbers {
    /// Reads the text of a series. A torn last line, as a run that goes on may have, is passed over.
    pub fn parse(path: &Path, text: &str) -> Result<Self, SeriesError> {
        let mut lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        let columns = lines.next().map(cells).unwrap_or_default();
        let mut rows = Vec::new();
        for (n, line) in lines.enumerate() {
            let row: Option<Vec<f64>> = line.split(',').map(|cell| cell.parse().ok()).collect();
            match row.filter(|row| row.len() == columns.len()) {
                Some(row) => rows.push(row),
                None => {
                    let (path, text) = (path.to_owned(), abridged(line.as_bytes()));
                    return Err(SeriesError::Damaged { path, line: n + 2, text, expected: columns.len() });
                }
            }
        }
        Ok(Self { columns, rows })
    }

    /// The numbers of a column.
    pub fn column(&self, name: &str) -> Option<Vec<f64>> {
        let k = self.columns.iter().position(|c| c == name)?;
        Some(self.rows.iter().map(|row| row[k]).collect())
    }
}

/// Why a name is that of no column.
#[derive(Debug, thiserror::Error)]
pub enum ColumnError {
    /// No column has this name.
    #[error("there is no column `{name}`{}\n  columns: {known}", suggestion(near))]
    Unknown {
        /// What was asked for.
        name: String,
        /// The nearest one, if any is near.
        near: Option<String>,
        /// All columns.
        known: String,
    },
    /// Several columns fit.
    #[error("`{name}` may be any of: {fitting}\n  give the whole name")]
    Several {
        /// What was asked for.
        name: String,
        /// Columns that fit.
        fitting: String,
    },
}

fn suggestion(near: &Option<String>) -> String {
    near.as_ref().map_or(String::new(), |near| format!(" (did you mean `{near}`?)"))
}

/// A name without its unit.
pub fn bare(name: &str) -> &str {
    name.split(" [").next().unwrap_or(name)
}

/// The column of a name: the whole of it, or what stands before the unit, or a beginning that only one column has.
pub fn find<'a>(columns: &'a [String], name: &str) -> Result<&'a str, ColumnError> {
    let exact = columns.iter().find(|c| *c == name).or_else(|| columns.iter().find(|c| bare(c) == name));
    if let Some(column) = exact {
        return Ok(column);
    }
    let fitting: Vec<&String> = columns.iter().filter(|c| !name.is_empty() && c.starts_with(name)).collect();
    match fitting.as_slice() {
        [one] => Ok(one),
        [] => {
            let near = esker::expression::closest(bare(name), columns.iter().map(|c| bare(c))).map(str::to_owned);
            Err(ColumnError::Unknown { name: name.to_owned(), near, known: columns.join(", ") })
        }
        several => {
            let fitting = several.iter().map(|c| format!("`{c}`")).collect::<Vec<_>>().join(", ");
            Err(ColumnError::Several { name: name.to_owned(), fitting })
        }
    }
}

/// The cells of a line of a CSV file, quotes taken off.
pub fn cells(line: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut cell = String::new();
    let mut inside = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if inside && letters.next_if_eq(&'"').is_some() => cell.push('"'),
            '"' => inside = !inside,
            ',' if !inside => all.push(std::mem::take(&mut cell)),
            other => cell.push(other),
        }
    }
    all.push(cell);
    all
}

/// The first line, `step` in front.
fn header<S: AsRef<str>>(path: &Path, columns: &[S]) -> Result<String, SeriesError> {
    let mut text = String::from("step");
    for (i, name) in columns.iter().map(AsRef::as_ref).enumerate() {
        let wrong = |reason| SeriesError::Column { path: path.to_owned(), name: name.to_owned(), reason };
        if name.trim().is_empty() {
            return Err(wrong("it is empty"));
        }
        if name.contains(['\n', '\r']) {
            return Err(wrong("it has a line break"));
        }
        if name == "step" || columns[..i].iter().any(|c| c.as_ref() == name) {
            return Err(wrong("it stands twice"));
        }
        text.push(',');
        text += &quoted(name);
    }
    text.push('\n');
    Ok(text)
}

/// A cell of a CSV file, in quotes where it needs them.
pub(crate) fn quoted(cell: &str) -> Cow<'_, str> {
    if cell.contains([',', '"', '#']) || cell.trim() != cell {
        Cow::Owned(format!("\"{}\"", cell.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(cell)
    }
}

/// The step of a row, if the row is one integer and `width` numbers.
fn parse_row(line: &[u8], width: usize) -> Option<u64> {
    let mut cells = std::str::from_utf8(line).ok()?.split(',');
    let step = cells.next()?.parse().ok()?;
    let mut numbers = 0;
    for cell in cells {
        cell.parse::<f64>().ok()?;
        numbers += 1;
    }
    (numbers == width).then_some(step)
}

/// The beginning of a line, fit for a message.
fn abridged(line: &[u8]) -> String {
    let text: String =
        String::from_utf8_lossy(line).chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;

    const COLUMNS: [&str; 2] = ["time [s]", "kinetic [J]"];

    fn place() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("series.csv");
        (dir, path)
    }

    #[test]
    fn rows_are_in_the_file_as_soon_as_they_are_given() {
        let (_dir, path) = place();
        let mut series = Series::create(&path, &COLUMNS).unwrap();
        series.row(0, &[0.0, -0.0]).unwrap();
        series.row(10, &[0.1, 1e-7]).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "step,time [s],kinetic [J]\n0,0.0,-0.0\n10,0.1,1e-7\n");
    }

    #[test]
    fn a_series_reads_back_with_its_names_and_without_a_torn_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.csv");
        let names = ["time [s]", "work of \"a, b\" [J]", "x#"];
        let mut series = Series::create(&path, &names).unwrap();
        series.row(3, &[0.1, -1e-300, f64::INFINITY]).unwrap();
        series.row(4, &[0.2, 5.0, f64::NAN]).unwrap();
        let mut text = fs::read_to_string(&path).unwrap();
        text += "5,0.3,";
        let read = Numbers::parse(&path, &text).unwrap();
        assert_eq!(read.columns, ["step", names[0], names[1], names[2]]);
        assert_eq!(read.column(names[1]).unwrap(), [-1e-300, 5.0]);
        assert_eq!((read.rows.len(), read.rows[0][3]), (2, f64::INFINITY));
        let error = Numbers::parse(&path, "step,a\n1,2\n1,two\n").unwrap_err().to_string();
        assert!(error.contains("line 3") && error.contains("two"), "{error}");
    }

    #[test]
    fn an_existing_series_is_never_overwritten() {
        let (_dir, path) = place();
        fs::write(&path, "precious").unwrap();
        assert!(matches!(Series::create(&path, &COLUMNS), Err(SeriesError::File(_))));
        assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    }

    #[test]
    fn rows_of_wrong_width_or_falling_step_are_refused() {
        let (_dir, path) = place();
        let mut series = Series::create(&path, &COLUMNS).unwrap();
        series.row(5, &[0.0, 0.0]).unwrap();
        assert!(matches!(series.row(6, &[0.0]), Err(SeriesError::Width { found: 1, expected: 2, .. })));
        assert!(matches!(series.row(4, &[0.0, 0.0]), Err(SeriesError::Backwards { step: 4, last: 5, .. })));
        for bad in ["", "a\nb", "step"] {
            assert!(matches!(Series::create(&path, &[bad]), Err(SeriesError::Column { .. })), "{bad}");
        }
    }

    #[test]
    fn resuming_drops_the_torn_line_and_the_rows_after_the_checkpoint() {
        let (_dir, path) = place();
        let text = "step,time [s],kinetic [J]\n0,0.0,1.0\n10,0.1,NaN\n20,0.2,3.0\n30,0.3,";
        fs::write(&path, text).unwrap();
        let (mut series, resumed) = Series::resume(&path, &COLUMNS, 10).unwrap();
        assert_eq!(resumed, Resumed { kept: 2, dropped: 1, torn: true });
        series.row(11, &[0.11, f64::INFINITY]).unwrap();
        let expected = "step,time [s],kinetic [J]\n0,0.0,1.0\n10,0.1,NaN\n11,0.11,inf\n";
        assert_eq!(fs::read_to_string(&path).unwrap(), expected);
    }

    #[test]
    fn a_last_line_without_its_end_is_torn_even_if_it_looks_whole() {
        let (_dir, path) = place();
        fs::write(&path, "step,time [s],kinetic [J]\n0,0.0,1.0\n10,0.1,1.2").unwrap(); // was 1.25
        let (_, resumed) = Series::resume(&path, &COLUMNS, 10).unwrap();
        assert_eq!(resumed, Resumed { kept: 1, dropped: 0, torn: true });
    }

    #[test]
    fn a_missing_file_or_a_torn_header_starts_anew_and_other_columns_are_an_error() {
        for text in [None, Some(""), Some("step,ti")] {
            let (_dir, path) = place();
            if let Some(text) = text {
                fs::write(&path, text).unwrap();
            }
            Series::resume(&path, &COLUMNS, 0).unwrap().0.row(0, &[1.0, 2.0]).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), "step,time [s],kinetic [J]\n0,1.0,2.0\n");
        }
        let (_dir, path) = place();
        for text in ["step,time [s]\n0,1.0\n", "something else", "\u{0}\u{0}\n"] {
            fs::write(&path, text).unwrap();
            assert!(matches!(Series::resume(&path, &COLUMNS, 0), Err(SeriesError::Columns { .. })));
            assert_eq!(fs::read_to_string(&path).unwrap(), text, "an error changes nothing");
        }
    }

    #[test]
    fn damage_before_the_checkpoint_is_an_error_and_after_it_does_not_matter() {
        let (_dir, path) = place();
        let damaged = "step,time [s],kinetic [J]\n0,0.0,1.0\n10,0.1\n20,0.2,3.0\n\0\0\0\n";
        fs::write(&path, damaged).unwrap();
        match Series::resume(&path, &COLUMNS, 20) {
            Err(SeriesError::Damaged { line: 3, text, expected: 3, .. }) => assert_eq!(text, "10,0.1"),
            other => panic!("{other:?}"),
        }
        fs::write(&path, damaged.replace("10,0.1\n", "10,0.1,2.0\n")).unwrap();
        assert_eq!(Series::resume(&path, &COLUMNS, 10).unwrap().1, Resumed { kept: 2, dropped: 2, torn: false });
    }

    proptest! {
        #[test]
        fn any_number_reads_back_to_the_same_bits(bits: Vec<u64>) {
            let (_dir, path) = place();
            let mut series = Series::create(&path, &["v"]).unwrap();
            for (i, b) in bits.iter().enumerate() {
                series.row(i as u64, &[f64::from_bits(*b)]).unwrap();
            }
            let text = fs::read_to_string(&path).unwrap();
            for (line, b) in text.lines().skip(1).zip(&bits) {
                let value: f64 = line.split_once(',').unwrap().1.parse().unwrap();
                let expected = f64::from_bits(*b);
                prop_assert!(value.to_bits() == *b || (value.is_nan() && expected.is_nan()));
            }
            prop_assert_eq!(text.lines().count(), bits.len() + 1);
        }

        #[test]
        fn a_series_cut_anywhere_resumes_with_a_prefix_of_its_rows(cut in 0usize..400, keep in 0u64..30) {
            let (_dir, path) = place();
            let mut series = Series::create(&path, &COLUMNS).unwrap();
            for step in 0..20 {
                series.row(step, &[step as f64 / 3.0, 1.0]).unwrap();
            }
            let full = fs::read_to_string(&path).unwrap();
            let part = &full[..cut.min(full.len())];
            fs::write(&path, part).unwrap();
            Series::resume(&path, &COLUMNS, keep).unwrap();
            let whole_rows = part.matches('\n').count().saturating_sub(1).min(keep as usize + 1);
            let expected: String = full.split_inclusive('\n').take(1 + whole_rows).collect();
            prop_assert_eq!(fs::read_to_string(&path).unwrap(), expected);
        }
    }
}
