//! Runs one micro-op.

use super::core::{Args, Core, Done, Outs, Run, Step};
use super::form::Form;
use super::mode::Dist;
use super::reg::{NOWHERE, VL, VReg, byte_mask, whole_lanes};
use super::sem::{Ctx, Sem};
use super::table::Op;
use crate::machine::Stop;
use ptoemu_core::access::{Role, Space};
use ptoemu_core::diag::Diagnostic;
use ptoemu_core::mask::Mask;
use ptoemu_core::state::Memory;

/// Lanes of `size` bytes of which any source has an undefined byte.
pub(super) fn union(sources: &[&VReg], size: usize) -> Mask {
    if sources.iter().all(|v| v.undef.is_empty()) {
        return Mask::NONE;
    }
    let all = sources.iter().fold([0u64; 4], |a, v| {
        let w = v.undef.words();
        std::array::from_fn(|i| a[i] | w[i])
    });
    whole_lanes(&Mask::from_words(all), size)
}

impl Core {
    /// Executes one micro-op for its values. UB accesses are left in [`Core::touched`], remarks in
    /// [`Core::remarks`].
    pub fn exec(&mut self, ub: &mut Memory, step: &Step, args: &Args<'_>, outs: &mut Outs) -> Done {
        self.touched.clear();
        let row = step.op.row();
        let lanewise = row.lanewise();
        if !row.accepts(step.st) || lanewise && step.dt.size() != step.st.size() {
            return Err(illegal(step));
        }
        // Lane by lane, the result has the type of the sources; only its width is checked, since
        // signed, unsigned and signless spellings mix in programs.
        let step = &Step { dt: if lanewise { step.st } else { step.dt }, ..*step };
        let mut r = Run { step: *step, args, outs, core: self, ub };
        r.compute()?;
        r.order();
        r.collect();
        Ok(())
    }
}

impl Run<'_, '_> {
    /// Adds what the micro-op just done touched to the accesses of its function.
    ///
    /// A plain load reads a whole register, often beyond its data; those bytes count when lanes
    /// that hold them are used. Priming an align register uses none.
    fn collect(&mut self) {
        let form = self.step.op.form();
        for (n, v) in self.args.v.iter().enumerate().filter(|(_, v)| v.origin != NOWHERE) {
            for (a, b) in runs(&self.used(n)) {
                let at = v.origin.saturating_add(a);
                self.core.footprint.touch(Space::Ub, Role::Read, at, v.origin.saturating_add(b));
            }
        }
        let plain = match (form, self.core.touched.first()) {
            (Form::Load | Form::LoadU, Some(t)) if t.bytes as usize == VL && !t.write => {
                matches!(self.step.mods.dist, Dist::Plain | Dist::Norm).then_some(t.addr)
            }
            _ => None,
        };
        for v in &mut self.outs.v {
            v.origin = NOWHERE;
        }
        if let Some(at) = plain {
            self.outs.v[0].origin = at;
        } else if form != Form::Prime {
            for t in &self.core.touched {
                let role = if t.write { Role::Write } else { Role::Read };
                let end = t.addr.saturating_add(u64::from(t.bytes));
                self.core.footprint.touch(Space::Ub, role, t.addr, end);
            }
        }
    }

    /// Bytes of vector operand `n` that the micro-op uses.
    fn used(&self, n: usize) -> Mask {
        let size = self.step.st.size();
        let by_lane = self.step.op.row().lanewise()
            || matches!(self.step.op, Op::vcadd | Op::vcmax | Op::vcmin)
            || matches!(self.step.op, Op::vcgadd | Op::vcgmax | Op::vcgmin)
            || self.step.op == Op::vsts && matches!(self.step.mods.dist, Dist::Plain | Dist::Norm);
        match self.step.op {
            Op::vdup if self.step.mods.part == 0 && n == 0 => Mask::first(size),
            _ if by_lane => byte_mask(&self.mask(), size),
            _ => Mask::first(VL),
        }
    }
}

/// Runs of bits set.
fn runs(m: &Mask) -> Vec<(u64, u64)> {
    let mut out: Vec<(u64, u64)> = Vec::new();
    if m.count() == VL {
        return vec![(0, VL as u64)];
    }
    for i in m.iter().map(|i| i as u64) {
        match out.last_mut() {
            Some(r) if r.1 == i => r.1 += 1,
            _ => out.push((i, i + 1)),
        }
    }
    out
}

impl Run<'_, '_> {
    fn compute(&mut self) -> Done {
        let (row, args, r) = (self.step.op.row(), self.args, self);
        let cx = Ctx::new(&r.step, r.core, args.n);
        let size = r.step.dt.size();
        let scalar = || VReg::splat(args.s, size);
        let [a, b, c] = args.v;
        match row.sem {
            Sem::One(f) => {
                f(&cx, &mut r.outs.v[0], a);
                r.settle(&[a], size);
            }
            Sem::Two(f) if row.form == Form::VS => {
                f(&cx, &mut r.outs.v[0], a, &scalar());
                r.settle(&[a], size);
            }
            Sem::Two(f) => {
                f(&cx, &mut r.outs.v[0], a, b);
                r.settle(&[a, b], size);
            }
            Sem::Three(f) if row.form == Form::VVS => {
                f(&cx, &mut r.outs.v[0], [a, b, &scalar()]);
                r.settle(&[a, b], size);
            }
            Sem::Three(f) => {
                f(&cx, &mut r.outs.v[0], [a, b, c]);
                r.settle(&[a, b, c], size);
            }
            Sem::Move(f) => r.moved(&cx, f, [a, b]),
            Sem::Any(f) => return f(r),
            Sem::Refused(why) => return Err(refused(&r.step, why)),
            Sem::Nothing => {}
        }
        Ok(())
    }

    /// Zeroes inactive lanes and carries undefined lanes over.
    pub(super) fn settle(&mut self, sources: &[&VReg], size: usize) {
        let undef = union(sources, size);
        let keep = byte_mask(&self.mask(), size);
        let d = &mut self.outs.v[0];
        d.undef = undef;
        d.keep(&keep);
    }

    /// Moves bytes, then their shadow.
    pub(super) fn moved(&mut self, cx: &Ctx, f: super::sem::BodyMove, sources: [&VReg; 2]) {
        f(cx, &mut self.outs.v, sources);
        let dead = sources.iter().any(|v| !v.undef.is_empty());
        let mut images = [VReg::ZERO; 2];
        if dead {
            let [a, b] = sources.map(VReg::shadow);
            f(cx, &mut images, [&a, &b]);
        }
        for (d, image) in self.outs.v.iter_mut().zip(&images) {
            d.undef = Mask::NONE;
            if dead {
                d.set_shadow(image);
            }
        }
    }
}

fn illegal(step: &Step) -> Stop {
    let row = step.op.row();
    let names: Vec<_> = row.types.iter().map(|t| t.name()).collect();
    let mut message = format!("{} does not take {} on the 950", row.mnemonic, step.st);
    if row.accepts(step.st) {
        message = format!("{} of {} cannot give {}", row.mnemonic, step.st, step.dt);
    }
    Stop(Box::new(
        Diagnostic::error("params.dtype", message).help(format!("it takes {}", names.join(", "))),
    ))
}

fn refused(step: &Step, why: &str) -> Stop {
    Stop(Box::new(Diagnostic::error("unsupported", format!("{}: {why}", step.op.mnemonic()))))
}
