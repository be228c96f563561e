//! Measures of a state: energy, wall loads, packing, stress, flows.

pub mod energy;
pub mod probe;
pub mod region;
