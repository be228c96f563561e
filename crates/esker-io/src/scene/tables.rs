//! Every key of the format, declared once. See [`keys`](super::keys) for the vocabulary.

pub mod contact;
pub mod grains;
pub mod run;
pub mod wall;

use super::choice::{Axis, Choice};
use super::keys::{Kind, MANY, Section, key, measures as m};

static MATERIAL_KIND: Kind = Kind::Table(&contact::MATERIAL);
static CONTACT_KIND: Kind = Kind::Table(&contact::CONTACT);
static WALL_KIND: Kind = Kind::Table(&wall::WALL);
static GRAINS_KIND: Kind = Kind::Table(&grains::GRAINS);
static FEED_KIND: Kind = Kind::Table(&grains::FEED);
static REMOVE_KIND: Kind = Kind::Table(&grains::REMOVE);
static FIELD_KIND: Kind = Kind::Table(&run::FIELD);
static STAGE_KIND: Kind = Kind::Table(&run::STAGE);

/// The whole file.
pub static SCENE: Section = Section {
    name: "scene",
    doc: "A scene: materials, walls, grains, and the stages of the run. Plain numbers are SI; texts carry units.",
    keys: &[
        key("title", Kind::Text, "\"Hopper with 500 discs\"", "What it is."),
        key("planar", Kind::Bool, "false", "Whether it is a scene of discs in the x-y plane.").default("false"),
        key("depth", Kind::Number, "\"1 m\"", "Length of the discs of a planar scene.")
            .of(m::LENGTH)
            .positive()
            .default("1 m"),
        key("gravity", Kind::Vector, "[0, 0, \"-9.81 m/s^2\"]", "Acceleration by gravity.")
            .of(m::ACCELERATION)
            .default("none"),
        key("seed", Kind::Count, "7", "Start of the random numbers; the same seed gives the same run.").default("0"),
        key(
            "let",
            Kind::Variables,
            "{ width = \"0.3 m\", half = \"width/2\" }",
            "Variables for other values: `\"width/2\"` or `${width}`.",
        ),
        key(
            "domain",
            Kind::Table(&DOMAIN),
            "{ min = [0, 0, 0], max = [1, 1, 1], periodic = [\"x\"] }",
            "The box of the run.",
        ),
        key("material", Kind::Map(&MATERIAL_KIND), "{ glass = { density = \"2500 kg/m^3\" } }", "Materials by name."),
        key(
            "contact",
            Kind::Map(&CONTACT_KIND),
            "{ glass-glass = { end = \"geometric\" } }",
            "Contact laws by pair of materials.",
        ),
        key(
            "wall",
            Kind::List(&WALL_KIND, 0, MANY),
            "[{ name = \"floor\", material = \"steel\", plane = { point = [0, 0, 0], normal = [0, 0, 1] } }]",
            "Walls.",
        ),
        key(
            "grains",
            Kind::List(&GRAINS_KIND, 0, MANY),
            "[{ name = \"bed\", material = \"glass\", radius = 0.01, fill = { method = \"random\", count = 10 } }]",
            "Grains at the start.",
        ),
        key(
            "feed",
            Kind::List(&FEED_KIND, 0, MANY),
            "[{ name = \"inlet\", material = \"glass\", radius = 0.01, rate = 10, region = { sphere = { centre = [0, 0, 1], radius = 0.1 } } }]",
            "Grains that come in.",
        ),
        key("remove", Kind::List(&REMOVE_KIND, 0, MANY), "[{ below = { z = -1 } }]", "Where grains leave."),
        key(
            "field",
            Kind::List(&FIELD_KIND, 0, MANY),
            "[{ drag = { viscosity = \"1 mPa s\" } }]",
            "Forces besides gravity.",
        ),
        key("solver", Kind::Table(&run::SOLVER), "{ kind = \"explicit\" }", "How the run is computed."),
        key(
            "stage",
            Kind::List(&STAGE_KIND, 0, MANY),
            "[{ name = \"fall\", duration = \"1 s\" }]",
            "The parts of the run, in order.",
        ),
        key("output", Kind::Table(&run::OUTPUT), "{ frames = \"20 ms\" }", "What is written."),
    ],
    groups: &[],
    tag: None,
};

/// `[domain]`
pub static DOMAIN: Section = Section {
    name: "domain",
    doc: "The box of the run, and across which of its faces grains come back on the other side.",
    keys: &[
        key("periodic", Kind::List(&Kind::Choice(Axis::WORDS), 0, 3), "[\"x\", \"y\"]", "Axes with periodic faces.")
            .default("none"),
        key("min", Kind::Vector, "[0, 0, 0]", "Lowest corner.").of(m::LENGTH).required(),
        key("max", Kind::Vector, "[\"1 m\", 1, 1]", "Highest corner.").of(m::LENGTH).required(),
    ],
    groups: &[],
    tag: None,
};

/// Every section that can be reached from [`SCENE`], each once, in the order of the reference page, with the way to
/// it as it stands in a file: `[[wall]]`, `motion.rotate` of `[[wall]]` as `[[wall]] motion.rotate`.
pub fn sections() -> Vec<(String, &'static Section)> {
    let mut out: Vec<(String, &'static Section)> = vec![(String::new(), &SCENE)];
    let mut next = 0;
    while next < out.len() {
        let (path, section) = out[next].clone();
        next += 1;
        let mut insert_at = next;
        for key in section.keys {
            let mut kinds = vec![(&key.kind, false, false)];
            while let Some((kind, named, listed)) = kinds.pop() {
                match kind {
                    Kind::Table(inner) => {
                        if out.iter().any(|(_, known)| std::ptr::eq(*known, *inner)) {
                            continue;
                        }
                        let way = match (path.is_empty(), named, listed) {
                            (true, true, _) => format!("[{}.NAME]", key.name),
                            (true, _, true) => format!("[[{}]]", key.name),
                            (true, ..) => format!("[{}]", key.name),
                            _ if path.ends_with(']') => format!("{path} {}", key.name),
                            _ => format!("{path}.{}", key.name),
                        };
                        // Depth first: the parts of a wall follow the wall.
                        out.insert(insert_at, (way, inner));
                        insert_at += 1;
                    }
                    Kind::Map(of) => kinds.push((of, true, listed)),
                    Kind::List(of, ..) | Kind::OneOrList(of) => kinds.push((of, named, true)),
                    Kind::Either(of) => kinds.extend(of.iter().map(|kind| (kind, named, listed))),
                    _ => {}
                }
            }
        }
    }
    out
}
