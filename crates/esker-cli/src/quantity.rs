//! Numbers with units on the command line.

use crate::Failure;
use esker::expression::{Dimension, Expression};

/// A number with a unit of a dimension, in SI; without a unit it is in SI already.
pub fn value(flag: &str, text: &str, dimension: Dimension) -> Result<f64, Failure> {
    let quantity = Expression::parse(text)
        .and_then(|e| e.evaluate(|_| None, &[]))
        .map_err(|e| format!("`{flag} {text}`: {}", e.message))?;
    match quantity.dimension {
        Some(other) if other != dimension && other != Dimension::NONE => {
            Err(format!("`{flag} {text}` is {}, {} was expected", other.describe(), dimension.describe()).into())
        }
        _ => Ok(quantity.value),
    }
}

/// The same, above zero and finite.
pub fn positive(flag: &str, text: &str, dimension: Dimension) -> Result<f64, Failure> {
    match value(flag, text, dimension)? {
        value if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err(format!("`{flag} {text}` must be {} above zero", dimension.describe()).into()),
    }
}
