//! The functions under test. Each takes any bytes; a panic is a fault of the emulator.
//!
//! The ordinary tests include this file too, so that every input ever found is run on stable.

use ptoemu_core::catalogue::Catalogue;
use ptoemu_core::diag::{Diagnostic, SourceFile};
use ptoemu_core::dtype::DType;
use ptoemu_core::state::{Buffer, Memory, WRITER_NONE};
use ptoemu_core::stream::Stream;
use ptoemu_core::target::Target;
use ptoemu_core::time::time;
use ptoemu_isa::exec::{self, ArgKind, ArgValue, Binding};
use ptoemu_isa::instr::{Instr, PARAMS};
use ptoemu_isa::machine::{Backend, Machine, Recorder, Settings};
use ptoemu_isa::table::{self, Op, What};
use ptoemu_isa::text::{Scalar, parse, print, summary};
use ptoemu_isa::tile::{Family, Limits, OperandOrder, Quirks};
use std::sync::{Arc, LazyLock};

/// How far an input got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// Not UTF-8, or the text has errors.
    Text,
    /// Refused before anything ran.
    Refused,
    /// A fault stopped it.
    Stopped,
    /// It ran to its end.
    Finished,
}

/// Statements of one run; enough for loops to come round, little enough for speed.
const STEPS: u64 = 400;
/// Bytes of buffers made up for arguments.
const INFERRED: u64 = 1 << 16;
/// Records of a run that are timed.
const MOST_TIMED: usize = 20_000;

const BASES: [(&str, &str); 3] = [
    ("dav-2201", include_str!("../../targets/dav-2201.ron")),
    ("dav-3510", include_str!("../../targets/dav-3510.ron")),
    ("a3", include_str!("../../targets/a3.ron")),
];

static CATALOGUE: LazyLock<Arc<Catalogue>> = LazyLock::new(|| Arc::new(table::catalogue()));

static A3: LazyLock<Option<Target>> = LazyLock::new(|| load(&base("a3")?).ok());

fn base(name: &str) -> Option<Arc<SourceFile>> {
    let (name, text) = BASES.iter().find(|(n, _)| *n == name)?;
    Some(SourceFile::new(*name, *text))
}

fn load(file: &Arc<SourceFile>) -> Result<Target, Vec<Diagnostic>> {
    Target::load(file, &base, CATALOGUE.clone())
}

/// Every place a message points at lies in its text.
fn placed(diags: &[Diagnostic]) {
    for label in diags.iter().flat_map(|d| &d.labels) {
        let (start, end) = (label.span.start as usize, label.span.end as usize);
        assert!(label.file.text.get(start..end).is_some(), "place {start}..{end} of {diags:?}");
    }
}

/// Text: what reads without errors prints to a text that reads and prints the same.
pub fn parser(data: &[u8]) -> Reached {
    let Ok(text) = std::str::from_utf8(data) else { return Reached::Text };
    let (file, errors) = parse(&SourceFile::new("f.pto", text));
    placed(&errors);
    let _ = summary(&file);
    let printed = print(&file);
    if !errors.is_empty() {
        return Reached::Text;
    }
    let (again, errors) = parse(&SourceFile::new("p.pto", printed.as_str()));
    assert!(errors.is_empty(), "printed text has errors: {errors:?}\n{printed}");
    assert_eq!(print(&again), printed, "printing is no fixed point");
    Reached::Finished
}

/// Choices of a run, from a first line `//~` and up to four hexadecimal digits; 0 without one.
#[derive(Clone, Copy, Debug)]
struct Choices(u16);

impl Choices {
    fn of(text: &str) -> Choices {
        let digits = text.strip_prefix("//~").unwrap_or_default();
        let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
        Choices(u16::from_str_radix(&digits[..end.min(4)], 16).unwrap_or(0))
    }

    fn bits(self, at: u32, n: u32) -> usize {
        usize::from(self.0 >> at) & ((1 << n) - 1)
    }

    fn options(self, args: Vec<Binding>) -> exec::Options {
        exec::Options {
            args,
            blocks: 1 + self.bits(0, 1) as u32,
            auto_sync: [None, Some(true), Some(false), None][self.bits(1, 2)],
            quirks: [Quirks::corrected(), Quirks::vendor()][self.bits(3, 1)],
            operand_order: [OperandOrder::Seed, OperandOrder::Vendor][self.bits(4, 1)],
            settings: Settings {
                poison: [0xCD, 0][self.bits(5, 1)],
                inferred_bytes: INFERRED,
                ..Settings::default()
            },
            limits: Limits::of(Family::A2A3),
            max_steps: Some(STEPS),
            progress: None,
        }
    }

    /// A value for an argument; none where the run is to make one up.
    fn value(self, kind: &ArgKind) -> Option<ArgValue> {
        match kind {
            ArgKind::Buffer(_) if self.bits(6, 1) == 1 => None,
            ArgKind::Buffer(t) => {
                let n = [16384, 64, 2048, 0][self.bits(7, 2)];
                let data = match self.bits(9, 2) {
                    0 => pattern(n, *t),
                    1 => vec![0; n],
                    2 => vec![0xFF; n],
                    _ => (0..n).map(|i| (i * 37 + (i >> 8) * 11) as u8).collect(),
                };
                Some(ArgValue::Bytes(data))
            }
            ArgKind::Scalar(s) => {
                let t = match s {
                    Scalar::Index => DType::I64,
                    Scalar::Int { bits: 1, .. } => DType::I8,
                    s => s.dtype()?,
                };
                let v = [1, 16, 0, u64::MAX][self.bits(11, 2)];
                Some(ArgValue::Scalar(t, v))
            }
            ArgKind::Tile(t, _) if self.bits(13, 1) == 0 => {
                let n = usize::try_from(t.bytes()).ok().filter(|n| *n <= 1 << 18)?;
                Some(ArgValue::Bytes(pattern(n, t.dtype)))
            }
            ArgKind::Tile(..) | ArgKind::Other(_) => None,
        }
    }
}

/// Small numbers of either sign, as floats where the type is one.
fn pattern(bytes: usize, t: DType) -> Vec<u8> {
    let element = |i: usize| -> [u8; 8] {
        let v = (i * 7 % 23) as i64 - 11;
        match t {
            DType::F32 => u64::from((v as f32 * 0.75).to_bits()).to_le_bytes(),
            DType::F16 => (0x3C00u64 | (i as u64 % 5) << 8).to_le_bytes(),
            _ => v.to_le_bytes(),
        }
    };
    (0..bytes).map(|i| element(i / t.size())[i % t.size()]).collect()
}

/// Text, through lowering and execution, to cycles.
pub fn executor(data: &[u8]) -> Reached {
    let Ok(text) = std::str::from_utf8(data) else { return Reached::Text };
    let (file, errors) = parse(&SourceFile::new("f.pto", text));
    placed(&errors);
    if !errors.is_empty() {
        return Reached::Text;
    }
    let choices = Choices::of(text);
    let limits = Limits::of(Family::A2A3);
    let options = exec::LowerOptions {
        entry: None,
        limits: exec::Limits {
            align: [512, 32][choices.bits(14, 1)],
            auto_end: limits.reserved.start,
        },
        tiles: Vec::new(),
    };
    let program = match exec::lower(&file, &options) {
        Ok(p) => p,
        Err(diags) => {
            placed(&diags);
            return Reached::Refused;
        }
    };
    let args = program.funcs[program.entry].args.iter();
    let given = args
        .filter_map(|a| Some(Binding { name: a.name.clone(), value: choices.value(&a.kind)? }))
        .collect();
    let out = match exec::run(&program, &choices.options(given)) {
        Ok(out) => out,
        Err(diags) => {
            placed(&diags);
            return Reached::Refused;
        }
    };
    let files = [program.source.clone()];
    for block in &out.blocks {
        for f in &block.findings {
            placed(&[f.render(&block.stream, &files)]);
        }
        if let Some(target) = A3.as_ref() {
            timed(&block.stream, target);
        }
    }
    placed(&out.notes);
    match &out.stop {
        Some(d) => {
            placed(std::slice::from_ref(d));
            Reached::Stopped
        }
        None => Reached::Finished,
    }
}

fn timed(stream: &Stream, target: &Target) {
    if stream.records.len() <= MOST_TIMED {
        let _ = time(stream, target);
    }
}

/// Bytes taken from the front; zeros once they are used up.
struct Source<'a>(&'a [u8]);

impl Source<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn word(&mut self) -> u64 {
        (0..8).fold(0, |n, i| n | u64::from(self.byte()) << (8 * i))
    }

    fn number(&mut self, what: What) -> i64 {
        let how = self.byte();
        match (how % 8, what) {
            (0, _) => self.word() as i64,
            (1, _) => i64::from(self.byte()) << (how / 8 * 2),
            (2, _) => [i64::MAX, i64::MIN, -1, 255, 256, 1 << 32][usize::from(how / 8) % 6],
            (3, What::Addr(_)) => (1 << 40) + i64::from(self.byte()),
            (_, What::Addr(_)) => {
                (i64::from(self.byte()) << 8 | i64::from(self.byte())) * 32 % (192 * 1024)
            }
            (_, What::Order) => i64::from(how / 8 % 4),
            (_, What::Pipe) => i64::from(how / 8 % 8),
            (3, _) => i64::from(self.byte()),
            _ => i64::from(how / 8 % 16),
        }
    }

    fn instr(&mut self) -> Instr {
        let op = Op::ALL[usize::from(self.byte()) % Op::ALL.len()];
        let pick = usize::from(self.byte());
        let all = DType::ALL.len();
        let accepted = op.row().types;
        let (d, s) = if pick % 16 == 15 || accepted.is_empty() {
            (DType::ALL[pick / 16 % all], DType::ALL[usize::from(self.byte()) % all])
        } else {
            accepted[pick % accepted.len()]
        };
        let mut args = [0; PARAMS];
        for (to, p) in args.iter_mut().zip(op.form().params()) {
            *to = self.number(p.what);
        }
        Instr::new(op, d, &args).from_dtype(s)
    }
}

/// Instructions with arbitrary parameters on the machine, then their timing and their modes.
pub fn instructions(data: &[u8]) -> Reached {
    let mut source = Source(data);
    let flags = source.byte();
    let mut m = Machine::default();
    m.gm.add(Buffer { name: "g".into(), dtype: DType::F32, mem: Memory::new(300, 0) });
    if flags & 1 == 1 {
        m.ub.shadow.set(0, 192 * 1024, true, WRITER_NONE);
        let fill = source.byte();
        for (i, b) in m.ub.bytes.as_mut_slice().iter_mut().take(2048).enumerate() {
            *b = (i as u8).wrapping_mul(fill) ^ (i >> 8) as u8;
        }
    }
    let mut recorder = Recorder::default();
    let entry = m.modes();
    let mut reached = Reached::Finished;
    for _ in 0..24 {
        if source.0.is_empty() {
            break;
        }
        let i = source.instr();
        let _ = i.to_string();
        let _ = recorder.issue(&i);
        if m.issue(&i).is_err() {
            reached = Reached::Stopped;
            if flags & 2 == 0 {
                break;
            }
        }
    }
    m.leave(&entry, true);
    for f in m.findings.items() {
        let _ = f.render(m.stream(), &[]);
    }
    if let Some(target) = A3.as_ref() {
        timed(m.stream(), target);
    }
    reached
}

/// The records that fuzzed targets are tried on.
static SAMPLE: LazyLock<Stream> = LazyLock::new(|| {
    let mut m = Machine::default();
    m.gm.add(Buffer { name: "g".into(), dtype: DType::F32, mem: Memory::new(4096, 0) });
    let gm = 1 << 40;
    for (op, args) in [
        (Op::copy_gm_to_ubuf, vec![0, gm, 0, 1, 8, 0, 0]),
        (Op::set_flag, vec![2, 1, 0]),
        (Op::wait_flag, vec![2, 1, 0]),
        (Op::vexp, vec![0, 0x1000, 4, 1, 1, 8, 8]),
        (Op::vadd, vec![0x2000, 0, 0x1000, 255, 1, 1, 1, 8, 8, 8]),
        (Op::vcadd, vec![0x8000, 0, 4, 1, 1, 8, 0]),
        (Op::pipe_barrier, vec![1]),
        (Op::scalar_load, vec![0x8000]),
    ] {
        let _ = m.issue(&Instr::new(op, DType::F32, &args));
    }
    m.log.stream
});

/// A target file: loads or has errors; what loads can time.
pub fn target(data: &[u8]) -> Reached {
    let Ok(text) = std::str::from_utf8(data) else { return Reached::Text };
    match load(&SourceFile::new("f.ron", text)) {
        Ok(target) => {
            timed(&SAMPLE, &target);
            Reached::Finished
        }
        Err(diags) => {
            placed(&diags);
            Reached::Refused
        }
    }
}
