//! The digests that Alembic stores: MurmurHash3 x64 128 (A. Appleby, public domain) in front of
//! every sample, SpookyHash V2 (B. Jenkins, public domain) over properties and objects. Both with
//! seed 0, and equal to what the C++ library stores for the same contents.

/// A 128-bit digest as two words; stored little-endian, first word first.
pub(crate) type Digest = [u64; 2];

/// The 16 stored bytes of a digest.
pub(crate) fn bytes_of(digest: Digest) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&digest[0].to_le_bytes());
    bytes[8..].copy_from_slice(&digest[1].to_le_bytes());
    bytes
}

/// MurmurHash3 x64 128 of `bytes`, seed 0.
pub(crate) fn murmur3(bytes: &[u8]) -> Digest {
    const C1: u64 = 0x87c3_7b91_1142_53d5;
    const C2: u64 = 0x4cf5_ad43_2745_937f;
    let mix1 = |k: u64| k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2);
    let mix2 = |k: u64| k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1);
    let (mut h1, mut h2) = (0_u64, 0_u64);
    let mut blocks = bytes.chunks_exact(16);
    for block in &mut blocks {
        h1 ^= mix1(word(block));
        h1 = h1.rotate_left(27).wrapping_add(h2).wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 ^= mix2(word(&block[8..]));
        h2 = h2.rotate_left(31).wrapping_add(h1).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    let mut tail = [0; 16];
    let rest = blocks.remainder();
    tail[..rest.len()].copy_from_slice(rest);
    h1 ^= mix1(word(&tail));
    h2 ^= mix2(word(&tail[8..]));

    h1 ^= bytes.len() as u64;
    h2 ^= bytes.len() as u64;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    let avalanche = |mut h: u64| {
        h = (h ^ (h >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        h = (h ^ (h >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        h ^ (h >> 33)
    };
    (h1, h2) = (avalanche(h1), avalanche(h2));
    h1 = h1.wrapping_add(h2);
    [h1, h2.wrapping_add(h1)]
}

/// The little-endian word at the start of `bytes`, which holds 8 or more.
fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[..8]);
    u64::from_le_bytes(word)
}

/// SpookyHash's arbitrary odd constant.
const SPOOKY: u64 = 0xdead_beef_dead_beef;
/// Words of SpookyHash's state; a block is as long.
const WORDS: usize = 12;

/// SpookyHash V2 of `message`, seeds 0.
pub(crate) fn spooky(message: &[u8]) -> Digest {
    if message.len() < 2 * WORDS * 8 { spooky_short(message) } else { spooky_long(message) }
}

fn spooky_short(message: &[u8]) -> Digest {
    const ROTATIONS: [u32; 12] = [50, 52, 30, 41, 54, 48, 38, 37, 62, 34, 5, 36];
    let mut h = [0, 0, SPOOKY, SPOOKY];
    let mix = |h: &mut [u64; 4]| {
        for (step, rotation) in ROTATIONS.into_iter().enumerate() {
            let (turned, added, mixed) = ((step + 2) % 4, (step + 3) % 4, step % 4);
            h[turned] = h[turned].rotate_left(rotation).wrapping_add(h[added]);
            h[mixed] ^= h[turned];
        }
    };
    let mut chunks = message.chunks_exact(32);
    for chunk in &mut chunks {
        h[2] = h[2].wrapping_add(word(chunk));
        h[3] = h[3].wrapping_add(word(&chunk[8..]));
        mix(&mut h);
        h[0] = h[0].wrapping_add(word(&chunk[16..]));
        h[1] = h[1].wrapping_add(word(&chunk[24..]));
    }
    let mut rest = chunks.remainder();
    if rest.len() >= 16 {
        h[2] = h[2].wrapping_add(word(rest));
        h[3] = h[3].wrapping_add(word(&rest[8..]));
        mix(&mut h);
        rest = &rest[16..];
    }
    h[3] = h[3].wrapping_add((message.len() as u64) << 56);
    if rest.is_empty() {
        h[2] = h[2].wrapping_add(SPOOKY);
        h[3] = h[3].wrapping_add(SPOOKY);
    } else {
        let mut last = [0; 16];
        last[..rest.len()].copy_from_slice(rest);
        h[2] = h[2].wrapping_add(word(&last));
        h[3] = h[3].wrapping_add(word(&last[8..]));
    }
    short_end(&mut h);
    [h[0], h[1]]
}

fn short_end(h: &mut [u64; 4]) {
    const ROTATIONS: [u32; 11] = [15, 52, 26, 51, 28, 9, 47, 54, 32, 25, 63];
    for (step, rotation) in ROTATIONS.into_iter().enumerate() {
        let (target, turned) = ((step + 3) % 4, (step + 2) % 4);
        h[target] ^= h[turned];
        h[turned] = h[turned].rotate_left(rotation);
        h[target] = h[target].wrapping_add(h[turned]);
    }
}

/// Mixes the digest of one more sample into the running digest of a property.
pub(crate) fn accumulate(running: Digest, sample: Digest) -> Digest {
    let mut h = [running[0], running[1], sample[0], sample[1]];
    short_end(&mut h);
    [h[0], h[1]]
}

fn spooky_long(message: &[u8]) -> Digest {
    const MIX: [u32; WORDS] = [11, 32, 43, 31, 17, 28, 39, 57, 55, 54, 22, 46];
    const END: [u32; WORDS] = [44, 15, 34, 21, 38, 33, 10, 13, 38, 53, 42, 54];
    let mut s: [u64; WORDS] = std::array::from_fn(|i| if i % 3 == 2 { SPOOKY } else { 0 });
    let mut blocks = message.chunks_exact(WORDS * 8);
    for block in &mut blocks {
        for (i, rotation) in MIX.into_iter().enumerate() {
            s[i] = s[i].wrapping_add(word(&block[i * 8..]));
            s[(i + 2) % WORDS] ^= s[(i + 10) % WORDS];
            s[(i + 11) % WORDS] ^= s[i];
            s[i] = s[i].rotate_left(rotation);
            s[(i + 11) % WORDS] = s[(i + 11) % WORDS].wrapping_add(s[(i + 1) % WORDS]);
        }
    }
    let mut last = [0; WORDS * 8];
    let rest = blocks.remainder();
    last[..rest.len()].copy_from_slice(rest);
    last[WORDS * 8 - 1] = rest.len() as u8;
    for (i, value) in s.iter_mut().enumerate() {
        *value = value.wrapping_add(word(&last[i * 8..]));
    }
    for _ in 0..3 {
        for (i, rotation) in END.into_iter().enumerate() {
            let (a, b, c) = ((i + 11) % WORDS, (i + 1) % WORDS, (i + 2) % WORDS);
            s[a] = s[a].wrapping_add(s[b]);
            s[c] ^= s[a];
            s[b] = s[b].rotate_left(rotation);
        }
    }
    [s[0], s[1]]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference vectors of the published algorithms: murmur3 x64 128 of well-known texts.
    #[test]
    fn murmur3_matches_published_vectors() {
        assert_eq!(murmur3(b""), [0, 0]);
        assert_eq!(murmur3(b"hello"), [0xcbd8_a7b3_41bd_9b02, 0x5b1e_906a_48ae_1d19]);
        let fox = murmur3(b"The quick brown fox jumps over the lazy dog");
        assert_eq!(fox, [0xe34b_bc7b_bc07_1b6c, 0x7a43_3ca9_c49a_9347]);
    }

    /// The first reference results of SpookyHash V2's own test: 32 bits of messages 128, 129, ….
    #[test]
    fn spooky_matches_its_authors_results() {
        let message: Vec<u8> = (128..=255).collect();
        let expected = [
            0x6bf5_0919,
            0x70de_1d26,
            0xa2b3_7298,
            0x35bc_5fbf,
            0x8223_b279,
            0x5bcb_315e,
            0x53fe_88a1,
            0xf9f1_a233,
            0xee19_3982,
            0x54f8_6f29,
            0xc877_2d36,
            0x9ed6_0886,
            0x5f23_d1da,
            0x1ed9_f474,
        ];
        let found: Vec<u32> =
            (0..expected.len()).map(|len| spooky(&message[..len])[0] as u32).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn digests_depend_on_every_byte_and_on_the_length() {
        for hash in [murmur3 as fn(&[u8]) -> Digest, spooky] {
            let mut seen = std::collections::BTreeSet::new();
            let message: Vec<u8> = (0..400).map(|i| (i * 7) as u8).collect();
            for len in 0..message.len() {
                assert!(seen.insert(hash(&message[..len])), "length {len}");
            }
            for i in 0..message.len() {
                let mut changed = message.clone();
                changed[i] ^= 1;
                assert!(seen.insert(hash(&changed)), "byte {i}");
            }
        }
    }
}
