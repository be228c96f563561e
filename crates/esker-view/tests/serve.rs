//! The server of the viewer as strangers would call it.

use esker::simulation::Simulation;
use esker_io::frame::Scene;
use esker_io::store::{RunHead, VERSION, Writer};
use esker_io::{build, scene};
use esker_view::page;
use esker_view::run::{Run, RunError};
use esker_view::serve::Viewer;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};

/// A falling grain above a floor.
const SCENE: &str = r#"
title = "a </script> <!-- script --><!--<script> & \"quoted\" title"
gravity = [0, 0, -9.81]
[material.glass]
density = 2500
youngs-modulus = "10 MPa"
poisson-ratio = 0.25
[[wall]]
name = "floor"
material = "glass"
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
[[grains]]
name = "one"
material = "glass"
radius = 0.01
fill = { method = "at", positions = [[0, 0, 0.05]] }
[[stage]]
name = "fall"
duration = 1
"#;

/// A run folder with some frames.
fn folder(frames: usize) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("frames.esk");
    let raw = scene::read(SCENE, "scene.toml", &[]).unwrap();
    let scene = build::build(&raw, Path::new("")).unwrap();
    let head = RunHead { version: VERSION, title: scene.title.clone(), ..Default::default() };
    let mut writer = Writer::create(&path, head).unwrap();
    let mut simulation = Simulation::new(scene.stages, scene.state, 1);
    simulation.prepare().unwrap();
    for _ in 0..frames {
        writer.frame(&Scene::of(&simulation)).unwrap();
        simulation.advance(10).unwrap();
    }
    std::fs::write(dir.path().join("series.csv"), "step,time [s]\n0,0.0\n").unwrap();
    (dir, path)
}

/// Sends lines to the server of a folder; returns status, head and body of the answer.
fn ask(viewer: &'static Viewer, lines: &str) -> (u16, String, Vec<u8>) {
    let address = viewer.address();
    let address = address.strip_prefix("http://").unwrap().trim_end_matches('/');
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "{lines}Connection: close\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(answer[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head, answer[end + 4..].to_vec())
}

fn viewer(folder: &Path) -> &'static Viewer {
    // It serves until the program ends.
    let viewer: &'static Viewer = Box::leak(Box::new(Viewer::open(folder, 0).unwrap()));
    std::thread::spawn(|| viewer.serve());
    viewer
}

#[test]
fn five_names_are_answered_and_nothing_else() {
    let (dir, path) = folder(3);
    std::fs::write(dir.path().join("secret.txt"), "secret").unwrap();
    let viewer = viewer(dir.path());
    let get = |name: &str| ask(viewer, &format!("GET {name} HTTP/1.1\r\nHost: localhost\r\n"));
    let (status, head, body) = get("/");
    assert_eq!(status, 200);
    assert!(head.contains("Content-Security-Policy: default-src 'none'"), "{head}");
    assert!(body == page::bare().into_bytes());
    let index: serde_json::Value = serde_json::from_slice(&get("/index.json").2).unwrap();
    assert_eq!(index["frames"].as_array().unwrap().len(), 3);
    assert_eq!((&index["problem"], &index["running"]), (&serde_json::Value::Null, &false.into()));
    assert_eq!(get("/series.csv").2, b"step,time [s]\n0,0.0\n");
    assert_eq!(get("/run.json").0, 404, "this run has none");
    assert!(get("/frames.esk").2 == std::fs::read(&path).unwrap());
    for name in [
        "/secret.txt",
        "/../secret.txt",
        "/..%2fsecret.txt",
        "/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/frames.esk/../secret.txt",
        "/scene.toml",
        "/checkpoint-000000000000.ckpt",
    ] {
        let (status, _, body) = get(name);
        assert_eq!(status, 404, "{name}");
        assert!(!String::from_utf8_lossy(&body).contains("secret"), "{name}");
    }
}

#[test]
fn pieces_of_the_frames_are_those_of_the_file() {
    let (dir, path) = folder(2);
    let bytes = std::fs::read(&path).unwrap();
    let viewer = viewer(dir.path());
    let piece =
        |range: &str| ask(viewer, &format!("GET /frames.esk HTTP/1.1\r\nHost: 127.0.0.1\r\nRange: {range}\r\n"));
    let (status, head, body) = piece("bytes=20-49");
    assert_eq!((status, body.as_slice()), (206, &bytes[20..50]));
    assert!(head.contains(&format!("Content-Range: bytes 20-49/{}", bytes.len())), "{head}");
    assert_eq!(piece(&format!("bytes={}-", bytes.len() - 7)).2, bytes[bytes.len() - 7..]);
    assert_eq!(piece(&format!("bytes={}-", bytes.len())).0, 416);
}

#[test]
fn strangers_are_refused() {
    let (dir, _) = folder(1);
    let viewer = viewer(dir.path());
    for host in ["Host: example.org\r\n", "Host: 127.0.0.1.example.org:80\r\n", ""] {
        assert_eq!(ask(viewer, &format!("GET /frames.esk HTTP/1.1\r\n{host}")).0, 403, "{host}");
    }
    for (site, status) in [("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)] {
        let lines = format!("GET / HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: {site}\r\n");
        assert_eq!(ask(viewer, &lines).0, status, "{site}");
    }
    assert_eq!(ask(viewer, "nonsense\r\n").0, 400);
    assert_eq!(ask(viewer, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n").0, 405);
}

#[test]
fn a_run_that_goes_on_is_seen_to_grow_and_one_that_is_damaged_says_so() {
    let (dir, path) = folder(4);
    let bytes = std::fs::read(&path).unwrap();
    let mut run = Run::open(dir.path()).unwrap();
    let last = run.store.frames()[3].at as usize;
    // As if the last frame were still being written.
    std::fs::write(&path, &bytes[..last + 30]).unwrap();
    std::fs::write(dir.path().join(".esker.lock"), format!("process {}\n", std::process::id())).unwrap();
    let index = run.index();
    assert_eq!((index["frames"].as_array().unwrap().len(), &index["running"]), (3, &true.into()));
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(run.index()["frames"].as_array().unwrap().len(), 4);
    std::fs::write(dir.path().join(".esker.lock"), "").unwrap();
    assert_eq!(run.index()["running"], false);
    let mut broken = bytes;
    broken.extend_from_slice(b"something that is no block at all");
    std::fs::write(&path, &broken).unwrap();
    let index = run.index();
    assert_eq!(index["frames"].as_array().unwrap().len(), 4);
    assert!(index["problem"].as_str().unwrap().contains("no block begins here"), "{}", index["problem"]);
}

#[test]
fn each_kind_of_folder_that_is_no_run_has_its_own_message() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(Run::open(&dir.path().join("nowhere")), Err(RunError::NoFolder { .. })));
    assert!(matches!(Run::open(dir.path()), Err(RunError::NoRun { .. })));
    std::fs::write(dir.path().join(".esker.lock"), "").unwrap();
    let text = Run::open(dir.path()).unwrap_err().to_string();
    assert!(text.contains("has no frames") && text.contains("frames = \"0.1 s\""), "{text}");
    std::fs::write(dir.path().join("frames.esk"), "PK\u{3}\u{4} a foreign file that is long enough").unwrap();
    assert!(Run::open(dir.path()).unwrap_err().to_string().contains("holds no frames of Esker"));
}

#[test]
fn a_page_that_holds_a_run_is_small_without_it_and_cannot_be_broken_by_its_texts() {
    let (dir, path) = folder(5);
    let mut run = Run::open(dir.path()).unwrap();
    let all = page::with_run(&mut run, 1).unwrap();
    let some = page::with_run(&mut run, 3).unwrap();
    assert!(page::bare().len() < 300_000, "{} bytes", page::bare().len());
    assert!(some.len() < all.len());
    let part = |page: &str, id: &str| {
        let rest = page.split_once(&format!("<script id=\"{id}\"")).unwrap().1;
        rest.split_once('>').unwrap().1.split_once("</script>").unwrap().0.to_owned()
    };
    let index: serde_json::Value = serde_json::from_str(&part(&some, "esker-index")).unwrap();
    assert_eq!(index["head"]["title"], "a </script> <!-- script --><!--<script> & \"quoted\" title");
    // One script of the page itself, and one each for index, series and store.
    assert_eq!((some.matches("<script").count(), some.matches("</script>").count()), (4, 4));
    assert_eq!(part(&some, "esker-series"), "\"step,time [s]\\n0,0.0\\n\"");
    let times: Vec<f64> = index["frames"].as_array().unwrap().iter().map(|f| f["time"].as_f64().unwrap()).collect();
    let expected: Vec<f64> = [0, 3, 4].iter().map(|&k| run.store.frames()[k].time).collect();
    assert_eq!(times, expected, "every third and the last");
    // The blocks are where the index says.
    use base64::Engine as _;
    let bytes = base64::engine::general_purpose::STANDARD.decode(part(&some, "esker-store")).unwrap();
    let file = std::fs::read(&path).unwrap();
    for (frame, k) in index["frames"].as_array().unwrap().iter().zip([0, 3, 4]) {
        let (at, length) = (frame["at"].as_u64().unwrap() as usize, frame["length"].as_u64().unwrap() as usize);
        let original = &run.store.frames()[k];
        assert_eq!(bytes[at..at + length], file[original.at as usize..][..length]);
        let grains = frame["grains"].as_u64().unwrap();
        let length = index["blocks"][grains.to_string()].as_u64().unwrap() as usize;
        assert_eq!(bytes[grains as usize..][..length], file[original.grains as usize..][..length]);
    }
}
