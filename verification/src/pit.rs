//! A fine sphere in the pit between three large ones: velocities at a contact must belong to the time of its normal.

use crate::bench::{ball_mass, go, index, simulation, vector};
use crate::{Case, Effort, Evidence, Findings};
use esker::math::Vec3;
use esker_io::chart::{Chart, Curve};

pub const CASES: &[Case] = &[Case {
    id: "V24",
    source: "Vyas et al. 2025, arXiv 2410.14798",
    title: "fine sphere thrown between three fixed ones 1 to 100 times as large: comes to rest",
    evidence: Evidence::Property,
    effort: Effort::Quick,
    run: pit,
}];

const FINE: f64 = 2.5e-4;
const DENSITY: f64 = 2500.0;
const THROW: Vec3 = Vec3::new(0.002, 0.001, -0.01);

fn weight() -> f64 {
    9.81 * ball_mass(FINE, DENSITY)
}

/// Kinetic energy of the throw \[J\].
fn start() -> f64 {
    0.5 * ball_mass(FINE, DENSITY) * THROW.length_squared()
}

/// What is left over the kinetic energy of the throw.
#[derive(Clone, Copy)]
struct Left {
    time: f64,
    /// Kinetic energy.
    kinetic: f64,
    /// The same without the spin about the vertical.
    without_spin: f64,
}

fn settle(ratio: f64, dashpot: f64) -> Vec<Left> {
    let large = ratio * FINE;
    // Slopes of 37 degrees: if the large ones only touched, the fine one would fall through at ratios above 6.5.
    let ring = 0.6 * (large + FINE);
    let around =
        |k: f64| ring * Vec3::new((2.094_395_102_393_195_3 * k).cos(), (2.094_395_102_393_195_3 * k).sin(), 0.0);
    let places = [0.0, 1.0, 2.0].map(|k| vector(around(k))).join(", ");
    let height = ((large + FINE).powi(2) - ring * ring).sqrt() + 0.01 * FINE;
    let mut run = simulation(
        &format!(
            "gravity = [0, 0, -9.81]\n[material.m]\ndensity = {DENSITY}\n\
             [contact.default]\nnormal = {{ law = \"hooke\", stiffness = 1e4, restitution = 0.5 }}\n\
             tangential = {{ law = \"spring\", stiffness = 8235, friction = 0.5, damping-ratio = {dashpot} }}\n\
             [[grains]]\nname = \"fine\"\nmaterial = \"m\"\nradius = {FINE:e}\nvelocity = {}\n\
             fill = {{ method = \"at\", positions = [[0, 0, {height:e}]] }}\n\
             [[grains]]\nname = \"large\"\nmaterial = \"m\"\nradius = {large:e}\nfixed = true\n\
             fill = {{ method = \"at\", positions = [{places}] }}\n\
             [solver]\nstep = \"1 us\"\nskin = {:e}\n",
            vector(THROW),
            0.2 * FINE
        ),
        1,
    );
    let look = |part: u64| {
        // Not in step with anything that rings.
        go(&mut run, 1000 + part % 30);
        let (p, i) = (&run.state.particles, index(&run.state, 0));
        let (translation, rotation) = p.kinetic_energy(i);
        let spin = 0.5 * p.inertia[i].z * p.angular_velocity(i).z.powi(2);
        let kinetic = (translation + rotation) / start();
        Left { time: run.state.time, kinetic, without_spin: (translation + rotation - spin) / start() }
    };
    (0..296).map(look).collect()
}

fn pit() -> Findings {
    let mut found = Findings::default();
    let mut curves = Vec::new();
    for ratio in [1.0, 3.0, 10.0, 30.0, 100.0] {
        let left = settle(ratio, 0.2);
        let last = left[left.len() - 1];
        found.at_most(format!("ratio {ratio}, dashpot against slip: kinetic energy left"), last.kinetic, 1e-18);
        let points = left.iter().map(|l| [l.time, l.kinetic.max(1e-40).log10()]).collect();
        curves.push(Curve { name: format!("ratio {ratio}"), points });

        let left = settle(ratio, 0.0);
        let last = left[left.len() - 1];
        found.at_most(
            format!("ratio {ratio}, spring alone: kinetic energy left but for the spin"),
            last.without_spin,
            1e-18,
        );
        let largest = |part: &[Left]| part.iter().map(|l| l.kinetic).fold(0.0, f64::max);
        // At the limit of friction the three springs would hold 3 (μN)²/(2 k_t) with N = m g/(3·0.8).
        let most = 3.0 * (0.5 * weight() / 2.4_f64).powi(2) / (2.0 * 8235.0) / start();
        found.at_most(format!("ratio {ratio}, spring alone: kinetic energy late"), largest(&left[266..]), most);
        let [early, late] = [largest(&left[60..90]), largest(&left[266..])];
        found.relative(
            format!("ratio {ratio}, spring alone: spin that rings, late over early"),
            late / early,
            1.0,
            0.03,
        );
    }
    found.charts.push(Chart {
        title: "Fine sphere between three large ones".into(),
        axes: ["time [s]".into(), "log10 of the kinetic energy over that of the throw".into()],
        curves,
    });
    found.reading = "turning about the vertical moves no contact along its normal: without a dashpot against slip, and below the \
                     limit of friction, it rings for ever, and must not grow";
    found
}
