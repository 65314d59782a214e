//! The instructions of the 950 as `core` sees them: micro-ops, vector functions, and what the
//! other pipes share with A2/A3 (transfers, flags, barriers, the scalar unit).

use super::table::{Op, micro_ops};
use crate::table;
use ptoemu_core::catalogue::{Catalogue, Entry};
use ptoemu_core::dtype::DType;
use ptoemu_core::stream::{Kind, OpId, Pipe};
use std::sync::OnceLock;

/// Records of vector functions carry this number.
pub fn function() -> OpId {
    OpId(Op::ALL.len() as u16)
}

/// Instructions of A2/A3 that both families have.
fn common() -> impl Iterator<Item = table::Op> {
    table::Op::ALL.iter().copied().filter(|o| o.row().kind() != Kind::Vector)
}

/// Number of an instruction both families have; that of vector functions for any other.
pub fn shared(op: table::Op) -> OpId {
    static IDS: OnceLock<Vec<u16>> = OnceLock::new();
    let first = function().0;
    let ids = IDS.get_or_init(|| {
        let mut ids = vec![first; table::Op::ALL.len()];
        for (o, id) in common().zip(first + 1..) {
            ids[o as usize] = id;
        }
        ids
    });
    OpId(ids.get(op as usize).copied().unwrap_or(first))
}

/// The catalogue of the family.
pub fn catalogue() -> Catalogue {
    let mut all = micro_ops();
    all.push(Entry {
        mnemonic: "vecscope",
        dtypes: DType::ALL.to_vec(),
        pipe: Pipe::V,
        kind: Kind::Function,
        cost_class: "vecscope",
    });
    let known = table::catalogue();
    all.extend(common().filter_map(|o| known.get(o.id()).cloned()).map(renamed));
    Catalogue(all)
}

/// Transfers have one name for every element size on the 950.
fn renamed(e: Entry) -> Entry {
    let mnemonic = match e.mnemonic {
        n if n.starts_with("copy_gm_to_ubuf") => "copy_gm_to_ubuf_align_v2",
        n if n.starts_with("copy_ubuf_to_gm") => "copy_ubuf_to_gm_align_v2",
        n => n,
    };
    Entry { mnemonic, cost_class: mnemonic, ..e }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lead_to_their_entries() {
        let c = catalogue();
        assert_eq!(c.get(function()).map(|e| e.mnemonic), Some("vecscope"));
        for op in [table::Op::set_flag, table::Op::pipe_barrier, table::Op::scalar_load] {
            assert_eq!(c.get(shared(op)).map(|e| e.mnemonic), Some(op.mnemonic()));
        }
        let copy = c.get(shared(table::Op::copy_gm_to_ubuf_align_b32));
        assert_eq!(copy.map(|e| (e.pipe, e.kind)), Some((Pipe::Mte2, Kind::Dma)));
        assert_eq!(shared(table::Op::vadd), function());
    }
}
