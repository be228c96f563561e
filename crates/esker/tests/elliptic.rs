//! Hertz on walls with two different curvatures: the area of contact is an ellipse.
//!
//! The engine takes the elliptic integrals by the arithmetic–geometric mean, in Johnson's form; here they stand as the improper
//! integrals of Landau & Lifshitz, vol. 7 §9, summed by the trapezoidal rule.

use crate::common;

use common::*;
use esker::boundary::{Plane, Revolved, Shell, Surface};
use esker::law::cohesion::{AnyCohesion, Dmt};
use esker::law::damping::{AnyDamping, FromRestitution, KuwabaraKono};
use esker::law::normal::{AnyNormal, Power, Scale, ScaledHooke, elliptic_factor};
use esker::law::restitution::contact_time;
use esker::law::{ContactEnd, Law};
use esker::math::Vec3;
use esker::state::State;
use std::f64::consts::PI;

/// ∫ dξ / (p(ξ) √((a²+ξ)(b²+ξ)ξ)) from 0 to ∞ with p = 1, a²+ξ and b²+ξ, where a = 1. With ξ = b e^(2u) the integrand falls
/// exponentially to both sides, so that equal steps in u converge faster than any power.
fn landau(b: f64) -> [f64; 3] {
    let h = 0.03;
    let mut sums = [0.0; 3];
    for k in -1500..=1500 {
        let xi = b * (2.0 * h * f64::from(k)).exp();
        let (p, q) = (1.0 + xi, b * b + xi);
        let value = 2.0 * h * (xi / (p * q)).sqrt();
        sums = [sums[0] + value, sums[1] + value / p, sums[2] + value / q];
    }
    sums
}

/// F/(4/3 E* δ^3/2), squared, over the mean radius, by bisection for the axes' ratio.
fn reference(ratio: f64) -> f64 {
    let (mut low, mut high) = (-30.0f64, 0.0f64);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        let [_, a, b] = landau(middle.exp());
        if b / a > ratio { low = middle } else { high = middle }
    }
    // A unit force on a unit modulus: the curvatures 2A and 2B and the approach are these integrals times 3/4π.
    let [delta, a, b] = landau((0.5 * (low + high)).exp()).map(|i| 0.75 / PI * i);
    let mean_radius = 0.5 / (a * b).sqrt();
    (0.75 * delta.powf(-1.5)).powi(2) / mean_radius
}

#[test]
fn the_elliptic_factor_solves_the_integrals_of_landau_and_lifshitz() {
    for ratio in [1.001, 1.02, 1.1, 1.5, 2.0, 3.5, 5.0, 12.0, 40.0, 300.0, 1e4, 1e6] {
        close(elliptic_factor(ratio), reference(ratio), 1e-12, &format!("ratio {ratio}"));
    }
}

#[test]
fn the_elliptic_factor_has_its_known_values_and_limits() {
    assert_eq!(elliptic_factor(1.0), 1.0);
    // Elliptic integrals and root with forty digits.
    let known = [
        (1.0001, 1.000000000416625),
        (1.5, 1.0068579339751573),
        (2.0, 1.0200864573154447),
        (3.0, 1.0507232630972925),
        (5.0, 1.1099859993782162),
        (10.0, 1.2299702797935146),
        (20.0, 1.401374569199962),
    ];
    for (ratio, factor) in known {
        close(elliptic_factor(ratio), factor, 2e-15, &format!("ratio {ratio}"));
        // The fit that engineers use is good to 0.4 % of F₂.
        let f2 = 1.0 - (f64::powf(ratio, 0.0684) - 1.0).powf(1.531);
        close(elliptic_factor(ratio).powf(-1.0 / 3.0), f2, 4e-3, "F₂");
    }
    // Nearly a circle: flat, of second order in the logarithm of the ratio, without noise.
    for x in [1e-3f64, 1e-5, 1e-7, 1e-9, 1e-12] {
        let factor = elliptic_factor(x.exp());
        assert!((factor - 1.0 - x * x / 24.0).abs() < 1e-15 + x.powi(4), "{x}: {factor}");
    }
}

const R: f64 = 5e-3;
const G: f64 = 9.81;
const DENSITY: f64 = 2500.0;
const MODULUS: f64 = 1e7;

fn damped(mut law: Law) -> Law {
    law.damping = AnyDamping::FromRestitution(FromRestitution::new(0.02, &law.normal, ContactEnd::NoTension));
    law
}

/// Overlap of a sphere that has come to rest on the lowest or highest line of a wall under its weight, pressed to `guess`.
fn settled(law: Law, surface: Surface, lowest: Vec3, guess: f64) -> f64 {
    let m = 4.0 / 3.0 * PI * R.powi(3) * DENSITY;
    let k = m * G / guess.powf(1.5);
    let mut model = model(law, DENSITY, contact_time(k, 1.5, m, (G * guess).sqrt()) / 100.0);
    model.skin = 0.1 * R;
    model.walls.push(wall(surface));
    model.fields.push(gravity(-G * Vec3::Z));
    let mut state = State::new(&model);
    add(&model, &mut state, 0, lowest + Vec3::Z * (R - 0.9 * guess), R, Vec3::ZERO, Vec3::ZERO);
    run(&model, &mut state, 4000);
    assert!(state.particles.velocity(0).length() < 1e-9 * (G * guess).sqrt(), "it still moves");
    lowest.z + R - state.particles.position(0).z
}

/// A horizontal tube, and where its lowest line lies.
fn tube(radius: f64) -> (Surface, Vec3) {
    let (from, to) = (Vec3::new(-0.1, 0.0, 0.0), Vec3::new(0.1, 0.0, 0.0));
    (Surface::Revolved(Revolved::cylinder(from, to, radius).unwrap()), -radius * Vec3::Z)
}

/// Overlap under a load by Hertz with an effective radius.
fn hertz_overlap(load: f64, radius: f64) -> f64 {
    (0.75 * load / (MODULUS * radius.sqrt())).powf(2.0 / 3.0)
}

fn weight() -> f64 {
    4.0 / 3.0 * PI * R.powi(3) * DENSITY * G
}

#[test]
fn a_sphere_in_a_trough_and_on_a_bar_sinks_in_by_the_elliptic_hertz_contact() {
    // The first law goes through the loop of eight contacts at once, the others through the general one.
    let viscous = Law { damping: AnyDamping::KuwabaraKono(KuwabaraKono { viscosity: 3e3 }), ..hertz(MODULUS) };
    let power = law(AnyNormal::Power(Power { scale: Scale::Modulus(MODULUS), exponent: 1.5 }));
    for (name, law) in [("hertz", damped(hertz(MODULUS))), ("viscous", viscous), ("power", damped(power))] {
        for (tube_radius, inside) in
            [(1.01 * R, true), (1.2 * R, true), (3.0 * R, true), (50.0 * R, true), (0.4 * R, false)]
        {
            let (surface, lowest) = tube(tube_radius);
            let (line, around) = if inside { (lowest, -1.0 / tube_radius) } else { (-lowest, 1.0 / tube_radius) };
            let (a, b) = (1.0 / R, 1.0 / R + around);
            let mean_radius = 1.0 / (a * b).sqrt();
            let factor = reference((a / b).max(b / a));
            let expected = hertz_overlap(weight(), mean_radius * factor);
            let overlap = settled(law, surface, line, expected);
            close(overlap, expected, 1e-9, &format!("{name}, tube of {:.2} R", tube_radius / R));
            // The factor is felt.
            let round = hertz_overlap(weight(), mean_radius);
            println!("without the factor {:.2e} more", round / overlap - 1.0);
            assert!(round > overlap * (1.0 + 1e-6));
        }
    }
}

#[test]
fn equal_curvatures_know_no_ellipse() {
    let shell = Surface::Shell(Shell::new(Vec3::ZERO, 3.0 * R).unwrap());
    let expected = hertz_overlap(weight(), 1.5 * R);
    close(settled(damped(hertz(MODULUS)), shell, -3.0 * R * Vec3::Z, expected), expected, 1e-9, "shell");
    let plane = Surface::Plane(Plane::new(Vec3::ZERO, Vec3::Z).unwrap());
    let expected = hertz_overlap(weight(), R);
    close(settled(damped(hertz(MODULUS)), plane, Vec3::ZERO, expected), expected, 1e-9, "plane");
}

#[test]
fn only_the_stiffness_of_hertz_goes_by_the_ellipse() {
    let (surface, lowest) = tube(1.2 * R);
    let mean_radius = R / (1.0f64 / 6.0).sqrt();
    // The attraction of surfaces goes by the mean radius.
    let work = 0.2 * weight() / (2.0 * PI * mean_radius);
    let sticky = Law { cohesion: AnyCohesion::Dmt(Dmt { work }), ..damped(hertz(MODULUS)) };
    let expected = hertz_overlap(1.2 * weight(), mean_radius * reference(6.0));
    close(settled(sticky, surface.clone(), lowest, expected), expected, 1e-9, "with DMT");
    // So does a linear spring that grows with the size.
    let modulus = 1e5;
    let expected = weight() / (modulus * mean_radius);
    let spring = damped(law(AnyNormal::ScaledHooke(ScaledHooke { modulus })));
    close(settled(spring, surface, lowest, expected), expected, 1e-9, "linear");
}

#[test]
fn a_sphere_that_nearly_fills_its_tube_is_not_stiffer_than_a_thousand_radii() {
    // Beyond Hertz: R* alone would be 316 radii, and the factor about 20.
    let (surface, lowest) = tube(R / (1.0 - 1e-5));
    let expected = hertz_overlap(weight(), 1000.0 * R);
    close(settled(damped(hertz(MODULUS)), surface, lowest, expected), expected, 1e-6, "conforming");
}
