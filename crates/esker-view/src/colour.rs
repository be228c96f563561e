//! Colours for values: maps computed from a few control points, and a set of colours for things that have names.
//!
//! The sequential maps grow lighter all the way (tested in CIELAB), so that they read the same in grey print and for the
//! colour-blind. `viridis` and `magma` are by N. Smith and S. van der Walt (2015), `cividis` by J. Nuñez, C. Anderton and
//! R. Renslow (2018), `coolwarm` by K. Moreland (2009): two directions from a pale middle.

use crate::choice::{Choice, Unknown};
use std::fmt;
use std::str::FromStr;

/// A colour: red, green and blue as a screen takes them (sRGB), from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rgb(pub [f32; 3]);

impl Rgb {
    /// White.
    pub const WHITE: Rgb = Rgb([1.0; 3]);
    /// Black.
    pub const BLACK: Rgb = Rgb([0.0; 3]);

    /// A colour by its bytes, as `0x440154`.
    pub fn hex(bytes: u32) -> Self {
        let part = |shift: u32| (bytes >> shift & 0xff) as f32 / 255.0;
        Rgb([part(16), part(8), part(0)])
    }

    /// The colour as bytes.
    pub fn bytes(self) -> [u8; 3] {
        self.0.map(|c| (255.0 * c.clamp(0.0, 1.0)).round() as u8)
    }

    /// Part of the way to another colour.
    pub fn towards(self, other: Rgb, part: f32) -> Rgb {
        Rgb(std::array::from_fn(|k| self.0[k] + part * (other.0[k] - self.0[k])))
    }

    /// Darker, or lighter, by a factor.
    pub fn times(self, factor: f32) -> Rgb {
        Rgb(self.0.map(|c| c * factor))
    }

    /// Lightness L* of CIELAB, from 0 to 100 (D65).
    pub fn lightness(self) -> f32 {
        let linear = self.0.map(|c| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) });
        let y = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
        if y > 216.0 / 24389.0 { 116.0 * y.cbrt() - 16.0 } else { y * 24389.0 / 27.0 }
    }
}

/// Control points of a map, evenly spread.
type Points = &'static [u32];

const VIRIDIS: Points =
    &[0x440154, 0x482475, 0x414487, 0x355f8d, 0x2a788e, 0x21918c, 0x22a884, 0x44bf70, 0x7ad151, 0xbddf26, 0xfde725];
const CIVIDIS: Points =
    &[0x00224e, 0x123570, 0x3b496c, 0x575d6d, 0x707173, 0x8a8678, 0xa59c74, 0xc3b369, 0xe1cc55, 0xfee838];
const MAGMA: Points =
    &[0x000004, 0x140e36, 0x3b0f70, 0x641a80, 0x8c2981, 0xb73779, 0xde4968, 0xf7705c, 0xfe9f6d, 0xfecf92, 0xfcfdbf];
const COOLWARM: Points = &[0x3b4cc0, 0x6788ee, 0x9abbff, 0xc9d7f0, 0xedd1c2, 0xf7a889, 0xe26952, 0xb40426];
const GREY: Points = &[0x1c1c1c, 0xf0f0f0];

/// A map from numbers between 0 and 1 to colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Map {
    /// Dark violet through green to yellow.
    Viridis,
    /// Dark blue through grey to yellow: nearly the same for the colour-blind.
    Cividis,
    /// Black through red to pale yellow.
    Magma,
    /// Blue through pale grey to red: for values about zero.
    Coolwarm,
    /// Dark to light grey.
    Grey,
}

impl Choice for Map {
    const WHAT: &'static str = "maps";
    const ALL: &'static [(&'static str, Self)] = &[
        ("viridis", Map::Viridis),
        ("cividis", Map::Cividis),
        ("magma", Map::Magma),
        ("coolwarm", Map::Coolwarm),
        ("grey", Map::Grey),
    ];
}

impl FromStr for Map {
    type Err = Unknown;

    fn from_str(word: &str) -> Result<Self, Unknown> {
        Self::choose(word)
    }
}

impl fmt::Display for Map {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Map {
    /// The colour of a number; beyond 0 and 1 that of the nearer end.
    pub fn at(self, value: f64) -> Rgb {
        let points = match self {
            Map::Viridis => VIRIDIS,
            Map::Cividis => CIVIDIS,
            Map::Magma => MAGMA,
            Map::Coolwarm => COOLWARM,
            Map::Grey => GREY,
        };
        let last = points.len() - 1;
        let x = value.clamp(0.0, 1.0) * last as f64;
        let k = (x as usize).min(last - 1);
        Rgb::hex(points[k]).towards(Rgb::hex(points[k + 1]), (x - k as f64) as f32)
    }

    /// Whether its middle means zero.
    pub fn is_diverging(self) -> bool {
        self == Map::Coolwarm
    }
}

/// Colours of things that have names, apart from each other also for the colour-blind (Okabe and Ito 2008, without black).
const NAMED: [u32; 7] = [0x0072b2, 0xe69f00, 0x009e73, 0xcc79a7, 0x56b4e9, 0xd55e00, 0xf0e442];

/// The colour of the n-th thing that has a name. They come again after seven, each round darker.
pub fn named(n: usize) -> Rgb {
    Rgb::hex(NAMED[n % NAMED.len()]).times(0.7f32.powi((n / NAMED.len()) as i32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequential_maps_grow_lighter_all_the_way() {
        for map in [Map::Viridis, Map::Cividis, Map::Magma, Map::Grey] {
            let lightness: Vec<f32> = (0..=1000).map(|k| map.at(f64::from(k) / 1000.0).lightness()).collect();
            assert!(lightness.windows(2).all(|pair| pair[0] < pair[1]), "{map}");
            assert!(lightness[1000] - lightness[0] > 70.0, "{map} spans {} to {}", lightness[0], lightness[1000]);
        }
    }

    #[test]
    fn a_diverging_map_is_lightest_in_its_middle_and_its_ends_are_equally_dark() {
        let lightness = |x: f64| Map::Coolwarm.at(x).lightness();
        for k in 0..500 {
            let x = f64::from(k) / 1000.0;
            assert!(
                lightness(x) < lightness(x + 0.001) + 0.5 && lightness(1.0 - x) < lightness(0.999 - x) + 0.5,
                "{x}"
            );
        }
        assert!((lightness(0.0) - lightness(1.0)).abs() < 5.0);
    }

    #[test]
    fn lightness_is_that_of_the_standard() {
        assert!((Rgb::WHITE.lightness() - 100.0).abs() < 1e-3 && Rgb::BLACK.lightness() == 0.0);
        // sRGB red has L* = 53.24.
        assert!((Rgb::hex(0xff0000).lightness() - 53.24).abs() < 0.01);
    }

    #[test]
    fn values_beyond_the_ends_take_the_colour_of_the_end() {
        assert_eq!(Map::Viridis.at(-3.0), Rgb::hex(0x440154));
        assert_eq!(Map::Viridis.at(7.0).bytes(), [0xfd, 0xe7, 0x25]);
        assert!("viridsi".parse::<Map>().unwrap_err().to_string().contains("did you mean `viridis`?"));
    }
}
