//! Adds up, in fixed order, what a step did: fields, losses, wall loads.

use crate::contact::list::Segment;
use crate::math::Vec3;
use crate::model::Model;
use crate::state::State;
use rayon::prelude::*;

const CHUNK: usize = 1024;

/// Adds the fields to the loads; forces without a potential are kept for the ledger.
pub fn fields(model: &Model, state: &mut State, t: f64, without_potential: &mut Vec<Vec3>) {
    let p = &mut state.particles;
    let n = p.owned();
    without_potential.clear();

    // Gravity alone needs nothing but the mass.
    if model.fields.iter().all(|f| f.uniform_acceleration().is_some()) {
        let g = model.uniform_acceleration();
        for (load, mass) in p.load.iter_mut().zip(&p.mass) {
            load.force += *mass * g;
        }
        return;
    }
    let mut loads = std::mem::take(&mut p.load);
    let grains = &*p;
    without_potential.resize(n, Vec3::ZERO);
    (loads.par_chunks_mut(CHUNK), without_potential.par_chunks_mut(CHUNK)).into_par_iter().enumerate().for_each(
        |(c, (loads, other))| {
            for (k, (load, other)) in loads.iter_mut().zip(other).enumerate() {
                let i = c * CHUNK + k;
                for field in &model.fields {
                    let force = field.force(grains, i, t);
                    load.force += force;
                    if !field.has_potential() {
                        *other += force;
                    }
                }
            }
        },
    );
    p.load = loads;
}

/// Work of the forces without a potential over the step.
pub fn field_work(state: &mut State, without_potential: &[Vec3], dt: f64) {
    let work: f64 = without_potential
        .iter()
        .zip(&state.particles.motion)
        .map(|(force, motion)| force.dot(motion.velocity) * dt)
        .sum();
    state.ledger.field_work += work;
}

/// Adds the block sums of all segments to the ledger and the walls; returns the largest relative overlap.
pub fn sums(model: &Model, state: &mut State, segments: &[Segment], dt: f64) -> f64 {
    for wall in &mut state.walls {
        (wall.force, wall.torque) = (Vec3::ZERO, Vec3::ZERO);
    }
    let mut overlap = 0.0f64;
    for segment in segments {
        for sum in &segment.sums {
            state.ledger.dissipated += sum.dissipated;
            overlap = overlap.max(sum.overlap);
        }
        if model.walls.is_empty() {
            continue;
        }
        for block in segment.wall_sums.chunks(model.walls.len()) {
            for (wall, sum) in state.walls.iter_mut().zip(block) {
                wall.force += sum.force;
                wall.torque += sum.torque;
                wall.work += sum.power * dt;
            }
        }
    }
    overlap
}
