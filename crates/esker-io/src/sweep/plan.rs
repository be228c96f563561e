//! Which points a sweep runs.

use super::search::{Next, Search};
use super::vary::{Axis, Spread, Value};
use super::{PLAN_FILE, SweepError, latin};
use crate::atomic;
use esker::expression::is_variable_name;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Most runs of one sweep.
const MOST_RUNS: usize = 100_000;

/// How points are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// All combinations.
    Grid,
    /// So many of a Latin hypercube.
    Latin(usize),
    /// One after another, to find the best, so many at most.
    Search(usize),
}

/// What is best.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Goal {
    /// The least value of an expression.
    Minimise(String),
    /// The largest.
    Maximise(String),
}

impl Goal {
    /// The expression.
    pub fn text(&self) -> &str {
        match self {
            Goal::Minimise(text) | Goal::Maximise(text) => text,
        }
    }

    /// A value as a cost: lower is better.
    pub fn cost(&self, value: f64) -> f64 {
        match self {
            Goal::Minimise(_) => value,
            Goal::Maximise(_) => -value,
        }
    }
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// File of the scene.
    pub scene: PathBuf,
    /// Its text.
    pub scene_text: String,
    /// What is varied, `PATH=VALUES` each.
    pub vary: Vec<String>,
    /// How.
    pub kind: Kind,
    /// Runs of every point, with different seeds.
    pub seeds: u64,
    /// What is changed in all points, `PATH=VALUE` each.
    pub set: Vec<String>,
    /// When a run is stopped.
    pub until: Option<String>,
    /// Results, `NAME=EXPR` each.
    pub results: Vec<String>,
    /// Rows of the series that are used begin here \[s\].
    pub from: Option<f64>,
    /// And end here \[s\].
    pub to: Option<f64>,
    /// What is best.
    pub goal: Option<Goal>,
}

impl Plan {
    /// The varied parameters, each once and fit for the kind of sweep.
    pub fn axes(&self) -> Result<Vec<Axis>, SweepError> {
        if self.vary.is_empty() {
            return Err(SweepError::Plan("nothing is varied: say what, as --vary let.f=20..90:8".to_owned()));
        }
        let mut axes: Vec<Axis> = Vec::new();
        for given in &self.vary {
            let axis = Axis::parse(given)?;
            if axes.iter().any(|other| other.path == axis.path) {
                return Err(axis.wrong("it is varied twice"));
            }
            match (self.kind, &axis.spread) {
                (Kind::Grid, _) => {
                    axis.grid()?;
                }
                (Kind::Latin(_), _) => axis.without_count("--latin")?,
                (Kind::Search(_), Spread::Range(_)) => axis.without_count("--evaluations")?,
                (Kind::Search(_), Spread::List(_)) => {
                    return Err(axis.wrong("a search with --evaluations needs a range, as 20..90"));
                }
            }
            axes.push(axis);
        }
        if self.seeds > 1 && axes.iter().any(|axis| axis.path == "seed") {
            return Err(SweepError::Plan(
                "`--vary seed=…` and `--seeds` both choose seeds; give one of them".to_owned(),
            ));
        }
        Ok(axes)
    }

    /// Refuses what makes no sense together.
    pub fn check(&self) -> Result<(), SweepError> {
        let wrong = |message: &str| Err(SweepError::Plan(message.to_owned()));
        match self.kind {
            Kind::Latin(0) => return wrong("`--latin 0` makes no sense; give 1 or more"),
            Kind::Search(0) => return wrong("`--evaluations 0` makes no sense; give 1 or more"),
            Kind::Search(_) if self.goal.is_none() => {
                return wrong("`--evaluations` needs --minimise EXPR or --maximise EXPR: what is looked for?");
            }
            _ => {}
        }
        if self.seeds == 0 {
            return wrong("`--seeds 0` makes no sense; give 1 or more");
        }
        let axes = self.axes()?;
        let points = match self.kind {
            Kind::Grid => {
                let each = axes.iter().map(|axis| axis.grid().map_or(0, |values| values.len()));
                each.fold(1usize, usize::saturating_mul)
            }
            Kind::Latin(n) | Kind::Search(n) => n,
        };
        let runs = (self.seeds as usize).saturating_mul(points);
        if runs > MOST_RUNS {
            return Err(SweepError::Plan(format!(
                "this would be {runs} runs; {MOST_RUNS} are allowed: vary less, or draw some with --latin"
            )));
        }
        Ok(())
    }

    /// Parameters of the points known beforehand; `seed` decides a hypercube. A search has its first look.
    fn points(&self, axes: &[Axis], seed: u64) -> Result<Vec<Vec<Value>>, SweepError> {
        let at = |u: &Vec<f64>| -> Vec<Value> { axes.iter().zip(u).map(|(axis, u)| axis.at(*u)).collect() };
        Ok(match self.kind {
            Kind::Grid => {
                let mut points: Vec<Vec<Value>> = vec![vec![]];
                for axis in axes {
                    let values = axis.grid()?;
                    let longer =
                        points.iter().flat_map(|p| values.iter().map(|v| [p.clone(), vec![v.clone()]].concat()));
                    points = longer.collect();
                }
                points
            }
            Kind::Latin(n) => latin::hypercube(n, axes.len(), seed).iter().map(at).collect(),
            Kind::Search(evaluations) => {
                let search = Search { dimensions: axes.len(), evaluations, seed };
                match search.next(&|_| None) {
                    Next::Points(points) => points.iter().map(at).collect(),
                    Next::Settled => vec![],
                }
            }
        })
    }

    /// What another plan has that makes it another sweep. Results and goal only matter where they decide the points.
    fn difference(&self, new: &Plan) -> Option<String> {
        let list = |texts: &[String]| if texts.is_empty() { "nothing".to_owned() } else { texts.join(" ") };
        let text = |text: &Option<String>| text.clone().unwrap_or("nothing".to_owned());
        let mut parts = vec![
            ("--vary", list(&self.vary), list(&new.vary)),
            ("--set", list(&self.set), list(&new.set)),
            ("--seeds", self.seeds.to_string(), new.seeds.to_string()),
            ("--until", text(&self.until), text(&new.until)),
        ];
        if let (Kind::Search(a), Kind::Search(b)) = (self.kind, new.kind) {
            // More evaluations only go on for longer, but the first look is a share of them.
            parts.push(("--evaluations", a.to_string(), b.to_string()));
            let goal = |plan: &Plan| format!("{:?}", plan.goal);
            parts.push(("what is looked for", goal(self), goal(new)));
            parts.push(("--result", list(&self.results), list(&new.results)));
            let time = |time: Option<f64>| text(&time.map(|t| format!("{t} s")));
            parts.push(("--from", time(self.from), time(new.from)));
            parts.push(("--to", time(self.to), time(new.to)));
        } else {
            parts.push(("the kind of sweep", format!("{:?}", self.kind), format!("{:?}", new.kind)));
        }
        if self.scene_text != new.scene_text {
            return Some(format!("its scene was another text than `{}` now", new.scene.display()));
        }
        let (what, old, new) = parts.into_iter().find(|(_, old, new)| old != new)?;
        Some(format!("{what} was {old}, now {new}"))
    }
}

/// One run of a sweep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// The parameters, in the order of the axes, as `--set` takes them.
    pub values: Vec<String>,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// A sweep: its plan and the points so far. The content of `sweep.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// What was asked for.
    pub plan: Plan,
    /// Seed of the scene; runs of a point have this one and those behind it.
    pub seed: u64,
    /// Runs in their order; that of number n is in the folder `000n`.
    pub points: Vec<Point>,
}

impl Sweep {
    /// A sweep that has not begun; `seed` is that of the scene.
    pub fn new(plan: Plan, seed: u64) -> Result<Sweep, SweepError> {
        let axes = plan.axes()?;
        let points = plan.points(&axes, seed)?;
        let mut sweep = Sweep { plan, seed, points: vec![] };
        points.iter().for_each(|values| sweep.add(&axes, values));
        Ok(sweep)
    }

    /// Adds the runs of a point.
    pub fn add(&mut self, axes: &[Axis], values: &[Value]) {
        let own = axes.iter().zip(values).find(|(axis, _)| axis.path == "seed").and_then(|(_, value)| value.si);
        for k in 0..self.plan.seeds {
            let seed = own.map_or(self.seed.wrapping_add(k), |seed| seed as u64);
            self.points.push(Point { values: values.iter().map(|v| v.text.clone()).collect(), seed });
        }
    }

    /// What `--set` changes in a run, by its number from 0.
    pub fn overrides(&self, axes: &[Axis], number: usize) -> Vec<String> {
        let point = &self.points[number];
        let mut all = self.plan.set.clone();
        all.extend(axes.iter().zip(&point.values).map(|(axis, value)| format!("{}={value}", axis.path)));
        if self.plan.seeds > 1 {
            all.push(format!("seed={}", point.seed));
        }
        all
    }

    /// Name of the folder of a run, by its number from 0.
    pub fn folder(number: usize) -> String {
        format!("{:04}", number + 1)
    }

    /// Reads the sweep of a folder; `None` if there is none.
    pub fn read(folder: &Path) -> Result<Option<Sweep>, SweepError> {
        let path = folder.join(PLAN_FILE);
        match atomic::read(&path) {
            Ok(bytes) => match serde_json::from_slice(&bytes) {
                Ok(sweep) => Ok(Some(sweep)),
                Err(e) => Err(SweepError::Damaged { path, reason: e.to_string() }),
            },
            Err(e) if matches!(e.reason.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
                Ok(None)
            }
            Err(e) => Err(e.into()),
        }
    }

    /// Writes it into a folder.
    pub fn write(&self, folder: &Path) -> Result<(), SweepError> {
        Ok(atomic::write(&folder.join(PLAN_FILE), |w| {
            serde_json::to_writer_pretty(&mut *w, self)?;
            w.write_all(b"\n")
        })?)
    }

    /// Goes on with a sweep under a plan that was given again, which may ask for other results.
    pub fn go_on(&mut self, folder: &Path, plan: Plan) -> Result<(), SweepError> {
        if let Some(difference) = self.plan.difference(&plan) {
            return Err(SweepError::Other { folder: folder.to_owned(), difference });
        }
        self.plan = plan;
        Ok(())
    }
}

/// Names of the parameters in expressions: the last word of the path, `_` for what no name can have, or the whole path
/// where two end in the same word.
pub fn names(axes: &[Axis]) -> Vec<String> {
    let name = |text: &str| -> String {
        text.trim_matches('"').chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect()
    };
    let last = |axis: &Axis| name(axis.path.rsplit('.').next().unwrap_or(&axis.path));
    let of = |axis: &Axis| {
        let short = last(axis);
        let alone = axes.iter().filter(|other| last(other) == short).count() == 1;
        if alone && is_variable_name(&short) { short } else { name(&axis.path) }
    };
    axes.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(vary: &[&str], kind: Kind) -> Plan {
        Plan {
            scene: "a.toml".into(),
            scene_text: "title = \"a\"".into(),
            vary: vary.iter().map(|v| v.to_string()).collect(),
            kind,
            seeds: 1,
            set: vec!["let.c=1".into()],
            until: None,
            results: vec![],
            from: None,
            to: None,
            goal: None,
        }
    }

    #[test]
    fn a_grid_has_every_combination_once_the_last_parameter_fastest() {
        let sweep = Sweep::new(plan(&["let.a=1,2", "let.b=x,y,z"], Kind::Grid), 7).unwrap();
        let points: Vec<String> = sweep.points.iter().map(|p| p.values.concat()).collect();
        assert_eq!(points, ["1x", "1y", "1z", "2x", "2y", "2z"]);
        let axes = sweep.plan.axes().unwrap();
        assert_eq!(sweep.overrides(&axes, 1), ["let.c=1", "let.a=1", "let.b=y"]);
        assert_eq!(Sweep::folder(0), "0001");
    }

    #[test]
    fn seeds_repeat_every_point() {
        let sweep = Sweep::new(Plan { seeds: 3, ..plan(&["let.a=1,2"], Kind::Grid) }, 7).unwrap();
        let seeds: Vec<u64> = sweep.points.iter().map(|p| p.seed).collect();
        assert_eq!(seeds, [7, 8, 9, 7, 8, 9]);
        let axes = sweep.plan.axes().unwrap();
        assert_eq!(sweep.overrides(&axes, 5), ["let.c=1", "let.a=2", "seed=9"]);
        let own = Sweep::new(plan(&["seed=3,5"], Kind::Grid), 7).unwrap();
        assert_eq!((own.points[0].seed, own.points[1].seed), (3, 5));
    }

    #[test]
    fn a_hypercube_of_ranges_and_lists_has_every_stratum_and_every_entry_as_often() {
        let sweep = Sweep::new(plan(&["let.a=10 mm..20 mm", "let.b=x,y"], Kind::Latin(10)), 1).unwrap();
        let mut strata: Vec<usize> = (0..10).collect();
        for point in &sweep.points {
            let a = Value::new(&point.values[0]).si.unwrap();
            strata.retain(|k| *k != ((a - 0.01) / 0.001) as usize);
        }
        assert_eq!(strata, [0usize; 0], "every stratum is hit");
        assert_eq!(sweep.points.iter().filter(|p| p.values[1] == "x").count(), 5);
    }

    #[test]
    fn a_plan_that_was_written_reads_back_and_another_one_is_told() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Sweep::read(dir.path()).unwrap().is_none());
        let first = plan(&["let.a=1,2"], Kind::Grid);
        let mut sweep = Sweep::new(first.clone(), 7).unwrap();
        sweep.write(dir.path()).unwrap();
        assert_eq!(Sweep::read(dir.path()).unwrap().unwrap(), sweep);
        sweep.go_on(dir.path(), Plan { results: vec!["r=last(x)".into()], ..first.clone() }).unwrap();
        for (other, part) in [
            (plan(&["let.a=1,3"], Kind::Grid), "--vary was let.a=1,2, now let.a=1,3"),
            (Plan { seeds: 2, ..first.clone() }, "--seeds was 1, now 2"),
            (Plan { until: Some("1 s".into()), ..first.clone() }, "--until was nothing, now 1 s"),
            (Plan { kind: Kind::Latin(2), ..first.clone() }, "the kind of sweep was Grid, now Latin(2)"),
            (Plan { scene_text: String::new(), ..first.clone() }, "its scene was another text"),
        ] {
            let error = sweep.go_on(dir.path(), other).unwrap_err().to_string();
            assert!(error.contains(part) && error.contains("--out"), "{error}");
        }
        std::fs::write(dir.path().join(PLAN_FILE), "{").unwrap();
        assert!(matches!(Sweep::read(dir.path()), Err(SweepError::Damaged { .. })));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let refused = |plan: Plan, part: &str| {
            let error = plan.check().unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        };
        refused(plan(&[], Kind::Grid), "nothing is varied");
        refused(plan(&["a=1,2", "a=3"], Kind::Grid), "it is varied twice");
        refused(plan(&["a=1..2:3"], Kind::Latin(5)), "the :3 asks for a grid");
        refused(plan(&["a=1..2"], Kind::Latin(0)), "`--latin 0`");
        refused(plan(&["a=1..2"], Kind::Search(9)), "what is looked for?");
        let goal = Some(Goal::Minimise("x".into()));
        refused(Plan { goal: goal.clone(), ..plan(&["a=1,2"], Kind::Search(9)) }, "needs a range");
        refused(Plan { goal, ..plan(&["a=1..2"], Kind::Search(0)) }, "`--evaluations 0`");
        refused(Plan { seeds: 0, ..plan(&["a=1"], Kind::Grid) }, "`--seeds 0`");
        refused(Plan { seeds: 2, ..plan(&["seed=1,2"], Kind::Grid) }, "both choose seeds");
        refused(plan(&["a=1..2:1000", "b=1..2:1000"], Kind::Grid), "1000000 runs");
    }

    #[test]
    fn parameters_have_short_names_where_these_differ() {
        let of = |vary: &[&str]| names(&plan(vary, Kind::Grid).axes().unwrap());
        assert_eq!(of(&["let.f=1", "material.glass.youngs-modulus=2"]), ["f", "youngs_modulus"]);
        assert_eq!(of(&["grains.a.radius=1", "grains.b.radius=2"]), ["grains_a_radius", "grains_b_radius"]);
        assert_eq!(of(&["let.max=1", "gravity.2=3"]), ["let_max", "gravity_2"]);
    }
}
