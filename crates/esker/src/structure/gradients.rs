//! Conjugate gradients on the links themselves, without a matrix (Gavrilov 1999, section 5.7.7.2, indices after E-28).
//!
//! Each node goes through its own links, in order, so that several workers give the same bits as one; a link is worked out from
//! both sides. The preconditioner is the inverse of the blocks of the diagonal: of single nodes, or of groups of nodes that
//! are near each other in the structure, whose inverses are made by [`rima`](super::rima) (section 5.7.7.4, there a conjecture). A load
//! gets through the structure faster if groups move as one besides: what they do is a small structure of its own, solved by factors.
//!
//! A change of links costs nothing, a solution O(links) for each iteration; there are about as many iterations as a load
//! needs to get through the structure, grain by grain, times a few. Of what is loose only that is seen which no links lead to from
//! the ground.

use super::{Backend, Effort, Frame, Freedom, GROUND, Link, Loose, Shift, cholesky::Cholesky, dense, rima::Rima};
use crate::math::Vec3;
use rayon::prelude::*;

/// Numbers that one worker sums up at once: always the same, so that sums are.
const PIECE: usize = 4096;

/// Stiffness given to what may be loose, in parts of its own.
const FIRMNESS: f64 = 1e-6;

/// Groups below which they do not pay.
const FEWEST: usize = 8;

/// What is taken for the inverse of the matrix in each iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preconditioner {
    /// Numbers of the diagonal (Jacobi).
    Diagonal,
    /// Blocks of single nodes.
    Nodes,
    /// Inverses of groups of about so many nodes.
    Groups(usize),
    /// Blocks of single nodes, and groups of about so many that move as one.
    Coarse(usize),
}

/// A link seen from one of its ends.
#[derive(Clone, Copy, Debug)]
struct Spoke {
    other: u32,
    /// Outwards.
    normal: Vec3,
    /// Own lever and that of the other end.
    levers: [f64; 2],
    /// Tangential stiffness and what the normal one has more.
    stiffness: [f64; 2],
}

/// Conjugate gradients.
#[derive(Clone, Debug)]
pub struct Gradients {
    /// Preconditioner.
    pub preconditioner: Preconditioner,
    /// The residual is to be smaller than this part of the load, by length.
    pub tolerance: f64,
    /// Most iterations.
    pub most: usize,
    spokes: Vec<Spoke>,
    /// Where those of each node begin.
    first: Vec<u32>,
    inverses: Inverses,
    stale: bool,
}

#[derive(Clone, Debug)]
enum Inverses {
    /// One number for each degree of freedom.
    Diagonal(Vec<f64>),
    /// A block for each node.
    Nodes(Vec<f64>),
    /// Groups: their nodes and inverse.
    Groups(Vec<(Vec<u32>, Rima)>),
    /// A block for each node, and what groups do that move as one.
    Coarse(Vec<f64>, Box<Coarse>),
}

/// Groups that move as one, without turning.
#[derive(Clone, Debug)]
struct Coarse {
    /// Nodes of each.
    members: Vec<Vec<u32>>,
    /// Links between them.
    frame: Frame,
    factors: Cholesky,
}

impl Coarse {
    fn of(frame: &Frame, size: usize) -> Option<Self> {
        let (group, members) = gather(frame, size);
        if members.len() < FEWEST {
            return None;
        }
        let freedom = match frame.freedom {
            Freedom::Planar | Freedom::PlanarTurning => Freedom::Planar,
            Freedom::Spatial | Freedom::SpatialTurning => Freedom::Spatial,
        };
        let of = |end: u32| if end == GROUND { GROUND } else { group[end as usize] };
        let between = frame.present().map(|link| Link { ends: link.ends.map(of), levers: [0.0; 2], ..*link });
        let links = between.filter(|link| link.ends[0] != link.ends[1]).map(Some).collect();
        let frame = Frame { freedom, nodes: members.len(), links };
        let mut factors = Cholesky::new();
        factors.reset(&frame).ok()?;
        Some(Self { members, frame, factors })
    }

    /// Adds to `z` what groups do under the forces `r` on nodes with `m` degrees of freedom.
    fn add(&mut self, m: usize, r: &[f64], z: &mut [f64]) {
        let d = self.frame.freedom.size();
        let mut sums = vec![0.0; self.frame.size()];
        sums.par_chunks_mut(d).zip(&self.members).for_each(|(sum, members)| {
            for &node in members {
                sum.iter_mut().zip(&r[node as usize * m..]).for_each(|(sum, r)| *sum += r);
            }
        });
        let mut way = vec![0.0; sums.len()];
        self.factors.respond(&self.frame, &sums, &mut way);
        for (way, members) in way.chunks_exact(d).zip(&self.members) {
            for &node in members {
                z[node as usize * m..].iter_mut().zip(way).for_each(|(z, way)| *z += way);
            }
        }
    }
}

impl Gradients {
    /// With a preconditioner and a tolerance.
    pub fn new(preconditioner: Preconditioner, tolerance: f64) -> Self {
        Self {
            preconditioner,
            tolerance,
            most: 100_000,
            spokes: Vec::new(),
            first: vec![0],
            inverses: Inverses::Diagonal(Vec::new()),
            stale: true,
        }
    }

    fn prepare(&mut self, frame: &Frame) {
        let mut first = vec![0u32; frame.nodes + 1];
        for link in frame.present() {
            link.ends.iter().filter(|end| **end != GROUND).for_each(|&end| first[end as usize + 1] += 1);
        }
        for i in 0..frame.nodes {
            first[i + 1] += first[i];
        }
        let mut at = first.clone();
        let nothing = Spoke { other: GROUND, normal: Vec3::ZERO, levers: [0.0; 2], stiffness: [0.0; 2] };
        self.spokes.clear();
        self.spokes.resize(first[frame.nodes] as usize, nothing);
        for link in frame.present() {
            let [a, b] = link.ends;
            let [k_n, k_t] = link.stiffness;
            for (end, other, normal, levers) in
                [(a, b, link.normal, link.levers), (b, a, -link.normal, [link.levers[1], link.levers[0]])]
            {
                if end != GROUND {
                    self.spokes[at[end as usize] as usize] =
                        Spoke { other, normal, levers, stiffness: [k_t, k_n - k_t] };
                    at[end as usize] += 1;
                }
            }
        }
        self.first = first;
        self.inverses = self.invert(frame);
        self.stale = false;
    }

    fn invert(&self, frame: &Frame) -> Inverses {
        let m = frame.freedom.size();
        if let Preconditioner::Groups(size) = self.preconditioner {
            return Inverses::Groups(groups(frame, size));
        }
        let mut blocks = vec![0.0; frame.nodes * m * m];
        for link in frame.present() {
            for spring in link.springs(frame.freedom) {
                for (end, &node) in spring.ends.iter().enumerate().filter(|(_, node)| **node != GROUND) {
                    let (row, block) = (&spring.rows[end], &mut blocks[node as usize * m * m..][..m * m]);
                    (0..m * m).for_each(|e| block[e] += spring.stiffness * row[e / m] * row[e % m]);
                }
            }
        }
        if self.preconditioner == Preconditioner::Diagonal {
            let inverse = |d: f64| if d > 0.0 { 1.0 / d } else { 1.0 };
            return Inverses::Diagonal(
                (0..frame.size()).map(|e| inverse(blocks[e / m * m * m + e % m * (m + 1)])).collect(),
            );
        }
        let coarse = match self.preconditioner {
            Preconditioner::Coarse(size) => Coarse::of(frame, size),
            _ => None,
        };
        for block in blocks.chunks_exact_mut(m * m) {
            // A node on one contact can roll about it: a hair of stiffness in that direction does for a preconditioner.
            let trace: f64 = (0..m).map(|r| block[r * m + r]).sum();
            (0..m).for_each(|r| block[r * m + r] += if trace > 0.0 { FIRMNESS * trace } else { 1.0 });
            let mut factor = block.to_vec();
            let inverse = match dense::cholesky(&mut factor, m, 0.0) {
                Some(_) => dense::inverse_of_cholesky(&factor, m),
                None => (0..m * m).map(|e| if e / m == e % m { 1.0 / block[e] } else { 0.0 }).collect(),
            };
            block.copy_from_slice(&inverse);
        }
        match coarse {
            Some(coarse) => Inverses::Coarse(blocks, Box::new(coarse)),
            None => Inverses::Nodes(blocks),
        }
    }

    /// out = K u.
    fn times(&self, freedom: Freedom, u: &[f64], out: &mut [f64]) {
        // Each with a loop of its own, in which what nodes can do is known.
        match freedom {
            Freedom::Planar => self.times_of(Freedom::Planar, u, out),
            Freedom::PlanarTurning => self.times_of(Freedom::PlanarTurning, u, out),
            Freedom::Spatial => self.times_of(Freedom::Spatial, u, out),
            Freedom::SpatialTurning => self.times_of(Freedom::SpatialTurning, u, out),
        }
    }

    #[inline(always)]
    fn times_of(&self, freedom: Freedom, u: &[f64], out: &mut [f64]) {
        let m = freedom.size();
        out.par_chunks_mut(m * 256).enumerate().for_each(|(chunk, out)| {
            for (k, out) in out.chunks_exact_mut(m).enumerate() {
                let node = chunk * 256 + k;
                let Shift { by, turn } = freedom.shift(u, node as u32);
                let (mut force, mut couple) = (Vec3::ZERO, Vec3::ZERO);
                for spoke in &self.spokes[self.first[node] as usize..self.first[node + 1] as usize] {
                    let other = freedom.shift(u, spoke.other);
                    let [own, its] = spoke.levers;
                    let mut stretch = by - other.by;
                    if freedom.turns() {
                        stretch += (own * turn + its * other.turn).cross(spoke.normal);
                    }
                    let f =
                        stretch * spoke.stiffness[0] + spoke.normal * (spoke.stiffness[1] * stretch.dot(spoke.normal));
                    force += f;
                    if freedom.turns() {
                        couple += own * spoke.normal.cross(f);
                    }
                }
                out.copy_from_slice(&freedom.pack(force, couple)[..m]);
            }
        });
    }

    /// z = M⁻¹ r.
    fn condition(&mut self, m: usize, r: &[f64], z: &mut [f64]) {
        match &mut self.inverses {
            Inverses::Diagonal(d) => {
                z.par_chunks_mut(PIECE).zip(r.par_chunks(PIECE).zip(d.par_chunks(PIECE))).for_each(|(z, (r, d))| {
                    z.iter_mut().zip(r.iter().zip(d)).for_each(|(z, (r, d))| *z = r * d);
                });
            }
            Inverses::Nodes(blocks) => by_nodes(blocks, m, r, z),
            Inverses::Coarse(blocks, coarse) => {
                by_nodes(blocks, m, r, z);
                coarse.add(m, r, z);
            }
            Inverses::Groups(groups) => {
                let answers: Vec<Vec<f64>> = groups
                    .par_iter()
                    .map(|(nodes, inverse)| {
                        let load: Vec<f64> =
                            nodes.iter().flat_map(|&node| r[node as usize * m..][..m].to_vec()).collect();
                        let mut answer = vec![0.0; load.len()];
                        inverse.times(&load, &mut answer);
                        answer
                    })
                    .collect();
                for ((nodes, _), answer) in groups.iter().zip(&answers) {
                    for (&node, answer) in nodes.iter().zip(answer.chunks_exact(m)) {
                        z[node as usize * m..][..m].copy_from_slice(answer);
                    }
                }
            }
        }
    }
}

/// z = M⁻¹ r, block by block.
fn by_nodes(blocks: &[f64], m: usize, r: &[f64], z: &mut [f64]) {
    let pieces = (z.par_chunks_mut(m * 256), r.par_chunks(m * 256), blocks.par_chunks(m * m * 256));
    pieces.into_par_iter().for_each(|(z, r, blocks)| {
        let nodes = z.chunks_exact_mut(m).zip(r.chunks_exact(m)).zip(blocks.chunks_exact(m * m));
        for ((z, r), block) in nodes {
            for (z, line) in z.iter_mut().zip(block.chunks_exact(m)) {
                *z = line.iter().zip(r).map(|(b, r)| b * r).sum();
            }
        }
    });
}

/// Groups of about so many nodes that hang together: that of each node, and the nodes of each.
fn gather(frame: &Frame, size: usize) -> (Vec<u32>, Vec<Vec<u32>>) {
    let near = frame.neighbours();
    let mut group = vec![GROUND; frame.nodes];
    let mut members: Vec<Vec<u32>> = Vec::new();
    for start in 0..frame.nodes as u32 {
        if group[start as usize] != GROUND {
            continue;
        }
        // Rings around the start until the group is full.
        let (number, mut list, mut at) = (members.len() as u32, vec![start], 0);
        group[start as usize] = number;
        while at < list.len() && list.len() < size {
            for &other in &near[list[at] as usize] {
                if group[other as usize] == GROUND && list.len() < size {
                    group[other as usize] = number;
                    list.push(other);
                }
            }
            at += 1;
        }
        members.push(list);
    }
    (group, members)
}

/// Groups of about so many nodes that hang together, with the inverse of their part of the matrix: links that lead out of a
/// group hold it as if they led to the ground.
fn groups(frame: &Frame, size: usize) -> Vec<(Vec<u32>, Rima)> {
    let (group, members) = gather(frame, size);
    let mut place = vec![0u32; frame.nodes];
    for list in &members {
        list.iter().enumerate().for_each(|(k, &node)| place[node as usize] = k as u32);
    }
    let mut parts: Vec<Frame> =
        members.iter().map(|list| Frame { freedom: frame.freedom, nodes: list.len(), links: Vec::new() }).collect();
    for link in frame.present() {
        let of = link.ends.map(|end| if end == GROUND { GROUND } else { group[end as usize] });
        for side in 0..2 {
            if of[side] == GROUND || side == 1 && of[0] == of[1] {
                continue;
            }
            let ends = std::array::from_fn(|e| if of[e] == of[side] { place[link.ends[e] as usize] } else { GROUND });
            parts[of[side] as usize].links.push(Some(Link { ends, ..*link }));
        }
    }
    let invert = |(list, part): (Vec<u32>, Frame)| {
        // A part may be able to roll: a hair of stiffness, as for single nodes.
        let inverse = Rima::of(&part, FIRMNESS).unwrap_or_default();
        (list, inverse)
    };
    members.into_iter().zip(parts).collect::<Vec<_>>().into_par_iter().map(invert).collect()
}

/// Sum of products over fixed pieces, added in order.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let of_piece = |(a, b): (&[f64], &[f64])| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    if a.len() <= PIECE {
        return of_piece((a, b));
    }
    let sums: Vec<f64> = a.par_chunks(PIECE).zip(b.par_chunks(PIECE)).map(of_piece).collect();
    sums.iter().sum()
}

/// y = x + f y or y = y + f x by pieces.
fn combine(y: &mut [f64], x: &[f64], rule: impl Fn(&mut f64, f64) + Sync) {
    y.par_chunks_mut(PIECE)
        .zip(x.par_chunks(PIECE))
        .for_each(|(y, x)| y.iter_mut().zip(x).for_each(|(y, &x)| rule(y, x)));
}

impl Backend for Gradients {
    fn reset(&mut self, _: &Frame) -> Result<(), Loose> {
        self.stale = true;
        Ok(())
    }

    fn attached(&mut self, frame: &Frame, _: &[Link]) -> Result<(), Loose> {
        self.reset(frame)
    }

    fn connected(&mut self, frame: &Frame, _: &[Link]) -> Result<(), Loose> {
        self.reset(frame)
    }

    fn disconnected(&mut self, frame: &Frame, _: &[Link]) -> Result<(), Loose> {
        if frame.is_grounded() { self.reset(frame) } else { Err(Loose::Part) }
    }

    fn dropped(&mut self, frame: &Frame, _: u32, _: &[Link]) -> Result<(), Loose> {
        if frame.is_grounded() { self.reset(frame) } else { Err(Loose::Part) }
    }

    fn respond(&mut self, frame: &Frame, f: &[f64], u: &mut [f64]) -> Effort {
        if self.stale {
            self.prepare(frame);
        }
        let (m, n) = (frame.freedom.size(), f.len());
        let goal = self.tolerance * dot(f, f).sqrt();
        let (mut x, mut r, mut z, mut q) = (vec![0.0; n], f.to_vec(), vec![0.0; n], vec![0.0; n]);
        self.condition(m, &r, &mut z);
        let mut p = z.clone();
        let mut rz = dot(&r, &z);
        let mut left = dot(&r, &r).sqrt();
        let mut iterations = 0;
        while left > goal && iterations < self.most {
            self.times(frame.freedom, &p, &mut q);
            let stiffness = dot(&p, &q);
            if stiffness <= 0.0 {
                break;
            }
            let alpha = rz / stiffness;
            combine(&mut x, &p, |x, p| *x += alpha * p);
            combine(&mut r, &q, |r, q| *r -= alpha * q);
            self.condition(m, &r, &mut z);
            let next = dot(&r, &z);
            let beta = next / rz;
            combine(&mut p, &z, |p, z| *p = z + beta * *p);
            rz = next;
            left = dot(&r, &r).sqrt();
            iterations += 1;
        }
        combine(u, &x, |u, x| *u += x);
        Effort { iterations, residual: if goal > 0.0 { left / goal * self.tolerance } else { 0.0 } }
    }

    fn memory(&self) -> usize {
        let inverses = match &self.inverses {
            Inverses::Diagonal(d) => d.capacity() * size_of::<f64>(),
            Inverses::Nodes(d) => d.capacity() * size_of::<f64>(),
            Inverses::Coarse(d, coarse) => d.capacity() * size_of::<f64>() + coarse.factors.memory(),
            Inverses::Groups(groups) => groups.iter().map(|(_, inverse)| inverse.memory()).sum(),
        };
        self.spokes.capacity() * size_of::<Spoke>() + inverses
    }
}
