//! Grains on a cubic (planar: square) lattice, each in a cell of its own, with jitter.
//!
//! The usual start of a settling run (Džiugys & Peters 2001 fill their boxes so). A cell is used when the largest grain at
//! its middle lies in the region and clear of obstacles. Grains never leave their cells, so they never overlap.

use super::{Amount, FillError, FillReport, Filling, Placed, Setting, Sizes, check, draw_radii, is_clear, upwards};
use crate::math::{Aabb, Vec3};
use crate::region::{Region, RegionError};
use crate::rng::{Purpose, Stream, key};
use serde::{Deserialize, Serialize};

/// Which cells are filled when there are more cells than grains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Layer by layer against gravity; within a layer x fastest.
    #[default]
    BottomUp,
    /// Along x, then y, then z, whatever gravity.
    XFastest,
    /// A random choice in random order.
    Random,
}

/// A lattice fill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Lattice {
    /// Where.
    pub region: Region,
    /// How much; one grain in every free cell when not given.
    #[serde(default)]
    pub amount: Option<Amount>,
    /// Width of a cell \[m\]; the largest diameter when not given.
    #[serde(default)]
    pub spacing: Option<f64>,
    /// How far a grain may move inside its cell, as a fraction of the free space, 0 to 1.
    #[serde(default)]
    pub jitter: f64,
    /// Which cells first.
    #[serde(default)]
    pub order: Order,
}

impl Lattice {
    /// Lays the grains. `gravity` \[m/s²\] matters only for [`Order::BottomUp`].
    pub fn fill(&self, sizes: &Sizes, gravity: Vec3, setting: &Setting) -> Result<Filling, FillError> {
        let diameter = 2.0 * sizes.r_max();
        let spacing = self.spacing.unwrap_or(diameter);
        check("jitter", self.jitter, (0.0..=1.0).contains(&self.jitter), "give a fraction between 0 and 1")?;
        let wide_enough = spacing >= diameter * (1.0 - 1e-12);
        check("spacing", spacing, wide_enough, "cells must be at least as wide as the largest diameter")?;
        self.region.check(setting.planar)?;

        let cells = self.cells(spacing, sizes.r_max(), gravity, setting)?;
        let amount = self.amount.unwrap_or(Amount::Count(cells.len()));
        let radii = draw_radii(sizes, amount, &self.region, setting)?;
        let asked = radii.len();
        if asked > cells.len() {
            return Err(FillError::TooFewCells { asked, cells: cells.len(), spacing, diameter });
        }

        let mut scratch = Vec::new();
        let mut tries = 0;
        let grains = (radii.iter().zip(&cells).enumerate())
            .map(|(i, (&radius, &middle))| {
                let mut stream = Stream::new(setting.seed, Purpose::Fill, key(setting.group, i as u64));
                let mut offset = self.jitter * (0.5 * spacing - radius).max(0.0) * in_cube(&mut stream, setting.planar);
                let inside = self.region.shrunk(radius, setting.planar);
                // The middle is known to be free; draw the grain back towards it until its place is free too.
                for _ in 0..10 {
                    tries += 1;
                    let centre = middle + offset;
                    let in_region = inside.as_ref().is_ok_and(|region| region.contains(centre, setting.planar));
                    if in_region && is_clear(setting.obstacles, centre, radius, &mut scratch) {
                        return Placed { centre, radius };
                    }
                    offset *= 0.5;
                }
                Placed { centre: middle, radius }
            })
            .collect();
        Ok(Filling { grains, report: FillReport { asked, placed: asked, tries } })
    }

    /// Middles of the free cells, in the order they are filled \[m\].
    fn cells(&self, spacing: f64, r_max: f64, gravity: Vec3, setting: &Setting) -> Result<Vec<Vec3>, FillError> {
        let planar = setting.planar;
        let region = if planar { self.region.flattened()? } else { self.region.clone() };
        let Aabb { min, max } = region.bounds();
        if !(max - min).is_finite() {
            return Err(RegionError::Unbounded.into());
        }
        // A cell that is short by rounding still counts.
        let count = |length: f64| (length / spacing * (1.0 + 1e-12) + 1e-9).floor();
        let (nx, ny) = (count(max.x - min.x), count(max.y - min.y));
        let nz = if planar { 1.0 } else { count(max.z - min.z) };
        check("number of cells", nx * ny * nz, nx * ny * nz < 1e9, "the region is too large for grains this small")?;

        let inside = region.shrunk(r_max * (1.0 - 1e-9), planar)?;
        let mut scratch = Vec::new();
        let mut cells = Vec::new();
        for k in 0..nz as u32 {
            for j in 0..ny as u32 {
                for i in 0..nx as u32 {
                    let step = Vec3::new(f64::from(i), f64::from(j), f64::from(k)) + 0.5;
                    let mut middle = min + step * spacing;
                    if planar {
                        middle.z = 0.0;
                    }
                    if inside.contains(middle, planar) && is_clear(setting.obstacles, middle, r_max, &mut scratch) {
                        cells.push(middle);
                    }
                }
            }
        }
        match self.order {
            Order::XFastest => {}
            Order::BottomUp => {
                let up = upwards(gravity, planar)?;
                // Heights in millionths of a cell: rounding must not break a layer. The sort is stable.
                cells.sort_by_cached_key(|c| ((c - min).dot(up) / spacing * 1e6).round() as i64);
            }
            Order::Random => {
                let mut stream = Stream::new(setting.seed, Purpose::Shuffle, key(setting.group, 0));
                for i in 0..cells.len() {
                    let other = i + stream.below((cells.len() - i) as u64) as usize;
                    cells.swap(i, other);
                }
            }
        }
        Ok(cells)
    }
}

/// Uniform in the cube (planar: square) from -1 to 1.
fn in_cube(stream: &mut Stream, planar: bool) -> Vec3 {
    let (x, y) = (stream.between(-1.0, 1.0), stream.between(-1.0, 1.0));
    Vec3::new(x, y, if planar { 0.0 } else { stream.between(-1.0, 1.0) })
}

#[cfg(test)]
mod tests {
    use super::super::test_walls::{HalfSpace, largest_overlap};
    use super::super::{By, SizeLaw};
    use super::*;

    fn setting(planar: bool) -> Setting<'static> {
        Setting { planar, seed: 1, group: 0, obstacles: &() }
    }

    fn d01() -> (Lattice, Sizes) {
        let region = Region::Box(Aabb { min: Vec3::ZERO, max: Vec3::new(3.0, 2.0, 0.0) });
        let amount = Some(Amount::Count(500));
        let lattice = Lattice { region, amount, spacing: None, jitter: 0.0, order: Order::BottomUp };
        (lattice, SizeLaw::Uniform { min: 0.03, max: 0.05, by: By::Number }.prepare(true).unwrap())
    }

    #[test]
    fn the_box_of_dziugys_and_peters_has_600_cells_and_is_filled_from_the_bottom() {
        let (mut lattice, sizes) = d01();
        let down = Vec3::new(10.0, 0.0, 0.0);
        let filling = lattice.fill(&sizes, down, &setting(true)).unwrap();
        assert_eq!(filling.report, FillReport { asked: 500, placed: 500, tries: 500 });
        // 20 cells in a layer: 25 layers from x = 3 m upwards.
        let top = filling.grains.iter().map(|g| g.centre.x).fold(f64::INFINITY, f64::min);
        assert!((top - 0.55).abs() < 1e-12);
        lattice.amount = None;
        assert_eq!(lattice.fill(&sizes, down, &setting(true)).unwrap().report.placed, 600);
        lattice.amount = Some(Amount::Count(601));
        let refused = lattice.fill(&sizes, down, &setting(true)).unwrap_err();
        assert!(matches!(refused, FillError::TooFewCells { asked: 601, cells: 600, .. }));
    }

    #[test]
    fn jittered_grains_do_not_overlap_and_stay_in_the_region() {
        for planar in [true, false] {
            for order in [Order::BottomUp, Order::XFastest, Order::Random] {
                let region = Region::Sphere { centre: Vec3::ZERO, radius: 1.0 };
                let wall = HalfSpace { point: Vec3::ZERO, normal: Vec3::Y };
                let sizes = SizeLaw::Uniform { min: 0.02, max: 0.06, by: By::Number }.prepare(planar).unwrap();
                let lattice = Lattice { region, amount: None, spacing: Some(0.13), jitter: 1.0, order };
                let setting = Setting { obstacles: &wall, ..setting(planar) };
                let filling = lattice.fill(&sizes, Vec3::NEG_Y, &setting).unwrap();
                assert!(filling.grains.len() > 50);
                assert!(largest_overlap(&filling.grains, &wall) < 1e-9 * 0.02);
                assert!(filling.grains.iter().all(|g| g.centre.length() + g.radius <= 1.0 + 1e-12));
            }
        }
    }

    #[test]
    fn a_random_choice_of_cells_spreads_over_the_region_and_depends_on_the_seed() {
        let (mut lattice, sizes) = d01();
        lattice.order = Order::Random;
        lattice.amount = Some(Amount::Count(100));
        let a = lattice.fill(&sizes, Vec3::X, &setting(true)).unwrap();
        let b = lattice.fill(&sizes, Vec3::X, &setting(true)).unwrap();
        let c = lattice.fill(&sizes, Vec3::X, &Setting { seed: 2, ..setting(true) }).unwrap();
        assert_eq!(a, b);
        assert_ne!(a, c);
        let mean = a.grains.iter().map(|g| g.centre).sum::<Vec3>() / 100.0;
        assert!((mean - Vec3::new(1.5, 1.0, 0.0)).length() < 0.35);
    }

    #[test]
    fn asking_for_more_grains_keeps_the_first_ones() {
        let (mut lattice, sizes) = d01();
        let many = lattice.fill(&sizes, Vec3::X, &setting(true)).unwrap();
        lattice.amount = Some(Amount::Count(100));
        assert_eq!(lattice.fill(&sizes, Vec3::X, &setting(true)).unwrap().grains, many.grains[..100]);
    }

    #[test]
    fn nonsense_is_refused() {
        let (lattice, sizes) = d01();
        let refused = |l: Lattice, g| l.fill(&sizes, g, &setting(true)).unwrap_err();
        let bad = |e, name| matches!(e, FillError::BadValue { what, .. } if what == name);
        assert!(bad(refused(lattice.clone(), Vec3::Z), "gravity"));
        assert!(bad(refused(Lattice { jitter: 1.5, ..lattice.clone() }, Vec3::X), "jitter"));
        assert!(bad(refused(Lattice { spacing: Some(0.09), ..lattice.clone() }, Vec3::X), "spacing"));
        assert!(matches!(
            refused(Lattice { region: Region::Everything, ..lattice }, Vec3::X),
            FillError::Region(RegionError::Unbounded)
        ));
    }
}
