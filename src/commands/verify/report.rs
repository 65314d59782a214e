//! What `verify` prints and writes: a table, JSON, JUnit.

use super::sweep::{Found, Results, Sweep};
use super::{VerifyArgs, print_line};
use crate::commands::output::table;
use crate::commands::run::Microcode;
use crate::study::files::word;
use ptoemu_isa::tile::{Call, Family, Layout, Tile, TileOp};
use ptoemu_isa::verify::{Cause, Cell, Fault, Tail};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::Path;

/// The whole report.
#[derive(Serialize)]
pub(super) struct Report {
    microcode: String,
    seed: u64,
    cases_per_unit: u64,
    /// Uses executed and compared.
    cases: u64,
    /// Uses that differ in more than their data.
    distinct: u64,
    #[serde(skip)]
    seconds: f64,
    /// The time limit ended the run early.
    cut_short: bool,
    ops: Vec<OpReport>,
    coverage: Vec<CoverReport>,
    pub findings: Vec<Finding>,
}

#[derive(Serialize)]
struct OpReport {
    family: &'static str,
    op: &'static str,
    types: Vec<String>,
    cases: u64,
    distinct: u64,
    refused: u64,
    paths: usize,
    tails: Vec<&'static str>,
    tails_missing: Vec<&'static str>,
    findings: usize,
}

#[derive(Serialize)]
struct CoverReport {
    family: &'static str,
    op: &'static str,
    types: String,
    path: String,
    mask: String,
    /// Uses by class of the valid columns; a class that is missing was not exercised.
    tails: BTreeMap<&'static str, u64>,
}

/// One finding.
#[derive(Serialize)]
pub(super) struct Finding {
    /// Folder it is written to.
    pub name: String,
    family: &'static str,
    op: &'static str,
    /// Element types it was met with.
    types: Vec<String>,
    /// The quirk it comes from.
    pub quirk: Option<QuirkReport>,
    /// Checks that found it, the one it was shrunk by first.
    faults: Vec<FaultReport>,
    /// Uses with this cause.
    count: u64,
    /// The smallest use found.
    operands: Vec<String>,
    settings: Vec<String>,
    /// Command that shows it again where `verify` ran.
    pub replay: String,
}

#[derive(Serialize)]
pub(super) struct QuirkReport {
    pub name: &'static str,
    pub about: &'static str,
    pub repair: &'static str,
}

#[derive(Serialize)]
struct FaultReport {
    code: &'static str,
    level: &'static str,
    message: String,
    /// First byte of UB concerned, and one past the last.
    bytes: Option<(u64, u64)>,
    /// Line of a microcode file.
    line: Option<usize>,
    help: Option<String>,
}

impl Finding {
    /// One line.
    pub fn title(&self) -> String {
        let cause = self.quirk.as_ref().map_or("", |q| q.name);
        let gap = if cause.is_empty() { "" } else { " " };
        format!("{cause}{gap}{} on {}: {}", self.op, self.family, self.operands.join(", "))
    }
}

/// `8x16 f32 row-major, valid 4x1, at 0x40`.
fn operand(role: &str, t: &Tile) -> String {
    let mut out = format!("{role} {}x{} {}", t.rows, t.cols, t.dtype);
    if t.layout == Layout::ColMajor {
        out.push_str(" col_major");
    }
    if (t.valid_rows, t.valid_cols) != (t.rows, t.cols) {
        let _ = write!(out, " valid {}x{}", t.valid_rows, t.valid_cols);
    }
    if !t.static_rows || !t.static_cols {
        out.push_str(" dynamic");
    }
    let _ = write!(out, " at {:#x}", t.addr);
    out
}

/// What of a call is no operand.
fn settings(call: &Call) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(s) = call.scalar {
        out.push(format!("scalar {:#x}:{}", s.bits, s.dtype));
    }
    if call.attrs.reversed {
        out.push("scalar first".into());
    }
    if call.attrs.binary {
        out.push("isBinary".into());
    }
    if let Some(r) = call.attrs.round {
        out.push(format!("round {r:?}"));
    }
    if let Some(s) = call.attrs.sat {
        out.push(format!("saturate {s:?}"));
    }
    if call.operand_order == ptoemu_isa::tile::OperandOrder::Vendor {
        out.push("operand order vendor".into());
    }
    out
}

fn family_name(f: Family) -> &'static str {
    match f {
        Family::A2A3 => "a2a3",
        Family::A5 => "950",
    }
}

impl Report {
    pub fn new(
        args: &VerifyArgs,
        families: &[(Family, String)],
        ops: &[&'static TileOp],
        sweep: &Sweep,
        results: &Results,
        found: &[Found],
    ) -> Report {
        let microcode = match &args.microcode {
            Microcode::Corrected => "corrected".to_string(),
            Microcode::Vendor => "vendor".to_string(),
            Microcode::File(p) => p.display().to_string(),
        };
        let target = |f: Family| {
            families.iter().find(|(g, _)| *g == f).map_or("a3", |(_, name)| name.as_str())
        };
        // Without -o nothing is written yet.
        let dir = args.out.as_deref().unwrap_or(Path::new("DIR"));
        let findings: Vec<Finding> = found
            .iter()
            .map(|f| finding(f, sweep, (dir, &microcode, target(f.catch.unit.family))))
            .collect();
        let mut all = Vec::new();
        for (family, _) in families {
            // What has no microcode on a family is no part of its report.
            for op in ops.iter().filter(|op| !op.types(*family).is_empty()) {
                all.push(op_report(*family, op, sweep, results, &findings));
            }
        }
        Report {
            microcode,
            seed: args.seed,
            cases_per_unit: args.cases,
            cases: results.tallies.iter().map(|t| t.cases).sum(),
            distinct: results.distinct.iter().sum(),
            seconds: (results.seconds * 10.0).round() / 10.0,
            cut_short: results.left > 0,
            ops: all,
            coverage: coverage(sweep, results),
            findings,
        }
    }

    /// The screen.
    pub fn screen(&self) {
        let rows: Vec<Vec<String>> = self
            .ops
            .iter()
            .map(|o| {
                let missing = match o.tails_missing.len() {
                    0 => String::new(),
                    _ if o.cases == 0 => "not verified: no legal use was found".into(),
                    _ => format!("not exercised: {}", o.tails_missing.join(", ")),
                };
                vec![
                    o.op.to_string(),
                    o.family.to_string(),
                    o.types.len().to_string(),
                    o.cases.to_string(),
                    o.refused.to_string(),
                    o.paths.to_string(),
                    format!("{}/{}", o.tails.len(), Tail::ALL.len()),
                    o.findings.to_string(),
                    missing,
                ]
            })
            .collect();
        let head =
            ["operation", "family", "types", "uses", "illegal", "paths", "tails", "findings", ""];
        print_line(&table(&head, &rows));
        if self.ops.len() == 1 {
            print_line("");
            print_line(&self.grid());
        }
        for f in &self.findings {
            print_line("");
            print_line(&f.show());
        }
        print_line("");
        let cut = if self.cut_short { ", cut short by --time" } else { "" };
        print_line(&format!(
            "microcode {}, seed {}: {} uses, {} different, {} findings{cut}",
            self.microcode,
            self.seed,
            self.cases,
            self.distinct,
            self.findings.len()
        ));
        if std::io::stderr().is_terminal() {
            let rate = self.cases as f64 / self.seconds.max(0.1);
            super::say(&format!("{:.1} s, {rate:.0} uses a second", self.seconds));
        }
    }

    /// Paths and masks against the classes of the columns.
    fn grid(&self) -> String {
        let mut head = vec!["type", "path", "mask"];
        head.extend(Tail::ALL.map(Tail::name));
        let rows: Vec<Vec<String>> = self
            .coverage
            .iter()
            .map(|c| {
                let counts = Tail::ALL
                    .map(|t| c.tails.get(t.name()).map_or("-".to_string(), u64::to_string));
                let names: Vec<&str> = c.path.split(' ').collect();
                let path = match names.len() {
                    0..=6 => c.path.clone(),
                    n => format!("{} ... {} more", names[..5].join(" "), n - 5),
                };
                [c.types.clone(), path, c.mask.clone()].into_iter().chain(counts).collect()
            })
            .collect();
        table(&head, &rows)
    }

    /// A test case per operation and family.
    pub fn junit(&self) -> String {
        let failed = self.ops.iter().filter(|o| o.findings > 0).count();
        let mut out = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"ptoemu verify {}\" \
             tests=\"{}\" failures=\"{failed}\" errors=\"0\" skipped=\"0\">\n",
            escape(&self.microcode),
            self.ops.len()
        );
        for o in &self.ops {
            let _ = write!(out, "  <testcase classname=\"{}\" name=\"{}\"", o.family, o.op);
            let of = |f: &&Finding| f.op == o.op && f.family == o.family;
            if o.findings == 0 {
                out.push_str("/>\n");
                continue;
            }
            out.push_str(">\n");
            for f in self.findings.iter().filter(of) {
                let first = f.faults.first().map_or("", |x| x.message.as_str());
                let _ = writeln!(
                    out,
                    "    <failure message=\"{}\">{}</failure>",
                    escape(first),
                    escape(&f.show())
                );
            }
            out.push_str("  </testcase>\n");
        }
        out.push_str("</testsuite>\n");
        out
    }
}

impl Finding {
    /// A few lines.
    fn show(&self) -> String {
        let mut out = format!("{}\n", self.title());
        for f in &self.faults {
            let line = f.line.map_or(String::new(), |l| format!(" (line {l})"));
            let _ = writeln!(out, "  {}{line}: {}", f.code, f.message);
            if let Some(help) = &f.help {
                let _ = writeln!(out, "    help: {help}");
            }
        }
        if !self.settings.is_empty() {
            let _ = writeln!(out, "  with {}", self.settings.join(", "));
        }
        if let Some(q) = &self.quirk {
            let _ = writeln!(out, "  {}: {}", q.name, q.about);
            let _ = writeln!(out, "  repair: {}", q.repair);
        }
        let types = self.types.join(" ");
        let _ = write!(out, "  met {} times, types {types}; replay: {}", self.count, self.replay);
        out
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn finding(f: &Found, sweep: &Sweep, (dir, microcode, target): (&Path, &str, &str)) -> Finding {
    let unit = &f.catch.unit;
    let call = f.catch.spec.call(unit, sweep.quirks);
    let family = family_name(unit.family);
    let name = format!("{family}_{}_{}", unit.op.name, f.cause.to_string().replace('.', "_"));
    let warns = f.catch.faults.iter().all(|f| f.level < ptoemu_core::diag::Level::Error);
    let deny = if warns { " --deny warnings" } else { "" };
    let order = match call.operand_order {
        ptoemu_isa::tile::OperandOrder::Vendor => " --operand-order vendor",
        ptoemu_isa::tile::OperandOrder::Seed => "",
    };
    let variant = match microcode {
        "corrected" => String::new(),
        other => format!(" --microcode {}", word(other)),
    };
    let folder = word(&dir.join(&name).display().to_string());
    Finding {
        replay: format!("ptoemu run {folder} -v {target}{variant}{order}{deny}"),
        name,
        family,
        op: unit.op.name,
        types: f.types.clone(),
        quirk: match f.cause {
            Cause::Quirk(q) => {
                Some(QuirkReport { name: q.name(), about: q.about(), repair: q.repair() })
            }
            Cause::Check(_) => None,
        },
        faults: f.catch.faults.iter().map(fault).collect(),
        count: f.catch.count,
        operands: call.tiles().map(|(role, t)| operand(role, t)).collect(),
        settings: settings(&call),
    }
}

fn fault(f: &Fault) -> FaultReport {
    let bytes = (f.bytes.1 > f.bytes.0).then_some(f.bytes);
    FaultReport {
        code: f.code,
        level: f.level.name(),
        message: f.message.clone(),
        bytes,
        line: f.line,
        help: f.help.clone(),
    }
}

fn op_report(
    family: Family,
    op: &TileOp,
    sweep: &Sweep,
    results: &Results,
    findings: &[Finding],
) -> OpReport {
    let mine: Vec<usize> = (0..sweep.jobs.len())
        .filter(|u| sweep.jobs[*u].unit.family == family && sweep.jobs[*u].unit.op.name == op.name)
        .collect();
    let sum = |f: &dyn Fn(usize) -> u64| mine.iter().map(|u| f(*u)).sum();
    let cells = || mine.iter().flat_map(|u| results.tallies[*u].cells.keys());
    let paths: BTreeSet<(&str, &str)> =
        cells().map(|c| (c.path.as_str(), c.mask.as_str())).collect();
    let seen: BTreeSet<Tail> = cells().map(|c| c.tail).collect();
    let name = family_name(family);
    OpReport {
        family: name,
        op: op.name,
        types: mine.iter().map(|u| sweep.jobs[*u].unit.types()).collect(),
        cases: sum(&|u| results.tallies[u].cases),
        distinct: sum(&|u| results.distinct[u]),
        refused: sum(&|u| results.tallies[u].refused),
        paths: paths.len(),
        tails: seen.iter().map(|t| t.name()).collect(),
        tails_missing: Tail::ALL.iter().filter(|t| !seen.contains(t)).map(|t| t.name()).collect(),
        findings: findings.iter().filter(|f| f.op == op.name && f.family == name).count(),
    }
}

fn coverage(sweep: &Sweep, results: &Results) -> Vec<CoverReport> {
    let mut out = Vec::new();
    for (job, tally) in sweep.jobs.iter().zip(&results.tallies) {
        let unit = &job.unit;
        let mut rows: BTreeMap<(&str, &str), BTreeMap<&'static str, u64>> = BTreeMap::new();
        for (Cell { path, mask, tail }, n) in &tally.cells {
            *rows.entry((path, mask)).or_default().entry(tail.name()).or_default() += n;
        }
        out.extend(rows.into_iter().map(|((path, mask), tails)| CoverReport {
            family: family_name(unit.family),
            op: unit.op.name,
            types: unit.types(),
            path: path.to_string(),
            mask: mask.to_string(),
            tails,
        }));
    }
    out
}
