//! Fields, removals, the stages with their models, and the step.

use super::grains::Prepared;
use super::laws::Laws;
use super::output::{self, unit};
use super::{Context, Scene, find, grains, hard, statics, walls};
use crate::scene::choice;
use crate::scene::raw::{RawDrag, RawField, RawFieldKind, RawRemovePlace, RawSolver, RawStage, RawStep};
use crate::scene::{Location, SceneError, Spanned};
use esker::advice::{self, Advice, STEPS_PER_CONTACT};
use esker::field::{
    Buoyancy, Central, Drag, DragCoefficient, ExpressionField, Field, Gravity, MutualAttraction, Only, UniformForce,
};
use esker::integrate::{Integrator, Rotation};
use esker::math::{Aabb, Vec3};
use esker::model::{Kind, Method, Model, Removal, Wall};
use esker::neighbor::PeriodicCell;
use esker::simulation::{End, Stage};
use esker::state::State;
use std::sync::Arc;

/// A field and its name, if it has one.
type NamedField = (Option<String>, Arc<dyn Field>);

pub(super) fn assemble(
    c: &Context,
    kinds: Vec<Kind>,
    prepared: Prepared,
    laws: Laws,
    walls: Vec<Wall>,
    skin: f64,
) -> Result<Scene, SceneError> {
    let raw = c.raw;
    let (output, gates) = output::plan(c, &walls)?;
    let gravity = raw.gravity.map_or(Vec3::ZERO, |g| g.value);
    let base = Model {
        planar: raw.planar,
        cell: cell(c)?,
        materials: c.materials.clone(),
        kinds,
        laws: laws.contacts,
        collisions: laws.collisions,
        walls,
        fields: vec![],
        feeds: prepared.feeds.iter().map(|f| (f.clone(), true)).collect(),
        removals: removals(c)?,
        gates,
        dt: f64::NAN,
        method: Method::Explicit,
        integrator: Integrator::default(),
        rotation: Rotation::default(),
        skin,
        seed: raw.seed.map_or(0, |s| s.value),
    };

    // Grains are laid with the walls and the gravity of the first stage.
    let mut stages = stages(c, base, gravity)?;
    let first = &stages[0].model;
    let mut state = State::new(first);
    let fills = grains::fill(c, &prepared, first, &mut state)?;

    let speed = expected_speed(&stages, &state, &prepared);
    let mut advices = Vec::new();
    let mut warnings = Vec::new();
    for (k, stage) in stages.iter_mut().enumerate() {
        let solver = raw.stages.get(k).and_then(|s| s.solver.as_ref());
        let advice = match c.solver_kind(&raw.stages[k]).value {
            choice::SolverKind::Event => hard::choose(c, stage, &raw.stages[k], &output, &prepared, speed)?,
            choice::SolverKind::Quasistatic => statics::choose(c, stage, &raw.stages[k], &output)?,
            choice::SolverKind::Explicit => choose_step(c, &mut stage.model, solver, &prepared, speed)?,
        };
        for w in advice.warnings(stage.model.dt) {
            let told = format!("stage \"{}\": {w}", stage.name);
            if !warnings.iter().any(|old: &String| old.ends_with(&w)) {
                warnings.push(told);
            }
        }
        advices.push(advice);
    }
    if let Some(w) = initial_overlap(&stages[0].model, &state) {
        warnings.push(w);
    }
    for wall in &stages[0].model.walls {
        if let esker::boundary::Surface::Mesh(mesh) = wall.surface.as_ref()
            && let Some(w) = mesh_warning(&wall.name, mesh.report())
        {
            warnings.push(w);
        }
    }
    Ok(Scene {
        title: raw.title.as_ref().map_or_else(|| raw.file_name().to_string(), |t| t.value.clone()),
        stages,
        state,
        skin,
        output,
        advice: advices,
        sizes: prepared.ranges,
        fills,
        warnings,
    })
}

fn mesh_warning(name: &str, report: esker::boundary::MeshReport) -> Option<String> {
    let mut found = Vec::new();
    for (count, what) in [
        (report.degenerate, "triangles without area (left out)"),
        (report.duplicate, "duplicate triangles"),
        (report.non_manifold_edges, "edges shared by more than two triangles"),
        (report.flipped_edges, "edges whose triangles disagree about the outside"),
    ] {
        if count > 0 {
            found.push(format!("{count} {what}"));
        }
    }
    (!found.is_empty()).then(|| format!("mesh of wall \"{name}\" has {}", found.join(", ")))
}

fn cell(c: &Context) -> Result<PeriodicCell, SceneError> {
    let Some(domain) = &c.raw.domain else { return Ok(PeriodicCell::OPEN) };
    let size = domain.max.value - domain.min.value;
    let mut length = [None; 3];
    for axis in &domain.periodic {
        let k = axis.value as usize;
        if c.raw.planar && k == 2 {
            return c.wrong(axis, "cannot be periodic in a planar scene: nothing moves along z");
        }
        if !(size[k] > 0.0 && size[k].is_finite()) {
            return c.wrong(&domain.max, "must be above `min` along every periodic axis");
        }
        length[k] = Some(size[k]);
    }
    Ok(PeriodicCell { origin: domain.min.value, length })
}

fn removals(c: &Context) -> Result<Vec<Removal>, SceneError> {
    c.raw
        .removals
        .iter()
        .map(|r| {
            Ok(match &r.place {
                RawRemovePlace::Below(p) => Removal::Below { normal: unit(p.axis), offset: p.at.value },
                RawRemovePlace::Above(p) => Removal::Below { normal: -unit(p.axis), offset: -p.at.value },
                RawRemovePlace::Inside(r) => Removal::Inside(grains::region(r)),
                RawRemovePlace::Outside(r) => Removal::Outside(grains::region(r)),
            })
        })
        .collect()
}

/// The fields of `[[field]]` with their names; buoyancy takes the gravity of the stage.
fn fields(c: &Context, model: &Model, gravity: Vec3) -> Result<Vec<NamedField>, SceneError> {
    let mut fields = Vec::new();
    for f in &c.raw.fields {
        let field: Arc<dyn Field> = match &f.kind {
            RawFieldKind::Acceleration(a) => Arc::new(Gravity { acceleration: a.value }),
            RawFieldKind::Force(force) => Arc::new(UniformForce { force: force.value }),
            RawFieldKind::Drag { strength, flow } => Arc::new(Drag {
                coefficient: match strength {
                    RawDrag::Coefficient(k) => DragCoefficient::Constant(c.not_negative(k)?),
                    RawDrag::Viscosity(eta) => DragCoefficient::Stokes(c.not_negative(eta)?),
                },
                flow: flow.map_or(Vec3::ZERO, |u| u.value),
            }),
            RawFieldKind::Buoyancy { fluid_density } => Arc::new(Buoyancy {
                fluid_density: c.not_negative(fluid_density)?,
                gravity,
                shapes: model.kinds.iter().map(|k| k.shape).collect(),
            }),
            RawFieldKind::Central { centre, strength, exponent } => Arc::new(Central {
                centre: centre.map_or(Vec3::ZERO, |x| x.value),
                strength: strength.value.value,
                exponent: exponent.value,
                cell: model.cell,
            }),
            RawFieldKind::Attraction { constant, every } => {
                if let Some(zero) = every.filter(|every| every.value == 0) {
                    return c.error(zero.at, "`every` is 0 steps: give 1 or more");
                }
                let every = every.map_or(1, |every| every.value);
                Arc::new(MutualAttraction { constant: constant.value, cell: model.cell, every })
            }
            RawFieldKind::Expression { force } => {
                let zero = esker::expression::Program::compile("0", &esker::field::SLOTS)
                    .map_err(|e| c.raw.error_at(f.at, e.to_string()))?;
                let component = |k: usize| force.get(k).map_or_else(|| zero.clone(), |p| p.value.clone());
                Arc::new(ExpressionField { force: std::array::from_fn(component), cell: model.cell })
            }
        };
        let field: Arc<dyn Field> = match &f.grains {
            None => field,
            Some(names) if matches!(f.kind, RawFieldKind::Attraction { .. }) => {
                let at = names.first().map_or(f.at, |n| n.at);
                return c.error(at, "attraction acts between all grains; leave out `grains`");
            }
            Some(names) => {
                let mut on = vec![false; model.kinds.len()];
                for name in names {
                    on[find(c.raw, name, "grains", model.kinds.iter().map(|k| k.name.as_str()))?] = true;
                }
                Arc::new(Only { field, kinds: on })
            }
        };
        fields.push((f.name.as_ref().map(|n| n.value.clone()), field));
    }
    Ok(fields)
}

/// Every stage goes on from the one before: walls stay open or closed and keep their motion until told otherwise.
fn stages(c: &Context, base: Model, gravity: Vec3) -> Result<Vec<Stage>, SceneError> {
    type Names<'n> = Option<&'n Vec<Spanned<String>>>;
    let all = |model: &Model, gravity: Vec3, names: Names| -> Result<Vec<Arc<dyn Field>>, SceneError> {
        let fields = fields(c, model, gravity)?;
        let mut chosen: Vec<Arc<dyn Field>> = Vec::new();
        if gravity != Vec3::ZERO {
            chosen.push(Arc::new(Gravity { acceleration: gravity }));
        }
        let known = || fields.iter().filter_map(|f| f.0.as_deref());
        if let Some(names) = names {
            for name in names {
                find(c.raw, name, "fields", known())?;
            }
        }
        chosen.extend(
            fields
                .iter()
                .filter(|(name, _)| {
                    names.is_none_or(|n| name.as_ref().is_some_and(|f| n.iter().any(|w| w.value == *f)))
                })
                .map(|(_, field)| field.clone()),
        );
        Ok(chosen)
    };
    if c.raw.stages.is_empty() {
        return c.error(Location::START, "the scene has no [[stage]]: add one with a `duration` or `until`");
    }
    let mut stages: Vec<Stage> = Vec::new();
    let mut model = base;
    let mut gravity = gravity;
    for raw in &c.raw.stages {
        if let Some(g) = &raw.gravity {
            gravity = g.value;
        }
        model.fields = all(&model, gravity, raw.fields.as_ref())?;
        for (names, active) in [(&raw.open, false), (&raw.close, true)] {
            for name in names {
                find(c.raw, name, "walls and gaps", model.walls.iter().map(|w| w.name.as_str()))?;
                model.walls.iter_mut().filter(|w| w.name == name.value).for_each(|w| w.active = active);
            }
        }
        for (name, parts) in &raw.motion {
            find(c.raw, name, "walls and gaps", model.walls.iter().map(|w| w.name.as_str()))?;
            let motion = walls::motion(c, parts)?;
            model.walls.iter_mut().filter(|w| w.name == name.value).for_each(|w| w.motion = motion.clone());
        }
        let feeds: Vec<&str> = c.raw.feeds.iter().map(|f| f.name.value.as_str()).collect();
        for name in raw.feeds.iter().flatten() {
            find(c.raw, name, "feeds", feeds.iter().copied())?;
        }
        for (k, feed) in model.feeds.iter_mut().enumerate() {
            feed.1 = raw.feeds.as_ref().is_none_or(|names| names.iter().any(|n| n.value == feeds[k]));
        }
        stages.push(Stage { name: raw.name.value.clone(), model: model.clone(), end: end(c, raw)? });
    }
    Ok(stages)
}

fn end(c: &Context, raw: &RawStage) -> Result<End, SceneError> {
    let mut end = End { duration: raw.duration.as_ref().map(|d| c.not_negative(d)).transpose()?, ..End::default() };
    if let Some(until) = &raw.until {
        end.kinetic_energy_below = until.kinetic_energy.as_ref().map(|e| c.positive(e)).transpose()?;
        // "count-below = 5" ends when fewer than 5 are left, "count-above = 5" when more than 5 are there.
        end.count_at_most = until.count_below.map(|n| n.value.saturating_sub(1));
        end.count_at_least = until.count_above.map(|n| n.value.saturating_add(1));
        end.until_time = until.time.map(|t| t.value);
    }
    if end == End::default() {
        return c.error(raw.at, "the stage has no end: give `duration`, or `until = { … }`");
    }
    Ok(end)
}

/// Speed of impact to expect: of the grains at the start, feeds and walls, and of a fall through the scene \[m/s\].
fn expected_speed(stages: &[Stage], state: &State, prepared: &Prepared) -> f64 {
    let mut speed = state.particles.motion.iter().map(|m| m.velocity.length()).fold(0.0, f64::max);
    let mut extent = Aabb::EMPTY;
    for p in &state.particles.place {
        extent = extent.including(p.position);
    }
    for feed in &prepared.feeds {
        speed = speed.max(feed.feed().velocity.length());
        extent = extent.union(feed.feed().region.bounds());
    }
    let mut fastest_fall = 0.0f64;
    for stage in stages {
        let mut walls = extent;
        for wall in &stage.model.walls {
            let b = wall.surface.bounds();
            let finite = |low: f64, high: f64| low.is_finite() && high.is_finite();
            for k in 0..3 {
                if finite(b.min[k], b.max[k]) {
                    walls.min[k] = walls.min[k].min(b.min[k]);
                    walls.max[k] = walls.max[k].max(b.max[k]);
                }
            }
            if let esker::boundary::Surface::Plane(plane) = wall.surface.as_ref() {
                walls = walls.including(plane.point);
            }
            let reach = if b.min.is_finite() && b.max.is_finite() { b.size().length() } else { 0.0 };
            speed = speed.max(wall.motion.speed_bound(reach));
        }
        let g = stage.model.uniform_acceleration();
        let size = walls.size();
        if size.is_finite() {
            let drop = g.abs().dot(size.max(Vec3::ZERO));
            fastest_fall = fastest_fall.max((2.0 * drop).sqrt());
        }
    }
    let smallest = prepared.ranges.iter().map(|r| r.r_min).fold(f64::INFINITY, f64::min);
    // Never nothing: a diameter per second.
    speed.max(fastest_fall).max(2.0 * smallest)
}

fn integrator(choice: choice::Integrator) -> Integrator {
    match choice {
        choice::Integrator::VelocityVerlet => Integrator::VelocityVerlet,
        choice::Integrator::LeapFrog => Integrator::LeapFrog,
        choice::Integrator::SymplecticEuler => Integrator::SymplecticEuler,
        choice::Integrator::Gear => Integrator::Gear,
        choice::Integrator::Gear3 => Integrator::Gear3,
        choice::Integrator::Gear4 => Integrator::Gear4,
        choice::Integrator::ExplicitEuler => Integrator::ExplicitEuler,
        choice::Integrator::Taylor => Integrator::Taylor,
        choice::Integrator::AdamsBashforth => Integrator::AdamsBashforth,
        choice::Integrator::Beeman => Integrator::Beeman,
        choice::Integrator::Newmark => Integrator::Newmark,
        choice::Integrator::Hermite => Integrator::Hermite,
        choice::Integrator::RungeKutta => Integrator::RungeKutta,
    }
}

/// Sets integrator, skin and step of a stage.
pub(super) fn choose_step(
    c: &Context,
    model: &mut Model,
    stage: Option<&RawSolver>,
    prepared: &Prepared,
    speed: f64,
) -> Result<Advice, SceneError> {
    let scene = c.raw.solver.as_ref();
    fn pick<T: Copy>(
        stage: Option<&RawSolver>,
        scene: Option<&RawSolver>,
        get: impl Fn(&RawSolver) -> Option<Spanned<T>>,
    ) -> Option<Spanned<T>> {
        stage.and_then(&get).or_else(|| scene.and_then(&get))
    }
    model.integrator = pick(stage, scene, |s| s.integrator).map_or(Integrator::default(), |i| integrator(i.value));
    model.rotation = match pick(stage, scene, |s| s.rotation) {
        Some(Spanned { value: choice::Rotation::EulerAngles, at }) => {
            if model.integrator.scheme().has_own_rotation() {
                let name = model.integrator.name();
                let message = format!(
                    "`rotation = \"euler-angles\"` has no effect with `integrator = \"{name}\"`, which turns bodies by quaternions in its own way: leave it out, or take another integrator"
                );
                return c.error(at, message);
            }
            Rotation::EulerAngles
        }
        _ => Rotation::Quaternions,
    };
    if !model.integrator.scheme().takes_impulses()
        && let Some(field) = model.fields.iter().find(|field| field.every() > 1)
    {
        let message = format!(
            "`{}` acts every {} steps, as impulses, which `integrator = \"{}\"` does not take: leave `every` out, or take velocity-verlet",
            field.name(),
            field.every(),
            model.integrator.name()
        );
        let acts = |f: &&RawField| matches!(&f.kind, RawFieldKind::Attraction { every: Some(n), .. } if n.value > 1);
        return c.error(c.raw.fields.iter().find(acts).map_or(c.raw.stages[0].at, |f| f.at), message);
    }
    if let Some(skin) = pick(stage, scene, |s| s.skin) {
        model.skin = c.positive(&skin)?;
    }
    let steps = match pick(stage, scene, |s| s.steps_per_contact) {
        Some(n) => c.positive(&n)?,
        None => STEPS_PER_CONTACT,
    };
    let advice = advice::advise(model, &prepared.ranges, speed, steps);
    model.dt = match pick(stage, scene, |s| s.step) {
        Some(Spanned { value: RawStep::Given(dt), at }) => c.positive(&Spanned { value: dt, at })?,
        _ if advice.step.is_normal() && advice.step > 0.0 => advice.step,
        _ if advice.step.is_finite() => {
            let message = format!(
                "no step can be found: contacts at {} m/s would ask for {} s; check the numbers, or give `step` in [solver]",
                advice.speed, advice.step
            );
            return c.error(c.raw.stages[0].at, message);
        }
        _ => return c.error(c.raw.stages[0].at, "no contact asks for a step: give `step` in [solver]"),
    };
    Ok(advice)
}

/// A warning when grains overlap deeply at the start.
fn initial_overlap(model: &Model, state: &State) -> Option<String> {
    let p = &state.particles;
    let found = esker::neighbor::search(&p.place, &model.cell, 0.0, esker::neighbor::Method::Grid).ok()?;
    let mut worst = (0.0f64, 0usize, 0usize);
    for i in 0..p.owned() {
        for &j in found.row(i) {
            let j = j as usize;
            if j < p.owned() {
                let depth = p.radius(i) + p.radius(j) - p.position(i).distance(p.position(j));
                let relative = depth / p.radius(i).min(p.radius(j));
                if relative > worst.0 && !(p.is_fixed(i) && p.is_fixed(j)) {
                    worst = (relative, i, j);
                }
            }
        }
    }
    (worst.0 > advice::LARGE_OVERLAP).then(|| {
        format!(
            "grains {} and {} overlap by {:.0} % of the smaller radius at the start; they will be thrown apart",
            p.id[worst.1],
            p.id[worst.2],
            100.0 * worst.0
        )
    })
}
