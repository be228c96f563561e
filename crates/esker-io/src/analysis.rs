//! Stress, fabric, forces and chains of a state, as tables and for ParaView.
//!
//! | file | rows |
//! |---|---|
//! | `stress.csv`, `fabric.csv` | one for each cell |
//! | `forces.csv` | one for each bin of a distribution |
//! | `chains.csv` | one for each force chain |
//! | `contacts.csv` | one for each contact, of runs with the solver `quasistatic`: forces, slides and friction work so far |
//! | `chains.vtp`, `cells.vti` | the chains as lines, the cells with their tensors |
//!
//! Numbers are written with the fewest digits that read back to the same bits.

use crate::atomic::{self, Attempt, FileError};
use crate::frame::{SYMMETRIC, components, slid};
use crate::record::collisions::cell;
use crate::vti::ImageData;
use crate::vtk::{Array, PolyData, VtkError};
use esker::contact::visit::{self, Other};
use esker::math::Vec3;
use esker::measure::cells::Cells;
use esker::measure::chains::{self, Chain};
use esker::measure::fabric::{self, CellFabric};
use esker::measure::forces::{self, Directions, Forces};
use esker::measure::principal::{Principal, deviator, pressure};
use esker::measure::stress::{self, CellStress};
use esker::model::Model;
use esker::state::State;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Folder of the files, within that of a run.
pub const FOLDER: &str = "analysis";

/// All that is found of a state.
pub struct Analysis<'a> {
    model: &'a Model,
    state: &'a State,
    /// The cells.
    pub cells: Cells,
    /// Stress of each cell.
    pub stress: Vec<CellStress>,
    /// Contact network of each cell.
    pub fabric: Vec<CellFabric>,
    /// Stress of the whole box.
    pub whole_stress: CellStress,
    /// Contact network of the whole box.
    pub whole_fabric: CellFabric,
    /// Distributions over the contacts between grains.
    pub forces: Forces,
    /// Force chains, the longest first.
    pub chains: Vec<Chain>,
}

/// Why an analysis could not be written.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// The operating system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file for ParaView could not be written.
    #[error(transparent)]
    Vtk(#[from] VtkError),
}

impl<'a> Analysis<'a> {
    /// Of a state; chains follow the major stress within an angle \[degree\].
    pub fn of(model: &'a Model, state: &'a State, cells: Cells, angle: f64) -> Self {
        let whole = cells.undivided();
        Self {
            model,
            state,
            cells,
            stress: stress::of_cells(model, state, &cells),
            fabric: fabric::of_cells(model, state, &cells),
            whole_stress: stress::of_cells(model, state, &whole)[0],
            whole_fabric: fabric::of_cells(model, state, &whole)[0],
            forces: forces::distributions(model, state, &cells),
            chains: chains::find(model, state, &cells, angle),
        }
    }

    /// Writes all files into a folder, which is made if it is not there; returns their names.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>, AnalysisError> {
        std::fs::create_dir_all(folder).map_err(|e| FileError::new(folder, Attempt::Create, e))?;
        let mut written = Vec::new();
        for (name, text) in [
            ("stress.csv", self.stress_table()),
            ("fabric.csv", self.fabric_table()),
            ("forces.csv", self.forces_table()),
            ("chains.csv", self.chains_table()),
        ]
        .into_iter()
        .chain(self.has_slides().then(|| ("contacts.csv", self.contacts_table())))
        {
            let path = folder.join(name);
            atomic::write(&path, |w| w.write_all(text.as_bytes()))?;
            written.push(path);
        }
        let [lines, grid] = ["chains.vtp", "cells.vti"].map(|name| folder.join(name));
        self.write_chains(&lines)?;
        self.write_cells(&grid)?;
        written.extend([lines, grid]);
        Ok(written)
    }

    fn stress_table(&self) -> String {
        let mut text = format!("cell,{},volume [m^3],grains,solid fraction", vector("", " [m]"));
        let _ = write!(text, ",{},pressure [Pa],deviator [Pa]", tensor("", " [Pa]"));
        for k in 1..=3 {
            let _ = write!(text, ",sigma {k} [Pa],{}", vector(&format!("direction {k} "), ""));
        }
        let _ = writeln!(text, ",{}", tensor("kinetic ", " [Pa]"));
        let planar = self.model.planar;
        for (cell, s) in self.stress.iter().enumerate() {
            let _ = write!(text, "{cell}");
            numbers(&mut text, self.cells.centre(cell).to_array());
            numbers(&mut text, [self.cells.volume(), s.grains as f64, s.solid_fraction]);
            numbers(&mut text, components(&s.contact));
            numbers(&mut text, [pressure(s.contact, planar), deviator(s.contact, planar)]);
            let principal = Principal::of(s.contact, planar);
            for (value, direction) in principal.values.into_iter().zip(principal.directions) {
                numbers(&mut text, [value]);
                numbers(&mut text, direction.to_array());
            }
            numbers(&mut text, components(&s.kinetic));
            text.push('\n');
        }
        text
    }

    fn fabric_table(&self) -> String {
        let mut text = format!("cell,{},grains,contacts,wall contacts,coordination,rattlers,", vector("", " [m]"));
        text += "coordination without rattlers,mean overlap [r],mean normal force [N],";
        let _ = writeln!(text, "{},anisotropy,{}", tensor("", ""), vector("direction 1 ", ""));
        let planar = self.model.planar;
        for (cell, (f, mean)) in self.fabric.iter().zip(&self.forces.means).enumerate() {
            let _ = write!(text, "{cell}");
            numbers(&mut text, self.cells.centre(cell).to_array());
            numbers(&mut text, [f.grains as f64, f.fabric.count(), f.wall_contacts, f.coordination]);
            numbers(&mut text, [f.rattlers as f64, f.coordination_without_rattlers, f.overlap, *mean]);
            numbers(&mut text, components(&f.fabric.tensor()));
            numbers(&mut text, [f.fabric.anisotropy(planar)]);
            numbers(&mut text, Principal::of(f.fabric.tensor(), planar).directions[0].to_array());
            text.push('\n');
        }
        text
    }

    fn forces_table(&self) -> String {
        let forces = &self.forces;
        let mut text = String::from("quantity,from,to,number,density\n");
        for (quantity, histogram) in
            [("normal force over mean", &forces.normal), ("mobilised friction", &forces.mobilised)]
        {
            let total = histogram.total().max(1.0);
            for ([from, to], n) in histogram.bins() {
                let _ = writeln!(text, "{quantity},{from},{to},{n},{}", n / total / histogram.width);
            }
        }
        let quantity = match forces.directions {
            Directions::FromX => "direction of strong contacts from x [deg]",
            Directions::FromVertical(_) => "direction of strong contacts from the vertical [deg]",
        };
        for ([from, to], n) in forces.strong.bins() {
            let _ = writeln!(text, "{quantity},{from},{to},{n},{}", forces.strong_density([from, to], n));
        }
        let mut lengths = BTreeMap::new();
        self.chains.iter().for_each(|chain| *lengths.entry(chain.grains.len()).or_insert(0usize) += 1);
        for (length, n) in lengths {
            let share = n as f64 / self.chains.len() as f64;
            let _ = writeln!(text, "grains of a chain,{length},{length},{n},{share}");
        }
        text
    }

    fn chains_table(&self) -> String {
        let mut text = String::from("chain,grains,length [m],mean force [N],ids\n");
        for (k, chain) in self.chains.iter().enumerate() {
            let ids: Vec<String> = chain.grains.iter().map(|&i| self.state.particles.id[i].to_string()).collect();
            let (length, force) = (chain.length(), chain.mean_force());
            let _ = writeln!(text, "{k},{},{length},{force},{}", ids.len(), ids.join(" "));
        }
        text
    }

    /// Whether contacts have been followed from rest to rest.
    fn has_slides(&self) -> bool {
        !self.state.statics.avalanches.is_empty()
    }

    fn contacts_table(&self) -> String {
        let mut text = format!("first,second,wall,{}", vector("", " [m]"));
        text += ",normal force [N],tangential force [N],overlap [m],slides,friction work [J],friction work after Gavrilov [J]\n";
        let (model, id) = (self.model, &self.state.particles.id);
        visit::for_each(model, self.state, |c| {
            let _ = match c.other {
                Other::Grain(j) => write!(text, "{},{},", id[c.i], id[j]),
                Other::Wall(w) => write!(text, "{},,{}", id[c.i], cell(&model.walls[w].name)),
            };
            let slid = slid(self.state, &c);
            numbers(&mut text, c.point.to_array());
            numbers(&mut text, [c.normal_force, c.tangential_force(), c.overlap]);
            let _ = writeln!(text, ",{},{},{}", slid.times, slid.heat, slid.literal);
        });
        text
    }

    /// Lines through the grains of the chains; a grain has the mean force of its contacts in the chain.
    fn write_chains(&self, path: &Path) -> Result<(), VtkError> {
        let p = &self.state.particles;
        let points: Vec<Vec3> = self.chains.iter().flat_map(|chain| chain.points.iter().copied()).collect();
        let grains: Vec<usize> = self.chains.iter().flat_map(|chain| chain.grains.iter().copied()).collect();
        let forces: Vec<f64> = self.chains.iter().flat_map(force_at_grains).collect();
        let mut lines: Vec<Vec<usize>> = Vec::new();
        let mut next = 0;
        for chain in &self.chains {
            lines.push((next..next + chain.grains.len()).collect());
            next += chain.grains.len();
        }
        PolyData::points(&points)
            .time(self.state.time)
            .point_data("id", grains.iter().map(|&i| p.id[i]))
            .point_data("radius", grains.iter().map(|&i| p.radius(i)))
            .point_data("force", &forces)
            .polylines(&lines)
            .cell_data("grains", self.chains.iter().map(|chain| chain.grains.len() as i32))
            .cell_data("mean force", self.chains.iter().map(Chain::mean_force))
            .write(path)
    }

    fn write_cells(&self, path: &Path) -> Result<(), VtkError> {
        let planar = self.model.planar;
        let (stress, fabric) = (&self.stress, &self.fabric);
        let tensor = |name: &str, values: Vec<[f64; 6]>| Array::new(name, values).component_names(SYMMETRIC);
        ImageData::of(&self.cells)
            .time(self.state.time)
            .cell_data("grains", stress.iter().map(|s| s.grains as i32))
            .cell_data("solid fraction", stress.iter().map(|s| s.solid_fraction))
            .cell_array(tensor("stress", stress.iter().map(|s| components(&s.contact)).collect()))
            .cell_data("pressure", stress.iter().map(|s| pressure(s.contact, planar)))
            .cell_data("deviator", stress.iter().map(|s| deviator(s.contact, planar)))
            .cell_array(tensor("kinetic stress", stress.iter().map(|s| components(&s.kinetic)).collect()))
            .cell_data("velocity", stress.iter().map(|s| s.velocity))
            .cell_array(tensor("fabric", fabric.iter().map(|f| components(&f.fabric.tensor())).collect()))
            .cell_data("anisotropy", fabric.iter().map(|f| f.fabric.anisotropy(planar)))
            .cell_data("coordination", fabric.iter().map(|f| f.coordination))
            .write(path)
    }
}

/// Mean of the forces on both sides of each grain of a chain; of those at its ends the one there is \[N\].
fn force_at_grains(chain: &Chain) -> Vec<f64> {
    let forces = &chain.forces;
    let last = forces.len() - 1;
    (0..=forces.len()).map(|k| 0.5 * (forces[k.saturating_sub(1)] + forces[k.min(last)])).collect()
}

/// Names of the columns of a vector.
fn vector(before: &str, unit: &str) -> String {
    ["x", "y", "z"].map(|axis| format!("{before}{axis}{unit}")).join(",")
}

/// Names of the columns of a symmetric tensor.
fn tensor(before: &str, unit: &str) -> String {
    let names: Vec<String> = SYMMETRIC.iter().map(|name| format!("{before}{}{unit}", name.to_lowercase())).collect();
    names.join(",")
}

/// Appends cells to a row.
fn numbers<const N: usize>(text: &mut String, values: [f64; N]) {
    values.iter().for_each(|value| {
        let _ = write!(text, ",{value}");
    });
}
