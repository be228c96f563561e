//! What contacts do besides loading grains: energy lost, loads of walls.
//!
//! Summed over units of so many grains, and the units in their order, so that totals do not depend on how the grains are cut
//! up among the workers.

use super::list::BLOCK;
use crate::law::Dissipation;
use crate::math::Vec3;
use crate::state::held;

/// How the grains of a segment, counted from its first, make units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Units {
    /// log2 of the grains in a unit.
    bits: u32,
}

impl Units {
    /// Of so many grains in all: some thousand units at most, since these are added up one after another, and whole blocks.
    pub fn of(grains: usize) -> Self {
        Self { bits: (grains / 1024).next_power_of_two().clamp(BLOCK, 64 * BLOCK).trailing_zeros() }
    }

    /// Grains in a unit.
    pub fn grains(self) -> usize {
        1 << self.bits
    }

    /// The unit of a grain.
    #[inline]
    pub fn of_grain(self, grain: usize) -> usize {
        grain >> self.bits
    }
}

/// What the contacts of the grains of a segment have done in one step.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Energy lost.
    pub losses: Losses,
    /// Loads of walls.
    pub wall_sums: WallSums,
}

impl Told {
    /// Nothing, of so many grains.
    pub fn new(units: Units, grains: usize) -> Self {
        Self { losses: Losses::new(units, grains), wall_sums: WallSums::new(units) }
    }

    /// Forgets all; there are so many walls.
    pub fn clear(&mut self, walls: usize) {
        self.losses.clear();
        self.wall_sums.clear(walls);
    }

    /// Memory held \[byte\].
    pub fn memory_held(&self) -> usize {
        self.losses.memory_held() + self.wall_sums.memory_held()
    }
}

/// Energy lost in the contacts of the grains of a segment in one step, as far as it is not booked to the grains.
#[derive(Clone, Debug, Default)]
pub struct Losses {
    units: Units,
    sums: Vec<Dissipation>,
}

impl Losses {
    /// None, of so many grains.
    pub fn new(units: Units, grains: usize) -> Self {
        Self { units, sums: vec![Dissipation::default(); grains.div_ceil(units.grains())] }
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.sums.fill(Dissipation::default());
    }

    /// Those of the unit of a grain.
    #[inline]
    pub fn of(&mut self, grain: usize) -> &mut Dissipation {
        &mut self.sums[self.units.of_grain(grain)]
    }

    /// Those of all units.
    pub fn iter(&self) -> impl Iterator<Item = &Dissipation> {
        self.sums.iter()
    }

    /// Memory held \[byte\].
    pub fn memory_held(&self) -> usize {
        held(&self.sums)
    }
}

/// What some grains do to one wall in one step.
#[derive(Clone, Copy, Debug, Default)]
pub struct WallSum {
    /// Force on the wall \[N\].
    pub force: Vec3,
    /// Torque on the wall about the origin of the world \[N m\].
    pub torque: Vec3,
}

/// What the grains of a segment do to the walls in one step.
#[derive(Clone, Debug, Default)]
pub struct WallSums {
    units: Units,
    /// Unit, wall and sum, of each wall in the order of the units.
    entries: Vec<(usize, usize, WallSum)>,
    /// Where the last entry of each wall is.
    last: Vec<Option<usize>>,
}

impl WallSums {
    /// None.
    pub fn new(units: Units) -> Self {
        Self { units, ..Default::default() }
    }

    /// None yet, of so many walls.
    pub fn clear(&mut self, walls: usize) {
        self.entries.clear();
        self.last.clear();
        self.last.resize(walls, None);
    }

    /// Those of the unit of a grain and a wall; the unit comes after all those asked for before with this wall.
    #[inline]
    pub fn of(&mut self, grain: usize, wall: usize) -> &mut WallSum {
        let unit = self.units.of_grain(grain);
        let known = self.last[wall].filter(|&k| self.entries[k].0 == unit);
        let k = known.unwrap_or_else(|| {
            self.entries.push((unit, wall, WallSum::default()));
            self.entries.len() - 1
        });
        self.last[wall] = Some(k);
        &mut self.entries[k].2
    }

    /// Walls and sums, of each wall in the order of the units.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &WallSum)> {
        self.entries.iter().map(|(_, wall, sum)| (*wall, sum))
    }

    /// Memory held \[byte\].
    pub fn memory_held(&self) -> usize {
        held(&self.entries) + held(&self.last)
    }
}
