//! Random trees: printing one and reading the text gives an equal tree, places aside.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use ptoemu_core::diag::{SourceFile, Span};
use ptoemu_isa::text::*;

fn ident(text: &str) -> Ident {
    Ident { text: text.into(), span: Span::default() }
}

fn plain(kind: ArgKind) -> Arg {
    Arg { kind, comma: false, span: Span::default() }
}

fn typed(kind: TypeKind) -> Type {
    Type { kind, elided: false, span: Span::default() }
}

/// Words that are no types and mean nothing to the grammar.
fn word() -> impl Strategy<Value = String> {
    "w[a-z0-9_]{0,4}"
}

fn value_ref() -> impl Strategy<Value = ValueRef> {
    ("[a-z0-9_]{1,4}(-a)?", option::of(0u32..9)).prop_map(|(name, index)| ValueRef {
        name: name.into(),
        index,
        span: Span::default(),
    })
}

fn scalar() -> impl Strategy<Value = Scalar> {
    select(
        ["f32", "bf16", "i1", "ui16", "si8", "i64", "index", "f8E4M3FN"]
            .map(|n| Scalar::from_name(n).expect("a scalar type"))
            .to_vec(),
    )
}

fn dim() -> impl Strategy<Value = Dim> {
    prop_oneof![Just(Dim::Dynamic), any::<u64>().prop_map(Dim::Static)]
}

fn space() -> impl Strategy<Value = Space> {
    select(vec![Space::Gm, Space::Ub, Space::L0a, Space::Vec, Space::Scaling])
}

fn layout() -> impl Strategy<Value = Layout> {
    select(vec![Layout::RowMajor, Layout::ColMajor, Layout::NoneBox])
}

prop_compose! {
    fn tile()(
        spelling in select(vec![
            TileSpelling::Compact, TileSpelling::Keyed, TileSpelling::Shaped,
            TileSpelling::Positional,
        ]),
        buf: bool, loc in option::of(space()), dtype in scalar(),
        (rows, cols, v_row, v_col) in (any::<u64>(), any::<u64>(), dim(), dim()),
        (blayout, slayout) in (layout(), layout()), fractal: u32,
        pad in select(vec![Pad::Null, Pad::Zero, Pad::Max, Pad::Min]),
        compact in select(vec![Compact::Null, Compact::Normal, Compact::RowPlusOne]),
        strided: bool,
    ) -> TileType {
        let loc = loc.or((spelling == TileSpelling::Compact).then_some(Space::Vec));
        let strides = (strided && spelling == TileSpelling::Shaped)
            .then(|| "strided<[4, 1], offset: ?>".into());
        TileType {
            spelling, buf, loc, dtype, rows, cols, v_row, v_col, blayout, slayout, fractal, pad,
            compact, strides,
        }
    }
}

fn flat_type() -> impl Strategy<Value = Type> {
    prop_oneof![
        scalar().prop_map(TypeKind::Scalar),
        (scalar(), option::of(space())).prop_map(|(elem, space)| TypeKind::Ptr { elem, space }),
        (select(vec![ViewKind::Tensor, ViewKind::Partition]), vec(dim(), 0..4), scalar())
            .prop_map(|(kind, dims, elem)| TypeKind::View { kind, dims, elem }),
        tile().prop_map(|t| TypeKind::Tile(Box::new(t))),
        any::<bool>().prop_map(|buf| TypeKind::TileUnknown { buf }),
        (any::<u32>(), scalar()).prop_map(|(lanes, elem)| TypeKind::Vreg { lanes, elem }),
        select(vec![None, Some(8), Some(16), Some(32)]).prop_map(|bits| TypeKind::Mask { bits }),
        Just(TypeKind::Align),
        (vec(dim(), 0..3), scalar(), any::<bool>(), any::<bool>()).prop_map(memref),
        (vec(dim(), 0..3), scalar()).prop_map(|(dims, elem)| TypeKind::Vector { dims, elem }),
        ("!x\\.[a-z]{1,4}", option::of("[a-z0-9]{1,3}( [<][a-z][>])?"))
            .prop_map(|(n, b)| TypeKind::Other { name: n.into(), body: b.map(Into::into) }),
    ]
    .prop_map(typed)
}

fn memref((dims, elem, strided, spaced): (Vec<Dim>, Scalar, bool, bool)) -> TypeKind {
    let space = AttrRef { path: Some("pto.address_space".into()), body: Some("gm".into()) };
    let layout = strided.then(|| "strided<[4, 1]>".into());
    TypeKind::MemRef { dims, elem, layout, space: spaced.then_some(space) }
}

fn any_type() -> impl Strategy<Value = Type> {
    flat_type().prop_recursive(2, 6, 2, |inner| {
        (vec(inner.clone(), 0..3), vec(inner, 0..3))
            .prop_map(|(operands, results)| typed(TypeKind::Func { operands, results }))
    })
}

fn leaf() -> impl Strategy<Value = ArgKind> {
    let float = "-?[0-9]{1,3}\\.[0-9]{0,3}(e-?[0-9])?".prop_map(|text| ArgKind::Float {
        value: text.parse().expect("a number"),
        text: text.into(),
    });
    prop_oneof![
        value_ref().prop_map(ArgKind::Value),
        (any::<i128>(), any::<bool>())
            .prop_map(|(v, hex)| ArgKind::Int { value: v.max(-i128::MAX), hex }),
        float,
        any::<bool>().prop_map(ArgKind::Bool),
        "([a-zA-Z_ <>(){}%#é/]|\\\\\")*".prop_map(|s| ArgKind::Str(s.into())),
        (option::of("pto(\\.[a-z]{1,4})?"), "[A-Z]{1,3}( [a-z])?").prop_map(|(path, body)| {
            ArgKind::Attr(AttrRef { path: path.map(Into::into), body: Some(body.into()) })
        }),
        word().prop_map(|w| ArgKind::Word(w.into())),
        "[a-z]{1,4}(::@[a-z])?".prop_map(|s| ArgKind::Symbol(s.into())),
        any::<u64>().prop_map(ArgKind::TileAt),
        (word(), "([a-z0-9]{1,3}( -> [a-z])?)?")
            .prop_map(|(h, b)| ArgKind::Opaque { head: h.into(), body: b.into() }),
    ]
}

fn dict(value: BoxedStrategy<Arg>) -> impl Strategy<Value = Dict> {
    vec(("[a-z]{1,3}(-[a-z]|\\.[a-z])?", option::of(value)), 0..3).prop_map(|entries| Dict {
        entries: entries
            .into_iter()
            .map(|(key, value)| DictEntry { key: ident(&key), value })
            .collect(),
        span: Span::default(),
    })
}

/// Values of dictionaries and elements of lists.
fn element() -> BoxedStrategy<Arg> {
    leaf()
        .prop_map(plain)
        .prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                vec(inner.clone(), 0..3).prop_map(ArgKind::List),
                dict(inner.clone().boxed()).prop_map(ArgKind::Dict),
                (leaf().prop_map(plain), any_type())
                    .prop_map(|(v, t)| ArgKind::Typed { value: Box::new(v), ty: Box::new(t) }),
            ]
            .prop_map(plain)
        })
        .boxed()
}

/// Arguments of an op or of a clause, without the clauses themselves.
fn argument() -> BoxedStrategy<ArgKind> {
    prop_oneof![
        6 => leaf(),
        1 => (value_ref(), vec(element(), 0..3))
            .prop_map(|(base, indices)| ArgKind::Index { base, indices }),
        1 => vec(element(), 0..3).prop_map(ArgKind::List),
        1 => dict(element()).prop_map(ArgKind::Dict),
        1 => (word(), leaf()).prop_map(|(k, v)| ArgKind::Keyed {
            key: ident(&k),
            value: Box::new(plain(v)),
            colon: false,
        }),
        1 => (word(), vec(element(), 0..2)).prop_map(|(k, v)| ArgKind::Keyed {
            key: ident(&k),
            value: Box::new(plain(ArgKind::List(v))),
            colon: true,
        }),
    ]
    .boxed()
}

fn with_commas(kinds: Vec<ArgKind>) -> Vec<Arg> {
    let arg = |(i, kind)| Arg { kind, comma: i > 0, span: Span::default() };
    kinds.into_iter().enumerate().map(arg).collect()
}

/// `name(a, b : T, U)`, `name(a, b)`, `name(a : T, b : U)`.
fn clause() -> impl Strategy<Value = ArgKind> {
    let untyped = vec(argument(), 0..4).prop_map(|args| (args, Vec::new(), false));
    let together = vec((argument(), any_type()), 0..4).prop_map(|pairs| {
        let (args, types) = pairs.into_iter().unzip();
        (args, types, false)
    });
    let each = vec((value_ref(), any_type()), 2..4).prop_map(|pairs| {
        let values = pairs.iter().map(|(v, _)| ArgKind::Value(v.clone())).collect();
        (values, pairs.into_iter().map(|(_, t)| t).collect(), true)
    });
    (word(), prop_oneof![untyped, together, each]).prop_map(|(name, (args, types, each))| {
        ArgKind::Call(Call { name: Some(ident(&name)), args: with_commas(args), types, each })
    })
}

fn op_args() -> impl Strategy<Value = Vec<Arg>> {
    (vec(argument(), 0..4), vec((clause(), any::<bool>()), 0..3), option::of(dict(element())))
        .prop_map(|(args, clauses, dict)| {
            let mut out = with_commas(args);
            for (kind, comma) in clauses {
                let comma = comma && !out.is_empty();
                out.push(Arg { kind, comma, span: Span::default() });
            }
            out.extend(dict.map(|d| plain(ArgKind::Dict(d))));
            out
        })
}

prop_compose! {
    fn signature()(
        form in select(vec![
            SigForm::Colon, SigForm::ColonArrow, SigForm::ColonTo, SigForm::Arrow,
            SigForm::ArrowColon,
        ]),
        mut operands in vec(any_type(), 0..4), mut results in vec(any_type(), 0..3),
        mut operand_parens: bool, mut result_parens: bool,
        marks in vec((word(), any::<bool>()), 0..3),
    ) -> TypeSig {
        let func = |t: &Type| matches!(t.kind, TypeKind::Func { .. });
        match form {
            SigForm::Arrow => operands.clear(),
            SigForm::Colon => results.clear(),
            _ => {}
        }
        operand_parens |= operands.is_empty() || operands.iter().any(func);
        result_parens |= results.is_empty() || results.iter().any(func);
        operand_parens &= form != SigForm::Arrow;
        result_parens &= form != SigForm::Colon;
        let mut out = TypeSig {
            form, operands, results, marks: Vec::new(), operand_parens, result_parens,
            span: Span::default(),
        };
        if !operand_parens && form != SigForm::Arrow {
            // One keyword before each of the first operands: alone, joined or with a group.
            for (before, (name, joined)) in marks.into_iter().enumerate() {
                let left = out.operands.len().saturating_sub(before);
                let group = (!joined && left > 0).then_some(1);
                let joined = joined && left > 0;
                let before = before.min(out.operands.len());
                out.marks.push(TypeMark { before, word: ident(&name), group, joined });
            }
        }
        out
    }
}

fn results() -> impl Strategy<Value = Vec<ResultBind>> {
    vec(("[a-z0-9_]{1,3}", option::of(any::<u32>())), 0..3).prop_map(|all| {
        let bind = |(name, pack): (String, _)| ResultBind {
            name: name.into(),
            pack,
            span: Span::default(),
        };
        all.into_iter().map(bind).collect()
    })
}

fn simple_op() -> impl Strategy<Value = Op> {
    (results(), "(pto|arith)(\\.[a-z]{1,3}){1,2}", op_args(), option::of(signature())).prop_map(
        |(results, name, args, types)| Op {
            results,
            name: ident(&name),
            form: Form::Custom,
            args,
            types,
            regions: Vec::new(),
            span: Span::default(),
        },
    )
}

fn region(op: BoxedStrategy<Op>) -> impl Strategy<Value = Region> {
    let args = vec(("[a-z]{1,3}", any_type()), 0..3);
    let block = ("b[0-9]", args, vec(op.clone(), 0..3));
    (vec(op, 0..3), vec(block, 0..2), any::<bool>()).prop_map(|(first, more, labelled)| {
        let labelled = (labelled || first.is_empty()) && !more.is_empty();
        let mut blocks = Vec::new();
        if !labelled {
            blocks.push(Block { label: None, args: Vec::new(), ops: first });
        }
        for (label, args, ops) in more {
            let args = args.into_iter().map(|(n, t)| (ident(&n), t)).collect();
            blocks.push(Block { label: Some(ident(&label)), args, ops });
        }
        Region { keyword: None, blocks, span: Span::default() }
    })
}

/// Conditionals, whose second region has a keyword, and the generic form.
fn region_op(op: BoxedStrategy<Op>) -> impl Strategy<Value = Op> {
    (results(), value_ref(), vec(region(op), 1..3), any::<bool>()).prop_map(
        |(results, condition, mut regions, generic)| {
            if let Some(second) = regions.get_mut(1).filter(|_| !generic) {
                second.keyword = Some(ident("else"));
            }
            Op {
                results,
                name: ident("scf.if"),
                form: if generic { Form::Generic } else { Form::Custom },
                args: vec![plain(ArgKind::Value(condition))],
                types: None,
                regions,
                span: Span::default(),
            }
        },
    )
}

fn any_op() -> BoxedStrategy<Op> {
    let nest = |inner: BoxedStrategy<Op>| region_op(inner);
    simple_op().boxed().prop_recursive(3, 12, 3, nest).boxed()
}

prop_compose! {
    fn func()(
        name in "[a-z ]{1,4}", private: bool,
        args in vec(("[a-z0-9]{1,3}", any_type(), option::of(dict(element()))), 0..3),
        results in vec(any_type(), 0..3), attrs in option::of(dict(element())),
        body in option::of(region(any_op())),
    ) -> Func {
        let arg = |(n, ty, attrs): (String, _, _)| FuncArg { name: Some(ident(&n)), ty, attrs };
        Func {
            name: ident(&name),
            visibility: private.then(|| ident("private")),
            args: args.into_iter().map(arg).collect(),
            results: results
                .into_iter()
                .map(|ty| FuncArg { name: None, ty, attrs: None })
                .collect(),
            attrs,
            body,
            span: Span::default(),
        }
    }
}

fn item() -> impl Strategy<Value = Item> {
    prop_oneof![any_op().prop_map(Item::Op), func().prop_map(Item::Func)].prop_recursive(
        2,
        6,
        2,
        |inner| {
            (option::of("[a-z]{1,3}"), option::of(dict(element())), vec(inner, 0..3)).prop_map(
                |(name, attrs, items)| {
                    let name = name.map(|n| ident(&n));
                    Item::Module(Module { name, attrs, items, span: Span::default() })
                },
            )
        },
    )
}

/// The tree as text, without its places.
fn shape(items: &[Item]) -> String {
    let mut text = format!("{items:?}");
    while let Some(at) = text.find("Span {") {
        let end = text[at..].find('}').map_or(text.len(), |n| at + n + 1);
        text.replace_range(at..end, "_");
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printed_trees_read_back(items in vec(item(), 0..3)) {
        let file = File { items, source: SourceFile::new("none", "") };
        let text = print(&file);
        let (again, diags) = parse(&SourceFile::new("printed", text.clone()));
        prop_assert!(diags.is_empty(), "{text}\n{:?}", diags[0].message);
        prop_assert_eq!(shape(&file.items), shape(&again.items), "{}", text);
    }
}
