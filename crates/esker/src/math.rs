//! Small vectors, rotations, boxes and poses. Vectors and quaternions come from `glam` in double precision.

use serde::{Deserialize, Serialize};

/// A 3 × 3 matrix of `f64`.
pub use glam::DMat3 as Mat3;
/// A unit quaternion: the active rotation from body axes to world axes.
pub use glam::DQuat as Quat;
/// A vector of three `f64`.
pub use glam::DVec3 as Vec3;

/// The matrix a bᵀ, with the entries a_i b_k.
pub fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Aabb {
    /// Lowest corner \[m\].
    pub min: Vec3,
    /// Highest corner \[m\].
    pub max: Vec3,
}

impl Aabb {
    /// The box that contains nothing; growing it by a point gives that point.
    pub const EMPTY: Aabb = Aabb { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY };

    /// The smallest box around this one and a point.
    pub fn including(self, point: Vec3) -> Aabb {
        Aabb { min: self.min.min(point), max: self.max.max(point) }
    }

    /// The smallest box around both.
    pub fn union(self, other: Aabb) -> Aabb {
        Aabb { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// The box grown by `margin` on every side.
    pub fn grown(self, margin: f64) -> Aabb {
        Aabb { min: self.min - Vec3::splat(margin), max: self.max + Vec3::splat(margin) }
    }

    /// Whether the point lies inside or on the faces.
    pub fn contains(&self, point: Vec3) -> bool {
        point.cmpge(self.min).all() && point.cmple(self.max).all()
    }

    /// Edge lengths \[m\].
    pub fn size(&self) -> Vec3 {
        self.max - self.min
    }

    /// Volume \[m³\].
    pub fn volume(&self) -> f64 {
        let s = self.size().max(Vec3::ZERO);
        s.x * s.y * s.z
    }
}

/// Place and orientation of a rigid frame: `world = position + orientation * local`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// Origin of the frame \[m\].
    pub position: Vec3,
    /// Rotation from the frame's axes to world axes.
    pub orientation: Quat,
}

impl Pose {
    /// The world frame itself.
    pub const IDENTITY: Pose = Pose { position: Vec3::ZERO, orientation: Quat::IDENTITY };

    /// A point of the frame in world coordinates.
    pub fn to_world(&self, local: Vec3) -> Vec3 {
        self.position + self.orientation * local
    }

    /// A world point in coordinates of the frame.
    pub fn to_local(&self, world: Vec3) -> Vec3 {
        self.orientation.conjugate() * (world - self.position)
    }

    /// First `self`, then `outer`.
    pub fn then(&self, outer: &Pose) -> Pose {
        Pose {
            position: outer.to_world(self.position),
            orientation: (outer.orientation * self.orientation).normalize(),
        }
    }
}

/// Velocity of a rigid frame at its origin, and its spin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Twist {
    /// Point the velocity belongs to, world \[m\].
    pub origin: Vec3,
    /// Velocity of the origin \[m/s\].
    pub velocity: Vec3,
    /// Angular velocity \[rad/s\], world axes.
    pub angular_velocity: Vec3,
}

impl Twist {
    /// A frame at rest.
    pub const REST: Twist = Twist { origin: Vec3::ZERO, velocity: Vec3::ZERO, angular_velocity: Vec3::ZERO };

    /// Velocity of the material point of the frame that is at `point` now \[m/s\].
    pub fn at(&self, point: Vec3) -> Vec3 {
        self.velocity + self.angular_velocity.cross(point - self.origin)
    }
}
