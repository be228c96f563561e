//! Stages of hard collisions: what is done against collisions without end, and when the run can be looked at.

use super::grains::Prepared;
use super::output::OutputPlan;
use super::{Context, stages};
use crate::scene::choice::Collapse as By;
use crate::scene::raw::{RawStage, RawStep};
use crate::scene::{SceneError, Spanned};
use esker::advice::Advice;
use esker::model::{Collapse, EventSettings, Method};
use esker::simulation::Stage;

/// Cut-off over the fastest impact that is expected. Averages of a mill do not change from a tenth to ten times of it.
const CUT_OFF: f64 = 0.002;

/// Steps in the shortest interval of output.
const STEPS: f64 = 1000.0;

/// Sets method and step of a stage.
pub(super) fn choose(
    c: &Context,
    stage: &mut Stage,
    raw: &RawStage,
    output: &OutputPlan,
    prepared: &Prepared,
    speed: f64,
) -> Result<Advice, SceneError> {
    if let Some(field) = stage.model.fields.iter().find(|field| field.looks_at_others()) {
        let message = format!(
            "solver `event` follows each grain by itself, and `{}` looks at all of them: take `explicit`, or leave the field out",
            field.name()
        );
        return c.error(c.solver_kind(raw).at, message);
    }
    let collapse = collapse(c, raw, speed)?;
    let intervals = [output.frames, output.series, output.checkpoint, stage.end.duration, stage.end.until_time];
    let shortest = intervals.into_iter().flatten().fold(f64::INFINITY, f64::min);
    let window = output.series.unwrap_or(shortest).min(f64::MAX);
    stage.model.method = Method::Event(EventSettings { collapse, window });
    let own = raw.solver.as_ref().and_then(|s| s.step).or(c.raw.solver.as_ref().and_then(|s| s.step));
    stage.model.dt = match own {
        Some(Spanned { value: RawStep::Given(dt), at }) => c.positive(&Spanned { value: dt, at })?,
        // Soft contacts may go on with it.
        _ if matches!(collapse, Collapse::HandOver(_)) => {
            return stages::choose_step(c, &mut stage.model, raw.solver.as_ref(), prepared, speed);
        }
        _ if shortest.is_finite() => shortest / STEPS,
        _ => return c.error(raw.at, "no interval of output and no duration asks for a step: give `step` in [solver]"),
    };
    Ok(Advice { speed, step: stage.model.dt, ..Advice::default() })
}

/// What a stage does against collisions without end.
fn collapse(c: &Context, raw: &RawStage, speed: f64) -> Result<Collapse, SceneError> {
    let said = c.collapse(raw);
    let slow = match said.and_then(|said| said.speed) {
        Some(speed) => c.positive(&speed)?,
        None => CUT_OFF * speed,
    };
    Ok(match said {
        None => Collapse::Speed(slow),
        Some(said) => match said.by.value {
            By::CutOff => Collapse::Speed(slow),
            By::HandOver => Collapse::HandOver(slow),
            By::Refuse => Collapse::Refuse,
            By::ContactTime => {
                let contact = c.positive(said.time.as_ref().expect("the reader asks for it"))?;
                Collapse::Time { contact, least: Collapse::LEAST * slow }
            }
        },
    })
}
