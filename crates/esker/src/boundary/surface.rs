//! The closed set of wall surfaces, what a contact with one is, and the rule that reports each contact once.
//!
//! Costs O(1) per grain for planes, shells and surfaces of revolution, O(segments) for polylines and O(triangles in
//! one grid cell) for meshes; with a list of the pieces near it, O(those). Checked in each surface's own file and, across kinds, in `tests/walls.rs`.

use thiserror::Error;

use super::{Mesh, MeshError, Plane, Polyline, Revolved, Shell};
use crate::math::{Aabb, Vec3};

/// Points closer than this fraction of the grain's radius, or this close to the plane of a touched face, belong to the
/// same contact. Far above rounding, far below any overlap that matters.
const SAME_CONTACT: f64 = 1e-6;

/// Directions whose sine is below this are parallel: joints of faces or segments within it are smooth. It lies above
/// the noise of single-precision mesh files and below the kinks of finely divided curved walls.
pub(super) const SMOOTH_ANGLE: f64 = 1e-5;

/// A wall surface in its own frame.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // a scene has few walls, and they are not moved about
pub enum Surface {
    /// A half-space.
    Plane(Plane),
    /// A chain of segments in the x-y plane, for planar scenes.
    Polyline(Polyline),
    /// A straight profile spun about an axis: disc, annulus, cylinder or cone.
    Revolved(Revolved),
    /// A sphere, touched from inside or outside.
    Shell(Shell),
    /// A triangle mesh.
    Mesh(Mesh),
}

/// One contact of a sphere with a wall, in the wall frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WallTouch {
    /// Which face, edge or vertex of the wall: stable from step to step, so history can be carried.
    pub feature: u32,
    /// Unit normal from the grain's centre into the wall; the push on the grain is along `-normal`.
    pub normal: Vec3,
    /// Overlap, positive in contact \[m\].
    pub overlap: f64,
    /// Point of the wall surface that is touched \[m\].
    pub point: Vec3,
    /// Principal curvatures of the wall at the contact \[1/m\], positive where the wall is convex towards the grain,
    /// negative inside a drum. Flat faces, edges and vertices have (0, 0): edges use the flat limit, in which the
    /// effective radius of the contact is the radius of the grain.
    ///
    /// A grain that fits its hollow closely (a sphere nearly as large as the cylinder around it) makes the sum of
    /// curvatures vanish or change sign: a conforming contact, outside Hertz's theory, which the law has to limit.
    pub curvature: [f64; 2],
}

/// Why a surface cannot be made.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SurfaceError {
    /// A coordinate is infinite or not a number.
    #[error("{what} is {value}: coordinates must be finite")]
    NotFinite {
        /// Which vector of the surface.
        what: &'static str,
        /// Its value \[m\].
        value: Vec3,
    },
    /// A direction has no length.
    #[error("{what} is {value}: a direction must have a length")]
    NoDirection {
        /// Which vector of the surface.
        what: &'static str,
        /// Its value.
        value: Vec3,
    },
    /// A length is not a positive number.
    #[error("{what} is {value} m: it must be positive and finite")]
    NotPositive {
        /// Which length of the surface.
        what: &'static str,
        /// Its value \[m\].
        value: f64,
    },
    /// The profile of a surface of revolution has no length or reaches beyond the axis.
    #[error(
        "profile runs from (s, rho) = ({}, {}) m to ({}, {}) m: its ends must differ and no rho be negative",
        profile[0].0, profile[0].1, profile[1].0, profile[1].1
    )]
    BadProfile {
        /// The (axial, radial) ends \[m\].
        profile: [(f64, f64); 2],
    },
    /// Fewer than two points.
    #[error("a polyline of {count} points has no segment: give at least two (three when closed)")]
    TooFewPoints {
        /// Number of points given.
        count: usize,
    },
    /// Two consecutive points of a polyline coincide.
    #[error("points {first} and {second} of the polyline coincide at {at}: leave one out")]
    CoincidentPoints {
        /// Index of the first point.
        first: usize,
        /// Index of the second point; 0 when a closed chain repeats its start.
        second: usize,
        /// Where they are \[m\].
        at: Vec3,
    },
    /// The triangles of a mesh cannot be used.
    #[error(transparent)]
    Mesh(#[from] MeshError),
}

impl Surface {
    /// Appends the contacts of a sphere with this surface, each physical contact once, ordered by feature.
    pub fn touches(&self, centre: Vec3, radius: f64, out: &mut Vec<WallTouch>) {
        match self {
            Surface::Plane(s) => s.touches(centre, radius, out),
            Surface::Polyline(s) => s.touches(centre, radius, out),
            Surface::Revolved(s) => s.touches(centre, radius, out),
            Surface::Shell(s) => s.touches(centre, radius, out),
            Surface::Mesh(s) => s.touches(centre, radius, out),
        }
    }

    /// Whether the surface is nearer than `reach` to a point; of a mesh or a chain, the pieces that are go to `facets`.
    pub fn is_near(&self, point: Vec3, reach: f64, facets: &mut Vec<u32>) -> bool {
        let before = facets.len();
        match self {
            Surface::Mesh(s) => s.near(point, reach, facets),
            Surface::Polyline(s) => s.near(point, reach, facets),
            _ => {
                let mut touches = Vec::new();
                self.touches(point, reach, &mut touches);
                return !touches.is_empty();
            }
        }
        facets.len() > before
    }

    /// Appends the contacts of a sphere that reaches no facets but these; surfaces without facets are whole.
    pub fn touches_among(&self, facets: &[u32], centre: Vec3, radius: f64, out: &mut Vec<WallTouch>) {
        match self {
            Surface::Mesh(s) => s.touches_among(facets, centre, radius, out),
            Surface::Polyline(s) => s.touches_among(facets, centre, radius, out),
            _ => self.touches(centre, radius, out),
        }
    }

    /// Distance from a point to the surface \[m\]: signed for a plane (negative behind it), unsigned otherwise.
    pub fn distance(&self, point: Vec3) -> f64 {
        match self {
            Surface::Plane(s) => s.distance(point),
            Surface::Polyline(s) => s.distance(point),
            Surface::Revolved(s) => s.distance(point),
            Surface::Shell(s) => s.distance(point),
            Surface::Mesh(s) => s.distance(point),
        }
    }

    /// Smallest box around the surface: infinite for a plane, infinite in z for a polyline.
    pub fn bounds(&self) -> Aabb {
        match self {
            Surface::Plane(_) => Aabb { min: Vec3::NEG_INFINITY, max: Vec3::INFINITY },
            Surface::Polyline(s) => s.bounds(),
            Surface::Revolved(s) => s.bounds(),
            Surface::Shell(s) => s.bounds(),
            Surface::Mesh(s) => s.bounds(),
        }
    }

    /// Distance from the axis through a point within which the whole surface lies, or more \[m\]. A chain stands for what is
    /// above and below it too, so that it has no bound but about the z axis.
    pub fn extent_from(&self, point: Vec3, axis: Vec3) -> f64 {
        match self {
            Surface::Polyline(s) if axis.x == 0.0 && axis.y == 0.0 => s.extent_from(point),
            Surface::Polyline(_) => f64::INFINITY,
            _ => {
                let b = self.bounds();
                (point - b.min).abs().max((b.max - point).abs()).length()
            }
        }
    }

    /// Whether turning about the line through `through` along `axis` leaves the surface where it is (within 1e-12 of
    /// its size and distance from the origin).
    pub fn is_invariant_under_spin(&self, through: Vec3, axis: Vec3) -> bool {
        const TOLERANCE: f64 = 1e-12;
        let Some(axis) = axis.try_normalize() else { return false };
        let parallel = |direction: Vec3| direction.cross(axis).length() <= TOLERANCE;
        let offset = |point: Vec3| (point - through).cross(axis).length();
        let reach = |point: Vec3, size: f64| TOLERANCE * (size + point.length() + through.length());
        match self {
            Surface::Plane(s) => parallel(s.normal),
            Surface::Shell(s) => offset(s.centre) <= reach(s.centre, s.radius),
            Surface::Revolved(s) => {
                let [(s0, rho0), (s1, rho1)] = s.profile;
                let size = s0.abs().max(s1.abs()).max(rho0).max(rho1);
                parallel(s.axis) && offset(s.origin) <= reach(s.origin, size)
            }
            Surface::Polyline(_) | Surface::Mesh(_) => false,
        }
    }

    /// Triangles for pictures: vertices and their indices. Polylines become strips of width `planar_depth` \[m\] about
    /// z = 0, planes a rectangle that covers `clip`.
    pub fn triangles(&self, planar_depth: f64, clip: Aabb) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        match self {
            Surface::Plane(s) => s.triangles(clip),
            Surface::Polyline(s) => s.triangles(planar_depth),
            Surface::Revolved(s) => s.triangles(),
            Surface::Shell(s) => s.triangles(),
            Surface::Mesh(s) => (s.vertices().to_vec(), s.triangles().to_vec()),
        }
    }
}

/// The point if all its coordinates are finite.
pub(super) fn finite(what: &'static str, value: Vec3) -> Result<Vec3, SurfaceError> {
    if value.is_finite() { Ok(value) } else { Err(SurfaceError::NotFinite { what, value }) }
}

/// The unit vector along a direction that has a length.
pub(super) fn direction(what: &'static str, value: Vec3) -> Result<Vec3, SurfaceError> {
    finite(what, value)?.try_normalize().ok_or(SurfaceError::NoDirection { what, value })
}

/// The length if it is positive and finite.
pub(super) fn positive(what: &'static str, value: f64) -> Result<f64, SurfaceError> {
    if value > 0.0 && value.is_finite() { Ok(value) } else { Err(SurfaceError::NotPositive { what, value }) }
}

/// The part of a piece of wall (triangle or segment) that is nearest to a grain, with the vertices that name it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Part {
    Face,
    Edge([u32; 2]),
    Vertex(u32),
}

impl Part {
    /// Whether a piece with these vertices has this edge or vertex too.
    fn belongs_to(self, vertices: [u32; 3]) -> bool {
        match self {
            Part::Face => false,
            Part::Edge([a, b]) => vertices.contains(&a) && vertices.contains(&b),
            Part::Vertex(v) => vertices.contains(&v),
        }
    }
}

/// The nearest point of one piece of wall to a grain that overlaps it.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub touch: WallTouch,
    pub piece: u32,
    /// Vertices of the piece; a segment repeats one.
    pub vertices: [u32; 3],
    pub part: Part,
    pub kept: bool,
}

impl Candidate {
    /// Whether this candidate repeats a deeper one that has been kept: the same feature, the same point, or a point in
    /// the plane of a touched face, where neighbours that share no vertices meet (T-junctions, slits).
    fn repeats(&self, kept: &Candidate, tolerance: f64) -> bool {
        if self.touch.feature == kept.touch.feature {
            return true;
        }
        let apart = self.touch.point - kept.touch.point;
        let in_plane = kept.part == Part::Face
            && apart.dot(kept.touch.normal).abs() <= tolerance
            && (self.part != Part::Face || self.touch.normal.cross(kept.touch.normal).length() <= SAME_CONTACT);
        in_plane || apart.length() <= tolerance
    }
}

/// Appends those candidates that are contacts of their own, ordered by feature.
///
/// Faces count whenever the foot of the perpendicular lies on them. An edge or vertex counts only if the grain's centre
/// is in its Voronoi region, that is if none of the pieces that share it is nearer to the centre; between equals the
/// first piece speaks for all. Since whatever is nearest of all is kept, rounding can neither lose nor double a contact
/// on the border of two regions.
///
/// Concave neighbours hold a contact each. Where they meet at an obtuse angle, the second face is taken up with the
/// overlap it has when the centre enters the region above it, so hollow walls divided so finely that a contact spans
/// several facets are better given as [`Revolved`] or [`Shell`].
pub(super) fn keep_each_contact_once(candidates: &mut [Candidate], radius: f64, out: &mut Vec<WallTouch>) {
    if let [only] = candidates {
        return out.push(only.touch);
    }
    candidates.sort_unstable_by(|a, b| b.touch.overlap.total_cmp(&a.touch.overlap).then_with(|| a.piece.cmp(&b.piece)));
    let first = out.len();
    for i in 0..candidates.len() {
        let (deeper, rest) = candidates.split_at_mut(i);
        let this = &mut rest[0];
        // Neighbours are about as deep: looking back from here finds them soon.
        let held_by_neighbour = deeper.iter().rev().any(|other| this.part.belongs_to(other.vertices));
        this.kept =
            !held_by_neighbour && !deeper.iter().any(|other| other.kept && this.repeats(other, SAME_CONTACT * radius));
        if this.kept {
            out.push(this.touch);
        }
    }
    out[first..].sort_unstable_by_key(|touch| touch.feature);
}
