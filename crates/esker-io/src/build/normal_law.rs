//! The normal law of a pair of materials, its dashpot and its attraction.

use super::laws::Pair;
use crate::scene::choice::{self, CohesionLaw, DashpotLaw, NormalLaw};
use crate::scene::raw::{RawCohesion, RawDashpot, RawNormal};
use crate::scene::{SceneError, Spanned};
use esker::law::ContactEnd;
use esker::law::cohesion::{AnyCohesion, Capillary, Dmt, Kohring};
use esker::law::damping::{
    AnyDamping, Coefficient, FromRestitution, HuntCrossley, KuwabaraKono, LankaraniNikravesh, OverlapRate, PerMass,
    PowerDashpot, Viscoelastic,
};
use esker::law::normal::{
    AnyNormal, Chang, Displacement, Hertz, Hooke, Jkr, Langston, Luding, Overlap, Power, Region, Sadd, Scale,
    ScaledHooke, Thornton, ThorntonNing, TwelveSix, WaltonBraun,
};

/// Least speed of impact where nothing is said \[m/s\].
const SLOWEST: f64 = 1e-3;

/// A key the reader has found, since the law requires it.
const REQUIRED: &str = "the reader asks for it";

impl Pair<'_> {
    /// The normal law and what damps it.
    pub(super) fn normal(
        &self,
        raw: Option<&RawNormal>,
        dashpot: Option<&RawDashpot>,
        end: ContactEnd,
    ) -> Result<(AnyNormal, AnyDamping), SceneError> {
        let Some(r) = raw else {
            let normal = self.normal_of_materials()?;
            return Ok((normal, self.damping(None, dashpot, &normal, end)?));
        };
        let c = self.context;
        let normal = match r.law.value {
            NormalLaw::Hooke => self.hooke(r)?,
            NormalLaw::Hertz => AnyNormal::Hertz(Hertz { effective_modulus: self.modulus(r, "hertz")? }),
            NormalLaw::Power => AnyNormal::Power(Power {
                scale: match &r.coefficient {
                    Some(k) => Scale::Coefficient(c.positive(k)?),
                    None => Scale::Modulus(self.modulus(r, "power")?),
                },
                exponent: self.given(r, &r.exponent, "exponent")?,
            }),
            NormalLaw::Overlap => match &r.coefficient {
                Some(k) => AnyNormal::Overlap(Overlap { of: self.region(), coefficient: c.positive(k)? }),
                None => {
                    return c.error(r.at, "overlap needs `coefficient`: force per area of discs or volume of spheres");
                }
            },
            NormalLaw::Chang => self.chang(r)?,
            NormalLaw::WaltonBraun => {
                let (loading, unloading) = self.loading_and_unloading(r)?;
                let growth = r.growth.as_ref().map_or(Ok(0.0), |s| c.not_negative(s))?;
                AnyNormal::WaltonBraun(WaltonBraun { loading, unloading, growth })
            }
            NormalLaw::Luding => {
                let (loading, unloading) = self.loading_and_unloading(r)?;
                if unloading == loading {
                    return c.error(r.at, "luding needs unloading stiffer than loading; use hooke where it is not");
                }
                let adhesion = r.adhesion_stiffness.as_ref().map_or(Ok(0.0), |k| c.not_negative(k))?;
                AnyNormal::Luding(Luding { loading, unloading, adhesion })
            }
            NormalLaw::Sadd => match (&r.coefficient, &r.restitution) {
                (Some(k), Some(e)) => {
                    let exponent = self.given(r, &r.exponent, "exponent")?;
                    AnyNormal::Sadd(Sadd::with_restitution(c.positive(k)?, exponent, self.restitution(e)?))
                }
                _ => return c.error(r.at, "sadd needs `coefficient`, `exponent` and `restitution`"),
            },
            NormalLaw::Thornton => AnyNormal::Thornton(Thornton {
                effective_modulus: self.modulus(r, "thornton")?,
                yield_pressure: self.given(r, &r.yield_pressure, "yield-pressure")?,
            }),
            NormalLaw::Jkr => AnyNormal::Jkr(Jkr {
                effective_modulus: self.modulus(r, "jkr")?,
                work: c.not_negative(r.work.as_ref().expect(REQUIRED))?,
            }),
            NormalLaw::ThorntonNing => AnyNormal::ThorntonNing(ThorntonNing {
                effective_modulus: self.modulus(r, "thornton-ning")?,
                yield_pressure: self.given(r, &r.yield_pressure, "yield-pressure")?,
                work: c.not_negative(r.work.as_ref().expect(REQUIRED))?,
            }),
            NormalLaw::TwelveSix => AnyNormal::TwelveSix(TwelveSix { energy: self.given(r, &r.energy, "energy")? }),
            NormalLaw::Langston => {
                let cutoff = r.cutoff.as_ref().map_or(Ok(1.2), |x| c.positive(x))?;
                if let (Some(given), true) = (&r.cutoff, cutoff <= 1.0) {
                    return c.wrong(given, "must be above 1: the force begins before grains touch");
                }
                let force = self.given(r, &r.force, "force")?;
                let exponent = self.given(r, &r.exponent, "exponent")?;
                AnyNormal::Langston(Langston { force, exponent, cutoff })
            }
        };
        Ok((normal, self.damping(Some(r), dashpot, &normal, end)?))
    }

    /// A positive number that the law requires.
    fn given(&self, r: &RawNormal, value: &Option<Spanned<f64>>, key: &str) -> Result<f64, SceneError> {
        match value {
            Some(value) => self.context.positive(value),
            None => self.context.error(r.at, format!("{} needs `{key}`", choice::Choice::word(r.law.value))),
        }
    }

    /// Area in a planar scene, volume in space.
    fn region(&self) -> Region {
        if self.context.raw.planar { Region::Area } else { Region::Volume }
    }

    /// What holds when a scene gives materials and no law.
    fn normal_of_materials(&self) -> Result<AnyNormal, SceneError> {
        match self.effective_modulus() {
            Some(effective_modulus) => Ok(AnyNormal::Hertz(Hertz { effective_modulus })),
            None => self.context.error(
                self.place(),
                format!(
                    "there is no contact law for {0}: add [contact.{0}] or [contact.default] with `normal`, or give both \
                     materials `youngs-modulus` and `poisson-ratio`",
                    self.names()
                ),
            ),
        }
    }

    /// E*, given or from the materials.
    fn modulus(&self, r: &RawNormal, law: &str) -> Result<f64, SceneError> {
        match &r.modulus {
            Some(m) => self.context.positive(m),
            None => self.effective_modulus().ok_or_else(|| {
                self.context.raw.error_at(
                    r.at,
                    format!(
                        "{law} between {} needs `youngs-modulus` and `poisson-ratio` of both materials, or `modulus` (E*) here",
                        self.names()
                    ),
                )
            }),
        }
    }

    fn hooke(&self, r: &RawNormal) -> Result<AnyNormal, SceneError> {
        let c = self.context;
        let ratio = r.dynamic_ratio.as_ref().map_or(Ok(1.0), |x| c.positive(x))?;
        match (&r.stiffness, &r.modulus) {
            (Some(k), None) => Ok(AnyNormal::Hooke(Hooke { stiffness: ratio * c.positive(k)? })),
            (None, Some(k)) => Ok(AnyNormal::ScaledHooke(ScaledHooke { modulus: ratio * c.positive(k)? })),
            _ => c.error(
                r.at,
                "hooke needs either `stiffness` [N/m] or `modulus` [Pa] (stiffness = modulus × effective radius)",
            ),
        }
    }

    fn chang(&self, r: &RawNormal) -> Result<AnyNormal, SceneError> {
        let c = self.context;
        if !c.raw.planar {
            return c.wrong(&r.law, "is a law of cylinders: it goes with discs in a planar scene");
        }
        let Some(modulus) = &r.modulus else {
            return c.error(r.at, "chang needs `modulus`: shear modulus over one minus Poisson's ratio");
        };
        Ok(AnyNormal::Chang(Chang {
            modulus: c.positive(modulus)?,
            depth: c.raw.depth.map_or(1.0, |d| d.value),
            displacement: match r.displacement.map(|d| d.value) {
                Some(choice::Displacement::Both) => Displacement::OfBoth,
                Some(choice::Displacement::One) | None => Displacement::OfOne,
            },
        }))
    }

    /// Stiffnesses of a law that unloads along another line than it loads.
    fn loading_and_unloading(&self, r: &RawNormal) -> Result<(f64, f64), SceneError> {
        let c = self.context;
        let Some(k) = &r.stiffness else {
            return c.error(r.at, format!("{} needs `stiffness`, that of loading", choice::Choice::word(r.law.value)));
        };
        let loading = c.positive(k)?;
        let unloading = match (&r.unloading_stiffness, &r.restitution) {
            (Some(k2), _) if c.positive(k2)? < loading => {
                return c.wrong(k2, "must not be below `stiffness`: unloading would give back more than loading took");
            }
            (Some(k2), _) => k2.value,
            (None, Some(e)) => loading / self.restitution(e)?.powi(2),
            // Of Walton & Braun growing from that of loading.
            (None, None) if r.growth.is_some() => loading,
            (None, None) => {
                return c.error(r.at, "say what is lost: `unloading-stiffness` or `restitution`");
            }
        };
        Ok((loading, unloading))
    }

    /// A restitution that can be had.
    fn restitution(&self, e: &Spanned<f64>) -> Result<f64, SceneError> {
        if e.value > 0.0 && e.value <= 1.0 {
            return Ok(e.value);
        }
        self.context.wrong(e, "must lie above 0 and up to 1 (0 would need an infinite dashpot; 0.01 is as good)")
    }

    /// The dashpot beside a normal law.
    fn damping(
        &self,
        r: Option<&RawNormal>,
        dashpot: Option<&RawDashpot>,
        normal: &AnyNormal,
        end: ContactEnd,
    ) -> Result<AnyDamping, SceneError> {
        let c = self.context;
        let lossy = matches!(
            normal,
            AnyNormal::WaltonBraun(_)
                | AnyNormal::Sadd(_)
                | AnyNormal::Luding(_)
                | AnyNormal::Thornton(_)
                | AnyNormal::ThorntonNing(_)
        );
        if let Some(d) = dashpot {
            if lossy {
                return c.wrong(
                    &d.law,
                    "does not go with a law that loses energy by itself: it would count the loss twice",
                );
            }
            if let Some(given) = r.and_then(|r| r.restitution.or(r.damping).or(r.rate)) {
                return c.wrong(&given, "and `dashpot` both damp the normal: leave one of them out");
            }
            return self.dashpot(d);
        }
        let from_restitution = |e: f64| AnyDamping::FromRestitution(FromRestitution::new(e, normal, end));
        // A restitution of the materials is for laws that have a dashpot for it.
        let exact = matches!(
            normal,
            AnyNormal::Hooke(_)
                | AnyNormal::ScaledHooke(_)
                | AnyNormal::Hertz(_)
                | AnyNormal::Power(_)
                | AnyNormal::Jkr(_)
        );
        match r.map(|r| (&r.restitution, &r.damping, &r.rate)) {
            Some((Some(e), _, _)) if exact => Ok(from_restitution(self.restitution(e)?)),
            Some((_, Some(d), _)) => Ok(AnyDamping::Coefficient(Coefficient { coefficient: c.not_negative(d)? })),
            Some((_, _, Some(rate))) => Ok(AnyDamping::PerMass(PerMass { rate: c.not_negative(rate)? })),
            _ if !exact => Ok(AnyDamping::None),
            _ => match self.mixed(|m| c.raw.materials[m].restitution.map(|e| e.value)) {
                Some(e) if e > 0.0 && e <= 1.0 => Ok(from_restitution(e)),
                Some(_) => {
                    c.error(self.place(), format!("the restitution of {} must lie above 0 and up to 1", self.names()))
                }
                None => Ok(AnyDamping::None),
            },
        }
    }

    fn dashpot(&self, d: &RawDashpot) -> Result<AnyDamping, SceneError> {
        let c = self.context;
        let given = |value: &Option<Spanned<f64>>| c.not_negative(value.as_ref().expect(REQUIRED));
        Ok(match d.law.value {
            DashpotLaw::KuwabaraKono => AnyDamping::KuwabaraKono(KuwabaraKono { viscosity: given(&d.viscosity)? }),
            DashpotLaw::Viscoelastic => AnyDamping::Viscoelastic(Viscoelastic { time: given(&d.time)? }),
            DashpotLaw::HuntCrossley => AnyDamping::HuntCrossley(HuntCrossley { factor: given(&d.factor)? }),
            DashpotLaw::LankaraniNikravesh => {
                let e = self.restitution(d.restitution.as_ref().expect(REQUIRED))?;
                let slowest = d.slowest.as_ref().map_or(Ok(SLOWEST), |v| c.positive(v))?;
                let nominal = d.nominal.is_some_and(|n| n.value);
                let law = if nominal { LankaraniNikravesh::nominal } else { LankaraniNikravesh::exact };
                AnyDamping::LankaraniNikravesh(law(e, slowest))
            }
            DashpotLaw::Power => AnyDamping::Power(PowerDashpot {
                rate: given(&d.coefficient)?,
                overlap_exponent: given(&d.overlap_exponent)?,
                speed_exponent: d.speed_exponent.as_ref().map_or(Ok(1.0), |x| c.positive(x))?,
            }),
            DashpotLaw::OverlapRate => {
                AnyDamping::OverlapRate(OverlapRate { of: self.region(), coefficient: given(&d.coefficient)? })
            }
        })
    }

    /// Attraction beside a normal law.
    pub(super) fn cohesion(&self, r: &RawCohesion, normal: &AnyNormal) -> Result<AnyCohesion, SceneError> {
        let c = self.context;
        let given = |value: &Option<Spanned<f64>>| c.not_negative(value.as_ref().expect(REQUIRED));
        let adhesive = match normal {
            AnyNormal::Jkr(_) | AnyNormal::ThorntonNing(_) => true,
            AnyNormal::Luding(law) => law.adhesion > 0.0,
            _ => false,
        };
        if adhesive && matches!(r.law.value, CohesionLaw::Dmt | CohesionLaw::Kohring) {
            return c.wrong(
                &r.law,
                "does not go with a normal law that adheres by itself: it would count the attraction twice",
            );
        }
        Ok(match r.law.value {
            CohesionLaw::None => AnyCohesion::None,
            CohesionLaw::Dmt => AnyCohesion::Dmt(Dmt { work: given(&r.work)? }),
            CohesionLaw::Kohring => {
                let of_law = match normal {
                    AnyNormal::Hertz(law) => Some(law.effective_modulus),
                    AnyNormal::Thornton(law) => Some(law.effective_modulus),
                    AnyNormal::Power(Power { scale: Scale::Modulus(e), .. }) => Some(*e),
                    _ => self.effective_modulus(),
                };
                let effective_modulus = match (&r.modulus, of_law) {
                    (Some(e), _) => c.positive(e)?,
                    (None, Some(e)) => e,
                    (None, None) => return c.error(r.at, "kohring needs `modulus` (E*) beside this normal law"),
                };
                AnyCohesion::Kohring(Kohring { work: given(&r.work)?, effective_modulus })
            }
            CohesionLaw::Capillary => {
                let angle = r.angle.as_ref().map_or(Ok(0.0), |a| c.not_negative(a))?;
                if let (Some(a), true) = (&r.angle, angle >= std::f64::consts::FRAC_PI_2) {
                    return c.wrong(a, "must be below 90 deg: a liquid that does not wet makes no bridge");
                }
                AnyCohesion::Capillary(Capillary { tension: given(&r.tension)?, angle, volume: given(&r.volume)? })
            }
        })
    }
}
