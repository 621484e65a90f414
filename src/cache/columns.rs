//! Columns of the particle set as little-endian bytes, for checkpoints.

use crate::particles::Particles;
use bytemuck::Pod;
use glam::{Mat3, Vec3};
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_64;

/// Length of a row of the table of columns (bytes).
pub const ENTRY_BYTES: usize = 32;

/// A column on its way to a file.
pub struct Column<'a> {
    entry: Entry,
    /// Its values, little endian.
    pub bytes: Cow<'a, [u8]>,
}

/// A row of the table of columns.
pub struct Entry {
    name: [u8; 12],
    /// Kind of number in the low byte (0 unsigned, 1 float), bytes per number in the second, numbers
    /// per particle in the third.
    layout: u32,
    /// Length of the column (bytes).
    pub bytes: u64,
    /// XXH3 of the column, 64 bit.
    pub xxh3: u64,
}

impl Column<'_> {
    /// The row of the table.
    pub fn to_bytes(&self) -> [u8; ENTRY_BYTES] {
        let mut row = [0; ENTRY_BYTES];
        row[..12].copy_from_slice(&self.entry.name);
        row[12..16].copy_from_slice(&self.entry.layout.to_le_bytes());
        row[16..24].copy_from_slice(&self.entry.bytes.to_le_bytes());
        row[24..].copy_from_slice(&self.entry.xxh3.to_le_bytes());
        row
    }
}

impl Entry {
    /// Reads a row of the table; `row` has [`ENTRY_BYTES`] bytes.
    pub fn from_bytes(row: &[u8]) -> Self {
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| row[at + i]));
        Self {
            name: std::array::from_fn(|i| row[i]),
            layout: u32::from_le_bytes(std::array::from_fn(|i| row[12 + i])),
            bytes: word(16),
            xxh3: word(24),
        }
    }

    /// The column's name, for messages.
    pub fn name(&self) -> String {
        String::from_utf8_lossy(&self.name).trim_end_matches('\0').to_owned()
    }
}

/// A type of particle attribute.
trait Element: Pod {
    /// As [`Entry::layout`].
    const LAYOUT: u32;
    /// Bytes of a number.
    const WORD: usize = ((Self::LAYOUT >> 8) & 0xff) as usize;
}

const fn layout(float: bool, bytes: u32, numbers: u32) -> u32 {
    float as u32 | bytes << 8 | numbers << 16
}

impl Element for u8 {
    const LAYOUT: u32 = layout(false, 1, 1);
}
impl Element for u64 {
    const LAYOUT: u32 = layout(false, 8, 1);
}
impl Element for f32 {
    const LAYOUT: u32 = layout(true, 4, 1);
}
impl Element for Vec3 {
    const LAYOUT: u32 = layout(true, 4, 3);
}
impl Element for Mat3 {
    const LAYOUT: u32 = layout(true, 4, 9);
}

const POSITION: [u8; 12] = *b"position\0\0\0\0";
const VELOCITY: [u8; 12] = *b"velocity\0\0\0\0";
const ID: [u8; 12] = *b"id\0\0\0\0\0\0\0\0\0\0";
const BIRTH: [u8; 12] = *b"birth\0\0\0\0\0\0\0";
const MATERIAL: [u8; 12] = *b"material\0\0\0\0";
const AFFINE: [u8; 12] = *b"affine\0\0\0\0\0\0";

/// All columns of the set, but for an empty `affine`.
pub fn of(particles: &Particles) -> Vec<Column<'_>> {
    // Taken apart so that a new column cannot be forgotten here.
    let Particles { position, velocity, id, birth, material, affine } = particles;
    let mut columns = vec![
        column(POSITION, position),
        column(VELOCITY, velocity),
        column(ID, id),
        column(BIRTH, birth),
        column(MATERIAL, material),
    ];
    if !affine.is_empty() {
        columns.push(column(AFFINE, affine));
    }
    columns
}

fn column<T: Element>(name: [u8; 12], values: &[T]) -> Column<'_> {
    let mut bytes = Cow::Borrowed(bytemuck::cast_slice(values));
    if cfg!(target_endian = "big") {
        swap_words(bytes.to_mut(), T::WORD);
    }
    let (length, xxh3) = (bytes.len() as u64, xxh3_64(&bytes));
    Column { entry: Entry { name, layout: T::LAYOUT, bytes: length, xxh3 }, bytes }
}

/// Makes room for the column that `entry` describes and returns it as bytes, or `None` if there is
/// no such column, its type is another, it is there already, or its length is not that of `count`
/// particles.
pub fn allocate<'a>(
    particles: &'a mut Particles,
    entry: &Entry,
    count: u64,
) -> Option<&'a mut [u8]> {
    match entry.name {
        POSITION => room(&mut particles.position, entry, count),
        VELOCITY => room(&mut particles.velocity, entry, count),
        ID => room(&mut particles.id, entry, count),
        BIRTH => room(&mut particles.birth, entry, count),
        MATERIAL => room(&mut particles.material, entry, count),
        AFFINE => room(&mut particles.affine, entry, count),
        _ => None,
    }
}

fn room<'a, T: Element>(values: &'a mut Vec<T>, entry: &Entry, count: u64) -> Option<&'a mut [u8]> {
    let fits = count.checked_mul(size_of::<T>() as u64) == Some(entry.bytes);
    if !fits || entry.layout != T::LAYOUT || !values.is_empty() {
        return None;
    }
    values.resize(usize::try_from(count).ok()?, T::zeroed());
    Some(bytemuck::cast_slice_mut(values))
}

/// Turns the column that was just read from little endian into the machine's own order.
pub fn to_native_order(bytes: &mut [u8], entry: &Entry) {
    if cfg!(target_endian = "big") {
        swap_words(bytes, ((entry.layout >> 8) & 0xff) as usize);
    }
}

fn swap_words(bytes: &mut [u8], word: usize) {
    bytes.chunks_exact_mut(word.max(1)).for_each(<[u8]>::reverse);
}

/// Whether all columns that must be there are there.
pub fn complete(particles: &Particles, count: u64) -> bool {
    let Particles { position, velocity, id, birth, material, affine } = particles;
    let lengths = [position.len(), velocity.len(), id.len(), birth.len(), material.len()];
    let affine = affine.is_empty() || affine.len() as u64 == count;
    affine && lengths.iter().all(|l| *l as u64 == count)
}
