//! `esker contact` and `esker verify`: what they print, write and refuse.

use crate::common;

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
fn an_oblique_impact_has_a_tangential_curve_too() {
    let dir = tempfile::tempdir().unwrap();
    let name = dir.path().join("oblique").display().to_string();
    let law = r#"{ law = "hertz", modulus = "10 MPa" }"#;
    let friction = r#"{ law = "spring", friction = 0.3 }"#;
    run_well(["contact", "--normal", law, "--tangential", friction, "--angle", "40 deg", "-o", &name]);
    let table = std::fs::read_to_string(name.clone() + ".csv").unwrap();
    assert!(table.lines().next().unwrap().ends_with("slip [m/s],displacement [m]"));
    let picture = std::fs::read_to_string(name + "-tangential.svg").unwrap();
    assert!(picture.contains("<polyline") && picture.contains("tangential displacement [µm]"));
}

#[test]
fn shearing_under_a_load_follows_the_closed_forms() {
    let hertz = r#"{ law = "hertz", modulus = "1 GPa" }"#;
    let sheared = |tangential: &str, amplitude: &str| {
        json(&["--normal", hertz, "--tangential", tangential, "--load", "5 N", "--shear", amplitude])
    };
    // A spring with a slider: four times the limit and the way beyond the spring's.
    let told = sheared(r#"{ law = "mindlin", stiffness-ratio = 0.8, friction = 0.3 }"#, "6 um");
    let of = |key: &str| told[key].as_f64().unwrap();
    let (k, limit) = (of("first_stiffness"), of("friction_limit"));
    assert!((k / (0.8 * of("normal_stiffness")) - 1.0).abs() < 1e-9 && (limit - 1.5).abs() < 1e-9);
    let expected = 4.0 * limit * (6e-6 - limit / k);
    let lost = told["lost"][0].as_f64().unwrap();
    assert!((lost / expected - 1.0).abs() < 1e-6, "{lost:e} {expected:e}");
    // Below the limit it loses nothing.
    let told = sheared(r#"{ law = "mindlin", stiffness-ratio = 0.8, friction = 0.3 }"#, "4 um");
    assert!(told["lost"][1].as_f64().unwrap().abs() < 1e-18);
    // Mindlin & Deresiewicz: (9 (mu N)^2 / 10 a G*) {1 - s^(5/3) - 5/6 (1 - s)(1 + s^(2/3))}, s = 1 - T/mu N, with 8 G* a = k.
    let told = sheared(r#"{ law = "mindlin-deresiewicz", stiffness-ratio = 0.8, friction = 0.3 }"#, "6 um");
    let of = |key: &str| told[key].as_f64().unwrap();
    let s = 1.0 - of("peak_force") / limit;
    let shape = 1.0 - s.powf(5.0 / 3.0) - 5.0 / 6.0 * (1.0 - s) * (1.0 + s.powf(2.0 / 3.0));
    let expected = 7.2 * limit * limit / k * shape;
    let lost = told["lost"][2].as_f64().unwrap();
    assert!((lost / expected - 1.0).abs() < 1e-4, "{lost:e} {expected:e}");
    assert!(of("residual").abs() < 1e-15);

    let dir = tempfile::tempdir().unwrap();
    let name = dir.path().join("loop").display().to_string();
    let friction = r#"{ law = "spring", friction = 0.3 }"#;
    let shear = ["--shear", "6 um", "--load", "5 N", "--cycles", "1", "-o", &name];
    let said = run_well(["contact", "--normal", hertz, "--tangential", friction].iter().chain(&shear));
    assert!(said.out.contains("lost in a cycle"), "{}", said.out);
    assert_eq!(std::fs::read_to_string(name.clone() + ".csv").unwrap().lines().count(), 2502);
    assert!(std::fs::read_to_string(name + ".svg").unwrap().contains("force that resists [N]"));
}

#[test]
fn rolling_and_twisting_under_a_load_follow_the_closed_forms() {
    let hertz = r#"{ law = "hertz", modulus = "1 GPa" }"#;
    let moved = |law: [&str; 2], way: [&str; 2]| {
        json(&["--normal", hertz, law[0], law[1], way[0], way[1], "--load", "5 N", "--period", "1 ms"])
    };
    // A spring with a limit, either way: R* 2.5 mm, 2.25 k_n (mu R*)^2 and mu R* F; a cycle loses as a slider does.
    let (limit, angle) = (0.05 * 2.5e-3 * 5.0, 0.1);
    let spring = r#"{ law = "spring", friction = 0.05, damping-ratio = 0 }"#;
    for (law, way) in [("--rolling", "--roll"), ("--twisting", "--twist")] {
        let told = moved([law, spring], [way, "0.1 rad"]);
        let of = |key: &str| told[key].as_f64().unwrap();
        let k = 2.25 * of("normal_stiffness") * (0.05f64 * 2.5e-3).powi(2);
        assert!((of("first_stiffness") / k - 1.0).abs() < 1e-9 && (of("peak_couple") / limit - 1.0).abs() < 1e-9);
        let expected = 4.0 * limit * (angle - limit / k);
        assert!((told["lost"][0].as_f64().unwrap() / expected - 1.0).abs() < 1e-5, "{told}");
        assert!(of("residual").abs() < 1e-7 * expected, "{told}");
        // Below the limit it gives all back; what is left is the rounding of the last couple.
        let told = moved([law, spring], [way, "1 mrad"]);
        assert!(told["lost"][0].as_f64().unwrap().abs() < 1e-8 * k * 1e-6, "{told}");
    }
    // The contact area of radius a: half of k_t a^2, and two thirds of a mu F.
    let told = moved(
        ["--twisting", r#"{ law = "marshall", stiffness-ratio = 0.8, friction = 0.3, damping-ratio = 0 }"#],
        ["--twist", "50 mrad"],
    );
    let of = |key: &str| told[key].as_f64().unwrap();
    let area = 2.5e-3 * of("overlap");
    assert!((of("first_stiffness") / (0.4 * of("normal_stiffness") * area) - 1.0).abs() < 1e-9, "{told}");
    assert!((of("peak_couple") / (0.2 * area.sqrt() * 5.0) - 1.0).abs() < 1e-9, "{told}");
    // Without memory: the full couple at once, and eta F R*^2 at 0.4 rad in a millisecond; slower, both are
    // limited to what stops a free body in some steps.
    let told = moved(["--rolling", r#"{ law = "constant", friction = 0.05 }"#], ["--roll", "0.1 rad"]);
    // But for the two of 2000 steps in which it turns round.
    assert!((told["lost"][1].as_f64().unwrap() / (0.4 * limit) - 0.999).abs() < 1e-6, "{told}");
    let told = moved(["--rolling", r#"{ law = "viscous", viscosity = "0.1 s/m" }"#], ["--roll", "0.1 rad"]);
    let couple = 0.1 * 5.0 * 2.5e-3f64.powi(2) * 400.0;
    assert!((told["peak_couple"].as_f64().unwrap() / couple - 1.0).abs() < 1e-9, "{told}");
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
        (vec!["--shear", "1 um", "--load", "0 N"], "`--load 0 N` must be a force above zero"),
        (vec!["--shear", "1 um", "--load", "1e9 N"], "no overlap below the radius bears it"),
        (vec!["--twist", "0.1", "--load", "1 N"], "nothing resists twisting; give a law with `--twisting`"),
        (vec!["--roll", "1 um", "--load", "1 N"], "`--roll 1 um` is a length, a plain number was expected"),
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
