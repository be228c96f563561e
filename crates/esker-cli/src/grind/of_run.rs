//! The mill of a run: how often its balls met, how large they are, and how much room there is between them.

use crate::Failure;
use esker::grinding::{Bodies, Impacts};
use esker_io::atomic;
use esker_io::build::{self, Scene};
use esker_io::record;
use esker_io::scene::raw::{RawGeometry, RawScene};
use esker_io::series::cells;
use std::f64::consts::PI;
use std::path::Path;

/// What a run that counts collisions writes.
const FILE: &str = "collisions.csv";

/// Its first line.
const HEADER: &str = "stage,first,second,with,time [s],collisions,rate [1/s],lost [J],mean impact speed [m/s]";

/// A run of a mill.
pub struct MillRun {
    raw: RawScene,
    scene: Scene,
    rows: Vec<Row>,
}

/// Collisions of two groups of grains, or of grains with a wall, in a stage.
#[derive(Debug, PartialEq)]
struct Row {
    stage: String,
    first: String,
    second: String,
    with: With,
    rate: f64,
}

/// What grains collided with.
#[derive(Debug, PartialEq, Eq)]
enum With {
    Grains,
    Wall,
}

impl MillRun {
    /// Reads what a run has left in its folder. Collisions are those of the stage named, or of the last.
    pub fn read(folder: &Path, stage: Option<&str>) -> Result<Self, Failure> {
        let path = folder.join(FILE);
        if !path.exists() {
            let folder = folder.display();
            return Err(format!(
                "`{folder}` has no {FILE}: name the folder of a run that counted collisions, or give `--rate` yourself"
            )
            .into());
        }
        let text = String::from_utf8_lossy(&atomic::read(&path)?).into_owned();
        let mut rows = rows(&text).map_err(|wrong| format!("{}: {wrong}", path.display()))?;
        let last = rows.last().map(|row| row.stage.clone()).ok_or_else(|| format!("{} has no rows", path.display()))?;
        let stage = stage.unwrap_or(&last);
        if !rows.iter().any(|row| row.stage == stage) {
            let mut known: Vec<&str> = rows.iter().map(|row| row.stage.as_str()).collect();
            known.dedup();
            return Err(format!("`--stage {stage}` is not in {}; known: {}", path.display(), known.join(", ")).into());
        }
        rows.retain(|row| row.stage == stage);
        let (raw, scene) = build::load(&folder.join(record::SCENE_FILE), &[])?;
        Ok(Self { raw, scene, rows })
    }

    /// Impacts of the balls; all have this radius \[m\] if one is given, else that of their group.
    pub fn impacts(&self, radius: Option<f64>) -> Result<Vec<Impacts>, Failure> {
        let radius = |name: &str| radius.map_or_else(|| self.radius(name), Ok);
        self.rows
            .iter()
            .map(|row| {
                let bodies = match row.with {
                    With::Grains => Bodies::Balls([radius(&row.first)?, radius(&row.second)?]),
                    With::Wall => Bodies::BallAndWall(radius(&row.first)?),
                };
                Ok(Impacts { bodies, rate: row.rate })
            })
            .collect()
    }

    /// Radius of the grains of a group \[m\].
    fn radius(&self, name: &str) -> Result<f64, Failure> {
        let kinds = &self.scene.stages[0].model.kinds;
        let kind = kinds.iter().position(|kind| kind.name == name);
        let range = self.scene.sizes.iter().find(|size| Some(usize::from(size.kind)) == kind);
        let Some(range) = range else {
            return Err(format!("{FILE} tells of grains `{name}`, which the scene does not have").into());
        };
        if range.r_max - range.r_min > 1e-9 * range.r_max {
            return Err(format!(
                "the radii of `{name}` go from {:e} m to {:e} m: say with `--ball-radius` which one counts",
                range.r_min, range.r_max
            )
            .into());
        }
        Ok(range.r_max)
    }

    /// Volume of the vessel less that of the balls at the beginning \[m³\].
    pub fn free_volume(&self) -> Result<f64, Failure> {
        let vessels: Vec<f64> = match self.raw.planar {
            true => vec![],
            false => self.raw.walls.iter().filter_map(|wall| enclosed(&wall.geometry.value)).collect(),
        };
        let &[vessel] = &vessels[..] else {
            let many = if vessels.is_empty() { "no wall" } else { "more than one wall" };
            return Err(format!(
                "{many} of the scene is a vessel by itself (a cylinder with caps, a sphere or a box): \
                 give the volume between the balls with `--free-volume`"
            )
            .into());
        };
        let grains = &self.scene.state.particles;
        let balls: f64 = (0..grains.owned()).map(|i| 4.0 / 3.0 * PI * grains.radius(i).powi(3)).sum();
        if balls >= vessel {
            return Err(format!(
                "the balls take {balls:e} m³ and the vessel has {vessel:e} m³: give the volume between the balls with `--free-volume`"
            )
            .into());
        }
        Ok(vessel - balls)
    }
}

/// Volume inside a wall that is closed \[m³\].
fn enclosed(geometry: &RawGeometry) -> Option<f64> {
    match geometry {
        RawGeometry::Cylinder { cylinder, caps: true } => {
            Some(PI * cylinder.radius.value.powi(2) * (cylinder.to.value - cylinder.from.value).length())
        }
        RawGeometry::Sphere(sphere) => Some(4.0 / 3.0 * PI * sphere.radius.value.powi(3)),
        RawGeometry::Box(b) => Some((b.max.value - b.min.value).to_array().iter().product()),
        _ => None,
    }
}

/// The rows of a table of collisions, or what is wrong with it.
fn rows(text: &str) -> Result<Vec<Row>, String> {
    let mut lines = text.lines();
    match lines.next() {
        Some(HEADER) => {}
        other => return Err(format!("the first line is `{}`, `{HEADER}` was expected", other.unwrap_or_default())),
    }
    lines
        .enumerate()
        .map(|(n, line)| {
            let [stage, first, second, with, _, _, rate, ..] = &cells(line)[..] else {
                return Err(format!("line {}: `{line}` has too few cells", n + 2));
            };
            let with = match with.as_str() {
                "grains" => With::Grains,
                "wall" => With::Wall,
                other => return Err(format!("line {}: `{other}` is neither `grains` nor `wall`", n + 2)),
            };
            let rate = rate.parse().map_err(|_| format!("line {}: the rate `{rate}` is no number", n + 2))?;
            Ok(Row { stage: stage.clone(), first: first.clone(), second: second.clone(), with, rate })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_collisions_is_read_and_a_spoilt_one_refused_with_its_line() {
        let text = format!(
            "{HEADER}\nshake,balls,balls,grains,1,71000,7.1e4,1.5,3\nshake,\"a, b\",vessel,wall,1,42000,4.2e4,2.5,3\n"
        );
        let found = rows(&text).unwrap();
        assert_eq!((found.len(), found[0].rate, found[1].first.as_str()), (2, 7.1e4, "a, b"));
        assert_eq!((&found[0].with, &found[1].with), (&With::Grains, &With::Wall));
        for (good, bad, says) in [
            ("rate [1/s]", "rate", "the first line is"),
            ("grains,1", "grain,1", "line 2: `grain` is neither"),
            ("7.1e4", "many", "line 2: the rate `many` is no number"),
            (",wall,1,42000,4.2e4,2.5,3", "", "line 3:"),
        ] {
            let wrong = rows(&text.replace(good, bad)).unwrap_err();
            assert!(wrong.contains(says), "{wrong}");
        }
    }
}
