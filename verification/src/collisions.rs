//! Many pairs of spheres at once, and what must hold for each.

use crate::bench::{FLOOR, ball_mass, bounce, changed, go, grain, index, of_pair, on_floor, simulation, vector};
use crate::{Case, Effort, Evidence, Findings};
use esker::math::Vec3;
use esker::rng::{Purpose, Stream};
use esker::simulation::Simulation;
use esker::state::State;
use esker_io::chart::{Chart, Curve};

pub const CASES: &[Case] = &[
    Case {
        id: "V13",
        source: "conservation of energy",
        title: "1000 random oblique collisions of elastic spheres: energy after parting, and its order in the step",
        evidence: Evidence::Property,
        effort: Effort::Quick,
        run: energy,
    },
    Case {
        id: "M-D7",
        source: "conservation of momentum",
        title: "1000 random oblique collisions with friction: momentum and angular momentum",
        evidence: Evidence::Property,
        effort: Effort::Quick,
        run: momentum,
    },
    Case {
        id: "V16",
        source: "Walton & Braun 1986",
        title: "latching spring in a run: restitution by the stiffnesses at any speed, between spheres and on a plane",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: walton_braun,
    },
];

const PAIRS: usize = 1000;
const R: f64 = 0.01;
const DENSITY: f64 = 2500.0;

/// Sizes over `R`.
const SIZES: [f64; 5] = [0.5, 0.7, 0.9, 1.2, 1.5];

/// Pairs of spheres of 5 to 15 mm about to meet at 0.5 to 1.5 m/s, and the pair of each grain. Pairs are ten radii apart.
fn pairs(contact: &str, step: f64, spinning: bool) -> (Simulation, Vec<usize>) {
    let mut random = Stream::new(13, Purpose::Fill, 0);
    // Of each size: place, velocity, spin, pair.
    let mut of: [Vec<(Vec3, Vec3, Vec3, usize)>; SIZES.len()] = Default::default();
    for k in 0..PAIRS {
        let cell = 10.0 * R * Vec3::new((k % 10) as f64, (k / 10 % 10) as f64, (k / 100) as f64);
        let size = [0, 1].map(|_| random.below(SIZES.len() as u64) as usize);
        let normal = random.direction(false);
        // Towards each other, up to 70 degrees off the normal.
        let across = normal.any_orthonormal_vector();
        let angle = random.between(0.0, 70.0_f64.to_radians());
        let speed = random.between(0.5, 1.5);
        let approach = -speed * (angle.cos() * normal + angle.sin() * across);
        let drift = 0.2 * random.in_ball(false);
        let gap = speed * angle.cos() * step * random.uniform();
        let spins = [0, 1].map(|_| if spinning { 50.0 * random.in_ball(false) } else { Vec3::ZERO });
        let distance = R * (SIZES[size[0]] + SIZES[size[1]]) + gap;
        of[size[0]].push((cell, drift, spins[0], k));
        of[size[1]].push((cell + distance * normal, drift + approach, spins[1], k));
    }
    let mut tables = format!("[material.m]\ndensity = {DENSITY}\n{contact}[solver]\nstep = {step:e}\nskin = 1e-3\n");
    for (size, grains) in SIZES.iter().zip(&of) {
        let places: Vec<String> = grains.iter().map(|g| vector(g.0)).collect();
        tables += &format!(
            "[[grains]]\nname = \"{size}\"\nmaterial = \"m\"\nradius = {:e}\n\
             fill = {{ method = \"at\", positions = [{}] }}\n",
            size * R,
            places.join(", ")
        );
    }
    let grains = of.concat();
    let run = changed(&tables, 1, |_, state| {
        for (k, (_, velocity, spin, _)) in grains.iter().enumerate() {
            let i = index(state, k as u64);
            let motion = &mut state.particles.motion[i];
            (motion.velocity, motion.angular_velocity) = (*velocity, *spin);
        }
    });
    (run, grains.iter().map(|g| g.3).collect())
}

/// Kinetic energy, momentum and angular momentum of each pair.
fn totals(state: &State, pair_of: &[usize]) -> Vec<(f64, Vec3, Vec3)> {
    let p = &state.particles;
    let mut of = vec![(0.0, Vec3::ZERO, Vec3::ZERO); PAIRS];
    for i in 0..p.owned() {
        let pair = &mut of[pair_of[p.id[i] as usize]];
        let (translation, rotation) = p.kinetic_energy(i);
        let momentum = p.mass[i] * p.velocity(i);
        pair.0 += translation + rotation;
        pair.1 += momentum;
        pair.2 += p.position(i).cross(momentum) + p.inertia[i] * p.angular_velocity(i);
    }
    of
}

/// Shortest and longest contact of [`pairs`] under Hertz of a modulus, as far as sizes and speeds allow \[s\].
fn times(modulus: f64) -> [f64; 2] {
    [(0.5, 1.5), (1.5, 0.5 * 70f64.to_radians().cos())].map(|(size, speed): (f64, f64)| {
        let mass = 0.5 * ball_mass(size * R, DENSITY);
        let coefficient = 4.0 / 3.0 * modulus * (0.5 * size * R).sqrt();
        2.943_275 * (1.25 * mass / coefficient).powf(0.4) / speed.powf(0.2)
    })
}

fn energy() -> Findings {
    let mut found = Findings::default();
    let (modulus, stiffness) = (1e8, 1e6);
    let linear = [0.5, 1.5].map(|size| std::f64::consts::PI * (0.5 * ball_mass(size * R, DENSITY) / stiffness).sqrt());
    let mut curves = Vec::new();
    for (name, law, [shortest, longest], order) in [
        ("Hertz", format!("law = \"hertz\", modulus = {modulus:e}"), times(modulus), 2.5),
        ("Hooke", format!("law = \"hooke\", stiffness = {stiffness:e}"), linear, 2.0),
    ] {
        let mut errors = Vec::new();
        for steps in [50.0, 100.0, 200.0, 400.0_f64] {
            let contact = format!("[contact.default]\nnormal = {{ {law} }}\n");
            let (mut run, pair_of) = pairs(&contact, shortest / steps, false);
            let before = totals(&run.state, &pair_of);
            let p = &run.state.particles;
            let first: Vec<Vec3> = (0..p.owned() as u64).map(|id| p.velocity(index(&run.state, id))).collect();
            let end = (1.2 * longest / run.model().dt).ceil() as u64;
            run.advance(end).expect("the run goes on");
            let after = totals(&run.state, &pair_of);
            if steps == 50.0 {
                let p = &run.state.particles;
                let turned = (0..p.owned()).filter(|&i| p.velocity(i) != first[p.id[i] as usize]).count();
                let apart = turned - 2 * run.state.contacts.pairs.len();
                found.absolute(
                    format!("{name}: grains that have met another and left it"),
                    apart as f64,
                    2.0 * PAIRS as f64,
                    0.0,
                );
            }
            let off: Vec<f64> = before.iter().zip(&after).map(|(a, b)| (b.0 / a.0 - 1.0).abs()).collect();
            let largest = off.iter().copied().fold(0.0, f64::max);
            errors.push([steps.log10(), (off.iter().map(|e| e * e).sum::<f64>() / PAIRS as f64).sqrt().log10()]);
            let what = format!("{name}, {steps} steps in the shortest contact: energy off, largest of 1000");
            if steps >= 100.0 {
                found.at_most(what, largest, 1e-4);
            }
        }
        let slope = (errors[0][1] - errors[3][1]) / (errors[3][0] - errors[0][0]);
        found.absolute(format!("{name}: order of the rms error in the step"), slope, order, 0.1);
        curves.push(Curve { name: name.into(), points: errors });
    }
    found.charts.push(Chart {
        title: "Energy after 1000 elastic collisions, rms error".into(),
        axes: ["log10 of the steps in the shortest contact".into(), "log10 of the error".into()],
        curves,
    });
    found.reading = "the error comes from the two ends of contact: a force that begins as the overlap leaves the square of the \
                     step, one that begins as its power 3/2 half an order less";
    found
}

fn momentum() -> Findings {
    let mut found = Findings::default();
    let modulus = 1e8;
    let [shortest, longest] = times(modulus);
    let contact = format!(
        "[contact.default]\nnormal = {{ law = \"hertz\", modulus = {modulus:e}, restitution = 0.7 }}\n\
         tangential = {{ law = \"mindlin\", stiffness-ratio = 0.8, friction = 0.4 }}\n\
         rolling = {{ law = \"spring\", friction = 0.05 }}\ntwisting = {{ law = \"spring\", friction = 0.05 }}\n"
    );
    let (mut run, pair_of) = pairs(&contact, shortest / 50.0, true);
    // About a point near each pair: far from the origin its moment would drown that of the spins.
    let before = totals(&run.state, &pair_of);
    let scales: Vec<(f64, f64)> =
        before.iter().map(|(e, p, l)| (p.length().max((2.0 * e).sqrt()), l.length())).collect();
    let parts = (1.5 * longest / run.model().dt).ceil() as u64;
    go(&mut run, parts);
    run.complete();
    let after = totals(&run.state, &pair_of);
    let (mut linear, mut angular, mut lost) = (0.0_f64, 0.0_f64, 0.0_f64);
    for ((a, b), scale) in before.iter().zip(&after).zip(&scales) {
        linear = linear.max(a.1.distance(b.1) / scale.0);
        angular = angular.max(a.2.distance(b.2) / scale.1);
        lost = lost.max(b.0 / a.0);
    }
    found.at_most("momentum off, largest of 1000, relative", linear, 1e-12);
    found.at_most("angular momentum off, largest of 1000, relative", angular, 1e-12);
    found.at_most("energy after over energy before, largest of 1000", lost, 1.0);
    found
}

fn walton_braun() -> Findings {
    let mut found = Findings::default();
    let k = 1e6;
    for ratio in [1.0, 2.0, 4.0, 10.0_f64] {
        let contact = format!(
            "[contact.default]\nnormal = {{ law = \"walton-braun\", stiffness = {k:e}, unloading-stiffness = {:e} }}\n",
            ratio * k
        );
        for speed in [0.1, 1.0, 5.0] {
            let mass = ball_mass(R, DENSITY);
            let step = std::f64::consts::PI * (0.5 * mass / k).sqrt() / 1000.0;
            let x = Vec3::X * (R + 0.65 * speed * step);
            let mut run = simulation(
                &format!(
                    "[material.left]\ndensity = {DENSITY}\n[material.right]\ndensity = {DENSITY}\n{contact}{}{}\
                     [solver]\nstep = {step:e}\n",
                    grain("left", R, -x, Vec3::X * 0.5 * speed, Vec3::ZERO),
                    grain("right", R, x, -Vec3::X * 0.5 * speed, Vec3::ZERO)
                ),
                1,
            );
            bounce(&mut run, of_pair);
            let p = &run.state.particles;
            let between = p.velocity(0).distance(p.velocity(1)) / speed;
            let name = format!("K2/K1 = {ratio} at {speed} m/s");
            found.relative(format!("{name}, between spheres"), between, 1.0 / ratio.sqrt(), 1e-4);
            let mut run = simulation(
                &format!(
                    "[material.ball]\ndensity = {DENSITY}\n[material.floor]\n{contact}{FLOOR}{}[solver]\nstep = {step:e}\n",
                    grain("ball", R, Vec3::Z * (R + 0.65 * speed * step), -Vec3::Z * speed, Vec3::ZERO)
                ),
                1,
            );
            bounce(&mut run, on_floor);
            let back = run.state.particles.velocity(0).z / speed;
            found.relative(format!("{name}, on a plane"), back, 1.0 / ratio.sqrt(), 1e-4);
        }
    }
    found
}
