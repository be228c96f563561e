//! Hermite's scheme of fourth order (Džiugys & Peters 1998, eqs (127)–(129), after Makino), repaired: with the rate
//! $\dot a$ of the acceleration,
//!
//! $$x^p = x + v\,\Delta t + \tfrac12 a\,\Delta t^2 + \tfrac16\dot a\,\Delta t^3,\qquad
//! v^p = v + a\,\Delta t + \tfrac12\dot a\,\Delta t^2,$$
//! $$v^+ = v + \tfrac12(a^p + a)\,\Delta t - \tfrac1{12}(\dot a^p - \dot a)\,\Delta t^2,\qquad
//! x^+ = x + \tfrac12(v^+ + v)\,\Delta t - \tfrac1{12}(a^p - a)\,\Delta t^2.$$
//!
//! The print lacks $\Delta t^2$ in $v^p$ and has $v^p$ in $x^+$, which is of third order.
//!
//! Laws do not tell the rates of their forces, which are without bound where a dashpot begins to act. They are taken from
//! the forces at the beginning, at the end and, tried out, in the middle of the step, by the parabola through the three:
//! $\dot a\,\Delta t = -3a + 4a^{1/2} - a^p$ and $\dot a^p\Delta t = a - 4a^{1/2} + 3a^p$. With these $v^+$ is Simpson's
//! rule. The predictor takes $\dot a^p$ of the last step for $\dot a$; a run begins with none, which the corrector makes good.
//!
//! Two forces per step. Fourth order; third with forces that depend on velocity, since there is no second correction. Springs
//! grow by the way from one predicted place to the next: what the corrector has moved a grain by is added to the next step.

use super::ahead::{Rates, Start};
use super::body::Body;
use super::rotation::{rate, spin};
use super::{Keeps, Scheme};
use crate::math::{Quat, Vec3};
use crate::particles::is_isotropic;

/// The scheme. Of the derivatives it keeps the first beyond the load, $\dot a\,\Delta t$ and that of the torque, and behind
/// it what the last corrector has moved and turned the grain by over $\Delta t$.
pub struct Hermite;

/// A quantity at the time h, by its rates at the beginning.
fn taylor(rates: [Vec3; 3], h: f64) -> Vec3 {
    rates[0] + (rates[1] + rates[2] * (h / 3.0)) * (0.5 * h)
}

/// Second derivative of the orientation: the rate of ½ ω q, with dω/dt = I⁻¹ (T − ω × L).
fn second_rate(q: Quat, inertia: Vec3, momentum: Vec3, torque: Vec3) -> [f64; 4] {
    let omega = spin(q, inertia, momentum);
    let growing = spin(q, inertia, torque - omega.cross(momentum));
    let (a, first) = (rate(q, growing), rate(q, omega));
    let b = rate(Quat::from_array(first), omega);
    std::array::from_fn(|c| a[c] + b[c])
}

impl Hermite {
    /// Puts the grain where the predictor has it at the time `h`.
    fn predict(b: &mut Body, dt: f64, h: f64) {
        let start = *b.start;
        let now = start.sum;
        let (jerk, twist) = (b.derivatives.position[1] / dt, b.derivatives.spin[1] / dt);
        let second = second_rate(start.orientation, b.inertia, start.momentum, now.torque);
        let mean = Rates {
            velocity: taylor([now.velocity, now.acceleration, jerk], h),
            acceleration: now.acceleration + jerk * (0.5 * h),
            spin: Vec3::ZERO,
            torque: now.torque + twist * (0.5 * h),
            orientation: std::array::from_fn(|c| now.orientation[c] + 0.5 * h * second[c]),
        };
        start.go(b, &mean, h);
        let turned = if b.is_isotropic() {
            taylor([start.momentum, now.torque, twist], h) / b.inertia.x
        } else {
            0.5 * (now.spin + b.motion.angular_velocity)
        };
        b.mean.velocity += b.derivatives.position[2] * (dt / h);
        b.mean.angular_velocity = turned + b.derivatives.spin[2] * (dt / h);
    }
}

impl Scheme for Hermite {
    fn keeps(&self) -> Keeps {
        Keeps::Derivatives
    }

    fn corrects_places(&self) -> bool {
        true
    }

    fn trials(&self) -> &'static [f64] {
        &[0.5]
    }

    fn begin(&self, mut b: Body, dt: f64) {
        *b.start = Start::of(&b);
        Self::predict(&mut b, dt, 0.5 * dt);
    }

    fn pass(&self, mut b: Body, _: usize, dt: f64) {
        let (half_way, turning) = (b.acceleration(), b.load.torque);
        Self::predict(&mut b, dt, dt);
        // Room until the end of the step.
        b.derivatives.position[1] = half_way;
        b.derivatives.spin[1] = turning;
    }

    fn finish(&self, b: Body, dt: f64) {
        let start = *b.start;
        let d = &mut *b.derivatives;
        let simpson = |a: Vec3, middle: Vec3, end: Vec3| (a + 4.0 * middle + end) / 6.0;
        let slope = |a: Vec3, middle: Vec3, end: Vec3| a - 4.0 * middle + 3.0 * end;

        let (a, middle, end) = (start.sum.acceleration, d.position[1], b.load.force * b.motion.inverse_mass);
        b.motion.velocity = start.velocity + simpson(a, middle, end) * dt;
        let path = 0.5 * (b.motion.velocity + start.velocity) - (end - a) * (dt / 12.0);
        b.place.position = start.position + path * dt;
        d.position[1] = slope(a, middle, end);
        d.position[2] += path - b.mean.velocity;

        let (a, middle, end) = (start.sum.torque, d.spin[1], b.load.torque);
        let momentum = start.momentum + simpson(a, middle, end) * dt;
        d.spin[1] = slope(a, middle, end);
        if is_isotropic(b.inertia) {
            let turned = (0.5 * (momentum + start.momentum) - (end - a) * (dt / 12.0)) / b.inertia.x;
            d.spin[2] += turned - b.mean.angular_velocity;
        }

        // The rate of the orientation depends on the orientation: from the predicted one in two corrections.
        let before = second_rate(start.orientation, b.inertia, start.momentum, a);
        let q = start.orientation.to_array();
        for _ in 0..2 {
            let first = rate(*b.orientation, spin(*b.orientation, b.inertia, momentum));
            let second = second_rate(*b.orientation, b.inertia, momentum, end);
            *b.orientation = Quat::from_array(std::array::from_fn(|c| {
                q[c] + (0.5 * (start.sum.orientation[c] + first[c]) - (second[c] - before[c]) * (dt / 12.0)) * dt
            }))
            .normalize();
        }
        b.motion.angular_velocity = spin(*b.orientation, b.inertia, momentum);
    }
}
