//! What happens between two steps of any solver: grains cross counting planes, leave, arrive, and are put in order.

use super::StepError;
use crate::boundary::WallTouch;
use crate::contact::visit;
use crate::contact::walls::WallFrames;
use crate::field::Field;
use crate::fill::feed::Outcome;
use crate::fill::{Obstacles, Push};
use crate::integrate;
use crate::math::{Aabb, Vec3};
use crate::measure::energy;
use crate::model::{CountingPlane, Model};
use crate::neighbor;
use crate::particles::{Particles, Place};
use crate::state::{Flow, State};

/// Distance of the copies of a counting plane across a periodic axis \[m\].
pub fn period(model: &Model, plane: &CountingPlane) -> Option<f64> {
    (0..3).find_map(|axis| model.cell.length[axis].filter(|_| plane.normal[axis].abs() == 1.0))
}

/// Which side of a counting plane a point is on: 0 below it, 1 above. Across a periodic axis the plane has copies one
/// period apart, and the count goes on.
fn side(model: &Model, plane: &CountingPlane, x: Vec3) -> i32 {
    let above = x.dot(plane.normal) - plane.offset;
    match period(model, plane) {
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
        state.ledger.field_power -= field_power(model, state, i);
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
                    let force: Vec3 = model.fields.iter().map(|field| field_force(&**field, p, i, step, t)).sum();
                    state.particles.load[i].force = force;
                    integrate::start(model.integrator, &mut state.particles, model.dt);
                    state.ledger.field_power += field_power(model, state, i);
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
    frames: WallFrames,
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
        push_out_of_walls(self.model, &self.frames, centre, radius, out);
    }
}

/// Appends the way out of every wall that a sphere overlaps.
pub fn push_out_of_walls(model: &Model, frames: &WallFrames, centre: Vec3, radius: f64, out: &mut Vec<Push>) {
    let mut touches: Vec<WallTouch> = Vec::new();
    for (wall, pose) in model.walls.iter().zip(&frames.pose).filter(|(wall, _)| wall.active) {
        touches.clear();
        wall.surface.touches(pose.to_local(centre), radius, &mut touches);
        out.extend(touches.iter().map(|t| Push { direction: pose.orientation * -t.normal, depth: t.overlap }));
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

/// How many times its force a field acts with at the end of the step number `step`: as an impulse over several steps, or not.
pub fn times(field: &dyn Field, step: u64) -> f64 {
    match field.every() {
        1 => 1.0,
        every if step.is_multiple_of(every) => every as f64,
        _ => 0.0,
    }
}

/// Force of a field at the end of the step number `step`: that of its impulse, if it acts by impulses \[N\].
pub fn field_force(field: &dyn Field, grains: &Particles, i: usize, step: u64, t: f64) -> Vec3 {
    match times(field, step) {
        0.0 => Vec3::ZERO,
        times => times * field.force(grains, i, t),
    }
}

/// Power of the fields without a potential on one grain \[W\].
pub fn field_power(model: &Model, state: &State, i: usize) -> f64 {
    let p = &state.particles;
    if p.is_fixed(i) {
        return 0.0;
    }
    let others = model.fields.iter().filter(|field| !field.has_potential());
    others.map(|field| field_force(&**field, p, i, state.step, state.time).dot(p.velocity(i))).sum()
}
