//! `esker view`.

use crate::Failure;
use crate::out::{self, say, tell};
use esker_view::page;
use esker_view::run::Run;
use esker_view::serve::Viewer;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Largest file that browsers open with ease \[B\].
const LARGE: usize = 300 << 20;

/// Arguments of `esker view`.
#[derive(clap::Args)]
pub struct Args {
    /// Folder of a run, finished or still going
    run: PathBuf,
    /// Write one HTML file that holds the run, instead of serving it
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// With --html: take every K-th frame
    #[arg(long, value_name = "K", default_value = "1", requires = "html")]
    every: std::num::NonZeroUsize,
    /// Port on 127.0.0.1 (default: any that is free)
    #[arg(long, default_value = "0", hide_default_value = true, conflicts_with = "html")]
    port: u16,
    /// Do not open a browser
    #[arg(long, conflicts_with = "html")]
    no_open: bool,
}

/// Shows a run.
pub fn main(args: &Args) -> Result<(), Failure> {
    match &args.html {
        Some(file) => write(&args.run, file, args.every.get()),
        None => serve(args),
    }
}

fn write(folder: &Path, file: &Path, every: usize) -> Result<(), Failure> {
    let mut run = Run::open(folder)?;
    out::note(run.fault());
    let text = page::with_run(&mut run, every)?;
    esker_io::atomic::write(file, |w| w.write_all(text.as_bytes()))?;
    say!("{} ({:.1} MB)", file.display(), text.len() as f64 / 1e6);
    if text.len() > LARGE {
        tell!(
            "note: that is much for a browser; `--every 5` takes every fifth frame, `esker view {}` needs no such file",
            folder.display()
        );
    }
    Ok(())
}

fn serve(args: &Args) -> Result<(), Failure> {
    let viewer = Viewer::open(&args.run, args.port)?;
    let address = viewer.address();
    out::note(viewer.fault());
    say!("{} at {address}", args.run.display());
    if !args.no_open && !open_browser(&address) {
        say!("open this address in a browser on this machine");
    }
    say!("Ctrl-C ends it");
    viewer.serve();
    Ok(())
}

/// Asks the desktop to show a page; whether there is one to ask.
fn open_browser(address: &str) -> bool {
    let opener: &[&str] = if cfg!(target_os = "macos") {
        &["open"]
    } else if cfg!(windows) {
        &["cmd", "/C", "start", ""]
    } else {
        &["xdg-open"]
    };
    let needs_screen = cfg!(all(unix, not(target_os = "macos")));
    let screen =
        ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some_and(|v| !v.is_empty()));
    if needs_screen && !screen {
        return false;
    }
    let quiet = Command::new(opener[0])
        .args(&opener[1..])
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    quiet.is_ok()
}
