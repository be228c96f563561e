//! Advice on time step and stiffness before a run: contact time, Rayleigh time, dashpots, expected overlaps.

use crate::law::damping::DampingLaw;
use crate::law::normal::{AnyNormal, NormalLaw, PowerLaw};
use crate::law::restitution::{contact_time, exponent_factor, peak_overlap, restitution};
use crate::law::tangential::TangentialLaw;
use crate::law::{ContactEnd, History, Law, Touch};
use crate::math::Vec3;
use crate::model::{Kind, Model};
use serde::Serialize;

/// Overlap over the smaller radius above which contacts are no longer small deformations (`spec` 001, D-08).
pub const LARGE_OVERLAP: f64 = 0.05;
/// The same for a warning before the run, where the speed is that of the worst fall through the scene.
pub const LARGE_EXPECTED_OVERLAP: f64 = 0.1;
/// Steps per contact time that `step = "auto"` takes.
pub const STEPS_PER_CONTACT: f64 = 50.0;
/// Share of the Rayleigh time that `step = "auto"` takes at most.
pub const RAYLEIGH_SHARE: f64 = 0.2;
/// Largest relaxation of a dashpot in one step that `step = "auto"` allows: a grain has several contacts.
pub const DASHPOT_SHARE: f64 = 0.2;

/// Smallest and largest radius of a kind of grain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeRange {
    /// Index of the kind.
    pub kind: u16,
    /// Smallest radius \[m\].
    pub r_min: f64,
    /// Largest radius \[m\].
    pub r_max: f64,
}

/// What one pair of bodies asks for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairAdvice {
    /// First body.
    pub a: String,
    /// Second body.
    pub b: String,
    /// Duration of an undamped collision of the smallest grains at the expected speed \[s\].
    pub contact_time: f64,
    /// Expected largest overlap over the smaller radius \[-\].
    pub overlap: f64,
    /// Largest step \[s\] and the reason for it.
    pub step: f64,
    /// What decides it.
    pub reason: &'static str,
}

/// What a model asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Advice {
    /// Step to take \[s\].
    pub step: f64,
    /// Speed of impact that was expected \[m/s\].
    pub speed: f64,
    /// One entry per pair of bodies.
    pub pairs: Vec<PairAdvice>,
}

impl Advice {
    /// The pair that decides the step.
    pub fn decisive(&self) -> Option<&PairAdvice> {
        self.pairs.iter().min_by(|a, b| a.step.total_cmp(&b.step))
    }

    /// Warnings about a chosen step \[s\], each with its reason.
    pub fn warnings(&self, step: f64) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(p) = self.decisive() {
            // Up to 2.5 times the advice there are still some twenty steps in a contact.
            if step > 2.5 * p.step {
                warnings.push(format!(
                    "step {step:.3e} s is too long for {} on {}: {} allows {:.3e} s; choose a shorter step or a softer \
                     contact",
                    p.a, p.b, p.reason, p.step
                ));
            }
        }
        if let Some(p) = self.pairs.iter().max_by(|a, b| a.overlap.total_cmp(&b.overlap))
            && p.overlap > LARGE_EXPECTED_OVERLAP
        {
            warnings.push(format!(
                "{} hitting {} at {:.3} m/s, the fastest to be expected here, would overlap by {:.0} % of the radius (above \
                 {:.0} % contacts are no longer small deformations); raise the stiffness",
                p.a,
                p.b,
                self.speed,
                100.0 * p.overlap,
                100.0 * LARGE_OVERLAP
            ));
        }
        warnings
    }
}

/// Rayleigh time of a sphere \[s\]: T = π R √(ρ/G)/(0.1631 ν + 0.8766).
pub fn rayleigh_time(radius: f64, density: f64, youngs_modulus: f64, poisson_ratio: f64) -> f64 {
    let shear = youngs_modulus / (2.0 * (1.0 + poisson_ratio));
    std::f64::consts::PI * radius * (density / shear).sqrt() / (0.1631 * poisson_ratio + 0.8766)
}

/// Advice for a model with these grains, expecting impacts at `speed` \[m/s\] and wanting so many steps per contact.
pub fn advise(model: &Model, sizes: &[SizeRange], speed: f64, steps_per_contact: f64) -> Advice {
    let mut advice = Advice { speed, step: f64::INFINITY, pairs: Vec::new() };
    let is_fixed = |s: &SizeRange| model.kinds[s.kind as usize].fixed;
    for (n, a) in sizes.iter().enumerate().filter(|(_, s)| !is_fixed(s)) {
        let kind = &model.kinds[a.kind as usize];
        // Every pair once, and every fixed kind wherever it stands.
        for b in sizes.iter().enumerate().filter(|(k, s)| *k >= n || is_fixed(s)).map(|(_, s)| s) {
            let other = &model.kinds[b.kind as usize];
            let law = model.laws.law(kind.material, other.material);
            let of = |r_a: f64, r_b: f64| {
                let other_mass = if other.fixed { f64::INFINITY } else { other.mass(r_b) };
                let body = Body {
                    name: other.name.clone(),
                    effective_radius: 1.0 / (1.0 / r_a + 1.0 / r_b),
                    effective_mass: 1.0 / (1.0 / kind.mass(r_a) + 1.0 / other_mass),
                    smaller_radius: r_a.min(r_b),
                };
                pair(model, law, kind, r_a, body, speed, steps_per_contact)
            };
            advice.pairs.push(of(a.r_min, b.r_min).with_overlap_of(of(a.r_max, b.r_max)));
        }
        for wall in &model.walls {
            let law = model.laws.law(kind.material, wall.material);
            let of = |r: f64| {
                let body = Body {
                    name: wall.name.clone(),
                    effective_radius: r,
                    effective_mass: kind.mass(r),
                    smaller_radius: r,
                };
                pair(model, law, kind, r, body, speed, steps_per_contact)
            };
            advice.pairs.push(of(a.r_min).with_overlap_of(of(a.r_max)));
        }
    }
    if let Some(p) = advice.decisive() {
        advice.step = p.step;
    }
    advice
}

/// The second body of a pair, and what it makes of the pair.
struct Body {
    name: String,
    effective_radius: f64,
    effective_mass: f64,
    smaller_radius: f64,
}

impl PairAdvice {
    /// The smallest grains decide the step, either end of the sizes the overlap.
    fn with_overlap_of(mut self, other: PairAdvice) -> Self {
        self.overlap = self.overlap.max(other.overlap);
        self
    }
}

fn pair(model: &Model, law: &Law, kind: &Kind, r: f64, body: Body, speed: f64, steps_per_contact: f64) -> PairAdvice {
    let Body { effective_radius, effective_mass, .. } = body;
    let PowerLaw { coefficient: k, exponent: alpha } = law.normal.power_law(effective_radius);
    let t_c = contact_time(k, alpha, effective_mass, speed);
    let overlap = peak_overlap(k, alpha, effective_mass, speed);
    let touch = Touch {
        overlap,
        normal: Vec3::X,
        middle: Vec3::X,
        effective_radius,
        elongation: 0.0,
        curvature: [1.0 / effective_radius, 0.0],
        effective_mass,
        now: Default::default(),
        mean: Default::default(),
        dt: 0.0,
    };
    // Loaded for the first time, at that speed.
    let mut history = History { impact: speed, ..Default::default() };
    law.normal.advance(&touch, &mut history);
    let stiffness = law.normal.stiffness(&touch, &history);
    let damping = law.damping.coefficient(&touch, law.normal.force(&touch, &history), stiffness, &history);
    let tangential = law.tangential.dashpot(effective_mass, damping);
    // A dashpot takes its share: the peak is lower by e^{1/(α+1)}, e being the restitution without tension (see
    // `restitution`: both follow from the same linear oscillator).
    let beta = 0.5 * damping / (exponent_factor(alpha) * (effective_mass * stiffness).sqrt());
    let overlap = overlap * restitution(beta, ContactEnd::NoTension).powf(1.0 / (alpha + 1.0));
    let k_t = law.tangential.stiffness_ratio(stiffness) * stiffness;
    // A tangential force also turns the bodies: it moves the contact point as a mass m*/(1 + m r²/I).
    let turning = 1.0 + 1.0 / kind.inertia_factor.min_element();

    let mut steps = vec![
        (t_c / steps_per_contact, "the contact time"),
        (
            std::f64::consts::PI * (effective_mass / (turning * k_t)).sqrt() / (0.5 * steps_per_contact),
            "the tangential spring",
        ),
        (DASHPOT_SHARE * effective_mass / damping, "the normal dashpot"),
        (DASHPOT_SHARE * effective_mass / (turning * tangential), "the tangential dashpot"),
    ];
    let material = &model.materials[kind.material as usize];
    if let (AnyNormal::Hertz(_), Some(e), Some(nu)) = (law.normal, material.youngs_modulus, material.poisson_ratio) {
        steps.push((RAYLEIGH_SHARE * rayleigh_time(r, kind.density, e, nu), "the Rayleigh time"));
    }
    let (step, reason) = steps
        .into_iter()
        .filter(|s| s.0.is_finite())
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .unwrap_or((f64::INFINITY, "nothing"));
    PairAdvice {
        a: kind.name.clone(),
        b: body.name,
        contact_time: t_c,
        overlap: overlap / body.smaller_radius,
        step,
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rayleigh_time_of_a_glass_bead_is_right() {
        // R 1 mm, rho 2500, E 70 GPa, nu 0.22: G = 28.689 GPa, pi R sqrt(rho/G)/0.912482 = 1.01634e-6 s.
        let t = rayleigh_time(1e-3, 2500.0, 70e9, 0.22);
        assert!((t - 1.01634e-6).abs() < 1e-10, "{t}");
    }
}
