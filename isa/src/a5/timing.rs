//! What micro-ops are to the timing model: kind, figures, bytes.

use super::form::Form;
use super::mode::{Barrier, Dist};
use super::reg::VL;
use super::table::Op;
use super::{Mods, Step};
use ptoemu_core::dtype::DType;
use ptoemu_core::time::vf::{Bar, Class, Kind};

/// What executes a micro-op; none where no instruction stands behind the name.
pub fn kind(op: Op, mods: &Mods) -> Option<Kind> {
    if op.row().cost == "none" {
        return None;
    }
    Some(match op.form() {
        Form::PLoad
        | Form::Load
        | Form::Load2
        | Form::Prime
        | Form::LoadU
        | Form::LoadB
        | Form::Gather => Kind::Load,
        Form::PStore
        | Form::PStream
        | Form::Store
        | Form::Store2
        | Form::StoreB
        | Form::StreamN
        | Form::FlushN
        | Form::StreamR
        | Form::FlushR
        | Form::Scatter => Kind::Store,
        Form::Pset | Form::Plt | Form::P1 | Form::P2 | Form::P3 | Form::PPair => Kind::Predicate,
        Form::Bar => Kind::Bar(bar(mods.bar)),
        Form::Special | Form::ReadVms => Kind::Scalar,
        _ => Kind::Compute,
    })
}

/// Which figures a micro-op uses.
pub fn class(step: &Step) -> Class {
    let row = step.op.row();
    let dtype = if step.op == Op::vcvt { conversion(step.st, step.dt) } else { step.dt };
    let fallback = (row.cost != row.mnemonic).then(|| row.cost.to_string());
    Class { name: row.mnemonic.to_string(), fallback, dtype: Some(dtype) }
}

/// The element type that stands for a conversion in target files.
fn conversion(from: DType, to: DType) -> DType {
    match (from.is_float(), to.is_float()) {
        (false, false) => DType::I16,
        (true, true) => DType::F32,
        _ => DType::I32,
    }
}

/// Bytes a load or store moves, mask left aside.
pub fn bytes(step: &Step) -> u32 {
    let size = step.st.size() as u32;
    match step.op.form() {
        Form::PLoad | Form::PStore => match step.mods.dist {
            Dist::Us | Dist::Pk => 16,
            Dist::Ds => 64,
            _ => 32,
        },
        Form::Prime | Form::FlushN | Form::FlushR => 32,
        Form::Load2 | Form::Store2 => 512,
        _ => match step.mods.dist {
            Dist::BrcB8 | Dist::OneptB8 => 1,
            Dist::BrcB16 | Dist::OneptB16 => 2,
            Dist::BrcB32 | Dist::OneptB32 => 4,
            Dist::Blk | Dist::E2bB32 => 32,
            Dist::E2bB16 => 16,
            Dist::DsB8 | Dist::DsB16 => 512,
            Dist::Unpk4 | Dist::Pk4B32 => 64,
            Dist::UsB8 | Dist::UsB16 | Dist::UnpkB8 | Dist::UnpkB16 | Dist::UnpkB32 => 128,
            Dist::PkB16 | Dist::PkB32 | Dist::PkB64 => 128,
            _ => (VL as u32).max(size),
        },
    }
}

/// What a barrier orders in the model; the scalar combinations order everything.
fn bar(b: Barrier) -> Bar {
    match b {
        Barrier::LoadStore => Bar::LoadStore,
        Barrier::StoreLoad => Bar::StoreLoad,
        Barrier::StoreStore => Bar::StoreStore,
        _ => Bar::All,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_micro_op_has_a_kind_or_no_instruction() {
        for op in Op::ALL {
            let k = kind(*op, &Mods::default());
            assert_eq!(k.is_none(), op.row().cost == "none", "{}", op.mnemonic());
            let stores = op.mnemonic().starts_with("vst") || op.mnemonic().starts_with("pst");
            assert_eq!(k == Some(Kind::Store), stores || *op == Op::vscatter || *op == Op::vsstb);
        }
    }

    #[test]
    fn conversions_share_figures_by_kind() {
        let mut s = Step::new(Op::vcvt, DType::F16);
        s.st = DType::F32;
        assert_eq!(class(&s).dtype, Some(DType::F32));
        s.dt = DType::I16;
        assert_eq!(class(&s).dtype, Some(DType::I32));
    }
}
