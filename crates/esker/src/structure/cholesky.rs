//! The stiffness matrix in sparse factors L Lᵀ, by blocks of one node each, corrected for a few changes of links.
//!
//! The order of elimination is that of least degree: each time the node with the fewest neighbours goes first, and its
//! neighbours become neighbours of each other, which also tells where L has blocks. Costs little more than the number of
//! blocks in planar structures (about n log n); in space the factors fill up and [`gradients`](super::gradients) is better from a
//! few thousand nodes on. Links that come and go after the factors were made are kept as a correction of low rank
//! (Woodbury) until there are [`MOST_CHANGES`] springs of them. Always the same bits: one worker does it.
//!
//! A general sparse library would do as well; the one that was tried took four minutes of processor time to compile, which every
//! build would pay.

use super::{Backend, Effort, Frame, GROUND, Link, Loose, Spring, dense, spring_entries};

/// Springs that may change before the factors are made anew.
pub const MOST_CHANGES: usize = 24;

/// A pivot below this part of what it came from belongs to a part that is loose.
const LOOSE: f64 = 1e-13;

/// Factors of a matrix made of blocks.
#[derive(Clone, Debug, Default)]
struct Factors {
    m: usize,
    /// Nodes in the order of elimination.
    order: Vec<u32>,
    /// Of each place in that order the later places with a block, in order.
    below: Vec<Vec<u32>>,
    /// Lower factors of the diagonal blocks, one place after another.
    diagonal: Vec<f64>,
    /// Of each place its blocks of L, one later place after another.
    blocks: Vec<Vec<f64>>,
}

impl Factors {
    fn of(frame: &Frame, firmness: f64) -> Result<Self, Loose> {
        let m = frame.freedom.size();
        let (order, below) = least_degree(frame);
        let mut place = vec![0u32; frame.nodes];
        order.iter().enumerate().for_each(|(p, &node)| place[node as usize] = p as u32);
        let diagonal = vec![0.0; frame.nodes * m * m];
        let blocks = below.iter().map(|b| vec![0.0; b.len() * m * m]).collect();
        let mut factors = Self { m, order, below, diagonal, blocks };
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
                    let at = self.below[q as usize].binary_search(&p).expect("the order knows all links");
                    &mut self.blocks[q as usize][at * m * m..][..m * m]
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
            for block in self.blocks[p].chunks_exact_mut(mm) {
                for line in block.chunks_exact_mut(m) {
                    for c in 0..m {
                        let dot: f64 = (0..c).map(|k| line[k] * pivot[c * m + k]).sum();
                        line[c] = (line[c] - dot) / pivot[c * m + c];
                    }
                }
            }
            // What it leaves to its neighbours: their blocks are a part of the lists of later places, in the same order.
            let mine = std::mem::take(&mut self.blocks[p]);
            let rows = std::mem::take(&mut self.below[p]);
            for (a, &q) in rows.iter().enumerate() {
                let l_q = &mine[a * mm..][..mm];
                take_product(&mut self.diagonal[q as usize * mm..][..mm], l_q, l_q, m);
                let (theirs, blocks) = (&self.below[q as usize], &mut self.blocks[q as usize]);
                let mut at = 0;
                for (b, &row) in rows.iter().enumerate().skip(a + 1) {
                    while theirs[at] < row {
                        at += 1;
                    }
                    take_product(&mut blocks[at * mm..][..mm], &mine[b * mm..][..mm], l_q, m);
                }
            }
            self.blocks[p] = mine;
            self.below[p] = rows;
        }
        Ok(())
    }

    /// Solves in place.
    fn solve(&self, x: &mut [f64]) {
        let (m, mm) = (self.m, self.m * self.m);
        let mut y: Vec<f64> = self.order.iter().flat_map(|&node| x[node as usize * m..][..m].to_vec()).collect();
        for p in 0..self.order.len() {
            let pivot = &self.diagonal[p * mm..][..mm];
            for r in 0..m {
                let dot: f64 = (0..r).map(|k| pivot[r * m + k] * y[p * m + k]).sum();
                y[p * m + r] = (y[p * m + r] - dot) / pivot[r * m + r];
            }
            let (done, later) = y.split_at_mut((p + 1) * m);
            let mine = &done[p * m..];
            for (block, &row) in self.blocks[p].chunks_exact(mm).zip(&self.below[p]) {
                let target = &mut later[(row as usize - p - 1) * m..][..m];
                for r in 0..m {
                    target[r] -= (0..m).map(|c| block[r * m + c] * mine[c]).sum::<f64>();
                }
            }
        }
        for p in (0..self.order.len()).rev() {
            let (done, later) = y.split_at_mut((p + 1) * m);
            let mine = &mut done[p * m..];
            for (block, &row) in self.blocks[p].chunks_exact(mm).zip(&self.below[p]) {
                let source = &later[(row as usize - p - 1) * m..][..m];
                for c in 0..m {
                    mine[c] -= (0..m).map(|r| block[r * m + c] * source[r]).sum::<f64>();
                }
            }
            let pivot = &self.diagonal[p * mm..][..mm];
            for r in (0..m).rev() {
                let dot: f64 = (r + 1..m).map(|k| pivot[k * m + r] * mine[k]).sum();
                mine[r] = (mine[r] - dot) / pivot[r * m + r];
            }
        }
        for (p, &node) in self.order.iter().enumerate() {
            x[node as usize * m..][..m].copy_from_slice(&y[p * m..][..m]);
        }
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

/// The order of least degree, the first of equals; and of each place the later places with a block.
fn least_degree(frame: &Frame) -> (Vec<u32>, Vec<Vec<u32>>) {
    let n = frame.nodes;
    let mut near: Vec<Vec<u32>> = vec![Vec::new(); n];
    for link in frame.present().filter(|link| !link.ends.contains(&GROUND)) {
        let [a, b] = link.ends;
        near[a as usize].push(b);
        near[b as usize].push(a);
    }
    for list in &mut near {
        list.sort_unstable();
        list.dedup();
    }
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
    let mut place = vec![0u32; n];
    order.iter().enumerate().for_each(|(p, &node)| place[node as usize] = p as u32);
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

/// A change of one spring since the factors were made.
#[derive(Clone, Debug)]
struct Change {
    entries: Vec<(usize, f64)>,
    /// ± 1 / stiffness.
    softness: f64,
    /// K₀⁻¹ b.
    answer: Vec<f64>,
}

/// Sparse factors with a correction.
#[derive(Clone, Debug, Default)]
pub struct Cholesky {
    factors: Factors,
    changes: Vec<Change>,
    /// Inverse of the core of the correction.
    core: Vec<f64>,
}

impl Cholesky {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn change(&mut self, frame: &Frame, links: &[Link], sign: f64) -> Result<(), Loose> {
        let springs: Vec<Spring> = links.iter().flat_map(|link| link.springs(frame.freedom)).collect();
        if self.changes.len() + springs.len() > MOST_CHANGES {
            return self.reset(frame);
        }
        let kept = self.changes.len();
        for spring in &springs {
            let entries = spring_entries(spring, frame.freedom.size());
            let mut answer = vec![0.0; frame.size()];
            entries.iter().for_each(|&(e, b)| answer[e] = b);
            self.factors.solve(&mut answer);
            self.changes.push(Change { entries, softness: sign / spring.stiffness, answer });
        }
        match self.make_core() {
            Some(core) => self.core = core,
            None => {
                self.changes.truncate(kept);
                return Err(Loose::Part);
            }
        }
        Ok(())
    }

    /// (± C⁻¹ + B K₀⁻¹ Bᵀ)⁻¹, `None` where a part has come loose.
    fn make_core(&self) -> Option<Vec<f64>> {
        let k = self.changes.len();
        let mut core = vec![0.0; k * k];
        for (i, a) in self.changes.iter().enumerate() {
            for (j, b) in self.changes.iter().enumerate() {
                core[i * k + j] = a.entries.iter().map(|&(e, x)| x * b.answer[e]).sum::<f64>();
            }
            core[i * k + i] += a.softness;
        }
        // Rows scaled to the softness of their springs, so that what is small is small beside one.
        let scaled: Vec<f64> = (0..k * k).map(|e| core[e] / self.changes[e / k].softness.abs()).collect();
        let inverse = dense::inverse(&scaled, k)?;
        let largest = inverse.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        (largest < 1e9).then(|| (0..k * k).map(|e| inverse[e] / self.changes[e % k].softness.abs()).collect())
    }
}

impl Backend for Cholesky {
    fn reset(&mut self, frame: &Frame) -> Result<(), Loose> {
        self.factors = Factors::of(frame, 0.0)?;
        self.changes.clear();
        self.core.clear();
        Ok(())
    }

    fn attached(&mut self, frame: &Frame, _: &[Link]) -> Result<(), Loose> {
        self.reset(frame)
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
        let mut x = f.to_vec();
        self.factors.solve(&mut x);
        let k = self.changes.len();
        let felt: Vec<f64> =
            self.changes.iter().map(|c| c.entries.iter().map(|&(e, b)| b * x[e]).sum::<f64>()).collect();
        for (i, change) in self.changes.iter().enumerate() {
            let force: f64 = (0..k).map(|j| self.core[i * k + j] * felt[j]).sum();
            x.iter_mut().zip(&change.answer).for_each(|(x, a)| *x -= force * a);
        }
        u.iter_mut().zip(&x).for_each(|(u, x)| *u += x);
        Effort { iterations: 1, residual: 0.0 }
    }

    fn memory(&self) -> usize {
        let words = self.factors.diagonal.capacity()
            + self.factors.blocks.iter().map(Vec::capacity).sum::<usize>()
            + self.changes.iter().map(|c| c.answer.capacity()).sum::<usize>();
        words * size_of::<f64>()
    }
}

/// The rows of the inverse as [`Rima`](super::rima::Rima) keeps them: of each node its lines up to its own block.
pub(super) fn inverse_rows(frame: &Frame, firmness: f64) -> Result<Vec<Vec<f64>>, Loose> {
    let factors = Factors::of(frame, firmness)?;
    let (m, n) = (frame.freedom.size(), frame.size());
    let mut rows: Vec<Vec<f64>> = (0..frame.nodes).map(|node| vec![0.0; m * (node + 1) * m]).collect();
    let mut column = vec![0.0; n];
    for c in 0..n {
        column.fill(0.0);
        column[c] = 1.0;
        factors.solve(&mut column);
        // Column c of the lower triangle, with the whole block of the diagonal.
        for (node, row) in rows.iter_mut().enumerate().skip(c / m) {
            let width = (node + 1) * m;
            for r in 0..m {
                row[r * width + c] = column[node * m + r];
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
