//! The Perfetto trace, read by a small reader of protocol buffers, and sums across all formats.

mod common;

use common::{Kernel, both_families, bytes, written};
use ptoemu_core::stream::{Kind, Pipe};
use ptoemu_core::target::Family;
use ptoemu_traces::{camodel, csvs, insight, pftrace, text};
use std::collections::{BTreeMap, HashMap};

/// A field of a message: its number, and a number or bytes.
#[derive(Clone, Copy, Debug)]
enum Field<'b> {
    Number(u64),
    Bytes(&'b [u8]),
}

fn varint(b: &mut &[u8]) -> u64 {
    let mut v = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = b.split_first().expect("a digit");
        *b = rest;
        v |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return v;
        }
    }
    panic!("a number of more than ten digits");
}

/// Every field of a message.
fn fields(mut b: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut out = Vec::new();
    while !b.is_empty() {
        let key = varint(&mut b);
        let value = match key & 7 {
            0 => Field::Number(varint(&mut b)),
            1 => {
                let (eight, rest) = b.split_at(8);
                b = rest;
                Field::Number(u64::from_le_bytes(eight.try_into().expect("eight")))
            }
            2 => {
                let n = varint(&mut b) as usize;
                let (this, rest) = b.split_at(n);
                b = rest;
                Field::Bytes(this)
            }
            other => panic!("wire type {other}"),
        };
        out.push((key >> 3, value));
    }
    out
}

fn number(list: &[(u64, Field)], field: u64) -> Option<u64> {
    list.iter().find_map(|(n, v)| match v {
        Field::Number(v) if *n == field => Some(*v),
        _ => None,
    })
}

fn inside<'b>(list: &[(u64, Field<'b>)], field: u64) -> Vec<&'b [u8]> {
    let all = list.iter().filter(|(n, _)| *n == field);
    all.filter_map(|(_, v)| if let Field::Bytes(b) = v { Some(*b) } else { None }).collect()
}

fn string(list: &[(u64, Field)], field: u64) -> String {
    String::from_utf8(inside(list, field).first().expect("text").to_vec()).expect("UTF-8")
}

/// What a reader of the trace knows at its end.
#[derive(Default)]
struct Read {
    tracks: HashMap<u64, String>,
    names: HashMap<u64, String>,
    /// Track, name, start, end.
    slices: Vec<(String, String, u64, u64)>,
    set: HashMap<u64, u64>,
    waited: HashMap<u64, u64>,
    samples: usize,
}

impl Read {
    fn new(trace: &[u8]) -> Read {
        let (mut r, mut open) = (Read::default(), HashMap::new());
        let mut process = None;
        for (n, (field, packet)) in fields(trace).into_iter().enumerate() {
            let (1, Field::Bytes(packet)) = (field, packet) else { panic!("a packet") };
            let packet = fields(packet);
            assert_eq!(number(&packet, 10), Some(1), "one sequence a core");
            let flags = number(&packet, 13).expect("flags");
            assert_eq!(flags & 1, u64::from(n == 0), "interned numbers start once");
            for track in inside(&packet, 60).into_iter().map(fields) {
                let uuid = number(&track, 1).expect("uuid");
                if let [p] = inside(&track, 3)[..] {
                    assert!(string(&fields(p), 6).contains("1 ns = 1 cycle"));
                    process = Some(uuid);
                } else {
                    assert_eq!(number(&track, 5), process, "tracks belong to the process");
                    let old = r.tracks.insert(uuid, string(&track, 2));
                    assert!(old.is_none(), "described once");
                }
            }
            for interned in inside(&packet, 12) {
                for name in inside(&fields(interned), 2).into_iter().map(fields) {
                    r.names.insert(number(&name, 1).expect("iid"), string(&name, 2));
                }
            }
            for event in inside(&packet, 11).into_iter().map(fields) {
                r.event(&event, number(&packet, 8).expect("a time"), &mut open);
            }
        }
        assert!(open.is_empty(), "slices that never end");
        r
    }

    fn event(&mut self, e: &[(u64, Field)], at: u64, open: &mut HashMap<u64, (String, u64)>) {
        let track = number(e, 11).expect("a track");
        let name = self.tracks.get(&track).expect("described before").clone();
        let numbers = |field: u64| {
            let all = e.iter().filter(move |(n, _)| *n == field);
            all.filter_map(|(_, v)| if let Field::Number(v) = v { Some(*v) } else { None })
        };
        match number(e, 9) {
            Some(1) => {
                let what = self.names[&number(e, 10).expect("a name")].clone();
                assert!(open.insert(track, (what, at)).is_none(), "{name} has one slice at a time");
                self.set.extend(numbers(47).map(|f| (f, at)));
            }
            Some(2) => {
                let (what, from) = open.remove(&track).expect("a slice is open");
                assert!(from <= at);
                self.waited.extend(numbers(48).map(|f| (f, at)));
                self.slices.push((name, what, from, at));
            }
            Some(4) => self.samples += 1,
            other => panic!("type {other:?}"),
        }
    }

    /// Cycles of the slices that hold a pipe, by track.
    fn busy(&self) -> BTreeMap<String, u64> {
        let mut sum = BTreeMap::new();
        for (track, name, from, to) in &self.slices {
            if !["BAR", "SET_FLAG", "WAIT_FLAG"].contains(&name.as_str()) {
                *sum.entry(track.clone()).or_default() += to - from;
            }
        }
        sum
    }
}

#[test]
fn slices_tracks_and_flows() {
    for k in both_families() {
        let r = Read::new(&bytes(|w| pftrace::write(&[k.trace()], w)));
        assert_eq!(r.slices.len(), k.stream.records.len() + k.inside());
        let waits = k.stream.records.iter().filter(|r| r.kind == Kind::WaitFlag).count();
        assert!(waits > 0 && r.waited.len() == waits && r.set.len() >= waits);
        for (flow, end) in &r.waited {
            assert!(r.set[flow] <= *end, "{}", k.name);
        }
        assert!(r.samples >= 4, "both transfer pipes have a curve");
        let mut last: HashMap<&str, u64> = HashMap::new();
        for (track, name, from, to) in &r.slices {
            let end = last.entry(track).or_default();
            assert!(*end <= *from, "{track} {name}");
            *end = *to;
        }
    }
}

/// Busy cycles of a pipe as each format tells them.
fn told(k: &Kernel, pipe: Pipe, lane: &str) -> Vec<(&'static str, u64)> {
    let t = k.trace();
    let control = ["BAR", "SET_FLAG", "WAIT_FLAG"];
    let mut out = vec![("timeline", t.timeline.pipe(pipe).busy)];
    let r = Read::new(&bytes(|w| pftrace::write(&[k.trace()], w)));
    out.push(("pftrace", r.busy().get(lane).copied().unwrap_or(0)));
    let json = written(|w| insight::write_all(&[k.trace()], w));
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let number = |e: &serde_json::Value, key: &str| -> u64 {
        e["args"][key].as_str().expect("text").parse().expect("number")
    };
    let slices = json["traceEvents"].as_array().expect("events").iter().filter(|e| {
        e["ph"] == "X" && e["tid"] == lane && e["name"].as_str().is_some_and(|n| n != "BAR")
    });
    let sum = slices.map(|e| number(e, "cycle_end") - number(e, "cycle_start")).sum();
    out.push(("trace.json", sum));
    let table = written(|w| csvs::instructions(&t, w));
    let mut csv = csv::Reader::from_reader(table.as_bytes());
    let rows = csv.records().map(|r| r.expect("row"));
    let sum = rows
        .filter(|r| &r[2] == lane && !control.contains(&&r[0]))
        .map(|r| r[4].parse::<u64>().expect("cycles"));
    out.push(("instr_exe.csv", sum.sum()));
    let report = written(|w| text::write(&t, w));
    let row = report.lines().find(|l| l.split_whitespace().next() == Some(pipe.short()));
    let busy = row.and_then(|l| l.split_whitespace().nth(2)).and_then(|n| n.parse().ok());
    out.push(("timeline.txt", busy.expect("a row of the pipe")));
    let log = written(|w| camodel::summary(&t, w));
    let name = match (pipe, k.target.family) {
        (Pipe::Mte2, _) => "mte2_veccore0_su_busy_cycle",
        (Pipe::Mte3, _) => "mte3_veccore0_su_busy_cycle",
        (_, Family::A2A3) => "vec_veccore0_su_busy_cycle",
        (_, Family::A5) => "rvec_veccore0_busy_cycle",
    };
    let row = log.lines().find(|l| l.starts_with(name)).expect("a row of the pipe");
    let busy = row.split_once("| ").expect("a bar").1;
    out.push(("summary log", busy.parse().expect("number")));
    out
}

#[test]
fn all_formats_tell_the_same_busy_cycles() {
    for k in both_families() {
        for (pipe, lane) in [(Pipe::V, "VECTOR"), (Pipe::Mte2, "MTE2"), (Pipe::Mte3, "MTE3")] {
            let all = told(&k, pipe, lane);
            assert!(all[0].1 > 0, "{} {lane}", k.name);
            assert!(all.iter().all(|(_, n)| *n == all[0].1), "{} {all:?}", k.name);
        }
    }
}
