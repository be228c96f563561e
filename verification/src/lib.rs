//! Published experiments and closed forms: what is compared, with what, and how closely.
//!
//! A [`Case`] has the identity it has in the digests of the sources (D-…) or in the catalogue of verification cases (V…),
//! runs the program's own code, and returns numbers beside the ones they should be. `esker verify` prints them, the tests
//! ask that the quick ones hold.

mod adhesion;
mod beds;
mod bench;
mod billiard;
mod bulk;
mod chains;
mod chung_ooi;
mod collisions;
mod drums;
mod falls;
mod fills;
mod flows;
mod frames;
mod gas;
mod grinding;
mod hard;
mod heaps;
mod hoppers;
mod hysteresis;
mod impacts;
mod incline;
mod integrators;
mod jamming;
mod mill;
mod motion;
mod oblique;
mod pit;
mod rolling_and_spinning;
mod rotation;
mod silo_frames;
mod silos;
mod static_silo;
mod structures;
mod surfaces;

use esker_io::chart::Chart;
use std::time::Instant;

/// One experiment.
#[derive(Clone, Copy)]
pub struct Case {
    /// Identity, e.g. `D-07`.
    pub id: &'static str,
    /// Where it was published, and what is looked at.
    pub source: &'static str,
    /// What is compared.
    pub title: &'static str,
    /// What kind of evidence it is.
    pub evidence: Evidence,
    /// How long it takes.
    pub effort: Effort,
    /// Runs it.
    pub run: fn() -> Findings,
}

/// What a case is compared with: how strong a piece of evidence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// An exact result.
    ClosedForm,
    /// The same computed by another program.
    OtherCode,
    /// A measurement.
    Experiment,
    /// A direction or an exponent, not a number.
    Trend,
    /// What must hold whatever the numbers are.
    Property,
}

impl Evidence {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Evidence::ClosedForm => "closed form",
            Evidence::OtherCode => "other code",
            Evidence::Experiment => "experiment",
            Evidence::Trend => "trend",
            Evidence::Property => "property",
        }
    }
}

/// How long a case takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Seconds: part of the quick set.
    Quick,
    /// Minutes.
    Long,
    /// Up to a minute, and it measures time: to be run alone.
    Timed,
}

/// What a case found.
#[derive(Default)]
pub struct Findings {
    /// The comparisons.
    pub checks: Vec<Check>,
    /// Figures without an expected value.
    pub tables: Vec<Table>,
    /// Curves.
    pub charts: Vec<Chart>,
    /// What to make of it, where the numbers do not say so.
    pub reading: &'static str,
}

/// Figures that are told as they are.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// Heads of the columns.
    pub header: Vec<String>,
    /// As many cells each.
    pub rows: Vec<Vec<String>>,
}

/// A number beside the one it should be.
#[derive(Clone, Debug)]
pub struct Check {
    /// What it is, with its unit.
    pub what: String,
    /// What it should be.
    pub expected: f64,
    /// What it is.
    pub measured: f64,
    /// How far off it may be.
    pub gate: Gate,
}

/// How far off a number may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gate {
    /// Over the expected one.
    Relative(f64),
    /// As it is.
    Absolute(f64),
    /// The expected one is the largest allowed.
    AtMost,
    /// The expected one is the smallest allowed.
    AtLeast,
}

impl Check {
    /// How far off it is, as the gate counts it.
    pub fn deviation(&self) -> f64 {
        match self.gate {
            Gate::Relative(_) => (self.measured - self.expected).abs() / self.expected.abs(),
            Gate::Absolute(_) => (self.measured - self.expected).abs(),
            Gate::AtMost => (self.measured - self.expected).max(0.0),
            Gate::AtLeast => (self.expected - self.measured).max(0.0),
        }
    }

    /// Whether it holds. A number that is none does not.
    pub fn holds(&self) -> bool {
        match self.gate {
            Gate::Relative(gate) | Gate::Absolute(gate) => self.deviation() <= gate,
            Gate::AtMost => self.measured <= self.expected,
            Gate::AtLeast => self.measured >= self.expected,
        }
    }

    /// The gate in words.
    pub fn allowed(&self) -> String {
        match self.gate {
            Gate::Relative(gate) if gate >= 1e-3 => format!("{} %", 100.0 * gate),
            Gate::Relative(gate) => format!("{gate:.0e} of it"),
            Gate::Absolute(gate) if gate > 0.0 && gate < 1e-3 => format!("± {gate:.0e}"),
            Gate::Absolute(gate) => format!("± {gate}"),
            Gate::AtMost => "at most".into(),
            Gate::AtLeast => "at least".into(),
        }
    }
}

impl Findings {
    /// Adds a comparison, the deviation counted over the expected number.
    fn relative(&mut self, what: impl Into<String>, measured: f64, expected: f64, gate: f64) {
        self.checks.push(Check { what: what.into(), expected, measured, gate: Gate::Relative(gate) });
    }

    /// Adds a comparison, the deviation counted as it is.
    fn absolute(&mut self, what: impl Into<String>, measured: f64, expected: f64, gate: f64) {
        self.checks.push(Check { what: what.into(), expected, measured, gate: Gate::Absolute(gate) });
    }

    /// Adds an upper limit.
    fn at_most(&mut self, what: impl Into<String>, measured: f64, limit: f64) {
        self.checks.push(Check { what: what.into(), expected: limit, measured, gate: Gate::AtMost });
    }

    /// Adds a lower limit.
    fn at_least(&mut self, what: impl Into<String>, measured: f64, limit: f64) {
        self.checks.push(Check { what: what.into(), expected: limit, measured, gate: Gate::AtLeast });
    }
}

/// A case that was run.
pub struct Report {
    /// The case.
    pub case: Case,
    /// What it found.
    pub findings: Findings,
    /// How long it took \[s\].
    pub seconds: f64,
}

impl Report {
    /// Whether all of it holds; nothing compared is nothing shown.
    pub fn holds(&self) -> bool {
        !self.findings.checks.is_empty() && self.findings.checks.iter().all(Check::holds)
    }
}

impl Case {
    /// Runs it. A case that breaks off is one that fails, and the others go on.
    pub fn report(&self) -> Report {
        let begin = Instant::now();
        let findings = std::panic::catch_unwind(self.run).unwrap_or_else(|_| {
            let mut findings = Findings::default();
            findings.absolute("the case broke off, for the reason told above", f64::NAN, 0.0, 0.0);
            findings
        });
        Report { case: *self, findings, seconds: begin.elapsed().as_secs_f64() }
    }
}

/// All cases, in the order in which they are told.
pub fn cases() -> Vec<Case> {
    [
        impacts::CASES,
        chung_ooi::CASES,
        oblique::CASES,
        collisions::CASES,
        hysteresis::CASES,
        adhesion::CASES,
        motion::CASES,
        falls::CASES,
        rolling_and_spinning::CASES,
        incline::CASES,
        rotation::CASES,
        integrators::CASES,
        frames::CASES,
        surfaces::CASES,
        pit::CASES,
        flows::CASES,
        silos::CASES,
        beds::CASES,
        chains::CASES,
        drums::CASES,
        heaps::CASES,
        jamming::CASES,
        hoppers::CASES,
        billiard::CASES,
        gas::CASES,
        mill::CASES,
        grinding::CASES,
        structures::CASES,
        silo_frames::CASES,
        static_silo::CASES,
        fills::CASES,
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_that_breaks_off_fails() {
        let run = || -> Findings { panic!("as it should in this test") };
        let case = Case { id: "X", source: "", title: "", evidence: Evidence::Property, effort: Effort::Quick, run };
        let report = case.report();
        assert!(!report.holds() && report.findings.checks.len() == 1);
    }
}
