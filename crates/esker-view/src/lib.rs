//! Runs made visible: pages for a browser, pictures, plots and reports. Knows run folders, not the terminal.
//!
//! - [`run`] opens a run folder for looking, [`serve`] and [`page`] show it in a browser.
//! - [`render`] draws frames without any display: PNG, GIF, video. [`colour`] gives values their colours.
//! - [`plot`] draws curves, [`collisions`] those of hard collisions, [`drawing`] makes pixels of them, [`report`] tells all of a run on one page.

pub mod choice;
pub mod collisions;
pub mod colour;
pub mod drawing;
pub mod page;
pub mod plot;
pub mod render;
pub mod report;
pub mod run;
pub mod serve;
