//! Thornton & Ning: adhesive spheres that yield, against their limits, their pull and what they may give back.

use crate::common;

use common::close;
use esker::impact::Impact;
use esker::law::normal::{AnyNormal, Jkr, NormalLaw, Thornton, ThorntonNing};
use esker::law::{History, Law, Touch};
use std::f64::consts::PI;

const R: f64 = 5e-3;

fn touch(overlap: f64) -> Touch {
    Touch { overlap, effective_radius: 0.5 * R, curvature: [1.0 / R; 2], ..Touch::default() }
}

/// Of an impact with 4000 steps in an undamped contact.
fn restitution(law: Law, approach: f64) -> f64 {
    let impact = Impact { law, curvature: [1.0 / R; 2], effective_mass: 1e-3, turning: 3.5, approach, slip: 0.0 };
    impact.run(impact.undamped_time() / 4000.0, 0.3).restitution.expect("the bodies part")
}

#[test]
fn adhesive_spheres_that_yield_have_both_limits() {
    // Thornton & Ning 1998: without adhesion Thornton's law, without yield JKR, whatever they have been through.
    let (e, p, w) = (1e9, 1e7, 0.5);
    let pairs: [(AnyNormal, AnyNormal); 2] = [
        (
            AnyNormal::ThorntonNing(ThorntonNing { effective_modulus: e, yield_pressure: p, work: 0.0 }),
            AnyNormal::Thornton(Thornton { effective_modulus: e, yield_pressure: p }),
        ),
        (
            AnyNormal::ThorntonNing(ThorntonNing { effective_modulus: e, yield_pressure: f64::INFINITY, work: w }),
            AnyNormal::Jkr(Jkr { effective_modulus: e, work: w }),
        ),
    ];
    for (law, limit) in pairs {
        let (mut one, mut other) = (History::default(), History::default());
        let scale = limit.force(&touch(0.02 * R), &other);
        for x in [1e-5, 1e-3, 0.01, 0.006, 0.0002, 0.008, 0.02, 0.015] {
            let touch = touch(x * R);
            law.advance(&touch, &mut one);
            limit.advance(&touch, &mut other);
            let off = |a: f64, b: f64| (a - b).abs() / scale;
            assert!(off(law.force(&touch, &one), limit.force(&touch, &other)) < 1e-12, "{law:?} at {x}");
            let [a, b] = [law.energy(&touch, &one), limit.energy(&touch, &other)];
            assert!((a - b).abs() <= 1e-12 * scale * R, "{law:?} at {x}: {a:e} {b:e}");
        }
        assert_eq!(law.range([1.0 / R; 2], true), limit.range([1.0 / R; 2], true));
    }
}

#[test]
fn adhesive_spheres_that_have_yielded_pull_like_flatter_ones() {
    let law = ThorntonNing { effective_modulus: 1e9, yield_pressure: 1e7, work: 0.5 };
    let (radius, peak) = (0.5 * R, 2e-3 * R);
    // The pressure in the middle where it yields.
    let a = law.yield_radius(radius);
    let pressure = 2.0 * 1e9 * a / (PI * radius) - (2.0 * 0.5 * 1e9 / (PI * a)).sqrt();
    close(pressure, 1e7, 1e-12, "pressure at yield");
    let back = law.flattened(radius, peak);
    assert!(back.radius > 1.5 * radius && back.shift > 0.5 * peak, "{back:?}");
    let mut history = History::default();
    let mut at = |x: f64| {
        law.advance(&touch(x), &mut history);
        law.force(&touch(x), &history)
    };
    let top = at(peak);
    close(at(peak * (1.0 - 1e-9)), top, 1e-7, "turning down");
    // Largest pull, and where the neck breaks under a given displacement.
    let (end, pull_off) = (law.end(&back), 1.5 * PI * 0.5 * back.radius);
    close(law.pull_off(radius, peak), pull_off, 1e-12, "formula");
    let steps = 20_000;
    let way = |k: i32| peak + (end * (1.0 + 1e-9) - peak) * f64::from(k) / f64::from(steps);
    let smallest = (0..=steps).map(|k| at(way(k))).fold(0.0, f64::min);
    close(smallest, -pull_off, 1e-5, "largest pull");
    close(at(way(steps)), -5.0 / 9.0 * pull_off, 1e-2, "force where the neck breaks");
    // Apart above no overlap: nothing until the flattened surfaces meet again, then they snap together.
    assert!(end > 0.0);
    assert_eq!(at(end * (1.0 - 1e-6)), 0.0);
    assert_eq!(at(back.shift * (1.0 - 1e-6)), 0.0);
    close(at(back.shift * (1.0 + 1e-12)), -8.0 / 9.0 * pull_off, 1e-6, "snap");
    close(at(peak), top, 1e-9, "reloaded");
    // Yield loses more than the jumps of adhesion alone do.
    let lost = |normal: AnyNormal| {
        let e = restitution(Law::elastic(normal), 0.2);
        1.0 - e * e
    };
    let adhesive = AnyNormal::Jkr(Jkr { effective_modulus: 1e9, work: 0.5 });
    assert!(lost(AnyNormal::ThorntonNing(law)) > 100.0 * lost(adhesive));
}

#[test]
fn adhesive_spheres_never_give_back_more_than_jkr_however_little_they_yield() {
    let sets = [(1e9, 2e7, 0.1, 2.5e-4), (1e10, 3e8, 0.05, 5e-6), (1e10, 1e8, 0.05, 2.5e-4), (1e9, 2e7, 2.0, 2.5e-4)];
    for (effective_modulus, yield_pressure, work, radius) in sets {
        let law = ThorntonNing { effective_modulus, yield_pressure, work };
        let jkr = Jkr { effective_modulus, work };
        let at = |overlap: f64| Touch { overlap, effective_radius: radius, ..Touch::default() };
        let c = (2.0 * PI * work / effective_modulus).sqrt();
        let overlap = |a: f64| a * a / radius - c * a.sqrt();
        let y = law.yield_radius(radius);
        // The slope goes on where it yields.
        let (low, high) = (overlap(y * (1.0 - 1e-6)), overlap(y * (1.0 + 1e-6)));
        let slope = |x: f64, step: f64| {
            let history = |x: f64| History { peak: x, ..History::default() };
            let force = |x: f64| law.force(&at(x), &history(x));
            (force(x + step) - force(x)) / step
        };
        let h = 1e-5 * overlap(y);
        close(slope(high, h), slope(low - h, h), 1e-3, "slope at yield");
        for part in [1.001, 1.01, 1.05, 1.1, 1.3, 2.0] {
            let peak = overlap(y * part);
            let back = law.flattened(radius, peak);
            assert!(back.radius > radius && back.shift > 0.0, "{law:?}, {part}: {back:?}");
            // What is lost over the way up from and back to the end of the neck, beside what JKR's jumps lose.
            let history = History { peak, ..History::default() };
            let n = 20_000;
            let mean = |from: f64, to: f64, f: &dyn Fn(f64) -> f64| {
                let h = (to - from) / f64::from(n);
                (0..n).map(|k| f(from + (f64::from(k) + 0.5) * h)).sum::<f64>() * h
            };
            let up = mean(0.0, peak, &|x| law.force(&at(x), &History { peak: x, ..History::default() }));
            let down = mean(law.end(&back), peak, &|x| law.force(&at(x), &history));
            let end = -jkr.range([1.0 / radius, 0.0], true);
            let neck = mean(end, 0.0, &|x| jkr.force(&at(x), &History::default()));
            assert!(up - down > -neck, "{law:?}, {part}: loses {:e}, JKR alone {:e}", up - down, -neck);
        }
    }
}
