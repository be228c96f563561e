//! Slides of contacts that friction does not hold.

use super::joints::{Held, Joint, Key, turned_with};
use super::net::Net;
use super::record::{Avalanche, Slid};
use crate::math::Vec3;
use crate::particles::Particles;
use crate::structure::dense::Triangles;
use crate::structure::{Backend, Freedom, Link, Spring};
use std::collections::{BTreeMap, HashMap};

/// Longest time of slides, and the factor by which it is shortened where they would run away: see [`Net::ways`].
pub(super) const FASTEST: f64 = 1e6;
const SLOWER: f64 = 0.1;

/// Cosine of the angle below which a joint does not slide in two directions at once.
const SAME: f64 = 0.9;

/// Two directions are one where the force in one of them is that in the other but for this part of what counts as none; by their
/// cosine, never more than this below one.
const ONE: f64 = 0.1;
const ONE_AT_MOST: f64 = 1e-11;

/// Slides end within this part of what counts as none, so that what is left is none however it is looked at.
const ENOUGH: f64 = 0.5;

/// Part of its limit by which a joint may be below it and counts as being there.
const NEARLY: f64 = 1e-6;

/// Exchanges of those that slide and those that stick that may in a row leave as many in the wrong place.
const CHANCES: usize = 3;

/// Sweeps through all before that.
const SWEEPS: usize = 30;

/// How often joints are added that other slides push beyond what friction holds, before these are made.
const WIDENED: usize = 20;

/// Farthest slide at once, in radii.
const STRIDE: f64 = 0.01;

/// What slides of a link do.
struct Answer {
    /// Directions.
    along: [Vec3; 2],
    /// Displacements of all nodes by a slide of one metre in each; none in the second of the plane.
    by: [Vec<f64>; 2],
}

impl Answer {
    /// Displacements by a slide of one metre in a direction.
    fn towards(&self, direction: Vec3) -> Vec<f64> {
        let part = self.along.map(|along| along.dot(direction));
        match self.by[1].is_empty() {
            true => self.by[0].iter().map(|a| part[0] * a).collect(),
            false => self.by[0].iter().zip(&self.by[1]).map(|(a, b)| part[0] * a + part[1] * b).collect(),
        }
    }
}

/// A link that may slide in a direction.
struct Slider {
    number: u32,
    link: Link,
    shear: f64,
    friction: f64,
    direction: Vec3,
    /// Displacements of all nodes by a slide of one metre.
    answer: Vec<f64>,
}

/// What slides do to each other, found when it is asked for and true as long as the links of the structure stay the same.
#[derive(Default)]
pub(super) struct Slides {
    answers: HashMap<u32, Answer>,
    /// All that have been asked for; a link may be there with several directions.
    sliders: Vec<Slider>,
    /// Their places, by the number of the link.
    of_link: HashMap<u32, Vec<usize>>,
    /// How much a slide of one metre of each takes off the excess of each \[N/m\].
    coupling: Vec<Vec<f64>>,
    /// Those that slid the last time, in which time, and their part of the coupling in triangles.
    solved: Option<(Vec<usize>, f64, Triangles)>,
}

/// Sliders among which some have to slide.
#[derive(Default)]
struct Listed {
    /// Their joints.
    joints: Vec<usize>,
    /// Their places among all sliders.
    sliders: Vec<usize>,
    /// Where to, across the normals as they are now.
    directions: Vec<Vec3>,
    /// Tangential force in their direction beyond what friction holds \[N\].
    excess: Vec<f64>,
}

impl Listed {
    /// The longest way, in radii.
    fn longest(&self, p: &Particles, joints: &[Joint], ways: &[f64]) -> f64 {
        self.joints.iter().zip(ways).map(|(&k, way)| way / p.radius(joints[k].i)).fold(0.0, f64::max)
    }
}

impl Slides {
    /// The sliders of a link.
    fn of_link(&self, number: u32) -> &[usize] {
        self.of_link.get(&number).map_or(&[], Vec::as_slice)
    }

    /// The slider of a joint, what slides of which do is known; the cosine of its direction may be less than one by so much.
    fn slider(&mut self, freedom: Freedom, joint: &Joint, direction: Vec3, within: f64) -> usize {
        let is_it = |s: &&usize| {
            let Slider { link, direction: known, .. } = &self.sliders[**s];
            1.0 - turned_with(*known, link.normal, joint.link.normal).dot(direction) <= within
        };
        if let Some(&known) = self.of_link(joint.number).iter().find(is_it) {
            return known;
        }
        let answer = self.answers[&joint.number].towards(direction);
        let Joint { number, link, shear, friction, .. } = *joint;
        let new = self.sliders.len();
        self.sliders.push(Slider { number, link, shear, friction, direction, answer });
        self.of_link.entry(number).or_default().push(new);
        for q in 0..new {
            let entry = self.takes(freedom, q, new);
            self.coupling[q].push(entry);
        }
        self.coupling.push((0..=new).map(|s| self.takes(freedom, new, s)).collect());
        new
    }

    /// Forgets sliders when there are many beside those that are asked for: in space directions turn.
    fn clear_up(&mut self, asked: usize) {
        if self.sliders.len() > 4 * asked + 64 {
            *self = Self { answers: std::mem::take(&mut self.answers), ..Self::default() };
        }
    }

    /// How much a slide of one metre of `s` takes off the excess of `q` \[N/m\].
    fn takes(&self, freedom: Freedom, q: usize, s: usize) -> f64 {
        let Slider { number, link, shear, friction, direction, .. } = &self.sliders[q];
        let by = &self.sliders[s];
        let [a, b] = link.ends.map(|node| freedom.shift(&by.answer, node));
        let own = if by.number == *number { shear * direction.dot(by.direction) } else { 0.0 };
        own - (*direction * *shear - link.normal * (friction * link.stiffness[0])).dot(link.stretch(&a, &b))
    }

    /// s ≥ 0 with (k/t + M) s = excess where s > 0 and ≥ excess elsewhere: those that would go backwards stick, those that stick
    /// beyond their limit go, until there are none of either. `None` where that does not come to an end.
    fn forward(&mut self, listed: &Listed, tempo: f64, slack: f64) -> Option<Vec<f64>> {
        let n = listed.sliders.len();
        let mut goes = self.guess(listed, tempo);
        let (mut fewest, mut chances) = (usize::MAX, CHANCES);
        while chances > 0 {
            let mut active: Vec<usize> = (0..n).filter(|&k| goes[k]).collect();
            active.sort_unstable_by_key(|&k| listed.sliders[k]);
            let way = self.solve(&active.iter().map(|&k| listed.sliders[k]).collect::<Vec<_>>(), tempo, |a| {
                listed.excess[active[a]]
            })?;
            let mut all = vec![0.0; n];
            active.iter().zip(&way).for_each(|(&k, way)| all[k] = *way);
            let left = |k: usize| {
                let line = &self.coupling[listed.sliders[k]];
                listed.excess[k] - active.iter().zip(&way).map(|(&s, way)| line[listed.sliders[s]] * way).sum::<f64>()
            };
            // Backwards by less than counts is as good as not at all.
            let least = |k: usize| -slack / self.sliders[listed.sliders[k]].shear;
            let next: Vec<bool> = (0..n).map(|k| if goes[k] { all[k] > least(k) } else { left(k) > slack }).collect();
            let wrong = next.iter().zip(&goes).filter(|(next, goes)| next != goes).count();
            if wrong == 0 {
                return Some(all);
            }
            (fewest, chances) = if wrong < fewest { (wrong, CHANCES) } else { (fewest, chances - 1) };
            goes = next;
        }
        self.solved = None;
        None
    }

    /// Which of them slide, nearly: those that slid the last time; if none did, those that move when each in turn slides as far as it has to while the
    /// others stay where they are (Gauss–Seidel), some times over.
    fn guess(&self, listed: &Listed, tempo: f64) -> Vec<bool> {
        if let Some((before, ..)) = &self.solved {
            return listed.sliders.iter().map(|s| before.binary_search(s).is_ok()).collect();
        }
        let line = |&q: &usize| -> Vec<f64> { listed.sliders.iter().map(|&s| self.coupling[q][s]).collect() };
        let lines: Vec<Vec<f64>> = listed.sliders.iter().map(line).collect();
        let slowness = |k: usize| self.sliders[listed.sliders[k]].shear / tempo;
        let mut ways = vec![0.0; lines.len()];
        for _ in 0..SWEEPS {
            for (k, line) in lines.iter().enumerate() {
                let taken: f64 = line.iter().zip(&ways).map(|(m, way)| m * way).sum();
                let own = line[k] + slowness(k);
                let left = listed.excess[k] - taken - slowness(k) * ways[k];
                ways[k] = if own > 0.0 { f64::max(ways[k] + left / own, 0.0) } else { 0.0 };
            }
        }
        ways.into_iter().map(|way| way > 0.0).collect()
    }

    /// (k/t + M) s = excess for some, in the order of their places.
    fn solve(&mut self, active: &[usize], tempo: f64, excess: impl Fn(usize) -> f64) -> Option<Vec<f64>> {
        if !self.solved.as_ref().is_some_and(|(those, time, _)| those == active && *time == tempo) {
            let m = active.len();
            let mut part: Vec<f64> = Vec::with_capacity(m * m);
            for (d, &q) in active.iter().enumerate() {
                part.extend(active.iter().map(|&s| self.coupling[q][s]));
                part[d * (m + 1)] += self.sliders[q].shear / tempo;
            }
            self.solved = None;
            self.solved = Some((active.to_vec(), tempo, Triangles::of(part, m)?));
        }
        let (.., triangles) = self.solved.as_ref().expect("just found");
        Some(triangles.solve(&(0..active.len()).map(excess).collect::<Vec<_>>()))
    }
}

impl Net {
    /// All joints beyond what friction holds slide together with those that their slides push beyond it: Gavrilov's
    /// (4.34)–(4.36) with the sign of E-16, solved for all at once instead of one batch after another. Where they would run away
    /// they slide as contacts with a viscous limit would, in a time that is short enough that none goes far. Returns whether anything
    /// had to.
    pub(super) fn slide_all(
        &mut self,
        joints: &mut [Joint],
        held: &[Held],
        slack: f64,
        tempo: &mut f64,
        u: &mut [f64],
        slid: &mut BTreeMap<Key, Slid>,
        avalanche: &mut Avalanche,
        p: &Particles,
    ) -> bool {
        if !joints.iter().zip(held).any(|(joint, held)| joint.excess(held) > slack) {
            return false;
        }
        // Those that are at their limit already will hardly stay behind, nor will those that slid before.
        let at_limit = |k: usize| joints[k].excess(&held[k]) > -NEARLY * joints[k].friction * held[k].push;
        let slid_before = |k: usize| !self.slides.of_link(joints[k].number).is_empty() && held[k].push > 0.0;
        let those: Vec<(usize, Vec3)> = (0..joints.len())
            .filter(|&k| at_limit(k) || slid_before(k))
            .map(|k| (k, held[k].spring.normalize_or_zero()))
            .collect();
        self.slides.clear_up(those.len());
        let mut listed = Listed::default();
        self.enlist(joints, held, &those, slack, &mut listed, avalanche);
        let mut found = None;
        while found.is_none() && *tempo >= 1.0 {
            found = self.ways(p, joints, held, u, ENOUGH * slack, *tempo, &mut listed, avalanche);
            *tempo *= if found.is_some() { 1.0 / SLOWER } else { SLOWER };
        }
        *tempo = tempo.clamp(1.0 / SLOWER, FASTEST);
        let (ways, after) = found.unwrap_or_else(|| {
            let own = |(&k, excess): (&usize, &f64)| excess.max(0.0) / joints[k].shear;
            let mut ways: Vec<f64> = listed.joints.iter().zip(&listed.excess).map(own).collect();
            let far = listed.longest(p, joints, &ways);
            if far > STRIDE {
                ways.iter_mut().for_each(|way| *way *= STRIDE / far);
            }
            let after = self.displaced(u, &listed, &ways);
            (ways, after)
        });
        u.copy_from_slice(&after);
        for (s, &way) in ways.iter().enumerate().filter(|(_, way)| **way != 0.0) {
            joints[listed.joints[s]].slid += listed.directions[s] * way;
        }
        for (&k, way) in listed.joints.iter().zip(ways).filter(|(_, way)| *way != 0.0) {
            let joint = &joints[k];
            // Friction as it is in the middle of the slide.
            let push = 0.5 * (held[k].push + joint.after(self.freedom(), u).push);
            let heat = joint.friction * push.max(0.0) * way;
            let literal = joint.shear * held[k].spring.length() * way;
            let of_it = slid.entry(joint.key).or_default();
            (of_it.times, of_it.heat, of_it.literal) = (of_it.times + 1, of_it.heat + heat, of_it.literal + literal);
            avalanche.slides += 1;
            avalanche.heat += heat;
            avalanche.literal += literal;
        }
        avalanche.rounds += 1;
        true
    }

    /// Displacements after slides.
    fn displaced(&self, u: &[f64], listed: &Listed, ways: &[f64]) -> Vec<f64> {
        let mut after = u.to_vec();
        for (&slider, &way) in listed.sliders.iter().zip(ways).filter(|(_, way)| **way != 0.0) {
            let answer = &self.slides.sliders[slider].answer;
            after.iter_mut().zip(answer).for_each(|(u, a)| *u += way * a);
        }
        after
    }

    /// How far joints slide in a time (in which one that nothing opposes slides so many times as far as to its limit): the excess at
    /// the end of it makes them slide, (k/t + M) s = excess, where M tells how much a slide of one takes off another. Those that would
    /// slide backwards stick; those that come beyond their limit by it slide as well. Returns the displacements after it, too;
    /// `None` where they run away or go too far at once.
    fn ways(
        &mut self,
        p: &Particles,
        joints: &[Joint],
        held: &[Held],
        u: &[f64],
        slack: f64,
        tempo: f64,
        listed: &mut Listed,
        avalanche: &mut Avalanche,
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        for _ in 0..WIDENED {
            let ways = self.slides.forward(listed, tempo, slack)?;
            if listed.longest(p, joints, &ways) > STRIDE {
                return None;
            }
            let after = self.displaced(u, listed, &ways);
            let more = self.pushed_beyond(joints, &after, slack, listed, &ways);
            if more.is_empty() {
                return Some((ways, after));
            }
            self.enlist(joints, held, &more, slack, listed, avalanche);
        }
        None
    }

    /// Joints that slides push beyond what friction holds, and where to, which are not there with that direction.
    fn pushed_beyond(
        &self,
        joints: &[Joint],
        after: &[f64],
        slack: f64,
        listed: &Listed,
        ways: &[f64],
    ) -> Vec<(usize, Vec3)> {
        let mut slid = vec![Vec3::ZERO; joints.len()];
        for (s, &way) in ways.iter().enumerate().filter(|(_, way)| **way != 0.0) {
            slid[listed.joints[s]] += way * listed.directions[s];
        }
        let mut more = Vec::new();
        for (k, joint) in joints.iter().enumerate() {
            let mut held = joint.after(self.freedom(), after);
            held.spring -= slid[k];
            // Those that let go are no longer joints in the next round.
            if held.push > 0.0 && joint.excess(&held) > slack {
                let direction = held.spring.normalize_or_zero();
                let of_it = self.slides.of_link(joint.number).iter();
                let mut same = of_it.filter(|s| self.slides.sliders[**s].direction.dot(direction) > SAME);
                if !same.any(|slider| listed.sliders.contains(slider)) {
                    more.push((k, direction));
                }
            }
        }
        more
    }

    /// Adds joints to those that slide.
    fn enlist(
        &mut self,
        joints: &[Joint],
        held: &[Held],
        more: &[(usize, Vec3)],
        slack: f64,
        listed: &mut Listed,
        avalanche: &mut Avalanche,
    ) {
        self.find_answers(joints, more, avalanche);
        for &(k, direction) in more {
            let (joint, freedom) = (&joints[k], self.freedom());
            let force = joint.shear * held[k].spring.length();
            let slider = self.slides.slider(freedom, joint, direction, (ONE * slack / force).min(ONE_AT_MOST));
            let Slider { link, direction: known, .. } = &self.slides.sliders[slider];
            let direction = turned_with(*known, link.normal, joint.link.normal);
            listed.joints.push(k);
            listed.sliders.push(slider);
            listed.directions.push(direction);
            listed.excess.push(joint.shear * held[k].spring.dot(direction) - joint.friction * held[k].push.max(0.0));
        }
    }

    /// Finds what slides of joints do, where that is not yet known.
    fn find_answers(&mut self, joints: &[Joint], wanted: &[(usize, Vec3)], avalanche: &mut Avalanche) {
        let freedom = self.freedom();
        let is_new = |joint: &&Joint| !self.slides.answers.contains_key(&joint.number);
        let unknown: Vec<&Joint> = wanted.iter().map(|&(k, _)| &joints[k]).filter(is_new).collect();
        let across = |joint: &&Joint| joint.link.tangents(freedom).map(|along| (joint.link, joint.shear, along));
        let springs: Vec<Spring> = unknown
            .iter()
            .flat_map(across)
            .filter(|(.., along)| *along != Vec3::ZERO)
            .map(|(link, shear, along)| link.spring(freedom, along, shear))
            .collect();
        avalanche.solutions += springs.len() as u64;
        let mut found = self.structure.backend.answers(&self.structure.frame, &springs).into_iter();
        for joint in unknown {
            let along = joint.link.tangents(freedom);
            let by = along.map(|along| if along == Vec3::ZERO { Vec::new() } else { found.next().unwrap_or_default() });
            self.slides.answers.insert(joint.number, Answer { along, by });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    /// Sliders with a coupling and a stiffness over the time, and their excess.
    fn of(coupling: Vec<Vec<f64>>, slowness: f64, excess: &[f64]) -> (Slides, Listed) {
        let link = Link { ends: [0, 1], normal: Vec3::X, levers: [0.0; 2], stiffness: [1.0; 2] };
        let slider = |number| Slider {
            number,
            link,
            shear: slowness * FASTEST,
            friction: 1.0,
            direction: Vec3::Y,
            answer: Vec::new(),
        };
        let sliders = (0..excess.len() as u32).map(slider).collect();
        let all: Vec<usize> = (0..excess.len()).collect();
        let listed = Listed { joints: all.clone(), sliders: all, excess: excess.to_vec(), ..Listed::default() };
        (Slides { sliders, coupling, ..Slides::default() }, listed)
    }

    #[test]
    fn those_that_slide_end_at_their_limit_and_those_that_stick_below_it() {
        for key in 0..50 {
            let mut stream = Stream::new(3, Purpose::Noise, key);
            let n = 12;
            // Each feels itself the most.
            let matrix: Vec<Vec<f64>> = (0..n)
                .map(|r| (0..n).map(|c| if r == c { 2.0 } else { (2.0 * stream.uniform() - 1.0) / n as f64 }).collect())
                .collect();
            let mut excess = || -> Vec<f64> { (0..n).map(|_| 2.0 * stream.uniform() - 1.0).collect() };
            let (mut slides, mut listed) = of(matrix.clone(), 0.5, &excess());
            // The second time from where the first has ended.
            for _ in 0..2 {
                let ways = slides.forward(&listed, FASTEST, 0.0).unwrap();
                for k in 0..n {
                    let left = listed.excess[k] - (0..n).map(|s| matrix[k][s] * ways[s]).sum::<f64>();
                    let (goes, sticks) = (ways[k] > 0.0, ways[k] == 0.0);
                    assert!(goes && (left - 0.5 * ways[k]).abs() < 1e-12 || sticks && left <= 1e-12, "{key} {k}");
                }
                listed.excess = excess();
            }
        }
    }

    #[test]
    fn what_nothing_opposes_runs_away() {
        let ways = |coupling: f64| {
            let (mut slides, listed) = of(vec![vec![coupling]], 0.5, &[1.0]);
            slides.forward(&listed, FASTEST, 0.0)
        };
        assert_eq!(ways(-1.0), None);
        assert_eq!(ways(0.0), Some(vec![2.0]));
    }
}
