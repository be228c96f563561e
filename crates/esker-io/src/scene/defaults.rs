//! Defaults put into a document: what a scene leaves out, written where it belongs.
//!
//! This part knows the tables of the format: it fills the defaults that are declared as a value ("1 m", "false",
//! "steady"). Those that follow from the scene are filled by [`build`](crate::build), through the same [`Place`].

use super::keys::{Key, Kind, Measure, Rule, Section};
use super::tables::{self, SCENE};
use esker::expression::Expression;
use toml_edit::{Array, InlineTable, Item, Table, Value};

/// A table of a document, under its own header or within a line.
pub(crate) enum Place<'a> {
    /// `[table]`, or the document itself.
    Table(&'a mut Table),
    /// `{ … }`.
    Inline(&'a mut InlineTable),
}

impl Place<'_> {
    /// Whether a key is given.
    pub fn has(&self, name: &str) -> bool {
        match self {
            Place::Table(table) => table.contains_key(name),
            Place::Inline(table) => table.contains_key(name),
        }
    }

    /// A text.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self {
            Place::Table(table) => table.get(name)?.as_str(),
            Place::Inline(table) => table.get(name)?.as_str(),
        }
    }

    /// Adds a key that is not given.
    pub fn add(&mut self, name: &str, value: Value) {
        if !self.has(name) {
            self.set(name, value);
        }
    }

    /// Adds a key, or replaces its value and keeps the comment behind it.
    pub fn set(&mut self, name: &str, mut value: Value) {
        let old = match self {
            Place::Table(table) => table.get(name).and_then(Item::as_value),
            Place::Inline(table) => table.get(name),
        };
        let decor = old.map(|old| old.decor().clone());
        match self {
            Place::Table(table) => {
                decor.into_iter().for_each(|decor| *value.decor_mut() = decor);
                table.insert(name, Item::Value(value));
            }
            Place::Inline(table) => {
                match decor {
                    Some(decor) => *value.decor_mut() = decor,
                    // The blank before the brace goes behind the new last value.
                    None => table.iter_mut().last().into_iter().for_each(|(_, last)| last.decor_mut().set_suffix("")),
                }
                table.insert(name, value);
            }
        }
    }

    /// The tables a key holds: one, or all of a list.
    pub fn tables(&mut self, name: &str) -> Vec<Place<'_>> {
        match self {
            Place::Table(table) => table.get_mut(name).map_or(vec![], of_item),
            Place::Inline(table) => table.get_mut(name).map_or(vec![], of_value),
        }
    }

    /// The named tables a key holds.
    pub fn named(&mut self, name: &str) -> Vec<(String, Place<'_>)> {
        let mut all = vec![];
        let entries: Box<dyn Iterator<Item = (String, Vec<Place>)>> = match self {
            Place::Table(table) => match table.get_mut(name) {
                Some(Item::Table(map)) => Box::new(map.iter_mut().map(|(k, v)| (k.to_string(), of_item(v)))),
                Some(Item::Value(Value::InlineTable(map))) => {
                    Box::new(map.iter_mut().map(|(k, v)| (k.to_string(), of_value(v))))
                }
                _ => return all,
            },
            Place::Inline(table) => match table.get_mut(name) {
                Some(Value::InlineTable(map)) => Box::new(map.iter_mut().map(|(k, v)| (k.to_string(), of_value(v)))),
                _ => return all,
            },
        };
        for (name, places) in entries {
            all.extend(places.into_iter().map(|place| (name.clone(), place)));
        }
        all
    }
}

fn of_item(item: &mut Item) -> Vec<Place<'_>> {
    match item {
        Item::Table(table) => vec![Place::Table(table)],
        Item::ArrayOfTables(tables) => tables.iter_mut().map(Place::Table).collect(),
        Item::Value(value) => of_value(value),
        Item::None => vec![],
    }
}

fn of_value(value: &mut Value) -> Vec<Place<'_>> {
    match value {
        Value::InlineTable(table) => vec![Place::Inline(table)],
        Value::Array(array) => array.iter_mut().flat_map(of_value).collect(),
        _ => vec![],
    }
}

/// A number as TOML with the fewest digits that read back to the same one.
pub(crate) fn number(x: f64) -> Value {
    format!("{x:?}").parse().unwrap_or_else(|_| Value::from(x))
}

/// A vector; two components in a planar scene.
pub(crate) fn vector(x: [f64; 3], planar: bool) -> Value {
    Value::Array(x[..if planar { 2 } else { 3 }].iter().map(|&x| number(x)).collect())
}

/// Adds every default that the tables declare as a value.
pub(crate) fn write_declared(root: &mut Table, planar: bool) {
    section(&mut Place::Table(root), &SCENE, planar);
}

fn section(place: &mut Place, of: &'static Section, planar: bool) {
    let word = of.tag.and_then(|tag| place.text(tag)).map(str::to_string);
    let given: Vec<&str> = of.keys.iter().map(|key| key.name).filter(|name| place.has(name)).collect();
    for key in of.keys {
        if given.contains(&key.name) {
            within(place, key.name, &key.kind, of, planar);
            continue;
        }
        let means = key.only_for.is_empty() || word.as_deref().is_some_and(|word| key.only_for.contains(&word));
        if means && follows_the_groups(key.name, &given, of) && !depends_on_others(key.name, of, planar) {
            literal(key, planar).into_iter().for_each(|value| place.add(key.name, value));
        }
    }
}

/// Goes on into the tables that a key holds.
fn within(place: &mut Place, name: &str, kind: &Kind, of: &'static Section, planar: bool) {
    // What `solver` of a stage does not say is taken from `[solver]`.
    if std::ptr::eq(of, &tables::run::STAGE) && name == "solver" {
        return;
    }
    match kind {
        Kind::Table(inner) => place.tables(name).iter_mut().for_each(|place| section(place, inner, planar)),
        Kind::Map(of) => {
            let Some(inner) = table_of(of) else { return };
            place.named(name).iter_mut().for_each(|(_, place)| section(place, inner, planar));
        }
        kind => {
            let Some(inner) = table_of(kind) else { return };
            place.tables(name).iter_mut().for_each(|place| section(place, inner, planar));
        }
    }
}

/// The section of the tables that a kind may hold.
fn table_of(kind: &Kind) -> Option<&'static Section> {
    match kind {
        Kind::Table(inner) => Some(inner),
        Kind::List(of, ..) | Kind::OneOrList(of) => table_of(of),
        Kind::Either(kinds) => kinds.iter().find_map(table_of),
        _ => None,
    }
}

/// Whether a key may stand beside those that are given.
fn follows_the_groups(name: &str, given: &[&str], of: &Section) -> bool {
    of.groups.iter().filter(|group| group.keys.contains(&name)).all(|group| match group.rule {
        Rule::ExactlyOne | Rule::AtMostOne => !group.keys.iter().any(|key| given.contains(key)),
        Rule::AtLeastOne => true,
        Rule::Needs => group.keys[0] != name || group.keys[1..].iter().any(|key| given.contains(key)),
    })
}

/// Defaults that look like values, but hold only if nothing else is said elsewhere.
fn depends_on_others(name: &str, of: &Section, planar: bool) -> bool {
    // A pair without `end` takes that of `[contact.default]` or of its preset.
    std::ptr::eq(of, &tables::contact::CONTACT) && name == "end"
        || std::ptr::eq(of, &SCENE) && name == "depth" && !planar
}

/// The default of a key as a value, if it is one.
fn literal(key: &Key, planar: bool) -> Option<Value> {
    value(key.default?, &key.kind, &key.measure, planar)
}

fn value(text: &str, kind: &Kind, measure: &Measure, planar: bool) -> Option<Value> {
    match kind {
        Kind::Bool => text.parse::<bool>().ok().map(Value::from),
        Kind::Count => text.parse::<i64>().ok().map(Value::from),
        Kind::Number => quantity(text, measure),
        Kind::NumberOr(word) => (text == *word).then(|| Value::from(text)),
        Kind::Choice(words) => words.iter().any(|(word, _)| *word == text).then(|| Value::from(text)),
        Kind::Vector => matches!(text, "0" | "none" | "at rest" | "the origin").then(|| vector([0.0; 3], planar)),
        Kind::List(_, 0, _) => (text == "none").then(|| Value::Array(Array::new())),
        // One number is a spin about z: enough in a planar scene only.
        Kind::Either(kinds) => {
            let fits = |kind: &&Kind| {
                planar || !kinds.iter().any(|k| matches!(k, Kind::Vector)) || matches!(kind, Kind::Vector)
            };
            kinds.iter().filter(fits).find_map(|kind| value(text, kind, measure, planar))
        }
        _ => None,
    }
}

/// A number, or an expression of the right dimension.
fn quantity(text: &str, measure: &Measure) -> Option<Value> {
    if let Ok(whole) = text.parse::<i64>() {
        return Some(Value::from(whole));
    }
    if let Ok(x) = text.parse::<f64>() {
        return Some(number(x));
    }
    let quantity = Expression::parse(text).and_then(|e| e.evaluate(|_| None, &[])).ok()?;
    let fits = quantity.dimension.is_none_or(|dimension| measure.dimensions.contains(&dimension));
    fits.then(|| Value::from(text))
}

/// Marks what was added: `# default` behind a key of its own, `# default: a, b` behind a line that got keys `a` and `b`.
pub(crate) fn mark(original: &Table, filled: &mut Table) {
    for (key, item) in filled.iter_mut() {
        match (original.get(key.get()), item) {
            (None, Item::Value(value)) => comment(value, "default"),
            (None, Item::Table(table)) => mark(&Table::new(), table),
            (Some(Item::Value(old)), Item::Value(new)) => {
                let mut names = vec![];
                additions(old, new, "", &mut names);
                if !names.is_empty() {
                    comment(new, &format!("default: {}", names.join(", ")));
                }
            }
            (Some(Item::Table(old)), Item::Table(new)) => mark(old, new),
            (Some(Item::ArrayOfTables(old)), Item::ArrayOfTables(new)) => {
                old.iter().zip(new.iter_mut()).for_each(|(old, new)| mark(old, new));
            }
            _ => {}
        }
    }
}

/// Names of the keys that a value got, and of those whose choice was left to the program.
fn additions(old: &Value, new: &Value, path: &str, names: &mut Vec<String>) {
    match (old, new) {
        (Value::InlineTable(old), Value::InlineTable(new)) => {
            for (name, value) in new.iter() {
                let path = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
                match old.get(name) {
                    None => names.push(path),
                    Some(before) => additions(before, value, &path, names),
                }
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            old.iter().zip(new.iter()).for_each(|(old, new)| additions(old, new, path, names));
        }
        (Value::String(old), new) if old.value() == "auto" && new.as_str() != Some("auto") => {
            names.push(if path.is_empty() { "auto".to_string() } else { path.to_string() });
        }
        _ => {}
    }
}

/// Adds to the comment behind a value, or begins one.
fn comment(value: &mut Value, text: &str) {
    let before = value.decor().suffix().and_then(|s| s.as_str()).unwrap_or_default().trim_end().to_string();
    let comment = if before.contains('#') { format!("{before}; {text}") } else { format!("  # {text}") };
    value.decor_mut().set_suffix(comment);
}
