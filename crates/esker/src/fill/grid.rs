//! Grains laid down so far, found by place.
//!
//! A hashed grid without bounds: cells are one largest diameter wide, and grains of each octave of size have a grid of
//! their own, so that a few large grains do not make cells of many small ones. Insertion and a query of a size like that of
//! the grains are O(1). Compared with the naive search in the tests.

use super::{Obstacles, Placed, Push};
use crate::math::{Aabb, Vec3};

const NONE: u32 = u32::MAX;

/// Placed grains as obstacles for the next ones.
#[derive(Clone, Debug)]
pub struct Grains {
    planar: bool,
    /// Grains of level k have radii in (r_max / 2^(k+1), r_max / 2^k] \[m\].
    r_max: f64,
    grains: Vec<Placed>,
    cells: Vec<Cell>,
    /// Next grain in the same bucket.
    next: Vec<u32>,
    /// First grain of each bucket; as many as a power of two.
    heads: Vec<u32>,
    levels: Vec<Level>,
    centres: Aabb,
}

/// The grains of one octave of size.
#[derive(Clone, Debug)]
struct Level {
    level: i32,
    members: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    level: i32,
    x: i32,
    y: i32,
    z: i32,
}

impl Cell {
    fn bucket(self, buckets: usize) -> usize {
        let mut h = self.x as u32 as u64 | (self.y as u32 as u64) << 32;
        h = h.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (self.z as u32 as u64 | (self.level as u32 as u64) << 32);
        h = (h ^ (h >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (h >> 32) as usize & (buckets - 1)
    }
}

impl Grains {
    /// No grains yet. `r_max` \[m\] is the usual largest radius; larger ones are allowed.
    pub fn new(r_max: f64, planar: bool) -> Grains {
        Grains {
            planar,
            r_max,
            grains: Vec::new(),
            cells: Vec::new(),
            next: Vec::new(),
            heads: vec![NONE; 64],
            levels: Vec::new(),
            centres: Aabb::EMPTY,
        }
    }

    /// The grains, in the order they were added.
    pub fn as_slice(&self) -> &[Placed] {
        &self.grains
    }

    /// The smallest box around all centres \[m\].
    pub fn centres(&self) -> Aabb {
        self.centres
    }

    /// Adds a grain.
    pub fn push(&mut self, grain: Placed) {
        if self.grains.len() >= self.heads.len() {
            self.grow();
        }
        let level = (self.r_max / grain.radius).log2().floor() as i32;
        let level = if self.size(level) < grain.radius { level - 1 } else { level };
        let cell = self.cell(grain.centre, level);
        let bucket = cell.bucket(self.heads.len());
        self.next.push(self.heads[bucket]);
        self.heads[bucket] = self.grains.len() as u32;
        let place = self.levels.binary_search_by_key(&level, |l| l.level).unwrap_or_else(|place| {
            self.levels.insert(place, Level { level, members: Vec::new() });
            place
        });
        self.levels[place].members.push(self.grains.len() as u32);
        self.cells.push(cell);
        self.grains.push(grain);
        self.centres = self.centres.including(grain.centre);
    }

    /// Whether a sphere overlaps no grain.
    pub fn is_free(&self, centre: Vec3, radius: f64) -> bool {
        let mut free = true;
        self.visit(centre, radius, |_, _| {
            free = false;
            false
        });
        free
    }

    /// Largest radius of a level \[m\].
    fn size(&self, level: i32) -> f64 {
        self.r_max * 2f64.powi(-level)
    }

    fn cell(&self, p: Vec3, level: i32) -> Cell {
        let width = 2.0 * self.size(level);
        let index = |x: f64| (x / width).floor() as i32;
        Cell { level, x: index(p.x), y: index(p.y), z: if self.planar { 0 } else { index(p.z) } }
    }

    fn grow(&mut self) {
        let buckets = 4 * self.heads.len();
        self.heads = vec![NONE; buckets];
        for i in 0..self.cells.len() {
            let bucket = self.cells[i].bucket(buckets);
            self.next[i] = self.heads[bucket];
            self.heads[bucket] = i as u32;
        }
    }

    /// Calls `found(grain, squared distance)` for each grain that the sphere overlaps, until it returns false.
    fn visit(&self, centre: Vec3, radius: f64, mut found: impl FnMut(&Placed, f64) -> bool) {
        // Returns whether to go on.
        let mut meet = |g: &Placed| {
            let (touch, d2) = (radius + g.radius, g.centre.distance_squared(centre));
            d2 >= touch * touch || found(g, d2)
        };
        for &Level { level, ref members } in &self.levels {
            let reach = Vec3::splat(radius + self.size(level));
            let (low, high) = ((centre - reach).max(self.centres.min), (centre + reach).min(self.centres.max));
            if low.x > high.x || low.y > high.y || (!self.planar && low.z > high.z) {
                continue;
            }
            let (a, b) = (self.cell(low, level), self.cell(high, level));
            // A large sphere among few small grains: asking each is cheaper than looking into each cell.
            let count = |a: i32, b: i32| f64::from(b) - f64::from(a) + 1.0;
            if count(a.x, b.x) * count(a.y, b.y) * count(a.z, b.z) > members.len() as f64 {
                if !members.iter().all(|&i| meet(&self.grains[i as usize])) {
                    return;
                }
                continue;
            }
            for z in a.z..=b.z {
                for y in a.y..=b.y {
                    for x in a.x..=b.x {
                        let cell = Cell { level, x, y, z };
                        let mut i = self.heads[cell.bucket(self.heads.len())];
                        while i != NONE {
                            // A bucket may hold grains of other cells too.
                            if self.cells[i as usize] == cell && !meet(&self.grains[i as usize]) {
                                return;
                            }
                            i = self.next[i as usize];
                        }
                    }
                }
            }
        }
    }
}

impl Obstacles for Grains {
    fn overlaps(&self, centre: Vec3, radius: f64, out: &mut Vec<Push>) {
        self.visit(centre, radius, |g, d2| {
            let distance = d2.sqrt();
            // Two equal centres have no direction; any will do.
            let direction = if distance > 0.0 { (centre - g.centre) / distance } else { Vec3::X };
            out.push(Push { direction, depth: radius + g.radius - distance });
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    #[test]
    fn the_grid_finds_the_same_overlaps_as_the_naive_search() {
        for planar in [true, false] {
            let mut s = Stream::new(9, Purpose::Noise, 0);
            let mut grains = Grains::new(0.1, planar);
            let place = |s: &mut Stream| s.in_ball(planar);
            for _ in 0..3000 {
                let radius = 0.2 * s.uniform().powi(3) + 1e-3; // four octaves and some above r_max
                grains.push(Placed { centre: place(&mut s), radius });
            }
            let mut total = 0;
            for _ in 0..500 {
                let (c, r) = (place(&mut s), 0.3 * s.uniform());
                let mut out = Vec::new();
                grains.overlaps(c, r, &mut out);
                let mut depth: Vec<f64> = out.iter().map(|p| p.depth).collect();
                let mut naive: Vec<f64> = (grains.as_slice().iter())
                    .map(|g| r + g.radius - g.centre.distance(c))
                    .filter(|d| *d > 1e-14)
                    .collect();
                depth.sort_by(f64::total_cmp);
                naive.sort_by(f64::total_cmp);
                assert_eq!(depth.len(), naive.len());
                assert!(depth.iter().zip(&naive).all(|(a, b)| (a - b).abs() < 1e-12));
                assert_eq!(grains.is_free(c, r), naive.is_empty());
                total += naive.len();
            }
            assert!(total > 1000);
        }
    }
}
