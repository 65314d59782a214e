//! What the ports of the vector core did in every cycle of a function.
//!
//! A port starts at most one instruction in a cycle. The cycles between two starts belong to what
//! held back the instruction that started next; so busy cycles and causes add up to the cycles of
//! the function, for every port.

use super::{Function, in_order};
use ptoemu_core::target::Target;
use ptoemu_core::time::vf::{Cause, Kind, VfRecord};

/// Account of one port over one launch of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortUse {
    /// Name: LD0, LD1, ST0, EX0, EX1, PR0, SC0.
    pub name: String,
    /// Instructions it started: one cycle each.
    pub busy: u64,
    /// Cycles it started nothing, by what held back the next instruction, in the order of
    /// [`Cause::ALL`].
    pub causes: [u64; Cause::ALL.len()],
    /// Cycles in which its next instruction had not come up in the program yet.
    pub front: u64,
    /// After its last instruction; all cycles, if it had none.
    pub rest: u64,
    /// Cycles behind the last instruction that is known.
    pub unknown: u64,
}

impl PortUse {
    /// The account of several equal launches.
    pub fn times(&self, n: u64) -> PortUse {
        let mut out = PortUse { name: self.name.clone(), ..PortUse::default() };
        out.add(self, n);
        out
    }

    /// Adds the account of `n` launches.
    pub fn add(&mut self, o: &PortUse, n: u64) {
        self.busy += o.busy * n;
        self.causes.iter_mut().zip(&o.causes).for_each(|(sum, c)| *sum += c * n);
        self.front += o.front * n;
        self.rest += o.rest * n;
        self.unknown += o.unknown * n;
    }

    /// Every cycle of the function.
    pub fn total(&self) -> u64 {
        self.busy + self.causes.iter().sum::<u64>() + self.front + self.rest + self.unknown
    }
}

struct Port {
    account: PortUse,
    /// First cycle not accounted for.
    at: u64,
}

/// Ports of one kind: instructions take the first that is free.
struct Group {
    ports: Vec<Port>,
}

impl Group {
    fn new(name: &str, n: u64) -> Group {
        let named = |i| PortUse { name: format!("{name}{i}"), ..PortUse::default() };
        let port = |i| Port { account: named(i), at: 0 };
        Group { ports: (0..n.clamp(1, 16)).map(port).collect() }
    }
}

impl Port {
    /// The port stands still until an instruction starts, which takes a cycle.
    fn start(&mut self, f: &Function, r: &VfRecord) {
        let a = &mut self.account;
        a.front += r.head.min(r.issue).saturating_sub(self.at);
        self.at = self.at.max(r.head.min(r.issue));
        for s in f.stretches(r) {
            a.causes[s.cause as usize] += s.end.saturating_sub(self.at.max(s.start));
            self.at = self.at.max(s.end);
        }
        a.busy += 1;
        self.at = self.at.max(r.issue) + 1;
    }
}

/// Accounts of every port for one launch of a function.
pub fn ports(f: &Function, target: &Target) -> Vec<PortUse> {
    let number = |path: &str| target.value(path).map_or(1, |v| v as u64);
    let mut groups = [
        Group::new("LD", number("vf.load_ports")),
        Group::new("ST", number("vf.store_ports")),
        Group::new("EX", number("vf.exus")),
        Group::new("PR", number("vf.predicate_ports")),
        Group::new("SC", number("vf.scalar_ports")),
    ];
    let all = (0..f.shown()).map_while(|seq| f.get(seq));
    let mut last = 0;
    for r in in_order(all, |r| r.dispatch, |r| r.issue) {
        last = last.max(r.done);
        let group = match f.inst(&r).map(|i| i.kind) {
            Some(Kind::Load) => 0,
            Some(Kind::Store) => 1,
            Some(Kind::Compute) => 2,
            Some(Kind::Predicate) => 3,
            Some(Kind::Scalar) => 4,
            // A barrier takes no port.
            Some(Kind::Bar(_)) | None => continue,
        };
        let ports = &mut groups[group].ports;
        let free = if group == 2 {
            usize::from(r.exu)
        } else {
            ports.iter().position(|p| p.at <= r.issue).unwrap_or(0)
        };
        if let Some(p) = ports.get_mut(free) {
            p.start(f, &r);
        }
    }
    let whole = f.shown() == f.instructions();
    let until = if whole { f.cycles() } else { last.min(f.cycles()) };
    let mut out = Vec::new();
    for mut p in groups.into_iter().flat_map(|g| g.ports) {
        p.account.rest = until.saturating_sub(p.at);
        p.account.unknown = f.cycles().saturating_sub(until.max(p.at));
        out.push(p.account);
    }
    out
}
