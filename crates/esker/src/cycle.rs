//! A contact sheared, rolled or twisted to and fro under a load that is held: what a law does, without a scene.
//!
//! The bodies are pressed together until the normal force is the load, then moved against each other at a constant speed
//! between two ends. Neither inertia nor a step of integration comes in: the displacement is given, the force answers.

use crate::law::normal::NormalLaw;
use crate::law::tangential::TangentialLaw;
use crate::law::{ContactVelocity, History, Law, Memory, Response, Touch};
use crate::math::Vec3;

/// How bodies that are pressed together move against each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Along a tangent; displacements in metres, resistances in newtons.
    Shear,
    /// About a tangent; displacements in radians, resistances in newton metres.
    Roll,
    /// About the normal; as rolling.
    Twist,
}

impl Mode {
    /// Relative velocity of the contact at this rate.
    fn velocity(self, rate: f64) -> ContactVelocity {
        match self {
            Mode::Shear => ContactVelocity { slip: Vec3::Y * rate, ..Default::default() },
            Mode::Roll => ContactVelocity { turning: Vec3::Z * rate, ..Default::default() },
            Mode::Twist => ContactVelocity { turning: Vec3::X * rate, ..Default::default() },
        }
    }

    /// What resists in a response.
    fn resistance(self, response: &Response) -> f64 {
        match self {
            Mode::Shear => -response.force.y,
            Mode::Roll => -response.couple.z,
            Mode::Twist => -response.couple.x,
        }
    }
}

/// Two bodies about to be moved to and fro.
#[derive(Clone, Copy, Debug)]
pub struct Cycle {
    /// How they move.
    pub mode: Mode,
    /// Law between them.
    pub law: Law,
    /// Their curvatures \[1/m\], see [`Touch::curvature`].
    pub curvature: [f64; 2],
    /// Effective mass \[kg\]: dashpots may go by it.
    pub effective_mass: f64,
    /// Force that presses them together \[N\].
    pub load: f64,
    /// Largest displacement to either side \[m\] or \[rad\].
    pub amplitude: f64,
    /// Time of a cycle \[s\].
    pub period: f64,
    /// Cycles after the first way out.
    pub cycles: usize,
}

/// One instant of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moved {
    /// Since the first displacement \[s\].
    pub time: f64,
    /// Displacement \[m\] or \[rad\].
    pub displacement: f64,
    /// Force \[N\] or couple \[N m\] that resists, along the first displacement.
    pub resistance: f64,
}

/// What became of it.
#[derive(Clone, Debug, Default)]
pub struct Loop {
    /// All steps, from rest.
    pub course: Vec<Moved>,
    /// Overlap under the load \[m\].
    pub overlap: f64,
    /// Tangent stiffness of the normal law there \[N/m\].
    pub normal_stiffness: f64,
    /// Tangential force at which the contact slides \[N\].
    pub limit: f64,
    /// Largest force \[N\] or couple \[N m\] that resisted.
    pub peak: f64,
    /// Energy lost on the first way out \[J\].
    pub lost_first: f64,
    /// Energy lost in each cycle \[J\].
    pub lost: Vec<f64>,
    /// Work done on the contact, less what it lost and what it holds \[J\].
    pub residual: f64,
}

impl Cycle {
    fn at(&self, overlap: f64) -> Touch {
        let effective_radius = 1.0 / (self.curvature[0] + self.curvature[1]);
        Touch {
            overlap,
            normal: Vec3::X,
            middle: Vec3::X,
            effective_radius,
            curvature: self.curvature,
            effective_mass: self.effective_mass,
            ..Default::default()
        }
    }

    /// Normal force of bodies pressed together for the first time \[N\].
    fn pressed(&self, overlap: f64) -> f64 {
        let (touch, mut history) = (self.at(overlap), History::default());
        self.law.normal.advance(&touch, &mut history);
        let pressed = self.law.press(&touch, &history);
        pressed.pushing + pressed.cohesion
    }

    /// Overlap at which the normal force is the load \[m\]; `None` if no overlap below the radius reaches it.
    pub fn overlap(&self) -> Option<f64> {
        let most = 1.0 / self.curvature[0].max(self.curvature[1]);
        let mut ends = [-self.law.range(self.curvature, false), 1e-12 * most];
        while self.pressed(ends[1]) < self.load {
            ends = [ends[1], 2.0 * ends[1]];
            if ends[1] > most {
                return None;
            }
        }
        for _ in 0..100 {
            let middle = 0.5 * (ends[0] + ends[1]);
            ends[usize::from(self.pressed(middle) >= self.load)] = middle;
        }
        Some(ends[1])
    }

    /// Moves the surfaces out to the amplitude and through the cycles, `steps` to a cycle; `None` where no overlap gives the load.
    pub fn run(&self, steps: usize) -> Option<Loop> {
        let overlap = self.overlap()?;
        let quarter = steps.div_ceil(4).max(1);
        let (stride, dt) = (self.amplitude / quarter as f64, 0.25 * self.period / quarter as f64);
        let mut memory = Memory::default();
        let at = self.at(overlap);
        self.law.respond(&at, &mut memory);
        let pressed = self.law.press(&at, &memory.history);
        let limit = self.law.tangential.friction()
            * (pressed.pushing + self.law.normal.extra_load(&at, &memory.history)).max(0.0);
        let mut done = Loop { overlap, normal_stiffness: pressed.stiffness, limit, ..Loop::default() };
        done.course.push(Moved::default());
        let (mut work, mut lost, mut place) = (0.0, 0.0, 0i64);
        let mut before = 0.0;
        // Out, then back and forth between the ends.
        for half in 0..=2 * self.cycles {
            let (sense, count) =
                if half == 0 { (1, quarter) } else { (if half % 2 == 1 { -1 } else { 1 }, 2 * quarter) };
            for _ in 0..count {
                place += sense;
                let way = sense as f64 * stride;
                let rate = self.mode.velocity(way / dt);
                let response = self.law.respond(&Touch { now: rate, mean: rate, dt, ..at }, &mut memory);
                let resistance = self.mode.resistance(&response);
                work += 0.5 * (before + resistance) * way;
                lost += response.dissipated.total();
                before = resistance;
                done.peak = done.peak.max(resistance.abs());
                let time = done.course.len() as f64 * dt;
                done.course.push(Moved { time, displacement: place as f64 * stride, resistance });
            }
            match half {
                0 => done.lost_first = lost,
                _ if half % 2 == 0 => done.lost.push(lost - done.lost_first - done.lost.iter().sum::<f64>()),
                _ => {}
            }
        }
        done.residual = work - lost - self.law.stored(&at, &memory).tangential;
        Some(done)
    }
}
