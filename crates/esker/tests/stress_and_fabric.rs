//! Stress, fabric, force distributions and chains against closed forms: lattices, columns, chains, beds between walls.

use crate::common;

use common::*;
use esker::contact::visit::{self, Other};
use esker::law::Law;
use esker::law::damping::{AnyDamping, FromRestitution};
use esker::law::tangential::{AnyTangential, Spring, Stiffness, TangentialDamping};
use esker::math::{Aabb, Mat3, Vec3, outer};
use esker::measure::cells::{Cells, CellsError};
use esker::measure::chains::Chain;
use esker::measure::principal::pressure;
use esker::measure::{chains, fabric, forces, stress};
use esker::model::Model;
use esker::neighbor::PeriodicCell;
use esker::rng::{Purpose, Stream};
use esker::shape::Shape;
use esker::state::State;
use std::f64::consts::PI;

const R: f64 = 0.01;
const K: f64 = 1e5;
const DEPTH: f64 = 0.05;
const ONE: [usize; 3] = [1; 3];

/// Discs on given places, held as they are.
fn discs(cell: PeriodicCell, places: impl IntoIterator<Item = Vec3>) -> (Model, State) {
    let mut model = model(hooke(K), 1000.0, 1e-7);
    model.planar = true;
    model.kinds.iter_mut().for_each(|kind| kind.shape = Shape::Disc { depth: DEPTH });
    model.cell = cell;
    let mut state = State::new(&model);
    for x in places {
        add(&model, &mut state, 0, x, R, Vec3::ZERO, Vec3::ZERO);
    }
    run(&model, &mut state, 0);
    (model, state)
}

/// A lattice of `n` by `n` discs with pitches along x and y; every other row moved by `offset` pitches.
fn lattice(n: usize, pitch: [f64; 2], offset: f64) -> (Model, State) {
    let [px, py] = pitch;
    let length = [Some(n as f64 * px), Some(n as f64 * py), None];
    let place = move |k: usize| {
        let row = k / n;
        let x = (k % n) as f64 + 0.25 + if row % 2 == 1 { offset } else { 0.0 };
        Vec3::new(x * px, (row as f64 + 0.5) * py, 0.0)
    };
    discs(PeriodicCell { origin: Vec3::ZERO, length }, (0..n * n).map(place))
}

/// Largest entry of a difference over the largest of the second.
fn off(found: Mat3, expected: Mat3) -> f64 {
    let largest = |m: Mat3| m.to_cols_array().iter().fold(0.0f64, |l, x| l.max(x.abs()));
    largest(found - expected) / largest(expected)
}

fn diagonal(x: f64, y: f64, z: f64) -> Mat3 {
    Mat3::from_diagonal(Vec3::new(x, y, z))
}

#[test]
fn a_sphere_between_two_plates_bears_force_times_its_height_over_its_box() {
    let mut model = model(hooke(1000.0), 1.0, 1e-6);
    let (r, delta) = (0.5, 0.01);
    model.walls.push(plane(Vec3::ZERO, Vec3::Z));
    model.walls.push(plane(Vec3::Z * (2.0 * (r - delta)), -Vec3::Z));
    let mut state = State::new(&model);
    add(&model, &mut state, 0, Vec3::Z * (r - delta), r, Vec3::ZERO, Vec3::ZERO);
    run(&model, &mut state, 0);
    let cells = Cells::around(&model, &state, ONE).unwrap();
    let found = stress::of_cells(&model, &state, &cells)[0];
    // The contact points lie in the middle of the overlaps.
    let zz = 1000.0 * delta * 2.0 * (r - 0.5 * delta) / (8.0 * r.powi(3));
    assert!(off(found.contact, diagonal(0.0, 0.0, zz)) < 1e-12);
    close(found.solid_fraction, PI / 6.0, 1e-12, "solid fraction");
    let network = fabric::of_cells(&model, &state, &cells)[0];
    assert_eq!((network.wall_contacts, network.coordination, network.fabric.count()), (2.0, 2.0, 0.0));
    assert_eq!(network.rattlers, 1, "two contacts do not hold a sphere in space");
}

#[test]
fn a_square_lattice_squeezed_unequally_has_the_stress_of_its_two_forces() {
    let [dx, dy] = [2e-4, 1e-4];
    let pitch = [2.0 * R - dx, 2.0 * R - dy];
    let (model, state) = lattice(6, pitch, 0.0);
    for counts in [ONE, [2, 3, 1]] {
        let cells = Cells::around(&model, &state, counts).unwrap();
        for cell in stress::of_cells(&model, &state, &cells) {
            // One contact of each direction for each pitch by pitch by depth.
            let expected = diagonal(K * dx / (pitch[1] * DEPTH), K * dy / (pitch[0] * DEPTH), 0.0);
            assert!(off(cell.contact, expected) < 1e-9, "{}", cell.contact);
            close(cell.solid_fraction, PI * R * R / (pitch[0] * pitch[1]), 1e-12, "solid fraction");
        }
        for cell in fabric::of_cells(&model, &state, &cells) {
            close(cell.coordination, 4.0, 1e-12, "coordination");
            close(cell.overlap, 0.5 * (dx + dy) / R, 1e-9, "mean overlap");
        }
    }
    let whole = Cells::around(&model, &state, ONE).unwrap();
    let found = forces::distributions(&model, &state, &whole);
    close(found.means[0], 0.5 * K * (dx + dy), 1e-9, "mean force");
    // Half the contacts carry 4/3 of the mean, along x; the others two thirds.
    close(found.largest, 4.0 / 3.0, 1e-9, "largest force");
    assert_eq!((found.normal.counts[13], found.normal.counts[6], found.normal.total()), (36.0, 36.0, 72.0));
    close(found.tail.unwrap().exponent, 3.0, 1e-8, "exponent");
    assert_eq!((found.strong.total(), found.strong.counts[0] + found.strong.counts[17]), (36.0, 36.0));
    assert_eq!((found.mean_mobilised, found.mobilised.total()), (None, 0.0));
}

#[test]
fn a_triangular_lattice_squeezed_unequally_has_its_closed_form_stress_and_fabric() {
    let (a, h) = (2.0 * R * 0.995, 2.0 * R * 0.99 * 0.75f64.sqrt());
    let (model, state) = lattice(6, [a, h], 0.5);
    let d = (0.25 * a * a + h * h).sqrt();
    let (f0, f1) = (K * (2.0 * R - a), K * (2.0 * R - d));
    let cells = Cells::around(&model, &state, ONE).unwrap();
    let found = stress::of_cells(&model, &state, &cells)[0].contact;
    // Of each grain one contact along x and two oblique ones.
    let expected = diagonal(f0 * a + 2.0 * f1 * 0.25 * a * a / d, 2.0 * f1 * h * h / d, 0.0) * (1.0 / (a * h * DEPTH));
    assert!(off(found, expected) < 1e-10, "{found} for {expected}");
    let network = fabric::of_cells(&model, &state, &cells)[0];
    let f = diagonal(1.0 + 0.5 * a * a / (d * d), 2.0 * h * h / (d * d), 0.0) * (1.0 / 3.0);
    assert!(off(network.fabric.tensor(), f) < 1e-12);
    close(network.fabric.anisotropy(true), 2.0 * (f.x_axis.x - f.y_axis.y).abs(), 1e-9, "anisotropy");
    close(network.coordination, 6.0, 1e-12, "coordination");
    assert_eq!(network.rattlers, 0);

    // Squeezed equally: a pressure, no preferred direction, nothing that carries more than others.
    let (model, state) = lattice(6, [a, a * 0.75f64.sqrt()], 0.5);
    let cells = Cells::around(&model, &state, ONE).unwrap();
    let found = stress::of_cells(&model, &state, &cells)[0].contact;
    let p = f0 * 3f64.sqrt() / (a * DEPTH);
    assert!(off(found, diagonal(p, p, 0.0)) < 1e-9);
    close(pressure(found, true), p, 1e-9, "pressure");
    assert!(fabric::of_cells(&model, &state, &cells)[0].fabric.anisotropy(true) < 1e-9);
    assert_eq!(forces::distributions(&model, &state, &cells).tail, None);
    assert!(chains::find(&model, &state, &cells, chains::ANGLE).is_empty());
}

/// Grains that settle.
fn sticky(k: f64) -> Law {
    let mut law = hooke(k);
    law.damping = AnyDamping::FromRestitution(FromRestitution::new(0.3, &law.normal, law.end));
    law.tangential = AnyTangential::Spring(Spring {
        stiffness: Stiffness::Ratio(0.5),
        damping: TangentialDamping::Ratio(1.0),
        friction: 0.5,
    });
    law
}

#[test]
fn in_a_column_the_vertical_stress_is_that_of_the_depth() {
    let (n, r, g, k) = (12, 0.05, 10.0, 1e6);
    let mut model = model(sticky(k), 1000.0, 2e-5);
    model.walls.push(plane(Vec3::ZERO, Vec3::Z));
    model.fields.push(gravity(Vec3::Z * -g));
    let mut state = State::new(&model);
    for k in 0..n {
        add(&model, &mut state, 0, Vec3::Z * (r * f64::from(2 * k + 1)), r, Vec3::ZERO, Vec3::ZERO);
    }
    run(&model, &mut state, 150_000);
    // One sphere in each cell: the force above it and the force below it, with arms to the middle of their overlaps.
    let cells = Cells::around(&model, &state, [1, 1, n as usize]).unwrap();
    let found = stress::of_cells(&model, &state, &cells);
    let (weight, bulk) = (state.particles.mass[0] * g, PI / 6.0 * 1000.0);
    for (layer, cell) in found.iter().enumerate() {
        let above = (n as usize - layer - 1) as f64 * weight;
        let moment: f64 = [above, above + weight].iter().map(|f| f * (r - 0.5 * f / k)).sum();
        assert_eq!(cell.grains, 1);
        close(cell.contact.z_axis.z, moment / cells.volume(), 1e-6, "vertical stress");
        // Overlaps are a thousandth of a radius.
        let depth = (n as f64 - layer as f64 - 0.5) * 2.0 * r;
        close(cell.contact.z_axis.z, bulk * g * depth, 2e-3, "weight of the depth");
        assert!(pressure(cell.kinetic, false) < 1e-9 * bulk * g * r);
    }
}

/// Discs of two sizes that settle between three walls.
fn bed() -> (Model, State) {
    let mut model = model(sticky(1e5), 1000.0, 1e-5);
    model.planar = true;
    model.kinds.iter_mut().for_each(|kind| kind.shape = Shape::Disc { depth: DEPTH });
    model.walls.push(plane(Vec3::ZERO, Vec3::Y));
    model.walls.push(plane(Vec3::ZERO, Vec3::X));
    model.walls.push(plane(Vec3::X * 0.21, Vec3::NEG_X));
    model.fields.push(gravity(Vec3::Y * -10.0));
    let mut state = State::new(&model);
    let mut stream = Stream::new(2, Purpose::Fill, 0);
    for k in 0..80 {
        let x = Vec3::new(0.0105 + 0.021 * f64::from(k % 10), 0.02 + 0.021 * f64::from(k / 10), 0.0);
        let r = 0.01 * stream.between(0.7, 1.0);
        add(&model, &mut state, 0, x, r, stream.direction(true) * 0.1, Vec3::ZERO);
    }
    run(&model, &mut state, 250_000);
    (model, state)
}

#[test]
fn volume_stress_is_that_of_the_walls_and_of_the_weight() {
    let (model, state) = bed();
    let p = &state.particles;
    let cells = Cells::around(&model, &state, ONE).unwrap();
    let found = stress::of_cells(&model, &state, &cells)[0].contact * cells.volume();
    // Balance of every grain, multiplied by its place: forces between grains drop out but for the branch.
    let mut walls = Mat3::ZERO;
    visit::for_each(&model, &state, |c| {
        if matches!(c.other, Other::Wall(_)) {
            walls += outer(c.force, -c.point);
        }
    });
    let g = Vec3::Y * -10.0;
    let weight: Mat3 = (0..p.owned()).fold(Mat3::ZERO, |sum, i| sum + outer(p.mass[i] * g, -p.position(i)));
    let unbalanced = (0..p.owned()).fold(Mat3::ZERO, |sum, i| sum + outer(p.load[i].force, p.position(i)));
    assert!(off(found, walls + weight + unbalanced) < 1e-12, "to rounding");
    assert!(off(found, walls + weight) < 1e-4, "at rest: {}", off(found, walls + weight));
    // No couple is left on any grain.
    assert!((found.x_axis.y - found.y_axis.x).abs() < 1e-4 * found.y_axis.y.abs());
}

#[test]
fn cells_add_up_to_the_whole() {
    let (model, state) = bed();
    let whole = Cells::around(&model, &state, ONE).unwrap();
    let parts = Cells::around(&model, &state, [3, 4, 1]).unwrap();
    assert_eq!((parts.number(), parts.undivided()), (12, whole));
    let [all, each] = [whole, parts].map(|cells| stress::of_cells(&model, &state, &cells));
    let share = 1.0 / 12.0;
    let sum = each.iter().fold(Mat3::ZERO, |sum, cell| sum + cell.contact * share);
    assert!(off(sum, all[0].contact) < 1e-12);
    close(each.iter().map(|cell| cell.solid_fraction * share).sum(), all[0].solid_fraction, 1e-12, "solid fraction");
    assert_eq!(each.iter().map(|cell| cell.grains).sum::<usize>(), 80);
    let [all, each] = [whole, parts].map(|cells| fabric::of_cells(&model, &state, &cells));
    assert_eq!(each.iter().map(|cell| cell.fabric.count()).sum::<f64>(), all[0].fabric.count());
    assert_eq!(each.iter().map(|cell| cell.wall_contacts).sum::<f64>(), all[0].wall_contacts);
    assert_eq!(each.iter().map(|cell| cell.rattlers).sum::<usize>(), all[0].rattlers);
    let ends: f64 = each.iter().map(|cell| cell.coordination * cell.grains as f64).sum();
    close(ends / 80.0, all[0].coordination, 1e-12, "coordination");
    assert!(all[0].coordination_without_rattlers >= 2.0 && all[0].rattlers < 30);
    // Friction is mobilised up to its limit and not beyond it.
    let forces = forces::distributions(&model, &state, &whole);
    assert_eq!(forces.mobilised.total(), forces.normal.total());
    assert!(forces.mean_mobilised.is_some_and(|m| m > 0.0 && m < 1.0), "{:?}", forces.mean_mobilised);
    // A box beside the bed holds nothing.
    let beside = Aabb { min: Vec3::splat(5.0), max: Vec3::splat(6.0) };
    let beside = Cells::new(&model, beside, ONE).unwrap();
    assert_eq!(stress::of_cells(&model, &state, &beside)[0].grains, 0);
    assert_eq!(forces::distributions(&model, &state, &beside).normal.total(), 0.0);
}

#[test]
fn boxes_without_volume_and_wrong_numbers_of_cells_are_refused() {
    let (model, state) = discs(PeriodicCell::OPEN, [Vec3::ZERO]);
    let around = |counts| Cells::around(&model, &state, counts);
    assert_eq!(around([1, 1, 2]), Err(CellsError::Layers(2)));
    assert_eq!(around([0, 1, 1]), Err(CellsError::Number([0, 1, 1])));
    assert!(matches!(around([usize::MAX, usize::MAX, 1]), Err(CellsError::Number(_))));
    let flat = Aabb { min: Vec3::ZERO, max: Vec3::X };
    assert!(matches!(Cells::new(&model, flat, ONE), Err(CellsError::Malformed(_))));
    assert_eq!(Cells::around(&model, &State::new(&model), ONE), Err(CellsError::NoGrains));
}

#[test]
fn fluctuations_of_velocity_make_the_kinetic_stress_and_the_mean_does_not() {
    let (model, mut state) = discs(PeriodicCell::OPEN, [Vec3::ZERO, Vec3::X]);
    state.particles.motion[0].velocity = Vec3::new(5.0, 3.0, 0.0);
    state.particles.motion[1].velocity = Vec3::new(5.0, 1.0, 0.0);
    let cells = Cells::around(&model, &state, ONE).unwrap();
    let found = stress::of_cells(&model, &state, &cells)[0];
    assert_eq!((found.velocity, found.contact), (Vec3::new(5.0, 2.0, 0.0), Mat3::ZERO));
    assert!(off(found.kinetic, diagonal(0.0, 2.0 * state.particles.mass[0] / cells.volume(), 0.0)) < 1e-12);
}

#[test]
fn grains_that_hang_on_rattlers_are_rattlers_too() {
    // A ring of six, a tail of two on it, and one by itself.
    let place = |k: u32| Vec3::new((PI / 3.0 * f64::from(k)).cos(), (PI / 3.0 * f64::from(k)).sin(), 0.0);
    let d = 2.0 * R * 0.999;
    let tail = [2.0, 3.0, 9.0].map(|x| Vec3::X * (x * d));
    let (model, state) = discs(PeriodicCell::OPEN, (0..6).map(|k| place(k) * d).chain(tail));
    let found = fabric::of_cells(&model, &state, &Cells::around(&model, &state, ONE).unwrap())[0];
    assert_eq!((found.grains, found.rattlers, found.fabric.count()), (9, 3, 8.0));
    close(found.coordination, 16.0 / 9.0, 1e-12, "coordination");
    assert_eq!(found.coordination_without_rattlers, 2.0);
    let backbone = fabric::Backbone::of(&model, &state, 2);
    let contacts = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|id| backbone.contacts[index(&state, id)]);
    assert_eq!(contacts, [2, 2, 2, 2, 2, 2, 0, 0, 0]);
    assert_eq!(backbone.coordination(), 2.0);
}

/// Identities of the grains of a chain, from the end with the lower one.
fn identities(state: &State, chain: &Chain) -> Vec<u64> {
    let mut found: Vec<u64> = chain.grains.iter().map(|&i| state.particles.id[i]).collect();
    if found.first() > found.last() {
        found.reverse();
    }
    found
}

#[test]
fn a_line_of_pressed_discs_is_one_chain_also_across_a_periodic_face() {
    let n = 8;
    let weak = 2.0 * R - 1e-6;
    // Seven discs in a row, a tenth of a millimetre into each other, apart from a square that is hardly pressed.
    let line = |k: usize| Vec3::new(0.1 + k as f64 * (2.0 * R - 1e-4), 0.0, 0.0);
    let rest = |k: usize| Vec3::new((k % n) as f64 * weak, 0.1 + (k / n) as f64 * weak, 0.0);
    let (model, state) = discs(PeriodicCell::OPEN, (0..7).map(line).chain((0..n * n).map(rest)));
    let cells = Cells::around(&model, &state, ONE).unwrap();
    let found = chains::find(&model, &state, &cells, chains::ANGLE);
    assert_eq!(found.len(), 1);
    assert_eq!(identities(&state, &found[0]), [0, 1, 2, 3, 4, 5, 6]);
    close(found[0].length(), 6.0 * (2.0 * R - 1e-4), 1e-9, "length");
    close(found[0].mean_force(), 10.0, 1e-6, "force");
    // With cells of their own the line is no stronger than its surroundings.
    let divided = Cells::around(&model, &state, [1, 3, 1]).unwrap();
    assert!(chains::find(&model, &state, &divided, chains::ANGLE).is_empty());

    // The same line through a periodic face: a ring, told from its first grain on, and drawn on beyond the face.
    let pitch = 2.0 * R - 1e-4;
    let cell = PeriodicCell { origin: Vec3::ZERO, length: [Some(10.0 * pitch), None, None] };
    let ring = (0..10).map(|k| Vec3::new((k as f64 + 0.5) * pitch, 0.0, 0.0));
    let apart = (0..10).map(|k| Vec3::new(0.5 * pitch, 0.1 + k as f64 * weak, 0.0));
    let (model, state) = discs(cell, ring.chain(apart));
    let cells = Cells::around(&model, &state, ONE).unwrap();
    let found = chains::find(&model, &state, &cells, chains::ANGLE);
    assert_eq!((found.len(), found[0].grains.len()), (1, 10));
    close(found[0].length(), 9.0 * pitch, 1e-9, "length");
}

#[test]
fn a_chain_goes_round_a_bend_as_far_as_the_angle_lets_it() {
    // Six pressed discs in a ring turn by 60° at each: the major stress lies at 30° to both branches.
    let (pressed, weak) = (2.0 * R - 1e-4, 2.0 * R - 1e-6);
    let ring = (0..6).map(|k| {
        let (sin, cos) = (PI / 3.0 * f64::from(k)).sin_cos();
        Vec3::new(cos, sin, 0.0) * pressed
    });
    let pairs = (0..20).flat_map(|k| [0.0, weak].map(|x| Vec3::new(1.0 + x, 0.1 * f64::from(k), 0.0)));
    let (model, state) = discs(PeriodicCell::OPEN, ring.chain(pairs));
    let cells = Cells::around(&model, &state, ONE).unwrap();
    let of = |angle| chains::find(&model, &state, &cells, angle);
    assert_eq!(of(31.0).len(), 1);
    let mut found = identities(&state, &of(31.0)[0]);
    found.sort_unstable();
    assert_eq!(found, [0, 1, 2, 3, 4, 5]);
    assert!(of(29.0).is_empty());
}
