//! Runs one use and says everything that is wrong with it. Machines and buffers are used again, so
//! that a small use costs microseconds.

use super::contents::{Pool, fill};
use super::spec::Spec;
use super::unit::Unit;
use crate::a5::Core;
use crate::exec::Own;
use crate::hazards;
use crate::machine::{Machine, Settings, Stop};
use crate::tile::{self, Call, Family, Layout, Limits, Mem, Tile};
use ptoemu_core::check::Finding;
use ptoemu_core::diag::{Diagnostic, Level, SourceFile};
use ptoemu_core::state::WRITER_NONE;
use ptoemu_core::stream::{Site, SiteId, Stream};
use std::sync::Arc;

/// What is verified: issues the microcode of a call.
pub trait Subject: Sync {
    /// Issues it on the machine, on the 950 with `core` as its vector core.
    fn issue(&self, call: &Call, machine: &mut Machine, core: &mut Core) -> Result<(), Stop>;

    /// Can it do this call at all? Uses it cannot do are left out, as illegal ones are.
    fn takes(&self, _call: &Call) -> bool {
        true
    }

    /// The text faults point into: file 1 of the sites it issues.
    fn source(&self) -> Option<Arc<SourceFile>> {
        None
    }
}

impl Subject for Own {
    fn issue(&self, call: &Call, machine: &mut Machine, core: &mut Core) -> Result<(), Stop> {
        Own::issue(self, call, machine, core)
    }

    fn takes(&self, call: &Call) -> bool {
        Own::takes(self, call)
    }

    fn source(&self) -> Option<Arc<SourceFile>> {
        Some(Own::source(self).clone())
    }
}

impl<F> Subject for F
where
    F: Fn(&Call, &mut Machine, &mut Core) -> Result<(), Stop> + Sync,
{
    fn issue(&self, call: &Call, machine: &mut Machine, core: &mut Core) -> Result<(), Stop> {
        self(call, machine, core)
    }
}

/// The microcode of the emulator, with the quirks the call asks for.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn;

impl Subject for BuiltIn {
    fn issue(&self, call: &Call, machine: &mut Machine, core: &mut Core) -> Result<(), Stop> {
        match call.family {
            Family::A2A3 => tile::a2a3(call, machine),
            Family::A5 => tile::a5(call, &mut tile::a5::Values { machine, core }),
        }
    }
}

/// One thing that is wrong with a use.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Which check says so.
    pub code: &'static str,
    /// How serious it is.
    pub level: Level,
    /// What is wrong.
    pub message: String,
    /// UB bytes concerned; empty where none are.
    pub bytes: (u64, u64),
    /// Line of the microcode, where it is text.
    pub line: Option<usize>,
    /// How to repair it, where that is known.
    pub help: Option<String>,
}

/// Codes of the comparisons made here, beside those of the checks of the machine.
pub const VALUES: &str = "verify.values";
/// Bytes outside the valid region of dst, tmp and the scratch window were written.
pub const STRAY: &str = "verify.stray";
/// Part of the result comes from bytes nobody wrote.
pub const UNDEFINED: &str = "verify.undefined";

/// Code of accesses beyond UB.
const BEYOND: &str = "memcheck.range";

/// Bytes of UB behind the tiles that a quick run has; more is faulted and looked at again.
const MARGIN: u64 = 4096;
/// Sizes of the UB of quick runs.
const SIZES: [u64; 3] = [16 * 1024, 48 * 1024, 96 * 1024];

/// Machines and buffers of one thread.
#[derive(Debug, Default)]
pub struct Bench {
    /// One for each size of UB, the whole one last.
    machines: [Option<Box<Machine>>; SIZES.len() + 1],
    used: usize,
    core: Core,
    pool: Pool,
    before: Vec<u8>,
    want: Vec<u8>,
    allowed: Vec<(u64, u64)>,
}

impl Bench {
    /// Runs a use of a unit as `subject` does it. `Err` if the use is not legal.
    ///
    /// What a quick run on a small UB finds is looked at again on the whole one, so that a fault
    /// is the same however it was found.
    pub fn judge(
        &mut self,
        call: &Call,
        contents: &Spec,
        subject: &dyn Subject,
    ) -> Result<Vec<Fault>, Box<Diagnostic>> {
        let (size, whole) = (self.size(call, subject)?, SIZES.len());
        let faults = self.run(call, contents, subject, size);
        if faults.is_empty() || size == whole {
            return Ok(faults);
        }
        Ok(self.run(call, contents, subject, whole))
    }

    /// The code of the first thing wrong with a use, if it is legal.
    pub(super) fn notices(
        &mut self,
        call: &Call,
        contents: &Spec,
        subject: &dyn Subject,
    ) -> Option<&'static str> {
        let size = self.size(call, subject).ok()?;
        let first = self.run(call, contents, subject, size).first()?.code;
        match first {
            // Within UB, but beyond what this run has of it?
            BEYOND if size < SIZES.len() => {
                Some(self.run(call, contents, subject, SIZES.len()).first()?.code)
            }
            _ => Some(first),
        }
    }

    /// The size of UB a use is first run on; `Err` if it is not legal.
    fn size(&self, call: &Call, subject: &dyn Subject) -> Result<usize, Box<Diagnostic>> {
        let limits = Limits::of(call.family);
        tile::check(call, call.family, &limits)?;
        if !subject.takes(call) {
            let text = format!("the microcode of {} does not fit", call.op.name);
            return Err(Box::new(Diagnostic::error("legality.microcode", text)));
        }
        let whole = SIZES.len();
        let end = call.tiles().map(|(_, t)| t.end()).max().unwrap_or(0) + MARGIN;
        Ok(match call.uses_scratch() {
            true => whole,
            false => SIZES.iter().position(|s| end <= *s).unwrap_or(whole),
        })
    }

    /// Builds the use and judges it; `None` if it is not legal or not built.
    pub fn verify(
        &mut self,
        unit: &Unit,
        spec: &Spec,
        quirks: tile::Quirks,
        subject: &dyn Subject,
    ) -> Option<Vec<Fault>> {
        let call = spec.call(unit, quirks);
        if super::unit::unbuilt(&call) {
            return None;
        }
        self.judge(&call, spec, subject).ok()
    }

    /// What the last run issued.
    pub fn stream(&self) -> Option<&Stream> {
        self.machines[self.used].as_ref().map(|m| m.stream())
    }

    /// UB before the last run, as its meaning leaves it, and as the microcode left it.
    pub fn memory(&self) -> (&[u8], &[u8], &[u8]) {
        let after = self.machines[self.used].as_ref().map_or(&[][..], |m| m.ub.bytes.as_slice());
        (&self.before, &self.want, after)
    }

    fn run(
        &mut self,
        call: &Call,
        contents: &Spec,
        subject: &dyn Subject,
        size: usize,
    ) -> Vec<Fault> {
        self.used = size;
        let mut settings = Settings::of(call.family);
        settings.ub_bytes = SIZES.get(size).copied().unwrap_or(settings.ub_bytes);
        let slot = &mut self.machines[size];
        let m = match slot {
            Some(m) if m.settings == settings => {
                m.restart();
                m
            }
            _ => slot.insert(Box::new(Machine::new(settings))),
        };
        fill(m, call, contents, &mut self.pool);
        self.before.clear();
        self.before.extend_from_slice(m.ub.bytes.as_slice());
        self.want.clone_from(&self.before);
        let entry = m.modes();
        let site = SiteId(m.log.stream.sites.intern(Site { span: Default::default(), file: 0 }));
        m.log.stream.groups.push(call.group(site));
        m.at(site, 0);
        self.core.restart();
        if let Err(stop) = tile::reference(call, &mut Mem { ub: &mut self.want, gm: None }) {
            return vec![fault_of(*stop.0, (0, 0))];
        }
        let done = subject.issue(call, m, &mut self.core);
        if let Err(stop) = done {
            return vec![fault_of(*stop.0, (0, 0))];
        }
        m.leave(&entry, true);
        let mut found: Vec<Finding> = m.findings.items().to_vec();
        found.retain(|f| f.diag.level >= Level::Warning);
        found.extend(hazards::check_of(call.family, &m.log.stream, 0, false));
        let files: Vec<_> = subject.source().into_iter().flat_map(|s| [s.clone(), s]).collect();
        let mut faults: Vec<Fault> =
            found.iter().map(|f| fault_of(f.render(&m.log.stream, &files), f.bytes)).collect();
        allowed(call, &mut self.allowed);
        faults.extend(values(call, &self.before, m.ub.bytes.as_slice(), &self.want));
        faults.extend(undefined(call, m));
        faults.extend(stray(call, m, &self.allowed));
        faults
    }
}

fn fault_of(d: Diagnostic, bytes: (u64, u64)) -> Fault {
    let line = d.labels.first().map(|l| l.file.line_col(l.span.start as usize).0);
    Fault { code: d.code, level: d.level, message: d.message, bytes, line, help: d.help }
}

impl Fault {
    fn new(code: &'static str, message: String, bytes: (u64, u64)) -> Fault {
        Fault { code, level: Level::Error, message, bytes, line: None, help: None }
    }
}

/// Runs of bytes of the valid region, in address order.
pub(super) fn valid_runs(t: &Tile) -> impl Iterator<Item = (u64, u64)> + use<> {
    let raw = t.storage_rows();
    let n = raw.dtype.size() as u64;
    let (rows, cols) = (u64::from(raw.valid_rows), u64::from(raw.valid_cols));
    let (rows, cols) = match raw.valid_cols == raw.cols {
        true => (u64::from(rows > 0), rows * cols),
        false => (rows, cols),
    };
    (0..rows).map(move |r| {
        let at = raw.at(r, 0);
        (at, at + cols * n)
    })
}

/// Bytes that microcode may write, in address order.
fn allowed(call: &Call, out: &mut Vec<(u64, u64)>) {
    out.clear();
    out.extend(valid_runs(&call.result()));
    out.extend(call.tmp.iter().map(|t| (t.addr, t.end())));
    if call.uses_scratch() {
        out.push((tile::SCRATCH, tile::SCRATCH + tile::SCRATCH_BYTES));
    }
    out.sort_unstable();
}

fn stray(call: &Call, m: &Machine, allowed: &[(u64, u64)]) -> Option<Fault> {
    let mut from = 0;
    let (mut first, mut count) = (None, 0);
    for (start, end) in allowed.iter().copied().chain([(m.settings.ub_bytes, u64::MAX)]) {
        let mut at = from;
        while let Some(hit) = m.ub.shadow.first_written(at, start) {
            first.get_or_insert(hit);
            count += 1;
            at = hit + 1;
        }
        from = from.max(end);
    }
    let first = first?;
    let owner = call.tiles().find(|(_, t)| (t.addr..t.end()).contains(&first));
    let place = match owner {
        Some(("dst", _)) => "in dst outside its valid region".to_string(),
        Some((role, _)) => format!("in {role}"),
        None => "outside every operand".to_string(),
    };
    let message = format!("{count} bytes are written {place}, the first at UB {first:#x}");
    Some(Fault::new(STRAY, message, (first, first + 1)))
}

fn undefined(call: &Call, m: &Machine) -> Option<Fault> {
    let at = valid_runs(&call.result()).find_map(|(a, b)| m.ub.shadow.first_undefined(a, b))?;
    let written = m.ub.shadow.writer(at) != WRITER_NONE;
    let message = match written {
        true => format!("the result at UB {at:#x} is computed from bytes nobody wrote"),
        false => format!("the result at UB {at:#x} is never written"),
    };
    Some(Fault::new(UNDEFINED, message, (at, at + 1)))
}

fn element(mem: &[u8], at: u64, n: usize) -> u64 {
    let bytes = mem.get(at as usize..at as usize + n).unwrap_or(&[]);
    bytes.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b))
}

fn values(call: &Call, before: &[u8], got: &[u8], want: &[u8]) -> Option<Fault> {
    let t = &call.result();
    let n = t.dtype.size();
    let same =
        |(a, b): (u64, u64)| got.get(a as usize..b as usize) == want.get(a as usize..b as usize);
    if valid_runs(t).all(same) {
        return None;
    }
    let mut first = None;
    let mut count = 0u64;
    let (rows, cols) = (u64::from(t.valid_rows), u64::from(t.valid_cols));
    for r in 0..rows {
        let row = (t.at(r, 0), t.at(r, 0) + cols * n as u64);
        if t.layout == Layout::RowMajor && same(row) {
            continue;
        }
        for c in 0..cols {
            let (g, w) = (element(got, t.at(r, c), n), element(want, t.at(r, c), n));
            if g != w && !tile::agree(call, before, (r, c), g, w) {
                first.get_or_insert((r, c, g, w));
                count += 1;
            }
        }
    }
    let (r, c, g, w) = first?;
    let of = rows * cols;
    let message =
        format!("[{r}, {c}] is {g:#x}, the meaning is {w:#x}; {count} of {of} elements differ");
    Some(Fault::new(VALUES, message, (t.at(r, c), t.at(r, c) + n as u64)))
}
