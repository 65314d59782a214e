//! What each pipe did in every cycle of a run: worked, or stood still for a cause.

use crate::events::{Trace, What};
use ptoemu_core::stream::{Kind, Pipe};
use ptoemu_core::time::Cause;

/// What a pipe did for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It worked.
    Busy,
    /// It stood still.
    Still(Cause),
}

impl State {
    /// Number in the data of the page: 0 busy, else one more than the cause.
    pub fn number(self) -> u8 {
        match self {
            State::Busy => 0,
            State::Still(c) => c as u8 + 1,
        }
    }
}

/// Colour of a cause in charts; 8 is what is of no interest.
pub(super) const fn colour(c: Cause) -> u8 {
    match c {
        Cause::Flag => 1,
        Cause::Drain => 2,
        Cause::Mask => 3,
        Cause::Barrier => 4,
        Cause::Load => 6,
        Cause::Issue | Cause::Handover => 7,
        Cause::End | Cause::Idle => 8,
    }
}

/// Calls `f(state, cycles)` for every stretch of a pipe, from the start of the run to its end. The
/// stretches add up to the cycles of the run.
pub(super) fn stretches(t: &Trace, pipe: Pipe, mut f: impl FnMut(State, u64)) {
    let totals = t.timeline.pipe(pipe);
    let mut left = totals.causes;
    let mut at = 0u64;
    let mut stalls = t.timeline.stalls.iter().filter(|s| s.pipe == pipe).peekable();
    // The scalar unit hands over whatever it does not wait for.
    let fill = |at: &mut u64, until: u64, f: &mut dyn FnMut(State, u64), left: &mut [u64]| {
        if until > *at {
            let n = (until - *at).min(left[Cause::Handover as usize]);
            left[Cause::Handover as usize] -= n;
            *at += n;
            if n > 0 {
                f(State::Still(Cause::Handover), n);
            }
        }
    };
    for (i, (r, e)) in (0u32..).zip(t.stream.records.iter().zip(&t.timeline.entries)) {
        while let Some(s) = stalls.next_if(|s| s.record <= i) {
            let start = match r.kind {
                Kind::ScalarStore => e.issue.saturating_sub(s.cycles),
                Kind::MaskWrite | Kind::CtrlWrite => e.issue + t.hand_over(),
                _ => e.issue,
            };
            if pipe == Pipe::S {
                fill(&mut at, start, &mut f, &mut left);
            }
            left[s.cause as usize] = left[s.cause as usize].saturating_sub(s.cycles);
            at += s.cycles;
            f(State::Still(s.cause), s.cycles);
        }
        let works = r.pipe == pipe && e.busy > 0;
        if works && t.event(i).is_some_and(|e| e.what == What::Work) {
            if pipe == Pipe::S {
                fill(&mut at, e.issue, &mut f, &mut left);
            }
            at += u64::from(e.busy);
            f(State::Busy, u64::from(e.busy));
        }
    }
    // Behind the last record, in the order they happen.
    for c in [Cause::Handover, Cause::Drain, Cause::Mask, Cause::Idle, Cause::End] {
        let n = left[c as usize];
        if n > 0 {
            f(State::Still(c), n);
        }
    }
}

/// The same as a list, neighbours of one state joined; `None` if there are more than `most`.
pub(super) fn strip(t: &Trace, pipe: Pipe, most: usize) -> Option<Vec<(State, u64)>> {
    let mut out: Vec<(State, u64)> = Vec::new();
    let mut many = false;
    stretches(t, pipe, |state, n| {
        let full = out.len() >= most;
        match out.last_mut() {
            Some(last) if last.0 == state => last.1 += n,
            _ if full => many = true,
            _ => out.push((state, n)),
        }
    });
    (!many).then_some(out)
}

/// Shares of a pipe's time by bucket of equal length: cycles worked, and the cause of most of the
/// cycles it stood still, by its number.
pub(super) fn buckets(t: &Trace, pipe: Pipe, length: u64) -> Vec<(u64, u8)> {
    let length = length.max(1);
    let n = t.timeline.cycles.div_ceil(length) as usize;
    let mut sums = vec![[0u64; Cause::ALL.len() + 1]; n];
    let mut at = 0u64;
    stretches(t, pipe, |state, mut cycles| {
        while cycles > 0 {
            let Some(sum) = sums.get_mut((at / length) as usize) else { return };
            let part = cycles.min(length - at % length);
            sum[usize::from(state.number())] += part;
            at += part;
            cycles -= part;
        }
    });
    let most = |s: &[u64]| (1..s.len()).rev().max_by_key(|&i| s[i]).unwrap_or(1) as u8;
    sums.iter().map(|s| (s[0], most(s))).collect()
}
