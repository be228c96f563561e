//! What the cases share: scenes of their own, run by the whole solver.

use esker::math::Vec3;
use esker::model::Model;
use esker::simulation::Simulation;
use esker::state::State;
use esker_io::build;
use esker_io::scene;
use std::path::Path;

/// The floor z = 0 of the material `floor`.
pub const FLOOR: &str =
    "[[wall]]\nname = \"floor\"\nmaterial = \"floor\"\nplane = { point = [0, 0, 0], normal = [0, 0, 1] }\n";

/// A scene of these tables with one stage without end.
pub fn simulation(tables: &str, threads: usize) -> Simulation {
    changed(tables, threads, |_, _| {})
}

/// The same after a change that no table can say.
pub fn changed(tables: &str, threads: usize, change: impl FnOnce(&mut Model, &mut State)) -> Simulation {
    let text = format!("title = \"verification\"\n{tables}\n[[stage]]\nname = \"run\"\nduration = 1e6\n");
    // These scenes are part of the program: one that is not understood is a fault of it.
    let raw = scene::read(&text, "verification.toml", &[]).expect("a scene of our own");
    let mut scene = build::build(&raw, Path::new(".")).expect("a scene of our own");
    change(&mut scene.stages[0].model, &mut scene.state);
    Simulation::new(scene.stages, scene.state, threads)
}

/// Makes some steps.
pub fn go(simulation: &mut Simulation, steps: u64) {
    simulation.go_on(steps).expect("the run goes on");
}

/// Runs for a time; returns the state.
pub fn after(simulation: &mut Simulation, time: f64) -> &State {
    let steps = (time / simulation.model().dt).round() as u64;
    simulation.advance(steps).expect("the run goes on");
    &simulation.state
}

/// A vector as a scene takes it.
pub fn vector(v: Vec3) -> String {
    format!("[{:e}, {:e}, {:e}]", v.x, v.y, v.z)
}

/// One grain of the material of its name.
pub fn grain(name: &str, radius: f64, place: Vec3, velocity: Vec3, spin: Vec3) -> String {
    format!(
        "[[grains]]\nname = \"{name}\"\nmaterial = \"{name}\"\nradius = {radius:e}\nvelocity = {}\nspin = {}\n\
         fill = {{ method = \"at\", positions = [{}] }}\n",
        vector(velocity),
        vector(spin),
        vector(place)
    )
}

/// Mass of a sphere \[kg\].
pub fn ball_mass(radius: f64, density: f64) -> f64 {
    4.0 / 3.0 * std::f64::consts::PI * radius.powi(3) * density
}

/// Index of the grain that was laid as number `id`.
pub fn index(state: &State, id: u64) -> usize {
    state.particles.id.iter().position(|&i| i == id).expect("the grain is there")
}

/// Overlap of the first grain with the floor \[m\].
pub fn on_floor(state: &State) -> f64 {
    state.particles.radius(0) - state.particles.position(0).z
}

/// Overlap of the first two grains \[m\].
pub fn of_pair(state: &State) -> f64 {
    let p = &state.particles;
    p.radius(0) + p.radius(1) - p.position(0).distance(p.position(1))
}

/// An impact as a run sees it.
#[derive(Default)]
pub struct Bounce {
    /// Largest force on the first grain \[N\].
    pub peak_force: f64,
    /// Largest overlap \[m\].
    pub peak_overlap: f64,
    /// Time from the first to the last overlap, both found between two steps \[s\].
    pub duration: f64,
    /// Force over time \[s, N\].
    pub course: Vec<[f64; 2]>,
}

/// Runs until bodies have met and parted; not a number of seconds if they do not part.
pub fn bounce(simulation: &mut Simulation, overlap: impl Fn(&State) -> f64) -> Bounce {
    let dt = simulation.model().dt;
    let (mut found, mut begin) = (Bounce { duration: f64::NAN, ..Default::default() }, f64::NAN);
    let mut before = overlap(&simulation.state);
    for _ in 0..1_000_000 {
        go(simulation, 1);
        let (state, now) = (&simulation.state, overlap(&simulation.state));
        let crossing = state.time - dt * now / (now - before);
        if before <= 0.0 && now > 0.0 {
            begin = crossing;
        }
        if now > 0.0 || before > 0.0 {
            let force = state.particles.load[0].force.length();
            found.peak_force = found.peak_force.max(force);
            found.peak_overlap = found.peak_overlap.max(now);
            found.course.push([state.time - begin, force]);
        }
        if before > 0.0 && now <= 0.0 {
            found.duration = crossing - begin;
            break;
        }
        before = now;
    }
    found
}
