use super::super::size::grain_measure;
use super::super::test_walls::{HalfSpace, Pipe, Polyline, largest_overlap};
use super::super::{By, SizeLaw};
use super::*;
use crate::math::Aabb;

const G: Vec3 = Vec3::new(0.0, -9.8, 0.0);

/// The closed hopper of Gavrilov's section 5.10: 0.3 m wide, orifice 0.08 m, walls at 60°.
fn hopper() -> Polyline {
    let (x, o, h) = (0.15, 0.04, 0.11 * 3f64.sqrt());
    Polyline([(-x, 0.8), (-x, h), (-o, 0.0), (o, 0.0), (x, h), (x, 0.8)].map(|(x, y)| Vec3::new(x, y, 0.0)).to_vec())
}

fn hopper_fill(count: usize) -> DropAndRoll {
    let region = Region::Box(Aabb { min: Vec3::new(-0.15, 0.75, 0.0), max: Vec3::new(0.15, 0.8, 0.0) });
    DropAndRoll { region, amount: Amount::Count(count), tries: 100, max_fall: None }
}

fn bin(width: f64, height: f64) -> Polyline {
    Polyline([(0.0, height), (0.0, 0.0), (width, 0.0), (width, height)].map(|(x, y)| Vec3::new(x, y, 0.0)).to_vec())
}

fn planar(obstacles: &dyn Obstacles) -> Setting<'_> {
    Setting { planar: true, seed: 7, group: 0, obstacles }
}

/// Grains that are not held: the upward direction is no positive sum of contact normals with walls and earlier grains.
fn unheld(grains: &[Placed], walls: &dyn Obstacles, up: Vec3) -> usize {
    let mut earlier = Grains::new(grains.iter().map(|g| g.radius).fold(0.0, f64::max), false);
    let mut count = 0;
    for g in grains {
        let (mut on_walls, mut out) = (Vec::new(), Vec::new());
        walls.overlaps(g.centre, g.radius * (1.0 + 1e-6), &mut on_walls);
        earlier.overlaps(g.centre, g.radius * (1.0 + 1e-6), &mut out);
        let level = on_walls.iter().any(|p| p.direction.dot(up) > 1.0 - 1e-9);
        out.extend(on_walls);
        let n: Vec<Vec3> = out.iter().map(|p| p.direction).collect();
        // Least squares of the coefficients over all pairs and triples.
        let positive = |m: Mat3| m.determinant().abs() > 1e-12 && (m.inverse() * up).min_element() > -1e-6;
        let held = level
            || (0..n.len()).any(|i| {
                (0..i).any(|j| {
                    let side = n[i].cross(n[j]);
                    let pair = side.dot(up).abs() < 1e-6 * side.length() && positive(Mat3::from_cols(n[i], n[j], side));
                    pair || (0..j).any(|k| positive(Mat3::from_cols(n[i], n[j], n[k])))
                })
            });
        count += usize::from(!held);
        earlier.push(*g);
    }
    count
}

/// Part of a box that grains cover, by counting points.
fn solid_fraction(grains: &[Placed], window: Aabb, flat: bool) -> f64 {
    let mut grid = Grains::new(grains[0].radius, flat);
    grains.iter().for_each(|g| grid.push(*g));
    let (mut stream, n) = (Stream::new(1, Purpose::Noise, 0), 100_000);
    let covered = (0..n).filter(|_| {
        let p = Region::Box(window).sample(0.0, flat, &mut stream).unwrap();
        !grid.is_free(p, 0.0)
    });
    covered.count() as f64 / f64::from(n)
}

#[test]
fn five_hundred_discs_rest_in_gavrilovs_hopper() {
    let walls = hopper();
    for law in [SizeLaw::Single { radius: 0.01 }, SizeLaw::normal(0.01, 0.0005)] {
        let sizes = law.prepare(true).unwrap();
        let grains = hopper_fill(500).fill(&sizes, G, &planar(&walls)).unwrap().grains;
        assert_eq!(grains.len(), 500);
        assert!(largest_overlap(&grains, &walls) < 1e-8);
        assert_eq!(unheld(&grains, &walls, Vec3::Y), 0);
        assert!(grains.iter().all(|g| g.centre.y > 0.0 && g.centre.x.abs() < 0.15));
    }
}

#[test]
fn a_disc_between_two_discs_rests_where_circles_touch() {
    let r = 0.01;
    let mut below = Grains::new(r, true);
    below.push(Placed { centre: Vec3::new(-0.013, 0.0, 0.0), radius: r });
    below.push(Placed { centre: Vec3::new(0.013, 0.004, 0.0), radius: 1.5 * r });
    let mut roller = Roller::new(&below, r, true, Vec3::NEG_Y, 10.0);
    for x in [-0.02, -0.0131, -0.0129, 0.0, 0.01, 0.0129, 0.0131, 0.03] {
        // Circles of radius 2 r and 2.5 r about the centres meet at the resting place.
        let (a, b) = (below.as_slice()[0].centre, below.as_slice()[1].centre);
        let d = a.distance(b);
        let along = (d * d + (2.0 * r).powi(2) - (2.5 * r).powi(2)) / (2.0 * d);
        let u = (b - a) / d;
        let meet = a + u * along + Vec3::new(-u.y, u.x, 0.0) * ((2.0 * r).powi(2) - along * along).sqrt();
        match roller.settle(Vec3::new(x, 0.1, 0.0), r) {
            Ok(c) => assert!(c.distance(meet) < 1e-9 * r && x.abs() < 0.013, "{x}: {c} instead of {meet}"),
            Err(Failure::Lost { .. }) => assert!(x.abs() > 0.013, "{x} lost"),
            Err(Failure::Restless { centre }) => panic!("restless at {centre}"),
        }
    }
}

#[test]
fn a_disc_dropped_on_the_very_top_of_another_does_not_balance() {
    let floor = HalfSpace { point: Vec3::ZERO, normal: Vec3::Y };
    for flat in [true, false] {
        let mut roller = Roller::new(&floor, 1.0, flat, Vec3::NEG_Y, 100.0);
        roller.grains.push(Placed { centre: Vec3::Y, radius: 1.0 });
        let Ok(c) = roller.settle(Vec3::new(0.0, 10.0, 0.0), 1.0) else { panic!("did not settle") };
        assert!((c.y - 1.0).abs() < 1e-9, "flat {flat}: {c}");
    }
}

#[test]
fn a_sphere_on_three_spheres_rests_at_the_height_of_a_tetrahedron() {
    let s = 1.0 / 3f64.sqrt();
    let base = [(-1.0, -s), (1.0, -s), (0.0, 2.0 * s)].map(|(x, y)| Vec3::new(x, y, 0.0));
    let floor = HalfSpace { point: Vec3::NEG_Z, normal: Vec3::Z };
    let mut roller = Roller::new(&floor, 1.0, false, Vec3::NEG_Z, 100.0);
    base.iter().for_each(|&centre| roller.grains.push(Placed { centre, radius: 1.0 }));
    let mut stream = Stream::new(1, Purpose::Fill, 0);
    for _ in 0..50 {
        let Ok(c) = roller.settle(0.5 * stream.in_ball(true) + 5.0 * Vec3::Z, 1.0) else { panic!("did not settle") };
        assert!(c.distance(Vec3::Z * (8.0f64 / 3.0).sqrt()) < 1e-9, "{c}");
    }
}

#[test]
fn a_grain_finds_the_bottom_of_a_round_pipe_and_of_a_gentle_slope() {
    let pipe = Pipe(1.0);
    let mut roller = Roller::new(&pipe, 0.05, true, Vec3::NEG_Y, 10.0);
    let Ok(c) = roller.settle(Vec3::new(0.6, 0.3, 0.0), 0.05) else { panic!("did not settle") };
    assert!(c.distance(Vec3::new(0.0, -0.95, 0.0)) < 1e-6, "{c}");

    let slope = Polyline(vec![Vec3::new(-1.0, 1e-3, 0.0), Vec3::ZERO, Vec3::Y]);
    let mut roller = Roller::new(&slope, 0.05, true, Vec3::NEG_Y, 10.0);
    let Ok(c) = roller.settle(Vec3::new(-0.9, 0.5, 0.0), 0.05) else { panic!("did not settle") };
    assert!((c.x + 0.05).abs() < 1e-6, "{c}");
}

#[test]
fn the_first_hundred_grains_are_the_same_when_two_hundred_are_asked_for() {
    let walls = hopper();
    let sizes = SizeLaw::normal(0.01, 0.001).prepare(true).unwrap();
    let fill = |n, seed| hopper_fill(n).fill(&sizes, G, &Setting { seed, ..planar(&walls) }).unwrap().grains;
    assert_eq!(fill(100, 7), fill(200, 7)[..100]);
    assert_ne!(fill(100, 7), fill(100, 8));
}

#[test]
fn gravity_may_point_anywhere() {
    let sizes = SizeLaw::Single { radius: 0.5 }.prepare(true).unwrap();
    let down = Vec3::new(0.6, 0.8, 0.0);
    let side = Vec3::new(0.8, -0.6, 0.0);
    let walls = [
        HalfSpace { point: 10.0 * down, normal: -down },
        HalfSpace { point: -4.0 * side, normal: side },
        HalfSpace { point: 4.0 * side, normal: -side },
    ];
    let all: [&dyn Obstacles; 3] = [&walls[0], &walls[1], &walls[2]];
    let region = Region::Sphere { centre: Vec3::ZERO, radius: 2.0 };
    let spec = DropAndRoll { region, amount: Amount::Count(60), tries: 100, max_fall: None };
    let grains = spec.fill(&sizes, down, &planar(&all)).unwrap().grains;
    assert!(largest_overlap(&grains, &all) < 1e-6 * 0.5);
    assert_eq!(unheld(&grains, &all, -down), 0);
}

#[test]
fn a_bed_of_equal_discs_has_a_plausible_density() {
    let (r, walls) = (0.01, bin(1.0, 3.0));
    let sizes = SizeLaw::Single { radius: r }.prepare(true).unwrap();
    let region = Region::Box(Aabb { min: Vec3::new(0.0, 2.5, 0.0), max: Vec3::new(1.0, 3.0, 0.0) });
    let spec = DropAndRoll { region, amount: Amount::Count(2000), tries: 100, max_fall: None };
    let grains = spec.fill(&sizes, G, &planar(&walls)).unwrap().grains;
    assert!(largest_overlap(&grains, &walls) < 1e-6 * r);
    assert_eq!(unheld(&grains, &walls, Vec3::Y), 0);
    let window = Aabb { min: Vec3::new(0.1, 0.1, 0.0), max: Vec3::new(0.9, 0.6, 0.0) };
    let fraction = solid_fraction(&grains, window, true);
    assert!((0.79..0.87).contains(&fraction), "{fraction}");
}

fn cylinder_of_spheres(count: usize) -> (Vec<Placed>, f64) {
    let (r, radius) = (0.01, 0.12);
    let floor = HalfSpace { point: Vec3::ZERO, normal: Vec3::Z };
    let pipe = Pipe(radius);
    let walls: [&dyn Obstacles; 2] = [&floor, &pipe];
    let sizes = SizeLaw::Single { radius: r }.prepare(false).unwrap();
    let region = Region::Cylinder { from: Vec3::Z, to: 1.1 * Vec3::Z, radius };
    let spec = DropAndRoll { region, amount: Amount::Count(count), tries: 100, max_fall: None };
    let setting = Setting { planar: false, ..planar(&walls) };
    let grains = spec.fill(&sizes, Vec3::NEG_Z, &setting).unwrap().grains;
    assert!(largest_overlap(&grains, &walls) < 1e-6 * r);
    assert_eq!(unheld(&grains, &walls, Vec3::Z), 0);
    let bed = count as f64 * grain_measure(r, false) / (0.6 * std::f64::consts::PI * radius * radius);
    let window = Aabb { min: Vec3::new(-0.06, -0.06, 0.05), max: Vec3::new(0.06, 0.06, bed - 0.05) };
    let fraction = solid_fraction(&grains, window, false);
    (grains, fraction)
}

#[test]
fn a_bed_of_equal_spheres_has_a_plausible_density() {
    let (_, fraction) = cylinder_of_spheres(1500);
    assert!((0.55..0.62).contains(&fraction), "{fraction}");
}

#[test]
#[ignore = "large: run with --release"]
fn five_thousand_spheres_rest_in_a_cylinder() {
    let clock = std::time::Instant::now();
    let (_, fraction) = cylinder_of_spheres(5000);
    println!("5000 spheres: {:.2} s with checks, solid fraction {fraction:.4}", clock.elapsed().as_secs_f64());
    assert!((0.55..0.62).contains(&fraction), "{fraction}");
}

#[test]
#[ignore = "large: run with --release"]
fn twenty_thousand_discs_rest_in_a_box() {
    let walls = bin(2.0, 8.0);
    let sizes = SizeLaw::Uniform { min: 0.008, max: 0.012, by: By::Number }.prepare(true).unwrap();
    let region = Region::Box(Aabb { min: Vec3::new(0.0, 7.0, 0.0), max: Vec3::new(2.0, 8.0, 0.0) });
    let spec = DropAndRoll { region, amount: Amount::Count(20_000), tries: 100, max_fall: None };
    let clock = std::time::Instant::now();
    let grains = spec.fill(&sizes, G, &planar(&walls)).unwrap().grains;
    println!("20 000 discs: {:.2} s", clock.elapsed().as_secs_f64());
    let clock = std::time::Instant::now();
    let small = hopper_fill(500).fill(&SizeLaw::Single { radius: 0.01 }.prepare(true).unwrap(), G, &planar(&hopper()));
    println!("500 discs in the hopper: {:.4} s", clock.elapsed().as_secs_f64());
    assert!(small.is_ok());
    assert!(largest_overlap(&grains, &walls) < 1e-6 * 0.008);
    assert_eq!(unheld(&grains, &walls, Vec3::Y), 0);
    let window = Aabb { min: Vec3::new(0.1, 0.1, 0.0), max: Vec3::new(1.9, 3.2, 0.0) };
    let fraction = solid_fraction(&grains, window, true);
    println!("solid fraction {fraction:.4}");
    assert!((0.79..0.87).contains(&fraction), "{fraction}");
}

#[test]
fn a_grain_without_a_floor_is_an_error_and_a_full_hopper_says_how_many_fitted() {
    let sizes = SizeLaw::Single { radius: 0.01 }.prepare(true).unwrap();
    let walls = Polyline(hopper().0[..3].to_vec());
    let lost = hopper_fill(1).fill(&sizes, G, &planar(&walls)).unwrap_err();
    assert!(matches!(lost, FillError::FellThrough { index: 0, .. }), "{lost}");
    let walls = hopper();
    let full = hopper_fill(1000).fill(&sizes, G, &planar(&walls)).unwrap_err();
    let FillError::Full { report, .. } = full else { panic!("{full}") };
    assert!((450..700).contains(&report.placed), "{report:?}");
    let level = hopper_fill(1).fill(&sizes, Vec3::ZERO, &planar(&walls)).unwrap_err();
    assert!(matches!(level, FillError::BadValue { what: "gravity", .. }));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]

    #[test]
    fn grains_of_many_sizes_rest_on_rugged_ground(seed in 0u64..1000, flat: bool, ratio in 1.01f64..8.0) {
        // In the plane a valley of random facets; in space a box with a tilted floor.
        let mut s = Stream::new(seed, Purpose::Noise, 0);
        let x = |k: i32| -1.0 + 0.2 * f64::from(k);
        let mut ground: Vec<Vec3> = (0..=10).map(|k| Vec3::new(x(k), x(k).abs() * s.uniform(), 0.0)).collect();
        ground.insert(0, Vec3::new(-1.0, 9.0, 0.0));
        ground.push(Vec3::new(1.0, 9.0, 0.0));
        let ground = Polyline(ground);
        let floor = HalfSpace { point: Vec3::NEG_Y, normal: (Vec3::Y + 0.3 * s.direction(false)).normalize() };
        let panes = [-1.0, 1.0].map(|z| HalfSpace { point: Vec3::Z * z, normal: -Vec3::Z * z });
        let ends = [-1.0, 1.0].map(|x| HalfSpace { point: Vec3::X * x, normal: -Vec3::X * x });
        let rugged: [&dyn Obstacles; 1] = [&ground];
        let boxed: [&dyn Obstacles; 5] = [&floor, &panes[0], &panes[1], &ends[0], &ends[1]];
        let walls: &dyn Obstacles = if flat { &rugged } else { &boxed };

        let max = 0.15;
        let sizes = SizeLaw::Uniform { min: max / ratio, max, by: By::Mass }.prepare(flat).unwrap();
        let region = Region::Box(Aabb { min: Vec3::new(-1.0, 8.0, -1.0), max: Vec3::new(1.0, 9.0, 1.0) });
        let spec = DropAndRoll { region, amount: Amount::Count(150), tries: 100, max_fall: Some(100.0) };
        let setting = Setting { planar: flat, seed, group: 1, obstacles: walls };
        let grains = spec.fill(&sizes, G, &setting).unwrap().grains;
        proptest::prop_assert!(largest_overlap(&grains, walls) < 1e-6 * max / ratio);
        proptest::prop_assert_eq!(unheld(&grains, walls, Vec3::Y), 0);
    }
}

#[test]
fn a_grain_in_a_slot_narrower_than_itself_is_an_error() {
    let sides = [
        HalfSpace { point: Vec3::new(-0.09, 0.0, 0.0), normal: Vec3::X },
        HalfSpace { point: Vec3::new(0.09, 0.0, 0.0), normal: Vec3::NEG_X },
    ];
    let all: [&dyn Obstacles; 2] = [&sides[0], &sides[1]];
    let mut roller = Roller::new(&all, 0.1, true, Vec3::NEG_Y, 10.0);
    assert!(matches!(roller.settle(Vec3::ZERO, 0.1), Err(Failure::Restless { .. })));
}

#[test]
fn a_grain_wedged_in_a_narrowing_slot_rests_against_both_sides() {
    let slot = Polyline(vec![Vec3::new(-0.5, 5.0, 0.0), Vec3::ZERO, Vec3::new(0.5, 5.0, 0.0)]);
    let mut roller = Roller::new(&slot, 0.1, true, Vec3::NEG_Y, 100.0);
    let Ok(c) = roller.settle(Vec3::new(0.2, 4.8, 0.0), 0.1) else { panic!("did not settle") };
    // Half the opening angle has the sine 0.1 / sqrt(1.01) ≈ 0.0995.
    assert!(c.distance(Vec3::Y * 0.1 * 101f64.sqrt()) < 1e-8, "{c}");
}
