//! `esker bench statics`: the quasi-static solver, disc by disc in a silo, and one solution for a bed of spheres.

use super::{Args, advance};
use crate::Failure;
use crate::out::say;
use esker::boundary::WallTouch;
use esker::contact::visit;
use esker::model::Model;
use esker::neighbor;
use esker::simulation::Simulation;
use esker::state::State;
use esker::structure::gradients::{Gradients, Preconditioner};
use esker::structure::{Action, Frame, Freedom, GROUND, Link, Structure};
use esker_io::build::{self, Scene};
use esker_io::scene;
use std::path::Path;
use std::time::Instant;

/// Discs in the silo.
const DISCS: [u64; 4] = [125, 250, 500, 1000];
/// Spheres in the bed.
const SPHERES: [u64; 3] = [1_000, 10_000, 100_000];
/// Normal and tangential stiffness of the bed \[N/m\].
const STIFFNESS: [f64; 2] = [1e6, 3e5];
/// Gap up to which spheres laid on each other touch, in radii.
const TOUCHING: f64 = 1e-6;
/// Spheres of a group that gradients move as one.
const GROUP: usize = 100;
/// What may be left unbalanced, over the largest load.
const TOLERANCE: f64 = 1e-8;

/// Measures with each number of threads.
pub(super) fn measure(args: &Args) -> Result<Vec<serde_json::Value>, Failure> {
    let mut results = Vec::new();
    if !args.json {
        say!("statics: a planar silo filled disc by disc (Gavrilov 1999, section 4.7)");
        say!("  {:>9} {:>8} {:>9} {:>9} {:>12}", "threads", "discs", "links", "seconds", "ms a disc");
    }
    for &threads in &args.threads {
        let mut times = Vec::new();
        for &n in args.n_or(&DISCS) {
            times.push((n, super::pool(threads)?.install(|| silo(n, threads, args).map_err(|e| e.to_string()))?));
        }
        results.extend(times.iter().map(|(n, t)| told("silo", *n, threads, *t)));
        tell_growth(&times, args);
    }
    if !args.json {
        say!(
            "statics: one solution for a bed of spheres, laid by drop-and-roll, by conjugate gradients to {TOLERANCE:.0e} of the load"
        );
        say!("  {:>9} {:>8} {:>9} {:>9} {:>12}  nodes", "threads", "spheres", "links", "seconds", "iterations");
    }
    for freedom in [Freedom::Spatial, Freedom::SpatialTurning] {
        for &threads in &args.threads {
            let mut times = Vec::new();
            for &n in args.n_or(&SPHERES) {
                times.push((
                    n,
                    super::pool(threads)?.install(|| bed(n, threads, freedom, args).map_err(|e| e.to_string()))?,
                ));
            }
            results.extend(times.iter().map(|(n, t)| told(&format!("bed, {freedom:?}"), *n, threads, *t)));
            tell_growth(&times, args);
        }
    }
    Ok(results)
}

fn told(name: &str, n: u64, threads: usize, seconds: f64) -> serde_json::Value {
    serde_json::json!({ "name": format!("statics: {name}"), "n": n, "threads": threads, "seconds": seconds })
}

/// The power of the number with which the time grows, between the last two.
fn tell_growth(times: &[(u64, f64)], args: &Args) {
    if let [.., (n, t), (more, longer)] = *times {
        let exponent = (longer / t).ln() / (more as f64 / n as f64).ln();
        if !args.json {
            say!("  grows as n to the {exponent:.2}");
        }
    }
}

/// Fills the silo; returns the seconds it takes.
fn silo(n: u64, threads: usize, args: &Args) -> Result<f64, Failure> {
    let text = include_str!("../../../../examples/silo-static.toml");
    let overrides = [format!("let.count={n}"), "let.top=\"2.2 m\"".into()];
    let raw = scene::read(text, "silo-static", &overrides)?;
    let Scene { stages, state, .. } = build::build(&raw, Path::new(""))?;
    let mut simulation = Simulation::new(stages, state, threads);
    simulation.prepare()?;
    let start = Instant::now();
    advance(&mut simulation, n)?;
    let seconds = start.elapsed().as_secs_f64();
    let contacts = &simulation.state.contacts;
    if !args.json {
        let (links, each) = (contacts.pairs.len() + contacts.walls.len(), 1e3 * seconds / n as f64);
        say!("  {threads:>9} {n:>8} {links:>9} {seconds:>9.3} {each:>12.3}");
    }
    Ok(seconds)
}

/// Solves for the weight of a bed; returns the seconds it takes.
fn bed(n: u64, threads: usize, freedom: Freedom, args: &Args) -> Result<f64, Failure> {
    let raw = scene::read(include_str!("../../benches/bed.toml"), "bed", &[format!("let.n={n}")])?;
    let Scene { stages, state, .. } = build::build(&raw, Path::new(""))?;
    let frame = laid(&stages[0].model, &state, freedom)?;
    let links = frame.links.len();
    let mut weight = vec![0.0; frame.size()];
    let g = stages[0].model.uniform_acceleration();
    for i in 0..frame.nodes {
        freedom.load(&mut weight, i as u32, &Action { force: state.particles.mass[i] * g, ..Action::default() });
    }
    let start = Instant::now();
    let mut structure = Structure::of(frame, Gradients::new(Preconditioner::Coarse(GROUP), 0.03 * TOLERANCE))?;
    let mut u = vec![0.0; weight.len()];
    let effort = structure.solve(&weight, &mut u, TOLERANCE);
    let seconds = start.elapsed().as_secs_f64();
    if effort.residual > TOLERANCE {
        return Err(
            format!("{:.1e} of the load is left after {} iterations", effort.residual, effort.iterations).into()
        );
    }
    if !args.json {
        say!("  {threads:>9} {n:>8} {links:>9} {seconds:>9.3} {:>12}  {freedom:?}", effort.iterations);
    }
    Ok(seconds)
}

/// The structure of grains that lie on each other.
fn laid(model: &Model, state: &State, freedom: Freedom) -> Result<Frame, Failure> {
    let p = &state.particles;
    let mut frame = Frame { freedom, nodes: p.owned(), links: Vec::new() };
    let r_max = p.place.iter().fold(0.0, |m: f64, place| m.max(place.radius));
    let near = neighbor::search(&p.place, &model.cell, TOUCHING * r_max, neighbor::Method::Grid)?;
    for i in 0..p.owned() {
        for &j in near.row(i) {
            let d = p.position(j as usize) - p.position(i);
            let levers = [p.radius(i), p.radius(j as usize)];
            frame.links.push(Some(Link { ends: [i as u32, j], normal: d.normalize(), levers, stiffness: STIFFNESS }));
        }
    }
    let frames = visit::frames(model, state, state.time, 0.0);
    let mut touches: Vec<WallTouch> = Vec::new();
    for i in 0..p.owned() {
        for (wall, pose) in model.walls.iter().zip(&frames.pose) {
            touches.clear();
            wall.surface.touches(pose.to_local(p.position(i)), (1.0 + TOUCHING) * p.radius(i), &mut touches);
            frame.links.extend(touches.iter().map(|touch| {
                let (normal, levers) = (pose.orientation * touch.normal, [p.radius(i), 0.0]);
                Some(Link { ends: [i as u32, GROUND], normal, levers, stiffness: STIFFNESS })
            }));
        }
    }
    Ok(frame)
}
