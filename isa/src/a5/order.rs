//! Order of memory accesses inside a vecscope: registers are tracked by the machine, UB is not.
//!
//! A load after a store of the same bytes needs `mem_bar` `VST_VLD`, a store after a load
//! `VLD_VST`, a store after a store `VST_VST`, unless the stored value was computed from the load
//! `[D: GYM, ASC LocalMemBar]`. Values always follow program order; a missing barrier is reported.

use super::core::{Core, Run, Touch, UB_BYTES};
use super::form::Form;
use super::mode::Barrier;
use ptoemu_core::diag::{Diagnostic, Level};
use ptoemu_core::stream::NONE;

/// Accesses of the current vecscope, by byte.
#[derive(Clone, Debug, Default)]
pub struct Order {
    active: bool,
    /// Number of the last access that stored or loaded each byte; 0 for none.
    stored: Vec<u32>,
    loaded: Vec<u32>,
    /// Where the store and the load stand that the two lists above name.
    stored_at: Vec<u32>,
    loaded_at: Vec<u32>,
    /// The same of loads whose first element covers the byte: they surely use it.
    began: Vec<u32>,
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
            self.began = vec![0; UB_BYTES as usize];
            self.stored_at = vec![0; UB_BYTES as usize];
            self.loaded_at = vec![0; UB_BYTES as usize];
        }
        if self.now > u32::MAX / 2 {
            self.stored.fill(0);
            self.loaded.fill(0);
            self.began.fill(0);
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

    /// Where the latest store (or else load) of these bytes stands.
    fn at(&self, t: &Touch, kind: Barrier) -> Option<u32> {
        let (numbers, places) = match kind {
            Barrier::LoadStore => (&self.loaded, &self.loaded_at),
            _ => (&self.stored, &self.stored_at),
        };
        let start = (t.addr as usize).min(numbers.len());
        let range = start..start.saturating_add(t.bytes as usize).min(numbers.len());
        let (n, at) = numbers[range.clone()].iter().zip(&places[range]).max()?;
        (*n > 0 && *at != NONE).then_some(*at)
    }

    /// Notes where an access stands.
    fn place(&mut self, t: &Touch, site: u32) {
        let range = Self::bytes(&mut self.stored, t);
        let places = if t.write { &mut self.stored_at } else { &mut self.loaded_at };
        places[range].fill(site);
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

    /// Notes a load of elements of `size` bytes; whether it reads bytes whose store is not ordered
    /// before it, surely (its first element) or maybe (loads read whole registers, and lanes that
    /// are masked off later do no harm).
    fn load(&mut self, t: &Touch, size: usize) -> Option<Level> {
        let range = Self::bytes(&mut self.stored, t);
        let first = range.start..range.end.min(range.start.saturating_add(size));
        let latest = |r: std::ops::Range<usize>| self.stored[r].iter().copied().fold(0, u32::max);
        let level = match (latest(first.clone()), latest(range.clone())) {
            (n, _) if n > self.store_load => Some(Level::Error),
            (_, n) if n > self.store_load => Some(Level::Warning),
            _ => None,
        };
        self.loaded[range].fill(self.now);
        self.began[first].fill(self.now);
        level
    }

    /// Notes a store of a value computed from the loads of `sources`; the barrier it lacks.
    fn store(&mut self, t: &Touch, sources: u64) -> Option<(Barrier, Level)> {
        let range = Self::bytes(&mut self.stored, t);
        let (floor, free) = (self.load_store, |l: u32| sources & bit(l) == 0);
        let races = |l: &u32| *l > floor && free(*l);
        let raced = self.loaded[range.clone()].iter().any(races);
        let surely = self.began[range.clone()].iter().any(races);
        let latest = self.stored[range.clone()].iter().copied().fold(0, u32::max);
        self.stored[range].fill(self.now);
        self.fed |= sources;
        if latest > self.store_store {
            // One store port takes stores in order `[I]`.
            return Some((Barrier::StoreStore, Level::Warning));
        }
        let level = if surely { Level::Error } else { Level::Warning };
        (raced || surely).then_some((Barrier::LoadStore, level))
    }
}

impl Run<'_, '_> {
    /// Checks the accesses of the micro-op just done against earlier ones, and hands its sources
    /// on to its results.
    pub(super) fn order(&mut self) {
        let form = self.step.op.form();
        let by_masks = std::mem::take(&mut self.core.carried);
        let mut sources = self.args.v.iter().fold(by_masks, |all, v| all | v.sources);
        // A flush writes what its stream stored already.
        if self.core.order.active && !matches!(form, Form::FlushN | Form::FlushR) {
            self.core.order.now += 1;
            let (mut lacking, site) = (None, self.core.site);
            let mut there = None;
            for t in std::mem::take(&mut self.core.touched) {
                let order = &mut self.core.order;
                let lacks = match t.write {
                    true => order.store(&t, sources),
                    false => {
                        let level = order.load(&t, self.step.st.size());
                        level.map(|l| (Barrier::StoreLoad, l))
                    }
                };
                if let (None, Some((kind, _))) = (&lacking, &lacks) {
                    there = order.at(&t, *kind);
                }
                order.place(&t, site);
                if !t.write {
                    sources |= bit(self.core.order.now) | self.core.order.done;
                }
                lacking = lacking.or(lacks.map(|l| (l, t)));
                self.core.touched.push(t);
            }
            if let Some(((kind, level), t)) = lacking {
                let name = self.step.op.mnemonic();
                report(self.core, name, (kind, level), &t, there);
            }
        }
        for v in &mut self.outs.v {
            v.sources = sources;
        }
        self.core.produced = sources;
    }
}

fn report(
    core: &mut Core,
    name: &str,
    (kind, level): (Barrier, Level),
    t: &Touch,
    there: Option<u32>,
) {
    let (hazard, what, mode) = match kind {
        Barrier::StoreLoad => ("RAW", "loads bytes an earlier store", "VST_VLD"),
        Barrier::LoadStore => ("WAR", "stores bytes an earlier load", "VLD_VST"),
        _ => ("WAW", "stores bytes an earlier store", "VST_VST"),
    };
    let end = t.addr.saturating_add(u64::from(t.bytes));
    let text = format!("Potential {hazard} hazard detected in UB, inside a vector function");
    let diag = Diagnostic::new("racecheck.mem_bar", level, text)
        .note(format!("{name} {what} touched, at UB {:#x}..{end:#x}", t.addr))
        .note("a vector function tracks registers, not UB; values follow program order here")
        .help(format!("insert before it: pto.mem_bar \"{mode}\""));
    core.remark_with(diag, (t.addr, end), there);
}
