//! A wall of triangles, touched from both sides. A grain costs O(triangles listed in one grid cell).
//!
//! Closest points of triangles by Voronoi regions after Ericson, *Real-Time Collision Detection* (2005), section 5.1.5;
//! each contact once by the rule of [`surface`](super::surface). Connected coplanar triangles form one patch: their
//! faces, and the edges and vertices inside, are one feature, so history survives the step from triangle to triangle.

use std::collections::{HashMap, HashSet, VecDeque};

use thiserror::Error;

use super::mesh_grid::MeshGrid;
use super::surface::{Candidate, Part, SMOOTH_ANGLE, WallTouch, keep_each_contact_once};
use crate::math::{Aabb, Vec3};

/// Vertices closer than this fraction of the mesh's diagonal are one.
const WELD: f64 = 1e-9;
/// Triangles with twice their area below this fraction of their longest side squared have no plane of their own.
const DEGENERATE: f64 = 1e-9;
/// Coordinates must stay below this, so that squares of lengths are finite \[m\].
const FARTHEST: f64 = 1e100;

/// Why triangles cannot make a wall.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum MeshError {
    /// There is no triangle.
    #[error("the mesh has no triangles")]
    Empty,
    /// Every triangle was degenerate.
    #[error("all {count} triangles of the mesh are degenerate: is it scaled to nothing, or a set of lines?")]
    AllDegenerate {
        /// Number of triangles given.
        count: usize,
    },
    /// A vertex is infinite, not a number, or so far away that squared lengths overflow.
    #[error("vertex {vertex} of the mesh is {value}: coordinates must be numbers below 1e100 m")]
    BadVertex {
        /// Index of the vertex.
        vertex: usize,
        /// Its coordinates \[m\].
        value: Vec3,
    },
    /// A triangle refers to a vertex that does not exist.
    #[error("triangle {triangle} refers to vertex {index}, but the mesh has {count} vertices (the first is 0)")]
    NoSuchVertex {
        /// Index of the triangle.
        triangle: usize,
        /// The vertex it asks for.
        index: u32,
        /// Number of vertices given.
        count: usize,
    },
    /// The reach is not a positive number.
    #[error("the reach of the mesh is {value} m: give the radius of the largest grain, positive and below 1e100 m")]
    BadReach {
        /// The reach given \[m\].
        value: f64,
    },
    /// More triangles than features can be numbered for.
    #[error("the mesh has {count} triangles, more than {} can be numbered", Mesh::MOST_TRIANGLES)]
    TooLarge {
        /// Number of triangles given.
        count: usize,
    },
}

/// What was found in a mesh while it was read. Only the first three were mended; the rest is for the user to judge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeshReport {
    /// Vertices that were merged with another at the same place.
    pub welded: usize,
    /// Triangles without area, dropped.
    pub degenerate: usize,
    /// Triangles with the same three corners as an earlier one, dropped.
    pub duplicate: usize,
    /// Edges with one triangle: borders and cracks. A closed body has none.
    pub open_edges: usize,
    /// Edges with more than two triangles.
    pub non_manifold_edges: usize,
    /// Edges whose two triangles are wound against each other, so one of them faces the wrong way. Contacts do not
    /// mind; pictures and volumes do.
    pub flipped_edges: usize,
    /// Flat patches of connected triangles.
    pub patches: usize,
}

/// A wall of triangles in the wall frame.
#[derive(Clone, Debug)]
pub struct Mesh {
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    /// Unit normal of each triangle, by its winding.
    normals: Vec<Vec3>,
    /// Features: of the face of each triangle, of its edges (0-1, 1-2, 2-0), of each vertex.
    patch: Vec<u32>,
    edge_feature: Vec<[u32; 3]>,
    vertex_feature: Vec<u32>,
    grid: MeshGrid,
    reach: f64,
    bounds: Aabb,
    report: MeshReport,
}

/// Where on a triangle its nearest point lies; edge k runs from corner k to corner k + 1.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Region {
    Face,
    Edge(usize),
    Corner(usize),
}

impl Mesh {
    /// Most triangles a mesh may have: features and entries of the grid are numbered in 32 bits.
    pub const MOST_TRIANGLES: usize = u32::MAX as usize / 128;

    /// A mesh for grains up to the radius `reach` \[m\] (larger ones are answered too, by searching all triangles).
    pub fn new(vertices: Vec<Vec3>, triangles: Vec<[u32; 3]>, reach: f64) -> Result<Mesh, MeshError> {
        check(&vertices, &triangles, reach)?;
        let given = triangles.len();
        let mut report = MeshReport::default();
        let (vertices, triangles) = weld(vertices, triangles, &mut report);
        let (triangles, normals) = drop_useless(&vertices, triangles, &mut report);
        if triangles.is_empty() {
            return Err(MeshError::AllDegenerate { count: given });
        }
        let edges = Edges::of(&triangles);
        edges.report(&triangles, &mut report);
        let features = Features::number(&vertices, &triangles, &normals, &edges);
        report.patches = features.patches;

        let corners = |t: usize| triangles[t].map(|v| vertices[v as usize]);
        let boxes: Vec<Aabb> =
            (0..triangles.len()).map(|t| corners(t).into_iter().fold(Aabb::EMPTY, Aabb::including)).collect();
        let grid = MeshGrid::build(&boxes, reach, |t, point| nearest(point, corners(t)).0.distance(point));
        let bounds = boxes.iter().fold(Aabb::EMPTY, |all, b| all.union(*b));
        let Features { patch, edge: edge_feature, vertex: vertex_feature, .. } = features;
        Ok(Mesh { vertices, triangles, normals, patch, edge_feature, vertex_feature, grid, reach, bounds, report })
    }

    /// A box of twelve triangles, fronts outward.
    pub fn cuboid(min: Vec3, max: Vec3, reach: f64) -> Result<Mesh, MeshError> {
        let pick = |bit: u32, k: u32| k >> bit & 1 == 1;
        let corner = |k| {
            Vec3::new(
                if pick(0, k) { max.x } else { min.x },
                if pick(1, k) { max.y } else { min.y },
                if pick(2, k) { max.z } else { min.z },
            )
        };
        let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles = quads.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
        Mesh::new((0..8).map(corner).collect(), triangles, reach)
    }

    /// One triangle.
    pub fn triangle(corners: [Vec3; 3], reach: f64) -> Result<Mesh, MeshError> {
        Mesh::new(corners.to_vec(), vec![[0, 1, 2]], reach)
    }

    /// Vertices after welding \[m\].
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// Vertex indices of the triangles that were kept.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// What was found while the mesh was read.
    pub fn report(&self) -> MeshReport {
        self.report
    }

    /// Radius of the largest grain the grid is built for \[m\].
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// Smallest box around the triangles.
    pub fn bounds(&self) -> Aabb {
        self.bounds
    }

    fn corners(&self, triangle: usize) -> [Vec3; 3] {
        self.triangles[triangle].map(|v| self.vertices[v as usize])
    }

    /// Distance from a point to the mesh \[m\]: by the grid within its reach, else by all triangles.
    pub fn distance(&self, point: Vec3) -> f64 {
        let least = |best: f64, t: usize| best.min(nearest(point, self.corners(t)).0.distance(point));
        let close = self.grid.near(point).iter().fold(f64::INFINITY, |best, t| least(best, *t as usize));
        if close <= self.reach { close } else { (0..self.triangles.len()).fold(close, least) }
    }

    /// Appends the contacts of a sphere, each once, ordered by feature.
    pub fn touches(&self, centre: Vec3, radius: f64, out: &mut Vec<WallTouch>) {
        let mut candidates = Vec::new();
        if radius <= self.reach {
            for t in self.grid.near(centre) {
                self.try_triangle(*t as usize, centre, radius, &mut candidates);
            }
        } else {
            for t in 0..self.triangles.len() {
                self.try_triangle(t, centre, radius, &mut candidates);
            }
        }
        keep_each_contact_once(&mut candidates, radius, out);
    }

    fn try_triangle(&self, t: usize, centre: Vec3, radius: f64, candidates: &mut Vec<Candidate>) {
        // Most listed triangles are excluded by the height above their plane.
        let corners = self.corners(t);
        let n = self.normals[t];
        let height = (centre - corners[0]).dot(n);
        if height.abs() >= radius {
            return;
        }
        let (point, region) = nearest(centre, corners);
        let v = self.triangles[t];
        let (part, feature) = match region {
            Region::Face => (Part::Face, self.patch[t]),
            Region::Edge(k) => (Part::Edge([v[k], v[(k + 1) % 3]]), self.edge_feature[t][k]),
            Region::Corner(k) => (Part::Vertex(v[k]), self.vertex_feature[v[k] as usize]),
        };
        let face_normal = if height < 0.0 { n } else { -n };
        let (distance, normal, point) = match region {
            // Above the face the normal is the triangle's own: exact also where the gap is small.
            Region::Face => (height.abs(), face_normal, centre - height * n),
            _ => (point.distance(centre), (point - centre).try_normalize().unwrap_or(face_normal), point),
        };
        let overlap = radius - distance;
        if overlap > 0.0 {
            let touch = WallTouch { feature, normal, overlap, point, curvature: [0.0; 2] };
            candidates.push(Candidate { touch, piece: t as u32, vertices: v, part, kept: false });
        }
    }
}

/// The point of a triangle nearest to `p`, and the region it lies in.
fn nearest(p: Vec3, [a, b, c]: [Vec3; 3]) -> (Vec3, Region) {
    let (ab, ac, bc) = (b - a, c - a, c - b);
    // Corners: the projections on both sides that meet there fall outside them.
    let (ap_ab, ap_ac) = ((p - a).dot(ab), (p - a).dot(ac));
    if ap_ab <= 0.0 && ap_ac <= 0.0 {
        return (a, Region::Corner(0));
    }
    let (bp_ab, bp_ac) = ((p - b).dot(ab), (p - b).dot(ac));
    if bp_ab >= 0.0 && bp_ac <= bp_ab {
        return (b, Region::Corner(1));
    }
    let (cp_ab, cp_ac) = ((p - c).dot(ab), (p - c).dot(ac));
    if cp_ac >= 0.0 && cp_ab <= cp_ac {
        return (c, Region::Corner(2));
    }
    // Sides: the projection falls on the side, and the signed area opposite to the third corner is not positive.
    let toward_c = ap_ab * bp_ac - bp_ab * ap_ac;
    if toward_c <= 0.0 && ap_ab >= 0.0 && bp_ab <= 0.0 {
        return (a + ap_ab / (ap_ab - bp_ab) * ab, Region::Edge(0));
    }
    let toward_b = cp_ab * ap_ac - ap_ab * cp_ac;
    if toward_b <= 0.0 && ap_ac >= 0.0 && cp_ac <= 0.0 {
        return (a + ap_ac / (ap_ac - cp_ac) * ac, Region::Edge(2));
    }
    let toward_a = bp_ab * cp_ac - cp_ab * bp_ac;
    let (from_b, from_c) = (bp_ac - bp_ab, cp_ab - cp_ac);
    if toward_a <= 0.0 && from_b >= 0.0 && from_c >= 0.0 {
        return (b + from_b / (from_b + from_c) * bc, Region::Edge(1));
    }
    let inverse = 1.0 / (toward_a + toward_b + toward_c);
    (a + toward_b * inverse * ab + toward_c * inverse * ac, Region::Face)
}

fn check(vertices: &[Vec3], triangles: &[[u32; 3]], reach: f64) -> Result<(), MeshError> {
    if !(reach > 0.0 && reach < FARTHEST) {
        return Err(MeshError::BadReach { value: reach });
    }
    if triangles.is_empty() {
        return Err(MeshError::Empty);
    }
    if triangles.len() > Mesh::MOST_TRIANGLES {
        return Err(MeshError::TooLarge { count: triangles.len() });
    }
    if let Some(vertex) = vertices.iter().position(|v| !v.abs().cmplt(Vec3::splat(FARTHEST)).all()) {
        return Err(MeshError::BadVertex { vertex, value: vertices[vertex] });
    }
    let count = vertices.len();
    for (triangle, corners) in triangles.iter().enumerate() {
        if let Some(index) = corners.iter().find(|v| **v as usize >= count) {
            return Err(MeshError::NoSuchVertex { triangle, index: *index, count });
        }
    }
    Ok(())
}

/// Merges vertices at the same place and leaves out those no triangle uses.
fn weld(vertices: Vec<Vec3>, triangles: Vec<[u32; 3]>, report: &mut MeshReport) -> (Vec<Vec3>, Vec<[u32; 3]>) {
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
fn drop_useless(vertices: &[Vec3], triangles: Vec<[u32; 3]>, report: &mut MeshReport) -> (Vec<[u32; 3]>, Vec<Vec3>) {
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
struct Edges {
    /// Vertices of each edge, the smaller first.
    ends: Vec<[u32; 2]>,
    /// Sides (triangle, k) of edge `e` are `sides[start[e]..start[e + 1]]`.
    sides: Vec<(u32, u8)>,
    start: Vec<usize>,
    /// Edges of each triangle.
    of_triangle: Vec<[u32; 3]>,
}

impl Edges {
    fn of(triangles: &[[u32; 3]]) -> Edges {
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

    fn report(&self, triangles: &[[u32; 3]], report: &mut MeshReport) {
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
struct Features {
    patches: usize,
    patch: Vec<u32>,
    edge: Vec<[u32; 3]>,
    vertex: Vec<u32>,
}

impl Features {
    fn number(vertices: &[Vec3], triangles: &[[u32; 3]], normals: &[Vec3], edges: &Edges) -> Features {
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
