//! Flights: where a grain is at any time since it last met something.
//!
//! In fields that push each grain with a constant force a flight is a parabola. In others it goes in steps, each grain with its
//! own: the equation of motion is integrated over a step by the classical Runge-Kutta scheme, and the way is taken as the straight line between both
//! ends (Gavrilov 1999, eq. (3.3)). That line and its speed serve to find meetings; the velocity with which
//! a grain meets another is interpolated between the velocities at both ends.

use super::course::Throw;
use super::walls;
use crate::math::Vec3;
use crate::model::Model;
use crate::neighbor;
use crate::particles::{Arc, Flight, Particles};
use crate::solver::StepError;
use crate::state::State;

/// How far the line of a step may lie from the curve, over the radius: a step is at most so long.
const SAGITTA: f64 = 1e-4;

/// How the fields act.
pub(super) enum Pull {
    /// The same acceleration for all.
    Uniform(Vec3),
    /// A constant acceleration for each.
    Each(Vec<Vec3>),
    /// Forces that change on the way: flights in steps.
    Changing,
}

impl Pull {
    /// What the fields of a model do.
    pub fn of(model: &Model, state: &State) -> Self {
        let p = &state.particles;
        if model.fields.iter().any(|field| !field.is_constant()) {
            return Pull::Changing;
        }
        let any_fixed = (0..p.owned()).any(|i| p.is_fixed(i));
        if let Some(g) = model.gravity_alone().filter(|g| *g == Vec3::ZERO || !any_fixed) {
            return Pull::Uniform(g);
        }
        let acceleration = |i: usize| {
            let force: Vec3 = model.fields.iter().map(|field| field.force(p, i, state.time)).sum();
            force * p.motion[i].inverse_mass
        };
        Pull::Each((0..p.owned()).map(acceleration).collect())
    }

    /// Acceleration of a grain on its flight; none on the line of a step \[m/s²\].
    #[inline]
    pub fn on(&self, i: usize) -> Vec3 {
        match self {
            Pull::Uniform(g) => *g,
            Pull::Each(all) => all[i],
            Pull::Changing => Vec3::ZERO,
        }
    }
}

/// The flight of a grain as a throw.
#[inline]
pub(super) fn throw(flight: &Flight, acceleration: Vec3) -> Throw {
    Throw { since: flight.since, position: flight.position, velocity: flight.velocity, acceleration }
}

/// Place and velocity of a grain at the local time `t`.
#[inline]
pub(super) fn at(p: &Particles, pull: &Pull, i: usize, t: f64) -> (Vec3, Vec3) {
    let flight = &p.flight[i];
    let (x, v) = throw(flight, pull.on(i)).at(t);
    match p.arc.get(i) {
        None => (x, v),
        Some(arc) => (x, arc.at(flight.since, t)),
    }
}

impl Arc {
    /// How much of the step is over at `t`.
    fn share(&self, since: f64, t: f64) -> f64 {
        if self.until > since { (t - since) / (self.until - since) } else { 0.0 }
    }

    /// Velocity at `t` \[m/s\].
    fn at(&self, since: f64, t: f64) -> Vec3 {
        let [from, to] = self.velocity;
        from + (to - from) * self.share(since, t)
    }

    /// Work of the fields without a potential until `t`, their power changing evenly \[J\].
    pub(super) fn work(&self, since: f64, t: f64) -> f64 {
        let [from, to] = self.power;
        (t - since) * (from + 0.5 * (to - from) * self.share(since, t))
    }
}

/// Begins flights of all grains at the time of the state.
pub(super) fn begin(model: &Model, state: &mut State) -> Result<(), StepError> {
    state.meetings.clock = state.time;
    state.meetings.since_set = 0;
    state.meetings.field_work = state.ledger.field_work;
    let p = &mut state.particles;
    p.drop_images();
    p.forget_flights();
    let flight = |i: usize| Flight {
        position: p.position(i),
        velocity: if p.is_fixed(i) { Vec3::ZERO } else { p.velocity(i) },
        since: 0.0,
        radius: p.radius(i),
    };
    p.flight = (0..p.owned()).map(flight).collect();
    p.met = vec![f64::NEG_INFINITY; p.owned()];
    if let Pull::Changing = Pull::of(model, state) {
        if model.fields.iter().any(|field| field.looks_at_others()) {
            return Err(StepError::Hard(
                "grains that attract each other cannot be followed from collision to collision: take the solver \"explicit\"".into(),
            ));
        }
        let arc = |_| Arc { velocity: [Vec3::ZERO; 2], power: [0.0; 2], until: 0.0, step: model.dt };
        state.particles.arc = (0..state.particles.owned()).map(arc).collect();
        for i in 0..state.particles.owned() {
            let v = state.particles.flight[i].velocity;
            step(model, state, i, 0.0, v);
        }
    }
    Ok(())
}

/// Begins a step of a flight at the local time `t` with a velocity, from the place the flight says it is at then.
pub(super) fn step(model: &Model, state: &mut State, i: usize, t: f64, velocity: Vec3) {
    let p = &mut state.particles;
    let x0 = p.flight[i].position;
    let clock = state.meetings.clock;
    let (a1, power) = push(model, p, i, x0, velocity, clock + t);
    let longest = (8.0 * SAGITTA * p.flight[i].radius / a1.length()).sqrt();
    let h = p.arc[i].step.min(longest);
    let mut pull = |x: Vec3, v: Vec3, s: f64| push(model, p, i, x, v, clock + s);
    let (v1, half) = (velocity, 0.5 * h);
    let v2 = v1 + half * a1;
    let (a2, _) = pull(x0 + half * v1, v2, t + half);
    let v3 = v1 + half * a2;
    let (a3, _) = pull(x0 + half * v2, v3, t + half);
    let v4 = v1 + h * a3;
    let (a4, _) = pull(x0 + h * v3, v4, t + h);
    let mean = (v1 + 2.0 * v2 + 2.0 * v3 + v4) / 6.0;
    let end = v1 + (h / 6.0) * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
    let (_, last) = pull(x0 + h * mean, end, t + h);
    let step = p.arc[i].step;
    p.arc[i] = Arc { velocity: [v1, end], power: [power, last], until: t + h, step };
    let flight = &mut p.flight[i];
    (flight.velocity, flight.since) = (mean, t);
}

/// Acceleration of a grain by all fields at a place, velocity and time \[m/s²\], and the power of those without a potential
/// \[W\].
fn push(model: &Model, p: &mut Particles, i: usize, x: Vec3, v: Vec3, time: f64) -> (Vec3, f64) {
    if p.is_fixed(i) {
        return (Vec3::ZERO, 0.0);
    }
    (p.place[i].position, p.motion[i].velocity) = (x, v);
    let (mut force, mut power) = (Vec3::ZERO, 0.0);
    for field in &model.fields {
        let f = field.force(p, i, time);
        force += f;
        if !field.has_potential() {
            power += f.dot(v);
        }
    }
    (p.motion[i].inverse_mass * force, power)
}

/// Begins the flight of a grain anew at the local time `t`, where it is, with a velocity.
pub(super) fn restart(model: &Model, state: &mut State, pull: &Pull, i: usize, t: f64, velocity: Vec3) {
    let p = &mut state.particles;
    let since = p.flight[i].since;
    let (x, _) = throw(&p.flight[i], pull.on(i)).at(t);
    if let Some(arc) = p.arc.get(i) {
        state.meetings.field_work += arc.work(since, t);
        p.flight[i].position = x;
        return step(model, state, i, t, velocity);
    }
    let flight = &mut p.flight[i];
    (flight.position, flight.velocity, flight.since) = (x, velocity, t);
}

/// Halves the steps of grains that meet something again in the same instant: the line of a step that is too long leads a slow grain back
/// into the wall it has just left (Gavrilov 1999, fig. 3.7).
pub(super) fn halve(state: &mut State, grains: &[u32], since_last: f64) {
    if since_last <= 0.0 {
        for &i in grains {
            if let Some(arc) = state.particles.arc.get_mut(i as usize) {
                arc.step *= 0.5;
                state.meetings.cures.halved += 1;
            }
        }
    }
}

/// Lets a grain whose step went well take longer ones again.
pub(super) fn lengthen(model: &Model, state: &mut State, i: usize) {
    if let Some(arc) = state.particles.arc.get_mut(i) {
        arc.step = (2.0 * arc.step).min(model.dt);
    }
}

/// Writes place and velocity of all grains at the time of the state, for those who look. The flights stay as they are.
pub(super) fn settle(model: &Model, state: &mut State) -> Result<(), StepError> {
    let pull = Pull::of(model, state);
    walls::roll(state, super::settings(model).window, state.time);
    let t = state.time - state.meetings.clock;
    let p = &mut state.particles;
    let mut work = state.meetings.field_work;
    for i in 0..p.owned() {
        let (x, v) = at(p, &pull, i, t);
        if !(x.is_finite() && v.is_finite()) {
            return Err(StepError::NotFinite { id: p.id[i], step: state.step, time: state.time });
        }
        (p.place[i].position, p.motion[i].velocity) = (x, v);
        if let Some(arc) = p.arc.get(i) {
            work += arc.work(p.flight[i].since, t);
        }
    }
    state.ledger.field_work = work;
    if let Some(tally) = state.meetings.tallies.last_mut() {
        tally.to = state.time;
    }
    Ok(())
}

/// Sorts the grains in space at the local time `now`; nothing but their order changes.
pub(super) fn sort(model: &Model, state: &mut State, now: f64) {
    let pull = Pull::of(model, state);
    let p = &mut state.particles;
    for i in 0..p.owned() {
        p.place[i].position = at(p, &pull, i, now).0;
    }
    let widest = p.place.iter().map(|place| place.radius).fold(0.0, f64::max);
    let order = neighbor::spatial_order(&p.place, &model.cell, 2.0 * widest);
    p.permute(&order);
}
