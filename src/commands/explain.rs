//! `ptoemu explain`.

use super::output::{short, table};
use super::places::Places;
use super::{TargetArgs, print, tile_op, write_json};
use crate::session::Refusal;
use clap::Args;
use ptoemu_core::dtype::DType;
use ptoemu_core::stream::OpId;
use ptoemu_core::target::Target;
use ptoemu_isa::case::{Case, Placement};
use ptoemu_isa::table::{Explanation, Op, explain as explain_op};
use ptoemu_isa::tile::{self, Family, TileOp, Tmp};
use ptoemu_isa::verify::Unit;
use serde::Serialize;
use std::path::PathBuf;

/// Arguments of `explain`.
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// Instruction or tile operation, for example vcmax, vcmax.f32 or trowmax; all if left out.
    name: Option<String>,
    #[command(flatten)]
    target: TargetArgs,
    /// Write the answer as JSON (`-` for stdout).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Serialize)]
struct InstrReport {
    #[serde(flatten)]
    what: Explanation,
    target: String,
    costs: Vec<CostReport>,
}

#[derive(Serialize)]
struct CostReport {
    dtype: &'static str,
    field: &'static str,
    value: f64,
    unit: &'static str,
    conf: &'static str,
    src: String,
    path: String,
}

#[derive(Serialize)]
struct TileReport {
    name: &'static str,
    meaning: &'static str,
    sources: u8,
    tmp: String,
    scalar: bool,
    types_a2a3: Vec<&'static str>,
    types_a5: Vec<&'static str>,
}

/// Explains one name, or lists all.
pub fn explain(args: &ExplainArgs) -> Result<u8, Refusal> {
    let places = Places::default().target(&args.target);
    places.writes("--json", &args.json).check_writable()?;
    let Some(name) = &args.name else { return list(&args.json) };
    let (base, dtype) = match name.rsplit_once('.') {
        Some((b, t)) if t.parse::<DType>().is_ok() => (b, t.parse::<DType>().ok()),
        _ => (name.as_str(), None),
    };
    let base = base.trim_start_matches("pto.").to_ascii_lowercase();
    if let Some(op) = tile::find(&base) {
        return explain_tile(op, args);
    }
    let target = args.target.one()?;
    let micro = ptoemu_isa::a5::Op::find(&base);
    if let Some(op) = micro.filter(|_| target.family == Family::A5 || Op::find(&base).is_none()) {
        return explain_micro(op, dtype, args);
    }
    let Some(op) = Op::find(&base) else {
        if tile::unbuilt_because(&base).is_some() {
            tile_op(&base)?;
        }
        let message = anyhow::anyhow!(
            "no instruction and no tile operation `{name}`; `ptoemu explain` lists all"
        );
        return Err(message.into());
    };
    let report = InstrReport {
        what: explain_op(op),
        target: target.name.clone(),
        costs: costs(&target, op.id(), dtype),
    };
    write_json(&args.json, &report)?;
    if args.json.is_none() {
        print_instr(&report);
    }
    Ok(0)
}

#[derive(Serialize)]
struct MicroReport {
    name: &'static str,
    meaning: &'static str,
    operands: Vec<String>,
    results: Vec<String>,
    dtypes: Vec<&'static str>,
    established: String,
    target: String,
    costs: Vec<CostReport>,
}

/// A micro-op of the 950, with the figures of the target asked for, or of 950PR.
fn explain_micro(
    op: ptoemu_isa::a5::Op,
    dtype: Option<DType>,
    args: &ExplainArgs,
) -> Result<u8, Refusal> {
    let asked = args.target.one()?;
    let target = match asked.family {
        Family::A5 => asked,
        Family::A2A3 => crate::targets::find("950pr")?,
    };
    let (row, kinds) = (op.row(), |k: &[ptoemu_isa::a5::Kind]| {
        k.iter().map(|k| format!("{k:?}").to_lowercase()).collect::<Vec<_>>()
    });
    let report = MicroReport {
        name: op.mnemonic(),
        meaning: row.doc,
        operands: kinds(op.form().operands()),
        results: kinds(op.form().results()),
        dtypes: row.types.iter().map(|t| t.name()).collect(),
        established: format!("{:?}", row.claim),
        target: target.name.clone(),
        costs: costs(&target, op.id(), dtype),
    };
    write_json(&args.json, &report)?;
    if args.json.is_none() {
        print(report.meaning);
        let (from, to) = (report.operands.join(", "), report.results.join(", "));
        print(&format!("\n  pto.{} {from} -> {to}    (inside pto.vecscope)\n", report.name));
        print(
            "(v vector, m predicate, a align register, s scalar, sv scalar or vector, i integer, p UB pointer)",
        );
        if !report.dtypes.is_empty() {
            print(&format!("types       {}", report.dtypes.join(" ")));
        }
        print(&format!("established {}", report.established));
        print_costs(&report.costs, &report.target);
    }
    Ok(0)
}

fn costs(target: &Target, op: OpId, only: Option<DType>) -> Vec<CostReport> {
    let catalogue = target.catalogue().clone();
    let Some(entry) = catalogue.get(op) else { return Vec::new() };
    let fields = ptoemu_core::target::schema::cost_fields(target.family);
    let mut out = Vec::new();
    for &t in entry.dtypes.iter().filter(|t| only.is_none_or(|o| o == **t)) {
        for f in fields.clone() {
            if let Some((path, figure)) = target.cost(entry, t, f.path) {
                out.push(CostReport {
                    dtype: t.name(),
                    field: f.path,
                    value: figure.value,
                    unit: figure.unit,
                    conf: figure.conf.name(),
                    src: figure.src.clone(),
                    path,
                });
            }
        }
    }
    out
}

fn print_instr(r: &InstrReport) {
    let e = &r.what;
    print(e.meaning);
    print(&format!("\n  {}\n", e.form));
    print(&format!("pipe        {}", e.pipe));
    if !e.dtypes.is_empty() {
        print(&format!("types       {}", e.dtypes.join(" ")));
    }
    print(&format!("established {:?}", e.claim));
    for (i, rule) in e.rules.iter().enumerate() {
        print(&format!("{} {rule}", if i == 0 { "legality   " } else { "           " }));
    }
    print_costs(&r.costs, &r.target);
}

fn print_costs(costs: &[CostReport], target: &str) {
    if !costs.is_empty() {
        let rows: Vec<Vec<String>> = costs
            .iter()
            .map(|c| {
                vec![
                    c.dtype.to_string(),
                    c.field.to_string(),
                    short(c.value),
                    c.unit.to_string(),
                    c.conf.to_string(),
                    c.src.clone(),
                ]
            })
            .collect();
        print(&format!("\nfigures on {}", target));
        print(&table(&["type", "figure", "value", "unit", "confidence", "source"], &rows));
    }
}

/// Element types of the sources that are accepted; of the destination where there are none.
fn types(op: &'static TileOp, family: Family) -> Vec<&'static str> {
    Unit::sources(family, op).iter().map(|t| t.name()).collect()
}

/// Where an optional scratch tile may not be left out.
fn needed(op: &'static TileOp) -> String {
    if op.sig.tmp != Tmp::Optional {
        return String::new();
    }
    let on = |t: &DType| {
        let call = Case::new(op, *t, 16, 64).call(Placement::Packed { align: 512 });
        call.least_tmp().is_some()
    };
    let all = Unit::sources(Family::A2A3, op);
    let some: Vec<&str> = all.iter().filter(|t| on(t)).map(|t| t.name()).collect();
    match some.len() {
        0 => String::new(),
        n if n == all.len() => ", on A2/A3 required".into(),
        _ => format!(", on A2/A3 required for {}", some.join(" ")),
    }
}

fn explain_tile(op: &'static TileOp, args: &ExplainArgs) -> Result<u8, Refusal> {
    let report = TileReport {
        name: op.name,
        meaning: op.doc,
        sources: op.sig.srcs,
        tmp: format!("{:?}", op.sig.tmp).to_lowercase(),
        scalar: op.sig.scalar,
        types_a2a3: types(op, Family::A2A3),
        types_a5: types(op, Family::A5),
    };
    write_json(&args.json, &report)?;
    if args.json.is_none() {
        print(report.meaning);
        print(&format!("\n  {}\n", op.form()));
        print(&format!("scratch tile  {}{}", report.tmp, needed(op)));
        print(&format!("scalar        {}", if report.scalar { "yes" } else { "no" }));
        let list = |types: &[&str]| match types {
            [] => "not emulated".to_string(),
            types => types.join(" "),
        };
        print(&format!("A2/A3 types   {}", list(&report.types_a2a3)));
        print(&format!("950 types     {}", list(&report.types_a5)));
        let (t, target, family) = match report.types_a2a3.first() {
            Some(t) => (*t, "", Family::A2A3),
            None => (*report.types_a5.first().unwrap_or(&"f32"), " -v 950pr", Family::A5),
        };
        let name = op.name;
        let converts = name == "tcvt" || name.ends_with("reluconv");
        let unit = Unit::all(family, op).into_iter().find(|u| converts && u.from.name() == t);
        let to = unit.map_or(String::new(), |u| format!(" --to {}", u.to.name()));
        print(&format!("\n`ptoemu op {name} {t} 64x64{to}{target} --list` shows its microcode"));
    }
    Ok(0)
}

/// Everything that can be explained.
#[derive(Serialize)]
struct ListReport {
    tile_ops: Vec<TileEntry>,
    not_built: Vec<Entry>,
    instructions: Vec<Entry>,
    micro_ops: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    name: &'static str,
    meaning: &'static str,
}

/// A tile operation and where it is built; no element type, not there.
#[derive(Serialize)]
struct TileEntry {
    name: &'static str,
    meaning: &'static str,
    types_a2a3: Vec<&'static str>,
    types_a5: Vec<&'static str>,
}

impl TileEntry {
    fn of(op: &'static TileOp) -> TileEntry {
        TileEntry {
            name: op.name,
            meaning: op.doc,
            types_a2a3: types(op, Family::A2A3),
            types_a5: types(op, Family::A5),
        }
    }

    fn row(&self) -> Vec<String> {
        let built = |types: &[&str]| if types.is_empty() { "-" } else { "yes" }.to_string();
        let (a, b) = (built(&self.types_a2a3), built(&self.types_a5));
        vec![self.name.to_string(), a, b, self.meaning.to_string()]
    }
}

fn list(json: &Option<PathBuf>) -> Result<u8, Refusal> {
    let report = ListReport {
        tile_ops: tile::OPS.iter().map(TileEntry::of).collect(),
        not_built: tile::UNBUILT.iter().map(|u| Entry { name: u.name, meaning: u.why }).collect(),
        instructions: Op::ALL
            .iter()
            .map(|o| Entry { name: o.mnemonic(), meaning: o.row().doc })
            .collect(),
        micro_ops: ptoemu_isa::a5::Op::ALL
            .iter()
            .map(|o| Entry { name: o.mnemonic(), meaning: o.row().doc })
            .collect(),
    };
    write_json(json, &report)?;
    if json.is_some() {
        return Ok(0);
    }
    let rows = |list: &[Entry]| -> Vec<Vec<String>> {
        list.iter().map(|e| vec![e.name.to_string(), e.meaning.to_string()]).collect()
    };
    let ops: Vec<_> = report.tile_ops.iter().map(TileEntry::row).collect();
    print(&table(&["tile operation", "A2/A3", "950", "meaning"], &ops));
    print("");
    print(&table(&["not built", "because it"], &rows(&report.not_built)));
    print("");
    print(&table(&["instruction", "meaning"], &rows(&report.instructions)));
    print("");
    print(&table(&["micro-op of the 950", "meaning"], &rows(&report.micro_ops)));
    Ok(0)
}
