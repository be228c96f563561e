//! `esker sweep`: the runs of a plan, what is read from them, and that a sweep goes on after it was stopped.

use crate::common;

use common::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A ball that falls on a plate: soft enough for some thousand steps, height as a column of its own.
const BALL: &str = r#"
title   = "Ball"
gravity = [0, 0, -9.81]

[let]
drop = "0.5 m"

[material.soft]
density        = 2500
youngs-modulus = "10 MPa"
poisson-ratio  = 0.2
restitution    = 0.9

[[wall]]
name     = "plate"
material = "soft"
plane    = { point = [0, 0, 0], normal = [0, 0, 1] }

[[grains]]
name     = "ball"
material = "soft"
radius   = "10 mm"
fill     = { method = "at", positions = [[0, 0, "drop + 10 mm"]] }

[solver]
steps-per-contact = 100

[[stage]]
name     = "bounce"
duration = "0.9 s"

[output]
series = "1 ms"
"#;

/// Stiff enough for an impact like that of a point.
const STIFF: &str = "material.soft.youngs-modulus=100 MPa";

/// Height of the centre, from the potential energy: m = 2500 · 4/3 π 0.01³ kg.
const HEIGHT: &str = "top=max(potential)/(2500*4/3*pi*0.01^3*9.81)-0.01";

fn ball(folder: &Path) -> PathBuf {
    let scene = folder.join("ball.toml");
    fs::write(&scene, BALL).unwrap();
    scene
}

/// The program within a folder.
fn within(folder: &Path, arguments: &[&str]) -> Said {
    let said: Said = esker(arguments).current_dir(folder).output().unwrap().into();
    assert!(!said.err.contains("panicked"), "{}", said.err);
    said
}

/// Rows of `results.csv` by the names of their columns. No cell of these tests has a comma.
#[track_caller]
fn results(folder: &Path) -> Vec<BTreeMap<String, String>> {
    let text = fs::read_to_string(folder.join("results.csv")).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').map(String::from).collect::<Vec<_>>());
    let header = lines.next().unwrap();
    lines.map(|line| header.iter().cloned().zip(line).collect()).collect()
}

/// `results.csv` without what the clock decides.
fn without_wall_time(folder: &Path) -> Vec<BTreeMap<String, String>> {
    let mut rows = results(folder);
    rows.iter_mut().for_each(|row| assert!(row.remove("wall time [s]").is_some()));
    rows
}

#[track_caller]
fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column}: {row:?}"))
}

/// A sweep that is killed when the test ends, whatever way.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_grid_runs_every_combination_and_its_results_are_those_of_the_formula() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    ball(at);
    let arguments = [
        "sweep",
        "ball.toml",
        "--vary",
        "let.drop=40 cm..60 cm:3",
        "--vary",
        "material.soft.restitution=0.6,0.9",
        "--set",
        STIFF,
        "--result",
        HEIGHT,
        "--result",
        "ratio=top/drop",
        "--from",
        "0.4 s",
        "--jobs",
        "2",
        "--plot",
        "top.svg",
        "--out",
        "out",
    ];
    let said = within(at, &arguments);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    assert!(said.out.contains("let.drop") && said.out.contains("40 cm"), "{}", said.out);
    let rows = results(&at.join("out"));
    assert_eq!(rows.len(), 6);
    for (k, row) in rows.iter().enumerate() {
        let (drop, e) = ([0.4, 0.5, 0.6][k / 2], [0.6, 0.9][k % 2]);
        assert_eq!((row["point"].as_str(), row["outcome"].as_str()), ((k + 1).to_string().as_str(), "finished"));
        assert_eq!(row["let.drop"], format!("{} cm", 100.0 * drop));
        assert!((number(row, "let.drop [SI]") - drop).abs() < 1e-15);
        assert_eq!(number(row, "material.soft.restitution"), e);
        assert_eq!(row["particles"], "1");
        // The first impact is over at 0.4 s, and it rises to e² of the drop. Gravity over the depth of the impact, 0.7 mm, takes
        // up to (1 - e²) of that depth, 3e-3 of the lowest top; the step, a hundredth of the impact, some 1e-3; rows miss
        // the top by g (0.5 ms)²/2 at most, 1e-5.
        let (measured, expected) = (number(row, "top"), e * e * drop);
        assert!((measured / expected - 1.0).abs() < 5e-3, "{measured} for {expected}: {row:?}");
        assert!((number(row, "ratio") - measured / drop).abs() < 1e-12);
        // A point is a run like any other.
        let run = at.join("out").join(format!("{:04}", k + 1));
        assert_sound(&run);
        assert!(run.join("series.csv").exists());
    }
    assert!(fs::read_to_string(at.join("top.svg")).unwrap().matches("<polyline").count() > 2);

    // The same command again runs nothing, and other results are read from the same runs.
    let begun = fs::metadata(at.join("out/0001/run.json")).unwrap().modified().unwrap();
    assert_eq!(within(at, &arguments).code, Some(0));
    let said = within(at, &["sweep", "--resume", "out", "--result", "end=last(time)", "--maximise", "2*drop"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.contains("best: 1.2 with let.drop = 60 cm"), "{}", said.out);
    let last = &results(&at.join("out"))[5];
    assert!(number(last, "objective") == 1.2 && (number(last, "end") - 0.9).abs() < 1e-3, "{last:?}");
    assert_eq!(fs::metadata(at.join("out/0001/run.json")).unwrap().modified().unwrap(), begun);

    // A run by hand leaves the same files.
    let by_hand = ["run", "ball.toml", "--quiet", "--out", "hand", "--set", STIFF, "--set", "let.drop=40 cm"];
    let said = within(at, &[&by_hand[..], &["--set", "material.soft.restitution=0.6"]].concat());
    assert_eq!(said.code, Some(0), "{}", said.err);
    let series = |run: &str| fs::read(at.join(run).join("series.csv")).unwrap();
    assert_eq!(series("hand"), series("out/0001"));

    // Another plan in the same folder is refused.
    let said = within(at, &["sweep", "ball.toml", "--vary", "let.drop=40 cm..60 cm:4", "--set", STIFF, "--out", "out"]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("`out` holds another sweep: --vary was let.drop=40 cm..60 cm:3"), "{}", said.err);
}

#[test]
fn a_latin_hypercube_has_one_point_in_every_stratum_and_seeds_repeat_points() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    ball(at);
    let vary = ["--vary", "let.drop=0.2 m..0.6 m", "--vary", "material.soft.density=1000..2000 log"];
    let more = ["--latin", "4", "--seeds", "2", "--until", "10 ms"];
    let said = within(at, &[&["sweep", "ball.toml"], &vary[..], &more].concat());
    assert_eq!(said.code, Some(0), "{}", said.err);
    let rows = results(&at.join("runs/ball-sweep-1"));
    assert_eq!(rows.len(), 8);
    let mut strata: Vec<(usize, usize)> = rows
        .iter()
        .map(|row| {
            let drop = (number(row, "let.drop [SI]") - 0.2) / 0.4;
            let density = (number(row, "material.soft.density [SI]") / 1000.0).log2();
            ((4.0 * drop) as usize, (4.0 * density) as usize)
        })
        .collect();
    assert!(rows.iter().all(|row| row["outcome"] == "stopped" && number(row, "time [s]") < 0.011));
    assert_eq!(rows.iter().map(|row| row["seed"].as_str()).collect::<String>(), "01010101");
    strata.dedup(); // the seeds of a point
    for axis in [|s: &(usize, usize)| s.0, |s: &(usize, usize)| s.1] {
        let mut hit: Vec<usize> = strata.iter().map(axis).collect();
        hit.sort_unstable();
        assert_eq!(hit, [0, 1, 2, 3]);
    }
    // Without --result the last value of every column is there.
    assert!(number(&rows[0], "potential [J]") > 0.0 && rows[0].contains_key("work of plate [J]"));
}

#[test]
fn a_search_finds_the_restitution_that_gives_a_height() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    ball(at);
    let arguments = [
        "sweep",
        "ball.toml",
        "--vary",
        "material.soft.restitution=0.4..0.95",
        "--result",
        HEIGHT,
        "--minimise",
        "(top-0.32)^2",
        "--evaluations",
        "24",
        "--from",
        "0.4 s",
        "--until",
        "0.7 s",
        "--out",
        "out",
    ];
    let said = within(at, &arguments);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    let rows = results(&at.join("out"));
    assert!(rows.len() <= 24, "{}", rows.len());
    let best = rows.iter().min_by(|a, b| number(a, "objective").total_cmp(&number(b, "objective"))).unwrap();
    // 0.32 m = e² 0.5 m; gravity over the depth of so soft an impact, 1.4 mm, adds to what it takes.
    let e = number(best, "material.soft.restitution");
    assert!((e - 0.8).abs() < 4e-3 && (number(best, "top") - 0.32).abs() < 1e-4, "{best:?}");
    assert!(said.out.contains("best: ") && said.out.contains("material.soft.restitution = 0."), "{}", said.out);
    // Known points are not run again.
    let before = without_wall_time(&at.join("out"));
    let said = within(at, &arguments);
    assert_eq!((said.code, without_wall_time(&at.join("out")) == before), (Some(0), true));
}

#[test]
fn a_point_that_fails_is_told_and_the_others_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    ball(at);
    // The second has a radius that no ball can have.
    let arguments =
        ["sweep", "ball.toml", "--vary", "grains.ball.radius=10 mm,-1,5 mm", "--until", "10 ms", "--out", "out"];
    let said = within(at, &arguments);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("point 0002 failed: ") && said.err.contains("must be positive"), "{}", said.err);
    assert!(said.err.contains("error: 1 of 3 points failed; the first is 0002"), "{}", said.err);
    let text = fs::read_to_string(at.join("out/results.csv")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[1].contains(",stopped,") && lines[3].contains(",stopped,"), "{text}");
    assert!(lines[2].contains(",failed,") && lines[2].contains("must be positive"), "{text}");
    assert!(said.out.contains("failed"), "{}", said.out);
}

#[test]
fn mistakes_are_told_before_anything_runs() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    ball(at);
    let fails = |arguments: &[&str], parts: &[&str]| {
        let said = within(at, &[&["sweep", "ball.toml"], arguments].concat());
        assert_eq!(said.code, Some(1), "{arguments:?}: {}{}", said.out, said.err);
        assert_eq!(said.err.matches("error: ").count(), 1, "{}", said.err);
        parts.iter().for_each(|part| assert!(said.err.contains(part), "`{part}` is missing in\n{}", said.err));
        assert!(!at.join("runs").exists(), "nothing was begun");
    };
    let good = ["--vary", "let.drop=0.2,0.3"];
    fails(&[], &["nothing is varied"]);
    fails(&["--vary", "let.drop=0.2..0.3"], &["how many values?"]);
    fails(&["--vary", "let.drp=0.2,0.3"], &["no variable `drp`", "did you mean `drop`?", "first point of the sweep"]);
    fails(&["--vary", "let.drop=2 kg,3 kg"], &["cannot add a mass and a length", "first point of the sweep"]);
    fails(&[&good[..], &["--jobs", "0"]].concat(), &["`--jobs 0` makes no sense"]);
    fails(&[&good[..], &["--result", "x=last(potentail)"]].concat(), &["no column `potentail`", "columns: time [s]"]);
    fails(&[&good[..], &["--result", "x=2*dorp"]].concat(), &["unknown name `dorp`", "did you mean `drop`?"]);
    fails(&[&good[..], &["--minimise", "x"]].concat(), &["unknown name `x`"]);
    fails(&[&good[..], &["--evaluations", "9"]].concat(), &["what is looked for?"]);
    fails(&[&good[..], &["--from", "3 kg"]].concat(), &["`--from 3 kg` is a mass"]);
    fails(&[&good[..], &["--until", "0"]].concat(), &["`--until 0` must be a time above zero"]);
    fails(&[&good[..], &["--plot", "a.svg"]].concat(), &["--plot needs --result"]);
    let said = within(at, &["sweep", "--resume", "nowhere"]);
    assert!(said.code == Some(1) && said.err.contains("`nowhere` holds no sweep"), "{}", said.err);
}

/// A sweep of nine runs of some tenths of a second each.
const LONG: [&str; 10] = [
    "sweep",
    "ball.toml",
    "--vary",
    "let.drop=0.2..0.6:9",
    "--set",
    "material.soft.youngs-modulus=5 GPa",
    "--set",
    "output.checkpoint=0.1 s",
    "--jobs",
    "2",
];

fn begin(at: &Path, out: &str) -> Running {
    let arguments = [&LONG[..], &["--out", out]].concat();
    let mut command = esker(arguments);
    let child = command.current_dir(at).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    Running(child.expect("the program can be started"))
}

/// Begins a sweep and waits until so many points are in the results. Runs of a sweep that was killed end a moment after it, and
/// until then their folders are locked: a sweep that finds one locked ends, and is begun again.
fn begin_and_wait_for_points(at: &Path, points: usize) -> Running {
    let since = Instant::now();
    let rows = || fs::read_to_string(at.join("out/results.csv")).map_or(0, |text| text.lines().count());
    let mut sweep = begin(at, "out");
    while rows() < 1 + points {
        assert!(since.elapsed() < Duration::from_secs(120), "the sweep does not get on");
        std::thread::sleep(Duration::from_millis(5));
        if sweep.0.try_wait().unwrap().is_some() {
            sweep = begin(at, "out");
        }
    }
    sweep
}

#[test]
fn a_sweep_that_was_killed_goes_on_to_the_same_results() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    ball(at);
    let whole = within(at, &[&LONG[..], &["--out", "whole"]].concat());
    assert_eq!(whole.code, Some(0), "{}", whole.err);
    for points in [0, 1, 4] {
        let mut sweep = begin_and_wait_for_points(at, points);
        sweep.0.kill().unwrap();
        sweep.0.wait().unwrap();
    }
    let kept = results(&at.join("out")).len();
    assert!(kept < 9, "the last kill came too late to tell anything");
    let mut said = within(at, &["sweep", "--resume", "out"]);
    // The same moment after the last kill.
    for _ in 0..20 {
        if said.code != Some(0) {
            std::thread::sleep(Duration::from_millis(200));
            said = within(at, &["sweep", "--resume", "out"]);
        }
    }
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert_eq!(without_wall_time(&at.join("out")), without_wall_time(&at.join("whole")));
    for k in 1..=9 {
        let run = |folder: &str| fs::read(at.join(folder).join(format!("000{k}/series.csv"))).unwrap();
        assert_eq!(run("out"), run("whole"), "point {k}");
        assert_sound(&at.join(format!("out/000{k}")));
    }
}

#[cfg(unix)]
#[test]
fn a_signal_stops_the_runs_with_a_checkpoint_each() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    ball(at);
    let mut sweep = begin_and_wait_for_points(at, 1);
    let sent = std::process::Command::new("kill").args(["-TERM", &sweep.0.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(sweep.0.wait().unwrap().code(), Some(130));
    // All runs are closed, and those that had begun have a checkpoint.
    let mut begun = 0;
    for k in 1..=9 {
        let run = at.join(format!("out/000{k}"));
        if run.join("scene.toml").exists() {
            begun += 1;
            assert_sound(&run);
            assert_eq!(fs::read_to_string(run.join(".esker.lock")).unwrap(), "", "run {k} is closed");
            assert!(files(&run).keys().any(|name| name.ends_with(".ckpt")), "run {k} can go on");
        }
    }
    assert!((1..9).contains(&begun), "{begun}");
    let said = within(at, &[&LONG[..], &["--out", "out"]].concat());
    assert_eq!((said.code, results(&at.join("out")).len()), (Some(0), 9), "{}", said.err);
}
