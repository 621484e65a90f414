//! Damaged files give errors, never a panic, and take no memory that they do not justify.

mod shapes;

use foreshore_vdb::{Codec, Compression, GridView, ReadError, Reader, Writer};
use shapes::{ball_grid, patchwork};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Small files that between them use every part of the format.
fn files() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for codec in [Codec::None, Codec::Zip, Codec::Blosc] {
        for half in [false, true] {
            let mut writer = Writer::new().compression(Compression::new(codec));
            let mut metadata = foreshore_vdb::Metadata::new();
            metadata.insert("creator".into(), "tests".into());
            writer = writer.metadata(metadata);
            let mut ball = ball_grid([64.0; 3], 6.0);
            ball.half = half;
            writer.add(&ball.view()).unwrap();
            // One leaf, so that thousands of readings stay quick.
            let mut vectors = patchwork("v", |n| [n as f32, 1.0, 2.0]);
            vectors.origins.truncate(1);
            vectors.masks.truncate(1);
            vectors.values.truncate(1);
            writer.add(&vectors.view().half(half)).unwrap();
            writer.add(&patchwork("b", |n| n % 3 == 0).view().tiles(&[])).unwrap();
            let mut bytes = Vec::new();
            writer.write_to(&mut bytes).unwrap();
            files.push(bytes);
        }
    }
    files
}

/// Reads everything there is; the first error ends it.
fn read_all(bytes: &[u8]) -> Result<usize, ReadError> {
    let mut reader = Reader::from_bytes(bytes)?;
    let count = reader.grids().len();
    (0..count).try_for_each(|index| reader.read(index).map(|_| ()))?;
    Ok(count)
}

/// A fixed sequence of positions.
fn positions(length: usize, count: usize) -> impl Iterator<Item = usize> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..count).map(move |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % length
    })
}

#[test]
fn a_cut_file_is_an_error_wherever_it_is_cut() {
    for bytes in files() {
        assert_eq!(read_all(&bytes).unwrap(), 3);
        let header = 0..bytes.len().min(1500);
        for length in header.chain(positions(bytes.len(), 150)) {
            assert!(read_all(&bytes[..length]).is_err(), "cut at {length} of {}", bytes.len());
        }
    }
}

#[test]
fn changed_bytes_give_an_error_or_a_grid() {
    let mut refused = 0;
    for bytes in files() {
        let header = 0..bytes.len().min(900);
        for position in header.chain(positions(bytes.len(), 300)) {
            let mut damaged = bytes.clone();
            damaged[position] ^= [0x01, 0x80, 0xff][position % 3];
            refused += usize::from(read_all(&damaged).is_err());
        }
    }
    assert!(refused > 500, "{refused}");
}

#[test]
fn large_numbers_in_place_of_counts_take_no_memory() {
    for bytes in files() {
        for position in (0..bytes.len().min(1200)).step_by(7) {
            for number in [[0xff; 8], [0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0], [0; 8]] {
                let mut damaged = bytes.clone();
                let end = (position + 8).min(bytes.len());
                damaged[position..end].copy_from_slice(&number[..end - position]);
                let _ = read_all(&damaged);
            }
        }
    }
    let peak = PEAK.load(Ordering::Relaxed);
    assert!(peak < 256 << 20, "{peak} bytes at once");
}

#[test]
fn what_is_no_vdb_file_is_named_so() {
    assert!(matches!(read_all(b""), Err(ReadError::NotVdb)));
    assert!(matches!(read_all(&[7; 4096]), Err(ReadError::NotVdb)));
    let error = Reader::open("/does/not/exist.vdb").err();
    assert!(matches!(error, Some(ReadError::Io { path: Some(_), .. })), "{error:?}");
}

#[test]
fn what_is_not_supported_is_named_so() {
    let bytes = &files()[0];
    let replaced = |from: &str, to: &str| {
        let at = bytes.windows(from.len()).position(|w| w == from.as_bytes()).unwrap();
        let mut changed = bytes.clone();
        changed[at..at + to.len()].copy_from_slice(to.as_bytes());
        changed
    };
    let other_tree = replaced("Tree_float_5_4_3", "Tree_float_5_4_4");
    assert_eq!(Reader::from_bytes(&other_tree).unwrap().grids()[0].value_type, None);
    assert!(matches!(read_all(&other_tree), Err(ReadError::GridType { .. })));
    let other_map = replaced("UniformScaleMap", "QuadraticBowlMp");
    assert_eq!(Reader::from_bytes(&other_map).unwrap().grids()[0].transform, None);
    assert!(matches!(read_all(&other_map), Err(ReadError::Map { .. })));

    let mut old = bytes.clone();
    old[8] = 221;
    assert!(matches!(read_all(&old), Err(ReadError::Version { version: 221 })));
}

#[test]
fn asking_for_the_wrong_grid_says_what_there_is() {
    let bytes = &files()[0];
    let mut reader = Reader::from_bytes(bytes).unwrap();
    let error = reader.read_as::<f32>("density").unwrap_err();
    assert!(error.to_string().contains("\"surface\", \"v\", \"b\""), "{error}");
    let error = reader.read_as::<f32>("v").unwrap_err();
    assert!(matches!(error, ReadError::ValueType { found: "vec3s", wanted: "float", .. }));
    assert!(matches!(reader.read(3), Err(ReadError::NoSuchGrid { .. })));
}

#[test]
fn the_memory_limit_is_kept() {
    let bytes = &files()[0];
    let mut reader = Reader::from_bytes(bytes).unwrap().memory_limit(1000);
    let error = reader.read_as::<f32>("surface").unwrap_err();
    assert!(matches!(error, ReadError::TooLarge { limit: 1000, .. }), "{error}");
}

#[test]
fn instances_share_a_tree_and_miss_it_when_it_is_gone() {
    let grid = ball_grid([64.0; 3], 6.0);
    let mut writer = Writer::new();
    writer.add(&grid.view()).unwrap();
    writer.add(&GridView::<f32>::new("twin", 1.0, &[], &[], &[]).meta("which", 2)).unwrap();
    let mut bytes = Vec::new();
    writer.write_to(&mut bytes).unwrap();
    // Make the second grid an instance: name the parent, cut the tree, move the positions.
    let parse = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let name = b"\x04\0\0\0twin";
    let at = bytes.windows(8).position(|w| w == name).unwrap();
    let parent_at = at + 8 + 4 + "Tree_float_5_4_3".len();
    let (start, end) = (parse(parent_at + 4), parse(parent_at + 20));
    let instance = |parent: &str| {
        let mut out = bytes[..parent_at].to_vec();
        out.extend((parent.len() as u32).to_le_bytes());
        out.extend(parent.as_bytes());
        let shift = parent.len() as u64;
        // Behind the head stand the buffer count, background and two counts.
        for position in [start + shift, 0, end + shift - 16] {
            out.extend(position.to_le_bytes());
        }
        out.extend(&bytes[start as usize..end as usize - 16]);
        out
    };
    let file = instance("surface");
    let mut reader = Reader::from_bytes(&file).unwrap();
    assert_eq!(reader.grids()[1].instance_of.as_deref(), Some("surface"));
    assert_eq!(reader.grids()[1].active_voxels, Some(grid.active_voxels()));
    let twin = reader.read_as::<f32>("twin").unwrap();
    assert_eq!((twin.background, twin.metadata["which"].clone()), (3.0, 2.into()));
    assert_eq!(twin.values.len(), grid.values.len());

    let orphan = instance("nothing");
    let error = Reader::from_bytes(&orphan).unwrap().read(1).unwrap_err();
    assert!(matches!(error, ReadError::InstanceParent { .. }), "{error}");
}

/// Counts the memory in use, so that its peak can be asserted.
struct Counting;

static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

#[allow(unsafe_code)] // A global allocator cannot be written without.
// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let used = USED.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(used, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
