//! `stats.jsonl`: one line of figures for each frame.

use super::CacheError;
use super::atomic;
use super::layout::STATS;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The statistics of a cache that is being baked. Lines are appended as frames end; since that is
/// not atomic, a torn last line is dropped when the bake is resumed.
pub struct StatsLog {
    path: PathBuf,
    file: File,
}

#[derive(Deserialize)]
struct Numbered {
    frame: i32,
}

impl StatsLog {
    /// Starts the statistics of a bake that continues after `kept`: lines of later frames (they will
    /// be baked again), of no frame, and repetitions are dropped. Without `kept` all are.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn open(cache: &Path, kept: Option<i32>) -> Result<Self, CacheError> {
        let path = cache.join(STATS);
        let old = match (kept, fs::read(&path)) {
            (None, _) => Vec::new(),
            (_, Err(e)) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
            (_, contents) => contents.map_err(|e| CacheError::io("read", &path, e))?,
        };
        let mut lines: BTreeMap<i32, &[u8]> = BTreeMap::new();
        for line in old.split_inclusive(|b| *b == b'\n').filter(|l| l.ends_with(b"\n")) {
            if let Ok(Numbered { frame }) = serde_json::from_slice(line) {
                lines.insert(frame, line);
            }
        }
        lines.retain(|frame, _| kept.is_some_and(|last| *frame <= last));
        let text: Vec<u8> = lines.into_values().flatten().copied().collect();
        atomic::write(&path, &text)?;
        let opened = OpenOptions::new().append(true).open(&path);
        let file = opened.map_err(|e| CacheError::io("open", &path, e))?;
        Ok(Self { path, file })
    }

    /// Adds the line of a frame. `figures` must serialise to an object with a number `frame`.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn append(&mut self, figures: &impl Serialize) -> Result<(), CacheError> {
        let io = |e| CacheError::io("write", &self.path, e);
        let mut line = serde_json::to_vec(figures).map_err(|e| io(e.into()))?;
        line.push(b'\n');
        self.file.write_all(&line).map_err(io)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Line {
        frame: i32,
        run: u32,
    }

    #[test]
    fn after_a_resume_there_is_still_one_line_a_frame() {
        let cache = tempfile::tempdir().unwrap();
        let mut log = StatsLog::open(cache.path(), None).unwrap();
        (1..=4).for_each(|frame| log.append(&Line { frame, run: 1 }).unwrap());
        log.file.write_all(b"{\"frame\":5,\"ru").unwrap();
        let mut log = StatsLog::open(cache.path(), Some(2)).unwrap();
        (3..=4).for_each(|frame| log.append(&Line { frame, run: 2 }).unwrap());
        let text = fs::read_to_string(cache.path().join(STATS)).unwrap();
        let line = |frame, run| format!("{{\"frame\":{frame},\"run\":{run}}}\n");
        assert_eq!(text, [line(1, 1), line(2, 1), line(3, 2), line(4, 2)].concat());
        StatsLog::open(cache.path(), None).unwrap();
        assert_eq!(fs::read(cache.path().join(STATS)).unwrap(), b"");
    }
}
