//! From a frame to shapes in the picture.

use super::camera::{Camera, Fit};
use super::field::{Colouring, Scale};
use super::outline::Surface;
use super::raster::{Ball, Drawing, Half, Line, Look, SAMPLES, Triangle};
use super::settings::{Clip, Kept};
use super::shot::Shot;
use crate::colour::Rgb;
use esker::math::{Quat, Vec3};
use esker_io::store::{FrameData, Part, Table, WallMesh};
use rayon::prelude::*;

/// Half of the width of the strongest contact, over the mean radius of grains.
const CHAIN: f64 = 0.4;
/// Half of the least width of a contact \[samples\].
const THINNEST: f64 = 0.2 * SAMPLES as f64;
/// Edges of walls nearer than that are not drawn in perspective \[m\].
const NEAREST: f64 = 1e-4;
/// How far edges of walls stand out from what they touch, over the mean radius.
const LIFT: f64 = 0.02;
/// How far before everything else lines of a planar scene are \[m\].
const IN_FRONT: f64 = 1e9;
/// How much pale grains tend to the background.
const PALER: f32 = 0.55;
/// Contrast of light and shade on pale grains.
const PALE_CONTRAST: f32 = 0.4;

impl Clip {
    /// The plane with its normal towards what is cut away, seen along a direction.
    pub(super) fn outward(&self, forward: Vec3) -> (Vec3, f64) {
        let ahead = if self.axis.dot(forward) > 0.0 { -1.0 } else { 1.0 };
        let sign = if self.kept == Kept::Behind { ahead } else { -ahead };
        (sign * self.axis, sign * self.position)
    }
}

/// The column `position` and the radii.
fn places(grains: &Table) -> impl Iterator<Item = (Vec3, f64)> + '_ {
    let both = grains.column("position").zip(grains.column("radius"));
    let rows = if both.is_some() { grains.rows } else { 0 };
    (0..rows).filter_map(move |row| both.map(|(p, r)| (Vec3::from(p.vector(row)), r.values[row])))
}

/// Takes everything that is not cut away into the frame.
pub(super) fn take_in(fit: &mut Fit, frame: &FrameData, walls: bool, clip: &Option<(Vec3, f64)>) {
    let left = |place: Vec3| clip.map_or(0.0, |(normal, offset)| offset - normal.dot(place));
    for (place, radius) in places(&frame.grains).filter(|(place, radius)| left(*place) > -radius) {
        fit.include(place, radius);
    }
    for wall in frame.walls.iter().filter(|_| walls).map(surface) {
        let edges = wall.triangles.iter().flat_map(|[a, b, c]| [[a, b], [b, c], [c, a]]);
        let ends = edges.map(|ends| ends.map(|k| wall.corners[*k as usize]));
        ends.filter_map(|ends| shortened(ends, left)).flatten().for_each(|place| fit.include(place, 0.0));
    }
}

/// A wall where it is.
fn surface((part, mesh): &(Part, WallMesh)) -> Surface {
    let (place, turn) = (Vec3::from(part.position), Quat::from_array(part.orientation));
    let corners = mesh.vertices.iter().map(|v| place + turn * Vec3::from(*v)).collect();
    Surface { corners, triangles: mesh.triangles.clone() }
}

/// Shapes of a frame; the camera sees samples.
pub(super) fn drawing(shot: &Shot, frame: &FrameData, camera: Camera) -> Drawing {
    let half = shot.clip.map(|clip| {
        let (normal, offset) = clip.outward(camera.axes.forward);
        Half { normal: camera.axes.turned(normal), offset: offset - normal.dot(camera.eye) }
    });
    let walls: Vec<Surface> = frame.walls.iter().filter(|_| shot.walls).map(surface).collect();
    // A planar scene from the front: walls are lines, and nothing is behind them.
    let flat = shot.planar && camera.axes.forward.z.abs() > 0.999;
    let painter = Painter { shot, camera, half };
    Drawing {
        camera,
        balls: painter.balls(&frame.grains),
        look: painter.look(&frame.grains),
        contrast: if shot.contacts.is_some() { PALE_CONTRAST } else { 1.0 },
        chains: painter.chains(frame),
        triangles: if flat { Vec::new() } else { walls.iter().flat_map(|wall| painter.triangles(wall)).collect() },
        edges: if flat { painter.sections(&walls) } else { painter.edges(&walls) },
        edge_opacity: if flat { 0.9 } else { 0.45 },
        half,
        background: shot.background,
    }
}

struct Painter<'a> {
    shot: &'a Shot,
    camera: Camera,
    half: Option<Half>,
}

impl Painter<'_> {
    fn balls(&self, grains: &Table) -> Vec<Ball> {
        let behind = self.shot.background.colour();
        let pale = |colour: Rgb| if self.shot.contacts.is_some() { colour.towards(behind, PALER) } else { colour };
        let colours = self.shot.grains.colours(grains);
        let balls = places(grains).zip(colours);
        balls.map(|((p, radius), c)| Ball { centre: self.camera.view(p), radius, colour: pale(c) }).collect()
    }

    /// Planar grains that show how they are turned are discs.
    fn look(&self, grains: &Table) -> Look {
        match grains.column("orientation").filter(|turn| self.shot.planar && turn.width() == 4) {
            None => Look::Spheres,
            Some(turn) => {
                let mark = |row: usize| {
                    let q = turn.row(row);
                    let q = Quat::from_xyzw(q[0], q[1], q[2], q[3]).normalize();
                    self.camera.axes.turned(q * Vec3::X)
                };
                let marks = (0..grains.rows).into_par_iter().map(mark).collect();
                Look::Discs { normal: self.camera.axes.turned(Vec3::Z), marks }
            }
        }
    }

    /// Contacts as lines from middle to middle, or to the wall.
    fn chains(&self, frame: &FrameData) -> Vec<Line> {
        let Some(Colouring::Scale { field, scale }) = &self.shot.contacts else { return Vec::new() };
        let Some(position) = frame.grains.column("position") else { return Vec::new() };
        let place = |row: f64| Vec3::from(position.vector(row as usize));
        let mut lines = Vec::new();
        if let Some((first, second)) = frame.pairs.column("first").zip(frame.pairs.column("second")) {
            for (row, value) in field.values(&frame.pairs).into_iter().enumerate() {
                lines.push((value, [place(first.values[row]), place(second.values[row])]));
            }
        }
        if let Some((first, branch)) = frame.ends.column("first").zip(frame.ends.column("branch")) {
            for (row, value) in field.values(&frame.ends).into_iter().enumerate() {
                let from = place(first.values[row]);
                lines.push((value, [from, from + Vec3::from(branch.vector(row))]));
            }
        }
        let wide = |value: f64| self.width(scale, value);
        lines.into_iter().filter_map(|(value, ends)| self.line(ends, wide(value), 0.0, scale.colour(value))).collect()
    }

    /// Half of the width of a contact \[m\].
    fn width(&self, scale: &Scale, value: f64) -> f64 {
        let largest = scale.range.max.abs().max(scale.range.min.abs());
        let share = (value.abs() / largest).clamp(0.0, 1.0);
        if share.is_finite() { CHAIN * self.shot.mean_radius * share } else { 0.0 }
    }

    /// A line in the picture, cut where it is cut away or behind the eye.
    fn line(&self, ends: [Vec3; 2], half_width: f64, lift: f64, colour: Rgb) -> Option<Line> {
        let mut ends = ends.map(|end| self.camera.view(end));
        if let Some(half) = self.half {
            ends = shortened(ends, |p| half.offset - half.normal.dot(p))?;
        }
        if self.camera.near().is_finite() {
            ends = shortened(ends, |p| p.z - NEAREST)?;
        }
        let half = ends.map(|p| (half_width * self.camera.scale(p.z)).max(THINNEST));
        Some(Line { ends: ends.map(|p| self.camera.pixel(p)), depths: ends.map(|p| p.z - lift), half, colour })
    }

    fn triangles(&self, wall: &Surface) -> Vec<Triangle> {
        let corners = wall.triangles.iter().map(|t| t.map(|k| self.camera.view(wall.corners[k as usize])));
        corners.flat_map(|corners| self.before_the_eye(corners)).collect()
    }

    /// The part of a triangle that is not behind the eye.
    fn before_the_eye(&self, corners: [Vec3; 3]) -> Vec<Triangle> {
        let triangle = |corners: [Vec3; 3]| Triangle { corners, places: corners.map(|p| self.camera.pixel(p)) };
        if !self.camera.near().is_finite() || corners.iter().all(|p| p.z > NEAREST) {
            return vec![triangle(corners)];
        }
        let mut polygon = Vec::new();
        for k in 0..3 {
            if let Some([from, to]) = shortened([corners[k], corners[(k + 1) % 3]], |p| p.z - NEAREST) {
                polygon.extend([from, to]);
            }
        }
        (2..polygon.len()).map(|k| triangle([polygon[0], polygon[k - 1], polygon[k]])).collect()
    }

    /// Lines of a planar scene, before all grains.
    fn sections(&self, walls: &[Surface]) -> Vec<Line> {
        let lines = walls.iter().flat_map(|wall| wall.section());
        lines.filter_map(|ends| self.edge(ends, 1.0, IN_FRONT)).collect()
    }

    fn edges(&self, walls: &[Surface]) -> Vec<Line> {
        let lift = LIFT * self.shot.mean_radius;
        let lines = walls.par_iter().map(|wall| wall.lines(&self.camera)).flatten_iter();
        lines.filter_map(|ends| self.edge(ends, 0.6, lift)).collect()
    }

    fn edge(&self, ends: [Vec3; 2], half_pixels: f64, lift: f64) -> Option<Line> {
        let colour = self.shot.background.ink();
        let line = self.line(ends, 0.0, lift, colour)?;
        Some(Line { half: [half_pixels * SAMPLES as f64; 2], ..line })
    }
}

/// The part of a line where a function that changes evenly along it is positive.
fn shortened(ends: [Vec3; 2], function: impl Fn(Vec3) -> f64) -> Option<[Vec3; 2]> {
    let [a, b] = ends;
    let (f, g) = (function(a), function(b));
    let zero = || a + (b - a) * (f / (f - g));
    match (f >= 0.0, g >= 0.0) {
        (true, true) => Some(ends),
        (true, false) => Some([a, zero()]),
        (false, true) => Some([zero(), b]),
        (false, false) => None,
    }
}
