//! Measures of a state: energy, wall loads, packing, stress, flows, surfaces, contact networks.

pub mod cells;
pub mod chains;
pub mod contacts;
pub mod energy;
pub mod fabric;
pub mod forces;
pub mod janssen;
pub mod principal;
pub mod probe;
pub mod region;
pub mod stress;
pub mod surface;
pub mod tally;
pub mod wall_profile;
