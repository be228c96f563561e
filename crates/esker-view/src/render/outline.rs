//! Lines that show the shape of a wall: its border, its sharp edges, and its outline as seen from the eye.

use super::camera::{Camera, Lens};
use esker::math::Vec3;

/// Cosine of the angle from which on an edge is sharp: 35 degrees.
const SHARP: f64 = 0.819;

/// A wall in space.
pub struct Surface {
    /// Corners \[m\].
    pub corners: Vec<Vec3>,
    /// Triangles.
    pub triangles: Vec<[u32; 3]>,
}

/// An edge as one triangle goes along it.
struct Edge {
    /// Both corners, the lower number first.
    ends: [u32; 2],
    /// Whether the triangle goes from the lower to the higher.
    upwards: bool,
    triangle: usize,
}

impl Surface {
    /// Number of the first corner at the same place, for each corner.
    fn welded(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.corners.len() as u32).collect();
        let key = |k: u32| self.corners[k as usize].to_array();
        let compare = |a: [f64; 3], b: [f64; 3]| {
            (0..3).fold(std::cmp::Ordering::Equal, |order, k| order.then(a[k].total_cmp(&b[k])))
        };
        order.sort_by(|a, b| compare(key(*a), key(*b)).then(a.cmp(b)));
        let mut first = vec![0; order.len()];
        for pair in 0..order.len() {
            let k = order[pair] as usize;
            let same = pair > 0 && key(order[pair]) == key(order[pair - 1]);
            first[k] = if same { first[order[pair - 1] as usize] } else { k as u32 };
        }
        first
    }

    fn normal(&self, triangle: usize) -> Vec3 {
        let [a, b, c] = self.triangles[triangle].map(|k| self.corners[k as usize]);
        (b - a).cross(c - a).normalize_or_zero()
    }

    /// All edges, those of the same corners side by side.
    fn edges(&self) -> Vec<Edge> {
        let first = self.welded();
        let mut edges = Vec::with_capacity(3 * self.triangles.len());
        for (triangle, corners) in self.triangles.iter().enumerate() {
            for k in 0..3 {
                let [a, b] = [corners[k], corners[(k + 1) % 3]].map(|c| first[c as usize]);
                if a != b {
                    edges.push(Edge { ends: [a.min(b), a.max(b)], upwards: a < b, triangle });
                }
            }
        }
        edges.sort_by_key(|edge| (edge.ends, edge.triangle));
        edges
    }

    /// Edges to be drawn.
    pub fn lines(&self, camera: &Camera) -> Vec<[Vec3; 2]> {
        let edges = self.edges();
        let drawn = |same: &[Edge]| match same {
            [a, b] => {
                let place = self.corners[a.ends[0] as usize];
                let sight = match camera.lens {
                    Lens::Orthographic { .. } => camera.axes.forward,
                    Lens::Perspective { .. } => place - camera.eye,
                };
                // Neighbours of the same sense go along their edge in opposite directions.
                let sense = if a.upwards == b.upwards { -1.0 } else { 1.0 };
                let (n, m) = (self.normal(a.triangle), sense * self.normal(b.triangle));
                n.dot(m) < SHARP || n.dot(sight) * m.dot(sight) < 0.0
            }
            _ => true,
        };
        let same = edges.chunk_by(|a, b| a.ends == b.ends).filter(|same| drawn(same));
        same.map(|same| same[0].ends.map(|k| self.corners[k as usize])).collect()
    }

    /// Where it crosses the plane z = 0.
    pub fn section(&self) -> Vec<[Vec3; 2]> {
        let cross = |corners: &[u32; 3]| {
            let places = corners.map(|k| self.corners[k as usize]);
            // A corner in the plane counts as above, so that an edge in it is drawn once.
            let mut ends = (0..3).filter_map(|k| {
                let (a, b) = (places[k], places[(k + 1) % 3]);
                ((a.z >= 0.0) != (b.z >= 0.0)).then(|| a + (b - a) * (a.z / (a.z - b.z)))
            });
            ends.next().zip(ends.next()).map(|(a, b)| [a, b])
        };
        self.triangles.iter().filter_map(cross).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::camera::Axes;
    use super::super::settings::Side;
    use super::*;

    #[test]
    fn of_a_square_of_two_triangles_the_diagonal_is_not_drawn() {
        let corner = |x: f64, z: f64| Vec3::new(x, 0.0, z);
        // As an STL file has it: every triangle with corners of its own.
        let corners =
            vec![corner(0., 0.), corner(1., 0.), corner(1., 1.), corner(0., 0.), corner(1., 1.), corner(0., 1.)];
        let square = Surface { corners, triangles: vec![[0, 1, 2], [3, 4, 5]] };
        let axes = Axes::of(Side::Front, Vec3::Z);
        let camera = Camera { eye: Vec3::ZERO, axes, lens: Lens::Orthographic { scale: 1.0 }, centre: [0.0; 2] };
        let lines = square.lines(&camera);
        assert_eq!(lines.len(), 4);
        assert!(lines.iter().all(|[a, b]| a.distance(*b) == 1.0));
    }

    #[test]
    fn a_ribbon_that_stands_on_the_plane_is_cut_along_its_line() {
        let corners =
            vec![Vec3::new(0., 0., -1.), Vec3::new(0., 0., 1.), Vec3::new(2., 1., -1.), Vec3::new(2., 1., 1.)];
        let lines = Surface { corners, triangles: vec![[0, 1, 2], [1, 3, 2]] }.section();
        let length: f64 = lines.iter().map(|[a, b]| a.distance(*b)).sum();
        assert!((length - 5f64.sqrt()).abs() < 1e-12 && lines.iter().flatten().all(|p| p.z == 0.0));
    }
}
