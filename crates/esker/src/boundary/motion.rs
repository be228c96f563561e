//! Prescribed motion of a wall, a closed form of the time since it began: no drift, no state.
//!
//! Parts add up. First the rotations turn the wall one after the other, each about an axis that the later ones carry
//! along (a jar that spins in a turning mill lists its own spin first); then the sum of all translations shifts the
//! result, pivots included, so a rotating drum may shake as well.

mod limits;

pub use limits::{MotionLimits, Parabola};

use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;
use thiserror::Error;

use crate::math::{Pose, Quat, Twist, Vec3};

/// How a wall moves. Without parts it stands still.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Motion {
    /// What adds up to the motion.
    pub parts: Vec<MotionPart>,
}

/// One part of a motion. Points and directions are in world axes at the start; axes may have any length but 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MotionPart {
    /// Steady translation.
    Translate {
        /// Velocity \[m/s\].
        velocity: Vec3,
    },
    /// Steady rotation.
    Rotate {
        /// Point on the axis \[m\].
        through: Vec3,
        /// Direction of the axis.
        axis: Vec3,
        /// Angular speed, right-handed about the axis \[rad/s\].
        rate: f64,
    },
    /// Shaking to and fro. The phase says where in the cycle the motion begins; the wall begins where it stands.
    Oscillate {
        /// Direction times amplitude \[m\].
        amplitude: Vec3,
        /// Cycles per second \[Hz\].
        frequency: f64,
        /// Phase at the start \[rad\].
        phase: f64,
        /// Course of one cycle.
        form: Waveform,
    },
    /// Sinusoidal turning to and fro, beginning where the wall stands.
    Swing {
        /// Point on the axis \[m\].
        through: Vec3,
        /// Direction of the axis.
        axis: Vec3,
        /// Amplitude \[rad\].
        amplitude: f64,
        /// Cycles per second \[Hz\].
        frequency: f64,
        /// Phase at the start \[rad\].
        phase: f64,
    },
    /// Legs of steady translation and rotation one after the other, then rest.
    Schedule {
        /// Point on the axis of rotation \[m\].
        through: Vec3,
        /// Direction of the axis; not asked for if no leg turns.
        axis: Vec3,
        /// The legs in order.
        legs: Vec<Leg>,
    },
    /// A sudden displacement, such as a gate that is gone from one moment to the next.
    Jump {
        /// Last moment at the old place \[s\].
        at: f64,
        /// Displacement \[m\].
        by: Vec3,
    },
}

/// A stretch of steady motion in a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Leg {
    /// How long it lasts \[s\].
    pub duration: f64,
    /// Velocity \[m/s\].
    pub velocity: Vec3,
    /// Angular speed about the axis of the schedule \[rad/s\].
    pub rate: f64,
}

/// Course of one cycle of an oscillation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Waveform {
    /// A sine.
    #[default]
    Sine,
    /// Alternating parabolas of the same amplitude and period, so that flights to the wall end at roots of a quadratic:
    /// with A the amplitude, f the frequency and s the time since the half cycle began,
    /// z = ±(8 A f s − 16 A f² s²). Gavrilov 1999, eq. (3.19), with the second half in its local time: as printed,
    /// z would jump at half a period. The top speed is 8 A f, 27 % above that of the sine.
    Parabolic,
}

impl Waveform {
    /// Displacement in amplitudes after so many cycles.
    fn displacement(self, cycles: f64) -> f64 {
        match self {
            Waveform::Sine => (TAU * cycles).sin(),
            Waveform::Parabolic => {
                let (sign, w) = half_cycle(cycles);
                sign * (8.0 * w - 16.0 * w * w)
            }
        }
    }

    /// Derivative of the displacement by the number of cycles.
    fn slope(self, cycles: f64) -> f64 {
        match self {
            Waveform::Sine => TAU * (TAU * cycles).cos(),
            Waveform::Parabolic => {
                let (sign, w) = half_cycle(cycles);
                sign * (8.0 - 32.0 * w)
            }
        }
    }

    /// Largest slope.
    fn steepest(self) -> f64 {
        match self {
            Waveform::Sine => TAU,
            Waveform::Parabolic => 8.0,
        }
    }
}

/// Sign of the half cycle, and how far into it in cycles.
fn half_cycle(cycles: f64) -> (f64, f64) {
    let u = cycles - cycles.floor();
    if u < 0.5 { (1.0, u) } else { (-1.0, u - 0.5) }
}

/// Why a motion makes no sense.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum MotionError {
    /// A quantity is infinite or not a number.
    #[error("part {part} of the motion: {what} is not finite")]
    NotFinite {
        /// Index of the part.
        part: usize,
        /// Which quantity.
        what: &'static str,
    },
    /// A quantity that must not be negative is.
    #[error("part {part} of the motion: {what} is {value}, but must not be negative")]
    Negative {
        /// Index of the part.
        part: usize,
        /// Which quantity.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A rotation has no axis.
    #[error("part {part} of the motion turns, but its axis has no length: give a direction such as [0, 0, 1]")]
    NoAxis {
        /// Index of the part.
        part: usize,
    },
}

/// Angle and rate of a rotation at one moment.
struct Turn {
    through: Vec3,
    axis: Vec3,
    angle: f64,
    rate: f64,
}

impl MotionPart {
    /// Displacement and velocity of the part that shifts.
    fn shift(&self, t: f64) -> (Vec3, Vec3) {
        match self {
            MotionPart::Translate { velocity } => (t * *velocity, *velocity),
            MotionPart::Oscillate { amplitude, frequency, phase, form } => {
                let (start, now) = (phase / TAU, frequency * t + phase / TAU);
                let moved = form.displacement(now) - form.displacement(start);
                (moved * *amplitude, frequency * form.slope(now) * *amplitude)
            }
            MotionPart::Schedule { legs, .. } => along_legs(legs, t, Vec3::ZERO, |leg| leg.velocity),
            MotionPart::Jump { at, by } => (if t > *at { *by } else { Vec3::ZERO }, Vec3::ZERO),
            MotionPart::Rotate { .. } | MotionPart::Swing { .. } => (Vec3::ZERO, Vec3::ZERO),
        }
    }

    /// The part that turns, if any.
    fn turn(&self, t: f64) -> Option<Turn> {
        let (through, axis, angle, rate) = match self {
            MotionPart::Rotate { through, axis, rate } => (through, axis, rate * t, *rate),
            MotionPart::Swing { through, axis, amplitude, frequency, phase } => {
                let sine = Waveform::Sine;
                let (start, now) = (phase / TAU, frequency * t + phase / TAU);
                let angle = amplitude * (sine.displacement(now) - sine.displacement(start));
                (through, axis, angle, amplitude * frequency * sine.slope(now))
            }
            MotionPart::Schedule { through, axis, legs } => {
                let (angle, rate) = along_legs(legs, t, 0.0, |leg| leg.rate);
                (through, axis, angle, rate)
            }
            MotionPart::Translate { .. } | MotionPart::Oscillate { .. } | MotionPart::Jump { .. } => return None,
        };
        Some(Turn { through: *through, axis: axis.try_normalize()?, angle, rate })
    }

    /// Whether it ever moves the wall otherwise than by a turn.
    pub fn shifts(&self) -> bool {
        self.top_speeds().0 > 0.0 || matches!(self, MotionPart::Jump { .. })
    }

    /// Largest speed of the shift \[m/s\] and of the turn \[rad/s\].
    fn top_speeds(&self) -> (f64, f64) {
        match self {
            MotionPart::Translate { velocity } => (velocity.length(), 0.0),
            MotionPart::Rotate { rate, .. } => (0.0, rate.abs()),
            MotionPart::Oscillate { amplitude, frequency, form, .. } => {
                (amplitude.length() * frequency.abs() * form.steepest(), 0.0)
            }
            MotionPart::Swing { amplitude, frequency, .. } => (0.0, (TAU * amplitude * frequency).abs()),
            MotionPart::Schedule { legs, .. } => {
                legs.iter().fold((0.0, 0.0), |(v, w), leg| (v.max(leg.velocity.length()), w.max(leg.rate.abs())))
            }
            MotionPart::Jump { .. } => (0.0, 0.0),
        }
    }

    fn check(&self, part: usize) -> Result<(), MotionError> {
        let finite = |what, ok: bool| if ok { Ok(()) } else { Err(MotionError::NotFinite { part, what }) };
        let not_negative =
            |what, value: f64| if value < 0.0 { Err(MotionError::Negative { part, what, value }) } else { Ok(()) };
        let turns_about = |through: &Vec3, axis: &Vec3| {
            finite("`through`", through.is_finite())?;
            finite("`axis`", axis.is_finite())?;
            axis.try_normalize().map(|_| ()).ok_or(MotionError::NoAxis { part })
        };
        match self {
            MotionPart::Translate { velocity } => finite("`velocity`", velocity.is_finite()),
            MotionPart::Rotate { through, axis, rate } => {
                finite("`rate`", rate.is_finite())?;
                turns_about(through, axis)
            }
            MotionPart::Oscillate { amplitude, frequency, phase, .. } => {
                finite("`amplitude`", amplitude.is_finite())?;
                finite("`frequency`", frequency.is_finite())?;
                finite("`phase`", phase.is_finite())?;
                not_negative("`frequency`", *frequency)
            }
            MotionPart::Swing { through, axis, amplitude, frequency, phase } => {
                finite("`amplitude`", amplitude.is_finite())?;
                finite("`frequency`", frequency.is_finite())?;
                finite("`phase`", phase.is_finite())?;
                not_negative("`frequency`", *frequency)?;
                turns_about(through, axis)
            }
            MotionPart::Schedule { through, axis, legs } => {
                for leg in legs {
                    finite("`duration` of a leg", leg.duration.is_finite())?;
                    finite("`velocity` of a leg", leg.velocity.is_finite())?;
                    finite("`rate` of a leg", leg.rate.is_finite())?;
                    not_negative("`duration` of a leg", leg.duration)?;
                }
                if legs.iter().any(|leg| leg.rate != 0.0) { turns_about(through, axis) } else { Ok(()) }
            }
            MotionPart::Jump { at, by } => {
                finite("`at`", at.is_finite())?;
                finite("`by`", by.is_finite())?;
                not_negative("`at`", *at)
            }
        }
    }
}

/// Integral of a piecewise constant rate up to `t`, and the rate then: at a break that of the next leg, in the end none.
fn along_legs<T>(legs: &[Leg], t: f64, none: T, rate: impl Fn(&Leg) -> T) -> (T, T)
where
    T: Copy + std::ops::Add<Output = T> + std::ops::Mul<f64, Output = T>,
{
    let mut sum = none;
    let mut left = t.max(0.0);
    for leg in legs {
        if left < leg.duration {
            return (sum + rate(leg) * left, rate(leg));
        }
        sum = sum + rate(leg) * leg.duration;
        left -= leg.duration;
    }
    (sum, none)
}

impl Motion {
    /// No motion.
    pub const STILL: Motion = Motion { parts: Vec::new() };

    /// Refuses quantities that are not finite, negative frequencies and times, and rotations without axis.
    pub fn check(&self) -> Result<(), MotionError> {
        self.parts.iter().enumerate().try_for_each(|(index, part)| part.check(index))
    }

    /// Where the wall is `t` seconds after the motion began: takes points from where they were then to where they are
    /// now. The identity at the start.
    pub fn pose(&self, t: f64) -> Pose {
        let mut pose = Pose::IDENTITY;
        for turn in self.parts.iter().filter_map(|part| part.turn(t)) {
            pose = pose.then(&turn.pose());
        }
        pose.position += self.shift(t).0;
        pose
    }

    /// Velocity of the wall's material points at time `t`, given at the image of the wall frame's origin. At a break of
    /// a schedule it is that of the next leg; jumps have none.
    pub fn twist(&self, t: f64) -> Twist {
        let (shift, velocity) = self.shift(t);
        let origin = self.pose(t).position;
        let mut twist = Twist { origin, velocity, angular_velocity: Vec3::ZERO };
        // From the outermost rotation inwards: each axis is carried by the later rotations and by the shift.
        let mut carried = Pose { position: shift, orientation: Quat::IDENTITY };
        for turn in self.parts.iter().rev().filter_map(|part| part.turn(t)) {
            let spin = turn.rate * (carried.orientation * turn.axis);
            twist.angular_velocity += spin;
            twist.velocity += spin.cross(origin - carried.to_world(turn.through));
            carried = turn.pose().then(&carried);
        }
        twist
    }

    fn shift(&self, t: f64) -> (Vec3, Vec3) {
        self.parts.iter().map(|part| part.shift(t)).fold((Vec3::ZERO, Vec3::ZERO), |(x, v), (dx, dv)| (x + dx, v + dv))
    }

    /// Upper bound over all times of the speed of any point that starts within `extent` \[m\] of every pivot \[m/s\].
    /// Jumps are not included: see [`jump_between`](Self::jump_between).
    pub fn speed_bound(&self, extent: f64) -> f64 {
        let mut bound = 0.0;
        // Turning about one pivot may carry a point away from the next by as much as the pivots are apart.
        let mut arm = extent;
        let mut last_pivot = None;
        for part in &self.parts {
            let (shift, spin) = part.top_speeds();
            bound += shift;
            if let Some(turn) = part.turn(0.0).filter(|_| spin != 0.0) {
                arm += last_pivot.map_or(0.0, |last: Vec3| last.distance(turn.through));
                last_pivot = Some(turn.through);
                bound += spin * arm;
            }
        }
        bound
    }

    /// Sum of the jumps made by the time `to` and not yet by `from` \[m\].
    pub fn jump_between(&self, from: f64, to: f64) -> Vec3 {
        let jumped = |part: &MotionPart| match part {
            MotionPart::Jump { .. } => part.shift(to).0 - part.shift(from).0,
            _ => Vec3::ZERO,
        };
        self.parts.iter().map(jumped).sum()
    }
}

impl Turn {
    fn pose(&self) -> Pose {
        let orientation = Quat::from_axis_angle(self.axis, self.angle);
        Pose { position: self.through - orientation * self.through, orientation }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vector(size: f64) -> impl Strategy<Value = Vec3> {
        let range = -size..size;
        (range.clone(), range.clone(), range).prop_map(|(x, y, z)| Vec3::new(x, y, z))
    }

    fn axis() -> impl Strategy<Value = Vec3> {
        vector(1.0).prop_filter("an axis has a length", |v| v.length() > 0.1)
    }

    fn form() -> impl Strategy<Value = Waveform> {
        prop_oneof![Just(Waveform::Sine), Just(Waveform::Parabolic)]
    }

    fn part() -> impl Strategy<Value = MotionPart> {
        let leg = (0.1..0.4f64, vector(1.0), -3.0..3.0f64).prop_map(|(duration, velocity, rate)| Leg {
            duration,
            velocity,
            rate,
        });
        prop_oneof![
            vector(2.0).prop_map(|velocity| MotionPart::Translate { velocity }),
            (vector(1.0), axis(), -5.0..5.0f64).prop_map(|(through, axis, rate)| MotionPart::Rotate {
                through,
                axis,
                rate
            }),
            (vector(0.3), 0.0..4.0f64, -7.0..7.0f64, form()).prop_map(|(amplitude, frequency, phase, form)| {
                MotionPart::Oscillate { amplitude, frequency, phase, form }
            }),
            (vector(1.0), axis(), -1.0..1.0f64, 0.0..3.0f64, -7.0..7.0f64).prop_map(
                |(through, axis, amplitude, frequency, phase)| MotionPart::Swing {
                    through,
                    axis,
                    amplitude,
                    frequency,
                    phase
                }
            ),
            (vector(1.0), axis(), proptest::collection::vec(leg, 1..5))
                .prop_map(|(through, axis, legs)| MotionPart::Schedule { through, axis, legs }),
            (0.0..1.0f64, vector(1.0)).prop_map(|(at, by)| MotionPart::Jump { at, by }),
        ]
    }

    fn motion() -> impl Strategy<Value = Motion> {
        proptest::collection::vec(part(), 1..5).prop_map(|parts| Motion { parts })
    }

    /// Moments at which a velocity or place changes abruptly; parabolas have their kinks in acceleration only.
    fn breaks(motion: &Motion) -> Vec<f64> {
        let mut breaks = Vec::new();
        for part in &motion.parts {
            match part {
                MotionPart::Jump { at, .. } => breaks.push(*at),
                MotionPart::Schedule { legs, .. } => {
                    let mut end = 0.0;
                    breaks.extend(legs.iter().map(|leg| {
                        end += leg.duration;
                        end
                    }));
                }
                _ => {}
            }
        }
        breaks
    }

    proptest! {
        #[test]
        fn every_motion_begins_where_the_wall_stands(motion in motion(), point in vector(2.0)) {
            prop_assert!(motion.check().is_ok());
            prop_assert!((motion.pose(0.0).to_world(point) - point).length() < 1e-15);
        }

        #[test]
        fn the_twist_is_the_rate_of_change_of_the_pose(motion in motion(), t in 0.01..2.0f64, wall in vector(2.0)) {
            let h = 1e-5;
            prop_assume!(breaks(&motion).iter().all(|b| (b - t).abs() > 2.0 * h));
            let place = |t: f64| motion.pose(t).to_world(wall);
            let numeric = (place(t + h) - place(t - h)) / (2.0 * h);
            let exact = motion.twist(t).at(place(t));
            // Third derivatives over 6 h^2 (kinks of a parabola: second derivative times h / 2) and rounding over h.
            prop_assert!((numeric - exact).length() < 2e-3, "{numeric} != {exact}");
            let smooth = motion.parts.iter().all(|p| {
                !matches!(p, MotionPart::Oscillate { form: Waveform::Parabolic, .. })
            });
            if smooth {
                prop_assert!((numeric - exact).length() < 5e-6, "{numeric} != {exact}");
            }
        }

        #[test]
        fn no_point_is_ever_faster_than_the_bound(motion in motion(), t in 0.0..3.0f64, wall in vector(1.0)) {
            let pivots = motion.parts.iter().filter_map(|p| p.turn(0.0)).map(|turn| turn.through);
            let extent = pivots.map(|p| p.distance(wall)).fold(0.0, f64::max);
            let speed = motion.twist(t).at(motion.pose(t).to_world(wall)).length();
            prop_assert!(speed <= motion.speed_bound(extent) * (1.0 + 1e-12));
        }

        #[test]
        fn only_jumps_move_a_wall_abruptly(motion in motion(), wall in vector(1.0)) {
            let h = 1e-9;
            for t in breaks(&motion) {
                let place = |t: f64| motion.pose(t).to_world(wall);
                let moved = place(t + h) - place(t - h) - motion.jump_between(t - h, t + h);
                prop_assert!(moved.length() <= 2.0 * h * motion.speed_bound(10.0) + 1e-14);
            }
        }
    }

    #[test]
    fn the_parabolic_shaker_follows_gavrilov() {
        let (a, f) = (0.02, 25.0);
        let part = MotionPart::Oscillate {
            amplitude: Vec3::new(0.0, 0.0, a),
            frequency: f,
            phase: 0.0,
            form: Waveform::Parabolic,
        };
        let shaker = Motion { parts: vec![part] };
        let period = 1.0 / f;
        let z = |t: f64| shaker.pose(t).position.z;
        let v = |t: f64| shaker.twist(t).velocity.z;
        assert!((z(0.25 * period) - a).abs() < 1e-16);
        assert!(z(0.5 * period).abs() < 1e-16);
        assert!((z(0.75 * period) + a).abs() < 1e-16);
        assert!((v(0.0) - 8.0 * a * f).abs() < 1e-14);
        assert!(v(0.25 * period).abs() < 1e-14);
        // The velocity is continuous where the parabolas join, also after many cycles.
        for join in [0.5, 1.0, 1.5, 1000.0] {
            let (before, after) = (v((join - 1e-9) * period), v((join + 1e-9) * period));
            assert!((before - after).abs() < 1e-6 * 8.0 * a * f);
            assert!((after.abs() - 8.0 * a * f).abs() < 1e-6 * 8.0 * a * f);
        }
        // Acceleration -32 A f^2 in the first half.
        let acceleration = (v(0.3 * period) - v(0.2 * period)) / (0.1 * period);
        assert!((acceleration + 32.0 * a * f * f).abs() < 1e-9);
        assert_eq!(shaker.speed_bound(0.0), 8.0 * a * f);
    }

    #[test]
    fn a_shaken_drum_turns_about_its_moving_axis_in_either_order() {
        let centre = Vec3::new(1.0, 0.0, 0.0);
        let turn = MotionPart::Rotate { through: centre, axis: 2.0 * Vec3::Z, rate: 3.0 };
        let lift = MotionPart::Translate { velocity: Vec3::new(0.0, 0.5, 0.0) };
        for parts in [vec![turn.clone(), lift.clone()], vec![lift, turn]] {
            let motion = Motion { parts };
            let twist = motion.twist(0.7);
            let moved = centre + Vec3::new(0.0, 0.35, 0.0);
            assert!((motion.pose(0.7).to_world(centre) - moved).length() < 1e-15);
            assert!((twist.at(moved) - Vec3::new(0.0, 0.5, 0.0)).length() < 1e-15);
            assert_eq!(twist.angular_velocity, 3.0 * Vec3::Z);
        }
    }

    #[test]
    fn a_jar_listed_before_its_mill_is_carried_around() {
        let jar = MotionPart::Rotate { through: Vec3::X, axis: Vec3::Z, rate: -4.0 };
        let mill = MotionPart::Rotate { through: Vec3::ZERO, axis: Vec3::Z, rate: 1.0 };
        let motion = Motion { parts: vec![jar, mill] };
        let t = std::f64::consts::FRAC_PI_2;
        assert!((motion.pose(t).to_world(Vec3::X) - Vec3::Y).length() < 1e-15);
        assert!((motion.twist(t).at(Vec3::Y) - Vec3::NEG_X).length() < 1e-15);
        assert!((motion.twist(t).angular_velocity + 3.0 * Vec3::Z).length() < 1e-15);
    }

    #[test]
    fn a_gate_jumps_once_and_is_still_before_and_after() {
        let gate = Motion { parts: vec![MotionPart::Jump { at: 0.0, by: Vec3::Y }] };
        assert_eq!(gate.pose(0.0), Pose::IDENTITY);
        assert_eq!(gate.pose(1e-9).position, Vec3::Y);
        assert_eq!(gate.jump_between(0.0, 0.1), Vec3::Y);
        assert_eq!(gate.jump_between(0.1, 0.2), Vec3::ZERO);
        assert_eq!(gate.speed_bound(1.0), 0.0);
    }

    #[test]
    fn motions_without_meaning_are_refused() {
        let refuse =
            |part| Motion { parts: vec![MotionPart::Translate { velocity: Vec3::X }, part] }.check().unwrap_err();
        let no_axis = MotionPart::Rotate { through: Vec3::ZERO, axis: Vec3::ZERO, rate: 1.0 };
        assert_eq!(refuse(no_axis), MotionError::NoAxis { part: 1 });
        let late = MotionPart::Jump { at: -1.0, by: Vec3::X };
        assert_eq!(refuse(late), MotionError::Negative { part: 1, what: "`at`", value: -1.0 });
        let wild = MotionPart::Translate { velocity: Vec3::NAN };
        assert_eq!(refuse(wild), MotionError::NotFinite { part: 1, what: "`velocity`" });
    }
}
