//! Frames of a run folder.

use super::RenderError;
use super::legend::time_stamp;
use crate::run;
use esker_io::store::{FrameData, FrameInfo, RunHead};
use std::path::Path;

/// A run whose frames can be drawn.
#[derive(Debug)]
pub struct Run {
    source: Source,
}

#[derive(Debug)]
enum Source {
    Folder(run::Run),
    Memory { head: RunHead, frames: Vec<FrameData>, list: Vec<FrameInfo> },
}

/// Which frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Which {
    /// The last.
    Last,
    /// By number from 0; negative ones count from the end.
    Number(i64),
    /// Nearest to a time \[s\].
    Time(f64),
    /// Every so many.
    Every(usize),
}

impl Run {
    /// Opens a run folder.
    pub fn open(folder: &Path) -> Result<Self, RenderError> {
        let run = run::Run::open(folder)?;
        if run.store.frames().is_empty() {
            return Err(RenderError::Empty { path: run.store.path().to_owned() });
        }
        Ok(Self { source: Source::Folder(run) })
    }

    /// What is wrong with its frames, if anything is.
    pub fn fault(&self) -> Option<String> {
        match &self.source {
            Source::Folder(run) => run.fault(),
            Source::Memory { .. } => None,
        }
    }

    /// Frames that were never written.
    pub fn in_memory(head: RunHead, frames: Vec<FrameData>) -> Result<Self, RenderError> {
        if frames.is_empty() {
            return Err(RenderError::Nothing);
        }
        let info = |f: &FrameData| FrameInfo { time: f.time, step: f.step, at: 0, length: 0, grains: 0, walls: 0 };
        let list = frames.iter().map(info).collect();
        Ok(Self { source: Source::Memory { head, frames, list } })
    }

    /// The store of frames.
    pub fn path(&self) -> &Path {
        match &self.source {
            Source::Folder(run) => run.store.path(),
            Source::Memory { .. } => Path::new("frames in memory"),
        }
    }

    /// What the run says of itself.
    pub fn head(&self) -> &RunHead {
        match &self.source {
            Source::Folder(run) => run.store.head(),
            Source::Memory { head, .. } => head,
        }
    }

    /// Frames there are; at least one.
    pub fn frames(&self) -> &[FrameInfo] {
        match &self.source {
            Source::Folder(run) => run.store.frames(),
            Source::Memory { list, .. } => list,
        }
    }

    /// A frame.
    pub fn frame(&self, number: usize) -> Result<FrameData, RenderError> {
        match &self.source {
            Source::Folder(run) => Ok(run.store.frame(number)?),
            Source::Memory { frames, .. } => {
                let none = RenderError::NoFrame { number: number as i64, count: frames.len() };
                frames.get(number).cloned().ok_or(none)
            }
        }
    }

    /// Time of a frame for people, with digits enough to tell it from its neighbours.
    pub fn time_stamp(&self, number: usize) -> String {
        self.frames().get(number).map_or(String::new(), |frame| time_stamp(frame.time, interval(self.frames())))
    }

    /// Numbers of the frames that are meant.
    pub fn numbers(&self, which: Which) -> Result<Vec<usize>, RenderError> {
        let frames = self.frames();
        let count = frames.len();
        match which {
            Which::Last => Ok(vec![count - 1]),
            Which::Every(step) => Ok((0..count).step_by(step.max(1)).collect()),
            Which::Number(number) => {
                let from_start = if number < 0 { number + count as i64 } else { number };
                let found = usize::try_from(from_start).ok().filter(|n| *n < count);
                found.map(|n| vec![n]).ok_or(RenderError::NoFrame { number, count })
            }
            Which::Time(time) => {
                let (first, last) = (frames[0].time, frames[count - 1].time);
                let slack = 0.51 * interval(frames) + 1e-9;
                if !(first - slack..=last + slack).contains(&time) {
                    return Err(RenderError::NoTime { time, first, last });
                }
                let distance = |n: &usize| (frames[*n].time - time).abs();
                let nearest = (0..count).min_by(|a, b| distance(a).total_cmp(&distance(b)));
                Ok(nearest.into_iter().collect())
            }
        }
    }
}

/// Mean time from one frame to the next \[s\]; 0 for a single one.
pub(super) fn interval(frames: &[FrameInfo]) -> f64 {
    match frames {
        [first, .., last] => (last.time - first.time) / (frames.len() - 1) as f64,
        _ => 0.0,
    }
}
