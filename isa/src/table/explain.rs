//! What a user asks about one instruction, as data.

use super::{Claim, Form, Op, Param, Row, Shape, What};
use crate::families::Sem;
use ptoemu_core::dtype::DType;
use serde::Serialize;

/// Everything the table knows about one instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// Mnemonic.
    pub mnemonic: &'static str,
    /// One line of meaning.
    pub meaning: &'static str,
    /// Prototype: the mnemonic with its parameters in order.
    pub form: String,
    /// Parameters: name, key of the named form, width in bits, default.
    pub params: Vec<ParamInfo>,
    /// Accepted element types, `f32`, or `f16<-f32` where the sides differ; empty if untyped.
    pub dtypes: Vec<String>,
    /// Pipe it runs on.
    pub pipe: &'static str,
    /// Legality rules that apply, one sentence each.
    pub rules: Vec<String>,
    /// How well the meaning is established.
    pub claim: Claim,
    /// Mnemonic whose timing figures it shares.
    pub cost_class: &'static str,
}

/// One parameter of an [`Explanation`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ParamInfo {
    /// Name in listings.
    pub name: &'static str,
    /// Name in the named text form.
    pub key: &'static str,
    /// Width of the field in bits.
    pub bits: u8,
    /// Value when the named form leaves it out.
    pub default: Option<i64>,
}

/// Explains one instruction.
pub fn explain(op: Op) -> Explanation {
    let row = op.row();
    let names: Vec<&str> = row.form.params().iter().map(|p| p.name).collect();
    Explanation {
        mnemonic: row.mnemonic,
        meaning: row.doc,
        form: format!("{}({})", row.mnemonic, names.join(", ")),
        params: row.form.params().iter().map(info).collect(),
        dtypes: row.types.iter().map(|&(d, s)| pair_name(d, s)).collect(),
        pipe: row.pipe().name(),
        rules: rules(row),
        claim: row.claim,
        cost_class: row.cost,
    }
}

fn info(p: &Param) -> ParamInfo {
    ParamInfo { name: p.name, key: p.key, bits: p.bits, default: p.default }
}

/// `f32`, or `f16<-f32` where destination and source differ.
pub fn pair_name(dst: DType, src: DType) -> String {
    if dst == src { dst.name().to_string() } else { format!("{dst}<-{src}") }
}

fn rules(row: &Row) -> Vec<String> {
    let form = row.form;
    let operand = |n| form.operand(n).map(|o| o.0);
    let burst = operand(1) == Some(Shape::Burst);
    let masked = [0, 1].iter().any(|&n| operand(n) == Some(Shape::Lanes));
    let vcopy = row.mnemonic == "vcopy";
    let dst = operand(0);
    let gm = matches!(form, Form::CopyIn | Form::CopyOut | Form::AlignIn | Form::AlignOut);
    let all = [
        (
            form.position(What::Repeat).is_some() && !burst,
            "repeat 0 to 255; 0 does nothing in norm mode",
        ),
        (masked, "bases aligned to 32 bytes; only blocks with an active lane are range-checked"),
        (dst == Some(Shape::PerRepeat), "destination aligned to what one repeat writes"),
        (dst == Some(Shape::Lanes), "destination block stride 0 only with one active block"),
        (
            dst == Some(Shape::Lanes),
            "a source is exactly the destination or disjoint from it inside a repeat",
        ),
        (
            masked && vcopy,
            "counter mode counts the elements of each repeat; the repeat field is honoured",
        ),
        (
            masked && !vcopy,
            "counter mode takes the total element count from MASK and ignores repeat",
        ),
        (
            matches!(
                form,
                Form::Brcb
                    | Form::CopyUb
                    | Form::GatherB
                    | Form::Sort
                    | Form::Merge
                    | Form::Vnchw
                    | Form::VnchwHalf
                    | Form::Square
            ),
            "ignores MASK and mask mode",
        ),
        (form == Form::Gather, "offsets are multiples of the element size and lead into UB"),
        (form == Form::GatherB, "offsets are multiples of 32 and lead into UB"),
        (
            form == Form::Reduce,
            "norm mode: 256 bytes a repeat whatever MASK says; counter mode: the count is per repeat",
        ),
        (
            matches!(form, Form::Vnchw | Form::VnchwHalf),
            "rows start at blocks; the addresses of 16 rows lie in two registers; one repeat has no strides",
        ),
        (
            form == Form::Merge,
            "config: repeat in bits 0 to 7, list mask 0b11, 0b111 or 0b1111 in 8 to 11, stop at an exhausted list in 12",
        ),
        (form == Form::Merge, "several repeats need four equal lists and no exhausted mode"),
        (matches!(row.sem, Sem::AccOne(_) | Sem::AccTwo(_)), "reads the destination"),
        (
            form == Form::Flag,
            "event 0 to 7; source and destination pipe differ; a pending flag is not set again",
        ),
        (form == Form::Barrier, "PIPE_S is refused by the hardware"),
        (gm, "at most 4095 bursts; every burst inside one GM buffer"),
        (form == Form::Extreme, "an error if no lane of a repeat is active"),
    ];
    all.iter().filter(|r| r.0).map(|r| r.1.to_string()).collect()
}
