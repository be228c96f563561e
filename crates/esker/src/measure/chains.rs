//! Force chains: lines of grains that carry more than others.
//!
//! After Peters, Muthuswamy, Wibowo & Tordesillas, Phys. Rev. E 72 (2005) 041307. A grain of a chain has a larger major principal
//! stress than the mean, and the next grain lies along the direction of that stress, within an angle, seen from either of them. Beyond
//! the paper, the contact between them must carry more than the mean normal force. A chain has three grains at least.
//!
//! Chains are lines without branches: a grain goes on with one other on either side. Of several that would do, the contact with the
//! largest force is taken, over all grains from the strongest contact down. What branches is told as several chains.
//!
//! Means are those of the cell of the grain or contact, so that a deep bed has chains near its surface too.

use super::cells::Cells;
use super::principal::Principal;
use super::{forces, stress};
use crate::contact::visit::{self, Other};
use crate::math::Vec3;
use crate::model::Model;
use crate::state::State;

/// Fewest grains of a chain.
pub const LEAST_GRAINS: usize = 3;

/// Angle between branch and major principal stress of the paper \[degree\].
pub const ANGLE: f64 = 45.0;

/// A line of grains that carry more than others.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// Indices of its grains from end to end.
    pub grains: Vec<usize>,
    /// Their centres \[m\]; across periodic faces the line goes on outside.
    pub points: Vec<Vec3>,
    /// Normal force between each grain and the next \[N\].
    pub forces: Vec<f64>,
}

impl Chain {
    /// Length of the line \[m\].
    pub fn length(&self) -> f64 {
        self.points.windows(2).map(|ends| ends[0].distance(ends[1])).sum()
    }

    /// Mean normal force \[N\].
    pub fn mean_force(&self) -> f64 {
        self.forces.iter().sum::<f64>() / self.forces.len() as f64
    }
}

/// A contact that may join two grains of a chain.
struct Link {
    grains: [usize; 2],
    /// On which side of each grain the other lies: 0 against the direction of its major stress, 1 along it.
    sides: [usize; 2],
    /// From the first centre to the second \[m\].
    branch: Vec3,
    force: f64,
}

impl Link {
    /// Which end a grain is.
    fn end_of(&self, grain: usize) -> usize {
        usize::from(self.grains[0] != grain)
    }
}

/// For each grain the link on either side, by its index.
type Joined = Vec<[Option<usize>; 2]>;

/// The chains, the longest first. `angle` is the largest one between branch and major principal stress \[degree\].
pub fn find(model: &Model, state: &State, cells: &Cells, angle: f64) -> Vec<Chain> {
    let mut links = links(model, state, cells, angle.to_radians().cos());
    // Stable: contacts of equal force stay in the order of their grains.
    links.sort_by(|a, b| b.force.total_cmp(&a.force));
    let mut joined: Joined = vec![[None; 2]; state.particles.owned()];
    for (k, link) in links.iter().enumerate() {
        let is_free = |end: usize| joined[link.grains[end]][link.sides[end]].is_none();
        if is_free(0) && is_free(1) {
            (0..2).for_each(|end| joined[link.grains[end]][link.sides[end]] = Some(k));
        }
    }
    let neighbours = |i: usize| joined[i].iter().flatten().count();
    let mut taken = vec![false; joined.len()];
    let mut chains = Vec::new();
    // From ends; what has none goes round.
    for (number, start) in [1, 2].into_iter().flat_map(|number| (0..joined.len()).map(move |i| (number, i))) {
        if neighbours(start) == number && !taken[start] {
            let first = model.cell.wrapped(state.particles.position(start));
            chains.push(follow(&links, &joined, &mut taken, start, first));
        }
    }
    chains.retain(|chain| chain.grains.len() >= LEAST_GRAINS);
    chains.sort_by_key(|chain| std::cmp::Reverse(chain.grains.len()));
    chains
}

/// The chain that begins with a grain, at a place.
fn follow(links: &[Link], joined: &Joined, taken: &mut [bool], start: usize, first: Vec3) -> Chain {
    let mut chain = Chain { grains: vec![start], points: vec![first], forces: vec![] };
    taken[start] = true;
    let (mut at, mut x) = (start, first);
    let mut next = joined[start].iter().flatten().next().copied();
    while let Some(link) = next.map(|k| &links[k]) {
        let here = link.end_of(at);
        let there = 1 - here;
        at = link.grains[there];
        if taken[at] {
            break;
        }
        taken[at] = true;
        x += if here == 0 { link.branch } else { -link.branch };
        chain.grains.push(at);
        chain.points.push(x);
        chain.forces.push(link.force);
        next = joined[at][1 - link.sides[there]];
    }
    chain
}

/// Strong contacts between strongly pressed grains, along the major stress of both.
fn links(model: &Model, state: &State, cells: &Cells, least_cosine: f64) -> Vec<Link> {
    let (means, major) = (forces::means(model, state, cells), major_stresses(model, state, cells));
    let mut links = Vec::new();
    visit::for_each(model, state, |c| {
        let Other::Grain(j) = c.other else { return };
        // A pair met through a periodic face has a record on either side.
        let is_first = c.share == 1.0 || c.i < j;
        let is_strong = cells.holding(model, c.point).is_some_and(|cell| forces::is_above(c.normal_force, means[cell]));
        if let (true, true, Some(a), Some(b)) = (is_first, is_strong, major[c.i], major[j]) {
            let cosines = [a.dot(c.normal()), -b.dot(c.normal())];
            if cosines.iter().all(|cosine| cosine.abs() >= least_cosine) {
                links.push(Link {
                    grains: [c.i, j],
                    sides: cosines.map(|cosine| usize::from(cosine > 0.0)),
                    branch: c.to - c.from,
                    force: c.normal_force,
                });
            }
        }
    });
    links
}

/// Direction of the major principal stress of each grain where that is larger than the mean of its cell.
fn major_stresses(model: &Model, state: &State, cells: &Cells) -> Vec<Option<Vec3>> {
    let cell_of = cells.of_grains(model, state);
    let major: Vec<(f64, Vec3)> = stress::moments(model, state)
        .into_iter()
        .enumerate()
        .map(|(i, moment)| {
            let principal = Principal::of(moment, model.planar);
            (principal.values[0] / stress::volume(model, state, i), principal.directions[0])
        })
        .collect();
    let mut sums = vec![[0.0; 2]; cells.number()];
    for (cell, (value, _)) in cell_of.iter().zip(&major) {
        if let Some(cell) = *cell {
            sums[cell] = [sums[cell][0] + value, sums[cell][1] + 1.0];
        }
    }
    let is_large = |cell: usize, value: f64| forces::is_above(value, sums[cell][0] / sums[cell][1]);
    let direction = |(cell, (value, direction)): (Option<usize>, (f64, Vec3))| {
        cell.filter(|&cell| is_large(cell, value)).map(|_| direction)
    };
    cell_of.into_iter().zip(major).map(direction).collect()
}
