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

use super::list::{Pairs, Segment};
use super::sweep::{Grains, release};
use crate::lanes::{Lane, Quad, Record, Spring, Targets, Vec3s, Width, index, offset};
use crate::law::damping::AnyDamping;
use crate::law::normal::AnyNormal;
use crate::law::rolling::AnyRolling;
use crate::law::tangential::{AnyTangential, Stiffness, TangentialDamping};
use crate::law::twisting::AnyTwisting;
use crate::law::{ContactEnd, Law, Memory};
use crate::model::Model;
use crate::particles::Load;
use std::mem::MaybeUninit;

/// Groups of candidates looked at before their contacts are evaluated. With more than these four what the stages hand on
/// drives the records of the grains out of the first cache; with two the stages do not overlap.
const GROUPS: usize = 4;

/// Most groups of touching pairs in a chunk: chunks are whole groups of eight candidates, one at a time too.
const MOST_GROUPS: usize = 8;

/// Constants of one law, each for eight contacts.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
struct Constants {
    /// Stiffness of a linear spring, or effective modulus.
    normal: Record,
    /// Stiffness of a linear spring over the effective radius.
    normal_scaled: Record,
    /// Normal dashpot: a constant, over m\*, over √(m\* S).
    dashpot: [Record; 3],
    /// Tangential stiffness: a constant, over S.
    tangential: [Record; 2],
    /// Tangential dashpot: a constant, over m\*, over the normal dashpot.
    tangential_dashpot: [Record; 3],
    /// Coulomb coefficient.
    friction: Record,
    /// Least normal force.
    least: Record,
}

impl Constants {
    /// Of a law this loop can do, and whether it is Hertz's.
    fn of(law: &Law) -> Option<(Self, bool)> {
        if !matches!((law.rolling, law.twisting), (AnyRolling::None(_), AnyTwisting::None(_))) {
            return None;
        }
        let (normal, normal_scaled, is_hertz) = match law.normal {
            AnyNormal::Hooke(law) => (law.stiffness, 0.0, false),
            AnyNormal::ScaledHooke(law) => (0.0, law.modulus, false),
            AnyNormal::Hertz(law) => (law.effective_modulus, 0.0, true),
        };
        let dashpot = match law.damping {
            AnyDamping::None => [0.0; 3],
            AnyDamping::Coefficient(law) => [law.coefficient, 0.0, 0.0],
            AnyDamping::PerMass(law) => [0.0, law.rate, 0.0],
            AnyDamping::FromRestitution(law) => [0.0, 0.0, law.factor],
        };
        let (tangential, damping, friction) = match law.tangential {
            AnyTangential::Spring(law) => match law.stiffness {
                Stiffness::Given(k) => ([k, 0.0], law.damping, law.friction),
                Stiffness::Ratio(ratio) => ([0.0, ratio], law.damping, law.friction),
            },
            AnyTangential::Mindlin(law) => ([0.0, law.ratio], law.damping, law.friction),
            AnyTangential::None(_) | AnyTangential::Dashpot(_) => return None,
        };
        if tangential == [0.0; 2] {
            return None; // a spring without stiffness: the slider would have nothing to hold
        }
        let tangential_dashpot = match damping {
            TangentialDamping::None => [0.0; 3],
            TangentialDamping::Coefficient(c) => [c, 0.0, 0.0],
            TangentialDamping::PerMass(rate) => [0.0, rate, 0.0],
            TangentialDamping::Ratio(ratio) => [0.0, 0.0, ratio],
        };
        let least = match law.end {
            ContactEnd::NoTension => 0.0,
            ContactEnd::Geometric => f64::NEG_INFINITY,
        };
        let eight = |x: f64| [x; 8];
        let constants = Self {
            normal: eight(normal),
            normal_scaled: eight(normal_scaled),
            dashpot: dashpot.map(eight),
            tangential: tangential.map(eight),
            tangential_dashpot: tangential_dashpot.map(eight),
            friction: eight(friction),
            least: eight(least),
        };
        Some((constants, is_hertz))
    }

    /// The laws of eight different contacts.
    fn mixed(laws: &[Self], which: &[u32; 8]) -> Self {
        let mut all = laws[which[0] as usize];
        for (k, &law) in which.iter().enumerate().skip(1) {
            let law = &laws[law as usize];
            all.normal[k] = law.normal[0];
            all.normal_scaled[k] = law.normal_scaled[0];
            for c in 0..3 {
                all.dashpot[c][k] = law.dashpot[c][0];
                all.tangential_dashpot[c][k] = law.tangential_dashpot[c][0];
            }
            all.tangential[0][k] = law.tangential[0][0];
            all.tangential[1][k] = law.tangential[1][0];
            all.friction[k] = law.friction[0];
            all.least[k] = law.least[0];
        }
        all
    }
}

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
    /// `moved` bounds how far any two grains have moved relative to each other since the last sweep \[m\]. Time must pass: the loads of an instant are
    /// those of the general loop.
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

/// Chunks of candidates between asking for the records of grains and using them.
const AHEAD: usize = 6;

/// Asks for the records of grains shortly before they are used.
///
/// Pairs are sorted by their first grain and grains by place, so that a grain is met first as the second one of a pair,
/// and the largest index met so far grows steadily: whatever it passes will be needed.
struct Frontier {
    /// Offset of the next grain to ask for.
    next: u32,
    /// Offset of the first image.
    images: u32,
    columns: [*const i8; 3],
    place: *const i8,
    /// Offset of the grain at the start of the third column, the loads.
    first: u32,
}

impl Frontier {
    /// Asks for what these second grains need.
    #[inline(always)]
    fn look_at(&mut self, partners: &[u32]) {
        let mut last = self.next;
        for &j in partners {
            last = last.max(if j < self.images { j } else { 0 });
        }
        // A jump is no steady growth: the grains are not sorted.
        self.next = self.next.max(last.saturating_sub(offset(4096)));
        while self.next < last {
            let at = self.next as usize;
            prefetch(self.place.wrapping_add(at));
            prefetch(self.columns[0].wrapping_add(2 * at));
            prefetch(self.columns[1].wrapping_add(2 * at));
            prefetch(self.columns[2].wrapping_add(2 * at).wrapping_sub(2 * self.first as usize));
            self.next += offset(1);
        }
    }
}

/// Asks for a cache line that will be needed soon.
#[inline(always)]
fn prefetch(line: *const i8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T1>(line);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}

/// Which of eight pairs have a gap below `gap` \[m\].
#[inline(always)]
unsafe fn nearer_than<L: Lane>(x: *const Quad, i: *const u32, j: *const u32, gap: f64) -> u8 {
    let mut bits = 0u8;
    for part in (0..8).step_by(L::N) {
        // SAFETY: the caller's.
        let [a, b, c, radii] = unsafe { L::places(x, i.add(part), j.add(part)) };
        let (d, reach) = (Vec3s::new(a, b, c), radii + L::splat(gap));
        bits |= L::bits(d.dot(d).less(reach * reach)) << part;
    }
    bits
}

/// Steps that the active pairs should last: about as many as make finding them cheap beside looking at all each step.
const LASTING: f64 = 12.0;

/// Finds the pairs of the list with a gap below `gap` \[m\].
#[inline(always)]
unsafe fn activate<L: Lane>(pairs: &mut Pairs, x: *const Quad, gap: f64) {
    pairs.settle();
    let count = pairs.len();
    let active = &mut pairs.active;
    active.room = gap;
    let mut len = 0;
    active.touching.resize(count / 8 + 2, 0);
    active.springs.clear();
    for column in [&mut active.i, &mut active.j, &mut active.k] {
        column.resize(count.next_multiple_of(8) + 8, 0);
    }
    for group in (0..count).step_by(8) {
        // SAFETY: the list holds whole groups of offsets.
        let mut bits =
            unsafe { nearer_than::<L>(x, pairs.i.as_ptr().add(group), pairs.j.as_ptr().add(group), active.room) };
        if group + 8 > count {
            bits &= (1 << (count - group)) - 1;
        }
        let here: [u32; 8] = std::array::from_fn(|l| (group + l) as u32);
        // SAFETY: there is room for all and eight more.
        unsafe {
            L::pick(bits, here.as_ptr(), active.k.as_mut_ptr().add(len));
            L::pick(bits, pairs.i.as_ptr().add(group), active.i.as_mut_ptr().add(len));
            L::pick(bits, pairs.j.as_ptr().add(group), active.j.as_mut_ptr().add(len));
        }
        // The bits and springs of those that touch, closed up.
        let (mut from, touching) = (bits, pairs.touching[group / 8]);
        while from != 0 {
            let bit = touching >> from.trailing_zeros() & 1;
            active.touching[len / 8] |= bit << (len % 8);
            let k = group + from.trailing_zeros() as usize;
            active.springs.push(if bit == 1 { pairs.springs[k] } else { Spring::default() });
            len += 1;
            from &= from - 1;
        }
    }
    active.len = len;
    active.touching.truncate(len.div_ceil(8));
    for column in [&mut active.i, &mut active.j, &mut active.k] {
        column.truncate(len.next_multiple_of(8));
        column[len..].fill(0);
    }
    for a in active.slot.len()..len.next_multiple_of(8) {
        active.slot.push((a * size_of::<Spring>()) as u32);
    }
}

/// Where the numbers are.
struct Columns {
    now: *const Record,
    mean: *const Record,
    springs: *mut Spring,
    dt: f64,
}

/// Contacts evaluated together.
struct Group {
    /// Grains.
    i: *const u32,
    j: *const u32,
    /// Place in the list.
    k: *const u32,
    /// How many of them count.
    live: usize,
}

/// Where the grains of a group are.
struct Geometry<L> {
    /// From centre to centre, sum of the radii, distance.
    d: Vec3s<L>,
    reach: L,
    distance: L,
    /// Distance of the contact point from the centres.
    levers: [Record; 2],
}

impl<L: Lane> Geometry<L> {
    /// Of grains whose records are there.
    #[inline(always)]
    unsafe fn write(to: *mut Self, x: *const Quad, group: &Group) {
        // SAFETY: the caller's.
        let ([a, b, c, reach], radius) = unsafe { (L::places(x, group.i, group.j), L::radii(x, group.i)) };
        let d = Vec3s::new(a, b, c);
        let distance = d.dot(d).sqrt();
        let half_overlap = L::splat(0.5) * (reach - distance);
        let lever = radius - half_overlap;
        // SAFETY: the caller's; every field is written.
        unsafe {
            (*to).d = d;
            (*to).reach = reach;
            (*to).distance = distance;
            lever.store(&mut (*to).levers[0]);
            (distance - lever).store(&mut (*to).levers[1]);
        }
    }
}

/// Turns a tangent vector with the contact frame, see [`crate::law::carry_with_frame`].
#[inline(always)]
fn carry<L: Lane>(v: Vec3s<L>, n: Vec3s<L>, middle: Vec3s<L>, angle: L) -> Vec3s<L> {
    let shrink = (angle * angle).mul_add(L::splat(-1.0 / 3.0), L::splat(1.0));
    let spun = n.cross(v).mul_add(angle, v * shrink);
    let lift = spun.dot(n) * (L::splat(2.0) - middle.dot(n));
    middle.neg_mul_add(lift, spun)
}

/// What the normal direction of a group comes to, and what its tangential direction needs.
struct Pressed<L> {
    n: Vec3s<L>,
    middle: Vec3s<L>,
    /// Slip velocity now, and displacement over the step in the tangent plane of its end.
    slip: Vec3s<L>,
    stride: Vec3s<L>,
    /// Turn of the contact frame about the normal over the step.
    angle: L,
    normal_force: L,
    normal_dashpot: L,
    /// Approach over the step, from the mean velocity.
    approached: L,
    /// Tangential stiffness and dashpot.
    kt: L,
    ct: L,
}

impl<L: Lane> Pressed<L> {
    /// Velocities and normal forces of a group, see `touch`, `contact_velocity` and `Law::respond`.
    #[inline(always)]
    unsafe fn write<const HERTZ: bool, const ROOT: bool>(
        to: *mut Self,
        columns: &Columns,
        law: &Constants,
        group: &Group,
        geometry: &Geometry<L>,
    ) {
        let (i, j, levers) = (group.i, group.j, &geometry.levers);
        // SAFETY: the caller's.
        let (now, mean, [x, y, z]) = unsafe {
            let [now, mean] = [L::motions(columns.now, i, j, levers), L::motions(columns.mean, i, j, levers)];
            (now, mean, L::spins(columns.mean, i, j))
        };
        let spins = Vec3s::new(x, y, z);
        let (zero, one, half, dt) = (L::splat(0.0), L::splat(1.0), L::splat(0.5), L::splat(columns.dt));
        let half_dt = L::splat(0.5 * columns.dt);

        let (inverse_mass, inverse_radius) = (now[3], now[7]);
        let bodies = inverse_mass * inverse_radius;
        let all = one.div(geometry.distance * bodies);
        let (per_distance, per_bodies) = (all * bodies, all * geometry.distance);
        let (mass, radius) = (per_bodies * inverse_radius, per_bodies * inverse_mass);
        let n = geometry.d * per_distance;
        let overlap = (geometry.reach - geometry.distance).max(zero);

        let v = Vec3s::new(now[0], now[1], now[2]);
        let w = Vec3s::new(now[4], now[5], now[6]);
        let approach = v.dot(n);
        let slip = n.neg_mul_add(approach, w.cross(n) + v);

        let v = Vec3s::new(mean[0], mean[1], mean[2]);
        let w = Vec3s::new(mean[4], mean[5], mean[6]);
        let along = v.dot(n);
        let middle = n.neg_mul_add(along, v).mul_add(half_dt * per_distance, n);
        // Half way the levers were that much longer.
        let levers = spins.mul_add(L::splat(0.25 * columns.dt) * along, w);
        let mean_approach = v.dot(middle);
        let mean_slip = middle.neg_mul_add(mean_approach, levers.cross(middle) + v);
        let angle = w.dot(middle) * per_distance * dt;
        let spun = n.cross(mean_slip).mul_add(half * angle, mean_slip);
        let stride = n.neg_mul_add(spun.dot(n), spun) * dt;

        let (stiffness, elastic) = if HERTZ {
            let stiffness = L::load(&law.normal) * L::splat(2.0) * (radius * overlap).sqrt();
            (stiffness, stiffness * L::splat(2.0 / 3.0) * overlap)
        } else {
            let stiffness = radius.mul_add(L::load(&law.normal_scaled), L::load(&law.normal));
            (stiffness, stiffness * overlap)
        };
        let mut dashpot = mass.mul_add(L::load(&law.dashpot[1]), L::load(&law.dashpot[0]));
        if ROOT {
            dashpot = (mass * stiffness).sqrt().mul_add(L::load(&law.dashpot[2]), dashpot);
        }
        let normal_force = dashpot.mul_add(approach, elastic).max(L::load(&law.least));
        let kt = stiffness.mul_add(L::load(&law.tangential[1]), L::load(&law.tangential[0]));
        let ct = dashpot.mul_add(
            L::load(&law.tangential_dashpot[2]),
            mass.mul_add(L::load(&law.tangential_dashpot[1]), L::load(&law.tangential_dashpot[0])),
        );
        // SAFETY: the caller's; every field is written.
        unsafe {
            (*to).n = n;
            (*to).middle = middle;
            (*to).slip = slip;
            (*to).stride = stride;
            (*to).angle = angle;
            (*to).normal_force = normal_force;
            (*to).normal_dashpot = normal_force - elastic;
            (*to).approached = mean_approach * dt;
            (*to).kt = kt;
            (*to).ct = ct;
        }
    }

    /// Tangential forces, see `spring_and_slider`; advances the memory. Writes what acts on the first grains: force,
    /// loss in dashpots, moment over the lever, loss by sliding.
    #[inline(always)]
    unsafe fn respond<const LEDGER: bool>(
        &self,
        to: *mut [L; 8],
        columns: &Columns,
        law: &Constants,
        group: &Group,
        share: &Record,
    ) {
        let &Self { n, middle, slip, stride, angle, normal_force, normal_dashpot, approached, kt, ct } = self;
        let (zero, one, half, dt) = (L::splat(0.0), L::splat(1.0), L::splat(0.5), L::splat(columns.dt));

        // The memory, turned with the frame.
        // SAFETY: the caller's.
        let memory = unsafe {
            if LEDGER {
                L::springs(columns.springs, group.k)
            } else {
                let [a, b, c, d] = L::elastic(columns.springs, group.k);
                [a, b, c, d, zero, zero, zero, zero]
            }
        };
        let spring = Vec3s::new(memory[0], memory[1], memory[2]);
        let kt_before = memory[3];
        let lasting = zero.less(kt_before);
        let time = L::select(lasting, dt, zero);
        let length2 = spring.dot(spring);
        let carried = carry(spring, n, middle, angle);
        let per_both = one.div((kt * length2).max(L::splat(1e-280)));
        let excess = (carried.dot(carried) - length2) * kt * per_both;
        let before = carried * excess.mul_add(L::splat(-0.5), one);
        let stiffer = kt_before.less(kt);
        let kept = before * L::select(stiffer, kt_before * length2 * per_both, one);

        // Stick, or slide where the limit is passed.
        let mut stretched = stride * L::select(lasting, one, zero);
        let mut viscous = slip * -ct;
        let mut force = (kept + stretched).neg_mul_add(kt, viscous);
        let limit = L::load(&law.friction) * normal_force.max(zero);
        let trial2 = force.dot(force);
        let slides = (limit * limit).less(trial2);
        if L::bits(slides) != 0 {
            let trial = trial2.sqrt();
            let give = kt.mul_add(time, ct);
            let per_both = one.div(trial * give);
            let limited = force * (limit * give * per_both);
            let u = kept.mul_add(kt, limited) * -(trial * per_both);
            stretched = Vec3s::select(slides, u * time, stretched);
            viscous = Vec3s::select(slides, u * -ct, viscous);
            force = Vec3s::select(slides, limited, force);
        }
        let after = kept + stretched;

        // Energy lost over the step.
        let (mut damped, mut rubbed) = (zero, zero);
        if LEDGER {
            let share = L::load(share);
            let viscous_before = carry(Vec3s::new(memory[4], memory[5], memory[6]), n, middle, angle);
            let force_before = before.neg_mul_add(kt_before, viscous_before);
            let work = (force_before + force).dot(stride) * half;
            let in_dashpot = (viscous_before + viscous).dot(stretched) * half;
            let stored = (kt * after.dot(after) - kt_before * length2) * half;
            rubbed = (in_dashpot - work - stored) * share;
            damped = ((memory[7] + normal_dashpot) * approached).mul_add(half, -in_dashpot) * share;
        }

        let turn = n.cross(force);
        let total = n.neg_mul_add(normal_force, force);
        let memory = [after.x, after.y, after.z, kt, viscous.x, viscous.y, viscous.z, normal_dashpot];
        // SAFETY: the caller's.
        unsafe {
            L::store_springs(memory, columns.springs, group.k, group.live);
            *to = [total.x, total.y, total.z, damped, turn.x, turn.y, turn.z, rubbed];
        }
    }
}
