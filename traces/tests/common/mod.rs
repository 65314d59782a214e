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
    /// Instructions inside vector functions.
    pub fn inside(&self) -> usize {
        let t = self.trace();
        t.launches().filter_map(|e| t.function(&e)).map(|f| f.instructions() as usize).sum()
    }

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

/// A target of the project.
pub fn target(name: &str) -> Target {
    let dir = root().join("targets");
    let resolve = |name: &str| Some(file(&dir.join(format!("{name}.ron")), name));
    let source = file(&dir.join(format!("{name}.ron")), &format!("{name}.ron"));
    let loose = Target::load(&source, &resolve, Arc::default()).expect("target");
    let catalogue = match loose.family {
        Family::A2A3 => ptoemu_isa::table::catalogue(),
        Family::A5 => ptoemu_isa::a5::catalogue(),
    };
    Target::load(&source, &resolve, Arc::new(catalogue)).expect("target")
}

/// Runs an example; `args` gives each buffer's size in bytes.
pub fn example(name: &str, args: &[(&str, usize)]) -> Kernel {
    example_on("a3", name, args)
}

/// The same on a target.
pub fn example_on(on: &str, name: &str, args: &[(&str, usize)]) -> Kernel {
    let file_name = format!("{name}.pto");
    kernel_on(on, name, file(&root().join("examples").join(&file_name), &file_name), args)
}

/// Runs a program text on A3.
pub fn kernel(name: &str, source: Arc<SourceFile>, args: &[(&str, usize)]) -> Kernel {
    kernel_on("a3", name, source, args)
}

/// Runs a program text on a target.
pub fn kernel_on(on: &str, name: &str, source: Arc<SourceFile>, args: &[(&str, usize)]) -> Kernel {
    let target = target(on);
    let (parsed, errors) = parse(&source);
    assert!(errors.is_empty(), "{errors:?}");
    let limits = tile::Limits::of(target.family);
    let auto_end = target.value("ub.reserved_start").map_or(limits.ub_bytes, |v| v as u64);
    let placing = Limits { align: 512, auto_end };
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
        settings: Settings::of(target.family),
        limits,
        max_steps: None,
        progress: None,
    };
    let mut outcome = run(&program, &options).expect("runs");
    assert!(outcome.stop.is_none(), "{:?}", outcome.stop);
    let block = outcome.blocks.swap_remove(0);
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

/// Softmax, online softmax and rmsnorm on both families.
pub fn both_families() -> Vec<Kernel> {
    let (array, column) = (64 * 128 * 4, 64 * 4);
    let simple = [("x", array), ("y", array)];
    let online =
        [("s", array), ("pv", array), ("m", column), ("l", column), ("o", array), ("p", array)];
    let on = |target: &str| {
        [
            example_on(target, "softmax", &simple),
            example_on(target, "online_softmax", &online),
            example_on(target, "rmsnorm", &simple),
        ]
    };
    on("a3").into_iter().chain(on("950pr")).collect()
}

/// What a writer writes.
pub fn written(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    String::from_utf8(bytes(write)).expect("UTF-8")
}

/// The same for formats that are no text.
pub fn bytes(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out).expect("memory");
    out
}
