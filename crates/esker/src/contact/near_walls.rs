//! Which walls are near which grains: candidates for the wall contacts of the next steps.

use super::flats::Flat;
use super::list::Loop;
use super::octets::Needs;
use super::walls::WallFrames;
use crate::boundary::{Plane, Surface};
use crate::law::Memory;
use crate::math::Vec3;
use crate::model::Model;
use crate::neighbor::PeriodicCell;
use crate::particles::{Motion, Place};
use crate::state::{State, held};
use std::ops::Range;

/// Walls near some grains, sorted by (grain, wall).
#[derive(Clone, Debug, Default)]
pub struct NearWalls {
    /// One for each grain and wall.
    pub entries: Vec<NearWall>,
    /// Triangles of meshes and segments of chains within reach.
    facets: Vec<u32>,
}

/// A wall near a grain.
#[derive(Clone, Copy, Debug)]
pub struct NearWall {
    /// Index of the grain.
    pub grain: u32,
    /// Index of the wall.
    pub wall: u16,
    /// Where its facets are in the list; `None`: any facet may be touched.
    facets: Option<(u32, u32)>,
}

impl NearWalls {
    /// Facets that the grain of an entry may touch; `None` if it may be any.
    pub fn facets(&self, entry: &NearWall) -> Option<&[u32]> {
        entry.facets.map(|(from, to)| &self.facets[from as usize..to as usize])
    }

    /// Memory held \[byte\].
    pub fn memory_held(&self) -> usize {
        held(&self.entries) + held(&self.facets)
    }
}

/// How near a wall may be to the surface of a grain to be near \[m\].
pub type Reach<'a> = dyn Fn(usize) -> f64 + Sync + 'a;

/// Looks for near walls.
pub struct Finder<'a> {
    model: &'a Model,
    places: &'a [Place],
    motions: &'a [Motion],
    frames: WallFrames,
    /// Walls that are there, and whether a list pays for them.
    walls: Vec<(usize, bool)>,
    /// Largest speed at which a listed wall may come nearer \[m/s\].
    pub speed: f64,
}

impl<'a> Finder<'a> {
    /// For the walls as they stand in `frames`. A wall that moves too fast for a list, or has no bounded speed, is near
    /// every grain.
    pub fn new(model: &'a Model, state: &'a State, frames: WallFrames, approach_speed: impl Fn(usize) -> f64) -> Self {
        let mut speed = 0.0f64;
        let active = (0..model.walls.len()).filter(|&w| model.walls[w].active);
        let walls = active.map(|w| {
            let approach = approach_speed(w);
            // A list pays when it lasts for some steps.
            let listed = approach * model.dt * 40.0 < model.skin;
            if listed {
                speed = speed.max(approach);
            }
            (w, listed)
        });
        let walls = walls.collect();
        let p = &state.particles;
        Self { model, places: &p.place, motions: &p.motion, frames, walls, speed }
    }

    /// Walls near these grains; without planes for the fast loop, which has [`Self::flats`] of them.
    pub fn find(&self, grains: Range<usize>, reach: &Reach, form: Loop) -> NearWalls {
        let mut near = NearWalls::default();
        let walls: Vec<_> =
            self.walls.iter().filter(|(w, _)| form == Loop::General || !self.is_plane(*w)).copied().collect();
        if walls.is_empty() {
            return near;
        }
        for grain in grains {
            let Place { position, radius } = self.places[grain];
            for &(w, listed) in &walls {
                let (reach, from) = (radius + reach(grain), near.facets.len());
                // A grain that crosses a periodic face goes on at the other one.
                let mut is_near = !listed;
                if listed {
                    for copy in copies(&self.model.cell, position, reach) {
                        let local = self.frames.pose[w].to_local(copy);
                        is_near |= self.model.walls[w].surface.is_near(local, reach, &mut near.facets);
                    }
                }
                if is_near {
                    let facets = listed.then_some((from as u32, near.facets.len() as u32));
                    near.entries.push(NearWall { grain: grain as u32, wall: w as u16, facets });
                }
            }
        }
        near
    }

    /// Planes near these grains. `touching` tells which grains touched which of them, and what they remember.
    pub fn flats<I: Iterator<Item = (u32, Memory)>>(
        &self,
        grains: Range<usize>,
        reach: &Reach,
        needs: Needs,
        touching: impl Fn(usize) -> I,
    ) -> Vec<Flat> {
        let periodic = self.model.cell.length.iter().any(Option::is_some);
        let planes = self.walls.iter().filter_map(|&(w, listed)| match *self.model.walls[w].surface {
            Surface::Plane(plane) => Some((w, listed, plane)),
            _ => None,
        });
        let flat = |(w, listed, plane): (usize, bool, Plane)| {
            let pose = &self.frames.pose[w];
            let point = pose.to_world(plane.point);
            let world = Plane { point, normal: pose.orientation * plane.normal };
            let may_move = |grain: u32| self.motions[grain as usize].inverse_mass != 0.0;
            let is_near = |grain: u32| {
                let Place { position, radius } = self.places[grain as usize];
                let reach = radius + reach(grain as usize);
                let is_near = |x: Vec3| world.distance(x) < reach;
                match periodic {
                    _ if !listed => true,
                    true => copies(&self.model.cell, position, reach).into_iter().any(is_near),
                    false => is_near(position),
                }
            };
            let near = (grains.start as u32..grains.end as u32).filter(|&grain| may_move(grain) && is_near(grain));
            let touching = touching(w).filter(|&(grain, _)| may_move(grain));
            Flat::new(w as u16, plane, near, touching, needs)
        };
        planes.map(flat).collect()
    }

    /// Whether a wall is a plane.
    pub fn is_plane(&self, wall: usize) -> bool {
        matches!(*self.model.walls[wall].surface, Surface::Plane(_))
    }
}

/// Where the copies of a grain are that come as near as `reach` to the cell.
fn copies(cell: &PeriodicCell, x: Vec3, reach: f64) -> Vec<Vec3> {
    let mut copies = vec![cell.wrapped(x)];
    for axis in 0..3 {
        let Some(length) = cell.length[axis] else { continue };
        for k in 0..copies.len() {
            let offset = copies[k][axis] - cell.origin[axis];
            let mut copy = copies[k];
            if offset < reach {
                copy[axis] += length;
                copies.push(copy);
            }
            let mut copy = copies[k];
            if offset > length - reach {
                copy[axis] -= length;
                copies.push(copy);
            }
        }
    }
    copies
}
