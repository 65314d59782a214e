//! Listeners of a timeline: reports and trace dumps.
