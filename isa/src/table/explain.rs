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
    let mut out = Vec::new();
    let mut say = |s: &str| out.push(s.to_string());
    let form = row.form;
    if form.position(What::Repeat).is_some() && form.operand(1).is_none_or(|o| o.0 != Shape::Burst)
    {
        say("repeat 0 to 255; 0 does nothing in norm mode");
    }
    let masked = [0, 1].iter().any(|&n| form.operand(n).is_some_and(|o| o.0 == Shape::Lanes));
    if masked {
        say("bases aligned to 32 bytes; only blocks with an active lane are range-checked");
    }
    match form.operand(0) {
        Some((Shape::PerRepeat, _)) => say("destination aligned to what one repeat writes"),
        Some((Shape::Lanes, _)) => {
            say("destination block stride 0 only with one active block");
            say("a source is exactly the destination or disjoint from it inside a repeat");
        }
        _ => {}
    }
    if masked && row.mnemonic == "vcopy" {
        say("counter mode counts the elements of each repeat; the repeat field is honoured");
    } else if masked {
        say("counter mode takes the total element count from MASK and ignores repeat");
    } else if matches!(form, Form::Brcb | Form::CopyUb) {
        say("ignores MASK and mask mode");
    }
    if matches!(row.sem, Sem::AccOne(_) | Sem::AccTwo(_)) {
        say("reads the destination");
    }
    match form {
        Form::Flag => {
            say("event 0 to 7; source and destination pipe differ; a pending flag is not set again")
        }
        Form::Barrier => say("PIPE_S is refused by the hardware"),
        Form::CopyIn | Form::CopyOut | Form::AlignIn | Form::AlignOut => {
            say("at most 4095 bursts; every burst inside one GM buffer");
        }
        Form::Extreme => say("an error if no lane of a repeat is active"),
        _ => {}
    }
    out
}
