//! `quasistatic`: from one equilibrium to the next.
//!
//! Grains are the nodes of an elastic [structure](crate::structure), contacts its links. A step is one equilibrium: walls go
//! where their motion takes them, the grains that feeds bring are let down one after another, each until it rests on others, and
//! all are brought to rest: overlapping grains are connected, contacts that would pull are taken out, those beyond
//! Coulomb's limit slide (Gavrilov 1999, chapter 4). There is no inertia: time is what walls, feeds and output go by.
//!
//! Between two looks grains stay close to where they are and contacts are springs; then forces are found by the laws of the
//! scene where the grains have come to, and what is still unbalanced is solved for. So a state at rest is one of any other solver:
//! overlaps and springs are those that its forces need, and `explicit` goes on from it without a jolt.
//!
//! The matrix is kept from step to step. What has been done to it stands in the state, so that a run begun anew does the same to the
//! last bit.

mod joints;
mod net;
mod record;
mod restore;
mod slides;

pub use joints::{Key, unfit};
pub use record::{Avalanche, Built, Change, Slid, Statics};

use super::{Phase, PhaseHook, Solver, StepError, between};
use crate::contact::visit;
use crate::fill::drop_and_roll;
use crate::fill::feed::{Birth, Outcome};
use crate::fill::{Obstacles, Placed, Push};
use crate::law::Stored;
use crate::math::Vec3;
use crate::measure::energy;
use crate::model::{Method, Model, Nodes, StaticBy, StaticSettings};
use crate::particles::Place;
use crate::state::State;
use crate::structure::cholesky::Cholesky;
use crate::structure::gradients::{Gradients, Preconditioner};
use crate::structure::rima::Rima;
use crate::structure::{Backend, Frame, Freedom};
use net::{Net, Unrest};

/// Nodes up to which the inverse is kept.
const FEW: usize = 100;

/// Nodes in space beyond which factors fill up.
const MANY: usize = 3000;

/// Grains of a group that gradients move as one.
const GROUP: usize = 100;

/// Changes after which the matrix is looked at.
const WATCH_EVERY: usize = 64;

/// Drift beyond which the matrix is made anew.
const DRIFT: f64 = 1e-9;

/// The solver and its scratch memory.
#[derive(Default)]
pub struct Quasistatic {
    net: Option<Net>,
    /// Elastic energy of the contacts, where nothing has moved since they came to rest \[J\].
    elastic: Option<f64>,
    hook: Option<PhaseHook>,
    builds: u64,
}

impl Quasistatic {
    /// A solver.
    pub fn new() -> Self {
        Self::default()
    }

    /// How far the matrix of the structure has drifted off ([`Structure::drift`](crate::structure::Structure::drift)); `None`
    /// while there is none.
    pub fn drift(&mut self, seed: u64) -> Option<f64> {
        self.net.as_mut().map(|net| net.structure.drift(seed))
    }

    /// The structure of the state, made again if need be.
    fn net(&mut self, model: &Model, state: &mut State) -> Result<&mut Net, StepError> {
        if self.net.is_none() {
            let settings = settings(model);
            let freedom = freedom(model, &settings);
            let built = state.statics.built.take().filter(|built| built.frame.freedom == freedom);
            let built = built.unwrap_or_else(|| Built {
                frame: Frame::new(freedom),
                by: chosen(&settings, freedom, state.particles.owned()),
                ..Built::default()
            });
            let structure = built.replay(backend(built.by)).map_err(|_| not_static(state, &[]))?;
            self.net = Some(Net::new(structure, settings, built));
            self.builds += 1;
        }
        Ok(self.net.as_mut().expect("just made"))
    }

    /// Brings everything to rest and books what that took.
    fn rest(&mut self, model: &Model, state: &mut State) -> Result<(), StepError> {
        let mut avalanche =
            Avalanche { step: state.step, grains: state.particles.owned() as u64, ..Avalanche::default() };
        let elastic = self.elastic.take().unwrap_or_else(|| energy::elastic(model, state).total());
        let before = elastic + energy::potential(model, &state.particles);
        let net = self.net(model, state)?;
        let done = net.restore(model, state, &mut avalanche);
        watch(net, state);
        let elastic = press_walls(model, state);
        self.elastic = Some(elastic);
        // Statics does not tell what becomes of the energy that is not rubbed away: motion, and heat in the end.
        state.ledger.dissipated.friction += avalanche.heat;
        avalanche.released = before - elastic - energy::potential(model, &state.particles) - avalanche.heat;
        state.ledger.dissipated.damping += avalanche.released;
        state.statics.avalanches.push(avalanche);
        done.map_err(|Unrest { grains, .. }| not_static(state, &grains))
    }

    /// Lets down what the feeds bring, one grain after another, and brings all to rest.
    fn feed(&mut self, model: &Model, state: &mut State) -> Result<(), StepError> {
        let before = state.particles.owned();
        for f in 0..model.feeds.len() {
            let (feed, active) = &model.feeds[f];
            while *active && feed.due(&state.feeds[f], state.time) {
                let around = between::Surroundings::near(model, state, feed.feed().region.bounds());
                let outcome =
                    feed.attempt(&mut state.feeds[f], state.time, model.seed, f as u16, &around, &mut Vec::new());
                match outcome {
                    Outcome::Placed(birth) => {
                        // It brings no motion, and its contacts are still to come.
                        let before = energy::potential(model, &state.particles);
                        add_at_rest(model, state, &birth)?;
                        state.ledger.entered += energy::potential(model, &state.particles) - before;
                    }
                    Outcome::Postponed => {}
                    Outcome::Jammed => {
                        let failures = state.feeds[f].failures;
                        return Err(StepError::Jam { feed: f, time: state.time, failures });
                    }
                    Outcome::Finished => break,
                }
            }
        }
        if state.particles.owned() > before { self.rest(model, state) } else { Ok(()) }
    }

    /// One step: walls move, grains leave and arrive, everything comes to rest.
    fn step(&mut self, model: &Model, state: &mut State) -> Result<(), StepError> {
        let moving = model.walls.iter().any(|wall| wall.active && !wall.motion.parts.is_empty());
        let held = moving.then(|| wall_energy(model, state));
        state.count_step(model.dt);
        if let Some(held) = held {
            let now = wall_energy(model, state);
            for (wall, (now, before)) in state.walls.iter_mut().zip(now.iter().zip(&held)) {
                wall.work += now - before;
            }
        }
        let remove = !model.removals.is_empty() && between::anything_to_remove(model, state);
        if remove {
            between::remove(model, state);
            self.forget(state);
        }
        // Else everything is at rest already.
        if moving || remove || model.gravity_alone().is_none() {
            self.elastic = None;
            self.rest(model, state)?;
        }
        self.feed(model, state)
    }

    /// Drops the structure: another will be made of the contacts.
    fn forget(&mut self, state: &mut State) {
        self.net = None;
        self.elastic = None;
        state.statics.built = None;
    }
}

/// Makes the matrix anew where it has drifted off.
fn watch(net: &mut Net, state: &State) {
    let changes = net.built.changes.len();
    if changes / WATCH_EVERY <= net.watched {
        return;
    }
    net.watched = changes / WATCH_EVERY;
    if net.structure.drift(state.step) > DRIFT {
        // What was held a moment ago still is; if rounding says otherwise the old matrix does for some time yet.
        let _ = net.make_anew();
    }
}

fn settings(model: &Model) -> StaticSettings {
    match model.method {
        Method::Quasistatic(settings) => settings,
        _ => StaticSettings { nodes: Nodes::Turning, by: StaticBy::Automatic, tolerance: 1e-10 },
    }
}

fn freedom(model: &Model, settings: &StaticSettings) -> Freedom {
    match (model.planar, settings.nodes) {
        (true, Nodes::Turning) => Freedom::PlanarTurning,
        (true, Nodes::Translating) => Freedom::Planar,
        (false, Nodes::Turning) => Freedom::SpatialTurning,
        (false, Nodes::Translating) => Freedom::Spatial,
    }
}

/// The way that suits so many nodes.
fn chosen(settings: &StaticSettings, freedom: Freedom, nodes: usize) -> StaticBy {
    let planar = matches!(freedom, Freedom::Planar | Freedom::PlanarTurning);
    match settings.by {
        StaticBy::Automatic if nodes <= FEW => StaticBy::Inverse,
        StaticBy::Automatic if planar || nodes <= MANY => StaticBy::Factors,
        StaticBy::Automatic => StaticBy::Gradients,
        by => by,
    }
}

fn backend(by: StaticBy) -> Box<dyn Backend> {
    match by {
        StaticBy::Inverse | StaticBy::Automatic => Box::new(Rima::new()),
        StaticBy::Factors => Box::new(Cholesky::new()),
        StaticBy::Gradients => Box::new(Gradients::new(Preconditioner::Coarse(GROUP), 1e-10)),
    }
}

fn not_static(state: &State, grains: &[usize]) -> StepError {
    let grains = grains.iter().map(|&g| state.particles.id[g]).collect();
    StepError::NotStatic { grains, step: state.step, time: state.time }
}

/// Puts a grain where it comes to rest when let down from the place of its birth.
fn add_at_rest(model: &Model, state: &mut State, birth: &Birth) -> Result<(), StepError> {
    let start = Place { position: birth.placed.centre, radius: birth.placed.radius };
    let position = resting_place(model, state, start, None).ok_or_else(|| not_static(state, &[]))?;
    let place = Place { position, ..start };
    state.add(model.kinds[birth.kind as usize].grain(birth.kind, place, Vec3::ZERO, Vec3::ZERO));
    Ok(())
}

/// Where a grain comes to rest among the others when it is let down; `but` is its own index, if it has one already.
fn resting_place(model: &Model, state: &State, start: Place, but: Option<usize>) -> Option<Vec3> {
    let down = model.uniform_acceleration().normalize_or_zero();
    let p = &state.particles;
    let others = (0..p.owned()).filter(|&i| Some(i) != but);
    let others = others.map(|i| Placed { centre: p.position(i), radius: p.radius(i) });
    let r_max = p.place.iter().map(|place| place.radius).fold(start.radius, f64::max);
    let walls = Walls { model, frames: visit::frames(model, state, state.time, 0.0) };
    let max_fall = 1e3 * r_max * (p.owned() as f64 + 100.0);
    let start = Placed { centre: start.position, radius: start.radius };
    drop_and_roll::let_down(&walls, others, r_max, start, down, model.planar, max_fall)
}

/// The walls as obstacles.
struct Walls<'a> {
    model: &'a Model,
    frames: crate::contact::walls::WallFrames,
}

impl Obstacles for Walls<'_> {
    fn overlaps(&self, centre: Vec3, radius: f64, out: &mut Vec<Push>) {
        between::push_out_of_walls(self.model, &self.frames, centre, radius, out);
    }
}

/// Elastic energy of the contacts of each wall \[J\].
fn wall_energy(model: &Model, state: &State) -> Vec<f64> {
    let mut held = vec![0.0; model.walls.len()];
    visit::for_each(model, state, |contact| {
        if let visit::Other::Wall(w) = contact.other {
            held[w] += contact.stored.total();
        }
    });
    held
}

/// Finds the forces of the grains on the walls. Returns the elastic energy of all contacts \[J\].
fn press_walls(model: &Model, state: &mut State) -> f64 {
    let mut sums = vec![(Vec3::ZERO, Vec3::ZERO); model.walls.len()];
    let mut elastic = Stored::default();
    visit::for_each(model, state, |contact| {
        elastic.normal += contact.share * contact.stored.normal;
        elastic.tangential += contact.share * contact.stored.tangential;
        if let visit::Other::Wall(w) = contact.other {
            sums[w].0 -= contact.force;
            sums[w].1 -= contact.point.cross(contact.force);
        }
    });
    for (wall, (force, torque)) in state.walls.iter_mut().zip(sums) {
        (wall.force, wall.torque) = (force, torque);
    }
    elastic.total()
}

impl Solver for Quasistatic {
    fn go_on(&mut self, model: &Model, state: &mut State, steps: u64) -> Result<(), StepError> {
        super::tick(&self.hook, Phase::Contacts);
        if !state.loads_are_current {
            self.forget(state);
            // Grains stand still from now on: what they had of motion is gone.
            let before = energy::mechanical(model, state);
            for motion in &mut state.particles.motion {
                (motion.velocity, motion.angular_velocity) = (Vec3::ZERO, Vec3::ZERO);
            }
            let now = energy::mechanical(model, state);
            if state.step == 0 {
                state.ledger.initial = now;
            } else {
                state.ledger.switched += now - before;
            }
            self.rest(model, state)?;
            state.loads_are_current = true;
        }
        let mut sides = between::sides(model, &state.particles);
        for _ in 0..steps {
            let before = state.particles.owned();
            self.step(model, state)?;
            if state.particles.owned() != before {
                sides = between::sides(model, &state.particles);
            }
            between::count_flows(model, state, &mut sides);
        }
        super::tick(&self.hook, Phase::Outside);
        Ok(())
    }

    fn complete(&mut self, state: &mut State) {
        if let Some(net) = &self.net {
            state.statics.built = Some(net.built.clone());
        }
    }

    fn memory(&self) -> usize {
        self.net.as_ref().map_or(0, |net| net.structure.backend.memory())
    }

    fn rebuilds(&self) -> u64 {
        self.builds
    }

    fn on_phase(&mut self, hook: PhaseHook) {
        self.hook = Some(hook);
    }
}
