//! Walls and their motion as written.

use super::super::choice::Waveform;
use super::super::node::{CHECKED, Content, Node, TableNode};
use super::super::source::{Location, Spanned};
use esker::math::Vec3;

/// `[[wall]]`
#[derive(Clone, Debug, PartialEq)]
pub struct RawWall {
    /// The table.
    pub at: Location,
    /// Its name.
    pub name: Spanned<String>,
    /// Name of its material.
    pub material: Spanned<String>,
    /// What it looks like; the place is that of the geometry's key.
    pub geometry: Spanned<RawGeometry>,
    /// Segments of the polyline that can be opened.
    pub gaps: Vec<RawGap>,
    /// Its motions, to be added.
    pub motions: Vec<RawMotion>,
}

/// The geometry of a wall.
#[derive(Clone, Debug, PartialEq)]
pub enum RawGeometry {
    /// An endless plane.
    Plane {
        /// A point of it \[m\].
        point: Spanned<Vec3>,
        /// Into the grains; any length.
        normal: Spanned<Vec3>,
    },
    /// A line of a planar scene; a segment is one of two points.
    Polyline {
        /// \[m\]
        points: Vec<Vec3>,
        /// Whether the last point is joined to the first.
        closed: bool,
    },
    /// A flat round plate.
    Disc {
        /// \[m\]
        centre: Spanned<Vec3>,
        /// Any length.
        normal: Spanned<Vec3>,
        /// \[m\]
        radius: Spanned<f64>,
    },
    /// A box along the axes.
    Box(RawBox),
    /// A cylinder.
    Cylinder {
        /// Its shape.
        cylinder: RawCylinder,
        /// Whether the ends are closed.
        caps: bool,
    },
    /// A cone or a part of it.
    Cone {
        /// \[m\]
        from: Spanned<Vec3>,
        /// \[m\]
        to: Spanned<Vec3>,
        /// \[m\]
        from_radius: Spanned<f64>,
        /// \[m\]
        to_radius: Spanned<f64>,
    },
    /// A ball; in a planar scene a disc.
    Sphere(RawSphere),
    /// A flat triangle, its corners \[m\].
    Triangle([Vec3; 3]),
    /// Triangles from a file: scaled, turned, moved.
    Mesh {
        /// Path from the folder of the scene.
        file: Spanned<String>,
        /// Length of one unit of the file \[m\].
        scale: Option<Spanned<f64>>,
        /// Axis of any length, and angle \[rad\].
        rotate: Option<(Spanned<Vec3>, Spanned<f64>)>,
        /// \[m\]
        at: Option<Spanned<Vec3>>,
    },
}

/// A box along the axes.
#[derive(Clone, Debug, PartialEq)]
pub struct RawBox {
    /// Lowest corner \[m\].
    pub min: Spanned<Vec3>,
    /// Highest corner \[m\].
    pub max: Spanned<Vec3>,
}

impl RawBox {
    pub(crate) fn read(t: &TableNode) -> RawBox {
        RawBox { min: t.vector("min").expect(CHECKED), max: t.vector("max").expect(CHECKED) }
    }
}

/// A cylinder between the centres of its ends.
#[derive(Clone, Debug, PartialEq)]
pub struct RawCylinder {
    /// \[m\]
    pub from: Spanned<Vec3>,
    /// \[m\]
    pub to: Spanned<Vec3>,
    /// \[m\]
    pub radius: Spanned<f64>,
}

impl RawCylinder {
    pub(crate) fn read(t: &TableNode) -> RawCylinder {
        RawCylinder {
            from: t.vector("from").expect(CHECKED),
            to: t.vector("to").expect(CHECKED),
            radius: t.number("radius").expect(CHECKED),
        }
    }
}

/// A ball; in a planar scene a disc.
#[derive(Clone, Debug, PartialEq)]
pub struct RawSphere {
    /// \[m\]
    pub centre: Spanned<Vec3>,
    /// \[m\]
    pub radius: Spanned<f64>,
}

impl RawSphere {
    pub(crate) fn read(t: &TableNode) -> RawSphere {
        RawSphere { centre: t.vector("centre").expect(CHECKED), radius: t.number("radius").expect(CHECKED) }
    }
}

/// A segment of a polyline that can be opened.
#[derive(Clone, Debug, PartialEq)]
pub struct RawGap {
    /// How stages call it.
    pub name: Spanned<String>,
    /// The points it lies between, from 0.
    pub between: Spanned<[u64; 2]>,
}

impl RawWall {
    pub(crate) fn read(t: &TableNode) -> RawWall {
        let geometry = t.section.groups[0].keys.iter().find_map(|name| Some((*name, t.get(name)?)));
        let (kind, node) = geometry.expect(CHECKED);
        let closed = t.bool("closed").is_some_and(|closed| closed.value);
        RawWall {
            at: t.at,
            name: t.text("name").expect(CHECKED),
            material: t.text("material").expect(CHECKED),
            geometry: node.spanned(RawGeometry::read(kind, node, closed)),
            gaps: t.tables("gap", RawGap::read),
            motions: t.tables("motion", RawMotion::read),
        }
    }
}

impl RawGeometry {
    fn read(kind: &str, node: &Node, closed: bool) -> RawGeometry {
        let points: Vec<Vec3> = node.list().iter().filter_map(|point| point.value.vector()).collect();
        let Some(t) = node.table() else {
            return match (kind, points.as_slice()) {
                ("triangle", [a, b, c]) => RawGeometry::Triangle([*a, *b, *c]),
                _ => RawGeometry::Polyline { points, closed },
            };
        };
        match kind {
            "plane" => RawGeometry::Plane {
                point: t.vector("point").expect(CHECKED),
                normal: t.vector("normal").expect(CHECKED),
            },
            "disc" => RawGeometry::Disc {
                centre: t.vector("centre").expect(CHECKED),
                normal: t.vector("normal").expect(CHECKED),
                radius: t.number("radius").expect(CHECKED),
            },
            "box" => RawGeometry::Box(RawBox::read(t)),
            "cylinder" => RawGeometry::Cylinder {
                cylinder: RawCylinder::read(t),
                caps: t.bool("caps").is_some_and(|caps| caps.value),
            },
            "cone" => RawGeometry::Cone {
                from: t.vector("from").expect(CHECKED),
                to: t.vector("to").expect(CHECKED),
                from_radius: t.number("from-radius").expect(CHECKED),
                to_radius: t.number("to-radius").expect(CHECKED),
            },
            "sphere" => RawGeometry::Sphere(RawSphere::read(t)),
            "mesh" => RawGeometry::Mesh {
                file: t.text("file").expect(CHECKED),
                scale: t.number("scale"),
                rotate: t
                    .table("rotate")
                    .map(|t| (t.vector("axis").expect(CHECKED), t.number("angle").expect(CHECKED))),
                at: t.vector("at"),
            },
            other => unreachable!("`{other}` is no geometry of the tables"),
        }
    }
}

impl RawGap {
    fn read(t: &TableNode) -> RawGap {
        let between = t.values("between", Content::count).expect(CHECKED);
        RawGap { name: t.text("name").expect(CHECKED), between: between.map(|ends| [ends[0], ends[1]]) }
    }
}

/// One way in which a wall moves.
#[derive(Clone, Debug, PartialEq)]
pub struct RawMotion {
    /// The table.
    pub at: Location,
    /// The way.
    pub kind: RawMotionKind,
}

/// Where and how an axis lies.
#[derive(Clone, Debug, PartialEq)]
pub struct RawAxis {
    /// A point of it \[m\]; the origin if not given.
    pub through: Option<Spanned<Vec3>>,
    /// Its direction, of any length; z in a planar scene if not given.
    pub axis: Option<Spanned<Vec3>>,
}

impl RawAxis {
    fn read(t: &TableNode) -> RawAxis {
        RawAxis { through: t.vector("through"), axis: t.vector("axis") }
    }
}

/// The ways in which a wall moves.
#[derive(Clone, Debug, PartialEq)]
pub enum RawMotionKind {
    /// Constant velocity \[m/s\].
    Translate(Spanned<Vec3>),
    /// Constant turning.
    Rotate {
        /// About this axis.
        axis: RawAxis,
        /// \[rad/s\]
        rate: Spanned<f64>,
    },
    /// To and fro on a line.
    Oscillate {
        /// Of any length.
        direction: Spanned<Vec3>,
        /// \[m\]
        amplitude: Spanned<f64>,
        /// \[Hz\]
        frequency: Spanned<f64>,
        /// \[rad\]
        phase: Option<Spanned<f64>>,
        /// Course in time.
        form: Option<Spanned<Waveform>>,
    },
    /// To and fro about an axis.
    Swing {
        /// About this axis.
        axis: RawAxis,
        /// \[rad\]
        amplitude: Spanned<f64>,
        /// \[Hz\]
        frequency: Spanned<f64>,
        /// \[rad\]
        phase: Option<Spanned<f64>>,
    },
    /// One phase after the other.
    Schedule(Vec<RawPhase>),
    /// A sudden displacement.
    Jump {
        /// \[s\]
        at: Spanned<f64>,
        /// \[m\]
        by: Spanned<Vec3>,
    },
}

/// A phase of a schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct RawPhase {
    /// The table.
    pub at: Location,
    /// \[s\]
    pub duration: Spanned<f64>,
    /// \[m/s\]
    pub velocity: Option<Spanned<Vec3>>,
    /// \[rad/s\]
    pub rate: Option<Spanned<f64>>,
    /// The axis of turning.
    pub axis: RawAxis,
}

impl RawPhase {
    fn read(t: &TableNode) -> RawPhase {
        RawPhase {
            at: t.at,
            duration: t.number("duration").expect(CHECKED),
            velocity: t.vector("velocity"),
            rate: t.number("rate"),
            axis: RawAxis::read(t),
        }
    }
}

impl RawMotion {
    pub(crate) fn read(t: &TableNode) -> RawMotion {
        let kind = if let Some(velocity) = t.vector("translate") {
            RawMotionKind::Translate(velocity)
        } else if let Some(t) = t.table("rotate") {
            RawMotionKind::Rotate { axis: RawAxis::read(t), rate: t.number("rate").expect(CHECKED) }
        } else if let Some(t) = t.table("oscillate") {
            RawMotionKind::Oscillate {
                direction: t.vector("direction").expect(CHECKED),
                amplitude: t.number("amplitude").expect(CHECKED),
                frequency: t.number("frequency").expect(CHECKED),
                phase: t.number("phase"),
                form: t.choice("form"),
            }
        } else if let Some(t) = t.table("swing") {
            RawMotionKind::Swing {
                axis: RawAxis::read(t),
                amplitude: t.number("amplitude").expect(CHECKED),
                frequency: t.number("frequency").expect(CHECKED),
                phase: t.number("phase"),
            }
        } else if let Some(t) = t.table("jump") {
            RawMotionKind::Jump { at: t.number("at").expect(CHECKED), by: t.vector("by").expect(CHECKED) }
        } else {
            RawMotionKind::Schedule(t.tables("schedule", RawPhase::read))
        };
        RawMotion { at: t.at, kind }
    }
}
