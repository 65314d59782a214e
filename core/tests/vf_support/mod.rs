//! Programs and targets of the vector-function tests.
#![allow(dead_code)]

pub mod random;

use ptoemu_core::catalogue::Catalogue;
use ptoemu_core::diag::SourceFile;
use ptoemu_core::dtype::DType;
use ptoemu_core::target::Target;
use ptoemu_core::time::vf::*;
use std::sync::Arc;

pub fn source(name: &str) -> Option<Arc<SourceFile>> {
    let text = match name {
        "950pr" => include_str!("../../../targets/950pr.ron"),
        "950dt" => include_str!("../../../targets/950dt.ron"),
        "dav-3510" => include_str!("../../../targets/dav-3510.ron"),
        _ => return None,
    };
    Some(SourceFile::new(format!("{name}.ron"), text))
}

pub fn target(name: &str) -> Target {
    let file = source(name).unwrap();
    Target::load(&file, &source, Arc::new(Catalogue::default()))
        .unwrap_or_else(|e| panic!("{name}: {e:#?}"))
}

/// A program under construction.
#[derive(Default)]
pub struct Build {
    pub p: VfProgram,
    pub dtype: Option<DType>,
}

impl Build {
    pub fn f32() -> Build {
        Build { dtype: Some(DType::F32), ..Build::default() }
    }

    pub fn f16() -> Build {
        Build { dtype: Some(DType::F16), ..Build::default() }
    }

    pub fn inst(&mut self, name: &str, kind: Kind, dst: &[Reg], src: &[Reg]) -> Node {
        let class = self.p.class(name, self.dtype);
        self.p.add(Inst::new(class, kind).to(dst).from(src))
    }

    pub fn op(&mut self, name: &str, dst: u16, src: &[u16]) -> Node {
        let src: Vec<Reg> = src.iter().map(|&r| vreg(r)).collect();
        self.inst(name, Kind::Compute, &[vreg(dst)], &src)
    }

    pub fn load(&mut self, dst: u16) -> Node {
        self.inst("vlds", Kind::Load, &[vreg(dst)], &[])
    }

    pub fn store(&mut self, src: u16) -> Node {
        self.inst("vsts", Kind::Store, &[], &[vreg(src)])
    }

    pub fn bar(&mut self, bar: Bar) -> Node {
        self.inst("mem_bar", Kind::Bar(bar), &[], &[])
    }

    /// A load or store with a known address.
    pub fn at(&mut self, node: Node, access: Access) -> Node {
        if let Node::Inst(i) = node {
            self.p.insts[i as usize].access = Some(access);
        }
        node
    }

    pub fn post_update(&mut self, node: &Node) {
        if let Node::Inst(i) = node {
            self.p.insts[*i as usize].post_update = true;
        }
    }

    pub fn done(mut self, body: Vec<Node>) -> VfProgram {
        self.p.body = body;
        self.p
    }
}

/// `loads` loads, one operation, one store.
pub fn body(b: &mut Build, op: &str, loads: u16) -> Vec<Node> {
    let mut out: Vec<Node> = (0..loads).map(|r| b.load(r)).collect();
    let src: Vec<u16> = (0..loads).collect();
    out.push(b.op(op, loads, &src));
    out.push(b.store(loads));
    out
}

pub fn plain() -> Options {
    Options { fast_forward: false, ..Options::default() }
}

pub fn recorded() -> Options {
    Options { fast_forward: false, records: 1 << 16, ..Options::default() }
}

pub fn cycles(p: &VfProgram, t: &Target) -> u64 {
    time(p, t, plain()).unwrap_or_else(|e| panic!("{e:?}")).cycles
}
