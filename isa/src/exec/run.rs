//! One run: the entry function, block by block, on machines that share global memory.

use super::auto_sync::{AutoSync, Insert, Touch};
use super::bind::{Binding, bind};
use super::program::*;
use crate::a5::MicroSink;
use crate::instr::Instr;
use crate::machine::{Backend, Log, Machine, Settings, Stale, Stop, indirect, plan};
use crate::table::{Form, Op};
use crate::tile::{Call, OperandOrder, Quirks, Tile};
use ptoemu_core::access::{Role, Space};
use ptoemu_core::check::{Finding, Owner};
use ptoemu_core::diag::{Diagnostic, Span};
use ptoemu_core::dtype::DType;
use ptoemu_core::state::{Gm, Memory, WRITER_NONE};
use ptoemu_core::stream::{Marks, NONE, Pipe, Site, SiteId, Stream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How a program is to be run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Values of the arguments.
    pub args: Vec<Binding>,
    /// Cores; each has its own UB, global memory is shared, and they run in order.
    pub blocks: u32,
    /// Insert synchronisation: `None` decides per program (inserted when it writes none itself).
    pub auto_sync: Option<bool>,
    /// Microcode variant.
    pub quirks: Quirks,
    /// Operand order of swapped row-expand operations.
    pub operand_order: OperandOrder,
    /// Machine settings: sizes, poison, number rules.
    pub settings: Settings,
    /// UB size and the reserved window, for the legality of tile operations.
    pub limits: crate::tile::Limits,
    /// Statements and loop rounds after which the run is given up, if any.
    pub max_steps: Option<u64>,
    /// Counter that follows the statements executed, for a progress display.
    pub progress: Option<Arc<AtomicU64>>,
}

/// Synchronisation the executor put in, and the statement it stands before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inserted {
    /// Statement.
    pub span: Span,
    /// What was inserted.
    pub what: Insert,
}

/// A buffer or tile after the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Argument name.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Contents.
    pub bytes: Vec<u8>,
}

/// What one block left.
#[derive(Clone, Debug, Default)]
pub struct BlockRun {
    /// What it issued.
    pub stream: Stream,
    /// What the checks found.
    pub findings: Vec<Finding>,
    /// Where its tiles lay in UB; of a name that was given several places, the last.
    pub tiles: Vec<Owner>,
}

/// What a run left.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Each block in order.
    pub blocks: Vec<BlockRun>,
    /// Notes about the program: placements, legality notes.
    pub notes: Vec<Diagnostic>,
    /// Synchronisation inserted in the first block.
    pub inserted: Vec<Inserted>,
    /// Arguments after the run.
    pub outputs: Vec<Output>,
    /// The fault that stopped the run, if one did.
    pub stop: Option<Diagnostic>,
    /// Bytes at which two records met that changed places, if they did.
    pub swapped: Option<Vec<u8>>,
}

/// Statements between two looks at the step budget's end never exceed one.
const MAX_CALLS: usize = 100;
/// Most bodies one in the other over all calls: each takes its share of the thread's stack, and
/// 2 MiB must do.
const MAX_BLOCKS: usize = 1000;

pub(super) struct Exec<'p> {
    pub(super) program: &'p Program,
    pub(super) machine: Machine,
    pub(super) options: &'p Options,
    pub(super) blocks: u32,
    pub(super) block_index: u32,
    pub(super) notes: Vec<Diagnostic>,
    pub(super) a5: super::a5::State<'p>,
    sync: Option<AutoSync>,
    inserted: Vec<Inserted>,
    span: Span,
    /// Number of the program's file in sites.
    file: u16,
    steps: u64,
    calls: usize,
    blocks_open: usize,
    pub(super) queues: super::queue::Queues,
    pub(super) buffers: Box<super::buffers::Buffers>,
}

/// Runs a lowered program once; see [`Runner::run`].
pub fn run(program: &Program, options: &Options) -> Result<Outcome, Vec<Diagnostic>> {
    Runner::default().run(program, options)
}

/// The same with a listener to the vecscopes of 950 programs.
pub fn run_with(
    program: &Program,
    options: &Options,
    sink: Option<&mut dyn MicroSink>,
) -> Result<Outcome, Vec<Diagnostic>> {
    run_on(&mut None, program, options, sink)
}

/// Runs programs one after the other on the same memory.
#[derive(Debug, Default)]
pub struct Runner {
    ub: Option<Memory>,
}

impl Runner {
    /// Runs a lowered program. `Err` lists why it was refused before anything ran.
    pub fn run(
        &mut self,
        program: &Program,
        options: &Options,
    ) -> Result<Outcome, Vec<Diagnostic>> {
        run_on(&mut self.ub, program, options, None)
    }
}

fn run_on(
    spare: &mut Option<Memory>,
    program: &Program,
    options: &Options,
    sink: Option<&mut dyn MicroSink>,
) -> Result<Outcome, Vec<Diagnostic>> {
    // Borrowed anew, so that it need not outlive the program.
    let mut sink: Option<&mut dyn MicroSink> = match sink {
        Some(s) => Some(&mut *s),
        None => None,
    };
    let bound = bind(program, &options.args, &options.settings)?;
    let mut out = Outcome::default();
    let mut gm = bound.gm;
    if !options.settings.checks.init {
        for n in 0..gm.buffers().len() {
            gm.buffer_mut(n).into_iter().for_each(|b| b.mem.shadow.switch_off());
        }
    }
    let mut tiles = Vec::new();
    for block in 0..options.blocks.max(1) {
        let mut exec = Exec::new(program, options, gm, block, spare.take());
        exec.a5.sink = sink.take();
        exec.fill_tiles(&bound.tiles);
        let entry = exec.machine.modes();
        let result = exec.call(program.entry, bound.values.clone()).and_then(|_| exec.finish());
        if result.is_ok() {
            exec.machine.leave(&entry, true);
        }
        tiles = tile_outputs(program, &exec.machine);
        sink = exec.a5.sink.take();
        let turn = std::mem::take(&mut exec.a5.core.turn);
        let Machine { ub, gm: after, log: Log { stream, .. }, findings, owners, swapping, .. } =
            exec.machine;
        out.swapped = out.swapped.or(swapping.into_seen()).or(turn.into_seen());
        *spare = Some(ub);
        gm = after;
        let findings = findings.items().to_vec();
        out.blocks.push(BlockRun { stream, findings, tiles: owners });
        if block == 0 {
            (out.inserted, out.notes) = (exec.inserted, exec.notes);
        }
        if let Err(stop) = result {
            out.stop = Some(*stop.0);
            break;
        }
    }
    let buffers = gm.buffers().iter().map(|b| Output {
        name: b.name.clone(),
        dtype: b.dtype,
        bytes: b.mem.bytes.as_slice().to_vec(),
    });
    out.outputs = buffers.chain(tiles).collect();
    Ok(out)
}

fn tile_outputs(program: &Program, m: &Machine) -> Vec<Output> {
    let mut out = Vec::new();
    for a in &program.funcs[program.entry].args {
        let ArgKind::Tile(t, place) = &a.kind else { continue };
        let addr = program.address(*place);
        if let Some(bytes) = m.ub.bytes.get(addr, t.bytes() as usize) {
            out.push(Output { name: a.name.clone(), dtype: t.dtype, bytes: bytes.to_vec() });
        }
    }
    out
}

impl<'p> Exec<'p> {
    fn new(
        program: &'p Program,
        options: &'p Options,
        gm: Gm,
        block_index: u32,
        spare: Option<Memory>,
    ) -> Self {
        let blocks = options.blocks.max(1);
        let settings =
            Settings { block_idx: block_index, block_num: blocks, ..options.settings.clone() };
        let mut machine = match spare {
            Some(ub) => Machine::reusing(settings, ub),
            None => Machine::new(settings),
        };
        machine.gm = gm;
        let auto = options.auto_sync.unwrap_or(!program.funcs.iter().any(|f| f.has_sync));
        let mut exec = Exec::within(program, options, machine, 0);
        exec.a5.core.watch = options.settings.checks.race;
        let own = |s: &&Arc<Stale>| s.inside && s.core == block_index;
        exec.a5.core.turn.of = options.settings.stale.as_ref().filter(own).cloned();
        Exec { blocks, block_index, sync: auto.then(AutoSync::default), ..exec }
    }

    /// An executor of another program, number `file`, on a machine that is in use.
    pub(super) fn within(
        program: &'p Program,
        options: &'p Options,
        machine: Machine,
        file: u16,
    ) -> Self {
        Exec {
            program,
            blocks: machine.settings.block_num,
            block_index: machine.settings.block_idx,
            machine,
            options,
            notes: Vec::new(),
            a5: super::a5::State::default(),
            sync: None,
            inserted: Vec::new(),
            span: Span::default(),
            file,
            steps: 0,
            calls: 0,
            blocks_open: 0,
            queues: Default::default(),
            buffers: Box::default(),
        }
    }

    /// Contents of tile arguments.
    fn fill_tiles(&mut self, tiles: &[(u64, Vec<u8>)]) {
        for (addr, bytes) in tiles {
            if let Some(to) = self.machine.ub.bytes.get_mut(*addr, bytes.len()) {
                to.copy_from_slice(bytes);
                let end = addr + bytes.len() as u64;
                self.machine.ub.shadow.set(*addr, end, true, WRITER_NONE);
            }
        }
    }

    /// Counts one statement or loop round.
    pub(super) fn spend(&mut self) -> Result<(), Stop> {
        self.steps += 1;
        if let (0, Some(p)) = (self.steps % 1024, &self.options.progress) {
            p.fetch_add(1024, Ordering::Relaxed);
        }
        match self.options.max_steps {
            Some(most) if self.steps > most => Err(super::frame::refuse_with(
                "limit.steps",
                format!("gave up after {most} statements and loop rounds"),
                "if the loop ends, allow more with --max-steps",
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn enter(&mut self) -> Result<(), Stop> {
        self.calls += 1;
        if self.calls > MAX_CALLS {
            return Err(super::frame::refuse(
                "limit.calls",
                "functions call each other too deeply",
            ));
        }
        Ok(())
    }

    /// A body within the current one begins.
    pub(super) fn deeper(&mut self) -> Result<(), Stop> {
        self.blocks_open += 1;
        if self.blocks_open > MAX_BLOCKS {
            let text = format!("more than {MAX_BLOCKS} bodies one in the other");
            return Err(super::frame::refuse("limit.calls", text));
        }
        Ok(())
    }

    /// It ends.
    pub(super) fn shallower(&mut self) {
        self.blocks_open -= 1;
    }

    /// The statement being executed.
    pub(super) fn span(&self) -> Span {
        self.span
    }

    /// Statements to come are those of `span`.
    pub(super) fn set_span(&mut self, span: Span) {
        self.span = span;
    }

    pub(super) fn leave(&mut self) {
        self.calls -= 1;
    }

    /// Records that follow come from this statement and from no tile operation.
    pub(super) fn at_statement(&mut self, span: Span) {
        self.span = span;
        let site = SiteId(self.machine.log.stream.sites.intern(Site { span, file: self.file }));
        self.machine.at(site, NONE);
    }

    /// Records that follow belong to a new dynamic tile operation.
    pub(super) fn begin_group(&mut self, call: &Call) {
        let site = Site { span: self.span, file: self.file };
        let site = SiteId(self.machine.log.stream.sites.intern(site));
        self.machine.log.stream.groups.push(call.group(site));
        let group = (self.machine.log.stream.groups.len() - 1) as u32;
        self.machine.at(site, group);
    }

    /// Tells the machine who owns the bytes of a tile.
    pub(super) fn own(&mut self, t: &Tile) {
        let owner = Owner::from((t.name.clone(), t.addr, t.end()));
        match self.machine.owners.iter_mut().find(|o| o.name == owner.name) {
            Some(known) => *known = owner,
            None => self.machine.owners.push(owner),
        }
    }

    /// Orders what follows after what it depends on, in programs without own synchronisation.
    pub(super) fn order(&mut self, pipe: Pipe, touches: &[Touch]) -> Result<(), Stop> {
        let Some(sync) = &mut self.sync else { return Ok(()) };
        for what in sync.before(pipe, touches) {
            self.inserted.push(Inserted { span: self.span, what });
            let instrs = match what {
                Insert::Barrier(p) => vec![(Op::pipe_barrier, vec![p as i64])],
                Insert::Flag(f) => {
                    let args = vec![f.src as i64, f.dst as i64, i64::from(f.id)];
                    vec![(Op::set_flag, args.clone()), (Op::wait_flag, args)]
                }
            };
            for (op, args) in instrs {
                self.raw(&Instr::new(op, DType::I8, &args).marked(Marks::AUTO))?;
            }
        }
        Ok(())
    }

    /// Issues an instruction of the program itself, ordered automatically where that is on.
    pub(super) fn issue(&mut self, instr: &Instr) -> Result<u64, Stop> {
        if self.a5.in_scope {
            return self.inside(instr);
        }
        if self.sync.is_some() {
            let touches = self.touches(instr);
            self.order(Self::pipe_of(instr), &touches)?;
        }
        self.dispatch(instr)
    }

    /// A scalar access inside a vecscope is part of it.
    fn inside(&mut self, instr: &Instr) -> Result<u64, Stop> {
        let p = plan(instr, &self.machine.regs);
        self.a5.core.site = self.machine.log.site.0;
        let number = self.a5.core.order.upcoming();
        self.a5.core.before(&mut self.machine.ub);
        for (base, w) in (0..3).filter_map(|n| p.operand(n)) {
            let n = u64::from(w.unit);
            match w.space {
                Space::Ub => {
                    let write = w.role != Role::Read;
                    self.a5.core.scalar_access(instr.op.mnemonic(), base, n, write);
                }
                Space::Gm => {
                    let end = base.saturating_add(n);
                    self.a5.core.footprint.touch(Space::Gm, w.role, base, end);
                }
            }
        }
        self.scalar_remarks();
        let done = Backend::issue(&mut self.machine, &instr.marked(Marks::INSIDE));
        self.a5.core.after(number, &mut self.machine.ub);
        done
    }

    /// Issues an instruction as it stands.
    pub(super) fn raw(&mut self, instr: &Instr) -> Result<(), Stop> {
        self.dispatch(instr).map(drop)
    }

    /// Ranges an instruction touches: from the first to the last byte of every operand, and a range
    /// beyond UB for CMPMASK.
    fn touches(&self, instr: &Instr) -> Vec<Touch> {
        let p = plan(instr, &self.machine.regs);
        let ub = self.options.settings.ub_bytes;
        let range = |start, end, write| Touch { space: Space::Ub, start, end, write };
        let mut out: Vec<Touch> = match instr.op.form() {
            Form::CmpReg | Form::SetCmpMask => vec![range(ub, ub + 16, true)],
            // Its mode may read bits from anywhere in UB.
            Form::Sel => vec![range(0, ub + 16, false)],
            // What they read lies where data or registers say.
            form if indirect(form) => vec![range(0, ub, false)],
            // What reduced last also wrote its result to UB.
            _ if matches!(instr.op, Op::get_acc_val | Op::get_max_min_cnt) => {
                vec![range(0, ub, false)]
            }
            _ => Vec::new(),
        };
        for n in 0..3 {
            let Some((base, walk)) = p.operand(n) else { continue };
            let Some((start, end)) = walk.extent(base, u64::from(p.repeats)) else { continue };
            for (write, on) in [(false, walk.role != Role::Write), (true, walk.role != Role::Read)]
            {
                if on {
                    out.push(Touch { space: walk.space, start, end, write });
                }
            }
        }
        out
    }
}
