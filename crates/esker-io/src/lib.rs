//! Files of Esker: scenes in, runs out.
//!
//! - [`scene`] reads what was written, [`build`] understands it: from TOML to model and state.
//! - [`stl`], [`table`]: surfaces and grains from files.
//! - [`record`] writes a run with [`run_folder`], [`checkpoint`], [`series`], [`vtk`] and [`pvd`], through [`atomic`].
//! - [`vtp`] reads the frames back, [`convert`] writes them in the formats of other programs.
//! - [`analysis`] writes stress, fabric and force chains of a state, for ParaView with [`vti`].
//! - [`silo`] tells the pressure on walls of one state or many, and the sizes of avalanches.
//! - [`sweep`] plans many runs of one scene and gathers what came of them.
//! - [`frame`] tells what there is to see, [`store`] keeps it for viewer and pictures.

pub mod analysis;
pub mod atomic;
pub mod build;
pub mod chart;
pub mod checkpoint;
pub mod convert;
pub mod frame;
pub mod pvd;
pub mod record;
pub mod run_folder;
pub mod scene;
pub mod series;
pub mod silo;
pub mod stl;
pub mod store;
pub mod sweep;
pub mod table;
pub mod vti;
pub mod vtk;
pub mod vtp;
mod xml;
