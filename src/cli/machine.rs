//! What this machine has, as far as the simulation cares.

use std::thread::available_parallelism;
use sysinfo::{MemoryRefreshKind, RefreshKind, System};

/// Whether the processor has the instructions that this binary was compiled for.
#[cfg(target_arch = "x86_64")]
pub fn fits_this_binary() -> Result<(), String> {
    let id = raw_cpuid::CpuId::new();
    let features = id.get_feature_info();
    let extended = id.get_extended_feature_info();
    let missing = [
        ("AVX", cfg!(target_feature = "avx"), features.as_ref().is_some_and(|f| f.has_avx())),
        ("FMA", cfg!(target_feature = "fma"), features.as_ref().is_some_and(|f| f.has_fma())),
        ("AVX2", cfg!(target_feature = "avx2"), extended.as_ref().is_some_and(|f| f.has_avx2())),
        ("BMI2", cfg!(target_feature = "bmi2"), extended.as_ref().is_some_and(|f| f.has_bmi2())),
        (
            "AVX-512",
            cfg!(target_feature = "avx512f"),
            extended.as_ref().is_some_and(|f| f.has_avx512f()),
        ),
    ]
    .into_iter()
    .find(|(_, compiled, present)| *compiled && !present);
    match missing {
        None => Ok(()),
        Some((name, ..)) => Err(format!(
            "this program was compiled for processors with {name}, which this one lacks; build it \
             from source with RUSTFLAGS=\"-C target-cpu=native\""
        )),
    }
}

/// Whether the processor has the instructions that this binary was compiled for.
#[cfg(not(target_arch = "x86_64"))]
pub fn fits_this_binary() -> Result<(), String> {
    Ok(())
}

/// Name of the processor, if it tells.
#[cfg(target_arch = "x86_64")]
pub fn processor() -> Option<String> {
    let brand = raw_cpuid::CpuId::new().get_processor_brand_string()?;
    Some(brand.as_str().split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Name of the processor, if it tells.
#[cfg(not(target_arch = "x86_64"))]
pub fn processor() -> Option<String> {
    None
}

/// Vector instructions that this binary uses.
pub fn instructions() -> Vec<&'static str> {
    [
        ("SSE4.2", cfg!(target_feature = "sse4.2")),
        ("AVX", cfg!(target_feature = "avx")),
        ("AVX2", cfg!(target_feature = "avx2")),
        ("FMA", cfg!(target_feature = "fma")),
        ("AVX-512", cfg!(target_feature = "avx512f")),
        ("NEON", cfg!(target_feature = "neon")),
    ]
    .into_iter()
    .filter_map(|(name, used)| used.then_some(name))
    .collect()
}

/// Threads that the system lets this process use.
pub fn threads() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// Memory of the machine \[bytes\].
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// All of it.
    pub total: u64,
    /// What programs can still have.
    pub available: u64,
}

/// Asks the system for its memory.
pub fn memory() -> Memory {
    let kind = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = System::new_with_specifics(kind);
    Memory { total: system.total_memory(), available: system.available_memory() }
}
