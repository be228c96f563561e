use super::cholesky::Cholesky;
use super::free::{self, BodyMotion, Mass};
use super::gradients::{Gradients, Preconditioner};
use super::rima::Rima;
use super::{Backend, Freedom, GROUND, Link, Loose, Spring, Structure, singular};
use crate::math::Vec3;
use crate::rng::{Purpose, Stream};

const ALL: [Freedom; 4] = [Freedom::Planar, Freedom::PlanarTurning, Freedom::Spatial, Freedom::SpatialTurning];

/// Random numbers of a test.
fn random(key: u64) -> impl FnMut() -> f64 {
    let mut stream = Stream::new(7, Purpose::Noise, key);
    move || 2.0 * stream.uniform() - 1.0
}

fn direction(freedom: Freedom, random: &mut impl FnMut() -> f64) -> Vec3 {
    let z = if matches!(freedom, Freedom::Planar | Freedom::PlanarTurning) { 0.0 } else { random() };
    Vec3::new(random(), random(), z).normalize()
}

/// A link in any direction with any stiffness.
fn any_link(freedom: Freedom, ends: [u32; 2], random: &mut impl FnMut() -> f64) -> Link {
    Link {
        ends,
        normal: direction(freedom, random),
        levers: [1.0 + 0.3 * random(), 1.0 + 0.3 * random()],
        stiffness: [2.0 + random(), 1.0 + 0.5 * random()],
    }
}

/// Nodes that hang on earlier ones and on the ground, three links each.
fn grow<B: Backend>(freedom: Freedom, nodes: usize, backend: B, key: u64) -> Structure<B> {
    let mut random = random(key);
    let mut structure = Structure::new(freedom, backend);
    for node in 0..nodes as u32 {
        let links: Vec<Link> = (0..3)
            .map(|l| {
                let other = if node == 0 || l == 0 && node < 3 {
                    GROUND
                } else {
                    ((random().abs() * f64::from(node)) as u32).min(node - 1)
                };
                any_link(freedom, [node, other], &mut random)
            })
            .collect();
        structure.attach(&links).unwrap();
    }
    structure
}

/// Largest entry of K Z − 1.
fn off(structure: &Structure<Rima>) -> f64 {
    let (k, n) = (structure.frame.matrix(), structure.frame.size());
    let mut worst = 0.0f64;
    for r in 0..n {
        for c in 0..n {
            let sum: f64 = (0..n).map(|i| k[r * n + i] * structure.backend.entry(i, c)).sum();
            worst = worst.max((sum - f64::from(u8::from(r == c))).abs());
        }
    }
    worst
}

/// Largest difference from the inverse by sparse factors, over its largest entry.
fn off_factors(structure: &Structure<Rima>) -> f64 {
    let direct = Rima::of(&structure.frame, 0.0).unwrap();
    let n = structure.frame.size();
    let largest = |f: &dyn Fn(usize, usize) -> f64| (0..n * n).fold(0.0, |m: f64, e| m.max(f(e / n, e % n).abs()));
    largest(&|r, c| structure.backend.entry(r, c) - direct.entry(r, c)) / largest(&|r, c| direct.entry(r, c))
}

#[test]
fn the_recursive_inverse_is_the_inverse_for_every_kind_of_node() {
    for freedom in ALL {
        let mut structure = grow(freedom, 20, Rima::new(), 1);
        assert!(off(&structure) < 1e-12, "{freedom:?} {:.1e}", off(&structure));
        assert!(off_factors(&structure) < 1e-12, "{freedom:?} {:.1e}", off_factors(&structure));
        // Links between nodes and to the ground, several at once, come and go.
        let mut random = random(2);
        let more: Vec<Link> =
            [[3, 9], [5, GROUND], [11, 2]].into_iter().map(|e| any_link(freedom, e, &mut random)).collect();
        let numbers = structure.connect(&more).unwrap();
        assert!(off(&structure) < 1e-12, "{freedom:?} {:.1e}", off(&structure));
        structure.disconnect(&numbers[1..]).unwrap();
        structure.disconnect(&numbers[..1]).unwrap();
        assert!(off(&structure) < 1e-11, "{freedom:?} {:.1e}", off(&structure));
    }
}

#[test]
fn a_leaf_that_goes_leaves_the_inverse_as_it_was() {
    for freedom in ALL {
        let mut structure = grow(freedom, 12, Rima::new(), 3);
        let before = structure.backend.clone();
        let mut random = random(4);
        let links: Vec<Link> =
            (0..[1, 2, 1, 3][freedom as usize]).map(|l| any_link(freedom, [12, 4 + l], &mut random)).collect();
        let springs: usize = links.iter().map(|link| link.springs(freedom).count()).sum();
        structure.attach(&links).unwrap();
        structure.drop_node(12).unwrap();
        let n = structure.frame.size();
        let tolerance = if springs == freedom.size() { 0.0 } else { 1e-12 };
        for e in 0..n * n {
            let (a, b) = (before.entry(e / n, e % n), structure.backend.entry(e / n, e % n));
            assert!((a - b).abs() <= tolerance, "{freedom:?}");
        }
        // A node from the middle: the last one takes its number.
        if freedom == Freedom::SpatialTurning {
            continue; // those behind it would turn about the two contacts they have left
        }
        structure.drop_node(5).unwrap();
        assert!(off(&structure) < 1e-11, "{:.1e}", off(&structure));
    }
}

#[test]
fn a_critical_link_is_not_taken_out() {
    let mut random = random(5);
    fn chain<B: Backend>(backend: B, random: &mut impl FnMut() -> f64) -> Structure<B> {
        let mut structure = Structure::new(Freedom::Planar, backend);
        for node in 0..4 {
            let other = if node == 0 { GROUND } else { node - 1 };
            structure.attach(&[any_link(Freedom::Planar, [node, other], random)]).unwrap();
        }
        structure
    }
    let mut rima = chain(Rima::new(), &mut random);
    let mut sparse = chain(Cholesky::new(), &mut random);
    for link in 0..4 {
        let (before, after) = (rima.backend.clone(), rima.disconnect(&[link]));
        assert_eq!(after, Err(Loose::Part));
        assert_eq!(before, rima.backend);
        assert_eq!(sparse.disconnect(&[link]), Err(Loose::Part));
    }
    // A wheel on one contact rolls.
    let mut wheel = Structure::new(Freedom::PlanarTurning, Rima::new());
    assert_eq!(wheel.attach(&[any_link(Freedom::PlanarTurning, [0, GROUND], &mut random)]), Err(Loose::Node(0)));
    assert_eq!(wheel.frame.nodes, 0);
}

#[test]
fn ten_thousand_links_that_come_and_go_do_not_wear_out_a_watched_inverse() {
    let mut random = random(6);
    let mut structure = grow(Freedom::Planar, 12, Rima::new(), 7);
    let (mut worst, mut rebuilt) = (0.0f64, 0);
    for cycle in 0..10_000u64 {
        let ends = [(random().abs() * 12.0) as u32 % 12, (random().abs() * 13.0) as u32 % 13];
        let ends = [ends[0], if ends[1] == 12 || ends[1] == ends[0] { GROUND } else { ends[1] }];
        let mut link = any_link(Freedom::Planar, ends, &mut random);
        link.stiffness = link.stiffness.map(|k| 3e3 * k);
        let numbers = structure.connect(&[link]).unwrap();
        structure.disconnect(&numbers).unwrap();
        let drift = structure.drift(cycle);
        worst = worst.max(drift);
        if drift > 1e-9 {
            structure.rebuild().unwrap();
            rebuilt += 1;
        }
    }
    assert!(worst < 1e-8 && rebuilt > 0, "{worst:.1e}, {rebuilt} times anew");
    assert!(off(&structure) < 1e-8);
}

#[test]
fn an_element_given_by_its_matrix_is_the_link_it_was_made_of() {
    for freedom in ALL {
        let mut random = random(8);
        let link = any_link(freedom, [0, 1], &mut random);
        let m = freedom.size();
        let mut matrix = vec![0.0; 4 * m * m];
        let row = |spring: &Spring, e: usize| spring.rows[e / m][e % m];
        for spring in link.springs(freedom) {
            for e in 0..4 * m * m {
                matrix[e] += spring.stiffness * row(&spring, e / (2 * m)) * row(&spring, e % (2 * m));
            }
        }
        let springs = Spring::of_element([0, 1], freedom, &matrix);
        assert_eq!(springs.len(), link.springs(freedom).count());
        let u: Vec<f64> = (0..2 * m).map(|_| random()).collect();
        let energy = |springs: &[Spring]| -> f64 {
            springs.iter().map(|s| 0.5 * s.stiffness * s.elongation(freedom, &u).powi(2)).sum()
        };
        let stretch = link.stretch(&freedom.shift(&u, 0), &freedom.shift(&u, 1));
        let expected = 0.5 * stretch.dot(link.force(stretch));
        assert!((energy(&springs) - expected).abs() < 1e-12);
        assert!((energy(&link.springs(freedom).collect::<Vec<_>>()) - expected).abs() < 1e-12);
    }
}

/// Any symmetric stiffness matrix of two nodes that is not negative: two of its directions are left soft.
fn any_element(n: usize, random: &mut impl FnMut() -> f64) -> Vec<f64> {
    let rows: Vec<Vec<f64>> = (0..n - 2).map(|_| (0..n).map(|_| random()).collect()).collect();
    (0..n * n).map(|e| rows.iter().map(|row| row[e / n] * row[e % n]).sum()).collect()
}

#[test]
fn any_elements_come_and_go_in_the_inverse() {
    for freedom in ALL {
        let (m, nodes) = (freedom.size(), 12);
        let n = m * nodes;
        let mut random = random(31);
        let mut rima = Rima::new();
        let mut matrix = vec![0.0; n * n];
        let mut add = |ends: [u32; 2], element: &[f64], sign: f64| {
            for e in (0..4 * m * m).filter(|e| ends[e / (2 * m) / m] != GROUND && ends[e % (2 * m) / m] != GROUND) {
                let (r, c) = (e / (2 * m), e % (2 * m));
                matrix[(ends[r / m] as usize * m + r % m) * n + ends[c / m] as usize * m + c % m] += sign * element[e];
            }
        };
        // Cases 0 and 1, with another element where one lets the node move; then 2, 3 and back.
        for node in 0..nodes as u32 {
            let mut springs = Vec::new();
            for other in [node.checked_sub(1).unwrap_or(GROUND), node.checked_sub(3).unwrap_or(GROUND)] {
                let element = any_element(2 * m, &mut random);
                add([node, other], &element, 1.0);
                springs.extend(Spring::of_element([node, other], freedom, &element));
            }
            rima.attach(m, &springs).unwrap();
        }
        for (k, ends) in [[3, GROUND], [7, 2], [11, 0], [5, GROUND], [9, 6]].into_iter().enumerate() {
            let element = any_element(2 * m, &mut random);
            let springs = Spring::of_element(ends, freedom, &element);
            rima.put_in(&springs).unwrap();
            if k % 2 == 0 {
                rima.take_out(&springs).unwrap();
            } else {
                add(ends, &element, 1.0);
            }
        }
        let twin = super::dense::inverse(&matrix, n).unwrap();
        let largest = twin.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let off = (0..n * n).fold(0.0, |m: f64, e| m.max((rima.entry(e / n, e % n) - twin[e]).abs()));
        assert!(off < 5e-14 * largest, "{freedom:?}: {off:.1e} of {largest:.1e}");
    }
}

#[test]
fn all_ways_to_solve_agree() {
    for freedom in ALL {
        let mut rima = grow(freedom, 60, Rima::new(), 9);
        let frame = rima.frame.clone();
        let mut random = random(10);
        let f: Vec<f64> = (0..frame.size()).map(|_| random()).collect();
        let twin = singular::solve(&frame, &f);
        assert!(twin.loose == 0 && twin.residual < 1e-10);
        let largest = twin.u.iter().fold(0.0, |m: f64, u| m.max(u.abs()));
        let check = |name: &str, effort: super::Effort, u: &[f64]| {
            let off = u.iter().zip(&twin.u).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs())) / largest;
            assert!(off < 1e-10 && effort.residual < 1e-12, "{freedom:?} {name}: {off:.1e} {effort:?}");
        };
        let mut u = vec![0.0; f.len()];
        let effort = rima.solve(&f, &mut u, 1e-13);
        check("rima", effort, &u);
        let mut sparse = Structure::of(frame.clone(), Cholesky::new()).unwrap();
        u.fill(0.0);
        let effort = sparse.solve(&f, &mut u, 1e-13);
        check("cholesky", effort, &u);
        for preconditioner in
            [Preconditioner::Diagonal, Preconditioner::Nodes, Preconditioner::Groups(8), Preconditioner::Coarse(3)]
        {
            let mut gradients = Structure::of(frame.clone(), Gradients::new(preconditioner, 1e-8)).unwrap();
            u.fill(0.0);
            let effort = gradients.solve(&f, &mut u, 1e-13);
            check("gradients", effort, &u);
        }
    }
}

#[test]
fn a_load_gets_through_faster_if_groups_move_as_one() {
    for freedom in [Freedom::Planar, Freedom::Spatial] {
        // A board of nodes, held along one side.
        let side = 60u32;
        let link = |ends, normal| Some(Link { ends, normal, levers: [0.0; 2], stiffness: [1.0, 0.3] });
        let mut links = Vec::new();
        for (node, row) in (0..side * side).map(|node| (node, node / side)) {
            links.push(link([node, if row == 0 { GROUND } else { node - side }], -Vec3::Y));
            if (node + 1) % side != 0 {
                links.push(link([node, node + 1], Vec3::X));
            }
        }
        let frame = super::Frame { freedom, nodes: (side * side) as usize, links };
        let mut weight = vec![0.0; frame.size()];
        let load = super::Action { force: -Vec3::Y, couple: Vec3::ZERO };
        (0..side * side).for_each(|node| freedom.load(&mut weight, node, &load));
        let solve = |preconditioner| {
            let mut structure = Structure::of(frame.clone(), Gradients::new(preconditioner, 1e-10)).unwrap();
            let mut u = vec![0.0; weight.len()];
            let iterations = structure.backend.respond(&frame, &weight, &mut u).iterations;
            (iterations, u[u.len() - freedom.size() + 1])
        };
        let ((alone, low), (together, as_low)) = (solve(Preconditioner::Nodes), solve(Preconditioner::Coarse(12)));
        assert!(2 * together < alone, "{freedom:?} {together} {alone}");
        // The last row hangs on all others: 1 + 2 + … + side.
        assert!((low + 1830.0).abs() < 1e-6 && (as_low - low).abs() < 1e-6, "{low} {as_low}");
    }
}

#[test]
fn sparse_factors_follow_links_that_come_and_go() {
    for freedom in ALL {
        let mut sparse = grow(freedom, 30, Cholesky::new(), 11);
        let mut random = random(12);
        let f: Vec<f64> = (0..sparse.frame.size()).map(|_| random()).collect();
        let mut kept = Vec::new();
        for round in 0..40u32 {
            let ends = [round % 30, (round * 7 + 3) % 30];
            let ends = if ends[0] == ends[1] { [ends[0], GROUND] } else { ends };
            kept.extend(sparse.connect(&[any_link(freedom, ends, &mut random)]).unwrap());
            if round % 3 == 2 {
                sparse.disconnect(&[kept.remove(0)]).unwrap();
            }
            let mut u = vec![0.0; f.len()];
            sparse.backend.respond(&sparse.frame, &f, &mut u);
            let back = sparse.frame.times(&u);
            let off = back.iter().zip(&f).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
            assert!(off < 1e-10, "{freedom:?} round {round}: {off:.1e}");
        }
    }
}

#[test]
fn inverses_of_two_structures_are_joined_by_links_between_them() {
    for freedom in ALL {
        let (first, second) = (grow(freedom, 6, Rima::new(), 13), grow(freedom, 5, Rima::new(), 14));
        let mut frame = first.frame.clone();
        let moved = |end: u32| if end == GROUND { GROUND } else { end + 6 };
        frame.links.extend(second.frame.links.iter().flatten().map(|l| Some(Link { ends: l.ends.map(moved), ..*l })));
        frame.nodes += 5;
        let mut joined = first.backend.clone();
        joined.merge(&second.backend);
        let mut random = random(15);
        let between = any_link(freedom, [4, 8], &mut random);
        let mut structure = Structure::of(frame, Rima::new()).unwrap();
        structure.backend = joined;
        assert!(off_factors(&structure) < 1e-12, "{freedom:?} {:.1e}", off_factors(&structure));
        structure.connect(&[between]).unwrap();
        assert!(off_factors(&structure) < 1e-12, "{freedom:?} {:.1e}", off_factors(&structure));
    }
}

#[test]
fn the_inverse_has_the_same_bits_for_any_number_of_workers() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut structure = grow(Freedom::Planar, 400, Rima::new(), 16);
            structure.disconnect(&[5, 77]).unwrap();
            let f: Vec<f64> = (0..structure.frame.size()).map(|i| (i as f64).sin()).collect();
            let mut u = vec![0.0; f.len()];
            structure.solve(&f, &mut u, 1e-13);
            (structure.backend, u)
        })
    };
    let one = run(1);
    assert!([2, 3, 8].into_iter().all(|threads| run(threads) == one));
}

#[test]
fn a_floating_body_is_held_anywhere_with_any_stiffness() {
    for freedom in ALL {
        // A body of discs or spheres in a triangle and on it, pulled at and spinning.
        let places =
            [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [1.0, 1.7, 0.0], [3.0, 1.7, 0.0], [1.0, 0.6, 1.6]].map(Vec3::from_array);
        let nodes = if matches!(freedom, Freedom::Planar | Freedom::PlanarTurning) { 4 } else { 5 };
        let masses: Vec<Mass> = places[..nodes]
            .iter()
            .enumerate()
            .map(|(i, &place)| Mass {
                place,
                mass: 1.0 + 0.2 * i as f64,
                inertia: if freedom.turns() { 0.4 } else { 0.0 },
            })
            .collect();
        let pairs = [[0u32, 1], [0, 2], [1, 2], [1, 3], [2, 3], [0, 4], [1, 4], [2, 4], [3, 4]];
        let links: Vec<Link> = pairs
            .into_iter()
            .filter(|p| p[1] < nodes as u32)
            .map(|ends| {
                let d = places[ends[1] as usize] - places[ends[0] as usize];
                let half = 0.5 * d.length();
                Link { ends, normal: d.normalize(), levers: [half; 2], stiffness: [100.0, 30.0] }
            })
            .collect();
        let mut f = vec![0.0; nodes * freedom.size()];
        freedom.load(&mut f, 3, &super::Action { force: Vec3::new(1.0, 2.0, 0.0), couple: Vec3::Z * 0.3 });
        let planar = matches!(freedom, Freedom::Planar | Freedom::PlanarTurning);
        let spin = if planar { Vec3::Z * 0.7 } else { Vec3::new(0.1, 0.4, 0.7) };
        let motion = free::motion(freedom, &masses, &f, spin);
        free::add_inertia(freedom, &masses, &motion, &mut f);
        let mut total = (Vec3::ZERO, Vec3::ZERO);
        for (n, m) in masses.iter().enumerate() {
            let action = freedom.action(&f, n as u32);
            total.0 += action.force;
            total.1 += m.place.cross(action.force) + action.couple;
        }
        assert!(total.0.length() < 1e-12);
        if freedom.turns() {
            // Only nodes that turn have all the inertia of a body of grains.
            assert!(total.1.length() < 1e-12, "{freedom:?} {}", total.1);
        }
        let inner = |held: u32, stiffness: f64| {
            let mut frame = super::Frame { freedom, nodes, links: links.iter().copied().map(Some).collect() };
            frame.links.extend(free::ground(freedom, held, stiffness, 1.0).into_iter().map(Some));
            let mut structure = Structure::of(frame, Cholesky::new()).unwrap();
            let mut u = vec![0.0; f.len()];
            structure.solve(&f, &mut u, 1e-14);
            free::forces(&structure.frame, &u)
        };
        let first = inner(0, 100.0);
        assert!(first[links.len()..].iter().all(|f| f.length() < 1e-10), "{freedom:?}: the ground carries nothing");
        for (held, stiffness) in [(0, 1.0), (0, 1e8), (2, 100.0), (3, 1e4)] {
            let other = inner(held, stiffness);
            for l in 0..links.len() {
                assert!((first[l] - other[l]).length() < 1e-9, "{freedom:?} held at {held}");
            }
        }
        let without_euler = {
            let mut f = vec![0.0; nodes * freedom.size()];
            free::add_inertia(freedom, &masses, &BodyMotion { spin_up: Vec3::ZERO, ..motion }, &mut f);
            f
        };
        assert!(without_euler.iter().zip(&f).any(|(a, b)| (a - b).abs() > 0.05), "the Euler part matters");
    }
}

#[test]
fn a_chain_of_two_is_as_soft_as_its_springs_in_series() {
    // Two masses a and b on a spring: a unit force on a stretches it by the part that b needs, (m_b/m)/k, of which a moves m_b/m.
    let freedom = Freedom::Planar;
    let masses =
        [Mass { place: Vec3::ZERO, mass: 1.0, inertia: 0.0 }, Mass { place: Vec3::X, mass: 3.0, inertia: 0.0 }];
    let link = Link { ends: [0, 1], normal: Vec3::X, levers: [0.5; 2], stiffness: [50.0, 20.0] };
    let mut frame = super::Frame { freedom, nodes: 2, links: vec![Some(link)] };
    frame.links.extend(free::ground(freedom, 1, 1.0, 1.0).into_iter().map(Some));
    let mut structure = Structure::of(frame, Rima::new()).unwrap();
    let soft = free::compliance(freedom, &masses, 0, |f, u| {
        structure.solve(f, u, 1e-14);
    });
    assert!((soft.x_axis.x - 0.75 * 0.75 / 50.0).abs() < 1e-14, "{soft}");
    assert!(soft.x_axis.y.abs() < 1e-14 && soft.y_axis.x.abs() < 1e-14);
}

#[test]
fn a_truss_of_wierzba_has_its_forces() {
    // W-14 and W-15: bars without shear, tension positive.
    let bar = |ends: [u32; 2], normal: Vec3| Link { ends, normal, levers: [0.0; 2], stiffness: [1.0, 0.0] };
    let solve = |nodes: usize, links: Vec<Link>, f: Vec<f64>| {
        let frame = super::Frame { freedom: Freedom::Planar, nodes, links: links.into_iter().map(Some).collect() };
        let solution = singular::solve(&frame, &f);
        assert!(solution.residual < 1e-10);
        let tension: Vec<f64> = free::forces(&frame, &solution.u)
            .iter()
            .zip(frame.present())
            .map(|(force, link)| -force.dot(link.normal))
            .collect();
        (solution.loose, tension)
    };
    // (a) A column of ten, the weight of each one.
    let links = (0..10).map(|k| bar([k, if k == 0 { GROUND } else { k - 1 }], -Vec3::Y)).collect();
    let (loose, tension) = solve(10, links, [0.0, -1.0].repeat(10));
    assert_eq!(loose, 10);
    assert!((0..10).all(|k| (tension[k] + (10 - k) as f64).abs() < 1e-10));
    // (b) A disc in a right-angled groove.
    let h = 0.5f64.sqrt();
    let links = vec![bar([0, GROUND], Vec3::new(h, -h, 0.0)), bar([0, GROUND], Vec3::new(-h, -h, 0.0))];
    let (loose, tension) = solve(1, links, vec![0.0, -1.0]);
    assert!(loose == 0 && tension.iter().all(|t| (t + h).abs() < 1e-12));
    // (c) A free pair pushed at one end: half the force accelerates the other.
    let (loose, tension) = solve(2, vec![bar([0, 1], Vec3::X)], vec![0.5, 0.0, -0.5, 0.0]);
    assert!(loose == 3 && (tension[0] + 0.5).abs() < 1e-12);
    // (d) A flower of seven under unit inward loads.
    let petal =
        |k: u32| Vec3::new((f64::from(k) * 60f64.to_radians()).cos(), (f64::from(k) * 60f64.to_radians()).sin(), 0.0);
    let mut links: Vec<Link> = (0..6).map(|k| bar([0, k + 1], petal(k))).collect();
    links.extend((0..6).map(|k| bar([k + 1, (k + 1) % 6 + 1], (petal(k + 1) - petal(k)).normalize())));
    let mut f = vec![0.0; 14];
    (0..6).for_each(|k| Freedom::Planar.load(&mut f, k + 1, &super::Action { force: -petal(k), couple: Vec3::ZERO }));
    let (loose, tension) = solve(7, links, f);
    assert!(loose == 3 && tension.iter().all(|t| (t + 0.5).abs() < 1e-10), "{loose} {tension:?}");
    // W-15: one bar, either end held.
    let (loose, tension) = solve(2, vec![bar([0, 1], Vec3::X)], vec![-3.0, 0.0, 3.0, 0.0]);
    assert!(loose == 3 && (tension[0] - 3.0).abs() < 1e-12);
}

#[test]
fn a_bridge_that_closes_hands_half_its_weight_to_the_other_side() {
    // G-32: discs in a row, of equal weight, held by shear; then the far end gets a support.
    let n = 21u32;
    let beam = |a: u32, b: u32, normal: Vec3| Link { ends: [a, b], normal, levers: [0.0; 2], stiffness: [1e6, 1e5] };
    let mut rima = Structure::new(Freedom::Planar, Rima::new());
    for node in 0..n {
        let other = if node == 0 { GROUND } else { node - 1 };
        rima.attach(&[beam(node, other, -Vec3::X)]).unwrap();
    }
    let f: Vec<f64> = [0.0, -1.0].repeat(n as usize);
    let reaction = |frame: &super::Frame, u: &[f64], link: usize| -free::forces(frame, u)[link].y;
    let mut u = vec![0.0; f.len()];
    rima.solve(&f, &mut u, 1e-14);
    assert!((reaction(&rima.frame, &u, 0) - f64::from(n)).abs() < 1e-9);
    let mut gradients = Structure::of(rima.frame.clone(), Gradients::new(Preconditioner::Diagonal, 1e-10)).unwrap();
    gradients.solve(&f, &mut vec![0.0; f.len()], 1e-10);
    let support = rima.connect(&[beam(n - 1, GROUND, Vec3::X)]).unwrap()[0];
    u.fill(0.0);
    rima.solve(&f, &mut u, 1e-14);
    let [left, right] = [0, support as usize].map(|link| reaction(&rima.frame, &u, link));
    assert!((left - 0.5 * f64::from(n)).abs() < 1e-9 && (right - 0.5 * f64::from(n)).abs() < 1e-9, "{left} {right}");
}

#[test]
fn the_last_support_of_a_part_stays_whoever_solves() {
    // Two nodes in a row: without the link to the ground nothing holds them, without that between them the second.
    let beam = |a: u32, b: u32| Link { ends: [a, b], normal: Vec3::X, levers: [0.0; 2], stiffness: [2.0, 1.0] };
    let backends: [Box<dyn Backend>; 3] =
        [Box::new(Rima::new()), Box::new(Cholesky::new()), Box::new(Gradients::new(Preconditioner::Nodes, 1e-12))];
    for backend in backends {
        let mut chain = Structure::new(Freedom::Planar, backend);
        let first = chain.attach(&[beam(0, GROUND)]).unwrap()[0];
        let second = chain.attach(&[beam(1, 0)]).unwrap()[0];
        assert_eq!(chain.disconnect(&[first]), Err(Loose::Part));
        assert_eq!(chain.disconnect(&[second]), Err(Loose::Part));
        let third = chain.connect(&[beam(1, GROUND)]).unwrap()[0];
        assert_eq!(chain.disconnect(&[second]), Ok(()));
        assert_eq!(chain.disconnect(&[third]), Err(Loose::Part));
    }
}

#[test]
fn answers_to_many_springs_at_once_are_those_to_each() {
    for freedom in ALL {
        let mut structure = grow(freedom, 12, Rima::new(), 31);
        let springs: Vec<Spring> = structure.frame.present().flat_map(|link| link.springs(freedom)).collect();
        let together = structure.backend.answers(&structure.frame, &springs);
        for (spring, answer) in springs.iter().zip(&together) {
            // The stretched spring pulls both ends: K u is its force.
            let force = structure.frame.times(answer);
            let mut own = vec![0.0; force.len()];
            super::spring_entries(spring, freedom.size()).iter().for_each(|&(e, b)| own[e] += spring.stiffness * b);
            assert!(force.iter().zip(&own).all(|(f, o)| (f - o).abs() < 1e-10), "{freedom:?}");
        }
    }
}

#[test]
fn elimination_leaves_nothing_of_the_right_side() {
    let mut random = random(77);
    // Less than a block of columns, some blocks, and enough for several workers.
    for n in [9, 70, 250] {
        let a: Vec<f64> = (0..n * n).map(|_| random()).collect();
        let b: Vec<f64> = (0..n).map(|_| random()).collect();
        let x = super::dense::Triangles::of(a.clone(), n).unwrap().solve(&b);
        let largest = x.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let left = |r: usize| b[r] - (0..n).map(|c| a[r * n + c] * x[c]).sum::<f64>();
        let worst = (0..n).fold(0.0, |m: f64, r| m.max(left(r).abs())) / largest;
        assert!(worst < 1e-15 * n as f64, "{n}: {worst:.1e}");
        let workers = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert_eq!(workers.install(|| super::dense::Triangles::of(a, n).unwrap().solve(&b)), x);
    }
    assert!(super::dense::Triangles::of(vec![1.0, 2.0, 2.0, 4.0], 2).is_none());
}
