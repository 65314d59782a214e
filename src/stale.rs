//! `--stale`: does a missing order matter? The run is repeated with the two ends of each hazard in
//! the other order, and the output values are compared.

use crate::golden::compare;
use crate::session::{Ran, Refusal, Request, options};
use ptoemu_core::check::Finding;
use ptoemu_core::check::race::{meet, unwritten};
use ptoemu_core::target::Target;
use ptoemu_isa::exec::{self, Outcome};
use ptoemu_isa::machine::{Stale, Swap};
use std::sync::Arc;

/// Most hazards tried; each costs a run.
const MOST: usize = 20;

/// Adds to each hazard what the other order does to the outputs.
pub fn stale(ran: &mut Ran, target: &Target, req: &Request) -> Result<(), Refusal> {
    let mut tried = 0;
    for core in 0..ran.outcome.blocks.len() {
        for n in 0..ran.outcome.blocks[core].findings.len() {
            let block = &ran.outcome.blocks[core];
            let Some(swap) = swap_of(core as u32, &block.findings[n], &block.stream) else {
                continue;
            };
            tried += 1;
            let note = match tried > MOST {
                true => format!("not repeated in the other order: {MOST} hazards were"),
                false => effect(ran, target, req, swap)?,
            };
            ran.outcome.blocks[core].findings[n].diag.notes.push(note);
        }
    }
    Ok(())
}

/// The two ends of a hazard.
fn swap_of(core: u32, f: &Finding, stream: &ptoemu_core::stream::Stream) -> Option<Stale> {
    if let Some([second, first]) = f.ends.as_ref().and_then(|e| e.accesses) {
        let writes = f.ends.as_ref().map(|e| [&e.there, &e.here].map(|w| w.ends_with("Write")))?;
        let swap = match writes {
            [true, true] => Swap::Write,
            [true, false] => Swap::Read,
            _ => Swap::Ahead(Vec::new()),
        };
        let bytes = vec![(f.space, f.bytes.0, f.bytes.1)];
        let restored = bytes.clone();
        return Some(Stale { core, inside: true, first, second, swap, bytes, restored });
    }
    let (first, second) = (f.other?, f.record);
    let (swap, bytes, reader) = match f.diag.code {
        "racecheck.raw" => (Swap::Read, meet(stream, (first, true), (second, false)), second),
        "racecheck.waw" => (Swap::Write, meet(stream, (first, true), (second, true)), second),
        "racecheck.war" => {
            (Swap::Ahead(Vec::new()), meet(stream, (first, false), (second, true)), first)
        }
        _ => return None,
    };
    let restored = unwritten(stream, &bytes, reader);
    (!bytes.is_empty()).then_some(Stale {
        core,
        inside: false,
        first,
        second,
        swap,
        bytes,
        restored,
    })
}

/// Runs in the other order; what changes, in words.
fn effect(ran: &Ran, target: &Target, req: &Request, mut swap: Stale) -> Result<String, Refusal> {
    let again = |swap: Stale| -> Result<Outcome, Refusal> {
        let mut options = options(target, req);
        options.settings.stale = Some(Arc::new(swap));
        exec::run(&ran.program, &options).map_err(Refusal::Program)
    };
    if matches!(swap.swap, Swap::Ahead(_)) {
        match again(swap.clone())?.swapped {
            Some(bytes) => swap.swap = Swap::Ahead(bytes),
            None => return Ok("could not be repeated in the other order".into()),
        }
    }
    let other = again(swap)?;
    if other.swapped.is_none() {
        return Ok("could not be repeated in the other order".into());
    }
    if let (Some(stop), None) = (&other.stop, &ran.outcome.stop) {
        return Ok(format!("in the other order the run stops: {}", stop.message));
    }
    let mut parts = Vec::new();
    for (was, is) in ran.outcome.outputs.iter().zip(&other.outputs) {
        let c = compare(&was.name, was.dtype, &is.bytes, &was.bytes, 0.0);
        if let Some(b) = c.first_bad {
            parts.push(format!(
                "`{}` in {} of {} elements, first [{}]: {} instead of {}",
                c.name, c.wrong, c.count, b.index, b.got, b.want
            ));
        }
    }
    Ok(match parts.is_empty() {
        true => "in the other order no output value changes with these arguments".into(),
        false => format!("in the other order values change: {}", parts.join("; ")),
    })
}
