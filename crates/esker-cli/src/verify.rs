//! `esker verify`: runs published experiments and closed forms and tells how closely they are met.

use crate::Failure;
use crate::out::{say, tell};
use esker_io::atomic;
use esker_io::chart::escaped;
use esker_verification::{Case, Check, Effort, Report, cases};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

/// Arguments of `esker verify`.
#[derive(clap::Args)]
pub struct Args {
    /// Cases by identity, e.g. D-07 V19 (default: the quick set)
    which: Vec<String>,
    /// Run all cases, the long ones too
    #[arg(long, conflicts_with = "which")]
    all: bool,
    /// Cases run at a time (default: one on each core)
    #[arg(long, value_name = "N")]
    jobs: Option<std::num::NonZeroUsize>,
    /// List the cases and run none
    #[arg(long)]
    list: bool,
    /// Write a page with tables and curves
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write the table in Markdown
    #[arg(long, value_name = "FILE.md")]
    markdown: Option<PathBuf>,
}

/// Verifies. Fails if a gate does.
pub fn main(args: &Args) -> Result<ExitCode, Failure> {
    let chosen = chosen(args)?;
    if args.list {
        for case in &chosen {
            say!("{:<6} {:<12} {} ({})", case.id, case.evidence.name(), case.title, case.source);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let begin = Instant::now();
    let jobs = args.jobs.or_else(|| std::thread::available_parallelism().ok()).map_or(1, usize::from);
    let (timed, others): (Vec<Case>, Vec<Case>) = chosen.iter().partition(|case| case.effort == Effort::Timed);
    let mut reports = run(&others, jobs);
    reports.extend(run(&timed, 1));
    let held = reports.iter().filter(|r| r.holds()).count();
    say!("{held} of {} cases hold, in {:.1} s", reports.len(), begin.elapsed().as_secs_f64());
    if let Some(path) = &args.report {
        atomic::write(path, |file| file.write_all(html(&reports).as_bytes()))?;
        tell!("the page is in {}", path.display());
    }
    if let Some(path) = &args.markdown {
        atomic::write(path, |file| file.write_all(markdown(&reports).as_bytes()))?;
        tell!("the table is in {}", path.display());
    }
    Ok(if held == reports.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs cases, some at a time, and tells each in its turn.
fn run(cases: &[Case], jobs: usize) -> Vec<Report> {
    let (next, (done, arriving)) = (AtomicUsize::new(0), mpsc::channel());
    let mut waiting = BTreeMap::new();
    let mut reports = Vec::new();
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(cases.len()) {
            let (next, done) = (&next, done.clone());
            scope.spawn(move || {
                while let Some((k, case)) = cases.iter().enumerate().nth(next.fetch_add(1, Ordering::Relaxed)) {
                    // The receiver lives until all senders are gone.
                    let _ = done.send((k, case.report()));
                }
            });
        }
        drop(done);
        for (k, report) in arriving {
            waiting.insert(k, report);
            while let Some(report) = waiting.remove(&reports.len()) {
                tell_report(&report);
                reports.push(report);
            }
        }
    });
    reports
}

fn chosen(args: &Args) -> Result<Vec<Case>, Failure> {
    let all = cases();
    if args.which.is_empty() {
        return Ok(all.into_iter().filter(|case| args.all || args.list || case.effort == Effort::Quick).collect());
    }
    let named = |id: &String| {
        all.iter().find(|case| case.id.eq_ignore_ascii_case(id)).copied().ok_or_else(|| {
            let hint = esker::expression::closest(id, all.iter().map(|case| case.id));
            let hint = hint.map(|id| format!(" (did you mean `{id}`?)")).unwrap_or_default();
            format!("`{id}` is no known case{hint}; `esker verify --list` tells all").into()
        })
    };
    args.which.iter().map(named).collect()
}

fn verdict(holds: bool) -> &'static str {
    if holds { "holds" } else { "FAILS" }
}

/// A number as short as it tells what matters.
fn number(x: f64) -> String {
    if x == 0.0 || (1e-3..1e5).contains(&x.abs()) { format!("{x:.6}") } else { format!("{x:.5e}") }
}

fn tell_report(report: &Report) {
    let Report { case, findings, seconds } = report;
    say!("{:<6} {}: {} [{}, {seconds:.2} s]", case.id, verdict(report.holds()), case.title, case.evidence.name());
    say!("       {}", case.source);
    for check in &findings.checks {
        say!(
            "       {:<58} {:>14} for {:>14}, off by {:.1e} ({}){}",
            check.what,
            number(check.measured),
            number(check.expected),
            check.deviation(),
            check.allowed(),
            if check.holds() { "" } else { "  FAILS" }
        );
    }
    for table in &findings.tables {
        say!("       {}", table.title);
        let lines = || std::iter::once(&table.header).chain(&table.rows);
        let width = lines().flatten().map(|cell| cell.chars().count()).max().unwrap_or(0) + 2;
        for row in lines() {
            let cells: Vec<String> = row.iter().map(|cell| format!("{cell:<width$}")).collect();
            say!("         {}", cells.concat().trim_end());
        }
    }
    if !findings.reading.is_empty() {
        say!("       note: {}", findings.reading);
    }
}

/// The worst comparison of a case, by how much of its gate it uses.
fn worst(report: &Report) -> Option<&Check> {
    let used = |check: &Check| match check.gate {
        esker_verification::Gate::Relative(gate) | esker_verification::Gate::Absolute(gate) if gate > 0.0 => {
            check.deviation() / gate
        }
        esker_verification::Gate::AtMost if check.expected > 0.0 => check.measured / check.expected,
        _ => f64::from(u8::from(!check.holds())),
    };
    report.findings.checks.iter().max_by(|a, b| used(a).total_cmp(&used(b)))
}

fn markdown(reports: &[Report]) -> String {
    let mut text = format!(
        "# Verification of Esker {}\n\nWritten by `esker verify --all --markdown VERIFICATION.md`. Of each case the comparison is \
         shown that uses most of its gate; `esker verify ID` tells all of them.\n\n\
         | case | compared with | evidence | worst comparison | measured | expected | off by | gate | verdict |\n\
         |---|---|---|---|---|---|---|---|---|\n",
        env!("CARGO_PKG_VERSION")
    );
    for report in reports {
        let Report { case, findings, .. } = report;
        if let Some(check) = worst(report) {
            let _ = writeln!(
                text,
                "| {} | {}: {} | {} | {} ({} in all) | {} | {} | {:.1e} | {} | {} |",
                case.id,
                case.source,
                case.title,
                case.evidence.name(),
                check.what,
                findings.checks.len(),
                number(check.measured),
                number(check.expected),
                check.deviation(),
                check.allowed(),
                verdict(report.holds())
            );
        }
    }
    text += "\n## Readings\n\n";
    for Report { case, findings, .. } in reports.iter().filter(|r| !r.findings.reading.is_empty()) {
        let _ = writeln!(text, "- **{}**: {}.", case.id, findings.reading);
    }
    let tables = reports.iter().flat_map(|r| r.findings.tables.iter().map(|table| (r.case.id, table)));
    for (id, table) in tables {
        let cells = |cells: &[String]| cells.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>();
        let row = |of: &[String]| format!("| {} |\n", cells(of).join(" | "));
        let rows: String = table.rows.iter().map(|cells| row(cells)).collect();
        let line = "|---".repeat(table.header.len());
        let _ = write!(text, "\n## {id}: {}\n\n{}{line}|\n{rows}", table.title, row(&table.header));
    }
    text
}

fn html(reports: &[Report]) -> String {
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>Verification of Esker {0}</title><style>\
         body{{font-family:sans-serif;max-width:60rem;margin:auto;padding:1rem}}table{{border-collapse:collapse;width:100%}}\
         td,th{{border-bottom:1px solid #ccc;padding:.2rem .5rem;text-align:left}}.f{{color:#b00;font-weight:bold}}\
         svg{{max-width:100%;height:auto}}</style></head><body>\n<h1>Verification of Esker {0}</h1>\n",
        env!("CARGO_PKG_VERSION")
    );
    for report in reports {
        let Report { case, findings, seconds } = report;
        let class = if report.holds() { "" } else { " class=\"f\"" };
        let _ = writeln!(
            page,
            "<h2 id=\"{0}\">{0}: {1}</h2>\n<p><span{class}>{2}</span>; {3}; {4}; {seconds:.2} s. {5}</p>\n\
             <table><tr><th>what</th><th>measured</th><th>expected</th><th>off by</th><th>gate</th></tr>",
            escaped(case.id),
            escaped(case.title),
            verdict(report.holds()),
            case.evidence.name(),
            escaped(case.source),
            escaped(findings.reading)
        );
        for check in &findings.checks {
            let class = if check.holds() { "" } else { " class=\"f\"" };
            let _ = writeln!(
                page,
                "<tr{class}><td>{}</td><td>{}</td><td>{}</td><td>{:.1e}</td><td>{}</td></tr>",
                escaped(&check.what),
                number(check.measured),
                number(check.expected),
                check.deviation(),
                escaped(&check.allowed())
            );
        }
        page += "</table>\n";
        for table in &findings.tables {
            let row = |cells: &[String], tag: &str| {
                let cells = cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell)));
                format!("<tr>{}</tr>\n", cells.collect::<String>())
            };
            let rows: String = table.rows.iter().map(|cells| row(cells, "td")).collect();
            let head = row(&table.header, "th");
            let _ = writeln!(page, "<h3>{}</h3>\n<table>{head}{rows}</table>", escaped(&table.title));
        }
        findings.charts.iter().for_each(|chart| page += &chart.svg());
    }
    page + "</body></html>\n"
}
