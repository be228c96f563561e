//! Rotation of rigid bodies with quaternions (Džiugys & Peters 1998, §IV.3.4; active rotation from body to world axes).

use crate::math::{Quat, Vec3};

/// Applies a tensor with principal values `principal` in body axes to a world vector.
#[inline]
pub fn apply_tensor(orientation: Quat, principal: Vec3, v: Vec3) -> Vec3 {
    orientation * (principal * (orientation.conjugate() * v))
}

/// Angular velocity of a body with angular momentum `momentum`, both in world axes \[rad/s\].
#[inline]
pub fn spin(orientation: Quat, inertia: Vec3, momentum: Vec3) -> Vec3 {
    apply_tensor(orientation, inertia.recip(), momentum)
}

/// dq/dt = ½ ω q for ω in world axes \[1/s\], as (x, y, z, w).
#[inline]
pub fn rate(q: Quat, omega: Vec3) -> [f64; 4] {
    (Quat::from_xyzw(omega.x, omega.y, omega.z, 0.0) * q).to_array().map(|x| 0.5 * x)
}

/// Turns an orientation by the rotation vector `angle` (world axes), exact in direction and to third order in size;
/// for bodies whose orientation does not act back.
#[inline]
pub fn turn(orientation: Quat, angle: Vec3) -> Quat {
    let h = 0.5 * angle;
    (Quat::from_xyzw(h.x, h.y, h.z, 1.0) * orientation).normalize()
}

/// Turns a unit quaternion by the rotation vector `angle` (world axes), exactly.
#[inline]
pub fn turn_exactly(orientation: Quat, angle: Vec3) -> Quat {
    let h2 = 0.25 * angle.length_squared();
    // sin h / h and cos h of half the angle. Below 0.1 the series end below rounding.
    let (sine, cosine) = if h2 < 0.01 {
        let series = |[a, b, c, d]: [f64; 4]| 1.0 + h2 * (a + h2 * (b + h2 * (c + h2 * d)));
        (
            series([-1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362_880.0]),
            series([-1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40_320.0]),
        )
    } else {
        let h = h2.sqrt();
        (h.sin() / h, h.cos())
    };
    let v = 0.5 * sine * angle;
    let turned = Quat::from_xyzw(v.x, v.y, v.z, cosine) * orientation;
    // Of unit length but for rounding, of which this leaves the square.
    turned * (1.5 - 0.5 * turned.length_squared())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turning_exactly_is_turning_by_sine_and_cosine_whatever_the_angle() {
        let q = Quat::from_scaled_axis(Vec3::new(0.3, -2.0, 1.1));
        let axis = Vec3::new(2.0, -1.0, 0.5).normalize();
        for angle in [0.0, 1e-12, 1e-3, 0.05, 0.1999, 0.2001, 1.0, 3.0, 40.0] {
            let (one, other) = (turn_exactly(q, angle * axis), Quat::from_axis_angle(axis, angle) * q);
            let off = (one - other).length();
            assert!(off < 1e-15, "{angle} rad: off by {off:e}");
        }
        let mut many = q;
        (0..100_000).for_each(|_| many = turn_exactly(many, 0.15 * axis));
        assert!((many.length() - 1.0).abs() < 1e-15, "length {}", many.length());
    }
}
