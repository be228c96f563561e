//! `--set path=value`: values replaced on the command line before the scene is read.

use super::error::{Origin, SceneError};
use super::keys::Kind;
use super::source::shorten;
use super::tables::SCENE;
use toml_edit::{Item, Key, Table, TableLike, Value};

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

impl Step {
    pub fn text(&self) -> String {
        match self {
            Step::Key(name) => name.clone(),
            Step::Index(index) => index.to_string(),
        }
    }
}

/// A parsed `path=value`.
#[derive(Clone, Debug)]
pub(crate) struct Override {
    /// As it was given.
    pub text: String,
    path: Vec<String>,
    value: Value,
    /// The path with names of list entries replaced by their index; known once applied.
    pub steps: Vec<Step>,
}

impl Override {
    /// Reads `path=value`. The value is TOML; what is no TOML is a text, so that quotes can be left out.
    pub fn parse(text: &str) -> Result<Override, SceneError> {
        let error = |message: &str| SceneError::new(Origin::Override { text: text.to_string() }, message);
        let (path, value) = split(text).ok_or_else(|| error("an override is written `path=value`"))?;
        let keys = Key::parse(path.trim()).map_err(|_| error("the path is not names joined by dots"))?;
        let path: Vec<String> = keys.iter().map(|key| key.get().to_string()).collect();
        if path.is_empty() || path.iter().any(String::is_empty) {
            return Err(error("the path is not names joined by dots"));
        }
        let value = value.trim();
        let value = match value.parse::<Value>() {
            Ok(value) => value,
            Err(_) => match value.parse::<f64>() {
                Ok(number) if number.is_finite() => Value::from(number),
                _ => Value::from(value),
            },
        };
        Ok(Override { text: text.to_string(), path, value, steps: vec![] })
    }

    /// As `key = value`, for messages.
    pub fn statement(&self) -> String {
        format!("{} = {}", self.path.last().map_or("", String::as_str), self.value.to_string().trim())
    }

    fn error(&self, message: impl Into<String>) -> SceneError {
        SceneError::new(Origin::Override { text: self.text.clone() }, message)
    }

    /// Puts the value into a document, and notes where it went.
    pub fn apply(&mut self, root: &mut Table) -> Result<(), SceneError> {
        let top = &self.path[0];
        if let Some(Kind::List(..)) = SCENE.key(top).map(|key| key.kind)
            && !root.contains_key(top)
            && self.path.len() > 1
        {
            return Err(self.error(format!("the scene has no [[{top}]]")));
        }
        // What is named freely exists because it is named: a typing error would add one that nothing uses. (Pairs of
        // `[contact]` and walls of a stage's `motion` are checked against materials and walls.)
        if let [table, name, ..] = self.path.as_slice()
            && let Some((one, all)) = match table.as_str() {
                "let" => Some(("variable", "variables")),
                "material" => Some(("material", "materials")),
                _ => None,
            }
        {
            let known: Vec<String> = match root.get(table).and_then(Item::as_table_like) {
                Some(entries) => entries.iter().map(|(name, _)| name.to_string()).collect(),
                None => vec![],
            };
            if !known.contains(name) {
                return Err(self.error(format!("the scene has no {one} `{}`", shorten(name))).known(all, name, known));
            }
        }
        let mut steps = vec![];
        let mut at = Place::Table(root);
        for depth in 0..self.path.len() {
            let name = self.path[depth].as_str();
            let last = depth + 1 == self.path.len();
            at = match at {
                Place::Table(table) => {
                    steps.push(Step::Key(name.to_string()));
                    if last {
                        set(table, name, &self.value);
                        break;
                    }
                    if table.get(name).is_none() {
                        // A new `[table]` at the top, `{}` within an inline table: what its parent can hold.
                        let mut new = Table::new();
                        new.set_implicit(true);
                        table.insert(name, Item::Table(new));
                    }
                    let item = table.get_mut(name).expect("inserted just above");
                    Place::within(item).ok_or_else(|| self.no_table(depth))?
                }
                Place::List(list) => {
                    let index = self.find(&list, name, &self.path[depth - 1])?;
                    steps.push(Step::Index(index));
                    match list {
                        List::Tables(tables) if last => {
                            let kept = tables.len();
                            return Err(self.error(format!(
                                "one of {kept} tables cannot be replaced as a whole; name a key of it"
                            )));
                        }
                        List::Tables(tables) => Place::Table(tables.get_mut(index).expect("found just above")),
                        List::Array(array) => {
                            let value = array.get_mut(index).expect("found just above");
                            if last {
                                let decor = value.decor().clone();
                                *value = self.value.clone();
                                *value.decor_mut() = decor;
                                break;
                            }
                            Place::within_value(value).ok_or_else(|| self.no_table(depth))?
                        }
                    }
                }
            };
        }
        self.steps = steps;
        Ok(())
    }

    /// The path goes on where the document does not.
    fn no_table(&self, depth: usize) -> SceneError {
        let (name, next) = (shorten(&self.path[depth]), shorten(&self.path[depth + 1]));
        self.error(format!("`{name}` is no table or list, so it has no `{next}`"))
    }

    /// The entry of a list by index or by name.
    fn find(&self, list: &List, wanted: &str, list_name: &str) -> Result<usize, SceneError> {
        let names = list.names();
        if let Some(index) = names.iter().position(|name| name.as_deref() == Some(wanted)) {
            return Ok(index);
        }
        match wanted.parse::<usize>() {
            Ok(index) if index < names.len() => Ok(index),
            Ok(index) => {
                Err(self
                    .error(format!("`{list_name}` has {} entries, so no number {index}; the first is 0", names.len())))
            }
            Err(_) => {
                let error = self.error(format!("`{list_name}` has no entry named `{}`", shorten(wanted)));
                Err(error.known("names", wanted, names.into_iter().flatten()))
            }
        }
    }
}

/// Splits at the first `=` that is not within quotes.
fn split(text: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '=') => return Some((&text[..at], &text[at + 1..])),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
    }
    None
}

/// Sets a key and keeps the comment behind the old value.
fn set(table: &mut dyn TableLike, name: &str, value: &Value) {
    let mut value = value.clone();
    if let Some(old) = table.get(name).and_then(Item::as_value) {
        *value.decor_mut() = old.decor().clone();
    }
    table.insert(name, Item::Value(value));
}

enum Place<'a> {
    Table(&'a mut dyn TableLike),
    List(List<'a>),
}

enum List<'a> {
    Tables(&'a mut toml_edit::ArrayOfTables),
    Array(&'a mut toml_edit::Array),
}

impl<'a> Place<'a> {
    fn within(item: &'a mut Item) -> Option<Place<'a>> {
        match item {
            Item::Table(table) => Some(Place::Table(table)),
            Item::ArrayOfTables(tables) => Some(Place::List(List::Tables(tables))),
            Item::Value(value) => Place::within_value(value),
            Item::None => None,
        }
    }

    fn within_value(value: &'a mut Value) -> Option<Place<'a>> {
        match value {
            Value::InlineTable(table) => Some(Place::Table(table)),
            Value::Array(array) => Some(Place::List(List::Array(array))),
            _ => None,
        }
    }
}

impl List<'_> {
    /// The `name` of every entry that has one.
    fn names(&self) -> Vec<Option<String>> {
        let name = |table: &dyn TableLike| table.get("name").and_then(Item::as_str).map(str::to_string);
        match self {
            List::Tables(tables) => tables.iter().map(|table| name(table)).collect(),
            List::Array(array) => array.iter().map(|v| v.as_inline_table().and_then(|table| name(table))).collect(),
        }
    }
}
