//! Mutants of A2/A3 microcode: one instruction of the list, as it is issued, is changed.

use super::symbols::Symbols;
use super::{Class, DATA, Score, Trial, edges, result};
use crate::a5::Core;
use crate::instr::Instr;
use crate::machine::{Backend, Machine, Plan, Stop, plan};
use crate::table::{Form, What};
use crate::tile::{self, Call};
use ptoemu_core::stream::Kind;
use std::sync::{Mutex, PoisonError};

/// One change of one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// It is left out.
    Drop,
    /// It and the next one are left out: a set and its wait.
    DropPair,
    /// It comes after the next one.
    Later,
    /// A parameter is changed by so much.
    Param(usize, i64),
    /// Its two sources change places.
    Swap,
}

/// The instruction changed, by its place in the list, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mutant {
    at: usize,
    change: Change,
}

/// Instructions as issued, with what they touch.
pub(super) type Trace = Vec<(Instr, Plan)>;

/// Issues microcode with one change.
struct Mutating<'m> {
    machine: &'m mut Machine,
    mutant: Option<Mutant>,
    count: usize,
    held: Option<Instr>,
    trace: &'m Mutex<Trace>,
}

impl Mutating<'_> {
    fn pass(&mut self, i: &Instr) -> Result<u64, Stop> {
        locked(self.trace).push((*i, plan(i, &self.machine.regs)));
        self.machine.issue(i)
    }

    fn finish(&mut self) -> Result<(), Stop> {
        match self.held.take() {
            Some(i) => self.pass(&i).map(drop),
            None => Ok(()),
        }
    }
}

impl Backend for Mutating<'_> {
    fn issue(&mut self, i: &Instr) -> Result<u64, Stop> {
        let n = self.count;
        self.count += 1;
        if let Some(held) = self.held.take() {
            let bits = self.pass(i)?;
            self.pass(&held)?;
            return Ok(bits);
        }
        let Some(m) = self.mutant else { return self.pass(i) };
        match m.change {
            Change::Drop if n == m.at => Ok(0),
            Change::DropPair if n == m.at || n == m.at + 1 => Ok(0),
            Change::Later if n == m.at => {
                self.held = Some(*i);
                Ok(0)
            }
            Change::Param(p, by) if n == m.at => {
                let mut j = *i;
                j.args[p] = j.args[p].wrapping_add(by);
                self.pass(&j)
            }
            Change::Swap if n == m.at => self.pass(&swapped(i)),
            _ => self.pass(i),
        }
    }
}

/// The instruction with its sources in the other order.
fn swapped(i: &Instr) -> Instr {
    let mut j = *i;
    for (a, b) in
        [(What::Addr(1), What::Addr(2)), (What::Blk(1), What::Blk(2)), (What::Rep(1), What::Rep(2))]
    {
        if let (Some(x), Some(y)) = (i.form().position(a), i.form().position(b)) {
            j.args.swap(x, y);
        }
    }
    j
}

/// Does it hand a value back?
fn answers(i: &Instr) -> bool {
    i.form() == Form::Load || i.op.mnemonic().starts_with("get_")
}

fn locked(trace: &Mutex<Trace>) -> std::sync::MutexGuard<'_, Trace> {
    trace.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Everything that is changed.
fn mutants(list: &Trace) -> Vec<Mutant> {
    let mut out = Vec::new();
    for (at, (i, p)) in list.iter().enumerate() {
        let mut put = |at, change| out.push(Mutant { at, change });
        if matches!(p.row.kind(), Kind::Barrier | Kind::SetFlag | Kind::WaitFlag)
            || matches!(p.row.kind(), Kind::MaskWrite | Kind::CtrlWrite) && !answers(i)
        {
            put(at, Change::Drop);
            put(at, Change::Later);
            if at > 0 && !answers(&list[at - 1].0) {
                put(at - 1, Change::Later);
            }
            if p.row.kind() == Kind::SetFlag {
                put(at, Change::DropPair);
            }
        }
        for (n, param) in i.form().params().iter().enumerate() {
            let steps: &[i64] = match (param.what, i.form()) {
                (What::Repeat | What::Blk(_) | What::Rep(_), _) => &[1, -1],
                (What::Addr(_), _) => &[32, -32],
                (What::Num, Form::SetMask | Form::CopyUb) => &[1, -1],
                _ => &[],
            };
            // A scalar access moves by its element, not by a block.
            let size = i.dtype.size() as i64;
            for s in steps {
                let scalar = matches!(i.form(), Form::Load | Form::Store);
                let by = if scalar && *s != 0 { s.signum() * size } else { *s };
                put(at, Change::Param(n, by));
            }
        }
        if i.form().position(What::Addr(2)).is_some() {
            put(at, Change::Swap);
        }
    }
    out.sort_by_key(|m| m.at);
    out.dedup();
    out
}

/// Tries every mutant of a use.
pub(super) fn all(trial: &mut Trial, call: &Call, score: &mut Score) {
    let trace = Mutex::new(Trace::new());
    // What was issued last, on the last data tried.
    let issue = |mutant: Option<Mutant>, call: &Call, m: &mut Machine| -> Result<(), Stop> {
        locked(&trace).clear();
        let mut mutating = Mutating { machine: m, mutant, count: 0, held: None, trace: &trace };
        tile::a2a3(call, &mut mutating)?;
        mutating.finish()
    };
    if trial.look(DATA[0], &|c: &Call, m: &mut Machine, _: &mut Core| issue(None, c, m)).is_some() {
        return;
    }
    let original = locked(&trace).clone();
    let mut symbols = Symbols::of(call);
    let meaning = symbols.run(&original, result(call));
    for mutant in mutants(&original) {
        let subject = |c: &Call, m: &mut Machine, _: &mut Core| issue(Some(mutant), c, m);
        let fate = trial.fate(&subject, || {
            let now = locked(&trace);
            if unchanged(&original, &now) {
                return Ok(Class::Unused);
            }
            let means = symbols.run(&now, result(call));
            match means == meaning && !edges::unordered(&now) {
                true => Ok(class(mutant.change)),
                false => Err(symbols.differing(&meaning, &means)),
            }
        });
        score.count(fate, || trial.survivor(describe(&original, mutant)));
    }
}

/// Do all instructions do the same to the same bytes? What sets a mask may differ: what follows
/// shows whether that matters.
fn unchanged(original: &Trace, now: &Trace) -> bool {
    let numbers = |i: &Instr| {
        let geometry = |w: What| match w {
            What::Addr(_) | What::Blk(_) | What::Rep(_) | What::Repeat => true,
            What::Num => i.form() == Form::CopyUb,
            _ => false,
        };
        let mut out = i.args;
        for (p, v) in i.form().params().iter().zip(&mut out) {
            if geometry(p.what) {
                *v = 0;
            }
        }
        out
    };
    let alike = |(i, p): &(Instr, Plan), (j, q): &(Instr, Plan)| {
        (i.op, i.dtype, i.src_dtype) == (j.op, j.dtype, j.src_dtype)
            && (p.row.kind() == Kind::MaskWrite || numbers(i) == numbers(j))
            && (p.repeats, p.lanes) == (q.repeats, q.lanes)
            && ((p.base, p.shape) == (q.base, q.shape) || edges::places(p) == edges::places(q))
    };
    original.len() == now.len() && original.iter().zip(now).all(|(a, b)| alike(a, b))
}

/// The class of a mutant whose result is the same function of the sources.
fn class(change: Change) -> Class {
    match change {
        Change::Drop | Change::DropPair | Change::Later => Class::OrdersNothing,
        Change::Swap => Class::Commutes,
        Change::Param(..) => Class::NeverRead,
    }
}

fn describe(list: &Trace, m: Mutant) -> String {
    let Some((i, _)) = list.get(m.at) else { return "?".into() };
    let what = match m.change {
        Change::Drop => "left out".to_string(),
        Change::DropPair => "and its wait left out".to_string(),
        Change::Later => "after the next".to_string(),
        Change::Param(p, by) => {
            let name = i.form().params().get(p).map_or("?", |p| p.name);
            format!("{name} {by:+}")
        }
        Change::Swap => "sources swapped".to_string(),
    };
    format!("instruction {} {i}: {what}", m.at)
}
