//! The meshes of `examples/drum.toml` and of `esker bench drum`: what they are, and how to write them again.

use std::f64::consts::TAU;
use std::path::PathBuf;

/// Lifters around the drum; points on the arc between two of them; their height; half their angle at foot and top:
/// too thin for a grain of the scene to lie inside.
const LIFTERS: usize = 8;
const ARC: usize = 7;
const HEIGHT: f64 = 0.15;
const FOOT: f64 = 0.03;
const TOP: f64 = 0.02;

/// A drum along y of radius 1.
struct Drum {
    path: PathBuf,
    title: &'static str,
    /// Cross-section in the x-z plane, counter-clockwise; star-shaped about the centre.
    profile: Vec<[f64; 2]>,
    length: f64,
}

fn drums() -> [Drum; 2] {
    let path = |name| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name);
    [
        Drum {
            path: path("../../examples/meshes/drum.stl"),
            title: "drum with eight lifters, radius 1, length 1 along y",
            profile: with_lifters(),
            length: 1.0,
        },
        Drum {
            path: path("benches/drum.stl"),
            title: "drum of 96 sides, radius 1, length 0.72 along y",
            profile: (0..96).map(|k| TAU * k as f64 / 96.0).map(|angle| [angle.cos(), angle.sin()]).collect(),
            length: 0.72,
        },
    ]
}

fn with_lifters() -> Vec<[f64; 2]> {
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

/// Triangles of the closed drum, facing inwards.
fn triangles(drum: &Drum) -> Vec<[[f64; 3]; 3]> {
    let (points, end) = (&drum.profile, drum.length);
    let mut triangles = Vec::new();
    for (k, a) in points.iter().enumerate() {
        let b = points[(k + 1) % points.len()];
        let [a0, a1, b0, b1] = [(a, 0.0), (a, end), (&b, 0.0), (&b, end)].map(|(p, y)| [p[0], y, p[1]]);
        triangles.push([a0, b0, b1]);
        triangles.push([a0, b1, a1]);
        triangles.push([[0.0, 0.0, 0.0], b0, a0]);
        triangles.push([[0.0, end, 0.0], a1, b1]);
    }
    triangles
}

/// The file: binary STL.
fn bytes(drum: &Drum) -> Vec<u8> {
    let triangles = triangles(drum);
    let mut bytes = drum.title.as_bytes().to_vec();
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

/// Area of a polygon (Gauss).
fn area(points: &[[f64; 2]]) -> f64 {
    let next = points.iter().cycle().skip(1);
    0.5 * points.iter().zip(next).map(|(a, b)| a[0] * b[1] - a[1] * b[0]).sum::<f64>()
}

#[test]
fn the_drum_meshes_are_closed_and_face_inwards() {
    for drum in drums() {
        let mesh = esker_io::stl::read(&drum.path).expect("the mesh reads");
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
        let of_tetrahedron = |t: &[u32; 3]| {
            let [a, b, c] = t.map(corner);
            a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0])
        };
        let volume = mesh.triangles.iter().map(of_tetrahedron).sum::<f64>() / 6.0;
        let expected = -area(&drum.profile) * drum.length;
        assert!((volume / expected - 1.0).abs() < 1e-6, "{}: {volume} instead of {expected}", drum.title);
    }
}

#[test]
fn the_drum_meshes_are_the_ones_this_test_describes() {
    for drum in drums() {
        let mesh = esker_io::stl::read(&drum.path).expect("the mesh reads");
        let described = triangles(&drum);
        assert_eq!(mesh.triangles.len(), described.len(), "write it again with the ignored test");
        for (found, described) in mesh.triangles.iter().zip(described) {
            for (corner, described) in found.iter().zip(described) {
                let corner = mesh.vertices[*corner as usize];
                // Sines may differ in the last digit from machine to machine.
                assert!((0..3).all(|c| (corner[c] - described[c]).abs() < 1e-6), "{corner:?} instead of {described:?}");
            }
        }
    }
}

#[test]
#[ignore = "writes the meshes"]
fn write_the_drum_meshes() {
    for drum in drums() {
        std::fs::write(&drum.path, bytes(&drum)).expect("the mesh can be written");
    }
}
