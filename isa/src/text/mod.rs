//! Lexer, parser, AST and printer of `.pto`.
//!
//! One grammar reads every op, known or not: this module holds no op tables.

mod access;
mod ast;
mod lexer;
mod names;
mod parse;
mod print;
mod summary;
mod types;

pub use ast::*;
pub use parse::parse;
pub use print::{print, print_arg, print_op};
pub use summary::{FunctionSummary, Summary, summary};
pub use types::*;
