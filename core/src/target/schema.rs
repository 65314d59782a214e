//! Which figures a target may have: path, unit, range, meaning.

use crate::dtype::DType;
use crate::time::vf;

/// Processor family of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Repeat-based vector pipe (dav-2201).
    A2A3,
    /// Vector functions over registers (dav-3510).
    A5,
}

impl Family {
    /// Name as written in target files.
    pub const fn name(self) -> &'static str {
        match self {
            Family::A2A3 => "A2A3",
            Family::A5 => "A5",
        }
    }

    /// Parses the name.
    pub fn parse(s: &str) -> Option<Family> {
        [Family::A2A3, Family::A5].into_iter().find(|f| f.name() == s)
    }
}

/// What numbers a figure may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Which of them.
    pub step: Step,
}

/// Which numbers between its ends a range holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// All of them.
    Any,
    /// Whole numbers.
    Whole,
    /// Powers of two.
    Power,
}

/// Cycles beyond this are refused as impossible.
const MOST_CYCLES: f64 = 1e6;

/// Cycles of something that can be free.
const CYCLES: Range = Range { min: 0.0, max: MOST_CYCLES, step: Step::Any };
/// Whole cycles.
const WHOLE: Range = Range { min: 0.0, max: MOST_CYCLES, step: Step::Whole };
/// Bytes of a bank row. Timing knows powers of two only: they tile the layer of a bank, while a row of
/// another size would lie in two of them.
const ROW: Range = Range { min: 1.0, max: 4096.0, step: Step::Power };
/// Bytes a cycle; never 0.
const RATE: Range = Range { min: 1e-3, max: 1e6, step: Step::Any };

const fn whole(min: f64, max: f64) -> Range {
    Range { min, max, step: Step::Whole }
}

/// One figure of the schema.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field {
    /// Path, or the last part of it for figures of instructions.
    pub path: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// Accepted numbers.
    pub range: Range,
    /// Must every target of the family have it?
    pub required: bool,
    /// Meaning, in one line.
    pub doc: &'static str,
}

const fn field(
    path: &'static str,
    unit: &'static str,
    range: Range,
    required: bool,
    doc: &'static str,
) -> Field {
    Field { path, unit, range, required, doc }
}

/// Figures every family has.
#[rustfmt::skip]
const COMMON: &[Field] = &[
    field("clock_mhz", "MHz", Range { min: 1.0, max: 1e5, step: Step::Any }, true, "core clock"),
    field("ub.size", "bytes", whole(256.0, 16_777_216.0), true, "size of the Unified Buffer"),
    field("ub.block", "bytes", ROW, true, "bytes of one bank row: what a bank serves in a cycle; the rows fill the layers of the banks"),
    field("ub.bank_groups", "", whole(1.0, 64.0), true, "bank groups; a block's group is its number modulo this"),
    field("ub.banks_per_group", "", whole(1.0, 64.0), true, "banks in a group; each holds an equal slice (layer) of the address range"),
    field("ub.reserved_start", "bytes", whole(0.0, 16_777_216.0), true, "first byte of the window the tile library keeps for itself"),
    field("ub.reserved_size", "bytes", whole(0.0, 16_777_216.0), true, "bytes of that window"),
];

/// Figures of the repeat-based family.
#[rustfmt::skip]
const A2A3: &[Field] = &[
    field("ub.read_stage", "cycles", whole(0.0, 1024.0), true, "stages between the read of a repeat and its execution"),
    field("drain", "cycles", WHOLE, true, "end of execution until what waits for the result may start"),
    field("retire", "cycles", WHOLE, true, "from then until the instruction retires: reported, orders nothing"),
    field("end", "cycles", WHOLE, true, "last result until the run counts as over, once a run"),
    field("partial_block", "cycles", WHOLE, true, "longer write stage when the mask cuts inside a block"),
    field("mask.first", "cycles", WHOLE, true, "S time of a first mask or mode write while V has nothing to do"),
    field("mask.computed", "cycles", WHOLE, true, "the same for a mask computed at run time"),
    field("mask.behind_barrier", "cycles", WHOLE, true, "extra V wait when a mask write stands behind a barrier"),
    field("mask.restore", "cycles", WHOLE, true, "last V result until a mask restore with nothing after it completes"),
    field("default.startup", "cycles", CYCLES, true, "startup of an instruction without figures"),
    field("default.per_repeat", "cycles", CYCLES, true, "per_repeat of an instruction without figures"),
];

/// Figures of the scalar unit, of flags and of transfers: every family has them.
#[rustfmt::skip]
const PIPES: &[Field] = &[
    field("scalar.issue", "cycles", WHOLE, true, "S time to hand one instruction to its pipe"),
    field("scalar.op", "cycles", WHOLE, true, "S time of scalar arithmetic and loop control between two records"),
    field("scalar.load", "cycles", WHOLE, true, "UB load until its value can be used"),
    field("scalar.load_interval", "cycles", WHOLE, true, "S time of one UB load: the next record may follow"),
    field("scalar.store", "cycles", WHOLE, true, "S time of one UB store"),
    field("scalar.gm_load", "cycles", WHOLE, true, "GM load until its value can be used"),
    field("scalar.gm_store", "cycles", WHOLE, true, "S time of one GM store"),
    field("flag.v_to_s", "cycles", WHOLE, true, "end of execution on V until S sees the flag"),
    field("flag.s_to_v", "cycles", WHOLE, true, "S done until V sees the flag"),
    field("flag.v_to_mte", "cycles", WHOLE, true, "V result written until a transfer queue sees the flag"),
    field("flag.mte_to_v", "cycles", WHOLE, true, "transfer done until V sees the flag"),
    field("flag.s_to_mte", "cycles", WHOLE, true, "S done until a transfer queue sees the flag"),
    field("flag.mte_to_s", "cycles", WHOLE, true, "transfer done until S sees the flag"),
    field("flag.mte_to_mte", "cycles", WHOLE, true, "transfer done until another transfer queue sees the flag"),
    field("flag.other", "cycles", WHOLE, true, "the same for the cube pipes"),
    field("mte2.latency", "cycles", WHOLE, true, "fixed cycles of one GM to UB transfer, paid in turn"),
    field("mte2.bytes_per_cycle", "bytes/cycle", RATE, true, "GM to UB rate"),
    field("mte2.per_burst", "cycles", WHOLE, true, "least cycles of one burst"),
    field("mte3.latency", "cycles", WHOLE, true, "fixed cycles of one UB to GM transfer, paid in turn"),
    field("mte3.bytes_per_cycle", "bytes/cycle", RATE, true, "UB to GM rate"),
    field("mte3.per_burst", "cycles", WHOLE, true, "least cycles of one burst"),
];

/// Figures of one vector instruction of the repeat-based family.
#[rustfmt::skip]
const A2A3_COST: &[Field] = &[
    field("startup", "cycles", CYCLES, true, "issue until the first repeat is executed; one less than the depth of the unit"),
    field("per_repeat", "cycles", CYCLES, false, "least cycles between two repeats; bank conflicts come on top"),
    field("per_burst", "cycles", CYCLES, false, "least cycles of one burst of a UB to UB copy"),
    field("bytes_per_cycle", "bytes/cycle", RATE, false, "rate of a UB to UB copy"),
];

/// Classes of element types that share figures, in order of lookup after the type itself.
pub const CLASSES: [&str; 1] = ["int"];

/// Fields every target of the family may have.
pub fn fields(family: Family) -> impl Iterator<Item = &'static Field> {
    let own: &[Field] = match family {
        Family::A2A3 => A2A3,
        Family::A5 => vf::PARAMS,
    };
    COMMON.iter().chain(own).chain(PIPES)
}

/// The same of vector instructions of the 950 that stand outside its vector functions.
#[rustfmt::skip]
const A5_UNIT: &[Field] = &[
    field("startup", "cycles", CYCLES, false, "issue until the first repeat is executed, outside functions"),
    field("per_repeat", "cycles", CYCLES, false, "least cycles between two repeats, outside functions"),
    field("per_burst", "cycles", CYCLES, false, "least cycles of one burst of a UB to UB copy"),
    field("bytes_per_cycle", "bytes/cycle", RATE, false, "rate of a UB to UB copy"),
];

/// Fields an instruction of the family may have.
pub fn cost_fields(family: Family) -> impl Iterator<Item = &'static Field> + Clone {
    let (own, unit): (&[Field], &[Field]) = match family {
        Family::A2A3 => (A2A3_COST, &[]),
        Family::A5 => (vf::OP_FIGURES, A5_UNIT),
    };
    own.iter().chain(unit)
}

/// The field behind a path: a fixed figure, or a figure of an instruction by its last part.
pub fn find(family: Family, path: &str) -> Option<&'static Field> {
    let last = path.rsplit('.').next()?;
    let fixed = fields(family).find(|f| f.path == path);
    fixed.or_else(|| cost_fields(family).find(|f| f.path == last))
}

/// Is `key` an element type or a class of them?
pub fn is_dtype_key(key: &str) -> bool {
    CLASSES.contains(&key) || DType::ALL.iter().any(|d| d.name() == key)
}

/// The class of an element type, if it has one.
pub const fn class(d: DType) -> Option<&'static str> {
    if d.is_float() { None } else { Some("int") }
}

/// Does a figure change what a program computes or whether it is legal, not only its cycles?
pub fn changes_execution(path: &str) -> bool {
    matches!(path, "ub.size" | "ub.block" | "ub.reserved_start" | "ub.reserved_size")
}
