//! Sieve curves of a scene.

use esker_io::build::build;
use esker_io::scene;
use std::path::Path;

fn mean_radius(radius: &str) -> Result<f64, String> {
    let text = format!(
        r#"
        [material.glass]
        density = 2500
        youngs-modulus = 1e7
        poisson-ratio = 0.25
        [[grains]]
        name = "bed"
        material = "glass"
        radius = {radius}
        fill = {{ method = "lattice", count = 4000, region = {{ box = {{ min = [0, 0, 0], max = [1, 1, 1] }} }} }}
        [[stage]]
        name = "rest"
        duration = 1
        "#
    );
    let raw = scene::read(&text, "sieve.toml", &[]).map_err(|e| e.to_string())?;
    let scene = build(&raw, Path::new("")).map_err(|e| e.to_string())?;
    let places = &scene.state.particles.place;
    Ok(places.iter().map(|p| p.radius).sum::<f64>() / places.len() as f64)
}

#[test]
fn a_sieve_counts_mass_unless_told_otherwise() {
    // Half of the mass between 5 and 6 mm, half between 10 and 11: by number nearly all grains are small.
    let sieve = r#"sieve = [["5 mm", 0], ["6 mm", 0.5], ["10 mm", 0], ["11 mm", 0.5]]"#;
    let by_default = mean_radius(&format!("{{ {sieve} }}")).unwrap();
    let by_mass = mean_radius(&format!("{{ {sieve}, by = \"mass\" }}")).unwrap();
    let by_number = mean_radius(&format!("{{ {sieve}, by = \"number\" }}")).unwrap();
    assert_eq!(by_default, by_mass);
    assert!(by_mass < 6.5e-3, "{by_mass}");
    assert!((by_number - 8e-3).abs() < 2e-4, "{by_number}");
}

#[test]
fn a_fraction_below_the_first_edge_of_a_sieve_is_refused() {
    let error = mean_radius(r#"{ sieve = [["4 mm", 0.3], ["5 mm", 0.7]] }"#).unwrap_err();
    assert!(error.contains("its fraction must be 0"), "{error}");
}
