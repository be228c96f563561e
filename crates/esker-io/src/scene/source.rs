//! The text of a scene and places in it.

use super::error::{Origin, SceneError};
use super::overrides::Override;

/// Where a value was written. Small, and meaningful only together with its scene: see
/// [`RawScene::error_at`](super::RawScene::error_at).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// Bytes of the value.
    pub(crate) span: (u32, u32),
    /// Bytes of the whole `key = value`.
    pub(crate) statement: (u32, u32),
    /// Index of the section's label.
    pub(crate) section: u32,
    /// Index of the override it came from; then the bytes above have no meaning.
    pub(crate) replaced_by: Option<u32>,
}

impl Location {
    pub(crate) const START: Location = Location { span: (0, 0), statement: (0, 0), section: 0, replaced_by: None };

    /// Whether it is a part of the statement's value, such as one entry of a list.
    fn is_part(&self) -> bool {
        self.span.1 != self.statement.1
    }
}

/// A value and where it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub at: Location,
}

impl<T> Spanned<T> {
    /// The same place with another value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: f(self.value), at: self.at }
    }
}

impl<T> std::ops::Deref for Spanned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> From<&Spanned<T>> for Location {
    fn from(spanned: &Spanned<T>) -> Location {
        spanned.at
    }
}

/// The text, its file name, the overrides, and the labels of its sections.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub file: String,
    pub text: String,
    pub overrides: Vec<Override>,
    /// Labels such as `[[wall]] "hopper"`; the first is empty, for the top of the file.
    pub sections: Vec<String>,
}

/// Longest text shown in a message.
const SHOWN: usize = 72;

impl Source {
    pub fn new(file: &str, text: &str, overrides: Vec<Override>) -> Source {
        Source { file: file.to_string(), text: text.to_string(), overrides, sections: vec![String::new()] }
    }

    /// Line and column of a byte, both from 1; the column counts characters.
    pub fn origin(&self, offset: usize) -> Origin {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &self.text[..offset];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Origin::File { file: self.file.clone(), line, column, offset }
    }

    fn slice(&self, (from, to): (u32, u32)) -> &str {
        self.text.get(from as usize..to as usize).unwrap_or_default()
    }

    /// The `key = value` of a place on one line, shortened; empty if there is none.
    pub fn statement(&self, at: Location) -> String {
        match at.replaced_by {
            Some(index) => shorten(&self.overrides[index as usize].statement()),
            None => match self.slice(at.statement).split_once('=') {
                // Without the spaces that align it with its neighbours.
                Some((key, value)) => shorten(&format!("{} = {}", key.trim(), value.trim())),
                None => String::new(),
            },
        }
    }

    /// What a sentence about the value begins with: the statement, or the part of it that is meant.
    pub fn subject(&self, at: Location, key: &str) -> String {
        let statement = self.statement(at);
        if at.replaced_by.is_none() && at.is_part() {
            let part = shorten(self.slice(at.span));
            if !part.is_empty() {
                return format!("`{part}` in `{key}`");
            }
        }
        if statement.is_empty() { format!("`{key}`") } else { format!("`{statement}`") }
    }

    /// A mistake at a place, `inside` bytes into the value.
    pub fn error_inside(&self, at: Location, inside: usize, message: impl Into<String>) -> SceneError {
        let origin = match at.replaced_by {
            Some(index) => Origin::Override { text: self.overrides[index as usize].text.clone() },
            None => self.origin(at.span.0 as usize + inside),
        };
        let mut error = SceneError::new(origin, message);
        let statement = self.statement(at);
        let details = error.details_mut();
        details.section = self.sections.get(at.section as usize).filter(|label| !label.is_empty()).cloned();
        // The override line and the message may already show the text.
        if at.replaced_by.is_none() && !statement.is_empty() && !details.message.contains(&statement) {
            details.offending = Some(statement);
        }
        error
    }

    pub fn error(&self, at: Location, message: impl Into<String>) -> SceneError {
        self.error_inside(at, 0, message)
    }
}

/// On one line, at most [`SHOWN`] characters.
pub(crate) fn shorten(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default().trim_end();
    let cut: String = line.chars().take(SHOWN).collect();
    if cut.len() < text.trim().len() { format!("{}…", cut.trim_end()) } else { cut }
}
