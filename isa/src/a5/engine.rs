//! Runs one micro-op.

use super::core::{Args, Core, Done, Outs, Run, Step};
use super::form::Form;
use super::reg::{VReg, byte_mask, whole_lanes};
use super::sem::{Ctx, Sem};
use crate::machine::Stop;
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
        let turned = self.turn.of.is_some() && step.op.form().touches_memory();
        let number = self.order.upcoming();
        if turned {
            self.before(ub);
        }
        let mut r = Run { step: *step, args, outs, core: self, ub };
        r.compute()?;
        if turned {
            r.core.after(number, r.ub);
        }
        if r.core.watch {
            r.watch();
        }
        Ok(())
    }
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
