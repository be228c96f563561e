//! `esker check`: reads a scene and tells what was understood.

use crate::Failure;
use crate::changes::Changes;
use crate::out::say;
use crate::progress::duration;
use esker::model::{Collapse, Method};
use esker::solver::explicit::contact_loop;
use esker_io::build::{self, LoadError};
use std::path::{Path, PathBuf};

/// Particle-steps per second and core to reckon with where nothing was measured.
const TYPICAL_SPEED: f64 = 5e6;

/// Arguments of `esker check`.
#[derive(clap::Args)]
pub struct Args {
    /// Scene file
    scene: PathBuf,
    #[command(flatten)]
    changes: Changes,
}

/// Checks a scene.
pub fn main(args: Args) -> Result<(), Failure> {
    let changes = match args.changes.of(&args.scene) {
        Err(LoadError::Scene(first)) => return Err(all_mistakes(&args.scene, &args.changes.set, first)),
        other => other?,
    };
    let (_, scene) = match build::load(&args.scene, &changes) {
        Err(LoadError::Scene(first)) => return Err(all_mistakes(&args.scene, &changes, first)),
        other => other?,
    };
    let model = &scene.stages[0].model;
    let p = &scene.state.particles;
    say!("{}", scene.title);
    say!("  {} scene, seed {}", if model.planar { "planar" } else { "spatial" }, model.seed);
    let periodic: Vec<&str> =
        ["x", "y", "z"].into_iter().zip(model.cell.length).filter(|(_, l)| l.is_some()).map(|(a, _)| a).collect();
    if !periodic.is_empty() {
        say!("  periodic along {}", periodic.join(", "));
    }

    say!("grains: {} at the start, {:.6} kg", p.owned(), p.mass.iter().sum::<f64>() + 0.0);
    for range in &scene.sizes {
        let kind = &model.kinds[range.kind as usize];
        let of: Vec<usize> = (0..p.owned()).filter(|&i| p.kind[i] == range.kind).collect();
        let mass = of.iter().map(|&i| p.mass[i]).sum::<f64>() + 0.0; // the sum of nothing is -0
        say!(
            "  {:<16} {:>8} of {}, radius {:.4} to {:.4} mm, {:.6} kg{}",
            kind.name,
            of.len(),
            model.materials[kind.material as usize].name,
            1e3 * range.r_min,
            1e3 * range.r_max,
            mass,
            if kind.fixed { ", fixed" } else { "" }
        );
    }
    say!("materials:");
    for m in &model.materials {
        let density = m.density.map_or("no density".into(), |d| format!("{d} kg/m³"));
        let elastic = match (m.youngs_modulus, m.poisson_ratio) {
            (Some(e), Some(nu)) => format!(", E = {e:.3e} Pa, ν = {nu}"),
            _ => String::new(),
        };
        say!("  {:<16} {density}{elastic}", m.name);
    }
    if !model.walls.is_empty() {
        // A wall of several parts stands there once for each.
        let mut names: Vec<&str> = Vec::new();
        for wall in &model.walls {
            if !names.contains(&wall.name.as_str()) {
                names.push(&wall.name);
            }
        }
        say!("walls: {}", names.join(", "));
    }

    let mut cost = 0.0;
    for (stage, advice) in scene.stages.iter().zip(&scene.advice) {
        if let Method::Event(settings) = stage.model.method {
            let dt = stage.model.dt;
            say!("stage \"{}\": step {dt:.4e} s, hard collisions in time order, whatever the step", stage.name);
            say!("  {}", collapse(&settings.collapse));
            say!(
                "  its cost depends on how often grains meet: some 300 000 to 700 000 collisions take a second on one core, those with walls longer"
            );
            continue;
        }
        if let Method::Quasistatic(_) = stage.model.method {
            say!("stage \"{}\": step {:.4e} s, from one equilibrium to the next", stage.name, stage.model.dt);
            say!(
                "  its cost depends on how much slides: some 200 equilibria of 500 planar grains take a second on one core"
            );
            continue;
        }
        say!(
            "stage \"{}\": step {:.4e} s, {}, contacts {}",
            stage.name,
            stage.model.dt,
            stage.model.integrator.name(),
            contact_loop(&stage.model)
        );
        if let Some(p) = advice.decisive() {
            say!(
                "  shortest contact {:.4e} s ({} on {}), advised step {:.4e} s by {}",
                p.contact_time,
                p.a,
                p.b,
                p.step,
                p.reason
            );
        }
        if let Some(p) = advice.pairs.iter().max_by(|a, b| a.overlap.total_cmp(&b.overlap)) {
            say!("  expected overlap up to {:.2} % of the radius at {:.3} m/s", 100.0 * p.overlap, advice.speed);
        }
        match stage.end.duration {
            Some(d) => cost += d / stage.model.dt * p.owned().max(1) as f64,
            None => say!("  its end depends on the state, so its cost is not known"),
        }
    }
    if scene.stages.iter().any(|stage| matches!(stage.model.method, Method::Explicit)) {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        say!(
            "cost: {:.3e} particle-steps where a duration is given, about {} at {:.0} M/s on one of {cores} cores",
            cost,
            duration(cost / TYPICAL_SPEED),
            1e-6 * TYPICAL_SPEED
        );
    }
    for warning in &scene.warnings {
        say!("warning: {warning}");
    }
    say!("the scene is fine");
    Ok(())
}

/// What is done against collisions without end, in words.
fn collapse(collapse: &Collapse) -> String {
    match collapse {
        Collapse::Refuse => "collisions without end stop the run".into(),
        Collapse::Speed(speed) => format!("collisions slower than {speed:.4e} m/s lose nothing"),
        Collapse::Time { contact, .. } => format!("collisions within {contact:.4e} s of the last lose nothing"),
        Collapse::HandOver(speed) => {
            format!("goes on with soft contacts once most collisions are slower than {speed:.4e} m/s")
        }
    }
}

/// All mistakes of the first pass at once; the second pass tells its first.
fn all_mistakes(scene: &Path, changes: &[String], first: esker_io::scene::SceneError) -> Failure {
    let text = std::fs::read_to_string(scene).unwrap_or_default();
    match esker_io::scene::check(&text, &scene.display().to_string(), changes) {
        Err(all) => all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n").into(),
        Ok(_) => first.to_string().into(),
    }
}
