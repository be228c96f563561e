//! `esker sweep`: many runs of one scene.

mod runner;

use crate::out::{say, tell};
use crate::progress::{Progress, duration};
use crate::{Failure, plot, quantity, run, tables};
use esker::expression::Dimension;
use esker_io::run_folder::RunFolder;
use esker_io::sweep::table::{Ended, Reading};
use esker_io::sweep::vary::short;
use esker_io::sweep::{Axis, Goal, Kind, Plan, RESULTS_FILE, Row, Sweep, Table};
use esker_io::{atomic, build, record, scene};
use runner::{End, Event, Job, Runner};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Time between two writings of the results, in times that one takes: a table of many points is not written for each.
const WRITE_EVERY: u32 = 20;
/// Points of a ranking that are told.
const TOLD: usize = 10;

const EXAMPLE: &str = "\
Examples:
  All combinations of eight frequencies and eight amplitudes, and what the damping takes per second:
    esker sweep shaker.toml --vary let.f=20..90:8 --vary let.A=\"2 mm..30 mm:8\" \\
      --result power=\"rate(dissipated damping)\" --from \"0.5 s\" --plot power.svg
  Forty runs that look for where it takes most:
    esker sweep shaker.toml --vary let.f=20..90 --vary let.A=\"2 mm..30 mm\" \\
      --maximise \"rate(dissipated damping)\" --evaluations 40
The same command again goes on with a sweep that was stopped.";

/// Arguments of `esker sweep`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Args {
    /// Scene file
    #[arg(required_unless_present = "resume")]
    scene: Option<PathBuf>,
    /// Vary a value of the scene: 20..90:8 for eight values from 20 to 90, 1..1000:4 log for equal ratios, 3..9:4 whole for whole
    /// numbers, a,b,c for these; with --latin or --evaluations a range without the number of values
    #[arg(long, value_name = "PATH=VALUES")]
    vary: Vec<String>,
    /// Instead of all combinations draw so many, spread evenly along each range (Latin hypercube)
    #[arg(long, value_name = "N", conflicts_with = "evaluations")]
    latin: Option<usize>,
    /// Run every point so many times with different seeds
    #[arg(long, value_name = "K", default_value_t = 1)]
    seeds: u64,
    /// Change a value of the scene in all runs
    #[arg(long = "set", value_name = "PATH=VALUE")]
    overrides: Vec<String>,
    /// Stop each run at this time, e.g. 0.5 or "20 ms"
    #[arg(long)]
    until: Option<String>,
    /// Runs at a time (default: one on each core)
    #[arg(long, short, value_name = "N")]
    jobs: Option<usize>,
    /// Folder to write (default: runs/SCENE-sweep-N)
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Go on with the sweep of a folder; it knows what was asked for
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["scene", "vary", "latin", "seeds", "overrides", "until", "out", "evaluations"])]
    resume: Option<PathBuf>,
    /// Run points that failed once more
    #[arg(long)]
    retry: bool,
    /// A result: arithmetic of last(COLUMN), first, mean, min, max, rate and std of columns of series.csv, of varied parameters
    /// and of results before (default: the last value of every column)
    #[arg(long = "result", value_name = "NAME=EXPR")]
    results: Vec<String>,
    /// Leave out rows of the series before this time
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Leave out rows of the series after this time
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// Rank points by the least value of this, or look for it with --evaluations
    #[arg(long, value_name = "EXPR", conflicts_with = "maximise")]
    minimise: Option<String>,
    /// Rank points by the largest value of this, or look for it with --evaluations
    #[arg(long, value_name = "EXPR")]
    maximise: Option<String>,
    /// Search within the ranges for the best point, with so many points at most
    #[arg(long, value_name = "N")]
    evaluations: Option<usize>,
    /// Draw the first result over the first parameter, a curve for each value of the second; .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

/// Runs a sweep. Fails if a point does.
pub fn main(args: &Args) -> Result<ExitCode, Failure> {
    let jobs = match args.jobs {
        Some(0) => return Err("`--jobs 0` makes no sense; give 1 or more".into()),
        Some(n) => n,
        None => std::thread::available_parallelism().map_or(1, |n| n.get()),
    };
    let stop = run::stop_flag()?;
    let prepared = prepare(args)?;
    let Prepared { ref folder, ref axes, ref reading, .. } = prepared;
    let folder = folder.path();
    let plan = prepared.sweep.plan.clone();
    if !args.quiet {
        tell!("writing to {}", folder.display());
    }
    let runner = Runner { scene: &plan.scene, folder, until: plan.until.as_deref(), jobs, stop: &stop };
    let mut state = Work {
        table: Table::new(axes, reading),
        sweep: prepared.sweep.clone(),
        progress: Progress::new(args.quiet),
        interrupted: false,
    };
    state.keep_what_is_done(reading, folder, args.retry)?;
    let before = state.table.rows.len();
    loop {
        state.run(&runner, axes, reading, before)?;
        if state.interrupted || stop.load(Ordering::Relaxed) {
            break;
        }
        let wanted = state.sweep.propose(axes, reading, &state.table);
        if wanted.is_empty() {
            break;
        }
        wanted.iter().for_each(|values| state.sweep.add(axes, values));
        state.sweep.write(folder)?;
    }
    state.progress.clear();
    let told = state.report(reading, folder, args.quiet);
    if let Some(file) = &args.plot {
        let result = reading.columns().len() - reading.asked();
        let title = folder.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        plot::write(file, &state.table.chart(&title, result)?.drawing())?;
    }
    told
}

/// A sweep that can begin.
struct Prepared {
    /// Locked while this process writes to it.
    folder: RunFolder,
    sweep: Sweep,
    axes: Vec<Axis>,
    reading: Reading,
}

/// Checks everything that can be before anything runs: the plan, the scene of the first point, names of results.
fn prepare(args: &Args) -> Result<Prepared, Failure> {
    let (found, sweep) = match &args.resume {
        Some(folder) => {
            let Some(mut sweep) = Sweep::read(folder)? else {
                return Err(format!(
                    "`{0}` holds no sweep to go on with\n  name the folder of a sweep, for example `runs/hopper-sweep-1`",
                    folder.display()
                )
                .into());
            };
            sweep.go_on(folder, asked_again(args, &sweep.plan)?)?;
            (Some(folder.clone()), sweep)
        }
        None => find_or_make(args)?,
    };
    let axes = sweep.plan.axes()?;
    let overrides = sweep.overrides(&axes, 0);
    let (_, first) = build::load(&sweep.plan.scene, &overrides)
        .map_err(|e| format!("{e}\n  this is the first point of the sweep: {}", overrides.join(" ")))?;
    let columns = match first.output.series {
        Some(_) => record::columns(&first.stages, &first.output),
        None => vec![],
    };
    let reading = Reading::new(&sweep.plan, &axes, &columns)?;
    if args.plot.is_some() {
        if reading.asked() == 0 {
            return Err("--plot needs --result NAME=EXPR, or --minimise or --maximise: what is drawn?".into());
        }
        Table::new(&axes, &reading).chart("", 0)?;
    }
    let folder = match (found, &args.out) {
        (Some(folder), _) => RunFolder::resume(&folder)?,
        (None, Some(out)) => RunFolder::create_at(out)?,
        (None, None) => RunFolder::create(Path::new("runs"), &default_name(&sweep.plan))?,
    };
    sweep.write(folder.path())?;
    Ok(Prepared { folder, sweep, axes, reading })
}

/// The plan of a stored sweep, with other results if some are given.
fn asked_again(args: &Args, stored: &Plan) -> Result<Plan, Failure> {
    let mut plan = stored.clone();
    if !args.results.is_empty() {
        plan.results = args.results.clone();
    }
    plan.goal = goal(args).or(plan.goal);
    plan.from = time("--from", &args.from)?.or(plan.from);
    plan.to = time("--to", &args.to)?.or(plan.to);
    plan.scene_text = scene_text(&plan.scene)?;
    Ok(plan)
}

fn goal(args: &Args) -> Option<Goal> {
    match (&args.minimise, &args.maximise) {
        (Some(text), _) => Some(Goal::Minimise(text.clone())),
        (None, Some(text)) => Some(Goal::Maximise(text.clone())),
        (None, None) => None,
    }
}

fn time(option: &str, text: &Option<String>) -> Result<Option<f64>, Failure> {
    text.as_deref().map(|text| quantity::value(option, text, Dimension::TIME)).transpose()
}

fn scene_text(path: &Path) -> Result<String, Failure> {
    let bytes = atomic::read(path)?;
    String::from_utf8(bytes).map_err(|_| build::LoadError::NotText(path.display().to_string()).into())
}

/// The sweep of the arguments, and its folder if it has begun: that of `--out`, or one of `runs` with the same plan.
fn find_or_make(args: &Args) -> Result<(Option<PathBuf>, Sweep), Failure> {
    let Some(scene) = &args.scene else { return Err("name a scene file".into()) };
    let kind = match (args.latin, args.evaluations) {
        (Some(n), _) => Kind::Latin(n),
        (None, Some(n)) => Kind::Search(n),
        (None, None) => Kind::Grid,
    };
    let plan = Plan {
        // Whole, so that it is found from wherever the sweep is resumed.
        scene: std::path::absolute(scene)?,
        scene_text: scene_text(scene)?,
        vary: args.vary.clone(),
        kind,
        seeds: args.seeds,
        set: args.overrides.clone(),
        until: args.until.clone(),
        results: args.results.clone(),
        from: time("--from", &args.from)?,
        to: time("--to", &args.to)?,
        goal: goal(args),
    };
    plan.check()?;
    plan.until.as_deref().map(|text| quantity::positive("--until", text, Dimension::TIME)).transpose()?;
    if let Some(out) = &args.out {
        if let Some(mut sweep) = Sweep::read(out)? {
            sweep.go_on(out, plan)?;
            return Ok((Some(out.clone()), sweep));
        }
    } else if let Some(found) = same_in_runs(&plan) {
        return Ok(found);
    }
    let raw = scene::read(&plan.scene_text, &scene.display().to_string(), &plan.set)?;
    let seed = raw.seed.map_or(0, |seed| seed.value);
    Ok((None, Sweep::new(plan, seed)?))
}

fn default_name(plan: &Plan) -> String {
    let stem = plan.scene.file_stem().map_or("scene".into(), |s| s.to_string_lossy());
    format!("{stem}-sweep")
}

/// The sweep of the same plan in `runs`, the newest if there are several. Folders that cannot be read are not it.
fn same_in_runs(plan: &Plan) -> Option<(Option<PathBuf>, Sweep)> {
    let begin = default_name(plan) + "-";
    let folders = std::fs::read_dir("runs").ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let number = |path: &PathBuf| path.file_name()?.to_str()?.strip_prefix(&begin)?.parse::<u64>().ok();
    let mut numbered: Vec<(u64, PathBuf)> = folders.filter_map(|path| Some((number(&path)?, path))).collect();
    numbered.sort();
    numbered.into_iter().rev().find_map(|(_, folder)| {
        let mut sweep = Sweep::read(&folder).ok()??;
        sweep.go_on(&folder, plan.clone()).ok()?;
        Some((Some(folder), sweep))
    })
}

/// A sweep under way.
struct Work {
    table: Table,
    sweep: Sweep,
    progress: Progress,
    interrupted: bool,
}

impl Work {
    /// Takes the rows of the runs that are over.
    fn keep_what_is_done(&mut self, reading: &Reading, folder: &Path, retry: bool) -> Result<(), Failure> {
        for number in 0..self.sweep.points.len() {
            let place = folder.join(Sweep::folder(number));
            if let Some(ended) = Ended::read(&place) {
                let row = reading.row(&self.sweep, number, &place, ended);
                if !(retry && row.outcome == "failed") {
                    self.table.insert(row);
                }
            }
        }
        Ok(self.table.write(folder)?)
    }

    /// Makes the runs that have no row yet; `before` had one at the start.
    fn run(&mut self, runner: &Runner, axes: &[Axis], reading: &Reading, before: usize) -> Result<(), Failure> {
        let job = |number| Job { number, overrides: self.sweep.overrides(axes, number) };
        let jobs: Vec<Job> = (0..self.sweep.points.len()).filter(|n| !self.table.has(*n)).map(job).collect();
        let total = match self.sweep.plan.kind {
            Kind::Search(n) => n * self.sweep.plan.seeds as usize,
            _ => self.sweep.points.len(),
        };
        let Work { table, sweep, progress, interrupted } = self;
        let (mut written, mut last, mut took) = (true, Instant::now(), Duration::ZERO);
        runner.run(&jobs, |event| {
            if let Event::Done(number, end) = event {
                let row = match end {
                    End::Ended(ended) => reading.row(sweep, number, &runner.folder.join(Sweep::folder(number)), ended),
                    End::Failed(message) => reading.failed(sweep, number, &message),
                    End::Interrupted => {
                        *interrupted = true;
                        return Ok(());
                    }
                };
                if row.outcome == "failed" {
                    progress.say(&format!("point {} failed: {}", Sweep::folder(number), row.message));
                }
                table.insert(row);
                written = false;
            }
            if !written && last.elapsed() > WRITE_EVERY * took {
                let begin = Instant::now();
                table.write(runner.folder)?;
                (written, last, took) = (true, Instant::now(), begin.elapsed());
            }
            progress.show_runs(table.rows.len(), before, total);
            Ok(())
        })?;
        Ok(self.table.write(runner.folder)?)
    }

    /// Tells what came of it.
    fn report(&self, reading: &Reading, folder: &Path, quiet: bool) -> Result<ExitCode, Failure> {
        let rows = &self.table.rows;
        let failed: Vec<&Row> = rows.iter().filter(|row| row.outcome == "failed").collect();
        if !quiet {
            self.print_results(reading, failed.is_empty());
            self.print_ranking(reading);
            let lacking = rows.iter().find(|row| row.outcome != "failed" && !row.message.is_empty());
            if let Some(row) = lacking {
                say!("note: a result is missing in point {}: {}", Sweep::folder(row.number), row.message);
            }
            say!(
                "results are in {}, runs in {1}/{2}, …",
                folder.join(RESULTS_FILE).display(),
                folder.display(),
                Sweep::folder(0)
            );
        }
        if self.interrupted || rows.len() < self.sweep.points.len() {
            tell!(
                "stopped after {} of {} points; `esker sweep --resume {}` goes on",
                rows.len(),
                self.sweep.points.len(),
                folder.display()
            );
            return Ok(ExitCode::from(130));
        }
        if let Some(first) = failed.first() {
            let (n, all) = (failed.len(), rows.len());
            return Err(format!(
                "{n} of {all} points failed; the first is {}: {}\n  the others are told in {}; --retry runs them once more",
                Sweep::folder(first.number),
                first.message,
                folder.join(RESULTS_FILE).display()
            )
            .into());
        }
        Ok(ExitCode::SUCCESS)
    }

    /// One line for each run: parameters, and the results that were asked for.
    fn print_results(&self, reading: &Reading, all_well: bool) {
        let table = &self.table;
        let skipped = table.columns.len() - reading.asked();
        let seeds = self.sweep.plan.seeds > 1;
        let mut header = vec!["point".to_owned()];
        header.extend(table.paths.iter().cloned());
        header.extend(seeds.then(|| "seed".to_owned()));
        header.extend((!all_well).then(|| "outcome".to_owned()));
        match reading.asked() {
            0 => header.extend(["wall time", "time [s]", "particles"].map(String::from)),
            _ => header.extend(table.columns[skipped..].iter().cloned()),
        }
        let lines = table.rows.iter().map(|row| {
            let mut line = vec![Sweep::folder(row.number)];
            line.extend(row.values.iter().map(|v| v.short()));
            line.extend(seeds.then(|| row.seed.to_string()));
            line.extend((!all_well).then(|| row.outcome.to_owned()));
            match (&row.ended, reading.asked()) {
                (Some(e), 0) => line.extend([duration(e.seconds), short(e.time), e.grains.to_string()]),
                (None, 0) => line.extend(["-", "-", "-"].map(String::from)),
                _ => line.extend(row.results[skipped..].iter().map(|x| number(*x))),
            }
            line
        });
        tables::aligned(&header, &lines.collect::<Vec<_>>());
    }

    /// The best points.
    fn print_ranking(&self, reading: &Reading) {
        let Some(goal) = &self.sweep.plan.goal else { return };
        let ranking = self.table.ranking(reading);
        let (word, text) = match goal {
            Goal::Minimise(text) => ("least", text),
            Goal::Maximise(text) => ("largest", text),
        };
        let Some(best) = ranking.first() else {
            say!("no point gave a value of {text}");
            return;
        };
        say!("{word} {text} first:");
        let runs = self.sweep.plan.seeds;
        let mut header = vec!["point".to_owned()];
        header.extend(self.table.paths.iter().cloned());
        header.push(if runs > 1 { format!("mean of {runs}") } else { "value".to_owned() });
        header.extend((runs > 1).then(|| "deviation".to_owned()));
        let lines = ranking.iter().take(TOLD).map(|point| {
            let mut line = vec![Sweep::folder(point.number)];
            line.extend(point.values.iter().map(|v| v.short()));
            line.push(number(point.mean));
            line.extend((runs > 1).then(|| number(point.deviation)));
            line
        });
        tables::aligned(&header, &lines.collect::<Vec<_>>());
        let values: Vec<String> =
            self.table.paths.iter().zip(&best.values).map(|(path, v)| format!("{path} = {}", v.text)).collect();
        say!("best: {} with {}", number(best.mean), values.join(", "));
    }
}

/// A number, or a dash where there is none.
fn number(x: f64) -> String {
    if x.is_nan() { "-".to_owned() } else { short(x) }
}
