//! Kinds of grain, their sizes, and where they lie at the start.

use super::Context;
use crate::scene::SceneError;
use crate::scene::choice::{Arrival, CountBy, FillMethod, GrainShape};
use crate::scene::raw::{
    RawAmount, RawFeed, RawFeedRate, RawFill, RawGrains, RawRadius, RawRadiusKind, RawRegion, RawRegionKind, RawScene,
    RawVelocity,
};
use crate::scene::{Location, Spanned};
use crate::table;
use esker::advice::SizeRange;
use esker::expression::{Dimension, Quantity};
use esker::fill::drop_and_roll::DropAndRoll;
use esker::fill::feed::{Arrivals, Feed, Feeder, Rate};
use esker::fill::lattice::{Lattice, Order};
use esker::fill::random::RandomAddition;
use esker::fill::{Amount, By, FillReport, Filling, Placed, Setting, SizeLaw, Sizes};
use esker::math::{Aabb, Vec3};
use esker::model::{Kind, Model};
use esker::particles::Place;
use esker::region::Region;
use esker::rng::{Purpose, Stream, key};
use esker::shape::Shape;
use esker::solver::between::Surroundings;
use esker::state::State;

/// Kinds of grain: those of `[[grains]]`, then those of `[[feed]]`.
pub(super) fn kinds(c: &Context) -> Result<Vec<Kind>, SceneError> {
    let raw = c.raw;
    let depth = raw.depth.map_or(1.0, |d| d.value);
    if let Some(d) = &raw.depth {
        c.positive(d)?;
        if !raw.planar {
            return c.wrong(d, "has a meaning only in a planar scene (`planar = true`)");
        }
    }
    let kind = |name: &Spanned<String>, material: &Spanned<String>, shape: Option<Spanned<GrainShape>>| {
        let index = c.material(material)?;
        let shape = match shape.map(|s| (s.value, s.at)) {
            None if raw.planar => Shape::Disc { depth },
            None | Some((GrainShape::Sphere, _)) => Shape::Sphere,
            Some((GrainShape::Disc, _)) if raw.planar => Shape::Disc { depth },
            Some((GrainShape::Disc, at)) => return c.wrong(at, "needs a planar scene (`planar = true`)"),
        };
        let Some(density) = c.materials[index as usize].density else {
            return c.wrong(material, &format!("has no `density`; add it to [material.{}]", material.value));
        };
        Ok(Kind {
            name: name.value.clone(),
            material: index,
            shape,
            density,
            inertia_factor: shape.inertia_factor(),
            fixed: false,
        })
    };
    let mut kinds = Vec::new();
    for g in &raw.grains {
        let mut k = kind(&g.name, &g.material, g.shape)?;
        k.fixed = g.fixed.is_some_and(|f| f.value);
        if let Some(factors) = &g.inertia_factor {
            if factors.value.iter().any(|f| *f <= 0.0 || !f.is_finite()) {
                return c.wrong(factors, "must be above zero");
            }
            k.inertia_factor = Vec3::from_array(factors.value);
        }
        kinds.push(k);
    }
    for f in &raw.feeds {
        kinds.push(kind(&f.name, &f.material, f.shape)?);
    }
    Ok(kinds)
}

/// Grains as far as they are known before the walls are.
pub(super) struct Prepared {
    /// Size law of each `[[grains]]`; `None` where a file gives the radii.
    sizes: Vec<Option<Sizes>>,
    /// Grains of each `[[grains]]` read from a file.
    files: Vec<Option<table::Grains>>,
    /// Feeds.
    pub feeds: Vec<Feeder>,
    /// Sizes of each kind.
    pub ranges: Vec<SizeRange>,
}

impl Prepared {
    pub fn r_max(&self) -> f64 {
        self.ranges.iter().map(|r| r.r_max).fold(0.0, f64::max)
    }
}

pub(super) fn prepare(c: &Context, kinds: &[Kind]) -> Result<Prepared, SceneError> {
    let raw = c.raw;
    let mut prepared = Prepared { sizes: vec![], files: vec![], feeds: vec![], ranges: vec![] };
    let mut range = |kind: usize, r_min: f64, r_max: f64| {
        prepared.ranges.push(SizeRange { kind: kind as u16, r_min, r_max });
    };
    for (k, g) in raw.grains.iter().enumerate() {
        if let Some(file) = &g.fill.file {
            let grains = table::read(&c.folder.join(&file.value)).map_err(|e| raw.error_at(file, e.to_string()))?;
            if let Some(radius) = &g.radius {
                return c.wrong(radius, "is not needed: the file gives the radii");
            }
            let (min, max) =
                grains.radius.iter().fold((f64::INFINITY, 0.0f64), |(low, high), &r| (low.min(r), high.max(r)));
            if !(min > 0.0 && min.is_finite()) {
                return c.wrong(file, "holds no grains, or a radius that is not above zero");
            }
            range(k, min, max);
            prepared.files.push(Some(grains));
            prepared.sizes.push(None);
        } else {
            let Some(radius) = &g.radius else { return c.error(g.at, "`radius` is missing") };
            let discs = matches!(kinds[k].shape, Shape::Disc { .. });
            let sizes = size_law(c, radius)?.prepare(discs).map_err(|e| raw.error_at(radius, e.to_string()))?;
            range(k, sizes.r_min(), sizes.r_max());
            prepared.sizes.push(Some(sizes));
            prepared.files.push(None);
        }
    }
    for (f, feed) in raw.feeds.iter().enumerate() {
        let kind = raw.grains.len() + f;
        let (feeder, sizes) = feeder(c, feed, kind, &kinds[kind])?;
        prepared.ranges.push(SizeRange { kind: kind as u16, r_min: sizes.r_min(), r_max: sizes.r_max() });
        prepared.feeds.push(feeder);
    }
    Ok(prepared)
}

/// Margin of the neighbour list: a tenth of the mean diameter unless given \[m\].
pub(super) fn skin(raw: &RawScene, prepared: &Prepared) -> f64 {
    let given = raw.solver.as_ref().and_then(|s| s.skin);
    given.map_or_else(
        || {
            let n = prepared.ranges.len().max(1) as f64;
            0.1 * prepared.ranges.iter().map(|r| r.r_min + r.r_max).sum::<f64>() / n
        },
        |s| s.value,
    )
}

/// What a distribution counts: a sieve weighs unless told otherwise, all others count.
pub(super) fn count_by(radius: &RawRadius) -> CountBy {
    match (radius.by, &radius.kind) {
        (Some(by), _) => by.value,
        (None, RawRadiusKind::Sieve(_)) => CountBy::Mass,
        (None, _) => CountBy::Number,
    }
}

/// Smallest and largest radius of a normal distribution where no window is given: four standard deviations, but never
/// below a tenth of the mean \[m\].
pub(super) fn window(log: bool, mean: f64, sd: f64) -> (f64, f64) {
    if log {
        ((mean.ln() - 4.0 * sd / mean).exp(), (mean.ln() + 4.0 * sd / mean).exp())
    } else {
        ((mean - 4.0 * sd).max(0.1 * mean), mean + 4.0 * sd)
    }
}

/// Standard deviation, given relative to the mean or as a length \[m\].
pub(super) fn deviation(mean: f64, spread: &Quantity) -> f64 {
    if spread.dimension == Some(Dimension::LENGTH) { spread.value } else { spread.value * mean }
}

fn size_law(c: &Context, radius: &Spanned<RawRadius>) -> Result<SizeLaw, SceneError> {
    let by = match count_by(&radius.value) {
        CountBy::Mass => By::Mass,
        CountBy::Number => By::Number,
    };
    Ok(match &radius.value.kind {
        RawRadiusKind::One(radius) => SizeLaw::Single { radius: *radius },
        RawRadiusKind::Uniform(ends) => SizeLaw::Uniform { min: ends.value[0], max: ends.value[1], by },
        RawRadiusKind::Normal { log, mean, spread, min, max } => {
            let mean = c.positive(mean)?;
            let sd = deviation(mean, &spread.value);
            if !(sd > 0.0 && sd.is_finite()) {
                return c.wrong(spread, "must be above zero; for one size write a plain radius");
            }
            let (low, high) = window(*log, mean, sd);
            let (min, max) = (min.map_or(low, |m| m.value), max.map_or(high, |m| m.value));
            if *log {
                SizeLaw::LogNormal { median: mean, sigma: sd / mean, min, max, by }
            } else {
                SizeLaw::Normal { mean, sd, min, max, by }
            }
        }
        // A row holds an edge and what lies between it and the edge before; the first row opens the curve.
        RawRadiusKind::Sieve(rows) if rows.first().is_some_and(|row| row.1 != 0.0) => {
            return c.error(radius.at, "the first edge of a sieve has nothing below it: its fraction must be 0");
        }
        RawRadiusKind::Sieve(rows) => SizeLaw::Sieve {
            edges: rows.iter().map(|row| row.0).collect(),
            fractions: rows.iter().skip(1).map(|row| row.1).collect(),
            by,
        },
    })
}

pub(super) fn region(raw: &RawRegion) -> Region {
    match &raw.kind {
        RawRegionKind::Box(b) => Region::Box(Aabb { min: b.min.value, max: b.max.value }),
        RawRegionKind::Cylinder(c) => Region::Cylinder { from: c.from.value, to: c.to.value, radius: c.radius.value },
        RawRegionKind::Sphere(s) => Region::Sphere { centre: s.centre.value, radius: s.radius.value },
    }
}

fn feeder(c: &Context, raw: &RawFeed, index: usize, kind: &Kind) -> Result<(Feeder, Sizes), SceneError> {
    let planar = c.raw.planar;
    let discs = matches!(kind.shape, Shape::Disc { .. });
    let size = size_law(c, &raw.radius)?;
    let sizes = size.prepare(discs).map_err(|e| c.raw.error_at(&raw.radius, e.to_string()))?;
    let rate = match raw.rate.value {
        RawFeedRate::Count(rate) => Rate::Number(rate),
        RawFeedRate::Mass(_) if planar && !discs => {
            return c.wrong(&raw.rate, "does not go with spheres in a planar scene; give `rate` in grains per second");
        }
        RawFeedRate::Mass(rate) => Rate::Mass { rate, density: kind.mass(1.0) / measure_of_unit(discs) },
    };
    let velocity = match raw.velocity.as_ref().map(|v| (&v.value, v.at)) {
        None => Vec3::ZERO,
        Some((RawVelocity::Given(v), _)) => *v,
        Some((RawVelocity::Random(_), at)) => {
            return c.wrong(at, "cannot be random in a feed; give a vector");
        }
    };
    let whole = |v: &Option<Spanned<u64>>, otherwise: u32| -> Result<u32, SceneError> {
        match v {
            None => Ok(otherwise),
            Some(n) => u32::try_from(n.value).or_else(|_| c.wrong(n, "is too large")),
        }
    };
    let feed = Feed {
        region: region(&raw.region),
        size,
        rate,
        arrivals: match raw.arrival.map(|a| a.value) {
            Some(Arrival::Poisson) => Arrivals::Poisson,
            _ => Arrivals::Steady,
        },
        start: raw.start.map_or(0.0, |t| t.value),
        stop: raw.stop.map(|t| t.value),
        max_count: raw.count.map(|n| n.value),
        tries: whole(&raw.tries, 50)?,
        delay: raw.delay.map(|d| d.value),
        patience: whole(&raw.patience, 1000)?,
        velocity,
        spin: raw.spin.map_or(Vec3::ZERO, |s| s.value),
        kind: index as u16,
    };
    let feeder = feed.prepare(planar).map_err(|e| c.raw.error_at(raw.at, e.to_string()))?;
    Ok((feeder, sizes))
}

/// Volume of a unit sphere, or area of a unit disc.
fn measure_of_unit(discs: bool) -> f64 {
    esker::fill::size::grain_measure(1.0, discs)
}

/// Lays the grains of the scene into the state.
pub(super) fn fill(
    c: &Context,
    prepared: &Prepared,
    model: &Model,
    state: &mut State,
) -> Result<Vec<(String, FillReport)>, SceneError> {
    let mut reports = Vec::new();
    for (k, g) in c.raw.grains.iter().enumerate() {
        let (placed, given) = match (&prepared.files[k], &prepared.sizes[k]) {
            (Some(table), _) => (from_table(c, g, table)?, Some(table)),
            (None, Some(sizes)) => {
                let filling = lay(c, g, k, sizes, model, state)?;
                reports.push((g.name.value.clone(), filling.report));
                (filling.grains, None)
            }
            (None, None) => continue,
        };
        for (i, grain) in placed.into_iter().enumerate() {
            let own = |column: Option<&Vec<[f64; 3]>>| column.map(|v| Vec3::from_array(v[i]));
            let velocity = own(given.and_then(|t| t.velocity.as_ref()))
                .unwrap_or_else(|| initial_velocity(c, g, k as u16, i as u64));
            let spin = own(given.and_then(|t| t.angular_velocity.as_ref()))
                .unwrap_or_else(|| g.spin.map_or(Vec3::ZERO, |s| s.value));
            let kind = &model.kinds[k];
            if kind.fixed && (velocity != Vec3::ZERO || spin != Vec3::ZERO) {
                let at = g.velocity.as_ref().map_or(g.at, |v| v.at);
                return c.error(at, "fixed grains stand still: leave out `velocity` and `spin`, or use a moving wall");
            }
            let place = Place { position: grain.centre, radius: grain.radius };
            state.add(kind.grain(k as u16, place, velocity, spin));
        }
    }
    Ok(reports)
}

fn initial_velocity(c: &Context, g: &RawGrains, group: u16, i: u64) -> Vec3 {
    match g.velocity.as_ref().map(|v| &v.value) {
        None => Vec3::ZERO,
        Some(RawVelocity::Given(v)) => *v,
        Some(RawVelocity::Random([low, high])) => {
            let seed = c.raw.seed.map_or(0, |s| s.value);
            let mut stream = Stream::new(seed, Purpose::Velocity, key(group, i));
            let speed = stream.between(*low, *high);
            stream.direction(c.raw.planar) * speed
        }
    }
}

fn from_table(c: &Context, g: &RawGrains, table: &table::Grains) -> Result<Vec<Placed>, SceneError> {
    let at: Location = g.fill.file.as_ref().map_or(g.at, |f| f.at);
    if table.material.as_ref().is_some_and(|names| names.iter().any(|name| *name != g.material.value)) {
        return c.error(
            at,
            format!(
                "the file has grains of other materials than `{}`; split it, one [[grains]] each",
                g.material.value
            ),
        );
    }
    if c.raw.planar && table.position.iter().any(|p| p[2] != 0.0) {
        return c.error(at, "the file has grains off the plane z = 0 of a planar scene");
    }
    Ok(table
        .position
        .iter()
        .zip(&table.radius)
        .map(|(&p, &radius)| Placed { centre: Vec3::from_array(p), radius })
        .collect())
}

fn lay(
    c: &Context,
    g: &RawGrains,
    group: usize,
    sizes: &Sizes,
    model: &Model,
    state: &State,
) -> Result<Filling, SceneError> {
    let raw = &g.fill;
    let everywhere = Aabb { min: Vec3::NEG_INFINITY, max: Vec3::INFINITY };
    let surroundings = Surroundings::near(model, state, everywhere);
    let setting = Setting { planar: model.planar, seed: model.seed, group: group as u16, obstacles: &surroundings };
    let gravity = model.uniform_acceleration();
    let amount = |at: Location| match &raw.amount {
        Some(a) => Ok(to_amount(a.value, &model.kinds[group], sizes)),
        None => c.error(at, "tell how many: `count`, `mass` or `fraction`"),
    };
    let region = || match &raw.region {
        Some(r) => Ok(region(r)),
        None => default_region(c.raw, model).map_or_else(
            || c.error(raw.at, "tell where: `region` is missing, and no walls or domain bound the scene"),
            |b| Ok(Region::Box(b)),
        ),
    };
    let told = |e: esker::fill::FillError| c.raw.error_at(raw.at, e.to_string());
    match raw.method.value {
        FillMethod::At => {
            let positions = raw.positions.as_ref().map(|p| p.value.as_slice()).unwrap_or_default();
            let grains = positions
                .iter()
                .enumerate()
                .map(|(i, &centre)| {
                    let mut stream = Stream::new(model.seed, Purpose::Size, key(group as u16, i as u64));
                    Placed { centre, radius: sizes.sample(&mut stream) }
                })
                .collect::<Vec<_>>();
            let n = grains.len();
            Ok(Filling { grains, report: FillReport { asked: n, placed: n, tries: n as u64 } })
        }
        FillMethod::File => c.error(raw.at, "`file` is missing"),
        FillMethod::Lattice => Lattice {
            region: region()?,
            amount: raw.amount.map(|a| to_amount(a.value, &model.kinds[group], sizes)),
            spacing: raw.spacing.map(|s| s.value),
            jitter: raw.jitter.map_or(0.0, |j| j.value),
            // Without gravity there is no bottom to begin from.
            order: if gravity == Vec3::ZERO { Order::XFastest } else { Order::BottomUp },
        }
        .fill(sizes, gravity, &setting)
        .map_err(told),
        FillMethod::Random => RandomAddition { region: region()?, amount: amount(raw.at)?, tries: tries(raw) }
            .fill(sizes, &setting)
            .map_err(told),
        // A grain that rolls out through a periodic face would have to come back on the other side.
        FillMethod::DropAndRoll if model.cell.is_periodic() => {
            let error = c.raw.error_at(&raw.method, "drop-and-roll does not know periodic faces");
            Err(error.hint("use \"lattice\" or \"random\" and let the grains settle in a first stage"))
        }
        FillMethod::DropAndRoll => {
            DropAndRoll { region: region()?, amount: amount(raw.at)?, tries: tries(raw), max_fall: None }
                .fill(sizes, gravity, &setting)
                .map_err(told)
        }
    }
}

fn to_amount(raw: RawAmount, kind: &Kind, sizes: &Sizes) -> Amount {
    match raw {
        RawAmount::Count(n) => Amount::Count(n as usize),
        RawAmount::Mass(mass) => Amount::Mass { mass, density: kind.mass(1.0) / measure_of_unit(sizes.planar()) },
        RawAmount::Fraction(f) => Amount::SolidFraction(f),
    }
}

/// Where no region is given: the box around all finite walls and the domain.
pub(super) fn default_region(raw: &RawScene, model: &Model) -> Option<Aabb> {
    let mut b = raw.domain.as_ref().map_or(Aabb::EMPTY, |d| Aabb { min: d.min.value, max: d.max.value });
    for wall in &model.walls {
        let mut w = wall.surface.bounds();
        if model.planar {
            (w.min.z, w.max.z) = (-1.0, 1.0); // lines are endless across the plane
        }
        if w.min.is_finite() && w.max.is_finite() {
            b = b.union(w);
        }
    }
    if model.planar {
        (b.min.z, b.max.z) = (-1.0, 1.0);
    }
    (b.min.is_finite() && b.max.is_finite() && b.min.cmplt(b.max).all()).then_some(b)
}

/// Attempts to place a grain.
pub(super) fn tries(fill: &RawFill) -> u32 {
    let otherwise = if fill.method.value == FillMethod::DropAndRoll { 100 } else { 10_000 };
    fill.tries.map_or(otherwise, |t| t.value.min(u64::from(u32::MAX)) as u32)
}
