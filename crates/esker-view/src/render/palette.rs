//! 256 colours for an animation: the colour cube cut in two where it is widest, again and again (Heckbert 1982), then each colour
//! moved to the mean of what it stands for. The same palette for all frames, without dither, so that nothing flickers.

use super::image::Image;
use rayon::prelude::*;

/// Bits of each component that are told apart.
const BITS: u32 = 6;
const CELLS: usize = 1 << (3 * BITS);
/// Rounds of moving colours to means.
const ROUNDS: usize = 4;

/// A colour that occurs, and how often.
#[derive(Clone, Copy)]
struct Weighted {
    colour: [f32; 3],
    count: f32,
    /// Rare ones count for more: a thin line is seen as well as a background.
    weight: f32,
}

/// Colours, and which of them stands for a cell of the colour cube.
pub struct Palette {
    /// The colours.
    pub colours: Vec<[u8; 3]>,
    nearest: Vec<u8>,
}

fn cell([r, g, b, _]: [u8; 4]) -> usize {
    let part = |c: u8| usize::from(c >> (8 - BITS));
    part(r) << (2 * BITS) | part(g) << BITS | part(b)
}

fn middle(cell: usize) -> [f32; 3] {
    let part = |shift: u32| (((cell >> shift) & ((1 << BITS) - 1)) as f32 + 0.5) * (1 << (8 - BITS)) as f32;
    [part(2 * BITS), part(BITS), part(0)]
}

fn distance(a: [f32; 3], b: [f32; 3]) -> f32 {
    let [x, y, z] = [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    x * x + y * y + z * z
}

fn nearest_of(colours: &[[f32; 3]], colour: [f32; 3]) -> usize {
    let mut best = (f32::INFINITY, 0);
    for (k, one) in colours.iter().enumerate() {
        let d = distance(*one, colour);
        if d < best.0 {
            best = (d, k);
        }
    }
    best.1
}

impl Palette {
    /// Colours for pictures like these.
    pub fn of<'a>(images: impl IntoIterator<Item = &'a Image>) -> Self {
        let occurring = occurring(images);
        let mut colours = halved(occurring.clone());
        for _ in 0..ROUNDS {
            let mut sums = vec![[0.0f32; 4]; colours.len()];
            for one in &occurring {
                let sum = &mut sums[nearest_of(&colours, one.colour)];
                (0..3).for_each(|k| sum[k] += one.count * one.colour[k]);
                sum[3] += one.count;
            }
            for (colour, sum) in colours.iter_mut().zip(&sums).filter(|(_, sum)| sum[3] > 0.0) {
                *colour = std::array::from_fn(|k| sum[k] / sum[3]);
            }
        }
        let nearest = (0..CELLS).into_par_iter().map(|cell| nearest_of(&colours, middle(cell)) as u8).collect();
        Self { colours: colours.iter().map(|c| c.map(|x| x.round().clamp(0.0, 255.0) as u8)).collect(), nearest }
    }

    /// The picture in numbers of colours.
    pub fn indices(&self, image: &Image) -> Vec<u8> {
        image.pixels.iter().map(|pixel| self.nearest[cell(*pixel)]).collect()
    }
}

/// Colours of some pictures.
fn occurring<'a>(images: impl IntoIterator<Item = &'a Image>) -> Vec<Weighted> {
    let mut sums = vec![[0u64; 4]; CELLS];
    for image in images {
        for pixel in &image.pixels {
            let sum = &mut sums[cell(*pixel)];
            (0..3).for_each(|k| sum[k] += u64::from(pixel[k]));
            sum[3] += 1;
        }
    }
    let mean = |sum: &[u64; 4]| Weighted {
        colour: std::array::from_fn(|k| sum[k] as f32 / sum[3] as f32),
        count: sum[3] as f32,
        weight: (sum[3] as f32).sqrt(),
    };
    sums.iter().filter(|sum| sum[3] > 0).map(mean).collect()
}

/// Means of boxes that the colours were divided into.
fn halved(all: Vec<Weighted>) -> Vec<[f32; 3]> {
    let spread = |group: &[Weighted]| {
        let range = |k: usize| {
            let of = |best: fn(f32, f32) -> f32, from: f32| group.iter().map(|w| w.colour[k]).fold(from, best);
            of(f32::max, 0.0) - of(f32::min, 255.0)
        };
        let widest = (0..3).max_by(|a, b| range(*a).total_cmp(&range(*b))).unwrap_or(0);
        let weight: f32 = group.iter().map(|w| w.weight).sum();
        (range(widest) * weight.sqrt(), widest)
    };
    let mut groups = vec![all];
    while groups.len() < 256 {
        let next = (0..groups.len())
            .filter(|k| groups[*k].len() > 1)
            .max_by(|a, b| spread(&groups[*a]).0.total_cmp(&spread(&groups[*b]).0));
        let Some(k) = next else { break };
        let (_, widest) = spread(&groups[k]);
        groups[k].sort_by(|a, b| a.colour[widest].total_cmp(&b.colour[widest]));
        let half: f32 = 0.5 * groups[k].iter().map(|w| w.weight).sum::<f32>();
        let mut sum = 0.0;
        let at = groups[k]
            .iter()
            .take_while(|w| {
                sum += w.weight;
                sum < half
            })
            .count();
        let at = at.clamp(1, groups[k].len() - 1);
        let upper = groups[k].split_off(at);
        groups.push(upper);
    }
    let mean = |group: &Vec<Weighted>| {
        let weight: f32 = group.iter().map(|w| w.weight).sum();
        std::array::from_fn(|k| {
            group.iter().map(|w| w.weight * w.colour[k]).sum::<f32>() / weight.max(f32::MIN_POSITIVE)
        })
    };
    groups.iter().map(mean).collect()
}
