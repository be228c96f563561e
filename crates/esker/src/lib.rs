//! The engine of Esker: all grain physics. No files, no printing, no clock.
//!
//! - [`model`]: what a step does not change; [`state`]: what it does (a checkpoint); [`particles`]: the columns.
//! - [`boundary`], [`shape`], [`region`]: geometry. [`neighbor`]: candidate pairs. [`contact`]: lasting contacts.
//! - [`law`]: contact laws in slots. [`field`]: forces without contact. [`integrate`]: time integration.
//! - [`solver`]: ways to advance a state. [`fill`]: where grains come from. [`measure`]: what to read off a state.
//! - [`structure`]: elastic structures of nodes and links, and how they are solved.
//! - [`grinding`]: powder between the balls of a mill. [`impact`], [`cycle`]: two bodies by themselves.
//! - [`math`], [`lanes`], [`rng`], [`expression`]: tools.

pub mod advice;
pub mod boundary;
pub mod contact;
pub mod cycle;
pub mod expression;
pub mod field;
pub mod fill;
pub mod grinding;
pub mod impact;
pub mod integrate;
pub mod lanes;
pub mod law;
pub mod math;
pub mod measure;
pub mod model;
pub mod neighbor;
pub mod particles;
pub mod region;
pub mod rng;
pub mod shape;
pub mod simulation;
pub mod solver;
pub mod state;
pub mod structure;
