//! What a picture shall show, and how it is written on a command line.

use super::image::Size;
use crate::choice::{Choice, Unknown};
use crate::colour::{Map, Rgb};
use esker::math::Vec3;
use std::str::FromStr;

/// Largest width or height of a picture.
const MOST_PIXELS: usize = 16384;
/// Smallest width or height of a picture.
const FEWEST_PIXELS: usize = 64;

/// From where one looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// x to the right, what is up upwards.
    Front,
    /// From behind.
    Back,
    /// From the right.
    Side,
    /// From above.
    Top,
    /// Three quarters: from the front right and above.
    Iso,
}

impl Choice for Side {
    const WHAT: &'static str = "views";
    const ALL: &'static [(&'static str, Self)] =
        &[("front", Side::Front), ("back", Side::Back), ("side", Side::Side), ("top", Side::Top), ("iso", Side::Iso)];
}

/// Whether depth makes things smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Projection {
    /// No.
    Orthographic,
    /// Yes.
    Perspective,
}

/// What is behind everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Background {
    /// White.
    White,
    /// Black.
    Black,
    /// Nothing.
    Transparent,
}

impl Choice for Background {
    const WHAT: &'static str = "backgrounds";
    const ALL: &'static [(&'static str, Self)] =
        &[("white", Background::White), ("black", Background::Black), ("transparent", Background::Transparent)];
}

impl Background {
    /// What fades away takes this colour.
    pub fn colour(self) -> Rgb {
        if self == Background::Black { Rgb::BLACK } else { Rgb::WHITE }
    }

    /// Lines and letters.
    pub fn ink(self) -> Rgb {
        if self == Background::Black { Rgb::hex(0xe8e8e8) } else { Rgb::hex(0x202020) }
    }

    /// A pixel with nothing before it.
    pub fn pixel(self) -> [u8; 4] {
        match self {
            Background::White => [255; 4],
            Background::Black => [0, 0, 0, 255],
            Background::Transparent => [0; 4],
        }
    }
}

/// The value of an option that was not understood: what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("give {0}")]
pub struct Wanted(&'static str);

impl FromStr for Side {
    type Err = Unknown;

    fn from_str(word: &str) -> Result<Self, Unknown> {
        Self::choose(word)
    }
}

impl FromStr for Background {
    type Err = Unknown;

    fn from_str(word: &str) -> Result<Self, Unknown> {
        Self::choose(word)
    }
}

impl FromStr for Size {
    type Err = Wanted;

    fn from_str(text: &str) -> Result<Self, Wanted> {
        let wanted = Wanted("width and height in pixels, each from 64 to 16384, for example 1280x720");
        let (width, height) = text.split_once(['x', '×']).ok_or(wanted.clone())?;
        let pixels = |text: &str| text.trim().parse().ok().filter(|n| (FEWEST_PIXELS..=MOST_PIXELS).contains(n));
        let (width, height) = pixels(width).zip(pixels(height)).ok_or(wanted)?;
        Ok(Size { width, height })
    }
}

/// Lowest and highest value of a colour bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Lowest.
    pub min: f64,
    /// Highest.
    pub max: f64,
}

impl Range {
    /// The range of nothing; growing it by a value gives that value.
    pub const EMPTY: Range = Range { min: f64::INFINITY, max: f64::NEG_INFINITY };

    /// Grown by a value, unless that is no number.
    pub fn including(self, value: f64) -> Self {
        if value.is_finite() { Range { min: self.min.min(value), max: self.max.max(value) } } else { self }
    }

    /// Where a value is between lowest and highest.
    pub fn share(&self, value: f64) -> f64 {
        (value - self.min) / (self.max - self.min)
    }
}

impl FromStr for Range {
    type Err = Wanted;

    fn from_str(text: &str) -> Result<Self, Wanted> {
        let wanted = Wanted("two numbers, the lower first, in the unit of the field, for example 0:1.5");
        let (min, max) = text.split_once(':').ok_or(wanted.clone())?;
        let (min, max) = number(min).zip(number(max)).ok_or(wanted.clone())?;
        if min < max { Ok(Range { min, max }) } else { Err(wanted) }
    }
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|x: &f64| x.is_finite())
}

/// A place or a direction: `x,y,z`.
pub fn vector(text: &str) -> Result<Vec3, Wanted> {
    let wanted = || Wanted("three numbers in metres, for example 0.5,-1,0.3");
    let numbers: Option<Vec<f64>> = text.split(',').map(number).collect();
    let [x, y, z] = numbers.and_then(|n| <[f64; 3]>::try_from(n).ok()).ok_or_else(wanted)?;
    Ok(Vec3::new(x, y, z))
}

/// A direction: `x,y,z`, not all of them zero.
pub fn direction(text: &str) -> Result<Vec3, Wanted> {
    let wanted = || Wanted("three numbers that are not all zero, for example 0,0,1");
    vector(text).ok().and_then(Vec3::try_normalize).ok_or_else(wanted)
}

/// A factor.
pub fn zoom(text: &str) -> Result<f64, Wanted> {
    number(text).filter(|z| (1e-3..=1e4).contains(z)).ok_or(Wanted("a factor from 0.001 to 10000, for example 1.5"))
}

/// Which part is left by a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// What lies behind it, seen from the eye.
    Behind,
    /// What lies before it.
    Before,
}

/// A plane that cuts a part away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clip {
    /// Across it.
    pub axis: Vec3,
    /// Where it is along the axis \[m\].
    pub position: f64,
    /// What is left.
    pub kept: Kept,
}

impl FromStr for Clip {
    type Err = Wanted;

    fn from_str(text: &str) -> Result<Self, Wanted> {
        let wanted = || Wanted("an axis and a position in metres, for example y:0.1, or y:0.1:flip for the other part");
        let mut parts = text.split(':');
        let axis = match parts.next().map(str::trim) {
            Some("x") => Vec3::X,
            Some("y") => Vec3::Y,
            Some("z") => Vec3::Z,
            _ => return Err(wanted()),
        };
        let position = parts.next().and_then(number).ok_or_else(wanted)?;
        let kept = match (parts.next(), parts.next()) {
            (None, _) => Kept::Behind,
            (Some("flip"), None) => Kept::Before,
            _ => return Err(wanted()),
        };
        Ok(Clip { axis, position, kept })
    }
}

/// All that is to be said of a picture. The default is what is drawn when nothing is said.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Width and height.
    pub size: Size,
    /// Named view; without one `Front` for planar scenes, `Iso` for others.
    pub side: Option<Side>,
    /// Where the eye is \[m\]; without one far enough away to see everything.
    pub eye: Option<Vec3>,
    /// What is in the middle \[m\].
    pub target: Option<Vec3>,
    /// What is up.
    pub up: Option<Vec3>,
    /// Without one orthographic for planar scenes, perspective for others.
    pub projection: Option<Projection>,
    /// Enlarges.
    pub zoom: f64,
    /// Field of the grains; without one `velocity`, or plain grey where contacts are drawn.
    pub colour: Option<String>,
    /// Map of the first bar.
    pub map: Option<Map>,
    /// Range of the first bar; without one that of all frames drawn.
    pub range: Option<Range>,
    /// Field of the contacts: they are drawn, and the grains are pale.
    pub contacts: Option<String>,
    /// Draws walls.
    pub walls: bool,
    /// Cuts a part away.
    pub clip: Option<Clip>,
    /// Draws colour bars and legends.
    pub bar: bool,
    /// Tells the time.
    pub time: bool,
    /// Heading.
    pub title: Option<String>,
    /// What is behind everything.
    pub background: Background,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            size: Size { width: 1280, height: 720 },
            side: None,
            eye: None,
            target: None,
            up: None,
            projection: None,
            zoom: 1.0,
            colour: None,
            map: None,
            range: None,
            contacts: None,
            walls: true,
            clip: None,
            bar: true,
            time: true,
            title: None,
            background: Background::White,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_options_are_read_and_bad_ones_refused() {
        assert_eq!("640x480".parse(), Ok(Size { width: 640, height: 480 }));
        for bad in ["640", "640x", "x480", "8x8", "640x99999", "-640x480", "1e3x480"] {
            assert!(bad.parse::<Size>().is_err(), "{bad}");
        }
        assert_eq!("-1:2e3".parse(), Ok(Range { min: -1.0, max: 2e3 }));
        for bad in ["1", "2:1", "1:1", "a:b", "0:inf", "nan:1"] {
            assert!(bad.parse::<Range>().is_err(), "{bad}");
        }
        assert_eq!("y:0.1:flip".parse(), Ok(Clip { axis: Vec3::Y, position: 0.1, kept: Kept::Before }));
        for bad in ["y", "w:0", "y:a", "y:0:flop", "y:0:flip:flip", ""] {
            assert!(bad.parse::<Clip>().is_err(), "{bad}");
        }
        assert_eq!(vector("1, -2,3e-1"), Ok(Vec3::new(1.0, -2.0, 0.3)));
        assert!(vector("1,2").is_err() && direction("0,0,0").is_err() && zoom("0").is_err());
        assert!("frnot".parse::<Side>().unwrap_err().to_string().contains("did you mean `front`?"));
    }
}
