//! The way to rest: solve, then connect what overlaps, disconnect what pulls, slide what slips, in this order, until nothing of
//! it is left (Gavrilov 1999, section 4.5), and then once more where the grains now are.

use super::joints::{Held, Joint, Key, Looker, Other};
use super::record::{Avalanche, Built, Change, Slid};
use crate::contact::visit::frames;
use crate::math::{Quat, Vec3};
use crate::model::{Model, StaticSettings};
use crate::neighbor;
use crate::particles::Particles;
use crate::solver::between::field_force;
use crate::state::State;
use crate::structure::{Action, Backend, Freedom, GROUND, Link, Structure, dense};
use std::collections::{BTreeMap, BTreeSet};

/// Times the grains are looked at where they are, before they are taken not to come to rest.
const LOOKS: usize = 1000;

/// Rounds of changes at one look.
const ROUNDS: usize = 20_000;

/// Farthest way of a grain between two looks, in radii: beyond, nothing is small any more.
const FARTHEST: f64 = 0.1;

/// How far around a grain others are looked for, in radii.
const NEAR: f64 = 0.2;

/// Gap up to which a grain that was let down rests on what is below it, in radii.
const TOUCHING: f64 = 1e-6;

/// Cosine of the angle between slides that count as having the same direction.
const SAME: f64 = 1.0 - 1e-12;

/// Longest time of a slide.
const FASTEST: f64 = 1e6;

/// Farthest slide at once, in radii.
const STRIDE: f64 = 0.01;

/// Stiffness beside that of contacts with which nodes that can roll are held in the matrix, though not in what is balanced.
const FIRM: f64 = 1e-9;

/// Why grains do not come to rest.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unrest {
    /// Indices of grains that move.
    pub grains: Vec<usize>,
    /// Those that have lost their last support, the nearest to it last.
    pub falls: Vec<usize>,
}

impl Unrest {
    fn of(grains: Vec<usize>) -> Self {
        Self { grains, falls: Vec::new() }
    }
}

/// A structure of grains.
pub(super) struct Net {
    pub structure: Structure<Box<dyn Backend>>,
    pub settings: StaticSettings,
    /// How it came about.
    pub built: Built,
    /// Node of each grain; the ground of those that are fixed or touch nothing.
    node: Vec<u32>,
    /// How often it has been looked at since it was made anew.
    pub watched: usize,
}

impl Net {
    pub fn new(structure: Structure<Box<dyn Backend>>, settings: StaticSettings, built: Built) -> Self {
        let watched = built.changes.len() / super::WATCH_EVERY;
        Self { structure, settings, built, node: Vec::new(), watched }
    }

    fn freedom(&self) -> Freedom {
        self.structure.frame.freedom
    }

    fn find_nodes(&mut self, state: &State) {
        let p = &state.particles;
        let place: std::collections::HashMap<u64, u32> =
            self.built.nodes.iter().enumerate().map(|(node, &id)| (id, node as u32)).collect();
        self.node = p.id.iter().map(|id| place.get(id).copied().unwrap_or(GROUND)).collect();
    }

    /// The link of a joint, between nodes.
    fn link(&self, joint: &Joint) -> Link {
        let second = match joint.other {
            Other::Grain(j) => self.node[j],
            Other::Wall { .. } => GROUND,
        };
        Link { ends: [self.node[joint.i], second], ..joint.link }
    }

    /// Links that hold a node of its own accord, where it could roll.
    fn firm(&self, node: u32, radius: f64, stiffness: f64) -> Vec<Link> {
        if !self.freedom().turns() {
            return Vec::new();
        }
        crate::structure::free::ground(self.freedom(), node, FIRM * stiffness, radius)
    }

    /// Makes nodes of grains that touch something and links of joints that have none.
    fn complete(&mut self, p: &Particles, joints: &mut [Joint]) -> Result<(), Unrest> {
        let mut fresh: Vec<usize> = Vec::new();
        for joint in joints.iter() {
            let second = if let Other::Grain(j) = joint.other { Some(j) } else { None };
            for g in [Some(joint.i), second].into_iter().flatten() {
                if self.node[g] == GROUND && !p.is_fixed(g) && !fresh.contains(&g) {
                    fresh.push(g);
                }
            }
        }
        for g in fresh {
            // With its links to nodes and to the ground; links to grains without a node come with theirs.
            self.node[g] = self.structure.next_node();
            let of_it = |joint: &Joint| joint.i == g || joint.other == Other::Grain(g);
            let known = |net: &Self, joint: &Joint| match joint.other {
                Other::Grain(j) => {
                    let other = if joint.i == g { j } else { joint.i };
                    p.is_fixed(other) || net.node[other] != GROUND
                }
                Other::Wall { .. } => true,
            };
            let chosen: Vec<usize> = (0..joints.len())
                .filter(|&k| joints[k].number == u32::MAX && of_it(&joints[k]) && known(self, &joints[k]))
                .collect();
            let mut links: Vec<Link> = chosen.iter().map(|&k| self.link(&joints[k])).collect();
            let stiffness = joints.iter().find(|joint| of_it(joint)).map_or(1.0, |joint| joint.link.stiffness[0]);
            links.extend(self.firm(self.node[g], p.radius(g), stiffness));
            let numbers = self.structure.attach(&links).map_err(|_| Unrest::of(vec![g]))?;
            self.built.changes.push(Change::Attach(links));
            self.built.nodes.push(p.id[g]);
            for (&k, number) in chosen.iter().zip(numbers) {
                joints[k].number = number;
                self.built.numbers.insert(joints[k].key, number);
            }
        }
        let rest: Vec<usize> = (0..joints.len()).filter(|&k| joints[k].number == u32::MAX).collect();
        if !rest.is_empty() {
            let links: Vec<Link> = rest.iter().map(|&k| self.link(&joints[k])).collect();
            let numbers = self.connect(links);
            for (&k, number) in rest.iter().zip(numbers) {
                joints[k].number = number;
                self.built.numbers.insert(joints[k].key, number);
            }
        }
        Ok(())
    }

    fn connect(&mut self, links: Vec<Link>) -> Vec<u32> {
        let numbers = self.structure.connect(&links).expect("more links never loosen anything");
        self.built.changes.push(Change::Connect(links));
        numbers
    }

    fn disconnect(&mut self, key: Key, number: u32) -> bool {
        let done = self.structure.disconnect(&[number]).is_ok();
        if done {
            self.built.changes.push(Change::Disconnect(vec![number]));
            self.built.numbers.remove(&key);
        }
        done
    }

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
            let heavy = model.uniform_acceleration() != Vec3::ZERO;
            self.support(p, &mut joints, &mut gaps, heavy)?;
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
        for &g in &falls {
            self.let_go(state, g)?;
            self.find_nodes(state);
        }
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

    /// Takes the node of a grain out of the structure.
    fn let_go(&mut self, state: &State, g: usize) -> Result<(), Unrest> {
        let node = self.node[g];
        self.structure.drop_node(node).map_err(|_| Unrest::of(vec![g]))?;
        self.built.changes.push(Change::Drop(node));
        self.built.nodes.swap_remove(node as usize);
        let id = state.particles.id[g];
        self.built.numbers.retain(|key, _| match *key {
            Key::Pair(a, b) => a != id && b != id,
            Key::Wall(a, ..) => a != id,
        });
        Ok(())
    }

    /// Gives joints the numbers of their links. Those that have opened or whose springs have changed are taken out of the
    /// structure; the first are forgotten.
    fn renew(&mut self, joints: &mut Vec<Joint>) {
        let mut stale = Vec::new();
        for joint in joints.iter_mut() {
            let Some(&number) = self.built.numbers.get(&joint.key) else { continue };
            let known = self.structure.frame.links[number as usize].expect("it has a number");
            if joint.push > 0.0 && joint.resembles(&known) {
                (joint.number, joint.link) = (number, known);
            } else if joint.push > 0.0 {
                stale.push(joint.key);
            }
        }
        // New springs beside the old ones before these go, so that nothing comes loose.
        let fresh: Vec<usize> = (0..joints.len()).filter(|&k| stale.contains(&joints[k].key)).collect();
        let old: Vec<(Key, u32)> = stale.iter().map(|key| (*key, self.built.numbers[key])).collect();
        if !fresh.is_empty() {
            let links = fresh.iter().map(|&k| self.link(&joints[k])).collect();
            let numbers = self.connect(links);
            for (key, number) in old {
                self.disconnect(key, number);
            }
            for (&k, number) in fresh.iter().zip(numbers) {
                joints[k].number = number;
                self.built.numbers.insert(joints[k].key, number);
            }
        }
        // Links of contacts that are no more.
        let present: BTreeSet<Key> = joints.iter().filter(|joint| joint.push > 0.0).map(|joint| joint.key).collect();
        let gone: Vec<(Key, u32)> =
            self.built.numbers.iter().filter(|(key, _)| !present.contains(key)).map(|(k, n)| (*k, *n)).collect();
        for (key, number) in gone {
            self.disconnect(key, number);
        }
        let kept = &self.built.numbers;
        joints.retain(|joint| joint.push > 0.0 || kept.contains_key(&joint.key));
        for joint in joints.iter_mut().filter(|joint| joint.number == u32::MAX) {
            joint.number = kept.get(&joint.key).copied().unwrap_or(u32::MAX);
        }
    }

    /// What may come to touch: joints with open gaps.
    fn gaps(&self, model: &Model, p: &Particles, looker: &Looker, joints: &[Joint]) -> Vec<Joint> {
        let known: BTreeSet<Key> = joints.iter().map(|joint| joint.key).collect();
        let r_max = p.place.iter().map(|place| place.radius).fold(0.0, f64::max);
        let mut gaps = Vec::new();
        let candidates = neighbor::search(&p.place, &model.cell, NEAR * r_max, neighbor::Method::Grid);
        let candidates = candidates.expect("places are finite");
        for i in 0..p.owned() {
            for &j in candidates.row(i) {
                let j = j as usize;
                if p.is_fixed(i) && p.is_fixed(j) {
                    continue;
                }
                let joint = looker.pair(i, j, None);
                if !known.contains(&joint.key) {
                    gaps.push(joint);
                }
            }
        }
        let mut touches = Vec::new();
        for i in (0..p.owned()).filter(|&i| !p.is_fixed(i)) {
            for w in (0..model.walls.len()).filter(|&w| model.walls[w].active) {
                looker.touches(i, w, NEAR * p.radius(i), &mut touches);
                for found in &touches {
                    let joint = looker.wall(i, w, found, None);
                    if !known.contains(&joint.key) {
                        gaps.push(joint);
                    }
                }
            }
        }
        gaps
    }

    /// Grains that touch nothing yet get joints with all they rest on.
    fn support(
        &mut self,
        p: &Particles,
        joints: &mut Vec<Joint>,
        gaps: &mut Vec<Joint>,
        heavy: bool,
    ) -> Result<(), Unrest> {
        let loose = |g: usize| self.node[g] == GROUND && !p.is_fixed(g);
        let rests = |gap: &Joint| {
            let second = if let Other::Grain(j) = gap.other { loose(j) } else { false };
            (loose(gap.i) || second) && gap.push > -TOUCHING * p.radius(gap.i) * gap.link.stiffness[0]
        };
        let (found, open): (Vec<Joint>, Vec<Joint>) = gaps.drain(..).partition(rests);
        (*joints, *gaps) = ([std::mem::take(joints), found].concat(), open);
        self.complete(p, joints)?;
        let loose: Vec<usize> =
            (0..p.owned()).filter(|&g| heavy && self.node[g] == GROUND && !p.is_fixed(g)).collect();
        if loose.is_empty() { Ok(()) } else { Err(Unrest::of(loose)) }
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
    #[allow(clippy::too_many_arguments)]
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
                let (a, b, c) =
                    (more.length_squared(), before.dot(more), before.length_squared() - allowed * allowed);
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

    /// All joints beyond what friction holds slide: Gavrilov's (4.34)–(4.36) with the sign of E-16, each back to its own limit.
    /// From the second round on they slide together, as contacts with a viscous limit would in a time that doubles from round to
    /// round: those that come to an end are soon there, those that do not move on.
    #[allow(clippy::too_many_arguments)]
    fn slide_all(
        &mut self,
        joints: &mut [Joint],
        held: &[Held],
        slack: f64,
        slides: &mut Slides,
        u: &mut [f64],
        slid: &mut BTreeMap<Key, Slid>,
        avalanche: &mut Avalanche,
        p: &Particles,
    ) -> bool {
        let beyond: Vec<usize> = (0..joints.len()).filter(|&k| joints[k].excess(&held[k]) > slack).collect();
        if beyond.is_empty() {
            return false;
        }
        // What is slow to end is hurried, what would run away is held back.
        let mut ways = None;
        while ways.is_none() && slides.tempo >= 1.0 {
            ways = self.ways(joints, held, &beyond, slides, avalanche);
            slides.tempo *= if ways.is_some() { 4.0 } else { 0.1 };
        }
        slides.tempo = slides.tempo.clamp(2.0, FASTEST);
        let own = |k: usize| joints[k].excess(&held[k]) / joints[k].link.stiffness[1];
        let mut ways = ways.unwrap_or_else(|| beyond.iter().map(|&k| (k, own(k))).collect());
        let longest = ways.iter().map(|&(k, way)| way / p.radius(joints[k].i)).fold(0.0, f64::max);
        if longest > STRIDE {
            ways.iter_mut().for_each(|(_, way)| *way *= STRIDE / longest);
        }
        for (k, way) in ways {
            let (joint, held) = (&mut joints[k], &held[k]);
            let k_t = joint.link.stiffness[1];
            let (along, answer) = &slides.answers[&k];
            joint.slid += *along * way;
            u.iter_mut().zip(answer).for_each(|(u, a)| *u += way * a);
            let (force, limit) = (k_t * held.spring.length(), joint.friction * held.push.max(0.0));
            let of_it = slid.entry(joint.key).or_default();
            of_it.times += 1;
            of_it.heat += limit * way;
            of_it.literal += force * way;
            avalanche.slides += 1;
            avalanche.heat += limit * way;
            avalanche.literal += force * way;
        }
        avalanche.rounds += 1;
        true
    }

    /// How far joints slide in a time (in which one that nothing opposes slides so many times as far as to its limit): the excess at
    /// the end of it makes them slide, (k/t + M) s = excess, where M tells how much a slide of one takes off another. Those that would
    /// slide backwards stick. `None` where they run away.
    fn ways(
        &mut self,
        joints: &[Joint],
        held: &[Held],
        beyond: &[usize],
        slides: &mut Slides,
        avalanche: &mut Avalanche,
    ) -> Option<Vec<(usize, f64)>> {
        let freedom = self.freedom();
        for &k in beyond {
            let direction = held[k].spring.normalize_or_zero();
            if slides.answers.get(&k).is_none_or(|(along, _)| along.dot(direction) < SAME) {
                let link = self.link(&joints[k]);
                let mut r = vec![0.0; self.structure.frame.size()];
                let actions = link.actions(-link.stiffness[1] * direction);
                freedom.load(&mut r, link.ends[0], &actions[0]);
                freedom.load(&mut r, link.ends[1], &actions[1]);
                let mut answer = vec![0.0; r.len()];
                self.structure.backend.respond(&self.structure.frame, &r, &mut answer);
                avalanche.solutions += 1;
                slides.answers.insert(k, (direction, answer));
            }
        }
        let n = beyond.len();
        let mut matrix = vec![0.0; n * n];
        for (q, &other) in beyond.iter().enumerate() {
            let (joint, link) = (&joints[other], self.link(&joints[other]));
            let [k_n, k_t] = link.stiffness;
            let gradient = slides.answers[&other].0 * k_t - link.normal * (joint.friction * k_n);
            for (s, k) in beyond.iter().enumerate() {
                let answer = &slides.answers[k].1;
                let stretch =
                    link.stretch(&freedom.shift(answer, link.ends[0]), &freedom.shift(answer, link.ends[1]));
                matrix[q * n + s] = if q == s { k_t * (1.0 + 1.0 / slides.tempo) } else { 0.0 } - gradient.dot(stretch);
            }
        }
        let mut active: Vec<usize> = (0..n).collect();
        while !active.is_empty() {
            let m = active.len();
            let part: Vec<f64> = (0..m * m).map(|e| matrix[active[e / m] * n + active[e % m]]).collect();
            let inverse = dense::inverse(&part, m)?;
            let excess: Vec<f64> = active.iter().map(|&s| joints[beyond[s]].excess(&held[beyond[s]])).collect();
            let way: Vec<f64> = (0..m).map(|r| (0..m).map(|c| inverse[r * m + c] * excess[c]).sum()).collect();
            if way.iter().all(|way| *way > 0.0) {
                return Some(active.iter().zip(way).map(|(&s, way)| (beyond[s], way)).collect());
            }
            // Where they would all have to go backwards nothing stops them.
            let gained: f64 = way.iter().zip(&excess).map(|(way, excess)| way * excess).sum();
            if gained <= 0.0 {
                return None;
            }
            active = (0..m).filter(|&k| way[k] > 0.0).map(|k| active[k]).collect();
        }
        None
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
        match behind(p, joint).as_slice() {
            &[a, b] => {
                near[a].push(b);
                near[b].push(a);
            }
            &[a] => held[a] = true,
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

/// Grains of a joint that are not fixed.
fn behind(p: &Particles, joint: &Joint) -> Vec<usize> {
    let second = if let Other::Grain(j) = joint.other { Some(j) } else { None };
    [Some(joint.i), second].into_iter().flatten().filter(|&g| !p.is_fixed(g)).collect()
}

/// What is known of slides while contacts are the same.
struct Slides {
    /// Directions of joints and displacements by a slide of one metre.
    answers: BTreeMap<usize, (Vec3, Vec<f64>)>,
    /// Time of the next slide: see [`Net::ways`].
    tempo: f64,
}
