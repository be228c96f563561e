//! Load of walls against height: normal and shear force by strips along gravity.

use crate::contact::visit::{self, Other};
use crate::math::Vec3;
use crate::model::Model;
use crate::state::State;

/// Level strips of the same height, one above the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strips {
    /// Unit vector against gravity.
    pub up: Vec3,
    /// Level of the lowest end \[m\].
    pub bottom: f64,
    /// Height of each \[m\].
    pub height: f64,
    /// How many.
    pub count: usize,
}

/// What the grains do to the walls in a strip.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StripLoad {
    /// Normal force, positive when pushing \[N\].
    pub normal: f64,
    /// Tangential force on the walls downwards \[N\].
    pub shear: f64,
    /// Contacts.
    pub contacts: u64,
}

/// Where a fill is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levels {
    /// Lowest point of the grains, along `up` \[m\].
    pub bottom: f64,
    /// Highest point of the grains \[m\].
    pub top: f64,
    /// Level that the grains would fill if they lay evenly: twice as high above the bottom as their centre of mass \[m\].
    pub surface: f64,
    /// Mass of the grains \[kg\].
    pub mass: f64,
    /// Mean radius \[m\].
    pub radius: f64,
}

impl Levels {
    /// Of all grains; `None` without any.
    pub fn of(state: &State, up: Vec3) -> Option<Self> {
        let p = &state.particles;
        let grains = || 0..p.owned();
        let mass: f64 = p.mass.iter().sum();
        let bottom = grains().map(|i| p.position(i).dot(up) - p.radius(i)).reduce(f64::min)?;
        let top = grains().map(|i| p.position(i).dot(up) + p.radius(i)).reduce(f64::max)?;
        let middle = grains().map(|i| p.mass[i] * p.position(i).dot(up)).sum::<f64>() / mass;
        let radius = grains().map(|i| p.radius(i)).sum::<f64>() / p.owned() as f64;
        Some(Self { bottom, top, surface: bottom + 2.0 * (middle - bottom), mass, radius })
    }
}

impl Strips {
    /// The strip of a point.
    fn of(&self, point: Vec3) -> Option<usize> {
        let k = ((point.dot(self.up) - self.bottom) / self.height).floor();
        (k >= 0.0 && k < self.count as f64).then_some(k as usize)
    }

    /// Lower and upper end of a strip \[m\].
    pub fn ends(&self, strip: usize) -> [f64; 2] {
        [strip, strip + 1].map(|k| self.bottom + self.height * k as f64)
    }

    /// Load of the walls with these names, strip by strip. A contact belongs to the strip of its point.
    pub fn loads(&self, model: &Model, state: &State, names: &[String]) -> Vec<StripLoad> {
        let mut loads = vec![StripLoad::default(); self.count];
        visit::for_each(model, state, |c| {
            let Other::Wall(w) = c.other else { return };
            if !names.contains(&model.walls[w].name) {
                return;
            }
            if let Some(k) = self.of(c.point) {
                let tangential = c.force + c.normal_force * c.normal();
                loads[k].normal += c.normal_force;
                loads[k].shear += tangential.dot(self.up);
                loads[k].contacts += 1;
            }
        });
        loads
    }
}
