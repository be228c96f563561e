//! A straight profile spun about an axis: disc, annulus, cylinder, cone. O(1) per grain.
//!
//! By symmetry the nearest points lie in the meridian plane through the grain's centre, so contacts are those of a disc
//! with the profile in that plane, spanned by the axial coordinate s and the radial one rho.

use super::SurfaceError;
use super::surface::{Candidate, Part, WallTouch, direction, finite, keep_each_contact_once, positive};
use crate::math::{Aabb, Vec3};

/// Divisions of the full circle in pictures.
const PICTURE_SEGMENTS: u32 = 64;

/// A grain nearer to the axis than this fraction of its distance from the origin is on it.
const ON_AXIS: f64 = 1e-13;

/// A straight profile in the (axial, radial) half-plane, spun about an axis. Thin, touched from both sides.
///
/// Features: 0 is the face, 1 and 2 the rims at the profile's first and second end. A grain that spans the hollow (a
/// ball in a funnel or on a hole smaller than itself) touches all around; its contacts are then the nearest point and
/// the one across the axis (features 3, 4, 5), so that the sideways pushes balance on the axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Revolved {
    /// Point on the axis from which s is counted \[m\].
    pub origin: Vec3,
    /// Unit vector along the axis.
    pub axis: Vec3,
    /// Ends (s, rho) of the profile \[m\], rho not negative.
    pub profile: [(f64, f64); 2],
}

/// A point or direction of the meridian plane: along the axis, and outward through the grain.
#[derive(Clone, Copy)]
struct Meridian {
    s: f64,
    x: f64,
}

impl Meridian {
    fn dot(self, other: Meridian) -> f64 {
        self.s * other.s + self.x * other.x
    }

    fn minus(self, other: Meridian) -> Meridian {
        Meridian { s: self.s - other.s, x: self.x - other.x }
    }

    fn length(self) -> f64 {
        self.s.hypot(self.x)
    }

    fn times(self, factor: f64) -> Meridian {
        Meridian { s: factor * self.s, x: factor * self.x }
    }
}

/// The nearest point of a segment of the meridian section.
struct Nearest {
    point: Meridian,
    normal: Meridian,
    distance: f64,
    /// Which end it is at, if at one.
    end: Option<usize>,
}

impl Revolved {
    /// A profile spun about the line through `origin`; the axis may have any length.
    pub fn new(origin: Vec3, axis: Vec3, profile: [(f64, f64); 2]) -> Result<Revolved, SurfaceError> {
        let origin = finite("origin of the surface of revolution", origin)?;
        let axis = direction("axis of the surface of revolution", axis)?;
        let [(s0, rho0), (s1, rho1)] = profile;
        let sound = [s0, s1, rho0, rho1].iter().all(|v| v.is_finite()) && rho0 >= 0.0 && rho1 >= 0.0;
        if !sound || (s0 == s1 && rho0 == rho1) || (rho0 == 0.0 && rho1 == 0.0) {
            return Err(SurfaceError::BadProfile { profile });
        }
        Ok(Revolved { origin, axis, profile })
    }

    /// A flat disc.
    pub fn disc(centre: Vec3, normal: Vec3, radius: f64) -> Result<Revolved, SurfaceError> {
        Revolved::new(centre, normal, [(0.0, 0.0), (0.0, positive("radius of the disc", radius)?)])
    }

    /// A flat ring between two radii.
    pub fn annulus(centre: Vec3, normal: Vec3, inner: f64, outer: f64) -> Result<Revolved, SurfaceError> {
        Revolved::new(centre, normal, [(0.0, inner), (0.0, positive("outer radius of the annulus", outer)?)])
    }

    /// An open cylinder with its axis between two points.
    pub fn cylinder(from: Vec3, to: Vec3, radius: f64) -> Result<Revolved, SurfaceError> {
        Revolved::cone(from, to, positive("radius of the cylinder", radius)?, radius)
    }

    /// An open cone or frustum with its axis between two points and a radius at each; one of the radii may be 0.
    pub fn cone(from: Vec3, to: Vec3, radius_from: f64, radius_to: f64) -> Result<Revolved, SurfaceError> {
        let height = finite("end of the axis", to)?.distance(finite("start of the axis", from)?);
        Revolved::new(from, to - from, [(0.0, radius_from), (height, radius_to)])
    }

    /// Coordinates of a point in its meridian plane, and the outward unit vector of that plane.
    fn meridian(&self, point: Vec3) -> (Meridian, Vec3) {
        let w = point - self.origin;
        let s = w.dot(self.axis);
        let mut radial = w - s * self.axis;
        radial -= radial.dot(self.axis) * self.axis;
        let x = radial.length();
        // On the axis all directions are equal: take a fixed one.
        if x <= ON_AXIS * w.length() {
            (Meridian { s, x: 0.0 }, self.axis.any_orthonormal_vector())
        } else {
            (Meridian { s, x }, radial / x)
        }
    }

    /// Whether the face is a flat disc, so that its section crosses the axis without a corner.
    fn is_disc(&self) -> bool {
        let [(s0, rho0), (s1, rho1)] = self.profile;
        s0 == s1 && (rho0 == 0.0 || rho1 == 0.0)
    }

    /// Ends of the section on the grain's side of the axis (`side` = 1) or across it (-1).
    fn section(&self, side: f64) -> [Meridian; 2] {
        let [(s0, rho0), (s1, rho1)] = self.profile;
        if self.is_disc() {
            // The whole diameter, its far end in place of the centre.
            let [x0, x1] = if rho0 == 0.0 { [-rho1, rho1] } else { [rho0, -rho0] };
            return [Meridian { s: s0, x: side * x0 }, Meridian { s: s1, x: side * x1 }];
        }
        [Meridian { s: s0, x: side * rho0 }, Meridian { s: s1, x: side * rho1 }]
    }

    fn nearest(&self, c: Meridian, side: f64) -> Nearest {
        let [a, b] = self.section(side);
        let along = b.minus(a).times(1.0 / b.minus(a).length());
        let across = Meridian { s: -along.x, x: along.s };
        let at_end = |end: usize, point: Meridian| {
            let gap = point.minus(c);
            let distance = gap.length();
            let normal = if distance > 0.0 { gap.times(1.0 / distance) } else { across };
            Nearest { point, normal, distance, end: Some(end) }
        };
        if c.minus(a).dot(along) <= 0.0 {
            at_end(0, a)
        } else if c.minus(b).dot(along) >= 0.0 {
            at_end(1, b)
        } else {
            let height = c.minus(a).dot(across);
            let normal = across.times(if height < 0.0 { 1.0 } else { -1.0 });
            Nearest { point: c.minus(across.times(height)), normal, distance: height.abs(), end: None }
        }
    }

    /// Distance from a point to the surface \[m\].
    pub fn distance(&self, point: Vec3) -> f64 {
        self.nearest(self.meridian(point).0, 1.0).distance
    }

    /// Appends the contacts of a sphere, each once, ordered by feature.
    pub fn touches(&self, centre: Vec3, radius: f64, out: &mut Vec<WallTouch>) {
        let (c, outward) = self.meridian(centre);
        let near = self.nearest(c, 1.0);
        if near.distance >= radius {
            return;
        }
        // Across the axis only a grain in the hollow touches: there the two pushes oppose each other.
        let far = self.nearest(c, -1.0);
        let spans = far.distance < radius && near.normal.x > 0.0 && far.normal.x < 0.0;
        if self.is_disc() || !spans {
            out.push(self.touch(&near, outward, radius, 0));
            return;
        }
        let candidate = |nearest: &Nearest, side: u32| {
            // The two halves of the section share the ends that lie on the axis.
            let vertex = |end: usize| if self.profile[end].1 == 0.0 { end as u32 } else { end as u32 + 2 * side };
            Candidate {
                touch: self.touch(nearest, outward, radius, 3 * side),
                piece: side,
                vertices: [vertex(0), vertex(1), vertex(1)],
                part: nearest.end.map_or(Part::Face, |end| Part::Vertex(vertex(end))),
                kept: false,
            }
        };
        keep_each_contact_once(&mut [candidate(&near, 0), candidate(&far, 1)], radius, out);
    }

    fn touch(&self, nearest: &Nearest, outward: Vec3, radius: f64, first_feature: u32) -> WallTouch {
        let (p, n) = (nearest.point, nearest.normal);
        // Meusnier: around the axis the normal section has curvature cos(angle of normal and radius) / rho; the
        // meridian is straight. Seen from inside it is negative.
        let around = if nearest.end.is_none() && p.x != 0.0 { -n.x / p.x } else { 0.0 };
        WallTouch {
            // On a disc both ends of the section are the one rim.
            feature: first_feature + nearest.end.map_or(0, |end| if self.is_disc() { 2 } else { end as u32 + 1 }),
            normal: n.s * self.axis + n.x * outward,
            overlap: radius - nearest.distance,
            point: self.origin + p.s * self.axis + p.x * outward,
            curvature: [around, 0.0],
        }
    }

    /// Smallest box around the surface.
    pub fn bounds(&self) -> Aabb {
        // A circle about `axis` reaches rho sqrt(1 - a_k^2) along axis k.
        let reach = (Vec3::ONE - self.axis * self.axis).max(Vec3::ZERO).map(f64::sqrt);
        self.profile.iter().fold(Aabb::EMPTY, |bounds, (s, rho)| {
            let centre = self.origin + *s * self.axis;
            bounds.including(centre - *rho * reach).including(centre + *rho * reach)
        })
    }

    /// The circle in equal steps; where the profile meets the axis, triangles without area are left out.
    pub(super) fn triangles(&self) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let (u, v) = self.axis.any_orthonormal_pair();
        let mut vertices = Vec::new();
        let mut triangles = Vec::new();
        for k in 0..PICTURE_SEGMENTS {
            let (sin, cos) = (std::f64::consts::TAU * f64::from(k) / f64::from(PICTURE_SEGMENTS)).sin_cos();
            for (s, rho) in self.profile {
                vertices.push(self.origin + s * self.axis + rho * (cos * u + sin * v));
            }
            let (a, b) = (2 * k, 2 * ((k + 1) % PICTURE_SEGMENTS));
            if self.profile[0].1 > 0.0 {
                triangles.push([a, b, a + 1]);
            }
            if self.profile[1].1 > 0.0 {
                triangles.push([b, b + 1, a + 1]);
            }
        }
        (vertices, triangles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn touches(surface: &Revolved, centre: Vec3, radius: f64) -> Vec<WallTouch> {
        let mut out = Vec::new();
        surface.touches(centre, radius, &mut out);
        out
    }

    #[test]
    fn a_cylinder_bends_towards_a_grain_outside_and_away_from_one_inside() {
        let drum = Revolved::cylinder(Vec3::ZERO, Vec3::new(0.0, 2.0, 0.0), 0.5).unwrap();
        let inside = touches(&drum, Vec3::new(0.0, 1.0, -0.42), 0.1);
        assert_eq!(inside.len(), 1);
        assert_eq!(inside[0].feature, 0);
        assert!((inside[0].overlap - 0.02).abs() < 1e-15);
        assert!((inside[0].normal - Vec3::NEG_Z).length() < 1e-15);
        assert!((inside[0].point - Vec3::new(0.0, 1.0, -0.5)).length() < 1e-15);
        assert_eq!(inside[0].curvature, [-2.0, 0.0]);
        let outside = touches(&drum, Vec3::new(0.58, 0.3, 0.0), 0.1);
        assert_eq!(outside.len(), 1);
        assert!((outside[0].overlap - 0.02).abs() < 1e-15);
        assert!((outside[0].normal - Vec3::NEG_X).length() < 1e-15);
        assert_eq!(outside[0].curvature, [2.0, 0.0]);
        // Beyond the open end the rim is an edge.
        let rim = touches(&drum, Vec3::new(0.5, 2.06, 0.08), 0.15);
        assert_eq!((rim.len(), rim[0].feature, rim[0].curvature), (1, 2, [0.0, 0.0]));
    }

    #[test]
    fn a_cone_has_the_curvature_of_its_normal_section() {
        // Half-angle 30 degrees, apex at the origin.
        let (half, rho) = (std::f64::consts::FRAC_PI_6, 0.3);
        let cone = Revolved::cone(Vec3::ZERO, Vec3::Z, 0.0, half.tan()).unwrap();
        let foot = Vec3::new(rho, 0.0, rho / half.tan());
        let outward = Vec3::new(half.cos(), 0.0, -half.sin());
        for side in [1.0, -1.0] {
            let out = touches(&cone, foot + side * 0.09 * outward, 0.1);
            assert_eq!(out.len(), 1);
            assert!((out[0].normal + side * outward).length() < 1e-14);
            assert!((out[0].point - foot).length() < 1e-15);
            assert!((out[0].overlap - 0.01).abs() < 1e-15);
            assert!((out[0].curvature[0] - side * half.cos() / rho).abs() < 1e-13);
        }
        // The tip is one vertex.
        let tip = touches(&cone, Vec3::new(0.01, 0.0, -0.08), 0.1);
        assert_eq!((tip.len(), tip[0].feature, tip[0].point), (1, 1, Vec3::ZERO));
    }

    #[test]
    fn a_ball_wedged_in_a_funnel_is_balanced_on_the_axis_and_pushed_back_to_it() {
        let funnel = Revolved::cone(Vec3::ZERO, Vec3::Z, 0.05, 1.0).unwrap();
        let radius = 0.3;
        let height =
            (0..).map(|k| 1e-3 * f64::from(k)).find(|z| funnel.distance(Vec3::new(0.0, 0.0, *z)) > 0.28).unwrap();
        let push = |x: f64| {
            let out = touches(&funnel, Vec3::new(x, 0.0, height), radius);
            assert_eq!(out.len(), 2);
            out.iter().map(|t| -t.overlap * t.normal).sum::<Vec3>()
        };
        assert!(push(0.0).truncate().length() < 1e-16);
        assert!(push(0.0).z > 0.0);
        assert!(push(0.01).x < 0.0 && push(-0.01).x > 0.0);
        assert!((push(1e-9) - push(-1e-9)).length() < 1e-8);
    }

    #[test]
    fn a_ball_on_a_smaller_hole_sits_on_its_rim() {
        let plate = Revolved::annulus(Vec3::ZERO, Vec3::Z, 0.2, 1.0).unwrap();
        let out = touches(&plate, Vec3::new(0.0, 0.0, 0.2), 0.3);
        assert_eq!(out.iter().map(|t| t.feature).collect::<Vec<_>>(), vec![1, 4]);
        let push: Vec3 = out.iter().map(|t| -t.overlap * t.normal).sum();
        assert!(push.truncate().length() < 1e-16 && push.z > 0.0);
        // On the plate beside the hole there is one flat contact.
        let beside = touches(&plate, Vec3::new(0.21, 0.0, 0.28), 0.3);
        assert_eq!((beside.len(), beside[0].feature, beside[0].curvature), (1, 0, [0.0, 0.0]));
    }

    #[test]
    fn a_grain_rolls_over_the_centre_of_a_disc_in_one_steady_contact() {
        let disc = Revolved::disc(Vec3::ONE, Vec3::new(0.0, 0.0, 4.0), 0.5).unwrap();
        for x in [-0.3, -1e-3, -1e-17, 0.0, 1e-16, 1e-9, 0.2] {
            let out = touches(&disc, Vec3::ONE + Vec3::new(x, 0.5 * x, 0.09), 0.1);
            assert_eq!((out.len(), out[0].feature), (1, 0));
            assert!((out[0].overlap - 0.01).abs() < 1e-15);
            assert!((out[0].normal - Vec3::NEG_Z).length() < 1e-15);
        }
        let rim = touches(&disc, Vec3::ONE + Vec3::new(0.55, 0.0, 0.0), 0.1);
        assert_eq!((rim.len(), rim[0].feature), (1, 2));
        assert!((rim[0].point - Vec3::new(1.5, 1.0, 1.0)).length() < 1e-15);
    }

    #[test]
    fn profiles_without_surface_are_refused() {
        for profile in [[(0.0, 1.0), (0.0, 1.0)], [(0.0, 0.0), (1.0, 0.0)], [(0.0, -1.0), (1.0, 1.0)]] {
            assert!(matches!(Revolved::new(Vec3::ZERO, Vec3::Z, profile), Err(SurfaceError::BadProfile { .. })));
        }
        assert!(Revolved::cylinder(Vec3::X, Vec3::X, 1.0).is_err());
        assert!(Revolved::cylinder(Vec3::X, Vec3::Y, f64::NAN).is_err());
    }

    proptest! {
        #[test]
        fn the_distance_is_that_of_the_nearest_of_many_sampled_points(
            s0 in -1.0..1.0f64, rho0 in 0.0..1.0f64, s1 in -1.0..1.0f64, rho1 in 0.0..1.0f64,
            axis in (-1.0..1.0f64, -1.0..1.0f64, 0.2..1.0f64), p in (-2.0..2.0f64, -2.0..2.0f64, -2.0..2.0f64),
        ) {
            let surface = Revolved::new(Vec3::new(0.1, -0.2, 0.3), axis.into(), [(s0, rho0), (s1, rho1)]).unwrap();
            let p: Vec3 = p.into();
            let (u, v) = surface.axis.any_orthonormal_pair();
            let n = 150;
            let mut sampled = f64::INFINITY;
            for i in 0..=n {
                let w = f64::from(i) / f64::from(n);
                let (s, rho) = (s0 + w * (s1 - s0), rho0 + w * (rho1 - rho0));
                for k in 0..2 * n {
                    let (sin, cos) = (std::f64::consts::PI * f64::from(k) / f64::from(n)).sin_cos();
                    let q = surface.origin + s * surface.axis + rho * (cos * u + sin * v);
                    prop_assert!(i > 0 || surface.bounds().grown(1e-12).contains(q));
                    sampled = sampled.min(q.distance(p));
                }
            }
            let exact = surface.distance(p);
            prop_assert!(exact <= sampled + 1e-13);
            prop_assert!(sampled - exact < 4.0 / f64::from(n));
            let deepest = touches(&surface, p, exact + 0.1).iter().map(|t| t.overlap).fold(0.0, f64::max);
            prop_assert!((deepest - 0.1).abs() < 1e-13);
        }
    }
}
