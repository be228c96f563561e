//! Simple regions of space: where grains are created, counted or removed.
//!
//! In a planar scene a region stands for its trace in the x-y plane: z is ignored, a sphere is a disc, a cylinder along
//! z is a disc, a cylinder in the plane is a rectangle ([`Region::flattened`]).

use crate::math::{Aabb, Vec3};
use crate::rng::Stream;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use thiserror::Error;

/// A region of space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Region {
    /// A box along the axes.
    Box(Aabb),
    /// A solid cylinder with flat ends.
    Cylinder {
        /// Centre of one end \[m\].
        from: Vec3,
        /// Centre of the other end \[m\].
        to: Vec3,
        /// Radius \[m\].
        radius: f64,
    },
    /// A solid sphere.
    Sphere {
        /// Centre \[m\].
        centre: Vec3,
        /// Radius \[m\].
        radius: f64,
    },
    /// All of space.
    Everything,
}

/// Why a region cannot be used.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RegionError {
    /// No grain of this size fits.
    #[error(
        "a grain of radius {radius} m does not fit into the region {region:?}; enlarge the region or take smaller grains"
    )]
    TooSmall {
        /// Radius of the grain \[m\].
        radius: f64,
        /// The region.
        region: Region,
    },
    /// A size is negative, zero or not a number, or the corners are swapped.
    #[error("the region {region:?} is empty or not finite; give min below max, distinct ends and positive radii")]
    Malformed {
        /// The region.
        region: Region,
    },
    /// A random place was asked for in all of space.
    #[error("the region is unbounded, so no random place can be drawn in it; give a box, a cylinder or a sphere")]
    Unbounded,
    /// A cylinder neither along z nor in the x-y plane has no simple trace in a planar scene.
    #[error(
        "the cylinder from {from} to {to} is oblique to the x-y plane of a planar scene; turn it along z or into the plane, or use a box"
    )]
    Oblique {
        /// Centre of one end \[m\].
        from: Vec3,
        /// Centre of the other end \[m\].
        to: Vec3,
    },
}

/// Half-widths that come out negative by less than this part of the radius are rounding: the grain just fits.
const JUST_FITS: f64 = 1e-9;

impl Region {
    /// Checks that sizes are positive and finite.
    pub fn check(&self, planar: bool) -> Result<(), RegionError> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let sound = match self {
            Region::Box(b) => {
                let s = b.size();
                positive(s.x)
                    && positive(s.y)
                    && (planar || positive(s.z))
                    && b.min.x.is_finite()
                    && b.min.y.is_finite()
            }
            Region::Cylinder { from, to, radius } => {
                positive(*radius) && from.is_finite() && to.is_finite() && positive(from.distance(*to))
            }
            Region::Sphere { centre, radius } => positive(*radius) && centre.is_finite(),
            Region::Everything => true,
        };
        if !sound {
            return Err(RegionError::Malformed { region: self.clone() });
        }
        if planar { self.flattened().map(|_| ()) } else { Ok(()) }
    }

    /// The trace in the x-y plane, at z = 0.
    pub fn flattened(&self) -> Result<Region, RegionError> {
        let flat = |v: Vec3| Vec3::new(v.x, v.y, 0.0);
        Ok(match *self {
            Region::Box(b) => Region::Box(Aabb { min: flat(b.min), max: flat(b.max) }),
            Region::Cylinder { from, to, radius } => {
                let (along, across) = ((to.z - from.z).abs(), flat(to - from).length());
                if across <= 1e-9 * along {
                    Region::Sphere { centre: flat(from), radius }
                } else if along <= 1e-9 * across {
                    Region::Cylinder { from: flat(from), to: flat(to), radius }
                } else {
                    return Err(RegionError::Oblique { from, to });
                }
            }
            Region::Sphere { centre, radius } => Region::Sphere { centre: flat(centre), radius },
            Region::Everything => Region::Everything,
        })
    }

    /// Whether the point lies inside or on the surface. When `planar`, z is ignored; an oblique cylinder, which has no
    /// simple trace, is then cut by the plane z = 0.
    pub fn contains(&self, point: Vec3, planar: bool) -> bool {
        if planar {
            let point = Vec3::new(point.x, point.y, 0.0);
            return match self.flattened() {
                Ok(flat) => flat.contains(point, false),
                Err(_) => self.contains(point, false),
            };
        }
        match *self {
            Region::Box(b) => b.contains(point),
            Region::Cylinder { from, to, radius } => {
                let axis = (to - from).normalize_or_zero();
                let along = (point - from).dot(axis);
                let across = point - from - axis * along;
                along >= 0.0 && along <= from.distance(to) && across.length_squared() <= radius * radius
            }
            Region::Sphere { centre, radius } => point.distance_squared(centre) <= radius * radius,
            Region::Everything => true,
        }
    }

    /// Volume \[m³\], or area of the trace \[m²\] when `planar`; infinite for all of space.
    pub fn measure(&self, planar: bool) -> Result<f64, RegionError> {
        Ok(match if planar { self.flattened()? } else { self.clone() } {
            Region::Box(b) if planar => (b.size().x * b.size().y).max(0.0),
            Region::Box(b) => b.volume(),
            Region::Cylinder { from, to, radius } if planar => 2.0 * radius * from.distance(to),
            Region::Cylinder { from, to, radius } => PI * radius * radius * from.distance(to),
            Region::Sphere { radius, .. } if planar => PI * radius * radius,
            Region::Sphere { radius, .. } => 4.0 / 3.0 * PI * radius.powi(3),
            Region::Everything => f64::INFINITY,
        })
    }

    /// The smallest box around the region; infinite for all of space.
    pub fn bounds(&self) -> Aabb {
        match *self {
            Region::Box(b) => b,
            Region::Cylinder { from, to, radius } => {
                let axis = (to - from).normalize_or_zero();
                // The rim of a disc with normal a reaches sqrt(1 - a_k^2) radii along axis k.
                let reach = (Vec3::ONE - axis * axis).max(Vec3::ZERO).map(f64::sqrt) * radius;
                Aabb { min: from.min(to) - reach, max: from.max(to) + reach }
            }
            Region::Sphere { centre, radius } => {
                Aabb { min: centre - Vec3::splat(radius), max: centre + Vec3::splat(radius) }
            }
            Region::Everything => Aabb { min: Vec3::NEG_INFINITY, max: Vec3::INFINITY },
        }
    }

    /// Where the centre of a sphere of this radius \[m\] may lie when all of it is inside. When `planar`, a disc at z = 0.
    pub fn shrunk(&self, radius: f64, planar: bool) -> Result<Region, RegionError> {
        let too_small = || RegionError::TooSmall { radius, region: self.clone() };
        // A length that is left over after the grain took its share; a rounding error below zero is zero.
        let left = |length: f64| match length {
            l if l >= 0.0 => Ok(l),
            l if l >= -JUST_FITS * radius => Ok(0.0),
            _ => Err(too_small()),
        };
        Ok(match if planar { self.flattened()? } else { self.clone() } {
            Region::Box(b) => {
                let (centre, half) = (0.5 * (b.min + b.max), 0.5 * b.size());
                let z = if planar { 0.0 } else { left(half.z - radius)? };
                let half = Vec3::new(left(half.x - radius)?, left(half.y - radius)?, z);
                Region::Box(Aabb { min: centre - half, max: centre + half })
            }
            Region::Cylinder { from, to, radius: outer } => {
                let half = left(0.5 * from.distance(to) - radius)?;
                let (centre, axis) = (0.5 * (from + to), (to - from).normalize_or_zero());
                Region::Cylinder { from: centre - axis * half, to: centre + axis * half, radius: left(outer - radius)? }
            }
            Region::Sphere { centre, radius: outer } => Region::Sphere { centre, radius: left(outer - radius)? },
            Region::Everything => Region::Everything,
        })
    }

    /// A place uniform in the region for the centre of a sphere of `radius` \[m\] (0 for a point) that lies wholly inside.
    pub fn sample(&self, radius: f64, planar: bool, stream: &mut Stream) -> Result<Vec3, RegionError> {
        match self.shrunk(radius, planar)? {
            Region::Box(b) => {
                let z = if planar { 0.0 } else { stream.between(b.min.z, b.max.z) };
                Ok(Vec3::new(stream.between(b.min.x, b.max.x), stream.between(b.min.y, b.max.y), z))
            }
            Region::Cylinder { from, to, radius } => {
                let along = from.lerp(to, stream.uniform());
                let axis = (self.axis()).normalize_or_zero();
                if planar {
                    return Ok(along + axis.cross(Vec3::Z) * stream.between(-radius, radius));
                }
                let (u, v) = axis.any_orthonormal_pair();
                let place = stream.in_ball(true) * radius;
                Ok(along + u * place.x + v * place.y)
            }
            Region::Sphere { centre, radius } => Ok(centre + stream.in_ball(planar) * radius),
            Region::Everything => Err(RegionError::Unbounded),
        }
    }

    /// From end to end of a cylinder, else zero.
    fn axis(&self) -> Vec3 {
        match *self {
            Region::Cylinder { from, to, .. } => to - from,
            _ => Vec3::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    fn some_regions() -> Vec<Region> {
        vec![
            Region::Box(Aabb { min: Vec3::new(-1.0, 0.0, 2.0), max: Vec3::new(1.5, 3.0, 4.5) }),
            Region::Cylinder { from: Vec3::new(1.0, 0.0, 0.0), to: Vec3::new(2.0, 3.0, 1.0), radius: 1.2 },
            Region::Sphere { centre: Vec3::new(-3.0, 1.0, 0.5), radius: 1.4 },
        ]
    }

    #[test]
    fn volume_agrees_with_counting_points_in_the_bounds() {
        for region in some_regions() {
            let mut s = Stream::new(5, Purpose::Noise, 0);
            let bounds = region.bounds();
            let (n, mut inside) = (200_000, 0.0);
            for _ in 0..n {
                let p = Region::Box(bounds).sample(0.0, false, &mut s).unwrap();
                inside += f64::from(region.contains(p, false));
            }
            let counted = bounds.volume() * inside / f64::from(n);
            let volume = region.measure(false).unwrap();
            assert!((counted / volume - 1.0).abs() < 0.02, "{region:?}: {counted} against {volume}");
        }
    }

    #[test]
    fn a_sampled_sphere_lies_inside_and_samples_centre_on_the_region() {
        for region in some_regions() {
            let (mut s, r, n) = (Stream::new(6, Purpose::Fill, 0), 0.4, 20_000);
            let mut mean = Vec3::ZERO;
            for _ in 0..n {
                let p = region.sample(r, false, &mut s).unwrap();
                for _ in 0..3 {
                    assert!(region.contains(p + s.direction(false) * (r * (1.0 - 1e-12)), false), "{region:?} {p}");
                }
                mean += p / f64::from(n);
            }
            let bounds = region.bounds();
            assert!(mean.distance(0.5 * (bounds.min + bounds.max)) < 0.03, "{region:?}");
        }
    }

    #[test]
    fn planar_regions_ignore_z() {
        let square = Region::Box(Aabb { min: Vec3::ZERO, max: Vec3::new(2.0, 3.0, 0.0) });
        assert_eq!(square.measure(true).unwrap(), 6.0);
        assert!(square.contains(Vec3::new(1.0, 1.0, 9.0), true));
        let pipe = Region::Cylinder { from: Vec3::new(0.0, 0.0, -1.0), to: Vec3::new(0.0, 0.0, 1.0), radius: 2.0 };
        assert!((pipe.measure(true).unwrap() - 4.0 * PI).abs() < 1e-12);
        let strip = Region::Cylinder { from: Vec3::ZERO, to: Vec3::new(3.0, 4.0, 0.0), radius: 1.0 };
        assert!((strip.measure(true).unwrap() - 10.0).abs() < 1e-12);
        let mut s = Stream::new(1, Purpose::Fill, 0);
        for region in [square, pipe, strip.clone()] {
            for _ in 0..1000 {
                let p = region.sample(0.5, true, &mut s).unwrap();
                assert_eq!(p.z, 0.0);
                assert!(region.contains(p + s.direction(true) * 0.4999, true));
            }
        }
        let oblique = Region::Cylinder { from: Vec3::ZERO, to: Vec3::ONE, radius: 1.0 };
        assert!(matches!(oblique.check(true), Err(RegionError::Oblique { .. })));
        assert!(oblique.check(false).is_ok());
    }

    #[test]
    fn a_grain_that_just_fits_is_placed_in_the_middle_and_a_larger_one_is_refused() {
        let mut s = Stream::new(1, Purpose::Fill, 0);
        let slit = Region::Box(Aabb { min: Vec3::ZERO, max: Vec3::new(0.3, 0.1 + 0.2, 0.3) });
        let p = slit.sample(0.15, false, &mut s).unwrap();
        assert!((p - Vec3::splat(0.15)).length() < 1e-12);
        assert!(matches!(slit.sample(0.151, false, &mut s), Err(RegionError::TooSmall { .. })));
        assert_eq!(Region::Everything.sample(0.1, false, &mut s), Err(RegionError::Unbounded));
        let swapped = Region::Box(Aabb { min: Vec3::ONE, max: Vec3::ZERO });
        assert!(matches!(swapped.check(false), Err(RegionError::Malformed { .. })));
    }
}
