//! What the solver keeps besides the state, and the loop over events. All of it can be made anew from the state.

use super::agenda::{Agenda, Event, MOST_GRAINS, With};
use super::calendar::Calendar;
use super::cells::{Around, Cells};
use super::course::Carrier;
use super::fly::{self, Pull};
use super::form::{Form, forms};
use super::meeting::Meeting;
use super::{Fate, SET_CLOCK_EVERY, Standstill, tie};
use crate::lanes::Width;
use crate::math::{Aabb, Vec3};
use crate::model::{Collapse, EventSettings, Model};
use crate::solver::StepError;
use crate::state::State;

/// A piece of a wall.
pub(super) struct Piece {
    pub wall: u16,
    /// The first wall that moves as this one does.
    pub leader: u16,
    pub form: Form,
}

/// The scratch memory.
pub(super) struct Scratch {
    pub now: f64,
    pub pull: Pull,
    pub cells: Cells,
    /// Grains around the one that is looked at.
    pub around: Around,
    /// Meetings it may have.
    pub found: Vec<Meeting>,
    /// How many partners are looked at at once.
    pub width: Width,
    pub agendas: Vec<Agenda>,
    /// How often each grain has met something: what was foreseen with it before is void.
    pub meetings: Vec<u32>,
    /// 1/mass of each grain, 0 of fixed ones \[1/kg\]: at hand without the rest of its motion.
    pub lightness: Vec<f64>,
    pub calendar: Calendar,
    /// Walls as grains see them, and their pieces.
    pub carriers: Vec<Carrier>,
    pub pieces: Vec<Piece>,
    /// Pieces that grains in each cell may touch: ranges of `near`.
    starts: Vec<u32>,
    near: Vec<u32>,
    /// A flight is looked at no farther ahead than this \[s\].
    pub outlook: f64,
}

impl Scratch {
    /// From a state with flights.
    pub fn build(model: &Model, state: &State) -> Result<Self, StepError> {
        let p = &state.particles;
        let n = p.owned();
        if n >= MOST_GRAINS {
            return Err(StepError::Hard(format!(
                "{n} grains are more than the solver \"event\" can number, {MOST_GRAINS}"
            )));
        }
        let pull = Pull::of(model, state);
        // The flights are those of the state; the present is the time of the state, or the last event.
        let now = p.flight.iter().map(|f| f.since).fold(state.time - state.meetings.clock, f64::max);
        let places: Vec<Vec3> = (0..n).map(|i| fly::at(p, &pull, i, now).0).collect();
        let bounds = places.iter().fold(Aabb::EMPTY, |b, x| b.including(*x));
        let widest = 2.0 * p.place.iter().map(|place| place.radius).fold(0.0, f64::max);
        let mut cells = Cells::new(bounds, n, widest, &model.cell, model.planar);
        for (i, x) in places.iter().enumerate() {
            cells.put_at(i as u32, *x);
        }
        let carriers: Vec<Carrier> = (0..model.walls.len())
            .map(|w| {
                let (wall, s) = (&model.walls[w], &state.walls[w]);
                Carrier::new(wall.motion_of_surface(&s.base), s.base, s.since - state.meetings.clock)
            })
            .collect();
        let outlook = carriers.iter().map(Carrier::outlook).fold(f64::INFINITY, f64::min);
        let mut scratch = Self {
            now,
            pull,
            cells,
            around: Around::default(),
            found: Vec::new(),
            width: Width::best(),
            agendas: vec![Agenda::default(); n],
            meetings: vec![0; n],
            lightness: p.motion.iter().map(|motion| motion.inverse_mass).collect(),
            calendar: Calendar::new(n, now),
            carriers,
            pieces: Vec::new(),
            starts: Vec::new(),
            near: Vec::new(),
            outlook,
        };
        scratch.list_walls(model, 0.5 * widest);
        for i in 0..n as u32 {
            scratch.predict(model, state, i);
        }
        scratch.calendar.cut(now);
        Ok(scratch)
    }

    /// Finds which pieces of walls grains may touch from each cell: for each piece only the cells near it are looked at.
    fn list_walls(&mut self, model: &Model, radius: f64) {
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (w, wall) in model.walls.iter().enumerate().filter(|(_, wall)| wall.active) {
            let carrier = &self.carriers[w];
            let leader = self.carriers.iter().position(|other| other == carrier).unwrap_or(w);
            for (form, around) in forms(&wall.surface) {
                let k = self.pieces.len() as u32;
                let near = carrier.sweep(around).grown(radius);
                self.cells.visit(near, |cell, inside| {
                    if may_meet(carrier, &wall.surface, &form, inside, around, radius) {
                        pairs.push((cell, k));
                    }
                });
                self.pieces.push(Piece { wall: w as u16, leader: leader as u16, form });
            }
        }
        pairs.sort_unstable();
        self.starts = vec![0; self.cells.len() + 1];
        for &(cell, _) in &pairs {
            self.starts[cell as usize + 1] += 1;
        }
        for cell in 1..self.starts.len() {
            self.starts[cell] += self.starts[cell - 1];
        }
        self.near = pairs.into_iter().map(|(_, piece)| piece).collect();
    }

    /// Pieces of walls that grains in a cell may touch.
    pub fn near(&self, cell: u32) -> &[u32] {
        &self.near[self.starts[cell as usize] as usize..self.starts[cell as usize + 1] as usize]
    }

    /// Voids what was foreseen with a grain.
    #[inline]
    pub fn has_met(&mut self, i: u32) {
        let count = &mut self.meetings[i as usize];
        *count = count.wrapping_add(1);
    }

    /// Memory held \[byte\].
    pub fn memory(&self) -> usize {
        self.agendas.capacity() * size_of::<Agenda>()
            + self.meetings.capacity() * 4
            + self.lightness.capacity() * 8
            + self.calendar.memory()
            + self.cells.memory()
            + (self.starts.capacity() + self.near.capacity()) * 4
    }

    /// Puts a grain where its agenda says in the calendar.
    #[inline]
    pub fn note(&mut self, model: &Model, state: &State, i: u32) {
        let agenda = &self.agendas[i as usize];
        let ids = &state.particles.id;
        let tie = match agenda.first() {
            Some(event) => tie(model.seed, ids[i as usize], event.with, |j| ids[j as usize]),
            None => 0,
        };
        self.calendar.set(i, agenda.due(), tie);
    }

    /// Handles events up to the local time `to`.
    pub fn run(
        &mut self,
        model: &Model,
        state: &mut State,
        settings: &EventSettings,
        standstill: &mut Standstill,
        to: f64,
    ) -> Result<Fate, StepError> {
        let grains = state.particles.owned() as u64;
        while let Some((i, t)) = self.calendar.first().filter(|(_, t)| *t <= to) {
            self.now = self.now.max(t);
            if standstill.lasts(state.meetings.clock + t, grains) {
                if let Collapse::HandOver(_) = settings.collapse {
                    return Ok(Fate::Collapsed);
                }
                let id = state.particles.id[i as usize];
                return Err(StepError::Frozen { id, time: state.meetings.clock + t });
            }
            state.meetings.events += 1;
            let Some(Event { time, with }) = self.agendas[i as usize].first() else {
                // Nothing is known from here on.
                self.predict(model, state, i);
                continue;
            };
            match with {
                With::Grain { index, meetings } if self.meetings[index as usize] != meetings => {
                    self.agendas[i as usize].strike();
                    self.note(model, state, i);
                }
                With::Grain { index, .. } => self.meet_grain(model, state, settings, [i, index], time),
                With::Wall { index } => self.meet_wall(model, state, settings, i, index, time),
                With::Face { axis, up } => self.cross(model, state, i, axis, up),
                With::End => self.renew(model, state, i, time),
            }
            if let Collapse::HandOver(_) = settings.collapse
                && state.meetings.watch[0] > 16 * grains + 64
            {
                let [all, slow] = std::mem::take(&mut state.meetings.watch);
                if 2 * slow > all {
                    return Ok(Fate::Collapsed);
                }
            }
            if state.meetings.since_set >= SET_CLOCK_EVERY * grains + 1000 {
                return Ok(Fate::Worn);
            }
            if self.calendar.is_worn() {
                self.calendar.cut(self.now);
            }
        }
        Ok(Fate::Arrived)
    }
}

/// Whether grains in a cell may touch a piece of a wall at some time.
fn may_meet(
    carrier: &Carrier,
    surface: &crate::boundary::Surface,
    form: &Form,
    cell: Aabb,
    piece: Aabb,
    radius: f64,
) -> bool {
    let reach = carrier.reach() + radius;
    if !reach.is_finite() {
        return true;
    }
    // In the frame of the wall, which only shifts: the ball around the cell.
    let pose = carrier.base();
    let size = cell.size();
    if !size.is_finite() {
        return match form {
            Form::HalfSpace { normal, offset } => {
                // The corner that lies deepest, where it is finite.
                let n = pose.orientation * *normal;
                let deepest: f64 = (0..3)
                    .map(|k| match n[k] {
                        0.0 => 0.0,
                        c if c > 0.0 => c * (cell.min[k] - pose.position[k]),
                        c => c * (cell.max[k] - pose.position[k]),
                    })
                    .sum();
                deepest.is_nan() || deepest <= offset + reach
            }
            _ => true,
        };
    }
    let (centre, half) = (pose.to_local(0.5 * (cell.min + cell.max)), 0.5 * size.length());
    piece.grown(reach + half).contains(centre) && surface.distance(centre) <= reach + half
}
