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
//! uses it looks at [`Structure::drift`](super::Structure::drift).

use super::rows::Rows;
use super::{Backend, Effort, Frame, GROUND, Link, Loose, MOST, Spring, cholesky, dense};

/// A removal that leaves less than this of the stiffness felt by a spring takes its last support.
const CRITICAL: f64 = 1e-9;

/// The inverse matrix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rima {
    rows: Rows,
}

impl Rima {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The inverse of a whole frame by sparse factors. Each diagonal entry grows by `firmness` of it.
    pub fn of(frame: &Frame, firmness: f64) -> Result<Self, Loose> {
        Ok(Self { rows: Rows::new(frame.freedom.size(), cholesky::inverse_rows(frame, firmness)?) })
    }

    /// Entry between two degrees of freedom.
    pub fn entry(&self, r: usize, c: usize) -> f64 {
        self.rows.entry(r, c)
    }

    /// B Z Bᵀ of springs whose rows B Z are known.
    fn compliance(&self, springs: &[Spring], y: &[f64], skip: u32) -> Vec<f64> {
        let (m, n, k) = (self.rows.block(), self.rows.size(), springs.len());
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
        let k = springs.len();
        if k == 0 {
            return Ok(());
        }
        let y = self.rows.of_springs(springs, GROUND);
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
        self.rows.subtract(&x, &y, k);
        Ok(())
    }

    /// Springs between nodes that are there, or to the ground: of links, or of any elements ([`Spring::of_element`]).
    pub fn put_in(&mut self, springs: &[Spring]) -> Result<(), Loose> {
        self.change(springs, 1.0)
    }

    /// Takes out springs. Where something would come loose nothing is changed.
    pub fn take_out(&mut self, springs: &[Spring]) -> Result<(), Loose> {
        self.change(springs, -1.0)
    }

    /// Adds a node with `m` degrees of freedom, held by springs to older nodes or to the ground. Its number is that of the nodes
    /// before.
    pub fn attach(&mut self, m: usize, springs: &[Spring]) -> Result<(), Loose> {
        let (node, n) = (self.rows.nodes() as u32, self.rows.nodes() * m);
        let (held, rest) = holding(springs, node, m).ok_or(Loose::Node(node))?;
        let rows_on_new: Vec<f64> = held.iter().flat_map(|s| end_row(s, node)[..m].to_vec()).collect();
        let p = dense::inverse(&rows_on_new, m).ok_or(Loose::Node(node))?;
        let y = self.rows.of_springs(&held, node);
        let mut felt = self.compliance(&held, &y, node);
        (0..m).for_each(|i| felt[i * m + i] += 1.0 / held[i].stiffness);
        let width = n + m;
        let mut row = vec![0.0; m * width];
        for r in 0..m {
            let line = &mut row[r * width..][..n];
            dense::subtract_lines(line, &p[r * m..][..m], &y, n);
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
        self.rows.push(m, row);
        self.put_in(&rest)
    }

    /// Joins the inverse of another structure: its nodes come behind these, without a link between them.
    pub fn merge(&mut self, other: &Rima) {
        self.rows.join(&other.rows);
    }

    /// u += Z f.
    pub(super) fn times(&self, f: &[f64], u: &mut [f64]) {
        self.rows.times(f, u);
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
        self.attach(frame.freedom.size(), &springs_of(frame, links))
    }

    fn connected(&mut self, frame: &Frame, links: &[Link]) -> Result<(), Loose> {
        self.put_in(&springs_of(frame, links))
    }

    fn disconnected(&mut self, frame: &Frame, links: &[Link]) -> Result<(), Loose> {
        self.take_out(&springs_of(frame, links))
    }

    /// Springs that are not needed to hold the node are taken out; those that are go with its row.
    fn dropped(&mut self, frame: &Frame, node: u32, links: &[Link]) -> Result<(), Loose> {
        let (_, rest) = holding(&springs_of(frame, links), node, self.rows.block()).ok_or(Loose::Node(node))?;
        self.take_out(&rest)?;
        self.rows.swap_remove(node as usize);
        Ok(())
    }

    fn respond(&mut self, _: &Frame, f: &[f64], u: &mut [f64]) -> Effort {
        self.times(f, u);
        Effort { iterations: 1, residual: 0.0 }
    }

    fn answers(&mut self, _: &Frame, springs: &[Spring]) -> Vec<Vec<f64>> {
        let lines = self.rows.of_springs(springs, GROUND);
        let lines = lines.chunks_exact(self.rows.size().max(1)).zip(springs);
        lines.map(|(line, spring)| line.iter().map(|y| spring.stiffness * y).collect()).collect()
    }

    fn memory(&self) -> usize {
        self.rows.memory()
    }
}
