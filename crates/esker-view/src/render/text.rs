//! Letters in a picture: DejaVu Sans, which has the superscripts and Greek letters of units.

use super::image::{Image, Rect};
use crate::colour::Rgb;
use ab_glyph::{Font, FontRef, GlyphId, PxScale, ScaleFont, point};
use std::sync::OnceLock;

fn font() -> &'static FontRef<'static> {
    static FONT: OnceLock<FontRef<'static>> = OnceLock::new();
    FONT.get_or_init(|| FontRef::try_from_slice(dejavu::sans::regular()).expect("the font inside the program is whole"))
}

/// Height of a line of letters above and below its base, as parts of the size.
pub const ASCENT: f64 = 0.8;
/// See [`ASCENT`].
pub const DESCENT: f64 = 0.25;

/// Every letter and where it begins, and where the text ends.
fn placed(text: &str, size: f64) -> (Vec<(GlyphId, f32)>, f32) {
    let scaled = font().as_scaled(PxScale::from(size as f32));
    let mut x = 0.0;
    let mut last = None;
    let mut letters = Vec::new();
    for letter in text.chars().filter(|c| !c.is_control()) {
        let id = scaled.glyph_id(letter);
        x += last.map_or(0.0, |last| scaled.kern(last, id));
        letters.push((id, x));
        x += scaled.h_advance(id);
        last = Some(id);
    }
    (letters, x)
}

/// Width of a text \[pixels\].
pub fn width(text: &str, size: f64) -> f64 {
    f64::from(placed(text, size).1)
}

/// The text, or its beginning and an ellipsis, so that it is no wider than that.
pub fn shortened(text: &str, size: f64, widest: f64) -> String {
    if width(text, size) <= widest {
        return text.to_owned();
    }
    let mut short: String = text.to_owned();
    while short.pop().is_some() {
        let candidate = format!("{}…", short.trim_end());
        if width(&candidate, size) <= widest {
            return candidate;
        }
    }
    String::new()
}

/// Writes a text whose base begins at a place; returns the room it takes.
pub fn write(image: &mut Image, text: &str, x: f64, base: f64, size: f64, colour: Rgb) -> Rect {
    let (letters, end) = placed(text, size);
    for (id, offset) in letters {
        let glyph = id.with_scale_and_position(size as f32, point(x as f32 + offset, base as f32));
        let Some(outline) = font().outline_glyph(glyph) else { continue };
        let bounds = outline.px_bounds();
        outline.draw(|column, row, cover| {
            let (px, py) = (bounds.min.x as i64 + i64::from(column), bounds.min.y as i64 + i64::from(row));
            image.blend(px, py, colour, cover);
        });
    }
    Rect { left: x, top: base - ASCENT * size, right: x + f64::from(end), bottom: base + DESCENT * size }
}
