//! Walks over the stored contacts and tells their geometry, forces and energies, changing nothing.

use super::sweep::{Grains, Now, touch};
use super::walls::{Scene, WallFrames, wall_touch};
use super::{PairContact, WallContact};
use crate::boundary::WallTouch;
use crate::law::{Law, Memory, Stored, Touch};
use crate::math::Vec3;
use crate::model::Model;
use crate::particles::Particles;
use crate::state::State;

/// A contact as it stands.
#[derive(Clone, Copy, Debug)]
pub struct ContactForce {
    /// First grain.
    pub i: usize,
    /// Second body.
    pub other: Other,
    /// Face, edge or vertex of a wall; 0 between grains.
    pub feature: u32,
    /// Centre of the first grain \[m\].
    pub from: Vec3,
    /// Centre of the second grain (of its copy), or the point on the wall \[m\].
    pub to: Vec3,
    /// Contact point \[m\].
    pub point: Vec3,
    /// Force on the first grain \[N\].
    pub force: Vec3,
    /// Normal part, positive when pushing \[N\].
    pub normal_force: f64,
    /// Overlap \[m\].
    pub overlap: f64,
    /// Elastic energy \[J\].
    pub stored: Stored,
    /// 1, or ½ for each of the two records of a pair met through a periodic face.
    pub share: f64,
}

/// The second body of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Other {
    /// A grain.
    Grain(usize),
    /// A wall.
    Wall(usize),
}

/// A grain's side of a contact.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// The grain.
    pub grain: usize,
    /// Force on it \[N\].
    pub force: Vec3,
    /// From the contact point to its centre \[m\].
    pub arm: Vec3,
}

impl ContactForce {
    /// The grains it acts on. Of a pair met through a periodic face, which has a record from either side, the first alone.
    pub fn ends(&self) -> impl Iterator<Item = End> {
        let first = End { grain: self.i, force: self.force, arm: self.from - self.point };
        let second = match self.other {
            Other::Grain(j) if self.share == 1.0 => {
                Some(End { grain: j, force: -self.force, arm: self.to - self.point })
            }
            _ => None,
        };
        [Some(first), second].into_iter().flatten()
    }

    /// Unit normal from the first grain to the second body.
    pub fn normal(&self) -> Vec3 {
        (self.to - self.from).normalize_or_zero()
    }

    /// Size of the tangential force \[N\].
    pub fn tangential_force(&self) -> f64 {
        (self.force + self.normal_force * self.normal()).length()
    }
}

/// Calls `f` for every stored contact, pairs first, in their order.
///
/// # Panics
/// When a solver has the contacts: the state must be whole.
pub fn for_each(model: &Model, state: &State, mut f: impl FnMut(ContactForce)) {
    assert!(!state.contacts.are_away(), "the state is not whole");
    let p = &state.particles;
    for c in &state.contacts.pairs {
        if let Some(contact) = pair(model, p, c) {
            f(contact);
        }
    }
    if state.contacts.walls.is_empty() {
        return;
    }
    let frames = frames(model, state, state.time, 0.0);
    for c in &state.contacts.walls {
        if let Some(contact) = wall(model, &frames, p, c) {
            f(contact);
        }
    }
}

/// Poses and velocities of all walls at a time, and their mean velocities over a step that ends then.
pub fn frames(model: &Model, state: &State, t: f64, dt: f64) -> WallFrames {
    WallFrames {
        pose: (0..model.walls.len()).map(|w| state.wall_pose(model, w, t)).collect(),
        twist: (0..model.walls.len()).map(|w| state.wall_twist(model, w, t)).collect(),
        mean: (0..model.walls.len()).map(|w| state.wall_twist(model, w, t - 0.5 * dt)).collect(),
    }
}

fn pair(model: &Model, p: &Particles, c: &PairContact) -> Option<ContactForce> {
    let (i, j) = (c.i as usize, c.j as usize);
    let mut other = p.place[j];
    other.position += model.cell.shift_vector(c.shift);
    let place = [p.place[i], other];
    let motion = [p.motion[i], p.motion[j]];
    let kind = [p.kind[i], p.kind[j]];
    let grains = Grains {
        owned: 2,
        place: place.as_slice().into(),
        motion: motion.as_slice().into(),
        mean: motion.as_slice().into(),
        now: Now::Known,
        kind: &kind,
        dt: 0.0,
    };
    let law = model.laws.law(model.material_of(kind[0]), model.material_of(kind[1]));
    let (touch, levers, _) = touch(grains, 0, 1, law, &c.memory)?;
    let (force, normal_force) = force_now(law, &touch, &c.memory);
    Some(ContactForce {
        i,
        other: Other::Grain(j),
        feature: 0,
        from: place[0].position,
        to: place[1].position,
        point: place[0].position + levers.i * touch.normal,
        force,
        normal_force,
        overlap: touch.overlap,
        stored: law.stored(&touch, &c.memory),
        share: if c.shift == [0; 3] { 1.0 } else { 0.5 },
    })
}

fn wall(model: &Model, frames: &WallFrames, p: &Particles, c: &WallContact) -> Option<ContactForce> {
    let (i, w) = (c.grain as usize, c.wall as usize);
    let place = p.place[i];
    let mut touches: Vec<WallTouch> = Vec::new();
    let local = frames.pose[w].to_local(model.cell.wrapped(place.position));
    let range = model.range_to_wall(place.radius, p.kind[i], w);
    model.walls[w].surface.touches(local, place.radius + range, &mut touches);
    touches.iter_mut().for_each(|touch| touch.overlap -= range);
    let found = touches.iter().find(|t| t.feature == c.feature)?;
    let grains = Grains {
        owned: 1,
        place: std::slice::from_ref(&place).into(),
        motion: std::slice::from_ref(&p.motion[i]).into(),
        mean: std::slice::from_ref(&p.motion[i]).into(),
        now: Now::Known,
        kind: std::slice::from_ref(&p.kind[i]),
        dt: 0.0,
    };
    let (touch, point, _) = wall_touch(&Scene { model, frames, grains }, 0, w, found, found.normal, &c.memory);
    let law = model.laws.law(model.material_of(p.kind[i]), model.walls[w].material);
    let (force, normal_force) = force_now(law, &touch, &c.memory);
    Some(ContactForce {
        i,
        other: Other::Wall(w),
        feature: c.feature,
        from: model.cell.wrapped(place.position),
        to: frames.pose[w].to_world(found.point),
        point,
        force,
        normal_force,
        overlap: touch.overlap,
        stored: law.stored(&touch, &c.memory),
        share: 1.0,
    })
}

/// Force on the first body without advancing the memory, and its normal part.
fn force_now(law: &Law, touch: &Touch, memory: &Memory) -> (Vec3, f64) {
    let normal_force = law.normal_force(touch, memory);
    let dashpot = Vec3::from_array(memory.last.tangential_dashpot.map(f64::from));
    // The dashpot is kept in single precision; where it and the spring cancel, what is left must still be tangential.
    let tangential = (dashpot - memory.stiffness * memory.spring).reject_from_normalized(touch.normal);
    (tangential - touch.normal * normal_force, normal_force)
}
