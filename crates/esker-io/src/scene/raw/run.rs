//! Fields, stages, solver and output as written.

use super::super::choice::{Collapse, Integrator, Nodes, Rotation, SolverKind, StaticBy};
use super::super::node::{CHECKED, Content, TableNode};
use super::super::source::{Location, Spanned};
use super::grains::{RawAxisPlane, RawRegion};
use super::wall::RawMotion;
use esker::expression::{Program, Quantity};
use esker::math::Vec3;

/// `[[field]]`
#[derive(Clone, Debug, PartialEq)]
pub struct RawField {
    /// The table.
    pub at: Location,
    /// Its name.
    pub name: Option<Spanned<String>>,
    /// Names of grains and feeds it acts on; `None` for all.
    pub grains: Option<Vec<Spanned<String>>>,
    /// What it does.
    pub kind: RawFieldKind,
}

/// The forces besides gravity.
#[derive(Clone, Debug, PartialEq)]
pub enum RawFieldKind {
    /// The same acceleration everywhere \[m/s²\].
    Acceleration(Spanned<Vec3>),
    /// The same force on each grain \[N\].
    Force(Spanned<Vec3>),
    /// Resistance of a fluid.
    Drag {
        /// How strong.
        strength: RawDrag,
        /// Velocity of the fluid \[m/s\].
        flow: Option<Spanned<Vec3>>,
    },
    /// Weight of the displaced fluid.
    Buoyancy {
        /// \[kg/m³\]
        fluid_density: Spanned<f64>,
    },
    /// Acceleration towards a point: strength × distance^exponent.
    Central {
        /// \[m\]
        centre: Option<Spanned<Vec3>>,
        /// Its dimension, if it has one, must be m/s² / m^exponent.
        strength: Spanned<Quantity>,
        /// \[-\]
        exponent: Spanned<f64>,
    },
    /// Gravitation between all grains.
    Attraction {
        /// G \[m³/(kg s²)\]
        constant: Spanned<f64>,
        /// Steps between two looks at it.
        every: Option<Spanned<u64>>,
    },
    /// A force by formulas of [`FORCE_SLOTS`](super::super::tables::run::FORCE_SLOTS) \[N\]; two in a planar scene,
    /// or three.
    Expression {
        /// The components.
        force: Vec<Spanned<Program>>,
    },
}

/// How strong drag is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RawDrag {
    /// The same for all grains \[kg/s\].
    Coefficient(Spanned<f64>),
    /// Stokes: 6 π viscosity × radius \[Pa s\].
    Viscosity(Spanned<f64>),
}

impl RawField {
    pub(crate) fn read(t: &TableNode) -> RawField {
        let kind = if let Some(t) = t.table("uniform") {
            match t.vector("acceleration") {
                Some(acceleration) => RawFieldKind::Acceleration(acceleration),
                None => RawFieldKind::Force(t.vector("force").expect(CHECKED)),
            }
        } else if let Some(t) = t.table("drag") {
            let strength = match t.number("coefficient") {
                Some(coefficient) => RawDrag::Coefficient(coefficient),
                None => RawDrag::Viscosity(t.number("viscosity").expect(CHECKED)),
            };
            RawFieldKind::Drag { strength, flow: t.vector("flow") }
        } else if let Some(t) = t.table("buoyancy") {
            RawFieldKind::Buoyancy { fluid_density: t.number("fluid-density").expect(CHECKED) }
        } else if let Some(t) = t.table("central") {
            RawFieldKind::Central {
                centre: t.vector("centre"),
                strength: t.quantity("strength").expect(CHECKED),
                exponent: t.number("exponent").expect(CHECKED),
            }
        } else if let Some(t) = t.table("attraction") {
            RawFieldKind::Attraction { constant: t.number("constant").expect(CHECKED), every: t.count("every") }
        } else {
            let t = t.table("expression").expect(CHECKED);
            let program = |node: &super::super::node::Node| match &node.value {
                Content::Formula(program) => Some(node.spanned(program.clone())),
                _ => None,
            };
            RawFieldKind::Expression { force: t.list("force").iter().filter_map(program).collect() }
        };
        RawField { at: t.at, name: t.text("name"), grains: t.names("grains"), kind }
    }
}

/// `[[stage]]`
#[derive(Clone, Debug, PartialEq)]
pub struct RawStage {
    /// The table.
    pub at: Location,
    /// Its name.
    pub name: Spanned<String>,
    /// What differs from `[solver]`.
    pub solver: Option<RawSolver>,
    /// How long, or with `until` how long at most \[s\].
    pub duration: Option<Spanned<f64>>,
    /// What ends it.
    pub until: Option<RawUntil>,
    /// Names of walls and gaps.
    pub open: Vec<Spanned<String>>,
    /// Names of walls and gaps.
    pub close: Vec<Spanned<String>>,
    /// Names of walls, each with its new motions.
    pub motion: Vec<(Spanned<String>, Vec<RawMotion>)>,
    /// \[m/s²\]
    pub gravity: Option<Spanned<Vec3>>,
    /// Names of feeds; `None` for all.
    pub feeds: Option<Vec<Spanned<String>>>,
    /// Names of fields; `None` for all.
    pub fields: Option<Vec<Spanned<String>>>,
}

impl RawStage {
    pub(crate) fn read(t: &TableNode) -> RawStage {
        let motion = t.get("motion").map_or(&[][..], |node| node.map());
        RawStage {
            at: t.at,
            name: t.text("name").expect(CHECKED),
            solver: t.table("solver").map(RawSolver::read),
            duration: t.number("duration"),
            until: t.table("until").map(RawUntil::read),
            open: t.names("open").unwrap_or_default(),
            close: t.names("close").unwrap_or_default(),
            motion: motion
                .iter()
                .map(|(wall, node)| {
                    (wall.clone(), node.list().iter().filter_map(|node| node.table()).map(RawMotion::read).collect())
                })
                .collect(),
            gravity: t.vector("gravity"),
            feeds: t.names("feeds"),
            fields: t.names("fields"),
        }
    }
}

/// What ends a stage; the first condition met.
#[derive(Clone, Debug, PartialEq)]
pub struct RawUntil {
    /// The table.
    pub at: Location,
    /// \[J\]
    pub kinetic_energy: Option<Spanned<f64>>,
    /// Fewer grains than this.
    pub count_below: Option<Spanned<u64>>,
    /// More grains than this.
    pub count_above: Option<Spanned<u64>>,
    /// Time of the run \[s\].
    pub time: Option<Spanned<f64>>,
}

impl RawUntil {
    fn read(t: &TableNode) -> RawUntil {
        RawUntil {
            at: t.at,
            kinetic_energy: t.number("kinetic-energy"),
            count_below: t.count("count-below"),
            count_above: t.count("count-above"),
            time: t.number("time"),
        }
    }
}

/// `[solver]`, and `solver` of a stage.
#[derive(Clone, Debug, PartialEq)]
pub struct RawSolver {
    /// The table.
    pub at: Location,
    /// The method.
    pub kind: Option<Spanned<SolverKind>>,
    /// The time step.
    pub step: Option<Spanned<RawStep>>,
    /// Steps during the shortest contact.
    pub steps_per_contact: Option<Spanned<f64>>,
    /// The scheme.
    pub integrator: Option<Spanned<Integrator>>,
    /// How bodies are turned.
    pub rotation: Option<Spanned<Rotation>>,
    /// \[m\]
    pub skin: Option<Spanned<f64>>,
    /// What is done against collisions without end.
    pub collapse: Option<RawCollapse>,
    /// What grains do at rest.
    pub nodes: Option<Spanned<Nodes>>,
    /// How the structure at rest is solved.
    pub by: Option<Spanned<StaticBy>>,
}

/// `collapse` of a solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RawCollapse {
    /// The way.
    pub by: Spanned<Collapse>,
    /// \[m/s\]
    pub speed: Option<Spanned<f64>>,
    /// \[s\]
    pub time: Option<Spanned<f64>>,
}

/// The time step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RawStep {
    /// Found from the stiffest contact.
    Auto,
    /// \[s\]
    Given(f64),
}

impl RawSolver {
    pub(crate) fn read(t: &TableNode) -> RawSolver {
        RawSolver {
            at: t.at,
            kind: t.choice("kind"),
            step: t.get("step").map(|node| node.spanned(node.value.number().map_or(RawStep::Auto, RawStep::Given))),
            steps_per_contact: t.number("steps-per-contact"),
            integrator: t.choice("integrator"),
            rotation: t.choice("rotation"),
            skin: t.number("skin"),
            collapse: t.table("collapse").map(|t| RawCollapse {
                by: t.choice("by").expect(CHECKED),
                speed: t.number("speed"),
                time: t.number("time"),
            }),
            nodes: t.choice("nodes"),
            by: t.choice("by"),
        }
    }
}

/// `[output]`
#[derive(Clone, Debug, PartialEq)]
pub struct RawOutput {
    /// The table.
    pub at: Location,
    /// Interval \[s\].
    pub frames: Option<Spanned<f64>>,
    /// Interval \[s\].
    pub series: Option<Spanned<f64>>,
    /// Interval \[s\].
    pub checkpoint: Option<Spanned<f64>>,
    /// Whether frames hold contacts.
    pub contacts: Option<Spanned<bool>>,
    /// What is measured.
    pub probes: Vec<RawProbe>,
}

impl RawOutput {
    pub(crate) fn read(t: &TableNode) -> RawOutput {
        RawOutput {
            at: t.at,
            frames: t.number("frames"),
            series: t.number("series"),
            checkpoint: t.number("checkpoint"),
            contacts: t.bool("contacts"),
            probes: t.tables("probe", RawProbe::read),
        }
    }
}

/// `probe` of the output.
#[derive(Clone, Debug, PartialEq)]
pub struct RawProbe {
    /// The table.
    pub at: Location,
    /// Its name.
    pub name: Spanned<String>,
    /// What it measures.
    pub kind: RawProbeKind,
}

/// What a probe measures.
#[derive(Clone, Debug, PartialEq)]
pub enum RawProbeKind {
    /// Grains that cross a plane.
    FlowThrough(RawAxisPlane),
    /// Force on the named wall.
    ForceOn(Spanned<String>),
    /// Torque on the named wall.
    TorqueOn {
        /// The wall.
        wall: Spanned<String>,
        /// \[m\]; the origin if not given.
        about: Option<Spanned<Vec3>>,
    },
    /// Solid fraction.
    PackingIn(RawRegion),
    /// Mean stress.
    StressIn(RawRegion),
    /// Number of grains.
    CountIn(RawRegion),
    /// Mean number of contacts; `false` switches the probe off.
    Coordination(Spanned<bool>),
}

impl RawProbe {
    fn read(t: &TableNode) -> RawProbe {
        let region = |name: &str| t.table(name).map(RawRegion::read);
        let kind = if let Some(plane) = t.table("flow-through") {
            RawProbeKind::FlowThrough(RawAxisPlane::read(plane))
        } else if let Some(wall) = t.text("force-on") {
            RawProbeKind::ForceOn(wall)
        } else if let Some(wall) = t.text("torque-on") {
            RawProbeKind::TorqueOn { wall, about: t.vector("about") }
        } else if let Some(region) = region("packing-in") {
            RawProbeKind::PackingIn(region)
        } else if let Some(region) = region("stress-in") {
            RawProbeKind::StressIn(region)
        } else if let Some(region) = region("count-in") {
            RawProbeKind::CountIn(region)
        } else {
            RawProbeKind::Coordination(t.bool("coordination").expect(CHECKED))
        };
        RawProbe { at: t.at, name: t.text("name").expect(CHECKED), kind }
    }
}
