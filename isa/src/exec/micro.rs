//! Executes micro-ops on values of a frame.

use super::a5::{Address, MicroStmt};
use super::frame::{Flow, Frame, bits_of, get, kind, refuse, set};
use super::program::{Code, Num, Slot, Stmt};
use super::queue::Held;
use super::run::Exec;
use super::value::{Ptr, Value};
use crate::a5::record::ScopeRecorder;
use crate::a5::{Args, Executed, Form, Kind, LoopEntry, RegId, VReg};
use crate::machine::Stop;
use crate::tile::Family;
use crate::tile::a5::sort_repeats;
use ptoemu_core::access::Space;
use ptoemu_core::check::{Ends, Finding};
use ptoemu_core::diag::{Diagnostic, Level};
use ptoemu_core::mask::Mask;
use ptoemu_core::stream::{NONE, OpId, Pipe, SiteId};
use smallvec::SmallVec;
use std::sync::Arc;

/// Catalogue index of a micro-op in findings, apart from those of A2/A3.
const A5_OPS: u16 = 0x4000;
/// The same of a missing `mem_bar`, by its kind.
const A5_ORDERS: u16 = 0x4800;

impl Exec<'_> {
    /// Hands a vecscope to V.
    pub(super) fn vecscope(&mut self, frame: &mut Frame, body: &[Stmt]) -> Result<Flow, Stop> {
        if !self.queues.blocked(Pipe::V) {
            return self.vecscope_now(frame, body);
        }
        self.hold(Pipe::V, Held::Scope(frame.clone(), body.to_vec()))?;
        self.poison(frame);
        Ok(Flow::Next)
    }

    /// A vecscope: registers from outside hold nothing, and none survives it.
    pub(super) fn vecscope_now(&mut self, frame: &mut Frame, body: &[Stmt]) -> Result<Flow, Stop> {
        self.poison(frame);
        self.a5.in_scope = true;
        self.a5.made_of.clear();
        self.a5.core.enter_scope();
        let span = self.span();
        let timed = self.options.settings.family == Family::A5;
        self.a5.recorder = timed.then(ScopeRecorder::default);
        self.a5.core.footprint.take();
        let site = self.machine.log.site;
        self.a5.listeners().for_each(|s| s.enter_scope(span));
        let record = self.machine.log.stream.records.len() as u32;
        self.a5.core.writer = record;
        self.machine.before(record);
        let flow = self.block(frame, body)?;
        if self.machine.log.stream.records.len() == record as usize {
            self.machine.after(record);
        } else {
            // Scalar accesses inside have taken its number.
            self.machine.swapping = Default::default();
        }
        self.a5.listeners().for_each(|s| s.leave_scope());
        self.a5.in_scope = false;
        self.machine.at(site, NONE);
        self.launch();
        self.poison(frame);
        self.a5.core.leave_scope();
        self.remarks(OpId(A5_OPS));
        Ok(match flow {
            Flow::Yield(_) => Flow::Next,
            other => other,
        })
    }

    /// Records the vecscope as one vector function.
    fn launch(&mut self) {
        let Some(mut recorder) = self.a5.recorder.take() else { return };
        match recorder.take() {
            Some((program, dtype)) => {
                let record = self.machine.log.push_function(program, dtype);
                let touched = self.a5.core.footprint.take();
                self.machine.log.stream.footprints.keep(record, touched);
            }
            None => {
                let text = "a vecscope of more than a million different instructions is not timed";
                let d = Diagnostic::new("note.vf", Level::Warning, text);
                self.notes.push(d.at(&self.program.source, self.span(), ""));
            }
        }
    }

    fn poison(&mut self, frame: &mut Frame) {
        let byte = self.options.settings.poison;
        for v in frame.iter_mut() {
            match v {
                Value::Vreg(_) => *v = Value::Vreg(Arc::new(VReg::poison(byte))),
                Value::Mask(_) | Value::Align(_) => *v = Value::None,
                _ => {}
            }
        }
    }

    pub(super) fn micro(&mut self, frame: &mut Frame, s: &MicroStmt) -> Result<(), Stop> {
        let args = self.operands(frame, s)?;
        if !self.a5.in_scope {
            self.a5.core.footprint.take();
            self.a5.core.writer = self.machine.log.stream.records.len() as u32;
        }
        let a5 = &mut self.a5;
        a5.core.ctrl = self.machine.regs.ctrl;
        a5.core.site = self.machine.log.site.0;
        let made_of = |m: &Slot| a5.made_of.get(m).copied().unwrap_or(0);
        a5.core.carried = s.m.iter().fold(0, |all, m| all | made_of(m));
        a5.core.exec(&mut self.machine.ub, &s.step, &args, &mut a5.outs)?;
        for (_, slot) in s.results.iter().filter(|(k, _)| *k == Kind::M) {
            a5.made_of.insert(*slot, a5.core.produced);
        }
        if self.a5.sink.is_some() || self.a5.recorder.is_some() {
            let masks = s.step.op.form().masks();
            let mask = masks.checked_sub(1).and_then(|i| args.m.get(i)).copied();
            self.show(s, &args.p[..s.p.len().min(args.p.len())], mask);
        }
        let sorts = matches!(s.step.op.form(), Form::Sort | Form::Merge);
        if sorts && !self.a5.in_scope && self.options.settings.family == Family::A5 {
            let repeats = sort_repeats(s.step.op, args.n);
            let record = self.machine.log.push_single(s.step.op.id(), s.step.st, repeats);
            let touched = self.a5.core.footprint.take();
            self.machine.log.stream.footprints.keep(record, touched);
        }
        self.publish(frame, s);
        if !self.a5.core.remarks.is_empty() {
            self.remarks(OpId(A5_OPS + s.step.op.id().0));
        }
        Ok(())
    }

    fn operands<'f>(&self, frame: &'f Frame, s: &MicroStmt) -> Result<Args<'f>, Stop> {
        let mut args = Args::default();
        for (to, from) in args.v.iter_mut().zip(&s.v) {
            *to = match get(frame, *from) {
                Value::Vreg(v) => v,
                other => return Err(register("a vector register", other)),
            };
        }
        for (to, from) in args.m.iter_mut().zip(&s.m) {
            *to = match get(frame, *from) {
                Value::Mask(m) => *m,
                other => return Err(register("a predicate", other)),
            };
        }
        if let Some(a) = s.a {
            args.a = match get(frame, a) {
                Value::Align(a) => *a,
                other => return Err(register("an align register", other)),
            };
        }
        if let Some(x) = s.s {
            let (v, t) = (get(frame, x), s.step.dt);
            let t = if s.step.op.form() == Form::CmpS { s.step.st } else { t };
            args.s = bits_of(v, t).ok_or_else(|| kind("a scalar", v))?;
        }
        for (to, from) in args.n.iter_mut().zip(&s.n) {
            *to = self.num(frame, *from)?;
        }
        for (to, from) in args.p.iter_mut().zip(&s.p) {
            *to = self.ub_address(frame, from, &mut args.step)?;
        }
        if s.step.mods.post && !matches!(s.step.op.form(), Form::LoadB | Form::StoreB) {
            // The access uses the base; the offset only moves it.
            args.p[0] = args.p[0].wrapping_add_signed(args.step.wrapping_neg());
        }
        Ok(args)
    }

    fn ub_address(&self, frame: &Frame, a: &Address, step: &mut i64) -> Result<u64, Stop> {
        let index = self.num(frame, a.index)?;
        match get(frame, a.ptr) {
            Value::Ptr(p) if p.space == Space::Ub => {
                *step = index.wrapping_mul(p.elem.size() as i64);
                Ok(p.addr.wrapping_add_signed(*step))
            }
            Value::Ptr(_) => {
                Err(refuse("lower.type", "micro-ops address UB, this pointer is to GM"))
            }
            other => Err(kind("a pointer", other)),
        }
    }

    /// Tells the listener what was executed.
    fn show(&mut self, s: &MicroStmt, addresses: &[u64], mask: Option<Mask>) {
        let span = self.span();
        if !self.a5.in_scope {
            return;
        }
        let reg = |kind: Kind| move |id: &Slot| RegId { kind, id: *id };
        let mut reads: SmallVec<[RegId; 8]> = s.v.iter().map(reg(Kind::V)).collect();
        reads.extend(s.m.iter().map(reg(Kind::M)));
        reads.extend(s.a.iter().map(reg(Kind::A)));
        reads.extend(s.s.iter().map(reg(Kind::S)));
        reads.extend(s.n.iter().filter_map(|n| match n {
            Num::Slot(id) => Some(RegId { kind: Kind::I, id: *id }),
            Num::Lit(_) => None,
        }));
        let writes: SmallVec<[RegId; 4]> =
            s.results.iter().map(|(kind, id)| RegId { kind: *kind, id: *id }).collect();
        let touched = std::mem::take(&mut self.a5.core.touched);
        let executed = Executed {
            step: &s.step,
            stmt: s.id,
            span,
            site: self.machine.log.site,
            reads: &reads,
            writes: &writes,
            addresses,
            touched: &touched,
            mask,
        };
        self.a5.listeners().for_each(|l| l.micro(&executed));
        self.a5.core.touched = touched;
    }

    pub(super) fn enter_loop(&mut self, code: &Code, (lo, hi, step): (i64, i64, i64)) {
        if !self.a5.in_scope {
            return;
        }
        let Code::For { iv, carried, results, body, .. } = code else { return };
        let yields = match body.last().map(|s| &s.code) {
            Some(Code::Yield(slots)) => slots.as_slice(),
            _ => &[],
        };
        let span = i128::from(hi) - i128::from(lo);
        let trips = if span > 0 { (span - 1) / i128::from(step.max(1)) + 1 } else { 0 };
        let entry =
            LoopEntry { iv: *iv, trips: trips as u64, range: (lo, step), carried, yields, results };
        self.a5.listeners().for_each(|s| s.enter_loop(&entry));
    }

    pub(super) fn round(&mut self, iv: i64) {
        if self.a5.in_scope {
            self.a5.listeners().for_each(|s| s.round(iv));
        }
    }

    pub(super) fn leave_loop(&mut self) {
        if self.a5.in_scope {
            self.a5.listeners().for_each(|s| s.leave_loop());
        }
    }

    /// Moves the results into their slots.
    fn publish(&mut self, frame: &mut Frame, s: &MicroStmt) {
        let outs = &self.a5.outs;
        let (mut v, mut m, mut n) = (0, 0, 0);
        for (what, slot) in &s.results {
            match what {
                Kind::V => {
                    put(frame, *slot, &outs.v[v.min(1)]);
                    v += 1;
                }
                Kind::M => {
                    set(frame, *slot, Value::Mask(outs.m[m.min(1)]));
                    m += 1;
                }
                Kind::A => set(frame, *slot, Value::Align(outs.a)),
                Kind::I => {
                    set(frame, *slot, Value::Int(outs.n[n.min(3)]));
                    n += 1;
                }
                Kind::P => {
                    let elem = s.p.first().map(|p| get(frame, p.ptr));
                    let elem = match elem {
                        Some(Value::Ptr(p)) => p.elem,
                        _ => s.step.st,
                    };
                    let ptr = Ptr { space: Space::Ub, addr: outs.p, elem };
                    set(frame, *slot, Value::Ptr(ptr));
                }
                Kind::S | Kind::SV => {}
            }
        }
    }

    /// What the core remarked becomes findings.
    pub(super) fn remarks(&mut self, op: OpId) {
        let site = self.machine.log.site;
        for r in std::mem::take(&mut self.a5.core.remarks) {
            let (at, op) = match &r.order {
                Some(o) => (SiteId(o.here), OpId(A5_ORDERS + o.number())),
                None => (site, op),
            };
            let f = Finding::new(r.diag, NONE, at).bytes(Space::Ub, r.bytes.0, r.bytes.1);
            let ends = r.order.map(|o| {
                let inside = [SiteId(o.here), SiteId(o.there)].map(Some);
                let accesses = Some(o.accesses);
                Box::new(Ends {
                    here: o.is,
                    there: o.was,
                    fix: o.fix,
                    within: None,
                    inside,
                    accesses,
                })
            });
            self.machine.findings.add(Finding { ends, ..f }, op);
        }
    }

    /// The same of a scalar access of the vecscope.
    pub(super) fn scalar_remarks(&mut self) {
        if !self.a5.core.remarks.is_empty() {
            self.remarks(OpId(A5_OPS));
        }
    }
}

/// Writes a register, in place where nobody else holds the old one.
fn put(frame: &mut Frame, slot: Slot, v: &VReg) {
    let held = match frame.get_mut(slot as usize) {
        Some(Value::Vreg(old)) => Arc::get_mut(old),
        _ => None,
    };
    match held {
        Some(to) => *to = *v,
        None => set(frame, slot, Value::Vreg(Arc::new(*v))),
    }
}

fn register(want: &str, got: &Value) -> Stop {
    let mut stop = kind(want, got);
    if matches!(got, Value::None) {
        stop.0.notes.push("registers do not survive a vecscope [D: GYM]".into());
        stop.0.help = Some("produce it in the same vecscope".into());
    }
    stop
}
