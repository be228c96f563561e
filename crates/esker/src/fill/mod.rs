//! Laying grains into a scene before a run, and feeding them during one.
//!
//! | | densest (discs, spheres) | cost | use for |
//! |---|---|---|---|
//! | [`lattice`] | 0.79, 0.52 | O(n) | the usual start of a settling run |
//! | [`random`] | 0.54, 0.38 | O(n) until crowded | gases, suspensions |
//! | [`drop_and_roll`] | 0.82, 0.58 | O(n) | a bed at rest without a run |
//! | [`feed`] | | O(1) per grain | inflow during a run |
//!
//! Walls and earlier grains are met through [`Obstacles`]. All methods depend only on the seed, the group and the index of
//! a grain: lattice (in order) and drop-and-roll give the same first 100 grains when 200 are asked for.

pub mod drop_and_roll;
pub mod feed;
pub mod grid;
pub mod lattice;
pub mod random;
pub mod size;
#[cfg(test)]
mod test_walls;

pub use drop_and_roll::DropAndRoll;
pub use grid::Grains;
pub use lattice::Lattice;
pub use random::RandomAddition;
pub use size::{By, SizeLaw, Sizes};

use crate::math::Vec3;
use crate::region::{Region, RegionError};
use crate::rng::{Purpose, Stream, key};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Something grains must not overlap.
///
/// The methods here also ask with a radius larger than the grain's, to see what is near; so `depth` must be the radius
/// less the distance from the centre to the obstacle, whatever the radius. A body that is not convex (a polyline, a mesh)
/// reports each part that the sphere overlaps.
pub trait Obstacles {
    /// Appends the push-out of every overlap of the sphere: unit direction away from the obstacle and depth \[m\].
    fn overlaps(&self, centre: Vec3, radius: f64, out: &mut Vec<Push>);
}

/// The way out of one overlap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Push {
    /// Unit vector away from the obstacle.
    pub direction: Vec3,
    /// How far \[m\].
    pub depth: f64,
}

/// A grain that has been given a place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placed {
    /// Centre \[m\].
    pub centre: Vec3,
    /// Radius \[m\].
    pub radius: f64,
}

/// No obstacles.
impl Obstacles for () {
    fn overlaps(&self, _: Vec3, _: f64, _: &mut Vec<Push>) {}
}

/// All of several obstacles, such as walls and earlier grains.
impl Obstacles for [&dyn Obstacles] {
    fn overlaps(&self, centre: Vec3, radius: f64, out: &mut Vec<Push>) {
        for obstacle in self {
            obstacle.overlaps(centre, radius, out);
        }
    }
}

/// All of several obstacles, such as walls and earlier grains.
impl<const N: usize> Obstacles for [&dyn Obstacles; N] {
    fn overlaps(&self, centre: Vec3, radius: f64, out: &mut Vec<Push>) {
        self.as_slice().overlaps(centre, radius, out);
    }
}

/// How much to lay down.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Amount {
    /// So many grains.
    Count(usize),
    /// So much mass, to within half a grain.
    Mass {
        /// Total mass \[kg\].
        mass: f64,
        /// Density of the grains \[kg/m³\], or \[kg/m²\] for discs.
        density: f64,
    },
    /// Volume of the grains over volume of the region (areas in a planar scene), to within half a grain.
    SolidFraction(f64),
}

/// What a fill is laid into and where its random numbers come from.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// Discs in the x-y plane at z = 0.
    pub planar: bool,
    /// Seed of the run.
    pub seed: u64,
    /// Number of this fill in the scene, so that two fills draw different numbers.
    pub group: u16,
    /// Walls and earlier grains.
    pub obstacles: &'a dyn Obstacles,
}

/// What came of a fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FillReport {
    /// Grains asked for.
    pub asked: usize,
    /// Grains placed.
    pub placed: usize,
    /// Places tried.
    pub tries: u64,
}

/// A finished fill.
#[derive(Clone, Debug, PartialEq)]
pub struct Filling {
    /// The grains; number `i` has the `i`-th radius drawn.
    pub grains: Vec<Placed>,
    /// What came of it.
    pub report: FillReport,
}

/// Why a fill failed.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum FillError {
    /// The region cannot be used.
    #[error(transparent)]
    Region(#[from] RegionError),
    /// A number makes no sense.
    #[error("{what} = {value}; {wanted}")]
    BadValue {
        /// Which number.
        what: &'static str,
        /// The value given.
        value: f64,
        /// What would do.
        wanted: &'static str,
    },
    /// The lattice has fewer free cells than grains were asked for.
    #[error(
        "the lattice has {cells} free cells of {spacing} m for {asked} grains; enlarge the region, ask for fewer grains, or (down to the largest diameter, {diameter} m) narrow the spacing"
    )]
    TooFewCells {
        /// Grains asked for.
        asked: usize,
        /// Free cells.
        cells: usize,
        /// Width of a cell \[m\].
        spacing: f64,
        /// Largest diameter \[m\].
        diameter: f64,
    },
    /// Not everything fitted.
    #[error("only {} of {} grains fitted: the next found no free place in {tries_per_grain} tries; {advice}", report.placed, report.asked)]
    Full {
        /// What came of it.
        report: FillReport,
        /// Tries before giving up on a grain.
        tries_per_grain: u32,
        /// What to do.
        advice: &'static str,
    },
    /// A dropped grain met no floor.
    #[error(
        "grain {index}, dropped at {start}, fell {fallen} m without coming to rest; put a floor under the region or close the gap; a floor that lies deeper needs a region nearer to it"
    )]
    FellThrough {
        /// Which grain.
        index: usize,
        /// Where it was dropped \[m\].
        start: Vec3,
        /// How deep it fell \[m\].
        fallen: f64,
    },
    /// A dropped grain did not come to rest.
    #[error(
        "grain {index} of radius {radius} m finds no rest at {centre}; look for walls that overlap each other or leave less than a grain between them there"
    )]
    NotSettled {
        /// Which grain.
        index: usize,
        /// Its radius \[m\].
        radius: f64,
        /// Where it is \[m\].
        centre: Vec3,
    },
}

/// More grains than this in one fill are taken for a slip of the pen.
const MOST_GRAINS: usize = 1_000_000_000;

/// Radii of a fill, in order of index. The first are the same whatever the amount.
pub fn draw_radii(sizes: &Sizes, amount: Amount, region: &Region, setting: &Setting) -> Result<Vec<f64>, FillError> {
    let radius = |i: usize| sizes.sample(&mut Stream::new(setting.seed, Purpose::Size, key(setting.group, i as u64)));
    let wanted = match amount {
        Amount::Count(n) => {
            check("count", n as f64, n <= MOST_GRAINS, "ask for at most a thousand million grains")?;
            return Ok((0..n).map(radius).collect());
        }
        Amount::Mass { mass, density } => {
            check("density", density, density > 0.0, "give a density above zero")?;
            check("mass", mass, mass >= 0.0, "give a mass of zero or more")?;
            mass / density
        }
        Amount::SolidFraction(f) => {
            check("solid fraction", f, (0.0..=1.0).contains(&f), "give a fraction between 0 and 1")?;
            let space = region.measure(setting.planar)?;
            if !space.is_finite() {
                return Err(RegionError::Unbounded.into());
            }
            f * space
        }
    };
    let expected = wanted / sizes.mean_measure();
    check("expected number of grains", expected, expected <= MOST_GRAINS as f64, "ask for less, or for larger grains")?;
    let mut radii = Vec::with_capacity(expected as usize + 1);
    let mut sum = 0.0;
    loop {
        let r = radius(radii.len());
        let grain = size::grain_measure(r, setting.planar);
        if sum + 0.5 * grain > wanted {
            return Ok(radii);
        }
        sum += grain;
        radii.push(r);
    }
}

fn check(what: &'static str, value: f64, sound: bool, wanted: &'static str) -> Result<(), FillError> {
    if sound && value.is_finite() { Ok(()) } else { Err(FillError::BadValue { what, value, wanted }) }
}

/// Unit vector up, against gravity.
fn upwards(gravity: Vec3, planar: bool) -> Result<Vec3, FillError> {
    let g = if planar { Vec3::new(gravity.x, gravity.y, 0.0) } else { gravity };
    match g.try_normalize() {
        Some(down) if g.is_finite() => Ok(-down),
        _ => Err(FillError::BadValue {
            what: "gravity",
            value: g.length(),
            wanted: "this fill needs to know what is down: give a gravity other than zero (in the plane for a planar scene)",
        }),
    }
}

/// Whether a sphere touches none of the obstacles. `scratch` is memory to reuse.
fn is_clear(obstacles: &dyn Obstacles, centre: Vec3, radius: f64, scratch: &mut Vec<Push>) -> bool {
    scratch.clear();
    obstacles.overlaps(centre, radius, scratch);
    scratch.iter().all(|push| push.depth <= ROUNDING * radius)
}

/// Overlaps below this part of the radius are rounding: a grain may be laid exactly against a wall.
const ROUNDING: f64 = 1e-9;
