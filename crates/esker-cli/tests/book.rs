//! The book says what the program does: its reference page is the generated one, its scenes are accepted, the tests it
//! names exist.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All files below a folder whose name ends as given, in order.
fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    let of = |path: PathBuf| if path.is_dir() { files(&path, end) } else { vec![path] };
    entries.into_iter().flat_map(of).filter(|path| path.to_string_lossy().ends_with(end)).collect()
}

/// The pages of the book, and the README.
fn pages() -> Vec<(String, String)> {
    let mut paths = files(&root().join("book/src"), ".md");
    paths.push(root().join("README.md"));
    paths.into_iter().map(|p| (p.display().to_string(), fs::read_to_string(&p).unwrap())).collect()
}

#[test]
fn the_reference_page_is_the_one_the_program_writes() {
    let out = Command::new(env!("CARGO_BIN_EXE_esker")).args(["schema", "--markdown"]).output().unwrap();
    let page = fs::read_to_string(root().join("book/src/scene-reference.md")).unwrap();
    assert!(
        page == String::from_utf8(out.stdout).unwrap(),
        "the page is old; write it anew: cargo run --release -- schema --markdown > book/src/scene-reference.md"
    );
}

#[test]
fn every_whole_scene_in_the_book_is_accepted() {
    let mut found = 0;
    for (page, text) in pages() {
        // A block that begins with a title is a whole scene; others are parts of one.
        for block in text.split("```toml\n").skip(1).filter(|block| block.starts_with("title")) {
            let scene = block.split("```").next().unwrap();
            let raw = esker_io::scene::read(scene, &page, &[]).unwrap_or_else(|e| panic!("{e}"));
            esker_io::build::build(&raw, Path::new("")).unwrap_or_else(|e| panic!("{e}"));
            found += 1;
        }
    }
    assert!(found >= 2, "{found} scenes");
}

#[test]
fn every_test_that_the_book_names_exists() {
    let code: String = files(&root().join("crates"), ".rs").iter().map(|p| fs::read_to_string(p).unwrap()).collect();
    let is_name = |word: &str| {
        let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        word.matches('_').count() >= 4 && word.chars().all(letters)
    };
    let mut found = 0;
    for (page, text) in pages() {
        // Words between backticks.
        for name in text.split('`').skip(1).step_by(2).filter(|word| is_name(word)) {
            assert!(code.contains(&format!("fn {name}(")), "{page} names `{name}`, which is no test");
            found += 1;
        }
    }
    assert!(found > 20, "{found} names");
}

#[test]
fn every_file_of_tests_is_part_of_the_program_of_its_crate() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for name in ["esker", "esker-io", "esker-cli"] {
        let tests = crates.join(name).join("tests");
        let all = fs::read_to_string(tests.join("all.rs")).unwrap();
        for entry in fs::read_dir(&tests).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_str().unwrap();
            // Fuzzing is a program of its own.
            if path.extension().is_some_and(|e| e == "rs") && !["all", "fuzz"].contains(&stem) {
                assert!(
                    all.contains(&format!("mod {stem};")),
                    "{} has no `mod {stem};`",
                    tests.join("all.rs").display()
                );
            }
        }
    }
}
