//! The structure of the grains: nodes of those that touch something, links of their contacts, kept like the contacts.

use super::joints::{Joint, Key, Likeness, Looker, Other};
use super::record::{Built, Change};
use super::restore::FARTHEST;
use super::slides::Slides;
use crate::model::{Model, StaticSettings};
use crate::neighbor;
use crate::particles::Particles;
use crate::state::State;
use crate::structure::free::ground;
use crate::structure::{Backend, Frame, Freedom, GROUND, Link, Loose, Structure};
use std::collections::{BTreeSet, HashMap, HashSet};

/// How far around a grain others are looked for, in radii, and how far grains may go before they are looked for anew.
const NEAR: f64 = 0.2;
const ROAM: f64 = 0.05;

/// Gap between grains that is listed, in radii of both: each goes no farther than [`FARTHEST`] between two looks.
const CLOSING: f64 = 0.03;

/// Gap up to which a grain that was let down rests on what is below it, in radii.
const TOUCHING: f64 = 1e-6;

/// Stiffness beside that of contacts with which nodes that can roll are held in the matrix, though not in what is balanced.
const FIRM: f64 = 1e-6;

/// Why grains do not come to rest.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unrest {
    /// Indices of grains that move.
    pub grains: Vec<usize>,
    /// Those that have lost their last support, the nearest to it last.
    pub falls: Vec<usize>,
}

impl Unrest {
    pub(super) fn of(grains: Vec<usize>) -> Self {
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
    pub node: Vec<u32>,
    /// How often it has been looked at since it was made anew.
    pub watched: usize,
    /// What slides do, as long as links stay the same.
    pub slides: Slides,
}

/// Who is near whom, whether they touch or not.
pub(super) struct Near {
    pairs: Vec<[u32; 2]>,
    walls: Vec<(u32, u16)>,
    /// How far grains have gone since, in radii.
    pub way: f64,
    /// How far they had when gaps were listed.
    listed: f64,
}

impl Near {
    /// As grains are now.
    pub fn new(model: &Model, p: &Particles, looker: &Looker) -> Self {
        let r_max = p.place.iter().map(|place| place.radius).fold(0.0, f64::max);
        let candidates = neighbor::search(&p.place, &model.cell, NEAR * r_max, neighbor::Method::Grid);
        let candidates = candidates.expect("places are finite");
        let (mut pairs, mut walls, mut touches) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..p.owned() {
            let movable = |j: &u32| !(p.is_fixed(i) && p.is_fixed(*j as usize));
            pairs.extend(candidates.row(i).iter().copied().filter(movable).map(|j| [i as u32, j]));
            for w in (0..model.walls.len()).filter(|&w| model.walls[w].active && !p.is_fixed(i)) {
                looker.touches(i, w, NEAR * p.radius(i), &mut touches);
                if !touches.is_empty() {
                    walls.push((i as u32, w as u16));
                }
            }
        }
        Self { pairs, walls, way: 0.0, listed: 0.0 }
    }

    /// Whether grains have gone so far that it is no longer true.
    pub fn is_old(&self) -> bool {
        self.way > ROAM
    }

    /// Whether no others than the listed gaps can close before the next look.
    pub fn gaps_are_true(&self) -> bool {
        self.way - self.listed <= CLOSING - FARTHEST
    }
}

impl Net {
    pub fn new(structure: Structure<Box<dyn Backend>>, settings: StaticSettings, built: Built) -> Self {
        let watched = built.changes.len() / super::WATCH_EVERY;
        Self { structure, settings, built, node: Vec::new(), watched, slides: Slides::default() }
    }

    pub(super) fn freedom(&self) -> Freedom {
        self.structure.frame.freedom
    }

    pub(super) fn find_nodes(&mut self, state: &State) {
        let p = &state.particles;
        let place: HashMap<u64, u32> =
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

    /// Tells joints between which nodes they are.
    pub(super) fn aim(&self, joints: &mut [Joint]) {
        for joint in joints {
            joint.link = self.link(joint);
        }
    }

    /// Links that hold a node of its own accord, where it could roll.
    pub(super) fn firm(&self, node: u32, radius: f64, stiffness: f64) -> Vec<Link> {
        if !self.freedom().turns() {
            return Vec::new();
        }
        // In pairs with opposite levers, so that they do not turn what moves.
        let links = ground(self.freedom(), node, FIRM * stiffness, radius);
        let opposite = |link: &Link| Link { levers: link.levers.map(|lever| -lever), ..*link };
        links.iter().flat_map(|link| [*link, opposite(link)]).collect()
    }

    /// Makes nodes of grains that touch something and links of joints that have none.
    pub(super) fn complete(&mut self, p: &Particles, joints: &mut [Joint]) -> Result<(), Unrest> {
        let mut fresh: Vec<usize> = Vec::new();
        let mut seen = vec![false; p.owned()];
        for joint in joints.iter() {
            let second = if let Other::Grain(j) = joint.other { Some(j) } else { None };
            for g in [Some(joint.i), second].into_iter().flatten() {
                if self.node[g] == GROUND && !p.is_fixed(g) && !std::mem::replace(&mut seen[g], true) {
                    fresh.push(g);
                }
            }
        }
        if self.structure.frame.nodes == 0 && fresh.len() > 1 {
            return self.begin(p, fresh, joints);
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
            self.changed(Change::Attach(links));
            self.built.nodes.push(p.id[g]);
            for (&k, number) in chosen.iter().zip(numbers) {
                joints[k].number = number;
                self.built.numbers.insert(joints[k].key, number);
            }
        }
        let rest: Vec<usize> = (0..joints.len()).filter(|&k| joints[k].number == u32::MAX).collect();
        if !rest.is_empty() {
            let links: Vec<Link> = rest.iter().map(|&k| self.link(&joints[k])).collect();
            let numbers = self.put_in(links);
            for (&k, number) in rest.iter().zip(numbers) {
                joints[k].number = number;
                self.built.numbers.insert(joints[k].key, number);
            }
        }
        Ok(())
    }

    /// All nodes and links at once.
    pub(super) fn begin(&mut self, p: &Particles, fresh: Vec<usize>, joints: &mut [Joint]) -> Result<(), Unrest> {
        let mut frame = Frame { freedom: self.freedom(), nodes: fresh.len(), links: Vec::new() };
        for (node, &g) in fresh.iter().enumerate() {
            self.node[g] = node as u32;
            self.built.nodes.push(p.id[g]);
        }
        for joint in joints.iter_mut() {
            joint.number = frame.links.len() as u32;
            frame.links.push(Some(self.link(joint)));
            self.built.numbers.insert(joint.key, joint.number);
        }
        let stiffness = joints.iter().fold(0.0, |m: f64, joint| m.max(joint.link.stiffness[0]));
        for &g in &fresh {
            frame.links.extend(self.firm(self.node[g], p.radius(g), stiffness).into_iter().map(Some));
        }
        self.built.frame = frame.clone();
        self.slides = Slides::default();
        self.structure.begin(frame).map_err(|_| Unrest::of(Vec::new()))
    }

    fn changed(&mut self, change: Change) {
        self.built.changes.push(change);
        self.slides = Slides::default();
    }

    fn put_in(&mut self, links: Vec<Link>) -> Vec<u32> {
        let numbers = self.structure.connect(&links).expect("more links never loosen anything");
        self.changed(Change::Connect(links));
        numbers
    }

    /// Takes out links of contacts; where something would come loose they stay.
    pub(super) fn take_out(&mut self, contacts: &[(Key, u32)]) -> bool {
        let numbers: Vec<u32> = contacts.iter().map(|(_, number)| *number).collect();
        let done = self.structure.disconnect(&numbers).is_ok();
        if done {
            self.changed(Change::Disconnect(numbers));
            for (key, _) in contacts {
                self.built.numbers.remove(key);
            }
        }
        done
    }

    /// Gives joints the numbers of their links. Those that have opened or whose springs have changed are taken out of the
    /// structure; the first are forgotten.
    pub(super) fn renew(&mut self, joints: &mut Vec<Joint>, within: &Likeness) {
        let mut stale: Vec<(usize, u32)> = Vec::new();
        let mut numbered = 0;
        for (k, joint) in joints.iter_mut().enumerate() {
            let number =
                if joint.number == u32::MAX { self.built.numbers.get(&joint.key) } else { Some(&joint.number) };
            let Some(&number) = number.filter(|_| joint.push > within.open) else { continue };
            let known = self.structure.frame.links[number as usize].expect("it has a number");
            numbered += 1;
            joint.number = number;
            if !joint.resembles(&known, within) {
                stale.push((k, number));
            }
        }
        // New springs beside the old ones before these go, so that nothing comes loose.
        let all_anew = self.built.changes.len() >= within.changes && self.renew_all(joints);
        if !all_anew && !stale.is_empty() {
            let links = stale.iter().map(|&(k, _)| self.link(&joints[k])).collect();
            let numbers = self.put_in(links);
            let old: Vec<(Key, u32)> = stale.iter().map(|&(k, old)| (joints[k].key, old)).collect();
            self.take_out(&old);
            for (&(k, _), number) in stale.iter().zip(numbers) {
                joints[k].number = number;
                self.built.numbers.insert(joints[k].key, number);
            }
        }
        if numbered < self.built.numbers.len() {
            self.forget_opened(joints, within.open);
        }
        joints.retain(|joint| joint.push > within.open || joint.number != u32::MAX);
    }

    /// Makes the structure anew of joints as they are, in the way that suits as many nodes. Returns whether that could be done: what was
    /// held a moment ago still is; if rounding says otherwise the old matrix does for some time yet.
    fn renew_all(&mut self, joints: &[Joint]) -> bool {
        let before = (self.structure.frame.links.clone(), self.built.by);
        for joint in joints.iter().filter(|joint| joint.number != u32::MAX) {
            self.structure.frame.links[joint.number as usize] = Some(self.link(joint));
        }
        self.built.by = super::chosen(&self.settings, self.freedom(), self.structure.frame.nodes);
        let done = self.make_anew().is_ok();
        if !done {
            (self.structure.frame.links, self.built.by) = before;
        }
        done
    }

    /// Takes out links of contacts that are no more; where something would come loose they stay.
    fn forget_opened(&mut self, joints: &mut [Joint], open: f64) {
        let present: BTreeSet<Key> = joints.iter().filter(|joint| joint.push > open).map(|joint| joint.key).collect();
        let gone: Vec<(Key, u32)> =
            self.built.numbers.iter().filter(|(key, _)| !present.contains(key)).map(|(k, n)| (*k, *n)).collect();
        for (key, number) in gone {
            self.take_out(&[(key, number)]);
        }
        for joint in joints.iter_mut().filter(|joint| joint.push <= open) {
            joint.number = self.built.numbers.get(&joint.key).copied().unwrap_or(u32::MAX);
        }
    }

    /// What may come to touch: joints with open gaps. Those between grains may be known.
    pub(super) fn gaps(
        &self,
        p: &Particles,
        near: &mut Near,
        looker: &Looker,
        joints: &[Joint],
        between_grains: Option<Vec<Joint>>,
    ) -> Vec<Joint> {
        let keys = |walls: bool| joints.iter().map(|joint| joint.key).filter(move |key| key.is_of_wall() == walls);
        let mut gaps = between_grains.unwrap_or_else(|| {
            near.listed = near.way;
            let known: HashSet<Key> = keys(false).collect();
            let close = |[i, j]: &[u32; 2]| {
                let (a, b) = (&p.place[*i as usize], &p.place[*j as usize]);
                let reach = (1.0 + CLOSING) * (a.radius + b.radius);
                a.position.distance_squared(b.position) < reach * reach
            };
            let pairs = near.pairs.iter().filter(|pair| close(pair));
            let gaps = pairs.map(|&[i, j]| looker.gap(i as usize, j as usize));
            gaps.filter(|gap| !known.contains(&gap.key)).collect()
        });
        let known: HashSet<Key> = keys(true).collect();
        let mut touches = Vec::new();
        for &(i, w) in &near.walls {
            looker.touches(i as usize, w as usize, CLOSING * p.radius(i as usize), &mut touches);
            let found = touches.iter().map(|found| looker.gap_to_wall(i as usize, w as usize, found));
            gaps.extend(found.filter(|gap| !known.contains(&gap.key)));
        }
        gaps
    }

    /// Grains that touch nothing yet get joints with all they rest on. Returns those that rest on nothing.
    pub(super) fn support(
        &mut self,
        p: &Particles,
        joints: &mut Vec<Joint>,
        gaps: &mut Vec<Joint>,
    ) -> Result<Vec<usize>, Unrest> {
        let new = |g: usize| self.node[g] == GROUND && !p.is_fixed(g);
        if !(0..p.owned()).any(new) {
            return Ok(Vec::new());
        }
        let rests = |gap: &Joint| {
            let second = if let Other::Grain(j) = gap.other { new(j) } else { false };
            (new(gap.i) || second) && gap.push > -TOUCHING * p.radius(gap.i) * gap.link.stiffness[0]
        };
        let (found, open): (Vec<Joint>, Vec<Joint>) = gaps.drain(..).partition(rests);
        let mut loose: Vec<bool> = (0..p.owned()).map(new).collect();
        found.iter().for_each(|joint| behind(p, joint).into_iter().for_each(|g| loose[g] = false));
        let loose: Vec<usize> = (0..p.owned()).filter(|&g| loose[g]).collect();
        if loose.is_empty() {
            (*joints, *gaps) = ([std::mem::take(joints), found].concat(), open);
            self.complete(p, joints)?;
        }
        Ok(loose)
    }

    /// Takes the nodes of grains out of the structure, which is made anew.
    pub(super) fn let_go(&mut self, state: &State, grains: &[usize]) -> Result<(), Unrest> {
        for &g in grains {
            let node = self.node[g];
            if node == GROUND {
                continue;
            }
            self.structure.drop_node(node).map_err(|_| Unrest::of(vec![g]))?;
            self.built.nodes.swap_remove(node as usize);
            let id = state.particles.id[g];
            self.built.numbers.retain(|key, _| match *key {
                Key::Pair(a, b) => a != id && b != id,
                Key::Wall(a, ..) => a != id,
            });
            self.find_nodes(state);
        }
        self.make_anew().map_err(|_| Unrest::of(grains.to_vec()))
    }

    /// Makes the way to solve the structure anew, and forgets how it had become what it was.
    pub(super) fn make_anew(&mut self) -> Result<(), Loose> {
        self.structure.replace(super::backend(self.built.by))?;
        self.built.frame = self.structure.frame.clone();
        self.built.changes.clear();
        self.slides = Slides::default();
        self.watched = 0;
        Ok(())
    }
}

/// Grains of a joint that are not fixed.
pub(super) fn behind(p: &Particles, joint: &Joint) -> Vec<usize> {
    let second = if let Other::Grain(j) = joint.other { Some(j) } else { None };
    [Some(joint.i), second].into_iter().flatten().filter(|&g| !p.is_fixed(g)).collect()
}
