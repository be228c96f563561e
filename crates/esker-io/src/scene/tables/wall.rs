//! Keys of walls and their motion.

use super::super::choice::{Choice, Waveform};
use super::super::keys::{Group, Kind, MANY, Rule, Section, key, measures as m};

/// `[[wall]]`
pub static WALL: Section = Section {
    name: "wall",
    doc: "A fixed or moving boundary: a material and exactly one geometry.",
    keys: &[
        key("name", Kind::Text, "\"hopper\"", "How other tables call it.").required(),
        key("material", Kind::Text, "\"steel\"", "The material of its surface.").required(),
        key("plane", Kind::Table(&PLANE), "{ point = [0, 0, 0], normal = [0, 0, 1] }", "An endless plane."),
        key(
            "segment",
            Kind::List(&Kind::Vector, 2, 2),
            "[[0, 0, 0], [\"1 m\", 0, 0]]",
            "A line between two points of a planar scene.",
        )
        .of(m::LENGTH),
        key(
            "polyline",
            Kind::List(&Kind::Vector, 2, MANY),
            "[[0, 0, 0], [1, 0, 0], [1, 1, 0]]",
            "A line through points of a planar scene.",
        )
        .of(m::LENGTH),
        key("closed", Kind::Bool, "true", "Whether the last point of the polyline is joined to the first.")
            .default("false"),
        key(
            "disc",
            Kind::Table(&FLAT_DISC),
            "{ centre = [0, 0, 0], normal = [0, 0, 1], radius = 0.1 }",
            "A flat round plate.",
        ),
        key(
            "box",
            Kind::Table(&BOX),
            "{ min = [0, 0, 0], max = [1, 1, 1] }",
            "The six faces of a box (four in a planar scene).",
        ),
        key(
            "cylinder",
            Kind::Table(&WALL_CYLINDER),
            "{ from = [0, 0, 0], to = [0, 0, 1], radius = 0.1 }",
            "The mantle of a cylinder.",
        ),
        key(
            "cone",
            Kind::Table(&CONE),
            "{ from = [0, 0, 0], to = [0, 0, 1], from-radius = 0.01, to-radius = 0.1 }",
            "The mantle of a cone or of a part of it.",
        ),
        key(
            "sphere",
            Kind::Table(&SPHERE),
            "{ centre = [0, 0, 0], radius = 0.1 }",
            "The surface of a ball (of a disc in a planar scene).",
        ),
        key("triangle", Kind::List(&Kind::Vector, 3, 3), "[[0, 0, 0], [1, 0, 0], [0, 1, 0]]", "A flat triangle.")
            .of(m::LENGTH),
        key("mesh", Kind::Table(&MESH), "{ file = \"drum.stl\", scale = \"1 mm\" }", "Triangles from an STL file."),
        key(
            "gap",
            Kind::OneOrList(&GAP_KIND),
            "{ between = [2, 3], name = \"gate\" }",
            "A segment of the polyline that stages open and close under its own name.",
        ),
        key(
            "motion",
            Kind::OneOrList(&MOTION_KIND),
            "{ translate = [0, 0, \"1 mm/s\"] }",
            "How it moves; several are added.",
        )
        .default("at rest"),
    ],
    groups: &[
        Group {
            rule: Rule::ExactlyOne,
            keys: &["plane", "segment", "polyline", "disc", "box", "cylinder", "cone", "sphere", "triangle", "mesh"],
        },
        Group { rule: Rule::Needs, keys: &["closed", "polyline"] },
        Group { rule: Rule::Needs, keys: &["gap", "polyline"] },
    ],
    tag: None,
};

static GAP_KIND: Kind = Kind::Table(&GAP);
/// A motion as it stands in a list.
pub static MOTION_KIND: Kind = Kind::Table(&MOTION);
/// One motion or a list of motions.
pub static MOTIONS: Kind = Kind::OneOrList(&MOTION_KIND);
static PHASE_KIND: Kind = Kind::Table(&PHASE);

/// `plane` of a wall.
pub static PLANE: Section = Section {
    name: "plane",
    doc: "An endless plane.",
    keys: &[
        key("point", Kind::Vector, "[0, 0, 0]", "A point of the plane.").of(m::LENGTH).required(),
        key("normal", Kind::Vector, "[0, 0, 1]", "Direction into the grains; any length.").required(),
    ],
    groups: &[],
    tag: None,
};

/// `disc` of a wall.
pub static FLAT_DISC: Section = Section {
    name: "disc",
    doc: "A flat round plate.",
    keys: &[
        key("centre", Kind::Vector, "[0, 0, 0]", "Its centre.").of(m::LENGTH).required(),
        key("normal", Kind::Vector, "[0, 0, 1]", "Its axis; any length.").required(),
        key("radius", Kind::Number, "\"10 cm\"", "Its radius.").of(m::LENGTH).positive().required(),
    ],
    groups: &[],
    tag: None,
};

/// `box` of a wall or region.
pub static BOX: Section = Section {
    name: "box",
    doc: "A box along the axes.",
    keys: &[
        key("min", Kind::Vector, "[0, 0, 0]", "Lowest corner.").of(m::LENGTH).required(),
        key("max", Kind::Vector, "[1, 1, 1]", "Highest corner.").of(m::LENGTH).required(),
    ],
    groups: &[],
    tag: None,
};

/// `cylinder` of a wall.
pub static WALL_CYLINDER: Section = Section {
    name: "cylinder",
    doc: "A cylinder; grains touch it from inside and from outside.",
    keys: &[
        key("from", Kind::Vector, "[0, 0, 0]", "Centre of one end.").of(m::LENGTH).required(),
        key("to", Kind::Vector, "[0, 0, 1]", "Centre of the other end.").of(m::LENGTH).required(),
        key("radius", Kind::Number, "\"10 cm\"", "Its radius.").of(m::LENGTH).positive().required(),
        key("caps", Kind::Bool, "true", "Whether the ends are closed.").default("false"),
    ],
    groups: &[],
    tag: None,
};

/// `cylinder` of a region.
pub static CYLINDER: Section = Section {
    name: "cylinder",
    doc: "A cylinder.",
    keys: &[
        key("from", Kind::Vector, "[0, 0, 0]", "Centre of one end.").of(m::LENGTH).required(),
        key("to", Kind::Vector, "[0, 0, 1]", "Centre of the other end.").of(m::LENGTH).required(),
        key("radius", Kind::Number, "\"10 cm\"", "Its radius.").of(m::LENGTH).positive().required(),
    ],
    groups: &[],
    tag: None,
};

/// `cone` of a wall.
pub static CONE: Section = Section {
    name: "cone",
    doc: "A cone or a part of it between two circles.",
    keys: &[
        key("from", Kind::Vector, "[0, 0, 0]", "Centre of one circle.").of(m::LENGTH).required(),
        key("to", Kind::Vector, "[0, 0, 1]", "Centre of the other circle.").of(m::LENGTH).required(),
        key("from-radius", Kind::Number, "\"1 cm\"", "Radius at `from`; 0 for a tip.")
            .of(m::LENGTH)
            .not_negative()
            .required(),
        key("to-radius", Kind::Number, "\"10 cm\"", "Radius at `to`.").of(m::LENGTH).not_negative().required(),
    ],
    groups: &[],
    tag: None,
};

/// `sphere` of a wall or region.
pub static SPHERE: Section = Section {
    name: "sphere",
    doc: "A ball; in a planar scene a disc.",
    keys: &[
        key("centre", Kind::Vector, "[0, 0, 0]", "Its centre.").of(m::LENGTH).required(),
        key("radius", Kind::Number, "\"10 cm\"", "Its radius.").of(m::LENGTH).positive().required(),
    ],
    groups: &[],
    tag: None,
};

/// `mesh` of a wall.
pub static MESH: Section = Section {
    name: "mesh",
    doc: "Triangles from a file: scaled, then turned, then moved.",
    keys: &[
        key("file", Kind::Text, "\"drum.stl\"", "An STL file; its path starts from the folder of the scene.")
            .required(),
        key("scale", Kind::Number, "\"1 mm\"", "Length of one unit of the file.")
            .of(m::LENGTH)
            .positive()
            .default("1 m"),
        key(
            "rotate",
            Kind::Table(&MESH_ROTATE),
            "{ axis = [0, 0, 1], angle = \"90 deg\" }",
            "A turn about the file's origin.",
        )
        .default("none"),
        key("at", Kind::Vector, "[0, 0, \"10 mm\"]", "Where the file's origin goes.")
            .of(m::LENGTH)
            .default("the origin"),
    ],
    groups: &[],
    tag: None,
};

/// `rotate` of a mesh.
pub static MESH_ROTATE: Section = Section {
    name: "rotate",
    doc: "A turn by an angle.",
    keys: &[
        key("axis", Kind::Vector, "[0, 0, 1]", "Direction of the axis; any length.").required(),
        key("angle", Kind::Number, "\"90 deg\"", "The angle, counter-clockwise seen against the axis.")
            .of(m::ANGLE)
            .required(),
    ],
    groups: &[],
    tag: None,
};

/// `gap` of a wall.
pub static GAP: Section = Section {
    name: "gap",
    doc: "A segment of a polyline that can be opened.",
    keys: &[
        key("between", Kind::List(&Kind::Count, 2, 2), "[2, 3]", "The two points it lies between, counted from 0.")
            .required(),
        key("name", Kind::Text, "\"gate\"", "How stages call it.").required(),
    ],
    groups: &[],
    tag: None,
};

/// `motion` of a wall.
pub static MOTION: Section = Section {
    name: "motion",
    doc: "One way in which a wall moves.",
    keys: &[
        key("translate", Kind::Vector, "[0, 0, \"-1 mm/s\"]", "Constant velocity.").of(m::SPEED),
        key(
            "rotate",
            Kind::Table(&ROTATE),
            "{ through = [0, 0, 0], axis = [0, 1, 0], rate = \"30 rpm\" }",
            "Constant turning.",
        ),
        key(
            "oscillate",
            Kind::Table(&OSCILLATE),
            "{ direction = [0, 0, 1], amplitude = \"2 mm\", frequency = \"50 Hz\" }",
            "To and fro on a line.",
        ),
        key(
            "swing",
            Kind::Table(&SWING),
            "{ through = [0, 0, 0], axis = [0, 1, 0], amplitude = \"10 deg\", frequency = \"2 Hz\" }",
            "To and fro about an axis.",
        ),
        key(
            "schedule",
            Kind::List(&PHASE_KIND, 1, MANY),
            "[{ duration = \"1 s\", velocity = [0, 0, \"1 mm/s\"] }, { duration = \"2 s\" }]",
            "One phase after the other, then at rest.",
        ),
        key("jump", Kind::Table(&JUMP), "{ at = \"1 s\", by = [0, 0, \"1 mm\"] }", "A sudden displacement."),
    ],
    groups: &[Group {
        rule: Rule::ExactlyOne,
        keys: &["translate", "rotate", "oscillate", "swing", "schedule", "jump"],
    }],
    tag: None,
};

/// `rotate` of a motion.
pub static ROTATE: Section = Section {
    name: "rotate",
    doc: "Constant turning about an axis.",
    keys: &[
        key("through", Kind::Vector, "[0, 0, 0]", "A point of the axis.").of(m::LENGTH).default("the origin"),
        key("axis", Kind::Vector, "[0, 1, 0]", "Its direction; any length.").default("z in a planar scene"),
        key("rate", Kind::Number, "\"30 rpm\"", "Angular velocity.").of(m::ANGULAR).required(),
    ],
    groups: &[],
    tag: None,
};

/// `oscillate` of a motion.
pub static OSCILLATE: Section = Section {
    name: "oscillate",
    doc: "To and fro on a line.",
    keys: &[
        key("direction", Kind::Vector, "[0, 0, 1]", "Direction; any length.").required(),
        key("amplitude", Kind::Number, "\"2 mm\"", "Greatest displacement.").of(m::LENGTH).not_negative().required(),
        key("frequency", Kind::Number, "\"50 Hz\"", "Cycles per second.").of(m::FREQUENCY).positive().required(),
        key("phase", Kind::Number, "\"90 deg\"", "Phase at the start.").of(m::ANGLE).default("0"),
        key("form", Kind::Choice(Waveform::WORDS), "\"sine\"", "Its course in time.").default("sine"),
    ],
    groups: &[],
    tag: None,
};

/// `swing` of a motion.
pub static SWING: Section = Section {
    name: "swing",
    doc: "To and fro about an axis.",
    keys: &[
        key("through", Kind::Vector, "[0, 0, 0]", "A point of the axis.").of(m::LENGTH).default("the origin"),
        key("axis", Kind::Vector, "[0, 1, 0]", "Its direction; any length.").default("z in a planar scene"),
        key("amplitude", Kind::Number, "\"10 deg\"", "Greatest angle.").of(m::ANGLE).not_negative().required(),
        key("frequency", Kind::Number, "\"2 Hz\"", "Cycles per second.").of(m::FREQUENCY).positive().required(),
        key("phase", Kind::Number, "\"90 deg\"", "Phase at the start.").of(m::ANGLE).default("0"),
    ],
    groups: &[],
    tag: None,
};

/// One entry of `schedule` of a motion.
pub static PHASE: Section = Section {
    name: "schedule",
    doc: "A phase of a schedule; without velocity and rate the wall is at rest.",
    keys: &[
        key("duration", Kind::Number, "\"1 s\"", "How long.").of(m::TIME).positive().required(),
        key("velocity", Kind::Vector, "[0, 0, \"1 mm/s\"]", "Velocity.").of(m::SPEED).default("0"),
        key("rate", Kind::Number, "\"30 rpm\"", "Angular velocity.").of(m::ANGULAR).default("0"),
        key("through", Kind::Vector, "[0, 0, 0]", "A point of the axis of turning.")
            .of(m::LENGTH)
            .default("the origin"),
        key("axis", Kind::Vector, "[0, 1, 0]", "Direction of the axis; any length.").default("z in a planar scene"),
    ],
    groups: &[],
    tag: None,
};

/// `jump` of a motion.
pub static JUMP: Section = Section {
    name: "jump",
    doc: "A sudden displacement.",
    keys: &[
        key("at", Kind::Number, "\"1 s\"", "When.").of(m::TIME).not_negative().required(),
        key("by", Kind::Vector, "[0, 0, \"1 mm\"]", "How far.").of(m::LENGTH).required(),
    ],
    groups: &[],
    tag: None,
};
