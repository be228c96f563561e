//! What is read from a run: `--result NAME=EXPR`, arithmetic over columns of its series and over the varied parameters.
//!
//! `last(col)`, `mean(col)` and so on are no functions of [`esker::expression`], whose arguments are numbers. Each such call
//! is replaced by a name before the rest is parsed, and the name has the value of the call when the rest is evaluated.
//! `min` and `max` of several arguments are those of the arithmetic.

use super::SweepError;
use crate::series::{self, Numbers};
use esker::expression::{Expression, Quantity, is_variable_name};

/// Column of the time.
const TIME: &str = "time [s]";

/// What a call makes of the rows of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Statistic {
    Last,
    First,
    Mean,
    Min,
    Max,
    /// Change from the first row to the last over the time between them.
    Rate,
    /// Root of the mean squared distance from the mean.
    Std,
}

const STATISTICS: [(&str, Statistic); 7] = [
    ("last", Statistic::Last),
    ("first", Statistic::First),
    ("mean", Statistic::Mean),
    ("min", Statistic::Min),
    ("max", Statistic::Max),
    ("rate", Statistic::Rate),
    ("std", Statistic::Std),
];

impl Statistic {
    /// Of rows (time \[s\], value), at least one.
    fn of(self, rows: &[(f64, f64)]) -> f64 {
        let (first, last) = (rows[0], rows[rows.len() - 1]);
        let values = || rows.iter().map(|row| row.1);
        let mean = || values().sum::<f64>() / rows.len() as f64;
        match self {
            Statistic::Last => last.1,
            Statistic::First => first.1,
            Statistic::Mean => mean(),
            Statistic::Min => values().fold(f64::INFINITY, f64::min),
            Statistic::Max => values().fold(f64::NEG_INFINITY, f64::max),
            Statistic::Rate => (last.1 - first.1) / (last.0 - first.0),
            Statistic::Std => {
                let mean = mean();
                (values().map(|x| (x - mean).powi(2)).sum::<f64>() / rows.len() as f64).sqrt()
            }
        }
    }
}

/// Rows that are used: those within some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// First time \[s\].
    pub from: f64,
    /// Last time \[s\].
    pub to: f64,
}

impl Default for Window {
    fn default() -> Self {
        Self { from: f64::NEG_INFINITY, to: f64::INFINITY }
    }
}

/// A statistic of a column, as it was written.
#[derive(Clone, Debug, PartialEq)]
struct Call {
    statistic: Statistic,
    column: String,
}

/// A quantity read from a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// Its name.
    pub name: String,
    /// Its expression as it was written.
    pub text: String,
    expression: Expression,
    calls: Vec<Call>,
}

impl Measure {
    /// Reads `NAME=EXPR`.
    pub fn parse(given: &str) -> Result<Measure, SweepError> {
        let wrong = |message: &str| SweepError::Result { given: given.to_owned(), message: message.to_owned() };
        let Some((name, text)) = given.split_once('=') else {
            return Err(wrong("a result is written NAME=EXPR, as top=max(\"potential\")"));
        };
        if !is_variable_name(name.trim()) || name.trim().starts_with('_') {
            return Err(wrong(&format!("`{}` is no name: letters, digits and _, a letter first", name.trim())));
        }
        Self::new(name.trim(), text)
    }

    /// Reads an expression.
    pub fn new(name: &str, text: &str) -> Result<Measure, SweepError> {
        let text = text.trim();
        let wrong = |message: String| SweepError::Result { given: format!("{name}={text}"), message };
        let (replaced, calls) = take_calls(text).map_err(wrong)?;
        let expression = Expression::parse(&replaced).map_err(|e| wrong(explained(&e)))?;
        Ok(Measure { name: name.to_owned(), text: text.to_owned(), expression, calls })
    }

    /// Finds its columns among those of the series and its other names among `known`.
    pub fn check(&mut self, columns: &[String], known: &[String]) -> Result<(), SweepError> {
        let given = format!("{}={}", self.name, self.text);
        let wrong = |message: String| SweepError::Result { given: given.clone(), message };
        if !self.calls.is_empty() && columns.is_empty() {
            return Err(wrong("the scene writes no series; say how often: --set output.series=\"10 ms\"".to_owned()));
        }
        for call in &mut self.calls {
            call.column = series::find(columns, &call.column).map_err(|e| wrong(e.to_string()))?.to_owned();
        }
        for name in self.expression.names().filter(|name| call_number(name).is_none()) {
            if !known.iter().any(|k| k == name) {
                let near = esker::expression::closest(name, known.iter().map(String::as_str));
                let near = near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(wrong(format!(
                    "unknown name `{name}`{near}\n  parameters and results before: {known}\n  \
                     columns of the series are named in a function: last({name}), mean({name})"
                )));
            }
        }
        Ok(())
    }

    /// Its value for a run with these rows and these parameters; the reason where there is none.
    pub fn evaluate(
        &self,
        series: &Numbers,
        window: Window,
        variable: impl Fn(&str) -> Option<f64>,
    ) -> Result<f64, String> {
        let values = self.calls.iter().map(|call| call.value(series, window)).collect::<Result<Vec<f64>, String>>()?;
        let value = |name: &str| match call_number(name) {
            Some(k) => values.get(k).copied(),
            None => variable(name),
        };
        let result = self.expression.evaluate(|name| value(name).map(Quantity::plain), &[]);
        result.map(|q| q.value).map_err(|e| e.message)
    }
}

impl Call {
    fn value(&self, series: &Numbers, window: Window) -> Result<f64, String> {
        let missing = |name: &str| format!("the series has no column `{name}`");
        let time = series.column(TIME).ok_or_else(|| missing(TIME))?;
        let values = series.column(&self.column).ok_or_else(|| missing(&self.column))?;
        let rows: Vec<(f64, f64)> =
            time.into_iter().zip(values).filter(|(t, _)| (window.from..=window.to).contains(t)).collect();
        if rows.is_empty() {
            return Err(format!("the series has no row from {} s to {} s", window.from, window.to));
        }
        Ok(self.statistic.of(&rows))
    }
}

/// What is wrong, with what may be meant.
fn explained(e: &esker::expression::ExpressionError) -> String {
    let mut message = e.message.clone();
    if message.starts_with("unknown function") {
        message += &format!("; of a column there are {}", STATISTICS.map(|(name, _)| name).join(", "));
    }
    message
}

/// Name that stands for a call. No parameter and no result begins so.
fn call_name(k: usize) -> String {
    format!("_{k}")
}

fn call_number(name: &str) -> Option<usize> {
    name.strip_prefix('_')?.parse().ok()
}

/// The text with each call replaced by its name, and the calls.
fn take_calls(text: &str) -> Result<(String, Vec<Call>), String> {
    let (mut out, mut calls) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let letter = |c: char| c.is_alphanumeric() || c == '_';
        if !letter(c) {
            if matches!(c, '"' | '\'') {
                return Err("a name in quotes is that of a column and stands in a function: last(\"…\")".to_owned());
            }
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let (word, after) = rest.split_at(rest.find(|c| !letter(c)).unwrap_or(rest.len()));
        if call_number(word).is_some() {
            return Err(format!("`{word}` is no name"));
        }
        let statistic = STATISTICS.iter().find(|(name, _)| *name == word);
        let argument = after.trim_start().strip_prefix('(');
        if let (Some((_, statistic)), Some(inside)) = (statistic, argument)
            && let Some((column, behind)) = single_argument(inside)?
        {
            if column.is_empty() {
                return Err(format!("`{word}()` names no column"));
            }
            out += &call_name(calls.len());
            calls.push(Call { statistic: *statistic, column: column.to_owned() });
            rest = behind;
        } else {
            out += word;
            rest = after;
        }
    }
    Ok((out, calls))
}

/// The one argument of a call, quotes taken off, and what is behind its `)`; `None` if there are several.
fn single_argument(inside: &str) -> Result<Option<(&str, &str)>, String> {
    let (mut depth, mut quote) = (0, None);
    for (at, c) in inside.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ',') if depth == 0 => return Ok(None),
            (None, ')') if depth == 0 => {
                let argument = inside[..at].trim();
                let bare = |mark| argument.strip_prefix(mark).and_then(|a| a.strip_suffix(mark));
                return Ok(Some((bare('"').or_else(|| bare('\'')).unwrap_or(argument), &inside[at + 1..])));
            }
            (None, ')') => depth -= 1,
            _ => {}
        }
    }
    Err("a `(` or a quote is never closed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series() -> Numbers {
        let columns = ["step", TIME, "potential [J]", "work of a (left), top [J]", "work of b [J]"];
        let rows = [[0.0, 0.0, 4.0, 1.0, 0.0], [1.0, 0.5, 2.0, 2.0, 3.0], [2.0, 1.0, 6.0, 3.0, 9.0]];
        Numbers { columns: columns.map(String::from).to_vec(), rows: rows.map(|row| row.to_vec()).to_vec() }
    }

    fn value(text: &str, window: Window) -> Result<f64, String> {
        let mut measure = Measure::new("r", text).unwrap();
        measure.check(&series().columns, &["f".to_owned()]).unwrap();
        measure.evaluate(&series(), window, |name| (name == "f").then_some(10.0))
    }

    #[track_caller]
    fn refused(text: &str, parts: &[&str]) {
        let known = ["frequency".to_owned()];
        let error = Measure::parse(text).and_then(|mut m| m.check(&series().columns, &known)).unwrap_err();
        for part in parts {
            assert!(error.to_string().contains(part), "`{part}` is missing in\n{error}");
        }
    }

    #[test]
    fn statistics_of_a_column_are_those_of_its_rows() {
        let all = Window::default();
        for (text, expected) in [
            ("last(potential)", 6.0),
            ("first(potential [J])", 4.0),
            ("mean(\"potential [J]\")", 4.0),
            ("min( pot )", 2.0),
            ("max('potential')", 6.0),
            ("rate(work of b)", 9.0),
            ("std(potential)", (8.0f64 / 3.0).sqrt()),
            ("last(\"work of a (left), top\") + f", 13.0),
            ("max(last(potential), 2*f) / min(f, 4)", 5.0),
            ("2*mean(potential)^2 - last(work of b)/f", 31.1),
        ] {
            assert!((value(text, all).unwrap() - expected).abs() < 1e-14, "{text}");
        }
    }

    #[test]
    fn a_window_leaves_out_the_rows_before_and_after() {
        let late = Window { from: 0.5, ..Window::default() };
        assert_eq!(value("first(potential)", late), Ok(2.0));
        assert_eq!(value("rate(potential)", late), Ok(8.0));
        assert_eq!(value("max(potential)", Window { from: 0.0, to: 0.5 }), Ok(4.0));
        let error = value("last(potential)", Window { from: 2.0, to: 3.0 }).unwrap_err();
        assert_eq!(error, "the series has no row from 2 s to 3 s");
        let error = value("rate(potential)", Window { from: 1.0, to: 1.0 }).unwrap_err();
        assert!(error.contains("not finite"), "{error}");
    }

    #[test]
    fn a_wrong_name_is_one_error_that_lists_what_there_is() {
        refused(
            "r=last(potentail)",
            &["no column `potentail`", "did you mean `potential`?", "columns: step, time [s]"],
        );
        refused("r=last(work)", &["may be any of", "`work of b [J]`"]);
        refused("r=2*frequencie", &["unknown name `frequencie`", "did you mean `frequency`?"]);
        refused("r=median(potential)", &["unknown function `median`", "last, first, mean"]);
        refused("r=last(potential", &["never closed"]);
        refused("r=last()", &["names no column"]);
        refused("r=\"potential\"", &["stands in a function"]);
        refused("last(potential)", &["NAME=EXPR"]);
        refused("2x=last(potential)", &["`2x` is no name"]);
        refused("r=_0", &["`_0` is no name"]);
        let error = Measure::parse("r=last(x)").unwrap().check(&[], &[]).unwrap_err().to_string();
        assert!(error.contains("writes no series"), "{error}");
    }
}
