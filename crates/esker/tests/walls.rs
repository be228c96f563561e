//! Walls of triangles against walls with a formula: a mesh must be felt as the surface it stands for.

use esker::boundary::{Mesh, MeshError, MeshReport, Plane, Revolved, Shell, Surface, WallTouch};
use esker::math::{Aabb, Quat, Vec3};
use proptest::prelude::*;

fn touches(surface: &Surface, centre: Vec3, radius: f64) -> Vec<WallTouch> {
    let mut out = Vec::new();
    surface.touches(centre, radius, &mut out);
    out
}

fn mesh(vertices: Vec<Vec3>, triangles: Vec<[u32; 3]>, reach: f64) -> Surface {
    Surface::Mesh(Mesh::new(vertices, triangles, reach).unwrap())
}

fn report(surface: &Surface) -> MeshReport {
    match surface {
        Surface::Mesh(mesh) => mesh.report(),
        _ => panic!("not a mesh"),
    }
}

/// The square [-1, 1]^2 at z = 0 divided into n x n jittered cells, each cut along either diagonal, wound either way.
fn random_square(n: usize, noise: &[f64]) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut noise = noise.iter().copied().cycle();
    let mut next = || noise.next().unwrap();
    let width = 2.0 / n as f64;
    let mut vertices = Vec::new();
    for j in 0..=n {
        for i in 0..=n {
            let mut jitter = |k: usize| if k == 0 || k == n { 0.0 } else { 0.4 * width * (2.0 * next() - 1.0) };
            let (dx, dy) = (jitter(i), jitter(j));
            vertices.push(Vec3::new(i as f64 * width - 1.0 + dx, j as f64 * width - 1.0 + dy, 0.0));
        }
    }
    let mut triangles = Vec::new();
    for j in 0..n {
        for i in 0..n {
            let a = (j * (n + 1) + i) as u32;
            let (b, c, d) = (a + 1, a + n as u32 + 2, a + n as u32 + 1);
            let pair = if next() < 0.5 { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] };
            triangles.extend(pair.map(|[p, q, r]| if next() < 0.3 { [q, p, r] } else { [p, q, r] }));
        }
    }
    (vertices, triangles)
}

proptest! {
    #[test]
    fn any_triangulation_of_a_square_is_felt_as_a_plane(
        n in 1usize..7,
        noise in proptest::collection::vec(0.0..1.0f64, 97),
        turn in (-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64, 0.1..1.0f64),
        centres in proptest::collection::vec((-0.99..0.99f64, -0.99..0.99f64, 0.1..0.2999f64, proptest::bool::ANY), 20),
    ) {
        let (flat, triangles) = random_square(n, &noise);
        let turn = Quat::from_xyzw(turn.0, turn.1, turn.2, turn.3).normalize();
        let shift = Vec3::new(0.3, -0.2, 0.1);
        let place = |p: Vec3| turn * p + shift;
        let radius = 0.3;
        let square = mesh(flat.iter().map(|p| place(*p)).collect(), triangles.clone(), radius);
        prop_assert_eq!(report(&square).patches, 1);
        // Normals are known to the rounding of the vertices over the height of the thinnest triangle.
        let height = |[a, b, c]: &[u32; 3]| {
            let [a, b, c] = [*a, *b, *c].map(|v| flat[v as usize]);
            let longest = (b - a).length().max((c - b).length()).max((a - c).length());
            (b - a).cross(c - a).length() / longest
        };
        let thinnest = triangles.iter().map(height).fold(f64::INFINITY, f64::min);
        let exact = 1e-12 + 1e-15 / thinnest;
        // Anywhere, and exactly above vertices and edges, where regions meet.
        let mut feet: Vec<(Vec3, f64)> = centres
            .iter()
            .map(|(x, y, h, above)| (Vec3::new(*x, *y, 0.0), if *above { *h } else { -*h }))
            .collect();
        feet.extend(flat.iter().map(|p| (*p, 0.25)));
        feet.extend(triangles.iter().map(|[a, b, _]| (0.7 * flat[*a as usize] + 0.3 * flat[*b as usize], -0.2)));
        for (foot, height) in feet {
            if foot.abs().max_element() > 0.9999 {
                continue;
            }
            let plane = Surface::Plane(Plane::new(shift, turn * Vec3::Z * height.signum()).unwrap());
            let centre = place(foot + height * Vec3::Z);
            let (tiled, whole) = (touches(&square, centre, radius), touches(&plane, centre, radius));
            prop_assert_eq!(tiled.len(), 1);
            prop_assert_eq!(tiled[0].feature, 0);
            prop_assert!((tiled[0].overlap - whole[0].overlap).abs() < exact);
            prop_assert!((tiled[0].normal - whole[0].normal).length() < exact);
            prop_assert!((tiled[0].point - whole[0].point).length() < exact);
            prop_assert_eq!(tiled[0].curvature, [0.0, 0.0]);
        }
    }

    #[test]
    fn the_distance_to_a_mesh_is_that_of_the_nearest_of_many_sampled_points(
        corners in proptest::collection::vec((-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64), 6),
        p in (-1.5..1.5f64, -1.5..1.5f64, -1.5..1.5f64),
    ) {
        let corners: Vec<Vec3> = corners.into_iter().map(Vec3::from).collect();
        let triangles = vec![[0, 1, 2], [3, 4, 5]];
        let surface = mesh(corners.clone(), triangles.clone(), 0.2);
        let p = Vec3::from(p);
        let n = 120;
        let mut sampled = f64::INFINITY;
        for [a, b, c] in triangles {
            let [a, b, c] = [a, b, c].map(|v: u32| corners[v as usize]);
            for i in 0..=n {
                for j in 0..=n - i {
                    let (v, w) = (f64::from(i) / f64::from(n), f64::from(j) / f64::from(n));
                    sampled = sampled.min((a + v * (b - a) + w * (c - a)).distance(p));
                }
            }
        }
        let exact = surface.distance(p);
        prop_assert!(exact <= sampled + 1e-13);
        prop_assert!(sampled - exact < 4.0 / f64::from(n));
        let deepest = touches(&surface, p, exact + 0.1).iter().map(|t| t.overlap).fold(0.0, f64::max);
        prop_assert!((deepest - 0.1).abs() < 1e-12);
    }

    #[test]
    fn a_cube_is_touched_once_from_outside_and_once_per_face_from_inside(
        p in (-1.3..1.3f64, -1.3..1.3f64, -1.3..1.3f64),
    ) {
        let radius = 0.25;
        let cube = Surface::Mesh(Mesh::cuboid(-Vec3::ONE, Vec3::ONE, radius).unwrap());
        let p = Vec3::from(p);
        let out = touches(&cube, p, radius);
        if p.abs().max_element() > 1.0 {
            let nearest = p.clamp(-Vec3::ONE, Vec3::ONE);
            let gap = nearest.distance(p);
            prop_assert_eq!(out.len(), (gap < radius) as usize);
            if let Some(touch) = out.first() {
                prop_assert!((touch.overlap - (radius - gap)).abs() < 1e-14);
                prop_assert!((touch.normal - (nearest - p) / gap).length() < 1e-10);
                prop_assert!((touch.point - nearest).length() < 1e-14);
            }
        } else {
            let near = (Vec3::ONE - p.abs()).to_array().into_iter().filter(|gap| *gap < radius).count();
            prop_assert_eq!(out.len(), near);
        }
    }
}

#[test]
fn a_sphere_at_the_corner_of_a_cube_touches_it_once_outside_and_three_times_inside() {
    let cube = Surface::Mesh(Mesh::cuboid(Vec3::ZERO, Vec3::ONE, 0.2).unwrap());
    assert_eq!(report(&cube), MeshReport { patches: 6, ..MeshReport::default() });
    let outside = touches(&cube, Vec3::splat(1.1), 0.2);
    assert_eq!(outside.len(), 1);
    assert!((outside[0].normal + Vec3::ONE.normalize()).length() < 1e-15);
    assert!((outside[0].overlap - (0.2 - 0.1 * 3f64.sqrt())).abs() < 1e-15);
    let inside = touches(&cube, Vec3::new(0.15, 0.16, 0.17), 0.2);
    let push: Vec3 = inside.iter().map(|t| -t.overlap * t.normal).sum();
    assert_eq!(inside.len(), 3);
    assert!((push - Vec3::new(0.05, 0.04, 0.03)).length() < 1e-15);
}

/// Two squares that meet along the y axis, each sloping down by `slope` away from it.
fn ridge(slope: f64) -> Surface {
    let vertices = [(-1.0, -1.0), (0.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (0.0, 1.0), (1.0, 1.0)]
        .map(|(x, y): (f64, f64)| Vec3::new(x, y, -slope * x.abs()))
        .to_vec();
    mesh(vertices, vec![[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4]], 0.3)
}

#[test]
fn rolling_over_a_convex_edge_goes_from_face_to_edge_to_face_without_a_jump() {
    let roof = ridge(0.5);
    let steps = 40_000;
    let mut last: Option<WallTouch> = None;
    let mut visited = Vec::new();
    for k in 0..=steps {
        let x = -0.5 + f64::from(k) / f64::from(steps);
        let centre = Vec3::new(x, 0.3 * x, 0.25 - 0.4 * x.abs());
        let out = touches(&roof, centre, 0.3);
        assert_eq!(out.len(), 1, "at x = {x}");
        if let Some(last) = last {
            assert!((out[0].overlap - last.overlap).abs() < 4e-5);
            assert!((out[0].normal - last.normal).length() < 3e-4);
        }
        if visited.last() != Some(&out[0].feature) {
            visited.push(out[0].feature);
        }
        last = Some(out[0]);
    }
    // Patches 0 and 1, and one edge between them.
    assert_eq!((visited.len(), visited[0], visited[2]), (3, 0, 1));
    assert!(visited[1] >= 2);
}

#[test]
fn a_grain_in_a_groove_touches_both_faces_and_not_the_edge() {
    let groove = ridge(-1.0);
    let out = touches(&groove, Vec3::new(0.01, 0.2, 0.4), 0.3);
    assert_eq!(out.iter().map(|t| t.feature).collect::<Vec<_>>(), vec![0, 1]);
    let (left, right) = (out[0], out[1]);
    let root = 0.5f64.sqrt();
    assert!((left.overlap - (0.3 - 0.41 * root)).abs() < 1e-15);
    assert!((right.overlap - (0.3 - 0.39 * root)).abs() < 1e-15);
    assert!((left.normal - Vec3::new(-root, 0.0, -root)).length() < 1e-15);
}

#[test]
fn the_tip_of_a_fan_is_touched_once() {
    let n = 7;
    let mut vertices = vec![Vec3::ZERO];
    vertices.extend((0..n).map(|k| {
        let angle = std::f64::consts::TAU * f64::from(k) / f64::from(n);
        Vec3::new(angle.cos(), angle.sin(), -0.8)
    }));
    let fan = mesh(vertices, (0..n).map(|k| [0, k as u32 + 1, (k as u32 + 1) % n as u32 + 1]).collect(), 0.3);
    for centre in [Vec3::new(0.0, 0.0, 0.2), Vec3::new(0.01, -0.02, 0.25)] {
        let out = touches(&fan, centre, 0.3);
        assert_eq!(out.len(), 1);
        assert_eq!(out[0].point, Vec3::ZERO);
        assert!((out[0].overlap - (0.3 - centre.length())).abs() < 1e-15);
    }
    // Below the tip a grain hangs in the hollow and touches the faces around it.
    assert!(touches(&fan, Vec3::new(0.0, 0.0, -0.4), 0.35).len() == 7);
}

#[test]
fn an_edge_divided_into_pieces_is_one_feature() {
    // A right-angled step along y whose edge is cut at y = 0.3 on both sides.
    let vertices = [
        (0.0, 0.0, 0.0),
        (0.0, 0.3, 0.0),
        (0.0, 1.0, 0.0),
        (-1.0, 0.0, 0.0),
        (-1.0, 1.0, 0.0),
        (0.0, 0.0, -1.0),
        (0.0, 1.0, -1.0),
    ]
    .map(Vec3::from)
    .to_vec();
    let triangles = vec![[3, 0, 1], [3, 1, 4], [4, 1, 2], [0, 5, 1], [1, 5, 6], [1, 6, 2]];
    let step = mesh(vertices, triangles, 0.2);
    let features: Vec<u32> = [0.1, 0.29, 0.3, 0.31, 0.8]
        .iter()
        .map(|y| {
            let out = touches(&step, Vec3::new(0.1, *y, 0.1), 0.2);
            assert_eq!(out.len(), 1);
            out[0].feature
        })
        .collect();
    assert!(features.iter().all(|f| *f == features[0] && *f >= 2));
}

#[test]
fn neighbours_that_share_no_vertices_are_still_one_contact() {
    // Left of x = 0 one long side, right of it two short ones: a T-junction at (0, 0.1), flat and then folded.
    for fold in [0.0, 0.7] {
        let vertices = vec![
            Vec3::new(0.0, -1.0, 0.0),
            Vec3::new(0.0, 1.0, 0.0),
            Vec3::new(-1.0, 0.0, 0.0),
            Vec3::new(0.0, 0.1, 0.0),
            Vec3::new(1.0, -1.0, -fold),
            Vec3::new(1.0, 1.0, -fold),
        ];
        let surface = mesh(vertices, vec![[0, 1, 2], [0, 4, 3], [3, 4, 5], [3, 5, 1]], 0.3);
        assert!(report(&surface).open_edges > 3);
        for k in -200..=200 {
            let x = 1e-3 * f64::from(k);
            for y in [-0.2, 0.0999, 0.1, 0.15, 0.3] {
                let out = touches(&surface, Vec3::new(x, y, 0.25 - 0.9 * fold * x.max(0.0)), 0.3);
                assert_eq!(out.len(), 1, "at ({x}, {y}), fold {fold}");
            }
        }
    }
}

/// Open cylinder of radius 1 along z from -1 to 1 in n flat strips; its corners lie on the true cylinder.
fn strips(n: u32) -> Surface {
    let vertices = (0..n)
        .map(|k| (std::f64::consts::TAU * f64::from(k) / f64::from(n)).sin_cos())
        .flat_map(|(y, x)| [Vec3::new(x, y, -1.0), Vec3::new(x, y, 1.0)])
        .collect();
    let triangles =
        (0..n).map(|k| (2 * k, 2 * ((k + 1) % n))).flat_map(|(a, b)| [[a, b, b + 1], [a, b + 1, a + 1]]).collect();
    mesh(vertices, triangles, 0.2)
}

#[test]
fn a_finely_divided_cylinder_converges_to_the_true_one_with_second_order() {
    let cylinder = Surface::Revolved(Revolved::cylinder(Vec3::NEG_Z, Vec3::Z, 1.0).unwrap());
    let error = |n: u32, distance: f64| {
        let facets = strips(n);
        (0..400)
            .map(|k| {
                let angle = 0.0137 * f64::from(k);
                let centre = Vec3::new(distance * angle.cos(), distance * angle.sin(), 0.3 * angle.sin());
                let exact = touches(&cylinder, centre, 0.2);
                let facets = touches(&facets, centre, 0.2);
                assert_eq!(exact.len(), 1);
                let deepest = facets.iter().map(|t| t.overlap).fold(0.0, f64::max);
                (deepest - exact[0].overlap).abs()
            })
            .fold(0.0, f64::max)
    };
    for distance in [0.85, 1.15] {
        let errors = [32, 64, 128, 256].map(|n| error(n, distance));
        // Facets lie inside the circle by at most 1 - cos(pi / n).
        assert!(errors[0] <= 1.05 * (1.0 - (std::f64::consts::PI / 32.0).cos()) / 0.85);
        for pair in errors.windows(2) {
            let ratio = pair[0] / pair[1];
            assert!((3.7..4.3).contains(&ratio), "{errors:?} at {distance}");
        }
    }
}

#[test]
fn pictures_of_walls_lie_on_them() {
    let surfaces = [
        Surface::Revolved(Revolved::cone(Vec3::ONE, Vec3::new(0.0, 3.0, 1.0), 0.0, 0.7).unwrap()),
        Surface::Revolved(Revolved::disc(Vec3::ONE, Vec3::new(0.0, 3.0, 1.0), 0.7).unwrap()),
        Surface::Shell(Shell::new(Vec3::X, 2.0).unwrap()),
        Surface::Mesh(Mesh::triangle([Vec3::X, Vec3::Y, Vec3::Z], 0.1).unwrap()),
    ];
    for surface in surfaces {
        let (vertices, triangles) = surface.triangles(0.1, Aabb { min: Vec3::ZERO, max: Vec3::ONE });
        assert!(!triangles.is_empty());
        for corners in triangles {
            let [a, b, c] = corners.map(|v| vertices[v as usize]);
            assert!((b - a).cross(c - a).length() > 1e-6);
            assert!(
                [a, b, c].iter().all(|p| surface.distance(*p) < 1e-12 && surface.bounds().grown(1e-12).contains(*p))
            );
        }
    }
}

#[test]
fn only_a_spin_about_its_own_axis_leaves_a_surface_of_revolution_in_place() {
    let drum = Surface::Revolved(Revolved::cylinder(Vec3::X, Vec3::new(1.0, 2.0, 0.0), 0.5).unwrap());
    assert!(drum.is_invariant_under_spin(Vec3::new(1.0, -5.0, 0.0), Vec3::new(0.0, -3.0, 0.0)));
    assert!(!drum.is_invariant_under_spin(Vec3::new(1.0 + 1e-9, 0.0, 0.0), Vec3::Y));
    assert!(!drum.is_invariant_under_spin(Vec3::X, Vec3::new(1e-9, 1.0, 0.0)));
    let floor = Surface::Plane(Plane::new(Vec3::ZERO, Vec3::Z).unwrap());
    assert!(floor.is_invariant_under_spin(Vec3::splat(7.0), Vec3::NEG_Z));
    assert!(!floor.is_invariant_under_spin(Vec3::ZERO, Vec3::X));
    let shell = Surface::Shell(Shell::new(Vec3::Y, 1.0).unwrap());
    assert!(shell.is_invariant_under_spin(Vec3::new(3.0, 1.0, 0.0), Vec3::X));
    assert!(!shell.is_invariant_under_spin(Vec3::ZERO, Vec3::X));
    let cube = Surface::Mesh(Mesh::cuboid(Vec3::ZERO, Vec3::ONE, 0.1).unwrap());
    assert!(!cube.is_invariant_under_spin(Vec3::splat(0.5), Vec3::Z));
}

#[test]
fn faults_of_a_mesh_are_counted_and_the_harmless_ones_mended() {
    let vertices = vec![
        Vec3::ZERO,
        Vec3::X,
        Vec3::Y,
        Vec3::Z,
        Vec3::X + Vec3::splat(1e-12), // the second vertex once more
        Vec3::new(0.5, 0.0, 0.0),     // on the side between the first two
    ];
    let triangles = vec![
        [0, 1, 2],
        [4, 3, 0], // closes on the first through the welded vertex, but is wound against all its neighbours
        [2, 0, 1], // the first again
        [0, 5, 1], // no area
        [0, 2, 3],
        [2, 1, 3],
    ];
    let mesh = Mesh::new(vertices, triangles, 0.1).unwrap();
    let expected =
        MeshReport { welded: 1, degenerate: 1, duplicate: 1, flipped_edges: 3, patches: 4, ..MeshReport::default() };
    assert_eq!(mesh.report(), expected);
    assert_eq!(mesh.triangles().len(), 4);

    // Three leaves on one edge.
    let book = vec![Vec3::ZERO, Vec3::Z, Vec3::X, Vec3::Y, Vec3::NEG_X];
    let book = Mesh::new(book, vec![[0, 1, 2], [0, 1, 3], [0, 1, 4]], 0.1).unwrap();
    assert_eq!((book.report().open_edges, book.report().non_manifold_edges), (6, 1));
    // Two triangles of a square, the second upside down.
    let square = vec![Vec3::ZERO, Vec3::X, Vec3::X + Vec3::Y, Vec3::Y];
    let square = Mesh::new(square, vec![[0, 1, 2], [0, 3, 2]], 0.1).unwrap();
    assert_eq!((square.report().flipped_edges, square.report().open_edges, square.report().patches), (1, 4, 1));
}

#[test]
fn unusable_meshes_are_refused_with_the_reason() {
    let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
    let refuse = |vertices: Vec<Vec3>, triangles, reach| Mesh::new(vertices, triangles, reach).unwrap_err();
    assert_eq!(refuse(corners.clone(), vec![], 0.1), MeshError::Empty);
    assert_eq!(
        refuse(corners.clone(), vec![[0, 1, 3]], 0.1).to_string(),
        "triangle 0 refers to vertex 3, but the mesh has 3 vertices (the first is 0)"
    );
    assert_eq!(refuse(corners.clone(), vec![[0, 1, 1]], 0.1), MeshError::AllDegenerate { count: 1 });
    assert_eq!(refuse(corners.clone(), vec![[0, 1, 2]], 0.0), MeshError::BadReach { value: 0.0 });
    assert!(matches!(refuse(corners.clone(), vec![[0, 1, 2]], f64::NAN), MeshError::BadReach { .. }));
    for bad in [f64::NAN, f64::INFINITY, 1e200] {
        let vertices = vec![Vec3::ZERO, Vec3::new(0.0, bad, 0.0), Vec3::Y];
        assert!(matches!(refuse(vertices, vec![[0, 1, 2]], 0.1), MeshError::BadVertex { vertex: 1, .. }));
    }
}
