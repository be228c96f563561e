//! Charts as pixels.

use crate::colour::Rgb;
use crate::render::text;
use crate::render::{Image, Size};
use esker_io::chart::{Anchor, Drawing, Mark};

/// Lines of samples in a row of pixels, for the edges of areas.
const LINES: usize = 4;
/// How much of what is behind an area is covered by it, as in the SVG.
const AREA: f32 = 0.75;
const INK: Rgb = Rgb([0.0; 3]);

/// How much of each pixel a mark covers.
struct Cover {
    size: Size,
    share: Vec<f32>,
}

impl Cover {
    fn none(size: Size) -> Self {
        Self { size, share: vec![0.0; size.width * size.height] }
    }

    /// Pixels of a row or a column between two places.
    fn between(low: f64, high: f64, count: usize) -> std::ops::Range<usize> {
        let inside = |x: f64| (x.max(0.0) as usize).min(count);
        inside(low.floor())..inside(high.ceil() + 1.0)
    }

    /// A line of a width from one point to another. Where lines of one curve meet, the nearer one counts.
    fn line(&mut self, [a, b]: [[f64; 2]; 2], width: f64) {
        let reach = 0.5 * width + 0.5;
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        let length2 = dx * dx + dy * dy;
        for y in Self::between(a[1].min(b[1]) - reach, a[1].max(b[1]) + reach, self.size.height) {
            for x in Self::between(a[0].min(b[0]) - reach, a[0].max(b[0]) + reach, self.size.width) {
                let (px, py) = (x as f64 + 0.5 - a[0], y as f64 + 0.5 - a[1]);
                let along = if length2 > 0.0 { ((px * dx + py * dy) / length2).clamp(0.0, 1.0) } else { 0.0 };
                let distance = (px - along * dx).hypot(py - along * dy);
                let share = &mut self.share[y * self.size.width + x];
                *share = share.max((reach - distance).clamp(0.0, 1.0) as f32);
            }
        }
    }

    /// The inside of a polygon.
    fn area(&mut self, points: &[[f64; 2]]) {
        let (low, high) =
            points.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), p| (l.min(p[1]), h.max(p[1])));
        for y in Self::between(low, high, self.size.height) {
            for k in 0..LINES {
                let line = y as f64 + (k as f64 + 0.5) / LINES as f64;
                let mut crossings: Vec<f64> = Vec::new();
                for (a, b) in points.iter().zip(points.iter().cycle().skip(1)) {
                    if (a[1] <= line) != (b[1] <= line) {
                        crossings.push(a[0] + (line - a[1]) / (b[1] - a[1]) * (b[0] - a[0]));
                    }
                }
                crossings.sort_by(f64::total_cmp);
                for pair in crossings.chunks_exact(2) {
                    for x in Self::between(pair[0], pair[1], self.size.width) {
                        let inside = (pair[1].min(x as f64 + 1.0) - pair[0].max(x as f64)).clamp(0.0, 1.0);
                        self.share[y * self.size.width + x] += inside as f32 / LINES as f32;
                    }
                }
            }
        }
    }

    /// Lays a colour over a picture.
    fn lay(&self, image: &mut Image, colour: Rgb, opacity: f32) {
        for (k, share) in self.share.iter().enumerate().filter(|(_, share)| **share > 0.0) {
            let (x, y) = (k % self.size.width, k / self.size.width);
            image.blend(x as i64, y as i64, colour, share.min(1.0) * opacity);
        }
    }
}

/// A colour from `#rrggbb`; black where it is not one.
fn colour(text: &str) -> Rgb {
    let part = |k: usize| text.get(2 * k + 1..2 * k + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok()).unwrap_or(0);
    Rgb([0, 1, 2].map(|k| f32::from(part(k)) / 255.0))
}

/// A drawing on white, so many pixels for each of its own.
pub fn paint(drawing: &Drawing, scale: f64) -> Image {
    let [width, height] = drawing.size.map(|length| (length * scale).round() as usize);
    let size = Size { width, height };
    let mut image = Image::filled(size, [255; 4]);
    let scaled = |points: &[[f64; 2]]| -> Vec<[f64; 2]> { points.iter().map(|p| p.map(|x| x * scale)).collect() };
    for mark in &drawing.marks {
        match mark {
            Mark::Line { points, colour: of, width } => {
                let mut cover = Cover::none(size);
                scaled(points).windows(2).for_each(|ends| cover.line([ends[0], ends[1]], width * scale));
                cover.lay(&mut image, colour(of), 1.0);
            }
            Mark::Area { points, colour: of } => {
                let mut cover = Cover::none(size);
                cover.area(&scaled(points));
                cover.lay(&mut image, colour(of), AREA);
            }
            Mark::Text { at, anchor, size: type_size, text } => {
                write(&mut image, text, at.map(|x| x * scale), *anchor, type_size * scale);
            }
        }
    }
    image
}

/// Writes a text on its base line.
fn write(image: &mut Image, text: &str, [x, y]: [f64; 2], anchor: Anchor, size: f64) {
    let width = text::width(text, size);
    let before = match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle | Anchor::Upwards => 0.5 * width,
        Anchor::End => width,
    };
    if anchor != Anchor::Upwards {
        text::write(image, text, x - before, y, size, INK);
        return;
    }
    // Written level on a strip of its own, then turned.
    let height = (2.0 * size).ceil() as usize;
    let strip = Size { width: width.ceil() as usize + 2, height };
    let mut level = Image::filled(strip, [0; 4]);
    let base = text::ASCENT * size;
    text::write(&mut level, text, 1.0, base, size, INK);
    for row in 0..strip.height {
        for column in 0..strip.width {
            let cover = f32::from(level.at(column, row)[3]) / 255.0;
            image.blend((x - base) as i64 + row as i64, (y + before) as i64 - column as i64, INK, cover);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn darkness(image: &Image) -> f64 {
        image.pixels.iter().map(|p| 1.0 - f64::from(p[0]) / 255.0).sum()
    }

    fn drawn(mark: Mark) -> Image {
        paint(&Drawing { title: String::new(), size: [100.0, 80.0], marks: vec![mark] }, 2.0)
    }

    #[test]
    fn lines_and_areas_cover_what_they_should() {
        let points = vec![[10.0, 10.0], [60.0, 47.5]];
        let line = drawn(Mark::Line { points, colour: "#000000", width: 2.0 });
        // A rectangle with round ends, four times as many pixels at twice the scale.
        let expected = 4.0 * (62.5 * 2.0 + std::f64::consts::PI);
        assert!((darkness(&line) / expected - 1.0).abs() < 0.02, "{} for {expected}", darkness(&line));
        let triangle = drawn(Mark::Area { points: vec![[10.0, 10.0], [70.0, 20.0], [30.0, 60.0]], colour: "#000000" });
        let expected = 4.0 * 0.5 * (60.0 * 50.0 - 20.0 * 10.0) * f64::from(AREA);
        assert!((darkness(&triangle) / expected - 1.0).abs() < 0.01, "{} for {expected}", darkness(&triangle));
    }

    #[test]
    fn a_text_that_reads_upwards_is_the_level_one_turned() {
        let text = |anchor| Mark::Text { at: [50.0, 40.0], anchor, size: 12.0, text: "overlap".into() };
        let (level, upright) = (drawn(text(Anchor::Middle)), drawn(text(Anchor::Upwards)));
        assert!((darkness(&level) / darkness(&upright) - 1.0).abs() < 0.03);
        let dark = |image: &Image, columns: std::ops::Range<usize>, rows: std::ops::Range<usize>| {
            let inside = rows.flat_map(|y| columns.clone().map(move |x| (x, y)));
            inside.filter(|&(x, y)| image.at(x, y)[0] < 128).count()
        };
        assert_eq!(
            dark(&upright, 0..70, 0..160) + dark(&upright, 110..200, 0..160),
            0,
            "it stands upright left of its place"
        );
        assert!(dark(&level, 50..80, 50..90) > 0 && dark(&upright, 70..110, 30..60) > 0);
    }

    #[test]
    fn colours_are_read() {
        assert_eq!(colour("#ff8000").0.map(|c| (c * 255.0) as u8), [255, 128, 0]);
    }
}
