//! Measures inside a region: number, packing fraction, coordination, stress.

use crate::contact::visit;
use crate::math::{Mat3, Vec3, outer};
use crate::model::Model;
use crate::region::{Region, RegionError};
use crate::state::State;

/// What a region holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RegionMeasure {
    /// Grains with their centre inside.
    pub count: usize,
    /// Mass of these \[kg\].
    pub mass: f64,
    /// Solid volume of these over the volume of the region \[-\] (areas in a planar scene).
    pub packing: f64,
    /// Contacts per grain inside \[-\].
    pub coordination: f64,
    /// Mean stress, contact and kinetic part, compression positive \[Pa\].
    pub stress: Mat3,
}

/// Measures a region.
///
/// Stress after Love and Weber: σ = (1/V) Σ_c f_c ⊗ l_c over contacts whose point lies inside, plus Σ m v′ ⊗ v′ of the
/// grains inside, with v′ the velocity relative to their mean. f_c acts on the first body, l_c is the branch vector
/// from the second to the first, so compression is positive. With periodic faces everything is counted where it lies
/// inside the cell.
pub fn measure(model: &Model, state: &State, region: &Region) -> Result<RegionMeasure, RegionError> {
    let p = &state.particles;
    let volume = region.measure(model.planar)?;
    let holds = |x: Vec3| region.contains(model.cell.wrapped(x), model.planar);
    let inside: Vec<usize> = (0..p.owned()).filter(|&i| holds(p.position(i))).collect();
    let mass: f64 = inside.iter().map(|&i| p.mass[i]).sum();
    let solid: f64 = inside
        .iter()
        .map(|&i| {
            let r = p.radius(i);
            if model.planar { std::f64::consts::PI * r * r } else { 4.0 / 3.0 * std::f64::consts::PI * r.powi(3) }
        })
        .sum();
    let mean: Vec3 = inside.iter().map(|&i| p.mass[i] * p.velocity(i)).sum::<Vec3>() / mass.max(f64::MIN_POSITIVE);
    let mut stress = Mat3::ZERO;
    for &i in &inside {
        stress += outer(p.mass[i] * (p.velocity(i) - mean), p.velocity(i) - mean);
    }
    let mut is_inside = vec![false; p.owned()];
    inside.iter().for_each(|&i| is_inside[i] = true);
    let mut ends = 0usize;
    visit::for_each(model, state, |c| {
        if holds(c.point) {
            stress += outer(c.force, c.from - c.to) * c.share;
        }
        ends += c.ends().filter(|end| is_inside[end.grain]).count();
    });
    Ok(RegionMeasure {
        count: inside.len(),
        mass,
        packing: solid / volume,
        coordination: ends as f64 / inside.len().max(1) as f64,
        stress: stress * (1.0 / (volume * model.depth())),
    })
}
