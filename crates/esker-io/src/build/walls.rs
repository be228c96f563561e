//! Walls and their motion.

use super::Context;
use crate::scene::choice;
use crate::scene::raw::{RawAxis, RawGeometry, RawMotion, RawMotionKind, RawPhase, RawWall};
use crate::scene::{Location, SceneError, Spanned};
use crate::stl;
use esker::boundary::{
    Leg, Mesh, Motion, MotionPart, Plane, Polyline, Revolved, Shell, Surface, SurfaceError, Waveform,
};
use esker::math::{Quat, Vec3};
use esker::model::Wall;
use std::sync::Arc;

/// The walls of the scene. A wall of several parts (a line with a gap, a cylinder with caps) becomes several walls of the
/// same name; a gap has its own.
pub(super) fn walls(c: &Context, reach: f64) -> Result<Vec<Wall>, SceneError> {
    let mut walls = Vec::new();
    for raw in &c.raw.walls {
        let material = c.material(&raw.material)?;
        let motion = motion(c, &raw.motions)?;
        let at = raw.geometry.at;
        let told = |e: SurfaceError| c.raw.error_at(at, e.to_string());
        let mut add = |name: &str, surface: Surface| {
            walls.push(Wall {
                name: name.to_string(),
                material,
                surface: Arc::new(surface),
                motion: motion.clone(),
                active: true,
            });
        };
        if !raw.gaps.is_empty() && !matches!(raw.geometry.value, RawGeometry::Polyline { .. }) {
            return c.error(raw.gaps[0].name.at, "a gap needs a `polyline`");
        }
        let name = raw.name.value.as_str();
        match &raw.geometry.value {
            RawGeometry::Plane { point, normal } => {
                add(name, Surface::Plane(Plane::new(point.value, normal.value).map_err(told)?));
            }
            RawGeometry::Polyline { points, closed } => {
                if !c.raw.planar {
                    return c.error(
                        at,
                        "lines are walls of planar scenes: set `planar = true`, or use a plane, box or mesh",
                    );
                }
                for (piece, gap) in pieces(c, raw, points, *closed)? {
                    let (points, closed) = piece;
                    let line = Polyline::new(points, closed).map_err(told)?;
                    add(gap.unwrap_or(name), Surface::Polyline(line));
                }
            }
            RawGeometry::Disc { centre, normal, radius } => {
                add(name, Surface::Revolved(Revolved::disc(centre.value, normal.value, radius.value).map_err(told)?));
            }
            RawGeometry::Box(b) => {
                if c.raw.planar {
                    let corner = |x: f64, y: f64| Vec3::new(x, y, 0.0);
                    let (low, high) = (b.min.value, b.max.value);
                    let points = vec![low, corner(high.x, low.y), high, corner(low.x, high.y)];
                    add(name, Surface::Polyline(Polyline::new(points, true).map_err(told)?));
                } else {
                    add(name, mesh(c, at, Mesh::cuboid(b.min.value, b.max.value, reach))?);
                }
            }
            RawGeometry::Cylinder { cylinder, caps } => {
                let (from, to, r) = (cylinder.from.value, cylinder.to.value, cylinder.radius.value);
                add(name, Surface::Revolved(Revolved::cylinder(from, to, r).map_err(told)?));
                if *caps {
                    for end in [from, to] {
                        add(name, Surface::Revolved(Revolved::disc(end, to - from, r).map_err(told)?));
                    }
                }
            }
            RawGeometry::Cone { from, to, from_radius, to_radius } => {
                let cone = Revolved::cone(from.value, to.value, from_radius.value, to_radius.value);
                add(name, Surface::Revolved(cone.map_err(told)?));
            }
            RawGeometry::Sphere(s) => {
                add(name, Surface::Shell(Shell::new(s.centre.value, s.radius.value).map_err(told)?));
            }
            RawGeometry::Triangle(corners) => add(name, mesh(c, at, Mesh::triangle(*corners, reach))?),
            RawGeometry::Mesh { file, scale, rotate, at: shift } => {
                let path = c.folder.join(&file.value);
                let read = stl::read(&path).map_err(|e| c.raw.error_at(file, e.to_string()))?;
                let scale = scale.map_or(1.0, |s| s.value);
                let turn = match rotate {
                    None => Quat::IDENTITY,
                    Some((axis, angle)) => match axis.value.try_normalize() {
                        Some(axis) => Quat::from_axis_angle(axis, angle.value),
                        None => return c.wrong(axis, "must have a length"),
                    },
                };
                let shift = shift.map_or(Vec3::ZERO, |s| s.value);
                let vertices = read.vertices.iter().map(|&v| turn * (Vec3::from_array(v) * scale) + shift).collect();
                add(name, mesh(c, file.at, Mesh::new(vertices, read.triangles, reach))?);
            }
        }
    }
    Ok(walls)
}

fn mesh(c: &Context, at: Location, mesh: Result<Mesh, esker::boundary::MeshError>) -> Result<Surface, SceneError> {
    mesh.map(Surface::Mesh).map_err(|e| c.raw.error_at(at, e.to_string()))
}

type Piece<'n> = ((Vec<Vec3>, bool), Option<&'n str>);

/// A line cut at its gaps: the pieces that stay, and the gaps under their own names.
fn pieces<'n>(c: &Context, raw: &'n RawWall, points: &[Vec3], closed: bool) -> Result<Vec<Piece<'n>>, SceneError> {
    let n = points.len();
    let segments = if closed { n } else { n.saturating_sub(1) };
    let mut gap_of: Vec<Option<&str>> = vec![None; segments];
    for gap in &raw.gaps {
        let [a, b] = gap.between.value.map(|k| k as usize);
        let (low, high) = (a.min(b), a.max(b));
        let segment = match (high < n, high - low) {
            (true, 1) => low,
            (true, d) if closed && d == n - 1 => high,
            _ => {
                return c.wrong(
                    &gap.between,
                    &format!(
                        "does not name two neighbouring points of the line; it has points 0 to {}",
                        n.saturating_sub(1)
                    ),
                );
            }
        };
        gap_of[segment] = Some(&gap.name.value);
    }
    if gap_of.iter().all(Option::is_none) {
        return Ok(vec![((points.to_vec(), closed), None)]);
    }
    let mut result = Vec::new();
    let end = |s: usize| points[(s + 1) % n];
    let mut open: Vec<Vec3> = Vec::new();
    for s in 0..segments {
        if let Some(name) = gap_of[s] {
            if open.len() > 1 {
                result.push(((std::mem::take(&mut open), false), None));
            }
            open.clear();
            result.push(((vec![points[s], end(s)], false), Some(name)));
        } else {
            if open.is_empty() {
                open.push(points[s]);
            }
            open.push(end(s));
        }
    }
    if open.len() > 1 {
        // A closed line goes on where it began, unless the first segment is a gap.
        if closed
            && gap_of[0].is_none()
            && let Some(((first, _), None)) = result.first_mut()
        {
            open.extend_from_slice(&first[1..]);
            *first = open;
        } else {
            result.push(((open, false), None));
        }
    }
    Ok(result)
}

/// A motion of one or several parts.
pub(super) fn motion(c: &Context, raw: &[RawMotion]) -> Result<Motion, SceneError> {
    let mut parts = Vec::new();
    for m in raw {
        match &m.kind {
            RawMotionKind::Translate(v) => parts.push(MotionPart::Translate { velocity: v.value }),
            RawMotionKind::Rotate { axis, rate } => {
                let (through, axis) = line(c, axis, m.at)?;
                parts.push(MotionPart::Rotate { through, axis, rate: rate.value });
            }
            RawMotionKind::Oscillate { direction, amplitude, frequency, phase, form } => {
                let Some(direction) = direction.value.try_normalize() else {
                    return c.wrong(direction, "must have a length");
                };
                parts.push(MotionPart::Oscillate {
                    amplitude: direction * amplitude.value,
                    frequency: c.not_negative(frequency)?,
                    phase: phase.map_or(0.0, |p| p.value),
                    form: match form.map(|f| f.value) {
                        Some(choice::Waveform::Parabolic) => Waveform::Parabolic,
                        _ => Waveform::Sine,
                    },
                });
            }
            RawMotionKind::Swing { axis, amplitude, frequency, phase } => {
                let (through, axis) = line(c, axis, m.at)?;
                parts.push(MotionPart::Swing {
                    through,
                    axis,
                    amplitude: amplitude.value,
                    frequency: c.not_negative(frequency)?,
                    phase: phase.map_or(0.0, |p| p.value),
                });
            }
            RawMotionKind::Schedule(phases) => parts.push(schedule(c, phases, m.at)?),
            RawMotionKind::Jump { at, by } => parts.push(MotionPart::Jump { at: at.value, by: by.value }),
        }
    }
    let motion = Motion { parts };
    match (motion.check(), raw.first()) {
        (Err(e), Some(first)) => c.error(first.at, e.to_string()),
        _ => Ok(motion),
    }
}

/// Point and direction of an axis: through the origin, and along z in a planar scene, where nothing is said.
fn line(c: &Context, raw: &RawAxis, at: Location) -> Result<(Vec3, Vec3), SceneError> {
    let through = raw.through.map_or(Vec3::ZERO, |t| t.value);
    match (&raw.axis, c.raw.planar) {
        (Some(axis), planar) => match axis.value.try_normalize() {
            Some(a) if planar && a.x.hypot(a.y) > 1e-12 => c.wrong(axis, "must lie along z in a planar scene"),
            Some(a) => Ok((through, a)),
            None => c.wrong(axis, "must have a length"),
        },
        (None, true) => Ok((through, Vec3::Z)),
        (None, false) => c.error(at, "a rotation needs `axis`"),
    }
}

fn schedule(c: &Context, phases: &[RawPhase], at: Location) -> Result<MotionPart, SceneError> {
    let turning = phases.iter().find(|p| p.rate.is_some_and(|r| r.value != 0.0));
    let (through, axis) = match turning {
        Some(phase) => line(c, &phase.axis, at)?,
        None => (Vec3::ZERO, Vec3::Z),
    };
    let same = |phase: &&RawPhase| {
        phase.rate.is_none_or(|r| r.value == 0.0) || line(c, &phase.axis, at).is_ok_and(|l| l == (through, axis))
    };
    if let Some(other) = phases.iter().find(|p| !same(p)) {
        return c.error(other.at, "all phases of a schedule turn about one axis; use two motions for two axes");
    }
    let legs = phases
        .iter()
        .map(|p| {
            Ok(Leg {
                duration: c.not_negative(&p.duration)?,
                velocity: p.velocity.map_or(Vec3::ZERO, |v: Spanned<Vec3>| v.value),
                rate: p.rate.map_or(0.0, |r| r.value),
            })
        })
        .collect::<Result<_, SceneError>>()?;
    Ok(MotionPart::Schedule { through, axis, legs })
}
