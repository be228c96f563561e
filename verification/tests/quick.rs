//! The quick set of `esker verify` holds, and the list of cases is in order.

use esker_verification::{Effort, cases};
use rayon::prelude::*;

#[test]
fn identities_are_unique() {
    let mut ids: Vec<&str> = cases().iter().map(|case| case.id).collect();
    ids.sort_unstable();
    assert!(ids.windows(2).all(|two| two[0] != two[1]), "{ids:?}");
}

#[test]
fn the_quick_cases_hold() {
    let quick: Vec<_> = cases().into_iter().filter(|case| case.effort == Effort::Quick).collect();
    let reports: Vec<_> = quick.par_iter().with_max_len(1).map(|case| case.report()).collect();
    let mut fails = Vec::new();
    for (case, report) in quick.iter().zip(&reports) {
        println!("{} {} in {:.2} s", case.id, case.title, report.seconds);
        for check in &report.findings.checks {
            println!(
                "  {}: {:e} for {:e}, off by {:.1e}, allowed {}",
                check.what,
                check.measured,
                check.expected,
                check.deviation(),
                check.allowed()
            );
        }
        if !report.holds() {
            fails.push(case.id);
        }
    }
    assert!(fails.is_empty(), "{fails:?}");
}
