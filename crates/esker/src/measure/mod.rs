//! Measures of a state: energy, wall loads, packing, stress, flows, surfaces, contact networks.

pub mod contacts;
pub mod energy;
pub mod probe;
pub mod region;
pub mod surface;
pub mod tally;
