//! The tree of a `.pto` text. Every op has the same shape, so that unknown ops keep theirs too:
//! results, a dotted name, arguments in source order, a type signature, regions.

use super::types::Type;
use ptoemu_core::diag::{SourceFile, Span};
use std::sync::Arc;

/// A name as written, with its place. Values and symbols come without `%`, `@`, `^`.
#[derive(Clone, Debug, PartialEq)]
pub struct Ident {
    /// The text.
    pub text: Arc<str>,
    /// Where it stands.
    pub span: Span,
}

/// One source file.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// Modules, functions and bare statements in source order.
    pub items: Vec<Item>,
    /// The text all spans point into.
    pub source: Arc<SourceFile>,
}

/// What may stand in a file or a module.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// `module @m attributes {..} { .. }`
    Module(Module),
    /// `func.func @f(..) { .. }`
    Func(Func),
    /// A statement outside any function, as the tile operations of a bare listing.
    Op(Op),
}

/// A module.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// Symbol name without `@`.
    pub name: Option<Ident>,
    /// `attributes {..}`, for example `pto.target_arch = "a2a3"`.
    pub attrs: Option<Dict>,
    /// Contents in source order.
    pub items: Vec<Item>,
    /// From `module` to the closing brace.
    pub span: Span,
}

/// A function definition, or a declaration when there is no body.
#[derive(Clone, Debug, PartialEq)]
pub struct Func {
    /// Symbol name without `@`.
    pub name: Ident,
    /// `private` or `public`, if written.
    pub visibility: Option<Ident>,
    /// Arguments.
    pub args: Vec<FuncArg>,
    /// Results; their `name` is always `None`.
    pub results: Vec<FuncArg>,
    /// `attributes {..}`, for example `pto.entry`.
    pub attrs: Option<Dict>,
    /// The body.
    pub body: Option<Region>,
    /// From `func.func` to the closing brace.
    pub span: Span,
}

/// An argument or a result of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct FuncArg {
    /// Value name without `%`; `None` for results and in declarations.
    pub name: Option<Ident>,
    /// Its type.
    pub ty: Type,
    /// Attributes of this argument.
    pub attrs: Option<Dict>,
}

/// A brace-enclosed body.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// `else` of `scf.if`, `do` of `scf.while`.
    pub keyword: Option<Ident>,
    /// Blocks; at least one.
    pub blocks: Vec<Block>,
    /// From `{` to `}`.
    pub span: Span,
}

/// A straight list of ops.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// `^name`, without `^`.
    pub label: Option<Ident>,
    /// Block arguments.
    pub args: Vec<(Ident, Type)>,
    /// Statements.
    pub ops: Vec<Op>,
}

/// How an op was spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `"pto.tmov"(%a) <{..}> : (T) -> U`
    Generic,
    /// `pto.tmov ins(%a : T) outs(%b : U)` and every other spelling.
    Custom,
}

/// One statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Op {
    /// Names on the left of `=`.
    pub results: Vec<ResultBind>,
    /// Dotted name as written; see [`Op::canonical`].
    pub name: Ident,
    /// Spelling.
    pub form: Form,
    /// Arguments, clauses and attribute dictionaries in source order.
    pub args: Vec<Arg>,
    /// Types after `:` and `->`.
    pub types: Option<TypeSig>,
    /// Bodies.
    pub regions: Vec<Region>,
    /// The whole statement.
    pub span: Span,
}

/// `%name`, or `%name:pack` when one name stands for several results.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultBind {
    /// Name without `%`.
    pub name: Arc<str>,
    /// Number of results under this name, if written.
    pub pack: Option<u32>,
    /// Where it stands.
    pub span: Span,
}

/// Use of a value: `%name` or `%name#index`.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueRef {
    /// Name without `%`.
    pub name: Arc<str>,
    /// Which result of a pack.
    pub index: Option<u32>,
    /// Where it stands.
    pub span: Span,
}

/// An argument with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Arg {
    /// What it is.
    pub kind: ArgKind,
    /// A comma stood before it; only printing cares.
    pub comma: bool,
    /// Where it stands.
    pub span: Span,
}

/// Kinds of arguments, clauses and attribute values.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgKind {
    /// `%a`, `%a#1`
    Value(ValueRef),
    /// `-1`, `0x1000`. `hex` matters: a hexadecimal constant of float type gives its bits.
    Int {
        /// Value.
        value: i128,
        /// Written in hexadecimal.
        hex: bool,
    },
    /// `1.0e-3`
    Float {
        /// Nearest f64.
        value: f64,
        /// As written: rounding to f16 or f32 must start from it.
        text: Arc<str>,
    },
    /// `true`, `false`
    Bool(bool),
    /// `"PIPE_V"`, without quotes, escapes kept as written.
    Str(Arc<str>),
    /// `#pto.pipe<PIPE_V>`, `#pto<cmp lt>`, `<PIPE_V>`
    Attr(AttrRef),
    /// A keyword: `slt`, `nd2nz`, `to`, `unit`.
    Word(Arc<str>),
    /// `@name`
    Symbol(Arc<str>),
    /// `^name`
    Block(Arc<str>),
    /// `%p[%i, 0]`
    Index {
        /// What is indexed.
        base: ValueRef,
        /// Indices.
        indices: Vec<Arg>,
    },
    /// `[..]`
    List(Vec<Arg>),
    /// `addr = %a`, `shape = [..]`; with `colon`, `offset: [..]`.
    Keyed {
        /// Left side.
        key: Ident,
        /// Right side.
        value: Box<Arg>,
        /// Written with `:`.
        colon: bool,
    },
    /// `%i = %lb`: the left value is defined here.
    Bind {
        /// The defined value.
        name: ValueRef,
        /// Its initial value.
        value: Box<Arg>,
    },
    /// `ins(..)`, `nburst(..)`, or a bare `(..)`.
    Call(Call),
    /// `{key = value, ..}`
    Dict(Dict),
    /// `<{key = value}>` of the generic form.
    Props(Dict),
    /// `@tile(0x1000)`: a UB address in bytes.
    TileAt(u64),
    /// `dense<..>`, `array<..>`, `affine_map<..>`, `overflow<..>`
    Opaque {
        /// The word before `<`.
        head: Arc<str>,
        /// Text between the angle brackets, white space collapsed.
        body: Arc<str>,
    },
    /// `#atomic=add` behind an operand list, `!loc=vec` behind a value.
    Modifier {
        /// `#` or `!`.
        sigil: char,
        /// Name.
        key: Ident,
        /// Value.
        value: Box<Arg>,
    },
    /// A type used as a value.
    Type(Box<Type>),
    /// `1 : i64`
    Typed {
        /// The value.
        value: Box<Arg>,
        /// Its type.
        ty: Box<Type>,
    },
}

/// An attribute reference.
#[derive(Clone, Debug, PartialEq)]
pub struct AttrRef {
    /// Text between `#` and `<`: `pto.pipe`, `pto`; `None` when the prefix is left out.
    pub path: Option<Arc<str>>,
    /// Text between the angle brackets, white space collapsed; `None` without brackets.
    pub body: Option<Arc<str>>,
}

/// `name(args : types)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// `ins`, `nburst`, ...; `None` for bare parentheses.
    pub name: Option<Ident>,
    /// What stands inside, without the types.
    pub args: Vec<Arg>,
    /// Types inside, in order.
    pub types: Vec<Type>,
    /// Written `%a : T, %b : U` instead of `%a, %b : T, U`.
    pub each: bool,
}

/// An attribute dictionary.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dict {
    /// Entries in source order.
    pub entries: Vec<DictEntry>,
    /// From `{` to `}`.
    pub span: Span,
}

/// `key = value`, or `key` alone (a unit attribute).
#[derive(Clone, Debug, PartialEq)]
pub struct DictEntry {
    /// Key without quotes.
    pub key: Ident,
    /// Value.
    pub value: Option<Arg>,
}

/// How the parts of a signature are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SigForm {
    /// `: T, U`
    Colon,
    /// `: T, U -> V`
    ColonArrow,
    /// `: T to U`
    ColonTo,
    /// `-> V`
    Arrow,
    /// `-> V : T`
    ArrowColon,
}

/// Types of an op.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeSig {
    /// How the parts are joined.
    pub form: SigForm,
    /// Types after `:`, without keywords.
    pub operands: Vec<Type>,
    /// Types after `->` or `to`.
    pub results: Vec<Type>,
    /// Keywords between the operand types (`nd2nz`, `shape`, `loop`, ...).
    pub marks: Vec<TypeMark>,
    /// Operand types stood in parentheses.
    pub operand_parens: bool,
    /// Result types stood in parentheses.
    pub result_parens: bool,
    /// Where it stands.
    pub span: Span,
}

/// A keyword inside a type list.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeMark {
    /// Index into `operands` of the type that follows.
    pub before: usize,
    /// The keyword.
    pub word: Ident,
    /// Number of types in the parentheses behind it, if it has any: `src_layout(i64)`.
    pub group: Option<usize>,
    /// The next type follows without a comma: `shape i64`.
    pub joined: bool,
}
