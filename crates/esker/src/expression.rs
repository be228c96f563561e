//! Arithmetic with units, as a scene writes it: `3.2 mm`, `width/2 + 10 mm`, `sqrt(2*9.8 m/s^2*height)`.
//!
//! ```text
//! sum     = product { ("+" | "-") product }
//! product = sign { ("*" | "/") sign }
//! sign    = ("-" | "+") sign | power
//! power   = atom [ "^" sign ]                          -2^2 is -4, 2^3^2 is 2^9
//! atom    = number [ unit ] | name | "${" name "}" | function "(" sum { "," sum } ")" | "(" sum ")"
//! unit    = "%" | [ "1/" ] symbol { joint symbol }     each symbol with an optional whole power: s^2, m^-1, m²
//! joint   = "/" or "*" without spaces around it, or spaces alone
//! ```
//!
//! A unit is recognised only directly behind a number literal, and everywhere else a word is a name:
//!
//! - `2 m/s^2` is two metres per second squared: `m/s^2` stands behind the number and is written without spaces.
//! - `2 m / (3 s)` is a quotient of two quantities; so is `10 mm / h`, where `h` is a variable because of the spaces.
//! - `width/2` divides a variable. `2 m/width` does too, since `width` is no unit.
//! - A name that is both a unit and a variable is the unit directly behind a number: `2 m` is two metres. Write `2*m`.
//! - A slash divides by the next symbol alone. A product behind a slash, `N/m s`, could be read in two ways and is
//!   refused: write `N s/m` or `N/m/s`.
//!
//! [`Expression::evaluate`] checks dimensions. [`Program`] is the same language compiled for a force field: plain SI
//! numbers in slots, no dimensions, no allocation in [`Program::eval`]. Both work on postfix code rather than a tree,
//! so neither the length nor the nesting of a text can exhaust the stack.

mod parser;
mod program;
mod unit;

#[cfg(test)]
mod tests;

pub use program::Program;
pub use unit::Dimension;

/// Longest text that is read \[bytes\].
const MAX_TEXT: usize = 10_000;
/// Deepest nesting of parentheses, signs and powers.
const MAX_DEPTH: usize = 40;
/// Most intermediate results alive at once.
const MAX_STACK: usize = 32;

/// What is wrong with an expression, and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message} in `{text}`{}", .suggestion.as_ref().map(|s| format!(" (did you mean `{s}`?)")).unwrap_or_default())]
pub struct ExpressionError {
    /// What is wrong.
    pub message: String,
    /// Byte offset of the place in `text`.
    pub offset: usize,
    /// The whole expression.
    pub text: String,
    /// A known name close to the unknown one.
    pub suggestion: Option<String>,
    /// The variables or functions that would have been understood in place of an unknown name.
    pub known: Vec<String>,
}

/// A number in SI with its dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// The number in SI units.
    pub value: f64,
    /// Its dimension; `None` for a number that takes the dimension its place asks for: a number written without
    /// unit outside a string ("plain numbers are SI"), and zero.
    pub dimension: Option<Dimension>,
}

impl Quantity {
    /// A number that takes the dimension its place asks for.
    pub const fn plain(value: f64) -> Quantity {
        Quantity { value, dimension: None }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Unary {
    Negate,
    Sin,
    Cos,
    Tan,
    Sqrt,
    Exp,
    Ln,
    Abs,
    Floor,
    Sign,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Min,
    Max,
    Atan2,
    Hypot,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Function {
    One(Unary),
    /// Exactly two arguments.
    Two(Binary),
    /// Two or more arguments, taken pairwise.
    Many(Binary),
}

const FUNCTIONS: [(&str, Function); 14] = [
    ("sin", Function::One(Unary::Sin)),
    ("cos", Function::One(Unary::Cos)),
    ("tan", Function::One(Unary::Tan)),
    ("sqrt", Function::One(Unary::Sqrt)),
    ("exp", Function::One(Unary::Exp)),
    ("ln", Function::One(Unary::Ln)),
    ("abs", Function::One(Unary::Abs)),
    ("floor", Function::One(Unary::Floor)),
    ("sign", Function::One(Unary::Sign)),
    ("atan2", Function::Two(Binary::Atan2)),
    ("pow", Function::Two(Binary::Power)),
    ("hypot", Function::Two(Binary::Hypot)),
    ("min", Function::Many(Binary::Min)),
    ("max", Function::Many(Binary::Max)),
];

/// Names that an expression knows by itself and that therefore cannot be variables.
pub fn is_reserved(name: &str) -> bool {
    name == "pi" || FUNCTIONS.iter().any(|(function, _)| *function == name)
}

/// Whether a word can be the name of a variable: letters, digits and `_`, not beginning with a digit, not reserved.
pub fn is_variable_name(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(starts_name) && letters.all(continues_name) && !is_reserved(name)
}

fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn continues_name(c: char) -> bool {
    starts_name(c) || c.is_ascii_digit()
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Number(Quantity),
    Name(usize),
    One(Unary),
    Two(Binary),
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    op: Op,
    /// Where in the text, for errors.
    offset: usize,
}

/// An expression that has been read but not evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
    /// Postfix: operands before their operator.
    code: Vec<Step>,
    names: Vec<String>,
    /// Every unit symbol written.
    units: Vec<String>,
    /// Numbers followed by one symbol only, such as `2 m`: symbol and offset.
    lone_units: Vec<(String, usize)>,
}

impl Expression {
    /// Reads an expression.
    pub fn parse(text: &str) -> Result<Expression, ExpressionError> {
        parser::Parser::new(text)?.run()
    }

    /// The text it was read from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The variables it uses, each once, in order of appearance.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The unit symbols it writes, in order.
    pub fn unit_symbols(&self) -> impl Iterator<Item = &str> {
        self.units.iter().map(String::as_str)
    }

    /// The value, with dimensions checked; `variable` gives the value of a name. `known` names are candidates for a
    /// suggestion when a name is not found.
    pub fn evaluate(
        &self,
        variable: impl Fn(&str) -> Option<Quantity>,
        known: &[&str],
    ) -> Result<Quantity, ExpressionError> {
        let mut stack: Vec<Quantity> = Vec::with_capacity(MAX_STACK);
        for step in &self.code {
            let result = match step.op {
                Op::Number(quantity) => quantity,
                Op::Name(index) => {
                    let name = &self.names[index];
                    variable(name).ok_or_else(|| self.unknown_name(name, step.offset, known))?
                }
                Op::One(unary) => {
                    let a = stack.pop().expect("the parser emits operands before operators");
                    self.apply_one(unary, a, step.offset)?
                }
                Op::Two(binary) => {
                    let b = stack.pop().expect("the parser emits operands before operators");
                    let a = stack.pop().expect("the parser emits operands before operators");
                    self.apply_two(binary, a, b, step.offset)?
                }
            };
            stack.push(result);
        }
        let result = stack.pop().expect("an expression leaves one value");
        if !result.value.is_finite() {
            return Err(self.error(0, format!("the value is not finite ({})", result.value)));
        }
        Ok(result)
    }

    fn apply_one(&self, unary: Unary, a: Quantity, offset: usize) -> Result<Quantity, ExpressionError> {
        let dimension = match unary {
            Unary::Negate | Unary::Abs => a.dimension,
            Unary::Sign => Some(Dimension::NONE),
            Unary::Sqrt => match a.dimension {
                None => None,
                Some(d) => Some(d.power(0.5).ok_or_else(|| self.error(offset, format!("no square root of {d}")))?),
            },
            Unary::Sin | Unary::Cos | Unary::Tan | Unary::Exp | Unary::Ln | Unary::Floor => {
                if let Some(d) = a.dimension.filter(|d| *d != Dimension::NONE) {
                    let message = format!("{} needs a plain number, not {}", unary.name(), d.describe());
                    return Err(self.error(offset, message));
                }
                Some(Dimension::NONE)
            }
        };
        Ok(Quantity { value: unary.apply(a.value), dimension })
    }

    fn apply_two(&self, binary: Binary, a: Quantity, b: Quantity, offset: usize) -> Result<Quantity, ExpressionError> {
        let too_large = || self.error(offset, "the exponents of the unit grow too large");
        let dimension = match binary {
            Binary::Multiply | Binary::Divide => match (a.dimension, b.dimension) {
                (Some(x), Some(y)) if binary == Binary::Multiply => Some(x.times(y).ok_or_else(too_large)?),
                (Some(x), Some(y)) => Some(x.over(y).ok_or_else(too_large)?),
                _ => None,
            },
            Binary::Power => {
                if let Some(d) = b.dimension.filter(|d| *d != Dimension::NONE) {
                    return Err(self.error(offset, format!("an exponent must be a plain number, not {}", d.describe())));
                }
                match a.dimension {
                    None => None,
                    Some(d) => Some(d.power(b.value).ok_or_else(|| {
                        self.error(offset, format!("{} to the power {} has no unit", d.describe(), b.value))
                    })?),
                }
            }
            Binary::Add | Binary::Subtract | Binary::Min | Binary::Max | Binary::Hypot | Binary::Atan2 => {
                let common = match (a.dimension, b.dimension) {
                    (Some(x), Some(y)) if x != y => {
                        let message = format!("cannot {} {} and {}", binary.verb(), x.describe(), y.describe());
                        return Err(self.error(offset, message));
                    }
                    (x, y) => x.or(y),
                };
                if binary == Binary::Atan2 { Some(Dimension::NONE) } else { common }
            }
        };
        Ok(Quantity { value: binary.apply(a.value, b.value), dimension })
    }

    fn unknown_name(&self, name: &str, offset: usize, known: &[&str]) -> ExpressionError {
        let mut error = self.error(offset, format!("unknown name `{name}`"));
        let reserved = FUNCTIONS.iter().map(|(function, _)| *function).chain(["pi"]);
        error.suggestion = closest(name, known.iter().copied().chain(reserved)).map(str::to_string);
        error.known = known.iter().map(|name| name.to_string()).collect();
        if unit::find(name).is_some() && error.suggestion.is_none() {
            error.message += &format!(
                "; `{name}` is a unit, and a unit stands directly behind a number and without spaces around `/`: \
                 `1 {name}`, `1 1/{name}`"
            );
        }
        error
    }

    fn error(&self, offset: usize, message: impl Into<String>) -> ExpressionError {
        ExpressionError { message: message.into(), offset, text: self.text.clone(), suggestion: None, known: vec![] }
    }
}

impl Unary {
    fn apply(self, a: f64) -> f64 {
        match self {
            Unary::Negate => -a,
            Unary::Sin => a.sin(),
            Unary::Cos => a.cos(),
            Unary::Tan => a.tan(),
            Unary::Sqrt => a.sqrt(),
            Unary::Exp => a.exp(),
            Unary::Ln => a.ln(),
            Unary::Abs => a.abs(),
            Unary::Floor => a.floor(),
            // Unlike `signum`, zero at zero: a friction-like force vanishes at rest.
            Unary::Sign => f64::from(a > 0.0) - f64::from(a < 0.0),
        }
    }

    fn name(self) -> &'static str {
        FUNCTIONS.iter().find(|(_, f)| *f == Function::One(self)).map_or("-", |(name, _)| name)
    }
}

impl Binary {
    fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Binary::Add => a + b,
            Binary::Subtract => a - b,
            Binary::Multiply => a * b,
            Binary::Divide => a / b,
            Binary::Power => a.powf(b),
            Binary::Min => a.min(b),
            Binary::Max => a.max(b),
            Binary::Atan2 => a.atan2(b),
            Binary::Hypot => a.hypot(b),
        }
    }

    fn verb(self) -> &'static str {
        match self {
            Binary::Add => "add",
            Binary::Subtract => "subtract",
            _ => "compare",
        }
    }
}

/// The candidate most like `word`, if any is near enough to be a slip of the fingers: at most one edit for every
/// three letters. Among equals the first wins.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = word.chars().count();
    let allowed = if letters <= 2 { 1 } else { letters.div_ceil(3) };
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        // The lengths alone bound the distance, which keeps long nonsense cheap.
        if candidate.chars().count().abs_diff(letters) > allowed {
            continue;
        }
        let distance = edit_distance(word, candidate);
        // A candidate that shares nothing (`x` for `y`) is no suggestion.
        if distance <= allowed && distance < letters && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Letters to insert, delete, replace or swap with their neighbour to turn one word into the other, ignoring case.
fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut before: Vec<usize> = vec![];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}
