//! Pictures and animations as files.

use super::palette::Palette;
use super::{Background, Image, RenderError, Run, Shot, Size};
use esker_io::atomic;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Frames that the palette of a GIF is made from.
const PALETTE_FRAMES: usize = 8;

/// What a file name asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One picture.
    Png,
    /// An animation by ourselves.
    Gif,
    /// A video by ffmpeg.
    Video,
    /// A folder of pictures.
    Folder,
}

impl Kind {
    /// By the end of a name; `None` for ends that mean nothing.
    pub fn of(path: &Path) -> Option<Self> {
        let ends_in_slash = path.as_os_str().to_string_lossy().ends_with(['/', '\\']);
        if ends_in_slash || path.is_dir() {
            return Some(Kind::Folder);
        }
        match path.extension().map(|e| e.to_string_lossy().to_lowercase()).as_deref() {
            None => Some(Kind::Folder),
            Some("png") => Some(Kind::Png),
            Some("gif") => Some(Kind::Gif),
            Some("mp4" | "webm" | "mkv" | "mov") => Some(Kind::Video),
            Some(_) => None,
        }
    }
}

/// A picture as a PNG file.
pub fn png_bytes(image: &Image) -> Result<Vec<u8>, png::EncodingError> {
    let Size { width, height } = image.size;
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width as u32, height as u32);
    let opaque = image.pixels.iter().all(|pixel| pixel[3] == 255);
    encoder.set_color(if opaque { png::ColorType::Rgb } else { png::ColorType::Rgba });
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    let mut writer = encoder.write_header()?;
    let data = if opaque { image.opaque_bytes() } else { image.pixels.as_flattened().to_vec() };
    writer.write_image_data(&data)?;
    writer.finish()?;
    Ok(bytes)
}

/// Writes a picture.
pub fn write_png(path: &Path, image: &Image) -> Result<(), RenderError> {
    let bytes = png_bytes(image).map_err(|e| coding(path, e))?;
    Ok(atomic::write_unsynced(path, |file| file.write_all(&bytes))?)
}

fn coding(path: &Path, error: impl std::fmt::Display) -> RenderError {
    RenderError::Coding { path: path.to_owned(), said: error.to_string() }
}

/// Pictures one after another.
pub struct Film<'a> {
    /// The run.
    pub run: &'a Run,
    /// The view.
    pub shot: &'a Shot,
    /// Numbers of its frames.
    pub frames: &'a [usize],
    /// Frames per second.
    pub fps: f64,
    /// What is behind everything.
    pub background: Background,
}

impl Film<'_> {
    fn image(&self, number: usize) -> Result<Image, RenderError> {
        Ok(self.shot.draw(&self.run.frame(number)?))
    }

    /// Writes `frame-000123.png` and so on into a folder; returns it. `drawn` is told of each one.
    pub fn write_folder(&self, folder: &Path, mut drawn: impl FnMut()) -> Result<(), RenderError> {
        std::fs::create_dir_all(folder).map_err(|e| atomic::FileError::new(folder, atomic::Attempt::Create, e))?;
        for &number in self.frames {
            write_png(&folder.join(format!("frame-{number:06}.png")), &self.image(number)?)?;
            drawn();
        }
        Ok(())
    }

    /// Writes an animation that begins again at its end.
    pub fn write_gif(&self, path: &Path, mut drawn: impl FnMut()) -> Result<(), RenderError> {
        let step = self.frames.len().div_ceil(PALETTE_FRAMES).max(1);
        let some: Vec<Image> =
            self.frames.iter().rev().step_by(step).map(|n| self.image(*n)).collect::<Result<_, _>>()?;
        let palette = Palette::of(&some);
        drop(some);
        let mut failed = None;
        let written = atomic::write_unsynced(path, |file| {
            let mut coder = GifCoder::new(file, self.shot.size(), &palette, self.fps)?;
            for &number in self.frames {
                match self.image(number) {
                    Ok(image) => coder.add(&image)?,
                    Err(error) => {
                        failed = Some(error);
                        return Err(io::Error::other("a frame could not be drawn"));
                    }
                }
                drawn();
            }
            Ok(())
        });
        match failed {
            Some(error) => Err(error),
            None => Ok(written?),
        }
    }

    /// Writes a video through ffmpeg.
    pub fn write_video(&self, path: &Path, mut drawn: impl FnMut()) -> Result<(), RenderError> {
        let mut child = self.ffmpeg(path)?;
        let said = child.stderr.take().map(|mut errors| {
            std::thread::spawn(move || {
                let mut text = String::new();
                let _ = errors.read_to_string(&mut text);
                text
            })
        });
        let fed = self.feed(&mut child, &mut drawn);
        let status = child.wait();
        let said = said.and_then(|said| said.join().ok()).unwrap_or_default();
        let ended_well = status.is_ok_and(|status| status.success());
        if fed.is_err() || !ended_well {
            // Half a video is of no use.
            let _ = std::fs::remove_file(path);
        }
        match fed {
            Err(error) => Err(error),
            Ok(()) if ended_well => Ok(()),
            Ok(()) => {
                let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it stopped");
                Err(RenderError::Ffmpeg { path: path.to_owned(), said: last.trim().to_owned() })
            }
        }
    }

    /// Starts ffmpeg.
    fn ffmpeg(&self, path: &Path) -> Result<Child, RenderError> {
        let Size { width, height } = self.shot.size();
        let coder: &[&str] = match path.extension().and_then(|e| e.to_str()) {
            Some("webm") => &["-c:v", "libvpx-vp9", "-crf", "24", "-b:v", "0"],
            _ => &["-c:v", "libx264", "-crf", "18", "-movflags", "+faststart"],
        };
        // These coders want even numbers of rows and columns.
        let colour = if self.background == Background::Black { "black" } else { "white" };
        let even = format!("pad=ceil(iw/2)*2:ceil(ih/2)*2:0:0:{colour}");
        // A name that begins with a hyphen is a file all the same.
        let target = if path.is_absolute() { path.to_owned() } else { PathBuf::from(".").join(path) };
        let mut command = Command::new("ffmpeg");
        command.args(["-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24"]);
        command.args(["-s", &format!("{width}x{height}"), "-r", &self.fps.to_string(), "-i", "-"]);
        command.args(["-vf", &even, "-pix_fmt", "yuv420p"]).args(coder).arg(target);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => RenderError::NoFfmpeg { path: path.to_owned() },
            _ => RenderError::Ffmpeg { path: path.to_owned(), said: e.to_string() },
        })
    }

    /// Gives ffmpeg all frames. That it does not take them is told by its own words.
    fn feed(&self, child: &mut Child, drawn: &mut impl FnMut()) -> Result<(), RenderError> {
        let Some(mut pipe) = child.stdin.take() else { return Ok(()) };
        for &number in self.frames {
            if pipe.write_all(&self.image(number)?.opaque_bytes()).is_err() {
                break;
            }
            drawn();
        }
        Ok(())
    }
}

/// Writes frames of a GIF.
struct GifCoder<'a, W: Write> {
    encoder: gif::Encoder<W>,
    palette: &'a Palette,
    size: [u16; 2],
    fps: f64,
    frames: usize,
}

impl<'a, W: Write> GifCoder<'a, W> {
    fn new(file: W, size: Size, palette: &'a Palette, fps: f64) -> io::Result<Self> {
        let size = [size.width as u16, size.height as u16];
        let colours: Vec<u8> = palette.colours.iter().flatten().copied().collect();
        let mut encoder = gif::Encoder::new(file, size[0], size[1], &colours).map_err(io::Error::other)?;
        encoder.set_repeat(gif::Repeat::Infinite).map_err(io::Error::other)?;
        Ok(Self { encoder, palette, size, fps, frames: 0 })
    }

    fn add(&mut self, image: &Image) -> io::Result<()> {
        // In hundredths of a second: the next frame is due by the clock, not a rounded time after this one.
        let due = |frame: usize| (100.0 * frame as f64 / self.fps).round() as u64 as u16;
        let frame = gif::Frame {
            delay: due(self.frames + 1).wrapping_sub(due(self.frames)).max(1),
            width: self.size[0],
            height: self.size[1],
            buffer: self.palette.indices(image).into(),
            ..gif::Frame::default()
        };
        self.frames += 1;
        self.encoder.write_frame(&frame).map_err(io::Error::other)
    }
}
