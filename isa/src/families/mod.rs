//! What instructions compute: bodies of one to ten lines over the lanes of one repeat.
//!
//! A body sees typed lanes and nothing else: the walk, the mask, the shadow and the record are the
//! executor's business.

pub mod arith;
pub mod control;

use crate::machine::{Machine, Stop};
use ptoemu_core::dtype::DType;

/// Lanes of one repeat of one operand: 256 bytes, aligned for every element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(32))]
pub struct Repeat(pub [u8; 256]);

impl Repeat {
    /// All bytes zero.
    pub const ZERO: Repeat = Repeat([0; 256]);

    /// Lanes as elements of `T`.
    pub fn lanes<T: bytemuck::Pod>(&self) -> &[T] {
        bytemuck::cast_slice(&self.0)
    }

    /// Lanes as writable elements of `T`.
    pub fn lanes_mut<T: bytemuck::Pod>(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

/// Body of an instruction with one source: settings, element type, destination, source.
pub type Body1 = fn(DType, &mut Repeat, &Repeat);
/// Body of an instruction with two sources.
pub type Body2 = fn(DType, &mut Repeat, &Repeat, &Repeat);

/// The semantics of a row.
#[derive(Clone, Copy)]
pub enum Sem {
    /// Lane by lane from one source.
    One(Body1),
    /// Lane by lane from two sources.
    Two(Body2),
    /// Changes special registers.
    Control(fn(&mut Machine, &[i64]) -> Result<(), Stop>),
    /// Only orders other instructions.
    Nothing,
}
