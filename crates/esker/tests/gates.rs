//! Walls that appear and vanish between stages: the energy account goes on.

use crate::common;

use common::*;
use esker::law::ContactEnd;
use esker::law::damping::{AnyDamping, PerMass};
use esker::math::Vec3;
use esker::measure::energy;
use esker::simulation::{End, Simulation, Stage};
use esker::state::State;

#[test]
fn a_gate_that_closes_on_a_grain_and_opens_again_is_booked() {
    let mut law = hooke(1e4);
    law.damping = AnyDamping::PerMass(PerMass { rate: 20.0 });
    law.end = ContactEnd::NoTension;
    let mut closed = model(law, 1000.0, 1e-5);
    closed.fields.push(gravity(Vec3::Z * -9.81));
    closed.walls = vec![plane(Vec3::ZERO, Vec3::Z), plane(Vec3::X * 0.17, -Vec3::X)];
    let mut open = closed.clone();
    open.walls[1].active = false;
    let stage = |name: &str, model: &esker::model::Model| Stage {
        name: name.into(),
        model: model.clone(),
        end: End { duration: Some(0.05), ..End::default() },
    };
    let mut state = State::new(&open);
    // It will overlap the second wall by 0.03 m: 4.5 J.
    add(&open, &mut state, 0, Vec3::new(0.1, 0.0, 0.0995), 0.1, Vec3::ZERO, Vec3::ZERO);
    let stages = vec![stage("open", &open), stage("closed", &closed), stage("open again", &open)];
    let mut simulation = Simulation::new(stages, state, 1);
    simulation.prepare().unwrap();
    let held = |s: &Simulation| energy::balance(&open, &s.state);
    let before = held(&simulation).mechanical();
    while !simulation.is_finished() {
        simulation.advance(100).unwrap();
    }
    let end = held(&simulation);
    close(end.switched, 0.5 * 1e4 * 0.03f64.powi(2), 1e-6, "energy given by the gate");
    assert!(end.translation > 1.0, "the grain was pushed away: {} J", end.translation);
    assert!(end.residual().abs() < 1e-3 * end.switched, "{} J of {before} J", end.residual());
}
