//! What has changed in a structure since its matrix was factorised: a small dense system beside the factors.
//!
//! The border are the nodes of the factors whose links have changed (T) and the nodes that have come since (X). With Δ the stiffness
//! that has come to these nodes, the change of that on T and all of that on X, and u⁰ what the factors answer,
//!
//! $$\mathbf u=\mathbf u^0-\mathbf Z\,\Delta_{T}\,\mathbf y,\qquad
//! \begin{pmatrix}\mathbf 1+\mathbf Z_{TT}\Delta_{TT}&\mathbf Z_{TT}\Delta_{TX}\\\\ \Delta_{XT}&\Delta_{XX}\end{pmatrix}\mathbf y=
//! \begin{pmatrix}\mathbf u^0_T\\\\ \mathbf f_X\end{pmatrix}$$
//!
//! where y are the displacements of the border and Z columns of the inverse. It grows with the nodes that are touched, not with the
//! links that come and go between them.

use super::dense::{Triangles, subtract};
use super::{GROUND, Spring};
use crate::lanes::Width;

/// Most unknowns of a border.
const MOST_OF_BORDER: usize = 96;

/// The border of a matrix of `old` nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Border {
    m: usize,
    width: Width,
    /// Nodes of the factors.
    old: usize,
    /// Those of them that are in the border, in the order in which they came to it. Their unknowns are the first.
    touched: Vec<u32>,
    /// Nodes that have come since. All are in the border.
    new: usize,
    /// The lines of the inverse for those that are touched.
    columns: Vec<f64>,
    /// Stiffness that has come, line by line.
    stiffness: Vec<f64>,
    /// The system of the displacements of the border, with lines of new nodes over their stiffness.
    core: Option<Triangles>,
}

/// A border as it was before a change.
pub(super) struct Before {
    touched: usize,
    new: usize,
    stiffness: Vec<f64>,
    core: Option<Triangles>,
}

impl Border {
    /// Of a matrix that has not changed yet.
    pub fn new(m: usize, old: usize) -> Self {
        Self { m, width: Width::best(), old, ..Self::default() }
    }

    /// Number of unknowns.
    fn size(&self) -> usize {
        (self.touched.len() + self.new) * self.m
    }

    /// Words of memory.
    pub fn words(&self) -> usize {
        self.columns.capacity() + 2 * self.stiffness.capacity()
    }

    /// Whether a node is one of those that have come since.
    pub fn is_new(&self, node: u32) -> bool {
        node != GROUND && node as usize >= self.old
    }

    /// Nodes of the factors that springs touch and that are not there yet; `None` when the border would become too large with so many
    /// nodes in all.
    pub fn missing(&self, springs: &[Spring], nodes: usize) -> Option<Vec<u32>> {
        let mut missing: Vec<u32> = Vec::new();
        for node in springs.iter().flat_map(|spring| spring.ends) {
            if node != GROUND && !self.is_new(node) && !self.touched.contains(&node) && !missing.contains(&node) {
                missing.push(node);
            }
        }
        let size = (self.touched.len() + missing.len() + nodes - self.old) * self.m;
        (size <= MOST_OF_BORDER).then_some(missing)
    }

    /// Adds springs, or takes them away, where there are so many nodes now; these nodes of the factors come to the border, with columns of
    /// the inverse for each degree of freedom. `None`, and nothing is changed, where a part has come loose.
    pub fn change(
        &mut self,
        nodes: usize,
        missing: &[u32],
        columns: &[Vec<f64>],
        springs: &[Spring],
        sign: f64,
    ) -> Option<Before> {
        let wider = self.widened(missing.len(), nodes - self.old);
        let before = Before {
            touched: self.touched.len(),
            new: self.new,
            stiffness: std::mem::replace(&mut self.stiffness, wider),
            core: self.core.take(),
        };
        self.new = nodes - self.old;
        self.touched.extend_from_slice(missing);
        columns.iter().for_each(|column| self.columns.extend_from_slice(column));
        springs.iter().for_each(|spring| self.add(spring, sign));
        self.core = self.make_core();
        if self.core.is_none() {
            self.undo(before);
            return None;
        }
        Some(before)
    }

    /// Goes back.
    pub fn undo(&mut self, before: Before) {
        self.touched.truncate(before.touched);
        self.columns.truncate(before.touched * self.m * self.old * self.m);
        (self.new, self.stiffness, self.core) = (before.new, before.stiffness, before.core);
    }

    /// The stiffness with more nodes of the factors and as many new ones.
    fn widened(&self, missing: usize, new: usize) -> Vec<f64> {
        let (m, from) = (self.m, self.size());
        let to = (self.touched.len() + missing + new) * m;
        let place = |line: usize| if line < self.touched.len() * m { line } else { line + missing * m };
        let mut wider = vec![0.0; to * to];
        for r in 0..from {
            for c in 0..from {
                wider[place(r) * to + place(c)] = self.stiffness[r * from + c];
            }
        }
        wider
    }

    /// Where the unknowns of a node begin.
    fn place(&self, node: u32) -> usize {
        let place = match self.is_new(node) {
            true => self.touched.len() + node as usize - self.old,
            false => self.touched.iter().position(|&other| other == node).expect("it is in the border"),
        };
        place * self.m
    }

    /// Adds a spring, or takes it away.
    fn add(&mut self, spring: &Spring, sign: f64) {
        let (m, s) = (self.m, self.size());
        let ends = [0, 1].map(|end| match spring.ends[end] {
            GROUND => None,
            node => Some((self.place(node), spring.rows[end])),
        });
        for (p, row) in ends.iter().flatten() {
            for (q, column) in ends.iter().flatten() {
                for r in 0..m {
                    for c in 0..m {
                        self.stiffness[(p + r) * s + q + c] += sign * spring.stiffness * row[r] * column[c];
                    }
                }
            }
        }
    }

    fn make_core(&self) -> Option<Triangles> {
        let (m, s, long) = (self.m, self.size(), self.old * self.m);
        let known = self.touched.len() * m;
        let mut core = vec![0.0; s * s];
        let (above, below) = core.split_at_mut(known * s);
        for (own, line) in above.chunks_exact_mut(s).enumerate() {
            let entry = self.touched[own / m] as usize * m + own % m;
            let w: Vec<f64> = (0..known).map(|j| -self.columns[j * long + entry]).collect();
            subtract(self.width, line, &w, &self.stiffness, s);
            line[own] += 1.0;
        }
        for (line, own) in below.chunks_exact_mut(s).zip(known..) {
            let over = 1.0 / self.stiffness[own * (s + 1)];
            line.iter_mut().zip(&self.stiffness[own * s..]).for_each(|(c, k)| *c = over * k);
        }
        Triangles::of(core, s)
    }

    /// Of loads on all nodes, those of the factors answered by these, what all together answer: in place.
    pub fn correct(&self, x: &mut [f64]) {
        let Some(core) = &self.core else { return };
        let (m, s) = (self.m, self.size());
        let (of_factors, new) = x.split_at_mut(self.old * m);
        let mut given = Vec::with_capacity(s);
        self.touched.iter().for_each(|&node| given.extend_from_slice(&of_factors[node as usize * m..][..m]));
        let known = given.len();
        given.extend(new.iter().zip(known..).map(|(f, own)| f / self.stiffness[own * (s + 1)]));
        let y = core.solve(&given);
        let dot = |line: &[f64]| line.iter().zip(&y).map(|(k, y)| k * y).sum::<f64>();
        let force: Vec<f64> = self.stiffness.chunks_exact(s).take(known).map(dot).collect();
        subtract(self.width, of_factors, &force, &self.columns, self.old * m);
        new.copy_from_slice(&y[known..]);
    }
}
