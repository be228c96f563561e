//! The mesh of `examples/drum.toml`: what it is, and how to write it again.

use std::f64::consts::TAU;
use std::path::PathBuf;

/// Lifters around the drum; points on the arc between two of them; their height; half their angle at foot and top.
const LIFTERS: usize = 8;
const ARC: usize = 7;
const HEIGHT: f64 = 0.15;
const FOOT: f64 = 0.09;
const TOP: f64 = 0.04;

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/meshes/drum.stl")
}

/// Cross-section in the x-z plane, radius 1, counter-clockwise; star-shaped about the centre.
fn profile() -> Vec<[f64; 2]> {
    let at = |angle: f64, radius: f64| [radius * angle.cos(), radius * angle.sin()];
    let mut points = Vec::new();
    for k in 0..LIFTERS {
        let middle = TAU * k as f64 / LIFTERS as f64;
        points.push(at(middle - FOOT, 1.0));
        points.push(at(middle - TOP, 1.0 - HEIGHT));
        points.push(at(middle + TOP, 1.0 - HEIGHT));
        let free = TAU / LIFTERS as f64 - 2.0 * FOOT;
        points.extend((0..ARC).map(|j| at(middle + FOOT + free * j as f64 / ARC as f64, 1.0)));
    }
    points
}

/// Triangles of the closed drum of length 1 along y, facing inwards.
fn triangles() -> Vec<[[f64; 3]; 3]> {
    let points = profile();
    let mut triangles = Vec::new();
    for (k, a) in points.iter().enumerate() {
        let b = points[(k + 1) % points.len()];
        let [a0, a1, b0, b1] = [(a, 0.0), (a, 1.0), (&b, 0.0), (&b, 1.0)].map(|(p, y)| [p[0], y, p[1]]);
        triangles.push([a0, b0, b1]);
        triangles.push([a0, b1, a1]);
        triangles.push([[0.0, 0.0, 0.0], b0, a0]);
        triangles.push([[0.0, 1.0, 0.0], a1, b1]);
    }
    triangles
}

/// The file: binary STL.
fn bytes() -> Vec<u8> {
    let triangles = triangles();
    let mut bytes = b"drum with eight lifters, radius 1, length 1 along y".to_vec();
    bytes.resize(80, 0);
    bytes.extend((triangles.len() as u32).to_le_bytes());
    for t in triangles {
        let side = |k: usize| [0, 1, 2].map(|c| t[k][c] - t[0][c]);
        let (u, v) = (side(1), side(2));
        let n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
        let length = n.iter().map(|x| x * x).sum::<f64>().sqrt();
        for x in n.map(|x| x / length).into_iter().chain(t.into_iter().flatten()) {
            bytes.extend((x as f32).to_le_bytes());
        }
        bytes.extend([0, 0]);
    }
    bytes
}

#[test]
fn the_drum_mesh_is_closed_and_faces_inwards() {
    let mesh = esker_io::stl::read(&path()).expect("the mesh reads");
    let mut edges = std::collections::BTreeMap::new();
    for t in &mesh.triangles {
        for k in 0..3 {
            *edges.entry((t[k], t[(k + 1) % 3])).or_insert(0) += 1;
        }
    }
    for (&(a, b), &count) in &edges {
        assert_eq!(count, 1, "edge {a}-{b} runs one way once");
        assert_eq!(edges.get(&(b, a)), Some(&1), "edge {a}-{b} has a neighbour on the other side");
    }
    let corner = |k: u32| mesh.vertices[k as usize];
    let volume: f64 = mesh
        .triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(corner);
            a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0])
        })
        .sum::<f64>()
        / 6.0;
    assert!((-3.1..-2.9).contains(&volume), "{volume}");
}

#[test]
fn the_drum_mesh_is_the_one_this_test_describes() {
    let mesh = esker_io::stl::read(&path()).expect("the mesh reads");
    let described = triangles();
    assert_eq!(mesh.triangles.len(), described.len(), "write it again with the ignored test");
    for (found, described) in mesh.triangles.iter().zip(described) {
        for (corner, described) in found.iter().zip(described) {
            let corner = mesh.vertices[*corner as usize];
            // Sines may differ in the last digit from machine to machine.
            assert!((0..3).all(|c| (corner[c] - described[c]).abs() < 1e-6), "{corner:?} instead of {described:?}");
        }
    }
}

#[test]
#[ignore = "writes examples/meshes/drum.stl"]
fn write_the_drum_mesh() {
    std::fs::write(path(), bytes()).expect("the mesh can be written");
}
