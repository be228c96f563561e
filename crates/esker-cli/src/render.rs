//! `esker render`: pictures and animations of a run, without any display.

use crate::Failure;
use crate::out::{self, say, tell};
use esker_view::colour::Map;
use esker_view::render::output::{self, Film, Kind};
use esker_view::render::{self, Background, Clip, Projection, Range, Run, Settings, Shot, Side, Size, Which};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::str::FromStr;

type Vec3 = esker::math::Vec3;

/// Arguments of `esker render`.
#[derive(clap::Args)]
pub struct Args {
    /// Folder of a run
    run: PathBuf,
    /// File to write: .png for one frame, .gif, .mp4 or .webm for an animation, a folder for one PNG per frame (default:
    /// RUN.png here)
    #[arg(long, short)]
    output: Option<PathBuf>,

    /// Frame by its number from 0; -1 is the last
    #[arg(long, value_name = "N", allow_negative_numbers = true, group = "which")]
    frame: Option<i64>,
    /// Frame nearest to a time [s]
    #[arg(long, value_name = "T", value_parser = seconds, allow_negative_numbers = true, group = "which")]
    time: Option<f64>,
    /// All frames (default for animations and folders; else the last frame)
    #[arg(long, group = "which")]
    all: bool,
    /// Of all frames every N-th
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    every: Option<u32>,
    /// Frames per second of an animation
    #[arg(long, default_value = "25", value_parser = fps)]
    fps: f64,

    /// Width and height in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = Size::from_str)]
    size: Size,
    /// Look from: front, back, side, top, iso (default: front for planar scenes, else iso, three quarters from above)
    #[arg(long, value_parser = Side::from_str)]
    view: Option<Side>,
    /// Place of the eye [m]
    #[arg(long, value_name = "X,Y,Z", value_parser = render::vector, allow_hyphen_values = true, conflicts_with = "view")]
    eye: Option<Vec3>,
    /// Place in the middle of the picture [m]
    #[arg(long, value_name = "X,Y,Z", value_parser = render::vector, allow_hyphen_values = true)]
    target: Option<Vec3>,
    /// Direction that points upwards (default: the axis nearest to that against gravity)
    #[arg(long, value_name = "X,Y,Z", value_parser = render::direction, allow_hyphen_values = true)]
    up: Option<Vec3>,
    /// Things far away are as large as near ones (default for planar scenes)
    #[arg(long, conflicts_with = "perspective")]
    orthographic: bool,
    /// Things far away are smaller (default for others)
    #[arg(long)]
    perspective: bool,
    /// Enlarge
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = render::zoom)]
    zoom: f64,

    /// Colour grains by a stored field: velocity, velocity.z, pressure, material, "layer of origin", …
    #[arg(long, value_name = "FIELD")]
    colour: Option<String>,
    /// Colour map: viridis, cividis, magma, coolwarm, grey
    #[arg(long, value_parser = Map::from_str)]
    map: Option<Map>,
    /// Range of the colours (default: that of all frames drawn)
    #[arg(long, value_name = "MIN:MAX", value_parser = Range::from_str, allow_hyphen_values = true)]
    range: Option<Range>,
    /// Draw contacts as lines, wide and dark by a field (default: the normal force), and grains pale
    #[arg(long, value_name = "FIELD", num_args = 0..=1, default_missing_value = "")]
    contacts: Option<String>,
    /// Draw no walls
    #[arg(long)]
    no_walls: bool,
    /// Cut away what lies before a plane, seen from the eye; with :flip what lies behind it
    #[arg(long, value_name = "AXIS:POSITION[:flip]", value_parser = Clip::from_str)]
    clip: Option<Clip>,

    /// Draw no colour bar
    #[arg(long)]
    no_bar: bool,
    /// Do not tell the time
    #[arg(long)]
    no_time: bool,
    /// Heading (without a text: the title of the scene)
    #[arg(long, value_name = "TEXT", num_args = 0..=1, default_missing_value = "")]
    title: Option<String>,
    /// Background: white, black, transparent
    #[arg(long, default_value = "white", value_parser = Background::from_str)]
    background: Background,
    /// Number of threads (default: all processors)
    #[arg(long)]
    threads: Option<usize>,
}

fn seconds(text: &str) -> Result<f64, &'static str> {
    text.parse().ok().filter(|t: &f64| t.is_finite()).ok_or("give a time in seconds, for example 0.25")
}

fn fps(text: &str) -> Result<f64, &'static str> {
    let rate = text.parse().ok().filter(|rate| (0.1..=100.0).contains(rate));
    rate.ok_or("give frames per second, from 0.1 to 100")
}

/// Draws.
pub fn main(args: &Args) -> Result<(), Failure> {
    crate::use_threads(args.threads)?;
    let run = Run::open(&args.run)?;
    out::note(run.fault());
    let path = args.output.clone().unwrap_or_else(|| default_name(&args.run));
    let (kind, which) = plan(args, &path)?;
    let frames = run.numbers(which)?;
    let settings = settings(args, &run);
    // Frames are read to find the range of colours and the frame of the picture, and again to be drawn.
    let progress = Progress::new(2 * frames.len());
    let shot = Shot::new(&run, &frames, &settings, || progress.step())?;
    let film = Film { run: &run, shot: &shot, frames: &frames, fps: args.fps, background: args.background };
    let step = || progress.step();
    match kind {
        Kind::Png => output::write_png(&path, &shot.draw(&run.frame(frames[0])?))?,
        Kind::Gif => film.write_gif(&path, step)?,
        Kind::Video => film.write_video(&path, step)?,
        Kind::Folder => film.write_folder(&path, step)?,
    }
    progress.clear();
    match (kind, &frames[..]) {
        (Kind::Png, [number, ..]) => {
            say!("wrote {} (frame {number}, {})", path.display(), run.time_stamp(*number))
        }
        (Kind::Folder, _) => say!("wrote {} pictures to {}", frames.len(), path.display()),
        _ => say!("wrote {} ({} frames)", path.display(), frames.len()),
    }
    Ok(())
}

/// `RUN.png` in this folder.
fn default_name(run: &Path) -> PathBuf {
    let full = run.canonicalize().unwrap_or_else(|_| run.to_owned());
    let name = full.file_name().map_or("picture".into(), |name| name.to_string_lossy().into_owned());
    PathBuf::from(format!("{name}.png"))
}

/// What is to be written, and of which frames.
fn plan(args: &Args, path: &Path) -> Result<(Kind, Which), Failure> {
    let Some(kind) = Kind::of(path) else {
        return Err(format!(
            "`--output {}`: this ending is not known; write .png, .gif, .mp4, .webm, or a folder",
            path.display()
        )
        .into());
    };
    let one = args.frame.map(Which::Number).or(args.time.map(Which::Time));
    let all = Which::Every(args.every.unwrap_or(1) as usize);
    if args.background == Background::Transparent && matches!(kind, Kind::Gif | Kind::Video) {
        return Err("`--background transparent` is for PNG only; give white or black for an animation".into());
    }
    match (kind, one, args.all || args.every.is_some()) {
        (Kind::Png, None, true) => Err(format!(
            "`--output {}` is one picture, `--all` draws many; name a folder, a .gif or an .mp4",
            path.display()
        )
        .into()),
        (Kind::Gif | Kind::Video, Some(_), _) => Err(format!(
            "`--output {}` is an animation; leave `--frame` and `--time` away, or write a .png",
            path.display()
        )
        .into()),
        (_, Some(_), true) => Err("`--every` goes with all frames; leave `--frame` and `--time` away".into()),
        (kind, Some(one), false) => Ok((kind, one)),
        (Kind::Png, None, false) => Ok((kind, Which::Last)),
        (kind, None, _) => Ok((kind, all)),
    }
}

fn settings(args: &Args, run: &Run) -> Settings {
    let projection = match (args.orthographic, args.perspective) {
        (true, _) => Some(Projection::Orthographic),
        (_, true) => Some(Projection::Perspective),
        _ => None,
    };
    let heading = |text: &String| if text.is_empty() { run.head().title.clone() } else { text.clone() };
    Settings {
        size: args.size,
        side: args.view,
        eye: args.eye,
        target: args.target,
        up: args.up,
        projection,
        zoom: args.zoom,
        colour: args.colour.clone(),
        map: args.map,
        range: args.range,
        contacts: args.contacts.clone(),
        walls: !args.no_walls,
        clip: args.clip,
        bar: !args.no_bar,
        time: !args.no_time,
        title: args.title.as_ref().map(heading).filter(|title| !title.is_empty()),
        background: args.background,
    }
}

/// How many frames are done: a bar on a terminal, for more than one frame.
struct Progress(Option<ProgressBar>);

impl Progress {
    fn new(steps: usize) -> Self {
        let wanted = steps > 2 && std::io::stderr().is_terminal();
        if steps > 2 && !wanted {
            tell!("drawing {} frames", steps / 2);
        }
        Self(wanted.then(|| {
            let bar = ProgressBar::new(steps as u64);
            if let Ok(style) = ProgressStyle::with_template("{bar:24} {percent:>3}% {eta} left") {
                bar.set_style(style.progress_chars("=> "));
            }
            bar
        }))
    }

    fn step(&self) {
        if let Some(bar) = &self.0 {
            bar.inc(1);
        }
    }

    fn clear(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
