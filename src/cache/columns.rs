//! Columns of the particle set and of the deep water as little-endian bytes, for checkpoints.

use crate::numerics::field::{Block, Field};
use crate::numerics::grid::{BLOCK_CELLS, BlockGrid};
use crate::numerics::mask::BlockMask;
use crate::numerics::transfer::FaceField;
use crate::particles::{
    CarriedContacts, CarriedKick, CarriedStress, Clump, DeepWater, GrainState, PairContact,
    Particles, PoreWater, QuietBlocks, STRESS_COMPONENTS, SolidContact, Stress,
};
use bytemuck::Pod;
use glam::{IVec3, Mat3, Vec3};
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
impl Element for GrainState {
    const LAYOUT: u32 = layout(true, 4, 8);
}
impl Element for PoreWater {
    const LAYOUT: u32 = layout(true, 4, 2);
}
impl Element for Clump {
    const LAYOUT: u32 = layout(true, 4, 8);
}

const POSITION: [u8; 12] = *b"position\0\0\0\0";
const VELOCITY: [u8; 12] = *b"velocity\0\0\0\0";
const ID: [u8; 12] = *b"id\0\0\0\0\0\0\0\0\0\0";
const BIRTH: [u8; 12] = *b"birth\0\0\0\0\0\0\0";
const MATERIAL: [u8; 12] = *b"material\0\0\0\0";
const AFFINE: [u8; 12] = *b"affine\0\0\0\0\0\0";
const CLUMP: [u8; 12] = *b"clump\0\0\0\0\0\0\0";
const GRAIN: [u8; 12] = *b"grain\0\0\0\0\0\0\0";
const PORE: [u8; 12] = *b"pore\0\0\0\0\0\0\0\0";

impl Element for IVec3 {
    const LAYOUT: u32 = layout(false, 4, 3);
}
impl Element for BlockMask {
    const LAYOUT: u32 = layout(false, 8, 8);
}
impl Element for [f32; BLOCK_CELLS] {
    const LAYOUT: u32 = layout(true, 4, BLOCK_CELLS as u32);
}

const DEEP_BLOCKS: [u8; 12] = *b"deep.blocks\0";
const DEEP_CELLS: [u8; 12] = *b"deep.cells\0\0";
const DEEP_CLOSED: [u8; 12] = *b"deep.closed\0";
const DEEP_VELOCITY: [[u8; 12]; 3] =
    [*b"deep.u\0\0\0\0\0\0", *b"deep.v\0\0\0\0\0\0", *b"deep.w\0\0\0\0\0\0"];
const DEEP_BOOKS: [u8; 12] = *b"deep.books\0\0";

/// The columns of deep water on their way from a file.
#[derive(Default)]
pub struct DeepColumns {
    blocks: Vec<IVec3>,
    cells: Vec<BlockMask>,
    closed: Vec<BlockMask>,
    velocity: [Vec<[f32; BLOCK_CELLS]>; 3],
    books: Vec<u64>,
}

/// All columns of deep water; none if there never was any.
pub fn of_deep(deep: &DeepWater) -> Vec<Column<'_>> {
    // Taken apart so that a new field cannot be forgotten here.
    let DeepWater { grid, cells, closed, velocity, volume, owed, absorbed, reseeded } = deep;
    let books = [*volume, owed.cast_unsigned(), *absorbed, *reseeded];
    if grid.is_empty() && books == [0; 4] {
        return Vec::new();
    }
    let mut columns = vec![
        column(DEEP_BLOCKS, grid.blocks()),
        column(DEEP_CELLS, cells),
        column(DEEP_CLOSED, closed),
        owned_column(DEEP_BOOKS, &books),
    ];
    for (name, axis) in DEEP_VELOCITY.into_iter().zip(&velocity.axes) {
        let values: Vec<[f32; BLOCK_CELLS]> = axis.blocks.iter().map(|block| block.0).collect();
        columns.push(owned_column(name, &values));
    }
    columns
}

/// As [`column`], with a copy of the values.
fn owned_column<T: Element>(name: [u8; 12], values: &[T]) -> Column<'static> {
    let Column { entry, bytes } = column(name, values);
    Column { entry, bytes: Cow::Owned(bytes.into_owned()) }
}

impl DeepColumns {
    /// As [`allocate`], for a column of deep water.
    pub fn allocate(&mut self, entry: &Entry) -> Option<&mut [u8]> {
        match entry.name {
            DEEP_BLOCKS => any_room(&mut self.blocks, entry),
            DEEP_CELLS => any_room(&mut self.cells, entry),
            DEEP_CLOSED => any_room(&mut self.closed, entry),
            DEEP_BOOKS => any_room(&mut self.books, entry),
            name => {
                let axis = DEEP_VELOCITY.iter().position(|v| *v == name)?;
                any_room(&mut self.velocity[axis], entry)
            }
        }
    }

    /// The deep water, or `None` if columns are missing or do not fit together.
    pub fn finish(self) -> Option<DeepWater> {
        let Self { blocks, cells, closed, velocity, books } = self;
        let grid = BlockGrid::from_blocks(blocks.iter().copied());
        let lengths = velocity.each_ref().map(Vec::len);
        let fits = grid.blocks() == blocks
            && [cells.len(), closed.len()] == [blocks.len(); 2]
            && lengths == [blocks.len(); 3];
        let [volume, owed, absorbed, reseeded] = match books[..] {
            [] if blocks.is_empty() => [0; 4],
            [a, b, c, d] => [a, b, c, d],
            _ => return None,
        };
        let mut deep =
            DeepWater { grid, cells, closed, volume, absorbed, reseeded, ..Default::default() };
        deep.owed = owed.cast_signed();
        for (axis, values) in deep.velocity.axes.iter_mut().zip(velocity) {
            axis.blocks = values.into_iter().map(Block).collect();
        }
        fits.then_some(deep)
    }
}

const KICK_BLOCKS: [u8; 12] = *b"kick.blocks\0";
const KICK_FACES: [[u8; 12]; 3] =
    [*b"kick.u\0\0\0\0\0\0", *b"kick.v\0\0\0\0\0\0", *b"kick.w\0\0\0\0\0\0"];
const KICK_ACCELERATION: [[u8; 12]; 3] =
    [*b"kick.a\0\0\0\0\0\0", *b"kick.b\0\0\0\0\0\0", *b"kick.c\0\0\0\0\0\0"];
const KICK_TIME: [u8; 12] = *b"kick.time\0\0\0";
const KICK_STEPS: [u8; 12] = *b"kick.steps\0\0";

/// All columns of what particles carry of the last acceleration; none if they carry nothing.
pub fn of_kick(kick: &CarriedKick) -> Vec<Column<'_>> {
    // Taken apart so that a new field cannot be forgotten here.
    let CarriedKick { grid, kick, acceleration, time, steps } = kick;
    if grid.is_empty() {
        return Vec::new();
    }
    let mut columns = vec![
        column(KICK_BLOCKS, grid.blocks()),
        owned_column(KICK_TIME, &[*time]),
        owned_column(KICK_STEPS, &[*steps]),
    ];
    let kicks = KICK_FACES.into_iter().zip(&kick.axes);
    for (name, axis) in kicks.chain(KICK_ACCELERATION.into_iter().zip(&acceleration.axes)) {
        let values: Vec<[f32; BLOCK_CELLS]> = axis.blocks.iter().map(|block| block.0).collect();
        columns.push(owned_column(name, &values));
    }
    columns
}

/// The columns of what particles carry of the last acceleration on their way from a file.
#[derive(Default)]
pub struct KickColumns {
    blocks: Vec<IVec3>,
    kick: [Vec<[f32; BLOCK_CELLS]>; 3],
    acceleration: [Vec<[f32; BLOCK_CELLS]>; 3],
    time: Vec<f32>,
    steps: Vec<u64>,
}

impl KickColumns {
    /// As [`allocate`], for a column of what particles carry.
    pub fn allocate(&mut self, entry: &Entry) -> Option<&mut [u8]> {
        match entry.name {
            KICK_BLOCKS => any_room(&mut self.blocks, entry),
            KICK_TIME => any_room(&mut self.time, entry),
            KICK_STEPS => any_room(&mut self.steps, entry),
            name => match KICK_FACES.iter().position(|n| *n == name) {
                Some(axis) => any_room(&mut self.kick[axis], entry),
                None => {
                    let axis = KICK_ACCELERATION.iter().position(|n| *n == name)?;
                    any_room(&mut self.acceleration[axis], entry)
                }
            },
        }
    }

    /// What particles carry, or `None` if columns are missing or do not fit together.
    pub fn finish(self) -> Option<CarriedKick> {
        let Self { blocks, kick, acceleration, time, steps } = self;
        let grid = BlockGrid::from_blocks(blocks.iter().copied());
        let faces = kick.iter().chain(&acceleration);
        let fits =
            grid.blocks() == blocks && faces.map(Vec::len).all(|length| length == blocks.len());
        let (time, steps) = match (&time[..], &steps[..]) {
            ([], []) if blocks.is_empty() => return fits.then(CarriedKick::default),
            ([time], [steps]) => (*time, *steps),
            _ => return None,
        };
        let field = |blocks: Vec<_>| Field { blocks: blocks.into_iter().map(Block).collect() };
        let [kick, acceleration] =
            [kick, acceleration].map(|axes| FaceField { axes: axes.map(field) });
        fits.then_some(CarriedKick { grid, kick, acceleration, time, steps })
    }
}

impl Element for Stress {
    const LAYOUT: u32 = layout(true, 4, (STRESS_COMPONENTS * BLOCK_CELLS) as u32);
}

const STRESS_BLOCKS: [u8; 12] = *b"stress.block";
const STRESS_PRESSURE: [u8; 12] = *b"stress.p\0\0\0\0";
const STRESS_FRICTION: [u8; 12] = *b"stress.s\0\0\0\0";
const WALL_COUNTS: [u8; 12] = *b"stress.walls";
const WALL_CELLS: [u8; 12] = *b"stress.cells";
const WALL_FRICTION: [u8; 12] = *b"stress.t\0\0\0\0";
const QUIET_BLOCKS: [u8; 12] = *b"quiet.block\0";
const QUIET_TIMES: [u8; 12] = *b"quiet.time\0\0";

/// All columns of the stress in sand; none without any.
pub fn of_stress(stress: &CarriedStress) -> Vec<Column<'_>> {
    // Taken apart so that a new field cannot be forgotten here.
    let CarriedStress { grid, pressure, stress, walls, quiet, contacts } = stress;
    let contacts = of_contacts(contacts);
    if grid.is_empty() && quiet.is_empty() {
        return contacts;
    }
    let (quiet, times): (Vec<IVec3>, Vec<f32>) = quiet.times().iter().copied().unzip();
    let pressure: Vec<[f32; BLOCK_CELLS]> = pressure.blocks.iter().map(|block| block.0).collect();
    let counts: Vec<u64> = walls.iter().map(|cells| cells.len() as u64).collect();
    let cells: Vec<u64> = walls.iter().flatten().map(|(index, _)| u64::from(*index)).collect();
    let friction: Vec<Vec3> = walls.iter().flatten().map(|(_, friction)| *friction).collect();
    let of_grid = [
        column(STRESS_BLOCKS, grid.blocks()),
        owned_column(STRESS_PRESSURE, &pressure),
        column(STRESS_FRICTION, stress),
        owned_column(WALL_COUNTS, &counts),
        owned_column(WALL_CELLS, &cells),
        owned_column(WALL_FRICTION, &friction),
        owned_column(QUIET_BLOCKS, &quiet),
        owned_column(QUIET_TIMES, &times),
    ];
    contacts.into_iter().chain(of_grid).collect()
}

impl Element for [u64; 2] {
    const LAYOUT: u32 = layout(false, 8, 2);
}
impl Element for [f32; 6] {
    const LAYOUT: u32 = layout(true, 4, 6);
}
impl Element for [f32; 9] {
    const LAYOUT: u32 = layout(true, 4, 9);
}

const PAIR_GRAINS: [u8; 12] = *b"pair.grains\0";
const PAIR_MEMORY: [u8; 12] = *b"pair.memory\0";
const SOLID_GRAINS: [u8; 12] = *b"solid.grains";
const SOLID_MEMORY: [u8; 12] = *b"solid.memory";
const GRAIN_BOOKS: [u8; 12] = *b"grain.books\0";

/// All columns of what grains remember; none without any.
fn of_contacts(contacts: &CarriedContacts) -> Vec<Column<'static>> {
    // Taken apart so that a new field cannot be forgotten here.
    let CarriedContacts { pairs, solids, steps, absorbed, released, dried } = contacts;
    let books = [*steps, *absorbed, *released, *dried];
    if books == [0; 4] {
        return Vec::new();
    }
    let (grains, memory): (Vec<_>, Vec<_>) = pairs.iter().map(|c| (c.grains, c.memory)).unzip();
    let (at, kept): (Vec<_>, Vec<_>) =
        solids.iter().map(|c| ([c.grain, c.owner], c.memory)).unzip();
    vec![
        owned_column(GRAIN_BOOKS, &books),
        owned_column(PAIR_GRAINS, &grains),
        owned_column(PAIR_MEMORY, &memory),
        owned_column(SOLID_GRAINS, &at),
        owned_column(SOLID_MEMORY, &kept),
    ]
}

/// The columns of what grains remember on their way from a file.
#[derive(Default)]
struct ContactColumns {
    books: Vec<u64>,
    pair_grains: Vec<[u64; 2]>,
    pair_memory: Vec<[f32; 6]>,
    solid_grains: Vec<[u64; 2]>,
    solid_memory: Vec<[f32; 9]>,
}

impl ContactColumns {
    fn finish(self) -> Option<CarriedContacts> {
        let Self { books, pair_grains, pair_memory, solid_grains, solid_memory } = self;
        let fits =
            pair_grains.len() == pair_memory.len() && solid_grains.len() == solid_memory.len();
        let [steps, absorbed, released, dried] = match books[..] {
            [] if pair_grains.is_empty() && solid_grains.is_empty() => [0; 4],
            [a, b, c, d] => [a, b, c, d],
            _ => return None,
        };
        let pairs = pair_grains.into_iter().zip(pair_memory);
        let pairs = pairs.map(|(grains, memory)| PairContact { grains, memory }).collect();
        let solids = solid_grains.into_iter().zip(solid_memory);
        let solids =
            solids.map(|([grain, owner], memory)| SolidContact { grain, owner, memory }).collect();
        fits.then_some(CarriedContacts { pairs, solids, steps, absorbed, released, dried })
    }
}

/// The columns of the stress in sand on their way from a file.
#[derive(Default)]
pub struct StressColumns {
    blocks: Vec<IVec3>,
    pressure: Vec<[f32; BLOCK_CELLS]>,
    friction: Vec<Stress>,
    counts: Vec<u64>,
    cells: Vec<u64>,
    at_walls: Vec<Vec3>,
    quiet: Vec<IVec3>,
    times: Vec<f32>,
    contacts: ContactColumns,
}

impl StressColumns {
    /// As [`allocate`], for a column of the stress.
    pub fn allocate(&mut self, entry: &Entry) -> Option<&mut [u8]> {
        match entry.name {
            STRESS_BLOCKS => any_room(&mut self.blocks, entry),
            STRESS_PRESSURE => any_room(&mut self.pressure, entry),
            STRESS_FRICTION => any_room(&mut self.friction, entry),
            WALL_COUNTS => any_room(&mut self.counts, entry),
            WALL_CELLS => any_room(&mut self.cells, entry),
            WALL_FRICTION => any_room(&mut self.at_walls, entry),
            QUIET_BLOCKS => any_room(&mut self.quiet, entry),
            QUIET_TIMES => any_room(&mut self.times, entry),
            GRAIN_BOOKS => any_room(&mut self.contacts.books, entry),
            PAIR_GRAINS => any_room(&mut self.contacts.pair_grains, entry),
            PAIR_MEMORY => any_room(&mut self.contacts.pair_memory, entry),
            SOLID_GRAINS => any_room(&mut self.contacts.solid_grains, entry),
            SOLID_MEMORY => any_room(&mut self.contacts.solid_memory, entry),
            _ => None,
        }
    }

    /// The stress, or `None` if columns are missing or do not fit together.
    pub fn finish(self) -> Option<CarriedStress> {
        let Self { blocks, pressure, friction, counts, cells, at_walls, quiet, times, contacts } =
            self;
        let contacts = contacts.finish()?;
        let grid = BlockGrid::from_blocks(blocks.iter().copied());
        let lengths = [pressure.len(), friction.len(), counts.len()];
        let total = counts.iter().try_fold(0u64, |sum, count| sum.checked_add(*count))?;
        let fits = grid.blocks() == blocks
            && quiet.len() == times.len()
            && lengths == [blocks.len(); 3]
            && [total; 2] == [cells.len() as u64, at_walls.len() as u64]
            && cells.iter().all(|cell| *cell < BLOCK_CELLS as u64);
        if !fits {
            return None;
        }
        let mut each = cells.into_iter().map(|cell| cell as u16).zip(at_walls);
        let walls =
            counts.iter().map(|count| each.by_ref().take(*count as usize).collect()).collect();
        let pressure = Field { blocks: pressure.into_iter().map(Block).collect() };
        let quiet = QuietBlocks::new(quiet.into_iter().zip(times).collect());
        Some(CarriedStress { grid, pressure, stress: friction, walls, quiet, contacts })
    }
}

fn any_room<'a, T: Element>(values: &'a mut Vec<T>, entry: &Entry) -> Option<&'a mut [u8]> {
    room(values, entry, entry.bytes / size_of::<T>() as u64)
}

/// All columns of the set, but for those that are empty.
pub fn of(particles: &Particles) -> Vec<Column<'_>> {
    // Taken apart so that a new column cannot be forgotten here.
    let Particles { position, velocity, id, birth, material, affine, clump, grain, pore } =
        particles;
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
    if !clump.is_empty() {
        columns.push(column(CLUMP, clump));
    }
    if !grain.is_empty() {
        columns.push(column(GRAIN, grain));
    }
    if !pore.is_empty() {
        columns.push(column(PORE, pore));
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
        CLUMP => room(&mut particles.clump, entry, count),
        GRAIN => room(&mut particles.grain, entry, count),
        PORE => room(&mut particles.pore, entry, count),
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
    let Particles { position, velocity, id, birth, material, affine, clump, grain, pore } =
        particles;
    let lengths = [position.len(), velocity.len(), id.len(), birth.len(), material.len()];
    let further = [affine.len(), clump.len(), grain.len(), pore.len()];
    further.iter().all(|l| *l == 0 || *l as u64 == count)
        && lengths.iter().all(|l| *l as u64 == count)
}
