//! What a run writes, and when.

use super::{Context, find, grains};
use crate::scene::SceneError;
use crate::scene::choice::Axis;
use crate::scene::raw::{RawAxisPlane, RawProbeKind};
use esker::math::Vec3;
use esker::measure::probe::Probe;
use esker::model::{CountingPlane, Wall};

/// A probe and its name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedProbe {
    /// Name in the scene.
    pub name: String,
    /// What it measures.
    pub probe: Probe,
}

/// What a run writes, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputPlan {
    /// Interval of frames \[s\]; `None` for none.
    pub frames: Option<f64>,
    /// Interval of rows in the series \[s\].
    pub series: Option<f64>,
    /// Interval of checkpoints \[s\]; `None` leaves it to the clock.
    pub checkpoint: Option<f64>,
    /// Whether frames hold contacts.
    pub contacts: bool,
    /// Probes.
    pub probes: Vec<NamedProbe>,
}

/// Unit vector of an axis.
pub(super) fn unit(axis: Axis) -> Vec3 {
    match axis {
        Axis::X => Vec3::X,
        Axis::Y => Vec3::Y,
        Axis::Z => Vec3::Z,
    }
}

fn plane(raw: &RawAxisPlane) -> CountingPlane {
    CountingPlane { normal: unit(raw.axis), offset: raw.at.value }
}

/// The plan, and the planes its probes count at.
pub(super) fn plan(c: &Context, walls: &[Wall]) -> Result<(OutputPlan, Vec<CountingPlane>), SceneError> {
    let mut planes = Vec::new();
    let mut plan = OutputPlan { frames: None, series: None, checkpoint: None, contacts: true, probes: vec![] };
    let Some(raw) = &c.raw.output else { return Ok((plan, planes)) };
    let interval = |v: &Option<crate::scene::Spanned<f64>>| v.as_ref().map(|t| c.positive(t)).transpose();
    plan.frames = interval(&raw.frames)?;
    plan.series = interval(&raw.series)?;
    plan.checkpoint = interval(&raw.checkpoint)?;
    plan.contacts = raw.contacts.is_none_or(|b| b.value);
    super::unique(c.raw, "probes", raw.probes.iter().map(|p| &p.name))?;
    for p in &raw.probes {
        let wall = |name| find(c.raw, name, "walls", walls.iter().map(|w| w.name.as_str()));
        let probe = match &p.kind {
            RawProbeKind::FlowThrough(cut) => {
                planes.push(plane(cut));
                Probe::Flow(planes.len() - 1)
            }
            RawProbeKind::ForceOn(name) => {
                wall(name)?;
                Probe::Force(name.value.clone())
            }
            RawProbeKind::TorqueOn { wall: name, about } => {
                wall(name)?;
                Probe::Torque(name.value.clone(), about.map_or(Vec3::ZERO, |a| a.value))
            }
            RawProbeKind::PackingIn(r) => Probe::Packing(grains::region(r)),
            RawProbeKind::StressIn(r) => Probe::Stress(grains::region(r)),
            RawProbeKind::CountIn(r) => Probe::Count(grains::region(r)),
            RawProbeKind::Coordination(on) if on.value => Probe::Coordination,
            RawProbeKind::Coordination(_) => continue,
        };
        if let RawProbeKind::PackingIn(r) | RawProbeKind::StressIn(r) | RawProbeKind::CountIn(r) = &p.kind {
            grains::region(r).check(c.raw.planar).map_err(|e| c.raw.error_at(r.at, e.to_string()))?;
        }
        plan.probes.push(NamedProbe { name: p.name.value.clone(), probe });
    }
    Ok((plan, planes))
}
