//! Slides of contacts that friction does not hold.

use super::joints::{Held, Joint, Key};
use super::net::Net;
use super::record::{Avalanche, Slid};
use crate::math::Vec3;
use crate::particles::Particles;
use crate::structure::{Backend, dense};
use std::collections::BTreeMap;

/// Cosine of the angle between slides that count as having the same direction.
const SAME: f64 = 1.0 - 1e-12;

/// Longest time of a slide.
const FASTEST: f64 = 1e6;

/// Farthest slide at once, in radii.
const STRIDE: f64 = 0.001;

/// What is known of slides while contacts are the same.
pub(super) struct Slides {
    /// Directions of joints and displacements by a slide of one metre.
    pub answers: BTreeMap<usize, (Vec3, Vec<f64>)>,
    /// Time of the next slide: see [`Net::ways`].
    pub tempo: f64,
}

impl Net {
    /// All joints beyond what friction holds slide: Gavrilov's (4.34)–(4.36) with the sign of E-16, each back to its own limit.
    /// From the second round on they slide together, as contacts with a viscous limit would in a time that doubles from round to
    /// round: those that come to an end are soon there, those that do not move on.
    pub(super) fn slide_all(
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
        for &(k, way) in &ways {
            let (along, answer) = &slides.answers[&k];
            joints[k].slid += *along * way;
            u.iter_mut().zip(answer).for_each(|(u, a)| *u += way * a);
        }
        for (k, way) in ways {
            let joint = &joints[k];
            // Friction as it is in the middle of the slide.
            let push = 0.5 * (held[k].push + joint.after(self.freedom(), u, &self.node).push);
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
    /// slide backwards stick. `None` where they run away.
    pub(super) fn ways(
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
                let stretch = link.stretch(&freedom.shift(answer, link.ends[0]), &freedom.shift(answer, link.ends[1]));
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
}
