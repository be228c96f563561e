//! A wall is what it is touched as: planes, huge spheres, meshes, hollows, edges and corners.

use crate::bench::{FLOOR, after, ball_mass, bounce, changed, go, grain, index, on_floor, simulation, vector};
use crate::{Case, Effort, Evidence, Findings};
use esker::boundary::{Mesh, Surface};
use esker::math::Vec3;
use esker::rng::{Purpose, Stream};
use esker::simulation::Simulation;
use std::f64::consts::PI;
use std::sync::Arc;

pub const CASES: &[Case] = &[
    Case {
        id: "V41",
        source: "limits of geometry; facet, edge and vertex tests of other programs",
        title: "a plane as a huge sphere and as triangles; edges, vertices and seams without a jump",
        evidence: Evidence::Property,
        effort: Effort::Quick,
        run: planes,
    },
    Case {
        id: "D-33",
        source: "Džiugys & Peters 1998, IV.2.4",
        title: "walls: a hollow as a negative radius, one contact on a convex edge, one per face in a corner",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: hollows_and_corners,
    },
];

const R: f64 = 0.01;
const G: f64 = 9.81;

/// Hertz and Mindlin with losses.
const ROUGH: &str = "[contact.default]\nnormal = { law = \"hertz\", modulus = 1e7, restitution = 0.6 }\n\
                     tangential = { law = \"mindlin\", stiffness-ratio = 0.8, damping-ratio = 0.5, friction = 0.4 }\n";
/// A linear spring: the same force whatever the curvature.
const LINEAR: &str = "[contact.default]\nnormal = { law = \"hooke\", stiffness = 1e5, restitution = 0.6 }\n";

/// What lies at z = 0.
enum Floor {
    Plane,
    Triangles(Arc<Surface>),
    /// A fixed sphere with so many times the radius of the ball.
    Sphere(f64),
}

/// How a ball of 1 cm begins, and in steps of what length \[s\].
struct Throw {
    gravity: Vec3,
    place: Vec3,
    velocity: Vec3,
    spin: Vec3,
    step: f64,
}

fn ball(contact: &str, throw: &Throw, floor: Floor) -> Simulation {
    let below = match floor {
        Floor::Plane | Floor::Triangles(_) => FLOOR.into(),
        Floor::Sphere(size) => format!(
            "[[grains]]\nname = \"floor\"\nmaterial = \"floor\"\nradius = {:e}\nfixed = true\n\
             fill = {{ method = \"at\", positions = [[0, 0, {:e}]] }}\n",
            size * R,
            -size * R
        ),
    };
    let tables = format!(
        "gravity = {}\n[material.ball]\ndensity = 2500\n[material.floor]\ndensity = 2500\n{contact}{}{below}\
         [solver]\nstep = {:e}\nskin = \"1 mm\"\n",
        vector(throw.gravity),
        grain("ball", R, throw.place, throw.velocity, throw.spin),
        throw.step
    );
    changed(&tables, 1, |model, _| {
        if let Floor::Triangles(surface) = floor {
            model.walls[0].surface = surface;
        }
    })
}

fn triangles(mesh: Mesh) -> Floor {
    Floor::Triangles(Arc::new(Surface::Mesh(mesh)))
}

fn mesh(vertices: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Mesh {
    Mesh::new(vertices, triangles, 3.0 * R).expect("a mesh of our own")
}

/// A square of 24 cm in 2 n² triangles, cut along either diagonal.
fn flat(n: u32) -> Mesh {
    let at = |i: u32, j: u32| {
        let [a, b] = [i, j].map(|k| 2.0 * f64::from(k) / f64::from(n) - 1.0);
        Vec3::new(0.12 * (a + 0.013), 0.12 * (b - 0.007), 0.0)
    };
    let mut random = Stream::new(5, Purpose::Fill, 0);
    let vertices = (0..=n).flat_map(|j| (0..=n).map(move |i| at(i, j))).collect();
    let mut triangles = Vec::new();
    for (j, i) in (0..n).flat_map(|j| (0..n).map(move |i| (j, i))) {
        let [a, b, c, d] = [(0, 0), (1, 0), (1, 1), (0, 1)].map(|(di, dj)| (j + dj) * (n + 1) + i + di);
        triangles.extend(if random.uniform() < 0.5 { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] });
    }
    mesh(vertices, triangles)
}

/// Two squares that meet along y, each rising by `slope` away from it.
fn ridge(slope: f64) -> Mesh {
    let corners = [(-1.0, -1.0), (0.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (0.0, 1.0), (1.0, 1.0)];
    let vertices = corners.map(|(x, y): (f64, f64)| 0.1 * Vec3::new(x, y, slope * x.abs())).to_vec();
    mesh(vertices, vec![[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4]])
}

/// A pyramid of seven sides with its tip at the origin.
fn tip() -> Mesh {
    let side = |k: u32| {
        let (sin, cos) = (2.0 * PI * f64::from(k) / 7.0).sin_cos();
        0.1 * Vec3::new(cos, sin, -0.8)
    };
    let vertices = std::iter::once(Vec3::ZERO).chain((0..7).map(side)).collect();
    mesh(vertices, (0..7).map(|k| [0, k + 1, (k + 1) % 7 + 1]).collect())
}

/// Largest deviation of some vectors, each over its length.
fn deviation(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b) / a.length()).fold(0.0, f64::max)
}

fn motion(run: &Simulation) -> [Vec3; 3] {
    let (p, i) = (&run.state.particles, index(&run.state, 0));
    [p.position(i), p.velocity(i), p.angular_velocity(i)]
}

fn planes() -> Findings {
    let mut found = Findings::default();
    let (velocity, spin) = (Vec3::new(0.5, 0.2, -1.0), Vec3::new(10.0, -5.0, 30.0));
    let above =
        |foot: Vec3| Throw { gravity: Vec3::ZERO, place: foot + Vec3::Z * (R + 1e-6), velocity, spin, step: 2e-6 };

    // Force during the impact, velocity and spin afterwards.
    let impact = |floor: Floor| {
        let mut run = ball(ROUGH, &above(Vec3::ZERO), floor);
        go(&mut run, 60);
        let during = run.state.particles.load[index(&run.state, 0)].force;
        go(&mut run, 400);
        let [_, v, w] = motion(&run);
        [during, v, w]
    };
    let plane = impact(Floor::Plane);
    found.at_most("bounced: velocity down afterwards [m/s]", -plane[1].z, 0.0);
    for size in [1e4, 1e5, 1e6] {
        let off = deviation(&plane, &impact(Floor::Sphere(size)));
        found.at_most(format!("sphere of {size:e} radii for a plane: force, velocity, spin off"), off, 1.0 / size);
    }

    let rolls = |floor: Floor| {
        let throw = Throw {
            gravity: Vec3::new(2.5, 0.6, -G),
            place: Vec3::new(-0.08, -0.03, R - 1e-5),
            velocity: Vec3::new(0.5, 0.1, 0.0),
            spin: Vec3::ZERO,
            step: 1e-5,
        };
        let contact = format!("{ROUGH}rolling = {{ law = \"spring\", friction = 0.1 }}\n");
        let mut run = ball(&contact, &throw, floor);
        go(&mut run, 30_000);
        motion(&run)
    };
    let on_plane = rolls(Floor::Plane);
    found.at_most("rolled to x = 5 cm at least: short of it [m]", 0.05 - on_plane[0].x, 0.0);
    let off = deviation(&on_plane, &rolls(triangles(flat(40))));
    found.at_most("rolling over 40 triangles for a plane: place, velocity, spin off", off, 1e-12);

    // The same throw at a face, a seam and a vertex of a flat mesh.
    let facets = flat(8);
    let [a, b, c] = [40, 41, 50].map(|v: usize| facets.vertices()[v]);
    for (name, foot) in [("face", (a + b + c) / 3.0), ("seam", 0.3 * a + 0.7 * b), ("vertex", a)] {
        let thrown = |floor: Floor| {
            let mut run = ball(ROUGH, &above(foot), floor);
            bounce(&mut run, on_floor);
            let [_, v, w] = motion(&run);
            [v, w]
        };
        let off = deviation(&thrown(Floor::Plane), &thrown(triangles(flat(8))));
        found.at_most(format!("thrown at a {name} of a flat mesh: velocity, spin off from a plane"), off, 1e-12);
    }

    // Straight on a convex edge and on a tip, where the normal is the same.
    let drop = |floor: Floor| {
        let throw = Throw { velocity: Vec3::NEG_Z, spin: Vec3::ZERO, ..above(Vec3::ZERO) };
        let mut run = ball(LINEAR, &throw, floor);
        let got = bounce(&mut run, on_floor);
        [got.peak_force, got.duration, run.state.particles.velocity(0).z]
    };
    let plain = drop(Floor::Plane);
    for (name, surface) in [("convex edge", ridge(-0.5)), ("tip of seven sides", tip())] {
        let got = drop(triangles(surface));
        for (what, k) in [("peak force [N]", 0), ("duration [s]", 1), ("velocity afterwards [m/s]", 2)] {
            found.relative(format!("dropped on a {name}: {what}"), got[k], plain[k], 1e-9);
        }
    }
    jumps(&mut found);
    found
}

/// Largest change of the force of unit springs between neighbouring points of a way with so many of them.
fn largest_change(surface: &Surface, from: Vec3, to: Vec3, points: u32) -> f64 {
    let mut touches = Vec::new();
    let mut at = |k: u32| -> Vec3 {
        let centre = from.lerp(to, f64::from(k) / f64::from(points));
        touches.clear();
        surface.touches(centre, R, &mut touches);
        touches.iter().map(|t| -t.overlap * t.normal).sum()
    };
    let mut last = at(0);
    (1..=points)
        .map(|k| {
            let now = at(k);
            let change = now.distance(last);
            last = now;
            change
        })
        .fold(0.0, f64::max)
}

/// Ten times as many points on a way make the largest change ten times as small, unless there is a jump.
fn jumps(found: &mut Findings) {
    let seams = Surface::Mesh(flat(40));
    let way = [Vec3::new(-0.07, -0.02, 0.95 * R), Vec3::new(0.08, 0.03, 0.95 * R)];
    let change = largest_change(&seams, way[0], way[1], 20_000) / (0.05 * R);
    found.at_most("over the seams of a flat mesh: largest change of the force, relative", change, 1e-12);
    let over = |height: f64, askew: f64| {
        let way = Vec3::new(0.013, askew, 0.0);
        [Vec3::Z * height - way, Vec3::Z * height + way]
    };
    for (name, surface, [from, to]) in [
        ("over a convex edge", ridge(-0.5), over(0.95 * R, 0.004)),
        ("over a tip", tip(), over(0.95 * R, 0.0)),
        ("past a tip", tip(), [Vec3::new(-0.013, 0.002, 0.008), Vec3::new(0.013, -0.003, 0.009)]),
        ("through a groove", ridge(0.5), over(1.05 * R, 0.004)),
    ] {
        let surface = Surface::Mesh(surface);
        let [coarse, fine] = [2000, 20_000].map(|points| largest_change(&surface, from, to, points));
        found.relative(format!("{name}: largest change of the force, coarse over fine way"), coarse / fine, 10.0, 5e-3);
    }
}

fn hollows_and_corners() -> Findings {
    let mut found = Findings::default();
    // In a hollow ball of 1.5 m: 1/R* = 1/r - 1/R_wall.
    let (r, wall, rate) = (0.03, 1.5, 100.0);
    let radius = 1.0 / (1.0 / r - 1.0 / wall);
    let mass = ball_mass(r, 1000.0);
    let hollow = |normal: &str, step: f64| {
        let text = format!(
            "[material.m]\ndensity = 1000\n[contact.default]\nnormal = {{ {normal} }}\nend = \"geometric\"\n\
             [[wall]]\nname = \"hollow\"\nmaterial = \"m\"\nsphere = {{ centre = [0, 0, {wall}], radius = {wall} }}\n\
             [[grains]]\nname = \"ball\"\nmaterial = \"m\"\nradius = {r}\nvelocity = [0, 0, -1]\n\
             fill = {{ method = \"at\", positions = [[0, 0, {:e}]] }}\n[solver]\nstep = {step:e}\n",
            r + 0.3 * step
        );
        let mut run = simulation(&text, 1);
        let got = bounce(&mut run, on_floor);
        (got.peak_overlap, got.duration, run.state.particles.velocity(0).z)
    };
    let omega = (5e5 * radius / mass - 0.25 * rate * rate).sqrt();
    let time = PI / omega;
    let (_, got, back) = hollow(&format!("law = \"hooke\", modulus = 5e5, rate = {rate}"), time / 5000.0);
    found.relative("hollow of 1.5 m, spring of the radius and dashpot: duration [s]", got, time, 1e-6);
    found.relative(
        "hollow of 1.5 m, spring of the radius and dashpot: restitution",
        back,
        (-0.5 * rate * time).exp(),
        1e-5,
    );
    let coefficient = 4.0 / 3.0 * 1e7 * radius.sqrt();
    let peak = (1.25 * mass / coefficient).powf(0.4);
    let (overlap, got, back) = hollow("law = \"hertz\", modulus = 1e7", 2.943_275_184_3 * peak / 1000.0);
    found.relative("hollow of 1.5 m, Hertz: largest overlap [m]", overlap, peak, 1e-6);
    found.relative("hollow of 1.5 m, Hertz: duration [s]", got, 2.943_275_184_3 * peak, 1e-5);
    found.relative("hollow of 1.5 m, Hertz: restitution", back, 1.0, 1e-6);

    // At rest in the groove of two planes: each carries the weight over the root of two.
    let (k, mass) = (1e4, ball_mass(R, 2500.0));
    let plane = |name: &str, x: f64| {
        format!(
            "[[wall]]\nname = \"{name}\"\nmaterial = \"m\"\nplane = {{ point = [0, 0, 0], normal = [{x}, 0, 1] }}\n"
        )
    };
    let contact = format!(
        "[material.m]\ndensity = 2500\n[contact.default]\nnormal = {{ law = \"hooke\", stiffness = {k:e}, restitution = 0.2 }}\n"
    );
    let laid = |place: Vec3| {
        format!(
            "[[grains]]\nname = \"ball\"\nmaterial = \"m\"\nradius = {R}\n\
             fill = {{ method = \"at\", positions = [{}] }}\n[solver]\nstep = \"20 us\"\n",
            vector(place)
        )
    };
    let root = 0.5_f64.sqrt();
    let text = format!(
        "gravity = [0, 0, -{G}]\n{contact}{}{}{}",
        plane("left", 1.0),
        plane("right", -1.0),
        laid(Vec3::Z * (R / root))
    );
    let mut run = simulation(&text, 1);
    let height = after(&mut run, 1.0).particles.position(0).z;
    let contacts = &run.state.contacts.walls;
    found.absolute("groove of two planes: contacts", contacts.len() as f64, 2.0, 0.0);
    found.relative("groove of two planes: overlap with each [m]", R - root * height, root * mass * G / k, 1e-9);

    // A box of 10 cm: touched once from outside, once per face from inside.
    let cube = "[[wall]]\nname = \"box\"\nmaterial = \"m\"\nbox = { min = [0, 0, 0], max = [0.1, 0.1, 0.1] }\n";
    let deep = 0.001;
    let half = Vec3::new(0.0, 0.05, 0.0);
    let inside = R - deep;
    for (name, place, contacts, push) in [
        ("outside, on an edge", Vec3::new(0.1, 0.0, 0.1) + half + Vec3::new(root, 0.0, root) * inside, 1.0, deep),
        ("outside, on a corner", Vec3::splat(0.1 + inside / 3f64.sqrt()), 1.0, deep),
        ("outside, on a face near an edge", Vec3::new(0.1 - 1e-4, 0.05, 0.1 + inside), 1.0, deep),
        ("inside, at an edge", Vec3::new(inside, 0.0, inside) + half, 2.0, 2f64.sqrt() * deep),
        ("inside, at a corner", Vec3::splat(inside), 3.0, 3f64.sqrt() * deep),
    ] {
        let mut run = simulation(&format!("{contact}{cube}{}", laid(place)), 1);
        run.prepare().expect("the run goes on");
        let state = &run.state;
        found.absolute(format!("box, {name}: contacts"), state.contacts.walls.len() as f64, contacts, 0.0);
        found.relative(format!("box, {name}: force [N]"), state.particles.load[0].force.length(), k * push, 1e-9);
    }
    found.reading = "the wall rules of the report that only change velocities (its types A and B) are not part of the program; a \
                     plane as a huge sphere is V41";
    found
}
