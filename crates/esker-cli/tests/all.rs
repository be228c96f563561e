//! All tests of the program.
//!
//! One program: linking one for each file would take most of the time of a build.

mod analyse;
mod bench;
mod book;
mod browser;
mod common;
mod contact;
mod drum_mesh;
mod dziugys_peters;
mod grind;
mod kills;
mod ledger_of_examples;
mod messages;
mod render;
mod resume;
mod silo;
mod spectra;
mod sweep;
mod vtk_run;
