//! What happens between two steps: grains cross counting planes, leave, arrive, and are put in order.

use super::{StepError, book};
use crate::boundary::{Motion, MotionPart, WallTouch};
use crate::contact::visit;
use crate::fill::feed::Outcome;
use crate::fill::{Obstacles, Push};
use crate::integrate;
use crate::math::{Aabb, Pose, Vec3};
use crate::measure::energy;
use crate::model::{CountingPlane, Model, Wall};
use crate::neighbor::{self, Candidates};
use crate::particles::{Particles, Place};
use crate::state::{Flow, State};

/// Which side of a counting plane a point is on: 0 below it, 1 above. Across a periodic axis the plane has copies one
/// period apart, and the count goes on.
fn side(model: &Model, plane: &CountingPlane, x: Vec3) -> i32 {
    let above = x.dot(plane.normal) - plane.offset;
    let period = (0..3).find_map(|axis| model.cell.length[axis].filter(|_| plane.normal[axis].abs() == 1.0));
    match period {
        Some(length) => (above / length).floor() as i32 + 1,
        None => i32::from(above >= 0.0),
    }
}

/// On which side of each counting plane each grain is.
pub fn sides(model: &Model, p: &Particles) -> Vec<i32> {
    model.gates.iter().flat_map(|plane| (0..p.owned()).map(move |i| side(model, plane, p.position(i)))).collect()
}

/// Counts grains that changed sides since the last step.
pub fn count_flows(model: &Model, state: &mut State, sides: &mut [i32]) {
    let p = &state.particles;
    let n = p.owned();
    for (g, plane) in model.gates.iter().enumerate() {
        let flow = &mut state.flows[g];
        for i in 0..n {
            let side = side(model, plane, p.position(i));
            let crossed = side - std::mem::replace(&mut sides[g * n + i], side);
            flow.count += i64::from(crossed);
            flow.mass += f64::from(crossed) * p.mass[i];
        }
    }
}

fn is_taken(model: &Model, p: &Particles, i: usize) -> bool {
    !p.is_fixed(i) && {
        let x = model.cell.wrapped(p.position(i));
        model.removals.iter().any(|r| r.takes(x, model.planar))
    }
}

/// Whether any grain is to be taken out.
pub fn anything_to_remove(model: &Model, state: &State) -> bool {
    (0..state.particles.owned()).any(|i| is_taken(model, &state.particles, i))
}

/// Takes grains out and books the energy that leaves with them: their own, and that of their contacts.
pub fn remove(model: &Model, state: &mut State) {
    let n = state.particles.owned();
    let taken: Vec<bool> = (0..n).map(|i| is_taken(model, &state.particles, i)).collect();
    let before = energy::mechanical(model, state);
    let mut kept = 0;
    let new_index: Vec<Option<u32>> = taken
        .iter()
        .map(|&gone| {
            kept += u32::from(!gone);
            (!gone).then(|| kept - 1)
        })
        .collect();
    for i in (0..n).filter(|&i| taken[i]) {
        state.ledger.field_power -= book::field_power(model, state, i);
        state.removed = Flow { count: state.removed.count + 1, mass: state.removed.mass + state.particles.mass[i] };
    }
    state.contacts.reindex(&new_index, None);
    state.particles.retain(|i| !taken[i]);
    state.ledger.left += before - energy::mechanical(model, state);
}

/// Whether a feed has something to do now.
pub fn feed_due(model: &Model, state: &State) -> bool {
    model.feeds.iter().zip(&state.feeds).any(|((feed, active), s)| *active && feed.due(s, state.time))
}

/// Lets every feed that is due try to add its grains.
pub fn feed(model: &Model, state: &mut State) -> Result<(), StepError> {
    let before = energy::mechanical(model, state);
    for f in 0..model.feeds.len() {
        let (feed, active) = &model.feeds[f];
        while *active && feed.due(&state.feeds[f], state.time) {
            let spec = feed.feed();
            let surroundings = Surroundings::near(model, state, spec.region.bounds());
            let outcome =
                feed.attempt(&mut state.feeds[f], state.time, model.seed, f as u16, &surroundings, &mut Vec::new());
            match outcome {
                Outcome::Placed(birth) => {
                    let place = Place { position: birth.placed.centre, radius: birth.placed.radius };
                    let kind = &model.kinds[birth.kind as usize];
                    state.add(kind.grain(birth.kind, place, birth.velocity, birth.spin));
                    let i = state.particles.owned() - 1;
                    let (step, t) = (state.step, state.time);
                    let p = &state.particles;
                    let force: Vec3 = model.fields.iter().map(|field| book::field_force(&**field, p, i, step, t)).sum();
                    state.particles.load[i].force = force;
                    integrate::start(model.integrator, &mut state.particles, model.dt);
                    state.ledger.field_power += book::field_power(model, state, i);
                }
                Outcome::Postponed => {}
                Outcome::Jammed => {
                    let failures = state.feeds[f].failures;
                    state.ledger.entered += energy::mechanical(model, state) - before;
                    return Err(StepError::Jam { feed: f, time: state.time, failures });
                }
                Outcome::Finished => break,
            }
        }
    }
    state.ledger.entered += energy::mechanical(model, state) - before;
    Ok(())
}

/// Grains and walls near a place, as obstacles.
pub struct Surroundings<'a> {
    model: &'a Model,
    frames: crate::contact::walls::WallFrames,
    near: Vec<Place>,
}

impl<'a> Surroundings<'a> {
    /// Everything that may overlap a sphere inside `bounds`, periodic copies of grains included.
    pub fn near(model: &'a Model, state: &State, bounds: Aabb) -> Self {
        let cell = &model.cell;
        // Endless bounds end at the faces of the cell: what lies beyond is a copy of what lies within.
        let mut bounds = bounds;
        for axis in 0..3 {
            if let Some(length) = cell.length[axis] {
                let (low, high) = (cell.origin[axis], cell.origin[axis] + length);
                bounds.min[axis] = if bounds.min[axis].is_finite() { bounds.min[axis] } else { low };
                bounds.max[axis] = if bounds.max[axis].is_finite() { bounds.max[axis] } else { high };
            }
        }
        let shifts = |axis: usize| if cell.length[axis].is_some() { -1..=1 } else { 0..=0 };
        let mut near = Vec::new();
        for place in &state.particles.place {
            let bounds = bounds.grown(place.radius);
            let inside = cell.wrapped(place.position);
            for (x, y, z) in shifts(0).flat_map(|x| shifts(1).flat_map(move |y| shifts(2).map(move |z| (x, y, z)))) {
                let position = inside + cell.shift_vector([x, y, z]);
                if bounds.contains(position) {
                    near.push(Place { position, ..*place });
                }
            }
        }
        Self { model, frames: visit::frames(model, state, state.time, 0.0), near }
    }
}

impl Obstacles for Surroundings<'_> {
    fn overlaps(&self, centre: Vec3, radius: f64, out: &mut Vec<Push>) {
        for place in &self.near {
            let d = centre - place.position;
            let depth = radius + place.radius - d.length();
            if depth > 0.0 {
                out.push(Push { direction: d.try_normalize().unwrap_or(Vec3::X), depth });
            }
        }
        let mut touches: Vec<WallTouch> = Vec::new();
        for (wall, pose) in self.model.walls.iter().zip(&self.frames.pose).filter(|(wall, _)| wall.active) {
            touches.clear();
            wall.surface.touches(pose.to_local(centre), radius, &mut touches);
            out.extend(touches.iter().map(|t| Push { direction: pose.orientation * -t.normal, depth: t.overlap }));
        }
    }
}

/// Sorts grains in space and brings them back into the periodic cell. Decided by the step count alone, so that a
/// continued run does it at the same moment.
pub fn tidy(model: &Model, state: &mut State) {
    let p = &mut state.particles;
    p.drop_images();
    let n = p.owned();
    if n == 0 {
        return;
    }
    let windings: Vec<[i32; 3]> = (0..n).map(|i| model.cell.winding(p.position(i))).collect();
    if windings.iter().any(|w| *w != [0; 3]) {
        // A field along a periodic axis has no single-valued potential: what a wrap changes is energy that entered.
        let before = energy::potential(model, p);
        for (place, winding) in p.place.iter_mut().zip(&windings) {
            place.position -= model.cell.shift_vector(*winding);
        }
        state.ledger.entered += energy::potential(model, p) - before;
    }
    let r_max = p.place.iter().map(|place| place.radius).fold(0.0, f64::max);
    let order = neighbor::spatial_order(&p.place, &model.cell, 2.0 * r_max + model.skin);
    let mut new_index = vec![None; n];
    for (k, &i) in order.iter().enumerate() {
        new_index[i as usize] = Some(k as u32);
    }
    p.permute(&order);
    state.contacts.reindex(&new_index, Some(&windings));
}

/// Two fixed grains never act on each other.
pub fn drop_fixed_pairs(p: &Particles, candidates: &mut Candidates) {
    let n = p.owned();
    let Some(first) = (0..n).find(|&i| p.is_fixed(i)) else { return };
    // In place: rows before the first fixed grain stay as they are.
    let mut end = candidates.start[first] as usize;
    let mut begin = end;
    for i in first..n {
        let row = begin..candidates.start[i + 1] as usize;
        begin = row.end;
        if p.is_fixed(i) {
            for k in row {
                let j = candidates.partner[k];
                if !p.is_fixed(candidates.identity(j).0 as usize) {
                    candidates.partner[end] = j;
                    end += 1;
                }
            }
        } else {
            candidates.partner.copy_within(row.clone(), end);
            end += row.len();
        }
        candidates.start[i + 1] = end as u32;
    }
    candidates.partner.truncate(end);
}

/// Bound of the speed at which the surface of a wall can come nearer to a resting grain \[m/s\]: zero for a drum that
/// turns about its own axis.
pub fn approach_speed(wall: &Wall, base: &Pose) -> f64 {
    let local = |through: Vec3, axis: Vec3| (base.to_local(through), base.orientation.conjugate() * axis);
    // A spin about the axis of symmetry moves nothing, as long as no turn before it has carried the axis away.
    let mut rest = Motion::default();
    let mut turned = false;
    for part in &wall.motion.parts {
        let spins_in_place = match part {
            MotionPart::Rotate { through, axis, .. }
            | MotionPart::Swing { through, axis, .. }
            | MotionPart::Schedule { through, axis, .. } => {
                let (through, axis) = local(*through, *axis);
                let in_place = !turned && !part.shifts() && wall.surface.is_invariant_under_spin(through, axis);
                turned |= !in_place;
                in_place
            }
            _ => false,
        };
        if !spins_in_place {
            rest.parts.push(part.clone());
        }
    }
    let pivot_distance = |part: &MotionPart| match part {
        MotionPart::Rotate { through, axis, .. }
        | MotionPart::Swing { through, axis, .. }
        | MotionPart::Schedule { through, axis, .. } => {
            let (through, axis) = local(*through, *axis);
            wall.surface.extent_from(through, axis)
        }
        _ => 0.0,
    };
    rest.speed_bound(rest.parts.iter().map(pivot_distance).fold(0.0, f64::max))
}

/// Lets walls jump that are due to before `t + dt`: their contacts open, and the energy of these is booked.
pub fn jump(model: &Model, state: &mut State, jumping: &[usize]) {
    let before = energy::mechanical(model, state);
    state.contacts.walls.retain(|c| !jumping.contains(&(c.wall as usize)));
    state.ledger.switched += energy::mechanical(model, state) - before;
}

/// Walls that jump before the forces of the step that begins at `begin`, which are taken at `force_time`.
pub fn jumping(model: &Model, state: &State, begin: f64, force_time: f64) -> Vec<usize> {
    let half_way = model.integrator.scheme().half_way();
    let last = if half_way { begin - (force_time - begin) } else { begin };
    (0..model.walls.len())
        .filter(|&w| {
            let since = state.walls[w].since;
            model.walls[w].motion.jump_between(last - since, force_time - since) != Vec3::ZERO
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boundary::{Leg, Polyline, Shell, Surface};
    use std::sync::Arc;

    fn speed(surface: Surface, legs: Vec<Leg>) -> f64 {
        speed_about(Vec3::Z, surface, legs)
    }

    fn speed_about(axis: Vec3, surface: Surface, legs: Vec<Leg>) -> f64 {
        let motion = Motion { parts: vec![MotionPart::Schedule { through: Vec3::X, axis, legs }] };
        let wall = Wall { name: "w".into(), material: 0, surface: Arc::new(surface), motion, active: true };
        approach_speed(&wall, &Pose::IDENTITY)
    }

    #[test]
    fn a_chain_that_turns_comes_nearer_no_faster_than_its_farthest_point_moves() {
        let chain = Polyline::segment(Vec3::ZERO, Vec3::new(4.0, 4.0, 0.0)).unwrap();
        let legs = vec![Leg { duration: 1.0, velocity: Vec3::ZERO, rate: -2.0 }];
        assert!((speed(Surface::Polyline(chain.clone()), legs.clone()) - 10.0).abs() < 1e-12);
        // About an axis in its plane what is far above sweeps fast.
        assert_eq!(speed_about(Vec3::Y, Surface::Polyline(chain), legs), f64::INFINITY);
    }

    #[test]
    fn a_scheduled_spin_about_the_own_axis_brings_nothing_nearer_and_a_shift_does() {
        let drum = Surface::Shell(Shell::new(Vec3::X, 2.0).unwrap());
        let spin = Leg { duration: 1.0, velocity: Vec3::ZERO, rate: 3.0 };
        assert_eq!(speed(drum.clone(), vec![spin]), 0.0);
        assert!(speed(drum, vec![spin, Leg { velocity: 0.5 * Vec3::Y, ..spin }]) >= 0.5);
    }
}
