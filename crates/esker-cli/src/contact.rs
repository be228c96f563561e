//! `esker contact`: lets two bodies meet under a contact law, or moves them to and fro, and tells what becomes of it.

use crate::Failure;
use crate::out::{say, tell};
use crate::quantity::{positive, value};
use esker::advice::LARGE_OVERLAP;
use esker::cycle::{Cycle, Loop, Mode};
use esker::expression::Dimension;
use esker::impact::{Impact, Outcome};
use esker::law::normal::NormalLaw;
use esker::law::rolling::AnyRolling;
use esker::law::twisting::AnyTwisting;
use esker::model::Model;
use esker_io::atomic;
use esker_io::build::{self, Scene};
use esker_io::chart::{Axis, Chart, Curve};
use esker_io::scene;
use std::path::{Path, PathBuf};

/// Arguments of `esker contact`.
#[derive(clap::Args)]
pub struct Args {
    /// Scene file; without one the law is given here
    scene: Option<PathBuf>,
    /// Change a value of the scene
    #[arg(long = "set", value_name = "PATH=VALUE", requires = "scene")]
    overrides: Vec<String>,
    /// Grains, or grains and wall, of the scene, by name (default: the first grains on themselves)
    #[arg(long, num_args = 2, value_names = ["GRAINS", "OTHER"], requires = "scene")]
    pair: Option<Vec<String>>,
    /// Normal law as a scene writes it, e.g. '{ law = "hertz", modulus = "10 MPa", restitution = 0.8 }'
    #[arg(long, value_name = "TABLE", conflicts_with = "scene")]
    normal: Option<String>,
    /// Dashpot as a scene writes it
    #[arg(long, value_name = "TABLE", conflicts_with = "scene")]
    dashpot: Option<String>,
    /// Attraction as a scene writes it
    #[arg(long, value_name = "TABLE", conflicts_with = "scene")]
    cohesion: Option<String>,
    /// Tangential law as a scene writes it
    #[arg(long, value_name = "TABLE", conflicts_with = "scene")]
    tangential: Option<String>,
    /// Rolling resistance as a scene writes it
    #[arg(long, value_name = "TABLE", conflicts_with = "scene")]
    rolling: Option<String>,
    /// Twisting resistance as a scene writes it
    #[arg(long, value_name = "TABLE", conflicts_with = "scene")]
    twisting: Option<String>,
    /// When a contact ends: no-tension or geometric
    #[arg(long, value_name = "WORD", conflicts_with = "scene")]
    end: Option<String>,
    /// Young's modulus of both bodies, if the law is to follow from the material
    #[arg(long, value_name = "MODULUS", conflicts_with = "scene")]
    youngs_modulus: Option<String>,
    /// Poisson's ratio of both bodies
    #[arg(long, value_name = "RATIO", conflicts_with = "scene")]
    poisson_ratio: Option<String>,
    /// Density of the bodies
    #[arg(long, default_value = "2500 kg/m^3", conflicts_with = "scene")]
    density: String,
    /// Discs instead of spheres
    #[arg(long, conflicts_with = "scene")]
    planar: bool,
    /// Radius of the body (default: 5 mm, or the smallest of the grains)
    #[arg(long)]
    radius: Option<String>,
    /// Radius of the other one, or `plane` (default: the same)
    #[arg(long, value_name = "RADIUS")]
    other: Option<String>,
    /// Relative speed of the centres
    #[arg(long, default_value = "1 m/s")]
    speed: String,
    /// Angle between velocity and line of centres
    #[arg(long, default_value = "0 deg")]
    angle: String,
    /// Step (default: that of the scene, or 1/200 of an undamped contact)
    #[arg(long)]
    step: Option<String>,
    /// Shear the bodies to and fro by this way to either side, instead of letting them meet
    #[arg(long, value_name = "AMPLITUDE", group = "moved", requires = "load", conflicts_with_all = ["speed", "angle", "step"])]
    shear: Option<String>,
    /// Roll the bodies on each other to and fro by this angle to either side
    #[arg(long, value_name = "ANGLE", group = "moved", requires = "load", conflicts_with_all = ["speed", "angle", "step"])]
    roll: Option<String>,
    /// Twist the bodies about the normal to and fro by this angle to either side
    #[arg(long, value_name = "ANGLE", group = "moved", requires = "load", conflicts_with_all = ["speed", "angle", "step"])]
    twist: Option<String>,
    /// Force that presses the bodies together while they are moved
    #[arg(long, value_name = "FORCE", requires = "moved")]
    load: Option<String>,
    /// Time of a cycle: dashpots feel it
    #[arg(long, value_name = "TIME", default_value = "1 s", requires = "moved")]
    period: String,
    /// Cycles, after the first way out
    #[arg(long, value_name = "NUMBER", default_value_t = 3, requires = "moved")]
    cycles: usize,
    /// Write the course to NAME.csv and the curve to NAME.svg: force over overlap, of a cycle over displacement; with an
    /// angle also NAME-tangential.svg, tangential force over displacement
    #[arg(long, short, value_name = "NAME")]
    output: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Steps in an undamped contact where nothing else is said.
const STEPS: f64 = 200.0;
/// Steps below which a contact is badly resolved.
const FEW_STEPS: f64 = 20.0;
/// Steps in the finer run that tells how much the step costs.
const FINE: f64 = 16.0;

/// Steps in a cycle.
const CYCLE: usize = 2000;

/// The two bodies, and what to call them.
struct Meeting {
    impact: Impact,
    names: [String; 2],
    radius: f64,
    step: Option<f64>,
}

/// Calculates.
pub fn main(args: &Args) -> Result<(), Failure> {
    let meeting = meeting(args)?;
    let modes = [(Mode::Shear, &args.shear), (Mode::Roll, &args.roll), (Mode::Twist, &args.twist)];
    let moved = modes.into_iter().find_map(|(mode, amplitude)| amplitude.as_ref().map(|amplitude| (mode, amplitude)));
    if let (Some((mode, amplitude)), Some(load)) = (moved, &args.load) {
        return cycle(args, &meeting, mode, amplitude, load);
    }
    let Meeting { impact, names, radius, .. } = &meeting;
    let undamped = impact.undamped_time();
    let dt = match (&args.step, meeting.step) {
        (Some(step), _) => value("--step", step, Dimension::TIME)?,
        (None, Some(step)) => step,
        (None, None) => undamped / STEPS,
    };
    if !(dt > 0.0 && dt < undamped) {
        return Err(format!("a step of {dt:.3e} s cannot follow a contact of {undamped:.3e} s; shorten it").into());
    }
    let outcome = impact.run(dt, 0.5);
    let finer = impact.run(dt / FINE, 0.5);
    if let Some(name) = &args.output {
        write(name, impact, &outcome, names)?;
    }
    if args.json {
        let text = serde_json::to_string_pretty(&json(&meeting, &outcome, dt))? + "\n";
        crate::out::result(text.as_bytes())?;
    } else {
        say!(
            "{} on {}: effective radius {:.4e} m, effective mass {:.4e} kg",
            names[0],
            names[1],
            impact.effective_radius(),
            impact.effective_mass
        );
        tell_outcome(impact, &outcome, *radius, dt);
    }
    for line in advice(&meeting, &outcome, &finer, dt) {
        tell!("advice: {line}");
    }
    Ok(())
}

fn tell_outcome(impact: &Impact, outcome: &Outcome, radius: f64, dt: f64) {
    match outcome.duration {
        Some(time) => say!("  contact time       {time:.4e} s, {:.0} steps of {dt:.4e} s", time / dt),
        None => say!("  contact time       none: they stay together"),
    }
    say!("  undamped           {:.4e} s", impact.undamped_time());
    say!(
        "  largest overlap    {:.4e} m, {:.3} % of the radius",
        outcome.peak_overlap,
        100.0 * outcome.peak_overlap / radius
    );
    say!("  largest force      {:.4e} N", outcome.peak_force);
    if outcome.largest_pull > 0.0 {
        say!("  largest pull       {:.4e} N", outcome.largest_pull);
    }
    if let Some(e) = outcome.restitution {
        say!("  restitution        {e:.4}");
    }
    if let Some(e) = outcome.tangential_restitution {
        say!("  slip after/before  {e:.4}");
    }
    let begin = 0.5 * impact.effective_mass * (impact.approach.powi(2) + impact.slip.powi(2) / impact.turning);
    say!("  energy lost        {:.4e} J, {:.2} %", outcome.dissipated, 100.0 * outcome.dissipated / begin);
    say!("  account off by     {:.1e} of the energy", outcome.residual / begin);
    let at = |factor: f64| {
        let other = Impact { approach: factor * impact.approach, slip: factor * impact.slip, ..*impact };
        let e = other.run(dt.min(other.undamped_time() / STEPS), 0.5).restitution;
        e.map_or("they stay together".into(), |e| format!("{e:.4}"))
    };
    say!("  restitution at 1/10 of the speed {}, at 10 times {}", at(0.1), at(10.0));
}

/// What is bad about a choice, and what to do.
fn advice(meeting: &Meeting, outcome: &Outcome, finer: &Outcome, dt: f64) -> Vec<String> {
    let mut lines = Vec::new();
    let impact = &meeting.impact;
    let steps = impact.undamped_time() / dt;
    if steps < FEW_STEPS {
        lines.push(format!(
            "{steps:.0} steps in a contact are few: take {:.2e} s or less",
            impact.undamped_time() / 50.0
        ));
    }
    let overlap = outcome.peak_overlap / meeting.radius;
    if overlap > LARGE_OVERLAP {
        let power = impact.law.normal.power_law(impact.effective_radius()).exponent;
        let stiffer = (overlap / LARGE_OVERLAP).powf(power + 1.0);
        lines.push(format!(
            "an overlap of {:.1} % is no small deformation: {stiffer:.2} times the stiffness would make it {:.0} %",
            100.0 * overlap,
            100.0 * LARGE_OVERLAP
        ));
    }
    if let (Some(coarse), Some(fine)) = (outcome.restitution, finer.restitution) {
        if (coarse - fine).abs() > 0.01 * fine {
            lines.push(format!("with a 16th of the step the restitution is {fine:.4}: shorten the step"));
        }
        let slower = Impact { approach: 0.1 * impact.approach, slip: 0.1 * impact.slip, ..*impact };
        let slow = slower.run(dt, 0.5).restitution;
        if slow.is_some_and(|slow| fine > slow + 0.02) && outcome.largest_pull == 0.0 {
            lines.push(
                "the restitution rises with the speed, against experience: a linear dashpot does not go well with a \
                        law stiffer than linear; use `restitution`, or the viscoelastic dashpot"
                    .into(),
            );
        }
    }
    lines
}

fn json(meeting: &Meeting, outcome: &Outcome, dt: f64) -> serde_json::Value {
    let impact = &meeting.impact;
    serde_json::json!({
        "bodies": meeting.names,
        "effective_radius": impact.effective_radius(),
        "effective_mass": impact.effective_mass,
        "approach": impact.approach,
        "slip": impact.slip,
        "step": dt,
        "contact_time": outcome.duration,
        "undamped_contact_time": impact.undamped_time(),
        "peak_overlap": outcome.peak_overlap,
        "peak_force": outcome.peak_force,
        "largest_pull": outcome.largest_pull,
        "restitution": outcome.restitution,
        "tangential_restitution": outcome.tangential_restitution,
        "dissipated": outcome.dissipated,
        "residual": outcome.residual,
    })
}

/// The name of a file to write.
fn with_ending(name: &Path, ending: &str) -> PathBuf {
    let mut path = name.as_os_str().to_owned();
    path.push(ending);
    PathBuf::from(path)
}

/// Writes the course as a table and the curves as pictures.
fn write(name: &Path, impact: &Impact, outcome: &Outcome, names: &[String; 2]) -> Result<(), Failure> {
    let mut table = String::from(
        "time [s],overlap [m],normal force [N],tangential force [N],approach [m/s],slip [m/s],displacement [m]\n",
    );
    for i in &outcome.course {
        table += &format!(
            "{:e},{:e},{:e},{:e},{:e},{:e},{:e}\n",
            i.time, i.overlap, i.normal_force, i.tangential_force, i.approach, i.slip, i.displacement
        );
    }
    atomic::write(&with_ending(name, ".csv"), |file| file.write_all(table.as_bytes()))?;
    // The last instant has no force any more: it would draw a line along the axis.
    let points = || outcome.course.iter().filter(|i| i.normal_force != 0.0 || i.overlap > 0.0);
    let normal = points().map(|i| [1e6 * i.overlap, i.normal_force]).collect();
    draw(&with_ending(name, ".svg"), names, ["overlap [µm]", "normal force [N]"], normal)?;
    if impact.slip > 0.0 {
        let resistance = points().map(|i| [1e6 * i.displacement, -i.tangential_force]).collect();
        let axes = ["tangential displacement [µm]", "force that resists [N]"];
        draw(&with_ending(name, "-tangential.svg"), names, axes, resistance)?;
    }
    Ok(())
}

/// Writes one curve.
fn draw(path: &Path, names: &[String; 2], axes: [&str; 2], points: Vec<[f64; 2]>) -> Result<(), Failure> {
    let chart = Chart {
        title: format!("{} on {}", names[0], names[1]),
        axes: axes.map(Axis::from),
        curves: vec![Curve { name: String::new(), points }],
    };
    atomic::write(path, |file| file.write_all(chart.svg().as_bytes()))?;
    Ok(())
}

/// How a way of moving is given and told.
struct Told {
    flag: &'static str,
    dimension: Dimension,
    /// Of the displacement in pictures.
    factor: f64,
    axes: [&'static str; 2],
    /// Of displacement and resistance.
    units: [&'static str; 2],
    peak: &'static str,
    /// Of energies, over that of a slider; memories keep couples with seven digits.
    rounding: f64,
}

fn told(mode: Mode) -> Told {
    let turning = |flag, displacement| Told {
        flag,
        dimension: Dimension::NONE,
        factor: 1e3,
        axes: [displacement, "couple that resists [N m]"],
        units: ["rad", "N m"],
        peak: "largest couple",
        rounding: 1e-9,
    };
    match mode {
        Mode::Shear => Told {
            flag: "--shear",
            dimension: Dimension::LENGTH,
            factor: 1e6,
            axes: ["tangential displacement [µm]", "force that resists [N]"],
            units: ["m", "N"],
            peak: "largest force ",
            rounding: 1e-12,
        },
        Mode::Roll => turning("--roll", "angle of rolling [mrad]"),
        Mode::Twist => turning("--twist", "angle of twisting [mrad]"),
    }
}

/// Moves the bodies to and fro under a load.
fn cycle(args: &Args, meeting: &Meeting, mode: Mode, amplitude: &str, load: &str) -> Result<(), Failure> {
    let Meeting { impact, names, .. } = meeting;
    let Told { flag, dimension, factor, axes, units, .. } = told(mode);
    let cycle = Cycle {
        mode,
        law: impact.law,
        curvature: impact.curvature,
        effective_mass: impact.effective_mass,
        load: positive("--load", load, Dimension::FORCE)?,
        amplitude: positive(flag, amplitude, dimension)?,
        period: positive("--period", &args.period, Dimension::TIME)?,
        cycles: args.cycles,
    };
    let slot = match mode {
        Mode::Roll if matches!(cycle.law.rolling, AnyRolling::None(_)) => Some("rolling"),
        Mode::Twist if matches!(cycle.law.twisting, AnyTwisting::None(_)) => Some("twisting"),
        _ => None,
    };
    if let Some(slot) = slot {
        return Err(
            format!("`{flag}`: nothing resists {slot}; give a law with `--{slot}`, or `{slot}` in the scene").into()
        );
    }
    let Some(done) = cycle.run(CYCLE) else {
        return Err(
            format!("`--load {load}`: no overlap below the radius bears it; lower it, or stiffen the law").into()
        );
    };
    if let Some(name) = &args.output {
        let mut table = format!("time [s],displacement [{}],resistance [{}]\n", units[0], units[1]);
        for i in &done.course {
            table += &format!("{:e},{:e},{:e}\n", i.time, i.displacement, i.resistance);
        }
        atomic::write(&with_ending(name, ".csv"), |file| file.write_all(table.as_bytes()))?;
        let points = done.course.iter().map(|i| [factor * i.displacement, i.resistance]).collect();
        draw(&with_ending(name, ".svg"), names, axes, points)?;
    }
    if args.json {
        let mut told = serde_json::json!({
            "bodies": names,
            "effective_radius": impact.effective_radius(),
            "effective_mass": impact.effective_mass,
            "load": cycle.load,
            "amplitude": cycle.amplitude,
            "period": cycle.period,
            "overlap": done.overlap,
            "normal_stiffness": done.normal_stiffness,
            "first_stiffness": first_stiffness(&done),
            "lost_first": done.lost_first,
            "lost": done.lost,
            "residual": done.residual,
        });
        if mode == Mode::Shear {
            told["friction_limit"] = done.limit.into();
            told["peak_force"] = done.peak.into();
        } else {
            told["peak_couple"] = done.peak.into();
        }
        crate::out::result((serde_json::to_string_pretty(&told)? + "\n").as_bytes())?;
    } else {
        say!("{} on {}: effective radius {:.4e} m", names[0], names[1], impact.effective_radius());
        tell_cycle(&cycle, &done);
    }
    Ok(())
}

/// Stiffness of the first step \[N/m\] or \[N m/rad\].
fn first_stiffness(done: &Loop) -> f64 {
    done.course.get(1).map_or(0.0, |first| first.resistance / first.displacement)
}

fn tell_cycle(cycle: &Cycle, done: &Loop) {
    let Told { units: [displacement, resistance], peak, rounding, .. } = told(cycle.mode);
    say!("  load               {:.4e} N, held at an overlap of {:.4e} m", cycle.load, done.overlap);
    say!("  normal stiffness   {:.4e} N/m", done.normal_stiffness);
    say!("  first stiffness    {:.4e} {resistance}/{displacement}", first_stiffness(done));
    // What a slider that always gives the same would lose in a cycle: at the limit of friction, or at the largest couple.
    let most = if cycle.mode == Mode::Shear { done.limit } else { done.peak };
    let all = 4.0 * cycle.amplitude * most;
    // What is rounding is nothing.
    let lost = |x: f64| if x.abs() > rounding * all { x } else { 0.0 };
    let share =
        |x: f64| if all > 0.0 { format!(", {:.2} % of that of a slider", 100.0 * x / all) } else { String::new() };
    if cycle.mode == Mode::Shear {
        let slides = if done.peak >= done.limit * (1.0 - 1e-9) { "reached" } else { "not reached" };
        say!("  limit of friction  {:.4e} N, {slides}", done.limit);
    }
    say!("  {peak}     {:.4e} {resistance}", done.peak);
    say!("  lost on first way  {:.4e} J", lost(done.lost_first));
    if let [first, .., last] | [first @ last] = done.lost[..] {
        let [first, last] = [first, last].map(lost);
        say!("  lost in a cycle    {first:.4e} J in the first{}", share(first));
        say!("                     {last:.4e} J in the last{}", share(last));
    }
    say!("  account off by     {:.1e} J", done.residual);
}

/// The bodies that the arguments speak of.
fn meeting(args: &Args) -> Result<Meeting, Failure> {
    let speed = value("--speed", &args.speed, Dimension::SPEED)?;
    let angle = value("--angle", &args.angle, Dimension::NONE)?;
    let turn = std::f64::consts::FRAC_PI_2;
    if speed.is_nan() || speed <= 0.0 {
        return Err(format!("`--speed {}`: bodies that meet need a speed above zero", args.speed).into());
    }
    if !(0.0..turn).contains(&angle) {
        return Err(format!("`--angle {}`: between 0 and less than 90 deg", args.angle).into());
    }
    let scene = match &args.scene {
        Some(path) => build::load(path, &args.overrides)?.1,
        None => build::build(&scene::read(&composed(args), "the law given here", &[])?, Path::new("."))?,
    };
    let model = &scene.stages[0].model;
    let (kind, other) = bodies(args, &scene)?;
    let grain = &model.kinds[kind];
    let smallest = |kind: usize| {
        let range = scene.sizes.iter().find(|s| usize::from(s.kind) == kind);
        range.map(|s| s.r_min).ok_or_else(|| format!("`{}` has no grains", model.kinds[kind].name))
    };
    let radius = match &args.radius {
        Some(text) => positive("--radius", text, Dimension::LENGTH)?,
        None => smallest(kind)?,
    };
    let (name, material, curvature, other_mass) = match (other, args.other.as_deref()) {
        (Other::Wall(w), _) => (model.walls[w].name.clone(), model.walls[w].material, 0.0, f64::INFINITY),
        (Other::Grains(k), Some("plane")) => ("a plane".into(), model.kinds[k].material, 0.0, f64::INFINITY),
        (Other::Grains(k), text) => {
            let other = &model.kinds[k];
            let r = match text {
                Some(text) => positive("--other", text, Dimension::LENGTH)?,
                None if k == kind => radius,
                None => smallest(k)?,
            };
            let mass = if other.fixed { f64::INFINITY } else { other.mass(r) };
            (other.name.clone(), other.material, 1.0 / r, mass)
        }
    };
    let impact = Impact {
        law: *model.laws.law(grain.material, material),
        curvature: [1.0 / radius, curvature],
        effective_mass: 1.0 / (1.0 / grain.mass(radius) + 1.0 / other_mass),
        turning: 1.0 + 1.0 / grain.inertia_factor.min_element(),
        approach: speed * angle.cos(),
        slip: speed * angle.sin(),
    };
    let step = args.scene.is_some().then_some(model.dt);
    Ok(Meeting { impact, names: [grain.name.clone(), name], radius, step })
}

/// The second body.
enum Other {
    Grains(usize),
    Wall(usize),
}

fn bodies(args: &Args, scene: &Scene) -> Result<(usize, Other), Failure> {
    let model: &Model = &scene.stages[0].model;
    let moving = |k: usize| !model.kinds[k].fixed && scene.sizes.iter().any(|s| usize::from(s.kind) == k);
    let first = (0..model.kinds.len()).find(|&k| moving(k)).ok_or("the scene has no grains that move")?;
    let Some(pair) = &args.pair else { return Ok((first, Other::Grains(first))) };
    let grains = |name: &str| model.kinds.iter().position(|k| k.name == name);
    let wall = |name: &str| model.walls.iter().position(|w| w.name == name);
    let unknown = |name: &str| {
        let all = model.kinds.iter().map(|k| k.name.as_str()).chain(model.walls.iter().map(|w| w.name.as_str()));
        let mut known: Vec<&str> = all.collect();
        known.dedup(); // a wall of several parts stands there once for each
        format!("`{name}` is neither grains nor a wall of the scene; known: {}", known.join(", "))
    };
    // Either order will do.
    let (a, b) = match (grains(&pair[0]), grains(&pair[1])) {
        (Some(a), Some(b)) => (a, Other::Grains(b)),
        (Some(a), None) => (a, Other::Wall(wall(&pair[1]).ok_or_else(|| unknown(&pair[1]))?)),
        (None, Some(b)) => (b, Other::Wall(wall(&pair[0]).ok_or_else(|| unknown(&pair[0]))?)),
        (None, None) => return Err(unknown(&pair[0]).into()),
    };
    if model.kinds[a].fixed {
        return Err(format!("`{}` is fixed: name first what moves", model.kinds[a].name).into());
    }
    Ok((a, b))
}

/// A scene that holds the law given on the command line.
fn composed(args: &Args) -> String {
    let number = |text: &str| if text.parse::<f64>().is_ok() { text.to_string() } else { format!("{text:?}") };
    let mut text = String::from("title = \"contact\"\n");
    if args.planar {
        text += "planar = true\n";
    }
    text += &format!("[material.body]\ndensity = {}\n", number(&args.density));
    for (key, given) in [("youngs-modulus", &args.youngs_modulus), ("poisson-ratio", &args.poisson_ratio)] {
        if let Some(given) = given {
            text += &format!("{key} = {}\n", number(given));
        }
    }
    text += "[contact.default]\n";
    let tables = [
        ("normal", &args.normal),
        ("dashpot", &args.dashpot),
        ("cohesion", &args.cohesion),
        ("tangential", &args.tangential),
        ("rolling", &args.rolling),
        ("twisting", &args.twisting),
    ];
    for (key, given) in tables {
        if let Some(given) = given {
            text += &format!("{key} = {given}\n");
        }
    }
    if let Some(end) = &args.end {
        text += &format!("end = {end:?}\n");
    }
    let place = if args.planar { "[0, 0]" } else { "[0, 0, 0]" };
    text + &format!(
        "[[grains]]\nname = \"body\"\nmaterial = \"body\"\nradius = \"5 mm\"\n\
         fill = {{ method = \"at\", positions = [{place}] }}\n[[stage]]\nname = \"impact\"\nduration = 1\n"
    )
}
