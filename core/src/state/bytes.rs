//! Byte storage aligned for typed slices.

/// Bytes whose start is aligned to 8, so that ranges view as slices of any element type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bytes {
    words: Vec<u64>,
    len: usize,
}

impl Bytes {
    /// `len` bytes of `fill`.
    pub fn filled(len: usize, fill: u8) -> Self {
        Bytes { words: vec![u64::from_ne_bytes([fill; 8]); len.div_ceil(8)], len }
    }

    /// A copy of `src`.
    pub fn from_slice(src: &[u8]) -> Self {
        let mut b = Bytes::filled(src.len(), 0);
        b.as_mut_slice().copy_from_slice(src);
        b
    }

    /// Number of bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All bytes.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len]
    }

    /// All bytes, writable.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.len]
    }

    /// `n` bytes at `at`, or `None` if they leave the memory.
    #[inline]
    pub fn get(&self, at: u64, n: usize) -> Option<&[u8]> {
        let at = usize::try_from(at).ok()?;
        self.as_slice().get(at..at.checked_add(n)?)
    }

    /// `n` writable bytes at `at`, or `None` if they leave the memory.
    #[inline]
    pub fn get_mut(&mut self, at: u64, n: usize) -> Option<&mut [u8]> {
        let at = usize::try_from(at).ok()?;
        self.as_mut_slice().get_mut(at..at.checked_add(n)?)
    }
}
