//! What a grain will meet: other grains, walls, faces of its cell, the end of its flight.

use super::agenda::{Event, With};
use super::course::{Along, Course, Throw, first_touch};
use super::fall::first_fall;
use super::fly::{self, Pull, throw};
use super::form::{Form, Side};
use super::meeting::Seeker;
use super::scratch::Scratch;
use crate::boundary::WallTouch;
use crate::math::Vec3;
use crate::model::Model;
use crate::solver::between;
use crate::state::State;

/// A wall counts as touched within this fraction of the radius.
pub(super) const TOUCHING: f64 = 1e-9;

/// A grain that leaves a wall with less than this fraction of its speed rests on it: what is less is rounding.
const RESTING: f64 = 1e-12;

/// Never looked at farther ahead than this \[s\].
const FOREVER: f64 = 1e12;

/// When two grains meet whose accelerations differ: the equation is quartic. Otherwise see [`super::meeting`].
pub(super) fn meeting_of_throws(a: &Throw, b: &Throw, r: f64, shift: Vec3, until: f64) -> f64 {
    let t = a.since.max(b.since);
    let ((xa, va), (xb, vb)) = (a.at(t), b.at(t));
    let course = Course::Thrown(Throw {
        since: t,
        position: xa - xb - shift,
        velocity: va - vb,
        acceleration: a.acceleration - b.acceleration,
    });
    let along = Along { form: &Form::Point { at: Vec3::ZERO }, side: Side::Out, radius: r, course: &course };
    first_fall(&along, t, until.min(t + FOREVER)).unwrap_or(f64::INFINITY)
}

impl Scratch {
    /// Finds out all that a grain will meet.
    pub fn predict(&mut self, model: &Model, state: &State, i: u32) {
        self.agendas[i as usize].clear();
        let p = &state.particles;
        let moves = self.lightness[i as usize] > 0.0;
        if moves {
            let end = match p.arc.get(i as usize) {
                Some(arc) => arc.until,
                None => p.flight[i as usize].since + self.outlook,
            };
            if end < f64::INFINITY {
                self.agendas[i as usize].enter(Event { time: end, with: With::End });
            }
        }
        self.foresee_grains(state, i, None);
        if moves {
            let exit = self.foresee_exit(state, i);
            self.foresee_walls(model, state, i, exit);
        }
        self.note(model, state, i);
    }

    /// Enters the flight out of the cell and returns its time.
    fn foresee_exit(&mut self, state: &State, i: u32) -> f64 {
        let throw = throw(&state.particles.flight[i as usize], self.pull.on(i as usize));
        let Some((time, axis, up)) = self.cells.exit(i, &throw, self.now) else { return f64::INFINITY };
        self.agendas[i as usize].enter(Event { time, with: With::Face { axis, up } });
        time
    }

    /// Enters meetings with grains in the cells around, or in those beyond a face only.
    fn foresee_grains(&mut self, state: &State, i: u32, beyond: Option<(u8, bool)>) {
        self.cells.around(i, beyond, &mut self.around);
        let flights = &state.particles.flight;
        let horizon = self.agendas[i as usize].horizon();
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        match &self.pull {
            Pull::Each(all) => {
                let this = throw(&flights[i as usize], all[i as usize]);
                for (run, count, shift) in self.around.runs() {
                    for &j in run[..count].iter().filter(|&&j| j != i) {
                        let other = throw(&flights[j as usize], all[j as usize]);
                        let r = flights[i as usize].radius + flights[j as usize].radius;
                        found.push((meeting_of_throws(&this, &other, r, shift, horizon), j));
                    }
                }
            }
            pull => {
                let seeker = Seeker { flights, grain: i, gravity: pull.on(0), horizon };
                for (run, count, shift) in self.around.runs() {
                    seeker.meetings(self.width, run, count, shift, &mut found);
                }
            }
        }
        for &(time, j) in &found {
            // Two fixed grains never meet; a grain does not meet itself, since it does not come nearer.
            let can_move = self.lightness[i as usize] + self.lightness[j as usize] > 0.0;
            if time < self.agendas[i as usize].horizon() && can_move {
                let meetings = self.meetings[j as usize];
                self.agendas[i as usize].enter(Event { time, with: With::Grain { index: j, meetings } });
            }
        }
        self.found = found;
    }

    /// Enters the first meeting with a wall near the cell before the grain leaves that at `exit`: no wall is deflected by others, so the
    /// first is enough.
    fn foresee_walls(&mut self, model: &Model, state: &State, i: u32, exit: f64) {
        if self.pieces.is_empty() {
            return;
        }
        let flight = &state.particles.flight[i as usize];
        let throw = throw(flight, self.pull.on(i as usize));
        let mut until = self.agendas[i as usize].horizon().min(exit);
        let mut first = None;
        let leader = |k: &u32| self.pieces[*k as usize].leader;
        for pieces in self.near(self.cells.of(i)).chunk_by(|a, b| leader(a) == leader(b)) {
            if let Some((time, index)) = self.reaches(model, pieces, &throw, flight.radius, until) {
                (until, first) = (time, Some(Event { time, with: With::Wall { index } }));
            }
        }
        if let Some(event) = first {
            self.agendas[i as usize].enter(event);
        }
    }

    /// When and which wall a flight reaches first of some pieces that move together, before `until`. The time depends on nothing
    /// but the flight and the motion of the wall.
    fn reaches(&self, model: &Model, pieces: &[u32], throw: &Throw, radius: f64, until: f64) -> Option<(f64, u16)> {
        let pieces = || pieces.iter().map(|k| &self.pieces[*k as usize]);
        let carrier = &self.carriers[usize::from(pieces().next()?.leader)];
        let until = until.min(throw.since + FOREVER.min(2.0 * self.outlook));
        let mut t = throw.since;
        while t < until {
            let end = carrier.next_break(t);
            let course = carrier.course(throw, t, end);
            let (mut to, mut first) = (end.min(until), None);
            // What is past has been looked at: pieces that are too far off from now on need no search.
            let (triangle, beside) = course.triangle(self.now.clamp(t, to), to);
            for piece in pieces().filter(|piece| !piece.form.is_clear_of(radius + beside, &triangle)) {
                // A piece stands for an endless surface: where it ends the grain may touch an edge, and be on its way off.
                let is_there = |x: Vec3, v: Vec3| {
                    let mut touches: Vec<WallTouch> = Vec::new();
                    model.walls[usize::from(piece.wall)].surface.touches(x, radius * (1.0 + TOUCHING), &mut touches);
                    touches.iter().any(|touch| v.dot(touch.normal) >= -RESTING * v.length())
                };
                if let Some(time) = first_touch(&piece.form, radius, &course, t, to, is_there) {
                    (to, first) = (time, Some((time, piece.wall)));
                }
            }
            if first.is_some() {
                return first;
            }
            t = end;
        }
        None
    }

    /// A grain goes through a face of its cell.
    pub fn cross(&mut self, model: &Model, state: &mut State, i: u32, axis: u8, up: bool) {
        self.agendas[i as usize].strike();
        let back = self.cells.cross(i, axis, up);
        if back != Vec3::ZERO {
            self.wrap(model, state, i as usize, back);
            self.has_met(i);
            return self.predict(model, state, i);
        }
        let exit = self.foresee_exit(state, i);
        self.foresee_grains(state, i, Some((axis, up)));
        self.foresee_walls(model, state, i, exit);
        self.note(model, state, i);
    }

    /// Brings a grain back into the periodic domain: its flight is shifted, its time goes on.
    fn wrap(&mut self, model: &Model, state: &mut State, i: usize, back: Vec3) {
        // A field along a periodic axis has no single-valued potential: what the shift changes is energy that entered.
        let p = &mut state.particles;
        let time = state.meetings.clock + self.now;
        let x = fly::at(p, &self.pull, i, self.now).0;
        for field in model.fields.iter().filter(|field| field.has_potential() && self.lightness[i] > 0.0) {
            state.ledger.entered += if field.is_constant() {
                // Wherever it crosses: the time of that is known but for rounding.
                -field.force(p, i, time).dot(back)
            } else {
                let mut potential = |x: Vec3| {
                    p.place[i].position = x;
                    field.potential(p, i)
                };
                potential(x + back) - potential(x)
            };
        }
        p.flight[i].position += back;
        for (flow, gate) in state.flows.iter_mut().zip(&model.gates) {
            if let Some(length) = between::period(model, gate) {
                let jump = (back.dot(gate.normal) / length).round();
                flow.count -= jump as i64;
                flow.mass -= jump * p.mass[i];
            }
        }
    }

    /// Begins a flight anew whose end has come.
    pub fn renew(&mut self, model: &Model, state: &mut State, i: u32, t: f64) {
        let (_, velocity) = fly::at(&state.particles, &self.pull, i as usize, t);
        fly::lengthen(model, state, i as usize);
        fly::restart(model, state, &self.pull, i as usize, t, velocity);
        self.has_met(i);
        self.predict(model, state, i);
    }
}
