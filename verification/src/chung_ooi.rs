//! The benchmark impacts of Chung & Ooi (2011): two spheres, or one on a rigid plate, head-on; those oblique and spinning are in
//! `oblique.rs`.
//!
//! A rigid plate is one of 1e30 Pa. Materials are those of the paper; laws are Hertz and Mindlin as scenes mix them from the
//! materials. Friction acts at the middle of the overlap, at R − h/2 from the centre.

use crate::bench::{FLOOR, ball_mass, bounce, grain, of_pair, on_floor, simulation};
use crate::{Case, Effort, Evidence, Findings};
use esker::math::Vec3;
use esker_io::chart::{Chart, Curve};

pub const SOURCE: &str = "Chung & Ooi 2011, Granular Matter 13:643";

pub const CASES: &[Case] = &[
    Case {
        id: "CO1",
        source: SOURCE,
        title: "two equal spheres, head-on, elastic: peak force, overlap and time of Hertz in 1000 steps",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: spheres_head_on,
    },
    Case {
        id: "CO2",
        source: SOURCE,
        title: "sphere on a rigid plate, elastic: peak force, overlap and time of Hertz in 1000 steps",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: sphere_on_plate,
    },
    Case {
        id: "CO3",
        source: SOURCE,
        title: "sphere on a rigid plate with a dashpot: restitution that was asked for, with either end of contact",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: restitution,
    },
];

/// An elastic material: Young's modulus \[Pa\], Poisson's ratio, density \[kg/m³\].
#[derive(Clone, Copy)]
pub struct Elastic {
    pub name: &'static str,
    pub e: f64,
    pub nu: f64,
    pub rho: f64,
}

const fn elastic(name: &'static str, e: f64, nu: f64, rho: f64) -> Elastic {
    Elastic { name, e, nu, rho }
}

const GLASS: Elastic = elastic("glass", 4.8e10, 0.20, 2800.0);
const LIMESTONE: Elastic = elastic("limestone", 2e10, 0.25, 2500.0);
const ALUMINIUM_ALLOY_OF_2: Elastic = elastic("aluminium alloy", 7e10, 0.30, 2699.0);
const MAGNESIUM_ALLOY: Elastic = elastic("magnesium alloy", 4e10, 0.35, 1800.0);
pub const ALUMINIUM_OXIDE: Elastic = elastic("aluminium oxide", 3.8e11, 0.23, 4000.0);
const CAST_IRON: Elastic = elastic("cast iron", 1e11, 0.25, 7000.0);
pub const ALUMINIUM_ALLOY: Elastic = elastic("aluminium alloy", 7e10, 0.33, 2700.0);
pub const STEEL: Elastic = elastic("steel", 2.08e11, 0.30, 7850.0);
pub const POLYETHYLENE: Elastic = elastic("polyethylene", 1e9, 0.40, 1400.0);
pub const NYLON: Elastic = elastic("nylon", 2.5e9, 0.40, 1000.0);
pub const COPPER: Elastic = elastic("copper", 1.2e11, 0.35, 8900.0);

impl Elastic {
    pub fn table(&self, name: &str, times: f64) -> String {
        format!(
            "[material.{name}]\ndensity = {:e}\nyoungs-modulus = {:e}\npoisson-ratio = {}\n",
            times * self.rho,
            times * self.e,
            self.nu
        )
    }
}

/// Elastic impact of Hertz by its closed forms.
pub struct Hertz {
    pub coefficient: f64,
    pub mass: f64,
    pub speed: f64,
}

impl Hertz {
    /// Of a sphere on a rigid plate.
    pub fn on_plate(a: Elastic, radius: f64, speed: f64) -> Self {
        let coefficient = 4.0 / 3.0 * a.e / (1.0 - a.nu * a.nu) * radius.sqrt();
        Self { coefficient, mass: ball_mass(radius, a.rho), speed }
    }

    /// Largest overlap \[m\]: ½ m v² = ⅖ K δ^{5/2}.
    pub fn overlap(&self) -> f64 {
        (1.25 * self.mass * self.speed * self.speed / self.coefficient).powf(0.4)
    }

    /// Largest force \[N\].
    pub fn force(&self) -> f64 {
        self.coefficient * self.overlap().powf(1.5)
    }

    /// Duration \[s\]; the number is ⅘ √π Γ(⅖)/Γ(9/10).
    pub fn time(&self) -> f64 {
        2.943_275_184_324_704_7 * self.overlap() / self.speed
    }
}

/// Friction, restitution and end of a contact.
#[derive(Clone, Copy)]
pub struct Surface {
    pub friction: f64,
    pub restitution: f64,
    pub end: &'static str,
}

impl Surface {
    pub const fn new(friction: f64, restitution: f64) -> Self {
        Self { friction, restitution, end: "no-tension" }
    }

    pub fn table(&self) -> String {
        let lost = if self.restitution < 1.0 { format!(", restitution = {}", self.restitution) } else { String::new() };
        format!(
            "[contact.default]\nnormal = {{ law = \"hertz\"{lost} }}\nend = \"{}\"\n\
             tangential = {{ law = \"mindlin\", friction = {}, damping-ratio = 0 }}\n",
            self.end, self.friction
        )
    }
}

/// A sphere thrown at a rigid plate, in 1000 steps of an elastic contact: velocity and spin afterwards.
pub fn thrown(a: Elastic, surface: Surface, radius: f64, velocity: Vec3, spin: Vec3) -> (Vec3, Vec3) {
    let step = Hertz::on_plate(a, radius, -velocity.z).time() / 1000.0;
    let place = Vec3::Z * (radius - 1.3 * velocity.z * step);
    let mut run = simulation(
        &format!(
            "{}[material.floor]\nyoungs-modulus = 1e30\npoisson-ratio = 0\n{}{FLOOR}{}[solver]\nstep = {step:e}\n",
            a.table("ball", 1.0),
            surface.table(),
            grain("ball", radius, place, velocity, spin),
        ),
        1,
    );
    bounce(&mut run, on_floor);
    (run.state.particles.velocity(0), run.state.particles.angular_velocity(0))
}

fn spheres_head_on() -> Findings {
    let mut found = Findings::default();
    let (radius, speed) = (0.01, 10.0);
    let mut curves = Vec::new();
    for a in [GLASS, LIMESTONE] {
        // Half the radius, half the mass, half the modulus, twice the speed.
        let closed = Hertz {
            coefficient: 2.0 / 3.0 * a.e / (1.0 - a.nu * a.nu) * f64::sqrt(0.5 * radius),
            mass: 0.5 * ball_mass(radius, a.rho),
            speed: 2.0 * speed,
        };
        let step = closed.time() / 1000.0;
        let x = Vec3::X * (radius + 1.3 * speed * step);
        let mut run = simulation(
            &format!(
                "{}{}{}{}{}[solver]\nstep = {step:e}\n",
                a.table("left", 1.0),
                a.table("right", 1.0),
                Surface::new(0.35, 1.0).table(),
                grain("left", radius, -x, Vec3::X * speed, Vec3::ZERO),
                grain("right", radius, x, -Vec3::X * speed, Vec3::ZERO),
            ),
            1,
        );
        let got = bounce(&mut run, of_pair);
        let p = &run.state.particles;
        found.relative(format!("{}: peak force [N]", a.name), got.peak_force, closed.force(), 1e-6);
        found.relative(format!("{}: largest overlap [m]", a.name), got.peak_overlap, closed.overlap(), 1e-6);
        found.relative(format!("{}: duration [s]", a.name), got.duration, closed.time(), 1e-6);
        found.relative(format!("{}: restitution", a.name), p.velocity(0).distance(p.velocity(1)) / 20.0, 1.0, 1e-7);
        curves
            .push(Curve { name: a.name.into(), points: got.course.iter().map(|[t, f]| [1e6 * t, 1e-3 * f]).collect() });
    }
    found.charts.push(Chart {
        title: "Two spheres at 20 m/s".into(),
        axes: ["time [µs]".into(), "force [kN]".into()],
        curves,
    });
    found
}

fn sphere_on_plate() -> Findings {
    let mut found = Findings::default();
    let (radius, speed) = (0.1, 0.2);
    for a in [ALUMINIUM_ALLOY_OF_2, MAGNESIUM_ALLOY] {
        let closed = Hertz::on_plate(a, radius, speed);
        let step = closed.time() / 1000.0;
        let mut run = simulation(
            &format!(
                "{}[material.floor]\nyoungs-modulus = 1e30\npoisson-ratio = 0\n{FLOOR}{}[solver]\nstep = {step:e}\n",
                a.table("ball", 1.0),
                grain("ball", radius, Vec3::Z * (radius + 3.3 * speed * step), -Vec3::Z * speed, Vec3::ZERO),
            ),
            1,
        );
        let got = bounce(&mut run, on_floor);
        found.relative(format!("{}: peak force [N]", a.name), got.peak_force, closed.force(), 1e-6);
        found.relative(format!("{}: largest overlap [m]", a.name), got.peak_overlap, closed.overlap(), 1e-6);
        found.relative(format!("{}: duration [s]", a.name), got.duration, closed.time(), 1e-6);
        let back = run.state.particles.velocity(0).z / speed;
        found.relative(format!("{}: restitution", a.name), back, 1.0, 1e-7);
    }
    found
}

fn restitution() -> Findings {
    let mut found = Findings::default();
    for a in [ALUMINIUM_OXIDE, CAST_IRON] {
        for end in ["no-tension", "geometric"] {
            for e in [0.01, 0.2, 0.4, 0.6, 0.8, 1.0] {
                let surface = Surface { end, ..Surface::new(0.0, e) };
                let (v, _) = thrown(a, surface, 0.0025, Vec3::Z * -3.9, Vec3::ZERO);
                found.absolute(format!("{}, {end}: restitution for {e}", a.name), v.z / 3.9, e, 5e-5);
            }
        }
    }
    found.reading = "`no-tension`, the default, ends a contact where the force would pull, `geometric` at zero overlap; each has \
                     its own dashpot for a restitution. Of 0, which no dashpot gives, 0.01 stands in";
    found
}
