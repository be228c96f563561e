//! Words that a user chooses from.

use esker::expression::closest;

/// A word that is not among those known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("known {what}: {known}{hint}")]
pub struct Unknown {
    what: &'static str,
    known: String,
    hint: String,
}

/// A choice by a word.
pub trait Choice: Copy + PartialEq + Sized + 'static {
    /// What is chosen, for messages: `maps`.
    const WHAT: &'static str;
    /// All there are, by their words.
    const ALL: &'static [(&'static str, Self)];

    /// The one that a word means.
    fn choose(word: &str) -> Result<Self, Unknown> {
        let found = Self::ALL.iter().find(|(name, _)| *name == word);
        found.map(|(_, one)| *one).ok_or_else(|| Unknown {
            what: Self::WHAT,
            known: Self::ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "),
            hint: hint(word, Self::ALL.iter().map(|(name, _)| *name)),
        })
    }

    /// Its word.
    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, one)| *one == self).map_or("", |(name, _)| name)
    }
}

/// `(did you mean …?)`, or nothing.
pub fn hint<'a>(word: &str, all: impl IntoIterator<Item = &'a str>) -> String {
    closest(word, all).map(|close| format!(" (did you mean `{close}`?)")).unwrap_or_default()
}
