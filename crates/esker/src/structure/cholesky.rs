//! The stiffness matrix in sparse factors L Lᵀ, by blocks of one node each, with a border for what has changed since.
//!
//! The order of elimination is that of least degree: each time the node with the fewest neighbours goes first, and its
//! neighbours become neighbours of each other, which also tells where L has blocks. Costs little more than the number of
//! blocks in planar structures (about n log n); in space the factors fill up and [`gradients`](super::gradients) is better from a
//! few thousand nodes on. Nodes and links that come and go after the factors were made stand in a dense border
//! until it has grown large. Always the same bits: one worker does it.
//!
//! A general sparse library would do as well; the one that was tried took four minutes of processor time to compile, which every
//! build would pay.

use super::border::Border;
use super::{Backend, Effort, Frame, GROUND, Link, Loose, Spring, dense, drift, spring_entries};
use crate::lanes::Width;

/// Part of a load that is not held where something is loose.
const HELD: f64 = 1e-6;

/// A pivot below this part of what it came from belongs to a part that is loose.
const LOOSE: f64 = 1e-13;

/// Right sides that are solved for at once.
const LANES: usize = 8;

/// Factors of a matrix made of blocks.
#[derive(Clone, Debug, Default)]
struct Factors {
    m: usize,
    /// Of the vectors of this processor.
    width: Width,
    /// Nodes in the order of elimination.
    order: Vec<u32>,
    /// Where the blocks of each place in that order begin, and an end.
    start: Vec<usize>,
    /// Of each place the later places with a block, in order.
    below: Vec<u32>,
    /// Lower factors of the diagonal blocks, one place after another.
    diagonal: Vec<f64>,
    /// The blocks of L that belong to `below`.
    blocks: Vec<f64>,
}

impl Factors {
    fn of(frame: &Frame, firmness: f64) -> Result<Self, Loose> {
        let (order, columns) = least_degree(frame);
        Self::in_order(frame, order, columns, firmness)
    }

    /// In the order of these; nodes that are new go first, as those of least degree would.
    fn again(&self, frame: &Frame) -> Result<Self, Loose> {
        let new = self.order.len() as u32..frame.nodes as u32;
        let order: Vec<u32> = new.chain(self.order.iter().copied()).collect();
        let columns = columns_of(frame, &order);
        Self::in_order(frame, order, columns, 0.0)
    }

    fn in_order(frame: &Frame, order: Vec<u32>, columns: Vec<Vec<u32>>, firmness: f64) -> Result<Self, Loose> {
        let m = frame.freedom.size();
        let place = places(&order);
        let mut start = vec![0];
        columns.iter().for_each(|column| start.push(start[start.len() - 1] + column.len()));
        let below = columns.concat();
        let diagonal = vec![0.0; frame.nodes * m * m];
        let blocks = vec![0.0; below.len() * m * m];
        let mut factors = Self { m, width: Width::best(), order, start, below, diagonal, blocks };
        for link in frame.present() {
            for spring in link.springs(frame.freedom) {
                factors.add(&spring, &place);
            }
        }
        for block in factors.diagonal.chunks_exact_mut(m * m) {
            let mean = (0..m).map(|r| block[r * (m + 1)]).sum::<f64>() / m as f64;
            (0..m).for_each(|r| block[r * (m + 1)] += firmness * mean);
        }
        factors.eliminate()?;
        Ok(factors)
    }

    /// Adds a spring to the matrix.
    fn add(&mut self, spring: &Spring, place: &[u32]) {
        let (m, c) = (self.m, spring.stiffness);
        let ends: Vec<(u32, &[f64])> = (0..2)
            .filter(|&end| spring.ends[end] != GROUND)
            .map(|end| (place[spring.ends[end] as usize], &spring.rows[end][..m]))
            .collect();
        for &(p, row) in &ends {
            for &(q, column) in ends.iter().filter(|(q, _)| *q <= p) {
                let block = if p == q {
                    &mut self.diagonal[p as usize * m * m..][..m * m]
                } else {
                    let first = self.start[q as usize];
                    let theirs = &self.below[first..self.start[q as usize + 1]];
                    let at = first + theirs.binary_search(&p).expect("the order knows all links");
                    &mut self.blocks[at * m * m..][..m * m]
                };
                for r in 0..m {
                    for s in 0..m {
                        block[r * m + s] += c * row[r] * column[s];
                    }
                }
            }
        }
    }

    fn eliminate(&mut self) -> Result<(), Loose> {
        let m = self.m;
        let mm = m * m;
        let before: Vec<f64> =
            (0..self.diagonal.len() / m).map(|d| self.diagonal[d / m * mm + d % m * (m + 1)]).collect();
        for p in 0..self.order.len() {
            // The block of the diagonal; what is left of it is compared with what it was.
            let pivot = &mut self.diagonal[p * mm..][..mm];
            if (0..m).any(|r| pivot[r * m + r] <= LOOSE * before[p * m + r]) {
                return Err(Loose::Part);
            }
            dense::cholesky(pivot, m, LOOSE).ok_or(Loose::Part)?;
            let pivot = &self.diagonal[p * mm..][..mm];
            let (first, end) = (self.start[p], self.start[p + 1]);
            let (mine, later) = self.blocks[first * mm..].split_at_mut((end - first) * mm);
            for line in mine.chunks_exact_mut(m) {
                for c in 0..m {
                    let dot: f64 = (0..c).map(|k| line[k] * pivot[c * m + k]).sum();
                    line[c] = (line[c] - dot) / pivot[c * m + c];
                }
            }
            // What it leaves to its neighbours: their blocks are a part of the lists of later places, in the same order.
            let rows = &self.below[first..end];
            for (a, &q) in rows.iter().enumerate() {
                let (l_q, q) = (&mine[a * mm..][..mm], q as usize);
                take_product(&mut self.diagonal[q * mm..][..mm], l_q, l_q, m);
                let mut at = self.start[q];
                for (b, &row) in rows.iter().enumerate().skip(a + 1) {
                    while self.below[at] < row {
                        at += 1;
                    }
                    take_product(&mut later[(at - end) * mm..][..mm], &mine[b * mm..][..mm], l_q, m);
                }
            }
        }
        Ok(())
    }

    /// Solves in place for several right sides at once: `x` has those of each degree of freedom together.
    fn solve<const W: usize>(&self, x: &mut [[f64; W]], scratch: &mut Vec<[f64; W]>) {
        scratch.clear();
        for &node in &self.order {
            scratch.extend_from_slice(&x[node as usize * self.m..][..self.m]);
        }
        // The same bits, as products are not fused with sums.
        match self.width {
            // SAFETY: the width was found on this processor.
            #[cfg(target_arch = "x86_64")]
            Width::Eight => unsafe { self.solve_by_eight(scratch) },
            #[cfg(target_arch = "x86_64")]
            Width::Four => unsafe { self.solve_by_four(scratch) },
            _ => self.solve_places(scratch),
        }
        for (y, &node) in scratch.chunks_exact(self.m).zip(&self.order) {
            x[node as usize * self.m..][..self.m].copy_from_slice(y);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2")]
    unsafe fn solve_by_eight<const W: usize>(&self, y: &mut [[f64; W]]) {
        self.solve_places(y);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn solve_by_four<const W: usize>(&self, y: &mut [[f64; W]]) {
        self.solve_places(y);
    }

    /// The same for places in the order of elimination.
    #[inline(always)]
    fn solve_places<const W: usize>(&self, y: &mut [[f64; W]]) {
        match self.m {
            2 => self.solve_of::<2, W>(y),
            3 => self.solve_of::<3, W>(y),
            _ => self.solve_of::<6, W>(y),
        }
    }

    #[inline(always)]
    fn solve_of<const M: usize, const W: usize>(&self, y: &mut [[f64; W]]) {
        let mm = M * M;
        let (y, _) = y.as_chunks_mut::<M>();
        for p in 0..self.order.len() {
            let pivot = &self.diagonal[p * mm..][..mm];
            let mut mine = y[p];
            for r in 0..M {
                for k in 0..r {
                    let known = mine[k];
                    take(&mut mine[r], pivot[r * M + k], &known);
                }
                mine[r].iter_mut().for_each(|y| *y /= pivot[r * M + r]);
            }
            y[p] = mine;
            for at in self.start[p]..self.start[p + 1] {
                let (block, target) = (&self.blocks[at * mm..][..mm], &mut y[self.below[at] as usize]);
                for r in 0..M {
                    for c in 0..M {
                        take(&mut target[r], block[r * M + c], &mine[c]);
                    }
                }
            }
        }
        for p in (0..self.order.len()).rev() {
            let mut mine = y[p];
            for at in self.start[p]..self.start[p + 1] {
                let (block, source) = (&self.blocks[at * mm..][..mm], &y[self.below[at] as usize]);
                for r in 0..M {
                    for c in 0..M {
                        take(&mut mine[c], block[r * M + c], &source[r]);
                    }
                }
            }
            let pivot = &self.diagonal[p * mm..][..mm];
            for r in (0..M).rev() {
                for k in r + 1..M {
                    let known = mine[k];
                    take(&mut mine[r], pivot[k * M + r], &known);
                }
                mine[r].iter_mut().for_each(|y| *y /= pivot[r * M + r]);
            }
            y[p] = mine;
        }
    }

    /// Number of unknowns.
    fn size(&self) -> usize {
        self.order.len() * self.m
    }

    /// Solves for columns of which the entries that are not zero are given.
    fn columns(&self, given: &[Vec<(usize, f64)>]) -> Vec<Vec<f64>> {
        let mut columns = Vec::with_capacity(given.len());
        let (many, few) = given.as_chunks::<LANES>();
        self.some_columns::<LANES>(many.as_flattened(), &mut columns);
        match few.len() {
            0 => {}
            1 | 2 => self.some_columns::<2>(few, &mut columns),
            3 | 4 => self.some_columns::<4>(few, &mut columns),
            _ => self.some_columns::<LANES>(few, &mut columns),
        }
        columns
    }

    /// The same, so many at once.
    fn some_columns<const W: usize>(&self, given: &[Vec<(usize, f64)>], columns: &mut Vec<Vec<f64>>) {
        let (mut x, mut scratch) = (vec![[0.0; W]; self.size()], Vec::with_capacity(self.size()));
        for some in given.chunks(W) {
            x.fill([0.0; W]);
            for (lane, entries) in some.iter().enumerate() {
                entries.iter().for_each(|&(e, b)| x[e][lane] += b);
            }
            self.solve(&mut x, &mut scratch);
            columns.extend((0..some.len()).map(|lane| x.iter().map(|x| x[lane]).collect::<Vec<f64>>()));
        }
    }
}

/// target −= factor × source.
#[inline(always)]
fn take<const W: usize>(target: &mut [f64; W], factor: f64, source: &[f64; W]) {
    for lane in 0..W {
        target[lane] -= factor * source[lane];
    }
}

/// target −= a bᵀ.
fn take_product(target: &mut [f64], a: &[f64], b: &[f64], m: usize) {
    match m {
        2 => take_product_of::<2>(target, a, b),
        3 => take_product_of::<3>(target, a, b),
        _ => take_product_of::<6>(target, a, b),
    }
}

fn take_product_of<const M: usize>(target: &mut [f64], a: &[f64], b: &[f64]) {
    for r in 0..M {
        for c in 0..M {
            let mut sum = 0.0;
            for k in 0..M {
                sum += a[r * M + k] * b[c * M + k];
            }
            target[r * M + c] -= sum;
        }
    }
}

/// Place of each node in an order.
fn places(order: &[u32]) -> Vec<u32> {
    let mut place = vec![0u32; order.len()];
    order.iter().enumerate().for_each(|(p, &node)| place[node as usize] = p as u32);
    place
}

/// Of each place in an order of elimination the later places with a block: neighbours, and what the earlier leave, each to the
/// first of its later places.
fn columns_of(frame: &Frame, order: &[u32]) -> Vec<Vec<u32>> {
    let (place, near) = (places(order), frame.neighbours());
    let mut columns: Vec<Vec<u32>> = order
        .iter()
        .enumerate()
        .map(|(p, &node)| {
            let later = near[node as usize].iter().map(|&other| place[other as usize]).filter(|&q| q > p as u32);
            let mut later: Vec<u32> = later.collect();
            later.sort_unstable();
            later
        })
        .collect();
    let mut joined = Vec::new();
    for p in 0..columns.len() {
        let Some(&heir) = columns[p].first() else { continue };
        joined.clear();
        union(&columns[p][1..], &columns[heir as usize], &mut joined);
        columns[heir as usize].clone_from(&joined);
    }
    columns
}

/// The order of least degree, the first of equals; and of each place the later places with a block.
fn least_degree(frame: &Frame) -> (Vec<u32>, Vec<Vec<u32>>) {
    let n = frame.nodes;
    let mut near = frame.neighbours();
    let mut queue: std::collections::BTreeSet<(usize, u32)> =
        (0..n as u32).map(|i| (near[i as usize].len(), i)).collect();
    let (mut order, mut columns) = (Vec::with_capacity(n), Vec::with_capacity(n));
    let mut joined = Vec::new();
    while let Some((_, node)) = queue.pop_first() {
        let mine = std::mem::take(&mut near[node as usize]);
        for &other in &mine {
            let theirs = &mut near[other as usize];
            queue.remove(&(theirs.len(), other));
            joined.clear();
            union(theirs, &mine, &mut joined);
            joined.retain(|&x| x != node && x != other);
            std::mem::swap(theirs, &mut joined);
            queue.insert((theirs.len(), other));
        }
        order.push(node);
        columns.push(mine);
    }
    let place = places(&order);
    for column in &mut columns {
        column.iter_mut().for_each(|node| *node = place[*node as usize]);
        column.sort_unstable();
    }
    (order, columns)
}

/// The union of two lists in order.
fn union(a: &[u32], b: &[u32], out: &mut Vec<u32>) {
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let next = match (a.get(i), b.get(j)) {
            (Some(&x), Some(&y)) => x.min(y),
            (Some(&x), None) | (None, Some(&x)) => x,
            (None, None) => return,
        };
        out.push(next);
        i += usize::from(a.get(i) == Some(&next));
        j += usize::from(b.get(j) == Some(&next));
    }
}

/// Sparse factors with a border.
#[derive(Clone, Debug, Default)]
pub struct Cholesky {
    factors: Factors,
    /// Nodes that have come since all were put in order.
    added: usize,
    border: Border,
}

impl Cholesky {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the factors anew; now and then all nodes are put in order anew.
    fn make_again(&mut self, frame: &Frame) -> Result<(), Loose> {
        let added = self.added + frame.nodes - self.factors.order.len();
        if 8 * added >= frame.nodes {
            return self.reset(frame);
        }
        self.begin(self.factors.again(frame)?, added);
        Ok(())
    }

    fn begin(&mut self, factors: Factors, added: usize) {
        self.border = Border::new(factors.m, factors.order.len());
        self.factors = factors;
        self.added = added;
    }

    fn change(&mut self, frame: &Frame, links: &[Link], sign: f64) -> Result<(), Loose> {
        let springs: Vec<Spring> = links.iter().flat_map(|link| link.springs(frame.freedom)).collect();
        let missing = self.border.missing(&springs, frame.nodes).filter(|_| !self.factors.order.is_empty());
        let Some(missing) = missing else { return self.make_again(frame) };
        let m = self.factors.m;
        let entries = |node: &u32| (0..m).map(|r| vec![(*node as usize * m + r, 1.0)]).collect::<Vec<_>>();
        let columns = self.factors.columns(&missing.iter().flat_map(entries).collect::<Vec<_>>());
        let before = self.border.change(frame.nodes, &missing, &columns, &springs, sign).ok_or(Loose::Part)?;
        // Nothing that is loose answers to a load.
        let off = if sign < 0.0 { drift(frame, self, 1) } else { 0.0 };
        if off.is_nan() || off > HELD {
            self.border.undo(before);
            return Err(Loose::Part);
        }
        Ok(())
    }
}

impl Backend for Cholesky {
    fn reset(&mut self, frame: &Frame) -> Result<(), Loose> {
        self.begin(Factors::of(frame, 0.0)?, 0);
        Ok(())
    }

    fn attached(&mut self, frame: &Frame, links: &[Link]) -> Result<(), Loose> {
        self.change(frame, links, 1.0)
    }

    fn connected(&mut self, frame: &Frame, links: &[Link]) -> Result<(), Loose> {
        self.change(frame, links, 1.0)
    }

    fn disconnected(&mut self, frame: &Frame, links: &[Link]) -> Result<(), Loose> {
        self.change(frame, links, -1.0)
    }

    fn dropped(&mut self, frame: &Frame, _: u32, _: &[Link]) -> Result<(), Loose> {
        self.reset(frame)
    }

    fn respond(&mut self, _: &Frame, f: &[f64], u: &mut [f64]) -> Effort {
        let (of_factors, of_new) = f.split_at(self.factors.size());
        let mut x: Vec<[f64; 1]> = of_factors.iter().map(|&f| [f]).collect();
        self.factors.solve(&mut x, &mut Vec::with_capacity(f.len()));
        let mut x = x.into_flattened();
        x.extend_from_slice(of_new);
        self.border.correct(&mut x);
        u.iter_mut().zip(&x).for_each(|(u, x)| *u += x);
        Effort { iterations: 1, residual: 0.0 }
    }

    fn answers(&mut self, frame: &Frame, springs: &[Spring]) -> Vec<Vec<f64>> {
        let loads = |spring: &Spring| -> Vec<(usize, f64)> {
            let entries = spring_entries(spring, frame.freedom.size());
            entries.into_iter().map(|(e, b)| (e, spring.stiffness * b)).collect()
        };
        let of_factors = |e: &(usize, f64)| e.0 < self.factors.size();
        let loads: Vec<_> = springs.iter().map(loads).collect();
        let given: Vec<_> = loads.iter().map(|some| some.iter().copied().filter(of_factors).collect()).collect();
        let mut answers = self.factors.columns(&given);
        for (answer, loads) in answers.iter_mut().zip(loads) {
            answer.resize(frame.size(), 0.0);
            loads.into_iter().filter(|e| !of_factors(e)).for_each(|(e, load)| answer[e] = load);
            self.border.correct(answer);
        }
        answers
    }

    fn memory(&self) -> usize {
        let words = self.factors.diagonal.capacity() + self.factors.blocks.capacity() + self.border.words();
        words * size_of::<f64>()
    }
}

/// The rows of the inverse as [`Rima`](super::rima::Rima) keeps them: of each node its lines up to its own block.
pub(super) fn inverse_rows(frame: &Frame, firmness: f64) -> Result<Vec<Vec<f64>>, Loose> {
    let factors = Factors::of(frame, firmness)?;
    let (m, n) = (frame.freedom.size(), frame.size());
    let mut rows: Vec<Vec<f64>> = (0..frame.nodes).map(|node| vec![0.0; m * (node + 1) * m]).collect();
    let unit: Vec<Vec<(usize, f64)>> = (0..n).map(|c| vec![(c, 1.0)]).collect();
    for (some, given) in unit.chunks(LANES).enumerate() {
        for (lane, column) in factors.columns(given).iter().enumerate() {
            // Its part of the lower triangle, with the whole block of the diagonal.
            let c = some * LANES + lane;
            for (node, row) in rows.iter_mut().enumerate().skip(c / m) {
                let width = (node + 1) * m;
                for r in 0..m {
                    row[r * width + c] = column[node * m + r];
                }
            }
        }
    }
    // The halves of the diagonal blocks differ by rounding.
    for (node, row) in rows.iter_mut().enumerate() {
        let (width, first) = ((node + 1) * m, node * m);
        for r in 0..m {
            for c in 0..r {
                let mean = 0.5 * (row[r * width + first + c] + row[c * width + first + r]);
                (row[r * width + first + c], row[c * width + first + r]) = (mean, mean);
            }
        }
    }
    Ok(rows)
}
