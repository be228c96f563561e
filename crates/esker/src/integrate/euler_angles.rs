//! Rotation by Euler angles (Džiugys & Peters 1998, eqs (106)–(117)): about z, the new x and the new z by φ, θ and ψ.
//!
//! With the angular velocity in world axes,
//!
//! $$\dot\varphi = (w_y\cos\varphi - w_x\sin\varphi)\frac{\cos\theta}{\sin\theta} + w_z,\qquad
//! \dot\theta = w_x\cos\varphi + w_y\sin\varphi,\qquad
//! \dot\psi = \frac{w_x\sin\varphi - w_y\cos\varphi}{\sin\theta}.$$
//!
//! The print has ψ in place of φ in the second. The rates have no bound near θ = 0 and π; there the angles are taken for a
//! second set of body axes, x, y, z called y, z, x, whose θ is then near a right angle (Barojas, Levesque & Quentrec 1973).
//! Bodies keep their quaternion; the angles live for a step.

use super::rotation::spin;
use crate::math::{Quat, Vec3};

/// Below this sine of θ the other body axes are taken.
const LEAST_SINE: f64 = 0.5;

/// The second set of body axes as seen from the first: a third of a turn about the diagonal.
const OTHER_AXES: Quat = Quat::from_xyzw(0.5, 0.5, 0.5, 0.5);

/// φ, θ and ψ \[rad\].
pub type Angles = Vec3;

/// Angles of an orientation, θ between 0 and π (eq. (119) turned round).
pub fn angles(q: Quat) -> Angles {
    let (sum, difference) = (2.0 * q.z.atan2(q.w), 2.0 * q.y.atan2(q.x));
    let theta = 2.0 * q.x.hypot(q.y).atan2(q.w.hypot(q.z));
    Vec3::new(0.5 * (sum + difference), theta, 0.5 * (sum - difference))
}

/// Orientation of these angles (eq. (119)).
pub fn orientation(angles: Angles) -> Quat {
    let (s, c) = (0.5 * angles.y).sin_cos();
    let (s_sum, c_sum) = (0.5 * (angles.x + angles.z)).sin_cos();
    let (s_off, c_off) = (0.5 * (angles.x - angles.z)).sin_cos();
    Quat::from_xyzw(s * c_off, s * s_off, c * s_sum, c * c_sum)
}

/// Rates of the angles at an angular velocity in world axes \[rad/s\] (eq. (117), repaired).
pub fn rates(angles: Angles, w: Vec3) -> Vec3 {
    let (s_phi, c_phi) = angles.x.sin_cos();
    let (s, c) = angles.y.sin_cos();
    let across = w.y * c_phi - w.x * s_phi;
    Vec3::new(across * c / s + w.z, w.x * c_phi + w.y * s_phi, -across / s)
}

/// Free rotation of a body with angular momentum `momentum` (world axes, conserved) over `dt`, by Runge–Kutta of fourth order.
pub fn free_rotation(q: Quat, inertia: Vec3, momentum: Vec3, dt: f64) -> Quat {
    if angles(q).y.sin() >= LEAST_SINE {
        return turned(q, inertia, momentum, dt);
    }
    let inertia = Vec3::new(inertia.y, inertia.z, inertia.x);
    turned(q * OTHER_AXES, inertia, momentum, dt) * OTHER_AXES.conjugate()
}

/// The same in one set of axes.
fn turned(q: Quat, inertia: Vec3, momentum: Vec3, dt: f64) -> Quat {
    let start = angles(q);
    let rate = |angles: Angles| rates(angles, spin(orientation(angles), inertia, momentum));
    let a = rate(start);
    let b = rate(start + 0.5 * dt * a);
    let c = rate(start + 0.5 * dt * b);
    let d = rate(start + dt * c);
    orientation(start + dt / 6.0 * (a + 2.0 * b + 2.0 * c + d))
}

#[cfg(test)]
mod tests {
    use super::super::rotation;
    use super::*;
    use proptest::prelude::*;

    fn off(a: Quat, b: Quat) -> f64 {
        (a - b).length().min((a + b).length())
    }

    fn turns() -> impl Strategy<Value = Quat> {
        (-3.0..3.0, 0.05..3.09, -3.0..3.0).prop_map(|(phi, theta, psi)| orientation(Vec3::new(phi, theta, psi)))
    }

    proptest! {
        #[test]
        fn angles_are_those_of_three_turns_and_lead_back(q in turns()) {
            let v = angles(q);
            let three = Quat::from_rotation_z(v.x) * Quat::from_rotation_x(v.y) * Quat::from_rotation_z(v.z);
            prop_assert!(off(three, q) < 1e-14, "{}", off(three, q));
            prop_assert!(off(orientation(v), q) < 1e-14);
        }

        #[test]
        fn rates_are_those_of_the_orientation(q in turns(), x in -1.0..1.0, y in -1.0..1.0, z in -1.0..1.0) {
            let (w, h) = (Vec3::new(x, y, z), 1e-5);
            let ahead = orientation(angles(q) + h * rates(angles(q), w));
            let back = orientation(angles(q) - h * rates(angles(q), w));
            let rate = rotation::rate(q, w);
            let differs = (ahead - back) * (0.5 / h) - Quat::from_array(rate);
            prop_assert!(differs.length() < 1e-6, "{differs}");
        }
    }

    /// Error after a second, of a body whose own z axis passes near that of the world.
    fn through_the_pole(steps: u32, turn: impl Fn(Quat, Vec3, Vec3, f64) -> Quat) -> f64 {
        let (inertia, momentum) = (Vec3::ONE, Vec3::new(1.3, 0.0, 0.0));
        // Exactly through it the first angle would jump by half a turn, which is no obstacle to the others.
        let start = Quat::from_rotation_x(-0.6137) * Quat::from_rotation_y(1e-3);
        let end = (0..steps).fold(start, |q, _| turn(q, inertia, momentum, 1.0 / f64::from(steps)));
        off(end, Quat::from_rotation_x(1.3) * start)
    }

    #[test]
    fn with_other_axes_at_hand_the_pole_is_no_obstacle() {
        for steps in [10, 20, 40] {
            let (free, held) = (through_the_pole(steps, free_rotation), through_the_pole(steps, turned));
            println!("{steps} steps: off by {free:.1e}, in one set of axes by {held:.1e}");
            assert!(free < 1e-8 && held > 1e3 * free, "{steps} steps: off by {free:.1e} and {held:.1e}");
        }
    }

    #[test]
    fn free_rotation_is_of_fourth_order_wherever_the_axes_are() {
        let (inertia, momentum) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(0.3, 2.0, -1.8));
        let end = |steps: u32| {
            let dt = 4.0 / f64::from(steps);
            (0..steps).fold(Quat::IDENTITY, |q, _| free_rotation(q, inertia, momentum, dt))
        };
        let fine = (0..400_000).fold(Quat::IDENTITY, |q, _| rotation::free_rotation(q, inertia, momentum, 1e-5));
        let [coarse, middle] = [100, 400].map(|steps| off(end(steps), fine));
        let order = (coarse / middle).log(4.0);
        println!("off by {coarse:.1e}, {middle:.1e}: order {order:.2}");
        assert!((order - 4.0).abs() < 0.2, "{coarse:.1e} {middle:.1e}");
    }
}
