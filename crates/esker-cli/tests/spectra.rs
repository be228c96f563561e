//! Hard collisions of a run: its tables, their spectra as pictures, and what a report tells of them.

use crate::common;

use common::*;
use esker_view::collisions::{self, Over};
use std::fs;
use std::path::Path;

/// The mill, shorter.
fn mill(folder: &Path, more: &[&str]) {
    let mut arguments = vec!["run".to_string(), example("mill.toml").display().to_string(), "--quiet".into()];
    for change in ["stage.start.duration=20 ms", "stage.mill.duration=40 ms", "solver.collapse.speed=5 m/s"] {
        arguments.extend(["--set".to_string(), change.to_string()]);
    }
    arguments.extend(["--out".to_string(), folder.display().to_string()]);
    arguments.extend(more.iter().map(ToString::to_string));
    run_well(arguments);
}

#[test]
fn spectra_add_up_to_the_collisions() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("mill");
    mill(&folder, &[]);
    let classes = collisions::read(&folder).unwrap();
    let names: Vec<String> = classes.iter().map(|c| format!("{}: {}", c.stage, c.name())).collect();
    assert_eq!(
        names,
        ["start: balls with balls", "start: balls with can", "mill: balls with balls", "mill: balls with can"]
    );
    for stage in ["start", "mill"] {
        for over in [Over::Speed, Over::Energy] {
            let spectra = collisions::spectra(&folder, over, Some(stage)).unwrap();
            assert_eq!(spectra.len(), 2);
            for spectrum in spectra {
                let (count, lost) =
                    spectrum.bins.iter().fold((0, 0.0), |(n, sum), bin| (n + bin.count, sum + bin.lost));
                assert_eq!(count, spectrum.class.count);
                assert!((lost - spectrum.class.lost).abs() <= 1e-12 * lost, "{lost} of {:?}", spectrum.class);
            }
        }
    }
    let energy: f64 = classes.iter().map(|class| class.lost).sum();
    let summary: serde_json::Value = serde_json::from_slice(&fs::read(folder.join("run.json")).unwrap()).unwrap();
    let booked = summary["energy"]["dissipated"]["damping"].as_f64().unwrap();
    assert!((energy / booked - 1.0).abs() < 1e-12, "{energy} and {booked}");
    assert_eq!(classes.iter().map(|class| class.count).sum::<u64>(), summary["collisions"].as_u64().unwrap());
}

#[test]
fn spectra_are_drawn_and_a_report_tells_of_collisions() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("mill");
    mill(&folder, &[]);
    let (run_folder, picture) = (folder.display().to_string(), dir.path().join("s.svg").display().to_string());
    for (over, of, axis) in [
        ("speed", "number", "collisions in a second, for each doubling of speed [1/s]"),
        ("energy", "lost", "power lost, for each doubling of energy [W]"),
    ] {
        run_well(["plot", &run_folder, "--spectrum", over, "--of", of, "-o", &picture]);
        let svg = fs::read_to_string(&picture).unwrap();
        for part in [axis, "balls with can", "mill, stage mill"] {
            assert!(svg.contains(part), "{part}");
        }
    }
    let page = dir.path().join("mill.html").display().to_string();
    run_well(["report", &run_folder, "-o", &page]);
    let page = fs::read_to_string(page).unwrap();
    for part in
        ["<h2>Collisions</h2>", "balls with can", "slower than the cut-off, taken as elastic", "doubling of speed"]
    {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("NaN"));

    let said = run(["plot", &run_folder, "--spectrum", "speed", "--stage", "milling", "-o", &picture]);
    assert!(said.code == Some(1) && said.err.contains("known: start, mill"), "{}", said.err);
    let said = run(["plot", &run_folder, "grains", "--spectrum", "speed"]);
    assert!(said.code == Some(2) && said.err.contains("cannot be used with"), "{}", said.err);
}

#[test]
fn a_run_of_soft_contacts_has_no_spectra_and_says_who_has() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("ball").display().to_string();
    let scene = example("bouncing-ball.toml").display().to_string();
    run_well(["run", &scene, "--quiet", "--until", "10 ms", "--out", &folder]);
    let said = run(["plot", &folder, "--spectrum", "energy", "-o", "x.svg"]);
    assert!(said.code == Some(1) && said.err.contains("has no spectra.csv"), "{}", said.err);
    assert!(said.err.contains("kind = \"event\""), "{}", said.err);
    let page = dir.path().join("ball.html").display().to_string();
    run_well(["report", &folder, "-o", &page]);
    assert!(!fs::read_to_string(page).unwrap().contains("<h2>Collisions</h2>"));
}

#[test]
fn a_gas_in_pieces_leaves_the_same_tables() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, pieces) = (dir.path().join("whole"), dir.path().join("pieces"));
    let gas = |out: &Path, more: &[&str]| {
        let scene = example("gas.toml").display().to_string();
        let out = out.display().to_string();
        let short = ["--set", "stage.rest.duration=50 ms", "--set", "let.push=0.5 m/s"];
        run_well(["run", &scene, "--quiet", "--out", &out].iter().chain(&short).chain(more));
    };
    gas(&whole, &[]);
    gas(&pieces, &["--until", "13.37 ms"]);
    let folder = pieces.display().to_string();
    for until in ["50 ms", "71.1 ms", "1 s"] {
        run_well(["run", &folder, "--quiet", "--resume", "--until", until]);
    }
    for file in ["collisions.csv", "spectra.csv", "series.csv"] {
        assert!(fs::read(whole.join(file)).unwrap() == fs::read(pieces.join(file)).unwrap(), "{file}");
    }
}
