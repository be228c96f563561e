//! Bodies that float: loads brought into balance by inertia, and how soft a body is between two of its points (Gavrilov 1999,
//! sections 5.7.8, 5.7.9).
//!
//! Without ground a structure has no displacements of its own. In the frame that moves with the body the loads and the inertia
//! of all nodes balance, and then any node may be held: what holds it carries nothing, and forces in links do not depend on
//! where that is.

use super::{Action, Frame, Freedom, GROUND, Link, Shift};
use crate::math::{Mat3, Vec3, outer};

/// Mass of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mass {
    /// Where it is \[m\].
    pub place: Vec3,
    /// Mass \[kg\].
    pub mass: f64,
    /// Moment of inertia of a node that turns, about any axis \[kg m²\].
    pub inertia: f64,
}

/// Motion of a body as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BodyMotion {
    /// Acceleration of the centre of mass \[m/s²\].
    pub acceleration: Vec3,
    /// Spin \[rad/s\].
    pub spin: Vec3,
    /// Angular acceleration \[rad/s²\].
    pub spin_up: Vec3,
}

/// Centre of mass \[m\].
pub fn centre(masses: &[Mass]) -> Vec3 {
    masses.iter().map(|m| m.mass * m.place).sum::<Vec3>() / masses.iter().map(|m| m.mass).sum::<f64>()
}

/// Acceleration of a rigid body of these nodes under loads, at a given spin.
pub fn motion(freedom: Freedom, masses: &[Mass], f: &[f64], spin: Vec3) -> BodyMotion {
    let centre = centre(masses);
    let total: f64 = masses.iter().map(|m| m.mass).sum();
    let (mut force, mut torque, mut inertia) = (Vec3::ZERO, Vec3::ZERO, Mat3::ZERO);
    for (node, m) in masses.iter().enumerate() {
        let (action, y) = (freedom.action(f, node as u32), m.place - centre);
        force += action.force;
        torque += y.cross(action.force) + action.couple;
        let own = if freedom.turns() { m.inertia } else { 0.0 };
        inertia += Mat3::from_diagonal(Vec3::splat(own + m.mass * y.length_squared())) - m.mass * outer(y, y);
    }
    let gyration = torque - spin.cross(inertia * spin);
    let spin_up = match freedom {
        Freedom::Planar | Freedom::PlanarTurning => Vec3::Z * (torque.z / inertia.z_axis.z),
        _ => inertia.inverse() * gyration,
    };
    BodyMotion { acceleration: force / total, spin, spin_up }
}

/// Adds the inertia of all nodes to the loads (d'Alembert): of translation, the centrifugal part, the Euler part, which the
/// thesis leaves out (E-29), and the couples of nodes that turn.
pub fn add_inertia(freedom: Freedom, masses: &[Mass], motion: &BodyMotion, f: &mut [f64]) {
    let centre = centre(masses);
    for (node, m) in masses.iter().enumerate() {
        let y = m.place - centre;
        let BodyMotion { acceleration, spin, spin_up } = *motion;
        let force = -m.mass * (acceleration + spin.cross(spin.cross(y)) + spin_up.cross(y));
        freedom.load(f, node as u32, &Action { force, couple: -m.inertia * spin_up });
    }
}

/// Links that hold a node in all its degrees of freedom with a stiffness \[N/m\]; an arm \[m\] makes rotations count.
pub fn ground(freedom: Freedom, node: u32, stiffness: f64, arm: f64) -> Vec<Link> {
    let link = |normal: Vec3, lever: f64| Link {
        ends: [node, GROUND],
        normal,
        levers: [lever, 0.0],
        stiffness: [stiffness, stiffness],
    };
    match freedom {
        Freedom::Planar | Freedom::Spatial => vec![link(Vec3::X, 0.0)],
        Freedom::PlanarTurning => vec![link(Vec3::X, 0.0), link(Vec3::Y, arm)],
        Freedom::SpatialTurning => vec![link(Vec3::X, arm), link(Vec3::Y, arm), link(Vec3::Z, 0.0)],
    }
}

/// How far a point of a floating body is displaced against its centre of mass by a unit force on it, which accelerates the whole
/// body: column c is the displacement by a force along axis c \[m/N\]. Symmetric and positive.
///
/// `solve` is given loads in balance and adds displacements.
pub fn compliance(freedom: Freedom, masses: &[Mass], node: u32, mut solve: impl FnMut(&[f64], &mut [f64])) -> Mat3 {
    let total: f64 = masses.iter().map(|m| m.mass).sum();
    let centre = centre(masses);
    let column = |axis: Vec3, solve: &mut dyn FnMut(&[f64], &mut [f64])| {
        let size = masses.len() * freedom.size();
        let (mut f, mut u) = (vec![0.0; size], vec![0.0; size]);
        freedom.load(&mut f, node, &Action { force: axis, couple: Vec3::ZERO });
        let rigid = motion(freedom, masses, &f, Vec3::ZERO);
        add_inertia(freedom, masses, &rigid, &mut f);
        solve(&f, &mut u);
        // Against the motion of the body as a whole: mean translation and mean rotation, weighted with the masses.
        let shift = |n: usize| freedom.shift(&u, n as u32);
        let mean = masses.iter().enumerate().map(|(n, m)| m.mass * shift(n).by).sum::<Vec3>() / total;
        let turn = mean_turn(freedom, masses, centre, mean, shift);
        shift(node as usize).by - mean - turn.cross(masses[node as usize].place - centre)
    };
    let z = if matches!(freedom, Freedom::Spatial | Freedom::SpatialTurning) {
        column(Vec3::Z, &mut solve)
    } else {
        Vec3::ZERO
    };
    Mat3::from_cols(column(Vec3::X, &mut solve), column(Vec3::Y, &mut solve), z)
}

/// The rotation of a body of which these are the displacements, by its moment of momentum.
fn mean_turn(freedom: Freedom, masses: &[Mass], centre: Vec3, mean: Vec3, shift: impl Fn(usize) -> Shift) -> Vec3 {
    let (mut moment, mut inertia) = (Vec3::ZERO, Mat3::ZERO);
    for (n, m) in masses.iter().enumerate() {
        let (y, s) = (m.place - centre, shift(n));
        let own = if freedom.turns() { m.inertia } else { 0.0 };
        moment += m.mass * y.cross(s.by - mean) + own * s.turn;
        inertia += Mat3::from_diagonal(Vec3::splat(own + m.mass * y.length_squared())) - m.mass * outer(y, y);
    }
    match freedom {
        Freedom::Planar | Freedom::PlanarTurning => Vec3::Z * (moment.z / inertia.z_axis.z),
        Freedom::Spatial | Freedom::SpatialTurning => inertia.inverse() * moment,
    }
}

/// Forces in all links, on their second ends, by displacements \[N\].
pub fn forces(frame: &Frame, u: &[f64]) -> Vec<Vec3> {
    let force = |link: &Link| {
        let [a, b] = link.ends.map(|node| frame.freedom.shift(u, node));
        link.force(link.stretch(&a, &b))
    };
    frame.links.iter().map(|link| link.as_ref().map_or(Vec3::ZERO, force)).collect()
}
