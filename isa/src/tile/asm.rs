//! Short spellings for microcode: one method per instruction form, one per idiom.

use super::call::Call;
use super::quirks::Quirk;
use crate::instr::Instr;
use crate::machine::{Backend, Stop};
use crate::table::Op;
use ptoemu_core::dtype::DType;
use ptoemu_core::stream::{Marks, Pipe};

/// Bytes of one block.
pub(super) const BLOCK: u64 = 32;
/// Bytes of one repeat.
pub(super) const REPEAT_BYTES: u64 = 256;
/// Most repeats one instruction can have.
pub(super) const MAX_REPEAT: u64 = 255;
/// Largest repeat stride of two-source instructions, in blocks.
pub(super) const MAX_STRIDE: u64 = 255;
/// First byte of the scratch window of operations called without tmp [D: PTO TMP_UB_OFFSET].
pub const SCRATCH: u64 = 184 * 1024;
/// Bytes of the scratch window [D: PTO TMP_UB_SIZE].
pub const SCRATCH_BYTES: u64 = 8 * 1024;

/// Writes microcode of one element type into a backend.
pub struct Asm<'a> {
    be: &'a mut dyn Backend,
    /// Element type of the instructions that follow.
    pub t: DType,
    /// Marks added to every instruction.
    pub marks: Marks,
    /// Counter mode is on.
    counting: bool,
    /// Issue instructions of no repeat.
    keep_empty: bool,
}

type Done = Result<(), Stop>;

impl<'a> Asm<'a> {
    /// An assembler for elements of type `t`.
    pub fn new(be: &'a mut dyn Backend, t: DType) -> Self {
        Asm { be, t, marks: Marks::default(), counting: false, keep_empty: false }
    }

    /// An assembler for the destination type of a call.
    pub fn of(call: &Call, be: &'a mut dyn Backend) -> Self {
        let keep_empty = call.quirks.has(Quirk::A6);
        Asm { keep_empty, ..Asm::new(be, call.dst.dtype) }
    }

    /// Would an instruction of `repeat` repeats do nothing, and is it left out then?
    fn idle(&self, repeat: u64) -> bool {
        repeat == 0 && !self.counting && !self.keep_empty
    }

    /// Elements of one repeat.
    pub fn e(&self) -> u64 {
        REPEAT_BYTES / self.t.size() as u64
    }

    /// Elements of one block.
    pub fn b(&self) -> u64 {
        BLOCK / self.t.size() as u64
    }

    /// Issues any instruction.
    pub fn emit(&mut self, op: Op, args: &[i64]) -> Result<u64, Stop> {
        self.be.issue(&Instr::new(op, self.t, args).marked(self.marks))
    }

    /// Issues an instruction with sources of another type.
    pub fn emit_from(&mut self, op: Op, src: DType, args: &[i64]) -> Done {
        self.emit_as(op, (self.t, src), args)
    }

    /// Issues an instruction of (destination, source) types.
    pub fn emit_as(&mut self, op: Op, types: (DType, DType), args: &[i64]) -> Done {
        let instr = Instr::new(op, types.0, args).from_dtype(types.1);
        self.be.issue(&instr.marked(self.marks)).map(drop)
    }

    /// Conversion between (destination, source) types, dense blocks.
    pub fn convert(
        &mut self,
        op: Op,
        types: (DType, DType),
        at: [u64; 2],
        repeat: u64,
        rep: [u64; 2],
    ) -> Done {
        let args = [at[0], at[1], repeat, 1, 1, rep[0], rep[1]].map(|x| x as i64);
        self.emit_as(op, types, &args)
    }

    /// Two sources; block and repeat strides of destination, source 0, source 1.
    pub fn vec2(
        &mut self,
        op: Op,
        at: [u64; 3],
        repeat: u64,
        blk: [u64; 3],
        rep: [u64; 3],
    ) -> Done {
        if self.idle(repeat) {
            return Ok(());
        }
        let [d, a, b] = at.map(|x| x as i64);
        let ([db, ab, bb], [dr, ar, br]) = (blk.map(|x| x as i64), rep.map(|x| x as i64));
        self.emit(op, &[d, a, b, repeat as i64, db, ab, bb, dr, ar, br]).map(drop)
    }

    /// One source, dense blocks.
    pub fn vec1(&mut self, op: Op, dst: u64, src: u64, repeat: u64, rep: [u64; 2]) -> Done {
        if self.idle(repeat) {
            return Ok(());
        }
        let args = [dst, src, repeat, 1, 1, rep[0], rep[1]].map(|x| x as i64);
        self.emit(op, &args).map(drop)
    }

    /// One source and a scalar, dense blocks.
    pub fn vecs(&mut self, op: Op, at: [u64; 2], imm: u64, repeat: u64, rep: [u64; 2]) -> Done {
        if self.idle(repeat) {
            return Ok(());
        }
        // The last argument is the rounding of right shifts: off.
        let args = [at[0], at[1], imm, repeat, 1, 1, rep[0], rep[1], 0].map(|x| x as i64);
        let n = if op == Op::vshr { 9 } else { 8 };
        self.emit(op, &args[..n]).map(drop)
    }

    /// Fills with a scalar; `rep` as destination and (unused) source repeat stride.
    pub fn dup(&mut self, dst: u64, imm: u64, repeat: u64, blk: [u64; 2], rep: [u64; 2]) -> Done {
        if self.idle(repeat) {
            return Ok(());
        }
        let args = [dst, imm, repeat, blk[0], blk[1], rep[0], rep[1]].map(|x| x as i64);
        self.emit(Op::vector_dup, &args).map(drop)
    }

    /// Reduction of whole repeats to their value: step in elements, source stride in blocks.
    pub fn reduce(&mut self, op: Op, dst: u64, src: u64, repeat: u64, step: u64, rep: u64) -> Done {
        if self.idle(repeat) {
            return Ok(());
        }
        let args = [dst, src, repeat, step, 1, rep, 0].map(|x| x as i64);
        self.emit(op, &args).map(drop)
    }

    /// Reduction of every block of dense repeats.
    pub fn group(&mut self, op: Op, dst: u64, src: u64, repeat: u64) -> Done {
        let args = [dst, src, repeat, 1, 1, 8].map(|x| x as i64);
        self.emit(op, &args).map(drop)
    }

    /// One block per scalar, dense.
    pub fn brcb(&mut self, dst: u64, src: u64, repeat: u64) -> Done {
        let args = [dst, src, 1, 8, repeat].map(|x| x as i64);
        self.emit(Op::vbrcb, &args).map(drop)
    }

    /// Bursts of blocks inside UB.
    pub fn copy(&mut self, dst: u64, src: u64, bursts: u64, len: u64, gaps: [u64; 2]) -> Done {
        let args = [dst, src, 0, bursts, len, gaps[0], gaps[1]].map(|x| x as i64);
        self.emit(Op::copy_ubuf_to_ubuf, &args).map(drop)
    }

    /// Scalar load of one element.
    pub fn load(&mut self, at: u64) -> Result<u64, Stop> {
        self.emit(Op::scalar_load, &[at as i64])
    }

    /// Scalar store of one element.
    pub fn store(&mut self, at: u64, bits: u64) -> Done {
        self.emit(Op::scalar_store, &[bits as i64, at as i64]).map(drop)
    }

    /// MASK = the two words.
    pub fn mask(&mut self, hi: u64, lo: u64) -> Done {
        self.emit(Op::set_vector_mask, &[hi as i64, lo as i64]).map(drop)
    }

    /// Norm mode mask of the first `n` lanes of every repeat.
    pub fn lanes(&mut self, n: u64) -> Done {
        let ones = |n: u64| if n >= 64 { u64::MAX } else { (1 << n) - 1 };
        self.mask(ones(n.saturating_sub(64)), ones(n))
    }

    /// Norm mode mask of all lanes.
    pub fn full(&mut self) -> Done {
        let marks = self.marks;
        self.marks = Marks::RESTORE;
        let done = self.mask(u64::MAX, u64::MAX);
        self.marks = marks;
        done
    }

    /// Counter mode; the count follows.
    pub fn counter(&mut self) -> Done {
        self.counting = true;
        self.emit(Op::set_mask_count, &[]).map(drop)
    }

    /// Counter mode over `n` elements.
    pub fn count(&mut self, n: u64) -> Done {
        self.counter()?;
        self.mask(0, n)
    }

    /// Back from counter mode to norm mode with all lanes.
    pub fn end_count(&mut self) -> Done {
        self.counting = false;
        self.emit(Op::set_mask_norm, &[])?;
        self.full()
    }

    /// Later vector instructions wait for all earlier ones.
    pub fn barrier(&mut self) -> Done {
        self.emit(Op::pipe_barrier, &[Pipe::V as i64]).map(drop)
    }

    /// The scalar unit waits for all vector instructions.
    pub fn v_to_s(&mut self) -> Done {
        self.pair(Pipe::V, Pipe::S)
    }

    /// Vector instructions wait for the scalar unit.
    pub fn s_to_v(&mut self) -> Done {
        self.pair(Pipe::S, Pipe::V)
    }

    fn pair(&mut self, src: Pipe, dst: Pipe) -> Done {
        let marks = self.marks;
        self.marks = Marks::PAIRED;
        let args = [src as i64, dst as i64, 0];
        let done = self.emit(Op::set_flag, &args).and_then(|_| self.emit(Op::wait_flag, &args));
        self.marks = marks;
        done.map(drop)
    }
}

/// Runs `f(first row, rows)` over `rows` in rounds of at most `most`, without an empty last round.
pub(super) fn rounds(rows: u64, most: u64, mut f: impl FnMut(u64, u64) -> Done) -> Done {
    let mut at = 0;
    while at < rows {
        let n = most.min(rows - at);
        f(at, n)?;
        at += n;
    }
    Ok(())
}

/// The same, but with the empty last round shipped microcode issues when `rows` is a multiple.
pub(super) fn rounds_and_rest(rows: u64, most: u64, f: &mut dyn FnMut(u64, u64) -> Done) -> Done {
    let whole = rows / most;
    for i in 0..whole {
        f(i * most, most)?;
    }
    f(whole * most, rows % most)
}
