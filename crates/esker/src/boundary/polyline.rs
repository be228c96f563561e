//! A chain of segments in the x-y plane: the wall of planar scenes. One contact per segment or corner by Voronoi
//! regions; O(segments) per grain, or O(segments near it) with a list of these.

use super::SurfaceError;
use super::surface::{Candidate, Part, SMOOTH_ANGLE, WallTouch, finite, keep_each_contact_once};
use crate::math::{Aabb, Vec3};

/// Consecutive points closer than this fraction of the chain's extent coincide.
const COINCIDENT: f64 = 1e-12;

/// A chain of segments in the x-y plane, thin and touched from both sides. The z of points and grains is ignored.
///
/// Segments that continue each other in a straight line share one feature with the point between them, so a disc rolls
/// over such a joint in one unbroken contact. Features are numbered along the chain: straight runs, then corners.
#[derive(Clone, Debug, PartialEq)]
pub struct Polyline {
    points: Vec<Vec3>,
    closed: bool,
    run_feature: Vec<u32>,
    point_feature: Vec<u32>,
}

impl Polyline {
    /// The chain through these points; a closed one goes on from the last to the first.
    pub fn new(points: Vec<Vec3>, closed: bool) -> Result<Polyline, SurfaceError> {
        let count = points.len();
        if count < if closed { 3 } else { 2 } {
            return Err(SurfaceError::TooFewPoints { count });
        }
        let mut bounds = Aabb::EMPTY;
        for point in &points {
            bounds = bounds.including(flat(finite("point of the polyline", *point)?));
        }
        let points: Vec<Vec3> = points.into_iter().map(flat).collect();
        let segments = if closed { count } else { count - 1 };
        for first in 0..segments {
            let second = (first + 1) % count;
            if points[first].distance(points[second]) <= COINCIDENT * bounds.size().length() {
                return Err(SurfaceError::CoincidentPoints { first, second, at: points[first] });
            }
        }
        let mut polyline = Polyline { points, closed, run_feature: vec![0; segments], point_feature: vec![0; count] };
        polyline.number_features();
        Ok(polyline)
    }

    /// One segment.
    pub fn segment(from: Vec3, to: Vec3) -> Result<Polyline, SurfaceError> {
        Polyline::new(vec![from, to], false)
    }

    /// The points of the chain, z = 0 \[m\].
    pub fn points(&self) -> &[Vec3] {
        &self.points
    }

    /// Whether the last point is joined to the first.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Straight runs get the first numbers, real corners and loose ends the next ones.
    fn number_features(&mut self) {
        let segments = self.run_feature.len();
        let mut next = 0;
        for i in 0..segments {
            self.run_feature[i] = if i > 0 && self.is_straight_at(i) {
                next - 1
            } else {
                next += 1;
                next - 1
            };
        }
        // A closed chain may be straight where it closes: its last run is then the first one.
        if self.closed && self.is_straight_at(0) {
            let last = self.run_feature[segments - 1];
            self.run_feature.iter_mut().filter(|f| **f == last).for_each(|f| *f = 0);
        }
        for i in 0..self.points.len() {
            self.point_feature[i] = if self.is_straight_at(i) {
                self.run_feature[i]
            } else {
                next += 1;
                next - 1
            };
        }
    }

    /// Whether the chain goes straight on at this point.
    fn is_straight_at(&self, point: usize) -> bool {
        let count = self.points.len();
        if !self.closed && (point == 0 || point == count - 1) {
            return false;
        }
        let before = self.points[point] - self.points[(point + count - 1) % count];
        let after = self.points[(point + 1) % count] - self.points[point];
        before.dot(after) > 0.0 && before.cross(after).length() <= SMOOTH_ANGLE * before.length() * after.length()
    }

    /// Distance from a point to the chain in the x-y plane \[m\].
    pub fn distance(&self, point: Vec3) -> f64 {
        let nearest = |i| self.nearest(i, flat(point)).0.distance(flat(point));
        (0..self.run_feature.len()).map(nearest).fold(f64::INFINITY, f64::min)
    }

    /// Nearest point of segment `i`, and the end it is at, if at one.
    fn nearest(&self, i: usize, centre: Vec3) -> (Vec3, Option<usize>) {
        let j = (i + 1) % self.points.len();
        let (a, b) = (self.points[i], self.points[j]);
        let along = b - a;
        if (centre - a).dot(along) <= 0.0 {
            (a, Some(i))
        } else if (centre - b).dot(along) >= 0.0 {
            (b, Some(j))
        } else {
            (a + (centre - a).dot(along) / along.length_squared() * along, None)
        }
    }

    /// Appends the contacts of a disc, each once, ordered by feature. Normals lie in the x-y plane; touched points take
    /// the z of the centre.
    pub fn touches(&self, centre: Vec3, radius: f64, out: &mut Vec<WallTouch>) {
        self.touches_of(0..self.run_feature.len(), centre, radius, out);
    }

    /// Appends the contacts of a disc that touches none but these segments.
    pub fn touches_among(&self, segments: &[u32], centre: Vec3, radius: f64, out: &mut Vec<WallTouch>) {
        self.touches_of(segments.iter().map(|&i| i as usize), centre, radius, out);
    }

    fn touches_of(&self, segments: impl Iterator<Item = usize>, centre: Vec3, radius: f64, out: &mut Vec<WallTouch>) {
        let c = flat(centre);
        let touched = segments.filter_map(|i| {
            let (point, end) = self.nearest(i, c);
            (c.distance_squared(point) < radius * radius).then(|| self.candidate(i, end, point, centre, radius))
        });
        let mut candidates: Vec<Candidate> = touched.collect();
        keep_each_contact_once(&mut candidates, radius, out);
    }

    /// Appends the segments nearer than `reach` to a point.
    pub fn near(&self, point: Vec3, reach: f64, out: &mut Vec<u32>) {
        let c = flat(point);
        let near = |i: &u32| self.nearest(*i as usize, c).0.distance_squared(c) < reach * reach;
        out.extend((0..self.run_feature.len() as u32).filter(near));
    }

    fn candidate(&self, i: usize, end: Option<usize>, point: Vec3, centre: Vec3, radius: f64) -> Candidate {
        let j = (i + 1) % self.points.len();
        let c = flat(centre);
        let along = (self.points[j] - self.points[i]).normalize();
        let across = Vec3::new(along.y, -along.x, 0.0);
        let (part, feature, distance, normal) = match end {
            // Above the segment the normal is the segment's own: exact also where the gap is small.
            None => {
                let height = (c - self.points[i]).dot(across);
                let normal = if height < 0.0 { across } else { -across };
                (Part::Face, self.run_feature[i], height.abs(), normal)
            }
            Some(end) => {
                let normal = (point - c).try_normalize().unwrap_or(across);
                (Part::Vertex(end as u32), self.point_feature[end], c.distance(point), normal)
            }
        };
        let point = Vec3::new(point.x, point.y, centre.z);
        Candidate {
            touch: WallTouch { feature, normal, overlap: radius - distance, point, curvature: [0.0; 2] },
            piece: i as u32,
            vertices: [i as u32, j as u32, j as u32],
            part,
            kept: false,
        }
    }

    /// Distance in the x-y plane from a point within which the chain lies \[m\].
    pub fn extent_from(&self, point: Vec3) -> f64 {
        self.points.iter().map(|p| p.distance(flat(point))).fold(0.0, f64::max)
    }

    /// Smallest box around the chain, infinite in z.
    pub fn bounds(&self) -> Aabb {
        let flat = self.points.iter().fold(Aabb::EMPTY, |bounds, point| bounds.including(*point));
        Aabb { min: flat.min.with_z(f64::NEG_INFINITY), max: flat.max.with_z(f64::INFINITY) }
    }

    /// A strip of width `depth` in z about z = 0.
    pub(super) fn triangles(&self, depth: f64) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let half = 0.5 * depth;
        let vertices = self.points.iter().flat_map(|p| [p.with_z(-half), p.with_z(half)]).collect();
        let triangles = (0..self.run_feature.len() as u32)
            .flat_map(|i| {
                let (a, b) = (2 * i, 2 * ((i + 1) % self.points.len() as u32));
                [[a, b, b + 1], [a, b + 1, a + 1]]
            })
            .collect();
        (vertices, triangles)
    }
}

fn flat(point: Vec3) -> Vec3 {
    point.with_z(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(x: f64, y: f64) -> Vec3 {
        Vec3::new(x, y, 0.0)
    }

    fn touches(line: &Polyline, x: f64, y: f64, radius: f64) -> Vec<WallTouch> {
        let mut out = Vec::new();
        line.touches(Vec3::new(x, y, 7.0), radius, &mut out);
        out
    }

    #[test]
    fn a_disc_over_a_convex_corner_touches_the_vertex_once() {
        // A roof with its ridge at the origin.
        let roof = Polyline::new(vec![at(-1.0, -1.0), at(0.0, 0.0), at(1.0, -1.0)], false).unwrap();
        let out = touches(&roof, 0.01, 0.09, 0.1);
        assert_eq!(out.len(), 1);
        assert_eq!(out[0].point, Vec3::new(0.0, 0.0, 7.0));
        assert!((out[0].overlap - (0.1 - 0.01f64.hypot(0.09))).abs() < 1e-16);
        // Below the roof it sits in a concave corner and touches both slopes.
        assert_eq!(touches(&roof, 0.01, -0.12, 0.1).len(), 2);
        // The loose end is a vertex as well.
        let end = touches(&roof, 1.05, -1.05, 0.1);
        assert_eq!((end.len(), end[0].point), (1, Vec3::new(1.0, -1.0, 7.0)));
    }

    #[test]
    fn rolling_over_a_convex_corner_changes_overlap_and_normal_without_a_jump() {
        let roof = Polyline::new(vec![at(-1.0, -1.0), at(0.0, 0.0), at(1.0, -1.0)], false).unwrap();
        let mut last: Option<WallTouch> = None;
        let steps = 20_000;
        for k in 0..=steps {
            let x = -0.2 + 0.4 * f64::from(k) / f64::from(steps);
            let out = touches(&roof, x, 0.08 - x.abs() * 0.9, 0.1);
            assert_eq!(out.len(), 1, "at x = {x}");
            if let Some(last) = last {
                assert!((out[0].normal - last.normal).length() < 1e-3);
                assert!((out[0].overlap - last.overlap).abs() < 1e-4);
            }
            last = Some(out[0]);
        }
    }

    #[test]
    fn a_closed_square_is_touched_on_two_sides_in_its_corner_and_once_outside() {
        let square = Polyline::new(vec![at(0.0, 0.0), at(1.0, 0.0), at(1.0, 1.0), at(0.0, 1.0)], true).unwrap();
        let inside = touches(&square, 0.09, 0.095, 0.1);
        assert_eq!(inside.len(), 2);
        let push: Vec3 = inside.iter().map(|t| -t.overlap * t.normal).sum();
        assert!((push - at(0.01, 0.005)).length() < 1e-15);
        assert_eq!(touches(&square, -0.05, -0.05, 0.1).len(), 1);
        assert_eq!(touches(&square, 0.5, 0.5, 0.1).len(), 0);
    }

    #[test]
    fn a_chain_that_closes_on_a_straight_side_has_one_feature_there() {
        let points = vec![at(0.5, 0.0), at(1.0, 0.0), at(1.0, 1.0), at(0.0, 1.0), at(0.0, 0.0)];
        let square = Polyline::new(points, true).unwrap();
        let left = touches(&square, 0.45, 0.09, 0.1);
        let joint = touches(&square, 0.5, 0.09, 0.1);
        let right = touches(&square, 0.55, 0.09, 0.1);
        for out in [&left, &joint, &right] {
            assert_eq!((out.len(), out[0].feature), (1, 0));
            assert!((out[0].overlap - 0.01).abs() < 1e-16);
        }
    }

    #[test]
    fn the_segments_near_a_disc_give_the_contacts_of_the_whole_chain() {
        let corner = |k: u32| (f64::from(k) * 0.1, 1.0 + 0.03 * f64::from(k % 2));
        let ring = (0..62).map(corner).map(|(angle, r)| at(r * angle.cos(), r * angle.sin())).collect();
        let ring = Polyline::new(ring, true).unwrap();
        let mut most = 0;
        for k in 0..400 {
            let (x, y) = (0.96 * (f64::from(k) * 0.7).cos(), 0.96 * (f64::from(k) * 0.7).sin());
            let mut near = Vec::new();
            ring.near(at(x, y), 0.12, &mut near);
            most = most.max(near.len());
            let mut among = Vec::new();
            ring.touches_among(&near, Vec3::new(x, y, 7.0), 0.1, &mut among);
            assert_eq!(among, touches(&ring, x, y, 0.1));
            assert!(!among.is_empty());
        }
        assert!(most < 6, "of 62 segments {most} are near");
    }

    #[test]
    fn points_that_coincide_are_refused() {
        let twice = Polyline::new(vec![at(0.0, 0.0), at(1.0, 0.0), at(1.0, 0.0)], false);
        assert!(matches!(twice, Err(SurfaceError::CoincidentPoints { first: 1, second: 2, .. })));
        let repeated_start = Polyline::new(vec![at(0.0, 0.0), at(1.0, 0.0), at(1.0, 1.0), at(0.0, 0.0)], true);
        assert!(matches!(repeated_start, Err(SurfaceError::CoincidentPoints { first: 3, second: 0, .. })));
        assert!(matches!(Polyline::new(vec![at(0.0, 0.0)], false), Err(SurfaceError::TooFewPoints { count: 1 })));
    }

    proptest! {
        #[test]
        fn a_disc_rolling_over_any_division_of_a_straight_line_feels_one_steady_contact(
            mut cuts in proptest::collection::vec(0.01..0.99f64, 1..12),
            angle in 0.0..std::f64::consts::TAU,
            x in 0.0..1.0f64,
            gap in 0.05..0.0999f64,
        ) {
            cuts.extend([0.0, 1.0]);
            cuts.sort_by(f64::total_cmp);
            cuts.dedup_by(|b, a| *b - *a < 1e-3);
            let (sin, cos) = angle.sin_cos();
            let line = Polyline::new(cuts.iter().map(|s| at(s * cos, s * sin)).collect(), false).unwrap();
            // Also exactly above the joints.
            for x in cuts.iter().copied().filter(|s| *s > 0.0 && *s < 1.0).chain([x]) {
                let out = touches(&line, x * cos - gap * sin, x * sin + gap * cos, 0.1);
                prop_assert_eq!(out.len(), 1);
                prop_assert_eq!(out[0].feature, 0);
                prop_assert!((out[0].overlap - (0.1 - gap)).abs() < 1e-14);
                prop_assert!((out[0].normal - at(sin, -cos)).length() < 1e-13);
            }
        }

        #[test]
        fn the_distance_to_a_chain_is_that_of_the_nearest_of_many_sampled_points(
            points in proptest::collection::vec((-1.0..1.0f64, -1.0..1.0f64), 3..8),
            x in -2.0..2.0f64, y in -2.0..2.0f64, closed: bool,
        ) {
            let points: Vec<Vec3> = points.into_iter().map(|(x, y)| at(x, y)).collect();
            let Ok(line) = Polyline::new(points.clone(), closed) else { return Ok(()) };
            let n = 2000;
            let segments = if closed { points.len() } else { points.len() - 1 };
            let sampled = (0..segments)
                .flat_map(|i| (0..=n).map(move |k| (i, f64::from(k) / f64::from(n))))
                .map(|(i, s)| points[i].lerp(points[(i + 1) % points.len()], s).distance(at(x, y)))
                .fold(f64::INFINITY, f64::min);
            let exact = line.distance(at(x, y));
            prop_assert!(exact <= sampled + 1e-14);
            prop_assert!(sampled - exact < 3.0 / f64::from(n));
            // The deepest contact is the nearest point.
            let deepest = touches(&line, x, y, exact + 0.1).iter().map(|t| t.overlap).fold(0.0, f64::max);
            prop_assert!((deepest - 0.1).abs() < 1e-13);
        }
    }
}
