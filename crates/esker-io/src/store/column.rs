//! Columns of numbers in few bytes.
//!
//! Each value becomes an integer of 1 to 4 bytes, by one of four codes:
//!
//! - `single`: a float of single precision.
//! - `half`: value over `scale`, the largest size in the column, as an IEEE half float. Relative error at most 2⁻¹¹ = 0.05 %
//!   above 6e-5 of the largest, below it absolute: 3e-8 of the largest.
//! - `step`: (value − `origin`) / `step`, rounded. Absolute error at most half a step.
//! - `whole`: value − `least`, exact below 2³²; with `delta`, what it grows by from row to row.
//!
//! Then the first bytes of all values of the first component stand together, then their second bytes, and so on through the
//! components: bytes of the same meaning side by side are what deflate can make small.

use flate2::Compression;
use flate2::bufread::DeflateDecoder;
use flate2::write::DeflateEncoder;
use half::f16;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};

/// How values become integers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum Code {
    /// Single floats.
    Single,
    /// Half floats.
    Half {
        /// Value of 1.
        scale: f64,
    },
    /// Even steps.
    Step {
        /// Value of 0, for each component.
        origin: Vec<f64>,
        /// From one value to the next.
        step: f64,
        /// Bytes of a number.
        bytes: usize,
    },
    /// Integers.
    Whole {
        /// Value of 0.
        least: f64,
        /// Bytes of a number.
        bytes: usize,
        /// Each is what is added to the last.
        delta: bool,
    },
}

impl Code {
    fn bytes(&self) -> usize {
        match self {
            Code::Single => 4,
            Code::Half { .. } => 2,
            Code::Step { bytes, .. } | Code::Whole { bytes, .. } => *bytes,
        }
    }
}

/// A column in a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coded {
    /// Name.
    pub name: String,
    /// Unit, empty for none.
    pub unit: String,
    /// Names of the components, none for a single number.
    pub components: Vec<String>,
    /// How values become integers.
    #[serde(flatten)]
    pub code: Code,
    /// Where it begins in the body of the block.
    pub at: u64,
    /// Compressed bytes.
    pub length: u64,
}

/// Numbers of each row, one row after another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// Name.
    pub name: String,
    /// Unit, empty for none.
    pub unit: String,
    /// Names of the components, none for a single number.
    pub components: Vec<String>,
    /// The numbers.
    pub values: Vec<f64>,
}

impl Column {
    /// Numbers in a row.
    pub fn width(&self) -> usize {
        self.components.len().max(1)
    }

    /// The numbers of a row.
    pub fn row(&self, row: usize) -> &[f64] {
        let width = self.width();
        &self.values[row * width..][..width]
    }

    /// A vector as an array.
    pub fn vector(&self, row: usize) -> [f64; 3] {
        let numbers = self.row(row);
        std::array::from_fn(|k| numbers.get(k).copied().unwrap_or(0.0))
    }
}

/// Bytes that numbers from 0 to the largest need.
fn bytes_for(largest: f64) -> usize {
    (1..4).find(|&bytes| largest < 256f64.powi(bytes)).unwrap_or(4) as usize
}

/// The code for measures.
pub fn half(values: &[f64]) -> Code {
    let largest = values.iter().filter(|v| v.is_finite()).fold(0.0f64, |a, v| a.max(v.abs()));
    Code::Half { scale: if largest > 0.0 { largest } else { 1.0 } }
}

/// The code for places, `width` numbers in a row; a coarser step than asked for where 4 bytes are too few.
pub fn steps(values: &[f64], width: usize, step: f64) -> Code {
    let over = |f: fn(f64, f64) -> f64, start: f64| {
        (0..width).map(|k| values.iter().skip(k).step_by(width).fold(start, |a, &v| f(a, v))).collect::<Vec<f64>>()
    };
    let (low, high) = (over(f64::min, f64::INFINITY), over(f64::max, f64::NEG_INFINITY));
    let extent = low.iter().zip(&high).map(|(a, b)| b - a).fold(0.0, f64::max);
    let step = if step > 0.0 { step.max(extent / 4e9) } else { 1.0 };
    let origin = low.iter().map(|v| if v.is_finite() { *v } else { 0.0 }).collect();
    Code::Step { origin, step, bytes: bytes_for((extent / step).round()) }
}

/// The code for integers.
pub fn whole(values: &[f64]) -> Code {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = if low.is_finite() { low } else { 0.0 };
    Code::Whole { least, bytes: bytes_for(if high > least { high - least } else { 0.0 }), delta: false }
}

/// The code for integers that never fall.
pub fn rising(values: &[f64]) -> Code {
    let least = values.first().copied().unwrap_or(0.0);
    let largest = values.windows(2).map(|w| w[1] - w[0]).fold(0.0, f64::max);
    Code::Whole { least, bytes: bytes_for(largest), delta: true }
}

/// The bytes of some values, compressed.
pub fn encode(code: &Code, values: &[f64], width: usize) -> Vec<u8> {
    let (bytes, rows) = (code.bytes(), values.len() / width);
    let mut last = match code {
        Code::Whole { least, .. } => *least,
        _ => 0.0,
    };
    let mut integer = |value: f64, component: usize| -> u32 {
        match code {
            Code::Single => (value as f32).to_bits(),
            Code::Half { scale } => f16::from_f64(value / scale).to_bits().into(),
            Code::Step { origin, step, .. } => ((value - origin[component]) / step).round() as u32,
            Code::Whole { least, delta: false, .. } => (value - least) as u32,
            Code::Whole { .. } => (value - std::mem::replace(&mut last, value)) as u32,
        }
    };
    let mut planes = vec![0u8; rows * width * bytes];
    for component in 0..width {
        for row in 0..rows {
            let number = integer(values[row * width + component], component).to_le_bytes();
            for (byte, value) in number[..bytes].iter().enumerate() {
                planes[(component * bytes + byte) * rows + row] = *value;
            }
        }
    }
    let mut out = DeflateEncoder::new(Vec::new(), Compression::new(4));
    // Memory takes all that is written to it.
    out.write_all(&planes).and_then(|()| out.finish()).expect("memory")
}

/// The values of a column with so many rows, or what is wrong.
pub fn decode(coded: &Coded, rows: usize, compressed: &[u8]) -> Result<Vec<f64>, String> {
    let (bytes, width) = (coded.code.bytes(), coded.components.len().max(1));
    if !(1..=4).contains(&bytes) {
        return Err(format!("the column `{}` has numbers of {bytes} bytes", coded.name));
    }
    if let Code::Step { origin, .. } = &coded.code
        && origin.len() != width
    {
        return Err(format!("the column `{}` has {} origins for {width} components", coded.name, origin.len()));
    }
    let expected = rows.checked_mul(width * bytes).ok_or_else(|| format!("{rows} rows are too many"))?;
    let mut planes = Vec::new();
    let limit = expected as u64 + 1;
    DeflateDecoder::new(compressed)
        .take(limit)
        .read_to_end(&mut planes)
        .map_err(|e| format!("the column `{}` cannot be unpacked ({e})", coded.name))?;
    if planes.len() != expected {
        let (name, found) = (&coded.name, planes.len());
        return Err(format!("the column `{name}` has {found} bytes where {expected} were expected"));
    }
    let mut values = vec![0.0; rows * width];
    for component in 0..width {
        let mut sum = 0.0;
        for row in 0..rows {
            let mut number = [0u8; 4];
            for (byte, value) in number[..bytes].iter_mut().enumerate() {
                *value = planes[(component * bytes + byte) * rows + row];
            }
            let number = u32::from_le_bytes(number);
            values[row * width + component] = match &coded.code {
                Code::Single => f32::from_bits(number).into(),
                Code::Half { scale } => f16::from_bits(number as u16).to_f64() * scale,
                Code::Step { origin, step, .. } => origin[component] + f64::from(number) * step,
                Code::Whole { least, delta: false, .. } => least + f64::from(number),
                Code::Whole { least, .. } => {
                    sum += f64::from(number);
                    least + sum
                }
            };
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back(code: Code, values: &[f64], width: usize) -> Vec<f64> {
        let bytes = encode(&code, values, width);
        let components = if width > 1 { (0..width).map(|k| k.to_string()).collect() } else { Vec::new() };
        let length = bytes.len() as u64;
        let coded = Coded { name: "x".into(), unit: String::new(), components, code, at: 0, length };
        decode(&coded, values.len() / width, &bytes).unwrap()
    }

    #[test]
    fn measures_come_back_to_half_precision_whatever_their_size() {
        let values: Vec<f64> = (0..3000).map(|k| 1e-12 * (f64::from(k) * 0.37).sin() * f64::from(k % 10)).collect();
        let back = there_and_back(half(&values), &values, 3);
        for (a, b) in values.iter().zip(&back) {
            assert!((a - b).abs() <= a.abs() / 2048.0 + 3e-8 * 9e-12, "{a} {b}");
        }
        assert_eq!(there_and_back(half(&[0.0; 4]), &[0.0; 4], 1), [0.0; 4]);
    }

    #[test]
    fn places_come_back_to_half_a_step() {
        for far in [1.0, 1e3, 1e5] {
            let values: Vec<f64> = (0..999).map(|k| far * (f64::from(k) * 1.7).sin()).collect();
            let back = there_and_back(steps(&values, 3, 1e-3), &values, 3);
            let worst = values.iter().zip(&back).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst > 3e-4 && worst <= 0.5e-3 * (1.0 + 1e-6), "{worst}");
        }
    }

    #[test]
    fn integers_come_back_exactly() {
        for values in [vec![3.0, 1.0, 2.0, 70000.0], vec![-1.0, 5.0], vec![7.0], vec![]] {
            assert_eq!(there_and_back(whole(&values), &values, 1), values);
        }
        let ids = [5.0, 6.0, 9.0, 9.0, 123_456_789_012.0 - 123_456_000_000.0];
        assert_eq!(there_and_back(rising(&ids), &ids, 1), ids);
    }

    #[test]
    fn bytes_that_do_not_fit_are_refused() {
        let values = [1.0, 2.0, 3.0];
        let code = whole(&values);
        let bytes = encode(&code, &values, 1);
        let coded = |code: Code| Coded {
            name: "x".into(),
            unit: String::new(),
            components: vec![],
            code,
            at: 0,
            length: bytes.len() as u64,
        };
        assert!(decode(&coded(code.clone()), 4, &bytes).unwrap_err().contains("3 bytes where 4"));
        assert!(decode(&coded(code.clone()), 2, &bytes).is_err());
        assert!(decode(&coded(code), 3, &bytes[..1]).is_err());
        let odd = Code::Whole { least: 0.0, bytes: 9, delta: false };
        assert!(decode(&coded(odd), 3, &bytes).is_err());
    }
}
