//! Walks a TOML document along the tables of keys. Every mistake is told at its place; what is left agrees with the
//! tables and becomes [`Node`]s.

mod values;

use super::error::SceneError;
use super::keys::{Key, Kind, Rule, Section};
use super::node::{Content, Entry, Node, TableNode};
use super::overrides::Step;
use super::source::{Location, Source, Spanned, shorten};
use super::variables::{Definition, Trouble, Variables, Written};
use esker::expression::{self, Expression, ExpressionError, Quantity};
use std::cell::Cell;
use toml_edit::{ArrayOfTables, Item, TableLike, Value};

/// Mistakes that are told at most.
const MAX_ERRORS: usize = 100;

/// What stands behind a key.
#[derive(Clone, Copy)]
enum Given<'a> {
    Value(&'a Value),
    Table(&'a dyn TableLike),
    Tables(&'a ArrayOfTables),
    Nothing,
}

impl<'a> From<&'a Item> for Given<'a> {
    fn from(item: &'a Item) -> Given<'a> {
        match item {
            Item::Value(value) => value.into(),
            Item::Table(table) => Given::Table(table),
            Item::ArrayOfTables(tables) => Given::Tables(tables),
            Item::None => Given::Nothing,
        }
    }
}

impl<'a> From<&'a Value> for Given<'a> {
    fn from(value: &'a Value) -> Given<'a> {
        match value {
            Value::InlineTable(table) => Given::Table(table),
            value => Given::Value(value),
        }
    }
}

impl Given<'_> {
    fn describe(&self) -> &'static str {
        match self {
            Given::Value(Value::String(_)) => "a text",
            Given::Value(Value::Integer(_)) => "a whole number",
            Given::Value(Value::Float(_)) => "a number",
            Given::Value(Value::Boolean(_)) => "true or false",
            Given::Value(Value::Datetime(_)) => "a date",
            Given::Value(Value::Array(_)) => "a list",
            Given::Value(Value::InlineTable(_)) | Given::Table(_) => "a table",
            Given::Tables(_) => "a list of tables",
            Given::Nothing => "nothing",
        }
    }

    /// Whether a kind can be told apart from others by what this is.
    fn fits(&self, kind: &Kind) -> bool {
        match (kind, self) {
            (Kind::Bool, Given::Value(Value::Boolean(_))) => true,
            (Kind::Count | Kind::Number | Kind::NumberOr(_), Given::Value(value)) => {
                matches!(value, Value::Integer(_) | Value::Float(_) | Value::String(_))
            }
            (Kind::Text | Kind::Choice(_) | Kind::Formula(_), Given::Value(Value::String(_))) => true,
            (Kind::Vector | Kind::Row(_), Given::Value(Value::Array(_))) => true,
            (Kind::List(..), Given::Value(Value::Array(_)) | Given::Tables(_)) => true,
            (Kind::Table(_) | Kind::Map(_) | Kind::Variables, Given::Table(_)) => true,
            (Kind::OneOrList(of), given) => given.fits(of) || given.fits(&Kind::List(of, 0, 0)),
            (Kind::Either(kinds), given) => kinds.iter().any(|kind| given.fits(kind)),
            _ => false,
        }
    }
}

pub(crate) struct Reader<'a> {
    pub source: &'a mut Source,
    pub errors: Vec<SceneError>,
    variables: Variables,
    planar: bool,
    path: Vec<Step>,
    /// Index of the label of the current section, and how much of the path it covers.
    section: u32,
    section_depth: usize,
}

impl<'a> Reader<'a> {
    /// Reads `[let]` and `planar` first, since all other values depend on them.
    pub fn new(source: &'a mut Source, root: &dyn TableLike) -> Reader<'a> {
        let planar = root.get("planar").and_then(Item::as_bool).unwrap_or(false);
        let mut reader = Reader {
            source,
            errors: vec![],
            variables: Variables::default(),
            planar,
            path: vec![],
            section: 0,
            section_depth: 0,
        };
        if let Some(table) = root.get("let").and_then(Item::as_table_like) {
            reader.path.push(Step::Key("let".to_string()));
            let outside = reader.enter("[let]".to_string());
            reader.read_variables(table);
            reader.leave(outside);
            reader.path.pop();
        }
        reader
    }

    /// The whole document.
    pub fn scene(&mut self, root: &dyn TableLike, section: &'static Section) -> TableNode {
        self.table(root, section, Location::START)
    }

    pub fn into_variables(self) -> Variables {
        self.variables
    }

    fn push(&mut self, error: SceneError) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(error);
        }
    }

    fn tell(&mut self, at: Location, message: impl Into<String>) {
        let error = self.source.error(at, message);
        self.push(error);
    }

    fn enter(&mut self, label: String) -> (u32, usize) {
        let outside = (self.section, self.section_depth);
        self.source.sections.push(label);
        (self.section, self.section_depth) = (self.source.sections.len() as u32 - 1, self.path.len());
        outside
    }

    fn leave(&mut self, outside: (u32, usize)) {
        (self.section, self.section_depth) = outside;
    }

    /// ` in tangential`, for tables within a section.
    fn within(&self) -> String {
        let inner: Vec<String> = self.path[self.section_depth..].iter().map(Step::text).collect();
        if inner.is_empty() { String::new() } else { format!(" in {}", inner.join(".")) }
    }

    /// The place of something with these bytes; of its parent, if it has none.
    fn locate(
        &self,
        span: Option<std::ops::Range<usize>>,
        statement: Option<(u32, u32)>,
        parent: Location,
    ) -> Location {
        let path = self.path.as_slice();
        let replaced_by =
            self.source.overrides.iter().rposition(|change| {
                path.starts_with(&change.steps) || (span.is_none() && change.steps.starts_with(path))
            });
        let span = span.map_or(parent.span, |span| (span.start as u32, span.end as u32));
        let replaced_by = replaced_by.map(|index| index as u32);
        Location { span, statement: statement.unwrap_or(span), section: self.section, replaced_by }
    }

    /// The place of the value of a key, whose statement begins with the key.
    fn locate_entry(&self, table: &dyn TableLike, name: &str, item: &Item, parent: Location) -> Location {
        let span = item.span();
        let key = table.key(name).and_then(|key| key.span());
        let statement = match (item, &key, &span) {
            (Item::Value(_), Some(key), Some(value)) if key.start < value.end => (key.start as u32, value.end as u32),
            _ => (0, 0),
        };
        self.locate(span.or(key), Some(statement), parent)
    }

    fn read_variables(&mut self, table: &dyn TableLike) {
        let mut definitions = vec![];
        for (name, item) in table.iter() {
            self.path.push(Step::Key(name.to_string()));
            let at = self.locate_entry(table, name, item, Location::START);
            self.path.pop();
            if expression::is_reserved(name) {
                self.tell(at, format!("`{name}` is a function or constant and cannot be a variable"));
                continue;
            }
            if !expression::is_variable_name(name) {
                let error = self.source.error(at, format!("`{name}` cannot be the name of a variable"));
                let better: String = name.chars().map(|c| if c == '-' { '_' } else { c }).collect();
                self.push(match expression::is_variable_name(&better) {
                    true => error.hint(format!("`-` would be a minus in expressions; write `{better}`")),
                    false => error.hint("a name is made of letters, digits and `_`"),
                });
                continue;
            }
            let (text, written) = match item {
                Item::Value(Value::Integer(value)) => {
                    (value.value().to_string(), Written::Number(Quantity::plain(*value.value() as f64)))
                }
                Item::Value(Value::Float(value)) if value.value().is_finite() => {
                    (value.value().to_string(), Written::Number(Quantity::plain(*value.value())))
                }
                Item::Value(Value::String(text)) => match Expression::parse(text.value()) {
                    Ok(expression) => (text.value().clone(), Written::Expression(expression)),
                    Err(error) => {
                        self.tell_expression(at, error);
                        (String::new(), Written::Wrong)
                    }
                },
                _ => {
                    let subject = self.source.subject(at, name);
                    self.tell(at, format!("{subject} must be a finite number, or a text with a unit"));
                    (String::new(), Written::Wrong)
                }
            };
            definitions.push(Definition { name: name.to_string(), at, text, written });
        }
        let mut troubles = vec![];
        self.variables = Variables::evaluate(&definitions, |at, trouble| troubles.push((at, trouble)));
        for (at, trouble) in troubles {
            match trouble {
                Trouble::Expression(error) => self.tell_expression(at, error),
                Trouble::Circle(names) => {
                    let way = names.join(" -> ");
                    self.tell(at, format!("the variable `{}` depends on itself: {way}", names[0]));
                }
            }
        }
    }

    fn tell_expression(&mut self, at: Location, error: ExpressionError) {
        // Without escapes the text stands in the file as it is, one quote after the start of the value.
        let (from, to) = (at.span.0 as usize + 1, (at.span.1 as usize).saturating_sub(1));
        let verbatim = self.source.text.get(from..to) == Some(error.text.as_str());
        let inside = if verbatim { error.offset + 1 } else { 0 };
        let mut told = self.source.error_inside(at, inside, error.message);
        let details = told.details_mut();
        details.suggestion = error.suggestion;
        if !error.known.is_empty() {
            let what = if details.message.starts_with("unknown function") { "functions" } else { "variables" };
            details.known = Some((what.to_string(), error.known));
        }
        self.push(told);
    }

    fn table(&mut self, table: &dyn TableLike, section: &'static Section, at: Location) -> TableNode {
        let tag = section.tag.and_then(|tag| Some((tag, table.get(tag)?.as_str()?)));
        let mut entries: Vec<Entry> = vec![];
        for (name, item) in table.iter() {
            let Some(key) = section.key(name) else {
                self.path.push(Step::Key(name.to_string()));
                let mut at = self.locate_entry(table, name, item, at);
                self.path.pop();
                if let Some(span) = table.key(name).and_then(|key| key.span()) {
                    at.span = (span.start as u32, span.end as u32);
                }
                let error = self.source.error(at, format!("unknown key `{}`{}", shorten(name), self.within()));
                self.push(error.known("keys", name, section.keys.iter().map(|key| key.name)));
                continue;
            };
            self.path.push(Step::Key(name.to_string()));
            let at = self.locate_entry(table, name, item, at);
            if let Some((tag, word)) = tag
                && !means_something(key, section, word)
            {
                let message = format!("`{name}` has no meaning with `{tag} = \"{word}\"`");
                let error = self.source.error(at, message);
                let meant = section.keys.iter().filter(|key| means_something(key, section, word));
                self.push(error.known("keys", name, meant.map(|key| key.name)));
            } else if let Some(value) = self.value(key, &key.kind, item.into(), at) {
                entries.push(Entry { name: key.name, node: Node { at, value }, taken: Cell::new(false) });
            }
            self.path.pop();
        }
        for key in section.keys.iter().filter(|key| key.required && !table.contains_key(key.name)) {
            let needed = key.only_for.is_empty() || tag.is_some_and(|(_, word)| key.only_for.contains(&word));
            if needed {
                let error = self.source.error(at, format!("`{}` is missing{}", key.name, self.within()));
                self.push(error.hint(format!("for example `{} = {}`", key.name, key.example)));
            }
        }
        for group in section.groups {
            self.group(table, group.rule, group.keys, at);
        }
        TableNode { section, at, entries }
    }

    fn group(&mut self, table: &dyn TableLike, rule: Rule, keys: &[&str], at: Location) {
        let given: Vec<&str> = keys.iter().copied().filter(|key| table.contains_key(key)).collect();
        let (within, all) = (self.within(), keys.join(", "));
        // The place of a key that is too much, or of the table where one is missing.
        let place = |reader: &mut Self, name: &str| {
            let item = table.get(name).unwrap_or(&Item::None);
            reader.path.push(Step::Key(name.to_string()));
            let at = reader.locate_entry(table, name, item, at);
            reader.path.pop();
            at
        };
        match (rule, given.as_slice()) {
            (Rule::ExactlyOne, []) => self.tell(at, format!("exactly one of {all} is needed{within}")),
            (Rule::AtLeastOne, []) => self.tell(at, format!("at least one of {all} is needed{within}")),
            (Rule::ExactlyOne | Rule::AtMostOne, [first, second, ..]) => {
                let at = place(self, second);
                let error = self.source.error(at, format!("`{first}` and `{second}` exclude each other{within}"));
                self.push(error.hint(format!("give one of {all}")));
            }
            (Rule::Needs, [only]) if *only == keys[0] => {
                let at = place(self, only);
                self.tell(at, format!("`{only}` has no meaning without `{}`{within}", keys[1..].join("` or `")));
            }
            _ => {}
        }
    }

    fn value(&mut self, key: &Key, kind: &Kind, given: Given, at: Location) -> Option<Content> {
        match (kind, given) {
            (Kind::Bool, Given::Value(Value::Boolean(value))) => Some(Content::Bool(*value.value())),
            (Kind::Count, Given::Value(value)) if given.fits(kind) => self.count(key, value, at),
            (Kind::NumberOr(word), Given::Value(Value::String(text))) if text.value() == word => Some(Content::Word),
            (Kind::Number | Kind::NumberOr(_), Given::Value(value)) if given.fits(kind) => {
                self.number(key.name, key.measure, key.bound, value, at).map(Content::Number)
            }
            (Kind::Vector, Given::Value(Value::Array(array))) => self.vector(key, array, at).map(Content::Vector),
            (Kind::Text, Given::Value(Value::String(text))) => self.text(key, text.value(), at).map(Content::Text),
            (Kind::Choice(choices), Given::Value(Value::String(word))) => {
                let word = word.value();
                if choices.iter().any(|(known, _)| known == word) {
                    return Some(Content::Text(word.clone()));
                }
                let message = format!("unknown {} `{}`{}", key.name, shorten(word), self.within_parent());
                let error = self.source.error(at, message);
                self.push(error.known("choices", word, choices.iter().map(|(known, _)| *known)));
                None
            }
            (Kind::Formula(slots), Given::Value(Value::String(text))) => self.formula(text.value(), slots, at),
            (Kind::Table(section), Given::Table(table)) => {
                let outside = (self.path.len() == 1).then(|| self.enter(format!("[{}]", key.name)));
                let at = Location { section: self.section, ..at };
                let read = self.table(table, section, at);
                outside.into_iter().for_each(|outside| self.leave(outside));
                Some(Content::Table(read))
            }
            (Kind::Map(of), Given::Table(table)) => self.map(key, of, table, at),
            (Kind::Variables, Given::Table(_)) => Some(Content::Bool(true)), // read before everything else
            (Kind::List(of, least, most), Given::Value(Value::Array(array))) => self.list(
                key,
                of,
                array.iter().map(|value| (value.span(), value.into())).collect(),
                at,
                (*least, *most),
            ),
            (Kind::List(of, least, most), Given::Tables(tables)) => {
                let entries = tables.iter().map(|table| (table.span(), Given::Table(table))).collect();
                self.list(key, of, entries, at, (*least, *most))
            }
            (Kind::OneOrList(of), Given::Table(_)) => {
                let value = self.value(key, of, given, at)?;
                Some(Content::List(vec![Node { at, value }]))
            }
            (Kind::OneOrList(of), _) if given.fits(kind) => self.value(key, &Kind::List(of, 0, usize::MAX), given, at),
            (Kind::Row(fields), Given::Value(Value::Array(array))) => self.row(key, fields, array, at),
            (Kind::Either(kinds), _) if given.fits(kind) => {
                let fitting = kinds.iter().find(|kind| given.fits(kind))?;
                self.value(key, fitting, given, at)
            }
            _ => {
                let subject = self.source.subject(at, key.name);
                let expected = kind.describe(&key.measure);
                self.tell(at, format!("{subject} is {}, {expected} was expected", given.describe()));
                None
            }
        }
    }

    /// ` in normal`, for a key of a table within a section.
    fn within_parent(&self) -> String {
        let end = self.path.len().saturating_sub(1).max(self.section_depth);
        let inner: Vec<String> = self.path[self.section_depth..end].iter().map(Step::text).collect();
        if inner.is_empty() { String::new() } else { format!(" in {}", inner.join(".")) }
    }

    fn map(&mut self, key: &Key, of: &Kind, table: &dyn TableLike, at: Location) -> Option<Content> {
        let mut entries = vec![];
        for (name, item) in table.iter() {
            self.path.push(Step::Key(name.to_string()));
            let outside = (self.path.len() == 2).then(|| self.enter(format!("[{}.{}]", key.name, shorten(name))));
            let at = self.locate_entry(table, name, item, at);
            if let Some(value) = self.value(key, of, item.into(), at) {
                entries.push((Spanned { value: name.to_string(), at }, Node { at, value }));
            }
            outside.into_iter().for_each(|outside| self.leave(outside));
            self.path.pop();
        }
        Some(Content::Map(entries))
    }

    fn list(
        &mut self,
        key: &Key,
        of: &Kind,
        entries: Vec<(Option<std::ops::Range<usize>>, Given)>,
        at: Location,
        (least, most): (usize, usize),
    ) -> Option<Content> {
        let length = entries.len();
        if length < least || length > most {
            let wanted = match (least, most) {
                (least, most) if least == most => format!("{least} were expected"),
                (least, usize::MAX) => format!("at least {least} were expected"),
                (least, most) => format!("{least} to {most} were expected"),
            };
            let count = if length == 1 { "1 entry".to_string() } else { format!("{length} entries") };
            self.tell(at, format!("{} has {count}, {wanted}", self.source.subject(at, key.name)));
            return None;
        }
        if matches!(of, Kind::Formula(_)) && length == 2 && !self.planar {
            self.tell_flat(key, at);
            return None;
        }
        let mut nodes = vec![];
        for (index, (span, given)) in entries.into_iter().enumerate() {
            self.path.push(Step::Index(index));
            let name = match given {
                Given::Table(table) => {
                    table.get("name").and_then(Item::as_str).map(|name| format!("{:?}", shorten(name)))
                }
                _ => None,
            };
            let label = || format!("[[{}]] {}", key.name, name.unwrap_or_else(|| index.to_string()));
            let labelled = self.path.len() == 2 && matches!(of, Kind::Table(_));
            let outside = labelled.then(|| self.enter(label()));
            let at = self.locate(span, Some(at.statement), at);
            if let Some(value) = self.value(key, of, given, at) {
                nodes.push(Node { at, value });
            }
            outside.into_iter().for_each(|outside| self.leave(outside));
            self.path.pop();
        }
        (nodes.len() == length).then_some(Content::List(nodes))
    }
}

/// Whether a key has a meaning with this choice of the tag. A choice that does not exist is told at the tag.
fn means_something(key: &Key, section: &Section, word: &str) -> bool {
    let exists = section.keys.iter().any(|key| match key.kind {
        Kind::Choice(choices) if Some(key.name) == section.tag => choices.iter().any(|(known, _)| *known == word),
        _ => false,
    });
    !exists || key.only_for.is_empty() || key.only_for.contains(&word)
}
