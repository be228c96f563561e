//! `esker analyse`: stress, fabric and force chains of a state; pressure on walls and avalanches of one or many.

mod walls;

use crate::out::{say, tell};
use crate::run::{newest_checkpoint, read_state};
use crate::{Failure, quantity, tables};
use esker::expression::Dimension;
use esker::math::{Aabb, Mat3, Vec3};
use esker::measure::cells::Cells;
use esker::measure::chains;
use esker::measure::principal::{Principal, deviator, pressure};
use esker::model::{Method, Model};
use esker::state::State;
use esker_io::analysis::{Analysis, FOLDER};
use esker_io::build;
use esker_io::frame::components;
use esker_io::record::SCENE_FILE;
use std::path::{Path, PathBuf};

/// Most lines of a table of cells; more are in the file only.
const MOST_LINES: usize = 40;
const AXES: [&str; 3] = ["x", "y", "z"];

/// Arguments of `esker analyse`.
#[derive(clap::Args)]
pub struct Args {
    /// Folder of a run, of which the last checkpoint is taken, or a checkpoint in it; several with --wall or --avalanches
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// Divide the box into cells: `4x4x10`, in planar scenes `4x10`, or strips along an axis: `z=10` (default: one cell)
    #[arg(long, value_name = "CELLS")]
    bins: Option<String>,
    /// Look at this box only, given by two corners, e.g. "0,0,0 : 10 cm,10 cm,5 cm" (default: the box around the grains)
    #[arg(long, value_name = "MIN:MAX", allow_hyphen_values = true)]
    region: Option<String>,
    /// Largest angle between a force chain and the major stress of its grains, in degrees
    #[arg(long, value_name = "DEGREES", default_value_t = chains::ANGLE)]
    angle: f64,
    /// Folder to write (default: `analysis` in that of the run)
    #[arg(long, short, value_name = "FOLDER")]
    output: Option<PathBuf>,
    #[command(flatten)]
    silo: walls::Silo,
}

/// Measures a state, tells the main figures and writes tables and files for ParaView.
pub fn main(args: &Args) -> Result<(), Failure> {
    if !(args.angle > 0.0 && args.angle <= 90.0) {
        return Err(format!("`--angle {}`: above 0 and up to 90 degrees", args.angle).into());
    }
    if !args.silo.walls.is_empty() || args.silo.avalanches {
        return walls::main(args);
    }
    let [run] = args.runs.as_slice() else {
        return Err("of several runs only walls and avalanches are told: give `--wall NAME` or `--avalanches`".into());
    };
    let (folder, file) = place_of(run)?;
    let (_, scene) = build::load(&folder.join(SCENE_FILE), &[])?;
    let state = read_state(&file, &scene.stages, &folder)?;
    let stage = &scene.stages[state.stage.min(scene.stages.len() - 1)];
    let model = &stage.model;
    let cells = cells(args, model, &state)?;
    if state.contacts.pairs.is_empty() && state.contacts.walls.is_empty() {
        tell!("note: {}", no_contacts(model));
    }
    let analysis = Analysis::of(model, &state, cells, args.angle);
    let output = args.output.clone().unwrap_or_else(|| folder.join(FOLDER));
    let written = analysis.write(&output)?;
    say!(
        "{}: step {}, {:.6} s, stage {}, {} grains",
        file.display(),
        state.step,
        state.time,
        stage.name,
        state.particles.owned()
    );
    summary(&analysis, model.planar);
    table(&analysis, model);
    let names: Vec<String> =
        written.iter().filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect();
    say!("{}: {}", output.display(), names.join(", "));
    Ok(())
}

/// The folder of a run and the checkpoint to look at.
fn place_of(run: &Path) -> Result<(PathBuf, PathBuf), Failure> {
    let advice = "name the folder of a run, for example `runs/hopper-1`, or a checkpoint in it";
    if run.is_dir() {
        return match newest_checkpoint(run)? {
            Some(file) => Ok((run.to_owned(), file)),
            None => Err(format!("`{}` has no checkpoint\n  {advice}", run.display()).into()),
        };
    }
    if !run.exists() {
        return Err(format!("there is no `{}`\n  {advice}", run.display()).into());
    }
    let folder = run.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if run.extension().is_none_or(|end| end != "ckpt") || !folder.join(SCENE_FILE).is_file() {
        return Err(format!("`{}` is no checkpoint in the folder of a run\n  {advice}", run.display()).into());
    }
    Ok((folder.to_owned(), run.to_owned()))
}

fn no_contacts(model: &Model) -> &'static str {
    match model.method {
        Method::Event(_) => {
            "hard collisions (`kind = \"event\"`) take no time, so the state has no contacts: only its kinetic stress and solid \
             fraction are told"
        }
        Method::Explicit | Method::Quasistatic(_) => {
            "nothing touches: only the kinetic stress and the solid fraction are told"
        }
    }
}

/// The cells that were asked for.
fn cells(args: &Args, model: &Model, state: &State) -> Result<Cells, Failure> {
    let counts = match &args.bins {
        None => [1; 3],
        Some(text) => counts(text, model.planar)?,
    };
    Ok(match &args.region {
        None => Cells::around(model, state, counts)?,
        Some(text) => {
            let Some((min, max)) = text.split_once(':') else {
                return Err(format!("`--region {text}`: two corners with a colon between them are wanted").into());
            };
            Cells::new(model, Aabb { min: corner(min, model.planar)?, max: corner(max, model.planar)? }, counts)?
        }
    })
}

/// A corner of the box \[m\].
fn corner(text: &str, planar: bool) -> Result<Vec3, Failure> {
    let values: Vec<&str> = text.split(',').collect();
    let wanted = if planar { 2 } else { 3 };
    if values.len() != wanted {
        return Err(format!("`--region`: the corner `{}` should have {wanted} lengths", text.trim()).into());
    }
    let mut corner = Vec3::ZERO;
    for (axis, value) in values.into_iter().enumerate() {
        corner[axis] = quantity::value("--region", value.trim(), Dimension::LENGTH)?;
    }
    Ok(corner)
}

/// Cells along each axis.
fn counts(text: &str, planar: bool) -> Result<[usize; 3], Failure> {
    let known = if planar { "`4x10` or strips `y=10`" } else { "`4x4x10` or strips `z=10`" };
    let wrong = || Failure::from(format!("`--bins {text}`: numbers of cells along the axes are wanted, {known}"));
    if let Some((axis, n)) = text.split_once('=') {
        let axis = AXES.iter().position(|name| *name == axis.trim()).ok_or_else(wrong)?;
        let mut counts = [1; 3];
        counts[axis] = n.trim().parse().map_err(|_| wrong())?;
        return Ok(counts);
    }
    let numbers: Result<Vec<usize>, _> = text.split('x').map(|n| n.trim().parse()).collect();
    match (numbers.map_err(|_| wrong())?.as_slice(), planar) {
        (&[x, y, z], _) => Ok([x, y, z]),
        (&[x, y], true) => Ok([x, y, 1]),
        _ => Err(wrong()),
    }
}

/// A line of the summary.
fn line(name: &str, value: String) {
    say!("  {name:<34} {value}");
}

/// Numbers beside each other.
fn row(values: &[f64]) -> String {
    values.iter().map(|value| format!("{value:>12.4e}")).collect::<Vec<_>>().join("")
}

/// Numbers around one beside each other.
fn fixed(values: &[f64]) -> String {
    values.iter().map(|value| format!("{value:>12.4}")).collect::<Vec<_>>().join("")
}

/// Components that are not zero for want of a third dimension, with their names.
fn shown(tensor: Mat3, planar: bool) -> (&'static str, Vec<f64>) {
    let all = components(&tensor);
    if planar { ("xx yy xy", vec![all[0], all[1], all[3]]) } else { ("xx yy zz xy yz xz", all.to_vec()) }
}

/// Tells what is found of the whole box.
fn summary(analysis: &Analysis, planar: bool) {
    let (stress, fabric) = (&analysis.whole_stress, &analysis.whole_fabric);
    let bounds = analysis.cells.bounds();
    let corner = |x: Vec3| x.to_array().map(|x| format!("{x:.4}")).join(", ");
    line("box [m]", format!("{} to {}", corner(bounds.min), corner(bounds.max)));
    line("grains, solid fraction", format!("{}, {:.4}", stress.grains, stress.solid_fraction));
    line("kinetic pressure [Pa]", row(&[pressure(stress.kinetic, planar)]));
    let (pairs, walls) = (fabric.fabric.count(), fabric.wall_contacts);
    if pairs + walls > 0.0 {
        let deep = format!("{:.3} % of the radius deep", 100.0 * fabric.overlap);
        line("contacts", format!("{pairs} between grains, {walls} with walls, {deep}"));
        let (all, rattlers) = (fabric.coordination, fabric.rattlers);
        let without = fabric.coordination_without_rattlers;
        line("coordination", format!("{all:.3}; without {rattlers} rattlers {without:.3}"));
        say_stress(stress.contact, planar);
    }
    if pairs > 0.0 {
        let (names, values) = shown(fabric.fabric.tensor(), planar);
        line(&format!("fabric {names}"), fixed(&values));
        line("anisotropy", fixed(&[fabric.fabric.anisotropy(planar)]));
        say_forces(analysis);
    }
}

/// Tells the stress of the contacts.
fn say_stress(stress: Mat3, planar: bool) {
    let (principal, dimensions) = (Principal::of(stress, planar), if planar { 2 } else { 3 });
    let (names, values) = shown(stress, planar);
    line(&format!("stress {names} [Pa]"), row(&values));
    line("principal stresses [Pa]", row(&principal.values[..dimensions]));
    line("direction of the major one", fixed(&principal.directions[0].to_array()[..dimensions]));
    let (p, q) = (pressure(stress, planar), deviator(stress, planar));
    let ratio = if p == 0.0 { 0.0 } else { q / p };
    line("pressure, deviator [Pa], ratio", row(&[p, q]) + &fixed(&[ratio]));
}

/// Tells how forces are distributed, and of the chains.
fn say_forces(analysis: &Analysis) {
    let forces = &analysis.forces;
    line("largest normal force", format!("{:.3} of the mean{}", forces.largest, of_cells(analysis)));
    if let Some(tail) = forces.tail {
        let from = format!("{} contacts above the mean", tail.contacts);
        line("tail exp(-b f/mean)", format!("b = {:.3} ± {:.3}, from {from}", tail.exponent, tail.error));
    }
    if let Some(mean) = forces.mean_mobilised {
        line("friction mobilised", format!("{mean:.3} on average; {:.2} % slide", 100.0 * forces.sliding));
    }
    let lengths: Vec<usize> = analysis.chains.iter().map(|chain| chain.grains.len()).collect();
    let text = match lengths.first() {
        None => "none".to_string(),
        Some(longest) => {
            let inside = lengths.iter().sum::<usize>() as f64;
            let share = 100.0 * inside / analysis.whole_stress.grains.max(1) as f64;
            let mean = inside / lengths.len() as f64;
            format!(
                "{}, {mean:.2} grains on average, {longest} in the longest; {share:.1} % of the grains",
                lengths.len()
            )
        }
    };
    line("force chains", text);
}

/// Where means are taken.
fn of_cells(analysis: &Analysis) -> &'static str {
    if analysis.cells.number() > 1 { " of its cell" } else { "" }
}

/// Tells the cells, if there are several and not too many.
fn table(analysis: &Analysis, model: &Model) {
    let cells = &analysis.cells;
    if cells.number() == 1 {
        return;
    }
    if cells.number() > MOST_LINES {
        say!("  {} cells, in stress.csv and fabric.csv", cells.number());
        return;
    }
    let axes: Vec<usize> = (0..3).filter(|&axis| cells.counts()[axis] > 1).collect();
    let names = shown(Mat3::ZERO, model.planar).0.split(' ').map(|name| format!("{name} [Pa]"));
    let head = ["cell".to_string()].into_iter().chain(axes.iter().map(|&axis| format!("{} [m]", AXES[axis])));
    let head = head.chain(["grains", "solid"].map(String::from)).chain(names);
    let head: Vec<String> = head.chain(["p [Pa]", "q [Pa]", "Z", "a"].map(String::from)).collect();
    let line_of = |k: usize| {
        let (s, f, centre) = (&analysis.stress[k], &analysis.fabric[k], cells.centre(k));
        let mut line = vec![k.to_string()];
        line.extend(axes.iter().map(|&axis| format!("{:.4}", centre[axis])));
        line.extend([s.grains.to_string(), format!("{:.4}", s.solid_fraction)]);
        line.extend(shown(s.contact, model.planar).1.iter().map(|value| format!("{value:.3e}")));
        line.extend([pressure(s.contact, model.planar), deviator(s.contact, model.planar)].map(|v| format!("{v:.3e}")));
        line.extend([f.coordination, f.fabric.anisotropy(model.planar)].map(|v| format!("{v:.3}")));
        line
    };
    tables::aligned(&head, &(0..cells.number()).map(line_of).collect::<Vec<_>>());
}
