//! Frames and control flow of the lowered program.

use super::arith;
use super::program::*;
use super::run::Exec;
use super::value::Value;
use crate::machine::Stop;
use ptoemu_core::diag::{Diagnostic, Span};

/// Values of one function activation.
pub(super) type Frame = Vec<Value>;

/// How a list of statements ended.
pub(super) enum Flow {
    Next,
    Yield(Vec<Value>),
    Condition(bool, Vec<Value>),
    Return(Vec<Value>),
}

type Done = Result<(), Stop>;

pub(super) fn set(frame: &mut Frame, slot: Slot, value: Value) {
    if let Some(v) = frame.get_mut(slot as usize) {
        *v = value;
    }
}

pub(super) fn get(frame: &Frame, slot: Slot) -> &Value {
    frame.get(slot as usize).unwrap_or(&Value::None)
}

/// The value of a [`Num`], if it is an integer.
pub(super) fn number(frame: &Frame, n: Num) -> Option<i64> {
    match n {
        Num::Lit(v) => Some(v),
        Num::Slot(s) => match get(frame, s) {
            Value::Int(v) => Some(*v),
            Value::Float(_, bits) => Some(*bits as i64),
            Value::Ptr(p) => Some(p.addr as i64),
            _ => None,
        },
    }
}

impl Exec<'_> {
    pub(super) fn block(&mut self, frame: &mut Frame, stmts: &[Stmt]) -> Result<Flow, Stop> {
        self.deeper()?;
        let mut flow = Flow::Next;
        for s in stmts {
            match self.step(frame, s) {
                Ok(Flow::Next) => {}
                Ok(other) => {
                    flow = other;
                    break;
                }
                Err(stop) => return Err(self.located(stop, s.span)),
            }
        }
        self.shallower();
        Ok(flow)
    }

    /// The part of a statement with a body that stands before it.
    fn first_line(&self, span: Span) -> Span {
        let text = self.program.source.text.get(span.range()).unwrap_or("");
        let line = text.lines().next().unwrap_or("").trim_end_matches(['{', ' ']);
        Span { end: span.start.saturating_add(line.len() as u32), ..span }
    }

    /// A fault points at the statement that met it, unless it already points somewhere.
    pub(super) fn located(&self, mut stop: Stop, span: Span) -> Stop {
        if stop.0.labels.is_empty() {
            *stop.0 = stop.0.clone().at(&self.program.source, span, "");
            let log = &self.machine.log;
            let other = self.machine.other_end.and_then(|r| log.stream.records.get(r as usize));
            if let Some(site) = other.and_then(|r| log.stream.sites.items().get(r.site.0 as usize))
            {
                *stop.0 = stop.0.clone().at(&self.program.source, site.span, "set here");
            }
        }
        stop
    }

    fn step(&mut self, frame: &mut Frame, s: &Stmt) -> Result<Flow, Stop> {
        self.spend()?;
        match &s.code {
            Code::Yield(slots) => return Ok(Flow::Yield(values(frame, slots))),
            Code::Return(slots) => return Ok(Flow::Return(values(frame, slots))),
            Code::Condition(c, slots) => {
                let on = self.truth(frame, *c)?;
                return Ok(Flow::Condition(on, values(frame, slots)));
            }
            Code::For { .. } => return self.for_loop(frame, &s.code),
            Code::If { cond, then, els, results } => {
                let body = if self.truth(frame, *cond)? { then } else { els };
                return match self.block(frame, body)? {
                    Flow::Yield(vs) => self.give(frame, results, vs),
                    other => Ok(other),
                };
            }
            Code::While { .. } => return self.while_loop(frame, &s.code),
            Code::Section(body) => return self.block(frame, body),
            Code::Vecscope(body) => {
                self.at_statement(self.first_line(s.span));
                return self.vecscope(frame, body);
            }
            Code::Call { func, args, results } => {
                let vs = values(frame, args);
                let out = self.call(*func, vs)?;
                return self.give(frame, results, out);
            }
            Code::Const(d, v) => set(frame, *d, v.clone()),
            Code::Copy(d, v) => {
                let v = get(frame, *v).clone();
                set(frame, *d, v);
            }
            Code::Nothing => {}
            Code::Bin(..) | Code::NegF(..) | Code::Cmp(..) | Code::Cast(..) | Code::Select(..) => {
                self.scalar(frame, &s.code)?;
            }
            _ => self.effect(frame, s)?,
        }
        Ok(Flow::Next)
    }

    fn give(&mut self, frame: &mut Frame, slots: &[Slot], vs: Vec<Value>) -> Result<Flow, Stop> {
        for (slot, v) in slots.iter().zip(vs) {
            set(frame, *slot, v);
        }
        Ok(Flow::Next)
    }

    /// Runs a function to its return.
    pub(super) fn call(&mut self, func: usize, args: Vec<Value>) -> Result<Vec<Value>, Stop> {
        let program = self.program;
        let f = &program.funcs[func];
        let mut frame = vec![Value::None; f.slots as usize];
        for (a, v) in f.args.iter().zip(args) {
            set(&mut frame, a.slot, v);
        }
        self.enter()?;
        let flow = self.block(&mut frame, &f.body)?;
        self.leave();
        Ok(match flow {
            Flow::Return(vs) => vs,
            _ => Vec::new(),
        })
    }

    fn for_loop(&mut self, frame: &mut Frame, code: &Code) -> Result<Flow, Stop> {
        let Code::For { iv, range, carried, results, body } = code else { return Ok(Flow::Next) };
        let [lo, hi, step] =
            [self.int(frame, range[0])?, self.int(frame, range[1])?, self.int(frame, range[2])?];
        if step <= 0 {
            let what = format!("scf.for needs a positive step, got {step}");
            return Err(refuse_with("lower.step", what, "count upwards: step 1 or more"));
        }
        for (arg, init) in carried {
            let v = get(frame, *init).clone();
            set(frame, *arg, v);
        }
        self.enter_loop(code, (lo, hi, step));
        let mut i = lo;
        while i < hi {
            set(frame, *iv, Value::Int(i));
            self.round(i);
            match self.block(frame, body)? {
                Flow::Yield(vs) => {
                    for ((arg, _), v) in carried.iter().zip(vs) {
                        set(frame, *arg, v);
                    }
                }
                Flow::Next => {}
                other => return Ok(other),
            }
            let Some(next) = i.checked_add(step) else { break };
            i = next;
            self.spend()?;
        }
        self.leave_loop();
        let finals: Vec<Value> = carried.iter().map(|(arg, _)| get(frame, *arg).clone()).collect();
        self.give(frame, results, finals)
    }

    fn while_loop(&mut self, frame: &mut Frame, code: &Code) -> Result<Flow, Stop> {
        let Code::While { carried, before, after_args, after, results } = code else {
            return Ok(Flow::Next);
        };
        let mut state: Vec<Value> = carried.iter().map(|(_, i)| get(frame, *i).clone()).collect();
        loop {
            for ((arg, _), v) in carried.iter().zip(state) {
                set(frame, *arg, v);
            }
            let (go, vs) = match self.block(frame, before)? {
                Flow::Condition(go, vs) => (go, vs),
                Flow::Return(vs) => return Ok(Flow::Return(vs)),
                _ => {
                    return Err(refuse(
                        "lower.while",
                        "scf.while needs scf.condition in its first region",
                    ));
                }
            };
            if !go {
                return self.give(frame, results, vs);
            }
            for (arg, v) in after_args.iter().zip(vs) {
                set(frame, *arg, v);
            }
            state = match self.block(frame, after)? {
                Flow::Yield(vs) => vs,
                Flow::Return(vs) => return Ok(Flow::Return(vs)),
                _ => Vec::new(),
            };
            self.spend()?;
        }
    }

    fn scalar(&mut self, frame: &mut Frame, code: &Code) -> Done {
        let (dst, v) = match code {
            Code::Bin(op, ty, d, [a, b]) => {
                (*d, arith::bin(*op, *ty, get(frame, *a), get(frame, *b)).map_err(undefined)?)
            }
            Code::Cmp(p, ty, d, [a, b]) => {
                let on = arith::cmp(*p, *ty, get(frame, *a), get(frame, *b)).map_err(undefined)?;
                (*d, Value::Int(i64::from(on)))
            }
            Code::Cast(c, from, to, d, a) => {
                (*d, arith::cast(*c, *from, *to, get(frame, *a)).map_err(undefined)?)
            }
            Code::NegF(_, d, a) => match get(frame, *a) {
                Value::Float(t, bits) => {
                    let sign = 1u64 << (8 * t.size() - 1);
                    (*d, Value::Float(*t, bits ^ sign))
                }
                other => return Err(kind("a float", other)),
            },
            Code::Select(d, [c, a, b]) => {
                let pick = if self.truth(frame, *c)? { *a } else { *b };
                (*d, get(frame, pick).clone())
            }
            _ => return Ok(()),
        };
        set(frame, dst, v);
        Ok(())
    }

    pub(super) fn int(&self, frame: &Frame, slot: Slot) -> Result<i64, Stop> {
        self.num(frame, Num::Slot(slot))
    }

    pub(super) fn num(&self, frame: &Frame, n: Num) -> Result<i64, Stop> {
        match (number(frame, n), n) {
            (Some(_), Num::Slot(s)) if matches!(get(frame, s), Value::Float(..)) => {
                Err(kind("an integer", get(frame, s)))
            }
            (Some(v), _) => Ok(v),
            (None, Num::Slot(s)) => Err(kind("an integer", get(frame, s))),
            (None, Num::Lit(v)) => Ok(v),
        }
    }

    fn truth(&self, frame: &Frame, slot: Slot) -> Result<bool, Stop> {
        Ok(self.int(frame, slot)? & 1 == 1)
    }
}

fn values(frame: &Frame, slots: &[Slot]) -> Vec<Value> {
    slots.iter().map(|s| get(frame, *s).clone()).collect()
}

/// A refusal: nothing was wrong with the machine, the program cannot be run.
pub(super) fn refuse(code: &'static str, message: impl Into<String>) -> Stop {
    Stop(Box::new(Diagnostic::error(code, message)))
}

/// A refusal with its way out.
pub(super) fn refuse_with(
    code: &'static str,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Stop {
    Stop(Box::new(Diagnostic::error(code, message).help(help)))
}

/// "expected X, got Y".
pub(super) fn kind(want: &str, got: &Value) -> Stop {
    let message = format!("expected {want}, got {}", got.kind());
    let makes = match want {
        "an integer" => "arith.constant with an integer type, or arith.fptosi",
        "a pointer" => "an argument of type !pto.ptr, pto.castptr, pto.addptr or pto.tile_buf_addr",
        "a view" => "pto.make_tensor_view or pto.partition_view",
        "a tile" => "pto.alloc_tile or pto.subset",
        _ => return refuse("lower.type", message),
    };
    refuse_with("lower.type", message, format!("{want} comes from {makes}"))
}

fn undefined(why: arith::Undefined) -> Stop {
    match why {
        arith::Undefined::Kind => {
            refuse("lower.type", "operands of the wrong kind for this operation")
        }
        arith::Undefined::DivisionByZero => refuse_with(
            "scalar.division_by_zero",
            "integer division by zero",
            "guard it with scf.if, or check where the divisor comes from",
        ),
    }
}

/// Bits of a scalar value at an element type, for stores and scalar operands.
pub(super) fn bits_of(v: &Value, t: ptoemu_core::dtype::DType) -> Option<u64> {
    let low = if t.size() == 8 { u64::MAX } else { (1 << (8 * t.size())) - 1 };
    match v {
        Value::Int(i) if t.is_float() => Some(arith::from_f64(t, *i as f64)),
        Value::Int(i) => Some(*i as u64 & low),
        Value::Float(f, bits) if *f == t => Some(*bits),
        Value::Float(f, bits) if t.is_float() => Some(arith::from_f64(t, arith::to_f64(*f, *bits))),
        Value::Float(_, bits) => Some(*bits & low),
        _ => None,
    }
}

/// A loaded element as a value.
pub(super) fn value_of(t: ptoemu_core::dtype::DType, bits: u64) -> Value {
    if t.is_float() {
        return Value::Float(t, bits);
    }
    let n = 64 - 8 * t.size() as u32;
    let v = if t.is_signed() { (bits << n) as i64 >> n } else { (bits << n >> n) as i64 };
    Value::Int(v)
}
