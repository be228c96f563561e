//! All tests of scenes and files.
//!
//! One program: linking one for each file would take most of the time of a build.

mod chains;
mod convert;
mod filled;
mod frame;
mod full_disk;
mod killed;
mod laws;
mod resumed;
mod sieve;
mod store;
mod table;
mod vtk_read_back;
