//! Quasi-static stages: whether their laws can be at rest, and when they are looked at.

use super::Context;
use super::output::OutputPlan;
use crate::scene::choice::{Nodes as Word, StaticBy as By};
use crate::scene::raw::{RawSolver, RawStage, RawStep};
use crate::scene::{SceneError, Spanned};
use esker::advice::Advice;
use esker::model::{Method, Nodes, StaticBy, StaticSettings};
use esker::simulation::Stage;
use esker::solver::quasistatic::unfit;

/// A force below this part of the largest load counts as none.
const TOLERANCE: f64 = 1e-10;

/// Equilibria in the shortest interval of output, where nothing else tells.
const STEPS: f64 = 10.0;

/// Sets method and step of a stage.
pub(super) fn choose(
    c: &Context,
    stage: &mut Stage,
    raw: &RawStage,
    output: &OutputPlan,
) -> Result<Advice, SceneError> {
    let kind = c.solver_kind(raw);
    let model = &mut stage.model;
    if model.cell.is_periodic() {
        return c
            .error(kind.at, "solver `quasistatic` knows no periodic faces: leave `periodic` out, or take `explicit`");
    }
    for a in model.kinds.iter().map(|kind| kind.material) {
        let walls = model.walls.iter().map(|wall| wall.material);
        for b in model.kinds.iter().map(|kind| kind.material).chain(walls) {
            if let Some(why) = unfit(model.laws.law(a, b)) {
                let [a, b] = [a, b].map(|m| &model.materials[m as usize].name);
                let message = format!(
                    "solver `quasistatic` cannot use the law of `{a}` and `{b}`: {why}; it takes normal laws of the overlap alone \
                     (hooke, hertz, …) with tangential `spring`, `mindlin` or none"
                );
                return c.error(kind.at, message);
            }
        }
    }
    let scene = c.raw.solver.as_ref();
    fn pick<T: Copy>(
        raw: &RawStage,
        scene: Option<&RawSolver>,
        get: impl Fn(&RawSolver) -> Option<Spanned<T>>,
    ) -> Option<T> {
        raw.solver.as_ref().and_then(&get).or_else(|| scene.and_then(&get)).map(|said| said.value)
    }
    let nodes = match pick(raw, scene, |s| s.nodes) {
        Some(Word::Translating) => Nodes::Translating,
        _ => Nodes::Turning,
    };
    let by = match pick(raw, scene, |s| s.by) {
        Some(By::Inverse) => StaticBy::Inverse,
        Some(By::Factors) => StaticBy::Factors,
        Some(By::Gradients) => StaticBy::Gradients,
        Some(By::Auto) | None => StaticBy::Automatic,
    };
    model.method = Method::Quasistatic(StaticSettings { nodes, by, tolerance: TOLERANCE });
    let fastest =
        model.feeds.iter().filter(|(_, active)| *active).map(|(feed, _)| feed.mean_rate()).fold(0.0, f64::max);
    let intervals = [output.frames, output.series, output.checkpoint, stage.end.duration, stage.end.until_time];
    let shortest = intervals.into_iter().flatten().fold(f64::INFINITY, f64::min);
    model.dt = match pick(raw, scene, |s| s.step) {
        Some(RawStep::Given(dt)) => {
            let at = raw.solver.as_ref().or(scene).and_then(|s| s.step).map_or(raw.at, |step| step.at);
            c.positive(&Spanned { value: dt, at })?
        }
        _ if fastest > 0.0 => 1.0 / fastest,
        _ if shortest.is_finite() => shortest / STEPS,
        _ => {
            return c.error(
                raw.at,
                "no feed, no interval of output and no duration asks for a step: give `step` in [solver]",
            );
        }
    };
    Ok(Advice { step: model.dt, ..Advice::default() })
}
