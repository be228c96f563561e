//! Killed at any moment, a run leaves whole files and goes on to the same end.
#![cfg(unix)]

use crate::common;

use common::*;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// What happened.
#[derive(Debug, Default)]
struct Counts {
    runs: usize,
    kills: usize,
    resumes: usize,
    before_the_scene: usize,
    before_a_checkpoint: usize,
}

fn start(out: &Path) -> Child {
    let mut arguments = small_hopper();
    arguments.extend(["--quiet", "--out", &out.display().to_string()].map(String::from));
    esker(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program can be started")
}

fn resume(out: &Path) -> Child {
    let arguments = ["run", &out.display().to_string(), "--quiet", "--resume"].map(String::from);
    esker(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program can be started")
}

/// Waits up to `patience`, then kills. True if the program had ended by itself.
fn end_or_kill(child: &mut Child, patience: Duration) -> bool {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "the program failed: {status}");
            return true;
        }
        if start.elapsed() >= patience {
            child.kill().unwrap();
            let status = child.wait().unwrap();
            return status.success(); // it may have ended between the two lines
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// Kills runs at random moments and resumes them until so many kills are done; every run must end like the unbroken one.
fn survive(kills: usize) -> Counts {
    let dir = tempfile::tempdir().unwrap();
    let whole = dir.path().join("whole");
    let clock = Instant::now();
    assert!(end_or_kill(&mut start(&whole), Duration::from_secs(600)));
    let length = clock.elapsed();
    assert_sound(&whole);

    let mut counts = Counts::default();
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut moment = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        length.mul_f64(0.6 * (random >> 11) as f64 / (1u64 << 53) as f64)
    };
    while counts.kills < kills {
        let out = dir.path().join(format!("run-{}", counts.runs));
        counts.runs += 1;
        let mut child = start(&out);
        while !end_or_kill(&mut child, if counts.kills < kills { moment() } else { Duration::from_secs(600) }) {
            counts.kills += 1;
            if !out.join("scene.toml").exists() {
                counts.before_the_scene += 1;
                let again = out.join("again");
                child = if out.exists() { start(&again) } else { start(&out) };
                if out.exists() {
                    assert!(end_or_kill(&mut child, Duration::from_secs(600)));
                    std::fs::remove_dir_all(&out).unwrap();
                    child = start(&out);
                }
                continue;
            }
            assert_sound(&out);
            counts.before_a_checkpoint += usize::from(!files(&out).keys().any(|name| name.ends_with(".ckpt")));
            counts.resumes += 1;
            child = resume(&out);
        }
        assert_sound(&out);
        assert_same_results(&whole, &out);
        std::fs::remove_dir_all(&out).unwrap();
    }
    counts
}

#[test]
fn a_run_killed_at_random_moments_ends_like_the_unbroken_one() {
    let counts = survive(10);
    println!("{counts:?}");
}

#[test]
#[ignore = "takes minutes: cargo test -p esker-cli --test kills -- --ignored --nocapture"]
fn a_run_killed_two_hundred_times_ends_like_the_unbroken_one() {
    let counts = survive(200);
    println!("{counts:?}");
}

/// Sends a signal once the run is under way.
fn stop_with(signal: &str) {
    let dir = tempfile::tempdir().unwrap();
    let (whole, out) = (dir.path().join("whole"), dir.path().join("out"));
    let mut child = start(&out);
    let begun = Instant::now();
    while !files_exist(&out) {
        assert!(begun.elapsed() < Duration::from_secs(60), "the run does not begin");
        std::thread::sleep(Duration::from_millis(2));
    }
    let sent = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert_sound(&out);
    let left = files(&out);
    assert!(left.keys().any(|name| name.ends_with(".ckpt")), "a checkpoint is written");
    assert!(!left.keys().any(|name| name.contains(".tmp-")), "nothing half-written is left");
    let info: serde_json::Value = serde_json::from_slice(&left["run.json"]).unwrap();
    assert_eq!(info["outcome"]["kind"], "interrupted");

    child = resume(&out);
    assert!(end_or_kill(&mut child, Duration::from_secs(600)));
    assert!(end_or_kill(&mut start(&whole), Duration::from_secs(600)));
    assert_same_results(&whole, &out);
}

fn files_exist(out: &Path) -> bool {
    out.join("grains-000000.vtp").exists()
}

#[test]
fn a_terminated_run_ends_with_code_130_and_can_be_resumed() {
    stop_with("-TERM");
}

#[test]
fn an_interrupted_run_ends_with_code_130_and_can_be_resumed() {
    stop_with("-INT");
}

/// Runs the hopper from a shell line in which `"$@"` stands for it, with too little room.
fn without_room(program: &str, before: &[&str], line: &str, out: &Path) -> Said {
    let mut arguments = small_hopper();
    arguments.extend(["--quiet", "--out", &out.display().to_string()].map(String::from));
    let mut command = std::process::Command::new(program);
    command.args(before).args(["sh", "-c", line, "sh", env!("CARGO_BIN_EXE_esker")]).args(arguments);
    command.output().unwrap().into()
}

#[test]
fn a_full_disk_ends_a_run_with_a_clear_message_and_nothing_corrupt() {
    let dir = tempfile::tempdir().unwrap();
    let disk = dir.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let private = ["--user", "--map-root-user", "--mount"];
    let mount = format!("mount -t tmpfs -o size=1m tmpfs '{}'", disk.display());
    let possible = std::process::Command::new("unshare").args(private).args(["sh", "-c", &mount]).output();
    if !possible.is_ok_and(|o| o.status.success()) {
        println!("skipped: this system does not let us mount a small disk");
        return;
    }
    // What is left on the small disk is copied out before the name space goes.
    let kept = dir.path().join("kept");
    let line = format!("{mount}; \"$@\"; code=$?; cp -r '{}' '{}'; exit $code", disk.display(), kept.display());
    let said = without_room("unshare", &private, &line, &disk.join("out"));
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(said.err.contains("the disk is full: free some space or choose another folder"), "{}", said.err);
    assert!(said.err.contains("the last good checkpoint is kept in"), "{}", said.err);
    assert_sound(&kept.join("out"));
    assert!(!files(&kept.join("out")).keys().any(|name| name.contains(".tmp-")), "nothing half-written is left");

    // With room again it goes on to the same end.
    let whole = dir.path().join("whole");
    assert!(end_or_kill(&mut start(&whole), Duration::from_secs(600)));
    assert!(end_or_kill(&mut resume(&kept.join("out")), Duration::from_secs(600)));
    assert_same_results(&whole, &kept.join("out"));
}

#[test]
fn a_limit_on_file_sizes_ends_a_run_with_a_clear_message_and_nothing_corrupt() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    // Blocks of 512 B: room for every frame, but not for the whole series.
    let said = without_room("env", &[], "trap '' XFSZ; ulimit -f 128; exec \"$@\"", &out);
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(said.err.contains("raise the limit (ulimit -f) or write less"), "{}", said.err);
    assert_sound(&out);
    let whole = dir.path().join("whole");
    assert!(end_or_kill(&mut start(&whole), Duration::from_secs(600)));
    assert!(end_or_kill(&mut resume(&out), Duration::from_secs(600)));
    assert_same_results(&whole, &out);
}
