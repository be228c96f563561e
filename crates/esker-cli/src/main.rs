//! The program `esker`: run, check, show and measure granular simulations.

mod analyse;
mod bench;
mod changes;
mod check;
mod contact;
mod convert;
mod examples;
mod grind;
mod instructions;
mod out;
mod pages;
mod plot;
mod progress;
mod quantity;
mod render;
mod report;
mod run;
mod sweep;
mod tables;
mod verify;
mod view;

use clap::{CommandFactory, Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: pages::LargePages = pages::LargePages;

/// Esker: a simulator of granular matter.
#[derive(Parser)]
#[command(name = "esker", version, about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a scene, or go on with a run
    Run(run::Args),
    /// Run a scene many times: all combinations of some values, a random choice, or a search for the best
    Sweep(Box<sweep::Args>),
    /// Read a scene and tell what was understood: grains, materials, step, expected overlap, cost
    Check(check::Args),
    /// Let two bodies meet under a contact law: contact time, overlap, restitution, and the curve of force
    Contact(Box<contact::Args>),
    /// Grind powder in a ball mill: how its sizes change, by the rate of impacts or by a run of the mill
    Grind(Box<grind::Args>),
    /// Look at a run in a browser, also while it goes on
    View(view::Args),
    /// Draw frames of a run: pictures and animations
    Render(Box<render::Args>),
    /// Draw columns of the series of a run, or spectra of its collisions
    Plot(plot::Args),
    /// Tell a run on one page: parameters, outcome, energy, curves, pictures
    Report(report::Args),
    /// Measure a state of a run: stress, fabric, coordination, distribution of forces, force chains
    Analyse(analyse::Args),
    /// Write the frames of a run in a format of other programs: VTKHDF, H5MD, LAMMPS dump, CSV, extended XYZ
    Convert(convert::Args),
    /// List the examples, or write one to start from
    New {
        /// Name of the example
        name: Option<String>,
        /// Where to write it (default: NAME.toml here)
        #[arg(long, short)]
        output: Option<PathBuf>,
    },
    /// Measure speed on standard set-ups
    Bench(bench::Args),
    /// Run published experiments and closed forms, and tell how closely they are met
    Verify(verify::Args),
    /// Print the JSON schema of scene files
    Schema {
        /// Print the reference page in Markdown instead
        #[arg(long)]
        markdown: bool,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// What a command can fail with: one clear message.
pub(crate) type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Run(args) => run::main(args),
        Command::Sweep(args) => sweep::main(&args),
        Command::Check(args) => check::main(args).map(|()| ExitCode::SUCCESS),
        Command::Contact(args) => contact::main(&args).map(|()| ExitCode::SUCCESS),
        Command::Grind(args) => grind::main(&args).map(|()| ExitCode::SUCCESS),
        Command::View(args) => view::main(&args).map(|()| ExitCode::SUCCESS),
        Command::Render(args) => render::main(&args).map(|()| ExitCode::SUCCESS),
        Command::Plot(args) => plot::main(&args).map(|()| ExitCode::SUCCESS),
        Command::Report(args) => report::main(&args).map(|()| ExitCode::SUCCESS),
        Command::Analyse(args) => analyse::main(&args).map(|()| ExitCode::SUCCESS),
        Command::Convert(args) => convert::main(&args).map(|()| ExitCode::SUCCESS),
        Command::New { name, output } => examples::main(name, output).map(|()| ExitCode::SUCCESS),
        Command::Bench(args) => bench::main(args).map(|()| ExitCode::SUCCESS),
        Command::Verify(args) => verify::main(&args),
        Command::Schema { markdown } => print_schema(markdown),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "esker", &mut script);
            out::result(&script).map(|()| ExitCode::SUCCESS).map_err(Failure::from)
        }
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            let text = error.to_string();
            // Scene errors bring their own head.
            if text.starts_with("error: ") {
                out::tell!("{text}");
            } else {
                out::tell!("error: {text}");
            }
            ExitCode::FAILURE
        }
    }
}

fn print_schema(markdown: bool) -> Result<ExitCode, Failure> {
    let text = if markdown {
        esker_io::scene::schema::markdown()
    } else {
        serde_json::to_string_pretty(&esker_io::scene::schema::json_schema())?
    };
    out::result((text + "\n").as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Sets the number of worker threads for the whole process and returns it.
pub(crate) fn use_threads(threads: Option<usize>) -> Result<usize, Failure> {
    let n = match threads {
        Some(0) => return Err("`--threads 0` makes no sense; give 1 or more".into()),
        Some(n) => n,
        None => std::thread::available_parallelism().map_or(1, |n| n.get()),
    };
    rayon::ThreadPoolBuilder::new().num_threads(n).build_global()?;
    Ok(n)
}
