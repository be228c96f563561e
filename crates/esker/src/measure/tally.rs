//! Counts of collisions, what they cost, and how fast they are: by kind of pair, by wall, over speed and energy.

use crate::law::collision::{Encounter, Impulse};
use crate::model::Model;
use serde::{Deserialize, Serialize};

/// Collisions of one stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Index of the stage.
    pub stage: usize,
    /// Time of the first and the last look \[s\].
    pub from: f64,
    /// See `from`.
    pub to: f64,
    /// Kinds of grain, and names of walls.
    kinds: usize,
    walls: Vec<String>,
    /// Which of the names each wall has.
    name_of: Vec<u16>,
    /// Pairs of kinds row by row, then each kind with each name.
    classes: Vec<Class>,
}

/// Collisions of one kind of pair.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Class {
    /// Number.
    pub count: u64,
    /// Energy lost \[J\].
    pub lost: f64,
    /// Sum of the speeds of approach \[m/s\].
    pub speed: f64,
    /// Work of the wall \[J\].
    pub work: f64,
    /// Spectrum of the speed of approach \[m/s\].
    pub by_speed: Spectrum,
    /// Spectrum of the energy of impact, m\* v²/2 with the speed of approach \[J\].
    pub by_energy: Spectrum,
}

/// One collision.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hit {
    /// Speed of approach \[m/s\].
    pub speed: f64,
    /// Energy of impact \[J\].
    pub energy: f64,
    /// Energy lost \[J\].
    pub lost: f64,
    /// Work of the wall \[J\].
    pub work: f64,
}

impl Hit {
    /// Of two bodies that met, and the work of a wall \[J\].
    #[inline]
    pub fn new(encounter: &Encounter, impulse: &Impulse, work: f64) -> Self {
        let speed = encounter.approach;
        Self { speed, energy: 0.5 * encounter.effective_mass * speed * speed, lost: impulse.lost.total(), work }
    }
}

/// Numbers and losses in bins, eight for each doubling: each doubling is divided evenly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spectrum {
    first: u32,
    bins: Vec<Bin>,
}

/// What fell into one bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bin {
    /// Number of collisions.
    pub count: u64,
    /// Energy they lost \[J\].
    pub lost: f64,
}

/// Bits of a double below sign, exponent and the three that divide a doubling.
const FINE: u32 = 49;
/// Whatever is smaller falls into the lowest bin, with the edge 0.
const LEAST: f64 = 1.0 / (1u128 << 120) as f64;

impl Spectrum {
    #[inline]
    fn bin(value: f64) -> u32 {
        (value.max(LEAST).to_bits() >> FINE) as u32
    }

    fn edge(bin: u32) -> f64 {
        if bin == Self::bin(LEAST) { 0.0 } else { f64::from_bits(u64::from(bin) << FINE) }
    }

    /// Adds one collision.
    #[inline]
    pub fn add(&mut self, value: f64, lost: f64) {
        let k = Self::bin(value).wrapping_sub(self.first) as usize;
        let bin = match self.bins.get_mut(k) {
            Some(bin) => bin,
            None => self.room(Self::bin(value)),
        };
        bin.count += 1;
        bin.lost += lost;
    }

    #[cold]
    fn room(&mut self, bin: u32) -> &mut Bin {
        if self.bins.is_empty() {
            self.first = bin;
        }
        if bin < self.first {
            let more = (self.first - bin) as usize;
            self.bins.splice(0..0, std::iter::repeat_n(Bin::default(), more));
            self.first = bin;
        }
        let k = (bin - self.first) as usize;
        if k >= self.bins.len() {
            self.bins.resize(k + 1, Bin::default());
        }
        &mut self.bins[k]
    }

    /// Bins from the first to the last that has something, with their lower and upper edges.
    pub fn bins(&self) -> impl Iterator<Item = ([f64; 2], Bin)> + '_ {
        (self.first..).zip(&self.bins).map(|(k, bin)| ([Self::edge(k), Self::edge(k + 1)], *bin))
    }
}

/// Who met: two kinds of grain, or a kind and a wall by its place among the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pair {
    /// Two kinds.
    Kinds(u16, u16),
    /// A kind and a name.
    Wall(u16, u16),
}

impl Tally {
    /// An empty account for a stage that begins at `time`.
    pub fn new(model: &Model, stage: usize, time: f64) -> Self {
        let mut walls: Vec<String> = Vec::new();
        let name_of = model.walls.iter().map(|wall| {
            let known = walls.iter().position(|name| *name == wall.name);
            known.unwrap_or_else(|| {
                walls.push(wall.name.clone());
                walls.len() - 1
            }) as u16
        });
        let name_of = name_of.collect();
        let kinds = model.kinds.len();
        let classes = vec![Class::default(); kinds * kinds + kinds * walls.len()];
        Self { stage, from: time, to: time, kinds, walls, name_of, classes }
    }

    /// The account of two grains.
    #[inline]
    pub fn add_pair(&mut self, a: u16, b: u16, hit: &Hit) {
        let k = usize::from(a.min(b)) * self.kinds + usize::from(a.max(b));
        self.classes[k].add(hit);
    }

    /// The account of a grain and a wall.
    #[inline]
    pub fn add_wall(&mut self, kind: u16, wall: u16, hit: &Hit) {
        let name = usize::from(self.name_of[usize::from(wall)]);
        let k = self.kinds * self.kinds + usize::from(kind) * self.walls.len() + name;
        self.classes[k].add(hit);
    }

    /// All kinds of pairs that can meet and what they did.
    pub fn classes(&self) -> impl Iterator<Item = (Pair, &Class)> {
        let (kinds, walls) = (self.kinds, self.walls.len());
        let pairs = (0..kinds).flat_map(move |a| {
            (a..kinds).map(move |b| (Pair::Kinds(a as u16, b as u16), &self.classes[a * kinds + b]))
        });
        let with_walls = (0..kinds).flat_map(move |a| {
            (0..walls).map(move |w| (Pair::Wall(a as u16, w as u16), &self.classes[kinds * kinds + a * walls + w]))
        });
        pairs.chain(with_walls)
    }

    /// Names of the walls.
    pub fn walls(&self) -> &[String] {
        &self.walls
    }

    /// Collisions of all kinds.
    pub fn count(&self) -> u64 {
        self.classes.iter().map(|class| class.count).sum()
    }

    /// Whether it belongs to a model with these kinds and walls.
    pub fn fits(&self, model: &Model) -> bool {
        let names = self.walls.len();
        self.kinds == model.kinds.len()
            && self.name_of.len() == model.walls.len()
            && self.name_of.iter().all(|&name| usize::from(name) < names)
            && self.classes.len() == self.kinds * (self.kinds + names)
    }
}

impl Class {
    #[inline]
    fn add(&mut self, hit: &Hit) {
        self.count += 1;
        self.lost += hit.lost;
        self.speed += hit.speed;
        self.work += hit.work;
        self.by_speed.add(hit.speed, hit.lost);
        self.by_energy.add(hit.energy, hit.lost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    #[test]
    fn every_value_falls_between_the_edges_of_its_bin_and_nothing_is_lost() {
        let mut random = Stream::new(1, Purpose::Noise, 0);
        let values: Vec<f64> =
            (0..2000).map(|_| 10f64.powf(random.between(-12.0, 6.0))).chain([0.0, 1.0, 2.0]).collect();
        let mut spectrum = Spectrum::default();
        for v in &values {
            spectrum.add(*v, 2.0 * v);
        }
        let mut all = 0;
        for ([low, high], bin) in spectrum.bins() {
            let inside: Vec<f64> = values.iter().copied().filter(|v| (low..high).contains(v)).collect();
            assert_eq!(bin.count, inside.len() as u64, "{low} to {high}");
            assert!((bin.lost - 2.0 * inside.iter().sum::<f64>()).abs() <= 1e-12 * bin.lost);
            assert!(high <= 1.125 * low * (1.0 + 1e-12) || low == 0.0);
            all += bin.count;
        }
        assert_eq!(all, values.len() as u64);
    }
}
