//! The way to rest: solve, then connect what overlaps, disconnect what pulls, slide what slips, in this order, until nothing of
//! it is left (Gavrilov 1999, section 4.5), and then once more where the grains now are.

use super::joints::{Held, Joint, Key, Looker, Other};
use super::net::{Net, Unrest, behind};
use super::record::{Avalanche, Slid};
use super::slides::Slides;
use crate::contact::visit::frames;
use crate::math::{Quat, Vec3};
use crate::model::Model;
use crate::particles::Particles;
use crate::solver::between::field_force;
use crate::state::State;
use crate::structure::{Action, Backend, GROUND};
use std::collections::BTreeMap;

/// Times the grains are looked at where they are, before they are taken not to come to rest.
const LOOKS: usize = 5000;

/// Rounds of changes at one look.
const ROUNDS: usize = 20_000;

/// Farthest way of a grain between two looks, in radii: beyond, nothing is small any more.
const FARTHEST: f64 = 0.01;

impl Net {
    /// Brings the grains to rest. What they did is in `avalanche`.
    pub fn restore(&mut self, model: &Model, state: &mut State, avalanche: &mut Avalanche) -> Result<(), Unrest> {
        for _ in 0..LOOKS {
            self.find_nodes(state);
            let frames = frames(model, state, state.time, 0.0);
            let p = &state.particles;
            let looker = Looker::new(model, p, frames, self.freedom().turns());
            let mut joints = looker.all(&state.contacts);
            self.renew(&mut joints);
            self.complete(p, &mut joints)?;
            let mut gaps = self.gaps(model, p, &looker, &joints);
            let loose = self.support(p, &mut joints, &mut gaps)?;
            if !loose.is_empty() && model.uniform_acceleration() != Vec3::ZERO {
                self.let_fall(model, state, loose, avalanche)?;
                continue;
            }
            let loads = self.loads(model, state);
            let slack = self.slack(p, &loads, &joints);
            let (mut u, slid) = (vec![0.0; self.structure.frame.size()], &mut state.statics.slid);
            let settled = self.settle(p, &loads, slack, &mut joints, &mut gaps, &mut u, slid, avalanche);
            let (settled, falls) = match settled {
                Err(Unrest { falls, .. }) if !falls.is_empty() => (false, falls),
                other => (other?, Vec::new()),
            };
            joints.retain(|joint| !behind(p, joint).iter().any(|g| falls.contains(g)));
            for joint in &mut joints {
                joint.spring = joint.after(self.structure.frame.freedom, &u, &self.node).spring;
            }
            let contacts = looker.contacts(&joints);
            self.displace(state, &u);
            state.contacts = contacts;
            self.let_fall(model, state, falls, avalanche)?;
            if settled {
                return Ok(());
            }
        }
        Err(Unrest::of(Vec::new()))
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
        (self.settings.tolerance * scale).max(64.0 * f64::EPSILON * stiffness * farthest)
    }

    /// What is not in balance on each node, moments over a radius.
    fn unbalanced(&self, p: &Particles, loads: &[f64], joints: &[Joint], u: &[f64]) -> (Vec<f64>, f64) {
        let freedom = self.freedom();
        let mut r = loads.to_vec();
        for joint in joints {
            let actions = joint.actions(&joint.after(freedom, u, &self.node));
            let second = match joint.other {
                Other::Grain(j) => self.node[j],
                Other::Wall { .. } => GROUND,
            };
            freedom.load(&mut r, self.node[joint.i], &actions[0]);
            freedom.load(&mut r, second, &actions[1]);
        }
        let mut worst = 0.0f64;
        for (i, &node) in self.node.iter().enumerate().filter(|(_, node)| **node != GROUND) {
            let Action { force, couple } = freedom.action(&r, node);
            worst = worst.max(force.abs().max_element()).max(couple.abs().max_element() / p.radius(i));
        }
        (r, worst)
    }

    /// Solves and changes until nothing is to be changed, for grains that stay close to where they are. Returns whether
    /// everything was at rest to begin with.
    fn settle(
        &mut self,
        p: &Particles,
        loads: &[f64],
        slack: f64,
        joints: &mut Vec<Joint>,
        gaps: &mut Vec<Joint>,
        u: &mut Vec<f64>,
        slid: &mut BTreeMap<Key, Slid>,
        avalanche: &mut Avalanche,
    ) -> Result<bool, Unrest> {
        let freedom = self.freedom();
        let m = freedom.size();
        let mut at_rest = true;
        let (mut last, mut stuck) = (f64::INFINITY, 0);
        let mut slid_last = false;
        let mut contacts = (avalanche.connected, avalanche.disconnected);
        let mut slides = Slides { answers: BTreeMap::new(), tempo: 4.0 };
        for _ in 0..ROUNDS {
            // Slides keep the balance, but for rounding.
            let (mut r, worst) = if slid_last { (Vec::new(), 0.0) } else { self.unbalanced(p, loads, joints, u) };
            if worst.is_nan() {
                return Err(Unrest::of(Vec::new()));
            }
            if worst > slack {
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
                continue;
            }
            (last, stuck) = (f64::INFINITY, 0);
            if !slid_last {
                avalanche.unbalanced = worst;
            }
            let rounds = avalanche.rounds;
            let held: Vec<Held> = joints.iter().map(|joint| joint.after(freedom, u, &self.node)).collect();
            let changed = self.connect_one(p, joints, gaps, u, slack, avalanche)?
                || self.disconnect_one(p, joints, &held, slack, avalanche)?
                || self.slide_all(joints, &held, slack, &mut slides, u, slid, avalanche, p);
            if !changed && !slid_last {
                return Ok(at_rest);
            }
            slid_last = avalanche.rounds > rounds;
            if (avalanche.connected, avalanche.disconnected) != contacts {
                contacts = (avalanche.connected, avalanche.disconnected);
                slides.answers.clear();
            }
            // New nodes have no displacement yet.
            u.resize(self.structure.frame.size(), 0.0);
            at_rest = false;
        }
        let sliding =
            joints.iter().filter(|j| j.excess(&j.after(freedom, u, &self.node)) > slack).map(|j| j.i).collect();
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

    /// The gap that is closed the most becomes a joint.
    fn connect_one(
        &mut self,
        p: &Particles,
        joints: &mut Vec<Joint>,
        gaps: &mut Vec<Joint>,
        u: &[f64],
        slack: f64,
        avalanche: &mut Avalanche,
    ) -> Result<bool, Unrest> {
        let freedom = self.freedom();
        let pushes = gaps.iter().map(|gap| gap.after(freedom, u, &self.node).push);
        let most = pushes.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((k, _)) = most.filter(|(_, push)| *push > slack) else {
            return Ok(false);
        };
        let mut joint = gaps.swap_remove(k);
        // Its tangential spring begins here.
        joint.slid = joint.after(freedom, u, &self.node).spring;
        avalanche.connected += 1;
        joints.push(joint);
        self.complete(p, joints)?;
        Ok(true)
    }

    /// The joint that pulls the most goes.
    fn disconnect_one(
        &mut self,
        p: &Particles,
        joints: &mut Vec<Joint>,
        held: &[Held],
        slack: f64,
        avalanche: &mut Avalanche,
    ) -> Result<bool, Unrest> {
        let worst = (0..joints.len()).min_by(|&a, &b| held[a].push.total_cmp(&held[b].push));
        let Some(k) = worst.filter(|&k| held[k].push < -slack) else { return Ok(false) };
        let joint = joints[k];
        if !self.disconnect(joint.key, joint.number) {
            // It was the last support of one grain or several, which fall.
            return Err(Unrest { grains: behind(p, &joint), falls: hanging(p, joints, k) });
        }
        avalanche.disconnected += 1;
        joints.swap_remove(k);
        Ok(true)
    }

    /// Moves and turns the grains.
    fn displace(&self, state: &mut State, u: &[f64]) {
        for (i, &node) in self.node.iter().enumerate().filter(|(_, node)| **node != GROUND) {
            let shift = self.freedom().shift(u, node);
            state.particles.place[i].position += shift.by;
            let turned = Quat::from_scaled_axis(shift.turn) * state.particles.orientation[i];
            state.particles.orientation[i] = turned.normalize();
        }
    }
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
