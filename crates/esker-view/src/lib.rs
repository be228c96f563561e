//! Runs made visible: pages for a browser, pictures, plots and reports. Knows run folders, not the terminal.
//!
//! - [`render`] draws frames without any display: PNG, GIF, video.
//! - [`colour`] gives values their colours.

pub mod choice;
pub mod colour;
pub mod render;
