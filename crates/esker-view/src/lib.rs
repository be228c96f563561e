//! Runs made visible: pages for a browser, pictures, plots and reports. Knows run folders, not the terminal.

pub mod page;
pub mod plot;
pub mod report;
pub mod run;
pub mod serve;
