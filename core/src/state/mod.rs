//! Machine state: memories, their shadow, and the special registers.

mod bytes;
mod gm;
mod shadow;

pub use bytes::Bytes;
pub use gm::{Buffer, Gm};
pub use shadow::{Shadow, WRITER_NONE};

/// A byte-addressed memory with its shadow.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Contents.
    pub bytes: Bytes,
    /// Which bytes are defined and who wrote them.
    pub shadow: Shadow,
}

impl Memory {
    /// `size` bytes of `poison`, none of them defined.
    pub fn new(size: usize, poison: u8) -> Self {
        Memory { bytes: Bytes::filled(size, poison), shadow: Shadow::new(size) }
    }

    /// Back to `poison`, none of it defined.
    pub fn reset(&mut self, poison: u8) {
        self.bytes.as_mut_slice().fill(poison);
        self.shadow.clear();
    }

    /// Size in bytes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// True for a memory of no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
