//! What was written: one struct for each table, numbers in SI, names not yet resolved, every value with its place.

mod contact;
mod grains;
mod run;
mod wall;

pub use contact::*;
pub use grains::*;
pub use run::*;
pub use wall::*;

use super::choice::{Axis, Choice};
use super::error::SceneError;
use super::node::{CHECKED, Content, TableNode};
use super::source::{Location, Source, Spanned};
use super::variables::Variables;
use esker::expression::Quantity;
use esker::math::Vec3;
use toml_edit::DocumentMut;

/// A scene as written, read by [`read`](super::read).
#[derive(Clone, Debug)]
pub struct RawScene {
    /// What it is.
    pub title: Option<Spanned<String>>,
    /// Whether it is a scene of discs in the x-y plane.
    pub planar: bool,
    /// Length of the discs of a planar scene \[m\].
    pub depth: Option<Spanned<f64>>,
    /// \[m/s²\]
    pub gravity: Option<Spanned<Vec3>>,
    /// Start of the random numbers.
    pub seed: Option<Spanned<u64>>,
    /// The variables of `[let]`, in order.
    pub variables: Vec<(String, Spanned<Quantity>)>,
    /// The box of the run.
    pub domain: Option<RawDomain>,
    /// Materials, in order.
    pub materials: Vec<RawMaterial>,
    /// Contact laws, in order.
    pub contacts: Vec<RawContact>,
    /// Walls, in order.
    pub walls: Vec<RawWall>,
    /// Grains at the start, in order.
    pub grains: Vec<RawGrains>,
    /// Grains that come in.
    pub feeds: Vec<RawFeed>,
    /// Where grains leave.
    pub removals: Vec<RawRemove>,
    /// Forces besides gravity.
    pub fields: Vec<RawField>,
    /// How the run is computed.
    pub solver: Option<RawSolver>,
    /// The parts of the run, in order.
    pub stages: Vec<RawStage>,
    /// What is written.
    pub output: Option<RawOutput>,
    source: Source,
    document: DocumentMut,
}

impl RawScene {
    pub(crate) fn take(t: &TableNode, variables: Variables, source: Source, document: DocumentMut) -> RawScene {
        let named = |name: &str| t.get(name).map_or(&[][..], |node| node.map());
        let _ = t.get("let"); // evaluated before everything else
        RawScene {
            title: t.text("title"),
            planar: t.bool("planar").is_some_and(|planar| planar.value),
            depth: t.number("depth"),
            gravity: t.vector("gravity"),
            seed: t.count("seed"),
            variables: variables.values.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
            domain: t.table("domain").map(RawDomain::read),
            materials: named("material")
                .iter()
                .filter_map(|(name, node)| Some(RawMaterial::read(name, node.table()?)))
                .collect(),
            contacts: named("contact")
                .iter()
                .filter_map(|(name, node)| Some(RawContact::read(name, node.table()?)))
                .collect(),
            walls: t.tables("wall", RawWall::read),
            grains: t.tables("grains", RawGrains::read),
            feeds: t.tables("feed", RawFeed::read),
            removals: t.tables("remove", RawRemove::read),
            fields: t.tables("field", RawField::read),
            solver: t.table("solver").map(RawSolver::read),
            stages: t.tables("stage", RawStage::read),
            output: t.table("output").map(RawOutput::read),
            source,
            document,
        }
    }

    /// A mistake found later, at the place of a value or table.
    ///
    /// ```
    /// let text = "[[grains]]\nname = \"bed\"\nmaterial = \"stel\"\nradius = 0.01\nfill = { method = \"random\", count = 1 }";
    /// let scene = esker_io::scene::read(text, "bed.toml", &[]).unwrap();
    /// let material = &scene.grains[0].material;
    /// let error = scene.error_at(material, scene.subject(material, "is not defined"));
    /// assert_eq!(
    ///     error.known("materials", material, ["glass", "steel"]).to_string(),
    ///     "error: `material = \"stel\"` is not defined\n  bed.toml:3:12, in [[grains]] \"bed\"; \
    ///      known materials: glass, steel (did you mean `steel`?)"
    /// );
    /// ```
    pub fn error_at(&self, at: impl Into<Location>, message: impl Into<String>) -> SceneError {
        self.source.error(at.into(), message)
    }

    /// A sentence about a value: its text as written, then `says`. For a table below its own header only `says`.
    pub fn subject(&self, at: impl Into<Location>, says: &str) -> String {
        match self.source.statement(at.into()) {
            statement if statement.is_empty() => says.to_string(),
            statement => format!("`{statement}` {says}"),
        }
    }

    /// Files the scene needs, as written: paths from its folder.
    pub fn input_files(&self) -> Vec<&str> {
        let meshes = self.walls.iter().filter_map(|wall| match &wall.geometry.value {
            RawGeometry::Mesh { file, .. } => Some(file.value.as_str()),
            _ => None,
        });
        let tables = self.grains.iter().filter_map(|grains| grains.fill.file.as_ref().map(|f| f.value.as_str()));
        meshes.chain(tables).collect()
    }

    /// The name of the file as it was given.
    pub fn file_name(&self) -> &str {
        &self.source.file
    }

    /// The document as used: the text with the overrides put in, comments kept.
    pub fn normalised_text(&self) -> String {
        self.document.to_string()
    }

    /// The document itself.
    pub(crate) fn document(&self) -> &DocumentMut {
        &self.document
    }
}

/// `[domain]`
#[derive(Clone, Debug, PartialEq)]
pub struct RawDomain {
    /// The table.
    pub at: Location,
    /// Axes with periodic faces.
    pub periodic: Vec<Spanned<Axis>>,
    /// Lowest corner \[m\].
    pub min: Spanned<Vec3>,
    /// Highest corner \[m\].
    pub max: Spanned<Vec3>,
}

impl RawDomain {
    fn read(t: &TableNode) -> RawDomain {
        let axis = |node: &super::node::Node| match &node.value {
            Content::Text(word) => Axis::from_word(word).map(|axis| node.spanned(axis)),
            _ => None,
        };
        RawDomain {
            at: t.at,
            periodic: t.list("periodic").iter().filter_map(axis).collect(),
            min: t.vector("min").expect(CHECKED),
            max: t.vector("max").expect(CHECKED),
        }
    }
}
