//! What silo people ask of one state or of many: pressure on walls by strips of height with Janssen's curve, and how large avalanches are.
//!
//! | file | rows |
//! |---|---|
//! | `walls.csv` | one for each strip, the lowest first |
//! | `avalanche-sizes.csv` | one for each bin of a distribution |

use crate::series::{Numbers, SeriesError};
use esker::measure::contacts::Spread;
use esker::measure::janssen::{Fit, Janssen, Strip};
use esker::measure::wall_profile::{Levels, StripLoad, Strips};
use esker::model::Model;
use esker::state::State;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// Table of the strips.
pub const WALLS_FILE: &str = "walls.csv";
/// Distributions of avalanches.
pub const SIZES_FILE: &str = "avalanche-sizes.csv";

/// Loads of walls in several states of the same silo.
pub struct WallProfile {
    /// The strips, the same for all states.
    pub strips: Strips,
    /// Length of the walls along a level \[m\].
    pub breadth: f64,
    states: Vec<(Levels, Vec<StripLoad>)>,
}

/// The mean of all states in a strip.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Lower and upper end \[m\].
    pub ends: [f64; 2],
    /// Normal stress \[Pa\], over the states.
    pub normal: Spread,
    /// Shear stress downwards \[Pa\].
    pub shear: f64,
    /// Contacts.
    pub contacts: f64,
}

/// What Janssen's curve needs besides the pressures.
#[derive(Clone, Copy, Debug)]
pub struct CrossSection {
    /// Area \[m²\].
    pub area: f64,
    /// Perimeter \[m\].
    pub perimeter: f64,
    /// Friction on the walls \[-\].
    pub friction: f64,
    /// Gravity \[m/s²\].
    pub gravity: f64,
}

impl WallProfile {
    /// Of the walls with these names, in strips of a height \[m\]. `None` where no state has grains.
    pub fn of(states: &[(&Model, &State)], names: &[String], height: Option<f64>, breadth: f64) -> Option<Self> {
        let up = -states.first()?.0.uniform_acceleration().normalize_or_zero();
        let levels: Vec<Levels> = states.iter().filter_map(|(_, state)| Levels::of(state, up)).collect();
        let height = height.unwrap_or(10.0 * levels.first()?.radius);
        let bottom = levels.iter().map(|l| l.bottom).fold(f64::INFINITY, f64::min);
        let top = levels.iter().map(|l| l.top).fold(f64::NEG_INFINITY, f64::max);
        let strips = Strips { up, bottom, height, count: ((top - bottom) / height).ceil().max(1.0) as usize };
        let filled = states.iter().filter(|(_, state)| state.particles.owned() > 0);
        let loads = filled.map(|(model, state)| strips.loads(model, state, names));
        Some(Self { strips, breadth, states: levels.into_iter().zip(loads).collect() })
    }

    /// Number of states.
    pub fn states(&self) -> usize {
        self.states.len()
    }

    /// Mean level of the surface \[m\].
    pub fn surface(&self) -> f64 {
        self.mean(|levels, _| levels.surface)
    }

    /// Mean mass of the grains \[kg\].
    pub fn mass(&self) -> f64 {
        self.mean(|levels, _| levels.mass)
    }

    /// Mean of what the walls carry downwards by friction \[N\].
    pub fn carried(&self) -> f64 {
        self.mean(|_, loads| loads.iter().map(|load| load.shear).sum())
    }

    fn mean(&self, of: impl Fn(&Levels, &[StripLoad]) -> f64) -> f64 {
        self.states.iter().map(|(levels, loads)| of(levels, loads)).sum::<f64>() / self.states.len() as f64
    }

    /// The strips, the lowest first.
    pub fn rows(&self) -> Vec<Row> {
        let area = self.strips.height * self.breadth;
        let row = |k: usize| {
            let normal =
                Spread::of(self.states.iter().map(|(_, loads)| loads[k].normal / area)).expect("there are states");
            let shear = self.mean(|_, loads| loads[k].shear / area);
            Row { ends: self.strips.ends(k), normal, shear, contacts: self.mean(|_, loads| loads[k].contacts as f64) }
        };
        (0..self.strips.count).map(row).collect()
    }

    /// Density of the fill, pores included \[kg/m³\].
    pub fn bulk_density(&self, area: f64) -> f64 {
        self.mean(|levels, _| levels.mass / (area * (levels.surface - levels.bottom)))
    }

    /// Janssen's curve through the strips that are filled, and how well it fits.
    pub fn janssen(&self, section: &CrossSection) -> Option<(Janssen, Fit)> {
        let weight = self.bulk_density(section.area) * section.gravity;
        let length = section.area / section.perimeter;
        let silo = Janssen { weight, friction: section.friction, length, ratio: 1.0 };
        let surface = self.surface();
        let full: Vec<Strip> = self
            .rows()
            .iter()
            .filter(|row| row.ends[1] <= surface)
            .map(|row| Strip { depths: [surface - row.ends[1], surface - row.ends[0]], pressure: row.normal.mean })
            .collect();
        let fit = silo.fit(&full)?;
        Some((Janssen { ratio: fit.ratio, ..silo }, fit))
    }

    /// The table.
    pub fn table(&self, curve: Option<&Janssen>) -> String {
        let mut text =
            String::from("strip,from [m],to [m],depth [m],states,contacts,normal [Pa],deviation [Pa],shear [Pa]");
        text += if curve.is_some() { ",Janssen [Pa]\n" } else { "\n" };
        let surface = self.surface();
        for (k, row) in self.rows().iter().enumerate() {
            let [from, to] = row.ends;
            let Row { normal, shear, contacts, .. } = row;
            // Of a strip that the surface lies in, the part below it.
            let below = |level: f64| (surface - level).max(0.0);
            let janssen = curve.map_or(String::new(), |c| format!(",{}", c.mean_pressure([below(to), below(from)])));
            let depth = surface - 0.5 * (from + to);
            let (mean, deviation, n) = (normal.mean, normal.deviation, self.states());
            let _ = writeln!(text, "{k},{from},{to},{depth},{n},{contacts},{mean},{deviation},{shear}{janssen}");
        }
        text
    }
}

/// How large the avalanches of some runs are, in bins that double.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    /// Times that everything came to rest.
    pub rests: u64,
    /// Of these, with slides.
    pub with_slides: u64,
    /// Most slides of one.
    pub most: f64,
    slides: BTreeMap<i32, u64>,
    work: BTreeMap<i32, u64>,
}

impl Sizes {
    /// Adds the avalanches of a run, from the text of its `avalanches.csv`.
    pub fn add(&mut self, path: &Path, text: &str) -> Result<(), SeriesError> {
        let rows = Numbers::parse(path, text)?;
        let column = |name: &str| rows.column(name).unwrap_or_default();
        for (slides, work) in column("slides").into_iter().zip(column("friction work [J]")) {
            self.rests += 1;
            self.with_slides += u64::from(slides > 0.0);
            self.most = self.most.max(slides);
            for (bins, value) in [(&mut self.slides, slides), (&mut self.work, work)] {
                if value > 0.0 {
                    *bins.entry(value.log2().floor() as i32).or_default() += 1;
                }
            }
        }
        Ok(())
    }

    /// Decades between the least and the largest bin of the slides.
    pub fn decades(&self) -> f64 {
        let ends = self.slides.first_key_value().zip(self.slides.last_key_value());
        ends.map_or(0.0, |((first, _), (last, _))| f64::from(last + 1 - first) * 2f64.log10())
    }

    /// The table: how many there are in each bin, and their share over its width.
    pub fn table(&self) -> String {
        let mut text = String::from("quantity,from,to,number,density\n");
        for (quantity, bins) in [("slides", &self.slides), ("friction work [J]", &self.work)] {
            let total = bins.values().sum::<u64>().max(1) as f64;
            for (&k, n) in bins {
                let (from, to) = (2f64.powi(k), 2f64.powi(k + 1));
                let _ = writeln!(text, "{quantity},{from},{to},{n},{}", *n as f64 / total / (to - from));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn avalanches_go_into_bins_that_double() {
        let mut sizes = Sizes::default();
        let text = "step,slides,friction work [J]\n0,0.0,0.0\n1,1.0,0.25\n2,3.0,0.3\n3,2.0,1.0\n4,40.0,0.0\n";
        sizes.add(Path::new("a.csv"), text).unwrap();
        assert_eq!((sizes.rests, sizes.with_slides, sizes.most), (5, 4, 40.0));
        let table = sizes.table();
        assert!(table.contains("slides,1,2,1,0.25\nslides,2,4,2,0.25\nslides,32,64,1,0.0078125\n"), "{table}");
        assert!(table.contains("friction work [J],0.25,0.5,2,"), "{table}");
        assert!((sizes.decades() - 6.0 * 2f64.log10()).abs() < 1e-12);
    }
}
