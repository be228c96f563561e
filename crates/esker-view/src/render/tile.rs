//! One tile of a picture, sample by sample.

use super::raster::{Ball, Drawing, Half, Line, Look, SAMPLES, Span, Triangle};
use crate::colour::Rgb;
use esker::math::Vec3;

/// No grain, no line.
const NONE: u32 = u32::MAX;
/// Grains after which it is looked how deep a tile is filled.
const LOOK_EVERY: usize = 32;
/// Where the light comes from in view coordinates: over the left shoulder. Of length 1.
const LIGHT: Vec3 = Vec3::new(-0.35, 0.45, -0.821_583_836_257_749_2);
/// Colour of walls, and their opacity seen from the front and along the surface.
const WALL: Rgb = Rgb([0.42, 0.47, 0.53]);
const WALL_OPACITY: [f32; 2] = [0.09, 0.3];
/// Discs of a smaller radius, in samples, have neither rim nor mark.
const PLAIN_BELOW: f64 = 3.0 * SAMPLES as f64;

/// Red, green and blue times opacity, and opacity.
type Veil = [f32; 4];

fn solid(colour: Rgb) -> Veil {
    let [r, g, b] = colour.0;
    [r, g, b, 1.0]
}

/// A colour of some opacity before what is there.
fn over(under: &mut Veil, colour: Rgb, opacity: f32) {
    for k in 0..3 {
        under[k] = opacity * colour.0[k] + (1.0 - opacity) * under[k];
    }
    under[3] = opacity + (1.0 - opacity) * under[3];
}

/// Brightness of a surface: 1 where it faces the eye, so that its colour is the one of the bar.
fn brightness(normal: Vec3) -> f32 {
    (0.48 + 0.66 * normal.dot(LIGHT).max(0.0)).min(1.0) as f32
}

/// A part of the picture while it is drawn.
pub(super) struct Tile<'a> {
    drawing: &'a Drawing,
    span: Span,
    width: usize,
    /// Depth of the nearest grain.
    depth: Vec<f64>,
    /// And which it is.
    ball: Vec<u32>,
    /// Depth of the nearest contact, and which it is; empty where none are drawn.
    chain_depth: Vec<f64>,
    chain: Vec<u32>,
    /// Brightness of contacts.
    bright: Vec<f32>,
    colour: Vec<Veil>,
}

impl<'a> Tile<'a> {
    pub fn new(drawing: &'a Drawing, span: Span) -> Self {
        let width = span.right - span.left;
        let count = width * (span.bottom - span.top);
        let of_chains = if drawing.chains.is_empty() { 0 } else { count };
        Self {
            drawing,
            span,
            width,
            depth: vec![f64::INFINITY; count],
            ball: vec![NONE; count],
            chain_depth: vec![f64::INFINITY; of_chains],
            chain: vec![NONE; of_chains],
            bright: vec![0.0; of_chains],
            colour: Vec::new(),
        }
    }

    /// The line of sight of a sample.
    fn ray(&self, x: usize, y: usize) -> (Vec3, Vec3) {
        self.drawing.camera.ray(x as f64 + 0.5, y as f64 + 0.5)
    }

    fn index(&self, x: usize, y: usize) -> usize {
        (y - self.span.top) * self.width + x - self.span.left
    }

    /// Finds the nearest grain of each sample. The grains come nearest first.
    pub fn place_balls(&mut self, balls: &[u32], spans: &[Span]) {
        for batch in balls.chunks(LOOK_EVERY) {
            let deepest = self.depth.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            for &k in batch {
                let ball = &self.drawing.balls[k as usize];
                if ball.centre.z - ball.radius >= deepest {
                    return;
                }
                let span = spans[k as usize].within(&self.span);
                match &self.drawing.look {
                    Look::Spheres => self.place_sphere(k, ball, span),
                    Look::Discs { normal, .. } => self.place_disc(k, ball, *normal, span),
                }
            }
        }
    }

    fn place_sphere(&mut self, k: u32, ball: &Ball, span: Span) {
        let (half, near) = (self.drawing.half, self.drawing.camera.near());
        for y in span.top..span.bottom {
            for x in span.left..span.right {
                let (origin, direction) = self.ray(x, y);
                // |o + t d − c|² = r²
                let from = ball.centre - origin;
                let (a, b) = (direction.length_squared(), direction.dot(from));
                let discriminant = b * b - a * (from.length_squared() - ball.radius * ball.radius);
                if discriminant < 0.0 {
                    continue;
                }
                let root = discriminant.sqrt();
                let mut t = (b - root) / a;
                if let Some(half) = half {
                    match cut(half, origin, direction, [t, (b + root) / a]) {
                        Some(left) => t = left,
                        None => continue,
                    }
                }
                let at = self.index(x, y);
                if t < self.depth[at] && t > near {
                    self.depth[at] = t;
                    self.ball[at] = k;
                }
            }
        }
    }

    fn place_disc(&mut self, k: u32, ball: &Ball, normal: Vec3, span: Span) {
        let near = self.drawing.camera.near();
        for y in span.top..span.bottom {
            for x in span.left..span.right {
                let (origin, direction) = self.ray(x, y);
                let t = (ball.centre - origin).dot(normal) / direction.dot(normal);
                let place = origin + t * direction;
                let inside = (place - ball.centre).length_squared() <= ball.radius * ball.radius;
                let at = self.index(x, y);
                if inside && t < self.depth[at] && t > near && self.is_left(place) {
                    self.depth[at] = t;
                    self.ball[at] = k;
                }
            }
        }
    }

    /// Whether a place is not cut away.
    fn is_left(&self, place: Vec3) -> bool {
        self.drawing.half.is_none_or(|half| half.normal.dot(place) <= half.offset)
    }

    /// Finds the nearest contact of each sample.
    pub fn place_chains(&mut self, lines: &[u32]) {
        for &k in lines {
            let drawing = self.drawing;
            let line = &drawing.chains[k as usize];
            self.along(line, |tile, at, depth, off| {
                if depth < tile.chain_depth[at] {
                    tile.chain_depth[at] = depth;
                    tile.chain[at] = k;
                    tile.bright[at] = (1.0 - 0.35 * off * off) as f32;
                }
            });
        }
    }

    /// Every sample of a line: its index, its depth, and how far it is from the middle of the line (0) to its border (1).
    fn along(&mut self, line: &Line, mut each: impl FnMut(&mut Self, usize, f64, f64)) {
        let [[ax, ay], [bx, by]] = line.ends;
        let (dx, dy) = (bx - ax, by - ay);
        let length2 = (dx * dx + dy * dy).max(1e-12);
        let wide = line.half[0].max(line.half[1]);
        let range = |a: f64, b: f64, from: usize, to: usize| {
            let first = (a.min(b) - wide - 0.5).ceil().max(from as f64) as usize;
            first..((a.max(b) + wide + 0.5).max(0.0) as usize).min(to)
        };
        for y in range(ay, by, self.span.top, self.span.bottom) {
            for x in range(ax, bx, self.span.left, self.span.right) {
                let (px, py) = (x as f64 + 0.5 - ax, y as f64 + 0.5 - ay);
                let s = ((px * dx + py * dy) / length2).clamp(0.0, 1.0);
                let half = line.half[0] + s * (line.half[1] - line.half[0]);
                let off2 = (px - s * dx).powi(2) + (py - s * dy).powi(2);
                if off2 <= half * half {
                    let depth = line.depths[0] + s * (line.depths[1] - line.depths[0]);
                    let at = self.index(x, y);
                    each(self, at, depth, off2.sqrt() / half);
                }
            }
        }
    }

    /// Colours what was placed.
    pub fn shade(&mut self) {
        let empty = self.drawing.background.pixel().map(|c| f32::from(c) / 255.0);
        let mut colour = vec![empty; self.depth.len()];
        for y in self.span.top..self.span.bottom {
            for x in self.span.left..self.span.right {
                let at = self.index(x, y);
                if self.ball[at] != NONE {
                    colour[at] = solid(self.grain(x, y, at));
                }
                if let Some(&k) = self.chain.get(at).filter(|k| **k != NONE) {
                    colour[at] = solid(self.drawing.chains[k as usize].colour.times(self.bright[at]));
                    // Walls are before it or behind it, whatever grain is there.
                    self.depth[at] = self.chain_depth[at];
                }
            }
        }
        self.colour = colour;
    }

    /// Colour of the grain in a sample.
    fn grain(&self, x: usize, y: usize, at: usize) -> Rgb {
        let (origin, direction) = self.ray(x, y);
        let k = self.ball[at] as usize;
        let ball = &self.drawing.balls[k];
        let from = origin + self.depth[at] * direction - ball.centre;
        match &self.drawing.look {
            Look::Spheres => {
                let inside = from.length_squared() < ball.radius * ball.radius * (1.0 - 1e-6);
                let bright = match self.drawing.half.filter(|_| inside) {
                    Some(half) => brightness(half.normal).max(0.85),
                    None => brightness(from / ball.radius),
                };
                ball.colour.times(1.0 - self.drawing.contrast * (1.0 - bright))
            }
            Look::Discs { marks, .. } => {
                let samples = self.drawing.camera.scale(self.depth[at]);
                disc(ball, from, samples, marks.get(k).copied())
            }
        }
    }

    /// Lays walls over what is behind them. The triangles come farthest first.
    pub fn lay_triangles(&mut self, triangles: &[u32]) {
        for &k in triangles {
            let drawing = self.drawing;
            self.lay_triangle(&drawing.triangles[k as usize]);
        }
    }

    fn lay_triangle(&mut self, triangle: &Triangle) {
        let [a, b, c] = triangle.corners;
        let Some(normal) = (b - a).cross(c - a).try_normalize() else { return };
        let borders = [0, 1, 2].map(|k| Border::new(triangle.places[k], triangle.places[(k + 1) % 3]));
        let doubled: f64 = borders[0].side(triangle.places[2]);
        let near = self.drawing.camera.near();
        let least = |k: usize| triangle.places.iter().map(|p| p[k]).fold(f64::INFINITY, f64::min).max(0.0) as usize;
        let most = |k: usize| triangle.places.iter().map(|p| p[k]).fold(0.0, f64::max) as usize + 1;
        for y in least(1).max(self.span.top)..most(1).min(self.span.bottom) {
            for x in least(0).max(self.span.left)..most(0).min(self.span.right) {
                let place = [x as f64 + 0.5, y as f64 + 0.5];
                if !borders.iter().all(|border| border.has(place, doubled)) {
                    continue;
                }
                let (origin, direction) = self.ray(x, y);
                let t = (a - origin).dot(normal) / direction.dot(normal);
                let at = self.index(x, y);
                if t > near && t < self.depth[at] && self.is_left(origin + t * direction) {
                    // More of the wall is in the way where it is seen along its surface, as with glass.
                    let facing = (direction.dot(normal) / direction.length()).abs() as f32;
                    let opacity = WALL_OPACITY[0] + (1.0 - facing).powi(2) * (WALL_OPACITY[1] - WALL_OPACITY[0]);
                    over(&mut self.colour[at], WALL, opacity);
                }
            }
        }
    }

    /// Lays edges of walls over all. Where edges meet they are no darker than alone.
    pub fn lay_edges(&mut self, lines: &[u32]) {
        if lines.is_empty() {
            return;
        }
        let drawing = self.drawing;
        let mut there = vec![false; self.depth.len()];
        for &k in lines {
            self.along(&drawing.edges[k as usize], |tile, at, depth, _| there[at] |= depth <= tile.depth[at]);
        }
        for (at, _) in there.iter().enumerate().filter(|(_, there)| **there) {
            over(&mut self.colour[at], drawing.edges[lines[0] as usize].colour, drawing.edge_opacity);
        }
    }

    /// The means of the samples of each pixel, row by row.
    pub fn pixels(&self) -> Vec<[u8; 4]> {
        let (columns, rows) = (self.width / SAMPLES, (self.span.bottom - self.span.top) / SAMPLES);
        let mut pixels = Vec::with_capacity(columns * rows);
        for row in 0..rows {
            for column in 0..columns {
                let mut sum = [0.0f32; 4];
                for y in 0..SAMPLES {
                    let from = (row * SAMPLES + y) * self.width + column * SAMPLES;
                    for sample in &self.colour[from..from + SAMPLES] {
                        (0..4).for_each(|k| sum[k] += sample[k]);
                    }
                }
                let opacity = sum[3] / (SAMPLES * SAMPLES) as f32;
                let byte = |c: f32| (255.0 * c).round() as u8;
                let colour = |k: usize| if sum[3] > 0.0 { byte(sum[k] / sum[3]) } else { 0 };
                pixels.push([colour(0), colour(1), colour(2), byte(opacity)]);
            }
        }
        pixels
    }
}

/// Where a ray first meets what is left of a sphere, which it is in from one depth to another.
fn cut(half: Half, origin: Vec3, direction: Vec3, [enter, leave]: [f64; 2]) -> Option<f64> {
    let beyond = half.normal.dot(origin + enter * direction) - half.offset;
    if beyond <= 0.0 {
        return Some(enter);
    }
    let rate = half.normal.dot(direction);
    let t = enter - beyond / rate;
    (rate < 0.0 && t < leave).then_some(t)
}

/// Colour of a disc at a place from its middle; `samples` to a metre.
fn disc(ball: &Ball, from: Vec3, samples: f64, mark: Option<Vec3>) -> Rgb {
    let r = ball.radius;
    if r * samples < PLAIN_BELOW {
        return ball.colour;
    }
    let dark = ball.colour.times(0.45);
    // About a pixel, and no more than a part of the disc.
    let thin = (1.2 * SAMPLES as f64 / samples).min(0.12 * r);
    if from.length() > r - thin {
        return dark;
    }
    let on_mark = mark.is_some_and(|mark| {
        let along = from.dot(mark);
        along > 0.0 && (from - along * mark).length() < (0.06 * r).max(0.6 * thin)
    });
    if on_mark { dark } else { ball.colour }
}

/// The line through two corners of a triangle. Both triangles that have it compute the same numbers, so that every sample
/// beside it belongs to one of them.
struct Border {
    from: [f64; 2],
    to: [f64; 2],
    sign: f64,
}

impl Border {
    fn new(a: [f64; 2], b: [f64; 2]) -> Self {
        let swapped = (a[0], a[1]) > (b[0], b[1]);
        let (from, to, sign) = if swapped { (b, a, -1.0) } else { (a, b, 1.0) };
        Self { from, to, sign }
    }

    /// On which side a place is, as twice the area of a triangle.
    fn side(&self, place: [f64; 2]) -> f64 {
        let [fx, fy] = self.from;
        self.sign * ((self.to[0] - fx) * (place[1] - fy) - (self.to[1] - fy) * (place[0] - fx))
    }

    /// Whether a place is on the side of a triangle of this orientation. A place right on the line belongs to one side.
    fn has(&self, place: [f64; 2], doubled: f64) -> bool {
        let side = self.side(place) * doubled.signum();
        side > 0.0 || (side == 0.0 && self.sign * doubled > 0.0)
    }
}
