//! `esker new`: the examples inside the program.

use crate::Failure;
use crate::out::say;
use std::path::PathBuf;

/// Name, one line, text, and the files it needs beside it.
struct Example {
    name: &'static str,
    text: &'static str,
    files: &'static [(&'static str, &'static [u8])],
}

macro_rules! example {
    ($name:literal $(, $file:literal)*) => {
        Example {
            name: $name,
            text: include_str!(concat!("../../../examples/", $name, ".toml")),
            files: &[$(($file, include_bytes!(concat!("../../../examples/", $file)))),*],
        }
    };
}

/// From one ball to whole plants.
const EXAMPLES: &[Example] = &[
    example!("bouncing-ball"),
    example!("oblique-impact"),
    example!("incline"),
    example!("hopper"),
    example!("packed-bed"),
    example!("kiln"),
    example!("drum", "meshes/drum.stl"),
    example!("silo"),
    example!("silo-static"),
    example!("silo-round"),
    example!("hand-over"),
    example!("chute"),
    example!("billiard"),
    example!("gas"),
    example!("cooling-gas"),
    example!("mill"),
];

/// First comment line of a scene: what it is.
fn about(example: &Example) -> &str {
    example.text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default()
}

/// Lists the examples, or writes one.
pub fn main(name: Option<String>, output: Option<PathBuf>) -> Result<(), Failure> {
    let Some(name) = name else {
        say!("examples (write one with `esker new NAME`):");
        for example in EXAMPLES {
            say!("  {:<18} {}", example.name, about(example));
        }
        return Ok(());
    };
    let Some(example) = EXAMPLES.iter().find(|e| e.name == name) else {
        let names = EXAMPLES.iter().map(|e| e.name);
        let hint = esker::expression::closest(&name, names.clone())
            .map_or(String::new(), |close| format!(" (did you mean `{close}`?)"));
        let names: Vec<&str> = names.collect();
        return Err(format!("there is no example `{name}`; known examples: {}{hint}", names.join(", ")).into());
    };
    let path = output.unwrap_or_else(|| PathBuf::from(format!("{name}.toml")));
    let folder = path.parent().map(PathBuf::from).unwrap_or_default();
    for (target, bytes) in std::iter::once((path.clone(), example.text.as_bytes()))
        .chain(example.files.iter().map(|(file, bytes)| (folder.join(file), *bytes)))
    {
        if target.exists() {
            return Err(format!("{} exists already; choose another name with --output", target.display()).into());
        }
        if let Some(parent) = target.parent().filter(|p| !p.as_os_str().is_empty()) {
            std::fs::create_dir_all(parent)?;
        }
        esker_io::atomic::write(&target, |w| w.write_all(bytes))?;
        say!("wrote {}", target.display());
    }
    say!("run it with `esker run {}`", path.display());
    Ok(())
}
