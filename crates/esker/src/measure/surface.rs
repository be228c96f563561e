//! The free surface of a bed: its profile by bins, and the straight line through it.

use crate::math::Vec3;
use crate::particles::Particles;
use std::ops::Range;

/// Equal bins along a direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Bins {
    /// Unit vector along which the bins lie.
    pub along: Vec3,
    /// Unit vector along which heights are measured.
    pub up: Vec3,
    /// From where to where they reach \[m\].
    pub range: Range<f64>,
    /// How many.
    pub count: usize,
}

/// Surface over one bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfacePoint {
    /// Middle of the bin \[m\].
    pub at: f64,
    /// Highest point of the grains centred in the bin \[m\].
    pub height: f64,
}

impl Bins {
    /// Bins over x with heights along y, as planar scenes need them.
    pub fn planar(range: Range<f64>, count: usize) -> Self {
        Self { along: Vec3::X, up: Vec3::Y, range, count }
    }

    /// Width of a bin \[m\].
    pub fn width(&self) -> f64 {
        (self.range.end - self.range.start) / self.count as f64
    }

    /// The bin that holds a point.
    pub fn of(&self, point: Vec3) -> Option<usize> {
        let k = ((point.dot(self.along) - self.range.start) / self.width()).floor();
        (k >= 0.0 && k < self.count as f64).then_some(k as usize)
    }

    /// Surface by bins, of the grains that `counts` accepts by their index; bins without grains are left out.
    ///
    /// The height of a bin is the highest point of any grain centred in it, so the bins should be a little wider than
    /// the largest diameter: in narrower ones a grain of a lower layer may stand for the surface.
    pub fn surface(&self, p: &Particles, counts: impl Fn(usize) -> bool) -> Vec<SurfacePoint> {
        let mut heights = vec![f64::NEG_INFINITY; self.count];
        for i in (0..p.owned()).filter(|&i| counts(i)) {
            if let Some(k) = self.of(p.position(i)) {
                heights[k] = heights[k].max(p.position(i).dot(self.up) + p.radius(i));
            }
        }
        let middle = |k: usize| self.range.start + (k as f64 + 0.5) * self.width();
        let filled = heights.into_iter().enumerate().filter(|(_, height)| height.is_finite());
        filled.map(|(k, height)| SurfacePoint { at: middle(k), height }).collect()
    }
}

/// The straight line nearest to a surface, and how far the surface leaves it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceLine {
    /// Mean height \[m\].
    pub mean: f64,
    /// Rise over run \[-\].
    pub slope: f64,
    /// Root mean square distance from the line, along the height \[m\].
    pub roughness: f64,
}

impl SurfaceLine {
    /// Least squares through the points; `None` for fewer than two.
    pub fn through(points: &[SurfacePoint]) -> Option<Self> {
        if points.len() < 2 {
            return None;
        }
        let n = points.len() as f64;
        let mean_at = points.iter().map(|p| p.at).sum::<f64>() / n;
        let mean = points.iter().map(|p| p.height).sum::<f64>() / n;
        let run = points.iter().map(|p| (p.at - mean_at).powi(2)).sum::<f64>();
        let slope = points.iter().map(|p| (p.at - mean_at) * (p.height - mean)).sum::<f64>() / run;
        let off = points.iter().map(|p| (p.height - mean - slope * (p.at - mean_at)).powi(2)).sum::<f64>();
        Some(Self { mean, slope, roughness: (off / n).sqrt() })
    }

    /// Inclination \[rad\].
    pub fn inclination(&self) -> f64 {
        self.slope.atan()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::particles::{NewGrain, Place};
    use proptest::prelude::*;

    fn grains(places: &[(f64, f64, f64)]) -> Particles {
        let mut p = Particles::default();
        for (id, &(x, y, radius)) in places.iter().enumerate() {
            let place = Place { position: Vec3::new(x, y, 0.0), radius };
            let still = (Vec3::ZERO, Vec3::ZERO);
            let (velocity, angular_velocity) = still;
            p.push(
                id as u64,
                NewGrain { kind: 0, place, velocity, angular_velocity, mass: 1.0, inertia: Vec3::ONE, fixed: false },
            );
        }
        p
    }

    #[test]
    fn the_surface_is_the_highest_point_in_each_bin() {
        let p = grains(&[(0.1, 0.0, 0.1), (0.2, 0.5, 0.2), (0.9, 0.3, 0.1), (2.5, 9.0, 1.0), (-0.1, 9.0, 1.0)]);
        let bins = Bins::planar(0.0..2.0, 4);
        let surface = bins.surface(&p, |_| true);
        assert_eq!(surface.len(), 2, "empty bins are left out, grains outside do not count");
        assert_eq!(surface[0], SurfacePoint { at: 0.25, height: 0.7 });
        assert_eq!(surface[1], SurfacePoint { at: 0.75, height: 0.4 });
        let without_the_highest = bins.surface(&p, |i| i != 1);
        assert_eq!(without_the_highest[0].height, 0.1);
    }

    #[test]
    fn roughness_of_a_zigzag_is_its_amplitude() {
        let points: Vec<SurfacePoint> = (0..1000)
            .map(|k| SurfacePoint { at: f64::from(k), height: 3.0 + if k % 2 == 0 { 0.2 } else { -0.2 } })
            .collect();
        let line = SurfaceLine::through(&points).unwrap();
        assert!((line.roughness - 0.2).abs() < 1e-6 && line.slope.abs() < 1e-5, "{line:?}");
        assert_eq!(SurfaceLine::through(&points[..1]), None);
    }

    proptest! {
        #[test]
        fn a_straight_slope_is_found_exactly(slope in -3.0..3.0f64, height in -2.0..2.0f64, n in 2usize..50) {
            let points: Vec<SurfacePoint> =
                (0..n).map(|k| SurfacePoint { at: 0.1 * k as f64, height: height + slope * 0.1 * k as f64 }).collect();
            let line = SurfaceLine::through(&points).unwrap();
            prop_assert!((line.slope - slope).abs() < 1e-9 && line.roughness < 1e-9);
            prop_assert!((line.inclination() - slope.atan()).abs() < 1e-9);
        }

        #[test]
        fn every_grain_in_range_lies_below_the_surface(
            places in prop::collection::vec((0.0..1.0f64, -1.0..1.0f64, 0.01..0.2f64), 1..60)
        ) {
            let p = grains(&places);
            let bins = Bins::planar(0.0..1.0, 7);
            let surface = bins.surface(&p, |_| true);
            for i in 0..p.owned() {
                let k = bins.of(p.position(i)).unwrap();
                let middle = (k as f64 + 0.5) / 7.0;
                let over = surface.iter().find(|s| (s.at - middle).abs() < 1e-9).unwrap();
                prop_assert!(over.height >= p.position(i).y + p.radius(i));
            }
        }
    }
}
