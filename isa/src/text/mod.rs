//! Lexer, parser, AST and printer of `.pto`.
//!
//! One grammar reads every op, known or not: this module holds no op tables.

mod access;
mod ast;
mod lexer;
mod names;
mod parse;
mod types;

pub use ast::*;
pub use parse::parse;
pub use types::*;
