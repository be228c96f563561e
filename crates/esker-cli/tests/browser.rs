//! The viewer in a real browser.
//!
//! Needs Chromium and a Python with Playwright: `ESKER_PYTHON=…/bin/python cargo test -p esker-cli --test browser`.
//! Without that variable the tests say that they were skipped; with it, anything that goes wrong is a failure.

use crate::common;

use common::{esker, run_well, small_hopper};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

/// Spheres that fall into a box.
const HEAP: &str = r#"
title = "Heap"
gravity = [0, 0, -9.81]
seed = 2
[material.glass]
density = 2500
youngs-modulus = 1e6
poisson-ratio = 0.25
friction = 0.4
restitution = 0.5
[[wall]]
name = "floor"
material = "glass"
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
[[wall]]
name = "pot"
material = "glass"
cylinder = { from = [0, 0, -0.01], to = [0, 0, 0.1], radius = 0.05 }
[[grains]]
name = "bed"
material = "glass"
radius = { uniform = ["3 mm", "5 mm"] }
fill = { method = "random", count = 300, region = { box = { min = [-0.03, -0.03, 0.01], max = [0.03, 0.03, 0.12] } } }
[[stage]]
name = "fall"
duration = "0.2 s"
[output]
frames = "20 ms"
series = "2 ms"
"#;

/// What the browser found in a case; `None` without a browser.
fn browse(case: &str, address: &str, arguments: &[&str]) -> Option<Value> {
    let Some(python) = std::env::var_os("ESKER_PYTHON") else {
        println!("skipped: ESKER_PYTHON is not set, so no browser was asked");
        return None;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser.py");
    let output =
        Command::new(python).arg(script).args([case, address]).args(arguments).output().expect("Python starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{case} at {address}:\n{errors}");
    let found = serde_json::from_slice(&output.stdout).expect("JSON from the script");
    println!("{case} at {address}: {found}");
    Some(found)
}

/// Folders of a planar and of a spatial run, made once.
fn runs() -> &'static [PathBuf; 2] {
    static RUNS: OnceLock<[PathBuf; 2]> = OnceLock::new();
    RUNS.get_or_init(|| {
        let base = Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser");
        let _ = std::fs::remove_dir_all(&base);
        std::fs::create_dir_all(&base).unwrap();
        let [hopper, heap] = ["hopper", "heap"].map(|name| base.join(name));
        let mut arguments = small_hopper();
        arguments.extend(["--quiet".into(), "--out".into(), hopper.display().to_string()]);
        run_well(arguments);
        let scene = base.join("heap.toml");
        std::fs::write(&scene, HEAP).unwrap();
        run_well(["run".as_ref(), scene.as_os_str(), "--quiet".as_ref(), "--out".as_ref(), heap.as_os_str()]);
        [hopper, heap]
    })
}

/// A process that ends with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server and where it listens.
struct Server {
    _process: Process,
    address: String,
}

impl Server {
    fn of(run: &Path) -> Self {
        let mut process = esker(["view".as_ref(), run.as_os_str(), "--no-open".as_ref()])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the viewer starts");
        let out = BufReader::new(process.stdout.take().expect("piped"));
        let line = out.lines().next().expect("it tells its address").unwrap();
        let address = line.split(" at ").nth(1).unwrap_or_else(|| panic!("{line}")).to_owned();
        Self { _process: Process(process), address }
    }
}

#[test]
fn the_page_works_from_a_file() {
    for run in runs() {
        let page = run.with_extension("html");
        run_well(["view".as_ref(), run.as_os_str(), "--html".as_ref(), page.as_os_str()]);
        let address = format!("file://{}", page.display());
        browse("works", &address, &[]);
        browse("narrow", &address, &[]);
    }
}

#[test]
fn the_page_works_from_the_server_and_asks_nobody_else() {
    for run in runs() {
        let server = Server::of(run);
        browse("works", &server.address, &[]);
    }
}

#[test]
fn frames_of_a_run_that_goes_on_appear() {
    let base = tempfile::tempdir().unwrap();
    let folder = base.path().join("run");
    let scene = base.path().join("heap.toml");
    std::fs::write(&scene, HEAP.replace("\"0.2 s\"", "\"1000 s\"")).unwrap();
    let run = esker(["run".as_ref(), scene.as_os_str(), "--quiet".as_ref(), "--threads".as_ref(), "1".as_ref()])
        .arg("--out")
        .arg(&folder)
        .spawn()
        .unwrap();
    let _run = Process(run);
    let begun = || esker_io::store::Reader::open(&folder.join("frames.esk")).is_ok();
    for _ in 0..500 {
        if begun() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(begun(), "the run does not begin");
    let server = Server::of(&folder);
    browse("live", &server.address, &[]);
}

#[test]
fn a_damaged_store_is_told_on_the_page() {
    let base = tempfile::tempdir().unwrap();
    for name in ["frames.esk", "series.csv", "run.json", ".esker.lock"] {
        std::fs::copy(runs()[1].join(name), base.path().join(name)).unwrap();
    }
    let store = base.path().join("frames.esk");
    let mut bytes = std::fs::read(&store).unwrap();
    bytes.extend_from_slice(b"something that is no block");
    std::fs::write(&store, &bytes).unwrap();
    let server = Server::of(base.path());
    browse("complains", &server.address, &["no block begins here"]);
    // The beginning of the body of the first frame, behind its prefix and its head: where the grains are.
    let at = esker_io::store::Reader::open(&runs()[1].join("frames.esk")).unwrap().frames()[0].at as usize;
    let head = u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()) as usize;
    bytes.truncate(bytes.len() - 26);
    let body = at + 20 + head;
    let whole = bytes.clone();
    bytes[body..body + 200].fill(0xff);
    std::fs::write(&store, &bytes).unwrap();
    let server = Server::of(base.path());
    browse("complains", &server.address, &["checksum"]);
    // A single bit, which no decompressor would notice.
    let mut bytes = whole;
    bytes[body + 500] ^= 1;
    std::fs::write(&store, &bytes).unwrap();
    let server = Server::of(base.path());
    browse("complains", &server.address, &["checksum"]);
}

/// What of a picture does not depend on its size: shape and filling of the box around all that is not background, and the mean
/// colour there.
#[derive(Debug)]
struct Look {
    aspect: f64,
    filled: f64,
    mean: [f64; 3],
}

fn look(picture: &Path) -> Look {
    let decoder = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(picture).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    let (width, samples) = (info.width as usize, info.color_type.samples());
    let pixel = |k: usize| -> [f64; 3] { [0, 1, 2].map(|c| f64::from(bytes[k * samples + c])) };
    let back = pixel(0);
    let (mut low, mut high) = ([usize::MAX; 2], [0; 2]);
    let (mut count, mut sum) = (0.0, [0.0; 3]);
    for k in 0..width * info.height as usize {
        let here = pixel(k);
        if here.iter().zip(back).map(|(a, b)| (a - b).abs()).sum::<f64>() > 60.0 {
            let place = [k % width, k / width];
            low = [0, 1].map(|c| low[c].min(place[c]));
            high = [0, 1].map(|c| high[c].max(place[c] + 1));
            count += 1.0;
            sum = [0, 1, 2].map(|c| sum[c] + here[c]);
        }
    }
    let size = [0, 1].map(|c| (high[c] - low[c]) as f64);
    Look { aspect: size[0] / size[1], filled: count / (size[0] * size[1]), mean: sum.map(|s| s / count) }
}

#[test]
fn the_page_and_the_renderer_draw_the_same() {
    for run in runs() {
        let page = run.with_extension("looks.html");
        run_well(["view".as_ref(), run.as_os_str(), "--html".as_ref(), page.as_os_str()]);
        let (seen, drawn) = (run.with_extension("seen.png"), run.with_extension("drawn.png"));
        let address = format!("file://{}", page.display());
        if browse("looks", &address, &["coordination", seen.to_str().unwrap()]).is_none() {
            return;
        }
        let options = "--view front --orthographic --colour coordination --no-walls --no-bar --no-time --size 1200x900";
        let mut command = esker(["render".as_ref(), run.as_os_str(), "-o".as_ref(), drawn.as_os_str()]);
        assert!(command.args(options.split(' ')).status().unwrap().success());
        let (a, b) = (look(&seen), look(&drawn));
        println!("{a:?}\n{b:?}");
        assert!((a.aspect / b.aspect - 1.0).abs() < 0.02, "aspect {} and {}", a.aspect, b.aspect);
        assert!((a.filled - b.filled).abs() < 0.03, "filled {} and {}", a.filled, b.filled);
        for c in 0..3 {
            assert!((a.mean[c] - b.mean[c]).abs() < 15.0, "colours {:?} and {:?}", a.mean, b.mean);
        }
    }
}
