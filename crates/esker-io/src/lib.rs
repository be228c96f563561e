//! Files of Esker: scenes in, runs out.
//!
//! - [`scene`] reads what was written, [`build`] understands it: from TOML to model and state.
//! - [`stl`], [`table`]: surfaces and grains from files.
//! - [`run_folder`], [`checkpoint`], [`series`], [`vtk`], [`pvd`]: what a run leaves. [`atomic`]: how it is written.

pub mod atomic;
pub mod build;
pub mod checkpoint;
pub mod pvd;
pub mod run_folder;
pub mod scene;
pub mod series;
pub mod stl;
pub mod table;
pub mod vtk;
