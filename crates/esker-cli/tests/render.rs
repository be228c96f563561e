//! `esker render` on a real run: it writes what it says, and says what is wrong.

use crate::common;

use common::*;
use std::fs;
use std::path::{Path, PathBuf};

/// A small hopper that has been run; its folder.
fn hopper(folder: &Path) -> PathBuf {
    let run = folder.join("hopper");
    let mut arguments = small_hopper();
    arguments.extend(["--quiet".to_string(), "--out".to_string(), run.display().to_string()]);
    run_well(&arguments);
    run
}

/// Width, height and pixels of a picture.
fn decode(path: &Path) -> (u32, u32, Vec<u8>) {
    let file = std::io::BufReader::new(fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    pixels.truncate(info.buffer_size());
    (info.width, info.height, pixels)
}

#[track_caller]
fn fails(arguments: &[&str], code: i32, parts: &[&str]) {
    let said = run(arguments);
    assert_eq!(said.code, Some(code), "{arguments:?}\n{}{}", said.out, said.err);
    assert_eq!(said.err.matches("error: ").count(), 1, "one message:\n{}", said.err);
    for part in parts {
        assert!(said.err.contains(part), "`{part}` is missing in\n{}", said.err);
    }
}

#[test]
fn a_run_becomes_pictures_and_animations() {
    let folder = tempfile::tempdir().unwrap();
    let run = hopper(folder.path());
    let run = run.to_str().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let small = ["--size", "320x240"];

    let picture = file("one.png");
    let said = run_well([&["render", run, "--time", "0.05", "-o", &picture][..], &small].concat());
    assert!(said.out.starts_with(&format!("wrote {picture} (frame 5, t = 0.0")), "{}", said.out);
    let (width, height, pixels) = decode(picture.as_ref());
    assert_eq!((width, height), (320, 240));
    let coloured = pixels.chunks(3).filter(|p| p.iter().max().unwrap() - p.iter().min().unwrap() > 40).count();
    assert!(coloured > 2000, "grains are seen: {coloured} pixels");

    // The same bytes again, whatever the number of threads, over the old picture.
    let first = fs::read(&picture).unwrap();
    run_well([&["render", run, "--time", "0.05", "-o", &picture, "--threads", "1"][..], &small].concat());
    assert!(first == fs::read(&picture).unwrap());

    // Contacts, and every other way to say what is wanted.
    let options =
        ["--contacts", "--colour", "velocity.y", "--map", "coolwarm", "--clip", "x:0", "--title", "--view", "iso"];
    let other = file("other.png");
    run_well([&["render", run, "--frame", "-1", "-o", &other][..], &options, &small].concat());
    assert!(decode(other.as_ref()).2 != pixels);

    let pictures = file("pictures/");
    run_well([&["render", run, "--every", "10", "-o", &pictures][..], &small].concat());
    let count = fs::read_dir(&pictures).unwrap().count();
    assert!((2..=4).contains(&count), "{count}");
    let film = file("film.gif");
    let said = run_well([&["render", run, "--every", "5", "-o", &film][..], &small].concat());
    assert!(said.out.contains("film.gif"), "{}", said.out);
    assert!(fs::read(&film).unwrap().starts_with(b"GIF89a"));
}

#[test]
fn what_cannot_be_drawn_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = hopper(folder.path());
    let run = path.to_str().unwrap();
    fails(
        &["render", run, "--colour", "velocty"],
        1,
        &["--colour velocty", "contact force", "did you mean `velocity`?"],
    );
    fails(&["render", run, "--colour", "velocity.w"], 1, &["velocity.w", "components x, y, z"]);
    fails(&["render", run, "--contacts", "weight"], 1, &["--contacts weight", "normal force"]);
    fails(&["render", run, "--frame", "9999"], 1, &["--frame 9999", "frames"]);
    fails(&["render", run, "--time", "99"], 1, &["--time 99", "frames go from 0 s"]);
    fails(&["render", run, "-o", "a.bmp"], 1, &["a.bmp", ".png, .gif, .mp4"]);
    fails(&["render", run, "--all", "-o", "a.png"], 1, &["a.png", "--all", "folder"]);
    fails(&["render", run, "--frame", "1", "-o", "a.gif"], 1, &["a.gif", "animation"]);
    fails(&["render", run, "--background", "transparent", "-o", "a.gif"], 1, &["transparent", "PNG"]);
    for (option, value, told) in [
        ("--size", "12", "1280x720"),
        ("--map", "jet", "viridis, cividis"),
        ("--range", "2:1", "the lower first"),
        ("--clip", "w:1", "y:0.1:flip"),
        ("--view", "below", "front, back, side"),
        ("--background", "red", "white, black, transparent"),
        ("--zoom", "0", "a factor"),
        ("--eye", "1,2", "three numbers"),
        ("--fps", "0", "from 0.1 to 100"),
    ] {
        fails(&["render", run, option, value], 2, &[option, value, told]);
    }
    // Folders that are no runs, or have no frames.
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    fails(&["render", empty.to_str().unwrap()], 1, &["holds no run"]);
    fails(&["render", "no-such-run"], 1, &["`no-such-run` is not a folder"]);
    fs::write(empty.join("frames.esk"), "something else, and long enough to be read").unwrap();
    fails(&["render", empty.to_str().unwrap()], 1, &["holds no frames of Esker"]);
    fs::remove_file(path.join("frames.esk")).unwrap();
    fails(&["render", run], 1, &["has no frames (`frames.esk` is missing)", "frames = "]);
}
