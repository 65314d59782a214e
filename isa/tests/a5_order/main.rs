//! Random programs of the 950: transfers, vector functions, scalar accesses; barriers, flags,
//! buffers and `mem_bar`s everywhere, then thinned as far as an oracle allows. What is left has no
//! finding, and whatever is taken out that the oracle says is needed gives one.
//!
//! `PTOEMU_CASES` sets the programs.

mod oracle;
mod program;

use oracle::unordered;
use program::{BARS, GM, Micro, Step, UB, accesses, text};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use ptoemu_core::diag::SourceFile;
use ptoemu_core::stream::Pipe;
use ptoemu_isa::exec::{self, ArgValue, Binding};
use ptoemu_isa::{hazards, machine::Settings, text as pto, tile};

const PIPES: [Pipe; 4] = [Pipe::S, Pipe::V, Pipe::Mte2, Pipe::Mte3];

/// Numbers that depend on a seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

/// Every kind of order before every access of a vecscope.
fn barred(body: &[Micro], draw: &mut Draw) -> Vec<Micro> {
    let mut out = Vec::new();
    for micro in body {
        let class = match micro {
            Micro::Load { .. } | Micro::Pair { .. } => 0,
            Micro::Store { .. } | Micro::Both { .. } => 1,
            Micro::ScalarLoad(_) => 2,
            Micro::ScalarStore(_) => 3,
            _ => {
                out.push(micro.clone());
                continue;
            }
        };
        // One that orders everything, or all that name this class.
        let kinds = (1..BARS.len()).filter(|k| BARS[*k].2.contains(&class));
        match draw.below(3) {
            0 => out.push(Micro::Bar(0)),
            1 => out.extend(kinds.map(Micro::Bar)),
            // Without the two that name every vector or scalar access.
            _ => out.extend(kinds.filter(|k| *k > 2).map(Micro::Bar)),
        }
        out.push(micro.clone());
    }
    out
}

/// Order before every access: flags and barriers, or one buffer that every pipe gets in turn.
fn everywhere(accesses: &[Step], draw: &mut Draw) -> Vec<Step> {
    let mut out = Vec::new();
    for (i, step) in accesses.iter().enumerate() {
        let Some(pipe) = step.pipe() else { continue };
        let step = match step {
            Step::Scope(size, body) => Step::Scope(*size, barred(body, draw)),
            other => other.clone(),
        };
        let others = PIPES.into_iter().filter(|p| *p != pipe);
        if pipe != Pipe::S && draw.below(2) == 0 {
            let id = draw.below(3) as u8;
            out.push(Step::Get(pipe, id));
            // S takes no buffer, and other buffers say nothing of this one.
            out.extend(others.map(|from| Step::Flag(from, pipe, (i % 8) as u8)));
            out.push(Step::Barrier(pipe));
            out.extend([step, Step::Release(pipe, id)]);
            continue;
        }
        if draw.below(7) == 3 {
            out.push(Step::Barrier(Pipe::All));
        }
        out.extend(others.map(|from| Step::Flag(from, pipe, (i % 8) as u8)));
        if pipe != Pipe::S {
            out.push(Step::Barrier(pipe));
        }
        out.push(step);
    }
    out
}

/// The program without the order at a place, if there is order there; places inside a vecscope
/// follow the statement's own.
fn without(steps: &[Step], at: usize, inside: usize) -> Option<Vec<Step>> {
    let mut out = steps.to_vec();
    match &steps[at] {
        Step::Barrier(_) | Step::Flag(..) => {
            out.remove(at);
        }
        Step::Get(p, id) => {
            let held = |s: &Step| matches!(s, Step::Release(q, n) if (q, n) == (p, id));
            let end = at + steps[at..].iter().position(held)?;
            out.remove(end);
            out.remove(at);
        }
        Step::Scope(_, body) => {
            let bars: Vec<usize> =
                (0..body.len()).filter(|n| matches!(body[*n], Micro::Bar(_))).collect();
            let n = *bars.get(inside)?;
            if let Step::Scope(_, body) = &mut out[at] {
                body.remove(n);
            }
        }
        _ => return None,
    }
    Some(out)
}

/// Every program with one piece of order less.
fn thinner(steps: &[Step]) -> Vec<Vec<Step>> {
    let places = (0..steps.len()).flat_map(|at| {
        let inside = match &steps[at] {
            Step::Scope(_, body) => body.len(),
            _ => 1,
        };
        (0..inside).map(move |n| (at, n))
    });
    places.filter_map(|(at, n)| without(steps, at, n)).collect()
}

/// Removes what the oracle says is not needed.
fn thin(mut steps: Vec<Step>, draw: &mut Draw) -> Vec<Step> {
    // Buffers hand over what flags hand over too: start with either.
    let mut failed = 0;
    while failed < 25 {
        let at = draw.below(steps.len());
        let inside = draw.below(12);
        match without(&steps, at, inside) {
            Some(rest) if !unordered(&rest) => (steps, failed) = (rest, 0),
            _ => failed += 1,
        }
    }
    steps
}

/// Messages of racecheck.
fn findings(steps: &[Step]) -> Vec<String> {
    let source = SourceFile::new("k.pto", text(steps));
    let (file, diags) = pto::parse(&source);
    assert!(diags.is_empty(), "{diags:?}\n{}", source.text);
    let lower = exec::LowerOptions {
        entry: None,
        limits: exec::Limits { align: 32, auto_end: UB },
        tiles: Vec::new(),
    };
    let program = exec::lower(&file, &lower).unwrap_or_else(|d| panic!("{d:?}\n{}", source.text));
    let options = exec::Options {
        args: vec![Binding { name: "x".into(), value: ArgValue::Bytes(vec![1; GM as usize]) }],
        blocks: 1,
        auto_sync: Some(false),
        quirks: Default::default(),
        operand_order: Default::default(),
        settings: Settings::of(tile::Family::A5),
        limits: tile::Limits::of(tile::Family::A5),
        max_steps: Some(10_000),
        progress: None,
    };
    let out = exec::run(&program, &options).unwrap_or_else(|d| panic!("{d:?}"));
    assert!(out.stop.is_none(), "{:?}\n{}", out.stop, source.text);
    let block = &out.blocks[0];
    let races = hazards::check_of(tile::Family::A5, &block.stream, 0, false);
    let all = block.findings.iter().chain(&races).filter(|f| f.diag.code.starts_with("racecheck"));
    all.map(|f| format!("{} {:?}", f.diag.message, f.diag.notes)).collect()
}

#[test]
fn a_program_is_clean_exactly_if_the_oracle_says_so() {
    let cases = std::env::var("PTOEMU_CASES").ok().and_then(|s| s.parse().ok()).unwrap_or(60);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let done = TestRunner::new(config).run(&(accesses(), any::<u64>()), |(accesses, seed)| {
        let draw = &mut Draw(seed | 1);
        let full = everywhere(&accesses, draw);
        prop_assert!(!unordered(&full), "{}", text(&full));
        prop_assert_eq!(findings(&full), Vec::<String>::new(), "{}", text(&full));
        let steps = thin(full, draw);
        prop_assert_eq!(findings(&steps), Vec::<String>::new(), "{}", text(&steps));
        let rest = thinner(&steps);
        for _ in 0..rest.len().min(6) {
            let less = &rest[draw.below(rest.len())];
            let (needed, found) = (unordered(less), findings(less));
            prop_assert_eq!(needed, !found.is_empty(), "{:?}\n{}", found, text(less));
        }
        Ok(())
    });
    if let Err(e) = done {
        panic!("{e}");
    }
}
