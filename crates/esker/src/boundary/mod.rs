//! Walls: surfaces that grains touch, and how they move.
//!
//! A wall is a [`Surface`] in its own wall frame together with a [`Motion`] that carries the frame. Both are geometry
//! alone: they know no material and no law. To find the contacts of a grain, bring its centre into the wall frame with
//! the pose of the motion, ask [`Surface::touches`], and turn points and normals back; the velocity of the wall at the
//! touched point is that of [`Motion::twist`].
//!
//! Every surface is a thin shell touched from both sides, except [`Plane`], a half-space. Where faces meet, each
//! physical contact is reported once: a convex edge or corner gives one contact, a concave edge one per face
//! (the pitfall of wall corners in Džiugys & Peters 2001, section 5).

pub mod mesh;
mod mesh_grid;
mod mesh_topology;
pub mod motion;
pub mod plane;
pub mod polyline;
pub mod revolved;
pub mod shell;
pub mod surface;

pub use mesh::{Mesh, MeshError, MeshReport};
pub use motion::{Leg, Motion, MotionError, MotionLimits, MotionPart, Parabola, Waveform};
pub use plane::Plane;
pub use polyline::Polyline;
pub use revolved::Revolved;
pub use shell::Shell;
pub use surface::{Surface, SurfaceError, WallTouch};
