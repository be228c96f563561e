//! The state: everything that changes while a run goes on. A checkpoint is a state; written and read back it continues
//! the same run, bit for bit.

use crate::contact::Contacts;
use crate::fill::feed::FeedState;
use crate::law::Dissipation;
use crate::math::{Pose, Twist, Vec3};
use crate::model::Model;
use crate::particles::{NewGrain, Particles};
use serde::{Deserialize, Serialize};

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
    /// Whether the loads belong to the present positions.
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

impl State {
    /// The state before anything happened: no grains, walls where the scene put them.
    pub fn new(model: &Model) -> Self {
        Self {
            walls: vec![WallState::default(); model.walls.len()],
            feeds: model.feeds.iter().enumerate().map(|(f, (feed, _))| feed.begin(model.seed, f as u16)).collect(),
            flows: vec![Flow::default(); model.gates.len()],
            ..Default::default()
        }
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
        (0..self.particles.owned()).find(|&i| {
            let (p, m) = (&self.particles.place[i], &self.particles.motion[i]);
            !(p.position.is_finite() && m.velocity.is_finite() && m.angular_velocity.is_finite())
        })
    }
}
