//! Hard collisions of a run, as its tables tell them: who met whom, how often, how fast and at what cost; their spectra as charts.

use esker_io::atomic::{self, FileError};
use esker_io::chart::{Axis, Chart, Curve};
use esker_io::record::collisions::{
    COLLISIONS_FILE, COLLISIONS_HEADER, IMPACT_ENERGY, IMPACT_SPEED, SPECTRA_FILE, SPECTRA_HEADER,
};
use esker_io::series::cells;
use std::io;
use std::path::{Path, PathBuf};

/// Why collisions cannot be read or drawn.
#[derive(Debug, thiserror::Error)]
pub enum CollisionsError {
    /// The run has no such table.
    #[error(
        "`{}` has no {file}\n  name the folder of a run that counted its collisions: one whose scene says `[solver]` `kind = \"event\"`",
        path.display()
    )]
    None {
        /// The folder.
        path: PathBuf,
        /// The table.
        file: &'static str,
    },
    /// A table is not as a run writes it.
    #[error("{}: {wrong}", path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        wrong: String,
    },
    /// No stage of this name has collisions.
    #[error("`--stage {stage}` is not in {file}; known: {known}")]
    Stage {
        /// The name.
        stage: String,
        /// The table.
        file: &'static str,
        /// The stages that are there.
        known: String,
    },
    /// Nothing of what is to be drawn was above zero.
    #[error("{nothing}\n  {remedy}")]
    Nothing {
        /// What there was not.
        nothing: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
}

/// What grains collided with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum With {
    /// Other grains.
    Grains,
    /// A wall.
    Wall,
}

/// Collisions of two groups of grains, or of grains with a wall, in a stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Name of the stage.
    pub stage: String,
    /// Grains.
    pub first: String,
    /// Grains or the wall.
    pub second: String,
    /// Which of these.
    pub with: With,
    /// Time over which they were counted \[s\].
    pub time: f64,
    /// Number.
    pub count: u64,
    /// Number in a second \[1/s\].
    pub rate: f64,
    /// Energy lost \[J\].
    pub lost: f64,
    /// Mean speed of approach \[m/s\].
    pub speed: f64,
    /// Work of the wall \[J\].
    pub work: f64,
}

impl Class {
    /// Who met whom.
    pub fn name(&self) -> String {
        format!("{} with {}", self.first, self.second)
    }

    /// Energy lost in a second \[W\].
    pub fn power(&self) -> f64 {
        if self.time > 0.0 { self.lost / self.time } else { 0.0 }
    }
}

/// What a spectrum is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// The speed of approach.
    Speed,
    /// The energy of impact.
    Energy,
}

impl Over {
    /// As the table and the axis name it.
    pub fn quantity(self) -> &'static str {
        match self {
            Over::Speed => IMPACT_SPEED,
            Over::Energy => IMPACT_ENERGY,
        }
    }
}

/// What a spectrum tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Energy lost in a second.
    Lost,
    /// Collisions in a second.
    Number,
}

/// A bin of a spectrum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Lower and upper edge; the lowest of all bins begins at 0.
    pub edges: [f64; 2],
    /// Collisions.
    pub count: u64,
    /// Energy they lost \[J\].
    pub lost: f64,
}

/// The spectrum of one class: bins that are not empty, by rising edges.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum {
    /// Whose collisions.
    pub class: Class,
    /// The bins.
    pub bins: Vec<Bin>,
}

/// The text of a table of a run.
fn text(folder: &Path, file: &'static str) -> Result<String, CollisionsError> {
    match atomic::read(&folder.join(file)) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(e) if matches!(e.reason.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Err(CollisionsError::None { path: folder.to_owned(), file })
        }
        Err(e) => Err(e.into()),
    }
}

/// The rows of a table below its first line, each with its number, or what is wrong with one.
fn rows<T>(text: &str, header: &str, row: impl Fn(&[String]) -> Result<T, String>) -> Result<Vec<T>, String> {
    let mut lines = text.lines();
    match lines.next() {
        Some(first) if first == header => {}
        other => return Err(format!("the first line is `{}`, `{header}` was expected", other.unwrap_or_default())),
    }
    let width = cells(header).len();
    let read = |(n, line): (usize, &str)| {
        let cells = cells(line);
        if cells.len() != width {
            return Err(format!("line {}: `{line}` has {} cells, {width} were expected", n + 2, cells.len()));
        }
        row(&cells).map_err(|wrong| format!("line {}: {wrong}", n + 2))
    };
    lines.enumerate().map(read).collect()
}

fn number<T: std::str::FromStr>(what: &str, cell: &str) -> Result<T, String> {
    cell.parse().map_err(|_| format!("{what} `{cell}` is no number"))
}

fn class(cells: &[String]) -> Result<Class, String> {
    let with = match cells[3].as_str() {
        "grains" => With::Grains,
        "wall" => With::Wall,
        other => return Err(format!("`{other}` is neither `grains` nor `wall`")),
    };
    Ok(Class {
        stage: cells[0].clone(),
        first: cells[1].clone(),
        second: cells[2].clone(),
        with,
        time: number("the time", &cells[4])?,
        count: number("the number of collisions", &cells[5])?,
        rate: number("the rate", &cells[6])?,
        lost: number("the loss", &cells[7])?,
        speed: number("the speed", &cells[8])?,
        work: number("the work", &cells[9])?,
    })
}

/// Collisions of a run, by stage and kind of pair.
pub fn read(folder: &Path) -> Result<Vec<Class>, CollisionsError> {
    let wrong = |wrong| CollisionsError::Table { path: folder.join(COLLISIONS_FILE), wrong };
    rows(&text(folder, COLLISIONS_FILE)?, COLLISIONS_HEADER, class).map_err(wrong)
}

/// Those of one stage: of the one named, or of the last.
pub fn of_stage(mut classes: Vec<Class>, stage: Option<&str>) -> Result<Vec<Class>, CollisionsError> {
    let mut known: Vec<String> = classes.iter().map(|class| class.stage.clone()).collect();
    known.dedup();
    let stage = stage.or(known.last().map(String::as_str)).unwrap_or_default().to_owned();
    classes.retain(|class| class.stage == stage);
    if classes.is_empty() {
        return Err(CollisionsError::Stage { stage, file: COLLISIONS_FILE, known: known.join(", ") });
    }
    Ok(classes)
}

/// Spectra of a stage of a run, the one named or the last, of each kind of pair that met.
pub fn spectra(folder: &Path, over: Over, stage: Option<&str>) -> Result<Vec<Spectrum>, CollisionsError> {
    let text = text(folder, SPECTRA_FILE)?;
    let classes = of_stage(read(folder)?, stage)?;
    let all = rows(&text, SPECTRA_HEADER, |cells| {
        let edges = [number("the edge", &cells[5])?, number("the edge", &cells[6])?];
        let bin = Bin { edges, count: number("the number", &cells[7])?, lost: number("the loss", &cells[8])? };
        Ok((cells[..5].to_vec(), bin))
    });
    let all = all.map_err(|wrong| CollisionsError::Table { path: folder.join(SPECTRA_FILE), wrong })?;
    let of = |class: Class| {
        let with = if class.with == With::Wall { "wall" } else { "grains" };
        let head = [class.stage.as_str(), &class.first, &class.second, with, over.quantity()];
        let bins = all.iter().filter(|(cells, _)| cells.iter().eq(head)).map(|(_, bin)| *bin).collect();
        Spectrum { class, bins }
    };
    Ok(classes.into_iter().map(of).filter(|spectrum| !spectrum.bins.is_empty()).collect())
}

/// Spectra as a chart with logarithmic axes: what fell into each bin over its width in doublings, in a second. So the area below a curve
/// over an axis of equal ratios is the sum, whatever the width of the bins.
pub fn chart(title: &str, spectra: &[Spectrum], over: Over, of: Of) -> Result<Chart, CollisionsError> {
    let curves: Vec<Curve> = spectra.iter().map(|s| Curve { name: s.class.name(), points: outline(s, of) }).collect();
    let curves: Vec<Curve> = curves.into_iter().filter(|curve| curve.points.iter().any(|p| p[1] > 0.0)).collect();
    if curves.is_empty() {
        let (nothing, remedy) = match spectra.is_empty() {
            true => ("nothing has met in this stage", "let the run go on, or name another stage with `--stage`"),
            false => ("no collision of this stage lost energy", "draw how many there were: `--of number`"),
        };
        return Err(CollisionsError::Nothing { nothing, remedy });
    }
    let name = match over {
        Over::Speed => "speed",
        Over::Energy => "energy",
    };
    let label = match of {
        Of::Lost => format!("power lost, for each doubling of {name} [W]"),
        Of::Number => format!("collisions in a second, for each doubling of {name} [1/s]"),
    };
    let axes = [Axis::logarithmic(over.quantity()), Axis::logarithmic(label)];
    Ok(Chart { title: title.to_owned(), axes, curves })
}

/// The tops of the bins; between bins that do not touch the curve is broken.
fn outline(spectrum: &Spectrum, of: Of) -> Vec<[f64; 2]> {
    let mut points = Vec::new();
    let mut end = f64::NAN;
    for Bin { edges: [from, to], count, lost } in &spectrum.bins {
        let sum = match of {
            Of::Lost => *lost,
            Of::Number => *count as f64,
        };
        let height = sum / (spectrum.class.time * (to / from).log2());
        if *from != end {
            points.push([f64::NAN, f64::NAN]);
        }
        points.extend([[*from, height], [*to, height]]);
        end = *to;
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> String {
        format!(
            "{COLLISIONS_HEADER}\nshake,balls,balls,grains,2,6,3,1.5,3,0\nshake,\"a, b\",vessel,wall,2,42000,2.1e4,2.5,3,7\n"
        )
    }

    #[test]
    fn a_table_of_collisions_is_read_and_a_spoilt_one_refused_with_its_line() {
        let found = rows(&table(), COLLISIONS_HEADER, class).unwrap();
        assert_eq!((found.len(), found[0].rate, found[1].first.as_str(), found[1].work), (2, 3.0, "a, b", 7.0));
        assert_eq!((found[0].with, found[1].with, found[0].power()), (With::Grains, With::Wall, 0.75));
        for (good, bad, says) in [
            ("rate [1/s]", "rate", "the first line is"),
            ("grains,2", "grain,2", "line 2: `grain` is neither"),
            ("2.1e4", "many", "line 3: the rate `many` is no number"),
            (",wall,2,42000,2.1e4,2.5,3,7", "", "line 3:"),
        ] {
            let wrong = rows(&table().replace(good, bad), COLLISIONS_HEADER, class).unwrap_err();
            assert!(wrong.contains(says), "{wrong}");
        }
    }

    /// Six collisions in 2 s: one in a bin a quarter of a doubling wide, three in a whole one beside it, two farther up.
    fn spectrum() -> Spectrum {
        let class = rows(&table(), COLLISIONS_HEADER, class).unwrap().remove(0);
        let bin = |from: f64, to: f64, count, lost| Bin { edges: [from.exp2(), to.exp2()], count, lost };
        Spectrum { class, bins: vec![bin(0.0, 0.25, 1, 0.0), bin(0.25, 1.25, 3, 0.5), bin(2.0, 2.5, 2, 1.0)] }
    }

    #[test]
    fn the_area_below_a_spectrum_is_the_sum_in_a_second_whatever_the_bins() {
        for (of, sum) in [(Of::Number, 3.0), (Of::Lost, 0.75)] {
            let chart = chart("", &[spectrum()], Over::Speed, of).unwrap();
            let points = &chart.curves[0].points;
            let area: f64 =
                points.windows(2).filter(|w| w[0][1] == w[1][1]).map(|w| w[0][1] * (w[1][0] / w[0][0]).log2()).sum();
            assert!((area - sum).abs() < 1e-12, "{of:?}: {area}");
            let broken = points.iter().filter(|p| p[0].is_nan()).count();
            assert_eq!(broken, 2, "before the first bin, and where bins are empty");
        }
    }

    #[test]
    fn what_cannot_be_drawn_is_told_with_a_remedy() {
        let lossless = Spectrum { bins: spectrum().bins[..1].to_vec(), ..spectrum() };
        assert!(chart("", std::slice::from_ref(&lossless), Over::Energy, Of::Number).is_ok());
        let said = chart("", &[lossless], Over::Energy, Of::Lost).unwrap_err().to_string();
        assert!(said.contains("lost energy") && said.contains("--of number"), "{said}");
        assert!(chart("", &[], Over::Energy, Of::Number).unwrap_err().to_string().contains("nothing has met"));
        let classes = rows(&table(), COLLISIONS_HEADER, class).unwrap();
        assert!(of_stage(classes, Some("rest")).unwrap_err().to_string().contains("known: shake"));
    }
}
