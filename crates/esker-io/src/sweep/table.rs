//! What came of the runs: rows read from their folders, `results.csv`, the order of merit, a chart.

use super::measure::{Measure, Window};
use super::plan::{self, Goal, Kind, Plan, Sweep};
use super::search::{Next, Search};
use super::vary::{Axis, Value};
use super::{RESULTS_FILE, SweepError};
use crate::atomic;
use crate::chart::{Chart, Curve};
use crate::record::{Outcome, SERIES_FILE, SUMMARY_FILE};
use crate::series::{Numbers, quoted};
use serde::Deserialize;
use std::fmt::Write as _;
use std::path::Path;

/// Name of what a goal is about.
pub const OBJECTIVE: &str = "objective";

/// How a run ended, from its `run.json`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Ended {
    /// How.
    pub outcome: Outcome,
    /// Time reached \[s\].
    pub time: f64,
    /// Grains at the end.
    pub grains: usize,
    /// Wall-clock time of the process that ended it \[s\].
    pub seconds: f64,
}

impl Ended {
    /// Of a run that has come to an end, good or bad; `None` for one that has not begun or could go on.
    pub fn read(folder: &Path) -> Option<Ended> {
        let bytes = std::fs::read(folder.join(SUMMARY_FILE)).ok()?;
        let ended: Ended = serde_json::from_slice(&bytes).ok()?;
        match ended.outcome {
            Outcome::Running | Outcome::Interrupted => None,
            Outcome::Finished | Outcome::Stopped | Outcome::Failed { .. } => Some(ended),
        }
    }
}

/// A run and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Number of the run, from 0.
    pub number: usize,
    /// Its parameters.
    pub values: Vec<Value>,
    /// Its seed.
    pub seed: u64,
    /// `finished`, `stopped` or `failed`.
    pub outcome: &'static str,
    /// How it ended, if it had begun.
    pub ended: Option<Ended>,
    /// Results in the order of the columns; NaN where there is none.
    pub results: Vec<f64>,
    /// Why it failed, or why a result is missing.
    pub message: String,
}

/// Results that are read from each run.
#[derive(Clone, Debug)]
pub struct Reading {
    names: Vec<String>,
    measures: Vec<Measure>,
    window: Window,
    goal: Option<Goal>,
    /// Columns whose last value is taken where no result was asked for.
    columns: Vec<String>,
}

impl Reading {
    /// Results of a plan, checked against the columns of the series.
    pub fn new(plan: &Plan, axes: &[Axis], columns: &[String]) -> Result<Reading, SweepError> {
        let names = plan::names(axes);
        let mut known = names.clone();
        let mut measures: Vec<Measure> = Vec::new();
        let results = plan.results.iter().map(|given| Measure::parse(given));
        let goal = plan.goal.iter().map(|goal| Measure::new(OBJECTIVE, goal.text()));
        for measure in results.chain(goal) {
            let mut measure = measure?;
            measure.check(columns, &known)?;
            if known.contains(&measure.name) {
                let given = format!("{}={}", measure.name, measure.text);
                return Err(SweepError::Result { given, message: format!("`{}` is taken already", measure.name) });
            }
            known.push(measure.name.clone());
            measures.push(measure);
        }
        let window = Window { from: plan.from.unwrap_or(f64::NEG_INFINITY), to: plan.to.unwrap_or(f64::INFINITY) };
        let plain = |c: &&String| !matches!(c.as_str(), "step" | "time [s]");
        let columns = if plan.results.is_empty() { columns.iter().filter(plain).cloned().collect() } else { vec![] };
        Ok(Reading { names, measures, window, goal: plan.goal.clone(), columns })
    }

    /// Names of the results.
    pub fn columns(&self) -> Vec<String> {
        self.columns.iter().cloned().chain(self.measures.iter().map(|m| m.name.clone())).collect()
    }

    /// How many results were asked for by name; the others are all columns of the series.
    pub fn asked(&self) -> usize {
        self.measures.len()
    }

    /// The row of a run that came to an end, good or bad.
    pub fn row(&self, sweep: &Sweep, number: usize, folder: &Path, ended: Ended) -> Row {
        let mut row = self.blank(sweep, number);
        row.outcome = match &ended.outcome {
            Outcome::Stopped => "stopped",
            Outcome::Failed { .. } => "failed",
            _ => "finished",
        };
        if let Outcome::Failed { reason } = &ended.outcome {
            row.message = one_line(reason);
        } else if let Err(message) = self.read(folder, &mut row) {
            row.message = one_line(&message);
        }
        row.ended = Some(ended);
        row
    }

    /// The row of a run that left nothing behind.
    pub fn failed(&self, sweep: &Sweep, number: usize, message: &str) -> Row {
        Row { message: one_line(message), ..self.blank(sweep, number) }
    }

    fn blank(&self, sweep: &Sweep, number: usize) -> Row {
        let point = &sweep.points[number];
        Row {
            number,
            values: point.values.iter().map(|text| Value::new(text)).collect(),
            seed: point.seed,
            outcome: "failed",
            ended: None,
            results: vec![f64::NAN; self.columns.len() + self.measures.len()],
            message: String::new(),
        }
    }

    /// Fills in the results. Each that can be had is; the first that cannot is told.
    fn read(&self, folder: &Path, row: &mut Row) -> Result<(), String> {
        if row.results.is_empty() {
            return Ok(());
        }
        let path = folder.join(SERIES_FILE);
        // Results of parameters alone need no series.
        let series = if path.exists() {
            let bytes = atomic::read(&path).map_err(|e| e.to_string())?;
            Numbers::parse(&path, &String::from_utf8_lossy(&bytes)).map_err(|e| e.to_string())?
        } else {
            Numbers::default()
        };
        for (result, column) in row.results.iter_mut().zip(&self.columns) {
            *result = series.column(column).and_then(|values| values.last().copied()).unwrap_or(f64::NAN);
        }
        let mut trouble = Ok(());
        for (k, measure) in self.measures.iter().enumerate() {
            let results = &row.results[self.columns.len()..];
            let variable = |name: &str| match self.names.iter().position(|n| n == name) {
                Some(axis) => row.values[axis].si,
                None => self.measures.iter().position(|m| m.name == name).map(|m| results[m]),
            };
            match measure.evaluate(&series, self.window, variable) {
                Ok(value) => row.results[self.columns.len() + k] = value,
                Err(message) if trouble.is_ok() => trouble = Err(format!("{}: {message}", measure.name)),
                Err(_) => {}
            }
        }
        trouble
    }
}

impl Sweep {
    /// Parameters of the points that a search wants next, all runs so far being in the table; none when it is over.
    pub fn propose(&self, axes: &[Axis], reading: &Reading, table: &Table) -> Vec<Vec<Value>> {
        let (Kind::Search(evaluations), Some(goal)) = (self.plan.kind, &self.plan.goal) else { return vec![] };
        debug_assert_eq!(reading.goal.as_ref(), Some(goal));
        let left = evaluations.saturating_sub(self.points.len() / self.plan.seeds.max(1) as usize);
        let means = table.means(table.columns.len() - 1);
        let values = |u: &[f64]| -> Vec<Value> { axes.iter().zip(u).map(|(axis, u)| axis.at(*u)).collect() };
        let cost = |u: &[f64]| {
            let values = values(u);
            means.iter().find(|point| point.values == values).map(|point| goal.cost(point.mean))
        };
        let search = Search { dimensions: axes.len(), evaluations, seed: self.seed };
        let mut wanted: Vec<Vec<Value>> = Vec::new();
        if let Next::Points(points) = search.next(&cost) {
            for point in points.iter().map(|u| values(u)) {
                if !wanted.contains(&point) && wanted.len() < left {
                    wanted.push(point);
                }
            }
        }
        wanted
    }
}

fn one_line(text: &str) -> String {
    let text = text.trim().strip_prefix("error: ").unwrap_or(text.trim());
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

/// A point with the mean over its seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// Parameters.
    pub values: Vec<Value>,
    /// Number of its first run, from 0.
    pub number: usize,
    /// Runs.
    pub runs: usize,
    /// Mean of a result; NaN if a run gave none.
    pub mean: f64,
    /// Standard deviation over its runs; zero for one.
    pub deviation: f64,
}

/// All rows, by number.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Paths of the parameters.
    pub paths: Vec<String>,
    /// Names of the results.
    pub columns: Vec<String>,
    /// Rows by rising number.
    pub rows: Vec<Row>,
}

impl Table {
    /// A table without rows.
    pub fn new(axes: &[Axis], reading: &Reading) -> Table {
        Table { paths: axes.iter().map(|a| a.path.clone()).collect(), columns: reading.columns(), rows: vec![] }
    }

    /// Whether the run of a number has a row.
    pub fn has(&self, number: usize) -> bool {
        self.rows.binary_search_by_key(&number, |row| row.number).is_ok()
    }

    /// Takes a row to its place.
    pub fn insert(&mut self, row: Row) {
        match self.rows.binary_search_by_key(&row.number, |r| r.number) {
            Ok(at) => self.rows[at] = row,
            Err(at) => self.rows.insert(at, row),
        }
    }

    /// As CSV. What is missing is an empty cell.
    pub fn csv(&self) -> String {
        let mut text = String::from("point");
        for path in &self.paths {
            let _ = write!(text, ",{},{}", quoted(path), quoted(&format!("{path} [SI]")));
        }
        text += ",seed,outcome,wall time [s],time [s],particles";
        self.columns.iter().for_each(|name| text += &format!(",{}", quoted(name)));
        text += ",message\n";
        let number = |x: f64| if x.is_nan() { String::new() } else { format!("{x:?}") };
        for row in &self.rows {
            let _ = write!(text, "{}", row.number + 1);
            for value in &row.values {
                let _ = write!(text, ",{},{}", quoted(&value.text), value.si.map_or(String::new(), number));
            }
            let _ = write!(text, ",{},{}", row.seed, row.outcome);
            match &row.ended {
                Some(e) => {
                    let _ = write!(text, ",{:?},{:?},{}", e.seconds, e.time, e.grains);
                }
                None => text += ",,,",
            }
            row.results.iter().for_each(|x| text += &format!(",{}", number(*x)));
            let _ = writeln!(text, ",{}", quoted(&row.message));
        }
        text
    }

    /// Writes `results.csv`. It can be made again from the runs, so it need not outlive a power cut.
    pub fn write(&self, folder: &Path) -> Result<(), SweepError> {
        Ok(atomic::write_unsynced(&folder.join(RESULTS_FILE), |w| w.write_all(self.csv().as_bytes()))?)
    }

    /// Points with the mean of a result over their seeds, in the order of their numbers.
    pub fn means(&self, result: usize) -> Vec<Ranked> {
        let mut points: Vec<(Ranked, Vec<f64>)> = Vec::new();
        for row in &self.rows {
            let value = row.results[result];
            match points.last_mut() {
                // Runs of a point follow each other.
                Some((point, all)) if point.values == row.values => all.push(value),
                _ => {
                    let values = row.values.clone();
                    let point = Ranked { values, number: row.number, runs: 0, mean: 0.0, deviation: 0.0 };
                    points.push((point, vec![value]));
                }
            }
        }
        let finish = |(mut point, all): (Ranked, Vec<f64>)| {
            let n = all.len() as f64;
            point.runs = all.len();
            point.mean = all.iter().sum::<f64>() / n;
            let squares: f64 = all.iter().map(|x| (x - point.mean).powi(2)).sum();
            point.deviation = if all.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 };
            point
        };
        points.into_iter().map(finish).collect()
    }

    /// Points by merit, the best first; those without a number are left out.
    pub fn ranking(&self, reading: &Reading) -> Vec<Ranked> {
        let Some(goal) = &reading.goal else { return vec![] };
        let mut points = self.means(self.columns.len() - 1);
        points.retain(|p| !p.mean.is_nan());
        points.sort_by(|a, b| goal.cost(a.mean).total_cmp(&goal.cost(b.mean)));
        points
    }

    /// A result over the first parameter, one curve for each value of the second.
    pub fn chart(&self, title: &str, result: usize) -> Result<Chart, SweepError> {
        if self.paths.len() > 2 {
            let n = self.paths.len();
            return Err(SweepError::Plan(format!("--plot shows one or two varied parameters, not {n}")));
        }
        let mut curves: Vec<Curve> = Vec::new();
        for point in self.means(result) {
            let Some(x) = point.values[0].si else {
                let (path, value) = (&self.paths[0], &point.values[0].text);
                return Err(SweepError::Plan(format!(
                    "--plot needs numbers along the first parameter; `{path}` has `{value}`: vary another one first"
                )));
            };
            let name = point.values.get(1).map_or(String::new(), |v| format!("{} = {}", self.paths[1], v.short()));
            let at = curves.iter().position(|c| c.name == name).unwrap_or_else(|| {
                curves.push(Curve { name, points: vec![] });
                curves.len() - 1
            });
            curves[at].points.push([x, point.mean]);
        }
        curves.iter_mut().for_each(|c| c.points.sort_by(|a, b| a[0].total_cmp(&b[0])));
        let axes = [format!("{} [SI]", self.paths[0]), self.columns[result].clone()];
        Ok(Chart { title: title.to_owned(), axes: axes.map(Into::into), curves })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn sweep(vary: &[&str], seeds: u64, results: &[&str], goal: Option<Goal>) -> (Sweep, Vec<Axis>) {
        let texts = |all: &[&str]| all.iter().map(|t| t.to_string()).collect();
        let plan = Plan {
            scene: "a.toml".into(),
            scene_text: String::new(),
            vary: texts(vary),
            kind: Kind::Grid,
            seeds,
            set: vec![],
            until: None,
            results: texts(results),
            from: None,
            to: None,
            goal,
        };
        let axes = plan.axes().unwrap();
        (Sweep::new(plan, 1).unwrap(), axes)
    }

    fn columns() -> Vec<String> {
        ["time [s]", "height [m]", "grains"].map(String::from).to_vec()
    }

    fn ran(folder: &Path, rows: &[[f64; 3]], outcome: &str) {
        fs::create_dir_all(folder).unwrap();
        let mut text = "step,time [s],height [m],grains\n".to_owned();
        for (k, [t, h, n]) in rows.iter().enumerate() {
            text += &format!("{k},{t:?},{h:?},{n:?}\n");
        }
        fs::write(folder.join(SERIES_FILE), text).unwrap();
        let json = format!("{{\"outcome\": {outcome}, \"time\": 1.5, \"grains\": 3, \"seconds\": 0.25, \"more\": []}}");
        fs::write(folder.join(SUMMARY_FILE), json).unwrap();
    }

    #[test]
    fn rows_hold_parameters_outcome_and_results() {
        let dir = tempfile::tempdir().unwrap();
        let (sweep, axes) = sweep(&["let.a=2 mm,3 mm", "law=hertz"], 1, &["top=max(height)", "twice=2*top+a"], None);
        let reading = Reading::new(&sweep.plan, &axes, &columns()).unwrap();
        let mut table = Table::new(&axes, &reading);
        let folder = dir.path().join("0001");
        assert_eq!(Ended::read(&folder), None);
        ran(&folder, &[[0.0, 1.0, 3.0], [1.0, 5.0, 3.0]], "{\"kind\": \"running\"}");
        assert_eq!(Ended::read(&folder), None);
        ran(&folder, &[[0.0, 1.0, 3.0], [1.0, 5.0, 3.0]], "{\"kind\": \"finished\"}");
        table.insert(reading.failed(&sweep, 1, "error: two\n  lines, \"quoted\"\n"));
        table.insert(reading.row(&sweep, 0, &folder, Ended::read(&folder).unwrap()));
        assert_eq!(
            table.csv(),
            "point,let.a,let.a [SI],law,law [SI],seed,outcome,wall time [s],time [s],particles,top,twice,message\n\
             1,2 mm,0.002,hertz,,1,finished,0.25,1.5,3,5.0,10.002,\n\
             2,3 mm,0.003,hertz,,1,failed,,,,,,\"two; lines, \"\"quoted\"\"\"\n"
        );
    }

    #[test]
    fn without_results_the_last_value_of_every_column_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let (sweep, axes) = sweep(&["a=1"], 1, &[], None);
        let reading = Reading::new(&sweep.plan, &axes, &columns()).unwrap();
        assert_eq!(reading.columns(), ["height [m]", "grains"]);
        ran(dir.path(), &[[0.0, 1.0, 3.0], [1.0, 5.0, 4.0]], "{\"kind\": \"stopped\"}");
        let row = reading.row(&sweep, 0, dir.path(), Ended::read(dir.path()).unwrap());
        assert_eq!((row.outcome, row.results.as_slice()), ("stopped", &[5.0, 4.0][..]));
        ran(dir.path(), &[], "{\"kind\": \"failed\", \"reason\": \"a grain\\n was lost\"}");
        let row = reading.row(&sweep, 0, dir.path(), Ended::read(dir.path()).unwrap());
        assert_eq!((row.outcome, row.message.as_str()), ("failed", "a grain; was lost"));
    }

    #[test]
    fn points_are_ranked_by_the_mean_over_their_seeds() {
        let goal = Some(Goal::Maximise("last(height)".into()));
        let (sweep, axes) = sweep(&["a=1,2,3"], 2, &[], goal);
        let reading = Reading::new(&sweep.plan, &axes, &columns()).unwrap();
        let mut table = Table::new(&axes, &reading);
        for (number, value) in [1.0, 3.0, 5.0, 6.0, 9.0, f64::NAN].into_iter().enumerate() {
            let mut row = reading.failed(&sweep, number, "");
            *row.results.last_mut().unwrap() = value;
            table.insert(row);
        }
        let ranked = table.ranking(&reading);
        assert_eq!(ranked.iter().map(|p| p.mean).collect::<Vec<_>>(), [5.5, 2.0]);
        assert_eq!((ranked[0].number, ranked[0].runs), (2, 2));
        assert!((ranked[1].deviation - 2f64.sqrt()).abs() < 1e-15);
        let chart = table.chart("t", table.columns.len() - 1).unwrap();
        assert_eq!(chart.curves.len(), 1);
        assert_eq!(chart.curves[0].points[..2], [[1.0, 2.0], [2.0, 5.5]]);
    }

    #[test]
    fn a_chart_has_a_curve_for_each_value_of_the_second_parameter() {
        let (sweep, axes) = sweep(&["a=2 mm,1 mm", "law=x,y"], 1, &["r=last(height)"], None);
        let reading = Reading::new(&sweep.plan, &axes, &columns()).unwrap();
        let mut table = Table::new(&axes, &reading);
        (0..4).for_each(|k| table.insert(Row { results: vec![k as f64], ..reading.failed(&sweep, k, "") }));
        let chart = table.chart("t", 0).unwrap();
        let named: Vec<&str> = chart.curves.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(named, ["law = x", "law = y"]);
        assert_eq!(chart.curves[1].points, [[0.001, 3.0], [0.002, 1.0]]);
        let wrong = Table { paths: vec!["law".into()], ..table };
        let swapped = Table {
            rows: wrong.rows.iter().map(|r| Row { values: vec![r.values[1].clone()], ..r.clone() }).collect(),
            ..wrong
        };
        assert!(swapped.chart("t", 0).unwrap_err().to_string().contains("needs numbers"));
    }

    #[test]
    fn a_search_goes_on_from_the_rows_that_are_there() {
        let goal = Some(Goal::Maximise("last(height)".into()));
        let (grid, _) = sweep(&["let.a=0"], 2, &[], goal);
        let plan = Plan { vary: vec!["let.a=0 mm..10 mm".into()], kind: Kind::Search(30), ..grid.plan };
        let axes = plan.axes().unwrap();
        let reading = Reading::new(&plan, &axes, &columns()).unwrap();
        // Rows whose objective is a known function of the parameter and, a little, of the seed.
        let run = |sweep: &Sweep, number: usize| {
            let mut row = reading.failed(sweep, number, "");
            let a = row.values[0].si.unwrap();
            *row.results.last_mut().unwrap() = -(a - 0.007).powi(2) + if row.seed == 1 { 1e-9 } else { -1e-9 };
            row
        };
        let mut sweep = Sweep::new(plan, 1).unwrap();
        let mut table = Table::new(&axes, &reading);
        loop {
            (table.rows.len()..sweep.points.len()).for_each(|n| table.insert(run(&sweep, n)));
            let wanted = sweep.propose(&axes, &reading, &table);
            if wanted.is_empty() {
                break;
            }
            // What is proposed depends on the rows alone.
            assert_eq!(wanted, sweep.clone().propose(&axes, &reading, &table.clone()));
            wanted.iter().for_each(|values| sweep.add(&axes, values));
        }
        assert!(sweep.points.len() <= 60 && table.rows.iter().all(|r| r.values[0].text.ends_with(" mm")));
        let best = &table.ranking(&reading)[0];
        assert!((best.values[0].si.unwrap() - 0.007).abs() < 5e-6 && best.runs == 2, "{best:?}");
    }

    #[test]
    fn names_that_are_taken_are_refused() {
        let (sweep, axes) = sweep(&["let.a=1"], 1, &["a=last(height)"], None);
        let error = Reading::new(&sweep.plan, &axes, &columns()).unwrap_err().to_string();
        assert!(error.contains("`a` is taken already"), "{error}");
    }
}
