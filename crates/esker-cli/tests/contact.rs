//! `esker contact` and `esker verify`: what they print, write and refuse.

mod common;

use common::*;
use serde_json::Value;

fn json(arguments: &[&str]) -> Value {
    let said = run_well(["contact", "--json"].iter().chain(arguments));
    serde_json::from_str(&said.out).expect("JSON")
}

#[test]
fn a_contact_given_by_flags_has_the_restitution_it_was_given() {
    let hertz = r#"{ law = "hertz", modulus = "10 MPa", restitution = 0.6 }"#;
    let told = json(&["--normal", hertz, "--radius", "2 mm", "--speed", "0.3 m/s"]);
    assert!((told["restitution"].as_f64().unwrap() - 0.6).abs() < 2e-3, "{told}");
    // E* 10 MPa, R* 1 mm, m* of two spheres of 2500 kg/m³: closed form of Hertz, less what the dashpot takes.
    assert!((told["effective_radius"].as_f64().unwrap() - 1e-3).abs() < 1e-15);
    assert_eq!(told["bodies"], serde_json::json!(["body", "body"]));
    let plane = json(&["--normal", hertz, "--radius", "2 mm", "--other", "plane", "--angle", "30 deg"]);
    assert!((plane["effective_radius"].as_f64().unwrap() - 2e-3).abs() < 1e-15);
    assert!((plane["slip"].as_f64().unwrap() - 0.5).abs() < 1e-12);
}

#[test]
fn the_course_and_its_curve_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let name = dir.path().join("latch").display().to_string();
    let law = r#"{ law = "walton-braun", stiffness = "1e5 N/m", restitution = 0.5 }"#;
    let said = run_well(["contact", "--normal", law, "-o", &name]);
    assert!(said.out.contains("restitution        0.5000"), "{}", said.out);
    let table = std::fs::read_to_string(name.clone() + ".csv").unwrap();
    assert!(table.starts_with("time [s],overlap [m],normal force [N]") && table.lines().count() > 200);
    let picture = std::fs::read_to_string(name + ".svg").unwrap();
    assert!(picture.contains("<polyline") && picture.contains("overlap [µm]"));
}

#[test]
fn a_scene_gives_its_own_pairs_and_step() {
    let hopper = example("hopper.toml").display().to_string();
    let told = json(&[&hopper, "--pair", "hopper", "bed"]);
    assert_eq!(told["bodies"], serde_json::json!(["bed", "hopper"]));
    assert_eq!(told["step"].as_f64(), Some(1e-5));
    let said = run(["contact", &hopper, "--pair", "bed", "chair"]);
    assert!(said.code == Some(1) && said.err.contains("`chair` is neither grains nor a wall"), "{}", said.err);
}

#[test]
fn bad_choices_are_told() {
    let soft = r#"{ law = "hertz", modulus = "0.1 MPa", damping = "0.3 N s/m" }"#;
    let said = run_well(["contact", "--normal", soft]);
    assert!(said.err.contains("is no small deformation") && said.err.contains("rises with the speed"), "{}", said.err);
    for (arguments, says) in [
        (vec!["--speed", "0"], "a speed above zero"),
        (vec!["--speed", "3 kg"], "is a mass"),
        (vec!["--angle", "95 deg"], "less than 90 deg"),
        (vec!["--step", "1 s"], "cannot follow"),
        (vec!["--normal", "{ law = \"hooke\" }"], "hooke needs either"),
        (vec!["--radius", "0 mm"], "above zero"),
    ] {
        let law = ["contact", "--youngs-modulus", "10 MPa", "--poisson-ratio", "0.3"];
        let said = run(law.iter().chain(&arguments));
        assert!(said.code == Some(1) && said.err.contains(says), "{arguments:?}: {}", said.err);
    }
}

#[test]
fn cases_are_verified_by_name_and_reported() {
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("page.html");
    let table = dir.path().join("table.md");
    let said = run_well([
        "verify".as_ref(),
        "d-10".as_ref(),
        "V19".as_ref(),
        "--report".as_ref(),
        page.as_os_str(),
        "--markdown".as_ref(),
        table.as_os_str(),
    ]);
    assert!(said.out.contains("2 of 2 cases hold"), "{}", said.out);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("<svg") && page.contains("id=\"D-10\"") && page.ends_with("</html>\n"));
    let table = std::fs::read_to_string(table).unwrap();
    assert_eq!(table.lines().filter(|line| line.starts_with("| D-10") || line.starts_with("| V19")).count(), 2);
    let said = run(["verify", "V-19"]);
    assert!(said.code == Some(1) && said.err.contains("did you mean `V19`?"), "{}", said.err);
}
