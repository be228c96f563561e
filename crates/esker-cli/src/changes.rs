//! What commands change in a scene before they use it.

use esker_io::build::{self, LoadError};
use std::path::Path;

/// Arguments that change a scene.
#[derive(clap::Args)]
pub struct Changes {
    /// Change a value of the scene, e.g. let.orifice="60 mm" or material.disc.density=1200
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Take this solver for all stages: explicit, event or quasistatic (the same as --set for solver.kind, of the stages too)
    #[arg(long, value_name = "NAME")]
    pub solver: Option<String>,
}

impl Changes {
    /// All of them as values to set: those given, and the solver, also of stages that name one themselves.
    pub fn of(&self, scene: &Path) -> Result<Vec<String>, LoadError> {
        let mut all = self.set.clone();
        let Some(solver) = &self.solver else { return Ok(all) };
        let raw = build::read(scene, &all)?;
        all.push(format!("solver.kind={solver}"));
        let own =
            raw.stages.iter().enumerate().filter(|(_, stage)| stage.solver.as_ref().is_some_and(|s| s.kind.is_some()));
        all.extend(own.map(|(k, _)| format!("stage.{k}.solver.kind={solver}")));
        Ok(all)
    }
}
