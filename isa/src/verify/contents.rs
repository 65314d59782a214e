//! What fills the tiles of a use: stretches of generated elements, a peak in every row, or ones.

use super::spec::Spec;
use crate::machine::Machine;
use crate::tile::{Call, Tile};
use ptoemu_core::dtype::DType;
use ptoemu_core::num::{Dist, SplitMix64, bf16, f16};
use ptoemu_core::state::WRITER_NONE;
use rustc_hash::FxHashMap;

/// Elements of one pool: a prime, so that no row length repeats it.
const POOL: usize = 8191;
/// Number of ways to fill tiles; [`Spec::dist`] counts them.
pub(super) const KINDS: u8 = 7;
/// The first of the two ways with peaks: largest elements, then smallest ones.
pub(super) const PEAKS: u8 = 4;
/// Plus and minus one: sums and products are exact in any order, and comparisons meet ties.
pub(super) const ONES: u8 = 6;

/// Generated elements by type and distribution; tiles are stretches of them.
#[derive(Debug, Default)]
pub(super) struct Pool(FxHashMap<(DType, Dist), Vec<u8>>);

/// The distribution of a way to fill tiles; that below the peaks where there are some.
pub(super) fn dist(kind: u8, t: DType) -> Dist {
    let floats = [Dist::Unit, Dist::Special, Dist::SpecialNonan, Dist::Pos];
    let ints = [Dist::Full, Dist::MinMax, Dist::Small, Dist::Nz];
    match (kind % KINDS, t.is_float()) {
        (PEAKS.., true) => Dist::Unit,
        (PEAKS.., false) => Dist::Small,
        (k, true) => floats[usize::from(k)],
        (k, false) => ints[usize::from(k)],
    }
}

impl Pool {
    /// Fills tile `k` of a use, whole elements.
    fn fill(&mut self, contents: &Spec, t: &Tile, k: u64, to: &mut [u8]) {
        let (kind, size) = (contents.dist % KINDS, t.dtype.size());
        let dist = dist(kind, t.dtype);
        let pool = self.0.entry((t.dtype, dist)).or_insert_with(|| {
            let mut bytes = vec![0; POOL * size];
            dist.fill(t.dtype, POOL as u64, 0, &mut bytes);
            bytes
        });
        let draw = SplitMix64::tensor(contents.seed.into(), k).next_u64();
        let mut from = (draw % POOL as u64) as usize * size;
        let mut at = 0;
        while at < to.len() {
            let n = (to.len() - at).min(pool.len() - from);
            to[at..at + n].copy_from_slice(&pool[from..from + n]);
            (at, from) = (at + n, 0);
        }
        match kind {
            ONES => ones(t, draw, to),
            PEAKS.. => peaks(t, contents.seed as usize, kind == PEAKS, to),
            _ => {}
        }
    }
}

/// Every element plus or minus one; of integers without a sign, one or two.
fn ones(t: &Tile, draw: u64, to: &mut [u8]) {
    let [one, other]: [u64; 2] = match t.dtype {
        DType::F16 => [0x3C00, 0xBC00],
        DType::BF16 => [0x3F80, 0xBF80],
        DType::F32 => [0x3F80_0000, 0xBF80_0000],
        d => [1, if d.is_signed() { u64::MAX } else { 2 }],
    };
    let n = t.dtype.size();
    let mut signs = SplitMix64::new(draw);
    for elements in to.chunks_mut(64 * n) {
        let mut bits = signs.next_u64();
        for e in elements.chunks_exact_mut(n) {
            e.copy_from_slice(&(if bits & 1 == 0 { one } else { other }).to_le_bytes()[..n]);
            bits >>= 1;
        }
    }
}

/// One element of every row of the stored tile is far above all others, or far below them: at the
/// same column of each, and no two of 16 rows have the same. What leaves a column out of a row, or
/// takes one too many, is seen wherever that column is the one.
fn peaks(t: &Tile, place: usize, high: bool, to: &mut [u8]) {
    let (n, cols) = (t.dtype.size(), (t.storage_rows().cols as usize).max(1));
    if !t.dtype.is_float() && !t.dtype.is_signed() && !high {
        // Room below.
        to.chunks_exact_mut(n).for_each(|e| e[0] += 32);
    }
    for (r, row) in to.chunks_mut(cols * n).enumerate() {
        if let Some(e) = row.chunks_exact_mut(n).nth(place % cols) {
            e.copy_from_slice(&peak(t.dtype, r as u64 % 16, high).to_le_bytes()[..n]);
        }
    }
}

/// The element `k` steps from the extreme end of what peaks are.
fn peak(t: DType, k: u64, high: bool) -> u64 {
    let all = u64::MAX >> (64 - 8 * t.size());
    // Multiples of 256 up to 4352: exact in every float type.
    let x = (256 * (k + 2)) as f32 * if high { 1.0 } else { -1.0 };
    match (t, t.is_signed(), high) {
        (DType::F16, ..) => u64::from(f16::from_f32(x)),
        (DType::BF16, ..) => u64::from(bf16::from_f32(x)),
        (DType::F32, ..) => u64::from(x.to_bits()),
        (_, true, true) => all / 2 - k,
        (_, true, false) => all / 2 + 1 + k,
        (_, false, true) => all - k,
        (_, false, false) => k,
    }
}

/// Contents of dst and sources; a source at the place of dst gives it its contents. What the
/// microcode writes over counts as never written before.
pub(super) fn fill(m: &mut Machine, call: &Call, contents: &Spec, pool: &mut Pool) {
    for (k, t) in (0u64..).zip(std::iter::once(&call.dst).chain(&call.src)) {
        let Some(bytes) = m.ub.bytes.get_mut(t.addr, t.bytes() as usize) else { continue };
        pool.fill(contents, t, k, bytes);
        if k == 2 && call.op.operator.shifts() {
            // Counts beyond the width are findings of their own.
            for element in bytes.chunks_exact_mut(t.dtype.size()) {
                let count = element[0] % (8 * t.dtype.size() as u8);
                element.fill(0);
                element[0] = count;
            }
        }
        call.tame(k as usize, bytes);
        if k > 0 || call.reads_dst() {
            m.ub.shadow.set(t.addr, t.end(), true, WRITER_NONE);
        }
    }
    m.owners.extend(call.tiles().map(|(role, t)| (role, t.addr, t.end()).into()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::Tile;

    #[test]
    fn a_peak_is_the_largest_or_smallest_of_its_row() {
        for t in [DType::U8, DType::I8, DType::I16, DType::F16, DType::BF16, DType::F32] {
            for (kind, high) in [(PEAKS, true), (PEAKS + 1, false)] {
                let tile = Tile::plain("src", t, (3, 64), (3, 64));
                let contents = Spec { dist: kind, seed: 77, ..Spec::default() };
                let mut bytes = vec![0; tile.bytes() as usize];
                Pool::default().fill(&contents, &tile, 1, &mut bytes);
                let value = |e: &[u8]| -> f64 {
                    let bits = e.iter().rev().fold(0u64, |v, b| v << 8 | u64::from(*b));
                    let up = 64 - 8 * t.size();
                    match t {
                        DType::F16 => f64::from(f16::to_f32(bits as u16)),
                        DType::BF16 => f64::from(bf16::to_f32(bits as u16)),
                        DType::F32 => f64::from(f32::from_bits(bits as u32)),
                        _ if t.is_signed() => ((bits << up) as i64 >> up) as f64,
                        _ => bits as f64,
                    }
                };
                for row in bytes.chunks(64 * t.size()) {
                    let v: Vec<f64> = row.chunks(t.size()).map(value).collect();
                    let best = v[77 % 64];
                    let beaten = |x: &f64| if high { *x < best } else { *x > best };
                    assert!(v.iter().enumerate().all(|(i, x)| i == 77 % 64 || beaten(x)), "{t}");
                }
            }
        }
    }
}
