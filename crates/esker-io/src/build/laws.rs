//! Materials and the law of every pair of them.

use super::{Context, presets};
use crate::scene::choice;
use crate::scene::raw::{RawContact, RawRolling, RawScene, RawTangential, RawTwisting};
use crate::scene::{Location, SceneError};
use esker::advice::SizeRange;
use esker::expression::Dimension;
use esker::law::collision::Collision;
use esker::law::damping::AnyDamping;
use esker::law::normal::AnyNormal;
use esker::law::rolling::{AnyRolling, ConstantTorque, ElasticPlastic, NoRolling, Viscous};
use esker::law::tangential::{
    AnyTangential, Dashpot, Langston, Literal, Mindlin, NoTangential, PartialSlip, Rule, Spring, Stiffness,
    TangentialDamping, TangentialLaw,
};
use esker::law::twisting::{AnyTwisting, Marshall, NoTwisting, TwistSpring};
use esker::law::{ContactEnd, Law};
use esker::model::{Kind, Material, PairTable};

/// Tangential over normal stiffness where nothing is said: the value at which both directions of a sphere's contact
/// swing with the same period.
const STIFFNESS_RATIO: f64 = 2.0 / 7.0;
/// Damping of rolling and twisting springs where nothing is said, of critical.
const ROLLING_DAMPING: f64 = 0.3;

pub(super) fn materials(raw: &RawScene) -> Result<Vec<Material>, SceneError> {
    let depth = raw.depth.map_or(1.0, |d| d.value);
    raw.materials
        .iter()
        .map(|m| {
            let within = |v: &Option<crate::scene::Spanned<f64>>, low: f64, high: f64, says: &str| match v {
                Some(v) if !(v.value > low && v.value < high) => Err(raw.error_at(v, raw.subject(v, says))),
                _ => Ok(()),
            };
            within(&m.youngs_modulus, 0.0, f64::INFINITY, "must be above zero")?;
            within(&m.poisson_ratio, -1.0, 0.500001, "must lie between -1 and 0.5")?;
            let density = match m.density {
                None => None,
                Some(d) => {
                    if !(d.value.value > 0.0 && d.value.value.is_finite()) {
                        return Err(raw.error_at(&d, raw.subject(&d, "must be above zero")));
                    }
                    // A mass per area belongs to discs of the scene's depth.
                    let per_area = d.value.dimension == Some(Dimension::AREA_DENSITY);
                    Some(if per_area { d.value.value / depth } else { d.value.value })
                }
            };
            Ok(Material {
                name: m.name.value.clone(),
                density,
                youngs_modulus: m.youngs_modulus.map(|e| e.value),
                poisson_ratio: m.poisson_ratio.map(|n| n.value),
            })
        })
        .collect()
}

/// Laws of the pairs of materials.
pub(super) struct Laws {
    pub contacts: PairTable,
    pub collisions: PairTable<Collision>,
}

/// The laws of every pair that can meet; pairs of two walls' materials never do and repeat any other.
pub(super) fn tables(context: &Context, kinds: &[Kind], sizes: &[SizeRange]) -> Result<Laws, SceneError> {
    let raw = context.raw;
    let n = context.materials.len();
    let mut explicit: Vec<Option<&RawContact>> = vec![None; n * n];
    let mut default = None;
    for contact in &raw.contacts {
        if contact.pair.value == "default" {
            default = Some(contact);
            continue;
        }
        let (a, b) = split(context, contact)?;
        for k in [a * n + b, b * n + a] {
            if explicit[k].is_some_and(|other| !std::ptr::eq(other, contact)) {
                return Err(raw.error_at(
                    &contact.pair,
                    format!(
                        "the contact of `{}` with `{}` is given twice",
                        raw.materials[a].name.value, raw.materials[b].name.value
                    ),
                ));
            }
            explicit[k] = Some(contact);
        }
    }
    let mut of_grains = vec![false; n];
    kinds.iter().for_each(|k| of_grains[k.material as usize] = true);
    let mut used = of_grains.clone();
    for wall in &raw.walls {
        used[context.material(&wall.material)? as usize] = true;
    }
    let mut laws = vec![None; n * n];
    for a in 0..n {
        for b in a..n {
            if used[a] && used[b] && (of_grains[a] || of_grains[b]) {
                let pair = Pair { context, a, b, explicit: explicit[a * n + b], default };
                let soft = pair.law()?;
                let collision = pair.collision(soft.as_ref(), kinds, sizes)?;
                laws[a * n + b] = Some((soft.unwrap_or(Law::none()), collision));
            }
        }
    }
    let any = laws.iter().flatten().next().copied();
    let Some(any) = any else {
        return context.error(Location::START, "the scene has no grains: add [[grains]] or a [[feed]]");
    };
    let of = |a: usize, b: usize| laws[a * n + b].unwrap_or(any);
    Ok(Laws { contacts: PairTable::new(n, |a, b| of(a, b).0), collisions: PairTable::new(n, |a, b| of(a, b).1) })
}

/// The materials of `A-B`, whose names may hold hyphens themselves.
pub(super) fn split_name<'m>(name: &str, materials: impl Iterator<Item = &'m str> + Clone) -> Option<(usize, usize)> {
    let index = |part: &str| materials.clone().position(|m| m == part);
    name.match_indices('-').find_map(|(k, _)| Some((index(&name[..k])?, index(&name[k + 1..])?)))
}

fn split(context: &Context, contact: &RawContact) -> Result<(usize, usize), SceneError> {
    let name = contact.pair.value.as_str();
    if let Some(pair) = split_name(name, context.materials.iter().map(|m| m.name.as_str())) {
        return Ok(pair);
    }
    let index = |part: &str| context.materials.iter().position(|m| m.name == part);
    let known = context.materials.iter().map(|m| m.name.clone());
    let wrong = name.split('-').find(|part| index(part).is_none()).unwrap_or(name);
    Err(context
        .raw
        .error_at(&contact.pair, format!("`[contact.{name}]` does not name two materials"))
        .known("materials", wrong, known)
        .hint("write [contact.A-B] with two of them, or [contact.default]"))
}

/// What a contact table says, and the published set it names.
struct Layer<'a> {
    table: &'a RawContact,
    preset: Option<RawContact>,
}

impl<'a> Layer<'a> {
    fn new(table: &'a RawContact) -> Self {
        Layer { table, preset: table.preset.as_ref().map(|p| presets::contact(p.value, p.at)) }
    }
}

/// What a scene and a published set say of a slot.
struct Said<'a, T> {
    given: Option<&'a T>,
    published: Option<&'a T>,
}

/// The table of the pair comes before its preset, and that before table and preset of the default.
fn said<'a, T>(layers: &'a [Layer], get: impl Fn(&RawContact) -> Option<&T>) -> Said<'a, T> {
    let mut given = None;
    for layer in layers {
        given = given.or_else(|| get(layer.table));
        let published = layer.preset.as_ref().and_then(&get);
        if published.is_some() {
            return Said { given, published };
        }
    }
    Said { given, published: None }
}

/// One pair of materials and what the scene says of it.
pub(super) struct Pair<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) a: usize,
    pub(super) b: usize,
    explicit: Option<&'a RawContact>,
    default: Option<&'a RawContact>,
}

impl Pair<'_> {
    pub(super) fn names(&self) -> String {
        let m = &self.context.materials;
        format!("{}-{}", m[self.a].name, m[self.b].name)
    }

    /// The first contact table that says something.
    pub(super) fn slot<T>(&self, get: impl Fn(&RawContact) -> Option<&T>) -> Option<&T> {
        self.explicit.and_then(&get).or_else(|| self.default.and_then(&get))
    }

    pub(super) fn place(&self) -> crate::scene::Location {
        let raw = self.context.raw;
        self.explicit
            .or(self.default)
            .map(|c| c.pair.at)
            .unwrap_or_else(|| raw.materials[self.b.min(raw.materials.len() - 1)].name.at)
    }

    /// A property that is mixed from both materials: the geometric mean.
    pub(super) fn mixed(&self, get: impl Fn(usize) -> Option<f64>) -> Option<f64> {
        Some((get(self.a)? * get(self.b)?).sqrt())
    }

    /// What a scene and a published set say of the force against sliding.
    pub(super) fn said_of_tangential(&self) -> Option<RawTangential> {
        let layers = self.layers();
        let Said { given, published } = said(&layers, |c| c.tangential.as_ref());
        presets::tangential(given, published)
    }

    fn layers(&self) -> Vec<Layer<'_>> {
        [self.explicit, self.default].into_iter().flatten().map(Layer::new).collect()
    }

    /// The law of soft contacts; `None` if there is none and no stage needs one.
    fn law(&self) -> Result<Option<Law>, SceneError> {
        let layers = self.layers();
        let end = said(&layers, |c| c.end.as_ref());
        let end = match end.given.or(end.published).map(|e| e.value) {
            Some(choice::ContactEnd::Geometric) => ContactEnd::Geometric,
            Some(choice::ContactEnd::NoTension) | None => ContactEnd::NoTension,
        };
        // What stands beside a preset completes a slot of the same law, and replaces one of another.
        let Said { given, published } = said(&layers, |c| c.normal.as_ref());
        // A dashpot of the default is not meant for the normal law of a pair's own preset.
        let own = |layer: &Layer| layer.preset.as_ref().is_some_and(|p| p.normal.is_some());
        let until = layers.iter().position(own).map_or(layers.len(), |k| k + 1);
        let dashpot = layers[..until].iter().find_map(|layer| layer.table.dashpot.as_ref());
        if let (Some(dashpot), None, Some(_)) = (dashpot, given, published) {
            return self
                .context
                .wrong(&dashpot.law, "needs `normal` beside it: the preset has a normal law of its own");
        }
        let normal = presets::normal(given, published);
        if normal.is_none() && self.effective_modulus().is_none() && !self.context.is_soft() {
            return Ok(None);
        }
        let (normal, damping) = self.normal(normal.as_ref(), dashpot, end)?;
        let mut law = Law { damping, end, ..Law::elastic(normal) };
        law.tangential = self.tangential(self.said_of_tangential().as_ref(), &law)?;
        if let Some(raw) = self.slot(|c| c.cohesion.as_ref()) {
            law.cohesion = self.cohesion(raw, &law.normal)?;
        }
        if let Some(raw) = self.slot(|c| c.rolling.as_ref()) {
            law.rolling = self.rolling(raw)?;
        }
        if let Some(raw) = self.slot(|c| c.twisting.as_ref()) {
            law.twisting = self.twisting(raw, &law)?;
        }
        Ok(Some(law))
    }

    /// E*: 1/E* = (1−ν²)/E of both.
    pub(super) fn effective_modulus(&self) -> Option<f64> {
        let compliance = |m: usize| {
            let m = &self.context.materials[m];
            Some((1.0 - m.poisson_ratio?.powi(2)) / m.youngs_modulus?)
        };
        Some(1.0 / (compliance(self.a)? + compliance(self.b)?))
    }

    /// G*: 1/G* = (2−ν)/G of both.
    fn effective_shear_modulus(&self) -> Option<f64> {
        let compliance = |m: usize| {
            let m = &self.context.materials[m];
            let nu = m.poisson_ratio?;
            Some((2.0 - nu) * 2.0 * (1.0 + nu) / m.youngs_modulus?)
        };
        Some(1.0 / (compliance(self.a)? + compliance(self.b)?))
    }

    pub(super) fn friction(&self, given: Option<&crate::scene::Spanned<f64>>) -> Result<Option<f64>, SceneError> {
        match given {
            Some(mu) => self.context.not_negative(mu).map(Some),
            None => Ok(self.mixed(|m| self.context.raw.materials[m].friction.map(|mu| mu.value))),
        }
    }

    fn tangential(&self, raw: Option<&RawTangential>, law: &Law) -> Result<AnyTangential, SceneError> {
        let c = self.context;
        // Laws whose stiffness is that of a round contact area.
        let hertz = matches!(
            law.normal,
            AnyNormal::Hertz(_) | AnyNormal::Jkr(_) | AnyNormal::Thornton(_) | AnyNormal::ThorntonNing(_)
        );
        let Some(r) = raw else {
            // Nothing said: friction of the materials, with the spring that goes with the normal law.
            return Ok(match self.friction(None)? {
                None => AnyTangential::None(NoTangential),
                Some(friction) => match (hertz, self.mindlin_ratio()) {
                    (true, Some(ratio)) => {
                        AnyTangential::Mindlin(Mindlin { ratio, damping: TangentialDamping::Ratio(1.0), friction })
                    }
                    _ => AnyTangential::Spring(Spring {
                        stiffness: Stiffness::Ratio(STIFFNESS_RATIO),
                        damping: TangentialDamping::Ratio(1.0),
                        friction,
                    }),
                },
            });
        };
        use choice::TangentialLaw as Which;
        if r.law.value == Which::None {
            return Ok(AnyTangential::None(NoTangential));
        }
        let friction = self.friction(r.friction.as_ref())?.ok_or_else(|| {
            c.raw.error_at(
                r.at,
                format!("`friction` is missing for {}: give it here or in both materials", self.names()),
            )
        })?;
        let damping = match (&r.damping, &r.rate, &r.damping_ratio) {
            (Some(d), _, _) => TangentialDamping::Coefficient(c.not_negative(d)?),
            (_, Some(rate), _) => TangentialDamping::PerMass(c.not_negative(rate)?),
            (_, _, Some(ratio)) => TangentialDamping::Ratio(c.not_negative(ratio)?),
            // Partial slip damps by itself; a spring without any damping would ring for ever.
            _ if matches!(r.law.value, Which::WaltonBraun | Which::MindlinDeresiewicz) => TangentialDamping::None,
            _ => TangentialDamping::Ratio(1.0),
        };
        let stiffness = || {
            Ok(match (&r.stiffness, &r.stiffness_ratio) {
                (Some(k), _) => Stiffness::Given(c.positive(k)?),
                (None, Some(ratio)) => Stiffness::Ratio(c.positive(ratio)?),
                (None, None) => Stiffness::Ratio(STIFFNESS_RATIO),
            })
        };
        let mindlin_ratio = || {
            if !hertz {
                return c.wrong(
                    &r.law,
                    "goes with `hertz`, `jkr`, `thornton` and `thornton-ning` only; use \"spring\" beside others",
                );
            }
            match &r.stiffness_ratio {
                Some(ratio) => c.positive(ratio),
                None => self.mindlin_ratio().ok_or_else(|| {
                    let law = choice::Choice::word(r.law.value);
                    c.raw.error_at(
                        r.at,
                        format!(
                            "{law} between {} needs `youngs-modulus` and `poisson-ratio` of both materials, or `stiffness-ratio`",
                            self.names()
                        ),
                    )
                }),
            }
        };
        Ok(match r.law.value {
            Which::None => AnyTangential::None(NoTangential),
            Which::Dashpot => {
                let nothing = match damping {
                    TangentialDamping::None => true,
                    TangentialDamping::Coefficient(c) | TangentialDamping::PerMass(c) => c == 0.0,
                    TangentialDamping::Ratio(ratio) => ratio == 0.0 || matches!(law.damping, AnyDamping::None),
                };
                if nothing && friction > 0.0 {
                    return c.wrong(
                        &r.law,
                        "would give no friction at all: its own coefficient is zero, or it goes by the dashpot of the normal law \
                         and that has none; give `rate` or `damping`, or friction = 0",
                    );
                }
                AnyTangential::Dashpot(Dashpot { damping, friction })
            }
            Which::Spring => AnyTangential::Spring(Spring { stiffness: stiffness()?, damping, friction }),
            Which::Literal => AnyTangential::Literal(Literal { stiffness: stiffness()?, damping, friction }),
            Which::Mindlin => AnyTangential::Mindlin(Mindlin { ratio: mindlin_ratio()?, damping, friction }),
            Which::WaltonBraun => {
                let exponent = match &r.exponent {
                    Some(a) if a.value >= 1.0 => return c.wrong(a, "must be below 1, or the limit is never reached"),
                    Some(a) => c.positive(a)?,
                    None => 1.0 / 3.0,
                };
                let rule = Rule::WaltonBraun;
                AnyTangential::PartialSlip(PartialSlip { rule, stiffness: stiffness()?, exponent, damping, friction })
            }
            Which::MindlinDeresiewicz => AnyTangential::PartialSlip(PartialSlip {
                rule: Rule::Mindlin,
                stiffness: Stiffness::Ratio(mindlin_ratio()?),
                exponent: 1.0 / 3.0,
                damping,
                friction,
            }),
            Which::Langston => {
                let Some(compliance) = &r.compliance else { return c.error(r.at, "langston needs `compliance`") };
                let compliance = c.positive(compliance)?;
                AnyTangential::Langston(Langston { compliance, friction })
            }
        })
    }

    /// Mindlin's tangential over normal stiffness, 4 G*/E*.
    fn mindlin_ratio(&self) -> Option<f64> {
        Some(4.0 * self.effective_shear_modulus()? / self.effective_modulus()?)
    }

    fn rolling(&self, r: &RawRolling) -> Result<AnyRolling, SceneError> {
        use choice::RollingLaw as Which;
        let c = self.context;
        let friction = || match &r.friction {
            Some(mu) => c.not_negative(mu),
            None => c.error(r.at, "rolling resistance needs `friction`"),
        };
        Ok(match r.law.value {
            Which::None => AnyRolling::None(NoRolling),
            Which::Constant => AnyRolling::Constant(ConstantTorque { friction: friction()? }),
            Which::Viscous => AnyRolling::Viscous(Viscous {
                friction: c.not_negative(r.viscosity.as_ref().expect("the reader asks for it"))?,
            }),
            Which::Spring => AnyRolling::Spring(ElasticPlastic {
                friction: friction()?,
                stiffness: r.stiffness.as_ref().map(|k| c.positive(k)).transpose()?,
                damping_ratio: r.damping_ratio.as_ref().map_or(Ok(ROLLING_DAMPING), |d| c.not_negative(d))?,
            }),
        })
    }

    fn twisting(&self, r: &RawTwisting, law: &Law) -> Result<AnyTwisting, SceneError> {
        use choice::TwistingLaw as Which;
        let c = self.context;
        let damping_ratio = r.damping_ratio.as_ref().map_or(Ok(ROLLING_DAMPING), |d| c.not_negative(d))?;
        let friction = r.friction.as_ref().map(|mu| c.not_negative(mu)).transpose()?;
        Ok(match r.law.value {
            Which::None => AnyTwisting::None(NoTwisting),
            Which::Spring => {
                let Some(friction) = friction else { return c.error(r.at, "twisting resistance needs `friction`") };
                let stiffness = r.stiffness.as_ref().map(|k| c.positive(k)).transpose()?;
                AnyTwisting::Spring(TwistSpring { friction, stiffness, damping_ratio })
            }
            Which::Marshall => {
                let stiffness_ratio = match (&r.stiffness_ratio, law.tangential) {
                    (Some(ratio), _) => c.positive(ratio)?,
                    (None, AnyTangential::Mindlin(Mindlin { ratio, .. }))
                    | (None, AnyTangential::Spring(Spring { stiffness: Stiffness::Ratio(ratio), .. }))
                    | (None, AnyTangential::PartialSlip(PartialSlip { stiffness: Stiffness::Ratio(ratio), .. })) => {
                        ratio
                    }
                    _ => return c.error(r.at, "marshall needs `stiffness-ratio` beside this tangential law"),
                };
                let friction = friction.unwrap_or(law.tangential.friction());
                AnyTwisting::Marshall(Marshall { stiffness_ratio, friction, damping_ratio })
            }
        })
    }
}
