//! Frames: grains as points, contacts as lines, walls as triangles.

use crate::run_folder::Frame;
use crate::vtk::{Array, PolyData, VtkError};
use esker::contact::visit::{self, ContactForce, Other};
use esker::integrate::isotropic;
use esker::math::{Aabb, Mat3, Vec3, outer};
use esker::simulation::Simulation;
use std::path::Path;

/// Names of the components of a symmetric tensor in VTK's order.
const SYMMETRIC: [&str; 6] = ["XX", "YY", "ZZ", "XY", "YZ", "XZ"];

pub(super) fn write(kind: Frame, path: &Path, simulation: &Simulation) -> Result<(), VtkError> {
    match kind {
        Frame::Grains => grains(path, simulation),
        Frame::Contacts => contacts(path, simulation),
        Frame::Walls => walls(path, simulation),
    }
}

fn grains(path: &Path, simulation: &Simulation) -> Result<(), VtkError> {
    let (model, state) = (simulation.model(), &simulation.state);
    let p = &state.particles;
    let n = p.owned();

    // Per grain: contacts, sum of the sizes of contact forces, and stress (compression positive) over its own volume.
    let mut count = vec![0i32; n];
    let mut load = vec![0.0f64; n];
    let mut stress = vec![Mat3::ZERO; n];
    visit::for_each(model, state, |c: ContactForce| {
        let mut add = |i: usize, force: Vec3, arm: Vec3| {
            count[i] += 1;
            load[i] += force.length();
            stress[i] += outer(force, arm);
        };
        add(c.i, c.force, c.from - c.point);
        if let Other::Grain(j) = c.other
            && c.share == 1.0
        {
            add(j, -c.force, c.to - c.point);
        }
    });
    let tensor = |i: usize| {
        let shape = model.kinds[p.kind[i] as usize].shape;
        let s = stress[i] * (1.0 / shape.volume(p.radius(i)));
        let half = |a: f64, b: f64| 0.5 * (a + b);
        [
            s.x_axis.x,
            s.y_axis.y,
            s.z_axis.z,
            half(s.x_axis.y, s.y_axis.x),
            half(s.y_axis.z, s.z_axis.y),
            half(s.x_axis.z, s.z_axis.x),
        ]
    };
    PolyData::points((0..n).map(|i| model.cell.wrapped(p.position(i))))
        .vertices()
        .time(state.time)
        .point_data("id", p.id.as_slice())
        .point_data("radius", (0..n).map(|i| p.radius(i)))
        .point_data("velocity", (0..n).map(|i| p.velocity(i)))
        .point_data("spin", (0..n).map(|i| p.angular_velocity(i)))
        .point_array(
            Array::new("orientation", (0..n).map(|i| isotropic::orientation(model, state, i).to_array()))
                .component_names(&["x", "y", "z", "w"]),
        )
        .point_data("material", (0..n).map(|i| i32::from(model.material_of(p.kind[i]))))
        .point_data("kind", (0..n).map(|i| i32::from(p.kind[i])))
        .point_data("mass", p.mass.as_slice())
        .point_data("force", (0..n).map(|i| p.load[i].force))
        .point_data("torque", (0..n).map(|i| p.load[i].torque))
        .point_data("contact force", load.as_slice())
        .point_data("coordination", count.as_slice())
        .point_array(Array::new("stress", (0..n).map(tensor)).component_names(&SYMMETRIC))
        .write(path)
}

fn contacts(path: &Path, simulation: &Simulation) -> Result<(), VtkError> {
    let (model, state) = (simulation.model(), &simulation.state);
    let mut all: Vec<ContactForce> = Vec::new();
    visit::for_each(model, state, |c| all.push(c));
    // Where the frame of grains shows the first one.
    let ends: Vec<Vec3> = all
        .iter()
        .flat_map(|c| {
            let from = model.cell.wrapped(c.from);
            [from, from + (c.to - c.from)]
        })
        .collect();
    let wall = |c: &ContactForce| match c.other {
        Other::Grain(_) => -1i32,
        Other::Wall(w) => w as i32,
    };
    let normal = |c: &ContactForce| (c.to - c.from).normalize_or_zero();
    PolyData::points(ends.iter().copied())
        .segments((0..all.len()).map(|k| [2 * k, 2 * k + 1]))
        .time(state.time)
        .cell_data("force", all.iter().map(|c| c.force))
        .cell_data("normal force", all.iter().map(|c| c.normal_force))
        .cell_data("tangential force", all.iter().map(|c| (c.force + c.normal_force * normal(c)).length()))
        .cell_data("overlap", all.iter().map(|c| c.overlap))
        .cell_data("wall", all.iter().map(wall))
        .write(path)
}

fn walls(path: &Path, simulation: &Simulation) -> Result<(), VtkError> {
    let (model, state) = (simulation.model(), &simulation.state);
    let p = &state.particles;

    // Planes are drawn around the grains and the finite walls.
    let mut clip = Aabb::EMPTY;
    for place in &p.place {
        clip = clip.including(place.position + place.radius).including(place.position - place.radius);
    }
    let mut largest: f64 = p.place.iter().map(|place| place.radius).fold(0.0, f64::max);
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
    let depth = 2.0 * largest;
    let mut points: Vec<Vec3> = Vec::new();
    let mut corners: Vec<[usize; 3]> = Vec::new();
    let mut wall_of: Vec<i32> = Vec::new();
    for (w, wall) in model.walls.iter().enumerate().filter(|(_, wall)| wall.active) {
        let pose = state.wall_pose(model, w, state.time);
        let (vertices, triangles) = wall.surface.triangles(depth, clip.grown(largest));
        let first = points.len();
        points.extend(vertices.iter().map(|&v| pose.to_world(v)));
        corners.extend(triangles.iter().map(|t| t.map(|k| first + k as usize)));
        wall_of.extend(triangles.iter().map(|_| w as i32));
    }
    PolyData::points(points.iter().copied())
        .triangles(corners.iter().copied())
        .time(state.time)
        .cell_data("wall", wall_of.as_slice())
        .cell_data("force", wall_of.iter().map(|&w| state.walls[w as usize].force))
        .write(path)
}
