//! The contact loop over pairs of grains in its general form: any laws, one pair after another. The common laws take
//! [`batch`](super::batch) instead, which does the same several pairs at once.

use super::list::{BLOCK, Segment};
use super::{Levers, Velocity, contact_velocity, mean_contact_velocity};
use crate::law::{Dissipation, Law, Memory, Touch};
use crate::model::Model;
use crate::particles::{Load, Motion, Place};

/// What a block of grains books in one step.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlockSum {
    /// Energy lost in its contacts, as far as it is not booked to the grains.
    pub dissipated: Dissipation,
}

/// The grains as the contact loop sees them: real ones, then images.
#[derive(Clone, Copy)]
pub struct Grains<'a> {
    /// Number of real grains.
    pub owned: usize,
    /// Centre and radius.
    pub place: &'a [Place],
    /// Velocity at the time of the force.
    pub motion: &'a [Motion],
    /// Mean velocity over the step.
    pub mean: &'a [Motion],
    /// Kind of each grain.
    pub kind: &'a [u16],
    /// Length of the step \[s\].
    pub dt: f64,
}

impl Grains<'_> {
    /// Share of a pair's losses that an entry with partner `j` books: a pair met through a periodic face stands twice.
    #[inline]
    pub fn share(&self, j: usize) -> f64 {
        if j < self.owned { 1.0 } else { 0.5 }
    }
}

/// Evaluates all pairs of a segment, one after another, with whatever laws the model has, and adds their loads to the
/// grains it owns; `loads` is the segment's own range.
pub fn sweep(model: &Model, grains: Grains, segment: &mut Segment, loads: &mut [Load]) {
    let own = segment.grains.clone();
    for k in 0..segment.pairs.len() {
        let (i, j) = segment.pairs.grains(k);
        let Some((touch, levers)) = touch(grains, i, j) else {
            if segment.pairs.touches(k) {
                let mut memory = segment.pairs.memory(k);
                release(model, grains, segment, k, &mut memory);
                segment.pairs.set_memory(k, &memory);
            }
            continue;
        };
        let mut memory = segment.pairs.memory(k);
        let response = law_of(model, grains, i, j).respond(&touch, &mut memory);
        segment.pairs.set_memory(k, &memory);
        let spin = touch.normal.cross(response.force);
        if own.contains(&i) {
            let load = &mut loads[i - own.start];
            load.force += response.force;
            load.torque += levers.i * spin + response.couple;
            segment.sums[(i - own.start) / BLOCK].dissipated += response.dissipated * grains.share(j);
        }
        if own.contains(&j) {
            let load = &mut loads[j - own.start];
            load.force -= response.force;
            load.torque += levers.j * spin - response.couple;
        }
    }
}

fn law_of<'a>(model: &'a Model, grains: Grains, i: usize, j: usize) -> &'a Law {
    model.laws.law(model.material_of(grains.kind[i]), model.material_of(grains.kind[j]))
}

/// Books the end of pair `k`, which has just opened, and clears its memory.
pub fn release(model: &Model, grains: Grains, segment: &mut Segment, k: usize, memory: &mut Memory) {
    let (i, j) = segment.pairs.grains(k);
    let (a, b) = (&grains.place[i], &grains.place[j]);
    let normal = (b.position - a.position).normalize_or_zero();
    let levers = Levers::of_pair(a.radius, b.radius, a.radius + b.radius);
    let mean = contact_velocity(normal, levers, (&grains.mean[i]).into(), (&grains.mean[j]).into());
    let lost = law_of(model, grains, i, j).release(&mean, grains.dt, memory);
    if segment.grains.contains(&i) {
        segment.sums[(i - segment.grains.start) / BLOCK].dissipated += lost * grains.share(j);
    }
}

/// Geometry of one pair, or `None` when it does not touch.
#[inline(always)] // returned through memory it costs a fifth of the loop
pub fn touch(grains: Grains, i: usize, j: usize) -> Option<(Touch, Levers)> {
    let (a, b) = (&grains.place[i], &grains.place[j]);
    let d = b.position - a.position;
    let reach = a.radius + b.radius;
    let d2 = d.length_squared();
    if d2 >= reach * reach {
        return None;
    }
    let distance = d2.sqrt();
    let normal = d / distance;
    let (m_i, m_j) = (&grains.motion[i], &grains.motion[j]);
    let [mean_i, mean_j] = [i, j].map(|g| Velocity::from(&grains.mean[g]));
    let dt = grains.dt;
    let parting = mean_j.linear - mean_i.linear;
    let away = parting.dot(normal);
    let middle = normal - (parting - normal * away) * (0.5 * dt / distance);
    let levers = Levers::of_pair(a.radius, b.radius, distance);
    let half_way = levers.longer(-0.25 * dt * away);
    Some((
        Touch {
            overlap: reach - distance,
            normal,
            middle,
            effective_radius: 1.0 / (m_i.inverse_radius + m_j.inverse_radius),
            effective_mass: 1.0 / (m_i.inverse_mass + m_j.inverse_mass),
            now: contact_velocity(normal, levers, m_i.into(), m_j.into()),
            mean: mean_contact_velocity(normal, middle, half_way, mean_i, mean_j, dt),
            dt,
        },
        levers,
    ))
}
