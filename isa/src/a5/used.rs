//! Which bytes of UB a micro-op reads and writes: the part of the checks in its execution.

use super::core::{Core, Run};
use super::flow::Lineage;
use super::form::{Form, Kind};
use super::mode::{Class, Dist};
use super::order::{Blocks, Pair, add, bit, blocks};
use super::reg::{VL, byte_mask};
use super::remark::{Ordering, Remark};
use super::sem::load::active_blocks;
use super::table::Op;
use ptoemu_core::access::Role;
use ptoemu_core::diag::{Diagnostic, Level};
use ptoemu_core::mask::Mask;

impl Run<'_, '_> {
    /// Follows the accesses of the micro-op just done: which bytes its function touches, and
    /// whether something orders them.
    pub(super) fn watch(&mut self) {
        let form = self.step.op.form();
        let by_masks = std::mem::take(&mut self.core.carried);
        let mut sources = self.args.v.iter().fold(by_masks, |all, v| all | v.sources);
        match form {
            // The same bits by another name.
            Form::Same => self.outs.v[0].from = self.args.v[0].from,
            _ => self.operands(),
        }
        // A flush writes what its stream stored already; priming an align register uses nothing.
        let touches = !matches!(form, Form::FlushN | Form::FlushR | Form::Prime);
        if touches && !self.core.touched.is_empty() {
            sources |= self.accesses(sources);
        }
        for v in &mut self.outs.v {
            v.sources = sources;
        }
        self.core.produced = sources;
        if self.core.order.found() {
            let pairs = self.core.order.take();
            pairs.iter().for_each(|p| report(self.core, p));
        }
    }

    /// Results remember their operands; what leaves the vector registers is followed back.
    fn operands(&mut self) {
        let form = self.step.op.form();
        let count = form.vectors();
        let from: [u32; 3] = std::array::from_fn(|n| match n < count {
            true => self.args.v[n].from,
            false => 0,
        });
        if form == Form::Index {
            let size = self.step.dt.size();
            let (lanes, index) = (VL / size, self.args.v[1]);
            let lane = |i: usize| (index.get(i, size) % lanes as u64) as u8;
            let picks = Box::new(std::array::from_fn(|i| if i < lanes { lane(i) } else { 0 }));
            self.outs.v[0].from = self.core.flow.pick(size, picks, [from[0], from[1]]);
            return;
        }
        let results = form.results().iter().filter(|k| **k == Kind::V).count();
        let ends = self.leaves(0).is_some();
        let mask = self.mask();
        for (half, v) in (0..).zip(&mut self.outs.v).take(results) {
            v.from = if ends { 0 } else { self.core.flow.op(&self.step, mask, from, half) };
        }
        for (n, from) in from.into_iter().enumerate().filter(|(_, f)| ends && *f != 0) {
            let Some(used) = self.leaves(n) else { continue };
            let Core { flow, order, footprint, .. } = &mut *self.core;
            flow.follow(from, used, |load, used| {
                let mut bytes = Blocks::new();
                loaded(load, used, &mut bytes);
                footprint.blocks(Role::Read, &bytes);
                order.used(load.access, &bytes);
            });
        }
    }

    /// Enters the accesses of the micro-op; the loads among them that results come from.
    fn accesses(&mut self, sources: u64) -> u64 {
        let form = self.step.op.form();
        let name = self.step.op.mnemonic();
        let (site, active) = (self.core.site, self.core.order.active());
        let n = if active { self.core.order.next((site, name)) } else { 0 };
        let lines = active && matches!(form, Form::Load | Form::Load2 | Form::LoadU);
        let mut fresh = 0;
        for write in [false, true] {
            let mut bytes = Blocks::new();
            for t in self.core.touched.iter().filter(|t| t.write == write) {
                blocks(t.addr, t.bytes.into(), &mut bytes);
            }
            if bytes.is_empty() {
                continue;
            }
            let later = lines && !write;
            if !later {
                let role = if write { Role::Write } else { Role::Read };
                self.core.footprint.blocks(role, &bytes);
            }
            if !active {
                continue;
            }
            let class = if write { Class::Vst } else { Class::Vld };
            if !write {
                fresh = bit(n);
            }
            self.core.order.enter_bytes(n, class, &bytes, !later, sources);
        }
        if lines && let Some(t) = self.core.touched.first() {
            let (base, dist) = (t.addr, self.step.mods.dist);
            for (half, v) in (0..).zip(&mut self.outs.v) {
                v.from = self.core.flow.load(Lineage { base, access: n, dist, half });
            }
        }
        fresh
    }

    /// Bytes of vector operand `n` that go to memory, to a predicate or into an address.
    fn leaves(&self, n: usize) -> Option<Mask> {
        let mask = self.mask();
        let size = self.step.st.size();
        Some(match self.step.op.form() {
            Form::Cmp2 | Form::CmpS | Form::Carry | Form::CarryIn => byte_mask(&mask, size),
            Form::Store => self.stored(&mask),
            Form::Store2 => Mask::first(VL),
            Form::StoreB => {
                let mut m = Mask::NONE;
                active_blocks(self).for_each(|k| (0..32).for_each(|i| m.set(32 * k + i, true)));
                m
            }
            Form::StreamN => Mask::first(self.args.n[0].clamp(0, VL as i64) as usize * size),
            Form::StreamR => Mask::first(self.core.sqzn as usize),
            Form::Gather | Form::Scatter => self.indexed(n, &mask),
            _ => return None,
        })
    }

    /// Bytes of a register that a store takes.
    fn stored(&self, mask: &Mask) -> Mask {
        let low = |size: usize, keep: usize| {
            let mut m = Mask::NONE;
            for i in (0..VL / size).filter(|i| mask.get(i * size)) {
                (0..keep).for_each(|k| m.set(i * size + k, true));
            }
            m
        };
        match self.step.mods.dist {
            Dist::OneptB8 => Mask::first(1),
            Dist::OneptB16 => Mask::first(2),
            Dist::OneptB32 => Mask::first(4),
            Dist::PkB16 => low(2, 1),
            Dist::PkB32 => low(4, 2),
            Dist::PkB64 => low(8, 4),
            Dist::Pk4B32 => low(4, 1),
            _ => byte_mask(mask, self.step.st.size()),
        }
    }

    /// Lanes of the indices, or of what is scattered.
    fn indexed(&self, n: usize, mask: &Mask) -> Mask {
        if self.step.op == Op::vgatherb {
            return byte_mask(mask, 4).and(&Mask::first(32));
        }
        let index = super::sem::gather::index_size(self);
        let scattered = self.step.op.form() == Form::Scatter && n == 0;
        let (data, own) = match scattered {
            true => (self.step.st.size(), self.step.st.size()),
            false => (self.step.dt.size(), index),
        };
        let wide = data.max(index);
        let mut m = Mask::NONE;
        for i in (0..VL / wide).filter(|i| mask.get(i * wide)) {
            (0..own).for_each(|k| m.set(i * own + k, true));
        }
        m
    }
}

/// Bytes of UB that bytes `used` of a register were loaded from.
fn loaded(from: &Lineage, used: &Mask, out: &mut Blocks) {
    match from.dist {
        Dist::Plain | Dist::Norm => return plain(from.base, used, out),
        Dist::BrcB8 => return repeated(from.base, used, 1, out),
        Dist::BrcB16 => return repeated(from.base, used, 2, out),
        Dist::BrcB32 => return repeated(from.base, used, 4, out),
        Dist::Blk => return repeated(from.base, used, 32, out),
        _ => {}
    }
    let mut bits = [0u64; 8];
    let half = usize::from(from.half);
    for i in used.iter().filter_map(|i| source(from.dist, half, i)).filter(|i| *i < 512) {
        bits[i / 64] |= 1 << (i % 64);
    }
    let [a, b, c, d, e, f, g, h] = bits;
    plain(from.base, &Mask::from_words([a, b, c, d]), out);
    plain(from.base.saturating_add(256), &Mask::from_words([e, f, g, h]), out);
}

/// Byte of memory that byte `i` of a register holds, if it is none of padding.
fn source(dist: Dist, half: usize, i: usize) -> Option<usize> {
    let twice = |n: usize| Some(i / (2 * n) * n + i % n);
    let every = |n: usize, first: usize| Some(i / n * 2 * n + first * n + i % n);
    let wider = |n: usize, lane: usize| (i % lane < n).then_some(i / lane * n + i % lane);
    let block = |n: usize| Some(i / 32 * n + i % n);
    match dist {
        Dist::E2bB16 => block(2),
        Dist::E2bB32 => block(4),
        Dist::UsB8 => twice(1),
        Dist::UsB16 => twice(2),
        Dist::DsB8 => every(1, 0),
        Dist::DsB16 => every(2, 0),
        Dist::UnpkB8 => wider(1, 2),
        Dist::UnpkB16 => wider(2, 4),
        Dist::UnpkB32 => wider(4, 8),
        Dist::Unpk4 => wider(1, 4),
        Dist::DintlvB8 => every(1, half),
        Dist::DintlvB16 => every(2, half),
        Dist::DintlvB32 => every(4, half),
        Dist::Bdintlv => every(32, half),
        _ => Some(i),
    }
}

/// The first `n` bytes at `base` fill the register over and over.
fn repeated(base: u64, used: &Mask, n: u32, out: &mut Blocks) {
    let mut bits = used.words().iter().fold(0, |all, w| all | w);
    let mut width = 64;
    while width > n {
        width /= 2;
        bits |= bits >> width;
    }
    let bits = bits & ((1 << n) - 1);
    plain(base, &Mask::from_words([bits, 0, 0, 0]), out);
}

/// Bytes from `base` on, one for each bit.
fn plain(base: u64, used: &Mask, out: &mut Blocks) {
    let shift = (base % 32) as usize;
    add(out, base / 32, (used.bits(0, 32 - shift) << shift) as u32);
    for k in 1..=VL / 32 {
        add(out, base / 32 + k as u64, used.bits(32 * k - shift, 32) as u32);
    }
}

impl Core {
    /// A scalar access of `n` bytes inside the vecscope under way.
    pub fn scalar_access(&mut self, name: &'static str, at: u64, n: u64, write: bool) {
        if !self.watch {
            return;
        }
        let mut bytes = Blocks::new();
        blocks(at, n, &mut bytes);
        self.footprint.blocks(if write { Role::Write } else { Role::Read }, &bytes);
        if !self.order.active() {
            return;
        }
        let number = self.order.next((self.site, name));
        let class = if write { Class::St } else { Class::Ld };
        self.order.enter_bytes(number, class, &bytes, true, 0);
        let pairs = self.order.take();
        pairs.iter().for_each(|p| report(self, p));
    }
}

fn report(core: &mut Core, p: &Pair) {
    let ((first, a), (second, b)) = (p.first, p.second);
    let kind = match (a.writes(), b.writes()) {
        (true, true) => "WAW",
        (true, false) => "RAW",
        _ => "WAR",
    };
    // One store port takes vector stores in order `[I]`.
    let level = if (a, b) == (Class::Vst, Class::Vst) { Level::Warning } else { Level::Error };
    let end = |n: u32, c: Class| {
        let (site, name) = core.order.place(n);
        (site, format!("{name} {}", if c.writes() { "Write" } else { "Read" }))
    };
    let ((there, was), (here, is)) = (end(first, a), end(second, b));
    let at = format!("UB {:#x}..{:#x}", p.bytes.0, p.bytes.1);
    let bar = a.barrier(b);
    let text = format!("Potential {kind} hazard detected in UB, inside a vector function");
    let diag = Diagnostic::new("racecheck.mem_bar", level, text)
        .note(format!("{was} at {at}, then {is}"))
        .note(format!("no mem_bar {bar} stands between them; registers are tracked, UB is not"));
    let fix = format!("pto.mem_bar \"{bar}\"");
    let order = Some(Box::new(Ordering { accesses: [second, first], here, there, is, was, fix }));
    core.put(Remark { diag, bytes: p.bytes, order });
}
