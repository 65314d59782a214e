//! What is done with a vector function: values on the machine, a program for the timing model, a
//! listing.

use super::function::{Function, M, Micro, Node, V};
use crate::a5::{Align, Args, Core, Form, Op, Outs, Step, VL, VReg, timing};
use crate::instr::Instr;
use crate::machine::{Backend, Machine, Recorder, Stop};
use ptoemu_core::access::Space;
use ptoemu_core::check::Finding;
use ptoemu_core::dtype::DType;
use ptoemu_core::mask::Mask;
use ptoemu_core::state::Memory;
use ptoemu_core::time::vf::{self, Access, File, Inst, Reg, UB, VfProgram, mreg, vreg};
use smallvec::SmallVec;

type Done = Result<(), Stop>;

/// Whatever takes the microcode of the 950.
pub trait Issue {
    /// Launches a vector function.
    fn function(&mut self, f: &Function) -> Done;
    /// Issues an instruction of the vector pipe that stands outside any function.
    fn single(&mut self, s: &Single) -> Done;
    /// Takes transfers, flags and scalar accesses.
    fn instructions(&mut self) -> &mut dyn Backend;
}

/// An instruction on UB, outside any function.
#[derive(Clone, Debug, PartialEq)]
pub struct Single {
    /// Instruction and element type.
    pub step: Step,
    /// UB addresses, in the order of its form.
    pub p: SmallVec<[u64; 5]>,
    /// Integer operands.
    pub n: [i64; 2],
}

impl Single {
    /// An instruction with its operands.
    pub fn new(op: Op, t: DType, p: &[u64], n: [i64; 2]) -> Single {
        Single { step: Step::new(op, t), p: SmallVec::from_slice(p), n }
    }

    /// Repeats it runs.
    pub fn repeats(&self) -> u32 {
        sort_repeats(self.step.op, self.n)
    }
}

/// Repeats of a sort or merge: its own operand, or the low byte of its configuration.
pub(crate) fn sort_repeats(op: Op, n: [i64; 2]) -> u32 {
    let n = if op.form() == Form::Merge { n[1] & 0xFF } else { n[0] };
    u32::try_from(n).unwrap_or(0)
}

/// Executes for values, and records.
pub struct Values<'a> {
    /// Memories and the stream.
    pub machine: &'a mut Machine,
    /// Special registers of the vector core.
    pub core: &'a mut Core,
}

impl Issue for Values<'_> {
    fn function(&mut self, f: &Function) -> Done {
        let m = &mut *self.machine;
        let rec = m.log.push_function(f.program(), f.dtype);
        self.core.writer = rec;
        self.core.footprint.take();
        self.core.enter_scope();
        m.before(rec);
        let done = f.run(self.core, &mut m.ub);
        m.after(rec);
        if self.core.watch {
            m.log.stream.footprints.keep(rec, self.core.footprint.take());
        }
        self.core.leave_scope();
        self.report(rec);
        done
    }

    fn single(&mut self, s: &Single) -> Done {
        let m = &mut *self.machine;
        let rec = m.log.push_single(s.step.op.id(), s.step.dt, s.repeats());
        self.core.writer = rec;
        let mut args = Args { n: s.n, ..Args::default() };
        args.p.iter_mut().zip(&s.p).for_each(|(to, from)| *to = *from);
        self.core.footprint.take();
        m.before(rec);
        let done = self.core.exec(&mut m.ub, &s.step, &args, &mut Outs::default());
        m.after(rec);
        if self.core.watch {
            m.log.stream.footprints.keep(rec, self.core.footprint.take());
        }
        self.report(rec);
        done
    }

    fn instructions(&mut self) -> &mut dyn Backend {
        self.machine
    }
}

impl Values<'_> {
    /// What the core remarked becomes findings of a record.
    fn report(&mut self, rec: u32) {
        let m = &mut *self.machine;
        // Microcode reduces empty halves on purpose: their identity is what it wants.
        let meant = |code: &str| code == "params.empty_mask";
        let all = std::mem::take(&mut self.core.remarks).into_iter();
        for mut r in all.filter(|r| !meant(r.diag.code)) {
            if let Some(o) = &r.order {
                let group = m.log.stream.groups.get(m.log.group as usize);
                let of = group.map_or(String::new(), |g| format!(" of {}", g.name));
                let (access, fix) = (o.is.split(' ').next().unwrap_or_default(), &o.fix);
                let place = format!("in the vector function{of}, record {rec}");
                r.diag.help = Some(format!("{place}, before its {access}: {fix}"));
            }
            let f = Finding::new(r.diag, rec, m.log.site).bytes(Space::Ub, r.bytes.0, r.bytes.1);
            let op = m.log.stream.records.get(rec as usize).map(|r| r.op);
            m.findings.add(f, op.unwrap_or(Op::vlds.id()));
        }
    }
}

impl Issue for Recorder {
    fn single(&mut self, s: &Single) -> Done {
        self.log.push_single(s.step.op.id(), s.step.dt, s.repeats());
        Ok(())
    }

    fn function(&mut self, f: &Function) -> Done {
        self.log.push_function(f.program(), f.dtype);
        Ok(())
    }

    fn instructions(&mut self) -> &mut dyn Backend {
        self
    }
}

/// One line of a listing.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A vector function.
    Function(Function),
    /// An instruction of the vector pipe outside any function.
    Single(Single),
    /// An instruction of another pipe.
    Instr(Instr),
}

/// Collects what would be issued.
#[derive(Clone, Debug, Default)]
pub struct Listing(pub Vec<Item>);

impl Issue for Listing {
    fn single(&mut self, s: &Single) -> Done {
        self.0.push(Item::Single(s.clone()));
        Ok(())
    }

    fn function(&mut self, f: &Function) -> Done {
        self.0.push(Item::Function(f.clone()));
        Ok(())
    }

    fn instructions(&mut self) -> &mut dyn Backend {
        self
    }
}

impl Backend for Listing {
    fn issue(&mut self, i: &Instr) -> Result<u64, Stop> {
        self.0.push(Item::Instr(*i));
        Ok(0)
    }
}

/// Is told of every micro-op with the predicates it reads, its address, and whether it stored.
type Probe<'p> = &'p mut dyn FnMut(&Micro, &[Mask], Option<u64>, bool);

/// Registers while a function runs.
struct Regs<'p> {
    probe: Option<Probe<'p>>,
    v: Vec<VReg>,
    m: Vec<Mask>,
    /// Loads each predicate was computed from.
    made_of: Vec<u64>,
    align: Align,
    counters: Vec<u64>,
    outs: Box<Outs>,
}

impl Function {
    /// Executes it for values.
    pub fn run(&self, core: &mut Core, ub: &mut Memory) -> Done {
        self.go(core, ub, None)
    }

    /// The same, telling what is executed.
    pub fn run_with(&self, core: &mut Core, ub: &mut Memory, probe: Probe<'_>) -> Done {
        self.go(core, ub, Some(probe))
    }

    fn go(&self, core: &mut Core, ub: &mut Memory, probe: Option<Probe<'_>>) -> Done {
        let mut r = Regs {
            probe,
            v: vec![VReg::poison(0xCD); usize::from(self.vectors)],
            m: vec![Mask::NONE; usize::from(self.masks)],
            made_of: vec![0; usize::from(self.masks)],
            align: Align::default(),
            counters: Vec::new(),
            outs: Box::default(),
        };
        r.nodes(&self.body, core, ub)
    }

    /// The form the timing model takes.
    pub fn program(&self) -> VfProgram {
        let mut p = VfProgram::default();
        p.body = nodes(&self.body, self.dynamic, &mut p);
        vf::allocate(&mut p);
        p
    }
}

impl Regs<'_> {
    fn nodes(&mut self, list: &[Node], core: &mut Core, ub: &mut Memory) -> Done {
        for n in list {
            match n {
                Node::Op(m) => self.micro(m, core, ub)?,
                Node::Loop(trips, body) => {
                    let depth = self.counters.len();
                    for i in 0..*trips {
                        self.counters.truncate(depth);
                        self.counters.push(i);
                        self.nodes(body, core, ub)?;
                    }
                    self.counters.truncate(depth);
                }
            }
        }
        Ok(())
    }

    fn micro(&mut self, s: &Micro, core: &mut Core, ub: &mut Memory) -> Done {
        let mut args = Args { a: self.align, s: s.s, ..Args::default() };
        for (to, V(i)) in args.v.iter_mut().zip(&s.v) {
            *to = self.v.get(usize::from(*i)).unwrap_or(*to);
        }
        for (to, M(i)) in args.m.iter_mut().zip(&s.m) {
            *to = self.m.get(usize::from(*i)).copied().unwrap_or(Mask::NONE);
        }
        if let Some(n) = &s.n {
            args.n[0] = n.at(&self.counters);
        }
        if let Some(p) = &s.p {
            args.p[0] = p.at(&self.counters) as u64;
        }
        let made_of = |M(i): &M| self.made_of.get(usize::from(*i)).copied().unwrap_or(0);
        core.carried = s.m.iter().fold(0, |all, m| all | made_of(m));
        core.exec(ub, &s.step, &args, &mut self.outs)?;
        if let Some(probe) = &mut self.probe {
            let stored = core.touched.iter().any(|t| t.write);
            probe(s, &args.m[..s.m.len().min(3)], s.p.as_ref().map(|_| args.p[0]), stored);
        }
        let governing = args.m[s.m.len().saturating_sub(1).min(2)];
        for (V(d), new) in s.dst.iter().zip(&self.outs.v) {
            let Some(to) = self.v.get_mut(usize::from(*d)) else { continue };
            if s.merge {
                let (size, from) = (s.step.dt.size(), (to.from, new.from));
                merge(to, new, &governing, size);
                if core.watch {
                    to.from = core.flow.merge(size, governing, from.0, from.1);
                }
            } else {
                *to = *new;
            }
        }
        for (M(d), new) in s.masks.iter().zip(&self.outs.m) {
            if let Some(to) = self.m.get_mut(usize::from(*d)) {
                *to = *new;
                self.made_of[usize::from(*d)] = core.produced;
            }
        }
        match s.step.op.form() {
            Form::Prime | Form::LoadU | Form::StreamN => self.align = self.outs.a,
            Form::FlushN => self.align = Align::default(),
            _ => {}
        }
        Ok(())
    }
}

/// Active lanes from `new`; the others stay.
fn merge(to: &mut VReg, new: &VReg, mask: &Mask, size: usize) {
    to.sources |= new.sources;
    let active = crate::a5::reg::byte_mask(mask, size);
    for i in (0..VL).filter(|i| active.get(*i)) {
        to.bytes_mut()[i] = new.bytes()[i];
        to.undef.set(i, new.undef.get(i));
    }
}

fn nodes(list: &[Node], dynamic: bool, p: &mut VfProgram) -> Vec<vf::Node> {
    let mut out = Vec::new();
    for n in list {
        match n {
            Node::Loop(trips, body) => {
                let body = nodes(body, dynamic, p);
                out.push(vf::Node::Loop(vf::Loop { trips: *trips, body, hardware: true, dynamic }));
            }
            Node::Op(m) => out.extend(inst(m, p).map(|i| p.add(i))),
        }
    }
    out
}

const ALIGN: Reg = Reg { file: File::Align, id: 0 };

fn inst(m: &Micro, p: &mut VfProgram) -> Option<Inst> {
    let kind = timing::kind(m.step.op, &m.step.mods)?;
    let class = p.class_of(timing::class(&m.step));
    let mut i = Inst::new(class, kind);
    i.src = m.v.iter().map(|v| vreg(v.0)).chain(m.m.iter().map(|m| mreg(m.0))).collect();
    i.dst = m.dst.iter().map(|v| vreg(v.0)).chain(m.masks.iter().map(|m| mreg(m.0))).collect();
    if m.merge {
        i.src.extend(m.dst.iter().map(|v| vreg(v.0)));
    }
    match m.step.op.form() {
        Form::Prime => i.dst.push(ALIGN),
        Form::FlushN => i.src.push(ALIGN),
        Form::LoadU | Form::StreamN => {
            i.src.push(ALIGN);
            i.dst.push(ALIGN);
        }
        _ => {}
    }
    i.post_update = m.step.mods.post;
    let at = m.p.as_ref();
    i.access = at.map(|a| Access::contiguous(UB, a.base, &a.steps, timing::bytes(&m.step)));
    Some(i)
}
