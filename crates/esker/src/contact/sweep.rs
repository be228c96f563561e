//! The contact loop over pairs of grains in its general form: any laws, one pair after another. The common laws take
//! [`batch`](super::batch) instead, which does the same several pairs at once.

use super::column::Column;
use super::list::{Memories, Pairs, Segment};
use super::{Frame, Levers, Velocity, contact_velocity, mean_contact_velocity};
use crate::law::{Dissipation, LastRates, Law, Memory, Touch};
use crate::model::Model;
use crate::particles::{Load, Motion, Place};
use std::ops::Range;

/// The grains as the contact loop sees them: real ones, then images.
#[derive(Clone, Copy)]
pub struct Grains<'a> {
    /// Number of real grains.
    pub owned: usize,
    /// Centre and radius.
    pub place: Column<'a, Place>,
    /// Masses, radii, and velocities at the time of the force if these are known.
    pub motion: Column<'a, Motion>,
    /// Mean velocity over the step.
    pub mean: Column<'a, Motion>,
    /// Whether `motion` holds the velocities at the time of the force.
    pub now: Now,
    /// Kind of each grain.
    pub kind: &'a [u16],
    /// Length of the step \[s\].
    pub dt: f64,
}

/// Where contacts have the velocities at the time of the force from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Now {
    /// From those of the grains.
    Known,
    /// From the mean velocities of this step and the last.
    Extrapolated,
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
    let [images, below, inside, above] = &mut segment.parts;
    for k in 0..below.len() {
        pair(model, grains, &own, below, k, loads);
    }
    // Row by row, so that losses are summed in the same order wherever the border lies.
    let mut next = [0; 3];
    for i in own.clone() {
        for (pairs, next) in [&mut *images, &mut *inside, &mut *above].into_iter().zip(&mut next) {
            while *next < pairs.len() && pairs.grains(*next).0 == i {
                *segment.told.losses.of(i - own.start) += pair(model, grains, &own, pairs, *next, loads);
                *next += 1;
            }
        }
    }
}

/// Evaluates one pair, adds its loads to the grains a worker owns, and returns what was lost.
fn pair(
    model: &Model,
    grains: Grains,
    own: &Range<usize>,
    pairs: &mut Pairs,
    k: usize,
    loads: &mut [Load],
) -> Dissipation {
    let (i, j) = pairs.grains(k);
    let Memories::Each(memories) = &mut pairs.memory else { unreachable!("the list was built for this loop") };
    let memory = &mut memories[k];
    let law = law_of(model, grains, i, j);
    let Some((touch, levers, rates)) = touch(grains, i, j, law, memory) else {
        return if memory.touching { release(model, grains, i, j, memory) } else { Dissipation::default() };
    };
    let response = law.respond(&touch, memory);
    memory.rates = rates;
    let spin = touch.normal.cross(response.force);
    if own.contains(&i) {
        let load = &mut loads[i - own.start];
        load.force += response.force;
        load.torque += levers.i * spin + response.couple;
    }
    if own.contains(&j) {
        let load = &mut loads[j - own.start];
        load.force -= response.force;
        load.torque += levers.j * spin - response.couple;
    }
    response.dissipated * grains.share(j)
}

fn law_of<'a>(model: &'a Model, grains: Grains, i: usize, j: usize) -> &'a Law {
    model.laws.law(model.material_of(grains.kind[i]), model.material_of(grains.kind[j]))
}

/// Forgets a pair that has just opened and returns what it lost in its last half step.
pub fn release(model: &Model, grains: Grains, i: usize, j: usize, memory: &mut Memory) -> Dissipation {
    let (a, b) = (&grains.place[i], &grains.place[j]);
    let normal = (b.position - a.position).normalize_or_zero();
    let reach = a.radius + b.radius;
    let [mean_i, mean_j] = [i, j].map(|g| Velocity::from(&grains.mean[g]));
    let levers = Levers::of_pair(a.radius, b.radius, reach);
    let mean = contact_velocity(normal, levers, mean_i, mean_j, Frame::Between(reach));
    law_of(model, grains, i, j).release(&mean, grains.dt, memory) * grains.share(j)
}

/// Geometry of one pair and what it has to know in the next step, or `None` when there is no force between the two.
#[inline(always)] // returned through memory it costs a fifth of the loop
pub fn touch(grains: Grains, i: usize, j: usize, law: &Law, memory: &Memory) -> Option<(Touch, Levers, LastRates)> {
    let (a, b) = (&grains.place[i], &grains.place[j]);
    let d = b.position - a.position;
    let reach = a.radius + b.radius;
    let d2 = d.length_squared();
    let (m_i, m_j) = (&grains.motion[i], &grains.motion[j]);
    let curvature = [m_i.inverse_radius, m_j.inverse_radius];
    let farthest = reach + law.range(curvature, memory.touching);
    if d2 >= farthest * farthest {
        return None;
    }
    let distance = d2.sqrt();
    let normal = d / distance;
    let [mean_i, mean_j] = [i, j].map(|g| Velocity::from(&grains.mean[g]));
    let dt = grains.dt;
    let last = memory.touching.then_some(&memory.rates);

    // Half way through the step: the normal was turned back, and the levers were longer.
    let (frame, closing) = (Frame::Between(distance), mean_i.linear - mean_j.linear);
    let middle = normal + (closing - normal * closing.dot(normal)) * (0.5 * dt / distance);
    let levers = Levers::of_pair(a.radius, b.radius, distance);
    let longer = levers.longer(0.25 * dt * last.map_or(0.0, |last| last.approach));
    let half_way = contact_velocity(middle, longer, mean_i, mean_j, frame);
    let touch = Touch {
        overlap: reach - distance,
        normal,
        middle,
        effective_radius: 1.0 / (m_i.inverse_radius + m_j.inverse_radius),
        elongation: 0.0,
        curvature,
        effective_mass: 1.0 / (m_i.inverse_mass + m_j.inverse_mass),
        now: match grains.now {
            Now::Known => contact_velocity(normal, levers, m_i.into(), m_j.into(), frame),
            Now::Extrapolated => half_way.half_a_step_later(last, normal),
        },
        mean: mean_contact_velocity(normal, half_way, dt),
        dt,
    };
    Some((touch, levers, half_way.rates()))
}
