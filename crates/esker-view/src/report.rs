//! A run told on one page: what was run, how it ended, energy, curves, pictures.

use crate::collisions::{self, Class, CollisionsError, Of, Over};
use crate::plot::{self, PlotError, TIME};
use crate::run::RunError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use esker::state::Cures;
use esker_io::atomic::{self, Attempt, FileError};
use esker_io::chart::escaped;
use esker_io::record::{SCENE_FILE, SUMMARY_FILE};
use esker_io::series::Numbers;
use serde_json::Value;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

/// Why a report cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The run cannot be looked at.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Its series cannot be drawn.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// Its collisions cannot be told.
    #[error(transparent)]
    Collisions(#[from] CollisionsError),
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// `run.json` is not what a run writes.
    #[error("`{}` is not understood: {reason}\n  it is written by `esker run`; continue the run or start it again", path.display())]
    Summary {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

/// A picture of a frame.
pub struct Picture {
    /// What it shows.
    pub caption: String,
    /// The picture.
    pub png: Vec<u8>,
}

/// Curves drawn of any run that has them, by the beginnings of their names: heading, columns.
const CURVES: [(&str, &[&str]); 4] = [
    ("Grains", &["grains", "removed"]),
    ("Contacts per grain", &["coordination"]),
    ("Largest overlap over the radius", &["largest overlap"]),
    ("What the energy account is off by", &["residual"]),
];

/// The report of a run, with pictures of some of its frames.
pub fn report(folder: &Path, pictures: &[Picture]) -> Result<String, ReportError> {
    let summary = summary(folder)?;
    let title = text(&summary, "title");
    let mut page = Page::default();
    page.head(&title);
    page.outcome(&summary);
    page.warnings(&summary);
    for Picture { caption, png } in pictures {
        let picture = STANDARD.encode(png);
        page.add(&format!(
            "<figure><img alt=\"{0}\" src=\"data:image/png;base64,{picture}\"><figcaption>{0}</figcaption></figure>",
            escaped(caption)
        ));
    }
    page.energy(&summary);
    match plot::series(folder) {
        Ok(numbers) => page.curves(&numbers)?,
        Err(PlotError::NoSeries { .. }) => page.add("<p>This run kept no series.</p>"),
        Err(e) => return Err(e.into()),
    }
    match collisions::read(folder) {
        Ok(classes) => page.collisions(folder, &summary, &classes)?,
        Err(CollisionsError::None { .. }) => {}
        Err(e) => return Err(e.into()),
    }
    page.stages(&summary);
    page.scene(folder)?;
    page.citing(&summary);
    Ok(page.end())
}

fn summary(folder: &Path) -> Result<Value, ReportError> {
    let path = folder.join(SUMMARY_FILE);
    let bytes = match atomic::read(&path) {
        Ok(bytes) => bytes,
        Err(e) if e.reason.kind() == io::ErrorKind::NotFound => {
            return Err(RunError::NoRun { path: folder.to_owned() }.into());
        }
        Err(e) => return Err(e.into()),
    };
    let value: Value = serde_json::from_slice(&bytes)
        .map_err(|e| ReportError::Summary { path: path.clone(), reason: e.to_string() })?;
    match value.get("program") {
        Some(_) => Ok(value),
        None => Err(ReportError::Summary { path, reason: "it has no `program`".to_owned() }),
    }
}

/// A text of the summary.
fn text(value: &Value, key: &str) -> String {
    match &value[key] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// A number of the summary.
fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or(f64::NAN)
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:auto;padding:1rem;color:#222;background:#fff}\
    table{border-collapse:collapse}td,th{border-bottom:1px solid #ccc;padding:.2rem .8rem .2rem 0;text-align:left}\
    td.n{text-align:right;font-variant-numeric:tabular-nums}svg,img{max-width:100%;height:auto}\
    figure{margin:1rem 0}figcaption{color:#555}pre{overflow:auto;background:#f4f4f4;padding:.8rem}\
    .w{background:#fff3cd;padding:.5rem .8rem;border-left:4px solid #e69f00}.curves{display:grid;\
    grid-template-columns:repeat(auto-fit,minmax(20rem,1fr));gap:1rem}@media print{details{display:block}}";

/// The page being written.
#[derive(Default)]
struct Page {
    html: String,
}

impl Page {
    fn add(&mut self, html: &str) {
        self.html += html;
        self.html.push('\n');
    }

    fn head(&mut self, title: &str) {
        let title = escaped(title);
        self.add(&format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
             content=\"width=device-width,initial-scale=1\"><title>{title}</title><style>{STYLE}</style></head><body>\n\
             <h1>{title}</h1>"
        ));
    }

    /// Rows of a name and what goes with it.
    fn table(&mut self, rows: &[(String, String)]) {
        self.add("<table>");
        for (name, value) in rows {
            let _ = writeln!(self.html, "<tr><th scope=\"row\">{}</th><td>{}</td></tr>", escaped(name), escaped(value));
        }
        self.add("</table>");
    }

    fn outcome(&mut self, summary: &Value) {
        let kind = text(&summary["outcome"], "kind");
        let reason = text(&summary["outcome"], "reason");
        let ended = if reason.is_empty() { kind } else { format!("{kind}: {reason}") };
        let seconds = number(summary, "seconds");
        let speed = match summary["collisions"].as_u64() {
            Some(n) if n > 0 => format!("{seconds:.1} s, {n} collisions"),
            _ => {
                let speed = number(summary, "particle_steps") / seconds;
                format!("{seconds:.1} s, {:.2} million particle-steps per second", speed / 1e6)
            }
        };
        let changes: Vec<&str> =
            summary["overrides"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut rows = vec![
            ("program", text(summary, "program")),
            ("scene", text(summary, "scene")),
            ("ended", ended),
            ("time of the run", format!("{:.6} s in {} steps", number(summary, "time"), text(summary, "steps"))),
            ("grains at the end", text(summary, "grains")),
            ("seed", text(summary, "seed")),
            ("threads", text(summary, "threads")),
            ("computed in", speed),
        ];
        if !changes.is_empty() {
            rows.insert(2, ("changed by --set", changes.join(", ")));
        }
        self.add("<h2>What was run</h2>");
        self.table(&rows.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Vec<_>>());
    }

    fn warnings(&mut self, summary: &Value) {
        for warning in summary["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            self.add(&format!("<p class=\"w\">{}</p>", escaped(warning)));
        }
    }

    /// The account at the end.
    fn energy(&mut self, summary: &Value) {
        self.add("<h2>Energy</h2>\n<table>");
        let entry = |page: &mut Self, name: &str, value: f64| {
            let name = escaped(&name.replace('_', " "));
            let _ = writeln!(page.html, "<tr><th scope=\"row\">{name}</th><td class=\"n\">{value:.6e} J</td></tr>");
        };
        let mut walk = |name: &str, value: &Value| match value {
            Value::Number(n) => entry(self, name, n.as_f64().unwrap_or(f64::NAN)),
            Value::Array(named) => {
                for pair in named {
                    if let (Some(of), Some(joules)) = (pair[0].as_str(), pair[1].as_f64()) {
                        entry(self, &format!("{name}: {of}"), joules);
                    }
                }
            }
            Value::Object(parts) => {
                for (part, joules) in parts {
                    entry(self, &format!("{name} by {part}"), joules.as_f64().unwrap_or(f64::NAN));
                }
            }
            _ => {}
        };
        for (name, value) in summary["energy"].as_object().into_iter().flatten() {
            walk(name, value);
        }
        walk("the account is off by", &summary["residual"]);
        self.add("</table>");
    }

    fn curves(&mut self, numbers: &Numbers) -> Result<(), PlotError> {
        if let Ok(drawing) = plot::energy("Energy account", numbers) {
            self.add(&drawing.svg());
        }
        self.add("<h2>Curves</h2>\n<div class=\"curves\">");
        for (title, names) in CURVES {
            let found: Vec<String> = names.iter().filter_map(|name| plot::find(numbers, name).ok()).collect();
            if !found.is_empty() {
                self.add(&plot::columns(title, numbers, TIME, &found)?.svg());
            }
        }
        for (title, group) in probes(&numbers.columns) {
            self.add(&plot::columns(&title, numbers, TIME, &group)?.svg());
        }
        self.add("</div>");
        Ok(())
    }

    /// Who met whom how often, how fast and at what cost; what was done against collisions without end; spectra of the last stage.
    fn collisions(&mut self, folder: &Path, summary: &Value, classes: &[Class]) -> Result<(), CollisionsError> {
        self.add(
            "<h2>Collisions</h2>\n<table><tr><th>stage</th><th>who</th><th>number</th><th>per second</th>\
             <th>mean impact speed [m/s]</th><th>power lost [W]</th></tr>",
        );
        for class in classes {
            let _ = writeln!(
                self.html,
                "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{:.4e}</td><td class=\"n\">{:.4e}</td>\
                 <td class=\"n\">{:.4e}</td></tr>",
                escaped(&class.stage),
                escaped(&class.name()),
                class.count,
                class.rate,
                class.speed,
                class.power()
            );
        }
        self.add("</table>");
        self.cures(summary);
        self.add("<div class=\"curves\">");
        for over in [Over::Speed, Over::Energy] {
            let spectra = collisions::spectra(folder, over, None)?;
            for of in [Of::Number, Of::Lost] {
                let stage = spectra.first().map_or("", |s| s.class.stage.as_str());
                match collisions::chart(&format!("Stage {stage}"), &spectra, over, of) {
                    Ok(chart) => self.add(&chart.svg()),
                    // Nothing has met, or nothing was lost.
                    Err(CollisionsError::Nothing { .. }) => {}
                    Err(e) => return Err(e),
                }
            }
        }
        self.add("</div>");
        Ok(())
    }

    /// How often something was done against collisions without end.
    fn cures(&mut self, summary: &Value) {
        let all = number(summary, "collisions");
        let cures: Cures = serde_json::from_value(summary["cures"].clone()).unwrap_or_default();
        let done = cures.list().into_iter().filter(|(_, n)| *n > 0);
        let rows: Vec<(String, String)> = done
            .map(|(what, n)| (what.to_owned(), format!("{n}, {:.2} % of all collisions", 100.0 * n as f64 / all)))
            .collect();
        if rows.is_empty() {
            return self.add("<p>Nothing had to be done against collisions without end.</p>");
        }
        self.add("<p>Done against collisions without end:</p>");
        self.table(&rows);
    }

    fn stages(&mut self, summary: &Value) {
        self.add(
            "<h2>Stages</h2>\n<table><tr><th>stage</th><th>step [s]</th><th>solver</th><th>advised step [s]</th>\
             <th>because of</th></tr>",
        );
        for stage in summary["stages"].as_array().into_iter().flatten() {
            let advice = &stage["advice"];
            let tightest = advice["pairs"]
                .as_array()
                .and_then(|pairs| pairs.iter().min_by(|a, b| number(a, "step").total_cmp(&number(b, "step"))));
            let because = tightest.map_or(String::new(), |pair| {
                format!("{}, {} and {}", text(pair, "reason"), text(pair, "a"), text(pair, "b"))
            });
            let (solver, advised) = match text(stage, "solver").as_str() {
                // They have no step of their own: that of a stage is when it can be looked at.
                solver @ ("event" | "quasistatic") => (solver.to_owned(), String::new()),
                solver => {
                    (format!("{solver} {}", text(stage, "integrator")), format!("{:.3e}", number(advice, "step")))
                }
            };
            let _ = writeln!(
                self.html,
                "<tr><td>{}</td><td>{:.3e}</td><td>{}</td><td>{advised}</td><td>{}</td></tr>",
                escaped(&text(stage, "name")),
                number(stage, "step"),
                escaped(solver.trim()),
                escaped(&because)
            );
        }
        self.add("</table>");
    }

    fn scene(&mut self, folder: &Path) -> Result<(), ReportError> {
        let path = folder.join(SCENE_FILE);
        let scene = match std::fs::read_to_string(&path) {
            Ok(scene) => scene,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(e) => return Err(FileError::new(&path, Attempt::Read, e).into()),
        };
        self.add("<h2>Parameters</h2>\n<details><summary>The scene as it was run, with every default</summary>");
        self.add(&format!("<pre>{}</pre></details>", escaped(&scene)));
        Ok(())
    }

    fn citing(&mut self, summary: &Value) {
        let version = text(summary, "program");
        let version = version.strip_prefix("esker ").unwrap_or(&version);
        self.add(&format!(
            "<h2>How to cite</h2>\n<p>Name the program with its version and the scene with its seed, so that the run can be made \
             again bit for bit: <q>Esker {}, scene <i>{}</i>, seed {}</q>, together with the sources that the laws of the \
             scene name in the book.</p>",
            escaped(version),
            escaped(&text(summary, "title")),
            escaped(&text(summary, "seed"))
        ));
    }

    fn end(mut self) -> String {
        self.add("</body></html>");
        self.html
    }
}

/// Columns of collisions and probes, those of one probe together: what comes after the works of the walls.
fn probes(columns: &[String]) -> Vec<(String, Vec<String>)> {
    let behind = columns.iter().skip_while(|c| *c != "residual [J]").skip(1);
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for name in behind.skip_while(|c| c.starts_with("work of ")) {
        // `NAME x [N]`: a component; `NAME count`, `NAME mass [kg]`: of a flow, each with a curve of its own.
        let bare = name.split(" [").next().unwrap_or(name);
        let component = bare.rsplit_once(' ').filter(|(_, c)| c.len() <= 2);
        let title = match component {
            _ if bare == "collisions" || bare.starts_with("collisions of ") => "Collisions so far",
            _ if ["mean speed", "rms speed"].contains(&bare) => "Speed of the grains",
            Some((probe, _)) => probe,
            None => bare,
        };
        let title = title.to_owned();
        match groups.iter_mut().find(|(other, _)| *other == title) {
            Some((_, group)) => group.push(name.clone()),
            None => groups.push((title, vec![name.clone()])),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_of_a_probe_share_a_curve() {
        let of_probes = ["load x [N]", "load y [N]", "out count", "out mass [kg]"];
        for walls in [&["work of a [J]", "work of b [J]"][..], &[]] {
            let columns = ["time [s]", "residual [J]"].iter().chain(walls).chain(&of_probes);
            let found = probes(&columns.map(|name| (*name).to_owned()).collect::<Vec<_>>());
            let titles: Vec<(&str, usize)> = found.iter().map(|(title, group)| (title.as_str(), group.len())).collect();
            assert_eq!(titles, [("load", 2), ("out count", 1), ("out mass", 1)]);
        }
    }
}
