//! A scene that agrees with the tables of keys: the reader makes it, the typed structs are taken from it.

use super::choice::Choice;
use super::keys::Section;
use super::source::{Location, Spanned};
use esker::expression::{Program, Quantity};
use esker::math::Vec3;
use std::cell::Cell;

/// Why a key marked as required can be taken without asking.
pub(crate) const CHECKED: &str = "the reader has told missing keys";

#[derive(Debug)]
pub(crate) struct Node {
    pub at: Location,
    pub value: Content,
}

#[derive(Debug)]
pub(crate) enum Content {
    Bool(bool),
    Count(u64),
    Number(Quantity),
    /// The word that may stand for a number.
    Word,
    Vector(Vec3),
    Text(String),
    Formula(Program),
    List(Vec<Node>),
    Table(TableNode),
    Map(Vec<(Spanned<String>, Node)>),
}

#[derive(Debug)]
pub(crate) struct TableNode {
    pub section: &'static Section,
    pub at: Location,
    pub entries: Vec<Entry>,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub name: &'static str,
    pub node: Node,
    /// Whether it was taken; a test asks this of every key of the format.
    pub taken: Cell<bool>,
}

impl std::fmt::Debug for Section {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl TableNode {
    pub fn get(&self, name: &str) -> Option<&Node> {
        debug_assert!(self.section.key(name).is_some(), "no key `{name}` in {}", self.section.name);
        let entry = self.entries.iter().find(|entry| entry.name == name)?;
        entry.taken.set(true);
        Some(&entry.node)
    }

    fn take<T>(&self, name: &str, from: impl Fn(&Content) -> Option<T>) -> Option<Spanned<T>> {
        let node = self.get(name)?;
        Some(Spanned { value: from(&node.value)?, at: node.at })
    }

    pub fn bool(&self, name: &str) -> Option<Spanned<bool>> {
        self.take(name, |content| if let Content::Bool(value) = content { Some(*value) } else { None })
    }

    pub fn count(&self, name: &str) -> Option<Spanned<u64>> {
        self.take(name, Content::count)
    }

    pub fn quantity(&self, name: &str) -> Option<Spanned<Quantity>> {
        self.take(name, Content::quantity)
    }

    pub fn number(&self, name: &str) -> Option<Spanned<f64>> {
        self.take(name, Content::number)
    }

    pub fn vector(&self, name: &str) -> Option<Spanned<Vec3>> {
        self.take(name, Content::vector)
    }

    pub fn text(&self, name: &str) -> Option<Spanned<String>> {
        self.take(name, Content::text)
    }

    pub fn choice<C: Choice>(&self, name: &str) -> Option<Spanned<C>> {
        self.take(name, |content| content.text().and_then(|word| C::from_word(&word)))
    }

    pub fn table(&self, name: &str) -> Option<&TableNode> {
        self.get(name)?.table()
    }

    /// The entries of a list; none if it is not given.
    pub fn list(&self, name: &str) -> &[Node] {
        self.get(name).map_or(&[], Node::list)
    }

    /// A struct for each table of a list.
    pub fn tables<T>(&self, name: &str, read: impl Fn(&TableNode) -> T) -> Vec<T> {
        self.list(name).iter().filter_map(Node::table).map(read).collect()
    }

    /// A list of values as a whole; `None` if it is not given.
    pub fn values<T>(&self, name: &str, from: impl Fn(&Content) -> Option<T>) -> Option<Spanned<Vec<T>>> {
        let node = self.get(name)?;
        Some(Spanned { value: node.list().iter().filter_map(|node| from(&node.value)).collect(), at: node.at })
    }

    /// A list of texts, each with its place; `None` if it is not given.
    pub fn names(&self, name: &str) -> Option<Vec<Spanned<String>>> {
        let node = self.get(name)?;
        let one = |node: &Node| Some(Spanned { value: node.value.text()?, at: node.at });
        Some(node.list().iter().filter_map(one).collect())
    }
}

impl Node {
    pub fn table(&self) -> Option<&TableNode> {
        if let Content::Table(table) = &self.value { Some(table) } else { None }
    }

    pub fn list(&self) -> &[Node] {
        if let Content::List(nodes) = &self.value { nodes } else { &[] }
    }

    pub fn map(&self) -> &[(Spanned<String>, Node)] {
        if let Content::Map(entries) = &self.value { entries } else { &[] }
    }

    pub fn spanned<T>(&self, value: T) -> Spanned<T> {
        Spanned { value, at: self.at }
    }
}

impl Content {
    pub fn count(&self) -> Option<u64> {
        if let Content::Count(value) = self { Some(*value) } else { None }
    }

    pub fn quantity(&self) -> Option<Quantity> {
        if let Content::Number(value) = self { Some(*value) } else { None }
    }

    pub fn number(&self) -> Option<f64> {
        self.quantity().map(|quantity| quantity.value)
    }

    pub fn vector(&self) -> Option<Vec3> {
        if let Content::Vector(value) = self { Some(*value) } else { None }
    }

    pub fn text(&self) -> Option<String> {
        if let Content::Text(value) = self { Some(value.clone()) } else { None }
    }
}
