//! The scene as used, read again, is the same scene.

use esker::integrate::Integrator;
use esker::simulation::{Simulation, Stage};
use esker::state::State;
use esker_io::build::{self, Scene, filled_text};
use esker_io::scene;
use std::path::{Path, PathBuf};

fn understood(text: &str, folder: &Path) -> (scene::RawScene, Scene) {
    let raw = scene::read(text, "scene.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let scene = build::build(&raw, folder).unwrap_or_else(|e| panic!("{e}\n{text}"));
    (raw, scene)
}

fn after_100_steps(scene: Scene) -> State {
    let mut simulation = Simulation::new(scene.stages, scene.state, 1);
    let mut left = 100;
    while left > 0 && !simulation.is_finished() {
        left -= simulation.advance(left).expect("the run goes on");
    }
    simulation.state
}

/// Fills a text and checks that the result says the same, twice.
#[track_caller]
fn check(text: &str, folder: &Path) -> String {
    let (raw, scene) = understood(text, folder);
    let filled = filled_text(&raw, &scene);
    let (raw_again, again) = understood(&filled, folder);
    assert_eq!(scene.title, again.title);
    assert_eq!(scene.output, again.output);
    assert_eq!(scene.warnings, again.warnings);
    assert_eq!(scene.advice, again.advice);
    for (a, b) in scene.stages.iter().zip(&again.stages) {
        assert_eq!((&a.name, &a.end), (&b.name, &b.end));
        let (a, b) = (&a.model, &b.model);
        assert_eq!((a.dt, a.integrator, a.skin, a.seed, a.planar), (b.dt, b.integrator, b.skin, b.seed, b.planar));
        assert_eq!((&a.laws, &a.kinds, &a.removals), (&b.laws, &b.kinds, &b.removals), "{filled}");
    }
    let twice = filled_text(&raw_again, &again);
    assert_eq!(filled, twice, "a filled scene has nothing left to fill");
    for comment in text.lines().filter_map(|line| line.split_once('#')).map(|(_, comment)| comment.trim()) {
        assert!(filled.contains(comment), "the comment `{comment}` is gone from\n{filled}");
    }
    let (a, b) = (after_100_steps(scene), after_100_steps(again));
    assert!(a == b && format!("{a:?}") == format!("{b:?}"), "the runs differ:\n{filled}");
    filled
}

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    all.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    all.sort();
    assert!(!all.is_empty());
    all
}

#[test]
fn every_example_with_its_defaults_written_out_is_the_same_run() {
    for path in examples() {
        let text = std::fs::read_to_string(&path).unwrap();
        check(&text, path.parent().unwrap());
    }
}

/// A little of everything, with next to nothing said.
const BARE: &str = r#"
# A bare scene.
gravity = [0, 0, -9.81]   # down

[domain]
min = [0, 0, 0]
max = [0.2, 0.2, 0.2]

[material.glass]
density = 2500
youngs-modulus = 1e7
poisson-ratio = 0.25
friction = 0.4
restitution = 0.7
[material.steel]
youngs-modulus = 1e8
poisson-ratio = 0.3
friction = 0.2
restitution = 0.9

[contact.default]
rolling = { law = "spring", friction = 0.02 }
end = "geometric"
[contact.glass-steel]                 # mixed
normal = { law = "hertz" }
tangential = { law = "mindlin" }
[contact.glass-glass.tangential]
law = "spring"

[[wall]]
name = "floor"
material = "steel"
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
motion = [{ oscillate = { direction = [0, 0, 1], amplitude = 1e-3, frequency = 50 } },   # shakes
          { schedule = [{ duration = 1 }] }]
[[wall]]
name = "post"
material = "steel"
cylinder = { from = [0.1, 0.1, 0], to = [0.1, 0.1, 0.1], radius = 0.01 }
motion = { rotate = { axis = [0, 0, 1], rate = 3 } }

[[grains]]
name = "bed"
material = "glass"
radius = { normal = "4 mm", spread = "20 %" }
fill = { method = "random", count = 40 }
[[grains]]
name = "row"
material = "glass"
radius = { sieve = [["2 mm", 0], ["3 mm", 0.5], ["4 mm", 0.5]] }   # by mass
[grains.fill]
method = "lattice"
count = 20
region = { box = { min = [0, 0, 0.15], max = [0.2, 0.2, 0.2] } }

[[feed]]
name = "inlet"
material = "glass"
radius = { log-normal = "3 mm", spread = 0.2 }
rate = 5000
region = { sphere = { centre = [0.1, 0.1, 0.3], radius = 0.05 } }

[[field]]
drag = { viscosity = "1 mPa s" }
[[field]]
central = { strength = 1, exponent = 1 }

[[stage]]
name = "one"
duration = 0.01
[[stage]]
name = "two"
duration = 0.01
gravity = [0, 0, 0]
motion = { post = [] }
solver = { integrator = "leap-frog" }

[output]
series = 1e-3
probe = { name = "torque", torque-on = "post" }
"#;

#[test]
fn a_bare_scene_with_its_defaults_written_out_is_the_same_run() {
    let filled = check(BARE, Path::new(""));
    let turns =
        |stage: &Stage| stage.model.walls.iter().any(|wall| wall.name == "post" && !wall.motion.parts.is_empty());
    assert_eq!(understood(BARE, Path::new("")).1.stages.iter().map(turns).collect::<Vec<_>>(), [true, false]);
    for line in [
        "title = \"scene.toml\"  # default",
        "seed = 0  # default",
        "planar = false  # default",
        "gravity = [0, 0, -9.81]   # down",
        "integrator = \"velocity-verlet\"  # default",
        "steps-per-contact = 50  # default",
        "end = \"geometric\"  # default",
        "periodic = []  # default",
        "arrival = \"steady\"  # default",
        "feeds = [\"inlet\"]  # default",
        "contacts = true  # default",
        "  # default: by, min, max",
        "   # by mass; default: by",
        "  # default: rotate.through",
        "tries = 10000",
        "stiffness-ratio = 0.2857142857142857  # default",
    ] {
        assert!(filled.contains(line), "`{line}` is missing in\n{filled}");
    }
    assert!(!filled.contains("depth"), "depth has no meaning here");
    let step = filled.lines().find(|l| l.starts_with("step = ")).expect("the step that was found");
    assert!(step.ends_with("# default"), "{step}");
}

#[test]
fn what_an_integrator_cannot_do_is_refused_with_a_sentence() {
    let leap = "integrator = \"leap-frog\"";
    let angles = BARE.replace(leap, "integrator = \"gear\", rotation = \"euler-angles\"");
    let field = format!("{BARE}\n[[field]]\nattraction = {{ constant = 1, every = 5 }}\n");
    let never = field.replace("every = 5", "every = 0");
    for (text, says) in [
        (angles, "`rotation = \"euler-angles\"` has no effect with `integrator = \"gear\"`"),
        (field, "`attraction` acts every 5 steps, as impulses, which `integrator = \"leap-frog\"` does not take"),
        (never, "`every` is 0 steps"),
    ] {
        let raw = scene::read(&text, "scene.toml", &[]).unwrap();
        let error = build::build(&raw, Path::new("")).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn every_integrator_can_be_asked_for_by_its_name() {
    for integrator in Integrator::ALL {
        let word = format!("integrator = \"{}\"", integrator.name());
        let text = BARE.replace("integrator = \"leap-frog\"", &word);
        assert!(check(&text, Path::new("")).contains(&word));
        let (_, scene) = understood(&text, Path::new(""));
        assert_eq!(scene.stages[1].model.integrator, integrator);
        // So it stands in the summary of a run.
        assert_eq!(serde_json::to_string(&integrator).unwrap(), format!("\"{}\"", integrator.name()));
    }
}

#[test]
fn steps_that_differ_from_stage_to_stage_are_written_at_the_stages() {
    let text = BARE.replace("solver = { integrator = \"leap-frog\" }", "solver = { steps-per-contact = 80 }");
    let filled = check(&text, Path::new(""));
    assert!(filled.contains("# default: step"), "{filled}");
    let text = BARE.replace("[output]", "[solver]\nstep = \"auto\"  # find it\n[output]");
    assert!(check(&text, Path::new("")).contains("# find it; default: auto"));
}

#[test]
fn a_planar_scene_gets_depth_and_flat_vectors() {
    let text = r#"
planar = true
material.disc = { density = 1000 }
contact.default = { normal = { law = "hooke", stiffness = 1e5 }, preset = "dziugys_peters_1998" }
wall = [{ name = "box", material = "disc", box = { min = [0, 0], max = [0.1, 0.1] } }]
grains = [{ name = "a", material = "disc", radius = 0.005, fill = { method = "drop-and-roll", count = 20 } }]
gravity = [0, -10]
stage = [{ name = "fall", duration = 1 }]
"#;
    let filled = check(text, Path::new(""));
    for part in
        ["depth = \"1 m\"", "min = [0.0, 0.0]", "shape = \"disc\"", "velocity = [0.0, 0.0]", "tries = 100", "spin = 0"]
    {
        assert!(filled.contains(part), "`{part}` is missing in\n{filled}");
    }
}
