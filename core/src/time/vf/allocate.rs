//! Compact register names, as a compiler's allocator would give them.
//!
//! Programs written with a name per value keep dead values mapped to physical registers. This pass
//! renames inside each loop of instructions only: a new value takes the register of a source that
//! dies with it, or the first one that is free. Names that live beyond an iteration (read before
//! they are written, or used outside the loop) stay as they are, so every dependence is kept.

use super::program::{File, Inst, Node, Reg, VfProgram};
use std::collections::{BTreeMap, BTreeSet};

/// Renames the vector registers of every innermost loop.
pub fn allocate(p: &mut VfProgram) {
    let mut loops = Vec::new();
    innermost(&p.body, &mut loops);
    let mut uses: BTreeMap<u32, u32> = BTreeMap::new();
    count(&p.body, &mut uses);
    for body in loops {
        if body.iter().all(|i| uses.get(i) == Some(&1) && (*i as usize) < p.insts.len()) {
            rename(p, &body);
        }
    }
}

fn count(nodes: &[Node], uses: &mut BTreeMap<u32, u32>) {
    for n in nodes {
        match n {
            Node::Inst(i) => *uses.entry(*i).or_default() += 1,
            Node::Loop(l) => count(&l.body, uses),
        }
    }
}

/// Bodies that hold instructions only.
fn innermost(nodes: &[Node], out: &mut Vec<Vec<u32>>) {
    for n in nodes {
        let Node::Loop(l) = n else { continue };
        let insts: Option<Vec<u32>> = l
            .body
            .iter()
            .map(|n| match n {
                Node::Inst(i) => Some(*i),
                Node::Loop(_) => None,
            })
            .collect();
        match insts {
            Some(body) => out.push(body),
            None => innermost(&l.body, out),
        }
    }
}

/// Names that live beyond one iteration, or on which another instruction of the program depends.
fn pinned(p: &VfProgram, body: &[u32]) -> BTreeSet<Reg> {
    let inside: BTreeSet<u32> = body.iter().copied().collect();
    let mut out: BTreeSet<Reg> = (0u32..)
        .zip(&p.insts)
        .filter(|(i, _)| !inside.contains(i))
        .flat_map(|(_, i)| i.dst.iter().chain(&i.src).copied())
        .collect();
    let mut written = BTreeSet::new();
    for i in body.iter().map(|&i| &p.insts[i as usize]) {
        out.extend(i.src.iter().filter(|r| !written.contains(*r)));
        written.extend(i.dst.iter().copied());
    }
    out
}

/// Where each version, numbered by its defining position and destination, is read last.
fn last_reads(insts: &[&Inst]) -> BTreeMap<(usize, usize), usize> {
    let mut current: BTreeMap<Reg, (usize, usize)> = BTreeMap::new();
    let mut last = BTreeMap::new();
    for (at, i) in insts.iter().enumerate() {
        for v in i.src.iter().filter_map(|r| current.get(r)) {
            last.insert(*v, at);
        }
        for (d, r) in i.dst.iter().enumerate() {
            current.insert(*r, (at, d));
            last.insert((at, d), at);
        }
    }
    last
}

/// Registers in use while the body is walked.
struct Names {
    /// Register of each written name.
    home: BTreeMap<Reg, Reg>,
    /// Position of the last read of what each register holds.
    taken: BTreeMap<Reg, usize>,
    /// Largest number in use.
    top: u16,
}

impl Names {
    /// A register for a result at position `at`; `dying` are the sources read for the last time.
    fn pick(&mut self, at: usize, name: Reg, only_source: bool, dying: &[Reg]) -> Option<Reg> {
        let own = dying.first().filter(|_| only_source).copied();
        let mut open = self
            .taken
            .iter()
            .filter(|(s, until)| **until < at || dying.contains(s))
            .map(|(s, _)| *s);
        own.or_else(|| open.next())
            .or_else(|| (!self.taken.contains_key(&name)).then_some(name))
            .or_else(|| {
                self.top = self.top.checked_add(1)?;
                Some(Reg { file: File::Vector, id: self.top })
            })
    }
}

fn rename(p: &mut VfProgram, body: &[u32]) {
    let keep = pinned(p, body);
    let insts: Vec<&Inst> = body.iter().map(|&i| &p.insts[i as usize]).collect();
    let last = last_reads(&insts);
    let all = p.insts.iter().flat_map(|i| i.dst.iter().chain(&i.src));
    let top = all.map(|r| r.id).max().unwrap_or(0);
    let free = |r: &Reg| r.file == File::Vector && !keep.contains(r);
    let mut names = Names { home: BTreeMap::new(), taken: BTreeMap::new(), top };
    let mut renamed = Vec::new();
    for (at, i) in insts.iter().enumerate() {
        let mut new = (*i).clone();
        for r in new.src.iter_mut().filter(|r| free(r)) {
            *r = names.home.get(r).copied().unwrap_or(*r);
        }
        // Two results of one instruction may not share a register with a source.
        let dies = |r: &&Reg| i.dst.len() == 1 && names.taken.get(*r) == Some(&at);
        let dying: Vec<Reg> = new.src.iter().filter(dies).copied().collect();
        for (d, r) in new.dst.iter_mut().enumerate().filter(|(_, r)| free(r)) {
            let Some(slot) = names.pick(at, *r, i.src.len() == 1, &dying) else { return };
            names.taken.insert(slot, last.get(&(at, d)).copied().unwrap_or(at));
            names.home.insert(i.dst[d], slot);
            *r = slot;
        }
        renamed.push(new);
    }
    for (&at, new) in body.iter().zip(renamed) {
        p.insts[at as usize] = new;
    }
}

#[cfg(test)]
mod tests {
    use super::super::program::{Kind, vreg};
    use super::*;

    fn program(body: &[(&[u16], &[u16])]) -> VfProgram {
        let mut p = VfProgram::default();
        let class = p.class("x", None);
        let regs = |r: &[u16]| r.iter().map(|&i| vreg(i)).collect::<Vec<_>>();
        let nodes = body
            .iter()
            .map(|(d, s)| p.add(Inst::new(class, Kind::Compute).to(&regs(d)).from(&regs(s))))
            .collect();
        p.body = vec![Node::repeat(4, nodes)];
        p
    }

    fn names(p: &VfProgram) -> Vec<(u16, Vec<u16>)> {
        let ids = |r: &[Reg]| r.iter().map(|r| r.id).collect::<Vec<_>>();
        p.insts.iter().map(|i| (i.dst[0].id, ids(&i.src))).collect()
    }

    #[test]
    fn a_value_takes_the_register_of_a_dying_source() {
        let mut p = program(&[(&[1], &[]), (&[2], &[1]), (&[3], &[]), (&[4], &[2, 3])]);
        allocate(&mut p);
        assert_eq!(names(&p), [(1, vec![]), (1, vec![1]), (3, vec![]), (1, vec![1, 3])]);
    }

    #[test]
    fn accumulators_keep_their_name() {
        let mut p = program(&[(&[1], &[]), (&[9], &[9, 1])]);
        allocate(&mut p);
        assert_eq!(names(&p), [(1, vec![]), (9, vec![9, 1])]);
    }

    #[test]
    fn a_live_value_is_never_overwritten() {
        let mut p = program(&[(&[1], &[]), (&[2], &[1]), (&[3], &[2]), (&[4], &[1, 3])]);
        allocate(&mut p);
        let n = names(&p);
        assert_ne!(n[1].0, 1, "v1 is still read by the last one");
        assert_eq!(n[3].1, [n[0].0, n[2].0]);
    }
}
