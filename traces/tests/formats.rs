//! Every format of real kernels, read back by readers written from the description of the format.

mod common;

use common::{Kernel, both_families, written};
use ptoemu_core::stream::{Kind, Pipe};
use ptoemu_core::target::Family;
use ptoemu_core::time::Cause;
use ptoemu_traces::camodel::{self, Dump};
use ptoemu_traces::{Trace, What, critical_path, csvs, insight, kanata, text};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Slices of one lane: first and last picosecond.
type Spans = BTreeMap<(String, String), Vec<(u64, u64)>>;

fn picoseconds(v: &Value) -> u64 {
    (v.as_f64().expect("a number") * 1e6).round() as u64
}

/// Reads a trace.json and asserts everything its viewers rely on; slices by lane.
fn read_json(text: &str, version: u64) -> (Vec<Value>, Spans) {
    let head = text.split('[').next().expect("text");
    assert!(head.contains("\"profilingType\":\"op\""), "viewers look before the first bracket");
    let json: Value = serde_json::from_str(text).expect("JSON");
    let keys: Vec<&String> = json.as_object().expect("object").keys().collect();
    assert_eq!(keys, ["displayTimeUnit", "profilingType", "schemaVersion", "traceEvents"]);
    assert_eq!(json["schemaVersion"], version);
    let events = json["traceEvents"].as_array().expect("array").clone();
    let (mut spans, mut open) = (Spans::new(), HashMap::new());
    for e in &events {
        let lane = (e["pid"].to_string(), e["tid"].to_string());
        assert!(e["name"].is_string() && e.get("pid").is_some() && e.get("tid").is_some(), "{e}");
        match e["ph"].as_str().expect("phase") {
            "X" => {
                let from = picoseconds(&e["ts"]);
                spans.entry(lane).or_default().push((from, from + picoseconds(&e["dur"])));
                let args = e["args"].as_object().expect("arguments");
                assert!(args.values().all(Value::is_string), "{e}");
            }
            "B" => {
                let old = open.insert(e["id"].to_string(), picoseconds(&e["ts"]));
                assert!(old.is_none(), "{e}");
                assert!(["SET_FLAG", "WAIT_FLAG"].contains(&e["name"].as_str().expect("name")));
            }
            "E" => {
                let from = open.remove(&e["id"].to_string()).expect("a B before its E");
                spans.entry(lane).or_default().push((from, picoseconds(&e["ts"])));
            }
            "C" => {
                assert!(picoseconds(&e["ts"]) > 0, "{e}");
                assert!(e["args"].as_object().expect("args").values().all(Value::is_number));
            }
            "s" | "t" | "M" => {}
            other => panic!("viewers drop phase {other}"),
        }
    }
    assert!(open.is_empty(), "{open:?}");
    (events, spans)
}

/// No two slices of a lane share a picosecond.
fn no_overlap(spans: &Spans) {
    for (lane, list) in spans {
        let mut list = list.clone();
        list.sort_unstable();
        for w in list.windows(2) {
            assert!(w[0].1 <= w[1].0, "{lane:?}: {w:?}");
        }
    }
}

fn number(e: &Value, key: &str) -> u64 {
    e["args"][key].as_str().expect("string").parse().expect("number")
}

#[test]
fn json_of_all_cores() {
    for k in both_families() {
        let t = k.trace();
        let text = written(|w| insight::write_all(&[k.trace()], w));
        let (events, spans) = read_json(&text, 2);
        no_overlap(&spans);
        let mut busy: BTreeMap<&str, u64> = BTreeMap::new();
        for e in events.iter().filter(|e| e["ph"] == "X" && e["name"] != "BAR") {
            let lane = e["tid"].as_str().expect("string");
            *busy.entry(lane).or_default() += number(e, "cycle_end") - number(e, "cycle_start");
        }
        for (lane, pipe) in
            [("VECTOR", Pipe::V), ("MTE2", Pipe::Mte2), ("MTE3", Pipe::Mte3), ("SCALAR", Pipe::S)]
        {
            let shown = busy.get(lane).copied().unwrap_or(0);
            assert_eq!(shown, t.timeline.pipe(pipe).busy, "{} {lane}", k.name);
        }
        flows(&k, &events);
    }
}

/// Every wait has an arrow from its set, which starts no later than it ends.
fn flows(k: &Kernel, events: &[Value]) {
    let flow = |phase: &str| -> HashMap<String, u64> {
        let of = events.iter().filter(|e| e["ph"] == phase);
        of.map(|e| (format!("{}{}", e["cat"], e["id"]), picoseconds(&e["ts"]))).collect()
    };
    let (starts, ends) = (flow("s"), flow("t"));
    let waits = k.stream.records.iter().filter(|r| r.kind == Kind::WaitFlag).count();
    assert!(waits > 0 && starts.len() == waits && ends.len() == waits, "{}", k.name);
    for (key, from) in starts {
        assert!(from <= ends[&key], "{key}");
    }
}

#[test]
fn json_of_one_core() {
    for k in both_families() {
        let text = written(|w| insight::write_core(&k.trace(), w));
        let (events, spans) = read_json(&text, 1);
        no_overlap(&spans);
        let shown = events.iter().filter(|e| matches!(e["ph"].as_str(), Some("X" | "B"))).count();
        assert_eq!(shown, k.stream.records.len() + k.inside());
        let named: HashSet<String> = events
            .iter()
            .filter(|e| e["name"] == "thread_name")
            .map(|e| format!("{} {}", e["pid"], e["tid"]))
            .collect();
        for (pid, tid) in spans.keys() {
            assert!(pid.parse::<u64>().is_ok(), "numbers in this file");
            assert!(named.contains(&format!("{pid} {tid}")), "lane {pid} {tid} has a name");
        }
    }
}

fn rows(text: &str) -> (Vec<String>, Vec<HashMap<String, String>>) {
    let mut csv = csv::Reader::from_reader(text.as_bytes());
    let head: Vec<String> = csv.headers().expect("header").iter().map(String::from).collect();
    let rows = csv.records().map(|r| {
        let r = r.expect("row");
        head.iter().cloned().zip(r.iter().map(String::from)).collect()
    });
    (head.clone(), rows.collect())
}

#[test]
fn tables_add_up_to_the_timeline() {
    for k in both_families() {
        let t = k.trace();
        let (head, list) = rows(&written(|w| csvs::instructions(&t, w)));
        assert_eq!(head.join(","), "instr,addr,pipe,call_count,cycles,running_time(us),detail");
        let get = |r: &HashMap<String, String>, c: &str| r[c].parse::<u64>().expect("number");
        let control = ["BAR", "SET_FLAG", "WAIT_FLAG"];
        for (lane, pipe) in [("VECTOR", Pipe::V), ("MTE2", Pipe::Mte2), ("MTE3", Pipe::Mte3)] {
            let work = |r: &&HashMap<String, String>| {
                r["pipe"] == lane && !control.contains(&r["instr"].as_str())
            };
            let sum: u64 = list.iter().filter(work).map(|r| get(r, "cycles")).sum();
            assert_eq!(sum, t.timeline.pipe(pipe).busy, "{} {lane}", k.name);
        }
        let calls: u64 = list.iter().map(|r| get(r, "call_count")).sum();
        assert_eq!(calls as usize, k.stream.records.len() + k.inside());
        let cycles: Vec<u64> = list.iter().map(|r| get(r, "cycles")).collect();
        assert!(cycles.is_sorted_by(|a, b| a >= b), "most cycles first");
        let (head, lines) = rows(&written(|w| csvs::lines(&t, w)));
        assert_eq!(head.join(","), "code,call_count,cycles,running_time(us)");
        let by_line: u64 = lines.iter().map(|r| get(r, "cycles")).sum();
        let whole = list.iter().filter(|r| !r["pipe"].starts_with("RVEC"));
        assert_eq!(by_line, whole.map(|r| get(r, "cycles")).sum::<u64>());
        let (_, use_) = rows(&written(|w| csvs::utilization(&[k.trace()], w)));
        assert_eq!(get(&use_[0], "aiv_total_cycles"), t.timeline.cycles);
        let (_, units) = rows(&written(|w| csvs::pipeline_summary(&[k.trace()], w)));
        assert_eq!(units.len(), 3);
        assert_eq!(get(&units[1], "vec_cycles"), t.timeline.pipe(Pipe::V).busy);
        assert!(get(&units[1], "busy_cycles") <= get(&units[1], "active_cycles"));
    }
}

/// One line of a dump: tick, what pairs it (its address, or the id if it has one), pipe, name.
fn dump_line(line: &str, ids: bool) -> (u64, String, String, String) {
    let rest = line.strip_prefix("[info] [").expect(line);
    let (tick, rest) = rest.split_once("] (PC: ").expect(line);
    assert!(tick.len() >= 8);
    let (pc, rest) = rest.split_once(") ").expect(line);
    let (pipe, rest) = rest.split_once(" : (Binary: 0x").expect(line);
    assert_eq!(pipe.len(), 8, "{line}");
    let (binary, rest) = rest.split_once(") ").expect(line);
    assert_eq!(binary.len(), 8);
    let (key, rest) = match rest.strip_prefix("(ID: ").and_then(|r| r.split_once(") ")) {
        Some((id, rest)) => {
            assert!(ids && id.len() >= 6, "{line}");
            (id, rest)
        }
        None => {
            assert!(!ids, "{line}");
            (pc, rest)
        }
    };
    let space = if pipe.trim_end() == "PUSHQ" { " " } else { "  " };
    let (name, detail) = rest.split_once(space).expect("spaces before the operands");
    assert!(!name.contains(' ') && !detail.contains(['{', '}', '"']), "{line}");
    let pipe = pipe.trim_end().to_string();
    let inside = ["PUSHQ", "RVECLD", "RVECEX", "RVECST", "RVECSU"].contains(&pipe.as_str());
    let outside = ["SCALAR", "FLOWCTRL", "VEC", "MTE2", "MTE3", "ALL"].contains(&pipe.as_str());
    assert!(outside || (ids && inside), "{line}");
    (tick.parse().expect("tick"), key.to_string(), pipe, name.to_string())
}

#[test]
fn dumps_pair_by_address_or_id() {
    for k in both_families() {
        let t = k.trace();
        let of = |dump| -> Vec<(u64, String, String, String)> {
            let text = written(|w| camodel::write(&t, dump, w));
            text.lines().map(|l| dump_line(l, k.target.family == Family::A5)).collect()
        };
        let (popped, ended) = (of(Dump::Popped), of(Dump::Ended));
        let halves: usize = k.stream.records.iter().filter(|r| r.kind == Kind::MaskWrite).count();
        assert_eq!(popped.len(), k.stream.records.len() + k.inside() + halves + 2);
        assert!(popped.is_sorted_by_key(|l| l.0) && ended.is_sorted_by_key(|l| l.0));
        let mut ends: HashMap<String, Vec<_>> = HashMap::new();
        for l in ended.into_iter().rev() {
            ends.entry(l.1.clone()).or_default().push(l);
        }
        for p in popped {
            let e = ends.get_mut(&p.1).and_then(Vec::pop).expect("an end for every issue");
            assert!(p.0 <= e.0 && p.3 == e.3, "{p:?} {e:?}");
        }
        assert!(ends.values().all(Vec::is_empty));
        let log = written(|w| camodel::summary(&t, w));
        assert!(log.starts_with(&format!("kernal total ticks : {}\n", t.timeline.cycles)));
        let name = match k.target.family {
            Family::A2A3 => "vec_veccore0_su_busy_cycle            ",
            Family::A5 => "rvec_veccore0_busy_cycle              ",
        };
        let row = format!("{name}| {}\n", t.timeline.pipe(Pipe::V).busy);
        assert!(log.contains(&row), "{log}");
    }
}

#[test]
fn strides_are_packed_into_one_register() {
    // rep strides 8, block strides 1, one repeat: the form every tutorial shows.
    let k = common::example("rowmax_a3", &[("x", 64 * 128 * 4), ("y", 256)]);
    let text = written(|w| camodel::write(&k.trace(), Dump::Popped, w));
    let line = text.lines().find(|l| l.contains("VMAX")).expect("vmax");
    // repeat 64, repeat strides 16 16 8, block strides 1 1 1.
    assert!(line.ends_with("XT:X3=0x4000101008010101"), "{line}");
    let line = text.lines().find(|l| l.contains("VCMAX")).expect("vcmax");
    assert!(line.ends_with("XT:X3=0x4000000800010001"), "{line}");
}

/// A reader of Kanata logs: every rule of the format, stricter than the viewer.
pub fn read_kanata(text: &str) -> usize {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("Kanata\t0004"));
    let (mut next, mut live, mut done) = (0u64, HashMap::new(), HashSet::new());
    for line in lines {
        let f: Vec<&str> = line.split('\t').collect();
        let n = |i: usize| f[i].parse::<u64>().expect(line);
        match (f[0], f.len()) {
            ("C=", 2) => assert_eq!(next, 0, "the start comes first"),
            ("C", 2) => assert!(n(1) > 0, "cycles only advance"),
            ("I", 4) => {
                assert_eq!(n(1), next, "ids run 0, 1, 2");
                next += 1;
                live.insert(n(1), HashMap::<String, String>::new());
            }
            ("L", 4) => assert!(live.contains_key(&n(1)) && "01".contains(f[2]), "{line}"),
            ("S", 4) => {
                live.get_mut(&n(1)).expect(line).insert(f[2].into(), f[3].into());
            }
            ("E", 4) => {
                let open = live.get_mut(&n(1)).expect(line).remove(f[2]);
                assert_eq!(open.as_deref(), Some(f[3]), "{line}");
            }
            ("W", 4) => {
                assert!(live.contains_key(&n(1)), "{line}");
                assert!(live.contains_key(&n(2)) || done.contains(&n(2)), "{line}");
            }
            ("R", 4) => {
                assert!(live.remove(&n(1)).is_some() && f[3] == "0", "{line}");
                done.insert(n(1));
            }
            _ => panic!("unknown line {line}"),
        }
    }
    assert!(live.is_empty(), "never retired: {:?}", live.keys());
    done.len()
}

#[test]
fn kanata_is_read_back() {
    for k in both_families() {
        let t = k.trace();
        let text = written(|w| kanata::write(&t, kanata::Options::default(), w));
        assert_eq!(read_kanata(&text), k.stream.records.len() + k.inside());
        let options = kanata::Options { per_repeat: true };
        let repeats: usize = k
            .stream
            .records
            .iter()
            .filter(|r| r.kind == Kind::Vector)
            .map(|r| r.repeats as usize)
            .sum();
        let text = written(|w| kanata::write(&t, options, w));
        assert_eq!(read_kanata(&text), k.stream.records.len() + k.inside() + repeats);
        let last: u64 = text
            .lines()
            .filter_map(|l| l.strip_prefix("C\t"))
            .map(|n| n.parse::<u64>().expect("cycles"))
            .sum();
        assert_eq!(last, t.events().map(|e| e.done).max().expect("events"));
    }
}

#[test]
fn the_path_covers_the_run() {
    for k in both_families() {
        let t = k.trace();
        let path = critical_path(&t);
        assert_eq!(path.first().map(|s| s.from), Some(0));
        assert_eq!(path.last().map(|s| s.to), Some(t.timeline.cycles));
        for w in path.windows(2) {
            assert_eq!(w[0].to, w[1].from, "{} {w:?}", k.name);
        }
    }
}

/// Numbers of the row of a pipe in the report.
fn pipe_row(report: &str, pipe: &str) -> Vec<u64> {
    let table = report.split("Pipes\n").nth(1).expect("the table of pipes");
    let row = table.lines().find(|l| l.split_whitespace().next() == Some(pipe)).expect("row");
    row.split_whitespace()
        .skip(1)
        .filter(|w| !w.ends_with('%'))
        .map(|w| w.parse().expect("number"))
        .collect()
}

#[test]
fn the_report_accounts_for_every_cycle() {
    for k in both_families() {
        let t = k.trace();
        let report = written(|w| text::write(&t, w));
        for pipe in [Pipe::S, Pipe::V, Pipe::Mte2, Pipe::Mte3] {
            let row = pipe_row(&report, pipe.short());
            let (busy, causes) = (row[1], &row[2..2 + Cause::ALL.len()]);
            assert_eq!(busy, t.timeline.pipe(pipe).busy);
            assert_eq!(busy + causes.iter().sum::<u64>(), t.timeline.cycles, "{report}");
        }
    }
}

#[test]
fn slices_of_work_are_the_busy_cycles() {
    for k in both_families() {
        let t: Trace = k.trace();
        for pipe in [Pipe::S, Pipe::V, Pipe::Mte2, Pipe::Mte3] {
            let work = t.events().filter(|e| {
                e.what == What::Work && t.record(e.record).is_some_and(|(r, _)| r.pipe == pipe)
            });
            assert_eq!(work.map(|e| e.end - e.start).sum::<u64>(), t.timeline.pipe(pipe).busy);
        }
    }
}
