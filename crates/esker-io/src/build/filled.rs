//! The scene as used: the text of the user with every default written out that the format can say.
//!
//! Comments and order stay; what was added is marked `# default`. Read again, the text gives the same run to the last
//! bit (`tests/filled.rs`). Left out is what has no word: no limit of a feed, no frames, "all" fields where some have no
//! name, a rolling stiffness that follows from each contact.

use super::grains::{count_by, default_region, deviation, tries, window};
use super::{Scene, laws};
use crate::scene::choice::{self, Choice, FillMethod, NormalLaw, TangentialLaw};
use crate::scene::defaults::{self, Place, number, vector};
use crate::scene::raw::{RawContact, RawFill, RawRadius, RawRadiusKind, RawScene, RawSolver, RawStep};
use esker::law::cohesion::AnyCohesion;
use esker::law::damping::AnyDamping;
use esker::law::normal::AnyNormal;
use esker::law::rolling::AnyRolling;
use esker::law::tangential::{
    AnyTangential, Dashpot, Mindlin, Spring, Stiffness, TangentialDamping, TangentialLaw as _,
};
use esker::law::twisting::AnyTwisting;
use esker::law::{ContactEnd, Law};
use esker::math::Vec3;
use esker::model::Kind;
use esker::shape::Shape;
use toml_edit::{InlineTable, Item, Table, Value};

/// The text of a scene with its defaults written out.
pub fn filled_text(raw: &RawScene, scene: &Scene) -> String {
    let mut document = raw.document().clone();
    let root = document.as_table_mut();
    if !root.contains_key("solver") {
        root.insert("solver", Item::Table(Table::new()));
    }
    let mut place = Place::Table(root);
    place.add("title", Value::from(scene.title.as_str()));
    solver(&mut place, raw, scene);
    stages(&mut place, raw);
    grains(&mut place, raw, scene);
    feeds(&mut place, raw, scene);
    contacts(&mut place, raw, scene);
    defaults::write_declared(root, raw.planar);
    defaults::mark(raw.document().as_table(), root);
    document.to_string()
}

fn given_step(solver: Option<&RawSolver>) -> Option<bool> {
    Some(matches!(solver?.step?.value, RawStep::Given(_)))
}

/// Skin and step: in `[solver]` where one step serves all stages that do not give their own, else stage by stage.
fn solver(root: &mut Place, raw: &RawScene, scene: &Scene) {
    let of_stage = |k: usize| given_step(raw.stages.get(k).and_then(|s| s.solver.as_ref()));
    let of_scene = given_step(raw.solver.as_ref()) == Some(true);
    let inherit: Vec<usize> = (0..scene.stages.len()).filter(|&k| of_stage(k).is_none()).collect();
    let steps: Vec<f64> = inherit.iter().map(|&k| scene.stages[k].model.dt).collect();
    let common = steps.first().copied().filter(|first| steps.iter().all(|dt| dt == first));
    for mut place in root.tables("solver") {
        place.add("skin", number(scene.skin));
        if let (false, Some(dt)) = (of_scene, common) {
            replace_auto(&mut place, dt);
        }
    }
    for (k, mut stage) in root.tables("stage").into_iter().enumerate() {
        let dt = scene.stages[k].model.dt;
        match of_stage(k) {
            Some(true) => {}
            Some(false) => stage.tables("solver").iter_mut().for_each(|place| replace_auto(place, dt)),
            None if of_scene || common.is_some() => {}
            None if stage.has("solver") => {
                stage.tables("solver").iter_mut().for_each(|place| place.add("step", number(dt)))
            }
            None => stage.add("solver", Value::InlineTable(InlineTable::from_iter([("step", number(dt))]))),
        }
    }
}

fn replace_auto(place: &mut Place, dt: f64) {
    place.set("step", number(dt));
}

/// The feeds that work during a stage.
fn stages(root: &mut Place, raw: &RawScene) {
    if raw.feeds.is_empty() {
        return;
    }
    for mut stage in root.tables("stage") {
        stage.add("feeds", Value::Array(raw.feeds.iter().map(|f| f.name.value.as_str()).collect()));
    }
}

fn shape(place: &mut Place, kind: &Kind) {
    place.add(
        "shape",
        Value::from(match kind.shape {
            Shape::Sphere => "sphere",
            Shape::Disc { .. } => "disc",
        }),
    );
}

fn radius(place: &mut Place, raw: &RawRadius) {
    for mut place in place.tables("radius") {
        place.add("by", Value::from(count_by(raw).word()));
        if let RawRadiusKind::Normal { log, mean, spread, .. } = &raw.kind {
            let (low, high) = window(*log, mean.value, deviation(mean.value, &spread.value));
            place.add("min", number(low));
            place.add("max", number(high));
        }
    }
}

fn grains(root: &mut Place, raw: &RawScene, scene: &Scene) {
    let model = &scene.stages[0].model;
    for ((k, mut place), grains) in root.tables("grains").into_iter().enumerate().zip(&raw.grains) {
        let kind = &model.kinds[k];
        shape(&mut place, kind);
        let Vec3 { x, y, z } = kind.inertia_factor;
        let factor = if x == y && y == z { number(x) } else { vector([x, y, z], false) };
        place.add("inertia-factor", factor);
        if let Some(given) = &grains.radius {
            radius(&mut place, &given.value);
        }
        let largest = scene.sizes.iter().find(|s| usize::from(s.kind) == k).map_or(0.0, |s| s.r_max);
        place.tables("fill").iter_mut().for_each(|place| fill(place, &grains.fill, raw, scene, largest));
    }
}

fn fill(place: &mut Place, fill: &RawFill, raw: &RawScene, scene: &Scene, largest: f64) {
    let method = fill.method.value;
    if matches!(method, FillMethod::Lattice | FillMethod::Random | FillMethod::DropAndRoll)
        && let Some(b) = default_region(raw, &scene.stages[0].model)
    {
        let corner = |x: Vec3| vector(x.to_array(), raw.planar);
        let bounds = InlineTable::from_iter([("min", corner(b.min)), ("max", corner(b.max))]);
        place.add("region", Value::InlineTable(InlineTable::from_iter([("box", bounds)])));
    }
    match method {
        FillMethod::Lattice => place.add("spacing", number(2.0 * largest)),
        FillMethod::Random | FillMethod::DropAndRoll => place.add("tries", Value::from(i64::from(tries(fill)))),
        FillMethod::At | FillMethod::File => {}
    }
}

fn feeds(root: &mut Place, raw: &RawScene, scene: &Scene) {
    let model = &scene.stages[0].model;
    for ((k, mut place), feed) in root.tables("feed").into_iter().enumerate().zip(&raw.feeds) {
        shape(&mut place, &model.kinds[raw.grains.len() + k]);
        radius(&mut place, &feed.radius.value);
        place.add("delay", number(model.feeds[k].0.delay()));
    }
}

/// What each pair with a table of its own took from `[contact.default]`, from the materials, or from nowhere.
fn contacts(root: &mut Place, raw: &RawScene, scene: &Scene) {
    let model = &scene.stages[0].model;
    let of_grains = |m: u16| model.kinds.iter().any(|k| k.material == m);
    let used = |m: u16| of_grains(m) || model.walls.iter().any(|w| w.material == m);
    for (name, mut place) in root.named("contact") {
        let names = || model.materials.iter().map(|m| m.name.as_str());
        let Some((a, b)) = laws::split_name(&name, names()) else { continue };
        let (a, b) = (a as u16, b as u16);
        let Some(contact) = raw.contacts.iter().find(|c| c.pair.value == name) else { continue };
        if used(a) && used(b) && (of_grains(a) || of_grains(b)) {
            pair(&mut place, contact, raw, model.laws.law(a, b), [a, b]);
        }
    }
}

fn pair(place: &mut Place, contact: &RawContact, raw: &RawScene, law: &Law, materials: [u16; 2]) {
    let end = match law.end {
        ContactEnd::NoTension => choice::ContactEnd::NoTension,
        ContactEnd::Geometric => choice::ContactEnd::Geometric,
    };
    place.add("end", Value::from(end.word()));
    let none = || Value::InlineTable(InlineTable::from_iter([("law", "none")]));
    if law.cohesion == AnyCohesion::None {
        place.add("cohesion", none());
    }
    if matches!(law.rolling, AnyRolling::None(_)) {
        place.add("rolling", none());
    }
    if matches!(law.twisting, AnyTwisting::None(_)) {
        place.add("twisting", none());
    }
    if let Some(normal) = &contact.normal {
        for mut place in place.tables("normal") {
            if let (NormalLaw::Hertz, AnyNormal::Hertz(hertz)) = (normal.law.value, law.normal) {
                place.add("modulus", number(hertz.effective_modulus));
            }
            let given = !matches!(law.damping, AnyDamping::FromRestitution(_)) || normal.restitution.is_some();
            let mixed = materials.map(|m| raw.materials[usize::from(m)].restitution.map(|e| e.value));
            if let (false, [Some(a), Some(b)]) = (given, mixed) {
                place.add("restitution", number((a * b).sqrt()));
            }
        }
    }
    if contact.tangential.as_ref().is_some_and(|t| t.law.value != TangentialLaw::None) {
        for mut place in place.tables("tangential") {
            place.add("friction", number(law.tangential.friction()));
            let damping = match law.tangential {
                AnyTangential::Spring(Spring { stiffness: Stiffness::Ratio(ratio), damping, .. })
                | AnyTangential::Mindlin(Mindlin { ratio, damping, .. }) => {
                    place.add("stiffness-ratio", number(ratio));
                    damping
                }
                AnyTangential::Spring(Spring { damping, .. }) | AnyTangential::Dashpot(Dashpot { damping, .. }) => {
                    damping
                }
                _ => continue,
            };
            if let TangentialDamping::Ratio(ratio) = damping {
                place.add("damping-ratio", number(ratio));
            }
        }
    }
}
