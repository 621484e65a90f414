//! Writes pieces in their order while others are still being made, packed if wanted.

use super::request::Piece;
use flate2::{Compress, Compression, Crc, FlushCompress};
use rayon::prelude::*;
use std::io::{self, Write};

/// Pieces that are in memory at a time, twice: those that are written and those that are made. Fixed,
/// so that neither bytes nor memory depend on the machine.
const AT_ONCE: usize = 64;
/// What any gzip file starts with: deflated, no name, no time, from an unknown system [RFC 1952 §2.3].
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
/// An empty last block of fixed codes [RFC 1951 §3.2.3].
const END: [u8; 2] = [0x03, 0x00];

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Packing {
    /// Plain text.
    Plain,
    /// Text packed with gzip, as RenderMan reads it.
    Gzip,
}

/// A piece as it goes into the file.
struct Packed {
    bytes: Vec<u8>,
    crc: Crc,
}

/// Writes pieces in their order. Each is packed by itself up to a whole byte, so that the file is one
/// gzip stream whose bytes do not depend on the number of threads.
pub(super) fn write(
    out: &mut (impl Write + Send),
    pieces: &[Piece<'_>],
    packing: Packing,
) -> io::Result<()> {
    if packing == Packing::Gzip {
        out.write_all(&HEADER)?;
    }
    let mut crc = Crc::new();
    let mut ready = Vec::new();
    for batch in pieces.chunks(AT_ONCE).chain([&[][..]]) {
        let (put, made) = rayon::join(|| put(out, &ready, &mut crc), || make(batch, packing));
        put?;
        ready = made?;
    }
    if packing == Packing::Gzip {
        out.write_all(&END)?;
        out.write_all(&crc.sum().to_le_bytes())?;
        out.write_all(&crc.amount().to_le_bytes())?;
    }
    Ok(())
}

fn put(out: &mut impl Write, pieces: &[Packed], crc: &mut Crc) -> io::Result<()> {
    for piece in pieces {
        crc.combine(&piece.crc);
        out.write_all(&piece.bytes)?;
    }
    Ok(())
}

fn make(pieces: &[Piece<'_>], packing: Packing) -> io::Result<Vec<Packed>> {
    pieces.par_iter().map(|piece| pack(piece.text(), packing)).collect()
}

fn pack(text: Vec<u8>, packing: Packing) -> io::Result<Packed> {
    if packing == Packing::Plain {
        return Ok(Packed { bytes: text, crc: Crc::new() });
    }
    let mut crc = Crc::new();
    crc.update(&text);
    let mut bytes = Vec::with_capacity(text.len() / 2 + 64);
    let mut deflate = Compress::new(Compression::fast(), false);
    loop {
        let taken = deflate.total_in() as usize;
        deflate.compress_vec(&text[taken..], &mut bytes, FlushCompress::Sync)?;
        // Room is left only when all has come out.
        if bytes.len() < bytes.capacity() && deflate.total_in() as usize == text.len() {
            return Ok(Packed { bytes, crc });
        }
        bytes.reserve(bytes.capacity());
    }
}
