//! How a grain moves as seen from a wall or from another grain, and the gap along that way.

use super::fall::{Gap, Look, first_fall, first_rise};
use super::form::{Form, Side};
use crate::boundary::{Motion, MotionLimits};
use crate::math::{Aabb, Pose, Quat, Vec3};

/// A free flight: place and velocity at one time and a constant acceleration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Throw {
    /// The time \[s\].
    pub since: f64,
    /// Place then \[m\].
    pub position: Vec3,
    /// Velocity then \[m/s\].
    pub velocity: Vec3,
    /// Acceleration \[m/s²\].
    pub acceleration: Vec3,
}

impl Throw {
    /// Place and velocity at time `t`.
    #[inline]
    pub fn at(&self, t: f64) -> (Vec3, Vec3) {
        let s = t - self.since;
        let x = self.position + s * self.velocity + (0.5 * s * s) * self.acceleration;
        (x, self.velocity + s * self.acceleration)
    }
}

/// A wall in motion as grains see it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Carrier {
    /// Its motion, without spins that leave its surface where it is.
    motion: Motion,
    limits: MotionLimits,
    /// Pose when the motion began.
    base: Pose,
    /// When that was, on the clock of the flights \[s\].
    began: f64,
}

/// The way of a grain in the frame of a wall, until the wall's motion breaks.
pub(super) enum Course<'a> {
    /// A parabola.
    Thrown(Throw),
    /// Any other: the wall shakes or turns.
    Carried { throw: Throw, carrier: &'a Carrier },
}

impl Carrier {
    /// A wall whose motion began at `began` with the pose `base`.
    pub fn new(motion: Motion, base: Pose, began: f64) -> Self {
        let limits = motion.limits();
        Self { motion, limits, base, began }
    }

    /// How far it ever moves by its shifts; infinite when it turns \[m\].
    pub fn reach(&self) -> f64 {
        if self.limits.spin > 0.0 { f64::INFINITY } else { self.limits.reach }
    }

    /// Whether it moves at all.
    pub fn moves(&self) -> bool {
        self.motion.parts.iter().any(|part| part.shifts() || part.turns())
    }

    /// A time over which the motion does not repeat itself often: a flight is looked at no farther ahead \[s\].
    pub fn outlook(&self) -> f64 {
        if !self.moves() {
            return f64::INFINITY;
        }
        // Some sixteen cycles or turns.
        let turn = if self.limits.spin > 0.0 { 1.0 / self.limits.spin } else { f64::INFINITY };
        100.0 * self.limits.pace.min(turn)
    }

    /// The box in the world that a box of its frame never leaves; endless where it turns.
    pub fn sweep(&self, local: Aabb) -> Aabb {
        let whole = Aabb { min: Vec3::NEG_INFINITY, max: Vec3::INFINITY };
        let turned = self.base.orientation != Quat::IDENTITY;
        if !self.reach().is_finite() || turned && !local.size().is_finite() {
            return whole;
        }
        let corners = (0..8).map(|k| {
            let pick = |bit: usize, axis: usize| if k >> bit & 1 == 0 { local.min[axis] } else { local.max[axis] };
            let corner = Vec3::new(pick(0, 0), pick(1, 1), pick(2, 2));
            if turned { self.base.to_world(corner) } else { self.base.position + corner }
        });
        corners.fold(Aabb::EMPTY, Aabb::including).grown(self.reach())
    }

    /// Its pose when the motion began.
    pub fn base(&self) -> Pose {
        self.base
    }

    /// The pose of the wall's surface at time `t`; a spin in place is left out.
    pub fn pose(&self, t: f64) -> Pose {
        self.base.then(&self.motion.pose(t - self.began))
    }

    /// First time after `t` at which its motion breaks.
    pub fn next_break(&self, t: f64) -> f64 {
        let mut s = t - self.began;
        loop {
            s = self.motion.next_break(s);
            // Both clocks round: a break at `t` itself is over.
            if s + self.began > t {
                return s + self.began;
            }
        }
    }

    /// The way of a grain seen from the wall, from `t` to `end`, the next break.
    pub fn course(&self, throw: &Throw, t: f64, end: f64) -> Course<'_> {
        let Some(shift) = self.motion.parabola(t - self.began, end - self.began) else {
            return Course::Carried { throw: *throw, carrier: self };
        };
        let (x, v) = throw.at(t);
        let back = self.base.orientation.conjugate();
        Course::Thrown(Throw {
            since: t,
            position: back * (x - shift.shift - self.base.position),
            velocity: back * (v - shift.velocity),
            acceleration: back * (throw.acceleration - shift.acceleration),
        })
    }
}

impl Course<'_> {
    /// Place and velocity in the frame of the wall.
    #[inline]
    fn at(&self, t: f64) -> (Vec3, Vec3) {
        match self {
            Course::Thrown(throw) => throw.at(t),
            Course::Carried { throw, carrier } => {
                let (x, v) = throw.at(t);
                let pose = carrier.pose(t);
                let twist = carrier.motion.twist(t - carrier.began);
                (pose.to_local(x), pose.orientation.conjugate() * (v - twist.at(x)))
            }
        }
    }

    /// Bounds of speed and acceleration over the next `h` seconds; `x` and `v` are place and velocity now.
    #[inline]
    fn limits(&self, t: f64, (x, v): (Vec3, Vec3), h: f64) -> (f64, f64) {
        match self {
            Course::Thrown(throw) => {
                let (_, later) = throw.at(t + h);
                (v.length().max(later.length()), throw.acceleration.length())
            }
            Course::Carried { throw, carrier } => {
                let MotionLimits { acceleration, spin, spin_rate, arm, .. } = carrier.limits;
                // In a frame that turns: a − A − α × x − ω × (ω × x) − 2 ω × v; and axes that turn about each other.
                let turning = spin_rate + 2.0 * spin * spin;
                let rest =
                    throw.acceleration.length() + acceleration + turning * (arm + carrier.base.position.length());
                let drag = 2.0 * spin + turning * h;
                let inertia = rest + turning * x.length();
                // Speed v + (inertia + drag × speed) h, for drag × h below 1 (see `longest`).
                let speed = (v.length() + inertia * h) / (1.0 - drag * h).max(0.1);
                (speed, inertia + drag * speed)
            }
        }
    }

    /// Longest time for which the limits make sense.
    fn longest(&self) -> f64 {
        match self {
            Course::Thrown(_) => f64::INFINITY,
            Course::Carried { carrier, .. } => {
                let MotionLimits { spin, spin_rate, .. } = carrier.limits;
                0.1 / (spin + (0.5 * spin_rate).sqrt())
            }
        }
    }

    /// A triangle that holds the way from one time to another, or from which it is never farther than a distance \[m\].
    pub fn triangle(&self, from: f64, to: f64) -> ([Vec3; 3], f64) {
        let ((x, v), h) = (self.at(from), to - from);
        match self {
            // A parabola lies between its chord and the tangents at both ends.
            Course::Thrown(throw) => ([x, x + 0.5 * h * v, throw.at(to).0], 0.0),
            Course::Carried { .. } if h > self.longest() => ([x; 3], f64::INFINITY),
            Course::Carried { .. } => ([x; 3], self.limits(from, (x, v), h).0 * h),
        }
    }
}

/// The gap between a grain on its course and a piece of a wall.
pub(super) struct Along<'a> {
    pub form: &'a Form,
    pub side: Side,
    pub radius: f64,
    pub course: &'a Course<'a>,
}

impl Gap for Along<'_> {
    #[inline]
    fn look(&self, t: f64, h: f64) -> Look {
        let (x, v) = self.course.at(t);
        let (speed, acceleration) = self.course.limits(t, (x, v), h);
        let value = self.form.value(self.side, self.radius, x);
        let (gap, rate) = (value.gap, value.gradient.dot(v));
        if let Course::Thrown(throw) = self.course
            && let Some(bend) = self.form.bend_of_plane(self.side, throw.acceleration)
        {
            return Look { gap, rate, bend: [bend, bend], fastest: speed };
        }
        let [low, high] = self.form.curvature(self.side, x, speed * h);
        let steepest = match self.form {
            Form::Rim { .. } | Form::HalfSpace { .. } | Form::Plate { .. } => 1.0,
            _ => value.gradient.length() + low.abs().max(high.abs()) * speed * h,
        };
        let (square, pull) = (speed * speed, steepest * acceleration);
        Look { gap, rate, bend: [low * square - pull, high * square + pull], fastest: steepest * speed }
    }

    fn longest(&self) -> f64 {
        self.course.longest()
    }

    #[inline]
    fn first_look(&self, t: f64) -> f64 {
        let longest = self.course.longest();
        if let Course::Thrown(_) = self.course
            && self.form.bend_of_plane(self.side, Vec3::ZERO).is_some()
        {
            return longest;
        }
        // The time in which it could come near and move on by its radius.
        let (x, v) = self.course.at(t);
        let way = self.form.value(self.side, self.radius, x).distance().abs() + self.radius;
        let (_, acceleration) = self.course.limits(t, (x, v), 0.0);
        let look = way / (v.length() + (acceleration * way).sqrt());
        if look.is_finite() { look.min(longest) } else { longest }
    }
}

/// First time in [from, to] at which a grain on its course reaches a piece of a wall where `is_there` says, of its place and velocity,
/// that it runs into the wall.
pub(super) fn first_touch(
    form: &Form,
    radius: f64,
    course: &Course,
    from: f64,
    to: f64,
    is_there: impl Fn(Vec3, Vec3) -> bool,
) -> Option<f64> {
    let mut start = from;
    loop {
        let side = form.side(course.at(start).0);
        let along = Along { form, side, radius, course };
        let t = first_fall(&along, start, to)?;
        let (x, v) = course.at(t);
        if is_there(x, v) {
            return Some(t);
        }
        // It passes where the wall has ended: on until it is clear of the endless surface, on either side.
        let rise = first_rise(&along, t, to).unwrap_or(f64::INFINITY);
        let beyond = if form.has_two_sides() {
            let other = Along { side: side.other(), ..along };
            first_rise(&other, t, to).unwrap_or(f64::INFINITY)
        } else {
            f64::INFINITY
        };
        let next = rise.min(beyond);
        if next >= to {
            return None;
        }
        start = if next > t { next } else { t + f64::EPSILON * t.abs().max(f64::MIN_POSITIVE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boundary::{MotionPart, Waveform};

    #[test]
    fn a_course_stays_in_its_triangle_or_near_it() {
        let shaken = |form| MotionPart::Oscillate { amplitude: 0.02 * Vec3::Z, frequency: 20.0, phase: 0.4, form };
        let turned = MotionPart::Rotate { through: Vec3::X, axis: Vec3::Y, rate: 9.0 };
        let throw = Throw {
            since: 0.1,
            position: Vec3::new(0.3, -0.2, 0.5),
            velocity: Vec3::new(1.0, -2.0, 3.0),
            acceleration: -9.81 * Vec3::Z,
        };
        for part in [shaken(Waveform::Parabolic), shaken(Waveform::Sine), turned] {
            let carrier = Carrier::new(Motion { parts: vec![part] }, Pose::IDENTITY, -0.03);
            let end = carrier.next_break(throw.since);
            let course = carrier.course(&throw, throw.since, end);
            let (from, to) = (0.102, 0.11);
            assert!(to < end);
            let ([a, b, c], beside) = course.triangle(from, to);
            assert!(beside < 0.1, "{beside}");
            for k in 0..=100 {
                let u = 0.01 * f64::from(k);
                let inside = (1.0 - u) * (1.0 - u) * a + 2.0 * u * (1.0 - u) * b + u * u * c;
                let (x, _) = course.at(from + u * (to - from));
                assert!(x.distance(inside) <= beside + 1e-15, "{u}: {x} and {inside}, {beside}");
            }
        }
    }
}
