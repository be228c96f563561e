//! Curves of the series of a run.

use esker_io::atomic::{self, FileError};
use esker_io::chart::{Chart, Curve, Drawing};
use esker_io::record::SERIES_FILE;
use esker_io::series::{self, ColumnError, Numbers, SeriesError, bare};
use std::io;
use std::path::{Path, PathBuf};

/// Column of the time.
pub const TIME: &str = "time [s]";
/// What stands for the whole energy account.
pub const ENERGY: &str = "energy";

/// Why a series cannot be drawn.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// There is none.
    #[error(
        "`{}` has no `{SERIES_FILE}`\n  name the folder of a run whose scene says how often to write it: `[output]` `series = \"10 ms\"`",
        path.display()
    )]
    NoSeries {
        /// The folder.
        path: PathBuf,
    },
    /// It cannot be read.
    #[error(transparent)]
    Series(#[from] SeriesError),
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// No column has this name, or several have.
    #[error(transparent)]
    Column(#[from] ColumnError),
}

/// The series of a run.
pub fn series(folder: &Path) -> Result<Numbers, PlotError> {
    let path = folder.join(SERIES_FILE);
    match atomic::read(&path) {
        Ok(bytes) => Ok(Numbers::parse(&path, &String::from_utf8_lossy(&bytes))?),
        Err(e) if matches!(e.reason.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Err(PlotError::NoSeries { path: folder.to_owned() })
        }
        Err(e) => Err(e.into()),
    }
}

/// The column of a name, as [`series::find`] finds it.
pub fn find(numbers: &Numbers, name: &str) -> Result<String, PlotError> {
    Ok(series::find(&numbers.columns, name)?.to_owned())
}

/// One column over another.
fn curve(numbers: &Numbers, x: &str, y: &str) -> Vec<[f64; 2]> {
    let columns = numbers.column(x).zip(numbers.column(y));
    columns.map_or(Vec::new(), |(x, y)| x.into_iter().zip(y).map(|(x, y)| [x, y]).collect())
}

/// Some columns over another one.
pub fn columns(title: &str, numbers: &Numbers, x: &str, names: &[String]) -> Result<Chart, PlotError> {
    let x = find(numbers, x)?;
    let names = names.iter().map(|name| find(numbers, name)).collect::<Result<Vec<_>, _>>()?;
    let unit = |name: &str| name.strip_prefix(bare(name)).unwrap_or_default().trim().to_owned();
    let axis = match names.as_slice() {
        [one] => one.clone(),
        [first, rest @ ..] if rest.iter().all(|name| unit(name) == unit(first)) => unit(first),
        _ => String::new(),
    };
    let one = names.len() == 1;
    let curves = names
        .iter()
        .map(|name| Curve { name: if one { String::new() } else { name.clone() }, points: curve(numbers, &x, name) });
    let curves = curves.collect();
    Ok(Chart { title: title.to_owned(), axes: [x.into(), axis.into()], curves })
}

/// Columns of the account that are energy somewhere, in the order in which they are stacked.
const STACKED: [&str; 7] = [
    "kinetic translation [J]",
    "kinetic rotation [J]",
    "elastic normal [J]",
    "elastic tangential [J]",
    "dissipated damping [J]",
    "dissipated friction [J]",
    "dissipated rolling [J]",
];

/// The energy account over time: what moves, what is stored and what was lost so far, on top of each other; potential energy above
/// its least value, and what left with grains behind them; beside it what the account is off by.
pub fn energy(title: &str, numbers: &Numbers) -> Result<Drawing, PlotError> {
    let mut sum = vec![0.0; numbers.rows.len()];
    let time = numbers.column(&find(numbers, TIME)?).unwrap_or_default();
    let mut areas = Vec::new();
    let mut stack = |name: &str, values: Vec<f64>| {
        sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        let points = time.iter().zip(&sum).map(|(t, s)| [*t, *s]).collect();
        areas.push(Curve { name: bare(name).to_owned(), points });
    };
    for name in STACKED {
        let values = numbers.column(&find(numbers, name)?).unwrap_or_default();
        if values.iter().any(|&v| v != 0.0) {
            stack(name, values);
        }
    }
    let potential = numbers.column(&find(numbers, "potential [J]")?).unwrap_or_default();
    let least = potential.iter().copied().fold(f64::INFINITY, f64::min);
    if potential.iter().any(|&v| v != least) {
        stack("potential, above its least", potential.iter().map(|v| v - least).collect());
    }
    let left = numbers.column(&find(numbers, "left [J]")?).unwrap_or_default();
    if left.iter().all(|&v| v >= 0.0) && left.iter().any(|&v| v > 0.0) {
        stack("left with grains", left);
    }
    let residual = find(numbers, "residual [J]")?;
    let curves = vec![Curve { name: bare(&residual).to_owned(), points: curve(numbers, TIME, &residual) }];
    let chart = Chart { title: title.to_owned(), axes: [TIME.into(), "energy [J]".into()], curves };
    Ok(chart.over(&areas))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers() -> Numbers {
        let columns = ["step", "time [s]", "mass [kg]", "work of a [J]", "work of b [J]"].map(String::from).to_vec();
        Numbers { columns, rows: vec![vec![0.0, 0.0, 2.0, 1.0, 3.0], vec![10.0, 0.5, 1.0, 2.0, 4.0]] }
    }

    #[test]
    fn columns_are_found_by_name_without_unit_or_by_a_beginning_that_is_theirs_alone() {
        let n = numbers();
        for name in ["mass [kg]", "mass", "m"] {
            assert_eq!(find(&n, name).unwrap(), "mass [kg]");
        }
        let text = find(&n, "work").unwrap_err().to_string();
        assert!(text.contains("`work of a [J]`, `work of b [J]`"), "{text}");
        let text = find(&n, "mas [kg]").unwrap_err().to_string();
        assert!(text.contains("did you mean `mass`?") && text.contains("columns: step, time [s]"), "{text}");
    }

    #[test]
    fn a_plot_shows_the_numbers_with_their_unit() {
        let chart = columns("t", &numbers(), "time", &["work of a".into(), "work of b".into()]).unwrap();
        assert_eq!(chart.axes, ["time [s]".into(), "[J]".into()]);
        assert_eq!(chart.curves[1].points, [[0.0, 3.0], [0.5, 4.0]]);
        let chart = columns("t", &numbers(), "step", &["mass".into()]).unwrap();
        assert_eq!((chart.axes[1].label.as_str(), chart.curves[0].points[1]), ("mass [kg]", [10.0, 1.0]));
    }
}
