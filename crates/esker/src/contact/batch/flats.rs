//! The contact loop over planes, several contacts at once. The formulas are those of [`walls`](crate::contact::walls) for
//! a wall whose normal is the same everywhere.

use super::evaluate::OnWalls;
use super::laws::{Form, for_form};
use super::walls::{Pushed, WallBatch, Work};
use crate::contact::flats::Flat;
use crate::contact::sums::{Losses, WallSums};
use crate::contact::walls::{Scene, release};
use crate::contact::window::Loads;
use crate::lanes::{Lane, Record, Vec3s, Width, prefetch};
use crate::math::Vec3;
use std::ops::Range;

/// Octets between asking for the records of grains and using them: those near walls lie far apart.
const AHEAD: usize = 2;

/// What a sweep over planes adds to.
pub(super) struct Sums<'a, 'l> {
    /// Grains of the worker, and their loads.
    pub own: Range<usize>,
    pub loads: &'a mut Loads<'l>,
    pub losses: &'a mut Losses,
    pub wall_sums: &'a mut WallSums,
}

/// Centres and radii of eight grains.
type Places = [Record; 4];

/// Velocities and spins of eight grains, their inverse masses and radii.
type Motions = [Record; 8];

/// A plane over a step, world axes.
struct Moving {
    /// A point of it, and the normal into the wall.
    point: Vec3,
    normal: Vec3,
    /// The normal half way, with a component of one along the other.
    middle: Vec3,
    /// Velocity of the wall at the origin of the world, and its spin, half way.
    velocity: Vec3,
    spin: Vec3,
}

impl Moving {
    fn new(scene: &Scene, flat: &Flat) -> Self {
        let w = flat.wall as usize;
        let (pose, mean) = (&scene.frames.pose[w], &scene.frames.mean[w]);
        let normal = pose.orientation * -flat.plane.normal;
        let spin = mean.angular_velocity;
        Self {
            point: pose.to_world(flat.plane.point),
            normal,
            middle: normal - spin.cross(normal) * (0.5 * scene.grains.dt),
            velocity: mean.at(Vec3::ZERO),
            spin,
        }
    }

    /// Overlaps of some grains, negative where there is a gap.
    #[inline(always)]
    fn overlaps<L: Lane>(&self, x: Vec3s<L>, radius: L) -> L {
        radius - (splat(self.point) - x).dot(splat(self.normal))
    }
}

#[inline(always)]
fn splat<L: Lane>(v: Vec3) -> Vec3s<L> {
    Vec3s::new(L::splat(v.x), L::splat(v.y), L::splat(v.z))
}

#[inline(always)]
unsafe fn vectors<L: Lane>(columns: &[Record], lane: usize) -> Vec3s<L> {
    // SAFETY: the caller's.
    unsafe {
        let [x, y, z] = [0, 1, 2].map(|c| columns[c].as_ptr().add(lane));
        Vec3s::new(L::load(x), L::load(y), L::load(z))
    }
}

#[inline(always)]
unsafe fn store<L: Lane>(v: Vec3s<L>, to: &mut [Record; 3], lane: usize) {
    // SAFETY: the caller's.
    unsafe {
        v.x.store(to[0].as_mut_ptr().add(lane));
        v.y.store(to[1].as_mut_ptr().add(lane));
        v.z.store(to[2].as_mut_ptr().add(lane));
    }
}

impl WallBatch {
    /// Evaluates the contacts with a plane.
    pub(super) fn sweep_flat(&self, scene: &Scene, flat: &mut Flat, to: &mut Sums) {
        // SAFETY: the width was found on this processor.
        unsafe {
            match self.width {
                #[cfg(target_arch = "x86_64")]
                Width::Eight => self.flat_eight(scene, flat, to),
                #[cfg(target_arch = "x86_64")]
                Width::Four => self.flat_four(scene, flat, to),
                _ => self.flat_in::<f64>(scene, flat, to),
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma,bmi1,bmi2")]
    unsafe fn flat_eight(&self, scene: &Scene, flat: &mut Flat, to: &mut Sums) {
        // SAFETY: the caller's.
        unsafe { self.flat_in::<crate::lanes::F64x8>(scene, flat, to) }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn flat_four(&self, scene: &Scene, flat: &mut Flat, to: &mut Sums) {
        // SAFETY: the caller's.
        unsafe { self.flat_in::<crate::lanes::F64x4>(scene, flat, to) }
    }

    #[inline(always)]
    unsafe fn flat_in<L: Lane>(&self, scene: &Scene, flat: &mut Flat, to: &mut Sums) {
        // SAFETY: the caller's.
        unsafe { for_form!(self.laws, self.ledger, self.flat::<L>(scene, flat, to)) }
    }

    #[inline(always)]
    unsafe fn flat<L: Lane, const HERTZ: bool, const ROOT: bool, const VISCOUS: bool, const LEDGER: bool>(
        &self,
        scene: &Scene,
        flat: &mut Flat,
        to: &mut Sums,
    ) {
        let (wall, moving, dt) = (flat.wall as usize, Moving::new(scene, flat), scene.grains.dt);
        for o in 0..flat.octets.tags.len() {
            for grain in flat.grains.iter().skip(8 * (o + AHEAD)).take(8) {
                let g = *grain as usize;
                prefetch(&scene.grains.place[g]);
                prefetch(&scene.grains.mean[g]);
                prefetch(&to.loads.all[g - to.own.start]);
            }
            let (grains, count) = flat.octet(o);
            let places = places_of(scene, &grains);
            let mut touching = 0u8;
            let mut overlap = [0.0; 8];
            for lane in (0..8).step_by(L::N) {
                // SAFETY: there are eight lanes.
                let (x, radius) = unsafe { (vectors::<L>(&places, lane), L::load(places[3].as_ptr().add(lane))) };
                let found = moving.overlaps(x, radius);
                touching |= L::bits(L::splat(0.0).less(found)) << lane;
                // SAFETY: likewise.
                unsafe { found.store(overlap.as_mut_ptr().add(lane)) };
            }
            touching &= u8::MAX >> (8 - count);
            let before = flat.octets.tags[o].touching;
            if LEDGER && before & !touching != 0 {
                for l in (0..8).filter(|l| (before & !touching) >> l & 1 == 1) {
                    let lost = release(scene, grains[l], wall, -flat.plane.normal, &mut flat.octets.memory(o, l));
                    *to.losses.of(grains[l] - to.own.start) += lost;
                }
            }
            if touching == 0 {
                flat.octets.tags[o].touching = 0;
                continue;
            }
            let motions = motions_of(scene, &grains);
            let (mut walls, mut points, mut levers) = (OnWalls::default(), [[0.0; 8]; 3], [0.0; 8]);
            walls.overlap = overlap;
            walls.inverse_mass = motions[3];
            walls.inverse_radius = motions[7];
            for lane in (0..8).step_by(L::N) {
                // SAFETY: there are eight lanes.
                unsafe { fill::<L>(&mut walls, &mut points, &mut levers, lane, &moving, &places, &motions, dt) };
            }
            let laws = grains.map(|g| self.laws.which(scene.grains.kind[g], wall));
            let mut rows: [Record; 8] = Default::default();
            let work = Work { dt, walls: &walls, laws: &laws, octets: &mut flat.octets, o, touching, rows: &mut rows };
            // SAFETY: the octet is there.
            unsafe { self.respond::<L, HERTZ, ROOT, VISCOUS, LEDGER>(work) };
            flat.octets.tags[o].touching = touching;
            for l in (0..count).filter(|l| touching >> l & 1 == 1) {
                let point = Vec3::new(points[0][l], points[1][l], points[2][l]);
                let pushed = Pushed { grain: grains[l], wall, lever: levers[l], point };
                pushed.add(&rows, l, to.own.start, to.loads, to.wall_sums);
            }
        }
    }
}

/// Places of eight grains, inside the periodic cell.
#[inline(always)]
fn places_of(scene: &Scene, grains: &[usize; 8]) -> Places {
    let periodic = scene.model.cell.length.iter().any(Option::is_some);
    let mut columns = Places::default();
    for (l, &g) in grains.iter().enumerate() {
        let place = &scene.grains.place[g];
        let x = if periodic { scene.model.cell.wrapped(place.position) } else { place.position };
        for (column, number) in columns.iter_mut().zip([x.x, x.y, x.z, place.radius]) {
            column[l] = number;
        }
    }
    columns
}

/// Mean motions of eight grains.
#[inline(always)]
fn motions_of(scene: &Scene, grains: &[usize; 8]) -> Motions {
    let mut columns = Motions::default();
    for (l, &g) in grains.iter().enumerate() {
        for (column, number) in columns.iter_mut().zip(scene.grains.mean[g].as_record()) {
            column[l] = number;
        }
    }
    columns
}

/// Some grains on a plane over a step, see [`OnWall::new`](crate::contact::walls::OnWall::new), with their contact points
/// and levers now.
#[inline(always)]
unsafe fn fill<L: Lane>(
    walls: &mut OnWalls,
    points: &mut [Record; 3],
    levers: &mut Record,
    lane: usize,
    moving: &Moving,
    places: &Places,
    motions: &Motions,
    dt: f64,
) {
    // SAFETY: there are eight lanes.
    unsafe {
        let (x, radius) = (vectors::<L>(places, lane), L::load(places[3].as_ptr().add(lane)));
        let (v, spin) = (vectors::<L>(motions, lane), vectors::<L>(&motions[4..], lane));
        let (normal, middle) = (splat::<L>(moving.normal), splat::<L>(moving.middle));
        let (velocity, turning) = (splat::<L>(moving.velocity), splat::<L>(moving.spin));
        let lever = L::load(walls.overlap.as_ptr().add(lane)).mul_add(L::splat(-0.5), radius);
        let centre = v.neg_mul_add(L::splat(0.5 * dt), x);
        let away = velocity + turning.cross(middle.mul_add(lever, centre)) - v;
        let lever_middle = away.dot(middle).mul_add(L::splat(-0.25 * dt), lever);
        let wall = velocity + turning.cross(middle.mul_add(lever_middle, centre));
        store(normal, &mut walls.normal, lane);
        store(middle, &mut walls.middle, lane);
        store(v - wall, &mut walls.velocity, lane);
        store(spin * lever_middle, &mut walls.rim, lane);
        L::splat(moving.spin.dot(moving.middle) * dt).store(walls.angle.as_mut_ptr().add(lane));
        store(normal.mul_add(lever, x), points, lane);
        lever.store(levers.as_mut_ptr().add(lane));
    }
}
