//! Pictures as bytes.

use crate::colour::Rgb;

/// Width and height in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// A rectangle in a picture, in pixels from its upper left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    /// Left.
    pub left: f64,
    /// Top.
    pub top: f64,
    /// Right.
    pub right: f64,
    /// Bottom.
    pub bottom: f64,
}

impl Rect {
    /// Its middle.
    pub fn centre(&self) -> [f64; 2] {
        [0.5 * (self.left + self.right), 0.5 * (self.top + self.bottom)]
    }

    /// Whether it is within a picture.
    pub fn is_within(&self, size: Size) -> bool {
        self.left >= 0.0
            && self.top >= 0.0
            && self.right <= size.width as f64
            && self.bottom <= size.height as f64
            && self.left <= self.right
            && self.top <= self.bottom
    }
}

/// A picture: red, green, blue and opacity of each pixel, row by row from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Its size.
    pub size: Size,
    /// Its pixels.
    pub pixels: Vec<[u8; 4]>,
}

impl Image {
    /// A picture of one colour.
    pub fn filled(size: Size, pixel: [u8; 4]) -> Self {
        Self { size, pixels: vec![pixel; size.width * size.height] }
    }

    /// A pixel.
    pub fn at(&self, x: usize, y: usize) -> [u8; 4] {
        self.pixels[y * self.size.width + x]
    }

    /// Lays a colour over a pixel, from 0 (nothing) to 1 (all of it). Beyond the picture nothing happens.
    pub fn blend(&mut self, x: i64, y: i64, colour: Rgb, cover: f32) {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { return };
        if x >= self.size.width || y >= self.size.height || cover <= 0.0 {
            return;
        }
        let pixel = &mut self.pixels[y * self.size.width + x];
        let cover = cover.min(1.0);
        let under = f32::from(pixel[3]) / 255.0 * (1.0 - cover);
        let opacity = cover + under;
        for k in 0..3 {
            let mixed = (cover * colour.0[k] + under * f32::from(pixel[k]) / 255.0) / opacity;
            pixel[k] = (255.0 * mixed).round() as u8;
        }
        pixel[3] = (255.0 * opacity).round() as u8;
    }

    /// Fills a rectangle, its borders anti-aliased.
    pub fn fill(&mut self, rect: Rect, colour: Rgb) {
        let share = |from: f64, to: f64, k: i64| ((to.min(k as f64 + 1.0)) - from.max(k as f64)).clamp(0.0, 1.0);
        for y in rect.top.floor() as i64..rect.bottom.ceil() as i64 {
            for x in rect.left.floor() as i64..rect.right.ceil() as i64 {
                let cover = share(rect.left, rect.right, x) * share(rect.top, rect.bottom, y);
                self.blend(x, y, colour, cover as f32);
            }
        }
    }

    /// Red, green and blue of all pixels.
    pub fn opaque_bytes(&self) -> Vec<u8> {
        self.pixels.iter().flat_map(|[r, g, b, _]| [*r, *g, *b]).collect()
    }
}
