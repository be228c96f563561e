//! The cell grid against its slow twin, and what every list of candidates must obey.

use esker::math::Vec3;
use esker::neighbor::{Candidates, Image, Method, PeriodicCell, SearchError, search, spatial_order};
use esker::particles::Place;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A small generator, so that large sets need no strategy of their own (SplitMix64).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    fn point(&mut self, low: Vec3, high: Vec3) -> Vec3 {
        Vec3::new(self.between(low.x, high.x), self.between(low.y, high.y), self.between(low.z, high.z))
    }
}

fn place(x: f64, y: f64, z: f64, radius: f64) -> Place {
    Place { position: Vec3::new(x, y, z), radius }
}

fn grid(places: &[Place], cell: &PeriodicCell, skin: f64) -> Candidates {
    search(places, cell, skin, Method::Grid).expect("the set is valid")
}

/// Holds the grid against the naive search, and both against the rules of a list.
fn check(places: &[Place], cell: &PeriodicCell, skin: f64) -> Candidates {
    let found = grid(places, cell, skin);
    let expected = search(places, cell, skin, Method::Naive).expect("the set is valid");
    assert_eq!(found, expected);
    check_rules(&found, places, cell, skin);
    found
}

fn check_rules(found: &Candidates, places: &[Place], cell: &PeriodicCell, skin: f64) {
    let owned = places.len();
    assert_eq!(found.owned(), owned);
    assert!(found.images.is_sorted_by(|a, b| a < b), "images ascend, each once");

    let mut met = vec![false; found.images.len()];
    let mut across = BTreeSet::new();
    for i in 0..owned {
        assert!(found.row(i).is_sorted_by(|a, b| a < b), "row {i} ascends");
        for &partner in found.row(i) {
            let image = if (partner as usize) < owned {
                assert!(partner as usize > i);
                Image { owner: partner, shift: [0; 3] }
            } else {
                let k = partner as usize - owned;
                met[k] = true;
                across.insert((i as u32, found.images[k]));
                assert_ne!(found.images[k].shift, [0; 3]);
                found.images[k]
            };
            // The shift belongs to the positions as given.
            let (a, b) = (places[i], places[image.owner as usize]);
            let distance = (a.position - b.position - cell.shift_vector(image.shift)).length();
            let scale = 1.0 + a.position.length() + b.position.length();
            assert!(distance < a.radius + b.radius + skin + 1e-12 * scale, "pair {i}, {image:?} is too far apart");
        }
    }
    assert!(met.into_iter().all(|m| m), "an image nobody meets");
    for (i, image) in &across {
        let back = Image { owner: *i, shift: image.shift.map(|s| -s) };
        assert!(across.contains(&(image.owner, back)), "({i}, {image:?}) has no opposite");
    }
}

/// Where the grains lie.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Cube,
    Sheet(usize),
    Line(usize),
    Clusters,
}

fn shapes() -> impl Strategy<Value = Shape> {
    prop_oneof![
        Just(Shape::Cube),
        (0..3_usize).prop_map(Shape::Sheet),
        (0..3_usize).prop_map(Shape::Line),
        Just(Shape::Clusters)
    ]
}

/// A set with radii from 1/ratio to 1 about as dense as a loose bed, in a cube of the edge returned.
fn set(random: &mut Random, count: usize, ratio: f64, shape: Shape, spread: f64) -> (Vec<Place>, f64) {
    let mut places: Vec<Place> =
        (0..count).map(|_| Place { position: Vec3::ZERO, radius: ratio.powf(-random.unit()) }).collect();
    let volume: f64 = places.iter().map(|p| 8.0 * p.radius.powi(3)).sum();
    let edge = (spread * volume.cbrt()).max(0.1);
    let centres: Vec<Vec3> = (0..3).map(|_| random.point(Vec3::splat(-edge), Vec3::splat(edge))).collect();
    for (i, p) in places.iter_mut().enumerate() {
        let x = random.point(Vec3::ZERO, Vec3::splat(edge));
        p.position = match shape {
            Shape::Cube => x,
            Shape::Sheet(axis) => Vec3::from_array(std::array::from_fn(|a| if a == axis { 0.25 } else { 2.0 * x[a] })),
            Shape::Line(axis) => Vec3::from_array(std::array::from_fn(|a| if a == axis { 10.0 * x[a] } else { -0.5 })),
            Shape::Clusters => centres[i % 3] + 0.2 * (x - Vec3::splat(edge / 2.0)),
        };
    }
    (places, edge)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn cell_grid_finds_the_same_pairs_as_the_naive_search(
        seed: u64, count in 0..300_usize, ratio in prop_oneof![Just(1.0), 1.0..2.5, 2.5..100.0_f64], shape in shapes(),
        spread in 0.5..4.0_f64, skin in prop_oneof![Just(0.0), 0.0..0.5_f64],
    ) {
        let (places, _) = set(&mut Random(seed), count, ratio, shape, spread);
        check(&places, &PeriodicCell::OPEN, skin);
    }

    #[test]
    fn cell_grid_finds_the_same_pairs_in_periodic_cells(
        seed: u64, count in 0..200_usize, ratio in prop_oneof![Just(1.0), 1.0..2.5, 2.5..100.0_f64], shape in shapes(),
        spread in 0.5..4.0_f64, skin in prop_oneof![Just(0.0), 0.0..0.5_f64], periodic: [bool; 3],
        stretch in prop::array::uniform3(prop_oneof![Just(0.0), 0.3..3.0_f64]), periods in prop_oneof![Just(0_i32), 1..5_i32, Just(1_000_000)],
    ) {
        let mut random = Random(seed);
        let (mut places, edge) = set(&mut random, count, ratio, shape, spread);
        let reach = 2.0 * places.iter().fold(0.0_f64, |r, p| r.max(p.radius)) + skin;
        let length = std::array::from_fn(|axis| periodic[axis].then(|| (stretch[axis] * edge).max(reach).max(0.01)));
        let cell = PeriodicCell { origin: random.point(Vec3::splat(-3.0), Vec3::splat(3.0)), length };
        // Grains as a run leaves them between two wraps: some periods away from the cell.
        for p in &mut places {
            let shift = std::array::from_fn(|_| (random.bits() % (2 * periods as u64 + 1)) as i32 - periods);
            p.position += cell.shift_vector(shift);
        }
        check(&places, &cell, skin);
    }

    #[test]
    fn far_outliers_change_nothing_for_the_rest(
        seed: u64, count in 1..200_usize, ratio in 1.0..20.0_f64, shape in shapes(), strays in 1..6_usize,
        distance in prop_oneof![Just(1e3), Just(1e9), Just(1e15), Just(1e300)], x_periodic: bool,
    ) {
        let mut random = Random(seed);
        let (mut places, edge) = set(&mut random, count, ratio, shape, 1.0);
        for _ in 0..strays {
            let mut far = distance * random.point(Vec3::NEG_ONE, Vec3::ONE);
            if x_periodic {
                far.x = random.unit();
            }
            // Two of each, so that far away too there is something to find.
            for p in [far, far + Vec3::splat(0.1)] {
                places.insert((random.bits() % places.len() as u64) as usize, Place { position: p, radius: 1.0 });
            }
        }
        let cell = PeriodicCell { origin: Vec3::ZERO, length: [x_periodic.then_some(edge.max(3.0)), None, None] };
        check(&places, &cell, 0.3);
    }

    #[test]
    fn spatial_order_sorts_by_cell_and_by_index_within_a_cell(
        seed: u64, count in 0..400_usize, shape in shapes(), size in 2.0..4.0_f64,
    ) {
        let (places, _) = set(&mut Random(seed), count, 1.5, shape, 0.8);
        let order = spatial_order(&places, &PeriodicCell::OPEN, size);
        let mut all = order.clone();
        all.sort_unstable();
        prop_assert!(all.into_iter().eq(0..count as u32));
        // These sets are dense, but for lines and clusters: there cells may share a number.
        if matches!(shape, Shape::Cube) {
            let edge = |axis: usize| {
                let ends = places.iter().map(|p| p.position[axis]);
                ends.clone().fold(f64::MIN, f64::max) - ends.fold(f64::MAX, f64::min)
            };
            // Slowest along the longest edge, the others in the order z, y, x.
            let along = match (edge(0), edge(1), edge(2)) {
                (x, y, z) if z >= x.max(y) => [2, 1, 0],
                (x, y, _) if y >= x => [1, 2, 0],
                _ => [0, 2, 1],
            };
            let key = |i: u32| {
                let c = (places[i as usize].position / size).floor();
                (along.map(|axis| c[axis] as i64), i)
            };
            prop_assert!(order.is_sorted_by_key(|&i| key(i)));
        }
    }
}

#[test]
fn layers_of_many_grains_are_cut_into_strips_along_the_longest_edge() {
    let (long, wide, high) = (70, 60, 55);
    let all = (0..long * wide * high).map(|n| (n % long, n / long % wide, n / long / wide));
    let places: Vec<Place> = all.map(|(x, y, z)| place(x as f64 + 0.5, y as f64 + 0.5, z as f64 + 0.5, 0.5)).collect();
    let order = spatial_order(&places, &PeriodicCell::OPEN, 1.0);
    let at = |k: usize| places[order[k] as usize].position;
    // More than three thousand grains to a layer make three strips 20 wide, which come one after the other, layer by layer
    // and column by column.
    let (strip, layer) = (places.len() / 3, 20 * high);
    for k in 0..places.len() {
        assert_eq!(at(k).y as usize / 20, k / strip, "grain {k} in its strip");
        assert_eq!(at(k).x.floor() as usize, k % strip / layer, "layer of grain {k}");
        assert_eq!(at(k).z.floor() as usize, k % high, "height of grain {k}");
    }
}

#[test]
fn two_grains_are_candidates_only_below_the_sum_of_radii_and_skin() {
    let pair = |distance: f64| [place(0.0, 0.0, 0.0, 1.0), place(distance, 0.0, 0.0, 0.5)];
    assert_eq!(check(&pair(1.75), &PeriodicCell::OPEN, 0.25).partner.len(), 0);
    assert_eq!(check(&pair(1.75_f64.next_down()), &PeriodicCell::OPEN, 0.25).partner, [1]);
}

#[test]
fn none_and_one_grain_have_no_candidates() {
    let periodic = PeriodicCell { origin: Vec3::ZERO, length: [Some(2.0); 3] };
    for cell in [PeriodicCell::OPEN, periodic] {
        assert_eq!(check(&[], &cell, 0.0), Candidates { start: vec![0], partner: vec![], images: vec![] });
        let one = check(&[place(0.5, 0.5, 1.9, 1.0)], &cell, 0.0);
        assert_eq!(one, Candidates { start: vec![0, 0], partner: vec![], images: vec![] });
    }
}

#[test]
fn a_pair_across_a_face_meets_through_opposite_images() {
    let cell = PeriodicCell { origin: Vec3::ZERO, length: [Some(10.0), None, None] };
    let found = check(&[place(0.2, 0.0, 0.0, 0.5), place(9.8, 0.0, 0.0, 0.5)], &cell, 0.0);
    let images = vec![Image { owner: 0, shift: [1, 0, 0] }, Image { owner: 1, shift: [-1, 0, 0] }];
    assert_eq!(found, Candidates { start: vec![0, 1, 2], partner: vec![3, 2], images });
}

#[test]
fn a_pair_that_left_the_cell_together_needs_no_image() {
    let cell = PeriodicCell { origin: Vec3::ZERO, length: [Some(10.0), None, Some(5.0)] };
    let found = check(&[place(29.8, 0.0, -7.0, 0.5), place(30.2, 0.0, -7.0, 0.5)], &cell, 0.0);
    assert_eq!(found, Candidates { start: vec![0, 1, 1], partner: vec![1], images: vec![] });
    // One of them wrapped, the other not: an image three periods away.
    let found = check(&[place(29.8, 0.0, -7.0, 0.5), place(0.2, 0.0, 3.0, 0.5)], &cell, 0.0);
    let images = vec![Image { owner: 0, shift: [-3, 0, 2] }, Image { owner: 1, shift: [3, 0, -2] }];
    assert_eq!(found, Candidates { start: vec![0, 1, 2], partner: vec![3, 2], images });
}

#[test]
fn in_the_shortest_cell_a_grain_meets_both_copies_of_another() {
    let cell = PeriodicCell { origin: Vec3::ZERO, length: [Some(2.0), None, None] };
    let found = check(&[place(0.5, 0.0, 0.0, 1.0), place(1.5, 0.0, 0.0, 1.0)], &cell, 0.0);
    assert_eq!(found.row(0), [1, 3]);
    assert_eq!(found.row(1), [2]);
}

#[test]
fn a_size_ratio_of_100_is_searched_as_well_as_a_narrow_set() {
    // One grain over two thousand that it covers, and fifty of sizes between: every small one is a partner of the large one.
    let mut random = Random(3);
    let mut places: Vec<Place> = (0..2000)
        .map(|_| Place { position: random.point(Vec3::splat(-0.5), Vec3::splat(0.5)), radius: 0.01 })
        .collect();
    places.push(place(0.0, 0.0, 0.0, 1.0));
    for _ in 0..50 {
        places.push(Place {
            position: random.point(Vec3::splat(-2.0), Vec3::splat(2.0)),
            radius: random.between(0.05, 0.3),
        });
    }
    let found = check(&places, &PeriodicCell::OPEN, 0.001);
    assert!((0..2000).all(|i| found.row(i).contains(&2000)));
}

#[test]
fn the_list_is_equal_for_1_2_3_and_8_threads() {
    let mut random = Random(11);
    let (places, edge) = set(&mut random, 20_000, 8.0, Shape::Cube, 1.0);
    let cell = PeriodicCell { origin: Vec3::ZERO, length: [Some(edge), None, Some(edge)] };
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be had");
        pool.install(|| grid(&places, &cell, 0.1))
    };
    let one = with(1);
    check_rules(&one, &places, &cell, 0.1);
    assert!(!one.images.is_empty() && one.partner.len() > places.len());
    for threads in [2, 3, 8] {
        assert!(with(threads) == one, "{threads} threads");
    }
}

#[test]
fn grains_nearly_at_rest_in_a_cell_whose_length_is_a_whole_number_of_reaches_are_all_found() {
    // Centres on cell faces, where rounding decides the cell.
    let places: Vec<Place> = (0..1000)
        .map(|i| place(0.1 * f64::from(i % 10), 0.1 * f64::from(i / 10 % 10), 0.1 * f64::from(i / 100), 0.05))
        .collect();
    let cell = PeriodicCell { origin: Vec3::splat(-0.3), length: [Some(1.0); 3] };
    let found = check(&places, &cell, 1e-9);
    let shifted = found.partner.iter().filter(|&&p| p as usize >= places.len()).count();
    // Six neighbours each: 3000 pairs, 300 of them across faces and listed twice.
    assert_eq!((found.partner.len() - shifted, shifted), (2700, 600));
}

#[test]
fn what_cannot_be_searched_is_named() {
    let grains = [place(0.0, 0.0, 0.0, 0.5), place(3.0, 0.0, 0.0, 0.75)];
    for method in [Method::Naive, Method::Grid] {
        let error = |places: &[Place], length, skin| {
            search(places, &PeriodicCell { origin: Vec3::ZERO, length }, skin, method)
                .expect_err("the set is not valid")
        };
        let short = error(&grains, [None, Some(1.5), None], 0.25);
        assert_eq!(short, SearchError::PeriodTooShort { axis: 'y', length: 1.5, needed: 1.75 });
        assert_eq!(
            short.to_string(),
            "the periodic length along y is 1.5 m, but the largest grains reach 1.75 m (largest diameter plus skin): \
             lengthen the cell or shorten the skin"
        );
        assert!(matches!(error(&[], [Some(0.0), None, None], 0.0), SearchError::PeriodTooShort { .. }));
        assert!(matches!(error(&[], [None, None, Some(f64::NAN)], 0.0), SearchError::CellNotFinite { axis: 'z', .. }));
        assert!(matches!(error(&grains, [None; 3], -1.0), SearchError::BadSkin { .. }));
        assert!(matches!(error(&grains, [None; 3], f64::NAN), SearchError::BadSkin { .. }));
        let lost = [grains[0], place(0.0, f64::INFINITY, 0.0, 0.5)];
        assert!(matches!(error(&lost, [None; 3], 0.0), SearchError::PositionNotFinite { index: 1, .. }));
        let inside_out = [grains[0], grains[1], place(0.0, 0.0, 0.0, -0.5)];
        assert!(matches!(error(&inside_out, [None; 3], 0.0), SearchError::BadRadius { index: 2, .. }));
        let gone = [grains[0], place(1e20, 0.0, 0.0, 0.5)];
        let gone = error(&gone, [Some(4.0), None, None], 0.0);
        assert_eq!(gone, SearchError::TooManyPeriods { index: 1, axis: 'x', position: 1e20, length: 4.0 });
    }
}

#[test]
fn degenerate_sizes_and_cells_are_searched_without_a_panic() {
    let points = [place(0.0, 0.0, 0.0, 0.0), place(0.0, 0.0, 0.0, 0.0), place(1.0, 0.0, 0.0, 0.0)];
    assert_eq!(check(&points, &PeriodicCell::OPEN, 0.0).partner.len(), 0);
    assert_eq!(check(&points, &PeriodicCell::OPEN, 1e-3).partner, [1]);
    let coincident = vec![place(5.0, 5.0, 5.0, 0.1); 20];
    assert_eq!(check(&coincident, &PeriodicCell::OPEN, 0.0).partner.len(), 190);
    let odd = [place(f64::NAN, 0.0, 0.0, 1.0), place(f64::INFINITY, 1.0, -1e300, 1.0), place(0.0, 2.0, 0.0, 1.0)];
    let cell = PeriodicCell { origin: Vec3::ZERO, length: [None, Some(f64::NAN), Some(-1.0)] };
    for size in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-310, 1.0] {
        for cell in [cell, PeriodicCell::OPEN] {
            let mut order = spatial_order(&odd, &cell, size);
            order.sort_unstable();
            assert_eq!(order, [0, 1, 2], "size {size}");
        }
    }
    assert!(spatial_order(&[], &cell, 1.0).is_empty());
}

/// A bed about as dense as a settled one: a jittered lattice, radii ±10 %, indices in spatial order or shuffled.
fn bed(cells: [usize; 3], shuffled: bool) -> Vec<Place> {
    let mut random = Random(5);
    let mut places = Vec::new();
    for z in 0..cells[2] {
        for y in 0..cells[1] {
            for x in 0..cells[0] {
                let site = Vec3::new(x as f64, y as f64, z as f64) * 0.95e-2;
                let position = site + random.point(Vec3::ZERO, Vec3::splat(0.1e-2));
                places.push(Place { position, radius: 0.5e-2 * random.between(0.9, 1.1) });
            }
        }
    }
    if shuffled {
        for i in (1..places.len()).rev() {
            places.swap(i, (random.bits() % (i as u64 + 1)) as usize);
        }
    }
    places
}

/// Best time of several searches on one thread \[ms\].
fn time(places: &[Place], cell: &PeriodicCell, skin: f64, repeats: usize) -> (f64, Candidates) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread can be had");
    let mut best = f64::INFINITY;
    let mut found = Candidates::default();
    for _ in 0..repeats {
        let begin = std::time::Instant::now();
        found = pool.install(|| grid(places, cell, skin));
        best = best.min(begin.elapsed().as_secs_f64() * 1e3);
    }
    (best, found)
}

#[test]
#[ignore = "a measurement: cargo test --release -p esker --test neighbor -- --ignored --nocapture"]
fn time_of_one_rebuild() {
    let report = |name: &str, places: &[Place], cell: &PeriodicCell, skin: f64| {
        let (ms, found) = time(places, cell, skin, 15);
        let n = places.len() as f64;
        let (pairs, images) = (found.partner.len() as f64 / n, found.images.len());
        println!("{name:<42} {n:>8} grains {pairs:>6.2} entries per grain {images:>7} images {ms:>8.2} ms");
    };
    let skin = 1e-3;
    let sorted = bed([46, 46, 47], false);
    let shuffled = bed([46, 46, 47], true);
    report("bed in lattice order", &sorted, &PeriodicCell::OPEN, skin);
    report("bed shuffled", &shuffled, &PeriodicCell::OPEN, skin);
    let order = spatial_order(&shuffled, &PeriodicCell::OPEN, 1.2e-2);
    let ordered: Vec<Place> = order.iter().map(|&i| shuffled[i as usize]).collect();
    report("bed in spatial order", &ordered, &PeriodicCell::OPEN, skin);
    let begin = std::time::Instant::now();
    let again = spatial_order(&shuffled, &PeriodicCell::OPEN, 1.2e-2);
    println!("{:<42} {:>8} grains {:.2} ms", "spatial order itself", again.len(), begin.elapsed().as_secs_f64() * 1e3);

    let side = |cells: usize| Some(cells as f64 * 0.95e-2);
    let shear = PeriodicCell { origin: Vec3::ZERO, length: [side(46), side(46), side(47)] };
    report("bed, periodic in x, y, z", &ordered, &shear, skin);
    let mut stray = ordered.clone();
    stray[50_000].position = Vec3::new(1e9, -3e8, 1e5);
    report("bed with one stray 1e9 m away", &stray, &PeriodicCell::OPEN, skin);
    report("sheet", &bed([316, 316, 1], false), &PeriodicCell::OPEN, skin);
    let gas: Vec<Place> = ordered.iter().map(|p| Place { position: p.position * 10.0, ..*p }).collect();
    report("gas, 1000 times thinner", &gas, &PeriodicCell::OPEN, skin);
    report("bed", &bed([100, 100, 100], false), &PeriodicCell::OPEN, skin);

    // Equal volume per octave from 1 to 1/100: mostly fine grains, some very large.
    let mut random = Random(9);
    let radii: Vec<f64> = (0..100_000).map(|_| (1.0 + random.unit() * (1e6 - 1.0)).powf(-1.0 / 3.0)).collect();
    let volume: f64 = radii.iter().map(|r| 4.2 * r * r * r).sum();
    let edge = (volume / 0.6).cbrt();
    let wide: Vec<Place> =
        radii.iter().map(|&radius| Place { position: random.point(Vec3::ZERO, Vec3::splat(edge)), radius }).collect();
    let order = spatial_order(&wide, &PeriodicCell::OPEN, 0.05);
    let wide: Vec<Place> = order.iter().map(|&i| wide[i as usize]).collect();
    report("overlapping mixture, radii 1 to 100", &wide, &PeriodicCell::OPEN, 0.002);
}
