//! Memory of this process.

/// Resident memory (bytes), or 0 where the system does not tell.
pub fn resident() -> u64 {
    memory_stats::memory_stats().map_or(0, |m| m.physical_mem as u64)
}
