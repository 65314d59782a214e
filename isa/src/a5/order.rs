//! Order of memory accesses inside a vecscope: registers are tracked by the machine, UB is not.
//!
//! A load after a store of the same bytes needs `mem_bar` `VST_VLD`, a store after a load
//! `VLD_VST`, a store after a store `VST_VST`, unless the stored value was computed from the load
//! `[D: GYM, ASC LocalMemBar]`. Values always follow program order; a missing barrier is reported.

use super::core::{Core, Run, Touch, UB_BYTES};
use super::form::Form;
use super::mode::Barrier;
use ptoemu_core::diag::{Diagnostic, Level};

/// Accesses of the current vecscope, by byte.
#[derive(Clone, Debug, Default)]
pub struct Order {
    active: bool,
    /// Number of the last access that stored or loaded each byte; 0 for none.
    stored: Vec<u32>,
    loaded: Vec<u32>,
    now: u32,
    /// Accesses up to this number are ordered before later loads of stored bytes.
    store_load: u32,
    /// The same for stores of loaded bytes.
    load_store: u32,
    /// The same for stores of stored bytes.
    store_store: u32,
    /// Loads that stores of the vecscope were computed from.
    fed: u64,
    /// Those of them that are done before any later load: a barrier waited for their stores.
    done: u64,
}

/// The bit that stands for a load in the sources of a register.
fn bit(access: u32) -> u64 {
    1 << (access % 64)
}

impl Order {
    /// A vecscope begins: everything before it is done.
    pub fn enter(&mut self) {
        if self.stored.is_empty() {
            self.stored = vec![0; UB_BYTES as usize];
            self.loaded = vec![0; UB_BYTES as usize];
        }
        if self.now > u32::MAX / 2 {
            self.stored.fill(0);
            self.loaded.fill(0);
            self.now = 0;
        }
        self.active = true;
        self.bar(Barrier::All);
        (self.fed, self.done) = (0, 0);
    }

    /// It ends.
    pub fn leave(&mut self) {
        self.active = false;
    }

    /// A barrier.
    pub fn bar(&mut self, kind: Barrier) {
        let all = kind == Barrier::All;
        if all || kind == Barrier::StoreLoad {
            self.store_load = self.now;
            self.done = self.fed;
        }
        if all || kind == Barrier::LoadStore {
            self.load_store = self.now;
        }
        if all || kind == Barrier::StoreStore {
            self.store_store = self.now;
        }
    }

    fn bytes(list: &mut [u32], t: &Touch) -> std::ops::Range<usize> {
        let start = (t.addr as usize).min(list.len());
        start..start.saturating_add(t.bytes as usize).min(list.len())
    }

    /// Notes a load; true if it reads bytes whose store is not ordered before it.
    fn load(&mut self, t: &Touch) -> bool {
        let range = Self::bytes(&mut self.stored, t);
        let latest = self.stored[range.clone()].iter().copied().fold(0, u32::max);
        self.loaded[range].fill(self.now);
        latest > self.store_load
    }

    /// Notes a store of a value computed from the loads of `sources`; the barrier it lacks.
    fn store(&mut self, t: &Touch, sources: u64) -> Option<Barrier> {
        let range = Self::bytes(&mut self.stored, t);
        let (floor, free) = (self.load_store, |l: u32| sources & bit(l) == 0);
        let raced = self.loaded[range.clone()].iter().any(|l| *l > floor && free(*l));
        let latest = self.stored[range.clone()].iter().copied().fold(0, u32::max);
        self.stored[range].fill(self.now);
        self.fed |= sources;
        if latest > self.store_store {
            return Some(Barrier::StoreStore);
        }
        raced.then_some(Barrier::LoadStore)
    }
}

impl Run<'_, '_> {
    /// Checks the accesses of the micro-op just done against earlier ones, and hands its sources
    /// on to its results.
    pub(super) fn order(&mut self) {
        let form = self.step.op.form();
        let mut sources = self.args.v.iter().fold(0, |all, v| all | v.sources);
        // A flush writes what its stream stored already.
        if self.core.order.active && !matches!(form, Form::FlushN | Form::FlushR) {
            self.core.order.now += 1;
            let mut lacking = None;
            for t in std::mem::take(&mut self.core.touched) {
                let lacks = match t.write {
                    true => self.core.order.store(&t, sources),
                    false => self.core.order.load(&t).then_some(Barrier::StoreLoad),
                };
                if !t.write {
                    sources |= bit(self.core.order.now) | self.core.order.done;
                }
                lacking = lacking.or(lacks.map(|l| (l, t)));
                self.core.touched.push(t);
            }
            if let Some((kind, t)) = lacking {
                report(self.core, self.step.op.mnemonic(), kind, &t);
            }
        }
        for v in &mut self.outs.v {
            v.sources = sources;
        }
    }
}

fn report(core: &mut Core, name: &str, kind: Barrier, t: &Touch) {
    let (what, mode) = match kind {
        Barrier::StoreLoad => ("loads bytes an earlier store", "VST_VLD"),
        Barrier::LoadStore => ("stores bytes an earlier load", "VLD_VST"),
        _ => ("stores bytes an earlier store", "VST_VST"),
    };
    let text = format!("{name} {what} of this vecscope touched, with no mem_bar between");
    let diag = Diagnostic::new("racecheck.mem_bar", Level::Warning, text)
        .note("UB dependences are not tracked inside a vecscope; values follow program order here")
        .help(format!("put pto.mem_bar \"{mode}\" between them"));
    core.remark(diag, (t.addr, t.addr + u64::from(t.bytes)));
}
