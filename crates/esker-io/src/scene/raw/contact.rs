//! Materials and contacts as written.

use super::super::choice::{ContactEnd, NormalLaw, Preset, RollingLaw, TangentialLaw, TwistingLaw};
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
    /// Force against sliding.
    pub tangential: Option<RawTangential>,
    /// Torque against rolling.
    pub rolling: Option<RawRolling>,
    /// Torque against twisting.
    pub twisting: Option<RawTwisting>,
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
            tangential: t.table("tangential").map(RawTangential::read),
            rolling: t.table("rolling").map(RawRolling::read),
            twisting: t.table("twisting").map(RawTwisting::read),
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
    /// \[N/m\], only for Hooke.
    pub stiffness: Option<Spanned<f64>>,
    /// \[Pa\]: Hooke k = modulus × R*, Hertz E*.
    pub modulus: Option<Spanned<f64>>,
    /// \[-\]
    pub restitution: Option<Spanned<f64>>,
    /// \[N s/m\]
    pub damping: Option<Spanned<f64>>,
    /// Damping per effective mass \[1/s\].
    pub rate: Option<Spanned<f64>>,
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
            stiffness: t.number("stiffness"),
            damping_ratio: t.number("damping-ratio"),
        }
    }
}
