//! Orders of the integrators and what they cost (D-16).

use crate::bench::{ball_mass, simulation};
use crate::{Case, Effort, Evidence, Findings, Table};
use esker::integrate::Integrator;
use esker::math::Vec3;
use esker::measure::energy;
use esker::state::State;
use esker_io::chart::{Chart, Curve};

pub const CASES: &[Case] = &[
    Case {
        id: "D-16",
        source: "Džiugys & Peters 1998, §10 of the digest; Shida 1997",
        title: "order of every integrator on an oscillator, and forces per radian for a precision",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: orders,
    },
    Case {
        id: "D-16-fluid",
        source: "Satoh 1995, 1997 in Džiugys & Peters 1998",
        title: "energy of a 12-6 fluid at long steps: Gear with four values is the worst",
        evidence: Evidence::Trend,
        effort: Effort::Quick,
        run: fluid,
    },
];

/// x'' = -w² x - 2 b x', from x = 1 m at 0.4 m/s.
#[derive(Clone, Copy)]
struct Oscillator {
    w: f64,
    b: f64,
}

const START: [f64; 2] = [1.0, 0.4];
const TIME: f64 = 4.0;
const RADIUS: f64 = 0.01;
const DENSITY: f64 = 1000.0;

impl Oscillator {
    fn at(&self, t: f64) -> [f64; 2] {
        let [x0, v0] = START;
        let d = (self.w * self.w - self.b * self.b).sqrt();
        let s = (v0 + self.b * x0) / d;
        let (sin, cos) = (d * t).sin_cos();
        let (x, decay) = (x0 * cos + s * sin, (-self.b * t).exp());
        [decay * x, decay * (-self.b * x + d * (s * cos - x0 * sin))]
    }

    /// Gives a scheme of Gear its exact derivatives dt^k/k! d^k x/dt^k, k = 2…5.
    fn start_gear(&self, state: &mut State, dt: f64) {
        let mut d = [START[0], START[1], 0.0, 0.0, 0.0, 0.0];
        let mut factor = dt;
        for k in 2..6 {
            d[k] = -self.w * self.w * d[k - 2] - 2.0 * self.b * d[k - 1];
            factor *= dt / k as f64;
            state.particles.derivatives[0].position[k - 2] = Vec3::Y * (d[k] * factor);
        }
    }

    /// Error of place and velocity, and of the energy of an undamped one, after a while in so many steps.
    fn errors(&self, integrator: Integrator, steps: u32) -> [f64; 2] {
        let dt = TIME / f64::from(steps);
        let mut run = simulation(
            &format!(
                "[material.m]\ndensity = {DENSITY}\n[contact.default]\nnormal = {{ law = \"hooke\", stiffness = 1e4 }}\n\
                 [[grains]]\nname = \"bob\"\nmaterial = \"m\"\nradius = {RADIUS}\nvelocity = [0, {}, 0]\n\
                 fill = {{ method = \"at\", positions = [[0, {}, 0]] }}\n\
                 [[field]]\ncentral = {{ strength = {}, exponent = 1 }}\n\
                 [[field]]\ndrag = {{ coefficient = {} }}\n[solver]\nstep = {dt:e}\nintegrator = \"{}\"\n",
                START[1],
                START[0],
                self.w * self.w,
                2.0 * self.b * ball_mass(RADIUS, DENSITY),
                integrator.name()
            ),
            1,
        );
        run.prepare().expect("the run begins");
        if is_gear(integrator) {
            self.start_gear(&mut run.state, dt);
        }
        let energy = |state: &State| {
            let (x, v) = (state.particles.position(0).y, state.particles.velocity(0).y);
            0.5 * (v * v + self.w * self.w * x * x)
        };
        let before = energy(&run.state);
        run.advance(u64::from(steps)).expect("the run goes on");
        let p = &run.state.particles;
        let [x, v] = self.at(TIME);
        [(p.position(0).y - x).hypot((p.velocity(0).y - v) / self.w), (energy(&run.state) / before - 1.0).abs()]
    }
}

fn is_gear(integrator: Integrator) -> bool {
    matches!(integrator, Integrator::Gear3 | Integrator::Gear4 | Integrator::Gear)
}

/// Order with a force that depends on velocity, and with one that does not.
fn expected(integrator: Integrator) -> [f64; 2] {
    match integrator {
        Integrator::ExplicitEuler | Integrator::SymplecticEuler | Integrator::Taylor => [1.0, 1.0],
        Integrator::Newmark => [1.0, 2.0],
        Integrator::VelocityVerlet | Integrator::LeapFrog | Integrator::AdamsBashforth | Integrator::Beeman => {
            [2.0, 2.0]
        }
        Integrator::Gear3 => [3.0, 3.0],
        Integrator::Hermite => [3.0, 4.0],
        Integrator::Gear4 | Integrator::RungeKutta => [4.0, 4.0],
        Integrator::Gear => [5.0, 5.0],
    }
}

/// Slope of the logarithms by least squares.
fn slope(points: &[[f64; 2]]) -> f64 {
    let n = points.len() as f64;
    let logs: Vec<[f64; 2]> = points.iter().map(|p| p.map(f64::ln)).collect();
    let [x, y] = [0, 1].map(|c| logs.iter().map(|p| p[c]).sum::<f64>() / n);
    let top: f64 = logs.iter().map(|p| (p[0] - x) * (p[1] - y)).sum();
    top / logs.iter().map(|p| (p[0] - x).powi(2)).sum::<f64>()
}

const STEPS: [u32; 4] = [200, 400, 800, 1600];

fn orders() -> Findings {
    let mut found = Findings::default();
    let (damped, free) = (Oscillator { w: 3.0, b: 0.4 }, Oscillator { w: 3.0, b: 0.0 });
    let mut table = Table {
        title: "Forces per radian of a damped oscillator for a precision, by the measured order".into(),
        header: ["scheme", "order", "forces per step", "for 1e-3", "for 1e-6", "for 1e-9"].map(String::from).into(),
        rows: Vec::new(),
    };
    let mut chart = Chart {
        title: "Error over forces per radian, decades".into(),
        axes: ["log10 of the forces per radian".into(), "log10 of the error".into()],
        curves: Vec::new(),
    };
    for integrator in Integrator::ALL {
        let name = integrator.name();
        let forces = 1.0 + integrator.scheme().trials().len() as f64;
        let per_radian = |steps: u32| forces * f64::from(steps) / (damped.w * TIME);
        let errors = STEPS.map(|steps| [per_radian(steps), damped.errors(integrator, steps)[0]]);
        let order = -slope(&errors);
        let [with, without] = expected(integrator);
        found.absolute(format!("{name}: order with damping"), order, with, 0.1);
        // Those of Gear come near rounding without damping.
        if !is_gear(integrator) {
            let errors = STEPS.map(|steps| [f64::from(steps), free.errors(integrator, steps)[0]]);
            found.absolute(format!("{name}: order without damping"), -slope(&errors), without, 0.1);
        }
        let needed = |error: f64| errors[3][0] * (errors[3][1] / error).powf(1.0 / order);
        let mut row = vec![name.into(), format!("{order:.2}"), format!("{forces}")];
        row.extend([1e-3, 1e-6, 1e-9].map(|error| format!("{:.3e}", needed(error))));
        table.rows.push(row);
        chart.curves.push(Curve { name: name.into(), points: errors.map(|p| p.map(f64::log10)).into() });
    }
    let energy = STEPS.map(|steps| [f64::from(steps), free.errors(Integrator::RungeKutta, steps)[1]]);
    found.absolute("runge-kutta: order of the energy of an undamped one", -slope(&energy), 5.0, 0.1);
    found.tables.push(table);
    found.charts.push(chart);
    found.reading = "of the schemes of Gear the order is that of a start with exact derivatives; a contact that begins or ends \
                     makes the force jump, and no order helps: see D-17";
    found
}

/// Root mean square of the energy of a fluid about its mean, over the kinetic one, after so many steps.
fn fluctuation(integrator: Integrator, step: f64) -> f64 {
    let mut run = simulation(
        &format!(
            "seed = 7\n[domain]\nmin = [0, 0, 0]\nmax = [0.05, 0.05, 0.05]\nperiodic = [\"x\", \"y\", \"z\"]\n\
             [material.m]\ndensity = 2000\n[contact.default]\nnormal = {{ law = \"twelve-six\", energy = \"1e-3 J\" }}\n\
             [[grains]]\nname = \"atoms\"\nmaterial = \"m\"\nradius = 0.0045\nvelocity = {{ speed = 0.5 }}\n\
             fill = {{ method = \"lattice\", spacing = 0.0125, count = 64 }}\n\
             [solver]\nstep = {step:e}\nintegrator = \"{}\"\n",
            integrator.name()
        ),
        1,
    );
    let mut energies = Vec::new();
    for _ in 0..1000 {
        run.advance(5).expect("the run goes on");
        energies.push(energy::mechanical(run.model(), &run.state));
    }
    let balance = energy::balance(run.model(), &run.state);
    let mean = energies.iter().sum::<f64>() / energies.len() as f64;
    (energies.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / energies.len() as f64).sqrt() / balance.kinetic()
}

fn fluid() -> Findings {
    let mut found = Findings::default();
    let schemes = [Integrator::VelocityVerlet, Integrator::LeapFrog, Integrator::Beeman, Integrator::Gear3];
    let mut table = Table {
        title: "Fluctuation of the energy of 64 atoms over the kinetic one, 5000 steps".into(),
        header: vec!["step [us]".into()],
        rows: Vec::new(),
    };
    table.header.extend(schemes.map(|scheme| scheme.name().into()));
    for step in [30.0, 60.0, 120.0, 180.0] {
        let off = schemes.map(|scheme| fluctuation(scheme, 1e-6 * step));
        let mut row = vec![format!("{step}")];
        row.extend(off.map(|off| format!("{off:.2e}")));
        table.rows.push(row);
        if step == 180.0 {
            for k in 0..3 {
                let what = format!("180 us: fluctuation of {} over that of gear-3", schemes[k].name());
                found.at_most(what, off[k] / off[3], 1.0);
            }
        }
    }
    found.tables.push(table);
    found.reading = "at long steps Gear's scheme with four values is the worst by far, as was found; at short ones it is the best. \
                     The others lie too near each other for a ranking by one run each";
    found
}
