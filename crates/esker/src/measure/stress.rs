//! Stress of a bed by the forces in its contacts, grain by grain and averaged over cells.
//!
//! After Love and Weber (Christoffersen, Mehrabadi & Nemat-Nasser, J. Appl. Mech. 48 (1981) 339):
//! the stress of a volume V is
//!
//! $$\boldsymbol\sigma = \frac1V\sum_i\sum_{c\in i}\mathbf f_{ic}\otimes(\mathbf x_i-\mathbf x_c)$$
//!
//! over the grains in it and their contacts, with **f** the force on the grain. The arm runs from the contact point to the centre of
//! the grain, so that **compression is positive**. Both grains of a pair together give the force times the branch between their
//! centres; a wall gives the part of the grain that touches it. Each grain counts as a whole in the cell of its centre: cells add up to
//! the whole, but cells not much larger than a grain show its size.
//!
//! In planar scenes the volume is that of the discs' depth.
//! Checked in `tests/stress_and_fabric.rs` against lattices, columns and the forces of walls.

use super::cells::Cells;
use crate::contact::visit;
use crate::math::{Mat3, Vec3, outer};
use crate::model::Model;
use crate::state::State;
use std::f64::consts::PI;

/// Averages over a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellStress {
    /// Grains with their centre in it.
    pub grains: usize,
    /// Their volume over that of the cell \[-\].
    pub solid_fraction: f64,
    /// Stress of the contacts, compression positive \[Pa\].
    pub contact: Mat3,
    /// Stress of the fluctuations, Σ m v′ ⊗ v′ over the volume, v′ about the mean velocity of the mass in the cell \[Pa\].
    pub kinetic: Mat3,
    /// Mean velocity of that mass \[m/s\].
    pub velocity: Vec3,
}

impl CellStress {
    const NOTHING: Self =
        Self { grains: 0, solid_fraction: 0.0, contact: Mat3::ZERO, kinetic: Mat3::ZERO, velocity: Vec3::ZERO };
}

/// Volume of grain `i` \[m³\]; in a planar scene that of a disc as deep as the scene.
pub fn volume(model: &Model, state: &State, i: usize) -> f64 {
    let r = state.particles.radius(i);
    if model.planar { PI * r * r * model.depth() } else { 4.0 / 3.0 * PI * r.powi(3) }
}

/// Moment of the contact forces on each grain, Σ f ⊗ (x − x_c), compression positive \[N m\]: its stress times its volume.
pub fn moments(model: &Model, state: &State) -> Vec<Mat3> {
    let mut moments = vec![Mat3::ZERO; state.particles.owned()];
    visit::for_each(model, state, |c| {
        c.ends().for_each(|end| moments[end.grain] += outer(end.force, end.arm));
    });
    moments
}

/// Stress of each cell.
pub fn of_cells(model: &Model, state: &State, cells: &Cells) -> Vec<CellStress> {
    let p = &state.particles;
    let (moments, cell_of) = (moments(model, state), cells.of_grains(model, state));
    let inside = |i: usize| cell_of[i].map(|cell| (i, cell));
    let mut found = vec![CellStress::NOTHING; cells.number()];
    let mut masses = vec![0.0; cells.number()];
    for (i, cell) in (0..p.owned()).filter_map(inside) {
        let sum = &mut found[cell];
        sum.grains += 1;
        sum.solid_fraction += volume(model, state, i);
        sum.contact += moments[i];
        sum.velocity += p.mass[i] * p.velocity(i);
        masses[cell] += p.mass[i];
    }
    for (sum, mass) in found.iter_mut().zip(masses).filter(|(_, mass)| *mass > 0.0) {
        sum.velocity /= mass;
    }
    for (i, cell) in (0..p.owned()).filter_map(inside) {
        let fluctuation = p.velocity(i) - found[cell].velocity;
        found[cell].kinetic += outer(p.mass[i] * fluctuation, fluctuation);
    }
    let per_volume = 1.0 / cells.volume();
    for sum in &mut found {
        sum.solid_fraction *= per_volume;
        sum.contact *= per_volume;
        sum.kinetic *= per_volume;
    }
    found
}
