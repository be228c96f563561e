//! The formulas, for a group of pairs. Stage by stage, each handing on what the next one needs.
//!
//! Pairs that do not touch, and lanes that hold no pair, go through the same formulas with no overlap, no dashpot and an
//! empty spring, and so without a force.

use super::constants::Constants;
use crate::contact::octets::{Lines, Octet, Octets};
use crate::lanes::{Lane, Quad, Record, Vec3s};

/// Where the octets of a block are.
#[derive(Clone, Copy)]
pub(super) struct Columns {
    pub pairs: *const Octet,
    pub spring: *mut Lines<[Record; 3]>,
    pub stiffness: *mut Lines<Record>,
    pub approach: *mut Lines<Record>,
    pub slip: *mut Lines<[Record; 3]>,
    pub dashpot: *mut Lines<[[f32; 8]; 4]>,
}

/// Contacts evaluated together: some lanes of an octet.
#[derive(Clone, Copy)]
pub(super) struct Group {
    pub octet: usize,
    /// The first of the lanes.
    pub lane: usize,
    /// Which of them touched before, and touch now.
    pub lasting: u8,
    pub touching: u8,
}

/// Lanes of one column of the memories of a group.
macro_rules! column {
    ($columns:expr, $group:expr, $field:ident) => {
        $columns.$field.add($group.octet).cast::<f64>().add($group.lane)
    };
    ($columns:expr, $group:expr, $field:ident, $c:expr) => {
        $columns.$field.add($group.octet).cast::<f64>().add(8 * $c + $group.lane)
    };
}

/// Lanes of one column of the dashpot forces of a group.
macro_rules! dashpot {
    ($columns:expr, $group:expr, $c:expr) => {
        $columns.dashpot.add($group.octet).cast::<f32>().add(8 * $c + $group.lane)
    };
}

/// Three of the columns of a group as vectors.
#[inline(always)]
unsafe fn vectors<L: Lane>(columns: *const Lines<[Record; 3]>, group: &Group) -> Vec3s<L> {
    // SAFETY: the caller's.
    unsafe {
        let first = columns.add(group.octet).cast::<f64>().add(group.lane);
        Vec3s::new(L::load(first), L::load(first.add(8)), L::load(first.add(16)))
    }
}

/// Writes vectors to three of the columns of a group.
#[inline(always)]
unsafe fn store_vectors<L: Lane>(v: Vec3s<L>, columns: *mut Lines<[Record; 3]>, group: &Group) {
    // SAFETY: the caller's.
    unsafe {
        let first = columns.add(group.octet).cast::<f64>().add(group.lane);
        v.x.store(first);
        v.y.store(first.add(8));
        v.z.store(first.add(16));
    }
}

impl Columns {
    /// Of these octets.
    pub fn of(octets: &mut Octets) -> Self {
        Self {
            pairs: octets.pairs.as_ptr(),
            spring: octets.spring.as_mut_ptr(),
            stiffness: octets.stiffness.as_mut_ptr(),
            approach: octets.approach.as_mut_ptr(),
            slip: octets.slip.as_mut_ptr(),
            dashpot: octets.dashpot.as_mut_ptr(),
        }
    }

    /// First grains of a group.
    #[inline(always)]
    pub unsafe fn i(&self, group: &Group) -> *const u32 {
        // SAFETY: the caller's.
        unsafe { self.pairs.add(group.octet).cast::<u32>().add(group.lane) }
    }

    /// Second grains of a group.
    #[inline(always)]
    pub unsafe fn j(&self, group: &Group) -> *const u32 {
        // SAFETY: the caller's.
        unsafe { self.pairs.add(group.octet).cast::<u32>().add(8 + group.lane) }
    }
}

/// A constant of each lane of a group.
#[inline(always)]
unsafe fn constant<L: Lane>(group: &Group, of: &Record) -> L {
    // SAFETY: constants are given for eight lanes.
    unsafe { L::load(of.as_ptr().add(group.lane)) }
}

/// The same for vectors.
#[inline(always)]
unsafe fn constants<L: Lane>(group: &Group, of: &[Record; 3]) -> Vec3s<L> {
    // SAFETY: as above.
    unsafe { Vec3s::new(constant(group, &of[0]), constant(group, &of[1]), constant(group, &of[2])) }
}

/// Where the grains of a group are.
pub(super) struct Geometry<L> {
    /// From centre to centre; distance; overlap, negative where there is none.
    d: Vec3s<L>,
    distance: L,
    overlap: L,
    /// Distance of the contact point from the centres, now and half a step ago.
    pub levers: [Record; 2],
    half_way: [Record; 2],
}

impl<L: Lane> Geometry<L> {
    /// Of grains whose records are there. Returns which of them touch.
    #[inline(always)]
    pub unsafe fn write(to: *mut Self, x: *const Quad, columns: &Columns, group: &Group, dt: f64) -> u8 {
        // SAFETY: the caller's; every field is written.
        unsafe {
            let [a, b, c, reach, radius] = L::centres(x, columns.i(group), columns.j(group));
            let d = Vec3s::new(a, b, c);
            let d2 = d.dot(d);
            let distance = d2.sqrt();
            let overlap = reach - distance;
            let lever = overlap.mul_add(L::splat(-0.5), radius);
            let other = distance - lever;
            let approach = L::load_where(L::mask(group.lasting), column!(columns, group, approach));
            let longer = approach * L::splat(0.25 * dt);
            (*to).d = d;
            (*to).distance = distance;
            (*to).overlap = overlap;
            lever.store((*to).levers[0].as_mut_ptr());
            other.store((*to).levers[1].as_mut_ptr());
            (lever + longer).store((*to).half_way[0].as_mut_ptr());
            (other + longer).store((*to).half_way[1].as_mut_ptr());
            L::bits(d2.less(reach * reach))
        }
    }
}

/// Turns a tangent vector with the contact frame, see [`crate::law::turn_with_frame`].
#[inline(always)]
fn turn<L: Lane>(v: Vec3s<L>, n: Vec3s<L>, middle: Vec3s<L>, [sine, cosine]: [L; 2]) -> Vec3s<L> {
    let lifted = middle.neg_mul_add(v.dot(n), v);
    n.cross(lifted).mul_add(sine, lifted * cosine)
}

/// Eight grains on walls.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct OnWalls {
    /// Normal now, and half way through the step with a component of one along it.
    pub normal: [Record; 3],
    pub middle: [Record; 3],
    /// Mean velocity of the grain relative to the wall, and its spin times the lever half way.
    pub velocity: [Record; 3],
    pub rim: [Record; 3],
    /// Turn of the wall about the normal over the step.
    pub angle: Record,
    pub overlap: Record,
    pub inverse_mass: Record,
    /// One over the effective radius, with Hertz that of his force.
    pub inverse_radius: Record,
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
    /// Tangential stiffness, its inverse, and dashpot.
    kt: L,
    per_kt: L,
    ct: L,
}

/// What follows from the masses, radii and overlaps of a group.
#[derive(Clone, Copy)]
struct Bodies<L> {
    /// One over a given distance.
    per_distance: L,
    mass: L,
    /// Stiffness of the normal spring, that of Hertz over twice the effective modulus, and its inverse.
    stiffness: L,
    per_stiffness: L,
}

impl<L: Lane> Bodies<L> {
    /// One division serves all.
    #[inline(always)]
    unsafe fn of<const HERTZ: bool>(
        law: &Constants,
        group: &Group,
        overlap: L,
        inverse_mass: L,
        inverse_radius: L,
        distance: L,
    ) -> Self {
        // SAFETY: the caller's.
        unsafe {
            // The stiffness is s R*.
            let s = if HERTZ {
                (overlap * inverse_radius).sqrt().max(L::splat(1e-30))
            } else {
                constant::<L>(group, &law.normal).mul_add(inverse_radius, constant(group, &law.normal_scaled))
            };
            let bodies = inverse_mass * inverse_radius;
            let bodies_s = bodies * s;
            let all = L::splat(1.0).div(distance * bodies_s);
            let rest = all * distance;
            Self {
                per_distance: all * bodies_s,
                mass: rest * (inverse_radius * s),
                stiffness: s * (rest * (inverse_mass * s)),
                per_stiffness: rest * (bodies * inverse_radius),
            }
        }
    }
}

/// Velocities of a group of pairs, and what its bodies come to.
pub(super) struct Meeting<L> {
    /// Relative velocity of the centres, sum of the spins times the levers half way.
    v: Vec3s<L>,
    w: Vec3s<L>,
    overlap: L,
    bodies: Bodies<L>,
}

impl<L: Lane> Meeting<L> {
    /// Of grains whose records are there.
    #[inline(always)]
    pub unsafe fn write<const HERTZ: bool>(
        to: *mut Self,
        v: *const Record,
        law: &Constants,
        columns: &Columns,
        group: &Group,
        geometry: &Geometry<L>,
    ) {
        let overlap = L::select(L::mask(group.touching), geometry.overlap, L::splat(0.0));
        // SAFETY: the caller's; every field is written.
        unsafe {
            let [a, b, c, inverse_mass, e, f, g, inverse_radius] =
                L::motions(v, columns.i(group), columns.j(group), &geometry.half_way);
            (*to).v = Vec3s::new(a, b, c);
            (*to).w = Vec3s::new(e, f, g);
            (*to).overlap = overlap;
            (*to).bodies = Bodies::of::<HERTZ>(law, group, overlap, inverse_mass, inverse_radius, geometry.distance);
        }
    }
}

/// How the bodies of a group have moved over the step.
struct Moved<L> {
    n: Vec3s<L>,
    middle: Vec3s<L>,
    /// Relative velocity of the centres, sum of the spins times the levers half way.
    v: Vec3s<L>,
    w: Vec3s<L>,
    /// Turn of the contact frame about the normal.
    angle: L,
}

impl<L: Lane> Pressed<L> {
    /// Of pairs of grains, see `touch`.
    #[inline(always)]
    pub unsafe fn of_pairs<const HERTZ: bool, const ROOT: bool, const VISCOUS: bool>(
        to: *mut Self,
        dt: f64,
        law: &Constants,
        columns: &Columns,
        group: &Group,
        geometry: &Geometry<L>,
        meeting: &Meeting<L>,
    ) {
        let &Meeting { v, w, overlap, ref bodies } = meeting;
        let n = geometry.d * bodies.per_distance;
        let middle = n.neg_mul_add(v.dot(n), v).mul_add(L::splat(0.5 * dt) * bodies.per_distance, n);
        let angle = w.dot(middle) * bodies.per_distance * L::splat(dt);
        let moved = Moved { n, middle, v, w, angle };
        // SAFETY: the caller's.
        unsafe { Self::write::<HERTZ, ROOT, VISCOUS>(to, dt, law, columns, group, &moved, bodies, overlap) };
    }

    /// Of grains on walls, see `wall_touch`.
    #[inline(always)]
    pub unsafe fn of_walls<const HERTZ: bool, const ROOT: bool, const VISCOUS: bool>(
        to: *mut Self,
        dt: f64,
        law: &Constants,
        columns: &Columns,
        group: &Group,
        walls: &OnWalls,
    ) {
        // SAFETY: the caller's.
        unsafe {
            let overlap = L::select(L::mask(group.touching), constant(group, &walls.overlap), L::splat(0.0));
            let inverse_mass = constant(group, &walls.inverse_mass);
            let inverse_radius = constant(group, &walls.inverse_radius);
            let bodies = Bodies::of::<HERTZ>(law, group, overlap, inverse_mass, inverse_radius, L::splat(1.0));
            let moved = Moved {
                n: constants(group, &walls.normal),
                middle: constants(group, &walls.middle),
                v: constants(group, &walls.velocity),
                w: constants(group, &walls.rim),
                angle: constant(group, &walls.angle),
            };
            Self::write::<HERTZ, ROOT, VISCOUS>(to, dt, law, columns, group, &moved, &bodies, overlap);
        }
    }

    /// Velocities and normal forces of a group, see `contact_velocity` and `Law::respond`.
    #[inline(always)]
    unsafe fn write<const HERTZ: bool, const ROOT: bool, const VISCOUS: bool>(
        to: *mut Self,
        dt: f64,
        law: &Constants,
        columns: &Columns,
        group: &Group,
        moved: &Moved<L>,
        bodies: &Bodies<L>,
        overlap: L,
    ) {
        let (half, touching) = (L::splat(0.5), L::mask(group.touching));
        let (mass, stiffness) = (bodies.mass, bodies.stiffness);
        let &Moved { n, middle, v, w, angle } = moved;
        // SAFETY: the caller's; every field that is read later is written.
        unsafe {
            // Half way through the step.
            let approach = v.dot(middle);
            let mean_slip = middle.neg_mul_add(approach, w.cross(middle) + v);
            let spun = n.cross(mean_slip).mul_add(half * angle, mean_slip);
            let stride = n.neg_mul_add(spun.dot(n), spun) * L::splat(dt);

            // Now: half a step on, as it changed since the last one.
            let ahead = L::select(L::mask(group.lasting), half, L::splat(0.0));
            let last = L::load(column!(columns, group, approach));
            let now = (approach - last).mul_add(ahead, approach);
            approach.store(column!(columns, group, approach));
            if VISCOUS {
                let last = vectors(columns.slip, group);
                let slip = (mean_slip - last).mul_add(ahead, mean_slip);
                (*to).slip = n.neg_mul_add(slip.dot(n), slip);
                store_vectors(mean_slip, columns.slip, group);
            }

            let (stiffness, elastic) = if HERTZ {
                let stiffness = stiffness * constant(group, &law.normal);
                (stiffness, stiffness * L::splat(2.0 / 3.0) * overlap)
            } else {
                (stiffness, stiffness * overlap)
            };
            let mut dashpot = mass.mul_add(constant(group, &law.dashpot[1]), constant(group, &law.dashpot[0]));
            if ROOT {
                dashpot = (mass * stiffness).sqrt().mul_add(constant(group, &law.dashpot[2]), dashpot);
            }
            let dashpot = L::select(touching, dashpot, L::splat(0.0));
            let normal_force = dashpot.mul_add(now, elastic).max(constant(group, &law.least));
            if VISCOUS {
                let mut ct = dashpot * constant(group, &law.tangential_dashpot[2]);
                ct = mass.mul_add(constant(group, &law.tangential_dashpot[1]), ct);
                ct = ct + constant(group, &law.tangential_dashpot[0]);
                (*to).ct = L::select(touching, ct, L::splat(0.0));
            }
            (*to).n = n;
            (*to).middle = middle;
            (*to).stride = stride;
            (*to).angle = angle;
            (*to).normal_force = normal_force;
            (*to).normal_dashpot = normal_force - elastic;
            (*to).approached = approach * L::splat(dt);
            (*to).kt = stiffness.mul_add(constant(group, &law.tangential[1]), constant(group, &law.tangential[0]));
            let (given, ratio) = (constant(group, &law.per_tangential[0]), constant(group, &law.per_tangential[1]));
            (*to).per_kt = bodies.per_stiffness.mul_add(ratio, given);
        }
    }

    /// Tangential forces, see `spring_and_slider`; advances the memory. Writes what acts on the first grains: force,
    /// loss in dashpots, moment over the lever, loss by sliding. Springs whose stiffness never varies are not asked for
    /// that of the last step.
    #[inline(always)]
    pub unsafe fn respond<const VARIES: bool, const VISCOUS: bool, const LEDGER: bool>(
        &self,
        to: *mut [L; 8],
        dt: f64,
        law: &Constants,
        columns: &Columns,
        group: &Group,
        share: &Record,
    ) {
        let &Self { n, middle, stride, angle, normal_force, normal_dashpot, approached, kt, .. } = self;
        let (zero, one, half) = (L::splat(0.0), L::splat(1.0), L::splat(0.5));
        let lasting = L::mask(group.lasting);
        // SAFETY: the caller's.
        unsafe {
            // The memory, turned with the frame. A stiffer spring keeps its force.
            let spring = Vec3s::new(
                L::load_where(lasting, column!(columns, group, spring, 0)),
                L::load_where(lasting, column!(columns, group, spring, 1)),
                L::load_where(lasting, column!(columns, group, spring, 2)),
            );
            let angle2 = angle * angle;
            let turned = [
                angle2.mul_add(L::splat(-1.0 / 6.0), one) * angle,
                angle2.mul_add(angle2.mul_add(L::splat(1.0 / 24.0), L::splat(-0.5)), one),
            ];
            let before = turn(spring, n, middle, turned);
            let (mut kept, mut kt_before) = (before, kt);
            if VARIES {
                kt_before = L::load_where(lasting, column!(columns, group, stiffness));
                kept = before * (kt_before * self.per_kt).min(one);
                kt.store(column!(columns, group, stiffness));
            } else if group.touching != group.lasting {
                // Only new contacts have to be told.
                let to = column!(columns, group, stiffness);
                L::select(lasting, L::load(to), kt).store(to);
            }

            // Stick, or slide where the limit is passed. A new contact has an empty spring.
            let time = L::select(lasting, L::splat(dt), zero);
            let mut stretched = stride * L::select(lasting, one, zero);
            let (mut viscous, mut ct) = (Vec3s::new(zero, zero, zero), zero);
            if VISCOUS {
                ct = self.ct;
                viscous = self.slip * -ct;
            }
            let mut force = (kept + stretched).neg_mul_add(kt, viscous);
            let limit = constant::<L>(group, &law.friction) * normal_force.max(zero);
            let trial2 = force.dot(force);
            let slides = (limit * limit).less(trial2);
            // Root and division side by side, whether a contact slides or not: cheaper than a branch taken now and then.
            let trial = trial2.sqrt();
            let give = kt.mul_add(time, ct);
            let per_both = one.div((trial2 * give).max(L::splat(f64::MIN_POSITIVE)));
            let limited = force * (limit * trial * (give * per_both));
            let u = kept.mul_add(kt, limited) * -(trial2 * per_both);
            stretched = Vec3s::select(slides, u * time, stretched);
            viscous = Vec3s::select(slides, u * -ct, viscous);
            force = Vec3s::select(slides, limited, force);
            let after = kept + stretched;
            store_vectors(after, columns.spring, group);

            // Energy lost over the step.
            let (mut damped, mut rubbed) = (zero, zero);
            if LEDGER {
                let viscous_before = Vec3s::new(
                    L::load_single_where(lasting, dashpot!(columns, group, 0)),
                    L::load_single_where(lasting, dashpot!(columns, group, 1)),
                    L::load_single_where(lasting, dashpot!(columns, group, 2)),
                );
                let dashpot_before = L::load_single_where(lasting, dashpot!(columns, group, 3));
                let share = L::load(share.as_ptr());
                let viscous_before = turn(viscous_before, n, middle, turned);
                let force_before = before.neg_mul_add(kt_before, viscous_before);
                let work = (force_before + force).dot(stride) * half;
                let in_dashpot = (viscous_before + viscous).dot(stretched) * half;
                let stored = (kt * after.dot(after) - kt_before * spring.dot(spring)) * half;
                rubbed = (in_dashpot - work - stored) * share;
                damped = ((dashpot_before + normal_dashpot) * approached).mul_add(half, -in_dashpot) * share;
                viscous.x.store_single(dashpot!(columns, group, 0));
                viscous.y.store_single(dashpot!(columns, group, 1));
                viscous.z.store_single(dashpot!(columns, group, 2));
                normal_dashpot.store_single(dashpot!(columns, group, 3));
            }

            let turn = n.cross(force);
            let total = n.neg_mul_add(normal_force, force);
            *to = [total.x, total.y, total.z, damped, turn.x, turn.y, turn.z, rubbed];
        }
    }
}
