//! Grains, feeds and removals as written.

use super::super::choice::{Arrival, Axis, CountBy, FillMethod, GrainShape};
use super::super::node::{CHECKED, Content, Node, TableNode};
use super::super::source::{Location, Spanned};
use super::wall::{RawBox, RawCylinder, RawSphere};
use esker::expression::Quantity;
use esker::math::Vec3;

/// `[[grains]]`
#[derive(Clone, Debug, PartialEq)]
pub struct RawGrains {
    /// The table.
    pub at: Location,
    /// Their name.
    pub name: Spanned<String>,
    /// Name of their material.
    pub material: Spanned<String>,
    /// Their shape.
    pub shape: Option<Spanned<GrainShape>>,
    /// \[m\]
    pub radius: Option<Spanned<RawRadius>>,
    /// Where they are.
    pub fill: RawFill,
    /// At the start.
    pub velocity: Option<Spanned<RawVelocity>>,
    /// At the start \[rad/s\].
    pub spin: Option<Spanned<Vec3>>,
    /// Whether they never move.
    pub fixed: Option<Spanned<bool>>,
    /// Moments of inertia over m r² \[-\].
    pub inertia_factor: Option<Spanned<[f64; 3]>>,
}

/// One radius or a distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct RawRadius {
    /// Which, and its numbers.
    pub kind: RawRadiusKind,
    /// What it counts.
    pub by: Option<Spanned<CountBy>>,
}

/// The distributions of radii, all lengths in \[m\].
#[derive(Clone, Debug, PartialEq)]
pub enum RawRadiusKind {
    /// All alike.
    One(f64),
    /// Equally likely from the first to the second.
    Uniform(Spanned<[f64; 2]>),
    /// Normal, or log-normal with `mean` its median.
    Normal {
        /// Whether of the logarithm.
        log: bool,
        /// \[m\]
        mean: Spanned<f64>,
        /// Relative if it is without dimension or a plain number, else a length \[m\].
        spread: Spanned<Quantity>,
        /// Smaller ones are drawn again.
        min: Option<Spanned<f64>>,
        /// Larger ones are drawn again.
        max: Option<Spanned<f64>>,
    },
    /// Edges of radius, each with the fraction below it, not yet scaled to a sum of one.
    Sieve(Vec<(f64, f64)>),
}

impl RawRadius {
    fn read(node: &Node) -> Spanned<RawRadius> {
        let Some(t) = node.table() else {
            let radius = node.value.number().expect(CHECKED);
            return node.spanned(RawRadius { kind: RawRadiusKind::One(radius), by: None });
        };
        let kind = if let Some(ends) = t.values("uniform", Content::number) {
            RawRadiusKind::Uniform(ends.map(|ends| [ends[0], ends[1]]))
        } else if t.get("sieve").is_some() {
            let row = |node: &Node| match node.list() {
                [size, fraction] => Some((size.value.number()?, fraction.value.number()?)),
                _ => None,
            };
            RawRadiusKind::Sieve(t.list("sieve").iter().filter_map(row).collect())
        } else {
            let normal = t.number("normal");
            RawRadiusKind::Normal {
                log: normal.is_none(),
                mean: normal.or_else(|| t.number("log-normal")).expect(CHECKED),
                spread: t.quantity("spread").expect(CHECKED),
                min: t.number("min"),
                max: t.number("max"),
            }
        };
        node.spanned(RawRadius { kind, by: t.choice("by") })
    }
}

/// A velocity.
#[derive(Clone, Debug, PartialEq)]
pub enum RawVelocity {
    /// \[m/s\]
    Given(Vec3),
    /// In a random direction, with a speed from the first to the second \[m/s\].
    Random([f64; 2]),
}

impl RawVelocity {
    fn read(node: &Node) -> Spanned<RawVelocity> {
        let velocity = match (node.value.vector(), node.table()) {
            (None, Some(t)) => {
                let speed = t.get("speed").expect(CHECKED);
                let ends: Vec<f64> = speed.list().iter().filter_map(|node| node.value.number()).collect();
                match (speed.value.number(), ends.as_slice()) {
                    (None, [least, greatest]) => RawVelocity::Random([*least, *greatest]),
                    (one, _) => RawVelocity::Random([one.expect(CHECKED); 2]),
                }
            }
            (given, _) => RawVelocity::Given(given.expect(CHECKED)),
        };
        node.spanned(velocity)
    }
}

fn read_spin(t: &TableNode) -> Option<Spanned<Vec3>> {
    // One number is the spin about z.
    t.vector("spin").or_else(|| Some(t.number("spin")?.map(|rate| Vec3::new(0.0, 0.0, rate))))
}

/// How grains are placed.
#[derive(Clone, Debug, PartialEq)]
pub struct RawFill {
    /// The table.
    pub at: Location,
    /// How.
    pub method: Spanned<FillMethod>,
    /// How many, as one of three.
    pub amount: Option<Spanned<RawAmount>>,
    /// Where.
    pub region: Option<RawRegion>,
    /// \[m\]
    pub spacing: Option<Spanned<f64>>,
    /// Of the free room \[-\].
    pub jitter: Option<Spanned<f64>>,
    /// Attempts per grain.
    pub tries: Option<Spanned<u64>>,
    /// \[m\]; given for [`FillMethod::At`] and only then.
    pub positions: Option<Spanned<Vec<Vec3>>>,
    /// Path from the folder of the scene; given for [`FillMethod::File`] and only then.
    pub file: Option<Spanned<String>>,
}

/// How many grains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RawAmount {
    /// So many.
    Count(u64),
    /// Of this mass together \[kg\].
    Mass(f64),
    /// This solid fraction of the region \[-\].
    Fraction(f64),
}

impl RawFill {
    fn read(t: &TableNode) -> RawFill {
        let count = t.count("count").map(|count| count.map(RawAmount::Count));
        let mass = || Some(t.number("mass")?.map(RawAmount::Mass));
        let fraction = || Some(t.number("fraction")?.map(RawAmount::Fraction));
        RawFill {
            at: t.at,
            method: t.choice("method").expect(CHECKED),
            amount: count.or_else(mass).or_else(fraction),
            region: t.table("region").map(RawRegion::read),
            spacing: t.number("spacing"),
            jitter: t.number("jitter"),
            tries: t.count("tries"),
            positions: t.values("positions", Content::vector),
            file: t.text("file"),
        }
    }
}

/// A part of space.
#[derive(Clone, Debug, PartialEq)]
pub struct RawRegion {
    /// The table.
    pub at: Location,
    /// Its shape.
    pub kind: RawRegionKind,
}

/// The shapes of a region.
#[derive(Clone, Debug, PartialEq)]
pub enum RawRegionKind {
    /// A box along the axes.
    Box(RawBox),
    /// A cylinder.
    Cylinder(RawCylinder),
    /// A ball; in a planar scene a disc.
    Sphere(RawSphere),
}

impl RawRegion {
    pub(crate) fn read(t: &TableNode) -> RawRegion {
        let kind = if let Some(t) = t.table("box") {
            RawRegionKind::Box(RawBox::read(t))
        } else if let Some(t) = t.table("cylinder") {
            RawRegionKind::Cylinder(RawCylinder::read(t))
        } else {
            RawRegionKind::Sphere(RawSphere::read(t.table("sphere").expect(CHECKED)))
        };
        RawRegion { at: t.at, kind }
    }
}

impl RawGrains {
    pub(crate) fn read(t: &TableNode) -> RawGrains {
        let three = t.values("inertia-factor", Content::number).filter(|factors| factors.value.len() == 3);
        let inertia_factor = match three {
            Some(factors) => Some(factors.map(|f| [f[0], f[1], f[2]])),
            None => t.number("inertia-factor").map(|factor| factor.map(|f| [f; 3])),
        };
        RawGrains {
            at: t.at,
            name: t.text("name").expect(CHECKED),
            material: t.text("material").expect(CHECKED),
            shape: t.choice("shape"),
            radius: t.get("radius").map(RawRadius::read),
            fill: RawFill::read(t.table("fill").expect(CHECKED)),
            velocity: t.get("velocity").map(RawVelocity::read),
            spin: read_spin(t),
            fixed: t.bool("fixed"),
            inertia_factor,
        }
    }
}

/// `[[feed]]`
#[derive(Clone, Debug, PartialEq)]
pub struct RawFeed {
    /// The table.
    pub at: Location,
    /// Its name.
    pub name: Spanned<String>,
    /// Name of the material of its grains.
    pub material: Spanned<String>,
    /// Their shape.
    pub shape: Option<Spanned<GrainShape>>,
    /// \[m\]
    pub radius: Spanned<RawRadius>,
    /// Where they appear.
    pub region: RawRegion,
    /// How fast they come.
    pub rate: Spanned<RawFeedRate>,
    /// When they arrive.
    pub arrival: Option<Spanned<Arrival>>,
    /// At arrival.
    pub velocity: Option<Spanned<RawVelocity>>,
    /// At arrival \[rad/s\].
    pub spin: Option<Spanned<Vec3>>,
    /// How many in all.
    pub count: Option<Spanned<u64>>,
    /// \[s\]
    pub start: Option<Spanned<f64>>,
    /// \[s\]
    pub stop: Option<Spanned<f64>>,
    /// Attempts before an arrival is postponed.
    pub tries: Option<Spanned<u64>>,
    /// How long it is postponed \[s\].
    pub delay: Option<Spanned<f64>>,
    /// Postponements in a row before the feed counts as jammed.
    pub patience: Option<Spanned<u64>>,
}

/// How fast a feed works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RawFeedRate {
    /// Grains per second \[1/s\].
    Count(f64),
    /// Mass per second \[kg/s\].
    Mass(f64),
}

impl RawFeed {
    pub(crate) fn read(t: &TableNode) -> RawFeed {
        let count = t.number("rate").map(|rate| rate.map(RawFeedRate::Count));
        let mass = || Some(t.number("mass-rate")?.map(RawFeedRate::Mass));
        RawFeed {
            at: t.at,
            name: t.text("name").expect(CHECKED),
            material: t.text("material").expect(CHECKED),
            shape: t.choice("shape"),
            radius: t.get("radius").map(RawRadius::read).expect(CHECKED),
            region: RawRegion::read(t.table("region").expect(CHECKED)),
            rate: count.or_else(mass).expect(CHECKED),
            arrival: t.choice("arrival"),
            velocity: t.get("velocity").map(RawVelocity::read),
            spin: read_spin(t),
            count: t.count("count"),
            start: t.number("start"),
            stop: t.number("stop"),
            tries: t.count("tries"),
            delay: t.number("delay"),
            patience: t.count("patience"),
        }
    }
}

/// A plane across one axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RawAxisPlane {
    /// The axis.
    pub axis: Axis,
    /// Where it is cut \[m\].
    pub at: Spanned<f64>,
}

impl RawAxisPlane {
    pub(crate) fn read(t: &TableNode) -> RawAxisPlane {
        let axes = [("x", Axis::X), ("y", Axis::Y), ("z", Axis::Z)];
        let found = axes.into_iter().find_map(|(name, axis)| Some(RawAxisPlane { axis, at: t.number(name)? }));
        found.expect(CHECKED)
    }
}

/// `[[remove]]`
#[derive(Clone, Debug, PartialEq)]
pub struct RawRemove {
    /// The table.
    pub at: Location,
    /// Its name.
    pub name: Option<Spanned<String>>,
    /// Where.
    pub place: RawRemovePlace,
}

/// Where grains leave.
#[derive(Clone, Debug, PartialEq)]
pub enum RawRemovePlace {
    /// Below a plane.
    Below(RawAxisPlane),
    /// Above a plane.
    Above(RawAxisPlane),
    /// Inside a region.
    Inside(RawRegion),
    /// Outside a region.
    Outside(RawRegion),
}

impl RawRemove {
    pub(crate) fn read(t: &TableNode) -> RawRemove {
        let place = if let Some(plane) = t.table("below") {
            RawRemovePlace::Below(RawAxisPlane::read(plane))
        } else if let Some(plane) = t.table("above") {
            RawRemovePlace::Above(RawAxisPlane::read(plane))
        } else if let Some(region) = t.table("inside") {
            RawRemovePlace::Inside(RawRegion::read(region))
        } else {
            RawRemovePlace::Outside(RawRegion::read(t.table("outside").expect(CHECKED)))
        };
        RawRemove { at: t.at, name: t.text("name"), place }
    }
}
