//! Frames for ParaView: grains as points, contacts as lines, walls as triangles.

use crate::frame::Scene;
use crate::run_folder::Frame;
use crate::vtk::{Array, PolyData, VtkError};
use esker::contact::visit::{ContactForce, Other};
use esker::math::Vec3;
use std::path::Path;

pub(super) fn write(kind: Frame, path: &Path, scene: &Scene) -> Result<(), VtkError> {
    match kind {
        Frame::Grains => grains(path, scene),
        Frame::Contacts => contacts(path, scene),
        Frame::Walls => walls(path, scene),
    }
}

fn grains(path: &Path, scene: &Scene) -> Result<(), VtkError> {
    let (n, fields) = (scene.grains(), scene.grain_fields());
    let points = PolyData::points((0..n).map(|i| scene.place(i))).vertices().time(scene.state.time);
    fields.iter().fold(points, |data, field| data.point_array(Array::of(field, n))).write(path)
}

fn contacts(path: &Path, scene: &Scene) -> Result<(), VtkError> {
    let all = scene.contacts();
    let ends: Vec<Vec3> = all.iter().flat_map(|c| scene.ends(c)).collect();
    let wall = |c: &ContactForce| match c.other {
        Other::Grain(_) => -1i32,
        Other::Wall(w) => w as i32,
    };
    let fields = scene.contact_fields();
    let lines = PolyData::points(ends.iter().copied())
        .segments((0..all.len()).map(|k| [2 * k, 2 * k + 1]))
        .time(scene.state.time);
    let lines = fields.iter().fold(lines, |data, field| data.cell_array(Array::of(field, all.len())));
    lines.cell_data("wall", all.iter().map(wall)).write(path)
}

fn walls(path: &Path, scene: &Scene) -> Result<(), VtkError> {
    let mut points: Vec<Vec3> = Vec::new();
    let mut corners: Vec<[usize; 3]> = Vec::new();
    let mut wall_of: Vec<i32> = Vec::new();
    let mut force_of: Vec<Vec3> = Vec::new();
    for shape in &scene.walls {
        let first = points.len();
        points.extend(shape.vertices.iter().map(|&v| shape.pose.to_world(v)));
        corners.extend(shape.triangles.iter().map(|t| t.map(|k| first + k as usize)));
        wall_of.extend(shape.triangles.iter().map(|_| shape.wall as i32));
        force_of.extend(shape.triangles.iter().map(|_| shape.force));
    }
    PolyData::points(points.iter().copied())
        .triangles(corners.iter().copied())
        .time(scene.state.time)
        .cell_data("wall", wall_of.as_slice())
        .cell_data("force", force_of.as_slice())
        .write(path)
}
