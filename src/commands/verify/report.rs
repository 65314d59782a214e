//! What `verify` reports.

mod show;

use super::VerifyArgs;
use super::sweep::{Found, Results, Sweep};
use crate::commands::run::Microcode;
use crate::study::files::word;
use ptoemu_core::dtype::DType;
use ptoemu_isa::tile::{Call, Family, TileOp};
use ptoemu_isa::verify::{Cause, Cell, Fault, Tail};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
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
    /// Types of the operation of which no use is made: they are not emulated.
    types_missing: Vec<&'static str>,
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

/// `a2a3` or `950`.
pub(super) fn family_name(f: Family) -> &'static str {
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
        operands: call.tiles().map(|(role, t)| format!("{role} {t}")).collect(),
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
    let met = |t: &DType| {
        let units = mine.iter().map(|u| &sweep.jobs[*u].unit);
        units.into_iter().any(|u| u.from == *t || u.to == *t)
    };
    let unmet = op.types(family).iter().filter(|t| sweep.types.is_empty() && !met(t));
    OpReport {
        family: name,
        op: op.name,
        types: mine.iter().map(|u| sweep.jobs[*u].unit.types()).collect(),
        types_missing: unmet.map(|t| t.name()).collect(),
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
