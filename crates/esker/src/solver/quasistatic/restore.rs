//! The way to rest: solve, then connect what overlaps, disconnect what pulls, slide what slips, in this order, until nothing of
//! it is left (Gavrilov 1999, section 4.5), and then once more where the grains now are.

use super::joints::{Held, Joint, Key, Likeness, Looker};
use super::net::{Near, Net, Unrest, behind};
use super::record::{Avalanche, Slid};
use super::slides::{FASTEST, Slides};
use crate::contact::visit::frames;
use crate::math::{Quat, Vec3};
use crate::model::Model;
use crate::particles::Particles;
use crate::solver::between::field_force;
use crate::state::State;
use crate::structure::{Action, Backend, GROUND};
use std::collections::BTreeMap;

/// Times the grains are looked at where they are, before they are taken not to come to rest.
const LOOKS: usize = 2000;

/// Rounds of changes at one look.
const ROUNDS: usize = 20_000;

/// How often a joint may be taken out at one look before it stays out.
const OPENED: u32 = 3;

/// Farthest way of a grain between two looks, in radii: beyond, nothing is small any more.
pub(super) const FARTHEST: f64 = 0.01;

/// Forces are known up to this part of stiffness times radius times the square of the farthest way in radii: springs are
/// straight, ways are not.
const BENT: f64 = 0.1;

/// And up to this part of what was not in balance at first.
const ROUGH: f64 = 1e-4;

/// Springs as they are at the first look: the nearer to them the structure, the fewer looks there are. It serves for all looks
/// unless grains move far. What has opened by then is no contact; later, what opens pulls until it is taken out in its turn.
const FIRST: Likeness = Likeness { open: 0.0, normal: 0.1, tangential: 0.05, angle: 0.002, changes: 12 };
const LATER: Likeness =
    Likeness { open: f64::NEG_INFINITY, normal: 0.2, tangential: 0.2, angle: 0.02, changes: usize::MAX };

/// What has been seen of the contacts.
struct Sight {
    joints: Vec<Joint>,
    /// Grains that may come to touch, where these were found and nothing has opened since.
    gaps: Option<Vec<Joint>>,
    near: Near,
    /// Looks before this one.
    looks: usize,
}

impl Sight {
    /// The same where the grains are now.
    fn again(self, model: &Model, looker: &Looker) -> Self {
        let near = if self.near.is_old() { Near::new(model, looker.p, looker) } else { self.near };
        let gaps = self.gaps.filter(|_| near.gaps_are_true()).map(|gaps| looker.again(gaps));
        Self { joints: looker.again(self.joints), gaps, near, looks: self.looks + 1 }
    }
}

/// How a look ends.
enum End {
    /// All were at rest.
    Rest,
    /// They have moved.
    Moving,
    /// These have lost their last support.
    Falls(Vec<usize>),
}

impl Net {
    /// Brings the grains to rest. What they did is in `avalanche`.
    pub fn restore(&mut self, model: &Model, state: &mut State, avalanche: &mut Avalanche) -> Result<(), Unrest> {
        let frames = frames(model, state, state.time, 0.0);
        let mut sight: Option<Sight> = None;
        let mut last = Vec::new();
        // A run begun anew knows nothing of them.
        self.slides = Slides::default();
        for _ in 0..LOOKS {
            let looker = Looker::new(model, &state.particles, &frames, self.freedom().turns());
            let mut seen = match sight.take() {
                Some(seen) => seen.again(model, &looker),
                None => {
                    self.find_nodes(state);
                    let near = Near::new(model, &state.particles, &looker);
                    Sight { joints: looker.all(&state.contacts), gaps: None, near, looks: 0 }
                }
            };
            let (mut u, mut slid) = (vec![0.0; 0], std::mem::take(&mut state.statics.slid));
            let end = self.look(model, state, &looker, &mut seen, &mut u, &mut slid, avalanche);
            state.statics.slid = slid;
            if !matches!(end, Ok(End::Moving)) {
                state.contacts = looker.contacts(&seen.joints);
            }
            seen.near.way += self.displace(state, &u);
            last = u;
            match end? {
                End::Rest => return Ok(()),
                End::Moving => sight = Some(seen),
                End::Falls(grains) => self.let_fall(model, state, grains, avalanche)?,
            }
        }
        Err(Unrest::of(self.moving(&state.particles, &last)))
    }

    /// Grains that go at least half as far as the one that goes farthest.
    fn moving(&self, p: &Particles, u: &[f64]) -> Vec<usize> {
        let farthest = self.way(p, u);
        let way = |g: &usize| self.freedom().shift(u, self.node[*g]).by.length() / p.radius(*g);
        (0..p.owned()).filter(|g| self.node[*g] != GROUND && 2.0 * way(g) > farthest).collect()
    }

    /// Looks at the contacts where the grains are and brings them to rest close to it.
    fn look(
        &mut self,
        model: &Model,
        state: &State,
        looker: &Looker,
        seen: &mut Sight,
        u: &mut Vec<f64>,
        slid: &mut BTreeMap<Key, Slid>,
        avalanche: &mut Avalanche,
    ) -> Result<End, Unrest> {
        let p = &state.particles;
        let joints = &mut seen.joints;
        let before = joints.len();
        self.renew(joints, if seen.looks == 0 { &FIRST } else { &LATER });
        self.complete(p, joints)?;
        let kept = seen.gaps.take().filter(|_| joints.len() == before);
        let mut gaps = self.gaps(p, &mut seen.near, looker, joints, kept);
        let loose = self.support(p, joints, &mut gaps)?;
        if !loose.is_empty() && model.uniform_acceleration() != Vec3::ZERO {
            return Ok(End::Falls(loose));
        }
        self.aim(joints);
        self.aim(&mut gaps);
        let loads = self.loads(model, state);
        let slack = self.slack(p, &loads, joints);
        u.resize(self.structure.frame.size(), 0.0);
        let opened = avalanche.disconnected;
        let settled = self.settle(model, state, loads, slack, joints, &mut gaps, u, slid, avalanche);
        gaps.retain(|gap| !gap.key.is_of_wall());
        seen.gaps = (avalanche.disconnected == opened).then_some(gaps);
        let end = match settled {
            Err(Unrest { falls, .. }) if !falls.is_empty() => End::Falls(falls),
            Ok(true) => End::Rest,
            Ok(false) => End::Moving,
            Err(unrest) => return Err(unrest),
        };
        if let End::Falls(falls) = &end {
            joints.retain(|joint| !behind(p, joint).iter().any(|g| falls.contains(g)));
        }
        for joint in joints {
            joint.spring = joint.after(self.structure.frame.freedom, u).spring;
        }
        Ok(end)
    }

    /// Lets grains down that have lost their support, the lowest first.
    fn let_fall(
        &mut self,
        model: &Model,
        state: &mut State,
        mut falls: Vec<usize>,
        avalanche: &mut Avalanche,
    ) -> Result<(), Unrest> {
        if falls.is_empty() {
            return Ok(());
        }
        self.let_go(state, &falls)?;
        let up = -model.uniform_acceleration();
        let height = |g: &usize| state.particles.position(*g).dot(up);
        falls.sort_by(|a, b| height(a).total_cmp(&height(b)));
        for g in falls {
            // One that is squeezed stays where it is, and what it overlaps holds it.
            if let Some(centre) = super::resting_place(model, state, state.particles.place[g], Some(g)) {
                state.particles.place[g].position = centre;
            }
            avalanche.fallen += 1;
        }
        Ok(())
    }

    /// Loads of the fields on all nodes.
    fn loads(&self, model: &Model, state: &State) -> Vec<f64> {
        let mut f = vec![0.0; self.structure.frame.size()];
        for (i, &node) in self.node.iter().enumerate().filter(|(_, node)| **node != GROUND) {
            let force: Vec3 = model
                .fields
                .iter()
                .map(|field| field_force(&**field, &state.particles, i, state.step, state.time))
                .sum();
            self.freedom().load(&mut f, node, &Action { force, couple: Vec3::ZERO });
        }
        f
    }

    /// Force that counts as none \[N\].
    fn slack(&self, p: &Particles, loads: &[f64], joints: &[Joint]) -> f64 {
        let weight = loads.iter().fold(0.0, |m: f64, f| m.max(f.abs()));
        let push = joints.iter().fold(0.0, |m: f64, joint| m.max(joint.push));
        let scale = if weight > 0.0 { weight } else { push };
        // Places have a last digit, and so have forces of stiff contacts.
        let stiffness = joints.iter().fold(0.0, |m: f64, joint| m.max(joint.link.stiffness[0]));
        let farthest = p.place.iter().fold(0.0, |m: f64, place| m.max(place.position.abs().max_element()));
        (self.settings.tolerance * scale).max(4.0 * f64::EPSILON * stiffness * farthest)
    }

    /// What acts on each node where the grains are.
    fn acting(&self, loads: Vec<f64>, joints: &[Joint]) -> Vec<f64> {
        let mut acting = loads;
        for joint in joints {
            let [a, b] = joint.link.ends;
            self.freedom().load(&mut acting, a, &joint.base[0]);
            self.freedom().load(&mut acting, b, &joint.base[1]);
        }
        acting
    }

    /// What is not in balance on each node after displacements, and the largest of it, moments over a radius.
    fn weigh(&self, p: &Particles, acting: &[f64], joints: &[Joint], u: &[f64]) -> (Vec<f64>, f64) {
        let freedom = self.freedom();
        let mut r = acting.to_vec();
        for joint in joints {
            let [on_a, on_b] = joint.link.actions(joint.after(freedom, u).more);
            freedom.load(&mut r, joint.link.ends[0], &on_a);
            freedom.load(&mut r, joint.link.ends[1], &on_b);
        }
        let mut worst = 0.0f64;
        for (i, &node) in self.node.iter().enumerate().filter(|(_, node)| **node != GROUND) {
            let Action { force, couple } = freedom.action(&r, node);
            worst = worst.max(force.abs().max_element()).max(couple.abs().max_element() / p.radius(i));
        }
        (r, worst)
    }

    /// Solves and changes until nothing is to be changed but what the next look will tell better, for grains that stay close to
    /// where they are. Returns whether everything was at rest to begin with.
    fn settle(
        &mut self,
        model: &Model,
        state: &State,
        loads: Vec<f64>,
        slack: f64,
        joints: &mut Vec<Joint>,
        gaps: &mut Vec<Joint>,
        u: &mut Vec<f64>,
        slid: &mut BTreeMap<Key, Slid>,
        avalanche: &mut Avalanche,
    ) -> Result<bool, Unrest> {
        let (p, freedom) = (&state.particles, self.freedom());
        let m = freedom.size();
        let mut at_rest = true;
        let (mut last, mut stuck) = (f64::INFINITY, 0);
        let mut tempo = FASTEST;
        let mut acting = self.acting(loads, joints);
        let mut first = 0.0f64;
        let bend = joints.iter().map(|joint| joint.link.stiffness[0] * p.radius(joint.i)).fold(0.0, f64::max);
        for _ in 0..ROUNDS {
            let (mut r, worst) = self.weigh(p, &acting, joints, u);
            first = first.max(worst);
            if worst.is_nan() {
                return Err(Unrest::of(Vec::new()));
            }
            // What the next look will tell better is left to it.
            let way = self.way(p, u);
            let enough = slack.max(BENT * bend * way * way).max(ROUGH * first);
            if worst <= enough {
                let held: Vec<Held> = joints.iter().map(|joint| joint.after(freedom, u)).collect();
                let changed = self.connect(p, joints, gaps, u, way, enough, avalanche)?
                    || self.disconnect(p, joints, gaps, &held, enough, avalanche)?;
                if !changed && !self.slide_all(joints, &held, enough, &mut tempo, u, slid, avalanche, p) {
                    avalanche.unbalanced = worst;
                    return Ok(at_rest);
                }
                at_rest = false;
                (last, stuck) = (f64::INFINITY, 0);
                if changed {
                    tempo = FASTEST;
                    // New nodes have no displacement yet, and some load.
                    u.resize(self.structure.frame.size(), 0.0);
                    acting = self.acting(self.loads(model, state), joints);
                } else if self.way(p, u) > FARTHEST {
                    return Ok(false);
                }
                continue;
            }
            // Solve for what is not in balance; what is nearly in balance is left alone.
            at_rest = false;
            for node in r.chunks_exact_mut(m) {
                if node.iter().all(|r| r.abs() < 1e-2 * slack) {
                    node.fill(0.0);
                }
            }
            let mut step = vec![0.0; u.len()];
            self.structure.backend.respond(&self.structure.frame, &r, &mut step);
            avalanche.solutions += 1;
            // As far as nothing moves too far at once: springs are straight for small ways only.
            let part = self.part_of(p, u, &step);
            u.iter_mut().zip(&step).for_each(|(u, s)| *u += part * s);
            if part < 1.0 {
                return Ok(false);
            }
            stuck = if worst > 0.5 * last { stuck + 1 } else { 0 };
            last = worst;
            if stuck > 20 {
                return Err(Unrest::of(Vec::new()));
            }
        }
        let sliding = joints.iter().filter(|j| j.excess(&j.after(freedom, u)) > slack).map(|j| j.i).collect();
        Err(Unrest::of(sliding))
    }

    /// The part of a step that takes no grain farther than it may go between two looks.
    fn part_of(&self, p: &Particles, u: &[f64], step: &[f64]) -> f64 {
        let freedom = self.freedom();
        let mut part = 1.0f64;
        for (i, &node) in self.node.iter().enumerate().filter(|(_, node)| **node != GROUND) {
            let (before, more) = (freedom.shift(u, node).by, freedom.shift(step, node).by);
            let allowed = FARTHEST * p.radius(i);
            if (before + more).length() > allowed {
                // |before + part more| = allowed.
                let (a, b, c) = (more.length_squared(), before.dot(more), before.length_squared() - allowed * allowed);
                let root = ((b * b - a * c).max(0.0).sqrt() - b) / a;
                part = part.min(root.max(0.0));
            }
        }
        part
    }

    /// The gap that is closed the most becomes a joint, of those that meet at a grain; and so in each place.
    fn connect(
        &mut self,
        p: &Particles,
        joints: &mut Vec<Joint>,
        gaps: &mut Vec<Joint>,
        u: &[f64],
        way: f64,
        slack: f64,
        avalanche: &mut Avalanche,
    ) -> Result<bool, Unrest> {
        let freedom = self.freedom();
        // No gap closes by more than both ways.
        let farthest = 2.0 * way * p.place.iter().fold(0.0, |m: f64, place| m.max(place.radius));
        let closed = |(k, gap): (usize, &Joint)| {
            if gap.push + gap.link.stiffness[0] * farthest < 0.0 {
                return None;
            }
            let push = gap.after(freedom, u).push;
            (push > slack && gap.opened < OPENED).then_some((-push, k))
        };
        let mut chosen = worst_of_each_place(p, gaps, gaps.iter().enumerate().filter_map(closed).collect());
        if chosen.is_empty() {
            return Ok(false);
        }
        chosen.sort_unstable_by(|a, b| b.cmp(a));
        let nodes = self.structure.frame.nodes;
        for k in chosen {
            let mut joint = gaps.swap_remove(k);
            // Its tangential spring begins here.
            joint.slid = joint.after(freedom, u).spring;
            avalanche.connected += 1;
            joints.push(joint);
        }
        self.complete(p, joints)?;
        if self.structure.frame.nodes > nodes {
            self.aim(joints);
            self.aim(gaps);
        }
        Ok(true)
    }

    /// The joint that pulls the most goes, of those that meet at a grain; and so in each place.
    fn disconnect(
        &mut self,
        p: &Particles,
        joints: &mut Vec<Joint>,
        gaps: &mut Vec<Joint>,
        held: &[Held],
        slack: f64,
        avalanche: &mut Avalanche,
    ) -> Result<bool, Unrest> {
        let pulling = held.iter().enumerate().filter(|(_, held)| held.push < -slack);
        let mut chosen = worst_of_each_place(p, joints, pulling.map(|(k, held)| (held.push, k)).collect());
        let Some(&worst) = chosen.first() else { return Ok(false) };
        let of = |k: &usize| (joints[*k].key, joints[*k].number);
        if !self.take_out(&chosen.iter().map(of).collect::<Vec<_>>()) {
            // Something hung on them: the worst alone, and what hangs on that falls.
            if !self.take_out(&[of(&worst)]) {
                return Err(Unrest { grains: behind(p, &joints[worst]), falls: hanging(p, joints, worst) });
            }
            chosen.truncate(1);
        }
        avalanche.disconnected += chosen.len() as u64;
        chosen.sort_unstable_by(|a, b| b.cmp(a));
        for k in chosen {
            gaps.push(joints.swap_remove(k).open());
        }
        Ok(true)
    }

    /// Moves and turns the grains; returns the farthest way, in radii.
    fn displace(&self, state: &mut State, u: &[f64]) -> f64 {
        if u.is_empty() {
            return 0.0;
        }
        let way = self.way(&state.particles, u);
        for (i, &node) in self.node.iter().enumerate().filter(|(_, node)| **node != GROUND) {
            let shift = self.freedom().shift(u, node);
            state.particles.place[i].position += shift.by;
            let turned = Quat::from_scaled_axis(shift.turn) * state.particles.orientation[i];
            state.particles.orientation[i] = turned.normalize();
        }
        way
    }

    /// The farthest way of a grain, in radii.
    fn way(&self, p: &Particles, u: &[f64]) -> f64 {
        let nodes = self.node.iter().enumerate().filter(|(_, node)| **node != GROUND && !u.is_empty());
        let square = |(i, &node): (usize, &u32)| {
            let radius = p.radius(i);
            self.freedom().shift(u, node).by.length_squared() / (radius * radius)
        };
        nodes.map(square).fold(0.0, f64::max).sqrt()
    }
}

/// Of joints with a measure the one with the least, then that with the least which shares no grain with it, and so on.
fn worst_of_each_place(p: &Particles, joints: &[Joint], mut measured: Vec<(f64, usize)>) -> Vec<usize> {
    measured.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut taken = std::collections::HashSet::new();
    let is_apart = |k: &usize| {
        let grains = behind(p, &joints[*k]);
        let free = grains.iter().all(|g| !taken.contains(g));
        taken.extend(grains);
        free
    };
    measured.into_iter().map(|(_, k)| k).filter(is_apart).collect()
}

/// Grains that hang on joint `k` alone, the nearest to it last.
fn hanging(p: &Particles, joints: &[Joint], k: usize) -> Vec<usize> {
    let mut near: Vec<Vec<usize>> = vec![Vec::new(); p.owned()];
    let mut held = vec![false; p.owned()];
    for joint in joints.iter().enumerate().filter(|(other, _)| *other != k).map(|(_, joint)| joint) {
        match *behind(p, joint).as_slice() {
            [a, b] => {
                near[a].push(b);
                near[b].push(a);
            }
            [a] => held[a] = true,
            _ => {}
        }
    }
    let reach = |start: Vec<usize>, seen: &mut Vec<bool>| {
        let mut list = start;
        let mut at = 0;
        while at < list.len() {
            for &next in &near[list[at]] {
                if !std::mem::replace(&mut seen[next], true) {
                    list.push(next);
                }
            }
            at += 1;
        }
        list
    };
    let grounded: Vec<usize> = (0..p.owned()).filter(|&g| held[g]).collect();
    reach(grounded, &mut held);
    let mut group = Vec::new();
    for g in behind(p, &joints[k]) {
        if !std::mem::replace(&mut held[g], true) {
            group.extend(reach(vec![g], &mut held));
        }
    }
    group.reverse();
    group
}
