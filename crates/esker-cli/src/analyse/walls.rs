//! Pressure on walls by strips with Janssen's curve, and the sizes of avalanches, of one state or of many.

use super::{Args, place_of};
use crate::out::{say, tell};
use crate::run::{newest_checkpoint, read_state};
use crate::{Failure, quantity, tables};
use esker::expression::Dimension;
use esker::law::tangential::TangentialLaw;
use esker::model::Model;
use esker::simulation::Stage;
use esker::state::State;
use esker_io::analysis::FOLDER;
use esker_io::build;
use esker_io::record::SCENE_FILE;
use esker_io::record::avalanches::AVALANCHES_FILE;
use esker_io::silo::{CrossSection, SIZES_FILE, Sizes, WALLS_FILE, WallProfile};
use std::f64::consts::PI;
use std::path::PathBuf;

/// What is asked of the walls.
#[derive(clap::Args)]
#[command(next_help_heading = "Walls of a silo, and avalanches")]
pub(super) struct Silo {
    /// Tell normal and shear stress on this wall in strips of height, averaged over all runs that are named; give it again for more walls
    #[arg(long = "wall", value_name = "NAME")]
    pub(super) walls: Vec<String>,
    /// Height of a strip (default: 10 mean radii)
    #[arg(long, value_name = "HEIGHT", requires = "walls")]
    strip: Option<String>,
    /// Distance of the walls of a planar silo, or of one that is long in the third direction: fits Janssen's curve
    #[arg(long, value_name = "LENGTH", requires = "walls", conflicts_with = "radius")]
    width: Option<String>,
    /// Radius of a round silo: fits Janssen's curve
    #[arg(long, value_name = "LENGTH", requires = "walls")]
    radius: Option<String>,
    /// Length of the walls along a level (default: the depth of the discs for each wall, the circumference of a round silo)
    #[arg(long, value_name = "LENGTH", requires = "walls")]
    breadth: Option<String>,
    /// Friction on the walls for Janssen's curve (default: that of the contact law)
    #[arg(long, value_name = "MU", requires = "walls")]
    wall_friction: Option<f64>,
    /// Tell how large the avalanches of quasi-static runs are
    #[arg(long)]
    pub(super) avalanches: bool,
}

/// A state with the stage it belongs to.
struct Sample {
    folder: PathBuf,
    stage: Stage,
    state: State,
}

/// Measures, tells and writes.
pub(super) fn main(args: &Args) -> Result<(), Failure> {
    let mut samples = Vec::new();
    for run in &args.runs {
        // A run of a sweep may have failed before its first checkpoint; the others are worth looking at.
        if args.runs.len() > 1 && run.is_dir() && newest_checkpoint(run)?.is_none() {
            tell!("note: {} has no checkpoint and is passed over", run.display());
        } else {
            samples.push(sample(run)?);
        }
    }
    if samples.is_empty() {
        return Err("none of these runs has a checkpoint".into());
    }
    let output = args.output.clone().unwrap_or_else(|| samples[0].folder.join(FOLDER));
    std::fs::create_dir_all(&output).map_err(|e| format!("cannot make `{}`: {e}", output.display()))?;
    let mut written = Vec::new();
    if !args.silo.walls.is_empty() {
        written.push((WALLS_FILE, pressures(&args.silo, &samples)?));
    }
    if args.silo.avalanches {
        written.push((SIZES_FILE, avalanches(&samples)?));
    }
    for (name, text) in &written {
        esker_io::atomic::write(&output.join(name), |w| w.write_all(text.as_bytes()))?;
    }
    let names: Vec<&str> = written.iter().map(|(name, _)| *name).collect();
    say!("{}: {}", output.display(), names.join(", "));
    Ok(())
}

fn sample(run: &std::path::Path) -> Result<Sample, Failure> {
    let (folder, file) = place_of(run)?;
    let (_, mut scene) = build::load(&folder.join(SCENE_FILE), &[])?;
    let state = read_state(&file, &scene.stages, &folder)?;
    let stage = scene.stages.swap_remove(state.stage.min(scene.stages.len() - 1));
    Ok(Sample { folder, stage, state })
}

/// Walls by strips: the table.
fn pressures(silo: &Silo, samples: &[Sample]) -> Result<String, Failure> {
    for Sample { folder, stage, .. } in samples {
        for name in &silo.walls {
            if !stage.model.walls.iter().any(|wall| wall.name == *name) {
                let known: Vec<&str> = stage.model.walls.iter().map(|wall| wall.name.as_str()).collect();
                let known = known.join(", ");
                return Err(
                    format!("`--wall {name}`: {} has no such wall\n  known walls: {known}", folder.display()).into()
                );
            }
        }
    }
    let model = &samples[0].stage.model;
    let gravity = model.uniform_acceleration().length();
    if gravity == 0.0 {
        return Err("strips lie along gravity, and the scene has none".into());
    }
    let length = |flag: &str, text: &Option<String>| -> Result<Option<f64>, Failure> {
        text.as_ref().map(|text| quantity::positive(flag, text, Dimension::LENGTH)).transpose()
    };
    let (width, radius) = (length("--width", &silo.width)?, length("--radius", &silo.radius)?);
    let breadth = breadth(silo, model, length("--breadth", &silo.breadth)?, radius)?;
    let states: Vec<(&Model, &State)> = samples.iter().map(|s| (&s.stage.model, &s.state)).collect();
    let profile = WallProfile::of(&states, &silo.walls, length("--strip", &silo.strip)?, breadth)
        .ok_or("there are no grains, so nothing presses on the walls")?;
    let curve = match (width, radius) {
        (None, None) => None,
        (width, radius) => {
            let friction = friction(silo, model)?;
            // A silo whose ends are far away is a planar one; its length does not matter.
            let (area, perimeter) = match (width, radius) {
                (Some(w), _) => (w * breadth_of_planar(model), 2.0 * breadth_of_planar(model)),
                (None, r) => r.map(|r| (PI * r * r, 2.0 * PI * r)).expect("one of both is there"),
            };
            Some(CrossSection { area, perimeter, friction, gravity })
        }
    };
    let fitted = curve.and_then(|section| profile.janssen(&section).map(|found| (section, found)));
    say_strips(&profile, gravity);
    match (&curve, &fitted) {
        (Some(_), None) => say!("  too few full strips for Janssen's curve: take lower ones with `--strip`"),
        (_, Some((section, (janssen, fit)))) => {
            say!("  bulk density                       {:.4} kg/m³", profile.bulk_density(section.area));
            say!(
                "  Janssen's ratio k, R²              {:.4}, {:.4} (friction {})",
                fit.ratio,
                fit.r_squared,
                section.friction
            );
            say!("  limit of the pressure              {:.4e} Pa", janssen.limit());
        }
        _ => {}
    }
    let janssen = fitted.map(|(_, (janssen, _))| janssen);
    Ok(profile.table(janssen.as_ref()))
}

/// Depth of the third direction: that of the discs, or any \[m\].
fn breadth_of_planar(model: &Model) -> f64 {
    if model.planar { model.depth() } else { 1.0 }
}

/// Length of the walls along a level \[m\].
fn breadth(silo: &Silo, model: &Model, given: Option<f64>, radius: Option<f64>) -> Result<f64, Failure> {
    let walls = model.walls.iter().filter(|wall| wall.active && silo.walls.contains(&wall.name)).count();
    match (given, radius) {
        (Some(breadth), _) => Ok(breadth),
        (None, Some(radius)) => Ok(2.0 * PI * radius),
        (None, None) if model.planar => Ok(model.depth() * walls as f64),
        (None, None) => {
            Err("how long are the walls along a level? Give `--breadth`, or `--radius` of a round silo".into())
        }
    }
}

/// Friction of the walls, the same with all kinds of grains.
fn friction(silo: &Silo, model: &Model) -> Result<f64, Failure> {
    if let Some(mu) = silo.wall_friction {
        return if mu > 0.0 && mu.is_finite() {
            Ok(mu)
        } else {
            Err(format!("`--wall-friction {mu}`: above zero").into())
        };
    }
    let walls = model.walls.iter().filter(|wall| silo.walls.contains(&wall.name));
    let all = walls.flat_map(|wall| model.kinds.iter().map(|kind| model.laws.law(kind.material, wall.material)));
    let all: Vec<f64> = all.map(|law| law.tangential.friction()).collect();
    match all.first() {
        Some(&mu) if mu > 0.0 && all.iter().all(|other| *other == mu) => Ok(mu),
        _ => Err("the walls have no friction, or not the same for all grains: give `--wall-friction`".into()),
    }
}

/// Tells the strips, the highest first.
fn say_strips(profile: &WallProfile, gravity: f64) {
    let weight = profile.mass() * gravity;
    say!("  states                             {}", profile.states());
    say!("  level of the surface               {:.4} m", profile.surface());
    say!("  these walls carry by friction      {:.2} % of {weight:.5} N", 100.0 * profile.carried() / weight);
    let rows = profile.rows();
    if let Some(lowest) = rows.first().filter(|row| profile.states() > 1 && row.normal.mean != 0.0) {
        say!("  lowest strip differs by            {:.1} % from state to state", 100.0 * lowest.normal.variation());
    }
    let head = ["from [m]", "to [m]", "contacts", "normal [Pa]", "deviation", "shear [Pa]"].map(String::from);
    let line = |row: &esker_io::silo::Row| {
        let [from, to] = row.ends;
        let stresses = [row.normal.mean, row.normal.deviation, row.shear].map(|value| format!("{value:.3e}"));
        let mut line = vec![format!("{from:.4}"), format!("{to:.4}"), format!("{:.1}", row.contacts)];
        line.extend(stresses);
        line
    };
    tables::aligned(&head, &rows.iter().rev().map(line).collect::<Vec<_>>());
}

/// Avalanches of all runs: the table.
fn avalanches(samples: &[Sample]) -> Result<String, Failure> {
    let mut sizes = Sizes::default();
    for Sample { folder, .. } in samples {
        let path = folder.join(AVALANCHES_FILE);
        if !path.is_file() {
            let message = "has no avalanches: only runs with the solver `quasistatic` tell them";
            return Err(format!("`{}` {message}", folder.display()).into());
        }
        let text = String::from_utf8_lossy(&esker_io::atomic::read(&path)?).into_owned();
        sizes.add(&path, &text)?;
    }
    say!("  rests, with slides                 {}, {}", sizes.rests, sizes.with_slides);
    say!("  most slides of one, decades        {}, {:.1}", sizes.most, sizes.decades());
    Ok(sizes.table())
}
