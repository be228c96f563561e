//! A disk that is full: clean errors, old files whole, nothing half-written left.
//!
//! Each test runs its part in a second copy of this program, once under a limit on file sizes and once, where the system
//! lets us, in a private name space with a really small disk.
#![cfg(unix)]

use esker_io::checkpoint::{self, CheckpointError, Meta};
use esker_io::series::{Series, SeriesError};
use esker_io::vtk::{PolyData, VtkError};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

const VICTIM: &str = "ESKER_TEST_SMALL_DISK";
const COLUMNS: [&str; 1] = ["a column [m]"];

/// Writes until nothing goes any more; every assertion is about what is left.
#[test]
fn victim() {
    let Some(folder) = std::env::var_os(VICTIM).map(PathBuf::from) else { return };
    let full = |kind| matches!(kind, ErrorKind::StorageFull | ErrorKind::FileTooLarge);

    // Old files, written while there is room.
    let meta = Meta { engine: "test".into(), ..Meta::default() };
    let (ckpt, frame) = (folder.join("a.ckpt"), folder.join("a.vtp"));
    checkpoint::save(&ckpt, "small", &meta).unwrap();
    PolyData::points([[1.0; 3]]).write(&frame).unwrap();
    let old_frame = fs::read(&frame).unwrap();

    // New ones that do not fit.
    match checkpoint::save(&ckpt, &vec![0.1; 200_000], &meta) {
        Err(CheckpointError::File(e)) => {
            assert!(full(e.reason.kind()), "{e}");
            let text = e.to_string();
            assert!(text.starts_with("cannot write") && text.contains("a.ckpt") && text.lines().count() == 2, "{text}");
        }
        other => panic!("{other:?}"),
    }
    match PolyData::points((0..200_000).map(|i| [f64::from(i); 3])).write(&frame) {
        Err(VtkError::File(e)) => assert!(full(e.reason.kind()), "{e}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(checkpoint::load::<String>(&ckpt).unwrap().1, "small");
    assert_eq!(fs::read(&frame).unwrap(), old_frame);

    // A series that fills what is left: it must end with a whole row, also after many failures.
    let path = folder.join("series.csv");
    let mut series = Series::create(&path, &COLUMNS).unwrap();
    let mut written = 0;
    let mut failures = 0;
    for step in 0..200_000 {
        match series.row(step, &[1.0 / step as f64]) {
            Ok(()) => written += 1,
            Err(SeriesError::File(e)) => {
                assert!(full(e.reason.kind()), "{e}");
                failures += 1;
                if failures == 10 {
                    break;
                }
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(failures, 10);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.ends_with('\n'));
    assert_eq!(text.lines().count(), 1 + written);
    assert!(text.lines().all(|line| line.matches(',').count() == 1));

    // Room again: the same series goes on.
    if std::env::var_os("ESKER_TEST_BALLAST").is_some() {
        fs::remove_file(folder.join("ballast")).unwrap();
        series.row(1_000_000, &[0.5]).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.ends_with("\n1000000,0.5\n"));
        assert_eq!(text.lines().count(), 2 + written);
    }
    let mut left: Vec<_> = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["a.ckpt", "a.vtp", "series.csv"]);
}

/// Runs the victim's part from a shell line in which `"$@"` stands for it.
fn run(program: &str, arguments: &[&str], line: &str, folder: &Path) -> std::process::Output {
    Command::new(program)
        .args(arguments)
        .args(["sh", "-c", line, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "full_disk::victim", "--nocapture"])
        .env(VICTIM, folder)
        .output()
        .unwrap()
}

fn assert_passed(output: &std::process::Output) {
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
fn a_limit_on_file_sizes_leaves_old_files_whole_and_nothing_half_written() {
    let dir = tempfile::tempdir().unwrap();
    // The limit counts blocks of 512 B; without the trap the signal would end the process before it sees the error.
    assert_passed(&run("env", &[], "trap '' XFSZ; ulimit -f 512; exec \"$@\"", dir.path()));
}

#[test]
fn a_full_disk_leaves_old_files_whole_and_nothing_half_written() {
    let dir = tempfile::tempdir().unwrap();
    let private = ["--user", "--map-root-user", "--mount"];
    let mount = format!("mount -t tmpfs -o size=256k tmpfs '{}'", dir.path().display());
    let possible = Command::new("unshare").args(private).args(["sh", "-c", &mount]).output();
    if !possible.is_ok_and(|o| o.status.success()) {
        println!("skipped: this system does not let us mount a small disk");
        return;
    }
    let ballast = format!("dd if=/dev/zero of='{}/ballast' bs=1k count=64 2>/dev/null", dir.path().display());
    let line = format!("{mount} && {ballast} && ESKER_TEST_BALLAST=1 exec \"$@\"");
    assert_passed(&run("unshare", &private, &line, dir.path()));
}
