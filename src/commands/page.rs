//! The html page of a run on its targets.

use crate::session::Ran;
use crate::study::files::word;
use ptoemu_core::check::Owner;
use ptoemu_core::target::Target;
use ptoemu_core::time::Timeline;
use ptoemu_traces::html::{self, Run};
use ptoemu_traces::{Filter, Trace};
use std::io::{self, Write};

/// One target's run and its timelines.
pub(super) type Timed<'a> = (&'a Target, &'a Ran, &'a [Timeline]);

/// Writes the page.
pub(super) fn write(all: &[Timed], filter: &Filter, out: &mut dyn Write) -> io::Result<()> {
    let sources: Vec<_> = all.iter().map(|(_, ran, _)| ran.files()).collect();
    let traces: Vec<Vec<Trace>> = all
        .iter()
        .zip(&sources)
        .map(|((target, ran, lines), sources)| {
            let kernel = ran.program.funcs.get(ran.program.entry);
            let kernel = kernel.map_or("kernel", |f| f.name.as_str());
            let blocks = ran.outcome.blocks.iter().zip(*lines).zip(0u32..);
            blocks
                .map(|((b, t), core)| {
                    let trace = Trace::new(&b.stream, t, target, sources).named(kernel, core);
                    trace.filtered(filter.clone())
                })
                .collect()
        })
        .collect();
    let tiles: Vec<Vec<&[Owner]>> = all
        .iter()
        .map(|(_, ran, _)| ran.outcome.blocks.iter().map(|b| b.tiles.as_slice()).collect())
        .collect();
    let runs: Vec<Run> = traces
        .iter()
        .zip(&tiles)
        .zip(&sources)
        .map(|((traces, tiles), sources)| Run { traces, tiles, sources })
        .collect();
    html::write(&runs, &again(std::env::args()), out)
}

/// The command as typed, with `out` for the folder and without the report: what it writes is then
/// the same wherever it is written.
pub(super) fn again(args: impl Iterator<Item = String>) -> String {
    let mut out = vec!["ptoemu".to_string()];
    let mut args = args.skip(1);
    while let Some(a) = args.next() {
        match a.as_str() {
            "-o" | "--trace" => {
                args.next();
                out.extend([a, "out".to_string()]);
            }
            "--json" | "--html" => drop(args.next()),
            _ => out.push(word(&a)),
        }
    }
    out.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_to_type_again() {
        let typed = ["/bin/ptoemu", "trace", "k.pto", "-o", "there", "--arg", "x=rand(1):f32[4]"];
        let line = again(typed.into_iter().map(String::from));
        assert_eq!(line, "ptoemu trace k.pto -o out --arg 'x=rand(1):f32[4]'");
    }
}
