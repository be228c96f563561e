//! The second pass over a scene: names become indices, defaults are filled in, grains are laid, the step is chosen.
//!
//! Everything that can be wrong is told at its place in the file.

mod collision_law;
mod filled;
mod grains;
mod hard;
mod laws;
mod normal_law;
mod output;
pub mod presets;
mod stages;
mod statics;
mod walls;

pub use filled::filled_text;
pub use output::{NamedProbe, OutputPlan};

use crate::scene::choice::{Collapse, SolverKind};
use crate::scene::raw::{RawCollapse, RawScene, RawSolver, RawStage};
use crate::scene::{Location, SceneError, Spanned};
use esker::advice::{Advice, SizeRange};
use esker::fill::FillReport;
use esker::model::Material;
use esker::simulation::Stage;
use esker::state::State;
use std::path::Path;

/// A scene, understood.
pub struct Scene {
    /// What it is.
    pub title: String,
    /// Its stages, each with its own model.
    pub stages: Vec<Stage>,
    /// The state at the start.
    pub state: State,
    /// Margin of the neighbour list where no stage says otherwise \[m\].
    pub skin: f64,
    /// What is written.
    pub output: OutputPlan,
    /// Advice on the step of each stage.
    pub advice: Vec<Advice>,
    /// Sizes of the kinds of grain.
    pub sizes: Vec<SizeRange>,
    /// What came of each fill, by the name of the grains.
    pub fills: Vec<(String, FillReport)>,
    /// What the user should know before a run.
    pub warnings: Vec<String>,
}

/// What the parts of this pass share.
struct Context<'a> {
    raw: &'a RawScene,
    folder: &'a Path,
    materials: Vec<Material>,
}

impl Context<'_> {
    fn error<T>(&self, at: impl Into<Location>, message: impl Into<String>) -> Result<T, SceneError> {
        Err(self.raw.error_at(at, message))
    }

    /// An error about a value: its statement, then `says`.
    fn wrong<T>(&self, at: impl Into<Location>, says: &str) -> Result<T, SceneError> {
        let at = at.into();
        Err(self.raw.error_at(at, self.raw.subject(at, says)))
    }

    /// Index of the material of a name.
    fn material(&self, name: &Spanned<String>) -> Result<u16, SceneError> {
        find(self.raw, name, "materials", self.materials.iter().map(|m| m.name.as_str())).map(|i| i as u16)
    }

    /// By which method a stage is computed.
    fn solver_kind(&self, stage: &RawStage) -> Spanned<SolverKind> {
        let of = |solver: &Option<RawSolver>| solver.as_ref().and_then(|s| s.kind);
        of(&stage.solver).or(of(&self.raw.solver)).unwrap_or(Spanned { value: SolverKind::Explicit, at: stage.at })
    }

    /// What a stage does against collisions without end, if the scene says so.
    fn collapse(&self, stage: &RawStage) -> Option<RawCollapse> {
        let of = |solver: &Option<RawSolver>| solver.as_ref().and_then(|s| s.collapse);
        of(&stage.solver).or(of(&self.raw.solver))
    }

    /// Whether some stage has soft contacts, so that every pair needs a law for them.
    fn is_soft(&self) -> bool {
        let mut stages = self.raw.stages.iter();
        let hands_over = |stage: &RawStage| self.collapse(stage).is_some_and(|c| c.by.value == Collapse::HandOver);
        let is_soft = |stage: &RawStage| self.solver_kind(stage).value != SolverKind::Event || hands_over(stage);
        self.raw.stages.is_empty() || stages.any(is_soft)
    }

    fn positive(&self, value: &Spanned<f64>) -> Result<f64, SceneError> {
        if value.value > 0.0 && value.value.is_finite() {
            Ok(value.value)
        } else {
            self.wrong(value, "must be above zero")
        }
    }

    fn not_negative(&self, value: &Spanned<f64>) -> Result<f64, SceneError> {
        if value.value >= 0.0 && value.value.is_finite() {
            Ok(value.value)
        } else {
            self.wrong(value, "must not be negative")
        }
    }
}

/// Position of a name in a list.
fn find<'n>(
    raw: &RawScene,
    name: &Spanned<String>,
    what: &str,
    known: impl Iterator<Item = &'n str> + Clone,
) -> Result<usize, SceneError> {
    known.clone().position(|k| k == name.value).ok_or_else(|| {
        // A wall of several parts has its name several times.
        let mut all: Vec<&str> = Vec::new();
        known.for_each(|name| {
            if !all.contains(&name) {
                all.push(name)
            }
        });
        raw.error_at(name, raw.subject(name, "is not defined")).known(what, name, all)
    })
}

/// Two things of one name would be mixed up.
fn unique<'n>(raw: &RawScene, what: &str, names: impl Iterator<Item = &'n Spanned<String>>) -> Result<(), SceneError> {
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        if seen.contains(&name.value.as_str()) {
            return Err(raw.error_at(name, raw.subject(name, &format!("is given to two {what}; names must differ"))));
        }
        seen.push(&name.value);
    }
    Ok(())
}

/// Understands a scene. Files it names are looked for in `folder`.
pub fn build(raw: &RawScene, folder: &Path) -> Result<Scene, SceneError> {
    unique(
        raw,
        "walls",
        raw.walls.iter().flat_map(|w| std::iter::once(&w.name).chain(w.gaps.iter().map(|g| &g.name))),
    )?;
    unique(raw, "kinds of grain", raw.grains.iter().map(|g| &g.name).chain(raw.feeds.iter().map(|f| &f.name)))?;
    unique(raw, "stages", raw.stages.iter().map(|s| &s.name))?;
    let context = Context { raw, folder, materials: laws::materials(raw)? };
    let kinds = grains::kinds(&context)?;
    let fill = grains::prepare(&context, &kinds)?;
    let laws = laws::tables(&context, &kinds, &fill.ranges)?;
    let skin = grains::skin(raw, &fill);
    // Most grains look no farther for near walls: a solver may lengthen the skin where they are fast.
    let walls = walls::walls(&context, 1.5 * fill.r_max() + skin)?;
    stages::assemble(&context, kinds, fill, laws, walls, skin)
}

/// Reads a scene file as it is written.
pub fn read(path: &Path, overrides: &[String]) -> Result<RawScene, LoadError> {
    let bytes = crate::atomic::read(path)?;
    let name = path.display().to_string();
    let text = String::from_utf8(bytes).map_err(|_| LoadError::NotText(name.clone()))?;
    Ok(crate::scene::read(&text, &name, overrides)?)
}

/// Reads and understands a scene file.
pub fn load(path: &Path, overrides: &[String]) -> Result<(RawScene, Scene), LoadError> {
    let raw = read(path, overrides)?;
    let scene = build(&raw, path.parent().unwrap_or(Path::new("")))?;
    Ok((raw, scene))
}

/// Why a scene cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("error: {0}")]
    File(#[from] crate::atomic::FileError),
    /// The file is no text.
    #[error("error: {0} is not a text file; a scene is TOML in UTF-8")]
    NotText(String),
    /// The scene is wrong.
    #[error("{0}")]
    Scene(#[from] SceneError),
}
