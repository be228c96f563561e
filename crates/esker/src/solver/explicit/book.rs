//! Adds up, in fixed order, what a step did: fields, losses, wall loads.

use crate::contact::sums::Told;
use crate::contact::walls::WallFrames;
use crate::integrate::isotropic::Lost;
use crate::law::Dissipation;
use crate::math::{Twist, Vec3};
use crate::model::Model;
use crate::particles::Load;
use crate::solver::between::times;
use crate::state::{State, WallState};
use rayon::prelude::*;

const CHUNK: usize = 1024;

/// Adds the fields to the loads at the time `t`, the end of the step number `step`, except gravity alone. Returns the power of
/// those without a potential \[W\]: the velocities have to be those at that time.
pub fn fields(model: &Model, state: &mut State, step: u64, t: f64) -> f64 {
    if model.gravity_alone().is_some() {
        return 0.0;
    }
    let p = &mut state.particles;
    let mut loads = std::mem::take(&mut p.load);
    let grains = &*p;
    let of_chunk = |(c, loads): (usize, &mut [Load])| {
        let mut power = 0.0;
        for field in &model.fields {
            let (times, has_potential) = (times(&**field, step), field.has_potential());
            if times == 0.0 {
                continue;
            }
            for (i, load) in (c * CHUNK..).zip(&mut *loads) {
                let force = times * field.force(grains, i, t);
                load.force += force;
                if !has_potential && !grains.is_fixed(i) {
                    power += force.dot(grains.velocity(i));
                }
            }
        }
        power
    };
    let powers: Vec<f64> = loads.par_chunks_mut(CHUNK).enumerate().map(of_chunk).collect();
    p.load = loads;
    powers.into_iter().sum()
}

/// Books the work of the fields without a potential over a step at the time of whose forces they have this power, to second order.
pub fn field_work(model: &Model, state: &mut State, power: f64, dt: f64) {
    let half_way = model.integrator.scheme().half_way();
    let mean = if half_way { power } else { 0.5 * (state.ledger.field_power + power) };
    state.ledger.field_work += mean * dt;
    state.ledger.field_power = power;
}

/// Adds the loads of the walls to them, unit by unit.
///
/// The work of a wall is the mean of its load at both ends of the step times its displacement over the step.
pub fn walls<'a>(state: &mut State, told: impl Iterator<Item = &'a Told>, frames: &WallFrames, dt: f64) {
    let power = |wall: &WallState, twist: &Twist| {
        -wall.force.dot(twist.at(Vec3::ZERO)) - wall.torque.dot(twist.angular_velocity)
    };
    for (wall, twist) in state.walls.iter_mut().zip(&frames.mean) {
        wall.work += 0.5 * power(wall, twist) * dt;
        (wall.force, wall.torque) = (Vec3::ZERO, Vec3::ZERO);
    }
    for (w, sum) in told.flat_map(|told| told.wall_sums.iter()) {
        state.walls[w].force += sum.force;
        state.walls[w].torque += sum.torque;
    }
    for (wall, twist) in state.walls.iter_mut().zip(&frames.mean) {
        wall.work += 0.5 * power(wall, twist) * dt;
    }
}

/// Adds what was lost to the ledger, unit by unit: in the contacts, and what the grains tell.
pub fn losses<'a>(state: &mut State, told: impl Iterator<Item = &'a Told>, lost: &[Lost]) {
    let of_units = told.flat_map(|told| told.losses.iter());
    for (of_unit, &[damping, friction]) in of_units.zip(lost) {
        state.ledger.dissipated += *of_unit;
        state.ledger.dissipated += Dissipation { damping, friction, rolling: 0.0 };
    }
}
