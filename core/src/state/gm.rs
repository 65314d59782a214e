//! Global memory: named buffers in one flat address space.

use super::Memory;
use crate::dtype::DType;

/// Every buffer owns a window of this many address bits, so that a stray pointer lands in no
/// neighbour.
const WINDOW_BITS: u32 = 40;

/// One GM allocation.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Name of the function argument.
    pub name: String,
    /// Element type of the pointer.
    pub dtype: DType,
    /// Contents and shadow.
    pub mem: Memory,
}

/// All GM buffers of a run.
#[derive(Clone, Debug, Default)]
pub struct Gm {
    buffers: Vec<Buffer>,
}

impl Gm {
    /// Adds a buffer and returns its base address.
    pub fn add(&mut self, buffer: Buffer) -> u64 {
        self.buffers.push(buffer);
        (self.buffers.len() as u64) << WINDOW_BITS
    }

    /// The buffer whose window holds `addr`, and the offset into it (which may lie beyond its end).
    pub fn locate(&self, addr: u64) -> Option<(usize, u64)> {
        let window = (addr >> WINDOW_BITS) as usize;
        let index = window.checked_sub(1).filter(|&i| i < self.buffers.len())?;
        Some((index, addr & ((1 << WINDOW_BITS) - 1)))
    }

    /// The buffer that holds all of `start..end`, and the offset of `start`.
    pub fn range(&self, start: u64, end: u64) -> Option<(usize, u64)> {
        let (index, at) = self.locate(start)?;
        let n = end.checked_sub(start)?;
        (at.checked_add(n)? <= self.buffers[index].mem.len() as u64).then_some((index, at))
    }

    /// Buffers in order of addition.
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// One buffer, writable.
    pub fn buffer_mut(&mut self, index: usize) -> Option<&mut Buffer> {
        self.buffers.get_mut(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_do_not_touch() {
        let mut gm = Gm::default();
        let buf =
            |name: &str| Buffer { name: name.into(), dtype: DType::F32, mem: Memory::new(64, 0) };
        let a = gm.add(buf("a"));
        let b = gm.add(buf("b"));
        assert_eq!(gm.range(a, a + 64), Some((0, 0)));
        assert_eq!(gm.range(a, a + 65), None);
        assert_eq!(gm.range(b + 8, b + 16), Some((1, 8)));
        assert_eq!(gm.locate(a - 4), None);
        assert_eq!(gm.locate(b - 4).map(|(i, _)| i), Some(0), "far beyond a, and reported so");
        assert_eq!(gm.range(b - 4, b), None);
    }
}
