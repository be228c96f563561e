//! Feeds: grains created during a run, at a steady rate or as a Poisson process (Gavrilov 1999, section 5.9).
//!
//! A grain is put at a random place of a region where it overlaps nothing. When no place is found the arrival is
//! postponed; the grain keeps its size, so that a crowded inlet does not favour small grains. After too many
//! failures in a row the feed reports a jam. The next arrival is scheduled when the present one is handled, so the
//! state of a feed is a few numbers, and a run continued from them is the unbroken run.

use super::size::{SizeError, grain_measure};
use super::{Obstacles, Placed, Push, SizeLaw, Sizes, is_clear};
use crate::math::Vec3;
use crate::region::{Region, RegionError};
use crate::rng::{Purpose, Stream, key};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// How fast grains arrive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rate {
    /// Grains per second \[1/s\].
    Number(f64),
    /// Mass per second.
    Mass {
        /// Mass per second \[kg/s\].
        rate: f64,
        /// Density of the grains \[kg/m³\], or \[kg/m²\] for discs.
        density: f64,
    },
}

/// When grains arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// At even times; by mass, the wait is as long as the last grain is heavy.
    #[default]
    Steady,
    /// Independently of each other: waiting times are exponential.
    Poisson,
}

/// A feed, as written in a scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Feed {
    /// Where grains are created; they lie wholly inside.
    pub region: Region,
    /// Radii.
    pub size: SizeLaw,
    /// How fast.
    pub rate: Rate,
    /// Steady or Poisson.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// Begin \[s\].
    #[serde(default)]
    pub start: f64,
    /// End \[s\]; never when not given.
    #[serde(default)]
    pub stop: Option<f64>,
    /// Grains to create; no limit when not given.
    #[serde(default)]
    pub max_count: Option<u64>,
    /// Places tried in one attempt.
    #[serde(default = "default_tries")]
    pub tries: u32,
    /// Wait after a failed attempt \[s\]; a tenth of the mean wait between grains when not given.
    #[serde(default)]
    pub delay: Option<f64>,
    /// Failed attempts in a row before the feed counts as jammed.
    #[serde(default = "default_patience")]
    pub patience: u32,
    /// Velocity of new grains \[m/s\].
    #[serde(default)]
    pub velocity: Vec3,
    /// Spin of new grains \[rad/s\].
    #[serde(default)]
    pub spin: Vec3,
    /// Index of the kind of grain.
    #[serde(default)]
    pub kind: u16,
}

fn default_tries() -> u32 {
    50
}

fn default_patience() -> u32 {
    1000
}

/// What is wrong with a feed.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum FeedError {
    /// The size law is wrong.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// The region is wrong.
    #[error(transparent)]
    Region(#[from] RegionError),
    /// A number makes no sense.
    #[error("{what} = {value} in a feed; {wanted}")]
    BadValue {
        /// Which number.
        what: &'static str,
        /// The value given.
        value: f64,
        /// What would do.
        wanted: &'static str,
    },
}

/// A checked feed, ready to run.
#[derive(Clone, Debug)]
pub struct Feeder {
    feed: Feed,
    sizes: Sizes,
    delay: f64,
}

/// What changes in a feed: part of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeedState {
    /// When the next grain is due \[s\].
    pub next: f64,
    /// Grains created so far.
    pub created: u64,
    /// Mass created so far, over density: volume \[m³\] or area \[m²\].
    pub created_measure: f64,
    /// Failed attempts since the last grain.
    pub failures: u32,
    /// Whether a jam was reported; the feed then stands still until this is cleared.
    pub jammed: bool,
    /// Attempts so far: the key of the next random place.
    pub attempts: u64,
}

/// A new grain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Birth {
    /// Place and size.
    pub placed: Placed,
    /// Velocity \[m/s\].
    pub velocity: Vec3,
    /// Spin \[rad/s\].
    pub spin: Vec3,
    /// Index of its kind.
    pub kind: u16,
}

/// What came of an attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// A grain was created.
    Placed(Birth),
    /// No free place; to be tried again later.
    Postponed,
    /// No free place once too often.
    Jammed,
    /// The feed has ended.
    Finished,
}

impl Feed {
    /// Checks the feed and makes it ready: discs when `planar`, else spheres.
    pub fn prepare(&self, planar: bool) -> Result<Feeder, FeedError> {
        let positive = |what, value: f64| {
            let sound = value.is_finite() && value > 0.0;
            if sound { Ok(()) } else { Err(FeedError::BadValue { what, value, wanted: "give a number above zero" }) }
        };
        let sizes = self.size.prepare(planar)?;
        self.region.check(planar)?;
        if self.region.shrunk(sizes.r_max(), planar)? == Region::Everything {
            return Err(RegionError::Unbounded.into());
        }
        match self.rate {
            Rate::Number(rate) => positive("rate", rate)?,
            Rate::Mass { rate, density } => {
                positive("rate", rate)?;
                positive("density", density)?;
            }
        }
        let ordered = self.start.is_finite() && self.stop.is_none_or(|stop| stop >= self.start);
        if !ordered {
            let wanted = "start must be finite and not after stop";
            return Err(FeedError::BadValue { what: "start", value: self.start, wanted });
        }
        positive("tries", f64::from(self.tries))?;
        let mut feeder = Feeder { feed: self.clone(), sizes, delay: 0.0 };
        feeder.delay = self.delay.unwrap_or(0.1 / feeder.mean_rate());
        positive("delay", feeder.delay)?;
        Ok(feeder)
    }
}

impl Feeder {
    /// The feed as written.
    pub fn feed(&self) -> &Feed {
        &self.feed
    }

    /// Wait after a failed attempt \[s\].
    pub fn delay(&self) -> f64 {
        self.delay
    }

    /// Mean number of grains per second while the inlet is free \[1/s\].
    pub fn mean_rate(&self) -> f64 {
        match self.feed.rate {
            Rate::Number(rate) => rate,
            Rate::Mass { rate, density } => rate / (density * self.sizes.mean_measure()),
        }
    }

    /// The state before the first grain. `seed` is the run's, `group` the number of this feed in the scene.
    pub fn begin(&self, seed: u64, group: u16) -> FeedState {
        let mut state = FeedState {
            next: self.feed.start,
            created: 0,
            created_measure: 0.0,
            failures: 0,
            jammed: false,
            attempts: 0,
        };
        if self.feed.arrivals == Arrivals::Poisson {
            state.next += self.wait(0, 0.0, seed, group);
        }
        state
    }

    /// Goes on at time `t` \[s\] after a rest: what was due meanwhile is not made up for.
    pub fn wake(&self, state: &mut FeedState, t: f64) {
        state.next = state.next.max(t);
    }

    /// Whether the feed will create no more grains.
    pub fn finished(&self, state: &FeedState) -> bool {
        self.feed.max_count.is_some_and(|n| state.created >= n) || self.feed.stop.is_some_and(|stop| state.next > stop)
    }

    /// Whether an attempt is due at time `t` \[s\]. Several may be due in one step: ask again after each.
    pub fn due(&self, state: &FeedState, t: f64) -> bool {
        !state.jammed && !self.finished(state) && state.next <= t
    }

    /// Tries to create the next grain at time `t` \[s\] and schedules what comes after. `scratch` is memory to reuse.
    pub fn attempt(
        &self,
        state: &mut FeedState,
        t: f64,
        seed: u64,
        group: u16,
        obstacles: &dyn Obstacles,
        scratch: &mut Vec<Push>,
    ) -> Outcome {
        if self.finished(state) {
            return Outcome::Finished;
        }
        if state.jammed {
            return Outcome::Jammed;
        }
        let planar = self.sizes.planar();
        let radius = self.sizes.sample(&mut Stream::new(seed, Purpose::Size, self.key(group, state.created)));
        let mut stream = Stream::new(seed, Purpose::Feed, key(group, state.attempts));
        state.attempts += 1;
        for _ in 0..self.feed.tries {
            // `prepare` has checked that the largest grain fits, so a place can always be drawn.
            let Ok(centre) = self.feed.region.sample(radius, planar, &mut stream) else { break };
            if is_clear(obstacles, centre, radius, scratch) {
                state.created += 1;
                let measure = grain_measure(radius, planar);
                state.created_measure += measure;
                state.failures = 0;
                state.next += self.wait(state.created, measure, seed, group);
                let Feed { velocity, spin, kind, .. } = self.feed;
                return Outcome::Placed(Birth { placed: Placed { centre, radius }, velocity, spin, kind });
            }
        }
        state.failures += 1;
        state.next = state.next.max(t) + self.delay;
        if state.failures > self.feed.patience {
            state.jammed = true;
            return Outcome::Jammed;
        }
        Outcome::Postponed
    }

    /// Wait before grain number `index` \[s\], the last one having had this volume or area.
    fn wait(&self, index: u64, last_measure: f64, seed: u64, group: u16) -> f64 {
        match (self.feed.arrivals, self.feed.rate) {
            (Arrivals::Steady, Rate::Number(rate)) => 1.0 / rate,
            (Arrivals::Steady, Rate::Mass { rate, density }) => density * last_measure / rate,
            (Arrivals::Poisson, _) => {
                Stream::new(seed, Purpose::Arrival, key(group, index)).waiting_time(self.mean_rate())
            }
        }
    }

    /// Radii of feeds share a purpose with those of fills: the upper half of the index is theirs.
    fn key(&self, group: u16, index: u64) -> u64 {
        key(group, index | 1 << 47)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_walls::HalfSpace;
    use super::super::{By, Grains};
    use super::*;
    use crate::math::Aabb;

    fn feed() -> Feed {
        Feed {
            region: Region::Box(Aabb { min: Vec3::ZERO, max: Vec3::ONE }),
            size: SizeLaw::Uniform { min: 0.01, max: 0.03, by: By::Number },
            rate: Rate::Number(50.0),
            arrivals: Arrivals::Steady,
            start: 1.0,
            stop: None,
            max_count: None,
            tries: 20,
            delay: None,
            patience: 5,
            velocity: Vec3::NEG_Y,
            spin: Vec3::Z,
            kind: 3,
        }
    }

    /// Runs a feed into empty space in steps of `dt`; times of creation and grains.
    fn run(feed: &Feed, dt: f64, until: f64) -> Vec<(f64, Birth)> {
        let feeder = feed.prepare(false).unwrap();
        let mut state = feeder.begin(1, 0);
        let (mut scratch, mut births) = (Vec::new(), Vec::new());
        let mut step = 0;
        while f64::from(step) * dt <= until {
            let t = f64::from(step) * dt;
            while feeder.due(&state, t) {
                let due = state.next;
                match feeder.attempt(&mut state, t, 1, 0, &(), &mut scratch) {
                    Outcome::Placed(birth) => births.push((due, birth)),
                    other => panic!("{other:?} in empty space"),
                }
            }
            step += 1;
        }
        births
    }

    #[test]
    fn a_steady_feed_keeps_its_rate_whatever_the_time_step() {
        for dt in [1e-3, 0.033, 0.5] {
            let births = run(&feed(), dt, 11.0);
            let last = births.len() as f64 - 1.0;
            assert!((last - 500.0).abs() <= 1.0 + 50.0 * dt, "{last} at step {dt}");
        }
        let (_, first) = run(&feed(), 0.1, 1.1)[0];
        assert_eq!((first.velocity, first.spin, first.kind), (Vec3::NEG_Y, Vec3::Z, 3));
    }

    #[test]
    fn a_steady_feed_by_mass_is_never_off_by_more_than_one_grain() {
        let (rate, density) = (2.0, 2500.0);
        let births = run(&Feed { rate: Rate::Mass { rate, density }, ..feed() }, 0.01, 60.0);
        let mut mass = 0.0;
        for (t, birth) in &births {
            let grain = density * grain_measure(birth.placed.radius, false);
            assert!((mass - rate * (t - 1.0)).abs() < 1e-9);
            mass += grain;
        }
        assert!(births.len() > 500 && (mass - rate * 59.0).abs() <= density * grain_measure(0.03, false));
    }

    #[test]
    fn waiting_times_of_a_poisson_feed_are_exponential_with_the_mean_rate() {
        for rate in [Rate::Number(50.0), Rate::Mass { rate: 50.0 * 1000.0 * 4.188_790_204_786e-5, density: 1000.0 }] {
            // Mean of r³ is 1e-5 m³ for radii uniform in 0.01 … 0.03 m.
            let births = run(&Feed { rate, arrivals: Arrivals::Poisson, ..feed() }, 0.02, 401.0);
            let n = births.len() as f64;
            assert!((n - 20_000.0).abs() < 4.0 * 20_000f64.sqrt(), "{n}");
            let mut wait: Vec<f64> = births.windows(2).map(|w| w[1].0 - w[0].0).collect();
            wait.sort_by(f64::total_cmp);
            let m = wait.len() as f64;
            let ks = (wait.iter().enumerate())
                .map(|(i, w)| ((1.0 - (-50.0 * w).exp()) - (i as f64 + 0.5) / m).abs())
                .fold(0.0, f64::max);
            assert!(ks < 2.23 / m.sqrt(), "distance from the exponential law {ks}");
        }
    }

    #[test]
    fn a_blocked_inlet_postpones_keeps_the_size_and_reports_a_jam() {
        let feeder = Feed { delay: Some(0.1), ..feed() }.prepare(false).unwrap();
        let blocked = HalfSpace { point: Vec3::splat(2.0), normal: Vec3::Y };
        let (mut state, mut scratch) = (feeder.begin(1, 0), Vec::new());
        let mut unhindered = state;
        let Outcome::Placed(first) = feeder.attempt(&mut unhindered, 1.0, 1, 0, &(), &mut scratch) else { panic!() };
        let mut t = 1.0;
        for failure in 1..=5 {
            assert!(feeder.due(&state, t));
            assert_eq!(feeder.attempt(&mut state, t, 1, 0, &blocked, &mut scratch), Outcome::Postponed);
            assert_eq!(state.failures, failure);
            assert!(!feeder.due(&state, t + 0.09));
            t = state.next;
        }
        let mut opened = state;
        let Outcome::Placed(late) = feeder.attempt(&mut opened, t, 1, 0, &(), &mut scratch) else { panic!() };
        assert_eq!(late.placed.radius, first.placed.radius);
        assert_eq!(opened.failures, 0);
        assert_eq!(feeder.attempt(&mut state, t, 1, 0, &blocked, &mut scratch), Outcome::Jammed);
        assert!(state.jammed && !feeder.due(&state, 1e9));
    }

    #[test]
    fn new_grains_overlap_none_of_the_old_and_a_full_region_jams() {
        let feeder = Feed { delay: Some(0.1), tries: 200, ..feed() }.prepare(true).unwrap();
        let (mut state, mut scratch) = (feeder.begin(1, 0), Vec::new());
        let mut grains = Grains::new(0.03, true);
        loop {
            let t = state.next;
            match feeder.attempt(&mut state, t, 1, 0, &grains, &mut scratch) {
                Outcome::Placed(birth) => {
                    assert!(grains.is_free(birth.placed.centre, birth.placed.radius * (1.0 - 1e-8)));
                    grains.push(birth.placed);
                }
                Outcome::Postponed => {}
                Outcome::Jammed => break,
                Outcome::Finished => panic!("no end was set"),
            }
        }
        let solid: f64 = grains.as_slice().iter().map(|g| grain_measure(g.radius, true)).sum();
        assert!((0.35..0.65).contains(&solid), "{solid}");
    }

    #[test]
    fn a_feed_ends_by_count_or_time() {
        assert_eq!(run(&Feed { max_count: Some(7), ..feed() }, 0.01, 10.0).len(), 7);
        assert_eq!(run(&Feed { stop: Some(2.0 - 1e-6), ..feed() }, 0.01, 10.0).len(), 50);
        let feeder = Feed { max_count: Some(0), ..feed() }.prepare(false).unwrap();
        let mut state = feeder.begin(1, 0);
        assert_eq!(feeder.attempt(&mut state, 5.0, 1, 0, &(), &mut Vec::new()), Outcome::Finished);
    }

    #[test]
    fn bad_feeds_are_refused() {
        let refused = |f: Feed| f.prepare(false).unwrap_err();
        assert!(matches!(
            refused(Feed { rate: Rate::Number(0.0), ..feed() }),
            FeedError::BadValue { what: "rate", .. }
        ));
        assert!(matches!(refused(Feed { delay: Some(0.0), ..feed() }), FeedError::BadValue { what: "delay", .. }));
        assert!(matches!(refused(Feed { stop: Some(0.5), ..feed() }), FeedError::BadValue { what: "start", .. }));
        assert!(matches!(refused(Feed { region: Region::Everything, ..feed() }), FeedError::Region(_)));
        assert!(matches!(refused(Feed { size: SizeLaw::Single { radius: 0.6 }, ..feed() }), FeedError::Region(_)));
    }
}
