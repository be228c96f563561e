//! One impact of two bodies under a contact law: what a choice of law and parameters does, without a scene.
//!
//! The two bodies move relative to each other along the normal and along one tangent, with the scheme of the
//! [explicit solver](crate::solver::explicit) (velocity Verlet, contact velocities extrapolated to the time of the force), so that what
//! is seen here is what a run with this step would see. The normal does not turn: bodies are large beside the overlap.

use crate::law::normal::{NormalLaw, PowerLaw};
use crate::law::restitution::contact_time;
use crate::law::{ContactVelocity, LastRates, Law, Memory, Touch};
use crate::math::Vec3;

/// Two bodies about to meet.
#[derive(Clone, Copy, Debug)]
pub struct Impact {
    /// Law between them.
    pub law: Law,
    /// Their curvatures \[1/m\], see [`Touch::curvature`].
    pub curvature: [f64; 2],
    /// Effective mass \[kg\].
    pub effective_mass: f64,
    /// How much more easily surfaces slip than centres move: 1 + m R²/I, 7/2 for spheres, 3 for discs, 1 without rotation.
    pub turning: f64,
    /// Speed of approach \[m/s\].
    pub approach: f64,
    /// Speed of slip \[m/s\].
    pub slip: f64,
}

/// One instant of an impact.
#[derive(Clone, Copy, Debug, Default)]
pub struct Instant {
    /// Since the bodies met \[s\].
    pub time: f64,
    /// Overlap \[m\].
    pub overlap: f64,
    /// Normal force, positive when it pushes \[N\].
    pub normal_force: f64,
    /// Tangential force \[N\], positive along the first slip.
    pub tangential_force: f64,
    /// Rate of overlap \[m/s\].
    pub approach: f64,
    /// Slip \[m/s\].
    pub slip: f64,
    /// Way that surface i has slipped along surface j \[m\].
    pub displacement: f64,
}

/// What became of an impact.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// All steps.
    pub course: Vec<Instant>,
    /// Duration \[s\]; `None` if the bodies did not part in the time given.
    pub duration: Option<f64>,
    /// Speed of parting over that of approach; `None` likewise.
    pub restitution: Option<f64>,
    /// Slip afterwards over slip before; `None` likewise, or without slip.
    pub tangential_restitution: Option<f64>,
    /// Largest overlap \[m\].
    pub peak_overlap: f64,
    /// Largest normal force \[N\].
    pub peak_force: f64,
    /// Largest pull \[N\].
    pub largest_pull: f64,
    /// Energy lost in the account of the law \[J\].
    pub dissipated: f64,
    /// Relative energy before, less that after and the account \[J\].
    pub residual: f64,
}

/// Contact times after which bodies count as sticking together.
pub const LONGEST: f64 = 20.0;

impl Impact {
    /// Effective radius \[m\].
    pub fn effective_radius(&self) -> f64 {
        1.0 / (self.curvature[0] + self.curvature[1])
    }

    /// Duration of the impact if nothing were lost and nothing pulled, by the power law nearest to the law \[s\].
    pub fn undamped_time(&self) -> f64 {
        let PowerLaw { coefficient, exponent } = self.law.normal.power_law(self.effective_radius());
        contact_time(coefficient, exponent, self.effective_mass, self.approach)
    }

    fn kinetic(&self, approach: f64, slip: f64) -> f64 {
        0.5 * self.effective_mass * (approach * approach + slip * slip / self.turning)
    }

    /// Lets the bodies meet, in steps of length `dt` \[s\], until they part or [`LONGEST`] contact times have passed.
    ///
    /// They begin where the law begins to act, a fraction `phase` in \[0, 1) of a step before.
    pub fn run(&self, dt: f64, phase: f64) -> Outcome {
        let (n, t) = (Vec3::X, Vec3::Y);
        let mut memory = Memory::default();
        let mut overlap = -self.law.range(self.curvature, false) - phase * self.approach * dt;
        let (mut approach, mut slip) = (self.approach, self.slip);
        let mut force = [0.0; 2];
        let mut outcome = Outcome::default();
        let steps = (LONGEST * self.undamped_time() / dt).ceil() as usize;
        let mut met = false;
        let mut displacement = 0.0;
        for step in 1..=steps {
            // Half way through the step.
            approach -= 0.5 * dt * force[0] / self.effective_mass;
            slip += 0.5 * dt * force[1] * self.turning / self.effective_mass;
            overlap += approach * dt;
            let half_way = ContactVelocity { approach, slip: t * slip, ..Default::default() };
            let last = memory.touching.then_some(&memory.rates);
            let touch = Touch {
                overlap,
                normal: n,
                middle: n,
                effective_radius: self.effective_radius(),
                elongation: 0.0,
                curvature: self.curvature,
                effective_mass: self.effective_mass,
                now: half_way.half_a_step_later(last, n),
                mean: half_way,
                dt,
            };
            let acts = overlap > -self.law.range(self.curvature, memory.touching);
            if acts {
                let response = self.law.respond(&touch, &mut memory);
                memory.rates = LastRates { approach, slip: t * slip, turning: Vec3::ZERO };
                force = [response.normal_force, response.force.dot(t)];
                outcome.dissipated += response.dissipated.total();
            } else if memory.touching {
                outcome.dissipated += self.law.release(&half_way, dt, &mut memory).total();
                force = [0.0; 2];
            }
            approach -= 0.5 * dt * force[0] / self.effective_mass;
            slip += 0.5 * dt * force[1] * self.turning / self.effective_mass;
            let [normal_force, tangential_force] = force;
            let time = (step as f64 - phase) * dt;
            outcome.peak_overlap = outcome.peak_overlap.max(overlap);
            outcome.peak_force = outcome.peak_force.max(normal_force);
            outcome.largest_pull = outcome.largest_pull.max(-normal_force);
            met |= acts;
            if acts {
                displacement += half_way.slip.dot(t) * dt;
            }
            outcome.course.push(Instant {
                time,
                overlap,
                normal_force,
                tangential_force,
                approach,
                slip,
                displacement,
            });
            if met && !acts {
                outcome.duration = Some(time);
                outcome.restitution = Some(-approach / self.approach);
                outcome.tangential_restitution = (self.slip != 0.0).then(|| slip / self.slip);
                break;
            }
        }
        let stored = if memory.touching { self.law.stored(&self.at(overlap), &memory).total() } else { 0.0 };
        let gone = self.kinetic(self.approach, self.slip) - self.kinetic(approach, slip) - stored;
        outcome.residual = gone - outcome.dissipated;
        outcome
    }

    /// The contact at rest with an overlap.
    pub fn at(&self, overlap: f64) -> Touch {
        Touch {
            overlap,
            normal: Vec3::X,
            middle: Vec3::X,
            effective_radius: self.effective_radius(),
            curvature: self.curvature,
            effective_mass: self.effective_mass,
            ..Default::default()
        }
    }
}
