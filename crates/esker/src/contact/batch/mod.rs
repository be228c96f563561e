//! The contact loop over pairs, several at once: spheres and discs with springs, dashpots and a Coulomb slider.
//!
//! Now and then the pairs that may touch within the next steps are picked from the list of candidates and put into
//! [octets](super::octets) with what they remember. The octets are taken in chunks, stage by stage: geometry,
//! velocities, forces, loads. Those of a chunk that do not touch go through with a force of zero. The formulas are those of
//! [`sweep`](super::sweep) and [`law`](crate::law), which stay the readable reference: `tests/batch.rs` compares the two.
//! Here they are arranged so that a group needs one division for all that its bodies come to and one, beside a root, for
//! sliding.
//!
//! Losses are added to the two spare numbers of the [`Load`] of the first grain, so that the account of energy costs no
//! memory traffic of its own.

mod constants;
mod evaluate;
mod flats;
mod laws;
mod near;
mod walls;

pub use walls::WallBatch;

use super::column::Column;
use super::list::{self, Memories, Opened, Pairs, Part, Segment};
use super::near_pairs::{Block, Room};
use super::octets::{Needs, Octet};
use super::sweep::{Grains, release};
use super::window::LoadsAt;
use crate::integrate::isotropic::Found;
use crate::lanes::{Lane, Quad, Record, Targets, Width, index, offset};
use crate::math::Vec3;
use crate::model::Model;
use crate::particles::Load;
use constants::Constants;
use evaluate::{Columns, Geometry, Group, Meeting, Pressed};
use laws::{Form, Laws, for_form};
use near::{Frontier, find, is_quiet};
use std::mem::MaybeUninit;

/// Groups of pairs whose stages are done one after another. With more than these four what the stages hand on drives the
/// records of the grains out of the first cache; with two the stages do not overlap.
const GROUPS: usize = 4;

/// Most groups in a chunk: chunks are whole octets, one pair at a time too.
const MOST_GROUPS: usize = 8;

/// Whom a sweep tells the first grain that is not done; tells the sweep the [limit](super::window::Window::limit) of the window, or the
/// largest number where there is none.
pub type Done<'a> = dyn FnMut(usize) -> u32 + 'a;

/// What is known of the velocities.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// Bound of the relative speed of any two grains in this step \[m/s\].
    pub relative_speed: f64,
    /// Those in each block of grains.
    pub found: Column<'a, Found>,
}

/// What pairs are evaluated by.
#[derive(Clone, Copy)]
pub struct By<'a> {
    /// Laws, kinds of grain, walls.
    pub model: &'a Model,
    /// The grains.
    pub grains: Grains<'a>,
    /// Their velocities, roughly.
    pub known: Known<'a>,
}

/// The laws between the kinds of grain of a model, if this loop can do them all.
#[derive(Clone, Debug)]
pub struct Batch {
    laws: Laws,
    width: Width,
    ledger: bool,
    /// Near pairs have at least this gap \[m\].
    least_gap: f64,
}

impl Batch {
    /// The laws of a model, unless some pair of kinds needs the general loop; with or without energy losses.
    pub fn of(model: &Model, width: Width, ledger: bool) -> Option<Self> {
        let kinds = || model.kinds.iter().map(|kind| kind.material);
        let table = kinds().flat_map(|a| kinds().map(move |b| model.laws.law(a, b)));
        let laws = Laws::new(model.kinds.len(), table)?;
        Some(Self { laws, width, ledger, least_gap: 0.03 * model.skin })
    }

    /// Which memories the laws need.
    pub fn needs(&self) -> Needs {
        Needs { slip: self.laws.viscous, dashpot: self.ledger }
    }

    /// Evaluates the pairs of a segment with images and across its border, and adds their loads to the grains it has. What acts on the first grains of others is left with the pairs, to be
    /// [handed over](super::hand_over). Time must pass: the loads of an instant are those of the general loop.
    ///
    /// Blocks of near pairs are renewed in `room`, whatever was done in it before.
    ///
    /// # Safety
    /// `loads` tells where the loads of the segment's grains are, and nobody else reads or writes them.
    pub unsafe fn sweep_across(&self, by: By, segment: &mut Segment, loads: LoadsAt, room: &mut Room) {
        segment.opened.clear();
        segment.opened_below.clear();
        for part in [Part::Images, Part::Below] {
            // SAFETY: the caller's.
            unsafe { self.sweep_part(by, segment, part, loads, room, None) }
        }
    }

    /// Evaluates the pairs within a segment, after those across its border, and adds their loads to the grains. On the way `done`
    /// is told of the first grain whose pairs have not all been evaluated: those before it are not looked at again.
    ///
    /// # Safety
    /// As of the sweep across the border.
    pub unsafe fn sweep_within(&self, by: By, segment: &mut Segment, loads: LoadsAt, room: &mut Room, done: &mut Done) {
        // SAFETY: the caller's.
        unsafe { self.sweep_part(by, segment, Part::Inside, loads, room, Some(done)) }
        done(segment.grains.end);
    }

    unsafe fn sweep_part(
        &self,
        By { model, grains, known }: By,
        segment: &mut Segment,
        part: Part,
        loads: LoadsAt,
        room: &mut Room,
        wave: Option<&mut Done>,
    ) {
        assert!(grains.dt > 0.0);
        assert!(grains.mean.len() == grains.place.len() && grains.kind.len() == grains.place.len());
        debug_assert!(loads.first == offset(segment.grains.start as u32) && (loads.ring.is_null() || wave.is_some()));
        let mut nowhere = Load::default();
        let targets = match loads.ring.is_null() {
            true => Targets::new(loads.column.cast(), loads.first, part.owned(), (&raw mut nowhere).cast()),
            false => Targets::around(loads.ring.cast(), offset(loads.size as u32)),
        };
        let pairs = &mut segment.parts[part as usize];
        let opened = if part == Part::Below { &mut segment.opened_below } else { &mut segment.opened };
        let mut work = Work { model, grains, known, targets, loads, part, room, opened, wave };
        // SAFETY: the list was built for these grains; the width was found on this processor.
        unsafe {
            match self.width {
                #[cfg(target_arch = "x86_64")]
                Width::Eight => self.sweep_eight(&mut work, pairs),
                #[cfg(target_arch = "x86_64")]
                Width::Four => self.sweep_four(&mut work, pairs),
                _ => self.sweep_in::<f64>(&mut work, pairs),
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma,bmi1,bmi2")]
    unsafe fn sweep_eight(&self, work: &mut Work, pairs: &mut Pairs) {
        // SAFETY: the caller's.
        unsafe { self.sweep_in::<crate::lanes::F64x8>(work, pairs) }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn sweep_four(&self, work: &mut Work, pairs: &mut Pairs) {
        // SAFETY: the caller's.
        unsafe { self.sweep_in::<crate::lanes::F64x4>(work, pairs) }
    }

    #[inline(always)]
    unsafe fn sweep_in<L: Lane>(&self, work: &mut Work, pairs: &mut Pairs) {
        // SAFETY: the caller's.
        unsafe { for_form!(self.laws, self.ledger, self.all::<L>(work, pairs)) }
    }

    /// Finds the near pairs if it is time to, then evaluates them block by block.
    #[inline(always)]
    unsafe fn all<L: Lane, const HERTZ: bool, const ROOT: bool, const VISCOUS: bool, const LEDGER: bool>(
        &self,
        work: &mut Work,
        pairs: &mut Pairs,
    ) {
        let grains = work.grains;
        let count = pairs.len();
        let Memories::Near(near) = &mut pairs.memory else { unreachable!("the list was built for this loop") };
        let kind = |g: u32| grains.kind[index(g)];
        let law =
            |i: u32, j: u32| if self.laws.constants.len() == 1 { 0 } else { self.laws.which(kind(i), kind(j).into()) };
        let images = offset(grains.owned as u32);
        if near.blocks.is_empty() {
            near.begin([&pairs.i, &pairs.j], count, images);
        }
        let x = grains.place.as_ptr().cast();
        let mut frontier = Frontier {
            next: work.loads.first,
            place: grains.place.as_ptr().cast(),
            motion: grains.mean.as_ptr().cast(),
            loads: work.targets,
        };
        for b in 0..near.blocks.len() {
            let block = &mut near.blocks[b];
            let moved = work.moved(block);
            block.come_nearer(moved);
            // SAFETY: the caller's.
            unsafe {
                if block.room < 0.0 && !is_quiet::<L>(block, x, moved) {
                    let lengths = [moved, self.least_gap];
                    find::<L>([&pairs.i, &pairs.j], count, (near, work.room), b, x, lengths, images, law);
                }
                self.block::<L, HERTZ, ROOT, VISCOUS, LEDGER>(work, &mut near.blocks[b], &mut frontier);
            }
        }
    }

    /// Chunk after chunk of octets.
    #[inline(always)]
    unsafe fn block<L: Lane, const HERTZ: bool, const ROOT: bool, const VISCOUS: bool, const LEDGER: bool>(
        &self,
        work: &mut Work,
        Block { octets, handed, .. }: &mut Block,
        frontier: &mut Frontier,
    ) {
        let grains = work.grains;
        let (x, v) = (grains.place.as_ptr().cast::<Quad>(), grains.mean.as_ptr().cast::<Record>());
        let has_images = grains.place.len() > grains.owned;
        let mut groups = [const { MaybeUninit::<Group>::uninit() }; MOST_GROUPS];
        let mut geometry = [const { MaybeUninit::<Geometry<L>>::uninit() }; MOST_GROUPS];
        let mut mixtures = [const { MaybeUninit::<Constants>::uninit() }; MOST_GROUPS];
        let mut laws = [std::ptr::null::<Constants>(); MOST_GROUPS];
        let mut meetings = [const { MaybeUninit::<Meeting<L>>::uninit() }; MOST_GROUPS];
        let mut loads = [const { MaybeUninit::<[L; 8]>::uninit() }; MOST_GROUPS];
        let whole = [1.0; 8];
        let chunk = (GROUPS * L::N / 8).max(1);
        let count = octets.tags.len();
        let columns = Columns::of(octets);
        let lengths = [octets.pairs.len(), octets.spring.len(), octets.stiffness.len(), octets.approach.len()];
        assert!(lengths == [count; 4]);
        assert!(!VISCOUS || octets.slip.len() == count);
        assert!(!LEDGER || octets.dashpot.len() == count);
        let hands_over = work.part == Part::Below;
        let mut targets = work.targets;
        if hands_over {
            handed.resize(count, NOTHING);
            targets = targets.with_firsts_at(handed.as_mut_ptr().cast());
        }
        for first in (0..count).step_by(chunk) {
            let mut limit = u32::MAX;
            match &mut work.wave {
                Some(done) => {
                    limit = done(index(octets.pairs[first].i[0]));
                    frontier.look_ahead(&octets.tags, first, chunk);
                    frontier.look_at_each(octets, first, chunk, |tag| tag.far);
                }
                None => frontier.look_at_each(octets, first, chunk, |_| true),
            }
            // One stage after another for the whole chunk: each is a short chain of operations, so that the processor
            // works on several groups at a time.
            let mut found = 0;
            for octet in first..count.min(first + chunk) {
                let before = octets.tags[octet].touching;
                let mut now = 0;
                for lane in (0..8).step_by(L::N) {
                    let mut group = Group { octet, lane, lasting: before >> lane, touching: 0 };
                    // SAFETY: the caller's; there are not more groups.
                    let bits = unsafe { Geometry::write(geometry[found].as_mut_ptr(), x, &columns, &group, grains.dt) };
                    let bits = bits & octets.tags[octet].live >> lane;
                    now |= bits << lane;
                    (group.lasting, group.touching) = (group.lasting & bits, bits);
                    groups[found].write(group);
                    found += usize::from(bits != 0);
                }
                if LEDGER && before & !now != 0 {
                    for l in (0..8).filter(|l| (before & !now) >> l & 1 == 1) {
                        let Octet { i, j } = octets.pairs[octet];
                        let (i, j) = (index(i[l]), index(j[l]));
                        let lost = release(work.model, grains, i, j, &mut octets.memory(octet, l));
                        work.opened.push(Opened { i, j, lost });
                    }
                }
                octets.tags[octet].touching = now;
                if hands_over && now != 0 {
                    handed[octet] = NOTHING;
                }
            }
            for g in 0..found {
                // SAFETY: written above.
                unsafe {
                    let group = groups[g].assume_init_ref();
                    let law = self.laws.of(&octets.law[group.octet], &mut mixtures[g]);
                    laws[g] = law;
                    let (to, geometry) = (meetings[g].as_mut_ptr(), geometry[g].assume_init_ref());
                    Meeting::write::<HERTZ>(to, v, law, &columns, group, geometry);
                }
            }
            for g in 0..found {
                // SAFETY: written above.
                unsafe {
                    let (group, law) = (groups[g].assume_init_ref(), &*laws[g]);
                    let (geometry, meeting) = (geometry[g].assume_init_ref(), meetings[g].assume_init_ref());
                    let mut pressed = MaybeUninit::<Pressed<L>>::uninit();
                    let to = pressed.as_mut_ptr();
                    Pressed::of_pairs::<HERTZ, ROOT, VISCOUS>(to, grains.dt, law, &columns, group, geometry, meeting);
                    let shares;
                    let share = if LEDGER && has_images {
                        shares = shares_of(grains, columns.j(group), L::N);
                        &shares
                    } else {
                        &whole
                    };
                    let (to, pressed) = (loads[g].as_mut_ptr(), pressed.assume_init_ref());
                    pressed.respond::<HERTZ, VISCOUS, LEDGER>(to, grains.dt, law, &columns, group, share);
                }
            }
            for g in 0..found {
                // SAFETY: written above; the octets hold grains and images.
                unsafe {
                    let group = groups[g].assume_init_ref();
                    let levers = &geometry[g].assume_init_ref().levers;
                    let load = loads[g].assume_init_ref();
                    if hands_over {
                        let slots = slots_of(group);
                        L::scatter(load, levers, slots.as_ptr(), columns.j(group), &targets);
                    } else if octets.tags[group.octet].reaches(limit) {
                        work.loads.scatter(load, levers, &columns, group, limit);
                    } else {
                        let begin = index(octets.pairs[first].i[0]) / list::BLOCK * list::BLOCK;
                        debug_assert!(work.loads.holds(&columns, group, L::N, begin, limit));
                        L::scatter(load, levers, columns.i(group), columns.j(group), &targets);
                    }
                    match work.part {
                        Part::Below => work.loads.mark_touching(columns.j(group), group),
                        Part::Images => work.loads.mark_touching(columns.i(group), group),
                        _ => {}
                    }
                }
            }
        }
    }
}

/// Loads of eight pairs to which others can be added as they are, a zero with its sign too.
const NOTHING: [Load; 8] = {
    let zeros = Vec3::new(-0.0, -0.0, -0.0);
    [Load { force: zeros, damped: -0.0, torque: zeros, rubbed: -0.0 }; 8]
};

/// Where the pairs of a group, which hold the first `N` of these, have their records among those of their block.
fn slots_of(group: &Group) -> [u32; 8] {
    std::array::from_fn(|l| offset((8 * group.octet + group.lane + l) as u32))
}

impl LoadsAt {
    /// Marks the grains of a group that touch.
    #[inline(always)]
    unsafe fn mark_touching(&self, grains: *const u32, group: &Group) {
        let mut touching = group.touching;
        while touching != 0 {
            // SAFETY: the caller's.
            unsafe { self.mark(*grains.add(touching.trailing_zeros() as usize)) };
            touching &= touching - 1;
        }
    }

    /// Adds the loads of a group some of whose grains may be beyond the window. Pairs that do not touch are left out: to add their zeros
    /// changes nothing, since no sum is a negative zero.
    #[inline(always)]
    unsafe fn scatter<L: Lane>(
        &self,
        load: &[L; 8],
        levers: &[Record; 2],
        columns: &Columns,
        group: &Group,
        limit: u32,
    ) {
        let mut loads = [NOTHING; 2];
        let slots: [u32; 8] = std::array::from_fn(|l| offset(l as u32));
        // SAFETY: the caller's; there are not more lanes.
        unsafe {
            let to = Targets::apart(loads.each_mut().map(|loads| loads.as_mut_ptr().cast()));
            L::scatter(load, levers, slots.as_ptr(), slots.as_ptr(), &to);
            self.add_each(&loads, [columns.i(group), columns.j(group)], group.touching, limit);
        }
    }

    /// Adds loads of first and of second grains one after another, those of the pairs that touch.
    #[cold]
    #[inline(never)]
    unsafe fn add_each(&self, loads: &[[Load; 8]; 2], grains: [*const u32; 2], mut touching: u8, limit: u32) {
        while touching != 0 {
            let l = touching.trailing_zeros() as usize;
            for (loads, grains) in loads.iter().zip(grains) {
                // SAFETY: the caller's.
                unsafe { self.add(*grains.add(l), limit, &loads[l]) };
            }
            touching &= touching - 1;
        }
    }

    /// Whether the grains of a group are in the window, when it begins with `first`, or there is none.
    unsafe fn holds(&self, columns: &Columns, group: &Group, lanes: usize, first: usize, limit: u32) -> bool {
        let in_it = |grain: u32| index(grain) >= first && grain < limit;
        // SAFETY: the caller's.
        self.ring.is_null()
            || (0..lanes).all(|l| unsafe { in_it(*columns.i(group).add(l)) && in_it(*columns.j(group).add(l)) })
    }
}

/// Shares of the losses that pairs with these second grains book.
unsafe fn shares_of(grains: Grains, j: *const u32, lanes: usize) -> Record {
    // SAFETY: the caller's.
    std::array::from_fn(|l| unsafe { grains.share(index(*j.add(l.min(lanes - 1)))) })
}

/// What a sweep needs besides the pairs, and what it finds.
struct Work<'a, 'w> {
    model: &'a Model,
    grains: Grains<'a>,
    known: Known<'a>,
    targets: Targets,
    loads: LoadsAt,
    part: Part,
    room: &'a mut Room,
    opened: &'a mut Vec<Opened>,
    /// Whom to tell which grains are done, if all pairs are of the segment's own grains.
    wave: Option<&'a mut Done<'w>>,
}

impl Work<'_, '_> {
    /// How far any two grains of the candidates of a block have moved relative to each other over the step \[m\], at most.
    fn moved(&self, block: &Block) -> f64 {
        // Grains that images belong to may have gone on already.
        if block.has_images {
            return self.known.relative_speed * self.grains.dt;
        }
        let found = |all: Found, block: &u32| all.merged(&self.known.found[*block as usize]);
        block.of.iter().fold(Found::NOTHING, found).speeds().relative * self.grains.dt
    }
}
