//! Sources and removals.
