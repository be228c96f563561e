//! `esker report`.

use crate::Failure;
use crate::out::{self, say};
use esker_view::render::output::png_bytes;
use esker_view::render::{self, RenderError, Settings, Shot, Size};
use esker_view::report::{self, Picture};
use esker_view::run::RunError;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Pictures in a report.
const PICTURES: usize = 3;
/// Programs that print a page, by the names under which they are installed.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// Arguments of `esker report`.
#[derive(clap::Args)]
pub struct Args {
    /// Folder of a run
    run: PathBuf,
    /// Page to write (default: NAME.html here, named after the folder)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print it to this file instead, by Chromium or Chrome
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    pdf: Option<PathBuf>,
}

/// Tells a run on one page.
pub fn main(args: &Args) -> Result<(), Failure> {
    let page = report::report(&args.run, &pictures(&args.run)?)?;
    if let Some(file) = &args.pdf {
        print(&page, file)?;
        say!("{}", file.display());
        return Ok(());
    }
    let folder = args.run.canonicalize()?;
    let name = || {
        let name = folder.file_name().map_or("report".into(), |name| name.to_string_lossy());
        PathBuf::from(format!("{name}.html"))
    };
    let file = args.output.clone().unwrap_or_else(name);
    esker_io::atomic::write(&file, |w| w.write_all(page.as_bytes()))?;
    say!("{}", file.display());
    Ok(())
}

/// The first frame, the last, and one between; none if the run has no frames.
fn pictures(folder: &Path) -> Result<Vec<Picture>, Failure> {
    let run = match render::Run::open(folder) {
        Ok(run) => run,
        Err(RenderError::Run(RunError::NoFrames { .. }) | RenderError::Empty { .. }) => return Ok(Vec::new()),
        Err(e) => return Err(e.into()),
    };
    out::note(run.fault());
    let last = run.frames().len() - 1;
    let mut numbers: Vec<usize> = (0..PICTURES).map(|k| k * last / (PICTURES - 1)).collect();
    numbers.dedup();
    let settings = Settings { size: Size { width: 960, height: 600 }, ..Settings::default() };
    let shot = Shot::new(&run, &numbers, &settings, || {})?;
    let picture = |&number: &usize| -> Result<Picture, Failure> {
        let frame = run.frame(number)?;
        let png = png_bytes(&shot.draw(&frame))?;
        Ok(Picture { caption: format!("{:.6} s, {} grains", frame.time, frame.grains.rows), png })
    };
    numbers.iter().map(picture).collect()
}

/// Whether this is the user for whom a browser has no sandbox.
fn is_root() -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata("/proc/self").is_ok_and(|about| about.uid() == 0)
    }
    #[cfg(not(unix))]
    false
}

/// Prints a page by a browser.
fn print(page: &str, file: &Path) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let source = folder.path().join("report.html");
    // What is folded up on the screen is told in print.
    std::fs::write(&source, page.replace("<details>", "<details open>"))?;
    let target = folder.path().join("report.pdf");
    for browser in BROWSERS {
        let outcome = Command::new(browser)
            .args(["--headless=new", "--disable-gpu", "--no-pdf-header-footer"])
            .args(is_root().then_some("--no-sandbox"))
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .arg(format!("--print-to-pdf={}", target.display()))
            .arg(format!("file://{}", source.display()))
            .stdin(Stdio::null())
            .output();
        match outcome {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
            Err(e) => return Err(format!("`{browser}` cannot be started: {e}").into()),
            Ok(output) if !target.is_file() => {
                let said = String::from_utf8_lossy(&output.stderr);
                let last = said.lines().last().unwrap_or_default();
                return Err(format!("`{browser}` could not print `{}`: {last}", file.display()).into());
            }
            Ok(_) => {
                let bytes = esker_io::atomic::read(&target)?;
                return Ok(esker_io::atomic::write(file, |w| w.write_all(&bytes))?);
            }
        }
    }
    Err(format!(
        "`--pdf` needs Chromium or Chrome, and none of {} is installed\n  install one (apt install chromium), or print the page of \
         `esker report` from any browser",
        BROWSERS.join(", ")
    )
    .into())
}
