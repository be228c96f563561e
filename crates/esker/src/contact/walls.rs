//! The contact loop over walls. Walls use the same laws as grains; a plane is the limit of a grain of infinite radius and
//! mass, the inside of a drum that of a negative radius (Džiugys & Peters 1998, IV.2.4).
//!
//! With periodic faces a grain meets walls where it lies inside the cell; a wall that reaches over a face has to be
//! there on both sides of it.

use super::list::Segment;
use super::near_walls::{NearWall, NearWalls};
use super::sums::Losses;
use super::sweep::{Grains, Now};
use super::window::Loads;
use super::{Frame, Levers, Velocity, WallContact, contact_velocity, mean_contact_velocity};
use crate::boundary::WallTouch;
use crate::law::normal::elliptic_factor;
use crate::law::{Dissipation, LastRates, Memory, Touch};
use crate::math::{Pose, Twist, Vec3};
use crate::model::Model;
use crate::particles::Load;

/// Pose and velocity of every wall at the time of the force.
pub struct WallFrames {
    /// Poses.
    pub pose: Vec<Pose>,
    /// Velocities.
    pub twist: Vec<Twist>,
    /// Velocities in the middle of the step that ends now.
    pub mean: Vec<Twist>,
}

impl WallFrames {
    /// Velocity of wall `w` where it is touched now.
    fn velocity(&self, w: usize, point: Vec3) -> Velocity {
        let twist = &self.twist[w];
        Velocity { linear: twist.at(point), angular: twist.angular_velocity }
    }

    /// Velocity of wall `w` where it was touched in the middle of the step.
    fn mean_velocity(&self, w: usize, point: Vec3) -> Velocity {
        let twist = &self.mean[w];
        Velocity { linear: twist.at(point), angular: twist.angular_velocity }
    }
}

/// What the contacts of grains with walls follow from.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// Walls, laws, cell.
    pub model: &'a Model,
    /// Where the walls are and how they move.
    pub frames: &'a WallFrames,
    /// Where the grains are and how they move.
    pub grains: Grains<'a>,
}

/// How far a contact may move over the wall in one step and still be the same contact seen on a neighbouring face, edge
/// or vertex: a fraction of the radius, and the cosine of the angle between the normals.
const SAME_CONTACT: (f64, f64) = (0.1, 0.9);

/// Largest effective radius of a grain in a hollow, in radii of the grain.
const CONFORMS: f64 = 1e3;

/// Appends the contacts of the grain of an entry with its wall.
pub(super) fn touches(scene: &Scene, near: &NearWalls, entry: &NearWall, out: &mut Vec<WallTouch>) {
    let Scene { model, frames, grains } = *scene;
    let (place, w) = (&grains.place[entry.grain as usize], entry.wall as usize);
    let surface = &model.walls[w].surface;
    let centre = frames.pose[w].to_local(model.cell.wrapped(place.position));
    let range = model.range_to_wall(place.radius, grains.kind[entry.grain as usize], w);
    let first = out.len();
    match near.facets(entry) {
        Some(facets) => surface.touches_among(facets, centre, place.radius + range, out),
        None => surface.touches(centre, place.radius + range, out),
    }
    out[first..].iter_mut().for_each(|touch| touch.overlap -= range);
}

/// Curvatures of a grain and of the wall where they touch: see [`Touch::curvature`].
pub(crate) fn curvature_on_wall(planar: bool, inverse_radius: f64, found: &WallTouch) -> [f64; 2] {
    [inverse_radius, inverse_effective_radius(planar, inverse_radius, found.curvature) - inverse_radius]
}

/// Evaluates all wall contacts of a segment; `loads` is the segment's own range.
pub fn sweep(model: &Model, frames: &WallFrames, grains: Grains, segment: &mut Segment, loads: &mut [Load]) {
    let scene = Scene { model, frames, grains };
    let own = segment.grains.clone();
    std::mem::swap(&mut segment.walls, &mut segment.walls_before);
    segment.walls.clear();
    let before = &mut segment.walls_before;
    let mut loads = Loads { all: loads, marks: &mut segment.marks };
    let mut next_before = 0;
    let open = |contact: &mut WallContact, losses: &mut Losses| {
        if contact.memory.touching {
            let (g, w) = (contact.grain as usize, contact.wall as usize);
            *losses.of(g - own.start) += release(&scene, g, w, contact.normal, &mut contact.memory);
        }
    };

    for entry in &segment.near_walls.entries {
        let NearWall { grain, wall, .. } = *entry;
        let (g, w) = (grain as usize, wall as usize);

        // Contacts of earlier (grain, wall) that are not candidates any more have opened.
        let skipped = next_before;
        while before.get(next_before).is_some_and(|c| (c.grain, c.wall) < (grain, wall)) {
            next_before += 1;
        }
        before[skipped..next_before].iter_mut().for_each(|old| open(old, &mut segment.told.losses));
        let first = next_before;
        while before.get(next_before).is_some_and(|c| (c.grain, c.wall) == (grain, wall)) {
            next_before += 1;
        }
        let old = &mut before[first..next_before];

        let place = &grains.place[g];
        segment.touches.clear();
        touches(&scene, &segment.near_walls, entry, &mut segment.touches);
        if segment.touches.is_empty() && old.is_empty() {
            continue;
        }
        let lost = segment.told.losses.of(g - own.start);
        let wall_sum = segment.told.wall_sums.of(g - own.start, w);
        let law = model.laws.law(model.material_of(grains.kind[g]), model.walls[w].material);
        let fixed = grains.motion[g].inverse_mass == 0.0;
        for found in &segment.touches {
            if fixed {
                continue;
            }
            let (mut memory, normal_before) = recall(found, place.radius, old, &segment.touches);
            let curvature = curvature_on_wall(model.planar, grains.motion[g].inverse_radius, found);
            // Touches were looked for as far as the law may reach.
            if law.range(curvature, true) > 0.0 && found.overlap <= -law.range(curvature, memory.touching) {
                if memory.touching {
                    *lost += release(&scene, g, w, normal_before, &mut memory);
                }
                continue;
            }
            let (touch, point, rates) = wall_touch(&scene, g, w, found, normal_before, &memory);
            let response = law.respond(&touch, &mut memory);
            memory.rates = rates;
            let lever = place.radius - 0.5 * touch.overlap;
            let load = loads.of(g - own.start);
            load.force += response.force;
            load.torque += lever * touch.normal.cross(response.force) + response.couple;
            *lost += response.dissipated;
            wall_sum.force -= response.force;
            wall_sum.torque -= point.cross(response.force) + response.couple;
            segment.walls.push(WallContact {
                grain,
                wall,
                feature: found.feature,
                point: found.point,
                normal: found.normal,
                memory,
            });
        }
        // What was not recalled has opened.
        old.iter_mut().for_each(|old| open(old, &mut segment.told.losses));
    }
    before[next_before..].iter_mut().for_each(|old| open(old, &mut segment.told.losses));
}

/// The memory a contact inherits and the normal it had, wall frame. Takes it out of `old`.
fn recall(found: &WallTouch, radius: f64, old: &mut [WallContact], all: &[WallTouch]) -> (Memory, Vec3) {
    let known = old.iter().map(|c| c.memory.touching.then_some((c.feature, c.point, c.normal)));
    match heir(found, radius, known, all) {
        Some(k) => (std::mem::take(&mut old[k].memory), old[k].normal),
        None => (Memory::default(), found.normal),
    }
}

/// The contact a touch goes on with, of those known by (feature, point, normal): that of the same feature or, when the
/// grain has just passed to a neighbouring one, that which vanished there.
pub(super) fn heir(
    found: &WallTouch,
    radius: f64,
    known: impl Iterator<Item = Option<(u32, Vec3, Vec3)>> + Clone,
    all: &[WallTouch],
) -> Option<usize> {
    let same = known.clone().position(|c| c.is_some_and(|(feature, ..)| feature == found.feature));
    same.or_else(|| {
        known.clone().position(|c| {
            c.is_some_and(|(feature, point, normal)| {
                !all.iter().any(|t| t.feature == feature)
                    && point.distance_squared(found.point) < (SAME_CONTACT.0 * radius).powi(2)
                    && normal.dot(found.normal) > SAME_CONTACT.1
            })
        })
    })
}

/// Forgets a wall contact that has just opened and returns what it lost in its last half step. `normal` is the one it had,
/// wall frame.
pub(super) fn release(scene: &Scene, g: usize, w: usize, normal: Vec3, memory: &mut Memory) -> Dissipation {
    let Scene { model, frames, grains } = *scene;
    let law = model.laws.law(model.material_of(grains.kind[g]), model.walls[w].material);
    let normal = frames.pose[w].orientation * normal;
    let place = &grains.place[g];
    let centre = model.cell.wrapped(place.position);
    let wall = frames.mean_velocity(w, centre + place.radius * normal - grains.mean[g].velocity * (0.5 * grains.dt));
    let levers = Levers::of_wall(place.radius);
    let mean = contact_velocity(normal, levers, (&grains.mean[g]).into(), wall, Frame::OnSecond);
    law.release(&mean, grains.dt, memory)
}

/// A grain on a wall over a step.
pub(super) struct OnWall {
    /// Normal into the wall at the end of the step, world axes.
    pub normal: Vec3,
    /// Distance of the contact point from the centre \[m\], and the point in the world \[m\].
    pub lever: f64,
    pub point: Vec3,
    /// Half way: normal, with a component of one along the other, lever, velocity of the wall.
    pub middle: Vec3,
    pub lever_middle: f64,
    pub wall: Velocity,
}

impl OnWall {
    /// Of a contact whose normal was `normal_before` a step ago, wall frame.
    pub fn new(scene: &Scene, g: usize, w: usize, found: &WallTouch, normal_before: Vec3) -> Self {
        let Scene { model, frames, grains } = *scene;
        let pose = &frames.pose[w];
        let place = &grains.place[g];
        let normal = pose.orientation * found.normal;
        let lever = place.radius - 0.5 * found.overlap;
        let centre = model.cell.wrapped(place.position);
        let point = centre + lever * normal;

        // The normal between the old one, turned back with the wall, and the new one.
        let dt = grains.dt;
        let carried = pose.orientation * normal_before;
        let middle = 0.5 * (normal + carried - frames.mean[w].angular_velocity.cross(carried) * dt);
        let middle = middle / middle.dot(normal);
        let velocity = grains.mean[g].velocity;
        let centre = centre - velocity * (0.5 * dt);
        let away = frames.mean_velocity(w, centre + lever * middle).linear - velocity;
        let lever_middle = lever - 0.25 * dt * away.dot(middle);
        let wall = frames.mean_velocity(w, centre + lever_middle * middle);
        Self { normal, lever, point, middle, lever_middle, wall }
    }
}

/// A wall contact as the law sees it, its point in the world, and what it has to know in the next step. The wall is a body
/// whose centre is the contact point. `normal_before` is the normal a step ago, wall frame.
pub fn wall_touch(
    scene: &Scene,
    g: usize,
    w: usize,
    found: &WallTouch,
    normal_before: Vec3,
    memory: &Memory,
) -> (Touch, Vec3, LastRates) {
    let Scene { model, frames, grains } = *scene;
    let on = OnWall::new(scene, g, w, found, normal_before);
    let (motion, dt) = (&grains.motion[g], grains.dt);
    let mean = Velocity::from(&grains.mean[g]);
    let half_way = contact_velocity(on.middle, Levers::of_wall(on.lever_middle), mean, on.wall, Frame::OnSecond);
    let last = memory.touching.then_some(&memory.rates);
    let touch = Touch {
        overlap: found.overlap,
        normal: on.normal,
        middle: on.middle,
        effective_radius: 1.0 / inverse_effective_radius(model.planar, motion.inverse_radius, found.curvature),
        elongation: elongation_on_wall(model.planar, motion.inverse_radius, found.curvature),
        curvature: curvature_on_wall(model.planar, motion.inverse_radius, found),
        effective_mass: 1.0 / motion.inverse_mass,
        now: match grains.now {
            Now::Known => {
                let wall = frames.velocity(w, on.point);
                contact_velocity(on.normal, Levers::of_wall(on.lever), motion.into(), wall, Frame::OnSecond)
            }
            Now::Extrapolated => half_way.half_a_step_later(last, on.normal),
        },
        mean: mean_contact_velocity(on.normal, half_way, dt),
        dt,
    };
    (touch, on.point, half_way.rates())
}

/// One over the effective radius of a sphere on a wall with two principal curvatures: 1/R\* is the geometric mean of the relative
/// curvatures (Landau & Lifshitz vol. 7 §9). In a planar scene only the curvature in the plane counts. A grain nearly as
/// large as the hollow it lies in conforms to it, beyond any of these laws: R\* is then limited to a thousand radii.
pub(crate) fn inverse_effective_radius(planar: bool, inverse_radius: f64, curvature: [f64; 2]) -> f64 {
    if planar {
        let [a, b] = curvature;
        let in_plane = if a.abs() > b.abs() { a } else { b };
        (inverse_radius + in_plane).max(1e-3 * inverse_radius)
    } else {
        let [a, b] = curvature.map(|c| inverse_radius + c);
        (a * b).max(1e-6 * inverse_radius * inverse_radius).sqrt()
    }
}

/// [`Touch::elongation`] of a sphere on a wall, nothing where the wall curves the same both ways, as planes and shells do.
/// The radius of Hertz's force is limited as R\* is.
pub(crate) fn elongation_on_wall(planar: bool, inverse_radius: f64, curvature: [f64; 2]) -> f64 {
    if planar || curvature[0] == curvature[1] {
        return 0.0;
    }
    let per_radius = inverse_effective_radius(planar, inverse_radius, curvature);
    let sharper = (inverse_radius + curvature[0].max(curvature[1])) / per_radius;
    // The limit comes down to nothing where R* has reached its own, so that the force has no jump.
    elliptic_factor(sharper * sharper).min(CONFORMS * per_radius / inverse_radius).max(1.0) - 1.0
}
