//! Order, numbers and colours of the lanes, as the vendor's tool sets them.

use crate::events::Lane;

/// A lane of either file: those of the timeline, and one for scalar accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Track {
    Lane(Lane),
    ScalarLdst,
}

impl Track {
    pub const ALL: [Track; 14] = [
        Track::Lane(Lane::Scalar),
        Track::Lane(Lane::FlowCtrl),
        Track::Lane(Lane::Mte1),
        Track::Lane(Lane::Cube),
        Track::Lane(Lane::Fixp),
        Track::Lane(Lane::Mte2),
        Track::Lane(Lane::Vector),
        Track::Lane(Lane::Mte3),
        Track::ScalarLdst,
        Track::Lane(Lane::All),
        Track::Lane(Lane::RvecExecute),
        Track::Lane(Lane::RvecStore),
        Track::Lane(Lane::RvecLoad),
        Track::Lane(Lane::RvecScalar),
    ];

    pub fn name(self) -> &'static str {
        match self {
            Track::Lane(l) => l.name(),
            Track::ScalarLdst => "SCALARLDST",
        }
    }
}

/// Place of a lane from the top.
pub(super) fn sort_index(t: Track) -> u64 {
    match t {
        Track::Lane(Lane::Scalar) => 1,
        Track::Lane(Lane::FlowCtrl) => 2,
        Track::Lane(Lane::Mte1) => 3,
        Track::Lane(Lane::Cube) => 4,
        Track::Lane(Lane::Fixp) => 5,
        Track::Lane(Lane::Mte2) => 6,
        Track::Lane(Lane::Vector) => 7,
        Track::Lane(Lane::Mte3) => 8,
        Track::ScalarLdst => 10,
        Track::Lane(Lane::All) => 11,
        Track::Lane(Lane::RvecExecute) => 18,
        Track::Lane(Lane::RvecStore) => 20,
        Track::Lane(Lane::RvecLoad) => 21,
        Track::Lane(Lane::RvecScalar) => 23,
    }
}

/// Process number of a pipe in the file of one core; the vendor's list ends at 120.
pub(super) fn process(t: Track) -> u64 {
    match t {
        Track::Lane(Lane::Scalar) => 10,
        Track::ScalarLdst => 20,
        Track::Lane(Lane::Vector) => 30,
        Track::Lane(Lane::Cube) => 40,
        Track::Lane(Lane::Mte1) => 50,
        Track::Lane(Lane::Mte2) => 60,
        Track::Lane(Lane::Mte3) => 70,
        Track::Lane(Lane::Fixp) => 80,
        Track::Lane(Lane::FlowCtrl) => 90,
        Track::Lane(Lane::All) => 100,
        Track::Lane(Lane::RvecExecute) => 130,
        Track::Lane(Lane::RvecStore) => 140,
        Track::Lane(Lane::RvecLoad) => 150,
        Track::Lane(Lane::RvecScalar) => 160,
    }
}

/// Colour of a lane's slices, by the names chrome://tracing knows.
pub(super) fn colour(t: Track) -> &'static str {
    match t {
        Track::Lane(Lane::Mte1) => "thread_state_running",
        Track::Lane(Lane::Mte2) => "thread_state_iowait",
        Track::Lane(Lane::Mte3) => "rail_response",
        Track::Lane(Lane::Scalar) | Track::ScalarLdst => "startup",
        Track::Lane(Lane::Vector) => "cq_build_failed",
        Track::Lane(Lane::Cube) => "background_memory_dump",
        Track::Lane(Lane::Fixp) => "thread_state_unknown",
        Track::Lane(Lane::FlowCtrl) => "cq_build_passed",
        Track::Lane(Lane::All) => "good",
        Track::Lane(Lane::RvecExecute) => "cq_build_failed",
        Track::Lane(Lane::RvecStore) => "rail_response",
        Track::Lane(Lane::RvecLoad) => "thread_state_iowait",
        Track::Lane(Lane::RvecScalar) => "startup",
    }
}
