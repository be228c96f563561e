//! A wall of triangles, touched from both sides. A grain costs O(triangles listed in one grid cell).
//!
//! Closest points of triangles by Voronoi regions after Ericson, *Real-Time Collision Detection* (2005), section 5.1.5;
//! each contact once by the rule of [`surface`](super::surface). Connected coplanar triangles form one patch: their
//! faces, and the edges and vertices inside, are one feature, so history survives the step from triangle to triangle.

use thiserror::Error;

use super::mesh_grid::MeshGrid;
use super::mesh_topology::{Edges, Features, drop_useless, weld};
use super::surface::{Candidate, Part, WallTouch, keep_each_contact_once};
use crate::math::{Aabb, Vec3};

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
    /// Centre and radius of a ball around each triangle.
    balls: Vec<(Vec3, f64)>,
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

    /// A mesh for grains up to the radius `reach` \[m\] (larger ones are answered too, but slowly).
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
        let ball = |t: usize| {
            let centre = boxes[t].min.midpoint(boxes[t].max);
            (centre, corners(t).iter().map(|corner| corner.distance(centre)).fold(0.0, f64::max) * (1.0 + 1e-9))
        };
        let balls = (0..triangles.len()).map(ball).collect();
        let bounds = boxes.iter().fold(Aabb::EMPTY, |all, b| all.union(*b));
        let Features { patch, edge: edge_feature, vertex: vertex_feature, .. } = features;
        Ok(Mesh {
            vertices,
            triangles,
            normals,
            balls,
            patch,
            edge_feature,
            vertex_feature,
            grid,
            reach,
            bounds,
            report,
        })
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
        if radius <= self.reach {
            self.touches_among(self.grid.near(centre), centre, radius, out);
        } else {
            self.touches_of(0..self.triangles.len(), centre, radius, out);
        }
    }

    /// Appends the contacts of a sphere that touches none but these triangles.
    pub fn touches_among(&self, triangles: &[u32], centre: Vec3, radius: f64, out: &mut Vec<WallTouch>) {
        self.touches_of(triangles.iter().map(|&t| t as usize), centre, radius, out);
    }

    fn touches_of(&self, triangles: impl Iterator<Item = usize>, centre: Vec3, radius: f64, out: &mut Vec<WallTouch>) {
        let mut candidates = Vec::new();
        candidates.extend(triangles.filter_map(|t| self.try_triangle(t, centre, radius)));
        match candidates.as_mut_slice() {
            [] => {}
            candidates => keep_each_contact_once(candidates, radius, out),
        }
    }

    /// Appends the triangles nearer than `reach` to a point, ascending.
    pub fn near(&self, point: Vec3, reach: f64, out: &mut Vec<u32>) {
        let near = |t: &u32| self.try_triangle(*t as usize, point, reach).is_some();
        if reach <= self.reach {
            out.extend(self.grid.near(point).iter().copied().filter(near));
        } else if self.is_cheaper_by_cells(point, reach) {
            let around = self.grid.around(point, reach - self.reach);
            let mut found: Vec<u32> = around.flatten().copied().filter(near).collect();
            found.sort_unstable();
            found.dedup();
            out.extend(found);
        } else {
            out.extend((0..self.triangles.len() as u32).filter(near));
        }
    }

    /// Whether there are fewer triangles to try, beyond the reach of a cell, in the cells around than in the mesh.
    fn is_cheaper_by_cells(&self, point: Vec3, reach: f64) -> bool {
        let (all, farther) = (self.triangles.len(), reach - self.reach);
        self.grid.cells_around(farther) < all as f64
            && self.grid.around(point, farther).map(<[u32]>::len).sum::<usize>() < all
    }

    /// The nearest point of a triangle, if a sphere reaches it.
    #[inline]
    fn try_triangle(&self, t: usize, centre: Vec3, radius: f64) -> Option<Candidate> {
        // Most listed triangles are excluded by the ball around them or by the height above their plane.
        let (middle, size) = self.balls[t];
        let reach = radius + size;
        if centre.distance_squared(middle) >= reach * reach {
            return None;
        }
        let corners = self.corners(t);
        let n = self.normals[t];
        let height = (centre - corners[0]).dot(n);
        if height.abs() >= radius {
            return None;
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
        (overlap > 0.0).then(|| {
            let touch = WallTouch { feature, normal, overlap, point, curvature: [0.0; 2] };
            Candidate { touch, piece: t as u32, vertices: v, part, kept: false }
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A wavy sheet of 2 n^2 triangles on the unit square.
    fn sheet(n: u32, reach: f64) -> Mesh {
        let side = n + 1;
        let height = |x: f64, y: f64| 0.1 * (7.0 * x).sin() * (5.0 * y).cos();
        let vertices = (0..side * side)
            .map(|k| (f64::from(k % side) / f64::from(n), f64::from(k / side) / f64::from(n)))
            .map(|(x, y)| Vec3::new(x, y, height(x, y)))
            .collect();
        let triangles = (0..n * n)
            .map(|k| k % n + k / n * side)
            .flat_map(|a| [[a, a + 1, a + side + 1], [a, a + side + 1, a + side]])
            .collect();
        Mesh::new(vertices, triangles, reach).unwrap()
    }

    #[test]
    fn the_grid_finds_the_same_contacts_as_the_search_through_all_triangles() {
        let radius = 0.04;
        let gridded = sheet(20, radius);
        // Grains beyond the reach are answered by the full search.
        let naive = sheet(20, 0.01 * radius);
        let (mut fast, mut slow) = (Vec::new(), Vec::new());
        let mut contacts = 0;
        for k in 0..20_000 {
            // A low-discrepancy cloud of centres around the sheet.
            let part = |irrational: f64| (f64::from(k) * irrational).fract();
            let centre = Vec3::new(
                1.2 * part(0.819_172_513) - 0.1,
                1.2 * part(0.671_043_606) - 0.1,
                0.4 * part(0.549_700_478) - 0.2,
            );
            fast.clear();
            slow.clear();
            gridded.touches(centre, radius, &mut fast);
            naive.touches(centre, radius, &mut slow);
            assert_eq!(fast, slow);
            assert_eq!(gridded.distance(centre), naive.distance(centre));
            contacts += fast.len();
        }
        assert!(contacts > 2000);
    }

    #[test]
    fn the_grid_finds_the_same_near_triangles_as_the_search_through_all_however_far_one_looks() {
        // With cells as wide as the reach, with wider ones, since there would be too many, and with large ones.
        for (n, reach) in [(30, 0.03), (30, 0.005), (60, 0.5)] {
            let mesh = sheet(n, reach);
            let (mut found, mut by_cells) = (0, [0; 2]);
            for k in 0..2000 {
                let part = |irrational: f64| 1.4 * (f64::from(k) * irrational).fract() - 0.2;
                let point = Vec3::new(part(0.819_172_513), part(0.671_043_606), part(0.549_700_478) - 0.5);
                let farther = [0.01, 0.05, 0.1, 2.0][k as usize % 4];
                let mut near = vec![7];
                mesh.near(point, reach + farther, &mut near);
                let all = (0..mesh.triangles.len()).filter(|t| mesh.try_triangle(*t, point, reach + farther).is_some());
                assert_eq!(near[1..], all.map(|t| t as u32).collect::<Vec<_>>());
                found += near.len() - 1;
                by_cells[usize::from(mesh.is_cheaper_by_cells(point, reach + farther))] += usize::from(near.len() > 1);
            }
            assert!(found > 100_000 && by_cells.iter().all(|&points| points > 50), "{n} {reach}: {found} {by_cells:?}");
        }
    }

    #[test]
    fn the_grid_stays_within_its_memory_for_tiny_and_huge_grains() {
        for reach in [1e-9, 1e-4, 1e-2, 1.0, 1e6] {
            let mesh = sheet(20, reach);
            let (cells, entries) = mesh.grid.memory();
            assert!(cells <= 32_768 && entries <= 262_144, "{cells} cells, {entries} entries for reach {reach}");
        }
    }

    #[test]
    fn long_triangles_all_over_the_place_do_not_fill_the_memory() {
        let n = 3000;
        let place = |k: u32| (k as f64 * 0.754_877_666).fract();
        let vertices = (0..3 * n).map(|k| Vec3::new(place(k), place(7 * k + 1), place(13 * k + 2))).collect();
        let mesh = Mesh::new(vertices, (0..n).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect(), 1e-4).unwrap();
        assert!(mesh.grid.memory().1 <= 64 * 3000 + 262_144);
    }
}
