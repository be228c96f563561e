//! Laws that load and unload along different curves.

use crate::{Case, Effort, Evidence, Findings};
use esker::impact::Impact;
use esker::law::normal::{AnyNormal, NormalLaw, Sadd, Thornton, WaltonBraun};
use esker::law::tangential::{AnyTangential, PartialSlip, Rule, Stiffness, TangentialDamping, TangentialLaw};
use esker::law::{Dissipation, History, Law, Memory, Touch};
use esker::math::Vec3;
use esker_io::chart::{Chart, Curve};

pub const CASES: &[Case] = &[
    Case {
        id: "D-10",
        source: "Walton & Braun 1986 in Džiugys & Peters 1998, eqs (50)–(52)",
        title: "latching spring: loop of loading and unloading, restitution",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: latching_spring,
    },
    Case {
        id: "D-11",
        source: "Mindlin 1949; Walton & Braun 1986 in Džiugys & Peters 1998, eqs (85), (86), (96)",
        title: "partial slip at a constant load: first loading, saturation, cycles",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: partial_slip,
    },
    Case {
        id: "D-12",
        source: "Sadd, Tai & Shukla 1993 in Džiugys & Peters 1998, eq. (53)",
        title: "non-linear hysteresis: continuity, energy given back",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: sadd,
    },
    Case {
        id: "V17",
        source: "Thornton 1997; Thornton & Ning 1998",
        title: "elastic, perfectly plastic spheres: restitution over the speed",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: thornton,
    },
];

const RADIUS: f64 = 5e-3;
const MASS: f64 = 1e-3;

fn impact(normal: AnyNormal, approach: f64) -> Impact {
    let law = Law::elastic(normal);
    Impact { law, curvature: [1.0 / RADIUS; 2], effective_mass: MASS, turning: 3.5, approach, slip: 0.0 }
}

fn restitution(normal: AnyNormal, speed: f64) -> f64 {
    let impact = impact(normal, speed);
    impact.run(impact.undamped_time() / 8000.0, 0.5).restitution.unwrap_or(f64::NAN)
}

/// Force along a path of overlaps \[m\].
fn path(normal: AnyNormal, overlaps: impl Iterator<Item = f64>) -> Vec<[f64; 2]> {
    let (impact, mut history) = (impact(normal, 1.0), History::default());
    let at = |x: f64| {
        normal.advance(&impact.at(x), &mut history);
        [1e6 * x, normal.force(&impact.at(x), &history)]
    };
    overlaps.map(at).collect()
}

/// From turn to turn in many steps.
fn turns(of: &[f64]) -> impl Iterator<Item = f64> + '_ {
    of.windows(2).flat_map(|w| (1..=200).map(move |k| w[0] + (w[1] - w[0]) * f64::from(k) / 200.0))
}

fn loop_chart(title: &str, normal: AnyNormal, at: &[f64]) -> Chart {
    Chart {
        title: title.into(),
        axes: ["overlap [µm]".into(), "force [N]".into()],
        curves: vec![Curve { name: String::new(), points: path(normal, turns(at)) }],
    }
}

fn latching_spring() -> Findings {
    let mut found = Findings::default();
    let law =
        |ratio: f64, growth: f64| AnyNormal::WaltonBraun(WaltonBraun { loading: 1e6, unloading: ratio * 1e6, growth });
    for ratio in [1.0, 2.0, 4.0_f64] {
        for speed in [0.1, 2.0] {
            let what = format!("K2/K1 = {ratio} at {speed} m/s: restitution");
            found.relative(what, restitution(law(ratio, 0.0), speed), 1.0 / ratio.sqrt(), 1e-6);
        }
    }
    let omega = f64::sqrt(1e6 / MASS);
    for speed in [0.1, 1.0, 5.0] {
        let expected = (omega / (omega + 1e4 * speed)).sqrt();
        found.relative(
            format!("K2 growing, at {speed} m/s: restitution"),
            restitution(law(1.0, 1e4), speed),
            expected,
            1e-3,
        );
    }
    // Slopes: load to 40 µm, unload, reload from 32 µm.
    let forces = path(law(4.0, 0.0), [40e-6, 35e-6, 20e-6, 32e-6, 50e-6].into_iter());
    for (what, point, expected) in
        [("unloading", 1, 20.0), ("below the residual overlap", 2, 0.0), ("reloading", 3, 8.0), ("beyond", 4, 50.0)]
    {
        found.absolute(format!("force, {what} [N]"), forces[point][1], expected, 1e-9);
    }
    found.charts.push(loop_chart(
        "Latching spring, K2 = 4 K1",
        law(4.0, 0.0),
        &[0.0, 40e-6, 25e-6, 38e-6, 32e-6, 50e-6, 0.0],
    ));
    found
}

fn sadd() -> Findings {
    let mut found = Findings::default();
    let (p, e) = (1.4, 0.6);
    let law = Sadd::with_restitution(1e6, p, e);
    let normal = AnyNormal::Sadd(law);
    found.relative("energy given back, (p+1)/(p+q+1)", (p + 1.0) / (p + law.excess + 1.0), e * e, 1e-12);
    for speed in [0.1, 1.0] {
        found.relative(format!("restitution at {speed} m/s"), restitution(normal, speed), e, 1e-6);
    }
    let hair = 1e-9;
    let forces =
        path(normal, [1e-4, 1e-4 * (1.0 - hair), 4e-5, 4e-5 * (1.0 + hair), 1e-4 * (1.0 - hair), 1e-4].into_iter());
    for (what, a, b) in [("turning down", 0, 1), ("turning up", 2, 3), ("back on the first curve", 4, 5)] {
        found.relative(format!("force {what} [N]"), forces[a][1], forces[b][1], 1e-6);
    }
    found.charts.push(loop_chart(
        "Sadd, Tai & Shukla, p = 1.4, e = 0.6",
        normal,
        &[0.0, 1e-4, 4e-5, 1e-4, 1.3e-4, 0.0],
    ));
    found
}

fn thornton() -> Findings {
    let mut found = Findings::default();
    let law = Thornton { effective_modulus: 1e9, yield_pressure: 1e7 };
    let hertz = 4.0 / 3.0 * law.effective_modulus * (0.5 * RADIUS).sqrt();
    let v_yield = (0.8 * hertz * law.yield_overlap(0.5 * RADIUS).powf(2.5) / MASS).sqrt();
    let closed = |ratio: f64| {
        let y = 1.0 / ratio;
        let inner = y / (y + 2.0 * (1.2 - 0.2 * y * y).sqrt());
        (1.2 * 3f64.sqrt()).sqrt() * (1.0 - y * y / 6.0).sqrt() * inner.powf(0.25)
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for ratio in [1.01, 1.5, 2.0, 5.0, 20.0, 100.0] {
        let e = restitution(AnyNormal::Thornton(law), ratio * v_yield);
        found.relative(format!("restitution at {ratio} times the speed of yield"), e, closed(ratio), 1e-6);
        ours.push([ratio.log10(), e]);
        theirs.push([ratio.log10(), closed(ratio)]);
    }
    found.charts.push(Chart {
        title: "Plastic spheres: restitution".into(),
        axes: ["log10 of the speed over that of yield".into(), "restitution".into()],
        curves: vec![
            Curve { name: "closed form".into(), points: theirs },
            Curve { name: "Esker".into(), points: ours },
        ],
    });
    found
}

/// A contact under 50 N that is moved about, with friction 0.4 and 1e6 N/m.
fn drive(rule: Rule, places: impl Iterator<Item = f64>) -> (Vec<[f64; 2]>, f64) {
    let law = AnyTangential::PartialSlip(PartialSlip {
        rule,
        stiffness: Stiffness::Given(1e6),
        exponent: 1.0 / 3.0,
        damping: TangentialDamping::None,
        friction: 0.4,
    });
    let mut memory = Memory { touching: true, ..Default::default() };
    let (mut x, mut lost) = (0.0, 0.0);
    let curve = places.map(|next| {
        let mut touch = Touch { normal: Vec3::Z, middle: Vec3::Z, dt: 1e-6, effective_mass: 1.0, ..Default::default() };
        touch.mean.slip = Vec3::X * ((next - x) / touch.dt);
        let mut step = Dissipation::default();
        let force = law.respond(&touch, 50.0, 1e6, 0.0, &mut memory, &mut step);
        lost += step.total();
        x = next;
        [1e6 * x, -force.x]
    });
    (curve.collect(), lost)
}

fn partial_slip() -> Findings {
    let mut found = Findings::default();
    let limit = 20.0;
    let most = 1.5 * limit / 1e6;
    let mindlin = |x: f64| limit * (1.0 - (1.0 - (x / most).min(1.0)).powf(1.5));
    for (name, rule) in [("Walton & Braun", Rule::WaltonBraun), ("Mindlin & Deresiewicz", Rule::Mindlin)] {
        for part in [0.2, 0.6, 0.95] {
            let (curve, _) = drive(rule, turns(&[0.0, part * most]));
            let force = curve[curve.len() - 1][1];
            found.relative(
                format!("{name}: force at {part} of the way to sliding [N]"),
                force,
                mindlin(part * most),
                5e-3,
            );
        }
        let (curve, _) = drive(rule, turns(&[0.0, 2.0 * most]));
        found.relative(format!("{name}: force when sliding [N]"), curve[curve.len() - 1][1], limit, 1e-9);
        let cycle: Vec<f64> =
            std::iter::once(0.0).chain((0..21).map(|k| if k % 2 == 0 { 0.8 } else { -0.8 } * most)).collect();
        let (curve, lost) = drive(rule, turns(&cycle));
        let ends: Vec<f64> = curve.chunks(200).map(|leg| leg[199][1]).collect();
        found.relative(format!("{name}: symmetry of a cycle"), -ends[19], ends[20], 5e-3);
        found.relative(format!("{name}: cycle closed"), ends[20], ends[18], 1e-3);
        found.at_most(format!("{name}: energy gained by ten cycles [J]"), -lost, 0.0);
        found.charts.push(Chart {
            title: format!("{name}: cycles of slip at a constant load"),
            axes: ["displacement [µm]".into(), "force [N]".into()],
            curves: vec![Curve { name: String::new(), points: curve[..1200].to_vec() }],
        });
    }
    found
}
