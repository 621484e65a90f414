//! Sand.

pub mod clumps;
