//! `esker plot`.

use crate::Failure;
use crate::out::say;
use esker_io::chart::Drawing;
use esker_view::drawing;
use esker_view::plot::{self, ENERGY, TIME};
use esker_view::render::output::png_bytes;
use std::path::{Path, PathBuf};

/// Pixels for each of a drawing: letters are sharp in print.
const PNG_SCALE: f64 = 2.0;

/// Arguments of `esker plot`.
#[derive(clap::Args)]
pub struct Args {
    /// Folder of a run
    run: PathBuf,
    /// Columns of its series, with or without their unit; `energy` draws the whole account (default: list the columns)
    columns: Vec<String>,
    /// Column along the horizontal axis
    #[arg(short, long, default_value = TIME)]
    x: String,
    /// Heading (default: the name of the run folder)
    #[arg(long)]
    title: Option<String>,
    /// Picture to write, .svg or .png
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Draws columns of the series of a run.
pub fn main(args: &Args) -> Result<(), Failure> {
    let numbers = plot::series(&args.run)?;
    if args.columns.is_empty() {
        numbers.columns.iter().for_each(|name| say!("{name}"));
        return Ok(());
    }
    let Some(file) = &args.output else {
        return Err("name the picture to write: `-o mass.svg` or `-o mass.png`".into());
    };
    let folder = args.run.canonicalize().unwrap_or_else(|_| args.run.clone());
    let name = || folder.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let title = args.title.clone().unwrap_or_else(name);
    let picture = match args.columns.as_slice() {
        [one] if one == ENERGY => plot::energy(&title, &numbers)?,
        columns => plot::columns(&title, &numbers, &args.x, columns)?.drawing(),
    };
    save(&picture, file)?;
    say!("{}", file.display());
    Ok(())
}

/// Writes a picture as the ending of the file says.
pub fn save(picture: &Drawing, file: &Path) -> Result<(), Failure> {
    let bytes = match file.extension().and_then(|e| e.to_str()) {
        Some("svg") => picture.svg().into_bytes(),
        Some("png") => png_bytes(&drawing::paint(picture, PNG_SCALE))?,
        _ => return Err(format!("`{}`: name a picture that ends in .svg or .png", file.display()).into()),
    };
    esker_io::atomic::write(file, |w| w.write_all(&bytes))?;
    Ok(())
}
