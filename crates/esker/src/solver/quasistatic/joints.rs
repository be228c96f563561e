//! Contacts as joints of a structure: their forces by the laws at the places grains have, and nearly, by springs, at places close
//! to these.

use crate::boundary::WallTouch;
use crate::contact::walls::{WallFrames, curvature_on_wall, elongation_on_wall, inverse_effective_radius};
use crate::contact::{Contacts, Levers, PairContact, WallContact};
use crate::law::normal::NormalLaw;
use crate::law::tangential::{AnyTangential, TangentialLaw};
use crate::law::{History, Law, Memory, Touch};
use crate::math::Vec3;
use crate::model::Model;
use crate::particles::Particles;
use crate::structure::{Action, Freedom, GROUND, Link};
use serde::{Deserialize, Serialize};

/// Who touches whom, by identities that outlast any order of the grains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Key {
    /// Two grains, the one with the lower identity first.
    Pair(u64, u64),
    /// A grain, a wall and its face, edge or vertex.
    Wall(u64, u16, u32),
}

impl Key {
    /// Whether a wall is touched.
    pub fn is_of_wall(&self) -> bool {
        matches!(self, Key::Wall(..))
    }
}

/// The second body of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Other {
    Grain(usize),
    Wall { wall: u16, feature: u32, point: Vec3 },
}

/// A contact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joint {
    pub key: Key,
    pub i: usize,
    pub other: Other,
    /// Geometry and stiffness where bodies are, between nodes: see [`Net::aim`](super::net::Net::aim). The structure knows those of the
    /// place where it was last renewed.
    pub link: Link,
    /// Stiffness of its tangential spring \[N/m\]. That of the link is less: see [`Looker::joint`].
    pub shear: f64,
    /// Force along the normal for each metre that one body goes across it: tangential force turns, too \[N/m\].
    pub lift: Vec3,
    /// What it does to both bodies where they are.
    pub base: [Action; 2],
    pub friction: f64,
    /// Normal force there, positive when pushing \[N\]; negative where a gap is still open, as if it had been stretched.
    pub push: f64,
    /// Elastic tangential displacement there, of the first body against the second \[m\].
    pub spring: Vec3,
    /// What has slid since \[m\].
    pub slid: Vec3,
    /// Its number in the structure.
    pub number: u32,
    /// How often it has been taken out since.
    pub opened: u32,
}

/// Forces of a joint after displacements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// Normal force, positive when pushing \[N\].
    pub push: f64,
    /// Elastic tangential displacement \[m\].
    pub spring: Vec3,
    /// Force on the second body beside that where they are \[N\].
    pub more: Vec3,
}

impl Joint {
    /// Forces after displacements of the nodes, by its springs.
    #[inline]
    pub fn after(&self, freedom: Freedom, u: &[f64]) -> Held {
        let (a, b) = (freedom.shift(u, self.link.ends[0]), freedom.shift(u, self.link.ends[1]));
        let stretch = self.link.stretch(&a, &b);
        let along = stretch.dot(self.link.normal);
        let (squeezed, across) = (self.link.stiffness[0] * along, stretch - along * self.link.normal);
        Held {
            push: self.push + squeezed,
            spring: self.spring + across - self.slid,
            more: self.link.normal * (squeezed + self.lift.dot(across)) + self.link.stiffness[1] * across
                - self.shear * self.slid,
        }
    }

    /// Tangential force beyond what friction holds \[N\].
    pub fn excess(&self, held: &Held) -> f64 {
        self.shear * held.spring.length() - self.friction * held.push.max(0.0)
    }

    /// As a gap: what its tangential spring held is gone.
    pub fn open(self) -> Self {
        Self {
            base: self.link.actions(self.link.normal * self.push),
            spring: Vec3::ZERO,
            lift: Vec3::ZERO,
            slid: Vec3::ZERO,
            number: u32::MAX,
            opened: self.opened + 1,
            ..self
        }
    }

    /// What it keeps where its normal is another.
    fn kept(&self) -> Kept {
        Kept { spring: self.spring, stiffness: self.shear, across: Some(self.link.normal) }
    }

    /// What a contact of the state remembers of it.
    fn memory(&self) -> Memory {
        Memory { spring: self.spring, stiffness: self.shear, touching: true, ..Memory::default() }
    }

    /// Whether its springs are still close to those that the structure knows.
    pub fn resembles(&self, known: &Link, within: &Likeness) -> bool {
        let close =
            |of: usize, part: f64| (self.link.stiffness[of] - known.stiffness[of]).abs() <= part * known.stiffness[of];
        let turned = self.link.normal.distance_squared(known.normal);
        close(0, within.normal) && close(1, within.tangential) && turned <= within.angle * within.angle
    }
}

/// How far the springs of a joint may be from those that the structure knows.
pub(super) struct Likeness {
    /// Push at which it is no more \[N\].
    pub open: f64,
    /// Part of the normal stiffness.
    pub normal: f64,
    /// Part of the tangential stiffness.
    pub tangential: f64,
    /// Angle between the normals \[rad\].
    pub angle: f64,
    /// Changes of the structure since it was made anew from which on all springs are taken as they are.
    pub changes: usize,
}

/// The tangential spring of a joint as it was.
#[derive(Clone, Copy)]
struct Kept {
    spring: Vec3,
    stiffness: f64,
    /// The normal it is across, if that is known.
    across: Option<Vec3>,
}

impl Kept {
    fn of(memory: &Memory) -> Self {
        Self { spring: memory.spring, stiffness: memory.stiffness, across: None }
    }

    /// Where the normal is now.
    fn across(&self, normal: Vec3) -> Vec3 {
        match self.across {
            Some(before) => turned_with(self.spring, before, normal),
            None => turned_across(self.spring, normal),
        }
    }
}

/// A vector across a normal, turned with it on the shortest way; turned back it is the same again.
pub(super) fn turned_with(vector: Vec3, from: Vec3, to: Vec3) -> Vec3 {
    vector - (from + to) * (vector.dot(to) / (1.0 + from.dot(to)))
}

/// What the forces of a contact, along its normal and across it, do as they turn with it, by so much for each metre across: how much
/// softer the tangential spring seems \[N/m\], and what comes along the normal for each metre \[N/m\].
fn turn_of_forces(push: f64, tangential: Vec3, turning: f64) -> (f64, Vec3) {
    (push.max(0.0) * turning, tangential * turning)
}

/// A vector nearly across a normal, turned until it is, with its length.
fn turned_across(vector: Vec3, normal: Vec3) -> Vec3 {
    vector.reject_from_normalized(normal).normalize_or_zero() * vector.length()
}

/// What makes a law unfit for rest, if anything does.
pub fn unfit(law: &Law) -> Option<&'static str> {
    use crate::law::cohesion::AnyCohesion;
    use crate::law::rolling::AnyRolling;
    use crate::law::twisting::AnyTwisting;
    if law.normal.is_lossy() {
        return Some("its normal force depends on what happened before");
    }
    if !matches!(law.cohesion, AnyCohesion::None) || law.normal.range([1.0; 2], true) > 0.0 {
        return Some("it attracts");
    }
    if !matches!(law.rolling, AnyRolling::None(_)) || !matches!(law.twisting, AnyTwisting::None(_)) {
        return Some("it resists rolling or twisting");
    }
    match law.tangential {
        AnyTangential::None(_) | AnyTangential::Spring(_) | AnyTangential::Mindlin(_) => None,
        _ => Some("its tangential force is not a spring with a slider"),
    }
}

/// Looks at contacts at the places the grains have.
pub(super) struct Looker<'a> {
    model: &'a Model,
    pub p: &'a Particles,
    frames: &'a WallFrames,
    turns: bool,
}

impl<'a> Looker<'a> {
    pub fn new(model: &'a Model, p: &'a Particles, frames: &'a WallFrames, turns: bool) -> Self {
        Self { model, p, frames, turns }
    }

    /// A gap between two grains.
    pub fn gap(&self, i: usize, j: usize) -> Joint {
        self.pair(i, j, None)
    }

    /// A gap between a grain and a wall.
    pub fn gap_to_wall(&self, i: usize, wall: usize, found: &WallTouch) -> Joint {
        self.wall(i, wall, found, None)
    }

    /// A joint of two grains, with what it keeps; a gap is a negative overlap.
    fn pair(&self, i: usize, j: usize, kept: Option<Kept>) -> Joint {
        let p = self.p;
        let d = p.position(j) - p.position(i);
        let (r_i, r_j, distance) = (p.radius(i), p.radius(j), d.length());
        let curvature = [1.0 / r_i, 1.0 / r_j];
        let touch = Touch {
            overlap: r_i + r_j - distance,
            normal: d / distance,
            middle: d / distance,
            effective_radius: 1.0 / (curvature[0] + curvature[1]),
            curvature,
            effective_mass: 1.0 / (p.motion[i].inverse_mass + p.motion[j].inverse_mass),
            ..Touch::default()
        };
        let law = self.model.laws.law(self.model.material_of(p.kind[i]), self.model.material_of(p.kind[j]));
        let levers = Levers::of_pair(r_i, r_j, distance);
        let key = Key::Pair(p.id[i].min(p.id[j]), p.id[i].max(p.id[j]));
        self.joint(key, i, Other::Grain(j), law, &touch, [levers.i, levers.j], 1.0 / distance, kept)
    }

    /// The touches of a grain with a wall within a reach of its surface; overlaps are those of the grain itself.
    pub fn touches(&self, i: usize, wall: usize, reach: f64, out: &mut Vec<WallTouch>) {
        out.clear();
        let local = self.frames.pose[wall].to_local(self.p.position(i));
        self.model.walls[wall].surface.touches(local, self.p.radius(i) + reach, out);
        out.iter_mut().for_each(|touch| touch.overlap -= reach);
    }

    /// A joint of a grain and a wall.
    fn wall(&self, i: usize, wall: usize, found: &WallTouch, kept: Option<Kept>) -> Joint {
        let (p, planar) = (self.p, self.model.planar);
        let inverse_radius = 1.0 / p.radius(i);
        let normal = self.frames.pose[wall].orientation * found.normal;
        let touch = Touch {
            overlap: found.overlap,
            normal,
            middle: normal,
            effective_radius: 1.0 / inverse_effective_radius(planar, inverse_radius, found.curvature),
            elongation: elongation_on_wall(planar, inverse_radius, found.curvature),
            curvature: curvature_on_wall(planar, inverse_radius, found),
            effective_mass: p.mass[i],
            ..Touch::default()
        };
        let law = self.model.laws.law(self.model.material_of(p.kind[i]), self.model.walls[wall].material);
        let other = Other::Wall { wall: wall as u16, feature: found.feature, point: found.point };
        let key = Key::Wall(p.id[i], wall as u16, found.feature);
        self.joint(key, i, other, law, &touch, [p.radius(i) - 0.5 * found.overlap, 0.0], 0.0, kept)
    }

    /// A joint whose normal turns by so much for each metre that one body goes across it. A force along it turns too, as if the
    /// tangential spring were softer, and one across it; where nodes turn, and springs with them, it is left to the next look.
    fn joint(
        &self,
        key: Key,
        i: usize,
        other: Other,
        law: &Law,
        touch: &Touch,
        levers: [f64; 2],
        turning: f64,
        kept: Option<Kept>,
    ) -> Joint {
        let history = History::default();
        let mut push = if touch.overlap > 0.0 { law.normal.force(touch, &history) } else { 0.0 };
        // Gaps and slight contacts have the stiffness that they will have under the weight of the grain.
        let weight = self.p.mass[i] * self.model.uniform_acceleration().length().max(1e-3);
        let stiff = if push >= weight {
            *touch
        } else {
            let slight = law.normal.power_law(touch.effective_radius).overlap_at(weight);
            Touch { overlap: touch.overlap.max(slight), ..*touch }
        };
        let k_n = law.normal.stiffness(&stiff, &history);
        let k_t = match law.tangential {
            AnyTangential::None(_) => 0.0,
            _ => law.tangential.stiffness_ratio(k_n) * k_n,
        };
        if touch.overlap <= 0.0 {
            push = k_n * touch.overlap;
        }
        // The force of a tangential spring outlasts a change of its stiffness.
        let kept = kept.filter(|_| k_t > 0.0);
        let spring = kept.map_or(Vec3::ZERO, |kept| kept.across(touch.normal) * (kept.stiffness / k_t));
        let levers = if self.turns { levers } else { [0.0; 2] };
        let (softer, lift) = turn_of_forces(push, k_t * spring, if self.turns { 0.0 } else { turning });
        let stiffness = [k_n, k_t - softer.min(0.5 * k_t)];
        let link = Link { ends: [GROUND; 2], normal: touch.normal, levers, stiffness };
        Joint {
            key,
            i,
            other,
            link,
            shear: k_t,
            lift,
            base: link.actions(touch.normal * push + k_t * spring),
            friction: law.tangential.friction(),
            push,
            spring,
            slid: Vec3::ZERO,
            number: u32::MAX,
            opened: 0,
        }
    }

    /// All contacts that the state remembers, in its order; those of which both ends are fixed are left out.
    pub fn all(&self, contacts: &Contacts) -> Vec<Joint> {
        let mut joints = Vec::with_capacity(contacts.pairs.len() + contacts.walls.len());
        let free = |i: usize| !self.p.is_fixed(i);
        for c in contacts.pairs.iter().filter(|c| free(c.i as usize) || free(c.j as usize)) {
            joints.push(self.pair(c.i as usize, c.j as usize, Some(Kept::of(&c.memory))));
        }
        for c in contacts.walls.iter().filter(|c| free(c.grain as usize)) {
            joints.extend(self.feature(c.grain as usize, c.wall, c.feature, Kept::of(&c.memory)));
        }
        joints
    }

    /// Joints where the grains are now; those that have left a feature of a wall are no more.
    pub fn again(&self, mut joints: Vec<Joint>) -> Vec<Joint> {
        joints.retain_mut(|joint| {
            let kept = joint.kept();
            let now = match joint.other {
                Other::Grain(j) => Some(self.pair(joint.i, j, Some(kept))),
                Other::Wall { wall, feature, .. } => self.feature(joint.i, wall, feature, kept),
            };
            now.map(|now| *joint = Joint { number: joint.number, ..now }).is_some()
        });
        joints
    }

    /// The joint of a grain with a face, edge or vertex of a wall, if that is near.
    fn feature(&self, i: usize, wall: u16, feature: u32, kept: Kept) -> Option<Joint> {
        let mut touches = Vec::new();
        self.touches(i, wall as usize, 0.01 * self.p.radius(i), &mut touches);
        let found = touches.iter().find(|found| found.feature == feature)?;
        Some(self.wall(i, wall as usize, found, Some(kept)))
    }

    /// Joints as contacts of the state.
    pub fn contacts(&self, joints: &[Joint]) -> Contacts {
        let mut contacts = Contacts::default();
        for joint in joints {
            let memory = joint.memory();
            match joint.other {
                Other::Grain(j) => {
                    contacts.pairs.push(PairContact { i: joint.i as u32, j: j as u32, shift: [0; 3], memory });
                }
                Other::Wall { wall, feature, point } => {
                    let normal = self.frames.pose[wall as usize].orientation.conjugate() * joint.link.normal;
                    contacts.walls.push(WallContact { grain: joint.i as u32, wall, feature, point, normal, memory });
                }
            }
        }
        contacts.pairs.sort_unstable_by_key(|c| (c.i, c.j));
        contacts.walls.sort_by_key(|c| (c.grain, c.wall, c.feature));
        contacts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    #[test]
    fn a_spring_turned_with_its_normal_and_back_is_the_same() {
        for key in 0..100 {
            let mut stream = Stream::new(5, Purpose::Noise, key);
            let mut any = || Vec3::from_array(std::array::from_fn(|_| 2.0 * stream.uniform() - 1.0));
            let from = any().normalize();
            let to = (from + 0.3 * any()).normalize();
            let spring = any().reject_from_normalized(from);
            let turned = turned_with(spring, from, to);
            assert!(turned.dot(to).abs() < 1e-15 && (turned.length() - spring.length()).abs() < 1e-15);
            assert!((turned_with(turned, to, from) - spring).length() < 1e-15);
            // What is along the axis of the turn stays.
            let axis = from.cross(to);
            assert!((turned_with(axis, from, to) - axis).length() < 1e-15);
        }
    }

    #[test]
    fn forces_close_by_are_those_by_springs_but_for_the_square_of_the_way() {
        let (k_n, k_t, rest) = (1e3, 4e2, 1.1);
        let (apart, spring) = (Vec3::new(0.6, 0.8, 0.0), Vec3::new(-0.08, 0.06, 0.05));
        // The force on the second of two balls, as the next look would find it when the first has gone by `way`.
        let force = |way: Vec3| {
            let (now, normal) = (apart - way, (apart - way).normalize());
            let across = way.reject_from_normalized(apart);
            k_n * (rest - now.length()) * normal + k_t * turned_with(spring + across, apart, normal)
        };
        let push = k_n * (rest - 1.0);
        let (softer, lift) = turn_of_forces(push, k_t * spring, 1.0);
        let link = Link { ends: [0, GROUND], normal: apart, levers: [0.0; 2], stiffness: [k_n, k_t - softer] };
        let joint = Joint {
            key: Key::Pair(0, 1),
            i: 0,
            other: Other::Grain(1),
            link,
            shear: k_t,
            lift,
            base: link.actions(push * apart + k_t * spring),
            friction: 1.0,
            push,
            spring,
            slid: Vec3::ZERO,
            number: 0,
            opened: 0,
        };
        let off = |size: f64| {
            let way = size * Vec3::new(0.3, -0.5, 0.7);
            let more = joint.after(Freedom::Spatial, &way.to_array()).more;
            (force(way) - force(Vec3::ZERO) - more).length()
        };
        for size in [1e-2, 1e-3, 1e-4] {
            let order = (off(size) / off(0.5 * size)).log2();
            assert!((order - 2.0).abs() < 0.05, "{size}: {order}");
        }
    }
}
