//! One bake at a time in each cache, or any number of commands that add to what was baked.

use super::CacheError;
use super::layout::{LOCK, MANIFEST_LOCK};
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
    /// Takes the cache for a bake, or fails at once.
    ///
    /// # Errors
    /// [`CacheError::Locked`] while somebody else works on it; those of the file system.
    pub fn take(cache: &Path) -> Result<Self, CacheError> {
        let path = cache.join(LOCK);
        let io = |e| CacheError::io("lock", &path, e);
        let mut file = open(&path)?;
        settle(cache, file.try_lock(), &file)?;
        file.set_len(0).map_err(io)?;
        file.seek(SeekFrom::Start(0)).map_err(io)?;
        writeln!(file, "{}", std::process::id()).map_err(io)?;
        Ok(Self { _file: file })
    }

    /// Takes part in work on a cache that is not being baked, along with any number of others.
    ///
    /// # Errors
    /// As [`CacheLock::take`].
    pub fn share(cache: &Path) -> Result<Self, CacheError> {
        let file = open(&cache.join(LOCK))?;
        settle(cache, file.try_lock_shared(), &file)?;
        Ok(Self { _file: file })
    }

    /// Waits until nobody else rewrites the manifest.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn wait_for_manifest(cache: &Path) -> Result<Self, CacheError> {
        let path = cache.join(MANIFEST_LOCK);
        let file = open(&path)?;
        file.lock().map_err(|e| CacheError::io("lock", &path, e))?;
        Ok(Self { _file: file })
    }
}

fn open(path: &Path) -> Result<File, CacheError> {
    let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).clone();
    options.open(path).map_err(|e| CacheError::io("lock", path, e))
}

/// Makes an error of a lock that could not be taken, with the number of the process that holds it.
fn settle(
    cache: &Path,
    taken: Result<(), TryLockError>,
    mut file: &File,
) -> Result<(), CacheError> {
    match taken {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            // Without the number the message is shorter, that is all.
            let _ = (&mut file).take(32).read_to_string(&mut text);
            let holder = text.trim().parse().ok();
            Err(CacheError::Locked { cache: cache.to_path_buf(), holder })
        }
        Err(TryLockError::Error(e)) => Err(CacheError::io("lock", &cache.join(LOCK), e)),
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
        let shared = CacheLock::share(cache.path()).unwrap_err();
        assert!(matches!(shared, CacheError::Locked { .. }));
        drop(held);
        CacheLock::take(cache.path()).unwrap();
    }

    #[test]
    fn what_adds_to_a_cache_keeps_bakes_out_and_nobody_else() {
        let cache = tempfile::tempdir().unwrap();
        let one = CacheLock::share(cache.path()).unwrap();
        let other = CacheLock::share(cache.path()).unwrap();
        assert!(matches!(CacheLock::take(cache.path()), Err(CacheError::Locked { .. })));
        drop((one, other));
        CacheLock::take(cache.path()).unwrap();
    }
}
