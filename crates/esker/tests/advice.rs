//! The advice on the step counts every pair that can meet, with the masses that take part.

use crate::common;

use common::*;
use esker::advice::{SizeRange, advise};
use std::f64::consts::PI;

#[test]
fn a_fixed_kind_is_a_body_of_infinite_mass_wherever_it_stands_in_the_list() {
    let (k, density, r) = (1e5, 2000.0, 0.01);
    let model = model(hooke(k), density, 1e-5);
    let m = model.kinds[0].mass(r);
    // Kind 0 moves, kind 1 is fixed; the fixed grains are much smaller, which does not matter: they have no mass that moves.
    let moving = SizeRange { kind: 0, r_min: r, r_max: 2.0 * r };
    let fixed = SizeRange { kind: 1, r_min: 0.01 * r, r_max: 0.01 * r };
    for sizes in [[moving, fixed], [fixed, moving]] {
        let advice = advise(&model, &sizes, 1.0, 50.0);
        let names: Vec<(&str, &str)> = advice.pairs.iter().map(|p| (p.a.as_str(), p.b.as_str())).collect();
        assert_eq!(names.len(), 2, "two fixed grains never meet: {names:?}");
        let of = |b: &str| advice.pairs.iter().find(|p| p.a == "grain" && p.b == b).expect("the pair is there");
        close(of("fixed").contact_time, PI * (m / k).sqrt(), 1e-12, "on a fixed grain: the whole mass");
        close(of("grain").contact_time, PI * (0.5 * m / k).sqrt(), 1e-12, "two grains: half the mass");
        close(advice.step, PI * (0.5 * m / k).sqrt() / 50.0, 1e-12, "the shorter contact decides");
    }
    let alone = advise(&model, &[fixed], 1.0, 50.0);
    assert!(alone.pairs.is_empty() && alone.step.is_infinite(), "nothing moves, nothing limits the step");
}
