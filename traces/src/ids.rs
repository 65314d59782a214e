//! A number for every dynamic instruction of a run, those inside vector functions included: the
//! same in every file and under every filter.

use crate::events::Trace;
use ptoemu_core::stream::Kind;

/// Numbers given to the start-up of a core.
const RESERVED: u64 = 2;

/// Where the numbers of records stand.
pub(crate) struct Ids {
    /// Launches of functions, and the instructions inside functions up to their end.
    inside: Vec<(u32, u64)>,
}

impl Ids {
    /// Of a whole stream, whatever is shown of it.
    pub fn new(t: &Trace) -> Ids {
        let (mut inside, mut sum) = (Vec::new(), 0);
        for (i, r) in (0u32..).zip(&t.stream.records).filter(|(_, r)| r.kind == Kind::Function) {
            if let Some(f) = t.functions.get(r.link) {
                sum += f.instructions();
                inside.push((i, sum));
            }
        }
        Ids { inside }
    }

    /// The number of a record. An instruction inside a function follows its launch by its place in
    /// the function.
    pub fn of(&self, record: u32) -> u64 {
        let n = self.inside.partition_point(|(i, _)| *i < record);
        let before = n.checked_sub(1).and_then(|n| self.inside.get(n)).map_or(0, |(_, sum)| *sum);
        RESERVED + u64::from(record) + before
    }
}
