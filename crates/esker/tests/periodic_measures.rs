//! Grains that have run several periods away are measured where they are seen: inside the cell.

use crate::common;

use common::*;
use esker::math::{Aabb, Vec3};
use esker::measure::region;
use esker::model::CountingPlane;
use esker::neighbor::PeriodicCell;
use esker::region::Region;
use esker::state::State;

#[test]
fn a_grain_that_circles_is_counted_at_every_turn_and_is_always_inside_the_cell() {
    // 1 m/s through a period of 0.1 m: no step count at which grains are wrapped plays a part.
    let mut model = model(hooke(1e3), 1000.0, 1e-4);
    model.cell = PeriodicCell { origin: Vec3::ZERO, length: [Some(0.1), None, None] };
    model.gates = vec![
        CountingPlane { normal: Vec3::X, offset: 0.05 },
        CountingPlane { normal: -Vec3::X, offset: -0.05 },
        CountingPlane { normal: Vec3::Y, offset: 0.0 },
    ];
    let mut state = State::new(&model);
    add(&model, &mut state, 0, Vec3::new(0.02, 0.01, 0.0), 0.005, Vec3::X, Vec3::ZERO);
    let whole = Region::Box(Aabb { min: Vec3::new(0.0, -0.1, -0.1), max: Vec3::splat(0.1) });
    for turn in 1..=20 {
        run(&model, &mut state, 1000);
        assert_eq!(state.flows[0].count, turn);
        assert_eq!(state.flows[1].count, -turn);
        assert_eq!(state.flows[2].count, 0);
        assert_eq!(region::measure(&model, &state, &whole).unwrap().count, 1);
    }
    close(state.flows[0].mass, 20.0 * state.particles.mass[0], 1e-12, "mass");
}
