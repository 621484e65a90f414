//! Chunks of the Blosc 1 format (C-Blosc's `README_CHUNK_FORMAT.rst`).
//!
//! A chunk is a header of 16 bytes, the positions of its blocks, and the blocks. Each block is one
//! stream, or one per byte of the element ("split"), each behind its size. Bytes of elements are
//! usually shuffled: all first bytes, then all second bytes, and so on.

use super::{ChunkError, Workspace, blosclz, zip};
use lz4_flex::block;

const HEADER_BYTES: usize = 16;
const FORMAT_VERSION: u8 = 2;
const LZ4_VERSION: u8 = 1;

const SHUFFLED: u8 = 0x01;
const COPIED: u8 = 0x02;
const BIT_SHUFFLED: u8 = 0x04;
const NOT_SPLIT: u8 = 0x10;
const LZ4: u8 = 1 << 5;

/// C-Blosc leaves smaller buffers alone; so do we.
const SMALLEST: usize = 128;
/// Blocks were split into at most this many streams, of at least [`SMALLEST`] elements.
const MOST_SPLITS: usize = 16;

/// Compresses into `workspace.packed`: one block, not split, LZ4 over shuffled bytes. `false` if
/// the result would not be smaller.
pub(super) fn compress(raw: &[u8], component_bytes: usize, workspace: &mut Workspace) -> bool {
    if raw.len() < SMALLEST {
        return false;
    }
    let Workspace { shuffled, packed, .. } = workspace;
    shuffled.resize(raw.len(), 0);
    shuffle(raw, component_bytes, shuffled);

    const PREFIX: usize = HEADER_BYTES + 8; // header, position of the block, size of its stream
    packed.resize(PREFIX + block::get_maximum_output_size(raw.len()), 0);
    let Ok(stream) = block::compress_into(shuffled, &mut packed[PREFIX..]) else {
        return false;
    };
    let total = PREFIX + stream;
    if total >= raw.len() {
        return false;
    }
    packed.truncate(total);
    let flags = SHUFFLED | NOT_SPLIT | LZ4;
    packed[..4].copy_from_slice(&[FORMAT_VERSION, LZ4_VERSION, flags, component_bytes as u8]);
    let words = [raw.len(), raw.len(), total, HEADER_BYTES + 4, stream];
    for (slot, word) in packed[4..PREFIX].chunks_exact_mut(4).zip(words) {
        slot.copy_from_slice(&(word as u32).to_le_bytes());
    }
    true
}

/// Restores a chunk as C-Blosc writes them: several blocks, split or not, shuffled or not, copied,
/// with BloscLZ, LZ4, LZ4HC or zlib.
pub(super) fn decompress(
    chunk: &[u8],
    raw: &mut [u8],
    workspace: &mut Workspace,
) -> Result<(), ChunkError> {
    let header = Header::parse(chunk)?;
    if header.raw_bytes != raw.len() {
        let found = header.raw_bytes;
        return Err(ChunkError::damaged(format!(
            "Blosc chunk of {found} bytes instead of {}",
            raw.len()
        )));
    }
    if raw.is_empty() {
        return Ok(());
    }
    if header.flags & COPIED != 0 {
        let copied = chunk[HEADER_BYTES..].get(..raw.len());
        raw.copy_from_slice(copied.ok_or_else(|| ChunkError::damaged("Blosc chunk ends early"))?);
        return Ok(());
    }
    let block_bytes = header.block_bytes.min(raw.len());
    let mut shuffled = std::mem::take(&mut workspace.shuffled);
    shuffled.resize(block_bytes, 0);
    let mut result = Ok(());
    for (index, block) in raw.chunks_mut(block_bytes).enumerate() {
        let whole = block.len() == header.block_bytes;
        let streams = &mut shuffled[..block.len()];
        result = word(chunk, HEADER_BYTES + 4 * index)
            .and_then(|start| header.decode_block(chunk, start, whole, streams, workspace));
        if result.is_err() {
            break;
        }
        if header.flags & SHUFFLED != 0 && header.element_bytes > 1 {
            unshuffle(streams, header.element_bytes, block);
        } else {
            block.copy_from_slice(streams);
        }
    }
    workspace.shuffled = shuffled;
    result
}

struct Header {
    flags: u8,
    element_bytes: usize,
    raw_bytes: usize,
    block_bytes: usize,
}

impl Header {
    fn parse(chunk: &[u8]) -> Result<Self, ChunkError> {
        let &[version, _, flags, element, ..] = chunk else {
            return Err(ChunkError::damaged("Blosc chunk without a header"));
        };
        if version != FORMAT_VERSION {
            return Err(ChunkError::Unsupported(format!("Blosc format {version}")));
        }
        if flags & BIT_SHUFFLED != 0 {
            return Err(ChunkError::Unsupported("Blosc with shuffled bits".into()));
        }
        let (raw_bytes, block_bytes, total) = (word(chunk, 4)?, word(chunk, 8)?, word(chunk, 12)?);
        if element == 0 || block_bytes == 0 || total > chunk.len() {
            return Err(ChunkError::damaged("Blosc header contradicts itself"));
        }
        Ok(Self { flags, element_bytes: element.into(), raw_bytes, block_bytes })
    }

    /// Number of streams of a block; a shorter last block is never split.
    fn streams(&self, whole_block: bool) -> usize {
        let split = self.flags & NOT_SPLIT == 0
            && whole_block
            && self.element_bytes <= MOST_SPLITS
            && self.block_bytes / self.element_bytes >= SMALLEST;
        if split { self.element_bytes } else { 1 }
    }

    /// Restores the streams of a block, still shuffled.
    fn decode_block(
        &self,
        chunk: &[u8],
        start: usize,
        whole: bool,
        block: &mut [u8],
        workspace: &mut Workspace,
    ) -> Result<(), ChunkError> {
        let streams = self.streams(whole);
        if !block.len().is_multiple_of(streams) {
            return Err(ChunkError::damaged("Blosc block does not divide into its streams"));
        }
        let mut position = start;
        for part in block.chunks_exact_mut(block.len() / streams) {
            let size = word(chunk, position)?;
            position += 4;
            let stream = chunk[position..].get(..size);
            let stream = stream.ok_or_else(|| ChunkError::damaged("Blosc stream ends early"))?;
            position += size;
            if size == part.len() {
                part.copy_from_slice(stream);
            } else {
                self.decode_stream(stream, part, workspace)?;
            }
        }
        Ok(())
    }

    fn decode_stream(
        &self,
        stream: &[u8],
        part: &mut [u8],
        workspace: &mut Workspace,
    ) -> Result<(), ChunkError> {
        let filled = match self.flags >> 5 {
            0 => blosclz::decompress(stream, part),
            1 => block::decompress_into(stream, part)
                .map_err(|error| ChunkError::damaged(format!("LZ4: {error}")))?,
            3 => return zip::decompress(stream, part, workspace),
            2 => return Err(ChunkError::Unsupported("Blosc with Snappy".into())),
            4 => return Err(ChunkError::Unsupported("Blosc with Zstandard".into())),
            other => return Err(ChunkError::Unsupported(format!("Blosc codec {other}"))),
        };
        if filled == part.len() {
            Ok(())
        } else {
            Err(ChunkError::damaged("Blosc stream holds too few bytes"))
        }
    }
}

/// A 32-bit word of the chunk, which must not be negative.
fn word(chunk: &[u8], position: usize) -> Result<usize, ChunkError> {
    let bytes: Option<[u8; 4]> = position
        .checked_add(4)
        .and_then(|end| chunk.get(position..end))
        .and_then(|b| b.try_into().ok());
    bytes
        .and_then(|b| usize::try_from(i32::from_le_bytes(b)).ok())
        .ok_or_else(|| ChunkError::damaged("Blosc chunk ends early"))
}

/// All first bytes of the elements, then all second bytes, and so on; an incomplete last element
/// stays behind.
fn shuffle(raw: &[u8], element: usize, shuffled: &mut [u8]) {
    match element {
        1 => shuffled.copy_from_slice(raw),
        2 => transpose::<2>(raw, shuffled),
        4 => transpose::<4>(raw, shuffled),
        8 => transpose::<8>(raw, shuffled),
        _ => {
            let count = raw.len() / element;
            let (elements, rest) = raw.split_at(count * element);
            for (i, bytes) in elements.chunks_exact(element).enumerate() {
                for (b, byte) in bytes.iter().enumerate() {
                    shuffled[b * count + i] = *byte;
                }
            }
            shuffled[count * element..].copy_from_slice(rest);
        }
    }
}

fn transpose<const N: usize>(raw: &[u8], shuffled: &mut [u8]) {
    let count = raw.len() / N;
    let (elements, rest) = raw.split_at(count * N);
    let (planes, tail) = shuffled.split_at_mut(count * N);
    if count > 0 {
        for (b, plane) in planes.chunks_exact_mut(count).enumerate() {
            for (byte, bytes) in plane.iter_mut().zip(elements.chunks_exact(N)) {
                *byte = bytes[b];
            }
        }
    }
    tail.copy_from_slice(rest);
}

/// Undoes [`shuffle`].
fn unshuffle(shuffled: &[u8], element: usize, raw: &mut [u8]) {
    let count = raw.len() / element;
    let (planes, rest) = shuffled.split_at(count * element);
    let (elements, tail) = raw.split_at_mut(count * element);
    match element {
        2 => interleave::<2>(planes, count, elements),
        4 => interleave::<4>(planes, count, elements),
        8 => interleave::<8>(planes, count, elements),
        _ => {
            for (i, bytes) in elements.chunks_exact_mut(element).enumerate() {
                for (b, byte) in bytes.iter_mut().enumerate() {
                    *byte = planes[b * count + i];
                }
            }
        }
    }
    tail.copy_from_slice(rest);
}

fn interleave<const N: usize>(planes: &[u8], count: usize, elements: &mut [u8]) {
    let planes: [&[u8]; N] = std::array::from_fn(|b| &planes[b * count..][..count]);
    for (i, bytes) in elements.chunks_exact_mut(N).enumerate() {
        for (byte, plane) in bytes.iter_mut().zip(planes) {
            *byte = plane[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chunk with the given header whose blocks hold the given streams.
    fn chunk(flags: u8, element: u8, raw: usize, block: usize, blocks: &[Vec<Vec<u8>>]) -> Vec<u8> {
        let mut body = Vec::new();
        let mut starts = Vec::new();
        for streams in blocks {
            starts.push((HEADER_BYTES + 4 * blocks.len() + body.len()) as u32);
            for stream in streams {
                body.extend((stream.len() as u32).to_le_bytes());
                body.extend(stream);
            }
        }
        let total = HEADER_BYTES + 4 * blocks.len() + body.len();
        let mut bytes = vec![FORMAT_VERSION, 1, flags, element];
        bytes.extend([raw, block, total].iter().flat_map(|v| (*v as u32).to_le_bytes()));
        bytes.extend(starts.iter().flat_map(|v| v.to_le_bytes()));
        bytes.extend(body);
        bytes
    }

    fn restore(chunk: &[u8], raw: usize) -> Result<Vec<u8>, ChunkError> {
        let mut back = vec![0; raw];
        decompress(chunk, &mut back, &mut Workspace::default()).map(|()| back)
    }

    fn ramp(count: usize) -> Vec<u8> {
        (0..count / 4).flat_map(|i| (i as u32 / 3).to_le_bytes()).collect()
    }

    #[test]
    fn shuffling_is_undone_for_every_element_size() {
        let raw: Vec<u8> = (0..1003_u32).map(|i| (i * 7) as u8).collect();
        for element in [1, 2, 3, 4, 8, 12] {
            let (mut shuffled, mut back) = (vec![0; raw.len()], vec![0; raw.len()]);
            shuffle(&raw, element, &mut shuffled);
            unshuffle(&shuffled, element, &mut back);
            assert_eq!(back, raw, "{element}");
        }
    }

    #[test]
    fn split_blocks_and_a_shorter_last_block_are_restored() {
        let raw = ramp(4 * 1024 + 100);
        let blocks: Vec<Vec<Vec<u8>>> = raw
            .chunks(1024)
            .map(|block| {
                let mut shuffled = vec![0; block.len()];
                shuffle(block, 4, &mut shuffled);
                let streams = if block.len() == 1024 { 4 } else { 1 };
                shuffled.chunks(block.len() / streams).map(block::compress).collect()
            })
            .collect();
        let bytes = chunk(SHUFFLED | LZ4, 4, raw.len(), 1024, &blocks);
        assert_eq!(restore(&bytes, raw.len()).unwrap(), raw);
    }

    #[test]
    fn copied_chunks_and_incompressible_streams_are_restored() {
        let raw: Vec<u8> = (0..200).collect();
        let mut bytes = vec![FORMAT_VERSION, 1, COPIED, 4];
        bytes.extend([200_u32, 200, 216].iter().flat_map(|v| v.to_le_bytes()));
        bytes.extend(&raw);
        assert_eq!(restore(&bytes, 200).unwrap(), raw);

        let stored = chunk(NOT_SPLIT | LZ4, 4, 200, 200, &[vec![raw.clone()]]);
        assert_eq!(restore(&stored, 200).unwrap(), raw);
    }

    #[test]
    fn other_codecs_are_restored_or_named() {
        let raw = ramp(512);
        let mut workspace = Workspace::default();
        assert!(zip::compress(&raw, &mut workspace));
        let zlib = chunk(NOT_SPLIT | 3 << 5, 4, 512, 512, &[vec![workspace.packed.clone()]]);
        assert_eq!(restore(&zlib, 512).unwrap(), raw);
        for (codec, name) in [(2, "Snappy"), (4, "Zstandard")] {
            let bytes = chunk(NOT_SPLIT | codec << 5, 4, 512, 512, &[vec![vec![0; 9]]]);
            let error = restore(&bytes, 512).unwrap_err();
            assert!(matches!(&error, ChunkError::Unsupported(m) if m.contains(name)), "{error:?}");
        }
    }

    #[test]
    fn no_cut_or_changed_byte_panics() {
        let raw = ramp(2048);
        let mut workspace = Workspace::default();
        assert!(compress(&raw, 4, &mut workspace));
        let good = workspace.packed.clone();
        for i in 0..good.len() {
            assert!(restore(&good[..i], 2048).is_err());
            for flip in [0x01, 0x80, 0xff] {
                let mut bad = good.clone();
                bad[i] ^= flip;
                let _ = restore(&bad, 2048);
            }
        }
    }
}
