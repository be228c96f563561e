//! Slides of contacts that friction does not hold.

use super::joints::{Held, Joint, Key};
use super::net::Net;
use super::record::{Avalanche, Slid};
use crate::math::Vec3;
use crate::particles::Particles;
use crate::structure::{Backend, Spring, dense};
use std::collections::BTreeMap;

/// Longest time of slides, and the factor by which it is shortened where they would run away: see [`Net::ways`].
pub(super) const FASTEST: f64 = 1e6;
const SLOWER: f64 = 0.1;

/// Cosine of the angle below which two directions are one.
const SAME: f64 = 0.9;

/// Part of its limit by which a joint may be below it and counts as being there.
const NEARLY: f64 = 1e-6;

/// Most exchanges of those that slide and those that stick.
const PIVOTS: usize = 30;

/// How often joints are added that other slides push beyond what friction holds, before these are made.
const WIDENED: usize = 20;

/// Farthest slide at once, in radii.
const STRIDE: f64 = 0.001;

/// What slides of a link do.
pub(super) struct Answer {
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

/// Joints that slide.
#[derive(Default)]
struct Sliders {
    /// Which.
    joints: Vec<usize>,
    /// Direction of each; a joint may be there with several.
    direction: Vec<Vec3>,
    /// Tangential force in this direction beyond what friction holds \[N\].
    excess: Vec<f64>,
    /// Displacements of all nodes by a slide of one metre of each.
    answer: Vec<Vec<f64>>,
    /// How much a slide of one metre of each takes off the excess of each \[N/m\].
    coupling: Vec<Vec<f64>>,
}

impl Sliders {
    /// The longest way, in radii.
    fn longest(&self, p: &Particles, joints: &[Joint], ways: &[f64]) -> f64 {
        self.joints.iter().zip(ways).map(|(&k, way)| way / p.radius(joints[k].i)).fold(0.0, f64::max)
    }
}

impl Net {
    /// All joints beyond what friction holds slide together with those that their slides push beyond it: Gavrilov's
    /// (4.34)–(4.36) with the sign of E-16, solved for all at once instead of one batch after another. Where they would run away
    /// they slide as contacts with a viscous limit would, in a time that is short enough that none goes far.
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
        let mut sliders = Sliders::default();
        // Those that are at their limit already will hardly stay behind.
        let at_limit = |k: &usize| joints[*k].excess(&held[*k]) > -NEARLY * joints[*k].friction * held[*k].push;
        let listed: Vec<(usize, Vec3)> =
            (0..joints.len()).filter(at_limit).map(|k| (k, held[k].spring.normalize_or_zero())).collect();
        self.enlist(joints, held, &listed, &mut sliders, avalanche);
        let mut ways = None;
        while ways.is_none() && *tempo >= 1.0 {
            ways = self.ways(p, joints, held, u, slack, *tempo, &mut sliders, avalanche);
            *tempo *= if ways.is_some() { 1.0 / SLOWER } else { SLOWER };
        }
        *tempo = tempo.clamp(1.0 / SLOWER, FASTEST);
        let own = |(&k, excess): (&usize, &f64)| excess.max(0.0) / joints[k].link.stiffness[1];
        let mut ways = ways.unwrap_or_else(|| sliders.joints.iter().zip(&sliders.excess).map(own).collect());
        let far = sliders.longest(p, joints, &ways);
        if far > STRIDE {
            ways.iter_mut().for_each(|way| *way *= STRIDE / far);
        }
        for (s, &way) in ways.iter().enumerate().filter(|(_, way)| **way > 0.0) {
            joints[sliders.joints[s]].slid += sliders.direction[s] * way;
            u.iter_mut().zip(&sliders.answer[s]).for_each(|(u, a)| *u += way * a);
        }
        for (&k, way) in sliders.joints.iter().zip(ways).filter(|(_, way)| *way > 0.0) {
            let joint = &joints[k];
            // Friction as it is in the middle of the slide.
            let push = 0.5 * (held[k].push + joint.after(self.freedom(), u).push);
            let heat = joint.friction * push.max(0.0) * way;
            let literal = joint.link.stiffness[1] * held[k].spring.length() * way;
            let of_it = slid.entry(joint.key).or_default();
            (of_it.times, of_it.heat, of_it.literal) = (of_it.times + 1, of_it.heat + heat, of_it.literal + literal);
            avalanche.slides += 1;
            avalanche.heat += heat;
            avalanche.literal += literal;
        }
        avalanche.rounds += 1;
        true
    }

    /// How far joints slide in a time (in which one that nothing opposes slides so many times as far as to its limit): the excess at
    /// the end of it makes them slide, (k/t + M) s = excess, where M tells how much a slide of one takes off another. Those that would
    /// slide backwards stick; those that come beyond their limit by it slide as well. `None` where they run away
    /// or go too far at once.
    fn ways(
        &mut self,
        p: &Particles,
        joints: &[Joint],
        held: &[Held],
        u: &[f64],
        slack: f64,
        tempo: f64,
        sliders: &mut Sliders,
        avalanche: &mut Avalanche,
    ) -> Option<Vec<f64>> {
        for _ in 0..WIDENED {
            let slowness: Vec<f64> = sliders.joints.iter().map(|&k| joints[k].link.stiffness[1] / tempo).collect();
            let ways = forward(&sliders.coupling, &slowness, &sliders.excess, slack)?;
            if sliders.longest(p, joints, &ways) > STRIDE {
                return None;
            }
            let more = self.pushed_beyond(joints, u, slack, sliders, &ways);
            if more.is_empty() {
                return Some(ways);
            }
            self.enlist(joints, held, &more, sliders, avalanche);
        }
        None
    }

    /// Joints that slides push beyond what friction holds, and where to, which are not there with that direction.
    fn pushed_beyond(
        &self,
        joints: &[Joint],
        u: &[f64],
        slack: f64,
        sliders: &Sliders,
        ways: &[f64],
    ) -> Vec<(usize, Vec3)> {
        let mut after = u.to_vec();
        let mut slid = vec![Vec3::ZERO; joints.len()];
        let mut known: Vec<Vec<Vec3>> = vec![Vec::new(); joints.len()];
        for (s, &k) in sliders.joints.iter().enumerate() {
            known[k].push(sliders.direction[s]);
            if ways[s] > 0.0 {
                slid[k] += ways[s] * sliders.direction[s];
                after.iter_mut().zip(&sliders.answer[s]).for_each(|(u, a)| *u += ways[s] * a);
            }
        }
        let mut more = Vec::new();
        for (k, joint) in joints.iter().enumerate() {
            let mut held = joint.after(self.freedom(), &after);
            held.spring -= slid[k];
            // Those that let go are no longer joints in the next round.
            if held.push > 0.0 && joint.excess(&held) > slack {
                let direction = held.spring.normalize_or_zero();
                if known[k].iter().all(|known| known.dot(direction) < SAME) {
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
        sliders: &mut Sliders,
        avalanche: &mut Avalanche,
    ) {
        self.find_answers(joints, more, avalanche);
        for &(k, direction) in more {
            let (joint, link) = (&joints[k], &joints[k].link);
            sliders.joints.push(k);
            sliders.direction.push(direction);
            sliders
                .excess
                .push(link.stiffness[1] * held[k].spring.dot(direction) - joint.friction * held[k].push.max(0.0));
            sliders.answer.push(self.answers[&joint.number].towards(direction));
        }
        let known = sliders.coupling.len();
        for q in 0..sliders.joints.len() {
            let joint = &joints[sliders.joints[q]];
            let link = &joint.link;
            let [k_n, k_t] = link.stiffness;
            let gradient = sliders.direction[q] * k_t - link.normal * (joint.friction * k_n);
            let takes = |s: usize| {
                let shift = |end: usize| self.freedom().shift(&sliders.answer[s], link.ends[end]);
                let is_own = sliders.joints[q] == sliders.joints[s];
                let own = if is_own { k_t * sliders.direction[q].dot(sliders.direction[s]) } else { 0.0 };
                own - gradient.dot(link.stretch(&shift(0), &shift(1)))
            };
            let entries: Vec<f64> = (if q < known { known } else { 0 }..sliders.joints.len()).map(takes).collect();
            match sliders.coupling.get_mut(q) {
                Some(line) => line.extend(entries),
                None => sliders.coupling.push(entries),
            }
        }
    }

    /// Finds what slides of joints do, where that is not yet known.
    fn find_answers(&mut self, joints: &[Joint], wanted: &[(usize, Vec3)], avalanche: &mut Avalanche) {
        let freedom = self.freedom();
        let unknown: Vec<&Joint> =
            wanted.iter().map(|&(k, _)| &joints[k]).filter(|joint| !self.answers.contains_key(&joint.number)).collect();
        let across = |joint: &&Joint| joint.link.tangents(freedom).map(|along| (joint.link, along));
        let springs: Vec<Spring> = unknown
            .iter()
            .flat_map(across)
            .filter(|(_, along)| *along != Vec3::ZERO)
            .map(|(link, along)| link.spring(freedom, along, link.stiffness[1]))
            .collect();
        avalanche.solutions += springs.len() as u64;
        let mut found = self.structure.backend.answers(&self.structure.frame, &springs).into_iter();
        for joint in unknown {
            let along = joint.link.tangents(freedom);
            let by = along.map(|along| if along == Vec3::ZERO { Vec::new() } else { found.next().unwrap_or_default() });
            self.answers.insert(joint.number, Answer { along, by });
        }
    }
}

/// s ≥ 0 with (slowness + M) s = excess where s > 0 and ≥ excess elsewhere: those that would go backwards stick, those that stick
/// beyond their limit go, until there are none of either. `None` where that does not come to an end.
fn forward(matrix: &[Vec<f64>], slowness: &[f64], excess: &[f64], slack: f64) -> Option<Vec<f64>> {
    let n = excess.len();
    let mut active: Vec<usize> = (0..n).filter(|&k| excess[k] > -slack).collect();
    for _ in 0..PIVOTS {
        let m = active.len();
        let mut part: Vec<f64> = (0..m * m).map(|e| matrix[active[e / m]][active[e % m]]).collect();
        (0..m).for_each(|d| part[d * (m + 1)] += slowness[active[d]]);
        let mut way: Vec<f64> = active.iter().map(|&k| excess[k]).collect();
        dense::solve(&mut part, m, &mut way)?;
        let mut all = vec![0.0; n];
        active.iter().zip(&way).for_each(|(&k, way)| all[k] = *way);
        let left = |k: usize| excess[k] - active.iter().zip(&way).map(|(&s, way)| matrix[k][s] * way).sum::<f64>();
        let mut goes = vec![false; n];
        active.iter().for_each(|&k| goes[k] = true);
        let next: Vec<usize> = (0..n).filter(|&k| if goes[k] { all[k] > 0.0 } else { left(k) > slack }).collect();
        if next == active {
            return Some(all);
        }
        active = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    #[test]
    fn those_that_slide_end_at_their_limit_and_those_that_stick_below_it() {
        for key in 0..50 {
            let mut stream = Stream::new(3, Purpose::Noise, key);
            let n = 12;
            // Each feels itself the most.
            let matrix: Vec<Vec<f64>> = (0..n)
                .map(|r| (0..n).map(|c| if r == c { 2.0 } else { (2.0 * stream.uniform() - 1.0) / n as f64 }).collect())
                .collect();
            let excess: Vec<f64> = (0..n).map(|_| 2.0 * stream.uniform() - 1.0).collect();
            let slowness = vec![0.5; n];
            let ways = forward(&matrix, &slowness, &excess, 0.0).unwrap();
            for k in 0..n {
                let left = excess[k] - (0..n).map(|s| matrix[k][s] * ways[s]).sum::<f64>();
                let (goes, sticks) = (ways[k] > 0.0, ways[k] == 0.0);
                assert!(goes && (left - slowness[k] * ways[k]).abs() < 1e-12 || sticks && left <= 1e-12, "{key} {k}");
            }
        }
    }

    #[test]
    fn what_nothing_opposes_runs_away() {
        assert!(forward(&[vec![-1.0]], &[0.5], &[1.0], 0.0).is_none());
        assert_eq!(forward(&[vec![0.0]], &[0.5], &[1.0], 0.0), Some(vec![2.0]));
    }
}
