//! What the cases of hard collisions share: sums over the grains, and what collisions have done so far.

use esker::law::collision::Collision;
use esker::math::Vec3;
use esker::measure::tally::Pair;
use esker::model::{Model, PairTable};
use esker::rng::Stream;
use esker::state::State;
use std::ops::Sub;

/// Energy of all grains, turning included \[J\].
pub fn kinetic(state: &State) -> f64 {
    let p = &state.particles;
    (0..p.owned()).map(|i| p.kinetic_energy(i).0 + p.kinetic_energy(i).1).sum()
}

/// Momentum of all grains \[kg m/s\].
pub fn momentum(state: &State) -> Vec3 {
    let p = &state.particles;
    (0..p.owned()).map(|i| p.mass[i] * p.velocity(i)).sum()
}

/// Σ m |v|, which momenta are compared with \[kg m/s\].
pub fn bustle(state: &State) -> f64 {
    let p = &state.particles;
    (0..p.owned()).map(|i| p.mass[i] * p.velocity(i).length()).sum()
}

/// Collisions of one sort.
#[derive(Clone, Copy, Default)]
pub struct Sort {
    /// Number.
    pub count: f64,
    /// Sum of the speeds of approach \[m/s\].
    pub speed: f64,
    /// Energy lost \[J\].
    pub lost: f64,
    /// Work of walls \[J\].
    pub work: f64,
}

impl Sub for Sort {
    type Output = Self;

    fn sub(self, b: Self) -> Self {
        Self {
            count: self.count - b.count,
            speed: self.speed - b.speed,
            lost: self.lost - b.lost,
            work: self.work - b.work,
        }
    }
}

/// What collisions have done up to a time.
#[derive(Clone, Copy, Default)]
pub struct Account {
    /// The time \[s\].
    pub time: f64,
    /// Of two grains.
    pub pairs: Sort,
    /// With walls.
    pub walls: Sort,
}

impl Account {
    /// All that a state remembers.
    pub fn of(state: &State) -> Self {
        let mut all = Self { time: state.time, ..Default::default() };
        for (pair, class) in state.meetings.tallies.iter().flat_map(|tally| tally.classes()) {
            let sort = match pair {
                Pair::Kinds(..) => &mut all.pairs,
                Pair::Wall(..) => &mut all.walls,
            };
            sort.count += class.count as f64;
            sort.speed += class.speed;
            sort.lost += class.lost;
            sort.work += class.work;
        }
        all
    }

    /// Number of all.
    pub fn count(&self) -> f64 {
        self.pairs.count + self.walls.count
    }

    /// Energy lost in all \[J\].
    pub fn lost(&self) -> f64 {
        self.pairs.lost + self.walls.lost
    }
}

impl Sub for Account {
    type Output = Self;

    fn sub(self, b: Self) -> Self {
        Self { time: self.time - b.time, pairs: self.pairs - b.pairs, walls: self.walls - b.walls }
    }
}

/// A vector of three independent normal numbers of unit spread.
pub fn normal(random: &mut Stream) -> Vec3 {
    let mut one = || (-2.0 * random.uniform().ln()).sqrt() * (std::f64::consts::TAU * random.uniform()).cos();
    Vec3::new(one(), one(), one())
}

/// Gives the grains Maxwell's velocities with this root mean square and no total momentum; all of one mass.
pub fn stir(state: &mut State, random: &mut Stream, rms: f64) {
    let n = state.particles.owned();
    let drawn: Vec<Vec3> = (0..n).map(|_| normal(random)).collect();
    let mean = drawn.iter().sum::<Vec3>() / n as f64;
    let square = drawn.iter().map(|v| (*v - mean).length_squared()).sum::<f64>() / n as f64;
    for (motion, v) in state.particles.motion.iter_mut().zip(&drawn) {
        motion.velocity = (*v - mean) * rms / square.sqrt();
    }
}

/// Gives all collisions one restitution from now on.
pub fn set_restitution(model: &mut Model, state: &mut State, restitution: f64) {
    model.collisions = PairTable::new(model.materials.len(), |_, _| Collision::smooth(restitution));
    state.loads_are_current = false;
}

/// Mean of numbers, and its standard error.
pub fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (square / n).sqrt())
}

/// Slope, height at zero and R² of the straight line of least squares through points.
pub fn line(points: &[[f64; 2]]) -> (f64, f64, f64) {
    let n = points.len() as f64;
    let [x, y] = [0, 1].map(|k| points.iter().map(|p| p[k]).sum::<f64>() / n);
    let [xx, xy, yy] = [[0, 0], [0, 1], [1, 1]]
        .map(|[a, b]| points.iter().map(|p| (p[a] - [x, y][a]) * (p[b] - [x, y][b])).sum::<f64>());
    (xy / xx, y - xy / xx * x, xy * xy / (xx * yy))
}
