//! The inverse of the stiffness matrix, kept up to date while nodes and links come and go: the recursive inverse matrix
//! algorithm (Gavrilov 1999, sections 4.2, 4.3), for any number of degrees of freedom.
//!
//! A link is a few springs, each with a row b and a stiffness c. With Y = B Z, the rows of the springs that change,
//!
//! $$\mathbf Z'=\mathbf Z\mp\mathbf Y^T(\mathbf C^{-1}\pm\mathbf B\mathbf Z\mathbf B^T)^{-1}\mathbf Y$$
//!
//! for springs that come or go: Gavrilov's cases 2 and 3 (4.23)–(4.28), a removal being a negative stiffness, and any number
//! of links in one pass. A new node is held by as many springs as it has degrees of freedom (cases 0 and 1): with the square
//! part P⁻¹ of their rows on the new node and the rest B on the old ones the border is
//!
//! $$\mathbf Z_{no}=-\mathbf P\mathbf B\mathbf Z,\qquad \mathbf Z_{nn}=\mathbf P(\mathbf C^{-1}+\mathbf B\mathbf Z\mathbf B^T)\mathbf P^T$$
//!
//! and what else holds it comes by the first formula. Both are derived here for springs; for blocks they are the equations
//! of the thesis with errata E-11 and E-14.
//!
//! Costs O(n) for a new node on one link, O(n²) for each link more or less and for a solution with many loads, O(n) for a
//! load on one node; memory O(n²), half of it by symmetry. Removals amplify errors by the inverse of the least pivot; who
//! uses it looks at [`Structure::drift`](super::Structure::drift). Rows are kept apart, and a row is written by one worker: the
//! bits are the same for any number of them.

use super::{Backend, Effort, Frame, GROUND, Link, Loose, MOST, Spring, cholesky, dense};
use rayon::prelude::*;

/// A removal that leaves less than this of the stiffness felt by a spring takes its last support.
const CRITICAL: f64 = 1e-9;

/// Numbers in a part of the work that is worth a worker.
const PART: usize = 16 * 1024;

/// The inverse matrix: its lower triangle with whole blocks on the diagonal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rima {
    m: usize,
    /// Of each node, `m` lines of as many numbers as its own and all earlier nodes have.
    rows: Vec<Vec<f64>>,
}

impl Rima {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The inverse of a whole frame by sparse factors. Each diagonal entry grows by `firmness` of it.
    pub fn of(frame: &Frame, firmness: f64) -> Result<Self, Loose> {
        Ok(Self { m: frame.freedom.size(), rows: cholesky::inverse_rows(frame, firmness)? })
    }

    /// Entry between two degrees of freedom.
    pub fn entry(&self, r: usize, c: usize) -> f64 {
        let (r, c) = (r.max(c), r.min(c));
        let node = r / self.m;
        self.rows[node][(r % self.m) * (node + 1) * self.m + c]
    }

    fn size(&self) -> usize {
        self.rows.len() * self.m
    }

    /// The `m` lines of a node, whole: its own row, and its column in the rows of later nodes.
    fn lines(&self, node: usize) -> Vec<f64> {
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
    fn rows_of(&self, springs: &[Spring], skip: u32) -> Vec<f64> {
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

    /// B Z Bᵀ of springs whose rows B Z are known.
    fn compliance(&self, springs: &[Spring], y: &[f64], skip: u32) -> Vec<f64> {
        let (m, n, k) = (self.m, self.size(), springs.len());
        let mut g = vec![0.0; k * k];
        for i in 0..k {
            for (j, spring) in springs.iter().enumerate() {
                for end in (0..2).filter(|&end| spring.ends[end] != GROUND && spring.ends[end] != skip) {
                    let at = &y[i * n + spring.ends[end] as usize * m..][..m];
                    g[i * k + j] += spring.rows[end][..m].iter().zip(at).map(|(b, y)| b * y).sum::<f64>();
                }
            }
        }
        g
    }

    /// Springs come (`sign` = 1) or go (−1).
    fn change(&mut self, springs: &[Spring], sign: f64) -> Result<(), Loose> {
        let (n, k) = (self.size(), springs.len());
        if k == 0 {
            return Ok(());
        }
        let y = self.rows_of(springs, GROUND);
        let g = self.compliance(springs, &y, GROUND);
        let root: Vec<f64> = springs.iter().map(|s| s.stiffness.sqrt()).collect();
        // 1 ± √C B Z Bᵀ √C has eigenvalues above one, or between zero and one.
        let mut core: Vec<f64> = (0..k * k)
            .map(|e| {
                let (i, j) = (e / k, e % k);
                f64::from(u8::from(i == j)) + sign * root[i] * root[j] * 0.5 * (g[i * k + j] + g[j * k + i])
            })
            .collect();
        // The first pivot of a removal is to be compared with one, not with itself.
        if sign < 0.0 && (0..k).any(|i| core[i * k + i] <= CRITICAL) {
            return Err(Loose::Part);
        }
        dense::cholesky(&mut core, k, if sign < 0.0 { CRITICAL } else { 0.0 }).ok_or(Loose::Part)?;
        let mut x = dense::inverse_of_cholesky(&core, k);
        (0..k * k).for_each(|e| x[e] *= sign * root[e / k] * root[e % k]);

        let m = self.m;
        let work = |node: usize, row: &mut [f64]| {
            let width = (node + 1) * m;
            for (r, line) in row.chunks_exact_mut(width).enumerate() {
                let w: Vec<f64> =
                    (0..k).map(|i| (0..k).map(|j| x[i * k + j] * y[j * n + node * m + r]).sum()).collect();
                subtract(line, &w, &y, n);
            }
        };
        self.each_row(k, work);
        Ok(())
    }

    /// Calls `work` with each row, on several workers when that is worth it.
    fn each_row(&mut self, springs: usize, work: impl Fn(usize, &mut [f64]) + Sync) {
        let n = self.size();
        if n * n * springs / 2 < 64 * PART {
            self.rows.iter_mut().enumerate().for_each(|(node, row)| work(node, row));
        } else {
            let at_once = (PART / (n * self.m * springs)).max(1);
            self.rows.par_iter_mut().enumerate().with_min_len(at_once).for_each(|(node, row)| work(node, row));
        }
    }

    /// Adds a node held by springs, of which both ends may be named; the others are older nodes.
    fn border(&mut self, springs: &[Spring], node: u32) -> Result<(), Loose> {
        let (m, n) = (self.m, self.size());
        let (held, rest) = holding(springs, node, m).ok_or(Loose::Node(node))?;
        let rows_on_new: Vec<f64> = held.iter().flat_map(|s| end_row(s, node)[..m].to_vec()).collect();
        let p = dense::inverse(&rows_on_new, m).ok_or(Loose::Node(node))?;
        let y = self.rows_of(&held, node);
        let mut felt = self.compliance(&held, &y, node);
        (0..m).for_each(|i| felt[i * m + i] += 1.0 / held[i].stiffness);
        let width = n + m;
        let mut row = vec![0.0; m * width];
        for r in 0..m {
            let line = &mut row[r * width..][..n];
            subtract(line, &p[r * m..][..m], &y, n);
            for c in 0..m {
                row[r * width + n + c] = (0..m * m).map(|e| p[r * m + e / m] * felt[e] * p[c * m + e % m]).sum::<f64>();
            }
        }
        for r in 0..m {
            for c in 0..r {
                let mean = 0.5 * (row[r * width + n + c] + row[c * width + n + r]);
                (row[r * width + n + c], row[c * width + n + r]) = (mean, mean);
            }
        }
        self.rows.push(row);
        self.change(&rest, 1.0)
    }

    /// Joins the inverse of another structure: its nodes come behind these, without a link between them.
    pub fn merge(&mut self, other: &Rima) {
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
}

/// line −= Σ w y, where `y` has a line of length `n` for each weight. Four at a time: the line is read and written less often.
fn subtract(line: &mut [f64], w: &[f64], y: &[f64], n: usize) {
    let length = line.len();
    let y_of = |i: usize| &y[i * n..][..length];
    let mut i = 0;
    while i < w.len() {
        match w.len() - i {
            1 => {
                let (w0, y0) = (w[i], y_of(i));
                line.iter_mut().zip(y0).for_each(|(z, a)| *z -= w0 * a);
                i += 1;
            }
            2 | 3 => {
                let (w0, w1, y0, y1) = (w[i], w[i + 1], y_of(i), y_of(i + 1));
                line.iter_mut().zip(y0.iter().zip(y1)).for_each(|(z, (a, b))| *z -= w0 * a + w1 * b);
                i += 2;
            }
            _ => {
                let (w, y) = (&w[i..i + 4], [y_of(i), y_of(i + 1), y_of(i + 2), y_of(i + 3)]);
                for c in 0..length {
                    line[c] -= (w[0] * y[0][c] + w[1] * y[1][c]) + (w[2] * y[2][c] + w[3] * y[3][c]);
                }
                i += 4;
            }
        }
    }
}

fn end_row(spring: &Spring, node: u32) -> [f64; MOST] {
    if spring.ends[0] == node { spring.rows[0] } else { spring.rows[1] }
}

/// Of the springs of a node, as many as it has degrees of freedom, such that they hold it as firmly as these allow; and the
/// rest.
fn holding(springs: &[Spring], node: u32, m: usize) -> Option<(Vec<Spring>, Vec<Spring>)> {
    let mut left: Vec<(Spring, [f64; MOST])> = springs.iter().map(|s| (*s, end_row(s, node))).collect();
    let size = |row: &[f64; MOST]| row.iter().map(|x| x * x).sum::<f64>();
    let scale = left.iter().map(|(_, row)| size(row)).fold(0.0, f64::max);
    let mut held = Vec::with_capacity(m);
    for _ in 0..m {
        // The row that is farthest from those already taken; the first of equals.
        let mut best = 0;
        for i in 1..left.len() {
            if size(&left[i].1) > size(&left.get(best)?.1) * (1.0 + 1e-9) {
                best = i;
            }
        }
        if left.is_empty() || size(&left[best].1) <= 1e-12 * scale {
            return None;
        }
        let (spring, taken) = left.remove(best);
        held.push(spring);
        let length = size(&taken);
        for (_, row) in &mut left {
            let along = row.iter().zip(&taken).map(|(a, b)| a * b).sum::<f64>() / length;
            row.iter_mut().zip(&taken).for_each(|(a, b)| *a -= along * b);
        }
    }
    Some((held, left.into_iter().map(|(spring, _)| spring).collect()))
}

fn springs_of(frame: &Frame, links: &[Link]) -> Vec<Spring> {
    links.iter().flat_map(|link| link.springs(frame.freedom)).collect()
}

impl Backend for Rima {
    /// By the columns of the inverse from sparse factors.
    fn reset(&mut self, frame: &Frame) -> Result<(), Loose> {
        *self = Self::of(frame, 0.0)?;
        Ok(())
    }

    fn attached(&mut self, frame: &Frame, links: &[Link]) -> Result<(), Loose> {
        self.m = frame.freedom.size();
        self.border(&springs_of(frame, links), frame.nodes as u32 - 1)
    }

    fn connected(&mut self, frame: &Frame, links: &[Link]) -> Result<(), Loose> {
        self.change(&springs_of(frame, links), 1.0)
    }

    fn disconnected(&mut self, frame: &Frame, links: &[Link]) -> Result<(), Loose> {
        self.change(&springs_of(frame, links), -1.0)
    }

    /// Springs that are not needed to hold the node are taken out; those that are go with its row.
    fn dropped(&mut self, frame: &Frame, node: u32, links: &[Link]) -> Result<(), Loose> {
        let (_, rest) = holding(&springs_of(frame, links), node, self.m).ok_or(Loose::Node(node))?;
        self.change(&rest, -1.0)?;
        let node = node as usize;
        let last = self.rows.len() - 1;
        if node < last {
            let (m, n) = (self.m, self.size());
            let lines = self.lines(last);
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
        Ok(())
    }

    fn respond(&mut self, _: &Frame, f: &[f64], u: &mut [f64]) -> Effort {
        let (m, n) = (self.m, self.size());
        let loaded: Vec<usize> =
            (0..self.rows.len()).filter(|&node| f[node * m..][..m].iter().any(|f| *f != 0.0)).collect();
        if 8 * loaded.len() < self.rows.len() {
            for node in loaded {
                let lines = self.lines(node);
                let w: Vec<f64> = f[node * m..][..m].iter().map(|f| -f).collect();
                subtract(u, &w, &lines, n);
            }
        } else {
            self.times(f, u);
        }
        Effort { iterations: 1, residual: 0.0 }
    }

    fn answers(&mut self, _: &Frame, springs: &[Spring]) -> Vec<Vec<f64>> {
        let lines = self.rows_of(springs, GROUND);
        let lines = lines.chunks_exact(self.size().max(1)).zip(springs);
        lines.map(|(line, spring)| line.iter().map(|y| spring.stiffness * y).collect()).collect()
    }

    fn memory(&self) -> usize {
        self.rows.iter().map(|row| row.capacity() * size_of::<f64>()).sum()
    }
}

/// Parts into which a product with all loads is cut: always the same, so that the sums are.
const PARTS: usize = 16;

impl Rima {
    /// u += Z f.
    pub(super) fn times(&self, f: &[f64], u: &mut [f64]) {
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
