//! Hard collisions in time order: conservation, no overlap, twins, closed forms, and that the scratch memory does not matter.

use crate::common;

use common::{add, close, gravity, hooke, model, plane, wall};
use esker::boundary::{Mesh, Motion, MotionPart, Polyline, Revolved, Shell, Surface, Waveform};
use esker::fill::SizeLaw;
use esker::fill::feed::{Arrivals, Feed, Rate};
use esker::law::collision::Collision;
use esker::math::{Aabb, Vec3};
use esker::measure::energy;
use esker::model::{Collapse, EventSettings, Method, Model, PairTable};
use esker::neighbor::PeriodicCell;
use esker::region::Region;
use esker::rng::{Purpose, Stream};
use esker::simulation::{End, Simulation, Stage};
use esker::solver::Solver;
use esker::solver::event::Event;
use esker::state::State;

const RADIUS: f64 = 1e-3;

fn hard(collision: Collision, dt: f64) -> Model {
    let mut model = model(hooke(1.0), 1000.0, dt);
    model.collisions = PairTable::new(1, |_, _| collision);
    model.method = Method::Event(EventSettings { collapse: Collapse::Refuse, window: 1.0 });
    model
}

/// Grains on a lattice in a periodic cube, at a solid fraction, with velocities of unit spread and no total momentum.
fn gas(side: usize, fraction: f64, model: &mut Model) -> State {
    let spacing = (4.0 / 3.0 * std::f64::consts::PI / fraction).cbrt() * RADIUS;
    let length = spacing * side as f64;
    model.cell = PeriodicCell { origin: Vec3::ZERO, length: [Some(length); 3] };
    let mut state = State::new(model);
    let n = side * side * side;
    let mut random = Stream::new(5, Purpose::Velocity, 0);
    let mut draw = || {
        let mut normal = || (-2.0 * random.uniform().ln()).sqrt() * (std::f64::consts::TAU * random.uniform()).cos();
        Vec3::new(normal(), normal(), normal())
    };
    let velocities: Vec<Vec3> = (0..n).map(|_| draw()).collect();
    let mean = velocities.iter().sum::<Vec3>() / n as f64;
    for (k, v) in velocities.iter().enumerate() {
        let cell = Vec3::new((k % side) as f64, (k / side % side) as f64, (k / side / side) as f64);
        add(model, &mut state, 0, (cell + 0.5) * spacing, RADIUS, *v - mean, Vec3::ZERO);
    }
    state
}

fn momentum(state: &State) -> Vec3 {
    let p = &state.particles;
    (0..p.owned()).map(|i| p.mass[i] * p.velocity(i)).sum()
}

fn kinetic(state: &State) -> f64 {
    let p = &state.particles;
    (0..p.owned()).map(|i| p.kinetic_energy(i).0 + p.kinetic_energy(i).1).sum()
}

fn collisions(state: &State) -> u64 {
    state.meetings.tallies.iter().map(|tally| tally.count()).sum()
}

/// Deepest overlap of two grains over the radius, by looking at all pairs.
fn deepest(model: &Model, state: &State) -> f64 {
    let p = &state.particles;
    let mut worst = f64::NEG_INFINITY;
    for i in 0..p.owned() {
        for j in 0..i {
            let apart = model.cell.nearest(p.position(i) - p.position(j)).length();
            worst = worst.max((p.radius(i) + p.radius(j) - apart) / p.radius(i));
        }
    }
    worst
}

#[test]
fn a_million_elastic_collisions_conserve_energy_and_momentum_and_grains_never_overlap() {
    let mut model = hard(Collision::smooth(1.0), 1e-5);
    let mut state = gas(10, 0.3, &mut model);
    let energy = kinetic(&state);
    let scale: f64 =
        state.particles.mass.iter().zip(&state.particles.motion).map(|(m, v)| m * v.velocity.length()).sum();
    let mut solver = Event::new();
    let mut worst = f64::NEG_INFINITY;
    while collisions(&state) < 1_000_000 {
        solver.advance(&model, &mut state, 97).unwrap();
        worst = worst.max(deepest(&model, &state));
    }
    let (energy, momentum) = (kinetic(&state) / energy - 1.0, momentum(&state).length() / scale);
    println!("{} collisions: energy {energy:e}, momentum {momentum:e}, overlap {worst:e}", collisions(&state));
    assert!(energy.abs() < 1e-12 && momentum < 1e-12, "energy {energy:e}, momentum {momentum:e}");
    let at_meetings = state.meetings.overlap;
    println!("deepest at a meeting {at_meetings:e}");
    assert!(worst < 1e-12 && at_meetings < 1e-12, "overlap {worst:e}, {at_meetings:e}");
}

/// The slow twin: all grains at one time, all pairs and planes looked at for every collision.
struct Twin {
    x: Vec<Vec3>,
    v: Vec<Vec3>,
    r: Vec<f64>,
    m: Vec<f64>,
    planes: Vec<(Vec3, Vec3)>,
    g: Vec3,
    e: f64,
}

impl Twin {
    fn next(&self) -> (f64, usize, Option<usize>, usize) {
        let mut first = (f64::INFINITY, 0, None, 0);
        for i in 0..self.x.len() {
            for j in 0..i {
                let (x, v) = (self.x[i] - self.x[j], self.v[i] - self.v[j]);
                let (b, c) = (x.dot(v), x.length_squared() - (self.r[i] + self.r[j]).powi(2));
                let d = b * b - v.length_squared() * c;
                if b < 0.0 && d > 0.0 {
                    let t = (-b - d.sqrt()) / v.length_squared();
                    if t < first.0 {
                        first = (t, i, Some(j), 0);
                    }
                }
            }
            for (k, (point, normal)) in self.planes.iter().enumerate() {
                let (gap, rate, a) =
                    ((self.x[i] - *point).dot(*normal) - self.r[i], self.v[i].dot(*normal), self.g.dot(*normal));
                let t = if a == 0.0 {
                    if rate < 0.0 { -gap / rate } else { f64::INFINITY }
                } else {
                    let d = rate * rate - 2.0 * a * gap;
                    let roots =
                        if d > 0.0 { [(-rate - d.sqrt()) / a, (-rate + d.sqrt()) / a] } else { [f64::INFINITY; 2] };
                    // The one at which it comes nearer.
                    roots.into_iter().filter(|t| rate + a * t < 0.0 && *t > -1e-12).fold(f64::INFINITY, f64::min)
                };
                if t < first.0 {
                    first = (t, i, None, k);
                }
            }
        }
        first
    }

    fn fly(&mut self, t: f64) {
        for (x, v) in self.x.iter_mut().zip(&mut self.v) {
            *x += t * *v + 0.5 * t * t * self.g;
            *v += t * self.g;
        }
    }

    fn collide(&mut self, i: usize, j: Option<usize>, k: usize) {
        match j {
            None => {
                let n = self.planes[k].1;
                let rate = self.v[i].dot(n);
                self.v[i] -= (1.0 + self.e) * rate * n;
            }
            Some(j) => {
                let n = (self.x[j] - self.x[i]).normalize();
                let mass = 1.0 / (1.0 / self.m[i] + 1.0 / self.m[j]);
                let impulse = (1.0 + self.e) * mass * (self.v[i] - self.v[j]).dot(n);
                self.v[i] -= impulse / self.m[i] * n;
                self.v[j] += impulse / self.m[j] * n;
            }
        }
    }
}

/// The six faces of a box from inside.
fn faces(size: f64) -> Vec<(Vec3, Vec3)> {
    [Vec3::X, Vec3::Y, Vec3::Z].iter().flat_map(|&n| [(Vec3::ZERO, n), (Vec3::splat(size), -n)]).collect()
}

#[test]
fn collisions_are_those_of_a_search_through_all_pairs() {
    let (g, e, size) = (Vec3::new(1.0, -2.0, -9.8), 0.9, 0.02);
    let mut model = hard(Collision::smooth(e), 1e-4);
    model.fields = vec![gravity(g)];
    model.walls = faces(size).into_iter().map(|(x, n)| plane(x, n)).collect();
    let mut state = State::new(&model);
    let mut random = Stream::new(3, Purpose::Velocity, 0);
    for k in 0..27 {
        let place = Vec3::new((k % 3) as f64, (k / 3 % 3) as f64, (k / 9) as f64) * 0.006 + 0.004;
        let v = Vec3::new(random.between(-1.0, 1.0), random.between(-1.0, 1.0), random.between(-1.0, 1.0));
        add(&model, &mut state, 0, place, 0.001 * random.between(1.0, 2.5), v, Vec3::ZERO);
    }
    let p = &state.particles;
    let mut twin = Twin {
        x: (0..27).map(|i| p.position(i)).collect(),
        v: (0..27).map(|i| p.velocity(i)).collect(),
        r: (0..27).map(|i| p.radius(i)).collect(),
        m: p.mass.clone(),
        planes: faces(size),
        g,
        e,
    };
    let mut solver = Event::new();
    let (mut count, mut twin_time, mut worst) = (0, 0.0, 0.0f64);
    // Longer, and rounding grows beyond the gate: they are chaotic.
    for _ in 0..200 {
        solver.advance(&model, &mut state, 1).unwrap();
        loop {
            let (t, i, j, k) = twin.next();
            if twin_time + t > state.time {
                twin.fly(state.time - twin_time);
                twin_time = state.time;
                break;
            }
            twin.fly(t);
            twin_time += t;
            twin.collide(i, j, k);
            count += 1;
        }
        assert_eq!(collisions(&state), count);
        for i in 0..27 {
            let id = state.particles.id[i] as usize;
            let off = (state.particles.position(i) - twin.x[id]).length();
            worst = worst.max(off / size);
        }
    }
    println!("{count} collisions, off by {worst:e}");
    assert!(count > 100 && worst < 1e-9, "{count} {worst:e}");
    let balance = energy::balance(&model, &state);
    assert!(balance.residual().abs() < 1e-12 * balance.turnover(), "{}", balance.residual());
}

#[test]
fn a_ball_bounces_on_a_floor_by_the_closed_form() {
    let (g, e, h) = (9.81, 0.9, 0.5);
    let mut model = hard(Collision::smooth(e), 1e-3);
    model.fields = vec![gravity(Vec3::new(0.0, 0.0, -g))];
    model.walls = vec![plane(Vec3::ZERO, Vec3::Z)];
    let mut state = State::new(&model);
    add(&model, &mut state, 0, Vec3::new(0.0, 0.0, RADIUS + h), RADIUS, Vec3::ZERO, Vec3::ZERO);
    let fall = (2.0 * h / g).sqrt();
    let mut solver = Event::new();
    // Time of the top after bounce k, and its height.
    for k in 1..30 {
        let before: f64 = (1..k).map(|j| 2.0 * e.powi(j) * fall).sum();
        let top = fall + before + e.powi(k) * fall;
        let steps = (top / model.dt).round() as u64 - state.step;
        solver.advance(&model, &mut state, steps).unwrap();
        let late = state.time - top;
        let height = e.powi(2 * k) * h - 0.5 * g * late * late;
        close(state.particles.position(0).z - RADIUS, height, 2e-13, "height");
        assert_eq!(collisions(&state), k as u64);
    }
}

/// A cloud of grains within a wall, elastic, with gravity.
fn contained(walls: Vec<Surface>, places: impl Fn(&mut Stream) -> Vec3, planar: bool) -> (Model, State) {
    let mut model = hard(Collision::smooth(1.0), 1e-3);
    model.planar = planar;
    model.fields = vec![gravity(Vec3::new(0.3, -9.8, if planar { 0.0 } else { 0.5 }))];
    model.walls = walls.into_iter().map(wall).collect();
    let mut state = State::new(&model);
    let mut random = Stream::new(9, Purpose::Fill, 0);
    let mut taken: Vec<Vec3> = Vec::new();
    let mut touches = Vec::new();
    while taken.len() < 20 {
        let x = places(&mut random);
        let free = taken.iter().all(|y| y.distance(x) > 2.1 * RADIUS);
        touches.clear();
        model.walls.iter().for_each(|w| w.surface.touches(x, 1.05 * RADIUS, &mut touches));
        if free && touches.is_empty() {
            taken.push(x);
            let mut v = random.direction(planar);
            v *= random.between(0.2, 1.0);
            add(&model, &mut state, 0, x, RADIUS, v, Vec3::ZERO);
        }
    }
    (model, state)
}

/// Lets a cloud fly and asks that energy stays, that nobody is ever in a wall, and that all stay on their side.
fn stays(name: &str, (model, mut state): (Model, State), inside: impl Fn(Vec3) -> bool) {
    let held = energy::mechanical(&model, &state);
    let mut solver = Event::new();
    let mut touches = Vec::new();
    for _ in 0..400 {
        solver.advance(&model, &mut state, 10).unwrap();
        for i in 0..state.particles.owned() {
            let x = state.particles.position(i);
            assert!(inside(x), "{name}: grain {i} is at {x} at t = {}", state.time);
            touches.clear();
            model.walls.iter().for_each(|w| w.surface.touches(x, RADIUS * (1.0 - 1e-9), &mut touches));
            assert!(touches.is_empty(), "{name}: grain {i} at {x} is in a wall by {:e}", touches[0].overlap);
        }
    }
    let (now, scale) = (energy::mechanical(&model, &state), kinetic(&state));
    println!("{name}: {} collisions, energy off by {:e}", collisions(&state), (now - held) / scale);
    assert!(collisions(&state) > 2000, "{name}: {}", collisions(&state));
    assert!((now - held).abs() < 2e-13 * scale, "{name}: {}", (now - held) / scale);
}

#[test]
fn grains_stay_inside_and_outside_walls_of_every_kind() {
    let within = |half: f64| {
        move |random: &mut Stream| {
            Vec3::new(random.between(-half, half), random.between(-half, half), random.between(-half, half))
        }
    };
    let ball = Surface::Shell(Shell::new(Vec3::ZERO, 0.02).unwrap());
    stays("inside a ball", contained(vec![ball.clone()], within(0.015), false), |x| x.length() < 0.019 + 1e-9);
    let core = Surface::Shell(Shell::new(Vec3::ZERO, 0.007).unwrap());
    let between = contained(vec![ball, core], within(0.015), false);
    stays("between two balls", between, |x| x.length() > 0.008 - 1e-9 || x.length() < 0.006);

    let (low, high) = (Vec3::new(0.0, -0.02, 0.0), Vec3::new(0.0, 0.02, 0.0));
    let disc = |at: Vec3, r: f64| Surface::Revolved(Revolved::disc(at, Vec3::Y, r).unwrap());
    let tube = |r: f64| Surface::Revolved(Revolved::cylinder(low, high, r).unwrap());
    let can = vec![tube(0.015), disc(low, 0.015), disc(high, 0.015)];
    stays("inside a can", contained(can.clone(), within(0.012), false), |x| {
        x.x.hypot(x.z) < 0.0141 && x.y.abs() < 0.0191
    });
    let rod = Surface::Revolved(Revolved::cylinder(0.3 * low, 0.3 * high, 0.004).unwrap());
    let with_rod = [can.clone(), vec![rod, disc(0.3 * low, 0.004), disc(0.3 * high, 0.004)]].concat();
    stays("in a can with a short rod", contained(with_rod, within(0.012), false), |x| x.x.hypot(x.z) < 0.0141);

    let cone = Surface::Revolved(Revolved::cone(low, high, 0.0, 0.03).unwrap());
    let funnel = vec![cone, disc(high, 0.03)];
    let slope = (0.03f64 / 0.04).atan();
    stays("inside a cone", contained(funnel, |r| within(0.012)(r) + Vec3::Y * 0.005, false), |x| {
        x.y < 0.0191 && x.x.hypot(x.z) * slope.cos() - (x.y + 0.02) * slope.sin() < -0.00099
    });
    let roof = Surface::Revolved(Revolved::cone(0.2 * low, 0.2 * high, 0.008, 0.002).unwrap());
    stays("in a can with a ring", contained([can, vec![roof]].concat(), within(0.012), false), |x| x.y.abs() < 0.0191);

    let room = Surface::Mesh(Mesh::cuboid(Vec3::splat(-0.015), Vec3::splat(0.015), RADIUS).unwrap());
    let block = Surface::Mesh(Mesh::cuboid(Vec3::splat(-0.004), Vec3::new(0.004, 0.003, 0.005), RADIUS).unwrap());
    stays("in a room with a block", contained(vec![room, block], within(0.013), false), |x| {
        x.abs().max_element() < 0.01401
    });

    let at = |x: f64, y: f64| Vec3::new(x, y, 0.0);
    let star: Vec<Vec3> = (0..10)
        .map(|k| (f64::from(k) * std::f64::consts::TAU / 10.0, if k % 2 == 0 { 0.03 } else { 0.016 }))
        .map(|(a, r)| at(r * a.cos(), r * a.sin()))
        .collect();
    let star = Surface::Polyline(Polyline::new(star, true).unwrap());
    let flat = |random: &mut Stream| at(random.between(-0.013, 0.013), random.between(-0.013, 0.013));
    stays("inside a star", contained(vec![star], flat, true), |x| x.z == 0.0 && x.length() < 0.03);
}

/// First times at which a grain on a parabola meets a moving wall, by small steps and bisection.
fn sampled_bounce(gap: impl Fn(f64) -> f64, from: f64, to: f64) -> Option<f64> {
    let n = 400_000;
    let at = |k: u32| from + (to - from) * f64::from(k) / f64::from(n);
    let k = (1..=n).find(|&k| gap(at(k)) <= 0.0)?;
    let (mut low, mut high) = (at(k - 1), at(k));
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if gap(middle) > 0.0 { low = middle } else { high = middle }
    }
    Some(0.5 * (low + high))
}

#[test]
fn a_shaken_floor_throws_a_ball_when_and_as_fast_as_small_steps_say() {
    for form in [Waveform::Sine, Waveform::Parabolic] {
        let (g, e, amplitude, frequency) = (9.81, 0.8, 0.003, 12.0);
        let shake = MotionPart::Oscillate { amplitude: amplitude * Vec3::Z, frequency, phase: 0.4, form };
        let motion = Motion { parts: vec![shake, MotionPart::Translate { velocity: 0.01 * Vec3::Z }] };
        let mut model = hard(Collision::smooth(e), 1e-4);
        model.fields = vec![gravity(Vec3::new(0.0, 0.0, -g))];
        let mut floor = plane(Vec3::ZERO, Vec3::Z);
        floor.motion = motion.clone();
        model.walls = vec![floor];
        let mut state = State::new(&model);
        add(&model, &mut state, 0, Vec3::new(0.0, 0.0, 0.01), RADIUS, Vec3::ZERO, Vec3::ZERO);
        let mut solver = Event::new();
        let (mut t, mut z, mut v) = (0.0, 0.01, 0.0);
        for bounce in 0..12 {
            let gap = |s: f64| {
                let height = z + v * (s - t) - 0.5 * g * (s - t) * (s - t);
                let floor = motion.pose(s).position.z;
                // Just after a bounce rounding may have it in the floor.
                if s - t < 1e-7 { 1.0 } else { height - RADIUS - floor }
            };
            let Some(hit) = sampled_bounce(gap, t, t + 0.5) else { panic!("it never comes down") };
            z += v * (hit - t) - 0.5 * g * (hit - t) * (hit - t);
            v -= g * (hit - t);
            let u = motion.twist(hit).velocity.z;
            v = u + e * (u - v);
            t = hit;
            let steps = ((t + 2e-4) / model.dt).floor() as u64 - state.step;
            solver.advance(&model, &mut state, steps).unwrap();
            assert_eq!(collisions(&state), bounce + 1, "{form:?} at {t}");
            let s = state.time - t;
            let off = state.particles.position(0).z - (z + v * s - 0.5 * g * s * s);
            println!("{form:?}: off by {off:e} after bounce {bounce}");
            assert!(off.abs() < 2e-11, "{form:?}: off by {off:e} after bounce {bounce}");
        }
        let balance = energy::balance(&model, &state);
        assert!(balance.residual().abs() < 1e-12 * balance.turnover(), "{}", balance.residual());
    }
}

#[test]
fn a_turning_paddle_strikes_a_disc_when_small_steps_say() {
    let mut model = hard(Collision::smooth(1.0), 1e-4);
    model.planar = true;
    let paddle = Polyline::segment(Vec3::new(0.01, 0.0, 0.0), Vec3::new(0.05, 0.0, 0.0)).unwrap();
    let mut paddle = wall(Surface::Polyline(paddle));
    let turn = MotionPart::Rotate { through: Vec3::ZERO, axis: Vec3::Z, rate: 30.0 };
    let swing =
        MotionPart::Swing { through: Vec3::X * 0.02, axis: Vec3::Z, amplitude: 0.5, frequency: 7.0, phase: 0.3 };
    for parts in [vec![turn.clone()], vec![swing.clone()], vec![turn, swing]] {
        paddle.motion = Motion { parts };
        model.walls = vec![paddle.clone()];
        let mut met = 0;
        for k in 0..60 {
            let angle = 0.7 * f64::from(k);
            let x = Vec3::new(angle.cos(), angle.sin(), 0.0) * (0.015 + 0.001 * f64::from(k % 50));
            let v = Vec3::new((3.1 * angle).cos(), (3.1 * angle).sin(), 0.0) * 0.3;
            let distance = |t: f64| model.walls[0].surface.distance(paddle.motion.pose(t).to_local(x + t * v)) - RADIUS;
            if distance(0.0) < 0.0 {
                continue;
            }
            let expected = sampled_bounce(distance, 0.0, 0.2);
            let mut state = State::new(&model);
            add(&model, &mut state, 0, x, RADIUS, v, Vec3::ZERO);
            let mut solver = Event::new();
            let until = expected.map_or(0.2, |t| t);
            // Nothing before, one meeting in the step in which it happens.
            let before = (until / model.dt - 1e-6).floor() as u64;
            solver.advance(&model, &mut state, before).unwrap();
            assert_eq!(collisions(&state), 0, "case {k}: {expected:?}");
            if expected.is_some() {
                met += 1;
                solver.advance(&model, &mut state, 1).unwrap();
                assert!(collisions(&state) >= 1, "case {k}: {expected:?}");
                let balance = energy::balance(&model, &state);
                assert!(balance.residual().abs() < 1e-12 * balance.turnover());
            }
        }
        assert!(met > 8, "{met}");
    }
}

/// A scene with all there is: gravity, a periodic direction, friction, shaken and turning walls, grains of different sizes.
fn busy(collapse: Collapse) -> (Model, State) {
    let collision = Collision { friction: 0.3, tangential_restitution: 0.4, ..Collision::smooth(0.9) };
    let mut model = hard(collision, 1e-4);
    model.method = Method::Event(EventSettings { collapse, window: 1e-3 });
    model.fields = vec![gravity(Vec3::new(0.2, 0.0, -9.81))];
    model.cell = PeriodicCell { origin: Vec3::ZERO, length: [Some(0.02), None, None] };
    let mut floor = plane(Vec3::ZERO, Vec3::Z);
    let shake = |form| MotionPart::Oscillate { amplitude: 0.002 * Vec3::Z, frequency: 40.0, phase: 0.0, form };
    floor.motion = Motion { parts: vec![shake(Waveform::Sine)] };
    let mut lid = plane(Vec3::Z * 0.025, -Vec3::Z);
    lid.motion = Motion { parts: vec![shake(Waveform::Parabolic)] };
    let mut tube = wall(Surface::Revolved(Revolved::cylinder(-Vec3::X * 0.1, Vec3::X * 0.1, 0.05).unwrap()));
    tube.motion = Motion { parts: vec![MotionPart::Rotate { through: Vec3::ZERO, axis: Vec3::X, rate: 100.0 }] };
    model.walls = vec![floor, lid, tube, plane(Vec3::Y * -0.01, Vec3::Y), plane(Vec3::Y * 0.01, -Vec3::Y)];
    let mut state = State::new(&model);
    let mut random = Stream::new(4, Purpose::Velocity, 0);
    for k in 0..64 {
        let place =
            Vec3::new((k % 4) as f64, (k / 4 % 4) as f64, (k / 16) as f64) * 0.0045 + Vec3::new(0.0022, -0.007, 0.005);
        let v = random.direction(false) * 0.5;
        add(&model, &mut state, 0, place, 0.001 * random.between(1.0, 2.0), v, v * 100.0);
    }
    (model, state)
}

/// A can shaken along its axis, so that cells are laid anew elsewhere whenever the scratch memory is made.
fn shaken_can() -> (Model, State) {
    let mut model = hard(Collision::smooth(0.95), 1e-5);
    model.method = Method::Event(EventSettings { collapse: Collapse::Speed(0.01), window: 1e-3 });
    model.fields = vec![gravity(Vec3::new(0.0, 0.0, -9.81))];
    let shake =
        MotionPart::Oscillate { amplitude: 0.01 * Vec3::Z, frequency: 50.0, phase: 0.0, form: Waveform::Parabolic };
    let (low, high) = (Vec3::ZERO, Vec3::Z * 0.05);
    let parts = [
        Revolved::cylinder(low, high, 0.015),
        Revolved::disc(low, Vec3::Z, 0.015),
        Revolved::disc(high, Vec3::Z, 0.015),
    ];
    for part in parts {
        let mut wall = wall(Surface::Revolved(part.unwrap()));
        wall.motion = Motion { parts: vec![shake.clone()] };
        model.walls.push(wall);
    }
    let mut state = State::new(&model);
    let mut random = Stream::new(4, Purpose::Velocity, 0);
    for k in 0..40 {
        let place = Vec3::new((k % 2) as f64 - 0.5, (k / 2 % 2) as f64 - 0.5, 1.0 + (k / 4) as f64) * 0.0045;
        let v = random.direction(false);
        add(&model, &mut state, 0, place, 0.002, v, Vec3::ZERO);
    }
    (model, state)
}

#[test]
fn a_run_that_is_stopped_anywhere_and_begun_anew_is_the_unbroken_one() {
    for (name, (model, start), steps) in [("busy", busy(Collapse::Speed(0.01)), 3000), ("can", shaken_can(), 20_000)] {
        let mut unbroken = start.clone();
        Event::new().advance(&model, &mut unbroken, steps).unwrap();
        let mut broken = start;
        let mut random = Stream::new(4, Purpose::Noise, 1);
        let mut solver = Event::new();
        while broken.step < steps {
            let n = (1 + random.below(steps / 15)).min(steps - broken.step);
            if random.below(2) == 0 {
                solver = Event::new();
            }
            solver.advance(&model, &mut broken, n).unwrap();
        }
        println!("{name}: {} collisions, {} events", collisions(&unbroken), unbroken.meetings.events);
        assert!(collisions(&unbroken) > 2000, "{name}");
        // How often agendas were looked at may differ, nothing else.
        broken.meetings.events = unbroken.meetings.events;
        assert_eq!(collisions(&broken), collisions(&unbroken), "{name}");
        assert_eq!(broken.meetings, unbroken.meetings, "{name}");
        assert_eq!(broken.particles.flight, unbroken.particles.flight, "{name}");
        assert!(broken == unbroken, "{name}: the states differ");
        let balance = energy::balance(&model, &unbroken);
        let off = balance.residual() / balance.turnover();
        println!("{name}: account off by {off:e}");
        assert!(off.abs() < 2e-14, "{name}: {off:e}");
    }
}

#[test]
fn a_scene_that_begins_without_a_grain_waits_for_its_feed() {
    let mut model = hard(Collision::smooth(0.9), 1e-3);
    model.fields = vec![gravity(Vec3::new(0.0, 0.0, -9.81))];
    model.walls = vec![plane(Vec3::ZERO, Vec3::Z)];
    let feed = Feed {
        region: Region::Box(Aabb { min: Vec3::new(-0.05, -0.05, 0.1), max: Vec3::new(0.05, 0.05, 0.2) }),
        size: SizeLaw::Single { radius: RADIUS },
        rate: Rate::Number(20.0),
        arrivals: Arrivals::Steady,
        start: 0.1,
        stop: None,
        max_count: Some(4),
        tries: 50,
        delay: None,
        patience: 10,
        velocity: Vec3::ZERO,
        spin: Vec3::ZERO,
        kind: 0,
    };
    model.feeds = vec![(feed.prepare(false).unwrap(), true)];
    let mut state = State::new(&model);
    let mut solver = Event::new();
    solver.advance(&model, &mut state, 99).unwrap();
    assert_eq!((state.particles.owned(), collisions(&state)), (0, 0), "before the feed begins");
    solver.advance(&model, &mut state, 901).unwrap();
    assert_eq!(state.particles.owned(), 4);
    // From 0.2 m at most a ball falls 0.2 s and comes back within 0.37 s.
    assert!(collisions(&state) >= 8, "{} bounces", collisions(&state));
    let balance = energy::balance(&model, &state);
    assert!(balance.residual().abs() < 1e-13 * balance.turnover(), "{:e}", balance.residual() / balance.turnover());
}

#[test]
fn grains_that_come_to_rest_are_handed_over_to_soft_contact() {
    let mut model = hard(Collision::smooth(0.5), 1e-5);
    model.laws = PairTable::new(1, |_, _| {
        let damping = esker::law::damping::AnyDamping::PerMass(esker::law::damping::PerMass { rate: 2e3 });
        esker::law::Law { damping, ..hooke(1e3) }
    });
    model.method = Method::Event(EventSettings { collapse: Collapse::HandOver(0.02), window: 1e-3 });
    model.fields = vec![gravity(Vec3::new(0.0, 0.0, -9.81))];
    model.walls = vec![plane(Vec3::ZERO, Vec3::Z)];
    let mut state = State::new(&model);
    for k in 0..4 {
        let x = Vec3::new(0.01 * f64::from(k), 0.0, 0.01 + 0.001 * f64::from(k));
        add(&model, &mut state, 0, x, RADIUS, Vec3::ZERO, Vec3::ZERO);
    }
    let end = End { duration: Some(0.5), ..End::default() };
    let stage = Stage { name: "fall".into(), model, end };
    let mut run = Simulation::new(vec![stage], state, 1);
    while !run.is_finished() {
        run.advance(7000).unwrap();
    }
    let state = &run.state;
    println!("{} collisions, {:?}", collisions(state), state.meetings.cures);
    assert_eq!(state.meetings.cures.handed_over, 1);
    // They lie on the floor now, pressed into it by their weight.
    for i in 0..4 {
        let sag = state.particles.mass[i] * 9.81 / 1e3;
        close(RADIUS - state.particles.position(i).z, sag, 2e-11, "overlap");
    }
    let balance = energy::balance(run.model(), state);
    println!("account off by {:e}", balance.residual() / balance.turnover());
    assert!(balance.residual().abs() < 1e-5 * balance.turnover(), "{:e}", balance.residual() / balance.turnover());
}

#[test]
fn a_ball_that_comes_to_rest_stops_the_clock_unless_something_is_done() {
    let build = |collapse| {
        let mut model = hard(Collision::smooth(0.5), 1e-4);
        model.method = Method::Event(EventSettings { collapse, window: 1e-3 });
        model.fields = vec![gravity(Vec3::new(0.0, 0.0, -9.81))];
        model.walls = vec![plane(Vec3::ZERO, Vec3::Z)];
        let mut state = State::new(&model);
        add(&model, &mut state, 0, Vec3::new(0.0, 0.0, 2.0 * RADIUS), RADIUS, Vec3::X, Vec3::ZERO);
        (model, state)
    };
    let (model, mut state) = build(Collapse::Refuse);
    let error = Event::new().advance(&model, &mut state, 10_000).unwrap_err();
    assert!(error.to_string().contains("without end at t = 0.042"), "{error}");

    let (model, mut state) = build(Collapse::Speed(0.01));
    Event::new().advance(&model, &mut state, 10_000).unwrap();
    // It hops for ever with less than the cut-off: v between half of it and all of it, 2 v/g apart.
    let slow = state.meetings.cures.slow as f64;
    assert!((0.9 * 9.81 / 0.02..2.1 * 9.81 / 0.02).contains(&slow), "{slow}");
    assert!(state.particles.position(0).z < RADIUS + 0.01f64.powi(2) / (2.0 * 9.81));
    close(state.particles.position(0).x, 1.0, 1e-12, "way along the floor");

    let (model, mut state) = build(Collapse::Time { contact: 1e-3, least: 1e-6 });
    Event::new().advance(&model, &mut state, 10_000).unwrap();
    let soon = state.meetings.cures.soon as f64;
    assert!((900.0..2100.0).contains(&soon), "{soon}");
}
