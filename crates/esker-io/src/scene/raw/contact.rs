//! Materials and contacts as written.

use super::super::choice::{
    CohesionLaw, CollisionLaw, ContactEnd, DashpotLaw, Displacement, NormalLaw, Preset, RollingLaw, TangentialLaw,
    TwistingLaw,
};
use super::super::node::{CHECKED, TableNode};
use super::super::source::{Location, Spanned};
use esker::expression::Quantity;

/// `[material.NAME]`
#[derive(Clone, Debug, PartialEq)]
pub struct RawMaterial {
    /// NAME.
    pub name: Spanned<String>,
    /// \[kg/m³\] or \[kg/m²\]; the dimension is that of the text, `None` for a plain number.
    pub density: Option<Spanned<Quantity>>,
    /// \[Pa\]
    pub youngs_modulus: Option<Spanned<f64>>,
    /// \[-\]
    pub poisson_ratio: Option<Spanned<f64>>,
    /// \[-\]
    pub friction: Option<Spanned<f64>>,
    /// \[-\]
    pub restitution: Option<Spanned<f64>>,
}

impl RawMaterial {
    pub(crate) fn read(name: &Spanned<String>, t: &TableNode) -> RawMaterial {
        RawMaterial {
            name: name.clone(),
            density: t.quantity("density"),
            youngs_modulus: t.number("youngs-modulus"),
            poisson_ratio: t.number("poisson-ratio"),
            friction: t.number("friction"),
            restitution: t.number("restitution"),
        }
    }
}

/// `[contact.A-B]`
#[derive(Clone, Debug, PartialEq)]
pub struct RawContact {
    /// `A-B` as it stands, since names of materials may hold hyphens, or `default`.
    pub pair: Spanned<String>,
    /// Force along the normal.
    pub normal: Option<RawNormal>,
    /// Dashpot along the normal.
    pub dashpot: Option<RawDashpot>,
    /// Attraction.
    pub cohesion: Option<RawCohesion>,
    /// Force against sliding.
    pub tangential: Option<RawTangential>,
    /// Torque against rolling.
    pub rolling: Option<RawRolling>,
    /// Torque against twisting.
    pub twisting: Option<RawTwisting>,
    /// Hard collisions.
    pub collision: Option<RawCollision>,
    /// A published set of laws.
    pub preset: Option<Spanned<Preset>>,
    /// When a contact ends.
    pub end: Option<Spanned<ContactEnd>>,
}

impl RawContact {
    pub(crate) fn read(pair: &Spanned<String>, t: &TableNode) -> RawContact {
        RawContact {
            pair: pair.clone(),
            normal: t.table("normal").map(RawNormal::read),
            dashpot: t.table("dashpot").map(RawDashpot::read),
            cohesion: t.table("cohesion").map(RawCohesion::read),
            tangential: t.table("tangential").map(RawTangential::read),
            rolling: t.table("rolling").map(RawRolling::read),
            twisting: t.table("twisting").map(RawTwisting::read),
            collision: t.table("collision").map(RawCollision::read),
            preset: t.choice("preset"),
            end: t.choice("end"),
        }
    }
}

/// `normal` of a contact. At most one of stiffness and modulus, at most one of restitution, damping and rate.
#[derive(Clone, Debug, PartialEq)]
pub struct RawNormal {
    /// The table.
    pub at: Location,
    /// The elastic law.
    pub law: Spanned<NormalLaw>,
    /// \[N/m\]: of the spring, of loading where there are two.
    pub stiffness: Option<Spanned<f64>>,
    /// \[Pa\]: Hooke k = modulus × R*, Chang G/(1−ν), the others E*.
    pub modulus: Option<Spanned<f64>>,
    /// \[-\]
    pub restitution: Option<Spanned<f64>>,
    /// \[N s/m\]
    pub damping: Option<Spanned<f64>>,
    /// Damping per effective mass \[1/s\].
    pub rate: Option<Spanned<f64>>,
    /// Of Chang's cylinders.
    pub displacement: Option<Spanned<Displacement>>,
    /// \[-\]
    pub dynamic_ratio: Option<Spanned<f64>>,
    /// SI
    pub coefficient: Option<Spanned<f64>>,
    /// \[-\]
    pub exponent: Option<Spanned<f64>>,
    /// \[N/m\]
    pub unloading_stiffness: Option<Spanned<f64>>,
    /// \[1/m\]
    pub growth: Option<Spanned<f64>>,
    /// \[N/m\]
    pub adhesion_stiffness: Option<Spanned<f64>>,
    /// \[Pa\]
    pub yield_pressure: Option<Spanned<f64>>,
    /// \[J/m²\]
    pub work: Option<Spanned<f64>>,
    /// \[J\]
    pub energy: Option<Spanned<f64>>,
    /// \[N\]
    pub force: Option<Spanned<f64>>,
    /// \[-\]
    pub cutoff: Option<Spanned<f64>>,
}

impl RawNormal {
    fn read(t: &TableNode) -> RawNormal {
        RawNormal {
            at: t.at,
            law: t.choice("law").expect(CHECKED),
            stiffness: t.number("stiffness"),
            modulus: t.number("modulus"),
            restitution: t.number("restitution"),
            damping: t.number("damping"),
            rate: t.number("rate"),
            displacement: t.choice("displacement"),
            dynamic_ratio: t.number("dynamic-ratio"),
            coefficient: t.number("coefficient"),
            exponent: t.number("exponent"),
            unloading_stiffness: t.number("unloading-stiffness"),
            growth: t.number("growth"),
            adhesion_stiffness: t.number("adhesion-stiffness"),
            yield_pressure: t.number("yield-pressure"),
            work: t.number("work"),
            energy: t.number("energy"),
            force: t.number("force"),
            cutoff: t.number("cutoff"),
        }
    }
}

/// `dashpot` of a contact.
#[derive(Clone, Debug, PartialEq)]
pub struct RawDashpot {
    /// The table.
    pub at: Location,
    /// The law.
    pub law: Spanned<DashpotLaw>,
    /// \[Pa s\]
    pub viscosity: Option<Spanned<f64>>,
    /// \[s\]
    pub time: Option<Spanned<f64>>,
    /// \[s/m\]
    pub factor: Option<Spanned<f64>>,
    /// \[-\]
    pub restitution: Option<Spanned<f64>>,
    /// Whether the factor is the published one.
    pub nominal: Option<Spanned<bool>>,
    /// \[m/s\]
    pub slowest: Option<Spanned<f64>>,
    /// SI
    pub coefficient: Option<Spanned<f64>>,
    /// \[-\]
    pub overlap_exponent: Option<Spanned<f64>>,
    /// \[-\]
    pub speed_exponent: Option<Spanned<f64>>,
}

impl RawDashpot {
    fn read(t: &TableNode) -> RawDashpot {
        RawDashpot {
            at: t.at,
            law: t.choice("law").expect(CHECKED),
            viscosity: t.number("viscosity"),
            time: t.number("time"),
            factor: t.number("factor"),
            restitution: t.number("restitution"),
            nominal: t.bool("nominal"),
            slowest: t.number("slowest"),
            coefficient: t.number("coefficient"),
            overlap_exponent: t.number("overlap-exponent"),
            speed_exponent: t.number("speed-exponent"),
        }
    }
}

/// `cohesion` of a contact.
#[derive(Clone, Debug, PartialEq)]
pub struct RawCohesion {
    /// The table.
    pub at: Location,
    /// The law.
    pub law: Spanned<CohesionLaw>,
    /// \[J/m²\]
    pub work: Option<Spanned<f64>>,
    /// \[Pa\]
    pub modulus: Option<Spanned<f64>>,
    /// \[N/m\]
    pub tension: Option<Spanned<f64>>,
    /// \[rad\]
    pub angle: Option<Spanned<f64>>,
    /// \[m³\]
    pub volume: Option<Spanned<f64>>,
}

impl RawCohesion {
    fn read(t: &TableNode) -> RawCohesion {
        RawCohesion {
            at: t.at,
            law: t.choice("law").expect(CHECKED),
            work: t.number("work"),
            modulus: t.number("modulus"),
            tension: t.number("tension"),
            angle: t.number("angle"),
            volume: t.number("volume"),
        }
    }
}

/// `tangential` of a contact. At most one of the stiffnesses, at most one of the dampings.
#[derive(Clone, Debug, PartialEq)]
pub struct RawTangential {
    /// The table.
    pub at: Location,
    /// The law.
    pub law: Spanned<TangentialLaw>,
    /// \[N/m\]
    pub stiffness: Option<Spanned<f64>>,
    /// Of the normal stiffness \[-\].
    pub stiffness_ratio: Option<Spanned<f64>>,
    /// \[-\]
    pub friction: Option<Spanned<f64>>,
    /// \[N s/m\]
    pub damping: Option<Spanned<f64>>,
    /// Damping per effective mass \[1/s\].
    pub rate: Option<Spanned<f64>>,
    /// Of the normal damping coefficient \[-\].
    pub damping_ratio: Option<Spanned<f64>>,
    /// \[-\]
    pub exponent: Option<Spanned<f64>>,
    /// \[m/N\]
    pub compliance: Option<Spanned<f64>>,
}

impl RawTangential {
    fn read(t: &TableNode) -> RawTangential {
        RawTangential {
            at: t.at,
            law: t.choice("law").expect(CHECKED),
            stiffness: t.number("stiffness"),
            stiffness_ratio: t.number("stiffness-ratio"),
            friction: t.number("friction"),
            damping: t.number("damping"),
            rate: t.number("rate"),
            damping_ratio: t.number("damping-ratio"),
            exponent: t.number("exponent"),
            compliance: t.number("compliance"),
        }
    }
}

/// `rolling` of a contact.
#[derive(Clone, Debug, PartialEq)]
pub struct RawRolling {
    /// The table.
    pub at: Location,
    /// The law.
    pub law: Spanned<RollingLaw>,
    /// \[-\]
    pub friction: Option<Spanned<f64>>,
    /// \[s/m\]
    pub viscosity: Option<Spanned<f64>>,
    /// \[N m\]
    pub stiffness: Option<Spanned<f64>>,
    /// Of critical damping \[-\].
    pub damping_ratio: Option<Spanned<f64>>,
}

impl RawRolling {
    fn read(t: &TableNode) -> RawRolling {
        RawRolling {
            at: t.at,
            law: t.choice("law").expect(CHECKED),
            friction: t.number("friction"),
            viscosity: t.number("viscosity"),
            stiffness: t.number("stiffness"),
            damping_ratio: t.number("damping-ratio"),
        }
    }
}

/// `twisting` of a contact.
#[derive(Clone, Debug, PartialEq)]
pub struct RawTwisting {
    /// The table.
    pub at: Location,
    /// The law.
    pub law: Spanned<TwistingLaw>,
    /// \[-\]
    pub friction: Option<Spanned<f64>>,
    /// Tangential over normal stiffness \[-\].
    pub stiffness_ratio: Option<Spanned<f64>>,
    /// \[N m\]
    pub stiffness: Option<Spanned<f64>>,
    /// Of critical damping \[-\].
    pub damping_ratio: Option<Spanned<f64>>,
}

impl RawTwisting {
    fn read(t: &TableNode) -> RawTwisting {
        RawTwisting {
            at: t.at,
            law: t.choice("law").expect(CHECKED),
            friction: t.number("friction"),
            stiffness_ratio: t.number("stiffness-ratio"),
            stiffness: t.number("stiffness"),
            damping_ratio: t.number("damping-ratio"),
        }
    }
}

/// `collision` of a contact.
#[derive(Clone, Debug, PartialEq)]
pub struct RawCollision {
    /// The table.
    pub at: Location,
    /// What is lost along the normal; may be left to the other keys.
    pub law: Option<Spanned<CollisionLaw>>,
    /// \[-\]
    pub restitution: Option<Spanned<f64>>,
    /// \[s\]
    pub time: Option<Spanned<f64>>,
    /// \[Pa\]
    pub modulus: Option<Spanned<f64>>,
    /// \[-\]
    pub friction: Option<Spanned<f64>>,
    /// \[-\]
    pub tangential_restitution: Option<Spanned<f64>>,
}

impl RawCollision {
    fn read(t: &TableNode) -> RawCollision {
        RawCollision {
            at: t.at,
            law: t.choice("law"),
            restitution: t.number("restitution"),
            time: t.number("time"),
            modulus: t.number("modulus"),
            friction: t.number("friction"),
            tangential_restitution: t.number("tangential-restitution"),
        }
    }
}
