//! The contact loop over pairs, several at once: spheres and discs with springs, dashpots and a Coulomb slider.
//!
//! The list is taken in chunks. Of each chunk first the pairs that touch are picked, from the 32 bytes of
//! [`Place`](crate::particles::Place) alone; then these are evaluated in full groups. The formulas are those of
//! [`sweep`](super::sweep) and [`law`](crate::law), which stay the readable reference: `tests/batch.rs` compares the two.
//! Here they are arranged so that a group needs one division for its geometry, one for its memory and one more only if
//! some contact slides.
//!
//! Losses are added to the two spare numbers of the [`Load`] of the first grain, so that the account of energy costs no
//! memory traffic of its own.

mod constants;
mod evaluate;
mod near;

use super::list::Segment;
use super::sweep::{Grains, release};
use crate::lanes::{Lane, Quad, Targets, Width, index, offset};
use crate::law::Memory;
use crate::model::Model;
use crate::particles::Load;
use constants::Constants;
use evaluate::{Columns, Geometry, Group, Pressed};
use near::{AHEAD, Frontier, LASTING, activate, nearer_than};
use std::mem::MaybeUninit;

/// Groups of candidates looked at before their contacts are evaluated. With more than these four what the stages hand on
/// drives the records of the grains out of the first cache; with two the stages do not overlap.
const GROUPS: usize = 4;

/// Most groups of touching pairs in a chunk: chunks are whole groups of eight candidates, one at a time too.
const MOST_GROUPS: usize = 8;

/// The laws between the kinds of grain of a model, if this loop can do them all.
#[derive(Clone, Debug)]
pub struct Batch {
    kinds: usize,
    /// Law of each pair of kinds, row by row.
    index: Vec<u32>,
    laws: Vec<Constants>,
    form: Form,
    width: Width,
    ledger: bool,
    /// Active pairs have at least this gap \[m\].
    least_gap: f64,
}

/// What the compiled loop must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Linear springs with a given dashpot: no root at all.
    Linear,
    /// Linear springs with a dashpot from the restitution.
    LinearRestitution,
    /// Hertz with any dashpot.
    Hertz,
}

impl Batch {
    /// The laws of a model, unless some pair of kinds needs the general loop; with or without energy losses.
    pub fn of(model: &Model, width: Width, ledger: bool) -> Option<Self> {
        let kinds = model.kinds.len();
        let mut laws: Vec<Constants> = Vec::new();
        let (mut index, mut hertz) = (Vec::with_capacity(kinds * kinds), 0);
        for a in &model.kinds {
            for b in &model.kinds {
                let (constants, is_hertz) = Constants::of(model.laws.law(a.material, b.material))?;
                hertz += usize::from(is_hertz);
                let known = laws.iter().position(|law| *law == constants);
                index.push(known.unwrap_or(laws.len()) as u32);
                if known.is_none() {
                    laws.push(constants);
                }
            }
        }
        let form = match hertz {
            0 if laws.iter().all(|law| law.dashpot[2][0] == 0.0) => Form::Linear,
            0 => Form::LinearRestitution,
            all if all == index.len() => Form::Hertz,
            _ => return None,
        };
        Some(Self { kinds, index, laws, form, width, ledger, least_gap: 0.03 * model.skin })
    }

    /// Evaluates all pairs of a segment and adds their loads to the grains it owns; `loads` is the segment's own range.
    /// `moved` bounds how far any two grains have moved relative to each other since the last sweep \[m\]; infinite, all
    /// pairs stay active. Time must pass: the loads of an instant are those of the general loop.
    pub fn sweep(&self, model: &Model, grains: Grains, segment: &mut Segment, loads: &mut [Load], moved: f64) {
        assert!(grains.dt > 0.0 && loads.len() == segment.grains.len());
        assert!(grains.motion.len() == grains.place.len() && grains.mean.len() == grains.place.len());
        let mut opened = std::mem::take(&mut segment.opened);
        opened.clear();
        // SAFETY: the list was built for these grains; the width was found on this processor.
        unsafe {
            match self.width {
                #[cfg(target_arch = "x86_64")]
                Width::Eight => self.sweep_eight(grains, segment, loads, moved, &mut opened),
                #[cfg(target_arch = "x86_64")]
                Width::Four => self.sweep_four(grains, segment, loads, moved, &mut opened),
                _ => self.sweep_in::<f64>(grains, segment, loads, moved, &mut opened),
            }
        }
        for a in opened.iter().map(|&a| a as usize) {
            let spring = std::mem::take(&mut segment.pairs.active.springs[a]);
            if self.ledger {
                let k = segment.pairs.active.k[a] as usize;
                release(model, grains, segment, k, &mut Memory::from_parts(&spring, None, true));
            }
        }
        segment.opened = opened;
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma,bmi1,bmi2")]
    unsafe fn sweep_eight(&self, g: Grains, s: &mut Segment, loads: &mut [Load], moved: f64, opened: &mut Vec<u32>) {
        // SAFETY: the caller's.
        unsafe { self.sweep_in::<crate::lanes::F64x8>(g, s, loads, moved, opened) }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn sweep_four(&self, g: Grains, s: &mut Segment, loads: &mut [Load], moved: f64, opened: &mut Vec<u32>) {
        // SAFETY: the caller's.
        unsafe { self.sweep_in::<crate::lanes::F64x4>(g, s, loads, moved, opened) }
    }

    #[inline(always)]
    unsafe fn sweep_in<L: Lane>(
        &self,
        g: Grains,
        s: &mut Segment,
        loads: &mut [Load],
        moved: f64,
        opened: &mut Vec<u32>,
    ) {
        // SAFETY: the caller's.
        unsafe {
            match (self.form, self.ledger) {
                (Form::Linear, true) => self.all::<L, false, false, true>(g, s, loads, moved, opened),
                (Form::Linear, false) => self.all::<L, false, false, false>(g, s, loads, moved, opened),
                (Form::LinearRestitution, true) => self.all::<L, false, true, true>(g, s, loads, moved, opened),
                (Form::LinearRestitution, false) => self.all::<L, false, true, false>(g, s, loads, moved, opened),
                (Form::Hertz, true) => self.all::<L, true, true, true>(g, s, loads, moved, opened),
                (Form::Hertz, false) => self.all::<L, true, true, false>(g, s, loads, moved, opened),
            }
        }
    }

    /// Chunk after chunk: picks the pairs that touch, then evaluates them group by group.
    #[inline(always)]
    unsafe fn all<L: Lane, const HERTZ: bool, const ROOT: bool, const LEDGER: bool>(
        &self,
        grains: Grains,
        segment: &mut Segment,
        loads: &mut [Load],
        moved: f64,
        opened: &mut Vec<u32>,
    ) {
        let x = grains.place.as_ptr().cast::<Quad>();
        let pairs = &mut segment.pairs;
        pairs.active.room -= moved;
        if pairs.active.room < 0.0 {
            // SAFETY: the caller's.
            unsafe { activate::<L>(pairs, x, (LASTING * moved).max(self.least_gap)) };
        }
        let active = &mut pairs.active;
        let count = active.len;
        let has_images = grains.place.len() > grains.owned;
        let mut nowhere = Load::default();
        let columns = Columns {
            now: grains.motion.as_ptr().cast(),
            mean: grains.mean.as_ptr().cast(),
            springs: active.springs.as_mut_ptr(),
            dt: grains.dt,
        };
        let targets = Targets {
            first: offset(segment.grains.start as u32),
            count: offset(segment.grains.len() as u32),
            loads: loads.as_mut_ptr().cast(),
            nowhere: (&raw mut nowhere).cast(),
        };
        // Places in the list and grains of the pairs of a chunk that touch.
        let (mut k, mut i, mut j) = ([0u32; 8 * GROUPS + 8], [0u32; 8 * GROUPS + 8], [0u32; 8 * GROUPS + 8]);
        let mut geometry = [const { MaybeUninit::<Geometry<L>>::uninit() }; MOST_GROUPS];
        let mut pressed = [const { MaybeUninit::<Pressed<L>>::uninit() }; MOST_GROUPS];
        let mut loads = [const { MaybeUninit::<[L; 8]>::uninit() }; MOST_GROUPS];
        let whole = [1.0; 8];
        let (list_i, list_j, list_k) = (active.i.as_ptr(), active.j.as_ptr(), active.slot.as_ptr());
        assert!([active.i.len(), active.j.len()] == [count.next_multiple_of(8); 2]);
        assert!(active.slot.len() >= count.next_multiple_of(8) && active.springs.len() >= count);
        let chunk_size = (GROUPS * L::N).max(8);
        let mut frontier = Frontier {
            next: offset(segment.grains.start as u32),
            images: offset(grains.owned as u32),
            columns: [columns.now.cast(), columns.mean.cast(), targets.loads.cast()],
            place: x.cast(),
            first: targets.first,
        };
        for chunk in (0..count).step_by(chunk_size) {
            let later = chunk + AHEAD * chunk_size;
            frontier.look_at(&active.j[count.min(later)..count.min(later + chunk_size)]);
            let mut found = 0;
            for group in (chunk..count.min(chunk + chunk_size)).step_by(8) {
                // SAFETY: there are whole groups.
                let (from_i, from_j, from_k) = unsafe { (list_i.add(group), list_j.add(group), list_k.add(group)) };
                // SAFETY: the list holds offsets of grains and images.
                let mut bits = unsafe { nearer_than::<L>(x, from_i, from_j, 0.0) };
                if group + 8 > count {
                    bits &= (1 << (count - group)) - 1;
                }
                let before = std::mem::replace(&mut active.touching[group / 8], bits);
                let mut gone = before & !bits;
                while gone != 0 {
                    opened.push(group as u32 + gone.trailing_zeros());
                    gone &= gone - 1;
                }
                // SAFETY: there is room for eight more than a chunk holds.
                unsafe {
                    L::pick(bits, from_k, k.as_mut_ptr().add(found));
                    L::pick(bits, from_i, i.as_mut_ptr().add(found));
                    L::pick(bits, from_j, j.as_mut_ptr().add(found));
                }
                found += bits.count_ones() as usize;
            }
            // Lanes left over repeat the last one and write nothing.
            for l in found..found.next_multiple_of(L::N) {
                (k[l], i[l], j[l]) = (k[l - 1], i[l - 1], j[l - 1]);
            }
            let groups = found.div_ceil(L::N);
            let (at_i, at_j, at_k) = (i.as_ptr(), j.as_ptr(), k.as_ptr());
            macro_rules! at {
                ($g:expr) => {{
                    let first = $g * L::N;
                    let (i, j, k) = (at_i.wrapping_add(first), at_j.wrapping_add(first), at_k.wrapping_add(first));
                    Group { i, j, k, live: (found - first).min(L::N) }
                }};
            }
            // One stage after another for the whole chunk: each is a short chain of operations, so that the processor
            // works on several groups at a time.
            for g in 0..groups {
                // SAFETY: as above.
                unsafe { Geometry::write(geometry[g].as_mut_ptr(), x, &at!(g)) };
            }
            for g in 0..groups {
                let mut mixture = MaybeUninit::uninit();
                let law = self.laws_of(grains, &i[g * L::N..], &j[g * L::N..], L::N, &mut mixture);
                // SAFETY: written just now.
                let geometry = unsafe { &*geometry[g].as_ptr() };
                // SAFETY: as above.
                unsafe { Pressed::write::<HERTZ, ROOT>(pressed[g].as_mut_ptr(), &columns, law, &at!(g), geometry) };
            }
            for g in 0..groups {
                let mut mixture = MaybeUninit::uninit();
                let law = self.laws_of(grains, &i[g * L::N..], &j[g * L::N..], L::N, &mut mixture);
                let shares;
                let share = if LEDGER && has_images {
                    shares = std::array::from_fn(|l| grains.share(index(j[g * L::N + l.min(L::N - 1)])));
                    &shares
                } else {
                    &whole
                };
                // SAFETY: written just now.
                let pressed = unsafe { &*pressed[g].as_ptr() };
                // SAFETY: as above.
                unsafe { pressed.respond::<LEDGER>(loads[g].as_mut_ptr(), &columns, law, &at!(g), share) };
            }
            for g in 0..groups {
                let group = at!(g);
                // SAFETY: written just now; indices as above.
                unsafe {
                    let (levers, load) = (&(*geometry[g].as_ptr()).levers, &*loads[g].as_ptr());
                    L::scatter(load, levers, group.i, group.j, &targets, group.live);
                }
            }
        }
    }

    /// Constants of the laws of a group.
    #[inline(always)]
    fn laws_of<'a>(
        &'a self,
        grains: Grains,
        i: &[u32],
        j: &[u32],
        lanes: usize,
        mixture: &'a mut MaybeUninit<Constants>,
    ) -> &'a Constants {
        match self.laws.as_slice() {
            [law] => law,
            laws => {
                let kind = |g: u32| grains.kind[index(g)] as usize;
                let of = |l: usize| self.index[kind(i[l.min(lanes - 1)]) * self.kinds + kind(j[l.min(lanes - 1)])];
                let which: [u32; 8] = std::array::from_fn(of);
                if which[1..].iter().all(|&law| law == which[0]) {
                    &laws[which[0] as usize]
                } else {
                    mixture.write(Constants::mixed(laws, &which))
                }
            }
        }
    }
}
