//! Numbers, vectors, texts and formulas.

use super::super::keys::{Bound, Key, Kind, Measure, Turning};
use super::super::node::{Content, Node};
use super::super::overrides::Step;
use super::super::source::{Location, shorten};
use super::super::variables::Variables;
use super::{Given, Reader};
use esker::expression::{Dimension, Expression, Program, Quantity};
use esker::math::Vec3;
use toml_edit::{Array, Value};

impl Reader<'_> {
    pub(super) fn row(
        &mut self,
        key: &Key,
        fields: &[(&str, Measure, Bound)],
        array: &Array,
        at: Location,
    ) -> Option<Content> {
        if array.len() != fields.len() {
            let expected = Kind::describe(&key.kind, &key.measure);
            let subject = self.source.subject(at, key.name);
            let names: Vec<&str> = fields.iter().map(|(name, ..)| *name).collect();
            self.tell(at, format!("{subject} is not [{}]; {expected} was expected", names.join(", ")));
            return None;
        }
        let mut nodes = vec![];
        for (index, (value, (name, measure, bound))) in array.iter().zip(fields).enumerate() {
            self.path.push(Step::Index(index));
            let at = self.locate(value.span(), Some(at.statement), at);
            let number = self.number(name, *measure, *bound, value, at);
            self.path.pop();
            nodes.push(Node { at, value: Content::Number(number?) });
        }
        Some(Content::List(nodes))
    }

    pub(super) fn vector(&mut self, key: &Key, array: &Array, at: Location) -> Option<Vec3> {
        match array.len() {
            3 => {}
            2 if self.planar => {}
            2 => {
                self.tell_flat(key, at);
                return None;
            }
            length => {
                let subject = self.source.subject(at, key.name);
                let wanted = if self.planar { "2 (or 3)" } else { "3" };
                self.tell(at, format!("{subject} has {length} components, {wanted} were expected"));
                return None;
            }
        }
        let mut out = [0.0; 3];
        for (index, value) in array.iter().enumerate() {
            self.path.push(Step::Index(index));
            let at = self.locate(value.span(), Some(at.statement), at);
            let component = self.number(key.name, key.measure, Bound::Any, value, at);
            self.path.pop();
            out[index] = component?.value;
        }
        Some(Vec3::from_array(out))
    }

    pub(super) fn tell_flat(&mut self, key: &Key, at: Location) {
        let subject = self.source.subject(at, key.name);
        let error = self.source.error(at, format!("{subject} has 2 components in a scene that is not planar"));
        self.push(error.hint("add the third, or set `planar = true`"));
    }

    pub(super) fn count(&mut self, key: &Key, value: &Value, at: Location) -> Option<Content> {
        let whole = match value {
            Value::Integer(integer) => u64::try_from(*integer.value()).ok(),
            value => {
                let number = self.number(key.name, key.measure, Bound::Any, value, at)?.value;
                // 2^53: up to here every whole number is exact.
                (number >= 0.0 && number.fract() == 0.0 && number <= 9_007_199_254_740_992.0).then_some(number as u64)
            }
        };
        if whole.is_none() {
            self.tell(at, format!("{} must be a whole number, zero or more", self.source.subject(at, key.name)));
        }
        whole.map(Content::Count)
    }

    pub(super) fn number(
        &mut self,
        name: &str,
        measure: Measure,
        bound: Bound,
        value: &Value,
        at: Location,
    ) -> Option<Quantity> {
        let quantity = match value {
            Value::Integer(integer) => Quantity::plain(*integer.value() as f64),
            Value::Float(float) => Quantity::plain(*float.value()),
            Value::String(text) => self.quantity(name, measure, text.value(), at)?,
            other => {
                let subject = self.source.subject(at, name);
                let (found, expected) = (Given::from(other).describe(), measure.describe());
                self.tell(at, format!("{subject} is {found}, {expected} was expected"));
                return None;
            }
        };
        let x = quantity.value;
        let (holds, demand) = match bound {
            Bound::Any => (x.is_finite(), "must be finite"),
            Bound::Positive => (x > 0.0 && x.is_finite(), "must be positive"),
            Bound::NotNegative => (x >= 0.0 && x.is_finite(), "must not be negative"),
            Bound::Fraction => ((0.0..=1.0).contains(&x), "must lie between 0 and 1"),
        };
        if !holds {
            self.tell(at, format!("{} {demand}", self.source.subject(at, name)));
            return None;
        }
        Some(quantity)
    }

    /// A number written as text, with its dimension checked.
    fn quantity(&mut self, name: &str, measure: Measure, text: &str, at: Location) -> Option<Quantity> {
        let expression = match Expression::parse(text) {
            Ok(expression) => expression,
            Err(error) => {
                self.tell_expression(at, error);
                return None;
            }
        };
        let quantity = match self.variables.value_of(&expression) {
            Ok(value) => value?,
            Err(error) => {
                self.tell_expression(at, error);
                return None;
            }
        };
        if let Some(found) = quantity.dimension
            && !measure.dimensions.is_empty()
            && !measure.dimensions.contains(&found)
        {
            let subject = self.source.subject(at, name);
            let message = format!("{subject} is {}, {} was expected", found.describe(), measure.describe());
            let mut error = self.source.error(at, message);
            if found == Dimension::NONE {
                error = error.hint(format!("add the unit ({}), or leave the quotes away for SI", measure.unit));
            }
            self.push(error);
            return None;
        }
        if let Some(unit) = measure.wrong_turning(&expression) {
            let subject = self.source.subject(at, name);
            let hint = match measure.turning {
                Turning::Cycles => "write cycles per second, as `2 Hz`",
                _ => "write `rad/s`, `rpm` or `rev/s`",
            };
            let error = self.source.error(at, format!("{subject} is in {unit}, {} was expected", measure.describe()));
            self.push(error.hint(hint));
            return None;
        }
        Some(quantity)
    }

    pub(super) fn text(&mut self, key: &Key, text: &str, at: Location) -> Option<String> {
        if text.trim().is_empty() {
            self.tell(at, format!("`{}` must not be empty", key.name));
            return None;
        }
        self.interpolated(text, at, |variables, name| Some(variables.text(name)?.to_string()))
    }

    pub(super) fn formula(&mut self, text: &str, slots: &[&str], at: Location) -> Option<Content> {
        let value = |variables: &Variables, name: &str| Some(format!("({:e})", variables.get(name)?.value));
        let filled = self.interpolated(text, at, value)?;
        match Program::compile(&filled, slots) {
            Ok(program) => Some(Content::Formula(program)),
            Err(error) => {
                self.tell_expression(at, error);
                None
            }
        }
    }

    /// The text with every `${name}` replaced.
    fn interpolated(
        &mut self,
        text: &str,
        at: Location,
        value: impl Fn(&Variables, &str) -> Option<String>,
    ) -> Option<String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, tail)) = rest.split_once("${") {
            out += before;
            let Some((name, after)) = tail.split_once('}') else {
                self.tell(at, "`${` without its `}`");
                return None;
            };
            let name = name.trim();
            match value(&self.variables, name) {
                Some(value) => out += &value,
                // A variable that has no value has been told already.
                None if self.variables.text(name).is_some() => return None,
                None => {
                    let error = self.source.error(at, format!("unknown variable `{}`", shorten(name)));
                    let known: Vec<String> = self.variables.names().map(str::to_string).collect();
                    self.push(error.known("variables", name, known));
                    return None;
                }
            }
            rest = after;
        }
        Some(out + rest)
    }
}
