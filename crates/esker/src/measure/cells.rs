//! Equal cells of a box, over which measures of a bed are averaged.

use crate::math::{Aabb, Vec3};
use crate::model::Model;
use crate::state::State;
use thiserror::Error;

/// Most cells: more than there are grains in the largest runs.
const MOST_CELLS: usize = 10_000_000;

/// How far outside the box a point may lie to count as in it, over the size of the box: rounding of periodic copies.
const ROUNDING: f64 = 1e-9;

/// A box divided into equal cells. In a planar scene it is as deep as the discs, and has one cell along z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cells {
    bounds: Aabb,
    counts: [usize; 3],
}

/// Why there are no such cells.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum CellsError {
    /// There is nothing to lay cells around.
    #[error("there are no grains, so there is no box around them")]
    NoGrains,
    /// The box has no volume.
    #[error("the box from {} m to {} m is empty or not finite: give a lower corner below the upper one", .0.min, .0.max)]
    Malformed(Aabb),
    /// No cells along an axis, or too many.
    #[error("{}x{}x{} cells: from 1 along each axis to {MOST_CELLS} in all", .0[0], .0[1], .0[2])]
    Number([usize; 3]),
    /// Layers along z in a planar scene.
    #[error("{0} cells along z: a planar scene has one")]
    Layers(usize),
}

impl Cells {
    /// Cells of a box; along z that of a planar scene is as deep as the discs, whatever is given.
    pub fn new(model: &Model, mut bounds: Aabb, counts: [usize; 3]) -> Result<Self, CellsError> {
        if model.planar {
            (bounds.min.z, bounds.max.z) = (-0.5 * model.depth(), 0.5 * model.depth());
            if counts[2] != 1 {
                return Err(CellsError::Layers(counts[2]));
            }
        }
        let size = bounds.size();
        if !(size.is_finite() && size.cmpgt(Vec3::ZERO).all()) {
            return Err(CellsError::Malformed(bounds));
        }
        let number = counts.iter().try_fold(1usize, |n, &k| n.checked_mul(k));
        if !number.is_some_and(|n| (1..=MOST_CELLS).contains(&n)) {
            return Err(CellsError::Number(counts));
        }
        Ok(Self { bounds, counts })
    }

    /// Cells of the smallest box around all grains; along periodic axes it is the period.
    pub fn around(model: &Model, state: &State, counts: [usize; 3]) -> Result<Self, CellsError> {
        let p = &state.particles;
        if p.owned() == 0 {
            return Err(CellsError::NoGrains);
        }
        let mut bounds = (0..p.owned()).fold(Aabb::EMPTY, |b, i| {
            let r = Vec3::splat(p.radius(i));
            b.including(p.position(i) - r).including(p.position(i) + r)
        });
        for axis in 0..3 {
            if let Some(length) = model.cell.length[axis] {
                bounds.min[axis] = model.cell.origin[axis];
                bounds.max[axis] = model.cell.origin[axis] + length;
            }
        }
        Self::new(model, bounds, counts)
    }

    /// The same box undivided.
    pub fn undivided(&self) -> Self {
        Self { counts: [1; 3], ..*self }
    }

    /// The box.
    pub fn bounds(&self) -> Aabb {
        self.bounds
    }

    /// Cells along each axis.
    pub fn counts(&self) -> [usize; 3] {
        self.counts
    }

    /// Number of cells.
    pub fn number(&self) -> usize {
        self.counts.iter().product()
    }

    /// Edges of a cell \[m\].
    pub fn size(&self) -> Vec3 {
        self.bounds.size() / Vec3::from_array(self.counts.map(|n| n as f64))
    }

    /// Volume of a cell \[m³\].
    pub fn volume(&self) -> f64 {
        self.size().to_array().iter().product()
    }

    /// Centre of a cell \[m\]. Cells are numbered along x first, then y, then z.
    pub fn centre(&self, cell: usize) -> Vec3 {
        let [nx, ny, _] = self.counts;
        let place = [cell % nx, cell / nx % ny, cell / nx / ny].map(|k| k as f64 + 0.5);
        self.bounds.min + self.size() * Vec3::from_array(place)
    }

    /// The cell that holds a point, of which periodic copies count as well; `None` outside the box.
    pub fn holding(&self, model: &Model, x: Vec3) -> Option<usize> {
        let x = model.cell.wrapped(x);
        let mut place = [0; 3];
        for axis in 0..3 {
            let share = (x[axis] - self.bounds.min[axis]) / self.bounds.size()[axis];
            if !(-ROUNDING..=1.0 + ROUNDING).contains(&share) {
                return None;
            }
            let n = self.counts[axis];
            place[axis] = ((share * n as f64).max(0.0) as usize).min(n - 1);
        }
        Some(place[0] + self.counts[0] * (place[1] + self.counts[1] * place[2]))
    }

    /// The cell of each grain by its centre; `None` outside the box.
    pub fn of_grains(&self, model: &Model, state: &State) -> Vec<Option<usize>> {
        let p = &state.particles;
        (0..p.owned()).map(|i| self.holding(model, p.position(i))).collect()
    }
}
