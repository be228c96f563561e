//! What is wrong with a scene.

use std::fmt;

/// A mistake in a scene: what, where, with which text, and what to write instead. Prints as two lines:
///
/// ```text
/// error: unknown key `frction` in tangential
///   hopper.toml:14:12, in [contact.disc-steel]: `frction = 0.3`; known keys: law, friction (did you mean `friction`?)
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SceneError(Box<Details>);

/// The parts of a [`SceneError`].
#[derive(Clone, Debug, PartialEq)]
pub struct Details {
    /// What is wrong, one line.
    pub message: String,
    /// Where the text came from.
    pub origin: Origin,
    /// The table it stands in, as `[[grains]] "bed"`; `None` at the top of the file.
    pub section: Option<String>,
    /// The text that is wrong, one line, shortened.
    pub offending: Option<String>,
    /// What would have been understood: what it is (`keys`, `materials`), and all of it.
    pub known: Option<(String, Vec<String>)>,
    /// The known word that is most like the unknown one.
    pub suggestion: Option<String>,
    /// What to do.
    pub hint: Option<String>,
}

/// Where a text came from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// A place in the file; line and column count from 1, the column in characters.
    File {
        /// File name as it was given.
        file: String,
        /// Line.
        line: usize,
        /// Column.
        column: usize,
        /// Byte offset.
        offset: usize,
    },
    /// A `--set` of the command line.
    Override {
        /// Its text, `path=value`.
        text: String,
    },
}

impl SceneError {
    /// A mistake without further help.
    pub fn new(origin: Origin, message: impl Into<String>) -> SceneError {
        SceneError(Box::new(Details {
            message: message.into(),
            origin,
            section: None,
            offending: None,
            known: None,
            suggestion: None,
            hint: None,
        }))
    }

    /// Its parts.
    pub fn details(&self) -> &Details {
        &self.0
    }

    pub(crate) fn details_mut(&mut self) -> &mut Details {
        &mut self.0
    }

    /// With all that would have been understood, and the one of them most like `word`.
    pub fn known<S: Into<String>>(mut self, what: &str, word: &str, all: impl IntoIterator<Item = S>) -> SceneError {
        let all: Vec<String> = all.into_iter().map(Into::into).collect();
        self.0.suggestion = esker::expression::closest(word, all.iter().map(String::as_str)).map(str::to_string);
        self.0.known = Some((what.to_string(), all));
        self
    }

    /// With advice.
    pub fn hint(mut self, hint: impl Into<String>) -> SceneError {
        self.0.hint = Some(hint.into());
        self
    }

    /// Where it stands: command line before file, then by place.
    pub(crate) fn order(&self) -> (bool, usize) {
        match &self.0.origin {
            Origin::Override { .. } => (false, 0),
            Origin::File { offset, .. } => (true, *offset),
        }
    }
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let details = &*self.0;
        write!(f, "error: {}\n  ", details.message)?;
        match &details.origin {
            Origin::File { file, line, column, .. } => write!(f, "{file}:{line}:{column}")?,
            Origin::Override { text } => write!(f, "--set {text}")?,
        }
        if let Some(section) = &details.section {
            write!(f, ", in {section}")?;
        }
        if let Some(text) = &details.offending {
            write!(f, ": `{text}`")?;
        }
        match (&details.known, &details.suggestion) {
            (Some((what, all)), suggestion) => {
                match all.as_slice() {
                    [] => write!(f, "; there are no {what}")?,
                    all => write!(f, "; known {what}: {}", all.join(", "))?,
                }
                if let Some(word) = suggestion {
                    write!(f, " (did you mean `{word}`?)")?;
                }
            }
            (None, Some(word)) => write!(f, "; did you mean `{word}`?")?,
            (None, None) => {}
        }
        if let Some(hint) = &details.hint {
            write!(f, "; {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SceneError {}
