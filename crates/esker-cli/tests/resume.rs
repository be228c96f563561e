//! The program gives the same files on any number of threads, and in pieces the same as in one go.

use crate::common;

use common::*;
use esker_io::run_folder::Frame;
use std::path::{Path, PathBuf};

fn arguments(scene: &Path, out: &Path, more: &[&str]) -> Vec<String> {
    let mut all: Vec<String> = ["run", &scene.display().to_string(), "--quiet", "--out", &out.display().to_string()]
        .map(String::from)
        .to_vec();
    all.extend(more.iter().map(|s| s.to_string()));
    all
}

#[test]
fn three_threads_write_the_same_files_as_one() {
    let dir = tempfile::tempdir().unwrap();
    let scene = write_tumbler(dir.path());
    let folders: Vec<PathBuf> = ["1", "3"].iter().map(|n| dir.path().join(format!("on-{n}"))).collect();
    for (folder, threads) in folders.iter().zip(["1", "3"]) {
        run_well(arguments(&scene, folder, &["--threads", threads]));
        assert_sound(folder);
    }
    assert_eq!(frames(&folders[0], Frame::Grains), 5);
    assert_same_results(&folders[0], &folders[1]);
}

#[test]
fn a_run_in_pieces_writes_the_same_files_as_in_one_go() {
    let dir = tempfile::tempdir().unwrap();
    let scene = write_tumbler(dir.path());
    let (whole, pieces) = (dir.path().join("whole"), dir.path().join("pieces"));
    run_well(arguments(&scene, &whole, &["--threads", "2"]));
    // Stops on a row, between two rows, at the change of stage, after the end.
    run_well(arguments(&scene, &pieces, &["--threads", "1", "--until", "1.2 ms"]));
    let folder = pieces.display().to_string();
    for until in ["1.3 ms", "2.33 ms", "4 ms", "0.00402", "7.999 ms", "1 s"] {
        run_well(["run", &folder, "--quiet", "--threads", "3", "--resume", "--until", until]);
        assert_sound(&pieces);
    }
    assert_same_results(&whole, &pieces);
    // A run that is over may be resumed and stays as it is.
    run_well(["run", &folder, "--quiet", "--resume"]);
    assert_same_results(&whole, &pieces);
}

#[test]
fn a_hopper_in_pieces_is_the_same_hopper() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, pieces) = (dir.path().join("whole"), dir.path().join("pieces"));
    let with = |out: &Path, more: &[&str]| {
        let mut all = small_hopper();
        all.extend(["--quiet", "--out", &out.display().to_string()].map(String::from));
        all.extend(more.iter().map(|s| s.to_string()));
        all
    };
    run_well(with(&whole, &[]));
    run_well(with(&pieces, &["--until", "31.415 ms"]));
    for until in ["60 ms", "133 ms", "10 s"] {
        run_well(["run", &pieces.display().to_string(), "--quiet", "--resume", "--until", until]);
    }
    assert_same_results(&whole, &pieces);
}

/// A fill from rest to rest, and a stage that finds everything at rest as it begins.
#[test]
fn a_static_fill_in_pieces_tells_the_same_avalanches() {
    let dir = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(example("silo-static.toml")).unwrap();
    let again = "\n[[stage]]\nname = \"again\"\nduration = \"5*tick\"\nfeeds = []\n";
    let text = text
        .replace("\n[output]", &format!("{again}\n[output]\ncheckpoint = \"tick\""))
        .replace("count = 200", "count = 40");
    let scene = dir.path().join("fill.toml");
    std::fs::write(&scene, text).unwrap();
    let (whole, pieces) = (dir.path().join("whole"), dir.path().join("pieces"));
    run_well(arguments(&scene, &whole, &[]));
    let table = |folder: &Path| std::fs::read_to_string(folder.join("avalanches.csv")).unwrap();
    let all = table(&whole);
    let rows = esker_io::series::Numbers::parse(Path::new("avalanches.csv"), &all).unwrap();
    let (steps, grains) = (rows.column("step").unwrap(), rows.column("grains").unwrap());
    // The empty silo, two discs that are due in the first step, one in each step from then on, and the second stage.
    let expected: Vec<f64> = [0].into_iter().chain(2..=40).chain([40]).map(f64::from).collect();
    assert_eq!(grains, expected);
    assert_eq!(rows.column("time [s]").unwrap(), steps, "a step takes a second");

    run_well(arguments(&scene, &pieces, &["--until", "12.5 s"]));
    for until in ["20 s", "41 s", "43 s", "1000 s"] {
        // As if killed later, in the middle of a row.
        let written = table(&pieces);
        let later: String = all.split_inclusive('\n').take(written.lines().count() + 2).collect();
        let torn = if later.len() > written.len() { &later[..later.len() - 3] } else { &written };
        std::fs::write(pieces.join("avalanches.csv"), torn).unwrap();
        run_well(["run", &pieces.display().to_string(), "--quiet", "--resume", "--until", until]);
        assert!(all.starts_with(&table(&pieces)), "until {until}");
    }
    assert_same_results(&whole, &pieces);
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let scene = write_tumbler(dir.path());
    let (tumbler, hopper) = (dir.path().join("tumbler"), dir.path().join("hopper"));
    run_well(arguments(&scene, &tumbler, &["--until", "0.2 ms"]));
    run_well(arguments(&example("hopper.toml"), &hopper, &["--until", "0.2 ms", "--set", "grains.bed.fill.count=20"]));
    let before = files(&tumbler);
    let foreign = files(&hopper).into_keys().find(|name| name.ends_with(".ckpt")).expect("a checkpoint");
    let foreign = hopper.join(foreign).display().to_string();
    let said = run(["run", &tumbler.display().to_string(), "--quiet", "--resume", &foreign]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("does not belong to the run in"), "{}", said.err);
    assert!(said.err.contains("it has 3 walls, the scene has 4"), "{}", said.err);
    assert_eq!(before, files(&tumbler), "nothing was touched");
}
