//! `esker bench`: speed on standard set-ups or on a scene of one's own, in particle-steps per second.

mod gas;
mod machine;
mod statics;

use crate::instructions::Instructions;
use crate::out::say;
use crate::progress::PhaseTimer;
use crate::{Failure, tables};
use esker::lanes::Width;
use esker::simulation::{Simulation, Stage};
use esker::solver::StepError;
use esker::state::State;
use esker_io::build::{self, Scene};
use esker_io::scene;
use machine::{Given, Machine};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Steps of a round where nothing is said.
const STEPS: u64 = 500;

/// Arguments of `esker bench`.
#[derive(clap::Args)]
pub struct Args {
    /// Set-ups (chute, bed, drum, wide, cloud), gas (hard spheres), statics (quasistatic) or scene files; all set-ups if none is given
    which: Vec<String>,
    /// Worker threads; a list as 1,2,4 measures with each
    #[arg(long, default_value = "1", value_delimiter = ',')]
    threads: Vec<usize>,
    /// Number of grains; a list as 1000,100000 measures with each (default: that of the set-up)
    #[arg(long, value_delimiter = ',')]
    n: Vec<u64>,
    /// Steps measured in each of the rounds; of gas, collisions (default: a million)
    #[arg(long, default_value_t = STEPS)]
    steps: u64,
    /// Rounds; best and median are told
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Steps before the measurement begins (default: what the set-up needs; none for a scene file)
    #[arg(long)]
    warm_up: Option<u64>,
    /// Contacts evaluated at once by the fast loop: 1 (any processor), 4 (AVX2), 8 (AVX-512) (default: as many as this
    /// processor can)
    #[arg(long)]
    width: Option<usize>,
    /// Keep no account of what contacts lose, as programs do that have none
    #[arg(long)]
    without_losses: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Args {
    /// The numbers of grains asked for, or the usual ones.
    fn n_or<'a>(&'a self, usual: &'a [u64]) -> &'a [u64] {
        if self.n.is_empty() { usual } else { &self.n }
    }
}

/// A standard set-up.
struct SetUp {
    name: &'static str,
    about: &'static str,
    text: &'static str,
    /// Files that the scene names.
    files: &'static [(&'static str, &'static [u8])],
    warm_up: u64,
}

const SET_UPS: [SetUp; 5] = [
    SetUp {
        name: "chute",
        about: "grains flowing over a bumpy base at 26°, Hooke with history",
        text: include_str!("../benches/chute.toml"),
        files: &[],
        warm_up: 3100,
    },
    SetUp {
        name: "bed",
        about: "spheres at rest in a box, Hertz–Mindlin with history",
        text: include_str!("../benches/bed.toml"),
        files: &[],
        warm_up: 3000,
    },
    SetUp {
        name: "drum",
        about: "spheres in a turning drum of triangles, Hertz–Mindlin with history",
        text: include_str!("../benches/drum.toml"),
        files: &[("drum.stl", include_bytes!("../benches/drum.stl"))],
        warm_up: 6500,
    },
    SetUp {
        name: "wide",
        about: "spheres at rest in a box, radii from 1 to 10 mm, Hertz–Mindlin with history",
        text: include_str!("../benches/wide.toml"),
        files: &[],
        warm_up: 2500,
    },
    SetUp {
        name: "cloud",
        about: "spheres flying about at a solid fraction of 2 %",
        text: include_str!("../benches/cloud.toml"),
        files: &[],
        warm_up: 1000,
    },
];

/// Steps of the warm-up that each measurement makes for itself: the first ones make the lists, and the memory they need.
const LISTS: u64 = 20;

/// What is to be measured.
enum Subject {
    SetUp(&'static SetUp),
    File(PathBuf),
}

impl Subject {
    /// The one of a name, if it can be measured with so many grains, as far as asked for.
    fn parse(name: &str, n: &[u64]) -> Result<Self, Failure> {
        if let Some(set_up) = SET_UPS.iter().find(|s| s.name == name) {
            return Ok(Self::SetUp(set_up));
        }
        if Path::new(name).extension().is_some_and(|e| e == "toml") {
            if !n.is_empty() {
                return Err(format!("`--n` goes with a set-up; `{name}` says itself how many grains it has").into());
            }
            // A mistake of reading is told before others have been measured.
            build::read(Path::new(name), &[])?;
            return Ok(Self::File(name.into()));
        }
        let hint = esker::expression::closest(name, SET_UPS.iter().map(|s| s.name));
        let hint = hint.map(|n| format!(" (did you mean `{n}`?)")).unwrap_or_default();
        let known: Vec<&str> = SET_UPS.iter().map(|s| s.name).chain(["gas", "statics"]).collect();
        Err(format!("`{name}` is no known set-up{hint}; known: {}, or a scene file NAME.toml", known.join(", ")).into())
    }

    fn name(&self) -> String {
        match self {
            Self::SetUp(set_up) => set_up.name.into(),
            Self::File(path) => path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        }
    }

    fn about(&self) -> String {
        match self {
            Self::SetUp(set_up) => set_up.about.into(),
            Self::File(path) => path.display().to_string(),
        }
    }

    fn warm_up(&self) -> u64 {
        match self {
            Self::SetUp(set_up) => set_up.warm_up,
            Self::File(_) => 0,
        }
    }

    /// The scene; a set-up with `n` grains if that is given.
    fn build(&self, n: Option<u64>) -> Result<Scene, Failure> {
        match self {
            Self::SetUp(set_up) => {
                let overrides: Vec<String> = n.map(|n| format!("let.n={n}")).into_iter().collect();
                let raw = scene::read(set_up.text, set_up.name, &overrides)?;
                // A scene finds its files in a folder.
                let folder = std::env::temp_dir().join(format!("esker-bench-{}", std::process::id()));
                if !set_up.files.is_empty() {
                    std::fs::create_dir_all(&folder)?;
                }
                for (name, bytes) in set_up.files {
                    std::fs::write(folder.join(name), bytes)?;
                }
                let scene = build::build(&raw, &folder);
                if !set_up.files.is_empty() {
                    std::fs::remove_dir_all(&folder)?;
                }
                Ok(scene?)
            }
            Self::File(path) => Ok(build::load(path, &[])?.1),
        }
    }
}

/// Measures.
pub fn main(args: Args) -> Result<(), Failure> {
    if args.threads.contains(&0) {
        return Err("`--threads 0` makes no sense; give 1 or more".into());
    }
    if args.steps == 0 || args.rounds == 0 {
        return Err("nothing to measure: `--steps` and `--rounds` must be 1 or more".into());
    }
    let apart = match args.which.as_slice() {
        [name] if name == "gas" => Some(gas::measure(&args)?),
        [name] if name == "statics" => Some(statics::measure(&args)?),
        _ => None,
    };
    if let Some(results) = apart {
        if args.json {
            crate::out::result((serde_json::to_string_pretty(&results)? + "\n").as_bytes())?;
        }
        return Ok(());
    }
    let subjects = if args.which.is_empty() {
        SET_UPS.iter().map(Subject::SetUp).collect()
    } else {
        args.which.iter().map(|name| Subject::parse(name, &args.n)).collect::<Result<Vec<_>, _>>()?
    };
    let mut results = Vec::new();
    for subject in &subjects {
        let mut trials = trials_of(subject, &args)?;
        // In turn, since machines are not equally fast all the time.
        for _ in 0..args.rounds {
            for trial in &mut trials {
                trial.round(args.steps)?;
            }
        }
        let first = (trials.len() > 1).then(|| (trials[0].what(), trials[0].rounds.clone()));
        for trial in trials {
            results.push(trial.tell(subject, &args, first.as_ref()));
        }
    }
    if args.json {
        crate::out::result((serde_json::to_string_pretty(&results)? + "\n").as_bytes())?;
    }
    Ok(())
}

/// One for each number of grains and threads.
fn trials_of(subject: &Subject, args: &Args) -> Result<Vec<Trial>, Failure> {
    let sizes = if args.n.is_empty() { vec![None] } else { args.n.iter().copied().map(Some).collect() };
    let most = *args.threads.iter().max().expect("the list is never empty");
    let mut trials = Vec::new();
    for n in sizes {
        // The state does not depend on the number of threads: all of them run it in, once. What a pool runs must be able to
        // move between threads; a boxed error is not.
        let begin = pool(most)?.install(|| run_in(subject, n, most, args).map_err(|e| e.to_string()))?;
        for &threads in &args.threads {
            trials.push(Trial::prepare(subject, &begin, threads, args)?);
        }
    }
    Ok(trials)
}

fn pool(threads: usize) -> Result<rayon::ThreadPool, Failure> {
    Ok(rayon::ThreadPoolBuilder::new().num_threads(threads).build()?)
}

/// The state in which the measurement begins, and the stages of the scene.
struct Begin {
    stages: Vec<Stage>,
    state: State,
    width: Width,
}

impl Begin {
    fn simulation(&self, threads: usize, args: &Args) -> Simulation {
        let simulation = Simulation::new(self.stages.clone(), self.state.clone(), threads).width(self.width);
        if args.without_losses { simulation.without_losses() } else { simulation }
    }
}

/// The width of so many contacts at once.
fn width(contacts: Option<usize>) -> Result<Width, Failure> {
    let Some(contacts) = contacts else { return Ok(Width::best()) };
    let all = Width::all();
    let known = all.iter().map(|width| width.contacts().to_string()).collect::<Vec<_>>().join(", ");
    let found = all.into_iter().find(|width| width.contacts() == contacts);
    found.ok_or_else(|| format!("`--width {contacts}` is none this processor has; it has {known}").into())
}

fn warm_up(subject: &Subject, args: &Args) -> u64 {
    args.warm_up.unwrap_or(subject.warm_up())
}

/// Builds a scene and lets it run in.
fn run_in(subject: &Subject, n: Option<u64>, threads: usize, args: &Args) -> Result<Begin, Failure> {
    let Scene { stages, state, .. } = subject.build(n)?;
    let mut begin = Begin { stages, state, width: width(args.width)? };
    let mut simulation = begin.simulation(threads, args);
    advance(&mut simulation, warm_up(subject, args).saturating_sub(LISTS))?;
    simulation.complete();
    begin.state = simulation.state;
    Ok(begin)
}

/// A simulation that goes on from there with so many threads, and what is measured of it.
struct Trial {
    threads: usize,
    width: Width,
    pool: rayon::ThreadPool,
    /// Measured too where numbers of threads are compared.
    machine: Option<Machine>,
    simulation: Simulation,
    timer: Arc<PhaseTimer>,
    instructions: Instructions,
    /// Instructions of all rounds, if somebody counts.
    executed: Option<u64>,
    /// Rebuilds before the first round.
    rebuilds: u64,
    rounds: Rounds,
    seconds: f64,
}

/// What each round found, in turn with the rounds of other trials.
#[derive(Clone, Default)]
struct Rounds {
    /// Particle-steps per second.
    speeds: Vec<f64>,
    /// What the machine gave just before it; empty where numbers of threads are not compared.
    given: Vec<Given>,
}

impl Rounds {
    /// How many times as much as in the rounds of another trial, by the medians: particle-steps and, if known, what the machine
    /// gave.
    fn times(&self, other: &Rounds) -> (f64, Option<Given>) {
        let speeds = self.speeds.iter().zip(&other.speeds).map(|(here, there)| here / there);
        let given: Vec<Given> = self.given.iter().zip(&other.given).map(|(here, there)| here.times(there)).collect();
        (median(speeds.collect()), Given::median(&given))
    }
}

impl Trial {
    /// Makes the lists, and the memory they need.
    fn prepare(subject: &Subject, begin: &Begin, threads: usize, args: &Args) -> Result<Self, Failure> {
        let instructions = Instructions::count();
        let pool = pool(threads)?;
        let mut simulation = begin.simulation(threads, args);
        pool.install(|| {
            advance(&mut simulation, warm_up(subject, args).min(LISTS)).map_err(|e| e.to_string())?;
            simulation.prepare().map_err(|e| e.to_string())
        })?;
        let timer = PhaseTimer::listen(&mut simulation);
        let rebuilds = simulation.rebuilds();
        let (width, executed, rounds) = (begin.width, Some(0), Rounds::default());
        let compared = args.threads.len() > 1;
        let machine = compared.then(|| Machine::new(&pool, width, simulation.memory()));
        Ok(Self {
            threads,
            width,
            pool,
            machine,
            simulation,
            timer,
            instructions,
            executed,
            rebuilds,
            rounds,
            seconds: 0.0,
        })
    }

    /// One round.
    fn round(&mut self, steps: u64) -> Result<(), Failure> {
        let Self { pool, simulation, .. } = self;
        // First, since threads that have slept while those of another trial were at work are slow for a while.
        self.rounds.given.extend(self.machine.as_ref().map(|machine| machine.gives(pool)));
        let before = self.instructions.so_far();
        let start = Instant::now();
        pool.install(|| advance(simulation, steps).map_err(|e| e.to_string()))?;
        let seconds = start.elapsed().as_secs_f64();
        self.timer.pause();
        let executed = self.instructions.so_far().zip(before).map(|(after, before)| after - before);
        self.executed = self.executed.zip(executed).map(|(all, more)| all + more);
        self.rounds.speeds.push(self.simulation.state.particles.owned() as f64 * steps as f64 / seconds);
        self.seconds += seconds;
        Ok(())
    }

    /// Grains and threads.
    fn what(&self) -> String {
        format!("{} grains, {} thread(s)", self.simulation.state.particles.owned(), self.threads)
    }

    /// Prints what was found, or makes JSON of it. `first` is what the first of several trials had, and what its rounds
    /// found.
    fn tell(mut self, subject: &Subject, args: &Args, first: Option<&(String, Rounds)>) -> serde_json::Value {
        let (threads, grains) = (self.threads, self.simulation.state.particles.owned());
        let particle_steps = grains as f64 * args.steps as f64 * args.rounds as f64;
        let instructions = self.executed.map(|executed| executed as f64 / particle_steps);
        let rebuilds = self.simulation.rebuilds().saturating_sub(self.rebuilds);
        let memory = self.simulation.memory() as f64 / grains.max(1) as f64;
        let times = first.map(|(what, rounds)| (what, self.rounds.times(rounds)));
        let (given, times_given) = (Given::median(&self.rounds.given), times.and_then(|(_, (_, given))| given));
        let best = self.rounds.speeds.iter().copied().fold(0.0, f64::max);
        let median = median(std::mem::take(&mut self.rounds.speeds));
        self.simulation.complete();
        let (contacts, coordination) =
            esker::measure::probe::coordination(self.simulation.model(), &self.simulation.state);
        let per_grain = contacts / grains.max(1) as f64;
        let phases = self.timer.seconds();
        if !args.json {
            say!("{}: {} ({})", subject.name(), subject.about(), self.what());
            say!(
                "  {:.2} / {:.2} M particle-steps/s (best / median of {} rounds of {} steps)",
                best * 1e-6,
                median * 1e-6,
                args.rounds,
                args.steps
            );
            if let Some((what, (faster, _))) = times {
                say!("  {faster:.2} times the speed of {what}, round by round");
                if let (Some(times), Some(given)) = (times_given, given) {
                    let (arithmetic, traffic, rate) = (times.arithmetic, times.traffic, given.traffic * 1e-9);
                    let both = format!("{arithmetic:.2} times its arithmetic, {traffic:.2} times its memory traffic");
                    say!("  what the machine has to give: {both} ({rate:.0} GB/s)");
                }
            }
            say!("  {per_grain:.3} contacts per grain, coordination {coordination:.3}");
            say!("  {memory:.0} bytes per grain, {rebuilds} rebuilds of the neighbour list");
            if let Some(instructions) = instructions {
                say!("  {instructions:.0} instructions per particle-step");
            }
            tables::phases(&phases, self.seconds);
        }
        let phases: serde_json::Map<_, _> = phases.into_iter().map(|(name, seconds)| (name, seconds.into())).collect();
        serde_json::json!({
            "name": subject.name(),
            "n": grains,
            "threads": threads,
            "width": self.width.contacts(),
            "losses": !args.without_losses,
            "steps": args.steps,
            "rounds": args.rounds,
            "particle_steps_per_second": median,
            "best": best,
            "times_the_first": times.map_or(1.0, |(_, (faster, _))| faster),
            "arithmetic_times_the_first": times_given.map(|times| times.arithmetic),
            "traffic_times_the_first": times_given.map(|times| times.traffic),
            "traffic_bytes_per_second": given.map(|given| given.traffic),
            "contacts_per_grain": per_grain,
            "coordination": coordination,
            "bytes_per_grain": memory,
            "rebuilds": rebuilds,
            "instructions_per_particle_step": instructions,
            "phases": phases,
        })
    }
}

/// Of an odd number the one in the middle, else the next larger one.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// Makes so many steps, or says that the stages are too short for them.
fn advance(simulation: &mut Simulation, steps: u64) -> Result<(), Failure> {
    let mut left = steps;
    while left > 0 {
        if simulation.is_finished() {
            return Err(format!("the stages of the scene end {left} steps too early; lengthen the last one").into());
        }
        let made: Result<u64, StepError> = simulation.go_on(left);
        left -= made?.min(left);
    }
    Ok(())
}
