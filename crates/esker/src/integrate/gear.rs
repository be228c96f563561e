//! Gear predictor–corrector of third, fourth and fifth order (four, five and six values). That of fifth order is the reference
//! scheme of Džiugys & Peters (1998), eqs (130)–(134), on scaled derivatives
//! $r_k = (\Delta t^k/k!)\,\mathrm d^k r/\mathrm dt^k$:
//!
//! $$r_k^p = \sum_{m \ge k} \binom mk r_m,\qquad r_k^+ = r_k^p + c_k\left(\tfrac12\Delta t^2 a - r_2^p\right).$$
//!
//! The print applies the coefficients to unscaled derivatives, which does not converge.
//!
//! Position is a second-order equation, $\ddot x = F/m$; angular momentum ($\dot L = T$) and orientation
//! ($\dot q = \tfrac12\omega q$) are first-order ones with their own coefficients. Forces are evaluated at the predicted
//! state, one evaluation per step. What the corrector moves grains by after the force is not in the mean velocity: it is
//! smaller than the displacement by the order of the scheme.

use super::body::Body;
use super::rotation::{rate, spin};
use super::{Keeps, Scheme};
use crate::math::{Quat, Vec3};
use crate::particles::{Derivatives, Particles};

/// The scheme with four, five or six values: of third, fourth or fifth order. Derivatives beyond them are left alone.
pub struct Gear<const VALUES: usize>;

impl<const VALUES: usize> Gear<VALUES> {
    /// Coefficients for a second-order equation whose force depends on velocity.
    const SECOND: [f64; 6] = match VALUES {
        4 => [1.0 / 6.0, 5.0 / 6.0, 1.0, 1.0 / 3.0, 0.0, 0.0],
        5 => [19.0 / 90.0, 3.0 / 4.0, 1.0, 1.0 / 2.0, 1.0 / 12.0, 0.0],
        6 => [3.0 / 16.0, 251.0 / 360.0, 1.0, 11.0 / 18.0, 1.0 / 6.0, 1.0 / 60.0],
        _ => panic!("no coefficients are known"),
    };
    /// Coefficients for a first-order equation.
    const FIRST: [f64; 6] = match VALUES {
        4 => [3.0 / 8.0, 1.0, 3.0 / 4.0, 1.0 / 6.0, 0.0, 0.0],
        5 => [251.0 / 720.0, 1.0, 11.0 / 12.0, 1.0 / 3.0, 1.0 / 24.0, 0.0],
        6 => [95.0 / 288.0, 1.0, 25.0 / 24.0, 35.0 / 72.0, 5.0 / 48.0, 1.0 / 120.0],
        _ => panic!("no coefficients are known"),
    };
}

/// Taylor shift of the first `VALUES` scaled derivatives: Pascal's triangle.
fn predict<const VALUES: usize, T: Copy + std::ops::AddAssign>(r: &mut [T; 6]) {
    for k in 0..VALUES - 1 {
        for m in (k..VALUES - 1).rev() {
            let next = r[m + 1];
            r[m] += next;
        }
    }
}

fn correct(r: &mut [Vec3; 6], coefficients: &[f64; 6], error: Vec3) {
    for (value, c) in r.iter_mut().zip(coefficients) {
        *value += *c * error;
    }
}

/// Starts the scheme: derivatives of the present acceleration and torque, higher ones zero.
pub fn start(particles: &mut Particles, dt: f64) {
    let mut all = std::mem::take(&mut particles.derivatives);
    for i in all.len()..particles.owned() {
        let load = &particles.load[i];
        let mut d = Derivatives::default();
        d.position[0] = load.force * (particles.motion[i].inverse_mass * 0.5 * dt * dt);
        d.spin[0] = load.torque * dt;
        d.orientation[0] = rate(particles.orientation[i], particles.angular_velocity(i)).map(|x| x * dt);
        all.push(d);
    }
    particles.derivatives = all;
}

fn six<T: Copy>(value: T, rest: [T; 5]) -> [T; 6] {
    [value, rest[0], rest[1], rest[2], rest[3], rest[4]]
}

impl<const VALUES: usize> Scheme for Gear<VALUES> {
    fn keeps(&self) -> Keeps {
        Keeps::Derivatives
    }

    fn corrects_places(&self) -> bool {
        true
    }

    /// Predicts the state at t + dt.
    fn begin(&self, b: Body, dt: f64) {
        let momentum = b.angular_momentum();
        let d = &mut *b.derivatives;
        // Position.
        let v = b.motion.velocity;
        let mut r = [b.place.position, v * dt, d.position[0], d.position[1], d.position[2], d.position[3]];
        predict::<VALUES, _>(&mut r);
        b.mean.velocity = (r[0] - b.place.position) / dt;
        b.place.position = r[0];
        b.motion.velocity = r[1] / dt;
        d.position = [r[2], r[3], r[4], r[5]];

        // Angular momentum, then orientation.
        let omega = b.motion.angular_velocity;
        let mut l = six(momentum, d.spin);
        predict::<VALUES, _>(&mut l);
        d.spin = [l[1], l[2], l[3], l[4], l[5]];
        let q = b.orientation.to_array();
        let mut predicted = [0.0; 4];
        for c in 0..4 {
            let mut s = [
                q[c],
                d.orientation[0][c],
                d.orientation[1][c],
                d.orientation[2][c],
                d.orientation[3][c],
                d.orientation[4][c],
            ];
            predict::<VALUES, _>(&mut s);
            predicted[c] = s[0];
            for k in 0..5 {
                d.orientation[k][c] = s[k + 1];
            }
        }
        *b.orientation = Quat::from_array(predicted).normalize();
        b.motion.angular_velocity = b.spin_of(l[0]);
        b.mean.angular_velocity = 0.5 * (omega + b.motion.angular_velocity);
        *b.momentum = l[0];
    }

    /// Corrects it with the new load.
    fn finish(&self, b: Body, dt: f64) {
        let a = b.acceleration();
        let d = &mut *b.derivatives;
        let error = a * (0.5 * dt * dt) - d.position[0];
        let mut r =
            [b.place.position, b.motion.velocity * dt, d.position[0], d.position[1], d.position[2], d.position[3]];
        correct(&mut r, &Self::SECOND, error);
        b.place.position = r[0];
        b.motion.velocity = r[1] / dt;
        d.position = [r[2], r[3], r[4], r[5]];

        let error = b.load.torque * dt - d.spin[0];
        let mut l = six(*b.momentum, d.spin);
        correct(&mut l, &Self::FIRST, error);
        d.spin = [l[1], l[2], l[3], l[4], l[5]];

        let q = b.orientation.to_array();
        let wanted = rate(*b.orientation, spin(*b.orientation, b.inertia, l[0]));
        let mut corrected = [0.0; 4];
        for c in 0..4 {
            let error = wanted[c] * dt - d.orientation[0][c];
            corrected[c] = q[c] + Self::FIRST[0] * error;
            for k in 0..5 {
                d.orientation[k][c] += Self::FIRST[k + 1] * error;
            }
        }
        *b.orientation = Quat::from_array(corrected).normalize();
        b.motion.angular_velocity = b.spin_of(l[0]);
    }
}
