//! Oblique and spinning impacts after Chung & Ooi (2011), tests 3 to 8, with Hertz and Mindlin; with partial slip after Maw,
//! Barber & Fawcett (1976).
//!
//! Where the bodies slide throughout the impact the outcome is that of rigid bodies with Coulomb friction and is met to
//! the accuracy of the step. Where they stick, our tangential law (Mindlin's no-slip stiffness with one slider for the
//! whole contact) is a model of its own; the reference curves come from another code with its own law.

mod common;

use common::*;
use esker::impact::{Impact, Instant};
use esker::law::damping::{AnyDamping, FromRestitution};
use esker::law::restitution::{contact_time, peak_overlap};
use esker::law::tangential::{AnyTangential, Mindlin, PartialSlip, Rule, Stiffness, TangentialDamping};
use esker::law::{ContactEnd, Law};
use esker::math::Vec3;
use esker::model::{Kind, Model};
use esker::solver::{Solver, explicit::Explicit};
use esker::state::State;

#[derive(Clone, Copy)]
struct Elastic {
    e: f64,
    nu: f64,
    rho: f64,
}

const ALUMINIUM_OXIDE: Elastic = Elastic { e: 3.8e11, nu: 0.23, rho: 4000.0 };
const CAST_IRON: Elastic = Elastic { e: 1e11, nu: 0.25, rho: 7000.0 };
const ALUMINIUM_ALLOY: Elastic = Elastic { e: 7e10, nu: 0.33, rho: 2700.0 };
const STEEL: Elastic = Elastic { e: 2.08e11, nu: 0.30, rho: 7850.0 };
const POLYETHYLENE: Elastic = Elastic { e: 1e9, nu: 0.4, rho: 1400.0 };
const NYLON: Elastic = Elastic { e: 2.5e9, nu: 0.40, rho: 1000.0 };
const COPPER: Elastic = Elastic { e: 1.2e11, nu: 0.35, rho: 8900.0 };

/// Hertz and Mindlin between a body and one `stiffer` times as stiff (infinity: rigid).
fn contact(a: Elastic, stiffer: f64, mu: f64, e: f64) -> Law {
    let share = 1.0 + 1.0 / stiffer;
    let modulus = a.e / (1.0 - a.nu * a.nu) / share;
    let shear = a.e / (2.0 * (1.0 + a.nu)) / (2.0 - a.nu) / share;
    let mut law = hertz(modulus);
    if e < 1.0 {
        law.damping = AnyDamping::FromRestitution(FromRestitution::new(e, &law.normal, law.end));
    }
    law.tangential = AnyTangential::Mindlin(Mindlin {
        ratio: 4.0 * shear / modulus,
        damping: TangentialDamping::None,
        friction: mu,
    });
    law
}

/// What comes out of an impact on the plane z = 0: velocity and spin.
fn on_plane(a: Elastic, law: Law, r: f64, v: Vec3, w: Vec3, steps: f64) -> (Vec3, Vec3) {
    let k = law_coefficient(&law, r);
    let m = 4.0 / 3.0 * std::f64::consts::PI * r.powi(3) * a.rho;
    let t_c = contact_time(k, 1.5, m, -v.z);
    let mut model = model(law, a.rho, t_c / steps);
    model.skin = 0.1 * r;
    model.walls.push(plane(Vec3::ZERO, Vec3::Z));
    let mut state = State::new(&model);
    add(&model, &mut state, 0, Vec3::Z * (r - 1.3 * v.z * model.dt), r, v, w);
    bounce(&model, &mut state, |s| !s.contacts.walls.is_empty());
    (state.particles.velocity(0), state.particles.angular_velocity(0))
}

fn law_coefficient(law: &Law, effective_radius: f64) -> f64 {
    use esker::law::normal::NormalLaw;
    law.normal.power_law(effective_radius).coefficient
}

/// Runs until contact has come and gone.
fn bounce(model: &Model, state: &mut State, touching: impl Fn(&State) -> bool) {
    let mut solver = Explicit::new(1);
    let mut touched = false;
    for _ in 0..1_000_000 {
        solver.advance(model, state, 1).unwrap();
        if touching(state) {
            touched = true;
        } else if touched {
            return;
        }
    }
    panic!("the contact does not end");
}

#[test]
fn restitution_is_that_asked_for() {
    // Test 3: 1e-3, with either end of contact. A dashpot that would give e = 0 does not exist at zero tension.
    for material in [ALUMINIUM_OXIDE, CAST_IRON] {
        for end in [ContactEnd::NoTension, ContactEnd::Geometric] {
            for e in [0.2, 0.4, 0.6, 0.8, 1.0] {
                let mut law = contact(material, f64::INFINITY, 0.0, 1.0);
                law.end = end;
                if e < 1.0 {
                    law.damping = AnyDamping::FromRestitution(FromRestitution::new(e, &law.normal, end));
                }
                let (v, _) = on_plane(material, law, 0.0025, Vec3::Z * -3.9, Vec3::ZERO, 1000.0);
                println!("{end:?} {e}: {:.6}", v.z / 3.9);
                assert!((v.z / 3.9 - e).abs() < 1e-3, "{end:?}: {} instead of {e}", v.z / 3.9);
            }
        }
    }
}

/// Angle \[deg\], then of the reference: tangential restitution, spin \[rad/s\], rebound angle of the contact point \[deg\].
const TEST_4: [[f64; 4]; 13] = [
    [5.0, 0.948, 19.0, 3.8],
    [10.0, 0.687, 213.0, -1.6],
    [15.0, 0.624, 378.0, -5.5],
    [20.0, 0.616, 511.0, -7.5],
    [25.0, 0.634, 599.0, -7.5],
    [30.0, 0.684, 617.0, -3.5],
    [35.0, 0.737, 582.0, 3.4],
    [40.0, 0.781, 545.0, 11.6],
    [50.0, 0.845, 457.0, 29.4],
    [60.0, 0.893, 357.0, 47.8],
    [70.0, 0.932, 246.0, 64.6],
    [80.0, 0.966, 126.0, 78.7],
    [85.0, 0.983, 63.0, 84.5],
];

#[test]
fn oblique_impact_on_a_rigid_plane_follows_the_sliding_formulas_and_the_reference() {
    // Test 4: 3.9 m/s at 5 to 85 degrees from the normal.
    let (r, speed, mu, e) = (0.0025, 3.9, 0.092, 0.98);
    for material in [ALUMINIUM_OXIDE, ALUMINIUM_ALLOY] {
        let law = contact(material, f64::INFINITY, mu, e);
        let mut e_t_off = 0.0;
        for [degrees, e_t_ref, w_ref, phi_ref] in TEST_4 {
            let a = degrees.to_radians();
            let (v, w) = on_plane(material, law, r, speed * Vec3::new(a.sin(), 0.0, -a.cos()), Vec3::ZERO, 1000.0);
            let e_t = v.x / (speed * a.sin());
            let phi = ((v.x - r * w.y) / v.z).atan().to_degrees();
            println!("{degrees:4} deg: e_t {e_t:.4} ({e_t_ref}), w' {:.1} ({w_ref}), phi' {phi:.2} ({phi_ref})", w.y);

            // The reference is of the first material. It agrees where the contact slides for most of its time; in the
            // sticking branch (5 to 20 degrees) its law differs: at 5 degrees it gives 0.948 and 19 rad/s.
            if material.e == ALUMINIUM_OXIDE.e {
                e_t_off += (e_t - e_t_ref).abs() / e_t_ref / TEST_4.len() as f64;
                if degrees >= 15.0 {
                    close(w.y, w_ref, 2.2e-2, "reference: spin");
                }
                if degrees >= 40.0 {
                    close(phi, phi_ref, 2.5e-2, "reference: rebound angle");
                }
            }
            if degrees > 32.52 {
                close(e_t, 1.0 - mu * (1.0 + e) / a.tan(), 1.6e-2, "sliding: tangential restitution");
                close(w.y, 2.5 * mu * (1.0 + e) * speed * a.cos() / r, 2.2e-2, "sliding: spin");
                let phi_slide = ((a.tan() - 3.5 * mu * (1.0 + e)) / e).atan().to_degrees();
                close(phi, phi_slide, 2.5e-2, "sliding: rebound angle of the contact point");
            }
        }
        println!("mean deviation of e_t from the reference: {e_t_off:.2e}");
        assert!(e_t_off < 1.6e-2, "{e_t_off}");
    }
}

#[test]
fn oblique_impact_at_fixed_normal_speed_follows_the_sliding_branch() {
    // Test 5: Vs'/(mu Vn') = Vs/(mu Vn) - 7 and R w'/(mu Vn) = 5.
    let (r, v_n, mu) = (1e-5f64, 5.0, 0.3);
    for material in [STEEL, POLYETHYLENE] {
        let law = contact(material, f64::INFINITY, mu, 1.0);
        // Friction acts at R - h/2: over an elastic Hertz impact the mean overlap, weighted with the force, is
        // B(7/5, 1/2)/B(1, 1/2) = 0.817575 of the largest.
        let m = 4.0 / 3.0 * std::f64::consts::PI * r.powi(3) * material.rho;
        let lever = 1.0 - 0.5 * 0.817575 * peak_overlap(law_coefficient(&law, r), 1.5, m, v_n) / r;
        for i in 1..18 {
            let v_t = v_n * (f64::from(i) * 5.0).to_radians().tan();
            let (v, w) = on_plane(material, law, r, Vec3::new(v_t, 0.0, -v_n), Vec3::ZERO, 1000.0);
            let psi = v_t / (mu * v_n);
            let psi_after = (v.x - r * w.y) / (mu * v.z);
            println!("psi {psi:.3} -> {psi_after:.4}, spin {:.4}", r * w.y / (mu * v_n));
            close(v.z, v_n, 1e-6, "normal restitution");
            if psi > 8.0 {
                close(v.x, v_t - 2.0 * mu * v_n, 1e-6, "sliding: tangential velocity");
                close(r * w.y / (mu * v_n), 5.0 * lever, 1e-4, "sliding: spin");
                close(psi_after, psi - 7.0, 3e-2, "sliding: slip");
            } else {
                // Sticking at some time: more friction than sliding throughout is impossible.
                assert!(r * w.y / (mu * v_n) < 5.0 * (1.0 + 1e-3));
            }
        }
    }
}

/// Q and beta = -Vs'/Vs of a spinning sphere that falls on a plane (test 6), or on a heavy large sphere (test 8).
fn spinning(material: Elastic, e: f64, q: f64, large: bool) -> f64 {
    let (r, v_n, mu) = (0.1f64, 0.2, 0.4);
    let v_t = 3.5 * mu * (1.0 + e) * v_n / q;
    let (velocity, spin) = (Vec3::Z * -v_n, Vec3::Y * (-v_t / r));
    let (v, w) = if large {
        let law = contact(material, 1000.0, mu, e);
        let m = 4.0 / 3.0 * std::f64::consts::PI * r.powi(3) * material.rho;
        let t_c = contact_time(law_coefficient(&law, r * 0.5 / 0.6), 1.5, m, v_n);
        let mut model = model(law, material.rho, t_c / 1000.0);
        let heavy = Kind { name: "large".into(), density: 1000.0 * material.rho, ..model.kinds[0].clone() };
        model.kinds.push(heavy);
        let mut state = State::new(&model);
        add(&model, &mut state, 0, Vec3::Z * (0.6 + 1.3 * v_n * model.dt), r, velocity, spin);
        add(&model, &mut state, 2, Vec3::ZERO, 0.5, Vec3::ZERO, Vec3::ZERO);
        bounce(&model, &mut state, |s| !s.contacts.pairs.is_empty());
        let i = index(&state, 0);
        (state.particles.velocity(i), state.particles.angular_velocity(i))
    } else {
        on_plane(material, contact(material, f64::INFINITY, mu, e), r, velocity, spin, 1000.0)
    };
    let before = -r * spin.y;
    let after = v.x - r * w.y;
    -after / before
}

#[test]
fn a_spinning_sphere_on_a_plane_or_on_a_large_heavy_sphere_slides_as_a_rigid_body() {
    // Tests 6 and 8: beta = -1 + Q while sliding; the large sphere gives the same within 3 %.
    for material in [ALUMINIUM_ALLOY, NYLON] {
        for q in [0.1, 0.3, 0.5, 0.7, 0.85, 1.5, 3.0, 6.0, 12.0, 24.0] {
            let plane = spinning(material, 0.5, q, false);
            let sphere = spinning(material, 0.5, q, true);
            println!("Q {q}: beta {plane:.5} on the plane, {sphere:.5} on the sphere");
            if q < 0.9 {
                // A dashpot makes the bodies stick at first contact, where the load already is finite and the spring
                // still empty; without it they slide from the beginning to the end.
                close(1.0 + plane, q, 3e-2, "sliding: change of slip");
                close(1.0 + spinning(material, 1.0, q, false), q, 1e-3, "sliding, elastic: change of slip");
            }
            assert!((plane - sphere).abs() < 0.03, "Q {q}: {plane} and {sphere}");
        }
    }
}

#[test]
fn equal_spheres_with_opposite_spins_leave_each_other_spinning() {
    // Test 7: no slip at the contact, so no friction: exact.
    for material in [ALUMINIUM_ALLOY, COPPER] {
        let (r, v_n) = (0.1f64, 0.2);
        let law = contact(material, 1.0, 0.4, 0.5);
        let m = 4.0 / 3.0 * std::f64::consts::PI * r.powi(3) * material.rho;
        let t_c = contact_time(law_coefficient(&law, 0.5 * r), 1.5, 0.5 * m, 2.0 * v_n);
        for w in [0.175, 1.0, 17.5] {
            let mut model = model(law, material.rho, t_c / 200.0);
            model.skin = 0.1 * r;
            let mut state = State::new(&model);
            let gap = 1.3 * v_n * model.dt;
            add(&model, &mut state, 0, Vec3::X * -(r + gap), r, Vec3::X * v_n, Vec3::Z * w);
            add(&model, &mut state, 0, Vec3::X * (r + gap), r, Vec3::X * -v_n, Vec3::Z * -w);
            bounce(&model, &mut state, |s| !s.contacts.pairs.is_empty());
            for (id, sign) in [(0, 1.0), (1, -1.0)] {
                let i = index(&state, id);
                let p = &state.particles;
                assert!((p.angular_velocity(i) - Vec3::Z * (sign * w)).length() <= 1e-12 * w);
                assert!(p.velocity(i).y.hypot(p.velocity(i).z) <= 1e-12 * v_n);
                close(p.velocity(i).x * -sign, 0.5 * v_n, 2e-2, "normal restitution");
            }
        }
    }
}

/// An oblique impact of elastic spheres on a row of independent springs with friction, one for each chord of the area of
/// contact: exact for round areas (Popov & Heß 2015, method of dimensionality reduction), and knows nothing of rings and
/// histories. Speeds, mass and radius of one; returns the slip after it.
fn on_a_row_of_springs(e_star: f64, ratio: f64, mu: f64, turning: f64, slip: f64, springs: usize) -> f64 {
    let peak = peak_overlap(4.0 / 3.0 * e_star, 1.5, 1.0, 1.0);
    let width = 1.01 * peak.sqrt() / springs as f64;
    let dt = contact_time(4.0 / 3.0 * e_star, 1.5, 1.0, 1.0) / 8000.0;
    let mut shear = vec![0.0f64; springs]; // force per width, along the first slip
    let (mut overlap, mut v_n, mut v_t) = (0.0, 1.0, slip);
    let (mut f_n, mut f_t) = (0.0, 0.0);
    loop {
        v_n -= 0.5 * dt * f_n;
        v_t -= 0.5 * dt * f_t * turning;
        overlap += dt * v_n;
        (f_n, f_t) = (0.0, 0.0);
        for (k, shear) in shear.iter_mut().enumerate() {
            let x = (k as f64 + 0.5) * width;
            let pressed = (e_star * (overlap - x * x)).max(0.0);
            *shear = (*shear + ratio * e_star * v_t * dt).clamp(-mu * pressed, mu * pressed);
            f_n += 2.0 * width * pressed;
            f_t += 2.0 * width * *shear;
        }
        v_n -= 0.5 * dt * f_n;
        v_t -= 0.5 * dt * f_t * turning;
        if overlap < 0.0 {
            return v_t;
        }
    }
}

#[test]
fn an_oblique_impact_with_partial_slip_follows_maw_barber_and_fawcett() {
    // Maw, Barber & Fawcett (1976): with ψ = k_t/k_n · slip/(μ · approach) before and after, and χ = 7/4 k_t/k_n, a sphere
    // sticks at first if ψ < 1, slides at first if it is more, and slides throughout above 4χ − 1.
    let (nu, mu, turning, e_star) = (0.3, 0.2, 3.5, 1e5);
    let ratio = 2.0 * (1.0 - nu) / (2.0 - nu);
    let chi = 0.5 * turning * ratio;
    let mut law = hertz(e_star);
    law.tangential = AnyTangential::PartialSlip(PartialSlip {
        rule: Rule::Mindlin,
        stiffness: Stiffness::Ratio(ratio),
        exponent: 1.0 / 3.0,
        damping: TangentialDamping::None,
        friction: mu,
    });
    // Where it sticks while the load grows each ring is laid down with another share of its friction, of which the law keeps
    // one mean value: below 1 the ψ after the impact is too large by up to 0.11. From 2.5 on the law is exact.
    let sticking = [0.2, 0.6, 0.95].map(|psi| (psi, 0.12));
    let mixed = [1.5, 2.0].map(|psi| (psi, 1e-2));
    let sliding = [2.5, 3.0, 3.5, 4.0, 4.5, 4.7, 4.8, 6.0].map(|psi| (psi, 1e-4));
    for (psi, tolerance) in sticking.into_iter().chain(mixed).chain(sliding) {
        let slip = psi * mu / ratio;
        let impact = Impact { law, curvature: [1.0, 0.0], effective_mass: 1.0, turning, approach: 1.0, slip };
        let outcome = impact.run(impact.undamped_time() / 4000.0, 0.5);
        let after = ratio / mu * outcome.tangential_restitution.expect("they part") * slip;
        let expected = ratio / mu * on_a_row_of_springs(e_star, ratio, mu, turning, slip, 1000);
        let share = |i: &Instant| -i.tangential_force / (mu * i.normal_force);
        let course: Vec<f64> = outcome.course.iter().filter(|i| i.normal_force > 0.0).map(share).collect();
        let n = course.len();
        let (early, late) = (course[n / 50], course[n - n / 50]);
        println!("psi {psi}: {after:.5}, springs {expected:.5}; T/μF early {early:.4}, late {late:.4}");
        assert!((after - expected).abs() < tolerance, "psi {psi}: {after} instead of {expected}");
        // At first the force is the share ψ of the limit, as long as that is less than the whole.
        close(early, f64::min(psi, 1.0), 1e-2, "early force over the limit");
        if psi > 4.0 * chi - 1.0 {
            assert!(course[n / 50..n - n / 50].iter().all(|share| *share > 1.0 - 1e-9), "psi {psi}: it does not slide");
            close(after, psi - 4.0 * chi, 1e-4, "sliding throughout");
        } else if (1.0..4.0 + 1e-9).contains(&psi) {
            // It ends sliding back, against the force it began with.
            assert!((late + 1.0).abs() < 1e-2, "psi {psi}: {late}");
        } else {
            assert!(late < 0.9, "psi {psi}: {late}");
        }
    }
}
