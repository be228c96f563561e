//! Normal laws. A new one is a file here and a line in [`AnyNormal`].

mod chang;
mod continuous;
mod ellipse;
mod hertz;
mod hooke;
mod jkr;
mod luding;
mod overlap;
mod power;
mod sadd;
mod thornton;
mod thornton_ning;
mod walton_braun;

pub use chang::{Chang, Displacement};
pub use continuous::{Langston, TwelveSix};
pub use ellipse::elliptic_factor;
pub use hertz::Hertz;
pub use hooke::{Hooke, ScaledHooke};
pub use jkr::Jkr;
pub use luding::Luding;
pub use overlap::{Overlap, Region};
pub use power::{Power, Scale};
pub use sadd::Sadd;
pub use thornton::Thornton;
pub use thornton_ning::{Flattened, ThorntonNing};
pub use walton_braun::WaltonBraun;

use super::{History, Touch};
use serde::{Deserialize, Serialize};

/// Normal force as a function of overlap, and of what the contact has been through.
pub trait NormalLaw: Copy + Sync {
    /// Pushing force \[N\], negative where it pulls.
    fn force(&self, touch: &Touch, history: &History) -> f64;
    /// Tangent stiffness dF/dδ \[N/m\]: what dashpots and tangential springs go by, not negative.
    fn stiffness(&self, touch: &Touch, history: &History) -> f64;
    /// Energy that the force could give back \[J\], zero for bodies far apart.
    fn energy(&self, touch: &Touch, history: &History) -> f64;
    /// Takes the history on to the present overlap. Most laws have none.
    fn advance(&self, _: &Touch, _: &mut History) {}
    /// Whether energy is lost in the force itself: it depends on the history, or begins or ends with a jump.
    fn is_lossy(&self) -> bool {
        false
    }
    /// How far apart bodies of these curvatures may be for a force between them \[m\], if there was one a step ago or not.
    fn range(&self, _curvature: [f64; 2], _touched: bool) -> f64 {
        0.0
    }
    /// What friction feels besides the force itself \[N\].
    fn extra_load(&self, _: &Touch, _: &History) -> f64 {
        0.0
    }
    /// The power law nearest to it while bodies are pressed together: sets the closed forms of contact time and overlap.
    fn power_law(&self, effective_radius: f64) -> PowerLaw;
}

/// F = K δ^α.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerLaw {
    /// K \[N/m^α\].
    pub coefficient: f64,
    /// α.
    pub exponent: f64,
}

impl PowerLaw {
    /// Overlap under a force \[m\].
    pub fn overlap_at(&self, force: f64) -> f64 {
        (force / self.coefficient).powf(1.0 / self.exponent)
    }
}

macro_rules! any_normal {
    ($($(#[doc = $doc:literal])+ $law:ident,)+) => {
        /// The free choice of a scene: an enum that is itself a normal law.
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "law", rename_all = "kebab-case")]
        pub enum AnyNormal {
            $($(#[doc = $doc])+ $law($law),)+
        }

        macro_rules! each {
            ($self:ident, $of:ident => $body:expr) => {
                match $self {
                    $(AnyNormal::$law($of) => $body,)+
                }
            };
        }
    };
}

any_normal! {
    /// Linear spring.
    Hooke,
    /// Linear spring whose stiffness grows with the effective radius.
    ScaledHooke,
    /// Hertz contact of elastic spheres.
    Hertz,
    /// Power of the overlap.
    Power,
    /// Area or volume of the overlap.
    Overlap,
    /// Line contact of cylinders.
    Chang,
    /// Linear springs for loading and unloading.
    WaltonBraun,
    /// Powers of the overlap for loading and unloading.
    Sadd,
    /// Linear springs for loading, unloading and adhesion.
    Luding,
    /// Elastic, perfectly plastic spheres.
    Thornton,
    /// Adhesive elastic spheres.
    Jkr,
    /// Adhesive spheres that yield.
    ThorntonNing,
    /// Repulsive part of the 12-6 potential.
    TwelveSix,
    /// Power of the distance of the centres.
    Langston,
}

impl NormalLaw for AnyNormal {
    fn force(&self, touch: &Touch, history: &History) -> f64 {
        each!(self, law => law.force(touch, history))
    }
    fn stiffness(&self, touch: &Touch, history: &History) -> f64 {
        each!(self, law => law.stiffness(touch, history))
    }
    fn energy(&self, touch: &Touch, history: &History) -> f64 {
        each!(self, law => law.energy(touch, history))
    }
    fn advance(&self, touch: &Touch, history: &mut History) {
        each!(self, law => law.advance(touch, history))
    }
    fn is_lossy(&self) -> bool {
        each!(self, law => law.is_lossy())
    }
    fn range(&self, curvature: [f64; 2], touched: bool) -> f64 {
        each!(self, law => law.range(curvature, touched))
    }
    fn extra_load(&self, touch: &Touch, history: &History) -> f64 {
        each!(self, law => law.extra_load(touch, history))
    }
    fn power_law(&self, effective_radius: f64) -> PowerLaw {
        each!(self, law => law.power_law(effective_radius))
    }
}
