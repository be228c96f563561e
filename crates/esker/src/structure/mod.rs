//! Elastic structures: nodes joined by two-node links, and ways to solve K u = F while links come and go.
//!
//! Knows no grains. A node has translations, and rotations where wanted ([`Freedom`]); a link is a normal and a tangential
//! spring at a point between two nodes, or between a node and the ground ([`Link`]). From one set of links four solvers are
//! made: [`rima`] keeps the inverse matrix up to date (Gavrilov 1999, chapter 4), [`gradients`] needs nothing but the links,
//! [`cholesky`] factorises the sparse matrix and corrects the factors for a few changes, and [`singular`] solves loosely held
//! structures exactly, for small ones and as a twin. [`free`] treats bodies that float.
//!
//! Signs: the normal runs from the first end to the second; a positive relative displacement along it is compression.

mod border;
pub mod cholesky;
pub mod dense;
pub mod free;
pub mod gradients;
mod link;
pub mod rima;
mod rows;
pub mod singular;
#[cfg(test)]
mod tests;

pub use link::{Action, Freedom, GROUND, Link, MOST, Shift, Spring};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Nodes and links: what there is to solve.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// What the nodes can do.
    pub freedom: Freedom,
    /// Number of nodes.
    pub nodes: usize,
    /// The links; those taken out leave a hole, so that others keep their number.
    pub links: Vec<Option<Link>>,
}

impl Frame {
    /// Nothing yet.
    pub fn new(freedom: Freedom) -> Self {
        Self { freedom, nodes: 0, links: Vec::new() }
    }

    /// Number of unknowns.
    pub fn size(&self) -> usize {
        self.nodes * self.freedom.size()
    }

    /// All links that are there.
    pub fn present(&self) -> impl Iterator<Item = &Link> {
        self.links.iter().flatten()
    }

    /// Neighbours of each node, in order.
    fn neighbours(&self) -> Vec<Vec<u32>> {
        let mut near: Vec<Vec<u32>> = vec![Vec::new(); self.nodes];
        for link in self.present().filter(|link| !link.ends.contains(&GROUND)) {
            let [a, b] = link.ends;
            near[a as usize].push(b);
            near[b as usize].push(a);
        }
        for list in &mut near {
            list.sort_unstable();
            list.dedup();
        }
        near
    }

    /// Whether links lead from the ground to every node.
    pub fn is_grounded(&self) -> bool {
        let near = self.neighbours();
        let (mut reached, mut list) = (vec![false; self.nodes], Vec::new());
        for link in self.present() {
            if let [GROUND, node] | [node, GROUND] = link.ends
                && !std::mem::replace(&mut reached[node as usize], true)
            {
                list.push(node);
            }
        }
        while let Some(node) = list.pop() {
            for &other in &near[node as usize] {
                if !std::mem::replace(&mut reached[other as usize], true) {
                    list.push(other);
                }
            }
        }
        reached.into_iter().all(|reached| reached)
    }

    /// K u: the forces that hold the displacements.
    pub fn times(&self, u: &[f64]) -> Vec<f64> {
        let mut f = vec![0.0; self.size()];
        for link in self.present() {
            let [a, b] = link.ends.map(|node| self.freedom.shift(u, node));
            let [on_a, on_b] = link.actions(link.force(link.stretch(&a, &b)));
            // What holds the nodes is opposite to what the link does to them.
            self.freedom.load(&mut f, link.ends[0], &Action { force: -on_a.force, couple: -on_a.couple });
            self.freedom.load(&mut f, link.ends[1], &Action { force: -on_b.force, couple: -on_b.couple });
        }
        f
    }

    /// The whole matrix, line by line: for tests and small structures.
    pub fn matrix(&self) -> Vec<f64> {
        let n = self.size();
        let mut matrix = vec![0.0; n * n];
        for link in self.present() {
            for spring in link.springs(self.freedom) {
                let entries = spring_entries(&spring, self.freedom.size());
                for &(r, x) in &entries {
                    for &(c, y) in &entries {
                        matrix[r * n + c] += spring.stiffness * x * y;
                    }
                }
            }
        }
        matrix
    }
}

/// Places and values of the row of a spring.
fn spring_entries(spring: &Spring, m: usize) -> Vec<(usize, f64)> {
    let mut entries = Vec::with_capacity(2 * m);
    for (end, &node) in spring.ends.iter().enumerate().filter(|(_, node)| **node != GROUND) {
        entries.extend((0..m).map(|r| (node as usize * m + r, spring.rows[end][r])).filter(|e| e.1 != 0.0));
    }
    entries
}

/// Why a structure cannot be solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Loose {
    /// The links of a new node let it move.
    #[error("its links do not hold node {0}")]
    Node(u32),
    /// A part of the structure would come loose.
    #[error("a part of the structure comes loose")]
    Part,
}

/// What a solution took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effort {
    /// Iterations.
    pub iterations: usize,
    /// Largest residual over the largest load.
    pub residual: f64,
}

/// A way to solve K u = F of a frame that changes.
pub trait Backend: Send {
    /// Begins anew with a frame.
    fn reset(&mut self, frame: &Frame) -> Result<(), Loose>;

    /// The last node of the frame is new, and so are these links of it, which stand at its end.
    fn attached(&mut self, frame: &Frame, links: &[Link]) -> Result<(), Loose>;

    /// These links are new.
    fn connected(&mut self, frame: &Frame, links: &[Link]) -> Result<(), Loose>;

    /// These links are gone. When a part of the structure has come loose nothing is changed.
    fn disconnected(&mut self, frame: &Frame, links: &[Link]) -> Result<(), Loose>;

    /// A node is gone and so are these links of it; the last node has its number. When others have come loose nothing is
    /// changed.
    fn dropped(&mut self, frame: &Frame, node: u32, links: &[Link]) -> Result<(), Loose>;

    /// Adds to `u` what the loads `f` make of it, nearly: see [`Structure::solve`].
    fn respond(&mut self, frame: &Frame, f: &[f64], u: &mut [f64]) -> Effort;

    /// What the forces of springs that are stretched by one metre make of the nodes, nearly: a column for each.
    fn answers(&mut self, frame: &Frame, springs: &[Spring]) -> Vec<Vec<f64>> {
        let of = |spring: &Spring| {
            let mut f = vec![0.0; frame.size()];
            for (e, b) in spring_entries(spring, frame.freedom.size()) {
                f[e] += spring.stiffness * b;
            }
            let mut u = vec![0.0; f.len()];
            self.respond(frame, &f, &mut u);
            u
        };
        springs.iter().map(of).collect()
    }

    /// Memory \[byte\].
    fn memory(&self) -> usize;
}

impl Backend for Box<dyn Backend> {
    fn reset(&mut self, frame: &Frame) -> Result<(), Loose> {
        (**self).reset(frame)
    }
    fn attached(&mut self, frame: &Frame, links: &[Link]) -> Result<(), Loose> {
        (**self).attached(frame, links)
    }
    fn connected(&mut self, frame: &Frame, links: &[Link]) -> Result<(), Loose> {
        (**self).connected(frame, links)
    }
    fn disconnected(&mut self, frame: &Frame, links: &[Link]) -> Result<(), Loose> {
        (**self).disconnected(frame, links)
    }
    fn dropped(&mut self, frame: &Frame, node: u32, links: &[Link]) -> Result<(), Loose> {
        (**self).dropped(frame, node, links)
    }
    fn respond(&mut self, frame: &Frame, f: &[f64], u: &mut [f64]) -> Effort {
        (**self).respond(frame, f, u)
    }
    fn answers(&mut self, frame: &Frame, springs: &[Spring]) -> Vec<Vec<f64>> {
        (**self).answers(frame, springs)
    }
    fn memory(&self) -> usize {
        (**self).memory()
    }
}

/// A frame with a way to solve it.
pub struct Structure<B> {
    /// Nodes and links.
    pub frame: Frame,
    /// The way.
    pub backend: B,
    free: Vec<u32>,
}

impl<B: Backend> Structure<B> {
    /// Nothing yet.
    pub fn new(freedom: Freedom, backend: B) -> Self {
        Self { frame: Frame::new(freedom), backend, free: Vec::new() }
    }

    /// Of a frame.
    pub fn of(frame: Frame, mut backend: B) -> Result<Self, Loose> {
        backend.reset(&frame)?;
        let free = holes(&frame);
        Ok(Self { frame, backend, free })
    }

    /// Begins anew with another frame.
    pub fn begin(&mut self, frame: Frame) -> Result<(), Loose> {
        self.frame = frame;
        self.rebuild()
    }

    /// Takes a way to solve it anew from the links.
    pub fn rebuild(&mut self) -> Result<(), Loose> {
        self.free = holes(&self.frame);
        self.backend.reset(&self.frame)
    }

    /// Goes on with another way to solve it; with the old one if that fails.
    pub fn replace(&mut self, mut backend: B) -> Result<(), Loose> {
        backend.reset(&self.frame)?;
        self.free = holes(&self.frame);
        self.backend = backend;
        Ok(())
    }

    fn keep(&mut self, link: Link) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.frame.links[number as usize] = Some(link);
                number
            }
            None => {
                self.frame.links.push(Some(link));
                self.frame.links.len() as u32 - 1
            }
        }
    }

    /// Adds a node with links to others or to the ground, in which the new node is called `node()`; returns their numbers.
    pub fn attach(&mut self, links: &[Link]) -> Result<Vec<u32>, Loose> {
        self.frame.nodes += 1;
        let numbers: Vec<u32> = links.iter().map(|&link| self.keep(link)).collect();
        if let Err(loose) = self.backend.attached(&self.frame, links) {
            numbers.iter().for_each(|&number| self.forget(number));
            self.frame.nodes -= 1;
            return Err(loose);
        }
        Ok(numbers)
    }

    fn forget(&mut self, number: u32) {
        self.frame.links[number as usize] = None;
        self.free.push(number);
    }

    /// Number that the next attached node will have.
    pub fn next_node(&self) -> u32 {
        self.frame.nodes as u32
    }

    /// Adds links; returns their numbers.
    pub fn connect(&mut self, links: &[Link]) -> Result<Vec<u32>, Loose> {
        let numbers: Vec<u32> = links.iter().map(|&link| self.keep(link)).collect();
        self.backend.connected(&self.frame, links)?;
        Ok(numbers)
    }

    /// Takes out links. Where a part would come loose they stay.
    pub fn disconnect(&mut self, numbers: &[u32]) -> Result<(), Loose> {
        let links: Vec<Link> = numbers.iter().map(|&l| self.frame.links[l as usize].expect("it is there")).collect();
        numbers.iter().for_each(|&number| self.forget(number));
        let done = self.backend.disconnected(&self.frame, &links);
        if done.is_err() {
            for (&number, link) in numbers.iter().zip(links) {
                self.frame.links[number as usize] = Some(link);
                self.free.retain(|&l| l != number);
            }
        }
        done
    }

    /// Takes out a node with all its links; the last node gets its number. Where others would come loose it stays.
    pub fn drop_node(&mut self, node: u32) -> Result<(), Loose> {
        let before = (self.frame.clone(), self.free.clone());
        let of_it = |link: &Option<Link>| link.is_some_and(|link| link.ends.contains(&node));
        let numbers: Vec<u32> =
            (0..self.frame.links.len() as u32).filter(|&l| of_it(&self.frame.links[l as usize])).collect();
        let links: Vec<Link> = numbers.iter().filter_map(|&l| self.frame.links[l as usize]).collect();
        numbers.into_iter().for_each(|number| self.forget(number));
        let last = self.frame.nodes as u32 - 1;
        for link in self.frame.links.iter_mut().flatten() {
            link.ends.iter_mut().filter(|end| **end == last).for_each(|end| *end = node);
        }
        self.frame.nodes -= 1;
        let done = self.backend.dropped(&self.frame, node, &links);
        if done.is_err() {
            (self.frame, self.free) = before;
        }
        done
    }

    /// Adds to `u` what the loads `f` make of it, so that what is left unbalanced is less than `tolerance` of the largest load:
    /// the answer of the back end is taken as nearly right and refined.
    pub fn solve(&mut self, f: &[f64], u: &mut [f64], tolerance: f64) -> Effort {
        let largest = |v: &[f64]| v.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let scale = largest(f);
        if scale == 0.0 {
            return Effort::default();
        }
        let mut effort = Effort::default();
        let mut rest = f.to_vec();
        let mut answer = vec![0.0; f.len()];
        let mut best = f64::INFINITY;
        for _ in 0..ROUNDS {
            let mut step = vec![0.0; f.len()];
            effort.iterations += self.backend.respond(&self.frame, &rest, &mut step).iterations;
            answer.iter_mut().zip(&step).for_each(|(a, s)| *a += s);
            let held = self.frame.times(&answer);
            rest.iter_mut().zip(f.iter().zip(&held)).for_each(|(r, (f, h))| *r = f - h);
            effort.residual = largest(&rest) / scale;
            if effort.residual <= tolerance || effort.residual > 0.5 * best {
                break;
            }
            best = effort.residual;
        }
        u.iter_mut().zip(&answer).for_each(|(u, a)| *u += a);
        effort
    }

    /// How far K Z is from one: the part of a random vector that does not come back.
    pub fn drift(&mut self, seed: u64) -> f64 {
        drift(&self.frame, &mut self.backend, seed)
    }
}

/// The part of a random load that the answer to it does not hold.
fn drift(frame: &Frame, backend: &mut impl Backend, seed: u64) -> f64 {
    use crate::rng::{Purpose, Stream};
    let mut stream = Stream::new(seed, Purpose::Noise, frame.size() as u64);
    let x: Vec<f64> = (0..frame.size()).map(|_| 2.0 * stream.uniform() - 1.0).collect();
    let mut u = vec![0.0; x.len()];
    backend.respond(frame, &x, &mut u);
    let back = frame.times(&u);
    let square = |v: &mut dyn Iterator<Item = f64>| v.map(|x| x * x).sum::<f64>().sqrt();
    square(&mut back.iter().zip(&x).map(|(b, x)| b - x)) / square(&mut x.iter().copied())
}

/// Numbers of links that are free to be given again.
fn holes(frame: &Frame) -> Vec<u32> {
    (0..frame.links.len() as u32).filter(|&l| frame.links[l as usize].is_none()).collect()
}

/// Most rounds of refinement.
const ROUNDS: usize = 10;
