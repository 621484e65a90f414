//! zlib streams.

use super::{ChunkError, Workspace};
use flate2::{Compress, Decompress, FlushCompress, FlushDecompress, Status};

/// Compresses into `workspace.packed`; `false` if the result would not be smaller.
pub(super) fn compress(raw: &[u8], workspace: &mut Workspace) -> bool {
    let deflate = workspace
        .deflate
        .get_or_insert_with(|| Compress::new(flate2::Compression::default(), true));
    deflate.reset();
    workspace.packed.resize(raw.len(), 0);
    let status = deflate.compress(raw, &mut workspace.packed, FlushCompress::Finish);
    let packed = deflate.total_out() as usize;
    workspace.packed.truncate(packed);
    matches!(status, Ok(Status::StreamEnd)) && packed < raw.len()
}

pub(super) fn decompress(
    chunk: &[u8],
    raw: &mut [u8],
    workspace: &mut Workspace,
) -> Result<(), ChunkError> {
    let inflate = workspace.inflate.get_or_insert_with(|| Decompress::new(true));
    inflate.reset(true);
    let status = inflate.decompress(chunk, raw, FlushDecompress::Finish);
    let filled = inflate.total_out() == raw.len() as u64;
    match status {
        Ok(Status::StreamEnd) if filled => Ok(()),
        // A stream cut behind its last value still gives every value, but not its checksum.
        Ok(_) => {
            Err(ChunkError::damaged(format!("zlib stream does not end after {} bytes", raw.len())))
        }
        Err(error) => Err(ChunkError::damaged(format!("zlib: {error}"))),
    }
}
