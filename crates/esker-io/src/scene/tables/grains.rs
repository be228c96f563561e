//! Keys of grains, feeds and removals.

use super::super::choice::{Arrival, Choice, CountBy, FillMethod, GrainShape};
use super::super::keys::{Bound, Group, Kind, MANY, Rule, Section, key, measures as m};
use super::wall::{BOX, CYLINDER, SPHERE};

static RADIUS_KINDS: [Kind; 2] = [Kind::Number, Kind::Table(&RADIUS)];
static VELOCITY_KINDS: [Kind; 2] = [Kind::Vector, Kind::Table(&RANDOM_VELOCITY)];
static SPIN_KINDS: [Kind; 2] = [Kind::Number, Kind::Vector];
static SPEED_KINDS: [Kind; 2] = [Kind::Number, Kind::List(&Kind::Number, 2, 2)];
static INERTIA_KINDS: [Kind; 2] = [Kind::Number, Kind::List(&Kind::Number, 3, 3)];
static SIEVE_ROW: Kind = Kind::Row(&[("size", m::LENGTH, Bound::Positive), ("fraction", m::NONE, Bound::NotNegative)]);

/// `[[grains]]`
pub static GRAINS: Section = Section {
    name: "grains",
    doc: "Grains that are there at the start.",
    keys: &[
        key("name", Kind::Text, "\"bed\"", "How other tables call them.").required(),
        key("material", Kind::Text, "\"glass\"", "What they are made of.").required(),
        key("shape", Kind::Choice(GrainShape::WORDS), "\"sphere\"", "Their shape.")
            .default("sphere; disc in a planar scene"),
        key(
            "radius",
            Kind::Either(&RADIUS_KINDS),
            "{ normal = \"10 mm\", spread = \"5 %\" }",
            "One radius, or a distribution.",
        )
        .of(m::LENGTH)
        .positive()
        .default("from the file for `fill.method = \"file\"`"),
        key("fill", Kind::Table(&FILL), "{ method = \"random\", count = 500 }", "Where they are.").required(),
        key("velocity", Kind::Either(&VELOCITY_KINDS), "[0, 0, \"-1 m/s\"]", "Velocity at the start, or a random one.")
            .of(m::SPEED)
            .default("at rest"),
        key(
            "spin",
            Kind::Either(&SPIN_KINDS),
            "[0, 0, \"10 rpm\"]",
            "Angular velocity at the start; one number about z in a planar scene.",
        )
        .of(m::ANGULAR)
        .default("0"),
        key("fixed", Kind::Bool, "true", "Whether they never move.").default("false"),
        key(
            "inertia-factor",
            Kind::Either(&INERTIA_KINDS),
            "0.4",
            "Moment of inertia over m r², one for all axes or one each.",
        )
        .positive()
        .default("2/5 for a sphere, 1/2 for a disc"),
    ],
    groups: &[],
    tag: None,
};

/// `radius` of grains and feeds, as a distribution.
pub static RADIUS: Section = Section {
    name: "radius",
    doc: "A distribution of radii.",
    keys: &[
        key("uniform", Kind::List(&Kind::Number, 2, 2), "[\"4 mm\", \"6 mm\"]", "Equally likely between two radii.")
            .of(m::LENGTH)
            .positive(),
        key("normal", Kind::Number, "\"5 mm\"", "Mean of a normal distribution.").of(m::LENGTH).positive(),
        key("log-normal", Kind::Number, "\"5 mm\"", "Median of a log-normal distribution.").of(m::LENGTH).positive(),
        key(
            "sieve",
            Kind::List(&SIEVE_ROW, 2, MANY),
            "[[\"4 mm\", 0], [\"5 mm\", 0.3], [\"6 mm\", 0.7]]",
            "Edges of radius, each with the fraction between it and the edge before, so the first has 0; fractions are \
             scaled to a sum of one.",
        ),
        key(
            "spread",
            Kind::Number,
            "\"5 %\"",
            "Standard deviation: relative to the mean, or a length. For log-normal that of the logarithm.",
        )
        .of(m::RELATIVE_OR_LENGTH)
        .not_negative(),
        key("min", Kind::Number, "\"4 mm\"", "Smaller radii are drawn again.")
            .of(m::LENGTH)
            .positive()
            .default("four standard deviations below, but a tenth of the mean at least"),
        key("max", Kind::Number, "\"6 mm\"", "Larger radii are drawn again.")
            .of(m::LENGTH)
            .positive()
            .default("four standard deviations above"),
        key("by", Kind::Choice(CountBy::WORDS), "\"number\"", "What the distribution counts.")
            .default("number; mass for a sieve"),
    ],
    groups: &[
        Group { rule: Rule::ExactlyOne, keys: &["uniform", "normal", "log-normal", "sieve"] },
        Group { rule: Rule::Needs, keys: &["normal", "spread"] },
        Group { rule: Rule::Needs, keys: &["log-normal", "spread"] },
        Group { rule: Rule::Needs, keys: &["spread", "normal", "log-normal"] },
        Group { rule: Rule::Needs, keys: &["min", "normal", "log-normal"] },
        Group { rule: Rule::Needs, keys: &["max", "normal", "log-normal"] },
    ],
    tag: None,
};

/// `fill` of grains.
pub static FILL: Section = Section {
    name: "fill",
    doc: "How grains are placed.",
    keys: &[
        key("method", Kind::Choice(FillMethod::WORDS), "\"random\"", "How.").required(),
        key("count", Kind::Count, "500", "How many.").only_for(&["lattice", "random", "drop-and-roll"]),
        key("mass", Kind::Number, "\"2 kg\"", "Their mass together.").of(m::MASS).positive().only_for(&[
            "lattice",
            "random",
            "drop-and-roll",
        ]),
        key("fraction", Kind::Number, "0.4", "Solid fraction in the region.").bound(Bound::Fraction).only_for(&[
            "lattice",
            "random",
            "drop-and-roll",
        ]),
        key("region", Kind::Table(&REGION), "{ box = { min = [0, 0, 0], max = [1, 1, 1] } }", "Where.")
            .only_for(&["lattice", "random", "drop-and-roll"])
            .default("the domain, or the box around the walls"),
        key("spacing", Kind::Number, "\"11 mm\"", "Distance of the places of the lattice.")
            .of(m::LENGTH)
            .positive()
            .default("the largest diameter")
            .only_for(&["lattice"]),
        key("jitter", Kind::Number, "0.1", "Random shift, relative to the free room between grains.")
            .bound(Bound::Fraction)
            .default("0")
            .only_for(&["lattice"]),
        key("tries", Kind::Count, "1000", "Attempts to place a grain before the filling is given up.")
            .default("10000 at random, 100 for drop-and-roll")
            .only_for(&["random", "drop-and-roll"]),
        key("positions", Kind::List(&Kind::Vector, 1, MANY), "[[0, 0, 0], [0, 0, \"20 mm\"]]", "The places.")
            .of(m::LENGTH)
            .only_for(&["at"])
            .required(),
        key("file", Kind::Text, "\"bed.csv\"", "The file; its path starts from the folder of the scene.")
            .only_for(&["file"])
            .required(),
    ],
    groups: &[Group { rule: Rule::AtMostOne, keys: &["count", "mass", "fraction"] }],
    tag: Some("method"),
};

/// A part of space.
pub static REGION: Section = Section {
    name: "region",
    doc: "A part of space: exactly one of these.",
    keys: &[
        key("box", Kind::Table(&BOX), "{ min = [0, 0, 0], max = [1, 1, 1] }", "A box along the axes."),
        key("cylinder", Kind::Table(&CYLINDER), "{ from = [0, 0, 0], to = [0, 0, 1], radius = 0.1 }", "A cylinder."),
        key(
            "sphere",
            Kind::Table(&SPHERE),
            "{ centre = [0, 0, 0], radius = 0.1 }",
            "A ball; in a planar scene a disc.",
        ),
    ],
    groups: &[Group { rule: Rule::ExactlyOne, keys: &["box", "cylinder", "sphere"] }],
    tag: None,
};

/// `velocity` of grains and feeds, at random.
pub static RANDOM_VELOCITY: Section = Section {
    name: "velocity",
    doc: "A velocity in a random direction.",
    keys: &[key("speed", Kind::Either(&SPEED_KINDS), "[0, \"1 m/s\"]", "The speed, or the least and the greatest.")
        .of(m::SPEED)
        .not_negative()
        .required()],
    groups: &[],
    tag: None,
};

/// `[[feed]]`
pub static FEED: Section = Section {
    name: "feed",
    doc: "Grains that come in during the run.",
    keys: &[
        key("name", Kind::Text, "\"inlet\"", "How other tables call it.").required(),
        key("material", Kind::Text, "\"glass\"", "What the grains are made of.").required(),
        key("shape", Kind::Choice(GrainShape::WORDS), "\"sphere\"", "Their shape.")
            .default("sphere; disc in a planar scene"),
        key("radius", Kind::Either(&RADIUS_KINDS), "\"5 mm\"", "One radius, or a distribution.")
            .of(m::LENGTH)
            .positive()
            .required(),
        key("region", Kind::Table(&REGION), "{ box = { min = [0, 0, 0], max = [1, 1, 1] } }", "Where they appear.")
            .required(),
        key("rate", Kind::Number, "\"100 1/s\"", "Grains per second.").of(m::RATE).positive(),
        key("mass-rate", Kind::Number, "\"2 kg/s\"", "Mass per second.").of(m::MASS_RATE).positive(),
        key("arrival", Kind::Choice(Arrival::WORDS), "\"steady\"", "When they arrive.").default("steady"),
        key("velocity", Kind::Vector, "[0, 0, \"-1 m/s\"]", "Velocity at arrival.").of(m::SPEED).default("at rest"),
        key(
            "spin",
            Kind::Either(&SPIN_KINDS),
            "[0, 0, \"10 rpm\"]",
            "Angular velocity at arrival; one number about z in a planar scene.",
        )
        .of(m::ANGULAR)
        .default("0"),
        key("count", Kind::Count, "1000", "How many in all.").default("no limit"),
        key("start", Kind::Number, "\"1 s\"", "When it begins.").of(m::TIME).not_negative().default("0"),
        key("stop", Kind::Number, "\"5 s\"", "When it ends.").of(m::TIME).not_negative().default("never"),
        key("tries", Kind::Count, "20", "Attempts to find a free place before an arrival is postponed.").default("50"),
        key("delay", Kind::Number, "\"10 ms\"", "How long an arrival is postponed when there is no room.")
            .of(m::TIME)
            .positive()
            .default("a tenth of the mean time between two arrivals"),
        key("patience", Kind::Count, "100", "Postponements in a row after which the feed counts as jammed.")
            .default("1000"),
    ],
    groups: &[Group { rule: Rule::ExactlyOne, keys: &["rate", "mass-rate"] }],
    tag: None,
};

/// A plane across one axis.
pub static AXIS_PLANE: Section = Section {
    name: "axis-plane",
    doc: "A plane across one axis.",
    keys: &[
        key("x", Kind::Number, "\"10 mm\"", "Across x.").of(m::LENGTH),
        key("y", Kind::Number, "\"10 mm\"", "Across y.").of(m::LENGTH),
        key("z", Kind::Number, "\"10 mm\"", "Across z.").of(m::LENGTH),
    ],
    groups: &[Group { rule: Rule::ExactlyOne, keys: &["x", "y", "z"] }],
    tag: None,
};

/// `[[remove]]`
pub static REMOVE: Section = Section {
    name: "remove",
    doc: "Where grains leave the run.",
    keys: &[
        key("name", Kind::Text, "\"outlet\"", "What it is, for the reader of the scene."),
        key("below", Kind::Table(&AXIS_PLANE), "{ y = \"-20 mm\" }", "Below a plane across an axis."),
        key("above", Kind::Table(&AXIS_PLANE), "{ y = \"2 m\" }", "Above a plane across an axis."),
        key("inside", Kind::Table(&REGION), "{ sphere = { centre = [0, 0, 0], radius = 0.1 } }", "Inside a region."),
        key("outside", Kind::Table(&REGION), "{ box = { min = [0, 0, 0], max = [1, 1, 1] } }", "Outside a region."),
    ],
    groups: &[Group { rule: Rule::ExactlyOne, keys: &["below", "above", "inside", "outside"] }],
    tag: None,
};
