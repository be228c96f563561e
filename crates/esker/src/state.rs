//! The state: everything that changes while a run goes on. A checkpoint is a state; written and read back it continues
//! the same run, bit for bit.

use crate::contact::{Contacts, WallContact};
use crate::fill::feed::FeedState;
use crate::law::Dissipation;
use crate::math::{Pose, Twist, Vec3};
use crate::measure::tally::Tally;
use crate::model::Model;
use crate::particles::{NewGrain, Particles, is_finite};
use crate::simulation::Stage;
use crate::solver::quasistatic::Statics;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Everything that changes while a run goes on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Index of the present stage.
    pub stage: usize,
    /// Steps done.
    pub step: u64,
    /// Time at which the present stage began \[s\]: `time = epoch + (step − epoch_step) dt`.
    pub epoch: f64,
    /// Step count at the epoch.
    pub epoch_step: u64,
    /// Current time \[s\].
    pub time: f64,
    /// Identity of the next grain.
    pub next_id: u64,
    /// The grains.
    pub particles: Particles,
    /// Lasting contacts and what they remember.
    pub contacts: Contacts,
    /// Walls.
    pub walls: Vec<WallState>,
    /// Feeds.
    pub feeds: Vec<FeedState>,
    /// Crossings of the counting planes.
    pub flows: Vec<Flow>,
    /// Grains taken out so far.
    pub removed: Flow,
    /// Energy account.
    pub ledger: Ledger,
    /// What the event-driven solver has met.
    pub meetings: Meetings,
    /// What the quasi-static solver has done.
    pub statics: Statics,
    /// Whether the loads, and the stiffnesses that contacts remember, belong to the present positions and laws. To be
    /// cleared by who changes either.
    pub loads_are_current: bool,
}

/// Where a wall is and what it has felt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WallState {
    /// Pose when the present motion began.
    pub base: Pose,
    /// Time at which the present motion began \[s\].
    pub since: f64,
    /// Force of the grains on the wall at the last step \[N\].
    pub force: Vec3,
    /// Torque of the grains on the wall about the origin of the world \[N m\].
    pub torque: Vec3,
    /// Work done by the wall on the grains so far \[J\].
    pub work: f64,
}

impl Default for WallState {
    fn default() -> Self {
        Self { base: Pose::IDENTITY, since: 0.0, force: Vec3::ZERO, torque: Vec3::ZERO, work: 0.0 }
    }
}

/// A count and a mass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// Number of grains, net.
    pub count: i64,
    /// Mass, net \[kg\].
    pub mass: f64,
}

/// What the event-driven solver ([`crate::solver::event`]) has met so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Meetings {
    /// Time at which the clock of the flights stood at zero \[s\].
    pub clock: f64,
    /// Collisions since that clock was last set.
    pub since_set: u64,
    /// Work of fields without a potential on flights that are over \[J\].
    pub field_work: f64,
    /// Events of all kinds so far, flights through cells included.
    pub events: u64,
    /// What was done against endless collisions.
    pub cures: Cures,
    /// Collisions, and slow ones among them, since the share of these was last looked at.
    pub watch: [u64; 2],
    /// The stage goes on with soft contacts: grains came to lie on each other.
    pub handed_over: bool,
    /// Collisions, one account for each stage with hard collisions.
    pub tallies: Vec<Tally>,
    /// Deepest overlap of two grains at the moment they met, over the smaller radius: rounding alone.
    pub overlap: f64,
    /// Impulses on the walls over the present window, and its number.
    pub window: Window,
}

/// How often something was done against endless collisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cures {
    /// Collisions slower than the cut-off, taken as elastic.
    pub slow: u64,
    /// Collisions too soon after the last, taken as elastic.
    pub soon: u64,
    /// Parting at the least speed, since bodies hardly moved.
    pub lifted: u64,
    /// Steps of a flight that were halved.
    pub halved: u64,
    /// Stages that went on with soft contacts.
    pub handed_over: u64,
}

impl Cures {
    /// All of them, with what they are.
    pub fn list(&self) -> [(&'static str, u64); 5] {
        [
            ("slower than the cut-off, taken as elastic", self.slow),
            ("too soon after the last, taken as elastic", self.soon),
            ("parted at the least speed", self.lifted),
            ("steps of a flight halved", self.halved),
            ("handed over to soft contact", self.handed_over),
        ]
    }
}

/// Impulses on the walls over a window of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Number of the window.
    pub number: u64,
    /// Impulse \[N s\] and its moment about the origin \[N m s\], of each wall.
    pub impulse: Vec<[Vec3; 2]>,
}

/// What entered and left the energy of the grains since the start \[J\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// Energy at the start.
    pub initial: f64,
    /// Turned into heat.
    pub dissipated: Dissipation,
    /// Work of fields without a potential.
    pub field_work: f64,
    /// Power of these at the last force \[W\].
    pub field_power: f64,
    /// Brought in with grains.
    pub entered: f64,
    /// Taken out with grains.
    pub left: f64,
    /// Changed when a stage switched walls, fields or laws.
    pub switched: f64,
}

/// Why a state does not belong to a run.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Misfit {
    /// Something is there in another number.
    #[error("it has {found} {what}, the scene has {expected}")]
    Number {
        /// Of what.
        what: &'static str,
        /// In the state.
        found: usize,
        /// In the scene.
        expected: usize,
    },
    /// It refers to something that is not there, or its columns differ in length.
    #[error("it is not whole: {0}")]
    Broken(&'static str),
}

/// Memory held by a column \[byte\].
pub(crate) fn held<T>(column: &Vec<T>) -> usize {
    column.capacity() * size_of::<T>()
}

impl State {
    /// Checks that a state from elsewhere can be advanced with the models of these stages: numbers of walls, feeds and
    /// counting planes, and that every index points to something. What the numbers say is left to the steps.
    pub fn check(&self, stages: &[Stage]) -> Result<(), Misfit> {
        let Some(model) = stages.get(self.stage).or(stages.last()).map(|stage| &stage.model) else {
            return Err(Misfit::Number { what: "stages", found: self.stage, expected: 0 });
        };
        for (what, found, expected) in [
            ("walls", self.walls.len(), model.walls.len()),
            ("feeds", self.feeds.len(), model.feeds.len()),
            ("counting planes", self.flows.len(), model.gates.len()),
        ] {
            if found != expected {
                return Err(Misfit::Number { what, found, expected });
            }
        }
        if self.stage > stages.len() {
            return Err(Misfit::Number { what: "stages behind it", found: self.stage, expected: stages.len() });
        }
        let p = &self.particles;
        let n = p.owned();
        let whole = |condition: bool, what| if condition { Ok(()) } else { Err(Misfit::Broken(what)) };
        let columns = [p.place.len(), p.motion.len(), p.load.len(), p.mass.len(), p.inertia.len()];
        whole(columns == [n; 5] && [p.orientation.len(), p.kind.len()] == [n; 2], "its columns differ in length")?;
        let kept = |length: usize| length == 0 || length == n;
        whole(kept(p.derivatives.len()) && kept(p.last.len()), "its columns differ in length")?;
        whole(kept(p.flight.len()) && kept(p.met.len()) && kept(p.arc.len()), "its columns differ in length")?;
        whole(p.kind.iter().all(|&k| usize::from(k) < model.kinds.len()), "a grain is of no kind")?;
        whole(p.id.iter().all(|&id| id < self.next_id), "a grain has the identity of a later one")?;
        whole(self.epoch_step <= self.step, "its stage began after it")?;
        let counted = |tally: &Tally| stages.get(tally.stage).is_some_and(|stage| tally.fits(&stage.model));
        whole(self.meetings.tallies.iter().all(counted), "its collisions are of other grains or walls")?;
        let sound = self.statics.built.as_ref().is_none_or(|built| built.is_sound());
        whole(sound, "its structure at rest has links without nodes")?;
        let there = |i: u32| (i as usize) < n;
        whole(self.contacts.pairs.iter().all(|c| there(c.i) && there(c.j)), "a contact is of no grain")?;
        let on_wall = |c: &WallContact| there(c.grain) && usize::from(c.wall) < self.walls.len();
        whole(self.contacts.walls.iter().all(on_wall), "a contact is of no grain or wall")?;
        whole(self.contacts.pairs.is_sorted_by_key(|c| (c.i, c.j, c.shift)), "its contacts are in disorder")?;
        whole(self.contacts.walls.is_sorted_by_key(|c| (c.grain, c.wall)), "its contacts are in disorder")
    }

    /// The state before anything happened: no grains, walls where the scene put them.
    pub fn new(model: &Model) -> Self {
        Self {
            walls: vec![WallState::default(); model.walls.len()],
            feeds: model.feeds.iter().enumerate().map(|(f, (feed, _))| feed.begin(model.seed, f as u16)).collect(),
            flows: vec![Flow::default(); model.gates.len()],
            ..Default::default()
        }
    }

    /// Memory held by grains and contacts \[byte\].
    pub fn memory(&self) -> usize {
        let p = &self.particles;
        let read = held(&p.id) + held(&p.place) + held(&p.motion) + held(&p.mass) + held(&p.inertia);
        let rest = held(&p.load) + held(&p.orientation) + held(&p.kind) + held(&p.derivatives) + held(&p.last);
        let rest = rest + held(&p.flight) + held(&p.met) + held(&p.arc);
        read + rest + held(&self.contacts.pairs) + held(&self.contacts.walls)
    }

    /// Adds a grain and returns its identity.
    pub fn add(&mut self, grain: NewGrain) -> u64 {
        let id = self.next_id;
        self.particles.push(id, grain);
        self.next_id += 1;
        id
    }

    /// Pose of wall `w` at time `t`.
    pub fn wall_pose(&self, model: &Model, w: usize, t: f64) -> Pose {
        let wall = &self.walls[w];
        wall.base.then(&model.walls[w].motion.pose(t - wall.since))
    }

    /// Velocity of wall `w` at time `t`.
    pub fn wall_twist(&self, model: &Model, w: usize, t: f64) -> Twist {
        model.walls[w].motion.twist(t - self.walls[w].since)
    }

    /// Starts a new epoch: to be called when a stage begins.
    pub fn new_epoch(&mut self) {
        self.epoch = self.time;
        self.epoch_step = self.step;
    }

    /// Counts one step of length `dt`.
    pub fn count_step(&mut self, dt: f64) {
        self.time = self.time_after(1, dt);
        self.step += 1;
    }

    /// Time after so many more steps of length `dt` in this stage \[s\], to the last bit.
    pub fn time_after(&self, steps: u64, dt: f64) -> f64 {
        if steps == 0 { self.time } else { self.epoch + (self.step + steps - self.epoch_step) as f64 * dt }
    }

    /// The first grain without finite position or velocity.
    pub fn first_not_finite(&self) -> Option<usize> {
        let Particles { place, motion, .. } = &self.particles;
        (0..self.particles.owned()).find(|&i| !is_finite(&place[i], &motion[i]))
    }
}
