//! The half-space: the only wall with an inside.

use super::SurfaceError;
use super::surface::{WallTouch, direction, finite};
use crate::math::{Aabb, Vec3};

/// An infinite flat wall. Grains live on the side its normal points to; a centre behind it is still pushed out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// Any point of the plane \[m\].
    pub point: Vec3,
    /// Unit normal towards the grains.
    pub normal: Vec3,
}

impl Plane {
    /// The one feature of a plane.
    pub const FEATURE: u32 = 0;

    /// The plane through a point; the normal may have any length.
    pub fn new(point: Vec3, normal: Vec3) -> Result<Plane, SurfaceError> {
        Ok(Plane { point: finite("point of the plane", point)?, normal: direction("normal of the plane", normal)? })
    }

    /// Height of a point above the plane, negative behind it \[m\].
    pub fn distance(&self, point: Vec3) -> f64 {
        (point - self.point).dot(self.normal)
    }

    /// Appends the contact of a sphere, if any.
    pub fn touches(&self, centre: Vec3, radius: f64, out: &mut Vec<WallTouch>) {
        let height = self.distance(centre);
        let overlap = radius - height;
        if overlap > 0.0 {
            let point = centre - height * self.normal;
            out.push(WallTouch { feature: Self::FEATURE, normal: -self.normal, overlap, point, curvature: [0.0; 2] });
        }
    }

    /// Two triangles that cover the shadow of `clip` on the plane; none if `clip` is empty or infinite.
    pub(super) fn triangles(&self, clip: Aabb) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        if !clip.min.is_finite() || !clip.max.is_finite() || clip.min.cmpgt(clip.max).any() {
            return (Vec::new(), Vec::new());
        }
        let (u, v) = self.normal.any_orthonormal_pair();
        let foot = |p: Vec3| ((p - self.point).dot(u), (p - self.point).dot(v));
        let (mut low, mut high) = ((f64::INFINITY, f64::INFINITY), (f64::NEG_INFINITY, f64::NEG_INFINITY));
        for corner in 0..8 {
            let pick = |bit: usize, low: f64, high: f64| if corner >> bit & 1 == 0 { low } else { high };
            let (a, b) = foot(Vec3::new(
                pick(0, clip.min.x, clip.max.x),
                pick(1, clip.min.y, clip.max.y),
                pick(2, clip.min.z, clip.max.z),
            ));
            low = (low.0.min(a), low.1.min(b));
            high = (high.0.max(a), high.1.max(b));
        }
        let at = |a: f64, b: f64| self.point + a * u + b * v;
        let vertices = vec![at(low.0, low.1), at(high.0, low.1), at(high.0, high.1), at(low.0, high.1)];
        (vertices, vec![[0, 1, 2], [0, 2, 3]])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grain_behind_a_plane_is_still_pushed_out() {
        let plane = Plane::new(Vec3::new(0.0, 0.0, 1.0), Vec3::new(0.0, 0.0, 3.0)).unwrap();
        let mut out = Vec::new();
        plane.touches(Vec3::new(5.0, 2.0, 0.75), 0.5, &mut out);
        assert_eq!(out.len(), 1);
        assert_eq!(out[0].overlap, 0.75);
        assert_eq!(out[0].normal, Vec3::NEG_Z);
        assert_eq!(out[0].point, Vec3::new(5.0, 2.0, 1.0));
    }

    #[test]
    fn the_picture_of_a_plane_lies_in_it_and_covers_the_clip_box() {
        let plane = Plane::new(Vec3::new(0.3, 0.0, 0.2), Vec3::new(1.0, 2.0, -0.5)).unwrap();
        let (vertices, triangles) = plane.triangles(Aabb { min: Vec3::splat(-1.0), max: Vec3::splat(2.0) });
        assert_eq!(triangles, vec![[0, 1, 2], [0, 2, 3]]);
        assert!(vertices.iter().all(|v| plane.distance(*v).abs() < 1e-14));
        // Fronts face the grains.
        let front = (vertices[1] - vertices[0]).cross(vertices[2] - vertices[0]);
        assert!(front.dot(plane.normal) > 0.0);
    }

    #[test]
    fn a_plane_without_direction_is_refused() {
        assert!(matches!(Plane::new(Vec3::ZERO, Vec3::ZERO), Err(SurfaceError::NoDirection { .. })));
        assert!(matches!(Plane::new(Vec3::NAN, Vec3::Z), Err(SurfaceError::NotFinite { .. })));
    }
}
