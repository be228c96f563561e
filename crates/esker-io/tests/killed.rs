//! A process that is killed while it writes: what is left can be continued.
//!
//! Each test starts this test program once more as its own victim; the victim's part is a test too, which does nothing
//! unless it is told where to write.

use esker_io::checkpoint::{self, Meta};
use esker_io::run_folder::{RunFolder, RunFolderError};
use esker_io::series::Series;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const VICTIM: &str = "ESKER_TEST_VICTIM_FOLDER";
const COLUMNS: [&str; 3] = ["time [s]", "kinetic [J]", "wall force [N]"];

fn values(step: u64) -> [f64; 3] {
    let t = step as f64 / 3.0;
    [t, 1.0 / (1.0 + t), -t * t]
}

fn meta(step: u64) -> Meta {
    Meta { engine: "test".into(), scene: "victim".into(), step, time: step as f64 }
}

/// Writes rows, checkpoints and frames for ever.
#[test]
fn victim() {
    let Some(folder) = std::env::var_os(VICTIM).map(PathBuf::from) else { return };
    let folder = RunFolder::create_at(&folder).unwrap();
    let mut series = Series::create(&folder.file("series.csv"), &COLUMNS).unwrap();
    for step in 0.. {
        series.row(step, &values(step)).unwrap();
        if step % 50 == 0 {
            folder.save_checkpoint(&vec![step; 20_000], &meta(step)).unwrap();
        }
    }
}

fn start_victim(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::victim"])
        .env(VICTIM, folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what} did not happen");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_run_killed_at_any_time_resumes_with_every_row_up_to_its_checkpoint() {
    for round in 0..6 {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run");
        let mut victim = start_victim(&path);
        wait_until("the first checkpoint", || esker_io::run_folder::latest_checkpoint(&path).is_ok());

        // While it lives, nobody else gets in.
        match RunFolder::resume(&path) {
            Err(RunFolderError::InUse { owner, .. }) => assert_eq!(owner, format!("process {}", victim.id())),
            other => panic!("{other:?}"),
        }
        std::thread::sleep(Duration::from_micros(7919 * round));
        victim.kill().unwrap(); // SIGKILL
        victim.wait().unwrap();

        // Its lock died with it.
        let folder = RunFolder::resume(&path).unwrap();
        assert!(folder.notes()[0].contains(&format!("process {} ended without closing", victim.id())));
        let latest = folder.latest_checkpoint().unwrap();
        assert!(latest.skipped.is_empty(), "a killed process leaves no damaged checkpoint: {:?}", latest.skipped);
        let step = latest.meta.step;
        assert_eq!(checkpoint::load::<Vec<u64>>(&latest.path).unwrap().1, vec![step; 20_000]);

        let series = folder.file("series.csv");
        let (mut rows, resumed) = Series::resume(&series, &COLUMNS, step).unwrap();
        assert_eq!(resumed.kept as u64, step + 1);
        rows.row(step + 1, &values(step + 1)).unwrap();
        let text = std::fs::read_to_string(&series).unwrap();
        assert_eq!(text.lines().count() as u64, step + 3);
        for (expected, line) in text.lines().skip(1).enumerate() {
            let cells: Vec<f64> = line.split(',').skip(1).map(|c| c.parse().unwrap()).collect();
            assert_eq!(cells, values(expected as u64));
        }
        let left: Vec<_> = std::fs::read_dir(&path).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert!(left.iter().all(|n| !n.to_string_lossy().contains(".tmp-")), "{left:?}");
    }
}
