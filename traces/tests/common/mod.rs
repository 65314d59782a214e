//! Kernels of the examples, executed on zeros and timed.
#![allow(dead_code)] // each test uses its part

use ptoemu_core::check::Owner;
use ptoemu_core::diag::SourceFile;
use ptoemu_core::stream::Stream;
use ptoemu_core::target::Target;
use ptoemu_core::time::{Timeline, time};
use ptoemu_isa::exec::{ArgValue, Binding, Limits, LowerOptions, Options, lower, run};
use ptoemu_isa::machine::Settings;
use ptoemu_isa::text::parse;
use ptoemu_isa::tile::{self, Family, OperandOrder, Quirks};
use ptoemu_traces::Trace;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A kernel after its run.
pub struct Kernel {
    pub name: String,
    pub stream: Stream,
    pub timeline: Timeline,
    pub target: Target,
    pub sources: Vec<Arc<SourceFile>>,
    pub tiles: Vec<Owner>,
}

impl Kernel {
    pub fn trace(&self) -> Trace<'_> {
        Trace::new(&self.stream, &self.timeline, &self.target, &self.sources).named(&self.name, 0)
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn file(path: &Path, name: &str) -> Arc<SourceFile> {
    SourceFile::new(name, std::fs::read_to_string(path).expect("file of the project"))
}

/// The A3 of the project.
pub fn a3() -> Target {
    let dir = root().join("targets");
    let resolve = |name: &str| Some(file(&dir.join(format!("{name}.ron")), name));
    let catalogue = Arc::new(ptoemu_isa::table::catalogue());
    Target::load(&file(&dir.join("a3.ron"), "a3.ron"), &resolve, catalogue).expect("target")
}

/// Runs an example; `args` gives each buffer's size in bytes.
pub fn example(name: &str, args: &[(&str, usize)]) -> Kernel {
    let file_name = format!("{name}.pto");
    kernel(name, file(&root().join("examples").join(&file_name), &file_name), args)
}

/// Runs a program text.
pub fn kernel(name: &str, source: Arc<SourceFile>, args: &[(&str, usize)]) -> Kernel {
    let (parsed, errors) = parse(&source);
    assert!(errors.is_empty(), "{errors:?}");
    let limits = tile::Limits::of(Family::A2A3);
    let placing = Limits { align: 512, auto_end: limits.reserved.start };
    let options = LowerOptions { entry: None, limits: placing, tiles: Default::default() };
    let program = lower(&parsed, &options).expect("lowers");
    let bind = |&(name, bytes): &(&str, usize)| Binding {
        name: name.to_string(),
        value: ArgValue::Bytes(vec![0; bytes]),
    };
    let options = Options {
        args: args.iter().map(bind).collect(),
        blocks: 1,
        auto_sync: None,
        quirks: Quirks::corrected(),
        operand_order: OperandOrder::Seed,
        settings: Settings::default(),
        limits,
        max_steps: None,
        progress: None,
    };
    let mut outcome = run(&program, &options).expect("runs");
    assert!(outcome.stop.is_none(), "{:?}", outcome.stop);
    let (block, target) = (outcome.blocks.swap_remove(0), a3());
    let (stream, tiles) = (block.stream, block.tiles);
    let timeline = time(&stream, &target);
    Kernel { name: name.into(), stream, timeline, target, sources: vec![source], tiles }
}

/// The kernels every format is tested on.
pub fn kernels() -> Vec<Kernel> {
    let array = 64 * 128 * 4;
    vec![
        example("softmax", &[("x", array), ("y", array)]),
        example("softmax_manual", &[("x", array), ("y", array)]),
        example("rmsnorm", &[("x", array), ("y", array)]),
    ]
}

/// What a writer writes.
pub fn written(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("memory");
    String::from_utf8(out).expect("UTF-8")
}
