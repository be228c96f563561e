//! The order of grains in memory.

use super::PeriodicCell;
use super::cell_grid::by_cell;
use crate::math::Aabb;
use crate::particles::Place;
use rayon::prelude::*;

/// Most grains, on average, in a layer of cells across the longest edge of the box around all; more are cut into strips. What a sweep
/// over contacts meets first in one layer it needs again in the next, and should find in the second cache; and ranges of some ten
/// thousand grains, of which workers take one after another, are then about as long as they are wide, with few at their borders.
const MOST_IN_LAYER: f64 = 1200.0;

/// The order that sorts grains by cell, slowest along the longest edge of the box around them, the others as in x, y, z, and
/// by index within a cell: `order[k]` is the grain to put at place `k`. Cells are at least `cell_size` \[m\] wide. Where the
/// layers of cells would hold too many grains they are cut into strips along the longest edge, one after another, and
/// sorted fastest along the shortest edge, so that few stand by the side of a strip.
///
/// Neighbours in space become neighbours in memory, which is all that matters for speed. Where grains are few and far
/// between, distant cells share a number and are sorted as one. A size that is no positive number puts all grains into
/// one cell or a few, and positions that are no numbers somewhere; the result is always a permutation.
///
/// # Panics
///
/// With more than `u32::MAX` grains.
pub fn spatial_order(places: &[Place], cell: &PeriodicCell, cell_size: f64) -> Vec<u32> {
    if places.is_empty() {
        return Vec::new();
    }
    let wrapped: Vec<Place> =
        places.iter().map(|p| Place { position: cell.wrap(p.position).0, radius: p.radius }).collect();
    let mut order = by_cell(&wrapped, cell, cell_size);
    let bounds = wrapped.iter().fold(Aabb::EMPTY, |all, place| all.including(place.position));
    let cells = bounds.size() / cell_size;
    let mut axes = [0, 1, 2];
    axes.sort_by(|&a, &b| cells[b].total_cmp(&cells[a]));
    let [slow, middle, fast] = axes;
    let in_layer = places.len() as f64 / cells[slow].max(1.0);
    if in_layer > MOST_IN_LAYER {
        let strips = (in_layer / MOST_IN_LAYER).ceil();
        let width = (cells[middle] / strips).max(1.0);
        let of = |i: u32, axis: usize| (wrapped[i as usize].position[axis] - bounds.min[axis]) / cell_size;
        let key = |&i: &u32| {
            let strip = (of(i, middle) / width).min(strips - 1.0);
            [strip, of(i, slow), of(i, middle), of(i, fast)].map(|coordinate| coordinate as u64)
        };
        order.par_sort_by_key(key);
    }
    order
}
