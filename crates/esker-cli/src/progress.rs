//! Clock, phase timer and progress bar.

use crate::out::tell;
use esker::model::Method;
use esker::simulation::Simulation;
use esker::solver::Phase;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Adds up the time spent in each phase.
#[derive(Default)]
pub struct PhaseTimer {
    nanos: [AtomicU64; 6],
    current: Mutex<Option<(usize, Instant)>>,
}

impl PhaseTimer {
    /// A timer that listens to a simulation.
    pub fn listen(simulation: &mut Simulation) -> Arc<Self> {
        let timer = Arc::new(Self::default());
        let clock = timer.clone();
        simulation.on_phase(Arc::new(move |phase| clock.enter(phase)));
        timer
    }

    fn enter(&self, phase: Phase) {
        let now = Instant::now();
        let index = Phase::ALL.iter().position(|p| *p == phase).unwrap_or(5);
        let mut current = self.current.lock().unwrap_or_else(|e| e.into_inner());
        if let Some((last, since)) = current.replace((index, now)) {
            self.nanos[last].fetch_add((now - since).as_nanos() as u64, Ordering::Relaxed);
        }
    }

    /// Counts nothing until the next phase begins.
    pub fn pause(&self) {
        *self.current.lock().unwrap_or_else(|e| e.into_inner()) = None;
    }

    /// Seconds in each phase.
    pub fn seconds(&self) -> Vec<(String, f64)> {
        let seconds = |k: usize| self.nanos[k].load(Ordering::Relaxed) as f64 * 1e-9;
        Phase::ALL.iter().enumerate().map(|(k, p)| (p.name().to_string(), seconds(k))).collect()
    }
}

/// Shows how far a run is: a bar on a terminal, a line now and then elsewhere, nothing when quiet.
pub struct Progress {
    bar: Option<ProgressBar>,
    lines: bool,
    last_line: Instant,
    start: Instant,
}

impl Progress {
    /// A display for a run.
    pub fn new(quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = (!quiet && terminal).then(|| {
            let bar = ProgressBar::new(1000);
            let style = ProgressStyle::with_template("{bar:24} {percent:>3}% {msg}");
            if let Ok(style) = style {
                bar.set_style(style.progress_chars("=> "));
            }
            bar
        });
        let now = Instant::now();
        Self { bar, lines: !quiet && !terminal, last_line: now, start: now }
    }

    /// Shows the present state; `speed` in particle-steps per second.
    pub fn show(&mut self, simulation: &Simulation, speed: f64, until: Option<f64>) {
        if self.bar.is_none() && !self.lines {
            return;
        }
        let state = &simulation.state;
        let deadline = match (simulation.stage_deadline(), until) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        // Left of this stage, at the pace of the last moments.
        let rate = speed / state.particles.owned().max(1) as f64 * simulation.model().dt;
        let eta = deadline.map(|t| (t - state.time).max(0.0) / rate);
        let fraction = deadline.map(|t| (state.time - state.epoch) / (t - state.epoch).max(f64::MIN_POSITIVE));
        let goal = deadline.map_or(String::new(), |t| format!(" of {t:.4}"));
        let done = match simulation.model().method {
            Method::Explicit => format!("{:.2} M particle-steps/s", speed * 1e-6),
            Method::Event(_) => {
                let collisions: u64 = state.meetings.tallies.iter().map(|tally| tally.count()).sum();
                format!("{collisions} collisions")
            }
            Method::Quasistatic(_) => {
                let slides: u64 = state.statics.avalanches.iter().map(|avalanche| avalanche.slides).sum();
                format!("{slides} slides")
            }
        };
        let message = format!(
            "{}: t = {:.4}{goal} s, {} grains, {done}, {}",
            simulation.stage().name,
            state.time,
            state.particles.owned(),
            eta.filter(|e| e.is_finite()).map_or("open end".to_string(), |e| format!("{} left", duration(e))),
        );
        self.put(fraction.unwrap_or(0.0), message);
    }

    /// Shows how many of some runs are done; `before` of them were so at the start.
    pub fn show_runs(&mut self, done: usize, before: usize, total: usize) {
        let pace = (done - before) as f64 / self.seconds();
        let left = (total - done) as f64 / pace;
        let left = if left.is_finite() { format!(", {} left", duration(left)) } else { String::new() };
        self.put(done as f64 / total.max(1) as f64, format!("{done} of {total} points{left}"));
    }

    fn put(&mut self, fraction: f64, message: String) {
        if let Some(bar) = &self.bar {
            bar.set_position((1000.0 * fraction) as u64);
            bar.set_message(message);
        } else if self.lines && self.last_line.elapsed() > Duration::from_secs(10) {
            self.last_line = Instant::now();
            tell!("{message}");
        }
    }

    /// Says something without disturbing the bar.
    pub fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| tell!("{text}")),
            None if self.lines => tell!("{text}"),
            None => {}
        }
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
}

/// A duration for people.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 0.01 => format!("{:.1} ms", 1e3 * s),
        s if s < 100.0 => format!("{s:.1} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}
