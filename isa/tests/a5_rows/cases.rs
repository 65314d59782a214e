//! The programs: a body and the first elements it must leave.

use super::Case;
use ptoemu_core::dtype::DType::{self, *};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

const fn case(
    op: &'static str,
    t: DType,
    r: DType,
    body: &'static str,
    x: &'static [f64],
    y: &'static [f64],
    want: &'static [f64],
) -> Case {
    Case { op, t, r, body, x, y, want }
}

/// Programs that are refused, with the op they are about.
pub const REFUSED: &[(&str, &str)] = &[
    ("vselrv2", "%r = pto.vselrv2 %a, %b : {V}, {V} -> {V}"),
    ("vintlvv2", "%r = pto.vintlvv2 %a, %b, \"LOWER\" : {V}, {V} -> {V}"),
    ("vdintlvv2", "%r = pto.vdintlvv2 %a, %b, \"LOWER\" : {V}, {V} -> {V}"),
    (
        "vdiv",
        "%k = pto.vbr 1 : i32 -> !pto.vreg<64xi32> %r = pto.vdiv %k, %k, %all : !pto.vreg<64xi32>, !pto.vreg<64xi32>, {M} -> !pto.vreg<64xi32>",
    ),
    ("vcvt", "%r = pto.vcvt %a, %all {part = \"EVEN\"} : {V}, {M} -> !pto.vreg<256xi8>"),
];

/// Programs that fault, with words of the message.
pub const FAULTS: &[(&str, &str)] = &[
    ("%r = pto.vlds %x[%c1] : {P} -> {V}", "not a multiple of 32"),
    (
        "%far = arith.constant 65520 : index %r = pto.vlds %x[%far] : {P} -> {V}",
        "beyond the 256 KB",
    ),
    ("%r = pto.vlds %x[%c0] {dist = \"SPLT4CHN\"} : {P} -> {V}", "reported unsupported"),
    ("%r = pto.vlds %x[%c0] {dist = \"DINTLV_B32\"} : {P} -> {V}", "no distribution"),
    ("%r = pto.vlds %x[%c0] {dist = \"BLOB\"} : {P} -> {V}", "no mode"),
    ("%r = pto.vadd %a, %b : {V}, {V} -> {V}", "takes 3 operands"),
    ("%r = pto.vadd %a, %all, %all : {V}, {M}, {M} -> {V}", "expected a vector register"),
    (
        "%r = pto.vgather2 %x, %b, %all : {P}, {V}, {M} -> {V} %s = pto.vbr -1 : i32 -> !pto.vreg<64xi32> %q = pto.vgather2 %x, %s, %all : {P}, !pto.vreg<64xi32>, {M} -> {V}",
        "beyond the 256 KB",
    ),
    (
        "%al = pto.init_align : !pto.align %k = arith.constant 65 : i32 %am = pto.vstus %al, %k, %a, %o : !pto.align, i32, {V}, {Q} -> !pto.align",
        "a register holds 64",
    ),
    ("pto.mem_bar \"VLD_VLD\"", "no mode"),
    ("pto.vecscope { pto.mem_bar \"VV_ALL\" }", "a vecscope inside a vecscope"),
];

#[rustfmt::skip]
pub const CASES: &[Case] = &[
    // Predicates, seen as the bytes of their 256 bits.
    case("pset_b8", U8, U8, "%p = pto.pset_b8 \"PAT_VL3\" : {M} {STOREP}", &[], &[], &[7., 0.]),
    case("pset_b16", U16, U8, "%p = pto.pset_b16 \"PAT_M3\" : {M} {STOREP}", &[], &[], &[65., 16., 4., 65.]),
    case("pset_b32", F32, U8, "%p = pto.pset_b32 \"PAT_Q\" : {M} {STOREP}", &[], &[], &[17., 17., 17., 17., 17., 17., 17., 17., 0.]),
    case("pge_b8", U8, U8, "%p = pto.pge_b8 \"PAT_VL8\" : {M} {STOREP}", &[], &[], &[255., 0.]),
    case("pge_b16", U16, U8, "%p = pto.pge_b16 \"PAT_VL8\" : {M} {STOREP}", &[], &[], &[85., 85., 0.]),
    case("pge_b32", F32, U8, "%p = pto.pge_b32 \"PAT_VL1\" : {M} {STOREP}", &[], &[], &[1., 0.]),
    case("plt_b8", U8, U8, "%p, %n = pto.plt_b8 %i3 : i32 -> {M}, i32 {STOREP}", &[], &[], &[7., 0.]),
    case("plt_b16", U16, U8, "%k = arith.constant 130 : i32 %q, %n = pto.plt_b16 %k : i32 -> {M}, i32 %p, %e = pto.plt_b16 %n : i32 -> {M}, i32 {STOREP}", &[], &[], &[5., 0.]),
    case("plt_b32", F32, U8, "%p, %n = pto.plt_b32 %i2 : i32 -> {M}, i32 %q, %e = pto.plt_b32 %n : i32 -> {M}, i32 {STOREP}", &[], &[], &[17., 0.]),
    case("pand", F32, U8, "%q = pto.pset_b32 \"PAT_M4\" : {M} %p = pto.pand %q, %all, %some : {M}, {M}, {M} -> {M} {STOREP}", &[], &[], &[1., 0., 0.]),
    case("por", F32, U8, "%q = pto.pset_b32 \"PAT_VL1\" : {M} %p = pto.por %q, %q, %some : {M}, {M}, {M} -> {M} {STOREP}", &[], &[], &[1., 0.]),
    case("pxor", F32, U8, "%q = pto.pset_b32 \"PAT_VL1\" : {M} %p = pto.pxor %q, %all, %some : {M}, {M}, {M} -> {M} {STOREP}", &[], &[], &[16., 17., 0.]),
    case("pnot", F32, U8, "%q = pto.pset_b32 \"PAT_VL2\" : {M} %p = pto.pnot %q, %some : {M}, {M} -> {M} {STOREP}", &[], &[], &[0., 17., 0.]),
    case("psel", F32, U8, "%q = pto.pset_b32 \"PAT_VL1\" : {M} %s = pto.pset_b32 \"PAT_VL2\" : {M} %p = pto.psel %q, %some, %s : {M}, {M}, {M} -> {M} {STOREP}", &[], &[], &[1., 17., 0.]),
    case("pmov", F32, U8, "%p = pto.pmov %some : {M} -> {M} {STOREP}", &[], &[], &[17., 17., 0.]),
    case("pbitcast", F32, U8, "%p = pto.pbitcast %some : {M} -> !pto.mask<b8> {STOREP}", &[], &[], &[17., 17., 0.]),
    case("ppack", F32, U8, "%p = pto.ppack %some, \"LOWER\" : {M} -> {M} {STOREP}", &[], &[], &[0x55 as f64, 0.]),
    case("punpack", F32, U8, "%q = pto.ppack %some, \"HIGHER\" : {M} -> {M} %p = pto.punpack %q, \"HIGHER\" : {M} -> {M} {STOREP}", &[], &[], &[17., 17., 0.]),
    case("pintlv_b8", U8, U8, "%q = pto.pset_b8 \"PAT_ALLF\" : {M} %p, %h = pto.pintlv_b8 %all, %q : {M}, {M} -> {M}, {M} {STOREP}", &[], &[], &[85., 85.]),
    case("pintlv_b16", U16, U8, "%q = pto.pset_b16 \"PAT_ALLF\" : {M} %p, %h = pto.pintlv_b16 %q, %all : {M}, {M} -> {M}, {M} {STOREP}", &[], &[], &[0x44 as f64]),
    case("pintlv_b32", F32, U8, "%h, %p = pto.pintlv_b32 %all, %some : {M}, {M} -> {M}, {M} {STOREP}", &[], &[], &[1., 1.]),
    case("pdintlv_b8", U8, U8, "%q = pto.pset_b8 \"PAT_VL8\" : {M} %p, %h = pto.pdintlv_b8 %q, %q : {M}, {M} -> {M}, {M} {STOREP}", &[], &[], &[15., 0.]),
    case("pdintlv_b16", U16, U8, "%q = pto.pset_b16 \"PAT_VL3\" : {M} %h, %p = pto.pdintlv_b16 %q, %q : {M}, {M} -> {M}, {M} {STOREP}", &[], &[], &[1., 0.]),
    case("pdintlv_b32", F32, U8, "%p, %h = pto.pdintlv_b32 %some, %all : {M}, {M} -> {M}, {M} {STOREP}", &[], &[], &[17., 0.]),
    case("plds", U8, U8, "%p = pto.plds %x[%c0], \"US\" : {P}, index -> {M} {STOREP}", &[5., 128.], &[], &[51., 0., 0., 192., 0.]),
    case("pldi", U8, U8, "%p = pto.pldi %x[%c0], \"DS\" : {P}, index -> {M} {STOREP}", &[0x15 as f64, 0xFE as f64], &[], &[0xE7 as f64, 0.]),
    case("psts", U8, U8, "%p = pto.plds %x[%c0], \"NORM\" : {P}, index -> {M} pto.psts %p, %o[%c0], \"PK\" : {M}, {Q}, index", &[0x15 as f64, 0xFF as f64], &[], &[0xF7 as f64, 0.]),
    case("psti", U8, U8, "pto.psti %some, %o[%c0], \"NORM\" : {M}, {Q}, index", &[], &[], &[15., 0.]),
    case("pstu", U32, U32, "%l = pto.init_align : !pto.align %l2, %q = pto.pstu %l, %some, %o : !pto.align, {M}, {Q} -> !pto.align, {Q} %l3, %q2 = pto.pstu %l2, %all, %q : !pto.align, {M}, {Q} -> !pto.align, {Q} pto.vstas %l3, %q2, %i0 : !pto.align, {Q}, i32", &[], &[], &[15., 0., 4294967295., 4294967295., 0x77777777_u32 as f64]),

    // Memory.
    case("vlds", F16, F16, "%r = pto.vlds %x[%c0] {dist = \"UNPK_B16\"} : {P} -> {V} {STORE}", &[1., 2.], &[], &[1., 0., 2., 0.]),
    case("vlds", F16, F16, "%r = pto.vlds %x[%c0] {dist = \"US_B16\"} : {P} -> {V} {STORE}", &[1., 2.], &[], &[1., 1., 2., 2.]),
    case("vlds", F16, F16, "%r = pto.vlds %x[%c0] {dist = \"DS_B16\"} : {P} -> {V} {STORE}", &[1., 2., 3., 4.], &[], &[1., 3., 0.]),
    case("vlds", F32, F32, "%r = pto.vlds %x[%c0] {dist = \"E2B_B32\"} : {P} -> {V} {STORE}", &[1., 2.], &[], &[1., 1., 1., 1., 1., 1., 1., 1., 2., 2.]),
    case("vlds", F16, F16, "%r = pto.vlds %x[%c0] {dist = \"E2B_B16\"} : {P} -> {V} {STORE}", &[1., 2.], &[], &[1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 2.]),
    case("vlds", U8, U8, "%r = pto.vlds %x[%c0] {dist = \"UNPK4_B8\"} : {P} -> {V} {STORE}", &[1., 2.], &[], &[1., 0., 0., 0., 2., 0.]),
    case("vlds", F32, F32, "%r = pto.vlds %x[%c0] {dist = \"BLK\"} : {P} -> {V} {STORE}", &[1., 2.], &[], &[1., 2., 0., 0., 0., 0., 0., 0., 1., 2.]),
    case("vlds", F32, F32, "%r = pto.vlds %x[%c1] {dist = \"BRC_B32\"} : {P} -> {V} {STORE}", &[1., 2.], &[], &[2., 2., 2.]),
    case("vldi", F32, F32, "%r = pto.vldi %x[%c0] : {P} -> {V} {STORE}", &[1., 2.], &[], &[1., 2., 0.]),
    case("vldsx2", F32, F32, "%l, %r = pto.vldsx2 %x[%c0], \"DINTLV_B32\" : {P}, index -> {V}, {V} {STORE}", &[1., 2., 3., 4.], &[], &[2., 4., 0.]),
    case("vldsx2", F32, F32, "%l, %r = pto.vldsx2 %x[%c0], \"BDINTLV\" : {P}, index -> {V}, {V} {STORE}", &[1., 1., 1., 1., 1., 1., 1., 1., 2., 3.], &[], &[2., 3., 0.]),
    case("vldas", F32, F32, "%p = pto.addptr %x, %c1 : {P} -> {P} %l = pto.vldas %p : {P} -> !pto.align %r, %l2 = pto.vldus %p, %l : {P}, !pto.align -> {V}, !pto.align {STORE}", &[1., 2., 3.], &[], &[2., 3., 0.]),
    case("vldus", U8, U8, "%p = pto.addptr %x, %c2 : {P} -> {P} %l = pto.vldas %p : {P} -> !pto.align %r, %l2 = pto.vldus %p, %l : {P}, !pto.align -> {V}, !pto.align {STORE}", &[1., 2., 3., 4.], &[], &[3., 4., 0.]),
    case("vsldb", F32, F32, "%r = pto.vsldb %x, %h2, %h1, %all : {P}, i16, i16, {M} -> {V} {STORE}", &[0., 0., 0., 0., 0., 0., 0., 0., 5., 0., 0., 0., 0., 0., 0., 0., 6., 0., 0., 0., 0., 0., 0., 0., 7.], &[], &[5., 0., 0., 0., 0., 0., 0., 0., 7.]),
    case("vsts", F32, F32, "pto.vsts %a, %o[%c0], %some : {V}, {Q}, {M}", &[1., 2., 3., 4., 5.], &[], &[1., 2., 3., 4.]),
    case("vsts", F32, F32, "pto.vsts %a, %o[%c1], %some {dist = \"ONEPT_B32\"} : {V}, {Q}, {M} pto.vsts %b, %o[%c0], %some {dist = \"1PT_B32\"} : {V}, {Q}, {M}", &[1., 2.], &[9.], &[9., 1.]),
    case("vsts", U16, U8, "pto.vsts %a, %o[%c0], %some {dist = \"PK_B16\"} : {V}, {Q}, {M}", &[257., 2., 3., 4., 5.], &[], &[1., 2., 3., 4., 0x77 as f64]),
    case("vsts", U32, U8, "pto.vsts %a, %o[%c0], %some {dist = \"PK4_B32\"} : {V}, {Q}, {M}", &[257., 2., 3., 4., 5.], &[], &[1., 2., 3., 4., 0x77 as f64]),
    case("vsti", F32, F32, "pto.vsti %a, %o[%c0], %all : {V}, {Q}, {M}", &[1., 2.], &[], &[1., 2., 0.]),
    case("vstsx2", F32, F32, "pto.vstsx2 %a, %b, %o[%c0], \"INTLV_B32\", %some : {V}, {V}, {Q}, index, {M}", &[1., 2.], &[3., 4.], &[1., 3., 2., 4., 0.]),
    case("vsstb", F32, F32, "pto.vsstb %a, %o, %h1, %h1, %all : {V}, {Q}, i16, i16, {M} %r = pto.vsldb %o, %h1, %h1, %all : {Q}, i16, i16, {M} -> {V} {STORE}", &[1., 2.], &[], &[1., 2., 0.]),
    case("init_align", F32, F32, "%l = pto.init_align : !pto.align %l2 = pto.vstus %l, %i2, %a, %o : !pto.align, i32, {V}, {Q} -> !pto.align pto.vstas %l2, %o, %i2 : !pto.align, {Q}, i32", &[1., 2., 3.], &[], &[1., 2.]),
    case("vstus", U8, U8, "%p = pto.addptr %o, %c1 : {Q} -> {Q} %l = pto.init_align : !pto.align %l2 = pto.vstus %l, %i3, %a, %p : !pto.align, i32, {V}, {Q} -> !pto.align pto.vstas %l2, %p, %i3 : !pto.align, {Q}, i32", &[1., 2., 3., 4.], &[], &[119., 1., 2., 3., 119.]),
    case("vstas", U8, U8, "%l = pto.init_align : !pto.align %l2 = pto.vstus %l, %i2, %a, %o : !pto.align, i32, {V}, {Q} -> !pto.align pto.vstas %l2, %o, %i2 : !pto.align, {Q}, i32", &[1., 2., 3.], &[], &[1., 2., 119.]),
    case("vstur", U32, U32, "pto.sprclr \"AR\" %s = pto.vsqz %a, %some : {V}, {M} -> {V} %l = pto.init_align : !pto.align %l2 = pto.vstur %l, %s, %o, \"POST_UPDATE\" : !pto.align, {V}, {Q} -> !pto.align %l3 = pto.vstur %l2, %s, %o, \"POST_UPDATE\" : !pto.align, {V}, {Q} -> !pto.align pto.vstar %l3, %o : !pto.align, {Q}", &[1., 2., 3., 4., 5.], &[], &[1., 2., 3., 4., 1., 2., 3., 4., 0x77777777_u32 as f64]),
    case("vstar", U32, U32, "pto.sprclr \"AR\" %s = pto.vsqz %a, %some : {V}, {M} -> {V} %l = pto.init_align : !pto.align %l2 = pto.vstur %l, %s, %o, \"NO_POST_UPDATE\" : !pto.align, {V}, {Q} -> !pto.align %l3 = pto.vstur %l2, %a, %o, \"POST_UPDATE\" : !pto.align, {V}, {Q} -> !pto.align pto.vstar %l3, %o : !pto.align, {Q}", &[1., 2., 3., 4., 5.], &[], &[1., 2., 3., 4., 0x77777777_u32 as f64]),
    case("vgather2", U32, U32, "%r = pto.vgather2 %x, %b, %some : {P}, {V}, {M} -> {V} {STORE}", &[10., 11., 12., 13.], &[3., 1., 1., 0., 2.], &[13., 11., 11., 10., 0.]),
    case("vgather2_bc", U16, U16, "%r = pto.vgather2_bc %x, %b, %some : {P}, {V}, {M} -> {V} {STORE}", &[10., 11., 12., 13.], &[3., 1., 1., 0., 2.], &[13., 11., 11., 10., 0.]),
    case("vgatherb", U32, U32, "%r = pto.vgatherb %x, %b, %some : {P}, {V}, {M} -> {V} {STORE}", &[1., 0., 0., 0., 0., 0., 0., 0., 2.], &[32., 0., 32., 0.], &[2., 0., 0., 0., 0., 0., 0., 0., 1.]),
    case("vscatter", U32, U32, "pto.vscatter %a, %o, %b, %some : {V}, {Q}, {V}, {M}", &[10., 11., 12., 13., 14.], &[3., 1., 1., 0., 2.], &[13., 12., 0x77777777_u32 as f64, 10.]),

    // Arithmetic.
    case("vadd", I8, I8, "%r = pto.vadd %a, %b, %some : {V}, {V}, {M} -> {V} {STORE}", &[127., -128., 3., 4., 5.], &[1., -1., 4., 5., 6.], &[-128., 127., 7., 9., 0.]),
    case("vadd", F16, F16, "%r = pto.vadd %a, %b, %some : {V}, {V}, {M} -> {V} {STORE}", &[65504., INF, 1.], &[65504., -INF, 2.], &[INF, NAN, 3., 0.]),
    case("vsub", U16, U16, "%r = pto.vsub %a, %b, %some : {V}, {V}, {M} -> {V} {STORE}", &[0., 5.], &[1., 2.], &[65535., 3., 0.]),
    case("vmul", I32, I32, "%r = pto.vmul %a, %b, %some : {V}, {V}, {M} -> {V} {STORE}", &[65536., -3.], &[65536., 5.], &[0., -15., 0.]),
    case("vmul", BF16, BF16, "%r = pto.vmul %a, %b, %some : {V}, {V}, {M} -> {V} {STORE}", &[3., 1.5], &[3., 2.], &[9., 3., 0.]),
    case("vdiv", F32, F32, "%r = pto.vdiv %a, %b, %some : {V}, {V}, {M} -> {V} {STORE}", &[1., 0., 1., 3.], &[0., 0., 4., -2.], &[INF, NAN, 0.25, -1.5, 0.]),
    case("vmax", F32, F32, "%r = pto.vmax %a, %b, %some : {V}, {V}, {M} -> {V} {STORE}", &[NAN, 1., -0.0, 2.], &[1., NAN, 0.0, 3.], &[NAN, NAN, 0., 3., 0.]),
    case("vmin", I8, I8, "%r = pto.vmin %a, %b, %some : {V}, {V}, {M} -> {V} {STORE}", &[-128., 5.], &[127., 4.], &[-128., 4., 0.]),
    case("vadds", I16, I16, "%k = arith.constant 5 : i16 %r = pto.vadds %a, %k, %some : {V}, i16, {M} -> {V} {STORE}", &[32767., 1.], &[], &[-32764., 6., 5., 5., 0.]),
    case("vmuls", F32, F32, "%k = arith.constant 2.5 : f32 %r = pto.vmuls %a, %k, %some : {V}, f32, {M} -> {V} {STORE}", &[2., -2.], &[], &[5., -5., 0.]),
    case("vmaxs", U8, U8, "%k = arith.constant -56 : i8 %r = pto.vmaxs %a, %k, %some : {V}, i8, {M} -> {V} {STORE}", &[255., 1.], &[], &[255., 200., 200., 200., 0.]),
    case("vmins", F16, F16, "%k = arith.constant 1.0 : f16 %r = pto.vmins %a, %k, %some : {V}, f16, {M} -> {V} {STORE}", &[2., NAN, -1.], &[], &[1., NAN, -1., 0., 0.]),
    case("vabs", I16, I16, "%r = pto.vabs %a, %some : {V}, {M} -> {V} {STORE}", &[-32768., -5., 5.], &[], &[-32768., 5., 5., 0.]),
    case("vneg", F32, F32, "%r = pto.vneg %a, %some : {V}, {M} -> {V} {STORE}", &[0., -INF, 2.], &[], &[-0.0, INF, -2.]),
    case("vrelu", I32, I32, "%r = pto.vrelu %a, %some : {V}, {M} -> {V} {STORE}", &[-5., 5.], &[], &[0., 5., 0.]),
    case("vlrelu", F32, F32, "%k = arith.constant 0.5 : f32 %r = pto.vlrelu %a, %k, %some : {V}, f32, {M} -> {V} {STORE}", &[-4., 4., NAN], &[], &[-2., 4., NAN, 0.]),
    case("vprelu", F16, F16, "%r = pto.vprelu %a, %b, %some : {V}, {V}, {M} -> {V} {STORE}", &[-4., 4.], &[0.25, 9.], &[-1., 4., 0.]),
    case("vmula", F32, F32, "%c = pto.vbr 1.0 : f32 -> {V} %r = pto.vmula %c, %a, %b, %some : {V}, {V}, {V}, {M} -> {V} {STORE}", &[2., 3.], &[4., -1.], &[9., -2., 1., 1., 0.]),
    case("vmula", F32, F32, "%n = pto.vmul %a, %a, %all : {V}, {V}, {M} -> {V} %m = pto.vneg %n, %all : {V}, {M} -> {V} %r = pto.vmula %m, %a, %a, %some : {V}, {V}, {V}, {M} -> {V} {STORE}", &[1.000_000_119_209_289_6], &[], &[1.421_085_471_520_200_4e-14, 0.]),
    case("vmadd", F16, F16, "%c = pto.vbr 2.0 : f16 -> {V} %r = pto.vmadd %c, %a, %b, %some : {V}, {V}, {V}, {M} -> {V} {STORE}", &[2., 3.], &[4., -1.], &[8., 5., 0.]),
    case("vaxpy", F32, F32, "%k = arith.constant 0.5 : f32 %r = pto.vaxpy %a, %b, %k, %some : {V}, {V}, f32, {M} -> {V} {STORE}", &[2., 4.], &[1., 1.], &[2., 3., 0.]),
    case("vexp", F32, F32, "%r = pto.vexp %a, %some : {V}, {M} -> {V} {STORE}", &[0., -INF, INF, 1.], &[], &[1., 0., INF, std::f64::consts::E]),
    case("vln", F32, F32, "%r = pto.vln %a, %some : {V}, {M} -> {V} {STORE}", &[0., -1., 1., INF], &[], &[-INF, NAN, 0., INF]),
    case("vsqrt", F16, F16, "%r = pto.vsqrt %a, %some : {V}, {M} -> {V} {STORE}", &[4., -1., 0., 2.25], &[], &[2., NAN, 0., 1.5]),
    case("vrec", F32, F32, "%r = pto.vrec %a, %some : {V}, {M} -> {V} {STORE}", &[4., 0., INF, -8.], &[], &[0.25, INF, 0., -0.125]),
    case("vrsqrt", F32, F32, "%r = pto.vrsqrt %a, %some : {V}, {M} -> {V} {STORE}", &[4., 1., 16., 64.], &[], &[0.5, 1., 0.25, 0.125]),
    case("vexpdif", F32, F32, "%r = pto.vexpdif %a, %b, %some, \"ODD\" : {V}, {V}, {M} -> {V} {STORE}", &[3., INF, 1.], &[3., INF, 2.], &[1., NAN, 0.367_879_441_171_442_33]),
    case("vexpdif", F16, F32, "%r = pto.vexpdif %a, %b, %some, \"ODD\" : {V}, {V}, {M} -> {W} {STORE}", &[9., 3., 9., 5., 1., 1.], &[9., 3., 9., 5.], &[1., 1., 0., 0.]),
    case("vaddc", U32, U8, "%r, %p = pto.vaddc %a, %b, %some : {V}, {V}, {M} -> {V}, {M} {STOREP}", &[4294967295., 1.], &[1., 1.], &[1., 0.]),
    case("vaddcs", U32, U32, "%r, %p = pto.vaddcs %a, %b, %some, %all : {V}, {V}, {M}, {M} -> {V}, {M} {STORE}", &[4294967295., 1., 0., 0., 7.], &[0., 1.], &[0., 3., 1., 1., 7.]),
    case("vsubc", U32, U8, "%r, %p = pto.vsubc %a, %b, %some : {V}, {V}, {M} -> {V}, {M} {STOREP}", &[0., 5.], &[1., 5.], &[16., 17., 0.]),
    case("vsubcs", U32, U32, "%r, %p = pto.vsubcs %a, %b, %some, %all : {V}, {V}, {M}, {M} -> {V}, {M} {STORE}", &[5., 0., 0., 0., 9.], &[2., 0.], &[3., 0., 0., 0., 8.]),
    case("vmull", I32, I32, "%l, %r = pto.vmull %a, %b, %some : {V}, {V}, {M} -> {V}, {V} {STORE}", &[-1., 2147483647.], &[1., 2147483647.], &[-1., 1073741823., 0.]),
    case("vci", I8, I8, "%k = arith.constant 126 : i8 %r = pto.vci %k {order = \"ASC\"} : i8 -> {V} {STORE}", &[], &[], &[126., 127., -128.]),
    case("vci", F16, F16, "%k = arith.constant 1.0 : f16 %r = pto.vci %k {order = \"DESC\"} : f16 -> {V} {STORE}", &[], &[], &[1., 0., -1.]),

    // Bits.
    case("vand", F32, F32, "%r = pto.vand %a, %b, %some : {V}, {V}, {M} -> {V} {STORE}", &[1.5, 1.], &[1., -1.], &[1., 1., 0.]),
    case("vor", U16, U16, "%r = pto.vor %a, %b, %some : {V}, {V}, {M} -> {V} {STORE}", &[5., 1.], &[2., 1.], &[7., 1., 0.]),
    case("vxor", U8, U8, "%r = pto.vxor %a, %b, %some : {V}, {V}, {M} -> {V} {STORE}", &[5., 255.], &[2., 1.], &[7., 254., 0.]),
    case("vnot", U8, U8, "%r = pto.vnot %a, %some : {V}, {M} -> {V} {STORE}", &[5., 255.], &[], &[250., 0., 255., 255., 0.]),
    case("vshl", U16, U16, "%r = pto.vshl %a, %b, %some : {V}, {V}, {M} -> {V} {STORE}", &[3., 1., 1.], &[1., 15., 16.], &[6., 32768., 0.]),
    case("vshr", I16, I16, "%r = pto.vshr %a, %b, %some : {V}, {V}, {M} -> {V} {STORE}", &[-8., 8., -8.], &[1., 1., 99.], &[-4., 4., -1.]),
    case("vshls", U32, U32, "%k = arith.constant 4 : i32 %r = pto.vshls %a, %k, %some : {V}, i32, {M} -> {V} {STORE}", &[3., 268435456.], &[], &[48., 0., 0.]),
    case("vshrs", U8, U8, "%k = arith.constant 4 : i8 %r = pto.vshrs %a, %k, %some : {V}, i8, {M} -> {V} {STORE}", &[255., 16.], &[], &[15., 1., 0.]),
    case("vbcnt", U16, U16, "%r = pto.vbcnt %a, %some : {V}, {M} -> {V} {STORE}", &[65535., 5.], &[], &[16., 2., 0.]),
    case("vcls", I8, I8, "%r = pto.vcls %a, %some : {V}, {M} -> {V} {STORE}", &[-1., 1., 64., -64.], &[], &[7., 6., 0., 1.]),

    // Compare and select.
    case("vcmp", F32, U8, "%p = pto.vcmp %a, %b, %some, \"ne\" : {V}, {V}, {M} -> {M} {STOREP}", &[NAN, 1., 1., 2., 3.], &[NAN, 1., 2., 2.], &[1., 1., 0.]),
    case("vcmp", F32, U8, "%p = pto.vcmp_ge %a, %b, %some : {V}, {V}, {M} -> {M} {STOREP}", &[NAN, 1., 1., 2.], &[NAN, 1., 2., 2.], &[16., 16., 0.]),
    case("vcmps", U16, U8, "%k = arith.constant -1 : i16 %p = pto.vcmps %a, %k, %some, \"lt\" : {V}, i16, {M} -> {M} {STOREP}", &[65535., 1., 2., 65535.], &[], &[20., 0.]),
    case("vsel", I16, I16, "%r = pto.vsel %a, %b, %some : {V}, {V}, {M} -> {V} {STORE}", &[1., 2., 3., 4., 5.], &[6., 7., 8., 9., 10.], &[1., 2., 3., 4., 10.]),
    case("vselr", U8, U8, "%r = pto.vselr %a, %b : {V}, {V} -> {V} {STORE}", &[10., 11., 12.], &[2., 2., 0., 1.], &[12., 12., 10., 11., 10.]),
    case("vbr", I8, I8, "%r = pto.vbr -7 : i8 -> {V} {STORE}", &[], &[], &[-7., -7.]),
    case("vdup", F32, F32, "%r = pto.vdup %a, %some {position = \"LOWEST\"} : {V}, {M} -> {V} {STORE}", &[3., 4.], &[], &[3., 3., 3., 3., 0.]),
    case("vdup", F16, F16, "%k = arith.constant 2.0 : f16 %r = pto.vdup %k, %some : f16, {M} -> {V} {STORE}", &[], &[], &[2., 2., 2., 2., 0.]),

    // Reductions.
    case("vcadd", F32, F32, "%r = pto.vcadd %a, %some : {V}, {M} -> {V} {STORE}", &[1., 2., 3., 4., 5.], &[], &[10., 0.]),
    case("vcadd", I16, I32, "%r = pto.vcadd %a, %some : {V}, {M} -> {W} {STORE}", &[32767., 32767., 1., 0., 5.], &[], &[65535., 0.]),
    case("vcadd", F16, F16, "%r = pto.vcadd %a, %all : {V}, {M} -> {V} {STORE}", &[2048., 1., 1., 0.], &[], &[2048., 0.]),
    case("vcmax", F32, U32, "%v = pto.vcmax %a, %some : {V}, {M} -> {V} %r = pto.vbitcast %v : {V} -> {W} {STORE}", &[1., 4., 4., 2., 9.], &[], &[1082130432., 1., 0.]),
    case("vcmax", F32, F32, "%r = pto.vcmax %a, %some : {V}, {M} -> {V} {STORE}", &[1., NAN], &[], &[NAN]),
    case("vcmin", I16, I16, "%r = pto.vcmin %a, %some : {V}, {M} -> {V} {STORE}", &[1., 4., -4., -4., -9.], &[], &[-4., 2., 0.]),
    case("vcmin", U16, U16, "%q = pto.pset_b16 \"PAT_ALLF\" : {M} %r = pto.vcmin %a, %q : {V}, {M} -> {V} {STORE}", &[1.], &[], &[65535., 0.]),
    case("vcgadd", F32, F32, "%r = pto.vcgadd %a, %all : {V}, {M} -> {V} {STORE}", &[1., 2., 3., 4., 5., 6., 7., 8., 9.], &[], &[36., 9., 0.]),
    case("vcgmax", I32, I32, "%r = pto.vcgmax %a, %some : {V}, {M} -> {V} {STORE}", &[-5., -2., -3., -4., 5.], &[], &[-2., -2147483648.]),
    case("vcgmin", F16, F16, "%r = pto.vcgmin %a, %all : {V}, {M} -> {V} {STORE}", &[1., -2.], &[], &[-2., 0., 0., 0., 0., 0., 0., 0., 0.]),
    case("vcpadd", F32, F32, "%r = pto.vcpadd %a, %some : {V}, {M} -> {V} {STORE}", &[1., 2., 3., 4., 5.], &[], &[3., 7., 0.]),

    // Conversion.
    case("vcvt", F32, F16, "%r = pto.vcvt %a, %some {rnd = \"R\", sat = \"SAT\", part = \"ODD\"} : {V}, {M} -> {W} {STORE}", &[INF, NAN, 2049., 1., 3.], &[], &[0., 65504., 0., 0., 0., 2048., 0., 1., 0., 0.]),
    case("vcvt", F32, F16, "%r = pto.vcvt %a, %some {rnd = \"A\", part = \"EVEN\"} : {V}, {M} -> {W} {STORE}", &[INF, NAN, 2049., 1.], &[], &[INF, 0., NAN, 0., 2050., 0., 1.]),
    case("vcvt", I32, I16, "%r = pto.vcvt %a, %some {sat = \"NOSAT\", part = \"EVEN\"} : {V}, {M} -> {W} {STORE}", &[65537., -1.], &[], &[1., 0., -1., 0.]),
    case("vcvt", U32, U8, "%r = pto.vcvt %a, %some {sat = \"SAT\", part = \"P2\"} : {V}, {M} -> {W} {STORE}", &[300., 7.], &[], &[0., 0., 255., 0., 0., 0., 7., 0.]),
    case("vcvt", F16, F32, "%r = pto.vcvt %a, %some {part = \"ODD\"} : {V}, {M} -> {W} {STORE}", &[1., 2., 3., 4., 5., 6.], &[], &[2., 4., 0.]),
    case("vcvt", I64, F32, "%r = pto.vcvt %a, %some {rnd = \"Z\", part = \"EVEN\"} : {V}, {M} -> {W} {STORE}", &[16777217., -2.], &[], &[16777216., 0., -2., 0.]),
    case("vtrc", F32, F32, "%r = pto.vtrc %a, %some, \"F\" : {V}, {M} -> {V} {STORE}", &[-1.5, INF, -0.0, 2.9], &[], &[-2., INF, -0.0, 2.]),

    // Rearrangement.
    case("vintlv", F32, F32, "%r, %h = pto.vintlv %a, %b : {V}, {V} -> {V}, {V} {STORE}", &[1., 2.], &[3., 4.], &[1., 3., 2., 4., 0.]),
    case("vdintlv", U8, U8, "%h, %r = pto.vdintlv %a, %b : {V}, {V} -> {V}, {V} {STORE}", &[1., 2., 3., 4.], &[5., 6.], &[2., 4., 0.]),
    case("vpack", I32, U16, "%r = pto.vpack %a, \"LOWER\" : {V} -> {W} {STORE}", &[65537., -1.], &[], &[1., 65535., 0.]),
    case("vsunpack", I16, I32, "%r = pto.vsunpack %a, %c0 : {V}, index -> {W} {STORE}", &[-5., 5.], &[], &[-5., 5., 0.]),
    case("vzunpack", U8, U16, "%k = arith.constant 511 : i16 %l = pto.vbr %k : i16 -> {W} %w = pto.vpack %l, \"HIGHER\" : {W} -> {V} %r = pto.vzunpack %w, %c1 : {V}, index -> {W} {STORE}", &[], &[], &[255., 255.]),
    case("vsqz", U16, U16, "%q = pto.pset_b16 \"PAT_M3\" : {M} %r = pto.vsqz %a, %q : {V}, {M} -> {V} {STORE}", &[1., 2., 3., 4.], &[], &[1., 4., 0.]),
    case("vusqz", U32, U32, "%q = pto.pset_b32 \"PAT_M4\" : {M} %r = pto.vusqz %a, %q : {V}, {M} -> {V} {STORE}", &[], &[], &[0., 1., 1., 1., 1., 2.]),
    case("vmov", F32, F32, "%r = pto.vmov %a, %some : {V}, {M} -> {V} {STORE}", &[1., 2., 3., 4., 5.], &[], &[1., 2., 3., 4., 0.]),
    case("vbitcast", F32, I32, "%r = pto.vbitcast %a : {V} -> {W} {STORE}", &[1.], &[], &[1065353216., 0.]),
    case("chistv2", U8, U16, "%k = arith.constant 1 : i16 %h = pto.vbr %k : i16 -> {W} %r = pto.chistv2 %h, %a, %some, \"Bin_N0\" : {W}, {V}, {M} -> {W} {STORE}", &[1., 1., 3., 200.], &[], &[1., 3., 3., 4., 4.]),
    case("dhistv2", U8, U16, "%k = arith.constant 0 : i16 %h = pto.vbr %k : i16 -> {W} %r = pto.dhistv2 %h, %a, %some, \"Bin_N0\" : {W}, {V}, {M} -> {W} {STORE}", &[1., 1., 3., 200.], &[], &[0., 2., 0., 1., 0.]),

    // Sorting and special registers.
    case("vbitsort", F32, U32, "pto.vbitsort %o, %x, %y, %c1 : {Q}, {P}, {P}, index", &[-1., 5., 5., 0.], &[], &[1084227584., 0., 1084227584., 0., 0., 0.]),
    case("vmrgsort4", F32, F32, "%n = arith.constant 65537 : i64 %f = arith.constant 769 : i64 pto.vmrgsort4 %o, %x, %y, %x, %x, %n, %f : {Q}, {P}, {P}, {P}, {P}, i64, i64", &[1., 0.], &[2., 0.], &[2., 0., 1., 0.]),
    case("get_vms4_sr", F32, I16, "%n = arith.constant 65537 : i64 %f = arith.constant 4865 : i64 %d = pto.addptr %y, %c0 : {P} -> {P} pto.vmrgsort4 %y, %x, %y, %x, %x, %n, %f : {P}, {P}, {P}, {P}, {P}, i64, i64 %p0, %p1, %p2, %p3 = pto.get_vms4_sr : i16, i16, i16, i16 %r = pto.vbr %p1 : i16 -> {W} {STORE}", &[1., 0.], &[2., 0.], &[1., 1.]),
    case("sprclr", U32, U32, "%s = pto.vsqz %a, %some : {V}, {M} -> {V} %l = pto.init_align : !pto.align %l2 = pto.vstur %l, %s, %o, \"POST_UPDATE\" : !pto.align, {V}, {Q} -> !pto.align pto.sprclr \"AR\" %l3 = pto.vstur %l2, %b, %o, \"POST_UPDATE\" : !pto.align, {V}, {Q} -> !pto.align pto.vstar %l3, %o : !pto.align, {Q}", &[1., 2., 3., 4.], &[9., 9., 9., 9.], &[9., 9., 9., 9., 0x77777777_u32 as f64]),
    case("mem_bar", F32, F32, "pto.vsts %a, %o[%c0], %all : {V}, {Q}, {M} pto.mem_bar \"VST_VLD\" %r = pto.vlds %o[%c0] : {Q} -> {V} {STORE}", &[3.], &[], &[3., 0.]),
];
