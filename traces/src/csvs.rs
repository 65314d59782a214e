//! Tables for Excel and pandas: hot instructions, hot source lines, use of the pipes.

use crate::detail::detail;
use crate::events::{Event, Trace, What};
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
    fn add(&mut self, e: &Event) {
        self.calls += 1;
        self.cycles += e.end - e.start;
        self.open += e.end.saturating_sub(e.start.max(self.until));
        self.until = self.until.max(e.end);
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

/// `instr_exe.csv`: one row an instruction of the program, most cycles first.
pub fn instructions(t: &Trace, out: &mut dyn Write) -> io::Result<()> {
    let mut totals = vec![Total::default(); t.statics.items().len()];
    let mut first = vec![u32::MAX; totals.len()];
    for e in by_start(t) {
        let index = t.statics.index(e.record);
        if let (Some(total), Some(first)) = (totals.get_mut(index), first.get_mut(index)) {
            total.add(&e);
            *first = (*first).min(e.record);
        }
        t.tick();
    }
    let mut order: Vec<usize> = (0..totals.len()).filter(|&i| totals[i].calls > 0).collect();
    order.sort_by_key(|&i| (std::cmp::Reverse(totals[i].cycles), i));
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
    for i in order {
        let (total, Some(s)) = (totals[i], t.statics.items().get(i)) else { continue };
        let lane = t.event(first[i]).map_or("ALL", |e| e.lane.name());
        let mut text = Vec::new();
        detail(t, first[i], 0, &mut text);
        csv.write_record([
            s.name.as_str(),
            &crate::Statics::pc(i).to_string(),
            lane,
            &total.calls.to_string(),
            &total.cycles.to_string(),
            &micros(t, total.open),
            &String::from_utf8_lossy(&text),
        ])
        .map_err(fail)?;
    }
    csv.flush()
}

/// `code_exe.csv`: one row a line of the source, most cycles first.
pub fn lines(t: &Trace, out: &mut dyn Write) -> io::Result<()> {
    let mut totals: indexmap::IndexMap<&str, Total> = indexmap::IndexMap::new();
    for e in by_start(t) {
        if let Some(s) = t.statics.of(e.record) {
            totals.entry(&s.code).or_default().add(&e);
        }
        t.tick();
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
            any.add(&e);
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
