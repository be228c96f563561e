//! A view that is the same for all frames drawn: eye, colours and their ranges.

use super::camera::{Axes, Camera, Fit};
use super::field::{Colouring, Field, Way};
use super::image::{Image, Size};
use super::legend::{Layout, Wanted, time_stamp};
use super::raster::{self, SAMPLES};
use super::run::Run;
use super::scene;
use super::settings::{Background, Clip, Projection, Range, Settings, Side};
use super::{RenderError, run};
use crate::colour::{Map, Rgb};
use esker::math::Vec3;
use esker_io::store::column::Column;
use esker_io::store::{FrameData, RunHead};

/// Columns of contacts that say between whom they are.
const BETWEEN: [&str; 4] = ["first", "second", "wall", "branch"];
/// Grains where contacts are drawn.
const PALE: Rgb = Rgb([0.80, 0.82, 0.84]);

/// All that stays while frames change.
#[derive(Clone, Debug)]
pub struct Shot {
    pub(super) camera: Camera,
    pub(super) planar: bool,
    pub(super) grains: Colouring,
    pub(super) contacts: Option<Colouring>,
    /// Mean radius \[m\]: how wide contacts are drawn.
    pub(super) mean_radius: f64,
    pub(super) walls: bool,
    pub(super) clip: Option<Clip>,
    pub(super) background: Background,
    layout: Layout,
    bar: bool,
    /// Mean time between frames of the run \[s\]; `None` tells no time.
    interval: Option<f64>,
    title: Option<String>,
}

impl Shot {
    /// Looks through the frames that will be drawn, and fixes what they have in common. `looked` is told of each one.
    pub fn new(
        run: &Run,
        frames: &[usize],
        settings: &Settings,
        mut looked: impl FnMut(),
    ) -> Result<Self, RenderError> {
        let head = run.head();
        let some = run.frame(*frames.first().ok_or(RenderError::Nothing)?)?;
        let (mut grains, mut contacts) = colourings(run, &some, settings)?;
        let bars = if settings.bar { bars(&grains, contacts.as_ref()).len() } else { 0 };
        let wanted = Wanted { bars, time: settings.time, title: settings.title.is_some() };
        let layout = Layout::new(settings.size, wanted);
        let view = View::new(head, settings);
        let mut fit = Fit::new(view.axes, view.projection, layout.frame, settings.size.height as f64);
        let (mut radii, mut count) = (0.0, 0usize);
        for (k, &number) in frames.iter().enumerate() {
            let frame = if k == 0 { some.clone() } else { run.frame(number)? };
            scene::take_in(&mut fit, &frame, settings.walls, &view.clip_box(settings));
            let radius = frame.grains.column("radius").map_or(&[][..], |c| &c.values);
            radii += radius.iter().sum::<f64>();
            count += radius.len();
            grains.include(&frame.grains);
            if let Some(contacts) = &mut contacts {
                contacts.include(&frame.pairs);
                contacts.include(&frame.ends);
            }
            looked();
        }
        settle(&mut grains, &mut contacts, settings.range);
        let camera = match (view.projection, settings.eye) {
            (Projection::Perspective, Some(eye)) => fit.from_eye(eye, settings.zoom),
            _ => fit.camera(settings.target, settings.zoom),
        };
        Ok(Self {
            camera,
            planar: head.planar,
            grains,
            contacts,
            mean_radius: radii / count.max(1) as f64,
            walls: settings.walls,
            clip: settings.clip,
            background: settings.background,
            layout,
            bar: settings.bar,
            interval: settings.time.then(|| run::interval(run.frames())),
            title: settings.title.clone(),
        })
    }

    /// Draws a frame.
    pub fn draw(&self, frame: &FrameData) -> Image {
        let drawing = scene::drawing(self, frame, self.camera.enlarged(SAMPLES as f64));
        let mut image = raster::paint(&drawing, self.layout.size);
        let bars = if self.bar { bars(&self.grains, self.contacts.as_ref()) } else { Vec::new() };
        let time = self.interval.map(|interval| time_stamp(frame.time, interval));
        self.layout.draw(&mut image, &bars, time.as_deref(), self.title.as_deref(), self.background);
        image
    }

    /// Width and height of its pictures.
    pub fn size(&self) -> Size {
        self.layout.size
    }

    /// The view.
    pub fn camera(&self) -> &Camera {
        &self.camera
    }

    /// Lowest and highest value of the first bar; `None` where there is none.
    pub fn range(&self) -> Option<Range> {
        match bars(&self.grains, self.contacts.as_ref()).first() {
            Some(Colouring::Scale { scale, .. }) => Some(scale.range),
            _ => None,
        }
    }
}

/// What needs a bar, in their order.
fn bars<'a>(grains: &'a Colouring, contacts: Option<&'a Colouring>) -> Vec<&'a Colouring> {
    let all = std::iter::once(grains).chain(contacts);
    all.filter(|colouring| !matches!(colouring, Colouring::Plain(_))).collect()
}

/// Directions and projection.
struct View {
    axes: Axes,
    projection: Projection,
}

impl View {
    fn new(head: &RunHead, settings: &Settings) -> Self {
        let up =
            settings.up.unwrap_or_else(|| if head.planar { Vec3::Y } else { nearest_axis(-Vec3::from(head.gravity)) });
        let side = settings.side.unwrap_or(if head.planar { Side::Front } else { Side::Iso });
        let axes = match settings.eye {
            Some(eye) => Axes::along(settings.target.unwrap_or(Vec3::ZERO) - eye, up),
            None => Axes::of(side, up),
        };
        let flat = head.planar && settings.eye.is_none();
        let projection = if flat { Projection::Orthographic } else { Projection::Perspective };
        Self { axes, projection: settings.projection.unwrap_or(projection) }
    }

    /// The clip plane seen from this side, for what is taken into the frame.
    fn clip_box(&self, settings: &Settings) -> Option<(Vec3, f64)> {
        settings.clip.map(|clip| clip.outward(self.axes.forward))
    }
}

/// The axis nearest to a direction; z for none.
fn nearest_axis(direction: Vec3) -> Vec3 {
    let axes = [Vec3::Z, Vec3::Y, Vec3::X].into_iter().flat_map(|axis| [axis, -axis]);
    axes.fold(Vec3::Z, |best, axis| if axis.dot(direction) > best.dot(direction) + 1e-12 { axis } else { best })
}

/// What has which colour, ranges still open.
fn colourings(run: &Run, some: &FrameData, settings: &Settings) -> Result<(Colouring, Option<Colouring>), RenderError> {
    let contacts = settings.contacts.as_ref().map(|word| contact_colouring(run, some, word, settings)).transpose()?;
    let default = if some.grains.column("velocity").is_some() { "velocity" } else { "radius" };
    let grains = match (&settings.colour, &contacts) {
        (None, Some(_)) => Colouring::Plain(PALE),
        (word, _) => {
            let word = word.as_deref().unwrap_or(default);
            let map = settings.map.unwrap_or(Map::Viridis);
            Colouring::of_grains(word, map, run.head(), some, || run.frame(0))?
        }
    };
    Ok((grains, contacts))
}

fn contact_colouring(run: &Run, some: &FrameData, word: &str, settings: &Settings) -> Result<Colouring, RenderError> {
    let table = if some.pairs.columns.is_empty() { &some.ends } else { &some.pairs };
    let fields: Vec<&Column> = table.columns.iter().filter(|c| !BETWEEN.contains(&c.name.as_str())).collect();
    let Some(first) = fields.first() else {
        return Err(RenderError::NoContacts { path: run.path().to_owned() });
    };
    let word = if word.is_empty() { &first.name } else { word };
    let field = Field::find(word, "--contacts", &fields)?;
    // Strong ones shall stand out: dark before white, light before black.
    let own = settings.map.filter(|_| settings.colour.is_none());
    let way = if own.is_none() && settings.background != Background::Black { Way::Backward } else { Way::Forward };
    Ok(Colouring::by_number(field, own.unwrap_or(Map::Magma), way))
}

/// Closes the ranges; the first bar has that of the settings.
fn settle(grains: &mut Colouring, contacts: &mut Option<Colouring>, range: Option<Range>) {
    let mut given = range;
    for (colouring, from_zero) in std::iter::once((grains, false)).chain(contacts.as_mut().map(|c| (c, true))) {
        if let Colouring::Scale { scale, .. } = colouring {
            match given.take() {
                Some(range) => scale.range = range,
                None => {
                    if from_zero && scale.range.min > 0.0 {
                        scale.range.min = 0.0;
                    }
                    scale.settle();
                }
            }
        } else if matches!(colouring, Colouring::Names { .. }) {
            given = None;
        }
    }
}
