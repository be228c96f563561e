//! The engine of Esker.
pub mod math;
