//! Mutations that know programs: words, numbers and lines instead of bytes.

use std::sync::LazyLock;

/// A small deterministic generator (xorshift).
pub struct Rng(u64);

impl Rng {
    /// A generator; equal seeds give equal sequences.
    pub fn new(seed: u64) -> Self {
        Rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `n` (0 for 0).
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % n.max(1) as u64) as usize
    }

    fn pick<'v, T>(&mut self, of: &'v [T]) -> Option<&'v T> {
        of.get(self.below(of.len()))
    }
}

/// Words no program need contain: names of operations and types, corner numbers.
static WORDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let instrs = ptoemu_isa::table::Op::ALL.iter().map(|o| format!("pto.{}", o.mnemonic()));
    let micro = ptoemu_isa::a5::Op::ALL.iter().map(|o| format!("pto.{}", o.mnemonic()));
    let tiles = ptoemu_isa::tile::OPS.iter().map(|o| format!("pto.{}", o.name));
    let other = "f32 f16 bf16 i8 i16 i32 i64 ui8 ui16 ui32 ui64 si32 index i1 vec ub gm row_major \
        col_major none_box scf.for scf.if scf.while scf.yield scf.condition arith.constant \
        arith.addi arith.muli arith.divsi arith.remsi arith.shli arith.index_cast arith.select \
        pto.vecscope pto.barrier pto.set_flag pto.wait_flag pto.alloc_tile pto.make_tensor_view \
        pto.partition_view pto.tload pto.tstore pto.subset pto.addptr pto.castptr func.call return \
        valid= pad= addr ? x - { } ( ) < > [ ] , : = -> ins outs mode repeat mask true false nan inf";
    instrs.chain(micro).chain(tiles).chain(other.split(' ').map(str::to_string)).collect()
});

const TYPES: &[&str] = &[
    "f32", "f16", "bf16", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "si8", "si16", "si32",
    "index", "i1", "b8", "b16", "b32",
];

const NUMBERS: &[i128] = &[
    0,
    1,
    -1,
    2,
    3,
    7,
    8,
    15,
    16,
    31,
    32,
    63,
    64,
    65,
    127,
    128,
    240,
    254,
    255,
    256,
    257,
    1024,
    4095,
    4096,
    65535,
    65536,
    184 * 1024,
    192 * 1024,
    196_607,
    i32::MAX as i128,
    i32::MIN as i128,
    u32::MAX as i128,
    1 << 40,
    i64::MAX as i128,
    i64::MIN as i128,
    u64::MAX as i128,
    i128::MAX,
];

/// Byte ranges of the words of a text, blanks left out.
fn words(text: &[u8]) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let mut i = 0;
    while i < text.len() {
        let start = i;
        let part = |b: u8| b.is_ascii_alphanumeric() || b"_.%!@#".contains(&b);
        while i < text.len() && part(text[i]) {
            i += 1;
        }
        if i == start {
            i += 1;
        }
        if !text[start].is_ascii_whitespace() {
            out.push((start, i));
        }
    }
    out
}

/// Byte ranges of the numbers of a text, digits only.
fn numbers(text: &[u8]) -> Vec<(usize, usize)> {
    let mut out: Vec<(usize, usize)> = Vec::new();
    for (i, b) in text.iter().enumerate() {
        match out.last_mut() {
            _ if !b.is_ascii_digit() => {}
            Some(last) if last.1 == i => last.1 = i + 1,
            _ => out.push((i, i + 1)),
        }
    }
    out
}

/// Byte ranges of the lines of a text, line ends included.
fn lines(text: &[u8]) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive(|b| *b == b'\n') {
        out.push((start, start + line.len()));
        start += line.len();
    }
    out
}

fn splice(text: &mut Vec<u8>, (start, end): (usize, usize), with: &[u8]) {
    text.splice(start..end, with.iter().copied());
}

/// One mutation of a program text.
pub fn mutate(text: &mut Vec<u8>, rng: &mut Rng) {
    match rng.below(16) {
        0..=4 => number(text, rng),
        5 => word(text, rng),
        6..=9 => line(text, rng),
        10 => choices(text, rng),
        11..=13 => rename(text, rng),
        _ => typed(text, rng),
    }
}

fn number(text: &mut Vec<u8>, rng: &mut Rng) {
    let all = numbers(text);
    let Some(at) = rng.pick(&all).copied() else { return };
    let old = std::str::from_utf8(&text[at.0..at.1]).ok().and_then(|s| s.parse::<i128>().ok());
    let old = old.unwrap_or(0);
    let new = match rng.below(8) {
        0 => old.wrapping_add(1),
        1 => old.wrapping_sub(1),
        2 => old.wrapping_mul(2),
        3 => old / 2,
        4 => old.wrapping_neg(),
        5 => match rng.pick(&all).and_then(|r| std::str::from_utf8(&text[r.0..r.1]).ok()) {
            Some(other) => other.parse().unwrap_or(1),
            None => 1,
        },
        _ => NUMBERS[rng.below(NUMBERS.len())],
    };
    splice(text, at, new.to_string().as_bytes());
}

fn word(text: &mut Vec<u8>, rng: &mut Rng) {
    let all = words(text);
    let Some(at) = rng.pick(&all).copied() else { return };
    let other = rng.pick(&all).copied().unwrap_or(at);
    let copy = text[other.0..other.1].to_vec();
    match rng.below(7) {
        0 => splice(text, at, &[]),
        1 => splice(text, (at.0, at.0), &copy),
        2 | 3 => splice(text, at, &copy),
        4 => {
            let mine = text[at.0..at.1].to_vec();
            let (first, second) = if at.0 < other.0 { (at, other) } else { (other, at) };
            if first.1 <= second.0 {
                let (a, b) = if at.0 < other.0 { (&copy, &mine) } else { (&mine, &copy) };
                splice(text, second, b);
                splice(text, first, a);
            }
        }
        _ => {
            let new = &WORDS[rng.below(WORDS.len())];
            splice(text, at, new.as_bytes());
        }
    }
}

/// The same kind of name elsewhere: a value by another value, an operation by another.
fn rename(text: &mut Vec<u8>, rng: &mut Rng) {
    let all = words(text);
    let Some(at) = rng.pick(&all).copied() else { return };
    let first = text[at.0];
    let dotted = |r: &(usize, usize)| text[r.0..r.1].contains(&b'.');
    let like: Vec<_> =
        all.iter().filter(|r| text[r.0] == first && dotted(r) == dotted(&at)).collect();
    let Some(other) = rng.pick(&like) else { return };
    let copy = text[other.0..other.1].to_vec();
    splice(text, at, &copy);
}

/// Another element type, or another operation, for one there.
fn typed(text: &mut Vec<u8>, rng: &mut Rng) {
    let types = TYPES.iter().map(|t| t.as_bytes()).collect::<Vec<_>>();
    let all = words(text);
    let ops = rng.below(2) == 0;
    let fits = |r: &&(usize, usize)| match ops {
        true => text[r.0..r.1].starts_with(b"pto."),
        false => types.contains(&&text[r.0..r.1]),
    };
    let some: Vec<_> = all.iter().filter(fits).copied().collect();
    let Some(at) = rng.pick(&some).copied() else { return };
    let new = match ops {
        true => WORDS[rng.below(WORDS.len())].as_bytes(),
        false => types[rng.below(types.len())],
    };
    if !ops || new.starts_with(b"pto.") {
        let everywhere = !ops && rng.below(2) == 0;
        let old = text[at.0..at.1].to_vec();
        for r in all.into_iter().rev() {
            if r == at || (everywhere && text[r.0..r.1] == old[..]) {
                splice(text, r, new);
            }
        }
    }
}

fn line(text: &mut Vec<u8>, rng: &mut Rng) {
    let all = lines(text);
    let Some(at) = rng.pick(&all).copied() else { return };
    let other = rng.pick(&all).copied().unwrap_or(at);
    let copy = text[other.0..other.1].to_vec();
    match rng.below(5) {
        0 | 1 => splice(text, at, &[]),
        2 => splice(text, (at.0, at.0), &copy),
        3 => splice(text, at, &copy),
        _ => {
            let mine = text[at.0..at.1].to_vec();
            splice(text, (other.0, other.0), &mine);
            let moved = if other.0 <= at.0 { mine.len() } else { 0 };
            splice(text, (at.0 + moved, at.1 + moved), &[]);
        }
    }
}

/// Other choices of the run, in the first line (see `harness`).
fn choices(text: &mut Vec<u8>, rng: &mut Rng) {
    let new = format!("//~{:04x}\n", rng.below(1 << 16));
    let end = match text.starts_with(b"//~") {
        true => text.iter().position(|b| *b == b'\n').map_or(text.len(), |p| p + 1),
        false => 0,
    };
    splice(text, (0, end), new.as_bytes());
}

/// Mutates the first `size` bytes of `data` in place; the new size, at most `max`.
pub fn in_place(data: &mut [u8], size: usize, max: usize, seed: u32) -> usize {
    let mut rng = Rng::new(u64::from(seed) + 1);
    let mut text = data[..size].to_vec();
    for _ in 0..1 + rng.below(2) {
        mutate(&mut text, &mut rng);
    }
    let n = text.len().min(max).min(data.len());
    data[..n].copy_from_slice(&text[..n]);
    n
}

/// Lines of `b` put among, or in place of, lines of `a`; the size of what `out` then holds.
pub fn cross(a: &[u8], b: &[u8], out: &mut [u8], seed: u32) -> usize {
    let mut rng = Rng::new(u64::from(seed) + 1);
    let mut text = a.to_vec();
    let donors = lines(b);
    let own = lines(a);
    let first = rng.below(donors.len());
    let count = (1 + rng.below(6)).min(donors.len() - first.min(donors.len()));
    if count > 0 {
        let (start, end) = (donors[first].0, donors[first + count - 1].1);
        let at = rng.pick(&own).copied().unwrap_or((0, 0));
        let at = if rng.below(2) == 0 { at } else { (at.0, at.0) };
        splice(&mut text, at, &b[start..end]);
    }
    let n = text.len().min(out.len());
    out[..n].copy_from_slice(&text[..n]);
    n
}
