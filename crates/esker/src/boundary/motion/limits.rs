//! What can be said of a motion ahead of time: where it breaks, when it is a parabola, how fast it bends.

use super::{Motion, MotionPart, Waveform, half_cycle};
use crate::math::Vec3;
use std::f64::consts::TAU;

/// A shift that is a parabola of time for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parabola {
    /// Displacement at the beginning \[m\].
    pub shift: Vec3,
    /// Velocity then \[m/s\].
    pub velocity: Vec3,
    /// Acceleration \[m/s²\].
    pub acceleration: Vec3,
}

/// Bounds that hold at all times but those of [`Motion::next_break`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MotionLimits {
    /// Displacement by the shifts \[m\]; infinite if it grows for ever.
    pub reach: f64,
    /// Acceleration of the shifts \[m/s²\].
    pub acceleration: f64,
    /// Shortest time in which an oscillation changes, 1/(2 π f); infinite without one \[s\].
    pub pace: f64,
    /// Angular speed \[rad/s\].
    pub spin: f64,
    /// Angular acceleration, without what turning about one axis does to another \[rad/s²\].
    pub spin_rate: f64,
    /// Distance from the origin of the pivots, and of these from each other, together \[m\].
    pub arm: f64,
}

impl MotionPart {
    /// First time after `t` at which its velocity, its acceleration or, for a jump, its place is not continuous.
    fn next_break(&self, t: f64) -> f64 {
        match self {
            MotionPart::Oscillate { frequency, phase, form: Waveform::Parabolic, .. } if *frequency > 0.0 => {
                let start = phase / TAU;
                let half = (2.0 * (frequency * t + start)).floor();
                let at = |half: f64| (0.5 * half - start) / frequency;
                // Rounding may put the next one at `t` itself.
                (1..4).map(|k| at(half + f64::from(k))).find(|next| *next > t).unwrap_or(f64::INFINITY)
            }
            MotionPart::Schedule { legs, .. } => {
                let mut end = 0.0;
                for leg in legs {
                    end += leg.duration;
                    if end > t {
                        return end;
                    }
                }
                f64::INFINITY
            }
            MotionPart::Jump { at, .. } if *at > t => *at,
            _ => f64::INFINITY,
        }
    }

    /// The shift from `t` on, smooth until after `middle`, as a parabola.
    fn parabola(&self, t: f64, middle: f64) -> Option<Parabola> {
        let (shift, velocity) = self.shift(t);
        Some(match self {
            MotionPart::Translate { .. } => Parabola { shift, velocity, acceleration: Vec3::ZERO },
            MotionPart::Oscillate { amplitude, frequency, phase, form: Waveform::Parabolic } => {
                let (sign, _) = half_cycle(frequency * middle + phase / TAU);
                Parabola { shift, velocity, acceleration: -sign * 32.0 * frequency * frequency * *amplitude }
            }
            MotionPart::Oscillate { amplitude, frequency, .. } if *frequency == 0.0 || *amplitude == Vec3::ZERO => {
                Parabola { shift, velocity, acceleration: Vec3::ZERO }
            }
            MotionPart::Oscillate { .. } => return None,
            // Legs are steady; at a break the middle tells which one it is.
            MotionPart::Schedule { .. } => {
                if self.turns() {
                    return None;
                }
                Parabola { shift, velocity: self.shift(middle).1, acceleration: Vec3::ZERO }
            }
            MotionPart::Jump { .. } => {
                Parabola { shift: self.shift(middle).0, velocity: Vec3::ZERO, acceleration: Vec3::ZERO }
            }
            MotionPart::Rotate { .. } | MotionPart::Swing { .. } => {
                if self.turns() {
                    return None;
                }
                Parabola { shift, velocity, acceleration: Vec3::ZERO }
            }
        })
    }

    /// Whether it ever turns the wall.
    pub fn turns(&self) -> bool {
        self.top_speeds().1 > 0.0
    }

    /// Largest displacement by the shift \[m\].
    fn reach(&self) -> f64 {
        match self {
            MotionPart::Translate { velocity } if *velocity != Vec3::ZERO => f64::INFINITY,
            // It begins anywhere in its cycle.
            MotionPart::Oscillate { amplitude, .. } => 2.0 * amplitude.length(),
            MotionPart::Schedule { legs, .. } => legs.iter().map(|leg| leg.velocity.length() * leg.duration).sum(),
            MotionPart::Jump { by, .. } => by.length(),
            MotionPart::Translate { .. } | MotionPart::Rotate { .. } | MotionPart::Swing { .. } => 0.0,
        }
    }

    /// Time in which an oscillation changes \[s\].
    fn pace(&self) -> f64 {
        match self {
            MotionPart::Oscillate { frequency, .. } | MotionPart::Swing { frequency, .. } => 1.0 / (TAU * frequency),
            _ => f64::INFINITY,
        }
    }

    /// Largest acceleration of the shift \[m/s²\] and angular acceleration \[rad/s²\].
    fn top_accelerations(&self) -> (f64, f64) {
        match self {
            MotionPart::Oscillate { amplitude, frequency, form, .. } => {
                let bend = match form {
                    Waveform::Sine => TAU * TAU,
                    Waveform::Parabolic => 32.0,
                };
                (bend * frequency * frequency * amplitude.length(), 0.0)
            }
            MotionPart::Swing { amplitude, frequency, .. } => (0.0, (TAU * frequency).powi(2) * amplitude.abs()),
            MotionPart::Translate { .. }
            | MotionPart::Rotate { .. }
            | MotionPart::Schedule { .. }
            | MotionPart::Jump { .. } => (0.0, 0.0),
        }
    }
}

impl Motion {
    /// First time after `t` at which velocity or acceleration, or for a jump the place, is not continuous; infinite if
    /// there is none.
    pub fn next_break(&self, t: f64) -> f64 {
        self.parts.iter().map(|part| part.next_break(t)).fold(f64::INFINITY, f64::min)
    }

    /// The motion from `t` on, if it is a shift along a parabola; `end` is the next break. At a break rounding may have put
    /// `t` on either side: what has a jump there is taken from half way to the end.
    pub fn parabola(&self, t: f64, end: f64) -> Option<Parabola> {
        let middle = if end.is_finite() { 0.5 * (t + end) } else { t + 1.0 };
        let mut sum = Parabola { shift: Vec3::ZERO, velocity: Vec3::ZERO, acceleration: Vec3::ZERO };
        for part in &self.parts {
            let p = part.parabola(t, middle)?;
            sum.shift += p.shift;
            sum.velocity += p.velocity;
            sum.acceleration += p.acceleration;
        }
        Some(sum)
    }

    /// Bounds of the motion.
    pub fn limits(&self) -> MotionLimits {
        let mut limits = MotionLimits { pace: f64::INFINITY, ..Default::default() };
        let mut last_pivot = Vec3::ZERO;
        for part in &self.parts {
            let (_, spin) = part.top_speeds();
            let (acceleration, spin_rate) = part.top_accelerations();
            limits.reach += part.reach();
            limits.pace = limits.pace.min(part.pace());
            limits.acceleration += acceleration;
            if let Some(turn) = part.turn(0.0).filter(|_| spin > 0.0) {
                limits.spin += spin;
                limits.spin_rate += spin_rate;
                limits.arm += last_pivot.distance(turn.through);
                last_pivot = turn.through;
            }
        }
        limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boundary::Leg;

    fn shaken() -> MotionPart {
        MotionPart::Oscillate { amplitude: 0.02 * Vec3::Z, frequency: 50.0, phase: 0.7, form: Waveform::Parabolic }
    }

    fn stepped() -> MotionPart {
        let leg = |duration, speed| Leg { duration, velocity: speed * Vec3::X, rate: 0.0 };
        MotionPart::Schedule { through: Vec3::ZERO, axis: Vec3::Z, legs: vec![leg(0.013, 1.0), leg(0.02, -3.0)] }
    }

    #[test]
    fn between_two_breaks_the_motion_is_the_parabola_it_is_said_to_be() {
        let jump = MotionPart::Jump { at: 0.0251, by: Vec3::Y };
        let motion = Motion { parts: vec![shaken(), MotionPart::Translate { velocity: Vec3::Y }, stepped(), jump] };
        let mut t = 0.0;
        let mut pieces = 0;
        while t < 0.1 {
            let end = motion.next_break(t);
            assert!(end > t);
            let p = motion.parabola(t, end).unwrap();
            for k in 1..8 {
                let now = t + (end - t) * f64::from(k) / 8.0;
                let s = now - t;
                let expected = p.shift + s * p.velocity + 0.5 * s * s * p.acceleration;
                assert!((motion.pose(now).position - expected).length() < 1e-13, "at {now}");
                let velocity = p.velocity + s * p.acceleration;
                assert!((motion.twist(now).velocity - velocity).length() < 1e-11, "at {now}");
            }
            t = end;
            pieces += 1;
        }
        assert_eq!(pieces, 11 + 3);
    }

    #[test]
    fn limits_hold_along_a_motion_of_all_kinds() {
        let (through, axis) = (Vec3::new(0.1, -0.2, 0.3), Vec3::new(1.0, 2.0, -1.0));
        let sine = MotionPart::Oscillate { amplitude: 0.1 * Vec3::X, frequency: 3.0, phase: 1.0, form: Waveform::Sine };
        let swing = MotionPart::Swing { through: Vec3::Y, axis: Vec3::Z, amplitude: 0.4, frequency: 2.0, phase: 0.1 };
        let motion = Motion { parts: vec![MotionPart::Rotate { through, axis, rate: 2.0 }, swing, sine] };
        let limits = motion.limits();
        assert!((limits.spin - (2.0 + 0.4 * 2.0 * TAU)).abs() < 1e-12 && limits.reach == 0.2);
        assert_eq!(limits.pace, 1.0 / (TAU * 3.0));
        assert!(motion.parabola(0.0, f64::INFINITY).is_none());
        // Acceleration of the point that was at the origin, by differences.
        let h = 1e-4;
        let place = |t: f64| motion.pose(t).position;
        let bound = limits.acceleration + (limits.spin_rate + 2.0 * limits.spin.powi(2)) * limits.arm;
        let most = (1..2000)
            .map(|k| f64::from(k) * 1e-3)
            .map(|t| ((place(t + h) - 2.0 * place(t) + place(t - h)) / (h * h)).length())
            .fold(0.0, f64::max);
        assert!(most < bound && most > 0.05 * bound, "{most} {bound}");
    }
}
