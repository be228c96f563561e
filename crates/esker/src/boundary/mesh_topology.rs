//! What a heap of triangles is made of: welded vertices, edges with their triangles, flat patches, and the numbers that
//! name contacts with them. Done once per mesh.

use std::collections::{HashMap, HashSet, VecDeque};

use super::MeshReport;
use super::surface::SMOOTH_ANGLE;
use crate::math::{Aabb, Vec3};

/// Vertices closer than this fraction of the mesh's diagonal are one.
const WELD: f64 = 1e-9;
/// Triangles with twice their area below this fraction of their longest side squared have no plane of their own.
const DEGENERATE: f64 = 1e-9;

/// Merges vertices at the same place and leaves out those no triangle uses.
pub(super) fn weld(
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    report: &mut MeshReport,
) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let used = || triangles.iter().flatten().map(|v| *v as usize);
    let bounds = used().fold(Aabb::EMPTY, |all, v| all.including(vertices[v]));
    let tolerance = WELD * bounds.size().length();
    // Bins twice the tolerance wide: a vertex within tolerance is in this bin or in the nearest one along each axis.
    // A mesh of no extent falls into one bin, where everything is equal.
    let scale = if tolerance > 0.0 { 0.5 / tolerance } else { 0.0 };
    let mut bins: HashMap<[i64; 3], Vec<u32>> = HashMap::new();
    let mut renamed = vec![u32::MAX; vertices.len()];
    let mut kept: Vec<Vec3> = Vec::new();
    for v in used() {
        if renamed[v] != u32::MAX {
            continue;
        }
        let place = (vertices[v] - bounds.min) * scale;
        let bin = |bit: i64, x: f64| x.floor() as i64 + if bit == 0 { 0 } else { (x.fract() >= 0.5) as i64 * 2 - 1 };
        let twin = (0..8).find_map(|k: i64| {
            let near = bins.get(&[bin(k & 1, place.x), bin(k & 2, place.y), bin(k & 4, place.z)])?;
            near.iter().copied().find(|other| kept[*other as usize].distance(vertices[v]) <= tolerance)
        });
        renamed[v] = twin.unwrap_or_else(|| {
            let new = kept.len() as u32;
            bins.entry([bin(0, place.x), bin(0, place.y), bin(0, place.z)]).or_default().push(new);
            kept.push(vertices[v]);
            new
        });
        report.welded += twin.is_some() as usize;
    }
    (kept, triangles.into_iter().map(|corners| corners.map(|v| renamed[v as usize])).collect())
}

/// Drops triangles without area and repeated ones; returns the rest with their unit normals.
pub(super) fn drop_useless(
    vertices: &[Vec3],
    triangles: Vec<[u32; 3]>,
    report: &mut MeshReport,
) -> (Vec<[u32; 3]>, Vec<Vec3>) {
    let mut seen = HashSet::new();
    let mut kept = Vec::with_capacity(triangles.len());
    let mut normals = Vec::with_capacity(triangles.len());
    for corners in triangles {
        let [a, b, c] = corners.map(|v| vertices[v as usize]);
        let longest = (b - a).length_squared().max((c - b).length_squared()).max((a - c).length_squared());
        let twice_area = (b - a).cross(c - a);
        // Written so that triangles whose area underflows are dropped too.
        let normal = twice_area.try_normalize().filter(|_| twice_area.length() > DEGENERATE * longest);
        let mut sorted = corners;
        sorted.sort_unstable();
        match normal {
            None => report.degenerate += 1,
            Some(_) if !seen.insert(sorted) => report.duplicate += 1,
            Some(normal) => {
                kept.push(corners);
                normals.push(normal);
            }
        }
    }
    (kept, normals)
}

/// The edges of a mesh with the triangle sides that meet at each.
pub(super) struct Edges {
    /// Vertices of each edge, the smaller first.
    ends: Vec<[u32; 2]>,
    /// Sides (triangle, k) of edge `e` are `sides[start[e]..start[e + 1]]`.
    sides: Vec<(u32, u8)>,
    start: Vec<usize>,
    /// Edges of each triangle.
    of_triangle: Vec<[u32; 3]>,
}

impl Edges {
    pub fn of(triangles: &[[u32; 3]]) -> Edges {
        let mut all: Vec<([u32; 2], u32, u8)> = Vec::with_capacity(3 * triangles.len());
        for (t, v) in triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (v[k], v[(k + 1) % 3]);
                all.push(([a.min(b), a.max(b)], t as u32, k as u8));
            }
        }
        all.sort_unstable();
        let mut edges = Edges {
            ends: Vec::new(),
            sides: Vec::new(),
            start: Vec::new(),
            of_triangle: vec![[0; 3]; triangles.len()],
        };
        for (ends, t, k) in all {
            if edges.ends.last() != Some(&ends) {
                edges.ends.push(ends);
                edges.start.push(edges.sides.len());
            }
            edges.of_triangle[t as usize][k as usize] = edges.ends.len() as u32 - 1;
            edges.sides.push((t, k));
        }
        edges.start.push(edges.sides.len());
        edges
    }

    fn sides(&self, edge: usize) -> &[(u32, u8)] {
        &self.sides[self.start[edge]..self.start[edge + 1]]
    }

    pub fn report(&self, triangles: &[[u32; 3]], report: &mut MeshReport) {
        for edge in 0..self.ends.len() {
            match self.sides(edge) {
                [_] => report.open_edges += 1,
                // Neighbours wound alike run along their common side in opposite directions.
                [(t, k), (u, l)] => {
                    let same_way = triangles[*t as usize][*k as usize] == triangles[*u as usize][*l as usize];
                    report.flipped_edges += same_way as usize;
                }
                _ => report.non_manifold_edges += 1,
            }
        }
    }
}

/// Numbers for history: patches first, then straight runs of sharp edges, then vertices.
pub(super) struct Features {
    pub patches: usize,
    pub patch: Vec<u32>,
    pub edge: Vec<[u32; 3]>,
    pub vertex: Vec<u32>,
}

impl Features {
    pub fn number(vertices: &[Vec3], triangles: &[[u32; 3]], normals: &[Vec3], edges: &Edges) -> Features {
        let (patch, patches) = patches(normals, edges);

        // An edge inside a patch is part of it; the others are sharp.
        let inside = |edge: usize| {
            let sides = edges.sides(edge);
            let first = patch[sides[0].0 as usize];
            (sides.len() > 1 && sides.iter().all(|(t, _)| patch[*t as usize] == first)).then_some(first)
        };
        let flat: Vec<Option<u32>> = (0..edges.ends.len()).map(inside).collect();
        let mut sharp_at = vec![Vec::new(); vertices.len()];
        for edge in (0..edges.ends.len()).filter(|edge| flat[*edge].is_none()) {
            for v in edges.ends[edge] {
                sharp_at[v as usize].push(edge);
            }
        }

        // Where just two sharp edges meet in a straight line they are one.
        let mut run: Vec<usize> = (0..edges.ends.len()).collect();
        let root = |run: &[usize], mut edge: usize| {
            while run[edge] != edge {
                edge = run[edge];
            }
            edge
        };
        let along = |edge: usize, from: u32| {
            let [a, b] = edges.ends[edge];
            (vertices[(a ^ b ^ from) as usize] - vertices[from as usize]).normalize()
        };
        let mut straight = vec![false; vertices.len()];
        for (v, sharp) in sharp_at.iter().enumerate() {
            if let [e, f] = sharp[..] {
                let (d, g) = (along(e, v as u32), along(f, v as u32));
                if d.dot(g) < 0.0 && d.cross(g).length() <= SMOOTH_ANGLE {
                    straight[v] = true;
                    let (r, s) = (root(&run, e), root(&run, f));
                    run[r.max(s)] = r.min(s);
                }
            }
        }

        // Give the numbers out.
        let mut next = patches as u32;
        let mut take = || {
            next += 1;
            next - 1
        };
        let mut edge_number = vec![0; edges.ends.len()];
        for edge in 0..edges.ends.len() {
            let first = root(&run, edge);
            edge_number[edge] = match flat[edge] {
                Some(patch) => patch,
                None if first < edge => edge_number[first],
                None => take(),
            };
        }
        let edge = edges.of_triangle.iter().map(|own| own.map(|e| edge_number[e as usize])).collect();
        let patch_at = patch_of_vertices(vertices.len(), triangles, &patch);
        let vertex = (0..vertices.len())
            .map(|v| match (&sharp_at[v][..], patch_at[v]) {
                ([], Some(patch)) => patch,
                ([e, _], _) if straight[v] => edge_number[*e],
                _ => take(),
            })
            .collect();
        Features { patches, patch, edge, vertex }
    }
}

/// The patch of each triangle: connected triangles that are parallel to the first of the patch, whichever way wound.
fn patches(normals: &[Vec3], edges: &Edges) -> (Vec<u32>, usize) {
    let mut patch = vec![u32::MAX; normals.len()];
    let mut count = 0;
    let mut waiting = VecDeque::new();
    for seed in 0..normals.len() {
        if patch[seed] != u32::MAX {
            continue;
        }
        patch[seed] = count;
        waiting.push_back(seed);
        while let Some(t) = waiting.pop_front() {
            for edge in edges.of_triangle[t] {
                for (other, _) in edges.sides(edge as usize) {
                    let other = *other as usize;
                    let parallel = normals[other].cross(normals[seed]).length() <= SMOOTH_ANGLE;
                    if patch[other] == u32::MAX && parallel {
                        patch[other] = count;
                        waiting.push_back(other);
                    }
                }
            }
        }
        count += 1;
    }
    (patch, count as usize)
}

/// The patch all triangles at a vertex belong to, if it is one.
fn patch_of_vertices(count: usize, triangles: &[[u32; 3]], patch: &[u32]) -> Vec<Option<u32>> {
    let mut only = vec![None; count];
    let mut mixed = vec![false; count];
    for (t, corners) in triangles.iter().enumerate() {
        for v in corners.map(|v| v as usize) {
            mixed[v] |= only[v].is_some_and(|p| p != patch[t]);
            only[v] = Some(patch[t]);
        }
    }
    (0..count).map(|v| only[v].filter(|_| !mixed[v])).collect()
}
