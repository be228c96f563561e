//! Scenes: TOML text that says what to simulate.
//!
//! Reading takes two passes. This module is the first: from text to [`RawScene`], what was written, as typed structs
//! in SI units where every value knows its place in the file. The second, which resolves names and fills defaults,
//! builds on it and reports mistakes through [`RawScene::error_at`].
//!
//! Plain numbers are SI. Texts are [expressions](esker::expression) with units, checked for the dimension of their
//! key; they may use the variables of `[let]` by name or as `${name}`. Every key is declared once, in [`tables`]; the
//! reader, [`schema::json_schema`] and [`schema::markdown`] all follow these tables.
//!
//! ```
//! let text = r#"
//!     gravity = [0, 0, "-9.8 m/s^2"]
//!     let.size = "10 mm"
//!     material.glass.density = "2500 kg/m^3"
//!     [[grains]]
//!     name = "ball"
//!     material = "glass"
//!     radius = "size/2"
//!     fill = { method = "at", positions = [[0, 0, "3*size"]] }
//! "#;
//! let scene = esker_io::scene::read(text, "ball.toml", &["let.size=20 mm".to_string()])?;
//! assert_eq!(scene.grains[0].fill.positions.as_ref().unwrap()[0].z, 0.06);
//! # Ok::<(), esker_io::scene::SceneError>(())
//! ```

pub mod choice;
pub(crate) mod defaults;
mod error;
pub mod keys;
mod node;
mod overrides;
pub mod raw;
mod reader;
pub mod schema;
mod source;
pub mod tables;
mod variables;

#[cfg(test)]
mod tests;

pub use error::{Details, Origin, SceneError};
pub use raw::RawScene;
pub use source::{Location, Spanned};

use overrides::Override;
use reader::Reader;
use source::Source;
use toml_edit::Document;

/// Longest scene that is read \[bytes\].
const MAX_TEXT: usize = 64 << 20;

/// Reads a scene. Overrides are `path=value` texts, applied in order; an array table is addressed by name or index:
/// `let.orifice=0.1`, `stage.0.duration=2 s`, `wall.hopper.material=glass`.
///
/// The error is the first one: of the overrides, else in the order of the file. [`check`] gives all.
pub fn read(text: &str, file_name: &str, overrides: &[String]) -> Result<RawScene, SceneError> {
    check(text, file_name, overrides).map_err(|mut errors| errors.swap_remove(0))
}

/// Reads a scene and reports all its mistakes (a hundred at most), of overrides first, then in the order of the file.
/// The list is never empty.
pub fn check(text: &str, file_name: &str, overrides: &[String]) -> Result<RawScene, Vec<SceneError>> {
    let (scene, _) = check_and_keep(text, file_name, overrides)?;
    Ok(scene)
}

fn check_and_keep(
    text: &str,
    file_name: &str,
    overrides: &[String],
) -> Result<(RawScene, node::TableNode), Vec<SceneError>> {
    let mut source = Source::new(file_name, text, vec![]);
    if text.len() > MAX_TEXT {
        let message = format!("the scene is longer than {} MiB", MAX_TEXT >> 20);
        return Err(vec![SceneError::new(source.origin(0), message)]);
    }
    let document = Document::parse(text).map_err(|error| vec![syntax_error(&source, &error)])?;
    let mut changes = vec![];
    let mut normalised = document.clone().into_mut();
    // The original keeps the places of what is not overridden, the copy becomes the text as used.
    let mut root = document.into_table();
    for text in overrides {
        let mut change = Override::parse(text).map_err(|error| vec![error])?;
        change.apply(&mut root).map_err(|error| vec![error])?;
        change.apply(normalised.as_table_mut()).map_err(|error| vec![error])?;
        changes.push(change);
    }
    source.overrides = changes;

    let mut reader = Reader::new(&mut source, &root);
    let table = reader.scene(&root, &tables::SCENE);
    let mut errors = std::mem::take(&mut reader.errors);
    let variables = reader.into_variables();
    if !errors.is_empty() {
        errors.sort_by_key(SceneError::order);
        return Err(errors);
    }
    let scene = RawScene::take(&table, variables, source, normalised);
    Ok((scene, table))
}

/// A mistake of the TOML itself.
fn syntax_error(source: &Source, error: &toml_edit::TomlError) -> SceneError {
    let offset = error.span().map_or(source.text.len(), |span| span.start);
    let message = error.message().lines().collect::<Vec<_>>().join(", ");
    let mut told = SceneError::new(source.origin(offset), format!("this is not TOML: {message}"));
    let offset = match &told.details().origin {
        Origin::File { offset, .. } => *offset,
        Origin::Override { .. } => 0,
    };
    let start = source.text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
    let line = source::shorten(source.text[start..].lines().next().unwrap_or_default());
    told.details_mut().offending = Some(line).filter(|line| !line.is_empty());
    told
}
