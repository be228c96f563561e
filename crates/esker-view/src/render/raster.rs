//! From shapes to pixels: rays against spheres and discs with a depth buffer, translucent triangles, lines.
//!
//! The picture is cut into tiles that are drawn independently, each from the list of shapes that may touch it, in an order
//! that depends on nothing but the shapes: the same bytes for any number of threads. Every pixel is the mean of
//! [`SAMPLES`]² samples. Grains come nearest first and those behind a full tile are skipped, so a bed of a million costs little
//! more than its surface; they are shaded once all are placed. Colours are mixed as a screen takes them (sRGB), which keeps
//! the hues of a colour map.

use super::camera::Camera;
use super::image::{Image, Rect, Size};
use super::settings::Background;
use super::tile::Tile;
use crate::colour::Rgb;
use esker::math::Vec3;
use rayon::prelude::*;

/// Samples along each edge of a pixel.
pub const SAMPLES: usize = 3;
/// Pixels along each edge of a tile.
const TILE: usize = 32;

/// A grain in view coordinates.
#[derive(Clone, Copy, Debug)]
pub struct Ball {
    /// Its middle \[m\].
    pub centre: Vec3,
    /// Its radius \[m\].
    pub radius: f64,
    /// Its colour.
    pub colour: Rgb,
}

/// What grains look like.
#[derive(Clone, Debug)]
pub enum Look {
    /// Spheres in the light.
    Spheres,
    /// Flat discs with a mark from the middle to the rim.
    Discs {
        /// Across the discs, of length 1, in view coordinates.
        normal: Vec3,
        /// Direction of each mark, of length 1, in view coordinates; empty for discs without marks.
        marks: Vec<Vec3>,
    },
}

/// A line in the picture.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Both ends, in samples.
    pub ends: [[f64; 2]; 2],
    /// Their depths \[m\].
    pub depths: [f64; 2],
    /// Half of its width at both ends, in samples.
    pub half: [f64; 2],
    /// Its colour.
    pub colour: Rgb,
}

/// A translucent triangle.
#[derive(Clone, Copy, Debug)]
pub struct Triangle {
    /// Its corners in view coordinates \[m\].
    pub corners: [Vec3; 3],
    /// Its corners in samples.
    pub places: [[f64; 2]; 3],
}

/// What is left of a cut: places p with n·p ≤ offset, in view coordinates.
#[derive(Clone, Copy, Debug)]
pub struct Half {
    /// Away from what is left.
    pub normal: Vec3,
    /// Where the plane is along its normal \[m\].
    pub offset: f64,
}

/// All that is in a picture.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// The view, in samples.
    pub camera: Camera,
    /// The grains.
    pub balls: Vec<Ball>,
    /// What they look like.
    pub look: Look,
    /// From 0 for no shade on spheres to 1 for all of it.
    pub contrast: f32,
    /// The contacts. They are drawn over the grains, the nearest on top.
    pub chains: Vec<Line>,
    /// Walls.
    pub triangles: Vec<Triangle>,
    /// Their edges.
    pub edges: Vec<Line>,
    /// Opacity of edges.
    pub edge_opacity: f32,
    /// Cut.
    pub half: Option<Half>,
    /// What is behind everything.
    pub background: Background,
}

/// Whole numbers of samples: from left and top, up to right and bottom.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub left: usize,
    pub top: usize,
    pub right: usize,
    pub bottom: usize,
}

impl Span {
    /// Samples whose middles lie in a rectangle, within a size.
    pub fn of(rect: Rect, size: Size) -> Self {
        // `as` saturates, and takes what is no number for 0.
        let first = |x: f64| (x - 0.5).ceil().max(0.0) as usize;
        let end = |x: f64, most: usize| (((x - 0.5).floor() + 1.0).max(0.0) as usize).min(most);
        let Rect { left, top, right, bottom } = rect;
        Span { left: first(left), top: first(top), right: end(right, size.width), bottom: end(bottom, size.height) }
    }

    pub fn is_empty(&self) -> bool {
        self.left >= self.right || self.top >= self.bottom
    }

    pub fn within(&self, other: &Span) -> Span {
        Span {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        }
    }
}

/// For each tile the shapes that may touch it, in their order.
struct Bins {
    begin: Vec<u32>,
    shapes: Vec<u32>,
}

impl Bins {
    /// Shapes by their spans, in an order.
    fn new(tiles: [usize; 2], spans: &[Span], order: &[u32]) -> Self {
        const EDGE: usize = TILE * SAMPLES;
        let touched = |k: u32| {
            let span = spans[k as usize];
            let full = !span.is_empty();
            let rows = if full { span.top / EDGE..(span.bottom - 1) / EDGE + 1 } else { 0..0 };
            rows.flat_map(move |row| {
                (span.left / EDGE..(span.right - 1) / EDGE + 1).map(move |column| row * tiles[0] + column)
            })
        };
        let mut begin = vec![0u32; tiles[0] * tiles[1] + 1];
        for &k in order {
            touched(k).for_each(|tile| begin[tile + 1] += 1);
        }
        for tile in 1..begin.len() {
            begin[tile] += begin[tile - 1];
        }
        let mut next = begin.clone();
        let mut shapes = vec![0; begin[begin.len() - 1] as usize];
        for &k in order {
            for tile in touched(k) {
                shapes[next[tile] as usize] = k;
                next[tile] += 1;
            }
        }
        Self { begin, shapes }
    }

    fn of(&self, tile: usize) -> &[u32] {
        &self.shapes[self.begin[tile] as usize..self.begin[tile + 1] as usize]
    }
}

/// Numbers of all shapes, the smallest key first; equal ones in their order.
fn ordered(count: usize, key: impl Fn(usize) -> f64 + Sync) -> Vec<u32> {
    let mut order: Vec<(f64, u32)> = (0..count).into_par_iter().map(|k| (key(k), k as u32)).collect();
    order.par_sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    order.into_iter().map(|(_, k)| k).collect()
}

fn around(points: &[[f64; 2]], margin: f64) -> Rect {
    let least = |k: usize| points.iter().map(|p| p[k]).fold(f64::INFINITY, f64::min) - margin;
    let most = |k: usize| points.iter().map(|p| p[k]).fold(f64::NEG_INFINITY, f64::max) + margin;
    Rect { left: least(0), top: least(1), right: most(0), bottom: most(1) }
}

/// Spans and lists of all shapes.
struct Sorted {
    ball_spans: Vec<Span>,
    balls: Bins,
    chains: Bins,
    triangles: Bins,
    edges: Bins,
}

impl Sorted {
    fn new(drawing: &Drawing, tiles: [usize; 2], samples: Size) -> Self {
        let nothing = Span { left: 0, top: 0, right: 0, bottom: 0 };
        let ball = |b: &Ball| drawing.camera.bounds(b.centre, b.radius).map_or(nothing, |r| Span::of(r, samples));
        let ball_spans: Vec<Span> = drawing.balls.par_iter().map(ball).collect();
        let nearest_first = ordered(drawing.balls.len(), |k| drawing.balls[k].centre.z - drawing.balls[k].radius);
        let line = |l: &Line| Span::of(around(&l.ends, l.half[0].max(l.half[1])), samples);
        let lines = |lines: &[Line]| {
            let spans: Vec<Span> = lines.iter().map(line).collect();
            Bins::new(tiles, &spans, &(0..lines.len() as u32).collect::<Vec<_>>())
        };
        let farthest_first = ordered(drawing.triangles.len(), |k| {
            let [a, b, c] = drawing.triangles[k].corners;
            -(a.z + b.z + c.z)
        });
        let triangle_spans: Vec<Span> =
            drawing.triangles.iter().map(|t| Span::of(around(&t.places, 0.0), samples)).collect();
        Self {
            balls: Bins::new(tiles, &ball_spans, &nearest_first),
            ball_spans,
            chains: lines(&drawing.chains),
            triangles: Bins::new(tiles, &triangle_spans, &farthest_first),
            edges: lines(&drawing.edges),
        }
    }
}

/// Draws.
pub fn paint(drawing: &Drawing, size: Size) -> Image {
    let samples = Size { width: SAMPLES * size.width, height: SAMPLES * size.height };
    let tiles = [size.width.div_ceil(TILE), size.height.div_ceil(TILE)];
    let sorted = Sorted::new(drawing, tiles, samples);
    let one = |k: usize| {
        let (column, row) = (k % tiles[0], k / tiles[0]);
        let edge = TILE * SAMPLES;
        let span = Span {
            left: column * edge,
            top: row * edge,
            right: ((column + 1) * edge).min(samples.width),
            bottom: ((row + 1) * edge).min(samples.height),
        };
        let mut tile = Tile::new(drawing, span);
        tile.place_balls(sorted.balls.of(k), &sorted.ball_spans);
        tile.place_chains(sorted.chains.of(k));
        tile.shade();
        tile.lay_triangles(sorted.triangles.of(k));
        tile.lay_edges(sorted.edges.of(k));
        tile.pixels()
    };
    let done: Vec<Vec<[u8; 4]>> = (0..tiles[0] * tiles[1]).into_par_iter().map(one).collect();
    let mut image = Image::filled(size, [0; 4]);
    for (k, pixels) in done.iter().enumerate() {
        let (x, y) = (k % tiles[0] * TILE, k / tiles[0] * TILE);
        let width = TILE.min(size.width - x);
        for (row, line) in pixels.chunks(width).enumerate() {
            let at = (y + row) * size.width + x;
            image.pixels[at..at + width].copy_from_slice(line);
        }
    }
    image
}
