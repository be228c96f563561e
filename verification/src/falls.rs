//! Grains that fall: on a floor, in a gas, in a liquid.

use crate::bench::{FLOOR, after, ball_mass, bounce, changed, go, grain, on_floor, simulation};
use crate::{Case, Effort, Evidence, Findings};
use esker::advice::{self, SizeRange};
use esker::math::Vec3;
use esker_io::chart::{Chart, Curve};

pub const CASES: &[Case] = &[
    Case {
        id: "DEM01",
        source: "MFIX-DEM verification, freely falling particle",
        title: "drop on a floor in three stages: fall, damped oscillation with gravity, flight",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: drop,
    },
    Case {
        id: "DEM06",
        source: "MFIX-DEM verification, terminal velocity",
        title: "grain of 0.1 mm let go in an upward wind: velocity over time by the drag law",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: terminal,
    },
    Case {
        id: "D-08",
        source: "Džiugys & Peters 1998, eqs (73), (74)",
        title: "largest overlap over the radius by the stiffness, and the advice beforehand",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: overlap_criterion,
    },
    Case {
        id: "D-30",
        source: "Džiugys & Peters 1998, eqs (23)–(25)",
        title: "buoyancy: floats, sinks and rises",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: buoyancy,
    },
];

const G: f64 = 9.81;

/// Height over time of a ball let go at `h0` above a floor of a spring and a dashpot, to the top of the first bounce.
struct Drop {
    h0: f64,
    radius: f64,
    omega: f64,
    beta: f64,
}

impl Drop {
    fn hit(&self) -> f64 {
        (2.0 * (self.h0 - self.radius) / G).sqrt()
    }

    /// Height and velocity `t` after the floor was met.
    fn on_floor(&self, t: f64) -> (f64, f64) {
        let Drop { radius, omega, beta, .. } = *self;
        let damped = omega * (1.0 - beta * beta).sqrt();
        let speed = (2.0 * G * (self.h0 - radius)).sqrt();
        let a = G / (omega * omega);
        let b = (beta * G / omega - speed) / damped;
        let (sin, cos) = (damped * t).sin_cos();
        let fall = (-beta * omega * t).exp();
        let rate = fall * ((b * damped - beta * omega * a) * cos - (a * damped + beta * omega * b) * sin);
        ((a * cos + b * sin) * fall + radius - a, rate)
    }

    /// When it leaves the floor after it has met it, or none if it stays.
    fn leaves(&self) -> Option<f64> {
        let damped = self.omega * (1.0 - self.beta * self.beta).sqrt();
        let above = |t: f64| self.on_floor(t).0 - self.radius;
        let fine = 0.01 / damped;
        let k = (50..1000).find(|&k| above(f64::from(k) * fine) > 0.0)?;
        let (mut low, mut high) = (f64::from(k - 1) * fine, f64::from(k) * fine);
        for _ in 0..80 {
            let middle = 0.5 * (low + high);
            if above(middle) > 0.0 { high = middle } else { low = middle }
        }
        Some(low)
    }

    fn at(&self, time: f64) -> f64 {
        let contact = time - self.hit();
        if contact <= 0.0 {
            return self.h0 - 0.5 * G * time * time;
        }
        match self.leaves() {
            Some(end) if contact > end => {
                let t = contact - end;
                self.radius + self.on_floor(end).1 * t - 0.5 * G * t * t
            }
            _ => self.on_floor(contact).0,
        }
    }
}

fn drop() -> Findings {
    let mut found = Findings::default();
    let (h0, radius) = (0.5, 0.1);
    let mass = ball_mass(radius, 2600.0);
    let mut curves = Vec::new();
    let all = [1e4, 2.5e4, 5e4, 1e5_f64].into_iter().flat_map(|k| [0.6, 0.7, 0.8, 0.9, 1.0_f64].map(|e| (k, e)));
    let verlet = all.map(|(k, e)| ("velocity-verlet", 1e-5, k, e));
    // The schemes of the original.
    let others = [("explicit-euler", 2e-6, 5e4, 0.8), ("adams-bashforth", 1e-5, 5e4, 0.8)];
    for (integrator, step, k, e) in verlet.chain(others) {
        let beta = -e.ln() / (std::f64::consts::PI.powi(2) + e.ln().powi(2)).sqrt();
        let closed = Drop { h0, radius, omega: (k / mass).sqrt(), beta };
        let lost = if e < 1.0 { format!(", restitution = {e}") } else { String::new() };
        let mut run = simulation(
            &format!(
                "gravity = [0, 0, -{G}]\n[material.ball]\ndensity = 2600\n[material.floor]\n\
                     [contact.default]\nnormal = {{ law = \"hooke\", stiffness = {k:e}{lost} }}\nend = \"geometric\"\n\
                     {FLOOR}{}[solver]\nstep = {step:e}\nintegrator = \"{integrator}\"\n",
                grain("ball", radius, Vec3::Z * h0, Vec3::ZERO, Vec3::ZERO)
            ),
            1,
        );
        let bounced = closed.leaves().map_or(0.1, |end| end + closed.on_floor(end).1 / G);
        let end = closed.hit() + bounced;
        let (mut off, mut ours, mut theirs) = (0.0_f64, Vec::new(), Vec::new());
        while run.state.time < end {
            go(&mut run, f64::round(1e-3 / step) as u64);
            let (t, z) = (run.state.time, run.state.particles.position(0).z);
            off = off.max((z - closed.at(t)).abs() / h0);
            ours.push([t, z]);
            theirs.push([t, closed.at(t)]);
        }
        found.at_most(
            format!("{integrator}, {k:e} N/m, restitution {e}: height off, over the drop"),
            off,
            if e < 1.0 { 3e-4 } else { 1e-6 },
        );
        if k == 1e4 && (e == 0.6 || e == 1.0) {
            curves.push(Curve { name: format!("restitution {e}"), points: ours });
            curves.push(Curve { name: format!("{e}, closed form"), points: theirs });
        }
    }
    found.charts.push(Chart {
        title: "Drop on a floor of 1e4 N/m".into(),
        axes: ["time [s]".into(), "height of the centre [m]".into()],
        curves,
    });
    found
}

/// Velocity after `time` by a fine Runge–Kutta \[m/s\].
fn integrated(acceleration: impl Fn(f64) -> f64, time: f64) -> f64 {
    let n = 20_000;
    let h = time / f64::from(n);
    (0..n).fold(0.0, |v, _| {
        let a = acceleration(v);
        let b = acceleration(v + 0.5 * h * a);
        let c = acceleration(v + 0.5 * h * b);
        let d = acceleration(v + h * c);
        v + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
    })
}

fn terminal() -> Findings {
    let mut found = Findings::default();
    let (radius, density, gas, viscosity, wind) = (0.5e-4, 2000.0, 1.2, 1.8e-5, 0.4);
    let mass = ball_mass(radius, density);
    let stokes = 6.0 * std::f64::consts::PI * viscosity * radius;
    // Reynolds number of a slip.
    let reynolds = |slip: f64| gas * slip.abs() * 2.0 * radius / viscosity;
    let laws: [(&str, String, f64); 2] = [
        ("Stokes", format!("drag = {{ viscosity = {viscosity}, flow = [0, 0, {wind}] }}"), 0.0),
        (
            "Schiller & Naumann",
            format!(
                "expression = {{ force = [\"0\", \"0\", \
                 \"{stokes:e}*({wind} - vz)*(1 + 0.15*({gas}*abs({wind} - vz)*2*r/{viscosity})^0.687)\"] }}"
            ),
            0.15,
        ),
    ];
    let mut curves = Vec::new();
    for (name, field, factor) in laws {
        let drag = |slip: f64| stokes * slip * (1.0 + factor * reynolds(slip).powf(0.687));
        let acceleration = |v: f64| -G * (1.0 - gas / density) + drag(wind - v) / mass;
        let mut run = simulation(
            &format!(
                "gravity = [0, 0, -{G}]\n[material.ball]\ndensity = {density}\n\
                 [contact.default]\nnormal = {{ law = \"hooke\", stiffness = 1 }}\n\
                 [[field]]\n{field}\n[[field]]\nbuoyancy = {{ fluid-density = {gas} }}\n{}[solver]\nstep = \"10 us\"\n",
                grain("ball", radius, Vec3::ZERO, Vec3::ZERO, Vec3::ZERO)
            ),
            1,
        );
        let mut points = Vec::new();
        for k in 1..=100 {
            let v = after(&mut run, 5e-3).particles.velocity(0).z;
            points.push([run.state.time, v]);
            if [2, 5, 10, 20].contains(&k) {
                let time = run.state.time;
                found.relative(
                    format!("{name}: velocity after {time:.3} s [m/s]"),
                    v,
                    integrated(acceleration, time),
                    1e-7,
                );
            }
        }
        after(&mut run, 1.5);
        // Where the acceleration vanishes, by bisection.
        let (mut low, mut high) = (-2.0, wind);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if acceleration(middle) > 0.0 { low = middle } else { high = middle }
        }
        found.relative(format!("{name}: terminal velocity [m/s]"), run.state.particles.velocity(0).z, low, 1e-7);
        curves.push(Curve { name: name.into(), points });
    }
    found.charts.push(Chart {
        title: "Grain of 0.1 mm in a wind of 0.4 m/s".into(),
        axes: ["time [s]".into(), "velocity [m/s]".into()],
        curves,
    });
    found.reading = "drag of Stokes is a field of its own; a law with the Reynolds number is written as an expression. The gas does \
                     not feel the grain";
    found
}

fn overlap_criterion() -> Findings {
    let mut found = Findings::default();
    let (radius, speed, density) = (0.05, 1.0, 1000.0);
    let mass = ball_mass(radius, density);
    let mut points = Vec::new();
    for k in [1e4, 3e4, 1e5, 3e5, 1e6, 1e7_f64] {
        let closed = speed * (mass / k).sqrt() / radius;
        let step = std::f64::consts::PI * (mass / k).sqrt() / 500.0;
        let tables = format!(
            "[material.ball]\ndensity = {density}\n[material.floor]\n\
             [contact.default]\nnormal = {{ law = \"hooke\", stiffness = {k:e} }}\n{FLOOR}{}[solver]\nstep = {step:e}\n",
            grain("ball", radius, Vec3::Z * (radius + 1.3 * speed * step), -Vec3::Z * speed, Vec3::ZERO)
        );
        let mut told = None;
        let mut run = changed(&tables, 1, |model, _| {
            let sizes = [SizeRange { kind: 0, r_min: radius, r_max: radius }];
            told = Some(advice::advise(model, &sizes, speed, advice::STEPS_PER_CONTACT));
        });
        let got = bounce(&mut run, on_floor).peak_overlap / radius;
        found.relative(format!("{k:e} N/m: overlap over radius"), got, closed, 1e-5);
        points.push([k.log10(), got]);
        let Some(told) = told else { continue };
        let expected = told.pairs.iter().map(|pair| pair.overlap).fold(0.0, f64::max);
        found.relative(format!("{k:e} N/m: the same as advised"), expected, closed, 1e-9);
        let warned = told.warnings(step).iter().any(|w| w.contains("overlap"));
        let warns = f64::from(u8::from(closed > 0.1));
        found.absolute(format!("{k:e} N/m: warned of (1)"), f64::from(u8::from(warned)), warns, 0.0);
    }
    found.charts.push(Chart {
        title: "Largest overlap at 1 m/s, 50 mm".into(),
        axes: ["log10 of the stiffness [N/m]".into(), "overlap over radius".into()],
        curves: vec![Curve { name: String::new(), points }],
    });
    found.reading = "a small overlap is one below a twentieth of the radius, where `esker contact` begins to warn; the advice before a run and \
                     the run itself warn at a tenth, since the speed is that of the worst fall";
    found
}

fn buoyancy() -> Findings {
    let mut found = Findings::default();
    let density = 2500.0;
    for fluid in [2500.0, 1000.0, 4000.0] {
        let mut run = simulation(
            &format!(
                "gravity = [0, 0, -{G}]\n[material.ball]\ndensity = {density}\n\
                 [contact.default]\nnormal = {{ law = \"hooke\", stiffness = 1e4 }}\n\
                 [[field]]\nbuoyancy = {{ fluid-density = {fluid} }}\n{}[solver]\nstep = \"1 ms\"\n",
                grain("ball", 0.01, Vec3::ZERO, Vec3::ZERO, Vec3::ZERO)
            ),
            1,
        );
        let p = &after(&mut run, 1.0).particles;
        let a = -G * (1.0 - fluid / density);
        let name = format!("fluid of {fluid} kg/m³");
        found.absolute(format!("{name}: velocity after 1 s [m/s]"), p.velocity(0).z, a, 1e-12);
        found.absolute(format!("{name}: place after 1 s [m]"), p.position(0).z, 0.5 * a, 1e-12);
    }
    found
}
