//! Keys of materials and contacts.

use super::super::choice::{
    Choice, CohesionLaw, CollisionLaw, ContactEnd, DashpotLaw, Displacement, NormalLaw, Preset, RollingLaw,
    TangentialLaw, TwistingLaw,
};
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
            "Coefficient of restitution; mixed for pairs of hooke, hertz, power and jkr that do not give their own loss.",
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
        key(
            "dashpot",
            Kind::Table(&DASHPOT),
            "{ law = \"viscoelastic\", time = \"1 us\" }",
            "A dashpot along the normal, other than by `restitution`, `damping` or `rate` of `normal`.",
        ),
        key("cohesion", Kind::Table(&COHESION), "{ law = \"dmt\", work = \"0.1 J/m^2\" }", "Attraction.")
            .default("none"),
        key("tangential", Kind::Table(&TANGENTIAL), "{ law = \"mindlin\", friction = 0.3 }", "Force against sliding."),
        key("rolling", Kind::Table(&ROLLING), "{ law = \"constant\", friction = 0.01 }", "Torque against rolling.")
            .default("none"),
        key("twisting", Kind::Table(&TWISTING), "{ law = \"none\" }", "Torque against twisting about the normal.")
            .default("none"),
        key(
            "collision",
            Kind::Table(&COLLISION),
            "{ restitution = 0.98, friction = 0.3, tangential-restitution = 0.4 }",
            "What happens in hard collisions, of the solver `event`.",
        )
        .default("what the other tables say"),
        key(
            "preset",
            Kind::Choice(Preset::WORDS),
            "\"dziugys_peters_1998\"",
            "A published set of laws to begin with: a table beside it completes a slot of the same law and replaces one of another.",
        ),
        key("end", Kind::Choice(ContactEnd::WORDS), "\"no-tension\"", "When a contact ends.").default("no-tension"),
    ],
    groups: &[],
    tag: None,
};

/// `normal` of a contact.
pub static NORMAL: Section = Section {
    name: "normal",
    doc: "Force along the normal: a law, and one way to say what is lost. Laws whose unloading differs from their loading lose \
          energy by themselves and take no dashpot.",
    keys: &[
        key("law", Kind::Choice(NormalLaw::WORDS), "\"hooke\"", "The law.").required(),
        key("stiffness", Kind::Number, "\"1e6 N/m\"", "Stiffness of the spring; of loading, where there are two.")
            .of(m::STIFFNESS)
            .positive()
            .only_for(&["hooke", "walton-braun", "luding"]),
        key(
            "modulus",
            Kind::Number,
            "\"20 MPa\"",
            "Hooke: stiffness per effective radius, k = modulus × R*. Chang: G/(1 - nu). The others: effective modulus E*, \
             instead of the one that follows from the materials.",
        )
        .of(m::PRESSURE)
        .positive()
        .only_for(&["hooke", "hertz", "power", "chang", "thornton", "jkr", "thornton-ning"]),
        key(
            "dynamic-ratio",
            Kind::Number,
            "1.5",
            "By how much the spring is stiffer in an impact than `stiffness` or `modulus`, measured at rest, say.",
        )
        .positive()
        .default("1")
        .only_for(&["hooke"]),
        key(
            "coefficient",
            Kind::Number,
            "1e6",
            "Power, sadd: force at unit overlap, N/m^exponent. Overlap: force per area of discs, N/m^2, or per volume of \
             spheres, N/m^3. In SI.",
        )
        .of(m::ANY)
        .positive()
        .only_for(&["power", "overlap", "sadd"]),
        key("exponent", Kind::Number, "1.4", "Exponent of the overlap; langston: of the distance. These laws need it, from here or from a preset.")
            .positive()
            .only_for(&["power", "sadd", "langston"]),
        key("displacement", Kind::Choice(Displacement::WORDS), "\"both\"", "Whose displacement the overlap is.")
            .default("one")
            .only_for(&["chang"]),
        key("unloading-stiffness", Kind::Number, "\"4e6 N/m\"", "Stiffness of unloading, not below that of loading.")
            .of(m::STIFFNESS)
            .positive()
            .only_for(&["walton-braun", "luding"]),
        key("growth", Kind::Number, "\"1e4 1/m\"", "Growth of the stiffness of unloading with the largest force.")
            .of(m::PER_LENGTH)
            .not_negative()
            .default("0")
            .only_for(&["walton-braun"]),
        key("adhesion-stiffness", Kind::Number, "\"1e5 N/m\"", "Slope of the branch that pulls.")
            .of(m::STIFFNESS)
            .not_negative()
            .default("0")
            .only_for(&["luding"]),
        key("yield-pressure", Kind::Number, "\"300 MPa\"", "Contact pressure at which the material yields.")
            .of(m::PRESSURE)
            .positive()
            .required()
            .only_for(&["thornton", "thornton-ning"]),
        key("work", Kind::Number, "\"0.1 J/m^2\"", "Work of adhesion.")
            .of(m::SURFACE_ENERGY)
            .not_negative()
            .required()
            .only_for(&["jkr", "thornton-ning"]),
        key("energy", Kind::Number, "\"1e-6 J\"", "Energy scale of the potential, which the law needs.")
            .of(m::ENERGY)
            .positive()
            .only_for(&["twelve-six"]),
        key("force", Kind::Number, "\"1e-3 N\"", "Force of grains that just touch, which the law needs; Langston takes the weight of a grain.")
            .of(m::FORCE)
            .positive()
            .only_for(&["langston"]),
        key("cutoff", Kind::Number, "1.2", "Distance at which the force begins, over that of grains that touch.")
            .positive()
            .default("1.2")
            .only_for(&["langston"]),
        key(
            "restitution",
            Kind::Number,
            "0.9",
            "Speed after over speed before a central impact: sets the dashpot, or the unloading of walton-braun, sadd and \
             luding.",
        )
        .bound(Bound::Fraction)
        .only_for(&["hooke", "hertz", "power", "jkr", "walton-braun", "sadd", "luding"]),
        key("damping", Kind::Number, "\"1e3 N s/m\"", "Coefficient of a dashpot beside the spring.")
            .of(m::DAMPING)
            .not_negative()
            .only_for(DAMPED),
        key("rate", Kind::Number, "\"1000 1/s\"", "Damping coefficient per effective mass.")
            .of(m::RATE)
            .not_negative()
            .only_for(DAMPED),
    ],
    groups: &[
        Group { rule: Rule::AtMostOne, keys: &["stiffness", "modulus"] },
        Group { rule: Rule::AtMostOne, keys: &["modulus", "coefficient"] },
        Group { rule: Rule::AtMostOne, keys: &["restitution", "damping", "rate"] },
        Group { rule: Rule::AtMostOne, keys: &["restitution", "unloading-stiffness"] },
    ],
    tag: Some("law"),
};

/// Laws that lose nothing by themselves, and may have a dashpot beside them.
const DAMPED: &[&str] = &["hooke", "hertz", "power", "overlap", "chang", "jkr", "twelve-six", "langston"];

/// `dashpot` of a contact.
pub static DASHPOT: Section = Section {
    name: "dashpot",
    doc: "A dashpot along the normal that is more than a coefficient.",
    keys: &[
        key("law", Kind::Choice(DashpotLaw::WORDS), "\"viscoelastic\"", "The law.").required(),
        key("viscosity", Kind::Number, "\"100 Pa s\"", "To the viscosities what E* is to the elastic moduli.")
            .of(m::VISCOSITY)
            .not_negative()
            .required()
            .only_for(&["kuwabara-kono"]),
        key("time", Kind::Number, "\"1 us\"", "Relaxation time.")
            .of(m::TIME)
            .not_negative()
            .required()
            .only_for(&["viscoelastic"]),
        key("factor", Kind::Number, "\"0.5 s/m\"", "Damping force over elastic force and speed.")
            .of(m::TIME_PER_LENGTH)
            .not_negative()
            .required()
            .only_for(&["hunt-crossley"]),
        key("restitution", Kind::Number, "0.8", "Speed after over speed before a central impact, whatever the speed.")
            .bound(Bound::Fraction)
            .required()
            .only_for(&["lankarani-nikravesh"]),
        key(
            "nominal",
            Kind::Bool,
            "true",
            "Take the published factor 3(1-e^2)/4, which gives the restitution only near 1, instead of the exact one.",
        )
        .default("false")
        .only_for(&["lankarani-nikravesh"]),
        key(
            "slowest",
            Kind::Number,
            "\"1 mm/s\"",
            "Grains that met more slowly than this count as having met with it.",
        )
        .of(m::SPEED)
        .positive()
        .default("1 mm/s")
        .only_for(&["lankarani-nikravesh"]),
        key(
            "coefficient",
            Kind::Number,
            "1e3",
            "Force per rate of area, N s/m^2, or volume, N s/m^3; power: eta. In SI.",
        )
        .of(m::ANY)
        .not_negative()
        .required()
        .only_for(&["power", "overlap-rate"]),
        key("overlap-exponent", Kind::Number, "0.5", "Exponent of the overlap.")
            .not_negative()
            .required()
            .only_for(&["power"]),
        key("speed-exponent", Kind::Number, "1", "Exponent of the speed.").positive().default("1").only_for(&["power"]),
    ],
    groups: &[],
    tag: Some("law"),
};

/// `cohesion` of a contact.
pub static COHESION: Section = Section {
    name: "cohesion",
    doc: "Attraction besides the normal law. Grains that adhere over their contact area have `jkr` for a normal law instead.",
    keys: &[
        key("law", Kind::Choice(CohesionLaw::WORDS), "\"dmt\"", "The law.").required(),
        key("work", Kind::Number, "\"0.1 J/m^2\"", "Work of adhesion.")
            .of(m::SURFACE_ENERGY)
            .not_negative()
            .required()
            .only_for(&["dmt", "kohring"]),
        key("modulus", Kind::Number, "\"20 MPa\"", "Effective modulus E*.")
            .of(m::PRESSURE)
            .positive()
            .default("that of the normal law, or from the materials")
            .only_for(&["kohring"]),
        key("tension", Kind::Number, "\"0.0728 N/m\"", "Surface tension.")
            .of(m::STIFFNESS)
            .not_negative()
            .required()
            .only_for(&["capillary"]),
        key("angle", Kind::Number, "\"20 deg\"", "Contact angle.")
            .of(m::ANGLE)
            .not_negative()
            .default("0")
            .only_for(&["capillary"]),
        key("volume", Kind::Number, "\"1e-12 m^3\"", "Volume of the bridge between two grains.")
            .of(m::VOLUME)
            .positive()
            .required()
            .only_for(&["capillary"]),
    ],
    groups: &[],
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
            .only_for(&["spring", "walton-braun", "literal"]),
        key("stiffness-ratio", Kind::Number, "\"2/7\"", "Stiffness over the normal stiffness.")
            .positive()
            .default("2/7; for mindlin and mindlin-deresiewicz from the materials")
            .only_for(&["spring", "mindlin", "walton-braun", "mindlin-deresiewicz", "literal"]),
        key("exponent", Kind::Number, "0.3", "Exponent of the fall of the stiffness, below 1; 1/2 is that of Chang.")
            .positive()
            .default("1/3")
            .only_for(&["walton-braun"]),
        key(
            "compliance",
            Kind::Number,
            "\"1e-6 m/N\"",
            "Displacement at which a contact slides, over friction and load; the law needs it.",
        )
        .of(m::COMPLIANCE)
        .positive()
        .only_for(&["langston"]),
        key("friction", Kind::Number, "0.3", "Coefficient of friction.")
            .not_negative()
            .default("mixed from the materials")
            .only_for(FRICTION),
        key("damping", Kind::Number, "\"1e3 N s/m\"", "Coefficient of a dashpot.")
            .of(m::DAMPING)
            .not_negative()
            .only_for(VISCOUS),
        key("rate", Kind::Number, "\"1000 1/s\"", "Damping coefficient per effective mass.")
            .of(m::RATE)
            .not_negative()
            .only_for(VISCOUS),
        key("damping-ratio", Kind::Number, "0.5", "Damping coefficient over the normal one.")
            .not_negative()
            .default("1, unless `damping` or `rate` is given; 0 for walton-braun and mindlin-deresiewicz")
            .only_for(VISCOUS),
    ],
    groups: &[
        Group { rule: Rule::AtMostOne, keys: &["stiffness", "stiffness-ratio"] },
        Group { rule: Rule::AtMostOne, keys: &["damping", "rate", "damping-ratio"] },
    ],
    tag: Some("law"),
};

/// Tangential laws with friction.
const FRICTION: &[&str] =
    &["spring", "mindlin", "dashpot", "walton-braun", "mindlin-deresiewicz", "langston", "literal"];
/// Tangential laws with a dashpot.
const VISCOUS: &[&str] = &["spring", "mindlin", "dashpot", "walton-braun", "mindlin-deresiewicz", "literal"];

/// `rolling` of a contact.
pub static ROLLING: Section = Section {
    name: "rolling",
    doc: "Torque against rolling.",
    keys: &[
        key("law", Kind::Choice(RollingLaw::WORDS), "\"spring\"", "The law.").required(),
        key("friction", Kind::Number, "0.01", "Greatest torque over normal force and effective radius.")
            .not_negative()
            .only_for(&["constant", "spring"]),
        key(
            "viscosity",
            Kind::Number,
            "\"0.1 s/m\"",
            "Torque over normal force, effective radius and speed of rolling.",
        )
        .of(m::TIME_PER_LENGTH)
        .not_negative()
        .required()
        .only_for(&["viscous"]),
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
        key(
            "friction",
            Kind::Number,
            "0.01",
            "Greatest torque over normal force and effective radius. Marshall: coefficient of friction.",
        )
        .not_negative()
        .default("marshall: that of the tangential law")
        .only_for(&["spring", "marshall"]),
        key("stiffness-ratio", Kind::Number, "\"2/7\"", "Tangential stiffness over the normal one.")
            .positive()
            .default("that of the tangential law")
            .only_for(&["marshall"]),
        key("stiffness", Kind::Number, "\"0.1 N m/rad\"", "Stiffness of the angular spring.")
            .of(m::TORQUE)
            .positive()
            .default("from the normal stiffness")
            .only_for(&["spring"]),
        key("damping-ratio", Kind::Number, "0.3", "Damping over critical damping of the angular spring.")
            .not_negative()
            .default("0.3")
            .only_for(&["spring", "marshall"]),
    ],
    groups: &[],
    tag: Some("law"),
};

/// `collision` of a contact.
pub static COLLISION: Section = Section {
    name: "collision",
    doc: "Hard collisions, in which bodies exchange an impulse in an instant: the laws of the solver `event`. A table of \
          `[contact.default]` holds for all pairs without one of their own. What it leaves out is taken from the soft law beside \
          it: a restitution as it is, viscous Hertzian spheres with their parameters, other laws as a curve measured over the \
          speed with grains of the mean radius. Pairs without a soft law take it from the materials.",
    keys: &[
        key("law", Kind::Choice(CollisionLaw::WORDS), "\"viscoelastic\"", "What is lost along the normal.")
            .default("constant with `restitution`, else that of the soft law"),
        key("restitution", Kind::Number, "0.98", "Speed after over speed before a central collision.")
            .bound(Bound::Fraction)
            .default("that of the soft law, or mixed from the materials")
            .only_for(&["constant"]),
        key("time", Kind::Number, "\"1 us\"", "Relaxation time.")
            .of(m::TIME)
            .not_negative()
            .required()
            .only_for(&["viscoelastic"]),
        key("modulus", Kind::Number, "\"20 MPa\"", "Effective modulus E*.")
            .of(m::PRESSURE)
            .positive()
            .default("that of `hertz` beside it, or from the materials")
            .only_for(&["viscoelastic"]),
        key("friction", Kind::Number, "0.3", "Coefficient of friction; 0 leaves rotation as it is.")
            .not_negative()
            .default("that of `tangential`, or mixed from the materials"),
        key(
            "tangential-restitution",
            Kind::Number,
            "0.4",
            "Slip after over slip before, reversed, of surfaces that stick: from -1, smooth, to 1, perfectly rough.",
        )
        .default("0"),
    ],
    groups: &[],
    tag: Some("law"),
};
