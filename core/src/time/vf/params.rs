//! Figures of the vector-function pipeline, read from a target by path.

use crate::diag::Diagnostic;
use crate::dtype::DType;
use crate::target::Target;
use crate::target::schema::{self, Field, Range, Step};
use smallvec::SmallVec;

const fn field(
    path: &'static str,
    unit: &'static str,
    min: u32,
    max: u32,
    required: bool,
    doc: &'static str,
) -> Field {
    let range = Range { min: min as f64, max: max as f64, step: Step::Whole };
    Field { path, unit, range, required, doc }
}

/// Where figures come from: a loaded target.
pub trait Figures {
    /// The figure at a path: `vf.NAME`, `ub.NAME` or one of an instruction.
    fn number(&self, path: &str) -> Option<f64>;
    /// The figure `FIELD` of an instruction, the most specific entry that has it
    /// (`NAME.DTYPE.FIELD`, then the class of the type, then `NAME.FIELD`).
    fn of_op(&self, name: &str, dtype: Option<DType>, field: &str) -> Option<f64> {
        candidates(name, dtype, field).iter().find_map(|p| self.number(p))
    }
}

/// Where a figure of an instruction may stand, the most specific place first.
pub fn candidates(name: &str, dtype: Option<DType>, field: &str) -> SmallVec<[String; 3]> {
    let keys = dtype.into_iter().flat_map(|d| [Some(d.name()), schema::class(d)]).flatten();
    keys.map(|k| format!("{name}.{k}.{field}")).chain([format!("{name}.{field}")]).collect()
}

impl Figures for Target {
    fn number(&self, path: &str) -> Option<f64> {
        self.value(path)
    }
}

macro_rules! params {
    ($($field:ident $path:literal $unit:literal $min:literal ..= $max:literal $doc:literal;)*) => {
        /// The pipeline's own figures, whole numbers.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub struct VfParams {
            $(#[doc = $doc] pub $field: u32,)*
            /// Bytes one bank serves in a cycle.
            pub ub_block: u32,
            /// Bank groups.
            pub ub_groups: u32,
            /// Banks in a group.
            pub ub_banks: u32,
        }

        /// Every figure of [`VfParams`]; a target of this family must have them all.
        pub const PARAMS: &[Field] = &[$(field($path, $unit, $min, $max, true, $doc),)*];

        impl VfParams {
            /// Reads every figure; the first missing or impossible one is the error.
            pub fn read(from: &dyn Figures) -> Result<VfParams, Diagnostic> {
                Ok(VfParams {
                    $($field: whole(from.number($path), $path, $min, $max)?,)*
                    ub_block: whole(from.number("ub.block"), "ub.block", 1, 4096)?,
                    ub_groups: whole(from.number("ub.bank_groups"), "ub.bank_groups", 1, 32)?,
                    ub_banks: whole(from.number("ub.banks_per_group"), "ub.banks_per_group", 1, 64)?,
                })
            }

            /// Sets a figure by path; false if there is none of that path or it is out of range.
            pub fn set(&mut self, path: &str, value: u32) -> bool {
                match path {
                    $($path if ($min..=$max).contains(&value) => { self.$field = value; true })*
                    _ => false,
                }
            }
        }
    };
}

params! {
    startup "vf.startup" "cycles" 1 ..= 10000 "launch until the first load or computation may start";
    dispatch_lead "vf.dispatch_lead" "cycles" 0 ..= 10000 "dispatch opens this long before that";
    first_loop "vf.first_loop" "cycles" 0 ..= 10000 "launch until the first loop event";
    loop_open "vf.loop_open" "cycles" 0 ..= 1000 "loop event until its first instruction may dispatch";
    nest_gap "vf.nest_gap" "cycles" 0 ..= 1000 "later start of each nesting level at entry";
    rearm "vf.rearm" "cycles" 0 ..= 1000 "last dispatch of an inner loop until its next instance starts";
    iteration "vf.iteration" "cycles" 0 ..= 1000 "least distance between two iterations of a loop";
    software_loop "vf.software_loop" "cycles" 0 ..= 100000 "the same for a body that is no hardware loop; 0 treats it as one";
    flatten_one_trip "vf.flatten_one_trip" "" 0 ..= 1 "a loop of one known trip costs nothing";
    post_update "vf.post_update" "cycles" 0 ..= 1000 "one-off per post-updated load stream of a loop";
    two_loads "vf.two_loads" "cycles" 0 ..= 1000 "one-off of a looped body with two loads or more";
    dispatch_width "vf.dispatch_width" "" 1 ..= 64 "instructions dispatched in a cycle";
    window "vf.window" "" 8 ..= 65536 "instructions between dispatch and retirement";
    rename "vf.rename" "cycles" 1 ..= 100 "dispatch until renaming";
    enqueue "vf.enqueue" "cycles" 1 ..= 100 "renaming until eligible in a queue";
    registers "vf.registers" "" 2 ..= 4096 "physical vector registers";
    credits "vf.credits" "" 1 ..= 4096 "computations and stores between dispatch and queue exit";
    credit_return "vf.credit_return" "cycles" 0 ..= 100 "queue exit until the credit comes back";
    exus "vf.exus" "" 1 ..= 4 "execution units";
    exu_queue "vf.exu_queue" "" 1 ..= 4096 "waiting entries in front of one execution unit";
    exu_queue_delay "vf.exu_queue_delay" "cycles" 1 ..= 100 "shared queue exit until the unit may start it";
    exu_moves "vf.exu_moves" "" 1 ..= 16 "entries moved to unit queues in a cycle";
    exu_inflight "vf.exu_inflight" "" 1 ..= 4096 "started, unfinished instructions of one execution unit";
    load_ports "vf.load_ports" "" 1 ..= 16 "loads started in a cycle";
    store_ports "vf.store_ports" "" 1 ..= 16 "stores started in a cycle";
    ub_shared "vf.ub_shared" "" 0 ..= 1 "loads and stores share the banks of the Unified Buffer";
    loads_first "vf.loads_first" "" 0 ..= 1 "loads win over stores for a bank";
    release "vf.release" "cycles" 1 ..= 1000 "start of a consumer until its source registers are released";
    bypass "vf.bypass" "cycles" 0 ..= 1000 "cycles before completion at which a result is visible";
    store_bypass "vf.store_bypass" "cycles" 0 ..= 1000 "the same when the consumer is a store";
    drain "vf.drain" "cycles" 0 ..= 10000 "last completion until the function ends";
    same_address_order "vf.same_address_order" "" 0 ..= 1 "a load waits for older stores to its bytes";
    bar_wait "vf.bar.wait" "cycles" 0 ..= 1000 "last older access done until a barrier starts";
    bar_load_store "vf.bar.load_store" "cycles" 0 ..= 10000 "barrier start until it releases younger stores";
    bar_load_store_use "vf.bar.load_store_use" "cycles" 0 ..= 1000 "release until such a store starts";
    bar_load_store_retire "vf.bar.load_store_retire" "cycles" 0 ..= 10000 "barrier start until it retires";
    bar_store_load "vf.bar.store_load" "cycles" 0 ..= 10000 "barrier start until it releases younger loads";
    bar_store_load_use "vf.bar.store_load_use" "cycles" 0 ..= 1000 "release until such a load starts";
    bar_store_load_retire "vf.bar.store_load_retire" "cycles" 0 ..= 10000 "barrier start until it retires";
    bar_store_store "vf.bar.store_store" "cycles" 0 ..= 10000 "older stores done until the next store; 0 for no wait";
    predicate_ports "vf.predicate_ports" "" 1 ..= 16 "predicate instructions started in a cycle";
    scalar_ports "vf.scalar_ports" "" 1 ..= 16 "scalar instructions started in a cycle";
    scalar_latency "vf.scalar_latency" "cycles" 1 ..= 1000 "start of a scalar instruction until it retires";
    align "vf.align" "cycles" 0 ..= 1000 "distance between accesses chained by an align register";
    ub_reads "vf.ub_reads" "" 1 ..= 16 "reads of one bank group in a cycle; a write takes one of them";
}

fn whole(value: Option<f64>, path: &str, min: u32, max: u32) -> Result<u32, Diagnostic> {
    let Some(v) = value else {
        return Err(Diagnostic::error("target.missing", format!("the target has no `{path}`"))
            .help(format!("the vector-function pipeline needs it: a whole number {min}..{max}")));
    };
    if v.fract() != 0.0 || v < f64::from(min) || v > f64::from(max) {
        return Err(Diagnostic::error("target.range", format!("`{path}` is {v}"))
            .help(format!("a whole number {min}..{max}")));
    }
    Ok(v as u32)
}

macro_rules! op_figures {
    ($($field:ident $max:literal $unit:literal $doc:literal;)*) => {
        /// Figures of one instruction; `None` where the target says nothing.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct OpFigures {
            $(#[doc = $doc] pub $field: Option<u32>,)*
        }

        /// Every figure an instruction of this family may have; `latency` is required.
        pub const OP_FIGURES: &[Field] = &[$(
            field(stringify!($field), $unit, 0, $max, false, $doc),
        )*];

        /// Where the figures of one instruction may stand, written out once for many targets.
        #[derive(Clone, Debug)]
        pub struct OpPaths {
            $($field: SmallVec<[String; 3]>,)*
        }

        impl OpPaths {
            /// The places of an instruction's figures.
            pub fn new(name: &str, dtype: Option<DType>) -> OpPaths {
                OpPaths { $($field: candidates(name, dtype, stringify!($field)),)* }
            }
        }

        impl OpFigures {
            /// Reads the figures of one instruction.
            pub fn read(
                from: &dyn Figures,
                name: &str,
                dtype: Option<DType>,
            ) -> Result<OpFigures, Diagnostic> {
                OpFigures::read_at(from, &OpPaths::new(name, dtype))
            }

            /// The same from paths written out before.
            pub fn read_at(from: &dyn Figures, at: &OpPaths) -> Result<OpFigures, Diagnostic> {
                let get = |paths: &[String], max: u32| {
                    paths
                        .iter()
                        .find_map(|p| from.number(p).map(|v| whole(Some(v), p, 0, max)))
                        .transpose()
                };
                Ok(OpFigures { $($field: get(&at.$field, $max)?,)* })
            }
        }
    };
}

op_figures! {
    latency 1000 "cycles" "start until done";
    bypass 1000 "cycles" "cycles before completion at which a computation may take the result";
    to_any 1000 "cycles" "start until any computation may take the result, instead of the bypass";
    late 1000 "cycles" "later start as a consumer of any vector result";
    late_short 1000 "cycles" "later start as a consumer of a result with its own bypass";
    mask_early 1000 "cycles" "the least bypass it has as a consumer of a predicate";
    after_load 1000 "cycles" "start of a load until this may start on its result";
    interval 1000 "cycles" "distance to the next one of the same kind on the same unit";
    iterative 1 "" "occupies an iterative unit";
    switch 1000 "cycles" "further distance to another iterative instruction that has this figure";
    group 3 "" "as a follower of a reduction: 1 adds, 2 compares, 3 reduces";
    hold_add 1000 "cycles" "distance to a follower that adds";
    hold_max 1000 "cycles" "distance to a follower that compares";
    hold_reduce 1000 "cycles" "distance to a following reduction";
    after 1000 "cycles" "distance to any follower that is not exempt";
    after_exempt 1 "" "exempt from that distance";
    write_slot 1000 "cycles" "start until the result takes the write-back port; 0 for a port of its own";
    write_slots 4 "" "write-back cycles taken, the last one at `write_slot`";
    extra 1000 "cycles" "later start behind any other instruction of the unit";
    early 1000 "cycles" "cycles before completion at which it no longer counts among the unfinished of its unit";
    exu0 1 "" "execution unit 0 only";
    sfu 1 "" "waits in the special-function queue";
}

#[cfg(test)]
mod tests {
    use super::*;

    struct One(f64);
    impl Figures for One {
        fn number(&self, path: &str) -> Option<f64> {
            (!path.starts_with('x') || path == "x.latency").then_some(self.0)
        }
    }

    #[test]
    fn figures_outside_their_range_are_refused() {
        assert!(VfParams::read(&One(1.5)).is_err());
        let e = VfParams::read(&One(2.0)).map(|p| p.registers);
        assert!(e.is_ok_and(|r| r == 2) || VfParams::read(&One(1.0)).is_err());
        assert_eq!(OpFigures::read(&One(7.0), "x", None).unwrap().latency, Some(7));
        assert!(OpFigures::read(&One(1001.0), "x", None).is_err());
    }
}
