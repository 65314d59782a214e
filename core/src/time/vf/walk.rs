//! The front end: walks the hardware loops and says when the next instruction may dispatch.

use super::compile::{Code, NONE, Step};
use super::params::VfParams;
use super::record::Cause;
use smallvec::SmallVec;

/// A running loop.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Running {
    /// Current iteration.
    pub k: u64,
    /// Loop event of this instance.
    pub start: i64,
    /// First cycle at which its own instructions may dispatch.
    pub open: i64,
    /// Cycle that iteration 0 was first looked at.
    pub base: Option<i64>,
    /// Last dispatch of the previous inner loop instance.
    pub child_end: Option<i64>,
    /// Times that pacing held the head back, ever.
    pub paced: u64,
}

/// Position in the flat code.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    pub pc: u32,
    /// Next instruction in program order.
    pub head: Option<u32>,
    pub loops: Vec<Running>,
    /// Active loops, outermost first.
    pub active: SmallVec<[u32; 4]>,
    pub block_start: i64,
    /// Loops that began another iteration since the list was last cleared.
    pub crossed: SmallVec<[u32; 4]>,
    /// Loops that began an instance, likewise.
    pub entered: SmallVec<[u32; 4]>,
    pub watch: bool,
}

impl Walk {
    pub fn new(code: &Code, p: &VfParams, watch: bool) -> Walk {
        let mut w = Walk {
            pc: 0,
            head: None,
            loops: vec![Running::default(); code.loops.len()],
            active: SmallVec::new(),
            block_start: i64::from(p.first_loop),
            crossed: SmallVec::new(),
            entered: SmallVec::new(),
            watch,
        };
        w.advance(code, p, i64::from(p.first_loop));
        w
    }

    /// Finds the next instruction; `now` is the cycle of the last dispatch.
    pub fn advance(&mut self, code: &Code, p: &VfParams, now: i64) {
        loop {
            let Some(step) = code.steps.get(self.pc as usize) else {
                self.head = None;
                return;
            };
            self.pc += 1;
            match *step {
                Step::Op(op) => {
                    self.head = Some(op);
                    return;
                }
                Step::Enter(l) => self.enter(code, p, l),
                Step::Next(l) => self.next(code, l, now),
            }
        }
    }

    fn enter(&mut self, code: &Code, p: &VfParams, l: u32) {
        let info = &code.loops[l as usize];
        let start = match self.loops.get(info.parent as usize) {
            None => self.block_start + info.one_off(p),
            Some(parent) => match parent.child_end {
                Some(e) => e + i64::from(p.rearm),
                None => parent.start + i64::from(p.nest_gap),
            },
        };
        let paced = self.loops[l as usize].paced;
        self.loops[l as usize] =
            Running { start, open: start + i64::from(p.loop_open), paced, ..Running::default() };
        self.active.push(l);
        if self.watch {
            self.entered.push(l);
        }
    }

    fn next(&mut self, code: &Code, l: u32, now: i64) {
        let info = &code.loops[l as usize];
        let run = &mut self.loops[l as usize];
        if run.k + 1 < info.trips {
            run.k += 1;
            self.pc = info.body;
            if self.watch && !self.crossed.contains(&l) {
                self.crossed.push(l);
            }
            return;
        }
        self.active.pop();
        match self.loops.get_mut(info.parent as usize) {
            Some(parent) => parent.child_end = Some(now),
            None => self.block_start = now,
        }
    }

    /// May the head dispatch at `now` as far as loops go? If not: why, and when.
    pub fn gate(
        &mut self,
        code: &Code,
        p: &VfParams,
        op: u32,
        now: i64,
    ) -> Result<(), (Cause, i64)> {
        let launch = i64::from(p.startup.saturating_sub(p.dispatch_lead));
        if now < launch {
            return Err((Cause::Launch, launch));
        }
        let inner = code.ops[op as usize].inner;
        if inner == NONE {
            let open = self.block_start + i64::from(p.loop_open);
            return if now < open { Err((Cause::Rearm, open)) } else { Ok(()) };
        }
        let run = &mut self.loops[inner as usize];
        if now < run.open {
            return Err((Cause::Rearm, run.open));
        }
        let stride = code.loops[inner as usize].stride(p);
        let ahead = (run.k as i64).wrapping_mul(stride);
        let base = *run.base.get_or_insert(now - ahead);
        if now < base + ahead {
            run.paced += 1;
            return Err((Cause::Rearm, base + ahead));
        }
        Ok(())
    }

    /// Address of an access at the current iteration.
    pub fn address(&self, base: i64, deltas: &[(u32, i64)]) -> i64 {
        deltas.iter().fold(base, |a, &(l, d)| {
            a.wrapping_add(d.wrapping_mul(self.loops[l as usize].k as i64))
        })
    }
}
