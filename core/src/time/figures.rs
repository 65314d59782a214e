//! The figures of a target in the form the model reads: whole cycles, no names.

use crate::dtype::DType;
use crate::stream::{OpId, Pipe};
use crate::target::{Slot, Target};
use crate::time::arbiter::Geometry;

/// Whole cycles of a figure; fractions round to the nearest, halves up.
pub(crate) fn cycles(value: f64) -> u64 {
    // Ranges are checked when a figure is read; the cast saturates.
    (value + 0.5).floor() as u64
}

/// Latency and rate of a transfer queue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Queue {
    pub latency: u64,
    pub per_burst: u64,
    pub bytes_per_cycle: f64,
}

/// Figures that belong to no instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fixed {
    pub read_stage: u64,
    pub drain: u64,
    pub retire: u64,
    pub end: u64,
    pub partial_block: u64,
    pub mask_first: u64,
    pub mask_computed: u64,
    pub mask_behind_barrier: u64,
    pub mask_restore: u64,
    pub issue: u64,
    pub scalar_op: u64,
    pub load: u64,
    pub load_interval: u64,
    pub store: u64,
    pub gm_load: u64,
    pub gm_store: u64,
    pub v_to_s: u64,
    pub s_to_v: u64,
    pub v_to_mte: u64,
    pub mte_to_v: u64,
    pub s_to_mte: u64,
    pub mte_to_s: u64,
    pub mte_to_mte: u64,
    pub flag_other: u64,
    pub mte2: Queue,
    pub mte3: Queue,
}

impl Fixed {
    /// Reads them; a figure the target lacks counts as 0 (loading a target refuses that).
    pub fn new(t: &Target) -> Fixed {
        Fixed::read(&mut |path| t.value(path))
    }

    /// Reads them from whatever finds a figure by its path; always the same paths in one order.
    fn read(find: &mut dyn FnMut(&'static str) -> Option<f64>) -> Fixed {
        let mut rate = |path| find(path).unwrap_or(1.0);
        let rates = (rate("mte2.bytes_per_cycle"), rate("mte3.bytes_per_cycle"));
        let mut c = |path| find(path).map_or(0, cycles);
        let mut queue = |latency, burst, bytes_per_cycle| Queue {
            latency: c(latency),
            per_burst: c(burst),
            bytes_per_cycle,
        };
        let mte2 = queue("mte2.latency", "mte2.per_burst", rates.0);
        let mte3 = queue("mte3.latency", "mte3.per_burst", rates.1);
        Fixed {
            read_stage: c("ub.read_stage"),
            drain: c("drain"),
            retire: c("retire"),
            end: c("end"),
            partial_block: c("partial_block"),
            mask_first: c("mask.first"),
            mask_computed: c("mask.computed"),
            mask_behind_barrier: c("mask.behind_barrier"),
            mask_restore: c("mask.restore"),
            issue: c("scalar.issue"),
            scalar_op: c("scalar.op"),
            load: c("scalar.load"),
            load_interval: c("scalar.load_interval"),
            store: c("scalar.store"),
            gm_load: c("scalar.gm_load"),
            gm_store: c("scalar.gm_store"),
            v_to_s: c("flag.v_to_s"),
            s_to_v: c("flag.s_to_v"),
            v_to_mte: c("flag.v_to_mte"),
            mte_to_v: c("flag.mte_to_v"),
            s_to_mte: c("flag.s_to_mte"),
            mte_to_s: c("flag.mte_to_s"),
            mte_to_mte: c("flag.mte_to_mte"),
            flag_other: c("flag.other"),
            mte2,
            mte3,
        }
    }

    /// Cycles from the moment a flag can be set until the other pipe sees it.
    pub fn flag(&self, src: Pipe, dst: Pipe) -> u64 {
        self.flag_named(src, dst).1
    }

    /// The same with the path of its figure.
    pub fn flag_named(&self, src: Pipe, dst: Pipe) -> (&'static str, u64) {
        use Pipe::{Mte2, Mte3, S, V};
        match (src, dst) {
            (V, S) => ("flag.v_to_s", self.v_to_s),
            (S, V) => ("flag.s_to_v", self.s_to_v),
            (V, Mte2 | Mte3) => ("flag.v_to_mte", self.v_to_mte),
            (Mte2 | Mte3, V) => ("flag.mte_to_v", self.mte_to_v),
            (S, Mte2 | Mte3) => ("flag.s_to_mte", self.s_to_mte),
            (Mte2 | Mte3, S) => ("flag.mte_to_s", self.mte_to_s),
            (Mte2 | Mte3, Mte2 | Mte3) => ("flag.mte_to_mte", self.mte_to_mte),
            _ => ("flag.other", self.flag_other),
        }
    }
}

/// Banks as the target describes them.
pub(crate) fn geometry(t: &Target) -> Geometry {
    let whole = |path, least| t.value(path).map_or(0, cycles).max(least);
    let block = whole("ub.block", 1);
    let layer = whole("ub.size", 1) / whole("ub.banks_per_group", 1);
    Geometry { groups: whole("ub.bank_groups", 1).min(64), layer: layer.max(block), block }
}

/// Figures of one instruction on one element type.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    pub startup: u64,
    /// Fractional where measured so: the total of an instruction is rounded, not each repeat.
    pub per_repeat: f64,
    pub per_burst: u64,
    pub bytes_per_cycle: f64,
}

impl Cost {
    /// Figures of an instruction, or the target's defaults where it has none.
    pub fn new(t: &Target, op: OpId, dtype: DType) -> Cost {
        Cost::read(&mut |field| path(t, op, dtype, field).and_then(|p| t.value(&p)))
    }

    /// Reads them from whatever finds a figure by its field; always the same fields in one order.
    fn read(find: &mut dyn FnMut(&'static str) -> Option<f64>) -> Cost {
        Cost {
            startup: find("startup").map_or(0, cycles),
            per_repeat: find("per_repeat").unwrap_or(1.0),
            per_burst: find("per_burst").map_or(1, cycles),
            bytes_per_cycle: find("bytes_per_cycle").unwrap_or(1.0),
        }
    }
}

/// Path of an instruction's figure: its own or the default.
fn path(t: &Target, op: OpId, dtype: DType, field: &str) -> Option<String> {
    let own = t.catalogue().get(op).and_then(|e| t.cost(e, dtype, field));
    own.map(|(p, _)| p).or_else(|| Some(format!("default.{field}")))
}

/// Where the figures of a stream stand in a target and its copies, in the order they are read.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    fixed: Vec<Option<Slot>>,
    costs: Vec<Option<Slot>>,
    classes: usize,
}

impl Places {
    /// Finds them by name.
    pub fn find(t: &Target, classes: &[(OpId, DType)]) -> Places {
        let (mut fixed, mut costs) = (Vec::new(), Vec::new());
        Fixed::read(&mut |path| {
            fixed.push(t.slot(path));
            None
        });
        for &(op, dtype) in classes {
            Cost::read(&mut |field| {
                costs.push(path(t, op, dtype, field).and_then(|p| t.slot(&p)));
                None
            });
        }
        Places { fixed, costs, classes: classes.len() }
    }

    /// The figures as they stand now.
    pub fn read(&self, t: &Target) -> (Fixed, Vec<Cost>) {
        let (mut fixed, mut costs) = (self.fixed.iter(), self.costs.iter());
        let fixed = Fixed::read(&mut |_| fixed.next().copied().flatten().map(|s| t.at(s)));
        let mut cost = || Cost::read(&mut |_| costs.next().copied().flatten().map(|s| t.at(s)));
        (fixed, (0..self.classes).map(|_| cost()).collect())
    }
}
