//! Runs made visible: pages for a browser, pictures, plots and reports. Knows run folders, not the terminal.

mod choice;
pub mod colour;
pub mod page;
pub mod plot;
pub mod render;
pub mod report;
pub mod run;
pub mod serve;
