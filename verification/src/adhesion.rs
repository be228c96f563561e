//! Attraction: pull-off, necks, bridges.

use crate::{Case, Effort, Evidence, Findings};
use esker::impact::Impact;
use esker::law::cohesion::{Capillary, CohesionLaw, Dmt, Kohring};
use esker::law::normal::{AnyNormal, Hertz, Jkr, NormalLaw};
use esker::law::{History, Law, Touch};
use esker_io::chart::{Chart, Curve};
use std::f64::consts::PI;

pub const CASES: &[Case] = &[
    Case {
        id: "D-13",
        source: "Kohring 1994 in Džiugys & Peters 1998, eq. (59) repaired",
        title: "pull-off over weight for grains of 0.1 mm to 100 mm",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: size_effect,
    },
    Case {
        id: "V19",
        source: "Johnson, Kendall & Roberts 1971",
        title: "pull-off, contact radius, neck",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: jkr,
    },
    Case {
        id: "V20",
        source: "Derjaguin, Muller & Toporov 1975",
        title: "pull-off",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: dmt,
    },
    Case {
        id: "V21",
        source: "Willett et al. 2000; Lian et al. 1993",
        title: "capillary bridge: force over gap, rupture",
        evidence: Evidence::ClosedForm,
        effort: Effort::Quick,
        run: capillary,
    },
];

/// Bodies of an effective radius \[m\] with an overlap \[m\].
fn touch(effective_radius: f64, overlap: f64) -> Touch {
    Touch { overlap, effective_radius, curvature: [0.5 / effective_radius; 2], ..Default::default() }
}

fn size_effect() -> Findings {
    let mut found = Findings::default();
    let (hertz, kohring) = (Hertz { effective_modulus: 1e7 }, Kohring { work: 0.1, effective_modulus: 1e7 });
    for (diameter, over_weight) in [(1e-4, 4590.0), (1e-3, 46.0), (1e-2, 0.46), (1e-1, 0.0046)] {
        // A grain of water's density on a plane.
        let r = 0.5 * diameter;
        let force = |x: f64| hertz.force(&touch(r, x), &History::default()) + kohring.force(&touch(r, x));
        // The minimum lies where the contact radius is that of the pull-off.
        let near = ((9.0 * PI * 0.1 * r * r / (8.0 * 1e7)).cbrt()).powi(2) / r;
        let pull = -(1..4000).map(|k| force(near * f64::from(k) / 2000.0)).fold(0.0, f64::min);
        let weight = 1000.0 * PI * f64::powi(diameter, 3) / 6.0 * 9.81;
        found.relative(format!("{diameter} m: least force over (3/2) π W R*"), pull / (1.5 * PI * 0.1 * r), 1.0, 1e-3);
        found.relative(format!("{diameter} m: pull-off over weight"), pull / weight, over_weight, 0.01);
    }
    found
}

fn jkr() -> Findings {
    let mut found = Findings::default();
    let law = Jkr { effective_modulus: 1e7, work: 0.1 };
    let force = |x: f64| law.force(&touch(1e-3, x), &History::default());
    let range = law.range([500.0; 2], true);
    let pull = -(0..4000).map(|k| force(-range + 1e-9 * f64::from(k))).fold(0.0, f64::min);
    found.relative("largest pull [N]", pull, 4.71239e-4, 1e-4);
    found.relative("contact radius without load [m]", law.contact_radius(&touch(1e-3, 0.90459e-6)), 52.094e-6, 1e-4);
    found.absolute("force at the overlap without load [N]", force(0.90459e-6), 0.0, 1e-4 * 4.71239e-4);
    found.relative("force at the overlap of pull-off [N]", force(-0.35899e-6), -4.71239e-4, 1e-4);
    found.relative("force where the neck breaks over the pull-off", force(-range) / -4.71239e-4, 5.0 / 9.0, 1e-4);
    found.relative("force at the first touch over the pull-off", force(0.0) / -4.71239e-4, 8.0 / 9.0, 1e-4);
    // An impact loses what snapping together and breaking the neck set free.
    let impact = Impact {
        law: Law::elastic(AnyNormal::Jkr(law)),
        curvature: [500.0; 2],
        effective_mass: 1e-6,
        turning: 3.5,
        approach: 0.1,
        slip: 0.0,
    };
    let outcome = impact.run(impact.undamped_time() / 4000.0, 0.5);
    let energy = |x: f64| law.energy(&touch(1e-3, x), &History::default());
    let lost = 0.5 * 1e-6 * 0.01 * (1.0 - outcome.restitution.unwrap_or(f64::NAN).powi(2));
    found.relative("energy lost in an impact [J]", lost, energy(-range) - energy(0.0), 1e-2);
    let points = (0..=400).map(|k| -range + f64::from(k) * 1e-8).map(|x| [1e6 * x, 1e3 * force(x)]).collect();
    found.charts.push(Chart {
        title: "JKR, R* 1 mm, W 0.1 J/m², E* 10 MPa".into(),
        axes: ["overlap [µm]".into(), "force [mN]".into()],
        curves: vec![Curve { name: String::new(), points }],
    });
    found
}

fn dmt() -> Findings {
    let mut found = Findings::default();
    found.relative("pull [N]", Dmt { work: 0.1 }.force(&touch(1e-3, 1e-9)), -6.283185e-4, 1e-6);
    found
}

fn capillary() -> Findings {
    let mut found = Findings::default();
    let bridge = Capillary { tension: 0.0728, angle: 0.2, volume: 1e-12 };
    let closed = |gap: f64| {
        let s = gap * f64::sqrt(2e-3 / 1e-12);
        -2.0 * PI * 2e-3 * 0.0728 * 0.2_f64.cos() / (1.0 + 1.05 * s + 2.5 * s * s)
    };
    for gap in [0.0, 1e-5, 5e-5, 1e-4] {
        found.relative(format!("force at a gap of {gap} m [N]"), bridge.force(&touch(1e-3, -gap)), closed(gap), 1e-6);
    }
    found.relative("gap of rupture [m]", bridge.range([500.0; 2], true), 1.1e-4, 1e-6);
    found.absolute("range before the bridge has formed [m]", bridge.range([500.0; 2], false), 0.0, 0.0);
    let points =
        (0..=200).map(|k| 5.5e-7 * f64::from(k)).map(|s| [1e6 * s, 1e6 * bridge.force(&touch(1e-3, -s))]).collect();
    found.charts.push(Chart {
        title: "Bridge of 0.001 mm³ of water between spheres of 2 mm".into(),
        axes: ["gap [µm]".into(), "force [µN]".into()],
        curves: vec![Curve { name: String::new(), points }],
    });
    found
}
