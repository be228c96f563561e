//! What a frame shows: fields of grains and of contacts, and walls.
//!
//! Files for ParaView ([`vtk`](crate::vtk)), the store that viewer and pictures read ([`store`](crate::store)) and exports are
//! all written from these lists. A new field is one entry here and shows up everywhere.

use crate::record::avalanches;
use esker::contact::visit::{self, ContactForce, Other};
use esker::integrate::{Integrator, Rotation, isotropic};
use esker::math::{Aabb, Mat3, Pose, Vec3, outer};
use esker::measure::principal;
use esker::model::{Model, PairTable};
use esker::neighbor::PeriodicCell;
use esker::shape::Shape;
use esker::simulation::Simulation;
use esker::solver::quasistatic::{Key, Slid};
use esker::state::State;

/// Most numbers in a value.
pub const MOST_COMPONENTS: usize = 6;
/// Names of the components of a symmetric tensor in VTK's order.
pub const SYMMETRIC: &[&str] = &["XX", "YY", "ZZ", "XY", "YZ", "XZ"];
const XYZ: &[&str] = &["X", "Y", "Z"];

/// What a field counts or measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// A measure.
    Real,
    /// A count or the number of something.
    Whole,
    /// The identity of a grain.
    Identity,
}

/// How a field goes into the store of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Once for a grain: it never changes.
    Once,
    /// With every frame.
    Always,
    /// Not at all: it is in the files for ParaView only.
    Not,
}

/// A named value of each grain or contact.
pub struct Field<'a> {
    /// Name.
    pub name: &'static str,
    /// Unit, empty for none.
    pub unit: &'static str,
    /// Names of the components; empty for a single number.
    pub components: &'static [&'static str],
    /// What it counts or measures.
    pub number: Number,
    /// How it is stored.
    pub keep: Keep,
    value: Box<dyn Fn(usize) -> [f64; MOST_COMPONENTS] + 'a>,
}

impl<'a> Field<'a> {
    /// A measure.
    fn real(name: &'static str, unit: &'static str, keep: Keep, value: impl Fn(usize) -> f64 + 'a) -> Self {
        let value = Box::new(move |i| filled([value(i)]));
        Self { name, unit, components: &[], number: Number::Real, keep, value }
    }

    /// A count.
    fn whole(name: &'static str, number: Number, keep: Keep, value: impl Fn(usize) -> u64 + 'a) -> Self {
        let value = Box::new(move |i| filled([value(i) as f64]));
        Self { name, unit: "", components: &[], number, keep, value }
    }

    /// A vector.
    fn vector(name: &'static str, unit: &'static str, keep: Keep, value: impl Fn(usize) -> Vec3 + 'a) -> Self {
        let value = Box::new(move |i| filled(value(i).to_array()));
        Self { name, unit, components: XYZ, number: Number::Real, keep, value }
    }

    /// Numbers in a value.
    pub fn width(&self) -> usize {
        self.components.len().max(1)
    }

    /// The value of a row; what is beyond the width is zero.
    pub fn value(&self, row: usize) -> [f64; MOST_COMPONENTS] {
        (self.value)(row)
    }
}

/// Components of the symmetric part of a tensor, in the order of [`SYMMETRIC`].
pub fn components(tensor: &Mat3) -> [f64; 6] {
    let s = principal::symmetric(*tensor);
    [s.x_axis.x, s.y_axis.y, s.z_axis.z, s.x_axis.y, s.y_axis.z, s.x_axis.z]
}

/// Numbers and zeros behind them.
fn filled<const N: usize>(numbers: [f64; N]) -> [f64; MOST_COMPONENTS] {
    std::array::from_fn(|k| numbers.get(k).copied().unwrap_or(0.0))
}

/// What contacts make of a grain.
#[derive(Clone, Copy, Debug)]
struct Pressed {
    contacts: u32,
    /// Sum of the sizes of its contact forces \[N\].
    force: f64,
    /// Compression positive, over its own volume \[Pa\].
    stress: Mat3,
}

/// All that a state shows.
pub struct Scene<'a> {
    /// The model.
    pub model: &'a Model,
    /// The state.
    pub state: &'a State,
    pressed: Vec<Pressed>,
    contacts: Option<Vec<ContactForce>>,
    /// Whether what has slid is kept for each contact: some stage goes from rest to rest.
    slides: bool,
    /// The walls that are there.
    pub walls: Vec<WallShape>,
}

impl<'a> Scene<'a> {
    /// Of a simulation whose state is whole.
    pub fn of(simulation: &'a Simulation) -> Self {
        let mut contacts = Vec::new();
        let scene = Self::looking(simulation, |c| contacts.push(c));
        Self { contacts: Some(contacts), ..scene }
    }

    /// The same without its contacts, which take ten times the memory of the grains.
    pub fn of_grains(simulation: &'a Simulation) -> Self {
        Self::looking(simulation, |_| {})
    }

    /// What contacts make of the grains; each is shown to `look`.
    fn looking(simulation: &'a Simulation, mut look: impl FnMut(ContactForce)) -> Self {
        let (model, state) = (simulation.model(), &simulation.state);
        let p = &state.particles;
        let mut pressed = vec![Pressed { contacts: 0, force: 0.0, stress: Mat3::ZERO }; p.owned()];
        visit::for_each(model, state, |c: ContactForce| {
            for end in c.ends() {
                let grain = &mut pressed[end.grain];
                grain.contacts += 1;
                grain.force += end.force.length();
                grain.stress += outer(end.force, end.arm);
            }
            look(c);
        });
        for (i, grain) in pressed.iter_mut().enumerate() {
            grain.stress *= 1.0 / model.kinds[p.kind[i] as usize].shape.volume(p.radius(i));
        }
        let slides = avalanches::are_told(simulation.stages());
        Self { model, state, pressed, contacts: None, slides, walls: walls(model, state) }
    }

    /// Whether contacts are wanted.
    pub fn has_contacts(&self) -> bool {
        self.contacts.is_some()
    }

    /// The contacts, pairs first, where they are wanted.
    pub fn contacts(&self) -> &[ContactForce] {
        self.contacts.as_deref().unwrap_or_default()
    }

    /// Number of grains.
    pub fn grains(&self) -> usize {
        self.state.particles.owned()
    }

    /// Where a grain is shown: within the periodic cell \[m\].
    pub fn place(&self, grain: usize) -> Vec3 {
        self.model.cell.wrapped(self.state.particles.position(grain))
    }

    /// Both ends of a contact, the first grain where it is shown \[m\].
    pub fn ends(&self, contact: &ContactForce) -> [Vec3; 2] {
        let from = self.model.cell.wrapped(contact.from);
        [from, from + (contact.to - contact.from)]
    }

    /// Fields of the grains.
    pub fn grain_fields(&self) -> Vec<Field<'_>> {
        use Keep::{Always, Not, Once};
        let (model, state, pressed) = (self.model, self.state, &self.pressed);
        let p = &state.particles;
        let shows_turning = |shape: Shape| shape != Shape::Sphere;
        let turning = if model.kinds.iter().any(|k| shows_turning(k.shape)) { Always } else { Not };
        vec![
            Field::whole("id", Number::Identity, Once, |i| p.id[i]),
            Field::real("radius", "m", Once, |i| p.radius(i)),
            Field::vector("velocity", "m/s", Always, |i| p.velocity(i)),
            Field::vector("spin", "rad/s", Always, |i| p.angular_velocity(i)),
            Field {
                name: "orientation",
                unit: "",
                components: &["x", "y", "z", "w"],
                number: Number::Real,
                keep: turning,
                value: Box::new(|i| filled(isotropic::orientation(model, state, i).to_array())),
            },
            Field::whole("material", Number::Whole, Once, |i| model.material_of(p.kind[i]).into()),
            Field::whole("kind", Number::Whole, Once, |i| p.kind[i].into()),
            Field::real("mass", "kg", Not, |i| p.mass[i]),
            Field::vector("force", "N", Not, |i| p.load[i].force),
            Field::vector("torque", "N m", Not, |i| p.load[i].torque),
            Field::real("contact force", "N", Always, |i| pressed[i].force),
            Field::whole("coordination", Number::Whole, Always, |i| pressed[i].contacts.into()),
            Field::real("pressure", "Pa", Always, |i| principal::pressure(pressed[i].stress, model.planar)),
            Field {
                name: "stress",
                unit: "Pa",
                components: SYMMETRIC,
                number: Number::Real,
                keep: Not,
                value: Box::new(|i| components(&pressed[i].stress)),
            },
        ]
    }

    /// Fields of the contacts.
    pub fn contact_fields(&self) -> Vec<Field<'_>> {
        use Keep::{Always, Not};
        let all = self.contacts();
        let mut fields = vec![
            Field::vector("force", "N", Not, |k| all[k].force),
            Field::real("normal force", "N", Always, |k| all[k].normal_force),
            Field::real("tangential force", "N", Always, |k| all[k].tangential_force()),
            Field::real("overlap", "m", Not, |k| all[k].overlap),
        ];
        if self.slides {
            fields.push(Field::whole("slides", Number::Whole, Always, |k| slid(self.state, &all[k]).times));
            fields.push(Field::real("friction work", "J", Always, |k| slid(self.state, &all[k]).heat));
        }
        fields
    }
}

/// What has slid so far in a contact while a solver went from rest to rest.
pub(crate) fn slid(state: &State, contact: &ContactForce) -> Slid {
    let id = &state.particles.id;
    let key = match contact.other {
        Other::Grain(j) => Key::Pair(id[contact.i].min(id[j]), id[contact.i].max(id[j])),
        Other::Wall(w) => Key::Wall(id[contact.i], w as u16, contact.feature),
    };
    state.statics.slid.get(&key).copied().unwrap_or_default()
}

/// The walls that are there.
fn walls(model: &Model, state: &State) -> Vec<WallShape> {
    let (clip, depth) = clip(model, state);
    let active = model.walls.iter().enumerate().filter(|(_, wall)| wall.active);
    let shape = |(w, wall): (usize, &esker::model::Wall)| {
        let (vertices, triangles) = wall.surface.triangles(depth, clip);
        let (pose, force) = (state.wall_pose(model, w, state.time), state.walls[w].force);
        WallShape { wall: w, pose, force, vertices, triangles }
    };
    active.map(shape).collect()
}

/// The box that endless walls are drawn in: around the grains and the finite walls, in steps of an eighth of its size
/// so that it seldom changes. And the depth of planar walls \[m\].
fn clip(model: &Model, state: &State) -> (Aabb, f64) {
    let places = &state.particles.place;
    let mut clip = Aabb::EMPTY;
    for place in places {
        clip = clip.including(place.position + place.radius).including(place.position - place.radius);
    }
    let mut largest: f64 = places.iter().map(|place| place.radius).fold(0.0, f64::max);
    for wall in &model.walls {
        let b = wall.surface.bounds();
        if b.min.is_finite() && b.max.is_finite() {
            clip = clip.union(b);
        }
    }
    if !(clip.min.is_finite() && clip.max.is_finite()) {
        clip = Aabb { min: Vec3::splat(-1.0), max: Vec3::splat(1.0) };
        largest = largest.max(0.1);
    }
    let clip = clip.grown(largest);
    let step = ((clip.max - clip.min).max_element() / 8.0).log2().ceil().exp2();
    let clip = Aabb { min: (clip.min / step).floor() * step, max: (clip.max / step).ceil() * step };
    (clip, 2.0 * largest)
}

/// A field by name, without its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Described {
    /// Name.
    pub name: &'static str,
    /// Unit, empty for none.
    pub unit: &'static str,
    /// Names of the components; empty for a single number.
    pub components: &'static [&'static str],
}

/// All fields of grains: what a frame of any scene has.
pub fn described_grain_fields() -> Vec<Described> {
    let model = Model {
        planar: false,
        cell: PeriodicCell::OPEN,
        materials: vec![],
        kinds: vec![],
        laws: PairTable::new(0, |_, _| unreachable!("there are no materials")),
        collisions: PairTable::new(0, |_, _| unreachable!("there are no materials")),
        walls: vec![],
        fields: vec![],
        feeds: vec![],
        removals: vec![],
        gates: vec![],
        dt: 1.0,
        method: Default::default(),
        integrator: Integrator::default(),
        rotation: Rotation::default(),
        skin: 0.0,
        seed: 0,
    };
    let state = State::new(&model);
    let scene = Scene { model: &model, state: &state, pressed: vec![], contacts: None, slides: false, walls: vec![] };
    let described = |f: &Field| Described { name: f.name, unit: f.unit, components: f.components };
    scene.grain_fields().iter().map(described).collect()
}

/// A wall as it is shown.
pub struct WallShape {
    /// Number of the wall in the scene.
    pub wall: usize,
    /// Where it is.
    pub pose: Pose,
    /// Force of all grains on it \[N\].
    pub force: Vec3,
    /// Corners in its own frame \[m\].
    pub vertices: Vec<Vec3>,
    /// Its triangles.
    pub triangles: Vec<[u32; 3]>,
}
