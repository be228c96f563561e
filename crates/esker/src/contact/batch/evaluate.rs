//! The formulas, for a group of touching pairs. Stage by stage, each handing on what the next one needs.

use super::constants::Constants;
use crate::lanes::{Lane, Quad, Record, Spring, Vec3s};

/// Where the numbers are.
pub(super) struct Columns {
    /// Velocities at the time of the force, and their means over the step.
    pub now: *const Record,
    pub mean: *const Record,
    /// Memories.
    pub springs: *mut Spring,
    /// Length of the step.
    pub dt: f64,
}

/// Contacts evaluated together.
pub(super) struct Group {
    /// Grains.
    pub i: *const u32,
    pub j: *const u32,
    /// Memories.
    pub k: *const u32,
    /// How many of them count.
    pub live: usize,
}

/// Where the grains of a group are.
pub(super) struct Geometry<L> {
    /// From centre to centre, sum of the radii, distance.
    d: Vec3s<L>,
    reach: L,
    distance: L,
    /// Distance of the contact point from the centres.
    pub levers: [Record; 2],
}

impl<L: Lane> Geometry<L> {
    /// Of grains whose records are there.
    #[inline(always)]
    pub unsafe fn write(to: *mut Self, x: *const Quad, group: &Group) {
        // SAFETY: the caller's.
        let ([a, b, c, reach], radius) = unsafe { (L::places(x, group.i, group.j), L::radii(x, group.i)) };
        let d = Vec3s::new(a, b, c);
        let distance = d.dot(d).sqrt();
        let half_overlap = L::splat(0.5) * (reach - distance);
        let lever = radius - half_overlap;
        // SAFETY: the caller's; every field is written.
        unsafe {
            (*to).d = d;
            (*to).reach = reach;
            (*to).distance = distance;
            lever.store(&mut (*to).levers[0]);
            (distance - lever).store(&mut (*to).levers[1]);
        }
    }
}

/// Turns a tangent vector with the contact frame, see [`crate::law::carry_with_frame`].
#[inline(always)]
fn carry<L: Lane>(v: Vec3s<L>, n: Vec3s<L>, middle: Vec3s<L>, angle: L) -> Vec3s<L> {
    let shrink = (angle * angle).mul_add(L::splat(-1.0 / 3.0), L::splat(1.0));
    let spun = n.cross(v).mul_add(angle, v * shrink);
    let lift = spun.dot(n) * (L::splat(2.0) - middle.dot(n));
    middle.neg_mul_add(lift, spun)
}

/// What the normal direction of a group comes to, and what its tangential direction needs.
pub(super) struct Pressed<L> {
    n: Vec3s<L>,
    middle: Vec3s<L>,
    /// Slip velocity now, and displacement over the step in the tangent plane of its end.
    slip: Vec3s<L>,
    stride: Vec3s<L>,
    /// Turn of the contact frame about the normal over the step.
    angle: L,
    normal_force: L,
    normal_dashpot: L,
    /// Approach over the step, from the mean velocity.
    approached: L,
    /// Tangential stiffness and dashpot.
    kt: L,
    ct: L,
}

impl<L: Lane> Pressed<L> {
    /// Velocities and normal forces of a group, see `touch`, `contact_velocity` and `Law::respond`.
    #[inline(always)]
    pub unsafe fn write<const HERTZ: bool, const ROOT: bool>(
        to: *mut Self,
        columns: &Columns,
        law: &Constants,
        group: &Group,
        geometry: &Geometry<L>,
    ) {
        let (i, j, levers) = (group.i, group.j, &geometry.levers);
        // SAFETY: the caller's.
        let (now, mean, [x, y, z]) = unsafe {
            let [now, mean] = [L::motions(columns.now, i, j, levers), L::motions(columns.mean, i, j, levers)];
            (now, mean, L::spins(columns.mean, i, j))
        };
        let spins = Vec3s::new(x, y, z);
        let (zero, one, half, dt) = (L::splat(0.0), L::splat(1.0), L::splat(0.5), L::splat(columns.dt));
        let half_dt = L::splat(0.5 * columns.dt);

        let (inverse_mass, inverse_radius) = (now[3], now[7]);
        let bodies = inverse_mass * inverse_radius;
        let all = one.div(geometry.distance * bodies);
        let (per_distance, per_bodies) = (all * bodies, all * geometry.distance);
        let (mass, radius) = (per_bodies * inverse_radius, per_bodies * inverse_mass);
        let n = geometry.d * per_distance;
        let overlap = (geometry.reach - geometry.distance).max(zero);

        let v = Vec3s::new(now[0], now[1], now[2]);
        let w = Vec3s::new(now[4], now[5], now[6]);
        let approach = v.dot(n);
        let slip = n.neg_mul_add(approach, w.cross(n) + v);

        let v = Vec3s::new(mean[0], mean[1], mean[2]);
        let w = Vec3s::new(mean[4], mean[5], mean[6]);
        let along = v.dot(n);
        let middle = n.neg_mul_add(along, v).mul_add(half_dt * per_distance, n);
        // Half way the levers were that much longer.
        let levers = spins.mul_add(L::splat(0.25 * columns.dt) * along, w);
        let mean_approach = v.dot(middle);
        let mean_slip = middle.neg_mul_add(mean_approach, levers.cross(middle) + v);
        let angle = w.dot(middle) * per_distance * dt;
        let spun = n.cross(mean_slip).mul_add(half * angle, mean_slip);
        let stride = n.neg_mul_add(spun.dot(n), spun) * dt;

        let (stiffness, elastic) = if HERTZ {
            let stiffness = L::load(&law.normal) * L::splat(2.0) * (radius * overlap).sqrt();
            (stiffness, stiffness * L::splat(2.0 / 3.0) * overlap)
        } else {
            let stiffness = radius.mul_add(L::load(&law.normal_scaled), L::load(&law.normal));
            (stiffness, stiffness * overlap)
        };
        let mut dashpot = mass.mul_add(L::load(&law.dashpot[1]), L::load(&law.dashpot[0]));
        if ROOT {
            dashpot = (mass * stiffness).sqrt().mul_add(L::load(&law.dashpot[2]), dashpot);
        }
        let normal_force = dashpot.mul_add(approach, elastic).max(L::load(&law.least));
        let kt = stiffness.mul_add(L::load(&law.tangential[1]), L::load(&law.tangential[0]));
        let ct = dashpot.mul_add(
            L::load(&law.tangential_dashpot[2]),
            mass.mul_add(L::load(&law.tangential_dashpot[1]), L::load(&law.tangential_dashpot[0])),
        );
        // SAFETY: the caller's; every field is written.
        unsafe {
            (*to).n = n;
            (*to).middle = middle;
            (*to).slip = slip;
            (*to).stride = stride;
            (*to).angle = angle;
            (*to).normal_force = normal_force;
            (*to).normal_dashpot = normal_force - elastic;
            (*to).approached = mean_approach * dt;
            (*to).kt = kt;
            (*to).ct = ct;
        }
    }

    /// Tangential forces, see `spring_and_slider`; advances the memory. Writes what acts on the first grains: force,
    /// loss in dashpots, moment over the lever, loss by sliding.
    #[inline(always)]
    pub unsafe fn respond<const LEDGER: bool>(
        &self,
        to: *mut [L; 8],
        columns: &Columns,
        law: &Constants,
        group: &Group,
        share: &Record,
    ) {
        let &Self { n, middle, slip, stride, angle, normal_force, normal_dashpot, approached, kt, ct } = self;
        let (zero, one, half, dt) = (L::splat(0.0), L::splat(1.0), L::splat(0.5), L::splat(columns.dt));

        // The memory, turned with the frame.
        // SAFETY: the caller's.
        let memory = unsafe {
            if LEDGER {
                L::springs(columns.springs, group.k)
            } else {
                let [a, b, c, d] = L::elastic(columns.springs, group.k);
                [a, b, c, d, zero, zero, zero, zero]
            }
        };
        let spring = Vec3s::new(memory[0], memory[1], memory[2]);
        let kt_before = memory[3];
        let lasting = zero.less(kt_before);
        let time = L::select(lasting, dt, zero);
        let length2 = spring.dot(spring);
        let carried = carry(spring, n, middle, angle);
        let per_both = one.div((kt * length2).max(L::splat(1e-280)));
        let excess = (carried.dot(carried) - length2) * kt * per_both;
        let before = carried * excess.mul_add(L::splat(-0.5), one);
        let stiffer = kt_before.less(kt);
        let kept = before * L::select(stiffer, kt_before * length2 * per_both, one);

        // Stick, or slide where the limit is passed.
        let mut stretched = stride * L::select(lasting, one, zero);
        let mut viscous = slip * -ct;
        let mut force = (kept + stretched).neg_mul_add(kt, viscous);
        let limit = L::load(&law.friction) * normal_force.max(zero);
        let trial2 = force.dot(force);
        let slides = (limit * limit).less(trial2);
        if L::bits(slides) != 0 {
            let trial = trial2.sqrt();
            let give = kt.mul_add(time, ct);
            let per_both = one.div(trial * give);
            let limited = force * (limit * give * per_both);
            let u = kept.mul_add(kt, limited) * -(trial * per_both);
            stretched = Vec3s::select(slides, u * time, stretched);
            viscous = Vec3s::select(slides, u * -ct, viscous);
            force = Vec3s::select(slides, limited, force);
        }
        let after = kept + stretched;

        // Energy lost over the step.
        let (mut damped, mut rubbed) = (zero, zero);
        if LEDGER {
            let share = L::load(share);
            let viscous_before = carry(Vec3s::new(memory[4], memory[5], memory[6]), n, middle, angle);
            let force_before = before.neg_mul_add(kt_before, viscous_before);
            let work = (force_before + force).dot(stride) * half;
            let in_dashpot = (viscous_before + viscous).dot(stretched) * half;
            let stored = (kt * after.dot(after) - kt_before * length2) * half;
            rubbed = (in_dashpot - work - stored) * share;
            damped = ((memory[7] + normal_dashpot) * approached).mul_add(half, -in_dashpot) * share;
        }

        let turn = n.cross(force);
        let total = n.neg_mul_add(normal_force, force);
        let memory = [after.x, after.y, after.z, kt, viscous.x, viscous.y, viscous.z, normal_dashpot];
        // SAFETY: the caller's.
        unsafe {
            L::store_springs(memory, columns.springs, group.k, group.live);
            *to = [total.x, total.y, total.z, damped, turn.x, turn.y, turn.z, rubbed];
        }
    }
}
