//! What frames show against closed forms.

use esker::simulation::Simulation;
use esker_io::frame::Scene;
use esker_io::{build, scene};
use std::path::Path;

/// Three discs in a row, pressed into each other by a tenth of a millimetre.
const ROW: &str = r#"
title = "row"
planar = true
gravity = [0, 0]
[material.m]
density = 1000
[contact.default]
normal = { law = "hooke", stiffness = 1e5 }
[[grains]]
name = "discs"
material = "m"
radius = 0.01
fill = { method = "at", positions = [[0, 0], [0.0199, 0], [0.0398, 0]] }
[[stage]]
name = "one"
duration = 1
"#;

#[test]
fn grains_have_the_stress_of_their_contacts_and_nothing_else() {
    let raw = scene::read(ROW, "row.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    let built = build::build(&raw, Path::new(".")).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = Simulation::new(built.stages, built.state, 1);
    simulation.prepare().unwrap();
    let frame = Scene::of(&simulation);
    let fields = frame.grain_fields();
    let value = |name: &str, id: u64| {
        let grain = (0..frame.grains()).find(|&i| simulation.state.particles.id[i] == id).unwrap();
        fields.iter().find(|field| field.name == name).unwrap().value(grain)
    };
    // 10 N on either side of the disc in the middle, with arms to the middle of the overlaps; half of it on the others.
    let xx = 2.0 * 10.0 * 0.00995 / (std::f64::consts::PI * 1e-4 * simulation.model().depth());
    let stress = value("stress", 1);
    assert!((stress[0] / xx - 1.0).abs() < 1e-9 && stress[1..].iter().all(|s| s.abs() < 1e-9 * xx), "{stress:?}");
    assert!((value("pressure", 1)[0] / (0.5 * xx) - 1.0).abs() < 1e-9);
    assert!((value("pressure", 0)[0] / (0.25 * xx) - 1.0).abs() < 1e-9);
}
