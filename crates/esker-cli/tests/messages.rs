//! What the program says when something is wrong: one clear message, the right code, never a panic.

use crate::common;

use common::*;
use std::fs;
use std::path::Path;
use std::process::Stdio;

/// Runs the program inside a folder; it must fail with the code, and say each part on its standard error only.
#[track_caller]
fn fails(folder: &Path, arguments: &[&str], code: i32, parts: &[&str]) {
    let said: Said = esker(arguments).current_dir(folder).output().unwrap().into();
    assert_eq!(said.code, Some(code), "{arguments:?}\n{}{}", said.out, said.err);
    assert!(said.err.starts_with("error: "), "{}", said.err);
    assert_eq!(said.err.matches("error: ").count(), 1, "one message:\n{}", said.err);
    assert!(!said.err.contains("panicked") && !said.err.contains("RUST_BACKTRACE"), "{}", said.err);
    for part in parts {
        assert!(said.err.contains(part), "`{part}` is missing in\n{}", said.err);
    }
    assert!(!folder.join("runs").exists(), "nothing was begun");
}

/// The hopper with one thing replaced, as `scene.toml` in a folder; tells its place as messages do.
fn spoilt(folder: &Path, good: &str, bad: &str) -> String {
    let text = fs::read_to_string(example("hopper.toml")).unwrap();
    assert!(text.contains(good), "{good}");
    let before = &text[..text.find(good).unwrap_or_default()];
    fs::write(folder.join("scene.toml"), text.replace(good, bad)).unwrap();
    format!("scene.toml:{}:", 1 + before.matches('\n').count())
}

#[test]
fn mistakes_in_a_scene_are_told_with_place_and_help() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    for command in ["check", "run"] {
        let args = [command, "scene.toml"];
        let place = spoilt(at, "density = \"1190", "densty = \"1190");
        fails(at, &args, 1, &["unknown key `densty`", &place, "[material.disc]", "did you mean `density`?"]);
        spoilt(at, "material = \"disc\"", "material = \"dsic\"");
        let parts = ["`material = \"dsic\"` is not defined", "[[grains]] \"bed\"", "known materials: disc, steel"];
        fails(at, &args, 1, &parts);
        let place = spoilt(at, "= \"10 mm\" ", "= \"10 kg\" ");
        fails(at, &args, 1, &["`radius = \"10 kg\"` is a mass, a length was expected", &place]);
        let place = spoilt(at, "[material.steel]", "[material.steel");
        fails(at, &args, 1, &["this is not TOML", &place]);
        fs::write(at.join("scene.toml"), [0xff, 0xfe, 0x00]).unwrap();
        fails(at, &args, 1, &["scene.toml is not a text file; a scene is TOML in UTF-8"]);
        fs::write(at.join("scene.toml"), "").unwrap();
        fails(at, &args, 1, &["the scene has no grains: add [[grains]] or a [[feed]]"]);
        fails(at, &[command, "missing.toml"], 1, &["cannot read `missing.toml`", "check the spelling of the path"]);
        fails(at, &[command, "."], 1, &["cannot read `.`", "name a file"]);
    }
}

#[test]
fn laws_that_cannot_be_at_rest_are_refused_with_the_pair_and_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let scene = example("silo-static.toml");
    let scene = scene.to_str().unwrap();
    for (set, why) in [
        ("contact.disc-disc.rolling={law=\"constant\",friction=0.1}", "resists rolling"),
        ("contact.disc-disc.tangential={law=\"dashpot\",damping=10,friction=0.4}", "not a spring with a slider"),
    ] {
        let parts = ["solver `quasistatic` cannot use the law of `disc` and `disc`", why, "[solver]"];
        fails(dir.path(), &["check", scene, "--set", set], 1, &parts);
    }
}

#[test]
fn check_tells_all_mistakes_at_once() {
    let dir = tempfile::tempdir().unwrap();
    spoilt(dir.path(), "[material.steel]", "[material.steel]\ncolour = 1\nweight = 2");
    let said: Said = esker(["check", "scene.toml"]).current_dir(dir.path()).output().unwrap().into();
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("`colour`") && said.err.contains("`weight`"), "{}", said.err);
}

const SMALL: &str = r#"
material.a = { density = 1000, youngs-modulus = 1e6, poisson-ratio = 0.3 }
stage = [{ name = "s", duration = 1 }]
"#;

#[test]
fn bad_files_that_a_scene_names_are_told_with_their_place() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let mesh = "wall = [{ name = \"m\", material = \"a\", mesh = { file = \"bad.stl\" } }]\n\
                grains = [{ name = \"g\", material = \"a\", radius = 0.01, fill = { method = \"at\", positions = [[0, 0, 0]] } }]\n";
    fs::write(at.join("scene.toml"), mesh.to_string() + SMALL).unwrap();
    let args = ["check", "scene.toml"];
    fails(at, &args, 1, &["cannot read `bad.stl`", "check the spelling", "[[wall]] \"m\""]);
    fs::write(at.join("bad.stl"), "solid x\nfacet normal 0 0\n").unwrap();
    fails(at, &args, 1, &["`bad.stl`, line 3", "it is cut short", "[[wall]] \"m\": `file = \"bad.stl\"`"]);
    fs::write(at.join("bad.stl"), "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 zero\n").unwrap();
    fails(at, &args, 1, &["`bad.stl`, line 4", "zero"]);
    fs::write(at.join("bad.stl"), "solid x\nendsolid x\n").unwrap();
    fails(at, &args, 1, &["no triangles"]);

    let table = "grains = [{ name = \"g\", material = \"a\", fill = { method = \"file\", file = \"bad.csv\" } }]\n";
    fs::write(at.join("scene.toml"), table.to_string() + SMALL).unwrap();
    fs::write(at.join("bad.csv"), "x,y,z,radius\n0,0,0,0.01\n0,0,abc,0.01\n").unwrap();
    fails(at, &args, 1, &["`bad.csv`, line 3, column 3: `abc` is no finite number for `z`", "[[grains]] \"g\""]);
    fs::write(at.join("bad.csv"), "x,y,z\n0,0,0\n").unwrap();
    fails(at, &args, 1, &["bad.csv", "radius"]);
    fs::write(at.join("bad.csv"), "x,y,z,radius\n0,0,0,-1\n").unwrap();
    fails(at, &args, 1, &["bad.csv"]);

    // A file outside the folder of the scene cannot be copied into the run folder.
    fs::create_dir(at.join("deep")).unwrap();
    fs::write(at.join("bad.csv"), "x,y,z,radius\n0,0,0,0.01\n").unwrap();
    fs::write(at.join("deep/scene.toml"), table.replace("bad.csv", "../bad.csv") + SMALL).unwrap();
    fails(at, &["run", "deep/scene.toml", "--out", "o"], 1, &["`../bad.csv`", "put the file beside the scene"]);
}

#[test]
fn a_bed_that_cannot_be_laid_is_told_with_what_can_be_changed() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let scene = |more: &str| {
        let grains = "gravity = [0, 0, -9.81]\n\
            grains = [{ name = \"g\", material = \"a\", radius = 0.01, fill = { method = \"drop-and-roll\", count = 3, \
            region = { box = { min = [0, 0, 0], max = [0.1, 0.1, 0.1] } } } }]\n";
        fs::write(at.join("scene.toml"), grains.to_string() + more + SMALL).unwrap();
    };
    let args = ["check", "scene.toml"];
    scene("");
    fails(at, &args, 1, &["fell", "without coming to rest", "put a floor under the region", "[[grains]] \"g\""]);
    // Every key that a message puts in quotes must exist.
    let said: Said = esker(args).current_dir(at).output().unwrap().into();
    assert!(!said.err.contains("max_fall"), "{}", said.err);
    scene("domain = { min = [0, 0, 0], max = [0.1, 0.1, 1], periodic = [\"x\"] }\n");
    let parts = ["drop-and-roll does not know periodic faces", "scene.toml:2:", "use \"lattice\" or \"random\""];
    fails(at, &args, 1, &parts);
}

#[test]
fn wrong_arguments_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    spoilt(at, "seed", "seed");
    let run = |more: &[&'static str]| [&["run", "scene.toml"], more].concat();
    fails(at, &run(&["--threads", "0"]), 1, &["`--threads 0` makes no sense; give 1 or more"]);
    fails(at, &run(&["--threads", "many"]), 2, &["invalid value 'many' for '--threads"]);
    fails(at, &run(&["--set", "nonsense"]), 1, &["an override is written `path=value`", "--set nonsense"]);
    fails(at, &run(&["--set", "let.orifice.x=3"]), 1, &["--set let.orifice.x=3"]);
    fails(
        at,
        &run(&["--set", "stage.nope.duration=3"]),
        1,
        &["`stage` has no entry named `nope`", "settle, discharge"],
    );
    let unknown = [
        (
            "material.dics.density=5",
            "the scene has no material `dics`",
            "known materials: disc, steel (did you mean `disc`?)",
        ),
        (
            "wall.hoper.material=disc",
            "`wall` has no entry named `hoper`",
            "known names: hopper (did you mean `hopper`?)",
        ),
        ("grains.bde.radius=0.01", "`grains` has no entry named `bde`", "known names: bed (did you mean `bed`?)"),
        ("contact.disc-steal.end=geometric", "`[contact.disc-steal]` does not name two materials", "disc, steel"),
        ("stage.settle.motion.hoper.translate=[0, 1]", "hoper", "hopper"),
    ];
    for (change, what, known) in unknown {
        fails(at, &run(&["--set", change]), 1, &[what, known, &format!("--set {change}")]);
    }
    fails(
        at,
        &run(&["--set", "grains.bed.radius=10 kg"]),
        1,
        &["is a mass, a length was expected", "--set grains.bed"],
    );
    fails(at, &run(&["--until", "3 kg"]), 1, &["`--until 3 kg` is a mass, a time was expected"]);
    fails(at, &run(&["--until", "soon"]), 1, &["`--until soon`: unknown name `soon`"]);
    fails(at, &run(&["--until", "0"]), 1, &["`--until 0` must be a time above zero"]);
    fails(at, &run(&["--until=-1 s"]), 1, &["`--until -1 s` must be a time above zero"]);
    fails(at, &["frobnicate"], 2, &["unrecognized subcommand 'frobnicate'"]);
    fails(at, &["new", "hoper"], 1, &["there is no example `hoper`", "did you mean `hopper`?"]);

    fs::create_dir(at.join("full")).unwrap();
    fs::write(at.join("full/mine.txt"), "precious").unwrap();
    fails(at, &run(&["--out", "full"]), 1, &["`full` is not empty (it has `mine.txt`)", "nothing is overwritten"]);
    fails(at, &["run", "full", "--resume"], 1, &["`full` holds no run to continue"]);
    let parts =
        ["`scene.toml` is a file; --resume goes on in the folder of a run", "`esker run runs/scene-1 --resume`"];
    fails(at, &["run", "scene.toml", "--resume"], 1, &parts);
    fails(at, &["run", "nowhere", "--resume"], 1, &["cannot list `nowhere`", "check the spelling"]);
    let parts = ["`--set` does not go with --resume"];
    fails(at, &["run", "full", "--resume", "--set", "seed=1"], 1, &parts);
    fails(at, &["run", "full", "--resume", "--out", "o"], 1, &["`--out` does not go with --resume"]);
    assert_eq!(fs::read_dir(at.join("full")).unwrap().count(), 1, "the folder is as it was");
    fs::write(at.join("full/.esker.lock"), "").unwrap();
    let parts = ["`full/mine.txt` is a file; --resume goes on in the folder of a run", "`esker run full --resume`"];
    fails(at, &["run", "full/mine.txt", "--resume"], 1, &parts);
    fails(at, &["run", "full", "--resume"], 1, &["full has no scene.toml: the run ended before it began"]);
}

#[test]
fn a_state_that_is_no_longer_finite_ends_the_run_and_keeps_the_last_good_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    // A stiff grain between floor and lid with an absurd step: every bounce throws it farther into the other one.
    let text = r#"
material.a = { density = 1000 }
contact.default = { normal = { law = "hooke", stiffness = 1e12 } }
wall = [{ name = "floor", material = "a", plane = { point = [0, 0, 0], normal = [0, 0, 1] } },
        { name = "lid", material = "a", plane = { point = [0, 0, 1], normal = [0, 0, -1] } }]
grains = [{ name = "g", material = "a", radius = 0.01, velocity = [0, 0, -1], fill = { method = "at", positions = [[0, 0, 0.5]] } }]
solver.step = 1e-3
stage = [{ name = "s", duration = 100 }]
output = { series = 1e-2, checkpoint = 1e-1, frames = 1e-1 }
"#;
    fs::write(at.join("scene.toml"), text).unwrap();
    let parts = [
        "grain 0 has no finite position or velocity after step",
        "`esker check` tells what fits",
        "last good checkpoint is kept in out",
    ];
    fails(at, &["run", "scene.toml", "--out", "out", "--quiet"], 1, &parts);
    let out = at.join("out");
    assert_sound(&out);
    let left = files(&out);
    assert!(left.contains_key("checkpoint-000000000400.ckpt"), "{:?}", left.keys());
    let info: serde_json::Value = serde_json::from_slice(&left["run.json"]).unwrap();
    assert_eq!(info["outcome"]["kind"], "failed");
    assert!(info["outcome"]["reason"].as_str().unwrap().contains("no finite position"));
    // Going on from the checkpoint meets the same end.
    fails(at, &["run", "out", "--quiet", "--resume"], 1, &parts);
    let again = files(&out);
    assert_eq!(left["series.csv"], again["series.csv"]);
}

#[test]
fn examples_written_by_new_are_fine() {
    let dir = tempfile::tempdir().unwrap();
    let listed = run_well(["new"]).out;
    let names: Vec<&str> = listed.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"hopper"), "{listed}");
    for name in names {
        let told: Said = esker(["new", name]).current_dir(dir.path()).output().unwrap().into();
        assert_eq!(told.code, Some(0), "{}", told.err);
        let file = dir.path().join(format!("{name}.toml"));
        let said = run_well(["check", &file.display().to_string()]);
        assert!(said.out.ends_with("the scene is fine\n"), "{}", said.out);
        let again: Said = esker(["new", name]).current_dir(dir.path()).output().unwrap().into();
        assert!(again.code == Some(1) && again.err.contains("exists already"), "{}", again.err);
    }
}

#[test]
fn the_schema_is_json_and_completions_are_scripts() {
    let schema: serde_json::Value = serde_json::from_str(&run_well(["schema"]).out).expect("JSON");
    assert!(schema["properties"]["material"].is_object());
    assert!(run_well(["schema", "--markdown"]).out.contains("| `density` |"));
    for (shell, part) in [("bash", "_esker()"), ("zsh", "#compdef esker"), ("fish", "complete -c esker")] {
        let script = run_well(["completions", shell]).out;
        assert!(script.contains(part) && script.contains("resume"), "{shell}");
    }
    assert!(run_well(["--version"]).out.starts_with("esker "));
}

/// Runs the program with its output going into a pipe that nobody reads.
#[track_caller]
fn into_a_closed_pipe(arguments: &[&str]) {
    let mut child =
        esker(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program can be started");
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{arguments:?}: {:?}\n{errors}", output.status);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let dir = tempfile::tempdir().unwrap();
    let hopper = example("hopper.toml").display().to_string();
    for arguments in [&["schema"][..], &["schema", "--markdown"], &["completions", "zsh"], &["new"], &["--help"]] {
        into_a_closed_pipe(arguments);
    }
    into_a_closed_pipe(&["check", &hopper]);
    // The report at the end of a run, and its progress, into closed pipes.
    let out = dir.path().join("out").display().to_string();
    let mut child = esker(["run", &hopper, "--out", &out, "--until", "1 ms", "--set", "grains.bed.fill.count=20"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    assert!(child.wait().unwrap().success());
    assert_sound(Path::new(&out));
}
