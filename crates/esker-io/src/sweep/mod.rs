//! Many runs of one scene: which, and what came of them.
//!
//! - [`vary`] reads what is varied, [`plan`] makes points of it, with [`latin`] or, one after another, with [`search`].
//! - [`measure`] reads results from the series of a run, [`table`] gathers and ranks them.
//!
//! Who runs the points is not known here. A sweep keeps no more than its plan (`sweep.json`); all else is read from the
//! folders of its runs, so results can be asked for again in another way without running anything.

pub mod latin;
pub mod measure;
pub mod plan;
pub mod search;
pub mod table;
pub mod vary;

pub use measure::{Measure, Window};
pub use plan::{Goal, Kind, Plan, Point, Sweep};
pub use table::{Row, Table};
pub use vary::{Axis, Value};

use crate::atomic::FileError;
use std::path::PathBuf;

/// Name of the plan in the folder of a sweep.
pub const PLAN_FILE: &str = "sweep.json";
/// Name of the table of results.
pub const RESULTS_FILE: &str = "results.csv";

/// Why a sweep cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// What is varied is not understood.
    #[error("`--vary {given}`: {message}")]
    Vary {
        /// As it was given.
        given: String,
        /// What is wrong.
        message: String,
    },
    /// A result is not understood.
    #[error("`{given}`: {message}")]
    Result {
        /// As it was given.
        given: String,
        /// What is wrong.
        message: String,
    },
    /// The parts of a plan do not go together.
    #[error("{0}")]
    Plan(String),
    /// The folder has the plan of another sweep.
    #[error(
        "`{}` holds another sweep: {difference}\n  name a new folder with --out, or ask for the same as before",
        folder.display()
    )]
    Other {
        /// The folder.
        folder: PathBuf,
        /// What is different.
        difference: String,
    },
    /// The plan cannot be read.
    #[error("`{}` is not the plan of a sweep: {reason}\n  name the folder of a sweep, for example `runs/hopper-sweep-1`", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The operating system refused.
    #[error(transparent)]
    File(#[from] FileError),
}
