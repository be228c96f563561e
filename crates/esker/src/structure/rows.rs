//! Where the rows of an inverse lie: all that [`rima`](super::rima) does to its matrix goes through here.
//!
//! Here all rows are in one memory, and workers share them out. A distribution over machines would keep other rows on each and offer
//! the same: rows of some springs for everybody ([`Rows::of_springs`], the one thing that is sent), a change of all rows by them
//! ([`Rows::subtract`]), a row more or less, and a product ([`Rows::times`]). A row is written by one worker and sums are always cut in the
//! same way, so that the bits are the same for any number of them.

use super::dense::subtract_lines;
use super::{GROUND, MOST, Spring};
use rayon::prelude::*;

/// Numbers in a part of the work that is worth a worker.
const PART: usize = 16 * 1024;

/// Parts into which a product with all loads is cut: always the same, so that the sums are.
const PARTS: usize = 16;

/// The lower triangle of a symmetric matrix with whole blocks of `m` by `m` on the diagonal.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Rows {
    m: usize,
    /// Of each node, `m` lines of as many numbers as its own and all earlier nodes have.
    rows: Vec<Vec<f64>>,
}

impl Rows {
    /// Given row by row.
    pub fn new(m: usize, rows: Vec<Vec<f64>>) -> Self {
        Self { m, rows }
    }

    /// Degrees of freedom of a node.
    pub fn block(&self) -> usize {
        self.m
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.rows.len()
    }

    /// Number of lines.
    pub fn size(&self) -> usize {
        self.rows.len() * self.m
    }

    /// Memory \[byte\].
    pub fn memory(&self) -> usize {
        self.rows.iter().map(|row| row.capacity() * size_of::<f64>()).sum()
    }

    /// Entry between two degrees of freedom.
    pub fn entry(&self, r: usize, c: usize) -> f64 {
        let (r, c) = (r.max(c), r.min(c));
        let node = r / self.m;
        self.rows[node][(r % self.m) * (node + 1) * self.m + c]
    }

    /// The `m` lines of a node, whole: its own row, and its column in the rows of later nodes.
    pub fn of_node(&self, node: usize) -> Vec<f64> {
        let (m, n) = (self.m, self.size());
        let mut lines = vec![0.0; m * n];
        let width = (node + 1) * m;
        for r in 0..m {
            lines[r * n..][..width].copy_from_slice(&self.rows[node][r * width..][..width]);
        }
        for (later, row) in self.rows.iter().enumerate().skip(node + 1) {
            let width = (later + 1) * m;
            for q in 0..m {
                let piece = &row[q * width + node * m..][..m];
                for r in 0..m {
                    lines[r * n + later * m + q] = piece[r];
                }
            }
        }
        lines
    }

    /// B Z of some springs, ends on `skip` left out: a line for each. Each row is read once for all of them.
    pub fn of_springs(&self, springs: &[Spring], skip: u32) -> Vec<f64> {
        let (m, n) = (self.m, self.size());
        let mut y = vec![0.0; springs.len() * n];
        let mut ends: Vec<(usize, usize, [f64; MOST])> = Vec::with_capacity(2 * springs.len());
        for (s, spring) in springs.iter().enumerate() {
            let held = (0..2).filter(|&end| spring.ends[end] != GROUND && spring.ends[end] != skip);
            ends.extend(held.map(|end| (spring.ends[end] as usize, s, spring.rows[end])));
        }
        ends.sort_unstable_by_key(|&(node, s, _)| (node, s));
        for (node, row) in self.rows.iter().enumerate() {
            let width = (node + 1) * m;
            let earlier = ends.partition_point(|&(end, ..)| end < node);
            // The columns of earlier nodes in this row.
            for (end, s, b) in &ends[..earlier] {
                let y = &mut y[s * n + node * m..][..m];
                for (r, y) in y.iter_mut().enumerate() {
                    let piece = &row[r * width + end * m..][..m];
                    *y += piece.iter().zip(b).map(|(z, b)| z * b).sum::<f64>();
                }
            }
            // The row of the node itself.
            for (_, s, b) in ends[earlier..].iter().take_while(|&&(end, ..)| end == node) {
                let y = &mut y[s * n..][..width];
                for (r, line) in row.chunks_exact(width).enumerate().filter(|(r, _)| b[*r] != 0.0) {
                    y.iter_mut().zip(line).for_each(|(y, z)| *y += b[r] * z);
                }
            }
        }
        y
    }

    /// Z −= Yᵀ X Y, where `y` has a line for each of the `k` lines of `x`.
    pub fn subtract(&mut self, x: &[f64], y: &[f64], k: usize) {
        let (m, n) = (self.m, self.size());
        self.each(k, |node, row| {
            let width = (node + 1) * m;
            for (r, line) in row.chunks_exact_mut(width).enumerate() {
                let w: Vec<f64> =
                    (0..k).map(|i| (0..k).map(|j| x[i * k + j] * y[j * n + node * m + r]).sum()).collect();
                subtract_lines(line, &w, y, n);
            }
        });
    }

    /// Calls `work` with each row, on several workers when that is worth it.
    fn each(&mut self, springs: usize, work: impl Fn(usize, &mut [f64]) + Sync) {
        let n = self.size();
        if n * n * springs / 2 < 64 * PART {
            self.rows.iter_mut().enumerate().for_each(|(node, row)| work(node, row));
        } else {
            let at_once = (PART / (n * self.m * springs)).max(1);
            self.rows.par_iter_mut().enumerate().with_min_len(at_once).for_each(|(node, row)| work(node, row));
        }
    }

    /// The row of a node more.
    pub fn push(&mut self, m: usize, row: Vec<f64>) {
        self.m = m;
        self.rows.push(row);
    }

    /// Takes out the row and the column of a node; the last one gets its place.
    pub fn swap_remove(&mut self, node: usize) {
        let last = self.rows.len() - 1;
        if node < last {
            let (m, n) = (self.m, self.size());
            let lines = self.of_node(last);
            let width = (node + 1) * m;
            for r in 0..m {
                self.rows[node][r * width..][..node * m].copy_from_slice(&lines[r * n..][..node * m]);
                for c in 0..m {
                    self.rows[node][r * width + node * m + c] = lines[r * n + last * m + c];
                }
            }
            for later in node + 1..last {
                let width = (later + 1) * m;
                for q in 0..m {
                    for r in 0..m {
                        self.rows[later][q * width + node * m + r] = lines[r * n + later * m + q];
                    }
                }
            }
        }
        self.rows.pop();
    }

    /// Another matrix behind this one, with nothing between them.
    pub fn join(&mut self, other: &Self) {
        assert!(self.m == other.m || self.rows.is_empty(), "nodes of both are of the same kind");
        let before = self.rows.len() * other.m;
        self.m = other.m;
        for (node, row) in other.rows.iter().enumerate() {
            let width = (node + 1) * self.m;
            let mut joined = Vec::with_capacity(self.m * (before + width));
            for line in row.chunks_exact(width) {
                joined.resize(joined.len() + before, 0.0);
                joined.extend_from_slice(line);
            }
            self.rows.push(joined);
        }
    }

    /// u += Z f.
    pub fn times(&self, f: &[f64], u: &mut [f64]) {
        let m = self.m;
        let loaded: Vec<usize> =
            (0..self.rows.len()).filter(|&node| f[node * m..][..m].iter().any(|f| *f != 0.0)).collect();
        if 8 * loaded.len() >= self.rows.len() {
            return self.times_all(f, u);
        }
        for node in loaded {
            let w: Vec<f64> = f[node * m..][..m].iter().map(|f| -f).collect();
            subtract_lines(u, &w, &self.of_node(node), self.size());
        }
    }

    fn times_all(&self, f: &[f64], u: &mut [f64]) {
        let (m, n) = (self.m, self.size());
        // Rows grow: parts of equal work end at roots.
        let end = |part: usize| ((part as f64 / PARTS as f64).sqrt() * self.rows.len() as f64).round() as usize;
        let of_part = |part: usize| {
            let mut sum = vec![0.0; n];
            for node in end(part)..end(part + 1) {
                let width = (node + 1) * m;
                for (r, line) in self.rows[node].chunks_exact(width).enumerate() {
                    let load = f[node * m + r];
                    let (before, block) = line.split_at(node * m);
                    let mut dots = [0.0; 8];
                    let (whole, rest) = before.as_chunks::<8>();
                    let (sums, sums_rest) = sum[..before.len()].as_chunks_mut::<8>();
                    let (loads, loads_rest) = f[..before.len()].as_chunks::<8>();
                    for ((s, z), f) in sums.iter_mut().zip(whole).zip(loads) {
                        for lane in 0..8 {
                            dots[lane] += z[lane] * f[lane];
                            s[lane] += z[lane] * load;
                        }
                    }
                    let mut dot: f64 = dots.iter().sum();
                    for ((s, z), f) in sums_rest.iter_mut().zip(rest).zip(loads_rest) {
                        dot += z * f;
                        *s += z * load;
                    }
                    dot += block.iter().zip(&f[node * m..]).map(|(z, f)| z * f).sum::<f64>();
                    sum[node * m + r] += dot;
                }
            }
            sum
        };
        let sums: Vec<Vec<f64>> = if n * n < 128 * PART {
            (0..PARTS).map(of_part).collect()
        } else {
            (0..PARTS).into_par_iter().map(of_part).collect()
        };
        for sum in sums {
            u.iter_mut().zip(&sum).for_each(|(u, s)| *u += s);
        }
    }
}
