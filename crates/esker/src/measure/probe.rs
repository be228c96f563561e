//! Probes: named measures that a run writes down at intervals.

use super::region;
use crate::contact::visit::{self, Other};
use crate::math::Vec3;
use crate::model::Model;
use crate::region::{Region, RegionError};
use crate::state::State;

/// What a probe measures.
#[derive(Clone, Debug, PartialEq)]
pub enum Probe {
    /// Crossings of a counting plane, by its index in the model.
    Flow(usize),
    /// Force of the grains on the walls of a name.
    Force(String),
    /// Torque of the grains on the walls of a name, about a point \[m\].
    Torque(String, Vec3),
    /// Solid fraction in a region.
    Packing(Region),
    /// Stress in a region.
    Stress(Region),
    /// Number of grains in a region.
    Count(Region),
    /// Contacts per grain, of all grains.
    Coordination,
}

impl Probe {
    /// Names of its columns, for a probe called `name`.
    pub fn columns(&self, name: &str) -> Vec<String> {
        let each = |parts: &[&str], unit: &str| parts.iter().map(|p| format!("{name} {p} [{unit}]")).collect();
        match self {
            Probe::Flow(_) => vec![format!("{name} count"), format!("{name} mass [kg]")],
            Probe::Force(_) => each(&["x", "y", "z"], "N"),
            Probe::Torque(..) => each(&["x", "y", "z"], "N m"),
            Probe::Packing(_) | Probe::Count(_) | Probe::Coordination => vec![name.to_string()],
            Probe::Stress(_) => each(&["xx", "yy", "zz", "xy", "xz", "yz"], "Pa"),
        }
    }

    /// Its values, one per column.
    pub fn values(&self, model: &Model, state: &State) -> Result<Vec<f64>, RegionError> {
        let of_walls = |name: &str, value: &dyn Fn(usize) -> Vec3| -> Vec<f64> {
            let sum: Vec3 = model.walls.iter().enumerate().filter(|(_, w)| w.name == name).map(|(w, _)| value(w)).sum();
            sum.to_array().to_vec()
        };
        Ok(match self {
            Probe::Flow(gate) => vec![state.flows[*gate].count as f64, state.flows[*gate].mass],
            Probe::Force(wall) => of_walls(wall, &|w| state.walls[w].force),
            Probe::Torque(wall, about) => {
                of_walls(wall, &|w| state.walls[w].torque - about.cross(state.walls[w].force))
            }
            Probe::Packing(r) => vec![region::measure(model, state, r)?.packing],
            Probe::Count(r) => vec![region::measure(model, state, r)?.count as f64],
            Probe::Stress(r) => {
                let s = region::measure(model, state, r)?.stress;
                vec![s.x_axis.x, s.y_axis.y, s.z_axis.z, s.y_axis.x, s.z_axis.x, s.z_axis.y]
            }
            Probe::Coordination => vec![coordination(model, state).1],
        })
    }
}

/// Number of contacts (walls included), and contact ends per grain.
pub fn coordination(model: &Model, state: &State) -> (f64, f64) {
    let (mut contacts, mut ends) = (0.0, 0.0);
    visit::for_each(model, state, |c| {
        contacts += c.share;
        ends += if matches!(c.other, Other::Grain(_)) { 2.0 * c.share } else { 1.0 };
    });
    (contacts, ends / state.particles.owned().max(1) as f64)
}

/// Largest overlap over the smaller radius of all contacts \[-\].
pub fn largest_overlap(model: &Model, state: &State) -> f64 {
    let radius = |g: usize| state.particles.radius(g);
    let mut largest = 0.0f64;
    visit::for_each(model, state, |c| {
        let smaller = match c.other {
            Other::Grain(j) => radius(c.i).min(radius(j)),
            Other::Wall(_) => radius(c.i),
        };
        largest = largest.max(c.overlap / smaller);
    });
    largest
}
