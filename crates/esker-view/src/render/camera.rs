//! Where one looks from: from places in space to pixels and back.
//!
//! In view coordinates x points to the right, y up, and the third is the depth, away from the eye.

use super::image::Rect;
use super::settings::{Projection, Side};
use esker::math::Vec3;

/// Height of what a perspective view takes in, as an angle \[rad\].
const FIELD_OF_VIEW: f64 = 30.0 * std::f64::consts::PI / 180.0;
/// Of the three-quarter view: to the right of the front, and above it \[rad\].
const QUARTER: [f64; 2] = [35.0 * std::f64::consts::PI / 180.0, 22.0 * std::f64::consts::PI / 180.0];

/// The directions of a view, all of length 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axes {
    /// To the right.
    pub right: Vec3,
    /// Upwards.
    pub up: Vec3,
    /// Away from the eye.
    pub forward: Vec3,
}

impl Axes {
    /// Looking along a direction with another one upwards, as far as that can be.
    pub fn along(forward: Vec3, up: Vec3) -> Self {
        let forward = forward.normalize_or(Vec3::Y);
        let sideways = forward.cross(up).try_normalize();
        let right = sideways.unwrap_or_else(|| forward.cross(forward.any_orthonormal_vector()).normalize());
        Self { right, up: right.cross(forward), forward }
    }

    /// One of the named views, where `up` is an axis.
    pub fn of(side: Side, up: Vec3) -> Self {
        let right = if up.x.abs() > 0.5 { Vec3::Y } else { Vec3::X };
        let front = up.cross(right);
        match side {
            Side::Front => Self::along(front, up),
            Side::Back => Self::along(-front, up),
            Side::Side => Self::along(-right, up),
            Side::Top => Self::along(-up, front),
            Side::Iso => {
                let [turn, tilt] = QUARTER;
                let level = turn.cos() * front - turn.sin() * right;
                Self::along(tilt.cos() * level - tilt.sin() * up, up)
            }
        }
    }

    /// A direction in view coordinates.
    pub fn turned(&self, direction: Vec3) -> Vec3 {
        Vec3::new(direction.dot(self.right), direction.dot(self.up), direction.dot(self.forward))
    }
}

/// How depth changes the size of things.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lens {
    /// Not at all.
    Orthographic {
        /// Pixels per metre.
        scale: f64,
    },
    /// Things are smaller the farther away they are.
    Perspective {
        /// Distance of the picture from the eye \[pixels\].
        focal: f64,
    },
}

/// An eye and its picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// The eye \[m\].
    pub eye: Vec3,
    /// Its directions.
    pub axes: Axes,
    /// Its lens.
    pub lens: Lens,
    /// Pixel straight ahead.
    pub centre: [f64; 2],
}

impl Camera {
    /// A place in view coordinates \[m\].
    pub fn view(&self, place: Vec3) -> Vec3 {
        self.axes.turned(place - self.eye)
    }

    /// Pixels per metre at a depth.
    pub fn scale(&self, depth: f64) -> f64 {
        match self.lens {
            Lens::Orthographic { scale } => scale,
            Lens::Perspective { focal } => focal / depth,
        }
    }

    /// The pixel of a place in view coordinates.
    pub fn pixel(&self, place: Vec3) -> [f64; 2] {
        let scale = self.scale(place.z);
        [self.centre[0] + scale * place.x, self.centre[1] - scale * place.y]
    }

    /// Nearest depth that is drawn \[m\].
    pub fn near(&self) -> f64 {
        match self.lens {
            Lens::Orthographic { .. } => f64::NEG_INFINITY,
            Lens::Perspective { .. } => 1e-6,
        }
    }

    /// The line of sight through a pixel in view coordinates: origin and direction; both have depth as their parameter.
    pub fn ray(&self, x: f64, y: f64) -> (Vec3, Vec3) {
        let (x, y) = (x - self.centre[0], self.centre[1] - y);
        match self.lens {
            Lens::Orthographic { scale } => (Vec3::new(x / scale, y / scale, 0.0), Vec3::Z),
            Lens::Perspective { focal } => (Vec3::ZERO, Vec3::new(x / focal, y / focal, 1.0)),
        }
    }

    /// The rectangle of pixels that a sphere covers; `None` when it is behind the eye.
    pub fn bounds(&self, centre: Vec3, radius: f64) -> Option<Rect> {
        let [cx, cy] = self.centre;
        match self.lens {
            Lens::Orthographic { scale } => {
                let ([x, y], r) = (self.pixel(centre), scale * radius);
                Some(Rect { left: x - r, top: y - r, right: x + r, bottom: y + r })
            }
            Lens::Perspective { focal } => {
                if centre.z + radius <= self.near() {
                    return None;
                }
                let all = Rect { left: -1e9, top: -1e9, right: 1e9, bottom: 1e9 };
                if centre.z - radius <= self.near() {
                    return Some(all);
                }
                // Tangents from the eye to the circle that the sphere is in the plane of one direction and the depth.
                let range = |x: f64| {
                    let (middle, half) = (x.atan2(centre.z), (radius / x.hypot(centre.z)).asin());
                    [focal * (middle - half).tan(), focal * (middle + half).tan()]
                };
                let ([left, right], [low, high]) = (range(centre.x), range(centre.y));
                Some(Rect { left: cx + left, right: cx + right, top: cy - high, bottom: cy - low })
            }
        }
    }

    /// The same view in a picture so many times as large.
    pub fn enlarged(mut self, times: f64) -> Self {
        self.centre = self.centre.map(|c| times * c);
        match &mut self.lens {
            Lens::Orthographic { scale: length } | Lens::Perspective { focal: length } => *length *= times,
        }
        self
    }
}

/// Finds the eye from which everything is seen as large as a frame in the picture allows.
///
/// With the eye at (x, y) and a distance w before the origin, a place is within the right border of slope s when
/// x_p − x ≤ s (w − w_p). The largest of w_p + x_p/s over all places, and the same for the other three borders, is all that
/// is needed: spheres of radius r reach r √(1 + 1/s²) farther.
#[derive(Clone, Copy, Debug)]
pub struct Fit {
    axes: Axes,
    projection: Projection,
    frame: Rect,
    focal: f64,
    /// Farthest to the right, to the left, up, down; nearest.
    reach: [f64; 4],
    nearest: f64,
}

impl Fit {
    /// For a frame within a picture of a height.
    pub fn new(axes: Axes, projection: Projection, frame: Rect, height: f64) -> Self {
        let focal = 0.5 * height / (0.5 * FIELD_OF_VIEW).tan();
        Self { axes, projection, frame, focal, reach: [f64::NEG_INFINITY; 4], nearest: f64::NEG_INFINITY }
    }

    /// Half width and half height of the frame: in pixels, or as slopes of its borders.
    fn half(&self) -> [f64; 2] {
        let Rect { left, top, right, bottom } = self.frame;
        let half = [0.5 * (right - left), 0.5 * (bottom - top)];
        match self.projection {
            Projection::Orthographic => half,
            Projection::Perspective => half.map(|h| h / self.focal),
        }
    }

    /// Takes in a sphere, or a point of radius 0.
    pub fn include(&mut self, centre: Vec3, radius: f64) {
        let p = self.axes.turned(centre);
        let near = -p.z;
        let half = self.half();
        for (k, x) in [p.x, -p.x, p.y, -p.y].into_iter().enumerate() {
            let s = half[k / 2];
            let reach = match self.projection {
                Projection::Orthographic => x + radius,
                Projection::Perspective => near + x / s + radius * (1.0 + 1.0 / (s * s)).sqrt(),
            };
            self.reach[k] = self.reach[k].max(reach);
        }
        self.nearest = self.nearest.max(near + radius);
    }

    /// The camera; its axis goes through `target` if there is one, else where there is most room.
    pub fn camera(mut self, target: Option<Vec3>, zoom: f64) -> Camera {
        if !self.nearest.is_finite() {
            self.include(Vec3::ZERO, 1.0);
        }
        let half = self.half();
        let [right, left, up, down] = self.reach;
        let aim = target.map(|target| self.axes.turned(target));
        let (x, y, w, lens) = match self.projection {
            Projection::Orthographic => {
                let (x, y) = aim.map_or((0.5 * (right - left), 0.5 * (up - down)), |aim| (aim.x, aim.y));
                let need = [(right - x).max(left + x), (up - y).max(down + y)];
                let scale = (0..2).map(|k| half[k] / need[k].max(1e-12)).fold(f64::INFINITY, f64::min);
                (x, y, self.nearest, Lens::Orthographic { scale: zoom * scale })
            }
            Projection::Perspective => {
                let middle = |high: f64, low: f64, s: f64| 0.5 * s * (high - low);
                let (x, y) =
                    aim.map_or((middle(right, left, half[0]), middle(up, down, half[1])), |aim| (aim.x, aim.y));
                let [s, u] = half;
                let w = (right - x / s).max(left + x / s).max(up - y / u).max(down + y / u).max(self.nearest);
                (x, y, w, Lens::Perspective { focal: zoom * self.focal })
            }
        };
        let eye = x * self.axes.right + y * self.axes.up - w * self.axes.forward;
        Camera { eye, axes: self.axes, lens, centre: self.frame.centre() }
    }

    /// The camera at a place, which looks at another one.
    pub fn from_eye(self, eye: Vec3, zoom: f64) -> Camera {
        let lens = Lens::Perspective { focal: zoom * self.focal };
        Camera { eye, axes: self.axes, lens, centre: self.frame.centre() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Rect = Rect { left: 100.0, top: 50.0, right: 1100.0, bottom: 650.0 };

    #[test]
    fn front_has_up_upwards_and_right_to_the_right() {
        let axes = Axes::of(Side::Front, Vec3::Z);
        assert_eq!((axes.right, axes.up, axes.forward), (Vec3::X, Vec3::Z, Vec3::Y));
        let axes = Axes::of(Side::Front, Vec3::Y);
        assert_eq!((axes.right, axes.up, axes.forward), (Vec3::X, Vec3::Y, -Vec3::Z));
        let axes = Axes::of(Side::Top, Vec3::Z);
        assert_eq!((axes.right, axes.up, axes.forward), (Vec3::X, Vec3::Y, -Vec3::Z));
    }

    #[test]
    fn all_spheres_are_within_the_frame_and_some_touch_two_of_its_borders() {
        let places =
            [(Vec3::new(0.3, -0.2, 1.0), 0.1), (Vec3::new(-2.0, 0.5, 0.0), 0.4), (Vec3::new(1.0, 3.0, 0.2), 0.2)];
        for projection in [Projection::Orthographic, Projection::Perspective] {
            for side in [Side::Front, Side::Side, Side::Top, Side::Iso] {
                let mut fit = Fit::new(Axes::of(side, Vec3::Z), projection, FRAME, 720.0);
                places.iter().for_each(|(centre, radius)| fit.include(*centre, *radius));
                let camera = fit.camera(None, 1.0);
                let bounds = places.map(|(centre, radius)| camera.bounds(camera.view(centre), radius).unwrap());
                let least = |edge: fn(&Rect) -> f64| bounds.iter().map(edge).fold(f64::INFINITY, f64::min);
                let most = |edge: fn(&Rect) -> f64| bounds.iter().map(edge).fold(f64::NEG_INFINITY, f64::max);
                let room = [
                    least(|b| b.left) - FRAME.left,
                    FRAME.right - most(|b| b.right),
                    least(|b| b.top) - FRAME.top,
                    FRAME.bottom - most(|b| b.bottom),
                ];
                assert!(room.iter().all(|r| *r > -1e-6), "{projection:?} {side:?} {room:?}");
                let tight = |a: f64, b: f64| a < 1e-6 && b < 1e-6;
                assert!(tight(room[0], room[1]) || tight(room[2], room[3]), "{projection:?} {side:?} {room:?}");
            }
        }
    }
}
