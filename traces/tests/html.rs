//! The html page: what it embeds equals the other formats, and it needs nothing from outside.

mod common;

use common::{Kernel, kernel, kernels, written};
use ptoemu_core::diag::SourceFile;
use ptoemu_core::time::Cause;
use ptoemu_traces::html::{self, Run};
use ptoemu_traces::{Filter, Lane, csvs, text};
use serde_json::Value;
use std::collections::BTreeMap;

fn page(k: &Kernel, filter: Filter) -> String {
    let traces = [k.trace().filtered(filter)];
    let run = Run { traces: &traces, tiles: &[&k.tiles], sources: &k.sources };
    written(|w| html::write(&[run], "ptoemu trace k.pto", w))
}

/// Data embedded in a page under an id.
fn data(page: &str, id: &str) -> Value {
    let open = format!("<script type=\"application/json\" id=\"{id}\">");
    let json = page.split(&open).nth(1).and_then(|t| t.split("</script>").next()).expect("data");
    serde_json::from_str(json).expect("JSON")
}

fn numbers(v: &Value) -> Vec<i64> {
    v.as_array().expect("array").iter().map(|n| n.as_i64().expect("number")).collect()
}

/// Cycles by lane as `instr_exe.csv` has them.
fn csv(k: &Kernel) -> BTreeMap<String, u64> {
    let text = written(|w| csvs::instructions(&k.trace(), w));
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let mut out = BTreeMap::new();
    for row in rows.records() {
        let row = row.expect("row");
        // Waits, sets and barriers hold no pipe.
        if !["BAR", "SET_FLAG", "WAIT_FLAG"].contains(&&row[0]) {
            *out.entry(row[2].to_string()).or_default() += row[4].parse::<u64>().expect("cycles");
        }
    }
    out
}

#[test]
fn sums_equal_those_of_the_other_formats() {
    for k in kernels() {
        let page = page(&k, Filter::default());
        let d = data(&page, "timeline-0");
        assert_eq!(d["cycles"], k.timeline.cycles);
        let csv = csv(&k);
        let report = written(|w| text::write(&k.trace(), w));
        for lane in d["lanes"].as_array().expect("lanes") {
            let name = lane["name"].as_str().expect("name");
            let busy = lane["busy"].as_u64().expect("busy");
            let (what, length) =
                (numbers(&lane["events"]["what"]), numbers(&lane["events"]["length"]));
            let work: i64 =
                what.iter().zip(&length).filter(|(w, _)| **w == 0).map(|(_, n)| n).sum();
            assert_eq!(work as u64, busy, "{} {name}: records", k.name);
            if name != "FLOWCTRL" {
                assert_eq!(csv.get(name).copied().unwrap_or(0), busy, "{} {name}: csv", k.name);
                let strip = lane["strip"].as_array().expect("strip");
                let all: u64 = strip.iter().map(|s| s[1].as_u64().expect("cycles")).sum();
                assert_eq!(all, k.timeline.cycles, "{} {name}: every cycle", k.name);
                by_state(&k, lane);
            }
        }
        let shown: usize = d["lanes"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|l| numbers(&l["events"]["record"]).len())
            .sum();
        assert_eq!(shown, k.stream.records.len());
        assert!(report.contains(&format!("Cycles        {} ", k.timeline.cycles)));
    }
}

/// The strip of a lane, summed by state, is the account of its pipe.
fn by_state(k: &Kernel, lane: &Value) {
    let mut sums = [0u64; Cause::ALL.len() + 1];
    for s in lane["strip"].as_array().into_iter().flatten() {
        sums[s[0].as_u64().expect("state") as usize] += s[1].as_u64().expect("cycles");
    }
    let pipes = ptoemu_core::stream::Pipe::ALL;
    let pipe = pipes.into_iter().find(|p| Lane::of(*p).name() == lane["name"]).expect("pipe");
    let totals = k.timeline.pipe(pipe);
    assert_eq!(sums[0], totals.busy, "{}", lane["name"]);
    for c in Cause::ALL {
        assert_eq!(sums[c as usize + 1], totals.stalled(c), "{} {}", lane["name"], c.name());
    }
}

#[test]
fn nothing_from_outside_and_the_same_bytes() {
    for k in kernels() {
        let page = page(&k, Filter::default());
        for part in ["http://", "https://", " src=", "@import", "url("] {
            assert!(!page.contains(part), "{}: {part}", k.name);
        }
        assert!(page == self::page(&k, Filter::default()));
        for line in k.sources[0].text.lines().filter(|l| l.contains("pto.t")) {
            assert!(page.contains(&ptoemu_traces::page::escape(line)), "{line}");
        }
    }
}

#[test]
fn links_lead_somewhere() {
    for k in kernels() {
        let page = page(&k, Filter::default());
        for to in page.split("href=\"#").skip(1).filter_map(|t| t.split('"').next()) {
            assert!(page.contains(&format!(" id=\"{to}\"")), "{}: #{to}", k.name);
        }
        let ids: Vec<&str> =
            page.split(" id=\"").skip(1).filter_map(|t| t.split('"').next()).collect();
        let unique: std::collections::BTreeSet<&&str> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len(), "{}", k.name);
    }
}

#[test]
fn the_map_shows_tiles_inside_the_buffer() {
    for k in kernels() {
        let d = data(&page(&k, Filter::default()), "ub-0");
        let size = d["size"].as_u64().expect("size");
        let names: Vec<&str> = d["tiles"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|t| t["name"].as_str())
            .collect();
        assert!(names.len() > 1, "{}: {names:?}", k.name);
        for t in d["touches"].as_array().expect("touches") {
            let [from, cycles, low, bytes] = [0, 1, 2, 3].map(|i| t[i].as_u64().expect("number"));
            assert!(low + bytes <= size && cycles > 0 && from + cycles <= k.timeline.cycles, "{t}");
        }
    }
}

/// Ten times more records than are drawn one by one.
fn long() -> Kernel {
    let text = "\
        !t = !pto.tile_buf<vec, 8x64xf32>\n\
        func.func @long() {\n\
        %c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n\
        %n = arith.constant 25000 : index\n\
        %a = pto.alloc_tile : !t\n%b = pto.alloc_tile : !t\n\
        scf.for %i = %c0 to %n step %c1 {\n\
        pto.tadd ins(%a, %a : !t, !t) outs(%b : !t)\n\
        pto.tmul ins(%b, %b : !t, !t) outs(%a : !t)\n}\nreturn\n}\n";
    kernel("long", SourceFile::new("long.pto", text), &[])
}

/// A program may have as many instructions as it has records: a page names only those it draws.
#[test]
fn long_texts_do_not_make_long_timelines() {
    let mut text = String::from(
        "!t = !pto.tile_buf<vec, 8x64xf32>\nfunc.func @flat() {\n%a = pto.alloc_tile : !t\n",
    );
    text.push_str(&"pto.tadd ins(%a, %a : !t, !t) outs(%a : !t)\n".repeat(21_000));
    text.push_str("return\n}\n");
    let k = kernel("flat", SourceFile::new("flat.pto", text), &[]);
    assert!(k.stream.records.len() > 40_000 && k.trace().statics.items().len() > 40_000);
    let d = data(&page(&k, Filter::default()), "timeline-0");
    let names = d["names"].as_array().expect("names");
    assert!((100..10_000).contains(&names.len()), "{}", names.len());
    let named = d["lanes"].as_array().into_iter().flatten();
    let named = named.flat_map(|l| l["buckets"].as_array().cloned().unwrap_or_default());
    for b in named.filter(|b| b[2].as_u64() > Some(0)) {
        let name = &names[b[3].as_u64().expect("number") as usize]["name"];
        assert!(name.is_string(), "{b}");
    }
}

#[test]
fn long_runs_are_drawn_in_buckets() {
    let k = long();
    assert!(k.stream.records.len() > 80_000, "{}", k.stream.records.len());
    let page = page(&k, Filter::default());
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(page.contains("too many to draw one by one"));
    let d = data(&page, "timeline-0");
    let bucket = d["bucket"].as_u64().expect("bucket");
    assert!(bucket > 1);
    for lane in d["lanes"].as_array().expect("lanes") {
        let buckets = lane["buckets"].as_array().expect("buckets");
        let busy: u64 = buckets.iter().map(|b| b[0].as_u64().expect("cycles")).sum();
        assert_eq!(busy, lane["busy"].as_u64().expect("busy"), "{}", lane["name"]);
    }
    let records: u64 = d["lanes"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|l| l["buckets"].as_array().cloned().unwrap_or_default())
        .map(|b| b[2].as_u64().expect("records"))
        .sum();
    assert_eq!(records, k.stream.records.len() as u64);
    let part = self::page(&k, Filter { window: Some(1000..2000), op: None });
    assert_eq!(data(&part, "timeline-0")["bucket"], 0);
}
