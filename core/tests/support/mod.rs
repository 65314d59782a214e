//! Streams written by hand: a small table of instruction forms, enough for the timing tests.
#![allow(dead_code)]

use ptoemu_core::access::{Lanes, Role, Space, Walk};
use ptoemu_core::catalogue::{Catalogue, Entry};
use ptoemu_core::diag::{SourceFile, Span};
use ptoemu_core::dtype::DType;
use ptoemu_core::mask::Mask;
use ptoemu_core::stream::*;
use ptoemu_core::target::Target;
use std::sync::Arc;

/// Mnemonics of the tests, in the order of their ids.
pub const VECTOR: &[&str] = &[
    "vadd",
    "vsub",
    "vmul",
    "vdiv",
    "vmax",
    "vmin",
    "vexp",
    "vsqrt",
    "vrsqrt",
    "vabs",
    "vadds",
    "vmuls",
    "vmins",
    "vcmax",
    "vcmin",
    "vcadd",
    "vcgmax",
    "vcgmin",
    "vcgadd",
    "vector_dup",
    "vbrcb",
    "copy_ubuf_to_ubuf",
];

pub fn catalogue() -> Arc<Catalogue> {
    let dtypes = vec![DType::F32, DType::F16, DType::I32, DType::I16];
    let of = |m: &'static str, pipe, kind| Entry {
        mnemonic: m,
        dtypes: match m {
            "vadd" | "vsub" | "vmul" | "vmax" | "vmin" | "vadds" | "vmuls" | "vmins"
            | "vector_dup" | "vbrcb" | "copy_ubuf_to_ubuf" => dtypes.clone(),
            _ => vec![DType::F32, DType::F16],
        },
        pipe,
        kind,
        cost_class: m,
    };
    let kind = |m| if m == "copy_ubuf_to_ubuf" { Kind::Copy } else { Kind::Vector };
    Arc::new(Catalogue(VECTOR.iter().map(|m| of(m, Pipe::V, kind(*m))).collect()))
}

pub fn source(name: &str) -> Option<Arc<SourceFile>> {
    let text = match name {
        "a2" => include_str!("../../../targets/a2.ron"),
        "a3" => include_str!("../../../targets/a3.ron"),
        "dav-2201" => include_str!("../../../targets/dav-2201.ron"),
        "950pr" => include_str!("../../../targets/950pr.ron"),
        "950dt" => include_str!("../../../targets/950dt.ron"),
        "dav-3510" => include_str!("../../../targets/dav-3510.ron"),
        _ => return None,
    };
    Some(SourceFile::new(format!("{name}.ron"), text))
}

/// A shipped target with the test's catalogue in place of the real one. The catalogue is a part
/// of the family's, so names are checked elsewhere.
pub fn target(name: &str) -> Target {
    let file = source(name).unwrap();
    let all = Target::load(&file, &source, Arc::default()).unwrap_or_else(|e| panic!("{e:?}"));
    all.with_catalogue(catalogue())
}

pub fn op(name: &str) -> OpId {
    OpId(VECTOR.iter().position(|m| *m == name).unwrap_or_else(|| panic!("no {name}")) as u16)
}

/// One operand: address, block stride, repeat stride, both in blocks.
pub type Operand = (u64, i32, i64);

/// Builds a stream under a current mask.
pub struct Builder {
    pub stream: Stream,
    pub count: bool,
    pub mask: (u64, u64),
    flags: Vec<(Flag, u32)>,
}

impl Default for Builder {
    fn default() -> Self {
        Builder { stream: Stream::default(), count: false, mask: (!0, !0), flags: Vec::new() }
    }
}

impl Builder {
    fn record(&mut self, kind: Kind, pipe: Pipe) -> Record {
        let site = SiteId(self.stream.sites.intern(Site { span: Span::default(), file: 0 }));
        let shape = ShapeId(self.stream.shapes.intern(Shape::default()));
        let lanes = LanesId(self.stream.lanes.intern(Lanes::All));
        Record {
            base: [0; 3],
            op: OpId(0),
            dtype: DType::F32,
            pipe,
            kind,
            marks: Marks::default(),
            repeats: 0,
            shape,
            lanes,
            site,
            group: NONE,
            link: 0,
            flag: [0; 3],
        }
    }

    fn walk(role: Role, elem: u8, o: Operand) -> Walk {
        let (blk, rep) = (o.1 * 32, o.2 * 32);
        Walk { space: Space::Ub, role, elem, blocks: 8, unit: 32, blk, rep }
    }

    /// A vector instruction with explicit walks, destination first.
    pub fn walks(
        &mut self,
        name: &str,
        dtype: DType,
        repeats: u32,
        lanes: Lanes,
        operands: &[(u64, Walk)],
    ) -> u32 {
        let mut r = self.record(Kind::Vector, Pipe::V);
        (r.op, r.dtype, r.repeats) = (op(name), dtype, repeats);
        let mut shape = Shape::default();
        for (i, &(base, walk)) in operands.iter().enumerate() {
            r.base[i] = base;
            shape.0[i] = Some(walk);
        }
        r.shape = ShapeId(self.stream.shapes.intern(shape));
        r.lanes = LanesId(self.stream.lanes.intern(lanes));
        self.stream.push(r)
    }

    /// Repeats and lanes of an instruction under the current mask.
    pub fn extent(&self, dtype: DType, repeats: u32) -> (u32, Lanes) {
        let per_repeat = (256 / dtype.size()) as u16;
        if self.count {
            let total = self.mask.1;
            (total.div_ceil(u64::from(per_repeat)) as u32, Lanes::Count { total, per_repeat })
        } else {
            (repeats, Lanes::Norm(Mask::from_hi_lo(self.mask.0, self.mask.1)))
        }
    }

    /// A vector instruction of dense or strided operands, destination first.
    pub fn vector(&mut self, name: &str, dtype: DType, repeats: u32, operands: &[Operand]) -> u32 {
        let (repeats, lanes) = self.extent(dtype, repeats);
        let elem = dtype.size() as u8;
        let role = |i| if i == 0 { Role::Write } else { Role::Read };
        let walks: Vec<_> = operands
            .iter()
            .enumerate()
            .map(|(i, &o)| (o.0, Self::walk(role(i), elem, o)))
            .collect();
        self.walks(name, dtype, repeats, lanes, &walks)
    }

    /// Dense instruction: block stride 1, repeat stride 8.
    pub fn dense(&mut self, name: &str, dtype: DType, repeats: u32, bases: &[u64]) -> u32 {
        let operands: Vec<Operand> = bases.iter().map(|&b| (b, 1, 8)).collect();
        self.vector(name, dtype, repeats, &operands)
    }

    pub fn copy(&mut self, dst: u64, src: u64, bursts: u32, blocks: u32, gaps: (i64, i64)) -> u32 {
        let mut r = self.record(Kind::Copy, Pipe::V);
        (r.op, r.repeats) = (op("copy_ubuf_to_ubuf"), bursts);
        let unit = blocks * 32;
        let walk = |role, gap: i64| Walk {
            space: Space::Ub,
            role,
            elem: 0,
            blocks: 1,
            unit,
            blk: 0,
            rep: i64::from(unit) + gap * 32,
        };
        (r.base[0], r.base[1]) = (dst, src);
        let shape = Shape([Some(walk(Role::Write, gaps.0)), Some(walk(Role::Read, gaps.1)), None]);
        r.shape = ShapeId(self.stream.shapes.intern(shape));
        self.stream.push(r)
    }

    pub fn dma(&mut self, pipe: Pipe, bursts: u32, bytes: u32) -> u32 {
        let mut r = self.record(Kind::Dma, pipe);
        r.repeats = bursts;
        let walk = |role, space| Walk {
            space,
            role,
            elem: 0,
            blocks: 1,
            unit: bytes,
            blk: 0,
            rep: i64::from(bytes),
        };
        let (to, from) =
            if pipe == Pipe::Mte2 { (Space::Ub, Space::Gm) } else { (Space::Gm, Space::Ub) };
        let shape = Shape([Some(walk(Role::Write, to)), Some(walk(Role::Read, from)), None]);
        r.shape = ShapeId(self.stream.shapes.intern(shape));
        self.stream.push(r)
    }

    pub fn scalar(&mut self, kind: Kind, space: Space) -> u32 {
        let mut r = self.record(kind, Pipe::S);
        r.repeats = 1;
        let role = if kind == Kind::ScalarLoad { Role::Read } else { Role::Write };
        let walk = Walk { space, role, elem: 0, blocks: 1, unit: 4, blk: 0, rep: 0 };
        r.shape = ShapeId(self.stream.shapes.intern(Shape([Some(walk), None, None])));
        self.stream.push(r)
    }

    pub fn mask_marked(&mut self, hi: u64, lo: u64, marks: Marks) -> u32 {
        self.mask = (hi, lo);
        let mut r = self.record(Kind::MaskWrite, Pipe::S);
        let restore = !self.count && (hi, lo) == (!0, !0);
        r.marks = if restore { marks.with(Marks::RESTORE) } else { marks };
        r.link = 2;
        self.stream.push(r)
    }

    pub fn set_mask(&mut self, hi: u64, lo: u64) -> u32 {
        self.mask_marked(hi, lo, Marks::default())
    }

    pub fn mode(&mut self, count: bool) -> u32 {
        self.count = count;
        let r = self.record(Kind::CtrlWrite, Pipe::S);
        self.stream.push(r)
    }

    pub fn barrier(&mut self, pipe: Pipe) -> u32 {
        let r = self.record(Kind::Barrier, pipe);
        self.stream.push(r)
    }

    pub fn set_flag(&mut self, src: Pipe, dst: Pipe) -> u32 {
        let mut r = self.record(Kind::SetFlag, src);
        r.flag = [src as u8, dst as u8, 0];
        let i = self.stream.push(r);
        self.flags.push((Flag { src, dst, id: 0 }, i));
        i
    }

    pub fn wait_flag(&mut self, src: Pipe, dst: Pipe) -> u32 {
        let flag = Flag { src, dst, id: 0 };
        let at = self.flags.iter().position(|f| f.0 == flag).expect("a flag that is set");
        let mut r = self.record(Kind::WaitFlag, dst);
        r.flag = [src as u8, dst as u8, 0];
        r.link = self.flags.remove(at).1;
        self.stream.push(r)
    }
}
