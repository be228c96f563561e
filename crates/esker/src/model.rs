//! The model: everything that a step does not change. A stage has its own model; walls, materials, kinds and feeds keep
//! their index from stage to stage.

use crate::boundary::{Motion, MotionPart, Surface};
use crate::field::Field;
use crate::fill::feed::Feeder;
use crate::integrate::{Integrator, Rotation};
use crate::law::Law;
use crate::law::collision::Collision;
use crate::math::{Pose, Vec3};
use crate::neighbor::PeriodicCell;
use crate::particles::{NewGrain, Place};
use crate::region::Region;
use crate::shape::Shape;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a body is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Material {
    /// Name in the scene.
    pub name: String,
    /// Density \[kg/m³\] (in a planar scene: of discs of the scene's depth).
    pub density: Option<f64>,
    /// Young's modulus \[Pa\].
    pub youngs_modulus: Option<f64>,
    /// Poisson's ratio \[-\].
    pub poisson_ratio: Option<f64>,
}

/// Grains that share material, shape and mass distribution; they differ in radius only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kind {
    /// Name in the scene.
    pub name: String,
    /// Index of the material.
    pub material: u16,
    /// Shape.
    pub shape: Shape,
    /// Density \[kg/m³\].
    pub density: f64,
    /// Principal moments over m r² \[-\].
    pub inertia_factor: Vec3,
    /// Held in place.
    pub fixed: bool,
}

impl Kind {
    /// Mass of a grain of this kind \[kg\].
    pub fn mass(&self, radius: f64) -> f64 {
        self.density * self.shape.volume(radius)
    }

    /// A grain of this kind.
    pub fn grain(&self, kind: u16, place: Place, velocity: Vec3, angular_velocity: Vec3) -> NewGrain {
        let mass = self.mass(place.radius);
        NewGrain {
            kind,
            place,
            velocity,
            angular_velocity,
            mass,
            inertia: self.inertia_factor * (mass * place.radius * place.radius),
            fixed: self.fixed,
        }
    }
}

/// The law of every pair of materials: of soft contacts, or of hard collisions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairTable<T = Law> {
    materials: usize,
    laws: Vec<T>,
}

impl<T> PairTable<T> {
    /// A table for `materials` materials, each pair given by `law(a, b)` with a ≤ b.
    pub fn new(materials: usize, mut law: impl FnMut(usize, usize) -> T) -> Self {
        let laws = (0..materials * materials)
            .map(|k| {
                let (a, b) = (k / materials, k % materials);
                law(a.min(b), a.max(b))
            })
            .collect();
        Self { materials, laws }
    }

    /// Index of a pair in [`PairTable::laws`].
    #[inline]
    pub fn index(&self, a: u16, b: u16) -> usize {
        a as usize * self.materials + b as usize
    }

    /// Law of a pair of materials.
    #[inline]
    pub fn law(&self, a: u16, b: u16) -> &T {
        &self.laws[self.index(a, b)]
    }

    /// All laws, row by row.
    pub fn laws(&self) -> &[T] {
        &self.laws
    }
}

impl PairTable<Law> {
    /// How far apart grains of a radius, or one and a wall, may be for a force between them, at most \[m\].
    pub fn range(&self, radius: f64) -> f64 {
        let between = |law: &Law| law.range([1.0 / radius; 2], true).max(range_to_wall(law, radius));
        if radius > 0.0 { self.laws.iter().map(between).fold(0.0, f64::max) } else { 0.0 }
    }
}

/// Most curved hollow, in curvatures of the grain in it, that makes a difference: see
/// [`walls`](crate::contact::walls).
const HOLLOW: f64 = -0.999;

/// How far from a wall of any curvature a grain may be for a force between them \[m\].
fn range_to_wall(law: &Law, radius: f64) -> f64 {
    law.range([1.0 / radius, HOLLOW / radius], true)
}

/// A wall: a surface of some material that moves as prescribed.
#[derive(Clone, Debug)]
pub struct Wall {
    /// Name in the scene.
    pub name: String,
    /// Index of the material.
    pub material: u16,
    /// Geometry in the wall frame.
    pub surface: Arc<Surface>,
    /// Motion since the stage began, or since it last changed.
    pub motion: Motion,
    /// An open gate is absent.
    pub active: bool,
}

impl Wall {
    /// The motion without spins that leave the surface where it is; `base` is the pose when the motion began.
    pub fn motion_of_surface(&self, base: &Pose) -> Motion {
        let mut rest = Motion::default();
        // A spin about the axis of symmetry moves nothing, as long as no turn before it has carried the axis away.
        let mut turned = false;
        for part in &self.motion.parts {
            let spins_in_place = match part {
                MotionPart::Rotate { through, axis, .. }
                | MotionPart::Swing { through, axis, .. }
                | MotionPart::Schedule { through, axis, .. } => {
                    let (through, axis) = (base.to_local(*through), base.orientation.conjugate() * *axis);
                    let in_place = !turned && !part.shifts() && self.surface.is_invariant_under_spin(through, axis);
                    turned |= !in_place;
                    in_place
                }
                _ => false,
            };
            if !spins_in_place {
                rest.parts.push(part.clone());
            }
        }
        rest
    }
}

/// Where grains are taken out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Removal {
    /// Where x·normal < offset.
    Below {
        /// Unit vector.
        normal: Vec3,
        /// Offset \[m\].
        offset: f64,
    },
    /// Inside a region.
    Inside(Region),
    /// Outside a region.
    Outside(Region),
}

impl Removal {
    /// Whether a grain with this centre is to be taken out.
    pub fn takes(&self, centre: Vec3, planar: bool) -> bool {
        match self {
            Removal::Below { normal, offset } => centre.dot(*normal) < *offset,
            Removal::Inside(region) => region.contains(centre, planar),
            Removal::Outside(region) => !region.contains(centre, planar),
        }
    }
}

/// Everything that a step does not change.
#[derive(Clone)]
pub struct Model {
    /// Motion in the x–y plane only, spin about z only.
    pub planar: bool,
    /// Periodic directions.
    pub cell: PeriodicCell,
    /// Materials.
    pub materials: Vec<Material>,
    /// Kinds of grain.
    pub kinds: Vec<Kind>,
    /// Laws of the material pairs.
    pub laws: PairTable,
    /// Laws of hard collisions of the material pairs.
    pub collisions: PairTable<Collision>,
    /// Walls.
    pub walls: Vec<Wall>,
    /// Force fields.
    pub fields: Vec<Arc<dyn Field>>,
    /// Feeds; inactive ones stay in place so that their state keeps its index.
    pub feeds: Vec<(Feeder, bool)>,
    /// Where grains are taken out.
    pub removals: Vec<Removal>,
    /// Planes whose crossings are counted.
    pub gates: Vec<CountingPlane>,
    /// Time step \[s\].
    pub dt: f64,
    /// How the stage is computed.
    pub method: Method,
    /// Time integration scheme.
    pub integrator: Integrator,
    /// How bodies with different moments of inertia are turned.
    pub rotation: Rotation,
    /// Margin of the neighbour list \[m\].
    pub skin: f64,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// How a stage is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Method {
    /// Soft contacts at fixed steps: [`crate::solver::explicit`].
    #[default]
    Explicit,
    /// Hard collisions in time order: [`crate::solver::event`].
    Event(EventSettings),
    /// From one equilibrium to the next: [`crate::solver::quasistatic`].
    Quasistatic(StaticSettings),
}

/// Settings of the quasi-static solver.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StaticSettings {
    /// Whether grains turn.
    pub nodes: Nodes,
    /// How the structure is solved.
    pub by: StaticBy,
    /// A force below this part of the largest load counts as none.
    pub tolerance: f64,
}

/// What grains do in a structure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Nodes {
    /// Move and turn.
    #[default]
    Turning,
    /// Move only: moments are not balanced (Gavrilov 1999, chapter 4).
    Translating,
}

/// How a structure is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum StaticBy {
    /// By size.
    #[default]
    Automatic,
    /// The inverse kept up to date: [`crate::structure::rima`].
    Inverse,
    /// Sparse factors: [`crate::structure::cholesky`].
    Factors,
    /// Conjugate gradients: [`crate::structure::gradients`].
    Gradients,
}

/// Settings of the event-driven solver.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventSettings {
    /// What is done when collisions follow each other faster and faster.
    pub collapse: Collapse,
    /// Time over which the force on a wall is averaged \[s\].
    pub window: f64,
}

/// What is done against collisions that follow each other faster and faster and never end (inelastic collapse).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Collapse {
    /// Nothing: a run whose clock stands still ends with an error.
    Refuse,
    /// Collisions slower than this lose nothing; bodies part with a hundredth of it at least \[m/s\].
    Speed(f64),
    /// Collisions within a time after the last of either body lose nothing: the TC model (Luding & McNamara, Granul. Matter 1
    /// (1998) 113). Bodies part with a least speed.
    Time {
        /// Duration of a contact \[s\].
        contact: f64,
        /// Least speed of parting \[m/s\].
        least: f64,
    },
    /// Once most collisions are slower than this the stage goes on with soft contacts \[m/s\].
    HandOver(f64),
}

impl Collapse {
    /// Least speed of parting over the cut-off.
    pub const LEAST: f64 = 0.01;

    /// Bodies part with this speed at least \[m/s\].
    pub fn least(&self) -> f64 {
        match *self {
            Collapse::Refuse => 0.0,
            Collapse::Speed(speed) | Collapse::HandOver(speed) => Self::LEAST * speed,
            Collapse::Time { least, .. } => least,
        }
    }
}

/// A plane whose crossings are counted: flow in the direction of its normal is positive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CountingPlane {
    /// Unit normal.
    pub normal: Vec3,
    /// Offset along the normal \[m\].
    pub offset: f64,
}

impl Model {
    /// Material of a kind of grain.
    #[inline]
    pub fn material_of(&self, kind: u16) -> u16 {
        self.kinds[kind as usize].material
    }

    /// Length of the discs of a planar scene along z; 1 without discs \[m\].
    pub fn depth(&self) -> f64 {
        let depth = |kind: &Kind| match kind.shape {
            Shape::Disc { depth } => Some(depth),
            Shape::Sphere => None,
        };
        self.kinds.iter().find_map(depth).unwrap_or(1.0)
    }

    /// How far from a wall a grain of a kind may be for a force between them, at most \[m\].
    pub fn range_to_wall(&self, radius: f64, kind: u16, wall: usize) -> f64 {
        range_to_wall(self.laws.law(self.material_of(kind), self.walls[wall].material), radius)
    }

    /// Acceleration by the fields when they all need nothing but the mass of a grain: it is there before contacts are
    /// \[m/s²\].
    pub fn gravity_alone(&self) -> Option<Vec3> {
        let uniform = self.fields.iter().all(|f| f.uniform_acceleration().is_some());
        uniform.then(|| self.uniform_acceleration())
    }

    /// Gravity-like uniform acceleration of all fields together \[m/s²\].
    pub fn uniform_acceleration(&self) -> Vec3 {
        self.fields.iter().filter_map(|f| f.uniform_acceleration()).sum()
    }
}
