//! The sphere as a wall: a ball mill's vessel from inside, a fixed ball from outside.

use super::SurfaceError;
use super::surface::{WallTouch, finite, positive};
use crate::math::{Aabb, Vec3};

/// Divisions of the half circle in pictures.
const PICTURE_RINGS: u32 = 24;

/// A thin spherical wall, touched from inside or outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shell {
    /// Centre of the sphere \[m\].
    pub centre: Vec3,
    /// Its radius \[m\].
    pub radius: f64,
}

impl Shell {
    /// The sphere about a centre.
    pub fn new(centre: Vec3, radius: f64) -> Result<Shell, SurfaceError> {
        Ok(Shell { centre: finite("centre of the shell", centre)?, radius: positive("radius of the shell", radius)? })
    }

    /// Distance from a point to the wall \[m\].
    pub fn distance(&self, point: Vec3) -> f64 {
        ((point - self.centre).length() - self.radius).abs()
    }

    /// Appends the contacts of a sphere: feature 0 is the nearest point of the wall. A grain larger than the shell
    /// around it touches the opposite point too (feature 1), so that the two pushes balance in the middle.
    pub fn touches(&self, centre: Vec3, radius: f64, out: &mut Vec<WallTouch>) {
        let offset = centre - self.centre;
        let d = offset.length();
        let overlap = radius - (d - self.radius).abs();
        if overlap <= 0.0 {
            return;
        }
        // A grain exactly in the middle is equally near everywhere: let it touch the wall below.
        let outward = if d > 0.0 { offset / d } else { Vec3::NEG_Z };
        let inside = d < self.radius;
        let touch = |feature: u32, normal: Vec3, overlap: f64, place: Vec3, curvature: f64| WallTouch {
            feature,
            normal,
            overlap,
            point: self.centre + self.radius * place,
            curvature: [curvature; 2],
        };
        if !inside {
            out.push(touch(0, -outward, overlap, outward, 1.0 / self.radius));
            return;
        }
        out.push(touch(0, outward, overlap, outward, -1.0 / self.radius));
        let opposite = radius - (self.radius + d);
        if opposite > 0.0 {
            out.push(touch(1, -outward, opposite, -outward, -1.0 / self.radius));
        }
    }

    /// Smallest box around the wall.
    pub fn bounds(&self) -> Aabb {
        Aabb { min: self.centre, max: self.centre }.grown(self.radius)
    }

    /// A globe of meridians and parallels.
    pub(super) fn triangles(&self) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let around = 2 * PICTURE_RINGS;
        let mut vertices = Vec::new();
        let mut triangles = Vec::new();
        for ring in 0..=PICTURE_RINGS {
            let (sin, cos) = (std::f64::consts::PI * f64::from(ring) / f64::from(PICTURE_RINGS)).sin_cos();
            for k in 0..around {
                let (y, x) = (std::f64::consts::TAU * f64::from(k) / f64::from(around)).sin_cos();
                vertices.push(self.centre + self.radius * Vec3::new(sin * x, sin * y, cos));
                if ring < PICTURE_RINGS {
                    let (a, b) = (ring * around + k, ring * around + (k + 1) % around);
                    // At the poles one of the two triangles has no area.
                    if ring > 0 {
                        triangles.push([a, a + around, b]);
                    }
                    if ring + 1 < PICTURE_RINGS {
                        triangles.push([b, a + around, b + around]);
                    }
                }
            }
        }
        (vertices, triangles)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Plane;
    use super::*;

    fn touches(shell: &Shell, centre: Vec3, radius: f64) -> Vec<WallTouch> {
        let mut out = Vec::new();
        shell.touches(centre, radius, &mut out);
        out
    }

    #[test]
    fn a_grain_in_a_drum_feels_negative_curvature() {
        // The kiln of Džiugys & Peters: R_i = 0.05 m, R_w = -1.5 m give R* = 0.05172 m.
        let shell = Shell::new(Vec3::ZERO, 1.5).unwrap();
        let out = touches(&shell, Vec3::new(1.46, 0.0, 0.0), 0.05);
        assert_eq!(out.len(), 1);
        assert_eq!(out[0].normal, Vec3::X);
        assert!((out[0].overlap - 0.01).abs() < 1e-15);
        let effective = 1.0 / (1.0 / 0.05 + out[0].curvature[0]);
        assert!((effective - 0.05172).abs() < 1e-5);
        // From outside the same wall bulges towards the grain.
        let out = touches(&shell, Vec3::new(0.0, -1.54, 0.0), 0.05);
        assert_eq!(out[0].normal, Vec3::Y);
        assert_eq!(out[0].point, Vec3::new(0.0, -1.5, 0.0));
        assert_eq!(out[0].curvature, [1.0 / 1.5; 2]);
    }

    #[test]
    fn a_plane_is_the_limit_of_a_huge_shell() {
        let radius = 0.37;
        let big = 1e6 * radius;
        let normal = Vec3::new(0.48, -0.6, 0.64);
        let plane = Plane::new(Vec3::ZERO, normal).unwrap();
        let below = Shell::new(-big * normal, big).unwrap();
        let around = Shell::new(big * normal, big).unwrap();
        for (along, height) in [(0.0, 0.36), (0.05, 0.3), (-0.1, 0.369)] {
            let tangent = normal.any_orthonormal_vector();
            let centre = height * normal + along * tangent;
            let mut flat = Vec::new();
            plane.touches(centre, radius, &mut flat);
            for shell in [below, around] {
                let out = touches(&shell, centre, radius);
                assert_eq!(out.len(), 1);
                assert!((out[0].overlap - flat[0].overlap).abs() < 1e-6 * radius);
                assert!((out[0].normal - flat[0].normal).length() < 1e-6);
                assert!((out[0].point - flat[0].point).length() < 1e-6 * radius);
                assert!(out[0].curvature[0].abs() * radius <= 1.0001e-6);
            }
        }
    }

    #[test]
    fn a_grain_too_large_for_its_shell_is_balanced_in_the_middle() {
        let shell = Shell::new(Vec3::ONE, 1.0).unwrap();
        let out = touches(&shell, Vec3::ONE, 1.25);
        assert_eq!(out.len(), 2);
        let push: Vec3 = out.iter().map(|t| -t.overlap * t.normal).sum();
        assert_eq!(push, Vec3::ZERO);
    }
}
