//! What is varied: `--vary PATH=VALUES`, a list or a range.

use super::SweepError;
use esker::expression::{Expression, Quantity};

/// A value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// As it is given to `--set`: `6 mm`, `30`, `hertz`.
    pub text: String,
    /// In SI units; `None` for what is no number.
    pub si: Option<f64>,
}

impl Value {
    /// A value as it was written. What is in quotes or brackets, or no arithmetic, is no number.
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), si: quantity(text).ok().map(|q| q.value) }
    }

    /// The number in front of the unit, with up to six digits, and the unit; the text of what is no such pair.
    pub fn short(&self) -> String {
        match split_unit(&self.text) {
            Some((number, unit)) => format!("{} {unit}", short(number)).trim_end().to_owned(),
            None => self.text.clone(),
        }
    }
}

/// A number with up to six significant digits.
pub fn short(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    let six: f64 = format!("{x:.5e}").parse().unwrap_or(x);
    if (1e-3..1e6).contains(&six.abs()) { format!("{six}") } else { format!("{six:e}") }
}

/// How the values of a range are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// Equal differences.
    Even,
    /// Equal ratios.
    Log,
}

/// Which numbers of a range are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Any.
    All,
    /// The nearest whole ones.
    Whole,
}

/// `A..B`, `A..B:N`, either with `log` or `whole` behind.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The ends, in `unit`.
    ends: [f64; 2],
    /// Unit of the ends where both have the same one; empty for SI.
    unit: String,
    count: Option<usize>,
    spacing: Spacing,
    numbers: Numbers,
}

/// A varied parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Path of the key in the scene, `let.orifice`.
    pub path: String,
    /// The values as they were written.
    pub text: String,
    /// What they mean.
    pub spread: Spread,
}

/// The values of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Spread {
    /// These.
    List(Vec<Value>),
    /// Those between two ends.
    Range(Range),
}

impl Axis {
    /// Reads `PATH=VALUES`.
    pub fn parse(given: &str) -> Result<Axis, SweepError> {
        let wrong = |message: &str| SweepError::Vary { given: given.to_owned(), message: message.to_owned() };
        let Some((path, text)) = given.split_once('=') else {
            return Err(wrong("what is varied is written PATH=VALUES, as let.f=20..90:8 or let.f=20,40,60"));
        };
        let (path, text) = (path.trim(), text.trim());
        if path.is_empty() || text.is_empty() {
            return Err(wrong("what is varied is written PATH=VALUES, as let.f=20..90:8 or let.f=20,40,60"));
        }
        let items = split_list(text);
        let spread = match text.split_once("..").filter(|_| items.len() == 1 && !text.starts_with(['"', '\'', '['])) {
            Some((from, to)) => Spread::Range(Range::parse(from, to).map_err(|message| wrong(&message))?),
            None if items.iter().any(|item| item.is_empty()) => return Err(wrong("a value between commas is missing")),
            None => Spread::List(items.into_iter().map(Value::new).collect()),
        };
        Ok(Axis { path: path.to_owned(), text: text.to_owned(), spread })
    }

    /// The values of a grid along this axis.
    pub fn grid(&self) -> Result<Vec<Value>, SweepError> {
        let values = match &self.spread {
            Spread::List(values) => values.clone(),
            Spread::Range(range) => {
                let Some(n) = range.count else {
                    return Err(self.wrong(
                        "how many values? write 20..90:8 for eight of them, or draw some of all between with --latin N",
                    ));
                };
                (0..n).map(|k| range.at(k as f64 / (n - 1) as f64)).collect()
            }
        };
        for (k, value) in values.iter().enumerate() {
            if values[..k].iter().any(|other| other.text == value.text) {
                return Err(self.wrong(&format!("the value {} is there twice", value.text)));
            }
        }
        Ok(values)
    }

    /// The value at a place from 0 to 1: along a range, or among the entries of a list, each with the same share.
    pub fn at(&self, u: f64) -> Value {
        match &self.spread {
            Spread::Range(range) => range.at(u),
            Spread::List(values) => values[((u * values.len() as f64) as usize).min(values.len() - 1)].clone(),
        }
    }

    /// Refuses a number of values, which only a grid has.
    pub(super) fn without_count(&self, option: &str) -> Result<(), SweepError> {
        match &self.spread {
            Spread::Range(Range { count: Some(n), .. }) => {
                Err(self.wrong(&format!("the :{n} asks for a grid; leave it out with {option}")))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn wrong(&self, message: &str) -> SweepError {
        SweepError::Vary { given: format!("{}={}", self.path, self.text), message: message.to_owned() }
    }
}

impl Range {
    fn parse(from: &str, to: &str) -> Result<Range, String> {
        let (mut spacing, mut numbers) = (Spacing::Even, Numbers::All);
        let mut to = to.trim();
        loop {
            if let Some(rest) = to.strip_suffix(" log") {
                (to, spacing) = (rest.trim_end(), Spacing::Log);
            } else if let Some(rest) = to.strip_suffix(" whole") {
                (to, numbers) = (rest.trim_end(), Numbers::Whole);
            } else {
                break;
            }
        }
        let (to, count) = match to.rsplit_once(':') {
            None => (to, None),
            Some((to, n)) => match n.trim().parse::<usize>() {
                Ok(n @ 2..) => (to.trim(), Some(n)),
                Ok(n) => return Err(format!("{n} values do not make a range; give 2 or more, or the value alone")),
                Err(_) => return Err(format!("`{}` is no number of values", n.trim())),
            },
        };
        let (ends, unit) = Self::ends(from.trim(), to)?;
        let [a, b] = ends;
        if a == b {
            return Err("both ends are the same; give the value alone".to_owned());
        }
        if spacing == Spacing::Log && !(a > 0.0 && b > 0.0) {
            return Err("a logarithmic range needs two ends above zero".to_owned());
        }
        Ok(Range { ends, unit, count, spacing, numbers })
    }

    /// The ends in their unit if they have the same one, else in SI. A unit behind the last holds for both.
    fn ends(from: &str, to: &str) -> Result<([f64; 2], String), String> {
        let shared = match (split_unit(from), split_unit(to)) {
            (Some((a, "")), Some((b, unit))) => Some((a, b, unit)),
            (Some((a, first)), Some((b, last))) if first == last => Some((a, b, last)),
            _ => None,
        };
        if let Some((a, b, unit)) = shared {
            quantity(to)?;
            return Ok(([a, b], unit.to_owned()));
        }
        let (a, b) = (quantity(from)?, quantity(to)?);
        match (a.dimension, b.dimension) {
            (Some(x), Some(y)) if x != y => Err(format!("the ends are {} and {}", x.describe(), y.describe())),
            _ => Ok(([a.value, b.value], String::new())),
        }
    }

    /// The value at a place from 0 to 1. Twelve digits: a sum that misses 0.3 by rounding is 0.3.
    fn at(&self, u: f64) -> Value {
        let [a, b] = self.ends;
        let x = match self.spacing {
            Spacing::Even => (1.0 - u) * a + u * b,
            Spacing::Log => a * (b / a).powf(u),
        };
        let x = match self.numbers {
            Numbers::All => format!("{x:.11e}").parse().unwrap_or(x),
            Numbers::Whole => x.round(),
        };
        // No negative zero; TOML reads whole numbers, fractions and exponents alike.
        let x = x + 0.0;
        let number = if x == 0.0 || (1e-4..1e15).contains(&x.abs()) { format!("{x}") } else { format!("{x:e}") };
        Value::new(format!("{number} {}", self.unit).trim_end())
    }
}

/// The value of an end with its dimension.
fn quantity(text: &str) -> Result<Quantity, String> {
    let value = Expression::parse(text).and_then(|e| e.evaluate(|_| None, &[]));
    value.map_err(|e| format!("`{text}`: {}", e.message))
}

/// A number and the unit behind it; `None` for anything else, as arithmetic.
fn split_unit(text: &str) -> Option<(f64, &str)> {
    let of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '+' | '-' | '_');
    let mut end = text.find(|c| !of_number(c)).unwrap_or(text.len());
    // An exponent, if digits follow.
    if let Some(rest) = text[end..].strip_prefix(['e', 'E']) {
        let exponent = rest.find(|c| !of_number(c)).unwrap_or(rest.len());
        if rest[..exponent].contains(|c: char| c.is_ascii_digit()) {
            end += 1 + exponent;
        }
    }
    let number = text[..end].replace('_', "").parse().ok()?;
    quantity(text).ok()?;
    Some((number, text[end..].trim()))
}

/// Parts between commas that stand in no quotes and no brackets.
fn split_list(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{' | '(') => depth += 1,
            (None, ']' | '}' | ')') => depth -= 1,
            (None, ',') if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(given: &str) -> Vec<String> {
        Axis::parse(given).unwrap().grid().unwrap().into_iter().map(|v| v.text).collect()
    }

    #[track_caller]
    fn refused(given: &str, part: &str) {
        let error = Axis::parse(given).and_then(|axis| axis.grid()).unwrap_err().to_string();
        assert!(error.contains(part) && error.contains("--vary"), "{error}");
    }

    #[test]
    fn a_range_has_both_ends_and_even_steps_between_them() {
        assert_eq!(grid("let.f=20..90:8"), ["20", "30", "40", "50", "60", "70", "80", "90"]);
        assert_eq!(grid("x=0.1..0.5:5"), ["0.1", "0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(grid("x=-1..1:3"), ["-1", "0", "1"]);
        assert_eq!(grid("x=1e-7..3e-7:3"), ["1e-7", "2e-7", "3e-7"]);
        assert_eq!(grid("x=1..1000:4 log"), ["1", "10", "100", "1000"]);
        assert_eq!(grid("n=1..4:3 whole"), ["1", "3", "4"]);
    }

    #[test]
    fn ends_keep_their_unit_and_the_last_one_holds_for_both() {
        assert_eq!(grid("let.A=2 mm..30 mm:3"), ["2 mm", "16 mm", "30 mm"]);
        assert_eq!(grid("let.A=2..30 mm:3"), ["2 mm", "16 mm", "30 mm"]);
        let axis = Axis::parse("let.A=2 mm..30 mm:3").unwrap();
        let si: Vec<f64> = axis.grid().unwrap().iter().map(|v| v.si.unwrap()).collect();
        assert_eq!(si, [0.002, 0.016, 0.03]);
        // Different units, or arithmetic: SI.
        assert_eq!(grid("let.A=5 mm..1 cm:2"), ["0.005", "0.01"]);
        assert_eq!(grid("let.A=1/4..1/2:2"), ["0.25", "0.5"]);
        let speed = Axis::parse("v=10 rpm..20 rpm:2").unwrap().grid().unwrap();
        assert!((speed[0].si.unwrap() - std::f64::consts::PI / 3.0).abs() < 1e-15);
    }

    #[test]
    fn lists_are_split_where_no_quotes_or_brackets_are_open() {
        assert_eq!(grid("m.law=hertz, hooke"), ["hertz", "hooke"]);
        assert_eq!(grid("gravity=[0, 0, -9.81],[0, 0, -1.62]"), ["[0, 0, -9.81]", "[0, 0, -1.62]"]);
        assert_eq!(grid("t=\"a, b\",'c'"), ["\"a, b\"", "'c'"]);
        assert_eq!(grid("x=3 mm"), ["3 mm"]);
        let axis = Axis::parse("l=1 mm,hertz").unwrap().grid().unwrap();
        assert_eq!((axis[0].si, axis[1].si), (Some(1e-3), None));
    }

    #[test]
    fn bad_ranges_are_told() {
        refused("let.f", "PATH=VALUES");
        refused("let.f=", "PATH=VALUES");
        refused("let.f=1..2", "how many values?");
        refused("let.f=1..2:1", "1 values do not make a range");
        refused("let.f=1..2:x", "`x` is no number of values");
        refused("let.f=2..2:3", "both ends are the same");
        refused("let.f=0..2:3 log", "two ends above zero");
        refused("let.f=1 mm..3 kg:3", "the ends are a length and a mass");
        refused("let.f=1 mm..3:3", "the ends are a length and a plain number");
        refused("let.f=1..two:3", "unknown name `two`");
        refused("let.f=1..3 furlong:3", "furlong");
        refused("let.f=1,,2", "between commas is missing");
        refused("let.f=1,1", "the value 1 is there twice");
        refused("let.n=1..3:9 whole", "is there twice");
    }

    #[test]
    fn a_place_on_a_list_picks_an_entry_and_on_a_range_a_value() {
        let list = Axis::parse("x=a,b,c").unwrap();
        let picked: Vec<String> = [0.0, 0.33, 0.34, 0.99, 1.0].iter().map(|u| list.at(*u).text).collect();
        assert_eq!(picked, ["a", "a", "b", "c", "c"]);
        let range = Axis::parse("x=1 mm..100 mm log").unwrap();
        assert_eq!(range.at(0.5).text, "10 mm");
        assert_eq!(Value::new("13.4857201938 mm").short(), "13.4857 mm");
        assert_eq!(
            (short(1.0 / 3.0), short(2.5e-7), short(250_000.0)),
            ("0.333333".into(), "2.5e-7".into(), "250000".into())
        );
    }
}
