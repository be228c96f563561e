//! The variables of `[let]`: numbers or expressions that may use each other in any order.

use super::source::{Location, Spanned};
use esker::expression::{Expression, ExpressionError, Quantity};
use std::collections::{BTreeMap, VecDeque};

/// A variable as written.
pub(crate) struct Definition {
    pub name: String,
    pub at: Location,
    /// The text a `${name}` in a title stands for.
    pub text: String,
    pub written: Written,
}

/// What stands behind the name of a variable.
pub(crate) enum Written {
    /// A plain number.
    Number(Quantity),
    /// A text.
    Expression(Expression),
    /// Something wrong that is already told; who uses the variable is not to blame.
    Wrong,
}

/// What is wrong with a variable.
pub(crate) enum Trouble {
    Expression(ExpressionError),
    /// The names around the circle, the first again at the end.
    Circle(Vec<String>),
}

/// The variables with their values.
#[derive(Default)]
pub(crate) struct Variables {
    /// In the order of the file; `None` for a value that could not be found, whose error is already told.
    pub values: Vec<(String, Option<Spanned<Quantity>>)>,
    by_name: BTreeMap<String, usize>,
    texts: Vec<String>,
}

impl Variables {
    /// Evaluates each once all it uses is known.
    pub fn evaluate(definitions: &[Definition], mut trouble: impl FnMut(Location, Trouble)) -> Variables {
        let mut out = Variables::default();
        for (index, definition) in definitions.iter().enumerate() {
            out.by_name.insert(definition.name.clone(), index);
            out.values.push((definition.name.clone(), None));
            out.texts.push(definition.text.clone());
        }
        let uses: Vec<Vec<usize>> = definitions
            .iter()
            .map(|definition| match &definition.written {
                Written::Expression(expression) => {
                    expression.names().filter_map(|name| out.by_name.get(name).copied()).collect()
                }
                Written::Number(_) | Written::Wrong => vec![],
            })
            .collect();
        let mut missing: Vec<usize> = uses.iter().map(Vec::len).collect();
        let mut used_by: Vec<Vec<usize>> = vec![vec![]; definitions.len()];
        for (user, used) in uses.iter().enumerate() {
            used.iter().for_each(|used| used_by[*used].push(user));
        }
        let mut ready: VecDeque<usize> = (0..definitions.len()).filter(|index| missing[*index] == 0).collect();
        let mut done = vec![false; definitions.len()];
        while let Some(index) = ready.pop_front() {
            done[index] = true;
            let definition = &definitions[index];
            let value = match &definition.written {
                Written::Wrong => None,
                Written::Number(quantity) => Some(*quantity),
                Written::Expression(expression) => out.value_of(expression).unwrap_or_else(|error| {
                    trouble(definition.at, Trouble::Expression(error));
                    None
                }),
            };
            out.values[index].1 = value.map(|value| Spanned { value, at: definition.at });
            for user in &used_by[index] {
                missing[*user] -= 1;
                if missing[*user] == 0 {
                    ready.push_back(*user);
                }
            }
        }
        // What is left lies on circles or uses one; walking along unfinished uses must enter a circle.
        if let Some(start) = done.iter().position(|done| !done) {
            let mut walk = vec![start];
            let mut place = vec![usize::MAX; definitions.len()];
            place[start] = 0;
            let circle = loop {
                let last = walk[walk.len() - 1];
                let Some(next) = uses[last].iter().copied().find(|used| !done[*used]) else { break walk };
                let seen = place[next];
                place[next] = walk.len();
                walk.push(next);
                if seen != usize::MAX {
                    break walk.split_off(seen);
                }
            };
            let at = definitions[circle[0]].at;
            trouble(at, Trouble::Circle(circle.iter().map(|index| definitions[*index].name.clone()).collect()));
        }
        out
    }

    /// The value of an expression; `Ok(None)` if it uses a variable whose error is already told.
    pub fn value_of(&self, expression: &Expression) -> Result<Option<Quantity>, ExpressionError> {
        let failed = |name: &str| self.by_name.get(name).is_some_and(|index| self.values[*index].1.is_none());
        if expression.names().any(failed) {
            return Ok(None);
        }
        let value = expression.evaluate(|name| self.get(name), &[]).or_else(|_| {
            // Once more for a suggestion: the names are gathered only when something is wrong.
            let known: Vec<&str> = self.names().collect();
            expression.evaluate(|name| self.get(name), &known)
        });
        value.map(Some)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|(name, _)| name.as_str())
    }

    pub fn get(&self, name: &str) -> Option<Quantity> {
        self.values[*self.by_name.get(name)?].1.as_ref().map(|spanned| spanned.value)
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.by_name.get(name).map(|index| self.texts[*index].as_str())
    }
}
