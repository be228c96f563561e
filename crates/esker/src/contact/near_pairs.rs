//! Pairs that may touch within the next steps, picked from a list of candidates block by block: what the fast contact loop
//! ([`batch`](super::batch)) walks over.
//!
//! Every few steps somebody looks whether others have come close. Most such looks are at a few pairs only, whose gaps were
//! the smallest but for those of the near pairs when all candidates were looked at last.
//!
//! A new list takes over the memories of the old one when its near pairs are found for the first time, in the sweep that
//! follows: the lists only tell which pair finds its memory where. Octets that have nothing left to give make room for the
//! new ones, so that a new list needs hardly more memory than one.

use super::list;
use super::octets::{Needs, Octet, Octets, Slot, Tag};
use crate::lanes::{index, offset};
use crate::law::Memory;
use crate::particles::Load;
use crate::state::held;
use std::mem::{swap, take};

/// Candidates whose near pairs are found together: a list is renewed block by block, so that no second list is needed.
pub const BLOCK: usize = Slot::LANES;

/// Grains whose places in memory are this far apart lie in different strips, see
/// [`spatial_order`](crate::neighbor::spatial_order), or in no order.
pub const FAR: u32 = offset(1 << 14);

/// The near pairs of a list of candidates.
#[derive(Clone, Debug)]
pub struct Near {
    /// Of each block of [`BLOCK`] candidates, in their order; none before the first sweep.
    pub blocks: Vec<Block>,
    needs: Needs,
    inherited: Inherited,
}

/// What a worker needs to renew a block, and to add up loads.
#[derive(Debug, Default)]
pub struct Room {
    spare: Octets,
    picked: Picked,
    /// For a [window](super::window::Window), once there is one.
    pub loads: Vec<Load>,
}

impl Room {
    /// Memory held \[byte\].
    pub fn memory_held(&self) -> usize {
        self.spare.memory_held() + self.picked.memory_held() + held(&self.loads)
    }
}

/// The near pairs of some candidates.
#[derive(Clone, Debug)]
pub struct Block {
    /// In the order of the candidates.
    pub octets: Octets,
    /// What those that touch do to their first grains, where another segment has these.
    pub handed: Vec<[Load; 8]>,
    /// How much nearer two grains may still come before another pair has to be among them \[m\]; minus infinity if
    /// nobody has looked yet.
    pub room: f64,
    /// Of the other candidates those with the smallest gaps when all were looked at last. Lanes that hold no pair repeat one
    /// that does.
    pub soon: Vec<Octet>,
    /// How much nearer two grains may still come before one of the rest, neither near nor in `soon`, touches \[m\]; minus
    /// infinity if nobody has looked yet.
    pub room_beyond: f64,
    /// Where the grains of the candidates are: [blocks of grains](super::list::BLOCK), ascending.
    pub of: Vec<u32>,
    /// Whether some are images, which are nowhere there.
    pub has_images: bool,
    /// Which of the candidates are among them, one bit each.
    pub inside: Vec<u8>,
    /// How many are.
    pub count: usize,
}

impl Block {
    /// Grains have come so much nearer to each other, at most \[m\].
    pub fn come_nearer(&mut self, by: f64) {
        self.room -= by;
        self.room_beyond -= by;
    }
}

/// What the candidates of a list remember before the near ones are found.
#[derive(Clone, Debug, Default)]
struct Inherited {
    /// Candidates that touch, ascending, and where each finds its memory.
    slots: Vec<(u32, Slot)>,
    octets: Vec<Octets>,
    /// How many candidates have taken theirs, and how many octets nobody needs any more.
    taken: usize,
    given_away: usize,
}

impl Inherited {
    /// Octets that nobody needs any more, or empty ones: room for new ones.
    fn spare(&mut self) -> Octets {
        let needed = self.slots.get(self.taken).map_or(self.octets.len(), |(_, slot)| slot.octets());
        if self.given_away == needed {
            return Octets::default();
        }
        self.given_away += 1;
        take(&mut self.octets[self.given_away - 1])
    }
}

impl Near {
    /// None yet; some candidates, ascending, touch and have a memory.
    pub fn new<'a>(needs: Needs, known: impl Iterator<Item = (u32, &'a Memory)>) -> Self {
        let mut inherited = Inherited::default();
        for (n, (k, memory)) in known.enumerate() {
            let (here, lane) = (n / BLOCK, n % BLOCK);
            if lane == 0 {
                inherited.octets.push(Octets::default());
            }
            inherited.octets[here].resize(lane / 8 + 1, needs);
            inherited.octets[here].recall(lane / 8, lane % 8, memory);
            inherited.slots.push((k, Slot::new(here, lane)));
        }
        Self { blocks: Vec::new(), needs, inherited }
    }

    /// Those of a new list, none yet. `slots` tells which of its candidates, ascending, touch and where they have their
    /// memory in this one, in the same order.
    pub fn handed_on(self, slots: Vec<(u32, Slot)>) -> Self {
        debug_assert!(slots.is_sorted() && slots.is_sorted_by_key(|(_, slot)| *slot));
        let of_blocks = self.blocks.into_iter().map(|block| block.octets);
        let octets = self.inherited.octets.into_iter().chain(of_blocks).collect();
        Self { blocks: Vec::new(), inherited: Inherited { slots, octets, ..Default::default() }, ..self }
    }

    /// Makes a block of every [`BLOCK`] of `count` candidates (i, j). `images` is the offset of the first image.
    pub fn begin(&mut self, [i, j]: [&[u32]; 2], count: usize, images: u32) {
        let block = |b: usize| {
            let pairs = b * BLOCK..count.min((b + 1) * BLOCK);
            let (i, j) = (&i[pairs.clone()], &j[pairs]);
            let grains = i.iter().chain(j.iter().filter(|j| **j < images));
            let mut of: Vec<u32> = grains.map(|grain| (index(*grain) / list::BLOCK) as u32).collect();
            of.dedup(); // few are left to be sorted
            of.sort_unstable();
            of.dedup();
            of.shrink_to_fit();
            Block {
                octets: Octets::default(),
                handed: Vec::new(),
                room: f64::NEG_INFINITY,
                soon: Vec::new(),
                room_beyond: f64::NEG_INFINITY,
                of,
                has_images: j.iter().any(|j| *j >= images),
                inside: Vec::new(),
                count: 0,
            }
        };
        self.blocks = (0..count.div_ceil(BLOCK)).map(block).collect();
    }

    /// The pairs that touched at the last step, in their order: place in the list and where their memory is.
    pub fn touching(&self) -> impl Iterator<Item = (u32, Slot)> + '_ {
        let inherited = self.inherited.octets.len();
        let of_blocks = self.blocks.iter().enumerate().flat_map(move |(b, Block { octets, .. })| {
            octets.tags.iter().zip(&octets.k).enumerate().flat_map(move |(o, (tag, k))| {
                let lanes = (0..8).filter(|l| tag.touching >> l & 1 == 1);
                lanes.map(move |l| (k[l], Slot::new(inherited + b, 8 * o + l)))
            })
        });
        self.inherited.slots.iter().copied().chain(of_blocks)
    }

    /// The memory in a slot.
    pub fn memory(&self, slot: Slot) -> Memory {
        let Inherited { octets: inherited, .. } = &self.inherited;
        let octets = match inherited.get(slot.octets()) {
            Some(octets) => octets,
            None => &self.blocks[slot.octets() - inherited.len()].octets,
        };
        octets.memory(slot.lane() / 8, slot.lane() % 8)
    }

    /// Number of pairs that touched at the last step.
    pub fn count(&self) -> usize {
        let tags = self.blocks.iter().flat_map(|block| &block.octets.tags);
        self.inherited.slots.len() + tags.map(|tag| tag.touching.count_ones() as usize).sum::<usize>()
    }

    /// Gives block `block` the pairs that have been picked for it; those that touch keep their memory. Blocks are filled for
    /// the first time in their order. `images` is the offset of the first image, `law` tells which law two grains have.
    #[inline(always)]
    pub fn refill(&mut self, room: &mut Room, block: usize, images: u32, law: impl Fn(u32, u32) -> u8) {
        let Self { blocks, needs, inherited } = self;
        let Room { spare, picked, .. } = room;
        let last = block + 1 == blocks.len();
        let Block { octets, inside, count, room, .. } = &mut blocks[block];
        swap(inside, &mut picked.inside);
        *count = picked.near.count;
        if *room > f64::NEG_INFINITY {
            swap(octets, spare);
            picked.find_memories(spare);
            picked.fill(octets, *needs, images, law, |_| &*spare);
        } else {
            *octets = inherited.spare();
            picked.find_inherited(inherited);
            picked.fill(octets, *needs, images, law, |slot| &inherited.octets[slot.octets()]);
            if last {
                *inherited = Inherited::default();
            }
        }
    }

    /// Tells block `block` which pairs may have to be near soon: those picked for it that are not already.
    pub fn set_soon(&mut self, room: &mut Room, block: usize) {
        let (Block { soon, inside, .. }, lot) = (&mut self.blocks[block], &mut room.picked.soon);
        let first = block * BLOCK;
        lot.retain(|k| inside[(k as usize - first) / 8] >> (k % 8) & 1 == 0);
        lot.fill_up();
        soon.clear();
        soon.extend(lot.octets());
    }

    /// Room for pairs to be picked from the candidates of a block, and the block.
    pub fn pick<'a>(
        &'a mut self,
        room: &'a mut Room,
        block: usize,
        candidates: usize,
    ) -> (&'a mut Picked, &'a mut Block) {
        room.picked.clear(candidates);
        let block = &mut self.blocks[block];
        block.inside.resize(candidates.div_ceil(8), 0);
        (&mut room.picked, block)
    }

    /// Memory held \[byte\].
    pub fn memory_held(&self) -> usize {
        let Inherited { slots, octets, .. } = &self.inherited;
        let inherited = held(slots) + octets.iter().map(Octets::memory_held).sum::<usize>();
        let of_block = |block: &Block| {
            block.octets.memory_held() + held(&block.handed) + held(&block.inside) + held(&block.soon) + held(&block.of)
        };
        let blocks: usize = self.blocks.iter().map(of_block).sum();
        inherited + blocks + held(&self.blocks)
    }
}

/// Some pairs of a list of candidates.
#[derive(Clone, Debug, Default)]
pub struct Lot {
    /// Place of each in the list, ascending; this and the next columns have room for all and eight more.
    pub k: Vec<u32>,
    /// First grain of each.
    pub i: Vec<u32>,
    /// Second grain of each.
    pub j: Vec<u32>,
    /// How many.
    pub count: usize,
}

impl Lot {
    /// Forgets all, and makes room for so many.
    fn clear(&mut self, most: usize) {
        self.count = 0;
        for column in [&mut self.k, &mut self.i, &mut self.j] {
            column.resize(column.len().max(most + 8), 0);
        }
    }

    /// Keeps those whose place passes the test.
    fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        let mut kept = 0;
        for n in 0..self.count {
            let k = self.k[n];
            (self.k[kept], self.i[kept], self.j[kept]) = (k, self.i[n], self.j[n]);
            kept += usize::from(keep(k));
        }
        self.count = kept;
    }

    /// Repeats the last pair until there are whole octets. Returns how many pairs that makes.
    fn fill_up(&mut self) -> usize {
        let whole = self.count.next_multiple_of(8);
        for column in [&mut self.k, &mut self.i, &mut self.j] {
            let last = column[self.count.max(1) - 1];
            column[self.count..whole].fill(last);
        }
        whole
    }

    /// Their grains, once they fill whole octets.
    fn octets(&self) -> impl Iterator<Item = Octet> {
        let whole = ..self.count.next_multiple_of(8);
        let eights = self.i[whole].as_chunks().0.iter().zip(self.j[whole].as_chunks().0);
        eights.map(|(i, j)| Octet { i: *i, j: *j })
    }

    fn memory_held(&self) -> usize {
        held(&self.k) + held(&self.i) + held(&self.j)
    }
}

/// Pairs picked from a block of candidates.
#[derive(Clone, Debug, Default)]
pub struct Picked {
    /// Those that are near.
    pub near: Lot,
    /// Which of the candidates these are, one bit each.
    pub inside: Vec<u8>,
    /// Those that may have to be near soon, and some that are.
    pub soon: Lot,
    /// Where each near pair finds its memory.
    from: Vec<Slot>,
}

impl Picked {
    /// Forgets all, and makes room for so many.
    fn clear(&mut self, most: usize) {
        self.near.clear(most);
        self.inside.clear();
        self.soon.clear(most);
    }

    /// Looks for each pair among those before, which are sorted too.
    fn find_memories(&mut self, before: &Octets) {
        let live = before.tags.last().map_or(0, |tag| 8 * (before.tags.len() - 1) + tag.live.count_ones() as usize);
        let before = &before.k.as_flattened()[..live];
        self.find(before, |&k| k, |lane| Slot::new(0, lane));
    }

    /// Looks for each pair among the candidates that touch; these have then taken their memories.
    fn find_inherited(&mut self, inherited: &mut Inherited) {
        let slots = &inherited.slots[inherited.taken..];
        inherited.taken += self.find(slots, |&(k, _)| k, |n| slots[n].1);
    }

    /// Looks for each pair among others sorted by their places in the list. Returns how many of them lie before the end.
    #[inline(always)]
    fn find<T>(&mut self, others: &[T], k_of: impl Fn(&T) -> u32, slot: impl Fn(usize) -> Slot) -> usize {
        self.from.clear();
        let mut at = 0;
        for &k in &self.near.k[..self.near.count] {
            while at < others.len() && k_of(&others[at]) < k {
                at += 1;
            }
            let found = at < others.len() && k_of(&others[at]) == k;
            self.from.push(if found { slot(at) } else { Slot::NOWHERE });
        }
        at
    }

    /// Fills octets with the pairs and what they remember in those of others.
    #[inline(always)]
    fn fill<'a>(
        &mut self,
        octets: &mut Octets,
        needs: Needs,
        images: u32,
        law: impl Fn(u32, u32) -> u8,
        others: impl Fn(Slot) -> &'a Octets,
    ) {
        let Self { near, from, .. } = self;
        let whole = ..near.fill_up();
        from.resize(whole.end, Slot::NOWHERE);
        let len = whole.end / 8;
        if octets.tags.capacity() > len + len / 8 + 16 {
            *octets = Octets::default(); // from a time with more pairs
        }
        octets.resize(len, needs);
        let eights = near.k[whole].as_chunks().0.iter().zip(near.octets());
        for (o, ((k, octet), &from)) in eights.zip(from.as_chunks().0).enumerate() {
            let pairs = (near.count - 8 * o).min(8);
            let Octet { i, j } = octet;
            octets.pairs[o] = octet;
            octets.k[o] = *k;
            let (mut farthest, mut far) = (0, false);
            for l in 0..8 {
                octets.law[o][l] = law(i[l], j[l]);
                let is_far = j[l] < images && j[l] - i[l] >= FAR;
                farthest = farthest.max(if j[l] < images && !is_far { j[l] } else { 0 });
                far |= is_far;
            }
            let live = u8::MAX >> (8 - pairs);
            let touching = octets.take_over_all(o, from, &others) & live;
            octets.tags[o] = Tag { farthest, far, live, touching };
        }
    }

    fn memory_held(&self) -> usize {
        self.near.memory_held() + self.soon.memory_held() + held(&self.from) + held(&self.inside)
    }
}
