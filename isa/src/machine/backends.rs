//! Back ends without values: the recorder for timing alone and the lister.

use super::log::Log;
use super::regs::{Regs, Settings};
use super::{Backend, Stop, plan, verify};
use crate::families::Sem;
use crate::instr::Instr;
use ptoemu_core::stream::{SiteId, Stream};
use ptoemu_core::target::Family;

/// Records what would be issued; addresses may be virtual.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    /// Special registers.
    pub regs: Regs,
    /// Limits.
    pub settings: Settings,
    /// Records and flags.
    pub log: Log,
}

impl Recorder {
    /// A recorder for a family.
    pub fn of(family: Family) -> Recorder {
        Recorder { settings: Settings::of(family), log: Log::of(family), ..Recorder::default() }
    }

    /// Sets where the records to come belong.
    pub fn at(&mut self, site: SiteId, group: u32) {
        (self.log.site, self.log.group) = (site, group);
    }

    /// The finished stream.
    pub fn into_stream(self) -> Stream {
        self.log.stream
    }
}

impl Backend for Recorder {
    fn issue(&mut self, i: &Instr) -> Result<u64, Stop> {
        verify::legal(i, &self.regs, &self.settings).map_err(Stop)?;
        let p = plan::plan(i, &self.regs);
        self.log.push(i, &p).map_err(|(d, _)| Stop(d))?;
        if let Sem::Control(f) = p.row.sem {
            return Ok(f(&mut self.regs, i, &self.settings));
        }
        Ok(0)
    }
}

/// Collects the instructions.
#[derive(Clone, Debug, Default)]
pub struct Lister(pub Vec<Instr>);

impl Backend for Lister {
    fn issue(&mut self, i: &Instr) -> Result<u64, Stop> {
        self.0.push(*i);
        Ok(0)
    }
}
