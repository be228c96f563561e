//! Physical dimensions and the units a scene may write.

use std::fmt;

/// Exponents are counted in sixths, so that square and cube roots of whole powers stay exact.
const SIXTHS: i16 = 6;

/// A physical dimension: powers of metre, kilogram and second. Angles are plain numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dimension([i16; 3]);

impl Dimension {
    /// m^`metre` kg^`kilogram` s^`second`, whole powers.
    pub const fn new(metre: i8, kilogram: i8, second: i8) -> Dimension {
        Dimension([metre as i16 * SIXTHS, kilogram as i16 * SIXTHS, second as i16 * SIXTHS])
    }

    /// A plain number \[-\].
    pub const NONE: Dimension = Dimension::new(0, 0, 0);
    /// \[m\]
    pub const LENGTH: Dimension = Dimension::new(1, 0, 0);
    /// \[m²\]
    pub const AREA: Dimension = Dimension::new(2, 0, 0);
    /// \[m³\]
    pub const VOLUME: Dimension = Dimension::new(3, 0, 0);
    /// \[kg\]
    pub const MASS: Dimension = Dimension::new(0, 1, 0);
    /// \[s\]
    pub const TIME: Dimension = Dimension::new(0, 0, 1);
    /// \[1/s\]
    pub const RATE: Dimension = Dimension::new(0, 0, -1);
    /// \[m/s\]
    pub const SPEED: Dimension = Dimension::new(1, 0, -1);
    /// \[m/s²\]
    pub const ACCELERATION: Dimension = Dimension::new(1, 0, -2);
    /// \[N\]
    pub const FORCE: Dimension = Dimension::new(1, 1, -2);
    /// \[J\], also of a torque \[N m\]
    pub const ENERGY: Dimension = Dimension::new(2, 1, -2);
    /// \[Pa\]
    pub const PRESSURE: Dimension = Dimension::new(-1, 1, -2);
    /// \[Pa s\]
    pub const VISCOSITY: Dimension = Dimension::new(-1, 1, -1);
    /// \[N/m\]
    pub const STIFFNESS: Dimension = Dimension::new(0, 1, -2);
    /// \[N s/m\], also of a mass rate \[kg/s\]
    pub const DAMPING: Dimension = Dimension::new(0, 1, -1);
    /// \[kg/m³\]
    pub const DENSITY: Dimension = Dimension::new(-3, 1, 0);
    /// \[kg/m²\]
    pub const AREA_DENSITY: Dimension = Dimension::new(-2, 1, 0);
    /// \[m³/(kg s²)\], of the constant of attraction
    pub const ATTRACTION: Dimension = Dimension::new(3, -1, -2);

    /// The dimension of a product; `None` when an exponent leaves the range that makes sense.
    pub fn times(self, other: Dimension) -> Option<Dimension> {
        self.combine(other, 1)
    }

    /// The dimension of a quotient.
    pub fn over(self, other: Dimension) -> Option<Dimension> {
        self.combine(other, -1)
    }

    /// The dimension of a power; `None` when an exponent is no whole number of sixths, or out of range.
    pub fn power(self, exponent: f64) -> Option<Dimension> {
        let mut out = [0; 3];
        for (to, from) in out.iter_mut().zip(self.0) {
            let sixths = f64::from(from) * exponent;
            // 1/3 is not exact in binary; a millionth of a sixth is far below any real difference.
            if !(sixths.abs() <= f64::from(Self::LIMIT) && (sixths - sixths.round()).abs() < 1e-6) {
                return None;
            }
            *to = sixths.round() as i16;
        }
        Some(Dimension(out))
    }

    /// Largest exponent: 50 whole powers.
    const LIMIT: i16 = 50 * SIXTHS;

    fn combine(self, other: Dimension, sign: i16) -> Option<Dimension> {
        let mut out = self.0;
        for (to, from) in out.iter_mut().zip(other.0) {
            *to += sign * from;
            if to.abs() > Self::LIMIT {
                return None;
            }
        }
        Some(Dimension(out))
    }

    /// The dimension as part of a sentence: "a length", "a force", "a quantity in kg m".
    pub fn describe(self) -> String {
        const NAMED: [(Dimension, &str); 17] = [
            (Dimension::NONE, "a plain number"),
            (Dimension::LENGTH, "a length"),
            (Dimension::AREA, "an area"),
            (Dimension::VOLUME, "a volume"),
            (Dimension::MASS, "a mass"),
            (Dimension::TIME, "a time"),
            (Dimension::RATE, "a rate (1/s)"),
            (Dimension::SPEED, "a velocity"),
            (Dimension::ACCELERATION, "an acceleration"),
            (Dimension::FORCE, "a force"),
            (Dimension::ENERGY, "an energy or torque (N m)"),
            (Dimension::PRESSURE, "a pressure"),
            (Dimension::VISCOSITY, "a viscosity"),
            (Dimension::STIFFNESS, "a stiffness (N/m)"),
            (Dimension::DAMPING, "a damping coefficient or mass rate (kg/s)"),
            (Dimension::DENSITY, "a density (kg/m^3)"),
            (Dimension::AREA_DENSITY, "a density per area (kg/m^2)"),
        ];
        match NAMED.iter().find(|(dimension, _)| *dimension == self) {
            Some((_, name)) => (*name).to_string(),
            None => format!("a quantity in {self}"),
        }
    }
}

/// In base units, divided ones with a slash each: `kg m/s^2`, `1/s`; `1` for a plain number.
impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let symbols = [(self.0[1], "kg"), (self.0[0], "m"), (self.0[2], "s")];
        let factor = |exponent: i16, symbol: &str| match (exponent, exponent % SIXTHS) {
            (SIXTHS, _) => symbol.to_string(),
            (e, 0) => format!("{symbol}^{}", e / SIXTHS),
            (e, 3 | -3) => format!("{symbol}^({}/2)", e / 3),
            (e, 2 | 4 | -2 | -4) => format!("{symbol}^({}/3)", e / 2),
            (e, _) => format!("{symbol}^({e}/6)"),
        };
        let above: Vec<String> = symbols.iter().filter(|s| s.0 > 0).map(|s| factor(s.0, s.1)).collect();
        if above.is_empty() {
            f.write_str("1")?;
        }
        f.write_str(&above.join(" "))?;
        for (exponent, symbol) in symbols.iter().filter(|s| s.0 < 0) {
            write!(f, "/{}", factor(-exponent, symbol))?;
        }
        Ok(())
    }
}

/// A unit: what it is called, its size in SI and its dimension, and whether it takes the prefixes k, M, m, …
struct Unit {
    symbol: &'static str,
    size: f64,
    dimension: Dimension,
    prefixed: bool,
}

const fn unit(symbol: &'static str, size: f64, dimension: Dimension, prefixed: bool) -> Unit {
    Unit { symbol, size, dimension, prefixed }
}

const TURN: f64 = 2.0 * std::f64::consts::PI;

const UNITS: [Unit; 20] = [
    unit("m", 1.0, Dimension::LENGTH, true),
    unit("g", 1e-3, Dimension::MASS, true),
    unit("tonne", 1e3, Dimension::MASS, false),
    unit("s", 1.0, Dimension::TIME, true),
    unit("min", 60.0, Dimension::TIME, false),
    unit("h", 3600.0, Dimension::TIME, false),
    unit("day", 86400.0, Dimension::TIME, false),
    unit("N", 1.0, Dimension::FORCE, true),
    unit("Pa", 1.0, Dimension::PRESSURE, true),
    unit("bar", 1e5, Dimension::PRESSURE, true),
    unit("J", 1.0, Dimension::ENERGY, true),
    unit("W", 1.0, Dimension::new(2, 1, -3), true),
    unit("Hz", 1.0, Dimension::RATE, true),
    unit("L", 1e-3, Dimension::VOLUME, true),
    unit("rad", 1.0, Dimension::NONE, true),
    unit("deg", TURN / 360.0, Dimension::NONE, false),
    unit("°", TURN / 360.0, Dimension::NONE, false),
    unit("rev", TURN, Dimension::NONE, false),
    unit("rpm", TURN / 60.0, Dimension::RATE, false),
    unit("ppm", 1e-6, Dimension::NONE, false),
];

const PREFIXES: [(&str, f64); 9] = [
    ("T", 1e12),
    ("G", 1e9),
    ("M", 1e6),
    ("k", 1e3),
    ("m", 1e-3),
    ("u", 1e-6),
    ("µ", 1e-6), // micro sign
    ("μ", 1e-6), // Greek mu
    ("n", 1e-9),
];

/// Prefixes in use for lengths only.
const LENGTH_PREFIXES: [(&str, f64); 2] = [("c", 1e-2), ("d", 1e-1)];

/// Size in SI and dimension of a unit symbol such as `mm`, `kPa` or `rpm`.
pub(super) fn find(symbol: &str) -> Option<(f64, Dimension)> {
    if let Some(unit) = UNITS.iter().find(|unit| unit.symbol == symbol) {
        return Some((unit.size, unit.dimension));
    }
    let lengths = LENGTH_PREFIXES.iter().filter(|_| symbol.ends_with('m'));
    for (prefix, scale) in PREFIXES.iter().chain(lengths) {
        let Some(rest) = symbol.strip_prefix(prefix) else { continue };
        if let Some(unit) = UNITS.iter().find(|unit| unit.prefixed && unit.symbol == rest) {
            // mm = 1/1000 m exactly rounded: divide where the prefix is a fraction, 1e-3 itself is inexact.
            let size = if *scale < 1.0 { unit.size / (1.0 / scale).round() } else { unit.size * scale };
            return Some((size, unit.dimension));
        }
    }
    None
}

/// Symbols worth suggesting for a mistyped unit.
pub(super) fn common() -> Vec<&'static str> {
    let prefixed = ["mm", "cm", "km", "um", "kg", "mg", "ms", "us", "kN", "mN", "kPa", "MPa", "GPa", "kHz", "mJ", "kJ"];
    UNITS.iter().map(|unit| unit.symbol).chain(prefixed).collect()
}
