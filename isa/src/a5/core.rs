//! State of the 950 vector core beside its vector registers, and what one micro-op sees of it.

use super::flow::Flow;
use super::mode::Mods;
use super::order::Order;
use super::reg::{Align, VL, VReg};
use super::remark::Remark;
use super::table::Op;
use super::turn::Turn;
use crate::machine::Stop;
use ptoemu_core::diag::{Diagnostic, Level};
use ptoemu_core::dtype::DType;
use ptoemu_core::footprint::Collector;
use ptoemu_core::mask::Mask;
use ptoemu_core::num::NumMode;
use ptoemu_core::state::{Memory, WRITER_NONE};
use ptoemu_core::stream::NONE;
use smallvec::SmallVec;

/// Bytes of UB.
pub const UB_BYTES: u64 = 256 * 1024;
/// UB bytes programs may rely on; the 8 KB above are reserved `[U: some material says so]`.
pub const UB_USABLE: u64 = 248 * 1024;
/// CTRL bit that makes the saturation bits act on every instruction.
pub const CTRL_GLOBAL: u32 = 60;

/// What is known of a micro-op before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The instruction.
    pub op: Op,
    /// Element type of the result (of the first source where no vector results).
    pub dt: DType,
    /// Element type of the first vector source, or of the memory loaded from.
    pub st: DType,
    /// Bytes of the element one predicate lane stands for: 1, 2 or 4.
    pub gran: u8,
    /// Modes.
    pub mods: Mods,
}

impl Step {
    /// A micro-op on one element type without modes.
    pub fn new(op: Op, t: DType) -> Step {
        Step {
            op,
            dt: t,
            st: t,
            gran: op.gran().unwrap_or(t.size().min(4) as u8),
            mods: Mods::default(),
        }
    }
}

static ZERO: VReg = VReg::ZERO;

/// Operands of a micro-op, in the order of its form.
#[derive(Clone, Copy, Debug)]
pub struct Args<'a> {
    /// Vector operands.
    pub v: [&'a VReg; 3],
    /// Predicate operands, the governing one last.
    pub m: [Mask; 3],
    /// Align operand.
    pub a: Align,
    /// Integer operands: counts, strides, loop counters.
    pub n: [i64; 2],
    /// Scalar operand of the element type, as bits.
    pub s: u64,
    /// Byte addresses in UB, offset applied.
    pub p: [u64; 5],
    /// Bytes a post-update adds to the base.
    pub step: i64,
}

impl Default for Args<'_> {
    fn default() -> Self {
        Args {
            v: [&ZERO; 3],
            m: [Mask::NONE; 3],
            a: Align::default(),
            n: [0; 2],
            s: 0,
            p: [0; 5],
            step: 0,
        }
    }
}

/// Results of a micro-op, in the order of its form.
#[derive(Clone, Copy, Debug)]
pub struct Outs {
    /// Vector results.
    pub v: [VReg; 2],
    /// Predicate results.
    pub m: [Mask; 2],
    /// Align result.
    pub a: Align,
    /// Scalar results.
    pub n: [i64; 4],
    /// Updated base address.
    pub p: u64,
}

impl Default for Outs {
    fn default() -> Self {
        Outs { v: [VReg::ZERO; 2], m: [Mask::NONE; 2], a: Align::default(), n: [0; 4], p: 0 }
    }
}

/// UB bytes a micro-op read or wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// First byte.
    pub addr: u64,
    /// Number of bytes.
    pub bytes: u32,
    /// Written rather than read.
    pub write: bool,
}

/// Registers, and what the last micro-ops left to look at.
#[derive(Clone, Debug)]
pub struct Core {
    /// AR: running byte offset of `vstur` and `vstar`.
    pub ar: u64,
    /// SQZN: bytes the last `vsqz` kept.
    pub sqzn: u32,
    /// CTRL.
    pub ctrl: u64,
    /// VMS4_SR: records consumed from each list by the last merge.
    pub vms4: [u16; 4],
    /// Number rules before CTRL.
    pub num: NumMode,
    /// Record that owns what is written to UB.
    pub writer: u32,
    /// Loads that the predicates of the next micro-op were computed from, and those that the
    /// results of the last one were.
    pub carried: u64,
    /// See [`Core::carried`].
    pub produced: u64,
    /// Number of the source site of the micro-op under way.
    pub site: u32,
    /// UB accesses of the last micro-op.
    pub touched: SmallVec<[Touch; 8]>,
    /// Accesses are followed for the checks.
    pub watch: bool,
    /// Two accesses that change places in this run.
    pub turn: Turn,
    /// Where the registers of the vecscope come from.
    pub flow: Flow,
    /// UB accesses of the vector function under way.
    pub footprint: Collector,
    /// Remarks, each kind once an instruction until taken.
    pub remarks: Vec<Remark>,
    /// Order of UB accesses in the current vecscope.
    pub order: Order,
    /// Store streams with bytes still in an align register: stream and end address.
    pub open: Vec<(u32, u64)>,
    streams: u32,
}

impl Default for Core {
    fn default() -> Self {
        Core {
            ar: 0,
            sqzn: 0,
            ctrl: 0,
            vms4: [0; 4],
            num: NumMode::default(),
            writer: WRITER_NONE,
            carried: 0,
            produced: 0,
            site: NONE,
            touched: SmallVec::new(),
            watch: true,
            turn: Turn::default(),
            flow: Flow::default(),
            footprint: Collector::default(),
            remarks: Vec::new(),
            order: Order::default(),
            open: Vec::new(),
            streams: 0,
        }
    }
}

/// Most remarks kept until somebody takes them.
const MAX_REMARKS: usize = 64;

impl Core {
    /// As new; large tables are kept.
    pub fn restart(&mut self) {
        let (order, flow) = (std::mem::take(&mut self.order), std::mem::take(&mut self.flow));
        let footprint = std::mem::take(&mut self.footprint);
        *self = Core { order, flow, footprint, watch: self.watch, ..Core::default() };
    }

    /// A number for a new store stream.
    pub(super) fn new_stream(&mut self) -> u32 {
        self.streams = self.streams.wrapping_add(1).max(1);
        self.streams
    }

    /// Adds a remark unless the same message is waiting already.
    pub fn remark(&mut self, diag: Diagnostic, bytes: (u64, u64)) {
        self.put(Remark { diag, bytes, order: None });
    }

    pub(super) fn put(&mut self, remark: Remark) {
        let ends = |r: &Remark| r.order.as_ref().map(|o| (o.here, o.there));
        let same = |r: &Remark| {
            (r.diag.code, &r.diag.message) == (remark.diag.code, &remark.diag.message)
                && ends(r) == ends(&remark)
        };
        if !self.remarks.iter().any(same) && self.remarks.len() < MAX_REMARKS {
            self.remarks.push(remark);
        }
    }

    /// Start of a vecscope.
    pub fn enter_scope(&mut self) {
        if self.watch {
            self.flow.clear();
            self.order.enter();
        }
    }

    /// End of a vecscope: store streams that were never flushed are reported, AR and SQZN stay.
    pub fn leave_scope(&mut self) {
        self.order.leave();
        for (_, end) in std::mem::take(&mut self.open) {
            let diag = Diagnostic::new(
                "align.flush",
                Level::Warning,
                format!("an unaligned store stream ends at UB {end:#x} without a flush"),
            )
            .note("the last bytes of the stream stay in the align register until vstas or vstar")
            .help("flush it with vstas or vstar before the vecscope ends");
            self.remark(diag, (end & !31, end));
        }
    }
}

/// A micro-op under way.
pub struct Run<'r, 'a> {
    /// What is known statically.
    pub step: Step,
    /// Operands.
    pub args: &'r Args<'a>,
    /// Results.
    pub outs: &'r mut Outs,
    /// Registers.
    pub core: &'r mut Core,
    /// Unified Buffer.
    pub ub: &'r mut Memory,
}

pub(super) type Done = Result<(), Stop>;

impl Run<'_, '_> {
    /// The governing predicate: the last one of the form.
    pub fn mask(&self) -> Mask {
        let masks = self.step.op.form().masks();
        masks.checked_sub(1).and_then(|i| self.args.m.get(i)).copied().unwrap_or(Mask::first(VL))
    }

    fn name(&self) -> &'static str {
        self.step.op.mnemonic()
    }

    /// A fault at UB bytes.
    pub fn fault(&self, code: &'static str, message: String) -> Stop {
        Stop(Box::new(Diagnostic::error(code, format!("{}: {message}", self.name()))))
    }

    /// A warning that names the instruction.
    pub fn warn(&mut self, code: &'static str, message: &str, bytes: (u64, u64)) {
        let text = format!("{}: {message}", self.name());
        self.core.remark(Diagnostic::new(code, Level::Warning, text), bytes);
    }

    /// The address must be a multiple of `align`.
    pub fn aligned(&self, addr: u64, align: u64) -> Done {
        if addr.is_multiple_of(align.max(1)) {
            return Ok(());
        }
        let mut stop = self.fault(
            "memcheck.align",
            format!("UB address {addr:#x} is not a multiple of {align} bytes"),
        );
        stop.0
            .notes
            .push(format!("this distribution needs {align}-byte aligned addresses [D: ASC]"));
        stop.0.help = Some(format!(
            "use {:#x}, or the unaligned forms vldas/vldus, vstus/vstas",
            addr - addr % align
        ));
        Err(stop)
    }

    /// `n` bytes at `addr` must lie in UB.
    pub fn inside(&mut self, addr: u64, n: u64) -> Done {
        let end = addr.checked_add(n).filter(|e| *e <= self.ub.len() as u64);
        let Some(end) = end else {
            let mut stop = self.fault(
                "memcheck.range",
                format!(
                    "UB bytes {addr:#x}..{:#x} are beyond the {} KB of UB",
                    addr.wrapping_add(n),
                    self.ub.len() / 1024
                ),
            );
            stop.0.help = Some("check base, offset and strides; loads are not cut by masks".into());
            return Err(stop);
        };
        if end > UB_USABLE && addr < UB_BYTES && self.ub.len() as u64 == UB_BYTES {
            self.warn(
                "memcheck.reserved",
                "UB above 248 KB may be reserved",
                (addr.max(UB_USABLE), end),
            );
        }
        Ok(())
    }

    /// Up to 256 bytes at `addr` as a register with its undefined bytes.
    pub fn load(&mut self, addr: u64, n: usize) -> Result<VReg, Stop> {
        self.inside(addr, n as u64)?;
        self.core.touched.push(Touch { addr, bytes: n as u32, write: false });
        let mut v = VReg::from_bytes(self.ub.bytes.get(addr, n).unwrap_or(&[]));
        v.undef = self.undefined(addr, n);
        Ok(v)
    }

    /// Undefined bytes of `n` bytes (at most 256) at `addr`, bit i for byte `addr + i`.
    fn undefined(&self, addr: u64, n: usize) -> Mask {
        let shadow = &self.ub.shadow;
        if shadow.is_defined(addr, addr + n as u64) {
            return Mask::NONE;
        }
        let mut m = Mask::NONE;
        for i in 0..n.min(VL) {
            m.set(i, !shadow.is_defined(addr + i as u64, addr + i as u64 + 1));
        }
        m
    }

    /// Writes the bytes of `image` that `bytes` selects to UB at `addr`.
    pub fn store(&mut self, addr: u64, image: &VReg, bytes: &Mask) -> Done {
        let words = bytes.words();
        let top = (0..4)
            .rev()
            .find(|i| words[*i] != 0)
            .map(|i| 64 * i + 63 - words[i].leading_zeros() as usize);
        let (Some(first), Some(last)) = (bytes.lowest(), top) else { return Ok(()) };
        let (start, n) = (addr.saturating_add(first as u64), last + 1 - first);
        self.inside(start, n as u64)?;
        let whole = bytes.count() == n;
        if whole {
            self.core.touched.push(Touch { addr: start, bytes: n as u32, write: true });
        } else {
            self.touch_runs(addr, bytes);
        }
        let Some(to) = self.ub.bytes.get_mut(start, n) else { return Ok(()) };
        for (i, b) in to.iter_mut().enumerate() {
            if whole || bytes.get(first + i) {
                *b = image.bytes()[first + i];
            }
        }
        let writer = self.core.writer;
        if whole && image.undef.is_empty() {
            self.ub.shadow.set(start, start + n as u64, true, writer);
            return Ok(());
        }
        for i in bytes.iter() {
            let at = addr + i as u64;
            self.ub.shadow.set(at, at + 1, !image.undef.get(i), writer);
        }
        Ok(())
    }

    /// Notes the bytes of a store that its mask selects.
    fn touch_runs(&mut self, addr: u64, bytes: &Mask) {
        let mut open: Option<Touch> = None;
        for at in bytes.iter().map(|i| addr + i as u64) {
            match &mut open {
                Some(t) if t.addr + u64::from(t.bytes) == at => t.bytes += 1,
                _ => {
                    let next = Touch { addr: at, bytes: 1, write: true };
                    self.core.touched.extend(open.replace(next));
                }
            }
        }
        self.core.touched.extend(open);
    }

    /// Reports undefined bytes of an operand that decide something: an address, a predicate, a
    /// sum.
    pub fn must_be_defined(&mut self, what: &str, undef: &Mask) {
        if undef.is_empty() {
            return;
        }
        let at = undef.lowest().unwrap_or(0);
        let text = format!("{}: byte {at} of {what} was never written", self.name());
        let diag = Diagnostic::new("initcheck.undefined", Level::Warning, text)
            .help("initialise it, or leave its lane out of the mask");
        self.core.remark(diag, (0, 0));
    }
}
