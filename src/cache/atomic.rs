//! Files that exist whole or not at all: written under a temporary name in the same folder, forced
//! to disk, and only then given their name.

use super::CacheError;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Size and checksum of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest {
    /// Length (bytes).
    pub bytes: u64,
    /// XXH3, 64 bit.
    pub xxh3: u64,
}

impl Digest {
    /// Digest of bytes in memory.
    pub fn of(bytes: &[u8]) -> Self {
        Self { bytes: bytes.len() as u64, xxh3: xxh3_64(bytes) }
    }

    /// Digest of everything that `reader` gives.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn of_reader(mut reader: impl Read) -> io::Result<Self> {
        let mut hasher = Xxh3::new();
        let mut buffer = vec![0; 1 << 18];
        let mut bytes = 0;
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return Ok(Self { bytes, xxh3: hasher.digest() }),
                Ok(n) => {
                    hasher.update(&buffer[..n]);
                    bytes += n as u64;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// Digest of a file.
    ///
    /// # Errors
    /// [`CacheError::Io`] and its kin if it cannot be read.
    pub fn of_file(path: &Path) -> Result<Self, CacheError> {
        File::open(path).and_then(Self::of_reader).map_err(|e| CacheError::io("read", path, e))
    }
}

/// A file under construction. Dropped without [`AtomicFile::commit`], it leaves nothing behind.
pub struct AtomicFile {
    file: Option<BufWriter<File>>,
    target: PathBuf,
    temporary: PathBuf,
}

impl AtomicFile {
    /// Starts a file that will be named `target`; its folder must exist.
    ///
    /// # Errors
    /// [`CacheError::Denied`], [`CacheError::DiskFull`] or [`CacheError::Io`].
    pub fn create(target: &Path) -> Result<Self, CacheError> {
        let temporary = temporary_name(target);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&temporary)
            .map_err(|e| CacheError::io("create", target, e))?;
        let file = Some(BufWriter::with_capacity(1 << 18, file));
        Ok(Self { file, target: target.to_path_buf(), temporary })
    }

    /// The name that the file will have.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Forces the contents to disk, gives the file its name, and returns its digest.
    ///
    /// # Errors
    /// [`CacheError::DiskFull`] and others; the old file of that name, if any, is then untouched.
    pub fn commit(mut self) -> Result<Digest, CacheError> {
        self.finish().map_err(|e| CacheError::io("write", &self.target, e))
    }

    fn finish(&mut self) -> io::Result<Digest> {
        let writer = self.file.take().ok_or_else(closed)?;
        let mut file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        let digest = Digest::of_reader(&mut file)?;
        file.sync_all()?;
        drop(file);
        fs::rename(&self.temporary, &self.target)?;
        sync_folder(self.target.parent().unwrap_or(Path::new(".")))?;
        Ok(digest)
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_mut().ok_or_else(closed)?.write(bytes)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.as_mut().ok_or_else(closed)?.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().ok_or_else(closed)?.flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.as_mut().ok_or_else(closed)?.seek(to)
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some(writer) = self.file.take() {
            // Without flushing: the contents are not wanted any more.
            drop(writer.into_parts());
        }
        // After a commit there is no such file; a failure leaves a name that `remove_stale` knows.
        let _ = fs::remove_file(&self.temporary);
    }
}

fn closed() -> io::Error {
    io::Error::other("the file is already closed")
}

/// Writes a whole file atomically.
///
/// # Errors
/// As [`AtomicFile::commit`].
pub fn write(target: &Path, contents: &[u8]) -> Result<Digest, CacheError> {
    let mut file = AtomicFile::create(target)?;
    file.write_all(contents).map_err(|e| CacheError::io("write", target, e))?;
    file.commit()
}

/// Makes the entries of a folder (new names, renames, removals) survive a loss of power. Without
/// effect on Windows, which offers no such call.
///
/// # Errors
/// Those of the file system.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Makes a folder and its parents.
///
/// # Errors
/// [`CacheError::NotAFolder`] if a file has its name; [`CacheError::Denied`] and others.
pub fn make_folder(folder: &Path) -> Result<(), CacheError> {
    if folder.is_dir() {
        return Ok(());
    }
    if folder.exists() {
        return Err(CacheError::NotAFolder { path: folder.to_path_buf() });
    }
    fs::create_dir_all(folder).map_err(|e| match e.kind() {
        io::ErrorKind::NotADirectory => CacheError::NotAFolder { path: folder.to_path_buf() },
        _ => CacheError::io("create the folder", folder, e),
    })
}

/// Removes what a killed process left under temporary names in `folder` (not below it); returns how
/// many files. Only call this while no other process writes there.
///
/// # Errors
/// [`CacheError::Denied`] and others. A missing folder is none.
pub fn remove_stale(folder: &Path) -> Result<usize, CacheError> {
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries.map_err(|e| CacheError::io("list", folder, e))?,
    };
    let mut removed = 0;
    for entry in entries {
        let entry = entry.map_err(|e| CacheError::io("list", folder, e))?;
        let is_file = entry.file_type().is_ok_and(|t| t.is_file());
        if is_file && is_temporary(&entry.file_name()) {
            let path = entry.path();
            fs::remove_file(&path).map_err(|e| CacheError::io("remove", &path, e))?;
            removed += 1;
        }
    }
    Ok(removed)
}

const TEMPORARY_MARK: &str = ".foreshore-";
const TEMPORARY_END: &str = ".tmp";

/// `.NAME.foreshore-PPPPPPPP.tmp`, where the P are the process number in hexadecimal.
fn temporary_name(target: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or(OsStr::new("")));
    name.push(format!("{TEMPORARY_MARK}{:08x}{TEMPORARY_END}", std::process::id()));
    target.with_file_name(name)
}

fn is_temporary(name: &OsStr) -> bool {
    let Some(name) = name.to_str().and_then(|n| n.strip_prefix('.')) else { return false };
    let Some(name) = name.strip_suffix(TEMPORARY_END) else { return false };
    let Some((stem, process)) = name.rsplit_once(TEMPORARY_MARK) else { return false };
    let hexadecimal = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    !stem.is_empty() && process.len() == 8 && process.chars().all(hexadecimal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_file_stands_until_the_commit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.abc");
        assert_eq!(write(&path, b"old").unwrap(), Digest::of(b"old"));
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"new and longer").unwrap();
        file.flush().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(file.commit().unwrap(), Digest::of(b"new and longer"));
        assert_eq!(fs::read(&path).unwrap(), b"new and longer");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_digest_sees_what_was_patched_after_seeking() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.vdb");
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"....body").unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        file.write_all(b"head").unwrap();
        assert_eq!(file.commit().unwrap(), Digest::of(b"headbody"));
        assert_eq!(Digest::of_file(&path).unwrap(), Digest::of(b"headbody"));
    }

    #[test]
    fn an_abandoned_file_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = AtomicFile::create(&folder.path().join("a.abc")).unwrap();
        file.write_all(&[7; 1 << 20]).unwrap();
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn only_our_own_leftovers_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let ours = temporary_name(&folder.path().join("water.0001.abc"));
        let others = [
            "water.0001.abc",
            ".foreshore-0000abcd.tmp",
            ".x.foreshore-0000ABCD.tmp",
            ".x.foreshore-abcd.tmp",
            "x.foreshore-0000abcd.tmp",
            ".x.foreshore-0000abcd.tmp~",
        ];
        fs::write(&ours, b"half").unwrap();
        for name in others {
            fs::write(folder.path().join(name), b"").unwrap();
        }
        assert_eq!(remove_stale(folder.path()).unwrap(), 1);
        assert!(!ours.exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), others.len());
        assert_eq!(remove_stale(&folder.path().join("missing")).unwrap(), 0);
    }

    #[test]
    fn a_file_in_place_of_a_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, b"").unwrap();
        assert!(matches!(make_folder(&file), Err(CacheError::NotAFolder { .. })));
        assert!(matches!(make_folder(&file.join("in")), Err(CacheError::NotAFolder { .. })));
        make_folder(&folder.path().join("a/b")).unwrap();
    }

    #[test]
    fn a_full_disk_is_told_as_such() {
        // A device that takes no byte; it exists on Linux only.
        let full = Path::new("/dev/full");
        if !full.exists() {
            return;
        }
        let error = OpenOptions::new()
            .write(true)
            .open(full)
            .and_then(|mut f| f.write_all(b"x"))
            .map_err(|e| CacheError::io("write", Path::new("c/p.0003.abc"), e))
            .unwrap_err();
        assert!(matches!(&error, CacheError::DiskFull { path } if path.ends_with("p.0003.abc")));
        assert!(error.to_string().contains("the disk is full"));
    }
}
