//! `esker plot`.

use crate::Failure;
use crate::out::say;
use esker_io::chart::Drawing;
use esker_view::collisions::{self, Of, Over};
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
    /// Draw the spectra of hard collisions instead, over the speed of approach or the energy of impact
    #[arg(long, value_enum, value_name = "OVER", conflicts_with_all = ["columns", "x"])]
    spectrum: Option<Spectrum>,
    /// What the spectra tell, for each doubling and in a second: energy lost, or the number of collisions
    #[arg(long, value_enum, default_value_t = SpectrumOf::Lost, requires = "spectrum")]
    of: SpectrumOf,
    /// Stage of the spectra (default: the last)
    #[arg(long, value_name = "NAME", requires = "spectrum")]
    stage: Option<String>,
    /// Heading (default: the name of the run folder)
    #[arg(long)]
    title: Option<String>,
    /// Picture to write, .svg or .png
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What spectra are over.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Spectrum {
    /// Speed of approach
    Speed,
    /// Energy of impact: half the effective mass times the square of that speed
    Energy,
}

/// What spectra tell.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum SpectrumOf {
    /// Energy lost
    Lost,
    /// Number of collisions
    Number,
}

/// Draws columns of the series of a run, or spectra of its collisions.
pub fn main(args: &Args) -> Result<(), Failure> {
    let picture = match args.spectrum {
        Some(over) => spectrum(args, over)?,
        None => {
            let numbers = plot::series(&args.run)?;
            match args.columns.as_slice() {
                [] => {
                    numbers.columns.iter().for_each(|name| say!("{name}"));
                    return Ok(());
                }
                [one] if one == ENERGY => plot::energy(&title(args), &numbers)?,
                columns => plot::columns(&title(args), &numbers, &args.x, columns)?.drawing(),
            }
        }
    };
    let Some(file) = &args.output else {
        return Err("name the picture to write: `-o mass.svg` or `-o mass.png`".into());
    };
    write(file, &picture)?;
    say!("{}", file.display());
    Ok(())
}

/// The heading: as asked for, or the name of the run folder.
fn title(args: &Args) -> String {
    let folder = args.run.canonicalize().unwrap_or_else(|_| args.run.clone());
    let name = || folder.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    args.title.clone().unwrap_or_else(name)
}

fn spectrum(args: &Args, over: Spectrum) -> Result<Drawing, Failure> {
    let over = match over {
        Spectrum::Speed => Over::Speed,
        Spectrum::Energy => Over::Energy,
    };
    let of = match args.of {
        SpectrumOf::Lost => Of::Lost,
        SpectrumOf::Number => Of::Number,
    };
    let spectra = collisions::spectra(&args.run, over, args.stage.as_deref())?;
    let stage = spectra.first().map_or("", |s| s.class.stage.as_str());
    let heading = match &args.title {
        Some(title) => title.clone(),
        None => format!("{}, stage {stage}", title(args)),
    };
    Ok(collisions::chart(&heading, &spectra, over, of)?.drawing())
}

/// Writes a drawing in the format that the name of the file asks for.
pub(crate) fn write(file: &Path, picture: &Drawing) -> Result<(), Failure> {
    let bytes = match file.extension().and_then(|e| e.to_str()) {
        Some("svg") => picture.svg().into_bytes(),
        Some("png") => png_bytes(&drawing::paint(picture, PNG_SCALE))?,
        _ => return Err(format!("`{}`: name a picture that ends in .svg or .png", file.display()).into()),
    };
    esker_io::atomic::write(file, |w| w.write_all(&bytes))?;
    Ok(())
}
