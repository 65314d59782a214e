//! TMULADDDST, TFUSEDMULADD, TFUSEDMULADDRELU, TAXPY, TSUBRELU: two steps in one instruction.

use super::asm::Asm;
use super::call::Call;
use super::check::{Checker, Verdict};
use super::engine::Body;
use super::meaning::{Mem, combine, from_f64, single, to_f64};
use super::op::Operator;
use crate::machine::Stop;
use crate::table::Op;
use ptoemu_core::dtype::DType::{self, F32};

type Done = Result<(), Stop>;

/// Legality beyond the common rules.
pub fn check(call: &Call, c: &mut Checker) -> Verdict {
    c.elementwise(call, true)
}

/// x * y + z, rounded once.
fn fma(t: DType, x: u64, y: u64, z: u64) -> u64 {
    if t == F32 {
        let [x, y, z] = [x, y, z].map(|v| f32::from_bits(v as u32));
        return x.mul_add(y, z).to_bits().into();
    }
    from_f64(t, to_f64(t, x).mul_add(to_f64(t, y), to_f64(t, z)))
}

/// dst = f(sources, old dst).
pub fn reference(call: &Call, mem: &mut Mem) -> Done {
    let (op, t) = (call.op.operator, call.dst.dtype);
    let old = mem.read_valid(&call.dst)?;
    let mut old = old.into_iter();
    let out: Vec<u64> = {
        let x = mem.read_valid(call.source(0))?;
        let y = match call.op.sig.scalar {
            true => vec![call.scalar_bits(); x.len()],
            false => mem.read_valid(call.source(1))?,
        };
        x.into_iter()
            .zip(y)
            .map(|(x, y)| {
                let d = old.next().unwrap_or(0);
                match op {
                    Operator::SubRelu => single(Operator::Relu, t, combine(Operator::Sub, t, x, y)),
                    Operator::MulDst => fma(t, x, d, y),
                    Operator::MulDstRelu => single(Operator::Relu, t, fma(t, x, d, y)),
                    _ => fma(t, x, y, d),
                }
            })
            .collect()
    };
    mem.write_valid(&call.dst, &out)
}

/// A2/A3 microcode.
pub fn lower(call: &Call, a: &mut Asm) -> Done {
    let (dst, x) = (&call.dst, call.source(0));
    let op = match call.op.operator {
        Operator::Axpy => {
            if dst.valid_rows == 0 || dst.valid_cols == 0 {
                return Ok(());
            }
            let body = Body::Scalar(Op::vaxpy, x, call.scalar_bits());
            return super::bin_scalar::over(call, a, dst, body);
        }
        Operator::SubRelu => Op::vsubrelu,
        Operator::MulDst => Op::vmadd,
        Operator::MulDstRelu => Op::vmaddrelu,
        _ => Op::vmla,
    };
    super::bin::apply(call, a, op, [dst, x, call.source(1)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_not_rounded_before_the_sum() {
        let x = u64::from(1.000_000_1f32.to_bits());
        let minus = u64::from((-1.000_000_2f32).to_bits());
        assert_ne!(
            fma(F32, x, x, minus),
            combine(Operator::Add, F32, combine(Operator::Mul, F32, x, x), minus)
        );
    }
}
