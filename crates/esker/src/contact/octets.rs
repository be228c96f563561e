//! Pairs that may touch within the next steps, eight side by side with what they remember: what the fast contact loop
//! ([`batch`](super::batch)) walks over.

use crate::lanes::{Record, index};
use crate::law::{LastForces, LastRates, Memory};
use crate::math::Vec3;
use crate::state::held;
use std::ops::Range;

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
    /// Appends empty octets, or cuts down to `len` of them.
    pub(super) fn resize(&mut self, len: usize, needs: Needs) {
        self.pairs.resize(len, Default::default());
        self.tags.resize(len, Default::default());
        self.k.resize(len, Default::default());
        self.law.resize(len, Default::default());
        self.spring.resize(len, Default::default());
        self.stiffness.resize(len, Default::default());
        self.approach.resize(len, Default::default());
        self.slip.resize(if needs.slip { len } else { 0 }, Default::default());
        self.dashpot.resize(if needs.dashpot { len } else { 0 }, Default::default());
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

    /// The pairs that touched at the last step, in their order: place in the list and memory.
    fn touching(&self) -> impl Iterator<Item = (usize, Memory)> + '_ {
        let lanes = (0..self.tags.len()).flat_map(|o| (0..8).map(move |l| (o, l)));
        let touching = lanes.filter(|&(o, l)| self.tags[o].touching >> l & 1 == 1);
        touching.map(|(o, l)| (self.k[o][l] as usize, self.memory(o, l)))
    }

    pub(super) fn memory_held(&self) -> usize {
        let what = held(&self.pairs) + held(&self.tags) + held(&self.k) + held(&self.law);
        let hot = held(&self.spring) + held(&self.stiffness) + held(&self.approach);
        what + hot + held(&self.slip) + held(&self.dashpot)
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
}

impl Default for Block {
    fn default() -> Self {
        Self { octets: Octets::default(), room: f64::NEG_INFINITY, grains: 0..0 }
    }
}

impl Near {
    /// None yet.
    pub fn new(needs: Needs) -> Self {
        Self { blocks: Vec::new(), needs, spare: Octets::default() }
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

    /// Appends the memory of candidate `k`, which touches. The rest has to be found before a sweep.
    pub fn push(&mut self, k: usize, memory: &Memory) {
        self.blocks.resize_with(self.blocks.len().max(k / BLOCK + 1), Block::default);
        let octets = &mut self.blocks[k / BLOCK].octets;
        if octets.tags.last().is_none_or(|tag| tag.live == u8::MAX) {
            octets.resize(octets.tags.len() + 1, self.needs);
        }
        let o = octets.tags.len() - 1;
        let l = octets.tags[o].live.trailing_ones() as usize;
        octets.k[o][l] = k as u32;
        octets.tags[o].live |= 1 << l;
        octets.recall(o, l, memory);
    }

    /// The pairs that touched at the last step, in their order: place in the list and memory.
    pub fn touching(&self) -> impl Iterator<Item = (usize, Memory)> + '_ {
        self.blocks.iter().flat_map(|block| block.octets.touching())
    }

    /// Tells the pairs that touch the stiffness `of` candidates now, where it is not that of the last step: a stiffer
    /// spring keeps its force, a softer one its displacement.
    pub fn adapt_stiffness(&mut self, of: impl Fn(usize) -> f64) {
        for Block { octets, .. } in &mut self.blocks {
            for (o, l) in (0..octets.tags.len()).flat_map(|o| (0..8).map(move |l| (o, l))) {
                if octets.tags[o].touching >> l & 1 == 0 {
                    continue;
                }
                let (now, before) = (of(octets.k[o][l] as usize), octets.stiffness[o][l]);
                if (now - before).abs() > 1e-9 * before {
                    octets.stiffness[o][l] = now;
                    for column in &mut octets.spring[o] {
                        column[l] *= (before / now).min(1.0);
                    }
                }
            }
        }
    }

    /// Number of pairs that touched at the last step.
    pub fn count(&self) -> usize {
        self.blocks.iter().flat_map(|block| &block.octets.tags).map(|tag| tag.touching.count_ones() as usize).sum()
    }

    /// Begins to give block `block` new pairs, to be pushed in ascending order of `k`; those that touch keep their memory.
    /// `images` is the offset of the first image.
    pub fn refill(&mut self, block: usize, images: u32) -> Filler<'_> {
        let Self { blocks, needs, spare } = self;
        let octets = &mut blocks[block].octets;
        std::mem::swap(octets, spare);
        Filler { octets, len: 0, old: spare, at: 0, needs: *needs, images }
    }

    /// Memory held \[byte\].
    pub fn memory_held(&self) -> usize {
        let blocks: usize = self.blocks.iter().map(|block| block.octets.memory_held()).sum();
        blocks + self.spare.memory_held() + held(&self.blocks)
    }
}

/// Where the near pairs of a block go.
pub struct Filler<'a> {
    octets: &'a mut Octets,
    len: usize,
    old: &'a Octets,
    /// Lane of the old ones that comes next.
    at: usize,
    needs: Needs,
    images: u32,
}

impl Filler<'_> {
    /// Appends a pair.
    #[inline(always)]
    pub fn push(&mut self, k: u32, i: u32, j: u32, law: u8) {
        let (o, l) = (self.len / 8, self.len % 8);
        self.len += 1;
        let octets = &mut *self.octets;
        if o == octets.tags.len() {
            octets.resize(o + 1, self.needs);
        }
        let tag = &mut octets.tags[o];
        if l == 0 {
            *tag = Tag::default();
        }
        tag.farthest = tag.farthest.max(if j < self.images { j } else { 0 });
        tag.live |= 1 << l;
        (octets.k[o][l], octets.law[o][l]) = (k, law);
        (octets.pairs[o].i[l], octets.pairs[o].j[l]) = (i, j);
        while let Some(old) = self.old.tags.get(self.at / 8) {
            let (p, m) = (self.at / 8, self.at % 8);
            let live = old.live >> m & 1 == 1;
            if live && self.old.k[p][m] > k {
                break;
            }
            self.at += 1;
            if live && self.old.k[p][m] == k {
                if old.touching >> m & 1 == 1 {
                    octets.take_over(o, l, self.old, p, m);
                }
                break;
            }
        }
    }

    /// Ends the block: lanes without a pair repeat the last one.
    pub fn finish(self) {
        let octets = self.octets;
        octets.resize(self.len.div_ceil(8), self.needs);
        if let (Some(tag), Some(pairs), Some(law)) =
            (octets.tags.last(), octets.pairs.last_mut(), octets.law.last_mut())
        {
            let last = tag.live.count_ones() as usize - 1;
            for l in last + 1..8 {
                (pairs.i[l], pairs.j[l], law[l]) = (pairs.i[last], pairs.j[last], law[last]);
            }
        }
    }
}
