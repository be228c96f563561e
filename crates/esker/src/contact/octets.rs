//! Pairs that may touch within the next steps, eight side by side with what they remember: what the fast contact loop
//! ([`batch`](super::batch)) walks over.

use crate::lanes::{Record, index};
use crate::law::{LastForces, LastRates, Memory};
use crate::math::Vec3;
use crate::state::held;
use std::ops::Range;
use std::slice::from_mut;

/// Grains of eight pairs, as [`offset`](crate::lanes::offset)s. Lanes that hold no pair repeat one that does.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct Octet {
    /// First grains.
    pub i: [u32; 8],
    /// Second grains.
    pub j: [u32; 8],
}

/// What else there is to know of an octet.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(8))]
pub struct Tag {
    /// The largest of the second grains that are no images.
    pub farthest: u32,
    /// Which lanes hold a pair, one bit each.
    pub live: u8,
    /// Which pairs touched at the last step. Memories count for these only.
    pub touching: u8,
}

/// Which memories the laws need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Slip of the last step: for tangential dashpots.
    pub slip: bool,
    /// Dashpot forces of the last step: for the account of energy.
    pub dashpot: bool,
}

/// Octets and their memories, a column for each number, so that a sweep reads and writes nothing it does not need.
#[derive(Clone, Debug, Default)]
pub struct Octets {
    /// Grains.
    pub pairs: Vec<Octet>,
    /// Lanes.
    pub tags: Vec<Tag>,
    /// Place of each pair in the list of candidates.
    pub k: Vec<[u32; 8]>,
    /// Which law each has.
    pub law: Vec<[u8; 8]>,
    /// Elastic tangential displacements \[m\].
    pub spring: Vec<[Record; 3]>,
    /// Tangential stiffness at the last step \[N/m\].
    pub stiffness: Vec<Record>,
    /// Mean rate of approach over the last step \[m/s\].
    pub approach: Vec<Record>,
    /// Mean slip over the last step \[m/s\]; empty if not needed.
    pub slip: Vec<[Record; 3]>,
    /// Tangential dashpot force at the last step and, last, the normal one \[N\]; empty if not needed.
    pub dashpot: Vec<[[f32; 8]; 4]>,
}

impl Octets {
    /// Appends empty octets, or cuts down to `len` of them. Room for a few more is kept, not for twice as many.
    pub(super) fn resize(&mut self, len: usize, needs: Needs) {
        self.resize_within(len + len / 16 + 1, len, needs);
    }

    /// The same; where there is no room yet, it is made for `room` octets.
    fn resize_within(&mut self, room: usize, len: usize, needs: Needs) {
        fit(&mut self.pairs, room, len);
        fit(&mut self.tags, room, len);
        fit(&mut self.k, room, len);
        fit(&mut self.law, room, len);
        fit(&mut self.spring, room, len);
        fit(&mut self.stiffness, room, len);
        fit(&mut self.approach, room, len);
        fit(&mut self.slip, room, if needs.slip { len } else { 0 });
        fit(&mut self.dashpot, room, if needs.dashpot { len } else { 0 });
    }

    /// What the pair in lane `l` of octet `o` remembers. Slip and dashpot forces that are not kept are told as zero: laws that
    /// need them and follow laws that did not begin as with a new contact.
    pub fn memory(&self, o: usize, l: usize) -> Memory {
        let vector = |columns: &[Record; 3]| Vec3::new(columns[0][l], columns[1][l], columns[2][l]);
        let [x, y, z, normal_dashpot] = self.dashpot.get(o).copied().unwrap_or_default().map(|column| column[l]);
        Memory {
            spring: vector(&self.spring[o]),
            stiffness: self.stiffness[o][l],
            last: LastForces { normal_dashpot, tangential_dashpot: [x, y, z], ..Default::default() },
            rates: LastRates {
                approach: self.approach[o][l],
                slip: self.slip.get(o).map_or(Vec3::ZERO, vector),
                ..Default::default()
            },
            touching: true,
            ..Default::default()
        }
    }

    /// Puts what a pair remembers into lane `l` of octet `o`.
    pub(super) fn recall(&mut self, o: usize, l: usize, memory: &Memory) {
        let slip = memory.rates.slip.to_array();
        let [x, y, z] = memory.last.tangential_dashpot;
        for (c, spring) in memory.spring.to_array().into_iter().enumerate() {
            self.spring[o][c][l] = spring;
            if let Some(column) = self.slip.get_mut(o) {
                column[c][l] = slip[c];
            }
        }
        if let Some(columns) = self.dashpot.get_mut(o) {
            for (column, force) in columns.iter_mut().zip([x, y, z, memory.last.normal_dashpot]) {
                column[l] = force;
            }
        }
        self.stiffness[o][l] = memory.stiffness;
        self.approach[o][l] = memory.rates.approach;
        self.tags[o].touching |= 1 << l;
    }

    /// Takes over into lane `l` of octet `o` what lane `m` of octet `p` of others remembers.
    #[inline(always)]
    pub(super) fn take_over(&mut self, o: usize, l: usize, others: &Self, p: usize, m: usize) {
        for c in 0..3 {
            self.spring[o][c][l] = others.spring[p][c][m];
        }
        self.stiffness[o][l] = others.stiffness[p][m];
        self.approach[o][l] = others.approach[p][m];
        if let (Some(to), Some(from)) = (self.slip.get_mut(o), others.slip.get(p)) {
            for c in 0..3 {
                to[c][l] = from[c][m];
            }
        }
        if let (Some(to), Some(from)) = (self.dashpot.get_mut(o), others.dashpot.get(p)) {
            for c in 0..4 {
                to[c][l] = from[c][m];
            }
        }
        self.tags[o].touching |= 1 << l;
    }

    /// Takes over into octet `o` what lanes `from` of others remember, and returns which of those touched.
    #[inline(always)]
    fn take_over_all(&mut self, o: usize, others: &Self, from: [u32; 8]) -> u8 {
        let (mut touching, mut lanes) = (0, [0; 8]);
        for l in 0..8 {
            // Lanes without a memory may hold any number.
            let f = if from[l] == NOWHERE { 0 } else { from[l] as usize };
            let touched = others.tags.get(f / 8).map_or(0, |tag| tag.touching >> (f % 8) & 1);
            touching |= (touched & u8::from(from[l] != NOWHERE)) << l;
            lanes[l] = f;
        }
        if touching == 0 {
            return 0;
        }
        gather::<_, 3>(&mut self.spring[o], others.spring.as_flattened(), &lanes);
        gather::<_, 1>(from_mut(&mut self.stiffness[o]), &others.stiffness, &lanes);
        gather::<_, 1>(from_mut(&mut self.approach[o]), &others.approach, &lanes);
        if let Some(to) = self.slip.get_mut(o) {
            gather::<_, 3>(to, others.slip.as_flattened(), &lanes);
        }
        if let Some(to) = self.dashpot.get_mut(o) {
            gather::<_, 4>(to, others.dashpot.as_flattened(), &lanes);
        }
        touching
    }

    pub(super) fn memory_held(&self) -> usize {
        let what = held(&self.pairs) + held(&self.tags) + held(&self.k) + held(&self.law);
        let hot = held(&self.spring) + held(&self.stiffness) + held(&self.approach);
        what + hot + held(&self.slip) + held(&self.dashpot)
    }
}

/// Appends empty entries, or cuts down to `len` of them; where there is no room yet, it is made for `room`.
fn fit<T: Clone + Default>(column: &mut Vec<T>, room: usize, len: usize) {
    if len > column.capacity() {
        column.reserve_exact(room - column.len());
    }
    column.resize(len, T::default());
}

/// Numbers of the lanes of some octets, one octet of `C` columns after another.
#[inline(always)]
fn gather<T: Copy, const C: usize>(to: &mut [[T; 8]], from: &[[T; 8]], lanes: &[usize; 8]) {
    for c in 0..to.len() {
        for l in 0..8 {
            to[c][l] = from[lanes[l] / 8 * C + c][lanes[l] % 8];
        }
    }
}

/// Candidates whose near pairs are found together: a list is renewed block by block, so that no second list is needed.
pub const BLOCK: usize = 4096;

/// The near pairs of a list of candidates.
#[derive(Clone, Debug)]
pub struct Near {
    /// Of each block of [`BLOCK`] candidates, in their order.
    pub blocks: Vec<Block>,
    needs: Needs,
    /// Room for the renewal of a block.
    spare: Octets,
    picked: Picked,
}

/// Where a near pair has its memory.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    block: u32,
    octet: u16,
    lane: u16,
}

/// The near pairs of some candidates.
#[derive(Clone, Debug)]
pub struct Block {
    /// In the order of the candidates.
    pub octets: Octets,
    /// How much nearer two grains may still come before another pair has to be among them \[m\]; minus infinity if
    /// nobody has looked yet, and there are but those that touch.
    pub room: f64,
    /// The grains of the candidates lie in this range, or are images.
    pub grains: Range<usize>,
    /// Which of the candidates are among them, one bit each.
    pub inside: Vec<u8>,
    /// How many are.
    pub count: usize,
}

impl Default for Block {
    fn default() -> Self {
        Self { octets: Octets::default(), room: f64::NEG_INFINITY, grains: 0..0, inside: Vec::new(), count: 0 }
    }
}

impl Near {
    /// None yet.
    pub fn new(needs: Needs) -> Self {
        Self { blocks: Vec::new(), needs, spare: Octets::default(), picked: Picked::default() }
    }

    /// Whether there are more than those that touch.
    pub fn is_known(&self) -> bool {
        self.blocks.last().is_some_and(|block| block.room > f64::NEG_INFINITY)
    }

    /// Makes a block of every [`BLOCK`] of `count` candidates (i, j). `images` is the offset of the first image.
    pub fn begin(&mut self, [i, j]: [&[u32]; 2], count: usize, images: u32) {
        self.blocks.resize_with(count.div_ceil(BLOCK), Block::default);
        for (b, block) in self.blocks.iter_mut().enumerate() {
            let pairs = b * BLOCK..count.min((b + 1) * BLOCK);
            let seconds = j[pairs.clone()].iter().filter(|&&j| j < images);
            let last = seconds.chain(&i[pairs.clone()]).max().expect("blocks are not empty");
            block.grains = index(i[pairs.start])..index(*last) + 1;
        }
    }

    /// Appends candidate `k`, which touches: its octet and lane. The rest has to be found before a sweep.
    fn push(&mut self, k: usize) -> (&mut Octets, usize, usize) {
        self.blocks.resize_with(self.blocks.len().max(k / BLOCK + 1), Block::default);
        let (before, block) = self.blocks.split_at_mut(k / BLOCK);
        let octets = &mut block[0].octets;
        if octets.tags.last().is_none_or(|tag| tag.live == u8::MAX) {
            // Blocks are much alike: room for as many as the last one has.
            let len = octets.tags.len() + 1;
            let expected = before.last().map_or(0, |last| last.octets.tags.len());
            octets.resize_within(expected.max(len) + len / 16 + 1, len, self.needs);
        }
        let o = octets.tags.len() - 1;
        let l = octets.tags[o].live.trailing_ones() as usize;
        octets.k[o][l] = k as u32;
        octets.tags[o].live |= 1 << l;
        (octets, o, l)
    }

    /// Appends the memory of candidate `k`, which touches.
    pub fn recall(&mut self, k: usize, memory: &Memory) {
        let (octets, o, l) = self.push(k);
        octets.recall(o, l, memory);
    }

    /// Appends for candidate `k`, which touches, the memory in a slot of others.
    pub fn take_over(&mut self, k: usize, others: &Self, slot: Slot) {
        let (octets, o, l) = self.push(k);
        let from = &others.blocks[slot.block as usize].octets;
        octets.take_over(o, l, from, slot.octet as usize, slot.lane as usize);
    }

    /// The pairs that touched at the last step, in their order: place in the list and where their memory is.
    pub fn touching(&self) -> impl Iterator<Item = (usize, Slot)> + '_ {
        self.blocks.iter().enumerate().flat_map(|(b, Block { octets, .. })| {
            octets.tags.iter().zip(&octets.k).enumerate().flat_map(move |(o, (tag, k))| {
                let lanes = (0..8).filter(|l| tag.touching >> l & 1 == 1);
                lanes.map(move |l| (k[l] as usize, Slot { block: b as u32, octet: o as u16, lane: l as u16 }))
            })
        })
    }

    /// The memory in a slot.
    pub fn memory(&self, slot: Slot) -> Memory {
        self.blocks[slot.block as usize].octets.memory(slot.octet as usize, slot.lane as usize)
    }

    /// Number of pairs that touched at the last step.
    pub fn count(&self) -> usize {
        self.blocks.iter().flat_map(|block| &block.octets.tags).map(|tag| tag.touching.count_ones() as usize).sum()
    }

    /// Gives block `block` the pairs that have been picked for it; those that touch keep their memory. `images` is the
    /// offset of the first image, `law` tells which law two grains have.
    #[inline(always)]
    pub fn refill(&mut self, block: usize, images: u32, law: impl Fn(u32, u32) -> u8) {
        let Self { blocks, needs, spare, picked } = self;
        let Block { octets, inside, count, .. } = &mut blocks[block];
        std::mem::swap(inside, &mut picked.inside);
        *count = picked.count;
        std::mem::swap(octets, spare);
        picked.find_memories(spare);
        let whole = ..picked.fill_up();
        octets.resize(whole.end / 8, *needs);
        let eights = picked.k[whole].as_chunks().0.iter();
        let eights = eights.zip(picked.i[whole].as_chunks().0).zip(picked.j[whole].as_chunks().0);
        for (o, (((k, i), j), &from)) in eights.zip(picked.from.as_chunks().0).enumerate() {
            let pairs = (picked.count - 8 * o).min(8);
            octets.pairs[o] = Octet { i: *i, j: *j };
            octets.k[o] = *k;
            let mut farthest = 0;
            for l in 0..8 {
                octets.law[o][l] = law(i[l], j[l]);
                farthest = farthest.max(if j[l] < images { j[l] } else { 0 });
            }
            let live = u8::MAX >> (8 - pairs);
            let touching = octets.take_over_all(o, spare, from) & live;
            octets.tags[o] = Tag { farthest, live, touching };
        }
    }

    /// Room for pairs to be picked from the candidates of a block, and the block.
    pub fn pick(&mut self, block: usize, candidates: usize) -> (&mut Picked, &mut Block) {
        self.picked.clear(candidates);
        let block = &mut self.blocks[block];
        block.inside.resize(candidates.div_ceil(8), 0);
        (&mut self.picked, block)
    }

    /// Memory held \[byte\].
    pub fn memory_held(&self) -> usize {
        let of_block = |block: &Block| block.octets.memory_held() + held(&block.inside);
        let blocks: usize = self.blocks.iter().map(of_block).sum();
        blocks + self.spare.memory_held() + self.picked.memory_held() + held(&self.blocks)
    }
}

/// Pairs picked from a block of candidates.
#[derive(Clone, Debug, Default)]
pub struct Picked {
    /// Place of each in the list of candidates, ascending; this and the next columns have room for all and eight more.
    pub k: Vec<u32>,
    /// First grain of each.
    pub i: Vec<u32>,
    /// Second grain of each.
    pub j: Vec<u32>,
    /// How many.
    pub count: usize,
    /// Which of the candidates they are, one bit each.
    pub inside: Vec<u8>,
    /// Where each finds its memory: a lane of the pairs before, or [`NOWHERE`].
    from: Vec<u32>,
}

/// No lane.
const NOWHERE: u32 = u32::MAX;

impl Picked {
    /// Forgets all, and makes room for so many.
    fn clear(&mut self, most: usize) {
        self.count = 0;
        self.inside.clear();
        for column in [&mut self.k, &mut self.i, &mut self.j] {
            column.resize(column.len().max(most + 8), 0);
        }
    }

    /// Looks for each pair among those before, which are sorted too.
    fn find_memories(&mut self, before: &Octets) {
        self.from.clear();
        let known = before.k.as_flattened();
        let live = before.tags.last().map_or(0, |tag| 8 * (before.tags.len() - 1) + tag.live.count_ones() as usize);
        let mut at = 0;
        for &k in &self.k[..self.count] {
            while at < live && known[at] < k {
                at += 1;
            }
            self.from.push(if at < live && known[at] == k { at as u32 } else { NOWHERE });
        }
    }

    /// Repeats the last pair, without its memory, until there are whole octets. Returns how many pairs that makes.
    fn fill_up(&mut self) -> usize {
        let whole = self.count.next_multiple_of(8);
        for column in [&mut self.k, &mut self.i, &mut self.j] {
            let last = column[self.count.max(1) - 1];
            column[self.count..whole].fill(last);
        }
        self.from.resize(whole, NOWHERE);
        whole
    }

    fn memory_held(&self) -> usize {
        held(&self.k) + held(&self.i) + held(&self.j) + held(&self.from) + held(&self.inside)
    }
}
