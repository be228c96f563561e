//! `esker grind`: how the sizes of a powder change in a ball mill.

mod of_run;

use crate::out::{say, tell};
use crate::{Failure, plot, quantity};
use esker::expression::Dimension;
use esker::grinding::statistical::{Baskets, Batches};
use esker::grinding::{Bodies, Chain, Distribution, Impacts, Mill, SizeClasses, WallImpacts, analytical, ode};
use esker::rng::{Purpose, Stream};
use esker_io::chart::{Axis, Chart, Curve};
use of_run::MillRun;
use rayon::prelude::*;
use std::f64::consts::PI;
use std::path::PathBuf;

/// Arguments of `esker grind`.
#[derive(clap::Args)]
pub struct Args {
    /// Impacts between balls in a second, e.g. 1e5; given alone, all impacts count as such
    #[arg(long, required_unless_present = "run", requires = "ball_radius", requires = "free_volume")]
    rate: Option<String>,
    /// Impacts on the wall in a second, besides those between balls
    #[arg(long, value_name = "RATE", requires = "rate")]
    wall_rate: Option<String>,
    /// Take the rates, the balls and the vessel from this run of a mill
    #[arg(long, value_name = "FOLDER", conflicts_with = "rate")]
    run: Option<PathBuf>,
    /// Stage of the run whose rates count (default: the last)
    #[arg(long, value_name = "NAME", requires = "run")]
    stage: Option<String>,
    /// Radius of the balls
    #[arg(long, value_name = "RADIUS")]
    ball_radius: Option<String>,
    /// Volume of the vessel less that of the balls, e.g. "303919 mm^3"
    #[arg(long, value_name = "VOLUME")]
    free_volume: Option<String>,
    /// How impacts on the wall grind
    #[arg(long, value_enum, default_value_t = OnWall::Plane)]
    wall_impacts: OnWall,
    /// Radius of all grains of the powder at the beginning
    #[arg(long, value_name = "RADIUS")]
    from: String,
    /// Radius below which grains split no more
    #[arg(long, value_name = "RADIUS")]
    to: String,
    /// How long the mill runs, e.g. "24 h"
    #[arg(long)]
    time: Option<String>,
    /// Times to tell of, e.g. "1 h, 4 h, 24 h", instead of --time
    #[arg(long, value_delimiter = ',', required_unless_present = "time", conflicts_with_all = ["time", "outputs"])]
    times: Vec<String>,
    /// So many times to tell of, each twice the one before, the last as --time says
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    outputs: u32,
    /// How to calculate
    #[arg(long, value_enum, default_value_t = Model::Analytical)]
    model: Model,
    /// Grains at the beginning, for the statistical model
    #[arg(long, value_name = "NUMBER", default_value_t = 1000, conflicts_with = "mass")]
    grains: u64,
    /// Mass of the powder, for the statistical model, instead of --grains
    #[arg(long, requires = "density")]
    mass: Option<String>,
    /// Density of the grains of the powder
    #[arg(long, requires = "mass")]
    density: Option<String>,
    /// Seed of the statistical model
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Runs of the statistical model, to be averaged
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    runs: u64,
    /// Tell also after which time a share of the mass is no larger than this radius
    #[arg(long, value_name = "RADIUS")]
    below: Option<String>,
    /// That share
    #[arg(long, default_value_t = 0.9, requires = "below")]
    share: f64,
    /// Table of all sizes at all times to write, .csv
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Picture of the distributions to write, .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

/// How to calculate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Model {
    /// Expected masses in closed form
    Analytical,
    /// Grains drawn by chance, with their scatter
    Statistical,
    /// Expected masses by an integrator
    Ode,
}

impl Model {
    fn name(self) -> &'static str {
        match self {
            Model::Analytical => "closed form",
            Model::Statistical => "drawn by chance",
            Model::Ode => "integrated",
        }
    }
}

/// How impacts on the wall grind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum OnWall {
    /// Between a ball and a plane: twice the volume of two equal balls
    Plane,
    /// As between two equal balls, as Gavrilov (1999) counts
    AsBalls,
}

/// The powder at a time.
struct Instant {
    /// \[s\]
    time: f64,
    impacts: f64,
    powder: Distribution,
    /// Standard error of the shares of mass, of several runs.
    error: Option<Vec<f64>>,
}

/// Calculates.
pub fn main(args: &Args) -> Result<(), Failure> {
    let classes = SizeClasses::new(
        quantity::positive("--from", &args.from, Dimension::LENGTH)?,
        quantity::positive("--to", &args.to, Dimension::LENGTH)?,
    )?;
    let mill = mill(args)?;
    let chain = mill.chain(&classes)?;
    let times = times(args)?;
    let course = match args.model {
        Model::Analytical => expected(&mill, &chain, &times, analytical::masses),
        Model::Ode => expected(&mill, &chain, &times, ode::masses),
        Model::Statistical => drawn(args, &mill, &chain, &times, &classes)?,
    };
    tell_mill(&mill, &classes, &chain);
    tell_course(args.model, &course, &classes);
    if let Some(text) = &args.below {
        let radius = quantity::positive("--below", text, Dimension::LENGTH)?;
        match analytical::impacts_until(&chain, &classes, radius, args.share) {
            Some(n) => say!("{} of the mass is below {text} after {}", args.share, long(n / mill.rate())),
            None => {
                let smallest = classes.radius(classes.last());
                return Err(format!(
                    "`--below {text} --share {}` is never reached: the smallest grains have {smallest:.3e} m, and a share is below 1",
                    args.share
                )
                .into());
            }
        }
    }
    if let Some(path) = &args.output {
        let table = table(&course, &classes);
        esker_io::atomic::write(path, |file| file.write_all(table.as_bytes()))?;
    }
    if let Some(path) = &args.plot {
        plot::write(path, &chart(&course, &classes).drawing())?;
    }
    Ok(())
}

/// The mill that the arguments speak of.
fn mill(args: &Args) -> Result<Mill, Failure> {
    let given = |flag: &str, text: &Option<String>, dimension| {
        text.as_ref().map(|text| quantity::positive(flag, text, dimension)).transpose()
    };
    let radius = given("--ball-radius", &args.ball_radius, Dimension::LENGTH)?;
    let free_volume = given("--free-volume", &args.free_volume, Dimension::VOLUME)?;
    let wall = match args.wall_impacts {
        OnWall::Plane => WallImpacts::Plane,
        OnWall::AsBalls => WallImpacts::AsBalls,
    };
    let (impacts, free_volume) = match (&args.run, radius, free_volume) {
        (Some(folder), _, _) => {
            let run = MillRun::read(folder, args.stage.as_deref())?;
            (run.impacts(radius)?, free_volume.map_or_else(|| run.free_volume(), Ok)?)
        }
        (None, Some(radius), Some(free_volume)) => {
            let between = given("--rate", &args.rate, Dimension::RATE)?;
            let on_wall = given("--wall-rate", &args.wall_rate, Dimension::RATE)?;
            let balls = between.map(|rate| Impacts { bodies: Bodies::Balls([radius; 2]), rate });
            let wall = on_wall.map(|rate| Impacts { bodies: Bodies::BallAndWall(radius), rate });
            (balls.into_iter().chain(wall).collect(), free_volume)
        }
        _ => return Err("give `--rate`, `--ball-radius` and `--free-volume`, or `--run FOLDER`".into()),
    };
    Ok(Mill { impacts, wall, free_volume })
}

/// Times to tell of, in order \[s\].
fn times(args: &Args) -> Result<Vec<f64>, Failure> {
    let Some(last) = &args.time else {
        let parse = |text: &String| quantity::positive("--times", text.trim(), Dimension::TIME);
        let times: Vec<f64> = args.times.iter().map(parse).collect::<Result<_, _>>()?;
        return match times.windows(2).all(|two| two[0] < two[1]) {
            true => Ok(times),
            false => Err(format!("`--times {}` must rise", args.times.join(",")).into()),
        };
    };
    if !(1..=64).contains(&args.outputs) {
        return Err(format!("`--outputs {}`: from 1 to 64", args.outputs).into());
    }
    let last = quantity::positive("--time", last, Dimension::TIME)?;
    Ok((0..args.outputs as i32).rev().map(|halvings| last * 2f64.powi(-halvings)).collect())
}

/// Expected masses at some times.
fn expected(mill: &Mill, chain: &Chain, times: &[f64], masses: fn(&Chain, f64) -> Vec<f64>) -> Vec<Instant> {
    let at = |&time: &f64| {
        let impacts = mill.rate() * time;
        Instant { time, impacts, powder: Distribution::from_masses(&masses(chain, impacts)), error: None }
    };
    times.iter().map(at).collect()
}

/// Grains of the beginning.
fn grains(args: &Args, classes: &SizeClasses) -> Result<u128, Failure> {
    let (Some(mass), Some(density)) = (&args.mass, &args.density) else {
        return match args.grains {
            0 => Err("`--grains 0`: there is nothing to grind".into()),
            n => Ok(n.into()),
        };
    };
    let each =
        quantity::positive("--density", density, Dimension::DENSITY)? * 4.0 / 3.0 * PI * classes.radius(0).powi(3);
    let grains = (quantity::positive("--mass", mass, Dimension::MASS)? / each).round();
    if grains < 1.0 {
        return Err(format!("`--mass {mass}` is less than half a grain of {each:.3e} kg").into());
    }
    Ok(grains as u128)
}

/// Masses of several runs at some times: their mean, and its standard error.
fn drawn(
    args: &Args,
    mill: &Mill,
    chain: &Chain,
    times: &[f64],
    classes: &SizeClasses,
) -> Result<Vec<Instant>, Failure> {
    let baskets = Baskets::new(grains(args, classes)?, chain.last())?;
    let impacts: Vec<f64> = times.iter().map(|time| (mill.rate() * time).round()).collect();
    if args.runs == 0 || impacts.iter().any(|&n| n > 1e18) {
        return Err("the statistical model takes 1 run or more, and up to 1e18 impacts".into());
    }
    let begin = std::time::Instant::now();
    let runs: Vec<Vec<Distribution>> = (0..args.runs)
        .into_par_iter()
        .map(|run| {
            let mut stream = Stream::new(args.seed, Purpose::Grinding, run);
            let (mut baskets, mut batches) = (baskets.clone(), Batches::new(chain));
            let mut done = 0;
            let at = |&n: &f64| {
                baskets.grind(&mut batches, n as u64 - done, &mut stream);
                done = n as u64;
                Distribution::from_counts(baskets.counts())
            };
            impacts.iter().map(at).collect()
        })
        .collect();
    tell!("runs: {}, in {}", args.runs, crate::progress::duration(begin.elapsed().as_secs_f64()));
    Ok((0..times.len()).map(|t| mean(times[t], impacts[t], runs.iter().map(|run| &run[t]))).collect())
}

/// The mean powder of some runs, and the standard error of its shares.
fn mean<'a>(time: f64, impacts: f64, runs: impl Iterator<Item = &'a Distribution> + Clone) -> Instant {
    let n = runs.clone().count() as f64;
    let classes = runs.clone().map(|run| run.mass.len()).max().unwrap_or(0);
    let mean: Vec<f64> = (0..classes).map(|i| runs.clone().map(|run| run.mass[i]).sum::<f64>() / n).collect();
    let error = |i: usize| {
        let squares: f64 = runs.clone().map(|run| (run.mass[i] - mean[i]).powi(2)).sum();
        (squares / (n - 1.0) / n).sqrt()
    };
    let error = (n > 1.0).then(|| (0..classes).map(error).collect());
    Instant { time, impacts, powder: Distribution::from_masses(&mean), error }
}

/// A long time for people.
fn long(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 120.0 => (s, "s"),
        s if s < 7200.0 => (s / 60.0, "min"),
        s => (s / 3600.0, "h"),
    };
    let digits = format!("{value:.2}");
    format!("{} {unit}", digits.trim_end_matches('0').trim_end_matches('.'))
}

fn tell_mill(mill: &Mill, classes: &SizeClasses, chain: &Chain) {
    say!("mill: {:.4e} impacts/s, free volume {:.4e} m³", mill.rate(), mill.free_volume);
    for Impacts { bodies, rate } in &mill.impacts {
        let between = match bodies {
            Bodies::Balls([a, b]) => format!("balls of {a:.3e} m and {b:.3e} m"),
            Bodies::BallAndWall(r) => format!("balls of {r:.3e} m and the wall"),
        };
        let effective = bodies.effective_radius(mill.wall);
        say!("  {rate:.4e} /s between {between}, effective radius {effective:.3e} m");
    }
    say!(
        "powder: {} size classes from {:.4e} m to {:.4e} m; a grain splits in an impact with probability {:.3e} to {:.3e}",
        classes.last() + 1,
        classes.radius(0),
        classes.radius(classes.last()),
        chain.probability(0),
        chain.probability(classes.last() - 1)
    );
}

/// Shares below which a class is not printed; the file has all.
const SHOWN: f64 = 5e-5;

fn tell_course(model: Model, course: &[Instant], classes: &SizeClasses) {
    say!("{:>12} {:>12} {:>10} {:>10} {:>10}", "time", "impacts", "x10 [µm]", "x50 [µm]", "x90 [µm]");
    for Instant { time, impacts, powder, .. } in course {
        let [a, b, c] = [0.1, 0.5, 0.9].map(|share| 1e6 * powder.quantile(classes, share));
        say!("{:>12} {impacts:>12.4e} {a:>10.3} {b:>10.3} {c:>10.3}", long(*time));
    }
    let Some(Instant { time, powder, error, .. }) = course.last() else { return };
    say!("after {}, {}:", long(*time), model.name());
    let error_of = |i: usize| error.as_ref().map_or(String::new(), |e| format!(" ± {:.1e}", e[i]));
    let width = if error.is_some() { 17 } else { 8 };
    say!("{:>12} {:>width$} {:>10} {:>10}", "radius [µm]", "mass", "number", "finer");
    let finer = powder.cumulative_mass();
    for i in (0..=classes.last()).filter(|&i| powder.mass[i].max(powder.number[i]) >= SHOWN) {
        let mass = format!("{:.4}{}", powder.mass[i], error_of(i));
        say!("{:>12.3} {mass:>width$} {:>10.4} {:>10.4}", 1e6 * classes.radius(i), powder.number[i], finer[i]);
    }
}

/// All classes at all times, as CSV.
fn table(course: &[Instant], classes: &SizeClasses) -> String {
    let several = course.iter().any(|instant| instant.error.is_some());
    let mut text = String::from("time [s],impacts,radius [m],mass fraction,number fraction,finer mass fraction");
    text += if several { ",standard error of mass fraction\n" } else { "\n" };
    for Instant { time, impacts, powder, error } in course {
        let finer = powder.cumulative_mass();
        for i in 0..=classes.last() {
            let (radius, mass, number, finer) = (classes.radius(i), powder.mass[i], powder.number[i], finer[i]);
            text += &format!("{time:e},{impacts:e},{radius:e},{mass:e},{number:e},{finer:e}");
            if let Some(error) = error {
                text += &format!(",{:e}", error[i]);
            }
            text.push('\n');
        }
    }
    text
}

/// Most curves in a picture.
const CURVES: usize = 8;

/// Mass over size, a curve for each time, or for some of them.
fn chart(course: &[Instant], classes: &SizeClasses) -> Chart {
    let every = course.len().div_ceil(CURVES);
    let curve = |instant: &Instant| {
        let point = |i: usize| [1e6 * classes.radius(i), instant.powder.mass[i]];
        // Where there is nothing the axis need not reach.
        let held = |i: &usize| {
            let near = [i.saturating_sub(1), *i, (i + 1).min(classes.last())];
            near.iter().any(|&j| instant.powder.mass[j] >= SHOWN)
        };
        Curve { name: long(instant.time), points: (0..=classes.last()).filter(held).map(point).collect() }
    };
    let mut curves: Vec<Curve> = course.iter().rev().step_by(every).map(curve).collect();
    curves.reverse();
    Chart {
        title: "mass of the size classes".into(),
        axes: [Axis::logarithmic("radius [µm]"), "share of the mass".into()],
        curves,
    }
}
