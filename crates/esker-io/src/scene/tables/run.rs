//! Keys of fields, stages, solver and output.

use super::super::choice::{Choice, Collapse, Integrator, Nodes, Rotation, SolverKind, StaticBy};
use super::super::keys::{Group, Kind, MANY, Rule, Section, key, measures as m};
use super::grains::{AXIS_PLANE, REGION};
use super::wall::MOTIONS;

/// The slots of a force given as formulas: place \[m\], velocity \[m/s\], time \[s\], radius \[m\], mass \[kg\].
pub const FORCE_SLOTS: [&str; 9] = ["x", "y", "z", "vx", "vy", "vz", "t", "r", "m"];

static PROBE_KIND: Kind = Kind::Table(&PROBE);

/// `[[field]]`
pub static FIELD: Section = Section {
    name: "field",
    doc: "A force on every grain besides gravity: exactly one of these.",
    keys: &[
        key("name", Kind::Text, "\"wind\"", "How stages call it."),
        key("grains", Kind::List(&Kind::Text, 1, MANY), "[\"bed\"]", "The grains and feeds it acts on.").default("all"),
        key("uniform", Kind::Table(&UNIFORM), "{ acceleration = [\"1 m/s^2\", 0, 0] }", "The same everywhere."),
        key(
            "drag",
            Kind::Table(&DRAG),
            "{ viscosity = \"1 mPa s\" }",
            "Resistance of a fluid, linear in the velocity.",
        ),
        key(
            "buoyancy",
            Kind::Table(&BUOYANCY),
            "{ fluid-density = \"1000 kg/m^3\" }",
            "Weight of the displaced fluid, against gravity.",
        ),
        key(
            "central",
            Kind::Table(&CENTRAL),
            "{ centre = [0, 0, 0], strength = \"10 1/s^2\", exponent = 1 }",
            "Towards or away from a point.",
        ),
        key(
            "attraction",
            Kind::Table(&ATTRACTION),
            "{ constant = \"6.674e-11 m^3/kg/s^2\" }",
            "Every grain attracts every other by gravitation.",
        ),
        key(
            "expression",
            Kind::Table(&FORMULAS),
            "{ force = [\"-5 N/m * x\", \"0\", \"0\"] }",
            "A force given by formulas.",
        ),
    ],
    groups: &[Group {
        rule: Rule::ExactlyOne,
        keys: &["uniform", "drag", "buoyancy", "central", "attraction", "expression"],
    }],
    tag: None,
};

/// `uniform` of a field.
pub static UNIFORM: Section = Section {
    name: "uniform",
    doc: "The same everywhere: an acceleration or a force on each grain.",
    keys: &[
        key("acceleration", Kind::Vector, "[\"1 m/s^2\", 0, 0]", "Force per mass.").of(m::ACCELERATION),
        key("force", Kind::Vector, "[\"1 mN\", 0, 0]", "Force on each grain.").of(m::FORCE),
    ],
    groups: &[Group { rule: Rule::ExactlyOne, keys: &["acceleration", "force"] }],
    tag: None,
};

/// `drag` of a field.
pub static DRAG: Section = Section {
    name: "drag",
    doc: "Resistance of a fluid: force = coefficient × (flow − velocity).",
    keys: &[
        key("coefficient", Kind::Number, "\"0.1 kg/s\"", "The coefficient, the same for all grains.")
            .of(m::MASS_RATE)
            .not_negative(),
        key("viscosity", Kind::Number, "\"1 mPa s\"", "Stokes: coefficient = 6 π viscosity × radius.")
            .of(m::VISCOSITY)
            .not_negative(),
        key("flow", Kind::Vector, "[\"1 m/s\", 0, 0]", "Velocity of the fluid.").of(m::SPEED).default("at rest"),
    ],
    groups: &[Group { rule: Rule::ExactlyOne, keys: &["coefficient", "viscosity"] }],
    tag: None,
};

/// `buoyancy` of a field.
pub static BUOYANCY: Section = Section {
    name: "buoyancy",
    doc: "Weight of the displaced fluid.",
    keys: &[key("fluid-density", Kind::Number, "\"1000 kg/m^3\"", "Density of the fluid.")
        .of(m::DENSITY)
        .not_negative()
        .required()],
    groups: &[],
    tag: None,
};

/// `central` of a field.
pub static CENTRAL: Section = Section {
    name: "central",
    doc: "Acceleration towards a point: strength × distance^exponent. With periodic faces the nearest copy of the point.",
    keys: &[
        key("centre", Kind::Vector, "[0, 0, 0]", "The point.").of(m::LENGTH).default("the origin"),
        key(
            "strength",
            Kind::Number,
            "\"10 1/s^2\"",
            "Its strength, with the unit m/s^2 / m^exponent; negative pushes away.",
        )
        .of(m::ANY)
        .required(),
        key("exponent", Kind::Number, "1", "1 for a spring, -2 for gravitation.").required(),
    ],
    groups: &[],
    tag: None,
};

/// `attraction` of a field.
pub static ATTRACTION: Section = Section {
    name: "attraction",
    doc: "Gravitation between all grains. With periodic faces each feels the nearest copy of every other.",
    keys: &[
        key("constant", Kind::Number, "\"6.674e-11 m^3/kg/s^2\"", "The constant G.").of(m::ATTRACTION).required(),
        key(
            "every",
            Kind::Count,
            "10",
            "Steps between two looks at it; it acts as an impulse over as many. With velocity-verlet and symplectic-euler.",
        )
        .default("1"),
    ],
    groups: &[],
    tag: None,
};

/// `expression` of a field.
pub static FORMULAS: Section = Section {
    name: "expression",
    doc: "A force in newton by formulas of `x y z vx vy vz t r m` in SI: place, velocity, time, radius, mass. \
          With periodic faces the place is that inside the domain. \
          Variables of `[let]` are written `${name}`.",
    keys: &[key(
        "force",
        Kind::List(&Kind::Formula(&FORCE_SLOTS), 2, 3),
        "[\"-5 N/m * x\", \"0\", \"-m*9.8*sin(t)\"]",
        "Its two or three components.",
    )
    .required()],
    groups: &[],
    tag: None,
};

/// `[[stage]]`
pub static STAGE: Section = Section {
    name: "stage",
    doc: "A part of the run; stages follow one another.",
    keys: &[
        key("name", Kind::Text, "\"settle\"", "How it is called in the output.").required(),
        key(
            "solver",
            Kind::Table(&SOLVER),
            "{ kind = \"explicit\", step = \"auto\" }",
            "What differs from `[solver]`.",
        ),
        key("duration", Kind::Number, "\"5 s\"", "How long; with `until`, how long at most.").of(m::TIME).positive(),
        key("until", Kind::Table(&UNTIL), "{ kinetic-energy = \"1e-6 J\" }", "What ends it; the first condition met."),
        key("open", Kind::List(&Kind::Text, 1, MANY), "[\"gate\"]", "Walls and gaps that are taken away at its start."),
        key("close", Kind::List(&Kind::Text, 1, MANY), "[\"gate\"]", "Walls and gaps that are put back at its start."),
        key(
            "motion",
            Kind::Map(&MOTIONS),
            "{ hopper = { translate = [0, 0, \"1 mm/s\"] } }",
            "Motions that replace those of the named walls from its start; `[]` for a wall that stands still.",
        ),
        key("gravity", Kind::Vector, "[0, 0, \"-9.81 m/s^2\"]", "Gravity from its start.")
            .of(m::ACCELERATION)
            .default("unchanged"),
        key("feeds", Kind::List(&Kind::Text, 0, MANY), "[\"inlet\"]", "The feeds that work during it.").default("all"),
        key("fields", Kind::List(&Kind::Text, 0, MANY), "[\"wind\"]", "The fields that act during it.").default("all"),
    ],
    groups: &[Group { rule: Rule::AtLeastOne, keys: &["duration", "until"] }],
    tag: None,
};

/// `until` of a stage.
pub static UNTIL: Section = Section {
    name: "until",
    doc: "Conditions that end a stage; the first that is met.",
    keys: &[
        key("kinetic-energy", Kind::Number, "\"1e-6 J\"", "Kinetic energy of all grains has fallen below this.")
            .of(m::ENERGY)
            .positive(),
        key("count-below", Kind::Count, "10", "Fewer grains than this are left."),
        key("count-above", Kind::Count, "1000", "More grains than this are there."),
        key("time", Kind::Number, "\"10 s\"", "Time of the run, from its very start.").of(m::TIME).positive(),
    ],
    groups: &[Group { rule: Rule::AtLeastOne, keys: &["kinetic-energy", "count-below", "count-above", "time"] }],
    tag: None,
};

/// `[solver]`, and `solver` of a stage.
pub static SOLVER: Section = Section {
    name: "solver",
    doc: "How the run is computed. `[solver]` holds for all stages, `solver` of a stage for what differs there.",
    keys: &[
        key("kind", Kind::Choice(SolverKind::WORDS), "\"explicit\"", "The method.").default("explicit"),
        key(
            "step",
            Kind::NumberOr("auto"),
            "\"auto\"",
            "Time step, or found from the stiffest contact. Event: times at which the run can be looked at, and the longest step of \
             flights in fields that are not constant; found from the intervals of the output. Quasistatic: time between two equilibria; \
             found from the fastest feed, so that each has one grain more, or from the output.",
        )
            .of(m::TIME)
            .positive()
            .default("auto"),
        key("steps-per-contact", Kind::Number, "50", "Steps during the shortest contact when the step is found.")
            .positive()
            .default("50"),
        key("integrator", Kind::Choice(Integrator::WORDS), "\"velocity-verlet\"", "The scheme of integration.")
            .default("velocity-verlet"),
        key(
            "rotation",
            Kind::Choice(Rotation::WORDS),
            "\"quaternions\"",
            "How bodies with different moments of inertia are turned.",
        )
        .default("quaternions"),
        key(
            "skin",
            Kind::Number,
            "\"1 mm\"",
            "How far beyond touching the neighbour list looks; a run looks farther where grains are fast.",
        )
        .of(m::LENGTH)
        .positive()
        .default("a tenth of the mean diameter"),
        key(
            "collapse",
            Kind::Table(&COLLAPSE),
            "{ by = \"cut-off\", speed = \"1 cm/s\" }",
            "Event: what is done when collisions follow each other faster and faster.",
        )
        .default("the cut-off"),
        key("nodes", Kind::Choice(Nodes::WORDS), "\"turning\"", "Quasistatic: what grains do.").default("turning"),
        key("by", Kind::Choice(StaticBy::WORDS), "\"auto\"", "Quasistatic: how the structure is solved.").default("auto"),
    ],
    groups: &[],
    tag: None,
};

/// `collapse` of a solver.
pub static COLLAPSE: Section = Section {
    name: "collapse",
    doc: "What is done when hard collisions follow each other faster and faster and would never end, as those of a ball that comes to rest. \
          How often it was done is told at the end of a run.",
    keys: &[
        key("by", Kind::Choice(Collapse::WORDS), "\"cut-off\"", "The way.").required(),
        key(
            "speed",
            Kind::Number,
            "\"1 cm/s\"",
            "Collisions slower than this lose nothing; bodies part with a hundredth of it at least. By hand-over: when \
             most are slower.",
        )
        .of(m::SPEED)
        .positive()
        .default("a five-hundredth of the fastest impact expected"),
        key("time", Kind::Number, "\"10 us\"", "Duration of a contact: collisions within it of the last lose nothing.")
            .of(m::TIME)
            .positive()
            .required()
            .only_for(&["contact-time"]),
    ],
    groups: &[],
    tag: Some("by"),
};

/// `[output]`
pub static OUTPUT: Section = Section {
    name: "output",
    doc: "What is written, and how often.",
    keys: &[
        key("frames", Kind::Number, "\"20 ms\"", "Interval of pictures: all grains.")
            .of(m::TIME)
            .positive()
            .default("no frames"),
        key("series", Kind::Number, "\"5 ms\"", "Interval of numbers: energies and probes.")
            .of(m::TIME)
            .positive()
            .default("no series"),
        key("checkpoint", Kind::Number, "\"1 s\"", "Interval of checkpoints to continue from.")
            .of(m::TIME)
            .positive()
            .default("every 30 s of computing, and at the end"),
        key("contacts", Kind::Bool, "true", "Whether frames hold the contacts too.").default("true"),
        key(
            "probe",
            Kind::OneOrList(&PROBE_KIND),
            "[{ name = \"outflow\", flow-through = { y = 0 } }]",
            "What is measured.",
        ),
    ],
    groups: &[],
    tag: None,
};

/// `probe` of the output.
pub static PROBE: Section = Section {
    name: "probe",
    doc: "One thing to measure: a name and exactly one quantity.",
    keys: &[
        key("name", Kind::Text, "\"outflow\"", "The column of the series.").required(),
        key(
            "flow-through",
            Kind::Table(&AXIS_PLANE),
            "{ y = 0 }",
            "Number and mass of grains that cross a plane across an axis.",
        ),
        key("force-on", Kind::Text, "\"hopper\"", "Force of all grains on a wall."),
        key("torque-on", Kind::Text, "\"drum\"", "Torque of all grains on a wall."),
        key("about", Kind::Vector, "[0, 0, 0]", "The point the torque is taken about.")
            .of(m::LENGTH)
            .default("the origin"),
        key(
            "packing-in",
            Kind::Table(&REGION),
            "{ sphere = { centre = [0, 0, 0], radius = 0.1 } }",
            "Solid fraction in a region.",
        ),
        key(
            "stress-in",
            Kind::Table(&REGION),
            "{ sphere = { centre = [0, 0, 0], radius = 0.1 } }",
            "Mean stress of the contacts in a region.",
        ),
        key(
            "count-in",
            Kind::Table(&REGION),
            "{ sphere = { centre = [0, 0, 0], radius = 0.1 } }",
            "Number of grains in a region.",
        ),
        key("coordination", Kind::Bool, "true", "Mean number of contacts of a grain."),
    ],
    groups: &[
        Group { rule: Rule::Needs, keys: &["about", "torque-on"] },
        Group {
            rule: Rule::ExactlyOne,
            keys: &["flow-through", "force-on", "torque-on", "packing-in", "stress-in", "count-in", "coordination"],
        },
    ],
    tag: None,
};
