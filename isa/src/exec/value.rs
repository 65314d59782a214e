//! Values of the executor.

use crate::a5::{Align, VReg};
use crate::tile::Tile;
use ptoemu_core::access::Space;
use ptoemu_core::dtype::DType;
use ptoemu_core::mask::Mask;
use std::sync::Arc;

/// A value in a frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Not yet defined.
    None,
    /// An integer or index, sign-extended from its type's width.
    Int(i64),
    /// A float: its type and bits.
    Float(DType, u64),
    /// A pointer.
    Ptr(Ptr),
    /// A tile.
    Tile(Arc<Tile>),
    /// A view of global memory.
    View(Arc<View>),
    /// A 950 vector register.
    Vreg(Arc<VReg>),
    /// A 950 predicate register.
    Mask(Mask),
    /// A 950 align register.
    Align(Align),
}

/// A typed address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ptr {
    /// Memory.
    pub space: Space,
    /// Byte address: an offset in UB, or an address of the flat GM space.
    pub addr: u64,
    /// Element.
    pub elem: DType,
}

/// A strided view of global memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Address of the first element.
    pub addr: u64,
    /// Element.
    pub elem: DType,
    /// Sizes, outermost first.
    pub sizes: Vec<i64>,
    /// Strides in elements, outermost first.
    pub strides: Vec<i64>,
    /// `layout = dn`: columns are contiguous.
    pub dn: bool,
}

impl Value {
    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::None => "an undefined value",
            Value::Int(_) => "an integer",
            Value::Float(..) => "a float",
            Value::Ptr(_) => "a pointer",
            Value::Tile(_) => "a tile",
            Value::View(_) => "a view",
            Value::Vreg(_) => "a vector register",
            Value::Mask(_) => "a predicate",
            Value::Align(_) => "an align register",
        }
    }
}
