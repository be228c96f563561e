//! Silos at rest: from solver to solver, pressure on the walls, avalanches, and what has slid.

use crate::common;

use common::*;
use esker_io::run_folder::Frame;
use esker_io::series::Numbers;
use std::fs;
use std::path::Path;

/// A column of a table of numbers.
fn column(path: &Path, name: &str) -> Vec<f64> {
    let table = Numbers::parse(path, &fs::read_to_string(path).unwrap()).unwrap();
    table.column(name).unwrap_or_else(|| panic!("{} has no {name}: {:?}", path.display(), table.columns))
}

#[test]
fn a_bed_brought_to_rest_stands_still_in_time_until_its_gate_opens() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let out = run.display().to_string();
    let scene = example("hand-over.toml").display().to_string();
    run_well(["run", &scene, "--quiet", "--out", &out, "--set", "stage.discharge.duration=\"0.15 s\""]);
    let rest = *column(&run.join("avalanches.csv"), "time [s]").last().unwrap();
    let series = run.join("series.csv");
    let of = |name: &str| column(&series, name);
    let sum = |a: Vec<f64>, b: Vec<f64>| a.into_iter().zip(b).map(|(a, b)| a + b).collect::<Vec<f64>>();
    let kinetic = sum(of("kinetic translation [J]"), of("kinetic rotation [J]"));
    let elastic = sum(of("elastic normal [J]"), of("elastic tangential [J]"));
    let time = of("time [s]");
    let stands = |t: f64| t > rest + 1.5e-3 && t < rest + 19.5e-3;
    let standing: Vec<usize> = (0..time.len()).filter(|&k| stands(time[k])).collect();
    let worst = standing.iter().map(|&k| kinetic[k] / elastic[k]).fold(0.0, f64::max);
    println!("kinetic energy {worst:.1e} of the elastic in {} rows", standing.len());
    assert!(standing.len() > 10 && worst < 1e-15, "{worst}");
    assert!(kinetic.last().unwrap() > elastic.last().unwrap() && *of("out count").last().unwrap() < 0.0, "it runs out");
}

/// A small fill of the silo at rest.
fn fill(dir: &Path, name: &str, seed: u32) -> String {
    let out = dir.join(name).display().to_string();
    let scene = example("silo-static.toml").display().to_string();
    let seed = format!("seed={seed}");
    let rough = "contact.disc-disc.tangential.friction=0.8";
    let changes = ["--set", "let.count=90", "--set", &seed, "--set", rough];
    run_well(["run", &scene, "--quiet", "--out", &out].iter().chain(&changes));
    out
}

#[test]
fn floor_and_walls_carry_the_weight_strip_by_strip() {
    let dir = tempfile::tempdir().unwrap();
    let runs = [fill(dir.path(), "a", 1), fill(dir.path(), "b", 2)];
    let (one, two) = (&runs[0], &runs[1]);
    run_well(["analyse", one, "--wall", "left", "--wall", "right", "--strip", "50 mm"]);
    let table = Path::new(one).join("analysis/walls.csv");
    // 50 mm of two walls, one metre deep.
    let carried = 0.1 * column(&table, "shear [Pa]").iter().sum::<f64>();
    let last = |name: &str| *column(&Path::new(one).join("series.csv"), name).last().unwrap();
    let weight = 9.8 * last("mass [kg]");
    let held = carried - last("floor y [N]");
    assert!((held / weight - 1.0).abs() < 1e-6 && carried > 0.0, "{held} of {weight}");
    let pressed = 0.05 * column(&table, "normal [Pa]").iter().sum::<f64>();
    let sides = 0.5 * (last("right x [N]") - last("left x [N]"));
    assert!((pressed / sides - 1.0).abs() < 1e-9, "{pressed} and {sides}");

    // The mean of two fills, with Janssen's curve.
    let said = run_well([
        "analyse",
        one,
        two,
        "--wall",
        "left",
        "--wall",
        "right",
        "--strip",
        "50 mm",
        "--width",
        "0.3 m",
        "--avalanches",
    ]);
    assert!(said.out.contains("Janssen's ratio k, R²"), "{}", said.out);
    assert!(said.out.contains("% from state to state") && said.out.contains("(friction 0.33)"), "{}", said.out);
    assert_eq!(column(&table, "states")[0], 2.0);
    let sizes = fs::read_to_string(Path::new(one).join("analysis/avalanche-sizes.csv")).unwrap();
    assert!(sizes.lines().any(|line| line.starts_with("slides,")), "{sizes}");

    let said = run(["analyse", one, two]);
    assert!(said.err.contains("--wall NAME"), "{}", said.err);
    let said = run(["analyse", one, "--wall", "lft"]);
    assert!(said.err.contains("known walls: floor, left, right"), "{}", said.err);
}

#[test]
fn contacts_tell_what_has_slid() {
    let dir = tempfile::tempdir().unwrap();
    let out = fill(dir.path(), "a", 1);
    run_well(["analyse", &out]);
    let text = fs::read_to_string(Path::new(&out).join("analysis/contacts.csv")).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').map(String::from).collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let at = |name: &str| head.iter().position(|n| n == name).unwrap();
    let rows: Vec<Vec<String>> = lines.collect();
    let sum = |name: &str| rows.iter().map(|row| row[at(name)].parse::<f64>().unwrap()).sum::<f64>();
    let (slides, work) = (sum("slides"), sum("friction work [J]"));
    let avalanches = Path::new(&out).join("avalanches.csv");
    let all = |name: &str| column(&avalanches, name).iter().sum::<f64>();
    // Contacts that are gone have slid as well.
    assert!(slides > 0.0 && slides <= all("slides"), "{slides} of {}", all("slides"));
    assert!(work > 0.0 && work <= all("friction work [J]") * (1.0 + 1e-12), "{work}");
    let last = frames(Path::new(&out), Frame::Contacts) - 1;
    let frame = fs::read(Path::new(&out).join(Frame::Contacts.file_name(last as u64))).unwrap();
    let frame = String::from_utf8_lossy(&frame);
    assert!(frame.contains("\"slides\"") && frame.contains("\"friction work\""));
    let picture = dir.path().join("slides.png").display().to_string();
    run_well(["render", &out, "--contacts", "friction work", "--size", "200x200", "--output", &picture]);
}

#[test]
fn another_solver_takes_the_whole_scene_or_says_why_not() {
    let dir = tempfile::tempdir().unwrap();
    let out = |name: &str| dir.path().join(name).display().to_string();
    let scene = example("hand-over.toml").display().to_string();
    run_well(["run", &scene, "--quiet", "--out", &out("a"), "--solver", "explicit", "--until", "1 ms"]);
    let info: serde_json::Value = serde_json::from_slice(&fs::read(dir.path().join("a/run.json")).unwrap()).unwrap();
    let solvers: Vec<&str> = info["stages"].as_array().unwrap().iter().map(|s| s["solver"].as_str().unwrap()).collect();
    assert_eq!(solvers, ["explicit"; 4]);

    let chute = example("chute.toml").display().to_string();
    let said = run(["run", &chute, "--quiet", "--out", &out("b"), "--solver", "quasistatic"]);
    assert!(said.err.contains("solver `quasistatic` knows no periodic faces"), "{}", said.err);
    for command in [&["run", &scene, "--quiet", "--out", &out("c")][..], &["check", &scene]] {
        let said = run(command.iter().chain(&["--solver", "statics"]));
        assert!(said.err.contains("quasistatic") && said.err.contains("solver.kind=statics"), "{}", said.err);
        let of_stages = said.err.matches("solver.kind=statics").count();
        assert_eq!(of_stages > 1, command[0] == "check", "all mistakes at once: {}", said.err);
    }
    let said = run(["check", &scene, "--solver", "explicit"]);
    assert!(said.out.contains("velocity-verlet") && !said.out.contains("quasistatic"), "{}", said.out);
    let said = run(["run", &out("a"), "--resume", "--solver", "event"]);
    assert!(said.err.contains("does not go with --resume"), "{}", said.err);
}
