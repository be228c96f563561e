//! What stands beside the grains: colour bars, names of colours, time and heading.

use super::field::{Colouring, Scale};
use super::image::{Image, Rect, Size};
use super::settings::{Background, Range};
use super::text;
use crate::colour::Rgb;

/// Width of the column for bars, in letter sizes.
const COLUMN: f64 = 7.5;
/// Ticks that a bar has about.
const TICKS: f64 = 5.0;

/// Letters below that size cannot be read \[pixels\].
const SMALLEST: f64 = 5.0;

/// How the picture is divided.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The picture.
    pub size: Size,
    /// Size of letters \[pixels\].
    pub letters: f64,
    /// Where grains and walls are drawn.
    pub frame: Rect,
    /// Where bars are drawn.
    column: Rect,
}

/// Parts of a picture that want room.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Colour bars and lists of names.
    pub bars: usize,
    /// The time.
    pub time: bool,
    /// A heading.
    pub title: bool,
}

impl Layout {
    /// Divides a picture.
    pub fn new(size: Size, wanted: Wanted) -> Self {
        let (width, height) = (size.width as f64, size.height as f64);
        let letters = (height / 34.0).min(width / 34.0).max(8.0);
        let margin = (0.8 * letters).round();
        let column = if wanted.bars > 0 { (COLUMN * letters).min(0.4 * width) } else { 0.0 };
        let top = margin + if wanted.title { 2.0 * letters } else { 0.0 };
        let bottom = height - margin - if wanted.time { 1.4 * letters } else { 0.0 };
        let right = width - margin - column;
        let frame = Rect { left: margin, top, right: right.max(margin + 1.0), bottom: bottom.max(top + 1.0) };
        let column = Rect { left: right + letters.min(column), top, right: width - margin, bottom: height - margin };
        Self { size, letters, frame, column }
    }

    /// Draws bars, time and heading; returns the room that each text takes.
    pub fn draw(
        &self,
        image: &mut Image,
        bars: &[&Colouring],
        time: Option<&str>,
        title: Option<&str>,
        background: Background,
    ) -> Vec<Rect> {
        let ink = background.ink();
        let mut pen = Pen { image, ink, texts: Vec::new() };
        let parts = bars.len().max(1) as f64;
        let gap = self.letters;
        let height = (self.column.bottom - self.column.top - gap * (parts - 1.0)) / parts;
        for (k, bar) in bars.iter().enumerate() {
            let top = self.column.top + k as f64 * (height + gap);
            let room = Rect { top, bottom: top + height, ..self.column };
            match bar {
                Colouring::Plain(_) => {}
                Colouring::Scale { field, scale } => {
                    draw_bar(&mut pen, room, self.letters, &field.name, &field.unit, scale)
                }
                Colouring::Names { field, names, seen } => {
                    let shown: Vec<&(String, Rgb)> =
                        names.iter().zip(seen).filter(|(_, seen)| **seen).map(|(name, _)| name).collect();
                    draw_names(&mut pen, room, self.letters, &field.name, &shown);
                }
            }
        }
        let (left, widest) = (self.frame.left, self.size.width as f64 - 2.0 * self.frame.left);
        if let Some(time) = time {
            let base = self.size.height as f64 - 0.8 * self.letters;
            pen.write(&text::shortened(time, self.letters, widest), left, base, self.letters);
        }
        if let Some(title) = title {
            let size = 1.2 * self.letters;
            pen.write(&text::shortened(title, size, widest), left, 0.8 * self.letters + size, size);
        }
        pen.texts
    }
}

/// Writes, and remembers where.
struct Pen<'a> {
    image: &'a mut Image,
    ink: Rgb,
    texts: Vec<Rect>,
}

impl Pen<'_> {
    fn write(&mut self, text: &str, x: f64, base: f64, size: f64) {
        if !text.is_empty() {
            self.texts.push(text::write(self.image, text, x, base, size, self.ink));
        }
    }

    /// A frame of one pixel around a rectangle.
    fn frame(&mut self, Rect { left, top, right, bottom }: Rect) {
        for side in [
            Rect { left: left - 1.0, top: top - 1.0, right: right + 1.0, bottom: top },
            Rect { left: left - 1.0, top: bottom, right: right + 1.0, bottom: bottom + 1.0 },
            Rect { left: left - 1.0, top, right: left, bottom },
            Rect { left: right, top, right: right + 1.0, bottom },
        ] {
            self.image.fill(side, self.ink);
        }
    }

    /// A heading of some words, one below the other where they are too long; returns where it ends.
    fn heading(&mut self, words: &[String], room: Rect, letters: f64) -> f64 {
        let widest = room.right - room.left;
        let mut lines: Vec<String> = Vec::new();
        for word in words {
            let joined = lines.last().map(|line| format!("{line} {word}"));
            match joined.filter(|line| text::width(line, letters) <= widest) {
                Some(line) => *lines.last_mut().expect("there is a line to join") = line,
                None => lines.push(word.clone()),
            }
        }
        let mut base = room.top;
        // What has no room is left away.
        let most = ((room.bottom - room.top) / (1.15 * letters) - 0.3).max(0.0) as usize;
        for line in lines.into_iter().take(most) {
            let size = letters * (widest / text::width(&line, letters)).min(1.0);
            base += 1.15 * letters;
            self.write(&line, room.left, base, size);
        }
        base + 0.7 * letters
    }
}

/// A colour bar with its ticks.
fn draw_bar(pen: &mut Pen, room: Rect, letters: f64, name: &str, unit: &str, scale: &Scale) {
    let Ticks { values, labels, power } = ticks(scale.range);
    let unit = match (power, unit) {
        (0, "") => None,
        (0, unit) => Some(format!("[{unit}]")),
        (power, "") => Some(format!("[10{}]", superscript(power))),
        (power, unit) => Some(format!("[10{} {unit}]", superscript(power))),
    };
    let words: Vec<String> = name.split(' ').map(str::to_owned).chain(unit).collect();
    let top = pen.heading(&words, room, letters).round();
    let bottom = (room.bottom - 0.5 * letters).min(top + 24.0 * letters).round();
    if bottom - top < letters {
        return;
    }
    let left = room.left.round() + 1.0;
    let bar = Rect { left, top, right: (left + letters).round(), bottom };
    for y in top as i64..bottom as i64 {
        let share = 1.0 - (y as f64 + 0.5 - top) / (bottom - top);
        pen.image.fill(Rect { top: y as f64, bottom: y as f64 + 1.0, ..bar }, scale.at(share));
    }
    pen.frame(bar);
    let after = bar.right + 0.7 * letters;
    let widest = labels.iter().map(|label| text::width(label, letters)).fold(1.0, f64::max);
    let size = letters * ((room.right - after) / widest).min(1.0);
    for (value, label) in values.iter().zip(&labels) {
        let y = bottom - scale.range.share(*value) * (bottom - top);
        let tick = y.round();
        pen.image.fill(
            Rect { left: bar.right, top: tick - 0.5, right: bar.right + 0.35 * letters, bottom: tick + 0.5 },
            pen.ink,
        );
        pen.write(label, after, y + 0.3 * size, size);
    }
}

/// Names with their colours.
fn draw_names(pen: &mut Pen, room: Rect, letters: f64, name: &str, names: &[&(String, Rgb)]) {
    let words: Vec<String> = name.split(' ').map(str::to_owned).collect();
    let top = pen.heading(&words, room, letters);
    // All of them shall be there.
    let line = (1.5 * letters).min((room.bottom - top) / names.len() as f64);
    let size = letters.min(line / 1.2);
    if size < SMALLEST {
        return;
    }
    for (k, (name, colour)) in names.iter().enumerate() {
        let y = (top + k as f64 * line).round();
        let swatch = Rect {
            left: room.left.round() + 1.0,
            top: y,
            right: (room.left + size).round() + 1.0,
            bottom: (y + 0.9 * size).round(),
        };
        pen.image.fill(swatch, *colour);
        pen.frame(swatch);
        let x = swatch.right + 0.5 * size;
        pen.write(&text::shortened(name, size, room.right - x), x, y + 0.78 * size, size);
    }
}

/// Round values along a range, in units of a power of ten.
struct Ticks {
    values: Vec<f64>,
    labels: Vec<String>,
    power: i32,
}

fn ticks(range: Range) -> Ticks {
    let span = range.max - range.min;
    let rough = span / TICKS;
    let decade = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|k| k * decade).find(|s| *s >= 0.999 * rough).unwrap_or(rough);
    let largest = range.min.abs().max(range.max.abs());
    let order = largest.log10().floor() as i32;
    let power = if (-2..4).contains(&order) { 0 } else { order.div_euclid(3) * 3 };
    let unit = 10f64.powi(power);
    let decimals = (-(step / unit * 1.0001).log10().floor()).clamp(0.0, 9.0) as usize;
    let first = (range.min / step - 1e-6).ceil() as i64;
    let last = (range.max / step + 1e-6).floor() as i64;
    let values: Vec<f64> = (first..=last.min(first + 20)).map(|k| k as f64 * step).collect();
    let labels = values.iter().map(|v| format!("{:.decimals$}", v / unit).replace('-', "−")).collect();
    Ticks { values, labels, power }
}

/// A number in small raised figures.
fn superscript(number: i32) -> String {
    const FIGURES: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raised = |c: char| c.to_digit(10).map_or('⁻', |d| FIGURES[d as usize]);
    number.to_string().chars().map(raised).collect()
}

/// The time, with digits enough to tell frames apart that are an interval apart.
pub fn time_stamp(time: f64, interval: f64) -> String {
    let decimals = if interval > 0.0 { (1.0 - interval.log10().floor()).clamp(0.0, 12.0) as usize } else { 4 };
    format!("t = {time:.decimals$} s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_within_the_range() {
        let labels = |min, max| ticks(Range { min, max }).labels.join(" ");
        assert_eq!(labels(0.0, 1.0), "0.0 0.2 0.4 0.6 0.8 1.0");
        assert_eq!(labels(-0.013, 0.02), "−0.01 0.00 0.01 0.02");
        assert_eq!(labels(0.0, 7.0), "0 2 4 6");
        assert_eq!(labels(8.0, 10.0), "8.0 8.5 9.0 9.5 10.0");
        let large = ticks(Range { min: 0.0, max: 123456.0 });
        assert_eq!((large.labels.join(" ").as_str(), large.power), ("0 50 100", 3));
        let small = ticks(Range { min: 0.0, max: 2.1e-5 });
        assert_eq!((small.labels.join(" ").as_str(), small.power), ("0 5 10 15 20", -6));
        assert_eq!(superscript(-6), "⁻⁶");
    }

    #[test]
    fn a_time_stamp_tells_neighbouring_frames_apart() {
        assert_eq!(time_stamp(0.64, 0.02), "t = 0.640 s");
        assert_eq!(time_stamp(12.0, 2.0), "t = 12.0 s");
        assert_eq!(time_stamp(0.5, 0.0), "t = 0.5000 s");
    }
}
