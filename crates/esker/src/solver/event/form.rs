//! Pieces of walls as functions of a grain's centre that are zero where the grain touches.
//!
//! Each is a plane, a quadric or, for the rim of a disc or a pipe, a distance, with what its derivatives are bounded by. They
//! stand for endless surfaces: whether a wall is really there is asked of its [`Surface`](crate::boundary::Surface) where one of them is zero.

use crate::boundary::{Mesh, Revolved, Surface};
use crate::math::{Aabb, Vec3};

/// A piece of a wall in the wall frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Form {
    /// A half-space: x·normal < offset.
    HalfSpace { normal: Vec3, offset: f64 },
    /// A plane touched from both sides.
    Plate { normal: Vec3, offset: f64 },
    /// A point: corners.
    Point { at: Vec3 },
    /// A line: edges, and corners of planar scenes.
    Line { through: Vec3, along: Vec3 },
    /// A sphere, from inside and outside.
    Ball { centre: Vec3, radius: f64 },
    /// A cylinder, from inside and outside.
    Tube { through: Vec3, along: Vec3, radius: f64 },
    /// A cone from inside and outside: `across` ρ + `slope` s = `offset` with across² + slope² = 1, across > 0, where s runs along the
    /// axis and ρ is the distance from it.
    Cone { through: Vec3, along: Vec3, across: f64, slope: f64, offset: f64 },
    /// A circle about an axis.
    Rim { centre: Vec3, along: Vec3, radius: f64 },
}

/// On which side of a thin surface a grain is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Side {
    /// Where the normal points, outside.
    Out,
    /// The other.
    In,
}

impl Side {
    /// +1 or −1.
    fn sign(self) -> f64 {
        match self {
            Side::Out => 1.0,
            Side::In => -1.0,
        }
    }

    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Side::Out => Side::In,
            Side::In => Side::Out,
        }
    }
}

/// Value and derivatives of a form at a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    /// Positive away from the wall, zero at touching.
    pub gap: f64,
    /// Its gradient.
    pub gradient: Vec3,
}

impl Value {
    /// The length of which a gap that vanishes is a small fraction, over the gradient: a distance to the surface \[m\].
    pub fn distance(&self) -> f64 {
        let slope = self.gradient.length();
        if slope > 0.0 { self.gap / slope } else { self.gap.abs().sqrt() }
    }
}

/// The part of `x` across a direction.
#[inline]
fn across(x: Vec3, along: Vec3) -> Vec3 {
    x - x.dot(along) * along
}

impl Form {
    /// Whether grains touch it from two sides, which have different gaps.
    pub fn has_two_sides(&self) -> bool {
        matches!(self, Form::Plate { .. } | Form::Ball { .. } | Form::Tube { .. } | Form::Cone { .. })
    }

    /// Whether a grain can be seen at a glance not to touch it anywhere in a triangle.
    pub fn is_clear_of(&self, radius: f64, triangle: &[Vec3; 3]) -> bool {
        let [a, b, c] = *triangle;
        // Where the room is convex, what is clear at the corners is clear in between.
        let corners_are_clear =
            |form: &Form, side: Side| triangle.iter().all(|x| form.value(side, radius, *x).gap > 0.0);
        let clear = match *self {
            Form::HalfSpace { .. } | Form::Plate { .. } => corners_are_clear(self, self.side(a)),
            Form::Ball { .. } | Form::Tube { .. } => corners_are_clear(self, Side::In),
            // A rim lies in a plane and on a tube.
            Form::Rim { centre, along, radius } => {
                let plate = Form::Plate { normal: along, offset: centre.dot(along) };
                let tube = Form::Tube { through: centre, along, radius };
                corners_are_clear(&plate, plate.side(a)) || corners_are_clear(&tube, Side::In)
            }
            Form::Point { .. } | Form::Line { .. } | Form::Cone { .. } => false,
        };
        clear || self.distance(a) > radius + a.distance_squared(b).max(a.distance_squared(c)).sqrt()
    }

    /// Distance of a point, or less \[m\]; from a half-space negative inside.
    #[inline]
    pub fn distance(&self, x: Vec3) -> f64 {
        let meridian = |from: Vec3, along: Vec3| {
            let w = x - from;
            (w.dot(along), across(w, along).length())
        };
        match *self {
            Form::HalfSpace { normal, offset } => x.dot(normal) - offset,
            Form::Plate { normal, offset } => (x.dot(normal) - offset).abs(),
            Form::Point { at } => x.distance(at),
            Form::Line { through, along } => meridian(through, along).1,
            Form::Ball { centre, radius } => (x.distance(centre) - radius).abs(),
            Form::Tube { through, along, radius } => (meridian(through, along).1 - radius).abs(),
            Form::Cone { through, along, across, slope, offset } => {
                let (s, rho) = meridian(through, along);
                (across * rho + slope * s - offset).abs()
            }
            Form::Rim { centre, along, radius } => {
                let (s, rho) = meridian(centre, along);
                (s * s + (rho - radius) * (rho - radius)).sqrt()
            }
        }
    }

    /// The side a centre is on.
    #[inline]
    pub fn side(&self, x: Vec3) -> Side {
        let out = match *self {
            Form::Plate { normal, offset } => x.dot(normal) >= offset,
            Form::Ball { centre, radius } => x.distance_squared(centre) >= radius * radius,
            Form::Tube { through, along, radius } => across(x - through, along).length_squared() >= radius * radius,
            Form::Cone { through, along, across: a, slope, offset } => {
                let w = x - through;
                a * across(w, along).length() + slope * w.dot(along) >= offset
            }
            _ => true,
        };
        if out { Side::Out } else { Side::In }
    }

    /// Gap and gradient of a grain of a radius on a side. Of planes and rims a distance, of the others a difference of squares.
    #[inline]
    pub fn value(&self, side: Side, radius: f64, x: Vec3) -> Value {
        let sign = side.sign();
        let squares = |w: Vec3, reach: f64| {
            let gap = sign * (w.length_squared() - reach * reach);
            Value { gap, gradient: 2.0 * sign * w }
        };
        match *self {
            Form::HalfSpace { normal, offset } => Value { gap: x.dot(normal) - offset - radius, gradient: normal },
            Form::Plate { normal, offset } => {
                Value { gap: sign * (x.dot(normal) - offset) - radius, gradient: sign * normal }
            }
            Form::Point { at } => squares(x - at, radius),
            Form::Line { through, along } => squares(across(x - through, along), radius),
            Form::Ball { centre, radius: wall } => squares(x - centre, room(wall, sign * radius)),
            Form::Tube { through, along, radius: wall } => {
                squares(across(x - through, along), room(wall, sign * radius))
            }
            Form::Cone { through, along, across: a, slope, offset } => {
                // a ρ against l = offset ± r − slope s, both squared with their signs.
                let w = x - through;
                let l = offset + sign * radius - slope * w.dot(along);
                let out = across(w, along);
                let gap = sign * (a * a * out.length_squared() - l * l.abs());
                Value { gap, gradient: sign * (2.0 * a * a * out + 2.0 * l.abs() * slope * along) }
            }
            Form::Rim { centre, along, radius: wall } => {
                let w = x - centre;
                let s = w.dot(along);
                let out = w - s * along;
                let rho = out.length();
                let distance = (s * s + (rho - wall) * (rho - wall)).sqrt();
                let outward = if rho > 0.0 { out / rho } else { Vec3::ZERO };
                let gradient =
                    if distance > 0.0 { (s * along + (rho - wall) * outward) / distance } else { Vec3::ZERO };
                Value { gap: distance - radius, gradient }
            }
        }
    }

    /// Bounds of the eigenvalues of its second derivatives within `reach` of a place.
    #[inline]
    pub fn curvature(&self, side: Side, x: Vec3, reach: f64) -> [f64; 2] {
        match *self {
            Form::HalfSpace { .. } | Form::Plate { .. } => [0.0, 0.0],
            Form::Point { .. } | Form::Line { .. } => [0.0, 2.0],
            Form::Ball { .. } | Form::Tube { .. } => match side {
                Side::Out => [0.0, 2.0],
                Side::In => [-2.0, 0.0],
            },
            Form::Cone { .. } => [-2.0, 2.0],
            Form::Rim { centre, along, radius } => {
                // Along the circle (ρ − R)/(ρ d), across it 1/d.
                let w = x - centre;
                let rho = across(w, along).length();
                let distance = (w.dot(along).powi(2) + (rho - radius).powi(2)).sqrt();
                let (nearest, closest) = (rho - reach, distance - reach);
                if nearest <= 0.0 || closest <= 0.0 {
                    return [f64::NEG_INFINITY, f64::INFINITY];
                }
                [(nearest - radius).min(0.0) / (nearest * closest), 1.0 / closest]
            }
        }
    }

    /// The exact second derivative of a plane's gap along a motion with this acceleration.
    #[inline]
    pub fn bend_of_plane(&self, side: Side, acceleration: Vec3) -> Option<f64> {
        match *self {
            Form::HalfSpace { normal, .. } => Some(normal.dot(acceleration)),
            Form::Plate { normal, .. } => Some(side.sign() * normal.dot(acceleration)),
            _ => None,
        }
    }
}

/// Distance of a centre from the axis or the middle of a hollow wall: R + r outside, R − r inside, 0 where it has no room.
#[inline]
fn room(wall: f64, radius: f64) -> f64 {
    (wall + radius).max(0.0)
}

/// The pieces of a wall, each with a box around it.
pub(super) fn forms(surface: &Surface) -> Vec<(Form, Aabb)> {
    match surface {
        Surface::Plane(plane) => {
            let offset = plane.point.dot(plane.normal);
            vec![(Form::HalfSpace { normal: plane.normal, offset }, surface.bounds())]
        }
        Surface::Shell(shell) => vec![(Form::Ball { centre: shell.centre, radius: shell.radius }, surface.bounds())],
        Surface::Revolved(revolved) => of_revolved(revolved),
        Surface::Polyline(line) => {
            let points = line.points();
            let count = if line.is_closed() { points.len() } else { points.len() - 1 };
            let tall = |b: Aabb| Aabb { min: b.min.with_z(f64::NEG_INFINITY), max: b.max.with_z(f64::INFINITY) };
            let mut forms = Vec::new();
            for i in 0..count {
                let (a, b) = (points[i], points[(i + 1) % points.len()]);
                let normal = Vec3::new(b.y - a.y, a.x - b.x, 0.0).normalize();
                let bounds = tall(Aabb::EMPTY.including(a).including(b));
                forms.push((Form::Plate { normal, offset: a.dot(normal) }, bounds));
            }
            for &point in points {
                let bounds = tall(Aabb::EMPTY.including(point));
                forms.push((Form::Line { through: point, along: Vec3::Z }, bounds));
            }
            forms
        }
        Surface::Mesh(mesh) => of_mesh(mesh),
    }
}

/// Face and rims; the middle of a disc needs no form of its own.
fn of_revolved(r: &Revolved) -> Vec<(Form, Aabb)> {
    let [(s0, rho0), (s1, rho1)] = r.profile;
    let at = |s: f64| r.origin + s * r.axis;
    let face = if s0 == s1 {
        Form::Plate { normal: r.axis, offset: at(s0).dot(r.axis) }
    } else if rho0 == rho1 {
        Form::Tube { through: r.origin, along: r.axis, radius: rho0 }
    } else {
        let length = (s1 - s0).hypot(rho1 - rho0);
        let turn = (s1 - s0).signum();
        let (a, slope) = ((s1 - s0).abs() / length, -turn * (rho1 - rho0) / length);
        Form::Cone { through: r.origin, along: r.axis, across: a, slope, offset: a * rho0 + slope * s0 }
    };
    let mut forms = vec![(face, r.bounds())];
    for (s, rho) in r.profile {
        let bounds = Revolved { profile: [(s, rho); 2], ..*r }.bounds();
        if rho > 0.0 {
            forms.push((Form::Rim { centre: at(s), along: r.axis, radius: rho }, bounds));
        } else if s0 != s1 {
            forms.push((Form::Point { at: at(s) }, bounds));
        }
    }
    forms
}

/// Faces, edges and corners. Those inside a flat patch are found with it: they need no forms of their own.
fn of_mesh(mesh: &Mesh) -> Vec<(Form, Aabb)> {
    let vertices = mesh.vertices();
    let mut forms = Vec::new();
    let mut edges: Vec<([u32; 2], Vec3)> = Vec::new();
    for triangle in mesh.triangles() {
        let corners = triangle.map(|v| vertices[v as usize]);
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize();
        let bounds = corners.into_iter().fold(Aabb::EMPTY, Aabb::including);
        forms.push((Form::Plate { normal, offset: corners[0].dot(normal) }, bounds));
        for k in 0..3 {
            let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
            edges.push(([a.min(b), a.max(b)], normal));
        }
    }
    edges.sort_by_key(|(edge, _)| *edge);
    let mut corners = vec![false; vertices.len()];
    for group in edges.chunk_by(|a, b| a.0 == b.0) {
        let [a, b] = group[0].0;
        let flat = group.len() == 2 && group[0].1.cross(group[1].1).length() < 1e-12;
        if flat {
            continue;
        }
        let (from, to) = (vertices[a as usize], vertices[b as usize]);
        let bounds = Aabb::EMPTY.including(from).including(to);
        forms.push((Form::Line { through: from, along: (to - from).normalize() }, bounds));
        (corners[a as usize], corners[b as usize]) = (true, true);
    }
    let points = corners.iter().zip(vertices).filter(|(is, _)| **is);
    forms.extend(points.map(|(_, &at)| (Form::Point { at }, Aabb::EMPTY.including(at))));
    forms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    #[test]
    fn what_is_clear_at_a_glance_is_touched_nowhere_in_the_triangle() {
        let mut random = Stream::new(3, Purpose::Noise, 0);
        let (centre, along) = (Vec3::new(0.1, -0.2, 0.3), Vec3::new(1.0, 2.0, -2.0) / 3.0);
        let forms = [
            Form::HalfSpace { normal: along, offset: -0.4 },
            Form::Plate { normal: along, offset: 0.2 },
            Form::Point { at: centre },
            Form::Line { through: centre, along },
            Form::Ball { centre, radius: 0.9 },
            Form::Tube { through: centre, along, radius: 0.7 },
            Form::Cone { through: centre, along, across: 0.8, slope: 0.6, offset: 0.5 },
            Form::Rim { centre, along, radius: 0.8 },
        ];
        for form in forms {
            let mut clear = 0;
            for _ in 0..2000 {
                let mut draw = |from: Vec3, size: f64| {
                    from + size
                        * Vec3::new(random.between(-1.0, 1.0), random.between(-1.0, 1.0), random.between(-1.0, 1.0))
                };
                let a = draw(centre, 1.0);
                let triangle = [a, draw(a, 0.3), draw(a, 0.3)];
                let radius = random.between(0.0, 0.3);
                if !form.is_clear_of(radius, &triangle) {
                    continue;
                }
                clear += 1;
                let side = form.side(a);
                for _ in 0..50 {
                    let (u, v) = (random.uniform(), random.uniform());
                    let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
                    let x = a + u * (triangle[1] - a) + v * (triangle[2] - a);
                    assert!(form.value(side, radius, x).gap > 0.0, "{form:?}: {radius} at {x} in {triangle:?}");
                }
            }
            assert!(clear > 200, "{form:?}: {clear}");
        }
    }
}
