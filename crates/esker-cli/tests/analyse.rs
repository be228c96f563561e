//! `esker analyse`: what it finds of a bed at rest, what it writes, and what it refuses.

use crate::common;

use common::*;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// Nine columns of five spheres that do not touch each other, settling on a floor.
const COLUMNS: &str = r#"
title = "Columns"
gravity = [0, 0, -10]
seed = 1
[material.glass]
density = 2500
[contact.default]
normal = { law = "hooke", stiffness = 1e5, restitution = 0.3 }
[[wall]]
name = "floor"
material = "glass"
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
[[grains]]
name = "bed"
material = "glass"
radius = "5 mm"
fill = { method = "at", positions = [POSITIONS] }
[[stage]]
name = "settle"
duration = "0.5 s"
[output]
series = "10 ms"
probe = { name = "floor", force-on = "floor" }
"#;

const LAYERS: usize = 5;
const PITCH: f64 = 0.011;

/// A run of the columns.
fn columns(folder: &Path) -> String {
    let place = |k: usize| {
        let (x, y, z) = ((k % 3) as f64 * PITCH, (k / 3 % 3) as f64 * PITCH, 0.005 + 0.01 * (k / 9) as f64);
        format!("[{x}, {y}, {z}]")
    };
    let places: Vec<String> = (0..9 * LAYERS).map(place).collect();
    let scene = folder.join("columns.toml");
    fs::write(&scene, COLUMNS.replace("POSITIONS", &places.join(", "))).unwrap();
    let run = folder.join("run").display().to_string();
    run_well(["run", &scene.display().to_string(), "--out", &run, "--quiet", "--threads", "1"]);
    run
}

/// Rows of a table, by the names of its columns.
fn table(path: &Path) -> Vec<HashMap<String, String>> {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells.len(), head.len(), "{line}");
        head.iter().map(|name| name.to_string()).zip(cells.iter().map(|cell| cell.to_string())).collect()
    };
    lines.map(row).collect()
}

fn number(row: &HashMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column}: `{}`", row[column]))
}

#[test]
fn the_stress_of_the_lowest_layer_carries_the_weight_that_the_floor_feels() {
    let dir = tempfile::tempdir().unwrap();
    let run = columns(dir.path());
    // Half a pitch around the outer columns, so that every sphere has its own square.
    let edge = [-0.5 * PITCH, 2.5 * PITCH];
    let region = format!("{0},{0},0 : {1},{1},{2}", edge[0], edge[1], 0.01 * LAYERS as f64);
    let said = run_well(["analyse", &run, "--region", &region, "--bins", "z=5"]);
    assert!(said.out.contains("45 grains") && said.out.contains("36 between grains, 9 with walls"), "{}", said.out);

    let folder = Path::new(&run).join("analysis");
    let stress = table(&folder.join("stress.csv"));
    let weight = 2500.0 * 4.0 / 3.0 * std::f64::consts::PI * 0.005f64.powi(3) * 10.0;
    let area = (3.0 * PITCH).powi(2);
    let series = table(&Path::new(&run).join("series.csv"));
    let floor = -number(series.last().unwrap(), "floor z [N]");
    assert!((floor / (45.0 * weight) - 1.0).abs() < 1e-4, "{floor}");
    // The stress is that of the middle of a layer: the floor has half a layer more. Overlaps are 1e-4 of the radius.
    let lowest = number(&stress[0], "zz [Pa]") * area;
    assert!(((lowest + 4.5 * weight) / floor - 1.0).abs() < 1e-3, "{lowest} for {floor}");
    for (k, row) in stress.iter().enumerate() {
        assert_eq!(number(row, "grains"), 9.0);
        let above = (LAYERS - k) as f64 - 0.5;
        assert!((number(row, "zz [Pa]") * area / (9.0 * above * weight) - 1.0).abs() < 1e-3, "layer {k}");
        assert!(number(row, "xx [Pa]").abs() < 1e-9 && number(row, "kinetic zz [Pa]").abs() < 1e-6);
        assert!((number(row, "sigma 1 [Pa]") / number(row, "zz [Pa]") - 1.0).abs() < 1e-12);
        assert_eq!(number(row, "direction 1 z"), 1.0);
    }
    let fabric = table(&folder.join("fabric.csv"));
    assert_eq!(fabric.iter().map(|row| number(row, "contacts")).sum::<f64>(), 36.0);
    assert_eq!(fabric.iter().map(|row| number(row, "wall contacts")).sum::<f64>(), 9.0);

    // Forces of the four contacts of a column are 1 to 4 weights: two of them are above the mean of 2.5, along the vertical.
    run_well(["analyse", &run]);
    let forces = table(&folder.join("forces.csv"));
    let of = |quantity: &str| forces.iter().filter(|row| row["quantity"] == quantity).collect::<Vec<_>>();
    let normal = of("normal force over mean");
    assert_eq!(normal.iter().map(|row| number(row, "number")).sum::<f64>(), 36.0);
    assert!((normal.iter().map(|row| number(row, "density")).sum::<f64>() * 0.1 - 1.0).abs() < 1e-9);
    assert_eq!(number(of("direction of strong contacts from the vertical [deg]")[0], "number"), 18.0);
    // Their grains are the lower three of each column: one chain. (The third has the mean stress but for what overlaps make of it.)
    let chains = table(&folder.join("chains.csv"));
    assert_eq!(chains.len(), 9);
    assert!(chains.iter().all(|row| row["grains"] == "3" && row["ids"].split(' ').count() == 3));
    for name in ["chains.vtp", "cells.vti"] {
        assert_whole_vtp(name, &fs::read(folder.join(name)).unwrap());
    }
    // A checkpoint by its name, and another folder.
    let checkpoint =
        fs::read_dir(&run).unwrap().map(|e| e.unwrap().path()).find(|p| p.extension().is_some_and(|e| e == "ckpt"));
    let other = dir.path().join("other").display().to_string();
    run_well(["analyse", &checkpoint.unwrap().display().to_string(), "-o", &other, "--bins", "2x2x3"]);
    assert_eq!(table(&Path::new(&other).join("stress.csv")).len(), 12);
}

#[test]
fn a_state_of_hard_collisions_says_that_it_has_no_contacts() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("gas").display().to_string();
    run_well(["run", &example("gas.toml").display().to_string(), "--out", &run, "--quiet", "--until", "1 ms"]);
    let said = run_well(["analyse", &run]);
    assert!(said.err.contains("hard collisions") && said.err.contains("has no contacts"), "{}", said.err);
    assert!(said.out.contains("kinetic pressure") && !said.out.contains("force chains"), "{}", said.out);
}

#[test]
fn what_cannot_be_analysed_is_refused_with_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let run_folder = columns(dir.path());
    let scene = dir.path().join("columns.toml").display().to_string();
    let empty = dir.path().display().to_string();
    for (arguments, says) in [
        (vec!["nowhere"], "there is no `nowhere`"),
        (vec![&*empty], "has no checkpoint"),
        (vec![&*scene], "is no checkpoint in the folder of a run"),
        (vec![&*run_folder, "--bins", "4"], "`--bins 4`: numbers of cells along the axes are wanted"),
        (vec![&*run_folder, "--bins", "w=4"], "`--bins w=4`"),
        (vec![&*run_folder, "--bins", "0x1x1"], "0x1x1 cells: from 1 along each axis"),
        (vec![&*run_folder, "--region", "0,0,0"], "two corners with a colon"),
        (vec![&*run_folder, "--region", "0,0:1,1,1"], "the corner `0,0` should have 3 lengths"),
        (vec![&*run_folder, "--region", "0,0,0:1,1,1 kg"], "is a mass, a length was expected"),
        (vec![&*run_folder, "--region", "0,0,0:1,1,0"], "is empty or not finite"),
        (vec![&*run_folder, "--angle", "120"], "`--angle 120`: above 0 and up to 90 degrees"),
    ] {
        let said = run(["analyse"].iter().chain(&arguments));
        assert!(said.code == Some(1) && said.err.contains(says), "{arguments:?}: {}", said.err);
    }
}
