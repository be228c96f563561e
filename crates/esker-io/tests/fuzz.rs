//! Spoils good inputs at random for a while and feeds them to everything that reads. No special compiler is needed; with
//! one, `fuzz/` lets libFuzzer do the same, guided by coverage.
//!
//! `ESKER_FUZZ_SECONDS=60 cargo test -p esker-io --test fuzz -- --nocapture` (default: 2 s for each target). Every input
//! is kept in a file while it is tried, so that even an input that kills the process is found. One that takes longer than
//! [`PATIENCE`] is a finding too. `ESKER_FUZZ_SEED` tries the inputs of an earlier time again, as far as the seconds reach.

#[path = "../../../fuzz/src/lib.rs"]
mod targets;

use esker_io::checkpoint::{self, Meta};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime};

/// Longest time an input may take: usual ones take a millisecond.
const PATIENCE: Duration = Duration::from_secs(60);

/// xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { ((self.next() >> 32) as usize) % n }
    }
}

/// Values on which readers stumble.
const NUMBERS: [&str; 24] = [
    "0",
    "-0.0",
    "1",
    "-1",
    "2",
    "1e308",
    "-1e308",
    "1e-320",
    "1e16",
    "nan",
    "inf",
    "-inf",
    "4294967296",
    "9223372036854775807",
    "18446744073709551616",
    "0.5",
    "1e-9",
    "\"1 m\"",
    "\"5 %\"",
    "\"3 kg\"",
    "\"1/0\"",
    "true",
    "[]",
    "{}",
];

/// Every key and choice of the format, and its examples: the dictionary of scenes.
fn words() -> Vec<Vec<u8>> {
    let mut words: Vec<String> = NUMBERS.map(String::from).to_vec();
    for (_, section) in esker_io::scene::tables::sections() {
        for key in section.keys {
            words.push(key.name.to_string());
            words.push(format!("{} = {}", key.name, key.example));
            words.push(format!("\n{} = {}\n", key.name, key.example));
            if let esker_io::scene::keys::Kind::Choice(choices) = key.kind {
                words.extend(choices.iter().map(|(word, _)| format!("\"{word}\"")));
            }
        }
    }
    words.extend(
        ["facet normal ", "outer loop", "vertex ", "endloop", "endfacet", "endsolid", ",", ";", "\t", "\n", "#"]
            .map(String::from),
    );
    words.into_iter().map(String::into_bytes).collect()
}

/// Changes an input a little, in one of several ways.
fn spoil(input: &mut Vec<u8>, corpus: &[Vec<u8>], words: &[Vec<u8>], random: &mut Random) {
    let at = random.below(input.len() + 1);
    match random.below(9) {
        0 if !input.is_empty() => {
            let i = at.min(input.len() - 1);
            input[i] ^= 1 << random.below(8);
        }
        1 if !input.is_empty() => {
            let i = at.min(input.len() - 1);
            input[i] = random.next() as u8;
        }
        2 => {
            let end = (at + 1 + random.below(40)).min(input.len());
            input.drain(at..end);
        }
        3 => {
            let end = (at + 1 + random.below(60)).min(input.len());
            let piece = input[at..end].to_vec();
            let to = random.below(input.len() + 1);
            input.splice(to..to, piece);
        }
        4 => {
            let word = &words[random.below(words.len())];
            input.splice(at..at, word.iter().copied());
        }
        // A word or number in place of another.
        5 | 6 => {
            let part = |b: u8| b.is_ascii_alphanumeric() || b"._-+".contains(&b);
            let start = (0..at).rev().find(|&i| !part(input[i])).map_or(0, |i| i + 1);
            let end = (at..input.len()).find(|&i| !part(input[i])).unwrap_or(input.len());
            let word = if random.below(2) == 0 {
                NUMBERS[random.below(NUMBERS.len())].as_bytes().to_vec()
            } else {
                words[random.below(words.len())].clone()
            };
            input.splice(start..end.max(start), word);
        }
        // A line of another input.
        7 => {
            let other = &corpus[random.below(corpus.len())];
            let lines: Vec<&[u8]> = other.split_inclusive(|&b| b == b'\n').collect();
            let line = lines[random.below(lines.len())].to_vec();
            let start = input[..at].iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
            input.splice(start..start, line);
        }
        // The rest of another input.
        _ => {
            let other = &corpus[random.below(corpus.len())];
            let from = random.below(other.len() + 1);
            input.truncate(at);
            input.extend_from_slice(&other[from..]);
        }
    }
    input.truncate(1 << 16);
}

/// Feeds spoilt inputs to a target until the time is up.
fn fuzz(name: &str, corpus: &[Vec<u8>], target: fn(&[u8])) {
    let seconds = std::env::var("ESKER_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(2.0);
    let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(1, |d| d.as_nanos() as u64) | 1;
    let given = std::env::var("ESKER_FUZZ_SEED").ok();
    let seed = given.map_or_else(now, |seed| seed.parse::<u64>().expect("ESKER_FUZZ_SEED is a number") | 1);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz");
    std::fs::create_dir_all(&folder).unwrap();
    // In memory where there is such a disk: it is written thousands of times.
    let memory = Some(PathBuf::from("/dev/shm")).filter(|path| path.is_dir());
    let current = memory.unwrap_or(folder.clone()).join(format!("esker-fuzz-{name}-{}", std::process::id()));
    println!("{name}: seed {seed}, {seconds} s; the present input is in {}", current.display());

    let words = words();
    let mut random = Random(seed);
    let (mut runs, start) = (0u64, Instant::now());
    let (alive, watched) = mpsc::channel();
    let endless = folder.join(format!("{name}-finding-{seed}-endless"));
    let input = current.clone();
    std::thread::spawn(move || watch(&watched, &input, &endless));
    let keep = |input: &[u8]| {
        std::fs::write(&current, input).unwrap();
        alive.send(()).unwrap();
    };
    for input in corpus {
        keep(input);
        target(input);
    }
    while start.elapsed() < Duration::from_secs_f64(seconds) {
        let mut input = corpus[random.below(corpus.len())].clone();
        for _ in 0..1 + random.below(4) {
            spoil(&mut input, corpus, &words, &mut random);
        }
        keep(&input);
        let outcome = std::panic::catch_unwind(|| target(&input));
        if let Err(panic) = outcome {
            let found = folder.join(format!("{name}-finding-{seed}-{runs}"));
            std::fs::write(&found, &input).unwrap();
            println!("{name}: found {}", found.display());
            std::panic::resume_unwind(panic);
        }
        runs += 1;
    }
    if current.exists() {
        std::fs::remove_file(&current).unwrap();
    }
    println!("{name}: {runs} inputs in {:.1} s, nothing found", start.elapsed().as_secs_f64());
}

/// Ends the program, with the input kept, when nothing was heard for too long.
fn watch(alive: &mpsc::Receiver<()>, input: &Path, endless: &Path) {
    loop {
        match alive.recv_timeout(PATIENCE) {
            Ok(()) => {}
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                let kept = std::fs::copy(input, endless);
                // Past what tests print, which is lost with the program.
                let told = format!("no end after {} s: {} (copied: {kept:?})\n", PATIENCE.as_secs(), endless.display());
                let _ = std::io::stderr().write_all(told.as_bytes());
                std::process::exit(1);
            }
        }
    }
}

/// Examples of the repository with an extension.
fn examples(extension: &str) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")];
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(std::fs::read(path).unwrap());
            }
        }
    }
    found
}

#[test]
fn no_scene_panics() {
    let mut corpus = examples("toml");
    corpus.push(targets::SMALL.as_bytes().to_vec());
    let random = r#"{ method = "random", tries = 20, count = 8, region = { box = { min = [0, 0, 0], max = [0.1, 0.1, 0.1] } } }"#;
    let fill = targets::SMALL.find("{ method").expect("a fill")..targets::SMALL.find(" }]\nfeed").expect("a feed");
    let mut other = targets::SMALL.to_string();
    other.replace_range(fill, random);
    corpus.push(other.into_bytes());
    fuzz("scene", &corpus, targets::scene);
}

#[test]
fn no_surface_panics() {
    let text = b"solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1e-3 0 0\nvertex 0 1e-3 0\nendloop\nendfacet\nendsolid a\n";
    let mut binary = vec![0u8; 80];
    binary.extend(2u32.to_le_bytes());
    for k in 0..2 {
        for x in [0.0f32, 0.0, 1.0, 0.0, 0.0, 0.0, 1e-3, 0.0, k as f32 * 1e-3, 0.0, 1e-3, 0.0] {
            binary.extend(x.to_le_bytes());
        }
        binary.extend([0, 0]);
    }
    let mut corpus = vec![text.to_vec(), binary];
    corpus.extend(examples("stl").into_iter().filter(|file| file.len() < 1 << 16));
    fuzz("stl", &corpus, targets::stl);
}

#[test]
fn no_table_panics() {
    let mut corpus = vec![
        b"x,y,z,radius\n0,0,0,0.01\n0.1,0,0,0.02\n".to_vec(),
        b"# a comment\nx [mm]; y [mm]; z [mm]; radius [mm]; vx; vy; vz; material\n1; 2; 3; 4; 5; 6; 7; \"glass\"\n"
            .to_vec(),
    ];
    corpus.extend(examples("csv"));
    fuzz("table", &corpus, targets::table);
}

#[test]
fn no_checkpoint_panics() {
    let meta = Meta { engine: "esker 0.1.0".into(), scene: "small".into(), step: 3, time: 0.5 };
    let mut scene = targets::small_scene();
    let fresh = checkpoint::encode(&scene.state, &meta).unwrap();
    let state = std::mem::take(&mut scene.state);
    let mut simulation = esker::simulation::Simulation::new(scene.stages, state, 1);
    simulation.advance(2000).unwrap();
    assert!(simulation.state.check(simulation.stages()).is_ok());
    assert!(!simulation.state.contacts.walls.is_empty() && simulation.state.particles.owned() > 4);
    let used = checkpoint::encode(&simulation.state, &meta).unwrap();
    fuzz("checkpoint", &[fresh, used], targets::checkpoint);
}
