//! Field numbers of Perfetto's trace format.

pub(super) const PACKET: u32 = 1;

/// Of a packet.
pub(super) mod packet {
    pub const TIMESTAMP: u32 = 8;
    pub const SEQUENCE: u32 = 10;
    pub const EVENT: u32 = 11;
    pub const INTERNED: u32 = 12;
    pub const FLAGS: u32 = 13;
    pub const TRACK: u32 = 60;
}

/// Values of the flags: interned numbers start anew, or are needed.
pub(super) const FRESH: u64 = 1;
pub(super) const NEEDED: u64 = 2;

/// Of a description of a track.
pub(super) mod track {
    pub const UUID: u32 = 1;
    pub const NAME: u32 = 2;
    pub const PROCESS: u32 = 3;
    pub const PARENT: u32 = 5;
    pub const COUNTER: u32 = 8;
    pub const ORDERING: u32 = 11;
    pub const RANK: u32 = 12;
    /// Value of the ordering: by rank.
    pub const EXPLICIT: u64 = 3;
    /// Of a process.
    pub const PID: u32 = 1;
    pub const PROCESS_NAME: u32 = 6;
    /// Of a counter.
    pub const UNIT_NAME: u32 = 6;
}

/// Of an event.
pub(super) mod event {
    pub const ANNOTATION: u32 = 4;
    pub const TYPE: u32 = 9;
    pub const NAME: u32 = 10;
    pub const TRACK: u32 = 11;
    pub const VALUE: u32 = 44;
    pub const FLOW: u32 = 47;
    pub const FLOW_END: u32 = 48;
    /// Values of the type.
    pub const BEGIN: u64 = 1;
    pub const END: u64 = 2;
    pub const COUNTER: u64 = 4;
    /// Of an annotation.
    pub const KEY: u32 = 1;
    pub const UNSIGNED: u32 = 3;
    pub const TEXT: u32 = 6;
    pub const SHARED_TEXT: u32 = 17;
}

/// Of interned data: names of events, keys and texts of annotations; each a number and a text.
pub(super) mod interned {
    pub const NAMES: u32 = 2;
    pub const KEYS: u32 = 3;
    pub const TEXTS: u32 = 29;
    pub const NUMBER: u32 = 1;
    pub const TEXT: u32 = 2;
}
