//! Lexer, parser, AST and printer of `.pto`.
//!
//! One grammar reads every op, known or not: this module holds no op tables. A statement is
//! results, a name, arguments in source order, a type signature and regions; [`Op`] has the
//! questions a consumer asks of it.
//!
//! ```
//! use ptoemu_core::diag::SourceFile;
//! use ptoemu_isa::text::{Item, parse, print};
//!
//! let text = "pto.tabs ins(%a : !pto.tile_buf<vec, 8x64xf32>) outs(%b : !pto.tile_buf<...>)";
//! let (file, errors) = parse(&SourceFile::new("a.pto", text));
//! assert!(errors.is_empty());
//! let Item::Op(op) = &file.items[0] else { panic!("a bare statement") };
//! assert_eq!(op.canonical(), "pto.tabs");
//! let source = op.call("ins").expect("operands");
//! assert_eq!(source.types[0].as_tile().map(|t| t.cols), Some(64));
//! assert_eq!(print(&file), format!("{text}\n"));
//! ```

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
