//! The vocabulary in which the format is declared: what a key is called, what it holds, in which unit, and why.
//!
//! The tables themselves are in [`tables`](super::tables). The reader, the JSON schema and the reference page of the
//! book are all made from them, so that they cannot disagree.

use esker::expression::{Dimension, Expression};

/// One table of the format.
pub struct Section {
    /// How it is called in messages and headings: `wall`, `normal`.
    pub name: &'static str,
    /// What it is for.
    pub doc: &'static str,
    /// Its keys, in the order of the reference page.
    pub keys: &'static [Key],
    /// Which keys belong together.
    pub groups: &'static [Group],
    /// The key whose choice decides which other keys have a meaning (see [`Key::only_for`]).
    pub tag: Option<&'static str>,
}

impl Section {
    /// The key of this name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

/// How many keys of a group a table gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// One, no more and no less.
    ExactlyOne,
    /// One or none.
    AtMostOne,
    /// One or more.
    AtLeastOne,
    /// The first only together with one of the others.
    Needs,
}

/// A rule over some keys of a table.
pub struct Group {
    /// How many of the keys.
    pub rule: Rule,
    /// Their names.
    pub keys: &'static [&'static str],
}

/// One key of a table.
#[derive(Clone, Copy)]
pub struct Key {
    /// Its name in the file, kebab-case.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// In which unit.
    pub measure: Measure,
    /// Which numbers make sense.
    pub bound: Bound,
    /// Whether it must be given (with the choices of `only_for`, if there are any).
    pub required: bool,
    /// What holds when it is not given, as text for the reference page.
    pub default: Option<&'static str>,
    /// What it means.
    pub doc: &'static str,
    /// A value as it stands in the file.
    pub example: &'static str,
    /// The choices of the section's tag with which it has a meaning; empty for all.
    pub only_for: &'static [&'static str],
}

/// What a key holds.
#[derive(Clone, Copy)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number, zero or more.
    Count,
    /// A number in SI, or a text with a unit.
    Number,
    /// The given word, or a number.
    NumberOr(&'static str),
    /// Two or three numbers.
    Vector,
    /// A text: a title, a name, a file.
    Text,
    /// One word of several, each with its meaning.
    Choice(&'static [(&'static str, &'static str)]),
    /// A formula of the named slots in SI.
    Formula(&'static [&'static str]),
    /// A table with the keys of a section.
    Table(&'static Section),
    /// A table of freely named entries.
    Map(&'static Kind),
    /// A list with at least and at most so many entries.
    List(&'static Kind, usize, usize),
    /// One, or a list of them, of none too.
    OneOrList(&'static Kind),
    /// A row of numbers, each with its own meaning and unit.
    Row(&'static [(&'static str, Measure, Bound)]),
    /// Any of these; told apart by what stands in the file.
    Either(&'static [Kind]),
    /// The variables of `[let]`.
    Variables,
}

/// No upper limit of a list.
pub const MANY: usize = usize::MAX;

/// Which numbers make sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Any finite number.
    Any,
    /// Above zero.
    Positive,
    /// Zero or above.
    NotNegative,
    /// From zero to one.
    Fraction,
}

/// Cycles and radians share the dimension 1/s; a scene must not take one for the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turning {
    /// Neither.
    No,
    /// Cycles per second: `Hz`, never `rpm` or `rad/s`.
    Cycles,
    /// Radians per second: `rad/s`, `rpm`, `rev/s`, never `Hz`.
    Radians,
}

/// Unit and dimension of a number.
#[derive(Clone, Copy)]
pub struct Measure {
    /// The SI unit in which a plain number is taken, as text.
    pub unit: &'static str,
    /// The dimensions a text may have; empty for any.
    pub dimensions: &'static [Dimension],
    /// Whether it counts cycles or radians.
    pub turning: Turning,
}

impl Measure {
    /// What is expected, as part of a sentence: "a length".
    pub fn describe(&self) -> String {
        match (self.turning, self.dimensions) {
            (Turning::Cycles, _) => "a frequency in cycles (Hz)".to_string(),
            (Turning::Radians, _) => "an angular velocity (rad/s)".to_string(),
            (_, []) => "a number".to_string(),
            (_, all) => all.iter().map(|d| d.describe()).collect::<Vec<_>>().join(" or "),
        }
    }

    /// A unit of the expression that counts cycles where radians are meant, or the other way round.
    pub fn wrong_turning<'a>(&self, expression: &'a Expression) -> Option<&'a str> {
        match self.turning {
            Turning::No => None,
            Turning::Cycles => expression.unit_symbols().find(|unit| ["rpm", "rad", "deg", "rev", "°"].contains(unit)),
            Turning::Radians => expression.unit_symbols().find(|unit| unit.ends_with("Hz")),
        }
    }
}

const fn measure(unit: &'static str, dimensions: &'static [Dimension]) -> Measure {
    Measure { unit, dimensions, turning: Turning::No }
}

/// The measures of the format.
#[allow(missing_docs)]
pub mod measures {
    use super::{Dimension, Measure, Turning, measure};

    pub const NONE: Measure = measure("", &[Dimension::NONE]);
    pub const ANY: Measure = measure("SI", &[]);
    pub const ANGLE: Measure = measure("rad", &[Dimension::NONE]);
    pub const LENGTH: Measure = measure("m", &[Dimension::LENGTH]);
    pub const MASS: Measure = measure("kg", &[Dimension::MASS]);
    pub const TIME: Measure = measure("s", &[Dimension::TIME]);
    pub const SPEED: Measure = measure("m/s", &[Dimension::SPEED]);
    pub const ACCELERATION: Measure = measure("m/s^2", &[Dimension::ACCELERATION]);
    pub const FORCE: Measure = measure("N", &[Dimension::FORCE]);
    pub const ENERGY: Measure = measure("J", &[Dimension::ENERGY]);
    pub const TORQUE: Measure = measure("N m", &[Dimension::ENERGY]);
    pub const PRESSURE: Measure = measure("Pa", &[Dimension::PRESSURE]);
    pub const VISCOSITY: Measure = measure("Pa s", &[Dimension::VISCOSITY]);
    pub const STIFFNESS: Measure = measure("N/m", &[Dimension::STIFFNESS]);
    pub const SURFACE_ENERGY: Measure = measure("J/m^2", &[Dimension::STIFFNESS]);
    pub const COMPLIANCE: Measure = measure("m/N", &[Dimension::new(0, -1, 2)]);
    pub const PER_LENGTH: Measure = measure("1/m", &[Dimension::new(-1, 0, 0)]);
    pub const TIME_PER_LENGTH: Measure = measure("s/m", &[Dimension::new(-1, 0, 1)]);
    pub const VOLUME: Measure = measure("m^3", &[Dimension::VOLUME]);
    pub const DAMPING: Measure = measure("N s/m", &[Dimension::DAMPING]);
    pub const MASS_RATE: Measure = measure("kg/s", &[Dimension::DAMPING]);
    pub const RATE: Measure = measure("1/s", &[Dimension::RATE]);
    pub const DENSITY: Measure = measure("kg/m^3", &[Dimension::DENSITY]);
    pub const ATTRACTION: Measure = measure("m^3/kg/s^2", &[Dimension::ATTRACTION]);
    pub const DENSITY_OR_AREA_DENSITY: Measure =
        measure("kg/m^3 or kg/m^2", &[Dimension::DENSITY, Dimension::AREA_DENSITY]);
    pub const RELATIVE_OR_LENGTH: Measure = measure("relative, or m", &[Dimension::NONE, Dimension::LENGTH]);
    pub const FREQUENCY: Measure = Measure { unit: "Hz", dimensions: &[Dimension::RATE], turning: Turning::Cycles };
    pub const ANGULAR: Measure = Measure { unit: "rad/s", dimensions: &[Dimension::RATE], turning: Turning::Radians };
}

/// A key that may be left out, without unit; the methods below add to it.
pub const fn key(name: &'static str, kind: Kind, example: &'static str, doc: &'static str) -> Key {
    Key {
        name,
        kind,
        measure: measures::NONE,
        bound: Bound::Any,
        required: false,
        default: None,
        doc,
        example,
        only_for: &[],
    }
}

impl Key {
    /// With a unit.
    pub const fn of(mut self, measure: Measure) -> Key {
        self.measure = measure;
        self
    }

    /// Must be given.
    pub const fn required(mut self) -> Key {
        self.required = true;
        self
    }

    /// With a default.
    pub const fn default(mut self, text: &'static str) -> Key {
        self.default = Some(text);
        self
    }

    /// Within a bound.
    pub const fn bound(mut self, bound: Bound) -> Key {
        self.bound = bound;
        self
    }

    /// Above zero.
    pub const fn positive(self) -> Key {
        self.bound(Bound::Positive)
    }

    /// Zero or above.
    pub const fn not_negative(self) -> Key {
        self.bound(Bound::NotNegative)
    }

    /// Only with these choices of the section's tag.
    pub const fn only_for(mut self, choices: &'static [&'static str]) -> Key {
        self.only_for = choices;
        self
    }
}

impl Kind {
    /// What is expected, as part of a sentence.
    pub fn describe(&self, measure: &Measure) -> String {
        match self {
            Kind::Bool => "true or false".to_string(),
            Kind::Count => "a whole number".to_string(),
            Kind::Number => measure.describe(),
            Kind::NumberOr(word) => format!("\"{word}\" or {}", measure.describe()),
            Kind::Vector => "a vector of 2 or 3 numbers".to_string(),
            Kind::Text => "a text".to_string(),
            Kind::Choice(choices) => {
                let names: Vec<String> = choices.iter().map(|(name, _)| format!("\"{name}\"")).collect();
                names.join(" or ")
            }
            Kind::Formula(_) => "a formula as a text".to_string(),
            Kind::Table(_) | Kind::Map(_) | Kind::Variables => "a table".to_string(),
            Kind::List(of, least, most) => {
                let of = of.plural();
                match (*least, *most) {
                    (n, m) if n == m => format!("a list of {n} {of}"),
                    _ => format!("a list of {of}"),
                }
            }
            Kind::OneOrList(of) => format!("{} or a list of {}", of.describe(measure), of.plural()),
            Kind::Row(fields) => {
                let names: Vec<&str> = fields.iter().map(|(name, ..)| *name).collect();
                format!("a list [{}]", names.join(", "))
            }
            Kind::Either(kinds) => kinds.iter().map(|k| k.describe(measure)).collect::<Vec<_>>().join(" or "),
        }
    }

    fn plural(&self) -> &'static str {
        match self {
            Kind::Bool => "truth values",
            Kind::Count => "whole numbers",
            Kind::Number | Kind::NumberOr(_) => "numbers",
            Kind::Vector => "points",
            Kind::Text | Kind::Choice(_) => "texts",
            Kind::Formula(_) => "formulas",
            Kind::Table(_) | Kind::Map(_) | Kind::Variables => "tables",
            Kind::List(..) | Kind::OneOrList(_) => "lists",
            Kind::Row(_) => "rows",
            Kind::Either(_) => "values",
        }
    }
}
