//! Walls made of many segments that turn: what is near a grain is listed, and nothing is missed.

use esker::simulation::Simulation;
use esker_io::build::{self, Scene};
use esker_io::scene;
use std::path::Path;

/// Discs at rest without gravity, which liquid holds together, and a toothed ring that turns about a point off its centre and
/// sweeps them along, one way and then the other.
fn drum() -> Scene {
    let corner = |k: u32| {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(k) / 40.0).sin_cos();
        let r = if k.is_multiple_of(2) { 5.4 } else { 5.0 };
        format!("[{}, {}]", 0.3 + r * cos, r * sin)
    };
    let ring: Vec<String> = (0..=40).map(|k| corner(k % 40)).collect();
    let text = format!(
        "title = \"drum\"\nplanar = true\ngravity = [0, 0]\nseed = 1\n[material.m]\ndensity = \"1.2732 kg/m^2\"\n\
         [contact.default]\nnormal = {{ law = \"hooke\", stiffness = 2e3, restitution = 0.5 }}\n\
         tangential = {{ law = \"spring\", friction = 0.5 }}\n\
         cohesion = {{ law = \"capillary\", tension = 0.05, volume = 1e-3 }}\n\
         [[wall]]\nname = \"drum\"\nmaterial = \"m\"\npolyline = [{}]\n\
         motion = {{ schedule = [{{ duration = 3, rate = 0.8, through = [2.3, 0] }}, {{ duration = 1e3, rate = -0.4, through = [2.3, 0] }}] }}\n\
         [[grains]]\nname = \"bed\"\nmaterial = \"m\"\nradius = {{ uniform = [0.4, 0.5] }}\n\
         fill = {{ method = \"lattice\", count = 30, region = {{ sphere = {{ centre = [0.3, 0], radius = 4.5 }} }} }}\n\
         [solver]\nstep = 2e-3\n[[stage]]\nname = \"one\"\nduration = 2\n[[stage]]\nname = \"two\"\nduration = 100\n",
        ring.join(", ")
    );
    let raw = scene::read(&text, "drum.toml", &[]).expect("a scene");
    build::build(&raw, Path::new(".")).expect("a scene")
}

#[test]
fn a_turning_chain_listed_is_as_good_as_one_searched_at_every_step() {
    let Scene { stages, state, .. } = drum();
    let mut searched = state.clone();
    let mut kept = Simulation::new(stages.clone(), state, 1);
    let (mut touched, mut searches) = (0, 0);
    // On into the second stage, where the ring has turned before its motion begins anew.
    while searches < 1500 {
        let steps = kept.advance(25).expect("the run goes on");
        for _ in 0..steps {
            let mut once = Simulation::new(stages.clone(), searched, 1);
            once.advance(1).expect("the run goes on");
            searched = once.state;
            searches += 1;
        }
        assert!(kept.state == searched, "they differ at step {}", searched.step);
        touched += searched.contacts.walls.len();
    }
    assert!(searched.stage == 1);
    assert!((2..searches / 4).contains(&kept.rebuilds()), "{} searches", kept.rebuilds());
    assert!(touched > 100, "{touched} contacts with the drum");
}
