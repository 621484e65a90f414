//! The complete state of a simulation on disk, to go on from bit for bit.
//!
//! The format is described in `docs/cache-format.md`: a header of fixed length, a short JSON
//! text about its origin, and the columns of the particles, each with its length and checksum.

use super::CacheError;
use super::atomic::AtomicFile;
use super::columns::{self, ENTRY_BYTES};
use super::layout::CHECKPOINTS;
use crate::particles::{BodyState, CarriedKick, CarriedStress, DeepWater, Particles};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// First bytes of every checkpoint.
const MAGIC: [u8; 8] = *b"\x89FSHCKP\n";
/// The format that this version writes, and the only one that it reads.
const FORMAT: u32 = 4;
/// Length of the fixed header (bytes), its checksum included.
const HEADER_BYTES: usize = 80;
/// How many checkpoints a cache keeps.
pub const KEPT: usize = 2;

/// What belongs to a state beside the particles themselves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counters {
    /// Frame of the state.
    pub frame: i32,
    /// Substeps since the start.
    pub step: u64,
    /// Identity of the next particle.
    pub next_id: u64,
    /// Particles emitted since the start.
    pub emitted: u64,
    /// Particles that left since the start.
    pub removed: u64,
    /// Particles that each sink took since the start.
    pub sunk: Vec<u64>,
    /// Particles that each emitter still owes.
    pub owed: Vec<f64>,
    /// Rigid bodies in the order of the scene.
    pub bodies: Vec<BodyState>,
}

/// The JSON text of a checkpoint.
#[derive(Serialize, Deserialize)]
struct Preface {
    #[serde(flatten)]
    origin: Origin,
    sunk: Vec<u64>,
    /// As bits: a decimal number might come back as its neighbour.
    owed_bits: Vec<u64>,
    /// As bits, too; see [`BodyState::to_array`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    body_bits: Vec<[u64; 13]>,
}

/// Where a state comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Version of Foreshore that simulated it.
    pub foreshore: String,
    /// Hash of all that the simulation depends on: a state fits a scene of the same hash.
    pub simulation_hash: String,
}

/// A checkpoint in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Where it comes from.
    pub origin: Origin,
    /// Frame and counters.
    pub counters: Counters,
    /// All particles in order.
    pub particles: Particles,
    /// The water without particles.
    pub deep: DeepWater,
    /// What particles of water carry of the last acceleration.
    pub kick: CarriedKick,
    /// The stress in free-flowing sand.
    pub stress: CarriedStress,
}

/// Path of the checkpoint of `frame`.
pub fn path_of(cache: &Path, frame: i32) -> PathBuf {
    cache.join(CHECKPOINTS).join(format!("frame.{frame:04}.checkpoint"))
}

/// Frames that have a checkpoint, newest first; whether they are valid is not looked at.
///
/// # Errors
/// A folder that cannot be listed. A missing one is none.
pub fn list(cache: &Path) -> Result<Vec<i32>, CacheError> {
    let folder = cache.join(CHECKPOINTS);
    let entries = match fs::read_dir(&folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|e| CacheError::io("list", &folder, e))?,
    };
    let mut frames = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|e| CacheError::io("list", &folder, e))?;
        let name = entry.file_name();
        let stem = name.to_str().and_then(|n| n.strip_prefix("frame."));
        let number = stem.and_then(|n| n.strip_suffix(".checkpoint")).and_then(|n| n.parse().ok());
        // The comparison rejects other spellings of the number, which are not our files.
        frames.extend(number.filter(|frame| path_of(cache, *frame) == entry.path()));
    }
    frames.sort_unstable_by(|a: &i32, b| b.cmp(a));
    Ok(frames)
}

/// Removes all checkpoints of the cache, or those later than `frame`; returns how many.
///
/// # Errors
/// A file that cannot be removed.
pub fn remove_after(cache: &Path, frame: Option<i32>) -> Result<usize, CacheError> {
    let late = list(cache)?.into_iter().filter(|f| frame.is_none_or(|last| *f > last));
    late.map(|f| remove(cache, f)).try_fold(0, |n, removed| removed.map(|()| n + 1))
}

fn remove(cache: &Path, frame: i32) -> Result<(), CacheError> {
    let path = path_of(cache, frame);
    fs::remove_file(&path).map_err(|e| CacheError::io("remove", &path, e))
}

/// Writes a checkpoint atomically and removes all but the newest two. Its folder must exist.
///
/// # Errors
/// Those of the file system.
pub fn write(
    cache: &Path,
    origin: &Origin,
    counters: &Counters,
    particles: &Particles,
    deep: &DeepWater,
    (kick, stress): (&CarriedKick, &CarriedStress),
) -> Result<(), CacheError> {
    let path = path_of(cache, counters.frame);
    let mut file = AtomicFile::create(&path)?;
    write_to(&mut file, origin, counters, particles, deep, (kick, stress))
        .map_err(|e| CacheError::io("write", &path, e))?;
    file.commit()?;
    let all = list(cache)?.into_iter();
    let mut old = all.filter(|f| *f != counters.frame).skip(KEPT - 1);
    old.try_for_each(|frame| remove(cache, frame))
}

fn write_to(
    out: &mut impl Write,
    origin: &Origin,
    counters: &Counters,
    particles: &Particles,
    deep: &DeepWater,
    (kick, stress): (&CarriedKick, &CarriedStress),
) -> io::Result<()> {
    let preface = serde_json::to_vec(&Preface {
        origin: origin.clone(),
        sunk: counters.sunk.clone(),
        owed_bits: counters.owed.iter().map(|owed| owed.to_bits()).collect(),
        body_bits: counters.bodies.iter().map(|b| b.to_array().map(f64::to_bits)).collect(),
    })?;
    let mut columns = columns::of(particles);
    columns.extend(columns::of_deep(deep));
    columns.extend(columns::of_kick(kick));
    columns.extend(columns::of_stress(stress));
    let mut head = Vec::with_capacity(HEADER_BYTES);
    head.extend(MAGIC);
    head.extend(FORMAT.to_le_bytes());
    head.extend(counters.frame.to_le_bytes());
    for value in [counters.step, counters.next_id, counters.emitted, counters.removed] {
        head.extend(value.to_le_bytes());
    }
    head.extend((particles.len() as u64).to_le_bytes());
    head.extend((preface.len() as u64).to_le_bytes());
    head.extend((columns.len() as u64).to_le_bytes());

    let mut table = preface;
    for column in &columns {
        table.extend(column.to_bytes());
    }
    let mut hasher = Xxh3::new();
    hasher.update(&head);
    hasher.update(&table);
    head.extend(hasher.digest().to_le_bytes());

    out.write_all(&head)?;
    out.write_all(&table)?;
    columns.iter().try_for_each(|column| out.write_all(&column.bytes))
}

/// Reads the checkpoint of a frame and checks every byte of it.
///
/// # Errors
/// [`CacheError::BadCheckpoint`] if it is truncated, altered, or of another kind;
/// [`CacheError::NewerFormat`]; those of the file system.
pub fn read(cache: &Path, frame: i32) -> Result<Checkpoint, CacheError> {
    let path = path_of(cache, frame);
    let io = |e| CacheError::io("read", &path, e);
    let file = File::open(&path).map_err(io)?;
    let length = file.metadata().map_err(io)?.len();
    let checkpoint = read_from(BufReader::with_capacity(1 << 18, file), length);
    match checkpoint {
        Ok(c) if c.counters.frame != frame => Err(CacheError::BadCheckpoint {
            path,
            detail: format!("it is of frame {}", c.counters.frame),
        }),
        Ok(checkpoint) => Ok(checkpoint),
        Err(Refusal::Newer(found)) => {
            Err(CacheError::NewerFormat { path, found: found.into(), known: FORMAT.into() })
        }
        Err(Refusal::Damaged(detail)) => Err(CacheError::BadCheckpoint { path, detail }),
        Err(Refusal::Io(e)) if e.kind() == io::ErrorKind::UnexpectedEof => {
            Err(CacheError::BadCheckpoint { path, detail: "it ends early".to_owned() })
        }
        Err(Refusal::Io(e)) => Err(CacheError::io("read", &path, e)),
    }
}

enum Refusal {
    Damaged(String),
    Newer(u32),
    Io(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn damaged<T>(detail: &str) -> Result<T, Refusal> {
    Err(Refusal::Damaged(detail.to_owned()))
}

/// Reads from a source of `length` bytes. No allocation exceeds `length`.
fn read_from(mut source: impl Read, length: u64) -> Result<Checkpoint, Refusal> {
    let mut head = [0; HEADER_BYTES];
    source.read_exact(&mut head)?;
    let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| head[at + i]));
    let half = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| head[at + i]));
    if head[..8] != MAGIC {
        return damaged("it does not start like a checkpoint");
    }
    match half(8) {
        FORMAT => {}
        newer if newer > FORMAT => return Err(Refusal::Newer(newer)),
        _ => return damaged("its format is unknown"),
    }
    let (step, next_id, emitted, removed) = (word(16), word(24), word(32), word(40));
    let (particles, origin_bytes, columns) = (word(48), word(56), word(64));

    let table_bytes = columns.checked_mul(ENTRY_BYTES as u64);
    let front = table_bytes.and_then(|t| t.checked_add(origin_bytes));
    let Some(front) = front.filter(|f| *f <= length.saturating_sub(HEADER_BYTES as u64)) else {
        return damaged("its header names more than the file holds");
    };
    let mut table = vec![0; front as usize];
    source.read_exact(&mut table)?;
    let mut hasher = Xxh3::new();
    hasher.update(&head[..HEADER_BYTES - 8]);
    hasher.update(&table);
    if hasher.digest() != word(HEADER_BYTES - 8) {
        return damaged("its header was altered");
    }
    let (origin, table) = table.split_at(origin_bytes as usize);
    let Preface { origin, sunk, owed_bits, body_bits } = serde_json::from_slice(origin)
        .map_err(|e| Refusal::Damaged(format!("its origin cannot be read: {e}")))?;
    let owed = owed_bits.into_iter().map(f64::from_bits).collect();
    let of_bits = |bits: [u64; 13]| BodyState::from_array(bits.map(f64::from_bits));
    let bodies = body_bits.into_iter().map(of_bits).collect();
    let frame = half(12).cast_signed();
    let counters = Counters { frame, step, next_id, emitted, removed, sunk, owed, bodies };
    let body = length - HEADER_BYTES as u64 - front;
    let (particles, deep, kick, stress) = read_columns(source, table, particles, body)?;
    Ok(Checkpoint { origin, counters, particles, deep, kick, stress })
}

fn read_columns(
    mut source: impl Read,
    table: &[u8],
    count: u64,
    body: u64,
) -> Result<(Particles, DeepWater, CarriedKick, CarriedStress), Refusal> {
    let entries: Vec<columns::Entry> =
        table.chunks_exact(ENTRY_BYTES).map(columns::Entry::from_bytes).collect();
    let total = entries.iter().try_fold(0u64, |sum, e| sum.checked_add(e.bytes));
    if total != Some(body) {
        return damaged("its length is not the sum of its columns");
    }
    let mut particles = Particles::default();
    let mut deep = columns::DeepColumns::default();
    let mut kick = columns::KickColumns::default();
    let mut stress = columns::StressColumns::default();
    for entry in &entries {
        let bytes = match columns::allocate(&mut particles, entry, count) {
            None if entry.name().starts_with("deep.") => deep.allocate(entry),
            None if entry.name().starts_with("kick.") => kick.allocate(entry),
            None => stress.allocate(entry),
            bytes => bytes,
        };
        let Some(bytes) = bytes else {
            return damaged("it has a column of an unknown name or wrong length");
        };
        source.read_exact(bytes)?;
        if xxh3_64(bytes) != entry.xxh3 {
            return Err(Refusal::Damaged(format!("its column `{}` was altered", entry.name())));
        }
        columns::to_native_order(bytes, entry);
    }
    match deep.finish().zip(kick.finish()).zip(stress.finish()) {
        Some(((deep, kick), stress)) if columns::complete(&particles, count) => {
            Ok((particles, deep, kick, stress))
        }
        _ => damaged("columns are missing"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::atomic;
    use super::*;
    use crate::numerics::field::{Block, Field};
    use crate::numerics::grid::{BLOCK_CELLS, BlockGrid};
    use crate::numerics::transfer::FaceField;
    use crate::particles::{
        CarriedContacts, Clump, GrainState, PairContact, PoreWater, SolidContact,
    };
    use glam::{IVec3, Mat3, Vec3};

    fn sample(frame: i32, count: usize, affine: bool) -> Checkpoint {
        let number = |i: usize| (i as f32).sin();
        let vector = |i: usize| Vec3::new(number(i), -0.0, f32::MIN_POSITIVE * number(i + 7));
        let particles = Particles {
            position: (0..count).map(vector).collect(),
            velocity: (0..count).map(|i| vector(i + 3)).collect(),
            id: (0..count as u64).map(|i| u64::MAX - i).collect(),
            birth: (0..count).map(number).collect(),
            material: (0..count).map(|i| i as u8).collect(),
            affine: if affine { (0..count).map(matrix).collect() } else { vec![] },
            clump: if count.is_multiple_of(3) { (0..count).map(clump).collect() } else { vec![] },
            grain: if count.is_multiple_of(7) { (0..count).map(grain).collect() } else { vec![] },
            pore: if count.is_multiple_of(11) { (0..count).map(pore).collect() } else { vec![] },
        };
        let (step, next_id, emitted, removed) = (9, u64::MAX - 1, 1 << 40, 5);
        let (sunk, owed) = (vec![7, u64::MAX], vec![0.1, 1.0 / 3.0, f64::MIN_POSITIVE]);
        let body = |i: usize| BodyState::from_array(std::array::from_fn(|k| (i + k) as f64 / 3.0));
        let bodies = (0..count.min(3)).map(body).collect();
        let counters = Counters { frame, step, next_id, emitted, removed, sunk, owed, bodies };
        let origin = Origin { foreshore: "0.1.0".into(), simulation_hash: "0f".into() };
        let deep = if count.is_multiple_of(2) { DeepWater::default() } else { sample_deep() };
        let kick = if count.is_multiple_of(2) { CarriedKick::default() } else { sample_kick() };
        let mut stress = CarriedStress::default();
        if count.is_multiple_of(7) {
            stress.contacts = sample_contacts();
        }
        Checkpoint { origin, counters, particles, deep, kick, stress }
    }

    fn sample_kick() -> CarriedKick {
        let grid = BlockGrid::from_blocks([IVec3::new(-1, 0, 2), IVec3::new(0, 3, 2)]);
        let faces = |value| FaceField { axes: [0, 1, 2].map(|_| Field::filled(&grid, value)) };
        let [kick, acceleration] = [0.25, -3.0].map(faces);
        CarriedKick { grid, kick, acceleration, time: 0.1, steps: 7 }
    }

    fn sample_deep() -> DeepWater {
        let grid = BlockGrid::from_blocks([IVec3::new(-1, 0, 2), IVec3::new(0, 3, 2)]);
        let axis = Field { blocks: vec![Block([0.25; BLOCK_CELLS]), Block([-3.0; BLOCK_CELLS])] };
        let velocity = FaceField { axes: [axis.clone(), axis.clone(), axis] };
        let (cells, closed) = (vec![[3; 8], [0; 8]], vec![[0; 8], [u64::MAX; 8]]);
        let (volume, owed, absorbed, reseeded) = (1 << 40, -7, 9, 11);
        DeepWater { grid, cells, closed, velocity, volume, owed, absorbed, reseeded }
    }

    fn grain(i: usize) -> GrainState {
        let v = [i as f32, -0.0, 1e-30];
        GrainState { spin: v, rest: v.map(|c| -c), radius: 0.1, wetness: u32::MAX - i as u32 }
    }

    fn pore(i: usize) -> PoreWater {
        PoreWater { bound: u32::MAX - i as u32, saturation: 1.0 / (1.0 + i as f32) }
    }

    fn sample_contacts() -> CarriedContacts {
        let pair = |n| PairContact { grains: [n, u64::MAX - n], memory: [n as f32; 6] };
        let memory = std::array::from_fn(|k| k as f32);
        let solids = vec![SolidContact { grain: 3, owner: 1, memory }];
        let pairs = (0..5).map(pair).collect();
        CarriedContacts { pairs, solids, steps: 1, absorbed: 2, released: 3, dried: 1 << 40 }
    }

    fn matrix(i: usize) -> Mat3 {
        Mat3::from_rotation_x(i as f32)
    }

    fn clump(i: usize) -> Clump {
        Clump { volume: i as f32, shape: [1.0, 2.0, 3.0, -0.0, 0.1, i as f32], bond: 0.5 }
    }

    fn save(cache: &Path, c: &Checkpoint) {
        atomic::make_folder(&cache.join(CHECKPOINTS)).unwrap();
        let carried = (&c.kick, &c.stress);
        write(cache, &c.origin, &c.counters, &c.particles, &c.deep, carried).unwrap();
    }

    #[test]
    fn every_bit_comes_back() {
        let cache = tempfile::tempdir().unwrap();
        for (frame, count, affine) in
            [(1, 0, false), (2, 1, true), (-3, 1000, false), (4, 77, true), (5, 99, false)]
        {
            let checkpoint = sample(frame, count, affine);
            save(cache.path(), &checkpoint);
            assert_eq!(read(cache.path(), frame).unwrap(), checkpoint);
        }
    }

    #[test]
    fn the_newest_two_are_kept() {
        let cache = tempfile::tempdir().unwrap();
        for frame in [1, 2, 3, 10] {
            save(cache.path(), &sample(frame, 4, false));
        }
        assert_eq!(list(cache.path()).unwrap(), [10, 3]);
        fs::write(cache.path().join(CHECKPOINTS).join("frame.3.checkpoint"), b"").unwrap();
        fs::write(cache.path().join(CHECKPOINTS).join("notes.txt"), b"").unwrap();
        assert_eq!(list(cache.path()).unwrap(), [10, 3]);
        assert_eq!(remove_after(cache.path(), Some(3)).unwrap(), 1);
        assert_eq!(remove_after(cache.path(), None).unwrap(), 1);
        assert_eq!(fs::read_dir(cache.path().join(CHECKPOINTS)).unwrap().count(), 2);
    }

    #[test]
    fn any_altered_byte_and_any_truncation_is_noticed() {
        let mut file = Vec::new();
        let c = sample(5, 3, true);
        let carried = (&c.kick, &c.stress);
        write_to(&mut file, &c.origin, &c.counters, &c.particles, &c.deep, carried).unwrap();
        let length = file.len() as u64;
        assert!(read_from(&file[..], length).is_ok_and(|read| read == c));
        for at in 0..file.len() {
            let mut altered = file.clone();
            altered[at] ^= 0x40;
            assert!(read_from(&altered[..], length).is_err(), "byte {at}");
            assert!(read_from(&file[..at], at as u64).is_err(), "length {at}");
        }
        file.push(0);
        assert!(read_from(&file[..], length + 1).is_err());
    }

    #[test]
    fn a_checkpoint_under_another_number_is_refused() {
        let cache = tempfile::tempdir().unwrap();
        save(cache.path(), &sample(5, 3, false));
        fs::rename(path_of(cache.path(), 5), path_of(cache.path(), 6)).unwrap();
        assert!(matches!(read(cache.path(), 6), Err(CacheError::BadCheckpoint { .. })));
    }

    #[test]
    fn a_later_format_is_told_as_such() {
        let mut file = Vec::new();
        let c = sample(5, 3, false);
        let carried = (&c.kick, &c.stress);
        write_to(&mut file, &c.origin, &c.counters, &c.particles, &c.deep, carried).unwrap();
        file[8] = FORMAT as u8 + 1;
        assert!(
            matches!(read_from(&file[..], file.len() as u64), Err(Refusal::Newer(f)) if f == FORMAT + 1)
        );
    }
}
