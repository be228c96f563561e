//! All tests of the engine that use it from outside.
//!
//! One program: linking one for each file would take most of the time of a build.

mod adhesion;
mod advice;
mod batch;
mod common;
mod contact_measures;
mod contact_order;
mod determinism;
mod elliptic;
mod event;
mod fields;
mod friction;
mod gates;
mod impact;
mod invariance;
mod ledger;
mod measure;
mod neighbor;
mod normal_laws;
mod oblique;
mod orders;
mod periodic;
mod periodic_measures;
mod quasistatic;
mod rolling;
mod schemes;
mod size_ratio;
mod stack;
mod stages;
mod stress_and_fabric;
mod surfaces;
mod tangential_laws;
mod thornton_ning;
mod walls;
