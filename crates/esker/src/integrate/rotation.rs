//! Rotation of rigid bodies with quaternions (Džiugys & Peters 1998, §IV.3.4; active rotation from body to world axes).

use crate::math::{Quat, Vec3};

/// Applies a tensor with principal values `principal` in body axes to a world vector.
#[inline]
pub fn apply_tensor(orientation: Quat, principal: Vec3, v: Vec3) -> Vec3 {
    orientation * (principal * (orientation.conjugate() * v))
}

/// Turns an orientation by the rotation vector `angle` (world axes), exact in direction and to third order in size;
/// for bodies whose orientation does not act back.
#[inline]
pub fn turn(orientation: Quat, angle: Vec3) -> Quat {
    let h = 0.5 * angle;
    (Quat::from_xyzw(h.x, h.y, h.z, 1.0) * orientation).normalize()
}

/// Free rotation of a body with angular momentum `momentum` (world axes, conserved) over `dt`.
///
/// Splitting into exact rotations about the principal axes, 1-2-3-2-1 (Dullweber, Leimkuhler & McLachlan 1997):
/// symplectic, second order, keeps the momentum to round-off.
pub fn free_rotation(orientation: Quat, inertia: Vec3, momentum: Vec3, dt: f64) -> Quat {
    let mut q = orientation;
    let mut l = q.conjugate() * momentum;
    let mut about = |axis: Vec3, moment: f64, h: f64| {
        let turn = Quat::from_axis_angle(axis, h * l.dot(axis) / moment);
        q *= turn;
        l = turn.conjugate() * l;
    };
    about(Vec3::X, inertia.x, 0.5 * dt);
    about(Vec3::Y, inertia.y, 0.5 * dt);
    about(Vec3::Z, inertia.z, dt);
    about(Vec3::Y, inertia.y, 0.5 * dt);
    about(Vec3::X, inertia.x, 0.5 * dt);
    q.normalize()
}
