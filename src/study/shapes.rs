//! One program over rows and columns: cycles, what binds them, the best tile, and from where on
//! another target or microcode is the faster one.

use crate::session::{self, Refusal, Request};
use crate::whatif::{Recorded, Timer};
use anyhow::anyhow;
use ptoemu_core::diag::SourceFile;
use ptoemu_core::target::Target;
use ptoemu_isa::case::{self, Case, Placement};
use ptoemu_isa::tile::{self, Call, Quirks};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::Arc;

/// Words that stand for the sizes in the text and the arguments of a kernel.
pub const WORDS: [&str; 2] = ["ROWS", "COLS"];
/// Shapes of one study at most.
const MOST: usize = 10_000;

/// What is looked at over shapes.
#[derive(Clone, Debug)]
pub enum Family {
    /// A tile operation.
    Op(Box<Case>),
    /// A kernel whose text says ROWS and COLS; so may the arguments.
    Kernel {
        /// Its text.
        source: Arc<SourceFile>,
        /// Arguments as typed.
        args: Vec<String>,
        /// Everything else of the run.
        request: Box<Request>,
    },
}

/// One choice among those compared: a target with microcode.
#[derive(Clone, Debug)]
pub struct Contender {
    /// Name in reports.
    pub name: String,
    /// Target.
    pub target: Target,
    /// Microcode.
    pub quirks: Quirks,
    /// Sizes known only when it runs.
    pub dynamic: bool,
    /// Bytes by which every tile of an operation lies further behind the one before.
    pub gap: u64,
}

/// The answer.
#[derive(Clone, Debug, Serialize)]
pub struct Shapes {
    /// Program or operation.
    pub subject: String,
    /// Choices compared, the first is the reference.
    pub contenders: Vec<String>,
    /// Rows looked at.
    pub rows: Vec<u32>,
    /// Columns looked at.
    pub cols: Vec<u32>,
    /// Bytes of the Unified Buffer a tile may take; none for as many as there are.
    pub budget: Option<u64>,
    /// Every shape of every contender, contender by contender.
    pub points: Vec<ShapePoint>,
    /// Per contender the shape with most elements a cycle within the budget.
    pub best: Vec<Option<ShapePoint>>,
    /// Where the order of two contenders changes along the rows.
    pub crossovers: Vec<Crossover>,
}

impl Shapes {
    /// The shape of a contender by the places of its rows and columns.
    pub fn at(&self, contender: usize, row: usize, col: usize) -> Option<&ShapePoint> {
        let (rows, cols) = (self.rows.len(), self.cols.len());
        let inside = row < rows && col < cols;
        self.points.get((contender * rows + row) * cols + col).filter(|_| inside)
    }
}

/// One shape of one contender.
#[derive(Clone, Debug, Serialize)]
pub struct ShapePoint {
    /// Name of the contender.
    pub contender: String,
    /// Rows.
    pub rows: u32,
    /// Columns.
    pub cols: u32,
    /// Cycles; none where the shape is refused.
    pub cycles: Option<u64>,
    /// Microseconds.
    pub time_us: Option<f64>,
    /// Elements of the shape for every cycle.
    pub per_cycle: Option<f64>,
    /// What binds it.
    pub bound: Option<String>,
    /// Bytes of the Unified Buffer its tiles reach.
    pub ub_bytes: Option<u64>,
    /// Why the shape is refused.
    pub refused: Option<String>,
}

/// A change of order along the rows.
#[derive(Clone, Debug, Serialize)]
pub struct Crossover {
    /// The reference.
    pub a: String,
    /// The other.
    pub b: String,
    /// Columns.
    pub cols: u32,
    /// First rows with the new order.
    pub rows: u32,
    /// The faster from there on.
    pub faster: String,
    /// Time of `b` over time of `a` there.
    pub ratio: f64,
}

/// Times every shape under every contender.
pub fn shapes(
    name: &str,
    family: &Family,
    contenders: &[Contender],
    (rows, cols): (&[u32], &[u32]),
    budget: Option<u64>,
) -> Result<Shapes, Refusal> {
    let count = rows.len().saturating_mul(cols.len());
    if count == 0 || count > MOST {
        return Err(anyhow!("{count} shapes: give 1 to {MOST}").into());
    }
    let sizes: Vec<(u32, u32)> =
        rows.iter().flat_map(|&r| cols.iter().map(move |&c| (r, c))).collect();
    let all: Vec<(&Contender, (u32, u32))> =
        contenders.iter().flat_map(|c| sizes.iter().map(move |&s| (c, s))).collect();
    let points: Vec<ShapePoint> = all.into_par_iter().map(|(c, s)| point(family, c, s)).collect();
    if points.iter().all(|p| p.cycles.is_none()) {
        let why = points.iter().find_map(|p| p.refused.clone()).unwrap_or_default();
        return Err(anyhow!("every shape is refused; the first: {why}").into());
    }
    let names: Vec<String> = contenders.iter().map(|c| c.name.clone()).collect();
    let best = names.iter().map(|n| best(&points, n, budget)).collect();
    let crossovers = names
        .iter()
        .skip(1)
        .zip(names.first().into_iter().cycle())
        .flat_map(|(b, a)| {
            cols.iter().flat_map(|&c| crossovers(&points, (a, b), c, rows)).collect::<Vec<_>>()
        })
        .collect();
    Ok(Shapes {
        subject: name.to_string(),
        contenders: names,
        rows: rows.to_vec(),
        cols: cols.to_vec(),
        budget,
        points,
        best,
        crossovers,
    })
}

/// A shape recorded, with the bytes of UB its tiles reach.
struct Shaped {
    recorded: Recorded,
    ub_bytes: Option<u64>,
}

fn point(family: &Family, c: &Contender, (rows, cols): (u32, u32)) -> ShapePoint {
    let timed = family.record(c, rows, cols).and_then(|s| {
        let timer = Timer::new(&s.recorded, &c.target, &[]).map_err(|d| d.message)?;
        let m = timer.worker().time(&[]);
        m.fault.clone().map_or(Ok(()), Err)?;
        Ok((m, s.ub_bytes))
    });
    let elements = f64::from(rows) * f64::from(cols);
    let empty = ShapePoint {
        contender: c.name.clone(),
        rows,
        cols,
        cycles: None,
        time_us: None,
        per_cycle: None,
        bound: None,
        ub_bytes: None,
        refused: None,
    };
    match timed {
        Ok((m, ub_bytes)) => ShapePoint {
            cycles: Some(m.cycles),
            time_us: Some(m.time_us),
            per_cycle: (m.cycles > 0).then(|| elements / m.cycles as f64),
            bound: Some(m.bound.to_string()),
            ub_bytes,
            ..empty
        },
        Err(why) => ShapePoint { refused: Some(why), ..empty },
    }
}

/// First message of a refusal.
fn reason(r: Refusal) -> String {
    match r {
        Refusal::Usage(e) => format!("{e:#}"),
        Refusal::Program(d) => d.first().map_or("refused".into(), |d| d.message.clone()),
    }
}

impl Family {
    fn record(&self, c: &Contender, rows: u32, cols: u32) -> Result<Shaped, String> {
        match self {
            Family::Op(case) => {
                if u64::from(rows) * u64::from(cols) > 1 << 24 {
                    return Err(format!("{rows}x{cols} is larger than any UB"));
                }
                let mut case = (**case).clone();
                (case.shape, case.valid) = ((rows, cols), (rows, cols));
                (case.quirks, case.dynamic) = (c.quirks, case.dynamic || c.dynamic);
                let mut call = case.call(Placement::Packed { align: 512 });
                spread(&mut call, c.gap);
                let ub_bytes = call.tiles().map(|(_, t)| t.end()).max();
                tile::check(&call, c.target.family, &session::limits(&c.target))
                    .map_err(|d| d.message.clone())?;
                let stream =
                    case::record(&call, c.target.family).map_err(|s| s.0.message.clone())?;
                let (streams, diagnostics) = (vec![stream], Vec::new());
                Ok(Shaped { recorded: Recorded { streams, diagnostics, stopped: None }, ub_bytes })
            }
            Family::Kernel { source, args, request } => {
                let put = |text: &str| {
                    text.replace(WORDS[0], &rows.to_string()).replace(WORDS[1], &cols.to_string())
                };
                let given: Result<Vec<_>, _> =
                    args.iter().map(|a| crate::args::arg(&put(a))).collect();
                let args = given.map_err(|e| format!("{e:#}"))?;
                let source = SourceFile::new(source.name.clone(), put(&source.text));
                let request = Request { args, quirks: c.quirks, ..(**request).clone() };
                let ran = session::execute(&source, &c.target, &request).map_err(reason)?;
                if let Some(stop) = &ran.outcome.stop {
                    return Err(stop.message.clone());
                }
                let blocks = &ran.outcome.blocks;
                let ub_bytes = blocks.iter().flat_map(|b| &b.tiles).map(|t| t.end).max();
                let diagnostics = ran.diagnostics();
                let streams = ran.outcome.blocks.into_iter().map(|b| b.stream).collect();
                Ok(Shaped { recorded: Recorded { streams, diagnostics, stopped: None }, ub_bytes })
            }
        }
    }
}

/// Moves the second tile by a gap, the third by two, and so on.
fn spread(call: &mut Call, gap: u64) {
    let tiles = call.src.iter_mut().chain([&mut call.dst]).chain(&mut call.tmp);
    for (n, t) in (0u64..).zip(tiles) {
        t.addr += n * gap;
    }
}

fn best(points: &[ShapePoint], contender: &str, budget: Option<u64>) -> Option<ShapePoint> {
    let fits = |p: &&ShapePoint| match (budget, p.ub_bytes) {
        (Some(most), Some(n)) => n <= most,
        _ => true,
    };
    let rate = |p: &ShapePoint| p.per_cycle.unwrap_or(0.0);
    points
        .iter()
        .filter(|p| p.contender == contender && p.per_cycle.is_some())
        .filter(fits)
        .max_by(|a, b| rate(a).total_cmp(&rate(b)).then(b.ub_bytes.cmp(&a.ub_bytes)))
        .cloned()
}

fn crossovers(
    points: &[ShapePoint],
    (a, b): (&String, &String),
    cols: u32,
    rows: &[u32],
) -> Vec<Crossover> {
    let time = |who: &str, r: u32| {
        let at = |p: &&ShapePoint| p.contender == who && (p.rows, p.cols) == (r, cols);
        points.iter().find(at).and_then(|p| p.time_us)
    };
    let mut out = Vec::new();
    let mut last: Option<bool> = None;
    for &r in rows {
        let (Some(x), Some(y)) = (time(a, r), time(b, r)) else { continue };
        let wins = x <= y;
        if last.is_some_and(|l| l != wins) {
            out.push(Crossover {
                a: a.clone(),
                b: b.clone(),
                cols,
                rows: r,
                faster: if wins { a.clone() } else { b.clone() },
                ratio: y / x,
            });
        }
        last = Some(wins);
    }
    out
}
