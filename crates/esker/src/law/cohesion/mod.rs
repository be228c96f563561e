//! Attraction besides the normal law (Džiugys & Peters 1998, eq. (33)). A new one is a file here and a line in
//! [`AnyCohesion`]. Laws that are adhesive as a whole (JKR) are normal laws.

mod capillary;
mod dmt;
mod kohring;

pub use capillary::Capillary;
pub use dmt::Dmt;
pub use kohring::Kohring;

use super::Touch;
use serde::{Deserialize, Serialize};

/// Attraction as a function of overlap.
pub trait CohesionLaw: Copy + Sync {
    /// Force \[N\], negative: it pulls.
    fn force(&self, touch: &Touch) -> f64;
    /// Energy \[J\], zero for bodies far apart, negative where they have fallen towards each other.
    fn energy(&self, touch: &Touch) -> f64;
    /// How far apart bodies of these curvatures may be for a force between them \[m\], if there was one a step ago or not.
    fn range(&self, _curvature: [f64; 2], _touched: bool) -> f64 {
        0.0
    }
    /// Whether it begins or ends with a jump, at which energy is lost.
    fn is_lossy(&self) -> bool {
        false
    }
}

/// The free choice of a scene.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnyCohesion {
    /// Dry bodies that do not attract each other.
    #[default]
    None,
    /// Constant while bodies touch.
    Dmt(Dmt),
    /// Growing with the contact area.
    Kohring(Kohring),
    /// A bridge of liquid.
    Capillary(Capillary),
}

macro_rules! each {
    ($self:ident, $law:ident => $body:expr, $none:expr) => {
        match $self {
            AnyCohesion::None => $none,
            AnyCohesion::Dmt($law) => $body,
            AnyCohesion::Kohring($law) => $body,
            AnyCohesion::Capillary($law) => $body,
        }
    };
}

impl CohesionLaw for AnyCohesion {
    fn force(&self, touch: &Touch) -> f64 {
        each!(self, law => law.force(touch), 0.0)
    }
    fn energy(&self, touch: &Touch) -> f64 {
        each!(self, law => law.energy(touch), 0.0)
    }
    fn range(&self, curvature: [f64; 2], touched: bool) -> f64 {
        each!(self, law => law.range(curvature, touched), 0.0)
    }
    fn is_lossy(&self) -> bool {
        each!(self, law => law.is_lossy(), false)
    }
}
