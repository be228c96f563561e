//! The quick set of `esker verify` holds, and the list of cases is in order.

use esker_verification::{Effort, cases};

#[test]
fn identities_are_unique() {
    let mut ids: Vec<&str> = cases().iter().map(|case| case.id).collect();
    ids.sort_unstable();
    assert!(ids.windows(2).all(|two| two[0] != two[1]), "{ids:?}");
}

#[test]
fn the_quick_cases_hold() {
    let mut fails = Vec::new();
    for case in cases().into_iter().filter(|case| case.effort == Effort::Quick) {
        let report = case.report();
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
