//! Measures of the contact network on small arrangements that can be counted by hand.

use crate::common;

use common::*;
use esker::math::Vec3;
use esker::measure::contacts::{of_grains, segregation};
use esker::model::Model;
use esker::neighbor::PeriodicCell;
use esker::rng::{Purpose, Stream};
use esker::state::State;

/// A square of `n` by `n` spheres of radius 1 m, each pressed onto its neighbours by 0.01 m.
fn square(n: usize, periodic: bool) -> (Model, State) {
    let mut model = model(hooke(1000.0), 1.0, 1e-6);
    let pitch = 1.99;
    if periodic {
        let length = Some(pitch * n as f64);
        model.cell = PeriodicCell { origin: Vec3::ZERO, length: [length, length, None] };
    }
    let mut state = State::new(&model);
    for k in 0..n * n {
        let x = Vec3::new((k % n) as f64 + 0.5, (k / n) as f64 + 0.5, 0.0) * pitch;
        add(&model, &mut state, 0, x, 1.0, Vec3::ZERO, Vec3::ZERO);
    }
    run(&model, &mut state, 0);
    (model, state)
}

#[test]
fn every_contact_counts_for_both_grains_also_across_periodic_faces() {
    let (model, state) = square(3, false);
    let mut counts: Vec<u32> = of_grains(&model, &state).iter().map(|g| g.count).collect();
    counts.sort_unstable();
    assert_eq!(counts, [2, 2, 2, 2, 3, 3, 3, 3, 4]);
    let (model, state) = square(4, true);
    for grain in of_grains(&model, &state) {
        assert_eq!(grain.count, 4);
        close(grain.load, 4.0 * 1000.0 * 0.01, 1e-9, "load");
    }
}

#[test]
fn a_wall_loads_a_grain_and_counts_as_one_contact() {
    let mut model = model(hooke(1000.0), 1.0, 1e-6);
    model.walls.push(plane(Vec3::ZERO, Vec3::Z));
    let mut state = State::new(&model);
    add(&model, &mut state, 0, Vec3::Z * 0.98, 1.0, Vec3::ZERO, Vec3::ZERO);
    run(&model, &mut state, 0);
    let grains = of_grains(&model, &state);
    assert_eq!(grains[0].count, 1);
    close(grains[0].load, 20.0, 1e-9, "load");
}

#[test]
fn segregation_is_one_for_two_heaps_zero_for_a_random_mixture_and_negative_for_a_chessboard() {
    let n = 40u64;
    let (model, state) = square(n as usize, true);
    let column = |id: u64| (id % n, id / n);
    let heaps = segregation(&model, &state, |id| column(id).0 < n / 2).unwrap();
    // Two of the n columns of horizontal contacts join unlike grains: 2 n of 2 n² contacts, over one half.
    close(heaps, 1.0 - 2.0 / n as f64, 1e-12, "two halves");
    let chessboard = segregation(&model, &state, |id| (column(id).0 + column(id).1).is_multiple_of(2)).unwrap();
    close(chessboard, -1.0, 1e-12, "chessboard");
    // Drawn by lot: the standard deviation of the share of unlike contacts is about 1/sqrt(8 n²) = 0.009.
    let lot = |id: u64| Stream::new(1, Purpose::Shuffle, id).below(2) == 1;
    let scrambled = segregation(&model, &state, lot).unwrap();
    assert!(scrambled.abs() < 0.07, "{scrambled}");
    assert_eq!(segregation(&model, &state, |_| true), None);
}
