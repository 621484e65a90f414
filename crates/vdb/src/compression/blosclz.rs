//! BloscLZ, the codec that C-Blosc uses unless told otherwise: decompression only.
//!
//! A stream of instructions. One below 32 copies that many bytes plus one from the stream. Any
//! other repeats earlier output: its top three bits give the length (7: more bytes follow, as long
//! as they are 255), its low five bits and the next byte the distance (all ones: 16 bits follow).

/// Furthest distance of the short form.
const SHORT_DISTANCE: usize = 8191;

/// Restores a stream; returns the number of bytes, 0 if the stream is damaged.
pub(super) fn decompress(stream: &[u8], out: &mut [u8]) -> usize {
    expand(stream, out).unwrap_or(0)
}

fn expand(stream: &[u8], out: &mut [u8]) -> Option<usize> {
    let mut input = stream;
    let mut filled = 0;
    // The top bits of the first instruction hold a version.
    let mut instruction = next(&mut input)? & 31;
    loop {
        if instruction < 32 {
            let count = instruction + 1;
            let (literal, rest) = input.split_at_checked(count)?;
            out.get_mut(filled..filled + count)?.copy_from_slice(literal);
            input = rest;
            filled += count;
        } else {
            let (count, distance) = repetition(instruction, &mut input)?;
            let source = filled.checked_sub(distance)?;
            if filled + count > out.len() {
                return None;
            }
            if distance >= count {
                out.copy_within(source..source + count, filled);
            } else {
                for i in 0..count {
                    out[filled + i] = out[source + i];
                }
            }
            filled += count;
        }
        match next(&mut input) {
            Some(byte) => instruction = byte,
            None => return Some(filled),
        }
    }
}

fn next(input: &mut &[u8]) -> Option<usize> {
    let (first, rest) = input.split_first()?;
    *input = rest;
    Some(usize::from(*first))
}

/// Length and distance of a repetition.
fn repetition(instruction: usize, input: &mut &[u8]) -> Option<(usize, usize)> {
    let mut count = (instruction >> 5) - 1;
    if count == 6 {
        loop {
            let more = next(input)?;
            count += more;
            if more != 255 {
                break;
            }
        }
    }
    let high = (instruction & 31) << 8;
    let low = next(input)?;
    let distance = if high + low == SHORT_DISTANCE {
        let far = next(input)? << 8;
        far + next(input)? + SHORT_DISTANCE
    } else {
        high + low
    };
    Some((count + 3, distance + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn restored(stream: &[u8], count: usize) -> Option<Vec<u8>> {
        let mut out = vec![0; count];
        (decompress(stream, &mut out) == count).then_some(out)
    }

    #[test]
    fn literals_and_repetitions_are_restored() {
        // Three literals (version bits set), 4 bytes from distance 3, then a run of one byte.
        let stream = [0x22, b'a', b'b', b'c', (2 << 5), 2, 0, b'x', (7 << 5), 10, 0];
        let mut expected = b"abcabcax".to_vec();
        expected.extend([b'x'; 6 + 10 + 3]);
        assert_eq!(restored(&stream, expected.len()), Some(expected));
    }

    #[test]
    fn far_repetitions_are_restored() {
        // 32 literals, then a run up to 9000 bytes, then 3 bytes from distance 8999.
        let mut stream = vec![31];
        stream.extend(0..32);
        let (mut run, mut lengths) = (9000 - 32 - 9, Vec::new());
        while run >= 255 {
            lengths.push(255);
            run -= 255;
        }
        lengths.push(run as u8);
        stream.push(7 << 5);
        stream.extend(lengths);
        stream.push(0);
        let far = 8999 - 1 - SHORT_DISTANCE;
        stream.extend([(1 << 5) | 31, 255, (far >> 8) as u8, far as u8]);
        let out = restored(&stream, 9003).unwrap();
        assert_eq!(out[9000..], [1, 2, 3]);
        assert!(out[32..9000].iter().all(|b| *b == 31));
    }

    #[test]
    fn damaged_streams_give_nothing() {
        for stream in [&[][..], &[31, 0], &[0, 5, 1 << 5, 7], &[0, 5, 7 << 5], &[0, 5, 1 << 5]] {
            assert_eq!(decompress(stream, &mut [0; 64]), 0, "{stream:?}");
        }
    }
}
