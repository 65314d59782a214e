//! Tables for Excel and pandas: hot instructions, hot source lines, use of the pipes.

use crate::detail::detail;
use crate::events::{Event, Lane, Trace, What};
use crate::statics::Statics;
use crate::vf::in_order;
use indexmap::IndexMap;
use ptoemu_core::stream::Pipe;
use std::io::{self, Write};

/// Cycles of the slices that share a row, and how long at least one of them was open.
#[derive(Clone, Copy, Default)]
struct Total {
    calls: u64,
    cycles: u64,
    open: u64,
    until: u64,
}

impl Total {
    /// Adds a slice; slices come in order of their start.
    fn add(&mut self, start: u64, end: u64) {
        self.calls += 1;
        self.cycles += end - start;
        self.open += end.saturating_sub(start.max(self.until));
        self.until = self.until.max(end);
    }
}

/// Events by start, so that unions of intervals can be summed on the way.
fn by_start<'t>(t: &'t Trace<'t>) -> impl Iterator<Item = Event> + 't {
    t.ordered(|e| (e.start, 0)).into_iter().filter_map(|(_, _, i)| t.event(i))
}

fn micros(t: &Trace, cycles: u64) -> String {
    format!("{:.6}", t.clock.micros(cycles))
}

fn fail(e: csv::Error) -> io::Error {
    io::Error::other(e)
}

/// A row of `instr_exe.csv`.
struct Row {
    total: Total,
    pc: u64,
    name: String,
    lane: Lane,
    detail: String,
}

/// `instr_exe.csv`: one row an instruction of the program, most cycles first. Instructions inside
/// vector functions have rows of their own pipes; those of VECTOR add up to its busy cycles.
pub fn instructions(t: &Trace, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = whole(t);
    rows.extend(inner(t));
    rows.sort_by_key(|r| (std::cmp::Reverse(r.total.cycles), r.pc));
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record([
        "instr",
        "addr",
        "pipe",
        "call_count",
        "cycles",
        "running_time(us)",
        "detail",
    ])
    .map_err(fail)?;
    for r in rows {
        csv.write_record([
            r.name.as_str(),
            &r.pc.to_string(),
            r.lane.name(),
            &r.total.calls.to_string(),
            &r.total.cycles.to_string(),
            &micros(t, r.total.open),
            &r.detail,
        ])
        .map_err(fail)?;
    }
    csv.flush()
}

/// Rows of the records.
fn whole(t: &Trace) -> Vec<Row> {
    let mut totals = vec![(Total::default(), u32::MAX); t.statics.items().len()];
    for e in by_start(t) {
        if let Some((total, first)) = totals.get_mut(t.statics.index(e.record)) {
            total.add(e.start, e.end);
            *first = (*first).min(e.record);
        }
        t.tick();
    }
    let used = totals.into_iter().zip(t.statics.items()).enumerate();
    used.filter(|(_, ((total, _), _))| total.calls > 0)
        .map(|(i, ((total, first), s))| {
            let mut text = Vec::new();
            detail(t, first, 0, &mut text);
            let lane = t.event(first).map_or(Lane::All, |e| e.lane);
            let detail = String::from_utf8_lossy(&text).into_owned();
            Row { total, pc: Statics::pc(i), name: s.name.clone(), lane, detail }
        })
        .collect()
}

/// Rows of the instructions inside vector functions.
fn inner(t: &Trace) -> Vec<Row> {
    let mut rows: IndexMap<u64, Row> = IndexMap::new();
    for launch in t.launches() {
        let Some(all) = t.micros(&launch) else { continue };
        let (function, index) = (all.function, t.statics.index(launch.record));
        for r in in_order(all, |r| r.dispatch, |r| r.issue) {
            let Some(i) = function.inst(&r) else { continue };
            let pc = t.statics.inner_pc(index, r.inst);
            let row = rows.entry(pc).or_insert_with(|| Row {
                total: Total::default(),
                pc,
                name: i.name.clone(),
                lane: i.lane,
                detail: match i.site.and_then(|s| t.statics.place(s)) {
                    Some(code) => format!("{}, CODE:{code}", i.detail),
                    None => i.detail.clone(),
                },
            });
            row.total.add(r.issue, r.done);
            t.tick();
        }
    }
    rows.into_values().collect()
}

/// `code_exe.csv`: one row a line of the source, most cycles first. The line of a vecscope has the
/// cycles of its functions, the lines inside those of the instructions from start to result.
pub fn lines(t: &Trace, out: &mut dyn Write) -> io::Result<()> {
    let mut totals: IndexMap<&str, Total> = IndexMap::new();
    for e in by_start(t) {
        if let Some(s) = t.statics.of(e.record) {
            totals.entry(&s.code).or_default().add(e.start, e.end);
        }
        t.tick();
    }
    for launch in t.launches() {
        let Some(all) = t.micros(&launch) else { continue };
        let function = all.function;
        for r in in_order(all, |r| r.dispatch, |r| r.issue) {
            let site = function.inst(&r).and_then(|i| i.site);
            if let Some(code) = site.and_then(|s| t.statics.place(s)) {
                totals.entry(code).or_default().add(r.issue, r.done);
            }
        }
    }
    totals.sort_by(|a, x, b, y| y.cycles.cmp(&x.cycles).then(a.cmp(b)));
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(["code", "call_count", "cycles", "running_time(us)"]).map_err(fail)?;
    for (code, total) in totals {
        let (calls, cycles) = (total.calls.to_string(), total.cycles.to_string());
        csv.write_record([code, &calls, &cycles, &micros(t, total.open)]).map_err(fail)?;
    }
    csv.flush()
}

/// `PipeUtilization.csv`: one row a core. What is not modelled is `NA`.
pub fn utilization(cores: &[Trace], out: &mut dyn Write) -> io::Result<()> {
    let pipes = [("vec", Pipe::V), ("scalar", Pipe::S), ("mte2", Pipe::Mte2), ("mte3", Pipe::Mte3)];
    let mut csv = csv::Writer::from_writer(out);
    let mut head =
        ["block_id", "sub_block_id", "aiv_time(us)", "aiv_total_cycles"].map(String::from).to_vec();
    for (name, _) in pipes {
        head.extend([format!("aiv_{name}_time(us)"), format!("aiv_{name}_ratio")]);
    }
    head.push("aiv_icache_miss_rate".into());
    csv.write_record(&head).map_err(fail)?;
    for t in cores {
        let cycles = t.timeline.cycles;
        let mut row =
            vec![t.core.to_string(), "vector0".into(), micros(t, cycles), cycles.to_string()];
        for (_, pipe) in pipes {
            let busy = t.timeline.pipe(pipe).busy;
            row.push(micros(t, busy));
            row.push(format!("{:.6}", busy as f64 / cycles.max(1) as f64));
        }
        row.push("NA".into());
        csv.write_record(&row).map_err(fail)?;
    }
    csv.flush()
}

/// Columns of the in-house cost model's summary.
const SUMMARY: [&str; 16] = [
    "op_name",
    "core_id",
    "unit",
    "total_cycles",
    "active_start_cycle",
    "active_end_cycle",
    "active_cycles",
    "busy_cycles",
    "scalar_cycles",
    "mte2_aic_cycles",
    "mte2_aiv_cycles",
    "mte1_cycles",
    "cube_cycles",
    "fixp_cycles",
    "vec_cycles",
    "mte3_cycles",
];

/// `<op>_pipeline_summary.csv`: three rows a core, of which the first vector core is the one that
/// ran; `busy_cycles` are those in which any pipe worked.
pub fn pipeline_summary(cores: &[Trace], out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(SUMMARY).map_err(fail)?;
    for t in cores {
        let mut any = Total::default();
        let mut start = u64::MAX;
        for e in by_start(t).filter(|e| e.what == What::Work) {
            any.add(e.start, e.end);
            start = start.min(e.start);
        }
        let start = start.min(any.until);
        let busy = |p| t.timeline.pipe(p).busy;
        let own = [
            t.timeline.cycles,
            start,
            any.until,
            any.until - start,
            any.open,
            busy(Pipe::S),
            0,
            busy(Pipe::Mte2),
            busy(Pipe::Mte1),
            busy(Pipe::M),
            busy(Pipe::Fix),
            busy(Pipe::V),
            busy(Pipe::Mte3),
        ];
        for (unit, numbers) in [("AIC", [0; 13]), ("AIV0", own), ("AIV1", [0; 13])] {
            let mut row = vec![t.kernel.to_string(), t.core.to_string(), unit.to_string()];
            row.extend(numbers.iter().map(u64::to_string));
            csv.write_record(&row).map_err(fail)?;
        }
    }
    csv.flush()
}
