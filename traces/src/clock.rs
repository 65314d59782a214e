//! Cycles in microseconds, for the formats that want them.

use ptoemu_core::target::Target;

/// The clock of a target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    mhz: f64,
}

impl Clock {
    /// Of a target; one cycle is a microsecond if it has no clock.
    pub fn of(target: &Target) -> Clock {
        Clock::new(target.value("clock_mhz").unwrap_or(1.0))
    }

    /// Of a frequency in MHz.
    pub fn new(mhz: f64) -> Clock {
        Clock { mhz: if mhz > 0.0 { mhz } else { 1.0 } }
    }

    /// Frequency in MHz.
    pub fn mhz(self) -> f64 {
        self.mhz
    }

    /// A cycle count in picoseconds, to the nearest. Starts and ends are rounded, never lengths,
    /// so that slices which touch in cycles touch in time.
    pub fn picoseconds(self, cycles: u64) -> u64 {
        // The cast saturates.
        (cycles as f64 * 1e6 / self.mhz).round() as u64
    }

    /// A cycle count in microseconds.
    pub fn micros(self, cycles: u64) -> f64 {
        cycles as f64 / self.mhz
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_picoseconds() {
        let c = Clock::new(1850.0);
        assert_eq!(c.picoseconds(1850), 1_000_000);
        assert_eq!(c.picoseconds(1), 541);
        assert_eq!(Clock::new(0.0).mhz(), 1.0);
    }
}
