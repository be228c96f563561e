//! The contact loop over walls, several contacts at once: geometry one after another, as in
//! [`walls`](crate::contact::walls), which stays the readable reference, then the laws of eight contacts together.
//!
//! Losses of lasting contacts are added to the loads of the grains, as in the loop over pairs.

use super::evaluate::{Columns, Group, OnWalls, Pressed};
use super::flats::Sums;
use super::laws::{Form, Laws, for_form};
use crate::boundary::WallTouch;
use crate::contact::list::Segment;
use crate::contact::octets::{Needs, Octets};
use crate::contact::spots::{Spot, Spots};
use crate::contact::sums::{Told, WallSums};
use crate::contact::sweep::Grains;
use crate::contact::walls::{
    OnWall, Scene, WallFrames, elongation_on_wall, heir, inverse_effective_radius, release, touches,
};
use crate::contact::window::Loads;
use crate::lanes::{Lane, Record, Width, prefetch};
use crate::math::Vec3;
use crate::model::Model;
use crate::particles::Load;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Entries between asking for the records of a grain and using them: those near walls lie far apart.
const AHEAD: usize = 16;

/// The laws between the kinds of grain and the walls of a model, if this loop can do them all.
#[derive(Clone, Debug)]
pub struct WallBatch {
    pub(super) laws: Laws,
    pub(super) width: Width,
    pub(super) ledger: bool,
}

/// Up to eight contacts that wait for their laws.
struct Waiting {
    walls: OnWalls,
    laws: [u8; 8],
    lever: [f64; 8],
    point: [Vec3; 8],
}

/// An octet of contacts to be evaluated.
pub(super) struct Work<'a> {
    pub dt: f64,
    pub walls: &'a OnWalls,
    /// Which law each has.
    pub laws: &'a [u8; 8],
    pub octets: &'a mut Octets,
    /// Which of the octets.
    pub o: usize,
    /// Which of its contacts touch now.
    pub touching: u8,
    /// What acts on the grains: force, loss in dashpots, moment over the lever, loss by sliding.
    pub rows: &'a mut [Record; 8],
}

/// A grain that a wall pushes.
pub(super) struct Pushed {
    pub grain: usize,
    pub wall: usize,
    /// Distance of the contact point from the centre \[m\], and the point in the world \[m\].
    pub lever: f64,
    pub point: Vec3,
}

impl Pushed {
    /// Adds what acts on it, lane `l` of the rows, to its load and to the sums of the wall; the loads are those of the grains
    /// from `first` on.
    #[inline(always)]
    pub fn add(&self, rows: &[Record; 8], l: usize, first: usize, loads: &mut Loads, wall_sums: &mut WallSums) {
        let force = Vec3::new(rows[0][l], rows[1][l], rows[2][l]);
        let g = self.grain - first;
        let load = loads.of(g);
        load.force += force;
        load.torque += self.lever * Vec3::new(rows[4][l], rows[5][l], rows[6][l]);
        load.damped += rows[3][l];
        load.rubbed += rows[7][l];
        let sum = wall_sums.of(g, self.wall);
        sum.force -= force;
        sum.torque -= self.point.cross(force);
    }
}

impl WallBatch {
    /// The laws of a model, unless some grain on some wall needs the general loop; with or without energy losses.
    pub fn of(model: &Model, width: Width, ledger: bool) -> Option<Self> {
        let of_kind = |material| model.walls.iter().map(move |wall| model.laws.law(material, wall.material));
        let table = model.kinds.iter().flat_map(|kind| of_kind(kind.material));
        Some(Self { laws: Laws::new(model.walls.len(), table)?, width, ledger })
    }

    /// Which memories the laws need.
    pub fn needs(&self) -> Needs {
        Needs { slip: self.laws.viscous, dashpot: self.ledger }
    }

    /// Evaluates all wall contacts of a segment; `loads` is the segment's own range. Time must pass.
    pub fn sweep(&self, model: &Model, frames: &WallFrames, grains: Grains, segment: &mut Segment, loads: &mut [Load]) {
        assert!(grains.dt > 0.0);
        let scene = Scene { model, frames, grains };
        let Segment {
            grains: own,
            near_walls,
            flats,
            spots: [now, before],
            told: Told { losses, wall_sums },
            marks,
            touches: found,
            ..
        } = segment;
        let loads = &mut Loads { all: loads, marks };
        for flat in flats {
            self.sweep_flat(&scene, flat, &mut Sums { own: own.clone(), loads, losses, wall_sums });
        }
        std::mem::swap(now, before);
        now.clear();
        let mut waiting = Waiting { walls: OnWalls::default(), laws: [0; 8], lever: [0.0; 8], point: [Vec3::ZERO; 8] };
        let mut open = |before: &mut Spots, range: Range<usize>| {
            for s in range.filter(|_| self.ledger) {
                if before.is_touching(s) {
                    let Spot { grain, wall, normal, .. } = before.spots[s];
                    let (g, w) = (grain as usize, wall as usize);
                    let lost = release(&scene, g, w, normal, &mut before.memory(s));
                    *losses.of(g - own.start) += lost;
                }
            }
        };
        let mut next = 0;
        for (e, entry) in near_walls.entries.iter().enumerate() {
            if let Some(later) = near_walls.entries.get(e + AHEAD) {
                let g = later.grain as usize;
                prefetch(&grains.place[g]);
                prefetch(&grains.mean[g]);
                prefetch(&loads.all[g - own.start]);
            }
            let (grain, wall) = (entry.grain, entry.wall);
            let old = &before.spots;
            let first = next + old[next..].iter().take_while(|c| (c.grain, c.wall) < (grain, wall)).count();
            let end = first + old[first..].iter().take_while(|c| (c.grain, c.wall) == (grain, wall)).count();
            found.clear();
            if grains.motion[grain as usize].inverse_mass != 0.0 {
                touches(&scene, near_walls, entry, found);
            }
            for touch in found.iter() {
                let spot = Spot { grain, wall, feature: touch.feature, point: touch.point, normal: touch.normal };
                let s = now.push(spot);
                let known = (first..end).map(|k| {
                    let c = &before.spots[k];
                    before.is_touching(k).then_some((c.feature, c.point, c.normal))
                });
                let heir = heir(touch, grains.place[grain as usize].radius, known, found).map(|k| first + k);
                let normal_before = heir.map_or(touch.normal, |from| before.spots[from].normal);
                if let Some(from) = heir {
                    now.take_over(s, before, from);
                }
                self.add(&scene, &mut waiting, s % 8, &spot, touch, normal_before);
                if s % 8 == 7 {
                    self.finish(&scene, &waiting, now, own.start, loads, wall_sums);
                }
            }
            // Contacts of candidates that are no more, and those without an heir, have opened.
            open(before, next..end);
            next = end;
        }
        let left = before.spots.len();
        open(before, next..left);
        if !now.spots.len().is_multiple_of(8) {
            for l in now.spots.len() % 8..8 {
                waiting.repeat(l - 1);
            }
            self.finish(&scene, &waiting, now, own.start, loads, wall_sums);
        }
    }

    /// Puts a contact into lane `l` of those that wait.
    fn add(&self, scene: &Scene, waiting: &mut Waiting, l: usize, spot: &Spot, touch: &WallTouch, normal_before: Vec3) {
        let Scene { model, grains, .. } = *scene;
        let (g, w) = (spot.grain as usize, spot.wall as usize);
        let on = OnWall::new(scene, g, w, touch, normal_before);
        let (motion, mean) = (&grains.motion[g], &grains.mean[g]);
        let lanes = &mut waiting.walls;
        set(&mut lanes.normal, l, on.normal);
        set(&mut lanes.middle, l, on.middle);
        set(&mut lanes.velocity, l, mean.velocity - on.wall.linear);
        set(&mut lanes.rim, l, mean.angular_velocity * on.lever_middle);
        lanes.angle[l] = on.wall.angular.dot(on.middle) * grains.dt;
        lanes.overlap[l] = touch.overlap;
        lanes.inverse_mass[l] = motion.inverse_mass;
        let inverse_radius = inverse_effective_radius(model.planar, motion.inverse_radius, touch.curvature);
        // Of these laws only Hertz's knows of elliptic areas.
        lanes.inverse_radius[l] = if self.laws.form == Form::Hertz {
            inverse_radius / (1.0 + elongation_on_wall(model.planar, motion.inverse_radius, touch.curvature))
        } else {
            inverse_radius
        };
        waiting.laws[l] = self.laws.which(grains.kind[g], w);
        (waiting.lever[l], waiting.point[l]) = (on.lever, on.point);
    }

    /// Evaluates the contacts that wait, which are the last ones of `spots`, and adds up what they do.
    fn finish(
        &self,
        scene: &Scene,
        waiting: &Waiting,
        spots: &mut Spots,
        first: usize,
        loads: &mut Loads,
        wall_sums: &mut WallSums,
    ) {
        let o = (spots.spots.len() - 1) / 8;
        let spots_here = 8 * o..spots.spots.len();
        let touching = (1u16 << spots_here.len()).wrapping_sub(1) as u8;
        let mut rows: [Record; 8] = Default::default();
        let dt = scene.grains.dt;
        let (walls, laws) = (&waiting.walls, &waiting.laws);
        let work = Work { dt, walls, laws, octets: &mut spots.octets, o, touching, rows: &mut rows };
        // SAFETY: the octet is there; the width was found on this processor.
        unsafe {
            match self.width {
                #[cfg(target_arch = "x86_64")]
                Width::Eight => self.respond_eight(work),
                #[cfg(target_arch = "x86_64")]
                Width::Four => self.respond_four(work),
                _ => self.respond_in::<f64>(work),
            }
        }
        spots.octets.tags[o].touching = touching;
        for (l, spot) in spots.spots[spots_here].iter().enumerate() {
            let (grain, wall) = (spot.grain as usize, spot.wall as usize);
            let pushed = Pushed { grain, wall, lever: waiting.lever[l], point: waiting.point[l] };
            pushed.add(&rows, l, first, loads, wall_sums);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma,bmi1,bmi2")]
    unsafe fn respond_eight(&self, work: Work) {
        // SAFETY: the caller's.
        unsafe { self.respond_in::<crate::lanes::F64x8>(work) }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn respond_four(&self, work: Work) {
        // SAFETY: the caller's.
        unsafe { self.respond_in::<crate::lanes::F64x4>(work) }
    }

    #[inline(always)]
    unsafe fn respond_in<L: Lane>(&self, work: Work) {
        // SAFETY: the caller's.
        unsafe { for_form!(self.laws, self.ledger, self.respond::<L>(work)) }
    }

    /// What acts on the grains of an octet.
    #[inline(always)]
    pub(super) unsafe fn respond<
        L: Lane,
        const HERTZ: bool,
        const ROOT: bool,
        const VISCOUS: bool,
        const LEDGER: bool,
    >(
        &self,
        work: Work,
    ) {
        let Work { dt, walls, laws, octets, o, touching: now, rows: to } = work;
        assert!(o < octets.spring.len() && o < octets.stiffness.len() && o < octets.approach.len());
        assert!((!VISCOUS || o < octets.slip.len()) && (!LEDGER || o < octets.dashpot.len()));
        let columns = Columns::of(octets);
        let mut mixture = MaybeUninit::uninit();
        let law = self.laws.of(laws, &mut mixture);
        let before = octets.tags[o].touching;
        for lane in (0..8).step_by(L::N) {
            let touching = now >> lane;
            let group = Group { octet: o, lane, lasting: before >> lane & touching, touching };
            let (mut pressed, mut rows) = (MaybeUninit::uninit(), MaybeUninit::<[L; 8]>::uninit());
            // SAFETY: the octet is there, and its columns.
            unsafe {
                Pressed::of_walls::<HERTZ, ROOT, VISCOUS>(pressed.as_mut_ptr(), dt, law, &columns, &group, walls);
                let pressed: &Pressed<L> = pressed.assume_init_ref();
                // Stiffnesses may vary: on a curved wall, and where other laws have been before.
                pressed.respond::<true, VISCOUS, LEDGER>(rows.as_mut_ptr(), dt, law, &columns, &group, &[1.0; 8]);
                let rows = rows.assume_init_ref();
                for c in 0..8 {
                    rows[c].store(to[c].as_mut_ptr().add(lane));
                }
            }
        }
    }
}

impl Waiting {
    /// Fills the lane after `l` with what is in it.
    fn repeat(&mut self, l: usize) {
        let walls = &mut self.walls;
        let vectors = [&mut walls.normal, &mut walls.middle, &mut walls.velocity, &mut walls.rim];
        let rest = [&mut walls.angle, &mut walls.overlap, &mut walls.inverse_mass, &mut walls.inverse_radius];
        for column in vectors.into_iter().flatten().chain(rest) {
            column[l + 1] = column[l];
        }
        self.laws[l + 1] = self.laws[l];
    }
}

/// Puts a vector into lane `l`.
#[inline]
fn set(columns: &mut [Record; 3], l: usize, v: Vec3) {
    (columns[0][l], columns[1][l], columns[2][l]) = (v.x, v.y, v.z);
}
