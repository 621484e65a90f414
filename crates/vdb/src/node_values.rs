//! The values of one node, leaf or internal, as files store them.
//!
//! With active-mask compression a byte tells how the inactive values come back, and only active
//! values follow. Traps, which the reference library sets: with half floats a node without a value
//! to store writes nothing at all, not even a size; with a codec and full precision it writes a size
//! of zero; inactive values stand at full width even in half grids, but rounded.

use crate::bytes::{ByteReader, put_mask};
use crate::compression::{Compression, Workspace};
use crate::error::ReadError;
use crate::value::{Value, stored_bytes};

/// How the inactive values of a node come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Inactive {
    /// All are the background.
    Background = 0,
    /// All are −background.
    MinusBackground = 1,
    /// All are one value, stored.
    One = 2,
    /// A mask selects the background among −background.
    MaskOfBackground = 3,
    /// A mask selects the background among one value, stored.
    MaskOfBackgroundAndOne = 4,
    /// A mask selects the second of two values, both stored.
    MaskOfTwo = 5,
    /// More than two: every value is stored, active or not.
    AllStored = 6,
}

impl Inactive {
    const ALL: [Self; 7] = [
        Self::Background,
        Self::MinusBackground,
        Self::One,
        Self::MaskOfBackground,
        Self::MaskOfBackgroundAndOne,
        Self::MaskOfTwo,
        Self::AllStored,
    ];

    /// How many values are stored.
    fn stored(self) -> usize {
        match self {
            Self::One | Self::MaskOfBackgroundAndOne => 1,
            Self::MaskOfTwo => 2,
            _ => 0,
        }
    }

    fn has_mask(self) -> bool {
        matches!(self, Self::MaskOfBackground | Self::MaskOfBackgroundAndOne | Self::MaskOfTwo)
    }
}

/// How values of one grid are stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format<T> {
    pub(crate) compression: Compression,
    pub(crate) half: bool,
    pub(crate) background: T,
}

/// Buffers that are kept from one node to the next.
pub(crate) struct NodeWorkspace<T> {
    codec: Workspace,
    raw: Vec<u8>,
    active: Vec<T>,
}

impl<T> Default for NodeWorkspace<T> {
    fn default() -> Self {
        Self { codec: Workspace::default(), raw: Vec::new(), active: Vec::new() }
    }
}

impl<T: Value> Format<T> {
    /// Appends the values of a node. Positions in `children` hold no value.
    pub(crate) fn encode(
        &self,
        values: &[T],
        active: &[u64],
        children: Option<&[u64]>,
        workspace: &mut NodeWorkspace<T>,
        out: &mut Vec<u8>,
    ) {
        let (mode, inactive) = if self.compression.active_mask {
            classify(values, active, children, self.background)
        } else {
            (Inactive::AllStored, [self.background; 2])
        };
        out.push(mode as u8);
        let inactive_stored = inactive.map(|v| if self.half { v.rounded_to_half() } else { v });
        T::encode(&inactive_stored[..mode.stored()], out);
        if mode.has_mask() {
            put_mask(out, &select(values, active, children, inactive[1]));
        }
        let NodeWorkspace { codec, raw, active: gathered } = workspace;
        let stored = if mode == Inactive::AllStored {
            values
        } else {
            gather(values, active, gathered);
            gathered
        };
        raw.clear();
        let component_bytes = if self.half && T::HALF_BYTES.is_some() {
            if stored.is_empty() {
                return;
            }
            T::encode_half(stored, raw);
            2
        } else {
            T::encode(stored, raw);
            T::COMPONENT_BYTES
        };
        self.compression.codec.encode(raw, component_bytes, codec, out);
    }

    /// Moves past the values of a node of `count` values.
    pub(crate) fn skip(
        &self,
        input: &mut ByteReader,
        active: &[u64],
        count: usize,
    ) -> Result<(), ReadError> {
        let mode = read_mode(input)?;
        input.take(mode.stored() * T::BYTES, "inactive values")?;
        if mode.has_mask() {
            input.take(count / 8, "selection mask")?;
        }
        match self.raw_bytes(mode, active, count) {
            Some(bytes) => self.compression.codec.skip(input, bytes),
            None => Ok(()),
        }
    }

    /// Reads the values of a node into `values`.
    pub(crate) fn decode(
        &self,
        input: &mut ByteReader,
        active: &[u64],
        workspace: &mut NodeWorkspace<T>,
        values: &mut [T],
    ) -> Result<(), ReadError> {
        let mode = read_mode(input)?;
        let mut inactive = [
            if mode == Inactive::Background { self.background } else { self.background.negated() },
            self.background,
        ];
        let stored = mode.stored();
        T::decode(input.take(stored * T::BYTES, "inactive values")?, &mut inactive[..stored]);
        let selection =
            if mode.has_mask() { input.take(values.len() / 8, "selection mask")? } else { &[] };

        let NodeWorkspace { codec, raw, active: gathered } = workspace;
        let all_stored = mode == Inactive::AllStored || !self.compression.active_mask;
        let count = if all_stored { values.len() } else { count_bits(active) };
        match self.raw_bytes(mode, active, values.len()) {
            Some(bytes) => {
                raw.resize(bytes, 0);
                self.compression.codec.decode(input, codec, raw)?;
            }
            None => raw.clear(),
        }
        let decode = if self.half { T::decode_half } else { T::decode };
        if count == values.len() {
            decode(raw, values);
            return Ok(());
        }
        gathered.resize(count, T::default());
        decode(raw, gathered);
        scatter(gathered, active, selection, inactive, values);
        Ok(())
    }

    /// Bytes of the node's stored values before compression; `None` if nothing follows at all.
    fn raw_bytes(&self, mode: Inactive, active: &[u64], count: usize) -> Option<usize> {
        let all_stored = mode == Inactive::AllStored || !self.compression.active_mask;
        let stored = if all_stored { count } else { count_bits(active) };
        let nothing = stored == 0 && self.half && T::HALF_BYTES.is_some();
        (!nothing).then(|| stored * stored_bytes::<T>(self.half))
    }
}

fn read_mode(input: &mut ByteReader) -> Result<Inactive, ReadError> {
    let byte = input.u8("node values")?;
    let mode = Inactive::ALL.get(usize::from(byte)).copied();
    mode.ok_or_else(|| input.corrupt(format!("unknown storage of inactive values: {byte}")))
}

fn count_bits(mask: &[u64]) -> usize {
    mask.iter().map(|w| w.count_ones() as usize).sum()
}

/// Positions of the set bits of the word at `index` of a mask.
pub(crate) fn bits(index: usize, mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let bit = word.trailing_zeros() as usize;
            word &= word - 1;
            index * 64 + bit
        })
    })
}

/// Inactive positions that hold a value, word by word.
fn inactive_words(active: &[u64], children: Option<&[u64]>) -> impl Iterator<Item = u64> {
    active.iter().enumerate().map(move |(w, on)| !(on | children.map_or(0, |c| c[w])))
}

/// Finds the distinct inactive values, at most two, and how to store them.
fn classify<T: Value>(
    values: &[T],
    active: &[u64],
    children: Option<&[u64]>,
    background: T,
) -> (Inactive, [T; 2]) {
    let mut distinct = [background; 2];
    let mut count = 0;
    for (w, word) in inactive_words(active, children).enumerate() {
        for i in bits(w, word) {
            let value = values[i];
            if distinct[..count].contains(&value) {
                continue;
            }
            if count == 2 {
                return (Inactive::AllStored, distinct);
            }
            distinct[count] = value;
            count += 1;
        }
    }
    if count == 2 && distinct[0] == background {
        distinct.swap(0, 1);
    }
    let minus = distinct[0] == background.negated();
    let mode = match count {
        0 => Inactive::Background,
        1 if distinct[0] == background => Inactive::Background,
        1 if minus => Inactive::MinusBackground,
        1 => Inactive::One,
        _ if distinct[1] != background => Inactive::MaskOfTwo,
        _ if minus => Inactive::MaskOfBackground,
        _ => Inactive::MaskOfBackgroundAndOne,
    };
    (mode, distinct)
}

/// Mask of the inactive positions that hold `value`.
fn select<T: Value>(values: &[T], active: &[u64], children: Option<&[u64]>, value: T) -> Vec<u64> {
    inactive_words(active, children)
        .enumerate()
        .map(|(w, word)| {
            bits(w, word).filter(|&i| values[i] == value).fold(0, |m, i| m | (1 << (i & 63)))
        })
        .collect()
}

/// Collects the active values in order.
fn gather<T: Copy>(values: &[T], active: &[u64], gathered: &mut Vec<T>) {
    gathered.clear();
    for (w, (word, row)) in active.iter().zip(values.chunks_exact(64)).enumerate() {
        match *word {
            u64::MAX => gathered.extend_from_slice(row),
            word => gathered.extend(bits(w, word).map(|i| values[i])),
        }
    }
}

/// Puts active values back in their places and restores inactive ones.
fn scatter<T: Copy>(
    gathered: &[T],
    active: &[u64],
    selection: &[u8],
    inactive: [T; 2],
    values: &mut [T],
) {
    let mut gathered = gathered.iter();
    for (w, row) in values.chunks_exact_mut(64).enumerate() {
        let mut second = [0; 8];
        if let Some(bytes) = selection.get(w * 8..w * 8 + 8) {
            second.copy_from_slice(bytes);
        }
        let second = u64::from_le_bytes(second);
        row.fill(inactive[0]);
        for i in bits(0, second & !active[w]) {
            row[i] = inactive[1];
        }
        for (i, value) in bits(0, active[w]).zip(&mut gathered) {
            row[i] = *value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compression::Codec;

    const BACKGROUND: f32 = 0.75;

    /// Leaves whose inactive values call for each mode in turn.
    fn leaf_for(mode: Inactive) -> ([f32; 512], [u64; 8]) {
        let active = [0x00ff_00ff_00ff_00ff_u64; 8];
        let mut values: [f32; 512] = std::array::from_fn(|i| i as f32 * 0.125);
        for i in 0..512 {
            if (active[i >> 6] >> (i & 63)) & 1 == 1 {
                continue;
            }
            let odd = i % 3 == 0;
            values[i] = match mode {
                Inactive::Background => BACKGROUND,
                Inactive::MinusBackground => -BACKGROUND,
                Inactive::One => 0.3,
                Inactive::MaskOfBackground if odd => BACKGROUND,
                Inactive::MaskOfBackground => -BACKGROUND,
                Inactive::MaskOfBackgroundAndOne if odd => 0.3,
                Inactive::MaskOfBackgroundAndOne => BACKGROUND,
                Inactive::MaskOfTwo if odd => 0.3,
                Inactive::MaskOfTwo => 0.6,
                Inactive::AllStored => i as f32,
            };
        }
        (values, active)
    }

    fn format(codec: Codec, active_mask: bool, half: bool) -> Format<f32> {
        Format { compression: Compression { codec, active_mask }, half, background: BACKGROUND }
    }

    #[test]
    fn every_mode_restores_every_value() {
        let mut workspace = NodeWorkspace::default();
        for codec in [Codec::None, Codec::Zip, Codec::Blosc] {
            for (mask, half) in [(true, true), (true, false), (false, true), (false, false)] {
                for mode in Inactive::ALL {
                    let (values, active) = leaf_for(mode);
                    let format = format(codec, mask, half);
                    let mut bytes = Vec::new();
                    format.encode(&values, &active, None, &mut workspace, &mut bytes);
                    assert_eq!(bytes[0], if mask { mode as u8 } else { 6 });
                    let mut back = [0.0; 512];
                    let mut input = ByteReader::new(&bytes, 0);
                    format.decode(&mut input, &active, &mut workspace, &mut back).unwrap();
                    assert_eq!(input.remaining(), 0);
                    let expected = values.map(|v| if half { v.rounded_to_half() } else { v });
                    assert_eq!(back, expected, "{codec:?} {mask} {half} {mode:?}");
                    let mut input = ByteReader::new(&bytes, 0);
                    format.skip(&mut input, &active, 512).unwrap();
                    assert_eq!(input.remaining(), 0);
                }
            }
        }
    }

    #[test]
    fn a_node_without_active_values_writes_no_size_with_half_and_zero_without() {
        let values = [BACKGROUND; 512];
        for (codec, half, expected) in [
            (Codec::None, true, vec![0]),
            (Codec::None, false, vec![0]),
            (Codec::Blosc, true, vec![0]),
            (Codec::Zip, true, vec![0]),
            (Codec::Blosc, false, vec![0; 9]),
            (Codec::Zip, false, vec![0; 9]),
        ] {
            let mut bytes = Vec::new();
            let mut workspace = NodeWorkspace::default();
            format(codec, true, half).encode(&values, &[0; 8], None, &mut workspace, &mut bytes);
            assert_eq!(bytes, expected, "{codec:?} half {half}");
        }
    }

    #[test]
    fn children_are_neither_active_nor_counted() {
        let mut values = [BACKGROUND; 512];
        values[..64].fill(123.0);
        let children = [u64::MAX, 0, 0, 0, 0, 0, 0, 0];
        let (mode, _) = classify(&values, &[0; 8], Some(&children), BACKGROUND);
        assert_eq!(mode, Inactive::Background);
    }
}
