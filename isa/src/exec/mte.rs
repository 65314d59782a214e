//! Transfers of the 950: bursts with start-to-start byte strides, outer loops and padding.

use super::a5::{LoopReg, MoveStmt, Padding, Way};
use super::frame::{Frame, bits_of, get, kind, refuse};
use super::program::Num;
use super::queue::Held;
use super::run::Exec;
use super::value::{Ptr, Value};
use crate::machine::Stop;
use crate::table::Op;
use crate::tile::Family;
use ptoemu_core::access::{Role, Space, Walk};
use ptoemu_core::check::Finding;
use ptoemu_core::diag::{Diagnostic, Level};
use ptoemu_core::stream::{NONE, OpId, Pipe};

type Done = Result<(), Stop>;

/// Most bursts of one transfer; more would only be a wrong count `[U: the fields allow more]`.
const MAX_BURSTS: u64 = 1 << 24;

/// One dimension: count, source stride, destination stride in bytes.
type Dim = (u64, i64, i64);

/// Padding resolved: bytes before and behind, and one element's bytes.
struct Fill {
    left: u64,
    right: u64,
    value: u64,
}

impl Exec<'_> {
    pub(super) fn loop_register(
        &mut self,
        frame: &Frame,
        reg: LoopReg,
        out: bool,
        nums: &[Num],
    ) -> Done {
        let mut v = [0i64; 2];
        for (to, n) in v.iter_mut().zip(nums) {
            *to = self.num(frame, *n)?;
        }
        let loops = &mut self.a5.loops[usize::from(out)];
        match reg {
            LoopReg::Size => (loops[0][0], loops[1][0]) = (v[0], v[1]),
            LoopReg::Stride1 => (loops[0][1], loops[0][2]) = (v[0], v[1]),
            LoopReg::Stride2 => (loops[1][1], loops[1][2]) = (v[0], v[1]),
            LoopReg::Pad => self.a5.pad = v[0] as u64,
        }
        Ok(())
    }

    /// Hands a transfer to its pipe.
    pub(super) fn transfer(&mut self, frame: &Frame, s: &MoveStmt) -> Done {
        let pipe = s.way.pipe();
        if self.queues.blocked(pipe) {
            let (loops, pad) = (self.a5.loops, self.a5.pad);
            return self.hold(pipe, Held::Transfer(frame.clone(), Box::new(s.clone()), loops, pad));
        }
        self.transfer_now(frame, s)
    }

    pub(super) fn transfer_now(&mut self, frame: &Frame, s: &MoveStmt) -> Done {
        let (src, dst) = (self.pointer_of(frame, s.src)?, self.pointer_of(frame, s.dst)?);
        let spaces = match s.way {
            Way::In => (Space::Gm, Space::Ub),
            Way::Out => (Space::Ub, Space::Gm),
            Way::Within => (Space::Ub, Space::Ub),
        };
        if (src.space, dst.space) != spaces {
            return Err(refuse(
                "lower.type",
                "source and destination are in the wrong memories for this transfer",
            ));
        }
        let len = self.num(frame, s.len)?;
        let mut dims = vec![self.dim(frame, s.bursts)?];
        for l in &s.loops {
            dims.push(self.dim(frame, *l)?);
        }
        if s.registers {
            for [n, a, b] in self.a5.loops[usize::from(s.way == Way::Out)] {
                dims.push((count(n)?, a, b));
            }
        }
        // Refused before it is recorded: what goes over the records goes over every burst.
        let total =
            dims.iter().try_fold(1u64, |n, d| n.checked_mul(d.0)).filter(|n| *n <= MAX_BURSTS);
        let Some(total) = total else {
            let text = format!("more than {MAX_BURSTS} bursts in one transfer");
            let mut stop = refuse("params.bursts", text);
            stop.0.help = Some("check the counts of its bursts and loops".into());
            return Err(stop);
        };
        let unit = if s.way == Way::Within { 32 } else { 1 };
        let len = u64::try_from(len).ok().filter(|l| *l <= u64::from(u32::MAX)).map(|l| l * unit);
        let Some(len) = len else {
            return Err(refuse(
                "params.len",
                format!("{}: the length of a burst does not fit", s.way_name()),
            ));
        };
        if s.way == Way::Within {
            // Gaps between bursts instead of strides.
            let d = &mut dims[0];
            let step = |gap: i64| (gap.wrapping_mul(32)).wrapping_add_unsigned(len);
            *d = (d.0, step(d.1), step(d.2));
        }
        let fill = self.fill(frame, s)?;
        let record = self.record_transfer(s, src, dst, len, (total, &dims));
        let loops = dims.iter().skip(1).any(|d| d.0 > 1);
        self.a5.core.writer = record.unwrap_or(NONE);
        record.inspect(|r| self.machine.before(*r));
        let short = self.bursts(s, src, dst, len, (total, &dims), fill.as_ref())?;
        record.inspect(|r| self.machine.after(*r));
        let touched = self.a5.core.footprint.take();
        if let Some(record) = record.filter(|_| loops || short || fill.is_some()) {
            self.machine.log.stream.footprints.keep(record, touched);
        }
        Ok(())
    }

    /// One record for all bursts; its walk has the strides of the innermost ones.
    fn record_transfer(
        &mut self,
        s: &MoveStmt,
        src: Ptr,
        dst: Ptr,
        len: u64,
        (total, dims): (u64, &[Dim]),
    ) -> Option<u32> {
        let (op, pipe) = match s.way {
            Way::In => (Op::copy_gm_to_ubuf_align_b32, Pipe::Mte2),
            Way::Out => (Op::copy_ubuf_to_gm_align_b32, Pipe::Mte3),
            Way::Within => (Op::copy_ubuf_to_ubuf, Pipe::V),
        };
        if self.options.settings.family != Family::A5 {
            return None;
        }
        let bursts = u32::try_from(total).unwrap_or(u32::MAX);
        let (a, b) = dims.first().map_or((0, 0), |d| (d.1, d.2));
        let walk = |p: Ptr, role, rep| {
            let unit = len as u32;
            (p.addr, Walk { space: p.space, role, elem: 0, blocks: 1, unit, blk: 0, rep })
        };
        let sides = [walk(dst, Role::Write, b), walk(src, Role::Read, a)];
        let id = crate::a5::catalogue::shared(op);
        Some(self.machine.log.push_transfer(id, s.elem, pipe, sides, bursts))
    }

    fn dim(&self, frame: &Frame, [n, a, b]: [Num; 3]) -> Result<Dim, Stop> {
        Ok((count(self.num(frame, n)?)?, self.num(frame, a)?, self.num(frame, b)?))
    }

    fn fill(&self, frame: &Frame, s: &MoveStmt) -> Result<Option<Fill>, Stop> {
        let Some(Padding { on, value, left, right }) = s.pad else { return Ok(None) };
        if self.num(frame, on)? & 1 == 0 {
            return Ok(None);
        }
        let value = match value {
            None => self.a5.pad,
            Some(v) => {
                let v = get(frame, v);
                bits_of(v, s.elem).ok_or_else(|| kind("a scalar", v))?
            }
        };
        let bytes = |n: i64| -> Result<u64, Stop> {
            let most = 255;
            match u64::try_from(n).ok().filter(|n| *n <= most) {
                Some(n) => Ok(n * s.elem.size() as u64),
                None => {
                    Err(refuse("params.pad", format!("padding of {n} elements; at most {most}")))
                }
            }
        };
        Ok(Some(Fill {
            left: bytes(self.num(frame, left)?)?,
            right: bytes(self.num(frame, right)?)?,
            value,
        }))
    }

    fn pointer_of(&self, frame: &Frame, slot: u32) -> Result<Ptr, Stop> {
        match get(frame, slot) {
            Value::Ptr(p) => Ok(*p),
            other => Err(kind("a pointer", other)),
        }
    }

    fn bursts(
        &mut self,
        s: &MoveStmt,
        src: Ptr,
        dst: Ptr,
        len: u64,
        (total, dims): (u64, &[Dim]),
        fill: Option<&Fill>,
    ) -> Result<bool, Stop> {
        self.a5.core.footprint.take();
        let mut short = false;
        for i in 0..total {
            self.spend()?;
            let (mut rest, mut from, mut to) = (i, src.addr, dst.addr);
            for (n, a, b) in dims {
                let k = (rest % n) as i64;
                rest /= n;
                from = from.wrapping_add_signed(a.wrapping_mul(k));
                to = to.wrapping_add_signed(b.wrapping_mul(k));
            }
            short |= self.touch_burst(s, from, to, len, fill);
            match s.way {
                Way::In => self.burst_in(s, from, to, len, fill)?,
                Way::Out => self.burst_out(s, from, to, len)?,
                Way::Within => self.burst_within(s, from, to, len)?,
            }
        }
        Ok(short)
    }

    /// Notes the bytes of a burst; true if the buffer does not hold them all. Bytes that no buffer
    /// holds reach nobody.
    fn touch_burst(
        &mut self,
        s: &MoveStmt,
        from: u64,
        to: u64,
        len: u64,
        fill: Option<&Fill>,
    ) -> bool {
        let gm = if s.way == Way::In { from } else { to };
        let held = match (s.way, self.machine.gm.locate(gm)) {
            (Way::Within, _) => len,
            (_, None) => 0,
            (_, Some((b, at))) => {
                let size = self.machine.gm.buffers().get(b).map_or(0, |b| b.mem.len() as u64);
                size.saturating_sub(at).min(len)
            }
        };
        // With padding on, a row is filled to its block boundary.
        let row = fill.map_or(held, |f| (f.left + len + f.right).next_multiple_of(32));
        let (a, b) = match s.way {
            Way::In => ((Space::Gm, held), (Space::Ub, row)),
            Way::Out => ((Space::Ub, held), (Space::Gm, held)),
            Way::Within => ((Space::Ub, len), (Space::Ub, len)),
        };
        let all = &mut self.a5.core.footprint;
        all.touch(a.0, Role::Read, from, from.saturating_add(a.1));
        all.touch(b.0, Role::Write, to, to.saturating_add(b.1));
        held < len
    }

    fn ub_range(&self, s: &MoveStmt, at: u64, n: u64) -> Done {
        let (name, size) = (s.way_name(), self.machine.ub.len() as u64);
        if !at.is_multiple_of(32) {
            let mut stop = refuse(
                "memcheck.align",
                format!("{name}: UB address {at:#x} is not a multiple of 32 bytes"),
            );
            stop.0.help = Some("align the UB address and its strides to 32 bytes".into());
            return Err(stop);
        }
        if at.checked_add(n).is_none_or(|end| end > size) {
            let text = format!(
                "{name}: UB bytes {at:#x}..{:#x} are beyond the {} KB of UB",
                at.wrapping_add(n),
                size / 1024
            );
            return Err(refuse("memcheck.range", text));
        }
        Ok(())
    }

    /// Buffer, offset and the bytes of the burst that the buffer holds.
    ///
    /// Transfers beyond a buffer do not stop the run: allocations are larger than what was asked
    /// for, and kernels of the public suite rely on it `[I: GOLD:vcmp-eq, vbr-u8]`. Such bytes
    /// read as undefined and are not written.
    fn gm_range(&mut self, s: &MoveStmt, at: u64, n: u64) -> Result<(usize, u64, u64), Stop> {
        let name = s.way_name();
        let Some((b, o)) = self.machine.gm.locate(at) else {
            return Err(refuse(
                "memcheck.range",
                format!("{name}: GM address {at:#x} is in no buffer"),
            ));
        };
        let buf = &self.machine.gm.buffers()[b];
        let held = (buf.mem.len() as u64).saturating_sub(o).min(n);
        if held < n {
            let text = format!(
                "{name}: bytes {o}..{} leave the buffer `{}` of {} bytes",
                o.saturating_add(n),
                buf.name,
                buf.mem.len()
            );
            let diag = Diagnostic::new("memcheck.gm_range", Level::Warning, text)
                .note("bytes beyond a buffer read as undefined and are not written")
                .help("shorten the burst or enlarge the buffer");
            let f = Finding::new(diag, NONE, self.machine.log.site).bytes(
                Space::Gm,
                at,
                at.saturating_add(n),
            );
            self.machine.findings.add(f, OpId(u16::MAX - 2));
        }
        Ok((b, o, held))
    }

    fn burst_in(
        &mut self,
        s: &MoveStmt,
        from: u64,
        to: u64,
        len: u64,
        fill: Option<&Fill>,
    ) -> Done {
        let left = fill.map_or(0, |f| f.left);
        // With padding on, a row is filled to its block boundary [D: ASC].
        let end = fill.map_or(len, |f| (left + len + f.right).next_multiple_of(32));
        self.ub_range(s, to, end)?;
        let (b, at, held) = self.gm_range(s, from, len)?;
        let (poison, writer) = (self.options.settings.poison, self.a5.core.writer);
        let m = &mut self.machine;
        let mem = &m.gm.buffers()[b].mem;
        let out = m.ub.bytes.get_mut(to, end as usize);
        let (Some(data), Some(out)) = (mem.bytes.get(at, held as usize).or(Some(&[])), out) else {
            return Ok(());
        };
        if let Some(f) = fill {
            let size = s.elem.size();
            for e in out.chunks_exact_mut(size) {
                e.copy_from_slice(&f.value.to_le_bytes()[..size]);
            }
        }
        let row = &mut out[left as usize..(left + len) as usize];
        row.fill(poison);
        row[..data.len()].copy_from_slice(data);
        m.ub.shadow.set(to, to + end, true, writer);
        m.ub.shadow.set(to + left, to + left + len, false, writer);
        m.ub.shadow.copy_from(&mem.shadow, at, to + left, data.len() as u64, writer);
        Ok(())
    }

    fn burst_out(&mut self, s: &MoveStmt, from: u64, to: u64, len: u64) -> Done {
        self.ub_range(s, from, len)?;
        let (b, at, len) = self.gm_range(s, to, len)?;
        let undef = self.machine.ub.shadow.first_undefined(from, from + len);
        let m = &mut self.machine;
        let Some(buf) = m.gm.buffer_mut(b) else { return Ok(()) };
        let out = buf.mem.bytes.get_mut(at, len as usize);
        let (Some(data), Some(out)) = (m.ub.bytes.get(from, len as usize), out) else {
            return Ok(());
        };
        out.copy_from_slice(data);
        buf.mem.shadow.copy_from(&m.ub.shadow, from, at, len, NONE);
        if let Some(byte) = undef {
            let text =
                format!("{}: UB byte {byte:#x} was never written and reaches GM", s.way_name());
            let diag = Diagnostic::new("initcheck.undefined", Level::Warning, text)
                .help("initialise it, or store less");
            let f = Finding::new(diag, NONE, m.log.site).bytes(Space::Ub, byte, from + len);
            m.findings.add(f, OpId(u16::MAX - 1));
        }
        Ok(())
    }

    fn burst_within(&mut self, s: &MoveStmt, from: u64, to: u64, len: u64) -> Done {
        self.ub_range(s, from, len)?;
        self.ub_range(s, to, len)?;
        let ub = &mut self.machine.ub;
        let Some(data) = ub.bytes.get(from, len as usize).map(<[u8]>::to_vec) else {
            return Ok(());
        };
        if let Some(out) = ub.bytes.get_mut(to, len as usize) {
            out.copy_from_slice(&data);
        }
        ub.shadow.copy(from, to, len, self.a5.core.writer);
        Ok(())
    }
}

fn count(n: i64) -> Result<u64, Stop> {
    u64::try_from(n).map_err(|_| refuse("params.bursts", format!("a transfer of {n} bursts")))
}

impl MoveStmt {
    fn way_name(&self) -> &'static str {
        match (self.way, self.registers) {
            (Way::In, false) => "mte_gm_ub",
            (Way::In, true) => "copy_gm_to_ubuf",
            (Way::Out, false) => "mte_ub_gm",
            (Way::Out, true) => "copy_ubuf_to_gm",
            (Way::Within, _) => "mte_ub_ub",
        }
    }
}
