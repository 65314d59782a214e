//! Registers of the 950 vector core: vectors of 256 bytes, predicates, align registers.

use bytemuck::Pod;
use ptoemu_core::mask::Mask;

/// Bytes of a vector register.
pub const VL: usize = 256;

/// A vector register and which of its bytes nobody ever defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(32))]
pub struct VReg {
    bytes: [u8; VL],
    /// Bytes whose contents are undefined.
    pub undef: Mask,
    /// Loads of the vecscope it was computed from, folded into 64 bits.
    pub sources: u64,
    /// How it came to its contents, for the checks: its number in [`super::flow::Flow`].
    pub from: u32,
}

impl VReg {
    /// All bytes zero and defined.
    pub const ZERO: VReg = VReg { bytes: [0; VL], undef: Mask::NONE, sources: 0, from: 0 };

    /// A register with every lane holding the low `size` bytes of `bits`.
    pub fn splat(bits: u64, size: usize) -> VReg {
        let mut v = VReg::ZERO;
        let src = bits.to_le_bytes();
        for lane in v.bytes.chunks_exact_mut(size.clamp(1, 8)) {
            lane.copy_from_slice(&src[..lane.len()]);
        }
        v
    }

    /// A register from raw bytes, all defined; missing bytes are zero.
    pub fn from_bytes(src: &[u8]) -> VReg {
        let mut v = VReg::ZERO;
        for (d, s) in v.bytes.iter_mut().zip(src) {
            *d = *s;
        }
        v
    }

    /// A register of typed lanes, all defined; missing lanes are zero.
    pub fn from_lanes<T: Pod>(src: &[T]) -> VReg {
        VReg::from_bytes(bytemuck::cast_slice(src))
    }

    /// Contents nobody defined.
    pub fn poison(byte: u8) -> VReg {
        VReg { bytes: [byte; VL], undef: Mask::first(VL), sources: 0, from: 0 }
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8; VL] {
        &self.bytes
    }

    /// All bytes, writable.
    pub fn bytes_mut(&mut self) -> &mut [u8; VL] {
        &mut self.bytes
    }

    /// Lanes of type `T`.
    pub fn lanes<T: Pod>(&self) -> &[T] {
        bytemuck::cast_slice(&self.bytes)
    }

    /// Lanes of type `T`, writable.
    pub fn lanes_mut<T: Pod>(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.bytes)
    }

    /// Lane `i` of `size` bytes, zero-extended; 0 beyond the register.
    pub fn get(&self, i: usize, size: usize) -> u64 {
        let mut w = [0u8; 8];
        let lane = i.checked_mul(size).and_then(|at| self.bytes.get(at..at.checked_add(size)?));
        if let (Some(to), Some(lane)) = (w.get_mut(..size), lane) {
            to.copy_from_slice(lane);
        }
        u64::from_le_bytes(w)
    }

    /// Writes the low `size` bytes of `bits` to lane `i`; lanes beyond the register are ignored.
    pub fn set(&mut self, i: usize, size: usize, bits: u64) {
        let lane = i.checked_mul(size).and_then(|at| self.bytes.get_mut(at..at.checked_add(size)?));
        if let (Some(lane), Some(from)) = (lane, bits.to_le_bytes().get(..size)) {
            lane.copy_from_slice(from);
        }
    }

    /// The undefined bytes as a register image: 0xFF where undefined.
    pub fn shadow(&self) -> VReg {
        let mut v = VReg::ZERO;
        spread(&self.undef, &mut v.bytes);
        v
    }

    /// Takes the undefined bytes from an image: every byte that is not zero.
    pub fn set_shadow(&mut self, image: &VReg) {
        let mut words = [0u64; 4];
        for (i, b) in image.bytes.iter().enumerate() {
            words[i / 64] |= u64::from(*b != 0) << (i % 64);
        }
        self.undef = Mask::from_words(words);
    }

    /// Keeps only the bytes `keep` selects; the others become zero and defined.
    pub fn keep(&mut self, keep: &Mask) {
        if *keep == Mask::first(VL) {
            return;
        }
        let mut image = [0u8; VL];
        spread(keep, &mut image);
        for (b, k) in self.bytes.iter_mut().zip(&image) {
            *b &= k;
        }
        self.undef = self.undef.and(keep);
    }
}

/// One byte of ones for every set bit.
fn spread(m: &Mask, to: &mut [u8; VL]) {
    for (w, chunk) in m.words().iter().zip(to.chunks_exact_mut(64)) {
        for (i, b) in chunk.iter_mut().enumerate() {
            *b = ((w >> i & 1) as u8).wrapping_neg();
        }
    }
}

/// Lowest mask bit of every lane of `size` bytes.
const fn lane_bits(size: usize) -> u64 {
    match size {
        1 => u64::MAX,
        2 => 0x5555_5555_5555_5555,
        4 => 0x1111_1111_1111_1111,
        _ => 0x0101_0101_0101_0101,
    }
}

/// The bits a lane of `size` bytes looks at; all others cleared.
pub fn lane_mask(m: &Mask, size: usize) -> Mask {
    Mask::from_words(m.words().map(|w| w & lane_bits(size)))
}

/// The bytes a mask activates under lanes of `size` bytes: lane `i` is governed by bit `i * size`.
pub fn byte_mask(m: &Mask, size: usize) -> Mask {
    let ones = (1u64 << size.clamp(1, 8)) - 1;
    Mask::from_words(m.words().map(|w| (w & lane_bits(size)).wrapping_mul(ones)))
}

/// Every byte of a lane of which any byte is set.
pub fn whole_lanes(m: &Mask, size: usize) -> Mask {
    let any = m.words().map(|w| (0..size.clamp(1, 8)).fold(0, |a, i| a | w >> i));
    byte_mask(&Mask::from_words(any), size)
}

/// Mask of lanes of `size` bytes from a predicate on the lane number.
pub fn lanes_where(size: usize, f: impl Fn(usize) -> bool) -> Mask {
    let mut words = [0u64; 4];
    for i in (0..VL / size.clamp(1, 8)).filter(|i| f(*i)) {
        let bit = i * size;
        words[bit / 64] |= 1 << (bit % 64);
    }
    Mask::from_words(words)
}

/// Is lane `i` of `size` bytes active?
pub fn active(m: &Mask, i: usize, size: usize) -> bool {
    m.get(i * size)
}

/// State of an unaligned stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Align {
    /// Loads: the block held. Stores: where the stream goes on.
    pub addr: u64,
    /// Bytes not yet in memory (stores).
    pub pending: u8,
    /// Primed by a load, or carrying a store stream.
    pub kind: AlignKind,
    /// Store stream it belongs to; 0 before the first store.
    pub stream: u32,
}

/// What an align register holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AlignKind {
    /// `init_align`: nothing yet.
    #[default]
    Fresh,
    /// Primed by `vldas` or carried on by `vldus`.
    Load,
    /// The tail of a store stream.
    Store,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bit_a_lane_governs_its_bytes() {
        let m = Mask::from_words([0b1_0001, 0, 0, 0]);
        assert_eq!(byte_mask(&m, 4).words()[0], 0xFF);
        assert_eq!(byte_mask(&m, 2).words()[0], 0b11_0011);
        assert_eq!(byte_mask(&m, 1).words()[0], 0b1_0001);
        // A bit that is not the lowest of its lane does not count.
        assert!(byte_mask(&Mask::from_words([2, 0, 0, 0]), 4).is_empty());
        assert_eq!(byte_mask(&Mask::from_words([1 << 56, 0, 0, 0]), 8).words()[0], 0xFF << 56);
        assert_eq!(whole_lanes(&Mask::from_words([0b1000, 0, 0, 0]), 4).words()[0], 0xF);
        assert_eq!(lanes_where(4, |i| i < 64).words(), [0x1111_1111_1111_1111; 4]);
    }

    #[test]
    fn shadows_round_trip() {
        let mut v = VReg::splat(0x0102, 2);
        assert_eq!((v.bytes()[0], v.bytes()[255], v.get(5, 2)), (2, 1, 0x0102));
        v.undef = Mask::from_words([0b101, 0, 0, 1 << 63]);
        let mut w = VReg::ZERO;
        w.set_shadow(&v.shadow());
        assert_eq!(w.undef, v.undef);
        v.keep(&Mask::from_words([0b110, 0, 0, 0]));
        assert_eq!(
            (v.undef.words()[0], v.bytes()[0], v.bytes()[1], v.bytes()[3]),
            (0b100, 0, 1, 0)
        );
        assert_eq!(v.get(64, 4), 0);
    }
}
