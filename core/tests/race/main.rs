//! racecheck: one rule a test, and random programs against an independent look at order.

mod build;
mod oracle;
mod properties;
mod rules;
