//! `esker grind`: what it tells, writes and refuses, and the mill of a run.

use crate::common;

use common::*;
use std::fs;
use std::path::Path;

/// The mill of G-10.
const MILL: [&str; 11] = [
    "grind",
    "--rate",
    "1e5",
    "--ball-radius",
    "3.2 mm",
    "--free-volume",
    "303919 mm^3",
    "--from",
    "1 mm",
    "--to",
    "1 um",
];

fn grind(arguments: &[&str]) -> Said {
    run_well(MILL.iter().chain(arguments))
}

/// Columns of a table of numbers.
fn columns(path: &Path) -> (String, Vec<Vec<f64>>) {
    let text = fs::read_to_string(path).unwrap();
    let (head, rows) = text.split_once('\n').unwrap();
    (head.into(), rows.lines().map(|row| row.split(',').map(|cell| cell.parse().unwrap()).collect()).collect())
}

#[test]
fn a_day_of_milling_gives_the_published_sizes_by_every_model() {
    let dir = tempfile::tempdir().unwrap();
    for model in ["analytical", "ode", "statistical"] {
        let file = dir.path().join(format!("{model}.csv"));
        let path = file.display().to_string();
        let said = grind(&["--time", "24 h", "--model", model, "--output", &path, "--grains", "2000", "--runs", "4"]);
        assert!(said.out.contains("31 size classes") && said.out.contains("8.6400e9"), "{}", said.out);
        assert!(said.out.contains("1.953") && said.out.contains("x50 [µm]"), "{}", said.out);
        let (head, rows) = columns(&file);
        assert!(head.starts_with("time [s],impacts,radius [m],mass fraction,number fraction,finer mass fraction"));
        assert_eq!(head.ends_with("standard error of mass fraction"), model == "statistical");
        assert_eq!(rows.len(), 31);
        let gate = if model == "statistical" { 5e-3 } else { 1e-4 };
        assert!((rows[27][3] - 0.3695).abs() < gate && (rows[30][3] - 0.0180).abs() < gate, "{model}: {:?}", rows[27]);
        assert!((rows[0][5] - 1.0).abs() < 1e-12);
    }
}

#[test]
fn the_same_seed_gives_the_same_powder() {
    let statistical = ["--time", "1 h", "--model", "statistical", "--runs", "3", "--grains", "50"];
    let said = |seed: &str| grind(&[&statistical[..], &["--seed", seed]].concat()).out;
    assert_eq!(said("5"), said("5"));
    assert_ne!(said("5"), said("6"));
    // 10 g of 2500 kg/m³ are 955 grains of 1 mm.
    let mass = grind(&["--time", "1 h", "--model", "statistical", "--mass", "10 g", "--density", "2500 kg/m^3"]).out;
    assert_eq!(mass, grind(&["--time", "1 h", "--model", "statistical", "--grains", "955"]).out);
}

#[test]
fn times_are_told_in_the_table_and_drawn() {
    let dir = tempfile::tempdir().unwrap();
    let (table, picture) = (dir.path().join("t.csv"), dir.path().join("p.svg"));
    let [t, p] = [&table, &picture].map(|path| path.display().to_string());
    grind(&["--times", "1 h, 90 min,24 h", "-o", &t, "--plot", &p]);
    let times: Vec<f64> = columns(&table).1.iter().step_by(31).map(|row| row[0]).collect();
    assert_eq!(times, [3600.0, 5400.0, 86400.0]);
    let svg = fs::read_to_string(&picture).unwrap();
    assert!(svg.contains("radius [µm]") && svg.contains("90 min") && svg.contains("24 h"));
    // A logarithmic axis: each of these is as far from the next.
    let place = |label: &str| -> f64 {
        let end = svg.find(&format!(">{label}</text>")).unwrap();
        let tag = &svg[svg[..end].rfind("<text").unwrap()..end];
        tag.split('"').nth(1).unwrap().parse().unwrap()
    };
    assert!((place("2") - place("1") - (place("20") - place("10"))).abs() < 0.2, "{svg}");
    grind(&["--time", "24 h", "--outputs", "4", "-o", &t]);
    let times: Vec<f64> = columns(&table).1.iter().step_by(31).map(|row| row[0]).collect();
    assert_eq!(times, [10800.0, 21600.0, 43200.0, 86400.0]);
}

#[test]
fn impacts_on_the_wall_count_twice_or_as_those_of_balls() {
    let until = |arguments: &[&str]| -> f64 {
        let out = grind(&[&["--time", "1 h", "--below", "10 um"], arguments].concat()).out;
        let line = out.lines().find(|line| line.starts_with("0.9 of the mass")).unwrap();
        let (_, time) = line.split_once("after ").unwrap();
        let (number, unit) = time.split_once(' ').unwrap();
        number.parse::<f64>().unwrap() * if unit == "min" { 60.0 } else { 3600.0 }
    };
    let alone = until(&[]);
    assert!((until(&["--wall-rate", "1e5"]) / (alone / 3.0) - 1.0).abs() < 2e-3);
    assert!((until(&["--wall-rate", "1e5", "--wall-impacts", "as-balls"]) / (alone / 2.0) - 1.0).abs() < 2e-3);
}

/// A mill as a run leaves it: the copy of its scene, and its collisions.
fn mill_run(folder: &Path, walls: &str) {
    let scene = format!(
        r#"
title = "Mill"
gravity = [0, 0, -9.81]
[material.steel]
density = 7850
youngs-modulus = 1e7
poisson-ratio = 0.3
restitution = 0.9
[[grains]]
name = "balls"
material = "steel"
radius = "3.2 mm"
fill = {{ method = "at", positions = [[0, 0, 0.02], [0, 0, 0.04], [0, 0, 0.06], [0, 0, 0.08]] }}
{walls}
[[stage]]
name = "shake"
duration = 1
"#
    );
    fs::write(folder.join("scene.toml"), scene).unwrap();
    let table = "stage,first,second,with,time [s],collisions,rate [1/s],lost [J],mean impact speed [m/s],work of wall [J]\n\
                 start,balls,balls,grains,0.1,10,100,1,1,0\n\
                 shake,balls,balls,grains,1,70000,7e4,1,1,0\n\
                 shake,balls,vessel,wall,1,40000,4e4,1,1,2\n";
    fs::write(folder.join("collisions.csv"), table).unwrap();
}

const VESSEL: &str = r#"
[[wall]]
name = "vessel"
material = "steel"
cylinder = { from = [0, 0, 0], to = [0, 0, "103 mm"], radius = "31.5 mm", caps = true }
"#;

#[test]
fn the_mill_of_a_run_has_its_rates_balls_and_room() {
    let dir = tempfile::tempdir().unwrap();
    mill_run(dir.path(), VESSEL);
    let folder = dir.path().display().to_string();
    let powder = ["--from", "1 mm", "--to", "1 um", "--time", "24 h"];
    let of_run = run_well(["grind", "--run", &folder].iter().chain(&powder)).out;
    // π 31.5² 103 mm³ less four balls.
    assert!(of_run.contains("mill: 1.1000e5 impacts/s, free volume 3.2053e-4 m³"), "{of_run}");
    let free = format!("{} mm^3", std::f64::consts::PI * (31.5f64.powi(2) * 103.0 - 4.0 * 4.0 / 3.0 * 3.2f64.powi(3)));
    let given = ["grind", "--rate", "7e4", "--wall-rate", "4e4", "--ball-radius", "3.2 mm", "--free-volume", &free];
    assert_eq!(of_run, run_well(given.iter().chain(&powder)).out);
    let first = run_well(["grind", "--run", &folder, "--stage", "start"].iter().chain(&powder)).out;
    assert!(first.contains("mill: 1.0000e2 impacts/s"), "{first}");
}

#[test]
fn what_cannot_be_ground_is_refused_with_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().display().to_string();
    let refused = |arguments: &[&str], says: &str| {
        let said = run(arguments);
        assert!(said.code == Some(1) && said.err.contains(says), "{arguments:?}: {}", said.err);
    };
    for (arguments, says) in [
        (vec!["--time", "3 kg"], "`--time 3 kg` is a mass, a time was expected"),
        (vec!["--time", "0 h"], "`--time 0 h` must be a time above zero"),
        (vec!["--times", "2 h,1 h"], "`--times 2 h,1 h` must rise"),
        (vec!["--time", "1 h", "--outputs", "0"], "`--outputs 0`: from 1 to 64"),
        (vec!["--time", "1 h", "--below", "0.5 um"], "is never reached: the smallest grains have 9.766e-7 m"),
        (vec!["--time", "1 h", "--plot", "x.pdf"], "ends in .svg or .png"),
        (vec!["--time", "1 h", "--model", "statistical", "--grains", "0"], "there is nothing to grind"),
        (
            vec!["--time", "1 h", "--model", "statistical", "--mass", "1 ug", "--density", "2500"],
            "less than half a grain",
        ),
    ] {
        refused(&MILL.into_iter().chain(arguments).collect::<Vec<_>>(), says);
    }
    let small = ["grind", "--rate", "1", "--ball-radius", "3 mm", "--free-volume", "1 mm^3", "--time", "1 s"];
    let sizes = |from, to| small.into_iter().chain(["--from", from, "--to", to]).collect::<Vec<_>>();
    refused(&sizes("1 um", "1 mm"), "cannot be ground");
    refused(&sizes("1 mm", "1 um"), "too large for the free volume");

    let of_run = ["grind", "--run", &folder, "--from", "1 mm", "--to", "1 um", "--time", "1 h"];
    refused(&of_run, "has no collisions.csv");
    mill_run(dir.path(), &VESSEL.replace(", caps = true", ""));
    refused(&of_run, "no wall of the scene is a vessel by itself");
    run_well(of_run.iter().chain(&["--free-volume", "3e5 mm^3"]));
    refused(&[&of_run[..], &["--stage", "shaken"]].concat(), "known: start, shake");
    fs::write(dir.path().join("collisions.csv"), "time\n").unwrap();
    refused(&of_run, "the first line is `time`");
}
