//! `esker bench`: what it tells, and what it refuses.

use crate::common;

use common::{run, run_well};
use serde_json::Value;

/// One short round of a small set-up.
fn measured(arguments: &[&str]) -> Vec<Value> {
    let short = ["bench", "--json", "--rounds", "1"];
    let steps: &[&str] = if arguments.contains(&"--steps") { &[] } else { &["--steps", "20"] };
    let said = run_well(short.iter().chain(steps).chain(arguments));
    serde_json::from_str(&said.out).expect("a list of JSON objects")
}

#[test]
fn every_set_up_runs_small_and_tells_the_keys_that_stay() {
    let results = measured(&["--n", "1000", "--warm-up", "10"]);
    let names: Vec<&str> = results.iter().filter_map(|r| r["name"].as_str()).collect();
    assert_eq!(names, ["chute", "bed", "drum", "wide", "cloud"]);
    for result in &results {
        assert_eq!((&result["n"], &result["threads"]), (&1000.into(), &1.into()), "{result}");
        for key in ["particle_steps_per_second", "best", "bytes_per_grain"] {
            assert!(result[key].as_f64().is_some_and(|x| x > 0.0), "{key} of {result}");
        }
        // Place, motion and load alone are 160 bytes.
        assert!(result["bytes_per_grain"].as_f64().is_some_and(|b| b > 160.0), "{result}");
        assert!(result["contacts_per_grain"].is_number() && result["rebuilds"].is_u64(), "{result}");
        assert!(result["phases"]["contacts"].as_f64().is_some_and(|s| s > 0.0), "{result}");
    }
}

#[test]
fn each_number_of_grains_and_threads_of_a_list_is_measured() {
    let results = measured(&["cloud", "--n", "500,800", "--warm-up", "0", "--threads", "1,2"]);
    let what: Vec<_> =
        results.iter().map(|r| [&r["n"], &r["threads"]].map(|number| number.as_u64().unwrap())).collect();
    assert_eq!(what, [[500, 1], [500, 2], [800, 1], [800, 2]]);
    assert_eq!(results[0]["contacts_per_grain"], results[1]["contacts_per_grain"]);
    assert_eq!(results[0]["times_the_first"], 1.0);
    let sizes_alone = measured(&["cloud", "--n", "500,800", "--warm-up", "0"]);
    for of_the_machine in ["arithmetic_times_the_first", "traffic_times_the_first"] {
        let times: Vec<_> = results.iter().map(|r| r[of_the_machine].as_f64().unwrap()).collect();
        assert!(times[0] == 1.0 && times.iter().all(|times| *times > 0.0), "{times:?}");
        assert!(sizes_alone[1][of_the_machine].is_null());
    }
    assert!(results.iter().all(|r| r["traffic_bytes_per_second"].as_f64().unwrap() > 0.0));
}

#[test]
fn a_gas_of_hard_spheres_is_measured_in_collisions() {
    let results = measured(&["gas", "--n", "500", "--steps", "2000"]);
    let fractions: Vec<f64> = results.iter().filter_map(|r| r["fraction"].as_f64()).collect();
    assert_eq!(fractions, [0.1, 0.4]);
    for result in &results {
        let rate = |key: &str| result[key].as_f64().unwrap_or(0.0);
        assert!(rate("collisions_per_second") > 0.0 && rate("events_per_second") > rate("collisions_per_second"));
    }
}

#[test]
fn a_scene_file_is_measured_too() {
    let scene = common::example("hopper.toml").display().to_string();
    let results = measured(&[&scene]);
    assert_eq!((&results[0]["name"], &results[0]["n"]), (&"hopper".into(), &500.into()));
}

#[test]
fn what_cannot_be_measured_is_refused_with_a_reason() {
    let scene = common::example("hopper.toml").display().to_string();
    for (arguments, expected) in [
        (vec!["drumm"], "`drumm` is no known set-up (did you mean `drum`?); known: chute, bed, drum, wide, cloud, gas"),
        (vec!["cloud", "--threads", "0"], "`--threads 0` makes no sense"),
        (vec!["cloud", "--rounds", "0"], "nothing to measure"),
        (vec!["cloud", &scene, "--n", "10"], "says itself how many grains it has"),
        (vec!["cloud", "missing.toml"], "cannot read `missing.toml`"),
    ] {
        let said = run(["bench"].iter().chain(&arguments));
        assert_eq!((said.code, said.out.as_str()), (Some(1), ""), "before anything is measured");
        assert!(said.err.contains(expected), "{}", said.err);
    }
}

#[test]
fn a_scene_that_ends_before_the_steps_are_made_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("short.toml");
    let scene = r#"
title = "short"
[material.glass]
density = 2500
youngs-modulus = 1e7
poisson-ratio = 0.25
friction = 0.5
restitution = 0.9
[[grains]]
name = "one"
material = "glass"
radius = 0.01
fill = { method = "at", positions = [[0, 0, 0]] }
[solver]
step = 1e-5
[[stage]]
name = "fly"
duration = 1e-4
"#;
    std::fs::write(&path, scene).unwrap();
    let said = run(["bench", &path.display().to_string(), "--steps", "15", "--rounds", "1"]);
    assert_eq!(said.code, Some(1), "{}", said.out);
    assert!(said.err.contains("the stages of the scene end 5 steps too early"), "{}", said.err);
}
