//! One small program per misuse class: its finding, and a neighbour that is clean.

use ptoemu_core::diag::Level;
use ptoemu_core::dtype::DType::{self, BF16, F16, F32, I32, U16};
use ptoemu_core::state::{Buffer, Memory, WRITER_NONE};
use ptoemu_core::stream::Pipe;
use ptoemu_isa::instr::Instr;
use ptoemu_isa::machine::{Backend, Machine};
use ptoemu_isa::table::{Op, Order};

const GM: i64 = 1 << 40;
const V: i64 = Pipe::V as i64;
const S: i64 = Pipe::S as i64;
const ALL: i64 = -1;

fn op(op: Op, t: DType, args: &[i64]) -> Instr {
    Instr::new(op, t, args)
}

/// Runs a program on defined UB and one GM buffer of 1000 bytes.
///
/// Returns what was found, in order, the stopping fault last.
fn run(program: &[Instr]) -> Vec<(String, Level, String)> {
    let mut m = Machine::default();
    m.ub.shadow.set(0, 0x20000, true, WRITER_NONE);
    let mut mem = Memory::new(1000, 0);
    mem.shadow.set(0, 1000, true, WRITER_NONE);
    m.gm.add(Buffer { name: "x".into(), dtype: F32, mem });
    m.owners = vec![("a", 0u64, 0x400u64).into(), ("b", 0x400u64, 0x800u64).into()];
    let entry = m.modes();
    let stop = program.iter().find_map(|i| m.issue(i).err());
    if stop.is_none() {
        m.leave(&entry, true);
    }
    let found = m.findings.items().iter().map(|f| f.diag.clone());
    let all = found.chain(stop.map(|s| *s.0));
    all.map(|d| {
        (
            d.code.to_string(),
            d.level,
            format!("{} | {} | {:?}", d.message, d.notes.join(" | "), d.help),
        )
    })
    .collect()
}

fn codes(program: &[Instr]) -> Vec<String> {
    run(program).into_iter().map(|f| f.0).collect()
}

/// The only finding has this code, level and words.
fn expect(program: &[Instr], code: &str, level: Level, words: &str) {
    let found = run(program);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].0.as_str(), found[0].1), (code, level), "{}", found[0].2);
    assert!(found[0].2.contains(words), "`{words}` not in: {}", found[0].2);
}

fn restore() -> [Instr; 2] {
    [op(Op::set_mask_norm, F32, &[]), op(Op::set_vector_mask, F32, &[ALL, ALL])]
}

fn count(n: i64) -> [Instr; 2] {
    [op(Op::set_mask_count, F32, &[]), op(Op::set_vector_mask, F32, &[0, n])]
}

fn with(parts: &[&[Instr]]) -> Vec<Instr> {
    parts.concat()
}

#[test]
fn addresses() {
    use Level::Error;
    let abs = |d, s, n| [op(Op::vabs, F32, &[d, s, n, 1, 1, 8, 8])];
    expect(&abs(0x2FF00, 0, 2), "memcheck.range", Error, "ub address out of bounds");
    expect(&abs(0x2FF00, 0, 2), "memcheck.range", Error, "operand `dst`, repeat 1, block 0");
    expect(&abs(0, 0x30000, 1), "memcheck.range", Error, "operand `src0`");
    assert!(codes(&abs(0x2FF00, 0x1000, 1)).is_empty(), "ends with UB");
    // Only blocks with an active lane are range-checked.
    let short =
        with(&[&[op(Op::set_vector_mask, F32, &[0, 0xFF])], &abs(0x2FFE0, 0, 1), &restore()]);
    assert!(codes(&short).is_empty());
    expect(&abs(16, 0, 1), "memcheck.align", Error, "aligned to 32 bytes; it is 16 past");
    let max = |at, how: Order| [op(Op::vcmax, F16, &[at, 0x1000, 1, 1, 1, 8, how as i64])];
    assert!(codes(&max(2, Order::OnlyValue)).is_empty());
    expect(&max(2, Order::ValueIndex), "memcheck.align", Error, "aligned to 4 bytes");
    expect(&[op(Op::scalar_load, F32, &[6])], "memcheck.align", Error, "a scalar instruction");
    assert!(codes(&[op(Op::scalar_load, F16, &[6])]).is_empty());
    // Mode 2 of vsel reads bits where the low word of CMPMASK points.
    let sel = |at| {
        [
            op(Op::scalar_store, I32, &[at, 0]),
            op(Op::set_cmpmask, F32, &[0]),
            op(Op::vsel, F32, &[0x1000, 0x2000, 0x3000, 1, 1, 1, 1, 8, 8, 8, 2]),
        ]
    };
    assert!(codes(&sel(0x100)).is_empty());
    expect(&sel(0x30000), "memcheck.range", Error, "operand `bits (CMPMASK)`");
    expect(&sel(0x104), "memcheck.align", Error, "bits (CMPMASK)");
}

#[test]
fn parameters() {
    use Level::{Error, Note, Warning};
    let add = |n, dr| [op(Op::vadd, F32, &[0x1000, 0x2000, 0x3000, n, 1, 1, 1, dr, 8, 8])];
    expect(&add(256, 8), "memcheck.param", Error, "repeat 256 does not fit; would execute 0");
    expect(&add(1, 256), "memcheck.param", Error, "dst_rpt 256 does not fit; truncates to 0");
    expect(&add(0, 8), "memcheck.no_work", Warning, "repeat is 0");
    expect(&add(2, 0), "alias.repeat_stride", Warning, "every repeat overwrites the last");
    let empty = with(&[&[op(Op::set_vector_mask, F32, &[0, 0])], &add(1, 8), &restore()]);
    expect(&empty, "memcheck.no_work", Warning, "no mask bit");
    let none = with(&[&count(0), &add(1, 8), &restore()]);
    expect(&none, "memcheck.no_work", Warning, "count is 0");
    let dup = |blk| [op(Op::vector_dup, F32, &[0x1000, 0, 1, blk, 1, 8, 8])];
    expect(&dup(0), "memcheck.dst_stride", Error, "8 active blocks");
    assert!(codes(&with(&[&count(8), &dup(0), &restore()])).is_empty());
    let shift = |n| [op(Op::vshr, U16, &[0x1000, 0, n, 1, 1, 1, 8, 8, 0])];
    assert!(codes(&shift(16)).is_empty());
    expect(&shift(17), "memcheck.param", Error, "allowed 0 to 16");
    expect(&shift(-1), "memcheck.param", Error, "allowed 0 to 16");
    let copy = |r| [op(Op::vcopy, U16, &[0x1000, 0, 1, 1, 1, r, 8])];
    expect(&copy(4096), "memcheck.param", Error, "allowed 0 to 4095");
    let per_repeat = with(&[&count(8), &copy(8), &restore()]);
    expect(&per_repeat, "state.count_per_repeat", Note, "per repeat");
    let huge = with(&[&[op(Op::set_mask_count, F32, &[])], &add(1, 8)]);
    expect(&huge, "memcheck.count", Error, "4294967295 elements");
}

#[test]
fn element_types() {
    let args = [0x1000, 0x2000, 0x3000, 1, 1, 1, 1, 8, 8, 8];
    for (o, t) in [(Op::vdiv, I32), (Op::vmax, DType::U32), (Op::vand, I32), (Op::vadd, BF16)] {
        let words = "illegal on dav-2201";
        expect(&[op(o, t, &args)], "memcheck.dtype", Level::Error, words);
    }
    let max = op(Op::vcmax, I32, &[0x1000, 0, 1, 1, 1, 8, 0]);
    expect(&[max], "memcheck.dtype", Level::Error, "it takes f16, f32");
}

#[test]
fn overlap() {
    use Level::{Error, Warning};
    let abs = |d, s, n| [op(Op::vabs, F32, &[d, s, n, 1, 1, 8, 8])];
    assert!(codes(&abs(0x1000, 0x1000, 4)).is_empty(), "exact alias");
    expect(&abs(0x1020, 0x1000, 1), "alias.within_repeat", Warning, "partly overlaps");
    expect(&abs(0x1100, 0x1000, 2), "alias.across_repeats", Error, "repeat 1 reads `src0`");
    let brcb = |n| [op(Op::vbrcb, F32, &[0x1000, 0x1000, 1, 8, n])];
    expect(&brcb(1), "alias.within_repeat", Warning, "partly overlaps");
    expect(&brcb(2), "alias.across_repeats", Error, "that repeat 0 of it wrote");
    // The accumulate form: dst is the second source, repeat stride 0.
    let sum = |s0, s1| [op(Op::vadd, F32, &[0x1000, s0, s1, 4, 1, 1, 1, 0, 8, 0])];
    assert!(codes(&sum(0x2000, 0x1000)).is_empty());
    let copy = |d| [op(Op::copy_ubuf_to_ubuf, F32, &[d, 0x1000, 0, 2, 2, 0, 0])];
    expect(&copy(0x1040), "alias.across_repeats", Error, "repeat 1 reads");
    assert!(codes(&copy(0x1080)).is_empty());
}

#[test]
fn neighbours() {
    let abs = |d, n| [op(Op::vabs, F32, &[d, 0x1000, n, 1, 1, 8, 8])];
    assert!(codes(&abs(0x300, 1)).is_empty());
    let words = "tile `a` overflows into tile `b`";
    expect(&abs(0x300, 2), "memcheck.overflow", Level::Warning, words);
    assert!(codes(&abs(0x700, 2)).is_empty(), "nobody owns what follows b");
}

#[test]
fn transfers() {
    use Level::Error;
    let load =
        |at, n, len| [op(Op::copy_gm_to_ubuf_align_b32, F32, &[0, GM + at, 0, n, len, 0, 0, 0, 0])];
    assert!(codes(&load(0, 10, 100)).is_empty());
    let words = "DDR address of the MTE instruction is out of range";
    expect(&load(4, 10, 100), "memcheck.gm_range", Error, words);
    expect(&load(4, 10, 100), "memcheck.gm_range", Error, "burst 9");
    expect(&load(0, 4096, 4), "memcheck.param", Error, "MTE instruction parameter is invalid");
    let store = |from| [op(Op::copy_ubuf_to_gm_align_b32, F32, &[GM, from, 0, 1, 64, 0, 0, 0, 0])];
    assert!(codes(&store(0x1000)).is_empty());
    expect(&store(0x1FFE0), "initcheck.undefined", Error, "UB byte 0x20000");
    // What a short burst leaves behind in its last block is undefined.
    let residue = with(&[&load(0, 1, 20), &store(0)]);
    expect(&residue, "initcheck.undefined", Error, "UB byte 0x14");
    let padded = [op(Op::copy_gm_to_ubuf_align_b32, F32, &[0, GM, 0, 1, 20, 0, 3, 0, 0])];
    assert!(codes(&with(&[&padded, &store(0x20)])).is_empty());
}

#[test]
fn undefined_values() {
    use Level::{Error, Warning};
    expect(
        &[op(Op::scalar_load, F32, &[0x20000])],
        "initcheck.undefined",
        Error,
        "scalar register",
    );
    let sum = op(Op::vcadd, F32, &[0x1000, 0x20000, 1, 1, 1, 8, 0]);
    expect(&[sum], "initcheck.undefined", Warning, "active lane");
    let moved = op(Op::vabs, F32, &[0x1000, 0x20000, 1, 1, 1, 8, 8]);
    assert!(codes(&[moved]).is_empty());
    expect(
        &[moved, op(Op::scalar_load, F32, &[0x1000])],
        "initcheck.undefined",
        Error,
        "last writer: vabs.f32 on PIPE_V",
    );
}

#[test]
fn state_left_behind() {
    use Level::{Note, Warning};
    expect(&count(8), "state.counter_mode", Warning, "end of the kernel");
    expect(&[op(Op::set_vector_mask, F32, &[0, 5])], "state.mask", Warning, "0x0:0x5");
    expect(&[op(Op::set_ctrl, F32, &[1 << 48 | 1 << 59])], "state.ctrl", Warning, "CTRL[59]");
    expect(&[op(Op::set_atomic_f32, F32, &[])], "state.atomic", Warning, "atomic");
    let abs = op(Op::vabs, F32, &[0x1000, 0, 1, 1, 1, 8, 8]);
    let stale = with(&[&count(8), &[op(Op::set_mask_norm, F32, &[]), abs], &restore()]);
    expect(&stale, "state.mask_mode", Warning, "mask bits 0x0:0x8");
    let hi = with(&[&[op(Op::set_vector_mask, F32, &[3, 5]), abs], &restore()]);
    expect(&hi, "state.mask_hi", Note, "no effect");
    expect(
        &[op(Op::set_ctrl, F32, &[1 << 48 | 1 << 53])],
        "memcheck.ctrl",
        Level::Error,
        "CTRL[53]",
    );
}

#[test]
fn flags_and_barriers() {
    use Level::{Error, Warning};
    let set = |a, b, id| op(Op::set_flag, F32, &[a, b, id]);
    let wait = |a, b, id| op(Op::wait_flag, F32, &[a, b, id]);
    assert!(codes(&[set(V, S, 0), wait(V, S, 0)]).is_empty());
    expect(&[wait(V, S, 0)], "synccheck.wait_without_set", Error, "PIPE_S would wait forever");
    let swapped = [set(V, S, 0), wait(S, V, 0)];
    expect(&swapped, "synccheck.wait_without_set", Error, "PIPE_V would wait forever");
    let twice = [set(V, S, 0), set(V, S, 0)];
    expect(&twice, "synccheck.set_while_pending", Error, "already set");
    expect(&[set(V, S, 1)], "synccheck.flag_left", Warning, "EVENT_ID1");
    expect(&[set(V, S, 8)], "memcheck.param", Error, "allowed 0 to 7");
    expect(&[set(V, V, 0)], "synccheck.same_pipe", Error, "pipe_barrier");
    expect(&[op(Op::pipe_barrier, F32, &[S])], "synccheck.barrier_s", Error, "hardware error");
    assert!(codes(&[op(Op::pipe_barrier, F32, &[Pipe::All as i64])]).is_empty());
}

#[test]
fn reductions_of_nothing() {
    let empty = op(Op::set_vector_mask, F32, &[0, 0]);
    let max = op(Op::vcmax, F32, &[0x1000, 0, 1, 1, 1, 8, 0]);
    let program = with(&[&[empty, max], &restore()]);
    expect(&program, "memcheck.reduce_empty", Level::Error, "no lane of repeat 0");
    let sum = op(Op::vcadd, F32, &[0x1000, 0, 1, 1, 1, 8, 0]);
    assert!(codes(&with(&[&[empty, sum], &restore()])).is_empty());
}
