//! One bake at a time in each cache.

use super::CacheError;
use super::layout::LOCK;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Holds a cache until dropped. The system itself lets go when the process ends, however it ends, so
/// that a lock is never stale; the file stays and holds the number of the last process.
#[derive(Debug)]
pub struct CacheLock {
    _file: File,
}

impl CacheLock {
    /// Takes the cache, or fails at once.
    ///
    /// # Errors
    /// [`CacheError::Locked`] while another bake holds it; those of the file system.
    pub fn take(cache: &Path) -> Result<Self, CacheError> {
        let path = cache.join(LOCK);
        let io = |e| CacheError::io("lock", &path, e);
        let options =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).clone();
        let mut file = options.open(&path).map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // Without the number the message is shorter, that is all.
                let _ = file.take(32).read_to_string(&mut text);
                let holder = text.trim().parse().ok();
                return Err(CacheError::Locked { cache: cache.to_path_buf(), holder });
            }
            Err(TryLockError::Error(e)) => return Err(io(e)),
        }
        file.set_len(0).map_err(io)?;
        file.seek(SeekFrom::Start(0)).map_err(io)?;
        writeln!(file, "{}", std::process::id()).map_err(io)?;
        Ok(Self { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_bake_is_told_who_holds_the_cache() {
        let cache = tempfile::tempdir().unwrap();
        let held = CacheLock::take(cache.path()).unwrap();
        let error = CacheLock::take(cache.path()).unwrap_err();
        let this = std::process::id();
        assert!(matches!(error, CacheError::Locked { holder: Some(pid), .. } if pid == this));
        drop(held);
        CacheLock::take(cache.path()).unwrap();
    }
}
