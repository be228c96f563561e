//! Pictures of frames, drawn by the processor alone: no display and no graphics card is needed.
//!
//! [`Run`] has the frames, [`Settings`] say what a picture shall show, [`Shot`] fixes eye, colours and ranges for all frames
//! drawn, [`output`] writes PNG, GIF and video. The same input gives the same bytes for any number of threads.
//!
//! ```no_run
//! use esker_view::render::{Run, Settings, Shot, Which, output};
//! # fn main() -> Result<(), esker_view::render::RenderError> {
//! let run = Run::open("runs/hopper-1".as_ref())?;
//! let frames = run.numbers(Which::Last)?;
//! let shot = Shot::new(&run, &frames, &Settings::default(), || {})?;
//! let image = shot.draw(&run.frame(frames[0])?);
//! output::write_png("hopper.png".as_ref(), &image)?;
//! # Ok(())
//! # }
//! ```
//!
//! 100 000 grains in 1280 × 720 pixels take some tenths of a second on two cores, a million about a
//! second; reading the frame and writing the PNG come on top.
//! Translucent walls are sorted by their triangles: where walls cross each other the nearer one may be taken for the farther,
//! which is hardly seen since all walls have one colour.

mod camera;
mod field;
mod image;
mod legend;
mod outline;
pub mod output;
mod palette;
mod raster;
mod run;
mod scene;
mod settings;
mod shot;
pub(crate) mod text;
mod tile;

pub use camera::{Axes, Camera, Fit, Lens};
pub use field::{Colouring, Field, FieldError, Scale, Way};
pub use image::{Image, Rect, Size};
pub use legend::{Layout, Wanted as Room};
pub use run::{Run, Which};
pub use settings::{Background, Clip, Kept, Projection, Range, Settings, Side, Wanted, direction, vector, zoom};
pub use shot::Shot;

use crate::run::RunError;
use esker_io::atomic::FileError;
use esker_io::store::StoreError;
use std::path::PathBuf;

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The operating system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// The store of frames is not what it should be.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A field that is not there.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// The run cannot be looked at.
    #[error(transparent)]
    Run(#[from] RunError),
    /// No frame has been written yet.
    #[error("`{}` has no frames yet\n  wait until the run has written one", path.display())]
    Empty {
        /// The store.
        path: PathBuf,
    },
    /// No contacts were written.
    #[error("`--contacts`: `{}` has no contacts\n  run the scene again with `--set output.contacts=true`", path.display())]
    NoContacts {
        /// The store.
        path: PathBuf,
    },
    /// There is no frame of that number.
    #[error("`--frame {number}`: there are {count} frames; give 0 to {}, or -1 for the last", count - 1)]
    NoFrame {
        /// Number asked for.
        number: i64,
        /// How many there are.
        count: usize,
    },
    /// There is no frame of that time.
    #[error("`--time {time}`: the frames go from {first} s to {last} s")]
    NoTime {
        /// Time asked for \[s\].
        time: f64,
        /// Of the first frame \[s\].
        first: f64,
        /// Of the last frame \[s\].
        last: f64,
    },
    /// No frame was asked for.
    #[error("there are no frames to draw")]
    Nothing,
    /// `ffmpeg` is not there.
    #[error("`{}` needs the program `ffmpeg`, which is not installed\n  install it (apt install ffmpeg), or write a .gif or a folder of PNGs instead", path.display())]
    NoFfmpeg {
        /// The video.
        path: PathBuf,
    },
    /// `ffmpeg` did not do it.
    #[error("ffmpeg could not write `{}`: {said}", path.display())]
    Ffmpeg {
        /// The video.
        path: PathBuf,
        /// Its last words.
        said: String,
    },
    /// A picture cannot be coded.
    #[error("`{}` could not be written: {said}", path.display())]
    Coding {
        /// The file.
        path: PathBuf,
        /// Why.
        said: String,
    },
}
