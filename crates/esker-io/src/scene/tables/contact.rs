//! Keys of materials and contacts.

use super::super::choice::{Choice, ContactEnd, NormalLaw, Preset, RollingLaw, TangentialLaw, TwistingLaw};
use super::super::keys::{Bound, Group, Kind, Rule, Section, key, measures as m};

/// `[material.NAME]`
pub static MATERIAL: Section = Section {
    name: "material",
    doc: "What grains and walls are made of. A material without keys is only a name for its contacts.",
    keys: &[
        key(
            "density",
            Kind::Number,
            "\"2650 kg/m^3\"",
            "Density of the grains. A planar scene also takes kg/m^2, mass per area of a disc.",
        )
        .of(m::DENSITY_OR_AREA_DENSITY)
        .positive(),
        key("youngs-modulus", Kind::Number, "\"70 GPa\"", "Young's modulus.").of(m::PRESSURE).positive(),
        key("poisson-ratio", Kind::Number, "0.3", "Poisson's ratio."),
        key("friction", Kind::Number, "0.5", "Coefficient of friction; mixed for pairs that do not give their own.")
            .not_negative(),
        key(
            "restitution",
            Kind::Number,
            "0.9",
            "Coefficient of restitution; mixed for pairs that do not give their own.",
        )
        .bound(Bound::Fraction),
    ],
    groups: &[],
    tag: None,
};

/// `[contact.A-B]`
pub static CONTACT: Section = Section {
    name: "contact",
    doc: "How two materials touch, one table for each pair: `[contact.glass-steel]`. `[contact.default]` holds for \
          pairs without their own. What is missing is mixed from the materials.",
    keys: &[
        key("normal", Kind::Table(&NORMAL), "{ law = \"hooke\", stiffness = \"1e6 N/m\" }", "Force along the normal."),
        key("tangential", Kind::Table(&TANGENTIAL), "{ law = \"mindlin\", friction = 0.3 }", "Force against sliding."),
        key("rolling", Kind::Table(&ROLLING), "{ law = \"constant\", friction = 0.01 }", "Torque against rolling.")
            .default("none"),
        key("twisting", Kind::Table(&TWISTING), "{ law = \"none\" }", "Torque against twisting about the normal.")
            .default("none"),
        key("preset", Kind::Choice(Preset::WORDS), "\"dziugys_peters_1998\"", "A published set of laws to begin with."),
        key("end", Kind::Choice(ContactEnd::WORDS), "\"no-tension\"", "When a contact ends.").default("no-tension"),
    ],
    groups: &[],
    tag: None,
};

/// `normal` of a contact.
pub static NORMAL: Section = Section {
    name: "normal",
    doc: "Force along the normal: an elastic law, and one way to say what is lost.",
    keys: &[
        key("law", Kind::Choice(NormalLaw::WORDS), "\"hooke\"", "The elastic law.").required(),
        key("stiffness", Kind::Number, "\"1e6 N/m\"", "Stiffness of the spring.")
            .of(m::STIFFNESS)
            .positive()
            .only_for(&["hooke"]),
        key(
            "modulus",
            Kind::Number,
            "\"20 MPa\"",
            "Hooke: stiffness per effective radius, k = modulus × R*. Hertz: effective modulus E*, instead of the \
             one that follows from the materials.",
        )
        .of(m::PRESSURE)
        .positive(),
        key("restitution", Kind::Number, "0.9", "Speed after over speed before a central impact.")
            .bound(Bound::Fraction),
        key("damping", Kind::Number, "\"1e3 N s/m\"", "Coefficient of a dashpot beside the spring.")
            .of(m::DAMPING)
            .not_negative(),
        key("rate", Kind::Number, "\"1000 1/s\"", "Damping coefficient per effective mass.").of(m::RATE).not_negative(),
    ],
    groups: &[
        Group { rule: Rule::AtMostOne, keys: &["stiffness", "modulus"] },
        Group { rule: Rule::AtMostOne, keys: &["restitution", "damping", "rate"] },
    ],
    tag: Some("law"),
};

/// `tangential` of a contact.
pub static TANGENTIAL: Section = Section {
    name: "tangential",
    doc: "Force against sliding.",
    keys: &[
        key("law", Kind::Choice(TangentialLaw::WORDS), "\"spring\"", "The law.").required(),
        key("stiffness", Kind::Number, "\"1e5 N/m\"", "Stiffness of the spring.")
            .of(m::STIFFNESS)
            .positive()
            .only_for(&["spring"]),
        key("stiffness-ratio", Kind::Number, "\"2/7\"", "Stiffness over the normal stiffness.")
            .positive()
            .default("2/7; for mindlin from the materials")
            .only_for(&["spring", "mindlin"]),
        key("friction", Kind::Number, "0.3", "Coefficient of friction.")
            .not_negative()
            .default("mixed from the materials")
            .only_for(&["spring", "mindlin", "dashpot"]),
        key("damping", Kind::Number, "\"1e3 N s/m\"", "Coefficient of a dashpot.")
            .of(m::DAMPING)
            .not_negative()
            .only_for(&["spring", "mindlin", "dashpot"]),
        key("rate", Kind::Number, "\"1000 1/s\"", "Damping coefficient per effective mass.")
            .of(m::RATE)
            .not_negative()
            .only_for(&["spring", "mindlin", "dashpot"]),
        key("damping-ratio", Kind::Number, "0.5", "Damping coefficient over the normal one.")
            .not_negative()
            .default("1, unless `damping` or `rate` is given")
            .only_for(&["spring", "mindlin", "dashpot"]),
    ],
    groups: &[
        Group { rule: Rule::AtMostOne, keys: &["stiffness", "stiffness-ratio"] },
        Group { rule: Rule::AtMostOne, keys: &["damping", "rate", "damping-ratio"] },
    ],
    tag: Some("law"),
};

/// `rolling` of a contact.
pub static ROLLING: Section = Section {
    name: "rolling",
    doc: "Torque against rolling.",
    keys: &[
        key("law", Kind::Choice(RollingLaw::WORDS), "\"spring\"", "The law.").required(),
        key("friction", Kind::Number, "0.01", "Greatest torque over normal force and effective radius.")
            .not_negative()
            .only_for(&["constant", "spring"]),
        key("stiffness", Kind::Number, "\"0.1 N m/rad\"", "Stiffness of the angular spring.")
            .of(m::TORQUE)
            .positive()
            .default("from the normal stiffness")
            .only_for(&["spring"]),
        key("damping-ratio", Kind::Number, "0.3", "Damping over critical damping of the angular spring.")
            .not_negative()
            .default("0.3")
            .only_for(&["spring"]),
    ],
    groups: &[],
    tag: Some("law"),
};

/// `twisting` of a contact.
pub static TWISTING: Section = Section {
    name: "twisting",
    doc: "Torque against twisting about the normal.",
    keys: &[
        key("law", Kind::Choice(TwistingLaw::WORDS), "\"spring\"", "The law.").required(),
        key("friction", Kind::Number, "0.01", "Greatest torque over normal force and effective radius.")
            .not_negative()
            .only_for(&["spring"]),
        key("stiffness", Kind::Number, "\"0.1 N m/rad\"", "Stiffness of the angular spring.")
            .of(m::TORQUE)
            .positive()
            .default("from the normal stiffness")
            .only_for(&["spring"]),
        key("damping-ratio", Kind::Number, "0.3", "Damping over critical damping of the angular spring.")
            .not_negative()
            .default("0.3")
            .only_for(&["spring"]),
    ],
    groups: &[],
    tag: Some("law"),
};
