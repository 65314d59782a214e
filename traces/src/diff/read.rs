//! Sums of a run read back: reports of `run` and the profile in a folder of traces.

use super::Side;
use crate::profile::{InstrSum, PipeSum, Profile};
use crate::statics::FUNCTION;
use indexmap::IndexMap;
use ptoemu_isa::a5::catalogue;
use serde::Deserialize;

/// The profile of a folder of traces.
pub fn profile(json: &str) -> Result<Side, String> {
    serde_json::from_str::<Profile>(json).map(Side::from).map_err(|e| e.to_string())
}

#[derive(Deserialize)]
struct Run {
    target: String,
    entry: String,
    cycles: u64,
    pipes: IndexMap<String, Pipe>,
    top: Vec<Instr>,
}

#[derive(Deserialize)]
struct Pipe {
    busy: u64,
    records: u64,
    stalls: IndexMap<String, u64>,
}

#[derive(Deserialize)]
struct Instr {
    name: String,
    dtype: String,
    pipe: String,
    count: u64,
    busy: u64,
    conflict: u64,
}

/// A report of `ptoemu run --json`, with one target.
pub fn report(json: &str) -> Result<Side, String> {
    let value: serde_json::Value = serde_json::from_str(json).map_err(|e| e.to_string())?;
    let value = match value {
        serde_json::Value::Array(all) => {
            let names: Vec<String> =
                all.iter().filter_map(|r| r["target"].as_str()).map(String::from).collect();
            match <[serde_json::Value; 1]>::try_from(all) {
                Ok([one]) => one,
                Err(_) => {
                    let names = names.join(", ");
                    return Err(format!("it holds several runs ({names}): write one target each"));
                }
            }
        }
        one => one,
    };
    let run: Run = serde_json::from_value(value)
        .map_err(|e| format!("no report of `ptoemu run --json`: {e}"))?;
    let pipes = run.pipes.into_iter().map(|(name, p)| {
        let sum = PipeSum { busy: p.busy, records: p.records, stalls: p.stalls };
        (lane(&name).to_string(), sum)
    });
    Ok(Side {
        name: format!("{} on {}", run.entry, run.target),
        cycles: run.cycles,
        pipes: pipes.collect(),
        held: Some(held(&run.top)),
        ..Side::default()
    })
}

/// Cycles by instruction; transfers of different widths are one.
fn held(top: &[Instr]) -> IndexMap<String, InstrSum> {
    let mut out: IndexMap<String, InstrSum> = IndexMap::new();
    for i in top {
        let sum = out.entry(spelt(i)).or_default();
        sum.count = sum.count.saturating_add(i.count);
        sum.busy = sum.busy.saturating_add(i.busy);
        sum.conflict = sum.conflict.saturating_add(i.conflict);
        sum.lane = lane(&i.pipe).to_string();
    }
    out
}

/// Lane of a pipe as reports name it.
fn lane(pipe: &str) -> &str {
    match pipe {
        "S" => "SCALAR",
        "V" => "VECTOR",
        "M" => "CUBE",
        "FIX" => "FIXP",
        other => other,
    }
}

/// The vendor's spelling, as traces have it.
fn spelt(i: &Instr) -> String {
    match i.pipe.as_str() {
        "MTE2" => "MOV_OUT_TO_UB".to_string(),
        "MTE3" => "MOV_UB_TO_OUT".to_string(),
        _ if function(&i.name) => FUNCTION.to_string(),
        _ => format!("{}.{}", i.name.to_ascii_uppercase(), i.dtype),
    }
}

/// Is it what reports call a vector function?
fn function(mnemonic: &str) -> bool {
    let catalogue = catalogue::catalogue();
    catalogue.get(catalogue::function()).is_some_and(|e| e.mnemonic == mnemonic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_report_is_refused() {
        for (text, part) in [
            ("{", "EOF"),
            ("{}", "missing field"),
            ("[]", "several runs ()"),
            ("[{\"target\": \"a2\"}, {\"target\": \"a3\"}]", "several runs (a2, a3)"),
            ("{\"target\": 1}", "invalid type"),
        ] {
            let error = report(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(profile("{}").is_err());
    }
}
