//! The mill of a run: how often its balls met, how large they are, and how much room there is between them.

use crate::Failure;
use esker::grinding::{Bodies, Impacts};
use esker_io::build::{self, Scene};
use esker_io::record;
use esker_io::record::collisions::COLLISIONS_FILE;
use esker_io::scene::raw::{RawGeometry, RawScene};
use esker_view::collisions::{self, Class, CollisionsError, With};
use std::f64::consts::PI;
use std::path::Path;

/// A run of a mill.
pub struct MillRun {
    raw: RawScene,
    scene: Scene,
    classes: Vec<Class>,
}

impl MillRun {
    /// Reads what a run has left in its folder. Collisions are those of the stage named, or of the last.
    pub fn read(folder: &Path, stage: Option<&str>) -> Result<Self, Failure> {
        let classes = collisions::read(folder).map_err(|e| match e {
            CollisionsError::None { .. } => Failure::from(format!("{e}, or give `--rate` yourself")),
            e => e.into(),
        })?;
        let classes = collisions::of_stage(classes, stage)?;
        let (raw, scene) = build::load(&folder.join(record::SCENE_FILE), &[])?;
        Ok(Self { raw, scene, classes })
    }

    /// Impacts of the balls; all have this radius \[m\] if one is given, else that of their group.
    pub fn impacts(&self, radius: Option<f64>) -> Result<Vec<Impacts>, Failure> {
        let radius = |name: &str| radius.map_or_else(|| self.radius(name), Ok);
        self.classes
            .iter()
            .map(|class| {
                let bodies = match class.with {
                    With::Grains => Bodies::Balls([radius(&class.first)?, radius(&class.second)?]),
                    With::Wall => Bodies::BallAndWall(radius(&class.first)?),
                };
                Ok(Impacts { bodies, rate: class.rate })
            })
            .collect()
    }

    /// Radius of the grains of a group \[m\].
    fn radius(&self, name: &str) -> Result<f64, Failure> {
        let kinds = &self.scene.stages[0].model.kinds;
        let kind = kinds.iter().position(|kind| kind.name == name);
        let range = self.scene.sizes.iter().find(|size| Some(usize::from(size.kind)) == kind);
        let Some(range) = range else {
            return Err(format!("{COLLISIONS_FILE} tells of grains `{name}`, which the scene does not have").into());
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
