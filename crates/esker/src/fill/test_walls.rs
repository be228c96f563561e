//! Simple walls for the tests of this module.

use super::{Obstacles, Push};
use crate::math::Vec3;

/// Free space on the side of the normal.
pub struct HalfSpace {
    pub point: Vec3,
    pub normal: Vec3,
}

impl Obstacles for HalfSpace {
    fn overlaps(&self, centre: Vec3, radius: f64, out: &mut Vec<Push>) {
        let depth = radius - (centre - self.point).dot(self.normal);
        if depth > 0.0 {
            out.push(Push { direction: self.normal, depth });
        }
    }
}

/// Thin segments from point to point.
pub struct Polyline(pub Vec<Vec3>);

impl Obstacles for Polyline {
    fn overlaps(&self, centre: Vec3, radius: f64, out: &mut Vec<Push>) {
        for pair in self.0.windows(2) {
            let along = pair[1] - pair[0];
            let t = ((centre - pair[0]).dot(along) / along.length_squared()).clamp(0.0, 1.0);
            let away = centre - (pair[0] + along * t);
            let distance = away.length();
            if distance < radius {
                out.push(Push { direction: away / distance, depth: radius - distance });
            }
        }
    }
}

/// Inside of a round pipe along z through the origin.
pub struct Pipe(pub f64);

impl Obstacles for Pipe {
    fn overlaps(&self, centre: Vec3, radius: f64, out: &mut Vec<Push>) {
        let across = Vec3::new(centre.x, centre.y, 0.0);
        let depth = across.length() + radius - self.0;
        if depth > 0.0 {
            out.push(Push { direction: -across.normalize_or(Vec3::X), depth });
        }
    }
}

/// Largest overlap with the obstacles and between the grains \[m\], by the naive search along x.
pub fn largest_overlap(grains: &[super::Placed], walls: &dyn Obstacles) -> f64 {
    let mut sorted = grains.to_vec();
    sorted.sort_by(|a, b| a.centre.x.total_cmp(&b.centre.x));
    let r_max = grains.iter().map(|g| g.radius).fold(0.0, f64::max);
    let mut worst = 0.0f64;
    let mut out = Vec::new();
    for (i, a) in sorted.iter().enumerate() {
        for b in &sorted[i + 1..] {
            if b.centre.x - a.centre.x > 2.0 * r_max {
                break;
            }
            worst = worst.max(a.radius + b.radius - a.centre.distance(b.centre));
        }
        out.clear();
        walls.overlaps(a.centre, a.radius, &mut out);
        worst = out.iter().map(|p| p.depth).fold(worst, f64::max);
    }
    worst
}
