//! Powder ground between the balls of a mill: how its sizes change, without simulating a grain of it.
//!
//! The balls are simulated, or measured; the powder only knows how often they meet. In each [impact](Impacts) a grain splits into
//! two equal halves if its centre is in the [grinding volume](Bodies::grinding_volume) between the two bodies, and all grains are spread
//! evenly over the free volume of the mill. So a grain of [size class](SizeClasses) i splits with a probability $p_i$ in each impact,
//! independently of all others: a [`Chain`]. Three ways lead from there:
//!
//! - [`analytical`]: the expected masses in closed form, for any number of impacts; a few milliseconds;
//! - [`ode`]: the same by a plain integrator, its twin;
//! - [`statistical`]: numbers of grains as they are drawn, with their scatter; exact in distribution, in batches of impacts.
//!
//! Gavrilov, *Discrete Mechanics of Granular Matter* (thesis, Calgary 1999), eqs (3.20)–(3.29). Not modelled: grains that shield each
//! other (the volume of ground grains may exceed the grinding volume), strength, agglomeration, and powder that damps the balls.

pub mod analytical;
pub mod binomial;
mod mill;
pub mod ode;
mod sizes;
pub mod statistical;

pub use mill::{Bodies, Chain, Impacts, Mill, WallImpacts};
pub use sizes::{Distribution, SizeClasses};

/// Why powder cannot be ground so.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GrindingError {
    /// A length, volume or rate is not a positive number.
    #[error("{what} is {value} {unit}: it must be above zero and finite")]
    NotPositive {
        /// What it is.
        what: &'static str,
        /// Its value.
        value: f64,
        /// Its unit.
        unit: &'static str,
    },
    /// The range of sizes is empty.
    #[error(
        "grains of {largest} m cannot be ground to {smallest} m: the smallest radius must be below that of the beginning"
    )]
    NothingToGrind {
        /// Radius at the beginning \[m\].
        largest: f64,
        /// Smallest radius \[m\].
        smallest: f64,
    },
    /// Nobody meets.
    #[error("there are no impacts: the mill does not grind")]
    NoImpacts,
    /// A probability is not one, or certain.
    #[error(
        "grains of class {class} split in an impact with a probability of {probability}: it must be below 1; \
         the grains are too large for the free volume"
    )]
    NotAProbability {
        /// The size class.
        class: usize,
        /// What should be its probability.
        probability: f64,
    },
    /// Numbers of grains would not fit.
    #[error("{grains} grains split {splits} times are too many to count; take fewer grains or fewer size classes")]
    TooManyGrains {
        /// Grains at the beginning.
        grains: u128,
        /// Times each of them can be halved.
        splits: usize,
    },
}

/// The value, if it is a positive number.
fn positive(what: &'static str, value: f64, unit: &'static str) -> Result<f64, GrindingError> {
    if value > 0.0 && value.is_finite() { Ok(value) } else { Err(GrindingError::NotPositive { what, value, unit }) }
}
