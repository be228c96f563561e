//! The contact loop over pairs of grains.

use super::list::{BLOCK, Segment};
use super::{Velocity, contact_velocity, mean_contact_velocity};
use crate::law::damping::{AnyDamping, DampingLaw};
use crate::law::normal::{AnyNormal, Hertz, Hooke, NormalLaw};
use crate::law::rolling::{AnyRolling, NoRolling, RollingLaw};
use crate::law::tangential::{AnyTangential, Mindlin, Spring, TangentialLaw};
use crate::law::twisting::{AnyTwisting, NoTwisting, TwistingLaw};
use crate::law::{Dissipation, Law, Touch};
use crate::model::{Model, PairTable};
use crate::particles::{Load, Motion, Place};

/// What a block of grains books in one step.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlockSum {
    /// Energy lost in its contacts.
    pub dissipated: Dissipation,
    /// Largest overlap over the smaller radius.
    pub overlap: f64,
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
    pub mean: &'a [Velocity],
    /// Kind of each grain.
    pub kind: &'a [u16],
    /// Length of the step \[s\].
    pub dt: f64,
}

/// The laws of a model, compiled for the commonest combinations of slots.
pub enum Laws {
    /// Hooke and spring, nothing else.
    Hooke(Vec<Plain<Hooke, Spring>>),
    /// Hertz and Mindlin, nothing else.
    Hertz(Vec<Plain<Hertz, Mindlin>>),
    /// Any combination.
    Any(Vec<Law>),
}

impl Laws {
    /// Chooses the narrowest form that holds all laws of a table.
    pub fn of(table: &PairTable) -> Self {
        let hooke = narrow(table.laws(), |law| match (law.normal, law.tangential) {
            (AnyNormal::Hooke(normal), AnyTangential::Spring(tangential)) => Some((normal, tangential)),
            _ => None,
        });
        let hertz = narrow(table.laws(), |law| match (law.normal, law.tangential) {
            (AnyNormal::Hertz(normal), AnyTangential::Mindlin(tangential)) => Some((normal, tangential)),
            _ => None,
        });
        match (hooke, hertz) {
            (Some(laws), _) => Laws::Hooke(laws),
            (_, Some(laws)) => Laws::Hertz(laws),
            _ => Laws::Any(table.laws().to_vec()),
        }
    }

    /// Evaluates all pairs of a segment and adds their loads to the grains it owns; `loads` is the segment's own range.
    pub fn sweep(&self, model: &Model, grains: Grains, segment: &mut Segment, loads: &mut [Load]) {
        match self {
            Laws::Hooke(laws) => sweep(laws, model, grains, segment, loads),
            Laws::Hertz(laws) => sweep(laws, model, grains, segment, loads),
            Laws::Any(laws) => sweep(laws, model, grains, segment, loads),
        }
    }
}

/// A law with only normal and tangential slots.
pub type Plain<N, T> = Law<N, AnyDamping, T, NoRolling, NoTwisting>;

/// All laws in the narrower form that `pick` finds, if it fits every one of them.
fn narrow<N, T>(laws: &[Law], pick: impl Fn(&Law) -> Option<(N, T)>) -> Option<Vec<Plain<N, T>>> {
    laws.iter()
        .map(|law| {
            let (normal, tangential) = pick(law)?;
            let plain = matches!((law.rolling, law.twisting), (AnyRolling::None(_), AnyTwisting::None(_)));
            plain.then_some(Law {
                normal,
                damping: law.damping,
                tangential,
                rolling: NoRolling,
                twisting: NoTwisting,
                end: law.end,
            })
        })
        .collect()
}

/// Geometry of one pair, or `None` when it does not touch.
#[inline(always)] // returned through memory it costs a fifth of the loop
pub fn touch(grains: Grains, i: usize, j: usize) -> Option<(Touch, f64, f64)> {
    let (a, b) = (&grains.place[i], &grains.place[j]);
    let d = b.position - a.position;
    let reach = a.radius + b.radius;
    let d2 = d.length_squared();
    if d2 >= reach * reach {
        return None;
    }
    let distance = d2.sqrt();
    let inverse_distance = 1.0 / distance;
    let normal = d * inverse_distance;
    let overlap = reach - distance;
    let (lever_i, lever_j) = (a.radius - 0.5 * overlap, b.radius - 0.5 * overlap);
    let (m_i, m_j) = (&grains.motion[i], &grains.motion[j]);
    let (mean_i, mean_j) = (grains.mean[i], grains.mean[j]);
    let dt = grains.dt;
    let parting = mean_j.linear - mean_i.linear;
    let away = parting.dot(normal);
    let middle = normal - (parting - normal * away) * (0.5 * dt / distance);
    let back = 0.25 * dt * away;
    // R* and m* from one division.
    let (inverse_radius, inverse_mass) = (m_i.inverse_radius + m_j.inverse_radius, m_i.inverse_mass + m_j.inverse_mass);
    let both = 1.0 / (inverse_radius * inverse_mass);
    let now = |m: &Motion| Velocity { linear: m.velocity, angular: m.angular_velocity };
    Some((
        Touch {
            overlap,
            normal,
            middle,
            effective_radius: both * inverse_mass,
            effective_mass: both * inverse_radius,
            now: contact_velocity(normal, lever_i, lever_j, now(m_i), now(m_j)),
            mean: mean_contact_velocity(normal, middle, lever_i - back, lever_j - back, mean_i, mean_j, dt),
            dt,
        },
        lever_i,
        lever_j,
    ))
}

fn sweep<N: NormalLaw, D: DampingLaw, T: TangentialLaw, R: RollingLaw, W: TwistingLaw>(
    laws: &[Law<N, D, T, R, W>],
    model: &Model,
    grains: Grains,
    segment: &mut Segment,
    loads: &mut [Load],
) {
    let own = segment.grains.clone();
    let kind_of = |g: usize| grains.kind[g];
    for (&[i, j], memory) in segment.pairs.iter().zip(&mut segment.memory) {
        let (i, j) = (i as usize, j as usize);
        let touching = touch(grains, i, j);
        if touching.is_none() && !memory.touching {
            continue;
        }
        let law = if laws.len() == 1 {
            &laws[0]
        } else {
            &laws[model.laws.index(model.material_of(kind_of(i)), model.material_of(kind_of(j)))]
        };

        // A pair met through a periodic face stands twice and books half of its losses each time.
        let share = if j < grains.owned { 1.0 } else { 0.5 };
        let Some((touch, lever_i, lever_j)) = touching else {
            let (a, b) = (&grains.place[i], &grains.place[j]);
            let normal = (b.position - a.position).normalize_or_zero();
            let mean = contact_velocity(normal, a.radius, b.radius, grains.mean[i], grains.mean[j]);
            let lost = law.release(&mean, grains.dt, memory);
            if own.contains(&i) {
                segment.sums[(i - own.start) / BLOCK].dissipated += lost * share;
            }
            continue;
        };

        let response = law.respond(&touch, memory);
        let spin = touch.normal.cross(response.force);
        if own.contains(&i) {
            let load = &mut loads[i - own.start];
            load.force += response.force;
            load.torque += lever_i * spin + response.couple;
            let sum = &mut segment.sums[(i - own.start) / BLOCK];
            sum.dissipated += response.dissipated * share;
            sum.overlap = sum.overlap.max(touch.overlap / grains.place[i].radius.min(grains.place[j].radius));
        }
        if own.contains(&j) {
            let load = &mut loads[j - own.start];
            load.force -= response.force;
            load.torque += lever_j * spin - response.couple;
        }
    }
}
